"""The laws that every score must keep, as functions: run on the catalogue and on planted faults."""

import itertools

import numpy as np
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from oracles.score_tables import tables

from termsieve.table import Table

quick = settings(
    max_examples=25, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.differing_executors]
)
CELLS = ("tp", "fp", "fn", "tn")
_numbers = st.one_of(st.integers(0, 6), st.integers(0, 1000), st.integers(0, 10**9))


def _non_empty(cells):
    tp, fp, fn, tn = cells
    return tp + fn > 0 and fp + tn > 0


_cells = st.tuples(_numbers, _numbers, _numbers, _numbers).filter(_non_empty)
_lists = st.lists(_cells, min_size=1, max_size=30)
# every pattern of empty cells and margins, which chance seldom hits
DEGENERATE = [cells for cells in itertools.product((0, 1, 7, 10**9), repeat=4) if _non_empty(cells)]


def table_of(rows):
    """Tables whose documents have a term at most once, tf = tf2 = df, and two other words each."""
    tp, fp, fn, tn = np.array(rows, dtype=float).T
    tokens = dict(tokens_c=3 * tp + 2 * fn, tokens_nc=3 * fp + 2 * tn)
    return Table.of(tp=tp, fp=fp, fn=fn, tn=tn, **tokens, n_terms=7)


def swapped(t):
    return Table.of(
        tp=t.fp, fp=t.tp, fn=t.tn, tn=t.fn, tf_c=t.tf_nc, tf2_c=t.tf2_nc, tf_nc=t.tf_c, tf2_nc=t.tf2_c,
        tokens_c=t.tokens_nc, tokens_nc=t.tokens_c, n_terms=t.n_terms,
    )  # fmt: skip


def negated(t):
    return Table.of(tp=t.fn, fp=t.tn, fn=t.tp, tn=t.fp, n_terms=t.n_terms)


def bits(x):
    return np.asarray(x, dtype=np.float64).view(np.int64)


def close(a, b, scale=0.0):
    same = np.asarray(a) == np.asarray(b)
    with np.errstate(invalid="ignore"):
        near = np.abs(a - b) <= 1e-10 * np.maximum(np.maximum(np.abs(a), np.abs(b)), scale)
    return bool(np.all(same | near))


def numbers_law(score):
    """Law 3: a float per entry, never NaN, infinite only as the record says, in range, inputs untouched."""

    @quick
    @given(_lists)
    @example(DEGENERATE)
    def check(rows):
        t = table_of(rows)
        values = np.asarray(score.evaluate(t))
        assert values.shape == t.tp.shape
        assert values.dtype == np.float64
        assert not np.isnan(values).any()
        assert np.isfinite(values).all() or (score.infinite and not with_other_parameters(score.infinite))
        np.testing.assert_array_equal(np.array([t.tp, t.fp, t.fn, t.tn]).T, np.array(rows, dtype=float))
        low, high = ends(score, t)
        assert np.all(values >= low)
        assert np.all(values <= high)

    check()


def with_other_parameters(infinite):
    return infinite.startswith(("with ", "-inf with "))


def ends(score, t):
    known = {"N": t.N, "sqrt(N)": np.sqrt(t.N), "-sqrt(N)": -np.sqrt(t.N)}
    low, high = (known[x] if x in known else float(x) for x in score.range[1:-1].split(", "))
    return low - 1e-12 * np.abs(low) if np.all(np.isfinite(low)) else low, high * (1 + 1e-12)


def blocks_law(score):
    """Law 4: a part of the terms scores as it does within the whole, bit for bit, in any order."""

    @quick
    @given(st.integers(0, 2**32 - 1), st.integers(1, 90), st.integers(0, 40))
    def check(seed, n, start):
        rows = tables(90, seed=seed)
        pick = np.random.default_rng(seed).permutation(90)[start : start + n]
        if pick.size:
            whole = score.evaluate(_table(rows, slice(None)))
            np.testing.assert_array_equal(bits(score.evaluate(_table(rows, pick))), bits(whole[pick]))

    check()


def generated(n, largest=1e9, seed=0):
    return _table(tables(n, largest, seed), slice(None))


def _table(rows, pick):
    return Table.of(**{k: v[pick] for k, v in rows.items() if k != "n_terms"}, n_terms=1000)


def null_law(score):
    """Law 5: at independence a score equals its declared null."""
    assert score.null is not None

    @quick
    @given(*[st.integers(1, 30_000)] * 4)
    def check(a, b, c, d):
        t = table_of([(a * c, b * c, a * d, b * d)])
        assert np.all(np.abs(score.evaluate(t) - score.null) <= 1e-12)

    check()


def _changed(values, symmetry):
    if symmetry == "flip":
        return -values
    with np.errstate(divide="ignore"):
        return 1.0 / values if symmetry == "invert" else values


def symmetry_law(score, field, change):
    """Law 5: declared symmetries hold, away from 0/0."""
    symmetry = getattr(score, field)
    assert symmetry is not None

    @quick
    @given(st.lists(st.tuples(*[st.integers(1, 10**6)] * 4), min_size=1, max_size=20))
    def check(rows):
        t = table_of(rows)
        assert close(score.evaluate(change(t)), _changed(score.evaluate(t), symmetry))

    check()


def no_more_symmetry_law(score, field, change):
    """A symmetry that is not declared is broken somewhere."""
    assert getattr(score, field) is None
    t = generated(300, 1e4, seed=1)
    t = table_of(np.array([t.tp, t.fp, t.fn, t.tn]).T[np.minimum(t.n_t, t.n_nt) > 0])
    one, two = score.evaluate(t), score.evaluate(change(t))
    for symmetry in ("invariant", "flip", "invert"):
        assert not close(two, _changed(one, symmetry)), f"{score} is {symmetry} under {field}"

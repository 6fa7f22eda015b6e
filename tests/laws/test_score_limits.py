"""Limits: every score at the ends of its parameters and of the counts is a number, in time; beyond them it says so."""

import itertools
import math
import time

import numpy as np
import pytest

from termsieve._kernels import use_way
from termsieve.counts.counts import Counts
from termsieve.errors import CountsError, OptionError
from termsieve.ranking.ranking import score
from termsieve.scores import SCORES, parse_score
from termsieve.scores.catalogue import describe
from termsieve.scores.registry import MOST_DOCS
from termsieve.table import Table

SLOWER = 1000  # than with few documents: twenty times is enough, a sum over all documents takes a million times


def extreme_tables(most):
    """Every pattern of no, one, some and as many as possible documents in a cell, up to `most` together."""
    values = (0, 1, 7, 10**6, most // 8, most // 4 - 1, most // 2, most - 2)
    found = [
        (tp, fp, fn, tn)
        for tp, fp, fn, tn in itertools.product(values, repeat=4)
        if tp + fn and fp + tn and tp + fp + fn + tn <= most
    ]
    tp, fp, fn, tn = np.array(found, dtype=np.float64).T
    return Table.of(tp=tp, fp=fp, fn=fn, tn=tn, n_terms=1e6)


def ends(parameter):
    """The least and largest values that a parameter may have."""
    found = []
    for part in parameter.limits.split(" or "):
        if part[0] not in "[(":
            found.append(float(part))
            continue
        low, high = (float(end) for end in part[1:-1].split(","))
        found += [
            low if part[0] == "[" else np.nextafter(low, high),
            high if part[-1] == "]" else np.nextafter(high, low),
        ]
    return found


def numeric(one):
    return [p for p in one.parameters if isinstance(p.default, float) and not p.choices]


def spellings():
    for name, one in SCORES.items():
        yield name
        choices = [[(p.name, c) for c in p.choices] for p in one.parameters if p.choices]
        for p in numeric(one):
            for value, *chosen in itertools.product(ends(p), *choices):
                arguments = {p.name: value, **dict(chosen)}
                yield one.with_parameters(**arguments).spelling
        if len(numeric(one)) > 1:
            for values in itertools.product(*(ends(p) for p in numeric(one))):
                yield one.with_parameters(**dict(zip([p.name for p in numeric(one)], values, strict=True))).spelling


def time_of(one, table):
    """Scores of a table, and what they took of this thread's time."""
    start = time.thread_time()
    return one.evaluate(table), time.thread_time() - start


@pytest.mark.parametrize("spelling", dict.fromkeys(spellings()))
def test_a_score_at_its_limits_is_a_number_in_time(spelling):
    one = parse_score(spelling)
    table = extreme_tables(one.most_docs)
    with use_way("compiled"):
        few = extreme_tables(1000)
        one.evaluate(few)  # compiles
        _, usual = time_of(one, few)
        values, taken = time_of(one, table)
    assert taken / table.tp.size < SLOWER * usual / few.tp.size
    assert not np.isnan(values).any()
    if not one.infinite or ("=0" in one.infinite and not any(value == 0 for value in one.arguments.values())):
        assert np.isfinite(values).all()


@pytest.mark.parametrize("name", [name for name, one in SCORES.items() if numeric(one)])
def test_every_number_has_bounds_that_are_stated_and_kept(name):
    one = SCORES[name]
    for p in numeric(one):
        assert all(math.isfinite(end) for end in ends(p)), f"{p.name} may be anything"
        largest = max(ends(p))
        for beyond in (largest * 1.001, 1e300, math.inf, -1e-3, 10**400, 10**5000, math.nan):
            with pytest.raises(OptionError, match="must be a number") as error:
                one.with_parameters(**{p.name: beyond})
            assert p.limits in str(error.value)
            assert len(str(error.value)) < 300
        with pytest.raises(OptionError, match="it was given a whole number of thousands of digits"):
            one.with_parameters(**{p.name: 10**5000})
        assert p.limits.partition(" or ")[2] in describe(name).replace("\n", " ") or p.limits in describe(name)


@pytest.mark.parametrize(
    "spelling", ["strong_class(smoothing=1e300)", f"power(k={'9' * 400})", "odds_ratio(smoothing=1e-300)"]
)
def test_a_spelling_beyond_the_bounds_is_refused(spelling):
    with pytest.raises(OptionError, match="must be a number"):
        parse_score(spelling)


@pytest.mark.parametrize("name", SCORES)
def test_more_documents_than_a_score_can_take_are_refused(name):
    one = SCORES[name]
    n = one.most_docs
    assert n <= MOST_DOCS
    counts = Counts.from_matrix(np.eye(2, dtype=np.int64), ["a", "b"])
    counts.n_docs = 2 * n
    with pytest.raises(CountsError, match=f"{n:,} documents"):
        score(counts, name)
    with pytest.raises(CountsError, match=f"{n:,} documents"):
        one.evaluate(
            Table.of(tp=np.array([1.0]), fp=np.array([1.0]), fn=np.array([1.0]), tn=np.array([4.0 * n]), n_terms=7)
        )


def test_the_exact_test_near_its_limit_agrees_with_the_normal_distribution():
    """Where classes and terms take half of 2^40 documents, a deviate of z has the tail of the normal distribution."""
    from scipy.special import log_ndtr

    n = 2**40
    quarter, z = n // 4, np.array([0.5, 1.0, 3.0, 5.0])
    more = np.rint(z * math.sqrt(n) / 4)
    table = Table.of(tp=quarter + more, fp=quarter - more, fn=quarter - more, tn=quarter + more, n_terms=7)
    expected = -log_ndtr(-(more - 0.5) / (math.sqrt(n) / 4)) / math.log(10)
    assert np.allclose(SCORES["fisher_exact"].evaluate(table), expected, rtol=1e-6)

"""Intervals: how far a score may be from its value in the population that the documents were drawn from.

The document is what was drawn, and the sizes of the classes are taken as given. Two methods, both from counts alone:

``analytic``
    Each side, the class and the rest, has limits of its own (`limits`). The score is worked out with one side at its
    limit at a time, and the squares of what that changes are added: Newcombe's interval for the difference of two rates
    (``newcombe1998``), for any score (``zou2008``). Two-sided scores are worked out with the sign of the association,
    so that an interval reaches down to the value of independence where the data do not exclude it.
``bootstrap``
    What drawing documents with replacement gives: a binomial number of them with the term on each side. Percentiles of
    the score. For occurrences, a gamma distribution with the mean and the variance that drawing documents gives.

Random numbers depend on the seed and on the cells of a term only: not on other terms, blocks or threads.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from termsieve.checks import is_whole_number
from termsieve.defaults import DEFAULT_LEVEL
from termsieve.errors import OptionError
from termsieve.ranking import aggregate as agg
from termsieve.ranking import distinct
from termsieve.ranking.dense import DenseClasses, evaluate_overall, use_least_detail
from termsieve.ranking.limits import (
    Side,
    limit_documents,
    limit_occurrences,
    round_documents,
    split_sides,
    typical_document,
)
from termsieve.table import Occurrences, Table, ratio

if TYPE_CHECKING:
    from termsieve._types import Array, BoolArray, Int64Array
    from termsieve.counts.counts import Counts
    from termsieve.ranking.distinct import DistinctCells
    from termsieve.scores import Score

Method: TypeAlias = Literal["analytic", "bootstrap"]
METHODS = ("analytic", "bootstrap")
_CELLS = 1 << 19  # this many cells are evaluated at once


class Interval(NamedTuple):
    """The ends of an interval, for each value."""

    low: Array
    high: Array


class IntervalOptions(NamedTuple):
    """The level and the method of intervals; draws and seed are those of the bootstrap."""

    level: float = DEFAULT_LEVEL
    method: Method = "analytic"
    draws: int = 1000
    seed: int = 0

    def check(self) -> IntervalOptions:
        """Return the options, or explain what they must be."""
        number = isinstance(self.level, int | float | np.number) and not isinstance(self.level, bool)
        if not number or not 0 < self.level < 1:
            raise OptionError(f"The parameter 'level' of an interval must lie between 0 and 1, not {self.level!r}.")
        if self.method not in METHODS:
            raise OptionError(f"The method of an interval is 'analytic' or 'bootstrap'; it was given {self.method!r}.")
        for name, least in (("draws", 20), ("seed", 0)):
            value = getattr(self, name)
            if not is_whole_number(value, least):
                raise OptionError(f"The parameter {name!r} of an interval must be {least} or more, not {value!r}.")
        return self

    @property
    def tail(self) -> float:
        """The probability to miss on one side."""
        return 0.5 * (1.0 - self.level)


# One class against the rest


def find_cell_intervals(counts: Counts, score: Score, options: IntervalOptions) -> tuple[DistinctCells, Interval]:
    """Return the intervals of all different cells of counts."""
    compute = _bootstrap_table if options.method == "bootstrap" else bound_table

    def use(cells: DistinctCells) -> tuple[DistinctCells, Interval]:
        parts = [Interval(np.empty(0), np.empty(0)), *(compute(score, t, options) for t in cells.tables)]
        return cells, Interval(*(np.concatenate([part[i] for part in parts]) for i in (0, 1)))

    return distinct.use_coarsest_level(counts, use)


def bound_table(score: Score, t: Table, options: IntervalOptions) -> Interval:
    """Return the analytic intervals of all entries of a table."""
    here, there = split_sides(t)
    ends = [_limit_side(side, t, options.tail) for side in (here, there)]
    signed = _signs_apply(score)

    def evaluate(in_class: Side, elsewhere: Side) -> Array:
        moved = _make_table(t, in_class, elsewhere)
        values = np.broadcast_to(score.evaluate(moved), moved.tp.shape)
        return _sign_root(score, moved, values) if signed else np.asarray(values)

    center = evaluate(here, there)
    moves = [[evaluate(end, there) for end in ends[0]], [evaluate(here, end) for end in ends[1]]]
    low, high = square_and_add(center, moves)
    corners = [evaluate(a, b) for a in ends[0] for b in ends[1]] if not np.isfinite(center).all() else []
    low, high = _bound_infinite(center, Interval(low, high), corners)
    return _clip_to_range(score, t, _undo_root(score, low, high) if signed else Interval(low, high))


def _limit_side(side: Side, t: Table, tail: float) -> tuple[Side, Side]:
    return limit_occurrences(side, typical_document(t), tail) if t.has_occurrences else limit_documents(side, tail)


def _make_table(t: Table, in_class: Side, elsewhere: Side) -> Table:
    if not t.has_occurrences:
        return t.with_cells(in_class.df, elsewhere.df)
    squares = in_class.tf2 + elsewhere.tf2
    occurrences = Occurrences(in_class.tf, in_class.tf2, in_class.tf + elsewhere.tf, squares)
    return t.with_cells(in_class.df, elsewhere.df, occurrences)


def square_and_add(center: Array, moves: list[list[Array]]) -> tuple[Array, Array]:
    """Return the ends of an interval from what each parameter, at its limits, makes of the value in its center."""
    down, up = np.zeros_like(center), np.zeros_like(center)
    finite = np.isfinite(center)
    base = np.where(finite, center, 0.0)
    for values in moves:
        gaps = [np.where(finite, value, 0.0) - base for value in values]
        down += np.square(np.minimum(np.minimum.reduce(gaps), 0.0))
        up += np.square(np.maximum(np.maximum.reduce(gaps), 0.0))
    return np.where(finite, base - np.sqrt(down), center), np.where(finite, base + np.sqrt(up), center)


def _bound_infinite(center: Array, found: Interval, corners: list[Array]) -> Interval:
    """Bound an infinite value on the other side by the least favourable of the limits together."""
    if not corners:
        return found
    low = np.where(center == np.inf, np.minimum.reduce(corners), found.low)
    return Interval(low, np.where(center == -np.inf, np.maximum.reduce(corners), found.high))


def _signs_apply(score: Score) -> bool:
    """Tell whether a score is smallest at independence, whichever way a term is associated with the class."""
    return score.sided == 2 and score.null is not None and float(score.range[1:].split(",")[0]) == score.null


def _sign_root(score: Score, t: Table, values: Array) -> Array:
    """Return the root of the distance from independence, with the sign of the association.

    Most two-sided scores are quadratic near independence, so their roots are nearly linear in the rates.
    """
    if t.has_tokens:
        side = t.tf_c * t.tokens_nc - t.tf_nc * t.tokens_c
    elif t.has_occurrences:
        side = t.tf_c * t.n_nc - t.tf_nc * t.n_c
    else:
        side = t.tp * t.n_nc - t.fp * t.n_c
    return np.asarray(np.sign(side) * np.sqrt(np.maximum(values - float(score.null or 0.0), 0.0)))


def _undo_root(score: Score, low: Array, high: Array) -> Interval:
    null = float(score.null or 0.0)
    smaller, larger = np.minimum(np.abs(low), np.abs(high)), np.maximum(np.abs(low), np.abs(high))
    both = (low <= 0) & (high >= 0)
    return Interval(null + np.where(both, 0.0, np.square(smaller)), null + np.square(larger))


def _clip_to_range(score: Score, t: Table, found: Interval) -> Interval:
    known = {"N": t.N, "sqrt(N)": np.sqrt(t.N), "-sqrt(N)": -np.sqrt(t.N)}
    least, most = (known[x] if x in known else float(x) for x in score.range[1:-1].split(", "))
    return Interval(np.clip(found.low, least, most), np.clip(found.high, least, most))


def _bootstrap_table(score: Score, t: Table, options: IntervalOptions) -> Interval:
    low, high = np.empty(t.tp.size), np.empty(t.tp.size)
    step = max(1, _CELLS // options.draws)
    score.evaluate(t)  # a table too coarse for the score is found before anything is drawn
    for start in range(0, t.tp.size, step):
        part = slice(start, start + step)
        drawn = [_draw_sides(t, i, options) for i in range(start, min(start + step, t.tp.size))]
        here, there = (Side(*(np.concatenate([pair[k][j] for pair in drawn]) for j in range(4))) for k in (0, 1))
        values = np.asarray(score.evaluate(_make_table(_repeat(t, part, options.draws), here, there)))
        low[part], high[part] = percentiles(values.reshape(-1, options.draws), options.tail)
    return Interval(low, high)


def _repeat(t: Table, part: slice, times: int) -> Table:
    """Return a table in which each entry of a part stands this many times."""

    def repeat(x: Array) -> Array:
        return np.repeat(x[part], times)

    occurrences = Occurrences(*map(repeat, t.occurrences)) if t.has_occurrences else None
    tokens = t.tokens._replace(tokens_c=repeat(t.tokens_c), tokens=repeat(t.tokens.tokens)) if t.has_tokens else None
    return Table(repeat(t.tp), repeat(t.n_t), repeat(t.n_c), repeat(t.N), t.m, occurrences, tokens)


def _draw_sides(t: Table, i: int, options: IntervalOptions) -> list[Side]:
    sides = [Side(*(x[i] for x in side)) for side in split_sides(t)]
    rng = np.random.default_rng([options.seed, *_as_key(np.array(sides))])
    return [draw_side(side, rng, options.draws, occurrences=t.has_occurrences) for side in sides]


def _as_key(values: Array) -> list[int]:
    """Return numbers from which random numbers are made: equal ones for equal values."""
    return [int(x) for x in np.ascontiguousarray(values, np.float64).view(np.uint64).ravel()]


def draw_side(side: Side, rng: np.random.Generator, draws: int, *, occurrences: bool) -> Side:
    """Draw documents with replacement, this many times."""
    df, tf, tf2, n = map(float, side)
    if not occurrences:
        drawn = rng.binomial(int(n), min(df / n, 1.0) if n else 0.0, draws).astype(np.float64)
        return Side(drawn, drawn, drawn, np.full(draws, n))
    squares = max(tf2 - tf * tf / n, 0.0) if n else 0.0
    factor = rng.gamma(tf * tf / squares, squares / (tf * tf), draws) if squares > 0 else np.ones(draws)
    return Side(round_documents(np.minimum(df * factor, n)), tf * factor, tf2 * factor, np.full(draws, n))


def percentiles(values: Array, tail: float) -> tuple[Array, Array]:
    """Return the two percentiles of each row, as values that occur."""
    n = values.shape[1]
    first = min(max(math.ceil(tail * n) - 1, 0), n - 1)
    found = np.partition(values, (first, n - 1 - first), axis=1)
    return found[:, first], found[:, n - 1 - first]


# All classes together


def find_overall_intervals(
    counts: Counts, score: Score, aggregate: str | None, places: Int64Array, options: IntervalOptions
) -> Interval:
    """Return the intervals of the overall score of some terms, by their places."""
    how = score.aggregation if aggregate is None or score.class_blind else aggregate
    if how == "max" and options.method == "analytic" and not score.class_blind:
        cells, found = find_cell_intervals(counts, score, options)
        return Interval(*(cells.expand_to_terms(agg.largest(cells, end))[places] for end in found))
    if counts.n_multilabel:
        raise OptionError(
            f"{counts.n_multilabel:,} documents have more than one label, so the classes are not independent samples: "
            "an interval of this overall score cannot be had from counts. Those of each class can: interval()."
        )
    columns = distinct.find_distinct_cells(counts, distinct.DetailLevel.OCCURRENCES).place[places]
    _, first, where = np.unique(columns, return_index=True, return_inverse=True)
    found = _use_blocks(counts, score, aggregate, places[first], options)
    return Interval(found.low[where], found.high[where])


def _use_blocks(
    counts: Counts, score: Score, aggregate: str | None, places: Int64Array, options: IntervalOptions
) -> Interval:
    compute = _bootstrap_terms if options.method == "bootstrap" else _bound_terms
    variants = options.draws if options.method == "bootstrap" else 2 * counts.n_classes + 2
    step = max(1, _CELLS // (variants * counts.n_classes))

    def use(with_occurrences: bool) -> Interval:
        parts = [Interval(np.empty(0), np.empty(0))]
        for start in range(0, places.size, step):
            some = DenseClasses.take(counts, places[start : start + step], with_occurrences=with_occurrences)
            parts.append(compute(score, aggregate, some, options))
        return Interval(*(np.concatenate([part[i] for part in parts]) for i in (0, 1)))

    return use_least_detail(use)


def _bound_terms(score: Score, aggregate: str | None, dense: DenseClasses, options: IntervalOptions) -> Interval:
    """Put one class after the other at its limits; those without the term go together, as if they were one."""
    _, n, m = dense.values.shape
    low, high = _limit_classes(dense, options.tail)
    absent = dense.values[0] == 0
    values = np.repeat(dense.values[:, :, np.newaxis], 2 * m + 2, axis=2)
    for c in range(m):
        there = ~absent[:, c]
        values[:, there, 1 + 2 * c, c], values[:, there, 2 + 2 * c, c] = low[:, there, c], high[:, there, c]
    values[:, :, -1][:, absent] = _share_limit(dense, absent, options.tail)[:, absent]
    found = evaluate_overall(score, dense.with_values(values), aggregate).reshape(n, 2 * m + 2)
    moves = [[found[:, 1 + 2 * c], found[:, 2 + 2 * c]] for c in range(m)]
    ends = square_and_add(found[:, 0], [*moves, [found[:, -1]]])
    least = float(score.range[1:].split(",")[0].replace("-sqrt(N)", "-inf"))
    return Interval(np.maximum(ends[0], least) if least >= 0 else ends[0], ends[1])


def _limit_classes(dense: DenseClasses, tail: float) -> tuple[Array, Array]:
    """Return the limits of each class."""
    shape = dense.values.shape
    df, tf, tf2 = dense.values.reshape(3, -1)
    sizes = np.broadcast_to(dense.counts.class_sizes.astype(np.float64), shape[1:])
    low, high = _limit_side(Side(df, tf, tf2, sizes.ravel()), dense.make_table(), tail)
    return np.array(low[:3]).reshape(shape), np.array(high[:3]).reshape(shape)


def _share_limit(dense: DenseClasses, absent: BoolArray, tail: float) -> Array:
    """Return the upper limit of the classes without the term, taken together and shared out by their sizes."""
    sizes = np.where(absent, dense.counts.class_sizes.astype(np.float64), 0.0)
    n = sizes.sum(axis=1)
    none = np.zeros_like(n)
    one = dense.take_first_class()
    high = np.array(_limit_side(Side(none, none, none, n), one.make_table(), tail)[1][:3])
    share = high[:, :, np.newaxis] * ratio(sizes, n[:, np.newaxis], empty=0.0)
    share[0] = round_documents(share[0])
    return np.asarray(share)


def _bootstrap_terms(score: Score, aggregate: str | None, dense: DenseClasses, options: IntervalOptions) -> Interval:
    _, n, m = dense.values.shape
    values = np.empty((3, n, options.draws, m))
    sizes = dense.counts.class_sizes.astype(np.float64)
    for i in range(n):
        rng = np.random.default_rng([options.seed, *_as_key(dense.values[:, i])])
        for c in range(m):
            df, tf, tf2 = dense.values[:, i, c]
            side = Side(df, tf, tf2, sizes[c])
            values[:, i, :, c] = draw_side(side, rng, options.draws, occurrences=dense.with_occurrences)[:3]
    found = evaluate_overall(score, dense.with_values(values), aggregate).reshape(n, options.draws)
    return Interval(*percentiles(found, options.tail))

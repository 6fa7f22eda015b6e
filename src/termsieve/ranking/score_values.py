"""Scores: the values of one score on counts, the order of the terms by them, and how sure both are."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa

from termsieve import views
from termsieve._types import Array, BoolArray, Int32Array, Int64Array, StringArray
from termsieve.checks import is_whole_number
from termsieve.defaults import DEFAULT_LEVEL
from termsieve.errors import OptionError
from termsieve.frames import ArrowTable
from termsieve.ranking import aggregate as agg
from termsieve.ranking import distinct
from termsieve.ranking.certainty import NO_COLUMNS, CertaintyColumns, describe_class, describe_overall
from termsieve.ranking.intervals import (
    Interval,
    IntervalOptions,
    Method,
    find_cell_intervals,
    find_overall_intervals,
)
from termsieve.ranking.permutation import (
    Control,
    control_false_discoveries,
    draw_overall_pvalues,
    find_cell_pvalues,
)
from termsieve.ranking.ranking_rows import COLUMNS, Ranking, RankingRow, TermScore
from termsieve.scores import SCORES, Score

if TYPE_CHECKING:
    from termsieve.counts.counts import Counts
    from termsieve.ranking.distinct import DistinctCells
    from termsieve.table import Table


class Scores(ArrowTable):
    """The values of one score on Counts. Made by `termsieve.score`.

    Nothing of the size classes x terms is made unless `values` is asked for. ``scores["call"]`` looks a term up.

    Attributes
    ----------
    counts, score
        What was scored, and with what.

    Examples
    --------
    >>> import termsieve as ts
    >>> scores = ts.score(ts.count(["good film", "good play", "bad film"], ["pos", "pos", "neg"]), "chi2")
    >>> scores.overall()
    array([3.  , 0.75, 3.  , 0.75])
    >>> scores["bad"].label, scores.top(1, of="pos")[0].term
    ('neg', 'good')
    """

    def __init__(self, counts: Counts, score: Score) -> None:
        score.check_documents(counts.n_docs)
        self.counts, self.score = counts, score
        self._last_intervals: tuple[IntervalOptions, tuple[DistinctCells, Interval]] | None = None

    @property
    def terms(self) -> StringArray:
        """The terms, in the order of the counts."""
        return self.counts.terms

    @property
    def classes(self) -> StringArray:
        """The classes, in the order of the counts."""
        return self.counts.classes

    @property
    def values(self) -> Array:
        """One class against the rest (classes x terms). Dense, and made when asked for."""
        values = np.empty(self.counts.shape)
        for c in range(len(values)):
            values[c] = self.of_class(c)
        return values

    def of_class(self, c: int) -> Array:
        """Return the row of `values` of one class, by its place."""
        if self.score.class_blind:
            return self.overall()
        cells, values = self._evaluation
        return agg.expand_class(cells, values, c)

    def overall(self, aggregate: str | None = None) -> Array:
        """Return one value per term.

        Parameters
        ----------
        aggregate : {"max", "sum", "mean", "weighted_mean"}, optional
            How the classes are brought together; without it, the score's own way.
        """
        if aggregate is not None:
            agg.get_aggregation(aggregate)
        whole = self.score.overall
        if whole is not None and (aggregate is None or self.score.class_blind):
            return self._evaluate_global(whole)
        how = "max" if self.score.class_blind else aggregate or self.score.aggregation
        return self._aggregate(self._evaluation, how)

    def order(self, aggregate: str | None = None) -> Int64Array:
        """Return the places of all terms, best first.

        Terms that the score's guard holds back (`rare`) come last. Equal scores are decided by the score's own
        tie-break, if it has one, then by the term, ascending.
        """
        return self.top_indices(self.overall(aggregate), self.tie_break_of(aggregate), self.counts.n_terms)

    def order_of_class(self, c: int) -> Int64Array:
        """Return the places of all terms, best for one class first; ties as in `order`."""
        return self.top_indices(self.of_class(c), self.tie_break_of_class(c), self.counts.n_terms)

    def top(
        self,
        n: int = 20,
        *,
        of: str | None = None,
        per_class: bool = False,
        against: bool = False,
        intervals: bool | float = False,
        pvalues: bool = False,
        dispersion: bool = False,
    ) -> Ranking:
        """Return the best terms, each with the class that it is associated with and the cells there.

        A term is associated with the class with the largest difference of tpr and fpr.

        Parameters
        ----------
        n : int
            How many (per class).
        of : str, optional
            Only for this class, as with `per_class`.
        per_class : bool
            One list for each class, of the terms with tpr > fpr in it, by their value in that class.
        against : bool
            With `of` or `per_class`: the terms with tpr < fpr instead, marked so, strongest first: the largest values
            of a two-sided score, the smallest of a one-sided one (and where these are equal, the smallest tpr
            - fpr).
        intervals : bool or float
            Add the columns low and high, the ends of an interval of this level (True is 0.95): see `interval`.
        pvalues : bool
            Add the columns p and q, by permutation: see `pvalues` and `qvalues`.
        dispersion : bool
            Add the column dispersion: Juilland's D over the documents of the class, or over all without one.

        Examples
        --------
        >>> import termsieve as ts
        >>> counts = ts.count(["good film"] * 4 + ["bad film"] * 4, ["pos"] * 4 + ["neg"] * 4)
        >>> ts.score(counts, "log_odds_ratio").top(1, of="pos", intervals=True, pvalues=True)
        rank  term  log_odds_ratio  class  tp  fp  fn  tn    low   high        p        q
           1  good         7.42714  pos     4   0   0   4  2.474  7.427  0.01429  0.04286
        """
        check_listing(n, of=of, per_class=per_class, against=against)
        beside = CertaintyColumns.from_options(intervals, pvalues, dispersion)
        if per_class or of is not None:
            classes = range(self.counts.n_classes) if of is None else [self.counts.index_of_class(of)]
            lists = [self.top_of_class(c, int(n), against=against, beside=beside) for c in classes]
            columns = {name: [x for one in lists for x in one.beside[name]] for name in beside.columns}
            return Ranking([row for one in lists for row in one], self.score.spelling, columns)
        overall = self.overall()
        best = self.top_indices(overall, self.tie_break_of(None), int(n))
        rows = self._rows(best, overall[best], self.associated_class[best])
        return Ranking(rows, self.score.spelling, describe_overall(self, best, beside))

    @cached_property
    def associated_class(self) -> Int32Array:
        """The place of the class that each term is associated with."""
        cells, lift = self._lift
        return agg.argmax_class(cells, lift)[cells.place]

    def pvalues(
        self,
        *,
        per_class: bool = False,
        method: Literal["theory", "permutation"] = "theory",
        draws: int | None = None,
        seed: int = 0,
    ) -> Array:
        """Return the probability of such a score, or a larger one, under independence.

        Parameters
        ----------
        per_class : bool
            One value for each class and term. Without it one for each term: m times the smallest of its m classes, at
            most 1 (Bonferroni).
        method : {"theory", "permutation"}
            By the distribution that the score is known to have, or for any score of documents by exchanging the labels:
            for a class that is exact.
        draws, seed : int, optional
            With "permutation" and not `per_class`: draw this many tables for each term and compare the overall score
            itself; the smallest p-value is then 1 / (draws + 1).

        Examples
        --------
        >>> import termsieve as ts
        >>> counts = ts.count(["good film"] * 4 + ["bad film"] * 4, ["pos"] * 4 + ["neg"] * 4)
        >>> ts.score(counts, "log_odds_ratio").pvalues(per_class=True, method="permutation").round(4)
        array([[0.0143, 1.    , 1.    ],
               [1.    , 1.    , 0.0143]])
        """
        if method not in ("theory", "permutation"):
            raise OptionError(f"The method of p-values is 'theory' or 'permutation'; it was given {method!r}.")
        if draws is not None:
            if method != "permutation" or per_class or not is_whole_number(draws, 1):
                raise OptionError("draws is a number of tables, for method='permutation' without per_class.")
            if not is_whole_number(seed):
                raise OptionError(f"The parameter 'seed' of p-values must be 0 or more, not {seed!r}.")
            return draw_overall_pvalues(self.counts, self.score, None, np.arange(self.counts.n_terms), draws, seed)
        cells, values = self._cell_pvalues if method == "permutation" else self._theoretical_pvalues()
        if per_class:
            return np.array([agg.expand_class(cells, values, c) for c in range(cells.n_classes)])
        smallest = 0.0 - agg.largest(cells, -values)
        return cells.expand_to_terms(np.minimum(1.0, cells.n_classes * smallest))

    def qvalues(
        self,
        *,
        per_class: bool = False,
        method: Literal["theory", "permutation"] = "permutation",
        control: Control = "bh",
    ) -> Array:
        """Return the false discovery rate at which each term would be taken, from `pvalues`.

        With `per_class` the terms of a class are a family. `control` is Benjamini and Hochberg's ("bh") or Yekutieli's
        ("by").
        """
        return control_false_discoveries(self.pvalues(per_class=per_class, method=method), control)

    def pvalues_of_class(self, c: int) -> Array:
        """Return the p-values by permutation of all terms in one class, by its place."""
        cells, values = self._cell_pvalues
        return agg.expand_class(cells, values, c)

    @cached_property
    def _cell_pvalues(self) -> tuple[DistinctCells, Array]:
        return find_cell_pvalues(self.counts, self.score)

    def _theoretical_pvalues(self) -> tuple[DistinctCells, Array]:
        pvalue = self.score.pvalue
        if pvalue is None:
            have = ", ".join(name for name, s in SCORES.items() if s.pvalue is not None)
            raise OptionError(
                f"The score {self.score.name!r} has no null distribution. Scores that have one: {have}. "
                "pvalues(method='permutation') has p-values of any score of documents."
            )
        return distinct.evaluate(self.counts, lambda t: pvalue(t, self.score.evaluate(t)))

    def interval(
        self, level: float = DEFAULT_LEVEL, method: Method = "analytic", *, draws: int = 1000, seed: int = 0
    ) -> Interval:
        """Return the ends of an interval around each of `values`: (low, high), each classes x terms.

        The documents are taken for a sample, of the sizes that the classes have; see `termsieve.ranking.intervals`.

        Parameters
        ----------
        level : float
            How often intervals like these contain the value of the population (default 0.95).
        method : {"analytic", "bootstrap"}
            From limits of the two rates, or by drawing documents with replacement; both from the counts.
        draws, seed : int
            Of the bootstrap. The result does not depend on threads, nor on what other terms there are.

        Examples
        --------
        >>> import termsieve as ts
        >>> X = np.repeat([[1, 1], [0, 1], [1, 0], [0, 0]], [30, 20, 10, 140], axis=0)
        >>> low, high = ts.score(ts.Counts.from_matrix(X[:, :1], X[:, 1].astype(str)), "log_odds_ratio").interval()
        >>> low[1].round(2), high[1].round(2)
        (array([2.22]), array([3.92]))
        """
        if self.score.class_blind:
            low, high = self.overall_interval(level=level, method=method, draws=draws, seed=seed)
            return Interval(*(np.broadcast_to(end, self.counts.shape).copy() for end in (low, high)))
        cells, found = find_cell_intervals(self.counts, self.score, IntervalOptions(level, method, draws, seed).check())
        return Interval(
            *(np.array([agg.expand_class(cells, end, c) for c in range(cells.n_classes)])
              for end in found)
        )  # fmt: skip

    def interval_of_class(self, c: int, level: float = DEFAULT_LEVEL) -> Interval:
        """Return the ends of the intervals of all terms in one class, by its place."""
        if self.score.class_blind:
            return self.overall_interval(level=level)
        cells, found = self._cell_intervals(IntervalOptions(level).check())
        return Interval(*(agg.expand_class(cells, end, c) for end in found))

    def _cell_intervals(self, options: IntervalOptions) -> tuple[DistinctCells, Interval]:
        """Return the intervals of all different cells; those asked for last are kept."""
        if self._last_intervals is None or self._last_intervals[0] != options:
            self._last_intervals = options, find_cell_intervals(self.counts, self.score, options)
        return self._last_intervals[1]

    def overall_interval(
        self,
        aggregate: str | None = None,
        level: float = DEFAULT_LEVEL,
        method: Method = "analytic",
        *,
        terms: Int64Array | None = None,
        draws: int = 1000,
        seed: int = 0,
    ) -> Interval:
        """Return the ends of an interval around `overall`: (low, high), one for each term.

        Each class is moved by itself, so this takes longer than `interval`: `terms` are the places of those that are
        wanted (default all). Documents with several labels are refused, for their classes are not independent.
        """
        if aggregate is not None:
            agg.get_aggregation(aggregate)
        places = np.arange(self.counts.n_terms) if terms is None else np.asarray(terms, np.int64)
        options = IntervalOptions(level, method, draws, seed).check()
        return find_overall_intervals(self.counts, self.score, aggregate, places, options)

    def to_arrow(self) -> pa.Table:
        """Return a table of all terms, best first, with the columns of a ranking."""
        overall, order = self.overall(), self.order()
        label = self.associated_class[order]
        columns = {"rank": np.arange(1, len(order) + 1), "term": self.terms[order], "score": overall[order]}
        columns |= {"class": self.classes[label], **self._cells(order, label)}
        return pa.table({**columns, "against": np.zeros(len(order), np.bool_)}, schema=COLUMNS)

    def plot(self, n: int = 20, *, of: str | None = None) -> Any:
        """Draw the best terms, of all classes or of one: a chart of altair."""
        return self.top(n, of=of).plot()

    def __getitem__(self, term: str) -> TermScore:
        place = self.counts.index_of(term)
        by_class = {name: float(self.of_class(c)[place]) for c, name in enumerate(self.classes.tolist())}
        rank = int(np.flatnonzero(self.order() == place)[0]) + 1
        label = str(self.classes[self.associated_class[place]])
        return TermScore(term, rank, float(self.overall()[place]), label, by_class)

    def __repr__(self) -> str:
        m, v = self.counts.shape
        return f"<Scores {self.score.spelling}: {m:,} classes, {v:,} terms>"

    def _repr_html_(self) -> str:
        name = self.score.spelling
        return views.render_ranking(
            f"Best of {self.counts.n_terms:,} terms by {name}", name, list(self.top(views.MAX_ROWS))
        )

    # How the values are found

    @cached_property
    def _evaluation(self) -> tuple[DistinctCells, Array]:
        return distinct.evaluate(self.counts, partial(_evaluate_checked, self.score))

    def _aggregate(self, evaluated: tuple[DistinctCells, Array], how: str) -> Array:
        cells, values = evaluated
        return cells.expand_to_terms(agg.get_aggregation(how)(cells, values))

    def _evaluate_global(self, whole: Callable[..., Array]) -> Array:
        def use(cells: DistinctCells) -> Array:
            return cells.expand_to_terms(whole(agg.CellAggregator(cells), **self.score.formula_arguments))

        return distinct.use_coarsest_level(self.counts, use)

    def tie_break_of(self, aggregate: str | None) -> Array | None:
        """Return what decides between terms of equal overall score, where the score declares it."""
        if self._tie_break is None:
            return None
        return self._aggregate(self._tie_break, aggregate or self.score.aggregation)

    @cached_property
    def rare(self) -> BoolArray | None:
        """Which terms rank below all others: those of fewer documents than the guard of the score asks for."""
        return self.counts.term_df < self.score.min_df if self.score.min_df > 1 else None

    def top_indices(self, score: Array, tie_break: Array | None, n: int, among: Int64Array | None = None) -> Int64Array:
        """Return the places of the n best terms, ties decided as they should be, rare terms after all others."""
        places = np.arange(score.size) if among is None else among
        if self.rare is None:
            return self._sort(score, tie_break, n, places)
        held_back = self.rare[places]
        first = self._sort(score, tie_break, n, places[~held_back])
        return np.concatenate([first, self._sort(score, tie_break, n - first.size, places[held_back])])

    def _sort(self, score: Array, tie_break: Array | None, n: int, places: Int64Array) -> Int64Array:
        n = min(n, places.size)
        if n == 0:
            return places[:0]
        if n < places.size:
            least = np.partition(score[places], places.size - n)[places.size - n]
            places = places[score[places] >= least]
        decided = [] if tie_break is None else [-tie_break[places]]
        return places[np.lexsort([self.counts.alphabetical[places], *decided, -score[places]])][:n]

    def top_of_class(
        self, c: int, n: int = 20, *, against: bool = False, beside: CertaintyColumns = NO_COLUMNS
    ) -> Ranking:
        """Return what `top` with `per_class` has for one class, by its place."""
        best, values = self.best_of_class(c, n, against=against), self.of_class(c)
        rows = self._rows(best, values[best], np.full(best.size, c, np.int32), against=against)
        return Ranking(rows, self.score.spelling, describe_class(self, best, c, beside))

    def best_of_class(self, c: int, n: int, *, against: bool = False) -> Int64Array:
        """Return the places of the n best terms that are more (`against`: less) frequent in a class than elsewhere."""
        values, side = self.of_class(c), self.lift_of_class(c)
        among = np.flatnonzero(side < 0 if against else side > 0)
        if against and self.score.sided == 1:
            # such a score is smallest for the terms that are rarest in the class, and often just 0 for all of them
            return self.top_indices(-values, -side, n, among)
        return self.top_indices(values, self.tie_break_of_class(c), n, among)

    def lift_of_class(self, c: int) -> Array:
        """Return tpr - fpr of each term in one class, by its place: above 0 where it is more frequent there."""
        cells, lift = self._lift
        return agg.expand_class(cells, lift, c)

    @cached_property
    def _lift(self) -> tuple[DistinctCells, Array]:
        return distinct.evaluate(self.counts, _get_lift)

    def tie_break_of_class(self, c: int) -> Array | None:
        """Return what decides between terms of equal score in one class, where the score declares it."""
        if self._tie_break is None:
            return None
        cells, values = self._tie_break
        return agg.expand_class(cells, values, c)

    @cached_property
    def _tie_break(self) -> tuple[DistinctCells, Array] | None:
        decide = self.score.tie_break
        if decide is None:
            return None
        arguments = self.score.formula_arguments
        return distinct.evaluate(self.counts, lambda t: decide(t, **arguments))

    def _cells(self, places: Int64Array, label: Int32Array) -> dict[str, Int64Array]:
        """Return the four cells of some terms, each in one class."""
        cells, found = distinct.evaluate(self.counts, _get_tp)
        tp = np.empty(places.size, np.int64)
        for c in np.unique(label).tolist():
            mine = label == c
            tp[mine] = agg.class_values(cells, found, c)[cells.place[places[mine]]]
        fp, fn = self.counts.term_df[places] - tp, self.counts.class_sizes[label] - tp
        return {"tp": tp, "fp": fp, "fn": fn, "tn": self.counts.n_docs - tp - fp - fn}

    def _rows(self, places: Int64Array, score: Array, label: Int32Array, *, against: bool = False) -> list[RankingRow]:
        terms, labels = self.terms[places].tolist(), self.classes[label].tolist()
        columns = [x.tolist() for x in (score, *self._cells(places, label).values())]
        rows = zip(terms, labels, *columns, strict=True)
        return [
            RankingRow(i, term, x, name, tp, fp, fn, tn, against)
            for i, (term, name, x, tp, fp, fn, tn) in enumerate(rows, 1)
        ]


def check_listing(n: object, *, of: str | None, per_class: bool, against: bool) -> None:
    """Refuse what `Scores.top` cannot list."""
    if not is_whole_number(n):
        raise OptionError(f"The parameter 'n' of 'top' must be a whole number, 0 or more; it was given {n!r}.")
    if against and not per_class and of is None:
        raise OptionError(
            "top(against=True) lists terms that are rarer in a class: it needs of=..., or per_class=True."
        )


def _get_lift(t: Table) -> Array:
    return t.lift


def _get_tp(t: Table) -> Array:
    return t.tp


def _evaluate_checked(score: Score, t: Table) -> Array:
    """Return the values of a score on a table, as floats of the right shape that are numbers."""
    given = score.evaluate(t)
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise OptionError(f"The score {score.spelling!r} must give numbers: {error}.") from error
    if values.shape not in ((), t.tp.shape):
        raise OptionError(
            f"The score {score.spelling!r} must give one value for each entry of the table: "
            f"{t.tp.shape[0]} were expected, an array of shape {values.shape} came back."
        )
    nan = np.flatnonzero(np.isnan(values))
    if nan.size:
        i = nan[0]
        cells = ", ".join(f"{name}={getattr(t, name)[i]:g}" for name in ("tp", "fp", "fn", "tn"))
        raise OptionError(
            f"The score {score.spelling!r} is not a number at {cells}: state the limit there with ratio()."
        )
    return values

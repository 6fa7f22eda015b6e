"""Some terms with all their classes, dense: for what is asked of few terms, with cells that no document has given.

`DistinctCells` finds the tables that repeat among the counts of all terms. Intervals and permutations make tables of
their own, many for each term and hardly any twice; their numbers of documents need not be whole.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from termsieve.table import Occurrences, Table, TableTooCoarseError, TokenTotals, ratio

if TYPE_CHECKING:
    from termsieve._types import Array, Int64Array
    from termsieve.counts.counts import Counts
    from termsieve.scores import Score

T = TypeVar("T")


class DenseClasses:
    """The cells of some terms in all classes: arrays of shape (3, rows, classes), of df, tf and tf2.

    Attributes
    ----------
    values : array
        Documents, occurrences and their squares.
    unlabelled : array of shape (3, rows)
        What documents without a label have of the term.
    """

    def __init__(self, counts: Counts, values: Array, unlabelled: Array, *, with_occurrences: bool) -> None:
        self.counts, self.values, self.unlabelled = counts, values, unlabelled
        self.with_occurrences = with_occurrences
        self.n_classes = float(counts.n_classes)

    @classmethod
    def take(cls, counts: Counts, places: Int64Array, *, with_occurrences: bool) -> DenseClasses:
        """Return the counts of some terms, by their places."""
        cells = counts.cells.take(places)
        values = np.zeros((3, places.size, counts.n_classes))
        values[:, cells.terms, cells.classes] = cells.values
        totals = np.array([x[places] for x in (counts.term_df, counts.term_tf, counts.term_tf2)], np.float64)
        # with several labels per document the classes have more than all documents: nothing is left then
        unlabelled = np.maximum(totals - values.sum(axis=2), 0.0)
        return cls(counts, values, unlabelled, with_occurrences=with_occurrences)

    def with_values(self, values: Array) -> DenseClasses:
        """Return the same terms, each several times, with other cells: an array of shape (3, terms, times, classes)."""
        times = values.shape[2]
        flat = values.reshape(3, -1, values.shape[3])
        unlabelled = np.repeat(self.unlabelled, times, axis=1)
        return DenseClasses(self.counts, flat, unlabelled, with_occurrences=self.with_occurrences)

    def take_rows(self, n: int) -> DenseClasses:
        """Return the first n terms."""
        values, unlabelled = self.values[:, :n], self.unlabelled[:, :n]
        return DenseClasses(self.counts, values, unlabelled, with_occurrences=self.with_occurrences)

    def take_first_class(self) -> DenseClasses:
        """Return the same terms with the first class alone."""
        rest = self.unlabelled + self.values[:, :, 1:].sum(axis=2)
        return DenseClasses(self.counts, self.values[:, :, :1], rest, with_occurrences=self.with_occurrences)

    def make_table(self) -> Table:
        """Return all cells as one table, row by row."""
        _, rows, m = self.values.shape
        totals = np.repeat(self.values.sum(axis=2) + self.unlabelled, m, axis=1)
        df, tf, tf2 = self.values.reshape(3, -1)
        sizes = np.tile(self.counts.class_sizes[:m].astype(np.float64), rows)
        n_docs = np.full(df.size, float(self.counts.n_docs))
        if not self.with_occurrences:
            return Table(df, totals[0], sizes, n_docs, self.n_classes)
        tokens_c = np.tile(np.asarray(self.counts.class_tf[:m], np.float64), rows)
        tokens = TokenTotals(
            tokens_c, np.full(df.size, float(self.counts.n_occurrences)), float(self.counts.vocabulary_size)
        )
        return Table(df, totals[0], sizes, n_docs, self.n_classes, Occurrences(tf, tf2, totals[1], totals[2]), tokens)

    def evaluate(self, function: Callable[[Table], Any]) -> Array:
        """Return what a function of a Table gives, rows x classes."""
        t = self._table
        return np.broadcast_to(np.asarray(function(t), np.float64), t.tp.shape).reshape(self.values.shape[1:])

    @property
    def _table(self) -> Table:
        if not hasattr(self, "_made"):
            self._made = self.make_table()
        return self._made

    def sum(self, function: Callable[[Table], Array]) -> Array:
        """Add up the classes."""
        return _add_up(self.evaluate(function), np.ones(self.values.shape[2]))

    def max(self, function: Callable[[Table], Array]) -> Array:
        """Take the largest of the classes."""
        return np.asarray(self.evaluate(function).max(axis=1))


def _add_up(values: Array, weights: Array) -> Array:
    """Add up the classes with their weights; infinities of opposite sign cancel, and the rest stands."""
    finite = np.isfinite(values)
    total = np.where(finite, values, 0.0) @ weights
    if finite.all():
        return np.asarray(total)
    counted = weights > 0
    up, down = (values[:, counted] == np.inf).any(axis=1), (values[:, counted] == -np.inf).any(axis=1)
    return np.where(up == down, total, np.where(up, np.inf, -np.inf))


def _aggregate(values: Array, how: str, sizes: Array) -> Array:
    if how == "max":
        return np.asarray(values.max(axis=1)) + 0.0
    if how == "weighted_mean":
        return ratio(_add_up(values, sizes), float(sizes.sum()), empty=0.0)
    total = _add_up(values, np.ones(sizes.size))
    return total / sizes.size if how == "mean" else total


def evaluate_overall(score: Score, dense: DenseClasses, aggregate: str | None) -> Array:
    """Return one value per row, as `Scores.overall` does."""
    if score.overall is not None and (aggregate is None or score.class_blind):
        return score.overall(dense, **score.formula_arguments)
    how = "max" if score.class_blind else aggregate or score.aggregation
    return _aggregate(dense.evaluate(score.evaluate), how, dense.counts.class_sizes.astype(np.float64))


def use_least_detail(use: Callable[[bool], T]) -> T:
    """Return what `use` makes of documents alone, or where that is too little, of occurrences too."""
    try:
        return use(False)
    except TableTooCoarseError:
        return use(True)

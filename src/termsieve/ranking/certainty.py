"""What stands beside the terms of a ranking: intervals, p- and q-values, and how evenly documents share a term."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from termsieve.defaults import DEFAULT_LEVEL
from termsieve.errors import OptionError
from termsieve.table import ratio

if TYPE_CHECKING:
    from termsieve._types import Array, Int32Array, Int64Array
    from termsieve.counts.counts import Counts
    from termsieve.ranking.score_values import Scores


class CertaintyColumns(NamedTuple):
    """The columns that are wanted beside each term: an interval of this level or none, p-values, dispersion."""

    level: float | None = None
    pvalues: bool = False
    dispersion: bool = False

    @classmethod
    def from_options(cls, intervals: bool | float, pvalues: bool, dispersion: bool) -> CertaintyColumns:
        """Return what the options of `Scores.top` ask for; True is an interval of 0.95."""
        level = DEFAULT_LEVEL if intervals is True else intervals or None
        if level is not None and not (isinstance(level, int | float | np.number) and 0 < level < 1):
            raise OptionError(f"The level of intervals must lie between 0 and 1; it was given {intervals!r}.")
        return cls(None if level is None else float(level), bool(pvalues), bool(dispersion))

    @property
    def options(self) -> dict[str, Any]:
        """The options of `Scores.top` that ask for it."""
        return {"intervals": self.level or False, "pvalues": self.pvalues, "dispersion": self.dispersion}

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return (
            *(("low", "high") if self.level is not None else ()),
            *(("p", "q") if self.pvalues else ()),
            *(("dispersion",) if self.dispersion else ()),
        )


NO_COLUMNS = CertaintyColumns()


def describe_overall(scores: Scores, places: Int64Array, beside: CertaintyColumns) -> dict[str, Array]:
    """Return the columns of some terms in a ranking of all classes together."""
    columns: dict[str, Array] = {}
    if beside.level is not None:
        found = scores.overall_interval(level=beside.level, terms=places)
        columns |= {"low": found.low, "high": found.high}
    if beside.pvalues:
        p, q = scores.pvalues(method="permutation"), scores.qvalues(method="permutation")
        columns |= {"p": p[places], "q": q[places]}
    if beside.dispersion:
        columns["dispersion"] = measure_dispersion(scores.counts, places)
    return columns


def describe_class(scores: Scores, places: Int64Array, c: int, beside: CertaintyColumns) -> dict[str, Array]:
    """Return the columns of some terms in the ranking of one class, by its place."""
    columns: dict[str, Array] = {}
    if beside.level is not None:
        low, high = scores.interval_of_class(c, level=beside.level)
        columns |= {"low": low[places], "high": high[places]}
    if beside.pvalues:
        from termsieve.ranking.permutation import control_false_discoveries

        p = scores.pvalues_of_class(c)
        columns |= {"p": p[places], "q": control_false_discoveries(p)[places]}
    if beside.dispersion:
        columns["dispersion"] = measure_dispersion(scores.counts, places, np.full(places.size, c, np.int32))
    return columns


def measure_dispersion(counts: Counts, places: Int64Array | None = None, label: Int32Array | None = None) -> Array:
    """Return Juilland's D of each term over documents: 1 where all have it alike, 0 where one has all of it.

    With mean and standard deviation of its occurrences per document, D = 1 - (sd / mean) / sqrt(n - 1). It takes
    documents for parts of equal size. Other measures (Gries' DP) need the length of each document.

    Parameters
    ----------
    counts : Counts
        Where the terms are counted.
    places : array of int, optional
        The places of the terms (default all).
    label : array of int, optional
        For each the place of a class, whose documents count; without it, all documents do.

    Examples
    --------
    >>> import termsieve as ts
    >>> counts = ts.count(["a1 b1 b1", "a1", "a1", "a1"], ["x", "x", "y", "y"])
    >>> measure_dispersion(counts)
    array([1., 0.])
    """
    places = np.arange(counts.n_terms) if places is None else places
    if label is None:
        n = np.full(places.size, float(counts.n_docs))
        tf, tf2 = (np.asarray(x, np.float64)[places] for x in (counts.term_tf, counts.term_tf2))
    else:
        n = counts.class_sizes[label].astype(np.float64)
        cells = counts.cells.take(places)
        values = np.zeros((3, places.size))
        mine = cells.classes == label[cells.terms]
        values[:, cells.terms[mine]] = cells.values[:, mine]
        tf, tf2 = values[1], values[2]
    squared_variation = np.maximum(ratio(n * tf2, tf * tf, empty=0.0) - 1.0, 0.0)
    evenness = 1.0 - np.sqrt(ratio(squared_variation, n - 1.0, empty=0.0))
    return np.where(tf > 0, np.clip(evenness, 0.0, 1.0), 0.0)

"""Aggregations: from one value per class and term to one per term.

Each runs over the classes in their order, by an explicit loop: the sum over the classes of a term never
depends on the other terms. Infinities of opposite sign cancel; the rest of the sum stands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from termsieve._numba import jit
from termsieve._types import Array, Int32Array, Int64Array
from termsieve.errors import OptionError, did_you_mean
from termsieve.ranking.distinct import DistinctCells

if TYPE_CHECKING:
    from collections.abc import Callable

    from termsieve.table import Table


@jit
def _sum_columns(
    indptr: Int64Array, classes: Int32Array, cell: Int32Array, group: Int32Array, kind: Int32Array, empty: Int32Array,
    values: Array, weights: Array, out: Array,
) -> None:  # fmt: skip
    """Add up: the classes that have the term, in their order, then those of each kind that lack it."""
    everywhere = np.zeros(empty.shape[1])
    for c in range(kind.size):
        everywhere[kind[c]] += weights[c]
    lacking = np.empty(everywhere.size)
    for j in range(group.size):
        lacking[:] = everywhere
        total = 0.0
        for p in range(indptr[j], indptr[j + 1]):
            c = classes[p]
            total += weights[c] * values[cell[p]]
            lacking[kind[c]] -= weights[c]
        for k in range(lacking.size):
            if lacking[k] > 0.0:
                total += lacking[k] * values[empty[group[j], k]]
        if not np.isfinite(total):
            total = _sum_with_infinities(
                values, weights, classes, cell, indptr[j], indptr[j + 1], empty[group[j]], lacking
            )
        out[j] = total


@jit
def _sum_with_infinities(
    values: Array,
    weights: Array,
    classes: Int32Array,
    cell: Int32Array,
    start: int,
    end: int,
    empty: Int32Array,
    lacking: Array,
) -> float:
    """Add up again where a class is infinite: opposite infinities cancel, and the finite rest stands."""
    total = 0.0
    up = down = False
    for p in range(start, end):
        x, weight = values[cell[p]], weights[classes[p]]
        if weight > 0.0:
            up |= x == np.inf
            down |= x == -np.inf
            total += weight * x if np.isfinite(x) else 0.0
    for k in range(lacking.size):
        if lacking[k] > 0.0:
            x = values[empty[k]]
            up |= x == np.inf
            down |= x == -np.inf
            total += lacking[k] * x if np.isfinite(x) else 0.0
    if up != down:
        return np.inf if up else -np.inf
    return total


@jit
def _find_maxima(
    indptr: Int64Array,
    classes: Int32Array,
    cell: Int32Array,
    group: Int32Array,
    kind: Int32Array,
    empty: Int32Array,
    values: Array,
    out: Array,
) -> None:
    sizes = np.zeros(empty.shape[1], np.int64)
    for c in range(kind.size):
        sizes[kind[c]] += 1
    lacking = np.empty_like(sizes)
    for j in range(group.size):
        lacking[:] = sizes
        best = -np.inf
        for p in range(indptr[j], indptr[j + 1]):
            best = max(best, values[cell[p]])
            lacking[kind[classes[p]]] -= 1
        for k in range(sizes.size):
            if lacking[k] > 0:
                best = max(best, values[empty[group[j], k]])
        out[j] = best


@jit
def _find_first_class(
    indptr: Int64Array, classes: Int32Array, cell: Int32Array, group: Int32Array, kind: Int32Array, empty: Int32Array,
    values: Array, wanted: Array, out: Int32Array,
) -> None:  # fmt: skip
    """Find the first class of each column that has the wanted value.

    Looks at the classes that have the term, and at the first of each kind that lacks it: there may be many classes.
    """
    n_classes, n_kinds = kind.size, empty.shape[1]
    ends = np.zeros(n_kinds + 1, np.int64)
    for c in range(n_classes):
        ends[kind[c] + 1] += 1
    for k in range(n_kinds):
        ends[k + 1] += ends[k]
    free, by_kind = ends.copy(), np.empty(n_classes, np.int64)
    for c in range(n_classes):
        by_kind[free[kind[c]]] = c
        free[kind[c]] += 1
    has_term = np.full(n_classes, -1, np.int64)  # the last column for which a class was found to have the term
    for j in range(group.size):
        best = n_classes
        for p in range(indptr[j], indptr[j + 1]):
            has_term[classes[p]] = j
            if values[cell[p]] == wanted[j] and classes[p] < best:
                best = int(classes[p])
        for k in range(n_kinds):
            i = ends[k]
            while i < ends[k + 1] and by_kind[i] < best and has_term[by_kind[i]] == j:
                i += 1
            if i < ends[k + 1] and by_kind[i] < best and values[empty[group[j], k]] == wanted[j]:
                best = by_kind[i]
        out[j] = best if best < n_classes else 0


@jit
def _pick_values(
    indptr: Int64Array, classes: Int32Array, cell: Int32Array, group: Int32Array, kind: Int32Array, empty: Int32Array,
    values: Array, where: Int32Array, out: Array,
) -> None:  # fmt: skip
    for j in range(group.size):
        x = values[empty[group[j], kind[where[j]]]]
        for p in range(indptr[j], indptr[j + 1]):
            if classes[p] == where[j]:
                x = values[cell[p]]
        out[j] = x


def _layout_arrays(
    cells: DistinctCells,
) -> tuple[Int64Array, Int32Array, Int32Array, Int32Array, Int32Array, Int32Array]:
    return cells.indptr, cells.classes, cells.cell, cells.group, cells.kind, cells.empty_cell


def _weighted_sum(cells: DistinctCells, values: Array, weights: Array) -> Array:
    out = np.empty(cells.n_columns)
    _sum_columns(*_layout_arrays(cells), values, weights, out)
    return out


def total(cells: DistinctCells, values: Array) -> Array:
    """Sum over the classes."""
    return _weighted_sum(cells, values, np.ones(cells.n_classes))


def mean(cells: DistinctCells, values: Array) -> Array:
    """Mean over the classes, each counting the same."""
    return total(cells, values) / cells.n_classes


def weighted_mean(cells: DistinctCells, values: Array) -> Array:
    """Mean over the classes, each counting by its documents; a mean with several labels per document too."""
    return _weighted_sum(cells, values, cells.class_sizes) / float(cells.class_sizes.sum())


def largest(cells: DistinctCells, values: Array) -> Array:
    """Largest value of any class."""
    out = np.empty(cells.n_columns)
    _find_maxima(*_layout_arrays(cells), values, out)
    return out


def argmax_class(cells: DistinctCells, values: Array) -> Int32Array:
    """Return the first class that has the largest value."""
    where = np.empty(cells.n_columns, np.int32)
    _find_first_class(*_layout_arrays(cells), values, largest(cells, values), where)
    return where


def pick_values(cells: DistinctCells, values: Array, where: Int32Array) -> Array:
    """Return the value of one class in each column, of the class that `where` names."""
    out = np.empty(cells.n_columns)
    _pick_values(*_layout_arrays(cells), values, where, out)
    return out


def class_values(cells: DistinctCells, values: Array, c: int) -> Array:
    """Return the values of one class."""
    if not 0 <= c < cells.n_classes:
        raise IndexError(f"there is no class number {c}: there are {cells.n_classes}")
    return pick_values(cells, values, np.full(cells.n_columns, c, np.int32))


AGGREGATIONS: dict[str, Callable[[DistinctCells, Array], Array]] = {
    "max": largest,
    "sum": total,
    "mean": mean,
    "weighted_mean": weighted_mean,
}


def get_aggregation(name: str) -> Callable[[DistinctCells, Array], Array]:
    """Return the aggregation of that name."""
    if name not in AGGREGATIONS:
        known = ", ".join(map(repr, AGGREGATIONS))
        raise OptionError(f"Unknown aggregation {name!r}. {did_you_mean(str(name), AGGREGATIONS)}Known: {known}.")
    return AGGREGATIONS[name]


class CellAggregator:
    """What the formula of a global score is given: it adds up functions of a Table over the classes."""

    def __init__(self, cells: DistinctCells) -> None:
        self._cells = cells
        self.n_classes = float(cells.n_classes)

    def sum(self, function: Callable[[Table], Array]) -> Array:
        """Add up the classes."""
        return total(self._cells, self._cells.evaluate(function))

    def max(self, function: Callable[[Table], Array]) -> Array:
        """Take the largest of the classes."""
        return largest(self._cells, self._cells.evaluate(function))

"""Aggregations: from one value per class and term to one per term.

Each runs over the classes in their order, by an explicit loop: the sum over the classes of a term never
depends on the other terms. Infinities of opposite sign cancel; the rest of the sum stands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from termsieve._numba import jit
from termsieve.errors import OptionError, did_you_mean
from termsieve.ranking.distinct import Distinct, Ints, Places

if TYPE_CHECKING:
    from collections.abc import Callable

    from termsieve.table import Array, Table


@jit
def _sums(
    indptr: Ints, classes: Places, cell: Places, group: Places, kind: Places, empty: Places,
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
            total = _infinite_sum(values, weights, classes, cell, indptr[j], indptr[j + 1], empty[group[j]], lacking)
        out[j] = total


@jit
def _infinite_sum(
    values: Array,
    weights: Array,
    classes: Places,
    cell: Places,
    start: int,
    end: int,
    empty: Places,
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
def _maxima(
    indptr: Ints,
    classes: Places,
    cell: Places,
    group: Places,
    kind: Places,
    empty: Places,
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
def _first_with(
    indptr: Ints, classes: Places, cell: Places, group: Places, kind: Places, empty: Places,
    values: Array, wanted: Array, out: Places,
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
def _picked(
    indptr: Ints, classes: Places, cell: Places, group: Places, kind: Places, empty: Places,
    values: Array, where: Places, out: Array,
) -> None:  # fmt: skip
    for j in range(group.size):
        x = values[empty[group[j], kind[where[j]]]]
        for p in range(indptr[j], indptr[j + 1]):
            if classes[p] == where[j]:
                x = values[cell[p]]
        out[j] = x


def _layout(cells: Distinct) -> tuple[Ints, Places, Places, Places, Places, Places]:
    return cells.indptr, cells.classes, cells.cell, cells.group, cells.kind, cells.empty_cell


def _weighted(cells: Distinct, values: Array, weights: Array) -> Array:
    out = np.empty(cells.n_columns)
    _sums(*_layout(cells), values, weights, out)
    return out


def total(cells: Distinct, values: Array) -> Array:
    """Sum over the classes."""
    return _weighted(cells, values, np.ones(cells.n_classes))


def mean(cells: Distinct, values: Array) -> Array:
    """Mean over the classes, each counting the same."""
    return total(cells, values) / cells.n_classes


def weighted_mean(cells: Distinct, values: Array) -> Array:
    """Mean over the classes, each counting by its documents; a mean with several labels per document too."""
    return _weighted(cells, values, cells.class_sizes) / float(cells.class_sizes.sum())


def largest(cells: Distinct, values: Array) -> Array:
    """Largest value of any class."""
    out = np.empty(cells.n_columns)
    _maxima(*_layout(cells), values, out)
    return out


def class_of_largest(cells: Distinct, values: Array) -> Places:
    """Return the first class that has the largest value."""
    where = np.empty(cells.n_columns, np.int32)
    _first_with(*_layout(cells), values, largest(cells, values), where)
    return where


def picked(cells: Distinct, values: Array, where: Places) -> Array:
    """Return the value of one class in each column, of the class that `where` names."""
    out = np.empty(cells.n_columns)
    _picked(*_layout(cells), values, where, out)
    return out


def of_class(cells: Distinct, values: Array, c: int) -> Array:
    """Return the values of one class."""
    if not 0 <= c < cells.n_classes:
        raise IndexError(f"there is no class number {c}: there are {cells.n_classes}")
    return picked(cells, values, np.full(cells.n_columns, c, np.int32))


AGGREGATIONS: dict[str, Callable[[Distinct, Array], Array]] = {
    "max": largest,
    "sum": total,
    "mean": mean,
    "weighted_mean": weighted_mean,
}


def aggregation(name: str) -> Callable[[Distinct, Array], Array]:
    """Return the aggregation of that name."""
    if name not in AGGREGATIONS:
        known = ", ".join(map(repr, AGGREGATIONS))
        raise OptionError(f"Unknown aggregation {name!r}. {did_you_mean(str(name), AGGREGATIONS)}Known: {known}.")
    return AGGREGATIONS[name]


class OverClasses:
    """What the formula of a global score is given: it adds up functions of a Table over the classes."""

    def __init__(self, cells: Distinct) -> None:
        self._cells = cells
        self.n_classes = float(cells.n_classes)

    def sum(self, function: Callable[[Table], Array]) -> Array:
        """Add up the classes."""
        return total(self._cells, self._cells.evaluate(function))

    def max(self, function: Callable[[Table], Array]) -> Array:
        """Take the largest of the classes."""
        return largest(self._cells, self._cells.evaluate(function))

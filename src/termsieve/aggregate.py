"""Aggregations: from one value per class and term to one per term.

Each runs over the classes in their order, by an explicit loop: the sum over the classes of a term never
depends on the other terms. Infinities of opposite sign cancel; the rest of the sum stands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from termsieve.distinct import Distinct, Ints, Places, kernel
from termsieve.errors import OptionError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable

    from termsieve.table import Array


@kernel
def _column(
    indptr: Ints, classes: Places, cell: Places, group: Places, kind: Places, empty: Places,
    values: Array, j: int, row: Array, absent: Array,
) -> None:  # fmt: skip
    """Write the values of all classes in column j."""
    for k in range(absent.size):
        absent[k] = values[empty[group[j], k]]
    for c in range(kind.size):
        row[c] = absent[kind[c]]
    for p in range(indptr[j], indptr[j + 1]):
        row[classes[p]] = values[cell[p]]


@kernel
def _sums(
    indptr: Ints, classes: Places, cell: Places, group: Places, kind: Places, empty: Places,
    values: Array, weights: Array, out: Array,
) -> None:  # fmt: skip
    row, absent = np.empty(kind.size), np.empty(empty.shape[1])
    for j in range(group.size):
        _column(indptr, classes, cell, group, kind, empty, values, j, row, absent)
        total = 0.0
        for c in range(kind.size):
            total += weights[c] * row[c]
        if not np.isfinite(total):
            total = _infinite_sum(row, weights)
        out[j] = total


@kernel
def _infinite_sum(row: Array, weights: Array) -> float:
    total = 0.0
    up = down = False
    for c in range(row.size):
        if np.isfinite(row[c]):
            total += weights[c] * row[c]
        elif weights[c] > 0.0:
            up |= row[c] > 0.0
            down |= row[c] < 0.0
    if up != down:
        return np.inf if up else -np.inf
    return total


@kernel
def _largest(
    indptr: Ints, classes: Places, cell: Places, group: Places, kind: Places, empty: Places,
    values: Array, out: Array, where: Places,
) -> None:  # fmt: skip
    row, absent = np.empty(kind.size), np.empty(empty.shape[1])
    for j in range(group.size):
        _column(indptr, classes, cell, group, kind, empty, values, j, row, absent)
        best = -np.inf
        at = 0
        for c in range(kind.size):
            if row[c] > best:
                best = row[c]
                at = c
        out[j] = best
        where[j] = at


@kernel
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
    return largest_and_where(cells, values)[0]


def largest_and_where(cells: Distinct, values: Array) -> tuple[Array, Places]:
    """Largest value of any class, and the first class that has it."""
    out, where = np.empty(cells.n_columns), np.empty(cells.n_columns, np.int32)
    _largest(*_layout(cells), values, out, where)
    return out, where


def picked(cells: Distinct, values: Array, where: Places) -> Array:
    """Return the value of one class in each column, of the class that `where` names."""
    out = np.empty(cells.n_columns)
    _picked(*_layout(cells), values, where, out)
    return out


def of_class(cells: Distinct, values: Array, c: int) -> Array:
    """Return the values of one class."""
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
        raise OptionError(
            f"Unknown aggregation {name!r}. {did_you_mean(str(name), AGGREGATIONS)}Known: {known}."
        )
    return AGGREGATIONS[name]


class OverClasses:
    """What the formula of a global score is given to add up cells per column."""

    def __init__(self, cells: Distinct) -> None:
        self._cells = cells

    def sum(self, x: Array) -> Array:
        """Sum over the classes."""
        return total(self._cells, x)

    def max(self, x: Array) -> Array:
        """Largest of the classes."""
        return largest(self._cells, x)

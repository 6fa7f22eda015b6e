"""Aggregations: from one value per class and term to one per term.

Each runs over the classes in their order, by an explicit loop: the sum over the classes of a term never
depends on the other terms. Infinities of opposite sign cancel; the rest of the sum stands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from termsieve._kernels import import_kernels, kernels_pay
from termsieve._types import Array, Int32Array, IntegerArray
from termsieve.errors import OptionError, did_you_mean
from termsieve.ranking.distinct import TABLE_CELLS, DistinctCells
from termsieve.table import ratio

if TYPE_CHECKING:
    from collections.abc import Callable

    from termsieve.ranking import aggregate_kernels as kernels
    from termsieve.table import Table
else:
    kernels = import_kernels("termsieve.ranking.aggregate_kernels")


def _kernels_pay(cells: DistinctCells) -> bool:
    return kernels_pay(cells.n_columns * cells.n_classes, TABLE_CELLS)


def _layout_arrays(cells: DistinctCells) -> dict[str, Any]:
    """Return what all loops take, by name: where the cells of a column are, and which stand for empty ones."""
    return {
        "indptr": cells.indptr, "classes": cells.classes, "cell": cells.cell, "group": cells.group,
        "kind": cells.kind, "empty": cells.empty_cell,
    }  # fmt: skip


def _expand(cells: DistinctCells, values: Array) -> Array:
    """Return the values of all classes in each column (columns x classes), dense: for small tables."""
    dense = values[cells.empty_cell[cells.group][:, cells.kind]]
    dense[cells.column, cells.classes] = values[cells.cell]
    return np.asarray(dense)


def _weighted_sum(cells: DistinctCells, values: Array, weights: Array) -> Array:
    """Add up: the classes that have the term, in their order, then those of each kind that lack it."""
    if not _kernels_pay(cells):
        with np.errstate(invalid="ignore"):  # infinities cancel, or are multiplied with 0
            return _weighted_sum_plainly(cells, values, weights)
    out = np.empty(cells.n_columns)
    kernels.sum_columns(**_layout_arrays(cells), values=values, weights=weights, out=out)
    return out


def _weighted_sum_plainly(cells: DistinctCells, values: Array, weights: Array) -> Array:
    n, n_kinds = cells.n_columns, cells.empty_cell.shape[1]
    of_cells = weights[cells.classes]
    here = _add_by_number(cells.column * n_kinds + cells.kind[cells.classes], of_cells, n * n_kinds)
    lacking = _add_by_number(cells.kind, weights, n_kinds) - here.reshape(n, n_kinds)

    def add_up(values: Array) -> Array:
        total = _add_by_number(cells.column, of_cells * values[cells.cell], n)
        for k in range(n_kinds):
            there = np.flatnonzero(lacking[:, k] > 0.0)
            total[there] += lacking[there, k] * values[cells.empty_cell[cells.group[there], k]]
        return total

    total = add_up(values)
    infinite = ~np.isfinite(total)
    if infinite.any():
        up, down = add_up(np.where(values == np.inf, 1.0, 0.0)) > 0, add_up(np.where(values == -np.inf, 1.0, 0.0)) > 0
        rest = add_up(np.where(np.isfinite(values), values, 0.0))
        total[infinite] = np.where(up == down, rest, np.where(up, np.inf, -np.inf))[infinite]
    return total


def _add_by_number(numbers: IntegerArray, values: Array, n: int) -> Array:
    """Add values of equal number one by one, in their order, as the loop does; `reduceat` would add in pairs."""
    return np.asarray(np.bincount(numbers, values, n), np.float64)


def total(cells: DistinctCells, values: Array) -> Array:
    """Add up the classes."""
    return _weighted_sum(cells, values, np.ones(cells.n_classes))


def mean(cells: DistinctCells, values: Array) -> Array:
    """Take the mean over the classes, each counting the same."""
    return total(cells, values) / cells.n_classes


def weighted_mean(cells: DistinctCells, values: Array) -> Array:
    """Take the mean over the classes, each counting by its documents; with several labels per document too.

    It is 0 where no class has documents, as in a table of documents without labels.
    """
    return ratio(_weighted_sum(cells, values, cells.class_sizes), float(cells.class_sizes.sum()), empty=0.0)


def largest(cells: DistinctCells, values: Array) -> Array:
    """Find the largest value of any class."""
    if _kernels_pay(cells):
        out = np.empty(cells.n_columns)
        kernels.find_maxima(**_layout_arrays(cells), values=values, out=out)
    else:
        out = _expand(cells, values).max(axis=1)
    return out + 0.0  # of 0.0 and -0.0 either may be the larger: here it is 0.0


def argmax_class(cells: DistinctCells, values: Array) -> Int32Array:
    """Return the first class that has the largest value."""
    if not _kernels_pay(cells):
        return np.asarray(_expand(cells, values).argmax(axis=1), np.int32)
    where = np.empty(cells.n_columns, np.int32)
    kernels.find_first_class(**_layout_arrays(cells), values=values, wanted=largest(cells, values), out=where)
    return where


def class_values(cells: DistinctCells, values: Array, c: int) -> Array:
    """Return the value of one class in each column."""
    if not 0 <= c < cells.n_classes:
        raise IndexError(f"there is no class number {c}: there are {cells.n_classes}")
    out = values[cells.empty_cell[:, cells.kind[c]][cells.group]]
    mine = cells.by_class[cells.class_starts[c] : cells.class_starts[c + 1]]
    out[cells.column[mine]] = values[cells.cell[mine]]
    return np.asarray(out)


def expand_class(cells: DistinctCells, values: Array, c: int) -> Array:
    """Return the value of one class for each term."""
    return cells.expand_to_terms(class_values(cells, values, c))


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

"""Distinct cells: most tables of a corpus repeat, so each is scored once.

A score of documents depends only on the size of the class, the documents of the class with the term, and all
documents with the term. Of the 4.2 million pairs of class and term in 20 Newsgroups, few are different.
`Distinct` finds, once per Counts, the different columns and within them the different cells. A score function
sees each different cell once; the rest is looking up.

Scores of occurrences need finer cells. Nobody has to declare that: a function that asks a table of documents
for occurrences is given the finer one.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

from termsieve.table import Array, Occurrences, OccurrencesNeededError, Table

if TYPE_CHECKING:
    from termsieve.counts import Counts

Ints: TypeAlias = NDArray[np.int64]
Places: TypeAlias = NDArray[np.int32]
F = TypeVar("F", bound=Callable[..., object])

_CHUNK = 1 << 16  # cells: a dozen arrays of them stay in the cache
_KEPT_CHUNKS = 4  # tables of so many chunks are kept, with all they have derived


def kernel(function: F) -> F:
    """Compile a loop; its types stay those of the Python function."""
    return cast("F", numba.njit(nogil=True, cache=True)(function))


@kernel
def _mixed(h: Any, x: Any) -> Any:
    h = (h ^ np.uint64(x)) * np.uint64(0x9E3779B97F4A7C15)
    return h ^ (h >> np.uint64(29))


@kernel
def _same_column(indptr: Ints, classes: Places, keys: Ints, totals: Ints, i: int, j: int) -> bool:
    start, other, n = indptr[i], indptr[j], indptr[i + 1] - indptr[i]
    if indptr[j + 1] - other != n:
        return False
    for r in range(totals.shape[0]):
        if totals[r, i] != totals[r, j]:
            return False
    for p in range(n):
        if classes[start + p] != classes[other + p]:
            return False
        for r in range(keys.shape[0]):
            if keys[r, start + p] != keys[r, other + p]:
                return False
    return True


@kernel
def _distinct_columns(
    indptr: Ints, classes: Places, keys: Ints, totals: Ints, slots: Places, place: Places, first: Places
) -> int:
    """Give the different columns numbers: `place` is that of each column, `first` a column of each number."""
    mask = np.uint64(slots.size - 1)
    found = 0
    for j in range(place.size):
        h = np.uint64(indptr[j + 1] - indptr[j])
        for r in range(totals.shape[0]):
            h = _mixed(h, totals[r, j])
        for p in range(indptr[j], indptr[j + 1]):
            h = _mixed(h, classes[p])
            for r in range(keys.shape[0]):
                h = _mixed(h, keys[r, p])
        slot = (h ^ (h >> np.uint64(32))) & mask
        while slots[slot] >= 0 and not _same_column(indptr, classes, keys, totals, first[slots[slot]], j):
            slot = (slot + np.uint64(1)) & mask
        if slots[slot] < 0:
            slots[slot] = found
            first[found] = j
            found += 1
        place[j] = slots[slot]
    return found


@kernel
def _missing_kinds(
    indptr: Ints, classes: Places, kind: Places, sizes: Ints, group: Places, missing: NDArray[np.bool_]
) -> None:
    """Mark which pairs of term totals and kind of class occur without the term."""
    here = np.zeros(sizes.size, np.int64)
    for j in range(group.size):
        here[:] = 0
        for p in range(indptr[j], indptr[j + 1]):
            here[kind[classes[p]]] += 1
        for k in range(sizes.size):
            if here[k] < sizes[k]:
                missing[group[j], k] = True


def _slots(n: int) -> Places:
    return np.full(1 << max(4, (2 * n).bit_length()), -1, np.int32)


def _distinct_rows(keys: Ints) -> tuple[Places, Places]:
    """Give the different columns of a dense array numbers: that of each, and the first of each number."""
    n = keys.shape[1]
    place, first = np.empty(n, np.int32), np.empty(n, np.int32)
    none = np.zeros(n + 1, np.int64), np.empty(0, np.int32), np.empty((keys.shape[0], 0), np.int64)
    found = _distinct_columns(*none, keys, _slots(n), place, first)
    return place, first[:found].copy()


def _as_keys(values: NDArray[Any]) -> Ints:
    """Numbers as keys: equal keys for equal numbers."""
    if values.dtype.kind == "f":
        return np.ascontiguousarray(values, dtype=np.float64).view(np.int64)
    return np.ascontiguousarray(values, dtype=np.int64)


class Distinct:
    """The different columns and cells of Counts.

    Attributes
    ----------
    place
        The number of each term's column.
    indptr, classes, cell
        The cells of column j stand at ``indptr[j]`` to ``indptr[j + 1]``, in order of their class; `cell` is
        the number of the cell.
    group, kind, empty_cell
        Where column j has nothing in class c, its cell is ``empty_cell[group[j], kind[c]]``.
    n_cells
        Number of different cells.
    """

    def __init__(self, counts: Counts, rows: int) -> None:
        self._rows = rows
        self._set_classes(counts)
        if rows == 1:
            values, totals = counts.df.data[np.newaxis], counts.term_df[np.newaxis]
        else:
            values = np.array([counts.df.data, counts.tf.data, counts.tf2.data])
            totals = np.array([counts.term_df, counts.term_tf, counts.term_tf2])
        first = self._set_columns(counts, _as_keys(values), _as_keys(totals))
        self._set_cells(values[:, self._source], totals[:, first])

    def _set_classes(self, counts: Counts) -> None:
        """Find the kinds of classes: those of one kind no score can tell apart."""
        self.n_docs, self.n_classes, self.n_terms = counts.n_docs, counts.n_classes, counts.n_terms
        self.class_sizes = counts.class_sizes.astype(np.float64)
        tokens = np.asarray(counts.class_tf if self._rows > 1 else np.zeros(self.n_classes), dtype=np.float64)
        self._tokens = float(counts.n_occurrences)
        kinds, kind = np.unique(np.array([self.class_sizes, tokens]), axis=1, return_inverse=True)
        self.kind: Places = kind.astype(np.int32).reshape(self.n_classes)
        self._kind_size, self._kind_tokens = kinds

    def _set_columns(self, counts: Counts, keys: Ints, totals: Ints) -> Places:
        indptr = np.asarray(counts.df.indptr, dtype=np.int64)
        classes = np.asarray(counts.df.indices, dtype=np.int32)
        self.place, first = np.empty(self.n_terms, np.int32), np.empty(self.n_terms, np.int32)
        found = _distinct_columns(indptr, classes, keys, totals, _slots(self.n_terms), self.place, first)
        first = first[:found].copy()
        lengths = np.diff(indptr)[first]
        self.indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        self._source = np.repeat(indptr[first] - self.indptr[:-1], lengths) + np.arange(self.indptr[-1])
        self.classes: Places = classes[self._source]
        return first

    def _set_cells(self, values: NDArray[Any], totals: NDArray[Any]) -> None:
        self.group, group_first = _distinct_rows(_as_keys(totals))
        kind, group = self.kind[self.classes], np.repeat(self.group, np.diff(self.indptr))
        self.cell, first = _distinct_rows(
            np.concatenate([[kind, group], _as_keys(values)]).astype(np.int64, copy=False)
        )
        missing = np.zeros((group_first.size, self._kind_size.size), np.bool_)
        sizes = np.bincount(self.kind, minlength=self._kind_size.size).astype(np.int64)
        _missing_kinds(self.indptr, self.classes, self.kind, sizes, self.group, missing)
        numbers = first.size - 1 + np.cumsum(missing)
        self.empty_cell: Places = numbers.astype(np.int32).reshape(missing.shape)
        empty_group, empty_kind = np.nonzero(missing)
        self._cell_kind = np.concatenate([kind[first], empty_kind.astype(np.int32)])
        self._cell_group = np.concatenate([group[first], empty_group.astype(np.int32)])
        nothing = np.zeros((values.shape[0], empty_group.size))
        self._cell_values = np.concatenate([values[:, first], nothing], axis=1).astype(np.float64)
        self._totals = totals[:, group_first].astype(np.float64)
        self.n_cells = self._cell_kind.size
        del self._source

    @property
    def n_columns(self) -> int:
        """Number of different columns."""
        return int(self.group.size)

    def _table(self, chunk: slice) -> Table:
        kind, group, values = self._cell_kind[chunk], self._cell_group[chunk], self._cell_values[:, chunk]
        occurrences = None
        if self._rows > 1:
            tf, tf2 = (row[group] for row in self._totals[1:])
            tokens = self._kind_tokens[kind]
            occurrences = Occurrences(
                values[1], values[2], tf, tf2, tokens, np.asarray(self._tokens), float(self.n_terms)
            )
        n_docs = np.full(kind.size, float(self.n_docs))
        arrays = values[0], self._totals[0][group], self._kind_size[kind], n_docs
        for array in (*arrays, *(occurrences or ())):
            if isinstance(array, np.ndarray):
                array.flags.writeable = False
        return Table(*arrays, float(self.n_classes), occurrences)

    @cached_property
    def _kept(self) -> list[Table]:
        return list(self._made())

    def _made(self) -> Iterator[Table]:
        return (self._table(slice(i, i + _CHUNK)) for i in range(0, self.n_cells, _CHUNK))

    @property
    def tables(self) -> Iterator[Table]:
        """All different cells, in chunks."""
        return iter(self._kept) if self.n_cells <= _CHUNK * _KEPT_CHUNKS else self._made()

    @property
    def whole(self) -> Table:
        """All different cells in one table."""
        return self._kept[0] if 0 < self.n_cells <= _CHUNK else self._table(slice(0, self.n_cells))

    def evaluate(self, function: Callable[[Table], Any]) -> Array:
        """Return what a function of a Table gives for every different cell."""
        values = np.empty(self.n_cells)
        start = 0
        for table in self.tables:
            end = start + table.tp.size
            values[start:end] = function(table)
            start = end
        return values


_FOUND: dict[tuple[int, int], Distinct] = {}


def distinct(counts: Counts, *, occurrences: bool) -> Distinct:
    """Return the different cells of Counts, of documents or of occurrences too; found once, and kept."""
    key = id(counts), 3 if occurrences else 1
    if key not in _FOUND:
        _FOUND[key] = Distinct(counts, key[1])
        weakref.finalize(counts, _FOUND.pop, key, None)
    return _FOUND[key]


def evaluate(counts: Counts, function: Callable[[Table], Any]) -> tuple[Distinct, Array]:
    """Return the values of a function of a Table on the different cells that it needs, and those cells."""
    try:
        cells = distinct(counts, occurrences=False)
        return cells, cells.evaluate(function)
    except OccurrencesNeededError:
        cells = distinct(counts, occurrences=True)
        return cells, cells.evaluate(function)

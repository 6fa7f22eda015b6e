"""Distinct cells: most tables of a corpus repeat, so each is scored once.

A score of documents depends only on the size of the class, the documents of the class with the term, and all
documents with the term. Of the 4.2 million pairs of class and term in 20 Newsgroups, few are different.
`DistinctCells` finds, once per Counts, the different columns and within them the different cells. A score function
sees each different cell once; the rest is looking up.

Scores of occurrences need finer cells. Nobody has to declare that: a function that asks a table of documents
for occurrences is given the finer one.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from enum import IntEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from termsieve._numba import jit, multiply_and_fold
from termsieve._types import Array, Int32Array, Int64Array, UInt64Array
from termsieve.table import Occurrences, Table, TableTooCoarseError, TokenTotals
from termsieve.tokens.kernels import new_secrets

if TYPE_CHECKING:
    from termsieve.counts.counts import Counts

T = TypeVar("T")

_CHUNK_CELLS = 1 << 15  # cells: a dozen arrays of them stay in the cache
_MAX_CACHED_CELLS = 1 << 19  # tables of so many cells are kept, with all they have derived


@jit
def _mix_hash(h: Any, x: Any, secret: Any) -> Any:
    return multiply_and_fold(h ^ np.uint64(x), secret)


@jit
def _is_same_column(
    indptr: Int64Array, classes: Int32Array, keys: Int64Array, totals: Int64Array, i: int, j: int
) -> bool:
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


@jit
def _number_columns(
    indptr: Int64Array,
    classes: Int32Array,
    keys: Int64Array,
    totals: Int64Array,
    secrets: UInt64Array,
    slots: Int32Array,
    place: Int32Array,
    first: Int32Array,
) -> int:
    """Give the different columns numbers: `place` is that of each column, `first` a column of each number.

    The hashes depend on random numbers, so that nobody can make counts that crowd together; the result does not.
    """
    start, secret = secrets[0], secrets[1]
    mask = np.uint64(slots.size - 1)
    found = 0
    for j in range(place.size):
        h = start ^ np.uint64(indptr[j + 1] - indptr[j])
        for r in range(totals.shape[0]):
            h = _mix_hash(h, totals[r, j], secret)
        for p in range(indptr[j], indptr[j + 1]):
            h = _mix_hash(h, classes[p], secret)
            for r in range(keys.shape[0]):
                h = _mix_hash(h, keys[r, p], secret)
        slot = (h ^ (h >> np.uint64(32))) & mask
        while slots[slot] >= 0 and not _is_same_column(indptr, classes, keys, totals, first[slots[slot]], j):
            slot = (slot + np.uint64(1)) & mask
        if slots[slot] < 0:
            slots[slot] = found
            first[found] = j
            found += 1
        place[j] = slots[slot]
    return found


@jit
def _mark_missing_kinds(
    indptr: Int64Array,
    classes: Int32Array,
    kind: Int32Array,
    sizes: Int64Array,
    group: Int32Array,
    missing: NDArray[np.bool_],
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


def _make_slots(n: int) -> Int32Array:
    return np.full(1 << max(4, (2 * n).bit_length()), -1, np.int32)


@jit
def _number_rows(
    keys: Int64Array, secrets: UInt64Array, slots: Int32Array, place: Int32Array, first: Int32Array
) -> int:
    start, secret = secrets[0], secrets[1]
    mask = np.uint64(slots.size - 1)
    found = 0
    for i in range(keys.shape[0]):
        h = start
        for r in range(keys.shape[1]):
            h = _mix_hash(h, keys[i, r], secret)
        slot = (h ^ (h >> np.uint64(32))) & mask
        while slots[slot] >= 0:
            other = first[slots[slot]]
            same = True
            for r in range(keys.shape[1]):
                same &= keys[i, r] == keys[other, r]
            if same:
                break
            slot = (slot + np.uint64(1)) & mask
        if slots[slot] < 0:
            slots[slot] = found
            first[found] = i
            found += 1
        place[i] = slots[slot]
    return found


def _find_distinct_rows(*columns: NDArray[Any]) -> tuple[Int32Array, Int32Array]:
    """Give the different rows of a dense array numbers: that of each, and the first of each number."""
    keys = np.ascontiguousarray(np.stack(columns, axis=1, dtype=np.int64))
    place, first = np.empty(len(keys), np.int32), np.empty(len(keys), np.int32)
    found = _number_rows(keys, new_secrets(), _make_slots(len(keys)), place, first)
    return place, first[:found].copy()


def _as_keys(values: NDArray[Any]) -> Int64Array:
    """Numbers as keys: equal keys for equal numbers."""
    if values.dtype.kind == "f":
        return np.ascontiguousarray(values, dtype=np.float64).view(np.int64)
    return np.ascontiguousarray(values, dtype=np.int64)


class DetailLevel(IntEnum):
    """What a table knows: documents; occurrences too; the occurrences of all terms in each class too."""

    DOCUMENTS = 0
    OCCURRENCES = 1
    TOKENS = 2


class DistinctCells:
    """The different columns and cells of Counts.

    Attributes
    ----------
    place
        The number of each term's column.
    indptr, classes, cell
        The cells of column j stand at ``indptr[j]`` to ``indptr[j + 1]``, in order of their class, with their
        numbers in `cell`.
    group, kind, empty_cell
        Where column j has nothing in class c, its cell is ``empty_cell[group[j], kind[c]]``.
    n_cells
        Number of different cells.
    """

    def __init__(self, counts: Counts, level: DetailLevel) -> None:
        self._level = level
        self._set_classes(counts)
        if level is DetailLevel.TOKENS:
            self._refine(find_distinct_cells(counts, DetailLevel.OCCURRENCES))
        else:
            self._set_columns(counts)

    def _set_classes(self, counts: Counts) -> None:
        """Find the kinds of classes: those of one kind no score can tell apart."""
        self.n_docs, self.n_classes, self.n_terms = counts.n_docs, counts.n_classes, counts.n_terms
        self.class_sizes = counts.class_sizes.astype(np.float64)
        self._tokens = float(counts.n_occurrences)
        tokens = counts.class_tf if self._level is DetailLevel.TOKENS else np.zeros(self.n_classes)
        kinds, kind = np.unique(np.array([self.class_sizes, tokens]), axis=1, return_inverse=True)
        self.kind: Int32Array = kind.astype(np.int32).reshape(self.n_classes)
        self._kind_size, self._kind_tokens = kinds

    def _set_columns(self, counts: Counts) -> None:
        if self._level is DetailLevel.DOCUMENTS:
            values, totals = counts.cells.values[:1], counts.term_df[np.newaxis]
        else:
            values = counts.cells.values
            totals = np.array([counts.term_df, counts.term_tf, counts.term_tf2])
        indptr, classes = counts.cells.indptr, counts.cells.classes
        keys, total_keys = _as_keys(values), _as_keys(totals)
        self.place, first = np.empty(self.n_terms, np.int32), np.empty(self.n_terms, np.int32)
        slots = _make_slots(self.n_terms)
        found = _number_columns(indptr, classes, keys, total_keys, new_secrets(), slots, self.place, first)
        first = first[:found].copy()
        lengths = np.diff(indptr)[first]
        self.indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        source = np.repeat(indptr[first] - self.indptr[:-1], lengths) + np.arange(self.indptr[-1])
        self.classes: Int32Array = classes[source]
        self.group, group_first = _find_distinct_rows(*total_keys[:, first])
        self._totals = totals[:, first[group_first]].astype(np.float64)
        self._set_cells(keys[:, source], values, source)

    def _refine(self, coarse: DistinctCells) -> None:
        """Split the cells of classes of equal size by the occurrences of all terms there."""
        self.place, self.indptr, self.classes = coarse.place, coarse.indptr, coarse.classes
        self.group, self._totals = coarse.group, coarse._totals
        self._set_cells(coarse.cell[np.newaxis], coarse._cell_values, coarse.cell)

    def _set_cells(self, keys: NDArray[Any], values: NDArray[Any], source: NDArray[Any]) -> None:
        """Find the different cells by their keys; what is in them stands in `values` at `source`."""
        kind, group = self.kind[self.classes], np.repeat(self.group, np.diff(self.indptr))
        self.cell, first = _find_distinct_rows(kind, group, *keys)
        missing = np.zeros((self._totals.shape[1], self._kind_size.size), np.bool_)
        sizes = np.bincount(self.kind, minlength=self._kind_size.size).astype(np.int64)
        _mark_missing_kinds(self.indptr, self.classes, self.kind, sizes, self.group, missing)
        numbers = first.size - 1 + np.cumsum(missing)
        self.empty_cell: Int32Array = numbers.astype(np.int32).reshape(missing.shape)
        empty_group, empty_kind = np.nonzero(missing)
        self._cell_kind = np.concatenate([kind[first], empty_kind.astype(np.int32)])
        self._cell_group = np.concatenate([group[first], empty_group.astype(np.int32)])
        self._cell_values = np.zeros((values.shape[0], self._cell_kind.size))
        self._cell_values[:, : first.size] = values[:, source[first]]
        self.n_cells = self._cell_kind.size

    @property
    def n_columns(self) -> int:
        """Number of different columns."""
        return int(self.group.size)

    def _table(self, chunk: slice) -> Table:
        kind, group, values = self._cell_kind[chunk], self._cell_group[chunk], self._cell_values[:, chunk]
        n_docs = np.full(kind.size, float(self.n_docs))
        documents = values[0], self._totals[0][group], self._kind_size[kind], n_docs
        occurrences = tokens = None
        if self._level >= DetailLevel.OCCURRENCES:
            occurrences = Occurrences(values[1], values[2], self._totals[1][group], self._totals[2][group])
        if self._level >= DetailLevel.TOKENS:
            tokens = TokenTotals(self._kind_tokens[kind], np.full(kind.size, self._tokens), float(self.n_terms))
        for array in (*documents, *(occurrences or ()), *(tokens or ())[:2]):
            array.flags.writeable = False
        return Table(*documents, float(self.n_classes), occurrences, tokens)

    @cached_property
    def _cached_tables(self) -> list[Table]:
        return list(self._make_tables())

    def _make_tables(self) -> Iterator[Table]:
        return (self._table(slice(i, i + _CHUNK_CELLS)) for i in range(0, self.n_cells, _CHUNK_CELLS))

    @property
    def tables(self) -> Iterator[Table]:
        """All different cells, in chunks."""
        return iter(self._cached_tables) if self.n_cells <= _MAX_CACHED_CELLS else self._make_tables()

    def expand_to_terms(self, columns: Array) -> Array:
        """Return to each term the value of its column."""
        return np.asarray(columns.take(self.place))

    def evaluate(self, function: Callable[[Table], Any]) -> Array:
        """Return what a function of a Table gives for every different cell."""
        values = np.empty(self.n_cells)
        start = 0
        for table in self.tables:
            end = start + table.tp.size
            values[start:end] = function(table)
            start = end
        return values


_CACHE: dict[tuple[int, DetailLevel], DistinctCells] = {}


def find_distinct_cells(counts: Counts, level: DetailLevel) -> DistinctCells:
    """Return the different cells of Counts at a level; found once, and kept as long as the counts."""
    key = id(counts), level
    if key not in _CACHE:
        _CACHE[key] = DistinctCells(counts, level)
        weakref.finalize(counts, _CACHE.pop, key, None)
    return _CACHE[key]


def use_coarsest_level(counts: Counts, use: Callable[[DistinctCells], T]) -> T:
    """Return what `use` makes of the coarsest cells that know all it asks for."""
    for level in (DetailLevel.DOCUMENTS, DetailLevel.OCCURRENCES):
        try:
            return use(find_distinct_cells(counts, level))
        except TableTooCoarseError:
            continue
    return use(find_distinct_cells(counts, DetailLevel.TOKENS))


def evaluate(counts: Counts, function: Callable[[Table], Any]) -> tuple[DistinctCells, Array]:
    """Return the values of a function of a Table on the different cells that it needs, and those cells."""
    return use_coarsest_level(counts, lambda cells: (cells, cells.evaluate(function)))

"""Distinct cells: most tables of a corpus repeat, so each is scored once.

A score of documents depends only on the size of the class, the documents of the class with the term, and all
documents with the term. Of the 4.2 million pairs of class and term in 20 Newsgroups, few are different.
`DistinctCells` finds, once per Counts, the different columns and within them the different cells. A score function
sees each different cell once; the rest is looking up.

Scores of occurrences need finer cells. Nobody has to declare that: a function that asks a table of documents
for occurrences is given the finer one. The finer columns and cells are found by the numbers of the coarser ones, so
that what these were found by is not looked at again.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from enum import IntEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from termsieve._kernels import WorkThreshold, import_kernels, kernels_pay, new_secrets
from termsieve._types import AnyArray, Array, BoolArray, Int32Array, Int64Array, UInt64Array
from termsieve.table import Occurrences, Table, TableTooCoarseError, TokenTotals

if TYPE_CHECKING:
    from termsieve.counts.counts import Counts
    from termsieve.ranking import distinct_kernels as kernels
else:
    kernels = import_kernels("termsieve.ranking.distinct_kernels")

T = TypeVar("T")

TABLE_CELLS = WorkThreshold(warm=1 << 20, cold=1 << 23)  # from so many on, loops are quicker than NumPy
_CHUNK_CELLS = 1 << 15  # cells: a dozen arrays of them stay in the cache
_MAX_CACHED_CELLS = 1 << 19  # tables of so many cells are kept, with all they have derived


def _make_slots(n: int) -> Int32Array:
    return np.full(1 << max(4, (2 * n).bit_length()), -1, np.int32)


def _number_columns(
    indptr: Int64Array, keys: tuple[AnyArray, AnyArray], totals: Int64Array
) -> tuple[Int32Array, Int32Array]:
    """Give the different columns numbers, in the order of the first of each: that of each, and the first of each."""
    n = len(indptr) - 1
    if not kernels_pay(len(keys[0]), TABLE_CELLS):
        return _number_columns_plainly(indptr, keys, totals)
    place, first = np.empty(n, np.int32), np.empty(n, np.int32)
    found = kernels.number_columns(
        indptr=indptr, keys=keys[0], more_keys=keys[1], totals=totals, secrets=new_secrets(), slots=_make_slots(n),
        place=place, first=first,
    )  # fmt: skip
    return place, first[:found].copy()


def _number_columns_plainly(
    indptr: Int64Array, keys: tuple[AnyArray, AnyArray], totals: Int64Array
) -> tuple[Int32Array, Int32Array]:
    """Give columns numbers by their hashes; other random numbers if two different columns ever had the same."""
    lengths = np.diff(indptr)
    while True:
        place, first = _find_distinct_rows_plainly(_hash_columns(indptr, keys, totals)[:, np.newaxis])
        like = first[place]  # the column that each is taken to equal
        if not np.array_equal(lengths[like], lengths) or not np.array_equal(totals[:, like], totals):
            continue
        source = np.repeat(indptr[like] - indptr[:-1], lengths) + np.arange(keys[0].size)
        if all(np.array_equal(key[source], key) for key in keys):
            return place, first


def _hash_columns(indptr: Int64Array, keys: tuple[AnyArray, AnyArray], totals: Int64Array) -> UInt64Array:
    """Return a number for each column that depends on all that is in it, and on random numbers."""
    secrets = new_secrets()
    hashes = np.full(keys[0].size, secrets[0])
    order = np.arange(keys[0].size) - np.repeat(indptr[:-1], np.diff(indptr))  # of which the sum below knows nothing
    for values, secret in zip((order, *keys), secrets[:3], strict=True):
        _mix_into(hashes, values, secret)
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(hashes)])  # beyond 64 bits they begin again
    columns: UInt64Array = sums[indptr[1:]] - sums[indptr[:-1]]
    for total in totals:
        _mix_into(columns, total, secrets[3])
    return columns


def _mix_into(hashes: UInt64Array, values: AnyArray, secret: np.uint64) -> None:
    """Change hashes by values, in place; `secret` is an odd number."""
    hashes ^= values.astype(np.uint64)
    for factor, shift in ((secret, 32), (np.uint64(0x9E3779B97F4A7C15), 29)):
        hashes *= factor
        hashes ^= hashes >> np.uint64(shift)


def _find_distinct_rows(*columns: AnyArray) -> tuple[Int32Array, Int32Array]:
    """Give the different rows of a dense array numbers: that of each, and the first of each number."""
    keys = np.ascontiguousarray(np.stack(columns, axis=1))
    if not kernels_pay(len(keys), TABLE_CELLS):
        return _find_distinct_rows_plainly(keys)
    place, first = np.empty(len(keys), np.int32), np.empty(len(keys), np.int32)
    found = kernels.number_rows(
        keys=keys, secrets=new_secrets(), slots=_make_slots(len(keys)), place=place, first=first
    )
    return place, first[:found].copy()


def _find_distinct_rows_plainly(keys: AnyArray) -> tuple[Int32Array, Int32Array]:
    order = np.lexsort(keys.T)  # equal rows stand together, in their order
    starts = np.ones(len(keys), np.bool_)
    starts[1:] = (keys[order[1:]] != keys[order[:-1]]).any(axis=1)
    first = order[starts]
    rank = np.argsort(np.argsort(first))
    place = np.empty(len(keys), np.int32)
    place[order] = rank[np.cumsum(starts) - 1]
    return place, np.sort(first).astype(np.int32)


def _find_missing_kinds(
    indptr: Int64Array, classes: Int32Array, kind: Int32Array, sizes: Int64Array, group: Int32Array, n_groups: int
) -> BoolArray:
    """Return which pairs of term totals and kind of class occur without the term (groups x kinds)."""
    missing = np.zeros((n_groups, sizes.size), np.bool_)
    if kernels_pay(group.size * sizes.size, TABLE_CELLS):
        kernels.mark_missing_kinds(indptr=indptr, classes=classes, kind=kind, sizes=sizes, group=group, missing=missing)
        return missing
    column = np.repeat(np.arange(group.size), np.diff(indptr))
    here = np.bincount(column * sizes.size + kind[classes], minlength=group.size * sizes.size)
    lacking, kinds = np.nonzero(here.reshape(-1, sizes.size) < sizes)
    missing[group[lacking], kinds] = True
    return missing


def _as_keys(values: AnyArray) -> AnyArray:
    """Return numbers as keys: equal keys for equal numbers."""
    keys = np.ascontiguousarray(values)
    return keys.view(np.int64) if keys.dtype.kind == "f" else keys


def _pair_keys(numbers: Int32Array, kinds: Int32Array, n_numbers: int, n_kinds: int) -> AnyArray:
    """Return one key for each pair of a number and a kind, of 32 bits where these are enough."""
    keys: AnyArray = numbers.astype(np.int32 if n_numbers * n_kinds <= np.iinfo(np.int32).max else np.int64)
    keys *= n_kinds
    keys += kinds
    return keys


def load_loops(n_cells: int) -> None:
    """Load the loops now if so many cells pay for it, though they come in blocks of which none would."""
    if kernels_pay(n_cells, TABLE_CELLS):
        _ = kernels.number_rows


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
        self.n_docs, self.n_classes, self.n_terms = counts.n_docs, counts.n_classes, counts.vocabulary_size
        self.class_sizes = counts.class_sizes.astype(np.float64)
        self._tokens = float(counts.n_occurrences)
        tokens = counts.class_tf if self._level is DetailLevel.TOKENS else np.zeros(self.n_classes)
        kinds, kind = np.unique(np.array([self.class_sizes, tokens]), axis=1, return_inverse=True)
        self.kind: Int32Array = kind.astype(np.int32).reshape(self.n_classes)
        self._kind_size, self._kind_tokens = kinds

    def _set_columns(self, counts: Counts) -> None:
        cells = counts.cells
        if self._level is DetailLevel.DOCUMENTS:
            values, totals = cells.values[:1], counts.term_df[np.newaxis]
            keys, heads = (cells.classes, _as_keys(values[0])), _as_keys(totals)
        else:
            # the number of a column of documents says its classes and their documents, which need not be read again
            values, totals = cells.values, np.array([counts.term_df, counts.term_tf, counts.term_tf2])
            coarse = find_distinct_cells(counts, DetailLevel.DOCUMENTS)
            keys, heads = (_as_keys(values[1]), _as_keys(values[2])), np.vstack([coarse.place, _as_keys(totals[1:])])
        self.place: Int32Array
        self.place, first = _number_columns(cells.indptr, keys, heads)
        lengths = np.diff(cells.indptr)[first]
        self.indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        source = np.repeat(cells.indptr[first] - self.indptr[:-1], lengths)
        source += np.arange(source.size)
        self.classes: Int32Array = cells.classes[source]
        self.group, group_first = _find_distinct_rows(*_as_keys(totals[:, first]))
        self._totals = totals[:, first[group_first]].astype(np.float64)
        self._set_cells(self._repeat_group(), group_first.size, _as_keys(values[:, source]), values, source)

    def _refine(self, coarse: DistinctCells) -> None:
        """Split the cells of classes of equal size by the occurrences of all terms there."""
        self.place, self.indptr, self.classes = coarse.place, coarse.indptr, coarse.classes
        self.group, self._totals = coarse.group, coarse._totals
        self._set_cells(coarse.cell, coarse.n_cells, coarse.cell[:0], coarse._cell_values, coarse.cell)

    def _repeat_group(self) -> Int32Array:
        return np.repeat(self.group, np.diff(self.indptr))

    def _set_cells(
        self, numbers: Int32Array, n_numbers: int, keys: AnyArray, values: AnyArray, source: AnyArray
    ) -> None:
        """Find the different cells: by a number below `n_numbers`, the kind of their class, and rows of keys.

        What is in them stands in `values` at `source`.
        """
        n_kinds = self._kind_size.size
        self.cell, first = _find_distinct_rows(_pair_keys(numbers, self.kind[self.classes], n_numbers, n_kinds), *keys)
        sizes = np.bincount(self.kind, minlength=n_kinds).astype(np.int64)
        n_groups = self._totals.shape[1]
        missing = _find_missing_kinds(self.indptr, self.classes, self.kind, sizes, self.group, n_groups)
        self.empty_cell: Int32Array = np.cumsum(missing, dtype=np.int32).reshape(missing.shape)
        self.empty_cell += first.size - 1
        empty_group, empty_kind = np.nonzero(missing)
        self._cell_kind = np.concatenate([self.kind[self.classes[first]], empty_kind.astype(np.int32)])
        self._cell_group = np.concatenate([self._repeat_group()[first], empty_group.astype(np.int32)])
        self._cell_values = np.zeros((values.shape[0], self._cell_kind.size))
        self._cell_values[:, : first.size] = values[:, source[first]]
        self.n_cells = self._cell_kind.size

    @property
    def n_columns(self) -> int:
        """Number of different columns."""
        return int(self.group.size)

    @cached_property
    def column(self) -> Int64Array:
        """The number of the column of each cell."""
        return np.repeat(np.arange(self.n_columns), np.diff(self.indptr))

    @cached_property
    def by_class(self) -> Int64Array:
        """The places of the cells in order of their class; those of class c begin at ``class_starts[c]``."""
        return np.argsort(self.classes, kind="stable")

    @cached_property
    def class_starts(self) -> Int64Array:
        """Where the cells of each class begin in `by_class`, and where the last ends."""
        return np.concatenate([[0], np.cumsum(np.bincount(self.classes, minlength=self.n_classes))])

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

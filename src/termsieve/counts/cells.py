"""Cells: what is counted of each term in each class, sparse, ordered by term; and how two such lists are added."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from termsieve._kernels import WorkThreshold, import_kernels, kernels_pay
from termsieve._types import AnyArray, BoolArray, Int32Array, Int64Array
from termsieve.tokens.strings import argsort_strings, string_buffers

if TYPE_CHECKING:
    from termsieve.counts import cell_kernels
    from termsieve.tokens import string_kernels
else:
    cell_kernels = import_kernels("termsieve.counts.cell_kernels")
    string_kernels = import_kernels("termsieve.tokens.string_kernels")

MERGED_CELLS = WorkThreshold(warm=1 << 21, cold=1 << 24)  # from so many on, loops are quicker than NumPy
_NARROW = np.iinfo(np.int32)


class Cells(NamedTuple):
    """Cells by term and class: those of term j stand at ``indptr[j]`` to ``indptr[j + 1]``, in order of their class.

    ``values`` has three rows: documents, occurrences, sum of squared occurrences. In `Counts` they are of 32 bits where
    all are small enough, else of 64; sums of them are made in 64 bits. Real numbers are of 64 bits.
    """

    indptr: Int64Array
    classes: Int32Array
    values: AnyArray

    @property
    def terms(self) -> Int64Array:
        """The number of the term of each cell."""
        return np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))

    def narrow(self) -> Cells:
        """Return the same cells, with values of 32 bits where all of them fit."""
        return self._replace(values=narrow(self.values))

    def totals(self) -> AnyArray:
        """Return sums over the cells of each term, of 64 bits."""
        sums = np.zeros((3, len(self.indptr) - 1), widen(self.values.dtype))
        filled = np.flatnonzero(np.diff(self.indptr))
        if len(filled):
            sums[:, filled] = np.add.reduceat(self.values, self.indptr[filled], axis=1, dtype=sums.dtype)
        return sums

    def add_occurrences_to(self, class_tf: AnyArray) -> None:
        """Add the occurrences of all terms to those of each class, one cell after the other."""
        # NumPy is several times slower where it has to convert the addends itself
        np.add.at(class_tf, self.classes, self.values[1].astype(class_tf.dtype, copy=False))

    def where(self, kept: BoolArray) -> Cells:
        """Return only some of the cells."""
        ends = np.concatenate([[0], np.cumsum(kept)])
        return Cells(ends[self.indptr], self.classes[kept], self.values[:, kept])

    def take(self, terms: Int64Array) -> Cells:
        """Return the cells of these terms, in this order; -1 stands for a term without any."""
        lengths = np.diff(self.indptr, append=self.indptr[-1])[terms]
        lengths[terms < 0] = 0
        indptr = np.concatenate([[0], np.cumsum(lengths)])
        at = np.repeat(self.indptr[terms] - indptr[:-1], lengths) + np.arange(indptr[-1])
        return Cells(indptr, self.classes[at], self.values[:, at])

    def slice(self, first: int, end: int) -> Cells:
        """Return the cells of the terms from the first to before the end, without a copy."""
        start, stop = int(self.indptr[first]), int(self.indptr[end])
        return Cells(self.indptr[first : end + 1] - start, self.classes[start:stop], self.values[:, start:stop])

    def find_end(self, first: int, most_terms: int, most_cells: int) -> int:
        """Return where a block of terms ends that begins with one; a term with very many cells is one by itself."""
        end = int(np.searchsorted(self.indptr, self.indptr[first] + most_cells, side="right")) - 1
        return min(max(end, first + 1), first + most_terms, len(self.indptr) - 1)

    def renumber(self, numbers: Int32Array) -> Cells:
        """Give the classes other numbers; classes that get one number are added up."""
        classes = numbers[self.classes]
        n_classes = int(numbers.max(initial=0)) + 1
        keys, place = np.unique(self.terms * n_classes + classes, return_inverse=True)
        values = np.zeros((3, len(keys)), widen(self.values.dtype))
        for row, added in zip(values, self.values, strict=True):
            np.add.at(row, place, added.astype(row.dtype, copy=False))
        indptr = np.searchsorted(keys, np.arange(len(self.indptr)) * n_classes)
        return Cells(indptr.astype(np.int64), (keys % n_classes).astype(np.int32), values)


def fits_narrow(values: AnyArray) -> bool:
    """Tell whether all of these whole numbers fit into 32 bits."""
    return bool(values.max(initial=0) <= _NARROW.max and values.min(initial=0) >= _NARROW.min)


def narrow(values: AnyArray) -> AnyArray:
    """Return whole numbers with 32 bits where all of them fit; others as they are."""
    return values.astype(np.int32, order="C") if values.dtype == np.int64 and fits_narrow(values) else values


def widen(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the type of sums: 64 bits, whole or real as the addends are."""
    return np.result_type(dtype, np.int64)


class TermBlock(NamedTuple):
    """Some terms, their cells, and their totals over all documents: three rows, as cells have."""

    terms: pa.LargeStringArray
    cells: Cells
    totals: AnyArray

    def slice(self, first: int, end: int) -> TermBlock:
        """Return the terms from the first to before the end, without a copy of their counts."""
        return TermBlock(self.terms.slice(first, end - first), self.cells.slice(first, end), self.totals[:, first:end])


class TermCells(NamedTuple):
    """Sorted terms and their cells."""

    terms: pa.LargeStringArray
    cells: Cells

    def plus(self, other: TermCells, sign: int = 1) -> TermCells:
        """Return the sum, or with -1 the difference, over the union of the terms; classes have the same numbers."""
        terms, mine, theirs = union_terms(self.terms, other.terms)
        return TermCells(terms, _merge_cells(self.cells, other.cells, mine, theirs, sign))

    def slice(self, first: int, end: int) -> TermCells:
        """Return the terms from the first to before the end, without a copy of their counts."""
        return TermCells(self.terms.slice(first, end - first), self.cells.slice(first, end))


def _merge_cells(mine: Cells, theirs: Cells, in_mine: Int64Array, in_theirs: Int64Array, sign: int) -> Cells:
    """Return the cells of terms that have these numbers here and there, -1 for none, added or subtracted."""
    dtype = _choose_dtype(mine.values, theirs.values, sign)
    if not kernels_pay(len(mine.classes) + len(theirs.classes), MERGED_CELLS):
        return _merge_cells_plainly(mine, theirs, in_mine, in_theirs, sign, dtype)
    a, b = _cast_values(mine, dtype), _cast_values(theirs, dtype)
    merged = cell_kernels.merge_cells(
        in_a=in_mine, indptr_a=a.indptr, rows_a=a.classes, values_a=a.values,
        in_b=in_theirs, indptr_b=b.indptr, rows_b=b.classes, values_b=b.values, sign=sign,
    )  # fmt: skip
    return Cells(*merged)


def _choose_dtype(mine: AnyArray, theirs: AnyArray, sign: int) -> np.dtype[Any]:
    """Return the type that has room for any sum, or difference, of two values; neither is negative."""
    dtype = np.result_type(mine, theirs)
    is_sum = dtype == np.int32 and sign > 0
    return widen(dtype) if is_sum and int(mine.max(initial=0)) + int(theirs.max(initial=0)) > _NARROW.max else dtype


def _merge_cells_plainly(
    mine: Cells, theirs: Cells, in_mine: Int64Array, in_theirs: Int64Array, sign: int, dtype: np.dtype[Any]
) -> Cells:
    n_classes = 1 + max(int(cells.classes.max(initial=0)) for cells in (mine, theirs))
    mine, theirs = mine.take(in_mine), theirs.take(in_theirs)
    my_keys, their_keys = (cells.terms * n_classes + cells.classes for cells in (mine, theirs))
    keys = np.union1d(my_keys, their_keys)
    values = np.zeros((3, len(keys)), dtype)
    values[:, np.searchsorted(keys, my_keys)] = mine.values
    values[:, np.searchsorted(keys, their_keys)] += sign * theirs.values.astype(dtype, copy=False)
    indptr = np.searchsorted(keys, np.arange(len(in_mine) + 1) * n_classes)
    return Cells(indptr.astype(np.int64), (keys % n_classes).astype(np.int32), values)


def _cast_values(cells: Cells, dtype: np.dtype[Any]) -> Cells:
    return cells._replace(values=cells.values.astype(dtype, copy=False))


def union_terms(
    mine: pa.LargeStringArray, theirs: pa.LargeStringArray
) -> tuple[pa.LargeStringArray, Int64Array, Int64Array]:
    """Return all terms of two sorted lists; and for each, its place in mine and in theirs, -1 where it is not."""
    if mine.equals(theirs):
        return mine, np.arange(len(mine)), np.arange(len(mine))
    size = len(mine) + len(theirs)
    if not kernels_pay(size, MERGED_CELLS):
        return _union_terms_plainly(mine, theirs)
    in_mine, in_theirs = np.empty(size, np.int64), np.empty(size, np.int64)
    (text_a, offsets_a), (text_b, offsets_b) = string_buffers(mine), string_buffers(theirs)
    n = string_kernels.merge_strings(
        text_a=text_a, offsets_a=offsets_a, text_b=text_b, offsets_b=offsets_b, in_a=in_mine, in_b=in_theirs
    )
    in_mine, in_theirs = in_mine[:n], in_theirs[:n]
    source = np.where(in_mine >= 0, in_mine, in_theirs + len(mine))
    return pa.concat_arrays([mine, theirs]).take(pa.array(source)), in_mine, in_theirs


def _union_terms_plainly(
    mine: pa.LargeStringArray, theirs: pa.LargeStringArray
) -> tuple[pa.LargeStringArray, Int64Array, Int64Array]:
    both = pa.concat_arrays([mine, theirs]).unique()
    union = both.take(pa.array(argsort_strings(both)))
    in_mine, in_theirs = (
        pc.index_in(union, terms).fill_null(-1).to_numpy().astype(np.int64) for terms in (mine, theirs)
    )
    return union, in_mine, in_theirs

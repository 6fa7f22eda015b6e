"""Documents to rows: the terms of each document and how often they occur, then a matrix or counts of them.

Several workers read chunks of the documents, each with a vocabulary of its own. What they write down are the numbers
of their own vocabularies; columns come at the end, when it is known which terms stay. So documents are read once, and
the matrix of the selected terms is made without the matrix of all terms.
"""

from __future__ import annotations

import functools
import itertools
import queue
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse

from termsieve._kernels import import_kernels
from termsieve._types import BoolArray, Int32Array, Int64Array, IntegerArray
from termsieve.counts.cells import Cells, union_terms
from termsieve.counts.tally import load_kernels
from termsieve.threads import work_on_each
from termsieve.tokens.strings import argsort_strings
from termsieve.tokens.vocabulary import DocumentTerms, Vocabulary, check_sizes

if TYPE_CHECKING:
    from termsieve.counts import row_kernels
else:
    row_kernels = import_kernels("termsieve.counts.row_kernels")

CHUNK_CHARACTERS = 1 << 20  # characters of text, for one worker at a time
TOKEN_CHARACTERS = 8  # about so many has a token of a list

A = TypeVar("A")
B = TypeVar("B")


# Workers


class PythonVocabulary:
    """Terms numbered in the order in which a plain Python function gives them."""

    def __init__(self, analyze: Callable[[Any], Sequence[str]]) -> None:
        self._analyze = analyze
        self._numbers: dict[str, int] = {}

    @property
    def n_terms(self) -> int:
        """Number of terms."""
        return len(self._numbers)

    def tokenize(self, documents: Sequence[Any]) -> DocumentTerms:
        """Return the numbers of the terms of some documents."""
        known = self._numbers
        numbers = [[known.setdefault(term, len(known)) for term in self._analyze(document)] for document in documents]
        ends = np.cumsum([len(row) for row in numbers], dtype=np.int64)
        return DocumentTerms(np.array([number for row in numbers for number in row], np.int32), ends)

    def get_terms(self, terms: IntegerArray) -> pa.LargeStringArray:
        """Return terms by their numbers."""
        return pa.array(list(self._numbers), pa.large_string()).take(pa.array(terms))

    def sort_terms(self, used: BoolArray) -> Int64Array:
        """Return the numbers of the used terms, in code-point order."""
        numbers = np.flatnonzero(used)
        return numbers[argsort_strings(self.get_terms(numbers))]

    def number(self, terms: pa.LargeStringArray) -> Int32Array:
        """Return numbers of terms, given as they are."""
        known = self._numbers
        return np.array([known.setdefault(term, len(known)) for term in terms.to_pylist()], np.int32)


class RowBlock(NamedTuple):
    """The rows of some documents, in the numbers of the worker that read them."""

    worker: int
    terms: Int32Array
    times: Int32Array
    ends: Int64Array


class Worker:
    """Reads documents with a vocabulary of its own."""

    def __init__(self, number: int, vocabulary: Vocabulary | PythonVocabulary) -> None:
        self.number, self.vocabulary = number, vocabulary
        self._counts, self._seen = np.zeros(0, np.int32), np.zeros(0, np.bool_)

    def read(self, documents: Any) -> RowBlock:
        """Read the rows of some documents."""
        tokens = self.vocabulary.tokenize(documents)
        self._ensure_capacity()
        terms, times = np.empty((2, len(tokens.numbers) + 1), np.int32)
        ends = np.empty(len(tokens.ends), np.int64)
        n = row_kernels.count_terms(
            numbers=tokens.numbers, doc_ends=tokens.ends, counts=self._counts, met=self._seen,
            terms=terms, times=times, ends=ends,
        )  # fmt: skip
        return RowBlock(self.number, terms[:n].copy(), times[:n].copy(), ends)

    def _ensure_capacity(self) -> None:
        """Make room for all terms of the vocabulary; what grows, doubles."""
        if len(self._seen) < self.vocabulary.n_terms:
            size = 2 * self.vocabulary.n_terms
            self._counts = np.zeros(size, np.int32)
            self._seen = np.concatenate([self._seen, np.zeros(size - len(self._seen), np.bool_)])

    def sort_by_term(self) -> tuple[Int64Array, pa.LargeStringArray]:
        """Return the numbers of the terms that were met, in code-point order, and the terms."""
        self._ensure_capacity()
        met, vocabulary = self._seen[: self.vocabulary.n_terms], self.vocabulary
        if isinstance(vocabulary, PythonVocabulary):
            order = vocabulary.sort_terms(met)
            return order, vocabulary.get_terms(order)
        parts = vocabulary.parts()
        order = vocabulary.sort_terms(met, parts)
        return order, vocabulary.get_terms(order, parts)


class Rows:
    """The rows of all documents, in the numbers of the workers."""

    def __init__(self, workers: list[Worker], blocks: list[RowBlock]) -> None:
        self._workers, self._blocks = workers, blocks
        self.n_docs = sum(len(block.ends) for block in blocks)

    def make_binary(self) -> None:
        """Count every term of a document once."""
        for block in self._blocks:
            block.times.fill(1)

    def vocabulary(self) -> tuple[pa.LargeStringArray, list[Int32Array]]:
        """Return all terms, sorted, and for each worker the column of each of its numbers, -1 for none."""
        arranged = _run_on_threads(Worker.sort_by_term, self._workers)
        union, places = arranged[0][1], [np.arange(len(arranged[0][1]))]
        for _, terms in arranged[1:]:
            union, in_mine, in_theirs = union_terms(union, terms)
            mine, theirs = np.flatnonzero(in_mine >= 0), np.flatnonzero(in_theirs >= 0)
            places = [mine[place] for place in places] + [theirs]
        columns = []
        for worker, (order, _), place in zip(self._workers, arranged, places, strict=True):
            columns.append(np.full(worker.vocabulary.n_terms + 1, -1, np.int32))
            columns[-1][order] = place
        return union, columns

    def matrix(self, column_of: list[Int32Array], n_columns: int) -> sparse.csr_array:
        """Return documents x columns: occurrences, in order of the columns."""

        def keep(block: RowBlock) -> tuple[Int32Array, Int32Array, Int64Array]:
            columns, tfs = np.empty((2, len(block.terms) + 1), np.int32)
            lengths = np.empty(len(block.ends), np.int64)
            n = row_kernels.select_columns(
                terms=block.terms, times=block.times, ends=block.ends, column_of=column_of[block.worker],
                columns=columns, tfs=tfs, lengths=lengths,
            )  # fmt: skip
            return columns[:n], tfs[:n], lengths

        def fill(i: int) -> None:
            columns, tfs, _ = parts[i]
            begins = indptr[docs[i] : docs[i + 1] + 1]
            if len(columns) > n_columns // 8:
                free = np.zeros(n_columns + 1, np.int32)
                row_kernels.fill_by_column(
                    columns=columns, tfs=tfs, indptr=begins, free=free, out_columns=indices, out=data
                )
            else:
                place = slice(begins[0], begins[-1])
                indices[place], data[place] = columns, tfs
                _sort_rows(data[place], indices[place], begins - begins[0], n_columns)

        if len(self._workers) > 1:
            _load_matrix_loops()
        parts = _run_on_threads(keep, self._blocks, len(self._workers))
        indptr = np.concatenate([[0], np.cumsum(np.concatenate([np.empty(0, np.int64), *(part[2] for part in parts)]))])
        docs = np.cumsum([0, *(len(block.ends) for block in self._blocks)])
        indices, data = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], np.int64)
        self._run_on_blocks(fill)
        if indptr[-1] <= np.iinfo(np.int32).max:
            indptr = indptr.astype(np.int32)
        matrix = sparse.csr_array((data, indices, indptr), shape=(self.n_docs, n_columns))
        matrix.has_canonical_format = True
        return matrix

    def sums(self, column_of: list[Int32Array], n_columns: int, groups: sparse.csc_array) -> Cells:
        """Count documents, occurrences and sums of squares of each column in each group (documents x groups)."""
        if len(self._workers) > 1:
            _load_sum_loops()
        indptr, columns, times = self._join(column_of)
        docs = groups.indices.astype(np.int64)
        # how many terms the documents of each group have, for each to be summed by one thread
        before = np.concatenate([[0], np.cumsum(np.diff(indptr)[docs])])[groups.indptr]

        def part(share: slice) -> tuple[Int32Array, Int64Array, Int64Array]:
            start, ends = groups.indptr[share.start], groups.indptr[share.start + 1 : share.stop + 1]
            size = int(np.minimum(np.diff(before)[share], n_columns).sum()) + 1
            found, values = np.empty(size, np.int32), np.empty((size, 3), np.int64)
            found_ends, sums = np.empty(len(ends), np.int64), np.zeros((n_columns, 3), np.int64)
            ends = (ends - start).astype(np.int64)
            n = row_kernels.sum_groups(
                indptr=indptr, columns=columns, times=times, group_ends=ends, docs=docs[start:], sums=sums,
                found=found, values=values, found_ends=found_ends,
            )  # fmt: skip
            return found[:n], values[:n], found_ends

        parts = _run_on_threads(part, _split_evenly(before, len(self._workers)))
        offsets = np.cumsum([0, *(len(found) for found, _, _ in parts)])
        found_ends = [ends + offset for (_, _, ends), offset in zip(parts, offsets[:-1], strict=True)]
        found, values = (np.concatenate([one[i] for one in parts]) for i in (0, 1))
        n = len(found)
        cells = Cells(np.zeros(n_columns + 1, np.int64), np.empty(n, np.int32), np.empty((3, n), np.int64))
        row_kernels.sort_by_column(
            found=found, values=values, found_ends=np.concatenate(found_ends),
            indptr=cells.indptr, groups=cells.classes, sorted_values=cells.values,
        )  # fmt: skip
        return cells

    def _join(self, column_of: list[Int32Array]) -> tuple[Int64Array, Int32Array, Int32Array]:
        """Join all rows, one after the other, as numbers of columns."""
        starts = np.cumsum([0, *(len(block.terms) for block in self._blocks)])
        columns, times = np.empty(starts[-1], np.int32), np.empty(starts[-1], np.int32)

        def copy(i: int) -> None:
            block, part = self._blocks[i], slice(starts[i], starts[i + 1])
            row_kernels.map_columns(block.terms, column_of[block.worker], columns[part])
            times[part] = block.times

        self._run_on_blocks(copy)
        ends = [block.ends + start for block, start in zip(self._blocks, starts[:-1], strict=True)]
        return np.concatenate([[0], *ends]).astype(np.int64), columns, times

    def _run_on_blocks(self, work: Callable[[int], None]) -> None:
        _run_on_threads(work, range(len(self._blocks)), len(self._workers))


def read_rows(documents: Sequence[Any], workers: list[Worker], convert: Callable[[Sequence[Any]], Any]) -> Rows:
    """Read the rows of documents; `convert` makes of some documents what the workers' vocabularies read."""
    idle: queue.SimpleQueue[Worker] = queue.SimpleQueue()
    for worker in workers:
        idle.put(worker)
    if len(workers) > 1:
        _load_reading_loops(workers[0].vocabulary)

    def read(part: slice) -> RowBlock:
        worker = idle.get()
        try:
            converted = convert(documents[part])
            if isinstance(converted, pa.LargeStringArray | pa.LargeListArray):
                check_sizes(converted, part.start)
            return worker.read(converted)
        finally:
            idle.put(worker)

    return Rows(workers, _run_on_threads(read, _split_documents(documents), len(workers)))


# Loops that several threads will need are loaded by one: see `termsieve.threads`


def _load_reading_loops(vocabulary: Vocabulary | PythonVocabulary) -> None:
    if isinstance(vocabulary, Vocabulary):
        load_kernels(vocabulary.analyzer)
    _make_small_rows()


@functools.cache
def _make_small_rows() -> Rows:
    worker = Worker(0, PythonVocabulary(str.split))
    return Rows([worker], [worker.read(["a b", "b"])])


@functools.cache
def _load_matrix_loops() -> None:
    _make_small_rows().matrix([np.arange(2, dtype=np.int32)], 2)  # of many columns, rows are sorted by scipy


@functools.cache
def _load_sum_loops() -> None:
    _make_small_rows().sums([np.arange(2, dtype=np.int32)], 2, sparse.csc_array(np.eye(2)))


def load_all_kernels() -> None:
    """Load or compile every loop of this module."""
    _load_matrix_loops()
    _load_sum_loops()


def count_characters(documents: Sequence[Any]) -> int:
    """Return about how many characters the documents have; files count as large."""
    return int(_document_sizes(documents).sum())


def _sort_rows(data: Int64Array, columns: Int32Array, indptr: Int64Array, n_columns: int) -> None:
    """Put each row in order of its columns, in place."""
    part = sparse.csr_array((data, columns, indptr.astype(np.int32)), shape=(len(indptr) - 1, n_columns), copy=False)
    part.sort_indices()
    data[:], columns[:] = part.data, part.indices  # scipy copies a part of a larger array


def _split_documents(documents: Sequence[Any]) -> list[slice]:
    """Cut documents into pieces of about `CHUNK_CHARACTERS`, whole documents each."""
    chunk = np.cumsum(_document_sizes(documents)) // CHUNK_CHARACTERS
    cuts = [0, *(np.flatnonzero(np.diff(chunk)) + 1).tolist(), len(documents)]
    return [slice(start, stop) for start, stop in itertools.pairwise(cuts) if start < stop]


def _document_sizes(documents: Sequence[Any]) -> Int64Array:
    if isinstance(documents, pa.ChunkedArray):
        lists = pa.types.is_large_list(documents.type)
        lengths = (pc.list_value_length if lists else pc.binary_length)(documents).fill_null(0)
        return np.asarray(lengths.to_numpy() * (TOKEN_CHARACTERS if lists else 1), np.int64)
    return np.fromiter(map(_document_size, documents), np.int64, len(documents))


def _document_size(document: Any) -> int:
    if isinstance(document, list):
        return len(document) * TOKEN_CHARACTERS
    return len(document) if isinstance(document, str) else CHUNK_CHARACTERS


def _split_evenly(ends: Int64Array, n: int) -> list[slice]:
    """Cut the groups that end there into n runs of about equal weight."""
    cuts = np.searchsorted(ends, np.linspace(0, ends[-1], n + 1)[1:-1]).tolist()
    runs = [slice(start, stop) for start, stop in itertools.pairwise([0, *cuts, len(ends) - 1]) if start < stop]
    return runs or [slice(0, 0)]


def _run_on_threads(work: Callable[[A], B], items: Sequence[A], threads: int | None = None) -> list[B]:
    """Return what `work` makes of the items, in order, on several threads."""
    return work_on_each(work, items, len(items) if threads is None else threads)

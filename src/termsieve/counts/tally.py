"""What one thread has counted so far: a numbered vocabulary and the cells of its terms. Tallies add up.

This is the mutable workshop behind `Counts`. Nothing here is public.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from termsieve._kernels import import_kernels
from termsieve._types import Int32Array, Int64Array
from termsieve.counts.cell_lists import CellList, RankedCells, arrange_cells, cut_terms
from termsieve.counts.cells import Cells, TermCells
from termsieve.documents.string_columns import load_kernels as load_documents_kernels
from termsieve.threads import count_cores, work_on_each
from termsieve.tokens.analyzer import Analyzer
from termsieve.tokens.strings import string_buffers
from termsieve.tokens.vocabulary import Vocabulary

if TYPE_CHECKING:
    from termsieve.counts import cell_kernels
    from termsieve.tokens import kernels, string_kernels
else:
    cell_kernels = import_kernels("termsieve.counts.cell_kernels")
    kernels = import_kernels("termsieve.tokens.kernels")
    string_kernels = import_kernels("termsieve.tokens.string_kernels")

HELD_TERMS = 1 << 20  # terms of documents that are held before they are summed up
MIN_CELLS = 1 << 20  # cells for which there is room at first
_AT_ONCE = 1 << 18  # cells that are written out at a time
_NEARLY_FULL = 0.9  # of the terms for which a table has slots
# In bytes. Of a term: 16 its key, 8 its place, 32 its record, 4 a list; 32 more while cells are sorted. Of a cell: 32,
# 8 while it is sorted, and 32 where it is copied to.
_BYTES_PER_TERM, _BYTES_PER_CELL = 92, 72
_MOST_VISITS = (1 << 31) - 1  # of documents, by numbers of 32 bits


class _Visits(NamedTuple):
    """Documents that count in columns: where their terms begin and end, the columns, and how often they count."""

    starts: Int64Array
    stops: Int64Array
    columns: Int64Array
    weights: Int64Array


class Tally:
    """A vocabulary, and the cells of its terms: (term, column) to documents, occurrences and sum of squares.

    Term numbers of documents are held until there are many, then summed up, column by column.
    """

    def __init__(self, analyzer: Analyzer) -> None:
        self.vocabulary = Vocabulary(analyzer)
        self._numbers, self._n_numbers = np.empty(0, np.int32), 0
        self._visits: list[_Visits] = []
        self._visit_number = 1
        self._records, self._seen = np.zeros(0, np.int64), np.empty(1, np.int32)
        self._cells, self._n_cells = CellList.of_size(0), 0

    def add(self, texts: pa.LargeStringArray, label_ends: Int64Array, labels: Int64Array, rest: Int64Array) -> None:
        """Count documents, into the columns `labels` of each.

        A document with no label counts in the column ``rest[doc]``, one with several is taken off there but once: so
        the sum over all columns is the sum over the documents.
        """
        numbers, ends = self.vocabulary.tokenize(texts)
        if len(numbers) > HELD_TERMS:  # a long document: as it is, without a copy
            self._sum_visits(numbers, [_make_visits(ends, label_ends, labels, rest, 0)])
            return
        if self._n_numbers + len(numbers) > len(self._numbers):
            self._sum_held()
            if not len(self._numbers):
                self._numbers = np.empty(HELD_TERMS, np.int32)
        self._numbers[self._n_numbers : self._n_numbers + len(numbers)] = numbers
        self._visits.append(_make_visits(ends, label_ends, labels, rest, self._n_numbers))
        self._n_numbers += len(numbers)

    def _sum_held(self) -> None:
        if self._visits:
            self._sum_visits(self._numbers, self._visits)
        self._visits, self._n_numbers = [], 0

    def _sum_visits(self, numbers: Int32Array, parts: list[_Visits]) -> None:
        visits = _sort_by_column(_Visits(*map(np.concatenate, zip(*parts, strict=True))))
        if len(self._records) < 4 * self.vocabulary.n_terms:
            self._records = np.zeros(4 * len(self.vocabulary.words.places), np.int64)
            self._seen, self._visit_number = np.empty(len(self.vocabulary.words.places) + 1, np.int32), 1
        if self._visit_number + len(visits.starts) > _MOST_VISITS:
            self._records[:], self._visit_number = 0, 1
        visit = 0
        while True:
            visit, self._n_cells = cell_kernels.sum_visits(
                numbers=numbers, **visits._asdict(), first=visit, visit_number=self._visit_number,
                records=self._records, seen=self._seen, terms=self._cells.terms, cell_columns=self._cells.columns,
                values=self._cells.values, n_cells=self._n_cells,
            )  # fmt: skip
            if visit == len(visits.starts):
                break
            same = visits.columns == visits.columns[visit]
            most = int((visits.stops - visits.starts)[same].sum())
            self._ensure_capacity(min(most, len(self._seen) - 1))
        self._visit_number += len(visits.starts)

    def _ensure_capacity(self, cells: int) -> None:
        """Add up cells of the same term and column, and have room for so many more.

        What is then used of the room depends on what is left: of many cells that come again and again, few are.
        """
        held = self._cells.head(self._n_cells)
        added, self._n_cells = held.add_up(self.vocabulary.n_terms, max(MIN_CELLS, 2 * self._n_cells + cells))
        self._cells = added.head(max(MIN_CELLS, 2 * self._n_cells + cells))

    def estimate_peak(self) -> int:
        """Return the bytes that this tally takes at most while its cells are added up, its tables grow or are sorted.

        Of arrays with room for more, only what is in use takes memory.
        """
        vocabulary = self.vocabulary
        slots = vocabulary.words.slots
        grows = 3 * vocabulary.n_terms > 2 * _NEARLY_FULL * len(slots)
        return (
            slots.nbytes * (3 if grows else 1) + vocabulary.n_bytes + _BYTES_PER_TERM * vocabulary.n_terms
            + _BYTES_PER_CELL * self._n_cells + 4 * HELD_TERMS
        )  # fmt: skip

    def finish(self) -> tuple[Vocabulary, CellList]:
        """Return the vocabulary and all cells; this uses the tally up."""
        self._sum_held()
        finished = self.vocabulary, self._cells.head(self._n_cells)
        del self.vocabulary, self._numbers, self._records, self._seen, self._cells
        return finished

    def write_out(self, row_of: Int64Array) -> Iterator[TermCells]:
        """Yield the terms, sorted, with their cells, some thousands at a time; this uses the tally up."""
        return cut_terms(merge_tallies([self], row_of, threads=1), _AT_ONCE)


def merge_tallies(tallies: list[Tally], row_of: Int64Array, threads: int) -> TermCells:
    """Return the terms that were counted, sorted, with their cells; column j of the tallies is row ``row_of[j]``.

    Each core sorts the terms of its tallies, sorted lists of terms are merged, and cells are written where they belong.
    This uses the tallies up.
    """
    cores = min(len(tallies), count_cores())
    shares = [tallies[core::cores] for core in range(cores)]
    tallies.clear()
    return arrange_cells(work_on_each(_rank_terms, shares, threads), row_of, threads)


def _rank_terms(tallies: list[Tally]) -> RankedCells:
    """Return the terms that have cells, sorted, and all cells; this uses the tallies up.

    The first vocabulary takes up the terms of the others: a look-up costs less than to sort a term twice.
    """
    vocabulary, cells = tallies.pop(0).finish()
    lists, numbers = [cells], [np.empty(0, np.int32)]
    while tallies:
        other, cells = tallies.pop(0).finish()
        lists.append(cells)
        numbers.append(vocabulary.absorb(other))
    vocabulary.drop_slots()
    numbers[0] = np.arange(vocabulary.n_terms, dtype=np.int32)
    used = np.zeros(vocabulary.n_terms, np.bool_)
    for cells, number in zip(lists, numbers, strict=True):
        used[number[cells.terms]] = True
    ngrams = vocabulary.parts()
    order = vocabulary.sort_terms(used, ngrams)
    ranks = np.zeros(vocabulary.n_terms, np.int32)
    ranks[order] = np.arange(len(order), dtype=np.int32)
    return RankedCells(vocabulary.get_terms(order, ngrams), [ranks[number] for number in numbers], lists)


def _make_visits(
    ends: Int64Array, label_ends: Int64Array, labels: Int64Array, rest: Int64Array, offset: int
) -> _Visits:
    """Return one visit for each label of a document, and one more where its labels are not one."""
    stops = ends + offset
    starts = np.empty_like(stops)
    starts[:1], starts[1:] = offset, stops[:-1]
    n_labels = np.diff(label_ends, prepend=0)
    if (n_labels == 1).all():
        return _Visits(starts, stops, labels, np.ones(len(labels), np.int64))
    others = np.flatnonzero(n_labels != 1)
    docs = np.concatenate([np.repeat(np.arange(len(ends)), n_labels), others])
    weights = np.concatenate([np.ones(len(labels), np.int64), 1 - n_labels[others]])
    return _Visits(starts[docs], stops[docs], np.concatenate([labels, rest[others]]), weights)


def _sort_by_column(visits: _Visits) -> _Visits:
    columns = visits.columns
    if (columns[1:] >= columns[:-1]).all():
        return visits
    few = columns.max(initial=0) < 1 << 15  # NumPy sorts numbers of 16 bits by counting
    order = np.argsort(columns.astype(np.int16) if few else columns, kind="stable")
    return _Visits(*(array[order] for array in visits))


@functools.lru_cache(maxsize=8)
def load_kernels(analyzer: Analyzer) -> None:
    """Load or compile in this thread the loops that threads with such tallies need: see `termsieve.threads`."""
    # an analyzer in plain Python is not called: it may be a function of the user
    plain = (
        Analyzer()
        if analyzer.runs is None
        else replace(analyzer, stop_words=None, stemmer=None, segmenter=None, strip=())
    )
    tally, texts = Tally(plain), pa.array(["ab cd", "ab"], pa.large_string())
    vocabulary, two = tally.vocabulary, np.arange(2)
    tally.add(texts, two + 1, two, two)
    if analyzer.stemmer or analyzer.runs is None:
        vocabulary.number(texts)
    vocabulary._ensure_capacity(len(vocabulary.words.slots))
    every = np.arange(vocabulary.n_terms)  # there may be none: the analyzer may want longer words
    string_kernels.pack_leading_bytes(*string_buffers(vocabulary.get_terms(every)), np.empty(len(every), np.uint64))
    kernels.next_break(*string_buffers(texts)[:1], 0, 1, np.zeros(128, np.uint8))
    string_kernels.counting_sort(items=every, keys=every, n_keys=len(every))
    mine, theirs = (string_buffers(pa.array([term], pa.large_string())) for term in "ab")
    string_kernels.merge_strings(*mine, *theirs, np.empty(2, np.int64), np.empty(2, np.int64))
    load_documents_kernels()  # documents are read while the threads work
    others = [Tally(plain), Tally(plain)]
    for other in others:
        other.add(texts, two + 1, two, two)
    vocabulary.absorb(others.pop().vocabulary)
    merge_tallies([tally, *others], two, threads=1)


@functools.cache
def load_all_kernels() -> None:
    """Load or compile every loop of counting."""
    load_kernels(Analyzer(ngram_range=(1, 2)))
    load_kernels(Analyzer(analyzer="char"))  # numbers terms that Python has cut
    cells, none = Cells(np.arange(2), np.zeros(1, np.int32), np.ones((3, 1), np.int32)), np.empty(0, np.int64)
    cell_kernels.extract_fold(*cells, none, np.empty((3, 0), np.int64), 1, True)

"""What one thread has counted so far: a numbered vocabulary and the cells of its terms. Tallies add up.

This is the mutable workshop behind `Counts`. Nothing here is public.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from termsieve._kernels import import_kernels
from termsieve._types import Int64Array
from termsieve.counts.cells import Cells, TermCells
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

MIN_PAIRS, MAX_PAIRS = 1 << 20, 1 << 21  # written down before they are summed up


class Tally:
    """A vocabulary, and the cells of its terms: (term, column) to documents, occurrences and sum of squares.

    Pairs of a term and what one document has of it are written down until there are many, then summed up.
    """

    def __init__(self, analyzer: Analyzer) -> None:
        self.vocabulary = Vocabulary(analyzer)
        self._times = np.zeros(0, np.int32)
        self._terms, self._loads, self._n_pairs = np.empty(0, np.int32), np.empty(0, np.int64), 0
        self._cells = Cells(np.zeros(1, np.int64), np.empty(0, np.int32), np.empty((3, 0), np.int64))

    def add(self, texts: pa.LargeStringArray, label_ends: Int64Array, labels: Int64Array, rest: Int64Array) -> None:
        """Count documents, into the columns `labels` of each; see `cell_kernels.write_pairs` for `rest`."""
        tokens = self.vocabulary.tokenize(texts)
        if len(self._times) < self.vocabulary.n_terms:
            self._times = np.zeros(len(self.vocabulary.words.ends), np.int32)
        longest = int(np.diff(tokens.ends, prepend=0).max(initial=0))
        seen = np.empty(min(longest, self.vocabulary.n_terms) + 1, np.int32)
        doc = 0
        while True:
            doc, self._n_pairs, needed = cell_kernels.write_pairs(
                *tokens, doc, label_ends, labels, rest, self._times, seen, self._terms, self._loads, self._n_pairs
            )
            if doc == len(texts):
                return
            self._ensure_capacity(needed)

    def _ensure_capacity(self, pairs: int) -> None:
        """Sum up the pairs that are written down, and have room for so many more."""
        self._sum_pairs()
        # the more cells there are, the seldomer they are added to
        size = max(MIN_PAIRS, pairs, min(len(self._cells.classes), MAX_PAIRS))
        if size > len(self._terms):
            self._terms, self._loads = np.empty(size, np.int32), np.empty(size, np.int64)

    def _sum_pairs(self) -> None:
        n = self._n_pairs
        self._cells = self._cells.plus(
            Cells(*cell_kernels.sum_pairs(self._terms[:n], self._loads[:n], self.vocabulary.n_terms))
        )
        self._n_pairs = 0

    def sort_by_term(self, row_of: Int64Array, n_rows: int) -> TermCells:
        """The terms that were counted, sorted, with their cells; column j of the tally is row ``row_of[j]``.

        This uses the tally up, piece by piece: at this point memory is shortest.
        """
        self._sum_pairs()
        vocabulary, cells = self.vocabulary, self._cells
        del self.vocabulary, self._cells, self._times, self._terms, self._loads
        parts = vocabulary.parts()
        order = vocabulary.sort_terms(np.diff(cells.indptr) > 0, parts)
        rank = np.empty(vocabulary.n_terms, np.int32)
        rank[order] = np.arange(len(order))
        terms = vocabulary.get_terms(order, parts)
        del vocabulary, parts
        return TermCells(terms, Cells(*cell_kernels.reorder_cells(*cells, rank, len(order), row_of, n_rows)))


@functools.lru_cache(maxsize=8)
def load_kernels(analyzer: Analyzer) -> None:
    """Load or compile in this thread the loops that threads with such tallies need: see `termsieve.threads`."""
    # an analyzer in plain Python is not called: it may be a function of the user
    plain = Analyzer() if analyzer.runs is None else replace(analyzer, stop_words=None, stemmer=None, segmenter=None)
    tally, texts = Tally(plain), pa.array(["ab cd", "ab"], pa.large_string())
    vocabulary, two = tally.vocabulary, np.arange(2)
    for _ in range(2):  # the second time, cells are added to cells
        tally.add(texts, two + 1, two, two)
        tally._sum_pairs()
    if analyzer.stemmer or analyzer.runs is None:
        vocabulary.number(texts)
    kernels.rehash(vocabulary.words.slots[:0], vocabulary.words.slots, vocabulary._hashing())
    every = np.arange(vocabulary.n_terms)  # there may be none: the analyzer may want longer words
    string_kernels.pack_leading_bytes(*string_buffers(vocabulary.get_terms(every)), np.empty(len(every), np.uint64))
    kernels.next_break(*string_buffers(texts)[:1], 0, 1, np.zeros(128, np.uint8))
    tally.sort_by_term(two, 2)


@functools.cache
def load_all_kernels() -> None:
    """Load or compile every loop of counting."""
    load_kernels(Analyzer(ngram_range=(1, 2)))
    load_kernels(Analyzer(analyzer="char"))  # numbers terms that Python has cut
    one, two = (pa.array([term], pa.large_string()) for term in "ab")
    string_kernels.merge_strings(
        *string_buffers(one), *string_buffers(two), np.empty(2, np.int64), np.empty(2, np.int64)
    )
    cells, none = Cells(np.arange(2), np.zeros(1, np.int32), np.ones((3, 1), np.int64)), np.empty(0, np.int64)
    cell_kernels.extract_fold(*cells, none, np.empty((3, 0), np.int64), 1, True)

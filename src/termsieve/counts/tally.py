"""What one thread has counted so far: a numbered vocabulary and the cells of its terms. Tallies add up.

This is the mutable workshop behind `Counts`: tables that double when they are full, filled by the loops of
`kernels`. Nothing here is public.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from termsieve._kernels import import_kernels, new_secrets
from termsieve._types import Int32Array, Int64Array, UInt8Array, UInt64Array
from termsieve.counts.cells import Cells, TermCells
from termsieve.errors import CountsError, InputError
from termsieve.tokens.analyzer import Analyzer
from termsieve.tokens.strings import argsort_strings, document_offsets, make_string_array, string_buffers

if TYPE_CHECKING:
    from termsieve.tokens import kernels
else:
    kernels = import_kernels("termsieve.tokens.kernels")

Scalar = TypeVar("Scalar", bound=np.generic)


MIN_PAIRS, MAX_PAIRS = 1 << 20, 1 << 21  # written down before they are summed up
PIECE = 1 << 18  # bytes of a long document that are scanned at a time
BLOCK = 1 << 16  # words of a document that are joined to n-grams, or terms that are numbered, at a time
LONGEST = (1 << 32) - 1  # bytes of a document: no term can then occur more often than 31 bits can count
MOST_TERMS = (1 << 31) - 1  # of one thread: they are numbered with 32 bits


class DocumentTerms(NamedTuple):
    """Term numbers of some documents, side by side, and where each document ends."""

    numbers: Int32Array
    ends: Int64Array


class NgramParts(NamedTuple):
    """What n-grams are made of: the term that each continues, -1 for a word, and its last word."""

    prefix: Int32Array
    last: Int32Array


def check_sizes(texts: pa.LargeStringArray, first: int) -> None:
    """Refuse a document that is too long to be counted right; `first` documents came before these."""
    sizes = np.diff(document_offsets(texts))
    if sizes.max(initial=0) > LONGEST:
        i = int(np.argmax(sizes > LONGEST))
        raise InputError(
            f"Document {first + i + 1:,} has {sizes[i]:,} bytes of text. A document may have at most {LONGEST:,} bytes "
            "(4 GiB): cut it into several documents."
        )


class Vocabulary:
    """Terms numbered in the order in which they are met."""

    def __init__(self, analyzer: Analyzer) -> None:
        self.analyzer = analyzer
        self.words = kernels.TermTable(
            slots=np.zeros((1 << 16, 3), np.uint64),
            arena=np.empty(1 << 19, np.uint8),
            ends=np.empty(1 << 15, np.int64),
        )
        self.n_terms = 0
        self._secret = new_secrets()
        self._has_ngrams = False
        self._longest = -1
        self._buffers: tuple[npt.NDArray[Any], ...] = ()
        self._stems = np.empty(0, np.int32)
        self._n_stop = 0
        self.tokenize = self._choose_tokenizer()

    def _choose_tokenizer(self) -> Callable[[pa.LargeStringArray], DocumentTerms]:
        runs = self.analyzer.runs
        if runs is None:
            return self._tokenize_in_python
        characters = kernels.make_character_tables(runs.character_class, lowercase=self.analyzer.lowercase)
        if characters is None:
            return self._tokenize_in_python
        self._runs, self._characters = runs, characters
        if self.analyzer.stop_set:  # stop words get the first numbers: the scanner knows them by that
            self.number(pa.array(sorted(self.analyzer.stop_set), pa.large_string()))
            self._n_stop = self.n_terms
        return self._tokenize_in_kernel

    # Text to term numbers

    def _tokenize_in_python(self, texts: pa.LargeStringArray) -> DocumentTerms:
        """The definition: what the analyzer says, document by document."""
        terms = [self.analyzer(text) for text in texts.to_pylist()]
        ends = np.cumsum([len(document) for document in terms], dtype=np.int64)
        return DocumentTerms(
            self.number(pa.array([term for document in terms for term in document], pa.large_string())), ends
        )

    def _tokenize_in_kernel(self, texts: pa.LargeStringArray) -> DocumentTerms:
        tokens = self._scan_all(texts)
        if self.analyzer.stemmer:
            tokens = self._stem_tokens(tokens)
        if self.analyzer.ngram_range != (1, 1):
            tokens = self._joined(tokens, *self.analyzer.ngram_range)
        return tokens

    def _scan_all(self, texts: pa.LargeStringArray) -> DocumentTerms:
        if self.analyzer.segmenter or self.analyzer.strip:
            return self._scan_preprocessed(texts)
        strips = self.analyzer.strip_accents is not None
        tokens, deferred = self._scan(texts, self._characters, defer_nonascii=strips)
        if not deferred.any():
            return tokens
        return _splice_tokens(tokens, deferred, self._scan_preprocessed(texts.filter(pa.array(deferred))))

    def _scan_preprocessed(self, texts: pa.LargeStringArray) -> DocumentTerms:
        """What the scanner cannot lower-case, Python does."""
        texts = pa.array([self.analyzer.preprocess(text) for text in texts.to_pylist()], pa.large_string())
        as_they_are = kernels.make_character_tables(self._runs.character_class, lowercase=False)
        return self._scan(texts, as_they_are or self._characters, defer_nonascii=False)[0]

    def _scan(
        self, texts: pa.LargeStringArray, char: kernels.CharacterTables, *, defer_nonascii: bool
    ) -> tuple[DocumentTerms, npt.NDArray[np.bool_]]:
        text, whole = string_buffers(texts)
        offsets, last = _pieces(text, whole, char.kinds)
        n = len(offsets) - 1
        out = np.empty(int(offsets[-1] - offsets[0]) // (self._runs.least + 1) + n + 1, np.int32)
        ends, deferred = np.empty(n, np.int64), np.zeros(n, np.bool_)
        room = self._get_buffers(int(np.diff(offsets).max(initial=0)))
        piece = 0
        while True:
            piece, self.n_terms, n_words = kernels.scan(
                text, offsets, piece, *char, self._runs.least, self._n_stop, defer_nonascii,
                *self.words, self._hashing(), self.n_terms, *room, out, ends, deferred,
            )  # fmt: skip
            if piece == n:
                break
            self._ensure_capacity(n_words, 3 * int(offsets[piece + 1] - offsets[piece]) // 2)
        if self._longest > 4 * PIECE:  # a word of many megabytes is rare: do not keep the room for it
            self._longest, self._buffers = -1, ()
        tokens = DocumentTerms(out[: ends[-1] if n else 0], ends)
        return (tokens, deferred) if last is None else _of_documents(tokens, deferred, last)

    def _hashing(self) -> UInt64Array:
        return kernels.hashing_of(self.words.slots, self._secret)

    def _get_buffers(self, longest: int) -> tuple[npt.NDArray[Any], ...]:
        """Room for the work on one piece, kept from call to call: what is beyond `PIECE` bytes is one word."""
        if longest > self._longest:
            self._longest = longest
            most_words = min(longest, PIECE) // 2 + 2
            words = kernels.make_word_buffers(most_words)
            self._buffers = (*kernels.make_text_buffers(longest, most_words), *words[:4], words.fresh)
        return self._buffers

    def number(self, terms: pa.LargeStringArray) -> Int32Array:
        """Numbers of whole terms, given as they are."""
        if len(terms) > BLOCK:
            return np.concatenate([self.number(terms.slice(i, BLOCK)) for i in range(0, len(terms), BLOCK)])
        text, offsets = string_buffers(terms)
        self._ensure_capacity(len(terms), int(offsets[-1] - offsets[0]))
        room = kernels.make_word_buffers(len(terms))
        self.n_terms = kernels.intern(text, offsets, *self.words, self._hashing(), self.n_terms, *room)
        return room.numbers

    def _stem_tokens(self, tokens: DocumentTerms) -> DocumentTerms:
        """Each word is stemmed once, when it is new; its stem is a term of the same vocabulary."""
        new = np.arange(len(self._stems), self.n_terms, dtype=np.int32)
        if len(new):
            self._stems = np.concatenate([self._stems, np.full(len(new), -1, np.int32)])
            parts = self.parts()
            words = new[parts.prefix[new] < 0]
            stems = self.analyzer.stem(self.get_terms(words, parts).to_pylist())
            numbers = self.number(pa.array(stems, pa.large_string()))
            self._stems[words] = np.where([stem != "" for stem in stems], numbers, -1)
        numbers = self._stems[tokens.numbers]
        kept = numbers >= 0
        if kept.all():
            return DocumentTerms(numbers, tokens.ends)
        return DocumentTerms(numbers[kept], np.concatenate([[0], np.cumsum(kept)])[tokens.ends])

    def _joined(self, tokens: DocumentTerms, least: int, most: int) -> DocumentTerms:
        self._has_ngrams = True
        lengths = np.diff(tokens.ends, prepend=0)
        at_once = min(int(lengths.max(initial=1)), BLOCK)
        room = kernels.make_word_buffers(at_once)
        out, ends = np.empty(len(tokens.numbers) * (most - least + 1), np.int32), np.empty(len(lengths), np.int64)
        doc = 0
        while True:
            slots, _, term_ends = self.words
            doc, self.n_terms = kernels.make_ngrams(
                *tokens, doc, least, most, slots, term_ends, self._hashing(), self.n_terms,
                room.lows, room.highs, room.numbers, room.fresh, out, ends,
            )  # fmt: skip
            if doc == len(ends):
                return DocumentTerms(out[: ends[-1] if len(ends) else 0], ends)
            self._ensure_capacity(at_once * (most - 1))

    # Room

    def _ensure_capacity(self, terms: int, n_bytes: int = 0) -> None:
        """Room for so many more terms and bytes; what grows, doubles."""
        slots, arena, ends = self.words
        used = int(ends[self.n_terms - 1]) if self.n_terms else 0
        room = self.n_terms + terms
        if room > MOST_TERMS:
            raise CountsError(f"There are more than {self.n_terms:,} different terms: more than can be numbered.")
        if 3 * room > 2 * len(slots):
            slots = np.zeros((_next_power_of_two(3 * room // 2 + 1), 3), np.uint64)
            kernels.rehash(self.words.slots, slots, kernels.hashing_of(slots, self._secret))
        self.words = kernels.TermTable(slots, _grow(arena, used + n_bytes), _grow(ends, room))

    # Term numbers to text

    def parts(self) -> NgramParts:
        """For each term, the term that it continues, -1 for a word, and its last word."""
        parts = NgramParts(np.full(self.n_terms, -1, np.int32), np.arange(self.n_terms, dtype=np.int32))
        if self._has_ngrams:
            kernels.find_ngram_parts(self.words.slots, *parts)
        return parts

    def get_terms(self, terms: npt.NDArray[np.integer], parts: NgramParts | None = None) -> pa.LargeStringArray:
        """Terms by their numbers, written out."""
        terms, parts = terms.astype(np.int32, copy=False), parts or self.parts()
        offsets = np.zeros(len(terms) + 1, np.int64)
        kernels.compute_term_offsets(self.words.ends, *parts, terms, offsets)
        text = np.empty(offsets[-1], np.uint8)
        kernels.write_terms(self.words.arena, self.words.ends, *parts, terms, text, offsets)
        return make_string_array(text, offsets)

    def sort_terms(self, used: npt.NDArray[np.bool_], parts: NgramParts | None = None) -> npt.NDArray[np.int64]:
        """The numbers of the used terms, in code-point order."""
        parts = parts or self.parts()
        words = np.flatnonzero(parts.prefix < 0)
        if len(words) == self.n_terms:
            words = words[used[words]]
            return words[argsort_strings(self.get_terms(words, parts))]
        # A space sorts before every letter, so n-grams are ordered by the ranks of their words, a shorter one first
        rank = np.zeros(self.n_terms, np.int32)
        rank[words[argsort_strings(self.get_terms(words, parts))]] = np.arange(1, len(words) + 1)
        columns = [rank.copy()]
        for level in _group_by_length(parts.prefix):
            columns.append(np.zeros(self.n_terms, np.int32))
            for column in columns[:-1]:
                column[level] = column[parts.prefix[level]]
            columns[-1][level] = rank[parts.last[level]]
        order = np.flatnonzero(used)
        for column in reversed(columns):
            order = kernels.counting_sort(order, column, len(words) + 1)
        return order


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
        """Count documents, into the columns `labels` of each; see `kernels.tally` for `rest`."""
        tokens = self.vocabulary.tokenize(texts)
        if len(self._times) < self.vocabulary.n_terms:
            self._times = np.zeros(len(self.vocabulary.words.ends), np.int32)
        longest = int(np.diff(tokens.ends, prepend=0).max(initial=0))
        seen = np.empty(min(longest, self.vocabulary.n_terms) + 1, np.int32)
        doc = 0
        while True:
            doc, self._n_pairs, needed = kernels.write_pairs(
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
            Cells(*kernels.sum_pairs(self._terms[:n], self._loads[:n], self.vocabulary.n_terms))
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
        return TermCells(terms, Cells(*kernels.reorder_cells(*cells, rank, len(order), row_of, n_rows)))


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
    for _ in range(2):  # the second time, cells are added to cells
        tally.add(texts, two + 1, two, two)
        tally._sum_pairs()
    if analyzer.stemmer or analyzer.runs is None:
        vocabulary.number(texts)
    kernels.rehash(vocabulary.words.slots[:0], vocabulary.words.slots, vocabulary._hashing())
    every = np.arange(vocabulary.n_terms)  # there may be none: the analyzer may want longer words
    kernels.pack_leading_bytes(*string_buffers(vocabulary.get_terms(every)), np.empty(len(every), np.uint64))
    kernels.next_break(*string_buffers(texts)[:1], 0, 1, np.zeros(128, np.uint8))
    tally.sort_by_term(two, 2)


@functools.cache
def load_all_kernels() -> None:
    """Load or compile every loop of counting."""
    load_kernels(Analyzer(ngram_range=(1, 2)))
    load_kernels(Analyzer(analyzer="char"))  # numbers terms that Python has cut
    one, two = (pa.array([term], pa.large_string()) for term in "ab")
    kernels.merge_strings(*string_buffers(one), *string_buffers(two), np.empty(2, np.int64), np.empty(2, np.int64))
    cells, none = Cells(np.arange(2), np.zeros(1, np.int32), np.ones((3, 1), np.int64)), np.empty(0, np.int64)
    kernels.extract_fold(*cells, none, np.empty((3, 0), np.int64), 1, True)


def _pieces(text: UInt8Array, offsets: Int64Array, kinds: UInt8Array) -> tuple[Int64Array, Int64Array | None]:
    """Offsets of pieces of the documents, and the number of pieces up to the end of each; None: they are not cut.

    A piece ends before a character that is in no word: after `PIECE` bytes or, in a longer word, with the word.
    """
    if np.diff(offsets).max(initial=0) <= PIECE:
        return offsets, None
    starts, last = [], []
    for start, stop in itertools.pairwise(offsets.tolist()):
        starts.append(start)
        while stop - starts[-1] > PIECE:
            cut = kernels.next_break(text, starts[-1] + PIECE, stop, kinds)
            if cut == stop:
                break
            starts.append(cut)
        last.append(len(starts))
    return np.array([*starts, offsets[-1]], np.int64), np.array(last, np.int64)


def _of_documents(
    tokens: DocumentTerms, deferred: npt.NDArray[np.bool_], last: Int64Array
) -> tuple[DocumentTerms, npt.NDArray[np.bool_]]:
    """Tokens of whole documents from those of their pieces; where one piece is deferred, all of the document is."""
    first = np.concatenate([[0], last[:-1]])
    ends, late = tokens.ends[last - 1], np.logical_or.reduceat(deferred, first)
    if not late.any():
        return DocumentTerms(tokens.numbers, ends), late
    lengths = np.diff(ends, prepend=0)
    kept = np.repeat(~late, lengths)
    return DocumentTerms(tokens.numbers[kept], np.cumsum(np.where(late, 0, lengths))), late


def _splice_tokens(tokens: DocumentTerms, deferred: npt.NDArray[np.bool_], late: DocumentTerms) -> DocumentTerms:
    """Tokens of all documents, when those of the deferred ones come later."""
    lengths = np.diff(tokens.ends, prepend=0)
    lengths[deferred] = np.diff(late.ends, prepend=0)
    owner = np.repeat(deferred, lengths)
    numbers = np.empty(len(owner), np.int32)
    numbers[owner], numbers[~owner] = late.numbers, tokens.numbers
    return DocumentTerms(numbers, np.cumsum(lengths))


def _group_by_length(prefix: Int32Array) -> list[npt.NDArray[np.int64]]:
    """The numbers of 2-grams, 3-grams, ...: each level continues the one before."""
    levels: list[npt.NDArray[np.int64]] = []
    is_last = prefix < 0
    while True:
        level = np.flatnonzero((prefix >= 0) & is_last[prefix])
        if not len(level):
            return levels
        levels.append(level)
        is_last = np.zeros(len(prefix), np.bool_)
        is_last[level] = True


def _next_power_of_two(least: int) -> int:
    return 1 << max(least - 1, 1).bit_length()


def _grow(array: npt.NDArray[Scalar], least: int) -> npt.NDArray[Scalar]:
    if len(array) >= least:
        return array
    grown = np.empty((max(least, 2 * len(array)), *array.shape[1:]), array.dtype)
    grown[: len(array)] = array
    return grown

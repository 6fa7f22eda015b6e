"""Terms numbered in the order in which they are met: tables that double when they are full, filled by loops.

`Vocabulary` takes texts and gives the numbers of their terms; later, it writes the terms out and sorts them. Each
thread has one of its own. Nothing here is public.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from termsieve._kernels import import_kernels, new_secrets
from termsieve._types import AnyArray, BoolArray, Int32Array, Int64Array, IntegerArray, UInt8Array, UInt64Array
from termsieve.errors import CountsError, InputError
from termsieve.tokens.analyzer import Analyzer
from termsieve.tokens.characters import CharacterTables, make_character_tables
from termsieve.tokens.strings import argsort_pairs, document_offsets, make_string_array, string_buffers

if TYPE_CHECKING:
    from termsieve.tokens import kernels, spelling_kernels, string_kernels
else:
    kernels = import_kernels("termsieve.tokens.kernels")
    spelling_kernels = import_kernels("termsieve.tokens.spelling_kernels")
    string_kernels = import_kernels("termsieve.tokens.string_kernels")

Scalar = TypeVar("Scalar", bound=np.generic)

PIECE = 1 << 18  # bytes of a long document that are scanned at a time
BLOCK = 1 << 16  # words of a document that are joined to n-grams, or terms that are numbered, at a time
LONGEST = (1 << 32) - 1  # bytes of a document: no term can then occur more often than 31 bits can count
_KEPT_NUMBERS = 1 << 21  # term numbers for which the room is kept
_FIRST_TERMS, _FIRST_BYTES = 1 << 19, 1 << 22  # room at first: what is not used of it takes no memory
_SECOND_SLOTS = 1 << 18  # of 16 bytes, when the first are full: with twice as many, all would soon be moved again
_OVERHANG = 16  # bytes that are written behind the last term
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
            slots=np.zeros((1 << 16, 2), np.uint64),
            keys=np.empty((_FIRST_TERMS, 2), np.uint64),
            arena=np.empty(_FIRST_BYTES, np.uint8),
            places=np.empty(_FIRST_TERMS, np.int64),
        )
        self.n_terms, self.n_bytes = 0, 0
        self._secret = new_secrets()
        self._has_ngrams = False
        self._longest = -1
        self._buffers: dict[str, AnyArray] = {}
        self._output = np.empty(0, np.int32)
        self._stems = np.empty(0, np.int32)
        self._n_stop = 0
        self.tokenize = self._choose_tokenizer()

    def _choose_tokenizer(self) -> Callable[[pa.LargeStringArray], DocumentTerms]:
        runs = self.analyzer.runs
        if runs is None:
            return self._tokenize_in_python
        characters = make_character_tables(runs.character_class, lowercase=self.analyzer.lowercase)
        if characters is None:
            return self._tokenize_in_python
        self._runs, self._characters = runs, characters
        if self.analyzer.stop_set:  # stop words get the first numbers: the scanner knows them by that
            self.number(pa.array(sorted(self.analyzer.stop_set), pa.large_string()))
            self._n_stop = self.n_terms
        return self._tokenize_in_kernel

    # Text to term numbers

    def _tokenize_in_python(self, texts: pa.LargeStringArray) -> DocumentTerms:
        """Do what the analyzer, which is the definition, says: document by document."""
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
            tokens = self._join_words(tokens, *self.analyzer.ngram_range)
        return tokens

    def _scan_all(self, texts: pa.LargeStringArray) -> DocumentTerms:
        if self.analyzer.segmenter or self.analyzer.strip:
            return self._scan_preprocessed(texts)
        strips = self.analyzer.strip_accents is not None
        tokens, deferred = self._scan(texts, self._characters, defer_nonascii=strips)
        if not deferred.any():
            return tokens
        tokens = DocumentTerms(tokens.numbers.copy(), tokens.ends)  # the room for them is used again
        return _splice_tokens(tokens, deferred, self._scan_preprocessed(texts.filter(pa.array(deferred))))

    def _scan_preprocessed(self, texts: pa.LargeStringArray) -> DocumentTerms:
        """Scan texts that Python has lower-cased, as the scanner cannot."""
        texts = pa.array([self.analyzer.preprocess(text) for text in texts.to_pylist()], pa.large_string())
        as_they_are = make_character_tables(self._runs.character_class, lowercase=False)
        return self._scan(texts, as_they_are or self._characters, defer_nonascii=False)[0]

    def _scan(
        self, texts: pa.LargeStringArray, char: CharacterTables, *, defer_nonascii: bool
    ) -> tuple[DocumentTerms, BoolArray]:
        text, whole = string_buffers(texts)
        offsets, last = _cut_into_pieces(text, whole, char.kinds)
        n = len(offsets) - 1
        out = self._get_output(int(offsets[-1] - offsets[0]) // (self._runs.least + 1) + n + 1)
        ends, deferred = np.empty(n, np.int64), np.zeros(n, np.bool_)
        room = self._get_buffers(int(np.diff(offsets).max(initial=0)))
        piece = 0
        while True:
            piece, self.n_terms, self.n_bytes, n_words = kernels.scan(
                text=text, offsets=offsets, first=piece,
                by_byte=char.bytes, ranges=char.ranges, kept=char.kept, kinds=char.kinds, lower=char.lower,
                folds=char.folds,
                least=self._runs.least, n_stop=self._n_stop, defer_nonascii=defer_nonascii,
                **self._tables(), used=self.n_bytes, **room, out=out, doc_ends=ends, deferred=deferred,
            )  # fmt: skip
            if piece == n:
                break
            size = max(int(offsets[piece + 1] - offsets[piece]), kernels.GROUP_BYTES)
            self._ensure_capacity(n_words, 3 * size // 2 + kernels.GROUP_DOCS)
        if self._longest > 4 * PIECE:  # a word of many megabytes is rare: do not keep the room for it
            self._longest, self._buffers = -1, {}
        tokens = DocumentTerms(out[: ends[-1] if n else 0], ends)
        return (tokens, deferred) if last is None else _join_pieces(tokens, deferred, last)

    def _tables(self) -> dict[str, Any]:
        """Return the vocabulary as loops take it: arrays of one dimension, which numba indexes faster."""
        slots, keys, arena, places = self.words
        hashing = kernels.hashing_of(slots, self._secret)
        flat = {"slots": slots.reshape(-1), "keys": keys.reshape(-1)}
        return {**flat, "arena": arena, "places": places, "hashing": hashing, "n_terms": self.n_terms}

    def _get_output(self, size: int) -> Int32Array:
        """Return room for term numbers, kept from call to call unless it is much."""
        if size > _KEPT_NUMBERS:
            return np.empty(size, np.int32)
        if size > len(self._output):
            self._output = np.empty(size + size // 8, np.int32)
        return self._output

    def _get_buffers(self, longest: int) -> dict[str, AnyArray]:
        """Return room for the work on one piece or group, kept from call to call; beyond `PIECE` bytes is one word."""
        longest = max(longest, kernels.GROUP_BYTES)
        if longest > self._longest:
            self._longest = longest
            most_words = (min(longest, max(PIECE, kernels.GROUP_BYTES)) + kernels.GROUP_DOCS) // 2 + 2
            texts, words = kernels.make_text_buffers(longest, most_words), kernels.make_word_buffers(most_words)
            self._buffers = {**texts._asdict(), **words._asdict()}
        return self._buffers

    def number(self, terms: pa.LargeStringArray) -> Int32Array:
        """Return the numbers of whole terms, given as they are."""
        if len(terms) > BLOCK:
            return np.concatenate([self.number(terms.slice(i, BLOCK)) for i in range(0, len(terms), BLOCK)])
        text, offsets = string_buffers(terms)
        self._ensure_capacity(len(terms), int(offsets[-1] - offsets[0]))
        room, numbers = kernels.make_word_buffers(len(terms)), np.empty(len(terms), np.int32)
        self.n_terms, self.n_bytes = kernels.intern(
            text=text, offsets=offsets, **self._tables(), used=self.n_bytes, **room._asdict(), numbers=numbers
        )
        return numbers

    def absorb(self, other: Vocabulary) -> Int32Array:
        """Add the terms of another vocabulary; returns the numbers that they have here."""
        other.drop_slots()
        numbers, keys, parts = np.empty(other.n_terms, np.int32), other.words.keys[: other.n_terms], other.parts()
        short = np.flatnonzero(keys[:, 1] < kernels.GRAM_MARK)
        numbers[short] = self._number_keys(keys[short])
        long = np.flatnonzero(keys[:, 1] >= kernels.LONG_MARK)  # their keys are hashes with the other's random numbers
        numbers[long] = self.number(other.get_terms(long, parts))
        for level in _group_by_length(parts.prefix) if other._has_ngrams else ():
            prefix, last = (numbers[part[level]].astype(np.uint64) for part in parts)
            low = (prefix << np.uint64(32)) | last
            numbers[level] = self._number_keys(np.stack([low, np.full_like(low, kernels.GRAM_MARK)], axis=1))
        self._has_ngrams |= other._has_ngrams
        return numbers

    def _number_keys(self, keys: UInt64Array) -> Int32Array:
        """Return the numbers of words of up to 15 bytes, or of n-grams, given by their keys."""
        self._ensure_capacity(len(keys))
        tables = self._tables()
        del tables["arena"]
        numbers, hashes = np.empty(len(keys), np.int32), kernels.make_hashes(len(keys))
        lows, highs = np.ascontiguousarray(keys.T)
        self.n_terms = kernels.number_keys(lows=lows, highs=highs, **tables, hashes=hashes, numbers=numbers)
        return numbers

    def _stem_tokens(self, tokens: DocumentTerms) -> DocumentTerms:
        """Stem each word once, when it is new; its stem is a term of the same vocabulary."""
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

    def _join_words(self, tokens: DocumentTerms, least: int, most: int) -> DocumentTerms:
        self._has_ngrams = True
        lengths = np.diff(tokens.ends, prepend=0)
        longest = int(lengths.max(initial=0))
        if least > longest:
            return DocumentTerms(np.empty(0, np.int32), np.zeros(len(lengths), np.int64))
        most, at_once = min(most, longest), min(longest, BLOCK)
        room, numbers = kernels.make_word_buffers(at_once), np.empty(at_once, np.int32)
        out, ends = np.empty(len(tokens.numbers) * (most - least + 1), np.int32), np.empty(len(lengths), np.int64)
        doc = 0
        while True:
            tables = self._tables()
            del tables["arena"]
            doc, self.n_terms = kernels.make_ngrams(
                words=tokens.numbers, doc_ends=tokens.ends, first=doc, least=least, most=most, **tables,
                lows=room.lows, highs=room.highs, hashes=room.hashes, numbers=numbers, out=out, out_ends=ends,
            )  # fmt: skip
            if doc == len(ends):
                return DocumentTerms(out[: ends[-1] if len(ends) else 0], ends)
            self._ensure_capacity(at_once * (most - 1))

    # Room

    def _ensure_capacity(self, terms: int, n_bytes: int = 0) -> None:
        """Have room for so many more terms and bytes; what grows, doubles."""
        slots, keys, arena, places = self.words
        room = self.n_terms + terms
        if room > MOST_TERMS:
            raise CountsError(f"There are more than {self.n_terms:,} different terms: more than can be numbered.")
        if 3 * room > 2 * len(slots):
            size = max(_next_power_of_two(3 * room // 2 + 1), min(4 * len(slots), _SECOND_SLOTS))
            slots = np.zeros((size, 2), np.uint64)
            hashing = kernels.hashing_of(slots, self._secret)
            kernels.rehash(keys=keys.reshape(-1), n_terms=self.n_terms, slots=slots.reshape(-1), hashing=hashing)
        self.words = kernels.TermTable(
            slots, _grow(keys, room), _grow(arena, self.n_bytes + n_bytes), _grow(places, room)
        )

    def drop_slots(self) -> None:
        """Free what only finds terms: from now on none can be added."""
        self.words = self.words._replace(slots=np.zeros((0, 2), np.uint64))

    # Term numbers to text

    def parts(self) -> NgramParts:
        """Return for each term the term that it continues, -1 for a word, and its last word."""
        parts = NgramParts(np.full(self.n_terms, -1, np.int32), np.arange(self.n_terms, dtype=np.int32))
        if self._has_ngrams:
            spelling_kernels.find_ngram_parts(keys=self.words.keys.reshape(-1), prefix=parts.prefix, last=parts.last)
        return parts

    def get_terms(self, terms: IntegerArray, parts: NgramParts | None = None) -> pa.LargeStringArray:
        """Return terms by their numbers, written out."""
        terms, parts = terms.astype(np.int32, copy=False), parts or self.parts()
        offsets, keys = np.zeros(len(terms) + 1, np.int64), self.words.keys.reshape(-1)
        spelled = {"keys": keys, "prefix": parts.prefix, "last": parts.last, "terms": terms, "offsets": offsets}
        spelling_kernels.compute_term_offsets(**spelled)
        text = np.empty(offsets[-1] + _OVERHANG, np.uint8)
        spelling_kernels.write_terms(**spelled, arena=self.words.arena, places=self.words.places, text=text)
        return make_string_array(text[: offsets[-1]], offsets)

    def sort_terms(self, used: BoolArray, parts: NgramParts | None = None) -> Int64Array:
        """Return the numbers of the used terms, in code-point order."""
        parts = parts or self.parts()
        words = np.flatnonzero(parts.prefix < 0)
        if len(words) == self.n_terms:
            words = words[used[words]]
            return words[self._argsort_words(words)]
        # A space sorts before every letter, so n-grams are ordered by the ranks of their words, a shorter one first
        rank = np.zeros(self.n_terms, np.int32)
        rank[words[self._argsort_words(words)]] = np.arange(1, len(words) + 1)
        columns = [rank.copy()]
        for level in _group_by_length(parts.prefix):
            columns.append(np.zeros(self.n_terms, np.int32))
            for column in columns[:-1]:
                column[level] = column[parts.prefix[level]]
            columns[-1][level] = rank[parts.last[level]]
        order = np.flatnonzero(used)
        for column in reversed(columns):
            order = string_kernels.counting_sort(items=order, keys=column, n_keys=len(words) + 1)
        return order

    def _argsort_words(self, words: Int64Array) -> Int64Array:
        """Return how to sort words: by their keys, and those that begin with the same 15 bytes by Arrow."""
        heads, tails = np.empty(len(words), np.uint64), np.empty(len(words), np.uint64)
        spelling_kernels.make_sort_keys(
            keys=self.words.keys.reshape(-1), arena=self.words.arena, places=self.words.places, words=words,
            heads=heads, tails=tails,
        )  # fmt: skip
        return argsort_pairs(heads, tails, lambda tied: self.get_terms(words[tied]))


def _cut_into_pieces(text: UInt8Array, offsets: Int64Array, kinds: UInt8Array) -> tuple[Int64Array, Int64Array | None]:
    """Return offsets of pieces of the documents, and how many there are up to the end of each; None: none is cut.

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


def _join_pieces(tokens: DocumentTerms, deferred: BoolArray, last: Int64Array) -> tuple[DocumentTerms, BoolArray]:
    """Return tokens of whole documents from those of their pieces; one piece that is deferred defers its document."""
    first = np.concatenate([[0], last[:-1]])
    ends, late = tokens.ends[last - 1], np.logical_or.reduceat(deferred, first)
    if not late.any():
        return DocumentTerms(tokens.numbers, ends), late
    lengths = np.diff(ends, prepend=0)
    kept = np.repeat(~late, lengths)
    return DocumentTerms(tokens.numbers[kept], np.cumsum(np.where(late, 0, lengths))), late


def _splice_tokens(tokens: DocumentTerms, deferred: BoolArray, late: DocumentTerms) -> DocumentTerms:
    """Return tokens of all documents, when those of the deferred ones come later."""
    lengths = np.diff(tokens.ends, prepend=0)
    lengths[deferred] = np.diff(late.ends, prepend=0)
    owner = np.repeat(deferred, lengths)
    numbers = np.empty(len(owner), np.int32)
    numbers[owner], numbers[~owner] = late.numbers, tokens.numbers
    return DocumentTerms(numbers, np.cumsum(lengths))


def _group_by_length(prefix: Int32Array) -> list[Int64Array]:
    """Return the numbers of 2-grams, 3-grams, ...: each level continues the one before."""
    levels: list[Int64Array] = []
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

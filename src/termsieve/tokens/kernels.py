"""The numba loops of the scanner: UTF-8 bytes to term numbers, term numbers to n-grams, and back to UTF-8.

Three rules hold for all of them. Arrays are never grown inside a loop: a kernel that runs out of room returns, its
caller makes room and calls again from the document where it stopped. Nothing of a document is counted when its kernel
returns before it; terms that were numbered stay so. And a kernel takes no lock: threads have tables of their own, which
add up.

Terms
    A term has a number and a key of two 64-bit numbers; both stand in an open-addressing table. A word of up to 15
    bytes is its own key, so most look-ups compare two numbers; a longer one has its hash for a key and is compared
    byte by byte. ``ends[i]`` is the end of term i in the byte ``arena``. An n-gram has no bytes: its key is the number
    of the term that it continues and the number of its last word. The slot of a key depends on random numbers
    (`new_secrets`), so that nobody can choose words that crowd together; the numbers of the terms do not.

Pieces
    A long document is scanned in pieces that end where no word is cut, so that the room for the work on a piece has a
    bounded size; to `scan` a piece is a document. Edges and offsets are 64-bit numbers.
"""

from __future__ import annotations

import functools
import re
from typing import Any, NamedTuple

import numpy as np

from termsieve._numba import jit, lowest_bit, multiply_and_fold
from termsieve._types import Int32Array, Int64Array, UInt8Array, UInt64Array

# What a code point is
_OTHER, _WORD, _DEFER = 0, 1, 2

_SHORT_WORD_BYTES = 15  # bytes of a word that fit into its key, beside their number
_GRAM_MARK, _LONG_MARK = np.uint64(254 << 56), np.uint64(255 << 56)
_TOP_BYTE_SHIFT = np.uint64(56)
_EMPTY, _ONE = np.uint64(0), np.uint64(1)
_FIRST_BYTES = np.array([(1 << 8 * n) - 1 for n in range(9)], np.uint64)
_LOW_BITS, _HIGH_BITS = np.uint64(0x7F7F7F7F7F7F7F7F), np.uint64(0x8080808080808080)

_jit: Any = jit


class CharacterTables(NamedTuple):
    """What the characters of a text are to the scanner.

    ``bytes`` has the ASCII characters of words, lower-cased, and 0 for every other byte; ``kinds`` and ``lower`` are
    by code point.
    """

    bytes: UInt8Array
    kinds: UInt8Array
    lower: Int32Array


class TermTable(NamedTuple):
    """A numbered vocabulary: the table of keys and numbers, the bytes, and where each term ends in them."""

    slots: UInt64Array
    arena: UInt8Array
    ends: Int64Array


class WordBuffers(NamedTuple):
    """Room for the keys, places and numbers of some words."""

    lows: UInt64Array
    highs: UInt64Array
    starts: Int64Array
    lengths: Int64Array
    numbers: Int32Array
    fresh: Int32Array


class TextBuffers(NamedTuple):
    """Room for one document: folded, as bytes and as 64-bit numbers (the same memory), and its words' edges."""

    folded: UInt8Array
    eights: UInt64Array
    edges: Int64Array


@functools.cache
def make_character_tables(character_class: str, *, lowercase: bool) -> CharacterTables | None:
    """The tables for tokens that are runs of a character class.

    None when the scanner cannot do the class: its tokens could hold a space or a control character, by which
    n-grams are told apart. Built from Python's own ``re`` and ``str.lower``, so they cannot disagree with them.
    """
    points = np.arange(0x110000, dtype="<u4")
    points[0xD800:0xE000] = 0x20  # surrogates do not occur in UTF-8
    everything = points.tobytes().decode("utf-32-le")
    if lowercase:  # the two letters whose lower case depends on their neighbours, or is two letters
        everything = everything.replace("\u0130", "i").replace("\u03a3", "\u03c3").lower()
    kinds = np.zeros(0x110000, dtype=np.uint8)
    for run in re.finditer(f"(?:{character_class})+", everything):
        kinds[run.start() : run.end()] = _WORD
    if kinds[:0x21].any():
        return None
    lower = np.frombuffer(everything.encode("utf-32-le"), dtype="<u4").astype(np.int32)
    by_byte = np.zeros(256, dtype=np.uint8)
    by_byte[:128] = np.where(kinds[:128] == _WORD, lower[:128], 0)
    if lowercase:
        kinds[[0x130, 0x3A3]] = _DEFER
    return CharacterTables(by_byte, kinds, lower)


def make_word_buffers(most: int) -> WordBuffers:
    """Room for so many words."""
    return WordBuffers(
        lows=np.empty(most, np.uint64),
        highs=np.empty(most, np.uint64),
        starts=np.empty(most, np.int64),
        lengths=np.empty(most, np.int64),
        numbers=np.empty(most, np.int32),
        fresh=np.empty(most, np.int32),
    )


def make_text_buffers(longest: int, most_words: int) -> TextBuffers:
    """Room for texts of up to `longest` bytes, which grow by half at most when they are lower-cased."""
    eights = np.empty(longest * 3 // 16 + 16, np.uint64)
    return TextBuffers(eights.view(np.uint8), eights, np.empty(2 * most_words, np.int64))


def hashing_of(slots: UInt64Array, secret: UInt64Array) -> UInt64Array:
    """What the kernels need to find the slot of a key: the random numbers, and how far a hash is shifted."""
    return np.append(secret, np.uint64(65 - len(slots).bit_length()))


@_jit
def _read_code_point(text, i):
    """The code point at byte `i` of valid UTF-8, not ASCII, and its number of bytes."""
    lead = np.int32(text[i])
    second = np.int32(text[i + 1]) & 0x3F
    if lead < 0xE0:
        return ((lead & 0x1F) << 6) | second, 2
    third = np.int32(text[i + 2]) & 0x3F
    if lead < 0xF0:
        return ((lead & 0x0F) << 12) | (second << 6) | third, 3
    return ((lead & 0x07) << 18) | (second << 12) | (third << 6) | (np.int32(text[i + 3]) & 0x3F), 4


@_jit
def _write_code_point(text, end, point):
    """Write a code point as UTF-8; the new end."""
    if point < 0x80:
        text[end] = point
        return end + 1
    if point < 0x800:
        text[end] = 0xC0 | (point >> 6)
        text[end + 1] = 0x80 | (point & 0x3F)
        return end + 2
    if point < 0x10000:
        text[end] = 0xE0 | (point >> 12)
        text[end + 1] = 0x80 | ((point >> 6) & 0x3F)
        text[end + 2] = 0x80 | (point & 0x3F)
        return end + 3
    text[end] = 0xF0 | (point >> 18)
    text[end + 1] = 0x80 | ((point >> 12) & 0x3F)
    text[end + 2] = 0x80 | ((point >> 6) & 0x3F)
    text[end + 3] = 0x80 | (point & 0x3F)
    return end + 4


@_jit
def _fold(text, start, stop, by_byte, kinds, lower, defer_nonascii, folded):
    """Write a document with its words lower-cased and one zero byte for every other character.

    Returns its length, -1 when the document has to be lower-cased by Python, and whether all of it is ASCII.
    """
    any_bit = np.uint8(0)
    for i in range(stop - start):
        byte = text[start + i]
        any_bit |= byte
        folded[i] = by_byte[byte]
    if any_bit < 0x80:
        return stop - start, True
    if defer_nonascii:
        return np.int64(-1), False
    i, end = start, np.int64(0)
    while i < stop:
        if text[i] < 0x80:
            folded[end] = by_byte[text[i]]
            i += 1
            end += 1
            continue
        point, width = _read_code_point(text, i)
        i += width
        kind = kinds[point]
        if kind == _DEFER:
            return np.int64(-1), False
        end = _write_code_point(folded, end, lower[point] if kind == _WORD else 0)
    return end, False


@_jit
def _read_eight_bytes(words, i):
    """Eight bytes from byte `i` of an array that is seen as 64-bit numbers; the first byte is the lowest."""
    at, shift = i >> 3, np.uint64((i & 7) * 8)
    return (words[at] >> shift) | ((words[at + 1] << _ONE) << (np.uint64(63) - shift))


@_jit
def _mask_nonzero_bytes(eight):
    """One bit for each of eight bytes, set where it is not zero."""
    high_bits = (((eight & _LOW_BITS) + _LOW_BITS) | eight) & _HIGH_BITS
    return ((high_bits >> np.uint64(7)) * np.uint64(0x0102040810204080)) >> _TOP_BYTE_SHIFT


@_jit
def _find_edges(folded_eights, length, edges):
    """Where runs of non-zero bytes begin and end, in turn; returns how many there are."""
    n, before = 0, _EMPTY
    for block in range((length >> 6) + 1):
        bits = _EMPTY
        for k in range(8):
            bits |= _mask_nonzero_bytes(folded_eights[block * 8 + k]) << np.uint64(8 * k)
        changes = bits ^ ((bits << _ONE) | before)
        before = bits >> np.uint64(63)
        while changes != _EMPTY:
            edges[n] = block * 64 + lowest_bit(changes)
            n += 1
            changes &= changes - _ONE
    return n


@_jit
def _read_eight(text, i):
    """Eight bytes from byte `i` on; the first is the lowest."""
    eight = np.uint64(0)
    for k in range(8):
        eight |= np.uint64(text[i + k]) << np.uint64(8 * k)
    return eight


@_jit
def _hash_bytes(text, start, length, hashing):
    """A hash of at least 16 bytes: 16 at a time are multiplied with each other, the last 16 may overlap."""
    h, stop = np.uint64(length) ^ hashing[2], start + length
    for i in range(start, stop - 15, 16):
        h = multiply_and_fold(_read_eight(text, i) ^ hashing[3], _read_eight(text, i + 8) ^ h)
    if length & 15:
        h = multiply_and_fold(_read_eight(text, stop - 16) ^ hashing[3], _read_eight(text, stop - 8) ^ h)
    return h


@_jit
def _is_same_bytes(text, start, other, other_start, length):
    for i in range(length):
        if text[start + i] != other[other_start + i]:
            return False
    return True


@_jit
def _hash_slot(low, high, secret_low, secret_high, shift):
    return np.int64(multiply_and_fold(low ^ secret_low, high ^ secret_high) >> shift)


@_jit
def _make_long_key(text, start, length, hashing):
    """The key of a word of more than 15 bytes."""
    return _hash_bytes(text, start, length, hashing), _LONG_MARK | np.uint64(length)


@_jit
def _number_short(lows, highs, n, slots, hashing, n_terms, numbers, fresh):
    """Number words by their keys; words of more than 15 bytes get -1. Returns the number of terms and of long words.

    ``fresh[i]`` is the word that became term n_terms + i. Nothing else happens here: the loop is tight, and the
    processor looks up many words at once.
    """
    mask, first, n_long = np.int64(slots.shape[0] - 1), n_terms, 0
    secret_low, secret_high, shift = hashing[0], hashing[1], hashing[4]
    for word in range(n):
        low, high = lows[word], highs[word]
        at = _hash_slot(low, high, secret_low, secret_high, shift)
        number = np.int64(-1)
        while high < _LONG_MARK:
            if slots[at, 0] == low and slots[at, 1] == high:
                number = np.int64(slots[at, 2])
                break
            if slots[at, 1] == _EMPTY:
                slots[at, 0], slots[at, 1], slots[at, 2] = low, high, np.uint64(n_terms)
                fresh[n_terms - first] = word
                number = n_terms
                n_terms += 1
                break
            at = (at + 1) & mask
        n_long += np.int64(number < 0)
        numbers[word] = number
    return n_terms, n_long


@_jit
def _number_long(slots, hashing, arena, ends, n_terms, text, start, length, low, high):
    """The number of a word of more than 15 bytes, whose key is only a hash; `n_terms` when it is new."""
    mask = np.int64(slots.shape[0] - 1)
    at = _hash_slot(low, high, hashing[0], hashing[1], hashing[4])
    while slots[at, 1] != _EMPTY:
        if slots[at, 0] == low and slots[at, 1] == high:
            number = np.int64(slots[at, 2])
            if _is_same_bytes(text, start, arena, ends[number - 1] if number > 0 else 0, length):
                return number
        at = (at + 1) & mask
    slots[at, 0], slots[at, 1], slots[at, 2] = low, high, np.uint64(n_terms)
    _store_term(arena, ends, n_terms, text, start, length)
    return n_terms


@_jit
def _store_term(arena, ends, number, text, start, length):
    """Write down the bytes of a new term."""
    begin = ends[number - 1] if number > 0 else 0
    for i in range(length):
        arena[begin + i] = text[start + i]
    ends[number] = begin + length


@_jit
def _number_all(lows, highs, starts, lengths, n, text, slots, hashing, arena, ends, n_terms, numbers, fresh):
    """Number words by their keys and bytes, into `numbers`. There must be room for all. Returns the number of terms."""
    first = n_terms
    n_terms, n_long = _number_short(lows, highs, n, slots, hashing, n_terms, numbers, fresh)
    for number in range(first, n_terms):
        word = fresh[number - first]
        _store_term(arena, ends, number, text, starts[word], lengths[word])
    if n_long > 0:
        for word in range(n):
            if numbers[word] < 0:
                numbers[word] = _number_long(
                    slots, hashing, arena, ends, n_terms, text, starts[word], lengths[word], lows[word], highs[word]
                )
                n_terms += np.int64(numbers[word] == n_terms)
    return n_terms


@_jit
def rehash(old, new, hashing):
    """Put the entries of a table into a larger one."""
    mask = np.int64(new.shape[0] - 1)
    for i in range(old.shape[0]):
        if old[i, 1] != _EMPTY:
            at = _hash_slot(old[i, 0], old[i, 1], hashing[0], hashing[1], hashing[4])
            while new[at, 1] != _EMPTY:
                at = (at + 1) & mask
            # numbers one by one: a row at once takes two seconds to compile
            new[at, 0], new[at, 1], new[at, 2] = old[i, 0], old[i, 1], old[i, 2]


@_jit
def _make_keys(folded, eights, edges, n_edges, least, is_ascii, hashing, lows, highs, starts, lengths):
    """Keys and places of the words between the edges, but for those that are too short; returns how many there are."""
    if not is_ascii:
        n_edges = _drop_short_words(folded, edges, n_edges, least)
    n, n_long = 0, 0
    for edge in range(0, n_edges, 2):
        start, length = edges[edge], edges[edge + 1] - edges[edge]
        lows[n] = _read_eight_bytes(eights, start) & _FIRST_BYTES[min(length, 8)]
        high = _read_eight_bytes(eights, start + 8) & _FIRST_BYTES[max(min(length, 16) - 8, 0)]
        highs[n] = high | (np.uint64(length + 1) << _TOP_BYTE_SHIFT)
        starts[n], lengths[n] = start, length
        n += np.int64(length >= least)
        n_long += np.int64(length > _SHORT_WORD_BYTES)
    if n_long > 0:
        for word in range(n):
            if lengths[word] > _SHORT_WORD_BYTES:
                lows[word], highs[word] = _make_long_key(folded, starts[word], lengths[word], hashing)
    return n


@_jit
def _drop_short_words(folded, edges, n_edges, least):
    """Keep the edges of words of enough characters, which may have several bytes; returns their number."""
    n = 0
    for edge in range(0, n_edges, 2):
        start, stop = edges[edge], edges[edge + 1]
        n_characters = 0
        for i in range(start, stop):
            n_characters += np.int64((folded[i] & 0xC0) != 0x80)
        edges[n], edges[n + 1] = start, stop
        n += 2 * np.int64(n_characters >= least)
    return n


@_jit
def _drop_stop_words(numbers, n, n_stop):
    """Move together the numbers that are no stop words'; returns how many there are."""
    kept = 0
    for i in range(n):
        numbers[kept] = numbers[i]
        kept += np.int64(numbers[i] >= n_stop)
    return kept


@_jit
def scan(
    text, offsets, first, by_byte, kinds, lower, least, n_stop, defer_nonascii, slots, arena, ends, hashing, n_terms,
    folded, eights, edges, lows, highs, starts, lengths, fresh, out, doc_ends, deferred,
):  # fmt: skip
    """Number the words of the documents from `first` on, into `out`; ``doc_ends`` says where each document ends.

    Returns the document before which it stopped for want of room (their number, when done), the number of terms, and
    the number of words for which there was no room. Numbers below `n_stop` are stop words and left out. A document
    with a letter that the tables cannot lower-case, or, with `defer_nonascii`, with any letter beyond ASCII, is marked
    in `deferred` and gets no words.

    Speed comes from what is not there: no branch for each character, and no word that waits for the one before.
    """
    n_docs = offsets.shape[0] - 1
    term_room = min(ends.shape[0], 2 * slots.shape[0] // 3)
    n_out = doc_ends[first - 1] if first > 0 else 0
    for doc in range(first, n_docs):
        stop, is_ascii = _fold(text, offsets[doc], offsets[doc + 1], by_byte, kinds, lower, defer_nonascii, folded)
        deferred[doc] = stop < 0
        stop = max(stop, 0)
        folded[stop : stop + 72] = 0
        n_edges = _find_edges(eights, stop, edges)
        n = _make_keys(folded, eights, edges, n_edges, least, is_ascii, hashing, lows, highs, starts, lengths)
        used = ends[n_terms - 1] if n_terms > 0 else 0
        if n_terms + n > term_room or used + stop > arena.shape[0]:
            return doc, n_terms, n
        found = out[n_out:]
        n_terms = _number_all(
            lows, highs, starts, lengths, n, folded, slots, hashing, arena, ends, n_terms, found, fresh
        )
        n_out += n if n_stop == 0 else _drop_stop_words(found, n, n_stop)
        doc_ends[doc] = n_out
    return n_docs, n_terms, 0


@_jit
def intern(text, offsets, slots, arena, ends, hashing, n_terms, lows, highs, starts, lengths, numbers, fresh):
    """Number whole words given as they are, into `numbers`. There must be room for all. Returns the number of terms."""
    n = offsets.shape[0] - 1
    for word in range(n):
        start, length = offsets[word], offsets[word + 1] - offsets[word]
        low, high = np.uint64(0), np.uint64(0)
        for i in range(min(length, _SHORT_WORD_BYTES)):
            byte = np.uint64(text[start + i]) << np.uint64(8 * (i & 7))
            if i < 8:
                low |= byte
            else:
                high |= byte
        lows[word], highs[word] = low, high | (np.uint64(length + 1) << _TOP_BYTE_SHIFT)
        if length > _SHORT_WORD_BYTES:
            lows[word], highs[word] = _make_long_key(text, start, length, hashing)
        starts[word], lengths[word] = start, length
    return _number_all(lows, highs, starts, lengths, n, text, slots, hashing, arena, ends, n_terms, numbers, fresh)


@_jit
def make_ngrams(
    words, doc_ends, first, least, most, slots, ends, hashing, n_terms, lows, highs, numbers, fresh, out, out_ends
):
    """N-grams of numbered words, `least` to `most` long, into `out`; as many words at a time as there is room for.

    Returns the document before which it stopped for want of room, and the number of terms: the n-grams that were
    numbered by then are found again.
    """
    room, at_once = min(ends.shape[0], 2 * slots.shape[0] // 3), lows.shape[0]
    n_out = out_ends[first - 1] if first > 0 else 0
    for doc in range(first, doc_ends.shape[0]):
        stop = doc_ends[doc]
        for start in range(doc_ends[doc - 1] if doc > 0 else 0, stop, at_once):
            if n_terms + min(stop - start, at_once) * (most - 1) > room:
                return doc, n_terms
            for size in range(1, min(most, stop - start) + 1):
                n = min(stop - start - size + 1, at_once)
                if size == 1:
                    numbers[:n] = words[start : start + n]
                else:
                    for i in range(n):
                        lows[i] = (np.uint64(numbers[i]) << np.uint64(32)) | np.uint64(words[start + i + size - 1])
                        highs[i] = _GRAM_MARK
                    before = n_terms
                    n_terms, _ = _number_short(lows, highs, n, slots, hashing, n_terms, numbers, fresh)
                    ends[before:n_terms] = ends[before - 1]
                if size >= least:
                    out[n_out : n_out + n] = numbers[:n]
                    n_out += n
        out_ends[doc] = n_out
    return doc_ends.shape[0], n_terms


@_jit
def next_break(text, i, stop, kinds):
    """The first place at or after byte `i` where a character begins that is in no word; `stop` when there is none."""
    while i < stop and (text[i] & 0xC0) == 0x80:
        i += 1
    while i < stop:
        point, width = (np.int32(text[i]), 1) if text[i] < 0x80 else _read_code_point(text, i)
        if kinds[point] == _OTHER:
            return i
        i += width
    return stop


@_jit
def find_ngram_parts(slots, prefix, last):
    """The term that each n-gram continues, -1 for a word, and its last word: a word is its own."""
    for at in range(slots.shape[0]):
        if slots[at, 1] != _EMPTY:
            term = np.int64(slots[at, 2])
            prefix[term], last[term] = -1, term
            if slots[at, 1] == _GRAM_MARK:
                prefix[term] = np.int32(slots[at, 0] >> np.uint64(32))
                last[term] = np.int32(slots[at, 0] & np.uint64(0xFFFFFFFF))


@_jit
def compute_term_offsets(ends, prefix, last, terms, offsets):
    """Where each term ends when all are written out side by side, into ``offsets[1:]``."""
    for item in range(terms.shape[0]):
        length, term = np.int64(-1), np.int64(terms[item])
        while term >= 0:
            word = np.int64(last[term])
            length += 1 + ends[word] - (ends[word - 1] if word > 0 else 0)
            term = np.int64(prefix[term])
        offsets[item + 1] = offsets[item] + length


@_jit
def write_terms(arena, ends, prefix, last, terms, text, offsets):
    """Write out terms, the words of an n-gram with a space between them, to their known offsets."""
    for item in range(terms.shape[0]):
        end, term = offsets[item + 1], np.int64(terms[item])
        while term >= 0:
            word = np.int64(last[term])
            start = ends[word - 1] if word > 0 else 0
            length = ends[word] - start
            end -= length
            for i in range(length):
                text[end + i] = arena[start + i]
            term = np.int64(prefix[term])
            if term >= 0:
                end -= 1
                text[end] = 0x20

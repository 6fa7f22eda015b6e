"""The numba loops of the scanner: UTF-8 bytes to term numbers, and term numbers to n-grams.

Three rules hold for all loops. Arrays are never grown inside a loop: a kernel that runs out of room returns, its
caller makes room and calls again from the document where it stopped. Nothing of a document is counted when its kernel
returns before it; terms that were numbered stay so. And a kernel takes no lock: threads have tables of their own, which
add up. Indices are unsigned where it matters: numba checks whether a signed one counts from the end.

The loops that `scan` calls stand in this module with it: numba keeps what it compiled for as long as the file of a loop
is unchanged, and does not look at the files of loops that it calls.

Terms
    A term has a number and a key of two 64-bit numbers, which stand in ``keys`` by number. A word of up to 15 bytes is
    its own key, so it needs no other spelling; a longer one has its hash for a key, and its bytes stand in the
    ``arena``, those of term i from ``places[i]`` on. An n-gram has no bytes: its key is the number of the term that
    it continues and the number of its last word.

Slots
    An open-addressing table finds the number of a key. A slot has two 64-bit numbers, so that four share a cache line:
    the first of the key, and an entry of the key's highest byte (which tells words by their length, n-grams and long
    words), 24 bits of its hash, and the number. That is all there is to compare for words of up to 8 bytes and for
    n-grams; for others, what is in ``keys`` decides. The slot of a key depends on random numbers (`new_secrets`), so
    that nobody can choose words that crowd together; the numbers of the terms do not.

Pieces and groups
    A long document is scanned in pieces that end where no word is cut, so that the room for the work on a piece has a
    bounded size; to `scan` a piece is a document. Edges and offsets are 64-bit numbers. Short documents are scanned
    several at a time, with a zero between them: their words are looked up together, so that memory can be asked for in
    advance.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from termsieve._numba import (
    FIRST_BYTES,
    fold_block,
    jit,
    load_eight,
    lowest_bit,
    mask_at_least,
    multiply_and_fold,
    prefetch,
)
from termsieve._types import Int64Array, UInt8Array, UInt64Array
from termsieve.tokens.characters import DEFER, LENGTH_CHANGES, OTHER, WORD

_SHORT_WORD_BYTES = 15  # bytes of a word that fit into its key, beside their number
GRAM_MARK, LONG_MARK = np.uint64(254 << 56), np.uint64(255 << 56)  # the highest byte of keys that are no words
TOP_BYTE_SHIFT, TOP_BYTE = np.uint64(56), np.uint64(255 << 56)
_ZERO, _ONE, _TWO, _EIGHT, _SIXTEEN = (np.uint64(n) for n in (0, 1, 2, 8, 16))
_HASH_BITS, _ENTRY_SHIFT, _NUMBER_BITS = np.uint64(0xFFFFFF), np.uint64(32), np.uint64(0xFFFFFFFF)
_AHEAD = 16  # words for which memory is asked for in advance
_BLOCK = np.uint64(64)  # bytes that are folded at once
_PADDING = 128  # bytes behind a folded text: two blocks
GROUP_BYTES, GROUP_DOCS = 4096, 64  # of documents that are scanned together, at most
_NONASCII = np.uint8(0x80)
_LEAD, _LEAD_OF_THREE = np.uint8(0xC0), np.uint8(0xE0)  # least bytes that begin characters of several, of three bytes

_jit: Any = jit


class TermTable(NamedTuple):
    """A numbered vocabulary: slots, keys by number, the bytes of long words, and where those of a term begin."""

    slots: UInt64Array
    keys: UInt64Array
    arena: UInt8Array
    places: Int64Array


class WordBuffers(NamedTuple):
    """Room for the keys, hashes and places of some words, and for a list of the long ones."""

    lows: UInt64Array
    highs: UInt64Array
    hashes: UInt64Array
    starts: Int64Array
    lengths: Int64Array
    longs: Int64Array


class TextBuffers(NamedTuple):
    """Room for a group of documents, folded, where each stops there, and the edges of their words."""

    folded: UInt8Array
    stops: Int64Array
    edges: Int64Array


def make_word_buffers(most: int) -> WordBuffers:
    """Make room for so many words."""
    return WordBuffers(
        lows=np.empty(most, np.uint64),
        highs=np.empty(most, np.uint64),
        hashes=make_hashes(most),
        starts=np.empty(most, np.int64),
        lengths=np.empty(most, np.int64),
        longs=np.empty(most + 1, np.int64),
    )


def make_hashes(most: int) -> UInt64Array:
    """Make room for so many hashes, and for looking ahead."""
    return np.zeros(most + _AHEAD, np.uint64)


def make_text_buffers(longest: int, most_words: int) -> TextBuffers:
    """Make room for groups of up to `longest` bytes, which grow by half at most when they are lower-cased."""
    folded = np.empty(longest * 3 // 2 + GROUP_DOCS + _PADDING, np.uint8)
    return TextBuffers(folded, np.empty(GROUP_DOCS, np.int64), np.empty(2 * most_words, np.int64))


def hashing_of(slots: UInt64Array, secret: UInt64Array) -> UInt64Array:
    """Return what the kernels need to find the slot of a key: the random numbers, and how far a hash is shifted."""
    return np.append(secret, np.uint64(65 - len(slots).bit_length()))


@_jit
def _read_code_point(text, i):
    """Return the code point at byte `i` of valid UTF-8, not ASCII, and its number of bytes."""
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
def _fold_characters(text, start, stop, by_byte, kinds, lower, defer_nonascii, folded, at):
    """Write a document to `at` with its words lower-cased and zero for every other character, one by one.

    Returns where it stops, -1 when the document has to be lower-cased by Python.
    """
    i, end = start, at
    while i < stop:
        if text[i] < 0x80:
            folded[end] = by_byte[text[i]]
            i += 1
            end += 1
            continue
        point, width = _read_code_point(text, i)
        i += width
        kind = kinds[point]
        if defer_nonascii or kind == DEFER:
            return np.int64(-1)
        end = _write_code_point(folded, end, lower[point] if kind == WORD else 0)
    return end


@_jit
def _end_with_zeros(folded, length):
    for i in range(length, length + _PADDING):
        folded[i] = 0


@_jit
def _fold_bytes(text, offsets, first, n, by_byte, ranges, folded, stops):
    """Fold the ASCII characters of `n` documents, and copy the other bytes; returns whether there are any.

    Each document stops at ``stops``, where there is a zero.
    """
    beyond, at, end = _ZERO, _ZERO, np.uint64(text.shape[0])
    lows, widths, case, is_by_block = ranges[0], ranges[1], np.uint8(ranges[2]), ranges[3] == _ONE
    for doc in range(n):
        start = np.uint64(offsets[first + doc])
        length, done = np.uint64(offsets[first + doc + 1]) - start, _ZERO
        # the last block may have bytes of the next document, but none from outside of the text
        while is_by_block and done < length and start + done + _BLOCK <= end:
            bits = fold_block(text, start + done, folded, at + done, lows, widths, case)
            left = length - done
            beyond |= bits if left >= _BLOCK else bits & ((_ONE << left) - _ONE)
            done += _BLOCK
        while done < length:
            byte = text[start + done]
            beyond |= np.uint64(byte >= _NONASCII)
            folded[at + done] = by_byte[byte]
            done += _ONE
        at += length
        folded[at], stops[doc] = 0, at
        at += _ONE
    return beyond != _ZERO


@_jit
def _drop_kept(folded, block, leads, kept):
    """Leave out those characters of a block that stay as they are: in most texts, nearly all letters.

    Takes and returns a bit for each byte that begins a character. Characters with the same leading byte are looked at
    together: most texts have few such bytes. Characters of three and four bytes are all left.
    """
    second, left = block + _ONE, leads & mask_at_least(folded, block, _LEAD_OF_THREE)
    leads &= ~left
    while leads != _ZERO:
        lead = folded[block + np.uint64(lowest_bit(leads))]
        here = leads & mask_at_least(folded, block, lead) & ~mask_at_least(folded, block, np.uint8(lead + 1))
        leads &= ~here
        least, beyond = kept[np.uint64(lead), 0], kept[np.uint64(lead), 1]
        left |= here & ~(mask_at_least(folded, second, least) & ~mask_at_least(folded, second, beyond))
    return left


@_jit
def _fold_letters(folded, length, kept, folds):
    """Fold the characters beyond ASCII where they stand; False when there is one whose length changes."""
    for block in range(0, length, 64):
        leads = mask_at_least(folded, np.uint64(block), _LEAD)
        if leads != _ZERO:
            leads = _drop_kept(folded, np.uint64(block), leads, kept)
        while leads != _ZERO:
            i = np.uint64(block) + np.uint64(lowest_bit(leads))
            leads &= leads - _ONE  # without the lowest bit
            eight = load_eight(folded, i)
            lead, second = eight & np.uint64(0xFF), (eight >> np.uint64(8)) & np.uint64(0x3F)
            if lead < np.uint64(0xE0):
                fold = folds[((lead & np.uint64(0x1F)) << np.uint64(6)) | second]
            else:
                second = (second << np.uint64(6)) | ((eight >> np.uint64(16)) & np.uint64(0x3F))
                if lead < np.uint64(0xF0):
                    fold = folds[((lead & np.uint64(0x0F)) << np.uint64(12)) | second]
                else:
                    fourth = (eight >> np.uint64(24)) & np.uint64(0x3F)
                    fold = folds[((lead & np.uint64(7)) << np.uint64(18)) | (second << np.uint64(6)) | fourth]
            if fold == LENGTH_CHANGES:
                return False
            folded[i] = fold  # a byte is stored: the lowest of the number
            folded[i + _ONE] = fold >> 8
            if lead >= np.uint64(0xE0):
                folded[i + _TWO] = fold >> 16
                if lead >= np.uint64(0xF0):
                    folded[i + np.uint64(3)] = fold >> 24
    return True


@_jit
def _fold_one_by_one(text, offsets, first, by_byte, kinds, lower, defer_nonascii, folded, n, stops, deferred):
    """Write `n` documents as `_fold_group` does, character by character; returns the length of all."""
    stop = np.int64(-1)
    for i in range(n):
        doc, at = first + i, stop + 1
        end = _fold_characters(text, offsets[doc], offsets[doc + 1], by_byte, kinds, lower, defer_nonascii, folded, at)
        deferred[doc] = end < 0
        stop = max(end, at)
        folded[stop], stops[i] = 0, stop
    return stop


@_jit
def _fold_group(
    text, offsets, first, by_byte, ranges, kept, kinds, lower, folds, defer_nonascii, folded, stops, deferred
):  # fmt: skip
    """Write some documents from `first` on, words lower-cased and zeros for every other character, a zero after each.

    Each stops at ``stops``, and zeros follow the last. Returns how many there are, the length of all, and whether all
    of it is ASCII. A document that Python has to lower-case is marked in `deferred`, and has nothing written.
    """
    most, n = min(offsets.shape[0] - 1 - first, GROUP_DOCS), 1
    while n < most and offsets[first + n + 1] - offsets[first] <= GROUP_BYTES:
        n += 1
    is_ascii = not _fold_bytes(text, offsets, first, n, by_byte, ranges, folded, stops)
    length = stops[n - 1]
    _end_with_zeros(folded, length)
    if not is_ascii and (defer_nonascii or not _fold_letters(folded, length, kept, folds)):
        length = _fold_one_by_one(
            text, offsets, first, by_byte, kinds, lower, defer_nonascii, folded, n, stops, deferred
        )
        _end_with_zeros(folded, length)
    return n, length, is_ascii


@_jit
def _find_edges(folded, length, edges):
    """Find where runs of non-zero bytes begin and end, in turn; returns how many there are."""
    n, before = _ZERO, _ZERO
    for block in range(0, length + 1, 64):
        bits = mask_at_least(folded, np.uint64(block), np.uint8(1))
        changes = bits ^ ((bits << _ONE) | before)  # set where a byte is not as the one before it
        before = bits >> np.uint64(63)
        while changes != _ZERO:
            edges[n] = block + lowest_bit(changes)
            n += _ONE
            changes &= changes - _ONE
    return np.int64(n)


@_jit
def _hash_bytes(text, start, length, hashing):
    """Hash at least 16 bytes: 16 at a time are multiplied with each other, the last 16 may overlap with those before.

    The first and the last are always taken: most words have no more than 32, so that the loop is guessed right.
    """
    at, last = np.uint64(start), np.uint64(start + length - 16)
    h = multiply_and_fold(
        load_eight(text, at) ^ hashing[3], load_eight(text, at + _EIGHT) ^ hashing[2] ^ np.uint64(length)
    )
    at += _SIXTEEN
    while at < last:
        h = multiply_and_fold(load_eight(text, at) ^ hashing[3], load_eight(text, at + _EIGHT) ^ h)
        at += _SIXTEEN
    return multiply_and_fold(load_eight(text, last) ^ hashing[3], load_eight(text, last + _EIGHT) ^ h)


@_jit
def _is_same_bytes(text, start, other, other_start, length):
    """Compare at least 16 bytes, as `_hash_bytes` takes them."""
    here, there, last = np.uint64(start), np.uint64(other_start), np.uint64(length - 16)
    different = load_eight(text, here) ^ load_eight(other, there)
    different |= load_eight(text, here + _EIGHT) ^ load_eight(other, there + _EIGHT)
    done = _SIXTEEN
    while done < last:
        different |= load_eight(text, here + done) ^ load_eight(other, there + done)
        different |= load_eight(text, here + done + _EIGHT) ^ load_eight(other, there + done + _EIGHT)
        done += _SIXTEEN
    different |= load_eight(text, here + last) ^ load_eight(other, there + last)
    different |= load_eight(text, here + last + _EIGHT) ^ load_eight(other, there + last + _EIGHT)
    return different == _ZERO


@_jit
def _hash_key(low, high, hashing):
    return multiply_and_fold(low ^ hashing[0], high ^ hashing[1])


@_jit
def _make_entry(high, key_hash):
    """Make what a slot has beside the first number of a key; the number of the term is to be added."""
    return (high & TOP_BYTE) | ((key_hash & _HASH_BITS) << _ENTRY_SHIFT)


@_jit
def _number_keys(lows, highs, hashes, n, is_told_by_slot, slots, keys, places, hashing, n_terms, numbers):
    """Assign numbers to words by their keys; returns the number of terms. There must be room for all.

    Nothing else happens here: the loop is tight, the memory of a slot is asked for well before it is read, and the
    processor looks up many words at once. With `is_told_by_slot` a word of up to 8 bytes is known by its slot; without,
    as many words are longer, there is no branch that would be guessed wrong. A new term has no place in the arena.
    """
    mask, shift = np.uint64(slots.shape[0] - 1), hashing[4]
    next_number = np.uint64(n_terms)
    for word in range(np.uint64(n)):
        prefetch(slots, (hashes[word + np.uint64(_AHEAD)] >> shift) << _ONE)
        low, high = lows[word], highs[word]
        at, wanted = (hashes[word] >> shift) << _ONE, _make_entry(high, hashes[word])
        number = next_number
        while True:
            entry = slots[at + _ONE]
            if slots[at] == low and (entry ^ wanted) <= _NUMBER_BITS:
                number = entry & _NUMBER_BITS
                if (is_told_by_slot and (high << np.uint64(8)) == _ZERO) or keys[number + number + _ONE] == high:
                    break
            if entry == _ZERO:
                number = next_number
                slots[at], slots[at + _ONE] = low, wanted | number
                keys[number + number], keys[number + number + _ONE] = low, high
                places[number] = -1
                next_number += _ONE
                break
            at = (at + _TWO) & mask
        numbers[word] = number
    return np.int64(next_number)


@_jit
def _store_long(arena, used, places, number, text, start, length):
    """Store the bytes of a new term behind those of others; returns how many bytes are used then."""
    for i in range(length):
        arena[used + i] = text[start + i]
    places[number] = used
    return used + length


@_jit
def _check_long(
    lows, highs, starts, lengths, longs, n_long, text, slots, keys, arena, places, hashing, n_terms, used, numbers
):
    """Store the bytes of new terms of more than 15 bytes, and compare those of others: their keys are only hashes.

    A word that has the key of another gets a number of its own. Returns the number of terms, and of bytes in the arena.
    """
    for i in range(n_long):
        soon = numbers[longs[min(i + 8, n_long - 1)]]
        prefetch(arena, np.uint64(places[np.uint64(soon)]))
        word = longs[i]
        number, start, length = np.int64(numbers[word]), starts[word], lengths[word]
        if places[number] < 0:
            used = _store_long(arena, used, places, number, text, start, length)
        elif not _is_same_bytes(text, start, arena, places[number], length):
            number = _find_long(
                slots, keys, arena, places, hashing, n_terms, text, start, length, lows[word], highs[word]
            )
            numbers[word] = number
            if number == n_terms:
                n_terms += 1
                used = _store_long(arena, used, places, number, text, start, length)
    return n_terms, used


@_jit
def _find_long(slots, keys, arena, places, hashing, n_terms, text, start, length, low, high):
    """Find the number of a word whose key another word has as well; `n_terms` when it is new."""
    mask, key_hash = np.uint64(slots.shape[0] - 1), _hash_key(low, high, hashing)
    at, wanted = (key_hash >> hashing[4]) << _ONE, _make_entry(high, key_hash)
    while slots[at + _ONE] != _ZERO:
        number = np.int64(slots[at + _ONE] & _NUMBER_BITS)
        if keys[2 * number] == low and keys[2 * number + 1] == high:
            if places[number] >= 0 and _is_same_bytes(text, start, arena, places[number], length):
                return number
        at = (at + _TWO) & mask
    slots[at], slots[at + _ONE] = low, wanted | np.uint64(n_terms)
    keys[2 * n_terms], keys[2 * n_terms + 1] = low, high
    return n_terms


@_jit
def rehash(keys, n_terms, slots, hashing):
    """Put the terms into new slots, in their order: those met early, as frequent ones are, are found first."""
    mask = np.uint64(slots.shape[0] - 1)
    for number in range(np.uint64(n_terms)):
        low, high = keys[number + number], keys[number + number + _ONE]
        key_hash = _hash_key(low, high, hashing)
        at = (key_hash >> hashing[4]) << _ONE
        while slots[at + _ONE] != _ZERO:
            at = (at + _TWO) & mask
        slots[at], slots[at + _ONE] = low, _make_entry(high, key_hash) | number


@_jit
def _count_following(lead):
    """Count the bytes that follow the first of a character."""
    return np.int64(lead >= np.uint64(0xC0)) + np.int64(lead >= np.uint64(0xE0)) + np.int64(lead >= np.uint64(0xF0))


@_jit
def _count_characters(folded, start, length):
    n = 0
    for i in range(start, start + length):
        n += np.int64((folded[i] & 0xC0) != 0x80)
    return n


@_jit
def _make_keys(folded, edges, n_edges, least, is_ascii, hashing, lows, highs, hashes, starts, lengths, longs):
    """Make keys of the words between the edges, but for those that are too short.

    Returns how many there are, how many have more than 8 bytes, and how many more than 15: these are listed in `longs`.
    """
    n, n_wide, n_long = _ZERO, 0, _ZERO
    for edge in range(_ZERO, np.uint64(n_edges), _TWO):
        start = edges[edge]
        length = edges[edge + _ONE] - start
        low = load_eight(folded, np.uint64(start)) & FIRST_BYTES[np.uint64(min(length, 8))]
        high = load_eight(folded, np.uint64(start + 8)) & FIRST_BYTES[np.uint64(max(min(length, 16) - 8, 0))]
        high |= np.uint64(length + 1) << TOP_BYTE_SHIFT
        lows[n], highs[n], hashes[n] = low, high, _hash_key(low, high, hashing)
        starts[n], lengths[n], longs[n_long] = start, length, n  # what does not count is overwritten by the next
        is_term = length >= least
        if not is_ascii:  # of one character or two, the first says how many bytes there are
            is_term = length >= least + (least - 1) * _count_following(low & np.uint64(0xFF))
            if least > 2:
                is_term = _count_characters(folded, start, length) >= least
        n += np.uint64(is_term)
        n_wide += np.int64(length > 8)
        n_long += np.uint64(length > _SHORT_WORD_BYTES and is_term)
    for i in range(n_long):
        word = np.uint64(longs[i])
        low = _hash_bytes(folded, starts[word], lengths[word], hashing)
        high = LONG_MARK | np.uint64(lengths[word])
        lows[word], highs[word], hashes[word] = low, high, _hash_key(low, high, hashing)
    return np.int64(n), n_wide, np.int64(n_long)


@_jit
def _end_documents(numbers, n, n_stop, starts, stops, doc_ends, n_out):
    """Write where the numbers of each document of a group end, without those of stop words; returns the last end."""
    if n_stop == 0:  # the usual case: no number has to be moved
        word = _ZERO
        for doc in range(doc_ends.shape[0] - 1):
            while word < np.uint64(n) and starts[word] < stops[doc]:
                word += _ONE
            doc_ends[doc] = n_out + np.int64(word)
        doc_ends[doc_ends.shape[0] - 1] = n_out + n
        return n_out + n
    kept, word = 0, 0
    for doc in range(doc_ends.shape[0]):
        while word < n and starts[word] < stops[doc]:
            numbers[kept] = numbers[word]  # a stop word is overwritten by the next
            kept += np.int64(numbers[word] >= n_stop)
            word += 1
        doc_ends[doc] = n_out + kept
    return n_out + kept


@_jit
def scan(
    text, offsets, first, by_byte, ranges, kept, kinds, lower, folds, least, n_stop, defer_nonascii,
    slots, keys, arena, places, hashing, n_terms, used,
    folded, stops, edges, lows, highs, hashes, starts, lengths, longs, out, doc_ends, deferred,
):  # fmt: skip
    """Assign numbers to the words of the documents from `first` on, into `out`; each document ends at ``doc_ends``.

    Returns the document before which it stopped for want of room (their number, when done), the number of terms and of
    bytes in the arena, and the number of words for which there was no room. Numbers below `n_stop` are stop words and
    left out. A document with a letter that the tables cannot lower-case, or, with `defer_nonascii`, with any letter
    beyond ASCII, is marked in `deferred` and gets no words.

    Speed comes from what is not there: no branch for each character, and no word that waits for the one before.
    """
    n_docs = offsets.shape[0] - 1
    term_room = min(places.shape[0], slots.shape[0] // 3)  # two thirds of the slots, of two numbers each
    doc, n_out = first, doc_ends[first - 1] if first > 0 else 0
    while doc < n_docs:
        n_group, stop, is_ascii = _fold_group(
            text, offsets, doc, by_byte, ranges, kept, kinds, lower, folds, defer_nonascii, folded, stops, deferred
        )
        n_edges = _find_edges(folded, stop, edges)
        n, n_wide, n_long = _make_keys(
            folded, edges, n_edges, least, is_ascii, hashing, lows, highs, hashes, starts, lengths, longs
        )
        if n_terms + n > term_room or used + stop > arena.shape[0]:
            return doc, n_terms, used, n
        found = out[n_out:]
        n_terms = _number_keys(lows, highs, hashes, n, 3 * n_wide < n, slots, keys, places, hashing, n_terms, found)
        n_terms, used = _check_long(
            lows, highs, starts, lengths, longs, n_long, folded, slots, keys, arena, places, hashing, n_terms, used,
            found,
        )  # fmt: skip
        n_out = _end_documents(found, n, n_stop, starts, stops, doc_ends[doc : doc + n_group], n_out)
        doc += n_group
    return n_docs, n_terms, used, 0


@_jit
def intern(
    text, offsets, slots, keys, arena, places, hashing, n_terms, used, lows, highs, hashes, starts, lengths, longs,
    numbers,
):  # fmt: skip
    """Assign numbers to whole words given as they are, into `numbers`. There must be room for all.

    Returns the number of terms and of bytes in the arena.
    """
    n, n_long = offsets.shape[0] - 1, np.int64(0)
    for word in range(n):
        start, length = offsets[word], offsets[word + 1] - offsets[word]
        low, high = np.uint64(0), np.uint64(length + 1) << TOP_BYTE_SHIFT
        for i in range(min(length, _SHORT_WORD_BYTES)):
            byte = np.uint64(text[start + i]) << np.uint64(8 * (i & 7))
            if i < 8:
                low |= byte
            else:
                high |= byte
        if length > _SHORT_WORD_BYTES:
            low, high = _hash_bytes(text, start, length, hashing), LONG_MARK | np.uint64(length)
            longs[n_long] = word
            n_long += 1
        lows[word], highs[word], hashes[word] = low, high, _hash_key(low, high, hashing)
        starts[word], lengths[word] = start, length
    n_terms = _number_keys(lows, highs, hashes, n, False, slots, keys, places, hashing, n_terms, numbers)
    return _check_long(
        lows, highs, starts, lengths, longs, n_long, text, slots, keys, arena, places, hashing, n_terms, used, numbers
    )


@_jit
def number_keys(lows, highs, slots, keys, places, hashing, n_terms, hashes, numbers):
    """Assign numbers to terms by their keys, into `numbers`; none may have more than 15 bytes. Returns their number.

    There must be room for all.
    """
    n = lows.shape[0]
    for i in range(n):
        hashes[i] = _hash_key(lows[i], highs[i], hashing)
    return _number_keys(lows, highs, hashes, n, True, slots, keys, places, hashing, n_terms, numbers)


@_jit
def make_ngrams(
    words, doc_ends, first, least, most, slots, keys, places, hashing, n_terms, lows, highs, hashes, numbers, out,
    out_ends,
):  # fmt: skip
    """Assign numbers to n-grams of words, `least` to `most` long, into `out`; as many at once as there is room for.

    Returns the document before which it stopped for want of room, and the number of terms: the n-grams that were
    numbered by then are found again.
    """
    room, at_once = min(places.shape[0], slots.shape[0] // 3), lows.shape[0]
    n_out = out_ends[first - 1] if first > 0 else 0
    for doc in range(first, doc_ends.shape[0]):
        stop = doc_ends[doc]
        for start in range(doc_ends[doc - 1] if doc > 0 else 0, stop, at_once):
            if n_terms + min(stop - start, at_once) * (most - 1) > room:
                return doc, n_terms
            for size in range(1, min(most, stop - start) + 1):
                n = min(stop - start - size + 1, at_once)
                if size == 1:
                    for i in range(n):  # slices would take seconds to compile
                        numbers[i] = words[start + i]
                else:
                    for i in range(n):
                        low = (np.uint64(numbers[i]) << np.uint64(32)) | np.uint64(words[start + i + size - 1])
                        lows[i], highs[i], hashes[i] = low, GRAM_MARK, _hash_key(low, GRAM_MARK, hashing)
                    n_terms = _number_keys(lows, highs, hashes, n, True, slots, keys, places, hashing, n_terms, numbers)
                if size >= least:
                    for i in range(n):
                        out[n_out + i] = numbers[i]
                    n_out += n
        out_ends[doc] = n_out
    return doc_ends.shape[0], n_terms


@_jit
def next_break(text, i, stop, kinds):
    """Return the first place from byte `i` on where a character begins that is in no word; `stop` for none."""
    while i < stop and (text[i] & 0xC0) == 0x80:
        i += 1
    while i < stop:
        point, width = (np.int32(text[i]), 1) if text[i] < 0x80 else _read_code_point(text, i)
        if kinds[point] == OTHER:
            return i
        i += width
    return stop

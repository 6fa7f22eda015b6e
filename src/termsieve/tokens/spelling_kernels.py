"""The numba loops from term numbers back to text: terms written out, and sorted. `kernels` has the rules."""

from __future__ import annotations

from typing import Any

import numpy as np

from termsieve._numba import jit, load_eight, store_eight, swap_bytes
from termsieve.tokens.kernels import GRAM_MARK, LONG_MARK, TOP_BYTE, TOP_BYTE_SHIFT

_jit: Any = jit


@_jit
def find_ngram_parts(keys, prefix, last):
    """Find the term that each n-gram continues, -1 for a word, and its last word: a word is its own."""
    for term in range(prefix.shape[0]):
        prefix[term], last[term] = -1, term
        if keys[2 * term + 1] == GRAM_MARK:
            prefix[term] = np.int32(keys[2 * term] >> np.uint64(32))
            last[term] = np.int32(keys[2 * term] & np.uint64(0xFFFFFFFF))


@_jit
def _get_length(keys, word):
    """Return the number of bytes of a word."""
    high = keys[2 * word + 1]
    return np.int64(high & ~TOP_BYTE) if high >= LONG_MARK else np.int64(high >> TOP_BYTE_SHIFT) - 1


@_jit
def compute_term_offsets(keys, prefix, last, terms, offsets):
    """Find where each term ends when all are written out side by side, into ``offsets[1:]``."""
    for item in range(terms.shape[0]):
        length, term = np.int64(-1), np.int64(terms[item])
        while term >= 0:
            length += 1 + _get_length(keys, np.int64(last[term]))
            term = np.int64(prefix[term])
        offsets[item + 1] = offsets[item] + length


@_jit
def write_terms(keys, arena, places, prefix, last, terms, text, offsets):
    """Write out terms, the words of an n-gram with a space between them, to their known offsets.

    `text` has 16 bytes more than needed: a short word is written with what follows it in its key, over which the next
    one is written.
    """
    for item in range(terms.shape[0]):
        end, term = offsets[item + 1], np.int64(terms[item])
        if prefix[term] < 0 and keys[2 * term + 1] < GRAM_MARK:
            store_eight(text, np.uint64(offsets[item]), keys[2 * term])
            store_eight(text, np.uint64(offsets[item] + 8), keys[2 * term + 1])
            continue
        while term >= 0:
            word = np.int64(last[term])
            length, high = _get_length(keys, word), keys[2 * word + 1]
            end -= length
            if high >= LONG_MARK:
                start = places[word]
                for i in range(length):
                    text[end + i] = arena[start + i]
            else:
                for i in range(length):
                    part = keys[2 * word] if i < 8 else high
                    text[end + i] = np.uint8((part >> np.uint64(8 * (i & 7))) & np.uint64(0xFF))
            term = np.int64(prefix[term])
            if term >= 0:
                end -= 1
                text[end] = 0x20


@_jit
def make_sort_keys(keys, arena, places, words, heads, tails):
    """Write down words as two numbers each, which are ordered as the words are.

    Only words of more than 15 bytes can have the same numbers: when their first 15 are the same.
    """
    for item in range(words.shape[0]):
        word = np.int64(words[item])
        low, high = keys[2 * word], keys[2 * word + 1]
        if high >= LONG_MARK:
            start = np.uint64(places[word])
            low = load_eight(arena, start)
            high = load_eight(arena, start + np.uint64(8)) | LONG_MARK
        heads[item], tails[item] = swap_bytes(low), swap_bytes(high)

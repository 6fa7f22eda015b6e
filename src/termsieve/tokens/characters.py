"""What each character is to the scanner, as tables.

Built from Python's own ``re`` and ``str.lower``, so they cannot disagree with them. Nothing here is compiled.
"""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

import numpy as np

from termsieve._types import BoolArray, Int32Array, UInt8Array, UInt32Array, UInt64Array

# What a code point is
OTHER, WORD, DEFER = 0, 1, 2

_MOST_RANGES = 4  # of ASCII letters that `fold_block` takes
LENGTH_CHANGES = np.uint32(0xFFFFFFFF)  # in place of the folded bytes of a letter


class CharacterTables(NamedTuple):
    """What the characters of a text are to the scanner.

    ``bytes`` has the ASCII characters of words, lower-cased, 0 for the others, and bytes beyond ASCII as they are;
    ``ranges`` says the same as numbers for `fold_block`, if it can. ``kept`` has letters that stay as they are, a row
    for each leading byte: the least byte behind it, and the first beyond the largest. ``kinds`` and ``lower`` are
    by code point, and ``folds``: the bytes of the lower-cased letter if they are as many, zero for what is in no word.
    """

    bytes: UInt8Array
    ranges: UInt64Array
    kept: UInt8Array
    kinds: UInt8Array
    lower: Int32Array
    folds: UInt32Array


@functools.cache
def make_character_tables(character_class: str, *, lowercase: bool) -> CharacterTables | None:
    """Return the tables for tokens that are runs of a character class.

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
        kinds[run.start() : run.end()] = WORD
    if kinds[:0x21].any():
        return None
    lower = np.frombuffer(everything.encode("utf-32-le"), dtype="<u4").astype(np.int32)
    by_byte = np.arange(256, dtype=np.uint8)
    by_byte[:128] = np.where(kinds[:128] == WORD, lower[:128], 0)
    if lowercase:
        kinds[[0x130, 0x3A3]] = DEFER
    ranges, folds = _find_ranges(kinds[:128] == WORD, lowercase=lowercase), _make_folds(kinds, lower)
    return CharacterTables(by_byte, ranges, _find_kept(folds), kinds, lower, folds)


def _find_ranges(is_word: BoolArray, *, lowercase: bool) -> UInt64Array:
    """Return the first characters of the ranges, how many more each has, the bit of lower case; whether all fit in."""
    edges = np.flatnonzero(np.diff(is_word, prepend=False, append=False)).tolist()
    lows, widths = [255] * _MOST_RANGES, [0] * _MOST_RANGES  # what is beyond ASCII is kept anyway
    for k, (start, stop) in enumerate(list(zip(edges[::2], edges[1::2], strict=True))[:_MOST_RANGES]):
        lows[k], widths[k] = start, stop - start - 1
    numbers = (int.from_bytes(bytes(part), "little") for part in (lows, widths))
    return np.array([*numbers, 0x20 if lowercase else 0, len(edges) <= 2 * _MOST_RANGES], np.uint64)


def _make_folds(kinds: UInt8Array, lower: Int32Array) -> UInt32Array:
    """Return for each code point beyond ASCII the bytes of its lower case, the first lowest, if they are as many."""
    folds = np.zeros(len(kinds), np.uint32)
    points = 128 + np.flatnonzero(kinds[128:])
    folded = lower[points].astype(np.uint32)
    widths, new_widths = (1 + np.searchsorted([0x80, 0x800, 0x10000], p, side="right") for p in (points, folded))
    tails = [0x80 | ((folded >> 6 * k) & 0x3F) for k in range(4)]
    two = (0xC0 | (folded >> 6)) | (tails[0] << 8)
    three = (0xE0 | (folded >> 12)) | (tails[1] << 8) | (tails[0] << 16)
    four = (0xF0 | (folded >> 18)) | (tails[2] << 8) | (tails[1] << 16) | (tails[0] << 24)
    changes = (widths != new_widths) | (kinds[points] == DEFER)
    folds[points] = np.where(changes, LENGTH_CHANGES, np.choose(widths - 2, [two, three, four]))
    return folds


def _find_kept(folds: UInt32Array) -> UInt8Array:
    """Return the longest range of letters that stay as they are behind each leading byte of two: first, and beyond."""
    kept, seconds = np.zeros((256, 2), np.uint8), np.arange(0x80, 0xC0)
    for lead in range(0xC2, 0xE0):
        stays = folds[((lead & 0x1F) << 6) + (seconds & 0x3F)] == (lead | (seconds << 8))
        edges = np.flatnonzero(np.diff(stays, prepend=False, append=False)).tolist()
        runs = sorted(zip(edges[::2], edges[1::2], strict=True), key=lambda run: run[1] - run[0])
        for first, end in runs[-1:]:
            kept[lead] = 0x80 + first, 0x80 + end
    return kept

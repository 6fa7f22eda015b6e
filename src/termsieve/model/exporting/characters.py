"""Tables of characters: which of them this Python takes for parts of words, and which it knows at all.

Engines have different versions of Unicode. An exported model carries the tables of the Python that trained it, so that
a word is the same everywhere.
"""

from __future__ import annotations

import functools
import re
import sys
import unicodedata
from collections.abc import Callable, Iterable

import numpy as np

from termsieve._types import BoolArray, UInt32Array

_N_CODES = sys.maxunicode + 1
SURROGATES = range(0xD800, 0xE000)
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def encode_ranges(ranges: list[tuple[int, int]]) -> str:
    """Write ranges as base-36 distances, each from the end of the one before.

    >>> encode_ranges([(2, 4), (6, 6)])
    '2 3 1 1'
    """
    distances, end = [], 0
    for first, last in ranges:
        distances += [first - end, last + 1 - first]
        end = last + 1
    return " ".join(map(_to_base_36, distances))


def _to_base_36(number: int) -> str:
    digits = ""
    while True:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
        if not number:
            return digits


def find_ranges(holds: BoolArray) -> list[tuple[int, int]]:
    """Return the ranges of characters of which something holds, given for each code point; surrogates are left out.

    >>> find_ranges(np.isin(np.arange(0x110000), [65, 66, 68]))
    [(65, 66), (68, 68)]
    """
    inside = holds.copy()
    inside[SURROGATES.start : SURROGATES.stop] = False
    edges = np.flatnonzero(np.diff(inside, prepend=False, append=False))
    return [(first, stop - 1) for first, stop in edges.reshape(-1, 2).tolist()]


@functools.cache
def word_characters(character_class: str) -> str:
    r"""Return the characters of a class such as ``\w``, as `encode_ranges` writes them."""
    holds = np.zeros(_N_CODES, np.bool_)
    for run in re.finditer(f"(?:{character_class})+", _all_characters()):
        holds[run.start() : run.end()] = True
    return encode_ranges(find_ranges(holds))


@functools.cache
def known_characters() -> str:
    """Return the characters that have a meaning in this version of Unicode."""
    categories = "".join(map(unicodedata.category, _all_characters())).encode()
    return encode_ranges(find_ranges(np.frombuffer(categories, "S2") != b"Cn"))


@functools.cache
def cased_characters() -> str:
    """Return the characters after which a capital sigma ends a word, as this Python's lower case has it."""
    return encode_ranges(find_ranges(_end_before_sigma("")))


@functools.cache
def ignored_characters() -> str:
    """Return the characters that this Python passes over when it looks whether a capital sigma ends a word."""
    return encode_ranges(find_ranges(_end_before_sigma("a") & ~_end_before_sigma("")))


def _all_codes() -> UInt32Array:
    """Return every code point in its place, that of the space for surrogates."""
    codes = np.arange(_N_CODES, dtype="<u4")
    codes[SURROGATES.start : SURROGATES.stop] = ord(" ")
    return codes


def _all_characters() -> str:
    return _all_codes().tobytes().decode("utf-32-le")


@functools.cache
def _end_before_sigma(before: str) -> BoolArray:
    """Tell for each character whether a capital sigma ends a word that is `before` and the character.

    All are lower-cased in one text: to ask for each of them takes several times as long. Two zeros come behind each
    sigma, and nothing else stands before two zeros; they end the search for letters around it.
    """
    words = np.zeros((_N_CODES, len(before) + 4), "<u4")
    words[:, : len(before)] = list(map(ord, before))
    words[:, -4], words[:, -3] = _all_codes(), ord("\u03a3")
    codes = np.frombuffer(words.tobytes().decode("utf-32-le").lower().encode("utf-32-le"), "<u4")
    sigmas = codes[:-2][(codes[1:-1] | codes[2:]) == 0]
    found: BoolArray = sigmas[sigmas > 0] == ord("\u03c2")
    return found


def join_ranges(ranges: Iterable[tuple[int, int]], form: Callable[[int], str]) -> str:
    """Return ranges as they are written in a regular expression; a form writes one character.

    >>> join_ranges([(97, 122), (95, 95)], chr)
    'a-z_'
    """
    return "".join(form(first) if first == last else f"{form(first)}-{form(last)}" for first, last in ranges)

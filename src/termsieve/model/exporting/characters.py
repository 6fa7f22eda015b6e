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


def find_ranges(holds: Callable[[str], object]) -> list[tuple[int, int]]:
    """Return the ranges of characters of which something holds."""
    ranges: list[tuple[int, int]] = []
    start = None
    for code in range(sys.maxunicode + 2):
        inside = code <= sys.maxunicode and code not in SURROGATES and bool(holds(chr(code)))
        if inside and start is None:
            start = code
        elif not inside and start is not None:
            ranges.append((start, code - 1))
            start = None
    return ranges


@functools.cache
def word_characters(character_class: str) -> str:
    r"""Return the characters of a class such as ``\w``, as `encode_ranges` writes them."""
    return encode_ranges(find_ranges(re.compile(character_class).match))


@functools.cache
def known_characters() -> str:
    """Return the characters that have a meaning in this version of Unicode."""
    return encode_ranges(find_ranges(lambda char: unicodedata.category(char) != "Cn"))


@functools.cache
def cased_characters() -> str:
    """Return the characters after which a capital sigma ends a word, as this Python's lower case has it."""
    return encode_ranges(find_ranges(_ends_before_sigma))


@functools.cache
def ignored_characters() -> str:
    """Return the characters that this Python passes over when it looks whether a capital sigma ends a word."""
    return encode_ranges(find_ranges(lambda char: _ends_before_sigma(f"a{char}") and not _ends_before_sigma(char)))


def _ends_before_sigma(text: str) -> bool:
    return (text + "\u03a3").lower().endswith("\u03c2")


def join_ranges(ranges: Iterable[tuple[int, int]], form: Callable[[int], str]) -> str:
    """Return ranges as they are written in a regular expression; a form writes one character.

    >>> join_ranges([(97, 122), (95, 95)], chr)
    'a-z_'
    """
    return "".join(form(first) if first == last else f"{form(first)}-{form(last)}" for first, last in ranges)

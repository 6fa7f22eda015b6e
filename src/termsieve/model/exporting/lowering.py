"""Lower case, character by character: for languages that cannot be trusted to have Python's.

One character has a lower case of two characters, and the lower case of another depends on its neighbours; all others
are pairs of characters.
"""

from __future__ import annotations

import functools
import sys
from typing import Any

from termsieve.model.exporting.characters import SURROGATES
from termsieve.model.exporting.runtime import decode_ranges

CAPITAL_SIGMA = "\u03a3"  # its lower case depends on its neighbours
LONG_LOWER = {"\u0130": "i\u0307"}  # the one character whose lower case is two


@functools.cache
def list_pairs() -> tuple[tuple[str, str], ...]:
    """Return all characters that have another lower case of one character, with that."""
    every = (chr(code) for code in range(sys.maxunicode + 1) if code not in SURROGATES)
    return tuple(
        (char, low) for char in every if (low := char.lower()) != char and len(low) == 1 and char != CAPITAL_SIGMA
    )


def find_needed_pairs(data: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the pairs without which a text would have other terms of the model.

    These are the pairs of the letters of its terms, and those of which one is a part of words and the other is not.
    """
    needed = set("".join((*data["terms"], *data["analyzer"]["stop_words"])))
    word = find_word_codes(data)
    return [(char, low) for char, low in list_pairs() if low in needed or (ord(char) in word) != (ord(low) in word)]


def find_word_codes(data: dict[str, Any]) -> set[int]:
    """Return the code points of the characters that are parts of words."""
    ranges = decode_ranges(data["analyzer"]["word_characters"])
    return {code for first, last in ranges for code in range(first, last + 1)}

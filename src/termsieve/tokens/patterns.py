"""Token patterns: those that are runs of one class of characters, and those that are trusted.

A pattern can be made to search without end. Of patterns that a file names, only those are used that cannot, and those
that the user has given in this process as well.
"""

from __future__ import annotations

import functools
import re
import sys
from typing import NamedTuple

from termsieve.errors import OptionError
from termsieve.tokens.tokenizers import Unconfirmed

DEFAULT_TOKEN_PATTERN = r"(?u)\b\w\w+\b"  # noqa: S105 - scikit-learn's name and default, not a password

# Patterns that match maximal runs of one character class: \w+, \b\w\w+\b, [a-z]{3,}, ...
_RUN_PATTERN = re.compile(
    r"(?:\(\?u\))?(?P<left>\\b)?(?P<cls>\\[wd]|\[(?:\\.|[^\]\\])+\])"
    r"(?P<more>(?:(?P=cls))*)(?:\+|\{(?P<least>[0-9]{1,9}),\})(?P<right>\\b)?"
)
_LONGEST_SAFE = 200  # characters: a class of thousands of parts takes minutes to look up
_GIVEN: set[str] = set()  # by the user, in this process


class TokenRuns(NamedTuple):
    """Tokens that are maximal runs of one class of characters."""

    character_class: str
    least: int


def register_pattern(pattern: object) -> None:
    """Check a pattern, and remember that the user gave it."""
    if isinstance(pattern, Unconfirmed):
        return
    if not isinstance(pattern, str):
        raise OptionError(f"Analyzer: token_pattern must be a string, not {pattern!r}.")
    try:
        groups = re.compile(pattern).groups
    except (re.error, OverflowError, RecursionError, ValueError) as error:
        raise OptionError(f"Analyzer: token_pattern {pattern!r} is not a regular expression: {error}.") from error
    if groups > 1:
        raise OptionError(
            f"Analyzer: token_pattern {pattern!r} has {groups} groups; it may have one. Write the others as (?:...)."
        )
    _GIVEN.add(pattern)


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Return the pattern, ready to search; what only a file names is refused."""
    if isinstance(pattern, Unconfirmed):
        raise OptionError(
            f"The token pattern {str(pattern)!r} is given by a file, and a pattern can be made to search without end. "
            f"If you trust it, give it yourself first: termsieve.Analyzer(token_pattern={str(pattern)!r})."
        )
    return re.compile(pattern)


def find_pattern(pattern: object) -> object:
    """Return the token pattern of settings: confirmed if the user gave it, too, or if it cannot search for long."""
    if not isinstance(pattern, str) or pattern in _GIVEN or is_safe_pattern(pattern):
        return pattern
    return Unconfirmed(pattern)


def is_safe_pattern(pattern: str) -> bool:
    """Tell whether a pattern matches runs of one class of characters, which takes time in proportion to the text.

    >>> is_safe_pattern(r"[a-z]{3,}"), is_safe_pattern(r"(a+)+$")
    (True, False)
    """
    return len(pattern) <= _LONGEST_SAFE and parse_runs(pattern, 1) is not None


@functools.cache
def parse_runs(pattern: str, min_length: int) -> TokenRuns | None:
    """Return the runs that a pattern matches, the short ones left out; None for a pattern of another kind."""
    match = _RUN_PATTERN.fullmatch(pattern)
    if match is None:
        return None
    character_class, bounded = match["cls"], match["left"] or match["right"]
    if bounded and character_class != r"\w":
        return None  # a word boundary inside a run would cut it
    repeats = len(match["more"]) // len(character_class)
    least = repeats + (1 if match["least"] is None else int(match["least"]))
    # no text is longer than the largest size, and loops take no larger number
    return TokenRuns(character_class, min(max(least, min_length), sys.maxsize)) if least >= 1 else None

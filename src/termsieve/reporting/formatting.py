"""Formatting of text and numbers. Terms, class names and excerpts come from anywhere and are not trusted."""

from __future__ import annotations

import math
import unicodedata

MAX_LENGTH = 60
_JOINERS = "\u200c\u200d"  # parts of words in Persian, Hindi and others


def format_name(text: str, longest: int = MAX_LENGTH) -> str:
    r"""Format a name on one line: shortened, with invisible characters escaped.

    Direction marks would also change the direction of the text around the name.

    >>> format_name("ab\u202ecd"), format_name("x" * 100, longest=5)
    ('ab\\u202ecd', 'xxxx…')
    """
    cut = text if len(text) <= longest else f"{text[: longest - 1]}…"
    return "".join(_escape_invisible(character) for character in cut)


def _escape_invisible(character: str) -> str:
    if character in _JOINERS or character.isprintable() or unicodedata.category(character) == "Zs":
        return character
    return f"\\u{ord(character):04x}"


def keep_percent(sentence: str) -> str:
    r"""Keep each per cent sign on the line of its number.

    >>> keep_percent("2.7 % of all")
    '2.7\xa0% of all'
    """
    return sentence.replace(" %", "\u00a0%")


def format_documents(n: int) -> str:
    """Format a number of documents.

    >>> format_documents(1), format_documents(2000)
    ('1 document', '2,000 documents')
    """
    return f"{n:,} document{'s' * (n != 1)}"


def format_term_count(k: int) -> str:
    """Format a number of terms in few characters.

    >>> format_term_count(500), format_term_count(2000), format_term_count(1500)
    ('500', '2k', '1.5k')
    """
    return str(k) if k < 1000 else f"{k / 1000:g}k"


def format_seconds(value: float) -> str:
    """Format a duration.

    >>> format_seconds(0.0021), format_seconds(0.25), format_seconds(12.3), format_seconds(200)
    ('2.1 ms', '250 ms', '12 s', '200 s')
    """
    if value < 1:
        milliseconds = 1000 * value
        return f"{milliseconds:.1f} ms" if milliseconds < 10 else f"{milliseconds:.0f} ms"
    return f"{value:.1f} s" if value < 10 else f"{value:.0f} s"


def round_for_json(value: float | None, digits: int = 4) -> float | None:
    """Round a number for JSON; None if it is not finite."""
    if value is None or not math.isfinite(value):
        return None
    return float(f"{value:.{digits}g}")

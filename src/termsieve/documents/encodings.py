"""Bytes that are not in the encoding that was asked for: which encodings would fit.

An encoding fits if it can read the bytes, and gives letters where the bytes are not ASCII. What the text should be only
a person can tell, so each is shown with a word as it would be read.
"""

from __future__ import annotations

import codecs
import itertools
import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

# A file may begin with a mark of its encoding. That of UTF-32 begins like one of UTF-16.
MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# By how many documents of the world are in them; of two that read the same letters, only the first is named
CANDIDATES = ("utf-8", "cp1252", "gb18030", "shift_jis", "euc_kr", "big5", "cp1251", "cp1250", "koi8-r", "cp1253",
              "cp1256", "cp1255", "iso8859-15", "cp437", "mac_roman")  # fmt: skip
MAX_NAMED = 4
SAMPLE_BYTES = 1 << 16
_LEAST_SHARE = 0.9  # of the characters beyond ASCII, that have to be letters or marks of writing
_WRITTEN = set(
    "\u2018\u2019\u201c\u201d\u201e\u2013\u2014\u2026\u20ac\u00a3\u00ab\u00bb\u00b0\u00a7\u00bf\u00a1\u3001\u3002\uff0c\u300c\u300d"
)
_SHOWN = re.compile(r"\w{0,12}[^\x00-\x7f]\w{0,12}")


class Fit(NamedTuple):
    """An encoding that fits, and a word as it reads it."""

    encoding: str
    word: str


def find_mark(data: bytes) -> str | None:
    """Return the encoding whose mark the bytes begin with, if it is not UTF-8.

    >>> find_mark("a".encode("utf-16")), find_mark(b"plain")
    ('utf-16', None)
    """
    return next((encoding for mark, encoding in MARKS if data.startswith(mark)), None)


def looks_like_utf16(data: bytes) -> str | None:
    """Return the byte order of text that has the zero bytes of UTF-16, and no mark.

    >>> looks_like_utf16("some plain text".encode("utf-16-le"))
    'utf-16-le'
    """
    head = data[:4096]
    first, second = head[::2].count(0), head[1::2].count(0)
    if len(head) < 4 or (first + second) * 4 < len(head) or max(first, second) < 9 * min(first, second):
        return None
    return "utf-16-le" if second > first else "utf-16-be"


def find_fitting(data: bytes, refused: str) -> list[Fit]:
    """List encodings that fit the bytes, the likeliest first, but not the one that was tried.

    >>> [fit.encoding for fit in find_fitting("Der Bär fährt über die Straße nach Köln.".encode("cp1252"), "utf-8")][0]
    'cp1252'
    """
    marked = find_mark(data) or looks_like_utf16(data)
    names: Iterable[str] = (marked,) if marked else CANDIDATES
    found: dict[str, tuple[float, Fit]] = {}
    for order, name in enumerate(names):
        if codecs.lookup(name).name == codecs.lookup(refused).name:
            continue
        text = _decode(data, name)
        share = 0.0 if text is None else _share_of_letters(text)
        if text is not None and share >= _LEAST_SHARE:
            word = _SHOWN.search(text)
            fit = Fit(name, word[0] if word else text[:20].strip())
            found.setdefault(fit.word, (order + 10 * _share_of_odd_words(text), fit))
    return [fit for _, fit in sorted(found.values())][:MAX_NAMED]


def _decode(data: bytes, encoding: str) -> str | None:
    """Return the bytes as text; the last character may be cut."""
    try:
        return codecs.getincrementaldecoder(encoding)().decode(data, final=False)
    except UnicodeDecodeError:
        return None


def _share_of_letters(text: str) -> float:
    beyond = [char for char in text if not char.isascii()]
    good = sum(char in _WRITTEN or unicodedata.category(char)[0] in "LM" for char in beyond)
    return good / len(beyond) if beyond else 1.0


def _share_of_odd_words(text: str) -> float:
    """Return the share of words as they are seldom written, which tells of a wrong guess."""
    words = re.findall(r"\w*[^\W\x00-\x7f]\w*", text)
    return sum(map(_is_odd, words)) / len(words) if words else 0.0


def _is_odd(word: str) -> bool:
    """Find letters of two scripts in a word, capitals behind small ones, or Latin letters most of them with accents."""
    scripts = {_script(char) for char in word if char.isalpha()}
    accented = scripts == {"LATIN"} and len(word) > 3 and 2 * sum(not char.isascii() for char in word) > len(word)
    return len(scripts) > 1 or accented or _has_late_capital(word)


def _script(char: str) -> str:
    return unicodedata.name(char, "?").partition(" ")[0]


def _has_late_capital(word: str) -> bool:
    return any(before.islower() and char.isupper() for before, char in itertools.pairwise(word))


def describe_fitting(data: bytes, refused: str) -> str:
    """Say which encodings would fit, and how to ask for one."""
    found = find_fitting(data, refused)
    if not found:
        return "None of the usual encodings fits all of it. If you know it, give it with encoding=NAME."
    listed = ", ".join(f"{fit.encoding} ({fit.word!r})" for fit in found)
    fits = "What fits" if len(found) > 1 else "It fits"
    return f"{fits}: {listed}. Read it with encoding={found[0].encoding!r}{', or another of these' * (len(found) > 1)}."

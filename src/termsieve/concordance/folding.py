"""A text as the words of an analyzer are found in it, and where in the text itself each of its characters stands.

Lower case and the removal of accents may make one character two, or none: "İ" in lower case is "i" and a dot above it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from typing import NamedTuple

from termsieve.tokens.analyzer import Analyzer, remove_accents


class FoldedText(NamedTuple):
    """The folded text, the place of each of its characters in the text itself, and that text."""

    folded: str
    places: Sequence[int]
    text: str

    def locate(self, start: int, end: int) -> tuple[int, int]:
        """Return where a part of the folded text stands in the text itself, with the accents of its last letter."""
        if start == end:
            at = self.places[start] if start < len(self.places) else len(self.text)
            return at, at
        after, following = self.places[end - 1] + 1, self.places[end] if end < len(self.places) else len(self.text)
        while after < following and unicodedata.combining(self.text[after]):
            after += 1
        return self.places[start], after

    def change(self, change: Callable[[str], str]) -> FoldedText:
        """Return it with each character changed, to any number of characters."""
        parts = [change(char) for char in self.folded]
        places = [place for place, part in zip(self.places, parts, strict=True) for _ in part]
        return FoldedText("".join(parts), places, self.text)


def fold_text(text: str, analyzer: Analyzer) -> FoldedText:
    r"""Return the text in lower case and without accents, where the analyzer makes it so.

    >>> fold_text("İzmir", Analyzer(strip_accents="unicode")).folded
    'izmir'
    >>> fold_text("re\u0301sume\u0301", Analyzer(strip_accents="unicode")).locate(0, 6)
    (0, 8)
    """
    found = FoldedText(text, range(len(text)), text)
    if analyzer.lowercase:
        lower = text.lower()  # whole: what Σ becomes depends on its neighbours
        same = len(lower) == len(text)
        places = found.places if same else [i for i, char in enumerate(text) for _ in char.lower()]
        found = FoldedText(lower, places, text)
    how = analyzer.strip_accents
    return found if how is None or found.folded.isascii() else found.change(lambda char: remove_accents(char, how))

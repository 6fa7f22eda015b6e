"""The words that stand near a term, in each class: collocates by logDice.

logDice is 14 + log2(2 f(x, y) / (f(x) + f(y))), where f(x, y) is how often y stands within some words of x (Rychlý,
2008). It does not grow with the corpus, so that classes of different sizes can be compared; 14 is the largest.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from termsieve.checks import is_whole_number
from termsieve.concordance.lines import split_term
from termsieve.counts.counting import as_documents
from termsieve.documents import TOKENS, Documents
from termsieve.errors import OptionError
from termsieve.tokens.analyzer import Analyzer, choose_analyzer

WINDOW = 5  # words on each side
ALL_CLASSES = ""


class Collocate(NamedTuple):
    """A word near a term: the class ("" for all documents), logDice, how often it is near, and how often it occurs."""

    label: str
    term: str
    log_dice: float
    near: int
    occurrences: int


class _WordCounts:
    """Occurrences of all words, and of those near the term, in one class."""

    def __init__(self) -> None:
        self.words: Counter[str] = Counter()
        self.near: Counter[str] = Counter()

    def add(self, words: list[str], near: Counter[str]) -> None:
        self.words.update(words)
        self.near.update(near)


def collocates(
    documents: Documents | Sequence[str],
    term: str,
    labels: Sequence[Any] | None = None,
    *,
    n: int = 20,
    window: int = WINDOW,
    min_near: int = 2,
    analyzer: Analyzer | None = None,
) -> list[Collocate]:
    """Find the words that stand near a term, in all documents and in each class.

    Parameters
    ----------
    documents, labels, analyzer
        As for `termsieve.count`.
    term
        One word, as the analyzer makes it.
    n
        Words of each class.
    window
        Words on each side that are near.
    min_near
        Leave out words that are near less often.

    Examples
    --------
    >>> found = collocates(["free call now", "free call today", "lunch now"], "call", ["spam", "spam", "ham"])
    >>> [(one.term, round(one.log_dice, 2), one.near) for one in found if one.label == "spam"]
    [('free', 14.0, 2)]
    """
    for name, value, least in (("n", n, 0), ("window", window, 1), ("min_near", min_near, 1)):
        if not is_whole_number(value, least):
            raise OptionError(f"{name} must be a whole number, {least} or more, not {value!r}.")
    counted: dict[str, _WordCounts] = {ALL_CLASSES: _WordCounts()}
    targets: frozenset[str] = frozenset()
    for words, names, analyzer_ in _iterate_words(as_documents(documents, labels), analyzer):
        targets = targets or _find_targets(term, analyzer_)
        near = _count_near(words, targets, window)
        for name in (ALL_CLASSES, *names):
            counted.setdefault(name, _WordCounts()).add(words, near)
    return [one for name in sorted(counted) for one in _rank(name, counted[name], targets, n, min_near)]


def _find_targets(term: str, analyzer: Analyzer) -> frozenset[str]:
    """Return what the word may be, as `split_term` has it."""
    found = split_term(term, analyzer)
    if len(found[0]) > 1:
        raise OptionError(f"Collocates are of one word; {term!r} is {len(found[0])}.")
    return frozenset(words[0] for words in found if len(words) == 1)


def _iterate_words(
    documents: Documents, given: Analyzer | None
) -> Iterator[tuple[list[str], tuple[str, ...], Analyzer]]:
    for batch in documents.batches():
        texts = batch.column("text")
        analyzer = choose_analyzer(given, tokens=texts.type == TOKENS)
        for text, names in zip(texts.to_pylist(), batch.column("labels").to_pylist(), strict=True):
            words = text if isinstance(text, list) else analyzer.words(analyzer.preprocess(text))
            yield words, tuple(names or ()), analyzer


def _count_near(words: list[str], targets: frozenset[str], window: int) -> Counter[str]:
    """Count the words within the window of some place of a target, each place of a word once."""
    near: set[int] = set()
    for i, word in enumerate(words):
        if word in targets:
            near.update(range(max(i - window, 0), min(i + window + 1, len(words))))
    return Counter(words[i] for i in near if words[i] not in targets)


def _rank(label: str, counts: _WordCounts, targets: frozenset[str], n: int, min_near: int) -> list[Collocate]:
    own = sum(counts.words[target] for target in targets)
    found = [
        Collocate(label, word, 14 + math.log2(2 * near / (own + counts.words[word])), near, counts.words[word])
        for word, near in counts.near.items()
        if near >= min_near
    ]
    return sorted(found, key=lambda one: (-one.log_dice, one.term))[:n]

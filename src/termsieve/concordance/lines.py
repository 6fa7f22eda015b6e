"""Each place of a term in the texts, with what stands before and after it (key word in context).

A term is looked for as the analyzer makes it: "ships" is a place of "ship" where the analyzer stems. Documents that
cannot have it are passed over without being cut into words, so that the first lines come at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from termsieve.checks import is_whole_number
from termsieve.counts.counting import as_documents
from termsieve.documents import TOKENS, Documents
from termsieve.errors import OptionError
from termsieve.tokens.analyzer import Analyzer, choose_analyzer
from termsieve.tokens.markup import strip_markup
from termsieve.tokens.patterns import compile_pattern

WIDTH = 50  # characters on each side
SORTS = ("document", "left", "right")
_SPACES = re.compile(r"\s+")
_WORD = re.compile(r"\w+")


class ConcordanceLine(NamedTuple):
    """A place of a term: the number of the document, its labels, and the text before, at and after the place."""

    document: int
    labels: tuple[str, ...]
    before: str
    match: str
    after: str


class Place(NamedTuple):
    """A word of a text, with the term that the analyzer makes of it."""

    start: int
    end: int
    term: str


def concordance(
    documents: Documents | Sequence[str],
    term: str,
    labels: Sequence[Any] | None = None,
    *,
    label: str | None = None,
    width: int = WIDTH,
    sort: str = "document",
    analyzer: Analyzer | None = None,
) -> Iterator[ConcordanceLine]:
    """Find each place of a term.

    Parameters
    ----------
    documents, labels, analyzer
        As for `termsieve.count`.
    term
        As the analyzer makes it, or as it is written; several words are looked for one after the other.
    label
        Only documents of this class.
    width
        Characters on each side.
    sort
        In the order of the ``"document"`` (then lines come as they are found), or by the next word to the ``"left"`` or
        to the ``"right"``.

    Examples
    --------
    >>> [line.after for line in concordance(["call me, or call now", "no calls"], "call", sort="right")]
    [' me, or call now', ' now']
    """
    if sort not in SORTS:
        raise OptionError(f"sort must be one of {', '.join(map(repr, SORTS))}, not {sort!r}.")
    if not is_whole_number(width, 1):
        raise OptionError(f"width must be a number of characters, 1 or more, not {width!r}.")
    lines = _find_lines(as_documents(documents, labels), term, label, width, analyzer)
    if sort == "document":
        return lines
    return iter(sorted(lines, key=left_key if sort == "left" else right_key))


def left_key(line: ConcordanceLine) -> tuple[bool, list[str], list[str]]:
    """Return what lines are sorted by: the words to the left, nearest first, then those to the right; none last."""
    left, right = _neighbours(line)
    return not left, left, right


def right_key(line: ConcordanceLine) -> tuple[bool, list[str], list[str]]:
    """Return what lines are sorted by: the words to the right, then those to the left, nearest first; none last."""
    left, right = _neighbours(line)
    return not right, right, left


def _neighbours(line: ConcordanceLine) -> tuple[list[str], list[str]]:
    return _WORD.findall(line.before.casefold())[::-1], _WORD.findall(line.after.casefold())


def _find_lines(
    documents: Documents, term: str, label: str | None, width: int, given: Analyzer | None
) -> Iterator[ConcordanceLine]:
    first = 0
    wanted: list[str] | None = None
    for batch in documents.batches():
        texts = batch.column("text")
        analyzer = choose_analyzer(given, tokens=texts.type == TOKENS)
        wanted = split_term(term, analyzer) if wanted is None else wanted
        chosen = _candidates(batch, wanted, label, analyzer)
        for row in chosen:
            text, names = texts[row].as_py(), tuple(batch.column("labels")[row].as_py() or ())
            for start, end, whole in find_places(text, wanted, analyzer):
                yield ConcordanceLine(first + row + 1, names, *_cut(whole, start, end, width))
        first += batch.num_rows


def split_term(term: str, analyzer: Analyzer) -> list[str]:
    """Return the words of a term, as the analyzer makes them.

    >>> split_term("The Ships", Analyzer())
    ['the', 'ships']
    """
    if not isinstance(term, str):
        raise OptionError(f"The term must be a string, not {term!r}.")
    if analyzer.analyzer == "tokens":
        return [term]
    is_word = analyzer.analyzer == "word"
    words = [found.term for found in iterate_words(term, analyzer)] if is_word else [_fold_case(term, analyzer)]
    if not any(words):
        raise OptionError(f"The analyzer makes no word of {term!r}, so no document has it.")
    return words


def iterate_words(text: str, analyzer: Analyzer) -> Iterator[Place]:
    """Yield each word of a text that becomes a term, with its place."""
    if analyzer.segmenter or analyzer.tokenizer:  # their words are looked for one after the other
        at = 0
        for word in analyzer.words(analyzer.preprocess(text)):
            found = text.casefold().find(word.casefold(), at)
            if found >= 0:
                at = found + len(word)
                yield Place(found, at, word)
        return
    for token in compile_pattern(analyzer.token_pattern).finditer(_fold_case(text, analyzer)):
        for term in analyzer.words(analyzer.preprocess(token[0]))[:1]:
            yield Place(token.start(), token.end(), term)


def _fold_case(text: str, analyzer: Analyzer) -> str:
    """Return the text in lower case where the analyzer makes it so; each character stays in its place.

    >>> _fold_case("İzmir", Analyzer())
    'İzmir'
    """
    lower = text.lower() if analyzer.lowercase else text
    if len(lower) == len(text):
        return lower
    return "".join(folded if len(folded := char.lower()) == 1 else char for char in text)


def find_places(document: str | list[str], wanted: Sequence[str], analyzer: Analyzer) -> Iterator[tuple[int, int, str]]:
    """Yield start and end of each place of some words that stand one after the other, and the text they are in.

    That is the text without what the analyzer strips.
    """
    if isinstance(document, list):
        yield from _find_in_tokens(document, wanted)
        return
    if analyzer.strip:
        document, analyzer = strip_markup(document, analyzer.strip), _make_bare(analyzer)
    if analyzer.analyzer != "word":
        folded = _fold_case(document, analyzer)
        yield from ((found.start(), found.end(), document) for found in re.finditer(re.escape(wanted[0]), folded))
        return
    words = list(iterate_words(document, analyzer))
    for i in range(len(words) - len(wanted) + 1):
        if all(words[i + j].term == word for j, word in enumerate(wanted)):
            yield words[i].start, words[i + len(wanted) - 1].end, document


@lru_cache(maxsize=8)
def _make_bare(analyzer: Analyzer) -> Analyzer:
    """Return the analyzer for texts of which it has stripped what is to be stripped."""
    return replace(analyzer, strip=())


def _find_in_tokens(tokens: list[str], wanted: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    whole, target = " ".join(tokens), " ".join(wanted)
    start = 0
    for token in tokens:
        if token == target:
            yield start, start + len(token), whole
        start += len(token) + 1


def _candidates(batch: pa.RecordBatch, wanted: Sequence[str], label: str | None, analyzer: Analyzer) -> list[int]:
    """Return the rows that may have the term: with the label, and with the letters of its words where these stay."""
    keep: Any = pa.array([True] * batch.num_rows)
    if label is not None:
        keep = pa.array([label in (some or ()) for some in batch.column("labels").to_pylist()])
    if _keeps_letters(analyzer) and batch.column("text").type != TOKENS:
        for word in wanted:
            found = pc.match_substring(batch.column("text"), word, ignore_case=analyzer.lowercase)
            keep = pc.and_(keep, found)
    return list(pc.indices_nonzero(keep).to_pylist())


def _keeps_letters(analyzer: Analyzer) -> bool:
    """Tell whether a term stands in the text as it is spelled, but for upper and lower case."""
    changed = analyzer.stemmer or analyzer.tokenizer or analyzer.strip_accents or analyzer.segmenter
    return not (changed or "html" in analyzer.strip)  # which has letters as character references


def _cut(text: str, start: int, end: int, width: int) -> tuple[str, str, str]:
    """Return the text before, at and after a place, on one line."""
    before, after = text[max(start - width, 0) : start], text[end : end + width]
    return tuple(_SPACES.sub(" ", part) for part in (before, text[start:end], after))  # type: ignore[return-value]

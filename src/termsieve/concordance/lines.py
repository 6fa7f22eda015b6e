"""Each place of a term in the texts, with what stands before and after it (key word in context).

A term is looked for as the analyzer makes it: "ships" is a place of "ship" where the analyzer stems. Documents that
cannot have it are passed over without being cut into words, so that the first lines come at once.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from termsieve.checks import is_whole_number
from termsieve.concordance.folding import fold_text
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
    wanted: list[list[str]] | None = None
    for batch in documents.batches():
        texts = batch.column("text")
        analyzer = choose_analyzer(given, tokens=texts.type == TOKENS)
        wanted = split_term(term, analyzer) if wanted is None else wanted
        chosen = _find_candidates(batch, wanted, label, analyzer)
        for row in chosen:
            text, names = texts[row].as_py(), tuple(batch.column("labels")[row].as_py() or ())
            for start, end, whole in find_places(text, wanted, analyzer):
                yield ConcordanceLine(first + row + 1, names, *_cut(whole, start, end, width))
        first += batch.num_rows


def split_term(term: str, analyzer: Analyzer) -> list[list[str]]:
    """Return what a term may be: the words that the analyzer makes of it, and its words as they are, made already.

    A stemmer may cut a stem again: of "deceased" it makes "deceas", and of that "decea".

    >>> split_term("The Ships", Analyzer())
    [['the', 'ships'], ['The', 'Ships']]
    """
    if not isinstance(term, str):
        raise OptionError(f"The term must be a string, not {term!r}.")
    if analyzer.analyzer == "tokens":
        return [[term]]
    is_word = analyzer.analyzer == "word"
    made = [found.term for found in iterate_words(term, analyzer)] if is_word else [fold_text(term, analyzer).folded]
    given = term.split(" ") if is_word else made
    if not any(given) or not (any(made) or analyzer.runs is None):
        raise OptionError(f"The analyzer makes no word of {term!r}, so no document has it.")
    return [words for words in (made, given if given != made else []) if words]


def iterate_words(text: str, analyzer: Analyzer) -> Iterator[Place]:
    """Yield each word of a text that becomes a term, with its place."""
    if analyzer.segmenter or analyzer.tokenizer:
        yield from _look_for_words(text, analyzer)
        return
    folded, pattern = fold_text(text, analyzer), compile_pattern(analyzer.token_pattern)
    for found in pattern.finditer(folded.folded):
        token = found[pattern.groups]  # the group, where there is one
        span = (found.start(), found.start()) if token is None else found.span(pattern.groups)
        for term in analyzer.filter_words([token or ""]):
            yield Place(*folded.locate(*span), term)


def _look_for_words(text: str, analyzer: Analyzer) -> Iterator[Place]:
    """Yield the words that a segmenter or tokenizer has made, as far as they are found one after the other."""
    folded, at = fold_text(text, analyzer).change(str.casefold), 0
    for word in analyzer.words(analyzer.preprocess(text)):
        wanted = word.casefold()
        found = folded.folded.find(wanted, at)
        if found >= 0:
            at = found + len(wanted)
            yield Place(*folded.locate(found, at), word)


def find_places(
    document: str | list[str], wanted: Sequence[Sequence[str]], analyzer: Analyzer
) -> Iterator[tuple[int, int, str]]:
    """Yield start and end of each place of a term (see `split_term`), and the text they are in.

    That is the text without what the analyzer strips.
    """
    if isinstance(document, list):
        yield from _find_in_tokens(document, wanted[0])
        return
    if analyzer.strip:
        document, analyzer = strip_markup(document, analyzer.strip), _make_bare(analyzer)
    if analyzer.analyzer != "word":
        folded = fold_text(document, analyzer)
        for found in re.finditer(re.escape(wanted[0][0]), folded.folded):
            yield *folded.locate(*found.span()), document
        return
    words = list(iterate_words(document, analyzer))
    terms = [word.term for word in words]
    for i, first in enumerate(words):
        same = next((some for some in wanted if terms[i : i + len(some)] == some), None)
        if same is not None:
            yield first.start, words[i + len(same) - 1].end, document


@functools.lru_cache(maxsize=8)
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


def _find_candidates(
    batch: pa.RecordBatch, wanted: Sequence[Sequence[str]], label: str | None, analyzer: Analyzer
) -> list[int]:
    """Return the rows that may have the term: with the label, and with the letters of its words where these stay."""
    keep: Any = pa.array([True] * batch.num_rows)
    if label is not None:
        keep = pa.array([label in (some or ()) for some in batch.column("labels").to_pylist()])
    if _keeps_letters(analyzer) and batch.column("text").type != TOKENS:
        texts, lowercase = batch.column("text"), analyzer.lowercase
        found = functools.reduce(pc.or_, (_match_words(texts, words, ignore_case=lowercase) for words in wanted))
        if lowercase:
            found = pc.or_(found, pc.match_substring(texts, "İ"))  # the one letter that is two in lower case
        keep = pc.and_(keep, found)
    return list(pc.indices_nonzero(keep).to_pylist())


def _match_words(texts: pa.Array, words: Sequence[str], *, ignore_case: bool) -> Any:
    return functools.reduce(pc.and_, (pc.match_substring(texts, word, ignore_case=ignore_case) for word in words))


def _keeps_letters(analyzer: Analyzer) -> bool:
    """Tell whether a term stands in the text as it is spelled, but for upper and lower case."""
    changed = analyzer.stemmer or analyzer.tokenizer or analyzer.strip_accents or analyzer.segmenter
    return not (changed or "html" in analyzer.strip)  # which has letters as character references


def _cut(text: str, start: int, end: int, width: int) -> tuple[str, str, str]:
    """Return the text before, at and after a place, on one line."""
    before, after = text[max(start - width, 0) : start], text[end : end + width]
    return tuple(_SPACES.sub(" ", part) for part in (before, text[start:end], after))  # type: ignore[return-value]

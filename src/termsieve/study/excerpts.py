"""Excerpts: short places in the documents where the telling terms stand, capped in number and length."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from termsieve._types import Int64Array
from termsieve.counts.counting import as_documents
from termsieve.counts.counts import Counts
from termsieve.ranking.ranking import Scores
from termsieve.study.corpus import Corpus
from termsieve.tokens.analyzer import Analyzer

MAX_TERMS = 400
EXCERPTS_PER_TERM = 2
CONTEXT_LENGTH = 64
MAX_CLASSES = 40
_TERMS_PER_CLASS = 30
_MAX_MATCH_LENGTH = 80
# what turns the direction of the text after it: an excerpt ends before its turn does
_DIRECTION_MARKS = re.compile("[\u202a-\u202e\u2066-\u2069]")
_SPACES = re.compile(r"[\s\x00-\x1f\x7f]+")


class Excerpt(NamedTuple):
    """The term as it stands in a document, what is before and after it, and the class of the document."""

    label: str
    before: str
    match: str
    after: str


Excerpts: TypeAlias = Mapping[str, Sequence[Excerpt]]


def largest_classes(counts: Counts, most: int = MAX_CLASSES) -> Int64Array:
    """The places of the largest classes, in the order of the counts."""
    return np.sort(np.argsort(-counts.class_sizes, kind="stable")[:most])


def pick_top_terms(scores: Sequence[Scores], most: int = MAX_TERMS) -> dict[str, str]:
    """The best terms of each class by each score, the first ranks first, and the class that each speaks for.

    >>> import termsieve as ts
    >>> pick_top_terms([ts.score(ts.count(["good film", "bad film"], ["pos", "neg"]), "chi2")])
    {'bad': 'neg', 'good': 'pos'}
    """
    if not scores:
        return {}
    rankings = [one.top_of_class(int(c), _TERMS_PER_CLASS) for c in largest_classes(scores[0].counts) for one in scores]
    found: dict[str, str] = {}
    for rank in range(_TERMS_PER_CLASS):
        for row in (ranking[rank] for ranking in rankings if rank < len(ranking)):
            found.setdefault(row.term, row.label)
    return dict(list(found.items())[:most])


def extract_from_corpus(corpus: Corpus, scores: Sequence[Scores]) -> dict[str, list[Excerpt]]:
    """Excerpts of a corpus in memory, for the telling terms of scores of its counts."""
    wanted = pick_top_terms(scores)
    gathered = ExcerptCollector(wanted, Analyzer.from_settings(corpus.settings))
    places = {str(term): place for place, term in enumerate(corpus.terms.to_pylist()) if term in wanted}
    columns = corpus.X[:, list(places.values())].tocsc()
    members = {c: corpus.Y[:, [corpus.classes.index(c)]].toarray().ravel() > 0 for c in set(wanted.values())}
    for i, term in enumerate(places):
        having = np.sort(columns.indices[columns.indptr[i] : columns.indptr[i + 1]])
        for row in having[members[wanted[term]][having]][: 2 * EXCERPTS_PER_TERM]:
            gathered.add(term, corpus.texts[int(row)].as_py())
    return gathered.found


def extract_from_documents(documents: Any, scores: Sequence[Scores]) -> dict[str, list[Excerpt]]:
    """Excerpts of documents, read until each telling term has its own; texts without labels serve all classes."""
    wanted = pick_top_terms(scores)
    analyzer = scores[0].counts.analyzer if scores else None
    if analyzer is None:
        return {}
    gathered = ExcerptCollector(wanted, analyzer)
    missing = set(wanted)
    for text, labels in _iterate_documents(documents):
        for term in missing.intersection(analyzer(text)):
            if not labels or wanted[term] in labels:
                gathered.add(term, text)
        missing -= {term for term in missing if len(gathered.found.get(term, ())) == EXCERPTS_PER_TERM}
        if not missing:
            break
    return gathered.found


def _iterate_documents(documents: Any) -> Iterator[tuple[str, Collection[str]]]:
    for batch in as_documents(documents, None).batches():
        yield from zip(batch.column("text").to_pylist(), batch.column("labels").to_pylist(), strict=True)


class ExcerptCollector:
    """Excerpts as they are found."""

    def __init__(self, wanted: Mapping[str, str], analyzer: Analyzer) -> None:
        self.found: dict[str, list[Excerpt]] = {}
        self._wanted, self._analyzer = wanted, analyzer

    def add(self, term: str, text: str) -> None:
        """An excerpt of a document for a term, if it can be found there and is still needed."""
        if len(self.found.get(term, ())) == EXCERPTS_PER_TERM:
            return
        span = locate_term(term, text, self._analyzer)
        if span is not None:
            self.found.setdefault(term, []).append(Excerpt(self._wanted[term], *_cut_context(text, *span)))


def locate_term(term: str, text: str, analyzer: Analyzer) -> tuple[int, int] | None:
    """Where a term first stands in a text: as it is written, or as a word that the analyzer makes into it.

    >>> locate_term("ship", "Two Ships, one ship.", Analyzer())
    (15, 19)
    >>> locate_term("ship crew", "The ship's crew", Analyzer(stop_words="smart", ngram_range=(2, 2)))
    (4, 15)
    """
    before, between, after = ("", " ", "")
    if analyzer.analyzer == "word":
        before, between, after = r"(?<!\w)", r"\W+(?:\w{1,6}\W+){0,3}?", r"(?!\w)"
    words = between.join(map(re.escape, term.split()))
    found = re.search(before + words + after, text, re.IGNORECASE) if words else None
    return found.span() if found else _locate_derived(term.split(), text, analyzer)


def _locate_derived(words: Sequence[str], text: str, analyzer: Analyzer) -> tuple[int, int] | None:
    """The first word of the text from which the analyzer makes the first word of the term."""
    if not words or analyzer.analyzer != "word" or analyzer.segmenter or analyzer.tokenizer:
        return None
    for token in re.finditer(r"\w+", text):
        if analyzer.words(analyzer.preprocess(token[0]))[:1] == [words[0]]:
            return token.span()
    return None


def _cut_context(text: str, start: int, end: int) -> tuple[str, str, str]:
    """What is before, in and after a place, cut between words."""
    before, after = text[max(start - CONTEXT_LENGTH, 0) : start], text[end : end + CONTEXT_LENGTH]
    if start > CONTEXT_LENGTH:
        before = "…" + before[before.find(" ") + 1 :]
    if end + CONTEXT_LENGTH < len(text):
        after = after[: after.rfind(" ") if " " in after else CONTEXT_LENGTH] + "…"
    return _clean_text(before), _clean_text(text[start:end][:_MAX_MATCH_LENGTH]), _clean_text(after)


def _clean_text(text: str) -> str:
    return _SPACES.sub(" ", _DIRECTION_MARKS.sub("", text))


def excerpts_to_lists(excerpts: Excerpts) -> dict[str, list[list[str]]]:
    """Excerpts as plain lists, for JSON."""
    return {term: [list(one) for one in found] for term, found in excerpts.items()}


def excerpts_from_lists(data: Mapping[str, Iterable[Sequence[str]]]) -> dict[str, list[Excerpt]]:
    """Excerpts of such lists."""
    return {term: [Excerpt(*one) for one in found] for term, found in data.items()}

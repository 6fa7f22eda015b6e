"""Excerpts: short passages of the documents around the best terms, limited in number and length."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from termsieve._types import Int64Array
from termsieve.counts.counting import as_documents
from termsieve.counts.counts import Counts
from termsieve.ranking.score_values import Scores
from termsieve.study.corpus import Corpus
from termsieve.tokens.analyzer import Analyzer
from termsieve.tokens.markup import strip_markup

MAX_TERMS = 400
EXCERPTS_PER_TERM = 5
OWN_EXCERPTS = 3  # of these, from the class that the term is associated with, where other classes have it, too
CONTEXT_LENGTH = 64
MAX_CLASSES = 40
_TERMS_PER_CLASS = 30
_MAX_MATCH_LENGTH = 80
# they change the direction of all text after them, and an excerpt may be cut before the end mark
_DIRECTION_MARKS = re.compile("[\u202a-\u202e\u2066-\u2069]")
_SPACES = re.compile(r"[\s\x00-\x1f\x7f]+")


class Excerpt(NamedTuple):
    """A term in a document with the text before and after it, and the class of the document."""

    label: str
    before: str
    match: str
    after: str


Excerpts: TypeAlias = Mapping[str, Sequence[Excerpt]]


def largest_classes(counts: Counts, limit: int = MAX_CLASSES) -> Int64Array:
    """Return the indices of the largest classes, in the order of the counts."""
    return np.sort(np.argsort(-counts.class_sizes, kind="stable")[:limit])


def pick_top_terms(scores: Sequence[Scores], limit: int = MAX_TERMS) -> dict[str, str]:
    """Pick the best terms of each class by each score, by rank, with the class that each is associated with.

    >>> import termsieve as ts
    >>> pick_top_terms([ts.score(ts.count(["good film", "bad film"], ["pos", "neg"]), "chi2")])
    {'bad': 'neg', 'good': 'pos'}
    """
    if not scores:
        return {}
    rankings = [one.top_of_class(int(c), _TERMS_PER_CLASS) for c in largest_classes(scores[0].counts) for one in scores]
    terms: dict[str, str] = {}
    for rank in range(_TERMS_PER_CLASS):
        for row in (ranking[rank] for ranking in rankings if rank < len(ranking)):
            terms.setdefault(row.term, row.label)
    return dict(list(terms.items())[:limit])


def extract_from_corpus(corpus: Corpus, scores: Sequence[Scores]) -> dict[str, list[Excerpt]]:
    """Extract excerpts from a corpus in memory, for the best terms of the scores."""
    wanted = pick_top_terms(scores)
    collector = ExcerptCollector(wanted, Analyzer.from_settings(corpus.settings))
    columns_of = {str(term): column for column, term in enumerate(corpus.terms.to_pylist()) if term in wanted}
    columns = corpus.X[:, list(columns_of.values())].tocsc()
    members = {c: corpus.Y[:, [corpus.classes.index(c)]].toarray().ravel() > 0 for c in set(wanted.values())}
    for i, term in enumerate(columns_of):
        having = np.sort(columns.indices[columns.indptr[i] : columns.indptr[i + 1]])
        own = members[wanted[term]][having]
        for row in (*having[own][: 2 * EXCERPTS_PER_TERM], *having[~own][: 4 * EXCERPTS_PER_TERM]):
            labels = [corpus.classes[c] for c in corpus.Y.indices[corpus.Y.indptr[row] : corpus.Y.indptr[row + 1]]]
            collector.add(term, corpus.texts[int(row)].as_py(), labels)
    return collector.excerpts


def extract_from_documents(documents: Any, scores: Sequence[Scores]) -> dict[str, list[Excerpt]]:
    """Extract excerpts from documents, until each term has enough; texts without labels serve all classes."""
    wanted = pick_top_terms(scores)
    analyzer = scores[0].counts.analyzer if scores else None
    if analyzer is None:
        return {}
    collector = ExcerptCollector(wanted, analyzer)
    missing = set(wanted)
    for text, labels in _iterate_documents(documents):
        for term in missing.intersection(analyzer(text)):
            collector.add(term, text, labels)
        missing -= {term for term in missing if collector.has_enough(term)}
        if not missing:
            break
    return collector.excerpts


def _iterate_documents(documents: Any) -> Iterator[tuple[str | list[str], Collection[str]]]:
    for batch in as_documents(documents, None).batches():
        yield from zip(batch.column("text").to_pylist(), batch.column("labels").to_pylist(), strict=True)


class ExcerptCollector:
    """A collector of excerpts: of each term most from the class that it is associated with, some from others."""

    def __init__(self, wanted: Mapping[str, str], analyzer: Analyzer) -> None:
        self._own: dict[str, list[Excerpt]] = {}
        self._others: dict[str, dict[str, Excerpt]] = {}  # one of each other class
        self._wanted, self._analyzer = wanted, analyzer

    def has_enough(self, term: str) -> bool:
        """Tell whether the class of a term alone fills its excerpts."""
        return len(self._own.get(term, ())) == EXCERPTS_PER_TERM

    def add(self, term: str, document: str | list[str], labels: Collection[str]) -> None:
        """Add an excerpt of a document for a term, if the term is found there and still needs one.

        A document without labels serves all classes.
        """
        own = self._wanted[term]
        label = own if not labels or own in labels else min(labels)
        if self._is_full(term, label):
            return
        text = strip_markup(document, self._analyzer.strip) if isinstance(document, str) else " ".join(document)
        span = locate_term(term, text, self._analyzer)
        if span is None:
            return
        excerpt = Excerpt(label, *_cut_context(text, *span))
        if label == own:
            self._own.setdefault(term, []).append(excerpt)
        else:
            self._others.setdefault(term, {})[label] = excerpt

    def _is_full(self, term: str, label: str) -> bool:
        if label == self._wanted[term]:
            return self.has_enough(term)
        others = self._others.get(term, {})
        return label in others or len(others) == EXCERPTS_PER_TERM - OWN_EXCERPTS

    @property
    def excerpts(self) -> dict[str, list[Excerpt]]:
        """The excerpts of each term, those of its own class first."""
        found = {}
        for term in self._wanted:
            others = list(self._others.get(term, {}).values())
            some = [*self._own.get(term, [])[: EXCERPTS_PER_TERM - len(others)], *others]
            if some:
                found[term] = some
        return found


def locate_term(term: str, text: str, analyzer: Analyzer) -> tuple[int, int] | None:
    """Find the first place of a term in a text: as it is spelled, or as a word that the analyzer turns into it.

    >>> locate_term("ship", "Two Ships, one ship.", Analyzer())
    (15, 19)
    >>> locate_term("ship crew", "The ship's crew", Analyzer(stop_words="smart", ngram_range=(2, 2)))
    (4, 15)
    """
    before, between, after = ("", " ", "")
    if analyzer.analyzer == "word":
        before, between, after = r"(?<!\w)", r"\W+(?:\w{1,6}\W+){0,3}?", r"(?!\w)"
    words = between.join(map(re.escape, term.split()))
    match = re.search(before + words + after, text, re.IGNORECASE) if words else None
    return match.span() if match else _locate_derived(term.split(), text, analyzer)


def _locate_derived(words: Sequence[str], text: str, analyzer: Analyzer) -> tuple[int, int] | None:
    """Find the first word of the text that the analyzer turns into the first word of the term."""
    if not words or analyzer.analyzer != "word" or analyzer.segmenter or analyzer.tokenizer:
        return None
    for token in re.finditer(r"\w+", text):
        if analyzer.words(analyzer.preprocess(token[0]))[:1] == [words[0]]:
            return token.span()
    return None


def _cut_context(text: str, start: int, end: int) -> tuple[str, str, str]:
    """Return what is before, in and after a place, cut between words."""
    before, after = text[max(start - CONTEXT_LENGTH, 0) : start], text[end : end + CONTEXT_LENGTH]
    if start > CONTEXT_LENGTH:
        before = "…" + before[before.find(" ") + 1 :]
    if end + CONTEXT_LENGTH < len(text):
        after = after[: after.rfind(" ") if " " in after else CONTEXT_LENGTH] + "…"
    return _clean_text(before), _clean_text(text[start:end][:_MAX_MATCH_LENGTH]), _clean_text(after)


def _clean_text(text: str) -> str:
    return _SPACES.sub(" ", _DIRECTION_MARKS.sub("", text))


def excerpts_to_lists(excerpts: Excerpts) -> dict[str, list[list[str]]]:
    """Return excerpts as plain lists, for JSON."""
    return {term: [list(one) for one in some] for term, some in excerpts.items()}


def excerpts_from_lists(data: Mapping[str, Iterable[Sequence[str]]]) -> dict[str, list[Excerpt]]:
    """Make excerpts from plain lists."""
    return {term: [Excerpt(*one) for one in some] for term, some in data.items()}

"""Representations: other terms than those of the analyzer, which a study tries where they may pay."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pyarrow as pa

from termsieve.documents import TOKENS
from termsieve.study.corpus import Corpus
from termsieve.study.plan import AUTO, GRID, Plan
from termsieve.tokens.analyzer import Analyzer
from termsieve.tokens.boundaries import describe_missing_boundaries

PAIRS = "words and pairs"
CHARACTERS = "characters"
MAX_ENTRIES = 10_000_000  # different words of all documents: beyond, their pairs take too long to be tried unasked
PAIR_KS = (2000, 5000, 10_000, 50_000)  # numbers of words and pairs; words alone were tried with fewer


def name_with_terms(score: str, representation: str) -> str:
    """Return the name of a score on other terms, as it stands in the table of results."""
    return f"{score} on {representation}"


def name_without_terms(name: str) -> str:
    """Return the name of a score without the other terms that it was tried on; names of users stay as they are.

    >>> name_without_terms("chi2 on words and pairs"), name_without_terms("chi2 on rare words")
    ('chi2', 'chi2 on rare words')
    """
    for representation in (PAIRS, CHARACTERS):
        name = name.removesuffix(name_with_terms("", representation))
    return name


@dataclass(frozen=True)
class Representation:
    """Terms of another analyzer: a name, the analyzer, and numbers of terms."""

    name: str
    analyzer: Analyzer
    sizes: tuple[int, ...]


def choose_representation(corpus: Corpus, plan: Plan) -> Representation | None:
    """Return the terms to try beside those of the analyzer, if any pay."""
    if plan.pairs == "no" or (plan.pairs == AUTO and not plan.is_open):
        return None
    analyzer = corpus.analyzer
    if plan.is_open and _lacks_spaces(corpus.texts, analyzer):
        return Representation(CHARACTERS, adapt_analyzer(analyzer, CHARACTERS), (*GRID, *PAIR_KS))
    many = corpus.X.nnz > MAX_ENTRIES and plan.pairs == AUTO
    if analyzer.analyzer not in ("word", "tokens") or analyzer.ngram_range != (1, 1) or many:
        return None
    return Representation(PAIRS, adapt_analyzer(analyzer, PAIRS), PAIR_KS)


def adapt_analyzer(analyzer: Analyzer, name: str) -> Analyzer:
    """Return the analyzer that makes the terms of a representation.

    >>> adapt_analyzer(Analyzer(min_length=3), PAIRS)
    Analyzer(ngram_range=(1, 2), min_length=3)
    """
    kind = "char_wb" if name == CHARACTERS else analyzer.analyzer
    return replace(analyzer, analyzer=kind, ngram_range=(1, 2))


def _lacks_spaces(texts: pa.ChunkedArray, analyzer: Analyzer) -> bool:
    """Tell whether the texts have hardly any word boundaries, and nothing was said about how to find words."""
    if texts.type == TOKENS:
        return False
    return describe_missing_boundaries((text.as_py() for text in texts), analyzer) is not None

"""Representations: other terms than those of the analyzer, which a study tries where they may pay."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from termsieve.study.corpus import Corpus
from termsieve.study.plan import AUTO, Plan
from termsieve.tokens.analyzer import Analyzer

PAIRS = "words and pairs"
CHARACTERS = "characters"
MAX_ENTRIES = 10_000_000  # different words of all documents: beyond, their pairs take too long to be tried unasked
MIN_DF = 2  # a pair in one document only tells nothing, and most are
_SAMPLED = 200  # texts, to find out about word boundaries
_UNSPACED_SHARE = 0.2
# scripts without spaces between words, as ranges of code points: Thai to Myanmar, Khmer, kana, Han
_UNSPACED = ((0x0E00, 0x109F), (0x1780, 0x17FF), (0x3040, 0x30FF), (0x3400, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF))


@dataclass(frozen=True)
class Representation:
    """Terms of another analyzer: a name, the analyzer, and the documents that a term must have."""

    name: str
    analyzer: Analyzer
    min_df: int


def choose_representation(corpus: Corpus, plan: Plan) -> Representation | None:
    """Return the terms to try beside those of the analyzer, if any pay."""
    if plan.pairs == "no" or (plan.pairs == AUTO and not plan.is_open):
        return None
    analyzer = corpus.analyzer
    if analyzer is None:
        return None
    if plan.is_open and lacks_spaces(corpus.texts, analyzer):
        return Representation(CHARACTERS, replace(analyzer, analyzer="char", ngram_range=(1, 2)), _least_df(plan))
    many = corpus.X.nnz > MAX_ENTRIES and plan.pairs == AUTO
    if analyzer.analyzer not in ("word", "tokens") or analyzer.ngram_range != (1, 1) or many:
        return None
    return Representation(PAIRS, replace(analyzer, ngram_range=(1, 2)), _least_df(plan))


def _least_df(plan: Plan) -> Any:
    return max(plan.min_df, MIN_DF) if isinstance(plan.min_df, int) else plan.min_df


def lacks_spaces(texts: pa.ChunkedArray, analyzer: Analyzer) -> bool:
    """Tell whether the texts have hardly any word boundaries, and nothing was said about how to find words.

    >>> lacks_spaces(pa.chunked_array([["\\u4eca\\u5929\\u5929\\u6c14\\u5f88\\u597d"]]), Analyzer())
    True
    """
    if analyzer.analyzer != "word" or analyzer.segmenter or analyzer.tokenizer or not pa.types.is_large_string(texts.type):
        return False
    step = max(len(texts) // _SAMPLED, 1)
    sample = "".join(texts.take(pa.array(range(0, len(texts), step))).to_pylist()[:_SAMPLED])
    points = np.array([ord(one) for one in sample if one.isalpha()], np.int64)
    unspaced = np.zeros(len(points), bool)
    for first, last in _UNSPACED:
        unspaced |= (points >= first) & (points <= last)
    return bool(len(points)) and float(unspaced.mean()) >= _UNSPACED_SHARE

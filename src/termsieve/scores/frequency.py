"""Scores that count how frequent a term is."""

from __future__ import annotations

import numpy as np

from termsieve._types import Array
from termsieve.scores.registry import ClassAggregator, score
from termsieve.table import Table, ratio


@score(
    title="Word frequency",
    source="eyheramendy",
    formula=r"A",
    papers={"GU": "WF, listed only", "PIP": "WF, 3.7"},
    range="[0, N]",
    sided=1,
    aggregation="weighted_mean",
    prefers="Frequent terms, whatever they say about the class.",
    warning="PIP notes that it is not the document frequency of Yang and Pedersen: that is doc_freq.",
    example=dict(tp=30, fp=10, fn=20, tn=140, value=30.0),
)
def word_freq(t: Table) -> Array:
    """Documents of the class that have the term."""
    return t.tp


@score(
    title="Document frequency",
    source="yang1997",
    formula=r"n_t",
    range="[0, N]",
    swap_classes="invariant",
    class_blind=True,
    prefers="Frequent terms; it does not look at the classes.",
    warning="Without a stop list, the first terms are stop words.",
    example=dict(tp=30, fp=10, fn=20, tn=140, value=40.0),
)
def doc_freq(t: Table) -> Array:
    """Documents that have the term."""
    return t.n_t


def _dficf_overall(over: ClassAggregator) -> Array:
    spread = over.sum(lambda t: np.asarray(t.tp > 0, dtype=np.float64))
    n_t = over.max(lambda t: t.n_t)
    return n_t * np.where(spread > 0, np.log(over.n_classes / np.maximum(spread, 1.0)), 0.0)


@score(
    title="Document frequency, inverse class frequency",
    source="liao2012",
    formula=r"n_t \ln \frac{m}{|\{c : A_c > 0\}|}",
    papers={"LP": "DFICF"},
    range="[0, inf)",
    swap_classes="invariant",
    aggregation="global",
    overall=_dficf_overall,
    class_blind=True,
    prefers="Frequent terms of few classes.",
    warning="An assumed form: the paper names DFICF, citing Xu et al. 2007, and the definition was not "
    "found. Terms of all classes tie at 0; with two classes hardly anything else is left.",
    example=dict(tp=30, fp=0, fn=20, tn=150, value=20.7944),
)
def dficf(t: Table) -> Array:
    """Documents that have the term, times the log of how few classes have it."""
    # seen from one class alone there are two: the class and the rest
    spread = np.asarray(t.tp > 0, dtype=np.float64) + (t.fp > 0)
    return t.n_t * np.where(spread > 0, np.log(2.0 / np.maximum(spread, 1.0)), 0.0)


@score(
    title="Deviation from Poisson",
    source="ogura2009",
    formula=r"\sum_{x \in \{A, B, C, D\}} \frac{(x - \hat x)^2}{\hat x},"
    r" \quad \hat A = n_c (1 - e^{-\lambda}),"
    r"\ \hat C = n_c e^{-\lambda}, \ldots, \quad \lambda = \mathrm{tf} / N",
    range="[0, inf]",
    swap_classes="invariant",
    prefers="Terms that come in bursts or with a class: fewer documents have them than their occurrences suggest.",
    infinite="beyond double precision, for terms of several hundred occurrences per document that some documents lack",
    warning="Not 0 for independent terms that come in bursts. Uses occurrences for the rate and documents "
    "for the cells.",
    confidence="formula read in a third-party text",
    example=dict(tp=30, fp=10, fn=20, tn=140, tf_c=45, tf2_c=90, tf_nc=12, tf2_nc=16, value=59.66681),
)
def poisson_deviation(t: Table) -> Array:
    """Chi-square distance of the table from what a Poisson process with one rate for all documents gives."""
    rate = ratio(t.tf_t, t.N, empty=0.0)
    present, absent = -np.expm1(-rate), np.exp(-rate)
    total = np.zeros_like(rate)
    for seen, expected in (
        (t.tp, t.n_c * present),
        (t.fn, t.n_c * absent),
        (t.fp, t.n_nc * present),
        (t.tn, t.n_nc * absent),
    ):
        gap = seen - expected
        total = total + gap * ratio(gap, expected, empty=0.0)
    return total

"""Ratios of odds and of probabilities, and their logarithms."""

from __future__ import annotations

from typing import Literal

import numpy as np

from termsieve._types import Array
from termsieve.scores.numerics import log_quotient
from termsieve.scores.registry import SMOOTHING, score
from termsieve.table import Table, log, ratio, subtract


def _log_odds_ratio(t: Table, smoothing: float) -> Array:
    s = smoothing
    # (A+s)(D+s) - (B+s)(C+s): s s cancels, and delta is exact
    difference = t.delta + s * ((t.tp - t.fp) + (t.tn - t.fn))
    return log_quotient((t.tp + s) * (t.tn + s), (t.fp + s) * (t.fn + s), difference)


@score(
    title="Odds ratio",
    source="eyheramendy",
    formula=r"\frac{(A + s)(D + s)}{(B + s)(C + s)}, \quad s = 0.1",
    papers={"GU": "OR, unsmoothed", "PIP": "OR, 3.6"},
    range="[0, inf]",
    swap_classes="invert",
    negate_term="invert",
    sided=1,
    aggregation="weighted_mean",
    variants=("odds_ratio(smoothing=0)",),
    limits={"smoothing": SMOOTHING},
    prefers="Terms that other classes do not have, even if they are rare.",
    infinite="with smoothing=0, where fp or fn is 0",
    warning="The mean over classes is ruled by the one class with the largest ratio: log_odds_ratio is "
    "tamer. Smoothing moves independent terms off 1.",
    guarded=True,
    example=dict(tp=30, fp=10, fn=20, tn=140, value=20.77243),
)
def odds_ratio(t: Table, *, smoothing: float = 0.1) -> Array:
    """Odds of the term in the class over its odds elsewhere."""
    s = smoothing
    return ratio((t.tp + s) * (t.tn + s), (t.fp + s) * (t.fn + s), empty=0.0)


@score(
    title="Log odds ratio",
    source="mladenic1999",
    formula=r"\ln \frac{(A + s)(D + s)}{(B + s)(C + s)}, \quad s = 0.1",
    papers={"IFS": "OR, eq. 5, unsmoothed"},
    range="[-inf, inf]",
    swap_classes="flip",
    negate_term="flip",
    sided=1,
    variants=("log_odds_ratio(smoothing=0)",),
    limits={"smoothing": SMOOTHING},
    prefers="Terms that other classes do not have, even if they are rare.",
    infinite="with smoothing=0, where a cell is 0",
    warning="Smoothing moves independent terms off 0.",
    guarded=True,
    example=dict(tp=30, fp=10, fn=20, tn=140, value=3.033626),
)
def log_odds_ratio(t: Table, *, smoothing: float = 0.1) -> Array:
    """Natural logarithm of the odds ratio."""
    return _log_odds_ratio(t, smoothing)


@score(
    title="Multi-class odds ratio",
    source="chen2009",
    formula=r"\left| \ln \frac{p (1 - q)}{(1 - p) q} \right|, \quad \text{summed over the classes}",
    range="[0, inf]",
    swap_classes="invariant",
    negate_term="invariant",
    aggregation="sum",
    variants=("mor(smoothing=0)",),
    limits={"smoothing": SMOOTHING},
    prefers="Terms with extreme odds, for or against, in many classes.",
    infinite="with smoothing=0, where a cell is 0",
    warning="0.5 is added to each cell, so independent terms score near 0 rather than 0.",
    confidence="per-class form read in a third-party text, the sum over classes is from memory; the smoothing is ours",
    guarded=True,
    example=dict(tp=30, fp=10, fn=20, tn=140, value=2.991134),
)
def mor(t: Table, *, smoothing: float = 0.5) -> Array:
    """Distance of the odds ratio from 1, on the logarithmic scale."""
    return np.abs(_log_odds_ratio(t, smoothing))


@score(
    title="Class discriminating measure",
    source="chen2009",
    formula=r"\left| \ln \frac{(A + k P(t)) / (n_c + k)}{(B + k P(t)) / (n_{c'} + k)} \right|,"
    r" \quad k = 1",
    papers={"IFS": "CDM, eq. 6, unsmoothed"},
    range="[0, inf]",
    null=0.0,
    swap_classes="invariant",
    aggregation="sum",
    variants=("cdm(prior=0)",),
    limits={"prior": SMOOTHING},
    prefers="Rare terms with very unequal rates, for or against.",
    infinite="with prior=0, for terms that only the class has or only the others have",
    warning="The paper does not smooth. An m-estimate of weight k keeps it finite and leaves independent "
    "terms at 0, which Laplace smoothing does not.",
    guarded=True,
    example=dict(tp=30, fp=10, fn=20, tn=140, value=2.170908),
)
def cdm(t: Table, *, prior: float = 1.0) -> Array:
    """How many times more frequent the term is on one side than on the other, on the logarithmic scale."""
    k = prior
    here, there = (t.tp + k * t.p_t) * (t.n_nc + k), (t.fp + k * t.p_t) * (t.n_c + k)
    difference = t.delta * (1.0 + ratio(2.0 * k, t.N, empty=0.0))
    return np.abs(log_quotient(here, there, difference))


@score(
    title="Odds ratio numerator",
    source="forman2003",
    formula=r"p (1 - q)",
    range="[0, 1]",
    sided=1,
    prefers="Terms frequent in the class; what they do elsewhere counts little while q is small.",
    warning="A term in half of all documents scores 0.25, without saying anything about the class.",
    confidence="formula read in a third-party text on Forman's study",
    example=dict(tp=30, fp=10, fn=20, tn=140, value=0.56),
)
def odds_numerator(t: Table) -> Array:
    """Rate of the term in the class times its absence elsewhere."""
    return t.tpr * ratio(t.tn, t.n_nc, empty=1.0)


@score(
    title="Probability ratio",
    source="forman2003",
    formula=r"\frac{p}{q}",
    range="[0, inf]",
    null=1.0,
    swap_classes="invert",
    sided=1,
    prefers="Terms that other classes do not have: they are all infinite, however rare.",
    infinite="for terms that no other class has",
    warning="All terms of one class only tie at infinity.",
    confidence="formula read in a third-party text on Forman's study; x/0 = inf is ours",
    guarded=True,
    example=dict(tp=30, fp=10, fn=20, tn=140, value=9.0),
)
def prob_ratio(t: Table) -> Array:
    """How many times more frequent the term is in the class than elsewhere."""
    return ratio(t.tp * t.n_nc, t.fp * t.n_c, empty=0.0)


@score(
    title="Relevance frequency",
    source="lan2009",
    formula=r"\log_2 \left( 2 + \frac{A}{\max(1, B)} \right)",
    range="[1, inf)",
    sided=1,
    prefers="Terms with many documents in the class for each document elsewhere.",
    warning="Made as a weight for tf.rf, not as a score; it does not know the sizes of the classes.",
    confidence="read in a third-party implementation with the natural logarithm; base 2 is from memory",
    example=dict(tp=30, fp=10, fn=20, tn=140, value=2.321928),
)
def relevance_freq(t: Table) -> Array:
    """Documents with the term in the class for each one elsewhere, on the logarithmic scale."""
    return np.log2(2.0 + t.tp / np.maximum(1.0, t.fp))


def _distinction(t: Table, smoothing: float) -> Array:
    a, b, c, d = (x + smoothing for x in (t.tp, t.fp, t.fn, t.tn))
    return subtract(ratio(a * a, b * c, empty=0.0), ratio(b * b, a * d, empty=0.0))


@score(
    title="Distinction",
    source="liao2012",
    formula=r"\frac{A^2}{B C} - \frac{B^2}{A D}, \quad \text{0.5 added to each cell}",
    papers={"LP": "dis, distinction, eq. 6-7"},
    range="[-inf, inf]",
    swap_classes="flip",
    sided=1,
    variants=("distinction(smoothing=0)",),
    limits={"smoothing": SMOOTHING},
    prefers="Terms that almost all documents of the class have and almost no others.",
    infinite="with smoothing=0, where a cell is 0",
    warning="Not 0 for independent terms: negative for small classes, positive for large ones. The paper is "
    "silent on zero cells; the 0.5 is a choice that rankings of rare terms depend on.",
    example=dict(tp=30, fp=10, fn=20, tn=140, value=4.295991),
)
def distinction(t: Table, *, smoothing: float = 0.5) -> Array:
    """How much the term marks the class, less how much it marks the rest."""
    return _distinction(t, smoothing)


@score(
    title="Strong class information",
    source="liao2012",
    formula=r"P(t) \left( \frac{A^2}{B C} - \frac{B^2}{A D} \right), \quad \text{0.5 added to each cell}",
    papers={"LP": "def, eq. 8"},
    range="[-inf, inf]",
    swap_classes="flip",
    sided=1,
    variants=("strong_class(smoothing=0)",),
    limits={"smoothing": SMOOTHING},
    prefers="Frequent terms with a high distinction.",
    infinite="with smoothing=0, where a cell is 0",
    warning="As distinction; the frequency also pushes frequent terms of negative distinction further down.",
    example=dict(tp=30, fp=10, fn=20, tn=140, value=0.8591982),
)
def strong_class(t: Table, *, smoothing: float = 0.5) -> Array:
    """Distinction times the frequency of the term."""
    none = t.n_t == 0
    return t.p_t * np.where(none, 0.0, _distinction(t, smoothing))


@score(
    title="Log odds with a Dirichlet prior",
    source="monroe2008",
    formula=r"\frac{\delta}{\sqrt{\frac{1}{y_c + a} + \frac{1}{y_{c'} + a}}}, \quad \delta ="
    r" \ln \frac{y_c + a}{n_c + a_0 - y_c - a}"
    r" - \ln \frac{y_{c'} + a}{n_{c'} + a_0 - y_{c'} - a}, \quad a = w\, y",
    swap_classes="flip",
    sided=1,
    limits={"weight": "[1e-9, 1e9]"},
    variants=('log_odds_dirichlet(prior="flat", weight=0.01)',),
    prefers="Terms used surely more often in the class, counting occurrences rather than documents.",
    warning="Counts occurrences, so one long document can carry a term. The prior of a term is its occurrences in all "
    "classes, `weight` times: with 1 the prior weighs as much as the corpus. With prior='flat' every term has `weight` "
    "occurrences, and terms that only one class has fall far down.",
    confidence="formula from memory; the weight of the informative prior is ours",
    example=dict(
        tp=30,
        fp=10,
        fn=20,
        tn=140,
        tf_c=45,
        tf2_c=90,
        tf_nc=12,
        tf2_nc=16,
        tokens_c=5000,
        tokens_nc=15000,
        n_terms=2000,
        value=4.679767,
    ),
)
def log_odds_dirichlet(t: Table, *, prior: Literal["corpus", "flat"] = "corpus", weight: float = 1.0) -> Array:
    """Difference of the log odds of using the term, in units of its standard error."""
    if prior == "flat":
        of_term, of_others = np.full_like(t.tf_t, weight), np.full_like(t.tf_t, weight * (t.n_terms - 1.0))
    else:
        of_term = weight * t.tf_t
        of_others = weight * np.maximum(t.tokens_c + t.tokens_nc - t.tf_t, 0.0)
    here, there = t.tf_c + of_term, t.tf_nc + of_term
    odds_here = log(ratio(here, np.maximum(t.tokens_c - t.tf_c, 0.0) + of_others, empty=1.0))
    odds_there = log(ratio(there, np.maximum(t.tokens_nc - t.tf_nc, 0.0) + of_others, empty=1.0))
    nowhere = (here == 0) | (there == 0)  # a term that does not occur says nothing
    variance = 1.0 / np.where(nowhere, 1.0, here) + 1.0 / np.where(nowhere, 1.0, there)
    return np.where(nowhere, 0.0, subtract(odds_here, odds_there)) / np.sqrt(variance)

"""Scores of information theory, in nats."""

from __future__ import annotations

import numpy as np

from termsieve._types import Array
from termsieve.scores.numerics import deviance, log_quotient, table_deviance
from termsieve.scores.registry import SMOOTHING, ClassAggregator, score
from termsieve.table import Table, ratio


@score(
    title="Pointwise mutual information",
    source="church1990",
    formula=r"\ln \frac{A N}{n_c\, n_t}, \quad A := 0.5 \text{ at } A = 0",
    papers={"GU": "MI, the ratio without logarithm", "IFS": "MI, eq. 2-3", "LP": "MI, eq. 5"},
    null=0.0,
    sided=1,
    aggregation="weighted_mean",
    variants=("pmi(floor=0)", "pmi(floor=0, log=False)"),
    limits={"floor": SMOOTHING},
    prefers="Rare terms of one class: a term in one single document of the class already has the largest value.",
    infinite="-inf with floor=0, for terms that the class does not have",
    warning="Papers call it mutual information, which also means the average over all cells: that is "
    "info_gain. With floor=0 and the weighted mean, every term that misses one class sinks to -inf.",
    guarded=True,
    example=dict(tp=30, fp=10, fn=20, tn=140, value=1.098612),
)
def pmi(t: Table, *, floor: float = 0.5, log: bool = True) -> Array:
    """How much more often term and class meet than they would by chance."""
    absent = t.tp == 0
    met, expected = np.where(absent, floor, t.tp) * t.N, t.n_c * t.n_t
    if not log:
        return np.where(expected == 0, 0.0, ratio(met, expected, empty=0.0))
    difference = np.where(absent, met - expected, t.delta)
    return np.where(expected == 0, 0.0, log_quotient(met, expected, difference))


@score(
    title="Information gain",
    source="yang1997",
    formula=r"\frac{A}{N} \ln \frac{A N}{n_t n_c} + \frac{C}{N} \ln \frac{C N}{n_{t'} n_c},"
    r" \quad IG(t) = \sum_c IG(t, c)",
    papers={"GU": "IG", "IFS": "IG, eq. 1", "PIP": "IG, 3.3", "LP": "IG, eq. 3a", "OCFS": "IG, 3.1"},
    range="[0, inf)",
    null=0.0,
    negate_term="invariant",
    aggregation="sum",
    single_label=True,
    prefers="Terms that tell most about the class on average: rather frequent ones, for or against.",
    warning="Needs one label per document: only then the class parts add up to the mutual information of "
    "term and class. With several labels take info_gain_binary.",
    example=dict(tp=30, fp=10, fn=20, tn=140, value=0.09547713),
)
def info_gain(t: Table) -> Array:
    """Knowledge of the class gained by looking for the term; the parts of the classes add up to the whole."""
    d = ratio(t.delta, t.N, empty=0.0)
    p_nt = ratio(t.n_nt, t.N, empty=0.0)
    parts = deviance(t.tp, t.n_c * t.p_t, d) + deviance(t.fn, t.n_c * p_nt, -d)
    return ratio(parts, t.N, empty=0.0)


@score(
    title="Information gain, one class against the rest",
    source="yang1997",
    formula=r"\frac{1}{N} \sum_{x \in \{A, B, C, D\}} x \ln \frac{x}{\operatorname{E} x}",
    papers={"GU": "IG (implied by its binary set-up)"},
    range="[0, 0.6931471805599453]",
    null=0.0,
    swap_classes="invariant",
    negate_term="invariant",
    aggregation="weighted_mean",
    prefers="Terms that tell most about membership in the class, for or against: rather frequent ones.",
    warning="Its ranking within one class is that of g_test.",
    example=dict(tp=30, fp=10, fn=20, tn=140, value=0.148452),
)
def info_gain_binary(t: Table) -> Array:
    """Mutual information of presence of the term and membership in the class."""
    gain = ratio(table_deviance(t.tp, t.fp, t.fn, t.tn, t.delta), t.N, empty=0.0)
    return np.minimum(gain, np.log(2.0))


def _entropy_part(n: Array, others: Array, N: Array) -> Array:
    """Return -P ln P of a share P = n / N, where n + others = N."""
    return ratio(n, N, empty=0.0) * np.where(n == 0, 0.0, -log_quotient(np.where(n == 0, 1.0, n), N, -others))


def _term_entropy(t: Table) -> Array:
    """Return the entropy of the term's presence, in nats."""
    return _entropy_part(t.n_t, t.n_nt, t.N) + _entropy_part(t.n_nt, t.n_t, t.N)


def _class_entropy(t: Table) -> Array:
    """Return the part of a class in the entropy of the classes, in nats."""
    return _entropy_part(t.n_c, t.n_nc, t.N)


def _gain_ratio_overall(over: ClassAggregator) -> Array:
    return np.minimum(ratio(over.sum(info_gain), over.max(_term_entropy), empty=0.0), 1.0)


@score(
    title="Gain ratio",
    source="quinlan1993",
    formula=r"\frac{IG(t)}{H(t)}, \quad H(t) = -P(t) \ln P(t) - P(t') \ln P(t')",
    range="[0, 1]",
    null=0.0,
    swap_classes="invariant",
    negate_term="invariant",
    aggregation="global",
    overall=_gain_ratio_overall,
    single_label=True,
    prefers="Terms that tell much about the class for how seldom they are there: rare terms of one class.",
    warning="A term of one document already has the largest value that the class allows: the entropy of so rare a "
    "term is nearly nothing. Over all classes it is the gain of all classes over the entropy of the term, as in Weka.",
    guarded=True,
    confidence="standard definition; that Weka has it so is from memory",
    example=dict(tp=30, fp=10, fn=20, tn=140, value=0.2966652),
)
def gain_ratio(t: Table) -> Array:
    """Information gain as a share of all that the presence of the term could tell."""
    return np.minimum(ratio(info_gain_binary(t), _term_entropy(t), empty=0.0), 1.0)


def _symmetrical_uncertainty_overall(over: ClassAggregator) -> Array:
    entropies = over.max(_term_entropy) + over.sum(_class_entropy)
    return np.minimum(ratio(2.0 * over.sum(info_gain), entropies, empty=0.0), 1.0)


@score(
    title="Symmetrical uncertainty",
    source="yu2004",
    formula=r"\frac{2\, IG(t)}{H(t) + H(c)}",
    range="[0, 1]",
    null=0.0,
    swap_classes="invariant",
    negate_term="invariant",
    aggregation="global",
    overall=_symmetrical_uncertainty_overall,
    single_label=True,
    prefers="Terms that tell much about the class, for how much both could tell: less frequent ones than info_gain.",
    warning="Over all classes it is twice the gain of all classes over both entropies, as in Weka; for one class it is "
    "that of the class against the rest.",
    confidence="standard definition; that Weka has it so is from memory",
    example=dict(tp=30, fp=10, fn=20, tn=140, value=0.2793766),
)
def symmetrical_uncertainty(t: Table) -> Array:
    """Information gain as a share of the mean entropy of term and class."""
    entropies = _term_entropy(t) + (_class_entropy(t) + _entropy_part(t.n_nc, t.n_c, t.N))
    return np.minimum(ratio(2.0 * info_gain_binary(t), entropies, empty=0.0), 1.0)


@score(
    title="Expected cross entropy",
    source="mladenic1999",
    formula=r"P(t)\, P(c \mid t) \ln \frac{P(c \mid t)}{P(c)}, \quad \text{summed over the classes}",
    null=0.0,
    sided=1,
    aggregation="sum",
    prefers="Frequent terms whose documents are spread over the classes unlike all documents.",
    warning="Like information gain without the part of the absent term.",
    confidence="formula read in a third-party implementation",
    example=dict(tp=30, fp=10, fn=20, tn=140, value=0.1647918),
)
def cross_entropy(t: Table) -> Array:
    """Share of information gain that comes from documents with the term."""
    gain = log_quotient(t.tp * t.N, t.n_c * t.n_t, t.delta)
    return ratio(t.tp, t.N, empty=0.0) * np.where(t.tp == 0, 0.0, gain)


@score(
    title="Weight of evidence of text",
    source="mladenic1999",
    formula=r"P(t)\, P(c) \left| \ln \frac{P(c \mid t)(1 - P(c))}{P(c)(1 - P(c \mid t))} \right|,"
    r" \quad \text{summed over the classes}",
    range="[0, inf]",
    aggregation="sum",
    variants=("weight_of_evidence(smoothing=0)",),
    limits={"smoothing": SMOOTHING},
    prefers="Frequent terms that change the odds of large classes, up or down.",
    infinite="with smoothing=0, for terms that only the class has or only the others have",
    warning="0.5 is added to each cell, so independent terms score near 0 rather than 0.",
    confidence="a third-party text has it without the logarithm; the logarithm is from memory; the smoothing is ours",
    example=dict(tp=30, fp=10, fn=20, tn=140, value=0.1102692),
)
def weight_of_evidence(t: Table, *, smoothing: float = 0.5) -> Array:
    """How far the term moves the odds of the class, weighted by the frequencies of both."""
    s = smoothing
    in_class, n_c, n_nc = t.tp + s, t.n_c + 2 * s, t.n_nc + 2 * s
    # (A+s)(n_c'+2s) - (B+s)(n_c+2s), with the large products cancelled beforehand
    difference = t.delta + s * (t.n_nc - t.n_c + 2.0 * (t.tp - t.fp))
    odds = np.abs(log_quotient(in_class * n_nc, (t.fp + s) * n_c, difference))
    n = t.N + 4 * s
    weight = ratio(t.n_t + 2 * s, n, empty=0.0) * ratio(n_c, n, empty=0.0)
    return weight * np.where(weight == 0, 0.0, odds)

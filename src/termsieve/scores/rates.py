"""Scores of the two rates alone: p, how many documents of the class have the term, and q, how many others."""

from __future__ import annotations

import math

import numpy as np

from termsieve._types import Array
from termsieve.scores.registry import SMOOTHING, score
from termsieve.table import Table, ratio


@score(
    title="Bi-normal separation",
    source="forman2003",
    formula=r"\left| \Phi^{-1}(p^*) - \Phi^{-1}(q^*) \right|,"
    r" \quad x^* = \min(\max(x, f), 1 - f),\ f = 0.0005",
    papers={"PIP": "BNS, 3.4"},
    range="[0, inf)",
    null=0.0,
    swap_classes="invariant",
    negate_term="invariant",
    aggregation="weighted_mean",
    variants=("bns(floor=0.001)",),
    limits={"floor": "[1e-12, 0.5)"},
    prefers="Terms near the borders of the rates: rare ones that the other side lacks, or that all of one side have.",
    warning="Rates below the floor count as the floor, which matters in classes of more than 1/floor "
    "documents. PIP prints that the deviate of 0 is set to 0.0005; it is the rate that is.",
    example=dict(tp=30, fp=10, fn=20, tn=140, value=1.75443),
)
def bns(t: Table, *, floor: float = 0.0005) -> Array:
    """Distance between the normal deviates of the two document rates."""
    from scipy.special import ndtri

    def deviate(rate: Array) -> Array:
        return np.asarray(ndtri(np.clip(rate, floor, 1 - floor)))

    return np.abs(deviate(t.tpr) - deviate(t.fpr))


@score(
    title="Informative feature selection",
    source="ghasem2015",
    formula=r"\log_2 \left( 1 + \frac{(p - q)^2}{1 + \min(p, q)} \right)",
    papers={"IFS": "IFS, eq. 7; |p(1-q) - q(1-p)| is |p - q|"},
    range="[0, 1]",
    null=0.0,
    swap_classes="invariant",
    prefers="Terms with very different rates; of two equal differences the one with the rarer term.",
    warning="Knows nothing of class sizes: a class of one document gives its terms nearly 1. The base of "
    "the logarithm is not printed; base 2 gives the range the paper states.",
    example=dict(tp=30, fp=10, fn=20, tn=140, value=0.3410369),
)
def ifs(t: Table) -> Array:
    """Squared difference of the rates, damped where the term is frequent on both sides."""
    inner = np.square(t.lift) / (1.0 + np.minimum(t.tpr, t.fpr))
    return np.minimum(np.log1p(inner) / math.log(2.0), 1.0)


@score(
    title="Accuracy",
    source="forman2003",
    formula=r"A - B",
    swap_classes="flip",
    sided=1,
    prefers="Frequent terms of large classes.",
    warning="In small classes every frequent term is negative: it counts documents, not rates.",
    confidence="from a third-party text, which has (A + D) / N: for given class sizes the same ranking",
    example=dict(tp=30, fp=10, fn=20, tn=140, value=20.0),
)
def accuracy(t: Table) -> Array:
    """Documents won less documents lost by calling all documents with the term members."""
    return t.tp - t.fp


@score(
    title="Balanced accuracy",
    source="forman2003",
    formula=r"|p - q|",
    range="[0, 1]",
    null=0.0,
    swap_classes="invariant",
    negate_term="invariant",
    prefers="Terms with the largest difference of rates: frequent ones.",
    warning="Does not know how many documents a rate rests on.",
    confidence="formula read in a third-party text on Forman's study",
    example=dict(tp=30, fp=10, fn=20, tn=140, value=0.5333333),
)
def balanced_accuracy(t: Table) -> Array:
    """Difference of the two rates, for or against."""
    return np.abs(t.lift)


@score(
    title="F1 measure",
    source="forman2003",
    formula=r"\frac{2 A}{n_c + n_t}",
    range="[0, 1]",
    sided=1,
    prefers="Terms about as frequent as the class, and mostly in it.",
    warning="Not constant for independent terms: frequent terms of large classes score high.",
    confidence="formula read in a third-party text on Forman's study",
    example=dict(tp=30, fp=10, fn=20, tn=140, value=0.6666667),
)
def f1(t: Table) -> Array:
    """F1 of the classifier that looks at this one term."""
    return ratio(2.0 * t.tp, t.n_c + t.n_t, empty=0.0)


@score(
    title="Power",
    source="forman2003",
    formula=r"(1 - q)^k - (1 - p)^k, \quad k = 5",
    range="[-1, 1]",
    null=0.0,
    swap_classes="flip",
    sided=1,
    variants=("power(k=2)",),
    limits={"k": "[1e-6, 1e6]"},
    prefers="Terms of small rates that the class has more often: for large k even rare ones.",
    warning="One-sided: terms that are rarer in the class than elsewhere are negative.",
    confidence="formula read in a third-party text on Forman's study; k = 5 is from memory",
    example=dict(tp=30, fp=10, fn=20, tn=140, value=0.6980056),
)
def power(t: Table, *, k: float = 5.0) -> Array:
    """Chance that k documents from outside all lack the term, less the same for k from the class."""
    return ratio(t.tn, t.n_nc, empty=1.0) ** k - ratio(t.fn, t.n_c, empty=1.0) ** k


@score(
    title="Distinguishing feature selector",
    source="uysal2012",
    formula=r"\frac{P(c \mid t)}{P(t' \mid c) + P(t \mid c') + 1},"
    r" \quad \text{summed over the classes}",
    range="[0, 1]",
    sided=1,
    aggregation="sum",
    prefers="Terms that one class has in most of its documents and the others hardly.",
    warning="Overall values start at 0.5, which also independent terms reach, whatever their frequency.",
    confidence="formula read in three third-party implementations",
    guarded=True,
    example=dict(tp=30, fp=10, fn=20, tn=140, value=0.5113636),
)
def dfs(t: Table) -> Array:
    """Share of the class among documents with the term, less where the class lacks it or others have it."""
    return ratio(t.tp, t.n_t, empty=0.0) / (ratio(t.fn, t.n_c, empty=1.0) + t.fpr + 1.0)


@score(
    title="Gini index of text",
    source="shang2007",
    formula=r"P(t \mid c)^2\, P(c \mid t)^2, \quad \text{summed over the classes}",
    range="[0, 1]",
    sided=1,
    aggregation="sum",
    prefers="Terms that stand in most documents of a class and in few others.",
    warning="Not the Gini impurity of decision trees. Frequent independent terms score well above 0.",
    confidence="formula read in a third-party implementation",
    example=dict(tp=30, fp=10, fn=20, tn=140, value=0.2025),
)
def gini(t: Table) -> Array:
    """Purity of the documents with the term, weighted by how much of the class they cover."""
    return np.square(t.tpr * ratio(t.tp, t.n_t, empty=0.0))


@score(
    title="Comprehensively measure feature selection",
    source="yang2012",
    formula=r"P(t \mid c)\, P(c \mid t)",
    range="[0, 1]",
    sided=1,
    prefers="Terms that stand in most documents of a class and in few others.",
    warning="From documents and unsmoothed; the original is said to count occurrences and to smooth.",
    confidence="product read in a third-party implementation, there times P(c); smoothing from memory, left out",
    example=dict(tp=30, fp=10, fn=20, tn=140, value=0.45),
)
def cmfs(t: Table) -> Array:
    """Recall times precision of the classifier that looks at this one term."""
    return t.tpr * ratio(t.tp, t.n_t, empty=0.0)


def _normalized_difference(t: Table, floor: float) -> Array:
    smaller = np.minimum(t.tpr, t.fpr)
    smaller = np.where(smaller == 0, ratio(floor, t.N, empty=0.0), smaller)
    return ratio(np.abs(t.lift), smaller, empty=0.0)


@score(
    title="Normalized difference measure",
    source="rehman2017",
    formula=r"\frac{|p - q|}{\min(p, q)}, \quad \min := \tfrac{1}{2N} \text{ at } 0",
    range="[0, inf]",
    null=0.0,
    swap_classes="invariant",
    variants=("ndm(floor=0)",),
    limits={"floor": SMOOTHING},
    prefers="Terms that one side lacks nearly or wholly, rare ones included.",
    infinite="with floor=0, for terms that only the class has or only the others have",
    warning="The value of terms that one side lacks is ruled by the floor, which is given in documents of N.",
    confidence="formula read in two third-party texts; the floor is ours",
    example=dict(tp=30, fp=10, fn=20, tn=140, value=8.0),
)
def ndm(t: Table, *, floor: float = 0.5) -> Array:
    """Difference of the rates in units of the smaller one."""
    return _normalized_difference(t, floor)


@score(
    title="Max-min ratio",
    source="rehman2018",
    formula=r"\max(p, q) \frac{|p - q|}{\min(p, q)}, \quad \min := \tfrac{1}{2N} \text{ at } 0",
    range="[0, inf]",
    null=0.0,
    swap_classes="invariant",
    variants=("mmr(floor=0)",),
    limits={"floor": SMOOTHING},
    prefers="As ndm, but frequent terms before rare ones.",
    infinite="with floor=0, for terms that only the class has or only the others have",
    warning="The value of terms that one side lacks is ruled by the floor, which is given in documents of N.",
    confidence="formula read in a third-party text, there with 0.2 for a minimum of 0; the floor is ours",
    example=dict(tp=30, fp=10, fn=20, tn=140, value=4.8),
)
def mmr(t: Table, *, floor: float = 0.5) -> Array:
    """Difference of the rates in units of the smaller one, times the larger one."""
    larger = np.maximum(t.tpr, t.fpr)
    return larger * np.where(larger == 0, 0.0, _normalized_difference(t, floor))

"""Scores that compare the spread between classes with the spread within them."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from termsieve._types import Array
from termsieve.scores.registry import ClassAggregator, score
from termsieve.table import Table, difference_of_products, ratio

FeatureKind: TypeAlias = Literal["tf", "presence"]

_REAL_ROUNDING = 2.0**-44
_ROUNDING_NOTE = " Sums of real weights, as of tf-idf, that agree to 13 digits count as equal: the rest is rounding."


class _Moments(NamedTuple):
    """Sum and sum of squares of a feature, in the class, elsewhere, and of all documents."""

    s_c: Array
    q_c: Array
    s_nc: Array
    q_nc: Array
    s: Array


def _moments(t: Table, on: str) -> _Moments:
    if on == "presence":
        return _Moments(t.tp, t.tp, t.fp, t.fp, t.n_t)
    return _Moments(t.tf_c, t.tf2_c, t.tf_nc, t.tf2_nc, t.tf_t)


def _rounded_difference(a: Array, b: Array, c: Array, d: Array) -> Array:
    """Return a b - c d; where sums of real weights agree to 13 digits that is 0.

    Whole numbers are exact. Sums of real weights carry rounding, and a constant column must come out
    constant.
    """
    exact = difference_of_products(a, b, c, d)
    whole = (np.rint(a) == a) & (np.rint(c) == c) & (np.rint(b) == b)
    rounding = np.abs(exact) <= _REAL_ROUNDING * np.abs(a * b)
    return np.where(~whole & rounding, 0.0, exact)


def _within_squares(n: Array, s: Array, q: Array) -> Array:
    """Sum of squares around the mean of n documents."""
    return ratio(np.maximum(_rounded_difference(n, q, s, s), 0.0), n, empty=0.0)


def _between_squares(t: Table, x: _Moments) -> Array:
    """Sum of squares between the class and the rest."""
    gap = _rounded_difference(x.s_c, t.n_nc, x.s_nc, t.n_c)
    return ratio(ratio(gap, t.n_c * t.n_nc, empty=0.0) * gap, t.N, empty=0.0)


def _class_between_squares(t: Table, x: _Moments) -> Array:
    """Return the share of the class in the sum of squares between all classes."""
    gap = _rounded_difference(x.s_c, t.N, x.s, t.n_c)
    return ratio(ratio(gap, t.N, empty=0.0) * ratio(gap, t.N, empty=0.0), t.n_c, empty=0.0)


@score(
    title="Fisher criterion",
    source="uchyigit",
    formula=r"\frac{(\mu_c - \mu_{c'})^2}{\sigma_c^2 + \sigma_{c'}^2}; \quad"
    r" \text{on presence } \frac{(p - q)^2}{p(1 - p) + q(1 - q)}",
    papers={"GU": "Fisher criterion"},
    range="[0, inf]",
    null=0.0,
    swap_classes="invariant",
    negate_term="invariant",
    variants=('fisher(on="tf")',),
    prefers="Terms with far apart rates that vary little on either side: frequent in nearly all or nearly none.",
    infinite="for a term that is constant on both sides, and not the same",
    warning="Ignores class sizes. Variances are those of the population (ddof 0). Not Fisher's exact test."
    + _ROUNDING_NOTE,
    example=dict(tp=30, fp=10, fn=20, tn=140, value=0.9411765),
)
def fisher(t: Table, *, on: FeatureKind = "presence") -> Array:
    """Squared distance of the means over the sum of the variances."""
    x = _moments(t, on)
    gap = ratio(_rounded_difference(x.s_c, t.n_nc, x.s_nc, t.n_c), t.n_c * t.n_nc, empty=0.0)
    spread = ratio(_within_squares(t.n_c, x.s_c, x.q_c), t.n_c, empty=0.0)
    spread = spread + ratio(_within_squares(t.n_nc, x.s_nc, x.q_nc), t.n_nc, empty=0.0)
    return ratio(gap * gap, spread, empty=0.0)


def _bss_wss_overall(over: ClassAggregator, *, on: FeatureKind = "tf") -> Array:
    def within(t: Table) -> Array:
        x = _moments(t, on)
        return _within_squares(t.n_c, x.s_c, x.q_c)

    between = over.sum(lambda t: _class_between_squares(t, _moments(t, on)))
    return ratio(between, over.sum(within), empty=0.0)


@score(
    title="Between-group to within-group sum of squares",
    source="dudoit2002",
    formula=r"\frac{\sum_k n_k (\mu_k - \mu)^2}{\sum_k \sum_{d \in k} (x_d - \mu_k)^2}",
    papers={"GU": "BSS/WSS"},
    range="[0, inf]",
    null=0.0,
    swap_classes="invariant",
    aggregation="global",
    overall=_bss_wss_overall,
    variants=('bss_wss(on="presence")',),
    prefers="Terms whose number of occurrences is told by the class: as the F of an analysis of variance.",
    infinite="for a term that does not vary within any class but does between them",
    warning="Per class it compares the class with the rest; overall it is the formula over all classes, no aggregate."
    + _ROUNDING_NOTE,
    example=dict(tp=30, fp=10, fn=20, tn=140, tf_c=45, tf2_c=90, tf_nc=12, tf2_nc=16, value=0.3906879),
)
def bss_wss(t: Table, *, on: FeatureKind = "tf") -> Array:
    """Spread of the class means in units of the spread within the classes."""
    x = _moments(t, on)
    within = _within_squares(t.n_c, x.s_c, x.q_c) + _within_squares(t.n_nc, x.s_nc, x.q_nc)
    return ratio(_between_squares(t, x), within, empty=0.0)


def _ocfs_overall(over: ClassAggregator, *, on: FeatureKind = "tf") -> Array:
    return over.sum(lambda t: ratio(_class_between_squares(t, _moments(t, on)), t.N, empty=0.0))


@score(
    title="Orthogonal centroid feature selection",
    source="yan2005",
    formula=r"\sum_j \frac{n_j}{n} (m_j - m)^2",
    papers={"OCFS": "OCFS, section 4"},
    range="[0, inf)",
    null=0.0,
    swap_classes="invariant",
    aggregation="global",
    overall=_ocfs_overall,
    variants=('ocfs(on="presence")',),
    prefers="Terms whose mean weight differs most between classes: frequent ones, whatever their spread within.",
    warning="Depends on the scale of the features; the paper uses tf-idf, which Counts.from_matrix takes. "
    "The scores printed for Iris omit n_j/n, and the fourth should read 1.6121: features 3 and 4 win, not 3 "
    "and 1." + _ROUNDING_NOTE,
    example=dict(tp=30, fp=10, fn=20, tn=140, tf_c=45, tf2_c=90, tf_nc=12, tf2_nc=16, value=0.126075),
)
def ocfs(t: Table, *, on: FeatureKind = "tf") -> Array:
    """Spread of the class means of the feature."""
    return ratio(_between_squares(t, _moments(t, on)), t.N, empty=0.0)


def _variance_of_mean(n: Array, s: Array, q: Array) -> Array:
    """Return the variance of the mean of n documents; one document alone does not tell it, so it is infinite."""
    return np.where(n > 1, ratio(_within_squares(n, s, q), n * (n - 1.0), empty=0.0), np.inf)


@score(
    title="Welch's t of occurrences per document",
    source="paquot2009",
    formula=r"\frac{\mu_c - \mu_{c'}}{\sqrt{s_c^2 / n_c + s_{c'}^2 / n_{c'}}}",
    range="[-inf, inf]",
    null=0.0,
    swap_classes="flip",
    sided=1,
    variants=('welch_t(on="presence")',),
    prefers="Terms whose mean number of occurrences per document is surely higher in the class.",
    infinite="for a term that is constant on both sides, and not the same",
    warning="Linguists take relative frequencies of each document; here it is occurrences, which counts know: the same "
    "for documents of equal length. 0 where a side has one document." + _ROUNDING_NOTE,
    confidence="the statistic is standard; its use for keywords is from memory",
    example=dict(tp=30, fp=10, fn=20, tn=140, tf_c=45, tf2_c=90, tf_nc=12, tf2_nc=16, value=5.675180),
)
def welch_t(t: Table, *, on: FeatureKind = "tf") -> Array:
    """Difference of the mean occurrences per document, in units of its standard error."""
    x = _moments(t, on)
    gap = ratio(_rounded_difference(x.s_c, t.n_nc, x.s_nc, t.n_c), t.n_c * t.n_nc, empty=0.0)
    squared_error = _variance_of_mean(t.n_c, x.s_c, x.q_c) + _variance_of_mean(t.n_nc, x.s_nc, x.q_nc)
    return ratio(gap, np.sqrt(squared_error), empty=0.0)

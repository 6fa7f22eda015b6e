"""Tests of association between a term and a class, and scores built on them."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from termsieve._types import Array
from termsieve.scores.numerics import HALF_LOG_2PI, stirling_remainder, table_deviance
from termsieve.scores.registry import SMOOTHING, score
from termsieve.scores.tail import tail_ratio
from termsieve.table import Table, ratio


def _pvalue_chi2(_: Table, value: Array) -> Array:
    from scipy.special import chdtrc

    return np.asarray(chdtrc(1.0, value))


def _pvalue_ngl(_: Table, value: Array) -> Array:
    from scipy.special import erfc

    return np.asarray(erfc(np.abs(value) / math.sqrt(2.0)))


def _pvalue_gu(t: Table, _: Array) -> Array:
    return _pvalue_ngl(t, _z_statistic(t))


def _pvalue_fisher_exact(_: Table, value: Array) -> Array:
    return np.asarray(np.power(10.0, -value))


def _z_statistic(t: Table) -> Array:
    """Return the pooled two-proportion z, which is also sqrt(N) times Pearson's correlation."""
    spread = np.sqrt(t.n_c * t.n_nc) * np.sqrt(t.n_t * t.n_nt)
    return ratio(np.sqrt(t.N) * t.delta, spread, empty=0.0)


@score(
    title="Chi-square",
    source="yang1997",
    formula=r"\frac{N (AD - BC)^2}{n_c\, n_{c'}\, n_t\, n_{t'}}",
    papers={"GU": "χ²", "IFS": "CHI, eq. 4", "PIP": "χ², 3.5", "LP": "CHI, eq. 4", "OCFS": "CHI, 3.2"},
    range="[0, N]",
    null=0.0,
    swap_classes="invariant",
    negate_term="invariant",
    aggregation="weighted_mean",
    pvalue=_pvalue_chi2,
    prefers="Terms whose presence departs most surely from independence, for or against the class; it grows with N.",
    warning="scikit-learn's chi2 is another statistic: it sums over present cells only and uses term frequencies.",
    example=dict(tp=30, fp=10, fn=20, tn=140, value=66.66667),
)
def chi2(t: Table) -> Array:
    """Pearson's statistic of the 2 x 2 table: how far the cells are from independence."""
    return ratio(t.N * ratio(t.delta, t.n_c * t.n_nc, empty=0.0) * t.delta, t.n_t * t.n_nt, empty=0.0)


@score(
    title="NGL coefficient",
    source="ng1997",
    formula=r"\frac{\sqrt{N}\,(AD - BC)}{\sqrt{n_c\, n_{c'}\, n_t\, n_{t'}}}",
    papers={"GU": "NGL"},
    range="[-sqrt(N), sqrt(N)]",
    null=0.0,
    swap_classes="flip",
    negate_term="flip",
    sided=1,
    pvalue=_pvalue_ngl,
    prefers="The same terms as chi2, but only those more frequent in the class: it is the signed root of chi2.",
    warning="Ranks terms that are rarer in a class than elsewhere last; chi2 ranks them with the more frequent ones.",
    example=dict(tp=30, fp=10, fn=20, tn=140, value=8.164966),
)
def ngl(t: Table) -> Array:
    """Signed square root of chi-square: the correlation of term and class, times the root of N."""
    return _z_statistic(t)


@score(
    title="GSS coefficient",
    source="galavotti2000",
    formula=r"\frac{AD - BC}{N^2}",
    papers={"GU": "GSS, in counts: AD - BC"},
    range="[-0.25, 0.25]",
    null=0.0,
    swap_classes="flip",
    negate_term="flip",
    sided=1,
    variants=('gss(form="counts")',),
    prefers="Frequent terms: it is the covariance of term and class, without any division by their spread.",
    warning="Also called simplified chi-square, but it is not squared.",
    example=dict(tp=30, fp=10, fn=20, tn=140, value=0.1),
)
def gss(t: Table, *, form: Literal["probabilities", "counts"] = "probabilities") -> Array:
    """Covariance of the indicators of term and class."""
    return t.delta if form == "counts" else ratio(ratio(t.delta, t.N, empty=0.0), t.N, empty=0.0)


@score(
    title="G test",
    source="dunning1993",
    formula=r"2 \sum_{x \in \{A, B, C, D\}} x \ln \frac{x}{\operatorname{E} x}",
    range="[0, inf)",
    null=0.0,
    swap_classes="invariant",
    negate_term="invariant",
    pvalue=_pvalue_chi2,
    prefers="Nearly the terms of chi2; it holds better for rare terms.",
    warning="It is 2 N times info_gain_binary, so the ranking within one class is the same.",
    confidence="standard; Dunning's use of it for words is well known",
    example=dict(tp=30, fp=10, fn=20, tn=140, value=59.38079),
)
def g_test(t: Table) -> Array:
    """Log-likelihood ratio of dependence against independence."""
    return 2.0 * table_deviance(t.tp, t.fp, t.fn, t.tn, t.delta)


def _log_factorial_remainder(n: Array) -> Array:
    """Return ln n! - (n ln n - n), which is 0 at 0."""
    some = np.where(n > 0, n, 1.0)
    return np.where(n > 0, 0.5 * np.log(some) + HALF_LOG_2PI + stirling_remainder(some), 0.0)


def _log_hypergeometric(t: Table) -> Array:
    """Return the log probability of exactly this table, given its margins."""
    g = _log_factorial_remainder
    margins = (g(t.n_c) + g(t.n_nc)) + (g(t.n_t) + g(t.n_nt)) - g(t.N)
    cells = (g(t.tp) + g(t.tn)) + (g(t.fp) + g(t.fn))
    return margins - cells - table_deviance(t.tp, t.fp, t.fn, t.tn, t.delta)


@score(
    title="Fisher's exact test",
    source="fisher1922",
    formula=r"-\log_{10} \sum_{a \ge A} \binom{n_c}{a}\binom{n_{c'}}{n_t - a} \Big/ \binom{N}{n_t}",
    range="[0, inf)",
    sided=1,
    pvalue=_pvalue_fisher_exact,
    most_docs=2**40,
    prefers="Terms that stand in the class more often than chance explains, exact for rare terms too.",
    warning="One-sided: a term that is rarer in the class than elsewhere scores about 0. 'fisher' is another score.",
    confidence="standard test; minus the decimal logarithm of its one-sided p-value is our choice of scale",
    example=dict(tp=30, fp=10, fn=20, tn=140, value=13.55031),
)
def fisher_exact(t: Table) -> Array:
    """Minus the decimal logarithm of the probability of so many or more documents by chance."""
    first = _log_hypergeometric(t)
    above, tail = tail_ratio(t.tp, t.n_t, t.n_c, t.N)
    below_sum = np.minimum(np.exp(np.where(above, -np.inf, first)) * tail, 1.0 - 2.0**-53)
    log_p = np.where(above, first + np.log(np.where(above, tail, 1.0)), np.log1p(-below_sum))
    return np.maximum(-log_p / math.log(10.0), 0.0)


@score(
    title="z of counts",
    source="uchyigit",
    formula=r"\frac{A - B}{\sqrt{P(t)(1 - P(t))(1/n_c + 1/n_{c'})}}",
    papers={"GU": "the raw z as printed, before it is weighted"},
    swap_classes="flip",
    sided=1,
    prefers="Frequent terms of large classes: a difference of counts in units of the error of a difference of shares.",
    warning="Not a test statistic: only for classes of equal size it goes with the z of proportions, which is ngl. In "
    "small classes most terms are negative.",
    example=dict(tp=30, fp=10, fn=20, tn=140, value=306.1862),
)
def z_counts(t: Table) -> Array:
    """Difference of the numbers of documents, in units of the error of a difference of shares."""
    varies = (t.n_t > 0) & (t.n_nt > 0)  # a term that all documents have, or none, tells nothing
    n_t, n_nt = (np.where(varies, n, 1.0) for n in (t.n_t, t.n_nt))
    factor = ratio(t.N * t.n_c, n_t, empty=0.0) * ratio(t.n_nc, n_nt, empty=0.0)
    return (t.tp - t.fp) * np.sqrt(np.where(varies, factor, 0.0))


@score(
    title="GU metric",
    source="uchyigit",
    formula=r"|z| \cdot \frac{p}{q}, \quad z = \frac{p - q}{\sqrt{P(t)(1 - P(t))(1/n_c + 1/n_{c'})}}",
    papers={"GU": "GU; z printed with A - B for p - q"},
    range="[0, inf]",
    null=0.0,
    sided=1,
    variants=('gu(z="counts")', "gu(floor=0)"),
    limits={"floor": SMOOTHING},
    pvalue=_pvalue_gu,
    prefers="Terms that are both surely dependent (z) and much more frequent in the class than outside it (p/q).",
    infinite="with floor=0, for terms that no other class has",
    warning="The text of the paper and its printed formula differ: z='counts' is the printed one, which "
    "scores independent terms high when classes are unequal. The p-value is always that of the difference "
    "in proportions.",
    guarded=True,
    example=dict(tp=30, fp=10, fn=20, tn=140, value=73.48469),
)
def gu(t: Table, *, z: Literal["rates", "counts"] = "rates", floor: float = 0.5) -> Array:
    """Two-proportion z, times how much more frequent the term is in the class than outside it."""
    deviate = np.abs(_z_statistic(t) if z == "rates" else z_counts(t))
    contrast = ratio(t.tp * t.n_nc, t.n_c * np.where(t.fp == 0, floor, t.fp), empty=0.0)
    none = (deviate == 0) | (contrast == 0)
    return np.where(none, 0.0, deviate) * np.where(none, 0.0, contrast)

"""Posterior inclusion probabilities: whether a term is worth a parameter per class."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from termsieve._types import Array
from termsieve.scores.numerics import (
    HALF_LOG_2PI,
    deviance,
    log_beta,
    log_gamma_difference,
    log_quotient,
    stirling_remainder,
    table_deviance,
)
from termsieve.scores.registry import score
from termsieve.table import Table, difference_of_products

_POSITIVE_LIMITS = dict.fromkeys(("alpha", "beta", "alpha_class", "beta_class"), "[1e-6, 1e6]")
_BERNOULLI = (
    r"\frac{l_0}{l_0 + l_1}, \quad l_0 = \frac{B(A + a_c, C + b_c)}{B(a_c, b_c)}"
    r" \frac{B(B + a_c, D + b_c)}{B(a_c, b_c)}, \quad l_1 = \frac{B(n_t + a, n_{t'} + b)}{B(a, b)}"
)


def _log_bayes_factor(t: Table, alpha: float, beta: float, alpha_class: float, beta_class: float) -> Array:
    """Return ln(l_0 / l_1).

    Written with log-gammas it is a sum of nine values of size N ln N. Stirling's formula turns their leading
    parts into half the G statistic of the smoothed table, which keeps its digits; what is left is small.
    """
    a, b = alpha_class, beta_class
    tp, fp, fn, tn = t.tp + a, t.fp + a, t.fn + b, t.tn + b
    n_c, n_nc, n_t, n_nt = tp + fn, fp + tn, tp + fp, fn + tn
    n = n_c + n_nc
    delta = t.delta + (b * (t.tp - t.fp) + a * (t.tn - t.fn))
    spread = (tp * tn / (n_c * n_nc)) * (fp * fn / (n_t * n_nt)) * n
    r = stirling_remainder
    rest = (r(tp) + r(fp)) + (r(fn) + r(tn)) - (r(n_c) + r(n_nc)) - (r(n_t) + r(n_nt)) + r(n)
    prior = log_beta(alpha, beta) - 2.0 * log_beta(a, b) + HALF_LOG_2PI
    value = table_deviance(tp, fp, fn, tn, delta) - 0.5 * np.log(spread) + (rest + prior)
    # zero when the pseudo-counts of the classes add up to those of the term, as in the paper
    steps = log_gamma_difference(n_t, alpha - 2 * a) + log_gamma_difference(n_nt, beta - 2 * b)
    return np.asarray(value - steps + log_gamma_difference(n, (alpha - 2 * a) + (beta - 2 * b)))


@score(
    title="Log Bayes factor of inclusion",
    source="eyheramendy",
    formula=r"\ln l_0 - \ln l_1, \quad l_0, l_1 \text{ as in pip}",
    papers={"PIP": "ln(l0/l1), 3.1"},
    swap_classes="invariant",
    aggregation="weighted_mean",
    limits=_POSITIVE_LIMITS,
    prefers="Terms for which two rates explain the documents better than one, for or against the class.",
    warning="The prior mean of presence is 0.71 in the paper, odd for text: constant terms score above many others.",
    example=dict(tp=30, fp=10, fn=20, tn=140, value=25.71056),
)
def pip_log_odds(
    t: Table, *, alpha: float = 0.2, beta: float = 0.08, alpha_class: float = 0.1, beta_class: float = 0.04
) -> Array:
    """Log odds, given the documents, that the term depends on the class."""
    return _log_bayes_factor(t, alpha, beta, alpha_class, beta_class)


@score(
    title="Posterior inclusion probability",
    source="eyheramendy",
    formula=_BERNOULLI,
    papers={"PIP": "PIP, 3.1"},
    range="[0, 1]",
    swap_classes="invariant",
    aggregation="weighted_mean",
    limits=_POSITIVE_LIMITS,
    tie_break=pip_log_odds,
    tie_break_title="log odds",
    prefers="Terms that surely depend on the class; it soon reaches 1, and the log Bayes factor decides further.",
    warning="Constant terms score above many independent ones: remove them first. PIPlf of the paper is "
    "this score after counts.prune(max_tf=...).",
    example=dict(tp=30, fp=10, fn=20, tn=140, value=0.9999999999932),
)
def pip(
    t: Table, *, alpha: float = 0.2, beta: float = 0.08, alpha_class: float = 0.1, beta_class: float = 0.04
) -> Array:
    """Probability, given the documents, that the term depends on the class."""
    from scipy.special import expit

    return np.asarray(expit(_log_bayes_factor(t, alpha, beta, alpha_class, beta_class)))


def _poisson_log_odds(
    t: Table,
    *,
    param: Literal["scale", "rate"] = "scale",
    alpha: float = 0.2,
    beta: float = 0.08,
    alpha_class: float = 0.1,
    beta_class: float = 0.04,
    exponents: Literal["occurrences", "documents"] = "occurrences",
) -> Array:
    """Return ln(l_0 / l_1) for Poisson counts with gamma priors; see `_log_bayes_factor` for the form."""
    a = alpha_class
    rate, rate_c = (beta, beta_class) if param == "rate" else (1.0 / beta, 1.0 / beta_class)
    x, y, z = t.tf_c + a, t.tf_nc + a, t.tf_t + alpha
    n_1, n_2 = t.n_c + rate_c, t.n_nc + rate_c
    both, n = x + y, n_1 + n_2
    gap = difference_of_products(t.tf_c, t.n_nc, t.tf_nc, t.n_c)
    d = (gap + (a * (t.n_nc - t.n_c) + rate_c * (t.tf_c - t.tf_nc))) / n
    fit = deviance(x, both * (n_1 / n), d) + deviance(y, both * (n_2 / n), -d)
    more, longer = 2 * a - alpha, 2 * rate_c - rate
    pooled = both * (np.log1p(-longer / n) - np.log1p(-more / both)) + more * (np.log(z / (t.N + rate)) - 1.0)
    rest = stirling_remainder(x) + stirling_remainder(y) - stirling_remainder(z) + HALF_LOG_2PI
    prior = math.lgamma(alpha) - 2 * math.lgamma(a) + 2 * a * math.log(rate_c) - alpha * math.log(rate)
    log_odds = np.asarray(fit + pooled - 0.5 * np.log(x * y / z) + (rest + prior))
    if exponents == "occurrences":
        return log_odds
    # in print (b / (n b + 1)), which is 1 / (n + rate), is to the power of documents: fewer than occurrences
    whole, here, there = t.N + rate, t.tf_c - t.tp, t.tf_nc - t.fp
    shares = [log_quotient(n, whole, rate_c - rate - rest) for n, rest in ((n_1, t.n_nc), (n_2, t.n_c))]
    return np.asarray(log_odds + (here * shares[0] + there * shares[1]))


@score(
    title="Posterior inclusion probability, Poisson",
    source="eyheramendy",
    formula=r"\frac{l_0}{l_0 + l_1}, \quad l_0 = G(N_{cw}, n_c) G(N_{c' w}, n_{c'}), "
    r"\quad l_1 = G(N_w, n),"
    r" \quad G(N, n) = \frac{\Gamma(N + a)}{\Gamma(a) b^a} \left( \frac{b}{n b + 1} \right)^{N + a}",
    papers={"PIP": "PIPp, 3.2; exponents printed with documents for occurrences"},
    range="[0, 1]",
    swap_classes="invariant",
    aggregation="weighted_mean",
    limits=_POSITIVE_LIMITS,
    shown=("param",),
    variants=('pip_poisson(param="rate")', 'pip_poisson(exponents="documents")'),
    tie_break=_poisson_log_odds,
    tie_break_title="log odds",
    prefers="Terms whose occurrences per document surely differ; with param='scale' frequent terms are held down.",
    warning="The printed formula takes b as a scale, which gives classes and pool different prior means; "
    "param='rate' is the coherent reading and is recommended. The paper gives no values for these priors: "
    "those of pip are assumed. exponents='documents' is the misprint: no marginal likelihood.",
    example=dict(tp=30, fp=10, fn=20, tn=140, tf_c=45, tf2_c=90, tf_nc=12, tf2_nc=16, value=0.9999999473745),
)
def pip_poisson(
    t: Table,
    *,
    param: Literal["scale", "rate"] = "scale",
    alpha: float = 0.2,
    beta: float = 0.08,
    alpha_class: float = 0.1,
    beta_class: float = 0.04,
    exponents: Literal["occurrences", "documents"] = "occurrences",
) -> Array:
    """Probability, given the occurrences, that the term depends on the class."""
    from scipy.special import expit

    log_odds = _poisson_log_odds(
        t, param=param, alpha=alpha, beta=beta, alpha_class=alpha_class, beta_class=beta_class, exponents=exponents
    )
    return np.asarray(expit(log_odds))

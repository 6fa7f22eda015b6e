"""The scores of naive Bayes along a ranking: cumulative sums, and bounds of their rounding errors.

With terms in rank order, T the occurrences of a term in a class and S(k) their sum over the first k:

    multinomial   log P(c) + sum of tf log(T + a) - length log(S(k) + k a), or other denominators: `VocabularyNB`
    Bernoulli     log P(c) + sum over all k of log(1 - theta) + sum over those present of logit theta
    Poisson       log P(c) - sum over all k of lambda + sum of tf log lambda

All are a part that is fixed at k, plus a weight for each occurrence, minus a drift for each occurrence.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.naive_bayes import BernoulliNB, MultinomialNB

from termsieve._types import Array, Int64Array
from termsieve.classify.poisson import PoissonNB, log_prior, poisson_rates
from termsieve.classify.vocabulary_nb import VocabularyNB

_EPS = float(np.finfo(np.float64).eps)


def _rounding_bounds(points: Int64Array) -> Array:
    """Bound the rounding error of a difference of sums of k terms, relative to their size, for both ways to add up."""
    return 4 * _EPS * (points.astype(np.float64) + 16)


class SweepCoefficients(NamedTuple):
    """The coefficients of the classes' scores, as `curve_kernels.sweep` adds them up, and bounds of their errors.

    ``slack`` bounds the rounding error of a difference of scores for each occurrence, ``fixed_slack`` that of its
    fixed part, both of the sweep and of the estimator.
    """

    weights: Array
    fixed: Array
    drift: Array
    slack: Array
    fixed_slack: Array


def can_sweep(model: BaseEstimator) -> bool:
    """Tell whether the sweep supports this model and its parameters."""
    if type(model) not in COEFFICIENTS or not isinstance(model.alpha, int | float) or not 0 < model.alpha < np.inf:
        return False
    if not getattr(model, "force_alpha", True) and model.alpha < 1e-10:
        return False
    if not getattr(model, "absent_terms", True):
        return False
    return type(model) is not BernoulliNB or isinstance(model.binarize, int | float)


def _multinomial_coefficients(
    model: MultinomialNB, counts: Array, sizes: Array, points: Int64Array
) -> SweepCoefficients:
    prior = log_prior(sizes, model.fit_prior, model.class_prior)
    smoothed = counts + model.alpha
    sums = model.denominators(counts) if isinstance(model, VocabularyNB) else np.cumsum(smoothed, axis=1)
    weights, drift = np.log(smoothed), np.log(sums[:, points - 1])
    steps = _rounding_bounds(points)
    fixed = np.tile(prior, (len(points), 1))
    slack = steps * (np.abs(weights).max() + np.abs(drift).max(axis=0) + 1)
    return SweepCoefficients(weights.T, fixed, drift.T, slack, steps * _max_magnitude(prior))


def _bernoulli_coefficients(model: BernoulliNB, counts: Array, sizes: Array, points: Int64Array) -> SweepCoefficients:
    prior = log_prior(sizes, model.fit_prior, model.class_prior)
    present = np.log(counts + model.alpha) - np.log(sizes + 2 * model.alpha).reshape(-1, 1)
    rest = 1 - np.exp(present)
    with np.errstate(divide="ignore", invalid="ignore"):  # a share that rounds to 1 is decided by the estimator
        absent = np.log(rest)
        weights, unsure = present - absent, 4 * _EPS / np.abs(rest)
    steps = _rounding_bounds(points)
    fixed = prior.reshape(-1, 1) + np.cumsum(absent, axis=1)[:, points - 1]
    sums = np.cumsum(np.abs(absent), axis=1)[:, points - 1].max(axis=0)
    slack = steps * np.abs(weights).max() + 2 * unsure.max()
    fixed_slack = steps * (sums + _max_magnitude(prior)) + 2 * np.cumsum(unsure.max(axis=0))[points - 1]
    return SweepCoefficients(weights.T, fixed.T, np.zeros_like(fixed.T), slack, fixed_slack)


def _poisson_coefficients(model: PoissonNB, counts: Array, sizes: Array, points: Int64Array) -> SweepCoefficients:
    prior = log_prior(sizes, model.fit_prior, model.class_prior)
    rate = poisson_rates(counts, sizes, model.alpha, model.beta)
    weights, taken = np.log(rate), np.cumsum(rate, axis=1)[:, points - 1]
    steps = _rounding_bounds(points)
    fixed = (prior.reshape(-1, 1) - taken).T
    slack = steps * (np.abs(weights).max() + 1)
    return SweepCoefficients(
        weights.T, fixed, np.zeros_like(fixed), slack, steps * (taken.max(axis=0) + _max_magnitude(prior))
    )


COEFFICIENTS: dict[type, Callable[..., SweepCoefficients]] = {
    MultinomialNB: _multinomial_coefficients,
    VocabularyNB: _multinomial_coefficients,
    BernoulliNB: _bernoulli_coefficients,
    PoissonNB: _poisson_coefficients,
}


def _max_magnitude(prior: Array) -> float:
    return float(np.abs(prior[np.isfinite(prior)]).max(initial=1.0))

"""Calibration: from the log odds that a classifier gives to probabilities that can be trusted.

A classifier is asked for log odds: one number where there are two classes, else one for each class, against all
others. A monotone curve for each turns them into probabilities: a sigmoid (Platt), or a step-wise linear one (isotonic
regression). Where a document has one of three classes or more, the probabilities are divided by their sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, logit, logsumexp
from sklearn.base import BaseEstimator
from sklearn.isotonic import IsotonicRegression

from termsieve._types import Array, BoolArray

SIGMOID, ISOTONIC = "sigmoid", "isotonic"
METHODS = (SIGMOID, ISOTONIC)
SHARED = "shared sigmoid"  # one for all classes, so that the class with the largest log odds stays the most probable
_MAX_STEPS, _MAX_HALVINGS, _TOLERANCE = 100, 40, 1e-12
_RIDGE = 1e-10  # keeps columns without any variation solvable
_LEAST_LOG = -1e12  # of a joint probability: infinite ones would give no odds


@dataclass(frozen=True)
class Calibration:
    """Monotone curves from log odds to probabilities, one for each problem.

    A problem is a decision between a class and the rest: there is one where a document has one of two classes, else
    one for each class.

    Attributes
    ----------
    method : str
        ``"sigmoid"``: the probability is 1 / (1 + exp(-(slope x + offset))), and a curve is (slope, offset), slope not
        negative. ``"isotonic"``: linear between the points (x, y), a curve is (x, y), both not decreasing, constant
        beyond them.
    curves : tuple of pairs of arrays
    """

    method: str
    curves: tuple[tuple[Array, Array], ...]

    def apply(self, log_odds: Array) -> Array:
        """Return the probability of each problem (documents x problems)."""
        columns = zip(log_odds.T, self.curves, strict=True)
        return np.column_stack([self._apply_one(column, *curve) for column, curve in columns])

    def _apply_one(self, log_odds: Array, first: Array, second: Array) -> Array:
        if self.method == ISOTONIC:
            return np.interp(log_odds, first, second)
        with np.errstate(invalid="ignore"):  # a slope of 0 and infinite odds
            return np.asarray(expit(np.nan_to_num(first * log_odds, nan=0.0, posinf=np.inf, neginf=-np.inf) + second))

    def find_boundary(self, problem: int, threshold: float) -> float:
        """Return the log odds at which the probability passes a threshold; the nearest there are, if nowhere."""
        first, second = self.curves[problem]
        if self.method == SIGMOID:
            slope, offset = float(first), float(second)
            return (float(logit(threshold)) - offset) / slope if slope > 0 else 0.0
        above = int(np.searchsorted(second, threshold, side="right"))
        if above in (0, len(first)):
            return float(first[min(above, len(first) - 1)])
        low, high = second[above - 1], second[above]
        return float(first[above - 1] + (threshold - low) / (high - low) * (first[above] - first[above - 1]))


def fit_calibration(method: str, log_odds: Array, truth: BoolArray) -> Calibration:
    """Fit the curves of a method to log odds of documents that the classifier did not see, and the truth of them."""
    if method == SHARED:
        return Calibration(SIGMOID, (fit_shared_sigmoid(log_odds, truth),) * log_odds.shape[1])
    if method == SIGMOID:
        slopes, offsets = fit_sigmoids(log_odds, truth)
        return Calibration(method, tuple((np.array(a), np.array(b)) for a, b in zip(slopes, offsets, strict=True)))
    return Calibration(method, tuple(_fit_isotonic(x, y) for x, y in zip(log_odds.T, truth.T, strict=True)))


def fit_sigmoids(log_odds: Array, truth: BoolArray) -> tuple[Array, Array]:
    """Return slope and offset of Platt's sigmoid for each problem (columns), all at once.

    The targets are Platt's, as in scikit-learn: (n1 + 1) / (n1 + 2) and 1 / (n0 + 2) for n1 documents with and n0
    without the class. Newton's method with halved steps fits all problems together; scikit-learn fits one by one, which
    for a hundred classes takes longer than all classifiers. Log odds that are not finite are left out: the class was
    missing where the classifier learned. Where larger log odds would make the class less probable, nothing was learned:
    the slope is 0.
    """
    used = np.isfinite(log_odds)
    n = np.maximum(used.sum(axis=0), 1)
    x = np.where(used, log_odds, 0.0)
    center = x.sum(axis=0) / n
    x = np.where(used, x - center, 0.0)
    scale = np.sqrt((x * x).sum(axis=0) / n)
    scale = np.where(scale > 0, scale, 1.0)
    x /= scale
    positive = (truth & used).sum(axis=0)
    negative = used.sum(axis=0) - positive
    targets = np.where(truth, (positive + 1.0) / (positive + 2.0), 1.0 / (negative + 2.0))
    slopes, offsets = _run_newton(x, targets, used.astype(np.float64), np.log((positive + 1.0) / (negative + 1.0)))
    slopes /= scale
    offsets -= slopes * center
    flat = slopes <= 0
    return np.where(flat, 0.0, slopes), np.where(flat, np.log((positive + 1.0) / (negative + 1.0)), offsets)


def fit_shared_sigmoid(log_odds: Array, truth: BoolArray) -> tuple[Array, Array]:
    """Return slope and offset of one sigmoid for all problems; of a single problem, with 0.5 at log odds of 0."""
    if log_odds.shape[1] > 1:
        slopes, offsets = fit_sigmoids(log_odds.reshape(-1, 1), truth.reshape(-1, 1))
        return np.array(slopes[0]), np.array(offsets[0])
    slopes, _ = fit_sigmoids(np.concatenate([log_odds, -log_odds]), np.concatenate([truth, ~truth]))
    return np.array(slopes[0]), np.array(0.0)


def _run_newton(x: Array, targets: Array, weights: Array, offsets: Array) -> tuple[Array, Array]:
    """Minimize the logistic loss of each column."""

    def find_loss(slopes: Array, offsets: Array) -> Array:
        z = slopes * x + offsets
        return np.asarray((weights * (np.logaddexp(0.0, z) - targets * z)).sum(axis=0))

    slopes = np.zeros(x.shape[1])
    loss = find_loss(slopes, offsets)
    for _ in range(_MAX_STEPS):
        chance = expit(slopes * x + offsets)
        error, curvature = weights * (chance - targets), weights * chance * (1.0 - chance)
        down = np.array([(error * x).sum(axis=0), error.sum(axis=0)])
        aa, ab, bb = (curvature * x * x).sum(axis=0), (curvature * x).sum(axis=0), curvature.sum(axis=0)
        aa, bb = aa + _RIDGE, bb + _RIDGE
        determinant = aa * bb - ab * ab
        step = np.array([bb * down[0] - ab * down[1], aa * down[1] - ab * down[0]]) / determinant
        size = np.ones(x.shape[1])
        for _ in range(_MAX_HALVINGS):
            new = find_loss(slopes - size * step[0], offsets - size * step[1])
            worse = new > loss
            if not worse.any():
                break
            size = np.where(worse, size / 2.0, size)
        size = np.where(worse, 0.0, size)
        slopes, offsets = slopes - size * step[0], offsets - size * step[1]
        gain, loss = loss - np.where(worse, loss, new), np.where(worse, loss, new)
        if (gain <= _TOLERANCE * np.maximum(loss, 1.0)).all():
            break
    return slopes, offsets


def _smooth_log_odds(truth: Array) -> float:
    return float(np.log((truth.sum() + 1.0) / (len(truth) - truth.sum() + 1.0)))


def _fit_isotonic(log_odds: Array, truth: BoolArray) -> tuple[Array, Array]:
    known = np.isfinite(log_odds)
    x, y = log_odds[known], truth[known].astype(np.float64)
    if not len(x) or np.ptp(x) == 0:
        chance = expit(_smooth_log_odds(y))
        return np.array([0.0, 1.0]), np.array([chance, chance])
    fitted = IsotonicRegression(out_of_bounds="clip").fit(x, y)
    # n documents of which all were right do not make a probability of 1
    least = 1.0 / (len(x) + 2.0)
    return np.array(fitted.X_thresholds_, np.float64), np.clip(fitted.y_thresholds_, least, 1.0 - least)


def to_class_probabilities(problems: Array, *, single: bool) -> Array:
    """Return the probabilities of the classes (documents x classes) from those of the problems."""
    if not single:
        return problems
    if problems.shape[1] == 1:
        return np.column_stack([1.0 - problems[:, 0], problems[:, 0]])
    total = problems.sum(axis=1, keepdims=True)
    shares: Array = np.divide(problems, total, out=np.full_like(problems, 1.0 / problems.shape[1]), where=total > 0)
    return shares


# What a classifier says


def gives_probabilities(classifier: Any) -> bool:
    """Tell whether a classifier has probabilities of its own; for several labels, whether each of its estimators has.

    A class of all documents or of none has an estimator with a constant answer, and that one always has them.
    """
    parts = [classifier, *getattr(classifier, "estimators_", [])]
    return all(hasattr(one, "predict_proba") for one in parts)


def find_log_odds(classifier: BaseEstimator, X: Any, *, single: bool) -> Array:
    """Return the log odds that a classifier gives (documents x problems).

    With several labels per document, the classifier is scikit-learn's OneVsRestClassifier. The log odds of an estimator
    that always gives the same answer are not a number: there is nothing to calibrate.
    """
    if not single:
        return np.column_stack([_binary_log_odds(one, X) for one in classifier.estimators_])
    scores = find_class_scores(classifier, X)
    return scores[:, None] if scores.ndim == 1 else against_the_rest(scores)


def _binary_log_odds(estimator: Any, X: Any) -> Array:
    if not hasattr(estimator, "classes_"):
        return np.full(X.shape[0], np.nan)
    return find_class_scores(estimator, X)


def find_class_scores(classifier: Any, X: Any) -> Array:
    """Return the score of each class, or the difference of both of two: log odds, or what takes their place."""
    if hasattr(classifier, "decision_function"):
        return np.asarray(classifier.decision_function(X), np.float64)
    if hasattr(classifier, "predict_joint_log_proba"):
        scores = np.maximum(classifier.predict_joint_log_proba(X), _LEAST_LOG)
    else:
        scores = np.log(np.maximum(classifier.predict_proba(X), np.finfo(np.float64).tiny))
    return np.asarray(scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores)


def against_the_rest(scores: Array) -> Array:
    """Return the log odds of each class against all others, where the classes have such scores."""
    rows, top = np.arange(len(scores)), scores.argmax(axis=1)
    best = scores[rows, top]
    others = np.array(scores)
    others[rows, top] = -np.inf
    rest_of_top = logsumexp(others, axis=1)
    shares = np.exp(scores - best[:, None])
    shares[rows, top] = 0.0
    # the best class is always among the others: this sum does not cancel
    sums = 1.0 + shares.sum(axis=1, keepdims=True) - shares
    odds: Array = scores - best[:, None] - np.log(sums)
    odds[rows, top] = best - rest_of_top
    return odds


def spread_to_classes(log_odds: Array, known: Sequence[int], n_classes: int) -> Array:
    """Return the log odds of all classes, where a classifier saw only some: the others are impossible to it."""
    if n_classes == 2 or log_odds.shape[1] == n_classes:
        return log_odds
    if log_odds.shape[1] == 1:  # of two classes that the classifier saw, out of more
        log_odds = np.column_stack([-log_odds[:, 0], log_odds[:, 0]])
    whole = np.full((len(log_odds), n_classes), -np.inf)
    whole[:, list(known)] = log_odds
    return whole

"""Calibration: from the log odds that a classifier gives to probabilities that can be believed.

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
from sklearn.calibration import _SigmoidCalibration
from sklearn.isotonic import IsotonicRegression

from termsieve._types import Array, BoolArray

SIGMOID, ISOTONIC = "sigmoid", "isotonic"
METHODS = (SIGMOID, ISOTONIC)
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
    fit = _fit_sigmoid if method == SIGMOID else _fit_isotonic
    return Calibration(method, tuple(fit(x, y) for x, y in zip(log_odds.T, truth.T, strict=True)))


def _fit_sigmoid(log_odds: Array, truth: BoolArray) -> tuple[Array, Array]:
    known = np.isfinite(log_odds)  # others: the class was missing where the classifier learned
    x, y = log_odds[known], truth[known].astype(np.float64)
    if not len(x) or np.ptp(x) == 0:
        return np.array(0.0), np.array(_smooth_log_odds(y))
    fitted = _SigmoidCalibration().fit(x, y)
    if fitted.a_ >= 0:  # a larger score would make the class less probable: nothing was learned
        return np.array(0.0), np.array(_smooth_log_odds(y))
    return np.array(-float(fitted.a_)), np.array(-float(fitted.b_))


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


# Log odds


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

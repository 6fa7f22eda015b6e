"""WeightedSum: a classifier that has weights and no training, for models that were read from an exported file."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin

from termsieve._types import AnyArray, Array


class WeightedSum(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A sum of weights of terms for each class; for two classes, one for the second against the first.

    Parameters
    ----------
    coef, intercept : arrays
        The weights (sums x terms), and the constant of each sum.
    presence : bool
        Whether only the presence of a term counts.
    """

    def __init__(self, coef: Array, intercept: Array, *, presence: bool = False) -> None:
        self.coef, self.intercept, self.presence = coef, intercept, presence
        self.classes_ = np.arange(max(len(coef), 2))
        self.n_features_in_ = coef.shape[1]

    def decision_function(self, X: Any) -> Array:
        """Return the sums of each document."""
        rows = sparse.csr_array(X)
        if self.presence:
            rows = rows > 0
        sums = np.asarray(rows @ self.coef.T) + self.intercept
        return np.asarray(sums[:, 0] if len(self.coef) == 1 else sums)

    def predict(self, X: Any) -> AnyArray:
        """Return the class of each document."""
        sums = self.decision_function(X)
        return np.asarray(sums > 0, np.int64) if sums.ndim == 1 else np.asarray(sums.argmax(axis=1))


class LogisticSum(WeightedSum):
    """A `WeightedSum` that is log odds: naive Bayes, logistic regression."""

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class."""
        sums = self.decision_function(X)
        if sums.ndim == 1:
            return np.column_stack([expit(-sums), expit(sums)])
        return np.asarray(softmax(sums, axis=1))


class SeveralSums(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A `WeightedSum` for each class against its absence, as scikit-learn's OneVsRestClassifier has its estimators."""

    def __init__(self, estimators: list[WeightedSum]) -> None:
        self.estimators = self.estimators_ = estimators
        self.classes_ = np.arange(len(estimators))

    def predict(self, X: Any) -> AnyArray:
        """Return a mark for each document and class."""
        return np.column_stack([one.predict(X) for one in self.estimators_])


class SeveralLogisticSums(SeveralSums):
    """`SeveralSums` that are log odds."""

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class against its absence."""
        return np.column_stack([one.predict_proba(X)[:, 1] for one in self.estimators_])

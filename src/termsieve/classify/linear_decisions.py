"""What linear classifiers do once they are fitted: weighted sums, and classes by them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from termsieve._types import AnyArray, Array


class LinearDecisions:
    """A base class for classifiers that have `coef_`, `intercept_` and `classes_` after their fit."""

    coef_: Array
    intercept_: Array
    classes_: AnyArray
    _is_multilabel = False

    def decision_function(self, X: Any) -> Array:
        """Return the weighted sums, of shape (n_samples,) for two classes, otherwise (n_samples, n_classes)."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        sums: Array = np.asarray(X @ self.coef_.T) + self.intercept_
        return sums.ravel() if len(self.intercept_) == 1 and not self._is_multilabel else sums

    def predict(self, X: Any) -> AnyArray:
        """Return the class with the largest sum; with several labels, an indicator matrix of those above 0."""
        sums = self.decision_function(X)
        if self._is_multilabel:
            return (sums > 0).astype(np.int64)
        chosen = (sums > 0).astype(np.int64) if sums.ndim == 1 else sums.argmax(axis=1)
        labels: AnyArray = self.classes_[chosen]
        return labels

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()  # type: ignore[misc]  # of scikit-learn's base classes
        tags.input_tags.sparse = True
        return tags

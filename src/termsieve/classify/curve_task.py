"""The checked arguments of a curve, and what each way to predict along a ranking gives for them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline

from termsieve._types import AnyArray, Array, Int32Array, Int64Array
from termsieve.classify.logistic_path import can_continue, continue_from
from termsieve.classify.poisson import is_sparse
from termsieve.classify.vocabulary_nb import VocabularyNB
from termsieve.errors import InputError, OptionError


class CurveOutcome(NamedTuple):
    """What one of the ways gives: codes of problems x points x documents; see `CurvePredictions` for the rest."""

    codes: Int32Array
    gaps: Array | None = None
    decisions: Array | None = None


@dataclass(frozen=True)
class CurveTask:
    """The checked arguments. `codes` has a column for each classifier: the class of each training document."""

    train: Any
    test: Any
    codes: Int32Array
    classes: AnyArray
    indicator: bool
    order: Int64Array
    ks: Int64Array
    model: BaseEstimator

    @classmethod
    def from_arguments(
        cls, X_train: Any, y_train: Any, X_test: Any, order: Any, ks: Iterable[int], model: BaseEstimator
    ) -> CurveTask:
        """Check the arguments of `curve`."""
        train, test = _check_matrix(X_train, "X_train"), _check_matrix(X_test, "X_test")
        if train.shape[1] != test.shape[1]:
            raise InputError(f"X_train has {train.shape[1]:,} columns, but X_test has {test.shape[1]:,}.")
        codes, classes, indicator = _encode_labels(y_train)
        if len(codes) != train.shape[0]:
            raise InputError(f"X_train has {train.shape[0]:,} rows, but y_train has {len(codes):,}.")
        if not len(codes):
            raise InputError("X_train has no rows: there is nothing to learn from.")
        columns = _check_order(order, train.shape[1])
        return cls(train, test, codes, classes, indicator, columns, _check_ks(ks, len(columns)), model)

    @property
    def named_matrices(self) -> tuple[tuple[Any, str], tuple[Any, str]]:
        """Both matrices, with the names that errors give them."""
        return (self.train, "X_train"), (self.test, "X_test")

    def constant_class(self, problem: int) -> int | None:
        """Return the value of a column of an indicator matrix that has only one, else None."""
        codes = self.codes[:, problem]
        return int(codes[0]) if self.indicator and (codes == codes[0]).all() else None

    def take_columns(self, k: int) -> tuple[Any, Any]:
        """Return both matrices with the first k columns of the ranking."""
        train, test = self._ranked_matrices
        return train[:, :k], test[:, :k]

    @cached_property
    def _ranked_matrices(self) -> tuple[Any, Any]:
        columns = self.order[: self.ks.max()]
        return self.train[:, columns], self.test[:, columns]

    def model_of(self, problem: int) -> BaseEstimator:
        """Return a new model for one of its problems; one that needs to know all words is given them."""
        model = clone(self.model)
        if isinstance(model, VocabularyNB):
            words, lengths = self._whole_vocabulary
            n_classes = 2 if self.indicator else len(self.classes)
            model.set_params(n_words=words, class_totals=np.bincount(self.codes[:, problem], lengths, n_classes))
        return model

    @cached_property
    def _whole_vocabulary(self) -> tuple[int, Array]:
        """The number of distinct words of the training documents, and the words of each."""
        train = sparse.csr_array(self.train)
        return int((train.sum(axis=0) > 0).sum()), np.asarray(train.sum(axis=1), np.float64).ravel()

    def fit_model(self, k: int, problem: int, before: BaseEstimator | None = None) -> BaseEstimator:
        """Fit the model to the first k columns, for one of its problems; `before` was fitted to fewer of them."""
        codes = self.codes[:, problem]
        X = self.take_columns(k)[0]
        model = self.model_of(problem)
        try:
            if can_continue(model):
                model = continue_from(before, model, k)
            return model.fit(X, codes if self.indicator else self.classes[codes])
        except ValueError as error:
            raise self.explain(error, k) from error

    def explain(self, error: ValueError, k: int) -> InputError:
        """Return an error that says what could not be learned from."""
        named = self.model[-1] if isinstance(self.model, Pipeline) else self.model
        return InputError(f"{named} cannot learn from {len(self.codes):,} documents and {k:,} terms: {error}")

    def predict_codes(self, model: BaseEstimator, X: Any) -> Int32Array:
        """Predict some documents with a fitted model, as indices into the classes."""
        if not self.indicator:
            codes: Any = np.searchsorted(self.classes, model.predict(X))
        elif hasattr(model, "decision_function"):
            codes = np.ravel(model.decision_function(X)) > 0
        else:
            codes = model.predict_proba(X)[:, 1] > 0.5
        return np.asarray(codes, np.int32)


def _check_matrix(X: Any, name: str) -> Any:
    if hasattr(X, "to_numpy"):  # a frame
        X = X.to_numpy()
    if not is_sparse(X):
        X = np.asarray(X)
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise InputError(f"{name} must be a matrix of numbers, documents x terms, not {X.ndim}-d of type {X.dtype}.")
    return X.tocsr() if is_sparse(X) else X


def _encode_labels(y: Any) -> tuple[Int32Array, AnyArray, bool]:
    if hasattr(y, "to_numpy"):
        y = y.to_numpy()
    y = y.toarray() if is_sparse(y) else np.asarray(y)
    if y.dtype.kind == "f" and np.isnan(y).any():
        raise InputError(f"y_train has {int(np.isnan(y).sum()):,} labels that are missing (NaN): leave these rows out.")
    if y.ndim == 1 and (y.dtype != object or all(isinstance(one, str) for one in y)):
        classes, codes = np.unique(y, return_inverse=True)
        return codes.astype(np.int32).reshape(-1, 1), classes, False
    if y.ndim == 2 and y.dtype.kind in "biuf" and np.isin(y, (0, 1)).all():
        return np.ascontiguousarray(y, np.int32), np.arange(y.shape[1]), True
    raise InputError(
        f"y_train must be one label per document or an indicator matrix of 0 and 1; it is {y.ndim}-d {y.dtype}. "
        "Sets of labels become such a matrix by scikit-learn's MultiLabelBinarizer."
    )


def _check_order(order: Any, n_features: int) -> Int64Array:
    columns = np.asarray(order)
    if columns.ndim != 1 or (columns.dtype.kind not in "iu" and columns.size):
        raise OptionError(f"order must be the numbers of columns, best first; it is {columns.ndim}-d {columns.dtype}.")
    columns = columns.astype(np.int64)
    if columns.size and not (columns.min() >= 0 and columns.max() < n_features):
        bad = columns[(columns < 0) | (columns >= n_features)][0]
        raise OptionError(f"order has the column {bad}, but columns are 0 to {n_features - 1}.")
    times = np.bincount(columns, minlength=1)
    if times.max() > 1:
        raise OptionError(f"order has the column {int(times.argmax())} {times.max()} times; a ranking has each once.")
    return columns


def _check_ks(ks: Iterable[int], n: int) -> Int64Array:
    if not isinstance(ks, Iterable):
        raise OptionError(f"ks must be a list of whole numbers, not {ks!r}.")
    numbers = np.asarray(ks if hasattr(ks, "__len__") else list(ks))
    if numbers.ndim != 1 or (numbers.dtype.kind not in "iu" and numbers.size):
        raise OptionError(f"ks must be a list of whole numbers, not {ks!r}.")
    bad = numbers[(numbers < 1) | (numbers > n)]
    if bad.size:
        raise OptionError(f"ks has {bad[0]}, but it must be from 1 to {n:,}, the number of columns in order.")
    return numbers.astype(np.int64)

"""PoissonNB: naive Bayes with class-conditional Poisson counts."""

from __future__ import annotations

from numbers import Real
from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.special import gammaln, logsumexp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, check_non_negative, validate_data

from termsieve._types import AnyArray, Array, IntegerArray
from termsieve.errors import InputError, OptionError
from termsieve.table import log


class PoissonNB(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Naive Bayes for counts: the occurrences of a term in a document of a class are a Poisson variable.

    The rate of term w in class c is the posterior mean under a Gamma(alpha, beta) prior,

        rate = (occurrences of w in c + alpha) / (documents of c + beta).

    Parameters
    ----------
    alpha : float
        Shape of the prior: occurrences of each term that every class is given beforehand. Positive.
    beta : float
        Rate of the prior: documents that every class is given beforehand. Positive.
    fit_prior : bool
        Learn the probabilities of the classes; otherwise they are equal.
    class_prior : array of shape (n_classes,), optional
        The probabilities of the classes, instead of learning them.
    absent_terms : bool
        Take the terms that a document lacks into account, as the model demands. Otherwise the factor exp(-rate) is
        left out for those terms: not a likelihood, but what some papers seem to have computed.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    class_count_ : array of shape (n_classes,)
        Documents of each class, by weight.
    feature_count_ : array of shape (n_classes, n_features)
        Occurrences of each term in each class, by weight.
    rate_ : array of shape (n_classes, n_features)
        Occurrences to expect in one document.
    class_log_prior_ : array of shape (n_classes,)
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Notes
    -----
    The default, alpha = beta = 1, is Laplace's rule, one more document that has every term once: what the default
    of scikit-learn's MultinomialNB adds to the occurrences, and of BernoulliNB (but for its second, empty document)
    to the documents. PIP (``eyheramendy`` in the bibliography), the paper that compares Poisson classifiers, leaves
    its prior unstated.

    Unlike the multinomial, the model is of the length of a document too: documents should be of one kind.

    Examples
    --------
    >>> model = PoissonNB().fit([[3, 0], [2, 1], [0, 4]], ["sea", "sea", "money"])
    >>> model.rate_
    array([[0.5       , 2.5       ],
           [2.        , 0.66666667]])
    >>> model.predict([[2, 0], [0, 2]])
    array(['sea', 'money'], dtype='<U5')
    """

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        beta: float = 1.0,
        fit_prior: bool = True,
        class_prior: Any = None,
        absent_terms: bool = True,
    ) -> None:
        self.alpha = alpha
        self.beta = beta
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.absent_terms = absent_terms

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Count the terms of each class.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Counts, not negative.
        y : array of shape (n_samples,)
            The class of each row.
        sample_weight : array of shape (n_samples,), optional
            How often each row counts.
        """
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        self._reset_counts(np.unique(y))
        return self._add_counts(X, y, sample_weight)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to what was counted before.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        classes : array, optional
            All classes there will be; the first call needs it.
        """
        first = not hasattr(self, "classes_")
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, reset=first)
        if first:
            if classes is None:
                raise OptionError("classes must be passed on the first call to partial_fit.")
            self._reset_counts(np.unique(classes))
        elif classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise OptionError(f"classes is {classes!r}, but on the first call it was {self.classes_!r}.")
        return self._add_counts(X, y, sample_weight)

    def _reset_counts(self, classes: AnyArray) -> None:
        self._check_parameters(len(classes))
        self.classes_ = classes
        self.class_count_ = np.zeros(len(classes))
        self.feature_count_ = np.zeros((len(classes), self.n_features_in_))

    def _check_parameters(self, n_classes: int) -> None:
        for name in ("alpha", "beta"):
            value = getattr(self, name)
            if not isinstance(value, Real) or not 0 < float(value) < np.inf:
                raise OptionError(f"The parameter {name!r} of PoissonNB must be a positive number; it is {value!r}.")
        if self.class_prior is not None and np.shape(self.class_prior) != (n_classes,):
            raise OptionError(
                f"class_prior of PoissonNB must be {n_classes} probabilities, one per class, not {self.class_prior!r}."
            )
        if self.class_prior is not None and not _are_weights(np.asarray(self.class_prior, np.float64)):
            raise OptionError(
                f"class_prior of PoissonNB must be numbers from 0, one at least above, not {self.class_prior!r}."
            )

    def _add_counts(self, X: Any, y: AnyArray, sample_weight: Any) -> Self:
        check_non_negative(X, "PoissonNB (input X)")
        weight = np.ones(len(y)) if sample_weight is None else _check_sample_weight(sample_weight, X)
        if not _are_weights(np.append(weight, self.class_count_.sum())):  # with what was counted before
            raise InputError("sample_weight must be numbers from 0, and one above: without any, nothing is counted.")
        codes = self._encode_classes(y)
        members = sparse.csr_array((weight, (codes, np.arange(len(y)))), shape=(len(self.classes_), len(y)))
        added = members @ X
        self.feature_count_ += added.toarray() if is_sparse(added) else added
        self.class_count_ += np.bincount(codes, weight, len(self.classes_))
        self.rate_ = poisson_rates(self.feature_count_, self.class_count_, self.alpha, self.beta)
        self.class_log_prior_ = log_prior(self.class_count_, self.fit_prior, self.class_prior)
        return self

    def _encode_classes(self, y: AnyArray) -> IntegerArray:
        codes = np.searchsorted(self.classes_, y).clip(max=len(self.classes_) - 1)
        unknown = self.classes_[codes] != y
        if unknown.any():
            raise InputError(f"y has the class {y[unknown][0]!r}, which is not among classes, {list(self.classes_)!r}.")
        return codes

    def _class_scores(self, X: Any) -> Array:
        """Return the log of prior times likelihood, without the factor 1 / x!, which all classes share."""
        if not self.absent_terms:
            present = X.astype(bool).astype(np.float64)
            without: Array = X @ np.log(self.rate_).T - present @ self.rate_.T + self.class_log_prior_
            return without
        scores: Array = X @ np.log(self.rate_).T + (self.class_log_prior_ - self.rate_.sum(axis=1))
        return scores

    def _check_input(self, X: Any) -> Any:
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        check_non_negative(X, "PoissonNB (input X)")
        return X

    def predict_joint_log_proba(self, X: Any) -> Array:
        """Return the log of the joint probability of class and document, of shape (n_samples, n_classes)."""
        X = self._check_input(X)
        factorials = X.copy()
        if is_sparse(X):
            factorials.data = gammaln(X.data + 1)
        else:
            factorials = gammaln(X + 1)
        joint: Array = self._class_scores(X) - np.asarray(factorials.sum(axis=1)).reshape(-1, 1)
        return joint

    def predict_log_proba(self, X: Any) -> Array:
        """Return the log of the probability of each class, given the document."""
        scores = self._class_scores(self._check_input(X))
        normed: Array = scores - logsumexp(scores, axis=1, keepdims=True)
        return normed

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class, given the document."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> AnyArray:
        """Return the most probable class; of several, the first."""
        scores = self._class_scores(self._check_input(X))
        labels: AnyArray = self.classes_[scores.argmax(axis=1)]
        return labels

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.classifier_tags.poor_score = True  # on the blobs of scikit-learn's checks, which are not counts
        return tags


def _are_weights(values: Array) -> bool:
    """Tell whether numbers can be shares of a whole: none below 0, and not all of them 0."""
    return bool((values >= 0).all() and 0 < values.sum() < np.inf)


def is_sparse(X: Any) -> bool:
    """Tell whether a matrix is one of scipy's sparse ones."""
    return bool(sparse.issparse(X))


def poisson_rates(occurrences: Array, documents: Array, alpha: float, beta: float) -> Array:
    """Return the expected occurrences in a document, classes x terms: the mean of the Gamma posterior."""
    rate: Array = (occurrences + alpha) / (documents + beta).reshape(-1, 1)
    return rate


def log_prior(class_count: Array, fit_prior: bool, class_prior: Any = None) -> Array:
    """Return the log probabilities of the classes, equal to those of scikit-learn's naive Bayes to the last bit."""
    if class_prior is not None:
        if np.shape(class_prior) != class_count.shape:
            raise OptionError(
                f"class_prior must be {len(class_count)} probabilities, one for each class, not {class_prior!r}."
            )
        return log(class_prior)
    if not fit_prior:
        return np.full(len(class_count), -np.log(len(class_count)))
    priors: Array = log(class_count) - np.log(class_count.sum())
    return priors

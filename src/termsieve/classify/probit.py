"""ProbitClassifier: a linear classifier with a true probit link and a prior on its weights."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import erfcx, log_ndtr, logsumexp, ndtri
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import column_or_1d, validate_data

from termsieve._kernels import import_kernels
from termsieve._types import Array
from termsieve.classify.convergence import NotConvergedWarning
from termsieve.classify.linear_decisions import LinearDecisions
from termsieve.classify.poisson import is_sparse
from termsieve.errors import InputError, OptionError

if TYPE_CHECKING:
    from termsieve.classify import probit_kernels
else:
    probit_kernels = import_kernels("termsieve.classify.probit_kernels")

Prior = Literal["gaussian", "laplace"]

_MIN_CURVATURE = 1e-10  # least curvature of a row: that of documents far on the right side underflows
_MAX_PASSES = 1000  # passes over the weights in one step


class ProbitClassifier(LinearDecisions, ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Probit regression: the probability of the class is the normal distribution function of a weighted sum.

    It is the maximum a posteriori under independent priors on the weights; the intercept is free. Several classes
    and several labels per document are taken one against the rest.

    Parameters
    ----------
    prior : {"gaussian", "laplace"}
        Laplace makes most weights exactly 0.
    prior_variance : float or None
        Variance of each weight. None is the rule of Genkin, Lewis and Madigan: the number of terms by the mean squared
        length of the documents.
    tol : float
        The largest slope at which the search stops, relative to the slope at its start.
    max_iter : int
        The largest number of steps for each class.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        With an indicator matrix, the numbers of its columns.
    coef_ : array of shape (n_classes, n_features), or (1, n_features) for two classes
    intercept_ : array of shape (n_classes,) or (1,)
        Infinite for a column of an indicator matrix that is all 0 or all 1.
    prior_variance_ : float
    n_iter_, converged_, optimality_ : arrays of shape (n_classes,) or (1,)
        The number of steps, whether the search converged, and the remaining slope (relative, and with the
        sub-gradient of a Laplace prior).

    Notes
    -----
    The Gaussian prior is smooth: Newton steps in a trust region, the Hessian only ever multiplied. The Laplace prior
    has a corner at 0: Newton steps whose quadratic model has the corner too, found by coordinate descent, and a line
    search, as in glmnet and liblinear.

    Examples
    --------
    >>> X = [[2, 0], [1, 0], [1, 2], [0, 1], [0, 2], [1, 1]]
    >>> model = ProbitClassifier().fit(X, ["sea", "sea", "sea", "money", "money", "money"])
    >>> model.predict([[3, 1], [0, 1]])
    array(['sea', 'money'], dtype='<U5')
    >>> model.converged_
    array([ True])
    """

    def __init__(
        self,
        *,
        prior: Prior = "gaussian",
        prior_variance: float | None = None,
        tol: float = 1e-6,
        max_iter: int = 1000,
    ) -> None:
        self.prior = prior
        self.prior_variance = prior_variance
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any) -> Self:
        """Find the weights.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Any numbers.
        y : array of shape (n_samples,), or an indicator matrix of shape (n_samples, n_classes)
            The classes.
        """
        self._check_parameters()
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, multi_output=True)
        check_classification_targets(y)
        signs = self._encode_targets(y)
        self.prior_variance_ = default_prior_variance(X) if self.prior_variance is None else float(self.prior_variance)
        if not 0 < self.prior_variance_ < np.inf:
            raise InputError("X has entries so large or small that a prior cannot be scaled to them: scale X first.")
        centre = np.asarray(X.mean(axis=0)).ravel()
        fits = [self._fit_one(X, centre, sign) for sign in signs]
        self.coef_ = np.array([fit.weights[:-1] for fit in fits])
        self.intercept_ = np.array([fit.weights[-1] for fit in fits]) - self.coef_ @ centre
        self.n_iter_ = np.array([fit.n_iter for fit in fits])
        self.optimality_ = np.array([fit.optimality for fit in fits])
        self.converged_ = self.optimality_ <= self.tol
        self._warn_unconverged()
        return self

    def _check_parameters(self) -> None:
        if self.prior not in ("gaussian", "laplace"):
            raise OptionError(f"The prior of ProbitClassifier is 'gaussian' or 'laplace', not {self.prior!r}.")
        for name in ("tol", "prior_variance"):
            value = getattr(self, name)
            if not (value is None and name != "tol") and not (isinstance(value, Real) and 0 < float(value) < np.inf):
                raise OptionError(f"{name} of ProbitClassifier must be a positive number; it is {value!r}.")
        if not isinstance(self.max_iter, Integral) or self.max_iter < 1:
            raise OptionError(f"max_iter of ProbitClassifier must be a number from 1; it is {self.max_iter!r}.")

    def _encode_targets(self, y: Any) -> list[Array]:
        """Return for each class 1 for its rows and -1 for the rest; set `classes_`."""
        self._is_multilabel = type_of_target(y) == "multilabel-indicator"
        if self._is_multilabel:
            y = y.toarray() if is_sparse(y) else np.asarray(y)
            self.classes_ = np.arange(y.shape[1])
            return [np.where(column, 1.0, -1.0) for column in y.T]
        y = column_or_1d(y, warn=True)
        self.classes_ = np.unique(y)
        if len(self.classes_) < 2:
            raise InputError(f"y has only one class, {self.classes_.tolist()[0]!r}: there is nothing to tell apart.")
        return [np.where(y == one, 1.0, -1.0) for one in self.classes_[1 if len(self.classes_) == 2 else 0 :]]

    def _fit_one(self, X: Any, centre: Array, sign: Array) -> FitResult:
        if abs(sign.sum()) == len(sign):  # all rows, or none: only the intercept counts
            return FitResult(np.append(np.zeros(X.shape[1]), sign[0] * np.inf), 1, 0.0)
        slope = np.sqrt(2 / self.prior_variance_) if self.prior == "laplace" else 0.0
        precision = 1 / self.prior_variance_ if self.prior == "gaussian" else 0.0
        return minimize_objective(Objective(X, centre, sign, precision, slope), self.tol, int(self.max_iter))

    def _warn_unconverged(self) -> None:
        if not self.converged_.all():
            worst = float(self.optimality_.max())
            warnings.warn(
                f"ProbitClassifier did not converge for {int((~self.converged_).sum())} of {len(self.converged_)} "
                f"classes: the slope left is {worst:.1e} of that at the start, tol is {self.tol:.1e}. Raise max_iter "
                f"({self.max_iter}) or tol, or lower prior_variance ({self.prior_variance_:.3g}).",
                NotConvergedWarning,
                stacklevel=3,
            )

    def predict_log_proba(self, X: Any) -> Array:
        """Return the log of `predict_proba`."""
        sums = self.decision_function(X)
        if sums.ndim == 1:
            return np.column_stack([log_ndtr(-sums), log_ndtr(sums)])
        logs: Array = log_ndtr(sums)
        return logs if self._is_multilabel else logs - logsumexp(logs, axis=1, keepdims=True)

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class; they add up to 1 for several classes, but not for several labels."""
        return np.exp(self.predict_log_proba(X))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


def default_prior_variance(X: Any) -> float:
    """Apply the rule of Genkin, Lewis and Madigan: number of terms by mean squared length of the documents.

    >>> default_prior_variance(np.array([[1.0, 1.0], [0.0, 2.0]]))
    0.6666666666666666
    """
    with np.errstate(over="ignore"):  # of huge entries: a variance of 0, which the classifier refuses
        squares = float(np.square(X.data if is_sparse(X) else X).sum())
    return X.shape[1] * X.shape[0] / squares if squares else 1.0


class FitResult(NamedTuple):
    """The result of a fit: weights with the intercept last, number of steps, and the remaining slope."""

    weights: Array
    n_iter: int
    optimality: float


@dataclass
class Objective:
    """Minus log posterior of one class against the rest; `sign` is 1 and -1.

    The columns are centred implicitly: as the intercept is free, this changes only how easily the optimum is found.
    The penalty is precision / 2 times the sum of squares, plus slope times the sum of magnitudes.
    Only the first is smooth, and only it is in `value_and_gradient` and what follows from it.
    """

    X: Any
    centre: Array
    sign: Array
    precision: float
    slope: float = 0.0
    _cached_curvature: tuple[Array, Array] | None = None

    @cached_property
    def _transposed(self) -> Any:
        return self.X.T.tocsr() if is_sparse(self.X) else self.X.T

    def margins(self, w: Array) -> Array:
        """Return the weighted sums, positive where they are right."""
        return self.sign * self.sums(w)

    def sums(self, w: Array) -> Array:
        """Return the weighted sums of the centred rows."""
        sums: Array = self.X @ w[:-1] + (w[-1] - self.centre @ w[:-1])
        return sums

    def weight_gradient(self, rows: Array, w: Array) -> Array:
        """Turn derivatives by row into derivatives by weight."""
        total = rows.sum()
        return np.append(self._transposed @ rows - total * self.centre + self.precision * w[:-1], total)

    def value_and_gradient(self, w: Array) -> tuple[float, Array]:
        """Return the smooth part and its gradient."""
        t = self.margins(w)
        value = -float(log_ndtr(t).sum()) + self.precision / 2 * float(w[:-1] @ w[:-1])
        return value, self.weight_gradient(-self.sign * hazard(t), w)

    def hessian(self, w: Array, v: Array) -> Array:
        """Return the Hessian of the smooth part at w, times v."""
        return self.weight_gradient(self.curvature(w) * self.sums(v), v)

    def curvature(self, w: Array) -> Array:
        """Return the second derivatives by row; the last are kept, because many products are computed at one place."""
        if self._cached_curvature is None or not np.array_equal(self._cached_curvature[0], w):
            t = self.margins(w)
            h = hazard(t)
            self._cached_curvature = w.copy(), h * (t + h)
        return self._cached_curvature[1]

    def initial_weights(self) -> Array:
        """Return weights of 0, and the intercept that gives the class its share."""
        return np.append(np.zeros(self.X.shape[1]), ndtri((1 + self.sign.mean()) / 2))

    def violation(self, w: Array) -> float:
        """Return the largest remaining slope, with the sub-gradient of the magnitudes."""
        gradient = self.value_and_gradient(w)[1]
        inner, at = gradient[:-1], w[:-1]
        moving = np.abs(inner + self.slope * np.sign(at))
        resting = np.maximum(np.abs(inner) - self.slope, 0.0)
        return float(max(np.where(at != 0, moving, resting).max(initial=0.0), abs(gradient[-1])))


def hazard(t: Array) -> Array:
    """Divide the density by the distribution function of the normal, without cancellation at any t.

    >>> hazard(np.array([-1e8, 0.0, 40.0]))
    array([1.00000000e+08, 7.97884561e-01, 0.00000000e+00])
    """
    ratio: Array = np.sqrt(2 / np.pi) / erfcx(-t / np.sqrt(2))
    return ratio


def minimize_objective(objective: Objective, tol: float, max_iter: int) -> FitResult:
    """Find the weights that minimize the objective."""
    start = objective.initial_weights()
    scale = max(1.0, float(np.abs(objective.value_and_gradient(start)[1]).max()))
    if objective.slope:
        w, steps = _run_proximal_newton(objective, start, tol * scale, max_iter)
    else:
        w, steps = _run_newton(objective, start, tol * scale, max_iter)
    return FitResult(w, max(steps, 1), objective.violation(w) / scale)


def _run_newton(objective: Objective, start: Array, gtol: float, max_iter: int) -> tuple[Array, int]:
    result = minimize(
        objective.value_and_gradient,
        start,
        jac=True,
        hessp=objective.hessian,
        method="trust-ncg",
        options={"gtol": gtol, "maxiter": max_iter, "max_trust_radius": 1e6},
    )
    return result.x, int(result.nit)


def _run_proximal_newton(objective: Objective, start: Array, gtol: float, max_iter: int) -> tuple[Array, int]:
    """Take Newton steps for a penalty with a corner: each minimizes a quadratic model that has the corner, too."""
    columns = sparse.csc_array(objective.X)
    matrix = {
        "indptr": columns.indptr.astype(np.int64), "rows": columns.indices.astype(np.int64), "data": columns.data,
        "centre": objective.centre,
    }  # fmt: skip
    w, left = start, objective.violation(start)
    for steps in range(max_iter):
        if left <= gtol:
            return w, steps
        # more exact near the minimum, where steps pay most
        near = min(0.1, left) * left if left > 10 * gtol else gtol / 10
        curvature = np.maximum(objective.curvature(w), _MIN_CURVATURE)
        step = probit_kernels.descend_coordinates(
            **matrix, curvature=curvature, gradient=objective.value_and_gradient(w)[1], w=w, slope=objective.slope,
            tol=near, passes=_MAX_PASSES,
        )  # fmt: skip
        w = _search_line(objective, w, step)
        left = objective.violation(w)
    return w, max_iter


def _search_line(objective: Objective, w: Array, step: Array) -> Array:
    """Take the step, or a half, a quarter, ... of it, until the objective falls enough."""
    before, gradient = objective.value_and_gradient(w)
    before += objective.slope * float(np.abs(w[:-1]).sum())
    whole = float(gradient @ step) + objective.slope * float(np.abs((w + step)[:-1]).sum() - np.abs(w[:-1]).sum())
    rounding = 1e-14 * abs(before)
    for halvings in range(40):
        part = 0.5**halvings
        after = w + part * step
        if objective.value_and_gradient(after)[0] + objective.slope * float(np.abs(after[:-1]).sum()) <= (
            before + 0.01 * part * whole + rounding
        ):
            return after
    return w

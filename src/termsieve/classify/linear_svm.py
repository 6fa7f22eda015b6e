"""LinearSVM: a linear support vector machine, solved to the optimum."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from termsieve._types import AnyArray, Array, Int32Array, Int64Array
from termsieve.classify.convergence import NotConvergedWarning
from termsieve.classify.linear_decisions import LinearDecisions
from termsieve.classify.linear_path import LinearPath, PathPoint, make_problems, solve_problems
from termsieve.classify.linear_tuning import choose_costs
from termsieve.classify.ranked_rows import RankedRows
from termsieve.errors import InputError, OptionError

MAX_COST = 1e50  # of C and of its factors: with more, the squares of the duality gap are infinite


class LinearSVM(LinearDecisions, ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Linear support vector machine with the squared hinge loss, one class against the rest.

    The objective is that of scikit-learn's ``LinearSVC``: half the squared length of the weights, plus C times the
    squared hinge losses; the intercept is the weight of a column of 1, so it is penalized as well. The optimum is
    found by Newton's method or, with many columns and short documents (tf-idf), by dual coordinate descent, and the
    duality gap is its certificate. LinearSVC stops earlier, above all on counts:
    there its objective can be some per cent higher, and the answers differ for documents near the boundary.

    Parameters
    ----------
    C : float or "auto"
        The weight of the losses, at most 1e50. "auto" chooses one of 1/16, 1/4, 1, 4 and 16 by three stratified folds
        of the training documents (the best macro-averaged F1; among equals that nearest to 1).
    class_weight : None, "balanced" or dict
        Factors of C for each class, as in LinearSVC: with more than two classes only the factor of the one class counts
        against the rest.
    fit_intercept : bool
        Whether there is an intercept.
    tol : float
        The largest duality gap, as a share of the objective: the objective is at most (1 + tol) times the least. With
        huge values of C and of X (a C above 1e6 and entries above 10,000, say) rounding errors may keep the gap above
        it: then the steps end where nothing improves further. There is a warning if rounding errors alone (a
        first-order bound of those of the gradient) do not explain the gap.
    max_iter : int
        The largest number of Newton steps for each class. Where many columns are begun by dual coordinate descent, its
        passes come before them and have a limit of their own.
    random_state : int or None
        The seed of the folds with C="auto".

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    coef_ : array of shape (n_classes, n_features), or (1, n_features) for two classes
    intercept_ : array of shape (n_classes,) or (1,)
    n_iter_ : int
        The largest number of iterations of a class: Newton steps, or passes of dual coordinate descent over the
        documents where that sufficed. So it may be above `max_iter`.
    objective_, certificate_ : arrays of shape (n_classes,) or (1,)
        The objective, and the duality gap as a share of it.
    C_ : float
        The value of C.

    Examples
    --------
    >>> X = [[2, 0], [1, 0], [1, 2], [0, 1], [0, 2], [1, 1]]
    >>> model = LinearSVM().fit(X, ["sea", "sea", "sea", "money", "money", "money"])
    >>> model.predict([[3, 1], [0, 1]])
    array(['sea', 'money'], dtype='<U5')
    >>> bool(model.certificate_[0] <= model.tol)
    True
    """

    def __init__(
        self,
        *,
        C: float | Literal["auto"] = 1.0,
        class_weight: Literal["balanced"] | Mapping[Any, float] | None = None,
        fit_intercept: bool = True,
        tol: float = 1e-8,
        max_iter: int = 1000,
        random_state: int | None = 0,
    ) -> None:
        self.C = C
        self.class_weight = class_weight
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Find the weights.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Any numbers.
        y : array of shape (n_samples,)
            The classes.
        """
        self.check_parameters()
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        self.classes_, codes = np.unique(column_or_1d(y, warn=True), return_inverse=True)
        if len(self.classes_) < 2:
            raise InputError(f"y has only one class, {self.classes_.tolist()[0]!r}: there is nothing to tell apart.")
        X = sparse.csr_array(X)
        rows = RankedRows(X, fit_intercept=self.fit_intercept)
        path = self.solve_path(rows, X, codes, self.classes_, np.array([X.shape[1]]))
        weights = path.weights(0).T
        self.coef_, self.intercept_ = np.ascontiguousarray(weights[:, 1:]), weights[:, 0].copy()
        self.objective_, self.certificate_ = path.objectives[0], path.gaps[0]
        self.C_ = float(path.costs[0])
        self.n_iter_ = max(one.n_iter for one in path.solutions[0])
        return self

    def check_parameters(self) -> None:
        """Refuse parameters that make no sense."""
        if self.C != "auto" and not (isinstance(self.C, Real) and 0 < float(self.C) < np.inf):
            raise OptionError(f'C of LinearSVM must be a positive number or "auto"; it is {self.C!r}.')
        if self.C != "auto" and float(self.C) > MAX_COST:
            raise OptionError(f"C of LinearSVM must be at most {MAX_COST:g}; it is {self.C!r}.")
        if not isinstance(self.tol, Real) or not 0 < float(self.tol) < np.inf:
            raise OptionError(f"tol of LinearSVM must be a positive number; it is {self.tol!r}.")
        if not isinstance(self.max_iter, Integral) or self.max_iter < 1:
            raise OptionError(f"max_iter of LinearSVM must be a number from 1; it is {self.max_iter!r}.")
        named = self.class_weight is None or isinstance(self.class_weight, Mapping)
        if not named and not (isinstance(self.class_weight, str) and self.class_weight == "balanced"):
            raise OptionError(
                f'class_weight of LinearSVM must be None, "balanced" or a factor for each class; it is '
                f"{self.class_weight!r}."
            )

    def class_weights(self, classes: AnyArray, codes: Int32Array | Int64Array) -> Array:
        """Return the factor of C for each class."""
        if self.class_weight is None:
            return np.ones(len(classes))
        if isinstance(self.class_weight, str):
            sizes = np.bincount(codes, minlength=len(classes))
            return len(codes) / (len(classes) * np.maximum(sizes, 1))
        given = dict(self.class_weight)
        labels = classes.tolist()
        unknown = [label for label in given if label not in labels]
        if unknown:
            raise OptionError(
                f"class_weight of LinearSVM has {unknown[0]!r}, which is not one of the classes {labels}."
            )
        factors = [given.get(label, 1.0) for label in labels]
        if not all(isinstance(one, Real) and 0 <= float(one) <= MAX_COST for one in factors):
            raise OptionError(f"class_weight of LinearSVM must have numbers from 0 to {MAX_COST:g}; it is {given!r}.")
        return np.array(factors, np.float64)

    def solve_path(
        self,
        rows: RankedRows,
        X: sparse.csr_array,
        codes: Int32Array | Int64Array,
        classes: AnyArray,
        ks: Int64Array,
    ) -> LinearPath:
        """Solve at increasing numbers of columns; `rows` are those of X, whose columns are in rank order."""
        if self.C == "auto":
            costs = choose_costs(X, codes, classes, ks, self, normalize=rows.normalize)
        else:
            costs = np.full(len(ks), float(self.C))
        factors = self.class_weights(classes, codes)
        solutions: list[list[PathPoint]] = [[] for _ in ks]
        for C in np.unique(costs):
            at = np.flatnonzero(costs == C)
            problems = make_problems(codes, factors, float(C))
            solved = solve_problems(rows, ks[at], problems, tol=self.tol, max_iter=int(self.max_iter))
            for place, some in zip(at, solved, strict=True):
                solutions[place] = some
        path = LinearPath(ks, costs, solutions)
        self._warn_unsolved(path)
        return path

    def _warn_unsolved(self, path: LinearPath) -> None:
        missed = path.find_unsolved(self.tol)
        if missed.any():
            warnings.warn(
                f"LinearSVM did not reach the optimum for {int(missed.sum())} of {missed.size} problems: the largest "
                f"duality gap is {path.gaps[missed].max():.1e} of the objective, tol is {self.tol:.1e}. Lower C "
                f"({path.costs.max():g}), scale the documents, or raise max_iter ({self.max_iter}) or tol.",
                NotConvergedWarning,
                stacklevel=3,
            )

"""Curves: the predictions of a classifier for every number of terms along one ranking.

A ranking is nested, and the score of a naive Bayes classifier is a sum over terms: one sweep along the ranking gives
the predictions for all numbers of terms, for about the price of one. They are exactly those of refitting
scikit-learn's estimator on the first k columns: a bound on the rounding errors of both ways tells where the best two
classes are too close, and these few documents are decided by the estimator itself, in its own order of summation.

Linear support vector machines (`LinearSVM`, alone or after a `Normalizer`) are solved to the optimum at each k, each
solution from the one before. The optimum is unique, and Newton's method ends within a duality gap of `LinearSVM.tol` of
it: which ks are asked together changes a prediction only where two classes are that close. Logistic regression starts
from the solution before as well, and ends within a tenth of scikit-learn's tolerance (see `logistic_path`).
Other classifiers are refitted at each k.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import Normalizer

from termsieve._kernels import kernels_pay, use_way
from termsieve._types import AnyArray, Array, Int64Array, IntegerArray
from termsieve.classify import linear_path
from termsieve.classify.bayes_sweep import SWEPT_ENTRIES, predict_by_sweeping
from termsieve.classify.curve_task import CurveOutcome, CurveTask
from termsieve.classify.linear_path import decide_codes
from termsieve.classify.linear_svm import LinearSVM
from termsieve.classify.probit import ProbitClassifier
from termsieve.classify.ranked_rows import RankedRows
from termsieve.classify.recipes import Recipe, classifier
from termsieve.classify.sweep_coefficients import can_sweep
from termsieve.errors import InputError
from termsieve.threads import count_cores, work_on_each


def curve(
    X_train: Any,
    y_train: Any,
    X_test: Any,
    order: Any,
    ks: Iterable[int],
    model: str | Recipe | BaseEstimator = "multinomial_nb",
) -> AnyArray:
    """Return predictions of a classifier on the first k columns of a ranking, for each k.

    Parameters
    ----------
    X_train, X_test : arrays or sparse matrices of shape (n_train, n_features) and (n_test, n_features)
        Counts for naive Bayes; for other models, whatever they take.
    y_train : array of shape (n_train,), or an indicator matrix of shape (n_train, n_classes)
        The classes. With an indicator matrix there is one classifier for each column, against the rest, as in
        scikit-learn's ``OneVsRestClassifier``; a column of 0 alone or of 1 alone is predicted as it is.
    order : array of int
        Columns, best first, none of them twice.
    ks : ints
        Numbers of columns, in any order, from 1 to ``len(order)``.
    model : str, Recipe or estimator
        See `termsieve.classify.recipes.RECIPES`. Multinomial, Bernoulli and Poisson naive Bayes take one sweep for all
        k; linear support vector machines and logistic regression start each solution from the last; other models are
        fitted again for each.

    Returns
    -------
    array of shape (len(ks), n_test)
        Labels; with an indicator matrix, 0 and 1 in the shape (len(ks), n_test, n_classes).

    Examples
    --------
    >>> X, y = [[2, 0, 1], [1, 1, 0], [0, 3, 1], [0, 1, 1]], ["sea", "sea", "money", "money"]
    >>> curve(X, y, [[2, 1, 0], [0, 1, 2]], order=[0, 1, 2], ks=[1, 3])
    array([['money', 'money'],
           ['sea', 'money']], dtype='<U5')
    """
    found = predict_curve(X_train, y_train, X_test, order, ks, model)
    return found.codes if found.codes.ndim == 3 else found.classes[found.codes]


class CurvePredictions(NamedTuple):
    """The predictions of `curve` as indices into the classes: smaller and faster to evaluate.

    Attributes
    ----------
    classes : array of shape (n_classes,)
    codes : array of shape (len(ks), n_test)
        With an indicator matrix, 0 and 1 in the shape (len(ks), n_test, n_classes).
    gaps : array of shape (len(ks),), or None
        The certificates of a `LinearSVM`: the largest duality gap of a class at each k, as a share of its objective.
        None for other models.
    decisions: array of shape (len(ks), n_test), or None
        Of two classes, how much the second is preferred, where that was asked for: the log odds of naive Bayes, the
        decision function of a `LinearSVM`. None for other models and more classes.
    """

    classes: AnyArray
    codes: IntegerArray
    gaps: Array | None
    decisions: Array | None


def predict_curve(
    X_train: Any,
    y_train: Any,
    X_test: Any,
    order: Any,
    ks: Iterable[int],
    model: str | Recipe | BaseEstimator = "multinomial_nb",
    *,
    decisions: bool = False,
) -> CurvePredictions:
    """Return the predictions of `curve` as indices into the classes, and the certificates of the solutions.

    With ``decisions=True`` also how much the second of two classes is preferred.

    Examples
    --------
    >>> X, y = [[2, 0, 1], [1, 1, 0], [0, 3, 1], [0, 1, 1]], ["sea", "sea", "money", "money"]
    >>> found = predict_curve(X, y, [[2, 1, 0], [0, 1, 2]], order=[0, 1, 2], ks=[1, 3], model="linear_svm")
    >>> found.codes
    array([[1, 0],
           [1, 0]], dtype=int32)
    >>> bool(found.gaps.max() <= 1e-8)
    True
    """
    task = CurveTask.from_arguments(X_train, y_train, X_test, order, ks, classifier(model))
    points, back = np.unique(task.ks, return_inverse=True)
    if not len(points) or not task.test.shape[0] or not task.codes.shape[1]:
        found = CurveOutcome(np.zeros((task.codes.shape[1], len(points), task.test.shape[0]), np.int32))
    else:
        found = _find_way(task)(task, points, decisions and not task.indicator and len(task.classes) == 2)
    codes = found.codes[:, back]
    return CurvePredictions(
        task.classes,
        codes.transpose(1, 2, 0).astype(np.int8) if task.indicator else codes[0],
        None if found.gaps is None else found.gaps[back],
        None if found.decisions is None else found.decisions[back],
    )


def _find_way(task: CurveTask) -> Callable[[CurveTask, Int64Array, bool], CurveOutcome]:
    if can_sweep(task.model):
        return predict_by_sweeping
    if _find_linear_svm(task.model) is not None and (task.indicator or len(task.classes) > 1):
        return _predict_along_path
    return _predict_by_refitting


# Linear support vector machines: each solution from the one before


def _find_linear_svm(model: BaseEstimator) -> tuple[LinearSVM, bool] | None:
    """Return the linear support vector machine of a model, and whether documents are normalized before; else None."""
    if isinstance(model, Pipeline) and len(model) == 2 and type(model[0]) is Normalizer and model[0].norm == "l2":
        return (model[1], True) if type(model[1]) is LinearSVM else None
    return (model, False) if type(model) is LinearSVM else None


def _predict_along_path(task: CurveTask, points: Int64Array, wants_decisions: bool) -> CurveOutcome:
    model, normalize = _find_linear_svm(task.model) or (LinearSVM(), False)
    columns = task.order[: points[-1]]
    train, test = (_ranked_columns(X, name, columns) for X, name in task.named_matrices)
    rows, unseen = (RankedRows(X, normalize=normalize, fit_intercept=model.fit_intercept) for X in (train, test))
    linear_path.load_kernels()
    rows.views(points)
    views = unseen.views(points)
    codes = np.empty((task.codes.shape[1], len(points), test.shape[0]), np.int32)
    gaps = np.zeros(codes.shape[:2])  # constant predictions have none
    decisions = np.empty(codes.shape[1:]) if wants_decisions else None

    def work(problem: int) -> None:
        constant = task.constant_class(problem)
        if constant is not None:
            codes[problem] = constant
            return
        classes = np.arange(2) if task.indicator else task.classes
        path = model.solve_path(rows, train, task.codes[:, problem], classes, points)
        gaps[problem] = path.gaps.max(axis=1)
        for at, view in enumerate(views):
            sums = unseen.decide(view, path.weights(at))
            codes[problem, at] = decide_codes(sums)
            if decisions is not None:
                decisions[at] = sums[:, 0]

    try:
        model.check_parameters()
        work_on_each(work, range(len(codes)), count_cores())
    except ValueError as error:
        raise task.explain(error, int(points[-1])) from error
    return CurveOutcome(codes, gaps.max(axis=0), decisions)


def _ranked_columns(X: Any, name: str, columns: Int64Array) -> sparse.csr_array:
    ranked = sparse.csr_array(X[:, columns])
    if not np.isfinite(ranked.data).all():
        raise InputError(f"{name} has entries that are not finite numbers.")
    return ranked


# Other models: a fit for each k


def _predict_by_refitting(task: CurveTask, points: Int64Array, _: bool) -> CurveOutcome:
    n_problems = task.codes.shape[1]
    codes = np.empty((n_problems, len(points), task.test.shape[0]), np.int32)
    for problem in range(n_problems):
        constant = task.constant_class(problem)
        if constant is not None:
            codes[problem] = constant
            continue
        model = None
        for at, k in enumerate(points.tolist()):
            model = task.fit_model(k, problem, before=model)
            try:
                codes[problem, at] = task.predict_codes(model, task.take_columns(k)[1])
            except ValueError as error:
                raise InputError(f"The documents of X_test cannot be classified: {error}") from error
    return CurveOutcome(codes)


def load_sweeps() -> None:
    """Load or compile the loops of naive Bayes."""
    with use_way("compiled"):
        for model in ("multinomial_nb", "bernoulli_nb", "poisson_nb"):
            _predict_little(model)


def load_probit_kernels() -> None:
    """Load or compile the loops of the probit classifier."""
    for model in ("probit", 'probit(prior="laplace")'):
        _predict_little(model)


@cache
def load_kernels(model: str, entries: int) -> None:
    """Load or compile in this thread the loops that a classifier needs in several threads: see `termsieve.threads`.

    Naive Bayes needs none if there are few entries in the matrix.
    """
    with suppress(ValueError):  # invalid parameters are reported later, with the documents of the user
        estimator = classifier(model)
        if can_sweep(estimator) and kernels_pay(entries, SWEPT_ENTRIES):
            with use_way("compiled"):
                _predict_little(model)
        elif isinstance(estimator, LinearSVM | ProbitClassifier):
            _predict_little(model)


def _predict_little(model: str) -> None:
    X = sparse.csr_array(np.eye(4) + np.eye(4)[::-1])
    predict_curve(X, np.array([0, 1, 1, 0]), X, [0, 1, 2], [1, 3], model)

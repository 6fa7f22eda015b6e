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
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.naive_bayes import BernoulliNB, MultinomialNB
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import Normalizer

from termsieve._kernels import SWEEP_LOOPS, Threshold, import_kernels, kernels_pay, use_way
from termsieve._types import AnyArray, Array, Int32Array, Int64Array
from termsieve.classify import linear_path, plain_sweep
from termsieve.classify.linear_path import decide_codes
from termsieve.classify.linear_svm import LinearSVM
from termsieve.classify.logistic_path import can_continue, continue_from
from termsieve.classify.poisson import PoissonNB, is_sparse, log_prior, poisson_rates
from termsieve.classify.probit import ProbitClassifier
from termsieve.classify.ranked_rows import RankedRows
from termsieve.classify.recipes import Recipe, classifier
from termsieve.classify.sweep_coefficients import COEFFICIENTS, SweepCoefficients, can_sweep
from termsieve.classify.vocabulary_nb import VocabularyNB
from termsieve.errors import InputError, OptionError
from termsieve.threads import count_cores, work_on_each

if TYPE_CHECKING:
    from termsieve.classify import curve_kernels
else:
    curve_kernels = import_kernels("termsieve.classify.curve_kernels")

_CHUNK_DOCS = 512  # documents a thread takes at a time
# entries of a matrix, from which on loops are quicker than NumPy over the many curves of a comparison
SWEPT_ENTRIES = Threshold(warm=1 << 18, cold=1 << 20, group=SWEEP_LOOPS)


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
    codes: npt.NDArray[np.integer]
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


class CurveOutcome(NamedTuple):
    """What one of the ways gives: codes of problems x points x documents; see `CurvePredictions` for the rest."""

    codes: Int32Array
    gaps: Array | None = None
    decisions: Array | None = None


def _find_way(task: CurveTask) -> Callable[[CurveTask, Int64Array, bool], CurveOutcome]:
    if can_sweep(task.model):
        return _predict_by_sweeping
    if find_linear_svm(task.model) is not None and (task.indicator or len(task.classes) > 1):
        return _predict_along_path
    return _predict_by_refitting


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

    def take_columns(self, k: int) -> tuple[Any, Any]:
        """Return both matrices with the first k columns of the ranking."""
        train, test = self._ranked_matrices
        return train[:, :k], test[:, :k]

    @cached_property
    def _ranked_matrices(self) -> tuple[Any, Any]:
        columns = self.order[: self.ks.max()]
        return self.train[:, columns], self.test[:, columns]

    def model_of(self, problem: int) -> BaseEstimator:
        """Return a new model for one of its problems; where it needs to know all words, it is told."""
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
    numbers = np.asarray(ks if hasattr(ks, "__len__") else list(ks))
    if numbers.ndim != 1 or (numbers.dtype.kind not in "iu" and numbers.size):
        raise OptionError(f"ks must be a list of whole numbers, not {ks!r}.")
    bad = numbers[(numbers < 1) | (numbers > n)]
    if bad.size:
        raise OptionError(f"ks has {bad[0]}, but it must be from 1 to {n:,}, the number of columns in order.")
    return numbers.astype(np.int64)


# Linear support vector machines: each solution from the one before


def find_linear_svm(model: BaseEstimator) -> tuple[LinearSVM, bool] | None:
    """Return the linear support vector machine of a model, and whether documents are normalized before; else None."""
    if isinstance(model, Pipeline) and len(model) == 2 and type(model[0]) is Normalizer and model[0].norm == "l2":
        return (model[1], True) if type(model[1]) is LinearSVM else None
    return (model, False) if type(model) is LinearSVM else None


def _predict_along_path(task: CurveTask, points: Int64Array, wants_decisions: bool) -> CurveOutcome:
    model, normalize = find_linear_svm(task.model) or (LinearSVM(), False)
    columns = task.order[: points[-1]]
    train, test = (_ranked_columns(X, name, columns) for X, name in _named_matrices(task))
    rows, unseen = (RankedRows(X, normalize=normalize, fit_intercept=model.fit_intercept) for X in (train, test))
    linear_path.load_kernels()
    rows.views(points)
    views = unseen.views(points)
    codes = np.empty((task.codes.shape[1], len(points), test.shape[0]), np.int32)
    gaps = np.zeros(codes.shape[:2])  # constant predictions have none
    decisions = np.empty(codes.shape[1:]) if wants_decisions else None

    def work(problem: int) -> None:
        constant = _constant_class(task, problem)
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
        _run_in_threads(work, range(len(codes)))
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
        constant = _constant_class(task, problem)
        if constant is not None:
            codes[problem] = constant
            continue
        model = None
        for at, k in enumerate(points.tolist()):
            model = task.fit_model(k, problem, before=model)
            codes[problem, at] = task.predict_codes(model, task.take_columns(k)[1])
    return CurveOutcome(codes)


def _constant_class(task: CurveTask, problem: int) -> int | None:
    """Return the value of a column of an indicator matrix that has only one, else None."""
    codes = task.codes[:, problem]
    return int(codes[0]) if task.indicator and (codes == codes[0]).all() else None


# Naive Bayes: one sweep


class RankedEntries(NamedTuple):
    """Entries of a matrix in ranked columns, by document: ranks and values."""

    ends: Int64Array
    ranks: Int32Array
    values: Array


def _predict_by_sweeping(task: CurveTask, points: Int64Array, wants_decisions: bool) -> CurveOutcome:
    loops = _choose_loops(task)
    train, test = (_collect_entries(X, name, task, int(points[-1]), loops) for X, name in _named_matrices(task))
    n_problems, n_classes = task.codes.shape[1], 2 if task.indicator else len(task.classes)
    counts = np.zeros((int(points[-1]), n_problems, n_classes))
    loops.count_entries(**train._asdict(), codes=task.codes, occurrences=counts)
    codes = np.empty((n_problems, len(points), task.test.shape[0]), np.int32)
    decisions = None
    for problem in range(n_problems):
        constant = _constant_class(task, problem)
        if constant is not None:
            codes[problem] = constant
            continue
        sizes = np.bincount(task.codes[:, problem], minlength=n_classes).astype(np.float64)
        bayes = BayesProblem(task, problem, np.ascontiguousarray(counts[:, problem].T), sizes)
        _sweep_problem(bayes, test, points, codes[problem], loops)
        if wants_decisions:
            decisions = _sum_log_odds(bayes.coefficients(points), test, points)
    return CurveOutcome(codes, None, decisions)


def _choose_loops(task: CurveTask) -> Any:
    """Return the module of the loops that are quicker for so many entries: compiled ones, or those of NumPy."""
    entries = sum(X.nnz if is_sparse(X) else X.size for X in (task.train, task.test))
    return curve_kernels if kernels_pay(entries, SWEPT_ENTRIES) else plain_sweep


def _sum_log_odds(coefficients: SweepCoefficients, test: RankedEntries, points: Int64Array) -> Array:
    """Return the log odds of the second of two classes: points x documents."""
    weights, fixed, drift = (part[:, 1] - part[:, 0] for part in coefficients[:3])
    taken = np.arange(len(weights))[:, np.newaxis] < points
    rows = sparse.csr_array((test.values, test.ranks, test.ends), (len(test.ends) - 1, len(weights)))
    return np.asarray(rows @ np.where(taken, weights[:, np.newaxis] - drift, 0.0) + fixed).T


def _named_matrices(task: CurveTask) -> tuple[tuple[Any, str], tuple[Any, str]]:
    return (task.train, "X_train"), (task.test, "X_test")


def _collect_entries(X: Any, name: str, task: CurveTask, k: int, loops: Any) -> RankedEntries:
    """Collect the entries of the first k columns of the ranking."""
    X = sparse.csr_array(X)
    data = X.data.astype(np.float64, copy=False)
    if data.size and not (data.min() >= 0 and data.max() < np.inf):
        raise InputError(f"{name} has entries from {data.min()} to {data.max()}: naive Bayes needs counts from 0.")
    rank = np.full(X.shape[1], -1, np.int32)
    rank[task.order[:k]] = np.arange(k)
    ends = np.zeros(X.shape[0] + 1, np.int64)
    ranks, values = np.empty(X.nnz, np.int32), np.empty(X.nnz)
    presence = type(task.model) is BernoulliNB
    threshold = float(task.model.binarize) if presence else 0.0
    indptr, columns = X.indptr.astype(np.int64, copy=False), X.indices.astype(np.int32, copy=False)
    n = loops.select_entries(
        indptr=indptr, columns=columns, data=data, rank=rank, threshold=threshold, presence=presence, ends=ends,
        ranks=ranks, values=values,
    )  # fmt: skip
    return RankedEntries(ends, ranks[:n], values[:n])


@dataclass(frozen=True)
class BayesProblem:
    """One naive Bayes problem: occurrences of the ranked terms by class, and the sizes of the classes."""

    task: CurveTask
    problem: int
    counts: Array
    sizes: Array

    def coefficients(self, points: Int64Array) -> SweepCoefficients:
        """Return the coefficients of its scores along the ranking."""
        model = self.task.model_of(self.problem)
        return COEFFICIENTS[type(model)](model, self.counts, self.sizes, points)

    def empty_class(self) -> int:
        """Return the class of documents without terms, if it is the same for all numbers of terms; otherwise -1."""
        if not isinstance(self.task.model, MultinomialNB):
            return -1
        return int(self.task.predict_codes(self._build_estimator(1), sparse.csr_array((1, 1)))[0])

    def predict_exactly(self, k: int, rows: Int64Array) -> Int32Array:
        """Return the classes of some test documents as the estimator fitted to the first k columns predicts them."""
        if not is_sparse(self.task.train) or not is_sparse(self.task.test):
            # sums of dense matrices are computed by a library whose order depends on the shape of the whole matrix
            return self.task.predict_codes(self.task.fit_model(k, self.problem), self.task.take_columns(k)[1])[rows]
        return self.task.predict_codes(self._build_estimator(k), self.task.test[rows][:, self.task.order[:k]])

    def _build_estimator(self, k: int) -> BaseEstimator:
        """Build the model with exactly what it would have learned from the first k columns."""
        model, counts = self.task.model_of(self.problem), np.ascontiguousarray(self.counts[:, :k])
        model.classes_ = np.arange(2) if self.task.indicator else self.task.classes
        model.n_features_in_, model.feature_count_, model.class_count_ = k, counts, self.sizes
        model.class_log_prior_ = log_prior(self.sizes, model.fit_prior, model.class_prior)
        if isinstance(model, VocabularyNB):
            model._update_feature_log_prob(model.alpha)
        elif isinstance(model, PoissonNB):
            model.rate_ = poisson_rates(counts, self.sizes, model.alpha, model.beta)
        else:
            smoothed = counts + model.alpha
            total = smoothed.sum(axis=1) if isinstance(model, MultinomialNB) else self.sizes + model.alpha * 2
            model.feature_log_prob_ = np.log(smoothed) - np.log(total.reshape(-1, 1))
        return model


def _sweep_problem(bayes: BayesProblem, test: RankedEntries, points: Int64Array, out: Int32Array, loops: Any) -> None:
    """Fill in the predictions of one problem: points x documents."""
    k = int(points[-1])
    point = np.searchsorted(points, np.arange(1, k + 1)).astype(np.int32)
    coefficients = {name: np.ascontiguousarray(part) for name, part in bayes.coefficients(points)._asdict().items()}
    entries = test._asdict()
    empty = bayes.empty_class()

    def work(first: int) -> None:
        last = min(first + _CHUNK_DOCS, out.shape[1])
        loops.sweep(first=first, last=last, **entries, point=point, **coefficients, empty=empty, out=out)

    _run_in_threads(work, range(0, out.shape[1], _CHUNK_DOCS))
    for at in np.flatnonzero((out < 0).any(axis=1)):
        rows = np.flatnonzero(out[at] < 0)
        out[at, rows] = bayes.predict_exactly(int(points[at]), rows)


def _run_in_threads(work: Callable[[int], None], items: range) -> None:
    work_on_each(work, items, count_cores())


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

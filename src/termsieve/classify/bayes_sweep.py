"""Naive Bayes along a ranking: one sweep for all numbers of terms; see `termsieve.classify.curves`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.naive_bayes import BernoulliNB, MultinomialNB

from termsieve._kernels import SWEEP_LOOPS, WorkThreshold, import_kernels, kernels_pay
from termsieve._types import Array, Int32Array, Int64Array
from termsieve.classify import plain_sweep
from termsieve.classify.curve_task import CurveOutcome, CurveTask
from termsieve.classify.poisson import PoissonNB, is_sparse, log_prior, poisson_rates
from termsieve.classify.sweep_coefficients import COEFFICIENTS, SweepCoefficients
from termsieve.classify.vocabulary_nb import VocabularyNB
from termsieve.errors import InputError
from termsieve.threads import count_cores, work_on_each

if TYPE_CHECKING:
    from termsieve.classify import curve_kernels
else:
    curve_kernels = import_kernels("termsieve.classify.curve_kernels")


_CHUNK_DOCS = 512  # documents a thread takes at a time
# entries of a matrix, from which on loops are quicker than NumPy over the many curves of a comparison
SWEPT_ENTRIES = WorkThreshold(warm=1 << 18, cold=1 << 20, group=SWEEP_LOOPS)


class RankedEntries(NamedTuple):
    """Entries of a matrix in ranked columns, by document: ranks and values."""

    ends: Int64Array
    ranks: Int32Array
    values: Array


def predict_by_sweeping(task: CurveTask, points: Int64Array, wants_decisions: bool) -> CurveOutcome:
    """Predict for all points in one sweep along the ranking."""
    loops = _choose_loops(task)
    train, test = (_collect_entries(X, name, task, int(points[-1]), loops) for X, name in task.named_matrices)
    n_problems, n_classes = task.codes.shape[1], 2 if task.indicator else len(task.classes)
    counts = np.zeros((int(points[-1]), n_problems, n_classes))
    loops.count_entries(**train._asdict(), codes=task.codes, occurrences=counts)
    codes = np.empty((n_problems, len(points), task.test.shape[0]), np.int32)
    decisions = None
    for problem in range(n_problems):
        constant = task.constant_class(problem)
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

    work_on_each(work, range(0, out.shape[1], _CHUNK_DOCS), count_cores())
    for at in np.flatnonzero((out < 0).any(axis=1)):
        rows = np.flatnonzero(out[at] < 0)
        out[at, rows] = bayes.predict_exactly(int(points[at]), rows)

"""The data of one split, and its trials: rankings of the training documents, and predictions of the test documents.

The counts of the training documents are those of all documents minus those of the test documents. Nothing of the test
documents is used before they are predicted.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from termsieve._types import AnyArray, BoolArray, Int64Array
from termsieve.classify.curves import predict_curve
from termsieve.classify.recipes import classifier
from termsieve.counts.counts import Counts
from termsieve.counts.labelled import LabelledMatrix
from termsieve.errors import InputError
from termsieve.estimators.weighting import Weighting
from termsieve.evaluate.measures import measure_curve
from termsieve.ranking.ranking import score
from termsieve.ranking.score_values import Scores
from termsieve.selection.pool import TermPool
from termsieve.selection.redundancy_rules import DEFAULT_K, RedundancyRule, parse_redundancy_rule
from termsieve.selection.rules import parse_rule
from termsieve.selection.selection import select_from_pool
from termsieve.study.corpus import Corpus
from termsieve.study.journal import DUALITY_GAP, TrialRows
from termsieve.study.plan import Contender, Plan
from termsieve.study.splits import Split
from termsieve.threads import measure_cpu


class RankedColumns(NamedTuple):
    """The columns of one ranking, best first, of all classes (label "") or of one."""

    label: str
    order: Int64Array


class TimedRankings(NamedTuple):
    """The rankings of a score, and the CPU seconds of scoring and sorting alone."""

    rankings: list[RankedColumns]
    seconds: float


def count_training(corpus: Corpus, split: Split) -> Counts:
    """Return the counts of the training documents: where the test documents are all others, by subtraction."""
    times = np.bincount(np.concatenate([split.train, split.test]), minlength=corpus.n_docs)
    if (times == 1).all():
        return corpus.counts - Counts.from_matrix(corpus.X[split.test], corpus.Y[split.test], classes=corpus.classes)
    return Counts.from_matrix(corpus.X[split.train], corpus.Y[split.train], classes=corpus.classes)


class SplitData:
    """The data of one split: its counts, matrices and labels."""

    def __init__(self, corpus: Corpus, plan: Plan, split: Split, n_terms: int | None = None) -> None:
        self.plan, self.split, self.n_terms = plan, split, n_terms
        self.ks = [int(k) for k in plan.ks]
        self.classes = corpus.classes
        self.train_labels, self.test_labels = corpus.Y[split.train], corpus.Y[split.test]
        self.is_single_label = corpus.single_labels is not None and not plan.one_vs_rest
        self.occurrences = count_training(corpus, split)
        self.counts = self.occurrences
        parts = corpus.X[split.train], corpus.X[split.test]
        self._train_rows, self._corpus = split.train, corpus
        self.matrices = {name: self._apply_weighting(one, *parts) for name, one in plan.weightings.items()}
        self._whole: dict[str, tuple[list[list[Any]], float]] = {}  # rows with all terms, and their seconds
        self._locks = {model: Lock() for model in plan.classifiers}

    def _apply_weighting(
        self, weighting: Weighting, train: sparse.csr_array, test: sparse.csr_array
    ) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Weight the matrices of the classifiers and, with weigh="all", the counts of the scores."""
        weights, before = weighting.compute_weights(self.occurrences), self.plan.weigh == "all"
        train, test = (weighting.apply(X, weights, np.int64, cosine=before) for X in (train, test))
        if before and weighting.name != "count":
            self.counts = Counts.from_matrix(train, self.train_labels, classes=self.classes)
        return train, test

    @cached_property
    def matrix(self) -> LabelledMatrix:
        """The training documents, for rules that look at terms together."""
        classes = [self.classes.index(name) for name in self.occurrences.classes]
        return LabelledMatrix(self._corpus.X[self._train_rows], self.train_labels[:, classes], self.occurrences)

    def make_model(self, name: str) -> BaseEstimator | str:
        """Make the classifier; with weigh="selected", it normalizes documents to length 1 over the selected terms."""
        if self.plan.weightings[self.plan.weighting_of(name)].plain or self.plan.weigh == "all":
            return name
        return make_pipeline(Normalizer(), classifier(name))

    def rank_columns(self, contender: Contender) -> TimedRankings:
        """Rank the columns by a score: once for all classes, or once for each class."""
        start = measure_cpu()
        together = parse_redundancy_rule(contender.score)
        if together is not None:
            return self._rank_together(contender, together)
        scores = score(self.counts, contender.score)
        if self.plan.per_class:
            orders = [(label, scores.order_of_class(c)) for c, label in enumerate(scores.classes)]
        else:
            matrix = None if contender.rule is None else self.matrix
            orders = [("", order_columns(scores, contender, matrix))]
        return self._limit_rankings(orders, contender, measure_cpu() - start)

    def _rank_together(self, contender: Contender, rule: RedundancyRule) -> TimedRankings:
        """Rank the columns by a rule that looks at terms together, as far as the largest k that is not all of them."""
        start = measure_cpu()
        among = np.flatnonzero(self._allowed_columns(contender))
        depth = max([k for k in self.ks if k < len(among)], default=DEFAULT_K)
        classes = enumerate(self.occurrences.classes.tolist()) if self.plan.per_class else [(None, "")]
        orders = [(label, rule.rank_all(self.matrix, depth, among, c)) for c, label in classes]
        return self._limit_rankings(orders, contender, measure_cpu() - start)

    def _limit_rankings(
        self, orders: list[tuple[str, Int64Array]], contender: Contender, seconds: float
    ) -> TimedRankings:
        ranked = [RankedColumns(label, self._filter_order(order, contender)) for label, order in orders]
        if not all(len(one.order) for one in ranked):
            raise InputError(
                f"No terms are selected by {contender.name}: of {self.occurrences.n_terms:,} terms in the training "
                "documents none passes the limits (min_df, min_tf, max_df, max_tf, rule)."
            )
        return TimedRankings(ranked, seconds)

    def _filter_order(self, order: Int64Array, contender: Contender) -> Int64Array:
        """Drop terms that are too rare or too frequent in the training documents, and all after the largest k."""
        return order[self._allowed_columns(contender)[order]][: self.ks[-1]]

    def _allowed_columns(self, contender: Contender) -> BoolArray:
        """Return a mask of the terms that are neither too rare nor too frequent in the training documents."""
        return self.plan.allows(self.occurrences) & contender.allows(self.occurrences)

    def evaluate_trial(self, name: str, rankings: TimedRankings, model: str) -> tuple[TrialRows, float]:
        """Return the rows of one trial, and the CPU seconds of this thread."""
        start = measure_cpu()
        shared = self._shares_all_terms(rankings)
        ks = [k for k in self.ks if k != self.n_terms] if shared else self.ks
        rows = [row for one in rankings.rankings for row in self._trial_rows(one, model, ks)]
        if self.plan.per_class:
            rows += _macro_rows(rows)
        seconds = measure_cpu() - start
        if shared:
            with self._locks[model]:
                if model not in self._whole:
                    self._whole[model] = self._rows_of_all_terms(model)
            rows += self._whole[model][0]
            seconds += self._whole[model][1]
        first = [self.split.repeat, self.split.fold, name, model]
        return [[*first, *row] for row in rows], seconds

    def _shares_all_terms(self, rankings: TimedRankings) -> bool:
        """Tell whether a ranking has all terms, so that every score gives the same with all of them."""
        if self.n_terms not in self.ks or self.plan.per_class or self.plan.drop_empty:
            return False
        return len(rankings.rankings[0].order) == len(self._all_columns)

    @cached_property
    def _all_columns(self) -> Int64Array:
        """The columns that may be ranked, in their order."""
        return np.flatnonzero(self.plan.allows(self.occurrences))

    def _rows_of_all_terms(self, model: str) -> tuple[list[list[Any]], float]:
        start = measure_cpu()
        rows = list(
            self._trial_rows(RankedColumns("", self._all_columns), model, [k for k in self.ks if k == self.n_terms])
        )
        return rows, measure_cpu() - start

    def _trial_rows(self, ranked: RankedColumns, model: str, ks: Sequence[int]) -> Iterator[list[Any]]:
        known, truth = self.split_labels(ranked.label)
        seen, unseen = self.matrices[self.plan.weighting_of(model)]
        if not self.plan.drop_empty:
            yield from self._curve_rows(ranked, model, ks, seen, known, unseen, truth) if ks else ()
            return
        for k in ks:
            train, test = (find_nonempty_documents(X, ranked.order[:k]) for X in (seen, unseen))
            if not len(train) or not len(test):
                raise InputError(
                    f"drop_empty leaves no {'test' if len(train) else 'training'} documents in a split: none has one "
                    f"of the first {k:,} terms. Give more terms, or keep such documents."
                )
            yield from self._curve_rows(ranked, model, (k,), seen[train], known[train], unseen[test], truth[test])

    def _curve_rows(
        self, ranked: RankedColumns, model: str, ks: Sequence[int], train: Any, known: Any, test: Any, truth: Any
    ) -> Iterator[list[Any]]:
        reached = [min(k, len(ranked.order)) for k in ks]
        classes, codes, gaps, _ = predict_curve(train, known, test, ranked.order, reached, self.make_model(model))
        names = [ranked.label] if ranked.label else self.classes
        predicted = codes if codes.ndim == 3 else classes[codes]
        for place, label, measure, value in measure_curve(truth, predicted, names, one_class=ranked.label):
            yield [ks[place], label, measure, value]
        if gaps is not None:
            for k, gap in zip(ks, gaps.tolist(), strict=True):
                yield [k, ranked.label, DUALITY_GAP, gap]

    def split_labels(self, label: str = "") -> tuple[AnyArray, AnyArray]:
        """Return the labels of training and test documents, of all classes or of one, as the classifier takes them."""
        if label:
            c = self.classes.index(label)
            return self.train_labels[:, [c]].toarray().ravel(), self.test_labels[:, [c]].toarray().ravel()
        if self.is_single_label:
            return _class_codes(self.train_labels), _class_codes(self.test_labels)
        return self.train_labels.toarray(), self.test_labels.toarray()


def order_columns(scores: Scores, contender: Contender, matrix: LabelledMatrix | None) -> Int64Array:
    """Return the columns of a ranking for all classes, best first; with a rule, those that it selects from a matrix."""
    if contender.rule is None:
        return scores.order(contender.aggregate)
    return select_from_pool(TermPool(scores, contender.aggregate, matrix=matrix), parse_rule(contender.rule)).index


def _macro_rows(rows: TrialRows) -> Iterator[list[Any]]:
    """Yield means over the classes, each of which had a ranking and a classifier of its own."""
    values: dict[tuple[int, str], list[float]] = {}
    for k, _, measure, value in rows:
        if measure == DUALITY_GAP:
            continue
        values.setdefault((k, measure), []).append(value)
    for (k, measure), some in values.items():
        yield [k, "", f"{measure}_macro", math.fsum(some) / len(some)]


def find_nonempty_documents(X: sparse.csr_array, columns: Int64Array) -> Int64Array:
    """Return the documents that have at least one of the terms."""
    return np.flatnonzero(np.diff(X[:, columns].indptr))


def _class_codes(indicator: sparse.csr_array) -> Int64Array:
    """Return the class of each document, where each has one."""
    return indicator.indices.astype(np.int64)

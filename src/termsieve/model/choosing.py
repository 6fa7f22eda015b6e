"""Which score, how many terms, which classifier: candidates, judged on the same folds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.multiclass import OneVsRestClassifier

from termsieve.classify import classifier, parse_recipe
from termsieve.corpus import Corpus
from termsieve.counts import Counts
from termsieve.curves import load_kernels
from termsieve.errors import InputError
from termsieve.evaluate import confusion
from termsieve.ranking import load_kernels as load_scoring_kernels
from termsieve.ranking import score
from termsieve.rules import AnyRule, parse_rule
from termsieve.selection import select
from termsieve.splits import Split
from termsieve.threads import work_on_each
from termsieve.weighting import parse_weighting

SCORES = ("gu", "chi2", "bns")
CLASSIFIERS = ("multinomial_nb", "linear_svm")
KS = (300, 1000, 3000, 10000)
_COUNTING = ("multinomial_nb", "bernoulli_nb", "poisson_nb")  # these are models of occurrences
MEASURES = ("f1_macro", "accuracy")


@dataclass(frozen=True)
class Candidate:
    """What a model may be, in spellings."""

    score: str
    rule: str
    classifier: str
    weighting: str

    def __str__(self) -> str:
        return f"{self.classifier} on {self.weighting} of {self.rule} by {self.score}"


class Judged(NamedTuple):
    """A candidate, its mean number of terms, and means and standard errors over the folds."""

    candidate: Candidate
    n_terms: float
    f1_macro: float
    standard_error: float
    accuracy: float


def candidates(
    scores: Sequence[str], rules: Sequence[AnyRule] | None, models: Sequence[str], weighting: str | None, n_terms: int
) -> list[Candidate]:
    """Every combination; without rules, numbers of terms that make sense for so many terms, and all of them."""
    if rules is None:
        rules = [*(k for k in KS if k <= n_terms / 2), 'top("all")']
    spelled = [repr(parse_rule(rule)) for rule in rules]
    return [
        Candidate(one, rule, model, weighting or usual_weighting(model))
        for model in models
        for one in scores
        for rule in spelled
        if not (rule == 'top("all")' and one != scores[0])  # then the score does not matter
    ]


def usual_weighting(model: str) -> str:
    """Occurrences for naive Bayes, tf-idf for the others.

    >>> usual_weighting("multinomial_nb(alpha=0.5)"), usual_weighting("linear_svm")
    ('count', 'tfidf')
    """
    return "count" if parse_recipe(model).name in _COUNTING else "tfidf"


def judge(
    corpus: Corpus,
    among: Sequence[Candidate],
    splits: Sequence[Split],
    *,
    min_df: float = 1,
    workers: int = 1,
    advance: Callable[[], None] = lambda: None,
) -> list[Judged]:
    """Each candidate, judged on the same folds; nothing of a test part is seen before it is predicted."""

    def work(split: Split) -> list[tuple[float, ...]]:
        fold = Fold(corpus, split, min_df)
        found = []
        for one in among:
            found.append(fold.measured(one))
            advance()
        return found

    if workers > 1:
        load_scoring_kernels()
        for model in {one.classifier for one in among}:
            load_kernels(model)
    values = np.array(work_on_each(work, splits, workers), dtype=np.float64)
    means = values.mean(axis=0)
    errors = values.std(axis=0, ddof=1) / math.sqrt(len(values)) if len(values) > 1 else np.zeros_like(means)
    return [
        Judged(one, float(m[0]), float(m[1]), float(e[1]), float(m[2]))
        for one, m, e in zip(among, means, errors, strict=True)
    ]


def best(judged: Sequence[Judged]) -> Judged:
    """The fewest terms within one standard error of the best; among equals, the best."""
    top = max(judged, key=lambda one: (one.f1_macro, -one.n_terms))
    near = [one for one in judged if one.f1_macro >= top.f1_macro - top.standard_error]
    return min(near, key=lambda one: (one.n_terms, -one.f1_macro))


class Fold:
    """One division of the corpus, on which candidates are fitted and judged."""

    def __init__(self, corpus: Corpus, split: Split, min_df: float) -> None:
        self.train, self.test = corpus.X[split.train], corpus.X[split.test]
        self.single = corpus.single is not None
        self.known, self.truth = (labels_of(corpus.Y[part], single=self.single) for part in (split.train, split.test))
        counts = Counts.from_matrix(self.train, corpus.Y[split.train], corpus.terms.to_pylist(), classes=corpus.classes)
        least = min_df if isinstance(min_df, int) else min_df * counts.n_docs
        self.kept = np.flatnonzero(counts.term_df >= max(least, 1))
        self.counts = counts.taken(self.kept).without_empty()
        self._columns: dict[tuple[str, str], npt.NDArray[np.int64]] = {}

    def measured(self, one: Candidate) -> tuple[float, ...]:
        """The number of terms of a candidate, and its measures."""
        columns = self.columns(one.score, one.rule)
        weighting = parse_weighting(one.weighting)
        weights = weighting.of_terms(self.counts)
        weights = None if weights is None else weights[columns]
        train, test = (
            weighting.apply(X[:, self.kept[columns]], weights, np.float64) for X in (self.train, self.test)
        )  # fmt: skip
        model = fitted(one.classifier, train, self.known, single=self.single)
        counted = confusion(self.truth, model.predict(test))
        return (len(columns), *(float(counted.measure(name)) for name in MEASURES))

    def columns(self, one: str, rule: str) -> npt.NDArray[np.int64]:
        """The terms that a rule takes by a score, in the order of the alphabet."""
        if (one, rule) not in self._columns:
            chosen = select(score(self.counts, one), rule)
            if not len(chosen):
                raise InputError(f"No terms are selected by {rule} on {one}: {chosen.reason}.")
            self._columns[one, rule] = np.sort(chosen.index)
        return self._columns[one, rule]


def labels_of(Y: Any, *, single: bool) -> Any:
    """Labels as classifiers take them: the place of the class, or a sparse indicator matrix."""
    return Y.indices.astype(np.int64) if single else Y


def fitted(spelling: str, X: Any, y: Any, *, single: bool) -> BaseEstimator:
    """A classifier, fitted to documents; one that cannot be says why."""
    try:
        return estimator(spelling, single=single).fit(X, y)
    except ValueError as error:
        raise InputError(
            f"{spelling} cannot learn from {X.shape[0]:,} documents and {X.shape[1]:,} terms: {error}"
        ) from error


def estimator(spelling: str, *, single: bool) -> BaseEstimator:
    """A new classifier; with several labels per document one for each class, against the rest."""
    made = classifier(spelling)
    return made if single else OneVsRestClassifier(made)

"""The fit of a model to all documents, and the same fit to parts of them, so that held-out documents can be judged.

Texts are read once, into a corpus, whether they are compared, too, or not. The fit to a part takes the counts of its
rows: terms, weights and classifier are what they would be if there were no other documents.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.multiclass import OneVsRestClassifier

from termsieve._types import Array, BoolArray, Int64Array
from termsieve.classify.linear_svm import LinearSVM
from termsieve.classify.recipes import classifier as make_classifier
from termsieve.classify.vocabulary_nb import VocabularyNB
from termsieve.counts.counting import resolve_threads
from termsieve.counts.counts import Counts
from termsieve.counts.labelled import LabelledMatrix
from termsieve.defaults import CALIBRATION_FOLDS
from termsieve.errors import InputError, OptionError
from termsieve.estimators import TermVectorizer
from termsieve.model.calibrating import HeldOut, choose_decision
from termsieve.model.calibration import find_log_odds, spread_to_classes
from termsieve.model.model import Model, find_known
from termsieve.model.parts import make_vectorizer
from termsieve.study.corpus import Corpus
from termsieve.study.splits import Split, make_splits
from termsieve.tokens.analyzer import Analyzer

ENOUGH_HELD_OUT = 20_000  # documents: with more, no more folds are fitted
ALL_TERMS = 'top("all")'
_PRIOR_DOCUMENTS = 10  # so many with the shares of all, beside those with none of the terms: of a few nothing is sure


class ModelSpec(NamedTuple):
    """What a model is made of, as spellings."""

    score: str
    rule: str
    weighting: str
    classifier: str
    min_df: float
    analyzer: Analyzer

    def make_vectorizer(self, threads: int | None = None) -> TermVectorizer:
        """Make the vectorizer, not yet fitted."""
        settings = {"score": self.score, "rule": self.rule, "weighting": self.weighting, "min_df": self.min_df}
        return make_vectorizer(settings, self.analyzer, threads)


class TrainingMatrix(NamedTuple):
    """Documents x all terms with occurrences, documents x classes with 0 and 1, and their names."""

    X: sparse.csr_array
    Y: sparse.csr_array
    terms: pa.LargeStringArray
    classes: list[str]
    settings: Mapping[str, Any]

    @classmethod
    def of(cls, corpus: Corpus) -> TrainingMatrix:
        """Return the matrix of a corpus."""
        return cls(corpus.X, corpus.Y, corpus.terms, corpus.classes, corpus.settings)

    @property
    def single(self) -> bool:
        """Whether each document has one label."""
        return bool((np.diff(self.Y.indptr) == 1).all())

    def estimate_prior(self, known: BoolArray) -> Array:
        """Return the share of each class in the documents that are not known, smoothed with those in all documents."""
        shares = np.asarray(self.Y.mean(axis=0)).ravel()
        unknown = self.Y[~known]
        weighed = np.asarray(unknown.sum(axis=0)).ravel() + _PRIOR_DOCUMENTS * shares
        return np.asarray(weighed / (unknown.shape[0] + _PRIOR_DOCUMENTS))

    def take(self, rows: Int64Array) -> TrainingMatrix:
        """Return some of the documents."""
        return self._replace(X=self.X[rows], Y=self.Y[rows])

    def without_empty_classes(self) -> TrainingMatrix:
        """Return the same documents without the classes that none of them has."""
        used = np.flatnonzero(np.asarray(self.Y.sum(axis=0)).ravel())
        return self._replace(Y=self.Y[:, used], classes=[self.classes[c] for c in used])

    def make_counts(self) -> Counts:
        """Return the counts of the terms that these documents have."""
        counts = Counts.from_matrix(self.X, self.Y, classes=self.classes)
        return counts.named(self.terms, self.settings).prune(min_df=1)

    def find_columns(self, terms: pa.LargeStringArray) -> Int64Array:
        """Return the columns of some terms."""
        places = pc.index_in(terms, value_set=self.terms)
        return np.asarray(places.to_numpy(zero_copy_only=False), np.int64)

    def reduce_to(self, counts: Counts) -> LabelledMatrix:
        """Return the matrix of the terms of some counts, for rules that look at documents."""
        return LabelledMatrix(self.X[:, self.find_columns(counts.term_array)], self.Y, counts)


class FittedParts(NamedTuple):
    """A fitted vectorizer and classifier, the columns of its terms, and the prior of documents with none of them."""

    vectorizer: TermVectorizer
    classifier: BaseEstimator
    columns: Int64Array
    prior: Array

    def transform(self, X: sparse.csr_array) -> Any:
        """Return the matrix that the classifier takes, of a matrix with all terms."""
        return self.vectorizer._finish(X[:, self.columns], None)


def make_unmeasured_settings() -> dict[str, Any]:
    """Return what the settings of a model say of its quality where nothing was measured."""
    return {"judged_on": 0, "candidates": [], "f1_macro": None, "standard_error": None, "accuracy": None}


def fit_model(
    corpus: Corpus, spec: ModelSpec, settings: dict[str, Any], *, threads: int | None = None,
    calibrate: int = CALIBRATION_FOLDS, groups: Sequence[Any] | None = None, seed: int = 0,
) -> Model:  # fmt: skip
    """Fit a model to all documents of a corpus, and calibrate its probabilities.

    Parameters
    ----------
    corpus
        The documents; where the model has terms of another analyzer, their texts are read again.
    spec, settings
        What the model is made of, and what is noted beside that.
    calibrate
        The number of folds that are held out in turn to calibrate probabilities; 0 for none.
    groups
        One value for each document: those of one group are held out together.
    """
    check_calibration_folds(calibrate)
    data = TrainingMatrix.of(corpus.read_again(spec.analyzer, resolve_threads(threads)))
    parts = fit_parts(data, spec, single=data.single)
    about = {
        **settings, "score": spec.score, "rule": spec.rule, "weighting": spec.weighting,
        "classifier": spec.classifier, "min_df": spec.min_df, "n_terms": len(parts.columns), "n_docs": corpus.n_docs,
        "analyzer": spec.analyzer.settings, "calibration": None, "duality_gap": _find_largest_gap(parts.classifier),
    }  # fmt: skip
    model = Model(
        parts.vectorizer, parts.classifier, data.classes, single=data.single, settings=about, prior=parts.prior
    )
    held_out = hold_out(data, spec, calibrate, groups, seed) if calibrate else None
    if held_out is not None:
        always = bool((np.diff(data.Y.indptr) > 0).all())
        model.decision, report = choose_decision(held_out, single=data.single, always_label=always and not data.single)
        about["calibration"] = {"folds": calibrate, **report}
    return model


def check_calibration_folds(calibrate: Any) -> None:
    """Refuse what is not a number of folds."""
    if type(calibrate) is not int or calibrate < 0 or calibrate == 1:
        raise OptionError(f"calibrate must be a number of folds, 2 or more, or 0 for none; not {calibrate!r}.")


def fit_parts(data: TrainingMatrix, spec: ModelSpec, *, single: bool) -> FittedParts:
    """Select terms, weigh them and fit the classifier, as `TermVectorizer` and the classifier do with the texts."""
    vectorizer = spec.make_vectorizer()
    present = data.without_empty_classes()
    columns = data.find_columns(vectorizer._select_terms(present.make_counts(), present.reduce_to))
    X = vectorizer._finish(data.X[:, columns], None)
    y = data.Y.indices.astype(np.int64) if single else data.Y
    classifier = _fit_classifier(spec.classifier, X, y, single=single)
    return FittedParts(vectorizer, classifier, columns, data.estimate_prior(find_known(X)))


def _fit_classifier(spelling: str, X: Any, y: Any, *, single: bool) -> BaseEstimator:
    """Fit a classifier; with several labels per document one for each class, against the rest."""
    estimator = make_classifier(spelling)
    if isinstance(estimator, VocabularyNB):
        raise OptionError(
            f"A model sees the selected terms alone, and {spelling} must know all words. Take multinomial_nb."
        )
    try:
        return (estimator if single else OneVsRestClassifier(estimator)).fit(X, y)
    except ValueError as error:
        raise InputError(
            f"{spelling} cannot learn from {X.shape[0]:,} documents and {X.shape[1]:,} terms: {error}"
        ) from error


def _find_largest_gap(classifier: BaseEstimator) -> float | None:
    """Return the largest duality gap of a class, as a share of its objective; None where there is no such thing."""
    fitted = getattr(classifier, "estimators_", [classifier])  # with several labels, one for each class
    gaps = [float(one.certificate_.max()) for one in fitted if isinstance(one, LinearSVM)]
    return max(gaps, default=None)


# Held-out documents


def hold_out(
    data: TrainingMatrix, spec: ModelSpec, folds: int, groups: Sequence[Any] | None, seed: int
) -> HeldOut | None:
    """Fit to all folds but one, in turn, and ask about that one; None if there are too few documents for it."""
    single = data.single
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit to all documents says what there is to say
        try:
            splits = _make_folds(data, folds, groups, seed)
            found = [_ask(data, spec, split, single=single) for split in splits]
        except (InputError, OptionError):
            return None  # a fold has one class, or no terms
    if len(found) == 1:  # the curves are judged on parts that they were not fitted to
        [only] = found
        found = [only._replace(part=np.arange(len(only.part)) % 2)]
    columns: list[Any] = [None if arrays[0] is None else np.concatenate(arrays) for arrays in zip(*found, strict=True)]
    whole = HeldOut(*columns)
    return whole if _can_be_judged(whole) else None


def _make_folds(data: TrainingMatrix, folds: int, groups: Sequence[Any] | None, seed: int) -> list[Split]:
    """Return the splits: no more than give enough held-out documents."""
    labels = data.Y.indices.astype(np.int64) if data.single else None
    sizes = np.sort(np.asarray(data.Y.sum(axis=0)).ravel())
    n = min(folds, int(sizes[-2]) if data.single else data.Y.shape[0])  # each training part has two classes
    splits = make_splits(n, labels, data.Y.shape[0], groups=None if groups is None else np.asarray(groups), seed=seed)
    held_out = np.cumsum([len(split.test) for split in splits])
    return splits[: int(np.searchsorted(held_out, ENOUGH_HELD_OUT)) + 1]


def _ask(data: TrainingMatrix, spec: ModelSpec, split: Split, *, single: bool) -> HeldOut:
    """Fit to the training part of a split, and note what is said of the test part."""
    parts = fit_parts(data.take(split.train), spec, single=single)
    test = data.take(split.test)
    X = parts.transform(test.X)
    known = find_known(X)
    n_classes = len(data.classes)
    log_odds = find_log_odds(parts.classifier, X, single=single)
    if single:
        log_odds = spread_to_classes(log_odds, parts.classifier.classes_.tolist(), n_classes)
    model = Model(parts.vectorizer, parts.classifier, data.classes, single=single, settings={}, prior=parts.prior)
    said = model.label_rows(X)
    return HeldOut(
        log_odds, known, np.tile(parts.prior, (len(known), 1)), said.probabilities, said.labels,
        test.Y.toarray().astype(np.bool_), np.full(len(known), split.fold),
    )  # fmt: skip


def _can_be_judged(held_out: HeldOut) -> bool:
    """Tell whether each part has other parts from which a curve can be learned."""
    return all(
        len(np.unique(held_out.truth[(held_out.part != part) & held_out.known], axis=0)) > 1
        for part in np.unique(held_out.part)
    )

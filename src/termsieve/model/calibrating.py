"""The choice of a calibration from held-out documents, and how good its probabilities are.

Everything is judged on documents that neither the classifier nor the curve has seen: the held-out documents are cut
into parts, and the probabilities of one part come from curves and thresholds that were fitted to the others.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from termsieve._types import Array, BoolArray, Int64Array
from termsieve.evaluate.measures import confusion
from termsieve.evaluate.reliability import Reliability
from termsieve.model.calibration import (
    METHODS,
    SHARED,
    SIGMOID,
    Calibration,
    fit_calibration,
    to_class_probabilities,
)

MIN_POSITIVES = 10  # documents of a class: with fewer, the best F1 says little of the best threshold
EVEN = 0.5
NO_LOSS = 0.003  # of macro F1: some documents at the boundary, far less than the margin of a comparison


class HeldOut(NamedTuple):
    """Documents that were held out of training: what the classifier said of them, and what is true.

    Attributes
    ----------
    log_odds : array (documents x problems)
    known : array (documents)
        Whether the document has a term of the model.
    priors : array (documents x classes)
        What is said of documents with no known term, from the documents that were learned from.
    own : array (documents x classes) or None
        The probabilities of the classifier itself, where it has them.
    labels : array (documents x classes)
        The labels that the classifier itself gives.
    truth : array (documents x classes)
    part : array (documents)
        The part of the held-out documents.
    """

    log_odds: Array
    known: BoolArray
    priors: Array
    own: Array | None
    labels: BoolArray
    truth: BoolArray
    part: Int64Array

    def take(self, rows: Any) -> HeldOut:
        """Return some of the documents."""
        arrays: list[Any] = [None if array is None else array[rows] for array in self]
        return HeldOut(*arrays)


class Decision(NamedTuple):
    """How labels follow from the log odds of a classifier.

    Attributes
    ----------
    calibration : Calibration
    single : bool
        Each document has one label: the most probable class.
    thresholds : array or None
        With several labels, the probability above which a document has the class.
    always_label : bool
        With several labels: a document without any class above its threshold gets the class nearest to it.
    """

    calibration: Calibration
    single: bool
    thresholds: Array | None = None
    always_label: bool = False

    def find_probabilities(self, log_odds: Array, known: BoolArray, prior: Array) -> Array:
        """Return the probabilities of the classes; for documents without a known term, the prior."""
        found = to_class_probabilities(self.calibration.apply(log_odds), single=self.single)
        return np.where(known[:, None] & ~np.isnan(found), found, prior)

    def find_labels(self, probabilities: Array, known: BoolArray) -> BoolArray:
        """Return which classes each document gets."""
        if self.thresholds is None:
            return mark_most_probable(probabilities)
        given = probabilities > self.thresholds
        if self.always_label:
            empty = np.flatnonzero(known & ~given.any(axis=1))
            nearest = np.argmax(probabilities[empty] / self.thresholds, axis=1)
            given[empty, nearest] = True
        return given


def mark_most_probable(probabilities: Array) -> BoolArray:
    """Return a mark for the most probable class of each document, the first of equal ones."""
    marked = np.zeros(probabilities.shape, np.bool_)
    marked[np.arange(len(probabilities)), probabilities.argmax(axis=1)] = True
    return marked


def choose_decision(held_out: HeldOut, *, single: bool, always_label: bool) -> tuple[Decision, dict[str, Any]]:
    """Choose the method with the lowest Brier score on parts that it was not fitted to, and fit it to all parts.

    A curve for each class moves the boundaries between classes. A method is taken only if its labels lose no macro F1
    against the classifier's own, which were compared; one sigmoid for all classes keeps them, and is always there.
    With several labels it is always a sigmoid for each class: classes of a few documents are common there, and a
    stepwise curve through a few documents says little; thresholds take the place of the classifier's labels.

    Returns
    -------
    The decision, and a report of it as plain data.
    """
    reports = {
        method: _cross_check(method, held_out, single=single, always_label=always_label)
        for method in ((*METHODS, SHARED) if single else (SIGMOID,))
    }
    before = _measure(held_out.own, held_out.labels, held_out.truth, single=single)
    least = before["f1_macro"] - NO_LOSS
    kept = [name for name in reports if reports[name]["f1_macro"] >= least or name == SHARED or not single]
    method = min(kept, key=lambda name: reports[name]["brier"])  # the first of equal ones
    decision = fit_decision(method, held_out, single=single, always_label=always_label)
    report = {
        "method": decision.calibration.method,
        "documents": len(held_out.truth),
        **reports[method],
        **{f"{name}_before": value for name, value in before.items() if name != "bins"},
    }
    return decision, report


def fit_decision(method: str, held_out: HeldOut, *, single: bool, always_label: bool) -> Decision:
    """Fit curves and thresholds to held-out documents; those without a known term have nothing to say."""
    use = held_out.take(held_out.known)
    truth = use.truth[:, 1:] if use.log_odds.shape[1] == 1 else use.truth
    calibration = fit_calibration(method, use.log_odds, truth)
    if single:
        return Decision(calibration, single)
    probabilities = Decision(calibration, single).find_probabilities(use.log_odds, use.known, use.priors)
    return Decision(calibration, single, find_thresholds(probabilities, use.truth), always_label)


def find_thresholds(probabilities: Array, truth: BoolArray) -> Array:
    """Return for each class half of the best F1 that any threshold reaches.

    For probabilities that can be trusted, this is the threshold of the best F1; unlike the threshold that happens to
    be the best on these documents, it does not follow single documents. Classes of fewer than `MIN_POSITIVES`
    documents have 0.5.
    """
    thresholds = np.full(truth.shape[1], EVEN)
    for c in np.flatnonzero(truth.sum(axis=0) >= MIN_POSITIVES):
        thresholds[c] = _best_f1(probabilities[:, c], truth[:, c]) / 2.0
    return thresholds


def _best_f1(probabilities: Array, truth: BoolArray) -> float:
    order = np.argsort(-probabilities, kind="stable")
    ordered = probabilities[order]
    f1 = 2.0 * np.cumsum(truth[order]) / (np.arange(1, len(order) + 1) + truth.sum())
    last_of_equal = np.append(ordered[1:] != ordered[:-1], True)
    return float(f1[last_of_equal].max())


def _cross_check(method: str, held_out: HeldOut, *, single: bool, always_label: bool) -> dict[str, Any]:
    """Measure probabilities and labels of each part, with what was fitted to the other parts."""
    probabilities = np.zeros(held_out.truth.shape)
    labels = np.zeros(held_out.truth.shape, np.bool_)
    for part in np.unique(held_out.part):
        here = held_out.part == part
        decision = fit_decision(method, held_out.take(~here), single=single, always_label=always_label)
        mine = held_out.take(here)
        probabilities[here] = decision.find_probabilities(mine.log_odds, mine.known, mine.priors)
        labels[here] = decision.find_labels(probabilities[here], mine.known)
    return _measure(probabilities, labels, held_out.truth, single=single)


def _measure(probabilities: Array | None, labels: BoolArray, truth: BoolArray, *, single: bool) -> dict[str, Any]:
    """Return the measures of probabilities (None without them) and of labels."""
    cells = confusion(truth, labels)
    seen = (cells.tp + cells.fp + cells.fn) > 0  # as in every other table: classes that are known or predicted
    measures: dict[str, Any] = {
        "brier": None, "ece": None, "bins": [],
        "accuracy": float(cells.n_correct) / len(truth),
        "f1_macro": float(np.mean(cells.f_beta(1.0, None)[seen])) if seen.any() else 0.0,
        "f1_micro": float(cells.f_beta(1.0, "micro")),
        "without_label": float((~labels.any(axis=1)).mean()),
    }  # fmt: skip
    if probabilities is not None:
        checked = Reliability(single=single)
        checked.add(probabilities, truth)
        measures |= {
            "brier": checked.brier,
            "ece": checked.calibration_error,
            "bins": [list(one) for one in checked.bins],
        }
    return measures

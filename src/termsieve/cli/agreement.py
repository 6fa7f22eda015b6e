"""Agreement of predictions with known labels, and what else a run of ``predict`` counts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np

from termsieve._types import Array
from termsieve.errors import InputError
from termsieve.evaluate.reliability import BINS, Reliability
from termsieve.views import format_measure, format_percent

_MAX_NAMES = 10


def _list_names(names: Collection[str]) -> str:
    return ", ".join(map(repr, list(names)[:_MAX_NAMES])) + (", ..." if len(names) > _MAX_NAMES else "")


class LabelAgreement:
    """Agreement of predicted with known labels, counted without keeping them.

    A document whose label was not given, because it was not probable enough, counts as one without a label.
    """

    def __init__(self, classes: Sequence[str] = (), *, single: bool = True) -> None:
        self._classes = {name: place for place, name in enumerate(classes)}
        self._both: Counter[str] = Counter()
        self._either: Counter[str] = Counter()  # twice where a label is in both
        self._known: set[str] = set()
        self._right = self._documents = self._answered = 0
        self._reliability = Reliability(single=single)

    def add(self, known: Sequence[Sequence[str]], predicted: Iterable[Any], probabilities: Array | None = None) -> None:
        """Add the known and the predicted labels of some documents, and the probabilities of the classes."""
        for expected, one in zip(known, predicted, strict=True):
            labels = {one} if isinstance(one, str) else set(one or ())
            self._both.update(labels.intersection(expected))
            self._either.update([*labels, *expected])
            self._known.update(expected)
            self._right += labels == set(expected)
            self._answered += bool(labels)
            self._documents += 1
        if probabilities is not None:
            truth = np.zeros(probabilities.shape, np.bool_)
            for row, expected in zip(truth, known, strict=True):
                row[[self._classes[name] for name in expected if name in self._classes]] = True
            self._reliability.add(probabilities, truth)

    def f1(self) -> float:
        """Return the mean F1 over the classes that are known or predicted."""
        values = [2 * self._both[name] / n for name, n in self._either.items()]
        return math.fsum(values) / max(len(values), 1)

    def refuse_unknown(self, labels: str) -> None:
        """Refuse labels none of which is a class of the model: a model cannot be judged by them."""
        if self._known and self._known.isdisjoint(self._classes):
            raise InputError(
                f"No label of {labels} is a class of the model, so there is no agreement to report. Labels: "
                f"{_list_names(sorted(self._known))}. Classes: {_list_names(self._classes)}."
            )

    def describe(self, labels: str, *, abstains: bool = False) -> list[str]:
        """Describe the agreement: labels, what was answered if some labels are not given, and probabilities."""
        n = max(self._documents, 1)
        measures = f"macro F1 {format_measure(self.f1())}, accuracy {format_measure(self._right / n)}"
        lines = [f"against {labels}: {measures}, {self._documents:,} documents"]
        if abstains and self._reliability.single:
            answered = max(self._answered, 1)
            lines.append(
                f"answered {self._answered:,} of {self._documents:,} (coverage {format_measure(self._answered / n)}), "
                f"accuracy of these {format_measure(self._right / answered) if self._answered else '-'}; "
                "above, the others count as wrong"
            )
        if self._reliability.n:
            lines.append(
                f"probabilities: Brier score {format_measure(self._reliability.brier, 4)}, expected calibration error "
                f"{format_measure(self._reliability.calibration_error, 4)} ({BINS} bins)"
            )
        return lines


class PredictionCount:
    """How many documents have no term of the model, and how many have no label."""

    def __init__(self) -> None:
        self.documents = self.unknown = self.without_label = 0

    def add(self, labels: Sequence[Any], known: Iterable[bool]) -> None:
        """Add the labels of some documents, and whether they have a term of the model."""
        self.documents += len(labels)
        self.unknown += sum(not one for one in known)
        self.without_label += sum(not label for label in labels)

    def describe(self, *, single: bool, min_confidence: float) -> list[str]:
        """Describe what is worth knowing: nothing, if each document has terms and a label."""
        lines = []
        if self.unknown:
            known = "none of the model's terms: all that is known of them is how frequent each class is"
            lines.append(f"{self._share(self.unknown)} {known}")
        if self.without_label or not single:
            why = f": nothing as probable as {min_confidence:g}" if min_confidence and self.without_label else ""
            lines.append(f"{self._share(self.without_label)} no label{why}")
        return lines

    def _share(self, n: int) -> str:
        verb = "has" if n == 1 else "have"
        share = format_percent(n / max(self.documents, 1))
        return f"{n:,} of {self.documents:,} documents ({share}) {verb}"

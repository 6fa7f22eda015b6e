"""Measures of predictions, for one or for a whole curve.

A measure is a function of counts here too: `confusion` counts once what is right and wrong for each class, and every
measure is computed from that.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy import sparse

from termsieve._types import AnyArray, Array, Int64Array
from termsieve.errors import InputError, OptionError
from termsieve.table import ratio

Average: TypeAlias = Literal["micro", "macro", "weighted"]
MAX_BETA = 1e6  # with more it is the recall to all digits; squares of huge numbers are infinite


@dataclass(frozen=True)
class Confusion:
    """The numbers of right and wrong predictions for each class and, if there is one, each point of a curve.

    Attributes
    ----------
    classes : array of shape (n_classes,)
    tp, fp, fn : arrays of shape (..., n_classes)
        Documents rightly and wrongly put into the class, and those missed.
    n_correct : array of shape (...)
        Documents all of whose labels are right.
    n_docs : int
    fixed : bool
        The classes were given: those that are neither there nor predicted count in macro averages, as `empty`.
        Otherwise they are left out, point by point, as scikit-learn does.

    Notes
    -----
    0/0, such as the precision of a class that was never predicted, is `empty`, by default 0. With ``empty=nan`` such
    classes are left out of averages.
    """

    classes: AnyArray
    tp: Int64Array
    fp: Int64Array
    fn: Int64Array
    n_correct: Int64Array
    n_docs: int
    fixed: bool = True

    def precision(self, average: Average | None = "macro", *, empty: float = 0.0) -> Array:
        """Return the share of the documents put into a class that belong there."""
        return self._average(lambda tp, fp, _: _safe_ratio(tp, tp + fp, empty), average, empty)

    def recall(self, average: Average | None = "macro", *, empty: float = 0.0) -> Array:
        """Return the share of the documents of a class that were put there."""
        return self._average(lambda tp, _, fn: _safe_ratio(tp, tp + fn, empty), average, empty)

    def f_beta(self, beta: float = 1.0, average: Average | None = "macro", *, empty: float = 0.0) -> Array:
        """Return the weighted harmonic mean of both; recall weighs beta times as much as precision.

        `empty` stands for classes that are neither there nor predicted.
        """
        if not 0 <= beta <= MAX_BETA:
            raise OptionError(f"beta must be a number from 0 to {MAX_BETA:g}, not {beta!r}.")
        b2 = float(beta) ** 2

        def of(tp: Int64Array, fp: Int64Array, fn: Int64Array) -> Array:
            if b2 == 0:
                return _safe_ratio(tp, tp + fp, empty)
            return _safe_ratio((1 + b2) * tp, (1 + b2) * tp + b2 * fn + fp, empty)

        return self._average(of, average, empty)

    def accuracy(self, *, empty: float = 0.0) -> Array:
        """Return the share of documents all of whose labels are right; `empty` without any document."""
        return _safe_ratio(self.n_correct, self.n_docs, empty)

    def measure(self, name: str, *, empty: float = 0.0) -> Array:
        """Return a measure by name, such as ``accuracy``, ``f1_macro``, ``precision_micro`` or ``recall_weighted``.

        Without an average, ``f1``, it is per class. Any beta will do: ``f2_macro``, ``f0.5_micro``.

        >>> confusion(["a", "b", "b"], ["a", "a", "b"]).measure("f1_macro")
        array(0.66666667)
        """
        if name == "accuracy":
            return self.accuracy(empty=empty)
        match = _MEASURE_PATTERN.fullmatch(name)
        if not match:
            raise OptionError(
                f"Unknown measure {name!r}. It is 'accuracy', or a measure and an average, such as 'f1_micro', "
                "'precision_macro', 'recall_weighted' or 'f2_macro'."
            )
        average: Any = match["average"]
        if match["beta"]:
            return self.f_beta(float(match["beta"]), average, empty=empty)
        return (self.precision if match["what"] == "precision" else self.recall)(average, empty=empty)

    def _average(self, of: Any, average: Average | None, empty: float) -> Array:
        if average not in (None, "micro", "macro", "weighted"):
            raise OptionError(f"average must be 'micro', 'macro', 'weighted' or None, not {average!r}.")
        if average == "micro":
            result: Array = of(*(cells.sum(axis=-1) for cells in (self.tp, self.fp, self.fn)))
            return np.asarray(result)
        values: Array = of(self.tp, self.fp, self.fn)
        if average is None:
            return values
        if average == "weighted":
            weights = (self.tp + self.fn).astype(np.float64)
        else:
            weights = (self.fixed | (self.tp + self.fp + self.fn > 0)).astype(np.float64)
        known = ~np.isnan(values)
        total = np.where(known, values * weights, 0.0).sum(axis=-1)
        return _safe_ratio(total, np.where(known, weights, 0.0).sum(axis=-1), empty)


_MEASURE_PATTERN = re.compile(r"(?P<what>precision|recall|f(?P<beta>\d+(\.\d+)?))(_(?P<average>micro|macro|weighted))?")


def _safe_ratio(a: Any, b: Any, empty: float) -> Array:
    return ratio(np.asarray(a, np.float64), np.asarray(b, np.float64), empty=empty)


def confusion(y_true: Any, y_pred: Any, classes: Sequence[Any] | None = None) -> Confusion:
    """Count right and wrong predictions.

    Parameters
    ----------
    y_true : array of shape (n_docs,), or an indicator matrix of shape (n_docs, n_classes)
        The known labels.
    y_pred : array of the same shape, or with the points of a curve before it
        The predicted labels, as `termsieve.curve` returns them.
    classes : sequence, optional
        The classes to look at. By default all that occur in either, or the columns of the indicator matrix. The
        columns of an indicator matrix are named by it.

    Examples
    --------
    >>> confusion(["sea", "money", "sea"], [["sea", "sea", "sea"], ["sea", "money", "money"]]).precision(None)
    array([[0.        , 0.66666667],
           [0.5       , 1.        ]])
    """
    true, predicted = _to_dense(y_true), _to_dense(y_pred)
    if true.ndim not in (1, 2) or predicted.ndim - true.ndim not in (0, 1):
        raise InputError(
            f"y_true is of shape {true.shape}, y_pred of {predicted.shape}: both must end in the same dimensions."
        )
    if predicted.shape[predicted.ndim - true.ndim :] != true.shape:
        raise InputError(f"y_true is of shape {true.shape}, but the predictions are of {predicted.shape}.")
    count = _count_labels if true.ndim == 1 else _count_indicators
    return count(true, predicted, classes)


def _to_dense(y: Any) -> AnyArray:
    given: Any = y.toarray() if sparse.issparse(y) else y  # type: ignore[attr-defined]
    array: AnyArray = np.asarray(given)
    return array


def _count_labels(true: AnyArray, predicted: AnyArray, given: Sequence[Any] | None) -> Confusion:
    known = np.union1d(np.unique(true), np.unique(predicted))
    names = known if given is None else np.asarray(given)
    m, rows = len(known), predicted.reshape(math.prod(predicted.shape[:-1]), len(true))
    a, b = np.searchsorted(known, true), np.searchsorted(known, rows)
    hit = a == b
    index = b + m * np.arange(len(rows)).reshape(-1, 1)
    predicted_sizes = np.bincount(index.ravel(), minlength=m * len(rows)).reshape(len(rows), m)
    tp = np.bincount(index[hit], minlength=m * len(rows)).reshape(len(rows), m)
    true_sizes = np.bincount(a, minlength=m)
    cells = [_pick_columns(part, known, names) for part in (tp, predicted_sizes - tp, true_sizes - tp)]
    shape = predicted.shape[:-1]
    tp, fp, fn = (part.reshape(*shape, len(names)) for part in cells)
    return Confusion(names, tp, fp, fn, hit.sum(axis=1).reshape(shape), len(true), given is not None)


def _pick_columns(cells: Int64Array, known: AnyArray, names: AnyArray) -> Int64Array:
    """Return the columns of the given classes, 0 for those that never occur."""
    if names is known or not len(known):
        return cells if names is known else np.zeros((len(cells), len(names)), np.int64)
    at = np.searchsorted(known, names).clip(max=len(known) - 1)
    return np.where(known[at] == names, cells[:, at], 0)


def _count_indicators(true: AnyArray, predicted: AnyArray, given: Sequence[Any] | None) -> Confusion:
    names = np.arange(true.shape[1]) if given is None else np.asarray(given)
    if len(names) != true.shape[1]:
        raise OptionError(f"classes must name the {true.shape[1]} columns of y_true; it has {len(names)} names.")
    for name, y in (("y_true", true), ("y_pred", predicted)):
        if not np.isin(y, (0, 1)).all():
            raise InputError(f"{name}, an indicator matrix, must hold 0 and 1 only.")
    a, b = true.astype(bool), predicted.astype(bool)
    tp, predicted_sizes = (a & b).sum(axis=-2), b.sum(axis=-2)
    right = (a == b).all(axis=-1).sum(axis=-1)
    return Confusion(names, tp, predicted_sizes - tp, a.sum(axis=0) - tp, right, len(true))


MEASURES = (
    "accuracy",
    *(
        f"{what}_{average}"
        for what in ("precision", "recall", "f1", "f2")
        for average in ("micro", "macro", "weighted")
    ),
)


def measure_curve(
    y_true: Any, y_pred: Any, names: Sequence[str], *, one_class: str = ""
) -> Iterator[tuple[int, str, str, float]]:
    """Yield every measure of a curve as rows: point, class ("" for all), measure and value.

    Parameters
    ----------
    y_true, y_pred
        As for `confusion`; labels are indices into the names.
    names : sequence of str
        Names of the classes.
    one_class : str
        The labels are 1 for this class and 0 for the rest, and only it is measured.
    """
    counts = confusion(y_true, y_pred, classes=[1] if one_class else None)
    labels = [one_class] if one_class else [str(names[index]) for index in counts.classes]
    columns: list[tuple[str, str, Array]] = []
    if not one_class:
        columns += [("", measure, counts.measure(measure)) for measure in MEASURES]
    for what in ("precision", "recall", "f1", "f2"):
        values = counts.measure(what)
        columns += [(label, what, values[:, i]) for i, label in enumerate(labels)]
    for point in range(len(counts.n_correct)):
        for label, measure, value in columns:
            yield point, label, measure, float(value[point])


def average_precision(relevant: Any, decisions: Any) -> Array:
    """Return the average precision of documents ranked by each row of decisions.

    Documents with the same decision are taken together, as in scikit-learn's ``average_precision_score``.

    Parameters
    ----------
    relevant : array of bool, of shape (n_docs,)
        Which documents are of the class. Without any of them the value is 0.
    decisions : array of shape (n, n_docs)
        The larger, the more likely of the class.

    Examples
    --------
    >>> average_precision([True, False, True], [[3.0, 2.0, 1.0], [1.0, 1.0, 2.0]])
    array([0.83333333, 0.83333333])
    """
    relevant, decisions = np.asarray(relevant, bool), np.asarray(decisions, np.float64)
    return np.array([_average_precision(relevant, row) for row in decisions])


def _average_precision(relevant: AnyArray, decisions: Array) -> float:
    order = np.argsort(-decisions, kind="stable")
    ordered = decisions[order]
    ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))  # of documents with the same decision
    found = np.cumsum(relevant[order])[ends]
    gained = np.diff(found, prepend=0)
    return float((gained * found / (ends + 1)).sum() / max(found[-1], 1))

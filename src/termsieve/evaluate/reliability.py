"""Reliability of probabilities: are 70 % right of what is said with 70 %.

Probabilities are added up in bins, so that any number of documents can be checked batch by batch.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from termsieve._types import Array, BoolArray

BINS = 10  # of equal width


class ReliabilityBin(NamedTuple):
    """A range of probabilities: how many fell into it, their mean, and the share that was right.

    A probability of exactly `low` belongs to the bin, one of exactly `high` to the next; 1 belongs to the last.
    """

    low: float
    high: float
    n: int
    mean_probability: float
    share_right: float


class Reliability:
    """Brier score, calibration error and the reliability table of probabilities, added up batch by batch.

    Where documents have one label each, the table is of the probability of the most probable class, and of how often
    it was right. With several labels it is of the probability of each class for each document, and of how often the
    document had the class.

    Examples
    --------
    >>> checked = Reliability(single=True)
    >>> checked.add(np.array([[0.9, 0.1], [0.4, 0.6]]), np.array([[True, False], [True, False]]))
    >>> checked.brier, checked.calibration_error, checked.accuracy
    (0.185, 0.35, 0.5)
    """

    def __init__(self, *, single: bool, n_bins: int = BINS) -> None:
        self.single = single
        self._n: Array = np.zeros(n_bins)
        self._sum: Array = np.zeros(n_bins)
        self._right: Array = np.zeros(n_bins)
        self._squares = 0.0
        self._scale = 1.0

    def add(self, probabilities: Array, truth: BoolArray) -> None:
        """Add some documents: probabilities and truth are of the shape (documents, classes).

        A document with one label, none of whose classes is true, has a class that the probabilities do not know.
        """
        if not len(probabilities):
            return
        squares = (probabilities - truth) ** 2
        if self.single:
            # as scikit-learn's brier_score_loss: with two classes the squares of one of them
            self._scale = 0.5 if probabilities.shape[1] == 2 else 1.0
            self._squares += float(squares.sum()) + float((~truth.any(axis=1)).sum())
            top = probabilities.argmax(axis=1)
            rows = np.arange(len(top))
            shown, right = probabilities[rows, top], truth[rows, top]
        else:
            self._squares += float(squares.sum())
            shown, right = probabilities.ravel(), truth.ravel()
        n_bins = len(self._n)
        place = np.clip((shown * n_bins).astype(np.int64), 0, n_bins - 1)
        self._n += np.bincount(place, minlength=n_bins)
        self._sum += np.bincount(place, shown, minlength=n_bins)
        self._right += np.bincount(place, right, minlength=n_bins)

    @property
    def n(self) -> int:
        """Number of probabilities in the table: of documents, with several labels of documents times classes."""
        return int(self._n.sum())

    @property
    def brier(self) -> float:
        """Mean squared difference of probabilities and truth.

        With one label per document it is summed over the classes, or of one of two classes; with several labels it is
        the mean over documents and classes. 0 is best.
        """
        return self._scale * self._squares / max(self.n, 1)

    @property
    def calibration_error(self) -> float:
        """Expected calibration error: the mean distance of probability and share right, bins weighted by size."""
        return float(np.abs(self._sum - self._right).sum()) / max(self.n, 1)

    @property
    def accuracy(self) -> float:
        """Share of the probabilities in the table whose class was right."""
        return float(self._right.sum()) / max(self.n, 1)

    @property
    def bins(self) -> list[ReliabilityBin]:
        """The reliability table, without empty bins."""
        n_bins = len(self._n)
        return [
            ReliabilityBin(
                i / n_bins, (i + 1) / n_bins, int(n), float(self._sum[i] / n), float(self._right[i] / n)
            )
            for i, n in enumerate(self._n)
            if n
        ]  # fmt: skip

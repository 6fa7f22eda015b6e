"""Agreement of rankings and of selections: what two rankings share, and how similar several selections are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from termsieve._types import Array, Int64Array
from termsieve.defaults import DEFAULT_LEVEL
from termsieve.errors import InputError, OptionError
from termsieve.evaluate.differences import upper_level
from termsieve.table import ratio


class Overlap(NamedTuple):
    """The terms that two rankings share among their first k: how many, and as a share of all that either has."""

    ks: Int64Array
    common: Int64Array
    jaccard: Array


def overlap(ranking_a: Sequence[Any], ranking_b: Sequence[Any], ks: Iterable[int]) -> Overlap:
    """Compare the first k of two rankings, for each k.

    >>> overlap(["ship", "crew", "goal"], ["crew", "ship", "bank"], [1, 2, 3]).common
    array([0, 2, 2])
    """
    a, b = list(ranking_a), list(ranking_b)
    for name, one in (("ranking_a", a), ("ranking_b", b)):
        if len(set(one)) != len(one):
            raise InputError(f"{name} has an entry twice; a ranking has each once.")
    numbers = np.asarray(list(ks), dtype=np.int64)
    longest = min(len(a), len(b))
    if numbers.size and not (numbers.min() >= 0 and numbers.max() <= longest):
        raise OptionError(f"ks must be from 0 to {longest:,}, the length of the shorter ranking; it is {ks!r}.")
    position = {one: i for i, one in enumerate(b)}
    needed = np.array([max(i, position[one]) for i, one in enumerate(a) if one in position], np.int64)
    shared = np.searchsorted(np.sort(needed), numbers, side="left").astype(np.int64)
    return Overlap(
        numbers, shared, ratio(shared.astype(np.float64), (2 * numbers - shared).astype(np.float64), empty=1.0)
    )


class Stability(NamedTuple):
    """Nogueira's measure: 1 for always the same terms, about 0 for random terms; with its interval."""

    value: float
    low: float
    high: float
    variance: float


def stability(selected: Any, n_terms: int | None = None, *, confidence: float = DEFAULT_LEVEL) -> Stability:
    """Measure how similar the selections of several folds or repetitions are (``nogueira2018`` in the bibliography).

    Parameters
    ----------
    selected : array of shape (n_selections, n_terms), or a sequence of sequences of term numbers
        What was selected each time.
    n_terms : int, optional
        Number of terms to select from; needed with term numbers.
    confidence : float
        Confidence of the interval, which assumes many selections.

    Examples
    --------
    >>> round(stability([[0, 1], [0, 1], [0, 2]], n_terms=10).value, 3)
    0.583
    """
    Z = _selection_masks(selected, n_terms)
    M, d = Z.shape
    if M < 2:
        raise InputError(f"Stability needs at least two selections; there is {M}.")
    p, k = Z.mean(axis=0), Z.sum(axis=1)
    share = k.mean() / d if d else 0.0
    if not 0 < share < 1:
        return Stability(1.0, 1.0, 1.0, 0.0)  # no term was taken, or all always were: always the same
    spread = share * (1 - share)
    value = 1 - M / (M - 1) * (p * (1 - p)).mean() / spread
    each = (Z @ p / d - k / d * share + value / 2 * (2 * share * k / d - k / d - share + 1)) / spread
    variance = float(4 / M**2 * np.square(each - each.mean()).sum())
    half = float(stats.norm.ppf(upper_level(confidence))) * variance**0.5
    return Stability(float(value), float(value - half), float(value + half), variance)


def _selection_masks(selected: Any, n_terms: int | None) -> Array:
    if n_terms is None:
        Z = np.asarray(selected)
        if Z.ndim != 2 or not np.isin(Z, (0, 1)).all():
            raise InputError(
                "selected must be a matrix of 0 and 1, selections x terms, or lists of numbers and n_terms."
            )
        return Z.astype(np.float64)
    Z = np.zeros((len(selected), n_terms))
    for row, terms in zip(Z, selected, strict=True):
        numbers = np.asarray(terms, np.int64)
        if numbers.size and not (numbers.min() >= 0 and numbers.max() < n_terms):
            bad = numbers.min() if numbers.min() < 0 else numbers.max()
            raise InputError(f"A selection has the term {bad}: terms have numbers from 0, and n_terms is {n_terms}.")
        row[numbers] = 1.0
    return Z

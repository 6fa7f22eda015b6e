"""Means over splits: their interval; and the difference of two methods, how sure, how likely more than a margin."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from termsieve._types import Array
from termsieve.defaults import DEFAULT_LEVEL
from termsieve.errors import InputError, OptionError


class Difference(NamedTuple):
    """A mean difference over splits. What needs two splits or more is None with one.

    Attributes
    ----------
    mean : float
        Of the first method minus the second.
    standard_error : float or None
        With the correction of Nadeau and Bengio.
    low, high : float or None
        The interval that has the difference with 95 % probability.
    worse, better : float or None
        Probability that the first is worse, or better, by more than the margin.
    margin : float
    """

    mean: float
    standard_error: float | None
    low: float | None
    high: float | None
    worse: float | None
    better: float | None
    margin: float


def corrected_error(values: Any, ratio: float) -> Array:
    """Return the standard error of means over the splits (rows), with the correction of Nadeau and Bengio.

    Splits share training documents, so their values are correlated and the usual standard error is too small. The
    correction adds the ratio of test to training documents to 1/n. With one split the error is NaN.

    Parameters
    ----------
    values : array of shape (n_splits,) or (n_splits, n_methods)
    ratio : float
        Test documents for each training document: 1/9 with ten folds.

    Examples
    --------
    >>> round(float(corrected_error([0.84, 0.85, 0.86, 0.85], 1 / 3)), 4)
    0.0062
    """
    x = np.asarray(values, np.float64)
    if not 0 <= ratio < math.inf:
        raise OptionError(f"ratio must be a number from 0, not {ratio!r}.")
    if len(x) < 2:
        return np.full(x.shape[1:], np.nan)
    spread = np.where(x.max(axis=0) == x.min(axis=0), 0.0, x.std(axis=0, ddof=1))  # equal values: no rounding error
    return np.asarray(spread * math.sqrt(1 / len(x) + ratio))


def paired_difference(first: Any, second: Any, *, ratio: float, margin: float = 0.01) -> Difference:
    """Return the mean difference of two methods on the same splits, its interval and its probabilities.

    They are of the Bayesian correlated t-test (``benavoli2017`` in the bibliography), whose interval is that of the
    corrected t-test of Nadeau and Bengio.

    Parameters
    ----------
    first, second : arrays of shape (n_splits,)
        A measure on the same splits.
    ratio : float
        Test documents for each training document.
    margin : float
        Differences up to this do not count.

    Examples
    --------
    >>> found = paired_difference([0.80, 0.80, 0.81, 0.82], [0.84, 0.85, 0.86, 0.85], ratio=1 / 3)
    >>> round(found.mean, 4), round(found.worse, 3), round(found.better, 3)
    (-0.0425, 0.989, 0.003)
    """
    a, b = np.asarray(first, np.float64), np.asarray(second, np.float64)
    if a.shape != b.shape or a.ndim != 1 or not len(a) or not np.isfinite(a - b).all():
        raise InputError(
            f"Finite values of both on the same splits are needed; they are of shapes {a.shape}, {b.shape}."
        )
    if not 0 <= margin < math.inf:
        raise OptionError(f"margin must be a number from 0, not {margin!r}.")
    d = a - b
    mean = float(d[0]) if (d == d[0]).all() else math.fsum(d) / len(d)  # equal values: no rounding error
    if len(d) < 2:
        return Difference(mean, None, None, None, None, None, margin)
    error = float(corrected_error(d, ratio))
    if error == 0:
        return Difference(mean, 0.0, mean, mean, float(mean < -margin), float(mean > margin), margin)
    posterior = stats.t(len(d) - 1, mean, error)
    low, high = posterior.interval(DEFAULT_LEVEL)
    return Difference(
        mean, error, float(low), float(high), float(posterior.cdf(-margin)), float(posterior.sf(margin)), margin
    )


class Band(NamedTuple):
    """A mean over repetitions and its confidence interval."""

    mean: Array
    low: Array
    high: Array


def band(values: Any, *, confidence: float = DEFAULT_LEVEL, axis: int = 0, ratio: float = 0.0) -> Band:
    """Return the mean over repetitions with Student's interval; infinitely wide for one repetition.

    Folds of one cross-validation share training documents, so that a band for independent repetitions is too narrow:
    with `ratio`, test documents for each training document, it has Nadeau and Bengio's correction.

    >>> [x.round(3).tolist() for x in band([[0.8], [0.9], [1.0]])]
    [[0.9], [0.652], [1.148]]
    >>> [x.round(3).tolist() for x in band([[0.8], [0.9], [1.0]], ratio=1 / 2)]
    [[0.9], [0.507], [1.293]]
    """
    given = np.asarray(values, np.float64)
    n = given.shape[axis] if given.ndim else 0
    if not n:
        raise InputError("A band needs at least one repetition.")
    if not np.isfinite(given).all():
        raise InputError("A band needs finite values: one is missing or infinite. Leave its repetition out.")
    mean = given.mean(axis=axis)
    level = upper_level(confidence)
    if n == 1:
        return Band(mean, np.full(mean.shape, -np.inf), np.full(mean.shape, np.inf))
    half = stats.t.ppf(level, n - 1) * given.std(axis=axis, ddof=1) * (1 / n + ratio) ** 0.5
    return Band(mean, mean - half, mean + half)


def upper_level(confidence: float) -> float:
    """Return the share of a symmetric distribution below the upper end of its interval."""
    if not 0 < confidence < 1:
        raise OptionError(f"confidence must lie between 0 and 1, as 0.95 does; it is {confidence!r}.")
    return (1 + confidence) / 2

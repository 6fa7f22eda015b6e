"""Shares of documents in two or more periods: differences, ratios and trends, each with its interval.

The document is what was sampled, so all of it is about shares of documents with a term.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from termsieve._types import Array, Int64Array
from termsieve.counts.counts import Counts
from termsieve.errors import OptionError
from termsieve.ranking.ranking import score


class Estimate(NamedTuple):
    """An estimate for each term, and its limits."""

    value: Array
    low: Array
    high: Array


def check_level(level: object) -> None:
    """Refuse a level of an interval that is not a number between 0 and 1."""
    if not isinstance(level, int | float | np.floating) or not 0 < level < 1:
        raise OptionError(f"level must be between 0 and 1, such as 0.95, not {level!r}.")


def normal_quantile(level: float) -> float:
    """Return the half width, in standard errors, of an interval of a level such as 0.95.

    >>> round(normal_quantile(0.95), 4)
    1.96
    """
    from scipy.special import ndtri

    check_level(level)
    return float(ndtri((1 + level) / 2))


def wilson_limits(df: Int64Array, n: float, z: float) -> tuple[Array, Array]:
    """Return Wilson's limits of shares df / n."""
    centre, width = df + z * z / 2, z * np.sqrt(df * (n - df) / n + z * z / 4)
    return np.clip((centre - width) / (n + z * z), 0, 1), np.clip((centre + width) / (n + z * z), 0, 1)


def compare_shares(before: Int64Array, n_before: int, after: Int64Array, n_after: int, level: float) -> Estimate:
    """Return differences of shares, after minus before, with Newcombe's limits from those of Wilson.

    >>> found = compare_shares(np.array([48]), 80, np.array([56]), 70, 0.95)  # Newcombe's own example
    >>> [round(float(part[0]), 4) for part in found]
    [0.2, 0.0524, 0.3339]
    """
    z = normal_quantile(level)
    (low0, high0), (low1, high1) = wilson_limits(before, n_before, z), wilson_limits(after, n_after, z)
    share0, share1 = before / n_before, after / n_after
    difference = share1 - share0
    down, up = np.hypot(share1 - low1, high0 - share0), np.hypot(high1 - share1, share0 - low0)
    return Estimate(difference, np.maximum(difference - down, -1), np.minimum(difference + up, 1))


def compare_ratios(before: Int64Array, n_before: int, after: Int64Array, n_after: int, level: float) -> Estimate:
    """Return binary logarithms of the ratio of shares, after to before, with limits.

    Half a document is added to each number, so that terms of one period have a ratio, too (Walter's estimate, with
    the variance of Pettigrew, Gart and Thomas).
    """
    a, b, m, n = after + 0.5, before + 0.5, n_after + 0.5, n_before + 0.5
    value = np.log2(a / m) - np.log2(b / n)
    error = normal_quantile(level) * np.sqrt(np.maximum(1 / a - 1 / m + 1 / b - 1 / n, 0)) / np.log(2)
    return Estimate(value, value - error, value + error)


def fit_trend(df: Int64Array, sizes: Int64Array, level: float) -> tuple[Estimate, Array]:
    """Return the slope of the share per period (terms x periods), with limits, and Cochran and Armitage's z.

    Least squares with the numbers of documents as weights; periods are equally spaced.

    >>> slope, z = fit_trend(np.array([[10, 20, 30]]), np.array([100, 100, 100]), 0.95)
    >>> round(float(slope.value[0]), 6), round(float(z[0]), 4)
    (0.1, 3.5355)
    """
    steps = np.arange(len(sizes), dtype=np.float64)
    weights = sizes * (steps - np.average(steps, weights=sizes))
    spread = float(np.sum(weights * steps))
    shares = df / sizes
    slope = shares @ weights / spread
    variance = (shares * (1 - shares) / sizes) @ weights**2 / spread**2
    pooled = df.sum(axis=1) / sizes.sum()
    null_error = np.sqrt(pooled * (1 - pooled) / spread)
    z = np.divide(slope, null_error, out=np.zeros_like(slope), where=null_error > 0)
    error = normal_quantile(level) * np.sqrt(variance)
    return Estimate(slope, slope - error, slope + error), z


def exact_pvalues(joined: Counts, before: str, after: str) -> Array:
    """Return two-sided p-values of a change: twice the smaller tail of Fisher's exact test, at most 1."""
    scores = score(joined, "fisher_exact")
    tails = [10.0 ** -scores.of_class(joined.index_of_class(name)) for name in (before, after)]
    return np.asarray(np.minimum(2 * np.minimum(*tails), 1.0))

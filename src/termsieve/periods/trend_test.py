"""Is a trend chance? The exact distribution of Cochran and Armitage's statistic where documents could change periods.

The statistic is the sum, over the documents with a term, of the number of their period. If periods meant nothing, these
documents would be drawn from all, and the sum has an exact distribution that depends only on how many they are and on
the sizes of the periods. Where periods are of different sizes it is skewed, and the normal approximation calls rare
terms sure too often: for those the distribution is worked out, for all numbers of documents at once. For frequent terms
it is nearly normal.
"""

from __future__ import annotations

import numpy as np

from termsieve._types import Array, Int64Array

_MOST_DOCUMENTS = 200  # of a term, for which the distribution is worked out
_MOST_WORK = 4e8  # multiplications; with many periods, fewer documents are within reach


def find_trend_pvalues(df: Int64Array, sizes: Int64Array, z: Array) -> Array:
    """Return two-sided p-values of trends (terms x periods): twice the smaller tail, at most 1.

    >>> sizes = np.array([80, 15, 5])
    >>> df = np.array([[0, 0, 3]])  # 3 documents, all in the last period: 10 of the 161,700 ways to draw them
    >>> round(float(find_trend_pvalues(df, sizes, np.array([6.0]))[0] * 161_700), 6)
    20.0
    """
    from scipy.special import ndtr

    p = np.asarray(np.minimum(2 * ndtr(-np.abs(z)), 1.0))
    documents = df.sum(axis=1)
    most = min(_count_within_reach(len(sizes)), int(documents.max(initial=0)))
    rare = np.flatnonzero(documents <= most)
    if len(rare):
        at = documents[rare], df[rare] @ np.arange(len(sizes))
        below, above = _sum_tails(_spread_documents(sizes, most))
        p[rare] = np.minimum(2 * np.minimum(below[at], above[at]), 1.0)
    return p


def _count_within_reach(n_periods: int) -> int:
    return min(_MOST_DOCUMENTS, int((4 * _MOST_WORK / n_periods**2) ** (1 / 3)))


def _spread_documents(sizes: Int64Array, most: int) -> Array:
    """Return the probabilities of each sum of periods (columns), for 0, 1, ..., `most` documents (rows).

    Documents of each period are taken with one probability, whichever: given how many are taken, it does not matter.
    """
    from scipy.stats import binom

    share = max(most, 1) / (2.0 * sizes.sum())
    spread = np.zeros((most + 1, most * (len(sizes) - 1) + 1))
    spread[0, 0] = 1.0
    for step, size in enumerate(sizes.tolist()):
        before, spread = spread, np.zeros_like(spread)
        for taken, weight in enumerate(binom.pmf(np.arange(min(most, size) + 1), size, share)):
            moved = taken * step
            spread[taken:, moved:] += weight * before[: most + 1 - taken, : before.shape[1] - moved]
    return np.asarray(spread / np.maximum(spread.sum(axis=1, keepdims=True), np.finfo(float).tiny))


def _sum_tails(spread: Array) -> tuple[Array, Array]:
    return np.cumsum(spread, axis=1), np.cumsum(spread[:, ::-1], axis=1)[:, ::-1]

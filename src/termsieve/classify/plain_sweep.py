"""The sweeps of naive Bayes in NumPy: what `curve_kernels` does, to the same bits, for inputs too small to load loops.

Sums are made in the order of the loops: `numpy.bincount` and `numpy.cumsum` add up one number after the other.
"""

from __future__ import annotations

import numpy as np

from termsieve._types import Array, Int32Array, Int64Array


def select_entries(
    *, indptr: Int64Array, columns: Int32Array, data: Array, rank: Int32Array, threshold: float, presence: bool,
    ends: Int64Array, ranks: Int32Array, values: Array,
) -> int:  # fmt: skip
    """Select the entries in ranked columns, as ranks; with `presence`, entries above the threshold become 1."""
    found = rank[columns]
    kept = (found >= 0) & (data > threshold)
    ends[1:] = np.concatenate([[0], np.cumsum(kept)])[indptr[1:]]
    n = int(ends[-1])
    ranks[:n] = found[kept]
    values[:n] = 1.0 if presence else data[kept]
    return n


def count_entries(
    *, ends: Int64Array, ranks: Int32Array, values: Array, codes: Int32Array, occurrences: Array
) -> None:  # fmt: skip
    """Add up occurrences by rank, problem and class, in the order of the documents."""
    n_ranks, n_problems, n_classes = occurrences.shape
    documents = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
    for problem in range(n_problems):
        cells = ranks.astype(np.int64) * n_classes + codes[documents, problem]
        sums = np.bincount(cells, values, n_ranks * n_classes)
        occurrences[:, problem] += sums.reshape(n_ranks, n_classes)


def sweep(
    *, first: int, last: int, ends: Int64Array, ranks: Int32Array, values: Array, point: Int32Array, weights: Array,
    fixed: Array, drift: Array, slack: Array, fixed_slack: Array, empty: int, out: Int32Array,
) -> None:  # fmt: skip
    """Write the best class of the documents first..last at each point; its complement (~) where rounding could decide.

    See `curve_kernels.sweep` for what is added up.
    """
    (n_points, n_classes), n_docs = fixed.shape, last - first
    entries = slice(ends[first], ends[last])
    some_ranks, some_values = ranks[entries], values[entries]
    documents = np.repeat(np.arange(n_docs), np.diff(ends[first : last + 1]))
    cells = point[some_ranks].astype(np.int64) * n_docs + documents

    def add_up(parts: Array) -> Array:
        """Return the sums of parts of the entries up to each point: points x documents."""
        return np.cumsum(np.bincount(cells, parts, n_points * n_docs).reshape(n_points, n_docs), axis=0)

    lengths = add_up(some_values)
    scores = np.empty((n_classes, n_points, n_docs))
    with np.errstate(invalid="ignore"):  # weights may be infinite
        for c in range(n_classes):
            totals = add_up(some_values * weights[some_ranks, c])
            scores[c] = totals + (fixed[:, c, np.newaxis] - lengths * drift[:, c, np.newaxis])
        bounds = lengths * slack[:, np.newaxis] + fixed_slack[:, np.newaxis]
        is_sure = _find_margins(scores) > bounds
    winners = scores.argmax(axis=0)
    winners = np.where(is_sure, winners, ~winners)
    out[:, first:last] = np.where((lengths == 0.0) & (empty >= 0), empty, winners)


def _find_margins(scores: Array) -> Array:
    """Return how far the largest score (of the first axis) is above the second; not a number if any is not."""
    if len(scores) == 1:
        return np.where(np.isnan(scores[0]), np.nan, np.inf)
    best = np.partition(scores, len(scores) - 2, axis=0)[-2:]
    return np.asarray(best[1] - best[0])  # NaN is sorted behind all numbers

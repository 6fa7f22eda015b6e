"""The numba loops of the curves: select the columns of a ranking, count them by class, sweep along the ranking.

They take no lock and write only to the rows of their own documents, so that threads share the work.
"""

from __future__ import annotations

import numpy as np

from termsieve._numba import jit
from termsieve._types import Array, Int32Array, Int64Array


def _select_entries(
    indptr: Int64Array,
    columns: Int32Array,
    data: Array,
    rank: Int32Array,
    threshold: float,
    presence: bool,
    ends: Int64Array,
    ranks: Int32Array,
    values: Array,
) -> int:
    """Select the entries in ranked columns, as ranks; with `presence`, entries above the threshold become 1."""
    n = 0
    for d in range(len(indptr) - 1):
        for i in range(indptr[d], indptr[d + 1]):
            r, x = rank[columns[i]], data[i]
            ranks[n] = (
                r  # always written, and kept if it counts: faster than a branch that the processor cannot predict
            )
            values[n] = 1.0 if presence else x
            n += (r >= 0) & (x > threshold)
        ends[d + 1] = n
    return n


def _count_entries(ends: Int64Array, ranks: Int32Array, values: Array, codes: Int32Array, occurrences: Array) -> None:
    """Add up occurrences by rank, problem and class, in the order of the documents."""
    n_problems = codes.shape[1]
    for d in range(len(ends) - 1):
        for i in range(ends[d], ends[d + 1]):
            r, x = ranks[i], values[i]
            for p in range(n_problems):
                occurrences[r, p, codes[d, p]] += x


def _find_winner(scores: Array) -> tuple[int, float]:
    """Return the index of the largest score, and its margin over the second; NaN if any score is NaN."""
    best, second, winner = scores[0], -np.inf, 0
    doubt = 0.0
    for c in range(1, len(scores)):
        s = scores[c]
        if s > best:
            second = best
            best = s
            winner = c
        elif s > second:
            second = s
        elif s != s:  # not a number
            doubt = s
    return winner, best - second + doubt


select_entries = jit(_select_entries)
count_entries = jit(_count_entries)
find_winner = jit(_find_winner)


def _sweep(
    first: int,
    last: int,
    ends: Int64Array,
    ranks: Int32Array,
    values: Array,
    point: Int32Array,
    weights: Array,
    fixed: Array,
    drift: Array,
    slack: Array,
    fixed_slack: Array,
    empty: int,
    out: Int32Array,
) -> None:
    """Write the best class of the documents first..last at each point; its complement (~) where rounding could decide.

    A point is a number of terms. What the terms between two points add to each class is summed up first, then one loop
    over the points adds these sums up. The score of class c at point p is

        fixed[p, c] + sum of value * weights[rank, c] over the terms up to p - length * drift[p, c],

    where length is the sum of the values. A document without terms gets `empty`, unless that is negative.
    """
    n_points, n_classes = fixed.shape
    added = np.zeros((n_points, n_classes))
    lengths = np.zeros(n_points)
    total = np.zeros(n_classes)
    scores = np.zeros(n_classes)
    for d in range(first, last):
        for i in range(ends[d], ends[d + 1]):
            r, x = ranks[i], values[i]
            p = point[r]
            lengths[p] += x
            for c in range(n_classes):
                added[p, c] += x * weights[r, c]
        length = 0.0
        total[:] = 0.0
        for p in range(n_points):
            if lengths[p] != 0.0:
                length += lengths[p]
                lengths[p] = 0.0
                for c in range(n_classes):
                    total[c] += added[p, c]
                    added[p, c] = 0.0
            if length == 0.0 and empty >= 0:
                out[p, d] = empty
                continue
            for c in range(n_classes):
                scores[c] = total[c] + (fixed[p, c] - length * drift[p, c])
            winner, margin = find_winner(scores)
            out[p, d] = winner if margin > length * slack[p] + fixed_slack[p] else ~winner


sweep = jit(_sweep)

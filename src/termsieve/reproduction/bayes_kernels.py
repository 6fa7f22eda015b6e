"""The numba loops of naive Bayes in many worlds: sums along a ranking once, decisions of every reading from them."""

from __future__ import annotations

import numpy as np

from termsieve._numba import jit
from termsieve._types import Array, Int32Array, Int64Array


def _add_up(
    indptr: Int64Array,
    documents: Int32Array,
    values: Array,
    columns: Int64Array,
    point: Int64Array,
    per_occurrence: Array,
    per_presence: Array,
    sums: Array,
    lengths: Array,
) -> None:
    """Add the log odds of the ranked terms to their documents: documents x points x classes, and their occurrences."""
    n_classes = per_occurrence.shape[1]
    for r in range(len(columns)):
        p = point[r]
        for i in range(indptr[columns[r]], indptr[columns[r] + 1]):
            d, x = documents[i], values[i]
            lengths[d, p] += x
            for c in range(n_classes):
                sums[d, p, c] += x * per_occurrence[r, c] + per_presence[r, c]


def _decide(
    sums: Array, lengths: Array, fixed: Array, drift: Array, members: Int32Array, hits: Int64Array, alarms: Int64Array
) -> None:
    """Count the documents that each reading (first axis of `fixed` and `drift`) puts into each class at each point."""
    n_readings, n_points, n_classes = fixed.shape
    total = np.zeros(n_classes)
    for d in range(len(sums)):
        total[:] = 0.0
        length = 0.0
        for p in range(n_points):
            length += lengths[d, p]
            for c in range(n_classes):
                total[c] += sums[d, p, c]
            for v in range(n_readings):
                for c in range(n_classes):
                    taken = fixed[v, p, c] + total[c] - length * drift[v, p, c] > 0.0
                    inside = members[d, c]
                    hits[v, p, c] += taken * inside
                    alarms[v, p, c] += taken * (1 - inside)


add_up = jit(_add_up)
decide = jit(_decide)

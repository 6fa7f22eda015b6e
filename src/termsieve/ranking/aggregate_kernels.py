"""The numba loops behind `aggregate`: over the classes of each column."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from termsieve._numba import jit
from termsieve._types import Int32Array, Int64Array

if TYPE_CHECKING:
    from termsieve._types import Array


@jit
def sum_columns(
    indptr: Int64Array, classes: Int32Array, cell: Int32Array, group: Int32Array, kind: Int32Array, empty: Int32Array,
    values: Array, weights: Array, out: Array,
) -> None:  # fmt: skip
    """Add up: the classes that have the term, in their order, then those of each kind that lack it."""
    everywhere = np.zeros(empty.shape[1])
    for c in range(kind.size):
        everywhere[kind[c]] += weights[c]
    lacking = np.empty(everywhere.size)
    for j in range(group.size):
        for k in range(everywhere.size):
            lacking[k] = everywhere[k]
        total = 0.0
        for p in range(indptr[j], indptr[j + 1]):
            c = classes[p]
            total += weights[c] * values[cell[p]]
            lacking[kind[c]] -= weights[c]
        for k in range(lacking.size):
            if lacking[k] > 0.0:
                total += lacking[k] * values[empty[group[j], k]]
        if not np.isfinite(total):
            total = _sum_with_infinities(
                values, weights, classes, cell, indptr[j], indptr[j + 1], empty[group[j]], lacking
            )
        out[j] = total


@jit
def _sum_with_infinities(
    values: Array,
    weights: Array,
    classes: Int32Array,
    cell: Int32Array,
    start: int,
    end: int,
    empty: Int32Array,
    lacking: Array,
) -> float:
    """Add up again where a class is infinite: opposite infinities cancel, and the finite rest stands."""
    total = 0.0
    up = down = False
    for p in range(start, end):
        x, weight = values[cell[p]], weights[classes[p]]
        if weight > 0.0:
            up |= x == np.inf
            down |= x == -np.inf
            total += weight * x if np.isfinite(x) else 0.0
    for k in range(lacking.size):
        if lacking[k] > 0.0:
            x = values[empty[k]]
            up |= x == np.inf
            down |= x == -np.inf
            total += lacking[k] * x if np.isfinite(x) else 0.0
    if up != down:
        return np.inf if up else -np.inf
    return total


@jit
def find_maxima(
    indptr: Int64Array,
    classes: Int32Array,
    cell: Int32Array,
    group: Int32Array,
    kind: Int32Array,
    empty: Int32Array,
    values: Array,
    out: Array,
) -> None:
    """Find the largest value of each column."""
    sizes = np.zeros(empty.shape[1], np.int64)
    for c in range(kind.size):
        sizes[kind[c]] += 1
    lacking = np.empty_like(sizes)
    for j in range(group.size):
        for k in range(sizes.size):
            lacking[k] = sizes[k]
        best = -np.inf
        for p in range(indptr[j], indptr[j + 1]):
            best = max(best, values[cell[p]])
            lacking[kind[classes[p]]] -= 1
        for k in range(sizes.size):
            if lacking[k] > 0:
                best = max(best, values[empty[group[j], k]])
        out[j] = best


@jit
def find_first_class(
    indptr: Int64Array, classes: Int32Array, cell: Int32Array, group: Int32Array, kind: Int32Array, empty: Int32Array,
    values: Array, wanted: Array, out: Int32Array,
) -> None:  # fmt: skip
    """Find the first class of each column that has the wanted value.

    Looks at the classes that have the term, and at the first of each kind that lacks it: there may be many classes.
    """
    n_classes, n_kinds = kind.size, empty.shape[1]
    ends = np.zeros(n_kinds + 1, np.int64)
    for c in range(n_classes):
        ends[kind[c] + 1] += 1
    for k in range(n_kinds):
        ends[k + 1] += ends[k]
    free, by_kind = ends.copy(), np.empty(n_classes, np.int64)
    for c in range(n_classes):
        by_kind[free[kind[c]]] = c
        free[kind[c]] += 1
    has_term = np.full(n_classes, -1, np.int64)  # the last column for which a class was found to have the term
    for j in range(group.size):
        best = n_classes
        for p in range(indptr[j], indptr[j + 1]):
            has_term[classes[p]] = j
            if values[cell[p]] == wanted[j] and classes[p] < best:
                best = int(classes[p])
        for k in range(n_kinds):
            i = ends[k]
            while i < ends[k + 1] and by_kind[i] < best and has_term[by_kind[i]] == j:
                i += 1
            if i < ends[k + 1] and by_kind[i] < best and values[empty[group[j], k]] == wanted[j]:
                best = by_kind[i]
        out[j] = best if best < n_classes else 0

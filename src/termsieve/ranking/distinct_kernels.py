"""The numba loops behind `distinct`: equal columns and equal cells get one number."""

from __future__ import annotations

from typing import Any

import numpy as np

from termsieve._numba import jit, multiply_and_fold
from termsieve._types import AnyArray, BoolArray, Int32Array, Int64Array, UInt64Array


@jit
def _mix_hash(h: Any, x: Any, secret: Any) -> Any:
    return multiply_and_fold(h ^ np.uint64(x), secret)


@jit
def _is_same_column(
    indptr: Int64Array, keys: AnyArray, more_keys: AnyArray, totals: Int64Array, i: int, j: int
) -> bool:
    start, other, n = indptr[i], indptr[j], indptr[i + 1] - indptr[i]
    if indptr[j + 1] - other != n:
        return False
    for r in range(totals.shape[0]):
        if totals[r, i] != totals[r, j]:
            return False
    for p in range(n):
        if keys[start + p] != keys[other + p] or more_keys[start + p] != more_keys[other + p]:
            return False
    return True


@jit
def number_columns(
    indptr: Int64Array,
    keys: AnyArray,
    more_keys: AnyArray,
    totals: Int64Array,
    secrets: UInt64Array,
    slots: Int32Array,
    place: Int32Array,
    first: Int32Array,
) -> int:
    """Give the different columns numbers: `place` is that of each column, `first` a column of each number.

    A column has its totals, and for each of its cells a key and one more. The hashes depend on random numbers, so that
    nobody can make counts that crowd together; the result does not.
    """
    start, secret = secrets[0], secrets[1]
    mask = np.uint64(slots.size - 1)
    found = 0
    for j in range(place.size):
        h = start ^ np.uint64(indptr[j + 1] - indptr[j])
        for r in range(totals.shape[0]):
            h = _mix_hash(h, totals[r, j], secret)
        for p in range(indptr[j], indptr[j + 1]):
            h = _mix_hash(h, keys[p], secret ^ np.uint64(more_keys[p]))
        slot = (h ^ (h >> np.uint64(32))) & mask
        while slots[slot] >= 0 and not _is_same_column(indptr, keys, more_keys, totals, first[slots[slot]], j):
            slot = (slot + np.uint64(1)) & mask
        if slots[slot] < 0:
            slots[slot] = found
            first[found] = j
            found += 1
        place[j] = slots[slot]
    return found


@jit
def mark_missing_kinds(
    indptr: Int64Array,
    classes: Int32Array,
    kind: Int32Array,
    sizes: Int64Array,
    group: Int32Array,
    missing: BoolArray,
) -> None:
    """Mark which pairs of term totals and kind of class occur without the term."""
    here = np.zeros(sizes.size, np.int64)
    for j in range(group.size):
        here[:] = 0
        for p in range(indptr[j], indptr[j + 1]):
            here[kind[classes[p]]] += 1
        for k in range(sizes.size):
            if here[k] < sizes[k]:
                missing[group[j], k] = True


@jit
def number_rows(keys: AnyArray, secrets: UInt64Array, slots: Int32Array, place: Int32Array, first: Int32Array) -> int:
    """Give the different rows of a dense array numbers, as `number_columns` does."""
    start, secret = secrets[0], secrets[1]
    mask = np.uint64(slots.size - 1)
    found = 0
    for i in range(keys.shape[0]):
        h = start
        for r in range(keys.shape[1]):
            h = _mix_hash(h, keys[i, r], secret)
        slot = (h ^ (h >> np.uint64(32))) & mask
        while slots[slot] >= 0:
            other = first[slots[slot]]
            same = True
            for r in range(keys.shape[1]):
                same &= keys[i, r] == keys[other, r]
            if same:
                break
            slot = (slot + np.uint64(1)) & mask
        if slots[slot] < 0:
            slots[slot] = found
            first[found] = i
            found += 1
        place[i] = slots[slot]
    return found

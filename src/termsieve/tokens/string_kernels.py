"""The numba loops that sort and merge strings. See `termsieve.tokens.kernels` for the rules that hold for all loops."""

from __future__ import annotations

from typing import Any

import numpy as np

from termsieve._numba import jit

_jit: Any = jit


@_jit
def _compare_bytes(text_a, start_a, end_a, text_b, start_b, end_b):
    for i in range(min(end_a - start_a, end_b - start_b)):
        difference = np.int64(text_a[start_a + i]) - np.int64(text_b[start_b + i])
        if difference != 0:
            return difference
    return (end_a - start_a) - (end_b - start_b)


@_jit
def merge_strings(text_a, offsets_a, text_b, offsets_b, in_a, in_b):
    """Merge two sorted lists of strings: where each string stands in them, -1 for nowhere; returns their number."""
    a, b, n = 0, 0, 0
    n_a, n_b = offsets_a.shape[0] - 1, offsets_b.shape[0] - 1
    while a < n_a or b < n_b:
        if a == n_a:
            order = 1
        elif b == n_b:
            order = -1
        else:
            order = _compare_bytes(text_a, offsets_a[a], offsets_a[a + 1], text_b, offsets_b[b], offsets_b[b + 1])
        in_a[n] = in_b[n] = -1
        if order <= 0:
            in_a[n] = a
            a += 1
        if order >= 0:
            in_b[n] = b
            b += 1
        n += 1
    return n


@_jit
def counting_sort(items, keys, n_keys):
    """Items in order of their keys; those with equal keys stay in theirs."""
    starts = np.zeros(n_keys + 1, np.int64)
    for item in items:
        starts[keys[item] + 1] += 1
    for key in range(n_keys):
        starts[key + 1] += starts[key]
    result = np.empty_like(items)
    for item in items:
        result[starts[keys[item]]] = item
        starts[keys[item]] += 1
    return result


@_jit
def pack_leading_bytes(text, offsets, heads):
    """Return the first eight bytes of each string as one big-endian number, zeros beyond its end."""
    for item in range(heads.shape[0]):
        head = np.uint64(0)
        for i in range(offsets[item], offsets[item] + 8):
            head <<= np.uint64(8)
            if i < offsets[item + 1]:
                head |= np.uint64(text[i])
        heads[item] = head

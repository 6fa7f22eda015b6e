"""The numba loops that sort and merge strings. See `termsieve.tokens.kernels` for the rules that hold for all loops."""

from __future__ import annotations

from typing import Any

import numpy as np

from termsieve._numba import FIRST_BYTES, jit, load_eight, swap_bytes

_jit: Any = jit


@_jit
def _load_head(text, start, end):
    """Return the first eight bytes of a string as one big-endian number, zeros beyond its end."""
    if start + 8 <= text.shape[0]:
        return swap_bytes(load_eight(text, np.uint64(start)) & FIRST_BYTES[np.uint64(min(end - start, 8))])
    head = np.uint64(0)
    for i in range(start, start + 8):
        head = (head << np.uint64(8)) | (np.uint64(text[i]) if i < end else np.uint64(0))
    return head


@_jit
def _compare_tails(text_a, start_a, end_a, text_b, start_b, end_b):
    """Compare two strings whose first eight bytes are the same, or that end before: negative, if a is the first."""
    for i in range(8, min(end_a - start_a, end_b - start_b)):
        difference = np.int64(text_a[start_a + i]) - np.int64(text_b[start_b + i])
        if difference != 0:
            return difference
    return (end_a - start_a) - (end_b - start_b)


@_jit
def merge_strings(text_a, offsets_a, text_b, offsets_b, in_a, in_b):
    """Merge two sorted lists of strings: where each string stands in them, -1 for nowhere; returns their number."""
    a, b, n = 0, 0, 0
    n_a, n_b = offsets_a.shape[0] - 1, offsets_b.shape[0] - 1
    head_a = _load_head(text_a, offsets_a[0], offsets_a[1]) if n_a > 0 else np.uint64(0)
    head_b = _load_head(text_b, offsets_b[0], offsets_b[1]) if n_b > 0 else np.uint64(0)
    while a < n_a and b < n_b:
        order = np.int64(head_a > head_b) - np.int64(head_a < head_b)
        if order == 0:
            order = _compare_tails(text_a, offsets_a[a], offsets_a[a + 1], text_b, offsets_b[b], offsets_b[b + 1])
        in_a[n], in_b[n] = a if order <= 0 else -1, b if order >= 0 else -1
        n += 1
        if order <= 0:
            a += 1
            head_a = _load_head(text_a, offsets_a[a], offsets_a[a + 1]) if a < n_a else head_a
        if order >= 0:
            b += 1
            head_b = _load_head(text_b, offsets_b[b], offsets_b[b + 1]) if b < n_b else head_b
    for i in range(a, n_a):
        in_a[n], in_b[n] = i, -1
        n += 1
    for i in range(b, n_b):
        in_a[n], in_b[n] = -1, i
        n += 1
    return n


@_jit
def radix_sort(numbers, order, other_numbers, other_order):
    """Sort 64-bit numbers, and `order` with them, byte by byte from the lowest; there is other room for both.

    Numbers that are the same stay in their order. Returns whether the result is in the other room.
    """
    n = np.uint64(numbers.shape[0])
    starts = np.zeros(8 * 256, np.int64)
    for i in range(n):
        for byte in range(np.uint64(8)):
            value = (numbers[i] >> (byte << np.uint64(3))) & np.uint64(255)
            starts[(byte << np.uint64(8)) + value] += 1
    is_other = False
    for byte in range(np.uint64(8)):
        base, shift, total, is_one_value = byte << np.uint64(8), byte << np.uint64(3), np.int64(0), False
        for value in range(np.uint64(256)):
            size = starts[base + value]
            is_one_value |= size == np.int64(n)
            starts[base + value] = total
            total += size
        if is_one_value:
            continue
        for i in range(n):
            at = base + ((numbers[i] >> shift) & np.uint64(255))
            place = np.uint64(starts[at])
            other_numbers[place], other_order[place] = numbers[i], order[i]
            starts[at] += 1
        numbers, other_numbers, order, other_order = other_numbers, numbers, other_order, order
        is_other = not is_other
    return is_other


@_jit
def counting_sort(items, keys, n_keys):
    """Return items in order of their keys; those with equal keys stay in their order."""
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
    """Write the first eight bytes of each string as one big-endian number, zeros beyond its end."""
    for item in range(heads.shape[0]):
        heads[item] = _load_head(text, offsets[item], offsets[item + 1])

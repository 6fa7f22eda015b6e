"""Arrays of strings as Arrow keeps them, one after the other in UTF-8: into numpy and back, sorted, checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from termsieve._kernels import WorkThreshold, import_kernels, kernels_pay
from termsieve._types import AnyArray, Int64Array, UInt8Array, UInt64Array
from termsieve.errors import OptionError

if TYPE_CHECKING:
    from termsieve.tokens import string_kernels
else:
    string_kernels = import_kernels("termsieve.tokens.string_kernels")

SORTED_STRINGS = WorkThreshold(warm=1 << 18, cold=1 << 21)  # from so many on, a loop is quicker than Arrow
_SMALL_SIZE = 10_000


def string_buffers(strings: pa.LargeStringArray) -> tuple[UInt8Array, Int64Array]:
    """Return the bytes of an array of strings and the n + 1 offsets into them, without a copy."""
    _, offsets, text = strings.buffers()
    ends = np.frombuffer(offsets, np.int64, len(strings) + 1, strings.offset * 8) if offsets else np.zeros(1, np.int64)
    return np.frombuffer(text, np.uint8) if text else np.empty(0, np.uint8), ends


def document_offsets(documents: pa.LargeStringArray | pa.LargeListArray) -> Int64Array:
    """Return the n + 1 offsets at which documents begin, in bytes; each token of a list counts as one byte more."""
    if isinstance(documents, pa.LargeListArray):
        starts: Int64Array = documents.offsets.to_numpy()
        return string_buffers(documents.values)[1][starts] + starts
    return string_buffers(documents)[1]


def make_string_array(text: UInt8Array, offsets: Int64Array) -> pa.LargeStringArray:
    """Return an array of strings on given bytes and offsets, without a copy."""
    return pa.LargeStringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(text))


def argsort_strings(strings: pa.LargeStringArray) -> Int64Array:
    """Return the order of distinct strings by code point, which in UTF-8 is by byte.

    Most are told apart by their first eight bytes, as numbers; Arrow sorts the others, several times slower.
    """
    if len(strings) < _SMALL_SIZE or not kernels_pay(len(strings), SORTED_STRINGS):
        return np.asarray(pc.array_sort_indices(strings), np.int64)
    heads = np.empty(len(strings), np.uint64)
    string_kernels.pack_leading_bytes(*string_buffers(strings), heads)
    order, sorted_heads = _argsort_numbers(heads)
    tied = _find_ties(sorted_heads)
    if len(tied):
        candidates = order[tied]
        order[tied] = candidates[pc.array_sort_indices(strings.take(pa.array(candidates))).to_numpy()]
    return order


def argsort_pairs(
    heads: UInt64Array, tails: UInt64Array, spell: Callable[[Int64Array], pa.LargeStringArray]
) -> Int64Array:
    """Return how to sort strings by pairs of numbers, and those with equal pairs by what `spell` makes of them."""
    order, sorted_heads = _argsort_numbers(heads)
    tied = _find_ties(sorted_heads)
    if len(tied):
        candidates, tied_heads = order[tied], sorted_heads[tied]
        groups = np.cumsum(np.concatenate([[False], tied_heads[1:] != tied_heads[:-1]]))
        by_tail, _ = _argsort_numbers(tails[candidates])
        by_both = string_kernels.counting_sort(items=by_tail, keys=groups, n_keys=int(groups[-1]) + 1)
        order[tied] = candidates = candidates[by_both]
        same = tied[_find_ties(tails[candidates], groups)]  # groups are in order, as before
        if len(same):
            candidates = order[same]
            order[same] = candidates[pc.array_sort_indices(spell(candidates)).to_numpy()]
    return order


def _argsort_numbers(numbers: UInt64Array) -> tuple[Int64Array, UInt64Array]:
    """Return how to sort numbers, and the numbers sorted."""
    numbers, order = numbers.copy(), np.arange(len(numbers))
    room = np.empty_like(numbers), np.empty_like(order)
    is_other = string_kernels.radix_sort(numbers, order, *room)
    return (room[1], room[0]) if is_other else (order, numbers)


def _find_ties(*keys: AnyArray) -> Int64Array:
    """Return the places of sorted keys that have a neighbour with the same."""
    same = np.logical_and.reduce([key[1:] == key[:-1] for key in keys])
    return np.flatnonzero(np.concatenate([same, [False]]) | np.concatenate([[False], same]))


def check_distinct(name: str, strings: Iterable[str]) -> pa.LargeStringArray:
    """Return an array of names for the option `name`; refuses one that stands twice."""
    if isinstance(strings, str) or not isinstance(strings, Iterable):
        raise OptionError(f"{name} must be a list of names, not {strings!r:.60}.")
    array = make_names(name, map(str, strings))
    if len(array.unique()) < len(array):
        counted = array.value_counts().to_pylist()
        twice = next(item["values"] for item in counted if item["counts"] > 1)
        raise OptionError(f"{name} must be distinct: {twice!r} stands more than once.")
    return array


def make_names(option: str, names: Iterable[str]) -> pa.LargeStringArray:
    """Return an array of names that an option was given; refuses what is not text."""
    try:
        return pa.array(list(names), pa.large_string())
    except (pa.ArrowException, UnicodeEncodeError, TypeError) as error:
        raise OptionError(f"{option} must hold strings that are valid Unicode: {error}.") from error

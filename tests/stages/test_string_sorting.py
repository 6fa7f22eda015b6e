"""Loops that sort and merge strings, against Python's own sorting."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from termsieve.tokens import string_kernels, strings
from termsieve.tokens.strings import string_buffers

WORDS = st.text(alphabet="ab\x00é字", max_size=20)


@given(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 300), max_size=300))
def test_numbers_are_sorted_and_equal_ones_keep_their_order(values):
    numbers = np.array(values, np.uint64)
    order, found = strings._argsort_numbers(numbers)
    assert order.tolist() == np.argsort(numbers, kind="stable").tolist()
    assert found.tolist() == sorted(values)


@given(st.sets(WORDS), st.sets(WORDS))
def test_sorted_lists_are_merged_by_code_point(mine, theirs):
    lists = [pa.array(sorted(one), pa.large_string()) for one in (mine, theirs)]
    size = len(mine) + len(theirs)
    in_mine, in_theirs = np.empty(size, np.int64), np.empty(size, np.int64)
    n = string_kernels.merge_strings(*string_buffers(lists[0]), *string_buffers(lists[1]), in_mine, in_theirs)
    union = sorted(mine | theirs)
    assert in_mine[:n].tolist() == [sorted(mine).index(word) if word in mine else -1 for word in union]
    assert in_theirs[:n].tolist() == [sorted(theirs).index(word) if word in theirs else -1 for word in union]

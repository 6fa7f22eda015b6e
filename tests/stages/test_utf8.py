"""UTF-8 is checked by a loop of our own where loops are loaded: Python's decoder decides what is right."""

import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from termsieve._kernels import use_way
from termsieve.documents.string_columns import decode_utf8, is_utf8

LEADS = bytes.fromhex("7f 80 bf c0 c1 c2 df e0 e1 ec ed ee ef f0 f1 f3 f4 f5 ff")
SECONDS = bytes.fromhex("00 7f 80 8f 90 9f a0 bf c0 ff")
THIRDS = bytes.fromhex("7f 80 bf c0")


def is_valid(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


@pytest.fixture(params=["plain", "compiled"])
def way(request):
    with use_way(request.param):
        yield request.param


@pytest.mark.parametrize("before", [0, 61, 62, 63, 64])
def test_every_kind_of_character_at_the_edge_of_a_block(way, before):
    """Characters that are cut, too long, surrogates or none; at the end of a text and before more of it."""
    for length in range(1, 5):
        for data in itertools.product(LEADS, *(SECONDS, THIRDS, THIRDS)[: length - 1]):
            for text in (b"a" * before + bytes(data), b"a" * before + bytes(data) + b"b" * 70):
                assert is_utf8(text) == is_valid(text), text


@given(st.text(max_size=200), st.integers(0), st.integers(0, 255))
@settings(max_examples=300)
def test_text_is_valid_and_a_changed_byte_is_judged_as_python_does(text, place, byte):
    data = text.encode()
    changed = bytearray(data)
    if data:
        changed[place % len(data)] = byte
    with use_way("compiled"):
        assert is_utf8(data)
        assert is_utf8(bytes(changed)) == is_valid(bytes(changed))


def test_values_that_share_a_character_are_not_text(way):
    """All bytes together are valid, but not those of each value."""
    column, faults = pa.array(["a€".encode()[:2], "a€".encode()[2:], "öä".encode()], pa.large_binary()), {}
    assert decode_utf8(column, faults).to_pylist() == [None, None, "öä"]
    assert sorted(faults) == [0, 1]


def test_slices_and_nulls(way):
    column, faults = pa.array([b"\xff", "ä".encode(), None, b"", "ж".encode(), b"\xc3"], pa.binary()), {}
    assert decode_utf8(column.slice(1, 4), faults).to_pylist() == ["ä", None, "", "ж"]
    assert not faults
    assert decode_utf8(column.slice(0, 0), faults).to_pylist() == []


def test_bytes_behind_a_null_are_no_fault(way):
    """Arrow leaves open what stands there."""
    offsets, data = np.array([0, 1, 2, 3], np.int64), b"a\xffb"
    valid = np.packbits([1, 0, 1], bitorder="little")
    buffers = [pa.py_buffer(valid), pa.py_buffer(offsets), pa.py_buffer(data)]
    column, faults = pa.Array.from_buffers(pa.large_binary(), 3, buffers), {}
    assert decode_utf8(column, faults).to_pylist() == ["a", None, "b"]
    assert not faults

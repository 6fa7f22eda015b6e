"""Columns of any type as columns of strings."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from termsieve._kernels import WorkThreshold, import_kernels, kernels_pay
from termsieve.documents.chunks import Column, Faults, JsonLiteral
from termsieve.documents.label_spelling import is_missing, spell, spell_array
from termsieve.errors import InputError

if TYPE_CHECKING:
    from termsieve.documents import utf8_kernels
else:
    utf8_kernels = import_kernels("termsieve.documents.utf8_kernels")

LONE_SURROGATE = "a lone surrogate, which is not text"
NULL_IN_LIST = "missing token: there is a null in the list"
TOKENS = pa.large_list(pa.large_string())
_LISTS = (list, tuple, np.ndarray)
_NEVER = WorkThreshold(warm=sys.maxsize, cold=sys.maxsize)  # a check alone is not worth loading a loop for
_TYPE_NAMES = {
    str: "a string",
    bool: "a truth value",
    int: "a number",
    JsonLiteral: "a number",
    float: "a number",
    list: "a list",
    dict: "an object",
}


def is_utf8(data: bytes) -> bool:
    """Tell whether the bytes are valid UTF-8."""
    if kernels_pay(0, _NEVER):
        return bool(utf8_kernels.is_valid(text=np.frombuffer(data, np.uint8)))
    offsets = pa.py_buffer(np.array([0, len(data)], np.int64))
    cell = pa.Array.from_buffers(pa.large_binary(), 1, [None, offsets, pa.py_buffer(data)])
    try:
        cell.cast(pa.large_string())
    except pa.ArrowInvalid:
        return False
    return True


def is_unicode(text: str) -> bool:
    """Tell whether the text can be encoded, that is, has no lone surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def to_text_column(column: Column, title: str, faults: Faults) -> pa.Array:
    """Turn a column of text into large_string, or one of token lists into large_list<large_string>.

    It is null where the text is missing or, with a fault, not text. `title` says in an error which column it is.
    """
    if isinstance(column, list):
        first = next((value for value in column if isinstance(value, _LISTS) or not is_missing(value)), None)
        return _values_to_tokens(column, faults) if isinstance(first, _LISTS) else _values_to_text(column, faults)
    if pt.is_null(column.type):
        return pa.nulls(len(column), pa.large_string())
    column = decode_dictionary(column)
    if is_list(column.type):
        return _lists_to_tokens(column, title, faults)
    if not is_textual(column.type):
        raise InputError(f"{title} holds values of type {column.type}, not text.")
    return decode_utf8(column, faults)


def _lists_to_tokens(column: pa.Array, title: str, faults: Faults) -> pa.Array:
    lists = _rebuild_lists(column)
    values, inner = decode_dictionary(lists.values), dict[int, str]()
    if not (is_textual(values.type) or pt.is_null(values.type)):
        raise InputError(f"{title} holds values of type {column.type}, neither text nor lists of tokens.")
    tokens = decode_utf8(values, inner)
    for position in np.flatnonzero(tokens.is_null().to_numpy(zero_copy_only=False)).tolist():
        inner.setdefault(position, NULL_IN_LIST)
    offsets = lists.offsets
    owners = np.searchsorted(offsets.to_numpy(), list(inner), side="right") - 1
    for row, reason in zip(owners.tolist(), inner.values(), strict=True):
        faults.setdefault(row, reason)
    return pa.LargeListArray.from_arrays(offsets, tokens, mask=lists.is_null())


def _values_to_tokens(values: list[Any], faults: Faults) -> pa.Array:
    lists = [_value_to_tokens(value, row, faults) for row, value in enumerate(values)]
    return pa.array(lists, TOKENS)


def _value_to_tokens(value: Any, row: int, faults: Faults) -> list[str] | None:
    if not isinstance(value, _LISTS):
        if not is_missing(value):
            faults.setdefault(row, f"text is not a list of tokens, as those before: it is {_describe_type(value)}")
        return None
    tokens = list(value)
    for token in tokens:
        if not isinstance(token, str):
            what = f"token is not a string: it is {_describe_type(token)}"
            faults.setdefault(row, NULL_IN_LIST if is_missing(token) else what)
            return None
        if not is_unicode(token):
            faults.setdefault(row, f"token holds {LONE_SURROGATE}")
            return None
    return [str(token) for token in tokens]


def _values_to_text(values: list[Any], faults: Faults) -> pa.Array:
    if set(map(type, values)) <= {str}:
        try:
            return pa.array(values, pa.large_string())
        except UnicodeEncodeError:
            pass
    return pa.array([_value_to_text(value, row, faults) for row, value in enumerate(values)], pa.large_string())


def _value_to_text(value: Any, row: int, faults: Faults) -> str | None:
    if is_missing(value):
        return None
    if not isinstance(value, str):
        faults.setdefault(row, f"text is not a string: it is {_describe_type(value)}")
        return None
    if not is_unicode(value):
        faults.setdefault(row, f"text holds {LONE_SURROGATE}")
        return None
    return str(value)


def _describe_type(value: Any) -> str:
    return _TYPE_NAMES.get(type(value), f"of type {type(value).__name__}")


def is_textual(kind: pa.DataType) -> bool:
    """Recognise strings, or bytes: old Parquet files do not tell one from the other."""
    checks = (
        pt.is_string,
        pt.is_large_string,
        pt.is_string_view,
        pt.is_binary,
        pt.is_large_binary,
        pt.is_binary_view,
    )
    return any(check(kind) for check in checks)


def decode_dictionary(column: pa.Array) -> pa.Array:
    """Return the column without dictionary encoding."""
    if not pt.is_dictionary(column.type):
        return column
    return pc.take(replace_views(column.dictionary), column.indices)


def replace_views(column: pa.Array) -> pa.Array:
    """Return strings, or lists of them, in a layout from which Arrow can take rows; polars has another."""
    kind = column.type
    if pt.is_string_view(kind):
        return column.cast(pa.large_string())
    if pt.is_binary_view(kind):
        return column.cast(pa.large_binary())
    return _rebuild_lists(column) if is_list(kind) else column


def byte_size(data: pa.Array | pa.RecordBatch) -> int:
    """Return the size of Arrow data in bytes, or an upper limit where Arrow (before 24) cannot tell that of views."""
    try:
        return int(data.nbytes)
    except pa.ArrowTypeError:
        return int(data.get_total_buffer_size())


def _rebuild_lists(column: pa.Array) -> pa.Array:
    """Build the lists anew: Arrow's cast of list views loses items."""
    offsets = np.zeros(len(column) + 1, np.int64)
    lengths = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False)
    np.cumsum(lengths, out=offsets[1:])
    items = replace_views(pc.list_flatten(column))
    return pa.LargeListArray.from_arrays(pa.array(offsets), items, mask=column.is_null())


def is_list(kind: pa.DataType) -> bool:
    """Recognise lists of any layout."""
    checks = (pt.is_list, pt.is_large_list, pt.is_fixed_size_list, pt.is_list_view, pt.is_large_list_view)
    return any(check(kind) for check in checks)


def decode_utf8(column: pa.Array, faults: Faults) -> pa.Array:
    """Return strings or bytes as large_string, each checked: files may claim UTF-8 that is none."""
    raw = column.cast(pa.large_binary())
    if kernels_pay(0, _NEVER) and _is_plainly_utf8(raw):
        return raw.view(pa.large_string())
    try:
        return raw.cast(pa.large_string())
    except pa.ArrowInvalid:
        return pa.array(
            [_decode_value(value, row, faults) for row, value in enumerate(raw.to_pylist())], pa.large_string()
        )


def _is_plainly_utf8(column: pa.LargeBinaryArray) -> bool:
    """Tell whether all bytes from the first value to the last are valid UTF-8, and no character is in two values.

    A column of which this is not true may still be valid: there may be other bytes behind its nulls.
    """
    _, offset_buffer, data = column.buffers()
    if data is None or not len(column):
        return True
    offsets = np.frombuffer(offset_buffer, np.int64)[column.offset : column.offset + len(column) + 1]
    text = np.frombuffer(data, np.uint8)[offsets[0] : offsets[-1]]
    return bool(
        utf8_kernels.is_valid(text=text)
        and utf8_kernels.are_cut_between_characters(text=text, offsets=offsets - offsets[0])
    )


def load_kernels() -> None:
    """Load or compile the loops that check UTF-8."""
    _is_plainly_utf8(pa.array([b"a"], pa.large_binary()))


def _decode_value(value: bytes | None, row: int, faults: Faults) -> str | None:
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError as error:
        faults.setdefault(row, f"not valid utf-8: at byte {error.start} of the text")
        return None


def stringify_column(column: Column, title: str, faults: Faults) -> pa.Array:
    """Write values of any plain type by the rule of `label_spelling`, as large_string; null where missing."""
    if isinstance(column, list):
        return _stringify_values(column, faults)
    column = decode_dictionary(column)
    if is_textual(column.type):
        return decode_utf8(column, faults)
    try:
        numbers, values = _number_values(column)
        distinct = pa.array(spell_array(values), pa.large_string())
    except (pa.ArrowNotImplementedError, ValueError) as error:
        raise InputError(f"{title} holds values of type {column.type}, not strings or numbers.") from error
    except (pa.ArrowException, OverflowError, LookupError) as error:  # dates beyond Python's, unknown time zones
        raise InputError(
            f"{title} holds values of type {column.type} that Python cannot write: {str(error).rstrip('.')}."
        ) from error
    return pc.take(distinct, numbers)


def _number_values(column: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Find the different values, and which each is; small floats by their bits, because Arrow before 26 cannot."""
    if not pa.types.is_float16(column.type):
        encoded = column.dictionary_encode()
        return encoded.indices, encoded.dictionary
    encoded = column.view(pa.uint16()).dictionary_encode()
    return encoded.indices, encoded.dictionary.view(column.type)


def _stringify_values(values: list[Any], faults: Faults) -> pa.Array:
    spelled = [_stringify(value) for value in values]
    for row, spelling in enumerate(spelled):
        if spelling is not None and not is_unicode(spelling):
            faults.setdefault(row, f"value holds {LONE_SURROGATE}")
            spelled[row] = None
    return pa.array(spelled, pa.large_string())


def _stringify(value: Any) -> str | None:
    try:
        return None if is_missing(value) else spell(value)
    except ValueError:  # no plain value: any text will do to tell it from others
        return str(value)

"""A column of labels, of whatever type, as lists of strings."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from termsieve._types import Int64Array
from termsieve.documents.chunks import Column, Faults
from termsieve.documents.label_spelling import is_infinite, is_missing, spell
from termsieve.documents.string_columns import LONE_SURROGATE, decode_dictionary, is_list, is_unicode, stringify_column

MISSING_LABEL = "missing label"
INFINITE = "label is not a finite number"


def make_empty_labels(rows: int) -> pa.Array:
    """Make the labels of documents of no class."""
    return _make_lists(np.zeros(0, np.int64), pa.array([], pa.large_string()), rows)


def make_label_lists(column: Column, separator: str | None, title: str, faults: Faults) -> pa.Array:
    """Find the labels of each row, each label once, as large_list<large_string>.

    Without a separator a row without a label is a fault; with one, it is a document of no class.
    """
    rows = len(column)
    owners, labels, empty_rows = _flatten(column, title, faults)
    if separator is not None:
        owners, labels = _split_labels(owners, labels, separator)
    else:
        blank = pc.fill_null(pc.equal(labels, ""), fill_value=True).to_numpy(zero_copy_only=False)
        for row in (*empty_rows.tolist(), *owners[blank].tolist()):
            faults.setdefault(row, MISSING_LABEL)
    return _make_lists(*_drop_duplicates(owners, labels), rows)


def _flatten(column: Column, title: str, faults: Faults) -> tuple[Int64Array, pa.Array, Int64Array]:
    """Return all labels one after the other, the row that owns each, and the rows that have none at all."""
    if isinstance(column, list):
        return _flatten_values(column, faults)
    column = decode_dictionary(column)
    if not is_list(column.type):
        return np.arange(len(column)), _spell(column, title, faults), np.zeros(0, np.int64)
    owners = pc.list_parent_indices(column).to_numpy(zero_copy_only=False).astype(np.int64)
    inner: Faults = {}
    labels = _spell(decode_dictionary(pc.list_flatten(column)), title, inner)
    for position, reason in inner.items():
        faults.setdefault(int(owners[position]), reason)
    nulls = column.is_null().to_numpy(zero_copy_only=False)
    return owners, labels, np.flatnonzero(nulls)


def _spell(column: pa.Array, title: str, faults: Faults) -> pa.Array:
    if pt.is_floating(column.type):
        infinite = pc.is_inf(column.cast(pa.float64())).to_numpy(zero_copy_only=False)
        for row in np.flatnonzero(infinite.astype(bool)).tolist():
            faults.setdefault(row, INFINITE)
    return stringify_column(column, title, faults)


def _flatten_values(values: list[Any], faults: Faults) -> tuple[Int64Array, pa.Array, Int64Array]:
    if set(map(type, values)) <= {str}:
        try:
            return np.arange(len(values)), pa.array(values, pa.large_string()), np.zeros(0, np.int64)
        except UnicodeEncodeError:
            pass  # the long way says which
    if (flat := _flatten_string_lists(values)) is not None:
        return flat
    owners: list[int] = []
    labels: list[str | None] = []
    empty_rows: list[int] = []
    for row, value in enumerate(values):
        if is_missing(value):
            empty_rows.append(row)
            continue
        try:
            found = _parse_label_set(value)
        except ValueError as error:
            faults.setdefault(row, str(error))
            continue
        owners.extend([row] * len(found))
        labels.extend(found)
    return np.array(owners, np.int64), pa.array(labels, pa.large_string()), np.array(empty_rows, np.int64)


def _flatten_string_lists(values: list[Any]) -> tuple[Int64Array, pa.Array, Int64Array] | None:
    """Do the same with lists of plain strings, as frames have them, without a look at each; None if they are not."""
    if not set(map(type, values)) <= {list, tuple, np.ndarray}:
        return None
    try:
        labels = list(itertools.chain.from_iterable(values))
        if not set(map(type, labels)) <= {str}:
            return None
        owners = np.repeat(np.arange(len(values)), list(map(len, values)))
        return owners, pa.array(labels, pa.large_string()), np.zeros(0, np.int64)
    except (TypeError, UnicodeEncodeError):  # an array without dimensions; a lone surrogate, which the long way names
        return None


def _parse_label_set(value: Any) -> list[str | None]:
    if isinstance(value, (set, frozenset)):
        return sorted((_parse_label(item) for item in value), key=lambda label: label or "")
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_parse_label(item) for item in value]
    return [_parse_label(value)]


def _parse_label(value: Any) -> str | None:
    if is_missing(value):
        return None
    if is_infinite(value):
        raise ValueError(INFINITE)
    try:
        label = spell(value)
    except ValueError as error:
        raise ValueError(f"label is {error}") from error
    if not is_unicode(label):
        raise ValueError(f"label holds {LONE_SURROGATE}")
    return label


def _split_labels(owners: Int64Array, labels: pa.Array, separator: str) -> tuple[Int64Array, pa.Array]:
    """Split each label, strip the parts, drop empty ones."""
    parts = pc.split_pattern(labels, separator)
    owners = owners[pc.list_parent_indices(parts).to_numpy(zero_copy_only=False)]
    stripped = pc.utf8_trim_whitespace(pc.list_flatten(parts))
    filled = pc.not_equal(stripped, "")
    return owners[filled.to_numpy(zero_copy_only=False)], stripped.filter(filled)


def _drop_duplicates(owners: Int64Array, labels: pa.Array) -> tuple[Int64Array, pa.Array]:
    """Drop a label that its row already has; the first stays where it is."""
    if len(owners) == 0 or bool((np.diff(owners) > 0).all()):
        return owners, labels
    encoded = labels.dictionary_encode("encode")
    keys = owners * len(encoded.dictionary) + encoded.indices.to_numpy(zero_copy_only=False)
    first = np.unique(keys, return_index=True)[1]
    if len(first) == len(keys):
        return owners, labels
    first.sort()
    return owners[first], labels.take(pa.array(first))


def _make_lists(owners: Int64Array, labels: pa.Array, rows: int) -> pa.Array:
    offsets = np.zeros(rows + 1, np.int64)
    np.cumsum(np.bincount(owners, minlength=rows), out=offsets[1:])
    return pa.LargeListArray.from_arrays(pa.array(offsets), labels)

"""Documents that are in memory already: frames, Arrow tables, datasets, plain sequences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from termsieve.documents.arrowfiles import split_batch
from termsieve.documents.chunks import BATCH_BYTES, BATCH_ROWS, Chunk, Column, Source, make_row_places
from termsieve.documents.label_spelling import numpy_times
from termsieve.documents.options import Options, check_columns
from termsieve.documents.string_columns import byte_size, replace_views, stringify_column
from termsieve.errors import InputError

_FIRST_ROWS = 1024

Sliceable: TypeAlias = "pa.ChunkedArray | Sequence[Any] | np.ndarray[Any, Any]"


class ColumnSource(Source):
    """Columns of equal length, by name: a frame, an Arrow table, or a mapping of sequences."""

    def __init__(self, title: str, names: Sequence[str], data: Any) -> None:
        self.name = title
        self._names = list(names)
        self._data = data

    def column_names(self, options: Options) -> list[str]:  # noqa: ARG002
        """Return the names of the columns."""
        return self._names

    def chunks(self, options: Options, extra: Sequence[str]) -> Iterator[Chunk]:
        """Yield rows in chunks of moderate size."""
        wanted = options.columns(extra)
        check_columns(self.name, wanted, self._names)
        columns = {name: as_sliceable(self._data[name], name) for name in wanted}
        length = check_same_length({repr(name): len(column) for name, column in columns.items()})
        start, step = 0, _FIRST_ROWS
        while start < length:
            pieces = {name: slice_column(column, start, step) for name, column in columns.items()}
            rows = min(step, length - start)
            size = sum(_text_size(pieces[name]) for name in options.text)
            step = max(1, min(rows * BATCH_BYTES // max(size, 1), 4 * rows, BATCH_ROWS))
            if size > 2 * BATCH_BYTES and rows > 1:
                continue  # too much at once: again, with the smaller step
            yield Chunk(rows, pieces, {name: _extra_to_array(pieces[name]) for name in extra}, make_row_places(start))
            start += rows


def slice_column(column: Sliceable, start: int, step: int) -> Column:
    """Return some rows as an Arrow array, or as Python objects where they are no Arrow array."""
    if isinstance(column, pa.ChunkedArray):
        return replace_views(column.slice(start, step).combine_chunks())
    piece = column[start : start + step]
    return piece.tolist() if isinstance(piece, np.ndarray) else list(piece)


def _extra_to_array(column: Column) -> pa.Array:
    """Return an extra column as it is, or as text where its values have no one type."""
    if not isinstance(column, list):
        return column
    try:
        return pa.array(column, from_pandas=True)
    except (pa.ArrowException, ValueError, TypeError, OverflowError):
        return stringify_column(column, "", {})


def _text_size(piece: Column) -> int:
    if isinstance(piece, list):
        return sum(map(len if set(map(type, piece)) <= {str} else _value_size, piece))
    return byte_size(piece)


def _value_size(value: Any) -> int:
    if isinstance(value, (list, tuple, np.ndarray)):  # of tokens
        return sum(len(token) + 1 for token in value if isinstance(token, str))
    return len(value) if isinstance(value, str) else 0


def check_same_length(lengths: Mapping[str, int]) -> int:
    """Return the one length of all, or an error that says which they have."""
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise InputError(f"Columns must be of equal length; got {listed}.")
    return next(iter(lengths.values()))


def as_sliceable(values: Any, title: str) -> Sliceable:
    """Return a sequence of any library as one of three kinds that can be sliced."""
    if isinstance(values, pa.ChunkedArray):
        return values
    if isinstance(values, pa.Array):
        return pa.chunked_array([values])
    if isinstance(values, (str, bytes, Mapping, set, frozenset)) or not isinstance(values, Iterable):
        raise InputError(
            f"{title} must be a sequence with one item per document, such as a list, an array or a Series; "
            f"got {type(values).__name__}."
        )
    if isinstance(values, np.ndarray):
        if values.ndim != 1:
            raise InputError(f"{title} must have one dimension, got an array of shape {values.shape}.")
        return _of_numpy(values)
    if isinstance(values, (list, tuple)):
        return values
    return _series_to_sliceable(values)


def _of_numpy(values: np.ndarray[Any, Any]) -> Sliceable:
    """Return the array, or an Arrow array where `tolist` would change the values: small floats, dates and times."""
    if values.dtype.kind in "mM":
        return pa.chunked_array([pa.array(numpy_times(values))])
    return pa.chunked_array([pa.array(values)]) if values.dtype in (np.float16, np.float32) else values


def _series_to_sliceable(values: Any) -> Sliceable:
    # pandas objects may be of any type, mixed; Arrow would also lose the order in which sets are to be sorted
    if str(getattr(values, "dtype", "")) == "object":
        return list(values)
    try:
        if hasattr(values, "__arrow_c_stream__"):
            return pa.chunked_array(values)
        if type(values).__module__.startswith("pandas"):
            array = pa.array(values, from_pandas=True)
            return array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])
    except (pa.ArrowException, OSError, TypeError, ValueError, NotImplementedError):
        pass  # what Arrow has no type for, or its owner cannot hand over (OSError: categories of polars before 1.33.1)
    return list(values.to_list() if hasattr(values, "to_list") else values)


class HuggingFaceSource(Source):
    """A dataset in the manner of Hugging Face, read batch by batch."""

    def __init__(self, data: Any) -> None:
        self.name = type(data).__name__
        self._data = data

    def column_names(self, options: Options) -> list[str]:  # noqa: ARG002
        """Return the names of the columns, where the dataset knows them before it is read."""
        return list(getattr(self._data, "column_names", None) or ())

    def chunks(self, options: Options, extra: Sequence[str]) -> Iterator[Chunk]:
        """Yield rows in chunks of moderate size."""
        wanted = options.columns(extra)
        data = self._data
        if names := self.column_names(options):
            check_columns(self.name, wanted, names)
            data = data.select_columns(wanted) if hasattr(data, "select_columns") else data
        done = 0
        for table in data.with_format("arrow").iter(batch_size=_FIRST_ROWS):
            check_columns(self.name, wanted, table.column_names)
            for batch in table.combine_chunks().to_batches():
                yield from split_batch(self.name, batch, options, extra, done)
                done += batch.num_rows

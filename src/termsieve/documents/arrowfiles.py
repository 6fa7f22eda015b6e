"""Parquet and Arrow IPC files (Feather is one): batches as they are stored, of the wanted columns only.

Such a file may be damaged, or made to do harm, and most of Arrow's functions trust an array to be sound: an offset
beyond its buffer ends the process. So `split_batch` checks each column in full before anything else is done with it.
Files are read, not mapped into memory: when another process cuts a mapped file, the next access to it ends ours. The
checksums of Parquet pages are verified where the file has them.
"""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.types as pt

from termsieve.documents.chunks import BATCH_BYTES, BATCH_ROWS, Chunk, make_row_places
from termsieve.documents.options import Options, check_columns
from termsieve.documents.streams import convert_read_errors
from termsieve.documents.string_columns import byte_size, is_list, is_textual, replace_views
from termsieve.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from termsieve.documents.remote import AnyPath

_IPC_FILE_MAGIC = b"ARROW1"
_READ_AHEAD = 1 << 20
_FEWEST_ROWS = 16  # of a batch, where columns that are not read may be the large ones
_SHOWN_TYPE = 100  # characters


def parquet_columns(path: AnyPath) -> list[str]:
    """List the names of the columns of a Parquet file."""
    with _open_parquet(path) as file:
        return _column_names(path, file.schema_arrow)


def ipc_columns(path: AnyPath) -> list[str]:
    """List the names of the columns of an Arrow IPC file or stream."""
    with _open_ipc(path) as file:
        return _column_names(path, _ipc_schema(path, file))


def read_parquet(path: AnyPath, options: Options, extra: Sequence[str]) -> Iterator[Chunk]:
    """Yield the rows of a Parquet file."""
    wanted = options.columns(extra)
    with _open_parquet(path) as file:
        check_columns(str(path), wanted, _column_names(path, file.schema_arrow))
        yield from _chunks(path, _parquet_batches(path, file, wanted), options, extra)


def read_ipc(path: AnyPath, options: Options, extra: Sequence[str]) -> Iterator[Chunk]:
    """Yield the rows of an Arrow IPC file or stream."""
    wanted = options.columns(extra)
    with _open_ipc(path) as file:
        names = _column_names(path, _ipc_schema(path, file))
        check_columns(str(path), wanted, names)
        fields = [index for index, name in enumerate(names) if name in wanted]
        yield from _chunks(path, _ipc_batches(file, fields, path.stat().st_size), options, extra)


def _chunks(
    path: AnyPath, batches: Iterator[tuple[int, pa.RecordBatch]], options: Options, extra: Sequence[str]
) -> Iterator[Chunk]:
    """Yield the rows of batches, each of which says how far the file was read."""
    done = 0
    while True:
        with convert_read_errors(str(path)):
            position, batch = next(batches, (0, None))
        if batch is None:
            return
        for chunk in split_batch(str(path), batch, options, extra, done):
            chunk.position = position
            yield chunk
        done += batch.num_rows


@contextmanager
def _open_parquet(path: AnyPath) -> Iterator[pq.ParquetFile]:
    with convert_read_errors(str(path)), _convert_name_errors(path):
        file = pq.ParquetFile(_open_bytes(path), buffer_size=_READ_AHEAD, page_checksum_verification=True)
    with file:
        yield file


def _column_names(path: AnyPath, schema: pa.Schema) -> list[str]:
    with _convert_name_errors(path):
        return list(schema.names)


@contextmanager
def _convert_name_errors(path: AnyPath) -> Iterator[None]:
    """Say what is wrong when names of columns cannot be decoded."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}: the name of a column is not valid UTF-8 ({error.object!r:.60}). "
            "The file may be damaged; if it is not, write it again with other names."
        ) from error


def _parquet_batches(path: AnyPath, file: pq.ParquetFile, wanted: list[str]) -> Iterator[tuple[int, pa.RecordBatch]]:
    size, total, done = path.stat().st_size, _number_of_rows(path, file.metadata), 0
    fewest = 1 if len(file.schema_arrow) == len(wanted) else _FEWEST_ROWS
    for batch in file.iter_batches(_rows_per_batch(file.metadata, fewest), columns=wanted):
        done += batch.num_rows
        yield size * done // max(total, done, 1), batch
    if done != total:
        raise InputError(f"{path}: the file is damaged: it says that it has {total:,} rows, but {done:,} were found.")


def _number_of_rows(path: AnyPath, metadata: pq.FileMetaData) -> int:
    """Return the number of rows; a file whose row groups have more or fewer is damaged."""
    in_groups = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
    if min(in_groups, default=0) < 0 or sum(in_groups) != metadata.num_rows:
        raise InputError(
            f"{path}: the file is damaged: it says that it has {metadata.num_rows:,} rows, "
            f"but its row groups have {sum(in_groups):,}."
        )
    return int(metadata.num_rows)


def _rows_per_batch(metadata: pq.FileMetaData, fewest: int) -> int:
    """Return so many rows that a batch has about `BATCH_BYTES`, by the row group with the largest rows.

    The size is that of all columns, read or not: pyarrow ends the process when it is asked for the size of a column
    whose metadata is damaged.
    """
    most = 1
    for group in (metadata.row_group(i) for i in range(metadata.num_row_groups)):
        most = max(most, group.total_byte_size // max(group.num_rows, 1))
    return int(max(fewest, min(BATCH_ROWS, BATCH_BYTES // most)))


@contextmanager
def _open_ipc(path: AnyPath) -> Iterator[pa.NativeFile]:
    with convert_read_errors(str(path)):
        file = _open_bytes(path)
    with file:
        yield file


def _open_bytes(path: AnyPath) -> pa.NativeFile:
    return pa.OSFile(str(path)) if isinstance(path, Path) else path.open("rb")


def _is_ipc_file(file: pa.NativeFile) -> bool:
    """Tell a file, which has its footer at the end, from a stream."""
    file.seek(0)
    is_file: bool = file.read(len(_IPC_FILE_MAGIC)) == _IPC_FILE_MAGIC
    file.seek(0)
    return is_file


def _ipc_schema(path: AnyPath, file: pa.NativeFile) -> pa.Schema:
    with convert_read_errors(str(path)):
        return pa.ipc.open_file(file).schema if _is_ipc_file(file) else pa.ipc.open_stream(file).schema


def _ipc_batches(file: pa.NativeFile, fields: list[int], size: int) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Yield the batches with only some of the fields."""
    options = pa.ipc.IpcReadOptions(included_fields=fields)
    if _is_ipc_file(file):
        reader = pa.ipc.open_file(file, options=options)
        n = reader.num_record_batches
        for index in range(n):
            yield size * (index + 1) // n, reader.get_batch(index)
    else:
        for batch in pa.ipc.open_stream(file, options=options):
            yield min(file.tell(), size), batch


def split_batch(
    source: str, batch: pa.RecordBatch, options: Options, extra: Sequence[str], done: int
) -> Iterator[Chunk]:
    """Check a batch of any size and cut it into chunks of moderate size; `done` rows came before it."""
    for name in options.columns(()):
        _check_column(source, name, batch[name], done)
    for name in extra:
        _check_values(source, name, batch[name], done)
    step = BATCH_ROWS
    if batch.num_rows:
        mean = max(byte_size(batch.select(options.columns(extra))) // batch.num_rows, 1)
        step = max(1, min(BATCH_ROWS, BATCH_BYTES // mean))
    for start in range(0, batch.num_rows, step):
        piece = batch.slice(start, step)
        columns = {name: replace_views(_unwrap_extension(piece[name])) for name in options.columns(())}
        further = {name: replace_views(piece[name]) for name in extra}
        yield Chunk(piece.num_rows, columns, further, make_row_places(done + start))


def _check_column(source: str, name: str, column: pa.Array, done: int) -> None:
    """Refuse what is neither text, numbers nor lists of them, and arrays on which other code would stumble.

    Strings are checked as bytes: whether a text is valid UTF-8 is seen later, so that an error can name its row.
    """
    column = _unwrap_extension(column)
    kind = _type_of_bytes(column.type)
    if kind is None:
        raise InputError(
            f"{source}: column {name!r} holds values of type {column.type!s:.{_SHOWN_TYPE}}, "
            "not text, numbers or lists of them."
        )
    _check_values(source, name, column if kind == column.type else column.view(kind), done)


def _unwrap_extension(column: pa.Array) -> pa.Array:
    """Return the strings of an extension type that is stored as strings, such as JSON; other columns as they are."""
    is_text = isinstance(column, pa.ExtensionArray) and is_textual(column.type.storage_type)
    return column.storage if is_text else column


def _check_values(source: str, name: str, column: pa.Array, done: int) -> None:
    try:
        column.validate(full=True)
    except pa.ArrowException as error:
        raise InputError(
            f"{source}: column {name!r} is damaged, in the rows from {done + 1:,} to {done + len(column):,}: {error}"
        ) from error


def _type_of_bytes(kind: pa.DataType) -> pa.DataType | None:
    """Return the type with bytes instead of strings; None for a type that holds neither text, numbers nor lists."""
    if is_list(kind):
        items = _type_of_bytes(kind.value_type)
        return None if items is None else _list_type(kind, items)
    if pt.is_dictionary(kind):
        values = _type_of_bytes(kind.value_type)
        return None if values is None else pa.dictionary(kind.index_type, values, kind.ordered)
    if pt.is_nested(kind) or pt.is_run_end_encoded(kind) or isinstance(kind, pa.BaseExtensionType):
        return None
    return _BYTES.get(kind, kind)


_BYTES = {
    pa.string(): pa.binary(),
    pa.large_string(): pa.large_binary(),
    pa.string_view(): pa.binary_view(),
}


def _list_type(kind: pa.DataType, items: pa.DataType) -> pa.DataType:
    if pt.is_fixed_size_list(kind):
        return pa.list_(items, kind.list_size)
    makers = (
        (pt.is_large_list, pa.large_list),
        (pt.is_list_view, pa.list_view),
        (pt.is_large_list_view, pa.large_list_view),
    )
    return next((make for test, make in makers if test(kind)), pa.list_)(items)

"""Parquet and Arrow IPC files (Feather is one): batches as they are stored, of the wanted columns only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from termsieve.documents.chunks import BATCH_BYTES, BATCH_ROWS, Chunk, row_place
from termsieve.documents.options import Options, check_columns
from termsieve.documents.streams import failures_of
from termsieve.documents.strings import byte_size, without_views

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_IPC_FILE_MAGIC = b"ARROW1"
_READ_AHEAD = 1 << 20


def parquet_chunks(path: Path, options: Options, extra: Sequence[str]) -> Iterator[Chunk]:
    """Yield the rows of a Parquet file."""
    wanted = options.columns(extra)
    size = path.stat().st_size
    with failures_of(str(path)):
        file = pq.ParquetFile(path, buffer_size=_READ_AHEAD)
    with file:
        check_columns(str(path), wanted, file.schema_arrow.names)
        total = file.metadata.num_rows
        batches = file.iter_batches(_rows_per_batch(file.metadata, wanted), columns=wanted)
        for done, batch in _numbered(str(path), batches):
            for chunk in batch_chunks(batch, wanted, extra, done):
                chunk.position = size * (done + batch.num_rows) // max(total, 1)
                yield chunk


def _rows_per_batch(metadata: Any, wanted: list[str]) -> int:
    """So many rows that a batch has about `BATCH_BYTES`, by the largest row group."""
    most = 1
    for group in (metadata.row_group(i) for i in range(metadata.num_row_groups)):
        columns = (group.column(i) for i in range(group.num_columns))
        held = sum(c.total_uncompressed_size for c in columns if c.path_in_schema.split(".")[0] in wanted)
        most = max(most, held // max(group.num_rows, 1))
    return int(max(1, min(BATCH_ROWS, BATCH_BYTES // most)))


def ipc_chunks(path: Path, options: Options, extra: Sequence[str]) -> Iterator[Chunk]:
    """Yield the rows of an Arrow IPC file or stream."""
    wanted = options.columns(extra)
    size = path.stat().st_size
    with failures_of(str(path)):
        file = pa.memory_map(str(path)) if size else path.open("rb")
    with file:
        with failures_of(str(path)):
            schema, batches = _ipc_batches(file, wanted)
        check_columns(str(path), wanted, schema.names)
        for done, batch in _numbered(str(path), batches):
            for chunk in batch_chunks(batch, wanted, extra, done):
                chunk.position = min(file.tell(), size)
                yield chunk


def _ipc_batches(file: BinaryIO, wanted: list[str]) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    is_file = file.read(len(_IPC_FILE_MAGIC)) == _IPC_FILE_MAGIC
    file.seek(0)
    if not is_file:
        stream = pa.ipc.open_stream(file)
        return stream.schema, iter(stream)
    schema = pa.ipc.open_file(file).schema
    fields = [index for index, name in enumerate(schema.names) if name in wanted]
    reader = pa.ipc.open_file(file, options=pa.ipc.IpcReadOptions(included_fields=fields))
    return schema, (reader.get_batch(index) for index in range(reader.num_record_batches))


def _numbered(name: str, batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Each batch with the number of rows before it."""
    done = 0
    while True:
        with failures_of(name):
            batch = next(batches, None)
        if batch is None:
            return
        yield done, batch
        done += batch.num_rows


def batch_chunks(batch: pa.RecordBatch, wanted: list[str], extra: Sequence[str], done: int) -> Iterator[Chunk]:
    """Cut a batch of any size into chunks of moderate size; `done` rows came before it."""
    step = BATCH_ROWS
    if batch.num_rows:
        mean = max(byte_size(batch.select(wanted)) // batch.num_rows, 1)
        step = max(1, min(BATCH_ROWS, BATCH_BYTES // mean))
    for start in range(0, batch.num_rows, step):
        piece = batch.slice(start, step)
        columns = {name: without_views(piece[name]) for name in wanted}
        yield Chunk(piece.num_rows, columns, {name: columns[name] for name in extra}, row_place(done + start))

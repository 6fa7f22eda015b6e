"""The file format of counts: one Arrow IPC stream, then forty bytes.

The stream can be read in any language that has Arrow. It holds one record batch with a row per term::

    term: large_string                      the term
    df, tf, tf2: int64 (tf, tf2: double)    totals over all documents
    class: large_list<int32>                numbers of the classes in which it occurs, ascending
    class_df, class_tf, class_tf2: lists    the same counts in each of these classes

Its schema's metadata has one entry, ``termsieve``, with JSON: ``format`` (1), ``classes``, ``class_sizes``, ``n_docs``,
``n_multilabel``, ``settings`` of the analyzer, ``fixed``, ``pruned``. The buffers are compressed with zstd.

The last forty bytes are ``TSCOUNTS`` and the SHA-256 of all bytes before them: a reader knows at once whether the file
is whole. Equal counts give equal bytes, with one version of Arrow.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from termsieve.counts.consistency import check_parts
from termsieve.errors import CountsFileError
from termsieve.files import write_atomically

FORMAT_VERSION = 1
MAGIC = b"TSCOUNTS"
TRAILER_BYTES = len(MAGIC) + hashlib.sha256().digest_size
COUNT_KINDS = ("df", "tf", "tf2")
METADATA_FIELDS = ("classes", "class_sizes", "n_docs", "n_multilabel", "settings", "fixed", "pruned")

# So much larger may counts become in memory
_UNPACKED_RATIO = 300  # measured: 36 at most, of counts that are all 1
_UNPACKED_BYTES = 64 << 20
_UNREADABLE = (pa.ArrowException, OSError, KeyError, ValueError, OverflowError, RecursionError, EOFError, struct.error)


def is_counts_file(path: str | Path) -> bool:
    """Tell whether a file has counts: by its ending, or its last bytes."""
    file = Path(path)
    if file.suffix == ".counts":
        return True
    if not file.is_file() or file.stat().st_size <= TRAILER_BYTES:
        return False
    try:
        with file.open("rb") as content:
            content.seek(-TRAILER_BYTES, 2)
            return content.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def save(path: str | Path, record: Mapping[str, Any]) -> None:
    """Write the parts of counts to a file, which is there whole or not at all."""
    write_atomically(path, [pack(record)])


def pack(record: Mapping[str, Any]) -> bytes:
    """Return the parts of counts as the bytes of a file."""
    content = _write_stream(record)
    return b"".join([content, MAGIC, hashlib.sha256(content).digest()])


def load(path: str | Path) -> dict[str, Any]:
    """Return the parts of counts from a file, after a look whether it is whole.

    The file is read, not mapped: when another process cuts a mapped file, the next access to it ends this one.
    """
    path = Path(path)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise CountsFileError(f"{path}: cannot be read: {error}.") from error
    return unpack(pa.py_buffer(content), path)


def unpack(content: pa.Buffer, path: Path) -> dict[str, Any]:
    """Return the parts of counts from the bytes of a file; the path is for what an error says.

    The checksum tells damage, but not who wrote the file: all that other code relies on is checked.
    """
    _check_complete(path, content)
    try:
        record = _read_record(path, content.slice(0, content.size - TRAILER_BYTES))
        check_parts(record)
    except _UNREADABLE as error:
        if isinstance(error, CountsFileError):
            raise
        said = str(error).rstrip(".")
        raise CountsFileError(f"{path}: is not a counts file of termsieve, or a damaged one: {said}.") from error
    return record


def _check_complete(path: Path, content: pa.Buffer) -> None:
    trailer = content.slice(max(content.size - TRAILER_BYTES, 0)).to_pybytes()
    if not trailer.startswith(MAGIC) or content.size <= TRAILER_BYTES:
        raise CountsFileError(
            f"{path}: is not a counts file of termsieve, or only the beginning of one: it does not end as one does. "
            "Counts files are written by `counts.save(path)` or `termsieve count`."
        )
    if hashlib.sha256(content.slice(0, content.size - TRAILER_BYTES)).digest() != trailer[len(MAGIC) :]:
        raise CountsFileError(f"{path}: was altered or damaged after it was written: its checksum does not fit.")


def _write_stream(record: Mapping[str, Any]) -> pa.Buffer:
    facts = {name: record[name] for name in METADATA_FIELDS}
    facts["class_sizes"] = record["class_sizes"].tolist()
    about = json.dumps({"format": FORMAT_VERSION, **facts}, sort_keys=True, ensure_ascii=True)
    batch = _make_batch(record).replace_schema_metadata({"termsieve": about})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_batch(batch)
    return sink.getvalue()


def _make_batch(record: Mapping[str, Any]) -> pa.RecordBatch:
    ends = pa.array(record["indptr"])
    columns = {"term": record["terms"]}
    columns |= {kind: _to_array(kind, row) for kind, row in zip(COUNT_KINDS, record["totals"], strict=True)}
    columns["class"] = pa.LargeListArray.from_arrays(ends, pa.array(record["cell_classes"]))
    for kind, row in zip(COUNT_KINDS, record["values"], strict=True):
        columns[f"class_{kind}"] = pa.LargeListArray.from_arrays(ends, _to_array(kind, row))
    return pa.RecordBatch.from_pydict(columns)


def _to_array(kind: str, row: np.ndarray[Any, Any]) -> pa.Array:
    return pa.array(row.astype(np.int64, copy=False) if kind == "df" else row)


def _read_record(path: Path, stream: pa.Buffer) -> dict[str, Any]:
    with pa.ipc.open_stream(stream) as reader:
        schema = reader.schema
        about = _facts(path, schema)
        _check_schema(path, schema)
        _check_unpacked_sizes(stream)
        batches = list(reader)
    for batch in batches:
        batch.validate(full=True)
    column = {field.name: _column(field, batches) for field in schema}
    lists = [column[name] for name in ("class", *(f"class_{kind}" for kind in COUNT_KINDS))]
    if any(not one.offsets.equals(lists[0].offsets) for one in lists[1:]):
        raise CountsFileError(f"{path}: is damaged: its lists of counts in classes have different lengths.")
    record = {name: about[name] for name in METADATA_FIELDS}
    record["class_sizes"] = _whole_numbers(about["class_sizes"])
    record["terms"] = column["term"]
    record["totals"] = np.stack([column[kind].to_numpy() for kind in COUNT_KINDS])
    record["indptr"] = lists[0].offsets.to_numpy()
    record["cell_classes"] = lists[0].values.to_numpy()
    record["values"] = np.stack([one.values.to_numpy() for one in lists[1:]])
    return record


def _facts(path: Path, schema: pa.Schema) -> dict[str, Any]:
    about = json.loads((schema.metadata or {})[b"termsieve"])
    if not isinstance(about, dict):
        raise CountsFileError(f"{path}: is not a counts file of termsieve: its metadata is {about!r:.60}.")
    if about["format"] != FORMAT_VERSION:
        raise CountsFileError(
            f"{path}: has version {about['format']!r:.60} of the format; this termsieve reads version "
            f"{FORMAT_VERSION}. A newer termsieve may read it."
        )
    return about


def _whole_numbers(values: Any) -> np.ndarray[Any, np.dtype[np.int64]]:
    if not isinstance(values, list) or not all(type(value) is int for value in values):
        raise ValueError(f"class_sizes must be whole numbers, not {values!r:.60}")
    return np.array(values, np.int64)


def _check_schema(path: Path, schema: pa.Schema) -> None:
    number = schema.field("tf").type
    types = {"df": pa.int64(), "tf": number, "tf2": number}
    expected = {"term": pa.large_string()} | types | {"class": pa.large_list(pa.int32())}
    expected |= {f"class_{kind}": pa.large_list(type_) for kind, type_ in types.items()}
    found = dict(zip(schema.names, schema.types, strict=True))
    if found != expected or number not in (pa.int64(), pa.float64()):
        raise CountsFileError(f"{path}: is not a counts file of termsieve: its columns are {found}.")


def _column(field: pa.Field, batches: list[pa.RecordBatch]) -> pa.Array:
    """One array without missing values for a column of all batches; there is one batch, as a rule."""
    arrays = [batch[field.name] for batch in batches] or [pa.array([], field.type)]
    array = arrays[0] if len(arrays) == 1 else pa.concat_arrays(arrays)
    values = array.values if pa.types.is_large_list(field.type) else array
    if array.null_count or values.null_count:
        raise ValueError(f"a value of the column {field.name!r} is missing")
    return array


def _check_unpacked_sizes(stream: pa.Buffer) -> None:
    """Refuse a stream that is small in the file and would fill the memory."""
    size, most = 0, max(_UNPACKED_BYTES, _UNPACKED_RATIO * stream.size)
    for message in pa.ipc.MessageReader.open_stream(stream):
        if message.type not in ("schema", "record batch"):
            raise ValueError(f"it has a message of the type {message.type!r}")
        if message.type == "record batch" and message.body is not None:
            # a compressed buffer begins with its size when unpacked, or with -1 if it is not compressed after all
            for start, length in _compressed_buffers(message.metadata.to_pybytes()):
                size += max(struct.unpack_from("<q", message.body, start)[0], 0) if length else 0
    if size > most:
        raise ValueError(f"{stream.size:,} bytes of it would become {size:,}, more than {most:,}")


def _compressed_buffers(metadata: bytes) -> list[tuple[int, int]]:
    """Where the compressed buffers of a record batch stand in its body: offset and length of each.

    pyarrow does not tell. The metadata is a flatbuffer, which pyarrow has verified (Message.fbs of Arrow): field 2 of
    a Message is its header; fields 2 and 3 of that, a RecordBatch, are the vector of buffers and the compression.
    """
    batch = _field(metadata, struct.unpack_from("<I", metadata)[0], 2)
    buffers, compression = _field(metadata, batch, 2), _field(metadata, batch, 3)
    if not buffers or not compression:
        return []
    n = struct.unpack_from("<I", metadata, buffers)[0]
    return [struct.unpack_from("<qq", metadata, buffers + 4 + 16 * index) for index in range(n)]


def _field(metadata: bytes, table: int, number: int) -> int:
    """Where a table of a flatbuffer, or a vector, stands that is a field of another table; 0 for a missing one."""
    vtable = table - struct.unpack_from("<i", metadata, table)[0]
    slot = 4 + 2 * number
    if slot >= struct.unpack_from("<H", metadata, vtable)[0]:
        return 0
    offset = struct.unpack_from("<H", metadata, vtable + slot)[0]
    field = table + offset
    return int(field + struct.unpack_from("<I", metadata, field)[0]) if offset else 0

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

import contextlib
import hashlib
import json
import os
import stat
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from termsieve.errors import CountsFileError, OutputError

FORMAT = 1
MARK = b"TSCOUNTS"
TRAILER = len(MARK) + hashlib.sha256().digest_size
KINDS = ("df", "tf", "tf2")
FACTS = ("classes", "class_sizes", "n_docs", "n_multilabel", "settings", "fixed", "pruned")


def save(path: str | Path, record: Mapping[str, Any]) -> None:
    """Write the parts of counts to a file, which is there whole or not at all."""
    write_whole(path, [packed(record)])


def packed(record: Mapping[str, Any]) -> bytes:
    """The parts of counts as the bytes of a file."""
    content = _stream(record)
    return b"".join([content, MARK, hashlib.sha256(content).digest()])


def load(path: str | Path) -> dict[str, Any]:
    """The parts of counts from a file, after a look whether it is whole."""
    path = Path(path)
    try:
        with pa.memory_map(str(path)) as file:
            content = file.read_buffer()
    except (OSError, pa.ArrowInvalid) as error:
        raise CountsFileError(f"{path}: cannot be read: {error}.") from error
    return unpacked(content, path)


def unpacked(content: pa.Buffer, path: Path) -> dict[str, Any]:
    """The parts of counts from the bytes of a file; the path is for what an error says."""
    _check_whole(path, content)
    try:
        with pa.ipc.open_stream(content.slice(0, content.size - TRAILER)) as reader:
            return _record(path, reader.read_all().combine_chunks())
    except (pa.ArrowException, KeyError, ValueError) as error:
        if isinstance(error, CountsFileError):
            raise
        raise CountsFileError(f"{path}: is no counts file of termsieve: {error}.") from error


def _check_whole(path: Path, content: pa.Buffer) -> None:
    trailer = content.slice(max(content.size - TRAILER, 0)).to_pybytes()
    if not trailer.startswith(MARK) or content.size <= TRAILER:
        raise CountsFileError(
            f"{path}: is no counts file of termsieve, or only the beginning of one: it does not end as one does. "
            "Counts files are written by `counts.save(path)` or `termsieve count`."
        )
    if hashlib.sha256(content.slice(0, content.size - TRAILER)).digest() != trailer[len(MARK) :]:
        raise CountsFileError(f"{path}: was altered or damaged after it was written: its checksum does not fit.")


def _stream(record: Mapping[str, Any]) -> pa.Buffer:
    facts = {name: record[name] for name in FACTS}
    facts["class_sizes"] = record["class_sizes"].tolist()
    about = json.dumps({"format": FORMAT, **facts}, sort_keys=True, ensure_ascii=True)
    batch = _batch(record).replace_schema_metadata({"termsieve": about})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_batch(batch)
    return sink.getvalue()


def _batch(record: Mapping[str, Any]) -> pa.RecordBatch:
    ends = pa.array(record["indptr"])
    columns = {"term": record["terms"]}
    columns |= {kind: _numbers(kind, row) for kind, row in zip(KINDS, record["totals"], strict=True)}
    columns["class"] = pa.LargeListArray.from_arrays(ends, pa.array(record["cell_classes"]))
    for kind, row in zip(KINDS, record["values"], strict=True):
        columns[f"class_{kind}"] = pa.LargeListArray.from_arrays(ends, _numbers(kind, row))
    return pa.RecordBatch.from_pydict(columns)


def _numbers(kind: str, row: np.ndarray[Any, Any]) -> pa.Array:
    return pa.array(row.astype(np.int64, copy=False) if kind == "df" else row)


def _record(path: Path, table: pa.Table) -> dict[str, Any]:
    about = json.loads((table.schema.metadata or {})[b"termsieve"])
    if not isinstance(about, dict):
        raise CountsFileError(f"{path}: is no counts file of termsieve: its metadata is {about!r:.60}.")
    if about["format"] != FORMAT:
        raise CountsFileError(
            f"{path}: has version {about['format']} of the format; this termsieve reads version {FORMAT}. "
            "A newer termsieve may read it."
        )
    _check_schema(path, table.schema)
    column = {name: _whole(table[name]) for name in table.column_names}
    lists = column["class"]
    if len(lists.values) and not 0 <= pc.min(lists.values).as_py() <= pc.max(lists.values).as_py() < len(
        about["classes"]
    ):
        raise CountsFileError(f"{path}: names classes that it does not have.")
    record = {name: about[name] for name in FACTS}
    record["class_sizes"] = np.array(about["class_sizes"], np.int64)
    record["terms"] = column["term"]
    record["totals"] = np.stack([column[kind].to_numpy() for kind in KINDS])
    record["indptr"] = lists.offsets.to_numpy()
    record["cell_classes"] = lists.values.to_numpy()
    record["values"] = np.stack([column[f"class_{kind}"].values.to_numpy() for kind in KINDS])
    return record


def _check_schema(path: Path, schema: pa.Schema) -> None:
    number = schema.field("tf").type
    types = {"df": pa.int64(), "tf": number, "tf2": number}
    expected = {"term": pa.large_string()} | types | {"class": pa.large_list(pa.int32())}
    expected |= {f"class_{kind}": pa.large_list(type_) for kind, type_ in types.items()}
    found = dict(zip(schema.names, schema.types, strict=True))
    if found != expected or number not in (pa.int64(), pa.float64()):
        raise CountsFileError(f"{path}: is no counts file of termsieve: its columns are {found}.")


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks else pa.array([], column.type)


def may_write(folder: Path) -> bool:
    """Whether files can be made in a folder."""
    return os.access(folder, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def check_target(path: str | Path, *, inputs: Iterable[str | Path] = ()) -> Path:
    """Refuse a path to which no file can be written, or that is one of the inputs: better before long work than after.

    What is written through a link goes to the file behind it.
    """
    path = Path(path)
    try:
        _check_place(path)
        same = next((one for one in inputs if not _is_special(path) and _is_of(path.resolve(), Path(one))), None)
    except (OSError, RuntimeError, ValueError) as error:  # links in a circle, a name that is too long, a zero byte
        if isinstance(error, OutputError):
            raise
        raise OutputError(f"{path}: cannot be written: {error}.") from error
    if same is not None:
        raise OutputError(f"{path}: is read as an input, and what it has would be lost. Write to another file.")
    return path


def _check_place(path: Path) -> None:
    if path.is_dir():
        raise OutputError(f"{path}: is a folder. Give the name of a file in it.")
    if _is_special(path):
        return
    parent = path.resolve().parent if path.is_symlink() else path.parent
    if not parent.is_dir():
        raise OutputError(f"{path}: there is no folder {parent}. Make it first.")
    if not may_write(parent):
        raise OutputError(f"{path}: the folder {parent} may not be written to.")


def _is_of(target: Path, source: Path) -> bool:
    """Whether a file is that of a source, or one in its class folders."""
    if not target.exists() or not source.exists():
        return False
    return target.samefile(source) or source.resolve() in target.parents[1:]


def _is_special(path: Path) -> bool:
    """Whether it is a device, a pipe or a socket, which a rename would replace."""
    return path.exists() and not path.is_file() and not path.is_dir()


def write_whole(path: str | Path, parts: Iterable[Any]) -> None:
    """Write a file that is there whole or not at all; it keeps the mode of the one it replaces."""
    path = check_target(path)
    try:
        if _is_special(path):
            _write_into(path, parts)
        else:
            _write_and_rename(path.resolve(), parts)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error}.") from error


def _write_into(path: Path, parts: Iterable[Any]) -> None:
    """Write to a device or a pipe, such as /dev/stdout or >(gzip)."""
    with path.open("wb") as file:
        for part in parts:
            file.write(part)


def _write_and_rename(path: Path, parts: Iterable[Any]) -> None:
    """Write to a temporary name beside the file, and rename: a reader never sees half a file."""
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    _unfinished.add(temporary)
    try:
        with os.fdopen(handle, "wb") as file:
            for part in parts:
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(_mode(path))
        os.replace(temporary, path)  # noqa: PTH105 - the name is a str
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    finally:
        _unfinished.discard(temporary)


_unfinished: set[str] = set()


def forget_unfinished() -> None:
    """Remove what was written so far of files that are not whole: for a process that ends in the middle."""
    for temporary in list(_unfinished):
        Path(temporary).unlink(missing_ok=True)


def _mode(path: Path) -> int:
    """The mode of the file that is there, or of a new one: mkstemp makes files that only their owner can read."""
    with contextlib.suppress(FileNotFoundError):
        return stat.S_IMODE(path.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask

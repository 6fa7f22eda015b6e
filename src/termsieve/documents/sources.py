"""What a path, a pattern, a list, a frame, a dataset, ... stands for."""

from __future__ import annotations

import glob
import io
import os
import sys
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, cast

import pyarrow as pa

from termsieve.documents.chunks import LINE, ROW, Chunk, Source
from termsieve.documents.folders import ClassFolderSource
from termsieve.documents.formats import (
    KNOWN_EXTENSIONS,
    TEXT_FORMATS,
    USUAL_SEPARATORS,
    FileReader,
    find_reader,
    find_separator,
    get_extension,
    parse_json_columns,
    read_cells,
    read_column_names,
    refuse_pipe,
)
from termsieve.documents.jsonlines import read_json_lines
from termsieve.documents.memory import ColumnSource, HuggingFaceSource
from termsieve.documents.options import Options
from termsieve.documents.partitions import PartitionSource, is_partitioned, list_partitions
from termsieve.documents.relations import as_relation
from termsieve.documents.remote import AnyPath, RemotePath, as_path, expand_uri, is_uri
from termsieve.documents.separators import describe_separator
from termsieve.documents.sheets import SHEET_EXTENSIONS, describe_sheet
from termsieve.documents.streams import Stream, convert_read_errors, read_undecodable
from termsieve.documents.text_files import TextFile
from termsieve.errors import InputError, OptionError, did_you_mean

STDIN = "-"


class FileSource(Source):
    """One file with columns, read by its ending."""

    path: AnyPath

    def __init__(self, path: AnyPath, reader: FileReader, *, may_be_empty: bool = False) -> None:
        self.path, self._reader = path, reader
        self._found: dict[Hashable, Any] = {}
        self._may_be_empty = may_be_empty
        self.name = str(path)
        self.unit = LINE if get_extension(path) in TEXT_FORMATS else ROW
        refuse_pipe(path)

    @property
    def size(self) -> int:
        """Bytes on disk."""
        with convert_read_errors(self.name):
            return self.path.stat().st_size

    def column_names(self, options: Options) -> list[str]:
        """Return the names of the columns."""
        self._refuse_empty()
        return list(self._find_once(read_column_names, self._with_separator(options)))

    def remarks(self, options: Options) -> list[str]:
        """Say what separates the cells, if it is not usual for the ending, and which sheet is read."""
        ending = get_extension(self.path)
        if ending in SHEET_EXTENSIONS:
            return [note] if (note := describe_sheet(self.path, options)) else []
        if self._reader is not read_cells or options.sep is not None:
            return []
        sep = self._find_once(find_separator, options)
        return [] if sep == USUAL_SEPARATORS.get(ending) else [f"cells separated by {describe_separator(sep)}"]

    def read_undecodable(self, encoding: str) -> bytes:
        """Return the lines around the first bytes that are not valid in an encoding."""
        return read_undecodable(self.path, encoding)

    def chunks(self, options: Options, extra: Sequence[str]) -> Iterator[Chunk]:
        """Yield rows in chunks of moderate size; a file without any is refused."""
        self._refuse_empty()
        rows = 0
        for chunk in self._reader(self.path, self._with_separator(options), extra):
            rows += chunk.rows
            if chunk.rows:
                yield chunk
        if not rows and not self._may_be_empty:
            raise InputError(f"{self.name} is empty: it has no rows.")

    def _with_separator(self, options: Options) -> Options:
        """Return the options with the separator of the cells, where the file has cells."""
        if self._reader is not read_cells:
            return options
        return replace(options, sep=self._find_once(find_separator, options))

    def _find_once(self, find: Callable[[AnyPath, Options], Any], options: Options) -> Any:
        """Return what the first bytes of the file tell: they are looked at once for the same options."""
        key = (find, options.encoding, options.sep, options.sheet, options.quotes)
        if key not in self._found:
            self._found[key] = find(self.path, options)
        return self._found[key]

    def _refuse_empty(self) -> None:
        if not self.size:
            raise InputError(f"{self.name} is empty: it has no bytes.")


class OpenFileSource(Source):
    """An open binary file with JSON Lines, such as standard input: it can be read once."""

    unit = LINE

    def __init__(self, file: BinaryIO, name: str) -> None:
        self.name = name
        self._file = PeekableFile(file)
        self._used = False

    def column_names(self, options: Options) -> list[str]:  # noqa: ARG002
        """Return the names that the first records have; they are read again with the others."""
        return [] if self._used else parse_json_columns(self._file.peek_lines())

    def chunks(self, options: Options, extra: Sequence[str]) -> Iterator[Chunk]:
        """Yield rows in chunks of moderate size."""
        if self._used:
            raise InputError(
                f"{self.name} was read already, and an open file can be read once only. Give a path instead."
            )
        self._used = True
        rows, first_fault, replaces = 0, "", options.encoding_errors == "replace"
        has_objects = False
        stream = Stream(self.name, cast("BinaryIO", self._file), options.encoding, replace=replaces)
        for chunk in read_json_lines(stream, options, extra):
            rows += chunk.rows
            has_objects = has_objects or len(chunk.faults) < chunk.rows
            if chunk.faults and not first_fault:
                row = min(chunk.faults)
                first_fault = f"{self.name}, {chunk.place(row)}: {chunk.faults[row]}"
            yield chunk
        if not rows:
            raise InputError(f"{self.name} is empty: it has no rows.")
        if not has_objects:
            raise InputError(
                f"{first_fault}. What is open, not a path, is read as JSON Lines, and no line here is an object such "
                'as {"text": "...", "label": "..."}. Give the path of a file for CSV and other formats.'
            )


class PeekableFile:
    """An open binary file, of which the first lines can be looked at before it is read."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._start = file, io.BytesIO()

    def peek_lines(self) -> bytes:
        """Return the first whole line, and what came with it."""
        pieces = [self._start.read()]
        while b"\n" not in pieces[-1] and (more := self._read_available()):
            pieces.append(more)
        start = b"".join(pieces)
        self._start = io.BytesIO(start)
        return start

    def _read_available(self) -> bytes:
        """Return what is there already, up to some kilobytes; where nothing is, wait."""
        read = self._file.read1 if isinstance(self._file, io.BufferedIOBase) else self._file.read
        return bytes(read(1 << 16) or b"")

    def read(self, size: int = -1) -> bytes:
        """Read on, from the very beginning."""
        return self._start.read(size) or self._file.read(size)

    def tell(self) -> int:
        """Refuse to answer: nobody knows how far a pipe is read."""
        raise OSError


def _open_stdin() -> Source:
    if sys.stdin is None or sys.stdin.closed:
        raise InputError("Standard input is closed.")
    return OpenFileSource(sys.stdin.buffer, "standard input")


def find_sources(source: Any, *, cells: bool = False) -> list[Source]:
    """Find the sources that a user's argument stands for; with `cells`, files of unknown endings are CSV."""
    if isinstance(source, (str, os.PathLike)):
        return _find_files([source], cells=cells)
    if isinstance(source, (list, tuple)):
        return _find_files(source, cells=cells)
    if isinstance(source, Mapping):
        return [_mapping_to_source(source)]
    if hasattr(source, "with_format") and hasattr(source, "iter"):
        return [HuggingFaceSource(source)]
    relation = as_relation(source)
    if relation is not None:
        return [relation]
    table = _as_arrow_table(source)
    if table is not None:
        return [ColumnSource(f"the {type(source).__name__}", table.column_names, table)]
    if _is_frame(source):
        return [ColumnSource(f"the {type(source).__name__}", _keep_strings(source.columns), source)]
    return [_as_open_file(source)]


# Files


def _find_files(paths: Sequence[Any], *, cells: bool) -> list[Source]:
    if not paths:
        raise InputError("The list of files is empty.")
    for path in paths:
        if not isinstance(path, (str, os.PathLike)):
            raise InputError(
                f"A list must hold paths of files; got {type(path).__name__}. "
                "For texts in memory: Documents.of(texts, labels)."
            )
    found = expand_patterns(paths)
    if STDIN in found:
        if len(found) > 1:
            raise OptionError("- is standard input, and cannot be read together with other files.")
        return [_open_stdin()]
    files = [as_path(path) for path in found]
    for file in files:
        refuse_missing(file)
    readers = {file: _find_reader(file, cells=cells) for file in files if not file.is_dir()}
    _refuse_mixed(files, readers)
    refuse_same_files(files)
    return [source for file in files for source in _open_file(file, readers.get(file))]


class FoundFiles(list[str]):
    """Files that patterns stood for: nothing in their names is a pattern any more."""


def expand_patterns(paths: Sequence[str | os.PathLike[str]]) -> FoundFiles:
    """Return the files that paths and patterns stand for, in order; "-", standard input, as it is."""
    if isinstance(paths, FoundFiles):
        return paths
    found = FoundFiles()
    for path in paths:
        if is_uri(os.fspath(path)):
            found += expand_uri(os.fspath(path))
            continue
        plain = Path(os.path.expanduser(path))  # noqa: PTH111 (Path's raises where there is no such user)
        if not glob.has_magic(str(plain)) or plain.exists():
            found.append(os.fspath(path) if os.fspath(path) == STDIN else str(plain))
            continue
        matches = sorted(glob.glob(str(plain), recursive=True))  # noqa: PTH207 (Path.glob takes no absolute pattern)
        if not matches:
            raise InputError(f"No file matches the pattern {os.fspath(path)!r}.")
        found += matches
    return found


def _find_reader(path: AnyPath, *, cells: bool) -> FileReader | None:
    return find_reader(path) or (read_cells if cells else None)


def _open_file(path: AnyPath, reader: FileReader | None) -> list[Source]:
    """Return the source of a file, or those of a folder."""
    if not path.is_dir():
        return [TextFile(path) if reader is None else FileSource(path, reader)]
    if not is_partitioned(path):
        if isinstance(path, RemotePath):
            raise InputError(
                f"{path}: is a folder without data files; class folders are read from this machine only. "
                f"Known are {KNOWN_EXTENSIONS}."
            )
        return [ClassFolderSource(path)]
    found: list[Source] = []
    for file, values in list_partitions(path):
        source = FileSource(file, cast("FileReader", find_reader(file)), may_be_empty=True)
        found.append(PartitionSource(source, values) if values else source)
    return found


def refuse_missing(path: AnyPath) -> None:
    """Refuse a file that is not there, and name one that is called almost so."""
    try:
        there = path.exists()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}.") from error
    if not there:
        nearby = [other.name for other in path.parent.iterdir()] if path.parent.is_dir() else []
        raise InputError(f"There is no file {path}. {did_you_mean(path.name, nearby)}".rstrip())


def _refuse_mixed(paths: Sequence[AnyPath], readers: Mapping[AnyPath, FileReader | None]) -> None:
    """Refuse text files beside files with columns."""
    other = next((path for path in paths if path.is_dir() or readers[path]), None)
    text = next((path for path in paths if not path.is_dir() and not readers[path]), None)
    if text is not None and other is not None:
        what = "is a folder" if other.is_dir() else "has columns"
        raise InputError(
            f"{text}: its ending does not tell of columns, so it is a text file; {other} {what}. The two kinds cannot "
            f"be read together. Known are {KNOWN_EXTENSIONS}."
        )


def refuse_same_files(paths: Iterable[AnyPath]) -> None:
    """Refuse a file that is named twice.

    It is known by its place on the disk, whatever it is called, so links are found, too; copies are not.
    """
    first: dict[tuple[Any, Any], AnyPath] = {}
    for path in paths:
        with convert_read_errors(str(path)):
            place = path.stat()
        known = (place.st_dev, place.st_ino)
        if known in first:
            raise InputError(
                f"{path}: is the same file as {first[known]}, which was named before; its documents would count twice. "
                "Name each file once."
            )
        first[known] = path


# Memory


def _mapping_to_source(columns: Mapping[Any, Any]) -> Source:
    if any(_as_arrow_table(value) is not None or hasattr(value, "with_format") for value in columns.values()):
        raise InputError(f"This is a mapping of whole datasets; choose one of {', '.join(map(repr, columns))}.")
    return ColumnSource("the mapping", _keep_strings(columns), columns)


def _keep_strings(names: Iterable[Any]) -> list[str]:
    """Leave out columns that no option can name: pandas numbers those without a name."""
    return [name for name in names if isinstance(name, str)]


def _is_frame(source: Any) -> bool:
    return type(source).__name__ == "DataFrame" and hasattr(source, "columns")


def _as_arrow_table(source: Any) -> pa.Table | None:
    """Return the table of anything in Arrow's memory; frames and series are read column by column."""
    if isinstance(source, pa.Table):
        return source
    if isinstance(source, pa.RecordBatch):
        return pa.Table.from_batches([source])
    if _is_frame(source) or type(source).__name__ == "Series":
        return None
    data = getattr(source, "data", None)
    for held in (data, getattr(data, "table", None)):
        if isinstance(held, pa.Table):
            return held
    if hasattr(source, "__arrow_c_stream__") and not isinstance(source, (pa.ChunkedArray, pa.Array)):
        with convert_read_errors(f"the {type(source).__name__}"):
            return pa.table(source)
    return None


def _as_open_file(source: Any) -> Source:
    if isinstance(source, io.TextIOBase):
        raise InputError('The open file is in text mode; open it in binary mode, as in open(path, "rb").')
    if callable(getattr(source, "read", None)):
        return OpenFileSource(source, str(getattr(source, "name", "the open file")))
    raise InputError(
        f"Cannot read documents from {type(source).__name__}. What works: a path, a pattern, a list of "
        "paths, a folder of class folders, a pandas or polars DataFrame, a lazy frame of polars, a relation of DuckDB, "
        "an Arrow table or dataset, a dataset of Hugging Face, a mapping of columns, an open binary file. "
        "For texts in memory: Documents.of(texts, labels)."
    )

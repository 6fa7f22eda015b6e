"""What a path, a pattern, a list, a frame, a dataset, ... stands for."""

from __future__ import annotations

import glob
import io
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import pyarrow as pa

from termsieve.documents.arrowfiles import read_ipc, read_parquet
from termsieve.documents.chunks import LINE, ROW, Chunk, Source
from termsieve.documents.delimited import read_delimited
from termsieve.documents.folders import ClassFolderSource
from termsieve.documents.jsonlines import read_json_lines
from termsieve.documents.memory import ColumnSource, HuggingFaceSource
from termsieve.documents.options import Options
from termsieve.documents.streams import COMPRESSIONS, Stream, convert_read_errors, open_stream
from termsieve.errors import InputError, did_you_mean

_StreamReader: TypeAlias = Callable[[Stream, Options, Sequence[str]], Iterator[Chunk]]
_FileReader: TypeAlias = Callable[[Path, Options, Sequence[str]], Iterator[Chunk]]


def _read_csv(stream: Stream, options: Options, extra: Sequence[str]) -> Iterator[Chunk]:
    return read_delimited(stream, ",", options, extra)


def _read_tsv(stream: Stream, options: Options, extra: Sequence[str]) -> Iterator[Chunk]:
    return read_delimited(stream, "\t", options, extra)


def _read_text_file(reader: _StreamReader, path: Path, options: Options, extra: Sequence[str]) -> Iterator[Chunk]:
    with open_stream(path, options.encoding) as stream:
        yield from reader(stream, options, extra)


TEXT_FORMATS: dict[str, _FileReader] = {
    ".csv": partial(_read_text_file, _read_csv),
    ".tsv": partial(_read_text_file, _read_tsv),
    ".tab": partial(_read_text_file, _read_tsv),
    ".jsonl": partial(_read_text_file, read_json_lines),
    ".ndjson": partial(_read_text_file, read_json_lines),
    ".json": partial(_read_text_file, read_json_lines),
}
BINARY_FORMATS: dict[str, _FileReader] = {
    ".parquet": read_parquet,
    ".pq": read_parquet,
    ".arrow": read_ipc,
    ".feather": read_ipc,
    ".ipc": read_ipc,
}


class FileSource:
    """One file, read by its ending."""

    notes = ()

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = str(path)
        if not path.exists():
            nearby = [other.name for other in path.parent.iterdir()] if path.parent.is_dir() else []
            raise InputError(f"There is no file {path}. {did_you_mean(path.name, nearby)}".rstrip())
        self._reader = _find_reader(path)
        refuse_pipe(path)

    @property
    def unit(self) -> str:
        """Lines of text formats, rows of others."""
        return LINE if self._reader in TEXT_FORMATS.values() else ROW

    @property
    def size(self) -> int:
        """Bytes on disk."""
        with convert_read_errors(self.name):
            return self.path.stat().st_size

    def options(self, options: Options) -> Options:
        """Return them as they are."""
        return options

    def chunks(self, options: Options, extra: Sequence[str]) -> Iterator[Chunk]:
        """Yield rows in chunks of moderate size; a file without any is refused."""
        if not self.size:
            raise InputError(f"{self.name} is empty: it has no bytes.")
        rows = 0
        for chunk in self._reader(self.path, options, extra):
            rows += chunk.rows
            if chunk.rows:
                yield chunk
        if not rows:
            raise InputError(f"{self.name} is empty: it has no rows.")


def _find_reader(path: Path) -> _FileReader:
    ending = path.suffix.lower()
    compressed = ending in COMPRESSIONS
    if compressed:
        ending = Path(path.stem).suffix.lower()
    reader = TEXT_FORMATS.get(ending) or (None if compressed else BINARY_FORMATS.get(ending))
    if reader is None:
        raise InputError(
            f"{path}: its ending does not tell a known type. Known are {', '.join(TEXT_FORMATS)} "
            f"(each also with {' or '.join(COMPRESSIONS)}), {', '.join(BINARY_FORMATS)}, "
            "and folders of class folders."
        )
    return reader


def refuse_pipe(path: Path) -> None:
    """Refuse what can be read only once, before anything of it is taken."""
    if not path.is_file():
        raise InputError(
            f"{path}: is a pipe or a device, not a file, and what is read from it is gone. Write it to a file; or, if "
            "it holds JSON Lines, give it as an open binary file (on the command line: as standard input, -)."
        )


class OpenFileSource:
    """An open binary file with JSON Lines, such as standard input: it can be read once."""

    size = None
    unit = LINE
    notes = ()

    def __init__(self, file: BinaryIO) -> None:
        self.name = str(getattr(file, "name", "the open file"))
        self._file = file
        self._used = False

    def options(self, options: Options) -> Options:
        """Return them as they are."""
        return options

    def chunks(self, options: Options, extra: Sequence[str]) -> Iterator[Chunk]:
        """Yield rows in chunks of moderate size."""
        if self._used:
            raise InputError(
                f"{self.name} was read already, and an open file can be read once only. Give a path instead."
            )
        self._used = True
        rows = 0
        for chunk in read_json_lines(Stream(self.name, self._file, options.encoding), options, extra):
            rows += chunk.rows
            yield chunk
        if not rows:
            raise InputError(f"{self.name} is empty: it has no rows.")


def find_sources(source: Any) -> list[Source]:
    """Find the sources that a user's argument stands for."""
    if isinstance(source, (str, os.PathLike)):
        return refuse_same(_find_at_path(os.fspath(source)))
    if isinstance(source, (list, tuple)):
        return refuse_same(_find_at_paths(source))
    if isinstance(source, Mapping):
        return [_mapping_to_source(source)]
    if hasattr(source, "with_format") and hasattr(source, "iter"):
        return [HuggingFaceSource(source)]
    table = _as_arrow_table(source)
    if table is not None:
        return [ColumnSource(f"the {type(source).__name__}", table.column_names, table)]
    if _is_frame(source):
        return [ColumnSource(f"the {type(source).__name__}", _keep_strings(source.columns), source)]
    return [_as_open_file(source)]


def refuse_same(sources: list[Source]) -> list[Source]:
    """Return the sources, or refuse a file or folder that is there twice: its documents would count twice."""
    refuse_same_files([path for source in sources if (path := getattr(source, "path", None)) is not None])
    return sources


def refuse_same_files(paths: Iterable[Path]) -> None:
    """Refuse a file that is named twice.

    It is known by its place on the disk, whatever it is called, so links are found, too; copies are not.
    """
    first: dict[tuple[int, int], Path] = {}
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


def _find_at_path(path: str) -> list[Source]:
    plain = Path(path).expanduser()
    if plain.is_dir():
        return [ClassFolderSource(plain)]
    if glob.has_magic(path) and not plain.exists():
        found = sorted(glob.glob(str(plain), recursive=True))  # noqa: PTH207 (Path.glob takes no absolute pattern)
        if not found:
            raise InputError(f"No file matches the pattern {path!r}.")
        return [one for match in found for one in _find_at_path(match)]
    return [FileSource(plain)]


def _find_at_paths(paths: Sequence[Any]) -> list[Source]:
    if not paths:
        raise InputError("The list of files is empty.")
    for path in paths:
        if not isinstance(path, (str, os.PathLike)):
            raise InputError(
                f"A list must hold paths of files; got {type(path).__name__}. "
                "For texts in memory: Documents.of(texts, labels)."
            )
    return [source for path in paths for source in _find_at_path(os.fspath(path))]


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
        return OpenFileSource(source)
    hint = " Call .collect() first." if type(source).__name__ == "LazyFrame" else ""
    raise InputError(
        f"Cannot read documents from {type(source).__name__}.{hint} What works: a path, a pattern, a list of "
        "paths, a folder of class folders, a pandas or polars DataFrame, an Arrow table, a dataset of "
        "Hugging Face, a mapping of columns, an open binary file. "
        "For texts in memory: Documents.of(texts, labels)."
    )

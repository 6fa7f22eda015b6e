"""The kinds of files by their ending: what reads each, and where the names of its columns stand."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TypeAlias

from termsieve.documents.arrowfiles import ipc_columns, parquet_columns, read_ipc, read_parquet
from termsieve.documents.chunks import Chunk
from termsieve.documents.csv_records import open_csv, unlimited_cell_size
from termsieve.documents.delimited import read_delimited
from termsieve.documents.encodings import looks_like_utf16
from termsieve.documents.jsonlines import read_json_lines
from termsieve.documents.options import Options
from termsieve.documents.remote import AnyPath
from termsieve.documents.separators import HEAD_BYTES, detect_separator
from termsieve.documents.sheets import SHEET_EXTENSIONS, read_sheet, sheet_columns
from termsieve.documents.streams import COMPRESSIONS, Stream, open_stream
from termsieve.errors import InputError

_StreamReader: TypeAlias = Callable[[Stream, Options, Sequence[str]], Iterator[Chunk]]
FileReader: TypeAlias = Callable[[AnyPath, Options, Sequence[str]], Iterator[Chunk]]

_NAMES_BYTES = 1 << 20  # bytes in which a header or some records should stand
_HEAD_RECORDS = 100  # records of JSON Lines that are looked at for names: any may leave some out


def _read_text_file(reader: _StreamReader, path: AnyPath, options: Options, extra: Sequence[str]) -> Iterator[Chunk]:
    with open_stream(path, options.encoding, replace=options.encoding_errors == "replace") as stream:
        yield from reader(stream, options, extra)


def read_cells(path: AnyPath, options: Options, extra: Sequence[str]) -> Iterator[Chunk]:
    """Yield the rows of a CSV or TSV file."""
    sep = find_separator(path, options)
    with open_stream(path, options.encoding, replace=options.encoding_errors == "replace") as stream:
        yield from read_delimited(stream, sep, options, extra)


USUAL_SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
TEXT_FORMATS: dict[str, FileReader] = {
    **dict.fromkeys(USUAL_SEPARATORS, read_cells),
    ".jsonl": partial(_read_text_file, read_json_lines),
    ".ndjson": partial(_read_text_file, read_json_lines),
    ".json": partial(_read_text_file, read_json_lines),
}
BINARY_FORMATS: dict[str, FileReader] = {
    ".parquet": read_parquet,
    ".pq": read_parquet,
    ".arrow": read_ipc,
    ".feather": read_ipc,
    ".ipc": read_ipc,
    **dict.fromkeys(SHEET_EXTENSIONS, read_sheet),
}
KNOWN_EXTENSIONS = (
    f"{', '.join(TEXT_FORMATS)} (each also with {' or '.join(COMPRESSIONS)}), {', '.join(BINARY_FORMATS)}"
)


def get_extension(path: AnyPath) -> str:
    """Return the ending that tells the type of a file, without that of a compression."""
    ending = path.suffix.lower()
    return Path(path.stem).suffix.lower() if ending in COMPRESSIONS else ending


def find_reader(path: AnyPath) -> FileReader | None:
    """Find what reads a file with columns, as far as its name tells; None for a text file."""
    ending, compressed = get_extension(path), path.suffix.lower() in COMPRESSIONS
    if compressed and ending in BINARY_FORMATS:
        raise InputError(
            f"{path}: files of the kind {ending} are compressed inside, and not as a whole. Unpack it, as with "
            f"{'gunzip' if path.suffix.lower() == '.gz' else 'unzstd'}, and read what comes out."
        )
    return TEXT_FORMATS.get(ending) or BINARY_FORMATS.get(ending)


def find_separator(path: AnyPath, options: Options) -> str:
    """Return the separator of a file with cells: the given one, or the one that its first bytes tell."""
    if options.sep is not None:
        return options.sep
    with open_stream(path, options.encoding) as stream:
        head = b""
        while len(head) < HEAD_BYTES and (more := stream.read()):
            head += more
    usual = USUAL_SEPARATORS.get(get_extension(path), ",")
    return detect_separator(head[:HEAD_BYTES], usual, whole=len(head) <= HEAD_BYTES, quotes=options.quotes)


def refuse_pipe(path: AnyPath) -> None:
    """Refuse what can be read only once, before anything of it is taken."""
    if not path.is_file():
        raise InputError(
            f"{path}: is a pipe or a device, not a file, and what is read from it is gone. Write it to a file; or, if "
            "it holds JSON Lines, give it as an open binary file (on the command line: as standard input, -)."
        )


# Names of columns


def read_column_names(path: AnyPath, options: Options) -> list[str]:
    """Return the names of the columns of a file; none where they cannot be read."""
    refuse_pipe(path)
    ending = get_extension(path)
    if ending in SHEET_EXTENSIONS:
        return sheet_columns(path, options)
    if ending in BINARY_FORMATS:
        return parquet_columns(path) if ending in (".parquet", ".pq") else ipc_columns(path)
    with open_stream(path, options.encoding) as stream:
        start = _read_head(stream)
    _refuse_zero_bytes(path, start)
    if "json" in ending:
        return parse_json_columns(start)
    return _parse_header(start, find_separator(path, options), quotes=options.quotes)


def _refuse_zero_bytes(path: AnyPath, start: bytes) -> None:
    """Refuse text that has the zero bytes of UTF-16, but not its mark."""
    if found := looks_like_utf16(start):
        raise InputError(
            f"{path}: much of it is zero bytes, as in UTF-16 without a mark. Read it with encoding={found!r}."
        )


def _read_head(stream: Stream) -> bytes:
    """Read some bytes, and the first line whole."""
    pieces: list[bytes] = []
    size, whole = 0, False
    while not (whole and size >= _NAMES_BYTES) and (more := stream.read()):
        pieces.append(more)
        size, whole = size + len(more), whole or b"\n" in more
    return b"".join(pieces)


def _parse_header(start: bytes, delimiter: str, *, quotes: bool) -> list[str]:
    lines = (line for line in io.StringIO(start.decode(errors="replace"), newline="") if line.strip())
    try:
        with unlimited_cell_size():
            return next(open_csv(lines, delimiter, quotes=quotes), [])
    except csv.Error:
        return []  # whoever reads the rows says what is wrong, and in which line


def parse_json_columns(start: bytes) -> list[str]:
    """Return the names that the first records of JSON Lines have."""
    names: dict[str, None] = {}
    for line in start.split(b"\n")[:_HEAD_RECORDS]:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict):
            names |= dict.fromkeys(record)
    return list(names)

"""Which columns a file has, and which of them a user most likely means."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path

from termsieve.documents.arrowfiles import ipc_columns, parquet_columns
from termsieve.documents.sources import BINARY_FORMATS, TEXT_FORMATS, refuse_pipe
from termsieve.documents.streams import COMPRESSIONS, Stream, open_stream
from termsieve.errors import InputError

# From the plainest to the least plain; two of one line are a question for the user.
TEXT_NAMES = (
    ("text", "texts"),
    ("body", "message", "content", "document", "sentence", "review", "comment", "abstract", "article", "post", "tweet"),
    ("title", "headline", "subject", "description", "summary", "question", "email", "mail", "sms"),
)
LABEL_NAMES = (
    ("label", "labels"),
    ("class", "classes", "category", "categories", "topic", "topics", "target", "tag", "tags", "folder"),
    ("sentiment", "genre", "section", "group", "newsgroup", "type", "author", "language"),
)
_MAX_LISTED = 30
_HEAD_BYTES = 1 << 20  # bytes in which a header or some records should stand


def get_extension(path: Path) -> str:
    """The ending that tells the type of a file, without that of a compression."""
    ending = path.suffix.lower()
    return Path(path.stem).suffix.lower() if ending in COMPRESSIONS else ending


def has_columns(path: Path) -> bool:
    """Whether a file has columns, as far as its name tells."""
    compressed = path.suffix.lower() in COMPRESSIONS
    ending = get_extension(path)
    return ending in TEXT_FORMATS or (ending in BINARY_FORMATS and not compressed)


def read_column_names(path: Path, encoding: str, *, quotes: bool = True) -> list[str]:
    """The names of the columns of a file."""
    refuse_pipe(path)
    ending = get_extension(path)
    if ending in BINARY_FORMATS:
        return parquet_columns(path) if ending in (".parquet", ".pq") else ipc_columns(path)
    with open_stream(path, encoding) as stream:
        start = _read_head(stream)
    return (
        parse_json_columns(start)
        if "json" in ending
        else _parse_header(start, "," if ending == ".csv" else "\t", quotes=quotes)
    )


def _read_head(stream: Stream) -> bytes:
    """Some bytes, and the first line whole."""
    pieces: list[bytes] = []
    size, whole = 0, False
    while not (whole and size >= _HEAD_BYTES) and (more := stream.read()):
        pieces.append(more)
        size, whole = size + len(more), whole or b"\n" in more
    return b"".join(pieces)


def _parse_header(start: bytes, delimiter: str, *, quotes: bool) -> list[str]:
    lines = (line for line in io.StringIO(start.decode(errors="replace"), newline="") if line.strip())
    try:
        return next(csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE), [])
    except csv.Error:
        return []  # whoever reads the rows says what is wrong, and in which line


def parse_json_columns(start: bytes) -> list[str]:
    """The names that the first records of JSON Lines have."""
    names: dict[str, None] = {}
    for line in start.split(b"\n")[:100]:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict):
            names |= dict.fromkeys(record)
    return list(names)


def guess_column(names: Sequence[str], tiers: Sequence[Sequence[str]]) -> str | list[str] | None:
    """The column that is meant: its name; or the names that could be; or None.

    >>> guess_column(["id", "Text", "title"], TEXT_NAMES)
    'Text'
    >>> guess_column(["body", "message"], TEXT_NAMES)
    ['body', 'message']
    """
    for tier in tiers:
        found = [name for name in names if name.strip().lower() in tier]
        exact = [name for name in found if name in tier]
        if len(found) == 1 or len(exact) == 1:
            return (exact or found)[0]
        if found:
            return found
    return None


def choose_column(source: str, names: Sequence[str], option: str) -> str:
    """The column for --text or --label, or an error that lists the columns."""
    found = guess_column(names, TEXT_NAMES if option == "--text" else LABEL_NAMES)
    if isinstance(found, str):
        return found
    what = "text" if option == "--text" else "label"
    listed = ", ".join(map(repr, names[:_MAX_LISTED])) + (", ..." if len(names) > _MAX_LISTED else "")
    if found:
        several = " and ".join(map(repr, found))
        raise InputError(f"{source}: {several} could both hold the {what}. Say which with {option}. Columns: {listed}.")
    raise InputError(
        f"{source}: no column has a name that tells it holds the {what}. Say which with {option}. "
        f"Columns: {listed or 'none were found'}."
    )

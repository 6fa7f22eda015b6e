"""Files as classes: plain text, a document for each line, and data files that have no labels of their own."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from termsieve._types import Int64Array
from termsieve.documents.batches import readable
from termsieve.documents.chunks import BATCH_ROWS, LINE, Chunk, Source, make_line_places
from termsieve.documents.formats import KNOWN_EXTENSIONS
from termsieve.documents.options import Options, check_columns
from termsieve.documents.remote import AnyPath
from termsieve.documents.streams import convert_read_errors, open_stream, read_line_blocks, read_undecodable
from termsieve.documents.string_columns import is_utf8
from termsieve.errors import InputError

MAX_LINE_LENGTH = 2000  # characters of a line that is one document
PIECE_LENGTH = 1000  # characters of the pieces that a longer one is cut into
FILE_COLUMN = "file"
_SPACES = re.compile(r"\s*")


class TextFile(Source):
    """A text file: each line is a document, a very long one several, and a blank one none.

    Lines end with a newline; or, where the whole file has none, with carriage returns, as in old Macintosh files.
    """

    unit = LINE
    has_lines = True
    path: AnyPath

    def __init__(self, path: AnyPath) -> None:
        self.path, self.name = path, str(path)

    @property
    def size(self) -> int:
        """Bytes on disk."""
        with convert_read_errors(self.name):
            return self.path.stat().st_size

    def read_undecodable(self, encoding: str) -> bytes:
        """Return the lines around the first bytes that are not valid in an encoding."""
        return read_undecodable(self.path, encoding)

    def options(self, options: Options) -> Options:
        """Return the options for one column, the text."""
        return replace(options, text=("text",), split=None)

    def chunks(self, options: Options, extra: Sequence[str]) -> Iterator[Chunk]:
        """Yield the lines in chunks of moderate size."""
        check_columns(self.name, extra, [])
        found = 0
        with open_stream(self.path, options.encoding, replace=options.encoding_errors == "replace") as stream:
            for block in read_line_blocks(stream):
                if b"\0" in block.data:
                    raise InputError(
                        f"{self.name}: is not a text file: it has a zero byte. Files with columns are known by their "
                        f"ending: {KNOWN_EXTENSIONS}."
                    )
                lines = block.data.split(b"\r" if block.line == 1 and b"\n" not in block.data else b"\n")
                for chunk in _make_chunks(lines, block.line, options.encoding):
                    found += chunk.rows
                    chunk.position = stream.position
                    yield chunk
        if not found:
            raise InputError(f"{self.name} is empty: it has no lines.")


def _make_chunks(lines: list[bytes], first: int, encoding: str) -> Iterator[Chunk]:
    texts: list[str] = []
    numbers: list[int] = []
    faults: dict[int, str] = {}
    for number, line in enumerate(lines, first):
        if is_utf8(line):
            pieces = _split_line(line.decode().strip())
        else:  # one row, however long it is
            faults[len(texts)] = f"not valid {encoding}"
            pieces = [""]
        texts += pieces
        numbers += [number] * len(pieces)
    for start in range(0, len(texts), BATCH_ROWS):
        part = slice(start, start + BATCH_ROWS)
        yield Chunk(
            rows=len(texts[part]),
            columns={"text": pa.array(texts[part], pa.large_string())},
            extra={},
            place=make_line_places(functools.partial(_extents, numbers[part])),
            faults={row - start: fault for row, fault in faults.items() if part.start <= row < part.stop},
        )


def _extents(numbers: list[int]) -> tuple[Int64Array, Int64Array]:
    lines = np.array(numbers, np.int64)
    return lines, lines


def _split_line(line: str) -> list[str]:
    """Return the line, or where it is very long pieces of it, cut at spaces.

    >>> [len(piece) for piece in _split_line("word " * 1000)]
    [999, 999, 999, 999, 1000]
    """
    pieces: list[str] = []
    start, rest = 0, len(line)
    while rest > (PIECE_LENGTH if pieces else MAX_LINE_LENGTH):
        space = line.rfind(" ", start + 1, start + PIECE_LENGTH)
        end = start + PIECE_LENGTH if space < 0 else space
        pieces.append(line[start:end])
        start = _SPACES.match(line, end).end()  # type: ignore[union-attr]
        rest = len(line) - start
    return [*pieces, line[start:]] if rest else pieces


class LabelledSource(Source):
    """A source whose documents are all of one class: the name of the file."""

    def __init__(self, source: Source, class_name: str) -> None:
        self._source, self.class_name = source, class_name
        self.name, self.path, self.unit, self.has_lines = source.name, source.path, source.unit, source.has_lines
        self.remarks, self.read_undecodable = source.remarks, source.read_undecodable  # type: ignore[method-assign]

    @property
    def size(self) -> int | None:
        """Bytes on disk."""
        return self._source.size

    @property
    def notes(self) -> Sequence[str]:
        """As the source has them."""
        return self._source.notes

    def options(self, options: Options) -> Options:
        """Return the same, with the label in a column of its own."""
        return replace(self._source.options(replace(options, label=None)), label=FILE_COLUMN, label_sep=None)

    def chunks(self, options: Options, extra: Sequence[str]) -> Iterator[Chunk]:
        """Yield the rows of the source, each with the label."""
        for chunk in self._source.chunks(replace(options, label=None), extra):
            label = pa.array([self.class_name] * chunk.rows, pa.large_string())
            yield replace(chunk, columns={**chunk.columns, FILE_COLUMN: label})


def label_by_file(sources: Sequence[Source]) -> list[Source]:
    """Return the sources, each with its name as the class of its documents."""
    if len(sources) < 2 or any(source.path is None for source in sources):
        raise InputError("by_file=True compares files with each other: name two or more.")
    names = name_classes([source.name for source in sources])
    return [LabelledSource(source, name) for source, name in zip(sources, names, strict=True)]


def name_classes(paths: Sequence[str]) -> list[str]:
    """Name each file as a class: by its name, or where two have the same by its path.

    >>> name_classes(["a/x.txt", "b/y.txt"]), name_classes(["a/x.txt", "b/x.txt"])
    (['x.txt', 'y.txt'], ['a/x.txt', 'b/x.txt'])
    """
    paths = [readable(path) for path in paths]
    names = [Path(path).name for path in paths]
    return names if len(set(names)) == len(names) else paths

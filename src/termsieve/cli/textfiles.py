"""Files as classes: plain text, a document for each line, and data files that have no labels of their own."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from termsieve.documents.chunks import BATCH_ROWS, Chunk, Source
from termsieve.documents.options import Options, check_columns
from termsieve.documents.streams import failures_of, line_blocks, opened
from termsieve.documents.strings import is_utf8
from termsieve.errors import InputError

LONGEST = 2000  # characters of a line that is one document
PIECE = 1000  # characters of the pieces that a longer one is cut into
FILE = "file"


class TextFile:
    """A text file: each line is a document, a very long one several, and a blank one none."""

    def __init__(self, path: Path) -> None:
        self.path, self.name = path, str(path)

    @property
    def size(self) -> int:
        """Bytes on disk."""
        with failures_of(self.name):
            return self.path.stat().st_size

    def options(self, options: Options) -> Options:
        """There is one column, the text."""
        return replace(options, text=("text",), split=None)

    def chunks(self, options: Options, extra: Sequence[str]) -> Iterator[Chunk]:
        """Yield the lines in chunks of moderate size."""
        check_columns(self.name, extra, [])
        found = 0
        with opened(self.path, options.encoding) as stream:
            for block in line_blocks(stream):
                if b"\0" in block.data:
                    raise InputError(f"{self.name}: is no text file: it has a zero byte. {_KNOWN}")
                for chunk in _chunks(block.data, block.line, options.encoding):
                    found += chunk.rows
                    chunk.position = stream.position
                    yield chunk
        if not found:
            raise InputError(f"{self.name} is empty: it has no lines.")


_KNOWN = "Files with columns are known by their ending: .csv, .tsv, .jsonl, .parquet, .arrow."


def _chunks(data: bytes, first: int, encoding: str) -> Iterator[Chunk]:
    texts: list[str] = []
    lines: list[int] = []
    faults: dict[int, str] = {}
    for number, line in enumerate(data.split(b"\n"), first):
        if not is_utf8(line):
            faults[len(texts)] = f"not valid {encoding}"
        pieces = _pieces(line.decode(errors="replace").strip())
        texts += pieces
        lines += [number] * len(pieces)
    for start in range(0, len(texts), BATCH_ROWS):
        part = range(start, min(start + BATCH_ROWS, len(texts)))
        yield Chunk(
            rows=len(part),
            columns={"text": pa.array(texts[part.start : part.stop], pa.large_string())},
            extra={},
            place=lambda row, start=start: f"line {lines[start + row]}",  # type: ignore[misc]
            faults={row - start: fault for row, fault in faults.items() if row in part},
        )


def _pieces(line: str) -> list[str]:
    """The line, or where it is very long pieces of it, cut at spaces.

    >>> [len(piece) for piece in _pieces("word " * 1000)]
    [999, 999, 999, 999, 1000]
    """
    pieces: list[str] = []
    while len(line) > (PIECE if pieces else LONGEST):
        cut = line.rfind(" ", 1, PIECE) if " " in line[1:PIECE] else PIECE
        pieces.append(line[:cut])
        line = line[cut:].lstrip()
    return [*pieces, line] if line else pieces


class Labelled:
    """A source whose documents are all of one class: the name of the file."""

    def __init__(self, source: Source, label: str) -> None:
        self._source, self.label, self.name = source, label, source.name
        self.lines = isinstance(source, TextFile)

    @property
    def size(self) -> int | None:
        """Bytes on disk."""
        return self._source.size

    def options(self, options: Options) -> Options:
        """The same, with the label in a column of its own."""
        return replace(self._source.options(replace(options, label=None)), label=FILE, label_sep=None)

    def chunks(self, options: Options, extra: Sequence[str]) -> Iterator[Chunk]:
        """Yield the rows of the source, each with the label."""
        for chunk in self._source.chunks(replace(options, label=None), extra):
            label = pa.array([self.label] * chunk.rows, pa.large_string())
            yield replace(chunk, columns={**chunk.columns, FILE: label})


def file_names(paths: Sequence[str]) -> list[str]:
    """What each file is called as a class: its name, or where two have the same its path.

    >>> file_names(["a/x.txt", "b/y.txt"]), file_names(["a/x.txt", "b/x.txt"])
    (['x.txt', 'y.txt'], ['a/x.txt', 'b/x.txt'])
    """
    paths = [os.fsencode(path).decode("utf-8", "replace") for path in paths]  # names of files may be any bytes
    names = [Path(path).name for path in paths]
    return names if len(set(names)) == len(names) else paths

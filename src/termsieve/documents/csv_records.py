"""CSV as Python's `csv` reads it: slower than Arrow, but it names the line, and says what is wrong with a record.

What looks like several rows that a quote has merged: see `termsieve.documents.delimited`, which has the same rule for
whole blocks.
"""

from __future__ import annotations

import csv
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from termsieve._types import AnyArray, Int64Array
from termsieve.documents.chunks import Faults, Spans
from termsieve.documents.streams import Stream, count_newlines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

QUOTE, NEWLINE, RETURN, _SPACE = b'"\n\r '
_SHORT = 4096  # bytes, of which Python counts newlines faster than NumPy does


class Layout(NamedTuple):
    """How the cells of a file stand, as its header says."""

    delimiter: str
    encoding: str
    names: list[str]
    quotes: bool = True


class Extents(NamedTuple):
    """The first and last line of each record, and whether it looks like several rows that a quote has merged."""

    first: Int64Array
    last: Int64Array
    merged: AnyArray

    def spans(self) -> Spans | None:
        """Return the records of several lines; None where there are none."""
        several = self.last > self.first
        if not several.any():
            return None
        return Spans(self.first[several], self.last[several], self.merged[several])


@dataclass
class CsvRecords:
    """Records as `csv` reads them; no cells where there is a fault."""

    cells: list[list[str]] = field(default_factory=list)
    lines: list[tuple[int, int, bool]] = field(default_factory=list)  # as in `Extents`
    faults: Faults = field(default_factory=dict)
    fatal: int | None = None
    position: int = 0  # bytes of the file that were read so far

    def extents(self) -> Extents:
        """Return the lines of each record."""
        table = np.array(self.lines, np.int64).reshape(-1, 3)
        return Extents(table[:, 0], table[:, 1], table[:, 2].astype(bool))

    def spans(self) -> Spans | None:
        """Return the rows of several lines that have no fault; those that have one are reported as lost."""
        if all(first == last for first, last, _ in self.lines):
            return None
        sound = np.ones(len(self.lines), bool)
        sound[list(self.faults)] = False
        return Extents(*(part[sound] for part in self.extents())).spans()


class LineReader:
    """The lines of a buffer, refilled from a stream; remembers what was taken."""

    def __init__(self, buffer: bytes = b"", line: int = 1, stream: Stream | None = None) -> None:
        self.buffer, self.line = buffer, line
        self.taken = 0  # bytes handed out, since the beginning
        self.exhausted = False
        self.invalid = False  # a line handed out since `forget` was not UTF-8
        self.handed: list[bytes] = []  # the lines handed out since `forget`
        self._at = 0
        self._stream = stream

    def __iter__(self) -> Iterator[str]:
        while not self.exhausted:
            end = self.buffer.find(b"\n", self._at) + 1
            if not end and self.fill():
                continue
            yield from self._decode_line(self.take(end - self._at if end else len(self.buffer)))

    def _decode_line(self, line: bytes) -> Iterator[str]:
        if not line:
            self.exhausted = True
            return
        self.handed.append(line)
        try:
            yield line.decode()
        except UnicodeDecodeError:
            self.invalid = True
            yield line.decode(errors="surrogateescape")

    def forget(self) -> None:
        """Begin a new record."""
        self.invalid, self.handed = False, []

    def remaining(self) -> bytes:
        """Return what is in the buffer and not taken."""
        if self._at:
            self.buffer, self._at = self.buffer[self._at :], 0
        return self.buffer

    def fill(self) -> bool:
        """Read more, at least as much as there is, so that a long cell is not copied over and over."""
        more = self._stream.read(len(self.remaining())) if self._stream is not None else b""
        self.buffer += more
        return bool(more)

    def take(self, size: int) -> bytes:
        """Take the next bytes, which must be whole lines."""
        data = self.buffer[self._at : self._at + size]
        self._at += len(data)
        self.taken += len(data)
        self.line += data.count(b"\n") if len(data) < _SHORT else count_newlines(data)
        return data


_limit_lock = Lock()
_limits: list[int] = []  # the limit before, for each thread that reads cells of any size


@contextmanager
def unlimited_cell_size() -> Iterator[None]:
    """Have `csv` read cells of any size; the limit holds for the whole process until the last thread is done."""
    with _limit_lock:
        _limits.append(_limits[0] if _limits else csv.field_size_limit(sys.maxsize))
    try:
        yield
    finally:
        with _limit_lock:
            before = _limits.pop()
            if not _limits:
                csv.field_size_limit(before)


def open_csv(lines: Iterable[str], delimiter: str, *, quotes: bool) -> Any:
    """Return Python's reader of CSV, which takes the lines as it needs them."""
    return csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE)


def read_records(lines: LineReader, size: int, layout: Layout) -> CsvRecords:
    """Read records until that many bytes are taken or all are; blank lines are none."""
    records = CsvRecords()
    end = lines.taken + size
    with unlimited_cell_size():
        reader = open_csv(lines, layout.delimiter, quotes=layout.quotes)
        while lines.taken < end:
            start = lines.line
            lines.forget()
            cells, fault = _next_record(reader, lines, start)
            if cells is None:
                break
            if not cells and not fault:
                continue
            if lines.exhausted and fault:
                records.fatal = len(records.lines)
            last = start + max(len(lines.handed), 1) - 1
            fault = fault or _find_fault(cells, lines.invalid, layout, (start, last))
            if fault:
                records.faults[len(records.lines)] = fault
            records.lines.append((start, last, last > start and _looks_merged(lines.handed, layout)))
            records.cells.append([] if fault else cells)
    return records


def _looks_merged(lines: list[bytes], layout: Layout) -> bool:
    n_delimiters, delimiter = len(layout.names) - 1, layout.delimiter.encode()
    prose = [delimiter + bytes([code]) for code in list_codes_behind_prose(layout)]
    return n_delimiters > 0 and all(
        line.count(delimiter) == n_delimiters
        and not line.endswith(delimiter)
        and not any(part in line for part in prose)
        for line in lines
    )


def list_codes_behind_prose(layout: Layout) -> list[int]:
    """List the bytes that stand behind a delimiter which ends no cell but a part of a sentence."""
    return [NEWLINE, RETURN, *([_SPACE] if layout.delimiter == "," else [])]


def _next_record(reader: Iterator[list[str]], lines: LineReader, start: int) -> tuple[list[str] | None, str | None]:
    try:
        cells = next(reader)
    except StopIteration:
        return None, None
    except csv.Error as error:
        stray = "new-line" in str(error)  # csv speaks of how the file was opened, which is not at fault
        return [], f"not valid CSV: {'a carriage return stands outside quotes' if stray else error}"
    if lines.exhausted:  # asked for one more line in the middle of the record
        swallowed = max(lines.line - start, 1)
        return [], f"a quote is never closed: it takes in the rest of the file, {swallowed} lines"
    return cells, None


def _find_fault(cells: list[str], invalid: bool, layout: Layout, extent: tuple[int, int]) -> str | None:
    if invalid:
        return f"not valid {layout.encoding}"
    if layout.names and len(cells) != len(layout.names):
        first, last = extent
        over = f"; a quoted cell takes in lines {first:,}-{last:,}" if last > first else ""
        return f"wrong number of cells: {len(cells)}, where the header has {len(layout.names)}{over}"
    return None

"""CSV and TSV: a header, then records, whose quoted cells may hold newlines.

The bytes are cut where a record ends, which needs an eye on the quotes. A block whose quotes all stand where
they should goes to Arrow; any other, and any that Arrow refuses, to Python's `csv`, which names the line.

A quote that was meant as text merges rows. It cannot be told for sure from one that was meant as a quote, so rows
that take several lines are noted, and those that look merged are named. A row looks merged if each of its lines would
be a row by itself with quotes read as text: it has as many cells as the header, the last of them is not empty, and no
comma has a space behind it, as commas of sentences have. Files with one column give no hint.
"""

from __future__ import annotations

import itertools
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pcsv

from termsieve._types import AnyArray, Int64Array
from termsieve.documents.chunks import Chunk, make_line_places
from termsieve.documents.csv_records import (
    NEWLINE,
    QUOTE,
    RETURN,
    CsvRecords,
    Extents,
    Layout,
    LineReader,
    list_codes_behind_prose,
    read_records,
)
from termsieve.documents.options import Options, check_columns
from termsieve.documents.streams import BOM, LineBlock, Stream, count_parsers, find_byte
from termsieve.documents.string_columns import is_utf8
from termsieve.errors import InputError
from termsieve.threads import map_stream

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_ARROW_LIMIT = 2**31 - 1
_TAIL_BYTES = 1 << 16  # bytes in which the end of a record is looked for first


def read_delimited(stream: Stream, delimiter: str, options: Options, extra: Sequence[str]) -> Iterator[Chunk]:
    """Yield the rows of a CSV or TSV stream, in chunks of about a block."""
    lines = LineReader(stream=stream)
    wanted = options.columns(extra)
    layout = Layout(delimiter, options.encoding, [], options.quotes)
    layout = layout._replace(names=_read_header(stream.name, lines, layout))
    if not layout.names:
        return
    check_columns(stream.name, wanted, layout.names)

    def make_chunk(part: LineBlock | CsvRecords) -> Chunk:
        if isinstance(part, LineBlock):
            return _block_to_chunk(part, layout, wanted, extra)
        return _records_to_chunk(part, layout, wanted, extra)

    parts = _cut_records(stream, lines, layout)
    yield from map(make_chunk, itertools.islice(parts, 1))  # most files need no thread
    yield from map_stream(make_chunk, parts, count_parsers(stream), waits=True)


def _cut_records(stream: Stream, lines: LineReader, layout: Layout) -> Iterator[LineBlock | CsvRecords]:
    """Yield whole records: a block where the quotes tell them apart, or else what `csv` has read."""
    while lines.remaining() or lines.fill():
        cut = _find_clean_cut(lines, layout)
        if cut:
            first = lines.line
            data = lines.take(cut)
            # checked here: the check may load a loop, which threads never do
            yield LineBlock(data, first, lines.line - first, stream.position, is_utf8(data))
        else:
            records = read_records(lines, len(lines.buffer), layout)
            records.position = stream.position
            yield records


def _read_header(name: str, lines: LineReader, layout: Layout) -> list[str]:
    records = CsvRecords()
    while not records.cells and not lines.exhausted:
        records = read_records(lines, 1, layout)
    if records.faults:
        raise InputError(f"{name}, line {records.lines[0][0]}: the header cannot be read: {records.faults[0]}.")
    return records.cells[0] if records.cells else []


def _find_clean_cut(lines: LineReader, layout: Layout) -> int:
    """Tell how many bytes of the buffer are whole records without surprises; 0 where `csv` has to look."""
    ended = False
    while True:
        data = lines.remaining()
        codes = np.frombuffer(data, np.uint8)
        quotes = _find_quotes(data, layout)
        cut = len(data) if ended and len(quotes) % 2 == 0 else _find_last_boundary(codes, quotes)
        # without a cut, what follows the last quote may not have been read yet
        known = cut or (int(quotes[-1]) if len(quotes) else 0)
        if not _has_regular_quotes(data, codes, quotes[: np.searchsorted(quotes, known)], known, ord(layout.delimiter)):
            return 0
        if cut or ended:
            return cut
        ended = not lines.fill()


def _find_quotes(data: bytes, layout: Layout) -> Int64Array:
    return find_byte(data, QUOTE) if layout.quotes else np.zeros(0, np.int64)


def _find_last_boundary(codes: AnyArray, quotes: AnyArray) -> int:
    """Find the end of the last whole record, if every quote opens or closes a cell."""
    window = _TAIL_BYTES
    while True:
        start = max(len(codes) - window, 0)
        newlines = np.flatnonzero(codes[start:] == NEWLINE) + start
        outside = newlines[np.searchsorted(quotes, newlines) % 2 == 0]
        if len(outside) or not start:
            return int(outside[-1]) + 1 if len(outside) else 0
        window *= 8


def _has_regular_quotes(data: bytes, codes: AnyArray, quotes: AnyArray, known: int, delimiter: int) -> bool:
    """Tell whether each quote that opens stands at the start of its cell or is doubled.

    Then every other quote opens, and counting tells what is inside. Quotes that close need no look: one in a
    wrong place makes the next that opens stand wrong.
    """
    starts = np.zeros(256, bool)
    starts[[delimiter, QUOTE, NEWLINE, RETURN]] = True
    opening = quotes[::2]
    before = codes[opening[opening > 0] - 1]
    return bool(starts[before].all()) and not _has_stray_return(data, codes, quotes, known)


def _has_stray_return(data: bytes, codes: AnyArray, quotes: AnyArray, known: int) -> bool:
    """Find a carriage return that is neither in quotes nor before a newline: Arrow ends the record there."""
    if b"\r" not in data:
        return False
    returns = find_byte(data, RETURN)
    returns = returns[: np.searchsorted(returns, known)]
    alone = returns[codes[np.minimum(returns + 1, len(codes) - 1)] != NEWLINE]
    return bool((np.searchsorted(quotes, alone) % 2 == 0).any())


def _block_to_chunk(block: LineBlock, layout: Layout, wanted: list[str], extra: Sequence[str]) -> Chunk:
    table = _parse_with_arrow(block, layout, wanted)
    if table is None:
        records = read_records(LineReader(block.data, block.line), len(block.data), layout)
        records.position = block.position
        return _records_to_chunk(records, layout, wanted, extra)
    rows = table.num_rows

    @cache
    def extents() -> Extents:
        return _extents(block, layout, rows)

    # a line for each row: then there are neither blank lines nor cells of several lines
    simple = rows == block.newlines + (not block.data.endswith(b"\n"))
    columns = {name: column.combine_chunks() for name, column in zip(wanted, table.columns, strict=True)}
    return Chunk(
        rows=rows,
        columns=columns,
        extra={name: columns[name] for name in extra},
        place=make_line_places(lambda: extents()[:2]),
        position=block.position,
        spans=None if simple else extents().spans(),
        empty_is_missing=True,
    )


def _extents(block: LineBlock, layout: Layout, rows: int) -> Extents:
    """Find the lines of each record of a block whose quotes all stand where they should."""
    codes = np.frombuffer(block.data, np.uint8)
    newlines, quotes = find_byte(block.data, NEWLINE), _find_quotes(block.data, layout)
    ends = newlines[np.searchsorted(quotes, newlines) % 2 == 0] + 1
    if not len(ends) or ends[-1] < len(codes):
        ends = np.append(ends, len(codes))
    starts = np.concatenate(([0], ends[:-1]))
    length = ends - starts
    blank = ((length == 1) & (codes[starts] == NEWLINE)) | ((length == 2) & (codes[starts] == RETURN))
    starts, ends = starts[~blank], ends[~blank]
    if len(starts) != rows:  # the slow way cannot be wrong
        return read_records(LineReader(block.data, block.line), len(block.data), layout).extents()
    first, last = np.searchsorted(newlines, starts), np.searchsorted(newlines, ends - 1)
    merged = (last > first) & _look_like_rows(block.data, newlines, layout, first, last)
    return Extents(first + block.line, last + block.line, merged)


def _look_like_rows(data: bytes, newlines: Int64Array, layout: Layout, first: Int64Array, last: Int64Array) -> AnyArray:
    """Tell for each record whether all its lines would be rows by themselves, if quotes were read as text."""
    if len(layout.names) < 2:
        return np.zeros(len(first), bool)
    codes = np.frombuffer(data, np.uint8)
    delimiters = find_byte(data, ord(layout.delimiter))
    edges = np.concatenate(([0], newlines + 1, [len(codes)]))
    wrong = np.diff(np.searchsorted(delimiters, edges)) != len(layout.names) - 1
    behind = codes[np.minimum(delimiters + 1, len(codes) - 1)]
    prose = np.isin(behind, list_codes_behind_prose(layout)) | (delimiters == len(codes) - 1)
    wrong[np.searchsorted(newlines, delimiters[prose])] = True
    before = np.concatenate(([0], np.cumsum(wrong)))
    found: AnyArray = before[last + 1] == before[first]
    return found


def _parse_with_arrow(block: LineBlock, layout: Layout, wanted: list[str]) -> pa.Table | None:
    """Return the wanted columns as Arrow reads them, or None where it cannot be taken at its word."""
    if len(block.data) >= _ARROW_LIMIT or block.data.startswith(BOM) or not block.valid:
        return None
    # numbers for names: columns that nobody wants may share a name
    chosen = [str(layout.names.index(name)) for name in wanted]
    reading = pcsv.ReadOptions(
        use_threads=False,
        block_size=len(block.data) + 1,
        column_names=[str(i) for i in range(len(layout.names))],
    )
    converting = pcsv.ConvertOptions(
        column_types=dict.fromkeys(chosen, pa.large_string()),
        include_columns=chosen,
        strings_can_be_null=False,
    )
    quote = '"' if layout.quotes else False
    parsing = pcsv.ParseOptions(delimiter=layout.delimiter, quote_char=quote, newlines_in_values=layout.quotes)
    try:
        return pcsv.read_csv(pa.BufferReader(block.data), reading, parsing, converting)
    except pa.ArrowException:
        return None


def _records_to_chunk(records: CsvRecords, layout: Layout, wanted: list[str], extra: Sequence[str]) -> Chunk:
    columns: dict[str, Any] = {}
    for name in wanted:
        index = layout.names.index(name)
        columns[name] = [cells[index] if cells else None for cells in records.cells]
    return Chunk(
        rows=len(records.lines),
        columns=columns,
        extra={name: pa.array(columns[name], pa.large_string()) for name in extra},
        place=make_line_places(lambda: records.extents()[:2]),
        faults=records.faults,
        position=records.position,
        fatal=records.fatal,
        spans=records.spans(),
        empty_is_missing=True,
    )

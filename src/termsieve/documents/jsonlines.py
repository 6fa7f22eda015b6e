"""JSON Lines: one object per line.

Blocks are parsed in several threads, and handed on in order. Each goes to Arrow with the types that another had before.
Where Arrow refuses (a label that is a string here and a list there, a broken line) the block is read again with `json`,
line by line. A block that Arrow reads gives the same rows with any types that it accepts.
"""

from __future__ import annotations

import io
import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.json as pj
import pyarrow.types as pt

from termsieve._types import Int64Array
from termsieve.documents.chunks import Chunk, Faults, JsonLiteral, make_line_places
from termsieve.documents.label_spelling import is_missing, spell
from termsieve.documents.options import Options, check_columns
from termsieve.documents.streams import LineBlock, Stream, count_parsers, read_line_blocks, split_codes
from termsieve.documents.string_columns import is_unicode, is_utf8
from termsieve.errors import InputError
from termsieve.threads import map_stream

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# Arrow counts the bytes of a block in 32 bits.
_ARROW_LIMIT = 2**31 - 1
_PLAIN_DIGITS = 4000  # of an integer; Python refuses to read or write more than 4,300
_NULL_AFTER_OBJECT = re.compile(rb"\}\s*null")

ColumnTypes: TypeAlias = dict[str, pa.DataType]


@dataclass
class _JsonRecords:
    """The lines of a block, parsed in Python; an empty object where there is a fault."""

    objects: list[dict[str, Any]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    faults: Faults = field(default_factory=dict)

    def names(self) -> list[str]:
        return list(dict.fromkeys(name for record in self.objects for name in record))

    def extents(self) -> tuple[Int64Array, Int64Array]:
        lines = np.array(self.lines, np.int64)
        return lines, lines


def read_json_lines(stream: Stream, options: Options, extra: Sequence[str]) -> Iterator[Chunk]:
    """Yield the rows of a JSON Lines stream, a chunk for each block."""
    wanted = options.columns(extra)
    # checked here: the check may load a loop, which threads never do
    blocks = (block._replace(valid=is_utf8(block.data)) for block in read_line_blocks(stream))
    first = next(blocks, None)
    if first is None:
        return
    _refuse_array(stream.name, first)
    types = _find_types(_parse_block(LineBlock(_first_line(first.data), 1), options), wanted, options)

    def parse(block: LineBlock) -> Chunk:
        nonlocal types
        chunk = _table_to_chunk(_parse_with_arrow(block, types), block, extra)
        if chunk is None:
            records = _parse_block(block, options)
            types = _find_types(records, wanted, options)
            chunk = _records_to_chunk(records, wanted, extra)
        chunk.position = block.position
        return chunk

    chunk = parse(first)
    _check_first_block(stream.name, chunk, first, wanted, options)
    yield chunk
    yield from map_stream(parse, blocks, count_parsers(stream), waits=True)


def _first_line(data: bytes) -> bytes:
    lines = (line for line in io.BytesIO(data) if line.strip())
    return next(lines, b"")


def _refuse_array(name: str, block: LineBlock) -> None:
    is_json = name.lower().removesuffix(".gz").removesuffix(".zst").endswith(".json")
    if is_json and _first_line(block.data).lstrip()[:1] == b"[":
        raise InputError(
            f"{name} is one JSON array. JSON Lines is read instead: one object per line, without brackets or "
            "commas around them; `jq -c '.[]'` makes it so."
        )


def _check_first_block(name: str, chunk: Chunk, block: LineBlock, wanted: list[str], options: Options) -> None:
    """Refuse a column that no record of the first block has.

    Records may leave out a column, so one record does not tell; a file read to its end would tell too late.
    """
    absent = [column for column in wanted if _is_all_null(chunk.columns[column])]
    if absent and len(chunk.faults) < chunk.rows:
        check_columns(name, absent, _parse_block(block, options).names())


def _is_all_null(column: Any) -> bool:
    if isinstance(column, list):
        return all(value is None for value in column)
    return bool(column.null_count == len(column))


def _parse_with_arrow(block: LineBlock, types: ColumnTypes) -> pa.Table | None:
    """Return the block as Arrow reads it, or None where it cannot be taken at its word."""
    if len(block.data) >= _ARROW_LIMIT or not block.valid or not _has_only_objects(block.data):
        return None
    reading = pj.ReadOptions(use_threads=False, block_size=len(block.data) + 1)
    schema = pa.schema(types.items())
    parsing = pj.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
    try:
        table = pj.read_json(pa.BufferReader(block.data), read_options=reading, parse_options=parsing)
        table.validate()
    except pa.ArrowException:
        return None
    lines = block.newlines + (not block.data.endswith(b"\n"))
    return table if table.num_rows == lines else None


def _has_only_objects(data: bytes) -> bool:
    """Tell whether every line begins as an object.

    Arrow also takes blank lines, one object on two lines, two on one; and a null instead of an object crashes
    it (apache/arrow issue 47409).
    """
    begins = True  # whether the next byte begins a line
    for _, codes in split_codes(data):
        starts = codes[1:][codes[:-1] == ord("\n")]
        if (begins and codes[0] != ord("{")) or not bool((starts == ord("{")).all()):
            return False
        begins = codes[-1] == ord("\n")
    return b"null" not in data or not _NULL_AFTER_OBJECT.search(data)


def _table_to_chunk(table: pa.Table | None, block: LineBlock, extra: Sequence[str]) -> Chunk | None:
    if table is None:
        return None
    columns = {name: table[name].combine_chunks() for name in table.column_names}
    rows = table.num_rows

    def extents() -> tuple[Int64Array, Int64Array]:
        lines = np.arange(block.line, block.line + rows)
        return lines, lines

    return Chunk(
        rows=rows,
        columns=columns,
        extra={name: _column_to_text(columns[name]) for name in extra},
        place=make_line_places(extents),
    )


def _column_to_text(column: pa.Array) -> pa.Array:
    if pt.is_large_string(column.type):
        return column
    if pt.is_int64(column.type):
        return column.cast(pa.large_string())
    return pa.array([_value_to_text(value) for value in column.to_pylist()], pa.large_string())


def _value_to_text(value: Any) -> str | None:
    """Write a value of any type as text: lists and objects as JSON."""
    if isinstance(value, str):
        return value if is_unicode(value) else None
    if isinstance(value, (list, dict)):
        return json.dumps(value, default=str)
    return None if is_missing(value) else spell(value)


def _parse_block(block: LineBlock, options: Options) -> _JsonRecords:
    """Read every line that is not blank, in Python."""
    records = _JsonRecords()
    for number, line in enumerate(block.data.split(b"\n"), block.line):
        if not line.strip():
            continue
        record, fault = _parse_line(line, options.encoding)
        if fault:
            records.faults[len(records.lines)] = fault
        records.lines.append(number)
        records.objects.append(record)
    return records


def _parse_line(line: bytes, encoding: str) -> tuple[dict[str, Any], str | None]:
    try:
        record = _DECODER.decode(line.decode())
    except UnicodeDecodeError as error:
        return {}, f"not valid {encoding}: at byte {error.start} of the line"
    except (ValueError, RecursionError) as error:
        return {}, f"not valid JSON: {error}"
    if not isinstance(record, dict):
        return {}, "not a JSON object: each line must be one object, as {...}"
    return record, None


def _integer(digits: str) -> int | JsonLiteral:
    if digits == "-0" or len(digits) <= _PLAIN_DIGITS:
        return int(digits)
    return JsonLiteral(digits)


_DECODER = json.JSONDecoder(parse_int=_integer, parse_constant=lambda name: None if name == "NaN" else float(name))


def _records_to_chunk(records: _JsonRecords, wanted: Sequence[str], extra: Sequence[str]) -> Chunk:
    columns = {name: [record.get(name) for record in records.objects] for name in wanted}
    return Chunk(
        rows=len(records.objects),
        columns=dict(columns),
        extra={name: pa.array(map(_value_to_text, columns[name]), pa.large_string()) for name in extra},
        place=make_line_places(records.extents),
        faults=records.faults,
    )


def _find_types(records: _JsonRecords, wanted: Sequence[str], options: Options) -> ColumnTypes:
    """Find the type of each column, if the records agree on one that Arrow keeps as written."""
    types = dict.fromkeys(wanted, pa.large_string())
    for name in wanted:
        found = {_find_type(value) for record in records.objects if (value := record.get(name)) is not None}
        if len(found) == 1 and (name not in options.text or found == {pa.list_(pa.string())}):
            types[name] = found.pop()
    return types


def _find_type(value: Any) -> pa.DataType:
    if isinstance(value, list):
        plain = bool(value) and all(isinstance(item, int) for item in value)
        return pa.list_(_find_type(value[0]) if plain else pa.string())
    if isinstance(value, bool):
        return pa.bool_()
    # Arrow refuses other numbers in either type, so that Python reads them: 1.0 and 1.00 are one label
    return pa.int64() if isinstance(value, int) else pa.large_string()

"""From the chunk of a reader to a batch of documents: split, check, and count what is bad."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from termsieve.documents.chunks import BATCH_ROWS, FILE, LINE, ROW, Chunk, Faults, Spans
from termsieve.documents.label_spelling import spell
from termsieve.documents.labels import make_empty_labels, make_label_lists
from termsieve.documents.string_columns import TOKENS, stringify_column, to_text_column
from termsieve.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from termsieve.documents.options import Options

MAX_EXAMPLES = 5
SHOWN_RANGES = 5
MAX_SHOWN_VALUES = 20
PLACE = "place"
PLACE_TYPE = pa.struct([(FILE, pa.large_string()), (LINE, pa.int64()), (ROW, pa.int64())])


class Range(NamedTuple):
    """Lines or rows of a source, from the first to the last; or a file."""

    source: str
    unit: str
    first: Any
    last: Any

    @property
    def place(self) -> str:
        """The range for people: "line 5", or "lines 5-9,998"."""
        if self.unit == FILE:
            return str(self.first)
        return (
            f"{self.unit} {self.first:,}" if self.first == self.last else f"{self.unit}s {self.first:,}-{self.last:,}"
        )

    def __str__(self) -> str:
        return f"{self.source}, {self.place}"


class Ranges:
    """Ranges, neighbours joined: how many there are, and the first few."""

    def __init__(self) -> None:
        self.count = 0
        self.first: list[Range] = []
        self._last: Range | None = None

    def add(self, new: Range) -> None:
        """Add a range that comes after those before."""
        old = self._last
        if old is not None and old[:2] == new[:2] and new.unit != FILE and old.last + 1 == new.first:
            new = old._replace(last=new.last)
            if self.count == len(self.first):
                self.first[-1] = new
        else:
            self.count += 1
            if len(self.first) < SHOWN_RANGES:
                self.first.append(new)
        self._last = new

    def __str__(self) -> str:
        """Name the first few, and how many more; the source only where there are several."""
        one_source = len({one.source for one in self.first}) == 1
        shown = "; ".join(one.place if one_source else str(one) for one in self.first)
        more = self.count - len(self.first)
        return shown + (f"; {more:,} more" if more else "")


class NothingFoundError(InputError):
    """Rows of which not one is a document."""


class ReadReport:
    """What one pass over the documents kept, what it skipped and why, and what it noticed."""

    def __init__(self) -> None:
        self.documents = 0
        self.skipped = 0  # rows, as well as in what follows
        self.skipped_lines = 0
        self.reasons: Counter[str] = Counter()
        self.examples: list[str] = []
        self.lost = Ranges()
        self.joined = Ranges()  # of these, the rows of several lines
        self.split_values: dict[str | None, None] = {}
        self.spanning = 0
        self.first_span = ""
        self.merged: dict[str, Ranges] = {}
        self.kind: pa.DataType | None = None

    def check_kind(self, source: str, kind: pa.DataType) -> None:
        """Refuse texts and lists of tokens side by side."""
        self.kind = self.kind or kind
        if kind != self.kind:
            here, before = ("tokens", "text") if kind == TOKENS else ("text", "tokens")
            raise InputError(f"{source}: has {here} where the documents before have {before}. Read them apart.")

    def skip(self, source: str, chunk: Chunk, faults: Faults) -> None:
        """Count the rows with faults and the lines they take, and keep the first few as examples."""
        rows = sorted(faults)
        self.skipped += len(rows)
        for row in rows:
            self.reasons[faults[row].partition(":")[0]] += 1
            if len(self.examples) < MAX_EXAMPLES:
                self.examples.append(f"{source}, {chunk.place(row)}: {faults[row]}")
        previous = 0
        for first, last in zip(*chunk.place.find(np.array(rows)), strict=True):
            self.lost.add(Range(source, chunk.place.unit, first, last))
            if chunk.place.unit == LINE:  # a long line may be several rows
                self.skipped_lines += int(last - max(first, previous + 1) + 1)
                previous = last
                if last > first:
                    self.joined.add(Range(source, LINE, first, last))

    def notice(self, source: str, spans: Spans) -> None:
        """Count the rows that take several lines, and name those that look merged."""
        if not self.spanning:
            self.first_span = str(Range(source, LINE, int(spans.first[0]), int(spans.last[0])))
        self.spanning += len(spans.first)
        for first, last in zip(spans.first[spans.merged].tolist(), spans.last[spans.merged].tolist(), strict=True):
            self.merged.setdefault(source, Ranges()).add(Range(source, LINE, first, last))

    def skipped_note(self) -> str:
        """Say what was skipped: how many rows, how many lines, which, and why the first; nothing if nothing was."""
        n, lines = self.skipped, self.skipped_lines
        if not n:
            return ""
        many = f", {lines:,} line{'s' * (lines != 1)}" if lines > 1 else ""
        listed = ", ".join(f"{reason} {count:,}" for reason, count in self.reasons.most_common())
        joined = f". A quote joins {self.joined}; if it is text, quotes=False reads each line as a row"
        return (
            f"skipped {n:,} bad row{'s' * (n != 1)}{many} ({self.lost}) of {n + self.documents:,}: {listed}; "
            f"the first: {self.examples[0]}{joined * bool(self.joined.count)}"
        )

    def warnings(self) -> list[str]:
        """Return sentences about what is lost, or most likely wrong."""
        return [self.skipped_note()] * bool(self.skipped) + [
            f"{source}: {ranges} look like several rows merged by a quote; quotes=False reads them apart"
            for source, ranges in self.merged.items()
        ]

    def notes(self) -> list[str]:
        """Return sentences about what may be as it should be."""
        n = self.spanning
        if not n:
            return []
        have = "row has a quoted cell" if n == 1 else "rows have quoted cells"
        return [f"{n:,} {have} with line ends inside; the first: {self.first_span}"]

    def check(self, options: Options) -> None:
        """Refuse, after a whole pass, to have found nothing where something was looked for."""
        if self.documents:
            return
        if self.skipped:
            raise NothingFoundError(f"All {self.skipped:,} rows are bad. The first: {self.examples[0]}.")
        if options.split is not None and self.split_values:
            column, value = options.split
            known = [name for name in self.split_values if name is not None]
            listed = ", ".join("null" if name is None else repr(name) for name in self.split_values)
            more = ", ..." if len(self.split_values) >= MAX_SHOWN_VALUES else ""
            raise InputError(
                f"No row has {value!r} in column {column!r}. {did_you_mean(str(value), known)}"
                f"Values there are: {listed}{more}."
            )


def make_batches(
    source: str, chunk: Chunk, options: Options, report: ReadReport, *, places: bool = False
) -> Iterator[pa.RecordBatch]:
    """Yield the documents of a chunk, in batches that are not too long."""
    if chunk.spans is not None:
        report.notice(source, chunk.spans)
    if options.split is not None:
        chunk = _keep_split(source, chunk, options.split, report)
    faults = dict(chunk.faults)
    text = _join_text(source, chunk, options, faults)
    labels = _read_labels(source, chunk, options, faults)
    columns = {"text": text, "labels": labels, **chunk.extra}
    if places:
        columns[PLACE] = _places(source, chunk)
    batch = pa.record_batch(list(columns.values()), names=list(columns))
    if faults:
        batch = _drop_bad_rows(batch, source, chunk, faults, options, report)
    if batch.num_rows:
        report.check_kind(source, text.type)
    report.documents += batch.num_rows
    for start in range(0, batch.num_rows, BATCH_ROWS):
        yield batch.slice(start, BATCH_ROWS)


def _places(source: str, chunk: Chunk) -> pa.Array:
    """Return where each row is, as a column of `PLACE_TYPE`."""
    unit, rows = chunk.place.unit, chunk.rows
    first = chunk.place.find(np.arange(rows))[0]
    names = [str(Path(source) / name) for name in first] if unit == FILE else [source] * rows
    parts = [
        pa.array([readable(name) for name in names], pa.large_string()),
        *(pa.array(first, pa.int64()) if unit == number else pa.nulls(rows, pa.int64()) for number in (LINE, ROW)),
    ]
    return pa.StructArray.from_arrays(parts, fields=list(PLACE_TYPE))


def readable(name: str) -> str:
    """Return the name of a file, which may be any bytes, as text that can be written."""
    return os.fsencode(name).decode("utf-8", "replace")


def _keep_split(source: str, chunk: Chunk, split: tuple[str, Any], report: ReadReport) -> Chunk:
    """Keep only the rows of the split, and those too broken to say where they belong."""
    column, value = split
    faults = dict(chunk.faults)
    values = chunk.columns[column]
    if isinstance(values, pa.Array) and pt.is_nested(values.type):  # as Python reads JSON, so that blocks are alike
        values = values.to_pylist()
    found = stringify_column(values, f"{source}: column {column!r}", faults)
    if not report.documents and len(report.split_values) < MAX_SHOWN_VALUES:
        sound = found.filter(pa.array([row not in faults for row in range(chunk.rows)])) if faults else found
        report.split_values |= dict.fromkeys(sound.unique().to_pylist()[:MAX_SHOWN_VALUES])
    wanted = _list_split_strings(value)
    matches = pc.is_in(found, pa.array(wanted, pa.large_string())).to_numpy(zero_copy_only=False)
    matches = matches.copy()
    matches[list(faults)] = True
    kept = np.flatnonzero(matches)
    chunk = replace(chunk, faults=faults)
    return chunk if len(kept) == chunk.rows else chunk.take(kept)


def _list_split_strings(value: Any) -> list[str | None]:
    if value is None:
        return [None, ""]  # CSV has no other null
    try:
        spelled = spell(value)
    except ValueError:
        spelled = str(value)
    # a string in the file, as in CSV, may be true where a truth value is True
    return [spelled, spelled.lower()] if isinstance(value, (bool, np.bool_)) else [spelled]


def _join_text(source: str, chunk: Chunk, options: Options, faults: Faults) -> pa.Array:
    parts = [to_text_column(chunk.columns[name], f"{source}: column {name!r}", faults) for name in options.text]
    if len(parts) > 1 and any(part.type == TOKENS for part in parts):
        raise InputError(
            f"{source}: lists of tokens cannot be joined with other columns. Name one column for the text."
        )
    if chunk.empty_is_missing:
        parts = [_without_empty(part) for part in parts]
    if len(parts) == 1:
        text = parts[0]
    else:
        filled = [pc.fill_null(part, "") for part in parts]
        joined = pc.binary_join_element_wise(*filled, pa.scalar("\n", pa.large_string()))
        present = pc.is_valid(pc.coalesce(*parts))
        text = pc.if_else(present, joined, pa.scalar(None, pa.large_string()))
    if text.null_count:
        names = " and ".join(repr(name) for name in options.text)
        for row in np.flatnonzero(text.is_null().to_numpy(zero_copy_only=False)).tolist():
            faults.setdefault(row, f"missing text: nothing in column {names}")
    return text


def _without_empty(text: pa.Array) -> pa.Array:
    """Return the texts with nulls in place of empty ones; no copy where there are none."""
    empty = pc.equal(text, "")
    return pc.if_else(empty, pa.scalar(None, pa.large_string()), text) if pc.any(empty).as_py() else text


def _read_labels(source: str, chunk: Chunk, options: Options, faults: Faults) -> pa.Array:
    if options.label is None:
        return make_empty_labels(chunk.rows)
    title = f"{source}: column {options.label!r}"
    return make_label_lists(chunk.columns[options.label], options.label_sep, title, faults)


class UndecodableError(InputError):
    """Bytes of a row that are not valid in the encoding: it should be read in another, and not be skipped."""


def _refuse_undecodable(source: str, chunk: Chunk, faults: Faults, options: Options) -> None:
    kind = f"not valid {options.encoding}"
    row = next((row for row in sorted(faults) if faults[row].partition(":")[0] == kind), None)
    if row is not None and (not options.strict or row == min(faults)):
        raise UndecodableError(f"{source}, {chunk.place(row)}: {faults[row]}.")


def _drop_bad_rows(
    batch: pa.RecordBatch, source: str, chunk: Chunk, faults: Faults, options: Options, report: ReadReport
) -> pa.RecordBatch:
    """Return the batch without its bad rows, or an error about the first."""
    if options.encoding_errors == "error" and chunk.place.unit != ROW:
        _refuse_undecodable(source, chunk, faults, options)
    first = min(faults)
    if options.strict and first != chunk.fatal:
        raise InputError(f"{source}, {chunk.place(first)}: {faults[first]}. (strict=False skips such rows.)")
    if chunk.fatal is not None:
        raise InputError(
            f"{source}, {chunk.place(chunk.fatal)}: {faults[chunk.fatal]}. Close it; or, where quotes are text, read "
            "with quotes=False. (Such a row is never skipped: nobody can tell what it takes in.)"
        )
    report.skip(source, chunk, faults)
    sound = np.ones(chunk.rows, bool)
    sound[list(faults)] = False
    return batch.filter(pa.array(sound))

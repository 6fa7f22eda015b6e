"""From the chunk of a reader to a batch of documents: split, check, and count what is bad."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from termsieve.documents.chunks import BATCH_ROWS, Chunk, Faults
from termsieve.documents.labels import label_lists, no_labels
from termsieve.documents.spelling import spell
from termsieve.documents.strings import spellings, texts
from termsieve.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from termsieve.documents.options import Options

SHOWN_EXAMPLES = 5
SHOWN_VALUES = 20


class Tally:
    """What one pass over the documents kept, and what it skipped and why."""

    def __init__(self) -> None:
        self.documents = 0
        self.skipped = 0
        self.reasons: Counter[str] = Counter()
        self.examples: list[str] = []
        self.split_values: dict[str | None, None] = {}

    def skip(self, source: str, chunk: Chunk, faults: Faults) -> None:
        """Count the rows with faults, and keep the first few as examples."""
        self.skipped += len(faults)
        for row in sorted(faults):
            self.reasons[faults[row].partition(":")[0]] += 1
            if len(self.examples) < SHOWN_EXAMPLES:
                self.examples.append(f"{source}, {chunk.place(row)}: {faults[row]}")

    def check(self, options: Options) -> None:
        """After a whole pass: refuse to have found nothing where something was looked for."""
        if self.documents:
            return
        if self.skipped:
            raise InputError(f"All {self.skipped} rows are bad. The first: {self.examples[0]}.")
        if options.split is not None and self.split_values:
            column, value = options.split
            known = [name for name in self.split_values if name is not None]
            listed = ", ".join("null" if name is None else repr(name) for name in self.split_values)
            more = ", ..." if len(self.split_values) >= SHOWN_VALUES else ""
            raise InputError(
                f"No row has {value!r} in column {column!r}. {did_you_mean(str(value), known)}"
                f"Values there are: {listed}{more}."
            )


def documents_of(source: str, chunk: Chunk, options: Options, tally: Tally) -> Iterator[pa.RecordBatch]:
    """Yield the documents of a chunk, in batches that are not too long."""
    if options.split is not None:
        chunk = _split(source, chunk, options.split, tally)
    faults = dict(chunk.faults)
    text = _text(source, chunk, options, faults)
    labels = _labels(source, chunk, options, faults)
    batch = pa.record_batch([text, labels, *chunk.extra.values()], names=["text", "labels", *chunk.extra])
    if faults:
        batch = _without(batch, source, chunk, faults, options, tally)
    tally.documents += batch.num_rows
    for start in range(0, batch.num_rows, BATCH_ROWS):
        yield batch.slice(start, BATCH_ROWS)


def _split(source: str, chunk: Chunk, split: tuple[str, Any], tally: Tally) -> Chunk:
    """Only the rows of the split, and those too broken to say where they belong."""
    column, value = split
    faults = dict(chunk.faults)
    values = chunk.columns[column]
    if isinstance(values, pa.Array) and pt.is_nested(values.type):  # as Python reads JSON, so that blocks are alike
        values = values.to_pylist()
    found = spellings(values, f"{source}: column {column!r}", faults)
    if not tally.documents and len(tally.split_values) < SHOWN_VALUES:
        sound = found.filter(pa.array([row not in faults for row in range(chunk.rows)])) if faults else found
        tally.split_values |= dict.fromkeys(sound.unique().to_pylist()[:SHOWN_VALUES])
    wanted = _split_spellings(value)
    matches = pc.is_in(found, pa.array(wanted, pa.large_string())).to_numpy(zero_copy_only=False)
    matches = matches.copy()
    matches[list(faults)] = True
    kept = np.flatnonzero(matches)
    chunk = replace(chunk, faults=faults)
    return chunk if len(kept) == chunk.rows else chunk.only(kept)


def _split_spellings(value: Any) -> list[str | None]:
    if value is None:
        return [None, ""]  # CSV has no other null
    try:
        spelled = spell(value)
    except ValueError:
        spelled = str(value)
    # a string in the file, as in CSV, may be true where a truth value is True
    return [spelled, spelled.lower()] if isinstance(value, (bool, np.bool_)) else [spelled]


def _text(source: str, chunk: Chunk, options: Options, faults: Faults) -> pa.Array:
    parts = [texts(chunk.columns[name], f"{source}: column {name!r}", faults) for name in options.text]
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


def _labels(source: str, chunk: Chunk, options: Options, faults: Faults) -> pa.Array:
    if options.label is None:
        return no_labels(chunk.rows)
    title = f"{source}: column {options.label!r}"
    return label_lists(chunk.columns[options.label], options.label_sep, title, faults)


def _without(
    batch: pa.RecordBatch, source: str, chunk: Chunk, faults: Faults, options: Options, tally: Tally
) -> pa.RecordBatch:
    """Return the batch without its bad rows, or an error about the first."""
    if options.on_bad == "error":
        first = min(faults)
        raise InputError(f"{source}, {chunk.place(first)}: {faults[first]}. (on_bad='skip' skips such rows.)")
    tally.skip(source, chunk, faults)
    sound = np.ones(chunk.rows, bool)
    sound[list(faults)] = False
    return batch.filter(pa.array(sound))

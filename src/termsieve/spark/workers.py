"""What runs on executors: functions from Arrow batches to Arrow batches, for ``mapInArrow`` and ``applyInArrow``.

They are sent as they are pickled, by name: executors need this package, and nothing else of the driver.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark import TaskContext

from termsieve.counts.counts import Counts, Population
from termsieve.counts.counts_reader import read_batch
from termsieve.counts.parts import Part, PartPlan, PartReport, combine_parts, prune_rare
from termsieve.counts.storage import EMPTY_BLOCK, join_blocks, make_batch
from termsieve.ranking.ranking import ScoreLike, score

# A row for each fold of a part, and one with the report
PARTS = "part int, fold string, counts binary, report string"
_PARTS = pa.schema([("part", pa.int32()), ("fold", pa.string()), ("counts", pa.binary()), ("report", pa.string())])


@dataclass(frozen=True)
class PartitionCounter:
    """The counting of a partition, on an executor."""

    plan: PartPlan

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the part that these rows are."""
        number = _partition_number()
        yield pack_part(self.plan.count_batches(batches, f"partition {number} of the DataFrame"), number)


def add_group(key: tuple[pa.Scalar, ...], table: pa.Table) -> pa.Table:
    """Return the sum of the parts of a group, as one part with the number of the group."""
    return pa.Table.from_batches([pack_part(unpack_parts(table), key[0].as_py())])


def pack_part(part: Part, number: int) -> pa.RecordBatch:
    """Return a part as rows of `PARTS`."""
    rows: list[Mapping[str, Any]] = [{"part": number, "report": part.report.to_json()}]
    for fold, counts in part.folds.items():
        rows.append({"part": number, "fold": json.dumps(fold), "counts": counts.to_bytes()})
    return pa.RecordBatch.from_pylist(rows, _PARTS)


def unpack_parts(table: pa.Table) -> Part:
    """Return the sum of the parts in a table."""
    parts = []
    for row in table.to_pylist():
        if row["counts"] is None:
            parts.append(Part({}, PartReport.from_json(row["report"])))
        else:
            parts.append(Part({json.loads(row["fold"]): _unpack_counts(row)}, PartReport()))
    return combine_parts(parts)


# Ranges of terms

HEADS = "part int, counts binary, report string, n_terms long, sample array<string>"
_HEADS = pa.schema(
    [("part", pa.int32()), ("counts", pa.binary()), ("report", pa.string()), ("n_terms", pa.int64()),
     ("sample", pa.list_(pa.string()))]
)  # fmt: skip
RANGES = "range int, counts binary"
_RANGES = pa.schema([("range", pa.int32()), ("counts", pa.binary())])
TERMS = (
    "term string, df long, tf long, tf2 long, class array<int>, class_df array<long>, class_tf array<long>, "
    "class_tf2 array<long>"
)
_NUMBERS = pa.list_(pa.int64())
_TERMS = pa.schema(
    [("term", pa.string()), ("df", pa.int64()), ("tf", pa.int64()), ("tf2", pa.int64()),
     ("class", pa.list_(pa.int32())), ("class_df", _NUMBERS), ("class_tf", _NUMBERS), ("class_tf2", _NUMBERS)]
)  # fmt: skip
SUMS = "n_terms long, n_occurrences long, class_tf array<long>"
_SUMS = pa.schema([("n_terms", pa.int64()), ("n_occurrences", pa.int64()), ("class_tf", _NUMBERS)])
_SAMPLE = 1000  # terms of each part that say where ranges are cut
_ROWS = 10_000  # of a batch


def read_heads(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield of each part what is small: counts of no terms, the report, some terms in even distances."""
    for batch in batches:
        for row in batch.to_pylist():
            head: dict[str, Any] = {"part": row["part"], "report": row["report"]}
            if row["counts"] is not None:
                counts = _unpack_counts(row)
                places = np.unique(np.linspace(0, counts.n_terms - 1, min(counts.n_terms, _SAMPLE)).astype(np.int64))
                head["counts"], head["n_terms"] = counts.take(places[:0]).to_bytes(), counts.n_terms
                head["sample"] = counts.term_array.take(pa.array(places)).to_pylist()
            yield pa.RecordBatch.from_pylist([head], _HEADS)


@dataclass(frozen=True)
class PartCutter:
    """The cutting of parts into ranges of terms; each cut is the first term of its range."""

    cuts: Sequence[str]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the ranges of each part; a range without terms, too: it has the numbers of documents."""
        for batch in batches:
            for row in batch.to_pylist():
                if row["counts"] is not None:
                    yield from self._cut(_unpack_counts(row))

    def _cut(self, counts: Counts) -> Iterator[pa.RecordBatch]:
        places = [0, *np.searchsorted(counts.terms, np.array(self.cuts, dtype=object)), counts.n_terms]
        for number, (first, end) in enumerate(itertools.pairwise(places)):
            piece = counts.take(np.arange(first, end))
            yield pa.RecordBatch.from_pylist([{"range": number, "counts": piece.to_bytes()}], _RANGES)


def add_range(table: pa.Table, min_df: float) -> pa.Table:
    """Add up a range of terms of all parts, prune it, and return it as rows of `TERMS`."""
    parts = [Part({None: _unpack_counts(row)}, PartReport()) for row in table.to_pylist()]
    counts = prune_rare(combine_parts(parts).folds[None], min_df)
    return pa.Table.from_batches([make_batch(counts.block)]).cast(_TERMS)


@dataclass(frozen=True)
class TermSums:
    """The sums over all terms that scores need."""

    n_classes: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the sums over the terms of a partition."""
        n_terms, n_occurrences, class_tf = 0, 0, np.zeros(self.n_classes, np.int64)
        for batch in batches:
            block = _read_terms(batch)
            n_terms += len(block.terms)
            n_occurrences += int(block.totals[1].sum())
            block.cells.add_occurrences_to(class_tf)
        sums = {"n_terms": n_terms, "n_occurrences": n_occurrences, "class_tf": class_tf.tolist()}
        yield pa.RecordBatch.from_pylist([sums], _SUMS)


@dataclass(frozen=True)
class BestTerms:
    """The best terms of a partition by a score; `head` has the facts about the documents."""

    head: bytes
    population: Population
    score: ScoreLike
    options: Mapping[str, Any]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the terms with their counts, as rows of `TERMS`."""
        counts = self.gather(batches)
        if counts.n_terms:
            best = {row.term for row in score(counts, self.score).top(**self.options)}
            places = np.flatnonzero(np.isin(counts.terms, np.array(sorted(best), dtype=object)))
            kept = make_batch(counts.take(places).block)
            yield from pa.Table.from_batches([kept]).cast(_TERMS).to_batches(_ROWS)

    def gather(self, batches: Iterator[pa.RecordBatch]) -> Counts:
        """Return the counts of the terms of some batches, sorted."""
        blocks = [_read_terms(batch) for batch in batches if batch.num_rows]
        head = Counts.from_bytes(self.head)
        counts = Counts.of_block(head.facts, join_blocks(blocks) if blocks else head.block, self.population)
        counts = counts.take(np.argsort(counts.terms, kind="stable"))
        counts.population = self.population
        return counts


def _read_terms(batch: pa.RecordBatch) -> Any:
    """Return the block of rows of `TERMS`."""
    fields = make_batch(EMPTY_BLOCK).schema
    rows = pa.Table.from_batches([batch]).select(fields.names).cast(fields).combine_chunks()
    return read_batch(rows.to_batches()[0])


def _unpack_counts(row: Mapping[str, Any]) -> Counts:
    return Counts.from_bytes(row["counts"], f"counts of partition {row.get('part', '?')}")


def _partition_number() -> int:
    context = TaskContext.get()
    return 0 if context is None else context.partitionId()

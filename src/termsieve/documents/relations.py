"""Tables that another engine computes: DuckDB relations, lazy frames of polars, Arrow datasets; batch by batch.

Only the wanted columns are asked for, and asked for anew in each pass. Batches come over Arrow's interface.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from typing import Any, TypeAlias

import pyarrow as pa

from termsieve.documents.arrowfiles import split_batch
from termsieve.documents.chunks import BATCH_ROWS, Chunk, Source
from termsieve.documents.options import Options, check_columns
from termsieve.errors import InputError

BatchReader: TypeAlias = Callable[[list[str]], Iterator[pa.RecordBatch]]


class RelationSource(Source):
    """Named columns that come in batches, as often as they are asked for."""

    def __init__(self, title: str, names: Sequence[str], read: BatchReader) -> None:
        self.name = title
        self._names, self._read = list(names), read

    def column_names(self, options: Options) -> list[str]:  # noqa: ARG002
        """Return the names of the columns."""
        return self._names

    def chunks(self, options: Options, extra: Sequence[str]) -> Iterator[Chunk]:
        """Yield rows in chunks of moderate size."""
        wanted = options.columns(extra)
        check_columns(self.name, wanted, self._names)
        done = 0
        batches = self._batches(wanted)
        with closing(batches):
            for batch in batches:
                yield from split_batch(self.name, batch, options, extra, done)
                done += batch.num_rows
        if not done:
            raise InputError(f"{self.name} is empty: it has no rows.")

    def _batches(self, wanted: list[str]) -> Generator[pa.RecordBatch, None, None]:
        """Yield the batches; what the engine says when it fails, in one line."""
        try:
            yield from self._read(wanted)
        except (InputError, MemoryError):
            raise
        except Exception as error:  # engines have errors of many kinds
            raise InputError(f"{self.name} cannot be read: {str(error).strip().partition(chr(10))[0]}") from error


def as_relation(source: Any) -> RelationSource | None:
    """Return the source for an object of DuckDB, polars or Arrow that computes a table; None for any other."""
    kind, owner = type(source).__name__, type(source).__module__.partition(".")[0]
    if owner in ("duckdb", "_duckdb") and kind == "DuckDBPyRelation":
        return RelationSource("the DuckDB relation", source.columns, lambda names: _duckdb_batches(source, names))
    if owner == "polars" and kind == "LazyFrame":
        names = source.collect_schema().names()
        return RelationSource("the LazyFrame", names, lambda names: _polars_batches(source, names))
    if owner == "pyarrow" and hasattr(source, "scanner") and hasattr(source, "schema"):
        return RelationSource(f"the {kind}", source.schema.names, lambda names: _dataset_batches(source, names))
    return None


def _duckdb_batches(relation: Any, names: list[str]) -> Iterator[pa.RecordBatch]:
    quoted = ", ".join('"{}"'.format(name.replace('"', '""')) for name in names)
    chosen = relation.project(quoted)
    read = getattr(chosen, "to_arrow_reader", None) or chosen.fetch_arrow_reader  # the older name
    with closing(read(BATCH_ROWS)) as reader:  # while it is open, the connection does nothing else
        yield from reader


def _polars_batches(frame: Any, names: list[str]) -> Iterator[pa.RecordBatch]:
    chosen = frame.select(names)
    frames = chosen.collect_batches() if hasattr(chosen, "collect_batches") else [chosen.collect()]
    for one in frames:
        yield from one.to_arrow().to_batches(max_chunksize=BATCH_ROWS)


def _dataset_batches(dataset: Any, names: list[str]) -> Iterator[pa.RecordBatch]:
    yield from dataset.scanner(columns=names, batch_size=BATCH_ROWS, use_threads=False).to_batches()

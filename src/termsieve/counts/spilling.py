"""Counting within a bound of memory: what threads have counted is sorted and written to files, and the files are added.

Such a file, a run, is the counts file of the documents that one thread has counted since the last time. So the sum of
the runs is the sum of counts, which does not depend on how often, or where, documents were cut.
"""

from __future__ import annotations

import queue
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from termsieve._types import Int64Array
from termsieve.counts import storage
from termsieve.counts.cells import TermBlock, TermCells
from termsieve.counts.counting import (
    ColumnNumbering,
    TextChunk,
    as_documents,
    fit_analyzer,
    resolve_threads,
    split_texts,
    track_progress,
)
from termsieve.counts.counts_file import CountsFile
from termsieve.counts.merging import MOST_AT_ONCE, add_files
from termsieve.counts.storage import StoredCounts
from termsieve.counts.tally import Tally, load_kernels
from termsieve.documents import Documents
from termsieve.errors import OptionError, OutputError
from termsieve.files import check_target, write_atomically
from termsieve.threads import work_on_each, work_on_stream
from termsieve.tokens.analyzer import Analyzer
from termsieve.tokens.vocabulary import check_sizes

RESERVED = 400 << 20  # bytes: Python, its libraries, compiled loops, and what is being read
LEAST_FOR_TABLES = 100 << 20
_UNITS = {"": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30}
_ONE_FOLD = np.zeros(1, np.int64)


def parse_memory(given: str | int) -> int:
    """Return a number of bytes, from a number or a string such as "2GB"; refuses what is too little.

    >>> parse_memory("2GB"), parse_memory("1.5 GiB"), parse_memory(10**9)
    (2000000000, 1610612736, 1000000000)
    """
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([a-zA-Z]*)\s*", str(given))
    if match is None or match[2].lower() not in _UNITS or isinstance(given, bool):
        raise OptionError(f'memory must be a number of bytes, or such as "2GB" or "500MB", not {given!r}.')
    size = int(float(match[1]) * _UNITS[match[2].lower()])
    if size < RESERVED + LEAST_FOR_TABLES:
        raise OptionError(
            f"memory={given!r} is too little: Python and its libraries take {RESERVED >> 20} MiB of it. Give at least "
            f'"{-(-(RESERVED + LEAST_FOR_TABLES) // 10**6)}MB".'
        )
    return size


class Bound(NamedTuple):
    """How much memory counting may take, and the folder for what does not fit (default: for temporary files)."""

    memory: int
    folder: Path | None = None


@contextmanager
def count_within(
    documents: Documents, given: Analyzer | None, threads: int, bound: Bound, *, progress: bool
) -> Iterator[_Sum]:
    """Count documents; gives facts and blocks of terms, and removes the runs afterwards."""
    with _open_folder(bound.folder) as folder:
        counting = _BoundedCount(folder, threads, bound)
        counting.count(track_progress(documents, [], shown=progress), given)
        with _open_runs(folder, counting.runs, threads) as found:
            yield found


def count_to_file(
    documents: Documents | Sequence[str],
    path: str | Path,
    labels: Sequence[Any] | None = None,
    *,
    memory: str | int,
    analyzer: Analyzer | None = None,
    threads: int | None = None,
    spill_folder: str | Path | None = None,
    progress: bool = False,
) -> CountsFile:
    """Count terms in classes into a file, within a bound of memory, however many terms there are.

    The bytes are those of ``count(...).save(path)``.

    Parameters
    ----------
    documents, labels, analyzer, threads, progress
        As for `termsieve.count`.
    path
        The file to write; it is there whole, or not at all.
    memory
        What this process may take: a number of bytes, or such as "2GB".
    spill_folder
        Where parts are kept that do not fit; beside the file, without this.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> file = count_to_file(["cheap pills", "lunch at noon"], folder + "/mail.counts", ["spam", "ham"], memory="2GB")
    >>> file.n_terms, list(file.classes)
    (5, ['ham', 'spam'])
    """
    path = check_target(path)
    bound = Bound(parse_memory(memory), Path(path.parent if spill_folder is None else spill_folder))
    documents = as_documents(documents, labels)
    with count_within(documents, analyzer, resolve_threads(threads), bound, progress=progress) as found:
        storage.save(path, *found)
    return CountsFile(path)


class _Sum(NamedTuple):
    facts: dict[str, Any]
    blocks: Iterator[TermBlock]


class _BoundedCount:
    """Tallies of threads, and the runs to which they were written."""

    def __init__(self, folder: Path, threads: int, bound: Bound) -> None:
        self.folder, self.threads, self.bound = folder, threads, bound
        self.runs: list[Path] = []
        self._columns = ColumnNumbering()
        self._parts: list[_Part] = []

    def count(self, batches: Iterator[pa.RecordBatch], given: Analyzer | None) -> None:
        self.analyzer, batches = fit_analyzer(batches, given)
        if self.analyzer.runs is None:
            self.threads = 1  # plain Python holds the interpreter: more threads would only wait
        load_kernels(self.analyzer)
        chunks = self._split(batches)
        first = next(chunks, None)
        while first is not None or not self.runs:
            first = self._count_run(first, chunks)

    def _split(self, batches: Iterator[pa.RecordBatch]) -> Iterator[list[TextChunk]]:
        """Yield the documents of one batch after the other."""
        n_docs = 0
        for batch in batches:
            check_sizes(batch.column("text"), n_docs)
            n_docs += batch.num_rows
            ends, labels, rest = self._columns.columns_of(np.zeros(batch.num_rows, np.int32), batch.column("labels"))
            yield list(split_texts(batch.column("text"), ends, labels, rest))

    def _count_run(self, first: list[TextChunk] | None, chunks: Iterator[list[TextChunk]]) -> list[TextChunk] | None:
        """Count until the memory is used up or the documents are; returns the documents that come next."""
        self._parts = [_Part(self.analyzer) for _ in range(self.threads)]
        idle: queue.SimpleQueue[_Part] = queue.SimpleQueue()
        for part in self._parts:
            idle.put(part)
        upcoming: list[list[TextChunk] | None] = [first]

        def take() -> Iterator[TextChunk]:
            while upcoming[0] is not None:
                yield from upcoming[0]
                upcoming[0] = next(chunks, None)
                if self._is_full():
                    return

        def work(chunk: TextChunk) -> None:
            part = idle.get()
            try:
                part.add(chunk)
            finally:  # or the others would wait for it for ever
                idle.put(part)

        work_on_stream(work, take(), self.threads)
        self._write_runs()
        return upcoming[0]

    def _is_full(self) -> bool:
        tables = max(self.bound.memory - RESERVED, LEAST_FOR_TABLES)
        return sum(part.estimate_peak() for part in self._parts) > tables

    def _write_runs(self) -> None:
        classes, _, _, rows = self._columns.sort_columns(_ONE_FOLD)
        paths = [self.folder / f"{len(self.runs) + i:06}.run" for i in range(len(self._parts))]
        parts, self._parts = self._parts, []

        def write(number: int) -> None:
            part = parts[number]
            parts[number] = _Part(self.analyzer)  # nothing but this function may hold it
            write_run(paths[number], part.facts(classes, rows, self.analyzer), part.write_out(classes, rows))

        work_on_each(write, range(len(paths)), self.threads)
        self.runs += paths


class _Part:
    """What one thread has counted: a tally, and its documents."""

    def __init__(self, analyzer: Analyzer) -> None:
        self._tally = Tally(analyzer)
        self._sizes: Int64Array = np.zeros(0, np.int64)
        self._n_docs = self._n_multilabel = 0

    def add(self, chunk: TextChunk) -> None:
        self._tally.add(*chunk)
        sizes = np.bincount(chunk.labels, minlength=len(self._sizes))
        sizes[: len(self._sizes)] += self._sizes
        self._sizes = sizes
        self._n_docs += len(chunk.rest)
        self._n_multilabel += int((np.diff(chunk.label_ends, prepend=0) > 1).sum())

    def estimate_peak(self) -> int:
        return self._tally.estimate_peak()

    def facts(self, classes: list[str], rows: Int64Array, analyzer: Analyzer) -> dict[str, Any]:
        """Return what is known of the documents; column j is class ``rows[j]``."""
        sizes = np.zeros(len(classes) + 1, np.int64)
        np.add.at(sizes, rows[: len(self._sizes)], self._sizes)
        return {
            "classes": classes, "class_sizes": sizes[:-1], "n_docs": self._n_docs, "n_multilabel": self._n_multilabel,
            "settings": analyzer.settings, "fixed": False, "pruned": "",
        }  # fmt: skip

    def write_out(self, classes: list[str], rows: Int64Array) -> Iterator[TermBlock]:
        """Yield the terms, sorted, with their counts; this uses the part up."""
        return (separate_rest(piece, len(classes)) for piece in self._tally.write_out(rows, len(classes) + 1))


def separate_rest(piece: TermCells, n_classes: int) -> TermBlock:
    """Return the block of terms whose cells have, as one class more, what documents of no class or several have."""
    totals, cells = piece.cells.totals(), piece.cells
    if not (kept := (cells.classes < n_classes) & (cells.values[0] > 0)).all():
        cells = cells.where(kept)
    return TermBlock(piece.terms, cells, totals)


# Runs


def write_run(path: Path, facts: dict[str, Any], blocks: Iterable[TermBlock]) -> None:
    """Write a run; a folder that is full is named."""
    try:
        write_atomically(path, storage.write_counts(facts, blocks, small=True))
    except OutputError as error:
        raise OutputError(
            f"{error} This is a part of the counts that does not fit into the memory that counting may take. Give "
            "another folder for such parts, or more memory."
        ) from error


@contextmanager
def _open_folder(given: Path | None) -> Iterator[Path]:
    """Make a folder for runs, in the given one or among temporary files, and remove it in the end."""
    if given is not None and not given.is_dir():
        raise OptionError(f"There is no folder {given} for the parts of counts that do not fit into memory.")
    folder = Path(tempfile.mkdtemp(prefix=".termsieve-", dir=given))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _open_runs(folder: Path, runs: list[Path], threads: int) -> Iterator[_Sum]:
    """Open the sum of runs; where there are very many, some are added up to larger ones first."""
    level = 0
    while len(runs) > MOST_AT_ONCE:
        level += 1
        groups = [runs[i : i + MOST_AT_ONCE] for i in range(0, len(runs), MOST_AT_ONCE)]
        runs = []
        for number, group in enumerate(groups):
            path = folder / f"{level}-{number:06}.run"
            with _add_runs(group, threads) as found:
                write_run(path, *found)
            for one in group:
                one.unlink()
            runs.append(path)
    with _add_runs(runs, threads) as found:
        yield found


@contextmanager
def _add_runs(runs: list[Path], threads: int) -> Iterator[_Sum]:
    stored = [StoredCounts.of_file(path, own=True) for path in runs]
    try:
        yield _Sum(*add_files(stored, threads))
    finally:
        for one in stored:
            one.close()

"""Counting within a bound of memory: what threads have counted is sorted and written to files, and the files are added.

Such a file, a run, is the counts file of the documents that one thread has counted since the last time. So the sum of
the runs is the sum of counts, which does not depend on how often, or where, documents were cut.
"""

from __future__ import annotations

import json
import math
import queue
import re
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
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
from termsieve.counts.merging import Sum, open_sum, write_run
from termsieve.counts.tally import Tally, load_kernels
from termsieve.documents import Documents
from termsieve.documents.remote import AnyPath
from termsieve.errors import InputError, OptionError, OutputError
from termsieve.files import check_target, is_writable, make_folder, write_atomically
from termsieve.memory import release_memory, return_large_arrays
from termsieve.threads import work_on_each, work_on_stream
from termsieve.tokens.analyzer import Analyzer
from termsieve.tokens.vocabulary import check_sizes

RESERVED = 500 << 20  # bytes, as measured: Python, its libraries, compiled loops, and what is being read
_SLACK = 1.2  # of what tables take, as measured: allocators keep some of what is freed
LEAST_FOR_TABLES = 100 << 20
CHECKPOINT_SECONDS = 60  # after which what is counted is kept, if counting may be resumed
_JOURNAL = "progress.json"
_UNITS = {"": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30}
_ONE_FOLD = np.zeros(1, np.int64)


def parse_memory(given: str | int) -> int:
    """Return a number of bytes, from a number or a string such as "2GB"; refuses what is too little.

    >>> parse_memory("2GB"), parse_memory("1.5 GiB"), parse_memory(10**9)
    (2000000000, 1610612736, 1000000000)
    """
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([a-zA-Z]*)\s*", str(given))
    amount = float(match[1]) if match else math.inf
    if match is None or amount == math.inf or match[2].lower() not in _UNITS or isinstance(given, bool):
        raise OptionError(f'memory must be a number of bytes, or such as "2GB" or "500MB", not {given!r}.')
    size = int(min(amount * _UNITS[match[2].lower()], 2.0**62))  # no machine has more
    if size < RESERVED + LEAST_FOR_TABLES:
        raise OptionError(
            f"memory={given!r} is too little: Python and its libraries take {RESERVED >> 20} MiB of it. Give at least "
            f'"{-(-(RESERVED + LEAST_FOR_TABLES) // 10**6)}MB".'
        )
    return size


class Bound(NamedTuple):
    """How much memory counting may take, and the folder for what does not fit."""

    memory: int
    folder: Path


@contextmanager
def count_within(
    documents: Documents, given: Analyzer | None, threads: int, bound: Bound, *, progress: bool
) -> Iterator[Sum]:
    """Count documents; gives facts and blocks of terms, and removes the runs afterwards."""
    _check_folder(bound.folder)
    with tempfile.TemporaryDirectory(prefix=".termsieve-", dir=bound.folder, ignore_cleanup_errors=True) as folder:
        counting = _BoundedCount(documents, Path(folder), threads, bound.memory)
        counting.count(given, progress=progress)
        with open_sum(counting.runs, threads, own=True) as found:
            yield found


@contextmanager
def count_resumably(
    documents: Documents, given: Analyzer | None, threads: int, bound: Bound, *, progress: bool
) -> Iterator[Sum]:
    """Count documents as `count_within` does, and go on where an earlier count was interrupted.

    The folder is kept until all is done. A count of other files, or by another analyzer, is not continued.
    """
    folder = bound.folder
    _check_folder(folder.parent)
    make_folder(folder, _JOURNAL)
    journal = _Journal(folder / _JOURNAL, documents, given)
    counting = _BoundedCount(documents, folder, threads, bound.memory, journal)
    counting.count(given, progress=progress)
    with open_sum(counting.runs, threads, own=True) as found:
        yield found
    shutil.rmtree(folder, ignore_errors=True)


def _check_folder(folder: Path) -> None:
    if not folder.is_dir():
        raise OptionError(f"There is no folder {folder} for the parts of counts that do not fit into memory.")
    if not is_writable(folder):
        raise OutputError(f"{folder}: the parts of counts that do not fit into memory cannot be written there.")


def count_to_file(
    documents: Documents | Sequence[str],
    path: str | Path,
    labels: Sequence[Any] | None = None,
    *,
    memory: str | int,
    analyzer: Analyzer | None = None,
    threads: int | None = None,
    spill_folder: str | Path | None = None,
    resume: bool = False,
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
    resume
        Keep what is counted, at least once a minute, in the folder ``<path>.parts``, and go on from there if an earlier
        count of these files was interrupted, by whatever. The folder goes when the file is written.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> file = count_to_file(["cheap pills", "lunch at noon"], folder + "/mail.counts", ["spam", "ham"], memory="2GB")
    >>> file.n_terms, list(file.classes)
    (5, ['ham', 'spam'])
    """
    path = check_target(path)
    folder = Path(path.parent if spill_folder is None else spill_folder)
    bound = Bound(parse_memory(memory), folder / f"{path.name}.parts" if resume else folder)
    documents, way = as_documents(documents, labels), count_resumably if resume else count_within
    with way(documents, analyzer, resolve_threads(threads), bound, progress=progress) as found:
        storage.save(path, *found)
    return CountsFile(path)


class _Journal:
    """How far a count has come: a file beside its runs, written anew after each."""

    def __init__(self, path: Path, documents: Documents, given: Analyzer | None) -> None:
        self._path = path
        files = [(str(path), *_identify(path)) for path in documents.paths]
        made = {"origin": documents.origin, "files": files, "analyzer": None if given is None else given.settings}
        self._made = json.loads(json.dumps(made, default=str))
        self.written = time.monotonic()

    def read(self) -> tuple[tuple[int, int], list[Path]]:
        """Return the position from which to go on, and the runs that there are."""
        try:
            found = json.loads(self._path.read_bytes())
            position, runs = tuple(found["position"]), [self._path.parent / name for name in found["runs"]]
        except FileNotFoundError:
            return (0, 0), []
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"{self._path}: cannot be read: {error}. Remove its folder to begin anew.") from error
        if found.get("made") != self._made or not all(run.is_file() for run in runs):
            raise InputError(
                f"{self._path.parent}: is of an interrupted count of other files, or with other options. Remove this "
                "folder to begin anew."
            )
        return (int(position[0]), int(position[1])), runs

    def write(self, position: tuple[int, int], runs: list[Path]) -> None:
        """Write down that all before the position is in the runs."""
        record = {"made": self._made, "position": position, "runs": [run.name for run in runs]}
        write_atomically(self._path, [json.dumps(record).encode()])
        self.written = time.monotonic()


def _identify(path: AnyPath) -> tuple[int, int]:
    """Return what changes when a file does: its size, and when it was written; nothing of what cannot be asked."""
    try:
        about = path.stat()
    except OSError:
        return (0, 0)
    return about.st_size, about.st_mtime_ns


class _Batch(NamedTuple):
    """The documents of one batch, in chunks, and the position behind it."""

    chunks: list[TextChunk]
    position: tuple[int, int]


class _BoundedCount:
    """Tallies of threads, and the runs to which they were written."""

    def __init__(
        self, documents: Documents, folder: Path, threads: int, memory: int, journal: _Journal | None = None
    ) -> None:
        self.documents, self.folder, self.threads, self.memory = documents, folder, threads, memory
        self.runs: list[Path] = []
        self._position = (0, 0)
        self._journal = journal
        self._columns = ColumnNumbering()
        self._parts: list[_ThreadTally] = []

    def count(self, given: Analyzer | None, *, progress: bool) -> None:
        if self._journal is not None:
            self._position, self.runs = self._journal.read()
        batches = track_progress(self.documents, [], shown=progress, after=self._position)
        self.analyzer, batches = fit_analyzer(batches, given)
        if self.analyzer.runs is None:
            self.threads = 1  # plain Python holds the interpreter: more threads would only wait
        load_kernels(self.analyzer)
        return_large_arrays()
        split = self._split(batches)
        following = next(split, None)
        while following is not None or not self.runs:
            following = self._count_run(following, split)

    def _split(self, batches: Iterator[pa.RecordBatch]) -> Iterator[_Batch]:
        n_docs = 0
        for batch in batches:
            check_sizes(batch.column("text"), n_docs)
            n_docs += batch.num_rows
            ends, labels, rest = self._columns.columns_of(np.zeros(batch.num_rows, np.int32), batch.column("labels"))
            chunks = list(split_texts(batch.column("text"), ends, labels, rest))
            yield _Batch(chunks, self.documents.position)

    def _count_run(self, first: _Batch | None, batches: Iterator[_Batch]) -> _Batch | None:
        """Count until the memory is used up or the documents are; returns the batch that comes next."""
        self._parts = [_ThreadTally(self.analyzer) for _ in range(self.threads)]
        idle: queue.SimpleQueue[_ThreadTally] = queue.SimpleQueue()
        for part in self._parts:
            idle.put(part)
        following = first

        def take() -> Iterator[TextChunk]:
            nonlocal following
            while following is not None:
                yield from following.chunks
                self._position = following.position
                following = next(batches, None)
                if self._is_due():
                    return

        def work(chunk: TextChunk) -> None:
            part = idle.get()
            try:
                part.add(chunk)
            finally:  # or the others would wait for it for ever
                idle.put(part)

        work_on_stream(work, take(), self.threads)
        for _ in self._parts:
            idle.get()  # nothing but the list may hold the tables while they are written
        self._write_runs()
        return following

    def _is_due(self) -> bool:
        """Tell whether to write runs now: the memory is used up, or the last are a while ago and shall not be lost."""
        if self._journal is not None and time.monotonic() - self._journal.written > CHECKPOINT_SECONDS:
            return True
        tables = _SLACK * sum(part.estimate_peak() for part in self._parts)
        return tables > max(self.memory - RESERVED, LEAST_FOR_TABLES)

    def _write_runs(self) -> None:
        classes, _, _, rows = self._columns.sort_columns(_ONE_FOLD)
        paths = [self.folder / f"{len(self.runs) + i:06}.run" for i in range(len(self._parts))]
        parts, self._parts = self._parts, []

        def write(number: int) -> None:
            part = parts[number]
            parts[number] = _ThreadTally(self.analyzer)  # nothing but this function may hold it
            write_run(paths[number], part.write_out(classes, rows, self.analyzer))

        # after an error the folder goes, in which no other thread may be writing then
        work_on_each(write, range(len(paths)), self.threads, waits=True)
        release_memory()
        self.runs += paths
        if self._journal is not None:
            self._journal.write(self._position, self.runs)


class _ThreadTally:
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

    def write_out(self, classes: list[str], rows: Int64Array, analyzer: Analyzer) -> Sum:
        """Return what is counted, the terms sorted; column j is class ``rows[j]``. This uses the part up."""
        sizes = np.zeros(len(classes) + 1, np.int64)
        np.add.at(sizes, rows[: len(self._sizes)], self._sizes)
        facts = {
            "classes": classes, "class_sizes": sizes[:-1], "n_docs": self._n_docs, "n_multilabel": self._n_multilabel,
            "settings": analyzer.settings, "fixed": False, "pruned": "",
        }  # fmt: skip
        pieces = self._tally.write_out(rows)
        return Sum(facts, (separate_rest(piece, len(classes)) for piece in pieces))


def separate_rest(piece: TermCells, n_classes: int) -> TermBlock:
    """Return the block of terms whose cells have, as one class more, what documents of no class or several have."""
    totals, cells = piece.cells.totals(), piece.cells
    if not (kept := (cells.classes < n_classes) & (cells.values[0] > 0)).all():
        cells = cells.where(kept)
    return TermBlock(piece.terms, cells, totals)

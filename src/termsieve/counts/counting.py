"""Documents to counts, in one pass, on several threads."""

from __future__ import annotations

import itertools
import os
import queue
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from termsieve._kernels import WorkThreshold, kernels_pay
from termsieve._progress import show_bar
from termsieve._types import AnyArray, Int32Array, Int64Array
from termsieve.checks import is_whole_number
from termsieve.counts.cells import TermCells
from termsieve.counts.counts import Counts
from termsieve.counts.date_periods import Every
from termsieve.counts.folds import FoldAssignment, FoldCells, Folds, make_assignment, sum_over_folds
from termsieve.counts.plain_tally import PlainTally
from termsieve.counts.tally import Tally, load_kernels, merge_tallies
from termsieve.documents import TOKENS, Documents
from termsieve.errors import OptionError
from termsieve.memory import return_large_arrays
from termsieve.threads import count_cores, work_on_stream
from termsieve.tokens.analyzer import Analyzer, choose_analyzer
from termsieve.tokens.boundaries import warn_of_missing_boundaries
from termsieve.tokens.strings import document_offsets
from termsieve.tokens.vocabulary import check_sizes

CHUNK_BYTES = 1 << 20  # of text, for one thread at a time
# from so many on, loops are quicker than plain Python
TEXT_BYTES = WorkThreshold(warm=4 << 20, cold=60 << 20, adds_up=True)
MUCH_TEXT = 1 << 28  # bytes, from which on tables are so large that holes between them matter
_MOST_BINS = 1 << 16  # pairs of fold and class that are counted by number
MAX_THREADS = 8  # beyond, merging the threads' vocabularies costs more than it gains


def count(
    documents: Documents | Sequence[str],
    labels: Sequence[Any] | None = None,
    *,
    analyzer: Analyzer | None = None,
    threads: int | None = None,
    vocabulary: Iterable[str] | None = None,
    memory: str | int | None = None,
    spill_folder: str | Path | None = None,
    progress: bool = False,
) -> Counts:
    """Count terms in classes, in one pass over the documents.

    Parameters
    ----------
    documents
        What `termsieve.read` gives, or a sequence of texts, or of lists of tokens.
    labels
        For a sequence of texts: for each a label, or a list of labels.
    analyzer
        How a text becomes terms; the default is scikit-learn's. Lists of tokens are counted as they are.
    threads
        How many threads count; as many as there are cores, without this. The result does not depend on it.
    vocabulary
        Count these terms only, in this order. Counts of one vocabulary add up as they are.
    memory
        What this process may take while it counts: a number of bytes, or such as "2GB". What does not fit is sorted and
        written to files, which are added up; the result is the same. It has to fit into memory: `count_to_file` is for
        counts that do not.
    spill_folder
        With `memory`: where such files are kept; by default, among temporary files.
    progress
        Show a progress bar on standard error.

    Examples
    --------
    >>> counts = count(["to be or not to be", "to sleep"], ["q", "a"])
    >>> dict(zip(counts.terms, counts.term_tf.tolist()))
    {'be': 2, 'not': 1, 'or': 1, 'sleep': 1, 'to': 3}
    >>> list(count([["be", "New York"], ["be"]], ["q", "a"]).terms)
    ['New York', 'be']
    """
    documents = as_documents(documents, labels)
    if memory is not None:
        counts = _count_within(documents, analyzer, resolve_threads(threads), memory, spill_folder, progress=progress)
    else:
        _, raw = _count_documents(documents, analyzer, resolve_threads(threads), FoldAssignment(), progress=progress)
        counts = raw.whole()
    counts.origin = documents.origin
    return counts if vocabulary is None else counts.with_vocabulary(vocabulary)


def _count_within(
    documents: Documents, analyzer: Analyzer | None, threads: int, memory: str | int, folder: str | Path | None,
    *, progress: bool,
) -> Counts:  # fmt: skip
    from termsieve.counts.spilling import Bound, count_within, parse_memory
    from termsieve.counts.storage import EMPTY_BLOCK, join_blocks

    bound = Bound(parse_memory(memory), Path(tempfile.gettempdir() if folder is None else folder))
    with count_within(documents, analyzer, threads, bound, progress=progress) as (facts, blocks):
        return Counts.of_block(facts, join_blocks([EMPTY_BLOCK, *blocks]))


def count_folds(
    documents: Documents | Sequence[str],
    labels: Sequence[Any] | None = None,
    *,
    folds: int | str | Sequence[Any] | AnyArray = 10,
    every: Every | None = None,
    seed: int = 0,
    id: str | None = None,
    analyzer: Analyzer | None = None,
    threads: int | None = None,
    progress: bool = False,
) -> Folds:
    """Return counts of every fold and of everything but that fold, from one pass.

    Parameters
    ----------
    documents, labels, analyzer, threads, progress
        As for `count`.
    folds
        A number: each document goes to a fold by a hash of `seed` and its row number, the same everywhere. An array
        with the fold of each document, or the name of a column that has it: any stratified or grouped assignment.
    every
        Where the array or column has dates: the ``"year"``, ``"quarter"``, ``"month"``, ``"week"`` or ``"day"`` is the
        fold.
    seed
        For a number of folds.
    id
        For a number of folds: the column that names each document. The hash is then of `seed` and that name, and does
        not depend on the order of the documents.

    Examples
    --------
    >>> f = count_folds(["a1", "b1", "a1 b1", "c1"], ["x", "y", "x", "y"], folds=[0, 1, 0, 1])
    >>> f.test(0).n_docs, list(f.training(0).terms)
    (2, ['b1', 'c1'])
    >>> f.training(0) + f.test(0) == f.total
    True
    """
    documents = as_documents(documents, labels)
    assignment = make_assignment(folds, seed, every, id)
    names, raw = _count_documents(documents, analyzer, resolve_threads(threads), assignment, progress=progress)
    if len(names) < 2:
        found = f"all documents are in {names[0]!r}" if names else "there are no documents"
        raise OptionError(f"folds must name at least two folds; {found}.")
    return Folds(raw, names)


def count_each_fold(
    documents: Documents, assignment: FoldAssignment | None, analyzer: Analyzer | None, threads: int
) -> dict[Any, Counts]:
    """Return the counts of each fold that has documents, by name; without an assignment, there is one fold."""
    names, raw = _count_documents(documents, analyzer, threads, assignment or FoldAssignment(), progress=False)
    if assignment is None:
        return {None: raw.whole()} if raw.n_docs.sum() else {}
    return {name: raw.part(i, without=False) for i, name in enumerate(names) if raw.n_docs[i]}


# One pass


class ColumnNumbering:
    """Numbers the (fold, class) columns of the tallies as they are met, and counts their documents."""

    def __init__(self) -> None:
        self._classes: dict[str, int] = {}
        self._columns: dict[tuple[int, int], int] = {}
        self._sizes: dict[tuple[int, int], int] = {}

    def columns_of(self, folds: Int32Array, labels: pa.LargeListArray) -> tuple[Int64Array, Int64Array, Int64Array]:
        """Return ends of each document's labels, the columns of the labels, and the rest column of each document."""
        offsets = labels.offsets.to_numpy()
        ends = offsets[1:] - offsets[0]
        encoded = labels.flatten().dictionary_encode()
        names = encoded.dictionary.to_pylist()
        classes = np.array([self._classes.setdefault(name, len(self._classes)) for name in names] or [0], np.int64)
        per_label = classes[encoded.indices.to_numpy()] if len(encoded) else np.empty(0, np.int64)
        owners = np.repeat(folds, np.diff(offsets)).astype(np.int64)
        return ends, self._number_pairs(owners, per_label), self._number_pairs(folds.astype(np.int64), np.int64(-1))

    def _number_pairs(self, folds: Int64Array, classes: Int64Array | np.int64) -> Int64Array:
        n_classes = len(self._classes) + 1
        pairs = folds * n_classes + (classes + 1)
        if pairs.max(initial=0) < max(_MOST_BINS, len(pairs)):
            place, times = pairs, np.bincount(pairs)
            distinct = np.flatnonzero(times)
            times = times[distinct]
        else:
            distinct, place, times = np.unique(pairs, return_inverse=True, return_counts=True)
        numbers = np.empty(len(distinct), np.int64)
        for i, (pair, n) in enumerate(zip(distinct.tolist(), times.tolist(), strict=True)):
            key = (pair // n_classes, pair % n_classes - 1)
            numbers[i] = self._columns.setdefault(key, len(self._columns))
            self._sizes[key] = self._sizes.get(key, 0) + n
        if place is pairs:
            by_pair = np.empty(int(pairs.max(initial=-1)) + 1, np.int64)
            by_pair[distinct] = numbers
            numbers = by_pair
        columns: Int64Array = numbers[place]
        return columns

    def sort_columns(self, fold_order: Int64Array) -> tuple[list[str], Int64Array, Int64Array, Int64Array]:
        """Return sorted classes, documents by fold and class and by fold, and each column's row, by class and fold."""
        classes = sorted(self._classes)
        place = {self._classes[name]: i for i, name in enumerate(classes)} | {-1: len(classes)}
        n_folds = len(fold_order)
        sizes = np.zeros((n_folds, len(classes) + 1), np.int64)
        rows = np.empty(len(self._columns), np.int64)
        for (fold, label), column in self._columns.items():
            rows[column] = place[label] * n_folds + fold_order[fold]
            sizes[fold_order[fold], place[label]] = self._sizes[fold, label]
        return classes, sizes[:, :-1], sizes[:, -1], rows


def _count_documents(
    documents: Documents, given: Analyzer | None, threads: int, assignment: FoldAssignment, *, progress: bool
) -> tuple[list[Any], FoldCells]:
    batches = track_progress(documents, [assignment.column] if assignment.column else [], shown=progress)
    analyzer, batches = fit_analyzer(batches, given)
    columns = ColumnNumbering()
    assigned: list[Int32Array] = []
    several: list[Int32Array] = []

    def chunks() -> Iterator[TextChunk]:
        n_docs = 0
        for batch in batches:
            check_sizes(batch.column("text"), n_docs)
            folds = assignment.numbers(n_docs, batch)
            n_docs += batch.num_rows
            if len(folds) < batch.num_rows:
                assignment.check(n_docs)
            assigned.append(folds)
            ends, labels, rest = columns.columns_of(folds, batch.column("labels"))
            several.append(folds[np.diff(ends, prepend=0) > 1])
            yield from split_texts(batch.column("text"), ends, labels, rest)
        assignment.check(n_docs)

    tallies = _tally_chunks(chunks(), analyzer, threads)
    names = assignment.names()
    order = sorted(range(len(names)), key=lambda i: names[i])
    rank = np.argsort(order)
    classes, sizes, n_docs, rows = columns.sort_columns(rank)
    terms, cells = _merge_tallies(tallies, rows, max((len(classes) + 1) * len(names), 1))
    folds = rank[np.concatenate([*assigned, np.empty(0, np.int32)])].astype(np.int32)
    n_multilabel = np.bincount(rank[np.concatenate([*several, np.empty(0, np.int32)])], minlength=len(names))
    folded = sum_over_folds(cells, len(names))
    raw = FoldCells(terms, *folded, classes, sizes, n_docs, n_multilabel, folds, analyzer.settings)
    return [names[i] for i in order], raw


def fit_analyzer(
    batches: Iterator[pa.RecordBatch], given: Analyzer | None
) -> tuple[Analyzer, Iterator[pa.RecordBatch]]:
    """Return the analyzer for the documents, texts or lists of tokens, as the first batch says; and all batches."""
    first = next(batches, None)
    if first is None:  # either kind of analyzer may be meant
        wants_tokens = isinstance(given, Analyzer) and given.analyzer == "tokens"
        return choose_analyzer(given, tokens=wants_tokens), batches
    tokens = first.schema.field("text").type == TOKENS
    analyzer = choose_analyzer(given, tokens=tokens)
    if not tokens:
        warn_of_missing_boundaries(first.column("text"), analyzer)
    return analyzer, itertools.chain([first], batches)


def _merge_tallies(tallies: list[Tally] | PlainTally, rows: Int64Array, n_rows: int) -> TermCells:
    """Return what the threads have counted, sorted and added."""
    if isinstance(tallies, PlainTally):
        return tallies.sort_by_term(rows, n_rows)
    tallies = [tally for tally in tallies if tally.vocabulary.n_terms] or tallies[:1]
    return merge_tallies(tallies, rows, len(tallies))


class TextChunk(NamedTuple):
    """Some documents: texts, where the labels of each end, the columns of the labels, and the rest column of each."""

    texts: pa.LargeStringArray
    label_ends: Int64Array
    labels: Int64Array
    rest: Int64Array


def split_texts(
    texts: pa.LargeStringArray, ends: Int64Array, labels: Int64Array, rest: Int64Array
) -> Iterator[TextChunk]:
    """Yield pieces of about a megabyte of text, whole documents each."""
    offsets = document_offsets(texts)
    first = 0
    while first < len(texts):
        last = int(np.searchsorted(offsets, offsets[first] + CHUNK_BYTES, side="right")) - 1
        last = min(max(last, first + 1), len(texts))
        before = ends[first - 1] if first else 0
        yield TextChunk(
            texts.slice(first, last - first),
            ends[first:last] - before,
            labels[before : ends[last - 1]],
            rest[first:last],
        )
        first = last


def _tally_chunks(chunks: Iterator[TextChunk], analyzer: Analyzer, threads: int) -> list[Tally] | PlainTally:
    """Count all chunks: in plain Python when there are few, or else by loops in threads."""
    held = []
    for chunk in chunks:
        held.append(chunk)
        offsets = document_offsets(chunk.texts)
        if kernels_pay(int(offsets[-1] - offsets[0]), TEXT_BYTES):
            return _tally_in_threads(itertools.chain(held, chunks), analyzer, threads)
    tally = PlainTally(analyzer)
    for chunk in held:
        tally.add(*chunk)
    return tally


def _save_memory_later(chunks: Iterator[TextChunk]) -> Iterator[TextChunk]:
    """Hand on the chunks; from much text on, have large arrays go back to the system: with little, that costs time."""
    n_bytes, is_much = 0, False
    for chunk in chunks:
        offsets = document_offsets(chunk.texts)
        n_bytes += int(offsets[-1] - offsets[0])
        if n_bytes > MUCH_TEXT and not is_much:
            return_large_arrays()
            is_much = True
        yield chunk


def _tally_in_threads(chunks: Iterator[TextChunk], analyzer: Analyzer, threads: int) -> list[Tally]:
    """Count all chunks, each thread into a tally of its own."""
    chunks = _save_memory_later(chunks)
    if analyzer.runs is None:
        threads = 1  # plain Python holds the interpreter: more threads would only wait
    tallies = [Tally(analyzer)]
    for chunk in chunks if threads == 1 else itertools.islice(chunks, 1):
        tallies[0].add(*chunk)
    second = next(chunks, None)
    if second is None:
        return tallies
    load_kernels(analyzer)
    tallies += [Tally(analyzer) for _ in range(threads - 1)]
    idle: queue.SimpleQueue[Tally] = queue.SimpleQueue()
    for tally in tallies:
        idle.put(tally)

    def work(chunk: TextChunk) -> None:
        tally = idle.get()
        try:
            tally.add(*chunk)
        finally:  # or the others would wait for it for ever
            idle.put(tally)

    work_on_stream(work, itertools.chain([second], chunks), threads)
    return tallies


def track_progress(
    documents: Documents, extra: list[str], *, shown: bool, after: tuple[int, int] = (0, 0)
) -> Iterator[pa.RecordBatch]:
    """Yield the batches of documents, with a bar of the bytes that were read, and the time left."""
    with show_bar("counting", documents.total_bytes, shown=shown, in_bytes=True) as bar:
        for batch in documents.batches(extra, after=after):
            yield batch
            bar.update(documents.bytes_read)


def as_documents(documents: Any, labels: Any) -> Documents:
    """Return what was given, as documents."""
    if isinstance(documents, Documents):
        if labels is not None:
            raise OptionError("count: labels go with a sequence of texts; these documents have labels of their own.")
        return documents
    if isinstance(documents, (str, os.PathLike)):
        raise OptionError(
            f"count: {str(documents)[:60]!r} is a single string. Give a list of texts, or termsieve.read(path, ...)."
        )
    return Documents.of(documents, labels)


def resolve_threads(threads: int | None) -> int:
    """Return the number of threads that was asked for; without one, that of the cores."""
    if threads is None:
        return min(count_cores(), MAX_THREADS)
    if not is_whole_number(threads, 1):
        raise OptionError(f"threads must be a whole number, 1 or more, not {threads!r}.")
    return int(threads)

"""Documents to counts, in one pass, on several threads; and the counts of folds by subtraction."""

from __future__ import annotations

import hashlib
import itertools
import os
import queue
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from termsieve._kernels import Threshold, import_kernels, kernels_pay
from termsieve._progress import show_bar
from termsieve._types import AnyArray, BoolArray, Int32Array, Int64Array
from termsieve.counts.cells import Cells, TermCells
from termsieve.counts.counts import Counts, add_pairwise
from termsieve.counts.plain_tally import PlainTally
from termsieve.counts.tally import Tally, load_kernels, merge_tallies
from termsieve.documents import TOKENS, Documents
from termsieve.documents.string_columns import stringify_column
from termsieve.errors import InputError, OptionError
from termsieve.threads import count_cores, work_on_stream
from termsieve.tokens.analyzer import Analyzer, choose_analyzer
from termsieve.tokens.boundaries import warn_of_missing_boundaries
from termsieve.tokens.strings import document_offsets
from termsieve.tokens.vocabulary import check_sizes

if TYPE_CHECKING:
    from termsieve.counts import cell_kernels
else:
    cell_kernels = import_kernels("termsieve.counts.cell_kernels")

CHUNK_BYTES = 1 << 20  # of text, for one thread at a time
TEXT_BYTES = Threshold(warm=4 << 20, cold=60 << 20)  # from so many on, loops are quicker than plain Python
FOLD_CELLS = Threshold(warm=1 << 21, cold=1 << 24)
_MOST_BINS = 1 << 16  # pairs of fold and class that are counted by number
MAX_THREADS = 8  # beyond, merging the threads' vocabularies costs more than it gains


def count(
    documents: Documents | Sequence[str],
    labels: Sequence[Any] | None = None,
    *,
    analyzer: Analyzer | None = None,
    threads: int | None = None,
    vocabulary: Iterable[str] | None = None,
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
    _, raw = _count_documents(documents, analyzer, resolve_threads(threads), _FoldAssignment(), progress=progress)
    counts = raw.whole()
    counts.origin = documents.origin
    return counts if vocabulary is None else counts.with_vocabulary(vocabulary)


def count_folds(
    documents: Documents | Sequence[str],
    labels: Sequence[Any] | None = None,
    *,
    folds: int | str | Sequence[Any] | AnyArray = 10,
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
    assignment = make_assignment(folds, seed, id)
    names, raw = _count_documents(documents, analyzer, resolve_threads(threads), assignment, progress=progress)
    if len(names) < 2:
        raise OptionError(f"folds must name at least two folds; all documents are in {names[0]!r}.")
    return Folds(raw, names)


def count_each_fold(
    documents: Documents, assignment: _FoldAssignment | None, analyzer: Analyzer | None, threads: int
) -> dict[Any, Counts]:
    """Return the counts of each fold that has documents, by name; without an assignment, there is one fold."""
    names, raw = _count_documents(documents, analyzer, threads, assignment or _FoldAssignment(), progress=False)
    if assignment is None:
        return {None: raw.whole()} if raw.n_docs.sum() else {}
    return {name: raw.part(i, without=False) for i, name in enumerate(names) if raw.n_docs[i]}


class Folds:
    """Counts of folds: what `count_folds` gives.

    Attributes
    ----------
    total
        Counts of all documents.
    names
        The folds, sorted: the values of the array or column, or 0, 1, ... .
    assignment
        For each document, in order, the number of its fold; None where counts of folds were brought together.

    Examples
    --------
    >>> folds = count_folds(["cheap pills", "buy pills", "lunch at noon", "noon"], ["spam", "spam", "ham", "ham"],
    ...                     folds=["a", "b", "a", "b"])
    >>> folds.names, folds.test(0).n_docs, folds.training(0).n_docs
    (['a', 'b'], 2, 2)
    >>> folds.test(0) + folds.training(0) == folds.total
    True
    """

    def __init__(self, raw: _FoldCells | _FoldCounts, names: list[Any]) -> None:
        self.names = names
        self.assignment = raw.assignment
        self._raw = raw
        self.total = raw.whole()

    @classmethod
    def of(cls, counts: Mapping[Any, Counts]) -> Folds:
        """Bring together counts of folds that were counted apart, by name."""
        names = sorted(counts)
        return cls(_FoldCounts([counts[name] for name in names]), names)

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{int(n):,}" for n in self._raw.n_docs[:6])
        return f"Folds: {len(self)} of {self.total.n_docs:,} documents ({sizes}{', ...' if len(self) > 6 else ''})"

    def test(self, fold: int) -> Counts:
        """Counts of the documents of one fold."""
        return self._raw.part(self._checked(fold), without=False)

    def training(self, fold: int) -> Counts:
        """Return counts of the documents of all other folds."""
        return self._raw.part(self._checked(fold), without=True)

    def join(self, folds: Iterable[int]) -> Counts:
        """Return counts of the documents of several folds, together."""
        return self._raw.join(np.isin(np.arange(len(self)), [self._checked(fold) for fold in folds]))

    def _checked(self, fold: int) -> int:
        if not isinstance(fold, (int, np.integer)) or not 0 <= fold < len(self):
            raise OptionError(f"There is no fold {fold!r}: the folds are 0 to {len(self) - 1}.")
        return fold


class _FoldCells(NamedTuple):
    """Cells by term and class, the rest column as a last class, with the share of each fold."""

    terms: pa.LargeStringArray
    cells: Cells
    cell_of: Int64Array  # for each cell of a fold, the cell of the total
    fold_numbers: Int32Array
    fold_values: Int64Array
    classes: list[str]
    class_sizes: Int64Array  # folds x classes
    n_docs: Int64Array
    n_multilabel: Int64Array
    assignment: Int32Array
    settings: dict[str, Any]

    def whole(self) -> Counts:
        """Return counts of all documents."""
        cells, totals = self.cells, self.cells.totals()
        if not (labelled := cells.classes < len(self.classes)).all():
            cells = cells.where(labelled)
        return self._counts(self.terms, cells, totals, slice(None))

    def part(self, fold: int, *, without: bool) -> Counts:
        """Return counts of one fold, or of all others."""
        of_fold, folds = self.fold_numbers == fold, np.arange(len(self.n_docs)) == fold
        return self._extract(self.cell_of[of_fold], self.fold_values[:, of_fold], folds, without=without)

    def _extract(self, places: Int64Array, shares: Int64Array, folds: BoolArray, *, without: bool) -> Counts:
        """Return counts of the folds that have these shares in the cells at these places; or of all others."""
        arguments = *self.cells, places, shares, len(self.classes), without
        compiled = kernels_pay(len(self.cells.classes), FOLD_CELLS)
        kept, *cells, totals = cell_kernels.extract_fold(*arguments) if compiled else _extract_fold_plainly(*arguments)
        terms = self.terms if len(kept) == len(self.terms) else self.terms.take(pa.array(kept))
        return self._counts(terms, Cells(*cells), totals, ~folds if without else folds)

    def join(self, chosen: BoolArray) -> Counts:
        """Return counts of the chosen folds."""
        of_folds = chosen[self.fold_numbers]
        places, values = self.cell_of[of_folds], self.fold_values[:, of_folds]
        starts = np.flatnonzero(np.diff(places, prepend=-1))
        shares = np.add.reduceat(values, starts, axis=1) if len(starts) else values
        return self._extract(places[starts], shares, chosen, without=False)

    def _counts(self, terms: pa.LargeStringArray, cells: Cells, totals: Int64Array, folds: Any) -> Counts:
        return Counts(
            terms, self.classes, cells, totals,
            n_docs=int(self.n_docs[folds].sum()), n_multilabel=int(self.n_multilabel[folds].sum()),
            class_sizes=self.class_sizes[folds].sum(axis=0), settings=self.settings,
        ).without_empty()  # fmt: skip


class _FoldCounts:
    """Counts of each fold, where these were counted apart."""

    assignment = None

    def __init__(self, parts: Sequence[Counts]) -> None:
        self._parts = parts
        self._total = add_pairwise(parts)
        self.n_docs = np.array([part.n_docs for part in parts])

    def whole(self) -> Counts:
        """Return counts of all documents."""
        return self._total

    def part(self, fold: int, *, without: bool) -> Counts:
        """Return counts of one fold, or of all others."""
        return self._total - self._parts[fold] if without else self._parts[fold]

    def join(self, chosen: BoolArray) -> Counts:
        """Return counts of the chosen folds."""
        kept = [part for part, wanted in zip(self._parts, chosen, strict=True) if wanted]
        return add_pairwise(kept) if kept else self._total - self._total


def _extract_fold_plainly(
    indptr: Int64Array, classes: Int32Array, values: Int64Array, places: Int64Array, shares: Int64Array,
    n_classes: int, without: bool,
) -> tuple[Int64Array, Int64Array, Int32Array, Int64Array, Int64Array]:  # fmt: skip
    """Do what the loop of that name does; see there."""
    values = values.copy() if without else np.zeros_like(values)
    values[:, places] += -shares if without else shares
    totals = Cells(indptr, classes, values).totals()
    kept = np.flatnonzero(totals[0] > 0)
    cells = Cells(indptr, classes, values).where((values[0] > 0) & (classes < n_classes))
    return kept, *cells.take(kept), totals[:, kept]


# Which fold a document is in


class _FoldAssignment:
    """All documents in one fold."""

    column: str | None = None  # which it needs of the documents

    def numbers(self, first: int, batch: pa.RecordBatch) -> Int32Array:  # noqa: ARG002
        return np.zeros(batch.num_rows, np.int32)

    def names(self) -> list[Any]:
        return [0]

    def check(self, n_docs: int) -> None:
        """Raise when the assignment does not fit so many documents."""


class _HashedFolds(_FoldAssignment):
    """By a hash of seed and row number."""

    def __init__(self, n: int, seed: int) -> None:
        self._n, self._seed = n, seed

    def numbers(self, first: int, batch: pa.RecordBatch) -> Int32Array:
        return hash_to_folds(np.arange(first, first + batch.num_rows), self._n, self._seed)

    def names(self) -> list[Any]:
        return list(range(self._n))


class _HashedIds(_FoldAssignment):
    """By a hash of seed and the name of the document."""

    def __init__(self, n: int, seed: int, column: str) -> None:
        self._n, self._seed, self.column = n, seed, column

    def numbers(self, first: int, batch: pa.RecordBatch) -> Int32Array:
        names = stringify_column(batch.column(self.column), f"The column {self.column!r}", {})
        if names.null_count:
            row = first + int(pc.index(names.is_null(), pa.scalar(True)).as_py()) + 1
            raise InputError(f"Document {row} has no id: its column {self.column!r} is empty.")
        return hash_names_to_folds(names.to_pylist(), self._n, self._seed)

    def names(self) -> list[Any]:
        return list(range(self._n))


class _GivenFolds(_FoldAssignment):
    """By an array with a fold for each document."""

    def __init__(self, folds: AnyArray) -> None:
        try:
            self._names, self._numbers = np.unique(folds, return_inverse=True)
        except TypeError as error:
            raise OptionError(f"folds must have one fold for each document, all of one type: {error}.") from error

    def numbers(self, first: int, batch: pa.RecordBatch) -> Int32Array:
        return self._numbers[first : first + batch.num_rows].astype(np.int32)

    def names(self) -> list[Any]:
        return list(self._names.tolist())

    def check(self, n_docs: int) -> None:
        if n_docs != len(self._numbers):
            raise OptionError(f"folds has {len(self._numbers):,} entries, but there are {n_docs:,} documents.")


class _ColumnFolds(_FoldAssignment):
    """By a column of the documents."""

    def __init__(self, column: str) -> None:
        self.column = column
        self._known: dict[Any, int] = {}

    def numbers(self, first: int, batch: pa.RecordBatch) -> Int32Array:
        values = batch.column(self.column).to_pylist()
        if None in values:
            row = first + values.index(None) + 1
            raise InputError(f"Document {row} has no fold: its column {self.column!r} is empty.")
        if isinstance(values[0], (list, dict)):
            raise InputError(f"The column {self.column!r} holds {type(values[0]).__name__}s, which cannot name a fold.")
        return np.array([self._known.setdefault(value, len(self._known)) for value in values], np.int32)

    def names(self) -> list[Any]:
        return list(self._known)


def hash_to_folds(rows: Int64Array, n: int, seed: int) -> Int32Array:
    """Return the fold of each row number: the SplitMix64 hash of row and seed, modulo the number of folds."""
    with np.errstate(over="ignore"):
        golden = np.uint64(0x9E3779B97F4A7C15)
        h = (np.uint64(seed % 2**64) * np.uint64(0xD1B54A32D192ED03)) ^ (
            (rows.astype(np.uint64) + np.uint64(1)) * golden
        )
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            h = (h ^ (h >> np.uint64(shift))) * np.uint64(factor)
        h ^= h >> np.uint64(31)
    return (h % np.uint64(n)).astype(np.int32)


def hash_names_to_folds(names: Iterable[str], n: int, seed: int) -> Int32Array:
    """Return the fold of each name: the first 8 bytes of BLAKE2b of seed and name, modulo the number of folds.

    Anything that has BLAKE2b can say the fold of a document: the seed modulo 2**64, in decimal digits, is the key.
    """
    keyed = hashlib.blake2b(key=str(seed % 2**64).encode(), digest_size=8)
    digests = bytearray()
    for name in names:
        one = keyed.copy()
        one.update(name.encode())
        digests += one.digest()
    return (np.frombuffer(digests, "<u8") % np.uint64(n)).astype(np.int32)


def make_assignment(folds: Any, seed: int, id: str | None) -> _FoldAssignment:
    """Make what says in which fold a document is, from what a user wrote."""
    if id is not None and not (isinstance(folds, (int, np.integer)) and isinstance(id, str)):
        raise OptionError(f"id={id!r} is a column for a number of folds; folds is {folds!r}.")
    if isinstance(folds, str):
        return _ColumnFolds(folds)
    if isinstance(folds, (int, np.integer)) and not isinstance(folds, bool):
        if folds < 2:
            raise OptionError(f"folds must be at least 2, or an array, or the name of a column, not {folds}.")
        if not isinstance(seed, (int, np.integer)) or isinstance(seed, bool):
            raise OptionError(f"seed must be a whole number, not {seed!r}.")
        return _HashedFolds(int(folds), seed) if id is None else _HashedIds(int(folds), seed, id)
    try:
        given = np.asarray(folds)
    except ValueError:
        given = np.empty(())
    if given.ndim != 1:
        raise OptionError(f"folds must be a number, an array with one entry per document, or a column, not {folds!r}.")
    return _GivenFolds(given)


# One pass


class _ColumnNumbering:
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
        """Sorted classes, documents per fold and class, per fold, and the row of each column: by class, then fold."""
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
    documents: Documents, given: Analyzer | None, threads: int, assignment: _FoldAssignment, *, progress: bool
) -> tuple[list[Any], _FoldCells]:
    batches = _track_progress(documents, [assignment.column] if assignment.column else [], shown=progress)
    first = next(batches, None)  # which says whether these are texts or lists of tokens
    tokens = first is not None and first.schema.field("text").type == TOKENS
    analyzer = given if first is None and given is not None else choose_analyzer(given, tokens=tokens)
    if first is not None and not tokens:
        warn_of_missing_boundaries(first.column("text"), analyzer)
    columns = _ColumnNumbering()
    assigned: list[Int32Array] = []
    several: list[Int32Array] = []

    def chunks() -> Iterator[_TextChunk]:
        n_docs = 0
        for batch in itertools.chain([] if first is None else [first], batches):
            check_sizes(batch.column("text"), n_docs)
            folds = assignment.numbers(n_docs, batch)
            n_docs += batch.num_rows
            if len(folds) < batch.num_rows:
                assignment.check(n_docs)
            assigned.append(folds)
            ends, labels, rest = columns.columns_of(folds, batch.column("labels"))
            several.append(folds[np.diff(ends, prepend=0) > 1])
            yield from _split_texts(batch.column("text"), ends, labels, rest)
        assignment.check(n_docs)

    tallies = _tally_chunks(chunks(), analyzer, threads)
    names = assignment.names()
    order = sorted(range(len(names)), key=lambda i: names[i])
    rank = np.argsort(order)
    classes, sizes, n_docs, rows = columns.sort_columns(rank)
    terms, cells = _merge_tallies(tallies, rows, max((len(classes) + 1) * len(names), 1))
    folds = rank[np.concatenate([*assigned, np.empty(0, np.int32)])].astype(np.int32)
    n_multilabel = np.bincount(rank[np.concatenate([*several, np.empty(0, np.int32)])], minlength=len(names))
    folded = _sum_over_folds(cells, len(names))
    raw = _FoldCells(terms, *folded, classes, sizes, n_docs, n_multilabel, folds, analyzer.settings)
    return [names[i] for i in order], raw


def _merge_tallies(tallies: list[Tally] | PlainTally, rows: Int64Array, n_rows: int) -> TermCells:
    """Return what the threads have counted, sorted and added."""
    if isinstance(tallies, PlainTally):
        return tallies.sort_by_term(rows, n_rows)
    tallies = [tally for tally in tallies if tally.vocabulary.n_terms] or tallies[:1]
    return merge_tallies(tallies, rows, n_rows, len(tallies))


def _sum_over_folds(cells: Cells, n_folds: int) -> tuple[Cells, Int64Array, Int32Array, Int64Array]:
    """Sum the cells of each class over the folds; they are numbered by class, then fold.

    Gives the sums, and for each cell of a fold: the cell of the sum, the fold and the values.
    """
    if n_folds == 1:
        return cells, np.empty(0, np.int64), np.empty(0, np.int32), cells.values[:, :0]
    classes, numbers = np.divmod(cells.classes, n_folds)
    first = np.empty(len(classes), np.bool_)
    first[:1] = True
    first[1:] = classes[1:] != classes[:-1]
    first[cells.indptr[:-1][np.diff(cells.indptr) > 0]] = True
    starts = np.flatnonzero(first)
    sums = np.add.reduceat(cells.values, starts, axis=1) if len(starts) else cells.values
    indptr = np.concatenate([[0], np.cumsum(first)])[cells.indptr]
    return Cells(indptr, classes[starts], sums), np.cumsum(first) - 1, numbers, cells.values


class _TextChunk(NamedTuple):
    texts: pa.LargeStringArray
    label_ends: Int64Array
    labels: Int64Array
    rest: Int64Array


def _split_texts(
    texts: pa.LargeStringArray, ends: Int64Array, labels: Int64Array, rest: Int64Array
) -> Iterator[_TextChunk]:
    """Pieces of some megabyte of text, whole documents each."""
    offsets = document_offsets(texts)
    first = 0
    while first < len(texts):
        last = int(np.searchsorted(offsets, offsets[first] + CHUNK_BYTES, side="right")) - 1
        last = min(max(last, first + 1), len(texts))
        before = ends[first - 1] if first else 0
        yield _TextChunk(
            texts.slice(first, last - first),
            ends[first:last] - before,
            labels[before : ends[last - 1]],
            rest[first:last],
        )
        first = last


def _tally_chunks(chunks: Iterator[_TextChunk], analyzer: Analyzer, threads: int) -> list[Tally] | PlainTally:
    """All chunks counted: in plain Python when there are few, or else by loops in threads."""
    held, n_bytes = [], 0
    for chunk in chunks:
        held.append(chunk)
        offsets = document_offsets(chunk.texts)
        n_bytes += int(offsets[-1] - offsets[0])
        if kernels_pay(n_bytes, TEXT_BYTES):
            return _tally_in_threads(itertools.chain(held, chunks), analyzer, threads)
    tally = PlainTally(analyzer)
    for chunk in held:
        tally.add(*chunk)
    return tally


def _tally_in_threads(chunks: Iterator[_TextChunk], analyzer: Analyzer, threads: int) -> list[Tally]:
    """All chunks counted, each thread's into a tally of its own."""
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

    def work(chunk: _TextChunk) -> None:
        tally = idle.get()
        try:
            tally.add(*chunk)
        finally:  # or the others would wait for it for ever
            idle.put(tally)

    work_on_stream(work, itertools.chain([second], chunks), threads)
    return tallies


def _track_progress(documents: Documents, extra: list[str], *, shown: bool) -> Iterator[pa.RecordBatch]:
    with show_bar("counting", documents.total_bytes, shown=shown, in_bytes=True) as bar:
        for batch in documents.batches(extra):
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
    if not isinstance(threads, (int, np.integer)) or isinstance(threads, bool) or threads < 1:
        raise OptionError(f"threads must be a whole number, 1 or more, not {threads!r}.")
    return int(threads)

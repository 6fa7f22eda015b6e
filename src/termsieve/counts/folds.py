"""Folds: which fold a document is in, and counts of each fold and of all others, from one pass, by subtraction."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from termsieve._kernels import WorkThreshold, import_kernels, kernels_pay
from termsieve._types import AnyArray, BoolArray, Int32Array, Int64Array
from termsieve.counts.arithmetic import add_all
from termsieve.counts.cells import Cells, narrow
from termsieve.counts.counts import Counts
from termsieve.counts.date_periods import Every, make_namer
from termsieve.documents.label_spelling import is_missing
from termsieve.documents.string_columns import stringify_column
from termsieve.errors import InputError, OptionError

if TYPE_CHECKING:
    from termsieve.counts import cell_kernels
    from termsieve.counts.labelled import LabelledMatrix
else:
    cell_kernels = import_kernels("termsieve.counts.cell_kernels")

FOLD_CELLS = WorkThreshold(warm=1 << 21, cold=1 << 24)  # from so many cells on, loops are quicker than NumPy


class Folds:
    """Counts of folds: what `count_folds` gives.

    Attributes
    ----------
    total
        Counts of all documents.
    names
        The folds, sorted: the values of the array or column, or 0, 1, ... .
    assignment
        For each document, in order, the number of its fold; None where folds were counted apart.

    Examples
    --------
    >>> import termsieve as ts
    >>> folds = ts.count_folds(["cheap pills", "buy pills", "lunch at noon", "noon"], ["spam", "spam", "ham", "ham"],
    ...                        folds=["a", "b", "a", "b"])
    >>> folds.names, folds.test(0).n_docs, folds.training(0).n_docs
    (['a', 'b'], 2, 2)
    >>> folds.test(0) + folds.training(0) == folds.total
    True
    """

    def __init__(self, raw: FoldCells | _FoldCounts, names: list[Any]) -> None:
        self.names = names
        self.assignment = raw.assignment
        self._raw = raw
        self.total = raw.whole()

    @classmethod
    def of(cls, counts: Mapping[Any, Counts]) -> Folds:
        """Bring together counts of folds that were counted apart, by name."""
        names = sorted(counts)
        return cls(_FoldCounts([counts[name] for name in names]), names)

    @classmethod
    def of_matrix(cls, matrix: LabelledMatrix, folds: int = 10, *, seed: int = 0) -> Folds:
        """Divide documents in memory into folds, as `count_folds` divides them where it reads them.

        >>> from termsieve.counts.labelled import read_labelled
        >>> texts, labels = ["cheap pills", "buy pills", "lunch at noon", "noon"], ["spam", "spam", "ham", "ham"]
        >>> folds = Folds.of_matrix(read_labelled(texts, labels), 2)
        >>> folds.test(0) + folds.training(0) == folds.total
        True
        """
        numbers = hash_to_folds(np.arange(matrix.X.shape[0]), folds, seed)
        return cls(_divide_matrix(matrix, numbers, folds), list(range(folds)))

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{int(n):,}" for n in self._raw.n_docs[:6])
        return f"Folds: {len(self)} of {self.total.n_docs:,} documents ({sizes}{', ...' if len(self) > 6 else ''})"

    def test(self, fold: int) -> Counts:
        """Return counts of the documents of one fold."""
        return self._raw.part(self._check(fold), without=False)

    def training(self, fold: int) -> Counts:
        """Return counts of the documents of all other folds."""
        return self._raw.part(self._check(fold), without=True)

    def join(self, folds: Iterable[int]) -> Counts:
        """Return counts of the documents of several folds, together."""
        if not isinstance(folds, Iterable):
            raise OptionError(f"join needs the numbers of several folds, such as [0, 1], not {folds!r}.")
        return self._raw.join(np.isin(np.arange(len(self)), [self._check(fold) for fold in folds]))

    def _check(self, fold: int) -> int:
        if not isinstance(fold, (int, np.integer)) or not 0 <= fold < len(self):
            raise OptionError(f"There is no fold {fold!r}: the folds are 0 to {len(self) - 1}.")
        return fold


class FoldCells(NamedTuple):
    """Cells by term and class, the rest column as a last class, with the share of each fold."""

    terms: pa.LargeStringArray
    cells: Cells
    cell_of: Int64Array  # for each cell of a fold, the cell of the total
    fold_numbers: Int32Array
    fold_values: AnyArray
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

    def _extract(self, places: Int64Array, shares: AnyArray, folds: BoolArray, *, without: bool) -> Counts:
        """Return counts of the folds that have these shares in the cells at these places; or of all others."""
        pays = kernels_pay(len(self.cells.classes), FOLD_CELLS)
        extract_fold = cell_kernels.extract_fold if pays else _extract_fold_plainly
        kept, *cells, totals = extract_fold(
            **self.cells._asdict(), places=places, shares=shares.astype(np.int64, copy=False),
            n_classes=len(self.classes), without=without,
        )  # fmt: skip
        terms = self.terms if len(kept) == len(self.terms) else self.terms.take(pa.array(kept))
        return self._counts(terms, Cells(*cells), totals, ~folds if without else folds)

    def join(self, chosen: BoolArray) -> Counts:
        """Return counts of the chosen folds."""
        of_folds = chosen[self.fold_numbers]
        places, values = self.cell_of[of_folds], self.fold_values[:, of_folds]
        starts = np.flatnonzero(np.diff(places, prepend=-1))
        shares = np.add.reduceat(values, starts, axis=1, dtype=np.int64) if len(starts) else values
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
        self._total = add_all(parts)
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
        return add_all(kept) if kept else self._total - self._total


def _divide_matrix(matrix: LabelledMatrix, numbers: Int32Array, n_folds: int) -> FoldCells:
    """Return the cells of folds of documents in memory; `numbers` has the fold of each."""
    from scipy import sparse  # takes long to import, and counting does without

    from termsieve.counts.matrices import sum_rows

    Y, whole = matrix.Y, matrix.counts
    n_labels, n_columns = np.diff(Y.indptr), (Y.shape[1] + 1) * n_folds
    several = n_labels != 1  # what these lack, or have too much, goes to the rest column
    classes = np.concatenate([Y.indices, np.full(several.sum(), Y.shape[1], Y.indices.dtype)])
    documents = np.concatenate([np.repeat(np.arange(len(n_labels)), n_labels), np.flatnonzero(several)])
    weights = np.concatenate([np.ones(len(Y.indices), np.int64), 1 - n_labels[several]])
    columns = classes.astype(np.int64) * n_folds + numbers[documents]
    labels = sparse.csr_array((weights, (columns, documents)), shape=(n_columns, len(n_labels)))
    terms, folded = whole.term_array, sum_over_folds(sum_rows(matrix.X, labels), n_folds)
    sizes = np.zeros((n_folds, Y.shape[1]), np.int64)
    np.add.at(sizes, (np.repeat(numbers, n_labels), Y.indices), 1)
    n_docs, n_multilabel = (np.bincount(some, minlength=n_folds) for some in (numbers, numbers[n_labels > 1]))
    names = whole.classes.tolist()
    return FoldCells(terms, *folded, names, sizes, n_docs, n_multilabel, numbers, whole.settings or {})


def _extract_fold_plainly(
    indptr: Int64Array, classes: Int32Array, values: AnyArray, places: Int64Array, shares: Int64Array,
    n_classes: int, without: bool,
) -> tuple[Int64Array, Int64Array, Int32Array, Int64Array, Int64Array]:  # fmt: skip
    """Do what the loop of that name does; see there."""
    values = values.astype(np.int64) if without else np.zeros(values.shape, np.int64)
    values[:, places] += -shares if without else shares
    totals = Cells(indptr, classes, values).totals()
    kept = np.flatnonzero(totals[0] > 0)
    cells = Cells(indptr, classes, values).where((values[0] > 0) & (classes < n_classes))
    return kept, *cells.take(kept), totals[:, kept]


class FoldAssignment:
    """All documents in one fold."""

    column: str | None = None  # which it needs of the documents

    def numbers(self, first: int, batch: pa.RecordBatch) -> Int32Array:  # noqa: ARG002
        """Return the number of the fold of each document of a batch; `first` documents came before it."""
        return np.zeros(batch.num_rows, np.int32)

    def names(self) -> list[Any]:
        """Return the name of each fold, by number."""
        return [0]

    def check(self, n_docs: int) -> None:
        """Raise when the assignment does not fit so many documents."""


class _HashedFolds(FoldAssignment):
    """By a hash of seed and row number."""

    def __init__(self, n: int, seed: int) -> None:
        self._n, self._seed = n, seed

    def numbers(self, first: int, batch: pa.RecordBatch) -> Int32Array:
        return hash_to_folds(np.arange(first, first + batch.num_rows), self._n, self._seed)

    def names(self) -> list[Any]:
        return list(range(self._n))


class _HashedIds(FoldAssignment):
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


class _GivenFolds(FoldAssignment):
    """By an array with a fold for each document."""

    def __init__(self, folds: AnyArray) -> None:
        missing = np.flatnonzero(_find_missing(folds))
        if len(missing):
            raise OptionError(f"Document {missing[0] + 1:,} has no fold: its entry in folds is {folds[missing[0]]}.")
        try:
            self._names, self._numbers = np.unique(folds, return_inverse=True)
            sorted(self._names.tolist())
        except TypeError as error:
            raise OptionError(
                f"folds must have one fold for each document, all of one type that can be sorted: {error}."
            ) from error

    def numbers(self, first: int, batch: pa.RecordBatch) -> Int32Array:
        return self._numbers[first : first + batch.num_rows].astype(np.int32)

    def names(self) -> list[Any]:
        return list(self._names.tolist())

    def check(self, n_docs: int) -> None:
        if n_docs != len(self._numbers):
            raise OptionError(f"folds has {len(self._numbers):,} entries, but there are {n_docs:,} documents.")


def _find_missing(folds: AnyArray) -> BoolArray:
    if folds.dtype.kind == "O":
        return np.fromiter(map(is_missing, folds), np.bool_, len(folds))
    return np.asarray(folds != folds, np.bool_)  # NaN and NaT


class _ColumnFolds(FoldAssignment):
    """By a column of the documents."""

    def __init__(self, column: str, name: Callable[[Any], Any]) -> None:
        self.column, self._name = column, name
        self._known: dict[Any, int] = {}

    def numbers(self, first: int, batch: pa.RecordBatch) -> Int32Array:
        values = batch.column(self.column).to_pylist()
        missing = next((row for row, value in enumerate(values) if is_missing(value)), None)
        if missing is not None:
            raise InputError(f"Document {first + missing + 1} has no fold: its column {self.column!r} is empty.")
        if isinstance(values[0], (list, dict)):
            raise InputError(f"The column {self.column!r} holds {type(values[0]).__name__}s, which cannot name a fold.")
        try:
            names = list(map(self._name, values))
        except InputError as error:
            raise InputError(f"The column {self.column!r}, documents {first + 1:,} and after: {error}") from None
        return np.array([self._known.setdefault(name, len(self._known)) for name in names], np.int32)

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


def _keep(value: Any) -> Any:
    return value


def make_assignment(folds: Any, seed: int, every: Every | None = None, id: str | None = None) -> FoldAssignment:
    """Return the assignment that `count_folds` is asked for: by a column, by a hash, or as given."""
    if id is not None and not (isinstance(folds, (int, np.integer)) and isinstance(id, str)):
        raise OptionError(f"id={id!r} is a column for a number of folds; folds is {folds!r}.")
    if isinstance(folds, str):
        return _ColumnFolds(folds, _keep if every is None else make_namer(every))
    if every is not None:
        folds = _name_periods(folds, every)
    if isinstance(folds, (int, np.integer)) and not isinstance(folds, bool):
        if folds < 2:
            raise OptionError(f"folds must be at least 2, or an array, or the name of a column, not {folds}.")
        if not isinstance(seed, (int, np.integer)) or isinstance(seed, bool):
            raise OptionError(f"seed must be a whole number, not {seed!r}.")
        # as Python's numbers: one of NumPy has no room for 2**64
        return _HashedFolds(int(folds), int(seed)) if id is None else _HashedIds(int(folds), int(seed), id)
    try:
        given = np.asarray(folds)
    except ValueError:
        given = np.empty(())
    if given.ndim != 1:
        raise OptionError(f"folds must be a number, an array with one entry per document, or a column, not {folds!r}.")
    return _GivenFolds(given)


def _name_periods(dates: Any, every: Every) -> list[str]:
    """Return the period of each of some dates."""
    name = make_namer(every)
    try:
        return list(map(name, dates))
    except TypeError as error:  # no array, or one of arrays
        raise OptionError(
            f"every={every!r} needs dates: folds must be an array of them or a column, not {dates!r:.60}."
        ) from error


def sum_over_folds(cells: Cells, n_folds: int) -> tuple[Cells, Int64Array, Int32Array, AnyArray]:
    """Sum the cells of each class over the folds; they are numbered by class, then fold.

    Gives the sums, and for each cell of a fold: the cell of the sum, the fold and the values.
    """
    if n_folds == 1:
        return cells.narrow(), np.empty(0, np.int64), np.empty(0, np.int32), cells.values[:, :0]
    classes, numbers = np.divmod(cells.classes, n_folds)
    first = np.empty(len(classes), np.bool_)
    first[1:] = classes[1:] != classes[:-1]
    first[cells.indptr[:-1][np.diff(cells.indptr) > 0]] = True  # a column of a matrix may be of no document
    starts = np.flatnonzero(first)
    sums = np.add.reduceat(cells.values, starts, axis=1) if len(starts) else cells.values
    indptr = np.concatenate([[0], np.cumsum(first)])[cells.indptr]
    return Cells(indptr, classes[starts], sums).narrow(), np.cumsum(first) - 1, numbers, narrow(cells.values)

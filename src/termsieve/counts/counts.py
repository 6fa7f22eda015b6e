"""Counts: how often each term stands in each class. The sufficient statistics from which every score follows.

Counts add and subtract, exactly; any way of cutting the documents into parts gives the same sum.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from termsieve._types import AnyArray, Int64Array, StringArray
from termsieve.counts import storage
from termsieve.counts.cells import Cells, TermBlock
from termsieve.counts.counts_reader import CountsReader
from termsieve.counts.counts_views import describe_counts, render_counts
from termsieve.counts.reduction import describe_pruning, find_kept_terms, rename_classes
from termsieve.errors import CountsError, UnknownNameError, did_you_mean
from termsieve.frames import ArrowTable
from termsieve.tokens.analyzer import Analyzer, compute_fingerprint
from termsieve.tokens.strings import argsort_strings, check_distinct

if TYPE_CHECKING:
    from scipy import sparse


_SEARCHED = 200_000  # terms among which a similar one is looked for


class TermCounts(NamedTuple):
    """Counts of one term over all documents; `by_class` has (df, tf, tf2) of each class in which it occurs."""

    term: str
    df: int
    tf: float
    tf2: float
    by_class: dict[str, tuple[float, float, float]]


class Population(NamedTuple):
    """All terms, where counts have only some of them: how many, and their occurrences, in all and in each class."""

    n_terms: int
    n_occurrences: float
    class_tf: AnyArray


class Counts(ArrowTable):
    """Exact, mergeable counts of terms in classes.

    Made by `termsieve.count`, `Counts.from_matrix` or `Counts.load`; never changed afterwards.

    Attributes
    ----------
    terms, classes
        Names, sorted by code point. Those of `from_matrix` and of a given vocabulary stay in the given order.
    n_docs, n_multilabel
        Number of documents, and of those with more than one label.
    class_sizes
        Documents of each class.
    df, tf, tf2
        Sparse matrices (classes x terms): documents with the term, its occurrences, the sum of their squares.
    term_df, term_tf, term_tf2
        The same over all documents. With several labels per document these are not the sums over classes.
    fingerprint
        Of the analyzer that made the terms; None for a matrix.

    Examples
    --------
    >>> import termsieve as ts
    >>> counts = ts.count(["good good film", "bad film"], ["pos", "neg"])
    >>> list(counts.terms), list(counts.classes)
    (['bad', 'film', 'good'], ['neg', 'pos'])
    >>> counts.tf.toarray()
    array([[1, 1, 0],
           [0, 1, 2]])
    >>> (counts + counts) - counts == counts
    True
    >>> counts["good"].by_class
    {'pos': (1, 2, 4)}
    """

    def __init__(
        self,
        terms: pa.LargeStringArray,
        classes: Sequence[str],
        cells: Cells,
        totals: AnyArray,
        *,
        n_docs: int,
        class_sizes: Int64Array,
        n_multilabel: int = 0,
        settings: Mapping[str, Any] | None = None,
        fixed: bool = False,
        pruned: str = "",
    ) -> None:
        self.term_array = terms
        self.classes: StringArray = np.array(list(classes), dtype=object)
        self.cells = cells.narrow()  # always where that is possible, so that equal counts are equal arrays
        self.totals = totals
        self.n_docs = n_docs
        self.class_sizes = class_sizes
        self.n_multilabel = n_multilabel
        self.settings = None if settings is None else dict(settings)
        self.fixed = fixed
        self.pruned = pruned
        self.origin: Mapping[str, Any] = {}  # files that it is from, for a report; no part of what is counted
        self.population: Population | None = None  # of which these terms are a part, if they are not all

    # What is in it

    @functools.cached_property
    def terms(self) -> StringArray:
        """The terms, as an array of str."""
        return np.asarray(self.term_array.to_numpy(zero_copy_only=False), dtype=object)

    @functools.cached_property
    def df(self) -> sparse.csc_array:
        """Documents of the class with the term (classes x terms)."""
        return self._make_matrix(0, np.dtype(np.int64))

    @functools.cached_property
    def tf(self) -> sparse.csc_array:
        """Occurrences of the term in the class (classes x terms)."""
        return self._make_matrix(1, self.totals.dtype)

    @functools.cached_property
    def tf2(self) -> sparse.csc_array:
        """Sum of squares of the occurrences per document (classes x terms)."""
        return self._make_matrix(2, self.totals.dtype)

    def _make_matrix(self, row: int, dtype: np.dtype[Any]) -> sparse.csc_array:
        from scipy import sparse

        values = self.cells.values[row].astype(dtype, copy=False)
        matrix = sparse.csc_array((values, self.cells.classes, self.cells.indptr), shape=self.shape)
        matrix.has_canonical_format = True
        return matrix

    @property
    def term_df(self) -> Int64Array:
        """Documents with the term."""
        return np.asarray(self.totals[0], np.int64)

    @property
    def term_tf(self) -> AnyArray:
        """Occurrences of the term."""
        return np.asarray(self.totals[1])

    @property
    def term_tf2(self) -> AnyArray:
        """Sum of squares of the term's occurrences per document."""
        return np.asarray(self.totals[2])

    @property
    def n_terms(self) -> int:
        """Number of terms."""
        return len(self.term_array)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @property
    def vocabulary_size(self) -> int:
        """Number of terms; of a block of terms, that of all blocks."""
        return self.n_terms if self.population is None else self.population.n_terms

    @property
    def is_real(self) -> bool:
        """Whether ``tf`` and ``tf2`` are sums of real numbers, such as tf-idf."""
        return bool(self.totals.dtype.kind == "f")

    @property
    def shape(self) -> tuple[int, int]:
        """Number of classes and of terms."""
        return self.n_classes, self.n_terms

    @property
    def n_occurrences(self) -> float:
        """Occurrences of all terms in all documents; of a block of terms, those of all blocks."""
        if self.population is not None:
            return self.population.n_occurrences
        total: float = self.term_tf.sum().item()
        return total

    @functools.cached_property
    def class_tf(self) -> AnyArray:
        """Occurrences of all terms in each class; of a block of terms, those of all blocks."""
        if self.population is not None:
            return self.population.class_tf
        totals = np.zeros(self.n_classes, self.totals.dtype)
        self.cells.add_occurrences_to(totals)
        return totals

    @functools.cached_property
    def alphabetical(self) -> Int64Array:
        """The place of each term in code-point order, by which ties are broken."""
        rank = np.arange(self.n_terms)
        if self.fixed:
            rank[argsort_strings(self.term_array)] = np.arange(self.n_terms)
        return rank

    @property
    def analyzer(self) -> Analyzer | None:
        """The analyzer that made the terms."""
        return None if self.settings is None else Analyzer.from_settings(self.settings)

    @property
    def fingerprint(self) -> str | None:
        """The fingerprint of that analyzer."""
        return None if self.settings is None else compute_fingerprint(self.settings)

    def __repr__(self) -> str:
        return describe_counts(self)

    def _repr_html_(self) -> str:
        return render_counts(self)

    def to_arrow(self) -> pa.Table:
        """Return a table with a row per term and class in which it occurs: term, class, df, tf, tf2."""
        lengths = np.diff(self.cells.indptr)
        return pa.table(
            {
                "term": self.term_array.take(pa.array(np.repeat(np.arange(self.n_terms), lengths))),
                "class": pa.array(self.classes[self.cells.classes], pa.string()),
                "df": self.cells.values[0].astype(np.int64, copy=False),
                "tf": self.cells.values[1].astype(self.totals.dtype, copy=False),
                "tf2": self.cells.values[2].astype(self.totals.dtype, copy=False),
            }
        )

    # Terms and classes by name

    def __getitem__(self, term: str) -> TermCounts:
        place = self.index_of(term)
        cells = slice(self.cells.indptr[place], self.cells.indptr[place + 1])
        names = self.classes[self.cells.classes[cells]].tolist()
        values = zip(*self.cells.values[:, cells].tolist(), strict=True)
        df, tf, tf2 = self.totals[:, place].tolist()
        return TermCounts(term, int(df), tf, tf2, dict(zip(names, values, strict=True)))

    def __contains__(self, term: object) -> bool:
        return self._find(term) >= 0

    def index_of(self, term: str) -> int:
        """Return the place of a term, or a `KeyError` that names a similar one."""
        place = self._find(term)
        if place < 0:
            hint = did_you_mean(term, self.terms) if self.n_terms <= _SEARCHED else ""
            raise UnknownNameError(f"There is no term {term!r}. {hint}".rstrip())
        return place

    def index_of_class(self, label: str) -> int:
        """Return the place of a class, or a `KeyError` that names a similar one."""
        found = np.flatnonzero(self.classes == label) if isinstance(label, str) else ()
        if not len(found):
            known = ", ".join(map(repr, self.classes[:20]))
            raise UnknownNameError(f"There is no class {label!r}. {did_you_mean(label, self.classes)}Classes: {known}.")
        return int(found[0])

    def _find(self, term: object) -> int:
        if not isinstance(term, str):
            return -1
        try:
            wanted = pa.scalar(term, pa.large_string())
        except UnicodeEncodeError:  # no text, so no term
            return -1
        return int(pc.index(self.term_array, wanted).as_py())

    # Made from a matrix, saved and loaded

    @classmethod
    def from_matrix(
        cls,
        X: Any,
        y: Any,
        terms: Iterable[str] | None = None,
        *,
        classes: Sequence[str] | None = None,
    ) -> Counts:
        """Return counts of the columns of a non-negative matrix.

        Parameters
        ----------
        X
            Documents x terms, dense or sparse, not negative. Values that are not whole numbers (tf-idf) are summed as
            real numbers; ``df`` counts the entries above zero.
        y
            One label per document, or an indicator matrix (documents x classes), or a list of label sets.
        terms
            Names of the columns; without them x0, x1, ... .
        classes
            Names of the columns of an indicator matrix; without them 0, 1, ... .

        Examples
        --------
        >>> Counts.from_matrix([[2, 0], [1, 1]], ["a", "b"], terms=["cat", "dog"]).df.toarray()
        array([[1, 0],
               [1, 1]])
        """
        from termsieve.counts.matrices import count_matrix

        return cls.of_block(*count_matrix(X, y, terms, classes))

    @classmethod
    def from_table(
        cls,
        terms: Any,
        classes: Any = None,
        df: Any = None,
        tf: Any = None,
        tf2: Any = None,
        *,
        class_sizes: Mapping[str, int] | None = None,
        n_docs: int | None = None,
        n_multilabel: int | None = None,
        analyzer: Analyzer | None = None,
    ) -> Counts:
        """Make counts from a table that something else counted: a warehouse, a search engine, a paper.

        The counts are checked: no class has more documents than there are, no term more documents than its class, no
        fewer occurrences than documents, and so on.

        Parameters
        ----------
        terms, classes, df, tf, tf2
            Columns with a row for each term and class in which it occurs: documents with the term, its occurrences, the
            sum of their squares. Or, as the first argument alone, a table with the columns term, class, df, tf and tf2
            (anything with Arrow's interface: a frame of polars or pandas, a relation of DuckDB). Without `tf`, each
            document has a term once. Without `tf2`, occurrences are taken to be spread evenly over the documents.
        class_sizes
            Documents of each class. Not needed if the table has a row for each class, without a term, with them in df.
        n_docs, n_multilabel
            All documents (default the sum of `class_sizes`), and those with several labels (default 0). With several
            labels, rows without a class must have the counts of each term in all documents.
        analyzer
            What the terms were made by, if they are equal to those of an analyzer: then these counts and others of that
            analyzer add up.

        Examples
        --------
        >>> counts = Counts.from_table(["call", "call", "lunch"], ["ham", "spam", "ham"], [2, 9, 5], [2, 12, 5],
        ...                            class_sizes={"ham": 40, "spam": 10})
        >>> counts["call"].by_class
        {'ham': (2, 2, 2), 'spam': (9, 12, 18)}
        >>> Counts.from_table(counts.to_table()) == counts
        True
        """
        from termsieve.counts.tables import COLUMNS, columns_of_table, read_table

        if df is None:
            columns = columns_of_table(terms, is_alone=classes is None and tf is None)
        else:
            columns = dict(zip(COLUMNS, (terms, classes, df, tf, tf2), strict=True))
        settings = None if analyzer is None else analyzer.settings
        return cls.of_block(*read_table(columns, class_sizes, n_docs, n_multilabel, settings))

    def to_table(self) -> pa.Table:
        """Return everything that was counted as one table, which `from_table` reads: see `termsieve.counts.tables`."""
        from termsieve.counts.tables import table_of

        return table_of(self)

    def save(self, path: str | Path) -> None:
        """Write to one file: a documented, checksummed format, the same bytes for equal counts."""
        storage.save(path, self.facts, [self.block])

    @classmethod
    def load(cls, path: str | Path) -> Counts:
        """Read a file that `save` wrote; one that is truncated, altered or foreign is refused."""
        with closing(CountsReader.of_file(path)) as stored:
            counts = cls.of_block(stored.facts, stored.read_all())
        counts.origin = {"counts": [str(path)]}
        return counts

    def to_bytes(self) -> bytes:
        """Return what `save` writes."""
        return storage.pack(self.facts, [self.block])

    @classmethod
    def from_bytes(cls, content: bytes, source: str | Path = "counts") -> Counts:
        """Return counts of such bytes; `source` is where they are from, for what an error says."""
        stored = CountsReader.of_bytes(content, Path(source))
        return cls.of_block(stored.facts, stored.read_all())

    @classmethod
    def of_block(cls, facts: Mapping[str, Any], block: TermBlock, population: Population | None = None) -> Counts:
        """Return counts of the terms of a block; without a population, these are all terms."""
        counts = cls(terms=block.terms, cells=block.cells, totals=block.totals, **facts)
        counts.population = population
        return counts

    @property
    def facts(self) -> dict[str, Any]:
        """What is known of the documents, whatever terms there are."""
        return {
            "classes": list(self.classes),
            "n_docs": self.n_docs,
            "class_sizes": self.class_sizes,
            "n_multilabel": self.n_multilabel,
            "settings": self.settings,
            "fixed": self.fixed,
            "pruned": self.pruned,
        }

    @property
    def block(self) -> TermBlock:
        """All terms with their counts."""
        return TermBlock(self.term_array, self.cells, self.totals)

    # Algebra

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Counts):
            return NotImplemented
        mine, theirs = ((*one.facts.values(), one.term_array, *one.cells, one.totals) for one in (self, other))
        return all(map(_is_equal, mine, theirs))

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: Counts) -> Counts:
        from termsieve.counts.arithmetic import add

        return add(self, other) if isinstance(other, Counts) else NotImplemented

    def __radd__(self, other: object) -> Counts:
        # so that sum() works
        return self if other == 0 else NotImplemented

    def __sub__(self, other: Counts) -> Counts:
        from termsieve.counts.arithmetic import subtract

        return subtract(self, other) if isinstance(other, Counts) else NotImplemented

    def without_empty(self) -> Counts:
        """Leave out cells, terms and classes of no document; given columns stay."""
        counts, filled = self, self.cells.values[0] > 0
        if not filled.all():
            counts = counts._with_changes(cells=counts.cells.where(filled))
        if not self.fixed and not (present := counts.totals[0] > 0).all():
            counts = counts.take(np.flatnonzero(present))
        if not (kept := counts.class_sizes > 0).all():
            numbers = (np.cumsum(kept) - 1).astype(np.int32)
            cells = counts.cells._replace(classes=numbers[counts.cells.classes])
            counts = counts._with_changes(
                cells=cells, classes=counts.classes[kept], class_sizes=counts.class_sizes[kept]
            )
        return counts

    def take(self, index: Int64Array, terms: pa.LargeStringArray | None = None, **changes: Any) -> Counts:
        """Return the columns of `index`; -1 stands for a term that does not occur."""
        known = index >= 0
        totals = np.zeros((3, len(index)), self.totals.dtype)
        totals[:, known] = self.totals[:, index[known]]
        terms = self.term_array.take(pa.array(index)) if terms is None else terms
        found = self._with_changes(terms=terms, cells=self.cells.take(index), totals=totals, **changes)
        found.origin = self.origin
        return found

    def named(self, terms: pa.LargeStringArray, settings: Mapping[str, Any]) -> Counts:
        """Return the same counts under the sorted terms that an analyzer of such settings made."""
        return self._with_changes(terms=terms, settings=dict(settings), fixed=False)

    def _with_changes(self, **changes: Any) -> Counts:
        return Counts(**{**self.facts, **self.block._asdict(), **changes})

    # Views

    def with_vocabulary(self, vocabulary: Iterable[str]) -> Counts:
        """Return counts of just these terms, in this order; those that do not occur count nothing."""
        terms = check_distinct("vocabulary", vocabulary)
        index = pc.index_in(terms, value_set=self.term_array).fill_null(-1).to_numpy()
        return self.take(index.astype(np.int64), terms, fixed=True)

    def prune(
        self,
        *,
        min_df: float = 1,
        max_df: float = 1.0,
        min_tf: float | None = None,
        max_tf: float | None = None,
        keep: Collection[str] | None = None,
        drop: Collection[str] | None = None,
    ) -> Counts:
        """Return counts without the terms that are too rare, too common or not wanted.

        A whole number is a number of documents (occurrences for `min_tf` and `max_tf`), a float from 0 to 1 the share
        of all of them; the limits themselves are kept. `keep` and `drop` name terms.

        Examples
        --------
        >>> import termsieve as ts
        >>> counts = ts.count(["a1 b1", "b1 c1", "b1 c1 d1"], ["x", "x", "y"])
        >>> list(counts.prune(min_df=2, max_df=0.9).terms)
        ['c1']
        """
        limits = {"min_df": min_df, "max_df": max_df, "min_tf": min_tf, "max_tf": max_tf}
        kept = find_kept_terms(self, limits, keep, drop)
        pruned = "; ".join(filter(None, [self.pruned, describe_pruning(limits, keep, drop)]))
        return self.take(np.flatnonzero(kept), pruned=pruned)

    def merge_classes(self, groups: Mapping[str, Collection[str]]) -> Counts:
        """Return counts with some classes made one; classes that no group names stay as they are.

        With several labels per document this cannot be known from counts: a document may have two labels of a group.

        Examples
        --------
        >>> import termsieve as ts
        >>> counts = ts.count(["cpu", "gpu", "hockey"], ["mac", "pc", "sport"])
        >>> list(counts.merge_classes({"comp": ["mac", "pc"]}).classes)
        ['comp', 'sport']
        """
        names = rename_classes(groups, list(self.classes))
        if self.n_multilabel:
            raise CountsError(
                f"Cannot merge classes: {self.n_multilabel:,} documents have more than one label, and counts do not "
                "know which of them have two labels of one group. Relabel the documents and count them again."
            )
        classes = sorted(set(names))
        place = {name: i for i, name in enumerate(classes)}
        rows = np.array([place[name] for name in names], np.int32)
        sizes = np.zeros(len(classes), np.int64)
        np.add.at(sizes, rows, self.class_sizes)
        return self._with_changes(classes=classes, class_sizes=sizes, cells=self.cells.renumber(rows))


def _is_equal(mine: object, theirs: object) -> bool:
    if isinstance(mine, np.ndarray) and isinstance(theirs, np.ndarray):
        return mine.dtype == theirs.dtype and np.array_equal(mine, theirs)
    if isinstance(mine, pa.Array):
        return bool(mine.equals(theirs))
    return mine == theirs

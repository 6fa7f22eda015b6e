"""Documents x terms beside documents x classes: what is needed by rules that look at several terms at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from scipy import sparse

from termsieve._kernels import kernels_pay
from termsieve._types import Int64Array
from termsieve.counts.counting import TEXT_BYTES, as_documents, resolve_threads
from termsieve.counts.counts import Counts
from termsieve.counts.matrices import check_matrix, make_label_matrix
from termsieve.counts.plain_rows import PlainRows
from termsieve.counts.rows import Rows, Worker, read_rows
from termsieve.documents import TOKENS, Documents
from termsieve.errors import InputError
from termsieve.tokens.analyzer import Analyzer, choose_analyzer
from termsieve.tokens.boundaries import warn_of_missing_boundaries
from termsieve.tokens.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False)
class LabelledMatrix:
    """Documents in memory, with their counts.

    Attributes
    ----------
    X : csr_array
        Documents x terms, in the order of the counts; an entry above zero is a term of a document.
    Y : csr_array
        Documents x classes, with 1 for each label.
    counts : Counts
        Of these documents.

    Examples
    --------
    >>> matrix = LabelledMatrix.from_matrix([[1, 0], [2, 1], [0, 1]], ["a", "a", "b"])
    >>> matrix.class_df.toarray().tolist(), matrix.codes.tolist()
    ([[2, 1], [0, 1]], [0, 0, 1])
    """

    X: sparse.csr_array
    Y: sparse.csr_array
    counts: Counts

    @classmethod
    def from_matrix(cls, X: Any, y: Any, terms: Iterable[str] | None = None) -> LabelledMatrix:
        """Make it from what `Counts.from_matrix` takes."""
        matrix = check_matrix(X)
        labels, _ = make_label_matrix(y, None, matrix.shape[0])
        return cls(matrix, labels, Counts.from_matrix(matrix, y, terms))

    @cached_property
    def presence(self) -> sparse.csc_array:
        """Documents x terms, with 1 for each term of a document."""
        matrix = sparse.csr_array((self.X.data > 0, self.X.indices, self.X.indptr), shape=self.X.shape)
        columns = matrix.tocsc()
        columns.eliminate_zeros()
        columns.sort_indices()
        return columns.astype(np.int8)

    @cached_property
    def class_df(self) -> sparse.csc_array:
        """Classes x terms: documents of the class with the term."""
        return sparse.csc_array(sparse.csc_array(self.Y.T.astype(np.int64)) @ self.presence.astype(np.int64))

    @cached_property
    def codes(self) -> Int64Array | None:
        """The class of each document, where each has just one; else None."""
        return self.Y.indices.astype(np.int64) if (np.diff(self.Y.indptr) == 1).all() else None

    def codes_of_class(self, c: int) -> Int64Array:
        """Return 1 for the documents of a class, and 0 for the rest."""
        return np.asarray(self.Y[:, [c]].toarray().ravel(), np.int64)

    def with_counts(self, counts: Counts) -> LabelledMatrix:
        """Return the matrix of those terms only that other counts of these documents have, in their order."""
        place = {term: i for i, term in enumerate(self.counts.term_array.to_pylist())}
        index = [place[term] for term in counts.term_array.to_pylist()]
        return replace(self, X=self.X[:, index], counts=counts)


def read_labelled(
    documents: Documents | Sequence[str], labels: Any = None, analyzer: Analyzer | None = None,
    threads: int | None = None,
) -> LabelledMatrix:  # fmt: skip
    """Read documents into memory.

    >>> matrix = read_labelled(["good film", "bad film"], ["pos", "neg"])
    >>> matrix.counts.terms.tolist(), matrix.X.toarray().tolist()
    (['bad', 'film', 'good'], [[0, 1, 1], [1, 1, 0]])
    """
    documents = as_documents(documents, labels)
    found = read_matrices(list(documents.batches()), analyzer, resolve_threads(threads))
    counts = Counts.from_matrix(found.X, found.Y, classes=found.classes).named(found.terms, found.analyzer.settings)
    counts.origin = documents.origin
    return LabelledMatrix(found.X, found.Y, counts)


class DocumentMatrices(NamedTuple):
    """Documents x terms and documents x classes, with what names their columns; and the texts."""

    X: sparse.csr_array
    terms: pa.LargeStringArray
    Y: sparse.csr_array
    classes: list[str]
    analyzer: Analyzer
    texts: pa.ChunkedArray


def read_matrices(batches: Sequence[pa.RecordBatch], given: Analyzer | None, threads: int) -> DocumentMatrices:
    """Return matrices of all documents; without an analyzer, terms are what `choose_analyzer` says."""
    if not batches:
        raise InputError("There are no documents.")
    texts, labels = (pa.chunked_array([batch.column(name) for batch in batches]) for name in ("text", "labels"))
    analyzer = choose_analyzer(given, tokens=texts.type == TOKENS)
    if texts.type != TOKENS:
        warn_of_missing_boundaries(texts, analyzer)
    X, terms = read_occurrences(texts, analyzer, threads)
    Y, classes = make_label_matrix(labels, None, len(texts))
    return DocumentMatrices(X, terms, Y, classes, analyzer, texts)


def read_occurrences(
    texts: pa.ChunkedArray, analyzer: Analyzer, threads: int
) -> tuple[sparse.csr_array, pa.LargeStringArray]:
    """Return documents x terms with occurrences, and the terms, sorted."""
    rows: Rows | PlainRows
    if kernels_pay(texts.nbytes, TEXT_BYTES):
        workers = [Worker(i, Vocabulary(analyzer)) for i in range(threads if analyzer.runs else 1)]
        rows = read_rows(texts, workers, pa.ChunkedArray.combine_chunks)
    else:
        rows = PlainRows(texts.to_pylist(), analyzer)
    terms, columns = rows.vocabulary()
    return rows.matrix(columns, len(terms)), terms

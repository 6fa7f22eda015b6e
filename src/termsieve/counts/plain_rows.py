"""Rows of documents in plain Python and NumPy: what `rows` does with loops, for inputs too small to load them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from scipy import sparse

from termsieve._types import Int32Array
from termsieve.counts.cells import Cells
from termsieve.tokens.strings import argsort_strings


class PlainRows:
    """The rows of all documents, in numbers of the terms; the same results as of `termsieve.counts.rows.Rows`.

    >>> rows = PlainRows(["b a", "b b"], str.split)
    >>> terms, column_of = rows.vocabulary()
    >>> terms.to_pylist(), rows.matrix(column_of, 2).toarray().tolist()
    (['a', 'b'], [[1, 1], [0, 2]])
    """

    def __init__(self, documents: Iterable[Any], analyze: Callable[[Any], Sequence[str]]) -> None:
        known: dict[str, int] = {}
        numbers = [[known.setdefault(term, len(known)) for term in analyze(document)] for document in documents]
        self._terms = list(known)
        self._matrix = stack_columns(numbers, len(known))
        self.n_docs = len(numbers)

    def make_binary(self) -> None:
        """Count every term of a document once."""
        self._matrix.data.fill(1)

    def vocabulary(self) -> tuple[pa.LargeStringArray, list[Int32Array]]:
        """Return all terms, sorted, and the column of each number; in a list, as there is one worker."""
        terms = pa.array(self._terms, pa.large_string())
        order = argsort_strings(terms)
        column_of = np.empty(len(terms), np.int32)
        column_of[order] = np.arange(len(terms))
        return terms.take(pa.array(order)), [column_of]

    def matrix(self, column_of: list[Int32Array], n_columns: int) -> sparse.csr_array:
        """Return documents x columns: occurrences, in order of the columns; terms with column -1 are left out."""
        columns = column_of[0][self._matrix.indices]
        kept = columns >= 0
        indptr = np.concatenate([[0], np.cumsum(kept)])[self._matrix.indptr]
        return _make_canonical(self._matrix.data[kept], columns[kept], indptr, n_columns)

    def sums(self, column_of: list[Int32Array], n_columns: int, groups: sparse.csc_array) -> Cells:
        """Count documents, occurrences and sums of squares of each column in each group (documents x groups)."""
        members = sparse.csc_array((np.ones(groups.nnz, np.int64), groups.indices, groups.indptr), shape=groups.shape)
        by_column = self.matrix(column_of, n_columns).T.tocsr()
        sums = []
        for values in (np.ones_like(by_column.data), by_column.data, by_column.data**2):
            part = sparse.csr_array((values, by_column.indices, by_column.indptr), shape=by_column.shape) @ members
            part.sort_indices()
            sums.append(part)
        of_documents = sums[0]  # all have entries at the same places: occurrences are not negative
        values = np.array([one.data for one in sums], np.int64).reshape(3, -1)
        return Cells(of_documents.indptr.astype(np.int64), of_documents.indices.astype(np.int32), values)


def stack_columns(rows: Sequence[Sequence[int]], n_columns: int) -> sparse.csr_array:
    """Return how often each row has each number."""
    indptr = np.cumsum([0, *map(len, rows)])
    numbers = np.fromiter((number for row in rows for number in row), np.int32, int(indptr[-1]))
    return _make_canonical(np.ones(len(numbers), np.int64), numbers, indptr, n_columns)


def _make_canonical(data: Any, columns: Int32Array, indptr: Any, n_columns: int) -> sparse.csr_array:
    """Return a matrix whose rows are in order of the columns, each once."""
    matrix = sparse.csr_array((data, columns, indptr.astype(np.int32)), shape=(len(indptr) - 1, n_columns))
    matrix.sum_duplicates()
    return matrix

"""One classification problem over the presence of terms: what terms tell of the class, and of each other.

Terms are numbered by what they tell of the class, best first, and equal ones by name: so the first of equal values is
the right one, and the terms that can still win are the first ones. Only these are arranged for counting.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from termsieve._kernels import WorkThreshold, import_kernels, kernels_pay, use_way
from termsieve._types import Int32Array, Int64Array
from termsieve.counts.labelled import LabelledMatrix
from termsieve.selection.logarithms import make_log_table

if TYPE_CHECKING:
    from termsieve.selection import problem_kernels as kernels
else:
    kernels = import_kernels("termsieve.selection.problem_kernels")

ENTRIES = WorkThreshold(warm=1 << 19, cold=1 << 22)  # entries of a matrix, from which on loops are quicker than NumPy


class Problem:
    """Documents with one class each, and the terms that may be chosen, numbered by relevance.

    Attributes
    ----------
    terms : array of int
        The columns of the matrix, by relevance.
    relevance : array of int
        Information of each term about the class, in units of the log table; falling.
    df : array of int
        Documents with each term.

    Parameters
    ----------
    matrix : LabelledMatrix
        The documents.
    c : int or None
        A class, against the rest; None: all classes, of which each document has one.
    among : array of int, optional
        The columns that compete (default: all); those of no document never do.
    """

    def __init__(self, matrix: LabelledMatrix, c: int | None = None, among: Int64Array | None = None) -> None:
        self._presence = matrix.presence
        self.n_docs = int(self._presence.shape[0])
        self.log_table = make_log_table(self.n_docs)
        codes = matrix.codes if c is None else matrix.codes_of_class(c)
        if codes is None:
            raise ValueError("documents have several labels: a class is needed")
        self.class_sizes = np.bincount(codes)
        self._by_class = np.argsort(codes, kind="stable")  # so that the documents of a term are together by class
        self._codes = codes[self._by_class].astype(np.int32)
        df = np.diff(self._presence.indptr)
        columns = np.flatnonzero(df) if among is None else among[df[among] > 0]
        columns = columns[np.argsort(matrix.counts.alphabetical[columns])]
        relevance = self._evaluate_relevance(matrix.class_df, c, df)[columns]
        order = np.argsort(-relevance, kind="stable")
        self.terms, self.relevance = columns[order], relevance[order]
        self.df: Int32Array = df[self.terms].astype(np.int32)
        self._n_loaded = 0

    @property
    def n_terms(self) -> int:
        """Number of terms."""
        return len(self.terms)

    def _evaluate_relevance(self, class_df: sparse.csc_array, c: int | None, df: Int64Array) -> Int64Array:
        """Compute what each column tells of the class."""
        f, sizes, n = self.log_table.values, self.class_sizes, self.n_docs
        if c is None:
            here, classes = class_df.data, class_df.indices
            parts = np.concatenate([[0], np.cumsum(f[here] + f[sizes[classes] - here] - f[sizes[classes]])])
            totals = np.diff(parts[class_df.indptr])
        else:
            here = class_df[[c]].toarray().ravel()
            elsewhere, size = df - here, int(sizes[1:].sum())
            totals = f[here] + f[size - here] - f[size] + f[elsewhere] + f[n - size - elsewhere] - f[n - size]
        return np.asarray(np.maximum(totals - f[df] - f[n - df] + f[n], 0))

    def _load(self, stop: int) -> None:
        """Arrange the documents of all terms up to there, by class, and the terms of each document."""
        if stop <= self._n_loaded:
            return
        self._n_loaded = stop
        matrix = self._presence[:, self.terms[:stop]].tocsr()[self._by_class].tocsc()
        matrix.sort_indices()
        classes = self._codes[matrix.indices]
        is_first = np.empty(matrix.nnz, np.bool_)
        np.not_equal(classes[1:], classes[:-1], out=is_first[1:])
        is_first[matrix.indptr[:-1]] = True  # every term has a document
        starts = np.flatnonzero(is_first)
        # the pairs of a term and a class in which it occurs are numbered, and rows have these numbers beside the terms
        numbers = (np.cumsum(is_first) - 1).astype(np.int32)
        self._entry_class, self._entry_count = classes[starts], np.diff(starts, append=matrix.nnz).astype(np.int32)
        self._entry_ends = np.append(numbers[matrix.indptr[:-1]], len(starts)).astype(np.int64)
        self._columns = matrix
        rows = sparse.csc_array((numbers, matrix.indices, matrix.indptr), shape=matrix.shape).tocsr()
        self._row_ends, self._row_terms, self._row_entries = rows.indptr.astype(np.int64), rows.indices, rows.data
        self._is_compiled = kernels_pay(matrix.nnz, ENTRIES)

    @property
    def entropy(self) -> Int64Array:
        """What it takes to know whether a document has a term."""
        f, n = self.log_table.values, self.n_docs
        return np.asarray(f[n] - f[self.df] - f[n - self.df])

    @property
    def class_entropy(self) -> int:
        """What it takes to know the class of a document; in Python's numbers, as it may be more than a bit."""
        whole, parts = self.log_table.logarithms[self.n_docs], self.log_table.logarithms[self.class_sizes]
        return sum(int(n) * int(whole - part) for n, part in zip(self.class_sizes, parts, strict=True))

    # Information beside another term

    def compute_conditional(self, z: int, start: int, stop: int) -> Int64Array:
        """Compute what each of some terms tells of the class when it is known whether the document has term z."""
        self._load(stop)
        docs = self._docs(z)
        common = self._count_common(docs, start, stop, by_class=True)
        with_z = np.bincount(self._codes[docs], minlength=len(self.class_sizes))
        if not self._is_compiled:
            return self._evaluate_conditional(common, with_z, start, stop)
        out = np.empty(stop - start, np.int64)
        kernels.conditional_information(
            f=self.log_table.values, entry_ends=self._entry_ends, entry_class=self._entry_class,
            entry_count=self._entry_count, term_df=self.df, common=common, with_z=with_z,
            without_z=self.class_sizes - with_z, start=start, out=out,
        )  # fmt: skip
        return out

    def compute_shared(self, z: int, start: int, stop: int) -> Int64Array:
        """Compute what each of some terms tells of the presence of term z."""
        common = self.count_common(z, start, stop)
        f, n, n_with = self.log_table.values, self.n_docs, int(self.df[z])
        if self._is_compiled:
            out = np.empty(stop - start, np.int64)
            kernels.shared_information(
                f=f, term_df=self.df, common=common, n_docs=n, n_with=n_with, start=start, out=out
            )
            return out
        df = self.df[start:stop]
        cells = f[common] + f[df - common] + f[n_with - common] + f[n - df - n_with + common]
        return np.asarray(np.maximum(cells + f[n] - f[df] - f[n - df] - f[n_with] - f[n - n_with], 0))

    def count_common(self, z: int, start: int, stop: int) -> Int32Array:
        """Count the documents that each of some terms shares with term z."""
        self._load(stop)
        return self._count_common(self._docs(z), start, stop, by_class=False)

    def _docs(self, z: int) -> Int32Array:
        part = slice(self._columns.indptr[z], self._columns.indptr[z + 1])
        return self._columns.indices[part].astype(np.int32, copy=False)

    def _count_common(self, docs: Int32Array, start: int, stop: int, *, by_class: bool) -> Int32Array:
        """Count in some documents each entry, or each term, of the terms from start to stop."""
        offset, end = (int(self._entry_ends[j]) if by_class else j for j in (start, stop))
        numbers = self._row_entries if by_class else self._row_terms
        if self._is_compiled:
            out = np.empty(end - offset, np.int32)
            kernels.count_common(
                docs=docs, row_ends=self._row_ends, row_terms=self._row_terms, row_entries=numbers,
                start=start, stop=stop, offset=offset, out=out,
            )  # fmt: skip
            return out
        places = np.concatenate([np.arange(self._row_ends[doc], self._row_ends[doc + 1]) for doc in docs])
        here = numbers[places]
        here = here[(here >= offset) & (here < end)] - offset
        return np.bincount(here, minlength=end - offset).astype(np.int32)

    def _evaluate_conditional(self, common: Int32Array, with_z: Int64Array, start: int, stop: int) -> Int64Array:
        """Do in NumPy what the loop `conditional_information` does."""
        f, first, last = self.log_table.values, int(self._entry_ends[start]), int(self._entry_ends[stop])
        if start == stop:
            return np.empty(0, np.int64)
        c, elsewhere = self._entry_class[first:last], self._entry_count[first:last] - common
        without_z = self.class_sizes - with_z
        inside = f[common] + f[with_z[c] - common] - f[with_z[c]]
        outside = f[elsewhere] + f[without_z[c] - elsewhere] - f[without_z[c]]
        starts = self._entry_ends[start:stop] - first
        both = np.add.reduceat(common, starts)
        n_with, n_without = int(with_z.sum()), int(without_z.sum())
        only = self.df[start:stop] - both
        totals = np.add.reduceat(inside + outside, starts)
        totals -= f[both] + f[n_with - both] - f[n_with]
        totals -= f[only] + f[n_without - only] - f[n_without]
        return np.maximum(totals, 0)


@cache
def load_kernels() -> None:
    """Load or compile every loop of this module."""
    with use_way("compiled"):
        problem = Problem(LabelledMatrix.from_matrix(np.eye(2, dtype=np.int64), ["a", "b"]))
        problem.compute_conditional(0, 0, 2)
        problem.compute_shared(0, 0, 2)

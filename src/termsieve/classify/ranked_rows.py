"""Documents x ranked columns: for each number of columns, what of each document is among the first of them.

Documents are sorted by the rank of their first column, so those with any of the first columns are a prefix; the others
are alike, and two rows stand for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from termsieve._kernels import import_kernels
from termsieve._types import Array, Int32Array, Int64Array
from termsieve.errors import InputError

if TYPE_CHECKING:
    from termsieve.classify import linear_kernels
else:
    linear_kernels = import_kernels("termsieve.classify.linear_kernels")

MAX_ENTRY = 1e100  # of a matrix
BLANKS = 2  # rows that stand for all documents without any of the columns: those of the class, and the rest


class View(NamedTuple):
    """The rows at one number of columns, as the kernels take them; `n` of them have an entry or are blanks."""

    k: int
    n: int
    starts: Int64Array
    ends: Int64Array
    ranks: Int32Array
    values: Array
    scale: Array
    bias: float
    squares: Array  # the squared lengths of the rows, the intercept's column included

    def entries(self) -> dict[str, Any]:
        """Return the arguments that most kernels share, by name."""
        return {
            "starts": self.starts, "ends": self.ends, "ranks": self.ranks, "values": self.values, "scale": self.scale,
            "bias": self.bias,
        }  # fmt: skip

    def sum_rows(self, w: Array) -> Array:
        """Return the weighted sums of the rows."""
        sums = np.empty(self.n)
        linear_kernels.sum_rows(n=self.n, **self.entries(), w=w, sums=sums)
        return sums

    def add_rows(self, rows: Int64Array, weights: Array) -> Array:
        """Return a weighted sum of some rows, the intercept first."""
        total = np.zeros(self.k + 1)
        linear_kernels.add_rows(rows=rows, weights=weights, **self.entries(), out=total)
        return total


class RankedRows:
    """Documents as rows of ranks, sorted by their best rank: those with one of the first k columns stand first.

    Parameters
    ----------
    X : sparse matrix
        Its columns are in rank order.
    normalize : bool
        Whether each document has length 1 over the first k columns, whatever k is.
    """

    def __init__(self, X: sparse.csr_array, *, normalize: bool = False, fit_intercept: bool = True) -> None:
        X = _tidy(X)
        if X.nnz and not np.abs(X.data).max() <= MAX_ENTRY:
            raise InputError(f"X has entries beyond {MAX_ENTRY:g}, whose squares cannot be added up: scale X first.")
        n_docs, n_columns = X.shape
        best = np.full(n_docs, n_columns, np.int64)
        filled = np.diff(X.indptr) > 0
        best[filled] = X.indices[X.indptr[:-1][filled]]
        self.order = np.argsort(best, kind="stable")
        self._ranks = X.indices.astype(np.int32) + np.int32(1)
        self._values = X.data.astype(np.float64, copy=False)
        blanks = np.zeros(BLANKS, np.int64)
        self._starts = np.concatenate([blanks, X.indptr[:-1][self.order]], dtype=np.int64)
        self._stops = np.concatenate([blanks, X.indptr[1:][self.order]], dtype=np.int64)
        self._normalize, self._bias = normalize, 1.0 if fit_intercept else 0.0
        self.n_docs, self.n_columns = n_docs, n_columns
        self._kept: tuple[tuple[int, ...], list[View]] = ((), [])

    @property
    def normalize(self) -> bool:
        """Whether each document has length 1 over the first k columns."""
        return self._normalize

    def views(self, ks: Sequence[int] | Int64Array) -> list[View]:
        """Return the rows at increasing numbers of columns; those that were asked for last are kept."""
        numbers = tuple(int(k) for k in ks)
        asked, views = self._kept
        if numbers != asked:
            views = self._make_views(numbers)
            self._kept = numbers, views
        return views

    def _make_views(self, ks: tuple[int, ...]) -> list[View]:
        ends, squares = self._starts.copy(), np.zeros(len(self._starts))
        views = []
        for k in ks:
            n = linear_kernels.advance_ends(
                starts=self._starts, stops=self._stops, ranks=self._ranks, values=self._values, k=k, ends=ends,
                squares=squares,
            )  # fmt: skip
            scale = np.ones(len(ends))
            if self._normalize:
                np.divide(1.0, np.sqrt(squares), out=scale, where=squares > 0)
            lengths = self._bias**2 + scale**2 * squares
            rows = self._starts, ends.copy(), self._ranks, self._values
            views.append(View(k, n + BLANKS, *rows, scale, self._bias, lengths))
        return views

    def decide(self, view: View, weights: Array) -> Array:
        """Return the weighted sums of all documents, in their original order: documents x classes."""
        found = np.empty((self.n_docs, weights.shape[1]))
        for c in range(weights.shape[1]):
            sums = view.sum_rows(np.ascontiguousarray(weights[:, c]))
            found[self.order[: view.n - BLANKS], c] = sums[BLANKS:]
            found[self.order[view.n - BLANKS :], c] = sums[0]
        return found


def _tidy(X: sparse.csr_array) -> sparse.csr_array:
    """Return a matrix with each entry once, in the order of the columns, and without zeros: itself if it is so."""
    X = sparse.csr_array(X)
    if X.has_canonical_format and X.data.all():
        return X
    X = X.copy() if X.has_sorted_indices else X.tocsc().tocsr()  # faster than to sort row by row
    X.sum_duplicates()
    X.eliminate_zeros()
    return X

"""The linear system of Newton's step, in two forms: kept from step to step, and only what has changed is added."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import lapack

from termsieve._kernels import import_kernels
from termsieve._types import Array, Int64Array
from termsieve.classify.ranked_rows import View

if TYPE_CHECKING:
    from termsieve.classify import linear_kernels
else:
    linear_kernels = import_kernels("termsieve.classify.linear_kernels")

MAX_DIRECT = 3000  # the largest system that is factorized: its matrix has 72 MB


class ColumnSystem:
    """The Hessian as a matrix, columns x columns; documents that enter or leave the margin are added or taken away."""

    def __init__(self, *, reuse: bool) -> None:
        self._reuse = reuse
        self._matrix = np.zeros((0, 0))
        self._held = np.zeros(0)  # the curvature of each row that is in the matrix
        self._view: View | None = None

    def find_step(self, view: View, active: Int64Array, costs: Array, gradient: Array) -> Array | None:
        """Solve for Newton's step; return None if that cannot be done."""
        self._reach(view)
        wanted = np.zeros(view.n)
        wanted[active] = costs
        changed = np.flatnonzero(wanted != self._held)
        self._add(view, changed, wanted[changed] - self._held[changed], view.starts, view.bias**2)
        self._held = wanted
        d = len(gradient)
        factor, failed = lapack.dpotrf(self._matrix[:d, :d].T, lower=0, clean=0)
        step: Array = -lapack.dpotrs(factor, gradient, lower=0)[0]
        return None if failed else step

    def _add(self, view: View, rows: Int64Array, weights: Array, firsts: Int64Array, corner: float) -> None:
        linear_kernels.add_outer_products(
            rows=rows, weights=weights, **view.entries(), firsts=firsts, corner=corner, matrix=self._matrix
        )

    def _reach(self, view: View) -> None:
        """Extend the matrix to the columns of the view."""
        if self._view is view:
            return
        d = view.k + 1
        if self._view is None or not self._reuse:
            self._matrix = np.eye(max(d, min(len(self._matrix), 2 * d)))
            self._held = np.zeros(view.n)
        else:
            if d > len(self._matrix):
                before, self._matrix = self._matrix, np.eye(min(2 * d, max(d, MAX_DIRECT)))
                self._matrix[: len(before), : len(before)] = before
            self._held = np.concatenate([self._held, np.zeros(view.n - len(self._held))])
            held = np.flatnonzero(self._held)
            self._add(view, held, self._held[held], self._view.ends, 0.0)
        self._view = view


class DocumentSystem:
    """The active documents x the active documents: by Woodbury's identity their system solves that of the columns."""

    def __init__(self, *, reuse: bool) -> None:
        self._reuse = reuse
        self._matrix = np.zeros((0, 0))  # inner products of the documents
        self._rows = np.zeros(0, np.int64)
        self._place = np.zeros(0, np.int64)
        self._view: View | None = None

    def find_step(self, view: View, active: Int64Array, costs: Array, gradient: Array) -> Array | None:
        """Solve for Newton's step; return None if that cannot be done."""
        step: Array = -gradient
        if not len(active):
            return step
        system, sums = self._make_system(view, active, costs), np.empty(len(active))
        linear_kernels.sum_some_rows(rows=active, **view.entries(), w=gradient, sums=sums)
        factor, failed = lapack.dpotrf(system.T, lower=0, clean=0, overwrite_a=1)
        if failed:
            return None
        weights = lapack.dpotrs(factor, sums, lower=0)[0]
        linear_kernels.add_rows(rows=active, weights=weights, **view.entries(), out=step)
        return step

    def find_duals(self, view: View, active: Int64Array, costs: Array, signs: Array) -> Array | None:
        """Return the dual variables, times the signs, that are best if the active documents stay the same.

        Their system may be too ill-conditioned for Cholesky's factorization. Return None if it is singular or large.
        """
        if not 0 < len(active) <= MAX_DIRECT:
            return None
        _, _, duals, failed = lapack.dsysv(self._make_system(view, active, costs).T, signs, lower=0)
        return None if failed or not np.isfinite(duals).all() else duals

    def _make_system(self, view: View, active: Int64Array, costs: Array) -> Array:
        """Return the lower triangle of the system of the active documents."""
        self._reach(view)
        self._enter(view, active)
        system = np.empty((len(active), len(active)))
        linear_kernels.take_system(self._matrix, self._place[active], costs, system)
        return system

    def _reach(self, view: View) -> None:
        """Extend the inner products to the columns of the view."""
        if self._view is view:
            return
        if self._view is None or not self._reuse:
            self._rows = self._rows[:0]
        else:
            self._add(view, 0, self._view.ends, 0.0)
        self._place = np.full(view.n, -1, np.int64)
        self._place[self._rows] = np.arange(len(self._rows))
        self._view = view

    def _enter(self, view: View, active: Int64Array) -> None:
        """Add documents that are not there yet; begin again when there would be far more than are needed."""
        new = active[self._place[active] < 0]
        if len(self._rows) + len(new) > 2 * len(active) + 100:
            self._place[self._rows] = -1
            self._rows, new = self._rows[:0], active
        if not len(new):
            return
        old = len(self._rows)
        self._rows = np.concatenate([self._rows, new])
        size = len(self._rows)
        self._place[new] = np.arange(old, size)
        if size > len(self._matrix):
            before, self._matrix = self._matrix, np.zeros((3 * size // 2, 3 * size // 2))
            self._matrix[:old, :old] = before[:old, :old]
        self._matrix[old:size, :size] = 0.0
        self._add(view, old, view.starts, view.bias**2)

    def _add(self, view: View, old: int, firsts: Int64Array, square: float) -> None:
        linear_kernels.add_inner_products(
            old=old, rows=self._rows, firsts=firsts, ends=view.ends, ranks=view.ranks, values=view.values,
            scale=view.scale, square=square, scratch=np.zeros(view.k + 1), matrix=self._matrix,
        )  # fmt: skip

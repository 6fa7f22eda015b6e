"""Dual coordinate descent for several classes at once: a quick way to the optimum where a solution has no near start.

In the notation of `linear_path` the dual variables a_i >= 0 minimize |w|^2 / 2 + sum of a_i^2 / 4 C_i - a_i with
w = sum of a_i y_i x_i. One variable after the other gets its best value, in a random order of the documents, as in
liblinear; but all classes take their turn together, so that an entry of a document is loaded once for all of them and
their weights lie side by side. That pays where documents are short vectors (cosine-normalized tf-idf) and columns are
many; with counts it hardly converges, and Newton's method is better. Each class goes its own way, whichever others are
with it, and ends with its own certificate: the duality gap, of weights summed up anew from the dual variables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from termsieve._kernels import import_kernels
from termsieve._types import Array, BoolArray, Int64Array
from termsieve.classify.ranked_rows import View

if TYPE_CHECKING:
    from termsieve.classify import linear_kernels
else:
    linear_kernels = import_kernels("termsieve.classify.linear_kernels")

LEAST_COLUMNS = 500  # fewer are solved as fast by factorization
LEAP = 1.25  # a number of columns so many times the last begins anew; nearer ones are reached in few Newton steps
_STEEPEST = 100.0  # the mean of 2 C_i |x_i|^2 above which convergence is too slow
_CHECK = 4  # the gap is computed after so many passes
_PATIENCE, _MOST_PASSES = 12, 120  # passes before a class can be given up, and passes in all


class Descent(NamedTuple):
    """Where the descent of one class ended: its weights, the intercept first; its objective, gap and passes."""

    weights: Array
    objective: float
    gap: float
    passes: int


def is_leap(k_before: int, k: int) -> bool:
    """Tell whether the columns are so many, and so many more than before, that a new start may pay."""
    return k >= max(LEAST_COLUMNS, LEAP * k_before)


def converges_fast(view: View, costs: Array) -> bool:
    """Tell whether descent is likely to converge fast: documents are short vectors, and C is not large."""
    return float((costs * square_rows(view)[:, None]).mean()) <= _STEEPEST


def square_rows(view: View) -> Array:
    """Return the squared lengths of the rows, the intercept's column included."""
    squares = np.empty(view.n)
    linear_kernels.square_rows(view.n, view.starts, view.ends, view.values, view.scale, view.bias, squares)
    return squares


def descend(view: View, signs: Array, costs: Array, tol: float) -> list[Descent]:
    """Descend for all classes; those whose gap falls too slowly are given up.

    Parameters
    ----------
    signs, costs : arrays of shape (rows of the view, classes)
        The signs of the rows, and 2 C for each.
    tol : float
        The largest duality gap, as a share of the objective.
    """
    run = _Run(view, signs, costs)
    found: dict[int, Descent] = {}
    first = np.full(signs.shape[1], np.inf)
    for passes in range(_CHECK, _MOST_PASSES + 1, _CHECK):
        run.go_on()
        objectives, gaps = run.measure()
        shares = gaps / np.where(objectives > 0, objectives, 1.0)
        at_first = first[run.classes] if passes > _CHECK else shares
        first[run.classes] = at_first
        ends = (shares <= tol) | _is_hopeless(shares, at_first, tol, passes) | (passes == _MOST_PASSES)
        for place in np.flatnonzero(ends):
            found[int(run.classes[place])] = run.certify(int(place), passes)
        run.keep(~ends)
        if not len(run.classes):
            break
    return [found[c] for c in range(signs.shape[1])]


def _is_hopeless(shares: Array, first: Array, tol: float, passes: int) -> BoolArray:
    """Tell which gaps would still be above the tolerance after all passes if they fell as they did so far."""
    if passes < _PATIENCE:
        return np.zeros(len(shares), bool)
    rate = np.log(np.maximum(shares, 1e-300) / np.maximum(first, 1e-300)) / (passes - _CHECK)
    hopeless: BoolArray = np.log(np.maximum(shares, 1e-300) / tol) + rate * (_MOST_PASSES - passes) > 0
    return hopeless


class _Run:
    """The dual variables and weights of the classes that are still on their way."""

    def __init__(self, view: View, signs: Array, costs: Array) -> None:
        self._view, self._squares = view, square_rows(view)
        self._random = np.random.default_rng(0)
        self.classes: Int64Array = np.arange(signs.shape[1])
        self._signs, self._costs = np.ascontiguousarray(signs), np.ascontiguousarray(costs)
        self._duals = np.zeros(signs.shape)  # from the last solution it takes more passes than from 0
        self._weights = np.zeros((view.k + 1, signs.shape[1]))

    def go_on(self) -> None:
        """Make some passes over all documents."""
        for _ in range(_CHECK):
            linear_kernels.descend_once(
                self._random.permutation(self._view.n), *self._view.entries(), self._squares, self._signs, self._costs,
                np.empty(len(self.classes)), self._duals, self._weights,
            )  # fmt: skip

    def measure(self) -> tuple[Array, Array]:
        """Return the objectives and the gaps of the classes."""
        return _measure(self._view, self._signs, self._costs, self._duals, self._weights)

    def certify(self, place: int, passes: int) -> Descent:
        """Return the solution of one class, its weights summed up anew."""
        signs, costs, duals = (np.ascontiguousarray(one[:, [place]]) for one in (self._signs, self._costs, self._duals))
        used = np.flatnonzero(duals[:, 0])
        weights = self._view.add_rows(used, (duals * signs)[used, 0])
        objectives, gaps = _measure(self._view, signs, costs, duals, np.ascontiguousarray(weights[:, None]))
        return Descent(weights, float(objectives[0]), float(gaps[0]), passes)

    def keep(self, some: BoolArray) -> None:
        """Go on with some of the classes."""
        if some.all():
            return
        self.classes = self.classes[some]
        self._signs, self._costs, self._duals, self._weights = (
            np.ascontiguousarray(one[:, some]) for one in (self._signs, self._costs, self._duals, self._weights)
        )


def _measure(view: View, signs: Array, costs: Array, duals: Array, weights: Array) -> tuple[Array, Array]:
    losses, gaps = np.zeros(signs.shape[1]), np.zeros(signs.shape[1])
    linear_kernels.measure_gaps(
        view.n, *view.entries(), signs, costs, duals, weights, np.empty(len(losses)), losses, gaps
    )
    return np.einsum("rc,rc->c", weights, weights) / 2 + losses, gaps

"""Dual coordinate descent: a quick way to the optimum where a solution has no near start.

In the notation of `linear_path` the dual variables a_i >= 0 minimize |w|^2 / 2 + sum of a_i^2 / 4 C_i - a_i with
w = sum of a_i y_i x_i. One variable after the other gets its best value, in a random order of the documents; documents
that lie well beyond the margin lose their turn, as in liblinear. That pays where documents are short vectors
(cosine-normalized tf-idf) and columns are many; with counts it hardly converges, and Newton's method is better. It ends
with its certificate: the duality gap over all documents, of weights summed up anew from the dual variables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from termsieve._kernels import import_kernels
from termsieve._types import Array, Int64Array
from termsieve.classify.ranked_rows import BLANKS, View

if TYPE_CHECKING:
    from termsieve.classify import linear_kernels
else:
    linear_kernels = import_kernels("termsieve.classify.linear_kernels")

LEAST_COLUMNS = 500  # fewer are solved as fast by factorization
LEAP = 1.25  # a number of columns so many times the last begins anew; nearer ones are reached in few Newton steps
_MANY = 3000  # columns from which on those steps take conjugate gradients, and a new start is as fast in any case
_GENTLE, _STEEPEST = 16.0, 100.0  # means of 2 C_i |x_i|^2 above which convergence is slower, and too slow
_SLICE, _MOST = 20, 400  # visits of each entry before the gap is looked at, and in all
_SEED = 88172645463325252


class Descent(NamedTuple):
    """Where descent ended: the weights, the intercept first; the objective, the gap, and the passes."""

    weights: Array
    objective: float
    gap: float
    passes: int


def is_leap(k_before: int, k: int) -> bool:
    """Tell whether the columns are so many, or so many more than before, that a new start may pay."""
    return k >= LEAST_COLUMNS and (k >= LEAP * k_before or k >= _MANY)


def converges_fast(view: View, costs: Array) -> bool:
    """Tell whether descent is likely to converge fast: documents are short vectors, and C is not large for so few."""
    steepness = float(costs @ view.squares[: view.n]) / view.n
    return steepness <= _STEEPEST and view.k * _GENTLE >= LEAST_COLUMNS * steepness


def descend(view: View, signs: Array, costs: Array, blanks: tuple[int, int], tol: float) -> Descent:
    """Descend until the duality gap is small enough, or falls too slowly.

    Parameters
    ----------
    signs, costs : arrays
        The signs of the rows of the view, and 2 C for each.
    blanks : two ints
        The documents that the first two rows stand for: they get a turn for each, since they move the intercept.
    tol : float
        The largest duality gap, as a share of the objective.
    """
    more = np.where(costs[:BLANKS] > 0, np.maximum(blanks, 1) - 1, 0)
    all_turns = np.concatenate([np.flatnonzero(costs > 0), np.repeat(np.arange(BLANKS), more)])
    run = _Run(view, signs, costs, all_turns)
    size = float((view.ends - view.starts)[: view.n].sum()) + 8.0 * len(all_turns)
    aim, visited, share = tol, 0.0, np.inf
    while True:
        before = share
        share = run.go_on(aim, _SLICE * size)
        visited += _SLICE
        if share <= aim:
            found = run.certify()
            if found.gap <= tol * found.objective:
                return found
            run.start_again()
            aim, share = aim / 2, np.inf
        if visited >= _MOST or _is_hopeless(before, share, aim, (_MOST - visited) / _SLICE):
            return run.certify()


def _is_hopeless(before: float, share: float, aim: float, slices: float) -> bool:
    """Tell whether the gap would still be too large at the end if it fell as it did in the last slice of the passes."""
    return bool(np.isfinite(before) and np.isfinite(share) and share * (share / before) ** slices > aim)


class _Run:
    """The dual variables and the weights on their way."""

    def __init__(self, view: View, signs: Array, costs: Array, turns: Int64Array) -> None:
        self._view, self._signs, self._costs = view, signs, costs
        self._turns, self._n_turns, self._limit = turns, len(turns), np.inf
        self._duals, self._weights = np.zeros(view.n), np.zeros(view.k + 1)
        self._passes = 0

    def go_on(self, aim: float, most: float) -> float:
        """Make passes until the gap is small enough or so many entries were visited; return its share, as estimated."""
        self._n_turns, _, passes, self._limit, share = linear_kernels.descend(
            turns=self._turns, n_turns=self._n_turns, n_blanks=BLANKS, **self._view.entries(),
            squares=self._view.squares, signs=self._signs, costs=self._costs, aim=aim, most=most, limit=self._limit,
            state=_SEED + self._passes, duals=self._duals, weights=self._weights,
        )  # fmt: skip
        self._passes += passes
        return share

    def start_again(self) -> None:
        """Give all documents their turn again."""
        self._n_turns, self._limit = len(self._turns), np.inf

    def certify(self) -> Descent:
        """Return the solution, its weights summed up anew, with the gap over all documents."""
        return Descent(*certify_duals(self._view, self._signs, self._costs, self._duals), self._passes)


def certify_duals(view: View, signs: Array, costs: Array, duals: Array) -> tuple[Array, float, float]:
    """Return the weights of dual variables, the objective, and the duality gap."""
    used = np.flatnonzero(duals)
    weights = view.add_rows(used, duals[used] * signs[used])
    slack = 1 - signs * view.sum_rows(weights)
    loss = np.maximum(slack, 0)
    away = loss - np.divide(duals, costs, out=np.zeros_like(duals), where=costs > 0)
    objective = (float(weights @ weights) + float(costs @ loss**2)) / 2
    return weights, objective, float(costs @ away**2) / 2 + float(duals @ (loss - slack))

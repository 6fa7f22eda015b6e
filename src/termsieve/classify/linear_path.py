"""Linear support vector machines along a ranking: the optimum for each number of columns, each from the one before.

The objective is that of liblinear's L2-regularized L2-loss support vector classification, with C for each document,

    f(w) = |w|^2 / 2 + sum of C_i max(0, 1 - y_i w.x_i)^2,

where the intercept is the weight of a column of 1. It is piecewise quadratic: documents inside the margin ("active")
have curvature 2 C_i, others none. Newton's method with an exact line search ends at the exact optimum once the active
documents are found. Along a ranking the columns of the last solution are a prefix of the next, and few documents enter
or leave the margin. So the linear system of a step is kept, in the smaller of two forms (columns x columns, or active
documents x active documents by Woodbury's identity), and only what changed is added; where a factorization is dearer,
conjugate gradients preconditioned by the diagonal take its place. Where the next number of columns is much larger than
the last, few of its columns have weights to begin with: there dual coordinate descent (`linear_descent`) goes first.

The certificate is the duality gap. With the dual variables a_i = 2 C_i max(0, 1 - y_i w.x_i) it is exactly half the
squared length of the gradient: no weights have an objective lower by more than that. And as f is strongly convex with
modulus 1, the weights are at most the length of the gradient away from the optimum.

With a large C and large entries the gradient is a small difference of large sums, and its rounding errors hide the
optimum. Once the objective no longer falls, the steps are therefore taken in dual variables a_i >= 0: the weights are
w = sum of a_i y_i x_i, and with the slacks s_i = 1 - y_i w.x_i the gap is a sum without cancellation,

    sum of C_i (max(0, s_i) - a_i / 2 C_i)^2 + a_i max(0, -s_i).

Where even that stays above the tolerance, the gap is compared with its rounding floor: half the squared length of a
first-order bound of the rounding error of the gradient.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse

from termsieve._kernels import import_kernels
from termsieve._types import Array, BoolArray, Int32Array, Int64Array
from termsieve.classify import linear_descent, linear_systems
from termsieve.classify.linear_systems import ColumnSystem, DocumentSystem
from termsieve.classify.ranked_rows import BLANKS, RankedRows, View
from termsieve.threads import count_cores, limit_blas, work_on_each

if TYPE_CHECKING:
    from termsieve.classify import linear_kernels
else:
    linear_kernels = import_kernels("termsieve.classify.linear_kernels")

_FORCING = 0.1  # a step of conjugate gradients leaves so much of the gradient
_PROGRESS = 1e-12  # a smaller decrease of the objective or the gap, as a share of it, is none
_PATIENCE, _DUAL_PATIENCE = 5, 30  # steps without progress, in weights and in dual variables
# Costs in nanoseconds; they decide between two ways to the same optimum
_FLOP, _ENTRY = 0.06, 2.5


class PathPoint(NamedTuple):
    """The solution of one class at one number of columns.

    Attributes
    ----------
    weights : array of shape (k + 1,)
        The intercept, then the weights of the columns.
    objective, gap : float
        The objective, and its certificate: it is above the least possible value by at most this.
    n_iter : int
        The number of Newton steps, or of passes of dual coordinate descent where that sufficed.
    floor : float
        If the gap stayed above the tolerance: the gap that rounding errors alone may leave. Otherwise 0.
    """

    weights: Array
    objective: float
    gap: float
    n_iter: int
    floor: float = 0.0

    @property
    def relative_gap(self) -> float:
        """The gap as a share of the objective."""
        return self.gap / self.objective if self.objective else 0.0


@dataclass(frozen=True)
class SvmProblem:
    """One class against the rest: signs (1 and -1) of the documents, and C for both sides."""

    signs: Array
    c_inside: float
    c_outside: float

    def arrange(self, rows: RankedRows, view: View) -> tuple[Array, Array]:
        """Return signs and 2 C of the rows of a view; a blank has C for each document that it stands for."""
        signs = np.concatenate([[1.0, -1.0], self.signs[rows.order[: view.n - BLANKS]]])
        costs = 2 * np.where(signs > 0, self.c_inside, self.c_outside)
        costs[:BLANKS] *= self.count_blanks(rows, view)
        return signs, costs

    def count_blanks(self, rows: RankedRows, view: View) -> tuple[int, int]:
        """Return how many documents of the class, and of the rest, have none of the columns."""
        without = self.signs[rows.order[view.n - BLANKS :]]
        inside = int((without > 0).sum())
        return inside, len(without) - inside


def solve_path(
    rows: RankedRows,
    views: Sequence[View],
    problem: SvmProblem,
    *,
    tol: float = 1e-8,
    max_iter: int = 1000,
    start: Array | None = None,
) -> Iterator[PathPoint]:
    """Solve for one class at each number of columns, each from the solution before, or anew after a leap.

    Parameters
    ----------
    tol : float
        The largest duality gap, as a share of the objective.
    start : array, optional
        Weights that Newton's method begins with, the intercept first; columns that they do not have get 0.
    """
    newton = Newton(rows, problem, tol, max_iter)
    weights, k_before = np.zeros(1) if start is None else start, 0
    for view in views:
        leaps = linear_descent.is_leap(k_before, view.k)
        point = _descend(rows, view, problem, weights, tol) if leaps else None
        if point is None or point.gap > tol * point.objective:
            point = newton.solve(view, weights if point is None else point.weights)
        weights, k_before = point.weights, view.k
        yield point


def _descend(rows: RankedRows, view: View, problem: SvmProblem, weights: Array, tol: float) -> PathPoint | None:
    """Solve by dual coordinate descent, perhaps not to the end, unless these weights are the solution already.

    Return None where descent does not pay.
    """
    signs, costs = problem.arrange(rows, view)
    if not linear_descent.converges_fast(view, costs):
        return None
    start = Newton(rows, problem, tol, 0).solve(view, weights)
    if start.gap <= tol * start.objective:
        return start
    return PathPoint(*linear_descent.descend(view, signs, costs, problem.count_blanks(rows, view), tol))


class Newton:
    """Newton's method for one class, with the system that it keeps from one number of columns to the next."""

    def __init__(self, rows: RankedRows, problem: SvmProblem, tol: float, max_iter: int) -> None:
        self._rows, self._problem = rows, problem
        self._tol, self._max_iter = tol, max_iter
        self._columns = ColumnSystem(reuse=not rows.normalize)
        self._documents = DocumentSystem(reuse=not rows.normalize)
        self._expected_products = 20  # of conjugate gradients

    def solve(self, view: View, start: Array) -> PathPoint:
        """Minimize from these weights on."""
        w = np.zeros(view.k + 1)
        w[: min(len(start), len(w))] = start[: len(w)]
        signs, costs = self._problem.arrange(self._rows, view)
        sums = view.sum_rows(w)
        exact = True  # whether the sums are those of w, not updated ones
        progress = Progress(_PATIENCE)
        for n_iter in range(self._max_iter + 1):
            slack = 1 - signs * sums
            active = np.flatnonzero((slack > 0) & (costs > 0))
            force = costs[active] * slack[active]
            objective = (float(w @ w) + float(force @ slack[active])) / 2
            gradient = w.copy()
            linear_kernels.add_rows(rows=active, weights=-signs[active] * force, **view.entries(), out=gradient)
            gap = float(gradient @ gradient) / 2
            if gap <= self._tol * objective or n_iter == self._max_iter:
                if exact:
                    break
                sums, exact = view.sum_rows(w), True
                continue
            if not progress.goes_on(objective):
                return self._solve_in_duals(view, PathPoint(w, objective, gap, n_iter))
            step = self._find_step(view, active, costs[active], gradient, self._tol * objective)
            moved = view.sum_rows(w + step)
            length = linear_kernels.search_line(
                signs=signs, costs=costs, sums=sums, moved=moved, along=float(w @ step), square=float(step @ step)
            )
            exact = length == 1.0
            w = w + length * step
            sums = moved if exact else sums + length * (moved - sums)
        return PathPoint(w, objective, gap, n_iter)

    def _solve_in_duals(self, view: View, start: PathPoint) -> PathPoint:
        """Go on in dual variables, where rounding errors are smaller; return the solution with the smallest gap."""
        signs, costs = self._problem.arrange(self._rows, view)
        w, best, n_iter = start.weights, start, start.n_iter
        progress = Progress(_DUAL_PATIENCE)
        while n_iter < self._max_iter:
            sums = view.sum_rows(w)
            loss = np.maximum(1 - signs * sums, 0)
            active = np.flatnonzero((loss > 0) & (costs > 0))
            if not progress.goes_on(float(w @ w) + float(costs @ loss**2), best.gap):
                break
            duals = self._documents.find_duals(view, active, costs[active], signs[active])
            if duals is None:
                break
            n_iter += 1
            best = min(best, self._certify(view, active, duals, n_iter), key=lambda one: one.gap)
            if best.gap <= self._tol * best.objective:
                return best
            full = view.add_rows(active, duals)
            moved, step = view.sum_rows(full), full - w
            length = linear_kernels.search_line(
                signs=signs, costs=costs, sums=sums, moved=moved, along=float(w @ step), square=float(step @ step)
            )
            w = full if length == 1.0 else w + length * step
        return best._replace(n_iter=n_iter, floor=self._rounding_floor(view, best.weights))

    def _certify(self, view: View, active: Int64Array, duals: Array, n_iter: int) -> PathPoint:
        """Return the weights of dual variables (times the signs), negative ones set to 0, and their gap."""
        signs, costs = self._problem.arrange(self._rows, view)
        a = np.zeros(view.n)
        a[active] = np.maximum(duals * signs[active], 0)
        return PathPoint(*linear_descent.certify_duals(view, signs, costs, a), n_iter)

    def _rounding_floor(self, view: View, w: Array) -> float:
        """Return half the squared length of a first-order bound of the rounding error of the gradient."""
        signs, costs = self._problem.arrange(self._rows, view)
        active = np.flatnonzero(signs * view.sum_rows(w) < 1)
        sizes = view._replace(values=np.abs(view.values))
        terms = (view.ends - view.starts)[: view.n] + 3  # of a sum, at most
        errors = terms * (1 + sizes.sum_rows(np.abs(w)))
        error = np.abs(w) + sizes.add_rows(active, costs[active] * errors[active])
        return float(error @ error) * np.finfo(np.float64).eps ** 2 / 8

    def _find_step(self, view: View, active: Int64Array, costs: Array, gradient: Array, wanted: float) -> Array:
        """Solve for Newton's step in the cheapest way."""
        dimension = min(len(gradient), len(active))
        product_cost = _ENTRY * float((view.ends[active] - view.starts[active]).sum() + len(active) + len(gradient))
        direct_cost = _FLOP * dimension**3 / 3 + dimension**2
        limit = max(_FORCING**2 * float(gradient @ gradient), wanted / 2)
        patience = 20 * len(gradient) + 1000
        step = np.empty_like(gradient)

        def iterate(most: int) -> int:
            return linear_kernels.solve_by_conjugate_gradients(
                rows=active, weights=costs, **view.entries(), gradient=gradient, limit=limit, max_steps=most, step=step
            )

        if dimension > linear_systems.MAX_DIRECT:
            self._expected_products = max(iterate(patience), 1)
            return step
        if self._expected_products * product_cost < direct_cost:
            most = max(10, round(direct_cost / product_cost))
            products = iterate(most)
            self._expected_products = max(products, 1) if products >= 0 else 2 * most
            if products >= 0:
                return step
        system = self._documents if len(active) < len(gradient) else self._columns
        found = system.find_step(view, active, costs, gradient)
        if found is None or not gradient @ found < 0:  # a system too close to singular to be factorized
            iterate(patience)
            return step
        return found


class Progress:
    """Tells whether values that should fall still do: one of them must fall within some steps."""

    def __init__(self, patience: int) -> None:
        self._patience, self._steps = patience, 0
        self._least: tuple[float, ...] = ()

    def goes_on(self, *values: float) -> bool:
        """Take the values of one more step."""
        least = self._least or (np.inf,) * len(values)
        falls = any(value < before * (1 - _PROGRESS) for value, before in zip(values, least, strict=True))
        self._steps = 0 if falls else self._steps + 1
        self._least = tuple(map(min, values, least))
        return self._steps < self._patience


# All classes


@dataclass(frozen=True)
class LinearPath:
    """The solutions of all classes along a ranking.

    Attributes
    ----------
    ks : array of int
        The numbers of columns, increasing.
    costs : array of float
        C at each of them.
    solutions : list of lists of PathPoint
        One list for each number of columns, with a solution for each class; for two classes with one.
    """

    ks: Int64Array
    costs: Array
    solutions: list[list[PathPoint]]

    def weights(self, at: int) -> Array:
        """Return the weights at one of the numbers of columns: (1 + columns) x classes, the intercept first."""
        return stack_weights(self.solutions[at])

    @property
    def objectives(self) -> Array:
        """The objectives: numbers of columns x classes."""
        return np.array([[one.objective for one in some] for some in self.solutions])

    @property
    def gaps(self) -> Array:
        """The certificates: the duality gaps as shares of the objectives, numbers of columns x classes."""
        return np.array([[one.relative_gap for one in some] for some in self.solutions])

    def find_unsolved(self, tol: float) -> BoolArray:
        """Tell which gaps are above the tolerance and above what rounding errors alone may leave."""
        return np.array([[one.gap > max(tol * one.objective, one.floor) for one in some] for some in self.solutions])


def stack_weights(solutions: Sequence[PathPoint]) -> Array:
    """Return the weights of all classes as a matrix, (1 + columns) x classes."""
    return np.column_stack([one.weights for one in solutions])


def make_problems(codes: Int32Array | Int64Array, class_weights: Array, C: float) -> list[SvmProblem]:
    """Make the problems of all classes, weighted as liblinear does.

    For two classes there is one, and both weights count; otherwise there is one for each class against the rest, and
    only the weight of the class counts.
    """
    if len(class_weights) == 2:
        return [SvmProblem(np.where(codes == 1, 1.0, -1.0), C * class_weights[1], C * class_weights[0])]
    return [SvmProblem(np.where(codes == c, 1.0, -1.0), C * weight, C) for c, weight in enumerate(class_weights)]


def solve_problems(
    rows: RankedRows,
    ks: Int64Array,
    problems: Sequence[SvmProblem],
    *,
    tol: float,
    max_iter: int,
    starts: Sequence[Array | None] | None = None,
) -> list[list[PathPoint]]:
    """Solve all problems at increasing numbers of columns; return the solutions of all problems for each number."""
    load_kernels()
    views = rows.views(ks)

    def solve(number: int) -> list[PathPoint]:
        start = starts[number] if starts else None
        return list(solve_path(rows, views, problems[number], tol=tol, max_iter=max_iter, start=start))

    with limit_blas():
        paths = work_on_each(solve, range(len(problems)), count_cores())
    return [list(some) for some in zip(*paths, strict=True)]


def decide_codes(sums: Array) -> Int32Array:
    """Return the code of the class with the largest sum; with one sum, 1 where it is positive."""
    codes = sums[:, 0] > 0 if sums.shape[1] == 1 else sums.argmax(axis=1)
    return codes.astype(np.int32)


@cache
def load_kernels() -> None:
    """Load or compile the loops in this thread: see `termsieve.threads`."""
    rows = RankedRows(sparse.csr_array(np.eye(4) + np.eye(4)[::-1]))
    views = rows.views([1, 3])
    newton = Newton(rows, SvmProblem(np.array([1.0, -1.0, -1.0, 1.0]), 1.0, 1.0), 1e-8, 100)
    active, costs = np.arange(3), np.ones(3)
    for view in views:
        gradient = newton.solve(view, np.zeros(1)).weights + 1.0
        linear_descent.descend(view, np.ones(view.n), np.ones(view.n), (1, 1), 1e-8)
        for system in (ColumnSystem(reuse=True), DocumentSystem(reuse=True)):
            system.find_step(view, active, costs, gradient)
        linear_kernels.solve_by_conjugate_gradients(
            rows=active, weights=costs, **view.entries(), gradient=gradient, limit=1e-8, max_steps=10,
            step=np.empty_like(gradient),
        )  # fmt: skip

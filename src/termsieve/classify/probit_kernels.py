"""The numba loop of the Laplace prior: coordinate descent on a quadratic model, one weight at a time."""

from __future__ import annotations

import numpy as np

from termsieve._numba import jit
from termsieve._types import Array, Int64Array


def _hessian_diagonal(
    indptr: Int64Array,
    rows: Int64Array,
    data: Array,
    centre: Array,
    curvature: Array,
    total: float,
    first: Array,
    bend: Array,
) -> None:
    """Compute weighted sums of the columns, and of the squares of the centred columns: the diagonal of the Hessian."""
    for j in range(len(centre)):
        sums, squares = 0.0, 0.0
        for i in range(indptr[j], indptr[j + 1]):
            weighted = curvature[rows[i]] * data[i]
            sums += weighted
            squares += weighted * data[i]
        first[j] = sums
        bend[j] = max(squares - 2 * centre[j] * sums + centre[j] ** 2 * total, 0.0)


hessian_diagonal = jit(_hessian_diagonal)


def _descend_coordinates(
    indptr: Int64Array,
    rows: Int64Array,
    data: Array,
    centre: Array,
    curvature: Array,
    gradient: Array,
    w: Array,
    slope: float,
    tol: float,
    passes: int,
) -> Array:
    """Return the step that takes w (intercept last) to the minimum of the quadratic model plus slope times magnitudes.

    `moved` is the step in the sums of the rows without `shift`, which all rows share; `pull` is its sum, weighted by
    the curvature. Passes over all weights alternate with passes over those that are not 0.
    """
    d = len(centre)
    total, largest = 0.0, 0.0
    for i in range(len(curvature)):
        total += curvature[i]
    first, bend = np.empty(d), np.empty(d)
    hessian_diagonal(indptr, rows, data, centre, curvature, total, first, bend)
    for j in range(d):
        largest = max(largest, bend[j])
    floor = 1e-12 * max(largest, 1e-300)
    step = np.zeros(d + 1)
    moved = np.zeros(len(curvature))
    shift, pull = 0.0, 0.0
    whole = True
    for _ in range(passes):
        worst = 0.0
        for j in range(d):
            at = w[j] + step[j]
            if bend[j] <= floor or not (whole or at != 0.0):
                continue
            g = gradient[j] - centre[j] * (pull + shift * total) + shift * first[j]
            for i in range(indptr[j], indptr[j + 1]):
                g += curvature[rows[i]] * data[i] * moved[rows[i]]
            aim = at - g / bend[j]
            rest = slope / bend[j]
            change = (max(aim - rest, 0.0) + min(aim + rest, 0.0)) - at
            if change != 0.0:
                step[j] += change
                shift -= change * centre[j]
                pull += change * first[j]
                for i in range(indptr[j], indptr[j + 1]):
                    moved[rows[i]] += change * data[i]
                worst = max(worst, abs(change) * bend[j])
        change = -(gradient[d] + pull + shift * total) / total
        step[d] += change
        shift += change
        worst = max(worst, abs(change) * total)
        if worst <= tol and whole:
            break
        whole = worst <= tol
    return step


descend_coordinates = jit(_descend_coordinates)

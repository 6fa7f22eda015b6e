"""The numba loops of linear support vector machines, for one class against the rest.

Documents are rows of ranks and values. Rank 0 is the intercept, whose value is `bias` in each row; rank r is the r-th
column of the ranking, whose value in row i is scale[i] * values[t]. The entries of row i at the present number of
columns are those from starts[i] to ends[i], and their ranks are increasing.
"""

from __future__ import annotations

import numpy as np

from termsieve._numba import jit
from termsieve._types import Array, Int32Array, Int64Array


def _advance_ends(
    starts: Int64Array, stops: Int64Array, ranks: Int32Array, values: Array, k: int, ends: Int64Array, squares: Array
) -> int:
    """Move the ends of the rows to the first k columns, add up squares; return how many rows have an entry."""
    n = 0
    for i in range(len(ends)):
        t = ends[i]
        while t < stops[i] and ranks[t] <= k:
            squares[i] += values[t] * values[t]
            t += 1
        n += t > starts[i]
        ends[i] = t
    return n


def _sum_rows(
    n: int, starts: Int64Array, ends: Int64Array, ranks: Int32Array, values: Array, scale: Array, bias: float, w: Array,
    sums: Array,
) -> None:  # fmt: skip
    """Compute the weighted sums of the first n rows."""
    start = bias * w[0]
    for i in range(n):
        total = 0.0
        for t in range(starts[i], ends[i]):
            total += values[t] * w[ranks[t]]
        sums[i] = start + scale[i] * total


def _sum_some_rows(
    rows: Int64Array, starts: Int64Array, ends: Int64Array, ranks: Int32Array, values: Array, scale: Array, bias: float,
    w: Array, sums: Array,
) -> None:  # fmt: skip
    """Compute the weighted sums of some rows."""
    start = bias * w[0]
    for place in range(len(rows)):
        i = rows[place]
        total = 0.0
        for t in range(starts[i], ends[i]):
            total += values[t] * w[ranks[t]]
        sums[place] = start + scale[i] * total


def _add_rows(
    rows: Int64Array, weights: Array, starts: Int64Array, ends: Int64Array, ranks: Int32Array, values: Array,
    scale: Array, bias: float, out: Array,
) -> None:  # fmt: skip
    """Add a weighted sum of some rows to a vector."""
    for place in range(len(rows)):
        i, weight = rows[place], weights[place]
        out[0] += bias * weight
        weight *= scale[i]
        for t in range(starts[i], ends[i]):
            out[ranks[t]] += weight * values[t]


def _multiply_hessian(
    rows: Int64Array, weights: Array, starts: Int64Array, ends: Int64Array, ranks: Int32Array, values: Array,
    scale: Array, bias: float, p: Array, product: Array,
) -> None:  # fmt: skip
    """Multiply the identity plus the weighted sum of outer products of some rows by p."""
    start = bias * p[0]
    pull = 0.0
    for j in range(len(p)):
        product[j] = p[j]
    for place in range(len(rows)):
        i = rows[place]
        total = 0.0
        for t in range(starts[i], ends[i]):
            total += values[t] * p[ranks[t]]
        total = weights[place] * (start + scale[i] * total)
        pull += total
        total *= scale[i]
        for t in range(starts[i], ends[i]):
            product[ranks[t]] += total * values[t]
    product[0] += bias * pull


def _add_squares(
    rows: Int64Array, weights: Array, starts: Int64Array, ends: Int64Array, ranks: Int32Array, values: Array,
    scale: Array, bias: float, diagonal: Array,
) -> None:  # fmt: skip
    """Add a weighted sum of the squares of some rows to a vector."""
    for place in range(len(rows)):
        i, weight = rows[place], weights[place]
        diagonal[0] += bias * bias * weight
        weight *= scale[i] * scale[i]
        for t in range(starts[i], ends[i]):
            diagonal[ranks[t]] += weight * values[t] * values[t]


def _add_outer_products(
    rows: Int64Array, weights: Array, starts: Int64Array, firsts: Int64Array, ends: Int64Array, ranks: Int32Array,
    values: Array, scale: Array, bias: float, corner: float, matrix: Array,
) -> None:  # fmt: skip
    """Add weighted outer products of some rows to the lower triangle of a matrix.

    Of row i, these are the rows of the matrix from rank ranks[firsts[i]] on, and `corner` in the first place.
    """
    for place in range(len(rows)):
        i, weight = rows[place], weights[place]
        matrix[0, 0] += corner * weight
        for t in range(firsts[i], ends[i]):
            r, x = ranks[t], weight * scale[i] * values[t]
            matrix[r, 0] += bias * x
            x *= scale[i]
            for u in range(starts[i], t + 1):
                matrix[r, ranks[u]] += x * values[u]


def _add_inner_products(
    old: int, rows: Int64Array, firsts: Int64Array, ends: Int64Array, ranks: Int32Array, values: Array, scale: Array,
    square: float, scratch: Array, matrix: Array,
) -> None:  # fmt: skip
    """Add inner products of rows from `old` on with all rows before them to the lower triangle of a matrix.

    They are those of the entries from firsts[i] on, plus `square`. The scratch array is 0 before and after.
    """
    for a in range(old, len(rows)):
        i = rows[a]
        if firsts[i] == ends[i] and square == 0.0:
            continue
        for t in range(firsts[i], ends[i]):
            scratch[ranks[t]] = scale[i] * values[t]
        for b in range(a + 1):
            j = rows[b]
            total = 0.0
            for t in range(firsts[j], ends[j]):
                total += scratch[ranks[t]] * values[t]
            matrix[a, b] += square + scale[j] * total
        for t in range(firsts[i], ends[i]):
            scratch[ranks[t]] = 0.0


def _take_system(products: Array, places: Int64Array, costs: Array, system: Array) -> None:
    """Take inner products of the documents in some places, and add 1 / cost: the lower triangle of their system."""
    for a in range(len(places)):
        i = places[a]
        for b in range(a):
            j = places[b]
            system[a, b] = products[i, j] if i > j else products[j, i]
        system[a, a] = products[i, i] + 1.0 / costs[a]


def _search_line(signs: Array, costs: Array, sums: Array, moved: Array, along: float, square: float) -> float:
    """Find the length along a step at which the objective is least.

    The sums of the documents are `sums` at length 0 and `moved` at length 1; `along` and `square` are the inner
    products of the step with the weights and with itself. The slope of the objective is piecewise linear and
    increasing: Newton's method in one dimension finds its zero; bisection takes over where that leaves the bracket.
    """
    low, high, length = 0.0, np.inf, 1.0
    scale = 0.0
    for steps in range(100):
        slope, bend = along + length * square, square
        size = abs(along) + length * square
        for i in range(len(sums)):
            way = moved[i] - sums[i]
            slack = 1.0 - signs[i] * (sums[i] + length * way)
            if slack > 0.0:
                part = costs[i] * signs[i] * way * slack
                slope -= part
                size += abs(part)
                bend += costs[i] * way * way
        if steps == 0:
            scale = size
        if abs(slope) <= 1e-12 * scale:
            break
        if slope < 0.0:
            low = length
        else:
            high = length
        if high < np.inf and high - low <= 1e-15 * high:
            break
        length -= slope / bend
        if not (length > low and length < high):
            length = (low + high) / 2 if high < np.inf else 2 * low
    return length


def _square_rows(
    n: int, starts: Int64Array, ends: Int64Array, values: Array, scale: Array, bias: float, squares: Array
) -> None:
    """Compute the squared lengths of the first n rows."""
    for i in range(n):
        total = 0.0
        for t in range(starts[i], ends[i]):
            total += values[t] * values[t]
        squares[i] = bias * bias + scale[i] * scale[i] * total


def _descend_once(
    rows: Int64Array, starts: Int64Array, ends: Int64Array, ranks: Int32Array, values: Array, scale: Array, bias: float,
    squares: Array, signs: Array, costs: Array, scratch: Array, duals: Array, weights: Array,
) -> None:  # fmt: skip
    """Give each dual variable its best value, row after row, all classes of a row together; the weights follow."""
    m = len(scratch)
    for place in range(len(rows)):
        i = np.uint64(rows[place])
        for c in range(m):
            scratch[c] = 0.0
        for t in range(starts[i], ends[i]):
            r, x = np.uint64(ranks[t]), values[t]
            for c in range(m):
                scratch[c] += x * weights[r, c]
        moved = False
        for c in range(m):
            change = 0.0
            if costs[i, c] > 0.0:
                bend, before = 1.0 / costs[i, c], duals[i, c]
                slope = signs[i, c] * (bias * weights[0, c] + scale[i] * scratch[c]) - 1.0 + bend * before
                duals[i, c] = max(0.0, before - slope / (squares[i] + bend))
                change = (duals[i, c] - before) * signs[i, c]
            scratch[c] = change * scale[i]
            weights[0, c] += bias * change
            moved |= change != 0.0
        if moved:
            for t in range(starts[i], ends[i]):
                r, x = np.uint64(ranks[t]), values[t]
                for c in range(m):
                    weights[r, c] += x * scratch[c]


def _measure_gaps(
    n: int, starts: Int64Array, ends: Int64Array, ranks: Int32Array, values: Array, scale: Array, bias: float,
    signs: Array, costs: Array, duals: Array, weights: Array, scratch: Array, losses: Array, gaps: Array,
) -> None:  # fmt: skip
    """Add up the losses and the duality gaps of all classes; the weights are those of the dual variables."""
    m = len(scratch)
    for i in range(n):
        for c in range(m):
            scratch[c] = 0.0
        for t in range(starts[i], ends[i]):
            r, x = np.uint64(ranks[t]), values[t]
            for c in range(m):
                scratch[c] += x * weights[r, c]
        for c in range(m):
            if costs[i, c] > 0.0:
                slack = 1.0 - signs[i, c] * (bias * weights[0, c] + scale[i] * scratch[c])
                loss = max(slack, 0.0)
                away = loss - duals[i, c] / costs[i, c]
                losses[c] += costs[i, c] * loss * loss / 2
                gaps[c] += costs[i, c] * away * away / 2 + duals[i, c] * (loss - slack)


advance_ends = jit(_advance_ends)
sum_rows = jit(_sum_rows)
sum_some_rows = jit(_sum_some_rows)
add_rows = jit(_add_rows)
multiply_hessian = jit(_multiply_hessian)
add_squares = jit(_add_squares)
add_outer_products = jit(_add_outer_products)
add_inner_products = jit(_add_inner_products)
take_system = jit(_take_system)
search_line = jit(_search_line)
square_rows = jit(_square_rows)
descend_once = jit(_descend_once)
measure_gaps = jit(_measure_gaps)


def _solve_by_conjugate_gradients(
    rows: Int64Array, weights: Array, starts: Int64Array, ends: Int64Array, ranks: Int32Array, values: Array,
    scale: Array, bias: float, gradient: Array, limit: float, max_steps: int, step: Array,
) -> int:  # fmt: skip
    """Solve for Newton's step by conjugate gradients, preconditioned by the diagonal.

    They stop when the squared length of the residual is at most `limit`, or after `max_steps`. Return the number of
    products with the Hessian, -1 if they did not suffice.
    """
    d = len(step)
    diagonal, residual, p, product = np.ones(d), np.empty(d), np.empty(d), np.empty(d)
    add_squares(rows, weights, starts, ends, ranks, values, scale, bias, diagonal)
    energy, square = 0.0, 0.0
    for j in range(d):
        step[j] = 0.0
        residual[j] = -gradient[j]
        p[j] = residual[j] / diagonal[j]
        energy += residual[j] * p[j]
        square += residual[j] * residual[j]
    for steps in range(max_steps):
        if square <= limit:
            return steps
        multiply_hessian(rows, weights, starts, ends, ranks, values, scale, bias, p, product)
        bend = 0.0
        for j in range(d):
            bend += p[j] * product[j]
        length, before = energy / bend, energy
        energy, square = 0.0, 0.0
        for j in range(d):
            step[j] += length * p[j]
            residual[j] -= length * product[j]
            energy += residual[j] * residual[j] / diagonal[j]
            square += residual[j] * residual[j]
        turn = energy / before
        for j in range(d):
            p[j] = residual[j] / diagonal[j] + turn * p[j]
    return max_steps if square <= limit else -1


solve_by_conjugate_gradients = jit(_solve_by_conjugate_gradients)

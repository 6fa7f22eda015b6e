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


def _descend(
    turns: Int64Array, n_turns: int, n_blanks: int, starts: Int64Array, ends: Int64Array, ranks: Int32Array,
    values: Array, scale: Array, bias: float, squares: Array, signs: Array, costs: Array, aim: float, most: float,
    limit: float, state: int, duals: Array, weights: Array,
) -> tuple[int, float, int, float, float]:  # fmt: skip
    """Give each dual variable its best value, row after row, in a new random order in each pass; the weights follow.

    A row whose variable is 0 and whose slope is above the largest one of the last pass (`limit`) is put behind the
    first `n_turns` and gets no more turns. Passes end when the gap, added up on the way from what each row was before
    its turn, is at most `aim` as a share of the objective, or when `most` entries were visited. Return the number of
    turns, of entries and of passes, the limit, and that share.
    """
    bits = np.uint64(state)
    intercept, visited, passes, share = weights[0], 0.0, 0, np.inf
    while visited < most:
        passes += 1
        for place in range(n_turns - 1):
            bits ^= bits << np.uint64(13)
            bits ^= bits >> np.uint64(7)
            bits ^= bits << np.uint64(17)
            other = place + np.int64(((bits >> np.uint64(32)) * np.uint64(n_turns - place)) >> np.uint64(32))
            turns[place], turns[other] = turns[other], turns[place]
        largest, gap, objective, place = 0.0, 0.0, 0.0, 0
        while place < n_turns:
            i = np.uint64(turns[place])
            first, last = np.uint64(starts[i]), np.uint64(ends[i])
            total = 0.0
            for t in range(first, last):
                total += values[t] * weights[np.uint64(ranks[t])]
            visited += 8.0 + np.float64(last - first)
            before, bend = duals[i], 1.0 / costs[i]
            inner = signs[i] * (bias * intercept + scale[i] * total)
            slope = inner - 1.0 + bend * before
            if before == 0.0 and slope > limit:
                n_turns -= 1
                turns[place], turns[n_turns] = turns[n_turns], turns[place]
                continue
            place += 1
            if before == 0.0 and slope >= 0.0:
                continue
            largest = max(largest, slope)
            if i >= np.uint64(n_blanks):
                loss = max(0.0, 1.0 - inner)
                away = loss - bend * before
                objective += (before * inner + costs[i] * loss * loss) / 2
                gap += costs[i] * away * away / 2 + before * (loss - 1.0 + inner)
            duals[i] = max(0.0, before - slope / (squares[i] + bend))
            change = (duals[i] - before) * signs[i]
            intercept += bias * change
            change *= scale[i]
            if change != 0.0:
                for t in range(first, last):
                    weights[np.uint64(ranks[t])] += change * values[t]
                visited += np.float64(last - first)
        limit = largest if largest > 0.0 else np.inf
        share = gap / objective if objective > 0.0 else 0.0
        if share <= aim:
            break
    weights[0] = intercept
    return n_turns, visited, passes, limit, share


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
descend = jit(_descend)


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

"""The tail of the hypergeometric distribution, relative to its first probability."""

from __future__ import annotations

import numpy as np

from termsieve._numba import jit
from termsieve._types import Array, BoolArray


@jit
def _sum_upward(a: float, n_t: float, n_c: float, rest: float) -> float:
    total = term = 1.0
    while a < n_t and a < n_c:
        term *= (n_c - a) * (n_t - a) / ((a + 1.0) * (rest + a + 1.0))
        total += term
        a += 1.0
        if term < 1e-18 * total:
            break
    return total


@jit
def _sum_downward(a: float, n_t: float, n_c: float, rest: float) -> float:
    total = 0.0
    term = 1.0
    while a > 0.0 and rest + a > 0.0:
        term *= a * (rest + a) / ((n_c - a + 1.0) * (n_t - a + 1.0))
        total += term
        a -= 1.0
        if term < 1e-18 * total:
            break
    return total


@jit
def _sum_tails(tp: Array, n_t: Array, n_c: Array, n: Array, above: BoolArray, out: Array) -> None:
    for i in range(tp.size):
        rest = n[i] - n_c[i] - n_t[i]
        if above[i]:
            out[i] = _sum_upward(tp[i], n_t[i], n_c[i], rest)
        else:
            out[i] = _sum_downward(tp[i], n_t[i], n_c[i], rest)


def tail_ratio(tp: Array, n_t: Array, n_c: Array, n: Array) -> tuple[BoolArray, Array]:
    """Return which side was summed, and its sum over the probability of exactly `tp`.

    Above the mode that is P(X >= tp) / P(X = tp); elsewhere P(X < tp) / P(X = tp). So only the smaller side
    is ever summed, and the terms fall from the start.
    """
    shape = np.broadcast_shapes(np.shape(tp), np.shape(n_t), np.shape(n_c), np.shape(n))
    tp, n_t, n_c, n = (np.ravel(np.broadcast_to(np.asarray(x, dtype=np.float64), shape)) for x in (tp, n_t, n_c, n))
    above = tp * (n + 2.0) > (n_t + 1.0) * (n_c + 1.0)
    out = np.empty(tp.size)
    _sum_tails(tp, n_t, n_c, n, above, out)
    return above.reshape(shape), out.reshape(shape)

"""The tail of the hypergeometric distribution, relative to its first probability."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from termsieve._kernels import WorkThreshold, import_kernels, kernels_pay

if TYPE_CHECKING:
    from termsieve._types import Array, BoolArray
    from termsieve.scores import tail_kernels as kernels
else:
    kernels = import_kernels("termsieve.scores.tail_kernels")

TABLES = WorkThreshold(warm=1 << 13, cold=1 << 20)  # from this many on, loops are quicker than NumPy
DEVIATIONS, ROUNDS = 9, 4  # a tail is as long as so many standard deviations; so many rounds cost as much as a table
NEGLIGIBLE = 1e-18  # of the sum: what follows cannot change it


def _sum_upward(a: Array, n_t: Array, n_c: Array, rest: Array) -> Array:
    """Sum all tails at once, a probability further in each round: the steps of the loop in `tail_kernels`."""
    total, term = np.ones(a.size), np.ones(a.size)
    active = np.flatnonzero((a < n_t) & (a < n_c))
    while active.size:
        here, of_t, of_c = a[active], n_t[active], n_c[active]
        term[active] *= (of_c - here) * (of_t - here) / ((here + 1.0) * (rest[active] + here + 1.0))
        total[active] += term[active]
        a[active] = here + 1.0
        active = active[(here + 1.0 < of_t) & (here + 1.0 < of_c) & (term[active] >= NEGLIGIBLE * total[active])]
    return total


def _sum_downward(a: Array, n_t: Array, n_c: Array, rest: Array) -> Array:
    total, term = np.zeros(a.size), np.ones(a.size)
    active = np.flatnonzero((a > 0.0) & (rest + a > 0.0))
    while active.size:
        here, beyond = a[active], rest[active]
        term[active] *= here * (beyond + here) / ((n_c[active] - here + 1.0) * (n_t[active] - here + 1.0))
        total[active] += term[active]
        a[active] = here - 1.0
        active = active[
            (here - 1.0 > 0.0) & (beyond + (here - 1.0) > 0.0) & (term[active] >= NEGLIGIBLE * total[active])
        ]
    return total


def _sum_tails_plainly(tp: Array, n_t: Array, n_c: Array, n: Array, above: BoolArray, out: Array) -> None:
    rest = n - n_c - n_t
    for side, add_up in ((above, _sum_upward), (~above, _sum_downward)):
        out[side] = add_up(tp[side], n_t[side], n_c[side], rest[side])


def _estimate_work(tp: Array, n_t: Array, n_c: Array, n: Array) -> int:
    """Return the number of tables, and of rounds for the longest tail in units of a table."""
    share_t, share_c = (np.clip(x / np.maximum(n, 1.0), 0.0, 1.0) for x in (n_t, n_c))
    variance = n * share_t * (1.0 - share_t) * share_c * (1.0 - share_c)
    return tp.size + int(DEVIATIONS * np.sqrt(variance.max(initial=0.0))) // ROUNDS


def tail_ratio(tp: Array, n_t: Array, n_c: Array, n: Array) -> tuple[BoolArray, Array]:
    """Return which side was summed, and its sum over the probability of exactly `tp`.

    Above the mode that is P(X >= tp) / P(X = tp); elsewhere P(X < tp) / P(X = tp). So only the smaller side
    is ever summed, and the terms fall from the start.
    """
    shape = np.broadcast_shapes(np.shape(tp), np.shape(n_t), np.shape(n_c), np.shape(n))
    tp, n_t, n_c, n = (np.ravel(np.broadcast_to(np.asarray(x, dtype=np.float64), shape)) for x in (tp, n_t, n_c, n))
    above = tp * (n + 2.0) > (n_t + 1.0) * (n_c + 1.0)
    out = np.empty(tp.size)
    sum_tails = kernels.sum_tails if kernels_pay(_estimate_work(tp, n_t, n_c, n), TABLES) else _sum_tails_plainly
    sum_tails(tp=tp, n_t=n_t, n_c=n_c, n=n, above=above, out=out)
    return above.reshape(shape), out.reshape(shape)

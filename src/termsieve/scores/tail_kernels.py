"""The numba loops behind `tail`: one sum for each table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from termsieve._numba import jit
from termsieve.scores.tail import NEGLIGIBLE

if TYPE_CHECKING:
    from termsieve._types import Array, BoolArray


@jit
def _sum_upward(a: float, n_t: float, n_c: float, rest: float) -> float:
    total = term = 1.0
    while a < n_t and a < n_c:
        term *= (n_c - a) * (n_t - a) / ((a + 1.0) * (rest + a + 1.0))
        total += term
        a += 1.0
        if term < NEGLIGIBLE * total:
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
        if term < NEGLIGIBLE * total:
            break
    return total


@jit
def sum_tails(tp: Array, n_t: Array, n_c: Array, n: Array, above: BoolArray, out: Array) -> None:
    """Sum the tail of each table: `above`, from `tp` on; elsewhere, below it."""
    for i in range(tp.size):
        rest = n[i] - n_c[i] - n_t[i]
        if above[i]:
            out[i] = _sum_upward(tp[i], n_t[i], n_c[i], rest)
        else:
            out[i] = _sum_downward(tp[i], n_t[i], n_c[i], rest)

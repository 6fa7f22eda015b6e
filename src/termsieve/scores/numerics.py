"""Forms of the logarithms behind the scores that keep their digits near independence and at large counts.

The textbook forms subtract nearly equal numbers: information gain at a billion documents, or a log Bayes
factor written with log-gammas, is noise. Each function here takes the small difference as an argument of its
own, because the caller knows it exactly (from `Table.delta`).

scipy is imported where it is needed, here and in the other modules of scores: most scores do without.
"""

from __future__ import annotations

import math

import numpy as np

from termsieve._types import Array
from termsieve.table import Number, log, ratio

HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)
_ATANH = [1.0 / (2 * j + 3) for j in range(9)]
_STIRLING = [1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188]
_STIRLING_FROM = 12.0


def _horner(x: Array, coefficients: list[float]) -> Array:
    total = np.full_like(x, coefficients[-1])
    for c in reversed(coefficients[:-1]):
        total = total * x + c
    return total


def log_quotient(a: Number, b: Number, a_minus_b: Number) -> Array:
    """Return ln(a / b) given the difference a - b; 0 where both are 0.

    >>> round(float(log_quotient(1e9 + 1, 1e9, 1.0)) * 1e9, 10)
    0.9999999995
    """
    x = np.asarray(ratio(a_minus_b, b, empty=0.0))
    near = np.abs(x) < 0.5
    return np.where(near, np.log1p(np.where(near, x, 0.0)), log(ratio(a, b, empty=1.0)))


def deviance(x: Array, e: Array, x_minus_e: Array) -> Array:
    """Return x ln(x/e) - (x - e) >= 0, half of what a cell with expectation e adds to G (Loader's bd0).

    >>> round(float(deviance(np.float64(5.0), np.float64(4.0), np.float64(1.0))), 12)
    0.115717756571
    """
    both = x + e
    r = ratio(x_minus_e, both, empty=0.0)
    near = np.abs(r) < 0.1
    r_near = np.where(near, r, 0.0)
    square = r_near * r_near
    series = r_near * x_minus_e + 2.0 * x * (r_near * square * _horner(square, _ATANH))
    if np.all(near):
        return np.asarray(series)
    far = x * log(np.where(x == 0, 1.0, ratio(x, e, empty=1.0))) - x_minus_e
    return np.where(near, series, far)


def table_deviance(tp: Array, fp: Array, fn: Array, tn: Array, delta: Array) -> Array:
    """Return half the G statistic of a 2 x 2 table, that is N times its mutual information in nats."""
    n_c, n_nc, n_t, n_nt = tp + fn, fp + tn, tp + fp, fn + tn
    N = n_c + n_nc
    d = ratio(delta, N, empty=0.0)
    p_t, p_nt = ratio(n_t, N, empty=0.0), ratio(n_nt, N, empty=0.0)
    in_class = deviance(tp, n_c * p_t, d) + deviance(fn, n_c * p_nt, -d)
    return in_class + (deviance(fp, n_nc * p_t, -d) + deviance(tn, n_nc * p_nt, d))


def stirling_remainder(x: Array) -> Array:
    """Return what Stirling's formula leaves: ln gamma(x) - ((x - 1/2) ln x - x + ln(2 pi) / 2).

    >>> round(float(stirling_remainder(np.float64(1.0))), 12)
    0.081061466795
    """
    x = np.asarray(x, dtype=np.float64)
    small = x < _STIRLING_FROM
    inverse = 1.0 / np.where(small, _STIRLING_FROM, x)
    rest = inverse * _horner(inverse * inverse, _STIRLING)
    if not np.any(small):
        return rest
    from scipy.special import gammaln

    y = x[small]
    rest = np.array(rest)
    rest[small] = gammaln(y) - ((y - 0.5) * np.log(y) - y + HALF_LOG_2PI)
    return rest


def log_gamma_difference(x: Array, step: float) -> Array:
    """Return ln gamma(x + step) - ln gamma(x) without the two large values.

    >>> round(float(log_gamma_difference(np.float64(1e9), 1.0)), 12)  # ln(1e9)
    20.723265836946
    """
    if step == 0.0:
        return np.zeros_like(x)
    y = x + step
    grown = (x - 0.5) * np.log1p(step / x) + step * np.log(y) - step
    return np.asarray(grown + (stirling_remainder(y) - stirling_remainder(x)))


def log_beta(a: float, b: float) -> float:
    """Return ln of the beta function of two small constants."""
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)

"""n log n in whole numbers, so that sums of information are exact and ties are ties.

Mutual information is a sum of terms n log n over cells, and in floating point its last digits depend on the order of
the cells: two terms that say the same then differ by chance. Here the logarithm of a prime is rounded once, to a whole
number of units of 2**-bits, and that of other numbers is the sum over their prime factors. So log(a b) = log a + log b
holds exactly; sums do not depend on their order; what is independent has the information 0; and as logarithms of primes
are linearly independent, two sums are equal as whole numbers when they are equal as real numbers.

Sums run modulo 2**64. Information of a yes or no is at most one bit for each document, which fits; what is
larger on the way cancels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from termsieve._types import Array, Int32Array, Int64Array

_MAX_BITS = 46  # more than a float knows of a logarithm


class LogTable(NamedTuple):
    """log2 n, and n log2 n modulo 2**64, for n from 0 on, in units of 2**-bits; 0 log 0 is 0."""

    logarithms: Int64Array
    values: Int64Array
    bits: int

    def to_nats(self, information: Int64Array) -> Array:
        """Return sums of `values` over all documents as nats for each document."""
        n_docs = max(len(self.values) - 1, 1)
        return information / n_docs * (2.0**-self.bits * float(np.log(2)))


def make_log_table(n_docs: int) -> LogTable:
    """Make the table for this many documents.

    >>> table = make_log_table(6)
    >>> f = table.values
    >>> (f / 2**table.bits).round(3).tolist()
    [0.0, 0.0, 2.0, 4.755, 8.0, 11.61, 15.51]
    >>> f[6] == 2 * f[3] + 3 * f[2]
    np.True_
    """
    bits = min(_MAX_BITS, 61 - int(n_docs).bit_length())
    logarithms = np.zeros(n_docs + 1, np.int64)
    factor = _find_smallest_factors(n_docs)
    left = np.arange(n_docs + 1, dtype=np.int32)
    left[:1] = 1
    while (left > 1).any():
        prime = factor[left]
        logarithms += np.rint(np.log2(prime) * 2.0**bits).astype(np.int64)
        left //= prime
    return LogTable(logarithms, np.arange(n_docs + 1) * logarithms, bits)


def _find_smallest_factors(n: int) -> Int32Array:
    """Return the smallest prime factor of each number up to n; 1 for 0 and 1."""
    factor = np.arange(n + 1, dtype=np.int32)
    factor[:1] = 1
    for p in range(2, int(n**0.5) + 1):
        if factor[p] == p:
            multiples = factor[p * p :: p]
            multiples[multiples == np.arange(p * p, n + 1, p, dtype=np.int32)] = p
    return factor

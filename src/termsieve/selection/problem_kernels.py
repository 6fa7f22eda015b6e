"""The numba loops behind `problem`: documents that terms have in common, and the information in their numbers."""

from __future__ import annotations

import numpy as np

from termsieve._numba import jit
from termsieve._types import Int32Array, Int64Array


@jit
def count_common(
    docs: Int32Array, row_ends: Int64Array, row_terms: Int32Array, row_entries: Int32Array,
    start: int, stop: int, offset: int, out: Int32Array,
) -> None:  # fmt: skip
    """Count the entries of the terms from `start` to `stop` in some documents; terms of a row ascend."""
    out[:] = 0
    for doc in docs:
        for p in range(row_ends[doc], row_ends[doc + 1]):
            term = row_terms[p]
            if term >= stop:
                break
            if term >= start:
                out[row_entries[p] - offset] += 1


@jit
def conditional_information(
    f: Int64Array, entry_ends: Int64Array, entry_class: Int32Array, entry_count: Int32Array, term_df: Int32Array,
    common: Int32Array, with_z: Int64Array, without_z: Int64Array, start: int, out: Int64Array,
) -> None:  # fmt: skip
    """Compute what each term tells of the class when it is known whether the document has z; `with_z` by class."""
    n_with, n_without = 0, 0
    for c in range(with_z.size):
        n_with += with_z[c]
        n_without += without_z[c]
    offset = entry_ends[start]
    for i in range(out.size):
        j = start + i
        total, both = np.int64(0), np.int64(0)
        for e in range(entry_ends[j], entry_ends[j + 1]):
            c, here = entry_class[e], np.int64(common[e - offset])
            elsewhere = np.int64(entry_count[e]) - here
            # classes without the term would add nothing
            total += f[here] + f[with_z[c] - here] - f[with_z[c]]
            total += f[elsewhere] + f[without_z[c] - elsewhere] - f[without_z[c]]
            both += here
        only = np.int64(term_df[j]) - both
        total -= f[both] + f[n_with - both] - f[n_with]
        total -= f[only] + f[n_without - only] - f[n_without]
        out[i] = max(total, np.int64(0))


@jit
def shared_information(
    f: Int64Array, term_df: Int32Array, common: Int32Array, n_docs: int, n_with: int, start: int, out: Int64Array
) -> None:
    """Compute what each term tells of the presence of z, from the documents that both have."""
    for i in range(out.size):
        both, df = np.int64(common[i]), np.int64(term_df[start + i])
        total = f[both] + f[df - both] + f[n_with - both] + f[n_docs - df - n_with + both]
        total += f[n_docs] - f[df] - f[n_docs - df] - f[n_with] - f[n_docs - n_with]
        out[i] = max(total, np.int64(0))

"""The numba loops behind `rows`: term numbers to rows, rows to a matrix, rows to sums. `kernels` has their rules."""

from __future__ import annotations

from typing import Any

import numpy as np

from termsieve._numba import jit
from termsieve._types import BoolArray, Int32Array, Int64Array


@jit
def count_terms(
    numbers: Int32Array,
    doc_ends: Int64Array,
    counts: Int32Array,
    met: BoolArray,
    terms: Int32Array,
    times: Int32Array,
    ends: Int64Array,
) -> Any:
    """Write down the different terms of each document, and how often each occurs. `counts` is zero before and after."""
    n = np.int64(0)
    start = 0
    for doc in range(doc_ends.shape[0]):
        first = n
        for i in range(start, doc_ends[doc]):
            term = numbers[i]
            terms[n] = term  # a term that is there already is overwritten by the next
            n += np.int64(counts[term] == 0)
            counts[term] += 1
        for j in range(first, n):
            term = terms[j]
            times[j] = counts[term]
            counts[term] = 0
            met[term] = True
        ends[doc] = n
        start = doc_ends[doc]
    return n


@jit
def select_columns(
    terms: Int32Array,
    times: Int32Array,
    ends: Int64Array,
    column_of: Int32Array,
    columns: Int32Array,
    tfs: Int32Array,
    lengths: Int64Array,
) -> Any:
    """Write the columns and occurrences of the terms that have a column, and how many each document has."""
    n = np.int64(0)
    start = 0
    for doc in range(ends.shape[0]):
        first = n
        for i in range(start, ends[doc]):
            column = column_of[terms[i]]
            columns[n] = column  # what has no column is overwritten by the next
            tfs[n] = times[i]
            n += np.int64(column >= 0)
        lengths[doc] = n - first
        start = ends[doc]
    return n


@jit
def fill_by_column(
    columns: Int32Array, tfs: Int32Array, indptr: Int64Array, free: Int32Array, out_columns: Int32Array, out: Int64Array
) -> None:
    """Write rows to where they belong, each in order of its columns; `indptr` says where rows begin and end there.

    Two counting sorts, by column and back by row: `free` has a zero for each column, and one.
    """
    for i in range(columns.shape[0]):
        free[columns[i] + 1] += 1
    for column in range(1, free.shape[0]):
        free[column] += free[column - 1]
    n = columns.shape[0]
    rows, places = np.empty(n, np.int32), np.empty(n, np.int32)
    start = 0
    for doc in range(indptr.shape[0] - 1):
        stop = start + indptr[doc + 1] - indptr[doc]
        for i in range(start, stop):
            at = free[columns[i]]
            free[columns[i]] += 1
            rows[at] = doc
            places[at] = i
        start = stop
    row_free = indptr[:-1].copy()
    for i in range(n):
        at = row_free[rows[i]]
        row_free[rows[i]] += 1
        out_columns[at] = columns[places[i]]
        out[at] = tfs[places[i]]


@jit
def map_columns(terms: Int32Array, column_of: Int32Array, columns: Int32Array) -> None:
    """Write the column of each term."""
    for i in range(terms.shape[0]):
        columns[i] = column_of[terms[i]]


@jit
def sum_groups(
    indptr: Int64Array, columns: Int32Array, times: Int32Array, group_ends: Int64Array, docs: Int64Array,
    sums: Int64Array, found: Int32Array, values: Int64Array, found_ends: Int64Array,
) -> Any:  # fmt: skip
    """Return the columns of each group of documents, and the sums there: documents, occurrences and their squares.

    `sums` (columns x 3) is zero before and after.
    """
    n = np.int64(0)
    start = 0
    for group in range(group_ends.shape[0]):
        first = n
        for d in range(start, group_ends[group]):
            for i in range(indptr[docs[d]], indptr[docs[d] + 1]):
                column, tf = columns[i], np.int64(times[i])
                found[n] = column
                n += np.int64(sums[column, 0] == 0)
                sums[column, 0] += 1
                sums[column, 1] += tf
                sums[column, 2] += tf * tf
        for j in range(first, n):
            for k in range(3):
                values[j, k] = sums[found[j], k]
                sums[found[j], k] = 0
        found_ends[group] = n
        start = group_ends[group]
    return n


@jit
def sort_by_column(
    found: Int32Array,
    values: Int64Array,
    found_ends: Int64Array,
    indptr: Int64Array,
    groups: Int32Array,
    sorted_values: Int64Array,
) -> None:
    """Order sums by group by column instead; `indptr` is zero before."""
    n = found.shape[0]
    for i in range(n):
        indptr[found[i] + 1] += 1
    for column in range(indptr.shape[0] - 1):
        indptr[column + 1] += indptr[column]
    free = indptr.copy()
    start = 0
    for group in range(found_ends.shape[0]):
        for i in range(start, found_ends[group]):
            at = free[found[i]]
            free[found[i]] += 1
            groups[at] = group
            for k in range(3):
                sorted_values[k, at] = values[i, k]
        start = found_ends[group]

"""The numba loops that sum up what documents have of terms to cells, and add, order and divide cells.

What a document has of a term is written down as a pair, and many pairs at a time are sorted and summed up: two counting
sorts are several times faster than a look-up in a table that no cache can hold. See `termsieve.tokens.kernels` for the
rules that hold for all loops.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from termsieve._numba import jit

_TF_BITS = 32  # of a load

_jit: Any = jit


@_jit
def write_pairs(numbers, doc_ends, first, label_ends, labels, rest, times, seen, terms, loads, n_pairs):
    """Write down for each document and label how often each term occurs: pairs of a term and a load.

    A load is the column of the label and the number of occurrences. A term's total over documents is the sum over
    the columns of labels when every document has one label. For the others, what is missing or too much goes to the
    column ``rest[doc]``, so that the sum over all columns is the total: too much with a negative number.
    `times` is zero for every term, before and after; `seen` has room for a document's terms, and one.
    Returns the document before which it stopped for want of room, the number of pairs, and how many more that
    document needs.
    """
    for doc in range(first, doc_ends.shape[0]):
        start, stop = doc_ends[doc - 1] if doc > 0 else 0, doc_ends[doc]
        label, last = label_ends[doc - 1] if doc > 0 else 0, label_ends[doc]
        n_labels = last - label
        n_seen = 0
        for i in range(start, stop):
            term = numbers[i]
            seen[n_seen] = term
            n_seen += np.int64(times[term] == 0)
            times[term] += 1
        needed = n_seen * max(2 * n_labels - 1, 1)
        if n_pairs + needed > terms.shape[0]:
            _forget(seen, n_seen, times)
            return doc, n_pairs, needed
        for j in range(label, last):
            load = labels[j] << _TF_BITS
            for i in range(n_seen):
                terms[n_pairs] = seen[i]
                loads[n_pairs] = load | times[seen[i]]
                n_pairs += 1
        load = rest[doc] << _TF_BITS
        if n_labels == 0:
            for i in range(n_seen):
                terms[n_pairs] = seen[i]
                loads[n_pairs] = load | times[seen[i]]
                n_pairs += 1
        for _ in range(n_labels - 1):
            for i in range(n_seen):
                terms[n_pairs] = seen[i]
                loads[n_pairs] = -(load | times[seen[i]])
                n_pairs += 1
        _forget(seen, n_seen, times)
    return doc_ends.shape[0], n_pairs, 0


@_jit
def _forget(seen, n_seen, times):
    for i in range(n_seen):
        times[seen[i]] = 0


@_jit
def _unpack_column(load):
    """The column of a load, whatever its sign."""
    return abs(load) >> _TF_BITS


@_jit
def _sort_by_column(terms, loads):
    """Pairs in order of their columns; a copy, as they are, when the documents came class by class."""
    n, n_columns, ascending = terms.shape[0], 1, True
    for i in range(n):
        ascending &= _unpack_column(loads[i]) >= n_columns - 1
        n_columns = max(n_columns, _unpack_column(loads[i]) + 1)
    if ascending:
        return terms, loads.copy()
    starts = np.zeros(n_columns + 1, np.int64)
    for i in range(n):
        starts[_unpack_column(loads[i]) + 1] += 1
    for column in range(n_columns):
        starts[column + 1] += starts[column]
    sorted_terms, sorted_loads = np.empty(n, np.int32), np.empty(n, np.int64)
    for i in range(n):
        column = _unpack_column(loads[i])
        at = starts[column]
        starts[column] += 1
        sorted_terms[at] = terms[i]
        sorted_loads[at] = loads[i]
    return sorted_terms, sorted_loads


@_jit
def sum_pairs(terms, loads, n_terms):
    """Sum up pairs to cells: where each term's begin, their columns and values; the columns ascend.

    Two stable counting sorts, by column and then by term.
    """
    n = terms.shape[0]
    by_column_terms, by_column_loads = _sort_by_column(terms, loads)
    free = np.zeros(n_terms + 1, np.int64)
    for i in range(n):
        free[terms[i] + 1] += 1
    for term in range(n_terms):
        free[term + 1] += free[term]
    for i in range(n):
        term = by_column_terms[i]
        loads[free[term]] = by_column_loads[i]
        free[term] += 1
    n_cells, i = 0, 0
    indptr = np.zeros(n_terms + 1, np.int64)
    for term in range(n_terms):
        before = -1
        while i < free[term]:
            n_cells += np.int64(_unpack_column(loads[i]) != before)
            before = _unpack_column(loads[i])
            i += 1
        indptr[term + 1] = n_cells
    columns, values = np.empty(n_cells, np.int32), np.zeros((3, n_cells), np.int64)
    cell, i = -1, 0
    for term in range(n_terms):
        before = -1
        while i < free[term]:
            load = loads[i]
            i += 1
            if _unpack_column(load) != before:
                before = _unpack_column(load)
                cell += 1
                columns[cell] = before
            sign = np.int64(1) if load > 0 else np.int64(-1)
            tf = abs(load) & ((1 << _TF_BITS) - 1)
            values[0, cell] += sign
            values[1, cell] += sign * tf
            values[2, cell] += sign * tf * tf
    return indptr, columns, values


@_jit
def reorder_cells(indptr, columns, values, rank, n_ranks, row_of, n_rows):
    """Cells by term number and column, ordered by the terms' ranks and the columns' rows instead."""
    n_cells = columns.shape[0]
    starts = np.zeros(n_rows + 1, np.int64)
    for column in columns:
        starts[row_of[column] + 1] += 1
    for row in range(n_rows):
        starts[row + 1] += starts[row]
    new_indptr = np.zeros(n_ranks + 1, np.int64)
    cells, terms = np.empty(n_cells, np.int64), np.empty(n_cells, np.int32)
    for term in range(indptr.shape[0] - 1):
        if indptr[term] < indptr[term + 1]:
            new_indptr[rank[term] + 1] = indptr[term + 1] - indptr[term]
        for i in range(indptr[term], indptr[term + 1]):
            row = row_of[columns[i]]
            cells[starts[row]] = i
            terms[starts[row]] = rank[term]
            starts[row] += 1
    for term in range(n_ranks):
        new_indptr[term + 1] += new_indptr[term]
    free = new_indptr.copy()
    new_rows, new_values = np.empty(n_cells, np.int32), np.empty((3, n_cells), np.int64)
    for i in range(n_cells):
        at, cell = free[terms[i]], cells[i]
        free[terms[i]] += 1
        new_rows[at] = row_of[columns[cell]]
        for k in range(3):
            new_values[k, at] = values[k, cell]
    return new_indptr, new_rows, new_values


@_jit
def _merge_indptr(in_a, indptr_a, rows_a, in_b, indptr_b, rows_b):
    """Where the cells of each term will begin when those of two lists are merged."""
    indptr = np.zeros(in_a.shape[0] + 1, np.int64)
    for term in range(in_a.shape[0]):
        a, end_a = (indptr_a[in_a[term]], indptr_a[in_a[term] + 1]) if in_a[term] >= 0 else (0, 0)
        b, end_b = (indptr_b[in_b[term]], indptr_b[in_b[term] + 1]) if in_b[term] >= 0 else (0, 0)
        n = (end_a - a) + (end_b - b)
        while a < end_a and b < end_b:
            row_a, row_b = rows_a[a], rows_b[b]
            n -= np.int64(row_a == row_b)
            a += np.int64(row_a <= row_b)
            b += np.int64(row_b <= row_a)
        indptr[term + 1] = indptr[term] + n
    return indptr


@_jit
def merge_cells(in_a, indptr_a, rows_a, values_a, in_b, indptr_b, rows_b, values_b, sign):
    """Add (or subtract: `sign`) the cells of the terms that have the numbers `in_a` and `in_b`, -1 for none."""
    indptr = _merge_indptr(in_a, indptr_a, rows_a, in_b, indptr_b, rows_b)
    rows, values = np.empty(indptr[-1], np.int32), np.empty((3, indptr[-1]), values_a.dtype)
    n = 0
    for term in range(in_a.shape[0]):
        a, end_a = (indptr_a[in_a[term]], indptr_a[in_a[term] + 1]) if in_a[term] >= 0 else (0, 0)
        b, end_b = (indptr_b[in_b[term]], indptr_b[in_b[term] + 1]) if in_b[term] >= 0 else (0, 0)
        while a < end_a or b < end_b:
            take_a = b == end_b or (a < end_a and rows_a[a] <= rows_b[b])
            take_b = a == end_a or (b < end_b and rows_b[b] <= rows_a[a])
            rows[n] = rows_a[a] if take_a else rows_b[b]
            for k in range(3):
                value = values_a[k, a] if take_a else values_a.dtype.type(0)
                values[k, n] = value + sign * values_b[k, b] if take_b else value
            a += np.int64(take_a)
            b += np.int64(take_b)
            n += 1
    return indptr, rows, values


@_jit
def extract_fold(indptr, classes, values, places, shares, n_classes, without):
    """The cells of a part of the documents that has `shares` in the cells at `places`, ascending; or of the others.

    Classes from `n_classes` on are no classes: they count in the totals only. Returns the terms that are left, where
    their cells begin, the cells' classes and values, and the totals of the terms.
    """
    n_terms, share, n_kept, n_cells = indptr.shape[0] - 1, 0, 0, 0
    kept, new_indptr = np.empty(n_terms, np.int64), np.zeros(n_terms + 1, np.int64)
    most = classes.shape[0] if without else places.shape[0]
    new_classes, new_values = np.empty(most, np.int32), np.empty((3, most), np.int64)
    totals = np.zeros((3, n_terms), np.int64)
    for term in range(n_terms):
        for cell in range(indptr[term], indptr[term + 1]):
            here = share < places.shape[0] and places[share] == cell
            df, tf, tf2 = np.int64(0), np.int64(0), np.int64(0)
            if without:
                df, tf, tf2 = values[0, cell], values[1, cell], values[2, cell]
            if here:
                sign = np.int64(-1) if without else np.int64(1)
                df += sign * shares[0, share]
                tf += sign * shares[1, share]
                tf2 += sign * shares[2, share]
                share += 1
            totals[0, n_kept] += df
            totals[1, n_kept] += tf
            totals[2, n_kept] += tf2
            if df > 0 and classes[cell] < n_classes:
                new_classes[n_cells] = classes[cell]
                new_values[0, n_cells], new_values[1, n_cells], new_values[2, n_cells] = df, tf, tf2
                n_cells += 1
        if totals[0, n_kept] > 0:
            kept[n_kept] = term
            n_kept += 1
            new_indptr[n_kept] = n_cells
    return (
        kept[:n_kept].copy(), new_indptr[: n_kept + 1].copy(), new_classes[:n_cells].copy(),
        new_values[:, :n_cells].copy(), totals[:, :n_kept].copy(),
    )  # fmt: skip

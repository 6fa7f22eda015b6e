"""The numba loops that sum up what documents have of terms to cells, and add, order and divide cells.

Documents are visited in order of their columns, so that the sums of one column at a time stand in one record per term;
a look-up by term and column, in a table that no cache can hold, would be several times slower. See
`termsieve.tokens.kernels` for the rules that hold for all loops.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from termsieve._numba import as_pointer, carray, jit, prefetch

_jit: Any = jit

_AHEAD = np.uint64(32)  # terms whose records are asked for in advance


@_jit
def sum_visits(
    numbers, starts, stops, columns, weights, first, visit_number, records, seen, terms, cell_columns, values, n_cells
):
    """Sum up visits of documents, column by column, to cells: a term, a column, and what its documents have of it.

    A visit is a document that counts in a column: ``numbers[starts[i]:stops[i]]`` are its terms, and it counts
    ``weights[i]`` times. Columns ascend. `records` has four numbers for each term: the last visit that met it and how
    often, and documents, occurrences and sum of squares in the column so far, which are zero between columns. The k-th
    occurrence in a document adds k * k - (k - 1) * (k - 1) to the sum of squares, so a document needs no second look.
    `visit_number` is larger than that of any visit before. Returns the visit before which it stopped for want of room
    for the cells of a column, and the number of cells.
    """
    n_visits, last_number = starts.shape[0], np.uint64(numbers.shape[0] - 1)
    one, low_half, half = np.int64(1), np.int64(0xFFFFFFFF), np.int64(32)
    while first < n_visits:
        column, last, most = columns[first], first, 0
        while last < n_visits and columns[last] == column:
            most += stops[last] - starts[last]
            last += 1
        if n_cells + min(most, seen.shape[0] - 1) > terms.shape[0]:
            return first, n_cells
        n_seen, before_column = np.uint64(0), visit_number + first
        for visit in range(first, last):
            weight, current = weights[visit], visit_number + visit
            for i in range(np.uint64(starts[visit]), np.uint64(stops[visit])):
                prefetch(records, np.uint64(numbers[min(i + _AHEAD, last_number)]) << np.uint64(2))
                term = numbers[i]
                at = np.uint64(term) << np.uint64(2)
                mark = records[at]
                is_same = (mark >> half) == current
                times = (mark & low_half) + one if is_same else one
                seen[n_seen] = term  # a term that this column has already is overwritten by the next
                n_seen += np.uint64((mark >> half) < before_column)
                records[at] = (current << half) | times
                records[at + np.uint64(1)] += np.int64(0) if is_same else weight
                records[at + np.uint64(2)] += weight
                records[at + np.uint64(3)] += weight * (times + times - one)
        for i in range(n_seen):
            at, cell = np.uint64(seen[i]) << np.uint64(2), np.uint64(n_cells) + np.uint64(i)
            terms[cell], cell_columns[cell] = seen[i], column
            for k in range(np.uint64(3)):
                values[cell, k] = records[at + k + np.uint64(1)]
                records[at + k + np.uint64(1)] = 0
        n_cells += np.int64(n_seen)
        first = last
    return n_visits, n_cells


@_jit
def add_up_cells(terms, columns, values, starts, stops, latest, new_terms, new_columns, new_values):
    """Copy cells run by run, those of one term and column added up; returns how many there are.

    ``starts`` and ``stops`` are runs of cells of one column each, in order of their columns. ``latest`` has two numbers
    for each term, -1 at first: the column of its last cell, and where that was written.
    """
    n = np.uint64(0)
    for run in range(starts.shape[0]):
        column = np.int64(columns[starts[run]])
        for cell in range(np.uint64(starts[run]), np.uint64(stops[run])):
            at = np.uint64(terms[cell]) << np.uint64(1)
            if latest[at] == column:
                old = np.uint64(latest[at + np.uint64(1)])
                for k in range(np.uint64(3)):
                    new_values[old, k] += values[cell, k]
                continue
            latest[at], latest[at + np.uint64(1)] = column, n
            new_terms[n], new_columns[n] = terms[cell], column
            for k in range(np.uint64(3)):
                new_values[n, k] = values[cell, k]
            n += np.uint64(1)
    return np.int64(n)


@_jit
def count_cells(lists, ranks, starts, stops, rows, addresses, latest):
    """Count the cells of each term, those of one row as one, into the second of its two numbers in ``latest``.

    A run is of one row: its list of cells, and where in it the run starts and stops; runs are in order of their rows.
    ``addresses`` says, for each list, where its terms and the ranks of these are in memory. The first number of a term
    in ``latest`` is the row of its last cell, -1 at first.
    """
    for run in range(starts.shape[0]):
        which, row = lists[run], rows[run]
        terms = carray(as_pointer(addresses[which, 0]), stops[run], np.int32)
        rank = carray(as_pointer(addresses[which, 1]), ranks[which], np.int32)
        for cell in range(np.uint64(starts[run]), np.uint64(stops[run])):
            at = np.uint64(rank[np.uint64(terms[cell])]) << np.uint64(1)
            latest[at + np.uint64(1)] += np.int64(latest[at] != row)
            latest[at] = row


@_jit
def place_cells(lists, ranks, starts, stops, rows, addresses, latest, placed_rows, sums):
    """Write the cells of runs to their places, those of one term and row added up: see `count_cells`.

    ``addresses`` has, third, where the values of a list are. The second number of a term in ``latest`` is the place
    before that of its first cell.
    """
    for run in range(starts.shape[0]):
        which, row = lists[run], rows[run]
        terms = carray(as_pointer(addresses[which, 0]), stops[run], np.int32)
        rank = carray(as_pointer(addresses[which, 1]), ranks[which], np.int32)
        values = carray(as_pointer(addresses[which, 2]), (stops[run], 3), np.int64)
        for cell in range(np.uint64(starts[run]), np.uint64(stops[run])):
            at = np.uint64(rank[np.uint64(terms[cell])]) << np.uint64(1)
            if latest[at] == row:
                place = np.uint64(latest[at + np.uint64(1)])
                for k in range(np.uint64(3)):
                    sums[k, place] += values[cell, k]
                continue
            place = np.uint64(latest[at + np.uint64(1)] + 1)
            latest[at], latest[at + np.uint64(1)] = row, place
            placed_rows[place] = row
            for k in range(np.uint64(3)):
                sums[k, place] = values[cell, k]


@_jit
def _merge_indptr(in_a, indptr_a, rows_a, in_b, indptr_b, rows_b):
    """Find where the cells of each term will begin when those of two lists are merged."""
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
    """Return the cells of the documents that have `shares` in the cells at `places`, ascending; or of the others.

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

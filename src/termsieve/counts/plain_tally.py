"""A tally in plain Python and NumPy: the definition of what is counted, and quick for a few megabytes of text."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from termsieve._types import Int64Array
from termsieve.counts.cells import Cells, TermCells

_COLUMN_BITS = 32  # of a key, below the number of the term


class _KeyedCells(NamedTuple):
    """Cells by keys, ascending: a key is the number of a term and of a column."""

    keys: Int64Array
    values: Int64Array  # documents, occurrences, sums of squares


class PlainTally:
    """Counts documents term by term, by what an analyzer says of each; gives what `Tally` gives."""

    def __init__(self, analyze: Callable[[str], list[str]]) -> None:
        self._analyze = analyze
        self._numbers: defaultdict[str, int] = defaultdict()
        self._numbers.default_factory = self._numbers.__len__  # a new term gets the next number
        self._parts: list[_KeyedCells] = []

    def add(self, texts: pa.LargeStringArray, label_ends: Int64Array, labels: Int64Array, rest: Int64Array) -> None:
        """Count documents, into the columns `labels` of each; what is too little or too much goes to `rest`.

        A document with one label counts in its column. One without any counts in the column ``rest[doc]``, one with
        several is taken off there but once: so the sum over all columns is the sum over the documents.
        """
        rows = [Counter(self._analyze(text)) for text in texts.to_pylist()]
        lengths = np.array([len(row) for row in rows], np.int64)
        terms = np.fromiter(
            map(self._numbers.__getitem__, itertools.chain.from_iterable(rows)), np.int64, lengths.sum()
        )
        times = np.fromiter(itertools.chain.from_iterable(row.values() for row in rows), np.int64, lengths.sum())
        n_labels = np.diff(label_ends, prepend=0)
        others = np.flatnonzero(n_labels != 1)
        docs = np.concatenate([np.repeat(np.arange(len(rows)), n_labels), others])
        columns = np.concatenate([labels, rest[others]])
        signs = np.concatenate([np.ones(len(labels), np.int64), 1 - n_labels[others]])
        # every term of a document, for each of its columns
        repeats = lengths[docs]
        starts = (np.cumsum(lengths) - lengths)[docs]
        source = np.repeat(starts - (np.cumsum(repeats) - repeats), repeats) + np.arange(repeats.sum())
        keys = (terms[source] << _COLUMN_BITS) | np.repeat(columns, repeats)
        sign, tf = np.repeat(signs, repeats), times[source]
        self._parts.append(_sum_by_key(keys, np.stack([sign, sign * tf, sign * tf * tf])))

    def sort_by_term(self, row_of: Int64Array, n_rows: int) -> TermCells:
        """Return the terms that were counted, sorted, with their cells; column j of the tally is row ``row_of[j]``."""
        names = list(self._numbers)
        order = sorted(range(len(names)), key=names.__getitem__)
        rank = np.empty(len(names), np.int64)
        rank[order] = np.arange(len(names))
        keys, values = (np.concatenate(parts, axis=-1) for parts in zip(_NO_CELLS, *self._parts, strict=True))
        columns = keys & ((1 << _COLUMN_BITS) - 1)
        keys, values = _sum_by_key(rank[keys >> _COLUMN_BITS] * n_rows + row_of[columns], values)
        indptr = np.searchsorted(keys, np.arange(len(names) + 1) * n_rows).astype(np.int64)
        terms = pa.array([names[i] for i in order], pa.large_string())
        return TermCells(terms, Cells(indptr, (keys % n_rows).astype(np.int32), values))


_NO_CELLS = _KeyedCells(np.empty(0, np.int64), np.empty((3, 0), np.int64))


def _sum_by_key(keys: Int64Array, values: Int64Array) -> _KeyedCells:
    if not len(keys):
        return _NO_CELLS
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    return _KeyedCells(keys[starts], np.add.reduceat(values[:, order], starts, axis=1))

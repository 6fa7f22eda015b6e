"""Cells as threads count them, column by column; and how such lists are added up, and arranged by term."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from termsieve._kernels import import_kernels
from termsieve._types import Int32Array, Int64Array
from termsieve.counts.cells import Cells, TermCells, union_terms
from termsieve.threads import work_on_each

if TYPE_CHECKING:
    from termsieve.counts import cell_kernels
else:
    cell_kernels = import_kernels("termsieve.counts.cell_kernels")


class Runs(NamedTuple):
    """Parts of a list with the cells of one column each: where they start and stop, and the columns."""

    starts: Int64Array
    stops: Int64Array
    columns: Int64Array


class CellList(NamedTuple):
    """Cells of one column after the other; one term and column may have several, which add up."""

    terms: Int32Array
    columns: Int32Array
    values: Int64Array  # cells x (documents, occurrences, sum of squares)

    @classmethod
    def of_size(cls, size: int) -> CellList:
        """Make room for so many cells."""
        return cls(np.empty(size, np.int32), np.empty(size, np.int32), np.empty((size, 3), np.int64))

    def head(self, n: int) -> CellList:
        """Return the first cells."""
        return CellList(self.terms[:n], self.columns[:n], self.values[:n])

    def find_runs(self) -> Runs:
        """Find the runs of cells of one column."""
        columns, n = self.columns, len(self.columns)
        starts = np.concatenate([[0], np.flatnonzero(columns[1:] != columns[:-1]) + 1])[: None if n else 0]
        return Runs(starts, np.append(starts[1:], n)[: len(starts)], columns[starts].astype(np.int64))

    def add_up(self, n_terms: int, room: int) -> tuple[CellList, int]:
        """Return a list with one cell for each term and column, at its head; their number; and room for more."""
        runs = self.find_runs()
        order = np.argsort(runs.columns, kind="stable")
        added = CellList.of_size(room)
        n = cell_kernels.add_up_cells(
            *self, starts=runs.starts[order], stops=runs.stops[order], latest=np.full(2 * n_terms, -1),
            new_terms=added.terms, new_columns=added.columns, new_values=added.values,
        )  # fmt: skip
        return added, n


class RankedCells(NamedTuple):
    """Sorted terms, and lists of cells, with the rank of each term by the number that it has in that list."""

    terms: pa.LargeStringArray
    ranks: list[Int32Array]
    cells: list[CellList]


def arrange_cells(parts: list[RankedCells], row_of: Int64Array, threads: int) -> TermCells:
    """Return the terms of all parts, sorted, with their cells added up; cells of column j are of row ``row_of[j]``.

    This uses the parts up.
    """
    terms, places = _unite([part.terms for part in parts], threads)
    lists = [cells for part in parts for cells in part.cells]
    ranks = [
        place[rank] if place is not None and len(place) else rank
        for part, place in zip(parts, places, strict=True)
        for rank in part.ranks
    ]
    parts.clear()
    return TermCells(terms, _place_cells(lists, ranks, len(terms), row_of))


def _unite(lists: list[pa.LargeStringArray], threads: int) -> tuple[pa.LargeStringArray, list[Int32Array | None]]:
    """Return the terms of all lists, sorted, and where those of each list are among them; None: they are all."""
    united = [_UnitedTerms(terms, [None]) for terms in lists]
    while len(united) > 1:
        pairs = [united[i : i + 2] for i in range(0, len(united), 2)]
        united = work_on_each(_unite_pair, pairs, threads)
    return united[0]


class _UnitedTerms(NamedTuple):
    """The terms of some lists, sorted, and where those of each list are among them; None: they are all."""

    terms: pa.LargeStringArray
    places: list[Int32Array | None]


def _unite_pair(pair: list[_UnitedTerms]) -> _UnitedTerms:
    if len(pair) == 1:
        return pair[0]
    terms, in_mine, in_theirs = union_terms(pair[0].terms, pair[1].terms)
    places: list[Int32Array | None] = []
    for union, inside in zip(pair, (in_mine, in_theirs), strict=True):
        moved = np.flatnonzero(inside >= 0).astype(np.int32)
        places += [moved if place is None else moved[place] for place in union.places]
    return _UnitedTerms(terms, places)


def _place_cells(lists: list[CellList], ranks: list[Int32Array], n_terms: int, row_of: Int64Array) -> Cells:
    """Write cells to where they belong: they are counted first, so that nothing has to be sorted."""
    runs = _sort_runs(lists, row_of)
    addresses = [
        [array.__array_interface__["data"][0] for array in (cells.terms, rank, cells.values)]
        for cells, rank in zip(lists, ranks, strict=True)
    ]
    where = {"ranks": np.array([len(rank) for rank in ranks]), "addresses": np.array(addresses, np.int64)}
    latest = np.full((n_terms, 2), -1)
    latest[:, 1] = 0
    cell_kernels.count_cells(**runs, **where, latest=latest.reshape(-1))
    indptr = np.concatenate([[0], np.cumsum(latest[:, 1])])
    latest[:, 0], latest[:, 1] = -1, indptr[:-1] - 1
    rows, sums = np.empty(indptr[-1], np.int32), np.empty((3, indptr[-1]), np.int64)
    cell_kernels.place_cells(**runs, **where, latest=latest.reshape(-1), placed_rows=rows, sums=sums)
    return Cells(indptr, rows, sums)


def _sort_runs(lists: list[CellList], row_of: Int64Array) -> dict[str, Int64Array]:
    """Return the runs of all lists in order of their rows, as loops take them."""
    found = [cells.find_runs() for cells in lists]
    which = np.repeat(np.arange(len(lists)), [len(runs.starts) for runs in found])
    starts, stops, columns = map(np.concatenate, zip(*found, strict=True))
    rows = row_of[columns]
    order = np.argsort(rows, kind="stable")
    return {"lists": which[order], "starts": starts[order], "stops": stops[order], "rows": rows[order]}


def cut_terms(block: TermCells, cells: int) -> Iterator[TermCells]:
    """Yield the terms with about so many cells at a time."""
    indptr = block.cells.indptr
    cuts = np.searchsorted(indptr, np.arange(cells, indptr[-1], cells)).tolist()
    ends = [0, *cuts, len(block.terms)]
    for first, end in itertools.pairwise(ends):
        if first < end:
            yield block.slice(first, end)

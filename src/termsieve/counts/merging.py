"""Counts in files added up, or subtracted, block by block: of each file, a few thousand terms are in memory.

The files are sorted by term. In each round, all terms up to the one that the first block to be used up ends with are
taken from every file; such rounds are independent of each other, so threads add them up.
"""

from __future__ import annotations

import bisect
import functools
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from termsieve._types import Int32Array
from termsieve.counts import storage
from termsieve.counts.arithmetic import NOT_A_PART, add, subtract
from termsieve.counts.cells import Cells, TermBlock, TermCells
from termsieve.counts.consistency import check_block
from termsieve.counts.counts import Counts
from termsieve.counts.counts_reader import CountsReader
from termsieve.counts.storage import EMPTY_BLOCK
from termsieve.errors import CountsError, OutputError
from termsieve.files import write_atomically
from termsieve.threads import map_stream

MOST_AT_ONCE = 64  # files that are read side by side


def add_files(
    stored: Sequence[CountsReader], threads: int, signs: Sequence[int] | None = None
) -> tuple[dict[str, Any], Iterator[TermBlock]]:
    """Return the facts and the blocks of the sum of counts in files; with signs of -1, some are subtracted.

    Raises
    ------
    CountsError
        When counts cannot be added; before any block is read, or in the midst of the blocks for a number that is too
        large, or negative.
    """
    signs = [1] * len(stored) if signs is None else list(signs)
    heads = [Counts.of_block(one.facts, EMPTY_BLOCK) for one in stored]
    total = heads[0]
    for head, sign in zip(heads[1:], signs[1:], strict=True):
        total = add(total, head) if sign > 0 else subtract(total, head)
    return total.facts, _add_blocks(stored, signs, total.facts, threads)


def _add_blocks(
    stored: Sequence[CountsReader], signs: Sequence[int], facts: dict[str, Any], threads: int
) -> Iterator[TermBlock]:
    classes = sorted({name for one in stored for name in one.facts["classes"]})
    sources = [_read_pieces(one, classes, sign) for one, sign in zip(stored, signs, strict=True)]

    def add_up(pieces: list[TermCells]) -> TermBlock:
        total = _add_pieces(pieces)
        is_negative = bool((total.cells.values < 0).any())
        if -1 in signs:
            if is_negative:
                raise CountsError(f"Cannot subtract counts: the result would be negative. {NOT_A_PART}")
            return _drop_empty(_split_totals(total, len(classes)), classes, facts)
        if is_negative:
            raise CountsError("Cannot add counts: a sum does not fit into 64 bits.")
        return _split_totals(total, len(classes))

    return map_stream(add_up, _take_rounds(sources), threads)


def _read_pieces(stored: CountsReader, classes: list[str], sign: int) -> Iterator[TermCells]:
    """Yield the blocks of a file, the classes numbered among others, the totals as one class more."""
    numbers = np.searchsorted(np.array(classes, dtype=object), np.array(stored.facts["classes"], dtype=object))
    for block in stored.read_blocks():
        yield _join_totals(block, numbers.astype(np.int32), len(classes), sign)


def _join_totals(block: TermBlock, numbers: Int32Array, n_classes: int, sign: int) -> TermCells:
    n_terms, n_cells = len(block.terms), len(block.cells.classes)
    indptr = block.cells.indptr + np.arange(n_terms + 1)
    is_total = np.zeros(n_terms + n_cells, np.bool_)
    is_total[indptr[1:] - 1] = True
    classes = np.full(n_terms + n_cells, n_classes, np.int32)
    values = np.empty((3, n_terms + n_cells), block.totals.dtype)
    classes[~is_total] = numbers[block.cells.classes] if len(numbers) else block.cells.classes
    values[:, ~is_total], values[:, is_total] = block.cells.values, block.totals
    return TermCells(block.terms, Cells(indptr, classes, values if sign > 0 else -values))


def _split_totals(piece: TermCells, n_classes: int) -> TermBlock:
    terms, cells = piece
    is_total = cells.classes == n_classes
    return TermBlock(terms, cells.where(~is_total), cells.values[:, is_total])


def _drop_empty(block: TermBlock, classes: list[str], facts: dict[str, Any]) -> TermBlock:
    """Return what is left of a difference, in the classes that are left; it must be what documents can have."""
    terms, cells, totals = block
    cells = cells.where(cells.values[0] > 0)
    left = set(facts["classes"])
    kept = np.array([name in left for name in classes])
    if len(cells.classes) and not kept[cells.classes].all():
        raise CountsError(f"Cannot subtract counts: terms would be left of a class of no documents. {NOT_A_PART}")
    numbers = (np.cumsum(kept) - 1).astype(np.int32)
    cells = cells._replace(classes=numbers[cells.classes] if len(numbers) else cells.classes)
    places = np.flatnonzero(totals[0] > 0)
    if len(places) < len(terms):
        terms, cells, totals = terms.take(pa.array(places)), cells.take(places), totals[:, places]
    block = TermBlock(terms, cells, totals)
    try:
        check_block(facts, block)
    except CountsError as error:
        raise CountsError(f"Cannot subtract counts: {error} as would be left. {NOT_A_PART}") from error
    return block


def _add_pieces(pieces: list[TermCells]) -> TermCells:
    """Add up in pairs, and the pairs again: each cell is moved as often as the number of pieces can be halved."""
    while len(pieces) > 1:
        pieces = [pieces[i].plus(pieces[i + 1]) if i + 1 < len(pieces) else pieces[i] for i in range(0, len(pieces), 2)]
    return pieces[0]


def _take_rounds(sources: Sequence[Iterator[TermCells]]) -> Iterator[list[TermCells]]:
    """Yield what all sources have of one range of terms after the other."""
    heads = [_PartlyReadSource(source) for source in sources]
    while heads := [head for head in heads if head.fill()]:
        last = min(head.last for head in heads)
        pieces = [piece for head in heads if (piece := head.take_up_to(last)) is not None]
        yield pieces


class _PartlyReadSource:
    """What is read of a source, and not yet taken."""

    def __init__(self, source: Iterator[TermCells]) -> None:
        self._source = source
        self._piece: TermCells | None = None
        self.last = ""

    def fill(self) -> bool:
        """Read on where all was taken; tell whether there is anything left."""
        while self._piece is None or not len(self._piece.terms):
            self._piece = next(self._source, None)
            if self._piece is None:
                return False
            if len(self._piece.terms):
                self.last = self._piece.terms[-1].as_py()
        return True

    def take_up_to(self, last: str) -> TermCells | None:
        """Take the terms up to one."""
        piece = self._piece
        if piece is None:
            return None
        end = bisect.bisect_right(range(len(piece.terms)), last, key=lambda i: piece.terms[i].as_py())
        if end == len(piece.terms):
            self._piece = None
            return piece
        if not end:
            return None
        self._piece = _slice(piece, end, len(piece.terms))
        return _slice(piece, 0, end)


def _slice(piece: TermCells, first: int, end: int) -> TermCells:
    """Return a range of terms, with a copy of their counts: loops are compiled for contiguous arrays."""
    part = piece.slice(first, end)
    return part._replace(cells=part.cells._replace(values=np.ascontiguousarray(part.cells.values)))


class Sum(NamedTuple):
    """The sum of counts: what is known of the documents, and blocks of terms."""

    facts: dict[str, Any]
    blocks: Iterator[TermBlock]


@contextmanager
def open_sum(paths: Sequence[Path], threads: int, *, own: bool = False) -> Iterator[Sum]:
    """Open the sum of counts in files, our `own` or any; very many are added up to larger ones first, beside them."""
    with ExitStack() as stack:
        while len(paths) > MOST_AT_ONCE:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix=".sums-", dir=paths[0].parent)))
            groups = [paths[i : i + MOST_AT_ONCE] for i in range(0, len(paths), MOST_AT_ONCE)]
            paths = [folder / f"{number}.run" for number in range(len(groups))]
            for path, group in zip(paths, groups, strict=True):
                with open_sum(group, threads, own=own) as found:
                    write_run(path, found)
            own = True
        stored = [CountsReader.of_file(path, own=own) for path in paths]
        for one in stored:
            stack.callback(one.close)
        yield Sum(*add_files(stored, threads))


def write_run(path: Path, found: Sum) -> None:
    """Write a part of counts, of which many are read together; a folder that is full is named."""
    try:
        write_atomically(path, storage.write_counts(*found, small=True))
    except OutputError as error:
        raise OutputError(
            f"{error} This is a part of the counts that does not fit into the memory that counting may take. Give "
            "another folder for such parts (spill_folder=FOLDER), or more memory."
        ) from error


def save_sum(paths: Sequence[str | Path], to: str | Path, threads: int, *, files: Sequence[Any] | None = None) -> None:
    """Write the sum of counts in files to another file; it is there whole or not at all."""
    if any(_has_given_order(path) for path in paths):
        whole = functools.reduce(add, map(Counts.load, paths))
        storage.save(to, whole.facts, [whole.block], files)
        return
    with open_sum([Path(path) for path in paths], threads) as found:
        storage.save(to, *found, files)


def _has_given_order(path: str | Path) -> bool:
    """Tell whether the terms are in the order of a matrix or a vocabulary, which is not merged."""
    with closing(CountsReader.of_file(path)) as stored:
        return stored.is_real or bool(stored.facts["fixed"])

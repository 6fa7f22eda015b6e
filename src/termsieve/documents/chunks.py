"""What a reader hands over: some rows of the columns that were asked for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa

from termsieve._types import Int64Array

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from termsieve.documents.options import Options
    from termsieve.documents.remote import AnyPath

# An Arrow array; or the values as Python objects, where Arrow has no one type for them.
Column: TypeAlias = "pa.Array | list[Any]"

# Row in the chunk -> what is wrong with it. What stands before a colon is the kind of fault, counted as one.
Faults: TypeAlias = dict[int, str]


# What the place of a row is: a line of a text file, a row of a table, or a file of its own
LINE, ROW, FILE = "line", "row", "file"

BATCH_BYTES = 8 << 20
BATCH_ROWS = 32_768


@dataclass(frozen=True)
class JsonLiteral:
    """A JSON integer of so many digits that Python refuses to write it, as the file spells it."""

    spelling: str

    def __str__(self) -> str:
        return self.spelling


@dataclass(frozen=True)
class Places:
    """Where in its source each row of a chunk is: nothing is looked for before somebody asks.

    `find` gives, for the numbers of some rows in the chunk, the first and the last line of each. Rows of a table are
    counted from 1, and first and last are the same; so they are for the paths of files.
    """

    unit: str
    find: Callable[[Int64Array], tuple[Sequence[Any] | Int64Array, Sequence[Any] | Int64Array]]

    def __call__(self, row: int) -> str:
        """Name the place of one row for people, such as "line 7"."""
        first = self.find(np.array([row]))[0][0]
        return str(first) if self.unit == FILE else f"{self.unit} {first}"

    def take(self, rows: Int64Array) -> Places:
        """Return the places of just these rows."""
        return Places(self.unit, lambda some: self.find(rows[some]))


def make_line_places(find: Callable[[], tuple[Int64Array, Int64Array]]) -> Places:
    """Return places in a text file, by a function that finds the first and last line of every row."""

    def find_some(rows: Int64Array) -> tuple[Int64Array, Int64Array]:
        first, last = find()
        return first[rows], last[rows]

    return Places(LINE, find_some)


@dataclass(frozen=True)
class Spans:
    """Rows that take several lines of a text file, since a quoted cell holds the end of a line."""

    first: Int64Array
    last: Int64Array
    merged: np.ndarray[Any, np.dtype[np.bool_]]  # whether each looks like several rows that a quote has merged


@dataclass
class Chunk:
    """Some rows of a source."""

    rows: int
    columns: dict[str, Column]
    extra: dict[str, pa.Array]
    place: Places
    faults: Faults = field(default_factory=dict)
    position: int = 0  # bytes of the source that were read so far
    fatal: int | None = None  # a row whose fault leaves in doubt what the rest of the source is: it is never skipped
    spans: Spans | None = None
    empty_is_missing: bool = False  # whether an empty cell has no text: CSV has no other way to say so

    def take(self, rows: np.ndarray[Any, Any]) -> Chunk:
        """Return the chunk with just these rows, which stay in order."""
        kept = rows.tolist()
        new_row = {old: new for new, old in enumerate(kept)}
        return replace(
            self,
            rows=len(kept),
            columns={name: _take_rows(column, kept) for name, column in self.columns.items()},
            extra={name: column.take(pa.array(kept, pa.int64())) for name, column in self.extra.items()},
            place=self.place.take(rows),
            faults={new_row[row]: reason for row, reason in self.faults.items() if row in new_row},
            fatal=None if self.fatal is None else new_row.get(self.fatal),
        )


def _take_rows(column: Column, rows: list[int]) -> Column:
    if isinstance(column, list):
        return [column[row] for row in rows]
    return column.take(pa.array(rows, pa.int64()))


class Source(ABC):
    """Something that documents are read from, again and again.

    Attributes
    ----------
    name
        What messages call it.
    unit
        What the place of a row is: `LINE`, `ROW` or `FILE`.
    path
        The file or folder, where it is one.
    class_name
        The class of all its documents, where the file is the class.
    has_lines
        Whether it has no columns: each line is a document.
    has_folders
        Whether it has no columns: each file is a document, and its folder the class.
    """

    name: str
    unit: str = ROW
    path: AnyPath | None = None
    class_name: str | None = None
    has_lines: bool = False
    has_folders: bool = False

    @property
    def size(self) -> int | None:
        """Bytes on disk, or None."""
        return None

    @property
    def notes(self) -> Sequence[str]:
        """What is odd about the source as a whole, and good to know."""
        return ()

    def remarks(self, options: Options) -> Sequence[str]:  # noqa: ARG002
        """Return what was detected, and is good to know."""
        return ()

    def read_undecodable(self, encoding: str) -> bytes:  # noqa: ARG002
        """Return some of the bytes around the first that are not valid in an encoding; nothing if that is not known."""
        return b""

    def column_names(self, options: Options) -> list[str] | None:  # noqa: ARG002
        """Return the names of the columns: none where they are not known, None where there are no columns to choose."""
        return None

    def options(self, options: Options) -> Options:
        """Return the options as they apply to this kind of source."""
        return options

    @abstractmethod
    def chunks(self, options: Options, extra: Sequence[str]) -> Iterator[Chunk]:
        """Yield all rows, from the first."""


def make_row_places(first: int) -> Places:
    """Return the places of a chunk that begins after `first` rows."""

    def find(rows: Int64Array) -> tuple[Int64Array, Int64Array]:
        numbers = rows + (first + 1)
        return numbers, numbers

    return Places(ROW, find)

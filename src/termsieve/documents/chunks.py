"""What a reader hands over: some rows of the columns that were asked for."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy as np

    from termsieve.documents.options import Options

# An Arrow array; or the values as Python objects, where Arrow has no one type for them.
Column: TypeAlias = "pa.Array | list[Any]"

# Row in the chunk -> what is wrong with it. What stands before a colon is the kind of fault, counted as one.
Faults: TypeAlias = dict[int, str]

BATCH_BYTES = 8 << 20
BATCH_ROWS = 32_768


@dataclass(frozen=True)
class Literal:
    """A JSON integer of so many digits that Python refuses to write it, as the file spells it."""

    spelling: str

    def __str__(self) -> str:
        return self.spelling


@dataclass
class Chunk:
    """Some rows of a source."""

    rows: int
    columns: dict[str, Column]
    extra: dict[str, pa.Array]
    place: Callable[[int], str]  # where in the source a row is, for people: "line 7"
    faults: Faults = field(default_factory=dict)
    position: int = 0  # bytes of the source that were read so far

    def only(self, rows: np.ndarray[Any, Any]) -> Chunk:
        """Return the chunk with just these rows, which stay in order."""
        place, kept = self.place, rows.tolist()
        new_row = {old: new for new, old in enumerate(kept)}
        return replace(
            self,
            rows=len(kept),
            columns={name: _taken(column, kept) for name, column in self.columns.items()},
            extra={name: column.take(pa.array(kept, pa.int64())) for name, column in self.extra.items()},
            place=lambda row: place(kept[row]),
            faults={new_row[row]: reason for row, reason in self.faults.items() if row in new_row},
        )


def _taken(column: Column, rows: list[int]) -> Column:
    if isinstance(column, list):
        return [column[row] for row in rows]
    return column.take(pa.array(rows, pa.int64()))


class Source(Protocol):
    """Something that documents are read from, again and again."""

    @property
    def name(self) -> str:
        """What messages call it."""

    @property
    def size(self) -> int | None:
        """Bytes on disk, or None."""

    def options(self, options: Options) -> Options:
        """Return the options as they apply to this kind of source."""

    def chunks(self, options: Options, extra: Sequence[str]) -> Iterator[Chunk]:
        """All rows, from the first."""


def row_place(first: int) -> Callable[[int], str]:
    """Name the rows of a chunk that begins after `first` rows, counted from 1."""
    return lambda row: f"row {first + row + 1}"

"""What separates the cells of a CSV file: as its content tells.

The rule: a separator fits if it cuts the first record into two cells or more, and at least half of the records behind
it, as far as they stand in the first 64 kB, into as many. Of those that fit the one that the most records agree with is
taken, and of equals the usual one of the ending first (a comma for ``.csv``, a tab for ``.tsv``). Where none fits, as
in a file with one column, it is the usual one.
"""

from __future__ import annotations

import contextlib
import csv
import io
from typing import Any

from termsieve.documents.csv_records import open_csv, unlimited_cell_size
from termsieve.errors import OptionError

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
HEAD_BYTES = 1 << 16
_NAMES = {"comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "pipe": "|", "space": " "}


def check_separator(sep: Any) -> str | None:
    r"""Return a separator as one character; names such as "tab" are understood.

    >>> check_separator("tab"), check_separator(";")
    ('\t', ';')
    """
    if sep is None:
        return None
    found = _NAMES.get(sep, sep) if isinstance(sep, str) else None
    if found is None or len(found) != 1 or not found.isascii() or found in '"\r\n\0':
        raise OptionError(
            f"sep must be one ASCII character such as ';', or one of {', '.join(map(repr, _NAMES))}; got {sep!r}."
        )
    return found


def detect_separator(head: bytes, usual: str, *, whole: bool, quotes: bool = True) -> str:
    r"""Tell what separates the cells, by the first bytes of a file; `whole` if these are all.

    >>> detect_separator(b"id;text;label\n1;one, two;x\n2;three, four;y\n", ",", whole=True)
    ';'
    >>> detect_separator(b"id,text,label\n1,one; two,x\n", ",", whole=True)
    ','
    """
    text = head.decode(errors="replace").removeprefix("\ufeff")
    agreement = {sep: _count_agreeing(text, sep, whole=whole, quotes=quotes) for sep in (usual, *SEPARATORS)}
    return max(agreement, key=lambda sep: agreement[sep])  # the first of equals: the usual one


def _count_agreeing(text: str, sep: str, *, whole: bool, quotes: bool) -> int:
    """Count the records with as many cells as the first has; 0 where the separator does not fit."""
    records: list[int] = []
    with unlimited_cell_size(), contextlib.suppress(csv.Error):  # what was read until then tells enough
        records.extend(len(cells) for cells in open_csv(io.StringIO(text, newline=""), sep, quotes=quotes) if cells)
    if not whole and len(records) > 1:
        records.pop()  # it may be cut
    if not records or records[0] < 2:
        return 0
    agreeing = sum(n == records[0] for n in records[1:])
    return 1 + agreeing if 2 * agreeing >= len(records) - 1 else 0


def describe_separator(sep: str) -> str:
    """Name a separator for people.

    >>> describe_separator(";")
    'semicolons'
    """
    return SEPARATORS.get(sep, repr(sep))

"""Sheets of Excel and OpenDocument files: a header, then rows.

They are read by calamine. An empty cell is missing, and a row of empty cells only is none. Such programs keep all
numbers as floats: a whole one is taken as an integer, so that the label 1 is ``1`` as in a CSV file. A number or date
in the text column is text. Rows are numbered as the program shows them, so that the header is mostly row 1.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from termsieve._types import Int64Array
from termsieve.documents.chunks import BATCH_ROWS, ROW, Chunk, Places
from termsieve.documents.label_spelling import spell
from termsieve.documents.options import Options, check_columns
from termsieve.documents.remote import AnyPath
from termsieve.documents.streams import convert_read_errors
from termsieve.documents.string_columns import stringify_column
from termsieve.errors import InputError, OptionError, did_you_mean
from termsieve.extras import import_extra

SHEET_EXTENSIONS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
_LARGEST_WHOLE = 2**53  # beyond, a float does not tell one whole number from the next


def sheet_columns(path: AnyPath, options: Options) -> list[str]:
    """List the names of the columns of a sheet."""
    return _split_header(_read_rows(path, options.sheet))[0]


def describe_sheet(path: AnyPath, options: Options) -> str:
    """Say which sheet is read where there are several, and none was asked for; else nothing."""
    names = _sheet_names(path)
    if options.sheet is not None or len(names) < 2:
        return ""
    return f"the first of {len(names)} sheets, {names[0]!r} (sheet=NAME reads another)"


def read_sheet(path: AnyPath, options: Options, extra: Sequence[str]) -> Iterator[Chunk]:
    """Yield the rows of a sheet."""
    wanted = options.columns(extra)
    names, rows, numbers = _split_header(_read_rows(path, options.sheet))
    check_columns(str(path), wanted, names)
    places = {name: names.index(name) for name in wanted}
    for start in range(0, len(rows), BATCH_ROWS):
        some = rows[start : start + BATCH_ROWS]
        columns = {name: [_clean_value(row[place]) for row in some] for name, place in places.items()}
        for name in options.text:
            columns[name] = [None if value is None else spell(value) for value in columns[name]]
        yield Chunk(
            rows=len(some),
            columns=dict(columns),
            extra={name: stringify_column(columns[name], name, {}) for name in extra},
            place=_make_places(numbers[start : start + BATCH_ROWS]),
        )


def _make_places(numbers: Int64Array) -> Places:
    return Places(ROW, lambda rows: (numbers[rows], numbers[rows]))


def _split_header(rows: list[list[Any]]) -> tuple[list[str], list[list[Any]], Int64Array]:
    """Return the names of the columns, the rows that are not empty, and the number of each."""
    filled = [number for number, row in enumerate(rows) if any(value not in ("", None) for value in row)]
    if not filled:
        return [], [], np.zeros(0, np.int64)
    header = [_clean_value(value) for value in rows[filled[0]]]
    names = ["" if value is None else spell(value).strip() for value in header]
    while names and not names[-1]:
        names.pop()
    return names, [rows[number] for number in filled[1:]], np.array(filled[1:], np.int64) + 1


def _clean_value(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer() and abs(value) < _LARGEST_WHOLE:
        return int(value)
    return None if value == "" else value


def _sheet_names(path: AnyPath) -> list[str]:
    with _convert_errors(path):
        return list(_open_workbook(path).sheet_names)


def _read_rows(path: AnyPath, sheet: str | int | None) -> list[list[Any]]:
    with _convert_errors(path):
        book = _open_workbook(path)
        name = _choose_sheet(path, list(book.sheet_names), sheet)
        rows: list[list[Any]] = book.get_sheet_by_name(name).to_python(skip_empty_area=False)
    return rows


def _open_workbook(path: AnyPath) -> Any:
    calamine = import_extra("python_calamine", f"{path}: reading a sheet")
    if isinstance(path, Path):
        return calamine.CalamineWorkbook.from_path(str(path))
    with path.open("rb") as file:
        return calamine.CalamineWorkbook.from_filelike(io.BytesIO(file.read()))


def _choose_sheet(path: AnyPath, names: list[str], sheet: str | int | None) -> str:
    if not names:
        raise InputError(f"{path}: has no sheets.")
    if sheet is None:
        return names[0]
    number = sheet if isinstance(sheet, int) else int(sheet) if sheet.isdecimal() and sheet not in names else None
    if number is not None and 1 <= number <= len(names):
        return names[number - 1]
    if sheet in names:
        return str(sheet)
    raise OptionError(
        f"{path}: there is no sheet {sheet!r}. {did_you_mean(str(sheet), names)}Sheets: {', '.join(map(repr, names))}."
    )


@contextmanager
def _convert_errors(path: AnyPath) -> Iterator[None]:
    """Turn what calamine says, or the panic of its code, into an `InputError`."""
    with convert_read_errors(str(path)):
        try:
            yield
        except (InputError, OptionError, ImportError, OSError, MemoryError):
            raise
        except BaseException as error:
            if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
                raise  # the user has interrupted
            what = "it is protected by a password" if "Password" in type(error).__name__ else "it may be damaged"
            raise InputError(
                f"{path}: the sheet cannot be read, {what}: {str(error) or type(error).__name__}."
            ) from error

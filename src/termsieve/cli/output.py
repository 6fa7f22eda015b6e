"""The result of a command: a sheet of rows, printed or written in the requested format.

The default is a table in a terminal and tab-separated text in a pipe; a file has the format of its extension.
"""

from __future__ import annotations

import io
import json
import math
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from termsieve.cli.messages import escape_controls
from termsieve.cli.option_groups import flag, option
from termsieve.errors import OutputError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from termsieve.cli.messages import Messages

OUTPUT_PANEL = "Output"
SheetRow = Sequence[Any]


class Format(StrEnum):
    """Formats of rows."""

    table = "table"
    tsv = "tsv"
    csv = "csv"
    json = "json"
    jsonl = "jsonl"
    txt = "txt"


FORMAT_NAMES = f"{', '.join(list(Format)[:-1])} or {list(Format)[-1]}"  # for help texts
FORMATS_BY_EXTENSION = {f".{name}": Format(name) for name in ("tsv", "csv", "json", "jsonl", "txt")} | {
    ".tab": Format.tsv
}
PARQUET_EXTENSION = ".parquet"
HTML_EXTENSIONS = (".html", ".htm")
SAFE_CSV_HELP = (
    "For .csv and .tsv to be opened in a spreadsheet: put a ' before cells that it would run as a formula, which begin "
    "with = + - @ or a tab. This changes these terms. In .csv, all text is in quotes."
)


@dataclass(frozen=True)
class Sheet:
    """Rows with named columns, and their view in a terminal."""

    columns: Sequence[str]
    rows: Iterable[SheetRow]
    view: Callable[[], RenderableType]  # made only where it is shown; it may use up the rows
    lines: Callable[[], Iterable[str]] | None = None  # what a .txt file has; without this, the view
    page: Callable[[Path], None] | None = None  # writes a .html file

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield each row as a dict."""
        return (dict(zip(self.columns, row, strict=True)) for row in self.rows)


@dataclass(frozen=True)
class OutputOptions:
    """Options for where the result goes, and in which format."""

    output: Annotated[
        Path | None,
        option(
            "--output", "-o", panel=OUTPUT_PANEL, metavar="FILE",
            help="Write to this file, in the format of its extension: .csv, .tsv, .json, .jsonl, .parquet, .txt; "
            "rank, changes and multiverse also write a page, .html.",
        ),
    ] = None  # fmt: skip
    format: Annotated[
        Format | None,
        option(
            "--format", "-f", panel=OUTPUT_PANEL, metavar="FORMAT",
            help=f"{FORMAT_NAMES} (default table in a terminal, tsv in a pipe).",
        ),
    ] = None  # fmt: skip
    safe_csv: Annotated[bool, flag("--safe-csv", panel=OUTPUT_PANEL, help=SAFE_CSV_HELP)] = False

    def check(self, *, page: bool = False, inputs: Iterable[str | Path] = ()) -> None:
        """Refuse an output that cannot be written, that is an input, or of an unknown extension, before the work."""
        if self.output is None:
            return
        from termsieve.files import check_target

        check_target(self.output, inputs=inputs)
        if self.format is None:
            check_extension(self.output, (*FORMATS_BY_EXTENSION, PARQUET_EXTENSION, *(HTML_EXTENSIONS if page else [])))

    @property
    def is_page(self) -> bool:
        """Whether a page is written."""
        return self.output is not None and self.format is None and self.output.suffix.lower() in HTML_EXTENSIONS

    def write(self, sheet: Sheet, messages: Messages | None = None) -> None:
        """Print the sheet, or write it to the file and note so."""
        if self.output is None:
            self._print(sheet)
            return
        self._write(sheet, self.output)
        if messages is not None:
            messages.note(f"written to {self.output}")

    def _write(self, sheet: Sheet, output: Path) -> None:
        from termsieve.files import write_atomically

        ending = None if self.format else output.suffix.lower()
        if ending in HTML_EXTENSIONS and sheet.page is not None:
            sheet.page(output)
            return
        if ending == PARQUET_EXTENSION:
            write_atomically(output, [_to_parquet(sheet)])
            return
        how = self.format or FORMATS_BY_EXTENSION[output.suffix.lower()]
        target = io.StringIO(newline="")
        self._render(sheet, how, target)
        write_atomically(output, [target.getvalue().encode()])

    @property
    def is_interactive(self) -> bool:
        """Whether a person watches the result as a table in a terminal."""
        return self.output is None and (self.format in (None, Format.table)) and sys.stdout.isatty()

    def _print(self, sheet: Sheet) -> None:
        terminal = sys.stdout.isatty()
        how = self.format or (Format.table if terminal else Format.tsv)
        if how is Format.table:
            from termsieve.cli.screen import make_console

            make_console().print(sheet.view())
            return
        _set_encoding(sys.stdout, terminal=terminal)
        self._render(sheet, how, _EscapingStream(sys.stdout) if terminal else sys.stdout)

    def _render(self, sheet: Sheet, how: Format, target: TextIO | _EscapingStream) -> None:
        if how in (Format.csv, Format.tsv):
            _write_delimited(sheet, target, tabs=how is Format.tsv, safe=self.safe_csv)
        elif how is Format.json:
            before = "["
            for record in sheet.records():
                target.write(f"{before}\n{_to_json(record)}")
                before = ","
            target.write("[]\n" if before == "[" else "\n]\n")
        elif how is Format.jsonl:
            for record in sheet.records():
                target.write(_to_json(record) + "\n")
        elif how is Format.txt and sheet.lines is not None:
            for line in sheet.lines():
                target.write(_check_one_line(line) + "\n")
        else:
            from termsieve.cli.screen import render_plain

            target.write(render_plain(sheet.view()))


def check_extension(output: Path, known: Sequence[str]) -> None:
    """Refuse a file whose extension does not say what is to be written."""
    if output.suffix.lower() not in known:
        raise typer.BadParameter(
            f"the extension of {str(output)!r} is not known. Known are {', '.join(known)}.", param_hint="-o"
        )


class _EscapingStream:
    """A terminal stream that escapes control characters."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return self._stream.write(escape_controls(text, keep="\n\t"))


def _set_encoding(stream: TextIO, *, terminal: bool) -> None:
    """Write UTF-8 to files and pipes; a terminal gets an escape for each character that it cannot show."""
    if isinstance(stream, io.TextIOWrapper):
        if terminal:
            stream.reconfigure(errors="backslashreplace")
        else:
            stream.reconfigure(encoding="utf-8")


def _check_one_line(text: str) -> str:
    if "\n" in text or "\r" in text:
        raise OutputError(f"{text!r} has a line break and does not fit on one line. Write .json or .csv.")
    return text


# Forms


def _write_delimited(sheet: Sheet, target: Any, *, tabs: bool, safe: bool) -> None:
    """Write rows as lines. Safe CSV has all text in quotes, because some spreadsheets split it at semicolons."""
    for row in chain([sheet.columns], sheet.rows):
        cells = [escape_formula(cell) for cell in row] if safe else row
        if tabs:
            line = "\t".join(_escape_tsv(_cell_text(cell)) for cell in cells)
        else:
            line = ",".join(_quote_csv(_cell_text(cell), always=safe and _is_text(cell)) for cell in cells)
        target.write(line + "\n")


def _is_text(cell: Any) -> bool:
    return isinstance(cell, str | list | dict)


def escape_formula(cell: Any) -> Any:
    """Return a cell that no spreadsheet takes for a formula.

    >>> escape_formula("=1+1"), escape_formula("plain"), escape_formula(-1.5)
    ("'=1+1", 'plain', -1.5)
    """
    return f"'{cell}" if isinstance(cell, str) and cell.lstrip(" \n")[:1] in _FORMULA_STARTS else cell


_FORMULA_STARTS = tuple("=+-@\t\r＝＋－＠")  # noqa: RUF001 - spreadsheets take the wide ones, too
_CSV_SPECIAL = re.compile(r'[",\r\n]|^\s|\s$')
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\\]")
_INVISIBLE = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


def _cell_text(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, list | dict):
        return _to_json(cell)
    return repr(cell) if isinstance(cell, float) else str(cell)


def _quote_csv(cell: str, *, always: bool) -> str:
    """Quote a cell of CSV. The module csv leaves a carriage return bare where lines end with a newline alone."""
    return '"' + cell.replace('"', '""') + '"' if always or _CSV_SPECIAL.search(cell) else cell


def _escape_tsv(cell: str) -> str:
    r"""Escape control characters and backslashes in a cell of tab-separated text.

    >>> _escape_tsv("tab\there, \\ and \x1b")
    'tab\\there, \\\\ and \\x1b'
    """
    return _CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), cell)


def _to_json(value: Any) -> str:
    text = json.dumps(_replace_infinite(value), ensure_ascii=False, allow_nan=False)
    return _INVISIBLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _replace_infinite(value: Any) -> Any:
    """Replace infinite numbers by None: JSON has no infinity."""
    if isinstance(value, dict):
        return {name: _replace_infinite(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_replace_infinite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _to_parquet(sheet: Sheet) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = list(zip(*sheet.rows, strict=True)) or [()] * len(sheet.columns)
    table = pa.table(dict(zip(sheet.columns, map(pa.array, map(list, columns)), strict=True)))
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, write_page_checksum=True)
    return sink.getvalue()

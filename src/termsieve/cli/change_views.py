"""Tables of changes, trends and sources."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from termsieve.cli.output import Sheet
from termsieve.cli.screen import column_width, make_bare_table, make_cell
from termsieve.periods import Changes, SourceDependence, Trends
from termsieve.periods.differences import Change, list_strongest
from termsieve.periods.sources import SourceRow
from termsieve.periods.trends import Trend, draw_sparkline
from termsieve.views import format_percent

_TERM_WIDTHS = 12, 32
_NUMBER_WIDTH, _PERIOD_WIDTH = 16, 7  # with these all columns fit on a screen of 80


def make_changes_sheet(found: Sequence[Changes | Trends], *, top: int, order: str, max_q: float) -> Sheet:
    """Make a sheet of the strongest changes: of all documents, or inside some classes."""
    lists = [(one, *list_strongest(one, top, by=order, max_q=max_q)) for one in found]
    rows = [[one.label, *row] for one, up, down in lists for row in [*up, *down]]
    fields = Change._fields if isinstance(found[0], Changes) else Trend._fields

    def view() -> RenderableType:
        return Group(*(part for one, up, down in lists for part in _draw(one, up, down)))

    def page(path: Path) -> None:
        from termsieve.reporting.change_page import write_change_page

        write_change_page(found, path, top=top, order=order, max_q=max_q)

    return Sheet(("class", *fields), rows, view, page=page)


def _draw(found: Changes | Trends, up: Sequence[Any], down: Sequence[Any]) -> list[RenderableType]:
    """Draw what rose and what fell as two tables whose columns are of the same width; terms give way to numbers."""
    headings = _change_headings(found) if isinstance(found, Changes) else _TREND_HEADINGS
    make_cells: Any = _change_cells if isinstance(found, Changes) else _trend_cells
    cells: dict[str, list[list[str]]] = {"rose": [*map(make_cells, up)], "fell": [*map(make_cells, down)]}
    columns = list(zip(headings, *(numbers for rows in cells.values() for _, *numbers in rows), strict=True))
    widths = [column_width(column, 1, _NUMBER_WIDTH) for column in columns]
    term_width = column_width([term for rows in cells.values() for term, *_ in rows], *_TERM_WIDTHS)
    parts: list[RenderableType] = [Text(found.headline), Text()]
    for title, rows in cells.items():
        shown = _make_table(title, term_width, headings, widths, rows) if rows else Text(f"No term {title}.")
        parts.append(Padding(shown, (0, 0, 1, 0)))
    return parts


def _make_table(
    title: str, term_width: int, headings: Sequence[str], widths: Sequence[int], rows: Sequence[Sequence[str]]
) -> Table:
    table = make_bare_table()
    heading = Text(title, style="not dim bold", no_wrap=True, overflow="crop")
    heading.pad_right(term_width - heading.cell_len)  # not the least width: this column gives way on a narrow screen
    table.add_column(heading, min_width=_TERM_WIDTHS[0] // 2, max_width=term_width)
    for name, width in zip(headings, widths, strict=True):
        table.add_column(make_cell(name), justify="right", no_wrap=True, min_width=width, max_width=width)
    for term, *numbers in rows:
        table.add_row(make_cell(term, "bold"), *numbers)
    return table


def _format_q(q: float) -> str:
    return f"{q:.2g}" if q >= 0.01 else f"{q:.0e}"


def _change_headings(found: Changes) -> list[str]:
    parts = [] if found.parts is None else ["inside", "mix"]
    names = [name if len(name) <= _PERIOD_WIDTH else f"{name[: _PERIOD_WIDTH - 1]}…" for name in found.names]
    return [*names, "points", "interval", "ratio", "q", *parts]


def _change_cells(row: Change) -> list[str]:
    term = f"{row.term} ({row.change})" if row.change in ("new", "gone") else row.term
    parts = [] if row.inside is None or row.mix is None else [f"{100 * x:+.2f}" for x in (row.inside, row.mix)]
    return [
        term, format_percent(row.before), format_percent(row.after), f"{100 * row.difference:+.2f}",
        f"{100 * row.low:+.2f} {100 * row.high:+.2f}", f"{2.0**row.log_ratio:.3g}", _format_q(row.q), *parts,
    ]  # fmt: skip


_TREND_HEADINGS = ("trend", "first", "last", "points a period", "interval", "q")


def _trend_cells(row: Trend) -> list[str]:
    return [
        row.term, draw_sparkline(row.shares), format_percent(row.shares[0]), format_percent(row.shares[-1]),
        f"{100 * row.slope:+.3f}", f"{100 * row.low:+.3f} {100 * row.high:+.3f}", _format_q(row.q),
    ]  # fmt: skip


def make_sources_sheet(found: SourceDependence) -> Sheet:
    """Make a sheet of the best terms, with those that depend on one source marked."""

    def view() -> RenderableType:
        width = column_width([row.term for row in found.rows], *_TERM_WIDTHS)
        table = make_bare_table()
        table.add_column("term", width=width, no_wrap=True)
        for name in ("rank", "without", "source", "share of its documents"):
            table.add_column(name, justify="left" if name == "source" else "right")
        for row in found.rows:
            style = "bold red" if row.depends else ""
            without = "gone" if row.rank_without is None else f"{row.rank_without:,}"
            share = format_percent(row.share)
            table.add_row(
                make_cell(row.term, style), f"{row.rank:,}", Text(without, style), make_cell(row.source), share
            )
        return table

    return Sheet(SourceRow._fields, found.rows, view)

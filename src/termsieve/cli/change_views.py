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
from termsieve.cli.screen import column_width, format_number, make_bare_table, make_cell
from termsieve.periods import Changes, SourceDependence, Trends
from termsieve.periods.differences import Change, list_strongest
from termsieve.periods.sources import SourceRow
from termsieve.periods.trends import Trend, draw_sparkline
from termsieve.views import format_percent

_TERM_WIDTHS = 12, 32


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
    width = column_width([_term_text(row) for row in [*up, *down]], *_TERM_WIDTHS)
    parts: list[RenderableType] = [Text(found.headline), Text()]
    for title, rows in (("rose", up), ("fell", down)):
        draw: Any = _changes_table if isinstance(found, Changes) else _trends_table
        shown = draw(title, rows, width, found) if rows else Text(f"No term {title}.")
        parts.append(Padding(shown, (0, 0, 1, 0)))
    return parts


def _term_text(row: Change | Trend) -> str:
    change = getattr(row, "change", "")
    return f"{row.term} ({change})" if change in ("new", "gone") else row.term


def _changes_table(title: str, rows: list[Change], width: int, found: Changes) -> Table:
    table = make_bare_table()
    table.add_column(Text(title, style="not dim bold"), width=width, no_wrap=True)
    for name in (*found.names, "points", "interval", "ratio", "q"):
        table.add_column(make_cell(name), justify="right", no_wrap=True, max_width=13)
    if found.parts is not None:
        table.add_column("inside", justify="right", no_wrap=True)
        table.add_column("mix", justify="right", no_wrap=True)
    for row in rows:
        points = [f"{100 * row.difference:+.2f}", f"{100 * row.low:+.2f} {100 * row.high:+.2f}"]
        parts = [] if row.inside is None or row.mix is None else [f"{100 * x:+.2f}" for x in (row.inside, row.mix)]
        table.add_row(
            make_cell(_term_text(row), "bold"), format_percent(row.before), format_percent(row.after), *points,
            f"{2.0**row.log_ratio:.3g}", f"{row.q:.0e}", *parts,
        )  # fmt: skip
    return table


def _trends_table(title: str, rows: list[Trend], width: int, found: Trends) -> Table:
    table = make_bare_table()
    table.add_column(Text(title, style="not dim bold"), width=width, no_wrap=True)
    table.add_column(make_cell(f"{found.names[0]} to {found.names[-1]}"))
    for name in ("first", "last", "points a period", "interval", "q"):
        table.add_column(name, justify="right")
    for row in rows:
        slopes = f"{100 * row.slope:+.3f}", f"{100 * row.low:+.3f} {100 * row.high:+.3f}"
        ends = format_percent(row.shares[0]), format_percent(row.shares[-1])
        table.add_row(make_cell(row.term, "bold"), draw_sparkline(row.shares), *ends, *slopes, format_number(row.q))
    return table


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

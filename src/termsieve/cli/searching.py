"""``kwic``: the places of a term in the texts, and the words near it."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Annotated, Any

import typer

from termsieve.cli.app import app
from termsieve.cli.inputs import AnalyzerOptions, ColumnOptions
from termsieve.cli.messages import Messages
from termsieve.cli.option_groups import expand_groups, flag, format_examples, option
from termsieve.cli.output import OutputOptions, Sheet

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import RenderableType
    from rich.text import Text

    from termsieve.concordance import Collocate, ConcordanceLine

LINES = 50
WIDTH = 50
_LABEL_WIDTH = 12
LINE_COLUMNS = ("document", "labels", "before", "match", "after")


@app.command(
    epilog=format_examples(
        "termsieve kwic mail.csv call",
        "termsieve kwic mail.csv call --class spam --sort right --lines 100",
        "termsieve kwic mail.csv call --collocates",
        "termsieve kwic news.jsonl.gz 'white house' -o places.csv",
    )
)
@expand_groups
def kwic(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Documents, as for [bold]termsieve rank[/].")],
    term: Annotated[str, typer.Argument(metavar="TERM", help="A word, or several that stand one after the other.")],
    *,
    only: Annotated[str | None, option("--class", metavar="CLASS", help="Only documents of this class.")] = None,
    sort: Annotated[
        str,
        option(
            "--sort",
            metavar="HOW",
            help="Order of the lines: document, or by the next word to the left or right (default document).",
        ),
    ] = "document",
    lines: Annotated[
        int, option("--lines", "-n", metavar="N", min=0, help=f"Number of lines; 0 for all (default {LINES}).")
    ] = LINES,
    width: Annotated[
        int, option("--width", metavar="N", min=1, help=f"Characters on each side (default {WIDTH}).")
    ] = WIDTH,
    collocates: Annotated[
        bool, flag("--collocates", help="Show the words that occur near the term, in each class, ordered by logDice.")
    ] = False,
    columns: ColumnOptions,
    analysis: AnalyzerOptions,
    output_options: OutputOptions,
    messages: Messages,
) -> None:
    """Show the places of a term in the texts, with what stands before and after it; or the words near it."""
    from termsieve import concordance
    from termsieve.cli.reading import find_labelled, report_columns, report_skipped

    documents = find_labelled([file], columns)
    output_options.check(inputs=[*documents.files, *analysis.files])
    report_columns(documents, messages)
    analyzer = analysis.make_analyzer()
    if collocates:
        found = concordance.collocates(documents, term, n=lines or 2**31, analyzer=analyzer)
        output_options.write(_make_collocates_sheet(found, only), messages)
    else:
        places = concordance.concordance(documents, term, label=only, width=width, sort=sort, analyzer=analyzer)
        output_options.write(_make_lines_sheet(term, itertools.islice(places, lines or None)), messages)
    report_skipped(documents, messages)


def _make_lines_sheet(term: str, lines: Iterable[ConcordanceLine]) -> Sheet:
    def view() -> RenderableType:
        from rich.console import Group
        from rich.text import Text

        shown = [_draw_line(line) for line in lines]
        return Group(*shown) if shown else Text(f"No document has it: {term!r}.")

    rows = ([line.document, list(line.labels), line.before, line.match, line.after] for line in lines)
    return Sheet(LINE_COLUMNS, rows, view)


def _draw_line(line: ConcordanceLine) -> Text:
    """Draw a line with the term in the middle of the screen: what does not fit is cut off at both ends."""
    from rich.text import Text

    from termsieve.cli.screen import make_cell, make_console

    room = max((make_console().width - len(line.match) - _LABEL_WIDTH - 2) // 2, 10)
    label = make_cell(", ".join(line.labels), "dim")
    label.truncate(_LABEL_WIDTH, overflow="ellipsis", pad=True)
    before = make_cell(line.before[-room:])
    before.align("right", room)
    shown = Text.assemble(label, " ", before, make_cell(line.match, "bold"), make_cell(line.after[:room]))
    shown.no_wrap, shown.overflow = True, "crop"
    return shown


def _make_collocates_sheet(found: list[Collocate], only: str | None) -> Sheet:
    shown = [one for one in found if only is None or one.label == only]
    columns = ("class", "term", "log_dice", "near", "occurrences")

    def view() -> RenderableType:
        from termsieve.cli.screen import make_bare_table, make_cell

        table = make_bare_table()
        for name, justify in zip(columns, ("left", "left", "right", "right", "right"), strict=True):
            table.add_column(name, justify=justify)  # type: ignore[arg-type]
        before: Any = None
        for one in shown:
            label = one.label or "all classes"
            first = make_cell("" if label == before else label, "bold")
            table.add_row(first, make_cell(one.term), f"{one.log_dice:.2f}", f"{one.near:,}", f"{one.occurrences:,}")
            before = label
        return table

    return Sheet(columns, shown, view)

"""``scores``: the catalogue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from termsieve.cli.app import app
from termsieve.cli.completion import complete_scores
from termsieve.cli.messages import Talk
from termsieve.cli.option_groups import examples, grouped
from termsieve.cli.output import Printing, Sheet

if TYPE_CHECKING:
    from rich.console import RenderableType

    from termsieve.scores.catalogue import CatalogueRow


@app.command(
    epilog=examples(
        "termsieve scores",
        "termsieve scores bns",
        "termsieve scores --format json",
    )
)
@grouped
def scores(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[SCORE]", help='A spelling, such as bns or "bns(floor=0.001)".', autocompletion=complete_scores
        ),
    ] = None,
    *,
    printing: Printing,
    talk: Talk,
) -> None:
    """The catalogue of scores, or all that is known about one."""
    from termsieve.scores.catalogue import CatalogueRow, catalogue_rows, describe, facts
    from termsieve.scores.parsing import parse

    printing.check()
    if name is not None:
        score = parse(name)
        if printing.format is None and printing.output is None:
            typer.echo(describe(score))
            return
        known = {"score": score.spelling, "title": score.title, "about": score.about, **dict(facts(score))}
        printing.write(Sheet(list(known), [list(known.values())], lambda: describe(score)), talk)
        return
    rows = catalogue_rows()
    printing.write(Sheet(CatalogueRow._fields, rows, lambda: _view(rows)), talk)
    if printing.to_people:
        talk.note("To read more about one: termsieve scores NAME")


def _view(rows: list[CatalogueRow]) -> RenderableType:
    from termsieve.cli.screen import bare_table

    table = bare_table()
    for heading in ("score", "what it is", "papers", "overall"):
        table.add_column(heading, no_wrap=heading in ("score", "overall"))
    for row in rows:
        table.add_row(row.name, row.title, row.papers, row.aggregation)
    return table

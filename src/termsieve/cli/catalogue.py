"""``scores``: the catalogue of scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from termsieve.cli.app import app
from termsieve.cli.completion import complete_scores
from termsieve.cli.messages import Messages
from termsieve.cli.option_groups import expand_groups, format_examples
from termsieve.cli.output import OutputOptions, Sheet

if TYPE_CHECKING:
    from rich.console import RenderableType

    from termsieve.scores.catalogue import CatalogueRow


@app.command(
    epilog=format_examples(
        "termsieve scores",
        "termsieve scores bns",
        "termsieve scores --format json",
    )
)
@expand_groups
def scores(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[SCORE]", help='A score, such as bns or "bns(floor=0.001)".', autocompletion=complete_scores
        ),
    ] = None,
    *,
    output_options: OutputOptions,
    messages: Messages,
) -> None:
    """List the scores, or describe one of them."""
    from termsieve.scores.catalogue import CatalogueRow, describe, list_facts, make_catalogue_rows
    from termsieve.scores.parsing import parse_score

    output_options.check()
    if name is not None:
        score = parse_score(name)
        if output_options.format is None and output_options.output is None:
            typer.echo(describe(score))
            return
        record = {"score": score.spelling, "title": score.title, "about": score.about, **dict(list_facts(score))}
        output_options.write(Sheet(list(record), [list(record.values())], lambda: describe(score)), messages)
        return
    rows = make_catalogue_rows()
    output_options.write(Sheet(CatalogueRow._fields, rows, lambda: _scores_table(rows)), messages)
    if output_options.is_interactive:
        messages.note("To describe one: termsieve scores NAME")


def _scores_table(rows: list[CatalogueRow]) -> RenderableType:
    from termsieve.cli.screen import make_bare_table

    table = make_bare_table()
    for heading in ("score", "what it is", "papers", "overall"):
        table.add_column(heading, no_wrap=heading in ("score", "overall"))
    for row in rows:
        table.add_row(row.name, row.title, row.papers, row.aggregation)
    return table

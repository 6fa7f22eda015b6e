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
    from termsieve.scores.catalogue import CatalogueRow, describe, list_facts, make_catalogue_rows, read_evidence
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
        evidence = read_evidence()
        messages.note(
            f"Regret: F1 lost against the best score of each of {evidence.problems} problems, least first. "
            f"If in doubt, take {evidence.recommended}. To describe one: termsieve scores NAME"
        )


def _scores_table(rows: list[CatalogueRow]) -> RenderableType:
    from termsieve.cli.screen import make_bare_table
    from termsieve.scores.catalogue import read_evidence

    table = make_bare_table()
    recommended = read_evidence().recommended
    for heading in ("score", "what it is", "family", "regret", "overall"):
        table.add_column(heading, no_wrap=heading != "what it is", justify="right" if heading == "regret" else "left")
    for row in sorted(rows, key=lambda row: float("inf") if row.regret is None else row.regret):  # None: of the user
        regret = "" if row.regret is None else f"{row.regret:.3f}"
        style = "bold" if row.name == recommended else ""
        mark = " (recommended)" if style else ""
        table.add_row(row.name, row.title + mark, row.family, regret, row.aggregation, style=style)
    return table

"""``scores``: the catalogue."""

from __future__ import annotations

from typing import Annotated

import typer

from termsieve.cli.app import app


@app.command()
def scores(
    name: Annotated[str | None, typer.Argument(help='A spelling, such as bns or "bns(floor=0.001)".')] = None,
) -> None:
    """The catalogue of scores, or all that is known about one.

    Example: termsieve scores bns
    """
    from termsieve.scores.catalogue import catalogue_rows, describe

    if name is not None:
        typer.echo(describe(name))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table("score", "what it is", "papers", "overall", box=None, padding=(0, 2, 0, 0))
    table.columns[0].no_wrap = table.columns[3].no_wrap = True
    for row in catalogue_rows():
        table.add_row(row.name, row.title, row.papers, row.aggregation)
    Console().print(table)
    typer.echo("\nTo read more about one: termsieve scores NAME", err=True)

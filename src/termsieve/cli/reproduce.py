"""``reproduce``: the five papers, run again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from termsieve.cli.app import app
from termsieve.cli.inputs import Threads


@app.command()
def reproduce(
    paper: Annotated[str, typer.Argument(help="gu, ifs, pip, imbalanced, ocfs, or all.")],
    into: Annotated[
        Path | None, typer.Option("--into", metavar="DIR", help="Write PAPER.json there: all numbers, as data.")
    ] = None,
    journals: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where journals are kept; in the user's cache, without this.")
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget what was run before.")] = False,
    choices: Annotated[bool, typer.Option(help="Also try what the paper leaves open.")] = True,
    threads: Threads = None,
) -> None:
    """Run a paper's protocol, and show every number and claim in print beside what comes out.

    A run that was stopped goes on where it was. The corpora must be here: see termsieve datasets.

    Example: termsieve reproduce pip
    """
    from termsieve.reproduction.protocol import PAPERS, load
    from termsieve.reproduction.show import check_ready, show

    names = PAPERS if paper == "all" else (paper,)
    protocols = [load(name) for name in names]
    check_ready(protocols, into)
    for protocol in protocols:
        show(protocol, into=into, journals=journals, fresh=fresh, choices=choices, threads=threads)

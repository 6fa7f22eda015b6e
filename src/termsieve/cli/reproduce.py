"""``reproduce``: run the protocols of the five papers again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from termsieve.cli.app import app
from termsieve.cli.inputs import Threads
from termsieve.cli.messages import Messages
from termsieve.cli.option_groups import expand_groups, flag, format_examples, option

PAPER_NAMES = ("gu", "ifs", "pip", "imbalanced", "ocfs", "all")


def _complete_papers(incomplete: str) -> Iterator[str]:
    yield from (name for name in PAPER_NAMES if name.startswith(incomplete))


@app.command(
    epilog=format_examples("termsieve reproduce gu", "termsieve reproduce all --into results"),
)
@expand_groups
def reproduce(
    paper: Annotated[
        str,
        typer.Argument(
            metavar="PAPER",
            help=f"{', '.join(PAPER_NAMES[:-1])}, or {PAPER_NAMES[-1]}.",
            autocompletion=_complete_papers,
        ),
    ],
    *,
    into: Annotated[
        Path | None, option("--into", metavar="DIR", help="Write all numbers to PAPER.json in this folder.")
    ] = None,
    journals: Annotated[
        Path | None,
        option("--journals", metavar="DIR", help="Folder of the journals (default the user's cache)."),
    ] = None,
    fresh: Annotated[bool, flag("--fresh", help="Discard the journals of earlier runs.")] = False,
    no_worlds: Annotated[
        bool, flag("--no-worlds", help="Leave out the other readings of what the paper does not specify.")
    ] = False,
    threads: Threads = None,
    messages: Messages,
) -> None:
    """Run a paper's protocol, and show each printed number and claim beside the result.

    A stopped run continues where it was. The corpora must be on this machine: see termsieve datasets.
    """
    from termsieve.reproduction.protocol import PAPERS, load_protocol
    from termsieve.reproduction.run import Runner
    from termsieve.reproduction.show import check_ready, prepare_journals, run_and_show

    protocols = [load_protocol(name) for name in (PAPERS if paper == "all" else (paper,))]
    check_ready(protocols, into)
    for protocol in protocols:
        folder = prepare_journals(protocol, journals, fresh=fresh)
        run_and_show(
            protocol, Runner(folder, threads, messages.note, messages.progress), into=into, worlds=not no_worlds
        )

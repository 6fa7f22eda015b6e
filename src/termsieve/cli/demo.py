"""``demo``: what termsieve does, on a small corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from termsieve.cli.app import app
from termsieve.cli.inputs import Threads
from termsieve.cli.messages import Messages
from termsieve.cli.option_groups import expand_groups, format_examples, option
from termsieve.extras import require_extra


@app.command(epilog=format_examples("termsieve demo", "termsieve demo -o bbc.html"))
@expand_groups
def demo(
    *,
    output: Annotated[
        Path, option("--output", "-o", metavar="FILE", help="The page; termsieve-demo.html, without this.")
    ] = Path("termsieve-demo.html"),
    threads: Threads = None,
    talk: Messages,
) -> None:
    """Count the BBC news corpus, or, without it, the docstrings of installed packages, and show what was found."""
    require_extra("report", "The demo")
    from termsieve.demonstration import run

    with talk.report_time("shown"):
        run(threads=threads, output=output, quiet=talk.quiet)

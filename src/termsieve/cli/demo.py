"""``demo``: count, score and report a small corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from termsieve.cli.app import app
from termsieve.cli.inputs import Threads
from termsieve.cli.messages import Messages
from termsieve.cli.option_groups import expand_groups, format_examples, option
from termsieve.extras import require_extra

PAGE = Path("termsieve-demo.html")


@app.command(epilog=format_examples("termsieve demo", "termsieve demo -o bbc.html"))
@expand_groups
def demo(
    *,
    output: Annotated[
        Path, option("--output", "-o", metavar="FILE", help=f"The page to write (default {PAGE}).")
    ] = PAGE,
    threads: Threads = None,
    messages: Messages,
) -> None:
    """Count the BBC news corpus, or the docstrings of installed packages where it is missing, and report on it."""
    require_extra("report", "The demo")
    from termsieve.cli.demo_views import show_demo

    with messages.report_time("shown"):
        show_demo(threads=threads, output=output, quiet=messages.quiet)

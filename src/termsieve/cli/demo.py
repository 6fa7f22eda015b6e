"""``demo``: what termsieve does, on a small corpus."""

from __future__ import annotations

from termsieve.cli.app import app
from termsieve.cli.inputs import Threads


@app.command()
def demo(
    threads: Threads = None,
) -> None:
    """Count the BBC news corpus, or, without it, the docstrings of installed packages, and show what was found."""
    from termsieve.demonstration import run

    run(threads=threads)

"""The commands. Heavy modules are imported inside them, so that ``termsieve --version`` answers at once."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from termsieve._version import __version__
from termsieve.errors import TermsieveError

app = typer.Typer(
    help="Which terms tell these classes of text apart, and how few of them are enough?",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
)


def main() -> None:
    """Run a command; a user's mistake is one line on standard error, not a traceback."""
    try:
        app()
    except TermsieveError as error:
        print(f"termsieve: {error}", file=sys.stderr)  # noqa: T201 - this is where users read it
        sys.exit(1)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"termsieve {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and stop.")
    ] = False,
) -> None:
    pass

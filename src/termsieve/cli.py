"""The commands. Heavy modules are imported inside them, so that ``termsieve --version`` answers at once."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from termsieve._version import __version__
from termsieve.errors import TermsieveError

if TYPE_CHECKING:
    from termsieve.counts import Counts
    from termsieve.documents import Documents

app = typer.Typer(
    help="Which terms tell these classes of text apart, and how few of them are enough?",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
)

Files = Annotated[
    list[str],
    typer.Argument(metavar="FILE...", help="CSV, TSV, JSON Lines, Parquet, Arrow, a folder of class folders."),
]
TextColumns = Annotated[list[str], typer.Option("--text", help="Column with the text; may be given several times.")]
LabelColumn = Annotated[str, typer.Option("--label", help="Column with the label, or a list of labels.")]
LabelSeparator = Annotated[str | None, typer.Option("--label-sep", help="Several labels in one string, cut at this.")]
Split = Annotated[str | None, typer.Option("--split", metavar="COLUMN=VALUE", help="Only rows with this value.")]
Output = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Where to write.")]
Threads = Annotated[int | None, typer.Option(help="How many threads; as many as there are cores, without this.")]
SkipBad = Annotated[bool, typer.Option("--skip-bad", help="Skip rows that cannot be read, and say how many.")]


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


@app.command()
def count(
    files: Files,
    output: Output,
    text: TextColumns = ["text"],  # noqa: B006 - typer copies it
    label: LabelColumn = "label",
    label_sep: LabelSeparator = None,
    split: Split = None,
    stop_words: Annotated[str | None, typer.Option(help='"english" or "smart".')] = None,
    ngrams: Annotated[int, typer.Option(min=1, help="Longest n-grams of words.")] = 1,
    stemmer: Annotated[str | None, typer.Option(help="A Snowball language, such as english.")] = None,
    threads: Threads = None,
    skip_bad: SkipBad = False,
) -> None:
    """Count the terms of labelled documents into one small file, from which all scores follow.

    Example: termsieve count mail.csv --text body --label folder -o mail.counts
    """
    from termsieve.counting import count as count_documents
    from termsieve.storage import check_target
    from termsieve.tokens import Analyzer

    check_target(output)
    analyzer = Analyzer(stop_words=stop_words, ngram_range=(1, ngrams), stemmer=stemmer)
    documents = _read(files, text, label, label_sep, split, skip_bad=skip_bad)
    counts = count_documents(documents, analyzer=analyzer, threads=threads, progress=sys.stderr.isatty())
    if documents.skipped:
        typer.echo(f"skipped {documents.skipped:,} bad row{'s' * (documents.skipped != 1)}", err=True)
    _save(counts, output)


@app.command()
def merge(
    files: Annotated[list[Path], typer.Argument(metavar="COUNTS...", help="Files that `termsieve count` wrote.")],
    output: Output,
) -> None:
    """Add counts of several parts: the result is that of counting all documents at once.

    Example: termsieve merge monday.counts tuesday.counts -o week.counts
    """
    import functools
    import operator

    from termsieve.counts import Counts

    _save(functools.reduce(operator.add, map(Counts.load, files)), output)


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


@app.command()
def demo(
    threads: Threads = None,
) -> None:
    """Count the BBC news corpus, or, without it, the docstrings of installed packages, and show what was found."""
    from termsieve.demonstration import run

    run(threads=threads)


def _read(
    files: list[str], text: list[str], label: str, label_sep: str | None, split: str | None, *, skip_bad: bool
) -> Documents:
    from termsieve.documents import read

    column, equals, value = (split or "").partition("=")
    if split and not equals:
        raise typer.BadParameter(f"{split!r} is not COLUMN=VALUE", param_hint="--split")
    return read(
        files[0] if len(files) == 1 else files,
        text=text[0] if len(text) == 1 else tuple(text),
        label=label,
        label_sep=label_sep,
        split=(column, value) if split else None,
        on_bad="skip" if skip_bad else "error",
    )


def _save(counts: Counts, output: Path) -> None:
    counts.save(output)
    typer.echo(repr(counts))
    typer.echo(f"written to {output}", err=True)

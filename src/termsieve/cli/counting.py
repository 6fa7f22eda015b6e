"""``count`` and ``merge``: documents to counts."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from termsieve.cli.app import app
from termsieve.cli.inputs import (
    Files,
    LabelColumn,
    LabelSeparator,
    Output,
    SkipBad,
    Split,
    TextColumns,
    Threads,
    read_files,
)

if TYPE_CHECKING:
    from termsieve.counts import Counts


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
    documents = read_files(files, text, label, label_sep, split, skip_bad=skip_bad)
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


def _save(counts: Counts, output: Path) -> None:
    counts.save(output)
    typer.echo(repr(counts))
    typer.echo(f"written to {output}", err=True)

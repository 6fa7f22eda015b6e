"""``count`` and ``merge``: documents to counts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from termsieve.cli.app import app
from termsieve.cli.inputs import AnalyzerOptions, ColumnOptions, Files, Output, Threads
from termsieve.cli.messages import Messages, escape_controls
from termsieve.cli.option_groups import expand_groups, format_examples

if TYPE_CHECKING:
    from termsieve.counts.counts import Counts


@app.command(
    epilog=format_examples(
        "termsieve count mail.csv --text body --label folder -o mail.counts",
        "zcat monday.jsonl.gz | termsieve count - -o monday.counts",
        "termsieve rank mail.counts --score chi2",
    )
)
@expand_groups
def count(
    files: Files,
    *,
    output: Output,
    columns: ColumnOptions,
    wording: AnalyzerOptions,
    threads: Threads = None,
    talk: Messages,
) -> None:
    """Count the terms of labelled documents into one small file, from which all scores follow."""
    from termsieve.cli.reading import find_counts, read_counts
    from termsieve.files import check_target

    found = find_counts(files, columns, wording)
    check_target(output, inputs=[*found.files, *wording.files])
    _save_counts(read_counts(found, wording, threads, talk, contrast=False), output, talk)


@app.command(
    epilog=format_examples(
        "termsieve merge monday.counts tuesday.counts -o week.counts",
        "termsieve merge parts/*.counts -o all.counts",
    )
)
@expand_groups
def merge(
    files: Annotated[list[str], typer.Argument(metavar="COUNTS...", help="Files that [bold]termsieve count[/] wrote.")],
    *,
    output: Output,
    talk: Messages,
) -> None:
    """Add counts of several parts: the result is that of counting all documents at once."""
    from termsieve.cli.reading import sum_counts
    from termsieve.documents.sources import expand_patterns
    from termsieve.files import check_target

    check_target(output)
    _save_counts(sum_counts(expand_patterns(files), talk), output, talk)


def _save_counts(counts: Counts, output: Path, talk: Messages) -> None:
    counts.save(output)
    if not talk.quiet:
        typer.echo(escape_controls(repr(counts), keep="\n"))
    talk.note(f"written to {output}")

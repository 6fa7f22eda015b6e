"""``count`` and ``merge``: documents to files of counts."""

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
    analysis: AnalyzerOptions,
    threads: Threads = None,
    messages: Messages,
) -> None:
    """Count the terms of labelled documents into one small file, from which all scores follow."""
    from termsieve.cli.reading import find_counts, read_counts
    from termsieve.files import check_target

    found = find_counts(files, columns, analysis)
    check_target(output, inputs=[*found.files, *analysis.files])
    _save_counts(read_counts(found, analysis, threads, messages, contrast=False), output, messages)


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
    messages: Messages,
) -> None:
    """Add up counts of several parts: the result is that of counting all documents at once."""
    from termsieve.cli.reading import sum_counts
    from termsieve.documents.sources import expand_patterns
    from termsieve.files import check_target

    check_target(output)
    _save_counts(sum_counts(expand_patterns(files), messages), output, messages)


def _save_counts(counts: Counts, output: Path, messages: Messages) -> None:
    counts.save(output)
    if not messages.quiet:
        typer.echo(escape_controls(repr(counts), keep="\n"))
    messages.note(f"written to {output}")

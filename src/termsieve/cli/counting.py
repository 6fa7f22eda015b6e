"""``count`` and ``merge``: documents to counts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from termsieve.cli.app import app
from termsieve.cli.inputs import Columns, Files, Output, Threads, Wording
from termsieve.cli.messages import Talk, visible
from termsieve.cli.option_groups import examples, grouped

if TYPE_CHECKING:
    from termsieve.counts.counts import Counts


@app.command(
    epilog=examples(
        "termsieve count mail.csv --text body --label folder -o mail.counts",
        "zcat monday.jsonl.gz | termsieve count - -o monday.counts",
        "termsieve rank mail.counts --score chi2",
    )
)
@grouped
def count(
    files: Files,
    *,
    output: Output,
    columns: Columns,
    wording: Wording,
    threads: Threads = None,
    talk: Talk,
) -> None:
    """Count the terms of labelled documents into one small file, from which all scores follow."""
    from termsieve.cli.reading import inputs_of, read_counts
    from termsieve.counts.storage import check_target

    check_target(output, inputs=inputs_of(files, wording))
    _save(read_counts(files, columns, wording, threads, talk, contrast=False), output, talk)


@app.command(
    epilog=examples(
        "termsieve merge monday.counts tuesday.counts -o week.counts",
        "termsieve merge parts/*.counts -o all.counts",
    )
)
@grouped
def merge(
    files: Annotated[list[str], typer.Argument(metavar="COUNTS...", help="Files that [bold]termsieve count[/] wrote.")],
    *,
    output: Output,
    talk: Talk,
) -> None:
    """Add counts of several parts: the result is that of counting all documents at once."""
    from termsieve.cli.reading import added, expanded
    from termsieve.counts.storage import check_target

    check_target(output)
    _save(added(expanded(files), talk), output, talk)


def _save(counts: Counts, output: Path, talk: Talk) -> None:
    counts.save(output)
    if not talk.quiet:
        typer.echo(visible(repr(counts), keep="\n"))
    talk.note(f"written to {output}")

"""``datasets``: the corpora of the papers, and how to get them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from termsieve.cli.app import app
from termsieve.cli.completion import complete_corpora
from termsieve.cli.messages import Messages
from termsieve.cli.option_groups import expand_groups, flag, format_examples, option
from termsieve.cli.output import OutputOptions, Sheet

if TYPE_CHECKING:
    from rich.console import RenderableType

    from termsieve.datasets import Dataset

COLUMNS = (
    "name",
    "title",
    "documents",
    "classes",
    "split",
    "bytes",
    "licence",
    "papers",
    "stand_in_for",
    "here",
    "place",
    "home",
)
datasets_app = typer.Typer(rich_markup_mode="rich")
app.add_typer(datasets_app, name="datasets")


@datasets_app.callback(
    invoke_without_command=True,
    epilog=format_examples(
        "termsieve datasets", "termsieve datasets --format json", "termsieve datasets get reuters21578"
    ),
)
@expand_groups
def datasets(ctx: typer.Context, *, output_options: OutputOptions, messages: Messages) -> None:
    """List the corpora of the papers: their size, their licence, and whether they are on this machine."""
    if ctx.invoked_subcommand is not None:
        return
    from termsieve.datasets import CORPORA

    output_options.check()
    records = list(CORPORA.values())
    output_options.write(Sheet(COLUMNS, map(_dataset_row, records), lambda: _datasets_table(records)))
    if output_options.is_interactive:
        from termsieve.datasets.locations import DATA_VARIABLE, list_folders

        messages.note(f"Searched in {' and '.join(map(str, list_folders()))}; {DATA_VARIABLE} names another folder.")
        messages.note("To get one: termsieve datasets get NAME")


@datasets_app.command(
    epilog=format_examples(
        "termsieve datasets get sms_spam",
        "termsieve datasets get reuters21578 --from reuters21578.tar.gz",
        "termsieve datasets get rcv1 --from FOLDER --folder data",
    )
)
@expand_groups
def get(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="Name of a corpus; termsieve datasets lists them.", autocompletion=complete_corpora
        ),
    ],
    *,
    source: Annotated[
        list[Path] | None,
        option(
            "--from",
            metavar="FILE",
            help="Archive that you already have, or a folder of archives; may be given several times.",
        ),
    ] = None,
    folder: Annotated[
        Path | None,
        option("--folder", metavar="DIR", help="Folder for the corpus (default TERMSIEVE_DATA, or the user's cache)."),
    ] = None,
    unverified: Annotated[
        bool, flag("--unverified", help="Also accept another edition, with other checksums and numbers of documents.")
    ] = False,
    messages: Messages,
) -> None:
    """Download a corpus from its original site, verify it, and convert it to JSON lines."""
    from termsieve.datasets import get as get_corpus

    path = get_corpus(
        name, source or None, folder, progress=messages.progress, unverified=unverified, tell=messages.note
    )
    typer.echo(path)


def _dataset_row(record: Dataset) -> list[Any]:
    from termsieve.datasets import locate
    from termsieve.datasets.locations import list_folders

    here = locate(record.name)
    return [
        record.name,
        record.title,
        record.documents,
        record.classes,
        {part or "none": count for part, count in record.splits.items()} or None,
        record.size,
        record.licence,
        " ".join(record.papers),
        record.stand_in_for,
        here is not None,
        str(here or list_folders()[0] / record.file_name),
        record.home,
    ]


def _datasets_table(records: list[Dataset]) -> RenderableType:
    from termsieve.cli.screen import make_bare_table
    from termsieve.datasets import locate

    table = make_bare_table()
    for heading in ("corpus", "here", "documents", "classes", "size", "papers", "licence"):
        numeric = heading in ("documents", "classes", "size")
        table.add_column(heading, no_wrap=heading != "licence", justify="right" if numeric else "left")
    for record in records:
        table.add_row(
            record.name,
            "yes" if locate(record.name) else "no",
            f"{record.documents:,}" if record.documents else "-",
            str(record.classes),
            f"{record.size / 1e6:,.1f} MB" if record.size else "-",
            f"stand-in for {record.stand_in_for}" if record.stand_in_for else ", ".join(record.papers) or "-",
            record.licence,
        )
    return table

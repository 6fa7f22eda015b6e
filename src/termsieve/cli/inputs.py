"""What commands are given: files, columns, and other options that several of them share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from termsieve.documents import Documents

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


def read_files(
    files: list[str], text: list[str], label: str, label_sep: str | None, split: str | None, *, skip_bad: bool
) -> Documents:
    """The documents of one or several files."""
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

"""``export``: a model as a file that labels texts without termsieve."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from termsieve.cli.app import app
from termsieve.cli.inputs import Output
from termsieve.cli.messages import Messages
from termsieve.cli.option_groups import expand_groups, format_examples, option


@app.command(
    epilog=format_examples(
        "termsieve export mail.skops -o mail.js",
        "termsieve export mail.skops -o mail.py",
        "termsieve export mail.skops -o mail.html --title 'Is it spam?'",
        "termsieve export mail.skops -o mail.sql --dialect postgres --table mail --text body",
        "termsieve export mail.skops -o mail.onnx",
        "termsieve export mail.skops -o mail.json",
    )
)
@expand_groups
def export(
    model_file: Annotated[
        Path, typer.Argument(metavar="MODEL", help="A file that [bold]termsieve train[/] wrote.", show_default=False)
    ],
    *,
    output: Output,
    title: Annotated[
        str | None, option("--title", metavar="TEXT", help="Title of the page (default: the name of the file).")
    ] = None,
    dialect: Annotated[
        str,
        option(
            "--dialect", metavar="NAME", help="SQL dialect of a .sql file: duckdb, postgres or sqlite (default duckdb)."
        ),
    ] = "duckdb",
    table: Annotated[
        str, option("--table", metavar="NAME", help="Table that a .sql file labels (default documents).")
    ] = "documents",
    text: Annotated[
        str, option("--text", metavar="COLUMN", help="Column of that table with the text (default text).")
    ] = "text",
    identity: Annotated[
        str, option("--id", metavar="COLUMN", help="Column of that table that identifies a row (default id).")
    ] = "id",
    messages: Messages,
) -> None:
    """Write a model as a file that labels texts without termsieve: .py, .js, .sql, .onnx, .html or .json."""
    from termsieve.files import check_target
    from termsieve.model import Model
    from termsieve.model.exporting import export as export_model
    from termsieve.model.exporting.sql import SqlNames

    check_target(output, inputs=[model_file])
    names = SqlNames(table, text, identity)
    path = export_model(Model.load(model_file), output, title=title, dialect=dialect, names=names)
    messages.note(f"written to {path}, {path.stat().st_size:,} bytes")

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
    messages: Messages,
) -> None:
    """Write a model as a file that needs no termsieve: .py or .js code, an .html page with a text box, or .json data."""
    from termsieve.export import export as export_model
    from termsieve.files import check_target
    from termsieve.model import Model

    check_target(output, inputs=[model_file])
    path = export_model(Model.load(model_file), output, title=title)
    messages.note(f"written to {path}, {path.stat().st_size:,} bytes")

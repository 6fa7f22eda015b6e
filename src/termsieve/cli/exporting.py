"""``export``: a model as a file that labels texts without termsieve."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from termsieve.cli.app import app
from termsieve.cli.inputs import ColumnOptions, ModelFile, Output
from termsieve.cli.messages import Messages
from termsieve.cli.option_groups import expand_groups, format_examples, option

if TYPE_CHECKING:
    from termsieve.model import Model


@app.command(
    epilog=format_examples(
        "termsieve export mail.skops -o mail.js",
        "termsieve export mail.skops -o mail.py",
        "termsieve export mail.skops -o mail.html --title 'Is it spam?'",
        "termsieve export mail.skops -o mail.sql --dialect postgres --table mail --text body",
        "termsieve export mail.skops -o mail.onnx",
        "termsieve export mail.skops -o mail.json",
        "termsieve export mail.skops --bytes 4096 --documents mail.csv -o mail.js",
    )
)
@expand_groups
def export(
    model_file: ModelFile,
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
    n_bytes: Annotated[
        int | None,
        option(
            "--bytes", metavar="N", min=1,
            help="The most bytes of the compact form: terms and bits per weight are chosen again to fit; needs "
            "--documents.",
        ),
    ] = None,
    documents: Annotated[
        str | None,
        option("--documents", metavar="FILE", help="Labelled documents in which --bytes finds what few bytes cost."),
    ] = None,
    messages: Messages,
) -> None:  # fmt: skip
    """Write a model as a file that labels texts without termsieve: .py, .js, .sql, .onnx, .html or .json."""
    from termsieve.files import check_target
    from termsieve.model import Model
    from termsieve.model.exporting import export as export_model
    from termsieve.model.exporting.sql import SqlNames

    check_target(output, inputs=[model_file, *([documents] if documents else [])])
    if (n_bytes is None) != (documents is None):
        raise typer.BadParameter(
            "--bytes and --documents go together: how many terms and bits are best is found in labelled documents. "
            "Without a model: termsieve compress FILE --bytes N.", param_hint="--bytes",
        )  # fmt: skip
    if n_bytes is not None and documents is not None:
        _export_in_bytes(Model.load(model_file), documents, n_bytes, output, title, messages)
        return
    names = SqlNames(table, text, identity)
    path = export_model(Model.load(model_file), output, title=title, dialect=dialect, names=names)
    messages.note(f"written to {path}, {path.stat().st_size:,} bytes")


def _export_in_bytes(
    model: Model, file: str, n_bytes: int, output: Path, title: str | None, messages: Messages
) -> None:  # fmt: skip
    """Write the best model in this many bytes with the score, classifier, weighting and analyzer of a model."""
    from termsieve.cli.compressing import note_size, report_cost
    from termsieve.cli.reading import find_labelled, report_reading
    from termsieve.model.exporting import to_portable, train_in_bytes
    from termsieve.model.exporting.budget import check_ending
    from termsieve.tokens.analyzer import Analyzer

    check_ending(output)
    to_portable(model)  # refuses what has no form elsewhere, by name
    documents = find_labelled([file], ColumnOptions())
    about = {name: model.settings[name] for name in ("score", "classifier", "weighting")}
    with report_reading(documents, messages, "trained"):
        compact = train_in_bytes(
            documents, n_bytes=n_bytes, analyzer=Analyzer.from_settings(model.settings["analyzer"]), **about
        )
    compact.export(output, title)
    report_cost(compact)
    note_size(output, compact, messages)

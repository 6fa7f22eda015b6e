"""``compress``: the best model that a number of bytes holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from termsieve.cli.app import app
from termsieve.cli.inputs import AnalyzerOptions, ColumnOptions, Files, Output
from termsieve.cli.messages import Messages
from termsieve.cli.option_groups import expand_groups, format_examples, option
from termsieve.defaults import COMPACT_CLASSIFIER, COMPACT_FOLDS, COMPACT_SCORE

if TYPE_CHECKING:
    from pathlib import Path

    from termsieve.model.exporting import CompactModel

MOST_BYTES = 4096


@app.command(
    epilog=format_examples(
        "termsieve compress mail.csv --bytes 4096 -o mail.bin",
        "termsieve compress mail.csv --bytes 4096 -o mail.js",
        "termsieve compress mail.csv --bytes 1024 --score bns --classifier multinomial_nb -o mail.py",
    )
)
@expand_groups
def compress(
    files: Files,
    *,
    output: Output,
    n_bytes: Annotated[
        int, option("--bytes", metavar="N", min=1, help=f"The most bytes of the compact form (default {MOST_BYTES}).")
    ] = MOST_BYTES,
    score: Annotated[
        str, option("--score", metavar="SCORE", help=f"Score that ranks the terms (default {COMPACT_SCORE}).")
    ] = COMPACT_SCORE,
    classifier: Annotated[
        str,
        option(
            "--classifier",
            metavar="NAME",
            help=f"Classifier that is a sum over terms (default {COMPACT_CLASSIFIER}).",
        ),
    ] = COMPACT_CLASSIFIER,
    weighting: Annotated[
        str, option("--weighting", metavar="NAME", help="Weighting; auto tries binary and tfidf_log (default auto).")
    ] = "auto",
    cv: Annotated[
        int, option("--cv", metavar="N", min=2, help=f"Number of folds (default {COMPACT_FOLDS}).")
    ] = COMPACT_FOLDS,
    seed: Annotated[int, option("--seed", metavar="N", help="Seed of the folds (default 0).")] = 0,
    columns: ColumnOptions,
    analysis: AnalyzerOptions,
    messages: Messages,
) -> None:
    """Find how many terms and bits per weight are best within a number of bytes, and write that model."""
    from termsieve.cli.reading import find_labelled, note_similar_classes, report_reading
    from termsieve.files import check_target
    from termsieve.model.exporting import train_in_bytes
    from termsieve.model.exporting.budget import check_ending

    documents = find_labelled(files, columns)
    check_ending(check_target(output, inputs=[*documents.files, *analysis.files]))
    with report_reading(documents, messages, "trained"):
        model = train_in_bytes(
            documents, n_bytes=n_bytes, score=score, classifier=classifier, weighting=weighting, cv=cv, seed=seed,
            analyzer=analysis.make_analyzer(),
        )  # fmt: skip
    note_similar_classes(model.data["classes"], messages)
    model.export(output)
    report_cost(model, cv)
    note_size(output, model, messages)


def report_cost(model: CompactModel, cv: int = COMPACT_FOLDS) -> None:
    """Print what was chosen, and what it costs against the full model."""
    chosen = model.chosen
    typer.echo(
        f"{chosen.terms:,} terms ({chosen.weighting}), {chosen.bits} bits per weight, {len(model.content):,} bytes\n"
        f"macro F1 {chosen.f1:.4f} in {cv} folds, the best of {len(model.tried):,}; all terms and exact weights "
        f"{model.full_f1:.4f}; difference {chosen.f1 - model.full_f1:+.4f} ± {model.standard_error:.4f}"
    )


def note_size(output: Path, model: CompactModel, messages: Messages) -> None:
    """Note how large the file is; and, of a program, that the bytes asked for are those of the model in it."""
    size, within = output.stat().st_size, len(model.content)
    inside = "" if size == within else f": a program with the {within:,} bytes of the model inside"
    messages.note(f"written to {output}, {size:,} bytes{inside}")

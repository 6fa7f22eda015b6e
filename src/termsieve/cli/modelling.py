"""``train`` and ``predict``: a model from labelled documents, and labels from a model."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from termsieve.cli.app import app
from termsieve.cli.completion import complete_rules
from termsieve.cli.inputs import AnalyzerOptions, ColumnOptions, Files, Output, Threads
from termsieve.cli.messages import Messages
from termsieve.cli.option_groups import expand_groups, flag, format_examples, option
from termsieve.cli.output import OUTPUT_PANEL, Format, OutputOptions
from termsieve.cli.plan_options import PlanOptions
from termsieve.errors import OptionError
from termsieve.extras import require_extra

if TYPE_CHECKING:
    from collections.abc import Iterator

    from termsieve.cli.model_views import Prediction
    from termsieve.documents import Documents
    from termsieve.model import Model

# the parameters of a comparison that a model can be made from
COMPARED = ("scores", "classifiers", "ks", "cv", "groups", "repeats", "seed", "sample", "min_df", "weighting")
EXPLAINED_TERMS = 8  # terms, with --explain
MOST_MEGABYTES = 1073  # of a model, unpacked: as `Model.load` has it
TRUST = "Trust"


@app.command(
    epilog=format_examples(
        "termsieve train mail.csv -o mail.skops",
        "termsieve train mail.csv --score chi2 -k 1000 --classifier linear_svm -o mail.skops",
        "termsieve train news.jsonl --score gu,bns -k 300,3000 --classifier logistic_regression -o news.skops",
        "termsieve predict mail.skops new.csv --explain",
    )
)
@expand_groups
def train(
    files: Files,
    *,
    output: Output,
    plan: Annotated[dict[str, Any], PlanOptions(*COMPARED)],
    rule: Annotated[
        list[str] | None,
        option(
            "--rule", "-r", metavar="RULE", autocompletion=complete_rules,
            help="In place of -k, a rule such as energy(0.8); see termsieve select --help.",
        ),
    ] = None,
    form: Annotated[
        Format | None, option("--format", "-f", panel=OUTPUT_PANEL, metavar="FORMAT", help="Of what is printed.")
    ] = None,
    columns: ColumnOptions,
    wording: AnalyzerOptions,
    threads: Threads = None,
    talk: Messages,
) -> None:  # fmt: skip
    """Select terms and fit a classifier in one go. What is not given is chosen by cross-validation, and said."""
    from termsieve.cli.model_views import make_training_sheet
    from termsieve.cli.reading import find_labelled, report_columns, report_skipped
    from termsieve.files import check_target
    from termsieve.model import train as trained

    require_extra("models", "A model file")
    documents = find_labelled(files, columns)
    check_target(output, inputs=[*documents.files, *wording.files])
    report_columns(documents, talk)
    with talk.report_time("trained"), talk.report_compiling():
        model = trained(
            documents, rule=rule, analyzer=wording.analyzer(), threads=threads, progress=talk.progress, **plan
        )
    report_skipped(documents, talk)
    model.settings["text"] = list(documents.chosen_columns.text)
    model.save(output)
    for one in model.settings["candidates"]:
        talk.detail(f"{one[2]:.4f} ± {one[3]:.4f}  {one[0]}")
    if not talk.quiet:
        OutputOptions(None, form, safe_csv=False).write(make_training_sheet(model))
    talk.note(f"written to {output} ({output.stat().st_size / 1000:,.0f} kB)")
    _say_what_to_trust(model, talk)


def _say_what_to_trust(model: Model, talk: Messages) -> None:
    """Say what `predict` will ask for."""
    from termsieve.tokens.analyzer import is_safe_pattern

    settings = model.settings["analyzer"]
    if settings["analyzer"] == "word" and not is_safe_pattern(settings["token_pattern"]):
        pattern = shlex.quote(settings["token_pattern"])
        talk.note(f"termsieve predict will need the pattern again: --trust-pattern {pattern}")


@app.command(
    epilog=format_examples(
        "termsieve predict mail.skops new.csv",
        "termsieve predict mail.skops new.csv --explain",
        "termsieve predict mail.skops new.csv --id message_id -o labels.csv",
        "termsieve predict mail.skops test.csv --label folder > labels.tsv",
        'echo \'{"text": "Claim your prize now"}\' | termsieve predict mail.skops -',
    )
)
@expand_groups
def predict(
    model_file: Annotated[
        Path, typer.Argument(metavar="MODEL", help="A file that [bold]termsieve train[/] wrote.", show_default=False)
    ],
    files: Files,
    *,
    explain: Annotated[
        bool, flag("--explain", "-e", help="Show the terms that decided, and what each contributed.")
    ] = False,
    terms: Annotated[
        int, option("--terms", metavar="N", min=1, help=f"With --explain: how many; {EXPLAINED_TERMS}, without this.")
    ] = EXPLAINED_TERMS,
    probabilities: Annotated[
        bool, flag("--probabilities", "-p", help="The probability of every class, not only of the label.")
    ] = False,
    identity: Annotated[
        str | None, option("--id", metavar="COLUMN", help="A column to hand on, which names each document.")
    ] = None,
    trust_tokenizer: Annotated[
        str | None,
        option(
            "--trust-tokenizer", panel=TRUST, metavar="NAME",
            help="The tokenizer with which the model was trained: package.module:function. It is imported and run.",
        ),
    ] = None,
    trust_pattern: Annotated[
        str | None,
        option("--trust-pattern", panel=TRUST, metavar="REGEX", help="The pattern with which the model was trained."),
    ] = None,
    max_model_size: Annotated[
        int,
        option("--max-model-size", panel=TRUST, metavar="MB", min=1, help="The most that is unpacked; 1073 MB."),
    ] = MOST_MEGABYTES,
    columns: ColumnOptions,
    printing: OutputOptions,
    threads: Threads = None,
    talk: Messages,
) -> None:  # fmt: skip
    """Label texts with a model. With --label, also say how well the labels agree with those in that column."""
    from termsieve.cli.model_views import LabelAgreement, make_prediction_sheet
    from termsieve.cli.reading import find_unlabelled, report_columns, report_skipped
    from termsieve.documents.sources import STDIN, expand_patterns
    from termsieve.model import Model

    paths = expand_patterns(files)
    printing.check(inputs=[model_file, *(path for path in paths if path != STDIN)])
    model = Model.load(
        model_file, tokenizer=trust_tokenizer, token_pattern=trust_pattern, max_bytes=max_model_size * 1_000_000
    )
    model.vectorizer.threads = threads
    documents = find_unlabelled(paths, columns, model.settings.get("text", ()))
    _check_supported(model, explain=explain, probabilities=probabilities)
    report_columns(documents, talk)
    checked = LabelAgreement() if columns.label else None
    items = _predict_documents(model, documents, identity, terms if explain else 0, checked)
    sheet = make_prediction_sheet(
        model, items, places=documents.place_names, identity=identity, explain=explain, probabilities=probabilities,
        whole=checked is not None or columns.skip_bad,
        **({} if printing.output is None else {"shown": None}),
    )  # fmt: skip
    with talk.report_compiling():
        printing.write(sheet, talk)
    report_skipped(documents, talk)
    if checked is not None:
        talk.note(checked.said(str(columns.label)))


def _check_supported(model: Model, *, explain: bool, probabilities: bool) -> None:
    from termsieve.model.explaining import require_explainable

    if explain:
        require_explainable(model)
    if probabilities and not model.has_probabilities:
        raise OptionError(
            f"{model.settings['classifier']} gives no probabilities. Those that do: multinomial_nb, bernoulli_nb, "
            "poisson_nb, logistic_regression, probit, neural_network."
        )


def _predict_documents(
    model: Model, documents: Documents, identity: str | None, terms: int, checked: Any
) -> Iterator[Prediction]:
    """Each document with what the model says of it, batch by batch."""
    from termsieve.cli.model_views import Prediction
    from termsieve.model.explaining import explain_rows

    for batch in documents.batches([identity] if identity else [], places=True):
        texts = batch.column("text").to_pylist()
        X = model.matrix(texts)
        labels = model.named(model.classifier.predict(X))
        chances = model.probabilities(X) if model.has_probabilities else [None] * len(texts)
        because: Any = explain_rows(model, X, terms) if terms else [[]] * len(texts)
        names = batch.column(identity).to_pylist() if identity else [None] * len(texts)
        if checked is not None:
            checked.add(batch.column("labels").to_pylist(), labels)
        places = batch.column("place").to_pylist()
        shown = [text if isinstance(text, str) else " ".join(text) for text in texts]
        for parts in zip(places, names, shown, labels, chances, because, strict=True):
            yield Prediction(*parts)

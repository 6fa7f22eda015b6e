"""``train`` and ``predict``: a model from labelled documents, and labels from a model."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from termsieve.cli.app import app
from termsieve.cli.completion import complete_rules
from termsieve.cli.inputs import Columns, Files, Output, Threads, Wording
from termsieve.cli.messages import Talk
from termsieve.cli.option_groups import examples, flag, grouped, option
from termsieve.cli.output import PANEL, Format, Printing
from termsieve.cli.plan_options import PlanOptions
from termsieve.errors import OptionError
from termsieve.extras import require_extra

if TYPE_CHECKING:
    from collections.abc import Iterator

    from termsieve.cli.model_views import Labelled
    from termsieve.documents import Documents
    from termsieve.model import Model

# the parameters of a comparison that a model can be made from
COMPARED = ("scores", "classifiers", "ks", "cv", "groups", "repeats", "seed", "sample", "min_df", "weighting")
EXPLAINED = 8  # terms, with --explain
MOST_MEGABYTES = 1073  # of a model, unpacked: as `Model.load` has it
TRUST = "Trust"


@app.command(
    epilog=examples(
        "termsieve train mail.csv -o mail.skops",
        "termsieve train mail.csv --score chi2 -k 1000 --classifier linear_svm -o mail.skops",
        "termsieve train news.jsonl --score gu,bns -k 300,3000 --classifier logistic_regression -o news.skops",
        "termsieve predict mail.skops new.csv --explain",
    )
)
@grouped
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
        Format | None, option("--format", "-f", panel=PANEL, metavar="FORMAT", help="Of what is printed.")
    ] = None,
    columns: Columns,
    wording: Wording,
    threads: Threads = None,
    talk: Talk,
) -> None:  # fmt: skip
    """Select terms and fit a classifier in one go. What is not given is chosen by cross-validation, and said."""
    from termsieve.cli.model_views import training_sheet
    from termsieve.cli.reading import documents_in, found_in, inputs_of, say_skipped
    from termsieve.counts.storage import check_target
    from termsieve.model import train as trained

    require_extra("models", "A model file")
    check_target(output, inputs=inputs_of(files, wording))
    found = found_in(files, columns, talk)
    documents = documents_in(found, columns)
    with talk.timed("trained"), talk.compiling():
        model = trained(
            documents, rule=rule, analyzer=wording.analyzer(), threads=threads, progress=talk.progress, **plan
        )
    say_skipped(documents, talk)
    model.settings["text"] = list(found.text)
    model.save(output)
    for one in model.settings["candidates"]:
        talk.detail(f"{one[2]:.4f} ± {one[3]:.4f}  {one[0]}")
    if not talk.quiet:
        Printing(None, form, safe_csv=False).write(training_sheet(model))
    talk.note(f"written to {output} ({output.stat().st_size / 1000:,.0f} kB)")
    _say_what_to_trust(model, talk)


def _say_what_to_trust(model: Model, talk: Talk) -> None:
    """Say what `predict` will ask for."""
    from termsieve.tokens.analyzer import is_safe_pattern

    settings = model.settings["analyzer"]
    if settings["analyzer"] == "word" and not is_safe_pattern(settings["token_pattern"]):
        pattern = shlex.quote(settings["token_pattern"])
        talk.note(f"termsieve predict will need the pattern again: --trust-pattern {pattern}")


@app.command(
    epilog=examples(
        "termsieve predict mail.skops new.csv",
        "termsieve predict mail.skops new.csv --explain",
        "termsieve predict mail.skops new.csv --id message_id -o labels.csv",
        "termsieve predict mail.skops test.csv --label folder > labels.tsv",
        'echo \'{"text": "Claim your prize now"}\' | termsieve predict mail.skops -',
    )
)
@grouped
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
        int, option("--terms", metavar="N", min=1, help=f"With --explain: how many; {EXPLAINED}, without this.")
    ] = EXPLAINED,
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
    columns: Columns,
    printing: Printing,
    threads: Threads = None,
    talk: Talk,
) -> None:  # fmt: skip
    """Label texts with a model. With --label, also say how well the labels agree with those in that column."""
    from termsieve.cli.model_views import Checked, prediction_sheet
    from termsieve.cli.reading import inputs_of, say_skipped
    from termsieve.model import Model

    printing.check(inputs=[model_file, *inputs_of(files)])
    model = Model.load(
        model_file, tokenizer=trust_tokenizer, token_pattern=trust_pattern, max_bytes=max_model_size * 1_000_000
    )
    model.vectorizer.threads = threads
    _check_asked(model, explain=explain, probabilities=probabilities)
    documents = _documents(model, files, columns, talk)
    checked = Checked() if columns.label else None
    items = _labelled(model, documents, identity, terms if explain else 0, checked)
    sheet = prediction_sheet(
        model, items, places=documents.place_names, identity=identity, explain=explain, probabilities=probabilities,
        whole=checked is not None or columns.skip_bad,
        **({} if printing.output is None else {"shown": None}),
    )  # fmt: skip
    with talk.compiling():
        printing.write(sheet, talk)
    say_skipped(documents, talk)
    if checked is not None:
        talk.note(checked.said(str(columns.label)))


def _check_asked(model: Model, *, explain: bool, probabilities: bool) -> None:
    from termsieve.model.explaining import require_explainable

    if explain:
        require_explainable(model)
    if probabilities and not model.has_probabilities:
        raise OptionError(
            f"{model.settings['classifier']} gives no probabilities. Those that do: multinomial_nb, bernoulli_nb, "
            "poisson_nb, logistic_regression, probit, neural_network."
        )


def _documents(model: Model, files: list[str], columns: Columns, talk: Talk) -> Documents:
    from termsieve.cli.reading import documents_in, found_in

    found = found_in(files, columns, talk, labelled=False, usual=model.settings.get("text", ()))
    return documents_in(found, columns, labelled=False)


def _labelled(model: Model, documents: Documents, identity: str | None, terms: int, checked: Any) -> Iterator[Labelled]:
    """Each document with what the model says of it, batch by batch."""
    from termsieve.cli.model_views import Labelled
    from termsieve.model.explaining import explained

    for batch in documents.batches([identity] if identity else [], places=True):
        texts = batch.column("text").to_pylist()
        X = model.matrix(texts)
        labels = model.named(model.classifier.predict(X))
        chances = model.probabilities(X) if model.has_probabilities else [None] * len(texts)
        because: Any = explained(model, X, terms) if terms else [[]] * len(texts)
        names = batch.column(identity).to_pylist() if identity else [None] * len(texts)
        if checked is not None:
            checked.add(batch.column("labels").to_pylist(), labels)
        places = batch.column("place").to_pylist()
        for parts in zip(places, names, texts, labels, chances, because, strict=True):
            yield Labelled(*parts)

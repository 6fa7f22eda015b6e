"""``train`` and ``predict``: a model from labelled documents, and labels from a model."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from termsieve.cli.app import app
from termsieve.cli.completion import complete_rules
from termsieve.cli.inputs import AnalyzerOptions, ColumnOptions, Files, FilesOrCounts, ModelFile, Output, Threads
from termsieve.cli.messages import Messages
from termsieve.cli.option_groups import expand_groups, flag, format_examples, option
from termsieve.cli.output import FORMAT_NAMES, OUTPUT_PANEL, Format, OutputOptions
from termsieve.cli.plan_options import PlanOptions, note_groups
from termsieve.defaults import CALIBRATION_FOLDS, MAX_MODEL_BYTES
from termsieve.extras import require_extra
from termsieve.views import format_measure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from termsieve.cli.agreement import LabelAgreement, PredictionCount
    from termsieve.cli.model_views import Prediction
    from termsieve.documents import Documents
    from termsieve.model import Model

# the parameters of a comparison that a model can be made from
TRAIN_PARAMETERS = (
    "scores", "classifiers", "ks", "cv", "groups", "repeats", "seed", "sample", "min_df", "weighting", "pairs",
    "margin",
)  # fmt: skip
EXPLAINED_TERMS = 8  # with --explain
MAX_MEGABYTES = MAX_MODEL_BYTES // 1_000_000
TRUST_PANEL = "Trust"


@app.command(
    epilog=format_examples(
        "termsieve train mail.csv -o mail.skops",
        "termsieve train mail.csv --score chi2 -k 1000 --classifier linear_svm -o mail.skops",
        "termsieve train news.jsonl --score chi2,bns -k 300,3000 --classifier logistic_regression -o news.skops",
        "termsieve train all.counts -k 500 -o mail.skops",
        "termsieve predict mail.skops new.csv --explain",
    )
)
@expand_groups
def train(
    files: FilesOrCounts,
    *,
    output: Output,
    plan: Annotated[dict[str, Any], PlanOptions(*TRAIN_PARAMETERS)],
    rule: Annotated[
        list[str] | None,
        option(
            "--rule", "-r", metavar="RULE", autocompletion=complete_rules,
            help="Rule such as energy(0.8), instead of -k; see termsieve select --help.",
        ),
    ] = None,
    best: Annotated[
        bool,
        flag(
            "--best",
            help="Fit the best of everything that was compared, not the fewest terms that are enough."
        ),
    ] = False,
    calibrate: Annotated[
        int,
        option(
            "--calibrate", metavar="N", min=0,
            help=f"Number of folds held out to calibrate the probabilities (default {CALIBRATION_FOLDS}); 0 for none.",
        ),
    ] = CALIBRATION_FOLDS,
    form: Annotated[
        Format | None,
        option(
            "--format", "-f", panel=OUTPUT_PANEL, metavar="FORMAT",
            help=f"Format of the summary: {FORMAT_NAMES} (default table in a terminal, tsv in a pipe).",
        ),
    ] = None,
    columns: ColumnOptions,
    analysis: AnalyzerOptions,
    threads: Threads = None,
    messages: Messages,
) -> None:  # fmt: skip
    """Select terms and fit a classifier in one step. What is not given is chosen by cross-validation, and reported.

    Counts are enough for naive Bayes on terms that -k or --rule takes; nothing is compared then.
    """
    from termsieve.cli.model_views import make_training_sheet
    from termsieve.cli.reading import find_counts, note_similar_classes, report_reading
    from termsieve.files import check_target
    from termsieve.model import train as train_model

    require_extra("models", "A model file")
    found = find_counts(files, columns, analysis)
    if found.documents is None:
        _train_from_counts(found.paths, output, plan, rule, form, messages)
        return
    documents = found.documents
    check_target(output, inputs=[*documents.files, *analysis.files])
    with report_reading(documents, messages, "trained"):
        note_groups(documents, plan, messages)
        model = train_model(
            documents, rule=rule, best=best, calibrate=calibrate, analyzer=analysis.make_analyzer(), threads=threads,
            progress=messages.progress, **plan,
        )  # fmt: skip
    note_similar_classes(model.classes, messages)
    model.settings["text"] = list(documents.chosen_columns.text)
    model.save(output)
    for one in model.settings["candidates"]:
        error = "" if one[3] is None else f" ± {format_measure(one[3], 4)}"
        messages.detail(f"{format_measure(one[2], 4)}{error}  {one[0]}")
    for note in model.settings.get("notes", ()):
        messages.note(f"note: {note}")
    if not messages.quiet:
        OutputOptions(None, form, safe_csv=False).write(make_training_sheet(model))
    if calibrate and model.settings["calibration"] is None:
        messages.note(
            "the probabilities are not calibrated: too few documents of two classes or more, with terms of the model, "
            "could be held out"
        )
    messages.note(f"written to {output} ({output.stat().st_size / 1000:,.0f} kB)")
    _note_trust(model, messages)


def _train_from_counts(
    paths: list[str],
    output: Path,
    plan: dict[str, Any],
    rule: list[str] | None,
    form: Format | None,
    messages: Messages,
) -> None:
    """Fit naive Bayes to files of counts: there are no documents to compare anything on."""
    from termsieve.cli.model_views import make_training_sheet
    from termsieve.cli.reading import sum_counts
    from termsieve.files import check_target
    from termsieve.model import train as train_model

    check_target(output, inputs=paths)
    model = train_model(sum_counts(paths, messages), rule=rule, **plan)
    model.save(output)
    if not messages.quiet:
        OutputOptions(None, form, safe_csv=False).write(make_training_sheet(model))
    messages.note(f"written to {output} ({output.stat().st_size / 1000:,.0f} kB); from counts nothing can be compared")


def _note_trust(model: Model, messages: Messages) -> None:
    """Report which option `predict` will need."""
    from termsieve.tokens.patterns import is_safe_pattern

    settings = model.settings["analyzer"]
    if settings["analyzer"] == "word" and not is_safe_pattern(settings["token_pattern"]):
        pattern = shlex.quote(settings["token_pattern"])
        messages.note(f"termsieve predict will need the pattern again: --trust-pattern {pattern}")
    if settings["tokenizer"]:
        messages.note(
            f"termsieve predict will need the tokenizer again: --trust-tokenizer {shlex.quote(settings['tokenizer'])}"
        )


@app.command(
    epilog=format_examples(
        "termsieve predict mail.skops new.csv",
        "termsieve predict mail.skops new.csv --explain",
        "termsieve predict mail.skops new.csv --id message_id -o labels.csv",
        "termsieve predict mail.skops test.csv --label folder > labels.tsv",
        "termsieve predict mail.skops new.csv --min-confidence 0.9 -o sure.csv",
        'echo \'{"text": "Claim your prize now"}\' | termsieve predict mail.skops -',
    )
)
@expand_groups
def predict(
    model_file: ModelFile,
    files: Files,
    *,
    explain: Annotated[
        bool, flag("--explain", "-e", help="Show the terms that decided, and what each contributed.")
    ] = False,
    top: Annotated[
        int,
        option("--top", "-n", metavar="N", min=1, help=f"Number of terms with --explain (default {EXPLAINED_TERMS})."),
    ] = EXPLAINED_TERMS,
    probabilities: Annotated[
        bool, flag("--probabilities", "-p", help="Write the probability of every class, not only of the label.")
    ] = False,
    min_confidence: Annotated[
        float,
        option(
            "--min-confidence", metavar="P", min=0.0, max=1.0,
            help="Leave the label empty where it is less probable than this (default 0.0).",
        ),
    ] = 0.0,
    identity: Annotated[
        str | None,
        option(
            "--id", metavar="COLUMN",
            help="Column that identifies each document, copied to the output (path for class folders).",
        ),
    ] = None,
    trust_tokenizer: Annotated[
        str | None,
        option(
            "--trust-tokenizer", panel=TRUST_PANEL, metavar="NAME",
            help="Tokenizer that the model was trained with: package.module:function. It is imported and run.",
        ),
    ] = None,
    trust_pattern: Annotated[
        str | None,
        option("--trust-pattern", panel=TRUST_PANEL, metavar="REGEX", help="Pattern that the model was trained with."),
    ] = None,
    max_model_size: Annotated[
        int,
        option(
            "--max-model-size", panel=TRUST_PANEL, metavar="MB", min=1,
            help=f"Largest size of the unpacked model, in megabytes (default {MAX_MEGABYTES}).",
        ),
    ] = MAX_MEGABYTES,
    columns: ColumnOptions,
    output_options: OutputOptions,
    threads: Threads = None,
    messages: Messages,
) -> None:  # fmt: skip
    """Label texts with a model. With --label, also report how well the labels agree with those in that column."""
    from termsieve.cli.agreement import LabelAgreement, PredictionCount
    from termsieve.cli.model_views import make_prediction_sheet
    from termsieve.cli.reading import find_unlabelled, report_columns, report_skipped
    from termsieve.documents.folders import PATH
    from termsieve.documents.sources import STDIN, expand_patterns
    from termsieve.model import Model

    paths = expand_patterns(files)
    output_options.check(inputs=[model_file, *(path for path in paths if path != STDIN)])
    model = Model.load(
        model_file,
        tokenizer=trust_tokenizer,
        token_pattern=trust_pattern,
        max_bytes=max_model_size * 1_000_000,
    )
    model.vectorizer.threads = threads
    documents = find_unlabelled(paths, columns, model.settings.get("text", ()))
    _check_supported(model, explain=explain, probabilities=probabilities or min_confidence > 0)
    report_columns(documents, messages)
    agreement = LabelAgreement(model.classes, single=model.single) if columns.label else None
    counted = PredictionCount()
    items = _predict_documents(model, documents, identity, top if explain else 0, agreement, counted, min_confidence)
    # the path of a file in a class folder is its place
    places = [] if documents.has_folders and identity == PATH else documents.place_names
    sheet = make_prediction_sheet(
        model, items, places=places, identity=identity, explain=explain, probabilities=probabilities,
        whole=agreement is not None or min_confidence > 0,
        **({} if output_options.output is None else {"shown": None}),
    )  # fmt: skip
    with messages.report_compiling():
        output_options.write(sheet, messages)
    report_skipped(documents, messages)
    notes = counted.describe(single=model.single, min_confidence=min_confidence)
    if agreement is not None:
        agreement.refuse_unknown(documents.describe_labels())
        notes += agreement.describe(documents.describe_labels(), abstains=min_confidence > 0)
    for note in notes:
        messages.note(note)


def _check_supported(model: Model, *, explain: bool, probabilities: bool) -> None:
    from termsieve.model.explaining import require_explainable
    from termsieve.model.model import require_probabilities

    if explain:
        require_explainable(model)
    if probabilities:
        require_probabilities(model)


def _predict_documents(
    model: Model, documents: Documents, identity: str | None, terms: int, agreement: LabelAgreement | None,
    counted: PredictionCount, min_confidence: float,
) -> Iterator[Prediction]:  # fmt: skip
    """Yield each document with its prediction, batch by batch."""
    import pyarrow as pa

    from termsieve.cli.model_views import Prediction
    from termsieve.model.explaining import explain_rows

    for batch in documents.batches([identity] if identity else [], places=True):
        column = batch.column("text")
        X, texts = model.to_matrix(pa.chunked_array([column])), column.to_pylist()
        labelled = model.label_rows(X, min_confidence)
        labels = model.name_labels(labelled.labels)
        chances = [None] * len(texts) if labelled.probabilities is None else labelled.probabilities
        explanations: Any = explain_rows(model, X, terms) if terms else [[]] * len(texts)
        names = batch.column(identity).to_pylist() if identity else [None] * len(texts)
        counted.add(labels, labelled.known.tolist())
        if agreement is not None:
            agreement.add(batch.column("labels").to_pylist(), labels, labelled.probabilities)
        places = batch.column("place").to_pylist()
        shown = [text if isinstance(text, str) else " ".join(text) for text in texts]
        for parts in zip(places, names, shown, labels, chances, labelled.known.tolist(), explanations, strict=True):
            yield Prediction(*parts)

"""``compare`` and ``report``: which score, how many terms, which classifier; and a page that shows it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from termsieve.cli.app import app
from termsieve.cli.completion import complete_scores
from termsieve.cli.inputs import AnalyzerOptions, ColumnOptions, Files, Output, Threads, split_names
from termsieve.cli.messages import Messages
from termsieve.cli.option_groups import expand_groups, flag, format_examples, option
from termsieve.cli.output import (
    FORMAT_NAMES,
    FORMATS_BY_EXTENSION,
    HTML_EXTENSIONS,
    OUTPUT_PANEL,
    PARQUET_EXTENSION,
    SAFE_CSV_HELP,
    Format,
    OutputOptions,
    Sheet,
    check_extension,
)
from termsieve.cli.plan_options import PANEL as STUDY
from termsieve.cli.plan_options import PlanOptions, note_groups
from termsieve.defaults import DEFAULT_MEASURE
from termsieve.errors import OptionError, OutputError
from termsieve.extras import require_extra
from termsieve.study.plan import SCORES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from termsieve.documents import Documents
    from termsieve.study.corpus import Corpus
    from termsieve.study.results import Comparison

MAX_FITTED = 30_000  # documents: with more, the page has no model of them
MAX_JUDGED = 20_000  # documents times classes: with more, models of few bytes take longer than the page is waited for
REPORT_SCORES = ",".join(SCORES)
Figures = Annotated[
    Path | None,
    option(
        "--figures",
        panel=OUTPUT_PANEL,
        metavar="DIR",
        help="Also write the charts to this folder, as PNG, SVG and PDF.",
    ),
]
Title = Annotated[
    str | None, option("--title", panel=OUTPUT_PANEL, metavar="TEXT", help="Name of the corpus, shown on the page.")
]


def _check_measure(measure: str, *, per_class: bool) -> None:
    """Refuse a measure that the study will not have, before it runs."""
    from termsieve.evaluate.measures import MEASURES
    from termsieve.study.results import check_measure

    # where each class has a classifier of its own, measures are means over the classes
    available = [one for one in MEASURES if not per_class or one.endswith("_macro")]
    check_measure(measure, available)


@app.command(
    epilog=format_examples(
        "termsieve compare mail.csv",
        "termsieve compare mail.csv -o report.html -o result.parquet",
        "termsieve compare news.jsonl --score chi2,'bns(floor=0.001)' --classifier multinomial_nb -k 10,100,1000",
        "termsieve compare news.jsonl --cv split --journal news.study -o report.html --figures figures",
    )
)
@expand_groups
def compare(
    files: Files,
    *,
    plan: Annotated[dict[str, Any], PlanOptions()],
    measure: Annotated[
        str,
        option(
            "--measure", panel=STUDY, metavar="NAME",
            help=f"Measure to show: f1_macro, f1_micro, accuracy, ... (default {DEFAULT_MEASURE}).",
        ),
    ] = DEFAULT_MEASURE,
    journal: Annotated[
        Path | None,
        option(
            "--journal", metavar="FILE", help="Record each trial in this file, so that a stopped study can continue."
        ),
    ] = None,
    threads: Threads = None,
    outputs: Annotated[
        list[Path] | None,
        option(
            "--output", "-o", panel=OUTPUT_PANEL, metavar="FILE",
            help="Write a page (.html), the whole result (.parquet), or the means (.csv, .tsv, .json, .txt); may be "
            "given several times.",
        ),
    ] = None,
    figures: Figures = None,
    title: Title = None,
    excerpts: Annotated[
        bool,
        flag(
            "--excerpts/--no-excerpts", panel=OUTPUT_PANEL,
            help="Keep short excerpts of the documents in the page and the result (default), or none.",
        ),
    ] = True,
    bytes_curve: Annotated[
        bool | None,
        flag(
            "--bytes-curve/--no-bytes-curve", panel=OUTPUT_PANEL,
            help="Show F1 against the bytes of the model on the page, or not; shown if documents are few (default).",
        ),
    ] = None,
    form: Annotated[
        Format | None,
        option(
            "--format", "-f", panel=OUTPUT_PANEL, metavar="FORMAT",
            help=f"Format on standard output: {FORMAT_NAMES} (default table in a terminal, tsv in a pipe)."
        ),
    ] = None,
    safe_csv: Annotated[bool, flag("--safe-csv", panel=OUTPUT_PANEL, help=SAFE_CSV_HELP)] = False,
    columns: ColumnOptions,
    analysis: AnalyzerOptions,
    messages: Messages,
) -> None:  # fmt: skip
    """Compare scores, classifiers and numbers of terms by cross-validation, and recommend the fewest that suffice."""
    from termsieve.cli.compare_views import make_comparison_sheet
    from termsieve.cli.reading import find_labelled, note_similar_classes, report_reading
    from termsieve.counts.counting import resolve_threads
    from termsieve.study.corpus import read_corpus
    from termsieve.study.plan import Plan
    from termsieve.study.study import compare_corpus

    _check_measure(measure, per_class=plan.get("per_class", False))
    documents = find_labelled(files, columns)
    inputs = [*documents.files, *analysis.files]
    _check_journal(journal, inputs, outputs or [])
    _check_outputs(outputs or [], figures, inputs)
    analyzer = analysis.make_analyzer()
    checked = Plan.from_arguments(**plan)
    with report_reading(documents, messages, "compared"):
        note_groups(documents, plan, messages)
        corpus = read_corpus(documents, None, analyzer, checked.columns, resolve_threads(threads))
        result = compare_corpus(
            corpus, checked, journal=journal, threads=threads, progress=messages.progress, excerpts=excerpts
        )
    if result.counts is not None:
        note_similar_classes(result.counts.classes, messages)
    for note in result.settings["notes"]:
        messages.note(f"note: {note}")
    if gaps := result.describe_gaps():
        messages.detail(gaps)
    sheet = make_comparison_sheet(result, measure)
    for output in sorted(
        outputs or (), key=lambda path: path.suffix.lower() in HTML_EXTENSIONS
    ):  # the page last: it may fail
        if output.suffix.lower() in HTML_EXTENSIONS:
            extras = _make_extras(result, corpus, bytes_curve, messages)
            _write_page(result, output, None, title, figures, messages, **extras)
        else:
            _write_output(result, sheet, output, OutputOptions(output, None, safe_csv), messages)
    if not outputs or form is not None or (sys.stdout.isatty() and not messages.quiet):
        OutputOptions(None, form, safe_csv).write(sheet)


def _check_journal(journal: Path | None, inputs: Sequence[str], outputs: Sequence[Path]) -> None:
    """Refuse a journal that is read as an input, or that an output would replace, before the work."""
    from termsieve.files import check_target

    if journal is None:
        return
    check_target(journal, inputs=inputs)
    for output in outputs:
        if output.resolve() == journal.resolve() or (output.exists() and journal.exists() and output.samefile(journal)):
            raise OutputError(
                f"{output}: is read as an input, too: it is the journal, and its content would be lost. Write "
                "to another file."
            )


def _check_outputs(outputs: Sequence[Path], figures: Path | None, inputs: Sequence[str]) -> None:
    """Refuse outputs that cannot be written, before the work."""
    from termsieve.files import check_target

    if any(output.suffix.lower() in HTML_EXTENSIONS for output in outputs):
        require_extra("report", "A page (.html)")
    for output in outputs:
        check_target(output, inputs=inputs)
        check_extension(output, (*HTML_EXTENSIONS, PARQUET_EXTENSION, *FORMATS_BY_EXTENSION))
    if figures is not None and not any(output.suffix.lower() in HTML_EXTENSIONS for output in outputs):
        raise typer.BadParameter("the charts belong to a page: also give -o report.html.", param_hint="--figures")
    _check_folder(figures)


def _check_folder(figures: Path | None) -> None:
    """Refuse a folder for charts that cannot be one."""
    from termsieve.files import is_writable

    if figures is None:
        return
    existing = next(one for one in (figures, *figures.absolute().parents) if one.exists())
    if not existing.is_dir() or not is_writable(existing):
        raise OutputError(f"{figures}: charts cannot be written there: {existing} is not a writable folder.")


def _write_output(
    result: Comparison, sheet: Sheet, output: Path, output_options: OutputOptions, messages: Messages
) -> None:
    if output.suffix.lower() == PARQUET_EXTENSION:
        result.save(output)
    else:
        output_options.write(sheet)
    messages.note(f"written to {output}")


def _make_extras(result: Comparison, corpus: Corpus, bytes_curve: bool | None, messages: Messages) -> dict[str, Any]:
    """Return what the page of a comparison has beside it: the recommended model, and what it needs in bytes."""
    from termsieve.model.exporting import find_front
    from termsieve.model.train_model import train_recommended
    from termsieve.tokens.analyzer import Analyzer

    few = result.settings["n_docs"] <= MAX_FITTED
    if not few and not bytes_curve:
        return {}
    try:
        with messages.report_time("fitted the recommended model"):
            model = train_recommended(result, corpus)
        if bytes_curve is False or (bytes_curve is None and len(model.classes) * model.settings["n_docs"] > MAX_JUDGED):
            return {"model": model}
        about = {name: model.settings[name] for name in ("score", "classifier", "weighting")}
        with messages.report_time("tried models of few bytes"):
            front = find_front(corpus, analyzer=Analyzer.from_settings(model.settings["analyzer"]), **about)
    except OptionError as error:  # of a model that has no form elsewhere
        messages.note(f"note: the page has no box to try the model, or no curve of bytes: {error}")
        return {}
    return {"model": model, "front": front}


def _write_page(
    result: Any, output: Path, documents: Documents | None, title: str | None, figures: Path | None,
    messages: Messages, **extras: Any,
) -> None:  # fmt: skip
    from termsieve import report as write_report

    with messages.report_time("drawn"):
        write_report(result, output, documents=documents, figures=figures, title=title, **extras)
    size = output.stat().st_size / 1e6
    messages.note(f"written to {output} ({size:.1f} MB), a page for any browser")
    if figures is not None:
        messages.note(f"figures in {figures}")


@app.command(
    epilog=format_examples(
        "termsieve report result.parquet -o report.html",
        "termsieve report mail.counts --score chi2,bns -o terms.html",
        "termsieve report mail.csv -o terms.html",
    )
)
@expand_groups
def report(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="RESULT",
            help="A result that [bold]termsieve compare[/] wrote (.parquet); or .counts files or documents, which "
            "are scored.",
        ),
    ],
    *,
    output: Output,
    scores: Annotated[
        list[str] | None,
        option(
            "--score", "-s", metavar="LIST", autocompletion=complete_scores,
            help=f"For counts and documents: scores, separated by commas (default {REPORT_SCORES}).",
        ),
    ] = None,
    figures: Figures = None,
    title: Title = None,
    columns: ColumnOptions,
    analysis: AnalyzerOptions,
    threads: Threads = None,
    messages: Messages,
) -> None:  # fmt: skip
    """Make a page from a saved result, counts or documents: one file, for any browser, that needs no network."""
    from termsieve.cli.reading import find_counts, read_counts
    from termsieve.files import check_target
    from termsieve.ranking.ranking import score as score_counts
    from termsieve.study.results import Comparison

    require_extra("report", "A page (.html)")
    found = None if _is_comparison(files) else find_counts(files, columns, analysis)
    check_target(output, inputs=files if found is None else [*found.files, *analysis.files])
    if output.suffix.lower() not in HTML_EXTENSIONS:
        raise typer.BadParameter(f"a page has the extension .html, not {output.suffix!r}.", param_hint="-o")
    _check_folder(figures)
    if found is None:
        if scores:
            raise typer.BadParameter(
                "a saved result already has its scores; --score is for counts and documents.", param_hint="-s"
            )
        _write_page(Comparison.load(files[0]), output, None, title, figures, messages)
        return
    names = split_names(scores or [REPORT_SCORES])
    counts = read_counts(found, analysis, threads, messages)
    documents = found.documents if found.documents is not None and found.documents.files else None
    if found.documents is not None and documents is None:
        messages.note("note: standard input is read once, so the page has no excerpts; of a file it has")
    _write_page(score_counts(counts, list(names)), output, documents, title, figures, messages)


def _is_comparison(files: Sequence[str]) -> bool:
    """Tell whether a Parquet file is the result of a comparison rather than documents."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from termsieve.study.result_files import is_saved

    if len(files) != 1 or Path(files[0]).suffix.lower() != PARQUET_EXTENSION or not Path(files[0]).is_file():
        return False
    if is_saved(files[0]):  # before Arrow reads it, because a damaged file can crash Arrow
        return True
    try:
        return b"termsieve" in (pq.read_schema(files[0]).metadata or {})
    except (OSError, pa.ArrowException):
        return False  # its reader reports what is wrong with it

"""``compare`` and ``report``: which score, how many terms, which classifier; and a page that shows it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from termsieve.cli.app import app
from termsieve.cli.completion import complete_classifiers, complete_scores
from termsieve.cli.groups import examples, flag, grouped, option
from termsieve.cli.inputs import Columns, Files, Output, Seed, Threads, Wording, listed
from termsieve.cli.output import ENDINGS, HTML, PANEL, PARQUET, SAFE_CSV_HELP, Format, Printing, Sheet
from termsieve.cli.saying import Talk
from termsieve.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from termsieve.documents import Documents
    from termsieve.results import Comparison

STUDY = "Study"
PAGE_SCORES = "gu,chi2,info_gain,bns"
Figures = Annotated[
    Path | None,
    option("--figures", panel=PANEL, metavar="DIR", help="Also write the charts there, as PNG, SVG and PDF."),
]
Title = Annotated[str | None, option("--title", panel=PANEL, metavar="TEXT", help="What the corpus is called.")]


@dataclass(frozen=True)
class Contest:
    """What is compared with what, and how it is judged."""

    scores: Annotated[
        list[str] | None,
        option(
            "--scores", "-s", panel=STUDY, metavar="LIST", autocompletion=complete_scores,
            help="Scores, with commas between them. Without this: chi2,info_gain,gu,bns,odds_ratio,pip.",
        ),
    ] = None  # fmt: skip
    classifiers: Annotated[
        list[str] | None,
        option(
            "--classifiers", "-c", panel=STUDY, metavar="LIST", autocompletion=complete_classifiers,
            help="Classifiers. Without this: multinomial_nb,linear_svm.",
        ),
    ] = None  # fmt: skip
    ks: Annotated[
        list[str] | None,
        option(
            "--ks", "--sizes", "-k", panel=STUDY, metavar="LIST",
            help="Numbers of terms. Without this: 10,20,50,100,200,500,1000,2000.",
        ),
    ] = None  # fmt: skip
    cv: Annotated[
        str, option("--cv", panel=STUDY, metavar="N", help='Folds (10), or a column with "train" and "test".')
    ] = "10"
    repeats: Annotated[int, option("--repeats", panel=STUDY, metavar="N", min=1, help="Divide so often; once.")] = 1
    groups: Annotated[
        str | None,
        option("--groups", panel=STUDY, metavar="COLUMN", help="Documents that are alike in it stay in one fold."),
    ] = None
    per_class: Annotated[
        bool, flag("--per-class", panel=STUDY, help="A ranking and a classifier for each class, against the rest.")
    ] = False
    one_vs_rest: Annotated[
        bool, flag("--one-vs-rest", panel=STUDY, help="A classifier for each class, on the terms of one ranking.")
    ] = False
    min_df: Annotated[
        int, option("--min-df", panel=STUDY, metavar="N", min=1, help="Leave out terms of fewer training documents.")
    ] = 1
    min_tf: Annotated[
        int, option("--min-tf", panel=STUDY, metavar="N", min=1, help="Leave out terms that occur less often.")
    ] = 1
    weighting: Annotated[
        str, option("--weighting", panel=STUDY, metavar="NAME", help="count (the usual), binary, tfidf, tf.bns, ...")
    ] = "count"
    weigh: Annotated[
        str, option("--weigh", panel=STUDY, metavar="WHAT", help="Weigh the selected terms (the usual), or all.")
    ] = "selected"

    def check_measure(self, measure: str) -> None:
        """Refuse a measure that the study will not have, before it runs."""
        from termsieve.evaluate import MEASURES
        from termsieve.results import check_measure

        # where each class has a classifier of its own, measures are means over the classes
        known = [one for one in MEASURES if not self.per_class or one.endswith("_macro")]
        check_measure(measure, known)

    def arguments(self) -> dict[str, Any]:
        """As `termsieve.compare` takes them."""
        given: dict[str, Any] = {
            "cv": int(self.cv) if self.cv.isdecimal() else self.cv,
            "repeats": self.repeats,
            "groups": self.groups,
            "per_class": self.per_class,
            "one_vs_rest": self.one_vs_rest,
            "min_df": self.min_df,
            "min_tf": self.min_tf,
            "weighting": self.weighting,
            "weigh": self.weigh,
        }
        for name in ("scores", "classifiers"):
            if getattr(self, name):
                given[name] = listed(getattr(self, name))
        if self.ks:
            given["ks"] = [_whole(k) for k in listed(self.ks)]
        return given


def _whole(k: str) -> int:
    if not k.isdecimal():
        raise typer.BadParameter(f"{k!r} is no number of terms. Write for example 10,100,1000.", param_hint="--ks")
    return int(k)


@app.command(
    epilog=examples(
        "termsieve compare mail.csv",
        "termsieve compare mail.csv -o report.html -o result.parquet",
        "termsieve compare news.jsonl --scores gu,chi2,'bns(floor=0.001)' --classifiers multinomial_nb -k 10,100,1000",
        "termsieve compare news.jsonl --cv split --journal news.study -o report.html --figures figures",
    )
)
@grouped
def compare(
    files: Files,
    *,
    contest: Contest,
    measure: Annotated[
        str, option("--measure", panel=STUDY, metavar="NAME", help="What is shown: f1_macro, f1_micro, accuracy, ...")
    ] = "f1_macro",
    seed: Seed = 0,
    journal: Annotated[
        Path | None,
        option("--journal", metavar="FILE", help="Write each trial down: a study that was stopped goes on from there."),
    ] = None,
    workers: Annotated[
        int | None,
        option("--workers", "--threads", metavar="N", min=1, help="Trials at the same time; one for each core."),
    ] = None,
    outputs: Annotated[
        list[Path] | None,
        option(
            "--output", "-o", panel=PANEL, metavar="FILE",
            help="Write a page (.html), the whole result (.parquet), or the means (.csv, .tsv, .json, .txt); may be "
            "given several times.",
        ),
    ] = None,
    figures: Figures = None,
    title: Title = None,
    excerpts: Annotated[
        bool,
        flag(
            "--excerpts/--no-excerpts", panel=PANEL,
            help="Keep short places of the documents in the page and the result (the usual), or none.",
        ),
    ] = True,
    form: Annotated[
        Format | None,
        option("--format", "-f", panel=PANEL, metavar="FORMAT", help="On standard output: table, tsv, csv or json."),
    ] = None,
    safe_csv: Annotated[bool, flag("--safe-csv", panel=PANEL, help=SAFE_CSV_HELP)] = False,
    columns: Columns,
    wording: Wording,
    talk: Talk,
) -> None:  # fmt: skip
    """Compare scores, classifiers and numbers of terms by cross-validation, and name the fewest terms that do."""
    from termsieve.cli.compareviews import comparison_sheet
    from termsieve.cli.reading import inputs_of, read_documents, say_skipped
    from termsieve.study import compare as compared

    contest.check_measure(measure)
    _check_journal(journal, inputs_of(files, wording), outputs or [])
    _check_outputs(outputs or [], figures, inputs_of(files, wording))
    arguments = {**contest.arguments(), "analyzer": wording.analyzer(), "seed": seed}
    documents = read_documents(files, columns, talk)
    with talk.timed("compared"), talk.compiling():
        result = compared(
            documents, journal=journal, workers=workers, progress=talk.progress, excerpts=excerpts, **arguments
        )
    say_skipped(documents, talk)
    sheet = comparison_sheet(result, measure)
    for output in sorted(outputs or (), key=lambda path: path.suffix.lower() in HTML):  # the page last: it may fail
        _write(result, sheet, output, title, figures, Printing(output, None, safe_csv), talk)
    if not outputs or (sys.stdout.isatty() and not talk.quiet):
        Printing(None, form, safe_csv).write(sheet)


def _check_journal(journal: Path | None, inputs: Sequence[str], outputs: Sequence[Path]) -> None:
    """Refuse a journal that is read as an input, or that an output would replace, before the work."""
    from termsieve.storage import check_target

    if journal is None:
        return
    check_target(journal, inputs=inputs)
    for output in outputs:
        if output.resolve() == journal.resolve() or (output.exists() and journal.exists() and output.samefile(journal)):
            raise OutputError(
                f"{output}: is read as an input, too: it is the journal, and what it has would be lost. Write to "
                "another file."
            )


def _check_outputs(outputs: Sequence[Path], figures: Path | None, inputs: Sequence[str]) -> None:
    """Refuse places that cannot be written before the work."""
    from termsieve.storage import check_target

    for output in outputs:
        check_target(output, inputs=inputs)
        if output.suffix.lower() not in (*HTML, PARQUET, *ENDINGS):
            known = ", ".join((HTML[0], PARQUET, *ENDINGS))
            raise typer.BadParameter(
                f"the ending of {str(output)!r} does not tell what to write. Known are {known}.", param_hint="-o"
            )
    if figures is not None and not any(output.suffix.lower() in HTML for output in outputs):
        raise typer.BadParameter("the charts go with a page: give -o report.html, too.", param_hint="--figures")
    _check_folder(figures)


def _check_folder(figures: Path | None) -> None:
    """Refuse a folder for charts that cannot be one."""
    from termsieve.storage import may_write

    if figures is None:
        return
    there = next(one for one in (figures, *figures.absolute().parents) if one.exists())
    if not there.is_dir() or not may_write(there):
        raise OutputError(f"{figures}: no charts can be written there: {there} is no folder that may be written to.")


def _write(
    result: Comparison,
    sheet: Sheet,
    output: Path,
    title: str | None,
    figures: Path | None,
    printing: Printing,
    talk: Talk,
) -> None:
    ending = output.suffix.lower()
    if ending in HTML:
        _write_page(result, output, None, title, figures, talk)
        return
    if ending == PARQUET:
        result.save(output)
    else:
        printing.write(sheet)
    talk.note(f"written to {output}")


def _write_page(
    result: Any, output: Path, documents: Documents | None, title: str | None, figures: Path | None, talk: Talk
) -> None:
    from termsieve import report as write_report

    with talk.timed("drawn"):
        write_report(result, output, documents=documents, figures=figures, title=title)
    size = output.stat().st_size / 1e6
    talk.note(f"written to {output} ({size:.1f} MB), a page for any browser")
    if figures is not None:
        talk.note(f"figures in {figures}")


@app.command(
    epilog=examples(
        "termsieve report result.parquet -o report.html",
        "termsieve report mail.counts --scores gu,chi2 -o terms.html",
        "termsieve report mail.csv -o terms.html",
    )
)
@grouped
def report(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="RESULT",
            help="A result that [bold]termsieve compare[/] wrote (.parquet); or .counts files or documents, of which "
            "the page shows what scores tell.",
        ),
    ],
    *,
    output: Output,
    scores: Annotated[
        list[str] | None,
        option(
            "--scores", "-s", metavar="LIST", autocompletion=complete_scores,
            help=f"For counts and documents: scores, with commas between them. Without this: {PAGE_SCORES}.",
        ),
    ] = None,
    figures: Figures = None,
    title: Title = None,
    columns: Columns,
    wording: Wording,
    threads: Threads = None,
    talk: Talk,
) -> None:  # fmt: skip
    """Make a page from a saved result, from counts or from documents: one file, for any browser, without network."""
    from termsieve.cli.reading import STDIN, inputs_of, is_counts, read_counts, read_documents
    from termsieve.ranking import score as scored
    from termsieve.results import Comparison
    from termsieve.storage import check_target

    check_target(output, inputs=inputs_of(files, wording))
    if output.suffix.lower() not in HTML:
        raise typer.BadParameter(f"a page has the ending .html, not {output.suffix!r}.", param_hint="-o")
    _check_folder(figures)
    if _is_comparison(files):
        if scores:
            raise typer.BadParameter(
                "a saved result has its scores; this is for counts and documents.", param_hint="-s"
            )
        _write_page(Comparison.load(files[0]), output, None, title, figures, talk)
        return
    names = listed(scores or [PAGE_SCORES])
    counts = read_counts(files, columns, wording, threads, talk)
    documents = None
    if not any(file == STDIN or is_counts(file) for file in files):
        documents = read_documents(files, columns, Talk(quiet=True))
    _write_page(scored(counts, list(names)), output, documents, title, figures, talk)


def _is_comparison(files: Sequence[str]) -> bool:
    """Whether a Parquet file is the result of a comparison, and not one of documents."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from termsieve.results import is_saved

    if len(files) != 1 or Path(files[0]).suffix.lower() != PARQUET or not Path(files[0]).is_file():
        return False
    if is_saved(files[0]):  # without a look by Arrow, which a damaged file can bring down
        return True
    try:
        return b"termsieve" in (pq.read_schema(files[0]).metadata or {})
    except (OSError, pa.ArrowException):
        return False  # what is wrong with it, its reader says

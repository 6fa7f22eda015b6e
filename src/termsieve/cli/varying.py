"""``multiverse``: whether the conclusion survives other ways to prepare the texts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Group
from rich.table import Table
from rich.text import Text

from termsieve.cli.app import app
from termsieve.cli.inputs import AnalyzerOptions, ColumnOptions, Files, Threads
from termsieve.cli.messages import Messages
from termsieve.cli.option_groups import expand_groups, format_examples, option
from termsieve.cli.output import OutputOptions, Sheet
from termsieve.cli.plan_options import PlanOptions
from termsieve.defaults import MULTIVERSE_CLASSIFIER
from termsieve.extras import require_extra
from termsieve.study.plan import GRID

if TYPE_CHECKING:
    from termsieve.study.multiverse import MultiverseResult

_NAMED_VALUES: dict[str, Any] = {"none": None, "yes": True, "true": True, "no": False, "false": False}


@app.command(
    epilog=format_examples(
        "termsieve multiverse mail.csv --vary min_df=1,3 --vary stop_words=none,smart --vary lowercase",
        "termsieve multiverse mail.csv --vary lowercase --vary min_df=1,5 --score chi2,bns -o ways.csv",
        "termsieve multiverse mail.csv --vary stop_words=none,english -o report.html",
    )
)
@expand_groups
def multiverse(
    files: Files,
    *,
    vary: Annotated[
        list[str] | None,
        option(
            "--vary",
            metavar="NAME=A,B",
            help="What to vary, and its values: min_df=1,3, stop_words=none,smart, ngram_range=1,2, "
            "weighting=count,binary, ...; a name alone, such as lowercase, is yes and no. May be given several times: "
            "all combinations are tried (default lowercase, stop_words=none,smart and min_df=1,3).",
        ),
    ] = None,
    plan: Annotated[
        dict[str, Any],
        PlanOptions(
            "scores", "ks", "cv", "groups", "repeats", "seed", "sample", "per_class", "min_df", "min_tf",
            defaults={"ks": GRID},
        ),
    ],
    classifier: Annotated[
        str, option("--classifier", "-c", metavar="NAME", help=f"One classifier (default {MULTIVERSE_CLASSIFIER}).")
    ] = MULTIVERSE_CLASSIFIER,
    threads: Threads = None,
    columns: ColumnOptions,
    analysis: AnalyzerOptions,
    output_options: OutputOptions,
    messages: Messages,
) -> None:  # fmt: skip
    """Tell whether the best score and number of terms stay the same if texts are prepared in other ways."""
    from termsieve.cli.reading import find_labelled, report_reading
    from termsieve.counts.counting import resolve_threads
    from termsieve.study.corpus import read_corpus
    from termsieve.study.multiverse import USUAL, list_ways, try_ways
    from termsieve.study.plan import Plan
    from termsieve.study.study import compare_corpus

    varied = dict(parse_vary(one) for one in vary) if vary else dict(USUAL)
    if output_options.is_page:
        require_extra("report", "A page (.html)")
    documents = find_labelled(files, columns)
    output_options.check(page=True, inputs=[*documents.files, *analysis.files])
    analyzer, n_threads = analysis.make_analyzer(), resolve_threads(threads)
    ways = list_ways(varied, analyzer, **{"ks": GRID, **plan, "classifiers": [classifier]})
    with report_reading(documents, messages, "compared"):
        corpus = read_corpus(documents, None, ways[0].analyzer, ways[0].plan.columns, n_threads)
        found = try_ways(corpus, ways, n_threads, messages.note)

    def write_page(path: Path) -> None:
        """Compare once more in the way of the options, and put what the ways say on its page."""
        from termsieve import report as write_report
        from termsieve.tokens.analyzer import Analyzer

        whole = Plan.from_arguments(**{**plan, "classifiers": [classifier]})
        result = compare_corpus(
            read_corpus(corpus, None, analyzer or Analyzer(), [], n_threads), whole, threads=threads,
            progress=messages.progress,
        )  # fmt: skip
        result.settings["multiverse"] = found.to_dict()
        write_report(result, path)

    output_options.write(make_ways_sheet(found, write_page), messages)
    if not output_options.is_interactive:  # where the rows go elsewhere
        messages.note(f"{found.conclusion}; {found.certainty}.")


def parse_vary(given: str) -> tuple[str, list[Any]]:
    """Return the name and the values of ``--vary``.

    >>> parse_vary("min_df=1,0.5"), parse_vary("stop-words=none,smart"), parse_vary("ngram_range=1,1-2")
    (('min_df', [1, 0.5]), ('stop_words', [None, 'smart']), ('ngram_range', [(1, 1), (1, 2)]))
    >>> parse_vary("lowercase")
    ('lowercase', [True, False])
    """
    name, separator, values = given.partition("=")
    name = name.strip().replace("-", "_")
    if not separator:
        return name, [True, False]
    if not values.strip():
        raise typer.BadParameter(f"{given!r} has no values. Write for example min_df=1,3.", param_hint="--vary")
    return name, [_parse_value(name, value.strip()) for value in values.split(",")]


def _parse_value(name: str, value: str) -> Any:
    if value.lower() in _NAMED_VALUES:
        return _NAMED_VALUES[value.lower()]
    if name == "ngram_range":
        low, _, high = value.partition("-")
        if low.isdecimal() and (high or low).isdecimal():
            return int(low) if high else 1, int(high or low)
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return value


def make_ways_sheet(found: MultiverseResult, page: Any = None) -> Sheet:
    """Make the rows of all ways, and what they say in a terminal."""
    from termsieve.study.multiverse import format_value

    names = list(found.ways[0].choices)
    columns = [*names, "best", "second", "lead", "clear", "terms", found.measure]
    rows = [
        (*(format_value(way.choices[name]) for name in names), way.best, way.second, way.lead, way.clear, way.terms,
         way.reached)
        for way in found.ways
    ]  # fmt: skip
    return Sheet(columns, rows, lambda: _show(found), page=page)


def _show(found: MultiverseResult) -> Group:
    sentence = Text(f"{found.conclusion}.", style="bold")
    table = Table("choice", "value", "ways", "best score", "best in", f"mean {found.measure}", box=None)
    for name, value, n, best, won, reached in found.by_choice():
        table.add_row(name, value, f"{n}", best, f"{won}", f"{reached:.3f}")
    return Group(sentence, Text(found.certainty[:1].upper() + found.certainty[1:] + "."), Text(), table)

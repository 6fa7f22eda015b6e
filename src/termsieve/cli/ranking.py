"""``rank`` and ``select``: the terms that tell classes apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from termsieve.cli.app import app
from termsieve.cli.completion import complete_rules, complete_scores
from termsieve.cli.inputs import AnalyzerOptions, ColumnOptions, FilesOrCounts, PruningOptions, Threads, split_names
from termsieve.cli.messages import Messages
from termsieve.cli.option_groups import expand_groups, flag, format_examples, option
from termsieve.cli.output import OutputOptions
from termsieve.errors import OptionError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from termsieve.counts.counts import Counts
    from termsieve.selection.rules import Rule

ScoreName = Annotated[
    str,
    typer.Option(
        "--score", "-s", metavar="SCORE", autocompletion=complete_scores,
        help='What ranks the terms, such as chi2 or "bns(floor=0.001)"; termsieve scores lists them.',
    ),
]  # fmt: skip
TOP_PER_CLASS, TOP_OVERALL = 10, 20  # terms, without --top
MANY_CLASSES = 12  # classes, from which on there is one line for each
MAX_SHOWN = 30  # selected terms, in a terminal
RULE_EXAMPLES = (
    "top(1000), percentile(10), threshold(3.84), energy(0.8), fdr(0.05), fwe(0.05), round_robin(100), per_class(50), "
    'median_probability(), union("chi2", "info_gain", k=1000), stages("ocfs", 10000, "info_gain", 1000)'
)


@app.command(
    epilog=format_examples(
        "termsieve rank mail.csv",
        "termsieve rank mail.csv --text body --label folder --score chi2 --top 20",
        "termsieve rank hamlet.txt macbeth.txt --stop-words english",
        "termsieve rank news.jsonl.gz --class sport --against",
        "termsieve rank mail.counts --score gu,chi2 -o terms.html",
        "termsieve rank news.parquet --overall --format json | jq '.[].term'",
        "zcat news.jsonl.gz | termsieve rank -",
    )
)
@expand_groups
def rank(
    files: FilesOrCounts,
    *,
    score: Annotated[
        list[str] | None,
        option(
            "--score", "-s", metavar="LIST", autocompletion=complete_scores,
            help='What ranks the terms, such as chi2 or "bns(floor=0.001)"; gu, without this. Several have commas '
            "between them. termsieve scores lists them all.",
        ),
    ] = None,
    top: Annotated[
        int | None,
        option("--top", "-n", metavar="N", min=1, help="How many terms: of each class 10, or overall 20."),
    ] = None,
    per_class: Annotated[
        bool | None,
        flag("--per-class/--overall", help="A list for each class (the usual), or one."),
    ] = None,
    only: Annotated[
        list[str] | None,
        option("--class", metavar="CLASS", help="Only this class; may be given several times."),
    ] = None,
    against: Annotated[
        bool, flag("--against", help="Terms that speak against each class, in place of those that speak for it.")
    ] = False,
    columns: ColumnOptions,
    wording: AnalyzerOptions,
    pruning: PruningOptions,
    printing: OutputOptions,
    threads: Threads = None,
    talk: Messages,
) -> None:  # fmt: skip
    """The terms that tell each class from the rest, with the share of documents that have them there and elsewhere."""
    from termsieve.cli.rank_views import make_rank_sheet
    from termsieve.cli.reading import find_counts, read_counts
    from termsieve.ranking.ranking import as_score
    from termsieve.ranking.ranking import score as scored

    chosen = [as_score(one) for one in split_names(score or ["gu"])]
    if per_class is False and (only or against):
        raise typer.BadParameter("--class and --against go with lists for each class, not with --overall.")
    found = find_counts(files, columns, wording)
    printing.check(page=True, inputs=[*found.files, *wording.files])
    counts = pruning.pruned(read_counts(found, wording, threads, talk))
    places = _class_indices(counts, only)
    lists = {}
    with talk.report_time("scored"), talk.report_compiling():
        for name, scores in scored(counts, [*chosen]).items():
            if per_class is False:
                lists[name] = [scores.top(top or TOP_OVERALL)]
            else:
                lists[name] = [scores.top_of_class(c, top or TOP_PER_CLASS, against=against) for c in places]
    brief = per_class is None and top is None and len(places) > MANY_CLASSES
    printing.write(make_rank_sheet(counts, lists, overall=per_class is False, brief=brief), talk)
    if printing.is_interactive:
        talk.note("More: --top 30, --score chi2, --class NAME, -o terms.csv, rank --help")


def _class_indices(counts: Counts, only: Sequence[str] | None) -> list[int]:
    """Which classes are shown."""
    names = counts.classes.tolist()
    for name in only or ():
        if name not in names:
            listed = ", ".join(map(repr, names[:20])) + (", ..." if len(names) > 20 else "")
            raise OptionError(f"There is no class {name!r}. {did_you_mean(name, names)}Classes: {listed}.")
    return [names.index(name) for name in only] if only else list(range(len(names)))


@app.command(
    epilog=format_examples(
        "termsieve select mail.csv -k 1000 -o terms.txt",
        "termsieve select mail.counts --score chi2 --rule 'fdr(0.01)'",
        'termsieve select mail.csv --rule \'union("chi2", "gu", k=500)\' -o terms.csv',
        "grep -F -w -f terms.txt mail.csv",
        more=f"[bold]Rules[/]\n{RULE_EXAMPLES}",
    )
)
@expand_groups
def select(
    files: FilesOrCounts,
    *,
    k: Annotated[str | None, option("-k", metavar="N", help='How many terms, or "all"; 1000, without this.')] = None,
    rule: Annotated[
        str | None,
        option(
            "--rule",
            "-r",
            metavar="RULE",
            autocompletion=complete_rules,
            help="How many and which, in place of -k: a rule from the list below.",
        ),
    ] = None,
    score: ScoreName = "gu",
    aggregate: Annotated[
        str | None,
        option("--aggregate", metavar="HOW", help="How classes are brought together: max, sum, mean, ..."),
    ] = None,
    columns: ColumnOptions,
    wording: AnalyzerOptions,
    pruning: PruningOptions,
    printing: OutputOptions,
    threads: Threads = None,
    talk: Messages,
) -> None:
    """Choose terms: the best k by a score, or as many as a rule takes. -o terms.txt has one term a line."""
    from termsieve.cli.rank_views import make_selection_sheet
    from termsieve.cli.reading import find_counts, read_counts
    from termsieve.ranking.ranking import as_score
    from termsieve.selection.selection import select as selected

    chosen_score, chosen_rule = as_score(score), choose_rule(k, rule)
    found = find_counts(files, columns, wording)
    printing.check(inputs=[*found.files, *wording.files])
    counts = pruning.pruned(read_counts(found, wording, threads, talk))
    with talk.report_time("selected"), talk.report_compiling():
        selection = selected(counts, chosen_rule, chosen_score, aggregate=aggregate)
    printing.write(make_selection_sheet(selection, shown=MAX_SHOWN if printing.is_interactive else None), talk)
    talk.note(f"{selection.rule} on {selection.score}: {selection.reason}")


def choose_rule(k: str | None, rule: str | None) -> Rule:
    """The rule of two options, of which one may be given."""
    from termsieve.selection.rules import parse_rule

    if k is not None and rule is not None:
        raise typer.BadParameter("give -k or --rule, not both: a rule says itself how many.")
    if rule is not None:
        return parse_rule(rule)
    if k is not None and k != "all" and not k.isdecimal():
        raise typer.BadParameter(f'{k!r} is not a number of terms: a whole number, or "all".', param_hint="-k")
    return parse_rule(1000 if k is None else 'top("all")' if k == "all" else int(k))

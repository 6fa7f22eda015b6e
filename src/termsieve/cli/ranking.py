"""``rank`` and ``select``: the terms that tell classes apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from termsieve.cli.app import app
from termsieve.cli.completion import complete_rules, complete_scores
from termsieve.cli.inputs import (
    LEVEL_HELP,
    AnalyzerOptions,
    ColumnOptions,
    FilesOrCounts,
    PruningOptions,
    ScoreName,
    Threads,
    split_names,
)
from termsieve.cli.messages import Messages
from termsieve.cli.option_groups import expand_groups, flag, format_examples, option
from termsieve.cli.output import OutputOptions
from termsieve.defaults import DEFAULT_LEVEL, DEFAULT_SCORE
from termsieve.errors import OptionError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from termsieve.counts.counts import Counts
    from termsieve.counts.counts_file import CountsFile
    from termsieve.counts.folds import Folds
    from termsieve.counts.labelled import LabelledMatrix
    from termsieve.evaluate.list_stability import ListStability
    from termsieve.selection.rules import Rule
    from termsieve.selection.selection import Selection

DEFAULT_K = 1000  # terms that `select` takes
CERTAINTY_PANEL = "How sure"
TOP_PER_CLASS, TOP_OVERALL = 10, 20  # terms, without --top
MANY_CLASSES = 12  # with more classes, each gets one line
MAX_SHOWN = 30  # selected terms in a terminal
RULE_EXAMPLES = (
    "top(1000), percentile(10), threshold(3.84), energy(0.8), fdr(0.05), fwe(0.05), round_robin(100), per_class(50), "
    'median_probability(), union("chi2", "info_gain", k=1000), stages("ocfs", 10000, "info_gain", 1000); of documents, '
    "terms that come again in half-samples: stable(500, share=0.9), and "
    'terms that do not repeat each other: cmim(1000), jmi(1000), mrmr(1000), mrmr(1000, form="quotient"), fcbf()'
)


@app.command(
    epilog=format_examples(
        "termsieve rank mail.csv",
        "termsieve rank mail.csv --text body --label folder --score bns --top 20",
        "termsieve rank hamlet.txt macbeth.txt --stop-words english",
        "termsieve rank news.jsonl.gz --class sport --against",
        "termsieve rank mail.csv --intervals --pvalues",
        "termsieve rank mail.counts --score chi2,bns -o terms.html",
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
            help='Score that ranks the terms, such as info_gain or "bns(floor=0.001)"; several separated by commas '
            f"(default {DEFAULT_SCORE}). termsieve scores lists them all.",
        ),
    ] = None,
    top: Annotated[
        int | None,
        option(
            "--top", "-n", metavar="N", min=1,
            help=f"Number of terms (default {TOP_PER_CLASS} for each class, or {TOP_OVERALL} overall).",
        ),
    ] = None,
    per_class: Annotated[
        bool | None,
        flag("--per-class/--overall", help="Show one list for each class (default), or one for all."),
    ] = None,
    only: Annotated[
        list[str] | None,
        option("--class", metavar="CLASS", help="Show only this class; may be given several times."),
    ] = None,
    against: Annotated[
        bool, flag("--against", help="Show the terms that are rarer in each class than elsewhere.")
    ] = False,
    intervals: Annotated[
        bool,
        flag("--intervals", panel=CERTAINTY_PANEL, help="Add the ends of an interval around each score: low, high."),
    ] = False,
    level: Annotated[
        float, option("--level", panel=CERTAINTY_PANEL, metavar="P", help=LEVEL_HELP)
    ] = DEFAULT_LEVEL,
    pvalues: Annotated[
        bool,
        flag(
            "--pvalues", panel=CERTAINTY_PANEL,
            help="Add the probability of such a score if labels were exchanged (p), and the false discovery rate (q).",
        ),
    ] = False,
    dispersion: Annotated[
        bool,
        flag(
            "--dispersion", panel=CERTAINTY_PANEL,
            help="Add how evenly documents have the term: Juilland's D, from 0 (all in one) to 1 (alike in all).",
        ),
    ] = False,
    columns: ColumnOptions,
    analysis: AnalyzerOptions,
    pruning: PruningOptions,
    output_options: OutputOptions,
    threads: Threads = None,
    messages: Messages,
) -> None:  # fmt: skip
    """Show the terms that tell each class from the rest, and the share of documents with them, there and elsewhere."""
    from termsieve.cli.rank_views import make_rank_sheet
    from termsieve.cli.reading import find_counts, open_blocks, read_counts
    from termsieve.ranking.certainty import CertaintyColumns
    from termsieve.ranking.finalists import Contest, find_finalists
    from termsieve.ranking.ranking import as_score
    from termsieve.ranking.ranking import score as score_counts

    beside = CertaintyColumns.from_options(level if intervals else False, pvalues, dispersion)
    scores_wanted = [as_score(one) for one in split_names(score or [DEFAULT_SCORE])]
    if per_class is False and (only or against):
        raise typer.BadParameter("--class and --against go with lists for each class, not with --overall.")
    found = find_counts(files, columns, analysis)
    output_options.check(page=True, inputs=[*found.files, *analysis.files])
    file = None if pvalues or output_options.is_page else open_blocks(found)  # which need all terms
    lists = {}
    n = top or (TOP_OVERALL if per_class is False else TOP_PER_CLASS)
    with messages.report_time("scored"), messages.report_compiling():
        if file is None:
            counts = pruning.apply(read_counts(found, analysis, threads, messages))
            indices = _class_indices(counts, only)
        else:
            file = pruning.apply(file)
            indices = _class_indices(file, only)
            classes = None if per_class is False else indices
            contests = [Contest(one, n, classes, against) for one in scores_wanted]
            counts, _ = find_finalists(file, contests, threads)
        for name, scores in score_counts(counts, [*scores_wanted]).items():
            if per_class is False:
                lists[name] = [scores.top(n, **beside.options)]
            else:
                lists[name] = [scores.top_of_class(c, n, against=against, beside=beside) for c in indices]
    brief = per_class is None and top is None and not beside.columns and len(indices) > MANY_CLASSES
    output_options.write(make_rank_sheet(counts, lists, overall=per_class is False, brief=brief), messages)
    if output_options.is_interactive:
        messages.note("More: --top 30, --score info_gain, --class NAME, --pvalues, -o terms.csv, --help")


def _class_indices(counts: Counts | CountsFile, only: Sequence[str] | None) -> list[int]:
    """Return the indices of the classes to show."""
    names = counts.classes.tolist()
    for name in only or ():
        if name not in names:
            shown = ", ".join(map(repr, names[:20])) + (", ..." if len(names) > 20 else "")
            raise OptionError(f"There is no class {name!r}. {did_you_mean(name, names)}Classes: {shown}.")
    return [names.index(name) for name in only] if only else list(range(len(names)))


@app.command(
    epilog=format_examples(
        "termsieve select mail.csv -k 1000 -o terms.txt",
        "termsieve select mail.csv -k 500 --stability",
        "termsieve select mail.counts --score g_test --rule 'fdr(0.01)'",
        'termsieve select mail.csv --rule \'union("chi2", "bns", k=500)\' -o terms.csv',
        "termsieve select mail.csv --rule 'cmim(50)' --explain",
        "grep -F -w -f terms.txt mail.csv",
        more=f"[bold]Rules[/]\n{RULE_EXAMPLES}",
    )
)
@expand_groups
def select(
    files: FilesOrCounts,
    *,
    k: Annotated[
        str | None, option("-k", metavar="N", help=f'Number of terms, or "all" (default {DEFAULT_K}).')
    ] = None,
    rule: Annotated[
        str | None,
        option(
            "--rule",
            "-r",
            metavar="RULE",
            autocompletion=complete_rules,
            help="Rule from the list below, instead of -k.",
        ),
    ] = None,
    score: ScoreName = DEFAULT_SCORE,
    aggregate: Annotated[
        str | None,
        option(
            "--aggregate",
            metavar="HOW",
            help="How scores of the classes become one: max, sum, mean, ... (default: the score's own).",
        ),
    ] = None,
    stability: Annotated[
        bool,
        flag(
            "--stability",
            panel=CERTAINTY_PANEL,
            help="Add in how many half-samples of the documents a term is selected again, and the range of its ranks.",
        ),
    ] = False,
    explain: Annotated[
        bool,
        flag(
            "--explain",
            help="Show beside each term those that it makes superfluous: they tell nearly the same of the class.",
        ),
    ] = False,
    columns: ColumnOptions,
    analysis: AnalyzerOptions,
    pruning: PruningOptions,
    output_options: OutputOptions,
    threads: Threads = None,
    messages: Messages,
) -> None:
    """Select terms: the best k by a score, or those that a rule takes. -o terms.txt writes one term per line."""
    from termsieve.cli.rank_views import make_selection_sheet
    from termsieve.cli.reading import find_counts, open_blocks, read_counts, read_half_samples, read_matrix
    from termsieve.counts.folds import Folds
    from termsieve.ranking.ranking import as_score
    from termsieve.selection.selection import select as select_terms
    from termsieve.selection.stability import N_FOLDS

    chosen_score, chosen_rule = as_score(score), choose_rule(k, rule)
    if stability and (rule is not None or explain):
        raise typer.BadParameter("--stability goes with -k alone; stable(500, share=0.9) is a rule.")
    found = find_counts(files, columns, analysis)
    output_options.check(inputs=[*found.files, *analysis.files])
    needs_folds, folds, matrix = stability or chosen_rule.needs_folds, None, None
    if explain or chosen_rule.needs_documents:
        whole = read_matrix(found, analysis, threads, messages, "--explain" if explain else str(chosen_rule))
        folds = Folds.of_matrix(whole, N_FOLDS) if needs_folds else None
        matrix = whole.with_counts(pruning.apply(whole.counts))
    elif needs_folds:
        folds = read_half_samples(found, analysis, threads, messages)
    source: LabelledMatrix | Counts | CountsFile
    if matrix is not None:
        source = matrix
    elif folds is None and (file := open_blocks(found)) is not None:
        source = pruning.apply(file)
    else:
        source = pruning.apply(folds.total if folds else read_counts(found, analysis, threads, messages))
    with messages.report_time("selected"), messages.report_compiling():
        selection = select_terms(source, chosen_rule, chosen_score, aggregate=aggregate, folds=folds)
        again = _measure_stability(folds, source, selection, aggregate) if stability and folds else None
        duplicates = selection.near_duplicates(matrix) if explain and matrix is not None else None
    shown = MAX_SHOWN if output_options.is_interactive else None
    sheet = make_selection_sheet(selection, shown=shown, duplicates=duplicates, again=again)
    output_options.write(sheet, messages)
    messages.note(f"{selection.rule} on {selection.score}: {selection.reason}")
    if again is not None:
        messages.note(again.sentence)


def _measure_stability(folds: Folds, source: Any, selection: Selection, aggregate: str | None) -> ListStability:
    from termsieve.evaluate.list_stability import stability
    from termsieve.selection.stability import find_places

    among = find_places(source, folds.total)
    return stability(folds, selection.score, max(len(selection), 1), aggregate=aggregate, among=among)


def choose_rule(k: str | None, rule: str | None) -> Rule:
    """Return the rule that -k or --rule asks for."""
    from termsieve.selection.rules import parse_rule

    if k is not None and rule is not None:
        raise typer.BadParameter("give -k or --rule, not both: a rule determines the number of terms.")
    if rule is not None:
        return parse_rule(rule)
    if k is not None and k != "all" and not (k.isdecimal() and int(k)):
        raise typer.BadParameter(f'{k!r} is not a number of terms: 1 or more, or "all".', param_hint="-k")
    return parse_rule(DEFAULT_K if k is None else 'top("all")' if k == "all" else int(k))

"""``keywords``: the words of a text that a reference corpus has less often."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from termsieve.cli.app import app
from termsieve.cli.completion import complete_scores
from termsieve.cli.inputs import AnalyzerOptions, ColumnOptions, FilesOrCounts, PruningOptions, Threads
from termsieve.cli.messages import Messages
from termsieve.cli.option_groups import expand_groups, flag, format_examples, option
from termsieve.cli.output import OutputOptions, Sheet
from termsieve.errors import OptionError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from termsieve.counts.counts import Counts
    from termsieve.periods.reference import Keyword
    from termsieve.scores import Score
    from termsieve.tokens.analyzer import Analyzer

SCORE, SHOWN = "lrc", 20
_WORDS = (("word", "term", "token", "lemma", "type"),)
_FREQUENCIES = (("frequency", "freq", "count", "tf", "occurrences", "n"),)


@app.command(
    epilog=format_examples(
        "termsieve keywords speeches.csv --reference bnc.csv",
        "termsieve keywords speeches.counts --reference newspapers.counts --score log_ratio",
        "termsieve keywords speeches.csv --reference bnc.csv --against -o missing.csv",
    )
)
@expand_groups
def keywords(
    files: FilesOrCounts,
    *,
    reference: Annotated[
        str,
        option(
            "--reference",
            metavar="FILE",
            help="What is compared with: a list with a column of words (word, term, ...) and one of frequencies "
            "(frequency, count, ...), as CSV, TSV, JSON Lines or Parquet; or a .counts file.",
        ),
    ],
    score: Annotated[
        str,
        option(
            "--score", "-s", metavar="SCORE", autocompletion=complete_scores,
            help=f"Score of relative frequencies: lrc, log_ratio, log_likelihood, simple_maths, ... (default {SCORE}).",
        ),
    ] = SCORE,
    top: Annotated[int, option("--top", "-n", metavar="N", min=1, help=f"Number of words (default {SHOWN}).")] = SHOWN,
    against: Annotated[bool, flag("--against", help="Show the words that the reference has more often.")] = False,
    columns: ColumnOptions,
    analysis: AnalyzerOptions,
    pruning: PruningOptions,
    output_options: OutputOptions,
    threads: Threads = None,
    messages: Messages,
) -> None:  # fmt: skip
    """Show the words that a text has more often than a reference corpus. Words that it lacks count 0 times."""
    from termsieve.cli.reading import find_counts, read_counts
    from termsieve.documents.sources import STDIN
    from termsieve.periods.reference import keywords as find_keywords
    from termsieve.periods.reference import refuse_score_of_documents
    from termsieve.ranking.ranking import as_score

    if STDIN in files and reference == STDIN:
        raise OptionError("- is standard input: it has the text or the reference, not both.")
    wanted = as_score(score)
    refuse_score_of_documents(wanted)
    found = find_counts(files, columns, analysis, labelled=False)
    output_options.check(inputs=[*found.files, reference, *analysis.files])
    mine = pruning.apply(read_counts(found, analysis, threads, messages, contrast=False))
    theirs = _read_reference(reference, mine.analyzer)
    with messages.report_time("scored"), messages.report_compiling():
        rows = find_keywords(mine, theirs, wanted, top, against=against)
    output_options.write(_make_sheet(rows, wanted), messages)


def _read_reference(path: str, analyzer: Analyzer | None) -> Counts:
    """Return the counts of the reference: a counts file, or a list of words."""
    from termsieve.counts.counts import Counts
    from termsieve.counts.frequencies import count_frequencies
    from termsieve.counts.storage import is_counts_file
    from termsieve.documents import read

    if is_counts_file(path):
        return Counts.load(path)
    words: list[str] = []
    times: list[str] = []
    table = read(path, label=None, strict=True)
    for batch in table.with_columns(*_choose_columns(path, table.column_names)).batches():
        words += batch.column("text").to_pylist()
        times += [one[0] for one in batch.column("labels").to_pylist()]
    return count_frequencies(words, times, analyzer=analyzer)


def _choose_columns(path: str, names: list[str]) -> tuple[str, str]:
    from termsieve.documents.columns import guess_column

    chosen = guess_column(names, _WORDS), guess_column(names, _FREQUENCIES)
    if not all(isinstance(one, str) for one in chosen):
        raise OptionError(
            f"{path}: a list has one column with words ({', '.join(_WORDS[0])}) and one with frequencies "
            f"({', '.join(_FREQUENCIES[0])}); its columns are {', '.join(map(repr, names)) or 'not named'}."
        )
    return chosen  # type: ignore[return-value]


def _make_sheet(rows: list[Keyword], wanted: Score) -> Sheet:
    from termsieve.periods.reference import Keyword

    def view() -> RenderableType:
        from termsieve.cli.screen import format_number, make_bare_table, make_cell

        table = make_bare_table()
        table.add_column("", justify="right", style="dim")
        table.add_column("word", no_wrap=True, max_width=32)
        for name in (wanted.spelling, "low", "high", "times", "a million", "reference", "a million", "D"):
            table.add_column(name, justify="right", no_wrap=True)
        for row in rows:
            numbers = (format_number(x) for x in (row.score, row.low, row.high))
            here, there = (f"{n:,}" for n in (row.occurrences, row.reference_occurrences))
            rates = (f"{x:,.1f}" for x in (row.per_million, row.reference_per_million))
            table.add_row(
                str(row.rank), make_cell(row.term, "bold"), *numbers, here, next(rates), there, next(rates),
                f"{row.dispersion:.2f}",
            )  # fmt: skip
        return table

    return Sheet(Keyword._fields, rows, view)

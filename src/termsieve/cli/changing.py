"""``changes``, ``sources`` and ``forget``: what changed, what depends on one source, what is withdrawn."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from termsieve.cli.app import app
from termsieve.cli.inputs import (
    LEVEL_HELP,
    AnalyzerOptions,
    ColumnOptions,
    Files,
    FilesOrCounts,
    PruningOptions,
    ScoreName,
    Threads,
)
from termsieve.cli.messages import Messages
from termsieve.cli.option_groups import expand_groups, flag, format_examples, option
from termsieve.cli.output import OutputOptions
from termsieve.defaults import DEFAULT_LEVEL, DEFAULT_SCORE
from termsieve.errors import OptionError

if TYPE_CHECKING:
    import io
    from collections.abc import Mapping, Sequence

    from termsieve.cli.reading import CountsInput
    from termsieve.counts.counts import Counts
    from termsieve.documents.remote import AnyPath

SHOWN = 10  # terms that rose, and that fell
ByColumn = Annotated[
    str | None,
    option(
        "--by",
        metavar="COLUMN",
        help="Column with the period (month, year) or source: each value is counted once (default: each file).",
    ),
]
EveryPeriod = Annotated[
    str | None,
    option(
        "--every",
        metavar="PERIOD",
        help="Where --by names a column of dates: year, quarter, month, week or day (default: each value).",
    ),
]


@app.command(
    epilog=format_examples(
        "termsieve changes january.counts february.counts",
        "termsieve changes 2023.counts 2024.counts 2025.counts --top 30",
        "termsieve changes mail.csv --by month -o changes.html",
        "termsieve changes mail.csv --by date --every week --per-class",
        "termsieve changes before.counts after.counts --class spam --order ratio",
    )
)
@expand_groups
def changes(
    files: FilesOrCounts,
    *,
    by: ByColumn = None,
    every: EveryPeriod = None,
    only: Annotated[
        list[str] | None,
        option("--class", metavar="CLASS", help="Show changes inside this class; may be given several times."),
    ] = None,
    per_class: Annotated[
        bool,
        flag("--per-class", help="Show changes of all documents, then those inside each class that all periods have."),
    ] = False,
    top: Annotated[
        int,
        option(
            "--top",
            "-n",
            metavar="N",
            min=1,
            help=f"Number of terms that rose, and of terms that fell (default {SHOWN}).",
        ),
    ] = SHOWN,
    order: Annotated[
        str,
        option(
            "--order",
            metavar="HOW",
            help="Order by z (how sure a change is), or by the difference or ratio of the shares: the least that its "
            "interval contains (default z).",
        ),
    ] = "z",
    max_q: Annotated[
        float, option("--max-q", metavar="Q", min=0, max=1, help="Leave out terms with a larger q-value (default 1.0).")
    ] = 1.0,
    level: Annotated[float, option("--level", metavar="P", help=LEVEL_HELP)] = DEFAULT_LEVEL,
    columns: ColumnOptions,
    analysis: AnalyzerOptions,
    pruning: PruningOptions,
    output_options: OutputOptions,
    threads: Threads = None,
    messages: Messages,
) -> None:
    """Show which terms rose and fell from one period to the next, how sure, and what is only another mix of classes."""
    from termsieve.cli.change_views import make_changes_sheet
    from termsieve.periods import Trends
    from termsieve.periods import changes as find_changes
    from termsieve.periods.differences import ORDERS

    if order not in ORDERS:
        raise OptionError(f"--order must be one of {', '.join(ORDERS)}, not {order!r}.")
    if only and per_class:
        raise OptionError("Give --class or --per-class, not both: the one shows some classes, the other all of them.")
    periods = _read_periods(files, by, every, columns, analysis, threads, messages, output_options)
    with messages.report_time("compared"), messages.report_compiling():
        found = find_changes({name: pruning.apply(one) for name, one in periods.items()}, level=level)
        if isinstance(found, Trends) and order != ORDERS[0]:
            raise OptionError(f"--order {order} is for two periods; trends of {len(periods)} periods have one order.")
        whole = [] if only else [found]
        shown = [*whole, *(found.of_class(label) for label in only or (found.classes if per_class else ()))]
        sheet = make_changes_sheet(shown, top=top, order=order, max_q=max_q)
    output_options.write(sheet, messages)


@app.command(
    epilog=format_examples(
        "termsieve sources reviews.csv --by site", "termsieve sources mail.parquet --by sender -k 50 --score info_gain"
    )
)
@expand_groups
def sources(
    files: Files,
    *,
    by: Annotated[str, option("--by", metavar="COLUMN", help="Column with the source of each document.")],
    score: ScoreName = DEFAULT_SCORE,
    k: Annotated[int, option("-k", metavar="N", min=1, help="Number of best terms (default 100).")] = 100,
    columns: ColumnOptions,
    analysis: AnalyzerOptions,
    output_options: OutputOptions,
    threads: Threads = None,
    messages: Messages,
) -> None:
    """Show which of the best terms depend on one source: each source is left out, and the terms are ranked again."""
    from termsieve.cli.change_views import make_sources_sheet
    from termsieve.cli.reading import find_labelled, read_folds
    from termsieve.periods import depend_on_source

    documents = find_labelled(files, columns)
    output_options.check(inputs=[*documents.files, *analysis.files])
    found = depend_on_source(read_folds(documents, by, analysis, threads, messages), score, k)
    output_options.write(make_sources_sheet(found), messages)
    messages.note(found.headline)


@app.command(
    epilog=format_examples(
        "termsieve forget all.counts withdrawn.jsonl",
        "termsieve forget all.counts withdrawn.counts -o rest.counts --receipt receipt.jsonl",
    )
)
@expand_groups
def forget(
    counts_file: Annotated[Path, typer.Argument(metavar="COUNTS", help="File that [bold]termsieve count[/] wrote.")],
    files: FilesOrCounts,
    *,
    output: Annotated[
        Path | None,
        option("--output", "-o", metavar="FILE", help="File to write (default: the counts file itself is replaced)."),
    ] = None,
    receipt: Annotated[
        Path | None,
        option(
            "--receipt",
            metavar="FILE",
            help="File to which a line of JSON is added: what was removed, and the checksums before and after "
            "(default: the counts file with .receipts.jsonl).",
        ),
    ] = None,
    columns: ColumnOptions,
    threads: Threads = None,
    messages: Messages,
) -> None:
    """Remove documents from counts, exactly: what is left is what counting without them gives, byte for byte."""
    from termsieve.cli.reading import find_counts
    from termsieve.counts import storage
    from termsieve.counts.counts import Counts
    from termsieve.counts.forgetting import forget as forget_documents
    from termsieve.documents.sources import refuse_missing
    from termsieve.files import check_target

    refuse_missing(counts_file)
    whole = Counts.load(counts_file)
    found = find_counts(files, columns, AnalyzerOptions())
    target = check_target(output or counts_file, inputs=[*found.files, *([counts_file] if output else [])])
    receipts = check_target(receipt or Path(f"{target}.receipts.jsonl"), inputs=[*found.files, counts_file])
    manifest = _withdraw_files(counts_file, found)
    part = _count_withdrawn(found, whole, threads, messages)
    rest, removed = forget_documents(whole, part)
    line = {
        "time": datetime.now(UTC).isoformat(timespec="seconds"), "counts": str(counts_file), "written": str(target),
        "files": {str(path): _file_digest(path) for path in _find_paths(found) if path.is_file()}, **removed._asdict(),
    }  # fmt: skip
    _append_line(receipts, line)
    storage.save(target, rest.facts, [rest.block], manifest)
    messages.note(
        f"{removed.documents:,} documents removed, {rest.n_docs:,} are left; {removed.terms_gone:,} terms are gone. "
        f"written to {target}, receipt in {receipts}"
    )


def _withdraw_files(counts_file: Path, found: CountsInput) -> list[Mapping[str, Any]] | None:
    """Return the list of what was counted without the files that are withdrawn, if such a list is kept."""
    from termsieve.counts.counts_file import CountsFile
    from termsieve.counts.manifest import identify_files, read_manifest, remove_files, write_manifest

    with CountsFile(counts_file) as file:
        if file.files is None:
            return None
        known = read_manifest(file)
    if found.documents is None:
        raise OptionError(
            f"{counts_file}: keeps a list of the files that were counted. Give the withdrawn files themselves, not "
            "counts of them, so that the list stays true."
        )
    return write_manifest(remove_files(known, identify_files(found.documents.paths)))


def _count_withdrawn(found: CountsInput, whole: Counts, threads: int | None, messages: Messages) -> Counts:
    """Return counts in files, or count documents with the analyzer of other counts."""
    from termsieve.cli.reading import report_reading, sum_counts
    from termsieve.counts.counting import count

    if found.documents is None:
        return sum_counts(found.paths, messages)
    analyzer = whole.analyzer
    if analyzer is None:
        raise OptionError("The counts are of a matrix or a table: give the withdrawn documents as counts, too.")
    with report_reading(found.documents, messages, "counted"):
        return count(found.documents, analyzer=analyzer, threads=threads, progress=messages.progress)


def _read_periods(
    files: Sequence[str], by: str | None, every: str | None, columns: ColumnOptions, analysis: AnalyzerOptions,
    threads: int | None, messages: Messages, output_options: OutputOptions,
) -> dict[str, Counts]:  # fmt: skip
    """Return the counts of each period: of each file, or of each value of a column."""
    from termsieve.cli.reading import find_counts, find_labelled, read_counts, read_folds
    from termsieve.documents.sources import STDIN, FoundFiles, expand_patterns

    paths = expand_patterns(files)
    if by is not None:
        documents = find_labelled(paths, columns)
        output_options.check(page=True, inputs=[*documents.files, *analysis.files])
        folds = read_folds(documents, by, analysis, threads, messages, every)
        return {str(name): folds.test(i) for i, name in enumerate(folds.names)}
    if every is not None:
        raise OptionError(f"--every {every} needs the column with the dates: --by date.")
    if len(paths) < 2:
        raise OptionError(
            f"{paths[0] if paths else 'Nothing'}: is one period. Give a file for each period, or the column that has "
            "it: --by month."
        )
    if paths.count(STDIN) > 1:
        raise OptionError("- is standard input, and is one period: it cannot be given twice.")
    found = {path: find_counts(FoundFiles([path]), columns, analysis) for path in paths}
    output_options.check(page=True, inputs=[file for one in found.values() for file in one.files] + analysis.files)
    names = _distinct_names(paths)
    return {
        name: read_counts(found[path], analysis, threads, messages, contrast=False)
        for name, path in zip(names, paths, strict=True)
    }


def _distinct_names(paths: Sequence[str]) -> list[str]:
    """Return the names of files without folder and extension, where that tells them apart.

    >>> _distinct_names(["a/may.counts", "a/june.counts"]), _distinct_names(["a/x.csv", "b/x.csv"])
    (['may', 'june'], ['a/x.csv', 'b/x.csv'])
    """
    names = [Path(path).name.partition(".")[0] for path in paths]
    return names if len(set(names)) == len(names) and all(names) else list(paths)


def _find_paths(found: CountsInput) -> Sequence[AnyPath]:
    return [Path(path) for path in found.paths] if found.documents is None else found.documents.paths


def _file_digest(path: AnyPath) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(cast("io.BufferedReader", file), "sha256").hexdigest()


def _append_line(path: Path, line: dict[str, object]) -> None:
    """Add a line to a file, or make it; written completely or not at all."""
    from termsieve.files import write_atomically

    before = path.read_bytes() if path.is_file() else b""
    write_atomically(path, [before, json.dumps(line, ensure_ascii=False).encode() + b"\n"])

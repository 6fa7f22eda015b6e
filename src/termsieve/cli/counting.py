"""``count`` and ``merge``: documents to files of counts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, cast

import typer

from termsieve.cli.app import app
from termsieve.cli.inputs import AnalyzerOptions, ColumnOptions, Files, Output, Threads, option_name
from termsieve.cli.messages import Messages, escape_controls
from termsieve.cli.option_groups import expand_groups, flag, format_examples, option
from termsieve.errors import OptionError

if TYPE_CHECKING:
    from termsieve.counts.counts import Counts
    from termsieve.counts.counts_file import CountsFile
    from termsieve.documents import Documents


@app.command(
    epilog=format_examples(
        "termsieve count mail.csv --text body --label folder -o mail.counts",
        "zcat monday.jsonl.gz | termsieve count - -o monday.counts",
        "termsieve count 'logs/**/*.parquet' -o logs.counts --memory 2GB --resume",
        "termsieve count 'logs/**/*.parquet' --update logs.counts    # only files that are new",
        "termsieve count hdfs:///mail/2024 --engine spark --master spark://host:7077 -o mail.counts",
        "termsieve rank mail.counts --score chi2",
    )
)
@expand_groups
def count(
    files: Files,
    *,
    output: Annotated[Path | None, option("--output", "-o", metavar="FILE", help="File to write.")] = None,
    update: Annotated[
        Path | None,
        option(
            "--update", metavar="COUNTS",
            help="Count only files whose content is new, and add them to this counts file, which lists what was "
            "counted before. It is created if it is missing. Use this instead of -o.",
        ),
    ] = None,
    memory: Annotated[
        str | None,
        option(
            "--memory", metavar="SIZE",
            help="Memory that counting may take, such as 2GB; what does not fit goes to files beside the output, and "
            "the result is the same (default: as much as it needs).",
        ),
    ] = None,
    spill_folder: Annotated[
        Path | None, option("--spill-folder", metavar="FOLDER", help="With --memory: folder for what does not fit.")
    ] = None,
    resume: Annotated[
        bool,
        flag(
            "--resume",
            help="With --memory: save what was counted once a minute, and continue from there after an "
            "interruption.",
        ),
    ] = False,
    engine: Annotated[
        str | None,
        option(
            "--engine", metavar="NAME",
            help="Engine that reads and counts the files: spark (needs the extra spark), from any storage that it can "
            "read (default: this process).",
        ),
    ] = None,
    master: Annotated[
        str | None,
        option(
            "--master", metavar="URL",
            help="With --engine spark: its master, such as spark://host:7077, or sc://host for Spark Connect (default "
            "local[*], this machine).",
        ),
    ] = None,
    columns: ColumnOptions,
    analysis: AnalyzerOptions,
    threads: Threads = None,
    messages: Messages,
) -> None:  # fmt: skip
    """Count the terms of labelled documents into one small file, from which all scores follow."""
    from termsieve.cli.reading import find_counts, read_counts
    from termsieve.documents.sources import STDIN
    from termsieve.files import check_target

    target = _choose_target(output, update)
    if memory is None and (resume or spill_folder):
        raise typer.BadParameter("--resume and --spill-folder go with --memory, such as --memory 2GB.")
    if engine is not None or master is not None:
        _refuse_beside_engine(engine, update=update, memory=memory, threads=threads, columns=columns)
        check_target(target)
        if STDIN in files:
            raise OptionError("--engine spark reads files; - is standard input. Write it to a file first.")
        _save_counts(_count_with_spark(files, master or "local[*]", columns, analysis), target, messages)
        return
    how = _HowToCount(analysis, threads, memory, spill_folder, resume)
    if update is not None:
        _update_counts(target, files, columns, how, messages)
        return
    found = find_counts(files, columns, analysis)
    check_target(target, inputs=[*found.files, *analysis.files])
    if memory is None or found.documents is None:
        _save_counts(read_counts(found, analysis, threads, messages, contrast=False), target, messages)
    else:
        _count_within(memory, found.documents, target, how, messages)
        _describe_file(target, messages)


_ENGINE_OPTIONS = {"text", "label", "label_sep", "strict", "sep"}  # those of columns that are passed on to Spark


def _refuse_beside_engine(engine: str | None, *, columns: ColumnOptions, **others: object) -> None:
    """Refuse options that the engine is not told of: it would do something else than was asked for."""
    if engine != "spark":
        raise typer.BadParameter(f"--engine must be spark, not {engine!r}." if engine else "--master needs --engine.")
    unused = [name for name, value in others.items() if value is not None]
    unused += [name for name in columns.changed_fields() if name not in _ENGINE_OPTIONS]
    if unused:
        raise typer.BadParameter(f"{option_name(unused[0])} does not go with --engine spark.")


def _count_with_spark(files: list[str], master: str, columns: ColumnOptions, analysis: AnalyzerOptions) -> Counts:
    from termsieve.documents import AUTO
    from termsieve.spark import count as count_frame
    from termsieve.spark.sessions import open_session, read_files, refuse_inexact_labels

    with open_session(master) as session:
        frame = read_files(session, files, columns.sep)
        refuse_inexact_labels(frame, columns.label, files)
        counts: Any = count_frame(
            frame, text=columns.text, label=columns.label or AUTO, label_sep=columns.label_sep, strict=columns.strict,
            analyzer=analysis.make_analyzer(),
        )  # fmt: skip
    return cast("Counts", counts)


class _HowToCount(NamedTuple):
    analysis: AnalyzerOptions
    threads: int | None
    memory: str | None
    spill_folder: Path | None
    resume: bool


def _choose_target(output: Path | None, update: Path | None) -> Path:
    target = output or update
    if target is None or (output and update):
        raise typer.BadParameter("give the file to write, -o FILE, or the counts to add to, --update COUNTS.")
    return target


def _count_within(memory: str, documents: Documents, target: Path, how: _HowToCount, messages: Messages) -> None:
    """Count documents into a file, within the memory that is given."""
    from termsieve.cli.reading import report_reading
    from termsieve.counts.spilling import count_to_file

    with report_reading(documents, messages, "counted"):
        count_to_file(
            documents, target, memory=memory, analyzer=how.analysis.make_analyzer(), threads=how.threads,
            spill_folder=how.spill_folder, resume=how.resume, progress=messages.progress,
        ).close()  # fmt: skip


def _update_counts(
    target: Path, files: list[str], columns: ColumnOptions, how: _HowToCount, messages: Messages
) -> None:
    """Add the files that are not in the list of what was counted."""
    from termsieve.cli.reading import find_labelled, report_reading
    from termsieve.counts.updating import add_new_files, find_new_files
    from termsieve.files import check_target

    documents = find_labelled(files, columns)
    check_target(target, inputs=[*documents.files, *how.analysis.files])
    found = find_new_files(documents, target)
    if found.n_counted:
        messages.note(f"{found.n_counted:,} of {found.n_counted + len(found.new):,} files are counted already")
    if not found.new:
        return
    with report_reading(found.documents, messages, "counted"):
        add_new_files(
            found, target, analyzer=how.analysis.make_analyzer(), threads=how.threads, memory=how.memory,
            spill_folder=how.spill_folder, resume=how.resume, progress=messages.progress,
        )  # fmt: skip
    messages.note(f"{len(found.new):,} files added")
    _describe_file(target, messages)


def _describe_file(path: Path, messages: Messages) -> None:
    """Print what is in a counts file."""
    from termsieve.counts.counts_file import CountsFile

    with CountsFile(path) as file:
        _print_counts(file.read() if file.n_blocks < 2 else file, path, messages)


@app.command(
    epilog=format_examples(
        "termsieve merge monday.counts tuesday.counts -o week.counts",
        "termsieve merge parts/*.counts -o all.counts",
    )
)
@expand_groups
def merge(
    files: Annotated[list[str], typer.Argument(metavar="COUNTS...", help="Files that [bold]termsieve count[/] wrote.")],
    *,
    output: Output,
    messages: Messages,
) -> None:
    """Add up counts of several parts: the result is that of counting all documents at once."""
    from termsieve.cli.reading import check_summands
    from termsieve.counts.merging import save_sum
    from termsieve.documents.sources import expand_patterns
    from termsieve.files import check_target
    from termsieve.threads import count_cores

    paths = expand_patterns(files)
    check_target(output, inputs=paths)
    check_summands(paths, messages)
    save_sum(paths, output, count_cores())
    _describe_file(output, messages)


def _save_counts(counts: Counts, output: Path, messages: Messages) -> None:
    counts.save(output)
    _print_counts(counts, output, messages)


def _print_counts(counts: Counts | CountsFile, output: Path, messages: Messages) -> None:
    if not messages.quiet:
        typer.echo(escape_controls(repr(counts), keep="\n"))
    messages.note(f"written to {output}")

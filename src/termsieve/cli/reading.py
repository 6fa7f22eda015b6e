"""From what a user names to documents and counts."""

from __future__ import annotations

import functools
import glob
import hashlib
import io
import operator
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import typer

from termsieve.cli.inputs import AnalyzerOptions, ColumnOptions, OptionGroup, option_name
from termsieve.cli.messages import Messages, in_options
from termsieve.counts.counts import Counts
from termsieve.counts.storage import MAGIC, TRAILER_BYTES
from termsieve.documents import Documents
from termsieve.documents.columns import (
    LABEL_NAMES,
    choose_column,
    guess_column,
    has_columns,
    parse_json_columns,
    read_column_names,
)
from termsieve.documents.options import make_options
from termsieve.documents.sources import OpenFileSource, find_sources, refuse_same, refuse_same_files
from termsieve.documents.streams import convert_read_errors
from termsieve.documents.text_files import LabelledSource, TextFile, name_classes
from termsieve.errors import InputError, OptionError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from termsieve.documents.chunks import Source

STDIN = "-"


@dataclass(frozen=True)
class ResolvedFiles:
    """What the files of a command turn out to be."""

    paths: list[str]
    text: tuple[str, ...] = ("text",)
    label: str | None = "label"
    plain: bool = False
    stdin: PeekableStdin | None = None


class PeekableStdin:
    """Standard input, of which the first lines can be looked at before it is read."""

    name = "standard input"

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._start = file, io.BytesIO()

    def peek_lines(self) -> bytes:
        """The first whole line, and what came with it."""
        pieces = [self._start.read()]
        while b"\n" not in pieces[-1] and (more := _read_available(self._file)):
            pieces.append(more)
        start = b"".join(pieces)
        self._start = io.BytesIO(start)
        return start

    def read(self, size: int = -1) -> bytes:
        """Read on, from the very beginning."""
        return self._start.read(size) or self._file.read(size)

    def tell(self) -> int:
        """Nobody knows how far a pipe is read."""
        raise OSError


def _read_available(file: BinaryIO) -> bytes:
    """What is there already, up to some kilobytes; where nothing is, wait."""
    read1 = getattr(file, "read1", None)
    return bytes(read1(1 << 16) if read1 else file.read(1 << 16))


def open_stdin() -> PeekableStdin:
    """Standard input as bytes."""
    if sys.stdin is None or sys.stdin.closed:
        raise InputError("Standard input is closed.")
    return PeekableStdin(sys.stdin.buffer)


# What the files are


def is_counts_file(path: str) -> bool:
    """Whether a file has counts: by its ending, or its last bytes."""
    file = Path(path)
    if file.suffix == ".counts":
        return True
    if not file.is_file() or file.stat().st_size <= TRAILER_BYTES:
        return False
    try:
        with file.open("rb") as content:
            content.seek(-TRAILER_BYTES, 2)
            return content.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def expand_patterns(files: Sequence[str]) -> list[str]:
    """Patterns that the shell has left as they are, as the files they stand for."""
    paths: list[str] = []
    for file in files:
        if glob.has_magic(file) and not Path(file).exists():
            matches = sorted(glob.glob(file, recursive=True))  # noqa: PTH207 (Path.glob takes no absolute pattern)
            if not matches:
                raise InputError(f"No file matches the pattern {file!r}.")
            paths += matches
        else:
            paths.append(file)
    return paths


def list_inputs(files: Sequence[str], wording: AnalyzerOptions | None = None) -> list[str]:
    """The files that a command reads, none of which it may write to."""
    words = [wording.stop_words] if wording is not None and wording.stop_words else []
    return [path for path in (*expand_patterns(files), *words) if path != STDIN]


def resolve_files(
    files: Sequence[str], columns: ColumnOptions, talk: Messages, *, labelled: bool = True, usual: Sequence[str] = ()
) -> ResolvedFiles:
    """Look at the files, and which of their columns hold what.

    Columns with the `usual` names hold the text, where they are there. Without `labelled`, labels are read only where
    they are asked for.
    """
    make_options("text", None, None, None, columns.encoding, "error")
    look = ColumnChooser(columns, talk, labelled, tuple(usual))
    paths = expand_patterns(files)
    if STDIN in paths:
        if len(paths) > 1:
            raise typer.BadParameter("- is standard input, and cannot be read together with other files.")
        ahead = open_stdin()
        return look.at(ResolvedFiles(paths, stdin=ahead), parse_json_columns(ahead.peek_lines()))
    for path in paths:
        _refuse_missing(Path(path))
    if any(map(is_counts_file, paths)):
        raise InputError(f"{paths[0]}: has counts, and this command needs the documents themselves.")
    with_columns = [path for path in paths if Path(path).is_dir() or has_columns(Path(path))]
    if not with_columns:
        return _resolve_text_files(paths, columns, talk, labelled=labelled)
    _refuse_mixed(paths, with_columns)
    first = next((path for path in paths if not Path(path).is_dir()), None)
    if first is None:
        return ResolvedFiles(paths, label=None if not labelled else "label")
    return look.at(ResolvedFiles(paths), read_column_names(Path(first), columns.encoding, quotes=not columns.no_quotes))


def _refuse_missing(path: Path) -> None:
    try:
        there = path.exists()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}.") from error
    if not there:
        nearby = [other.name for other in path.parent.iterdir()] if path.parent.is_dir() else []
        raise InputError(f"There is no file {path}. {did_you_mean(path.name, nearby)}".rstrip())


def _refuse_mixed(paths: list[str], with_columns: list[str]) -> None:
    text = next((path for path in paths if path not in with_columns), None)
    if text is not None:
        other = with_columns[0]
        what = "is a folder" if Path(other).is_dir() else "has columns"
        raise InputError(
            f"{text}: its ending does not tell of columns, so it is a text file; {other} {what}. The two kinds cannot "
            "be read together. Known are .csv, .tsv, .jsonl, .parquet, .arrow."
        )


def _resolve_text_files(paths: list[str], columns: ColumnOptions, talk: Messages, *, labelled: bool) -> ResolvedFiles:
    given = [name for name in columns.changed_fields() if name in ("text", "label", "label_sep", "split", "no_quotes")]
    if given:
        raise OptionError(
            f"{paths[0]}: is a text file, and has no columns: {option_name(given[0])} says nothing. Those that "
            "have are known by their ending: .csv, .tsv, .jsonl, .parquet, .arrow."
        )
    if labelled and len(paths) < 2:
        raise InputError(
            f"{paths[0]}: is a text file without labels. Name another to compare it with, or a file with columns "
            "(.csv, .tsv, .jsonl, .parquet, .arrow), or a folder of class folders."
        )
    talk.note("each line is a document" + (", each file a class" if labelled else ""))
    return ResolvedFiles(paths, label=None, plain=True)


@dataclass(frozen=True)
class ColumnChooser:
    """How columns are chosen, from what a user says and from their names."""

    columns: ColumnOptions
    talk: Messages
    labelled: bool
    preferred_text: tuple[str, ...]

    def at(self, found: ResolvedFiles, names: list[str]) -> ResolvedFiles:
        """What is found, with the columns that hold text and labels."""
        files = [path for path in found.paths if path == STDIN or not Path(path).is_dir()]
        source = "standard input" if found.stdin else files[0]
        if not names:  # nothing that could be read: whoever reads on says what is wrong, and in which line
            label = self.columns.label or ("label" if self.labelled else None)
            return replace(found, text=tuple(self.columns.text or ["text"]), label=label)
        text = self._text(source, names)
        label = self._choose_label(source, names, len(found.paths))
        said = [] if self.columns.text else [f"text from the column {' and '.join(map(repr, text))}"]
        if self.labelled and not self.columns.label:
            said.append("each file is a class" if label is None else f"labels from {label!r}")
        if said:
            self.talk.note(", ".join(said))
        return replace(found, text=text, label=label)

    def _text(self, source: str, names: list[str]) -> tuple[str, ...]:
        if self.columns.text:
            return tuple(self.columns.text)
        if self.preferred_text and set(self.preferred_text) <= set(names):
            return self.preferred_text
        return (choose_column(source, names, "--text"),)

    def _choose_label(self, source: str, names: list[str], n_files: int) -> str | None:
        """The column with the label; None where files are classes, or labels are not wanted."""
        if self.columns.label or not self.labelled:
            return self.columns.label
        if self.columns.by_file or (n_files > 1 and guess_column(names, LABEL_NAMES) is None):
            return None
        return choose_column(source, names, "--label")


# Documents and counts


def open_documents(found: ResolvedFiles, columns: ColumnOptions, *, labelled: bool = True) -> Documents:
    """The documents of the files."""
    by_file = labelled and (columns.by_file or found.label is None or found.plain)
    if by_file and len(found.paths) < 2:
        raise InputError("--by-file compares files with each other: name two or more.")
    options = make_options(
        found.text,
        found.label if labelled or found.label else None,
        columns.label_sep,
        columns.split_pair,
        columns.encoding,
        "skip" if columns.skip_bad else "error",
        quotes=not columns.no_quotes,
    )
    return Documents(_make_sources(found, by_file=by_file), options)


def _make_sources(found: ResolvedFiles, *, by_file: bool) -> list[Source]:
    if found.stdin is not None:
        stdin: Any = found.stdin
        return [OpenFileSource(stdin)]
    listed: list[list[Source]] = [[TextFile(Path(path))] if found.plain else find_sources(path) for path in found.paths]
    refuse_same([one for some in listed for one in some])
    if by_file:
        names = name_classes(found.paths)
        listed = [[LabelledSource(one, name) for one in some] for some, name in zip(listed, names, strict=True)]
    return [one for some in listed for one in some]


def read_documents(files: Sequence[str], columns: ColumnOptions, talk: Messages) -> Documents:
    """The labelled documents that a user names."""
    return open_documents(resolve_files(files, columns, talk), columns)


def report_skipped(documents: Documents, talk: Messages) -> None:
    """Say which rows were skipped and why the first, and what else the files have that is odd."""
    if documents.skipped:
        talk.note(documents.skipped_note)
    for note in documents.notes:
        talk.note_once(in_options(f"note: {note}"))


def read_counts(
    files: Sequence[str],
    columns: ColumnOptions,
    wording: AnalyzerOptions,
    threads: int | None,
    talk: Messages,
    *,
    contrast: bool = True,
) -> Counts:
    """The counts that a user names, or the counts of the documents that a user names.

    With `contrast`, there must be something to tell apart.
    """
    if any(is_counts_file(path) for path in files if path != STDIN):
        counts = _load_counts(expand_patterns(files), [columns, wording], talk)
    else:
        counts = count_terms(read_documents(files, columns, talk), wording, threads, talk)
    if contrast:
        _refuse_single_class(counts)
    return counts


def _load_counts(paths: list[str], groups: list[OptionGroup], talk: Messages) -> Counts:
    given = [name for group in groups for name in group.changed_fields()]
    if given:
        raise OptionError(
            f"{option_name(given[0])} is for documents; {paths[0]} has counts, whose terms and classes are "
            "settled. Count the documents again with it."
        )
    for path in paths:
        if not is_counts_file(path):
            there = next(other for other in paths if is_counts_file(other))
            raise InputError(f"{path}: is no file of counts, as {there} is. Count it first: termsieve count.")
    return sum_counts(paths, talk)


def sum_counts(paths: Sequence[str | Path], talk: Messages) -> Counts:
    """The sum of counts in files, none of which may be there twice; copies are told of."""
    for path in paths:
        _refuse_missing(Path(path))
    refuse_same_files(map(Path, paths))
    counts = functools.reduce(operator.add, map(Counts.load, paths))
    if len(paths) > 1:
        _note_copies(paths, talk)
    return counts


def _note_copies(paths: Sequence[str | Path], talk: Messages) -> None:
    first: dict[bytes, str | Path] = {}
    for path in paths:
        with convert_read_errors(str(path)), Path(path).open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").digest()
        if (other := first.setdefault(digest, path)) != path:
            talk.note(f"note: {path} has the same content as {other}: if it is a copy, documents count twice")


def count_terms(documents: Documents, wording: AnalyzerOptions, threads: int | None, talk: Messages) -> Counts:
    """Count documents."""
    from termsieve.counts.counting import count

    with talk.report_time("counted"), talk.report_compiling():
        counts = count(documents, analyzer=wording.make_analyzer(), threads=threads, progress=talk.progress)
    report_skipped(documents, talk)
    return counts


def _refuse_single_class(counts: Counts) -> None:
    if not counts.n_terms:
        raise InputError(f"The {counts.n_docs:,} documents have no terms: the text column may be the wrong one.")
    if counts.n_classes < 2 and bool((counts.class_sizes == counts.n_docs).all()):
        found = ", ".join(map(repr, counts.classes)) or "none"
        raise InputError(
            f"There must be at least two classes to tell apart; the {counts.n_docs:,} documents have {found}. "
            "The label column may be the wrong one."
        )

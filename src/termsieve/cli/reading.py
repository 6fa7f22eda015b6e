"""From what a user names to documents and counts."""

from __future__ import annotations

import functools
import operator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from termsieve.cli.inputs import AnalyzerOptions, ColumnOptions, OptionGroup, option_name
from termsieve.cli.messages import Messages, use_option_names
from termsieve.counts.counts import Counts
from termsieve.counts.counts_file import CountsFile
from termsieve.counts.storage import is_counts_file
from termsieve.documents import AUTO, Documents
from termsieve.documents.label_spelling import find_similar_labels
from termsieve.documents.reading import find_documents
from termsieve.documents.remote import hide_secrets, is_uri
from termsieve.documents.sources import FoundFiles, expand_patterns, refuse_missing, refuse_same_files
from termsieve.errors import InputError, OptionError, describe_single_class

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from termsieve.counts.date_periods import Every
    from termsieve.counts.folds import Folds
    from termsieve.counts.labelled import LabelledMatrix
    from termsieve.documents import Detect


@dataclass(frozen=True)
class CountsInput:
    """What the files of a command are: files of counts, by their paths, or documents."""

    paths: list[str]
    documents: Documents | None

    @property
    def files(self) -> list[str]:
        """The files that are read, none of which may be written to."""
        return self.paths if self.documents is None else self.documents.files


def find_counts(
    files: Sequence[str], columns: ColumnOptions, analysis: AnalyzerOptions, *, labelled: bool = True
) -> CountsInput:
    """Find files of counts, or documents to be counted; only the names of files are looked at."""
    paths = _expand_names(files)
    if any(map(is_counts_file, paths)):
        _check_counts_files(paths, [columns, analysis])
        return CountsInput(paths, None)
    return CountsInput(paths, find_labelled(paths, columns) if labelled else find_unlabelled(paths, columns))


def _expand_names(files: Sequence[str]) -> FoundFiles:
    """Return the files that names and patterns stand for; counts in an object store are refused."""
    paths = expand_patterns(files)
    for path in paths:
        if is_uri(path) and (shown := hide_secrets(path)).endswith(".counts"):
            raise InputError(f"{shown}: counts are read from files of this machine. Copy it here first.")
    return paths


def find_labelled(files: Sequence[str], columns: ColumnOptions) -> Documents:
    """Find the labelled documents that a user names."""
    return _find_documents(files, columns, columns.label or AUTO, by_file=columns.by_file)


def find_unlabelled(files: Sequence[str], columns: ColumnOptions, preferred_text: Sequence[str] = ()) -> Documents:
    """Find documents whose labels are read only where they are asked for."""
    return _find_documents(files, columns, columns.label, by_file=False, preferred_text=preferred_text)


def _find_documents(
    files: Sequence[str], columns: ColumnOptions, label: str | Detect | None, *, by_file: bool,
    preferred_text: Sequence[str] = (),
) -> Documents:  # fmt: skip
    paths = expand_patterns(files)
    if any(map(is_counts_file, paths)):
        raise InputError(f"{paths[0]}: has counts, and this command needs the documents themselves.")
    return find_documents(
        paths, text=columns.text, label=label, label_sep=columns.label_sep, by_file=by_file, split=columns.split_pair,
        encoding=columns.encoding, encoding_errors=columns.encoding_errors, strict=columns.strict, sep=columns.sep,
        sheet=columns.sheet, quotes=not columns.no_quotes, preferred_text=preferred_text,
    )  # fmt: skip


def report_columns(documents: Documents, messages: Messages) -> None:
    """Say which columns were detected."""
    if note := documents.chosen_columns.note:
        messages.note(use_option_names(note))


def report_skipped(documents: Documents, messages: Messages) -> None:
    """Say which rows were skipped and why, and what else the files have that is odd, if it was not said before."""
    for note in documents.notes:
        messages.note_once(use_option_names(f"note: {note}"))


@contextmanager
def report_reading(documents: Documents, messages: Messages, done: str) -> Iterator[None]:
    """Say which columns were detected; afterwards how long it took until all was `done`, and what was skipped."""
    report_columns(documents, messages)
    with messages.report_time(done), messages.report_compiling():
        yield
    report_skipped(documents, messages)


def note_similar_classes(classes: Iterable[str], messages: Messages) -> None:
    """Note classes whose names differ in case or spaces only, which mostly are one class, misspelled."""
    for same in find_similar_labels(classes):
        named = ", ".join(map(repr, same))
        messages.note(f"note: {named} are different classes, as they are spelled: correct the labels if they are one")


def read_counts(
    found: CountsInput, analysis: AnalyzerOptions, threads: int | None, messages: Messages, *, contrast: bool = True
) -> Counts:
    """Read counts, or count documents. With `contrast`, there must be something to tell apart."""
    if found.documents is None:
        counts = sum_counts(found.paths, messages)
    else:
        counts = _count_terms(found.documents, analysis, threads, messages)
        note_similar_classes(counts.classes, messages)
    if contrast:
        _refuse_single_class(counts)
    return counts


def open_blocks(found: CountsInput) -> CountsFile | None:
    """Open a counts file of several blocks of terms, which need not be in memory together; None for anything else."""
    if found.documents is not None or len(found.paths) != 1:
        return None
    refuse_missing(Path(found.paths[0]))
    file = CountsFile(found.paths[0])
    if file.n_blocks < 2 or file.is_real or not file.is_sorted:
        file.close()
        return None
    _refuse_single_class(file)
    return file


def read_matrix(
    found: CountsInput, analysis: AnalyzerOptions, threads: int | None, messages: Messages, wanted_by: str
) -> LabelledMatrix:
    """Read documents into memory, for what looks at terms together."""
    if found.documents is None:
        raise OptionError(
            f"{found.paths[0]}: has counts, and {wanted_by} needs the documents, as it looks at terms together. "
            "Give the file that was counted, or take a rule that ranks terms one by one, such as top(1000)."
        )
    from termsieve.counts.labelled import read_labelled

    with report_reading(found.documents, messages, "counted"):
        matrix = read_labelled(found.documents, analyzer=analysis.make_analyzer(), threads=threads)
    _refuse_single_class(matrix.counts)
    return matrix


def _check_counts_files(paths: list[str], groups: list[OptionGroup]) -> None:
    """Refuse what goes with documents only, and files that are not of counts."""
    given = [name for group in groups for name in group.changed_fields()]
    if given:
        raise OptionError(
            f"{option_name(given[0])} is for documents; {paths[0]} has counts, whose terms and classes are "
            "fixed. Count the documents again with it."
        )
    for path in paths:
        if not is_counts_file(path):
            there = next(other for other in paths if is_counts_file(other))
            raise InputError(f"{path}: is not a counts file, as {there} is. Count it first: termsieve count.")


def sum_counts(paths: Sequence[str | Path], messages: Messages) -> Counts:
    """Add up counts in files, none of which may be there twice; copies are noted."""
    check_summands(paths, messages)
    return functools.reduce(operator.add, map(Counts.load, paths))


def check_summands(paths: Sequence[str | Path], messages: Messages) -> None:
    """Refuse files that are not there or are named twice; note copies."""
    for path in paths:
        refuse_missing(Path(path))
    refuse_same_files(map(Path, paths))
    if len(paths) < 2:
        return
    first: dict[str, str | Path] = {}
    for path in paths:
        with CountsFile(path) as file:
            digest = file.digest
        if (other := first.setdefault(digest, path)) != path:
            messages.note(f"note: {path} has the same content as {other}: if it is a copy, documents count twice")


def _count_terms(documents: Documents, analysis: AnalyzerOptions, threads: int | None, messages: Messages) -> Counts:
    from termsieve.counts.counting import count

    with report_reading(documents, messages, "counted"):
        return count(documents, analyzer=analysis.make_analyzer(), threads=threads, progress=messages.progress)


def read_half_samples(found: CountsInput, analysis: AnalyzerOptions, threads: int | None, messages: Messages) -> Folds:
    """Count documents in folds, from which half-samples are made."""
    from termsieve.selection.stability import N_FOLDS

    if found.documents is None:
        raise InputError(f"{found.paths[0]}: has counts, and half-samples need the documents themselves.")
    folds = read_folds(found.documents, N_FOLDS, analysis, threads, messages)
    _refuse_single_class(folds.total)
    return folds


def read_folds(
    documents: Documents, folds: int | str, analysis: AnalyzerOptions, threads: int | None, messages: Messages,
    every: str | None = None,
) -> Folds:  # fmt: skip
    """Count documents in folds: a number of them, or one for each value or period of a column."""
    from termsieve.counts.counting import count_folds

    with report_reading(documents, messages, "counted"):
        return count_folds(
            documents, folds=folds, every=cast("Every | None", every), analyzer=analysis.make_analyzer(),
            threads=threads, progress=messages.progress,
        )  # fmt: skip


def _refuse_single_class(counts: Counts | CountsFile) -> None:
    if not counts.n_terms:
        raise InputError(f"The {counts.n_docs:,} documents have no terms: the text column may be the wrong one.")
    if counts.n_classes < 2 and bool((counts.class_sizes == counts.n_docs).all()):
        raise InputError(describe_single_class(counts.n_docs, map(str, counts.classes)))

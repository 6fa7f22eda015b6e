"""read(): from what a user names to Documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from termsieve.defaults import DEFAULT_ENCODING, DEFAULT_ENCODING_ERRORS
from termsieve.documents.columns import AUTO, DEFAULT_LABEL, DEFAULT_TEXT, Detect, WantedColumns
from termsieve.documents.documents import Documents
from termsieve.documents.formats import KNOWN_EXTENSIONS
from termsieve.documents.options import Options, make_options
from termsieve.documents.sources import find_sources
from termsieve.documents.text_files import label_by_file
from termsieve.errors import InputError, OptionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from termsieve.documents.chunks import Source


def read(
    source: Any,
    *,
    text: str | Sequence[str] | None = None,
    label: str | Detect | None = AUTO,
    label_sep: str | None = None,
    by_file: bool = False,
    split: tuple[str, Any] | None = None,
    encoding: str = DEFAULT_ENCODING,
    encoding_errors: str = DEFAULT_ENCODING_ERRORS,
    strict: bool = False,
    sep: str | None = None,
    sheet: str | int | None = None,
    quotes: bool = True,
) -> Documents:
    r"""Read labelled documents from files, folders, frames or tables, streamed.

    Nothing is read yet but the names of files: rows come when the result is iterated, and come again when it
    is iterated again. `Documents.chosen_columns` says which columns were detected.

    Parameters
    ----------
    source : path, pattern, list of paths, DataFrame, Arrow table, dataset, mapping of columns, or binary file
        Files are CSV (``.csv``), TSV (``.tsv``, ``.tab``), JSON Lines (``.jsonl``, ``.ndjson``), these three
        also with ``.gz`` or ``.zst``; Parquet (``.parquet``, ``.pq``); Arrow IPC (``.arrow``, ``.feather``,
        ``.ipc``); sheets of Excel and OpenDocument (``.xlsx``, ``.xls``, ``.ods``; extra ``excel``). Files of any other
        ending are plain text, of which each line is a document; where several are named, each file is a class. A
        folder holds one folder per class, with one text file per document, at any depth; or data files, and folders
        such as ``year=2024``, whose names hold a column. Files may be named by a URI (``file://``, ``s3://``, ...). A
        binary file that is open, and ``"-"``, standard input, hold JSON Lines. Relations of DuckDB and lazy frames of
        polars are computed anew in each pass, in batches. A file that is named twice, by whatever name, is refused.
    text : str, list of str or None
        The column with the text; several are joined by a newline. None: the column ``text``; where there is none, the
        one column whose name tells that it holds text, such as ``body`` or ``message``. A column of lists of strings
        holds documents that are cut into tokens already.
    label : str or None
        The column with the label, or with a list of labels. A label that is a string is kept as written; any other
        value is spelled as Python's ``str`` writes it, in all formats alike: ``True``, ``1``, ``1.5``,
        ``2026-01-31``. A list may be empty: a document of no class. None: all documents are of no class. Without this:
        the column ``label``; where there is none, the one column whose name tells that it holds labels, such as
        ``class`` or ``topic``; where several files have none either, the class is the name of the file.
    label_sep : str, optional
        What stands between several labels in one string, such as ``","``. An empty string is then no label.
    by_file : bool
        The class of a document is the name of its file, whatever columns there are.
    split : (column, value), optional
        Only rows with this value, compared as strings; None stands for null or empty.
    encoding : str
        Of CSV, TSV, JSON Lines, text files and class folders. A file that begins with the mark of UTF-16 or UTF-32 is
        read as such.
    encoding_errors : {"error", "skip", "replace"}
        What happens at a row that is not valid in the encoding. The error names encodings that would fit.
    strict : bool
        Whether a row that has no text or no label, or that cannot be parsed, is an error. Otherwise it is skipped,
        counted and named in a warning. An empty cell of CSV, TSV and sheets is no text. A quote that is never closed is
        an error in any case: what follows it cannot be told.
    sep : str, optional
        What separates the cells of CSV and TSV, such as ``";"`` or ``"tab"``, whatever the ending of the file. Without
        this it is detected (`Documents.chosen_columns` says what).
    sheet : str or int, optional
        The sheet to read, by its name or number; the first, without this.
    quotes : bool
        Whether ``"`` quotes cells of CSV and TSV. False: it is a character like any other.

    Returns
    -------
    Documents

    Examples
    --------
    >>> mail = {"body": ["Cheap pills!", "See you at noon."], "folder": ["spam", "ham"]}
    >>> docs = read(mail)
    >>> docs.chosen_columns.note
    "text from the column 'body', labels from 'folder'"
    >>> next(iter(docs)).to_pylist()
    [{'text': 'Cheap pills!', 'labels': ['spam']}, {'text': 'See you at noon.', 'labels': ['ham']}]
    """
    return find_documents(
        source, text=text, label=label, label_sep=label_sep, by_file=by_file, split=split, encoding=encoding,
        encoding_errors=encoding_errors, strict=strict, sep=sep, sheet=sheet, quotes=quotes,
    )  # fmt: skip


def find_documents(
    source: Any,
    *,
    text: str | Sequence[str] | None,
    label: str | Detect | None,
    by_file: bool,
    preferred_text: Sequence[str] = (),
    **others: Any,
) -> Documents:
    """Find documents as `read` does; columns of the preferred names hold the text, where none is given."""
    given = make_options(
        DEFAULT_TEXT if text is None else text, DEFAULT_LABEL if isinstance(label, Detect) else label, **others
    )
    wanted = WantedColumns(AUTO if text is None else given.text, label, by_file, tuple(preferred_text))
    sources = find_sources(source, cells=given.sep is not None)
    if by_file:
        label_by_file(sources)
    if all(one.has_lines for one in sources):
        _check_text_files(sources, wanted, given)
    elif all(one.has_folders for one in sources):
        _refuse_column_options(sources[0], wanted, given, "a folder of class folders")
    for one in sources:
        one.options(given)
    return Documents(sources, given, wanted)


def _check_text_files(sources: Sequence[Source], wanted: WantedColumns, given: Options) -> None:
    """Refuse what goes with columns only, and a single file where classes are to be compared."""
    name = sources[0].name
    _refuse_column_options(sources[0], wanted, given, "a text file", label=True)
    if wanted.label is AUTO and len(sources) < 2:
        raise InputError(
            f"{name}: is a text file without labels. Name another to compare it with, or a file with columns "
            f"({KNOWN_EXTENSIONS}), or a folder of class folders. (label=None reads it without labels.)"
        )


def _refuse_column_options(
    source: Source, wanted: WantedColumns, given: Options, what: str, *, label: bool = False
) -> None:
    """Refuse options that name columns, where there are none; with `label`, also the one for the labels."""
    for option, said in (
        ("text=NAME", wanted.text is not AUTO),
        ("label=NAME", label and isinstance(wanted.label, str)),
        ("label_sep=TEXT", given.label_sep is not None),
        ("split=(COLUMN, VALUE)", given.split is not None),
        ("quotes=False", not given.quotes),
        ("sheet=NAME", given.sheet is not None),
    ):
        if said:
            raise OptionError(
                f"{source.name}: is {what}, and has no columns: {option} says nothing. Those that have are known by "
                f"their ending: {KNOWN_EXTENSIONS}."
            )

"""Documents: a stream of labelled documents, and what the last pass over them noticed."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from termsieve.documents.batches import PLACE, ReadReport, UndecodableError, make_batches
from termsieve.documents.chunks import FILE, LINE, ROW
from termsieve.documents.columns import ChosenColumns, WantedColumns, choose_columns
from termsieve.documents.encodings import describe_fitting
from termsieve.documents.memory import ColumnSource, as_sliceable, check_same_length
from termsieve.documents.options import Options, make_options
from termsieve.documents.remote import AnyPath
from termsieve.documents.text_files import label_by_file
from termsieve.errors import InputError, OptionError, warn

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

    import pyarrow as pa

    from termsieve.documents.chunks import Source

MAX_SHOWN_SOURCES = 3


class Documents:
    """A stream of labelled documents that can be iterated again and again; made by `read` or `Documents.of`.

    Attributes
    ----------
    chosen_columns : ChosenColumns
        Which columns hold the text and the labels, given or detected.
    files : list of str
        The files and folders that are read.
    skipped : int
        How many bad rows the last pass skipped.
    skipped_lines : int
        How many lines of text files these rows take.
    skipped_places : str
        Which lines or rows: the first few, and how many more.
    skipped_reasons : dict of str to int
        How many of them for which reason.
    skipped_examples : list of str
        The first few: file, line or row, and what was wrong.
    notes : list of str
        What the last complete pass noticed: rows that a quote seems to have merged, files that were not read, ...
    total_bytes : int or None
        Size of all files on disk.
    bytes_read : int
        How many of them the running pass has read, for a progress bar.
    position : (int, int)
        How far the running pass has come: the number of the source, and of its documents that were handed out.

    Examples
    --------
    >>> documents = Documents.of(["cheap pills", "meeting at noon"], ["spam", "ham"])
    >>> next(documents.batches()).to_pylist()
    [{'text': 'cheap pills', 'labels': ['spam']}, {'text': 'meeting at noon', 'labels': ['ham']}]
    """

    def __init__(self, sources: Sequence[Source], options: Options, wanted: WantedColumns | None = None) -> None:
        self._sources = list(sources)
        self._given = options
        self._wanted = wanted or WantedColumns(options.text, options.label)
        self._report = ReadReport()
        self._defaults = Options()
        self.bytes_read = 0
        self.position = (0, 0)

    @functools.cached_property
    def chosen_columns(self) -> ChosenColumns:
        """Which columns hold the text and the labels; what is not given is detected when this is first asked for."""
        return choose_columns(self._sources, self._wanted, self._given)

    @property
    def column_names(self) -> list[str]:
        """The names of the columns of the first source that has any."""
        found = (source.column_names(self._given) for source in self._sources)
        return next((list(names) for names in found if names), [])

    @property
    def _options(self) -> Options:
        """The options, with the chosen columns."""
        chosen = self.chosen_columns
        return replace(self._given, text=chosen.text, label=chosen.label, by_file=chosen.by_file)

    @classmethod
    def of(cls, texts: Any, labels: Any = None, *, strict: bool = True) -> Documents:
        """Make documents of plain sequences of texts and labels.

        Parameters
        ----------
        texts : sequence of str, or of lists of str
            A list, a NumPy array, a pandas or polars Series, an Arrow array, ... Documents that are lists of strings
            are cut into tokens already.
        labels : sequence, optional
            For each document a string, a number or date (spelled as ``str`` writes it), or a list or set of them.
            Without labels, documents are of no class.
        strict : bool
            Whether a missing text or label is an error. It is so unless you say otherwise, unlike in `read`: sequences
            mostly belong to others of the same length, such as folds, and a row that is skipped would shift them.

        Examples
        --------
        >>> docs = Documents.of(["a rose", "a rose is red"], [["plant"], ["plant", "colour"]])
        >>> next(iter(docs))["labels"].to_pylist()
        [['plant'], ['plant', 'colour']]
        """
        label = None if labels is None else "label"
        options = make_options("text", label, strict=strict)
        columns = {"text": as_sliceable(texts, "texts")}
        if labels is not None:
            columns["label"] = as_sliceable(labels, "labels")
        check_same_length({"texts" if name == "text" else "labels": len(column) for name, column in columns.items()})
        documents = cls([ColumnSource(f"{len(columns['text'])} texts", list(columns), columns)], options)
        documents._defaults = Options(strict=True)
        return documents

    def batches(
        self, extra: Sequence[str] = (), *, places: bool = False, after: tuple[int, int] = (0, 0)
    ) -> Iterator[pa.RecordBatch]:
        """Pass over the documents once.

        Parameters
        ----------
        extra : sequence of str
            Further columns of the source to hand on: as they are, or as text from CSV, TSV and JSON Lines.
        places : bool
            Whether to say where in the input each document is.
        after : (int, int)
            Where to go on: a `position` of an earlier pass. Files before it are not read.

        Yields
        ------
        pyarrow.RecordBatch
            Columns ``text`` (large_string; for lists of tokens, large_list of large_string) and ``labels`` (large_list
            of large_string), then the extra ones, then with `places` the column ``place``: a struct of ``file``,
            ``line`` (of a text file, where the record begins) and ``row`` (of a table, the first is 1); what a source
            does not have is null.

        Examples
        --------
        >>> import termsieve as ts
        >>> docs = ts.read({"text": ["a", "b", "c"], "label": ["x", "y", "x"]}, split=("label", "x"))
        >>> [place["row"] for batch in docs.batches(places=True) for place in batch["place"].to_pylist()]
        [1, 3]
        """
        names = (extra,) if isinstance(extra, str) else tuple(extra)
        for name in names:
            if name in ("text", "labels") or (places and name == PLACE):
                raise OptionError(f"An extra column cannot be named {name!r}: batches have a column of that name.")
        return self._read_batches(names, places=places, after=after)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return self.batches()

    def _read_batches(
        self, extra: tuple[str, ...], *, places: bool, after: tuple[int, int]
    ) -> Iterator[pa.RecordBatch]:
        report = ReadReport()
        before = self.bytes_read = 0
        chosen = self._options
        for number, source in enumerate(label_by_file(self._sources) if chosen.by_file else self._sources):
            if number < after[0]:
                before += source.size or 0
                continue
            options = source.options(chosen)
            done, self.position = (after[1] if number == after[0] else 0), (number, 0)
            try:
                for chunk in source.chunks(options, extra):
                    self.bytes_read = before + chunk.position
                    for batch in make_batches(source.name, chunk, options, report, places=places):
                        skipped, done = min(done, batch.num_rows), max(done - batch.num_rows, 0)
                        self.position = (number, self.position[1] + batch.num_rows)
                        if skipped < batch.num_rows:
                            yield batch.slice(skipped) if skipped else batch
            except UndecodableError as error:
                raise InputError(f"{error} {_suggest_encodings(source, options)}") from error
            except GeneratorExit:
                self._report = report  # nobody wants the rest
                raise
            before += source.size or 0
            self.bytes_read = before
        self._report = report
        report.check(chosen)
        for message in self._warnings():
            warn(message)

    def _warnings(self) -> list[str]:
        return [*(note for source in self._sources for note in source.notes), *self._report.warnings()]

    @property
    def notes(self) -> list[str]:
        """What the last complete pass noticed, and is good to know."""
        return [*self._warnings(), *self._report.notes()]

    @property
    def has_folders(self) -> bool:
        """Whether all documents are files of class folders."""
        return all(source.has_folders for source in self._sources)

    def describe_labels(self) -> str:
        """Say where the labels come from, for people."""
        chosen = self.chosen_columns
        if self.has_folders:
            return "the names of the class folders"
        return "the names of the files" if chosen.by_file else f"the labels in {chosen.label!r}"

    @property
    def place_names(self) -> list[str]:
        """Those parts of the places of documents that tell one from another: "file", "line", "row"."""
        units = {source.unit for source in self._sources}
        return [name for name in (FILE, LINE, ROW) if name in units or (name == FILE and len(self._sources) > 1)]

    @property
    def skipped(self) -> int:
        """How many bad rows the last pass skipped."""
        return self._report.skipped

    @property
    def skipped_lines(self) -> int:
        """How many lines of text files these rows take."""
        return self._report.skipped_lines

    @property
    def skipped_places(self) -> str:
        """Which lines or rows were skipped: the first few, and how many more."""
        return str(self._report.lost)

    @property
    def skipped_note(self) -> str:
        """One line about what was skipped, for people; empty if nothing was."""
        return self._report.skipped_note()

    @property
    def skipped_reasons(self) -> dict[str, int]:
        """How many rows were skipped for which reason."""
        return dict(self._report.reasons)

    @property
    def skipped_examples(self) -> list[str]:
        """The first few skipped rows: where, and what was wrong."""
        return list(self._report.examples)

    @property
    def total_bytes(self) -> int | None:
        """Size of all files on disk; None if some documents are not in files."""
        sizes = [source.size for source in self._sources]
        known = [size for size in sizes if size is not None]
        return sum(known) if len(known) == len(sizes) else None

    @property
    def files(self) -> list[str]:
        """The files and folders that are read."""
        return [source.name for source in self._sources if source.path is not None]

    @property
    def paths(self) -> list[AnyPath]:
        """The same as paths, which can be opened: of an object store with the keys that `files` does not show."""
        return [source.path for source in self._sources if source.path is not None]

    def only_files(self, names: Container[str]) -> Documents:
        """Return the documents of some of the files, read as they are read here."""
        return Documents([source for source in self._sources if source.name in names], self._given, self._wanted)

    def with_columns(self, text: str, label: str) -> Documents:
        """Return the same documents with the text and the label in these columns."""
        given = replace(self._given, text=(text,), label=label)
        return Documents(self._sources, given, WantedColumns(given.text, label))

    @property
    def origin(self) -> dict[str, Any]:
        """Names of the files, none for documents in memory, and the options of `read` that are not its defaults."""
        changed = self._changed_options(self._options)
        return {"files": self.files, **{k: list(v) if isinstance(v, tuple) else v for k, v in changed.items()}}

    def __repr__(self) -> str:
        names = [source.name for source in self._sources]
        shown = ", ".join(names[:MAX_SHOWN_SOURCES])
        more = f" and {len(names) - MAX_SHOWN_SOURCES} more" if len(names) > MAX_SHOWN_SOURCES else ""
        skipped = f"; {self.skipped_note}" * bool(self.skipped)
        return f"<Documents from {shown}{more}{self._option_note()}{skipped}>"

    def _option_note(self) -> str:
        known = self._options if "chosen_columns" in vars(self) else self._given
        changed = [f"{name}={value!r}" for name, value in self._changed_options(known).items()]
        return f" ({', '.join(changed)})" if changed else ""

    def _changed_options(self, options: Options) -> dict[str, Any]:
        """Return the options that are not at their default; where the file is the class, there is no label to say."""
        defaults = replace(self._defaults, label=None) if options.by_file else self._defaults
        return {name: value for name, value in vars(options).items() if value != getattr(defaults, name)}


def _suggest_encodings(source: Source, options: Options) -> str:
    """Say which encodings would fit the bytes of a source, and how to skip the rows."""
    sample = source.read_undecodable(options.encoding)
    found = describe_fitting(sample, options.encoding) if sample else "Give its encoding with encoding=NAME."
    return f"{found} (encoding_errors='skip' skips such rows.)"

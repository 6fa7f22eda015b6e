"""Folders of data files: those of one table, and those whose names hold a column, as in ``year=2024/month=5``.

Such names are those of Hive and Spark: percent signs stand for other characters, and ``__HIVE_DEFAULT_PARTITION__`` for
no value. A column that a name holds is like any other, and its values are strings.
"""

from __future__ import annotations

import urllib.parse
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pyarrow as pa

from termsieve.documents.chunks import Chunk, Source
from termsieve.documents.formats import KNOWN_EXTENSIONS, find_reader
from termsieve.documents.options import Options
from termsieve.documents.remote import AnyPath
from termsieve.documents.streams import convert_read_errors
from termsieve.errors import InputError

_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


class PartitionSource(Source):
    """A file whose folders name further columns."""

    def __init__(self, source: Source, values: dict[str, str | None]) -> None:
        self._source, self._values = source, values
        self.name, self.path, self.unit = source.name, source.path, source.unit

    @property
    def size(self) -> int | None:
        """Bytes on disk."""
        return self._source.size

    def remarks(self, options: Options) -> Sequence[str]:
        """Return those of the file."""
        return self._source.remarks(options)

    def read_undecodable(self, encoding: str) -> bytes:
        """Return what the file has."""
        return self._source.read_undecodable(encoding)

    def column_names(self, options: Options) -> list[str] | None:
        """Return the columns of the file, and those of its folders."""
        names = self._source.column_names(options) or []
        return [*(name for name in names if name not in self._values), *self._values]

    def chunks(self, options: Options, extra: Sequence[str]) -> Iterator[Chunk]:
        """Yield the rows of the file, each with the values of the folders."""
        wanted = self._without_values(options)
        for chunk in self._source.chunks(wanted, [name for name in extra if name not in self._values]):
            added = {name: pa.array([value] * chunk.rows, pa.large_string()) for name, value in self._values.items()}
            further = {name: added[name] if name in added else chunk.extra[name] for name in extra}
            yield replace(chunk, columns={**chunk.columns, **added}, extra=further)

    def _without_values(self, options: Options) -> Options:
        text = tuple(name for name in options.text if name not in self._values)
        if not text:
            raise InputError(f"{self.name}: the text cannot be in the name of a folder ({options.text[0]}=...).")
        label = None if options.label in self._values else options.label
        split = None if options.split is not None and options.split[0] in self._values else options.split
        return replace(options, text=text, label=label, split=split)


def is_partitioned(folder: AnyPath) -> bool:
    """Tell whether a folder is of data files: it has folders such as ``year=2024``, or files with columns only."""
    visible = _list_visible(folder)
    if any(path.is_dir() for path in visible):
        return any(path.is_dir() and _parse_key(path.name) for path in visible)
    return any(find_reader(path) is not None for path in visible)


def list_partitions(folder: AnyPath) -> list[tuple[AnyPath, dict[str, str | None]]]:
    """List the data files below a folder, in order of their paths, with the values that their folders name."""
    found = list(_walk(folder, {}))
    if not found:
        raise InputError(f"{folder} is empty: it has no data files. Known are {KNOWN_EXTENSIONS}.")
    keys = list(found[0][1])
    for path, values in found:
        if list(values) != keys:
            raise InputError(
                f"{path}: its folders name the columns {list(values)}, and those of {found[0][0]} name {keys}. "
                "All files of a partitioned folder must have the same."
            )
    return found


def _walk(folder: AnyPath, values: dict[str, str | None]) -> Iterator[tuple[AnyPath, dict[str, str | None]]]:
    for path in _list_visible(folder):
        if not path.is_dir():
            if find_reader(path) is None:
                raise InputError(f"{path}: is not a file with columns. Known are {KNOWN_EXTENSIONS}.")
            yield path, values
            continue
        pair = _parse_key(path.name)
        if pair is None:
            raise InputError(f"{path}: is a folder that is not named COLUMN=VALUE, as others beside it or above are.")
        yield from _walk(path, {**values, pair[0]: pair[1]})


def _parse_key(name: str) -> tuple[str, str | None] | None:
    """Return the column and the value that the name of a folder holds.

    >>> _parse_key("year=2024"), _parse_key("topic=arts%2Fmusic"), _parse_key("spam")
    (('year', '2024'), ('topic', 'arts/music'), None)
    """
    key, equals, value = name.partition("=")
    if not equals or not key:
        return None
    return urllib.parse.unquote(key), None if value == _NO_VALUE else urllib.parse.unquote(value)


def _list_visible(folder: AnyPath) -> list[AnyPath]:
    """List files and folders but those of engines, which begin with a dot or an underscore."""
    with convert_read_errors(str(folder)):
        return sorted(path for path in folder.iterdir() if not path.name.startswith((".", "_")))

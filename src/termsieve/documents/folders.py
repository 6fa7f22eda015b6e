"""A folder of class folders: one text file per document, the folder's name is its class."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from termsieve._types import Int64Array
from termsieve.documents.chunks import BATCH_BYTES, BATCH_ROWS, FILE, Chunk, Places, Source
from termsieve.documents.options import Options, check_columns
from termsieve.documents.streams import BOM, COMPRESSIONS, convert_read_errors, open_stream
from termsieve.errors import InputError, OptionError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


SHOWN_FILES = 3


class ClassFolderSource(Source):
    """The documents below one folder, in order of class and file name.

    Files and folders whose names begin with a dot are left alone, as everywhere.
    """

    unit = FILE

    def __init__(self, root: Path) -> None:
        self.root = self.path = root
        self.name = str(root)
        if not _list_visible(root, folders=True):
            raise InputError(
                f"{root} is a folder without class folders. It should hold one folder per class, with one "
                f"text file per document; to read data files in it, give a pattern such as '{root}/*.jsonl'."
            )

    @property
    def notes(self) -> list[str]:
        """What is there and gives no document: loose files beside the class folders, class folders without files."""
        loose = [path.name for path in _list_visible(self.root, folders=False)]
        bare = [path.name for path in _list_visible(self.root, folders=True) if not _list_visible(path, folders=False)]
        notes = []
        if loose:
            notes.append(f"{self.root}: {_listed(loose, 'file')} beside the class folders: not read")
        if bare:
            notes.append(f"{self.root}: {_listed(bare, 'class folder')} without text files: no class of that name")
        return notes

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(path.stat().st_size for path in self._list_files())

    def options(self, options: Options) -> Options:
        """There are no columns to choose from, only a text and a class."""
        if options.split is not None:
            raise OptionError(f"split needs a column, and {self.root} is a folder of class folders, which has none.")
        label = None if options.label is None else "label"
        return replace(options, text=("text",), label=label, label_sep=None)

    def chunks(self, options: Options, extra: Sequence[str]) -> Iterator[Chunk]:
        """Documents in chunks of moderate size."""
        check_columns(self.name, extra, [])
        files: list[Path] = []
        texts: list[bytes] = []
        position = held = count = 0
        for path in self._list_files():
            files.append(path)
            count += 1
            texts.append(_read_content(path))
            held += len(texts[-1])
            position += path.stat().st_size
            if held >= BATCH_BYTES or len(files) >= BATCH_ROWS:
                yield self._make_chunk(files, texts, options, position)
                files, texts, held = [], [], 0
        if files:
            yield self._make_chunk(files, texts, options, position)
        if not count:
            raise InputError(f"{self.root} is empty: it has no text files.")

    def _list_files(self) -> Iterator[Path]:
        for folder in _list_visible(self.root, folders=True):
            if inner := _list_visible(folder, folders=True):
                raise InputError(f"{inner[0]} is a folder inside a class folder, where only text files are expected.")
            yield from _list_visible(folder, folders=False)

    def _make_chunk(self, files: list[Path], contents: list[bytes], options: Options, position: int) -> Chunk:
        faults: dict[int, str] = {}
        texts: list[str | None] = []
        for row, content in enumerate(contents):
            try:
                texts.append(content.decode(options.encoding))
            except UnicodeDecodeError as error:
                texts.append(None)
                faults[row] = f"not valid {options.encoding}: at byte {error.start}"
                continue
            if content.count(0) * 4 > len(content) and "\0" in str(texts[-1]):
                faults[row] = "not text: much of it is zero bytes, as in UTF-16"

        def find(rows: Int64Array) -> tuple[list[str], list[str]]:
            names = [str(files[row].relative_to(self.root)) for row in rows.tolist()]
            return names, names

        return Chunk(
            rows=len(files),
            columns={"text": texts, "label": [path.parent.name for path in files]},
            extra={},
            place=Places(FILE, find),
            faults=faults,
            position=position,
        )


def _list_visible(folder: Path, *, folders: bool) -> list[Path]:
    with convert_read_errors(str(folder)):
        found = [path for path in folder.iterdir() if not path.name.startswith(".") and path.is_dir() == folders]
    return sorted(found, key=lambda path: path.name)


def _listed(names: list[str], what: str) -> str:
    shown = ", ".join(map(repr, names[:SHOWN_FILES])) + (", ..." if len(names) > SHOWN_FILES else "")
    return f"{len(names):,} {what}{'s' * (len(names) != 1)} ({shown})"


def _read_content(path: Path) -> bytes:
    if path.exists() and not path.is_file():
        raise InputError(f"{path}: is a pipe or a device, where only text files are expected.")
    if path.suffix.lower() not in COMPRESSIONS:
        with convert_read_errors(str(path)):
            return path.read_bytes().removeprefix(BOM)
    with open_stream(path, "utf-8") as stream:
        return b"".join(iter(stream.read, b""))

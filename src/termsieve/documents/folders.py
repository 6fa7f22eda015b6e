"""A folder of class folders: one text file per document; the folder directly below the first is its class."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from termsieve._types import Int64Array
from termsieve.documents.batches import readable
from termsieve.documents.chunks import BATCH_BYTES, BATCH_ROWS, FILE, Chunk, Places, Source
from termsieve.documents.encodings import find_mark
from termsieve.documents.options import Options, check_columns
from termsieve.documents.streams import BOM, COMPRESSIONS, convert_read_errors, is_utf8_name, open_stream
from termsieve.errors import InputError, OptionError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SHOWN_FILES = 3
PATH = "path"  # the extra column that a folder has: the path of each file


class ClassFolderSource(Source):
    """The documents below one folder, in order of class and path.

    Files may stand at any depth: the class is the folder directly below the root. Files and folders whose names begin
    with a dot are left alone, as everywhere.
    """

    unit = FILE
    has_folders = True

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
        bare = [path.name for path in self._list_classes() if next(_walk(path), None) is None]
        notes = []
        if loose:
            notes.append(f"{self.root}: {_name_some(loose, 'file')} beside the class folders: not read")
        if bare:
            notes.append(f"{self.root}: {_name_some(bare, 'class folder')} without text files: no class of that name")
        return notes

    def remarks(self, options: Options) -> list[str]:  # noqa: ARG002
        """Say that there are folders inside class folders, and which class their files have."""
        inner = {folder.name: [path.name for path in _list_visible(folder, folders=True)]
                 for folder in self._list_classes()}  # fmt: skip
        nested = [f"{name}/{one}" for name, below in inner.items() for one in below]
        if not nested:
            return []
        remark = (
            f"{self.root}: {_name_some(nested, 'folder')} inside class folders, whose files have the class of the outer"
        )
        same = next(iter(inner.values()))
        if len(inner) > 1 and len(same) > 1 and all(below == same for below in inner.values()):
            remark += (
                f" (if {_name_some(same, 'folder')} are the classes, name {self.root / next(iter(inner))} instead)"
            )
        return [remark]

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(map(_get_size, self._list_files()))

    def options(self, options: Options) -> Options:
        """Return the options for one text and one class: there are no columns to choose from."""
        if options.split is not None:
            raise OptionError(f"split needs a column, and {self.root} is a folder of class folders, which has none.")
        label = None if options.label is None else "label"
        return replace(options, text=("text",), label=label, label_sep=None)

    def read_undecodable(self, encoding: str) -> bytes:
        """Return the first file that is not valid in an encoding."""
        for path in self._list_files():
            content = _read_content(path)
            try:
                content.decode(encoding)
            except UnicodeDecodeError:
                return content
        return b""

    def chunks(self, options: Options, extra: Sequence[str]) -> Iterator[Chunk]:
        """Yield documents in chunks of moderate size."""
        check_columns(self.name, extra, [PATH])
        files: list[Path] = []
        texts: list[bytes] = []
        position = held = count = 0
        for path in self._list_files():
            files.append(path)
            count += 1
            texts.append(_read_content(path))
            held += len(texts[-1])
            position += _get_size(path)
            if held >= BATCH_BYTES or len(files) >= BATCH_ROWS:
                yield self._make_chunk(files, texts, options, extra, position)
                files, texts, held = [], [], 0
        if files:
            yield self._make_chunk(files, texts, options, extra, position)
        if not count:
            raise InputError(f"{self.root} is empty: it has no text files.")

    def _list_classes(self) -> list[Path]:
        return _list_visible(self.root, folders=True)

    def _list_files(self) -> Iterator[Path]:
        for folder in self._list_classes():
            yield from _walk(folder)

    def _make_chunk(
        self, files: list[Path], contents: list[bytes], options: Options, extra: Sequence[str], position: int
    ) -> Chunk:
        faults: dict[int, str] = {}
        texts = [_decode(content, options, row, faults) for row, content in enumerate(contents)]

        def find(rows: Int64Array) -> tuple[list[str], list[str]]:
            names = [str(files[row].relative_to(self.root)) for row in rows.tolist()]
            return names, names

        return Chunk(
            rows=len(files),
            columns={"text": texts, "label": [path.relative_to(self.root).parts[0] for path in files]},
            extra={name: pa.array([readable(str(path)) for path in files], pa.large_string()) for name in extra},
            place=Places(FILE, find),
            faults=faults,
            position=position,
        )


def _decode(content: bytes, options: Options, row: int, faults: dict[int, str]) -> str | None:
    """Return the text of a file; None, with a fault, if it is none."""
    encoding = (find_mark(content) if is_utf8_name(options.encoding) else None) or options.encoding
    try:
        text = content.decode(encoding, "replace" if options.encoding_errors == "replace" else "strict")
    except UnicodeDecodeError as error:
        faults[row] = f"not valid {options.encoding}: at byte {error.start}"
        return None
    if text.count("\0") * 4 > len(text):
        faults[row] = "not text: much of it is zero bytes, as in UTF-16"
    return text


def _walk(folder: Path, above: frozenset[tuple[int, int]] = frozenset()) -> Iterator[Path]:
    """Yield the files below a folder, those of the folder itself first; a link to a folder above is not followed."""
    with convert_read_errors(str(folder)):
        found = folder.stat()
    place = (found.st_dev, found.st_ino)
    if place in above:
        return
    yield from _list_visible(folder, folders=False)
    for inner in _list_visible(folder, folders=True):
        yield from _walk(inner, above | {place})


def _get_size(path: Path) -> int:
    with convert_read_errors(str(path)):
        return path.stat().st_size


def _list_visible(folder: Path, *, folders: bool) -> list[Path]:
    with convert_read_errors(str(folder)):
        found = [path for path in folder.iterdir() if not path.name.startswith(".") and path.is_dir() == folders]
    return sorted(found, key=lambda path: path.name)


def _name_some(names: list[str], what: str) -> str:
    shown = ", ".join(map(repr, names[:SHOWN_FILES])) + (", ..." if len(names) > SHOWN_FILES else "")
    return f"{len(names):,} {what}{'s' * (len(names) != 1)} ({shown})"


def _read_content(path: Path) -> bytes:
    if path.exists() and not path.is_file():
        raise InputError(f"{path}: is a pipe or a device, where only text files are expected.")
    if path.suffix.lower() not in COMPRESSIONS:
        with convert_read_errors(str(path)):
            return path.read_bytes().removeprefix(BOM)
    with open_stream(path, "utf-8") as stream:
        return b"".join(iter(stream.read_raw, b"")).removeprefix(BOM)

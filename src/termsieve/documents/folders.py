"""A folder of class folders: one text file per document, the folder's name is its class."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from termsieve.documents.chunks import BATCH_BYTES, BATCH_ROWS, Chunk
from termsieve.documents.options import Options, check_columns
from termsieve.documents.streams import BOM, COMPRESSIONS, failures_of, opened
from termsieve.errors import InputError, OptionError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


class ClassFolders:
    """The documents below one folder, in order of class and file name."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.name = str(root)
        if not _visible(root, folders=True):
            raise InputError(
                f"{root} is a folder without class folders. It should hold one folder per class, with one "
                f"text file per document; to read data files in it, give a pattern such as '{root}/*.jsonl'."
            )

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(path.stat().st_size for path in self._files())

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
        for path in self._files():
            files.append(path)
            count += 1
            texts.append(_content(path))
            held += len(texts[-1])
            position += path.stat().st_size
            if held >= BATCH_BYTES or len(files) >= BATCH_ROWS:
                yield self._chunk(files, texts, options, position)
                files, texts, held = [], [], 0
        if files:
            yield self._chunk(files, texts, options, position)
        if not count:
            raise InputError(f"{self.root} is empty: it has no text files.")

    def _files(self) -> Iterator[Path]:
        for folder in _visible(self.root, folders=True):
            if inner := _visible(folder, folders=True):
                raise InputError(f"{inner[0]} is a folder inside a class folder, where only text files are expected.")
            yield from _visible(folder, folders=False)

    def _chunk(self, files: list[Path], contents: list[bytes], options: Options, position: int) -> Chunk:
        faults: dict[int, str] = {}
        texts: list[str | None] = []
        for row, content in enumerate(contents):
            try:
                texts.append(content.decode(options.encoding))
            except UnicodeDecodeError as error:
                texts.append(None)
                faults[row] = f"not valid {options.encoding}: at byte {error.start}"
        return Chunk(
            rows=len(files),
            columns={"text": texts, "label": [path.parent.name for path in files]},
            extra={},
            place=lambda row: str(files[row].relative_to(self.root)),
            faults=faults,
            position=position,
        )


def _visible(folder: Path, *, folders: bool) -> list[Path]:
    with failures_of(str(folder)):
        found = [path for path in folder.iterdir() if not path.name.startswith(".") and path.is_dir() == folders]
    return sorted(found, key=lambda path: path.name)


def _content(path: Path) -> bytes:
    if path.suffix.lower() not in COMPRESSIONS:
        with failures_of(str(path)):
            return path.read_bytes().removeprefix(BOM)
    with opened(path, "utf-8") as stream:
        return b"".join(iter(stream.read, b""))

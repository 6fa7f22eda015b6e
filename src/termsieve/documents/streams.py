"""The bytes of a file: opened, decompressed, transcoded to UTF-8, and cut into blocks of lines."""

from __future__ import annotations

import codecs
import os
import stat
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa

from termsieve.documents.encodings import SAMPLE_BYTES, find_mark
from termsieve.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from termsieve.documents.remote import AnyPath

# As measured: 1 to 4 MB 590 MB/s of JSON Lines, 8 MB 470, 16 MB 240; what leaves the caches is slower.
BLOCK_BYTES = 4 << 20

COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
BOM = codecs.BOM_UTF8


class LineBlock(NamedTuple):
    """Whole lines of a file, and the number of the first; the last line may lack its newline."""

    data: bytes
    line: int
    newlines: int = 0


@contextmanager
def convert_read_errors(name: str) -> Iterator[None]:
    """Turn what the system or a library says about a file into an `InputError` that names the file."""
    try:
        yield
    except FileNotFoundError as error:
        raise InputError(f"There is no file {name}.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{name}: not valid {error.encoding}: {error.reason}.") from error
    except (OSError, EOFError, pa.ArrowException) as error:
        raise InputError(f"{name}: the file cannot be read, it may be damaged or cut short: {error}") from error


class Stream:
    """The bytes of one file as UTF-8, from the first to the last.

    Bytes that are not valid in the encoding stay invalid, so that whoever reads the row can say which it is.
    """

    def __init__(
        self,
        name: str,
        file: BinaryIO,
        encoding: str = "utf-8",
        compression: str | None = None,
        *,
        replace: bool = False,
    ) -> None:
        self.name = name
        self._file = file
        self._size = 0 if compression else _regular_size(file)  # what is compressed says itself where it ends
        with convert_read_errors(name):
            self._input: Any = file if compression is None else pa.CompressedInputStream(file, compression)
        self._invalid = "replace" if replace else "surrogateescape"
        self._decoder: codecs.IncrementalDecoder | None = None
        if replace or not is_utf8_name(encoding):
            self._decode_as(encoding)
        self._is_utf8 = is_utf8_name(encoding)
        self._started = False

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        if self._input is not self._file:
            self._input.close()
        self._file.close()

    @property
    def position(self) -> int:
        """How far the file on disk was read."""
        try:
            return self._file.tell()
        except (OSError, ValueError):  # a pipe
            return 0

    def read(self, at_least: int = 0) -> bytes:
        """Read the next block of bytes; nothing at the end."""
        with convert_read_errors(self.name):
            data = self._read_utf8(max(BLOCK_BYTES, at_least, 4))
        if not data:
            self._check_end()
        if not self._started:
            self._started = True
            data = data.removeprefix(BOM)
        return data

    def read_raw(self) -> bytes:
        """Read the next block as it is stored, but unpacked."""
        with convert_read_errors(self.name):
            return bytes(self._input.read(BLOCK_BYTES))

    def _check_end(self) -> None:
        """Refuse a file that has become shorter since it was opened: the rest would be lost in silence."""
        if self.position < self._size:
            raise InputError(
                f"{self.name}: it was cut while it was read: it had {self._size:,} bytes, and ends after "
                f"{self.position:,} now. Read it again when it is whole."
            )

    def _read_utf8(self, size: int) -> bytes:
        while True:
            raw: bytes = self._input.read(size)
            if not self._started and self._is_utf8 and (marked := find_mark(raw)):
                self._decode_as(marked)
            if self._decoder is None:
                return raw
            data = self._decoder.decode(raw, final=not raw).encode("utf-8", "surrogatepass")
            if data or not raw:
                return data

    def _decode_as(self, encoding: str) -> None:
        self._decoder = codecs.getincrementaldecoder(encoding)(self._invalid)


def _regular_size(file: BinaryIO) -> int:
    """Return the size of a file on a disk; 0 for pipes, and for what is somewhere else."""
    try:
        status = os.fstat(file.fileno())
    except (OSError, ValueError, AttributeError):
        return 0
    return status.st_size if stat.S_ISREG(status.st_mode) else 0


def is_utf8_name(encoding: str) -> bool:
    """Tell whether an encoding is UTF-8, with or without a mark."""
    return codecs.lookup(encoding).name in ("utf-8", "utf-8-sig")


def open_stream(path: AnyPath, encoding: str, *, replace: bool = False) -> Stream:
    """Open the stream of a file, decompressed as its ending says; `replace` what is not valid in the encoding."""
    with convert_read_errors(str(path)):
        file = path.open("rb", buffering=0)
        compression = COMPRESSIONS.get(path.suffix.lower())
        if compression and path.is_file() and not path.stat().st_size:
            file.close()
            raise InputError(f"{path}: it has no bytes, where even nothing, compressed by {compression}, has some.")
    return Stream(str(path), file, encoding, compression, replace=replace)


def read_undecodable(path: AnyPath, encoding: str) -> bytes:
    """Return the lines around the first bytes that are not valid in an encoding; nothing if all are."""
    decoder = codecs.getincrementaldecoder(encoding)()
    with open_stream(path, "utf-8") as stream:
        while raw := stream.read_raw():
            try:
                decoder.decode(raw)
            except UnicodeDecodeError as error:
                start = max(error.start - SAMPLE_BYTES // 2, 0)
                start = raw.rfind(b"\n", 0, start) + 1 if start else 0
                return raw[start : error.start + SAMPLE_BYTES // 2]
    return b""


def read_line_blocks(stream: Stream) -> Iterator[LineBlock]:
    """Cut into blocks that end with a line; a line longer than a block makes a longer block."""
    line, pieces = 1, []
    while data := stream.read():
        cut = data.rfind(b"\n") + 1
        if not cut:
            pieces.append(data)
            continue
        block = b"".join((*pieces, memoryview(data)[:cut]))
        newlines = count_newlines(block)
        yield LineBlock(block, line, newlines)
        line += newlines
        pieces = [data[cut:]]
    if rest := b"".join(pieces):
        yield LineBlock(rest, line)


def count_newlines(data: bytes) -> int:
    """Count newlines, at four times the speed of `bytes.count`."""
    return int(np.count_nonzero(np.frombuffer(data, np.uint8) == ord("\n")))

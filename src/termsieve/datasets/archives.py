"""Members of archives, read in memory: nothing is ever written to a path that an archive names.

Dangerous archives are refused: names that lead out of the folder, links and devices, archives that end too early, and
decompression bombs.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from termsieve.errors import InputError

CHUNK_BYTES = 1 << 20
MAX_LINE_BYTES = 16 << 20  # bytes of a line
_TAR_BLOCK_BYTES = 512  # of a tar file
_GZIP, _BZIP2, _XZ, _ZIP = b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"PK"
_DAMAGE_ERRORS = (EOFError, OSError, zlib.error, lzma.LZMAError, tarfile.TarError, zipfile.BadZipFile)


@dataclass(frozen=True)
class Limits:
    """Limits of what may come out of an archive.

    Attributes
    ----------
    members : int
        Files and folders in it.
    total : int
        Bytes of all of them.
    ratio : int
        Unpacked bytes for each packed byte, beyond the first `CHUNK_BYTES`.
    """

    members: int = 100_000
    total: int = 1 << 30
    ratio: int = 100


DEFAULT_LIMITS = Limits()
STREAM_LIMITS = Limits(total=32 << 30)  # what is never held in memory may be larger


class Member(NamedTuple):
    """A file in an archive."""

    name: str
    content: bytes


class _MeteredReader(io.RawIOBase):
    """A reader that counts unpacked bytes: a bomb is an error before it fills the memory."""

    def __init__(self, path: Path, file: BinaryIO, unpacked: Any, limits: Limits) -> None:
        self._path, self._file, self._unpacked, self._limits = path, file, unpacked, limits
        self.count = 0
        self.content_end = 0  # after the last byte that is not zero

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._unpacked.read(min(len(buffer), CHUNK_BYTES))
        buffer[: len(data)] = data
        kept = len(data.rstrip(b"\0"))
        if kept:
            self.content_end = self.count + kept
        self.count += len(data)
        _check_unpacked_size(self._path, self.count, self._file.tell(), self._limits)
        return len(data)


def _check_unpacked_size(path: Path, unpacked: int, packed: int, limits: Limits) -> None:
    if unpacked > limits.total:
        raise InputError(f"{path}: unpacks to more than {limits.total:,} bytes, which is the limit. It may be a bomb.")
    if unpacked > limits.ratio * packed + CHUNK_BYTES:
        raise InputError(
            f"{path}: {packed:,} bytes unpack to {unpacked:,}, more than {limits.ratio} times as many, which is the "
            "limit. It may be a bomb."
        )


@contextmanager
def open_unpacked(path: Path, limits: Limits = STREAM_LIMITS) -> Iterator[_MeteredReader]:
    """Open a file as a stream of bytes, unpacked if it is packed."""
    try:
        with path.open("rb") as file:
            start = file.read(6)
            file.seek(0)
            yield _MeteredReader(path, file, _make_unpacker(start, file), limits)
    except _DAMAGE_ERRORS as error:
        raise InputError(
            f"{path}: is damaged, cut off, or not what it should be: {error or type(error).__name__}."
        ) from error


def _make_unpacker(start: bytes, file: BinaryIO) -> Any:
    if start.startswith(_GZIP):
        return gzip.GzipFile(fileobj=file)
    if start.startswith(_BZIP2):
        return bz2.BZ2File(file)
    return lzma.LZMAFile(file) if start.startswith(_XZ) else file


def read_lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a text file, which may be packed, without their ends."""
    with open_unpacked(path) as stream:
        reader = io.BufferedReader(stream, CHUNK_BYTES)
        while line := reader.readline(MAX_LINE_BYTES + 1):
            check_line(path, len(line))
            yield line.rstrip(b"\r\n")


def check_line(path: Path, length: int) -> None:
    """Refuse a line that would fill the memory."""
    if length > MAX_LINE_BYTES:
        raise InputError(
            f"{path}: has a line of more than {MAX_LINE_BYTES:,} bytes, which is the limit. It may be a bomb."
        )


def read_members(path: Path, wanted: Callable[[str], Any], limits: Limits = DEFAULT_LIMITS) -> Iterator[Member]:
    """Yield the wanted files of a tar or zip archive, in its order.

    Parameters
    ----------
    path : Path
        The archive; a tar file may be packed by gzip, bzip2 or xz.
    wanted : callable
        Whether a file is of interest, by its name.
    limits : Limits
        What is too much.

    Yields
    ------
    Member
    """
    with path.open("rb") as file:
        is_zip = file.read(len(_ZIP)) == _ZIP
    return (_read_zip if is_zip else _read_tar)(path, wanted, limits)


def _read_tar(path: Path, wanted: Callable[[str], Any], limits: Limits) -> Iterator[Member]:
    end = 0
    contents: dict[str, bytes] = {}
    with open_unpacked(path, limits) as stream:
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            for count, info in enumerate(archive, 1):
                _check_member_count(path, count, limits)
                name = _check_member_name(path, info.name)
                end = info.offset_data + (-(-info.size // _TAR_BLOCK_BYTES) * _TAR_BLOCK_BYTES if info.isreg() else 0)
                if not info.isdir() and _check_is_file(path, info, contents) and wanted(name):
                    contents[name] = _read_tar_member(path, archive, info, contents)
                    yield Member(name, contents[name])
        while stream.read(CHUNK_BYTES):  # to the end, where gzip has its checksum
            pass
        if stream.content_end > end:  # tarfile stops in silence where a header is damaged
            raise InputError(f"{path}: is damaged: from byte {end:,} on, its content is not a tar file.")


def _check_is_file(path: Path, info: tarfile.TarInfo, contents: dict[str, bytes]) -> bool:
    """Return True for a file, or a hard link to one that was read; refuse anything else."""
    if info.isreg() or (info.islnk() and _check_member_name(path, info.linkname) in contents):
        return True
    raise InputError(
        f"{path}: {info.name!r} is a link or a device. A corpus has files and folders only: it is not read."
    )


def _read_tar_member(path: Path, archive: tarfile.TarFile, info: tarfile.TarInfo, contents: dict[str, bytes]) -> bytes:
    if info.islnk():
        return contents[_check_member_name(path, info.linkname)]
    file = archive.extractfile(info)
    content = file.read() if file else b""
    if len(content) != info.size:
        raise InputError(f"{path}: {info.name!r} is cut off: it has {len(content):,} of {info.size:,} bytes.")
    return content


def _read_zip(path: Path, wanted: Callable[[str], Any], limits: Limits) -> Iterator[Member]:
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            _check_member_count(path, len(entries), limits)
            _check_unpacked_size(path, sum(entry.file_size for entry in entries), path.stat().st_size, limits)
            names = {
                _check_member_name(path, entry.filename): _check_plain_file(path, entry)
                for entry in entries
                if not entry.is_dir()
            }
            for name, entry in names.items():
                if wanted(name):
                    yield Member(name, archive.read(entry))
    except (*_DAMAGE_ERRORS, NotImplementedError) as error:
        raise InputError(f"{path}: is a damaged or cut off zip file: {error}.") from error


def _check_plain_file(path: Path, entry: zipfile.ZipInfo) -> zipfile.ZipInfo:
    mode = entry.external_attr >> 16
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG) or entry.flag_bits & 1:
        raise InputError(f"{path}: {entry.filename!r} is a link or is encrypted: it is not read.")
    return entry


def _check_member_count(path: Path, count: int, limits: Limits) -> None:
    if count > limits.members:
        raise InputError(f"{path}: has more than {limits.members:,} members, which is the limit. It may be a bomb.")


def _check_member_name(path: Path, name: str) -> str:
    """Return the name of a member, if it stays in the folder."""
    parts = name.split("/")
    if name.startswith("/") or ".." in parts or "\\" in name or re.match("[A-Za-z]:", name):
        raise InputError(f"{path}: has a member that leads out of its folder, {name!r}. It is not read.")
    return "/".join(part for part in parts if part not in ("", "."))

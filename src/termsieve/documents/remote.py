"""Files that are named by a URI: ``file://`` is a path; ``s3://``, ``gs://`` and others are read through Arrow.

A `RemotePath` has what readers ask of a path. Keys and passwords of a URI are used, and shown nowhere.
"""

from __future__ import annotations

import fnmatch
import glob
import posixpath
import re
import urllib.parse
import urllib.request
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, NamedTuple, TypeAlias, cast

import pyarrow as pa
import pyarrow.fs as pafs

from termsieve.documents.streams import convert_read_errors
from termsieve.errors import InputError

_URI = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]+)://")  # two letters or more: C:// is a drive


class _Size(NamedTuple):
    st_size: int
    st_dev: Any
    st_ino: Any
    st_mtime_ns: int


def is_uri(name: str) -> bool:
    """Tell whether a name is a URI.

    >>> is_uri("s3://bucket/x.csv"), is_uri("folder/x.csv")
    (True, False)
    """
    return _URI.match(name) is not None


def parse_uri(uri: str) -> Path | RemotePath:
    """Return the path that a URI names: of this machine, or of a filesystem that Arrow knows."""
    match = _URI.match(uri)
    if match is not None and match[1].lower() == "file":
        parts = _split_uri(uri)
        if parts.netloc not in ("", "localhost"):
            raise InputError(f"{uri}: names a file of another machine. Files of this one: file:///folder/file.")
        return Path(urllib.request.url2pathname(parts.path))
    shown = hide_secrets(uri)
    try:
        filesystem, path = pafs.FileSystem.from_uri(uri)
    except (pa.ArrowException, ValueError, OSError) as error:
        kind = uri.partition(":")[0]
        raise InputError(
            f"{shown}: cannot be opened ({_first_line(error)}). URIs of the kind {kind}:// must be known to Arrow, "
            "which reads file://, s3://, gs://, abfs:// and hdfs:// where it was built with them."
        ) from error
    return RemotePath(filesystem, path, uri)


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0].rstrip(".")


def hide_secrets(uri: str) -> str:
    """Return a URI without user, password and options.

    >>> hide_secrets("s3://key:secret@bucket/x.csv?endpoint_override=localhost")
    's3://bucket/x.csv'
    """
    parts = _split_uri(uri)
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}"


def _split_uri(uri: str) -> urllib.parse.SplitResult:
    try:
        return urllib.parse.urlsplit(uri)
    except ValueError as error:  # the rest of it may be a secret
        raise InputError(f"A URI of the kind {uri.partition(':')[0]}:// is not valid: {error}.") from error


class RemotePath:
    """A file or folder of a filesystem of Arrow, with those methods of `pathlib.Path` that readers need."""

    def __init__(self, filesystem: Any, path: str, uri: str) -> None:
        self._filesystem, self._path = filesystem, path.rstrip("/")
        address, mark, options = uri.partition("?")
        self._address, self._options = address.rstrip("/"), mark + options
        self._uri = hide_secrets(self._address)

    def __str__(self) -> str:
        return self._uri

    @property
    def full_uri(self) -> str:
        """The URI with all that is needed to open it; not to be shown."""
        return self._address + self._options

    def __repr__(self) -> str:
        return f"RemotePath({self._uri!r})"

    def __fspath__(self) -> str:
        return self._uri

    def __lt__(self, other: RemotePath) -> bool:
        return self._uri < other._uri

    @property
    def name(self) -> str:
        """The last part of the path."""
        return posixpath.basename(self._path)

    @property
    def suffix(self) -> str:
        """The ending."""
        return PurePosixPath(self._path).suffix

    @property
    def stem(self) -> str:
        """The last part without its ending."""
        return PurePosixPath(self._path).stem

    @cached_property
    def _info(self) -> Any:
        with convert_read_errors(self._uri):
            return self._filesystem.get_file_info(self._path)

    def exists(self) -> bool:
        """Tell whether it is there."""
        return bool(self._info.type != pafs.FileType.NotFound)

    def is_file(self) -> bool:
        """Tell whether it is a file."""
        return bool(self._info.type == pafs.FileType.File)

    def is_dir(self) -> bool:
        """Tell whether it is a folder."""
        return bool(self._info.type == pafs.FileType.Directory)

    def stat(self) -> _Size:
        """Return its size, what tells it from other files, and when it was written."""
        info = self._info
        return _Size(int(info.size or 0), type(self._filesystem).__name__, self._path, int(info.mtime_ns or 0))

    def open(self, mode: str = "rb", buffering: int = -1) -> BinaryIO:  # noqa: ARG002 - as pathlib has it
        """Open the file to read its bytes."""
        return cast("BinaryIO", self._filesystem.open_input_file(self._path))

    def iterdir(self) -> Iterator[RemotePath]:
        """Yield what is in the folder."""
        with convert_read_errors(self._uri):
            found = self._filesystem.get_file_info(pafs.FileSelector(self._path))
        for info in found:
            name = posixpath.basename(info.path)
            inner = RemotePath(self._filesystem, info.path, f"{self._address}/{name}{self._options}")
            inner._info = info
            yield inner

    @property
    def parent(self) -> RemotePath:
        """The folder that it is in."""
        address = posixpath.dirname(self._address) + self._options
        return RemotePath(self._filesystem, posixpath.dirname(self._path), address)


AnyPath: TypeAlias = "Path | RemotePath"


def as_path(name: str) -> AnyPath:
    """Return a name as a path: that of a URI, or of this machine."""
    return parse_uri(name) if is_uri(name) else Path(name)


def expand_uri(uri: str) -> list[str]:
    """Return the names of the files that a URI stands for: itself, or those that match it as a pattern; in order."""
    return [one.full_uri if isinstance(one, RemotePath) else str(one) for one in _expand(uri)]


def _expand(uri: str) -> list[AnyPath]:
    address, mark, options = uri.partition("?") if not uri.lower().startswith("file:") else (uri, "", "")
    if not glob.has_magic(address):
        return [parse_uri(uri)]
    parts = address.split("/")
    first = next(i for i, part in enumerate(parts) if glob.has_magic(part))
    if first < 3:
        raise InputError(f"{hide_secrets(uri)}: a pattern can stand behind the name of the host or bucket only.")
    base = parse_uri("/".join(parts[:first]) + mark + options)
    if isinstance(base, Path):
        pattern = str(base.joinpath(*parts[first:]))
        found: list[AnyPath] = [Path(one) for one in sorted(glob.glob(pattern, recursive=True))]  # noqa: PTH207
    else:
        found = sorted(_match(base, parts[first:]))
    if not found:
        raise InputError(f"No file matches the pattern {hide_secrets(uri)!r}.")
    return found


def _match(folder: RemotePath, parts: list[str]) -> Iterator[RemotePath]:
    """Yield what matches the parts of a pattern below a folder; ``**`` stands for any number of folders."""
    head, rest = parts[0], parts[1:]
    inside = [path for path in folder.iterdir() if not path.name.startswith(".")]
    if head == "**":
        yield from _match(folder, rest or ["*"])
        for path in inside:
            if path.is_dir():
                yield from _match(path, parts)
        return
    for path in inside:
        if fnmatch.fnmatchcase(path.name, head):
            if not rest:
                yield path
            elif path.is_dir():
                yield from _match(path, rest)

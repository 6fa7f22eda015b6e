"""Files that are written completely or not at all, and checks of their paths."""

from __future__ import annotations

import contextlib
import os
import re
import stat
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from termsieve.errors import OutputError

_URI = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]+):[/\\]")  # a path has one slash of its two; one letter is a drive


def is_writable(folder: Path) -> bool:
    """Tell whether files can be created in a folder."""
    return os.access(folder, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def check_target(path: str | Path, *, inputs: Iterable[str | Path] = ()) -> Path:
    """Refuse a path that cannot be written, or that is one of the inputs: better before long work than after.

    What is written through a link goes to the file behind it.
    """
    path = Path(path)
    if str(path) == "-":
        raise OutputError("-: stands for standard input, and is no name for a file to write. Give the name of a file.")
    try:
        _check_folder(path)
        same = next((one for one in inputs if not _is_special(path) and _belongs_to(path.resolve(), Path(one))), None)
    except (OSError, RuntimeError, ValueError) as error:  # links in a circle, a name that is too long, a zero byte
        if isinstance(error, OutputError):
            raise
        raise OutputError(f"{path}: cannot be written: {error}.") from error
    if same is not None:
        raise OutputError(f"{path}: is read as an input, and its content would be lost. Write to another file.")
    return path


def make_folder(folder: Path, file_name: str) -> None:
    """Make a folder where there is none, and refuse one in which that file cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be created: {error.strerror}.") from error
    check_target(folder / file_name)


def _check_folder(path: Path) -> None:
    if path.is_dir():
        raise OutputError(f"{path}: is a folder. Give the name of a file in it.")
    if _is_special(path):
        return
    parent = path.resolve().parent if path.is_symlink() else path.parent
    if not parent.is_dir():
        if kind := _URI.match(str(path)):  # whose other parts may be a secret
            raise OutputError(
                f"{kind[1]}:// is not written to: results are files of this machine. Write it here, then copy it."
            )
        raise OutputError(f"{path}: there is no folder {parent}. Make it first.")
    if not is_writable(parent):
        raise OutputError(f"{path}: the folder {parent} is not writable.")


def _belongs_to(target: Path, source: Path) -> bool:
    """Tell whether a file is a source, or in the class folders of one."""
    if not target.exists() or not source.exists():
        return False
    return target.samefile(source) or source.resolve() in target.parents[1:]


def _is_special(path: Path) -> bool:
    """Tell whether a path is a device, a pipe or a socket, which a rename would replace."""
    return path.exists() and not path.is_file() and not path.is_dir()


def write_atomically(path: str | Path, parts: Iterable[Any]) -> None:
    """Write a file completely or not at all; it keeps the mode of the file that it replaces."""
    path = check_target(path)
    try:
        if _is_special(path):
            _write_directly(path, parts)
        else:
            _write_and_rename(path.resolve(), parts)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error}.") from error


def _write_directly(path: Path, parts: Iterable[Any]) -> None:
    """Write to a device or a pipe, such as /dev/stdout or >(gzip)."""
    with path.open("wb") as file:
        for part in parts:
            file.write(part)


def _write_and_rename(path: Path, parts: Iterable[Any]) -> None:
    """Write to a temporary name beside the file, and rename: a reader never sees half a file."""
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    _unfinished.add(temporary)
    try:
        with os.fdopen(handle, "wb") as file:
            for part in parts:
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(_file_mode(path))
        os.replace(temporary, path)  # noqa: PTH105 - the name is a str
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    finally:
        _unfinished.discard(temporary)


_unfinished: set[str] = set()


def remove_unfinished() -> None:
    """Remove temporary files of unfinished writes: for a process that ends in the middle."""
    for temporary in list(_unfinished):
        Path(temporary).unlink(missing_ok=True)


def _file_mode(path: Path) -> int:
    """Return the mode of the existing file, or of a new one: mkstemp makes files that only their owner can read."""
    with contextlib.suppress(FileNotFoundError):
        return stat.S_IMODE(path.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask

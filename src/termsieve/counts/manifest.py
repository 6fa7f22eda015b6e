"""What was counted: a list of files in a counts file, so that new files are added alone and none counts twice.

A file is known by its content: the SHA-256 of its bytes. The list has a ``name``, a ``size`` and a ``sha256`` for each.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from termsieve.counts.counts_file import CountsFile
from termsieve.documents.remote import AnyPath
from termsieve.documents.streams import convert_read_errors
from termsieve.errors import CountsError, InputError


class CountedFile(NamedTuple):
    """A file that was counted."""

    name: str
    size: int
    sha256: str


def identify_files(paths: Sequence[AnyPath]) -> list[CountedFile]:
    """Read files, and return by what they are known; one that is there twice is refused."""
    if not paths:
        raise InputError(
            "A list of what was counted is one of files, and these documents are in none, as those of standard input. "
            "Write them to a file, and name that."
        )
    found: dict[str, CountedFile] = {}
    for path in paths:
        name = str(path)
        if path.is_dir():
            raise InputError(f"{name}: is a folder of class folders; a list of what was counted is one of files.")
        with convert_read_errors(name), path.open("rb") as file:
            digest = hashlib.sha256()
            while content := file.read(1 << 20):
                digest.update(content)
        one = CountedFile(name, path.stat().st_size, digest.hexdigest())
        if (other := found.setdefault(one.sha256, one)) is not one:
            raise InputError(f"{name}: has the same content as {other.name}; its documents would count twice.")
    return list(found.values())


def read_manifest(file: CountsFile) -> list[CountedFile]:
    """Return the list of what was counted; counts without one are refused."""
    if file.files is None:
        raise CountsError(
            f"{file.path}: has no list of the files that were counted, so nobody can tell which are new. Such a list "
            "is begun when --update makes the file."
        )
    try:
        return [CountedFile(str(one["name"]), int(one["size"]), str(one["sha256"])) for one in file.files]
    except (KeyError, TypeError, ValueError) as error:
        raise CountsError(f"{file.path}: its list of files is damaged: {error!r}.") from error


def write_manifest(files: Sequence[CountedFile]) -> list[Mapping[str, Any]]:
    """Return the list as a counts file keeps it."""
    return [one._asdict() for one in files]


def remove_files(known: Sequence[CountedFile], withdrawn: Sequence[CountedFile]) -> list[CountedFile]:
    """Return the list without files that are withdrawn; one that was not counted is refused."""
    digests = {one.sha256 for one in known}
    for one in withdrawn:
        if one.sha256 not in digests:
            raise CountsError(f"{one.name}: was not counted, or not with this content: it is not in the list of files.")
    gone = {one.sha256 for one in withdrawn}
    return [one for one in known if one.sha256 not in gone]

"""Paths of the converted corpora: find() and load()."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_cache_path

from termsieve.datasets.catalogue import lookup_dataset
from termsieve.documents import Documents, read
from termsieve.errors import InputError

DATA_VARIABLE = "TERMSIEVE_DATA"


def list_folders() -> list[Path]:
    """List the folders of corpora: the folder that TERMSIEVE_DATA names, then the cache of the user.

    The first is where `get` puts them.
    """
    named = os.environ.get(DATA_VARIABLE)
    cache = user_cache_path("termsieve", appauthor=False)
    return [Path(os.path.expanduser(named)), cache] if named else [cache]  # noqa: PTH111 (~ of nobody is a name)


def locate(name: str) -> Path | None:
    """Return the path of the converted form of a corpus, or None."""
    candidates = (folder / lookup_dataset(name).file_name for folder in list_folders())
    return next((path for path in candidates if path.is_file()), None)


def find(name: str) -> Path:
    """Return the path of the converted form of a corpus, a file of JSON lines.

    Parameters
    ----------
    name : str
        One of `CORPORA`.

    Returns
    -------
    Path
    """
    path = locate(name)
    if path is None:
        record = lookup_dataset(name)
        folders = " and ".join(map(str, list_folders()))
        raise InputError(
            f"The corpus {name} is not on this machine: there is no {record.file_name} in {folders}. "
            f"{_suggest_download(name)}{DATA_VARIABLE} can name another folder."
        )
    return path


def _suggest_download(name: str) -> str:
    record = lookup_dataset(name)
    if not record.archives:
        return f"{record.note} "
    source = "" if record.archives[0].urls else " --from FILE"
    return f"To get it: termsieve datasets get {name}{source}. "


def load(name: str) -> Documents:
    """Load the documents of a corpus.

    Parameters
    ----------
    name : str
        One of `CORPORA`.

    Returns
    -------
    Documents
        With their labels. ``id`` and ``split``, and what else the corpus has (``meta`` of reuters21578, ``cats`` of
        arxiv_abstracts), come with ``batches(["id", "split"])``.
    """
    return read(find(name), text="text", label="labels")

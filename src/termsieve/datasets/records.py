"""Records of corpora and their archives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

Document: TypeAlias = dict[str, Any]
Converter: TypeAlias = Callable[[Mapping[str, Path]], Iterator[Document]]


@dataclass(frozen=True)
class Archive:
    """A file that a corpus is made from, as its original site offers it.

    Attributes
    ----------
    name : str
        Name of the file.
    urls : tuple of str
        Addresses: the original site, then copies. Empty if it is no longer online.
    sha256 : str or None
        Checksum of the file; None if none is published.
    size : int or None
        Size in bytes.
    optional : bool
        Whether the corpus can be made without it.
    """

    name: str
    urls: tuple[str, ...] = ()
    sha256: str | None = None
    size: int | None = None
    optional: bool = False


@dataclass(frozen=True)
class Dataset:
    """A corpus.

    Attributes
    ----------
    name : str
        Its name here; its converted form is the file ``<name>.jsonl.gz``.
    title : str
        Its usual name.
    home : str
        The page that describes it.
    licence : str
        Its licence, in the words of its owners.
    citation : str
        What to cite.
    classes : int
        Number of classes.
    documents : int or None
        Number of documents; None if that changes from one edition to the next.
    splits : mapping of str or None to int
        Number of documents of each part; None stands for those of no part. Empty if the corpus has no parts.
    size : int or None
        Bytes of the converted form.
    papers : tuple of str
        The studies that use it, by the names of `termsieve reproduce`.
    archives : tuple of Archive
        The files it is made from.
    converter : callable or None
        From the archives, by name, to documents.
    stand_in_for : str or None
        The corpus of similar size and shape that it replaces, if any.
    sha256 : str or None
        Checksum of the converted form that our results were made with, compressed by zlib.
    fingerprint : str or None
        The same for its documents: SHA-256 of the lines, not compressed, with each CR LF in a text read as LF.
    note : str
        Other facts needed to get it.
    """

    name: str
    title: str
    home: str
    licence: str
    citation: str
    classes: int
    documents: int | None = None
    splits: Mapping[str | None, int] = field(default_factory=lambda: MappingProxyType({}))
    size: int | None = None
    papers: tuple[str, ...] = ()
    archives: tuple[Archive, ...] = ()
    converter: Converter | None = None
    stand_in_for: str | None = None
    sha256: str | None = None
    fingerprint: str | None = None
    note: str = ""

    @property
    def file_name(self) -> str:
        """The file name of the converted form."""
        return f"{self.name}.jsonl.gz"

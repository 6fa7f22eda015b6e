"""What is known about a corpus: frozen records."""

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
    """A file that a corpus is made from, as its home offers it.

    Attributes
    ----------
    name : str
        Of the file.
    urls : tuple of str
        Where it is: its home, then copies. Empty where it has no home any more.
    sha256 : str or None
        Of the file; None where nobody has published it.
    size : int or None
        In bytes.
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
        What it is called here; its converted form is the file ``<name>.jsonl.gz``.
    title : str
        What others call it.
    home : str
        The page that describes it.
    licence : str
        What its owners allow, as they say it.
    citation : str
        What to cite.
    classes : int
        How many.
    documents : int or None
        How many; None where that changes from one edition to the next.
    splits : mapping of str or None to int
        How many documents each part has; None stands for those of no part. Empty where the corpus has no parts.
    size : int or None
        Bytes of the converted form.
    papers : tuple of str
        The studies that use it, by the names of `termsieve reproduce`.
    archives : tuple of Archive
        What it is made from.
    converter : callable or None
        From the archives, by name, to documents.
    stand_in_for : str or None
        The corpus whose size and shape it has, where it is used in the place of another.
    sha256 : str or None
        Of the converted form that our results were made with, compressed by zlib.
    fingerprint : str or None
        The same for its documents: SHA-256 of the lines, not compressed, with each CR LF in a text read as LF.
    note : str
        What else one must know to get it.
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
        """Of the converted form."""
        return f"{self.name}.jsonl.gz"

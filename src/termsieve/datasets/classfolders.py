"""Corpora whose archives hold a folder for each class and a file for each document."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path

from termsieve.datasets.archives import read_members
from termsieve.datasets.records import Document
from termsieve.errors import TermsieveWarning

_ARTICLE = re.compile(r"(?:.*/)?(?:20_newsgroups|20news-bydate-(train|test))/([^/]+)/(\d+)")
_MAIL = re.compile(r"(?:.*/)?(enron1/(ham|spam)/[^/]+)\.txt")
_ABSTRACT = re.compile(r"(?:.*/)?(training|test)/(C\d\d)/(\d+)")
_SPLITS = ("train", "test", None)


def convert_newsgroups(archives: Mapping[str, Path]) -> Iterator[Document]:
    """Convert 20 Newsgroups: ``20_newsgroups/<group>/<number>``, or ``20news-bydate-train/...`` and ``-test``."""
    (path,) = archives.values()
    articles = []
    for name, content in read_members(path, _ARTICLE.fullmatch):
        part, group, number = _match_fields(_ARTICLE, name)
        articles.append((_SPLITS.index(part), group, int(number), content))
    for at, group, article, content in sorted(articles):
        prefix = f"{_SPLITS[at]}/" if _SPLITS[at] else ""
        yield _make_document(f"{prefix}{group}/{article}", _SPLITS[at], [group], content)


def convert_enron(archives: Mapping[str, Path]) -> Iterator[Document]:
    """Convert Enron1: ``enron1/ham/<number>.<date>.farmer.ham.txt`` and ``enron1/spam/``; lines end with CR LF."""
    (path,) = archives.values()
    for name, content in sorted(read_members(path, _MAIL.fullmatch)):
        identity, label = _match_fields(_MAIL, name)
        yield _make_document(identity, None, [label], content.replace(b"\r\n", b"\n"))


def convert_ohsumed(archives: Mapping[str, Path]) -> Iterator[Document]:
    """Convert OHSUMED: ``training/<class>/<number>`` and ``test/``; a document is in the folders of all its classes."""
    (path,) = archives.values()
    labels: dict[tuple[int, str], set[str]] = {}
    contents: dict[tuple[int, str], bytes] = {}
    different = 0
    for name, content in sorted(read_members(path, _ABSTRACT.fullmatch)):
        part, label, number = _match_fields(_ABSTRACT, name)
        key = (part == "test", number)
        labels.setdefault(key, set()).add(label)
        different += contents.setdefault(key, content) != content
    if different:
        message = f"{path}: {different} files differ from one class to another; the first is taken."
        warnings.warn(message, TermsieveWarning, stacklevel=2)
    for (is_test, number), content in sorted(contents.items()):
        split = _SPLITS[is_test]
        yield _make_document(f"{split}/{number}", split, sorted(labels[is_test, number]), content)


def _match_fields(pattern: re.Pattern[str], name: str) -> tuple[str, ...]:
    match = pattern.fullmatch(name)
    assert match  # noqa: S101 - only wanted members come
    return match.groups()


def _make_document(identity: str, split: str | None, labels: list[str], content: bytes) -> Document:
    # every byte is a character of Latin-1; what is not ASCII is rare and of no declared encoding
    return {"id": identity, "split": split, "labels": labels, "text": content.decode("latin-1")}

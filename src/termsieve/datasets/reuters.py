"""Reuters-21578: 22 files of SGML, in Latin-1, with the split in attributes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from termsieve.datasets.archives import members
from termsieve.datasets.records import Document
from termsieve.errors import InputError

_FILE = re.compile(r"(?:.*/)?reut2-(\d{3})\.sgm")
_ARTICLE = re.compile(r"<REUTERS\b([^>]*)>(.*?)</REUTERS>", re.DOTALL)
_OPENING = re.compile(r"<REUTERS\b")
_ATTRIBUTE = re.compile(r'(\w+)\s*=\s*"([^"]*)"')
_TEXT = re.compile(r'<TEXT(?:\s+TYPE="(\w+)")?>(.*?)</TEXT>', re.DOTALL)
_ITEM = re.compile(r"<D>(.*?)</D>", re.DOTALL)
_REFERENCE = re.compile(r"&(?:#(\d{1,3})|(lt|gt|amp|quot|apos));")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_NAMED = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}
_NEEDED = ("TOPICS", "LEWISSPLIT", "CGISPLIT", "NEWID")
_LISTS = ("places", "people", "orgs", "exchanges")


def reuters_documents(archives: Mapping[str, Path]) -> Iterator[Document]:
    """The articles of all ``reut2-*.sgm``, by number, with the ModApte split."""
    (path,) = archives.values()
    files = sorted(members(path, _FILE.fullmatch))
    _check_all_there(path, [name for name, _ in files])
    for name, content in files:
        yield from articles(f"{path}, {name}", content.decode("latin-1"))


def _check_all_there(path: Path, names: list[str]) -> None:
    numbers = {name[-7:-4] for name in names}
    missing = [f"reut2-{i:03d}.sgm" for i in range(len(numbers)) if f"{i:03d}" not in numbers]
    if missing or not numbers:
        raise InputError(
            f"{path}: is not Reuters-21578, or not all of it: {' '.join(missing) or 'reut2-000.sgm'} is missing."
        )


def articles(place: str, text: str) -> Iterator[Document]:
    """The articles of one file."""
    count = 0
    for count, (attributes, content) in enumerate(_ARTICLE.findall(text), 1):
        yield _document(f"{place}, article {count}", dict(_ATTRIBUTE.findall(attributes)), content)
    if count != len(_OPENING.findall(text)):
        raise InputError(f"{place}: is cut off or damaged: after article {count}, one begins that does not end.")


def _document(place: str, attributes: dict[str, str], content: str) -> Document:
    found = _TEXT.search(content)
    lacking = [name for name in _NEEDED if name not in attributes] + ([] if found else ["TEXT"])
    if not found or lacking:
        raise InputError(f"{place}: has no {' and no '.join(lacking)}.")
    kind, body = found.groups()
    title = _element(body, "TITLE")
    meta = {
        "topics_attr": attributes["TOPICS"],
        "lewissplit": attributes["LEWISSPLIT"],
        "cgisplit": attributes["CGISPLIT"],
        "text_type": kind or "NORM",
        "dateline": (_element(body, "DATELINE") or "").strip(),
        "title": title or "",
    }
    meta |= {name: _items(content, name.upper()) for name in _LISTS}
    return {
        "id": attributes["NEWID"],
        "split": _mod_apte(attributes),
        "labels": _items(content, "TOPICS"),
        "text": _text(title, body),
        "meta": meta,
    }


def _mod_apte(attributes: dict[str, str]) -> str | None:
    """Training: before April 8, test: after April 7, both only if indexed by topics; the rest is not used."""
    if attributes["TOPICS"] != "YES":
        return None
    return {"TRAIN": "train", "TEST": "test"}.get(attributes["LEWISSPLIT"])


def _text(title: str | None, body: str) -> str:
    """Title and body; of a brief, the title; of an article that was not taken apart, all of it."""
    article = _element(body, "BODY")
    if title is None:
        return decoded(body) if article is None else article
    return title if article is None else f"{title}\n{article}"


def _element(text: str, name: str) -> str | None:
    start, end = text.find(f"<{name}>"), text.find(f"</{name}>")
    return decoded(text[start + len(name) + 2 : end]) if 0 <= start < end else None


def _items(text: str, name: str) -> list[str]:
    start, end = text.find(f"<{name}>"), text.find(f"</{name}>")
    return [decoded(item) for item in _ITEM.findall(text, start, end)] if 0 <= start < end else []


def decoded(text: str) -> str:
    """Text with its entities replaced, without the control characters of the wire.

    >>> decoded("S&amp;P said &lt;IBM> rose&#3;")
    'S&P said <IBM> rose'
    """
    return _CONTROL.sub("", _REFERENCE.sub(_character, text))


def _character(found: re.Match[str]) -> str:
    number, name = found.groups()
    return _NAMED[name] if name else chr(int(number))

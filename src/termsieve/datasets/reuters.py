"""Reuters-21578: 22 files of SGML, in Latin-1, with the split in attributes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from termsieve.datasets.archives import read_members
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
_ENTITIES = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}
_REQUIRED_ATTRIBUTES = ("TOPICS", "LEWISSPLIT", "CGISPLIT", "NEWID")
_LIST_FIELDS = ("places", "people", "orgs", "exchanges")


def convert_reuters(archives: Mapping[str, Path]) -> Iterator[Document]:
    """Convert the articles of all ``reut2-*.sgm``, by number, with the ModApte split."""
    (path,) = archives.values()
    files = sorted(read_members(path, _FILE.fullmatch))
    _check_complete(path, [name for name, _ in files])
    for name, content in files:
        yield from parse_articles(f"{path}, {name}", content.decode("latin-1"))


def _check_complete(path: Path, names: list[str]) -> None:
    numbers = {name[-7:-4] for name in names}
    missing = [f"reut2-{i:03d}.sgm" for i in range(len(numbers)) if f"{i:03d}" not in numbers]
    if missing or not numbers:
        raise InputError(
            f"{path}: is not Reuters-21578, or not all of it: {' '.join(missing) or 'reut2-000.sgm'} is missing."
        )


def parse_articles(place: str, text: str) -> Iterator[Document]:
    """Yield the articles of one file."""
    count = 0
    for count, (attributes, content) in enumerate(_ARTICLE.findall(text), 1):
        yield _parse_article(f"{place}, article {count}", dict(_ATTRIBUTE.findall(attributes)), content)
    if count != len(_OPENING.findall(text)):
        raise InputError(f"{place}: is cut off or damaged: after article {count}, one begins that does not end.")


def _parse_article(place: str, attributes: dict[str, str], content: str) -> Document:
    match = _TEXT.search(content)
    lacking = [name for name in _REQUIRED_ATTRIBUTES if name not in attributes] + ([] if match else ["TEXT"])
    if not match or lacking:
        raise InputError(f"{place}: has no {' and no '.join(lacking)}.")
    kind, body = match.groups()
    title = _find_element(body, "TITLE")
    meta = {
        "topics_attr": attributes["TOPICS"],
        "lewissplit": attributes["LEWISSPLIT"],
        "cgisplit": attributes["CGISPLIT"],
        "text_type": kind or "NORM",
        "dateline": (_find_element(body, "DATELINE") or "").strip(),
        "title": title or "",
    }
    meta |= {name: _find_items(content, name.upper()) for name in _LIST_FIELDS}
    return {
        "id": attributes["NEWID"],
        "split": _mod_apte_split(attributes),
        "labels": _find_items(content, "TOPICS"),
        "text": _join_text(title, body),
        "meta": meta,
    }


def _mod_apte_split(attributes: dict[str, str]) -> str | None:
    """Return "train" before April 8 and "test" after April 7, both only if indexed by topics, else None."""
    if attributes["TOPICS"] != "YES":
        return None
    return {"TRAIN": "train", "TEST": "test"}.get(attributes["LEWISSPLIT"])


def _join_text(title: str | None, body: str) -> str:
    """Return title and body; of a brief, the title; of an unstructured article, all of it."""
    article = _find_element(body, "BODY")
    if title is None:
        return decode_entities(body) if article is None else article
    return title if article is None else f"{title}\n{article}"


def _find_element(text: str, name: str) -> str | None:
    start, end = text.find(f"<{name}>"), text.find(f"</{name}>")
    return decode_entities(text[start + len(name) + 2 : end]) if 0 <= start < end else None


def _find_items(text: str, name: str) -> list[str]:
    start, end = text.find(f"<{name}>"), text.find(f"</{name}>")
    return [decode_entities(item) for item in _ITEM.findall(text, start, end)] if 0 <= start < end else []


def decode_entities(text: str) -> str:
    """Replace entities, and remove the control characters of the news wire.

    >>> decode_entities("S&amp;P said &lt;IBM> rose&#3;")
    'S&P said <IBM> rose'
    """
    return _CONTROL.sub("", _REFERENCE.sub(_replace_entity, text))


def _replace_entity(match: re.Match[str]) -> str:
    number, name = match.groups()
    return _ENTITIES[name] if name else chr(int(number))

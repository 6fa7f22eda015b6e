"""The Open Directory: RDF in one huge XML file, read as a stream."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from xml.parsers import expat

from termsieve.datasets.archives import CHUNK_BYTES, check_line, open_unpacked
from termsieve.datasets.records import Document
from termsieve.errors import InputError

ENGLISH_CLASSES = (
    "Arts",
    "Business",
    "Computers",
    "Games",
    "Health",
    "Home",
    "Kids_and_Teens",
    "News",
    "Recreation",
    "Science",
    "Shopping",
    "Society",
    "Sports",
)
_INTERNATIONAL_PREFIX = "Top/Kids_and_Teens/International/"
_FIELDS = ("Title", "Description", "topic")
# the dumps have characters that XML forbids, and references to them
_FORBIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|&#(?:0*(?:[0-8]|1[124-9]|2\\d|3[01])|x0*(?:[0-8bcefBCEF]|1[\\da-fA-F]));"
)


def convert_odp(archives: Mapping[str, Path]) -> Iterator[Document]:
    """Convert the pages of the 13 English classes of the first level: title and description."""
    number = 0
    for path in archives.values():
        for page in _read_pages(path):
            topic = page.get("topic", "")
            parts = topic.split("/")
            if (
                len(parts) < 2
                or parts[0] != "Top"
                or parts[1] not in ENGLISH_CLASSES
                or topic.startswith(_INTERNATIONAL_PREFIX)
            ):
                continue
            number += 1
            text = "\n".join(filter(None, (page.get("Title"), page.get("Description"))))
            labels = [parts[1]]
            about = {"url": page["about"], "topic": topic}
            yield {"id": f"odp-{number:07d}", "split": None, "labels": labels, "text": text, **about}


def _read_pages(path: Path) -> Iterator[dict[str, str]]:
    reader = _PageParser(path)
    with open_unpacked(path) as stream:
        text = codecs.getincrementaldecoder("utf-8")("replace")
        rest = ""
        while data := stream.read(CHUNK_BYTES):
            rest += text.decode(data)
            cut = rest.rfind("\n") + 1  # a reference never spans lines
            yield from reader.feed(rest[:cut])
            rest = rest[cut:]
            check_line(path, len(rest))
        yield from reader.feed(rest, last=True)


class _PageParser:
    """A parser of pages in XML. Prefixes are ignored: editions differ in their namespaces."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._page: dict[str, str] | None = None
        self._text: list[str] | None = None
        self._finished_pages: list[dict[str, str]] = []
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.StartDoctypeDeclHandler = self._refuse_doctype

    def feed(self, text: str, *, last: bool = False) -> list[dict[str, str]]:
        """Return the pages that end in this part."""
        try:
            self._parser.Parse(_FORBIDDEN.sub("", text), last)
        except expat.ExpatError as error:
            raise InputError(f"{self._path}: is cut off, or is not RDF of the Open Directory: {error}.") from error
        done, self._finished_pages = self._finished_pages, []
        return done

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        local = name.rpartition(":")[2]
        if local == "ExternalPage":
            self._page = {"about": next((v for k, v in attributes.items() if k.endswith("about")), "")}
        elif local in _FIELDS and self._page is not None:
            self._text = []

    def _characters(self, data: str) -> None:
        if self._text is not None:
            self._text.append(data)

    def _end(self, name: str) -> None:
        local = name.rpartition(":")[2]
        if self._page is None:
            return
        if local == "ExternalPage":
            self._finished_pages.append(self._page)
            self._page = None
        elif self._text is not None and local in _FIELDS:
            self._page[local] = " ".join("".join(self._text).split())
            self._text = None

    def _refuse_doctype(self, *_: object) -> None:
        raise InputError(
            f"{self._path}: declares a document type, as no RDF of the Open Directory does. It is not read."
        )

"""SMS Spam Collection: one message per line, after its class and a tab."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from termsieve.datasets.archives import read_members
from termsieve.datasets.records import Document
from termsieve.errors import InputError

_FILE = re.compile(r"(?:.*/)?SMSSpamCollection(?:\.txt)?")


def convert_sms(archives: Mapping[str, Path]) -> Iterator[Document]:
    """Convert the messages of ``SMSSpamCollection`` in its zip file."""
    (path,) = archives.values()
    for name, content in read_members(path, _FILE.fullmatch):
        yield from _parse_messages(f"{path}, {name}", content)


def _parse_messages(place: str, content: bytes) -> Iterator[Document]:
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{place}: is not UTF-8: {error}.") from error
    # not splitlines(): messages hold characters that it takes for ends of lines
    for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
        label, tab, message = line.removesuffix("\r").partition("\t")
        if not tab or label not in ("ham", "spam"):
            raise InputError(f"{place}, line {number}: begins with {line[:20]!r}, not with ham or spam and a tab.")
        yield {"id": f"sms-{number:04d}", "split": None, "labels": [label], "text": message}

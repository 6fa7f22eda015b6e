"""RCV1-v2 as LYRL2004 published it: files of stemmed tokens, and one of topics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from termsieve.datasets.archives import read_lines
from termsieve.datasets.records import Document
from termsieve.errors import InputError

TOP_TOPICS = ("CCAT", "ECAT", "GCAT", "MCAT")


def convert_rcv1(archives: Mapping[str, Path]) -> Iterator[Document]:
    """Convert the documents of ``lyrl2004_tokens_*.dat``, with the topics of ``rcv1-v2.topics.qrels``.

    A document has one label, the first of the four top topics that is listed for it; ``topics`` has all that are.
    """
    files = dict(archives)
    topics = _read_topics(next(files.pop(name) for name in archives if "qrels" in name))
    for name, path in files.items():
        split = "train" if "_train" in name else "test"
        for number, text in _read_records(path):
            listed = topics.get(number, [])
            labels = [topic for topic in listed if topic in TOP_TOPICS][:1]
            yield {"id": number, "split": split, "labels": labels, "text": text, "topics": listed}


def _read_topics(path: Path) -> dict[str, list[str]]:
    """Read the topics of each document, from lines such as ``E11 2286 1``."""
    topics: dict[str, list[str]] = {}
    known: dict[str, str] = {}  # so that each name is held once, not two million times
    for at, line in enumerate(read_lines(path), 1):
        fields = line.decode("latin-1").split()
        if len(fields) != 3 or not fields[1].isdigit():
            raise InputError(f"{path}, line {at}: is {line[:40]!r}, not a topic, the number of a document, and 1.")
        topics.setdefault(fields[1], []).append(known.setdefault(fields[0], fields[0]))
    return topics


def _read_records(path: Path) -> Iterator[tuple[str, str]]:
    """Yield number and tokens of each record: ``.I 2286``, ``.W``, lines of tokens, an empty line."""
    number, in_text = "", False
    text: list[str] = []
    for at, raw in enumerate(read_lines(path), 1):
        line = raw.decode("latin-1").strip()
        if line.startswith(".I "):
            if number:
                yield number, "\n".join(text)
            number, text, in_text = line[3:].strip(), [], False
            if not number.isdigit():
                raise InputError(f"{path}, line {at}: {line[:40]!r} names no document.")
        elif line == ".W" and number:
            in_text = True
        elif line and in_text:
            text.append(line)
        elif line:
            raise InputError(f"{path}, line {at}: {line[:40]!r} stands before .I and .W. Is this a file of tokens?")
    if number:
        yield number, "\n".join(text)

"""The one form of all corpora: JSON lines ``{"id", "split", "labels", "text", ...}``, the same bytes each time."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from termsieve.datasets.records import Document

_CHUNK = 1 << 20


def document_to_line(document: Document) -> bytes:
    """Return a document as a line of JSON."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def compress_lines(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Compress lines by gzip, without a date: equal lines give equal bytes, with one version of zlib."""
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=buffer, mtime=0) as file:
        for line in lines:
            file.write(line)
            if buffer.tell() > _CHUNK:
                yield _drain(buffer)
    yield _drain(buffer)


def _drain(buffer: io.BytesIO) -> bytes:
    content = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return content


@dataclass
class ConversionSummary:
    """The numbers of encoded documents by class and part, and their fingerprint."""

    documents: int = 0
    classes: Counter[str] = field(default_factory=Counter)
    splits: Counter[str | None] = field(default_factory=Counter)
    _digest: Any = field(default_factory=hashlib.sha256, repr=False)

    def encode_documents(self, documents: Iterable[Document]) -> Iterator[bytes]:
        """Yield the lines of documents, and count them."""
        for document in documents:
            self.documents += 1
            self.classes.update(document["labels"])
            self.splits[document["split"]] += 1
            line = document_to_line(document)
            self.update_digest(line)
            yield line

    def update_digest(self, line: bytes) -> None:
        """Let the fingerprint cover a line."""
        # archives of one corpus differ in the ends of lines, which no tokenizer sees
        self._digest.update(line.replace(rb"\r\n", rb"\n"))

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the lines, with each CR LF in a text read as LF."""
        return str(self._digest.hexdigest())

"""Damaged CSV, TSV and JSON Lines are read as a slow reader reads them, or refused as it refuses them; damaged gzip and
zstd files give an error, or what was in them.
"""

from __future__ import annotations

import base64
import csv
import gzip
import io
import json
import math
import os
import warnings
from functools import partial
from unittest.mock import patch

import pyarrow as pa
import pytest
from damage.damage import EQUAL, ERROR, damaged, outcomes

from termsieve.documents import read
from termsieve.errors import InputError

pytestmark = pytest.mark.filterwarnings("ignore:skipped")  # said of each bad row, and looked at below

BLOCK = 256  # bytes, so that a small file has many blocks, and their edges are tried
WORDS = ["alpha", "beta, gamma", 'the "delta"', "épsilon 漢字", "over\nlines", "", "tab\there", "zeta \U0001f600"]
RECORDS = [(f"{WORDS[i % 8]} {i}", ["spam", "ham", "ünlabelled"][i % 3]) for i in range(60)]


def documents(path, block=BLOCK, *, strict=True, **options):
    with patch("termsieve.documents.streams.BLOCK_BYTES", block), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [
            (row["text"], row["labels"]) for batch in read(path, strict=strict, **options) for row in batch.to_pylist()
        ]


def skipping(path, **options):
    """Blocks are so large that no damage takes a column from all records of the first, which is an error of its own."""
    return documents(path, 2048, strict=False, encoding_errors="skip", **options)


# --- CSV and TSV ----------------------------------------------------------------------------------------


def delimited(delimiter):
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter).writerows([("text", "label"), *RECORDS])
    return out.getvalue().encode()


class Lines:
    """The lines of a text, and whether one more was asked for than there are; what is not UTF-8 is marked."""

    def __init__(self, data):
        self._lines = io.BytesIO(data.removeprefix(b"\xef\xbb\xbf"))  # which ends lines at newlines only
        self.ended = self.invalid = False

    def __iter__(self):
        return self

    def __next__(self):
        line = next(self._lines, None)
        if line is None:
            self.ended = True
            raise StopIteration
        text = line.decode(errors="surrogateescape")
        self.invalid |= text.encode(errors="surrogateescape") != text.encode(errors="replace")
        return text


def slow_records(data, delimiter):
    """The records of the bytes by Python's csv, None for one that is bad; an exception where a quote stays open."""
    lines = Lines(data)
    reader = csv.reader(lines, delimiter=delimiter)
    while True:
        lines.invalid = False
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error:
            cells = None
        if lines.ended and cells is not None:
            raise ValueError("a quote is never closed")
        if lines.invalid:
            cells = None
        if cells != []:
            yield cells


def slow_csv(data, delimiter, *, skip=False):
    """The documents of the bytes; any exception refuses them."""
    header, *rows = slow_records(data, delimiter)
    if header.count("text") != 1 or header.count("label") != 1:
        raise ValueError("columns are missing")
    found = [slow_row(header, cells) for cells in rows]
    if (None in found and not skip) or found.count(None) == len(found):
        raise ValueError("rows are bad")
    return [row for row in found if row is not None]


def slow_row(header, cells):
    if (
        cells is None
        or len(cells) != len(header)
        or not cells[header.index("label")]
        or not cells[header.index("text")]
    ):
        return None
    return cells[header.index("text")], [cells[header.index("label")]]


@pytest.mark.parametrize("skip", [False, True])
@pytest.mark.parametrize(("ending", "delimiter"), [("csv", ","), ("tsv", "\t")])
def test_damaged_delimited_files(tmp_path, ending, delimiter, skip):
    data = delimited(delimiter)
    assert slow_csv(data, delimiter) == [(text, [label]) for text, label in RECORDS]
    found, bad = outcomes(
        list(damaged(data, seed=int(skip))),
        partial(skipping if skip else documents, sep=delimiter),
        tmp_path / f"x.{ending}",
        expect=lambda data: slow_csv(data, delimiter, skip=skip),
    )
    print(ending, "skipping bad rows" * skip, dict(found))
    assert not bad
    assert found[ERROR]
    assert found[EQUAL]


# --- JSON Lines -----------------------------------------------------------------------------------------

JSON_LABELS = ["spam", ["ham", "eggs"], True, 7, 1.5, "ünlabelled", [], [1, 2], False, "1.50"]


def json_lines():
    records = ({"id": i, "text": text, "label": JSON_LABELS[i // 6]} for i, (text, _) in enumerate(RECORDS))
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode()


def slow_label(value):
    """The spelling of one label; an exception where it is none."""
    if isinstance(value, str):
        value.encode()
        return value or 1 / 0
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float) and math.isfinite(value):
        return str(value or 0.0)
    raise ValueError("no label")


def slow_json(data, *, skip=False):
    """The documents of the bytes by Python's json, line by line; any exception refuses them."""
    found = []
    for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        if line.strip():
            try:
                found.append(slow_record(line))
            except Exception:
                if not skip:
                    raise
    if not found:
        raise ValueError("no rows")
    return found


def slow_record(line):
    record = json.loads(line.decode())
    text, label = record["text"], record["label"]
    if not isinstance(text, str):
        raise TypeError("no text")
    text.encode()
    labels = [slow_label(value) for value in (label if isinstance(label, list) else [label])]
    return text, list(dict.fromkeys(labels))


@pytest.mark.parametrize("skip", [False, True])
def test_damaged_json_lines(tmp_path, skip):
    data = json_lines()
    assert len(slow_json(data)) == len(RECORDS)
    found, bad = outcomes(
        list(damaged(data, seed=int(skip))),
        skipping if skip else documents,
        tmp_path / "x.jsonl",
        expect=lambda data: slow_json(data, skip=skip),
    )
    print("jsonl", "skipping bad rows" * skip, dict(found))
    assert not bad
    assert found[EQUAL]
    assert skip or found[ERROR]


# --- compressed files -----------------------------------------------------------------------------------

# zstd has a checksum only where it is asked for, as the program zstd does; Arrow writes none, so here are its bytes
PLAIN = b"".join(
    b'{"text": "document %d has the word w%d", "label": "%s"}\n' % (i, i * i, b"ab"[i % 2 :][:1]) for i in range(40)
)
ZSTD = base64.b64decode(
    "KLUv/QRoLQcAcswhF4BNG0TQwAlncZHEOL6oRXbvj0ZuHJUO+059y7yQeCnXN3/Ne+YduZ93fXltrU1ojYKAzIu8LKw2bmpTRNXj"
    "nR6esxWzdUPhi7yIy31tfqoej//v97dWbq1C8uLytVOx+IGKEWwNTEEKQmErYCetw2mkhSTQeohk3YIYZImM5mBrYNCEQIwKUKgR"
    "gHHe/zegM1ptEvgZBAAGDkFD+JV+K0bWTWCTimxsAH3GxPZbtzBeikq5FebGnWr76rlOfIss9uUtNcKrum+23D8edrpalJgh+kti"
    "3Z5wbjWYFx6KwpNfBUsHIZs="
)


def test_the_zstd_file_has_a_checksum():
    with pa.CompressedInputStream(pa.BufferReader(ZSTD), "zstd") as stream:
        assert stream.read() == PLAIN
    assert ZSTD[4] & 4, "the flag of the frame that says there is a checksum"


@pytest.mark.parametrize("kind", ["gz", "zst"])
def test_damaged_compressed_files(tmp_path, kind):
    data = gzip.compress(PLAIN, mtime=0) if kind == "gz" else ZSTD
    (tmp_path / f"x.jsonl.{kind}").write_bytes(data)
    content = documents(tmp_path / f"x.jsonl.{kind}")
    assert len(content) == 40
    found, bad = outcomes(list(damaged(data)), documents, tmp_path / f"x.jsonl.{kind}", expected=content)
    print(kind, dict(found))
    assert not bad
    assert found[ERROR]


@pytest.mark.parametrize("kind", ["gz", "zst"])
def test_what_stands_behind_a_compressed_file(tmp_path, kind):
    """Further members are read, anything else is an error; gzip itself would warn, and ignore it."""
    data = gzip.compress(PLAIN) if kind == "gz" else ZSTD
    path = tmp_path / f"x.jsonl.{kind}"
    path.write_bytes(data + data)
    assert len(documents(path)) == 80
    for garbage in (b"garbage", b"\0", bytes(512), os.urandom(100), data[:20]):
        path.write_bytes(data + garbage)
        with pytest.raises(InputError, match="damaged or cut short"):
            documents(path)

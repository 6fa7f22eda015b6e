"""Laws of documents: the format, the size of blocks and the path through Arrow or Python change nothing."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from termsieve.documents import Documents, read
from termsieve.errors import InputError

pytestmark = pytest.mark.filterwarnings("ignore:skipped")  # said of each bad row, and looked at below

ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
AWKWARD_TEXT = st.text(st.sampled_from("ab ,;\t\n\r\"'\\\0\ufeffé漢\U0001f600\u2028"), max_size=12)
TEXTS = ANY_TEXT | AWKWARD_TEXT
LABELS = TEXTS.filter(bool)
PAIRS = st.lists(st.tuples(TEXTS, LABELS), min_size=1, max_size=12)
BLOCKS = st.sampled_from([3, 7, 16, 64, 4 << 20])


def rows(docs):
    return [tuple(row.values()) for batch in docs for row in batch.to_pylist()]


def blocks_of(size):
    return patch("termsieve.documents.streams.BLOCK_BYTES", size)


def read_bytes(name, data, **options):
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        return rows(read(path, **options))


def read_places(name, data, **options):
    """The documents and the line of each, what was skipped, and what was noted."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        docs = read(path, **options)
        found = [
            (row["text"], row["labels"], row["place"]["line"])
            for batch in docs.batches(places=True)
            for row in batch.to_pylist()
        ]
        return found, docs.skipped_lines, docs.skipped_places, [note.replace(folder, "") for note in docs.notes]


def delimited(pairs, delimiter, quoting, newline):
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, quoting=quoting, lineterminator=newline)
    writer.writerow(["text", "label"])
    writer.writerows(pairs)
    return out.getvalue().encode()


# The csv module leaves a carriage return without quotes if lines end with a newline alone
WRITERS = st.sampled_from([(csv.QUOTE_MINIMAL, "\r\n"), (csv.QUOTE_ALL, "\r\n"), (csv.QUOTE_ALL, "\n")])


@pytest.mark.filterwarnings("ignore:.* look like several rows merged")
@given(PAIRS, BLOCKS, WRITERS)
@settings(deadline=None)
def test_csv_and_tsv_round_trip(pairs, size, writer):
    expected = [(text, [label]) for text, label in pairs if text]  # an empty cell is no text
    assume(expected)
    with blocks_of(size):
        assert read_bytes("x.csv", delimited(pairs, ",", *writer)) == expected
        assert read_bytes("x.tsv", delimited(pairs, "\t", *writer)) == expected


@given(PAIRS, BLOCKS, st.booleans())
@settings(deadline=None)
def test_json_lines_round_trip(pairs, size, ascii_only):
    lines = [json.dumps({"text": text, "label": label}, ensure_ascii=ascii_only) for text, label in pairs]
    with blocks_of(size):
        found = read_bytes("x.jsonl", "\n".join(lines).encode())
    assert found == [(text, [label]) for text, label in pairs]


@given(PAIRS)
@settings(deadline=None)
def test_parquet_and_sequences_round_trip(pairs):
    texts, labels = (list(column) for column in zip(*pairs, strict=True))
    expected = [(text, [label]) for text, label in pairs]
    out = io.BytesIO()
    pq.write_table(pa.table({"text": texts, "label": labels}), out, row_group_size=5)
    assert read_bytes("x.parquet", out.getvalue()) == expected
    assert rows(Documents.of(texts, labels)) == expected


LABEL_VALUES = (
    LABELS | st.integers() | st.booleans() | st.lists(LABELS, max_size=4) | st.lists(st.integers(0, 3), max_size=4)
)


def spelled(value):
    values = value if isinstance(value, list) else [value]
    return list(dict.fromkeys(str(item) for item in values))


@given(st.lists(st.tuples(TEXTS, LABEL_VALUES), min_size=1, max_size=8), BLOCKS)
@settings(deadline=None)
def test_json_labels_of_any_mixture(pairs, size):
    data = "\n".join(json.dumps({"text": text, "label": label}) for text, label in pairs)
    with blocks_of(size):
        assert read_bytes("x.jsonl", data.encode()) == [(text, spelled(label)) for text, label in pairs]


def outcome(name, data, **options):
    """The documents with the lines where they begin, or the error without what depends on where the file is."""
    try:
        return read_places(name, data, **options)
    except InputError as error:
        return str(error).partition("x.")[2]


CSV_SOUP = st.text(st.sampled_from('ab,,""\n\n\r'), max_size=60)


@pytest.mark.filterwarnings("ignore:.* look like several rows merged")
@given(CSV_SOUP, BLOCKS, st.booleans(), st.booleans())
@settings(deadline=None, max_examples=300)
def test_any_csv_is_read_as_by_the_csv_module(soup, size, strict, quotes):
    data = ("text,label\n" + soup).encode()
    with patch("termsieve.documents.delimited._find_clean_cut", lambda lines, layout: 0):
        plain = outcome("x.csv", data, strict=strict, quotes=quotes)
    with blocks_of(size):
        assert outcome("x.csv", data, strict=strict, quotes=quotes) == plain


FINE = ['{"text":"a","label":"x"}', '{"text":"b","label":["x","y"]}', '{"text":"c","label":7}']
BROKEN = [
    '{"text":"d"}',
    '{"text":"e","label":"x"}{"text":"f","label":"x"}',
    '{"text":',
    '"g","label":"x"}',
    "{",
    "[]",
]
JSON_LINES = st.sampled_from([*FINE, *BROKEN, "", " ", "\r", "null", "true", "7", '{"text":"h","label":"x"} null'])


@given(st.lists(JSON_LINES, min_size=1, max_size=10), BLOCKS, st.booleans())
@settings(deadline=None, max_examples=300)
def test_any_json_is_read_as_line_by_line(lines, size, strict):
    data = "\n".join(['{"text":"first","label":"x"}', *lines]).encode()
    with patch("termsieve.documents.jsonlines._parse_with_arrow", lambda block, types: None):
        plain = outcome("x.jsonl", data, strict=strict)
    with blocks_of(size):
        assert outcome("x.jsonl", data, strict=strict) == plain

"""A label has one spelling, whatever type, library, format, block and path it comes by."""

from __future__ import annotations

import datetime as dt
import decimal
import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as pf
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from termsieve.documents import Documents, read
from termsieve.documents.label_spelling import find_similar_labels

pytestmark = pytest.mark.filterwarnings("ignore:skipped")  # said of each bad row, and looked at below

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5)
MOMENTS = st.datetimes().filter(lambda moment: 1900 < moment.year < 2200)
DECIMALS = st.decimals(-1000, 1000, places=2)
KINDS = {
    "boolean": st.booleans(),
    "integer": st.integers(-(2**63), 2**63 - 1),
    "float": st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([0.0, -0.0, 1.0, 1e22]),
    "string": TEXT | st.sampled_from(["true", "True", "1", "1.0", "1.00", "nan", "None", "inf"]),
    "date": st.dates(dt.date(1900, 1, 1), dt.date(2200, 1, 1)),
    "moment": MOMENTS,
    "decimal": DECIMALS,
}
COLUMNS = st.sampled_from(list(KINDS)).flatmap(
    lambda kind: st.tuples(st.just(kind), st.lists(KINDS[kind] | st.none(), min_size=1, max_size=8))
)
NULLABLE = {"boolean": "boolean", "integer": "Int64", "float": "Float64", "string": "string"}
BLOCKS = st.sampled_from([7, 64, 4 << 20])


def expected_of(values):
    """What the rule says, in its plainest form."""
    return [(str(row), spelled(value)) for row, value in enumerate(values) if value is not None]


def spelled(value):
    if isinstance(value, decimal.Decimal):
        text = format(value, "f").rstrip("0").rstrip(".")
        return "0" if text == "-0" else text
    return "0.0" if isinstance(value, float) and value == 0 else str(value)


def found_in(docs):
    return [(row["text"], *row["labels"]) for batch in docs for row in batch.to_pylist()]


def in_memory(kind, values):
    """Every way by which a column may be in memory."""
    yield "list", values
    yield "lists", [None if value is None else [value] for value in values]
    yield "objects", np.array([*values, ""], object)[:-1]
    if None not in values and kind in ("boolean", "integer", "float"):
        yield "numpy", np.array(values)
    if None not in values and kind == "string":
        yield "numpy", np.array(values) if not any(value.endswith("\0") for value in values) else values
    if kind == "moment":
        yield "numpy", np.array(values, "datetime64[us]")
        yield "numpy scalars", list(np.array(values, "datetime64[us]"))
        yield "numpy nanoseconds", np.array(values, "datetime64[us]").astype("datetime64[ns]")
    if kind == "date":
        yield "numpy", np.array(values, "datetime64[D]")
    series = pd.Series(values, dtype=object)
    yield "pandas objects", series
    if kind in NULLABLE:
        yield "pandas nullable", pd.Series(values, dtype=NULLABLE[kind])
    yield "pandas categories", pd.Series(pd.Categorical(values))
    yield (
        "pandas guessed",
        pd.Series(values, dtype=float if kind == "float" else None if None not in values else object),
    )
    if kind == "moment":
        yield "pandas datetimes", pd.Series(values, dtype="datetime64[ns]")
    yield "polars", pl.Series("x", values)
    yield "polars lists", pl.Series("x", [None if value is None else [value] for value in values])
    yield from arrow_columns(kind, values)


def arrow_columns(kind, values):
    column = pa.array(values)
    yield "Arrow", column
    if not pa.types.is_null(column.type):
        yield "dictionary", column.dictionary_encode()
        yield "list", pa.array([None if value is None else [value] for value in values], pa.list_(column.type))
    if kind == "moment":
        yield "nanoseconds", column.cast(pa.timestamp("ns"))
        yield "text", pa.array([None if value is None else str(value) for value in values], pa.string())


def json_files(values):
    """The same labels by Arrow, by Python, and by both."""
    record = [json.dumps({"text": str(row), "label": value}) for row, value in enumerate(values)]
    broken = "{"
    irregular = json.dumps({"label": ["x", 1, False]})  # has no text: skipped, but no block of it is for Arrow
    yield record
    yield [broken, *record]
    yield [*record, irregular]
    yield [*record, *([irregular] * 9), *record]
    yield [json.dumps({"text": str(row), "label": [one]}) for row, one in enumerate(values) if one is not None]


def files_of(folder, values):
    table = pa.table({"text": [str(row) for row in range(len(values))], "label": pa.array(values)})
    pq.write_table(table, folder / "x.parquet")
    pf.write_feather(table, folder / "x.feather")
    yield folder / "x.parquet"
    yield folder / "x.feather"


@given(COLUMNS)
@settings(deadline=None, max_examples=50)
def test_one_spelling_in_memory_and_in_binary_files(column):
    kind, values = column
    expected = expected_of(values)
    if not expected:
        return
    texts = [str(row) for row in range(len(values))]
    for path, labels in in_memory(kind, values):
        assert found_in(Documents.of(texts, labels, strict=False)) == expected, path
    with TemporaryDirectory() as folder:
        for path in files_of(Path(folder), values):
            assert found_in(read(path)) == expected, path.suffix


@given(COLUMNS.filter(lambda column: column[0] in ("boolean", "integer", "float", "string")), BLOCKS)
@settings(deadline=None, max_examples=50)
def test_one_spelling_in_json_lines_by_arrow_and_by_python(column, size):
    _, values = column
    expected = expected_of(values)
    if not expected:
        return
    with TemporaryDirectory() as folder, patch("termsieve.documents.streams.BLOCK_BYTES", size):
        path = Path(folder) / "x.jsonl"
        for lines in json_files(values):
            path.write_text("\n".join(lines), encoding="utf-8")
            twice = sum('"label": null' not in line and '"text"' in line for line in lines) // len(expected)
            docs = read(path)
            assert found_in(docs) == expected * twice
            extra = [value for batch in docs.batches(["label"]) for value in batch["label"].to_pylist()]
            if "[" not in lines[0]:
                assert extra == [label for _, label in expected] * twice
            for value in {label for _, label in expected}:
                if "[" not in lines[0]:
                    chosen = read(path, label=None, split=("label", value))
                    assert {row["text"] for batch in chosen for row in batch.to_pylist()} == {
                        text for text, label in expected if label == value
                    }


def test_one_class_stays_one_within_one_file(tmp_path):
    """The first block is for Arrow, the last for Python: these were the classes true and True."""
    path = tmp_path / "x.jsonl"
    lines = ['{"text": "a", "label": true}'] * 50 + ["{", '{"text": "b", "label": true}']
    path.write_text("\n".join(lines), encoding="utf-8")
    with patch("termsieve.documents.streams.BLOCK_BYTES", 256):
        assert {label for _, label in found_in(read(path))} == {"True"}


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_the_unit_of_a_moment_does_not_matter(unit):
    for zone, expected in ((None, "2026-01-31 12:00:00"), ("Europe/Berlin", "2026-01-31 13:00:00+01:00")):
        seconds = pa.array([1769860800], pa.int64()).cast(pa.timestamp("s", zone))
        assert found_in(Documents.of(["t"], seconds.cast(pa.timestamp(unit, zone)))) == [("t", expected)]


def test_fractions_of_a_second():
    moments = pd.Series(pd.to_datetime([1, 1000, 1_000_000, 10**9], unit="ns"))
    fractions = [".000000001", ".000001", ".001000", ""]
    for labels in (moments, list(moments), moments.to_numpy(), list(moments.to_numpy()), pa.array(moments)):
        expected = [f"1970-01-01 00:00:0{int(not fraction)}{fraction}" for fraction in fractions]
        assert [label for _, label in found_in(Documents.of(list("abcd"), labels))] == expected
    spans = pd.Series(pd.to_timedelta([1, 86_400_000_000_000], unit="ns"))
    for labels in (spans, list(spans), spans.to_numpy(), list(spans.to_numpy()), pa.array(spans)):
        found = [label for _, label in found_in(Documents.of(list("ab"), labels))]
        assert found == ["0:00:00.000000001", "1 day, 0:00:00"]


def test_small_floats_have_the_digits_that_they_need():
    for kind in (np.float16, np.float32, np.float64):
        values = np.array([0.1, -0.0, 2], kind)
        # not by dictionary_encode, which pyarrow before 26 does not have for small floats
        numbered = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), pa.array(values))
        for labels in (values, list(values), pd.Series(values), pa.array(values), numbered):
            assert [label for _, label in found_in(Documents.of(list("abc"), labels))] == ["0.1", "0.0", "2.0"]
    assert [label for _, label in found_in(Documents.of(["a"], pl.Series([0.1], dtype=pl.Float32)))] == ["0.1"]


MISSING = {
    "None": [None],
    "NaN": [float("nan")],
    "NumPy NaN": np.array([np.nan]),
    "NumPy NaN of 32 bits": np.array([np.nan], np.float32),
    "NaT": [pd.NaT],
    "NumPy NaT": np.array(["NaT"], "datetime64[ns]"),
    "NumPy NaT without a unit": np.array(["NaT"], "datetime64"),
    "NumPy NaT in a list": [np.datetime64("NaT")],
    "NA": [pd.NA],
    "decimal NaN": [decimal.Decimal("nan")],
    "empty": [""],
    "in a list": [[None]],
    "NaN in a list": [[float("nan")]],
    "NA in a list": [[pd.NA]],
    "pandas Int64": pd.Series([pd.NA], dtype="Int64"),
    "pandas Float64": pd.Series([pd.NA], dtype="Float64"),
    "pandas boolean": pd.Series([pd.NA], dtype="boolean"),
    "pandas string": pd.Series([pd.NA], dtype="string"),
    "pandas category": pd.Series(pd.Categorical([None], categories=["a"])),
    "pandas datetimes": pd.Series([pd.NaT], dtype="datetime64[ns]"),
    "polars": pl.Series([None], dtype=pl.String),
    "polars NaN": pl.Series([float("nan")]),
    "Arrow nulls": pa.nulls(1),
    "Arrow NaN": pa.array([float("nan")]),
    "Arrow list": pa.array([None], pa.list_(pa.string())),
    "Arrow NaN in a list": pa.array([[float("nan")]]),
}


@pytest.mark.parametrize("kind", MISSING)
def test_what_is_missing_is_missing_on_every_path(kind):
    docs = Documents.of(["t"], MISSING[kind], strict=False)
    with pytest.raises(ValueError, match=r"All 1 rows are bad.*missing label"):
        found_in(docs)


def test_moments_are_spelled_alike_without_pandas():
    code = """
import sys

class NoPandas:
    def find_spec(self, name, *_):
        if name == "pandas":
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, NoPandas())
import pyarrow as pa
from termsieve.documents import Documents
labels = pa.array([1, 10**9], pa.timestamp("ns"))
print([label for batch in Documents.of(["a", "b"], labels) for (label,) in batch["labels"].to_pylist()])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['1970-01-01 00:00:00.000000001', '1970-01-01 00:00:01']"


def test_labels_that_differ_in_case_or_spaces_are_similar():
    assert find_similar_labels(["Spam", "ham", " spam", "Straße", "STRASSE", "sp am"]) == [
        ["Spam", " spam"], ["Straße", "STRASSE"],
    ]  # fmt: skip
    assert find_similar_labels(["a b", "a  b"]) == [["a b", "a  b"]]
    assert not find_similar_labels(["a", "b"])

"""Documents: every format gives the same documents, and every bad row its file and line."""

from __future__ import annotations

import csv
import gzip
import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from termsieve.documents import Documents, read
from termsieve.documents.labels import make_label_lists
from termsieve.errors import InputError, OptionError

pytestmark = pytest.mark.filterwarnings("ignore:skipped")  # said of each bad row, and looked at below

ROWS = [
    ("a plain text", "007"),
    ('two\nlines, "quoted", and a tab\there', "ham"),
    (" ", "ham"),
    ("naïve Σ 漢字 \U0001f600", "ünïcode"),
    ("windows\r\nline", "spam, eggs"),
]


@pytest.fixture
def blocks_of_64(monkeypatch):
    monkeypatch.setattr("termsieve.documents.streams.BLOCK_BYTES", 64)


def rows(docs, extra=()):
    """All documents as (text, labels, *extra)."""
    return [tuple(row.values()) for batch in docs.batches(extra) for row in batch.to_pylist()]


def single(pairs):
    return [(text, [label]) for text, label in pairs]


def delimited_bytes(pairs, delimiter=","):
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter)
    writer.writerow(["id", "text", "label"])
    writer.writerows([number, *pair] for number, pair in enumerate(pairs))
    return out.getvalue().encode()


def json_bytes(records):
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def pair_json(pairs):
    return json_bytes({"id": i, "text": text, "label": label} for i, (text, label) in enumerate(pairs))


def pair_table(pairs):
    texts, labels = zip(*pairs, strict=True)
    return pa.table({"id": range(len(pairs)), "text": texts, "label": labels})


def ipc_bytes(table, opener):
    out = io.BytesIO()
    with opener(out, table.schema) as writer:
        writer.write_table(table)
    return out.getvalue()


def parquet_bytes(table, **options):
    out = io.BytesIO()
    pq.write_table(table, out, **options)
    return out.getvalue()


FORMATS = {
    "csv": delimited_bytes,
    "tsv": lambda pairs: delimited_bytes(pairs, "\t"),
    "tab": lambda pairs: delimited_bytes(pairs, "\t"),
    "jsonl": pair_json,
    "ndjson": pair_json,
    "json": pair_json,
    "parquet": lambda pairs: parquet_bytes(pair_table(pairs)),
    "pq": lambda pairs: parquet_bytes(pair_table(pairs), row_group_size=2),
    "arrow": lambda pairs: ipc_bytes(pair_table(pairs), pa.ipc.new_file),
    "feather": lambda pairs: ipc_bytes(pair_table(pairs), pa.ipc.new_file),
    "ipc": lambda pairs: ipc_bytes(pair_table(pairs), pa.ipc.new_stream),
}
TEXT_FORMATS = ["csv", "tsv", "tab", "jsonl", "ndjson", "json"]
COMPRESSORS = {
    "": bytes,
    ".gz": gzip.compress,
    ".zst": lambda data: pa.Codec("zstd").compress(data, asbytes=True),
}


def written(folder, name, data):
    path = folder / name
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("ending", FORMATS)
def test_every_format_gives_the_same_documents(tmp_path, ending):
    path = written(tmp_path, f"x.{ending}", FORMATS[ending](ROWS))
    docs = read(path)
    assert rows(docs) == single(ROWS)
    assert rows(docs) == single(ROWS), "a second pass must give the same"
    assert docs.skipped == 0


@pytest.mark.parametrize("compression", [".gz", ".zst", ".GZ"])
@pytest.mark.parametrize("ending", TEXT_FORMATS)
def test_text_formats_may_be_compressed(tmp_path, ending, compression):
    data = COMPRESSORS[compression.lower()](FORMATS[ending](ROWS))
    assert rows(read(written(tmp_path, f"x.{ending}{compression}", data))) == single(ROWS)


@pytest.mark.parametrize("compression", [".gz", ".zst"])
@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_compressed_files_may_be_concatenated(tmp_path, ending, compression):
    data, compress = FORMATS[ending](ROWS), COMPRESSORS[compression]
    path = written(tmp_path, f"x.{ending}{compression}", compress(data[:40]) + compress(data[40:]))
    assert rows(read(path)) == single(ROWS)


@pytest.mark.parametrize("ending", TEXT_FORMATS)
def test_documents_may_be_longer_than_a_block(tmp_path, ending, blocks_of_64):
    pairs = [*ROWS, ("x" * 1000, "long"), ('quotes " and\nlines ' * 100, "long"), *ROWS]
    assert rows(read(written(tmp_path, f"x.{ending}", FORMATS[ending](pairs)))) == single(pairs)


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet"])
def test_a_document_of_many_megabytes(tmp_path, ending):
    giant = 'many words, "quoted"\n' * 600_000
    pairs = [("before", "a"), (giant, "b"), ("after", "c")]
    assert rows(read(written(tmp_path, f"x.{ending}", FORMATS[ending](pairs)))) == single(pairs)


def test_batches_have_the_types_that_were_promised(tmp_path):
    for ending in FORMATS:
        (batch,) = read(written(tmp_path, f"x.{ending}", FORMATS[ending](ROWS)))
        assert batch.schema.names == ["text", "labels"]
        assert batch["text"].type == pa.large_string()
        assert batch["labels"].type == pa.large_list(pa.large_string())
        batch.validate(full=True)


def test_batches_are_of_moderate_size(tmp_path):
    lines = json_bytes({"text": "short", "label": "a"} for _ in range(100_000))
    sizes = [batch.num_rows for batch in read(written(tmp_path, "x.jsonl", lines))]
    assert sum(sizes) == 100_000
    assert max(sizes) <= 32_768
    long = ["x" * 100_000] * 2000
    for docs in (
        Documents.of(long),
        read({"text": long}, label=None),
        read(pa.table({"text": long}), label=None),
    ):
        sizes = [batch["text"].nbytes for batch in docs]
        assert sum(sizes) >= 200_000_000
        assert max(sizes) < 20_000_000


def test_a_last_line_needs_no_newline(tmp_path):
    for ending in TEXT_FORMATS:
        path = written(tmp_path, f"x.{ending}", FORMATS[ending](ROWS).rstrip())
        assert rows(read(path)) == single(ROWS)


def test_byte_order_mark_and_windows_lines(tmp_path):
    data = '\ufefftext,label\r\none,a\r\n\r\n"two\r\nlines",b\r\n'.encode()
    assert rows(read(written(tmp_path, "x.csv", data))) == [("one", ["a"]), ("two\r\nlines", ["b"])]
    data = '\ufeff{"text": "one", "label": "a"}\r\n\r\n{"text": "two", "label": "b"}\r\n'.encode()
    assert rows(read(written(tmp_path, "x.jsonl", data))) == [("one", ["a"]), ("two", ["b"])]


def test_a_mark_inside_the_file_is_text(tmp_path, blocks_of_64):
    pairs = [("\ufeff" + "x" * n, "\ufeff") for n in range(60)]
    for ending in TEXT_FORMATS:
        assert rows(read(written(tmp_path, f"x.{ending}", FORMATS[ending](pairs)))) == single(pairs)
    data = "text,label\n" + "\n".join("\ufeff" + "x" * n + ",a" for n in range(60))
    assert [text for text, _ in rows(read(written(tmp_path, "x.csv", data.encode())))] == [t for t, _ in pairs]


# What stands in the file, and what the csv module makes of it
@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ('5" disk', '5" disk'),
        ('"quoted" and more', "quoted and more"),
        ('a "word" inside', 'a "word" inside'),
        ('""""', '"'),
        (' "x"', ' "x"'),
        ("back\\slash", "back\\slash"),
        ('"lone\rreturn"', "lone\rreturn"),
        ("nul\0", "nul\0"),
        ("NA", "NA"),
        ("null", "null"),
        ("1.50", "1.50"),
    ],
)
def test_quotes_in_odd_places(tmp_path, cell, value, blocks_of_64):
    lines = ["text,label", *(f"{n} filler,{n}" for n in range(20)), f"{cell},here", "after,z"]
    found = rows(read(written(tmp_path, "x.csv", "\n".join(lines).encode())))
    assert found[20:] == [(value, ["here"]), ("after", ["z"])]
    assert len(found) == 22


# --- labels ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "labels"),
    [
        ("007", ["007"]),
        (7, ["7"]),
        (1.5, ["1.5"]),
        (True, ["True"]),
        (["a", "b"], ["a", "b"]),
        (["b", "a", "b"], ["b", "a"]),
        ([], []),
        ([1, 2], ["1", "2"]),
        ([1, "a", 2.5, False], ["1", "a", "2.5", "False"]),
        (" spaced ", [" spaced "]),
        ("a,b", ["a,b"]),
    ],
)
@pytest.mark.parametrize("neighbours", ["same", "strings", "lists"])
def test_json_labels_of_every_type(tmp_path, value, labels, neighbours):
    around = {"same": value, "strings": "x", "lists": ["x"]}[neighbours]
    records = [{"text": "t", "label": label} for label in (around, value, around, value)]
    found = [labels for _, labels in rows(read(written(tmp_path, "x.jsonl", json_bytes(records))))]
    assert found[1] == found[3] == labels


def test_json_numbers_have_one_spelling_each(tmp_path):
    spellings = {
        "1.50": "1.5", "1e3": "1000.0", "1.0": "1.0", "1.00": "1.0", "1e0": "1.0", "-0.0": "0.0", "0.0": "0.0",
        "-0": "0", "-7": "-7", "12345678901234567890123": "12345678901234567890123", "1e22": "1e+22",
        "1" * 5000: "1" * 5000,
    }  # fmt: skip
    data = "".join(f'{{"text": "t", "label": {spelling}}}\n' for spelling in spellings)
    found = rows(read(written(tmp_path, "x.jsonl", data.encode())))
    assert [label for _, (label,) in found] == list(spellings.values())


LABEL_COLUMNS = {
    "string": pa.array(["a", "007"]),
    "large": pa.array(["a", "007"], pa.large_string()),
    "view": pa.array(["a", "007"], pa.string_view()),
    "bytes": pa.array([b"a", b"007"]),
    "dictionary": pa.array(["a", "007"]).dictionary_encode(),
    "list": pa.array([["a"], ["007"]]),
    "large list": pa.array([["a"], ["007"]], pa.large_list(pa.large_string())),
    "list view": pa.array([["a"], ["007"]], pa.list_view(pa.string_view())),
    "list view of string": pa.array([["a"], ["007"]], pa.large_list_view(pa.string())),
    "list of view": pa.array([["a"], ["007"]], pa.list_(pa.string_view())),
    "fixed list": pa.array([["a"], ["007"]], pa.list_(pa.string(), 1)),
    "list of dictionary": pa.array([["a"], ["007"]], pa.list_(pa.dictionary(pa.int32(), pa.string()))),
}


@pytest.mark.parametrize("kind", LABEL_COLUMNS)
def test_label_columns_of_every_arrow_type(kind):
    table = pa.table({"text": ["x", "y"], "label": LABEL_COLUMNS[kind]})
    assert rows(read(table)) == [("x", ["a"]), ("y", ["007"])]
    assert rows(read(table.slice(1))) == [("y", ["007"])]
    assert rows(read(table, split=("text", "y"))) == [("y", ["007"])]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (pa.array([3, 10]), ["3", "10"]),
        (pa.array([3, 10], pa.uint8()).dictionary_encode(), ["3", "10"]),
        (pa.array([1.5, 2.0]), ["1.5", "2.0"]),
        (pa.array([True, False]), ["True", "False"]),
    ],
)
def test_numbers_in_tables_are_written_as_python_does(tmp_path, labels, expected):
    table = pa.table({"text": ["x", "y"], "label": labels})
    for source in (table, written(tmp_path, "x.parquet", parquet_bytes(table)), table.to_pandas()):
        assert [label for _, (label,) in rows(read(source))] == expected


def test_integer_lists_in_parquet(tmp_path):
    table = pa.table({"text": ["x", "y", "z"], "label": [[1, 2, 1], [], [3]]})
    path = written(tmp_path, "x.parquet", parquet_bytes(table))
    assert [labels for _, labels in rows(read(path))] == [["1", "2"], [], ["3"]]


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_several_labels_in_one_string(tmp_path, ending):
    pairs = [("x", "b, a ,b,,"), ("y", ""), ("z", " , "), ("w", "one")]
    path = written(tmp_path, f"x.{ending}", FORMATS[ending](pairs))
    assert [labels for _, labels in rows(read(path, label_sep=","))] == [["b", "a"], [], [], ["one"]]


def test_with_a_separator_null_is_no_class():
    table = pa.table({"text": ["x", "y"], "label": ["a|b", None]})
    assert rows(read(table, label_sep="|")) == [("x", ["a", "b"]), ("y", [])]


def test_without_labels_documents_are_of_no_class(tmp_path):
    path = written(tmp_path, "x.csv", FORMATS["csv"](ROWS))
    assert [labels for _, labels in rows(read(path, label=None))] == [[]] * len(ROWS)


# --- text, split, extra columns --------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_several_text_columns_are_joined(tmp_path, ending):
    records = [
        {"title": "T", "body": "B", "label": "a"},
        {"title": None, "body": "B", "label": "a"},
        {"title": "T", "body": None, "label": "a"},
        {"title": "", "body": "", "label": "a"},
    ]
    data = json_bytes(records) if ending == "jsonl" else parquet_bytes(pa.Table.from_pylist(records))
    docs = read(written(tmp_path, f"x.{ending}", data), text=("title", "body"))
    assert [text for text, _ in rows(docs)] == ["T\nB", "\nB", "T\n", "\n"]


def test_no_text_in_any_of_several_columns_is_bad():
    table = pa.table({"title": ["T", None], "body": ["B", None], "label": ["a", "b"]})
    with pytest.raises(InputError, match=r"row 2: missing text.*'title' and 'body'"):
        rows(read(table, text=["title", "body"], strict=True))


SPLITS = [("one", "train"), ("two", "test"), ("three", "train"), ("four", None)]


def split_source(tmp_path, ending):
    records = [{"text": text, "label": text[0], "set": part} for text, part in SPLITS]
    if ending == "csv":
        lines = [f"{r['text']},{r['label']},{r['set'] or ''}\n" for r in records]
        return written(tmp_path, "x.csv", ("text,label,set\n" + "".join(lines)).encode())
    if ending == "jsonl":
        return written(tmp_path, "x.jsonl", json_bytes(records))
    table = pa.Table.from_pylist(records)
    return table if ending == "table" else written(tmp_path, "x.parquet", parquet_bytes(table))


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet", "table"])
def test_split_keeps_the_rows_of_one_value(tmp_path, ending):
    source = split_source(tmp_path, ending)
    assert [text for text, _ in rows(read(source, split=("set", "train")))] == ["one", "three"]
    assert [text for text, _ in rows(read(source, split=("set", None)))] == ["four"]


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet", "table"])
def test_a_split_without_rows_says_which_values_there_are(tmp_path, ending):
    docs = read(split_source(tmp_path, ending), split=("set", "tran"))
    with pytest.raises(InputError, match=r"'tran' in column 'set'\. Did you mean 'train'\?.*'train', 'test'"):
        rows(docs)


@pytest.mark.parametrize(("value", "count"), [(1, 2), ("1", 2), (0, 1)])
def test_split_compares_as_strings(value, count):
    table = pa.table({"text": ["x", "y", "z"], "label": ["a"] * 3, "fold": [1, 0, 1]})
    assert len(rows(read(table, split=("fold", value)))) == count


def test_split_by_truth_values(tmp_path):
    records = [{"text": str(flag), "label": "a", "train": flag} for flag in (True, False)]
    for source in (pa.Table.from_pylist(records), written(tmp_path, "x.jsonl", json_bytes(records))):
        assert [text for text, _ in rows(read(source, split=("train", True)))] == ["True"]


def test_rows_of_other_splits_may_lack_text_and_label(tmp_path):
    records = [{"set": "test"}, {"set": "train", "text": "x", "label": "a"}, {"set": "test", "text": 7}]
    docs = read(written(tmp_path, "x.jsonl", json_bytes(records)), split=("set", "train"))
    assert rows(docs) == [("x", ["a"])]


def test_lines_are_right_behind_a_split(tmp_path):
    records = [{"set": "test"}, {"set": "train", "text": "x", "label": "a"}, {"set": "train", "text": "y"}]
    docs = read(written(tmp_path, "x.jsonl", json_bytes(records)), split=("set", "train"), strict=True)
    with pytest.raises(InputError, match="line 3: missing label"):
        rows(docs)


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_extra_columns_of_text_formats_are_text(tmp_path, ending):
    path = written(tmp_path, f"x.{ending}", FORMATS[ending](ROWS))
    for pass_ in (1, 2):
        assert [row[2] for row in rows(read(path), ["id"])] == ["0", "1", "2", "3", "4"], pass_
    (batch,) = read(path).batches("id")
    assert batch.schema.names == ["text", "labels", "id"]


def test_extra_columns_of_mixed_json_are_text(tmp_path):
    folds = [1, "two", None, [3, "x"], {"a": 1}, True, 2.50]
    data = json_bytes({"text": "t", "label": "a", "fold": fold} for fold in folds)
    found = [row[2] for row in rows(read(written(tmp_path, "x.jsonl", data)), ["fold"])]
    assert found == ["1", "two", None, '[3, "x"]', '{"a": 1}', "True", "2.5"]


def test_extra_columns_of_tables_stay_as_they_are(tmp_path):
    table = pair_table(ROWS)
    for source in (table, written(tmp_path, "x.parquet", parquet_bytes(table)), table.to_pandas()):
        (batch,) = read(source).batches(["id"])
        assert batch["id"].type == pa.int64()
        assert batch["id"].to_pylist() == [0, 1, 2, 3, 4]


def test_extra_columns_skip_with_their_rows(tmp_path):
    data = b"text,label,fold\nx,a,1\ny,,2\nz,c,3\n"
    docs = read(written(tmp_path, "x.csv", data))
    assert rows(docs, ["fold"]) == [("x", ["a"], "1"), ("z", ["c"], "3")]


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet", "arrow", "ipc"])
def test_a_missing_column_lists_those_there_are(tmp_path, ending):
    path = written(tmp_path, f"x.{ending}", FORMATS[ending](ROWS))
    for wrong in ({"text": "texts"}, {"split": ("texts", "a")}):
        for strict in (True, False):
            with pytest.raises(
                InputError, match=r"no column 'texts'. Did you mean 'text'\? Columns: 'id', 'text', 'label'"
            ):
                rows(read(path, strict=strict, **wrong))
    with pytest.raises(InputError, match=r"x\.\w+: there is no column 'fold'. Columns: 'id', 'text', 'label'"):
        rows(read(path), ["fold"])


def test_an_extra_column_cannot_take_the_name_of_ours():
    with pytest.raises(OptionError, match="'labels'"):
        read({"text": ["x"], "labels": ["a"]}, label="labels").batches(["labels"])


def test_json_records_may_leave_out_columns(tmp_path):
    data = json_bytes([{"label": ["a"], "text": "x"}, {"text": "y", "label": [], "note": 3}])
    assert rows(read(written(tmp_path, "x.jsonl", data)), ["note"]) == [("x", ["a"], None), ("y", [], "3")]


class _OwnList(list):
    """A list that goes the long way, label by label."""


_LABEL_LISTS = st.lists(st.lists(st.text(max_size=3) | st.sampled_from(["a", "b", "", "\ud800"]), max_size=4))


@given(_LABEL_LISTS, st.sampled_from([None, ","]), st.sampled_from([list, tuple, lambda row: np.array(row, object)]))
def test_lists_of_strings_are_read_as_label_by_label(rows, separator, kind):
    fast_faults, slow_faults = {}, {}
    fast = make_label_lists([kind(row) for row in rows], separator, "x", fast_faults)
    slow = make_label_lists([_OwnList(row) for row in rows], separator, "x", slow_faults)
    assert fast.equals(slow)
    assert fast_faults == slow_faults


@pytest.mark.parametrize(("value", "label"), [(1, "1"), (np.str_("x"), "x"), (None, None)])
def test_lists_of_other_things_are_spelled(value, label):
    faults = {}
    found = make_label_lists([np.array([value], object), ["b"]], None, "x", faults)
    assert found.to_pylist() == [[label], ["b"]]
    assert faults == ({} if label else {0: "missing label"})


def test_columns_are_found_beside_a_name_of_any_length(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text(f"body,topic,{'x' * 200_000}\nhello,a,1\n")
    assert next(iter(read(path))).to_pylist() == [{"text": "hello", "labels": ["a"]}]

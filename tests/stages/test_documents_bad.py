"""Documents that are wrong: bad rows are skipped and counted; with strict=True the error names file and line or row."""

from __future__ import annotations

import gzip
import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from termsieve.documents import Documents, read
from termsieve.documents.arrowfiles import _number_of_rows
from termsieve.documents.formats import read_column_names
from termsieve.documents.options import Options
from termsieve.errors import InputError, OptionError

pytestmark = pytest.mark.filterwarnings("ignore:skipped")  # said of each bad row, and looked at below

SIZES = [64, 4 << 20]


@pytest.fixture(params=SIZES, ids=["blocks of 64", "large blocks"])
def block_size(request, monkeypatch):
    monkeypatch.setattr("termsieve.documents.streams.BLOCK_BYTES", request.param)


def texts(docs):
    return [text for batch in docs for text in batch["text"].to_pylist()]


def written(folder, name, data):
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


# A bad line, and what the error says of it
BAD_JSON = {
    "cut short": ('{"text": "x", "label": ', "not valid JSON"),
    "not JSON": ("hello", "not valid JSON"),
    "null": ("null", "not a JSON object"),
    "null behind": ('{"text": "x", "label": "a"} null', "not valid JSON"),
    "array": ('["x", "a"]', "not a JSON object"),
    "two objects": ('{"text": "x", "label": "a"} {"text": "x", "label": "a"}', "not valid JSON"),
    "no text": ('{"label": "a"}', "missing text"),
    "null text": ('{"text": null, "label": "a"}', "missing text"),
    "number text": ('{"text": 7, "label": "a"}', "text is not a string: it is a number"),
    "list text": ('{"text": ["x"], "label": "a"}', "text is not a string: it is a list"),
    "no label": ('{"text": "x"}', "missing label"),
    "null label": ('{"text": "x", "label": null}', "missing label"),
    "NaN label": ('{"text": "x", "label": NaN}', "missing label"),
    "empty label": ('{"text": "x", "label": ""}', "missing label"),
    "null in labels": ('{"text": "x", "label": ["a", null]}', "missing label"),
    "empty in labels": ('{"text": "x", "label": ["a", ""]}', "missing label"),
    "infinite label": ('{"text": "x", "label": 1e999}', "label is not a finite number"),
    "constant label": ('{"text": "x", "label": -Infinity}', "label is not a finite number"),
    "object label": ('{"text": "x", "label": {"a": 1}}', "label is not a string or number"),
    "high surrogate": ('{"text": "x\\ud800y", "label": "a"}', "text holds a lone surrogate"),
    "low surrogate": ('{"text": "x\\udc00", "label": "a"}', "text holds a lone surrogate"),
    "surrogate label": ('{"text": "x", "label": "\\ud800"}', "label holds a lone surrogate"),
    "not UTF-8": (b'{"text": "x\xff", "label": "a"}', "not valid utf-8: at byte 11"),
    "not UTF-8 elsewhere": (b'{"text": "x", "label": "a", "note": "\xe9"}', "not valid utf-8"),
    "raw control": ('{"text": "a\tb", "label": "a"}', "not valid JSON"),
    "leading zero": ('{"text": "x", "label": 007}', "not valid JSON"),
}


def json_file(folder, bad, before=10, after=10):
    good = [json.dumps({"text": f"good {number}", "label": "g"}) for number in range(before + after)]
    raw = bad if isinstance(bad, bytes) else bad.encode()
    lines = [*(line.encode() for line in good[:before]), raw, *(line.encode() for line in good[before:])]
    return written(folder, "x.jsonl", b"\n".join(lines) + b"\n")


@pytest.mark.parametrize("kind", BAD_JSON)
def test_a_bad_json_line_is_named(tmp_path, kind, block_size):
    line, message = BAD_JSON[kind]
    path = json_file(tmp_path, line)
    with pytest.raises(InputError, match=rf"x\.jsonl, line 11: {message}"):
        texts(read(path, strict=True))


@pytest.mark.parametrize("kind", BAD_JSON)
def test_a_bad_json_line_is_skipped(tmp_path, kind, block_size):
    line, message = BAD_JSON[kind]
    docs = read(json_file(tmp_path, line), encoding_errors="skip")
    assert docs.skipped == 0
    for _ in range(2):
        assert texts(docs) == [f"good {number}" for number in range(20)]
        assert docs.skipped == 1
        assert "line 11" in docs.skipped_examples[0]
        assert message.partition(":")[0] in docs.skipped_examples[0]
        assert sum(docs.skipped_reasons.values()) == 1


def test_a_split_that_is_no_text_is_bad(tmp_path):
    data = '{"text": "x", "label": "a", "set": "\\ud800"}\n{"text": "y", "label": "a", "set": "train"}\n'
    path = written(tmp_path, "x.jsonl", data)
    with pytest.raises(InputError, match="line 1: value holds a lone surrogate"):
        texts(read(path, split=("set", "train"), strict=True))
    assert texts(read(path, split=("set", "train"))) == ["y"]
    table = pa.table({"text": ["x", "y"], "label": ["a", "b"], "set": [b"\xff", b"train"]})
    docs = read(table, split=("set", "train"))
    assert texts(docs) == ["y"]
    assert docs.skipped == 1


def test_a_null_at_the_very_beginning(tmp_path):
    path = written(tmp_path, "x.jsonl", 'null\n{"text": "x", "label": "a"}\n')
    with pytest.raises(InputError, match="line 1: not a JSON object"):
        texts(read(path, strict=True))
    assert texts(read(path)) == ["x"]


def test_blank_lines_count_as_lines(tmp_path, block_size):
    data = '\n\n{"text": "x", "label": "a"}\n\n{"text": "y"}\n'
    with pytest.raises(InputError, match="line 5: missing label"):
        texts(read(written(tmp_path, "x.jsonl", data), strict=True))


# A bad record, and what the error says; the records before it take two lines each
BAD_CSV = {
    "too few cells": ("x", "wrong number of cells: 1, where the header has 3"),
    "too many cells": ("1,x,a,more", "wrong number of cells: 4, where the header has 3"),
    "no label": ("1,x,", "missing label"),
    "quoted nothing": ('1,x,""', "missing label"),
    "not UTF-8": (b"1,x\xff,a", "not valid utf-8"),
    "not UTF-8 elsewhere": (b"\xff,x,a", "not valid utf-8"),
    "bad over lines": ('1,"x\ny\nz",a,b', "wrong number of cells"),
    "stray return": ("1,x\ry,a", "not valid CSV"),
}


def csv_file(folder, bad, delimiter=","):
    raw = bad if isinstance(bad, bytes) else bad.encode()
    good = [f'{number},"good\n{number}",g'.encode() for number in range(20)]
    data = b"\n".join([b"id,text,label", *good[:10], raw, *good[10:], b""])
    if delimiter == "\t":
        return written(folder, "x.tsv", data.replace(b",", b"\t"))
    return written(folder, "x.csv", data)


@pytest.mark.parametrize("delimiter", [",", "\t"])
@pytest.mark.parametrize("kind", BAD_CSV)
def test_a_bad_csv_record_is_named_behind_quoted_newlines(tmp_path, kind, delimiter, block_size):
    record, message = BAD_CSV[kind]
    path = csv_file(tmp_path, record, delimiter)
    with pytest.raises(InputError, match=rf"x\..sv, line 22: {message}"):
        texts(read(path, strict=True))


@pytest.mark.parametrize("kind", BAD_CSV)
def test_a_bad_csv_record_is_skipped(tmp_path, kind, block_size):
    record, message = BAD_CSV[kind]
    docs = read(csv_file(tmp_path, record), encoding_errors="skip")
    assert texts(docs) == [f"good\n{number}" for number in range(20)]
    assert docs.skipped == 1
    assert f"line 22: {message}" in docs.skipped_examples[0]


def test_many_bad_rows_are_counted_by_reason(tmp_path, block_size):
    lines = [f"x{n},{'' if n % 3 == 0 else 'a'}" for n in range(30)] + ["cells,too,many"] * 4
    docs = read(written(tmp_path, "x.csv", "\n".join(["text,label", *lines])))
    assert len(texts(docs)) == 20
    assert docs.skipped == 14
    assert docs.skipped_reasons == {"missing label": 10, "wrong number of cells": 4}
    assert all(f"line {n}:" in example for n, example in zip((2, 5, 8, 11, 14), docs.skipped_examples, strict=True))
    assert "skipped 14 bad rows" in repr(docs)
    assert "line 2: missing label" in repr(docs)


def test_a_quote_that_is_never_closed(tmp_path, block_size):
    data = 'text,label\n"fine",a\n"open,b\nx,c\ny,d\n'
    path = written(tmp_path, "x.csv", data)
    with pytest.raises(InputError, match=r"line 3: a quote is never closed: .* 3 lines"):
        texts(read(path, strict=True))
    with pytest.raises(InputError, match=r"line 3: a quote is never closed: .*Such a row is never skipped"):
        texts(read(path, strict=True))
    assert texts(read(path, quotes=False)) == ['"fine"', '"open', "x", "y"]


def test_if_every_row_is_bad_that_is_an_error(tmp_path):
    docs = read(written(tmp_path, "x.csv", "text,label\nx,\ny,\n"))
    with pytest.raises(InputError, match=r"All 2 rows are bad. The first: .*line 2: missing label"):
        texts(docs)


def test_an_aborted_pass_leaves_the_count_of_the_last_whole_one(tmp_path):
    docs = read(written(tmp_path, "x.csv", "text,label\nx,\ny,a\n"))
    texts(docs)
    next(iter(docs))
    assert docs.skipped == 1


@pytest.mark.parametrize("row_group_size", [2, 100])
def test_rows_of_parquet_are_counted_over_row_groups(tmp_path, row_group_size):
    table = pa.table({"text": ["a", "b", "c", None, "e"], "label": ["x", "x", None, "x", "x"]})
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=row_group_size)
    with pytest.raises(InputError, match=r"x\.parquet, row 3: missing label"):
        texts(read(tmp_path / "x.parquet", strict=True))
    docs = read(tmp_path / "x.parquet")
    assert texts(docs) == ["a", "b", "e"]
    assert docs.skipped_reasons == {"missing label": 1, "missing text": 1}
    assert "row 4" in docs.skipped_examples[1]


@pytest.mark.parametrize("opener", [pa.ipc.new_file, pa.ipc.new_stream])
def test_rows_of_arrow_files_are_counted_over_batches(tmp_path, opener):
    table = pa.table({"text": ["a", "b", "c", "d", None, "f"], "label": ["x"] * 6})
    with opener(tmp_path / "x.arrow", table.schema) as writer:
        writer.write_table(table, max_chunksize=2)
    with pytest.raises(InputError, match=r"x\.arrow, row 5: missing text"):
        texts(read(tmp_path / "x.arrow", strict=True))
    docs = read(tmp_path / "x.arrow")
    assert texts(docs) == ["a", "b", "c", "d", "f"]


def test_null_lists_and_nulls_in_lists():
    table = pa.table({"text": ["a", "b", "c", "d"], "label": [["x"], None, ["y", None], []]})
    docs = read(table)
    assert texts(docs) == ["a", "d"]
    assert docs.skipped_reasons == {"missing label": 2}


def test_bytes_that_are_not_text():
    invalid = pa.array([b"fine", b"bad \xff"]).view(pa.string())
    for column in (pa.array([b"fine", b"bad \xff"]), invalid):
        with pytest.raises(InputError, match="row 2: not valid utf-8: at byte 4"):
            texts(read(pa.table({"text": column, "label": ["a", "b"]}), strict=True))
    docs = read(pa.table({"text": ["x", "y"], "label": pa.array([[b"\xff"], [b"a"]])}))
    assert texts(docs) == ["y"]


def test_columns_of_types_that_make_no_sense():
    with pytest.raises(InputError, match="column 'text' holds values of type int64, not text"):
        texts(read(pa.table({"text": [1], "label": ["a"]}), strict=True))
    with pytest.raises(InputError, match="column 'label' holds values of type struct"):
        texts(read(pa.table({"text": ["x"], "label": [{"a": 1}]}), strict=True))


def test_a_column_that_stands_twice(tmp_path):
    path = written(tmp_path, "x.csv", "text,label,note,note,label\nx,a,1,2,b\n")
    with pytest.raises(InputError, match="more than one column is named 'label'"):
        texts(read(path, strict=True))
    assert texts(read(path, label=None)) == ["x"]


# --- files ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "json", "parquet", "arrow", "csv.gz", "jsonl.zst"])
def test_a_file_without_bytes_is_refused(tmp_path, ending):
    with pytest.raises(InputError, match=r"x\.\S+ is empty: it has no bytes"):
        texts(read(written(tmp_path, f"x.{ending}", b""), strict=True))


def test_a_file_without_rows_is_refused(tmp_path):
    table = pa.table({"text": pa.array([], pa.string()), "label": pa.array([], pa.string())})
    pq.write_table(table, tmp_path / "x.parquet")
    files = [
        tmp_path / "x.parquet",
        written(tmp_path, "x.csv", "text,label\n"),
        written(tmp_path, "y.csv", "\n\n"),
        written(tmp_path, "x.jsonl", "\n  \n"),
        written(tmp_path, "x.csv.gz", gzip.compress(b"")),
    ]
    for path in files:
        with pytest.raises(InputError, match=rf"{path.name} is empty: it has no rows"):
            texts(read(path, strict=True))


def test_a_header_alone_with_wrong_columns_says_so(tmp_path):
    with pytest.raises(InputError, match=r"Say which with text=NAME and label=NAME\. Columns: 'a', 'b'\.$"):
        texts(read(written(tmp_path, "x.csv", "a,b\n"), strict=True))


def test_one_file_of_unknown_ending_has_no_labels_and_lists_the_known_endings(tmp_path):
    with pytest.raises(InputError, match=r"x\.parquet\.gz: files of the kind \.parquet are compressed inside.*gunzip"):
        read(written(tmp_path, "x.parquet.gz", "x"))
    for name in ("x.txt", "x", "x.gz", "x.docx"):
        with pytest.raises(InputError, match=r"without labels.*\(\.csv, \.tsv.*\.parquet"):
            read(written(tmp_path, name, "x"))


def test_missing_files_are_noticed_at_once(tmp_path):
    written(tmp_path, "mail.jsonl", "{}")
    with pytest.raises(InputError, match=r"There is no file .*mial\.jsonl\. Did you mean 'mail\.jsonl'\?"):
        read(tmp_path / "mial.jsonl")
    with pytest.raises(InputError, match=r"No file matches the pattern '.*\*\.csv'"):
        read(str(tmp_path / "*.csv"))
    with pytest.raises(InputError, match="list of files is empty"):
        read([])


def test_a_file_that_vanishes_between_passes(tmp_path):
    path = written(tmp_path, "x.jsonl", '{"text": "x", "label": "a"}')
    docs = read(path)
    texts(docs)
    path.unlink()
    with pytest.raises(InputError, match=r"There is no file .*x\.jsonl"):
        texts(docs)


def compressed(kind):
    data = b"".join(json.dumps({"text": f"text {n} " * 5, "label": "a"}).encode() + b"\n" for n in range(2000))
    return gzip.compress(data) if kind == "gz" else pa.Codec("zstd").compress(data, asbytes=True)


@pytest.mark.parametrize("kind", ["gz", "zst"])
@pytest.mark.parametrize("damage", ["cut", "garbled", "foreign"])
def test_damaged_compressed_files_are_refused_by_name(tmp_path, kind, damage):
    data = compressed(kind)
    damaged = {
        "cut": data[:-9],
        "garbled": data[:20] + bytes(200) + data[220:],
        "foreign": b"plain text\n" * 9,
    }[damage]
    path = written(tmp_path, f"x.jsonl.{kind}", damaged)
    for strict in (True, False):
        with pytest.raises(InputError, match=rf"x\.jsonl\.{kind}: the file cannot be read, it may be damaged"):
            texts(read(path, strict=strict))


@pytest.mark.parametrize("ending", ["parquet", "arrow", "ipc"])
def test_damaged_arrow_and_parquet_files_are_refused_by_name(tmp_path, ending):
    table = pa.table({"text": ["some text"] * 1000, "label": ["a"] * 1000})
    out = io.BytesIO()
    if ending == "parquet":
        pq.write_table(table, out)
    else:
        with (pa.ipc.new_file if ending == "arrow" else pa.ipc.new_stream)(out, table.schema) as writer:
            writer.write_table(table)
    whole = out.getvalue()
    for damaged in (whole[: len(whole) // 2], b"not such a file at all, not even in the least"):
        with pytest.raises(InputError, match=rf"x\.{ending}: the file cannot be read"):
            texts(read(written(tmp_path, f"x.{ending}", damaged), strict=True))


def test_a_json_array_is_explained(tmp_path):
    for data in ('[{"text": "x", "label": "a"}]', '\n [\n{"text": "x", "label": "a"}\n]'):
        with pytest.raises(InputError, match=r"is one JSON array. JSON Lines is read instead"):
            texts(read(written(tmp_path, "x.json", data), strict=True))


# --- encodings ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-8-sig", "UTF8", "shift_jis", "gb18030"])
@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_other_encodings(tmp_path, encoding, ending, block_size):
    word = "日本" if encoding in ("shift_jis", "gb18030", "utf-16") else "café"
    pairs = [(f"{word} {n}", word) for n in range(30)]
    if ending == "csv":
        data = "text,label\n" + "".join(f"{text},{label}\n" for text, label in pairs)
    else:
        data = "".join(f'{{"text": "{text}", "label": "{label}"}}\n' for text, label in pairs)
    path = written(tmp_path, f"x.{ending}", data.encode(encoding))
    docs = read(path, encoding=encoding)
    assert texts(docs) == [text for text, _ in pairs]
    assert next(iter(docs))["labels"][0].as_py() == [word]


@pytest.mark.parametrize("encoding", ["ascii", "shift_jis"])
@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_what_another_encoding_cannot_hold_is_a_bad_row(tmp_path, encoding, ending, block_size):
    lines = [b"fine %d,a" % n if ending == "csv" else b'{"text": "fine %d", "label": "a"}' % n for n in range(9)]
    lines[5] = lines[5].replace(b"fine", b"bad \xff")
    header = [b"text,label"] if ending == "csv" else []
    path = written(tmp_path, f"x.{ending}", b"\n".join(header + lines))
    with pytest.raises(InputError, match=rf"line {6 + len(header)}: not valid {encoding}"):
        texts(read(path, encoding=encoding, strict=True))
    docs = read(path, encoding=encoding, encoding_errors="skip")
    assert len(texts(docs)) == 8
    assert docs.skipped == 1


def test_utf16_that_is_cut_names_the_file(tmp_path):
    path = written(tmp_path, "x.csv", "text,label\nx,a\n".encode("utf-16") + b"\x00")
    with pytest.raises(InputError, match=r"x\.csv: not valid utf-16"):
        texts(read(path, encoding="utf-16", strict=True))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_utf16_without_its_mark_is_told(tmp_path, encoding):
    path = written(tmp_path, "x.csv", "text,label\nx,a\n".encode(f"{encoding}-le"))
    with pytest.raises(InputError, match=r"x\.csv: UTF-\d\d stream does not start with BOM.*encoding='utf-16-le'"):
        texts(read(path, encoding=encoding))


# --- options --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"strict": "no"}, "strict must be True or False, got 'no'"),
        ({"encoding_errors": "ignore"}, "encoding_errors must be 'error', 'skip' or 'replace', got 'ignore'"),
        ({"sep": "::"}, "sep must be one ASCII character such as ';'"),
        ({"sep": 7}, "sep must be one ASCII character"),
        ({"sheet": 0}, "sheet must be the name of a sheet, or its number"),
        ({"encoding": "utf-99"}, "encoding must be a text encoding"),
        ({"encoding": "base64"}, "encoding must be a text encoding"),
        ({"encoding": None}, "encoding must be a text encoding"),
        ({"encoding": "undefined"}, "encoding must be a text encoding"),
        ({"encoding": "utf\0"}, "encoding must be a text encoding"),
        ({"encoding": "idna"}, "encoding must be a text encoding"),  # of names of hosts: it decodes no files
        ({"text": ()}, "text must be the name of a column"),
        ({"text": 3}, "text must be the name of a column"),
        ({"label": ["a", "b"]}, "label must be the name of one column"),
        ({"label_sep": ""}, "label_sep must be a string"),
        ({"split": "train"}, "split must be a column and a value"),
        ({"split": ("a", "b", "c")}, "split must be a column and a value"),
    ],
)
def test_options_that_make_no_sense(options, message):
    with pytest.raises(OptionError, match=message):
        read({"text": ["x"], "label": ["a"]}, **options)


@pytest.mark.parametrize("source", [7, None, object(), {"x"}, np.zeros(3), pa.array(["x"])])
def test_what_cannot_be_read_says_what_can(source):
    with pytest.raises(InputError, match="What works: a path"):
        read(source)


def test_a_list_of_other_things_points_to_of():
    with pytest.raises(InputError, match=r"Documents\.of"):
        read([1, 2])


# --- plain sequences ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "labels", "message"),
    [
        (["x", "y"], ["a", None], "row 2: missing label"),
        (["x", "y"], ["a", float("nan")], "row 2: missing label"),
        (["x", "y"], ["a", ""], "row 2: missing label"),
        (["x", "y"], [["a"], ["b", None]], "row 2: missing label"),
        (["x", None], ["a", "b"], "row 2: missing text"),
        (["x", 7], ["a", "b"], "row 2: text is not a string: it is a number"),
        (["x", b"y"], ["a", "b"], "row 2: text is not a string: it is of type bytes"),
        (["x", "\ud800"], ["a", "b"], "row 2: text holds a lone surrogate"),
        (["x", "y"], ["a", object()], "row 2: label is not a string or number: it is of type object"),
        (["x", "y"], ["a", {"k": "v"}], "row 2: label is not a string or number: it is of type dict"),
        (["x", "y"], ["a", b"\xff"], "row 2: label is not valid utf-8: at byte 0"),
        (["x", "y"], ["a", float("inf")], "row 2: label is not a finite number"),
        (["x", "y"], np.array([1, np.inf]), "row 2: label is not a finite number"),
        (["x", "y"], pa.array([1, float("-inf")]), "row 2: label is not a finite number"),
        (["x", "y"], pa.array([[1.5], [float("inf")]]), "row 2: label is not a finite number"),
    ],
)
def test_bad_items_of_sequences(given, labels, message):
    with pytest.raises(InputError, match=message):
        texts(Documents.of(given, labels))
    docs = Documents.of(given, labels, strict=False)
    assert texts(docs) == ["x"]
    assert docs.skipped == 1


def test_sequences_of_different_length():
    with pytest.raises(InputError, match="texts 3, labels 2"):
        Documents.of(["x", "y", "z"], ["a", "b"])
    with pytest.raises(InputError, match="'text' 1, 'label' 2"):
        texts(read({"text": ["x"], "label": ["a", "b"]}, strict=True))


@pytest.mark.parametrize("wrong", ["a single text", b"bytes", {"a", "b"}, {"a": 1}, 7])
def test_what_is_no_sequence(wrong):
    with pytest.raises(InputError, match="texts must be a sequence"):
        Documents.of(wrong)
    with pytest.raises(InputError, match="labels must be a sequence"):
        Documents.of(["x"], wrong)


def test_arrays_of_two_dimensions():
    with pytest.raises(InputError, match=r"labels must have one dimension, got an array of shape \(1, 2\)"):
        Documents.of(["x"], np.array([["a", "b"]]))


def test_of_checks_its_option():
    with pytest.raises(OptionError, match="strict"):
        Documents.of(["x"], ["a"], strict="drop")


# Columns of types that no document has


def arrow_file(path, table, new=pa.ipc.new_file):
    with new(path, table.schema) as writer:
        writer.write_table(table)
    return path


ODD_COLUMNS = {
    "struct": pa.array([{"a": 1}] * 2),
    "map": pa.array([[("a", 1)]] * 2, pa.map_(pa.string(), pa.int64())),
    "union": pa.UnionArray.from_sparse(pa.array([0, 1], pa.int8()), [pa.array([1, 2]), pa.array(["x", "y"])]),
    "runs": pa.RunEndEncodedArray.from_arrays(pa.array([2], pa.int32()), pa.array(["x"])),
    "nested lists": pa.array([[["a"]]] * 2),
    "lists of structs": pa.array([[{"a": 1}]] * 2),
    "unknown time zone": pa.array([1, 2], pa.timestamp("us", "Mars/Olympus")),
    "far dates": pa.array([2**30, 1], pa.int32()).view(pa.date32()),
    "far times": pa.array([2**62, 1]).view(pa.timestamp("s")),
    "long durations": pa.array([2**62, 1]).view(pa.duration("s")),
}


@pytest.mark.parametrize("role", ["text", "label", "part"])
@pytest.mark.parametrize("column", ODD_COLUMNS.values(), ids=ODD_COLUMNS)
def test_columns_of_odd_types_are_refused_by_name(tmp_path, column, role):
    plain = pa.array(["a", "b"])
    path = arrow_file(tmp_path / "x.arrow", pa.table({"text": plain, "label": plain, "part": plain, role: column}))
    with pytest.raises(InputError, match=f"column '{role}'|missing label"):
        texts(read(path, split=("part", "a"), strict=True))


def test_extra_columns_may_be_of_any_type(tmp_path):
    plain = pa.array(["a", "b"])
    path = arrow_file(tmp_path / "x.arrow", pa.table({"text": plain, "label": plain, "more": ODD_COLUMNS["struct"]}))
    assert [batch["more"].to_pylist() for batch in read(path).batches(["more"])] == [[{"a": 1}, {"a": 1}]]


@pytest.mark.parametrize("ending", ["arrow", "parquet"])
def test_names_of_columns_that_are_not_utf8_are_refused(tmp_path, ending):
    path = tmp_path / f"x.{ending}"
    table = pa.table({"text": ["a"], "label": ["b"], "qqqq": ["c"]})
    if ending == "parquet":
        pq.write_table(table, path, store_schema=False)
    else:
        arrow_file(path, table)
    path.write_bytes(path.read_bytes().replace(b"qqqq", b"\xff\xfe\xfd\xfc"))
    for use in (lambda: texts(read(path)), lambda: read_column_names(path, Options())):
        with pytest.raises(InputError, match=r"the name of a column is not valid UTF-8"):
            use()


@pytest.mark.parametrize("new", [pa.ipc.new_file, pa.ipc.new_stream])
@pytest.mark.parametrize(
    ("table", "said"),
    [
        (pa.table([pa.array(["a"])] * 3, ["text", "label", "text"]), "more than one column is named 'text'"),
        (pa.table({"text": pa.array([], "string"), "label": pa.array([], "string")}), "it has no rows"),
        (pa.table({}), "there is no column 'text'"),
    ],
    ids=["a column twice", "no rows", "no columns"],
)
def test_arrow_files_with_nothing_to_read(tmp_path, new, table, said):
    with pytest.raises(InputError, match=said):
        texts(read(arrow_file(tmp_path / "x.arrow", table, new), strict=True))


@pytest.mark.parametrize("data", [b"", b"ARROW1", b"ARROW1\0\0", b"PAR1", b"PAR1PAR1", b"\0" * 8, b"\xff" * 100])
@pytest.mark.parametrize("ending", ["arrow", "feather", "parquet"])
def test_files_that_are_hardly_there(tmp_path, ending, data):
    path = written(tmp_path, f"x.{ending}", data)
    for use in (lambda: texts(read(path)), lambda: read_column_names(path, Options())):
        with pytest.raises(InputError, match=rf"x\.{ending}"):
            use()


def test_offsets_beyond_the_text_are_refused_before_they_are_followed(tmp_path):
    plain = pa.array(["aa", "bb"])
    path = arrow_file(tmp_path / "x.arrow", pa.table({"text": plain, "label": plain}))
    sound, wild = (np.array([0, 2, end], np.int32).tobytes() for end in (4, 2**30))
    path.write_bytes(path.read_bytes().replace(sound, wild))
    with pytest.raises(InputError, match=r"x\.arrow: column 'text' is damaged, in the rows from 1 to 2"):
        texts(read(path, strict=True))


def test_a_parquet_file_whose_row_groups_have_other_rows_is_refused(tmp_path):
    class Metadata:
        num_row_groups, num_rows = 2, 10

        def row_group(self, _index):
            return type("Group", (), {"num_rows": 4})

    with pytest.raises(InputError, match=r"it says that it has 10 rows, but its row groups have 8"):
        _number_of_rows(tmp_path / "x.parquet", Metadata())

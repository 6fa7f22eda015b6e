"""Documents from all but single files: folders, lists, frames, datasets, sequences, open files."""

from __future__ import annotations

import gzip
import io
import pickle
import re
import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from termsieve.documents import Documents, read
from termsieve.errors import InputError, OptionError

pytestmark = pytest.mark.filterwarnings("ignore:skipped")  # said of each bad row, and looked at below

LINE = b'{"text": "from json", "label": "j"}\n'
EXPECTED = [("x", ["a"]), ("y", ["b"])]


def rows(docs, extra=()):
    return [tuple(row.values()) for batch in docs.batches(extra) for row in batch.to_pylist()]


# --- several files --------------------------------------------------------------------------------------


@pytest.fixture
def mixed(tmp_path):
    (tmp_path / "b.jsonl").write_bytes(LINE)
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"label,text\nc,from csv\n"))
    pq.write_table(pa.table({"text": ["from parquet"], "label": [7]}), tmp_path / "c.parquet")
    return tmp_path


MIXED = [("from csv", ["c"]), ("from json", ["j"]), ("from parquet", ["7"])]


def test_a_pattern_is_read_in_order_of_name(mixed):
    assert rows(read(str(mixed / "*"))) == MIXED
    assert rows(read(mixed / "*.jsonl")) == MIXED[1:2]
    assert rows(read(str(mixed / "**" / "?.csv.gz"))) == MIXED[:1]


def test_a_list_is_read_as_given(mixed):
    paths = [mixed / "c.parquet", str(mixed / "b.jsonl"), str(mixed / "[a]*")]
    assert rows(read(paths)) == [MIXED[2], MIXED[1], MIXED[0]]


def test_a_name_with_brackets_is_a_name(tmp_path):
    (tmp_path / "x[1].jsonl").write_bytes(LINE)
    (tmp_path / "x1.jsonl").write_bytes(LINE * 2)
    assert len(rows(read(tmp_path / "x[1].jsonl"))) == 1


def test_home_is_expanded(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "x.jsonl").write_bytes(LINE)
    assert len(rows(read("~/x.jsonl"))) == 1


def test_errors_name_the_file_among_several(mixed):
    (mixed / "b.jsonl").write_bytes(LINE + b'{"text": "x"}\n')
    with pytest.raises(InputError, match=r"b\.jsonl, line 2: missing label"):
        rows(read(str(mixed / "*"), strict=True))
    docs = read(str(mixed / "*"))
    assert rows(docs) == MIXED
    assert docs.skipped == 1


def test_progress_counts_bytes_on_disk(mixed, monkeypatch):
    monkeypatch.setattr("termsieve.documents.streams.BLOCK_BYTES", 64)
    (mixed / "d.jsonl").write_bytes(LINE * 50)
    docs = read(str(mixed / "*"))
    sizes = [path.stat().st_size for path in mixed.iterdir()]
    assert docs.total_bytes == sum(sizes)
    for _ in range(2):
        seen = [docs.bytes_read for _ in docs]
        assert seen == sorted(seen)
        assert len(set(seen)) > 10
        assert docs.bytes_read == docs.total_bytes
    assert Documents.of(["x"]).total_bytes is None


def test_documents_from_paths_can_be_pickled(mixed):
    docs = read(str(mixed / "*"))
    rows(docs)
    assert rows(pickle.loads(pickle.dumps(docs))) == MIXED
    memory = Documents.of(["x", "y"], ["a", "b"])
    assert rows(pickle.loads(pickle.dumps(memory))) == EXPECTED


def test_repr_says_where_from_and_how(mixed):
    docs = read(mixed / "b.jsonl", label=None)
    assert repr(docs) == f"<Documents from {mixed / 'b.jsonl'} (label=None)>"
    for number in range(7):
        (mixed / f"n{number}.jsonl").write_bytes((mixed / "b.jsonl").read_bytes())
    assert repr(read(str(mixed / "n*.jsonl"))).endswith("n2.jsonl and 4 more>")
    assert repr(Documents.of(["x", "y"], ["a", "b"])) == "<Documents from 2 texts>"


# --- class folders --------------------------------------------------------------------------------------


@pytest.fixture
def folders(tmp_path):
    files = {
        "pos/2.txt": b"second",
        "pos/10.txt": b"\xef\xbb\xbftenth",
        "neg/only": b"line\r\nline",
        "neg/.hidden": b"\xff",
        ".git/config": b"x",
        "neg/zipped.txt.gz": gzip.compress(b"packed"),
    }
    for name, data in files.items():
        path = tmp_path / "root" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return tmp_path / "root"


def test_a_folder_of_class_folders(folders):
    docs = read(folders, label="whatever")
    expected = [("line\r\nline", ["neg"]), ("packed", ["neg"]), ("tenth", ["pos"]), ("second", ["pos"])]
    assert rows(docs) == rows(docs) == expected
    assert docs.total_bytes == docs.bytes_read > 0
    assert rows(read(str(folders), label=None)) == [(text, []) for text, _ in expected]


def test_many_small_files_make_few_batches(tmp_path):
    (tmp_path / "a").mkdir()
    for number in range(500):
        (tmp_path / "a" / f"{number:03}").write_text(str(number))
    (batch,) = read(tmp_path)
    assert batch["text"].to_pylist() == [str(number) for number in range(500)]


def test_a_bad_text_file_is_named_or_skipped(folders):
    (folders / "pos" / "3.txt").write_bytes(b"caf\xe9")
    with pytest.raises(InputError, match=re.escape(f"{folders}, {Path('pos') / '3.txt'}: not valid utf-8: at byte 3")):
        rows(read(folders))
    docs = read(folders, encoding_errors="skip")
    assert len(rows(docs)) == 4
    assert docs.skipped == 1
    assert ("café", ["pos"]) in rows(read(folders, encoding="latin-1"))


def test_folders_that_are_none(folders, tmp_path):
    with pytest.raises(InputError, match=r"without class folders.*\*\.jsonl"):
        read(folders / "pos")
    (tmp_path / "blank" / "class").mkdir(parents=True)
    (tmp_path / "blank" / "class" / "x").write_bytes(b"")
    assert rows(read(tmp_path / "blank")) == [("", ["class"])]
    (tmp_path / "empty" / "class").mkdir(parents=True)
    with pytest.raises(InputError, match="empty: it has no text files"):
        rows(read(tmp_path / "empty"))


def test_folders_have_no_columns(folders):
    with pytest.raises(OptionError, match=r"has no columns: split=\(COLUMN, VALUE\) says nothing"):
        read(folders, split=("set", "train"))
    with pytest.raises(OptionError, match="has no columns: text=NAME says nothing"):
        read(folders, text="body")
    with pytest.raises(InputError, match=r"no column 'fold'. Columns: 'path'"):
        rows(read(folders), ["fold"])


# --- frames, tables, datasets ---------------------------------------------------------------------------


class WithData:
    def __init__(self, data):
        self.data = data


class Stream:
    """Anything with Arrow's stream interface."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


class HuggingFace:
    """As `datasets.Dataset`: the table in `data` does not show what was selected."""

    def __init__(self, table, chosen):
        self.data = WithData(table)
        self.data.table = table
        self._chosen = chosen
        self.column_names = table.column_names
        self.format = None

    def with_format(self, kind):
        assert kind == "arrow"
        return self

    def select_columns(self, names):
        return HuggingFace(self.data.table.select(names), self._chosen)

    def iter(self, batch_size):
        yield self.data.table.take(self._chosen)


TABLE = pa.table({"other": [1, 2], "text": ["x", "y"], "label": ["a", "b"]})


def nested():
    holder = WithData(None)
    holder.data = WithData(None)
    holder.data.table = TABLE
    return holder


TABLES = {
    "table": lambda: TABLE,
    "chunked": lambda: pa.concat_tables([TABLE.slice(0, 1), TABLE.slice(1)]),
    "batch": lambda: TABLE.to_batches()[0],
    "reader": TABLE.to_reader,
    "pandas": TABLE.to_pandas,
    "pandas, own index": lambda: TABLE.to_pandas().set_index("other").set_axis([5, 5]),
    "pandas, category": lambda: TABLE.to_pandas().astype({"label": "category", "text": "object"}),
    "pandas, lists": lambda: pd.DataFrame({"text": ["x", "y"], "label": [["a"], ("b",)]}),
    "pandas, sets": lambda: pd.DataFrame({"text": ["x", "y"], "label": [{"a"}, {"b"}]}),
    "polars": lambda: pl.from_arrow(TABLE),
    "polars, category": lambda: pl.from_arrow(TABLE).with_columns(pl.col("label").cast(pl.Categorical)),
    "polars, lists of category": lambda: pl.DataFrame(
        {"text": ["x", "y"], "label": pl.Series([["a"], ["b"]], dtype=pl.List(pl.Categorical))}
    ),
    "polars, lists": lambda: pl.DataFrame({"text": ["x", "y"], "label": [["a"], ["b"]]}),
    "mapping": lambda: {"text": ["x", "y"], "label": np.array(["a", "b"])},
    "stream": lambda: Stream(TABLE),
    "data": lambda: WithData(TABLE),
    "data.table": nested,
    "dataset": lambda: HuggingFace(TABLE, [0, 1]),
}


@pytest.mark.parametrize("kind", TABLES)
def test_frames_and_tables(kind):
    docs = read(TABLES[kind]())
    assert rows(docs) == rows(docs) == EXPECTED


@pytest.mark.parametrize("kind", TABLES)
def test_frames_and_tables_split(kind):
    docs = read(TABLES[kind](), split=("text", "y"))
    (found,) = rows(docs, ["label"])
    assert found[:2] == EXPECTED[1]
    assert found[2] in ("b", ["b"])


@pytest.mark.parametrize("opener", [pa.ipc.new_file, pa.ipc.new_stream])
def test_arrow_files_may_hold_views(opener, tmp_path):
    views = pa.table({name: TABLE[name].cast(pa.string_view()) for name in ("text", "label")})
    with opener(tmp_path / "x.arrow", views.schema) as file:
        file.write_table(views)
    assert rows(read(tmp_path / "x.arrow")) == EXPECTED


def test_a_series_that_cannot_hand_over_its_values_is_read_one_by_one():
    class Series:
        def __arrow_c_stream__(self, requested_schema=None):
            raise OSError("the producer expects another type")

        def __iter__(self):
            return iter(["a", "b"])

        def __len__(self):
            return 2

    assert rows(read({"text": ["x", "y"], "label": Series()})) == EXPECTED


def test_a_dataset_is_read_as_selected():
    data = HuggingFace(TABLE, [1])
    assert rows(read(data), ["other"]) == [("y", ["b"], 2)]
    with pytest.raises(InputError, match=r"HuggingFace: there is no column 'body'. Columns: 'other', 'text', 'label'"):
        rows(read(data, text="body"))


def test_a_mapping_of_datasets_asks_which():
    with pytest.raises(InputError, match="choose one of 'train', 'test'"):
        read({"train": TABLE, "test": TABLE})


def test_missing_values_of_frames_are_missing():
    frame = pd.DataFrame({"text": ["x", None, "z"], "label": ["a", "b", None]})
    for source in (frame, frame.astype("object"), pl.from_pandas(frame)):
        docs = read(source)
        assert rows(docs) == [("x", ["a"])]
        assert docs.skipped_reasons == {"missing text": 1, "missing label": 1}


def test_mixed_objects_in_a_frame():
    frame = pd.DataFrame({"text": list("vwxyz"), "label": [1, "one", ["a", 2], True, 2.5]})
    assert [labels for _, labels in rows(read(frame))] == [["1"], ["one"], ["a", "2"], ["True"], ["2.5"]]


def test_frames_list_their_columns():
    for frame in (TABLE.to_pandas(), pl.from_arrow(TABLE), TABLE):
        with pytest.raises(
            InputError, match=r"no column 'txt'. Did you mean 'text'\? Columns: 'other', 'text', 'label'"
        ):
            rows(read(frame, text="txt"))


def test_columns_without_a_name_are_left_alone():
    frame = pd.DataFrame([["x", "a", 1]]).rename(columns={0: "text", 1: "label"})
    assert rows(read(frame)) == [("x", ["a"])]
    with pytest.raises(InputError, match="no column '2'"):
        rows(read(frame, text="2"))


def test_extra_columns_of_mixed_objects_become_text():
    frame = pd.DataFrame({"text": ["x", "y"], "label": ["a", "b"], "fold": [1, "two"]})
    assert rows(read(frame), ["fold"]) == [("x", ["a"], "1"), ("y", ["b"], "two")]
    strange = {"text": ["x", "y"], "label": ["a", "b"], "fold": ["\ud800", "two"]}
    assert rows(read(strange), ["fold"]) == [("x", ["a"], None), ("y", ["b"], "two")]


# --- plain sequences ------------------------------------------------------------------------------------

SEQUENCES = {
    "list": list,
    "tuple": tuple,
    "numpy": np.array,
    "numpy objects": lambda values: np.array(values, object),
    "pandas": pd.Series,
    "pandas objects": lambda values: pd.Series(values, dtype=object, index=[9] * len(values)),
    "polars": pl.Series,
    "arrow": pa.array,
    "chunked": lambda values: pa.chunked_array([values[:1], values[1:]]),
    "generator": lambda values: (value for value in values),
}


@pytest.mark.parametrize("kind", SEQUENCES)
def test_sequences_of_every_library(kind):
    make = SEQUENCES[kind]
    docs = Documents.of(make(["x", "y"]), make(["a", "b"]))
    assert rows(docs) == rows(docs) == EXPECTED
    assert rows(Documents.of(make(["x", "y"]), make([1, 2]))) == [("x", ["1"]), ("y", ["2"])]
    assert rows(Documents.of(make(["x", "y"]))) == [("x", []), ("y", [])]


def test_labels_of_every_kind():
    labels = [
        "007",
        7,
        1.5,
        True,
        np.int64(3),
        np.float64(0.5),
        np.bool_(False),
        ["b", "a", "b"],
        ("c",),
        [],
        set(),
    ]
    labels += [{"z", "y", "x"}, frozenset({2, 1}), np.array(["p", "q"]), np.str_("s")]
    found = [labels for _, labels in rows(Documents.of(["t"] * len(labels), labels))]
    expected = [["007"], ["7"], ["1.5"], ["True"], ["3"], ["0.5"], ["False"], ["b", "a"], ["c"], [], []]
    assert found == [*expected, ["x", "y", "z"], ["1", "2"], ["p", "q"], ["s"]]


def test_texts_may_hold_anything_that_is_unicode():
    strange = ["", "\0", "a\0b", "\ufeff", "\U0010ffff", "\u0301", np.str_("numpy")]
    assert [text for text, _ in rows(Documents.of(strange))] == strange


def test_many_texts_come_in_several_batches_with_right_rows():
    texts = [str(number) for number in range(100_000)]
    labels = [*texts[:-1], None]
    docs = Documents.of(texts, texts)
    assert len(list(docs)) > 1
    assert [text for batch in docs for text in batch["text"].to_pylist()] == texts
    with pytest.raises(InputError, match="row 100000: missing label"):
        rows(Documents.of(texts, labels))


def test_no_texts_are_no_documents():
    assert rows(Documents.of([], [])) == []


# --- open files -----------------------------------------------------------------------------------------


def test_an_open_file_is_read_once():
    file = io.BytesIO(LINE)
    docs = read(file)
    assert rows(docs) == [("from json", ["j"])]
    assert not file.closed
    with pytest.raises(InputError, match="can be read once only"):
        rows(docs)


def test_an_open_file_must_be_binary_and_not_empty(tmp_path):
    with pytest.raises(InputError, match="binary mode"):
        read(io.StringIO("x"))
    with pytest.raises(InputError, match="it has no rows"):
        rows(read(io.BytesIO()))
    (tmp_path / "x").write_bytes(b"{")
    with (tmp_path / "x").open("rb") as file, pytest.raises(InputError, match=r"x, line 1: not valid JSON"):
        rows(read(file))


# --- memory ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["jsonl", "csv"])
def test_a_large_file_is_not_held(tmp_path, ending):
    line = {"jsonl": b'{"text": "%s", "label": "a"}\n', "csv": b'"%s",a\n'}[ending] % (b"some words " * 100)
    path = tmp_path / f"x.{ending}"
    with path.open("wb") as file:
        file.write(b"text,label\n" if ending == "csv" else b"")
        for _ in range(40):
            file.write(line * 1000)
    docs, before, peak = read(path), pa.total_allocated_bytes(), 0
    tracemalloc.start()
    for _ in docs:
        peak = max(peak, pa.total_allocated_bytes() - before)
    peak += tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert docs.total_bytes > 40_000_000
    assert peak < 32_000_000

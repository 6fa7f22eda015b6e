"""Documents in an object store: a server of S3 on this machine, read through Arrow, as a user would name the files."""

from __future__ import annotations

import logging
from typing import NamedTuple

import pyarrow as pa
import pyarrow.fs as fs
import pyarrow.parquet as pq
import pytest
from moto.server import ThreadedMotoServer

import termsieve as ts
from termsieve.errors import InputError, OutputError

ROWS = [("cheap pills, now", "spam"), ("buy cheap pills", "spam"), ("lunch at noon", "ham"), ("noon", "ham")]
CSV = "".join(f'"{text}",{label}\n' for text, label in [("text", "label"), *ROWS]).encode()
LINES = b'{"text": "an offer", "label": "spam"}\n{"text": "a lunch", "label": "ham"}\n'
KEY = "hidden-key"


class Store(NamedTuple):
    """A bucket: its filesystem, and what its URIs begin and end with."""

    filesystem: fs.S3FileSystem
    start: str
    options: str

    def uri(self, name):
        return f"{self.start}/{name}{self.options}"

    def write(self, name, content):
        with self.filesystem.open_output_stream(f"bucket/{name}") as file:
            file.write(content)


@pytest.fixture(scope="module")
def store():
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        filesystem = fs.S3FileSystem(
            access_key="user", secret_key=KEY, endpoint_override=f"{host}:{port}", scheme="http", region="us-east-1",
            allow_bucket_creation=True,
        )  # fmt: skip
        filesystem.create_dir("bucket")
        options = f"?endpoint_override={host}%3A{port}&scheme=http&region=us-east-1"
        made = Store(filesystem, f"s3://user:{KEY}@bucket", options)
        for name in ("a.csv", "days/day=1/x.csv", "days/day=2/z.csv"):
            made.write(name, CSV)
        made.write("b.jsonl", LINES)
        table = pa.table({"text": [text for text, _ in ROWS], "label": [label for _, label in ROWS]})
        sink = pa.BufferOutputStream()
        pq.write_table(table, sink)
        made.write("a.parquet", sink.getvalue())
        yield made
    finally:
        server.stop()


def rows(docs, extra=()):
    return [tuple(row.values()) for batch in docs.batches(extra) for row in batch.to_pylist()]


EXPECTED = [(text, [label]) for text, label in ROWS]
COUNTS = ts.count([text for text, _ in ROWS], [label for _, label in ROWS])


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "*.parquet", "days/day=1/*.csv", "**/z.csv"])
def test_files_and_patterns(store, name):
    docs = ts.read(store.uri(name))
    assert rows(docs) == EXPECTED
    assert ts.count(docs) == COUNTS
    assert KEY not in repr(docs) + str(docs.origin)


def test_folders_whose_names_are_columns(store):
    docs = ts.read(store.uri("days"))
    assert rows(docs, ["day"]) == [(*row, day) for day in "12" for row in EXPECTED]


def test_file_that_is_not_there(store):
    with pytest.raises(InputError, match=r"There is no file s3://bucket/a\.tsv\. Did you mean 'a\.csv'"):
        ts.read(store.uri("a.tsv"))


def test_counting_from_the_command_line(store, tmp_path, typed):
    """In one pass, within a bound, resumably, one file after the other; and a file is withdrawn."""
    for name, options in (("plain", []), ("bound", ["--memory", "1GB"]), ("resumed", ["--memory", "1GB", "--resume"])):
        target = tmp_path / f"{name}.counts"
        assert typed("count", store.uri("days/*/*.csv"), "-o", target, *options)[0] == 0
        assert ts.Counts.load(target) == COUNTS + COUNTS
    log = tmp_path / "log.counts"
    assert typed("count", store.uri("a.csv"), "--update", log)[0] == 0
    code, _, said = typed("count", store.uri("a.csv"), store.uri("b.jsonl"), "--update", log)
    assert code == 0
    assert "1 of 2 files are counted already" in said
    assert ts.Counts.load(log) == COUNTS + ts.count(["an offer", "a lunch"], ["spam", "ham"])
    assert typed("forget", log, store.uri("b.jsonl"))[0] == 0
    assert ts.Counts.load(log) == COUNTS
    assert "s3://bucket/b.jsonl" in (tmp_path / "log.counts.receipts.jsonl").read_text()
    assert not [path.name for path in tmp_path.iterdir() if KEY.encode() in path.read_bytes()]


def test_interrupted_count_does_not_go_on_with_another_file(store, tmp_path):
    from termsieve.counts.spilling import _Journal

    store.write("changing.csv", CSV)
    journal = _Journal(tmp_path / "journal", ts.read(store.uri("changing.csv")), None)
    journal.write((1, 0), [])
    assert _Journal(tmp_path / "journal", ts.read(store.uri("changing.csv")), None).read() == ((1, 0), [])
    store.write("changing.csv", CSV + b"more,ham\n")
    with pytest.raises(InputError, match="of other files"):
        _Journal(tmp_path / "journal", ts.read(store.uri("changing.csv")), None).read()


def test_results_are_files_of_this_machine(store, typed):
    code, _, said = typed("count", store.uri("a.csv"), "-o", store.uri("out.counts"))
    assert code != 0
    assert "s3:// is not written to: results are files of this machine" in said
    assert KEY not in said
    with pytest.raises(OutputError, match="s3:// is not written to"):
        COUNTS.save(store.uri("out.counts"))


def test_counts_in_a_store_are_not_taken_for_documents(store, typed, tmp_path):
    COUNTS.save(tmp_path / "x.counts")
    store.write("x.counts", (tmp_path / "x.counts").read_bytes())
    code, _, said = typed("rank", store.uri("x.counts"))
    assert code != 0
    assert "s3://bucket/x.counts: counts are read from files of this machine. Copy it here first." in said

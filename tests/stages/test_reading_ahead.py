"""Files are unpacked and parsed in threads: the same rows, positions and errors in the same order as in one thread."""

import gzip
import json
import random
import threading
import time
import warnings
from unittest.mock import patch

import pyarrow as pa
import pytest

from termsieve import threads
from termsieve.documents import read, streams
from termsieve.errors import InputError

BLOCK = 256
# so many, and so different, that the first of them can be unpacked where the end is missing
LONG = [{"text": f"{random.Random(i).getrandbits(400):x}", "label": "ab"[i % 2]} for i in range(3000)]
RECORDS = [{"text": f"document {i} " + "word " * (i % 7), "label": "ab"[i % 2]} for i in range(200)]


def json_lines(records):
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def cells(records):
    lines = (f'"{record["text"]}\nanother line",{record["label"]}\n' for record in records)
    return ("text,label\n" + "".join(lines)).encode()


def collect(items):
    """Return the items before an error, and the error."""
    found = []
    try:
        for item in items:
            found.append(item)  # noqa: PERF402 - those before an error are wanted
    except (InputError, ValueError) as error:
        found.append(str(error))
    return found


def open_documents(path, **options):
    """Read with all options that would have the beginning of the file looked at."""
    return read(path, text="text", label="label", sep="," if ".csv" in path.name else None, **options)


def listen(path, cores, **options):
    """Return all that can be noticed of a pass over a file."""
    documents = open_documents(path, **options)
    with (
        patch.object(streams, "BLOCK_BYTES", BLOCK),
        patch.object(streams, "count_cores", lambda: cores),
        patch.object(threads, "count_cores", lambda: cores),
        warnings.catch_warnings(record=True) as warned,
    ):
        warnings.simplefilter("always")
        noticed = collect(
            (batch.to_pylist(), documents.bytes_read, documents.position) for batch in documents.batches(places=True)
        )
    return noticed, [str(one.message) for one in warned], documents.skipped_places, documents.notes


BROKEN = b'{"text": "broken"\n'
FILES = {
    "sound.jsonl": json_lines(RECORDS),
    "sound.csv": cells(RECORDS),
    "sound.jsonl.gz": gzip.compress(json_lines(RECORDS)),
    "sound.csv.gz": gzip.compress(cells(RECORDS)),
    "sound.jsonl.zst": pa.compress(json_lines(RECORDS), "zstd", asbytes=True),
    "marked.csv": cells(RECORDS).decode().encode("utf-16"),
    "bad rows.jsonl": json_lines(RECORDS[:90]) + BROKEN + json_lines(RECORDS[90:]) + BROKEN,
    "bad rows.csv": cells(RECORDS[:90]) + b"a,b,c\n" + cells(RECORDS[90:])[11:] + b"d\n",
    "other labels.jsonl": json_lines([{**r, "label": i if i > 99 else "a"} for i, r in enumerate(RECORDS)]),
    "stray quote.csv": cells(RECORDS[:90]) + b'one "quote" here,a\n' + cells(RECORDS[90:])[11:],
    "open quote.csv": cells(RECORDS) + b'"never closed,a\n',
    "undecodable.jsonl": json_lines(RECORDS) + b'{"text": "\xff", "label": "a"}\n' + json_lines(RECORDS),
    "undecodable.csv": cells(RECORDS) + b"\xff,a\n" + cells(RECORDS)[11:],
    "cut.jsonl.gz": gzip.compress(json_lines(LONG))[:-300],
    "cut.csv.gz": gzip.compress(cells(LONG))[:-300],
}


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("name", FILES)
def test_threads_change_nothing_that_can_be_noticed(tmp_path, name, strict):
    path = tmp_path / name
    path.write_bytes(FILES[name])
    expected = listen(path, 1, strict=strict)
    assert listen(path, 4, strict=strict) == expected
    assert len(expected[0]) > 10  # several blocks, also before an error


def test_a_pass_goes_on_where_another_stopped(tmp_path):
    path = tmp_path / "x.jsonl.gz"
    path.write_bytes(gzip.compress(json_lines(RECORDS)))
    documents = read(path)
    with (
        patch.object(streams, "BLOCK_BYTES", BLOCK),
        patch.object(streams, "count_cores", lambda: 4),
        patch.object(threads, "count_cores", lambda: 4),
    ):
        batches = documents.batches()
        before = [row for _ in range(9) for row in next(batches).to_pylist()]
        position = documents.position
        batches.close()
        after = [row for batch in documents.batches(after=position) for row in batch.to_pylist()]
    assert [row["text"] for row in before + after] == [record["text"] for record in RECORDS]


# Threads that end


@pytest.fixture
def no_thread_stays():
    before = set(threading.enumerate())
    yield
    assert set(threading.enumerate()) <= before


@pytest.mark.usefixtures("no_thread_stays")
@pytest.mark.parametrize("name", ["sound.jsonl", "sound.jsonl.gz", "sound.csv.gz", "cut.csv.gz"])
@pytest.mark.parametrize("how", ["all", "close", "interrupt", "forget"])
def test_no_thread_stays_whatever_ends_the_pass(tmp_path, name, how):
    path = tmp_path / name
    path.write_bytes(FILES[name])
    started = len(threading.enumerate())
    with (
        patch.object(streams, "BLOCK_BYTES", BLOCK),
        patch.object(streams, "count_cores", lambda: 4),
        patch.object(threads, "count_cores", lambda: 4),
    ):
        batches = open_documents(path).batches()
        for _ in range(4):
            next(batches)
        assert len(threading.enumerate()) > started
        if how == "all":
            collect(batches)
        elif how == "close":
            batches.close()
        elif how == "interrupt":
            with pytest.raises(KeyboardInterrupt):
                batches.throw(KeyboardInterrupt())
        else:
            del batches


@pytest.mark.usefixtures("no_thread_stays")
@pytest.mark.parametrize("name", ["x.jsonl", "x.csv", "x.csv.gz"])
def test_a_file_of_one_block_is_read_without_threads(tmp_path, name, monkeypatch):
    path = tmp_path / name
    content = cells(RECORDS) if ".csv" in name else json_lines(RECORDS)
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    monkeypatch.setattr(streams, "count_cores", lambda: 4)
    monkeypatch.setattr(threading.Thread, "start", lambda _: pytest.fail("a thread was started"))
    assert sum(batch.num_rows for batch in read(path)) == len(RECORDS)


# The tools


def numbers_then_error(n):
    yield from range(n)
    raise ValueError("the items end here")


@pytest.mark.parametrize("n_threads", [1, 2, 4])
def test_an_error_of_the_items_comes_after_their_results(n_threads):
    found = collect(threads.map_stream(lambda i: i * i, numbers_then_error(20), n_threads))
    assert found == [*(i * i for i in range(20)), "the items end here"]


@pytest.mark.parametrize("n_threads", [1, 2, 4])
def test_an_error_of_the_work_comes_in_its_place(n_threads):
    def work(i):
        if i == 11:
            raise ValueError("eleven")
        time.sleep(0.01 * (i < 4))
        return i

    assert collect(threads.map_stream(work, iter(range(20)), n_threads)) == [*range(11), "eleven"]


@pytest.mark.usefixtures("no_thread_stays")
@pytest.mark.parametrize("cores", [1, 2])
def test_an_error_of_what_is_read_ahead_comes_in_its_place(monkeypatch, cores):
    monkeypatch.setattr(threads, "count_cores", lambda: cores)
    assert collect(threads.read_ahead(numbers_then_error(7), 3)) == [*range(7), "the items end here"]


@pytest.mark.usefixtures("no_thread_stays")
def test_only_so_many_items_are_read_ahead(monkeypatch):
    monkeypatch.setattr(threads, "count_cores", lambda: 2)
    taken = []
    reader = threads.read_ahead((taken.append(i) or i for i in range(1000)), 3)
    for i in range(10):
        assert next(reader) == i
        time.sleep(0.01)
        assert len(taken) <= i + 1 + 3
    assert len(taken) > 10
    reader.close()


@pytest.mark.usefixtures("no_thread_stays")
def test_who_closes_what_is_read_ahead_waits_for_the_item_that_is_being_read(monkeypatch):
    monkeypatch.setattr(threads, "count_cores", lambda: 2)
    begun, ended = threading.Event(), threading.Event()

    def items():
        yield 0
        begun.set()
        time.sleep(0.1)
        ended.set()
        yield 1

    reader = threads.read_ahead(items(), 2)
    assert next(reader) == 0
    assert begun.wait(30)
    reader.close()
    assert ended.is_set()

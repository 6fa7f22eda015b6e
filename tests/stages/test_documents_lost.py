"""No row goes, doubles or moves without a word: lines lost, rows merged by a quote, files named twice or not read."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import shutil
import threading
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import termsieve as ts
from termsieve.documents import Documents, read
from termsieve.documents.sources import PeekableFile
from termsieve.documents.text_files import _split_line
from termsieve.errors import InputError, OptionError

pytestmark = pytest.mark.filterwarnings("ignore:skipped")  # said of each bad row, and looked at below

DATA = os.environ.get("TERMSIEVE_DATA", "")


def places(docs):
    """The text and the place of each document."""
    return [(row["text"], row["place"]) for batch in docs.batches(places=True) for row in batch.to_pylist()]


def lines(docs):
    return [place["line"] for _, place in places(docs)]


def written(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


# --- lines lost -----------------------------------------------------------------------------------------


def table(bad, ending="csv", n=10_000):
    """A file of so many rows, some of them replaced; row i is in line i + 2."""
    delimiter = "," if ending == "csv" else "\t"
    rows = [f"text {i}{delimiter}{'ab'[i % 2]}" for i in range(n)]
    for row, content in bad.items():
        rows[row] = content
    return "\n".join([f"text{delimiter}label", *rows, ""])


def test_a_ragged_row_and_a_lone_quote_do_not_take_the_file_away(tmp_path, typed):
    """These two left 4 of 10,000 documents: "skipped 2 bad rows", exit 0."""
    path = written(tmp_path / "x.csv", table({3: "a,ragged,row", 5: '"lone,b'}))
    with pytest.raises(
        InputError, match=r"line 7: a quote is never closed: it takes in the rest of the file, 9995 lines"
    ):
        list(read(path))
    code, _, err = typed("count", path, "-o", tmp_path / "x.counts")
    assert code == 1
    assert "line 7: a quote is never closed" in err
    assert "--no-quotes" in err
    docs = read(path, quotes=False)
    assert sum(batch.num_rows for batch in docs) == 9_999
    assert (docs.skipped, docs.skipped_lines, docs.skipped_places) == (1, 1, "line 5")


def test_lines_that_a_quote_takes_into_a_bad_row_are_counted_and_named(tmp_path, typed):
    path = written(tmp_path / "x.csv", table({3: "a,ragged,row", 5: '"lone,b', 9_990: 'x,"y'}))
    docs = read(path)
    kept = lines(docs)
    assert kept == [2, 3, 4, 6, *range(9_993, 10_002)]
    assert docs.skipped == 2
    assert docs.skipped_lines == 10_000 - len(kept) == 1 + 9_986
    assert docs.skipped_places == "line 5; lines 7-9,992"
    assert "a quoted cell takes in lines 7-9,992" in docs.skipped_examples[1]
    code, _, err = typed("count", path, "-o", tmp_path / "x.counts")
    assert code == 0
    assert "skipped 2 bad rows, 9,987 lines (line 5; lines 7-9,992) of 15" in err
    assert "A quote joins lines 7-9,992; if it is text, --no-quotes reads each line as a row" in err


@pytest.mark.parametrize("block", [64, 4 << 20])
def test_every_line_is_kept_lost_or_blank(tmp_path, block, monkeypatch):
    monkeypatch.setattr("termsieve.documents.streams.BLOCK_BYTES", block)
    bad = dict.fromkeys((3, 4, 5, 9, 20, 30, 40, 50, 60), "bad,ragged,row") | {7: "", 70: '"over\nlines",a', 71: "\r"}
    docs = read(written(tmp_path / "x.csv", table(bad, n=100)))
    assert docs.skipped_lines == 0
    kept = lines(docs)
    assert docs.skipped_lines == 9
    assert docs.skipped_places == "lines 5-7; line 11; line 22; line 32; line 42; 2 more"
    assert len(kept) == 100 - 9 - 2  # and two are blank
    assert kept == sorted({*range(2, 103)} - {5, 6, 7, 11, 22, 32, 42, 52, 62, 9, 73, 74})


def test_rows_of_tables_are_named_too(tmp_path):
    pq.write_table(pa.table({"text": ["a", None, None, "d", None], "label": list("xyxyx")}), tmp_path / "x.parquet")
    docs = read(tmp_path / "x.parquet")
    assert places(docs) == [
        (text, {"file": str(tmp_path / "x.parquet"), "line": None, "row": row}) for text, row in (("a", 1), ("d", 4))
    ]
    assert (docs.skipped, docs.skipped_lines, docs.skipped_places) == (3, 0, "rows 2-3; row 5")


# --- places ---------------------------------------------------------------------------------------------


def test_places_survive_splits_blank_lines_and_cells_of_several_lines(tmp_path):
    data = 'text,label,part\n\n"a\nb",x,1\r\n\nc,y,2\nd,x,1\n"e\n\nf",y,1\n'
    docs = read(written(tmp_path / "x.csv", data), split=("part", "1"))
    assert lines(docs) == [3, 7, 8]
    data = '\n{"text": "a", "label": "x", "part": 1}\n\n{"text": "b", "label": "y", "part": 2}\n{\n'
    data += '{"text": "c", "label": "x", "part": 1}'
    docs = read(written(tmp_path / "x.jsonl", data), split=("part", 1))
    assert lines(docs) == [2, 6]
    docs = read({"text": ["a", "b"], "label": ["x", "y"]}, split=("label", "y"))
    assert [place["row"] for _, place in places(docs)] == [2]
    assert [place["row"] for _, place in places(Documents.of(["a", None, "c"], strict=False))] == [1, 3]


def test_places_name_the_file(tmp_path):
    for name in ("a", "b"):
        (tmp_path / "root" / name).mkdir(parents=True)
        written(tmp_path / "root" / name / "1.txt", name)
    docs = read(tmp_path / "root")
    assert docs.place_names == ["file"]
    assert [place["file"] for _, place in places(docs)] == [str(tmp_path / "root" / name / "1.txt") for name in "ab"]
    paths = [written(tmp_path / "x.jsonl", '{"text": "a", "label": "x"}\n'), tmp_path / "x.parquet"]
    pq.write_table(pa.table({"text": ["b"], "label": ["y"]}), paths[1])
    docs = read(paths)
    assert docs.place_names == ["file", "line", "row"]
    assert [tuple(place.values()) for _, place in places(docs)] == [(str(paths[0]), 1, None), (str(paths[1]), None, 1)]
    assert read(paths[0]).place_names == ["line"]


def test_the_column_of_places_has_a_name_of_its_own():
    docs = read({"text": ["a"], "label": ["x"], "place": ["here"]})
    assert [batch["place"].to_pylist() for batch in docs.batches(["place"])] == [["here"]]
    with pytest.raises(OptionError, match="cannot be named 'place'"):
        docs.batches(["place"], places=True)


# --- quotes ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("block", [64, 4 << 20])
@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_rows_that_a_quote_has_merged_are_named(tmp_path, ending, block, monkeypatch):
    monkeypatch.setattr("termsieve.documents.streams.BLOCK_BYTES", block)
    delimiter = "," if ending == "csv" else "\t"
    data = table({10: f'"Hi{delimiter}a', 12: f'Bye"{delimiter}b'}, ending, n=100)
    docs = read(written(tmp_path / f"x.{ending}", data))
    with pytest.warns(UserWarning, match="lines 12-14 look like several rows merged by a quote; quotes=False"):
        assert sum(batch.num_rows for batch in docs) == 98
    assert docs.notes[1].startswith("1 row has a quoted cell with line ends inside; the first: ")
    docs = read(tmp_path / f"x.{ending}", quotes=False)
    assert sum(batch.num_rows for batch in docs) == 100
    assert docs.notes == []
    assert [row for batch in docs for row in batch["text"].to_pylist()][10:13:2] == ['"Hi', 'Bye"']


def test_cells_that_are_meant_to_have_lines_are_no_suspects(tmp_path):
    data = 'id,text,label\n1,"Dear Sir,\nthank you, and bye",a\n2,"one\ntwo\n",b\n3,plain,a\n'
    docs = read(written(tmp_path / "x.csv", data))
    assert len(lines(docs)) == 3
    assert docs.notes == [f"2 rows have quoted cells with line ends inside; the first: {tmp_path / 'x.csv'}, lines 2-3"]
    assert len(lines(read(written(tmp_path / "one.csv", 'text\n"a\nb"\n'), label=None))) == 1


def test_commands_say_what_quotes_did(tmp_path, typed):
    path = written(tmp_path / "x.csv", table({10: '"Hi,a', 12: 'Bye",b', 50: '"over\nlines",b'}, n=100))
    code, _, err = typed("count", path, "-o", tmp_path / "x.counts")
    assert code == 0
    assert err.count("look like several rows merged") == 1
    assert "lines 12-14 look like several rows merged by a quote; --no-quotes reads them apart" in err
    assert "2 rows have quoted cells with line ends inside" in err
    code, _, err = typed("count", path, "--no-quotes", "--strict", "-o", tmp_path / "x.counts")
    assert code == 1  # the true quotes are cut
    assert "(Without --strict such rows are skipped.)" in err
    typed("count", path, "--no-quotes", "-o", tmp_path / "x.counts")
    assert ts.Counts.load(tmp_path / "x.counts").n_docs == 100
    assert typed("rank", *(written(tmp_path / name, "a b") for name in ("a.txt", "b.txt")), "--no-quotes")[0] == 2


@pytest.mark.skipif(not (Path(DATA) / "sms_spam.jsonl.gz").is_file(), reason="the corpus sms_spam is not here")
def test_sms_spam_as_plain_tsv(tmp_path):
    with gzip.open(Path(DATA) / "sms_spam.jsonl.gz", "rt", encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    rows = [f"{one['labels'][0]}\t{' '.join(one['text'].split())}" for one in records]
    path = written(tmp_path / "sms.tsv", "\n".join(["label\ttext", *rows, ""]))
    docs = read(path)
    with pytest.warns(UserWarning, match=r"lines 5,083-5,085 look like several rows merged"):
        assert sum(batch.num_rows for batch in docs) == 5_572
    assert sum(batch.num_rows for batch in read(path, quotes=False)) == 5_574


# --- files that are named twice, or not read --------------------------------------------------------------


def twice(folder):
    (folder / "sub").mkdir()
    os.link(folder / "x.csv", folder / "hard.csv")
    (folder / "soft.csv").symlink_to(folder / "x.csv")
    return ["x.csv", "./x.csv", "sub/../x.csv", "hard.csv", "soft.csv", "x*.csv"]


def test_a_file_counts_once(tmp_path, typed, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "x.csv", table({}, n=10))
    for other in twice(tmp_path):
        with pytest.raises(InputError, match=r"is the same file as x\.csv, which was named before"):
            read(["x.csv", other])
        code, _, err = typed("count", "x.csv", other, "-o", "x.counts")
        assert code == 1
        assert "is the same file as x.csv" in err
    assert not (tmp_path / "x.counts").exists()
    with pytest.raises(InputError, match="is the same file as"):
        read("*.csv")  # the links
    shutil.copy("x.csv", "copy.csv")
    assert len(lines(read(["x.csv", "copy.csv"]))) == 20


def test_counts_are_added_once(tmp_path, typed, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "x.csv", table({}, n=10))
    typed("count", "x.csv", "-o", "x.counts")
    shutil.copy("x.counts", "copy.counts")
    os.link("x.counts", "hard.counts")
    for command in (("merge", "-o", "sum.counts"), ("rank",)):
        for other in ("x.counts", "./x.counts", "hard.counts", "x*.counts"):
            code, _, err = typed(*command, "x.counts", other)
            assert code == 1
            assert "is the same file as x.counts" in err
        code, _, err = typed(*command, "x.counts", "copy.counts")
        assert code == 0
        assert "copy.counts has the same content as x.counts" in err


@pytest.mark.filterwarnings("ignore:.*class folder")
def test_what_is_beside_class_folders_is_named(tmp_path, typed):
    for name in ("sea", "land", "bare"):
        (tmp_path / name).mkdir()
    for name, text in (("sea/1", "whale"), ("land/1", "cat"), ("loose.txt", "dog"), ("README", "x"), (".hidden", "x")):
        written(tmp_path / name, text)
    docs = read(tmp_path)
    found = [row for batch in docs for row in batch["text"].to_pylist()]
    assert "2 files ('README', 'loose.txt') beside the class folders: not read" in docs.notes[0]
    assert found == ["cat", "whale"]
    code, _, err = typed("rank", tmp_path)
    assert code == 0
    assert err.count("2 files ('README', 'loose.txt') beside the class folders: not read") == 1
    assert "1 class folder ('bare') without text files" in err


# --- text files -----------------------------------------------------------------------------------------


def counted(typed, folder, *files):
    code, _, err = typed("count", *files, "--encoding-errors", "skip", "-o", folder / "x.counts")
    return (ts.Counts.load(folder / "x.counts") if code == 0 else None), err


def test_a_bad_long_line_is_one_bad_row(tmp_path, typed):
    """One of its six pieces was dropped, and five were counted."""
    bad = b"word " * 600 + b"\xff " + b"word " * 600
    files = [written(tmp_path / "a.txt", b"one\n" + bad + b"\nthree\n"), written(tmp_path / "b.txt", "two")]
    counts, err = counted(typed, tmp_path, *files)
    assert counts.n_docs == 3
    assert "word" not in list(counts.terms)
    assert "skipped 1 bad row (line 2)" in err
    assert typed("rank", *files)[0] == 1


def test_carriage_returns_end_lines_where_nothing_else_does(tmp_path, typed):
    files = [
        written(tmp_path / "a.txt", "one\rtwo\rthree\r"),
        written(tmp_path / "b.txt", "four\nfi\rve\nsix\r\nsev\ren"),
    ]
    counts, _ = counted(typed, tmp_path, *files)
    assert dict(zip(counts.classes, counts.class_sizes.tolist(), strict=True)) == {"a.txt": 3, "b.txt": 4}


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_data_files_whose_lines_end_with_carriage_returns_are_refused(tmp_path, ending):
    content = {"csv": "text,label\ra,x\rb,y\r", "jsonl": '{"text": "a", "label": "x"}\r{"text": "b", "label": "y"}\r'}
    with pytest.raises(InputError, match=r"line 1: .*not valid"):
        list(read(written(tmp_path / f"x.{ending}", content[ending]), strict=True))


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_a_compressed_file_without_bytes_is_no_document(tmp_path, ending, typed):
    (tmp_path / "root" / "a").mkdir(parents=True)
    written(tmp_path / "root" / "a" / "1.txt", "whole")
    written(tmp_path / "root" / "a" / f"2.txt{ending}", b"")
    with pytest.raises(InputError, match=rf"2\.txt\{ending}: it has no bytes"):
        list(read(tmp_path / "root"))
    files = [written(tmp_path / f"a.txt{ending}", b""), written(tmp_path / "b.txt", "b")]
    assert "it has no bytes" in typed("rank", *files)[2]


def test_files_in_another_encoding_are_told(tmp_path):
    for name, data in (("x.csv", "text,label\na,x\n"), ("x.jsonl", '{"text": "a", "label": "x"}\n')):
        for encoding in ("utf-16", "utf-32", "utf-8-sig"):  # their mark tells
            path = written(tmp_path / name, data.encode(encoding))
            assert len(lines(read(path))) == len(lines(read(path, encoding=encoding))) == 1
        path = written(tmp_path / name, data.encode("utf-16-le"))
        with pytest.raises(InputError, match=r"as in UTF-16 without a mark\. Read it with encoding='utf-16-le'"):
            list(read(path))
        assert len(lines(read(path, encoding="utf-16-le"))) == 1
    (tmp_path / "root" / "a").mkdir(parents=True)
    written(tmp_path / "root" / "a" / "1", "no mark".encode("utf-16-le"))
    with pytest.raises(InputError, match="1: not text: much of it is zero bytes"):
        list(read(tmp_path / "root", strict=True))
    written(tmp_path / "x.csv", b"\xef\xbb\xbf")
    with pytest.raises(InputError, match="has no rows"):
        list(read(tmp_path / "x.csv"))


# --- what would wait or be consumed -------------------------------------------------------------------------


def within(seconds, work):
    """Do the work in a thread that may hang, and hand on what it raises."""
    found = []

    def run():
        try:
            found.append(work())
        except Exception as error:  # noqa: BLE001 - handed on
            found.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    assert found, f"more than {seconds} s"
    return found[0]


def test_a_pipe_in_a_class_folder_does_not_block(tmp_path):
    (tmp_path / "a").mkdir()
    os.mkfifo(tmp_path / "a" / "pipe")
    error = within(20, lambda: list(read(tmp_path)))
    assert isinstance(error, InputError)
    assert "pipe: is a pipe or a device" in str(error)


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet", "jsonl.gz"])
def test_a_pipe_with_the_name_of_a_data_file_is_refused_before_it_is_read(tmp_path, ending, typed):
    path = tmp_path / f"x.{ending}"
    os.mkfifo(path)
    assert "is a pipe or a device" in str(within(20, lambda: read(path)))
    code, _, err = within(20, lambda: typed("rank", path))
    assert code == 1
    assert f"{path}: is a pipe or a device, not a file" in err


def takes_about_as_long_as_copying(work, content):
    """Whether the work takes less than 40 copies of the content: to copy all of it for each piece takes more."""

    def seconds(one):
        start = time.process_time()
        one(content)
        return time.process_time() - start

    def copy(content):
        stream = io.BytesIO(content)
        assert b"".join(iter(lambda: stream.read(1 << 16), b"")) == content

    return min(seconds(work) for _ in range(3)) < 40 * min(seconds(copy) for _ in range(3))


def test_a_long_first_line_of_standard_input_takes_time_in_proportion():
    """62 MB took minutes: what was there was searched and copied again with every piece."""

    def read_ahead(content):
        ahead = PeekableFile(io.BufferedReader(io.BytesIO(content)))
        assert ahead.peek_lines() == content
        assert b"".join(iter(lambda: ahead.read(1 << 16), b"")) == content

    assert takes_about_as_long_as_copying(read_ahead, b'{"text": "' + b"x" * (60 << 20) + b'"}\n')


def test_a_long_line_of_a_text_file_takes_time_in_proportion():
    """What was left of the line was copied with every piece of 1,000 characters."""

    def split(content):
        line = content.decode()
        assert sum(map(len, _split_line(line))) > 3 * len(line) // 4

    assert takes_about_as_long_as_copying(split, b"word " * (4 << 20))


def test_the_header_of_a_file_with_a_long_first_record(tmp_path, typed):
    record = json.dumps({"text": "word " * 1_200_000, "label": "a"})
    path = written(tmp_path / "x.jsonl", f'{record}\n{{"text": "b", "label": "c"}}\n')
    assert "text from the column 'text'" in typed("count", path, "-o", tmp_path / "x.counts")[2]


def test_csv_module_agrees_about_what_is_merged(tmp_path):
    """The heuristic, in its plainest form, on files with a stray quote at any place."""
    rows = [["text", "label"], *([f"t{i}", "ab"[i % 2]] for i in range(8))]
    for at in range(1, 8):
        for until in range(at + 1, 9):
            stray = [",".join(row) for row in rows]
            stray[at], stray[until] = '"' + stray[at], stray[until].replace(",", '",')
            data = "\n".join(stray) + "\n"
            assert len(list(csv.reader(io.StringIO(data)))) == 9 - (until - at)
            docs = read(written(tmp_path / "x.csv", data))
            with pytest.warns(UserWarning, match=f"lines {at + 1}-{until + 1} look like several rows"):
                list(docs)

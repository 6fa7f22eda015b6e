"""What commands are given: columns that are guessed, standard input, text files, files as classes."""

import io
import json
import os
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import termsieve as ts
from termsieve.documents import columns, formats, text_files
from termsieve.documents.options import Options
from termsieve.documents.sources import PeekableFile
from termsieve.errors import InputError

RECORDS = [("cheap pills", "spam"), ("cheap pills", "spam"), ("noon meeting", "ham"), ("late lunch", "ham")]


def terms_of(out):
    return {tuple(line.split("\t")[0:3:2]) for line in out.splitlines()[1:]}


# Guessing


@pytest.mark.parametrize(
    ("names", "text", "label"),
    [
        (["id", "text", "label"], "text", "label"),
        (["Body", "Folder", "date"], "Body", "Folder"),
        (["title", "text", "topics"], "text", "topics"),
        (["title", "category", "type"], "title", "category"),
        (["Text", "text", "label", "Label"], "text", "label"),
        (["message", "class", "labels"], "message", "labels"),
    ],
)
def test_plain_names_are_guessed(names, text, label):
    assert columns.choose_column("x", names, "text") == text
    assert columns.choose_column("x", names, "label") == label


@pytest.mark.parametrize(
    ("names", "what", "said"),
    [
        (["body", "message"], "text", "'body' and 'message' could both hold the text"),
        (["a", "b"], "text", "no column has a name that tells it holds the text"),
        (["text", "topic", "category"], "label", "'topic' and 'category' could both hold the label"),
        ([], "label", "none were found"),
    ],
)
def test_what_is_not_plain_lists_the_columns(names, what, said):
    with pytest.raises(InputError) as error:
        columns.choose_column("x.csv", names, what)
    assert said in str(error.value)
    assert f"{what}=NAME" in str(error.value)
    assert all(repr(name) in str(error.value) for name in names)


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("Datum;Kommentar;Kategorie", "the text and no column has a name that tells it holds the label. Say which"),
        ("subject;description;department", "both hold the text and no column has a name that tells it holds the label"),
        ("Kommentar;topic;tag", "holds the text and 'topic' and 'tag' could both hold the label. Say which with "),
    ],
)
def test_one_error_asks_for_both_columns(header, said, tmp_path):
    path = tmp_path / "x.csv"
    path.write_text(f"{header}\na;b;c\n")
    with pytest.raises(InputError) as error:
        ts.read(path).chosen_columns  # noqa: B018
    assert said in str(error.value)
    assert "Say which with text=NAME and label=NAME. Columns: " in str(error.value)


def test_one_error_asks_for_the_one_column_that_is_unclear(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("Kommentar,label\na,b\n")
    with pytest.raises(InputError, match=r"Say which with text=NAME\. "):
        ts.read(path).chosen_columns  # noqa: B018
    path.write_text("Kommentar,Kategorie\na,b\n")
    with pytest.raises(InputError, match=r"holds the text\. Say which with text=NAME\. "):
        ts.read(path, label=None).chosen_columns  # noqa: B018


@pytest.mark.parametrize("asked", [{"label": "message"}, {"text": "team"}, {"text": ("id", "team"), "label": "team"}])
def test_one_column_is_not_both_text_and_label(asked, tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("id,message,team\n1,where is it,delivery\n")
    with pytest.raises(InputError, match=r"the column '(message|team)' cannot hold both the text and the label\. Name"):
        ts.read(path, **{"label": "team", **asked}).chosen_columns  # noqa: B018


def test_a_table_without_a_line_of_names_is_told_to_get_one(tmp_path):
    path = tmp_path / "x.tsv"
    path.write_text("ham\tOk lar joking with you again\nspam\tFree entry in a weekly competition\n")
    with pytest.raises(InputError, match="a row, not names: put a line such as text,label before it"):
        ts.read(path).chosen_columns  # noqa: B018


def test_bytes_that_are_no_names_are_listed_in_short_and_told_to_be_no_text(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(b"\x89\xffq\xfe" * 1000)
    with pytest.raises(InputError, match="not valid UTF-8, or no text at all: encoding=NAME") as error:
        ts.read(path).chosen_columns  # noqa: B018
    assert len(str(error.value)) < 600


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet", "arrow", "feather", "csv.gz", "jsonl.zst"])
def test_columns_of_every_kind_of_file(ending, tmp_path):
    path = tmp_path / f"x.{ending}"
    _write(path)
    assert formats.read_column_names(path, Options()) == ["body", "folder"]
    assert ts.read(path).chosen_columns == columns.ChosenColumns(
        ("body",), "folder", note="text from the column 'body', labels from 'folder'"
    )


def _write(path):
    import pyarrow as pa
    import pyarrow.csv as pcsv
    import pyarrow.feather as pf
    import pyarrow.parquet as pq

    table = pa.table({"body": [text for text, _ in RECORDS], "folder": [label for _, label in RECORDS]})
    kind = path.suffixes[0]
    if kind == ".parquet":
        pq.write_table(table, path)
    elif kind == ".feather":
        pf.write_feather(table, path)
    elif kind == ".arrow":
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
            writer.write_table(table)
    else:
        lines = "".join(json.dumps(row) + "\n" for row in table.to_pylist()).encode()
        if kind in (".csv", ".tsv"):
            target = io.BytesIO()
            pcsv.write_csv(table, target, pcsv.WriteOptions(delimiter="," if kind == ".csv" else "\t"))
            lines = target.getvalue()
        with (
            pa.CompressedOutputStream(str(path), {"gz": "gzip", "zst": "zstd"}[path.suffix[1:]])
            if len(path.suffixes) > 1
            else pa.OSFile(str(path), "wb") as file
        ):
            file.write(lines)


def test_the_guess_is_said_and_only_the_guess(tmp_path, typed):
    _write(tmp_path / "x.csv")
    assert "text from the column 'body', labels from 'folder'" in typed("rank", tmp_path / "x.csv")[2]
    assert typed("rank", tmp_path / "x.csv", "--text", "body")[2] == "labels from 'folder'\n"
    assert typed("rank", tmp_path / "x.csv", "--text", "body", "--label", "folder")[2] == ""
    assert typed("rank", tmp_path / "x.csv", "--quiet")[2] == ""


def test_several_text_columns_and_labels_in_one_string(tmp_path, typed):
    path = tmp_path / "x.csv"
    path.write_text("title,body,tags\nalpha,beta,a;b\ngamma,delta,b\n", encoding="utf-8")
    given = ["--text", "title", "--text", "body", "--label-sep", ";", "-o", tmp_path / "x.counts"]
    assert typed("count", path, *given)[0] == 0
    counts = ts.Counts.load(tmp_path / "x.counts")
    assert (list(counts.classes), counts.n_multilabel, counts.n_terms) == (["a", "b"], 1, 4)


def test_only_the_rows_of_a_split(tmp_path, typed):
    path = tmp_path / "x.csv"
    path.write_text("text,label,part\naa,x,train\nbb,y,train\ncc,x,test\n", encoding="utf-8")
    typed("count", path, "--split", "part=train", "-o", tmp_path / "x.counts")
    assert list(ts.Counts.load(tmp_path / "x.counts").terms) == ["aa", "bb"]


# Standard input


@pytest.fixture
def stdin(monkeypatch):
    def give(content):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    return give


def test_standard_input_is_json_lines(tmp_path, stdin, typed):
    lines = b"".join(json.dumps({"message": text, "class": label}).encode() + b"\n" for text, label in RECORDS)
    (tmp_path / "x.jsonl").write_bytes(lines)
    stdin(lines)
    code, out, err = typed("rank", "-")
    assert code == 0, err
    assert "text from the column 'message', labels from 'class'" in err
    assert out == typed("rank", tmp_path / "x.jsonl")[1]


@given(st.binary(max_size=300), st.lists(st.integers(1, 100)), st.integers(1, 50))
def test_looking_ahead_loses_nothing(content, sizes, buffer):
    ahead = PeekableFile(io.BufferedReader(io.BytesIO(content), buffer))
    assert content.startswith(ahead.peek_lines())
    found = b"".join(ahead.read(size) for size in sizes)
    while more := ahead.read(7):
        found += more
    assert found == content


def test_long_standard_input(stdin, typed, tmp_path):
    lines = b"".join(json.dumps({"text": f"w{i}", "label": "ab"[i % 2]}).encode() + b"\n" for i in range(30_000))
    stdin(lines)
    assert typed("count", "-", "-o", tmp_path / "x.counts")[0] == 0
    assert ts.Counts.load(tmp_path / "x.counts").n_docs == 30_000


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "standard input is empty"),
        (b"{bad\n", "standard input, line 1: not valid JSON"),
        (b'{"text": "aa", "label": "x"}\n{"text": "bb"', "standard input, line 2: not valid JSON"),
        (b'{"foo": 1}\n', "no column has a name"),
        (b"text,label\naa,x\nbb,y\n", "Give the path of a file for CSV and other formats."),
    ],
)
def test_bad_standard_input_is_named(content, said, stdin, typed):
    stdin(content)
    code, _, err = typed("rank", "-")
    assert code == 1
    assert said in err


def test_standard_input_stands_alone(tmp_path, typed):
    _write(tmp_path / "x.csv")
    assert typed("rank", "-", tmp_path / "x.csv")[0] == 2


def test_closed_standard_input(monkeypatch, typed):
    monkeypatch.setattr(sys, "stdin", None)
    assert typed("rank", "-")[::2] == (1, "termsieve: Standard input is closed.\n")


# Files as classes


def test_text_files_are_compared_with_each_other(tmp_path, typed):
    (tmp_path / "a.txt").write_text("the whale swam\n\nthe whale sang\n", encoding="utf-8")
    (tmp_path / "b.txt").write_text("the cat sang\n", encoding="utf-8")
    code, out, err = typed("rank", tmp_path / "a.txt", tmp_path / "b.txt")
    assert code == 0, err
    assert err == "each line is a document, each file a class\n"
    assert {("a.txt", "whale"), ("b.txt", "cat")} <= terms_of(out)
    typed("count", tmp_path / "a.txt", tmp_path / "b.txt", "-o", tmp_path / "x.counts")
    assert ts.Counts.load(tmp_path / "x.counts").class_sizes.tolist() == [2, 1]  # blank lines are no documents


def test_one_long_line_is_several_documents(tmp_path, typed):
    (tmp_path / "a.txt").write_text("whale " * 1000, encoding="utf-8")
    (tmp_path / "b.txt").write_text("cat\n" * 3, encoding="utf-8")
    typed("count", tmp_path / "a.txt", tmp_path / "b.txt", "-o", tmp_path / "x.counts")
    counts = ts.Counts.load(tmp_path / "x.counts")
    assert counts.class_sizes.tolist() == [7, 3]
    assert counts.term_tf.tolist() == [3, 1000]


@pytest.mark.parametrize("line", ["x" * 5000, "ab " * 3000, " ", "", "word"])
def test_pieces_lose_no_word(line):
    pieces = text_files._split_line(line.strip())
    assert all(len(piece) <= text_files.MAX_LINE_LENGTH for piece in pieces)
    assert "".join(pieces).replace(" ", "") == line.replace(" ", "")


def test_files_of_one_name_are_called_by_their_path(tmp_path, typed):
    for folder, word in (("one", "whale"), ("two", "cat")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.txt").write_text(f"{word}\n", encoding="utf-8")
    _, out, _ = typed("rank", tmp_path / "one" / "x.txt", tmp_path / "two" / "x.txt")
    assert {name for name, _ in terms_of(out)} == {str(tmp_path / "one" / "x.txt"), str(tmp_path / "two" / "x.txt")}


def test_data_files_without_labels_are_classes(tmp_path, typed):
    (tmp_path / "a.csv").write_text("text\nwhale\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("text\ncat\n", encoding="utf-8")
    code, out, err = typed("rank", tmp_path / "a.csv", tmp_path / "b.csv")
    assert code == 0, err
    assert "each file is a class" in err
    assert terms_of(out) == {("a.csv", "whale"), ("b.csv", "cat")}


def test_files_with_labels_are_one_corpus_unless_asked_otherwise(tmp_path, typed):
    (tmp_path / "a.csv").write_text("text,label\nwhale,x\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("text,label\ncat,y\n", encoding="utf-8")
    files = [tmp_path / "a.csv", tmp_path / "b.csv"]
    assert terms_of(typed("rank", *files)[1]) == {("x", "whale"), ("y", "cat")}
    assert terms_of(typed("rank", *files, "--by-file")[1]) == {("a.csv", "whale"), ("b.csv", "cat")}


def test_text_in_another_encoding(tmp_path, typed):
    (tmp_path / "a.txt").write_bytes("café\n".encode("latin-1"))
    (tmp_path / "b.txt").write_bytes(b"tea\n")
    files = [tmp_path / "a.txt", tmp_path / "b.txt"]
    code, _, err = typed("rank", *files)
    assert code == 1
    assert "a.txt, line 1: not valid utf-8" in err
    assert ("a.txt", "café") in terms_of(typed("rank", *files, "--encoding", "latin-1")[1])
    assert "cp1252 ('café')" in err
    assert "Read it with --encoding cp1252" in err
    code, _, err = typed("rank", *files, "--encoding-errors", "skip")
    assert "two classes" in err


@pytest.mark.skipif(os.name != "posix" or sys.platform == "darwin", reason="names of files are Unicode there")
def test_names_of_files_may_be_any_bytes(tmp_path, typed):
    for name, text in ((b"\xff.txt", "whale"), (b"b.txt", "cat")):
        (tmp_path / os.fsdecode(name)).write_text(text, encoding="utf-8")
    code, out, err = typed("rank", *tmp_path.iterdir())
    assert code == 0, err
    assert terms_of(out) == {("\ufffd.txt", "whale"), ("b.txt", "cat")}


def test_class_folders(tmp_path, typed):
    for name, text in (("sea", "whale"), ("land", "cat")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "1.txt").write_text(text, encoding="utf-8")
    assert terms_of(typed("rank", tmp_path)[1]) == {("sea", "whale"), ("land", "cat")}


def test_bad_rows_are_skipped_counted_and_named(tmp_path, typed):
    path = tmp_path / "mail.jsonl"
    path.write_text('{"text": "fine", "label": "x"}\nnot json\n{"text": "too", "label": "y"}\n', encoding="utf-8")
    code, _, err = typed("rank", path, "--strict")
    assert code == 1
    assert "mail.jsonl, line 2: not valid JSON" in err
    assert "(Without --strict such rows are skipped.)" in err
    code, _, err = typed("rank", path)
    assert code == 0
    assert err.count("skipped 1 bad row (line 2) of 3: not valid JSON 1; the first:") == 1
    assert "line 2" in err

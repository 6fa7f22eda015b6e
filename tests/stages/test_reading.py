"""`read` reads what the commands read: detected columns, text files, files as classes, standard input."""

import io
import json
import sys

import pyarrow as pa
import pytest

import termsieve as ts
from termsieve.documents import formats, read, sources
from termsieve.documents.columns import ChosenColumns, find_group_column
from termsieve.errors import InputError, OptionError


def rows(documents):
    return [(row["text"], row["labels"]) for batch in documents for row in batch.to_pylist()]


def write(path, *lines):
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


# Columns


@pytest.mark.parametrize("kind", ["mapping", "table", "csv", "jsonl", "open file"])
def test_plain_names_of_columns_are_detected_everywhere(tmp_path, kind):
    columns = {"id": ["1", "2"], "body": ["aa", "bb"], "topic": ["x", "y"]}
    records = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    lines = [json.dumps(record) for record in records]
    csv = [",".join(columns), *(",".join(record.values()) for record in records)]
    source = {
        "mapping": columns,
        "table": pa.table(columns),
        "csv": write(tmp_path / "x.csv", *csv),
        "jsonl": write(tmp_path / "x.jsonl", *lines),
        "open file": io.BytesIO("\n".join(lines).encode()),
    }[kind]
    documents = read(source)
    assert rows(documents) == [("aa", ["x"]), ("bb", ["y"])]
    assert documents.chosen_columns == ChosenColumns(
        ("body",), "topic", note="text from the column 'body', labels from 'topic'"
    )
    assert documents.origin["text"] == ["body"]
    assert "label='topic'" in repr(documents)


def test_the_usual_names_come_first():
    columns = {"texts": ["no"], "text": ["yes"], "labels": ["no"], "label": ["yes"], "body": ["no"]}
    assert rows(read(columns)) == [("yes", ["yes"])]


def test_what_is_given_is_not_detected():
    columns = {"body": ["aa"], "message": ["bb"], "topic": ["x"], "class": ["y"]}
    documents = read(columns, text="message", label="class")
    assert rows(documents) == [("bb", ["y"])]
    assert documents.chosen_columns.note == ""
    assert rows(read(columns, text="body", label=None)) == [("aa", [])]
    with pytest.raises(InputError, match=r"'topic' and 'class' could both hold the label.*label=NAME.*Columns: 'body'"):
        list(read(columns, text="body"))
    with pytest.raises(InputError, match="'body' and 'message' could both hold the text"):
        list(read(columns, label="class"))


def test_nothing_is_detected_before_it_is_needed(tmp_path):
    path = write(tmp_path / "x.csv", "a,b", "1,2")
    documents = read(path)
    assert "x.csv" in repr(documents)
    with pytest.raises(InputError, match="holds the text"):
        _ = documents.chosen_columns


# Files


def test_text_files_are_classes_and_their_lines_documents(tmp_path):
    files = [write(tmp_path / "a.txt", "the whale", "", "the sea"), write(tmp_path / "b.txt", "the cat")]
    expected = [("the whale", ["a.txt"]), ("the sea", ["a.txt"]), ("the cat", ["b.txt"])]
    documents = read(files)
    assert rows(documents) == rows(documents) == rows(read(tmp_path / "*.txt")) == expected
    assert documents.chosen_columns.note == "each line is a document, each file a class"
    assert documents.files == list(map(str, files))
    assert rows(read(files, by_file=True)) == expected
    assert [labels for _, labels in rows(read(files, label=None))] == [[]] * 3


def test_one_text_file_has_no_classes(tmp_path):
    path = write(tmp_path / "a.txt", "one", "two")
    assert rows(read(path, label=None)) == [("one", []), ("two", [])]
    with pytest.raises(InputError, match=r"text file without labels.*label=None"):
        read(path)
    with pytest.raises(InputError, match="by_file=True compares files with each other"):
        read(path, by_file=True)


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ({"text": "body"}, "text=NAME"),
        ({"label": "topic"}, "label=NAME"),
        ({"label_sep": ","}, "label_sep=TEXT"),
        ({"split": ("a", "b")}, "split=.COLUMN, VALUE."),
        ({"quotes": False}, "quotes=False"),
    ],
)
def test_text_files_have_no_columns(tmp_path, option, said):
    files = [write(tmp_path / "a.txt", "one"), write(tmp_path / "b.txt", "two")]
    with pytest.raises(OptionError, match=f"no columns: {said} says nothing"):
        read(files, **option)


def test_files_with_columns_can_be_classes(tmp_path):
    plain = [write(tmp_path / "a.csv", "body", "aa"), write(tmp_path / "b.csv", "body", "bb")]
    documents = read(plain)
    assert rows(documents) == [("aa", ["a.csv"]), ("bb", ["b.csv"])]
    assert documents.chosen_columns == ChosenColumns(
        ("body",), None, by_file=True, note="text from the column 'body', each file is a class"
    )
    labelled = [write(tmp_path / "c.csv", "text,label", "cc,x"), write(tmp_path / "d.csv", "text,label", "dd,y")]
    assert [labels for _, labels in rows(read(labelled))] == [["x"], ["y"]]
    assert [labels for _, labels in rows(read(labelled, by_file=True))] == [["c.csv"], ["d.csv"]]
    assert read(labelled, by_file=True).origin == {"files": list(map(str, labelled)), "by_file": True}
    with pytest.raises(InputError, match="by_file=True compares files"):
        read({"text": ["a"]}, by_file=True)


def test_text_files_and_files_with_columns_do_not_mix(tmp_path):
    with pytest.raises(InputError, match=r"a\.txt: its ending does not tell of columns.*b\.csv has columns"):
        read([write(tmp_path / "a.txt", "one"), write(tmp_path / "b.csv", "text,label", "x,y")])


def test_patterns_are_expanded_once(tmp_path, monkeypatch, typed):
    write(tmp_path / "a.txt", "whale")
    write(tmp_path / "b.txt", "cat")
    calls = []
    plain = sources.glob.glob
    monkeypatch.setattr(sources.glob, "glob", lambda *given, **more: calls.append(given) or plain(*given, **more))
    code, _, err = typed("rank", tmp_path / "*.txt", "-o", tmp_path / "out.csv")
    assert code == 0, err
    assert len(calls) == 1


@pytest.mark.parametrize("command", [["rank"], ["changes", "--by", "day"], ["compare", "-k", "1", "--cv", "2"]])
def test_names_of_files_are_looked_at_once(command, tmp_path, monkeypatch, typed):
    path = write(tmp_path / "x.csv", "text;label;day", *["whale;sea;1", "cat;land;2"] * 4)
    seen = {"has_magic": [], "detect_separator": [], "read_column_names": []}

    def spy(module, name):
        plain = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *given, **more: seen[name].append(given) or plain(*given, **more))

    spy(sources.glob, "has_magic")
    spy(formats, "detect_separator")
    spy(sources, "read_column_names")
    code, _, err = typed(command[0], path, *command[1:])
    assert code == 0, err
    assert {name: len(calls) for name, calls in seen.items()} == dict.fromkeys(seen, 1)


def test_the_header_is_parsed_once_to_detect_columns(tmp_path, monkeypatch, typed):
    write(tmp_path / "x.csv", "body,topic", "whale,sea", "cat,land")
    calls = []
    plain = sources.read_column_names
    monkeypatch.setattr(
        sources, "read_column_names", lambda *given, **more: calls.append(given) or plain(*given, **more)
    )
    assert typed("rank", tmp_path / "x.csv", "-o", tmp_path / "out.csv")[0] == 0
    assert len(calls) == 1
    assert typed("rank", tmp_path / "x.csv", "--text", "body", "--label", "topic")[0] == 0
    assert len(calls) == 1


# Standard input


def test_a_dash_is_standard_input(monkeypatch):
    lines = b'{"message": "aa", "class": "x"}\n{"message": "bb", "class": "y"}\n'
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines)))
    documents = ts.read("-")
    assert documents.chosen_columns.text == ("message",)
    assert rows(documents) == [("aa", ["x"]), ("bb", ["y"])]
    assert documents.files == []
    with pytest.raises(InputError, match="standard input was read already"):
        rows(documents)
    with pytest.raises(OptionError, match="cannot be read together"):
        ts.read(["-", "x.csv"])


def test_a_column_of_documents_that_are_alike_is_known_by_its_name():
    chosen = ChosenColumns(("text",), "author")
    assert find_group_column(["text", "author", "id", " Site", "user"], chosen) == " Site"
    assert find_group_column(["text", "author", "id"], chosen) is None

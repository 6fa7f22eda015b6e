"""Journals: what is not a whole journal of the study is an error that says so, not a traceback or another table."""

import json
import math
import os
import re
import sqlite3
import threading

import pytest
from oracles.models import documents

import termsieve as ts
from termsieve.errors import InputError, OutputError
from termsieve.study import journal as journals
from termsieve.study.journal import Journal, _digest
from termsieve.study.study import compare

STUDY = {"scores": ["chi2"], "ks": [2]}
ROW = [0, 1, "chi2", "multinomial_nb", 2, "", "f1_macro", 0.5]
ENDLESS = "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t)"
SMALL = {"scores": ["chi2"], "classifiers": ["multinomial_nb"], "ks": [2, 4], "cv": 2, "threads": 1}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "study.journal"


def written(path, *trials):
    """A journal with these trials: key, rows as text, seconds and perhaps a checksum."""
    Journal(path, STUDY).close()
    connection = sqlite3.connect(path)
    for key, text, seconds, *digest in trials:
        values = [key, text, seconds, *(digest or [_digest(str(key), str(text), seconds)])]
        connection.execute("INSERT INTO trials VALUES (?, ?, ?, ?)", values)
    connection.commit()
    connection.close()


def changed(path, *statements):
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA writable_schema = ON")
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def test_what_was_written_is_read(path):
    one = Journal(path, STUDY)
    one.write("a", [ROW], 1)
    one.write("a", [ROW, ROW], 2.5)
    one.write("b", [], 0.1)
    assert one.list_done() == {"a", "b"}
    one.close()
    again = Journal(path, STUDY)
    assert again.read_trials(["b", "a"]) == ([ROW, ROW], {"b": 0.1, "a": 2.5})
    again.close()


def wrong(place, value):
    return json.dumps([[*ROW[:place], value, *ROW[place + 1 :]]])


@pytest.mark.parametrize(
    "text",
    [
        "", "nothing", "{}", "7", "[7]", "[[]]", json.dumps([ROW[:-1]]), json.dumps([[*ROW, 1]]), "[" * 100_000,
        wrong(0, -1), wrong(0, 2**31), wrong(0, True), wrong(1, "1"), wrong(2, 3), wrong(3, None), wrong(4, 2.0),
        wrong(4, 10**400), wrong(5, ["a"]), wrong(6, {}), wrong(7, math.nan), wrong(7, math.inf), wrong(7, 1),
        wrong(7, None), wrong(7, "0.5"), '[[0,1,"a","b",2,"","f1_macro",1e999]]',
    ],
)  # fmt: skip
def test_rows_that_no_trial_has_are_refused(text, path):
    written(path, ("a", text, 1.0))
    with pytest.raises(InputError, match=r"study\.journal: is not a journal of a study of this version, or is damaged"):
        Journal(path, STUDY)


@pytest.mark.parametrize(
    "trial",
    [
        ("a", json.dumps([ROW]), 1.0, "0" * 64), (b"a", "[]", 1.0, "0" * 64), ("a", b"[]", 1.0, "0" * 64),
        ("a", "[]", "long", "0" * 64), ("a", "[]", -1.0), ("a", "[]", math.inf), (None, "[]", 1.0, "0" * 64),
    ],
)  # fmt: skip
def test_trials_of_another_kind_are_refused(trial, path):
    written(path, trial)
    with pytest.raises(InputError, match="or is damaged"):
        Journal(path, STUDY)


@pytest.mark.parametrize(
    "statements",
    [
        ["CREATE TABLE more (x)"],
        ["CREATE INDEX more ON trials (seconds)"],
        [f"CREATE VIEW more AS {ENDLESS} SELECT x FROM t"],
        ["CREATE TRIGGER more AFTER INSERT ON trials BEGIN DELETE FROM study; END"],
        ["DROP TABLE trials", f"CREATE VIEW trials AS {ENDLESS} SELECT x AS key, x AS rows, x AS seconds FROM t"],
        ["DROP TABLE study", f"CREATE VIEW study AS {ENDLESS} SELECT x AS description FROM t"],
        ["DROP TABLE trials", "CREATE TABLE trials (key TEXT PRIMARY KEY, rows TEXT NOT NULL, seconds REAL)"],
        ["DROP TABLE trials"],
        ["DELETE FROM study"],
        ["INSERT INTO study SELECT * FROM study"],
        ["UPDATE study SET description = '7'"],
        ["UPDATE study SET description = 'nothing'"],
        ["UPDATE study SET description = x'ff'"],
        ["UPDATE sqlite_schema SET sql = 'nothing' WHERE name = 'trials'"],
        ["UPDATE sqlite_schema SET rootpage = 99 WHERE name = 'trials'"],
    ],
)  # fmt: skip
def test_other_databases_are_refused(statements, path):
    written(path, ("a", "[]", 1.0))
    changed(path, *statements)
    with pytest.raises(InputError, match="or is damaged"):
        Journal(path, STUDY)


def test_a_journal_that_is_in_use_is_waited_for_and_then_told(path, monkeypatch):
    Journal(path, STUDY).close()
    monkeypatch.setattr(journals, "PATIENCE", 0.2)
    waiting = Journal(path, STUDY)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(InputError, match="has been in use by another process"):
        Journal(path, STUDY)
    with pytest.raises(InputError, match="has been in use by another process"):
        waiting.write("a", [ROW], 1.0)
    assert waiting.list_done() == set()
    other.execute("ROLLBACK")
    waiting.write("a", [ROW], 1.0)
    other.close()
    waiting.close()


def test_two_may_begin_a_journal_at_the_same_time(path):
    found, errors = [], []

    def begin():
        try:
            found.append(Journal(path, STUDY))
        except Exception as error:  # noqa: BLE001 - told below
            errors.append(error)

    threads = [threading.Thread(target=begin) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not errors
    for one in found:
        one.close()


@pytest.mark.parametrize(("limit", "said"), [("query_only = ON", "readonly"), ("max_page_count = 1", "full")])
def test_a_journal_that_cannot_be_written_is_told(limit, said, path):
    one = Journal(path, STUDY)
    one._connection.execute(f"PRAGMA {limit}")
    with pytest.raises(OutputError, match=f"the journal cannot be written: .*{said}"):
        one.write("a", [ROW] * 1000, 1.0)
    assert one.list_done() == set()
    one.close()


def test_places_that_cannot_be_a_journal_are_told(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for place, said in [
        (tmp_path, "it is a folder, a pipe or a device"), (tmp_path / "pipe", "it is a folder, a pipe or a device"),
        ("/dev/null", "it is a folder, a pipe or a device"), (tmp_path / "no" / "journal", "there is no folder"),
        (tmp_path / ("x" * 300), "cannot be"), ("a\0b", "cannot be"),
    ]:  # fmt: skip
        with pytest.raises((InputError, OutputError), match=said):
            Journal(place, STUDY)


def test_a_name_that_sqlite_takes_for_memory_is_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Journal(":memory:", STUDY).close()
    assert (tmp_path / ":memory:").is_file()


# In a study


def test_trials_of_another_key_are_refused(path):
    texts, labels = documents(30)
    compare(texts, labels, **SMALL, journal=path)
    connection = sqlite3.connect(path)
    trials = connection.execute("SELECT key, rows, seconds FROM trials WHERE rows != '[]'").fetchall()
    (key, _, seconds), (_, text, _) = trials[:2]
    values = [text, _digest(key, text, seconds), key]
    connection.execute("UPDATE trials SET rows = ?, sha256 = ? WHERE key = ?", values)
    connection.commit()
    connection.close()
    with pytest.raises(InputError, match="has wrong rows"):
        compare(texts, labels, **SMALL, journal=path)


@pytest.mark.parametrize("lost", ["rows = '[]'", "rows != '[]'", "1", "key LIKE '0 0 %'"])
def test_trials_that_are_lost_are_run_again(lost, path):
    texts, labels = documents(30)
    expected = compare(texts, labels, **SMALL, journal=path)
    changed(path, f"DELETE FROM trials WHERE {lost}")
    again = compare(texts, labels, **SMALL, journal=path)
    assert again.table == expected.table
    assert again.seconds.keys() == expected.seconds.keys()


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize("lost", ["0", "rows != '[]'", "1", "key LIKE '0 0 %'"])
def test_progress_counts_each_trial_once_also_those_that_are_in_the_journal(lost, path, capsys):
    texts, labels = documents(30)
    compare(texts, labels, **SMALL, journal=path)
    changed(path, f"DELETE FROM trials WHERE {lost}")
    compare(texts, labels, **SMALL, journal=path, progress=True)
    shown = re.findall(r"(\d+)/(\d+)", re.sub(r"\x1b\[[0-9;?]*\w", "", capsys.readouterr().err))
    assert shown[-1] == ("4", "4")  # 2 splits: a ranking and a classifier each


# At the command line


@pytest.fixture
def mail(tmp_path):
    texts, labels = documents(30)
    path = tmp_path / "mail.csv"
    path.write_text("\n".join(["text,label", *map(",".join, zip(texts, labels, strict=True))]) + "\n")
    return path


def test_the_command_says_what_is_wrong_with_a_journal(mail, path, typed, monkeypatch):
    options = ["-s", "chi2", "-c", "multinomial_nb", "-k", "2", "--cv", "2", "--journal", path]
    code, out, err = typed("compare", mail, *options)
    assert code == 0, err
    whole = path.read_bytes()
    monkeypatch.setattr(journals, "PATIENCE", 0.2)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    code, out, err = typed("compare", mail, *options)
    other.close()
    assert (code, out) == (1, "")
    assert "has been in use by another process" in err
    for damaged in (whole[: len(whole) // 2], whole.replace(b"f1_macro", b"f1_makro"), b"x" * 5000):
        path.write_bytes(damaged)
        code, out, err = typed("compare", mail, *options)
        assert (code, out) == (1, "")
        assert "or is damaged" in err
        assert "Traceback" not in err


def test_a_journal_is_no_input_and_no_output(mail, tmp_path, typed):
    for options, said in [
        (["--journal", mail], "is read as an input"),
        (
            ["--journal", tmp_path / "new.csv", "-o", tmp_path / "new.csv"],
            "is read as an input, too: it is the journal",
        ),
        (["--journal", tmp_path / "new.html", "-o", tmp_path / "x" / ".." / "new.html"], "it is the journal"),
        (["--journal", tmp_path], "is a folder"),
        (["--journal", tmp_path / "no" / "journal"], "there is no folder"),
    ]:
        (tmp_path / "x").mkdir(exist_ok=True)
        before = mail.read_bytes()
        code, out, err = typed("compare", mail, *options)
        assert (code, out) == (1, ""), options
        assert said in err
        assert mail.read_bytes() == before
        assert not (tmp_path / "new.csv").exists()


# Counts that name a tokenizer


def test_counts_that_name_a_tokenizer_are_ranked_without_it(tmp_path, typed, monkeypatch):
    marker = tmp_path / "it_ran"
    (tmp_path / "countstrap.py").write_text(f"open({str(marker)!r}, 'w').close()\ndef run(text): return text.split()\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    counts = ts.count(*documents(30))
    counts.settings["tokenizer"] = "countstrap:run"
    counts.save(tmp_path / "x.counts")
    loaded = ts.Counts.load(tmp_path / "x.counts")
    assert loaded.analyzer.tokenizer == "countstrap:run"
    assert "tokenizer='countstrap:run'" in repr(loaded)
    for command in (
        ["rank"],
        ["merge", "-o", tmp_path / "y.counts"],
        ["report", "-o", "p.html"],
    ):
        monkeypatch.chdir(tmp_path)
        code, _, err = typed(command[0], tmp_path / "x.counts", *command[1:])
        assert code == 0, err
    with pytest.raises(ts.errors.OptionError, match=r"termsieve\.Analyzer\(tokenizer='countstrap:run'\)"):
        loaded.analyzer("one two")
    with pytest.raises(ts.errors.OptionError, match="is named by a file"):
        ts.report(ts.score(loaded, "chi2"), tmp_path / "p.html", documents=["one two"])
    assert not marker.exists()
    ts.Analyzer(tokenizer="countstrap:run")  # the user names it
    assert loaded.analyzer("one two") == ["one", "two"]
    assert marker.exists()

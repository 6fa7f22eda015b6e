"""The commands, as a user types them: in a process of their own where that matters, else through typer's runner."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import termsieve as ts
from termsieve.cli import app
from termsieve.demonstration import _docstrings, corpus

COMMAND = str(Path(sys.executable).with_name("termsieve"))


def run(*arguments):
    return subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, text=True, check=False)


@pytest.fixture
def mail(tmp_path):
    path = tmp_path / "mail.csv"
    path.write_text("body,folder\ncheap pills,spam\nmeeting at noon,ham\ncheap watches,spam\n", encoding="utf-8")
    return path


def test_version():
    done = run("--version")
    assert (done.returncode, done.stdout) == (0, f"termsieve {ts.__version__}\n")


def test_count_writes_what_the_library_counts(mail, tmp_path):
    done = run("count", mail, "--text", "body", "--label", "folder", "-o", tmp_path / "mail.counts")
    assert done.returncode == 0, done.stderr
    assert ts.Counts.load(tmp_path / "mail.counts") == ts.count(ts.read(mail, text="body", label="folder"))
    assert "6 terms in 2 classes, from 3 documents" in done.stdout


def test_merged_parts_are_the_whole(tmp_path):
    rows = [{"text": f"word{i % 3} all", "label": "ab"[i % 2]} for i in range(7)]
    for name, part in (("one", rows[:2]), ("two", rows[2:]), ("whole", rows)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in part), encoding="utf-8")
        assert run("count", tmp_path / f"{name}.jsonl", "-o", tmp_path / f"{name}.counts").returncode == 0
    done = run("merge", tmp_path / "one.counts", tmp_path / "two.counts", "-o", tmp_path / "sum.counts")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "sum.counts").read_bytes() == (tmp_path / "whole.counts").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["count", "nowhere.csv", "-o", "x.counts"], "nowhere.csv"),
        (["count", "MAIL", "-o", "x.counts"], "'text'"),
        (["count", "MAIL", "--text", "bodi", "--label", "folder", "-o", "x.counts"], "Did you mean 'body'?"),
        (["merge", "MAIL", "-o", "x.counts"], "no counts file"),
        (["scores", "bms"], "Did you mean 'bns'?"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_1(arguments, said, mail, tmp_path):
    target = tmp_path / "x.counts"
    arguments = [str(mail) if a == "MAIL" else str(target) if a == "x.counts" else a for a in arguments]
    done = run(*arguments)
    assert done.returncode == 1
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("termsieve: ")
    assert not target.exists()


@pytest.mark.parametrize(("place", "said"), [("nowhere/x.counts", "there is no folder"), ("", "is a folder")])
def test_a_place_that_cannot_be_written_is_refused_before_counting(place, said, tmp_path):
    unread = tmp_path / "unread.csv"  # it is not even looked for
    done = run("count", unread, "-o", tmp_path / place)
    assert done.returncode == 1
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_wrong_usage_is_exit_code_2(mail, tmp_path):
    assert run("count", mail).returncode == 2
    assert run("count", mail, "-o", tmp_path / "x", "--split", "nonsense").returncode == 2


def test_bad_rows_are_skipped_and_counted(tmp_path):
    path = tmp_path / "mail.jsonl"
    path.write_text('{"text": "fine", "label": "x"}\nnot json\n', encoding="utf-8")
    assert run("count", path, "-o", tmp_path / "x.counts").returncode == 1
    done = run("count", path, "-o", tmp_path / "x.counts", "--skip-bad")
    assert done.returncode == 0
    assert "skipped 1 bad row" in done.stderr


def test_the_catalogue_lists_every_score():
    done = CliRunner().invoke(app, ["scores"], env={"COLUMNS": "200"})
    assert done.exit_code == 0
    assert all(name in done.stdout for name in ts.SCORES)


@pytest.mark.parametrize("name", sorted(ts.SCORES))
def test_every_score_is_explained(name):
    done = CliRunner().invoke(app, ["scores", name])
    assert done.exit_code == 0
    assert ts.SCORES[name].title in done.stdout
    assert ts.SCORES[name].source in done.stdout


def test_the_demo_shows_what_it_found():
    done = CliRunner().invoke(app, ["demo"])
    assert done.exit_code == 0, done.output
    assert "documents" in done.stdout


def test_the_demo_has_a_corpus_without_any_download(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    name, texts, labels = corpus()
    assert "docstrings" in name
    assert len(texts) == len(labels) > 500
    assert len(set(labels)) >= 3
    assert (texts, labels) == _docstrings()

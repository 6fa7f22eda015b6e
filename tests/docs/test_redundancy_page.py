"""The tables of docs/redundancy.md are what docs/make_redundancy.py makes of the results."""

import json
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "redundancy.md"
RESULTS = ROOT / "docs" / "results" / "redundancy.json"
MACHINE = {"cores": 2, "processor": "a processor", "memory_gb": 8, "system": "Linux", "python": "3.11.7", "load": 0.1}


@pytest.fixture
def make(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    return runpy.run_path(str(ROOT / "docs" / "make_redundancy.py"))


def test_the_tables_have_every_number_and_the_best_in_bold(make):
    f1 = {"cmim": [0.2434, 0.5], "chi2": [0.2431, 0.4], "cmim(in_turn=True)": [0.1, 0.60004]}
    corpus = {
        "documents": 18846, "classes": 20, "several_labels": False, "splits": 5, "cpu": 12.4,
        "standard_errors": [0.002, 0.0264], "f1": {"multinomial_nb": f1}, "ranking_cpu": {"cmim": 0.734, "chi2": 0.01},
    }  # fmt: skip
    other = {**corpus, "several_labels": True, "splits": 1, "standard_errors": None, "ranking_cpu": {"chi2": 0.02}}
    result = {"date": "2026-01-01", "commit": "abc", "machine": MACHINE, "ks": [10, 1000],
              "corpora": {"News": corpus, "Medicine": other}}  # fmt: skip
    text = "\n".join(make["tables"](result))
    assert "2 cores, a processor, 8 GB, Linux, Python 3.11.7, load 0.1, 2026-01-01, commit abc." in text
    assert "**News** (18,846 documents, 20 classes, 5 folds; standard errors .002 to .026)" in text
    assert "**Medicine** (18,846 documents, 20 classes, several labels, the given split)" in text
    assert "| multinomial naive Bayes | 10 | 1,000 |" in text
    assert "| cmim | **.243** | .500 |" in text
    assert "| chi2 | **.243** | .400 |" in text  # within half of the last digit
    assert "| `cmim(in_turn=True)` | .100 | **.600** |" in text
    assert "| cmim | 0.73 |  |" in text
    assert "| all | 12 | 12 |" in text


def test_the_page_has_the_marks_and_is_made_only_once(make):
    page = PAGE.read_text("utf-8")
    assert page.count(make["BEGIN"]) == page.count(make["END"]) == 1
    result = {"date": "2026-01-01", "commit": "abc", "machine": MACHINE, "ks": [], "corpora": {}}
    once = make["put_into_page"](page, result)
    assert make["put_into_page"](once, result) == once
    assert once.startswith(page.partition(make["BEGIN"])[0])
    assert once.endswith(page.partition(make["END"])[2])


def test_what_is_committed_was_made_from_the_results(make):
    page = PAGE.read_text("utf-8")
    assert make["put_into_page"](page, json.loads(RESULTS.read_text("utf-8"))) == page

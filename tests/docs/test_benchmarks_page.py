"""The page of benchmarks, its figures and the README's table are what docs/make_benchmarks.py makes of the results."""

import json
import runpy
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "docs" / "results" / "benchmarks.json"
HISTORY = RESULTS.with_name("benchmarks_history.jsonl")


@pytest.fixture(scope="module")
def make():
    return runpy.run_path(str(ROOT / "docs" / "make_benchmarks.py"))


@pytest.fixture
def result():
    """The results, with other first calls: those of the first version did not have them."""
    result = json.loads(RESULTS.read_text("utf-8"))
    for row in result["rows"]:
        row["first"] = 2 * row["cpu"] + 0.3
    return result


def test_the_page_has_every_peer_with_first_and_later_calls(make, result):
    run = {"commit": "abc", "date": "2026-01-01", "load": 0.1, "cpu": {}}
    for row in result["rows"]:
        run["cpu"].setdefault(row["task"], {})[row["peer"]] = [row["first"], row["cpu"]]
    text = "\n".join(make["page"](result, [run]))
    for row in result["rows"]:
        assert f"| {make['show_seconds'](row['cpu'])} |" in text
        assert f"| {make['show_seconds'](row['first'])} |" in text
    assert "| abc | 2026-01-01 | 0.1 |" in text


def test_the_readme_gets_six_lines_and_only_once(make, result):
    readme = (ROOT / "README.md").read_text("utf-8")
    once = make["put_into_readme"](readme, result)
    assert make["put_into_readme"](once, result) == once
    lines = list(make["readme_lines"](result))
    assert sum(line.startswith("| ") and "**" in line for line in lines) == 6
    assert result["machine"]["processor"] in lines[-1]
    assert once.count(lines[-1]) == 1


@pytest.mark.parametrize("figure", ["draw", "draw_counting"])
def test_figures_are_drawn(make, result, figure):
    drawn = ET.fromstring(make[figure](result))
    assert "scikit-learn" in "".join(drawn.itertext())


def test_what_is_committed_was_made_from_the_results(make):
    result = json.loads(RESULTS.read_text("utf-8"))
    history = [json.loads(line) for line in HISTORY.read_text("utf-8").splitlines()]
    readme = (ROOT / "README.md").read_text("utf-8")
    assert make["put_into_readme"](readme, result) == readme
    assert (ROOT / "docs" / "benchmarks.md").read_text("utf-8") == "\n".join(make["page"](result, history)) + "\n"
    assert history[-1]["commit"] == result["commit"]


def test_numbers_that_differ_are_explained(make, result):
    for row in result["rows"]:
        row["agrees"] = "8 of 10 the same" if row["task"] == "choose" else "all the same"
    result["orders"] = [
        {"rule": rule, "peer": "ITMO_FS", "documents": 500, "agrees": agrees}
        for rule, agrees in (("mrmr", "all 10 the same, in the same order"), ("fcbf", "2 of 10 the same"))
    ]
    choose = "\n".join(make["task_table"](result, "choose", "title"))
    assert "- **mrmr-selection**: Another rule" in choose
    assert "Why" not in "\n".join(make["task_table"](result, "count", "title"))
    orders = "\n".join(make["orders"](result))
    assert "| `mrmr` | ITMO_FS | all 10 the same, in the same order |" in orders
    assert "- **`fcbf`**:" in orders
    assert "- **`mrmr`**:" not in orders


def test_every_difference_that_was_found_has_its_reason(make):
    rows = json.loads(RESULTS.read_text("utf-8"))["rows"]
    differing = {
        (row["task"], row["peer"])
        for row in rows
        if row["task"] in ("count", "choose") and " of " in row.get("agrees", "")
    }
    assert differing
    assert differing <= set(make["NOTES"])

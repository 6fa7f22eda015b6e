"""``compare`` and ``report``."""

import csv
import io
import itertools
import json
import re
import shlex

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console

import termsieve as ts
from termsieve.cli.compare_views import make_comparison_sheet
from termsieve.errors import OutputError
from termsieve.reporting.report_data import ReportData
from termsieve.reporting.rerun import make_code_blocks
from termsieve.study.result_files import SCHEMA
from termsieve.study.results import Comparison

SMALL = ["--score", "gu,chi2", "--classifier", "multinomial_nb", "-k", "2,5,10", "--cv", "3"]


@pytest.fixture
def news(tmp_path):
    rng = np.random.default_rng(0)
    words = {"sea": ["ship", "crew", "storm"], "sport": ["team", "goal", "match"]}
    rows = [
        f"{' '.join(rng.choice(words[name], 3))} {' '.join(rng.choice(['the', 'of', 'new'], 3))},{name},{part}"
        for part in ("train", "test")
        for name in words
        for _ in range(15)
    ]
    path = tmp_path / "news.csv"
    path.write_text("\n".join(["text,topic,part", *rows]) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def result(news):
    return ts.compare(
        ts.read(news, label="topic"), scores=["gu", "chi2"], classifiers=["multinomial_nb"], ks=[2, 5, 10], cv=3
    )


def test_compare_prints_the_means(news, result, typed):
    code, out, err = typed("compare", news, *SMALL)
    assert code == 0, err
    found = list(csv.DictReader(out.splitlines(), delimiter="\t"))
    expected = result.summary().to_pylist()
    assert [(row["score"], int(row["k"]), float(row["mean"])) for row in found] == [
        (row["score"], row["k"], row["mean"]) for row in expected
    ]
    best = result.best()["multinomial_nb"]
    assert [(row["score"], int(row["k"])) for row in found if row["recommended"] == "true"] == [(best.score, best.k)]


def test_compare_for_people(news, result, typed):
    _, out, _ = typed("compare", news, *SMALL, "--format", "table", "--measure", "accuracy")
    assert "multinomial_nb  accuracy" in out
    order = [out.index(part) for part in ("storm", "multinomial_nb: ", "multinomial_nb  accuracy", "Enough are")]
    assert order == sorted(order)  # terms first, then how few are enough, then the numbers
    assert "\nChi-square " in out
    assert result.best("accuracy")["multinomial_nb"].reason in " ".join(out.split())


@pytest.mark.parametrize("width", [40, 80, 200])
def test_means_that_do_not_fit_on_a_line_stand_below(width):
    ks = [10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 28_959]
    means = {(name, k): 0.5 + place / 1000 for place, (name, k) in enumerate(itertools.product(("ifs", "chi2"), ks))}
    rows = [(0, 0, name, "multinomial_nb", k, "", "f1_macro", mean) for (name, k), mean in means.items()]
    table = pa.table(dict(zip(SCHEMA.names, zip(*rows, strict=True), strict=True)), schema=SCHEMA)
    sheet = make_comparison_sheet(Comparison(table, {"n_splits": 1}, {}), "f1_macro")
    console = Console(width=width, color_system=None, file=io.StringIO())
    console.print(sheet.view())
    shown = console.file.getvalue().partition("multinomial_nb  macro F1")[2]
    assert "…" not in shown
    found = re.findall(r" (\.\d{3}|[\d,]+)(?= |\n)", shown.partition("Enough")[0])
    assert sorted(found) == sorted([*(f"{mean:.3f}"[1:] for mean in means.values()), *(f"{k:,}" for k in ks)])


def test_compare_writes_several_files_at_once(news, result, tmp_path, typed):
    names = ["page.html", "result.parquet", "means.csv", "means.json"]
    outputs = [part for name in names for part in ("-o", tmp_path / name)]
    code, out, err = typed("compare", news, *SMALL, *outputs, "--title", "Seas & sports")
    assert (code, out) == (0, "")
    assert all(f"written to {tmp_path / name}" in err for name in names)
    assert "Seas &amp; sports" in (tmp_path / "page.html").read_text("utf-8")
    assert Comparison.load(tmp_path / "result.parquet").table.equals(result.table)
    means = json.loads((tmp_path / "means.json").read_text("utf-8"))
    assert [row["mean"] for row in means] == result.summary()["mean"].to_pylist()
    with (tmp_path / "means.csv").open(encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == len(means)


def test_the_page_is_written_last_and_other_files_stay_when_it_fails(news, result, tmp_path, typed, monkeypatch):
    def fail(*_, **__):
        raise OutputError("no room")

    monkeypatch.setattr("termsieve.report", fail)
    code, _, err = typed("compare", news, *SMALL, "-o", tmp_path / "page.html", "-o", tmp_path / "result.parquet")
    assert code == 1
    assert "no room" in err
    assert Comparison.load(tmp_path / "result.parquet").table.equals(result.table)


def test_a_result_may_keep_nothing_of_the_documents(news, result, tmp_path, typed):
    assert result.excerpts
    assert typed("compare", news, *SMALL, "--no-excerpts", "-o", tmp_path / "result.parquet")[0] == 0
    assert Comparison.load(tmp_path / "result.parquet").excerpts == {}


@pytest.mark.parametrize("measure", ["f1_macro", "recall_macro"])
def test_measures_of_classes_apart(news, typed, measure):
    code, out, err = typed("compare", news, *SMALL, "--per-class", "--measure", measure)
    assert code == 0, err
    assert len(out.splitlines()) == 7


def test_a_column_divides(news, tmp_path, typed):
    assert typed("compare", news, *SMALL[:-2], "--cv", "part", "-o", tmp_path / "x.parquet")[0] == 0
    expected = ts.compare(
        ts.read(news, label="topic"), scores=["gu", "chi2"], classifiers=["multinomial_nb"], ks=[2, 5, 10], cv="part"
    )
    assert Comparison.load(tmp_path / "x.parquet").table.equals(expected.table)


def test_a_journal_is_gone_on_with(news, tmp_path, typed):
    first = typed("compare", news, *SMALL, "--journal", tmp_path / "study")
    assert (tmp_path / "study").exists()
    assert typed("compare", news, *SMALL, "--journal", tmp_path / "study") == first
    code, _, err = typed("compare", news, *SMALL[:-1], "4", "--journal", tmp_path / "study")
    assert code == 1
    assert "journal of another study" in err


def test_options_reach_the_study(news, tmp_path, typed):
    given = ["--repeats", "2", "--seed", "7", "--min-df", "2", "--weighting", "tfidf", "--per-class", "--threads", "1"]
    code, _, err = typed("compare", news, *SMALL, *given, "--stop-words", "english", "-o", tmp_path / "x.parquet")
    assert code == 0, err
    settings = Comparison.load(tmp_path / "x.parquet").settings
    assert (settings["min_df"], settings["weighting"], settings["per_class"]) == (2, "tfidf", True)
    assert (settings["n_splits"], settings["seed"], settings["repeats"]) == (6, 7, 2)
    assert "of" in settings["analyzer"]["stop_words"]


def test_the_command_of_the_page_is_understood(news, tmp_path, typed):
    """What a report says for running it again is a command that runs, and gives the same."""
    assert typed("compare", news, *SMALL, "--ngrams", "2", "--seed", "3", "-o", tmp_path / "x.parquet")[0] == 0
    once = Comparison.load(tmp_path / "x.parquet")
    command = make_code_blocks(ReportData.from_result(once))[0].code.replace("\\\n", " ")
    words = [str(tmp_path / "y.parquet") if word == "report.html" else word for word in shlex.split(command)]
    code, _, err = typed(*words[1:])
    assert code == 0, err
    assert Comparison.load(tmp_path / "y.parquet").table.equals(once.table)


def test_report_of_a_saved_result(news, result, tmp_path, typed):
    result.save(tmp_path / "r.parquet")
    code, out, err = typed("report", tmp_path / "r.parquet", "-o", tmp_path / "page.html")
    assert (code, out) == (0, "")
    assert "MB), a page for any browser" in err
    assert "<html" in (tmp_path / "page.html").read_text("utf-8")
    code, _, _ = typed("report", tmp_path / "r.parquet", "--score", "gu", "-o", tmp_path / "page.html")
    assert code == 2


def test_report_of_counts_and_of_documents(news, tmp_path, typed):
    ts.count(ts.read(news, label="topic")).save(tmp_path / "n.counts")
    for source in (tmp_path / "n.counts", news):
        code, _, err = typed("report", source, "--score", "gu,chi2", "-o", tmp_path / "page.html")
        assert code == 0, err
        assert "storm" in (tmp_path / "page.html").read_text("utf-8")
        (tmp_path / "page.html").unlink()


def test_a_parquet_file_of_documents_is_no_result(news, tmp_path, typed):
    table = next(iter(ts.read(news, label="topic")))
    pq.write_table(pa.Table.from_batches([table]), tmp_path / "docs.parquet")
    code, _, err = typed("report", tmp_path / "docs.parquet", "--score", "gu", "-o", tmp_path / "page.html")
    assert code == 0, err
    assert "text from the column 'text'" in err


def test_verbose_tells_how_near_to_the_optimum_classifiers_were_solved(news, typed):
    options = ["--score", "gu", "--classifier", "linear_svm", "-k", "5", "--cv", "3"]
    code, _, err = typed("compare", news, *options, "--verbose")
    assert code == 0, err
    assert re.search(r"largest duality gap, as a share of the objective\): linear_svm: \d\.\de-\d\d\.", err)
    assert "duality gap" not in typed("compare", news, *options)[2]

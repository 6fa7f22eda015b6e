"""Commands that say how sure: columns in every format, and what cannot be had."""

import csv
import io
import json

import pyarrow.parquet as pq
import pytest
from rich.console import Console

import termsieve as ts
from termsieve.cli.rank_views import make_rank_sheet
from termsieve.cli.screen import format_number

ADDED = ["low", "high", "p", "q", "dispersion"]


@pytest.fixture
def mail(tmp_path):
    path = tmp_path / "mail.csv"
    texts = [("cheap pills now", "spam"), ("lunch at noon", "ham"), ("cheap lunch now", "ham")] * 12
    path.write_text("body,folder\n" + "".join(f"{text},{label}\n" for text, label in texts), encoding="utf-8")
    return path


@pytest.mark.parametrize("listed", ["--per-class", "--overall"])
def test_rank_adds_columns_in_every_format(mail, tmp_path, typed, listed):
    counts = ts.count(ts.read(mail, text="body", label="folder"))
    options = [mail, listed, "--score", "chi2", "--intervals", "--level", "0.8", "--pvalues", "--dispersion"]
    code, out, _ = typed("rank", *options, "--format", "json")
    assert code == 0
    rows = json.loads(out)
    asked = {"intervals": 0.8, "pvalues": True, "dispersion": True}
    expected = ts.score(counts, "chi2").top(10, per_class=listed == "--per-class", **asked).to_arrow().to_pylist()
    assert [[row[name] for name in ("term", *ADDED)] for row in rows] == [
        [row[name] for name in ("term", *ADDED)] for row in expected
    ]
    for name in ("terms.tsv", "terms.csv", "terms.parquet"):
        assert typed("rank", *options, "-o", tmp_path / name)[0] == 0
    assert pq.read_table(tmp_path / "terms.parquet").to_pylist() == rows
    with (tmp_path / "terms.csv").open(encoding="utf-8") as file:
        assert [float(row["q"]) for row in csv.DictReader(file)] == [row["q"] for row in rows]
    assert (tmp_path / "terms.tsv").read_text(encoding="utf-8").splitlines()[0].split("\t")[-5:] == ADDED
    code, shown, _ = typed("rank", *options, "--format", "table")
    assert (code, "low" in shown) == (0, True)


def test_rank_without_them_is_as_before(mail, typed):
    code, out, _ = typed("rank", mail, "--format", "json")
    assert code == 0
    assert not set(json.loads(out)[0]) & set(ADDED)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--intervals", "--level", "95"], "between 0 and 1"),
        (["--pvalues", "--score", "ocfs"], "counts occurrences"),
    ],
)
def test_what_rank_cannot_tell(mail, typed, options, said):
    code, _, err = typed("rank", mail, *options)
    assert code != 0
    assert said in " ".join(err.split())


def test_select_tells_what_comes_again(mail, tmp_path, typed):
    code, out, err = typed("select", mail, "-k", "2", "--score", "chi2", "--stability", "--format", "json")
    assert code == 0
    rows = json.loads(out)
    folds = ts.count_folds(ts.read(mail, text="body", label="folder"), folds=20)
    found = ts.stability(folds, "chi2", 2)
    assert [(row["term"], row["share"], row["rank_high"]) for row in rows] == list(
        zip(found.terms, found.shares, found.rank_high, strict=True)
    )
    assert found.sentence in err
    code, out, _ = typed("select", mail, "--rule", "stable(2, share=0.5)", "--score", "chi2", "--format", "json")
    assert [row["term"] for row in json.loads(out)] == ts.select(folds, "stable(2, share=0.5)", "chi2").terms.tolist()
    assert typed("select", mail, "-k", "2", "--stability", "--format", "table")[0] == 0


@pytest.mark.parametrize("options", [["--stability"], ["--rule", "stable(3)"]])
def test_counts_have_no_half_samples(mail, tmp_path, typed, options):
    stored = tmp_path / "mail.counts"
    assert typed("count", mail, "-o", stored)[0] == 0
    code, _, err = typed("select", stored, *options)
    assert code == 1
    assert "half-samples need the documents" in " ".join(err.split())


def test_stability_goes_with_k(mail, typed):
    code, _, err = typed("select", mail, "--rule", "fdr(0.1)", "--stability")
    assert code == 2
    assert "--stability goes with -k" in " ".join(err.split())


@pytest.mark.parametrize("overall", [False, True])
def test_a_narrow_screen_cuts_terms_and_not_numbers(overall):
    texts = [f"{'uncommonly' * 2}{n % 7} {'cheap' if n % 3 else 'noon'} now" for n in range(600)]
    counts = ts.count(texts, ["advertisements" if n % 3 else "correspondence" for n in range(600)])
    scores = ts.score(counts, "g_test")
    asked = {"intervals": 0.95, "pvalues": True}
    lists = [scores.top(3, **asked)] if overall else [scores.top(3, of=name, **asked) for name in counts.classes]
    sheet = make_rank_sheet(counts, {"g_test": lists}, overall=overall, brief=False)
    console = Console(file=io.StringIO(), width=80, color_system=None)
    console.print(sheet.view())
    shown = console.file.getvalue()
    numbers = {format_number(value) for ranking in lists for column in ranking.beside.values() for value in column}
    assert len(numbers) > 5
    assert all(number in shown.split() for number in numbers)
    assert "…" in shown

"""The commands as a user types them: what is printed and written, and the exit codes."""

import csv
import json
import re
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import termsieve as ts
from termsieve.defaults import DEFAULT_SCORE

COMMAND = str(Path(sys.executable).with_name("termsieve"))
MAIL = [
    ("cheap pills now", "spam"),
    ("cheap watches now", "spam"),
    ("meeting at noon", "ham"),
    ("lunch at noon now", "ham"),
    ("cheap lunch meeting", "ham"),
]


@pytest.fixture
def mail(tmp_path):
    path = tmp_path / "mail.csv"
    rows = "".join(f"{text},{label}\n" for text, label in MAIL)
    path.write_text(f"body,folder\n{rows}", encoding="utf-8")
    return path


@pytest.fixture
def counts(mail):
    return ts.count(ts.read(mail, text="body", label="folder"))


def rows_of(text):
    return list(csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))


def test_version():
    done = subprocess.run([COMMAND, "--version"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, f"termsieve {ts.__version__}\n")


def test_the_module_is_the_command():
    done = subprocess.run([sys.executable, "-m", "termsieve", "--version"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, f"termsieve {ts.__version__}\n")


def test_every_command_has_help_with_examples(typed):
    code, out, _ = typed("--help")
    assert code == 0
    for command in ("rank", "select", "compare", "report", "train", "predict", "count", "merge", "scores", "demo"):
        assert f"│ {command} " in out
        code, helped, _ = typed(command, "--help")
        assert code == 0
        assert f"termsieve {command}" in helped.partition("Examples")[2]


# rank


def test_rank_gives_for_each_class_what_the_library_ranks(mail, counts, typed):
    code, out, err = typed("rank", mail, "--score", "chi2", "--top", "2")
    assert code == 0, err
    expected = ts.score(counts, "chi2").top(2, per_class=True)
    found = rows_of(out)
    assert [(row["class"], int(row["rank"]), row["term"], float(row["score"])) for row in found] == [
        (row.label, row.rank, row.term, row.score) for row in expected
    ]
    for row, cells in zip(found, expected, strict=True):
        assert float(row["in_class"]) == pytest.approx(cells.tp / (cells.tp + cells.fn), abs=1e-6)
        assert float(row["elsewhere"]) == pytest.approx(cells.fp / (cells.fp + cells.tn), abs=1e-6)


def test_rank_overall_and_against(mail, counts, typed):
    _, out, _ = typed("rank", mail, "--overall", "--top", "3")
    assert [row["term"] for row in rows_of(out)] == [row.term for row in ts.score(counts, DEFAULT_SCORE).top(3)]
    _, out, _ = typed("rank", mail, "--class", "spam", "--against", "-s", "chi2")
    found = rows_of(out)
    assert found
    assert {(row["class"], row["against"]) for row in found} == {("spam", "true")}
    assert all(float(row["in_class"]) < float(row["elsewhere"]) for row in found)


def test_several_scores_stand_below_each_other(mail, typed):
    _, out, _ = typed("rank", mail, "--score", "gu,bns(floor=0.01)", "--overall", "-n", "1")
    assert [row["by"] for row in rows_of(out)] == ["gu", "bns(floor=0.01)"]


def test_a_score_that_saturates_is_shown_by_what_decides_its_ties(mail, counts, typed):
    expected = ts.score(counts, "pip_log_odds").top(1, of="spam")[0]
    code, out, _ = typed("rank", mail, "-s", "pip", "-n", "1", "--class", "spam", "--format", "table")
    assert code == 0
    assert "log odds" in out
    assert f"{expected.term} " in out
    assert f"{expected.score:.4g}" in out
    _, overall, _ = typed("rank", mail, "-s", "pip", "-n", "1", "--overall", "--format", "table")
    assert f"{ts.score(counts, 'pip_log_odds').top(1)[0].score:.4g}" in overall
    _, rows, _ = typed("rank", mail, "-s", "pip", "-n", "1", "--class", "spam")
    assert float(rows_of(rows)[0]["score"]) == ts.score(counts, "pip").top(1, of="spam")[0].score


def test_the_table_shows_shares_and_bars(mail, typed):
    code, out, _ = typed("rank", mail, "--format", "table", "--score", "chi2", "--top", "1")
    assert code == 0
    assert "5 documents, 2 classes, 8 terms, ranked by chi2 (Chi-square)" in out
    line = next(line for line in out.splitlines() if line.startswith("at "))
    assert "67 %" in line
    assert "0 %" in line
    assert "━" in line


def test_many_classes_have_one_line_each(tmp_path, typed):
    path = tmp_path / "many.csv"
    path.write_text("text,label\n" + "".join(f"word{i} common,class{i:02}\n" for i in range(20)), encoding="utf-8")
    _, out, _ = typed("rank", path, "--format", "table")
    lines = [line for line in out.splitlines() if line.startswith("class")]
    assert len(lines) == 21  # and a heading
    assert "word7 100 %" in next(line for line in lines if line.startswith("class07"))
    _, whole, _ = typed("rank", path, "--format", "table", "--per-class")
    assert "terms: in class / elsewhere" in out
    assert "terms: in class / elsewhere" not in whole


@pytest.mark.parametrize(("width", "shown"), [(80, 3), (160, 5)])
def test_many_classes_have_as_many_terms_as_fit_with_both_shares(width, shown, tmp_path, typed, monkeypatch):
    path = tmp_path / "many.csv"
    rows = (" ".join(f"{word}{i:02}" for word in ("one", "two", "three", "four", "five")) for i in range(20))
    path.write_text("text,label\n" + "".join(f"{row},c{i}\n" for i, row in enumerate(rows)), encoding="utf-8")
    monkeypatch.setenv("COLUMNS", str(width))
    _, out, _ = typed("rank", path, "--format", "table")
    lines = [line for line in out.splitlines() if line.startswith("c") and not line.startswith("class")]
    assert [line.count("100 % / 0 %") for line in lines] == [shown] * 20
    assert "…" not in out


def test_counts_files_are_ranked_and_added(mail, tmp_path, typed):
    for name, some in (("one", slice(0, 2)), ("two", slice(2, 5))):
        rows = MAIL[some]
        ts.count([text for text, _ in rows], [label for _, label in rows]).save(tmp_path / f"{name}.counts")
    _, expected, _ = typed("rank", mail)
    code, out, err = typed("rank", tmp_path / "one.counts", tmp_path / "two.counts")
    assert (code, out, err) == (0, expected, "")


@pytest.mark.parametrize("option", [["--text", "body"], ["--stemmer", "english"], ["--split", "a=b"]])
def test_counts_have_their_terms_already(option, counts, tmp_path, typed):
    counts.save(tmp_path / "mail.counts")
    code, _, err = typed("rank", tmp_path / "mail.counts", *option)
    assert code == 2
    assert option[0] in err


@pytest.mark.parametrize("command", ["rank", "select"])
def test_what_was_written_is_said(command, mail, tmp_path, typed):
    code, out, err = typed(command, mail, "-o", tmp_path / "terms.csv")
    assert (code, out) == (0, "")
    assert f"written to {tmp_path / 'terms.csv'}\n" in err
    assert typed(command, mail, "-q", "-o", tmp_path / "terms.csv") == (0, "", "")


def test_rare_and_common_terms_are_left_out(mail, counts, typed):
    _, out, _ = typed("rank", mail, "--min-df", "2", "--max-df", "50%", "--overall")
    assert {row["term"] for row in rows_of(out)} == set(counts.prune(min_df=2, max_df=0.5).terms)


# select


def test_select_writes_one_term_a_line_and_nothing_else(mail, counts, tmp_path, typed):
    target = tmp_path / "terms.txt"
    code, out, _ = typed("select", mail, "-k", "3", "--score", "chi2", "-o", target)
    assert (code, out) == (0, "")
    expected = ts.select(counts, 3, "chi2").terms.tolist()
    assert target.read_bytes() == "".join(f"{term}\n" for term in expected).encode()
    _, out, _ = typed("select", mail, "-k", "3", "--score", "chi2", "--format", "txt")
    assert out.encode() == target.read_bytes()


@pytest.mark.parametrize("rule", ["percentile(40)", "energy(0.7)", "round_robin(3)", 'union("gu", "chi2", k=3)'])
def test_rules_are_spelled_as_in_the_library(rule, mail, counts, typed):
    code, out, err = typed("select", mail, "--rule", rule, "--score", "chi2")
    assert code == 0
    chosen = ts.select(counts, rule, "chi2")
    assert [row["term"] for row in rows_of(out)] == chosen.terms.tolist()
    assert chosen.reason in err


def test_more_terms_than_there_are_are_all(mail, counts, typed):
    code, out, err = typed("select", mail, "-k", "1000000")
    assert code == 0
    assert len(rows_of(out)) == counts.n_terms
    assert "note: k=1000000 is more than" in err


# count, merge, scores


def test_count_writes_what_the_library_counts(mail, counts, tmp_path, typed):
    target = tmp_path / "mail.counts"
    code, out, err = typed("count", mail, "--text", "body", "--label", "folder", "-o", target)
    assert code == 0
    assert ts.Counts.load(target) == counts
    assert "8 terms in 2 classes, from 5 documents" in out
    assert err == f"written to {target}\n"
    assert typed("count", mail, "-q", "-o", target) == (0, "", "")


def test_merged_parts_are_the_whole(tmp_path, typed):
    rows = [{"text": f"word{i % 3} all", "label": "ab"[i % 2]} for i in range(7)]
    for name, part in (("one", rows[:2]), ("two", rows[2:]), ("whole", rows)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in part), encoding="utf-8")
        assert typed("count", tmp_path / f"{name}.jsonl", "-o", tmp_path / f"{name}.counts")[0] == 0
    code, _, err = typed("merge", tmp_path / "[ot][nw][eo].counts", "-o", tmp_path / "sum.counts")
    assert code == 0, err
    assert (tmp_path / "sum.counts").read_bytes() == (tmp_path / "whole.counts").read_bytes()
    code, _, err = typed(
        "merge", tmp_path / "*.counts", "-o", tmp_path / "sum.counts"
    )  # once more: it would count twice
    assert code == 1
    assert "is read as an input" in err
    assert (tmp_path / "sum.counts").read_bytes() == (tmp_path / "whole.counts").read_bytes()


def test_options_of_the_analyzer(mail, tmp_path, typed):
    (tmp_path / "stop.txt").write_text("at now\n", encoding="utf-8")
    given = ["--stop-words", tmp_path / "stop.txt", "--ngrams", "2-2", "--keep-case", "--strip-accents"]
    typed("count", mail, "-o", tmp_path / "x.counts", *given, "--min-length", "3", "--pattern", r"\w+")
    expected = ts.Analyzer(
        stop_words={"at", "now"}, ngram_range=(2, 2), lowercase=False, strip_accents="unicode", min_length=3,
        token_pattern=r"\w+",
    )  # fmt: skip
    assert ts.Counts.load(tmp_path / "x.counts").analyzer == expected
    typed("count", mail, "-o", tmp_path / "x.counts", "--characters", "--ngrams", "2-4")
    assert ts.Counts.load(tmp_path / "x.counts").analyzer == ts.Analyzer(analyzer="char_wb", ngram_range=(2, 4))


def test_the_catalogue_lists_every_score(typed):
    _, out, _ = typed("scores")
    assert {row["name"]: row["title"] for row in rows_of(out)} == {s.name: s.title for s in ts.SCORES.values()}
    _, out, _ = typed("scores", "--format", "table")
    assert re.findall(r"0\.\d{3}", out) == sorted(re.findall(r"0\.\d{3}", out))  # what loses least comes first
    assert all(name in out for name in ts.SCORES)
    _, out, _ = typed("scores", "bns", "--format", "json")
    assert json.loads(out)[0]["source"] == "forman2003"


@pytest.mark.parametrize("name", sorted(ts.SCORES))
def test_every_score_is_explained(name, typed):
    code, out, _ = typed("scores", name)
    assert code == 0
    assert ts.SCORES[name].title in out
    assert ts.SCORES[name].source in out


# The forms of output


def test_every_form_has_the_same_rows(mail, tmp_path, typed):
    _, out, _ = typed("rank", mail, "--format", "json")
    expected = json.loads(out)
    assert {"class", "rank", "term", "score", "in_class", "elsewhere", "tp"} <= expected[0].keys()
    for ending in ("json", "jsonl", "csv", "tsv", "parquet"):
        assert typed("rank", mail, "-o", tmp_path / f"x.{ending}", "-q") == (0, "", "")
    assert json.loads((tmp_path / "x.json").read_text("utf-8")) == expected
    assert [json.loads(line) for line in (tmp_path / "x.jsonl").read_text("utf-8").splitlines()] == expected
    assert pq.read_table(tmp_path / "x.parquet").to_pylist() == expected
    for ending, delimiter in (("csv", ","), ("tsv", "\t")):
        with (tmp_path / f"x.{ending}").open(encoding="utf-8", newline="") as file:
            found = list(csv.DictReader(file, delimiter=delimiter))
        assert [row["term"] for row in found] == [row["term"] for row in expected]
        assert [float(row["score"]) for row in found] == [row["score"] for row in expected]


def test_a_page_of_the_ranking(mail, tmp_path, typed):
    code, _, err = typed("rank", mail, "--score", "gu,chi2", "-o", tmp_path / "terms.html")
    assert code == 0, err
    assert (tmp_path / "terms.html").read_text("utf-8").lstrip().lower().startswith("<!doctype html")


def test_the_demo_goes_where_it_is_told(monkeypatch, tmp_path, typed):
    seen = {}
    monkeypatch.setattr("termsieve.cli.demo_views.show_demo", lambda **given: seen.update(given))
    assert typed("demo", "-o", tmp_path / "bbc.html", "--threads", "1")[0] == 0
    assert seen == {"output": tmp_path / "bbc.html", "threads": 1, "quiet": False}


@pytest.mark.parametrize("command", ["rank", "compare"])
def test_classes_that_differ_in_case_only_are_told(command, tmp_path, typed):
    rows = ["buy pills,Spam", "buy now,spam", "cheap pills,spam ", "lunch at noon,ham", "noon meeting,ham"] * 6
    (tmp_path / "mail.csv").write_text("text,label\n" + "\n".join(rows) + "\n")
    few = ["--score", "chi2", "-k", "2", "--classifier", "multinomial_nb"] if command == "compare" else []
    code, _, said = typed(command, tmp_path / "mail.csv", *few)
    assert code == 0, said
    assert "note: 'Spam', 'spam', 'spam ' are different classes" in said

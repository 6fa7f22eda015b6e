"""The same comparison in every way to prepare the texts."""

from __future__ import annotations

import json
from dataclasses import replace

import pyarrow.compute as pc
import pytest
from typer.testing import CliRunner

from termsieve.cli import app
from termsieve.cli.varying import parse_vary
from termsieve.errors import OptionError
from termsieve.evaluate.influence import explained_share, rank_choices
from termsieve.study.multiverse import MultiverseResult, PreparationResult, _judge_way, multiverse
from termsieve.study.plan import Contender, Plan
from termsieve.study.study import compare
from termsieve.tokens.analyzer import Analyzer

TEXTS = [
    "Cheap pills the",
    "cheap watches a",
    "buy the pills",
    "noon Meeting of",
    "lunch at noon",
    "meeting at ten",
] * 5
LABELS = (["spam"] * 3 + ["ham"] * 3) * 5


def test_all_terms_for_reference_do_not_compete():
    few = [Contender(name, name, max_df=8) for name in ("chi2", "bns")]
    found = multiverse(TEXTS, LABELS, vary={"lowercase": [True, False]}, scores=few, ks=[1000], cv=3)
    assert all(set(way.means) == {"chi2", "bns"} for way in found.ways)


def test_a_way_has_what_compare_has():
    found = multiverse(TEXTS, LABELS, vary={"lowercase": [True, False]}, scores=["chi2", "bns"], ks=[1, 2], cv=3)
    result = compare(TEXTS, LABELS, scores=["chi2", "bns"], classifiers=["multinomial_nb"], ks=[1, 2], cv=3,
                     analyzer=Analyzer(lowercase=False))  # fmt: skip
    means = {name: result.curve(name, "multinomial_nb")[1].mean(axis=0)[:2].mean() for name in ("chi2", "bns")}
    way = next(way for way in found.ways if way.choices == {"lowercase": False})
    assert way.means == pytest.approx(means)
    assert way.terms == result.recommended().k


def made(best, **choices):
    return PreparationResult(choices, best, "x", 0.1, best == "chi2", {}, 100 if choices["case"] else 200, 0.9)


def test_scores_are_compared_at_the_numbers_of_terms_that_all_of_them_have():
    result = compare(TEXTS, LABELS, scores=["chi2", "bns"], classifiers=["multinomial_nb"], ks=[1, 2, 4], cv=3)
    at_the_end = (pc.field("score") == "bns") & (pc.field("k") == 4)  # as where the study goes on with the best score
    plan = Plan.from_arguments(["chi2", "bns"], ["multinomial_nb"], ["auto"])
    whole = _judge_way(result, plan, {}, 99)
    result.table = result.table.filter(~at_the_end)
    few = _judge_way(result, plan, {}, 99)
    ks, values = result.curve("chi2", "multinomial_nb")
    assert few.means["chi2"] == pytest.approx(values[:, [ks.index(k) for k in ks if k != 4]].mean())
    assert few.means["chi2"] != whole.means["chi2"]


def test_one_score_does_not_beat_itself():
    found = multiverse(TEXTS, LABELS, vary={"lowercase": [True, False]}, scores=["chi2"], ks=[1, 2], cv=3)
    assert found.conclusion == "chi2 alone was tried in 2 ways to prepare these texts"
    assert "lead" not in found.certainty
    assert "recommended" in found.certainty


def test_the_help_has_the_numbers_of_terms_that_are_tried():
    said = " ".join(CliRunner().invoke(app, ["multiverse", "--help"], env={"COLUMNS": "200"}).output.split())
    assert "(default 10,20,50,100,200,500,1000,2000)" in said.replace("│", "").replace("  ", " ")


def test_the_sentence_names_the_winner_and_what_decides():
    ways = MultiverseResult(
        [made("chi2" if case else "bns", case=case, stop=stop) for case in (0, 1) for stop in (0, 1, 2)]
    )
    assert ways.conclusion in (
        "chi2 is best in 3 of 6 ways to prepare these texts; case decides",
        "bns is best in 3 of 6 ways to prepare these texts; case decides",
    )
    assert ways.certainty == (
        "its lead over the second is beyond sampling error in 3 of 6; 100 to 200 terms are recommended, 200 in the "
        "median; case decides"
    )
    same = MultiverseResult([made("chi2", case=1, stop=stop) for stop in (0, 1)])
    assert same.conclusion == "chi2 is best in all 2 ways to prepare these texts"
    assert "100 terms are recommended in all" in same.certainty
    tied = MultiverseResult([replace(way, lead=0.0, clear=False) for way in same.ways])
    assert "beyond sampling error in 0 of 2, and none at all in 2; " in tied.certainty


def test_a_choice_that_explains_little_does_not_decide():
    ways = MultiverseResult(
        [made("bns" if case == stop == 3 else "chi2", case=case, stop=stop) for case in range(4) for stop in range(9)]
    )
    assert ways.conclusion == "chi2 is best in 35 of 36 ways to prepare these texts; stop decides most (51 % of it)"
    several = MultiverseResult(
        [made("bns" if a == b else "chi2", case=a, lowercase=b, min_df=(a + b) % 2) for a in (0, 1) for b in (0, 1)]
    )
    assert several.conclusion.endswith("; min_df (rare words) decides")
    weak = MultiverseResult([made("bns" if i in (0, 1, 2, 4) else "chi2", case=i % 2) for i in range(40)])
    assert "no choice by itself decides (most case, " in weak.conclusion


def test_values_that_cannot_be_are_refused_before_anything_is_run():
    told = []
    with pytest.raises(OptionError, match="stop_words must be"):
        multiverse(TEXTS, LABELS, vary={"stop_words": [None, "foo"]}, notify=told.append)
    assert not told


def test_what_a_choice_explains():
    assert explained_share([0, 0, 1, 1], ["a", "a", "b", "b"]) == 1.0
    assert explained_share([0, 1, 0, 1], ["a", "a", "b", "b"]) == 0.0
    assert explained_share([0, 1, 2], ["a", "a", "a"]) == 0.0
    both = rank_choices({"x": [0, 0, 1, 1], "y": [0, 1, 0, 1]}, [1, 1, 1, 0])
    assert both[0].share == both[1].share > 0


@pytest.mark.parametrize(
    ("vary", "says"),
    [
        ({}, "Nothing is varied"),
        ({"lowercas": [True, False]}, "Did you mean 'lowercase'"),
        ({"min_df": [1]}, "two different values"),
        ({"min_df": 3}, r"must have a list of values to vary, such as \[1, 3\]; it has 3"),
        ({"stop_words": "smart"}, "must have a list of values"),
        ({"per_class": ["a", "b"]}, "per_class must be True or False"),
        ({"min_df": [1, 1]}, "two different values"),
        ({"min_df": list(range(1, 40)), "min_tf": list(range(1, 40))}, "1,521 ways"),
    ],
)
def test_what_cannot_be_varied_is_explained(vary, says):
    with pytest.raises(OptionError, match=says):
        multiverse(TEXTS, LABELS, vary=vary)


def test_values_of_the_option():
    assert parse_vary("weighting=count,binary") == ("weighting", ["count", "binary"])
    assert parse_vary("lowercase=yes,no") == ("lowercase", [True, False])


def test_the_command_tells_and_writes(tmp_path):
    path = tmp_path / "mail.jsonl"
    path.write_text("".join(json.dumps({"text": t, "label": y}) + "\n" for t, y in zip(TEXTS, LABELS, strict=True)))
    asked = [
        "multiverse",
        str(path),
        "--vary",
        "lowercase",
        "--vary",
        "stop_words=none,smart",
        "-s",
        "chi2,bns",
        "-k",
        "1,2",
    ]
    run = CliRunner().invoke
    shown = run(app, [*asked, "--cv", "3", "--format", "table"])
    assert shown.exit_code == 0
    assert "ways to prepare these texts" in shown.stdout.replace("\n", " ")
    done = run(app, [*asked, "--cv", "3", "-o", str(tmp_path / "ways.json")])
    assert done.exit_code == 0
    rows = json.loads((tmp_path / "ways.json").read_text())
    assert [row["stop_words"] for row in rows] == ["none", "smart"] * 2
    assert "ways to prepare these texts" in done.stderr
    usual = run(app, ["multiverse", str(path), *asked[-4:], "--cv", "3", "--format", "csv"])
    assert usual.stdout.count("\n") == 1 + 8, "case, stop list, rare words"
    page = run(app, [*asked, "--cv", "3", "-o", str(tmp_path / "page.html")])
    assert page.exit_code == 0
    assert "Other ways to prepare these texts" in (tmp_path / "page.html").read_text(encoding="utf-8")
    wrong = run(app, ["multiverse", str(path), "--vary", "min_df="])
    assert wrong.exit_code == 2

"""A parameter of a study stands once: on the plan. Everything else must follow from it."""

import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import termsieve as ts
from termsieve.cli.plan_options import PlanOptions, shown_default
from termsieve.defaults import CALIBRATION_FOLDS, DEFAULT_SCORE
from termsieve.errors import OptionError
from termsieve.selection.stability import PAIRS
from termsieve.study.plan import (
    ALL,
    GRID,
    GROWTH,
    MARGIN,
    Contender,
    Plan,
    changed_settings,
    default_settings,
    parameters,
)

ROOT = Path(__file__).parents[2]


def test_compare_has_the_parameters_of_the_plan_with_their_defaults():
    signature = inspect.signature(ts.compare).parameters
    for name, one in parameters().items():
        mine = one.default if name != "scores" else tuple(contender.name for contender in one.default)
        assert signature[name].default == mine, name


def test_each_parameter_has_an_option_that_tells_its_default(typed):
    _, help_text, _ = typed("compare", "--help")
    shown = re.sub(r"[\s│]+", "", help_text)
    for one in parameters().values():
        about = one.metadata["option"]
        assert all(flag in shown for flag in about.flags)
        told = about.help if isinstance(one.default, bool) else f"(default {shown_default(one)})"
        assert re.sub(r"\s+", "", told) in shown, one.name


def test_options_that_take_a_list_say_so():
    for one in parameters().values():
        assert (one.metadata["option"].metavar == "LIST") == isinstance(one.default, tuple), one.name


def test_options_say_what_they_take():
    told = {
        name: one.metadata["option"].metavar for name, one in parameters().items() if not isinstance(one.default, tuple)
    }
    words = {"groups": "COLUMN", "weighting": "NAME", "weigh": "WHICH", "pairs": "WHEN", "margin": "X"}
    flags = [name for name, one in parameters().items() if isinstance(one.default, bool)]
    assert {name: word for name, word in told.items() if word != "N"} == words | dict.fromkeys(flags, "")


@pytest.mark.parametrize(("name", "least"), [("repeats", 1), ("seed", 0), ("sample", 0), ("min-tf", 1)])
def test_numbers_below_the_least_are_refused(typed, tmp_path, name, least):
    (tmp_path / "x.csv").write_text("text,label\nbuy pills,spam\nnoon,ham\n")
    _, _, below = typed("compare", tmp_path / "x.csv", f"--{name}", least - 1)
    assert re.search(r"greater than or equal to|range x>=", re.sub(r"[\s│]+", " ", below))
    _, _, allowed = typed("compare", tmp_path / "x.csv", f"--{name}", least)
    assert "too many for 1 documents in the largest class" in allowed


def test_the_numbers_of_terms_are_those_that_users_are_told():
    told = parameters()["ks"].metadata["option"].help
    assert f"{GRID[0]:,} to {GRID[-1]:,} and all" in told
    steps = tuple(first * 10**power for power in range(1, 9) for first in (1, 2, 5))
    assert (*GRID, *GROWTH) == steps


def test_defaults_in_the_documents_are_those_of_the_plan():
    text = re.sub(r"\s+", " ", (ROOT / "docs" / "commandline.md").read_text("utf-8"))
    told = {name: shown_default(one) for name, one in parameters().items()}
    for name in ("scores", "classifiers", "ks"):
        assert f"`{told[name]}`" in text, name
    assert f"in {told['cv']} folds" in text
    assert f"more than {int(told['sample']):,} documents" in text


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("words.md", f"the loss of F1 that does not count: {MARGIN} unless you say otherwise"),
        ("models.md", f"divided into {CALIBRATION_FOLDS} folds (`--calibrate N`"),
        ("choosing.md", f"**Take `{DEFAULT_SCORE}`** (G test), which is the default of every command"),
        ("certainty.md", f"in which share of {2 * PAIRS} half-samples"),
    ],
)
def test_numbers_in_the_documents_are_the_defaults_of_the_code(page, said):
    assert said in re.sub(r"\s+", " ", (ROOT / "docs" / page).read_text("utf-8"))


@pytest.mark.parametrize(
    ("given", "arguments"),
    [
        ({}, {}),
        (
            {"scores": ["gu,bns(floor=0.001)"], "ks": ["10,all"]},
            {"scores": ["gu", "bns(floor=0.001)"], "ks": [10, ALL]},
        ),
        ({"cv": "5", "min_df": "1%", "sample": 0}, {"cv": 5, "min_df": 0.01, "sample": 0}),
        ({"cv": "split", "per_class": True, "drop_empty": False}, {"cv": "split", "per_class": True}),
    ],
)
def test_options_become_arguments(given, arguments):
    assert PlanOptions()(**given) == arguments


def test_numbers_of_terms_fit_the_vocabulary():
    assert Plan.from_arguments(ks=[10, 50, "all"]).fit_to(30).ks == (10, 30)
    assert Plan.from_arguments(ks=["all"]).fit_to(30).ks == (30,)
    assert Plan.from_arguments(ks=[5, 10]).fit_to(30).ks == (5, 10, 30)  # all terms for reference
    assert Plan.from_arguments().fit_to(96).ks == (10, 20, 50, 96)
    assert [Plan.from_arguments(ks=ks).asks_for_all(30) for ks in ([5], [5, 30], "all", "auto")] == [0, 1, 1, 1]
    assert Plan.from_arguments(ks=[2**31 - 1]).ks == (2**31 - 1,)  # the largest that the table has room for
    with pytest.raises(OptionError, match="not both"):
        Plan.from_arguments(ks=[5, "auto"])


def test_numbers_of_other_libraries_are_numbers():
    plan = Plan.from_arguments(ks=[np.int64(5), 10.0], cv=np.int64(3), seed=np.uint8(7), repeats=np.int32(2))
    assert plan == Plan.from_arguments(ks=[5, 10], cv=3, seed=7, repeats=2)
    assert plan.description["cv"] == 3


def test_contenders_are_spelled_in_one_way():
    made = Contender.from_spelling(Contender("mine", "bns( floor = 1e-3 )", rule=" top( k = 2 ) "))
    assert (made.name, made.score, made.rule) == ("mine", "bns(floor=0.001)", "top(2)")
    with pytest.raises(OptionError, match="Did you mean 'max'"):
        Contender.from_spelling(Contender("mine", "chi2", aggregate="maxx"))


def test_the_fewest_documents_are_a_number_or_a_share_and_never_none():
    assert [Plan.from_arguments(min_df=given).least_df(50) for given in (0, 1, 3, 0.1, 0.001, 1.0)] == [
        1,
        1,
        3,
        5,
        1,
        50,
    ]


def test_only_what_differs_from_the_defaults_is_said_again():
    assert changed_settings(Plan.from_arguments().description) == {}
    plan = Plan.from_arguments(["chi2"], seed=3, cv="split", drop_empty=True)
    assert changed_settings(plan.description) == {"scores": ["chi2"], "cv": "split", "seed": 3, "drop_empty": True}
    assert set(default_settings()) == set(parameters())


def test_classifiers_see_what_suits_them():
    plan = Plan.from_arguments(classifiers=["poisson_nb", "linear_svm", "logistic_regression"])
    assert [plan.weighting_of(name) for name in plan.classifiers] == ["count", "tfidf_log", "tfidf_log"]
    assert {name: one.name for name, one in plan.weightings.items()} == {"count": "count", "tfidf_log": "tfidf_log"}
    assert list(Plan.from_arguments(weighting="binary").weightings) == ["binary"]


def test_a_rule_limits_the_terms_of_a_contender():
    texts = ["cheap pills", "cheap watches", "buy pills", "noon meeting", "lunch at noon", "meeting at ten"] * 4
    labels = (["spam"] * 3 + ["ham"] * 3) * 4
    few = Contender("few", "chi2", rule="top(2)")
    options = {"classifiers": ["multinomial_nb"], "cv": 3}
    by_rule = ts.compare(texts, labels, scores=[few], ks=["all"], **options)
    by_number = ts.compare(texts, labels, scores=["chi2"], ks=[2], **options)
    assert (
        by_rule.curve("few", "multinomial_nb")[1].tolist()
        == by_number.curve("chi2", "multinomial_nb")[1][:, :1].tolist()
    )
    assert by_rule.settings["contenders"][0] == {"name": "few", "score": "chi2", "rule": "top(2)"}
    assert by_rule.scores == ["few", "all terms"]
    assert by_rule.recommended().score == "few"
    assert by_rule.recommended().every[:2] == ("multinomial_nb", "all terms")


def test_a_sample_is_compared_and_said():
    texts, labels = [f"word{i % 7} common" for i in range(60)], ["a", "b", "c"] * 20
    options = {"scores": ["chi2"], "classifiers": ["multinomial_nb"], "ks": [2], "cv": 2}
    result = ts.compare(texts, labels, sample=24, **options)
    assert (result.settings["n_docs"], result.settings["n_compared"]) == (60, 24)
    assert result.counts == ts.count(texts, labels)
    assert result.table == ts.compare(texts, labels, sample=24, **options).table
    parts = ["train", "train", "test"] * 20
    assert ts.compare(texts, labels, sample=24, **{**options, "cv": parts}).settings["n_splits"] == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"ks": [0]}, "1 or more"),
        ({"ks": ["most"]}, '"all"'),
        ({"sample": -1}, "sample must be"),
        ({"min_df": 1.5}, "min_df must be"),
        ({"weigh": "all"}, "needs one weighting"),
        ({"weigh": "none"}, "weigh must be one of"),
        ({"weighting": "tfdi"}, "tfdi"),
        ({"min_df": -1}, "min_df must be"),
        ({"pairs": "maybe"}, "pairs must be one of 'auto', 'yes', 'no', not 'maybe'"),
        ({"per_class": "maybe"}, "per_class must be True or False, not 'maybe'"),
        ({"drop_empty": None}, "drop_empty must be True or False"),
        ({"one_vs_rest": 2}, "one_vs_rest must be True or False"),
        ({"margin": 1.01}, "margin must be a number from 0 to 1"),
        ({"margin": -0.01}, "margin must be a number from 0 to 1"),
        ({"margin": "small"}, "margin must be a number from 0 to 1"),
        ({"ks": None}, "ks must be one or several, in a list, not None"),
        ({"ks": [1.5]}, "1 or more"),
        ({"ks": [float("nan")]}, "1 or more"),
        ({"ks": [True]}, "1 or more"),
        ({"scores": None}, "scores must be one or several"),
        ({"classifiers": [3]}, "3 is not the spelling of a classifier"),
        ({"seed": -1}, "seed must be a whole number, 0 or more, not -1"),
        ({"seed": None}, "seed must be a whole number"),
        ({"sample": True}, "sample must be a whole number"),
        ({"min_df": float("nan")}, "min_df must be"),
        ({"min_tf": "2"}, "min_tf must be a whole number"),
        ({"scores": Contender("", "chi2")}, "must be a text of its own, not ''"),
        ({"scores": Contender(3, "chi2")}, "must be a text of its own, not 3"),
        ({"scores": Contender("all terms", "chi2", max_df=9)}, "must be a text of its own, not 'all terms'"),
        ({"scores": Contender("few", "chi2", max_df="x")}, "max_df of the contender 'few' must be a whole number"),
        ({"scores": Contender("few", "chi2", rule="top(2)"), "per_class": True}, "a ranking for each class"),
        ({"scores": Contender("few", "cmim", rule="top(2)")}, "cmim has its own choice"),
    ],
)
def test_wrong_plans_are_refused(options, said):
    with pytest.raises(OptionError, match=said):
        Plan.from_arguments(**options)

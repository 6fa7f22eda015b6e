"""The recommendation: its rule, at its edges too, and what is said of it."""

import math
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import termsieve as ts
from termsieve.errors import InputError, OptionError
from termsieve.evaluate.differences import corrected_error, paired_difference
from termsieve.evaluate.significance import correlated_t
from termsieve.reporting.report_data import ReportData
from termsieve.reporting.tables import Fact, make_tiles
from termsieve.study.plan import GROWTH
from termsieve.study.recommendation import ONE_SPLIT_RULE, RULE
from termsieve.study.result_files import SCHEMA
from termsieve.study.results import Comparison
from termsieve.views import format_difference, format_measure

RATIO = 1 / 3


def result_of(curves, **settings):
    """A comparison with these values on each split, by (score, classifier, k)."""
    rows = [
        (0, fold, score, model, k, "", "f1_macro", value)
        for fold in range(len(next(iter(curves.values()))))
        for (score, model, k), values in curves.items()
        for value in [values[fold]]
    ]
    table = pa.table(dict(zip(SCHEMA.names, zip(*rows, strict=True), strict=True)), schema=SCHEMA)
    return Comparison(table, {"n_splits": len(rows), "test_ratio": RATIO, "n_terms": 1000, **settings}, {})


def around(mean, *noise):
    return [mean + one for one in noise]


NOISE = (-0.02, 0.0, 0.02, 0.0)
OTHER = (0.0, 0.012, 0.0, -0.012)


# Differences


def test_the_standard_error_is_that_of_nadeau_and_bengio():
    values = np.array([0.8, 0.9, 0.7, 0.85])
    expected = values.std(ddof=1) * math.sqrt(1 / 4 + RATIO)
    assert corrected_error(values, RATIO) == pytest.approx(expected)
    assert corrected_error(np.column_stack([values, values]), RATIO) == pytest.approx([expected, expected])
    assert corrected_error(values, 0) == pytest.approx(values.std(ddof=1) / 2)
    constant = np.full(4, 0.1 + 0.2)
    assert corrected_error(np.column_stack([values, constant, values + 1]), RATIO)[1] == 0


def test_equal_values_have_no_rounding_error_beside_others_that_differ():
    equal = np.full(3, 0.1)
    assert equal.std(ddof=1) > 0
    errors = corrected_error(np.column_stack([equal, [0.8, 0.9, 0.7]]), RATIO)
    assert (errors > 0).tolist() == [False, True]


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=12), st.floats(0, 0.2))
def test_probabilities_are_those_of_the_correlated_t_test(pairs, margin):
    first, second = zip(*pairs, strict=True)
    found = paired_difference(first, second, ratio=1 / (len(first) - 1), margin=margin)
    expected = correlated_t(first, second, rope=margin)
    assert (found.worse, found.better) == pytest.approx((expected[0], expected[2]), abs=1e-6)
    assert found.low <= found.mean <= found.high


def test_one_split_tells_nothing_of_the_error():
    found = paired_difference([0.8], [0.9], ratio=1.0)
    assert found.mean == pytest.approx(-0.1)
    assert found[1:6] == (None,) * 5


def test_without_any_variance_it_is_certain():
    found = paired_difference([0.8, 0.8], [0.9, 0.9], ratio=1.0)
    assert found.standard_error == 0
    assert (found.low, found.high) == (found.mean, found.mean)
    assert (found.worse, found.better) == (1.0, 0.0)
    assert paired_difference([0.5, 0.6], [0.5, 0.6], ratio=1.0).worse == 0.0


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (([0.8], [0.9, 1.0], 1.0, 0.01), InputError),
        (([], [], 1.0, 0.01), InputError),
        (([math.nan], [0.9], 1.0, 0.01), InputError),
        (([0.8, 0.7], [0.9, 1.0], -1.0, 0.01), OptionError),
        (([0.8], [0.9], 1.0, -0.01), OptionError),
    ],
)
def test_what_cannot_be_compared_is_refused(arguments, error):
    first, second, ratio, margin = arguments
    with pytest.raises(error):
        paired_difference(first, second, ratio=ratio, margin=margin)


# The rule


@pytest.mark.parametrize(("errors", "k"), [(0.9, 10), (1.1, 1000), (1.9, 1000)])
def test_one_standard_error_of_the_difference_is_allowed_and_no_more(errors, k):
    difference = np.array(OTHER)
    error = float(corrected_error(difference, RATIO))
    best = np.array(around(0.9, *NOISE))
    result = result_of({("chi2", "nb", 1000): best, ("chi2", "nb", 10): best - errors * error + difference})
    choice = result.recommended()
    assert choice.k == k
    assert choice.best == ("nb", "chi2", 1000, pytest.approx(0.9), True)
    if k == 10:
        assert choice.is_enough
        assert choice.against_best.standard_error == pytest.approx(error)
        assert choice.against_best.mean == pytest.approx(-errors * error)
        assert choice.against_all == choice.against_best
    else:
        assert choice.is_best
        assert choice.against_all is None


def test_the_difference_counts_not_the_spread_of_both():
    """Both vary alike by far more than they differ: the difference is certain."""
    best = np.array(around(0.9, *NOISE))
    choice = result_of({("chi2", "nb", 1000): best, ("chi2", "nb", 10): best - 0.005}).recommended()
    assert choice.k == 1000
    assert choice.standard_error > 0.005


def test_the_fewest_of_all_classifiers_and_scores_are_taken():
    curves = {
        ("gu", "nb", 100): around(0.895, *OTHER), ("gu", "nb", 10): around(0.5, *NOISE),
        ("chi2", "svm", 500): around(0.9, *NOISE), ("chi2", "svm", 100): around(0.85, *OTHER),
    }  # fmt: skip
    result = result_of(curves)
    assert result.recommended().chosen[:3] == ("nb", "gu", 100)
    assert result.best()["svm"].k == 500
    assert (
        "against the best of everything tried, 0.900 (svm with 500 terms by Chi-square)" in result.recommended().reason
    )


def test_one_split_has_no_standard_error_and_the_margin_decides():
    curves = {("gu", "nb", 10): [0.885], ("gu", "nb", 50): [0.895], ("gu", "nb", 1000): [0.9]}
    result = result_of(curves)
    choice = result.recommended()
    assert (choice.k, choice.standard_error, choice.reselected, choice.rule) == (50, None, None, ONE_SPLIT_RULE)
    assert "within the margin of 0.01; one split has no standard error" in choice.reason
    assert result.recommended(margin=0).k == 1000
    assert result.recommended(margin=0.02).k == 10
    for margin in (-1, float("nan"), "small"):
        with pytest.raises(OptionError, match="margin must be a number from 0 to 1"):
            result.recommended(margin=margin)
    assert result.summary()["standard_error"].null_count == 3


def test_without_variance_only_equals_are_enough():
    curves = {("gu", "nb", 10): [0.89] * 3, ("gu", "nb", 50): [0.9] * 3, ("gu", "nb", 1000): [0.9] * 3}
    choice = result_of(curves).recommended()
    assert (choice.k, choice.standard_error, choice.rule) == (50, 0.0, RULE)
    assert choice.against_all.worse == 0


def test_where_all_are_equal_the_fewest_terms_of_the_simplest_are_enough():
    names = [("chi2", "linear_svm"), ("chi2", "multinomial_nb"), ("bns", "linear_svm")]
    curves = {(*name, k): [0.9, 0.8] for name in names for k in (10, 50, 1000)}
    assert result_of(curves).recommended().chosen[:3] == ("multinomial_nb", "chi2", 10)


def test_ties_go_to_the_better_curve():
    curves = {("bns", "nb", 10): [0.5, 0.6], ("chi2", "nb", 10): [0.8, 0.7]}
    curves |= {(score, "nb", 1000): [0.95, 0.96] for score in ("bns", "chi2")}
    choice = result_of(curves).recommended()
    assert (choice.score, choice.is_all, choice.is_best) == ("chi2", True, True)
    assert choice.verdict == "nb: all 1,000 terms are best, macro F1 0.955."
    assert choice.comparison_with_fewer == "The best with fewer, nb with 10 terms by Chi-square, has 0.750: not enough."


def test_the_best_may_be_asked_for_and_the_fewest_that_are_enough_are_named():
    curves = {("chi2", "nb", 10): around(0.89, *OTHER), ("chi2", "nb", 100): around(0.9, *NOISE)}
    result = result_of({**curves, ("chi2", "nb", 1000): around(0.7, *NOISE)})
    few, best = result.recommended(), result.recommended(fewest=False)
    assert (few.k, best.k, best.is_best, best.against_best) == (10, 100, True, None)
    assert best.fewer == few.chosen
    assert "Fewer are enough: nb with 10 terms by Chi-square, 0.890." in best.reason
    best_of_few = result_of({("chi2", "nb", 10): [0.9, 0.91], ("chi2", "nb", 1000): [0.9, 0.91]})
    assert best_of_few.recommended(fewest=False).fewer is None


def test_a_model_may_be_of_the_best_rather_than_of_the_fewest():
    texts, labels = corpus(n_words=90)
    given = {"scores": "chi2", "classifiers": "multinomial_nb", "ks": [2, 60], "cv": 3, "progress": False}
    result = ts.compare(texts, labels, **given)
    few, best = ts.train(texts, labels, **given), ts.train(texts, labels, best=True, **given)
    assert few.settings["f1_macro"] == result.recommended().mean
    assert best.settings["f1_macro"] == result.recommended(fewest=False).mean >= few.settings["f1_macro"]


def test_where_nothing_smaller_was_tried_nothing_is_said_of_it():
    choice = result_of({("chi2", "nb", 10): [0.8, 0.9], ("chi2", "nb", 1000): [0.8, 0.9]}).recommended()
    assert (choice.k, choice.fewer, choice.comparison_with_fewer) == (10, None, "")


def test_what_was_tried_here_and_there_loses_ties():
    curves = {("chi2", "nb", k): [0.8, 0.9] for k in (10, 100)}
    curves |= {("bns", "nb", k): [0.8, 0.9] for k in (10, 100)} | {("pairs", "nb", 100): [0.8, 0.9]}
    trials = result_of(curves).trials()
    assert trials.curve_means == pytest.approx([0.85] * 4 + [0.0])


def test_all_terms_for_reference_are_compared_with_and_not_recommended():
    curves = {("chi2", "nb", 10): [0.7, 0.71, 0.72], ("chi2", "nb", 1000): [0.9, 0.91, 0.93]}
    choice = result_of(curves, all_terms="reference", ks=[10]).recommended()
    assert (choice.k, choice.is_enough, choice.best.k) == (10, False, 1000)
    assert choice.against_all.mean == pytest.approx(-0.20333, abs=1e-5)
    assert "the best of what was asked for, but not enough: macro F1 0.710" in choice.reason
    assert "more than one standard error of the difference" in choice.reason


def test_the_best_of_what_was_asked_for_is_not_all_terms_where_these_are_for_reference():
    curves = {("chi2", "nb", 10): [0.7, 0.72], ("chi2", "nb", 50): [0.8, 0.81], ("chi2", "nb", 1000): [0.9, 0.91]}
    result = result_of(curves, all_terms="reference", ks=[10, 50])
    assert (result.recommended(fewest=False).k, result.recommended(fewest=False).best.k) == (50, 1000)


@pytest.mark.parametrize(("k", "words"), [(1, "1 term by Chi-square is"), (2, "2 terms by Chi-square are")])
def test_of_one_term_it_is_said_that_it_is_best(k, words):
    values = [0.8, 0.81]
    best = result_of({("chi2", "nb", k): values}).recommended()
    assert best.verdict.startswith(f"nb: {words} best, ")
    assert words.endswith(best.sufficiency.partition(" ")[0])
    curves = {("chi2", "nb", k): values, ("chi2", "nb", 1000): [0.95, 0.96]}
    poor = result_of(curves, all_terms="reference", ks=[k]).recommended()
    assert poor.verdict.startswith(f"nb: {words} the best of what was asked for, but not enough")


def test_of_one_classifier_that_is_asked_for_which_was_asked_for_of_all():
    curves = {("chi2", "nb", 10): [0.7], ("chi2", "nb", 1000): [0.9], ("chi2", "svm", 10): [0.8]}
    trials = result_of(curves, all_terms="reference", ks=[10]).trials()
    assert [one.k for one in trials.tried] == [10, 1000, 10]
    assert trials.of_classifier("nb").asked.tolist() == trials.asked[:2].tolist() == [True, False]


def test_curves_are_compared_at_the_numbers_of_terms_that_half_of_them_have():
    curves = {("a", "nb", 10): [0.5], ("a", "nb", 20): [0.7], ("b", "nb", 10): [0.6], ("c", "nb", 10): [0.4]}
    assert result_of(curves).trials().curve_means == [0.5, 0.5, 0.6, 0.4]
    both = {**curves, ("b", "nb", 20): [0.8]}  # now two of three have it, and what lacks it has no mean
    assert result_of(both).trials().curve_means == pytest.approx([0.6, 0.6, 0.7, 0.0, 0.7])


def test_what_is_given_up_against_all_terms_is_told():
    curves = {("chi2", "nb", 10): around(0.9, *NOISE), ("chi2", "nb", 100): around(0.905, *OTHER)}
    choice = result_of(curves | {("chi2", "nb", 1000): around(0.8, *OTHER)}).recommended()
    low, high = (format_difference(one) for one in (choice.against_all.low, choice.against_all.high))
    assert choice.comparison_with_all == (
        f"Against nb with all 1,000 terms (0.800): +0.100 (95 % interval {low} to {high})."
    )
    only = result_of({("chi2", "nb", 1000): [0.8, 0.9]}).recommended()
    assert (only.against_all, only.comparison_with_all) == (None, "")


def test_the_interval_is_told_where_all_terms_are_the_best():
    curves = {("chi2", "nb", 10): around(0.9, *NOISE), ("chi2", "nb", 1000): around(0.902, *OTHER)}
    choice = result_of(curves).recommended()
    assert (choice.k, choice.best, choice.every.k) == (10, choice.every, 1000)
    low, high = (format_difference(one) for one in (choice.against_all.low, choice.against_all.high))
    assert choice.against_all.low < 0 < choice.against_all.high
    assert f"95 % interval of the difference: {low} to {high}." in choice.reason


def test_a_notebook_shows_the_best_score_first():
    curves = {("bns", "nb", 10): [0.6, 0.62], ("chi2", "nb", 10): [0.9, 0.91], ("chi2", "nb", 50): [0.7, 0.72]}
    html = result_of(curves, all_terms="reference", ks=[10, 50])._repr_html_()
    assert 0 < html.index(">0.905<") < html.index(">0.61<")
    assert ">0.71<" not in html


def test_where_only_all_terms_were_tried_they_are_what_was_asked_for():
    trials = result_of({("chi2", "nb", 1000): [0.9, 0.91]}, all_terms="reference").trials()
    assert trials.asked.tolist() == [True]
    assert trials.of_classifier("nb").asked.tolist() == [True]


def test_terms_of_a_rule_are_not_all_terms():
    special = [{"name": "chi2, energy(0.5)", "score": "chi2", "rule": "energy(0.5)"}]
    curves = {("chi2, energy(0.5)", "nb", 1000): [0.9, 0.91], ("all terms", "nb", 1000): [0.8, 0.81]}
    choice = result_of(curves, contenders=special, all_terms="reference").recommended()
    assert (choice.score, choice.is_all) == ("chi2, energy(0.5)", False)
    assert choice.every.score == "all terms"
    assert choice.against_all.mean == pytest.approx(0.1)


@pytest.mark.parametrize(("n_terms", "edge"), [(1000, True), (250, False), (240, False), (100, False)])
def test_a_best_at_the_end_of_the_numbers_tried_is_said_to_be_one(n_terms, edge):
    curves = {("chi2", "nb", 10): [0.7, 0.72], ("chi2", "nb", 100): [0.9, 0.91]}
    curves |= {("chi2", "nb", n_terms): [0.85, 0.86]} if n_terms > 100 else {}
    choice = result_of(curves, n_terms=n_terms, ks=[10, 100]).recommended()
    assert choice.is_at_edge is edge
    assert ("more than 100 terms may do better" in choice.reason) is edge


def test_what_was_lucky_in_one_split_does_not_count():
    lucky, steady = [0.5, 0.5, 0.99], [0.65, 0.65, 0.65]
    choice = result_of({("a", "nb", 10): lucky, ("b", "nb", 10): steady}).recommended()
    assert (choice.score, choice.mean) == ("a", pytest.approx(0.66333, abs=1e-5))
    assert choice.reselected.mean == pytest.approx((0.5 + 0.5 + 0.65) / 3)
    assert "in turn: 10 terms, macro F1 0.550 on the split left out." in choice.stability


@pytest.mark.parametrize(
    ("noise", "said"), [(0.001, "are enough"), (0.012, "are probably enough"), (0.05, "may be enough")]
)
def test_enough_is_said_as_surely_as_it_is(noise, said):
    shift = 0.0005 if said == "are enough" else 0.004 if "probably" in said else 0.015
    best = [0.9, 0.9, 0.9, 0.9, 0.9]
    few = [0.9 - shift + noise * sign for sign in (-1, 1, 0, -1, 1)]
    choice = result_of({("a", "nb", 1000): best, ("a", "nb", 10): few}).recommended()
    assert choice.k == 10
    assert f"10 terms by a {said}: macro F1" in choice.reason


def test_it_is_said_how_many_terms_are_chosen_without_one_of_the_splits():
    many, few = [0.9] * 4, [0.88, 0.879, 0.881, 0.97]
    result = result_of({("a", "nb", 1000): many, ("a", "nb", 10): few})
    again = result.recommended().reselected
    assert (again.fewest, again.most) == (10, 1000)  # few terms are best by the last split alone
    assert again.mean == pytest.approx((0.88 + 0.879 + 0.881 + 0.9) / 4)
    assert "10 to 1,000 terms" in result.recommended().reason
    assert result.recommended(fewest=False).reselected == again


@pytest.mark.parametrize(
    ("repeats", "folds", "known", "ratio"),
    [(1, 4, None, 1 / 3), (2, 4, None, 1 / 3), (1, 2, None, 1.0), (1, 1, None, 1.0), (1, 4, 0.2, 0.2), (1, 4, 0, 0.0),
     (1, 4, -0.1, 1 / 3), (1, 4, math.inf, 1 / 3)],
)  # fmt: skip
def test_the_ratio_of_test_documents_is_that_of_the_folds_where_it_is_not_known(repeats, folds, known, ratio):
    rows = [(repeat, fold, "a", "nb", 10, "", "f1_macro", 0.5) for repeat in range(repeats) for fold in range(folds)]
    table = pa.table(dict(zip(SCHEMA.names, zip(*rows, strict=True), strict=True)), schema=SCHEMA)
    found = Comparison(table, {"n_splits": len(rows), "test_ratio": known}, {}).trials()
    assert found.ratio == pytest.approx(ratio)


def test_a_loss_that_is_as_likely_as_not_is_probably_none():
    result = result_of({("a", "nb", 1000): [0.75, 0.75], ("a", "nb", 10): [0.25, 0.75]})
    choice = result.recommended(margin=0.25)
    assert choice.against_best.worse == 0.5
    assert choice.sufficiency == "are probably enough"


def test_a_loss_of_one_in_twenty_is_none():
    choice = result_of({("a", "nb", 1000): [0.75, 0.75], ("a", "nb", 10): [0.25, 0.75]}).recommended()
    for worse, said in ((0.05, "are enough"), (0.051, "are probably enough")):
        assert replace(choice, against_best=choice.against_best._replace(worse=worse)).sufficiency == said


def test_within_the_margin_is_enough_where_one_split_gives_no_probability():
    choice = result_of({("a", "nb", 1000): [0.9], ("a", "nb", 10): [0.895]}).recommended()
    assert (choice.k, choice.against_best.worse) == (10, None)
    assert choice.sufficiency == "are enough"


def test_of_as_few_terms_those_with_the_highest_mean_are_taken():
    choice = result_of({("a", "nb", 10): [0.9] * 4, ("b", "nb", 10): [0.8, 0.99, 0.85, 0.9]}).recommended()
    assert choice.score == "a"


def test_the_probability_is_that_of_a_loss_beyond_the_margin():
    best, few = np.array(around(0.9, *NOISE)), np.array(around(0.895, *OTHER))
    result = result_of({("chi2", "nb", 1000): best, ("chi2", "nb", 10): few}, margin=0.02)
    expected = paired_difference(few, best, ratio=RATIO, margin=0.02)
    assert result.recommended().against_best == expected
    assert result.recommended(margin=0).against_best.worse > expected.worse
    assert "it is worse by more than 0.02" in result.recommended().reason


def test_too_few_documents_are_too_little_to_say():
    texts = ["cheap pills", "buy pills", "noon meeting", "lunch at noon"] * 6
    labels = ["spam", "spam", "ham", "ham"] * 6
    few = ts.compare(texts[:20], labels[:20], scores=["chi2"], classifiers=["multinomial_nb"], ks=[2], cv=3)
    assert few.recommended().small_class is None
    less = ts.compare(texts[:18], labels[:18], scores=["chi2"], classifiers=["multinomial_nb"], ks=[2], cv=3)
    assert less.recommended().small_class == ("ham", 8, 10, None)
    assert less.recommended().reason.startswith("Too little to say: class 'ham' has 8 documents; with 10 of each class")
    part = ts.compare(texts, labels, scores=["chi2"], classifiers=["multinomial_nb"], ks=[2], cv=3, sample=12)
    assert "documents in the sample of 12" in part.recommended().warning
    more = ts.compare(texts, labels, scores=["chi2"], classifiers=["multinomial_nb"], ks=[2], cv=12)
    assert more.recommended().small_class is None


def test_without_a_small_class_nothing_is_warned_of():
    choice = result_of({("chi2", "nb", 10): [0.8, 0.9], ("chi2", "nb", 1000): [0.8, 0.9]}).recommended()
    assert (choice.warning, choice.loss, choice.stability) == ("", "", "")
    for compared, sample in ((None, None), (0, None), (4, 4), (10, None)):
        known = {"small_classes": {"ham": 3}, "n_docs": 10, "n_compared": compared, "cv": 2}
        choice = result_of({("chi2", "nb", 10): [0.8, 0.9]}, **known).recommended()
        assert choice.small_class.sample == sample
    choice = result_of({("chi2", "nb", 10): [0.8, 0.9], ("chi2", "nb", 1000): [0.8, 0.9]}).recommended()
    assert (choice.small_class, choice.n_small) == (None, 0)


# The grid


def corpus(n_docs=60, n_words=3000, length=300, seed=0):
    rng = np.random.default_rng(seed)
    labels = ["sea" if i % 2 else "sport" for i in range(n_docs)]
    texts = []
    for label in labels:
        first = 0 if label == "sea" else n_words // 3
        words = rng.integers(first, first + 2 * n_words // 3, length)
        texts.append(" ".join(f"w{word}" for word in words))
    return texts, labels


QUICK = {"scores": ["chi2"], "classifiers": ["multinomial_nb"], "cv": 3, "pairs": "no"}


def test_all_terms_are_always_tried():
    texts, labels = corpus(n_words=90)
    result = ts.compare(texts, labels, **QUICK, ks=[5, 10])
    n_terms = result.counts.n_terms
    assert result.ks == [5, 10, n_terms]
    assert result.settings["ks"] == [5, 10]
    assert result.recommended().k in (5, 10)
    assert result.recommended().every.k == n_terms
    asked = ts.compare(texts, labels, **QUICK, ks=[5, 10, "all"])
    assert asked.table == result.table
    assert [one.is_all for one in asked.trials().tried] == [False, False, True]


def test_numbers_beyond_the_vocabulary_are_one_column():
    texts, labels = corpus(n_words=90)
    result = ts.compare(texts, labels, **QUICK)
    assert result.ks == [10, 20, 50, result.counts.n_terms]
    limited = ts.compare(texts, labels, **QUICK, min_df=40)
    assert max(limited.ks) == int((limited.counts.term_df >= 40).sum()) < result.counts.n_terms


def test_all_terms_are_the_same_for_every_score():
    texts, labels = corpus(n_words=90)
    options = {**QUICK, "scores": ["chi2", "bns", "gu"], "classifiers": ["linear_svm", "multinomial_nb"]}
    rows = ts.compare(texts, labels, **options, ks=[5]).trials("accuracy")
    for model in options["classifiers"]:
        places = [i for i, one in enumerate(rows.tried) if one.is_all and one.classifier == model]
        assert len(places) == 3
        assert (rows.values[:, places] == rows.values[:, places[:1]]).all()


def test_the_grid_grows_while_the_best_stands_at_its_end(tmp_path):
    texts, labels = corpus(n_docs=240, n_words=9000, length=60)
    result = ts.compare(texts, labels, **QUICK, journal=tmp_path / "study")
    n_terms = result.settings["n_terms"]
    best = result.recommended().best
    assert n_terms > 5000
    assert result.recommended().is_at_edge is False
    grown = [k for k in result.ks if k in GROWTH]
    assert grown == [5000]
    assert best.k >= 2000
    again = ts.compare(texts, labels, **QUICK, journal=tmp_path / "study", margin=0.05)  # the margin makes no trials
    assert again.table == result.table
    assert again.recommended().margin == 0.05
    fixed = ts.compare(texts, labels, **QUICK, ks=[1000, 2000])
    assert fixed.ks == [1000, 2000, n_terms]


def test_steps_of_growth_are_no_larger_than_those_of_an_edge():
    assert GROWTH[:4] == (5000, 10_000, 20_000, 50_000)
    assert max(b / a for a, b in zip((2000, *GROWTH), GROWTH, strict=False)) == 2.5


# Numbers


@given(st.floats(0, 1))
def test_only_one_is_one_and_only_zero_is_zero(value):
    shown = format_measure(value)
    if 1e-11 < value < 1 - 1e-11:
        assert 0 < float(shown) < 1
    assert float(shown) == pytest.approx(value, abs=0.00051)
    assert format_difference(-value) == ("0" if not value else f"-{shown}")


# What the search adds


def order_matters(n=120):
    """Two classes that have the same words, and different pairs of them."""
    rng = np.random.default_rng(0)
    texts, labels = [], []
    for i in range(n):
        words = [f"w{j}" for j in rng.integers(0, 60, 12)]
        pair = ["not", "good"] if i % 2 else ["good", "not"]
        texts.append(" ".join([*words[:6], *pair, *words[6:]]))
        labels.append("bad" if i % 2 else "well")
    return texts, labels


def test_pairs_are_tried_where_they_may_pay_and_a_model_has_them():
    texts, labels = order_matters()
    options = {"scores": "chi2", "classifiers": "multinomial_nb", "cv": 3}
    result = ts.compare(texts, labels, **options)
    choice = result.recommended()
    assert choice.score == "chi2 on words and pairs"
    assert result.asked_scores == ["chi2"]
    assert Fact("score", "1") in make_tiles(ReportData.from_result(result))
    assert choice.mean > choice.every.mean + 0.2
    assert choice.against_all.low > 0
    model = ts.train(texts, labels, **options)
    assert model.settings["f1_macro"] == choice.mean
    assert model.settings["analyzer"]["ngram_range"] == [1, 2] or model.settings["analyzer"]["ngram_range"] == (1, 2)
    assert "good not" in model.vectorizer.vocabulary_
    assert np.mean(np.array(model.predict(texts)) == labels) > 0.9
    without = ts.compare(texts, labels, **options, pairs="no")
    assert without.scores == ["chi2"]
    fixed = ts.compare(texts, labels, **options, ks=[10])
    assert fixed.scores == ["chi2"]
    forced = ts.compare(texts, labels, **options, ks=[10], pairs="yes")
    assert forced.recommended().score == "chi2 on words and pairs"


def test_characters_are_tried_where_there_are_no_spaces():
    rng = np.random.default_rng(1)
    signs = [chr(0x4E00 + i) for i in range(40)]
    texts, labels = [], []
    for i in range(60):
        mine = signs[:25] if i % 2 else signs[15:]
        texts.append("".join(rng.choice(mine, 30)))
        labels.append("a" if i % 2 else "b")
    with pytest.warns(UserWarning, match="no spaces between words"):
        result = ts.compare(texts, labels, scores=["chi2"], classifiers=["multinomial_nb"], cv=3)
    choice = result.recommended()
    assert choice.score == "chi2 on characters"
    assert choice.mean > 0.9 > choice.every.mean
    assert choice.k < result.settings["representations"]["characters"]["n_terms"]  # how few is asked there, too
    assert choice.chosen.terms.endswith("by Chi-square on characters")


def test_class_weights_are_tried_where_classes_differ_in_size(tmp_path):
    rng = np.random.default_rng(2)
    labels = ["rare" if i % 6 == 0 else "usual" for i in range(180)]
    texts = [" ".join(f"w{j}" for j in rng.integers(0, 40 if label == "usual" else 50, 8)) for label in labels]
    result = ts.compare(texts, labels, cv=3, pairs="no", journal=tmp_path / "study")
    balanced = 'linear_svm(class_weight="balanced")'
    assert balanced in result.classifiers
    assert balanced not in result.asked_classifiers
    neighbours = {"linear_svm(C=0.25)", "linear_svm(C=4)", "multinomial_nb(alpha=0.1)"}
    assert neighbours <= set(result.classifiers)
    best = result.recommended().best.classifier
    assert any(one.is_all for one in result.trials().tried if one.classifier == best)  # the best parameters, with all
    again = ts.compare(texts, labels, cv=3, pairs="no", journal=tmp_path / "study")
    assert again.table == result.table
    model = ts.train(texts, labels, cv=3, pairs="no")
    assert (model.settings["classifier"], model.settings["f1_macro"]) == (
        result.recommended().classifier,
        result.recommended().mean,
    )


def test_a_model_may_be_judged_on_a_given_split():
    texts, labels = corpus(n_words=90)
    parts = ["test" if i % 3 == 0 else "train" for i in range(len(texts))]
    table = pa.table({"text": texts, "label": labels, "split": parts})
    model = ts.train(ts.read(table), cv="split", scores="chi2", classifiers="multinomial_nb", ks=20)
    assert model.settings["n_splits"] == 1
    assert model.settings["standard_error"] is None
    assert "one split has no standard error" in model.settings["reason"] or model.settings["against_all"] is None


def test_a_fit_that_does_not_converge_is_said_in_our_words(recwarn):
    texts, labels = corpus(n_words=90)
    options = {"scores": ["chi2"], "classifiers": ["logistic_regression(max_iter=1)"], "ks": [20], "cv": 3}
    result = ts.compare(texts, labels, **options)
    assert not [one for one in recwarn if "converge" in str(one.message)]
    assert any("stopped before they had converged" in note for note in result.settings["notes"])


def test_all_terms_are_kept_on_request():
    texts, labels = corpus(n_words=90)
    model = ts.train(texts, labels, ks="all", classifiers="multinomial_nb", cv=3)
    assert model.settings["rule"] == 'top("all")'
    assert model.settings["n_terms"] == ts.count(texts, labels).n_terms


def test_a_rule_is_compared_with_all_terms():
    texts, labels = corpus(n_words=90)
    model = ts.train(texts, labels, scores="chi2", rule="top(5)", classifiers="multinomial_nb", cv=3)
    assert model.settings["n_terms"] == 5
    assert model.settings["against_all"]["mean"] < 0

"""scikit-learn's own checks of estimators, on ours, with no expected failure."""

import warnings

import pytest
from sklearn.exceptions import SkipTestWarning
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from termsieve.estimators import TermSelector, TermVectorizer

SELECTORS = [
    TermSelector(k=2),
    TermSelector("chi2", rule="percentile(50)"),
    TermSelector("info_gain", rule="energy(0.9)", aggregate="max"),
    TermSelector(rule='stages("ocfs", "percentile(90)", "info_gain", 1)'),
]
VECTORIZERS = [TermVectorizer(), TermVectorizer(score_func="gu", k=2), TermVectorizer(weighting="tfidf")]


def checks_of_text():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkipTestWarning)  # it has few checks for text, and says so
        return [pair for one in VECTORIZERS for pair in estimator_checks_generator(one)]


@parametrize_with_checks(SELECTORS)
def test_an_estimator_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize(("estimator", "check"), checks_of_text())
def test_an_estimator_for_text(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore:k=1000 is more than:UserWarning")
@parametrize_with_checks([TermSelector()])
def test_the_selector_as_it_comes(estimator, check):
    check(estimator)


def test_the_checks_are_really_run():
    names = {check.func.__name__ for _, check in estimator_checks_generator(TermSelector(k=2))}
    assert {
        "check_positive_only_tag_during_fit",
        "check_requires_y_none",
        "check_transformer_general",
        "check_estimator_sparse_matrix",
        "check_fit_score_takes_y",
        "check_estimators_pickle",
        "check_n_features_in_after_fitting",
    } <= names
    assert len(names) > 40


def test_tags():
    tags = get_tags(TermSelector())
    assert tags.target_tags.required
    assert tags.input_tags.positive_only
    assert tags.input_tags.sparse
    assert get_tags(TermVectorizer()).input_tags == get_tags(CountVectorizer()).input_tags


def test_every_parameter_of_countvectorizer_is_there_with_its_default():
    theirs, ours = CountVectorizer().get_params(), TermVectorizer().get_params()
    assert {name: ours[name] for name in theirs} == theirs

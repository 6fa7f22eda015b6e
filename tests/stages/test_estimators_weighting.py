import math

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer

import termsieve as ts
from termsieve.errors import OptionError
from termsieve.estimators import TermVectorizer
from termsieve.estimators.weighting import parse_weighting

DOCS = ["good good film", "bad film", "good play film", "bad bad bad night film", ""]
SIDES = ["pos", "neg", "pos", "neg", "pos"]


def by_hand(weight, log_tf=False):
    """tf times weight, divided by the length of the row."""
    X = TermVectorizer().fit_transform(DOCS).toarray().astype(float)
    tf = np.where(X > 0, 1 + np.log(np.maximum(X, 1)), 0) if log_tf else X
    rows = tf * weight
    length = np.sqrt((rows**2).sum(axis=1, keepdims=True))
    return np.divide(rows, length, out=np.zeros_like(rows), where=length > 0)


@pytest.fixture(scope="module")
def df():
    return (TermVectorizer().fit_transform(DOCS).toarray() > 0).sum(axis=0)


def test_tfidf_is_that_of_scikit_learn():
    for options in ({}, {"binary": True}, {"ngram_range": (1, 2), "min_df": 2}):
        ours, theirs = TermVectorizer(weighting="tfidf", **options), TfidfVectorizer(**options)
        assert np.allclose(ours.fit_transform(DOCS).toarray(), theirs.fit_transform(DOCS).toarray(), atol=1e-15)
        assert np.allclose(ours.transform(DOCS[::2]).toarray(), theirs.transform(DOCS[::2]).toarray(), atol=1e-15)
        assert np.allclose(ours.weights_, theirs.idf_, atol=1e-15)
    ours, theirs = TermVectorizer(weighting="tfidf_log"), TfidfVectorizer(sublinear_tf=True)
    assert np.allclose(ours.fit_transform(DOCS).toarray(), theirs.fit_transform(DOCS).toarray(), atol=1e-15)


def test_tfidf_of_the_imbalanced_text_paper(df):
    ours = TermVectorizer(weighting="tfidf_lp")
    assert np.allclose(ours.fit_transform(DOCS).toarray(), by_hand(np.log(5 / df + 0.1)))
    everywhere = TermVectorizer(weighting="tfidf_lp").fit(["a1 b1", "a1"])
    assert math.isclose(everywhere.weights_[0], math.log(1.1))


def test_ltc_of_the_smart_system(df):
    ours = TermVectorizer(weighting="tfidf_ltc").fit_transform(DOCS).toarray()
    assert np.allclose(ours, by_hand(np.log(5 / df), log_tf=True))


@pytest.mark.parametrize("name", ["bns", "chi2", "relevance_freq", "bns(floor=0.01)", "info_gain"])
def test_a_score_as_weight(name):
    weight = ts.score(ts.count(DOCS, SIDES), name).overall()
    ours = TermVectorizer(weighting=f"tf.{name}")
    assert np.allclose(ours.fit_transform(DOCS, SIDES).toarray(), by_hand(weight))
    assert ours.weights_.tolist() == weight.tolist()
    assert ours.transform(["unknown words only"]).nnz == 0


@pytest.mark.parametrize("name", ["count", "binary"])
def test_whole_numbers_stay_whole(name):
    X = TermVectorizer(weighting=name).fit_transform(DOCS)
    assert X.dtype == np.int64
    assert X.max() == (3 if name == "count" else 1)
    assert not hasattr(TermVectorizer(weighting=name).fit(DOCS), "weights_")


def test_weights_are_floats_of_the_type_asked_for():
    assert TermVectorizer(weighting="tfidf").fit_transform(DOCS).dtype == np.float64
    assert TermVectorizer(weighting="tfidf", dtype=np.float32).fit_transform(DOCS).dtype == np.float32


def test_weights_are_those_of_the_selected_columns():
    whole = TermVectorizer(weighting="tfidf").fit(DOCS)
    some = TermVectorizer(weighting="tfidf", score_func="chi2", k=3).fit(DOCS, SIDES)
    for term, column in some.vocabulary_.items():
        assert some.weights_[column] == whole.weights_[whole.vocabulary_[term]]


@pytest.mark.parametrize("name", ["tfidf", "tfidf_log", "tfidf_ltc", "tfidf_lp", "tf.chi2"])
def test_a_given_term_that_does_not_occur_has_a_finite_weight(name):
    ours = TermVectorizer(weighting=name, vocabulary=["good", "zebra"]).fit(DOCS, SIDES)
    assert np.isfinite(ours.weights_).all()
    assert name in ("tfidf", "tfidf_log") or ours.weights_[1] == 0


def test_a_score_that_is_infinite_is_no_weight():
    infinite = next(name for name, one in ts.SCORES.items() if np.isinf(_overall(name)).any() and one.infinite)
    with pytest.raises(OptionError, match="which is not a weight"):
        TermVectorizer(weighting=f"tf.{infinite}").fit(DOCS, SIDES)


def _overall(name):
    return ts.score(ts.count(DOCS, SIDES), name).overall()


def test_applying_changes_neither_rows_nor_order():
    X = sparse.csr_array(np.array([[0, 2, 1], [0, 0, 0]]))
    weighted = parse_weighting("tfidf_ltc").apply(X.copy(), np.array([1.0, 2.0, 0.0]), np.int64)
    assert weighted.toarray().tolist() == [[0, 1, 0], [0, 0, 0]]


@pytest.mark.parametrize("wrong", ["idf", "tf", None, 3, "tf."])
def test_an_unknown_weighting_is_explained(wrong):
    with pytest.raises(OptionError, match=r"Unknown|not the spelling"):
        parse_weighting(wrong)

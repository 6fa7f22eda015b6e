"""What the estimators tell of their choice, the frames they make, and scikit-learn's functions in their place."""

import functools
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import skops.io
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectKBest, chi2, f_classif, f_regression, mutual_info_classif
from sklearn.pipeline import make_pipeline

import termsieve as ts
from termsieve.errors import InputError, MissingExtraError, OptionError
from termsieve.estimators import TermSelector, TermVectorizer, as_score_func, output

DOCS = ["good film", "good good play", "the bad film", "bad night", "good night", "bad bad play", "the plot"]
SIDES = ["pos", "pos", "neg", "neg", "pos", "neg", "pos"]
TYPES = ["termsieve.estimators.vectorizer.TermVectorizer", "termsieve.selection.selection.Selection"]


# Scores, p-values and support


@pytest.mark.parametrize(
    ("score", "aggregate"),
    [("chi2", None), ("chi2", "max"), ("gu", None), ("fisher_exact", "sum"), ("info_gain", None), ("bns", "mean")],
)
@pytest.mark.parametrize("rule", ["top(3)", "round_robin(4)", "per_class(1)", "threshold(-9)"])
def test_each_column_has_its_score(score, rule, aggregate):
    one = TermVectorizer(score_func=score, rule=rule, aggregate=aggregate).fit(DOCS, SIDES)
    counts = ts.count(DOCS, SIDES)
    scores = ts.score(counts, score)
    expected = dict(zip(counts.terms, scores.overall(aggregate), strict=True))
    terms = one.get_feature_names_out()
    assert one.scores_.tolist() == [expected[term] for term in terms]
    if scores.score.pvalue is None:
        assert one.pvalues_ is None
    else:
        expected = dict(zip(counts.terms, scores.pvalues(), strict=True))
        assert one.pvalues_.tolist() == [expected[term] for term in terms]
    assert counts.terms[one.get_support()].tolist() == terms.tolist()
    assert one.get_support(indices=True).tolist() == np.flatnonzero(one.get_support()).tolist()


def test_support_counts_the_terms_that_pruning_left():
    one = TermVectorizer(score_func="chi2", k=2, min_df=2).fit(DOCS, SIDES)
    left = ts.count(DOCS, SIDES).prune(min_df=2)
    assert len(one.get_support()) == left.n_terms < ts.count(DOCS, SIDES).n_terms
    assert left.terms[one.get_support()].tolist() == ["bad", "good"] == list(one.get_feature_names_out())


def test_a_rule_that_brings_scores_shows_the_last():
    rule = 'stages("ocfs", 6, "info_gain", 2)'
    one = TermVectorizer(rule=rule).fit(DOCS, SIDES)
    counts = ts.count(DOCS, SIDES)
    assert one.scores_.tolist() == ts.score(counts, "info_gain").overall()[one.get_support()].tolist()
    assert one.selection_ == ts.select(counts, rule)


def test_without_a_score_every_term_is_supported_and_none_is_scored():
    one = TermVectorizer(score_func="chi2", k=2).fit(DOCS, SIDES)
    one.set_params(score_func=None, k=None).fit(DOCS)
    assert one.get_support().tolist() == [True] * len(one.vocabulary_)
    assert one.get_support(indices=True).tolist() == list(range(len(one.vocabulary_)))
    assert not any(hasattr(one, name) for name in ("scores_", "pvalues_", "selection_"))
    one.set_params(min_df=2).fit(DOCS)
    assert not hasattr(one, "scores_")
    with pytest.raises(NotFittedError):
        TermVectorizer(score_func="chi2").get_support()


def test_batches_score_anew():
    one = TermVectorizer(score_func="chi2", k=3).partial_fit(DOCS[:4], SIDES[:4]).partial_fit(DOCS[4:], SIDES[4:])
    whole = TermVectorizer(score_func="chi2", k=3).fit(DOCS, SIDES)
    assert one.scores_.tolist() == whole.scores_.tolist()
    assert one.pvalues_.tolist() == whole.pvalues_.tolist()


def test_the_selector_has_a_p_value_for_each_column():
    X = TermVectorizer().fit_transform(DOCS)
    one = TermSelector("chi2", k=2).fit(X, SIDES)
    scores = ts.score(ts.Counts.from_matrix(X, SIDES), "chi2")
    assert one.pvalues_.tolist() == scores.pvalues().tolist()
    assert one.pvalues_.shape == one.scores_.shape == (X.shape[1],)
    assert TermSelector("info_gain", k=2).fit(X, SIDES).pvalues_ is None


# Frames


@pytest.mark.parametrize("options", [{}, {"score_func": "chi2", "k": 3}, {"weighting": "tfidf"}, {"dtype": np.float32}])
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_frame_has_the_matrix_and_the_terms(library, options):
    matrix = TermVectorizer(**options).fit_transform(DOCS, SIDES)
    one = TermVectorizer(**options).set_output(transform=library)
    for frame in (one.fit_transform(DOCS, SIDES), one.transform(raw_documents=DOCS), one.transform(iter(DOCS))):
        assert isinstance(frame, pd.DataFrame if library == "pandas" else pl.DataFrame)
        assert list(frame.columns) == one.get_feature_names_out().tolist()
        assert np.array_equal(frame.to_numpy(), matrix.toarray())
        assert frame.to_numpy().dtype == matrix.dtype


def test_the_rows_of_a_pandas_frame_are_named_as_the_documents():
    texts = pd.Series(DOCS, index=[f"d{i}" for i in range(len(DOCS))])
    one = TermVectorizer().set_output(transform="pandas")
    assert one.fit_transform(texts).index.tolist() == one.transform(texts).index.tolist() == texts.index.tolist()
    assert one.transform(DOCS).index.tolist() == list(range(len(DOCS)))


def test_what_was_set_is_kept_and_can_be_set_back():
    one = TermVectorizer(score_func="chi2", k=2).set_output(transform="pandas")
    assert one.set_output() is one.set_output(transform=None)
    assert isinstance(clone(one).fit_transform(DOCS, SIDES), pd.DataFrame)
    one.fit(DOCS, SIDES)
    for again in (pickle.loads(pickle.dumps(one)), skops.io.loads(skops.io.dumps(one), trusted=TYPES)):
        assert again.transform(DOCS).equals(one.transform(DOCS))
        assert again.scores_.tolist() == one.scores_.tolist()
        assert again.pvalues_.tolist() == one.pvalues_.tolist()
    assert sparse.issparse(one.set_output(transform="default").transform(DOCS))


def test_a_pipeline_sets_its_steps():
    pipe = make_pipeline(TermVectorizer(), TermSelector("chi2", k=2)).set_output(transform="pandas")
    assert pipe.fit_transform(DOCS, SIDES).columns.tolist() == ["bad", "good"]


def test_what_is_set_for_all_of_scikit_learn_makes_no_frames():
    """As with CountVectorizer: a corpus would fill the memory where nobody asked this vectorizer for a frame."""
    with config_context(transform_output="pandas"):
        assert sparse.issparse(TermVectorizer().fit_transform(DOCS))
        assert isinstance(TermVectorizer().set_output(transform="polars").fit_transform(DOCS), pl.DataFrame)


def test_a_frame_that_is_too_large_is_refused(monkeypatch):
    one = TermVectorizer().set_output(transform="pandas")
    frame = one.fit_transform(DOCS)
    monkeypatch.setattr(output, "MAX_FRAME_BYTES", frame.to_numpy().nbytes)
    one.transform(DOCS)
    with pytest.raises(
        InputError, match=r"8 documents and 7 terms.*score_func and k.*set_output\(transform='default'\)"
    ):
        one.transform([*DOCS, "more"])


def test_a_container_that_is_not_known_or_not_there(monkeypatch):
    with pytest.raises(OptionError, match="'default', 'pandas' or 'polars', not 'arrow'"):
        TermVectorizer().set_output(transform="arrow")
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(MissingExtraError, match=r"set_output\(transform='pandas'\) needs.*termsieve\[pandas\]"):
        TermVectorizer().set_output(transform="pandas").fit_transform(DOCS)


# Functions of scikit-learn


@pytest.mark.parametrize(
    ("function", "write"),
    [
        (chi2, "Write 'chi2'"),
        (f_classif, "Write 'bss_wss'"),
        (mutual_info_classif, "Write 'info_gain'"),
        (functools.partial(mutual_info_classif, random_state=0), "Write 'info_gain'"),
        (f_regression, "Write the spelling of a score"),
        (lambda X, y: X, "Write the spelling of a score"),
        (as_score_func("chi2"), "Write the spelling of a score, such as 'chi2'"),
    ],
)
@pytest.mark.parametrize(
    "use",
    [
        lambda f: TermVectorizer(score_func=f, k=2).fit(DOCS, SIDES),
        lambda f: TermSelector(f, k=2).fit([[1, 0], [0, 1]], ["a", "b"]),
        lambda f: ts.score(ts.count(DOCS, SIDES), f),
        as_score_func,
    ],
)
def test_a_function_of_x_and_y_is_refused_with_what_to_write(function, write, use):
    with pytest.raises(OptionError, match="function of \\(X, y\\)") as caught:
        use(function)
    assert write in str(caught.value)
    assert "make_pipeline(TermVectorizer(), SelectKBest(" in str(caught.value)


def test_what_the_refusal_says_of_the_scores_is_so():
    X = TermVectorizer().fit_transform(DOCS * 3)
    y = (SIDES + ["mixed"] * 7 + SIDES)[: X.shape[0]]
    counts = ts.Counts.from_matrix(X, y)
    n, m = X.shape[0], 3
    np.testing.assert_allclose(f_classif(X, y)[0], ts.score(counts, "bss_wss").overall() * (n - m) / (m - 1))
    presence = (X > 0).astype(int)
    np.testing.assert_allclose(
        mutual_info_classif(presence, y, discrete_features=True), ts.score(counts, "info_gain").overall(), atol=1e-12
    )
    pipe = make_pipeline(TermVectorizer(), SelectKBest(chi2, k=2)).fit(DOCS, SIDES)
    assert pipe.get_feature_names_out().tolist() == ["bad", "good"]


def test_a_function_that_does_not_tell_its_parameters_is_not_taken_for_one():
    from termsieve.scores.parsing import refuse_matrix_function

    refuse_matrix_function(max)
    refuse_matrix_function(lambda t: t.tp)

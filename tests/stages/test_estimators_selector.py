import pickle
import warnings

import joblib
import numpy as np
import pandas as pd
import pytest
import skops.io
from hypothesis import given
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_selection import SelectFdr, SelectKBest, chi2
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MultiLabelBinarizer
from stages.test_aggregate import corpora, quick

import termsieve as ts
from termsieve.errors import InputError, OptionError
from termsieve.estimators import TermSelector, as_score_func
from termsieve.selection.rules import Energy, Top
from termsieve.selection.selection import select

TRUSTED = ["termsieve.estimators.selector.TermSelector", "termsieve.selection.selection.Selection"]
X = np.array([[1, 0, 2, 0], [1, 1, 0, 0], [0, 0, 3, 0], [0, 1, 0, 0]])
Y = ["a", "a", "b", "b"]


@pytest.fixture(scope="module")
def corpus():
    rng = np.random.default_rng(0)
    return rng.poisson(0.4, (60, 30)), np.array(["x", "y", "z"])[rng.integers(0, 3, 60)]


def chosen(selector):
    return selector.get_support(indices=True).tolist()


def test_it_selects_what_select_selects(corpus):
    data, y = corpus
    counts = ts.Counts.from_matrix(data, y)
    for rule in ("top(5)", "energy(0.5)", "round_robin(7)", 'union("chi2", "gu", k=6)', 'stages("ocfs", 9, "gu", 3)'):
        selector = TermSelector("chi2", rule=rule).fit(data, y)
        assert selector.selection_ == select(counts, rule, "chi2")
        assert chosen(selector) == sorted(selector.selection_.index)
        assert selector.transform(data).tolist() == data[:, chosen(selector)].tolist()


def test_the_scores_are_those_of_the_columns(corpus):
    data, y = corpus
    counts = ts.Counts.from_matrix(data, y)
    assert TermSelector("gu", k=3).fit(data, y).scores_.tolist() == ts.score(counts, "gu").overall().tolist()
    largest = TermSelector("chi2", k=3, aggregate="max").fit(data, y).scores_
    assert largest.tolist() == ts.score(counts, "chi2").overall("max").tolist()
    staged = TermSelector("chi2", rule='stages("ocfs", 9, "info_gain", 3)').fit(data, y)
    assert staged.scores_.tolist() == ts.score(counts, "info_gain").overall().tolist()


def test_a_score_is_a_spelling_a_record_or_a_function():
    by_name = TermSelector("bns(floor=0.001)", k=2).fit(X, Y)
    assert chosen(TermSelector(ts.SCORES["bns"].with_parameters(floor=0.001), k=2).fit(X, Y)) == chosen(by_name)
    assert chosen(TermSelector(lambda t: t.n_t, k=1).fit(X, Y)) == [0]


def test_dense_and_sparse_and_frames_give_the_same(corpus):
    data, y = corpus
    expected = chosen(TermSelector(k=4).fit(data, y))
    for kind in (sparse.csr_matrix, sparse.csc_array, sparse.coo_array):
        selector = TermSelector(k=4).fit(kind(data), y)
        assert chosen(selector) == expected
        assert sparse.issparse(selector.transform(kind(data)))
    named = [f"t{i:02d}" for i in range(30)]
    selector = TermSelector(k=4).set_output(transform="pandas").fit(pd.DataFrame(data, columns=named), y)
    assert chosen(selector) == expected
    assert selector.get_feature_names_out().tolist() == [named[i] for i in expected]
    frame = selector.transform(pd.DataFrame(data, columns=named))
    assert frame.columns.tolist() == [named[i] for i in expected]
    assert (frame.dtypes == np.int64).all()


def test_what_was_dropped_comes_back_as_zeros():
    selector = TermSelector("chi2", k=1).fit(X, Y)
    back = selector.inverse_transform(selector.transform(X))
    assert back.tolist() == (X * [1, 0, 0, 0]).tolist()
    assert np.array_equal(selector.inverse_transform(sparse.csr_matrix(selector.transform(X))).toarray(), back)


def test_several_labels_as_indicator_or_as_sets(corpus):
    data, _ = corpus
    rng = np.random.default_rng(1)
    sets = [[c for c in "xyz" if rng.random() < 0.5] for _ in data]
    indicator = MultiLabelBinarizer(classes=list("xyz")).fit_transform(sets)
    expected = chosen(TermSelector(k=5).fit(data, sets))
    assert chosen(TermSelector(k=5).fit(data, indicator)) == expected
    assert chosen(TermSelector(k=5).fit(data, sparse.csr_matrix(indicator))) == expected
    assert chosen(TermSelector(k=5).fit(data, [set(one) for one in sets])) == expected
    assert chosen(TermSelector(k=5).fit(data, np.array(sets, dtype=object))) == expected


@pytest.mark.parametrize("labels", [[0, 0, 1, 1], [0.0, 0.0, 1.0, 1.0], [False, False, True, True], pd.Series(Y)])
def test_labels_of_any_kind(labels):
    assert chosen(TermSelector("chi2", k=1).fit(X, labels)) == [0]


def test_a_column_of_labels_is_taken_with_a_warning():
    with pytest.warns(DataConversionWarning):
        assert chosen(TermSelector("chi2", k=1).fit(X, np.array(Y)[:, None])) == [0]


@quick
@given(corpora(several_labels=True))
def test_batches_give_what_the_whole_gives(corpus):
    data, labels = corpus
    whole = TermSelector("chi2", rule="percentile(50)").fit(data, labels)
    parts = TermSelector("chi2", rule="percentile(50)")
    for rows in np.array_split(np.arange(len(data)), 3):
        if len(rows):
            parts.partial_fit(data[rows], labels[rows])
    assert parts.counts_ == whole.counts_
    assert parts.selection_ == whole.selection_


def test_classes_may_arrive_later():
    selector = TermSelector("chi2", k=1).partial_fit(X[:2], Y[:2])
    with pytest.raises(NotFittedError):
        selector.transform(X)
    selector.partial_fit(X[2:], Y[2:])
    assert chosen(selector) == [0]
    assert chosen(selector.fit(X[:, ::-1], Y)) == [3]


def test_batches_have_the_same_columns():
    selector = TermSelector(k=1).partial_fit(X, Y)
    with pytest.raises(ValueError, match="X has 3 features, but TermSelector is expecting 4"):
        selector.partial_fit(X[:, :3], Y)


# Wrong input


@pytest.mark.parametrize(
    ("data", "labels", "message"),
    [
        (X * -1, Y, "Negative values in data passed to TermSelector: row 0, column 0 is -1"),
        (sparse.csr_matrix(X * -1), Y, "row 0, column 0 is -1"),
        (np.where(X, X, np.nan), Y, "contains NaN"),
        (X, None, "requires y to be passed"),
        (X, ["a"] * 4, "only one class"),
        (X, ["a", "b"], "X has 4 rows, but y has 2"),
        (X, np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 1, 0]]), "class 2 has no document"),
        (X, [0.0, np.nan, 1.0, 1.0], "y contains NaN"),
        (X, ["a", None, "b", "b"], "entry 1"),
        (X[0], Y, "Expected 2D array"),
    ],
)
def test_wrong_data_is_explained(data, labels, message):
    with pytest.raises(ValueError, match=message):
        TermSelector(k=1).fit(data, labels)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"score_func": "bms"}, "Unknown score 'bms'. Did you mean 'bns'"),
        ({"score_func": 3}, "A score is a spelling"),
        ({"k": -1}, "whole number, 0 or more, not -1"),
        ({"k": 2.5}, "whole number"),
        ({"rule": "tpo(3)"}, "Unknown rule 'tpo'"),
        ({"k": 2, "aggregate": "median"}, "Unknown aggregation"),
    ],
)
def test_wrong_parameters_are_found_by_fit(parameters, message):
    selector = TermSelector(**parameters)
    with pytest.raises(OptionError, match=message):
        selector.fit(X, Y)


def test_more_columns_than_there_are_is_all_with_a_warning():
    with pytest.warns(UserWarning, match="k=1000 is more than the 4 terms"):
        assert chosen(TermSelector().fit(X, Y)) == [0, 1, 2, 3]


def test_transform_needs_fit_and_the_same_columns():
    with pytest.raises(NotFittedError):
        TermSelector().transform(X)
    with pytest.raises(ValueError, match="3 features, but TermSelector is expecting 4"):
        TermSelector(k=1).fit(X, Y).transform(X[:, :3])


def test_documents_of_no_class_are_a_contrast_to_one_class():
    assert chosen(TermSelector("chi2", k=1).fit(X, [["a"], ["a"], [], []])) == [0]


# scikit-learn's selectors, re-told


def test_the_best_of_scikit_learn_are_ours_where_scores_agree(corpus):
    data, y = (corpus[0] > 0).astype(int), corpus[1]
    theirs = SelectKBest(as_score_func("chi2"), k=7).fit(data, y)
    assert theirs.get_support(indices=True).tolist() == chosen(TermSelector("chi2", k=7).fit(data, y))
    assert theirs.pvalues_.shape == (30,)
    assert SelectFdr(as_score_func("chi2"), alpha=0.9).fit(data, y).get_support().tolist() == (
        TermSelector("chi2", rule="fdr(0.9)").fit(data, y).get_support().tolist()
    )


def test_all_columns_and_none(corpus):
    data, y = corpus
    assert TermSelector(k="all").fit_transform(data, y).tolist() == data.tolist()
    selector = TermSelector(k=0).fit(data, y)
    assert not selector.get_support().any()
    with pytest.warns(UserWarning, match="No features were selected"):
        assert selector.transform(data).shape == (60, 0)


def test_exactly_k_with_ties_and_always_the_same_ones():
    tied = np.array([[0, 1, 1], [0, 0, 0], [0, 0, 0], [0, 1, 1]])
    labels = [0, 1, 0, 1]
    for k in range(4):
        assert TermSelector("chi2", k=k).fit(tied, labels).get_support().sum() == k
    equal = np.tile([[1], [0], [1], [0]], 2000)
    assert chosen(TermSelector("chi2", k=3).fit(equal, labels)) == [0, 1, 2]


def test_a_constant_column_is_never_the_better_one(corpus):
    data, y = corpus
    constant = np.hstack([np.ones((60, 1), int), data])
    for score in ("chi2", "info_gain", "gu"):
        assert 0 not in chosen(TermSelector(score, k=20).fit(constant, y))


def test_rule_wins_over_k(corpus):
    data, y = corpus
    assert len(TermSelector(k=3, rule="top(8)").fit(data, y).selection_) == 8


# Among others


def test_in_a_pipeline_and_a_grid_search():
    texts = ["good film", "good play", "fine film", "bad film", "bad night", "dull night"] * 4
    labels = (["pos"] * 3 + ["neg"] * 3) * 4
    pipeline = make_pipeline(CountVectorizer(), TermSelector(), MultinomialNB())
    grid = {"termselector__score_func": ["gu", "chi2", "info_gain"], "termselector__k": [2, np.int64(4)],
            "termselector__rule": [None, "round_robin(3)"]}  # fmt: skip
    search = GridSearchCV(pipeline, grid, cv=3, error_score="raise").fit(texts, labels)
    assert len(search.cv_results_["params"]) == 12
    assert search.best_score_ > 0.8
    assert search.best_estimator_[:-1].get_feature_names_out().shape[0] in (2, 3, 4)


def test_on_some_columns_of_a_frame():
    frame = pd.DataFrame(X, columns=list("pqrs"))
    transformer = ColumnTransformer([("few", TermSelector("chi2", k=1), ["p", "q"])], remainder="passthrough")
    assert transformer.fit(frame, Y).get_feature_names_out().tolist() == ["few__p", "remainder__r", "remainder__s"]


def test_parameters_stay_as_they_were_given():
    selector = TermSelector(ts.SCORES["gu"], k=7, rule=Top(2))
    before = selector.get_params()
    assert clone(selector.fit(X, Y)).get_params() == before
    assert selector.get_params() == before
    assert not hasattr(clone(selector), "selection_")


def test_kept_with_pickle_joblib_and_skops(tmp_path, corpus):
    data, y = corpus
    selector = TermSelector("chi2", rule="round_robin(5)").partial_fit(data, y)
    joblib.dump(selector, tmp_path / "selector.joblib")
    stored = skops.io.dumps(selector)
    assert set(skops.io.get_untrusted_types(data=stored)) <= set(TRUSTED)
    for again in (
        pickle.loads(pickle.dumps(selector)),
        joblib.load(tmp_path / "selector.joblib"),
        skops.io.loads(stored, trusted=TRUSTED),
    ):
        assert again.selection_ == selector.selection_
        assert again.counts_ == selector.counts_
        assert again.transform(data).tolist() == selector.transform(data).tolist()
        assert again.partial_fit(data, y).counts_ == selector.counts_ + selector.counts_


def test_a_rule_object_is_kept_by_skops():
    stored = skops.io.dumps(TermSelector("info_gain", rule=Energy(0.5)).fit(X, Y))
    again = skops.io.loads(stored, trusted=[*TRUSTED, "termsieve.selection.rules.Energy"])
    assert again.rule == Energy(0.5)


# as_score_func


def test_a_score_function_gives_p_values_where_there_are_any():
    scores, pvalues = as_score_func("chi2")(X, Y)
    assert scores.shape == pvalues.shape == (4,)
    assert as_score_func("info_gain")(X, Y).shape == (4,)
    assert as_score_func("chi2", aggregate="sum")(X, Y)[0].tolist() != scores.tolist()


def test_a_score_function_is_a_value():
    function = as_score_func("bns")
    assert pickle.loads(pickle.dumps(function)) == function == as_score_func("bns")
    assert "bns" in repr(function)
    with pytest.raises(OptionError, match="Unknown score"):
        as_score_func("bms")
    with pytest.raises(InputError, match="only one class"):
        function(X, ["a"] * 4)


def test_where_selectkbest_chi2_differs():
    """Its chi2 adds up occurrences, so one long document can carry a term; ours counts documents."""
    data = np.zeros((20, 2), int)
    data[0, 0] = 50
    data[:10, 1] = 1
    labels = ["a"] * 10 + ["b"] * 10
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert SelectKBest(chi2, k=1).fit(data, labels).get_support(indices=True).tolist() == [0]
        assert chosen(TermSelector("chi2", k=1).fit(data, labels)) == [1]


def test_scikit_learns_selectors_take_rare_terms_last():
    X = np.zeros((40, 3), int)
    X[:2, 0] = X[:9, 1] = X[20:22, 1] = X[:, 2] = 1
    y = ["a"] * 20 + ["b"] * 20
    for score_func, kept in (("prob_ratio", [1]), ("prob_ratio(min_df=1)", [0])):
        for selector in (TermSelector(score_func, k=1), SelectKBest(as_score_func(score_func), k=1)):
            assert selector.fit(X, y).get_support(indices=True).tolist() == kept

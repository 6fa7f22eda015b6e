import pickle
import warnings
from unittest.mock import patch

import joblib
import numpy as np
import pytest
import skops.io
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.texts import LABELS, columns, documents
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from stages.test_estimators_vectorizer import BAD, DOCS, GOOD, SIDES, TRUSTED, same

import termsieve as ts
from termsieve._kernels import use_way
from termsieve.errors import InputError, OptionError
from termsieve.estimators import TermSelector, TermVectorizer
from termsieve.selection.selection import select

pytestmark = pytest.mark.usefixtures("way")  # in plain Python, and by loops

# With a score


@settings(max_examples=60, deadline=None)
@given(documents(labels=LABELS, min_size=4), st.sampled_from([(1, 1), (1, 2)]), st.booleans())
def test_one_pass_selects_what_counting_and_selecting_selects(pairs, ngrams, binary):
    texts, labels = columns(pairs)
    counts = ts.count(texts, labels, analyzer=ts.Analyzer(ngram_range=ngrams))
    ours = TermVectorizer(score_func="chi2", rule="percentile(50)", ngram_range=ngrams, binary=binary, threads=2)
    if counts.n_terms == 0 or (counts.n_classes < 2 and not (counts.class_sizes < counts.n_docs).any()):
        with pytest.raises(InputError, match=r"empty vocabulary|only one class"):
            ours.fit(texts, labels)
        return
    chosen = select(counts, "percentile(50)", "chi2")
    if not len(chosen):
        with pytest.raises(InputError, match="No terms are selected"):
            ours.fit(texts, labels)
        return
    with patch("termsieve.counts.rows.CHUNK_CHARACTERS", 16):
        X = ours.fit_transform(texts, labels)
    assert ours.selection_ == chosen
    assert list(ours.vocabulary_) == sorted(chosen.terms)
    whole = CountVectorizer(vocabulary=sorted(chosen.terms), ngram_range=ngrams, binary=binary, lowercase=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        same(X, whole.transform(texts))
    same(ours.transform(texts), X)


@settings(max_examples=40, deadline=None)
@given(documents(labels=LABELS, min_size=1), st.integers(1, 4))
def test_counts_of_rows_are_the_counts(pairs, parts):
    texts, labels = columns(pairs)
    ours = TermVectorizer(score_func="chi2", k="all", threads=2)
    with patch("termsieve.counts.rows.CHUNK_CHARACTERS", 16):
        for rows in np.array_split(np.arange(len(texts)), parts):
            ours.partial_fit([texts[i] for i in rows], [labels[i] for i in rows])
    assert ours.counts_ == ts.count(texts, labels)


def test_pruning_comes_before_selecting():
    ours = TermVectorizer(score_func="chi2", k=2, min_df=3).fit(DOCS, SIDES)
    expected = select(ts.count(DOCS, SIDES).prune(min_df=3), 2, "chi2")
    assert ours.selection_ == expected
    few = TermVectorizer(score_func="chi2", k=2, max_features=3).fit(DOCS, SIDES)
    assert few.selection_.n_terms == 3


def test_a_given_vocabulary_is_selected_from():
    ours = TermVectorizer(score_func="chi2", k=2, vocabulary=["good", "zebra", "bad", "film"]).fit(DOCS, SIDES)
    assert list(ours.vocabulary_) == ["good", "bad"]
    same(ours.transform(DOCS), CountVectorizer(vocabulary=["good", "bad"]).transform(DOCS))


def test_a_vectorizer_with_a_selector_behind_it_is_the_same():
    both = make_pipeline(TermVectorizer(), TermSelector("info_gain", k=3)).fit(DOCS, SIDES)
    one = TermVectorizer(score_func="info_gain", k=3).fit(DOCS, SIDES)
    assert both.get_feature_names_out().tolist() == one.get_feature_names_out().tolist()
    assert both.transform(BAD).toarray().tolist() == one.transform(BAD).toarray().tolist()


def test_rules_with_their_own_scores_need_no_other():
    ours = TermVectorizer(rule='union("chi2", "gu", k=3)').fit(DOCS, SIDES)
    assert len(ours.vocabulary_) == 3
    assert ours.selection_.score == "chi2, gu"


def test_all_terms_are_kept_when_no_number_is_said():
    ours = TermVectorizer(score_func="chi2").fit(DOCS, SIDES)
    assert list(ours.vocabulary_) == list(CountVectorizer().fit(DOCS).get_feature_names_out())
    assert ours.selection_.terms[0] in ("good", "bad")


def test_several_labels():
    labels = [["a"], ["a", "b"], [], ["b"], ["a", "c"], ["c"]]
    ours = TermVectorizer(score_func="chi2", k=3).fit(DOCS, labels)
    assert ours.selection_ == select(ts.count(DOCS, labels), 3, "chi2")
    indicator = np.array([["abc"[i] in one for i in range(3)] for one in labels]).astype(int)
    again = TermVectorizer(score_func="chi2", k=3).fit(DOCS, indicator)
    assert again.vocabulary_ == ours.vocabulary_


@pytest.mark.parametrize(("labels", "message"), [(["a"] * 6, "only one class"), (["a"], "6 rows, but y has 1")])
def test_labels_that_do_not_serve(labels, message):
    with pytest.raises(InputError, match=message):
        TermVectorizer(score_func="chi2", k=1).fit(DOCS, labels)


def test_labels_are_ignored_where_no_score_asks_for_them():
    assert TermVectorizer().fit(DOCS, ["a"]).vocabulary_ == TermVectorizer().fit(DOCS).vocabulary_


# In batches


def test_batches_give_what_the_whole_gives():
    for options in ({}, {"min_df": 2}, {"score_func": "chi2", "k": 3}, {"weighting": "tfidf"}, {"max_features": 4}):
        parts = TermVectorizer(**options)
        for rows in ([0, 3], [1, 4], [2, 5]):
            parts.partial_fit([DOCS[i] for i in rows], [SIDES[i] for i in rows])
        whole = TermVectorizer(**options).fit(DOCS, SIDES)
        assert parts.vocabulary_ == whole.vocabulary_
        assert np.array_equal(parts.transform(DOCS).toarray(), whole.transform(DOCS).toarray())


def test_columns_may_change_between_batches():
    growing = TermVectorizer(min_df=2).partial_fit(GOOD)
    assert list(growing.vocabulary_) == ["film", "good"]
    assert list(growing.partial_fit(BAD).vocabulary_) == ["bad", "film", "good", "night", "play", "the", "was"]
    assert growing.transform(GOOD).shape == (3, 7)


def test_a_class_may_arrive_later():
    late = TermVectorizer(score_func="chi2", k=2).partial_fit(GOOD, SIDES[:3])
    with pytest.raises(NotFittedError, match="of one class, or have no terms"):
        late.transform(DOCS)
    assert list(late.partial_fit(BAD, SIDES[3:]).vocabulary_) == ["bad", "good"]


def test_a_batch_may_have_no_terms():
    one = TermVectorizer().partial_fit(["", "?"])
    with pytest.raises(NotFittedError):
        one.transform(DOCS)
    assert one.partial_fit(DOCS).partial_fit([""]).vocabulary_ == TermVectorizer().fit(DOCS).vocabulary_
    assert one.counts_.n_docs == 9


def test_what_was_fitted_whole_is_not_added_to():
    with pytest.raises(OptionError, match="does not keep its counts"):
        TermVectorizer().fit(DOCS).partial_fit(DOCS)
    assert not hasattr(TermVectorizer().partial_fit(DOCS).fit(GOOD), "counts_")


# As scikit-learn would check it, if it checked text


VECTORIZERS = [
    {},
    {"ngram_range": (1, 2), "stop_words": "english"},
    {"score_func": "gu", "k": 3},
    {"score_func": "chi2", "rule": "round_robin(4)", "weighting": "tfidf_lp"},
    {"weighting": "tf.bns", "dtype": np.float32},
    {"analyzer": "char_wb", "ngram_range": (2, 3), "binary": True},
]


@pytest.mark.parametrize("options", VECTORIZERS)
def test_the_contract_of_estimators(options):
    one = TermVectorizer(**options)
    before = one.get_params()
    X = one.fit_transform(DOCS, SIDES)
    assert one.get_params() == before == clone(one).get_params()
    assert X.shape == (6, len(one.get_feature_names_out()))
    fitted = clone(one).fit(DOCS, SIDES)
    assert fitted.vocabulary_ == one.vocabulary_ == fitted.fit(DOCS, SIDES).vocabulary_
    same(fitted.transform(DOCS), X)
    same(one.transform(DOCS), X)
    assert "TermVectorizer" in repr(one)
    with pytest.raises(NotFittedError):
        clone(one).transform(DOCS)
    with pytest.raises(NotFittedError):
        clone(one).get_feature_names_out()
    with pytest.raises(ValueError, match="string object received"):
        one.transform("a single text")


@pytest.mark.parametrize("options", VECTORIZERS)
def test_kept_with_pickle_joblib_and_skops(tmp_path, options):
    for one in (TermVectorizer(**options).fit(DOCS, SIDES), TermVectorizer(**options).partial_fit(DOCS, SIDES)):
        expected = one.transform(BAD)
        joblib.dump(one, tmp_path / "one.joblib")
        stored = skops.io.dumps(one)
        assert set(skops.io.get_untrusted_types(data=stored)) <= set(TRUSTED)
        for again in (
            pickle.loads(pickle.dumps(one)),
            joblib.load(tmp_path / "one.joblib"),
            skops.io.loads(stored, trusted=TRUSTED),
        ):
            same(again.transform(BAD), expected)
            assert again.get_params() == one.get_params()
            assert again.vocabulary_ == one.vocabulary_
            assert hasattr(again, "counts_") == hasattr(one, "counts_")


def test_no_documents_give_no_rows():
    assert TermVectorizer().fit(DOCS).transform([]).shape == (0, 8)


def test_tags_say_when_labels_are_needed():
    assert not TermVectorizer().__sklearn_tags__().target_tags.required
    assert TermVectorizer(score_func="gu").__sklearn_tags__().target_tags.required
    assert TermVectorizer(k=2).__sklearn_tags__().target_tags.required
    assert not TermVectorizer(k="all").__sklearn_tags__().target_tags.required
    assert TermVectorizer(weighting="tf.bns").__sklearn_tags__().target_tags.required
    assert TermVectorizer().__sklearn_tags__().input_tags.string


def test_readers_start_anew_when_they_have_met_too_many_other_terms():
    one = TermVectorizer(threads=1).fit(DOCS)
    with use_way("compiled"), patch("termsieve.estimators.extraction._MAX_NEW_TERMS", 3):
        for _ in range(3):
            assert one.transform(["many other words good here", *DOCS]).sum() == 1 + one.transform(DOCS).sum()
        assert len(one._readers[1]._idle) == 1


def test_few_words_of_a_large_vocabulary():
    words = [f"w{i:04d}" for i in range(2000)]
    one, theirs = TermVectorizer().fit(words), CountVectorizer().fit(words)
    for texts in (["w1999 w0003 w0003 other w0500"], ["nothing known", "w0001"], [" ".join(words), "w0007 w0002"]):
        same(one.transform(texts), theirs.transform(texts))


def test_what_is_set_after_fitting_holds():
    one = TermVectorizer().fit(DOCS)
    assert one.transform(["GOOD good"]).sum() == 2
    assert one.set_params(lowercase=False).transform(["GOOD good"]).sum() == 1
    one.vocabulary_ = {"GOOD": 0}
    assert one.transform(["GOOD good"]).toarray().tolist() == [[1]]


def test_transform_runs_in_many_threads_at_once():
    one = TermVectorizer(threads=2).fit(DOCS * 10)
    expected = one.transform(DOCS * 10)
    for X in joblib.Parallel(8, prefer="threads")(joblib.delayed(one.transform)(DOCS * 10) for _ in range(40)):
        same(X, expected)


def test_in_a_grid_search():
    pipeline = make_pipeline(TermVectorizer(score_func="gu"), MultinomialNB())
    grid = {"termvectorizer__score_func": ["gu", "bns"], "termvectorizer__k": [1, 2],
            "termvectorizer__weighting": ["count", "binary", "tfidf"]}  # fmt: skip
    search = GridSearchCV(pipeline, grid, cv=2, error_score="raise").fit(DOCS * 4, SIDES * 4)
    assert search.best_score_ == 1.0
    assert len(search.cv_results_["params"]) == 12

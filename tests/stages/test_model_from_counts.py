"""Models from counts alone: those of the documents."""

import numpy as np
import pytest
from pages.samples import documents

import termsieve as ts
from termsieve.errors import CountsError, InputError, OptionError

CLASSIFIERS = ["multinomial_nb", "bernoulli_nb(alpha=0.5)", "poisson_nb"]


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_it_is_the_model_of_the_documents(classifier, tmp_path):
    texts, labels = documents(90)
    counts = ts.count(texts, labels)
    ours = ts.train(counts, scores="chi2", classifiers=classifier, ks=20)
    theirs = ts.train(texts, labels, scores="chi2", classifiers=classifier, ks=20, cv=0, calibrate=0)
    assert list(ours.vectorizer.vocabulary_) == list(theirs.vectorizer.vocabulary_)
    known = theirs.has_terms(texts)
    with_terms = [text for text, has in zip(texts, known, strict=True) if has]
    assert ours.predict(with_terms) == theirs.predict(with_terms)
    np.testing.assert_allclose(ours.predict_proba(with_terms), theirs.predict_proba(with_terms), rtol=1e-12)
    # counts do not know which documents have none of the terms, so the prior is that of all
    assert not known.all()
    np.testing.assert_allclose(ours.predict_proba([""])[0], counts.class_sizes / counts.n_docs)
    ours.save(tmp_path / "m.skops")
    assert ts.Model.load(tmp_path / "m.skops").predict(texts) == ours.predict(texts)


def test_after_forgetting_it_is_the_model_of_the_rest():
    texts, labels = documents(90)
    whole, gone = ts.count(texts, labels), ts.count(texts[:30], labels[:30])
    again = ts.train(whole - gone, ks=20)
    never = ts.train(ts.count(texts[30:], labels[30:]), ks=20)
    np.testing.assert_array_equal(again.classifier.feature_log_prob_, never.classifier.feature_log_prob_)
    assert again.vectorizer.vocabulary_ == never.vectorizer.vocabulary_


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({}, "number of terms"),
        ({"ks": 5, "classifiers": "linear_svm"}, "needs the documents themselves"),
        ({"ks": [5, 10]}, "once"),
        ({"ks": 5, "scores": ["chi2", "bns"]}, "one score"),
        ({"ks": 5, "min_df": 3}, "min_df=3 needs the documents"),
        ({"ks": 5, "weighting": "tfidf"}, "weighting='tfidf' needs the documents"),
        ({"ks": 5, "pairs": "yes"}, "pairs='yes' needs the documents"),
        ({"ks": 5, "scores": ts.Contender("few", "chi2", max_df=9)}, "'few' has max_df, which a model cannot have"),
    ],
)
def test_what_counts_cannot_tell_is_refused(options, says):
    texts, labels = documents(90)
    with pytest.raises(OptionError, match=says):
        ts.train(ts.count(texts, labels), **options)


def test_counts_that_are_not_of_documents_with_one_label_are_refused():
    with pytest.raises(CountsError, match="one label each"):
        ts.train(ts.count(["aa bb", "bb"], [["x", "y"], ["x"]]), ks=1)
    with pytest.raises(CountsError, match="matrix or a table"):
        ts.train(ts.Counts.from_matrix([[1, 0], [0, 1]], ["x", "y"]), ks=1)


def test_the_command_takes_counts(typed, tmp_path):
    texts, labels = documents(90)
    ts.count(texts, labels).save(tmp_path / "all.counts")
    code, _, err = typed("train", tmp_path / "all.counts", "-k", "10", "-o", tmp_path / "m.skops")
    assert code == 0, err
    assert "from counts nothing can be compared" in err
    assert ts.Model.load(tmp_path / "m.skops").settings["n_terms"] == 10
    assert typed("train", tmp_path / "all.counts", "-o", tmp_path / "m.skops")[0] != 0


def test_counts_of_one_class_have_nothing_to_tell_apart():
    with pytest.raises(InputError, match="at least two classes to tell apart; the 4 documents have 'spam'"):
        ts.train(ts.count(["cheap pills", "buy pills"] * 2, ["spam"] * 4), ks=2)


def test_a_model_from_counts_has_no_duality_gap():
    model = ts.train(ts.count(["cheap pills", "noon meeting"] * 2, ["spam", "ham"] * 2), ks=2)
    assert model.settings["duality_gap"] is None


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"ks": 2, "classifiers": "multinomial_nb(alpha=-1)"}, "cannot be fitted: The 'alpha' parameter"),
        ({"ks": [2, 3]}, "from counts nothing can be compared: give one score, one classifier"),
        ({"ks": 2, "classifiers": ["multinomial_nb", "bernoulli_nb"]}, "from counts nothing can be compared"),
    ],
)
def test_what_counts_cannot_give_is_told(options, says):
    with pytest.raises(OptionError, match=says):
        ts.train(ts.count(["cheap pills", "noon meeting"] * 2, ["spam", "ham"] * 2), **options)

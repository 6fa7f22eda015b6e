"""Models: the choice, the fit, the file, and what decided."""

import inspect
import json

import numpy as np
import pyarrow.compute as pc
import pytest
from oracles.models import LINEAR, documents, fixed
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline

import termsieve as ts
from termsieve.errors import InputError, OptionError
from termsieve.evaluate.differences import corrected_error
from termsieve.model import Model, train, train_recommended
from termsieve.model.explaining import find_weights
from termsieve.study.plan import Contender
from termsieve.study.results import Comparison


@pytest.fixture(scope="module")
def corpus():
    return documents()


# Training


def test_the_cross_validated_measure_is_that_of_a_pipeline(corpus):
    texts, labels = (np.array(part, dtype=object) for part in corpus)
    for classifier, weighting in (("multinomial_nb", "count"), ("linear_svm", "tfidf_log"), ("bernoulli_nb", "count")):
        model = train(list(texts), list(labels), scores="chi2", ks=10, classifiers=classifier, cv=3, seed=4, min_df=2)
        found = []
        for learn, test in StratifiedKFold(3, shuffle=True, random_state=4).split(texts, labels):
            vectorizer = ts.TermVectorizer(score_func="chi2", k=10, weighting=weighting, min_df=2)
            pipeline = make_pipeline(vectorizer, ts.classifier(classifier)).fit(texts[learn], labels[learn])
            found.append(f1_score(labels[test], pipeline.predict(texts[test]), average="macro"))
        assert model.settings["f1_macro"] == pytest.approx(np.mean(found), abs=1e-12), classifier
        assert model.settings["standard_error"] == pytest.approx(corrected_error(found, 1 / 2), abs=1e-12)


def test_the_model_is_fitted_to_everything(corpus):
    texts, labels = corpus
    model = train(texts, labels, **fixed("multinomial_nb"))
    pipeline = make_pipeline(ts.TermVectorizer(score_func="chi2", k=12), ts.classifier("multinomial_nb"))
    others, _ = documents(40, seed=9)
    assert model.predict(others) == pipeline.fit(texts, labels).predict(others).tolist()
    assert model.predict_proba(others) == pytest.approx(pipeline.predict_proba(others))
    assert model.classes == ["money", "sea", "sport"]


def test_defaults_are_chosen_and_good(corpus):
    model = train(*corpus, cv=3)
    tried = model.settings["candidates"]
    assert len(tried) == 2 * 4 * 3  # classifiers, scores, and 10, 20 or all of the 24 terms
    assert model.settings["f1_macro"] > 0.8
    others, truth = documents(60, seed=5)
    assert np.mean(np.array(model.predict(others)) == truth) > 0.8


def test_the_same_seed_gives_the_same_model_on_any_number_of_threads(corpus):
    one, two = (train(*corpus, scores=["gu", "chi2"], ks=[5, 10], cv=3, seed=1, threads=n) for n in (1, 2))
    assert one.settings == two.settings
    assert one.settings != train(*corpus, scores=["gu", "chi2"], ks=[5, 10], cv=3, seed=2).settings


def test_the_choice_is_made_on_a_sample(corpus):
    model = train(*corpus, scores="chi2", ks=10, classifiers="multinomial_nb", cv=2, sample=30)
    assert (model.settings["judged_on"], model.settings["n_docs"]) == (30, 90)


def test_train_takes_the_recommendation_of_compare(corpus):
    result = ts.compare(*corpus, scores=["gu", "chi2"], ks=[3, 6, "all"], cv=3, seed=2)
    model = train(*corpus, scores=["gu", "chi2"], ks=[3, 6, "all"], cv=3, seed=2)
    choice = result.recommended()
    assert (model.settings["classifier"], model.settings["score"]) == (choice.classifier, choice.score)
    assert model.settings["n_terms"] == choice.k
    assert (model.settings["f1_macro"], model.settings["standard_error"]) == (choice.mean, choice.standard_error)
    assert len(model.settings["candidates"]) == result.summary().num_rows


def test_parameters_and_defaults_are_those_of_compare():
    mine, theirs = (inspect.signature(function).parameters for function in (train, ts.compare))
    shared = [name for name in mine if name in theirs]
    assert {"scores", "classifiers", "ks", "cv", "seed", "sample", "weighting", "min_df"} <= set(shared)
    assert all(mine[name].default == theirs[name].default for name in shared)


def test_rules_that_say_themselves_how_many(corpus):
    model = train(*corpus, scores="chi2", rule="energy(0.5)", classifiers="multinomial_nb", cv=2)
    counts = ts.count(*corpus)
    assert model.settings["n_terms"] == len(ts.select(counts, "energy(0.5)", "chi2"))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"cv": 0}, "must each be given"),
        ({"cv": 1}, "cv must be a number of folds"),
        ({"scores": "nope"}, "Unknown score"),
        ({"classifiers": "nope"}, "Unknown classifier"),
        ({"rule": "nope(3)"}, "Unknown rule"),
        ({"weighting": "nope"}, "Unknown weighting"),
        ({"min_df": 1000}, "No terms are selected"),
        ({"cv": 0, "ks": 5, "scores": "chi2", "classifiers": "multinomial_nb", "groups": [1]}, "groups must have one"),
        ({"scores": Contender("few", "chi2", max_df=9)}, "'few' has max_df, which a model cannot have"),
        ({"scores": Contender("few", "chi2", aggregate="sum")}, "'few' has aggregate, which a model cannot have"),
        ({"scores": Contender("few", "chi2", rule="top(3)"), "ks": 2}, "'few' has rule, which a model cannot have"),
        ({"scores": [Contender("few", "chi2")], "rule": "top(3)"}, "with a rule, scores are spellings"),
    ],
)
def test_wrong_options_are_told(options, said, corpus):
    with pytest.raises((OptionError, InputError), match=said):
        train(*corpus, **options)


def test_the_split_may_be_an_array(corpus):
    texts, labels = corpus
    parts = np.array(["train", "train", "test"] * len(texts))[: len(texts)]
    model = train(texts, labels, scores="chi2", ks=5, classifiers="multinomial_nb", cv=parts)
    assert (model.settings["cv"], model.settings["n_splits"]) == ("<ndarray>", 1)
    assert "macro F1" in model.settings["reason"]


@pytest.mark.parametrize("cv", [None, np.int64(0)])
def test_no_comparison_in_other_words_than_0_gives_a_model_that_prints_and_is_saved(cv, corpus, tmp_path):
    model = train(*corpus, scores="chi2", ks=5, classifiers="multinomial_nb", cv=cv, calibrate=0)
    assert (model.settings["cv"], model.settings["f1_macro"]) == (0, None)
    assert "F1" not in repr(model)
    model.save(tmp_path / "model.skops")
    assert repr(Model.load(tmp_path / "model.skops")) == repr(model)


@pytest.mark.parametrize("classifier", ["multinomial_nb(alpha=0)", "bernoulli_nb(alpha=0)"])
@pytest.mark.parametrize("calibrate", [0, 3])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of scikit-learn, which takes the log of 0
def test_where_every_class_is_impossible_the_prior_decides(classifier, calibrate, tmp_path):
    texts = ["apple banana"] * 9 + ["cherry date"] * 12 + ["egg fig"] * 9
    labels = ["a"] * 9 + ["b"] * 12 + ["c"] * 9
    options = {"scores": "chi2", "classifiers": classifier, "ks": "all", "cv": 3, "calibrate": calibrate}
    model = train(texts, labels, **options)
    model.save(tmp_path / "model.skops")
    said = ["apple cherry", "apple egg", "apple", ""]
    chances = model.predict_proba(said)
    assert np.isfinite(chances).all()
    assert chances.sum(axis=1) == pytest.approx(1)
    if not calibrate:
        assert chances[0] == pytest.approx([0.3, 0.4, 0.3])
        assert model.predict(said)[:2] == ["b", "b"]
    for (why,), label in zip(model.explain(said), model.predict(said), strict=True):
        assert (why.label, why.against != label) == (label, True)
        assert not np.isnan([why.margin, why.rest, *(part.part for part in why.parts)]).any()


def test_a_model_says_in_how_many_splits_it_was_judged(corpus):
    texts, labels = corpus
    options = {"scores": "chi2", "ks": 5, "classifiers": "multinomial_nb", "calibrate": 0}
    parts = np.array(["train", "train", "test"] * len(texts))[: len(texts)]
    assert repr(train(texts, labels, **options, cv=parts)).endswith(" on one split")
    model = train(texts, labels, **options, cv=np.int64(3), repeats=2)
    assert repr(model).endswith(" in 6 splits")
    assert model.settings["cv"] == 3


def test_what_a_contender_is_limited_to_is_not_recommended_as_a_model(corpus):
    few = Contender("few", "chi2", max_df=9)
    result = ts.compare(*corpus, scores=[few, "gu"], classifiers=["multinomial_nb"], ks=[3], cv=3)
    with pytest.raises(OptionError, match="'few' has max_df, which a model cannot have"):
        train_recommended(_with_only(result, "few"), *corpus)
    assert train_recommended(_with_only(result, "gu"), *corpus).settings["score"] == "gu"


def _with_only(result, name):
    rows = result.table.filter(pc.equal(result.table["score"], name))
    return Comparison(rows, result.settings, result.seconds, result.counts)


@pytest.mark.filterwarnings("ignore:Label")
@pytest.mark.parametrize("calibrate", [0, 3])
def test_a_class_of_all_documents_leaves_support_vectors_without_probabilities(calibrate, tmp_path):
    texts, labels = documents(30, several=True)
    model = train(texts, [["all", *some] for some in labels], **fixed("linear_svm", calibrate=calibrate))
    assert model.classes[0] == "all"
    if not calibrate:
        assert model.predict_proba(texts) is None
    model.save(tmp_path / "m")
    assert Model.load(tmp_path / "m").predict(texts) == model.predict(texts)


def test_one_class_cannot_be_told_apart():
    with pytest.raises(InputError, match="at least two classes"):
        train(["one", "two"], ["a", "a"])


def test_a_classifier_that_sees_one_class_only_says_so():
    with pytest.raises(InputError, match="cannot learn"):
        train(["ab cd", "cd ef", "gh cd"], ["x", "x", "y"], classifiers="linear_svm", cv=2)


# The file


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("classifier", [*LINEAR, "libsvm", "neural_network(hidden_layer_sizes=4, max_iter=3)"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_what_was_saved_labels_as_before(classifier, several, tmp_path):
    texts, labels = documents(45, several=several)
    model = train(texts, labels, **fixed(classifier))
    model.save(tmp_path / "m.skops")
    again = Model.load(tmp_path / "m.skops")
    others, _ = documents(30, seed=3)
    assert again.predict(others) == model.predict(others)
    assert again.settings == model.settings
    assert (again.classes, again.single) == (model.classes, not several)
    if model.has_probabilities:
        assert np.array_equal(again.predict_proba(others), model.predict_proba(others))
    assert (tmp_path / "m.skops").stat().st_size < 50_000


def test_the_analyzer_is_inside(tmp_path):
    texts, labels = documents(30)
    analyzer = ts.Analyzer(stop_words={"the", "of"}, ngram_range=(1, 2), stemmer="english", min_length=3)
    model = train([text.upper() for text in texts], labels, analyzer=analyzer, **fixed("multinomial_nb", ks="all"))
    model.save(tmp_path / "m.skops")
    again = Model.load(tmp_path / "m.skops")
    assert set(again.vectorizer.vocabulary_) == {term for text in texts for term in analyzer(text)}
    assert ts.Analyzer.from_settings(again.settings["analyzer"]) == analyzer


def test_other_parts_on_this_machine_are_told(corpus, tmp_path):
    model = train(*corpus, **fixed("multinomial_nb"))
    model.settings["analyzer"] = {**model.settings["analyzer"], "unicode_version": "1.0"}
    model.save(tmp_path / "m.skops")
    with pytest.warns(UserWarning, match="unicode_version: '.*' here, '1.0' there"):
        Model.load(tmp_path / "m.skops")


# What decided


def decision(model, X):
    """Scores of the classes as scikit-learn has them."""
    inner = model.classifier
    if hasattr(inner, "predict_joint_log_proba"):
        return inner.predict_joint_log_proba(X)
    if hasattr(inner, "decision_function"):
        return inner.decision_function(X)
    return inner.predict_log_proba(X)


@pytest.mark.parametrize("classifier", LINEAR)
def test_parts_add_up_to_the_decision(classifier, corpus):
    model = train(*corpus, **fixed(classifier))
    others, _ = documents(20, seed=7)
    scores = decision(model, model.to_matrix(others))
    for row, [why], label in zip(scores, model.explain(others, n=1000), model.predict(others), strict=True):
        ordered = np.sort(row)
        assert why.label == label
        assert why.label == model.classes[int(np.argmax(row))]
        assert why.against == model.classes[int(np.argsort(row)[-2])]
        assert why.margin == pytest.approx(ordered[-1] - ordered[-2], abs=1e-9)
        assert sum(part.part for part in why.parts) + why.rest == pytest.approx(why.margin, abs=1e-9)
        sizes = [abs(part.part) for part in why.parts]
        assert sizes == sorted(sizes, reverse=True)


@pytest.mark.parametrize("classifier", [*LINEAR, "libsvm"])
def test_two_classes_are_decided_by_one_sum(classifier):
    texts, labels = documents(60)
    two = [(text, label) for text, label in zip(texts, labels, strict=True) if label != "money"]
    model = train([text for text, _ in two], [label for _, label in two], **fixed(classifier))
    texts = [text for text, known in zip(texts, model.has_terms(texts), strict=True) if known]
    X = model.to_matrix(texts[:10])
    scores = decision(model, X)
    margins = scores if scores.ndim == 1 else scores[:, 1] - scores[:, 0]
    for margin, [why] in zip(margins, model.explain(texts[:10]), strict=True):
        assert why.margin == pytest.approx(abs(margin), abs=1e-9)
        assert why.label == ("sport" if margin > 0 else "sea")


@pytest.mark.parametrize("classifier", LINEAR)
def test_each_of_several_labels_is_explained(classifier):
    texts, labels = documents(60, several=True)
    model = train(texts, labels, **fixed(classifier))
    assert isinstance(model.classifier, OneVsRestClassifier)
    said = model.predict(texts)
    assert any(len(some) > 1 for some in said) or classifier not in ("multinomial_nb", "poisson_nb")
    for some, why in zip(said, model.explain(texts), strict=True):
        assert [one.label for one in why] == some
        assert all(one.margin > 0 and one.against == "" for one in why)


def test_presence_counts_once_for_bernoulli(corpus):
    model = train(*corpus, **fixed("bernoulli_nb"))
    [[once], [thrice]] = model.explain(["ship", "ship ship ship"])
    with pytest.raises(OptionError, match="n must be a whole number of terms, 0 or more, not -1"):
        model.explain(["ship"], n=-1)
    assert once == thrice


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_what_does_not_add_up_is_not_explained(corpus):
    for classifier in ("neural_network(max_iter=2)", "libsvm"):
        model = train(*corpus, **fixed(classifier))
        with pytest.raises(OptionError, match="is not a sum over terms"):
            model.explain(["ship"])


def test_sums_of_an_unknown_estimator_are_none():
    assert find_weights(ts.classifier("neural_network")) is None


def test_no_texts_have_no_labels(corpus):
    model = train(*corpus, **fixed("multinomial_nb"))
    assert model.predict([]) == []
    assert model.explain([]) == []
    assert model.predict_proba([]).shape == (0, 3)
    assert model.predict(["zzz"])[0] in model.classes  # no known term: the most frequent class, or the first


def test_the_settings_are_plain(corpus):
    model = train(*corpus, scores="chi2", rule=5, classifiers="multinomial_nb", cv=2)
    assert json.loads(json.dumps(model.settings)) == model.settings
    assert "multinomial_nb on count of 5 terms (top(5) by chi2), from 90 documents, F1 0." in repr(model)

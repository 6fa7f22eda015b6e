"""Models: the choice, the fit, the file, and what decided."""

import contextlib
import functools
import io
import json
import zipfile

import numpy as np
import pytest
import skops.io
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline

import termsieve as ts
from termsieve.errors import InputError, OptionError
from termsieve.model import Model, train
from termsieve.model.choosing import Candidate, Judged, best, candidates, usual_weighting
from termsieve.model.explaining import sums_of

WORDS = {
    "sea": ["ship", "crew", "storm", "harbour", "sail", "wave"],
    "sport": ["team", "goal", "match", "score", "league", "win"],
    "money": ["bank", "market", "rate", "gold", "share", "bond"],
}
SHARED = ["the", "of", "today", "new", "said", "year"]
LINEAR = ["multinomial_nb", "bernoulli_nb", "poisson_nb", "probit", "linear_svm", "logistic_regression"]


def documents(n=90, *, seed=0, several=False):
    rng = np.random.default_rng(seed)
    texts, labels = [], []
    for i in range(n):
        mine = [list(WORDS)[i % 3]]
        if several and i % 5 == 0:
            mine.append(list(WORDS)[(i + 1) % 3])
        words = [word for name in mine for word in rng.choice(WORDS[name], 3)]
        noise = rng.choice([word for some in WORDS.values() for word in some], 1)
        texts.append(" ".join([*words, *noise, *rng.choice(SHARED, 4)]))
        labels.append(mine if several else mine[0])
    return texts, labels


@pytest.fixture(scope="module")
def corpus():
    return documents()


def fixed(classifier, **others):
    return {"score": "chi2", "rule": 12, "classifier": classifier, "cv": 0, **others}


# Training


def test_the_cross_validated_measure_is_that_of_a_pipeline(corpus):
    texts, labels = (np.array(part, dtype=object) for part in corpus)
    for classifier, weighting in (("multinomial_nb", "count"), ("linear_svm", "tfidf"), ("bernoulli_nb", "count")):
        model = train(list(texts), list(labels), score="chi2", rule=10, classifier=classifier, cv=3, seed=4, min_df=2)
        found = []
        for learn, test in StratifiedKFold(3, shuffle=True, random_state=4).split(texts, labels):
            vectorizer = ts.TermVectorizer(score_func="chi2", k=10, weighting=weighting, min_df=2)
            pipeline = make_pipeline(vectorizer, ts.classifier(classifier)).fit(texts[learn], labels[learn])
            found.append(f1_score(labels[test], pipeline.predict(texts[test]), average="macro"))
        assert model.settings["f1_macro"] == pytest.approx(np.mean(found), abs=1e-12), classifier
        assert model.settings["standard_error"] == pytest.approx(np.std(found, ddof=1) / np.sqrt(3), abs=1e-12)


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
    assert len(tried) == 2  # so few terms that only all of them make sense, for two classifiers
    assert model.settings["f1_macro"] > 0.8
    others, truth = documents(60, seed=5)
    assert np.mean(np.array(model.predict(others)) == truth) > 0.8


def test_the_same_seed_gives_the_same_model_on_any_number_of_threads(corpus):
    one, two = (train(*corpus, score=["gu", "chi2"], rule=[5, 10], cv=3, seed=1, threads=n) for n in (1, 2))
    assert one.settings == two.settings
    assert one.settings != train(*corpus, score=["gu", "chi2"], rule=[5, 10], cv=3, seed=2).settings


def test_the_choice_is_made_on_a_sample(corpus):
    model = train(*corpus, score="chi2", rule=10, classifier="multinomial_nb", cv=2, sample=30)
    assert (model.settings["judged_on"], model.settings["n_docs"]) == (30, 90)


def judged(n_terms, f1, error=0.0):
    return Judged(Candidate("gu", f"top({n_terms})", "linear_svm", "tfidf"), n_terms, f1, error, f1)


def test_the_fewest_terms_within_one_standard_error_are_best():
    assert best([judged(100, 0.70), judged(300, 0.89), judged(1000, 0.90, 0.02)]).n_terms == 300
    assert best([judged(100, 0.70), judged(300, 0.85), judged(1000, 0.90, 0.02)]).n_terms == 1000
    assert best([judged(300, 0.90), judged(300, 0.91, 0.02)]).f1_macro == 0.91


def test_candidates_make_sense_for_the_number_of_terms():
    rules = {one.rule for one in candidates(["gu", "chi2"], None, ["linear_svm"], None, 5000)}
    assert rules == {"top(300)", "top(1000)", 'top("all")'}
    every = candidates(["gu", "chi2"], None, ["linear_svm"], None, 5000)
    assert sum(one.rule == 'top("all")' for one in every) == 1
    assert usual_weighting("poisson_nb") == "count"


def test_rules_that_say_themselves_how_many(corpus):
    model = train(*corpus, score="chi2", rule="energy(0.5)", classifier="multinomial_nb", cv=2)
    counts = ts.count(*corpus)
    assert model.settings["n_terms"] == len(ts.select(counts, "energy(0.5)", "chi2"))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"cv": 0}, "must each be given"),
        ({"cv": 1}, "cv must be a number of folds"),
        ({"score": "nope"}, "Unknown score"),
        ({"classifier": "nope"}, "Unknown classifier"),
        ({"rule": "nope(3)"}, "Unknown rule"),
        ({"weighting": "nope"}, "Unknown weighting"),
        ({"min_df": 1000}, "No terms are selected"),
        ({"analyzer": ts.Analyzer(tokenizer=str.split)}, "a file holds no function"),
    ],
)
def test_wrong_options_are_told(options, said, corpus):
    with pytest.raises((OptionError, InputError), match=said):
        train(*corpus, **options)


def test_one_class_cannot_be_told_apart():
    with pytest.raises(InputError, match="at least two classes"):
        train(["one", "two"], ["a", "a"])


def test_a_classifier_that_sees_one_class_only_says_so():
    with pytest.raises(InputError, match="cannot learn"):
        train(["ab cd", "cd ef", "gh cd"], ["x", "x", "y"], classifier="linear_svm", cv=2)


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
    model = train(
        [text.upper() for text in texts], labels, analyzer=analyzer, **fixed("multinomial_nb", rule='top("all")')
    )
    model.save(tmp_path / "m.skops")
    again = Model.load(tmp_path / "m.skops")
    assert set(again.vectorizer.vocabulary_) == {term for text in texts for term in analyzer(text)}
    assert ts.Analyzer.from_settings(again.settings["analyzer"]) == analyzer


def test_no_pickle_is_inside(corpus, tmp_path):
    train(*corpus, **fixed("linear_svm")).save(tmp_path / "m.skops")
    with zipfile.ZipFile(tmp_path / "m.skops") as file:
        assert {name.rpartition(".")[2] for name in file.namelist()} <= {"json", "npy", "npz"}


def test_foreign_types_are_refused(corpus, tmp_path):
    model = train(*corpus, **fixed("multinomial_nb"))
    content = {
        "format": 1, "vectorizer": model.vectorizer, "classifier": model.classifier, "classes": model.classes,
        "single": True, "settings": {**model.settings, "more": io.StringIO},
    }  # fmt: skip
    (tmp_path / "m.skops").write_bytes(skops.io.dumps(content))
    with pytest.raises(InputError, match=r"is refused: it holds .*StringIO"):
        Model.load(tmp_path / "m.skops")


def test_other_estimators_are_no_models(corpus, tmp_path):
    model = train(*corpus, **fixed("multinomial_nb"))
    content = {"format": 1, "vectorizer": _without_selection(model), "classifier": RidgeClassifier()}
    content |= {"classes": model.classes, "single": True, "settings": model.settings}
    (tmp_path / "m.skops").write_bytes(skops.io.dumps(content))
    with pytest.raises(InputError, match="its classifier is RidgeClassifier"):
        Model.load(tmp_path / "m.skops")


def _without_selection(model):
    del model.vectorizer.selection_
    return model.vectorizer


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"PK\x03\x04 nonsense", "is no model"),
        (skops.io.dumps([1, 2]), "it holds list"),
        (
            skops.io.dumps(
                dict.fromkeys(["vectorizer", "classifier", "classes", "single", "settings"]) | {"format": 9}
            ),
            "has version 9 of the format",
        ),
    ],
    ids=["empty", "no archive", "a list", "another format"],  # the bytes of skops differ in each process
)
def test_other_files_are_no_models(content, said, tmp_path):
    (tmp_path / "m.skops").write_bytes(content)
    with pytest.raises(InputError, match=said):
        Model.load(tmp_path / "m.skops")
    with pytest.raises(InputError, match="There is no file"):
        Model.load(tmp_path / "nowhere.skops")


@given(data=st.data())
def test_altered_files_are_errors_or_models(data, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "altered.skops"
    content = bytearray(saved_model(tmp_path_factory.getbasetemp()))
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(bytes(content[: data.draw(st.integers(0, len(content)) | st.just(len(content)))]))
    with contextlib.suppress(InputError):
        assert Model.load(path).classes == ["money", "sea", "sport"]


@functools.cache
def saved_model(folder):
    train(*documents(30), **fixed("poisson_nb")).save(folder / "m.skops")
    return (folder / "m.skops").read_bytes()


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
    scores = decision(model, model.matrix(others))
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
    X = model.matrix(texts[:10])
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
    assert once == thrice


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_what_does_not_add_up_is_not_explained(corpus):
    for classifier in ("neural_network(max_iter=2)", "libsvm"):
        model = train(*corpus, **fixed(classifier))
        with pytest.raises(OptionError, match="does not add up terms"):
            model.explain(["ship"])


def test_sums_of_an_unknown_estimator_are_none():
    assert sums_of(ts.classifier("neural_network")) is None


def test_no_texts_have_no_labels(corpus):
    model = train(*corpus, **fixed("multinomial_nb"))
    assert model.predict([]) == []
    assert model.explain([]) == []
    assert model.predict_proba([]).shape == (0, 3)
    assert model.predict(["zzz"])[0] in model.classes  # no known term: the most frequent class, or the first


def test_the_settings_are_plain(corpus):
    model = train(*corpus, score="chi2", rule=5, classifier="multinomial_nb", cv=2)
    assert json.loads(json.dumps(model.settings)) == model.settings
    assert "multinomial_nb on count of 5 terms (top(5) by chi2), from 90 documents, F1 0." in repr(model)

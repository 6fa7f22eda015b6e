"""Probabilities: curves, thresholds, held-out documents and what is said of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from oracles.models import documents, fixed
from scipy.special import expit, logsumexp
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline

import termsieve as ts
from termsieve.errors import OptionError
from termsieve.evaluate.reliability import Reliability
from termsieve.model import Model, train
from termsieve.model.calibrating import Decision, HeldOut, choose_decision, find_thresholds, fit_decision
from termsieve.model.calibration import (
    METHODS,
    Calibration,
    against_the_rest,
    find_class_scores,
    fit_calibration,
    fit_sigmoids,
    spread_to_classes,
)
from termsieve.model.fitting import ModelSpec, TrainingMatrix, hold_out
from termsieve.study.corpus import read_corpus

FINITE = st.floats(-50, 50)


# Measures


@given(st.integers(2, 4), st.integers(1, 30), st.integers(0, 10_000))
def test_the_brier_score_is_that_of_scikit_learn(n_classes, n, seed):
    rng = np.random.default_rng(seed)
    chances = rng.dirichlet(np.ones(n_classes), n)
    labels = rng.integers(0, n_classes, n)
    checked = Reliability(single=True)
    for half in (slice(0, n // 2), slice(n // 2, n)):
        checked.add(chances[half], np.eye(n_classes, dtype=bool)[labels[half]])
    if n_classes == 2 and len(set(labels)) == 2:
        expected = brier_score_loss(labels, chances[:, 1])
    elif n_classes == 2:
        expected = np.square(chances[:, 1] - labels).mean()
    else:
        expected = np.mean(
            [((row - np.eye(n_classes)[label]) ** 2).sum() for row, label in zip(chances, labels, strict=True)]
        )
    assert checked.brier == pytest.approx(expected)
    assert checked.accuracy == pytest.approx(np.mean(chances.argmax(axis=1) == labels))
    assert sum(one.n for one in checked.bins) == checked.n == n
    error = sum(one.n * abs(one.mean_probability - one.share_right) for one in checked.bins) / n
    assert checked.calibration_error == pytest.approx(error)
    assert all(one.low - 1e-9 <= one.mean_probability <= one.high + 1e-9 for one in checked.bins)


def test_a_class_that_is_not_known_counts_in_full():
    checked = Reliability(single=True)
    checked.add(np.array([[0.5, 0.25, 0.25]]), np.zeros((1, 3), bool))
    assert checked.brier == pytest.approx(0.25 + 2 * 0.0625 + 1)
    assert checked.accuracy == 0


def test_several_labels_are_checked_case_by_case():
    checked = Reliability(single=False)
    checked.add(np.array([[0.9, 0.0], [1.0, 0.35]]), np.array([[True, False], [True, True]]))
    assert checked.n == 4
    assert checked.brier == pytest.approx((0.01 + 0.65**2) / 4)
    assert [one.n for one in checked.bins] == [1, 1, 2]
    assert Reliability(single=False).brier == 0


# Curves


@pytest.mark.parametrize(("seed", "scale"), [(0, 1e-3), (1, 1.0), (2, 1e3)])
def test_sigmoids_are_those_of_scikit_learn(seed, scale):
    rng = np.random.default_rng(seed)
    x = rng.normal(rng.normal(), 2, (60, 3))
    truth = rng.random((60, 3)) < expit(x * rng.uniform(0.2, 3, 3))
    truth[:2] = [[True] * 3, [False] * 3]
    slopes, offsets = fit_sigmoids(x * scale, truth)
    for c in range(3):
        frozen = FrozenEstimator(Line().fit(x[:, [c]] * scale, truth[:, c]))
        theirs = CalibratedClassifierCV(frozen, method="sigmoid", ensemble=False, cv=2)
        expected = theirs.fit(x[:, [c]] * scale, truth[:, c]).predict_proba(x[:, [c]] * scale)[:, 1]
        if slopes[c] > 0:
            assert expit(slopes[c] * scale * x[:, c] + offsets[c]) == pytest.approx(expected, abs=1e-5)
        else:
            assert np.corrcoef(x[:, c], expected)[0, 1] < 0


class Line(LogisticRegression):
    """A classifier whose decision is its only feature."""

    def decision_function(self, X):
        return X[:, 0]


def test_log_odds_that_are_not_finite_are_left_out():
    x = np.array([[-2.0], [-1.0], [1.0], [2.0], [-np.inf], [np.nan]])
    truth = np.array([[False], [True], [False], [True], [True], [True]])
    assert fit_sigmoids(x, truth) == fit_sigmoids(x[:4], truth[:4])
    for method in METHODS:
        assert np.isfinite(fit_calibration(method, x, truth).apply(x[:4])).all()


@pytest.mark.parametrize("method", METHODS)
def test_without_any_variation_the_share_is_said(method):
    fitted = fit_calibration(method, np.ones((9, 1)), np.arange(9)[:, None] < 3)
    assert fitted.apply(np.array([[-5.0], [1.0], [7.0]])).ravel() == pytest.approx([4 / 11] * 3)


@given(arrays(np.float64, st.tuples(st.integers(2, 40)), elements=FINITE), st.integers(0, 99))
def test_isotonic_curves_are_those_of_scikit_learn_but_never_certain(x, seed):
    truth = np.random.default_rng(seed).random(len(x)) < 0.5
    fitted = fit_calibration("isotonic", x[:, None], truth[:, None])
    found = fitted.apply(x[:, None]).ravel()
    assert ((found > 0) & (found < 1)).all()
    if np.ptp(x) > 0:
        expected = IsotonicRegression(out_of_bounds="clip").fit(x, truth).predict(x)
        assert found == pytest.approx(np.clip(expected, 1 / (len(x) + 2), 1 - 1 / (len(x) + 2)))


@given(st.integers(0, 10_000), st.sampled_from(METHODS), st.floats(0.05, 0.95))
def test_the_boundary_is_where_the_probability_passes_the_threshold(seed, method, threshold):
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 2, (50, 1))
    fitted = fit_calibration(method, x, rng.random((50, 1)) < expit(2 * x))
    at = fitted.find_boundary(0, threshold)
    low, high = fitted.apply(np.array([[at - 1e-6], [at + 1e-6]])).ravel()
    curve = fitted.apply(np.linspace(-30, 30, 200)[:, None])
    if curve.min() < threshold < curve.max():
        assert low <= threshold + 1e-6
        assert high >= threshold - 1e-6


@given(arrays(np.float64, (4, 3), elements=st.floats(-800, 800)))
def test_odds_against_the_rest_do_not_cancel(scores):
    expected = np.column_stack(
        [scores[:, c] - logsumexp(np.delete(scores, c, axis=1), axis=1) for c in range(scores.shape[1])]
    )
    assert against_the_rest(scores) == pytest.approx(expected, abs=1e-9)


def test_a_class_that_a_fold_did_not_see_is_impossible_to_it():
    whole = spread_to_classes(np.array([[0.5]]), [0, 2], 3)
    assert whole.tolist() == [[-0.5, -np.inf, 0.5]]
    assert spread_to_classes(np.array([[0.5]]), [0, 1], 2).tolist() == [[0.5]]


# Thresholds


def test_thresholds_are_half_of_the_best_f1():
    chances = np.array([[0.9], [0.8], [0.7], [0.6]] * 10)
    truth = np.array([[True], [True], [False], [True]] * 10)
    [found] = find_thresholds(chances, truth)
    best = max(2 * tp / (n + 30) for n, tp in ((10, 10), (20, 20), (30, 20), (40, 30)))
    assert found == pytest.approx(best / 2)
    assert find_thresholds(chances[:12], truth[:12]).tolist() == [0.5]  # 9 documents of the class


def test_a_document_gets_the_nearest_label_where_all_had_some():
    calibration = Calibration("sigmoid", ((np.array(1.0), np.array(0.0)),) * 2)
    chances, known = np.array([[0.1, 0.3], [0.1, 0.3]]), np.array([True, False])
    for always, expected in ((False, [[False, False]] * 2), (True, [[True, False], [False, False]])):
        decision = Decision(calibration, single=False, thresholds=np.array([0.15, 0.6]), always_label=always)
        assert decision.find_labels(chances, known).tolist() == expected


# Held-out documents


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("classifier", ["multinomial_nb", "linear_svm"])
def test_held_out_documents_are_seen_by_nothing(classifier, several):
    """Terms, weights and classifier of each fold are those of a pipeline that has its training texts only."""
    texts, labels = documents(60, several=several)
    weighting = "count" if classifier == "multinomial_nb" else "tfidf"
    spec = ModelSpec("chi2", "top(9)", weighting, classifier, 2, ts.Analyzer())
    data = TrainingMatrix.of(read_corpus(texts, labels, spec.analyzer, [], 1))
    found = hold_out(data, spec, 4, None, seed=3)
    splitter = (KFold if several else StratifiedKFold)(4, shuffle=True, random_state=3)
    names = np.array(labels, dtype=object)
    at = 0
    for learn, test in splitter.split(texts, None if several else names):
        vectorizer = ts.TermVectorizer(score_func="chi2", k=9, weighting=weighting, min_df=2)
        target = data.Y[learn].toarray() if several else names[learn]
        X = vectorizer.fit_transform([texts[i] for i in learn], target)
        model = ts.classifier(classifier)
        model = (OneVsRestClassifier(model) if several else model).fit(X, target)
        T = vectorizer.transform([texts[i] for i in test])
        here = slice(at, at + len(test))
        at += len(test)
        if several:
            expected = np.column_stack([find_class_scores(one, T) for one in model.estimators_])
        else:
            expected = against_the_rest(find_class_scores(model, T))
        assert found.log_odds[here] == pytest.approx(expected, abs=1e-9)
        assert (found.known[here] == (T.toarray().sum(axis=1) > 0)).all()
        assert (found.truth[here] == data.Y[test].toarray()).all()
    assert at == len(texts)


def test_groups_are_held_out_together():
    texts, labels = documents(60)
    groups = [i // 3 % 5 for i in range(60)]
    spec = ModelSpec("chi2", "top(9)", "count", "multinomial_nb", 1, ts.Analyzer())
    data = TrainingMatrix.of(read_corpus(texts, labels, spec.analyzer, [], 1))
    found = hold_out(data, spec, 5, groups, seed=0)
    assert np.unique(found.part).tolist() == [0, 1, 2, 3, 4]
    assert np.bincount(found.part).tolist() == [12] * 5


@pytest.fixture(scope="module")
def overconfident():
    """Held-out documents of a classifier that is three times as sure as it should be."""
    rng = np.random.default_rng(1)
    odds = rng.normal(0, 1.5, (2000, 1))
    truth = rng.random(2000) < expit(odds[:, 0])
    both = np.column_stack([~truth, truth])
    own = np.column_stack([expit(-3 * odds), expit(3 * odds)])
    n = np.ones(2000, bool)
    return HeldOut(3 * odds, n, np.full((2000, 2), 0.5), own, own > 0.5, both, np.arange(2000) % 5)


def test_what_was_too_sure_is_so_no_more(overconfident):
    decision, report = choose_decision(overconfident, single=True, always_label=False)
    assert report["method"] == decision.calibration.method == "sigmoid"  # that is how they were drawn
    assert report["ece"] < 0.03 < 0.1 < report["ece_before"]
    assert report["brier"] < report["brier_before"] - 0.02
    assert decision.calibration.curves[0][0] == pytest.approx(1 / 3, rel=0.15)
    assert sum(n for _, _, n, _, _ in report["bins"]) == report["documents"] == 2000


def test_a_curve_that_is_no_sigmoid_is_isotonic(overconfident):
    odds = overconfident.log_odds
    steps = np.where(odds > 3, 0.9, np.where(odds > 0, 0.85, 0.02))[:, 0]
    truth = np.random.default_rng(2).random(2000) < steps
    held_out = overconfident._replace(truth=np.column_stack([~truth, truth]))
    assert choose_decision(held_out, single=True, always_label=False)[1]["method"] == "isotonic"


@pytest.mark.parametrize("n_classes", [2, 4])
def test_labels_that_were_compared_are_not_given_up_for_better_probabilities(n_classes):
    """Of a rare class that a classifier names more readily than its probability, as with balanced class weights."""
    rng = np.random.default_rng(3)
    n, rare = 4000, n_classes - 1
    odds = rng.normal(-2.5, 1.5, (n, 1)) if n_classes == 2 else rng.normal([0.0, 0.0, 0.0, -2.5], 1.5, (n, 4))
    chances = expit(odds) if n_classes == 2 else np.exp(odds) / np.exp(odds).sum(axis=1, keepdims=True)
    codes = (rng.random((n, 1)) > np.cumsum(chances, axis=1)[:, : n_classes - 1]).sum(axis=1)
    codes = 1 - codes if n_classes == 2 else codes
    truth = codes[:, None] == np.arange(n_classes)
    said = odds + 0.8 if n_classes == 2 else against_the_rest(odds + 1.2 * (np.arange(4) == rare))
    labels = np.column_stack([said[:, 0] <= 0, said[:, 0] > 0]) if n_classes == 2 else said == said.max(axis=1)[:, None]
    held_out = HeldOut(
        said, np.ones(n, bool), np.full(truth.shape, 1 / n_classes), None, labels, truth, np.arange(n) % 5
    )
    decision, report = choose_decision(held_out, single=True, always_label=False)
    given = decision.find_labels(decision.find_probabilities(said, held_out.known, held_out.priors), held_out.known)
    np.testing.assert_array_equal(given, labels)
    assert report["f1_macro"] == report["f1_macro_before"]
    assert len(set(map(str, decision.calibration.curves))) == 1
    each = fit_decision("sigmoid", held_out, single=True, always_label=False)
    moved = each.find_labels(each.find_probabilities(said, held_out.known, held_out.priors), held_out.known)
    assert (moved != labels).any()  # curves of their own would have moved the boundary


def test_the_report_is_of_parts_that_the_curve_has_not_seen():
    """A curve through each document would be perfect where it was fitted, and useless elsewhere."""
    rng = np.random.default_rng(0)
    n = 400
    truth = rng.random(n) < 0.5
    odds = rng.normal(size=(n, 1))  # nothing to learn from
    held_out = HeldOut(
        odds, np.ones(n, bool), np.full((n, 2), 0.5), None, np.eye(2, dtype=bool)[truth.astype(int)],
        np.column_stack([~truth, truth]), np.arange(n) % 2,
    )  # fmt: skip
    _, report = choose_decision(held_out, single=True, always_label=False)
    assert report["brier"] > 0.24
    assert report["brier_before"] is None
    assert report["accuracy_before"] == 1


# Models


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("classifier", ["multinomial_nb", "probit", "linear_svm", "libsvm"])
def test_every_classifier_has_probabilities(classifier, several, tmp_path):
    texts, labels = documents(60, several=several)
    model = train(texts, labels, **fixed(classifier, calibrate=3))
    others, _ = documents(30, seed=3)
    chances = model.predict_proba(others)
    assert ((chances > 0) & (chances < 1)).all()
    if several:
        assert model.settings["calibration"]["method"] == "sigmoid"
    else:
        assert chances.sum(axis=1) == pytest.approx(1)
        assert model.predict(others) == [model.classes[place] for place in chances.argmax(axis=1)]
    model.save(tmp_path / "m.skops")
    again = Model.load(tmp_path / "m.skops")
    assert np.array_equal(again.predict_proba(others), chances)
    assert again.predict(others) == model.predict(others)
    assert again.settings == model.settings
    again.save(tmp_path / "again.skops")
    assert (tmp_path / "again.skops").read_bytes() == (tmp_path / "m.skops").read_bytes()


def test_two_classes_have_one_curve_and_explanations_know_the_boundary():
    texts, labels = documents(90)
    pairs = [(text, label) for text, label in zip(texts, labels, strict=True) if label != "money"]
    texts, labels = zip(*(pairs[:30] + [one for one in pairs[30:] if one[1] == "sea"]), strict=True)  # more of one
    model = train(texts, labels, **fixed("logistic_regression", calibrate=4))
    assert len(model.decision.calibration.curves) == 1
    chances = model.predict_proba(texts)
    for row, [why], label in zip(chances, model.explain(texts, n=1000), model.predict(texts), strict=True):
        assert why.label == label
        assert why.margin >= -1e-6
        assert sum(part.part for part in why.parts) + why.rest == pytest.approx(why.margin, abs=1e-9)
        assert (why.margin < 0.01) or row.max() > 0.5


def test_each_of_several_labels_has_its_threshold():
    texts, labels = documents(120, several=True)
    model = train(texts, labels, **fixed("linear_svm", calibrate=4))
    decision = model.decision
    assert decision.always_label
    assert ((decision.thresholds > 0) & (decision.thresholds < 1)).all()
    chances = model.predict_proba(texts)
    for row, some, explained in zip(chances, model.predict(texts), model.explain(texts), strict=True):
        above = [name for name, p, t in zip(model.classes, row, decision.thresholds, strict=True) if p > t]
        assert some == above or (not above and len(some) == 1)
        if above:
            assert all(why.margin > -1e-9 for why in explained)


@pytest.mark.parametrize("calibrate", [0, 3])
@pytest.mark.parametrize("several", [False, True])
def test_a_text_with_no_known_term_gets_the_prior(several, calibrate):
    texts, labels = documents(44, several=several)
    model = train(texts, labels, **fixed("multinomial_nb", calibrate=calibrate))
    shares = [np.mean([name in (one if several else [one]) for one in labels]) for name in model.classes]
    assert model.predict_proba(["zzz", ""]) == pytest.approx(np.array([shares, shares]))
    assert model.has_terms(["zzz", "ship", ""]).tolist() == [False, True, False]
    [said] = model.predict(["zzz"])
    [why] = model.explain(["zzz"])
    if several:
        limits = model.decision.thresholds if calibrate else [0.5] * 3
        assert said == [name for name, share, t in zip(model.classes, shares, limits, strict=True) if share > t]
    else:
        assert said == model.classes[int(np.argmax(shares))]
        assert (why[0].label, why[0].parts) == (said, ())
        assert why[0].margin == pytest.approx(np.log(max(shares) / sorted(shares)[-2]))


@pytest.mark.parametrize("several", [False, True])
def test_the_prior_is_that_of_training_documents_with_none_of_the_terms(several):
    """As if ten more had the shares of all; the labels of held-out documents are as good as those compared."""
    texts = [f"red a{i}" for i in range(20)] + [f"blue b{i}" for i in range(20)] + [f"other{i}" for i in range(12)]
    labels = ["a"] * 20 + ["b"] * 20 + ["c"] * 12
    given = [[one, "d"] if one == "c" else [one] for one in labels] if several else labels
    model = train(texts, given, scores="chi2", rule=2, classifiers="linear_svm", cv=4, calibrate=3)
    shares = {"a": 20 / 52, "b": 20 / 52, "c": 12 / 52, "d": 12 / 52}
    none = {"a": 0, "b": 0, "c": 12, "d": 12}
    expected = [(none[name] + 10 * shares[name]) / 22 for name in model.classes]
    assert model.predict_proba(["zzz"])[0] == pytest.approx(expected)
    assert model.predict(["zzz"]) == [["c", "d"] if several else "c"]
    assert model.settings["calibration"]["f1_macro"] == 1.0


def test_labels_that_are_not_sure_enough_are_not_given():
    texts, labels = documents(60)
    model = train(texts, labels, **fixed("linear_svm", calibrate=3))
    others, _ = documents(60, seed=4)
    sure = model.predict_proba(others).max(axis=1)
    limit = float(np.median(sure))
    for one, all_of_them, p in zip(
        model.predict(others, min_confidence=limit), model.predict(others), sure, strict=True
    ):
        assert one == (all_of_them if p >= limit else None)
    with pytest.raises(OptionError, match="from 0 to 1"):
        model.predict(others, min_confidence=1.5)
    with pytest.raises(OptionError, match="from 0 to 1, not 'half'"):
        model.predict(others, min_confidence="half")
    plain = train(texts, labels, **fixed("linear_svm"))
    assert plain.predict_proba(others) is None
    with pytest.raises(OptionError, match="has none of its own"):
        plain.predict(others, min_confidence=0.5)


def test_too_few_documents_are_not_calibrated():
    model = train(["ab cd", "cd ef", "gh cd", "gh"], ["x", "x", "x", "y"], **fixed("multinomial_nb", ks=3, calibrate=5))
    assert model.settings["calibration"] is None
    assert model.decision is None
    for wrong in (1, -2, 2.5, True):
        with pytest.raises(OptionError, match="calibrate must be a number of folds"):
            train(["ab", "cd"], ["x", "y"], **fixed("multinomial_nb", calibrate=wrong))


def test_the_fit_is_that_of_a_pipeline_in_any_case():
    texts, labels = documents(60)
    model = train(texts, labels, **fixed("linear_svm", calibrate=3))
    pipeline = make_pipeline(
        ts.TermVectorizer(score_func="chi2", k=12, weighting="tfidf_log"), ts.classifier("linear_svm")
    )
    pipeline.fit(texts, labels)
    assert np.allclose(model.classifier.coef_, pipeline[-1].coef_)
    assert model.vectorizer.get_feature_names_out().tolist() == pipeline[0].get_feature_names_out().tolist()

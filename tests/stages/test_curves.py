"""Curves: the predictions of refitting at every k, one and all."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import naive_curves
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB, MultinomialNB
from sklearn.neighbors import NearestCentroid

from termsieve.classify import bayes_sweep, curve_task
from termsieve.classify.curves import curve, predict_curve
from termsieve.classify.linear_svm import LinearSVM
from termsieve.classify.recipes import PoissonNB, ProbitClassifier, classifier
from termsieve.errors import InputError, OptionError

MODELS = ["multinomial_nb", "bernoulli_nb", "poisson_nb"]
SCORES = {
    "multinomial_nb": naive_curves.multinomial_scores,
    "bernoulli_nb": naive_curves.bernoulli_scores,
    "poisson_nb": naive_curves.poisson_scores,
}


def corpus(seed, n=120, d=40, m=4, rate=0.3, several=False):
    rng = np.random.default_rng(seed)
    X = sparse.csr_array(rng.poisson(rng.gamma(0.3, rate, (m, d))[rng.integers(0, m, n)]))
    y = (rng.random((n, m)) < 0.3).astype(int) if several else np.array(["a", "b", "c", "d"])[rng.integers(0, m, n)]
    return X[: n // 2], y[: n // 2], X[n // 2 :], rng.permutation(d)


@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array, lambda X: X.toarray()])
@pytest.mark.parametrize("spelling", [*MODELS, "multinomial_nb(alpha=0.1)", "bernoulli_nb(alpha=0.37)"])
@pytest.mark.parametrize("seed", range(3))
def test_labels_are_those_of_refitting(seed, spelling, container):
    X, y, T, order = corpus(seed)
    X, T = container(X), container(T)
    ks = [1, 2, 3, 7, 20, 40]
    expected = naive_curves.refitted(X, y, T, order, ks, classifier(spelling))
    found = curve(X, y, T, order, ks, spelling)
    assert found.shape == (6, 60)
    assert found.dtype == y.dtype
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("spelling", [*MODELS, "multinomial_nb(fit_prior=False)"])
@pytest.mark.parametrize("seed", range(3))
def test_several_labels_are_those_of_one_against_the_rest(seed, spelling):
    X, Y, T, order = corpus(seed, several=True)
    ks = [1, 2, 5, 40]
    found = curve(X, Y, T, order, ks, spelling)
    assert found.shape == (4, 60, 4)
    np.testing.assert_array_equal(found, naive_curves.refitted(X, Y, T, order, ks, classifier(spelling)))
    np.testing.assert_array_equal(found, curve(X, sparse.csr_array(Y), T, order, ks, spelling))


@given(st.data())
@pytest.mark.parametrize("spelling", MODELS)
def test_any_small_counts_with_ties_and_empty_documents(spelling, data):
    n, d, m = data.draw(st.integers(2, 8)), data.draw(st.integers(1, 5)), data.draw(st.integers(1, 3))
    cells = st.integers(0, 2)
    X = np.array(data.draw(st.lists(st.lists(cells, min_size=d, max_size=d), min_size=n, max_size=n)))
    y = np.array(data.draw(st.lists(st.integers(0, m - 1), min_size=n, max_size=n)))
    T = np.array(data.draw(st.lists(st.lists(cells, min_size=d, max_size=d), min_size=1, max_size=5)))
    order = data.draw(st.permutations(range(d)))
    ks = list(range(1, d + 1))
    A, B = sparse.csr_array(X), sparse.csr_array(T)
    expected = naive_curves.refitted(A, y, B, order, ks, classifier(spelling))
    np.testing.assert_array_equal(curve(A, y, B, order, ks, spelling), expected)


@pytest.mark.parametrize("spelling", MODELS)
def test_scores_of_the_textbook(spelling):
    X, y, T, order = corpus(5)
    found = curve(X, y, T, order, [4, 25], spelling)
    for row, k in zip(found, (4, 25), strict=True):
        for label, document in zip(row, T.toarray(), strict=True):
            scores = SCORES[spelling](X.toarray().tolist(), y.tolist(), document, order[:k], 1.0)
            assert scores[label] >= max(scores.values()) - 1e-9


@pytest.mark.parametrize("spelling", MODELS)
def test_fractions_as_weights(spelling):
    X, y, T, order = corpus(2)
    X, T = X * 0.1, T * 0.3
    ks = [1, 3, 9, 30]
    expected = naive_curves.refitted(X, y, T, order, ks, classifier(spelling))
    np.testing.assert_array_equal(curve(X, y, T, order, ks, spelling), expected)


@pytest.mark.parametrize("spelling", MODELS)
def test_classes_that_cannot_be_told_apart(spelling, monkeypatch):
    """Every class has the same documents: every decision is a tie, and the estimator decides."""
    X, _, T, order = corpus(3)
    X, y = sparse.vstack([X, X, X]), np.repeat(["x", "y", "z"], 60)
    asked = []
    exactly = bayes_sweep.BayesProblem.predict_exactly
    monkeypatch.setattr(
        bayes_sweep.BayesProblem, "predict_exactly", lambda self, k, rows: asked.append(k) or exactly(self, k, rows)
    )
    ks = [2, 10, 40]
    expected = naive_curves.refitted(X, y, T, order, ks, classifier(spelling))
    np.testing.assert_array_equal(curve(X, y, T, order, ks, spelling), expected)
    assert asked == ks


@pytest.mark.parametrize("seed", range(4))
def test_only_what_is_too_close_to_call_is_asked_again(seed, monkeypatch):
    X, y, T, order = corpus(seed)
    asked = []
    exactly = bayes_sweep.BayesProblem.predict_exactly
    monkeypatch.setattr(
        bayes_sweep.BayesProblem,
        "predict_exactly",
        lambda self, k, rows: asked.extend((k, row) for row in rows) or exactly(self, k, rows),
    )
    ks = [3, 10, 20]
    curve(X, y, T, order, ks)
    for k in ks:
        scores = MultinomialNB().fit(X[:, order[:k]], y).predict_joint_log_proba(T[:, order[:k]])
        margins = np.diff(np.sort(scores, axis=1)[:, -2:]).ravel()
        empty = T[:, order[:k]].sum(axis=1) == 0
        assert {row for at, row in asked if at == k} == set(np.flatnonzero((margins < 1e-11) & ~empty))


def test_the_bound_covers_the_rounding_errors():
    """The scores of the sweep and of scikit-learn differ by less than the slack says."""
    X, y, T, order = corpus(4, n=400, d=300, rate=2.0)
    for spelling in MODELS:
        task = curve_task.CurveTask.from_arguments(X, y, T, order, [300], classifier(spelling))
        codes = task.codes[:, 0]
        shown = (X > 0).astype(float) if spelling == "bernoulli_nb" else X
        counts = np.array([shown[codes == c].sum(axis=0) for c in range(4)])[:, order].astype(float)
        bayes = bayes_sweep.BayesProblem(task, 0, counts, np.bincount(codes).astype(float))
        lines = bayes.coefficients(np.array([300]))
        seen = ((T > 0).astype(float) if spelling == "bernoulli_nb" else T)[:, order].toarray()
        ours = lines.fixed[0] + seen @ lines.weights - seen.sum(axis=1)[:, None] * lines.drift[0]
        model = task.fit_model(300, 0)
        theirs = (
            model._class_scores(T[:, order]) if spelling == "poisson_nb" else model.predict_joint_log_proba(T[:, order])
        )
        bound = seen.sum(axis=1) * lines.slack[0] + lines.fixed_slack[0]
        assert (np.abs(ours - theirs).max(axis=1) <= bound).all()
        assert bound.max() < 1e-6


def test_ks_in_any_order_and_twice():
    X, y, T, order = corpus(1)
    found = curve(X, y, T, order, [9, 3, 9, 40])
    np.testing.assert_array_equal(found, curve(X, y, T, order, [3, 9, 40])[[1, 0, 1, 2]])
    assert curve(X, y, T, order, []).shape == (0, 60)
    assert curve(X, y, T[:0], order, [3]).shape == (1, 0)
    assert curve(X, y, T, order, iter([3])).shape == (1, 60)


def test_a_short_ranking_is_enough():
    X, y, T, order = corpus(1)
    np.testing.assert_array_equal(curve(X, y, T, order[:5], [2, 5]), curve(X, y, T, order, [2, 5]))


@pytest.mark.parametrize("spelling", [*MODELS, "logistic_regression"])
def test_columns_that_are_all_0_or_all_1_are_predicted_so(spelling):
    X, Y, T, order = corpus(0, several=True)
    Y[:, 1], Y[:, 2] = 0, 1
    found = curve(X, Y, T, order, [5, 30], spelling)
    assert not found[:, :, 1].any()
    assert found[:, :, 2].all()
    one = curve(X, Y[:, [0]], T, order, [5, 30], spelling)
    np.testing.assert_array_equal(one[:, :, 0], found[:, :, 0])


def test_a_single_class_is_predicted_always():
    X, _, T, order = corpus(0)
    assert (curve(X, ["only"] * 60, T, order, [1, 9]) == "only").all()


def test_given_priors():
    X, y, T, order = corpus(0)
    for model in (MultinomialNB(class_prior=[0.7, 0.1, 0.2, 0.0]), PoissonNB(class_prior=[0.7, 0.1, 0.1, 0.1], beta=3)):
        with np.errstate(divide="ignore"):
            expected = naive_curves.refitted(X, y, T, order, [1, 10], model)
            np.testing.assert_array_equal(curve(X, y, T, order, [1, 10], model), expected)


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(),
        NearestCentroid(),
        ProbitClassifier(),
        BernoulliNB(binarize=None),
        BernoulliNB(binarize=1.0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_other_models_are_refitted(model):
    X, y, T, order = corpus(0)
    if isinstance(model, BernoulliNB) and model.binarize is None:
        X, T = (X > 0).astype(float), (T > 0).astype(float)
    ks = [2, 10]
    np.testing.assert_array_equal(curve(X, y, T, order, ks, model), naive_curves.refitted(X, y, T, order, ks, model))


def test_other_models_with_several_labels():
    X, Y, T, order = corpus(0, several=True)
    for model in (LogisticRegression(), ProbitClassifier()):
        expected = naive_curves.refitted(X, Y, T, order, [3, 20], model)
        np.testing.assert_array_equal(curve(X, Y, T, order, [3, 20], model), expected)


def test_codes_are_places_among_the_classes():
    X, y, T, order = corpus(0)
    classes, codes, gaps, decisions = predict_curve(X, y, T, order, [3, 9], decisions=True)
    assert gaps is None
    assert decisions is None  # of more than two classes
    assert classes.tolist() == ["a", "b", "c", "d"]
    np.testing.assert_array_equal(classes[codes], curve(X, y, T, order, [3, 9]))


@pytest.mark.parametrize("model", [MultinomialNB(), BernoulliNB(), PoissonNB(), LinearSVM()])
def test_decisions_are_those_of_the_fitted_estimator(model):
    X, y, T, order = corpus(0)
    y = np.where(y == "a", "a", "rest")
    ks = [9, 3, 9, 20]
    found = predict_curve(X, y, T, order, ks, model, decisions=True)
    np.testing.assert_array_equal(found.classes[found.codes], curve(X, y, T, order, ks, model))
    for k, row in zip(ks, found.decisions, strict=True):
        fitted = clone(model).fit(X[:, order[:k]], y)
        unseen = T[:, order[:k]]
        if hasattr(fitted, "decision_function"):
            expected = fitted.decision_function(unseen)
        else:
            expected = np.subtract(*fitted.predict_log_proba(unseen).T[::-1])
        np.testing.assert_allclose(row, expected, rtol=1e-6, atol=1e-6)


def test_decisions_come_only_when_asked_for():
    X, y, T, order = corpus(0)
    assert predict_curve(X, np.where(y == "a", "a", "rest"), T, order, [3]).decisions is None
    assert predict_curve(X, y == "a", T, order, [3], LogisticRegression(), decisions=True).decisions is None


def test_any_number_of_threads_gives_the_same(monkeypatch):
    X, y, T, order = corpus(0)
    expected = curve(X, y, T, order, [3, 9])
    monkeypatch.setattr(bayes_sweep, "_CHUNK_DOCS", 7)
    np.testing.assert_array_equal(curve(X, y, T, order, [3, 9]), expected)


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        ({"order": [0, 1, 0]}, OptionError, "column 0 2 times"),
        ({"order": [0, 99]}, OptionError, "column 99"),
        ({"order": [-1]}, OptionError, "column -1"),
        ({"order": ["a"]}, OptionError, "numbers of columns"),
        ({"ks": [0]}, OptionError, "ks has 0"),
        ({"ks": [41]}, OptionError, "1 to 40"),
        ({"ks": [1.5]}, OptionError, "whole numbers"),
        ({"ks": 3}, OptionError, "list of whole numbers, not 3"),
        ({"X_test": np.full((2, 40), np.nan), "model": "libsvm"}, InputError, "X_test cannot be classified: "),
        ({"y_train": ["a"] * 59}, InputError, "60 rows, but y_train has 59"),
        ({"y_train": [{"a"}] * 60}, InputError, "MultiLabelBinarizer"),
        ({"X_test": np.zeros((2, 3))}, InputError, "40 columns, but X_test has 3"),
        ({"X_test": -np.ones((2, 40))}, InputError, "counts from 0"),
        ({"X_train": np.full((60, 40), np.nan)}, InputError, "X_train"),
        ({"X_train": np.zeros(3)}, InputError, "matrix"),
        ({"model": "multinomial"}, OptionError, "Did you mean 'multinomial_nb'"),
        ({"model": MultinomialNB}, OptionError, "spelling"),
        ({"model": MultinomialNB(class_prior=[1.0])}, OptionError, "class_prior must be 4 probabilities"),
        ({"y_train": np.append(np.ones(59), np.nan)}, InputError, "1 labels that are missing"),
    ],
)
def test_what_makes_no_sense_is_explained(change, error, says):
    X, y, T, order = corpus(0)
    good = {"X_train": X, "y_train": y, "X_test": T, "order": order, "ks": [3], "model": "multinomial_nb"}
    with pytest.raises(error, match=says):
        curve(**{**good, **change})


@pytest.mark.parametrize("total", ["selected", "all"])
def test_smoothing_over_all_words_of_the_training_documents(total):
    """By the formula: the number of distinct words in the denominator, and the sum over some or all of them."""
    X, Y, unseen, order = corpus(5, several=True)
    X, unseen, ks = X.toarray(), unseen.toarray(), [1, 5, 20]
    X[:, order[-1]] = 0
    n_words = int((X.sum(axis=0) > 0).sum())
    got = predict_curve(sparse.csr_array(X), Y, sparse.csr_array(unseen), order, ks, f'vocabulary_nb(total="{total}")')
    for at, k in enumerate(ks):
        for c, member in enumerate(Y.T):
            scores = []
            for inside in (0, 1):
                counts = X[member == inside].sum(axis=0)
                whole = counts if total == "all" else counts[order[:k]]
                shares = (counts[order[:k]] + 1) / (whole.sum() + n_words)
                scores.append(np.log((member == inside).mean()) + unseen[:, order[:k]] @ np.log(shares))
            np.testing.assert_array_equal(got.codes[at, :, c], scores[1] > scores[0])
    with pytest.raises(OptionError, match="total must be"):
        curve(X, Y, unseen, order, ks, 'vocabulary_nb(total="some")')


def test_documents_without_words_leave_the_prior_to_decide():
    empty = sparse.csr_array((4, 1))
    found = predict_curve(empty, np.array([0, 1, 1, 1]), sparse.csr_array(np.ones((2, 1))), [0], [1], "vocabulary_nb")
    assert found.codes.tolist() == [[1, 1]]

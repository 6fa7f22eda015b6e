"""Logistic regression along a ranking: each solution from the last, nearer to the optimum than a new fit."""

import numpy as np
import pytest
from oracles import naive_curves
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.svm import LinearSVC

from termsieve.classify.curves import curve
from termsieve.classify.logistic_path import can_continue, continue_from


def corpus(several):
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 3, 200)
    X = sparse.csr_array(rng.poisson(rng.gamma(0.3, 1.0, (3, 40))[codes]).astype(float))
    y = (codes[:, None] == np.arange(3)).astype(int) if several else np.array(["a", "b", "c"])[codes]
    return X[:120], y[:120], X[120:], rng.permutation(40)


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("several", [False, True])
def test_logistic_regression_starts_from_the_last_solution(normalized, several):
    X, y, T, order = corpus(several)
    model = LogisticRegression(max_iter=1000, C=5.0)
    model = make_pipeline(Normalizer(), model) if normalized else model
    ks = [1, 5, 6, 20, 40]
    found = curve(X, y, T, order, ks, model)
    tight = clone(model).set_params(**{("logisticregression__" if normalized else "") + "tol": 1e-9})
    np.testing.assert_array_equal(found, naive_curves.refitted(X, y, T, order, ks, tight))


def test_a_continued_logistic_regression_is_nearer_to_the_optimum_than_a_new_one():
    X, y, _, order = corpus(several=False)
    codes = np.unique(y, return_inverse=True)[1]

    def objective(model, k):
        log_odds = model.decision_function(X[:, order[:k]])
        losses = np.log(np.exp(log_odds).sum(axis=1)) - log_odds[np.arange(len(codes)), codes]
        return losses.sum() + np.square(model.coef_).sum() / 2

    model = None
    for k in (5, 10, 15, 20, 25, 30):
        model = continue_from(model, LogisticRegression(), k).fit(X[:, order[:k]], y)
        new = LogisticRegression(max_iter=1000).fit(X[:, order[:k]], y)
        least = objective(LogisticRegression(max_iter=10_000, tol=1e-10).fit(X[:, order[:k]], y), k)
        assert least * (1 - 1e-9) <= objective(model, k) <= least * (1 + 1e-6)
        assert objective(model, k) <= objective(new, k) * (1 + 1e-9)
    assert model.tol == pytest.approx(1e-5)
    alone = continue_from(None, LogisticRegression(), 30).fit(X[:, order[:30]], y)
    np.testing.assert_allclose(
        model.decision_function(X[:, order[:30]]), alone.decision_function(X[:, order[:30]]), atol=0.01
    )


@pytest.mark.parametrize("model", [LogisticRegression(solver="liblinear"), LogisticRegression(warm_start=True),
                                   LinearSVC(), make_pipeline(Normalizer(), MultinomialNB())], ids=str)  # fmt: skip
def test_other_models_are_fitted_as_they_are(model):
    assert not can_continue(model)
    assert can_continue(LogisticRegression(C=3))

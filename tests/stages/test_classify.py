"""PoissonNB against scipy's Poisson, ProbitClassifier against statsmodels and a numerical optimum; recipes."""

import pickle

import numpy as np
import pytest
from scipy import optimize, sparse, stats
from scipy.special import log_ndtr
from sklearn.base import is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import MultinomialNB

from termsieve.classify.curves import curve
from termsieve.classify.probit import default_prior_variance, hazard
from termsieve.classify.recipes import RECIPES, PoissonNB, ProbitClassifier, classifier, parse_recipe
from termsieve.errors import InputError, OptionError


@pytest.fixture(scope="module")
def counts():
    rng = np.random.default_rng(0)
    y = np.array(["a", "b", "c"])[rng.integers(0, 3, 90)]
    return rng.poisson(rng.gamma(0.5, 2.0, (3, 12))[np.searchsorted(["a", "b", "c"], y)]), y


@pytest.fixture(scope="module")
def normal():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 4)) * [1, 3, 0.5, 1] + [0, 2, 0, -1]
    return X, (X @ [1.0, -0.4, 0.0, 0.5] + 0.3 + rng.normal(size=200) > 0).astype(int)


# PoissonNB


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_joint_probability_is_the_product_of_poissons(counts, container):
    X, y = counts
    model = PoissonNB(alpha=0.5, beta=2.0).fit(container(X), y)
    expected = np.empty((len(X), 3))
    for i, c in enumerate("abc"):
        rate = (X[y == c].sum(axis=0) + 0.5) / ((y == c).sum() + 2.0)
        expected[:, i] = np.log((y == c).mean()) + stats.poisson(rate).logpmf(X).sum(axis=1)
    np.testing.assert_allclose(model.predict_joint_log_proba(container(X)), expected, rtol=1e-12)
    posterior = np.exp(expected - expected.max(axis=1, keepdims=True))
    posterior /= posterior.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(container(X)), posterior, atol=1e-12)
    np.testing.assert_array_equal(model.predict(container(X)), model.classes_[expected.argmax(axis=1)])


def test_parts_add_up_to_the_whole(counts):
    X, y = counts
    whole, parts = PoissonNB().fit(X, y), PoissonNB()
    for part in np.array_split(np.arange(len(y)), 4):
        parts.partial_fit(sparse.csr_array(X[part]), y[part], classes=["c", "a", "b"])
    np.testing.assert_array_equal(parts.rate_, whole.rate_)
    np.testing.assert_array_equal(parts.class_log_prior_, whole.class_log_prior_)


def test_a_weight_of_two_is_a_document_twice(counts):
    X, y = counts
    weight = np.random.default_rng(7).integers(0, 3, len(y))
    weighted = PoissonNB().fit(X, y, sample_weight=weight)
    repeated = PoissonNB().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_array_equal(weighted.rate_, repeated.rate_)


def test_a_class_without_documents_has_the_prior_rate_and_is_never_predicted():
    model = PoissonNB(alpha=2.0, beta=4.0).partial_fit([[1, 0]], ["a"], classes=["a", "b"])
    assert model.rate_[1].tolist() == [0.5, 0.5]
    assert model.class_log_prior_[1] == -np.inf
    assert model.predict([[0, 9]]).tolist() == ["a"]


def test_priors(counts):
    X, y = counts
    np.testing.assert_allclose(PoissonNB(fit_prior=False).fit(X, y).class_log_prior_, np.log([1 / 3] * 3))
    given = PoissonNB(class_prior=[0.5, 0.25, 0.25]).fit(X, y)
    np.testing.assert_allclose(given.class_log_prior_, np.log([0.5, 0.25, 0.25]))


@pytest.mark.parametrize(
    ("options", "says"),
    [({"alpha": 0}, "alpha"), ({"beta": -1.0}, "beta"), ({"class_prior": [1.0]}, "3 probabilities")],
)
def test_bad_parameters_of_poisson(counts, options, says):
    with pytest.raises(OptionError, match=says):
        PoissonNB(**options).fit(*counts)


@pytest.mark.parametrize("prior", [[np.nan, 0.5, 0.5], [-1.0, 1.0, 1.0], [0.0, 0.0, 0.0], [np.inf, 0.5, 0.5]])
def test_priors_that_are_no_shares_are_refused(counts, prior):
    with pytest.raises(OptionError, match="class_prior of PoissonNB must be numbers from 0"):
        PoissonNB(class_prior=prior).fit(*counts)


def test_weights_that_count_nothing_are_refused(counts):
    X, y = counts
    with pytest.raises(ValueError, match=r"(?i)sample.weight"):  # the newest scikit-learn says so itself
        PoissonNB().fit(X, y, sample_weight=np.zeros(len(y)))
    with pytest.raises(InputError, match="sample_weight must be numbers from 0"):
        PoissonNB().fit(X, y, sample_weight=np.where(y == "a", -1.0, 1.0))


def test_partial_fit_explains(counts):
    X, y = counts
    with pytest.raises(OptionError, match="first call"):
        PoissonNB().partial_fit(X, y)
    model = PoissonNB().partial_fit(X, y, classes=["a", "b", "c"])
    with pytest.raises(OptionError, match="on the first call"):
        model.partial_fit(X, y, classes=["a", "b"])
    with pytest.raises(InputError, match="'z'"):
        model.partial_fit(X[:1], ["z"])
    with pytest.raises(ValueError, match="Negative"):
        model.predict(-X)


# ProbitClassifier


def test_hazard_is_right_in_both_tails():
    t = np.array([-300.0, -30.0, -3.0, 0.0, 3.0, 8.0])
    mills = np.exp(stats.norm.logpdf(t) - stats.norm.logcdf(t))
    np.testing.assert_allclose(hazard(t), mills, rtol=1e-9)
    assert hazard(np.array([-1e200]))[0] == pytest.approx(1e200)


def test_without_a_prior_to_speak_of_it_is_statsmodels_probit(normal):
    sm = pytest.importorskip("statsmodels.api")
    X, y = normal
    theirs = sm.Probit(y, sm.add_constant(X)).fit(disp=0, tol=1e-12)
    for prior in ("gaussian", "laplace"):
        ours = ProbitClassifier(prior=prior, prior_variance=1e14, tol=1e-8).fit(X, y)
        np.testing.assert_allclose(np.append(ours.intercept_, ours.coef_), theirs.params, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(ours.predict_proba(X)[:, 1], theirs.predict(), atol=1e-6)


@pytest.mark.parametrize("variance", [0.01, 1.0, 50.0])
def test_gaussian_prior_against_a_numerical_optimum(normal, variance):
    X, y = normal
    sign = 2 * y - 1

    def objective(w):
        return -log_ndtr(sign * (X @ w[:-1] + w[-1])).sum() + w[:-1] @ w[:-1] / (2 * variance)

    found = optimize.minimize(objective, np.zeros(5), method="BFGS", options={"gtol": 1e-7})
    ours = ProbitClassifier(prior_variance=variance, tol=1e-8).fit(X, y)
    w = np.append(ours.coef_, ours.intercept_)
    np.testing.assert_allclose(w, found.x, atol=1e-5)
    assert objective(w) <= found.fun + 1e-9


@pytest.mark.parametrize("variance", [0.001, 0.05, 1.0])
def test_laplace_prior_meets_the_conditions_of_an_optimum(normal, variance):
    X, y = normal
    sign = 2 * y - 1
    ours = ProbitClassifier(prior="laplace", prior_variance=variance, tol=1e-7).fit(X, y)
    w, gamma = ours.coef_[0], np.sqrt(2 / variance)
    gradient = -X.T @ (sign * hazard(sign * ours.decision_function(X)))
    assert ours.converged_.all()
    assert (np.abs(gradient[w != 0] + gamma * np.sign(w[w != 0])) < 1e-4).all()
    assert (np.abs(gradient[w == 0]) <= gamma + 1e-4).all()

    def objective(v):
        return -log_ndtr(sign * (X @ v[:-1] + v[-1])).sum() + gamma * np.abs(v[:-1]).sum()

    best = optimize.minimize(objective, np.append(w, ours.intercept_), method="Powell", options={"ftol": 1e-12})
    assert objective(np.append(w, ours.intercept_)) <= best.fun + 1e-7


def test_a_narrow_laplace_prior_makes_weights_exactly_0(normal):
    assert (ProbitClassifier(prior="laplace", prior_variance=1e-6).fit(*normal).coef_ == 0).all()


def test_sparse_is_dense(counts):
    X, y = counts
    for prior in ("gaussian", "laplace"):
        dense, thin = (ProbitClassifier(prior=prior, tol=1e-8).fit(M, y) for M in (X, sparse.csr_array(X)))
        np.testing.assert_allclose(thin.coef_, dense.coef_, atol=1e-6)
        np.testing.assert_array_equal(thin.predict(sparse.csr_array(X)), dense.predict(X))


def test_default_variance_is_the_rule_of_genkin_lewis_and_madigan(counts):
    X, y = counts
    assert ProbitClassifier().fit(X, y).prior_variance_ == pytest.approx(12 / np.square(X).sum(axis=1).mean())
    assert default_prior_variance(np.zeros((2, 3))) == 1.0


def test_several_classes_are_one_against_the_rest(counts):
    X, y = counts
    ours = ProbitClassifier().fit(X, y)
    theirs = OneVsRestClassifier(ProbitClassifier()).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-9)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.predict_proba(X).sum(axis=1), 1.0)
    assert ours.coef_.shape == (3, 12)
    assert len(ours.n_iter_) == len(ours.converged_) == len(ours.optimality_) == 3


def test_several_labels(counts):
    X, y = counts
    Y = np.column_stack([y == "a", y != "c", np.zeros(len(y)), np.ones(len(y))]).astype(int)
    model = ProbitClassifier().fit(X, Y)
    predicted = model.predict(X)
    np.testing.assert_array_equal(predicted[:, 0], ProbitClassifier().fit(X, Y[:, 0]).predict(X))
    assert not predicted[:, 2].any()
    assert predicted[:, 3].all()
    assert np.isfinite(model.predict_proba(X)).all()


def test_no_convergence_is_reported(normal):
    with pytest.warns(ConvergenceWarning, match="1 of 1 classes.*Raise max_iter"):
        model = ProbitClassifier(max_iter=1).fit(*normal)
    assert model.converged_.tolist() == [False]
    assert model.n_iter_.tolist() == [1]


def test_separable_classes_converge():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    model = ProbitClassifier(prior_variance=100.0).fit(X, [0, 0, 1, 1])
    assert model.converged_.all()
    assert model.predict(X).tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize(
    "options", [{"prior": "cauchy"}, {"prior_variance": 0}, {"tol": None}, {"max_iter": 0}, {"prior_variance": "x"}]
)
def test_bad_parameters_of_probit(normal, options):
    with pytest.raises(OptionError, match="ProbitClassifier"):
        ProbitClassifier(**options).fit(*normal)


@pytest.mark.parametrize("factor", [1e200, 1e-200])
def test_entries_to_which_no_prior_can_be_scaled(normal, factor):
    X, y = normal
    if factor > 1:
        with pytest.raises(InputError, match="scale X first"):
            ProbitClassifier().fit(X * factor, y)
    else:
        assert np.isfinite(ProbitClassifier().fit(X * factor, y).predict_proba(X * factor)).all()


def test_one_class_is_refused(normal):
    with pytest.raises(InputError, match="only one class"):
        ProbitClassifier().fit(normal[0], np.zeros(200))


# Recipes


@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_makes_a_classifier_that_learns(name, counts):
    X, y = counts
    recipe = RECIPES[name]
    assert recipe.title
    assert recipe.about
    assert recipe.papers
    model = classifier(name)
    assert is_classifier(model)
    assert model.fit(X, y).score(X, y) > 0.5
    assert pickle.loads(pickle.dumps(model)).score(X, y) > 0.5
    assert parse_recipe(recipe.spelling).spelling == name


@pytest.mark.parametrize(
    ("said", "spelling"),
    [
        ("multinomial_nb( alpha=0.50 )", "multinomial_nb(alpha=0.5)"),
        ("multinomial_nb(alpha=1.0)", "multinomial_nb"),
        ("probit(prior='laplace', prior_variance=2)", 'probit(prior="laplace", prior_variance=2)'),
        ("probit(prior_variance=None)", "probit"),
        ("neural_network(hidden_layer_sizes=(50,))", "neural_network(hidden_layer_sizes=(50,))"),
        ("linear_svm(random_state=3, C=10)", "linear_svm(C=10, random_state=3)"),
    ],
)
def test_spellings_are_read_and_written(said, spelling):
    recipe = parse_recipe(said)
    assert recipe.spelling == spelling
    assert parse_recipe(spelling) == recipe
    assert repr(classifier(recipe)) == repr(classifier(said))


@pytest.mark.parametrize(
    ("said", "says"),
    [
        ("multinomial", "Did you mean 'multinomial_nb'"),
        ("svm", "Did you mean 'linear_svm'"),
        ("NB", "Did you mean 'multinomial_nb'"),
        ("xyz", "Known classifiers: bernoulli_nb"),
        ("multinomial_nb(alfa=1)", "Did you mean 'alpha'"),
        ("multinomial_nb(1)", "must be named"),
        ("multinomial_nb(**{})", "has no name"),
        ("multinomial_nb(alpha=open('x'))", "is not understood"),
        ("multinomial_nb(", "not the spelling"),
        ("linear-svm", "Did you mean 'linear_svm'"),
        ("", "not the spelling"),
    ],
)
def test_what_is_no_recipe_is_explained(said, says):
    with pytest.raises(OptionError, match=says):
        classifier(said)


def test_an_estimator_is_cloned():
    model = MultinomialNB(alpha=3)
    assert classifier(model) is not model
    assert classifier(model).alpha == 3
    with pytest.raises(OptionError, match="classifier"):
        classifier(7)


def test_poisson_without_absent_terms_leaves_their_factor_out():
    X, y = np.array([[3, 0, 1], [2, 1, 0], [0, 4, 1], [1, 3, 0]]), [0, 0, 1, 1]
    model = PoissonNB(absent_terms=False).fit(X, y)
    new = np.array([[2, 0, 0], [0, 1, 3]])
    expected = np.log(0.5) + np.array(
        [[sum(x * np.log(r) - r for x, r in zip(row, rates, strict=True) if x) for rates in model.rate_] for row in new]
    )
    for given in (new, sparse.csr_array(new)):
        joint = model._class_scores(given)
        np.testing.assert_allclose(np.asarray(joint), expected)
    whole, cut = (curve(X, y, new, [0, 1, 2], [1, 2, 3], PoissonNB(absent_terms=flag)) for flag in (True, False))
    assert whole.shape == cut.shape
    for k in (1, 2, 3):
        fitted = PoissonNB(absent_terms=False).fit(X[:, :k], y)
        assert (cut[k - 1] == fitted.predict(new[:, :k])).all()

"""LinearSVM: the optimum of LinearSVC's objective, with its certificate, along rankings and along C."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import linear_svm as oracle
from oracles import naive_curves
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, normalize
from sklearn.svm import LinearSVC

import termsieve as ts
from termsieve.classify import linear_descent, linear_path, linear_systems, linear_tuning
from termsieve.classify.curves import curve, predict_curve
from termsieve.classify.linear_kernels import search_line
from termsieve.classify.linear_path import Newton, SvmProblem, solve_path
from termsieve.classify.linear_systems import ColumnSystem, DocumentSystem
from termsieve.classify.ranked_rows import RankedRows
from termsieve.classify.recipes import LinearSVM, classifier
from termsieve.errors import InputError, OptionError


def corpus(seed, n=160, d=40, m=4, several=False):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, m, n)
    X = sparse.csr_array(rng.poisson(rng.gamma(0.3, 1.0, (m, d))[codes]).astype(float))
    y = (rng.random((n, m)) < 0.3).astype(int) if several else np.array(["a", "b", "c", "d"])[codes]
    return X[: n // 2], y[: n // 2], X[n // 2 :], rng.permutation(d)


def problems_of(model, y):
    """Signs and C of the documents for each row of the weights."""
    codes = np.searchsorted(model.classes_, y)
    weights = model.class_weights(model.classes_, codes)
    for c in [1] if len(model.classes_) == 2 else range(len(model.classes_)):
        rest = weights[0] if len(model.classes_) == 2 else 1.0
        yield np.where(codes == c, 1.0, -1.0), model.C_ * np.where(codes == c, weights[c], rest)


def check_certificate(model, X, y):
    """The gradient, the gap and the objective, computed in NumPy."""
    for row, (signs, costs) in enumerate(problems_of(model, y)):
        w = np.append(model.intercept_[row], model.coef_[row])
        value = oracle.objective(X, signs, costs, w)
        assert model.objective_[row] == pytest.approx(value, rel=1e-9, abs=1e-300)
        gap = np.square(oracle.gradient(X, signs, costs, w)).sum() / 2
        assert gap <= 1.01 * model.tol * value + 1e-12
        dual = oracle.dual_objective(
            X, signs, costs, 2 * costs * np.maximum(0, 1 - signs * (oracle.with_intercept(X) @ w))
        )
        assert value - dual == pytest.approx(gap, abs=1e-9 * value)


@pytest.mark.parametrize("parameters", [{}, {"C": 0.01}, {"C": 100.0}, {"class_weight": "balanced"},
                                        {"class_weight": {"a": 3.0, "d": 0.2}}], ids=str)  # fmt: skip
@pytest.mark.parametrize("m", [2, 4])
def test_the_objective_is_that_of_liblinear_at_its_optimum(parameters, m):
    X, y, T, _ = corpus(m, m=m)
    if m == 2 and isinstance(parameters.get("class_weight"), dict):
        parameters = {"class_weight": {"a": 3.0, "b": 0.2}}
    if m == 4 and isinstance(parameters.get("class_weight"), dict):
        parameters = {"class_weight": {"a": 3.0, "b": 1.0, "c": 1.0, "d": 0.2}}
    model = LinearSVM(**parameters).fit(X, y)
    check_certificate(model, X, y)
    theirs = LinearSVC(dual=False, tol=1e-10, max_iter=100_000, **parameters).fit(X, y)
    np.testing.assert_allclose(model.coef_, theirs.coef_, atol=1e-3)
    np.testing.assert_allclose(model.decision_function(T), theirs.decision_function(T), atol=1e-2)
    assert model.coef_.shape == theirs.coef_.shape
    assert model.intercept_.shape == theirs.intercept_.shape
    for row, (signs, costs) in enumerate(problems_of(model, y)):
        least = oracle.objective(X, signs, costs, np.append(theirs.intercept_[row], theirs.coef_[row]))
        assert model.objective_[row] <= least * (1 + 1e-7)


def test_without_an_intercept():
    X, y, _, _ = corpus(1)
    model = LinearSVM(fit_intercept=False).fit(X, y)
    theirs = LinearSVC(fit_intercept=False, dual=False, tol=1e-10, max_iter=100_000).fit(X, y)
    np.testing.assert_allclose(model.coef_, theirs.coef_, atol=1e-3)
    assert not model.intercept_.any()


small = st.integers(0, 3)


@st.composite
def small_data(draw):
    n, d = draw(st.integers(2, 9)), draw(st.integers(1, 6))
    X = np.array(draw(st.lists(st.lists(small, min_size=d, max_size=d), min_size=n, max_size=n)), float)
    if draw(st.booleans()):
        X[:, draw(st.integers(0, d - 1))] = X[:, 0]  # a column twice
    if draw(st.booleans()):
        X[draw(st.integers(0, n - 1))] = 0  # an empty document
    y = np.array(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    y[0], y[-1] = 0, draw(st.integers(1, 2))
    return X, y


@settings(max_examples=60)
@given(small_data(), st.sampled_from([1e-4, 0.3, 1.0, 50.0, 1e4]), st.sampled_from([None, "balanced", {0: 2.5}]))
def test_any_small_data_has_its_certificate(data, C, class_weight):
    X, y = data
    model = LinearSVM(C=C, class_weight=class_weight).fit(sparse.csr_array(X), y)
    check_certificate(model, X, y)


@settings(max_examples=40)
@given(small_data(), st.booleans(), st.sampled_from([0.1, 1.0, 100.0]))
def test_a_path_ends_where_each_fit_ends(data, normalized, C):
    """From the last solution or from 0, with kept systems or new ones: the optimum is one."""
    X, y = data
    rows = RankedRows(sparse.csr_array(X), normalize=normalized)
    signs = np.where(y == 0, 1.0, -1.0)
    ks = np.arange(1, X.shape[1] + 1)
    path = list(solve_path(rows, rows.views(ks), SvmProblem(signs, C, C), tol=1e-12))
    for k, point in zip(ks, path, strict=True):
        A = normalize(X[:, :k]) if normalized else X[:, :k]
        found = LinearSVM(C=C, tol=1e-12).fit(A, np.where(y == 0, "x", "w"))
        assert point.objective == pytest.approx(found.objective_[0], rel=1e-9)
        np.testing.assert_allclose(point.weights[1:], found.coef_[0], atol=1e-5)
        np.testing.assert_allclose(oracle.gradient(A, signs, C, point.weights), 0, atol=1e-4)


@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csc_array, lambda X: X.toarray()])
@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("spelling", ["linear_svm", 'linear_svm(class_weight="balanced")', "linear_svm(C=30)",
                                      "linear_svm(fit_intercept=False)"])  # fmt: skip
def test_curves_are_those_of_refitting(spelling, normalized, container):
    X, y, T, order = corpus(3)
    X, T = container(X), container(T)
    model = make_pipeline(Normalizer(), classifier(spelling)) if normalized else classifier(spelling)
    ks = [1, 2, 3, 7, 20, 40]
    expected = naive_curves.refitted(X, y, T, order, ks, model)
    found = curve(X, y, T, order, ks, model)
    assert found.dtype == y.dtype
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("normalized", [False, True])
def test_curves_of_several_labels(normalized):
    X, Y, T, order = corpus(4, several=True)
    Y[:, 1], Y[:, 2] = 0, 1
    model = make_pipeline(Normalizer(), LinearSVM()) if normalized else LinearSVM()
    found = curve(X, Y, T, order, [1, 5, 40], model)
    assert not found[:, :, 1].any()
    assert found[:, :, 2].all()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # columns of 1 alone
        np.testing.assert_array_equal(found, naive_curves.refitted(X, Y, T, order, [1, 5, 40], model))


def test_a_prediction_does_not_depend_on_the_other_numbers_of_terms():
    X, y, T, order = corpus(5, n=400)
    together = curve(X, y, T, order, range(1, 41), "linear_svm")
    for k in (1, 8, 25, 40):
        np.testing.assert_array_equal(curve(X, y, T, order, [k], "linear_svm")[0], together[k - 1])


def test_both_systems_and_conjugate_gradients_find_the_same_step():
    X, _, _, order = corpus(6)
    rows = RankedRows(X[:, order])
    rng = np.random.default_rng(0)
    systems = [ColumnSystem(reuse=True), DocumentSystem(reuse=True)]
    for view in rows.views([3, 10, 11, 40]):
        for _ in range(3):
            active = np.flatnonzero(rng.random(view.n) < 0.4)
            costs, gradient = rng.random(len(active)) + 0.1, rng.normal(size=view.k + 1)
            A = sparse.vstack([sparse.csr_array((2, view.k)), X[:, order[: view.k]][rows.order]])
            expected = np.linalg.solve(oracle.hessian(A, active, costs), -gradient)
            for system in systems:
                np.testing.assert_allclose(system.find_step(view, active, costs, gradient), expected, atol=1e-9)
            step = np.empty_like(gradient)
            linear_path.linear_kernels.solve_by_conjugate_gradients(
                rows=active, weights=costs, **view.entries(), gradient=gradient, limit=1e-24, max_steps=1000, step=step
            )
            np.testing.assert_allclose(step, expected, atol=1e-9)


@pytest.mark.parametrize("most", [0, 10**9])
def test_the_ways_to_a_step_lead_to_one_optimum(most, monkeypatch):
    X, y, _, _ = corpus(7)
    expected = LinearSVM(tol=1e-14).fit(X, y)
    monkeypatch.setattr(linear_systems, "MAX_DIRECT", most)
    monkeypatch.setattr(linear_path, "_FLOP", 1e9 if most == 0 else 0.0)
    found = LinearSVM(tol=1e-14).fit(X, y)
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-6)


@given(st.lists(st.tuples(st.sampled_from([-1.0, 1.0]), st.floats(-3, 3), st.floats(-3, 3)), min_size=1, max_size=6),
       st.floats(0.01, 2))  # fmt: skip
def test_the_line_search_finds_the_least(documents, square):
    signs, sums, moved = (np.array(part) for part in zip(*documents, strict=True))
    costs = np.ones(len(signs))

    def value(t):
        slack = np.maximum(0, 1 - signs * (sums + t * (moved - sums)))
        return -2 * t + square * t * t / 2 + (slack**2).sum() / 2

    slope = -2 - (signs * (moved - sums) * np.maximum(0, 1 - signs * sums)).sum()
    if slope >= -1e-3:
        return
    length = search_line(signs, costs, sums, moved, -2.0, square)
    around = [value(length + change) for change in (-1e-3, 0.0, 1e-3)]
    assert around[1] <= min(around) + 1e-12


def test_c_is_chosen_by_folds_of_the_training_documents():
    X, y, T, order = corpus(8, n=300)
    model = LinearSVM(C="auto").fit(X, y)
    assert model.C_ in linear_tuning.GRID
    np.testing.assert_array_equal(model.coef_, LinearSVM(C="auto").fit(X, y).coef_)
    np.testing.assert_allclose(model.coef_, LinearSVM(C=model.C_).fit(X, y).coef_)
    check_certificate(model, X, y)
    ks = [2, 10, 40]
    chosen = []
    for k in ks:
        at_k = clone(model).fit(X[:, order[:k]], y)
        chosen.append(at_k.C_)
        np.testing.assert_array_equal(curve(X, y, T, order, ks, model)[ks.index(k)], at_k.predict(T[:, order[:k]]))
    rows = RankedRows(X[:, order])
    path = model.solve_path(rows, X[:, order], np.searchsorted(model.classes_, y), model.classes_, np.array(ks))
    assert path.costs.tolist() == chosen


def test_c_is_the_best_on_folds_that_a_plain_loop_tries():
    from sklearn.metrics import f1_score
    from sklearn.model_selection import StratifiedKFold

    X, y, _, _ = corpus(9, n=300)
    means = []
    for C in linear_tuning.GRID:
        folds = StratifiedKFold(linear_tuning.FOLDS, shuffle=True, random_state=5).split(X, y)
        means.append(np.mean([f1_score(y[b], LinearSVM(C=C).fit(X[a], y[a]).predict(X[b]), average="macro")
                              for a, b in folds]))  # fmt: skip
    chosen = LinearSVM(C="auto", random_state=5).fit(X, y).C_
    best = np.flatnonzero(np.isclose(means, max(means), atol=1e-12))
    assert chosen == min((linear_tuning.GRID[i] for i in best), key=lambda C: (abs(np.log(C)), C))


def test_c_can_be_chosen_with_very_few_documents():
    X, y = np.array([[1.0, 0], [0, 1], [1, 1]]), ["a", "b", "c"]
    assert LinearSVM(C="auto").fit(X, y).C_ in linear_tuning.GRID
    several = OneVsRestClassifier(LinearSVM(C="auto")).fit(X, np.eye(3, dtype=int))
    assert all(one.C_ in linear_tuning.GRID for one in several.estimators_)
    assert LinearSVM(C="auto").fit(np.ones((3, 1)), [0, 1, 1]).C_ == 1.0  # all are equal: the nearest to 1


def test_a_class_may_be_absent_from_a_fold():
    X, y, _, _ = corpus(10)
    y = np.where(np.arange(len(y)) == 3, "e", y)
    assert LinearSVM(C="auto", class_weight="balanced").fit(X, y).C_ in linear_tuning.GRID


def test_solved_without_convergence_warnings_where_liblinear_warns():
    X, y, _, _ = corpus(11)
    X = X * 300
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LinearSVM(C=1000.0).fit(X, y)
    assert (model.certificate_ <= model.tol).all()


def test_what_is_not_solved_is_told():
    X, y, _, _ = corpus(12)
    with pytest.warns(ConvergenceWarning, match=r"did not reach the optimum for 4 of 4 problems.*Lower C"):
        model = LinearSVM(max_iter=1).fit(X, y)
    assert (model.certificate_ > model.tol).all()


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"class_weight": np.array([1.0, 2.0])}, "class_weight of LinearSVM must be None"),
        ({"C": 0}, "positive number or \"auto\"; it is 0"),
        ({"C": "much"}, "it is 'much'"),
        ({"C": 1e155}, "C of LinearSVM must be at most 1e\\+50"),
        ({"class_weight": {"a": 1e155}}, "numbers from 0 to 1e\\+50"),
        ({"tol": -1}, "tol of LinearSVM"),
        ({"max_iter": 0}, "max_iter of LinearSVM"),
        ({"class_weight": "even"}, "it is 'even'"),
        ({"class_weight": {"z": 2.0}}, "has 'z', which is not one of the classes"),
        ({"class_weight": {"a": -2.0}}, "numbers from 0"),
    ],
)  # fmt: skip
def test_parameters_that_make_no_sense(parameters, says):
    X, y, T, order = corpus(0)
    with pytest.raises(OptionError, match=says):
        LinearSVM(**parameters).fit(X, y)
    with pytest.raises(InputError, match=r"cannot learn from 80 documents and 3 terms"):
        curve(X, y, T, order, [3], LinearSVM(**parameters))


def test_the_largest_numbers_have_a_certificate():
    X, y, _, _ = corpus(0)
    model = LinearSVM(C=1e50, class_weight={"a": 1e50}, max_iter=5)
    with pytest.warns(ConvergenceWarning):
        assert np.isfinite(model.fit(X, y).certificate_).all()
    with pytest.raises(InputError, match="entries beyond 1e\\+100"):
        LinearSVM().fit(X * 1e101, y)


def test_one_class_and_numbers_that_are_not_finite():
    X, y, T, order = corpus(0)
    with pytest.raises(InputError, match="only one class"):
        LinearSVM().fit(X, ["a"] * 80)
    with pytest.raises(InputError, match="only one class"):
        curve(X, ["a"] * 80, T, order, [3], "linear_svm")
    with pytest.raises(InputError, match="X_test has entries that are not finite"):
        curve(X, y, T * np.inf, order, [3], "linear_svm")


@pytest.mark.parametrize(
    ("spelling", "kind", "canonical"),
    [
        ("linear_svm", "LinearSVM", "linear_svm"),
        ("linear_svm(solver='newton', C=1)", "LinearSVM", "linear_svm"),
        ("linear_svm(solver='liblinear')", "LinearSVC", 'linear_svm(solver="liblinear")'),
        ("linear_svm(tol=0.01, solver='liblinear')", "LinearSVC", 'linear_svm(solver="liblinear", tol=0.01)'),
        ("linear_svm(C='auto', class_weight='balanced')", "LinearSVM", 'linear_svm(C="auto", class_weight="balanced")'),
    ],
)  # fmt: skip
def test_the_solver_is_part_of_the_spelling(spelling, kind, canonical):
    from termsieve.classify.recipes import parse_recipe

    recipe = parse_recipe(spelling)
    assert type(recipe.make()).__name__ == kind
    assert recipe.spelling == canonical
    assert parse_recipe(canonical) == recipe


@pytest.mark.parametrize(
    ("spelling", "says"),
    [
        ("linear_svm(dual=False)", r"'dual' is a parameter of linear_svm\(solver='liblinear'\) alone"),
        ("linear_svm(solver='sgd')", "one of 'newton', 'liblinear', not 'sgd'"),
    ],
)
def test_what_a_solver_does_not_have(spelling, says):
    with pytest.raises(OptionError, match=says):
        classifier(spelling)


def test_newton_starts_from_weights_of_more_or_fewer_columns():
    X, y, _, _ = corpus(13)
    rows = RankedRows(X)
    problem = SvmProblem(np.where(y == "a", 1.0, -1.0), 1.0, 1.0)
    starts = np.zeros(1), np.ones(3), np.linspace(-1, 1, 41)
    few = rows.views([5])[0]
    ends = [Newton(rows, problem, 1e-10, 100).solve(few, start).weights for start in starts]
    np.testing.assert_allclose(ends[1:], [ends[0], ends[0]], atol=1e-5)


def ill_conditioned(seed, C_exponents=(2, 6), entry_exponents=(0, 4)):
    rng = np.random.default_rng(seed)
    n, d = rng.integers(3, 60), rng.integers(1, 40)
    C, largest = 10 ** rng.uniform(*C_exponents), 10 ** rng.uniform(*entry_exponents)
    X = np.floor(rng.random((n, d)) ** 3 * largest) * (rng.random((n, d)) < rng.uniform(0.1, 1))
    y = rng.integers(0, 2, n)
    y[:2] = 0, 1
    return X, y, C


@pytest.mark.parametrize("seed", [13, 109, 140, 179, 186, 249, 339])  # where the gradient is lost in rounding errors
def test_ill_conditioned_problems_are_solved_in_dual_variables(seed):
    X, y, C = ill_conditioned(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LinearSVM(C=C).fit(X, y)
    assert model.certificate_[0] <= model.tol
    assert model.n_iter_ <= 150
    signs = np.where(y == 1, 1.0, -1.0)
    value, least = oracle.exact_bounds(X, signs, C, np.append(model.intercept_, model.coef_))
    assert model.objective_[0] == pytest.approx(float(value), rel=1e-9)
    assert least <= value <= least * (1 + 2 * model.tol)


def test_a_gap_at_the_rounding_floor_is_told_but_is_no_cause_for_a_warning():
    X, y, C = ill_conditioned(58, (4, 10), (2, 6))
    rows = RankedRows(sparse.csr_array(X))
    signs = np.where(y == 1, 1.0, -1.0)
    point = next(solve_path(rows, rows.views([X.shape[1]]), SvmProblem(signs, C, C)))
    assert 1e-8 * point.objective < point.gap < point.floor
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LinearSVM(C=C).fit(X, y)
    assert model.certificate_[0] == point.relative_gap > model.tol
    assert model.n_iter_ < 100


def test_what_rounding_errors_do_not_explain_is_told():
    X, y, C = ill_conditioned(61, (4, 10), (2, 6))
    with pytest.warns(ConvergenceWarning, match=r"1 of 1 problems"):
        model = LinearSVM(C=C).fit(X, y)
    assert model.n_iter_ < 200


@pytest.mark.parametrize("several", [False, True])
def test_curves_give_the_largest_gap_at_each_number_of_terms(several):
    X, y, T, order = corpus(14, several=several)
    ks = [20, 3, 20, 1]
    found = predict_curve(X, y, T, order, ks, LinearSVM(tol=1e-3))
    assert found.gaps.shape == (4,)
    assert found.gaps[0] == found.gaps[2]
    assert (found.gaps <= 1e-3).all()
    assert found.gaps.max() > 1e-12  # not that of the exact optimum
    rows, labels = RankedRows(X[:, order]), y.T if several else [y == c for c in np.unique(y)]
    worst = np.zeros(3)
    for one in labels:
        problem = SvmProblem(np.where(one, 1.0, -1.0), 1.0, 1.0)
        gaps = [point.relative_gap for point in solve_path(rows, rows.views([1, 3, 20]), problem, tol=1e-3)]
        worst = np.maximum(worst, gaps)
    np.testing.assert_array_equal(found.gaps[[3, 1, 0]], worst)


@pytest.mark.parametrize(("scale", "descends"), [(0.2, True), (1.0, True), (30.0, False)])
@pytest.mark.parametrize("class_weight", [None, {"a": 0.0, "b": 5.0}])
def test_a_leap_to_many_columns_ends_at_the_optimum(scale, descends, class_weight, monkeypatch):
    """By descent, by descent that is given up, or by Newton's method alone."""
    X, y, _, _ = corpus(15, n=300, d=700)
    X = sparse.csr_array(normalize(X) * scale)
    calls, descend = [], linear_descent.descend
    linear_path.load_kernels()
    monkeypatch.setattr(linear_descent, "descend", lambda *given: calls.append(descend(*given)) or calls[-1])
    model = LinearSVM(class_weight=class_weight).fit(X, y)
    assert bool(calls) == descends
    check_certificate_by_duals(model, X, y)
    monkeypatch.setattr(linear_descent, "LEAST_COLUMNS", 10**9)
    exact = LinearSVM(class_weight=class_weight, tol=1e-13).fit(X, y)
    assert (model.objective_ <= exact.objective_ * (1 + model.tol) + 1e-300).all()
    np.testing.assert_allclose(model.coef_, exact.coef_, atol=1e-3 * max(1, np.abs(exact.coef_).max()))


def check_certificate_by_duals(model, X, y):
    for row, (signs, costs) in enumerate(problems_of(model, y)):
        w = np.append(model.intercept_[row], model.coef_[row])
        assert model.objective_[row] == pytest.approx(oracle.objective(X, signs, costs, w), rel=1e-9, abs=1e-300)
    assert (model.certificate_ <= model.tol).all()


@settings(max_examples=60)
@given(small_data(), st.booleans(), st.sampled_from([0.1, 1.0, 5.0]), st.sampled_from([0.0, 1.0, 3.0]))
def test_descent_on_any_small_data_ends_where_newton_ends(data, normalized, C, weight):
    """Also with empty documents, which have one row together, and with documents that weigh nothing."""
    X, y = data
    rows = RankedRows(sparse.csr_array(X), normalize=normalized)
    problem = SvmProblem(np.where(y == 0, 1.0, -1.0), C * weight, C)
    [view] = rows.views([X.shape[1]])
    signs, costs = problem.arrange(rows, view)
    found = linear_descent.descend(view, signs, costs, problem.count_blanks(rows, view), 1e-7)
    exact = Newton(rows, problem, 1e-12, 100).solve(view, np.zeros(1))
    assert found.objective - found.gap <= exact.objective * (1 + 1e-9)
    assert found.objective >= exact.objective * (1 - 1e-9)
    gap = oracle.objective(normalize(X) if normalized else X, problem.signs, costs_of(problem), found.weights)
    assert found.objective == pytest.approx(gap, rel=1e-9, abs=1e-300)


def costs_of(problem):
    return np.where(problem.signs > 0, problem.c_inside, problem.c_outside)


def test_descent_converges_however_many_documents_are_empty():
    """The row that stands for them all moves the intercept: with one turn in each pass it would be given up."""
    rng = np.random.default_rng(0)
    X = normalize((rng.random((400, 900)) < 0.02) * rng.random((400, 900)))
    X[300:] = 0
    rows = RankedRows(sparse.csr_array(X))
    problem = SvmProblem(np.where(rng.random(400) < 0.3, 1.0, -1.0), 4.0, 4.0)
    [view] = rows.views([900])
    blanks = problem.count_blanks(rows, view)
    assert sum(blanks) == 100
    reached = []
    for turns in (blanks, (1, 1)):
        found = linear_descent.descend(view, *problem.arrange(rows, view), turns, 1e-8)
        reached.append(found.gap <= 1e-8 * found.objective)
    assert reached == [True, False]


def test_descent_that_is_given_up_goes_on_by_newton(monkeypatch):
    X, y, _, _ = corpus(16, n=300, d=700)
    X = sparse.csr_array(normalize(X))
    expected = LinearSVM(tol=1e-12).fit(X, y)
    monkeypatch.setattr(linear_descent, "_SLICE", 2)
    monkeypatch.setattr(linear_descent, "_MOST", 4)
    found = LinearSVM(tol=1e-12).fit(X, y)
    assert (found.certificate_ <= 1e-12).all()
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-5)


@pytest.mark.parametrize("several", [False, True])
def test_a_trained_model_keeps_its_duality_gap(several, tmp_path):
    texts = ["cheap pills", "cheap watches", "buy pills", "noon meeting", "lunch at noon", "meeting at ten"] * 3
    labels = [["spam", "sale"] if several else "spam"] * 3 + [["ham"] if several else "ham"] * 3
    model = ts.train(texts, labels * 3, scores="chi2", ks=4, classifiers="linear_svm", cv=3, calibrate=0)
    parts = model.classifier.estimators_ if several else [model.classifier]
    assert model.settings["duality_gap"] == max(one.certificate_.max() for one in parts)
    assert 0 <= model.settings["duality_gaps"]["linear_svm"] <= 1e-8
    model.save(tmp_path / "a.model")
    loaded = ts.Model.load(tmp_path / "a.model")
    assert loaded.settings["duality_gap"] == model.settings["duality_gap"]
    bayes = ts.train(texts, labels * 3, scores="chi2", ks=4, classifiers="multinomial_nb", cv=0, calibrate=0)
    assert bayes.settings["duality_gap"] is None


def test_iterations_may_be_passes_of_descent_which_have_a_limit_of_their_own(monkeypatch):
    X, y, _, _ = corpus(15, n=300, d=700)
    calls, descend = [], linear_descent.descend
    monkeypatch.setattr(linear_descent, "descend", lambda *given: calls.append(descend(*given)) or calls[-1])
    model = LinearSVM(max_iter=1).fit(sparse.csr_array(normalize(X)), y)
    assert model.n_iter_ == max(one.passes for one in calls) > model.max_iter
    assert (model.certificate_ <= model.tol).all()

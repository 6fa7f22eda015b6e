"""Measures against scikit-learn's, rank statistics against scipy's and statsmodels'."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse, stats
from sklearn import metrics

from termsieve.errors import InputError, OptionError
from termsieve.evaluate.agreement import overlap, stability
from termsieve.evaluate.differences import band
from termsieve.evaluate.measures import MEASURES, average_precision, confusion, measure_curve

AVERAGES = ["micro", "macro", "weighted", None]
labels = st.lists(st.sampled_from("abc"), min_size=6, max_size=6)


@given(labels, st.lists(labels, min_size=1, max_size=3))
@pytest.mark.parametrize("average", AVERAGES)
def test_labels_as_scikit_learn_has_them(average, true, curve):
    counted = confusion(true, curve)
    for i, predicted in enumerate(curve):
        for empty in (0.0, 1.0):
            options = {"average": average, "zero_division": empty}
            options |= {"labels": counted.classes} if average is None else {}
            p, r, f, _ = metrics.precision_recall_fscore_support(true, predicted, beta=2, **options)
            np.testing.assert_allclose(counted.precision(average, empty=empty)[i], p)
            np.testing.assert_allclose(counted.recall(average, empty=empty)[i], r)
            np.testing.assert_allclose(counted.f_beta(2, average, empty=empty)[i], f)
        assert counted.accuracy()[i] == metrics.accuracy_score(true, predicted)


@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("share", [0.05, 0.5])
def test_indicators_as_scikit_learn_has_them(average, share):
    rng = np.random.default_rng(0)
    true = (rng.random((20, 5)) < share).astype(int)
    curve = (rng.random((4, 20, 5)) < share).astype(int)
    counted = confusion(sparse.csr_array(true), curve)
    for i, predicted in enumerate(curve):
        for empty in (0.0, 1.0):
            options = {"average": average, "zero_division": empty}
            np.testing.assert_allclose(
                counted.precision(average, empty=empty)[i], metrics.precision_score(true, predicted, **options)
            )
            np.testing.assert_allclose(
                counted.f_beta(0.5, average, empty=empty)[i], metrics.fbeta_score(true, predicted, beta=0.5, **options)
            )
        assert counted.accuracy()[i] == metrics.accuracy_score(true, predicted)
    one = confusion(true, curve[0])
    np.testing.assert_array_equal(one.f_beta(1, average), counted.f_beta(1, average)[0])


def test_what_is_not_a_number_is_left_out_of_averages():
    true, predicted = ["a", "a", "b"], ["a", "a", "a"]
    counted = confusion(true, predicted)
    assert counted.precision("macro", empty=np.nan) == pytest.approx(2 / 3)
    expected = metrics.precision_score(true, predicted, average="macro", zero_division=np.nan)
    assert counted.precision("macro", empty=np.nan) == expected


def test_given_classes_count_even_if_they_never_occur():
    counted = confusion(["a", "b"], ["a", "b"], classes=["z", "b", "a", "c"])
    assert counted.f_beta(1, None).tolist() == [0.0, 1.0, 1.0, 0.0]
    assert counted.f_beta(1, "macro") == 0.5
    assert confusion(["a", "b"], ["a", "b"]).f_beta(1, "macro") == 1.0


def test_measures_by_name():
    true, predicted = list("aabbc"), list("abbbc")
    counted = confusion(true, predicted)
    assert counted.measure("accuracy") == 0.8
    assert counted.measure("f2_macro") == metrics.fbeta_score(true, predicted, beta=2, average="macro")
    assert counted.measure("f0.5_micro") == pytest.approx(0.8)
    np.testing.assert_array_equal(counted.measure("recall"), counted.recall(None))
    assert counted.measure("precision_weighted") == counted.precision("weighted")
    for name in MEASURES:
        assert 0 <= counted.measure(name) <= 1
    for name in ("f1macro", "auc", "macro_f1"):
        with pytest.raises(OptionError, match="Unknown measure"):
            counted.measure(name)


def test_beta_0_is_precision():
    counted = confusion(list("aabb"), list("abab"))
    np.testing.assert_array_equal(counted.f_beta(0, None), counted.precision(None))


def test_rows_of_a_curve():
    true, curve = np.array([0, 1, 1]), np.array([[0, 1, 0], [0, 1, 1]])
    rows = list(measure_curve(true, curve, ["sea", "money"]))
    assert (1, "", "f1_macro", 1.0) in rows
    assert (0, "money", "recall", 0.5) in rows
    assert {row[1] for row in rows} == {"", "sea", "money"}
    one = list(measure_curve(true, curve, ["money"], one_class="money"))
    assert {(row[1], row[2]) for row in one} == {("money", what) for what in ("precision", "recall", "f1", "f2")}
    assert (0, "money", "recall", 0.5) in one
    several = list(measure_curve(np.eye(2, dtype=int), np.eye(2, dtype=int)[None], ["sea", "money"]))
    assert all(row[3] == 1.0 for row in several)


@pytest.mark.parametrize(
    ("true", "predicted"),
    [(["a"], ["a", "b"]), ([["a"]], ["a"]), ([[0, 2]], [[0, 1]]), ([[0, 1]], [[0, 1, 1]]), ("a", "a")],
)
def test_shapes_that_do_not_fit(true, predicted):
    with pytest.raises(InputError, match="y_true"):
        confusion(true, predicted)


def test_measures_of_no_document_are_numbers():
    nothing = confusion([], [])
    assert nothing.accuracy() == nothing.measure("f1_macro") == nothing.measure("f1_micro") == 0.0
    assert nothing.measure("accuracy", empty=1.0) == 1.0
    assert confusion([], [[], []]).accuracy().tolist() == [0.0, 0.0]


def test_bad_options():
    counted = confusion(["a"], ["a"])
    with pytest.raises(OptionError, match="average"):
        counted.precision("samples")
    with pytest.raises(OptionError, match="beta"):
        counted.f_beta(-1)
    for huge in (1e200, 1e154, np.inf, np.nan):
        with pytest.raises(OptionError, match="beta"):
            counted.f_beta(huge)
    with pytest.raises(OptionError, match="beta"):
        counted.measure(f"f{'9' * 200}_macro")
    with pytest.raises(OptionError, match="2 columns"):
        confusion([[0, 1]], [[0, 1]], classes=["a"])


# Rankings and selections


@given(st.permutations(range(8)), st.permutations(range(4, 12)), st.lists(st.integers(0, 8), max_size=5))
def test_overlap_is_that_of_sets(a, b, ks):
    found = overlap(a, b, ks)
    for k, common, jaccard in zip(*found, strict=True):
        first, second = set(a[:k]), set(b[:k])
        assert common == len(first & second)
        assert jaccard == (len(first & second) / len(first | second) if k else 1.0)


def test_overlap_explains():
    with pytest.raises(InputError, match="ranking_b has an entry twice"):
        overlap([1, 2], [1, 1], [1])
    with pytest.raises(OptionError, match="from 0 to 2"):
        overlap([1, 2], [1, 3, 4], [3])


def naive_stability(Z):
    """As the authors of the measure write it, row by row."""
    M, d = Z.shape
    p, k = Z.mean(axis=0), Z.sum(axis=1)
    k_bar = k.mean()
    denominator = k_bar / d * (1 - k_bar / d)
    value = 1 - (M / (M - 1)) * np.mean(p * (1 - p)) / denominator
    phi = []
    for i in range(M):
        bracket = 2 * k[i] * k_bar / d**2 - k[i] / d - k_bar / d + 1
        phi.append((np.mean(Z[i] * p) - k[i] * k_bar / d**2 + value / 2 * bracket) / denominator)
    return value, 4 / M**2 * np.sum((phi - np.mean(phi)) ** 2)


@pytest.mark.parametrize("seed", range(3))
def test_stability_is_nogueiras_and_fleiss_kappa(seed):
    Z = (np.random.default_rng(seed).random((7, 30)) < np.linspace(0, 1, 30)).astype(int)
    found = stability(Z)
    value, variance = naive_stability(Z)
    assert found.value == pytest.approx(value)
    assert found.variance == pytest.approx(variance)
    assert found.high - found.value == pytest.approx(stats.norm.ppf(0.975) * variance**0.5)
    assert stability([np.flatnonzero(row) for row in Z], n_terms=30) == found
    inter_rater = pytest.importorskip("statsmodels.stats.inter_rater")
    table = np.column_stack([Z.sum(axis=0), 7 - Z.sum(axis=0)])
    assert found.value == pytest.approx(inter_rater.fleiss_kappa(table))


def test_the_interval_of_stability_covers_the_truth():
    """Of many samples of 40 selections, about 95 % of the intervals have the stability of the population."""
    rng = np.random.default_rng(0)
    p = np.linspace(0.05, 0.95, 25)
    truth = 1 - np.mean(p * (1 - p)) / (p.mean() * (1 - p.mean()))
    found = [stability((rng.random((40, 25)) < p).astype(int)) for _ in range(300)]
    assert 0.9 <= np.mean([s.low <= truth <= s.high for s in found]) <= 0.99


def test_stability_at_the_ends():
    assert stability([[0, 1]] * 3, n_terms=9).value == 1.0
    for always in (0, 1):
        assert stability(np.full((3, 4), always)) == (1.0, 1.0, 1.0, 0.0)
    assert stability(np.zeros((3, 0))) == (1.0, 1.0, 1.0, 0.0)
    with pytest.raises(InputError, match="at least two"):
        stability([[1, 0]])
    with pytest.raises(InputError, match="n_terms is 3"):
        stability([[0, 7], [1, 2]], n_terms=3)
    with pytest.raises(InputError, match="the term -1: "):
        stability([[0, -1], [1, 2]], n_terms=3)
    with pytest.raises(OptionError, match="confidence"):
        stability([[0, 1], [1, 0]], confidence=95)


def test_band_is_students():
    values = np.random.default_rng(0).normal(size=(6, 3))
    for confidence in (0, 1, 1.5):
        with pytest.raises(OptionError, match="confidence must lie between 0 and 1"):
            band(values, confidence=confidence)
    found = band(values, confidence=0.9)
    for i in range(3):
        low, high = stats.t.interval(0.9, 5, values[:, i].mean(), stats.sem(values[:, i]))
        assert (found.low[i], found.high[i]) == (pytest.approx(low), pytest.approx(high))
    np.testing.assert_allclose(band(values.T, axis=1, confidence=0.9), found)
    assert band([[1.0]]) == (1.0, -np.inf, np.inf)
    assert np.isfinite(band([[1.0], [2.0]]).low[0])
    for value in (np.nan, np.inf):
        with pytest.raises(InputError, match="missing or infinite"):
            band([[1.0], [value]])
    with pytest.raises(InputError, match="at least one"):
        band([])


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 4)), min_size=1, max_size=12))
def test_average_precision_as_scikit_learn_has_it(documents):
    relevant, decisions = (np.array(part) for part in zip(*documents, strict=True))
    found = average_precision(relevant, [decisions, -decisions])
    for one, values in zip(found, (decisions, -decisions), strict=True):
        expected = metrics.average_precision_score(relevant, values) if relevant.any() else 0.0
        assert one == pytest.approx(expected)

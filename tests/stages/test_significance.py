"""Statistics of comparison: every figure against a second library."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from termsieve.errors import InputError, OptionError
from termsieve.evaluate.significance import (
    contrast,
    correlated_t,
    critical_difference,
    friedman,
    holm,
    mean_ranks,
    wilcoxon_holm,
)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    return (rng.normal(0.8, 0.05, (15, 1)) + rng.normal([0.0, 0.05, 0.06, 0.2], 0.03, (15, 4))).round(3)


def test_friedman_against_scikit_posthocs_and_the_formula(table):
    n, k = table.shape
    ranks = mean_ranks(table)
    plain = 12 * n / (k * (k + 1)) * (np.square(ranks).sum() - k * (k + 1) ** 2 / 4)
    without_ties = table + np.arange(k) * 1e-9
    found = friedman(without_ties)
    assert found.statistic == pytest.approx(plain)
    assert found.pvalue == pytest.approx(stats.chi2.sf(plain, k - 1))
    ph = pytest.importorskip("scikit_posthocs")
    nemenyi = ph.posthoc_nemenyi_friedman(without_ties).to_numpy()
    differ = np.abs(ranks[:, None] - ranks) > critical_difference(k, n)
    off = ~np.eye(k, dtype=bool)
    np.testing.assert_array_equal(differ[off], (nemenyi < 0.05)[off])


def test_friedman_of_two_methods_and_of_none_that_differ():
    x = np.array([[1.0, 2], [2, 1], [3, 5], [1, 4], [2, 2]])
    assert friedman(x).statistic == pytest.approx((3 - 1) ** 2 / 4)
    assert friedman(np.ones((4, 3))).pvalue == 1.0
    three = np.column_stack([x, x[:, 0] - 10])
    assert friedman(three).pvalue == stats.friedmanchisquare(*three.T).pvalue


@pytest.mark.parametrize(("k", "q05", "q10"), [(2, 1.960, 1.645), (5, 2.728, 2.459), (10, 3.164, 2.920)])
def test_critical_differences_are_those_of_demsars_table(k, q05, q10):
    scale = np.sqrt(k * (k + 1) / (6 * 12))
    assert critical_difference(k, 12) / scale == pytest.approx(q05, abs=6e-4)
    assert critical_difference(k, 12, alpha=0.10) / scale == pytest.approx(q10, abs=6e-4)


def test_critical_difference_is_autoranks(table):
    autorank = pytest.importorskip("autorank")
    found = autorank.autorank(pd.DataFrame(table), alpha=0.05, force_mode="nonparametric", verbose=False)
    assert critical_difference(4, 15) == pytest.approx(found.cd, rel=1e-4)
    np.testing.assert_allclose(np.sort(mean_ranks(table)), np.sort(found.rankdf["meanrank"]))


def test_holm_is_statsmodels():
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    for seed in range(5):
        p = np.random.default_rng(seed).random(9) ** 3
        np.testing.assert_allclose(holm(p), multitest.multipletests(p, method="holm")[1])
    assert holm([]).size == 0


def test_wilcoxon_with_holm_is_that_of_scikit_posthocs(table):
    ph = pytest.importorskip("scikit_posthocs")
    smooth = table + np.random.default_rng(1).normal(0, 1e-5, table.shape)  # no ties
    frame = pd.DataFrame(smooth).melt()
    theirs = ph.posthoc_wilcoxon(frame, val_col="value", group_col="variable", p_adjust="holm")
    for pair in wilcoxon_holm(smooth, list("0123")):
        assert pair.adjusted == pytest.approx(theirs.loc[int(pair.first), int(pair.second)])


def test_wilcoxon_with_ties_and_zeros():
    a = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    b = a + np.array([0, 0.125, 0.125, 0.25, -0.125, 0.25])
    (pair,) = wilcoxon_holm(np.column_stack([a, a]))
    assert pair.pvalue == 1.0
    (pair,) = wilcoxon_holm(np.column_stack([a, b]))
    assert 0 < pair.pvalue < 1
    assert pair.difference == pytest.approx(-0.125)


@pytest.mark.parametrize("rope", [0.005, 0.02])
@pytest.mark.parametrize("repeats", [1, 5])
def test_correlated_t_is_baycomps(rope, repeats):
    baycomp = pytest.importorskip("baycomp")
    a, b = np.random.default_rng(3).normal([[0.82], [0.81]], 0.02, (2, 50))
    theirs = baycomp.CorrelatedTTest.probs(b, a, rope=rope, runs=repeats)
    np.testing.assert_allclose(correlated_t(a, b, rope=rope, repeats=repeats), theirs, atol=1e-12)


def test_equal_differences_have_no_spread_whatever_the_last_bit_of_their_mean():
    assert correlated_t([0.1] * 3, [0.0] * 3, rope=0.1) == (0.0, 1.0, 0.0)


def test_posteriors_mirror():
    a, b = np.random.default_rng(5).normal(0.8, 0.02, (2, 10))
    there, back = correlated_t(a, b), correlated_t(b, a)
    assert sum(there) == pytest.approx(1)
    np.testing.assert_allclose(there, back[::-1], atol=1e-9)
    assert correlated_t(a, a) == (0.0, 1.0, 0.0)
    assert correlated_t(a + 0.5, a).better == pytest.approx(1.0)


def test_a_contrast_says_what_differs(table):
    found = contrast(table, ["chi2", "gu", "ig", "bns"])
    assert [pair[:2] for pair in found.significant_pairs if "bns" in pair[:2]] == [
        (x, "bns") for x in ("chi2", "gu", "ig")
    ]
    assert str(found).startswith(
        f"{len(found.significant_pairs)} of 6 pairs differ at the 5 % level (15 rows, Friedman p = "
    )
    assert "bns has the best mean rank, 1.00, and differs from chi2, gu, ig." in str(found)
    diagram = found.diagram
    assert diagram.names[0] == "bns"
    assert list(diagram.ranks) == sorted(diagram.ranks)
    for first, last in diagram.bars:
        assert diagram.ranks[last] - diagram.ranks[first] <= diagram.critical_difference
    joined = {(i, j) for first, last in diagram.bars for i in range(first, last + 1) for j in range(i + 1, last + 1)}
    close = {
        (i, j)
        for i in range(4)
        for j in range(i + 1, 4)
        if diagram.ranks[j] - diagram.ranks[i] <= diagram.critical_difference
    }
    assert joined == close


def test_a_contrast_says_plainly_when_nothing_differs():
    values = np.random.default_rng(1).normal(0.8, 0.01, (8, 3))
    found = contrast(pd.DataFrame(values, columns=["a", "b", "c"]))
    assert found.names == ("a", "b", "c")
    assert str(found).startswith("Nothing differs at the 5 % level (8 rows, Friedman p = ")
    assert found.significant_pairs == []
    assert found.diagram.bars == ((0, 2),)


def test_a_contrast_with_too_few_rows_for_pairs():
    found = contrast(np.arange(12.0).reshape(4, 3), alpha=0.1)
    assert "no pair of them does" in str(found)
    lower = contrast(np.arange(12.0).reshape(4, 3), higher_is_better=False)
    assert lower.ranks.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: contrast([[1, 2]]), InputError, "two or more rows"),
        (lambda: contrast([[1, np.nan], [1, 2]]), InputError, "method 1 in row 0 is missing"),
        (lambda: contrast([[1, 2], [np.inf, np.inf]]), InputError, "method 0 in row 1 is infinite"),
        (lambda: holm([0.1, np.nan]), InputError, "p-values must be"),
        (lambda: holm([-0.1]), InputError, "p-values must be"),
        (lambda: contrast([[1, 2], [3, 4]], ["a", "a"]), OptionError, "2 different names"),
        (lambda: contrast([[1, 2], [3, 4]], alpha=5), OptionError, "alpha"),
        (lambda: correlated_t([1, 2, 3], [1, 2, 4], repeats=2), OptionError, "3 values"),
        (lambda: correlated_t([1, 2], [1, 2, 3]), InputError, "shapes"),
        (lambda: correlated_t([1, np.nan], [1, 2]), InputError, "missing"),
        (lambda: correlated_t([1, 2], [1, 2], rope=-1), OptionError, "rope"),
        (lambda: critical_difference(1, 5), OptionError, "At least 2"),
    ],
)
def test_what_makes_no_sense_is_explained(call, error, says):
    with pytest.raises(error, match=says):
        call()

"""Intervals, p-values and dispersion: against formulas, simulations, enumerated permutations and real resampling."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import termsieve as ts
from termsieve.errors import OptionError
from termsieve.ranking.certainty import measure_dispersion
from termsieve.ranking.limits import (
    Side,
    TypicalDocument,
    limit_documents,
    limit_occurrences,
    typical_document,
    variance_per_occurrence,
)
from termsieve.ranking.permutation import control_false_discoveries
from termsieve.scores import SCORES
from termsieve.table import Table

DOCUMENT_SCORES = ["chi2", "log_odds_ratio", "gu", "bns", "f1", "prob_ratio"]


def counts_of(tp, fp, fn, tn):
    """One term, two classes "no" and "yes"."""
    X = np.repeat([[1], [1], [0], [0]], [tp, fp, fn, tn], axis=0)
    y = np.repeat(["yes", "no", "yes", "no"], [tp, fp, fn, tn])
    return ts.Counts.from_matrix(X, y)


def random_counts(seed=0, n=60, terms=25, classes=4, most=3):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, most + 1, (n, terms)) * (rng.random((n, terms)) < rng.random(terms) ** 2)
    return ts.Counts.from_matrix(X, rng.integers(0, classes, n).astype(str))


# Intervals


def test_limits_of_a_rate_are_those_of_jeffreys():
    df, n = np.array([0.0, 3.0, 50.0]), np.array([50.0, 50.0, 50.0])
    low, high = limit_documents(Side(df, df, df, n), 0.025)
    beta = stats.beta(df + 0.5, n - df + 0.5)
    assert low.df[0] == 0
    assert high.df[2] == 50
    np.testing.assert_allclose(low.df[1:], 50 * beta.ppf(0.025)[1:], atol=1e-6)
    np.testing.assert_allclose(high.df[:2], 50 * beta.ppf(0.975)[:2], atol=1e-6)


def test_occurrences_that_no_document_repeats_are_nearly_as_sure_as_documents():
    df, n = np.array([3.0, 10.0, 40.0]), np.array([50.0, 50.0, 50.0])
    side, typical = Side(df, df, df, n), TypicalDocument(np.ones(3), np.ones(3))
    for one, other in zip(limit_occurrences(side, typical, 0.025), limit_documents(side, 0.025), strict=True):
        np.testing.assert_allclose(one.tf, other.df, rtol=0.04)


def test_one_document_without_the_word_leaves_open_what_others_have_and_no_document_does_not():
    none, one = np.zeros(2), np.ones(2)
    side = Side(none, none, none, np.array([0.0, 1.0]))
    low, high = limit_occurrences(side, TypicalDocument(one, one), 0.025)
    assert low.tf.tolist() == [0, 0]
    assert high.tf[0] == 0 < high.tf[1]


def test_a_word_that_no_document_has_is_taken_to_be_there_once():
    nobody = Table.of(tp=0, fp=0, fn=5, tn=5, tf_c=0, tf2_c=0, tf_nc=0, tf2_nc=0)
    assert typical_document(nobody) == (1, 1)


def test_a_class_without_the_word_may_have_documents_of_the_kind_that_others_have():
    none = np.zeros(1)
    typical = TypicalDocument(np.array([3.0]), np.array([5.0]))
    _, high = limit_occurrences(Side(none, none, none, np.array([100.0])), typical, 0.025)
    assert high.tf > 0
    np.testing.assert_allclose([high.tf / high.df, high.tf2 / high.tf], [[3], [5]], rtol=1e-5)


def test_the_difference_of_two_rates_has_the_interval_of_newcombe():
    def difference(t):
        return t.tpr - t.fpr

    low, high = ts.score(counts_of(30, 10, 20, 140), difference).interval(0.9)
    p_low, p_high = stats.beta(30.5, 20.5).ppf([0.05, 0.95])
    q_low, q_high = stats.beta(10.5, 140.5).ppf([0.05, 0.95])
    gap = 30 / 50 - 10 / 150
    assert low[1, 0] == pytest.approx(gap - math.hypot(0.6 - p_low, q_high - 10 / 150), abs=1e-6)
    assert high[1, 0] == pytest.approx(gap + math.hypot(p_high - 0.6, 10 / 150 - q_low), abs=1e-6)


@pytest.mark.parametrize("method", ["analytic", "bootstrap"])
@pytest.mark.parametrize("name", SCORES)
def test_intervals_of_all_scores_are_numbers_in_order(name, method):
    scores = ts.score(random_counts(), name)
    for value, (low, high) in (
        (scores.values, scores.interval(method=method, draws=40)),
        (scores.overall(), scores.overall_interval(method=method, draws=40)),
    ):
        assert low.shape == high.shape == value.shape
        assert not np.isnan(low).any()
        assert not np.isnan(high).any()
        assert (low <= high).all()
        if method == "analytic":
            assert (low <= value + 1e-9 * np.abs(value)).all()
            assert (value <= high + 1e-9 * np.abs(value)).all()


@pytest.mark.parametrize("method", ["analytic", "bootstrap"])
@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("labels", [["a", "a"], ["a", "b"]])
def test_intervals_are_numbers_where_a_side_has_no_document_or_one(labels, name, method):
    values = ts.score(ts.count(["a1 a1 b1", "b1"], labels), name)
    low, high = values.interval(method=method, draws=50)
    assert (low <= high).all()  # and no NaN, with which nothing can be compared


def test_counts_without_terms_have_no_intervals_and_no_pvalues():
    values = ts.score(ts.count(["", ""], ["a", "b"]), "chi2")
    assert values.interval().low.shape == values.interval(method="bootstrap").high.shape == (2, 0)
    assert values.overall_interval().low.size == values.overall_interval("sum").low.size == 0
    assert values.pvalues(per_class=True, method="permutation").shape == (2, 0)
    assert values.qvalues().size == values.pvalues(method="permutation", draws=5).size == 0
    for of in (None, "a"):
        assert len(values.top(of=of, intervals=True, pvalues=True, dispersion=True)) == 0


@pytest.mark.parametrize("method", ["analytic", "bootstrap"])
@pytest.mark.parametrize("name", ["chi2", "log_odds_ratio", "ocfs", "info_gain"])
def test_intervals_do_not_depend_on_other_terms(name, method):
    counts = random_counts(3)
    some = np.array([4, 17, 2, 9])
    whole, part = ts.score(counts, name), ts.score(counts.take(some), name)
    for a, b in zip(whole.interval(method=method, draws=50), part.interval(method=method, draws=50), strict=True):
        np.testing.assert_array_equal(a[:, some], b)
    expected = whole.overall_interval(method=method, draws=50)
    for a, b, c in zip(
        expected,
        part.overall_interval(method=method, draws=50),
        whole.overall_interval(method=method, draws=50, terms=some),
        strict=True,
    ):
        np.testing.assert_array_equal(a[some], b)
        np.testing.assert_array_equal(b, c)


def test_the_bootstrap_is_seeded():
    scores = ts.score(random_counts(), "chi2")
    first, again, other = (scores.interval(method="bootstrap", draws=50, seed=seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert (first.high != other.high).any()


def test_the_bootstrap_from_counts_is_that_of_documents():
    rng = np.random.default_rng(5)
    names, n = ["log_odds_ratio", "chi2", "ocfs", "log_ratio"], 400
    y = np.repeat(["a", "b"], [150, 250])
    rate = np.where(y == "a", 0.5, 0.2)[:, np.newaxis] * np.array([1.0, 0.4])
    X = np.column_stack([rng.poisson(rate), rng.poisson(8, n)])  # the last keeps the lengths of documents apart
    found = [one.interval(method="bootstrap") for one in ts.score(ts.Counts.from_matrix(X, y), names).values()]
    drawn = []
    for _ in range(300):
        rows = np.concatenate([rng.choice(np.flatnonzero(y == c), (y == c).sum()) for c in "ab"])
        scores = ts.score(ts.Counts.from_matrix(X[rows], y), names)
        drawn.append([one.of_class(0)[:2] for one in scores.values()])
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
    width = high - low
    assert (np.abs([one.low[0, :2] for one in found] - low) < 0.18 * width).all()
    assert (np.abs([one.high[0, :2] for one in found] - high) < 0.18 * width).all()


@pytest.mark.parametrize(
    ("name", "least", "most"), [("log_odds_ratio", 0.94, 0.965), ("gss", 0.94, 0.965), ("chi2", 0.94, 0.975)]
)
def test_coverage(name, least, most):
    """Each term is a corpus of its own: the same two rates, drawn anew."""
    rng = np.random.default_rng(11)
    n_c, n_nc, p, q = 200, 1000, 0.08, 0.02
    X = rng.random((n_c + n_nc, 3000)) < np.repeat([p, q], [n_c, n_nc])[:, np.newaxis]
    y = np.repeat(["yes", "no"], [n_c, n_nc])
    low, high = ts.score(ts.Counts.from_matrix(X.astype(int), y), name).interval()
    truth = SCORES[name].evaluate(ts.Table.of(tp=n_c * p, fp=n_nc * q, fn=n_c * (1 - p), tn=n_nc * (1 - q)))
    assert least <= ((low[1] <= truth) & (truth <= high[1])).mean() <= most


def test_what_one_document_repeats_is_not_sure():
    class_a = [[500, 10] if i == 0 else [0, 10] for i in range(50)]
    X = np.array(class_a + [[0, 3]] * 5 + [[1, 3]] * 45)
    counts = ts.Counts.from_matrix(np.column_stack([X, np.full(100, 90)]), np.repeat(["a", "b"], 50))
    scores = ts.score(counts, "log_ratio")
    low, high = scores.interval()
    assert scores.values[0, 0] > scores.values[0, 1] > 1  # the burst is the larger effect,
    assert (high - low)[0, 0] > 10 * (high - low)[0, 1]  # and much less sure
    assert low[0, 0] < low[0, 1]


def test_a_class_without_a_word_may_have_it_as_often_at_once_as_other_classes():
    X = np.zeros((100, 3), int)
    X[50:62, 0], X[50:53, 1], X[:, 2] = 1, 4, 9  # twelve occurrences of two words; the last has the lengths alike
    high = ts.score(ts.Counts.from_matrix(X, np.repeat(["a", "b"], 50)), "log_ratio").interval().high
    assert high[0, 1] > high[0, 0] + 1


def test_a_two_sided_score_may_be_that_of_independence():
    low, high = ts.score(counts_of(11, 20, 39, 130), "chi2").interval()
    assert low[1, 0] == 0 < high[1, 0]
    low, _ = ts.score(counts_of(30, 10, 20, 140), "chi2").interval()
    assert low[1, 0] > 10


@pytest.mark.parametrize(("cells", "surely"), [((11, 30, 39, 120), False), ((30, 10, 20, 140), True)])
@pytest.mark.parametrize("name", ["chi2", "log_likelihood", "jensen_shannon", "ocfs"])
def test_a_two_sided_score_is_as_sure_of_one_of_two_classes_as_of_the_other(name, cells, surely):
    tp, fp, fn, tn = cells
    counts = ts.Counts.from_table(
        ["word", "word", "others", "others"], ["yes", "no"] * 2, [tp, fp, tp + fn, fp + tn],
        class_sizes={"yes": tp + fn, "no": fp + tn},
    )  # fmt: skip
    low, high = ts.score(counts, name).interval()
    for ends in (low, high):
        assert ends[0] == pytest.approx(ends[1], rel=1e-9)
    assert bool(low[0, counts.index_of("word")] > 0) is surely  # the rates of the word are .22 and .2, or .6 and .07


def test_a_score_that_is_one_at_independence_has_the_interval_of_the_distance_from_one():
    chi2 = SCORES["chi2"]
    moved = replace(chi2, function=lambda t: chi2.evaluate(t) + 1, null=1.0, range="[1, inf)")
    for cells in ((11, 20, 39, 130), (30, 10, 20, 140)):
        usual, found = (ts.score(counts_of(*cells), one).interval() for one in (chi2, moved))
        np.testing.assert_allclose(found, np.array(usual) + 1, rtol=1e-12)


def test_an_infinite_score_has_a_finite_lower_end():
    low, high = ts.score(counts_of(30, 0, 20, 150), "prob_ratio").interval()
    assert np.isfinite(low[1, 0])
    assert low[1, 0] > 5
    assert high[1, 0] == np.inf


def test_a_score_of_minus_infinity_has_a_finite_upper_end():
    def against(t):
        return -SCORES["prob_ratio"].evaluate(t)

    counts = counts_of(30, 0, 20, 150)
    mirrored, (low, high) = ts.score(counts, "prob_ratio").interval(), ts.score(counts, against).interval()
    assert low[1, 0] == -np.inf
    assert high[1, 0] == -mirrored.low[1, 0] < -5


@pytest.mark.parametrize("name", ["info_gain", "odds_ratio"])
def test_the_interval_of_an_overall_score_stays_in_its_range(name):
    low, high = ts.score(counts_of(1, 0, 59, 60), name).overall_interval()
    assert low[0] == 0 < high[0]


def test_classes_without_the_term_are_as_sure_together_as_one_class():
    found = []
    for others in (1, 2, 8):
        y = np.array(["a"] * 100 + [f"b{i % others}" for i in range(400)])
        counts = ts.Counts.from_matrix((np.arange(500) < 20)[:, np.newaxis].astype(int), y)
        found.append(ts.score(counts, "info_gain").overall_interval())
    np.testing.assert_allclose(found, [found[0]] * 3, rtol=1e-5)
    assert 0 < found[0].low[0] < found[0].high[0]


def test_an_overall_interval_adds_the_squares_of_what_each_class_changes_at_its_limits():
    df, sizes = np.array([30, 12, 5]), np.array([60, 50, 40])
    counts = ts.Counts.from_table(
        ["word"] * 3, list("abc"), df, class_sizes=dict(zip("abc", sizes.tolist(), strict=True))
    )

    def gain(df):
        cells = np.array([df, sizes - df]) / sizes.sum()
        return (cells * np.log(cells / np.outer(cells.sum(axis=1), sizes / sizes.sum()))).sum()

    ends = [end.df for end in limit_documents(Side(df, df, df, sizes), 0.025)]
    moves = np.array([[gain(np.where(np.arange(3) == c, end, df)) - gain(df) for end in ends] for c in range(3)])
    expected = gain(df) + np.array([-1, 1]) * np.sqrt([(moves.min(axis=1) ** 2).sum(), (moves.max(axis=1) ** 2).sum()])
    assert (moves.min(axis=1) < 0).all()
    assert (moves.max(axis=1) > 0).all()
    np.testing.assert_allclose(np.ravel(ts.score(counts, "info_gain").overall_interval()), expected, rtol=1e-9)


def test_small_weights_are_no_surer_than_large_ones():
    X, y = np.arange(1, 13)[:, np.newaxis] % 5, ["a", "b"] * 6
    for unit in (1, 0.01):
        found = ts.score(ts.Counts.from_matrix(unit * X, y), "welch_t").interval(method="bootstrap")
        assert (found.high - found.low > 1).all()


def test_higher_levels_are_wider():
    scores = ts.score(random_counts(), "ngl")
    narrow, wide = scores.interval(0.5), scores.interval(0.99)
    assert (wide.low <= narrow.low).all()
    assert (wide.high >= narrow.high).all()
    assert (wide.high > narrow.high).any()


def test_several_labels_per_document():
    X = np.array([[1, 0], [1, 1], [0, 1], [0, 1]])
    counts = ts.Counts.from_matrix(X, [["a", "b"], ["a"], ["b"], ["c"]])
    scores = ts.score(counts, "chi2")
    assert np.isfinite(scores.interval().high).all()
    with pytest.raises(OptionError, match="1 documents have more than one label"):
        scores.overall_interval()
    assert np.isfinite(ts.score(counts, "ngl").overall_interval().high).all()  # the largest class is one class
    with pytest.raises(OptionError, match="more than one label"):
        scores.pvalues(method="permutation", draws=9)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"level": 1.0}, "between 0 and 1"),
        ({"level": True}, "between 0 and 1"),
        ({"level": "0.9"}, "between 0 and 1, not '0.9'"),
        ({"method": "magic"}, "'analytic' or 'bootstrap'; it was given 'magic'"),
        ({"draws": 3}, "'draws' of an interval must be 20 or more, not 3"),
        ({"seed": -1}, "'seed' of an interval must be 0 or more"),
    ],
)
def test_wrong_options_are_told(given, said):
    with pytest.raises(OptionError, match=said):
        ts.score(counts_of(3, 1, 2, 4), "chi2").interval(**given)


# p-values


def all_permutations(counts_of_labels, y, name):
    """The values of a score under all ways to exchange the labels."""
    n, k = len(y), int((y == "yes").sum())
    found = []
    for chosen in itertools.combinations(range(n), k):
        labels = np.full(n, "no ", dtype="<U3")
        labels[list(chosen)] = "yes"
        found.append(ts.score(counts_of_labels(np.char.strip(labels)), name).values[1])
    return np.array(found)


@pytest.mark.parametrize("name", DOCUMENT_SCORES)
def test_exact_pvalues_are_those_of_all_permutations(name):
    rng = np.random.default_rng(2)
    X, y = (rng.random((8, 4)) < [0.2, 0.5, 0.6, 0.9]).astype(int), np.array(["yes"] * 3 + ["no"] * 5)
    scores = ts.score(ts.Counts.from_matrix(X, y), name)
    null = all_permutations(lambda labels: ts.Counts.from_matrix(X, labels), y, name)
    observed = scores.values[1]
    expected = (null >= observed - 1e-9 * np.abs(np.where(np.isfinite(observed), observed, 0))).mean(axis=0)
    np.testing.assert_allclose(scores.pvalues(per_class=True, method="permutation")[1], expected, rtol=1e-12)


def test_exact_pvalues_of_a_ratio_are_those_of_fishers_test():
    for cells in ((30, 10, 20, 140), (3, 0, 47, 950), (1, 300, 99, 600), (260, 3000, 9740, 87000), (400, 30, 50, 9000)):
        tp, fp, fn, tn = cells
        expected = stats.fisher_exact([[tp, fp], [fn, tn]], alternative="greater").pvalue
        got = ts.score(counts_of(*cells), "log_odds_ratio").pvalues(per_class=True, method="permutation")[1, 0]
        assert got == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("tp", [307, 420, 580, 599, 601, 620, 780, 893, 1999])
def test_exact_pvalues_have_both_tails_however_far_the_table_is_from_the_mean(tp):
    """A million documents, 600 expected: what is as far below as above counts, 15 standard deviations off as well."""
    n, n_t, n_c = 1_000_000, 2000, 300_000
    sizes = {"no": n - n_c, "yes": n_c}
    counts = ts.Counts.from_table(["word", "word"], ["no", "yes"], [n_t - tp, tp], class_sizes=sizes)
    possible = np.arange(n_t + 1)
    chi2 = (possible - n_t * n_c / n) ** 2
    expected = stats.hypergeom(n, n_t, n_c).pmf(possible)[chi2 >= chi2[tp] * (1 - 1e-9)].sum()
    got = ts.score(counts, "chi2").pvalues(per_class=True, method="permutation")[1, 0]
    assert got == pytest.approx(expected, rel=1e-6)


def test_exact_pvalues_of_terms_of_the_same_documents_far_below_and_far_above_the_mean():
    """Of 100,000 documents with the term 30,000 are expected in the class, with a standard deviation of 137."""
    terms, labels = ["above", "above", "below", "below"], ["no", "yes"] * 2
    sizes = {"no": 700_000, "yes": 300_000}
    counts = ts.Counts.from_table(terms, labels, [60_000, 40_000, 80_000, 20_000], class_sizes=sizes)
    p = ts.score(counts, "log_odds_ratio").pvalues(per_class=True, method="permutation")
    np.testing.assert_allclose(p, [[1, 0], [0, 1]], atol=1e-12)


def test_of_millions_of_possible_tables_only_those_that_are_not_impossible_are_scored():
    sizes = []

    def difference(t):
        sizes.append(t.tp.size)
        return t.tpr - t.fpr

    n = 5_000_000  # the term could be in none of the class, or in all of it; the standard deviation is 791
    counts = ts.Counts.from_table(["word"] * 2, ["no", "yes"], [n // 2] * 2, class_sizes={"no": n, "yes": n})
    p = ts.score(counts, difference).pvalues(per_class=True, method="permutation")
    np.testing.assert_allclose(p, 0.5, atol=0.001)
    assert max(sizes) < 100_000


def test_a_word_that_occurs_once_has_its_own_variance():
    one, typical = np.array([1.0]), TypicalDocument(np.array([3.0]), np.array([9.0]))
    n = np.array([10.0])
    assert variance_per_occurrence(Side(one, one, one, n), typical).tolist() == [0.9]
    assert variance_per_occurrence(Side(0 * one, 0 * one, 0 * one, n), typical).tolist() == [9.0]


def test_at_random_small_pvalues_are_rare():
    rng = np.random.default_rng(4)
    X, y = (rng.random((120, 4000)) < rng.random(4000)).astype(int), rng.permutation(np.repeat(["a", "b"], 60))
    p = ts.score(ts.Counts.from_matrix(X, y), "chi2").pvalues(per_class=True, method="permutation")[0]
    for alpha in (0.01, 0.05, 0.2):
        assert (p <= alpha).mean() <= alpha + 4 * math.sqrt(alpha / 4000)
    assert (p <= 0.2).mean() > 0.1


def test_the_observed_table_counts_as_one_that_was_drawn():
    labels = ["a"] * 30 + ["b"] * 30 + ["c"] * 30
    X = np.array([[label == "a", 1] for label in labels], int)  # what tells most, and what tells nothing
    p = ts.score(ts.Counts.from_matrix(X, labels), "info_gain").pvalues(method="permutation", draws=99)
    assert p.tolist() == [1 / 100, 1]


def test_exact_pvalues_of_a_trillion_documents():
    half = 2**39
    counts = ts.Counts.from_table(["word"] * 2, ["no", "yes"], [2**24] * 2, class_sizes={"no": half, "yes": half})
    p = ts.score(counts, "log_odds_ratio").pvalues(per_class=True, method="permutation")
    np.testing.assert_allclose(p, 0.5, atol=0.001)


def test_drawn_pvalues_of_an_overall_score():
    counts = random_counts(8, n=9, terms=6, classes=3)
    scores = ts.score(counts, "info_gain")
    drawn = scores.pvalues(method="permutation", draws=4000)
    assert (drawn >= 1 / 4001).all()
    np.testing.assert_array_equal(drawn, scores.pvalues(method="permutation", draws=4000))
    sizes = counts.class_sizes.tolist()
    for n_t in np.unique(counts.term_df):
        possible = [x for x in itertools.product(*(range(size + 1) for size in sizes)) if sum(x) == n_t]
        weights = stats.multivariate_hypergeom(sizes, n_t).pmf(possible)
        columns = zip(zip(*possible, strict=True), sizes, strict=True)  # each possible table is a term
        X = np.array([[i < k for k in column] for column, size in columns for i in range(size)], int)
        null = ts.score(ts.Counts.from_matrix(X, np.repeat(["0", "1", "2"], sizes)), "info_gain").overall()
        for place in np.flatnonzero(counts.term_df == n_t):
            expected = weights[null >= scores.overall()[place] - 1e-9].sum()
            assert drawn[place] == pytest.approx(expected, abs=0.03)


def test_without_draws_the_overall_pvalue_is_that_of_the_best_class_corrected():
    scores = ts.score(random_counts(), "ngl")
    each = scores.pvalues(per_class=True, method="permutation")
    np.testing.assert_allclose(scores.pvalues(method="permutation"), np.minimum(1, 4 * each.min(axis=0)))


@pytest.mark.parametrize("control", ["bh", "by"])
def test_q_values_are_those_of_scipy(control):
    p = np.random.default_rng(0).random(200) ** 3
    np.testing.assert_allclose(control_false_discoveries(p, control), stats.false_discovery_control(p, method=control))
    scores = ts.score(random_counts(), "chi2")
    rows = scores.qvalues(per_class=True, control=control)
    expected = scores.pvalues(per_class=True, method="permutation")
    np.testing.assert_allclose(rows, stats.false_discovery_control(expected, axis=1, method=control))


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("ocfs", {"method": "permutation"}, "'ocfs' counts occurrences"),
        ("ocfs", {"method": "permutation", "draws": 9}, "'ocfs' counts occurrences"),
        ("bns", {}, r"no null distribution.*method='permutation'"),
        ("chi2", {"method": "magic"}, "'theory' or 'permutation'; it was given 'magic'"),
        ("chi2", {"draws": 99}, "draws is a number of tables"),
        ("chi2", {"method": "permutation", "draws": 2.5}, "draws is a number of tables"),
        ("chi2", {"method": "permutation", "draws": 99, "per_class": True}, "draws is a number of tables"),
        ("chi2", {"method": "permutation", "draws": 99, "seed": -1}, "'seed' of p-values must be 0 or more, not -1"),
        ("chi2", {"method": "permutation", "draws": 99, "seed": "a"}, "'seed' of p-values must be 0 or more, not 'a'"),
    ],
)
def test_pvalues_that_cannot_be_had(name, given, said):
    with pytest.raises(OptionError, match=said):
        ts.score(counts_of(3, 1, 2, 4), name).pvalues(**given)


def test_pvalues_are_drawn_from_fewer_than_a_billion_documents():
    sizes = {"a": 10**9 - 10, "b": 10}
    scores = ts.score(ts.Counts.from_table(["x", "y"], ["a", "b"], [3, 4], class_sizes=sizes), "chi2")
    with pytest.raises(OptionError, match="fewer than 1,000,000,000 documents; these are 1,000,000,000"):
        scores.pvalues(method="permutation", draws=9)
    assert np.isfinite(scores.pvalues(method="permutation")).all()


# Beside the terms of a ranking


def test_dispersion_is_that_of_the_documents():
    rng = np.random.default_rng(3)
    X, y = rng.poisson(rng.random(6), (40, 6)), np.repeat(["a", "b"], 20)
    X[:, 5] = 0
    X[7, 5] = 9
    counts = ts.Counts.from_matrix(X, y)
    mean, sd = X.mean(axis=0), X.std(axis=0)
    np.testing.assert_allclose(measure_dispersion(counts), 1 - sd / mean / math.sqrt(39), atol=1e-12)
    part = X[:20]
    got = measure_dispersion(counts, np.arange(6), np.zeros(6, np.int32))
    np.testing.assert_allclose(got, 1 - part.std(axis=0) / part.mean(axis=0) / math.sqrt(19), atol=1e-12)
    assert got[5] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("given", [{}, {"of": "1"}, {"per_class": True}])
def test_columns_beside_the_terms(given):
    counts = random_counts(9)
    scores = ts.score(counts, "log_odds_ratio")
    plain, ranking = scores.top(5, **given), scores.top(5, **given, intervals=0.8, pvalues=True, dispersion=True)
    assert list(ranking) == list(plain)
    table = ranking.to_arrow()
    assert table.column_names == [*plain.to_arrow().column_names, "low", "high", "p", "q", "dispersion"]
    low, high = scores.interval(0.8) if given else scores.overall_interval(level=0.8)
    for row, beside in zip(ranking, table.to_pylist(), strict=True):
        place = counts.index_of(row.term)
        where = (counts.index_of_class(row.label), place) if given else place
        assert (beside["low"], beside["high"]) == (low[where], high[where])
        assert beside["low"] <= row.score <= beside["high"]
        assert 0 < beside["p"] <= beside["q"] <= 1
    assert ranking[1:3].beside["q"] == ranking.beside["q"][1:3]
    assert ranking != plain
    assert "dispersion" in repr(ranking)


@pytest.mark.parametrize("level", [1.5, -0.2, math.nan, "0.9"])
def test_a_level_that_is_none_is_told(level):
    with pytest.raises(OptionError, match="between 0 and 1"):
        ts.score(counts_of(3, 1, 2, 4), "chi2").top(1, intervals=level)

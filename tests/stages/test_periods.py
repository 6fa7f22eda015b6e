"""What changed between periods: against other implementations, and against counting the documents themselves."""

import itertools
import math

import numpy as np
import pytest
import scipy.stats
import statsmodels.stats.contingency_tables as tables
import statsmodels.stats.proportion as proportion
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats.contingency import relative_risk

import termsieve as ts
from termsieve.errors import CountsError, OptionError
from termsieve.periods import proportions
from termsieve.periods.decomposition import decompose
from termsieve.periods.joining import join_periods
from termsieve.periods.sources import SourceDependence, SourceRow
from termsieve.periods.trend_test import find_trend_pvalues
from termsieve.periods.trends import draw_sparkline

WORDS = ["sun", "rain", "wind", "sea", "ice"]
DOCUMENT = st.tuples(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join), st.sampled_from("xyz"))
PERIOD = st.lists(DOCUMENT, min_size=1, max_size=30)


def count(documents, **options):
    texts, labels = zip(*documents, strict=True)
    return ts.count(list(texts), list(labels), **options)


def example():
    may = [("rain wind", "x")] * 30 + [("sun sea", "y")] * 10 + [("sun", "x")] * 5
    june = [("rain wind", "x")] * 10 + [("sun sea ice", "y")] * 40 + [("sun", "x")] * 5
    return count(may), count(june)


@settings(max_examples=60, deadline=None)
@given(PERIOD, PERIOD)
def test_the_parts_of_a_change_add_up(before, after):
    found = ts.changes(count(before), count(after))
    np.testing.assert_allclose(found.parts.inside + found.parts.mix, found.difference.value, atol=1e-14)
    for row in found:
        assert row.difference == pytest.approx(row.after - row.before, abs=1e-15)
        assert row.low <= row.difference <= row.high
        assert row.ratio_low <= row.log_ratio <= row.ratio_high
        assert 0 <= row.p <= row.q <= 1


def test_only_another_mix_of_classes_is_no_change_inside():
    before = count([("rain", "x")] * 30 + [("sun", "y")] * 10)
    after = count([("rain", "x")] * 10 + [("sun", "y")] * 30)
    parts = ts.changes(before, after).parts
    np.testing.assert_allclose(parts.inside, 0, atol=1e-15)
    np.testing.assert_allclose(parts.mix, [-0.5, 0.5])


def test_the_headline_counts_what_is_sure():
    found = ts.changes(count([("rain wind sun", "x")] * 60 + [("sea", "y")] * 60), count([("ice sun", "x")] * 120))
    assert "of 5 terms 2 surely rose and 3 fell" in found.headline
    once = ts.changes(count([("rain", "x")] * 20 + [("sun", "x")]), count([("rain", "x")] * 20 + [("sea", "x")]))
    assert "of 3 terms 0 surely rose and 0 fell" in once.headline


def test_documents_without_a_label_beside_several_classes():
    before = ts.count(["sun", "sun", "rain", "rain"], [["x"], ["y"], [], []])
    after = ts.count(["sun", "sun", "rain", "sun"], [["x"], ["y"], [], []])
    parts = decompose(before, after, ts.changes(before, after).terms)
    np.testing.assert_allclose(parts.inside, [-0.25, 0.25])  # half of the documents, of which half change
    np.testing.assert_allclose(parts.mix, 0, atol=1e-15)


def test_documents_without_a_label_are_a_class_of_their_own():
    before, after = ts.count(["sun", "rain"], [["x"], []]), ts.count(["sun", "sun"], [["x"], []])
    parts = decompose(before, after, ts.changes(before, after).terms)
    np.testing.assert_allclose(parts.inside, [-0.5, 0.5])
    np.testing.assert_allclose(parts.mix, 0)


def test_with_several_labels_there_are_no_parts():
    several = ts.count(["sun", "rain"], [["x", "y"], ["x"]])
    found = ts.changes(several, several)
    assert found.parts is None
    assert next(iter(found)).inside is None
    with pytest.raises(CountsError, match="more than one label"):
        decompose(several, several, found.terms)


@settings(max_examples=40, deadline=None)
@given(PERIOD, PERIOD)
def test_inside_a_class_equals_its_documents_alone(before, after):
    common = {label for _, label in before} & {label for _, label in after}
    for label in common:
        inside = ts.changes(count(before), count(after)).of_class(label)
        alone = ts.changes(*(count([one for one in part if one[1] == label]) for part in (before, after)))
        assert list(inside.terms) == list(alone.terms)
        np.testing.assert_array_equal(inside.z, alone.z)
        assert inside.headline.startswith(f"Changes in {label} between")


def test_pvalues_are_those_of_fishers_exact_test():
    found = ts.changes(*example())
    for i, p in enumerate(found.p):
        a, b, m, n = found.df[1][i], found.df[0][i], *found.n_docs[::-1]
        tails = [scipy.stats.fisher_exact([[a, m - a], [b, n - b]], side)[1] for side in ("less", "greater")]
        assert p == pytest.approx(min(1, 2 * min(tails)), rel=1e-9)
    np.testing.assert_allclose(found.q, scipy.stats.false_discovery_control(found.p))


@pytest.mark.parametrize("level", [0.9, 0.95])
def test_intervals_of_differences_are_newcombes(level):
    rng = np.random.default_rng(0)
    before, after = rng.integers(0, 81, 50), rng.integers(0, 71, 50)
    found = proportions.compare_shares(before, 80, after, 70, level)
    for i in range(50):
        low, high = proportion.confint_proportions_2indep(
            after[i], 70, before[i], 80, method="newcomb", alpha=1 - level
        )
        assert (found.low[i], found.high[i]) == pytest.approx((low, high), abs=1e-12)


def test_the_interval_of_a_ratio_narrows_with_documents_and_holds_no_change():
    few = proportions.compare_ratios(np.array([3]), 30, np.array([3]), 30, 0.95)
    many = proportions.compare_ratios(np.array([300]), 3000, np.array([300]), 3000, 0.95)
    assert few.value[0] == many.value[0] == 0
    assert few.low[0] < many.low[0] < 0 < many.high[0] < few.high[0]


@pytest.mark.parametrize("level", [0.9, 0.95])
def test_the_interval_of_a_ratio_is_that_of_the_relative_risk(level):
    """Of so many documents, to which half a one is added."""
    before, n_before, after, n_after = 30_000, 200_000, 42_000, 250_000
    found = proportions.compare_ratios(np.array([before]), n_before, np.array([after]), n_after, level)
    expected = relative_risk(after, n_after, before, n_before).confidence_interval(level)
    assert (found.low[0], found.high[0]) == pytest.approx(tuple(np.log2(expected)), abs=1e-5)


def test_a_trend_is_cochran_and_armitages():
    df, sizes = np.array([[5, 9, 30], [20, 10, 4]]), np.array([100, 80, 120])
    slope, z = proportions.fit_trend(df, sizes, 0.95)
    for i in range(2):
        table = np.stack([df[i], sizes - df[i]], axis=1)
        theirs = tables.Table(table, shift_zeros=False).test_ordinal_association(
            row_scores=np.arange(3), col_scores=np.array([1, 0])
        )
        assert z[i] == pytest.approx(theirs.zscore, rel=0.01)  # theirs divides by n - 1
    assert slope.low[0] < slope.value[0] < slope.high[0]
    middle = sum(i * n for i, n in enumerate(sizes)) / sum(sizes)
    parts = [(n * (i - middle), k / n, n) for i, (k, n) in enumerate(zip(df[0], sizes, strict=True))]
    spread = sum(weight * i for i, (weight, _, _) in enumerate(parts))
    error = math.sqrt(sum(weight**2 * share * (1 - share) / n for weight, share, n in parts)) / spread
    assert slope.high[0] - slope.value[0] == pytest.approx(scipy.stats.norm.ppf(0.975) * error)
    for level in (0, 1):
        with pytest.raises(OptionError, match="level must be between 0 and 1"):
            proportions.fit_trend(df, sizes, level)


def test_pvalues_of_trends_are_sums_over_all_ways_to_draw_documents():
    sizes = np.array([5, 2, 1])
    periods = np.repeat(np.arange(3), sizes)
    tables = [np.bincount(some, minlength=3) for some in itertools.product(range(3), repeat=3)]
    df = np.array([one for one in np.unique(tables, axis=0) if (one <= sizes).all()])
    sums = np.array([periods[list(some)].sum() for some in itertools.combinations(range(8), 3)])
    for one, p in zip(df @ np.arange(3), find_trend_pvalues(df, sizes, np.zeros(len(df))), strict=True):
        assert p == pytest.approx(min(1, 2 * min((sums >= one).mean(), (sums <= one).mean())), rel=1e-12)


def test_pvalues_of_trends_keep_their_level_for_rare_terms_in_uneven_periods():
    sizes = np.array([1000, 300, 100, 30])
    drawn = np.random.default_rng(0).multivariate_hypergeometric(sizes, 8, 40_000)
    z = proportions.fit_trend(drawn, sizes, 0.95)[1]
    normal, exact = 2 * scipy.stats.norm.sf(np.abs(z)), find_trend_pvalues(drawn, sizes, z)
    assert (normal <= 0.001).mean() > 0.002
    assert (exact <= 0.001).mean() <= 0.0013
    frequent = find_trend_pvalues(np.array([[300, 90, 30, 9]]), sizes, np.array([3.0]))
    np.testing.assert_allclose(frequent, 2 * scipy.stats.norm.sf(3))


def test_a_level_must_be_one():
    with pytest.raises(OptionError, match="level must be between 0 and 1"):
        proportions.normal_quantile(1.0)


@pytest.mark.parametrize("level", ["0.95", None, 5, float("nan")])
def test_a_level_that_is_none_is_refused_at_once(level):
    counts = [ts.count(["sun"] * n + ["rain"] * (9 - n), ["x"] * 9) for n in (2, 4, 6)]
    for some in (counts[:2], counts):
        with pytest.raises(OptionError, match="level must be between 0 and 1"):
            ts.changes(*some, level=level)


def test_equal_terms_of_a_given_vocabulary_are_in_order_of_the_term():
    words = ["sun", "ice", "rain"]
    months = [ts.count(["sun ice"] * n + ["rain"] * (40 - n), ["x"] * 40, vocabulary=words) for n in (10, 20, 30)]
    for some in (months[:2], months):
        found = ts.changes(*some)
        assert [row.term for row in found.risers()] == ["ice", "sun"]
        assert [row.term for row in found] == ["ice", "rain", "sun"]
    text, reference = months[2], months[0]
    assert [row.term for row in ts.keywords(text, reference, "log_ratio")] == ["ice", "sun"]


def test_periods_may_have_any_names():
    before, after = example()
    assert "before 1 " not in repr(ts.changes(before, after, names=(1, 2)))
    assert repr(ts.changes(before, after, names=(1, 2))) == repr(ts.changes({1: before, 2: after}))
    for names in (5, (1, "1"), "abc"):
        with pytest.raises(OptionError, match="names must be 2 distinct names"):
            ts.changes(before, after, names=names)


def test_new_and_gone_terms_are_told():
    found = ts.changes(*example())
    assert {row.term: row.change for row in found.risers(None)}["ice"] == "new"
    back = ts.changes(*reversed(example()))
    assert {row.term: row.change for row in back.fallers(None)}["ice"] == "gone"


def test_rows_are_ordered_by_what_is_asked():
    found = ts.changes(*example())
    for by, bound in (("z", "z"), ("difference", "low"), ("ratio", "ratio_low")):
        values = [getattr(row, bound) for row in found.risers(None, by=by)]
        assert values == sorted(values, reverse=True)
    with pytest.raises(OptionError, match="by must be one of"):
        found.risers(by="size")
    assert all(row.q <= 0.01 for row in found.risers(None, max_q=0.01))
    assert len(found.risers(None, max_q=1e-9)) < len(found.risers(None))


def test_by_the_difference_a_sure_small_change_comes_before_an_unsure_large_one():
    may = count([("ice", "x")] * 200 + [("rain", "x")] * 2 + [("sun", "x")] * 298)
    june = count([("ice", "x")] * 225 + [("rain", "x")] * 12 + [("sun", "x")] * 263)
    for rows in (ts.changes(may, june).risers(by="difference"), ts.changes(june, may).fallers(by="difference")):
        assert [row.term for row in rows] == ["rain", "ice"]
        assert abs(rows[1].difference) > 2 * abs(rows[0].difference)


def test_a_change_is_told_by_its_direction_however_unsure():
    may = count([("sun sea", "x"), ("rain sea", "x"), ("rain", "x")])
    june = count([("sun sea rain", "x"), ("sun", "x"), ("sea", "x")])
    found = ts.changes(may, june)
    assert {row.term: row.change for row in found} == {"sun": "rose", "rain": "fell", "sea": "same"}
    assert all(row.low < 0 < row.high for row in found)


def test_it_is_a_table_and_prints_the_strongest():
    found = ts.changes(*example(), names=("may", "june"))
    assert found.to_arrow().num_rows == len(found) == 5
    assert "may (45 documents) and june (55 documents)" in repr(found)
    assert "ice (new)" in repr(found)
    assert "june" in found._repr_html_()


def test_more_than_two_periods_have_a_trend():
    months = {str(i): count([("sun", "x")] * (10 * i) + [("rain", "x")] * (60 - 10 * i)) for i in (1, 2, 3)}
    found = ts.changes(months)
    (up,), (down,) = found.risers(1), found.fallers(1)
    assert (up.term, down.term) == ("sun", "rain")
    assert up.slope == pytest.approx(1 / 6)
    assert up.shares == pytest.approx([1 / 6, 2 / 6, 3 / 6])
    assert dict(zip(*found.to_arrow().select(["term", "shares"]).to_pydict().values(), strict=True))["sun"] == up.shares
    assert "over 3 periods, 1 to 3 (180 documents)" in repr(found)
    assert found.of_class("x").risers(1)[0].slope == up.slope
    assert "sun" in found._repr_html_()


def test_a_sparkline_of_nothing_is_flat():
    assert draw_sparkline([0, 0]) == "▁▁"


def test_what_cannot_be_compared_is_refused(tmp_path):
    may, june = example()
    june.save(tmp_path / "june.counts")
    with pytest.raises(OptionError, match="'after' are in a file"):
        ts.changes(may, ts.CountsFile(tmp_path / "june.counts"))
    with pytest.raises(OptionError, match="'june' must be Counts, not str"):
        ts.changes({"may": may, "june": "june.counts"})
    for compare in (ts.changes, ts.keywords):
        with pytest.raises(CountsError, match="have no documents"):
            compare(ts.count([], []), june)
    with pytest.raises(OptionError, match="at least two periods"):
        join_periods({"may": may})
    with pytest.raises(CountsError, match="Cannot compare counts made by different analyzers"):
        ts.changes(may, ts.count(["sun"], ["x"], analyzer=ts.Analyzer(lowercase=False)))
    with pytest.raises(OptionError, match="2 distinct names"):
        ts.changes(may, june, names=("may", "may"))
    with pytest.raises(OptionError, match="not both"):
        ts.changes({"may": may, "june": june}, june)
    with pytest.raises(KeyError, match="There is no class 'z'"):
        ts.changes(may, june).of_class("z")


def test_terms_of_one_source_are_found():
    texts = ["buy pills", "lunch"] * 4 + ["acme pills", "tea"] * 3
    folds = ts.count_folds(texts, ["spam", "ham"] * 7, folds=["a"] * 4 + ["b"] * 4 + ["c"] * 6)
    found = ts.depend_on_source(folds, "chi2", 5)
    rows = {row.term: row for row in found.rows}
    assert rows["acme"].rank_without is None
    assert rows["acme"].depends
    assert (rows["acme"].source, rows["acme"].share) == ("c", 1.0)
    order = ts.score(folds.training(2), "chi2")
    assert max(order[term].rank for term in ("pills", "lunch")) <= 5
    assert "3 sources" in repr(found)
    assert found.to_arrow().num_rows == 5
    assert found.to_arrow().schema == SourceDependence([], [], "chi2").to_arrow().schema
    with pytest.raises(OptionError, match="k must be a number of terms"):
        ts.depend_on_source(folds, "chi2", 0)


def test_a_source_without_the_term_has_no_share_of_it():
    folds = ts.count_folds(["rain", "sea", "sun", "sea"], ["y", "x", "y", "y"], folds=["a", "a", "b", "c"])
    (row,) = ts.depend_on_source(folds, "chi2", 1).rows
    assert (row.term, row.rank, row.rank_without) == ("sea", 1, 2)  # without "b" there is no "sun", so "rain" is best
    assert (row.source, row.share) == ("b", 0.0)


def test_of_many_terms_that_depend_on_a_source_twenty_are_printed():
    rows = [SourceRow(f"w{i}", i, None, "a", 1.0, depends=True) for i in range(1, 22)]
    for n, rest in ((20, []), (21, ["  ... 1 more"])):
        lines = repr(SourceDependence(rows[:n], ["a", "b"], "chi2")).splitlines()
        assert lines[20:] == ["  w20: rank 20, gone without a", *rest]


def test_keywords_are_more_frequent_than_in_the_reference():
    text = ts.count(["the ship and the sea"] * 9 + ["ship ahoy"] + ["oar " * 50])
    reference = ts.count_frequencies(["the", "and", "sea", "house", "ahoy"], [600, 300, 5, 90, 5])
    for name in ("lrc", "log_ratio(min_df=1)", "log_likelihood", "jensen_shannon"):
        found = {word.term: word for word in ts.keywords(text, reference, name, None)}
        assert set(found) == {"ship", "sea", "oar", "ahoy"}
        assert found["ship"].reference_occurrences == 0
        assert found["sea"].per_million == pytest.approx(1e6 * 9 / text.n_occurrences)
        assert all(word.low <= word.score <= word.high for word in found.values())
        gone = ts.keywords(text, reference, name, None, against=True)
        assert {word.term for word in gone} == {"the", "and", "house"}
    words = {word.term: word for word in ts.keywords(text, reference, "log_ratio(min_df=1)")}
    assert words["oar"].dispersion == 0  # one document has it all, so it is not sure
    assert words["oar"].high - words["oar"].low > 2 * (words["ship"].high - words["ship"].low)
    with pytest.raises(OptionError, match="counts documents"):
        ts.keywords(text, reference, "chi2")
    with pytest.raises(OptionError, match="n must be a whole number, 0 or more"):
        ts.keywords(text, reference, n=-1)

import functools
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.feature_selection import f_classif, mutual_info_classif
from stages.test_aggregate import corpora, counted, dense, quick

import termsieve as ts
from termsieve.counts.counts import Counts
from termsieve.errors import OptionError, TermsieveWarning
from termsieve.ranking.ranking import score
from termsieve.scores import SCORES, parse_score

pytestmark = pytest.mark.usefixtures("way")

TEXTS = ["good film", "good good play", "bad film", "dull film", "good dull play", "bad bad night"]
LABELS = ["pos", "pos", "neg", "neg", "pos", "neg"]


@pytest.fixture(scope="module")
def counts():
    return ts.count(TEXTS, LABELS)


@pytest.mark.parametrize("name", SCORES)
def test_values_and_overall_agree_with_the_function(name):
    s = SCORES[name]

    @quick
    @given(corpora())
    def check(corpus):
        X, Y = corpus
        scores = score(counted(X, Y), name)
        values = scores.values
        assert values.shape == Y.T.shape[:1] + X.shape[1:]
        if not s.class_blind:
            np.testing.assert_array_equal(values, dense(X, Y, s.evaluate))
        if s.overall is None:
            how = {"max": np.max, "sum": np.sum}.get(s.aggregation)
            want = how(values, axis=0) if how else Y.sum(0) @ values / Y.sum()
            np.testing.assert_allclose(scores.overall(), want, rtol=1e-10, atol=1e-13)

    check()


@pytest.mark.parametrize("name", SCORES)
def test_permuting_terms_and_classes(name):
    rng = np.random.default_rng(5)
    X, y = rng.integers(0, 3, (40, 25)), rng.integers(0, 4, 40)
    terms, classes = rng.permutation(25), rng.permutation(4)
    whole = score(Counts.from_matrix(X, y.astype(str)), name)
    permuted = score(Counts.from_matrix(X[:, terms], y.astype(str)), name)
    np.testing.assert_array_equal(permuted.overall(), whole.overall()[terms])
    renamed = score(Counts.from_matrix(X, classes[y].astype(str)), name)
    np.testing.assert_allclose(renamed.overall(), whole.overall(), rtol=1e-12)
    np.testing.assert_array_equal(renamed.values[classes], whole.values)


NEEDS_ALL_TERMS = {
    "log_odds_dirichlet", "log_ratio", "lrc", "simple_maths", "percent_diff", "log_likelihood", "bic", "jensen_shannon"
}  # fmt: skip


@pytest.mark.parametrize("name", [n for n in SCORES if n not in NEEDS_ALL_TERMS])
def test_a_part_of_the_terms_scores_as_in_the_whole(name):
    rng = np.random.default_rng(6)
    X, y = rng.integers(0, 3, (60, 40)), rng.integers(0, 5, 60).astype(str)
    whole, part = (score(Counts.from_matrix(x, y), name).overall() for x in (X, X[:, 11:17]))
    np.testing.assert_array_equal(part, whole[11:17])


@pytest.mark.parametrize("name", SCORES)
def test_several_labels_never_give_nan(name):
    @quick
    @given(corpora(several_labels=True))
    def check(corpus):
        with warnings.catch_warnings():
            if SCORES[name].single_label:  # a warning says that the parts do not add up
                warnings.simplefilter("ignore", TermsieveWarning)
            values = score(counted(*corpus), name).overall()
        assert not np.isnan(values).any()

    check()


@pytest.mark.parametrize("name", [name for name, one in SCORES.items() if one.single_label])
def test_a_score_of_one_label_warns_about_several(name):
    several = Counts.from_matrix([[1, 0], [0, 1]], np.array([[1, 1], [0, 1]]))
    with pytest.warns(UserWarning, match="info_gain_binary"):
        score(several, name)


def test_ties_by_tie_break_then_by_term():
    X = np.zeros((400, 4), dtype=int)
    X[:200, 0] = 1  # as good as it gets
    X[:190, 1] = 1
    X[:200, 2] = 1
    X[:195, 3] = 1
    counts = Counts.from_matrix(X, np.repeat(["a", "b"], 200), terms=["z", "m", "b", "q"])
    pip = score(counts, "pip")
    assert (pip.overall() == 1.0).all()
    assert [r.term for r in pip.top(4)] == ["b", "z", "q", "m"]
    assert [r.term for r in pip.top(2)] == ["b", "z"]
    assert [r.term for r in pip.top(3, per_class=True)[:3]] == ["b", "z", "q"]
    assert list(pip.order()) == [2, 0, 3, 1]


def test_top_says_for_which_class_a_term_speaks(counts):
    rows = {r.term: r for r in score(counts, "chi2").top(20)}
    assert rows["good"].label == "pos"
    assert rows["bad"].label == "neg"
    assert rows["good"][4:8] == (3, 0, 0, 3)
    assert rows["film"].label == "neg"
    assert [r.rank for r in score(counts, "chi2").top(3)] == [1, 2, 3]


def test_lists_per_class(counts):
    chi2 = score(counts, "chi2")
    listed = chi2.top(2, per_class=True)
    assert [(r.label, r.term) for r in listed] == [
        ("neg", "bad"),
        ("neg", "night"),
        ("pos", "good"),
        ("pos", "play"),
    ]
    against = chi2.top(1, per_class=True, against=True)
    assert [(r.label, r.term, r.against) for r in against] == [("neg", "good", True), ("pos", "bad", True)]
    assert "against neg" in repr(against)
    assert [r.term for r in score(counts, "ngl").top(1, per_class=True, against=True)] == ["good", "bad"]
    assert [r.term for r in score(counts, "gu").top(1, per_class=True, against=True)] == ["good", "bad"]


@pytest.mark.parametrize("n", [-1, 2.5, True, "all"])
def test_top_needs_a_number(counts, n):
    with pytest.raises(OptionError, match="'n' of 'top'"):
        score(counts, "chi2").top(n)


def test_against_needs_classes(counts):
    with pytest.raises(OptionError, match="per_class"):
        score(counts, "chi2").top(against=True)


def test_what_score_takes(counts):
    both = score(counts, ["gu", "bns(floor=1e-3)", SCORES["chi2"]])
    assert list(both) == ["gu", "bns(floor=0.001)", "chi2"]

    def share(t):
        return t.tpr

    assert score(counts, share).overall().max() == 1.0
    assert score(counts, parse_score("gu")).score.name == "gu"
    with pytest.raises(OptionError, match="function of a Table"):
        score(counts, 3)
    folds = ts.count_folds(TEXTS, LABELS, folds=[0, 1] * 3)
    for what in (folds, TEXTS, None):
        with pytest.raises(OptionError, match="score needs Counts or a CountsFile; it was given"):
            score(what, "chi2")
    assert score(folds.total, "chi2").overall().tolist() == score(counts, "chi2").overall().tolist()


def test_functions_that_are_no_scores(counts):
    def nothing(t):
        return t.tp * np.nan

    def wrong_shape(t):
        return np.zeros(3)

    with pytest.raises(OptionError, match=r"not a number at tp="):
        score(counts, nothing).overall()
    with pytest.raises(OptionError, match="one value for each entry"):
        score(counts, wrong_shape).overall()


def test_functions_that_cannot_be_scores_are_refused_by_their_name(counts):
    def positional(t, k=1):
        return t.tp

    def words(t):
        return ["many"] * t.tp.size

    with pytest.raises(OptionError, match=r"'positional' cannot be a score: parameter 'k' .* must be keyword-only"):
        score(counts, positional)
    with pytest.raises(OptionError, match="'words' must give numbers"):
        score(counts, words).overall()
    with pytest.raises(OptionError, match="A score needs a name"):
        score(counts, functools.partial(words))


def test_hints_of_a_function_need_not_be_there(counts):
    def share(t: "NotImported") -> "NorThis":  # noqa: F821 - as of an import for type checkers alone
        return t.tpr

    assert score(counts, share).overall().max() == 1.0


def test_pvalues(counts):
    chi2 = score(counts, "chi2")
    one = chi2.pvalues(per_class=True)
    np.testing.assert_allclose(one, stats.chi2.sf(chi2.values, 1))
    np.testing.assert_allclose(chi2.pvalues(), np.minimum(1, 2 * one.min(0)))
    np.testing.assert_allclose(score(counts, "ngl").pvalues(), chi2.pvalues())
    np.testing.assert_allclose(score(counts, "gu").pvalues(), chi2.pvalues())
    np.testing.assert_allclose(
        score(counts, "g_test").pvalues(per_class=True), stats.chi2.sf(score(counts, "g_test").values, 1)
    )
    exact = score(counts, "fisher_exact")
    tp, n_t = counts.df.toarray(), counts.term_df
    want = stats.hypergeom.sf(tp - 1, 6, n_t[None, :], counts.class_sizes[:, None])
    np.testing.assert_allclose(exact.pvalues(per_class=True), want)
    with pytest.raises(OptionError, match="no null distribution"):
        score(counts, "ifs").pvalues()


def test_pandas(counts):
    pytest.importorskip("pandas")
    frame = score(counts, "chi2").to_pandas()
    top = score(counts, "chi2").top(100)
    assert list(frame["term"]) == [r.term for r in top]
    assert list(frame["tp"]) == [r.tp for r in top]
    assert list(top.to_pandas()["score"]) == list(frame["score"])


def test_counts_without_terms():
    empty = score(ts.count(TEXTS, LABELS).prune(min_df=100), "chi2")
    assert empty.overall().shape == (0,)
    assert empty.values.shape == (2, 0)
    assert len(empty.top()) == 0
    assert len(empty.top(per_class=True)) == 0


def test_overall_takes_an_aggregation(counts):
    chi2 = score(counts, "chi2")
    np.testing.assert_array_equal(chi2.overall("max"), chi2.values.max(0))
    np.testing.assert_array_equal(score(counts, "bss_wss").overall("max"), score(counts, "bss_wss").values.max(0))
    np.testing.assert_array_equal(score(counts, "doc_freq").overall("sum"), counts.term_df)
    with pytest.raises(OptionError, match="Unknown aggregation"):
        chi2.overall("median")


def test_scores_survive_pickling(counts):
    again = pickle.loads(pickle.dumps(score(counts, "bns(floor=0.001)")))
    np.testing.assert_array_equal(again.overall(), score(counts, "bns(floor=0.001)").overall())


def test_agreement_with_scipy_and_scikit_learn():
    rng = np.random.default_rng(1)
    X, y = (rng.random((120, 15)) < 0.3).astype(int), rng.integers(0, 3, 120)
    counts = Counts.from_matrix(X, y.astype(str))
    gain = mutual_info_classif(X, y, discrete_features=True)
    np.testing.assert_allclose(score(counts, "info_gain").overall(), gain, rtol=0, atol=1e-12)
    f, _ = f_classif(X, y)
    np.testing.assert_allclose(score(counts, "bss_wss").overall(), f * 2 / (120 - 3), rtol=1e-10)
    for c, row in enumerate(score(counts, "chi2").values):
        for j, value in enumerate(row):
            table = [[np.sum((X[:, j] == a) & ((y == c) == b)) for b in (1, 0)] for a in (1, 0)]
            assert value == pytest.approx(
                stats.chi2_contingency(table, correction=False).statistic, rel=1e-12, abs=1e-12
            )


@pytest.mark.parametrize("name", ["bss_wss", "ocfs", 'fisher(on="tf")'])
def test_constant_columns_of_real_weights_are_constant(name):
    rng = np.random.default_rng(2)
    X = np.column_stack([np.full(90, 0.1), np.full(90, 1 / 3), rng.random(90)])
    scores = score(Counts.from_matrix(X, rng.integers(0, 4, 90).astype(str)), name)
    assert list(scores.overall()[:2]) == [0.0, 0.0]
    assert 0 < scores.overall()[2] < np.inf
    assert not scores.values[:, :2].any()


# The guard of scores that put terms of one document first

GUARDED = [name for name, s in SCORES.items() if s.guarded]


def rare_and_frequent():
    """A term of one document, one of four and one of five, each in one class only, and one in all documents."""
    X = np.zeros((40, 4), np.int64)
    for column, n in enumerate((1, 4, 5, 40)):
        X[:n, column] = 1
    return Counts.from_matrix(X, np.repeat(["a", "b"], 20), terms=["one", "four", "five", "all"])


@pytest.mark.parametrize("name", GUARDED)
def test_the_guard_ranks_rare_terms_last_and_changes_no_value(name):
    counts = rare_and_frequent()
    guarded, free = score(counts, name), score(counts, f"{name}(min_df=1)")
    np.testing.assert_array_equal(guarded.values, free.values)
    np.testing.assert_array_equal(guarded.overall(), free.overall())
    for one, other in [(guarded.order(), free.order()), (guarded.order_of_class(0), free.order_of_class(0))]:
        rare = counts.term_df[one] < 5
        assert rare.tolist() == [False, False, True, True]
        assert one[~rare].tolist() == other[counts.term_df[other] >= 5].tolist()
        assert one[rare].tolist() == other[counts.term_df[other] < 5].tolist()
    assert [row.term for row in guarded.top(1, of="a")] == ["five"]
    assert [row.term for row in score(counts, f"{name}(min_df=4)").top(2, of="a")][-1] in ("four", "five")
    assert guarded.top(3, of="a")[2].term in ("one", "four")


def test_where_all_terms_are_rare_the_guard_changes_nothing():
    counts = Counts.from_matrix(np.eye(6, dtype=int), list("aabbcc"))
    for name in GUARDED:
        assert score(counts, name).order().tolist() == score(counts, f"{name}(min_df=1)").order().tolist()


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.sampled_from(GUARDED), st.integers(2, 9))
def test_the_first_terms_are_a_part_of_the_whole_order_with_a_guard(seed, n, name, least):
    rng = np.random.default_rng(seed)
    counts = Counts.from_matrix((rng.random((30, 12)) < rng.random(12)).astype(int), rng.integers(0, 3, 30).astype(str))
    scores = score(counts, f"{name}(min_df={least})")
    whole = scores.order()
    assert sorted(whole) == list(range(12))
    assert scores.top_indices(scores.overall(), scores.tie_break_of(None), n).tolist() == whole[:n].tolist()
    rare = counts.term_df[whole] < least
    assert (np.diff(rare.astype(int)) >= 0).all()


@pytest.mark.parametrize("n", [-1, 2.5, "3", True])
def test_a_number_of_terms_that_is_none_is_told_of_counts_in_a_file_too(n, tmp_path):
    counts = ts.count(["good film", "bad film"], ["pos", "neg"])
    counts.save(tmp_path / "films.counts")
    for one in (counts, ts.CountsFile(tmp_path / "films.counts")):
        with pytest.raises(OptionError, match="'n' of 'top' must be a whole number"):
            ts.score(one, "chi2").top(n)

"""Half-samples of folds: how often terms come again, and the rule that takes those that do."""

from dataclasses import replace

import numpy as np
import pytest

import termsieve as ts
from termsieve.errors import OptionError
from termsieve.evaluate import agreement
from termsieve.selection.stability import rank_half_samples


@pytest.fixture(scope="module")
def corpus():
    """A word that tells the class in all documents, some in a few, and noise."""
    rng = np.random.default_rng(0)
    labels = rng.permutation(np.repeat(["ham", "spam"], 60))
    texts = []
    for label in labels:
        words = ["sure"] * (label == "spam") + ["often"] * (label == "spam" and rng.random() < 0.6)
        texts.append(" ".join([*words, *(f"noise{i}" for i in rng.integers(0, 40, 6))]))
    return texts, labels.tolist()


@pytest.fixture(scope="module")
def folds(corpus):
    return ts.count_folds(*corpus, folds=12)


def test_joined_folds_are_the_sum_of_their_counts(folds):
    assert folds.join([3, 0, 7]) == folds.test(0) + folds.test(3) + folds.test(7)
    assert folds.join(range(12)) == folds.total
    assert folds.join([5]) == folds.test(5)
    with pytest.raises(OptionError, match="no fold 12"):
        folds.join([1, 12])


def test_half_samples_are_complementary_pairs_ranked_as_their_counts_are(folds):
    halves = rank_half_samples(folds, "chi2", 5, pairs=3, seed=4)
    order = np.random.default_rng(4).permutation(12)
    for ranks, half in zip(halves.ranks, (order[:6], order[6:]), strict=False):
        counts = folds.join(half)
        expected = [folds.total.index_of(term) for term in counts.terms[ts.score(counts, "chi2").order()]]
        assert np.argsort(ranks, kind="stable")[: len(expected)].tolist() == expected
        lacking = np.setdiff1d(np.arange(folds.total.n_terms), expected)
        assert (ranks[lacking] == folds.total.n_terms).all()
    assert len(halves.ranks) == 6
    assert (halves.selected.sum(axis=1) == 5).all()


def test_what_is_sure_comes_again_and_noise_does_not(folds):
    found = ts.stability(folds, "chi2", 6)
    assert found.terms[:2].tolist() == ["sure", "often"]
    assert found.shares[:2].tolist() == [1.0, 1.0]
    assert (found.rank_low[0], found.rank_high[0]) == (1, 1)
    assert found.n_stable == found.is_stable.sum() < 6
    assert (found.rank_low <= found.rank_high).all()
    halves = rank_half_samples(folds, "chi2", 6)
    assert found.index == pytest.approx(agreement.stability(halves.selected))
    assert 0 < found.index.low < found.index.value < found.index.high < 1
    assert f"of these 6 terms {found.n_stable} come again in 9 of 10 half-samples" in repr(found)
    assert found.to_arrow().column_names == ["rank", "term", "share", "rank_low", "rank_high"]
    again = ts.stability(folds, "chi2", 6)
    np.testing.assert_array_equal(found.shares, again.shares)


def test_terms_to_choose_from(folds):
    among = np.array([folds.total.index_of(f"noise{i}") for i in range(10)])
    found = ts.stability(folds, "chi2", 3, among=among)
    assert set(found.terms) <= {f"noise{i}" for i in range(10)}
    assert found.n_terms == 10
    halves = rank_half_samples(folds, "chi2", 3, among=among)
    places = [folds.total.index_of(term) for term in found.terms]
    np.testing.assert_array_equal(found.shares, halves.shares[places])


def test_half_samples_are_as_many_and_as_drawn_as_asked_for(folds):
    found = ts.stability(folds, "chi2", 6, pairs=7, seed=3)
    halves = rank_half_samples(folds, "chi2", 6, pairs=7, seed=3)
    places = [folds.total.index_of(term) for term in found.terms]
    assert found.n_halves == len(halves.ranks) == 14
    np.testing.assert_array_equal(found.shares, halves.shares[places])
    assert found.shares.tolist() != ts.stability(folds, "chi2", 6, pairs=7, seed=4).shares.tolist()


def test_nine_of_ten_are_often_and_the_least_stable_are_named_first(folds):
    found = ts.stability(folds, "chi2", 9)
    some = replace(found, shares=np.array([1.0, 0.9, 0.89, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]))
    assert some.is_stable.tolist() == [True, True] + [False] * 7
    least = ", ".join(f"{found.terms[i]} ({10 * (i - 1)} %)" for i in range(3, 9))  # six of them, and not the 89 %
    assert repr(some).splitlines()[-1] == f"  least     {least}"
    only = replace(found, shares=np.array([1.0] * 7 + [0.9, 0.9]))
    assert "least" not in repr(only)


def test_of_terms_that_come_again_as_often_the_best_are_named(folds):
    found = ts.stability(folds, "chi2", 40)
    some = replace(found, shares=np.repeat([1.0, 0.5], 20))
    assert repr(some).splitlines()[-1] == f"  least     {', '.join(f'{term} (50 %)' for term in found.terms[20:26])}"


@pytest.mark.parametrize("place", [-1, 42])
def test_a_place_without_a_term_is_refused_beside_others(folds, place):
    assert folds.total.n_terms == 42
    with pytest.raises(OptionError, match="'among' must have places of the 42 terms"):
        ts.stability(folds, "chi2", 2, among=[0, place, 1])


def test_the_rule_takes_what_comes_again(corpus, folds):
    chosen = ts.select(folds, "stable(6, share=0.9)", "chi2")
    halves = rank_half_samples(folds, "chi2", 6)
    assert set(chosen.terms) == set(folds.total.terms[halves.shares >= 0.9])
    assert chosen.terms[:2].tolist() == ["sure", "often"]
    assert "half-samples" in chosen.reason
    assert ts.select(folds.total, "stable(6)", "chi2", folds=folds) == chosen
    assert ts.select(corpus[0], "stable(6)", "chi2", labels=corpus[1]).terms[:2].tolist() == ["sure", "often"]
    pruned = folds.total.prune(drop=["sure"])
    assert ts.select(pruned, "stable(6)", "chi2", folds=folds).terms[0] == "often"


def test_a_half_sample_does_not_select_what_it_lacks(folds):
    n_terms = folds.total.n_terms
    halves = rank_half_samples(folds, "chi2", n_terms)
    for selected, ranks in zip(halves.selected, halves.ranks, strict=True):
        assert selected.sum() <= ranks.max() == n_terms
    texts, labels = ["common rare"] + ["common"] * 39, ["x", "y"] * 20
    assert ts.select(texts, "stable(1000)", "chi2", labels=labels).terms.tolist() == ["common"]


def test_half_samples_without_documents_select_nothing():
    texts, labels = ["good film", "good play", "bad film", "bad night"], ["p", "p", "n", "n"]
    assert ts.select(texts, "stable(5, share=0.5)", labels=labels).n_terms == 5
    found = ts.stability(ts.count_folds(texts, labels, folds=20), "chi2", 5)
    assert (found.shares < 1).all()


def test_the_rule_is_a_stage_of_others(corpus, folds):
    texts, labels = corpus
    alone = ts.select(folds, "stable(6)", "chi2")
    first = ts.select(folds, 'stages("chi2", "stable(6)", "info_gain", 2)')
    assert set(first.terms) <= set(alone.terms)
    together = ts.select(texts, 'stages("chi2", "stable(6)", "info_gain", "cmim(2)")', labels=labels)
    assert "half-samples; then info_gain: cmim chose 2 of" in together.reason


def test_what_is_needed_is_told(folds):
    with pytest.raises(OptionError, match="Give the documents"):
        ts.select(folds.total, "stable(6)", "chi2")
    with pytest.raises(OptionError, match="at least 4 are needed"):
        ts.stability(ts.count_folds(["a1", "b1", "c1"], ["x", "y", "x"], folds=[0, 1, 1]), "chi2", 1)
    with pytest.raises(OptionError, match="'k' of 'stability' must be a whole number"):
        ts.stability(folds, "chi2", 0)
    with pytest.raises(OptionError, match="'pairs' of 'stability' must be a whole number, 1 or more, not 0"):
        ts.stability(folds, "chi2", 2, pairs=0)
    with pytest.raises(OptionError, match="'seed' of 'stability' must be a whole number"):
        ts.stability(folds, "chi2", 2, seed=-1)
    with pytest.raises(OptionError, match="'among' must have places of the"):
        ts.stability(folds, "chi2", 2, among=[folds.total.n_terms])
    with pytest.raises(OptionError, match="folds are of other documents"):
        ts.select(ts.count(["zebra1", "b1"], ["x", "y"]), "stable(1)", "chi2", folds=folds)

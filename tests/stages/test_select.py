import pickle

import numpy as np
import pytest

import termsieve as ts
from termsieve.defaults import DEFAULT_SCORE
from termsieve.errors import OptionError
from termsieve.selection.selection import Selection, select

TEXTS = ["good film", "good play", "bad film", "bad night"]
LABELS = ["pos", "pos", "neg", "neg"]


@pytest.fixture(scope="module")
def counts():
    return ts.count(TEXTS, LABELS)


def test_a_selection_tells_all_about_itself(counts):
    chosen = select(counts, "top(3)", "chi2")
    assert isinstance(chosen, Selection)
    assert len(chosen) == 3
    assert chosen.terms.tolist() == ["bad", "good", "night"]
    assert chosen.labels.tolist() == ["neg", "pos", "neg"]
    assert chosen.scores.round(3).tolist() == [4.0, 4.0, 1.333]
    assert chosen.index.tolist() == [0, 2, 3]
    assert chosen.mask.tolist() == [True, False, True, True, False]
    assert (chosen.rule, chosen.score, chosen.n_terms) == ("top(3)", "chi2", 5)
    assert chosen.taken_by.tolist() == ["chi2"] * 3


def test_it_prints_what_was_taken_and_why(counts):
    assert repr(select(counts, "energy(0.5)", "info_gain")) == (
        "Selection of 2 of 5 terms by energy(0.5) on info_gain\n"
        "  terms     bad (0.6931, neg), good (0.6931, pos)\n"
        "  because   2 of 5 terms have 0.5 of the sum of all scores, 1.81782"
    )
    assert "... 28 more" in repr(select(ts.count([f"w{i:02d}" for i in range(34)], list("ab") * 17), 34, "chi2"))


def test_as_a_frame(counts):
    frame = select(counts, "round_robin(3)", "chi2").to_pandas()
    assert frame.columns.tolist() == ["rank", "term", "score", "class", "taken_by", "index"]
    assert frame["taken_by"].tolist() == ["neg", "pos", "neg"]
    assert frame["term"].tolist() == ["bad", "good", "night"]


def test_equality_and_pickle(counts):
    chosen = select(counts, 2, "chi2")
    assert pickle.loads(pickle.dumps(chosen)) == chosen
    assert chosen != select(counts, 3, "chi2")
    assert chosen != "a selection"


def test_scores_can_be_given_instead_of_counts(counts):
    scores = ts.score(counts, "chi2")
    assert select(scores, 2) == select(counts, 2, "chi2")
    with pytest.raises(OptionError, match="scores of 'chi2' and another score 'gu'"):
        select(scores, 2, "gu")
    with pytest.raises(OptionError, match="labels and analyzer go with texts; these are scores"):
        select(scores, 2, labels=["a"])
    with pytest.raises(OptionError, match="Counts, Scores or documents; it was given set"):
        select({1}, 2)


def test_one_constant_is_the_score_when_none_is_said(counts):
    assert select(counts, 2) == select(counts, 2, DEFAULT_SCORE)
    assert ts.TermSelector().score_func == DEFAULT_SCORE
    by_default = ts.TermVectorizer(k=2).fit(TEXTS, LABELS)
    assert by_default.selection_ == ts.TermVectorizer(score_func=DEFAULT_SCORE, k=2).fit(TEXTS, LABELS).selection_


def test_aggregation_can_be_chosen(counts):
    largest, mean = (select(counts, 5, "word_freq", aggregate=how) for how in ("max", "mean"))
    assert largest.scores.tolist() != mean.scores.tolist()
    with pytest.raises(OptionError, match="Unknown aggregation 'median'"):
        select(counts, 5, "chi2", aggregate="median")


def test_a_function_of_a_table_is_a_score(counts):
    def presence(t):
        return t.tpr

    chosen = select(counts, 2, presence)
    assert chosen.score == "presence"
    assert chosen.terms.tolist() == ["bad", "good"]


def test_without_terms_there_is_nothing_to_take():
    chosen = select(ts.count(["", ""], ["a", "b"]), "percentile(50)", "chi2")
    assert len(chosen) == 0
    assert chosen.mask.shape == (0,)


def test_folds_by_subtraction_select_what_counting_each_training_part_selects(texts, labels):
    texts, labels = texts * 3, labels * 3
    folds = ts.count_folds(texts, labels, folds=5, seed=1)
    for fold in range(5):
        rows = np.flatnonzero(folds.assignment != fold)
        scratch = ts.count([texts[i] for i in rows], [labels[i] for i in rows])
        for rule in ("top(7)", "energy(0.5)", "round_robin(6)"):
            assert select(folds.training(fold), rule, "chi2") == select(scratch, rule, "chi2")

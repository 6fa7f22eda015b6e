import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_selection import SelectPercentile
from stages.test_aggregate import corpora, counted, quick

import termsieve as ts
from termsieve.errors import OptionError
from termsieve.selection.rules import RULES, Energy, Stages, Threshold, Top, Union, parse_rule
from termsieve.selection.selection import select

SPELLINGS = [
    "top(1000)", 'top("all")', "percentile(10)", "threshold(3.84)", "threshold(-1)", "median_probability()",
    "energy(0.8)", "fdr(0.05)", 'fdr(0.05, method="by")', "fwe(0.01)", "round_robin(100)", "per_class(50)",
    'union("chi2", "info_gain", k=1000)', 'union("bns(floor=0.001)", k=3)',
    'stages("ocfs", 10000, "info_gain", 1000)', 'stages("ocfs", "energy(0.9)", "pip", "median_probability()")',
    "stable(500)", "stable(500, share=0.8)",
    "cmim(1000)", "cmim()", "jmi(10)", "mrmr(100)", 'mrmr(100, form="quotient")', "fcbf()", "fcbf(10, threshold=0.01)",
    "cmim(10, in_turn=True)",
]  # fmt: skip


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_rule_prints_as_it_is_spelled(spelling):
    rule = parse_rule(spelling)
    assert repr(rule) == str(rule) == spelling
    assert parse_rule(rule) is rule
    assert pickle.loads(pickle.dumps(rule)) == rule
    assert hash(parse_rule(spelling)) == hash(rule)


def test_every_rule_is_spelled_in_these_tests():
    assert {spelling.partition("(")[0] for spelling in SPELLINGS} == set(RULES)


@pytest.mark.parametrize("name", RULES)
def test_every_rule_is_explained(name):
    assert RULES[name].__doc__
    assert RULES[name].choose.__doc__


@pytest.mark.parametrize(
    ("given", "canonical"),
    [(5, "top(5)"), (np.int64(5), "top(5)"), ("  top ( k = 5 ) ", "top(5)"), ("top", "top(1000)"),
     ("percentile", "percentile(10)"), ("threshold", "threshold(0)"), ("energy", "energy(0.8)"), ("fdr", "fdr(0.05)"),
     ("fwe", "fwe(0.05)"), ("round_robin", "round_robin(1000)"), ("per_class", "per_class(50)"),
     ("union('gu')", 'union("gu", k=1000)'),
     ("energy(share=8e-1)", "energy(0.8)"), ("union('gu', k=2)", 'union("gu", k=2)')],
)  # fmt: skip
def test_other_ways_to_say_it(given, canonical):
    assert repr(parse_rule(given)) == canonical


def test_numbers_of_numpy_become_plain_ones():
    assert repr(Top(np.int64(7))) == "top(7)"
    assert repr(Energy(np.float64(0.5))) == "energy(0.5)"


def test_rules_do_not_change():
    with pytest.raises(AttributeError):
        Top(3).k = 4


@pytest.mark.parametrize(
    ("spelling", "message"),
    [
        ("tpo(3)", "Did you mean 'top'"),
        ("nothing(3)", "Known rules: cmim, energy, fcbf"),
        ("chi2", "'chi2' is a score"),
        ("top(-1)", "whole number, 0 or more, not -1"),
        (f"fdr({'9' * 400})", r"a number in \[0, 1\], not 999"),
        (f"threshold(-{'9' * 400})", "a finite number, not -999"),
        ("top(1.5)", "whole number"),
        ("top(True)", "whole number"),
        ("top(1, 2)", "'top' takes k"),
        ("top(n=1)", "'top' takes k"),
        ("top(k=1, k=2)", "given twice"),
        ("top(x)", "not understood"),
        ("top(**{'k': 1})", "has no name"),
        ("top(", "It should look like"),
        ("1 + 1", "It should look like"),
        ("__import__('os').system('true')", "It should look like"),
        ("energy(1.5)", r"a number in \[0, 1\], not 1.5"),
        ("fdr(1.5)", r"a number in \[0, 1\], not 1.5"),
        ("fwe(-0.1)", r"a number in \[0, 1\], not -0.1"),
        ("fwe(1.5)", r"a number in \[0, 1\], not 1.5"),
        ("percentile(101)", r"\[0, 100\]"),
        ("threshold('high')", "a finite number"),
        ("fdr(0.1, method='bonferroni')", "'bh' or 'by'"),
        ("union(k=3)", "needs scores"),
        ("union('bms', k=3)", "Did you mean 'bns'"),
        ("stages('ocfs')", "pairs of a score and a rule"),
        ("stages('ocfs', 'tpo(3)')", "Did you mean 'top'"),
    ],
)
def test_what_is_not_understood_is_explained(spelling, message):
    with pytest.raises(OptionError, match=message):
        parse_rule(spelling)


@pytest.mark.parametrize("wrong", [None, True, 3.5, ["top(3)"]])
def test_a_rule_is_a_spelling_a_number_or_a_rule(wrong):
    with pytest.raises(OptionError, match="A rule is a spelling"):
        parse_rule(wrong)


# What they choose, against the definition


FREE_GU = "gu(min_df=1)"  # without the guard, which would rank rare terms last


def ranked(counts, score):
    """Terms by the words of the design: score descending, then term ascending."""
    s = ts.score(counts, score)
    values = s.overall()
    return sorted(range(counts.n_terms), key=lambda i: (-values[i], counts.terms[i])), values


@quick
@given(corpora(), st.integers(0, 14))
def test_top_takes_the_first_of_the_ranking(corpus, k):
    counts = counted(*corpus)
    order, values = ranked(counts, "chi2")
    k = min(k, counts.n_terms)
    chosen = select(counts, Top(k), "chi2")
    assert chosen.index.tolist() == order[:k]
    assert chosen.scores.tolist() == values[order[:k]].tolist()
    assert chosen.terms.tolist() == counts.terms[order[:k]].tolist()


@pytest.mark.parametrize("name", ts.SCORES)
def test_every_score_is_selected_by_its_order(single, name):
    chosen = select(single, 5, name)
    assert chosen.index.tolist() == ts.score(single, name).order()[:5].tolist()
    assert chosen.labels.tolist() == single.classes[ts.score(single, name).associated_class[chosen.index]].tolist()


@quick
@given(corpora())
def test_rankings_are_nested(corpus):
    counts = counted(*corpus)
    whole = select(counts, Top("all"), "info_gain").terms.tolist()
    for k in range(counts.n_terms):
        assert select(counts, Top(k), "info_gain").terms.tolist() == whole[:k]


@quick
@given(corpora(), st.sampled_from([0.1, 0.5, 0.8, 1.0]))
def test_energy_takes_the_fewest_terms_with_the_share(corpus, share):
    counts = counted(*corpus)
    order, values = ranked(counts, "info_gain")
    exact = [Fraction(float(values[i])) for i in order]
    chosen = len(select(counts, Energy(share), "info_gain"))
    if sum(exact) == 0:
        assert chosen == 0
        return
    assert float(sum(exact[:chosen])) >= share * float(sum(exact)) * (1 - 1e-12)
    assert float(sum(exact[: chosen - 1])) < share * float(sum(exact)) * (1 + 1e-12)


@pytest.mark.parametrize(("share", "n"), [(0.0, 1), (0.25, 1), (0.26, 2), (0.5, 2), (0.75, 3), (1.0, 4)])
def test_energy_stops_where_the_share_is_reached_exactly(share, n):
    counts = counted(np.eye(4, dtype=int), np.eye(2, dtype=int)[[0, 1, 0, 1]])
    chosen = select(counts, Energy(share), lambda t: np.ones_like(t.tpr))
    assert len(chosen) == n
    assert f"{n} of 4 terms have {share:g} of the sum of all scores, 4" in chosen.reason


@quick
@given(corpora(), st.sampled_from([0.0, 0.3, 2.0, 100.0]))
def test_threshold_takes_what_reaches_it(corpus, least):
    counts = counted(*corpus)
    order, values = ranked(counts, "chi2")
    assert select(counts, Threshold(least), "chi2").index.tolist() == [i for i in order if values[i] >= least]


@pytest.mark.parametrize("n", [1, 2, 7, 10, 11, 12, 15, 20, 21, 99, 100, 101])
@pytest.mark.parametrize("percent", [0, 1, 5, 10, 25, 33.3, 50, 99, 100])
def test_percentile_takes_as_many_as_scikit_learn(n, percent):
    X = np.triu(np.ones((n + 1, n), int))
    y = [0] * (n + 1)
    y[-1] = 1
    theirs = SelectPercentile(lambda X, y: np.arange(n, dtype=float), percentile=percent).fit(X, y)
    ours = select(counted(X, np.eye(2, dtype=int)[y]), f"percentile({percent})", "doc_freq")
    assert len(ours) == theirs.get_support().sum()


@quick
@given(corpora(), st.sampled_from([0.01, 0.2, 0.9]))
def test_false_discoveries_by_the_step_up_of_benjamini_and_hochberg(corpus, alpha):
    counts = counted(*corpus)
    p = ts.score(counts, "chi2").pvalues()
    ascending = np.sort(p)
    passed = [i for i in range(len(p)) if ascending[i] <= alpha * (i + 1) / len(p)]
    limit = ascending[passed[-1]] if passed else -1.0
    for aggregate in ("max", "mean"):  # the order of the terms, not which of them pass, depends on it
        for rule, passing in ((f"fdr({alpha})", p <= limit), (f"fwe({alpha})", p <= alpha / len(p))):
            assert set(select(counts, rule, "chi2", aggregate=aggregate).index) == set(np.flatnonzero(passing))


def by_turns(counts, score, total, each):
    """Round robin in plain words."""
    s, lift = ts.score(counts, score), ts.score(counts, lambda_lift).values
    lists = []
    for c in range(counts.n_classes):
        values = s.values[c]
        mine = [i for i in range(counts.n_terms) if lift[c, i] > 0]
        lists.append(sorted(mine, key=lambda i: (-values[i], counts.terms[i])))
    taken, got = [], [0] * counts.n_classes
    moved = True
    while moved:
        moved = False
        for c, mine in enumerate(lists):
            left = [i for i in mine if i not in taken]
            if left and len(taken) < total and got[c] < each:
                taken.append(left[0])
                got[c] += 1
                moved = True
    return taken


def lambda_lift(t):
    return t.lift


@quick
@given(corpora(several_labels=True), st.integers(0, 14))
def test_classes_take_terms_in_turn(corpus, k):
    counts = counted(*corpus)
    assert select(counts, f"round_robin({k})", "chi2").index.tolist() == by_turns(counts, "chi2", k, k)
    quota = k // 4
    everything = quota * counts.n_classes
    assert select(counts, f"per_class({quota})", "chi2").index.tolist() == by_turns(counts, "chi2", everything, quota)


@quick
@given(corpora(), st.integers(0, 14))
def test_scores_take_terms_in_turn(corpus, k):
    counts = counted(*corpus)
    lists = [ranked(counts, name)[0] for name in ("chi2", FREE_GU, "doc_freq")]
    taken = []
    for place in range(counts.n_terms * 3):
        left = [i for i in lists[place % 3] if i not in taken]
        if left and len(taken) < k:
            taken.append(left[0])
    chosen = select(counts, Union("chi2", FREE_GU, "doc_freq", k=k))
    assert chosen.index.tolist() == taken
    assert chosen.taken_by.tolist() == [("chi2", FREE_GU, "doc_freq")[i % 3] for i in range(len(taken))]


@quick
@given(corpora(), st.integers(1, 14), st.integers(1, 14))
def test_a_second_stage_ranks_what_the_first_has_left(corpus, n, k):
    counts = counted(*corpus)
    n = min(n, counts.n_terms)
    k = min(k, n)
    left = ranked(counts, "doc_freq")[0][:n]
    expected = [i for i in ranked(counts, "info_gain")[0] if i in left][:k]
    assert select(counts, Stages("doc_freq", n, "info_gain", k)).index.tolist() == expected


@pytest.mark.parametrize(
    "last", ["top(2)", "percentile(50)", "threshold(0.5)", "energy(0.5)", "fdr(0.9)", "fwe(0.9)", "round_robin(3)"]
)
def test_every_rule_can_be_a_second_stage(single, last):
    first = set(select(single, 12, "doc_freq").terms)
    chosen = select(single, Stages("doc_freq", 12, "chi2", last))
    assert set(chosen.terms) <= first
    assert "then chi2" in chosen.reason


# What they refuse, and what they say


def test_energy_refuses_what_cannot_be_added_up(single):
    for score in (lambda t: -t.tpr, lambda t: t.tpr + np.where(t.tp > 1, np.inf, 0.0)):
        with pytest.raises(OptionError, match=r"finite and not negative.*'ocfs'"):
            select(single, "energy(0.8)", score)


def test_energy_of_nothing_takes_nothing():
    counts = counted(np.ones((4, 3), int), np.eye(2, dtype=int)[[0, 1, 0, 1]])
    chosen = select(counts, "energy(0.8)", "info_gain")
    assert len(chosen) == 0
    assert "0 of 3 terms" in chosen.reason


def test_p_values_are_asked_of_scores_that_have_them(single):
    with pytest.raises(OptionError, match="Scores that have one: chi2"):
        select(single, "fdr(0.05)", "info_gain")


def test_the_median_probability_model_is_one_of_inclusion_probabilities(counts):
    chosen = select(counts, "median_probability()", "pip")
    assert chosen.terms.tolist() == select(counts, "threshold(0.5)", "pip").terms.tolist()
    with pytest.raises(OptionError, match="'pip' or 'pip_poisson'; the score is 'gu'"):
        select(counts, "median_probability()", "gu")


def test_terms_that_are_more_likely_in_than_out_are_taken():
    X = np.zeros((40, 2), int)
    X[:20, 0], X[::2, 1] = 1, 1  # the first tells the classes apart, the second does not
    counts = counted(X, np.eye(2, dtype=int)[[0] * 20 + [1] * 20])
    assert select(counts, "median_probability()", "pip").index.tolist() == [0]
    chosen = select(counts, "fdr(0.05)", "chi2")
    assert chosen.index.tolist() == [0]
    assert "1 of 2 terms; the largest p-value is " in chosen.reason


def test_all_terms_that_are_likely_in_are_taken():
    X = np.zeros((40, 3), int)
    X[:20, 0], X[::2, 1], X[20:, 2] = 1, 1, 1
    counts = counted(X, np.eye(2, dtype=int)[[0] * 20 + [1] * 20])
    chosen = select(counts, "median_probability()", "pip")
    assert sorted(chosen.index.tolist()) == [0, 2]
    assert "at least 0.5: 2 of 3 terms" in chosen.reason


@pytest.mark.parametrize("rule", ["fwe", "fdr"])
def test_a_p_value_at_the_limit_itself_is_kept(rule):
    counts = counted(np.array([[1], [1], [0], [0]]), np.eye(2, dtype=int)[[0, 0, 0, 1]])
    (p,) = ts.score(counts, "chi2").pvalues()
    assert len(select(counts, f"{rule}({float(p)!r})", "chi2")) == 1
    assert len(select(counts, f"{rule}({float(np.nextafter(p, 0))!r})", "chi2")) == 0


def test_more_than_there_are_is_all_with_a_warning(single):
    with pytest.warns(UserWarning, match="k=1000 is more than the 34 terms"):
        chosen = select(single, "top(1000)", "chi2")
    assert len(chosen) == single.n_terms
    assert "1,000 were asked for" in chosen.reason
    assert len(select(single, 'top("all")', "chi2")) == single.n_terms


@pytest.mark.parametrize(
    ("rule", "score", "reason"),
    [
        ("top(3)", "chi2", "the 3 of 34 terms with the highest score were asked for"),
        ("percentile(10)", "chi2", "the best 10 percent: 4 of 34 terms"),
        ("threshold(1.7)", "chi2", "a score of at least 1.7: 16 of 34 terms"),
        ("fwe(0.5)", "chi2", "a p-value of at most 0.0147: 0 of 34 terms"),
        ("round_robin(5)", "chi2", "3 classes took terms in turn, 5 of 34 terms, until there were as many"),
        ("round_robin(99)", "chi2", "until no class had any left"),
        ("per_class(2)", "chi2", "2 terms for each of 3 classes: 6 of 34 terms"),
        ("per_class(20)", "chi2", "classes have fewer associated terms"),
        ("union('chi2', 'gu', k=4)", None, "2 scores took terms in turn: 4 of 34 terms"),
    ],
)
def test_the_reason_says_why_the_rule_stopped(single, rule, score, reason):
    assert reason in select(single, rule, score).reason


def test_saturated_probabilities_are_ranked_by_their_tie_break():
    X = np.zeros((4000, 3), int)
    X[:2000, 0], X[:1900, 1], X[:1950, 2] = 1, 1, 1
    Y = np.eye(2, dtype=int)[[0] * 2000 + [1] * 2000]
    chosen = select(counted(X, Y), 3, "pip")
    assert chosen.scores.tolist() == [1.0, 1.0, 1.0]
    assert chosen.index.tolist() == [0, 2, 1]
    assert math.isclose(chosen.scores[0], 1.0)

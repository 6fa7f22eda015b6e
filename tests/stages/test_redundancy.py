"""Rules that look at terms together: the order of the textbook, exactly, and every way to ask for it."""

import math
from itertools import islice, product
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import textbook_redundancy as textbook

import termsieve as ts
from termsieve import _kernels
from termsieve.counts.labelled import LabelledMatrix, read_labelled
from termsieve.errors import OptionError
from termsieve.reporting.tables import MAX_SUPERFLUOUS, make_explained_terms
from termsieve.reporting.term_groups import MAX_GROUPS, MAX_TERMS, draw_term_groups
from termsieve.selection import greedy
from termsieve.selection.logarithms import make_log_table
from termsieve.selection.near_duplicates import NearDuplicate, TermGroup, find_groups
from termsieve.selection.pool import RULES
from termsieve.selection.problem import Problem
from termsieve.selection.rules import parse_rule
from termsieve.study.corpus import read_corpus
from termsieve.study.plan import Plan
from termsieve.study.result_files import check_groups
from termsieve.study.split_data import SplitData
from termsieve.study.splits import Split
from termsieve.views import format_percent

METHODS = {"cmim": "cmim", "jmi": "jmi", "mrmr": "mrmr", "quotient": 'mrmr(form="quotient")', "fcbf": "fcbf"}
TEXTS = [
    "cheap discount pills", "cheap discount watches", "cheap offer", "buy pills", "buy cheap pills discount",
    "noon meeting", "lunch at noon", "meeting at ten", "lunch meeting", "project meeting at noon",
]  # fmt: skip
LABELS = ["spam"] * 5 + ["ham"] * 5


@st.composite
def presences(draw, n_classes=3):
    n_docs, n_terms = draw(st.integers(3, 12)), draw(st.integers(1, 6))
    rows = draw(st.lists(st.lists(st.integers(0, 1), min_size=n_terms, max_size=n_terms), min_size=n_docs,
                         max_size=n_docs))  # fmt: skip
    labels = draw(st.lists(st.integers(0, n_classes - 1), min_size=n_docs, max_size=n_docs))
    return np.array(rows), labels


def order_of(spelling, X, y, k):
    rule = parse_rule(spelling)
    return rule.choose_from(LabelledMatrix.from_matrix(X, y), k).indices.tolist()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("way", ["plain", "compiled"])
@settings(max_examples=40)
@given(presences())
def test_the_order_is_that_of_the_textbook(method, way, data):
    X, y = data
    expected = textbook.rank(method, X.T.tolist(), y, X.shape[1])
    with _kernels.use_way(way):
        assert order_of(METHODS[method], X, y, X.shape[1]) == expected


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=15)
@given(presences(), st.data())
def test_classes_take_terms_in_turn_where_documents_have_several_labels(method, data, draw):
    X, _ = data
    labels = draw.draw(st.lists(st.sets(st.sampled_from("abc")), min_size=len(X), max_size=len(X)))
    labels[0] |= {"a", "b"}
    classes = sorted(set().union(*labels))
    k = draw.draw(st.integers(1, X.shape[1]))
    expected = textbook.rank_in_turn(method, X.T.tolist(), labels, classes, k)
    assert order_of(METHODS[method], X, [sorted(one) for one in labels], k) == expected


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=25)
@given(presences(), st.randoms())
def test_it_depends_neither_on_the_order_of_documents_nor_on_when_terms_are_admitted(method, data, random):
    X, y = data
    expected = order_of(METHODS[method], X, y, X.shape[1])
    rows = random.sample(range(len(X)), len(X))
    assert order_of(METHODS[method], X[rows], [y[i] for i in rows], X.shape[1]) == expected
    with patch.object(greedy, "_FIRST_ADMITTED", 1):
        assert order_of(METHODS[method], X, y, X.shape[1]) == expected
    for k in range(X.shape[1]):
        assert order_of(METHODS[method], X, y, k) == expected[:k]


def test_larger_data_is_admitted_in_parts_and_counted_both_ways():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 300)
    X = (rng.random((300, 400)) < rng.random(400) ** 3 * (0.2 + 0.8 * (rng.integers(0, 4, 400) == y[:, None]))) * 1
    for spelling in METHODS.values():
        orders = []
        for way, first in product(("plain", "compiled"), (8, 10_000)):
            with _kernels.use_way(way), patch.object(greedy, "_FIRST_ADMITTED", first):
                orders.append(order_of(spelling, X, y, 60))
        assert all(order == orders[0] for order in orders)
    problem = Problem(LabelledMatrix.from_matrix(X, y))
    with patch.object(greedy, "_FIRST_ADMITTED", 8):
        lazy = greedy.CmimSteps(problem)
        assert len(list(islice(lazy, 10))) == 10
        assert lazy.n_admitted < problem.n_terms


@given(st.integers(1, 60), st.integers(1, 60))
def test_logarithms_add_up_exactly(a, b):
    table = make_log_table(a * b)
    assert table.logarithms[a * b] == table.logarithms[a] + table.logarithms[b]


def test_logarithms_are_right_and_what_is_too_large_cancels():
    n = 1_000_003  # a prime
    table = make_log_table(n)
    numbers = np.array([2, 3, 12, 1024, 999_983, n])
    np.testing.assert_allclose(table.logarithms[numbers] * 2.0**-table.bits, np.log2(numbers), rtol=1e-11)
    half, f = n // 2, table.values
    entropy = f[[n]] - f[[half]] - f[[n - half]]  # f itself has passed 64 bits
    assert entropy[0] * 2.0**-table.bits == pytest.approx(n, rel=1e-9)
    assert table.to_nats(entropy)[0] == pytest.approx(math.log(2), rel=1e-9)


def test_a_copy_of_a_chosen_term_adds_nothing():
    X = np.array([[1, 1, 0], [1, 1, 0], [1, 1, 1], [1, 1, 1], [0, 0, 0], [0, 0, 0], [0, 0, 0], [1, 1, 0]])
    chosen = parse_rule("cmim").choose_from(LabelledMatrix.from_matrix(X, list("aaaabbbb")), 3)
    assert chosen.indices.tolist() == [0, 2, 1]
    assert chosen.values[2] == 0.0


# Ways to ask for it


@pytest.mark.parametrize("spelling", ["cmim(4)", "jmi(4)", "mrmr(4)", 'mrmr(4, form="quotient")', "fcbf(4)"])
def test_texts_documents_matrices_and_estimators_give_the_same(spelling):
    selection = ts.select(TEXTS, spelling, labels=LABELS)
    assert selection.rule == spelling
    assert selection.score == "info_gain"
    assert len(selection) <= 4
    matrix = read_labelled(TEXTS, LABELS)
    assert ts.select(matrix, spelling) == selection
    assert ts.select(ts.read({"text": TEXTS, "label": LABELS}), spelling) == selection
    selector = ts.TermSelector(rule=spelling).fit(matrix.X, LABELS)
    assert selector.selection_.index.tolist() == selection.index.tolist()
    vectorizer = ts.TermVectorizer(rule=spelling)
    X = vectorizer.fit_transform(TEXTS, LABELS)
    assert sorted(selection.terms) == vectorizer.get_feature_names_out().tolist()
    np.testing.assert_array_equal(X.toarray(), matrix.X[:, np.sort(selection.index)].toarray())


@pytest.mark.parametrize("way", ["plain", "compiled"])
def test_documents_are_read_as_they_are_counted(way):
    with _kernels.use_way(way):
        matrix = read_labelled(TEXTS, LABELS)
        counts = ts.count(TEXTS, LABELS)
        tokens = [text.split() for text in TEXTS]
        assert read_labelled(tokens, LABELS).counts == ts.count(tokens, LABELS)
    assert matrix.counts == counts
    assert matrix.counts.to_bytes() == counts.to_bytes()


def test_a_vectorizer_prunes_first():
    vectorizer = ts.TermVectorizer(rule="cmim(3)", min_df=2, max_df=3).fit(TEXTS, LABELS)
    counts = ts.count(TEXTS, LABELS).prune(min_df=2, max_df=3)
    pruned = read_labelled(TEXTS, LABELS).with_counts(counts)
    assert vectorizer.selection_ == ts.select(pruned, "cmim(3)")


def test_a_selection_tells_why_it_stopped():
    assert ts.select(TEXTS, "cmim(2)", labels=LABELS).reason == (
        "cmim chose 2 of 12 terms one after the other, in 10 documents"
    )
    for k in (99, 10**30):
        for rule in (f"cmim({k})", f"jmi({k}, in_turn=True)"):
            assert ts.select(TEXTS, rule, labels=LABELS).reason.endswith("in 10 documents; no others were left")
    assert ts.select(TEXTS, "fcbf", labels=LABELS).reason.endswith("; no others were left")
    with patch.object(RULES["cmim"], "default_k", 3):
        assert ts.select(TEXTS, "cmim", labels=LABELS).reason.endswith(
            "chose 3 of 12 terms one after the other, in 10 documents"
        )
    several = [[label, "all"] if i % 3 else [label] for i, label in enumerate(LABELS)]
    selection = ts.select(TEXTS, "cmim(6)", labels=several)
    assert selection.reason.startswith("3 classes in turn chose 6 of 12 terms")
    assert selection.taken_by.tolist() == ["all", "ham", "spam"] * 2
    assert selection.score == "info_gain_binary"


def test_stages_pass_documents_on():
    selection = ts.select(TEXTS, 'stages("chi2", 8, "info_gain", "cmim(3)")', labels=LABELS)
    best = set(ts.select(ts.count(TEXTS, LABELS), 8, "chi2").terms)
    assert len(selection) == 3
    assert set(selection.terms) <= best


@pytest.mark.parametrize("rule", ["cmim(5)", 'stages("chi2", 8, "info_gain", "jmi(3)")'])
def test_counts_alone_are_not_enough(rule):
    with pytest.raises(OptionError, match=r"needs the documents.*termsieve\.select\(documents, rule\).*top\(1000\)"):
        ts.select(ts.count(TEXTS, LABELS), rule)
    with pytest.raises(OptionError, match="partial_fit keeps counts only"):
        ts.TermVectorizer(rule=rule).partial_fit(TEXTS, LABELS)
    with pytest.raises(OptionError, match="partial_fit keeps counts only"):
        ts.TermSelector(rule=rule).partial_fit([[1, 0], [0, 1]], ["a", "b"])


def test_what_select_cannot_read():
    with pytest.raises(OptionError, match="needs Counts, Scores or documents; it was given float"):
        ts.select(1.5, "cmim")
    with pytest.raises(OptionError, match="these are counts"):
        ts.select(ts.count(TEXTS, LABELS), "top(3)", labels=LABELS)
    with pytest.raises(OptionError, match=r"folds must be what termsieve\.count_folds gives, not int"):
        ts.select(ts.count(TEXTS, LABELS), "stable(3)", folds=5)


@pytest.mark.parametrize(
    ("spelling", "message"),
    [('mrmr(form="ratio")', "'difference' or 'quotient'"), ("cmim(-1)", "0 or more"), ("cmim(1.5)", "whole number"),
     ("fcbf(threshold=2)", r"a number in \[0, 1\]"), ("jmi(form=1)", "'jmi' takes k")],
)  # fmt: skip
def test_wrong_parameters(spelling, message):
    with pytest.raises(OptionError, match=message):
        parse_rule(spelling)


# In comparisons


def split_data(labels, scores=("cmim",), **options):
    corpus = read_corpus(TEXTS, labels, None, [], 1)
    plan = Plan.from_arguments(scores, ["multinomial_nb"], options.pop("ks", [2, 4, "all"]), **options)
    split = Split(0, 0, np.array([0, 1, 2, 5, 6, 7]), np.array([3, 4, 8, 9]))
    return SplitData(corpus, plan.fit_to(len(corpus.terms)), split)


def ranked(labels, **options):
    data = split_data(labels, **options)
    return [one.order.tolist() for one in data.rank_columns(data.plan.scores[0]).rankings]


def test_a_ranking_begins_with_the_choice_and_goes_on_by_information_gain():
    data = split_data(LABELS)
    order = ranked(LABELS, scores=["jmi"])[0]
    train = [0, 1, 2, 5, 6, 7]
    chosen = ts.select([TEXTS[i] for i in train], "jmi(4)", labels=[LABELS[i] for i in train])
    terms = ts.count(TEXTS, LABELS).terms
    assert terms[order[:4]].tolist() == chosen.terms.tolist()
    by_gain = [j for j in ts.score(data.occurrences, "info_gain").order().tolist() if data.occurrences.term_df[j]]
    assert order[4:] == [j for j in by_gain if j not in order[:4]]
    fewer = ranked(LABELS, scores=["jmi(2)"])[0]
    assert fewer == [*order[:2], *(j for j in by_gain if j not in order[:2])] != order


@pytest.mark.parametrize("name", ["cmim", "jmi", "mrmr", "fcbf", 'mrmr(form="quotient")'])
@pytest.mark.parametrize("options", [{}, {"per_class": True}])
def test_nothing_of_the_test_documents_is_seen(name, options):
    swapped = [*LABELS]
    for i in (3, 4, 8, 9):
        swapped[i] = {"spam": "ham", "ham": "spam"}[LABELS[i]]
    assert ranked(LABELS, scores=[name], **options) == ranked(swapped, scores=[name], **options)


def test_terms_that_are_too_rare_do_not_compete():
    data = split_data(LABELS, min_df=2)
    order = ranked(LABELS, min_df=2)[0]
    assert set(order) == set(np.flatnonzero(data.occurrences.term_df >= 2))


def test_rules_compete_with_scores():
    result = ts.compare(
        TEXTS * 3, LABELS * 3, scores=["chi2", "cmim", "fcbf(3)"], classifiers=["multinomial_nb"], ks=[2, 5], cv=3,
        progress=False,
    )  # fmt: skip
    assert result.scores == ["chi2", "cmim", "fcbf(3)"]
    assert len(result.table) == len(result.table.filter(result.table["score"].to_numpy() == "cmim")) * 3


@pytest.mark.parametrize(
    "options", [{"scores": ["cmim"], "ks": [3, 5]}, {"rule": ["mrmr(4)", "top(4)"], "scores": ["chi2"]},
                {"scores": "jmi", "ks": "all"}]
)  # fmt: skip
def test_a_model_is_trained_with_it(options, tmp_path):
    model = ts.train(TEXTS * 3, LABELS * 3, classifiers="multinomial_nb", cv=3, progress=False, **options)
    model.save(tmp_path / "a.model")
    loaded = ts.Model.load(tmp_path / "a.model")
    assert loaded.predict(TEXTS) == model.predict(TEXTS) == LABELS


# Classes in turn, by choice


def test_classes_take_terms_in_turn_where_that_is_asked_for():
    X = np.array([[1, 0, 0, 1], [1, 0, 1, 0], [0, 1, 1, 0], [0, 1, 0, 1], [0, 0, 1, 1], [0, 0, 1, 0]])
    y = list("aabbcc")
    expected = textbook.rank_in_turn("cmim", X.T.tolist(), [{one} for one in y], "abc", 4)
    assert order_of("cmim(in_turn=True)", X, y, 4) == expected
    selection = ts.select(LabelledMatrix.from_matrix(X, y), "cmim(4, in_turn=True)")
    assert selection.reason.startswith("3 classes in turn chose 4 of 4 terms")
    assert selection.taken_by.tolist()[:3] == ["a", "b", "c"]
    with pytest.raises(OptionError, match="must be True or False"):
        parse_rule("jmi(in_turn=1)")


# Near-duplicates


@settings(max_examples=25)
@given(presences(), st.integers(1, 3))
def test_a_near_duplicate_is_charged_to_the_term_that_leaves_it_least(data, k):
    X, y = data
    matrix = LabelledMatrix.from_matrix(X, y)
    selection = ts.select(matrix, min(k, X.shape[1]), "chi2")
    found = {one.other: one for one in selection.near_duplicates(matrix, least_share=0)}
    columns, names = X.T.tolist(), matrix.counts.terms.tolist()
    for other in set(names) - set(selection.terms):
        j = names.index(other)
        gain = textbook.information(columns[j], y)
        beside = [
            (float(textbook.information(columns[j], y, columns[s])), s)
            for s in selection.index.tolist()
            if (X[:, j] & X[:, s]).sum() * len(X) > X[:, j].sum() * X[:, s].sum()
        ]
        least = min(beside, default=(math.inf, -1))[0]
        if least < float(gain) - 1e-9:
            one = found.pop(other)
            assert one.left == pytest.approx(least, abs=1e-9)
            assert one.gain == pytest.approx(float(gain), abs=1e-9)
            s = names.index(one.term)
            assert (one.df, one.common) == (X[:, j].sum(), (X[:, j] & X[:, s]).sum())
            assert one.share == one.common / one.df
    assert not found


def test_near_duplicates_where_documents_have_several_labels():
    labels = [[label, "all"] if i % 3 else [label] for i, label in enumerate(LABELS)]
    found = ts.select(TEXTS, "cmim(2)", labels=labels).near_duplicates(TEXTS, labels)
    assert found == sorted(found, key=lambda one: one.term != found[0].term)
    assert all(one.left < one.gain for one in found)
    with pytest.raises(OptionError, match="n must be a whole number of terms, 0 or more, or None, not -1"):
        ts.select(TEXTS, "cmim(2)", labels=labels).near_duplicates(TEXTS, labels, n=-1)
    for share in ("most", -0.1, 1.5, math.nan):
        with pytest.raises(OptionError, match="least_share must be a share of documents, from 0 to 1, not"):
            ts.select(TEXTS, "cmim(2)", labels=labels).near_duplicates(TEXTS, labels, least_share=share)


def test_groups_are_terms_of_the_same_documents():
    matrix = LabelledMatrix.from_matrix(
        [[1, 1, 0, 0, 1], [1, 1, 0, 1, 0], [1, 0, 0, 1, 0], [0, 0, 1, 0, 0]], list("aabb"), terms=list("vwxyz")
    )
    groups = find_groups(np.array([1, 0, 2, 3, 4]), matrix, least_overlap=0.6)
    assert groups == [TermGroup(["w", "v", "y"], [2, 3, 2], [1.0, pytest.approx(2 / 3), pytest.approx(1 / 3)])]
    assert find_groups(np.arange(5), matrix, least_overlap=1.1) == []


# The command


@pytest.fixture
def mail(tmp_path):
    path = tmp_path / "mail.csv"
    path.write_text("text,label\n" + "".join(f"{text},{label}\n" for text, label in zip(TEXTS, LABELS, strict=True)))
    return path


def test_a_file_of_documents_is_selected_from(typed, mail):
    code, out, _ = typed("select", mail, "--rule", "cmim(3)", "--explain", "--format", "csv")
    selection = ts.select(TEXTS, "cmim(3)", labels=LABELS)
    rows = [line.split(",")[1] for line in out.splitlines()[1:]]
    assert code == 0
    assert rows == selection.terms.tolist()
    assert out.splitlines()[0].endswith(",also")
    first = selection.near_duplicates(TEXTS, LABELS)[0]
    assert f"{first.other} ({first.share:.0%}".replace("%", " % of its documents)") in out
    pruned = typed("select", mail, "--rule", "jmi(2)", "--min-df", "2", "--format", "csv")[1].splitlines()
    assert all(ts.count(TEXTS, LABELS)[line.split(",")[1]].df >= 2 for line in pruned[1:])


def test_a_file_of_counts_is_not_enough(typed, mail, tmp_path):
    path = tmp_path / "mail.counts"
    ts.count(TEXTS, LABELS).save(path)
    for options in (["--rule", "cmim(3)"], ["--explain"]):
        code, _, said = typed("select", path, *options)
        assert code != 0
        assert "needs the documents" in " ".join(said.split())


# The report


def test_a_comparison_keeps_groups_and_its_page_shows_them(tmp_path):
    result = ts.compare(
        TEXTS * 3, LABELS * 3, scores=["chi2", "cmim"], classifiers=["multinomial_nb"], ks=[2, 5], cv=3, progress=False
    )
    assert any({"cheap", "discount"} <= set(group.terms) for group in result.term_groups)
    result.save(tmp_path / "a.parquet")
    loaded = ts.Comparison.load(tmp_path / "a.parquet")
    assert loaded.term_groups == result.term_groups
    page = ts.report(loaded, tmp_path / "a.html").read_text("utf-8")
    assert 'id="groups"' in page
    assert '"group of"' in page
    assert "not in the catalogue" not in page  # a rule can be run again
    loaded.term_groups = []
    assert '"group of"' not in ts.report(loaded, tmp_path / "b.html").read_text("utf-8")
    loaded.near_duplicates = []
    assert 'id="groups"' not in ts.report(loaded, tmp_path / "b.html").read_text("utf-8")


@pytest.mark.parametrize("name", ["chi2", "cmim"])
def test_a_comparison_and_its_page_tell_what_the_recommended_terms_make_superfluous(name, tmp_path):
    texts, labels = TEXTS * 3, LABELS * 3
    result = ts.compare(texts, labels, scores=[name], classifiers=["multinomial_nb"], ks=[2], cv=3, progress=False)
    k = result.recommended().k
    rule = f"top({k})" if name == "chi2" else f"cmim({k})"
    given = {"score": name} if name == "chi2" else {}
    expected = ts.select(texts, rule, labels=labels, **given).near_duplicates(texts, labels)
    assert result.near_duplicates == expected != []
    page = ts.report(result, tmp_path / "a.html").read_text("utf-8")
    listed = page.partition('<dl class="explained"')[2].partition("</dl>")[0]
    for one in expected[:2]:
        assert f"{one.term}</bdi>" in listed
        assert f'{one.other}</bdi>&nbsp;<span class="muted">{format_percent(one.share)}<' in listed
        assert f"of its {one.df:,} documents have {one.term}, too" in listed


def test_of_each_term_the_page_lists_few():
    found = [NearDuplicate("a", f"t{i}", 4, 3, 0.75, 0.2, 0.05) for i in range(9)]
    [row] = make_explained_terms(found, {"a": 7})
    assert (row.text, row.number, len(row.also)) == ("a", 7, MAX_SUPERFLUOUS)
    assert row.also[0][:2] == ("t0", "75 %")
    assert row.also[0].title.endswith("beside a it tells 25 % of what it tells of the classes alone")


def test_a_page_without_any_score_of_single_terms(tmp_path):
    result = ts.compare(
        TEXTS * 3, LABELS * 3, scores=["cmim"], classifiers=["multinomial_nb"], ks=[2, 5], cv=3, progress=False
    )
    assert result.term_groups == []
    assert "cmim" in ts.report(result, tmp_path / "a.html").read_text("utf-8")


@pytest.mark.parametrize(
    "groups",
    [[[["a"], [1], [1.0]]], [[["a", "b"], [1, 1], [1.0]]], [[["a", 1], [1, 1], [1.0, 1.0]]],
     [[["a", "b"], [1, 1], [1.0, 2.0]]], [[["a", "b"], [1, "x"], [1.0, 0.5]]], [[["a", "b"], [1, 0], [1.0, 0.5]]]],
)  # fmt: skip
def test_groups_from_a_file_are_checked(groups):
    with pytest.raises(ValueError, match="groups of terms"):
        check_groups(groups)


def test_a_chart_of_many_groups_is_short():
    groups = [TermGroup([f"t{i}-{j}" for j in range(9)], [5] * 9, [1.0] + [0.6] * 8) for i in range(30)]
    chart = draw_term_groups(groups)
    (rows,) = chart.spec["datasets"].values() if "datasets" in chart.spec else [chart.spec["data"]["values"]]
    assert len(rows) == MAX_GROUPS * MAX_TERMS
    assert rows[1] == {"term": "t0-1", "first": "t0-0", "group": 0, "df": 5, "share": 0.6}

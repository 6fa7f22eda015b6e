"""Counts: algebra and its refusals, pruning, merging classes, vocabularies, and what it shows of itself."""

import pickle
import re
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import naive
from oracles.texts import CLASSES, columns, documents
from scipy import sparse

import termsieve as ts
from termsieve.counts.arithmetic import add_all
from termsieve.counts.consistency import check_block
from termsieve.errors import CountsError, OptionError

pytestmark = pytest.mark.usefixtures("way")

HUGE = 2**31 - 1  # three of its squares do not fit into 64 bits


def counted(*texts, label="x"):
    return ts.count(texts, [label] * len(texts))


# What is in it


def test_matrices_are_classes_by_terms(counts):
    assert counts.shape == (counts.n_classes, counts.n_terms) == counts.df.shape == counts.tf.shape == counts.tf2.shape
    assert counts.df.dtype == counts.tf.dtype == counts.tf2.dtype == np.int64
    assert counts.term_df.dtype == counts.class_sizes.dtype == np.int64
    assert isinstance(counts.terms[0], str)


def test_terms_and_classes_are_in_code_point_order():
    counts = ts.count(["zz Zz éé aa a1 漢字 𐐨𐐨 \uffee\uffee"] * 2, ["b", "B"], analyzer=ts.Analyzer(lowercase=False))
    assert counts.terms.tolist() == sorted(["zz", "Zz", "éé", "aa", "a1", "漢字", "𐐨𐐨"])
    assert counts.classes.tolist() == ["B", "b"]


def test_sums_over_terms(counts, texts, labels):
    facts = naive.count(texts, labels, naive.terms)
    per_class = [sum(tf for (c, _), (_, tf, _) in facts["cells"].items() if c == name) for name in facts["classes"]]
    assert counts.class_tf.tolist() == per_class
    assert counts.n_occurrences == sum(tf for _, tf, _ in facts["totals"].values())


def test_terms_are_found_by_name(single):
    for place, term in enumerate(single.terms):
        assert single.index_of(term) == place
        assert term in single
        assert single[term].df == single.term_df[place]
    assert "nowhere" not in single
    assert 1 not in single


def test_totals_are_not_the_sums_over_classes_when_labels_overlap():
    counts = ts.count(["aa", "aa", "aa"], [["x", "y"], [], "x"])
    assert counts.term_df.tolist() == [3]
    assert counts.df.sum() == 3
    assert (counts - ts.count(["aa"], [[]])).term_df.tolist() == [2]


def test_alphabetical_is_the_place_in_code_point_order():
    assert ts.count(["bb aa"], ["x"]).alphabetical.tolist() == [0, 1]
    assert ts.count(["bb aa"], ["x"], vocabulary=["cc", "aa", "bb"]).alphabetical.tolist() == [2, 0, 1]


def test_repr_shows_what_there_is(counts):
    lines = repr(counts).splitlines()
    assert "terms in 3 classes, from 12 documents" in lines[0]
    assert lines[1] == "  several   2 documents have more than one label"
    assert "money (3), sea (6), sport (4)" in repr(counts)
    assert "the (8), " in repr(counts)
    assert "Analyzer()" in repr(counts)
    assert "min_df=2" in repr(counts.prune(min_df=2))


@pytest.mark.parametrize(
    "make",
    [
        lambda: ts.count([], []),
        lambda: ts.count([""], [[]]),
        lambda: ts.Counts.from_matrix(np.zeros((2, 0)), ["a", "b"]),
        lambda: ts.count(["x" * 10_000], ["y" * 10_000], analyzer=ts.Analyzer(stop_words="english")),
        lambda: ts.count(["aa"], ["x"], analyzer=ts.Analyzer(stop_words=[f"w{i}" for i in range(999)])),
        lambda: ts.count([" ".join(f"w{i}" for i in range(99))] * 99, [str(i) for i in range(99)]),
    ],
)
def test_repr_is_short_whatever_there_is(make):
    assert repr(make()).startswith("Counts of ")
    assert max(map(len, repr(make()).splitlines())) < 500


def test_to_pandas_has_a_row_for_each_cell(counts):
    frame = counts.to_pandas()
    assert list(frame.columns) == ["term", "class", "df", "tf", "tf2"]
    rows = {(row["class"], row["term"]): (row["df"], row["tf"], row["tf2"]) for row in frame.to_dict("records")}
    assert rows == naive.facts(counts)["cells"]


@pytest.mark.parametrize("options", [{}, {"stop_words": "smart"}, {"stemmer": "english"}, {"tokenizer": str.split}])
def test_counts_know_their_analyzer(options):
    analyzer = ts.Analyzer(**options)
    counts = ts.count(["aa bb"], ["x"], analyzer=analyzer)
    assert counts.fingerprint == analyzer.fingerprint == counts.analyzer.fingerprint
    assert counts.analyzer == analyzer


def test_a_matrix_has_no_analyzer():
    counts = ts.Counts.from_matrix([[1]], ["x"])
    assert counts.analyzer is None
    assert counts.fingerprint is None


@given(documents())
def test_pickling_keeps_counts_and_folds(pairs):
    counts = ts.count(*columns(pairs))
    _ = counts.df, counts.terms
    assert pickle.loads(pickle.dumps(counts)) == counts
    folds = ts.count_folds(*columns(pairs), folds=3)
    again = pickle.loads(pickle.dumps(folds))
    assert [again.training(i) for i in range(3)] == [folds.training(i) for i in range(3)]


# Equality


def test_equal_counts_need_equal_everything():
    counts = ts.count(["aa bb"], ["x"])
    others = [
        ts.count(["aa bb bb"], ["x"]),
        ts.count(["aa"], ["x"]),
        ts.count(["aa bc"], ["x"]),
        ts.count(["aa bb"], ["y"]),
        ts.count(["aa bb"], [["x", "y"]]),
        ts.count(["aa bb", ""], ["x", []]),
        ts.count(["aa bb", ""], ["x", "x"]),
        ts.count(["aa bb"], ["x"], analyzer=ts.Analyzer(lowercase=False)),
        ts.count(["aa bb"], ["x"], vocabulary=["aa", "bb"]),
        ts.count(["aa bb"], ["x"]).prune(drop=["zz"]),
        ts.Counts.from_matrix([[1, 1]], ["x"], terms=["aa", "bb"]),
        "counts",
    ]
    assert counts == ts.count(["bb aa"], [["x"]])
    for other in others:
        assert counts != other


@pytest.mark.parametrize("other", [5, None, "counts"])
def test_counts_are_not_equal_to_anything_else(counts, other):
    assert (counts == other) is False
    assert (counts != other) is True


def test_counts_have_no_hash(counts):
    with pytest.raises(TypeError):
        hash(counts)


# Refusals


def test_other_analyzers_are_refused_by_name():
    a = ts.count(["aa"], ["x"])
    b = ts.count(["aa"], ["x"], analyzer=ts.Analyzer(lowercase=False, ngram_range=(1, 2)))
    for combine in (a.__add__, a.__sub__):
        with pytest.raises(
            CountsError, match=r"lowercase: True here, False there; ngram_range: \[1, 1\] here, \[1, 2\]"
        ):
            combine(b)


def test_text_and_matrix_do_not_add_up():
    text, matrix = ts.count(["aa"], ["x"]), ts.Counts.from_matrix([[1]], ["x"], terms=["aa"])
    for one, other in ((text, matrix), (matrix, text)):
        with pytest.raises(CountsError, match="a matrix"):
            one + other


def test_other_vocabularies_are_refused():
    a, b = (ts.count(["aa bb"], ["x"], vocabulary=v) for v in (["aa", "bb"], ["aa", "cc"]))
    with pytest.raises(CountsError, match="number 1: 'bb' here, 'cc' there"):
        a + b
    with pytest.raises(CountsError, match="vocabulary"):
        a + ts.count(["aa bb"], ["x"])


@pytest.mark.parametrize("other", [1, "x", None, 0.0])
def test_only_counts_add_up(other):
    counts = counted("aa")
    with pytest.raises(TypeError):
        counts + other
    with pytest.raises(TypeError):
        counts - other


@pytest.mark.parametrize(
    ("whole", "part", "said"),
    [
        (counted("aa"), counted("aa aa"), "negative"),
        (counted("aa"), counted("aa", "aa"), "negative"),
        (counted("aa", ""), counted("aa", "", ""), "negative"),
        (counted("aa"), counted("bb"), "term 'bb'"),
        (counted("aa"), counted("aa", label="y"), "class 'y'"),
        (ts.count(["aa", ""], ["x", "y"]), ts.count(["aa"], ["y"]), "negative"),
        (ts.count(["aa"], ["x"]), ts.count(["aa"], [[]]) + ts.count(["aa"], [[]]), "negative"),
        (ts.count(["aa", "aa"], ["x", "y"]), ts.count(["aa"], [["x", "y"]]), "negative"),
    ],
)
def test_nothing_goes_below_zero(whole, part, said):
    with pytest.raises(CountsError, match=said):
        whole - part


@pytest.mark.parametrize(
    ("whole", "part"),
    [
        (counted("aa aa"), counted("aa")),  # no document is left, but an occurrence
        (counted("aa", "aa"), counted("aa aa")),  # a document is left, but no occurrence
        (counted("aa bb"), counted("aa")),  # a term is left, but no document
        (counted("aa aa", "aa aa", "aa"), counted("aa aa aa")),  # occurrences are left, but not their squares
    ],
)
def test_what_cannot_be_a_part_is_refused(whole, part):
    with pytest.raises(CountsError, match="part of the whole"):
        whole - part


def test_a_sum_knows_the_files_of_both_if_both_are_from_files(tmp_path, counts):
    first, second = tmp_path / "first.counts", tmp_path / "second.counts"
    for path in (first, second):
        counts.save(path)
    one, other = ts.Counts.load(first), ts.Counts.load(second)
    assert (one + other).origin == {"counts": [str(first), str(second)]}
    assert (one + counts).origin == (counts + one).origin == {}


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7])
def test_many_counts_add_up_to_those_of_all_documents(n, texts, labels):
    parts = [ts.count([text], [label]) for text, label in zip(texts[:n], labels[:n], strict=True)]
    assert add_all(parts) == ts.count(texts[:n], labels[:n])


def test_what_rounding_leaves_of_nothing_is_nothing():
    values, labels = [0.1, 0.2, 0.3], ["a", "a", "a"]  # their sum depends on the order
    whole, part = (ts.Counts.from_matrix([[one] for one in some], labels) for some in (values[::-1], values))
    assert whole.term_tf < part.term_tf
    left = whole - part
    assert (left.n_docs, left.term_df.tolist(), left.term_tf.tolist()) == (0, [0], [0.0])


def test_a_part_of_weights_comes_off_as_it_was_added():
    """Weights of a document may add up to less than one: fewer occurrences than documents, and smaller squares."""
    one, other = (
        ts.Counts.from_matrix(rows, ["x", "y"], terms=["aa", "bb"])
        for rows in ([[0.25, 0.5], [0.5, 0]], [[0.125, 0.25], [0, 0.75]])
    )
    assert (one + other) - other == one
    table = one.to_table().to_pylist()
    assert [row["tf"] for row in table if row["term"] is not None] == one.to_arrow()["tf"].to_pylist()


def test_a_sum_beyond_64_bits_is_refused():
    one = ts.Counts.from_matrix([[HUGE]], ["x"])
    assert (one + one).term_tf2.tolist() == [2 * HUGE**2]
    with pytest.raises(CountsError, match="64 bits"):
        one + one + one


# Pruning


@st.composite
def limits(draw):
    share = st.sampled_from([0.0, 0.1, 0.25, 1 / 3, 0.5, 2 / 3, 0.9, 1.0]) | st.floats(0, 1)
    return {
        "min_df": draw(st.integers(1, 6) | share),
        "max_df": draw(st.integers(1, 6) | share),
    }


@given(documents(labels=st.sampled_from(CLASSES), min_size=1), limits())
def test_limits_of_documents_mean_what_they_mean_in_scikit_learn(pairs, options):
    texts, labels = columns(pairs)
    pruned = ts.count(texts, labels).prune(**options)
    expected = naive.vocabulary(texts, **options)
    assert pruned.terms.tolist() == expected
    assert naive.facts(pruned) == naive.only(naive.count(texts, labels, naive.terms), expected)


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ({}, "aa bb cc dd"),
        ({"min_tf": 2}, "aa bb dd"),
        ({"max_tf": 2}, "bb cc"),
        ({"min_tf": 2, "max_tf": 3}, "bb dd"),
        ({"min_tf": 0.3}, "aa dd"),
        ({"max_tf": 0.2}, "bb cc"),
        ({"keep": ["aa", "cc", "zz"]}, "aa cc"),
        ({"drop": {"aa", "zz"}}, "bb cc dd"),
        ({"keep": ["aa", "bb"], "drop": ["bb"]}, "aa"),
        ({"keep": ["cc"], "min_df": 2}, ""),
        ({"keep": []}, ""),
        ({"min_df": np.int64(2)}, "aa bb"),
        ({"min_df": np.float64(1.0)}, "aa"),
    ],
)
def test_limits_of_occurrences_and_names(options, kept):
    texts = ["aa aa bb cc", "aa bb dd dd dd", "aa"]  # tf: aa 4, bb 2, cc 1, dd 3
    assert ts.count(texts, ["x", "y", "x"]).prune(**options).terms.tolist() == kept.split()


def test_pruning_keeps_documents_and_classes(counts):
    pruned = counts.prune(keep=["gold"])
    assert (pruned.n_docs, pruned.classes.tolist()) == (counts.n_docs, counts.classes.tolist())
    assert pruned.class_sizes.tolist() == counts.class_sizes.tolist()


@pytest.mark.parametrize(
    "options",
    [
        {"min_df": 2},
        {"max_df": 0.5},
        {"max_df": 1},
        {"min_df": 1.0},
        {"min_tf": 1},
        {"max_tf": 1},
        {"drop": ["aa"]},
        {"keep": []},
    ],
)
def test_pruned_counts_do_not_add_up(options):
    whole = ts.count(["aa bb", "aa"], ["x", "y"])
    pruned = whole.prune(**options)
    for one, other in ((whole, pruned), (pruned, whole), (pruned, pruned)):
        with pytest.raises(CountsError, match=rf"pruned.*{next(iter(options))}"):
            one + other
        with pytest.raises(CountsError, match="pruned"):
            one - other


def test_pruning_twice_remembers_both(counts):
    assert counts.prune(min_df=2).prune(max_tf=9).pruned == "min_df=2; max_tf=9"


def test_pruning_nothing_is_no_pruning(counts):
    assert counts.prune() == counts


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ({"min_df": -1}, ["min_df", "-1"]),
        ({"max_df": 1.5}, ["max_df", "1.5", "max_df=1"]),
        ({"max_df": 20.0}, ["max_df", "max_df=20"]),
        ({"min_df": True}, ["min_df", "True"]),
        ({"min_df": "2"}, ["min_df", "'2'"]),
        ({"min_df": None}, ["min_df", "None"]),
        ({"min_df": float("nan")}, ["min_df", "nan"]),
        ({"max_df": float("inf")}, ["max_df", "inf"]),
        ({"min_tf": -0.5}, ["min_tf", "-0.5"]),
        ({"keep": "aa"}, ["keep", "'aa'"]),
        ({"drop": "aa"}, ["drop", "'aa'"]),
    ],
)
def test_limits_that_make_no_sense_are_refused(counts, options, parts):
    with pytest.raises(OptionError) as caught:
        counts.prune(**options)
    for part in parts:
        assert part in str(caught.value)


# Classes


@given(
    documents(labels=st.sampled_from(CLASSES) | st.just([])),
    st.dictionaries(st.sampled_from(CLASSES), st.sampled_from(["new", "A", "zz"])),
)
def test_merged_classes_are_counts_of_merged_labels(pairs, renamed):
    texts, labels = columns(pairs)
    counts = ts.count(texts, labels)
    groups = {}
    for old, new in renamed.items():
        if old in counts.classes:
            groups.setdefault(new, []).append(old)
    relabelled = [[] if label == [] else renamed.get(label, label) for label in labels]
    assert counts.merge_classes(groups) == ts.count(texts, relabelled)


def test_a_group_may_keep_the_name_of_a_member(single):
    merged = single.merge_classes({"sea": ["sea", "sport"]})
    assert merged.classes.tolist() == ["money", "sea"]
    assert merged.class_sizes.sum() == single.class_sizes.sum()


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        ({"new": ["seaa"]}, r"There is no class 'seaa'. Did you mean 'sea'\?.*'money', 'sea', 'sport'"),
        ("sea", "a mapping of new names"),
        ({"new": 3}, "a name and a list of classes, not 'new': 3"),
        ({3: ["sea"]}, "a name and a list of classes, not 3:"),
        ({"new": [3]}, "There is no class 3"),
        ({"one": ["sea"], "two": ["sea", "money"]}, "'sea' stands in two groups, 'one' and 'two'"),
        ({"sport": ["sea", "money"]}, "'sport' has the name of a class that is not in it"),
    ],
)
def test_groups_that_make_no_sense_are_refused(single, groups, said):
    with pytest.raises((CountsError, OptionError), match=said):
        single.merge_classes(groups)


def test_classes_that_share_documents_cannot_be_merged(counts):
    with pytest.raises(CountsError, match="2 documents have more than one label"):
        counts.merge_classes({"new": ["sea", "sport"]})


# Vocabularies


@given(documents(), st.lists(st.sampled_from(["aa", "bb", "zz", "a", "", "é"]), unique=True))
def test_a_vocabulary_takes_these_terms_in_this_order(pairs, vocabulary):
    texts, labels = columns(pairs)
    counts = ts.count(texts, labels).with_vocabulary(vocabulary)
    assert naive.facts(counts) == naive.only(naive.count(texts, labels, naive.terms), vocabulary)
    assert counts == ts.count(texts, labels, vocabulary=vocabulary)


def test_a_vocabulary_may_be_an_iterator():
    assert counted("aa").with_vocabulary(iter(["bb", "aa"])).terms.tolist() == ["bb", "aa"]


@pytest.mark.parametrize("vocabulary", [["aa", "bb", "aa"], "aa"])
def test_a_vocabulary_that_makes_no_sense_is_refused(vocabulary):
    with pytest.raises(OptionError, match=r"vocabulary.*'aa'"):
        counted("aa").with_vocabulary(vocabulary)


@pytest.mark.parametrize("merged", ["all", "pairs", "none"])
def test_merging_many_classes_takes_time_in_proportion(merged):
    """Of 16 times as many classes; to the square it would be 256 times as long."""
    few, many = (min(time_of_merging(n, merged) for _ in range(3)) for n in (2_500, 40_000))
    assert many < 100 * few


def time_of_merging(n, merged):
    counts = ts.Counts.from_matrix(sparse.eye_array(n, 50, dtype=np.int64, format="csr"), [f"c{i}" for i in range(n)])
    groups = {"all": {"g": list(counts.classes)}, "none": {}}
    groups["pairs"] = {f"g{i}": [f"c{i}", f"c{i + 1}"] for i in range(0, n, 2)}
    start = time.thread_time()
    found = counts.merge_classes(groups[merged])
    taken = time.thread_time() - start
    assert found.n_classes == {"all": 1, "pairs": n // 2, "none": n}[merged]
    assert found.n_docs == n
    return taken


def test_a_share_of_weighted_occurrences_is_not_rounded():
    counts = ts.Counts.from_matrix(np.array([[1.2, 1.3]]), ["x"], terms=["small", "large"])
    assert list(counts.prune(max_tf=0.5).terms) == ["small"]  # up to 1.25 of 2.5; of 2 it would be 1


def test_a_sum_of_squares_below_the_sum_is_refused():
    counts = ts.count(["a1 a1 a1", "a1"], ["x", "y"])
    check_block(counts.facts, counts.block)
    wrong = counts.block.cells.values.copy()
    wrong[2] = wrong[1] - 1
    with pytest.raises(CountsError):
        check_block(counts.facts, counts.block._replace(cells=counts.block.cells._replace(values=wrong)))


def test_of_many_classes_the_first_are_named():
    counts = ts.count(["aa"] * 30, [f"c{i:02}" for i in range(30)])
    with pytest.raises(KeyError) as raised:
        counts.index_of_class("sea")
    assert re.findall("'(c[0-9]+)'", str(raised.value)) == counts.classes[:20].tolist()


def test_what_is_no_text_is_no_term(tmp_path):
    counts = ts.count(["a1"], ["x"])
    counts.save(tmp_path / "a.counts")
    for wanted in ("\ud800", 5, None, b"a1"):
        assert wanted not in counts
        for where in (counts, ts.CountsFile(tmp_path / "a.counts")):
            with pytest.raises(KeyError, match="There is no term"):
                where[wanted]
    for wanted in (["x"], 5, None):
        with pytest.raises(KeyError, match="There is no class"):
            counts.index_of_class(wanted)
    for names in (["\ud800"], [5]):
        with pytest.raises(OptionError, match="prune: keep must hold strings"):
            counts.prune(keep=names)
    for names in (iter(["a1"]), 5):
        for where in (counts, ts.CountsFile(tmp_path / "a.counts")):
            with pytest.raises(OptionError, match="prune: drop must be a collection of terms"):
                where.prune(drop=names)
    with pytest.raises(OptionError, match="vocabulary must hold strings"):
        counts.with_vocabulary(["\ud800"])
    with pytest.raises(OptionError, match="vocabulary must be a list of names, not None"):
        counts.with_vocabulary(None)


def test_a_similar_term_is_named():
    counts = ts.count(["call me", "meet me"], ["x", "y"])
    with pytest.raises(KeyError, match=r"There is no term 'cal'\. Did you mean 'call'\?"):
        counts["cal"]

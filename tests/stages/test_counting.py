"""count and count_folds: what they accept, what they refuse, and labels of every kind."""

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from oracles import naive

import termsieve as ts
from termsieve.counts.folds import Folds
from termsieve.errors import InputError, OptionError

pytestmark = pytest.mark.usefixtures("way")


def shout(text):
    return [word.upper() for word in text.split()]


def test_the_corpus_is_counted_by_hand(counts):
    facts = naive.facts(counts)
    assert facts["class_sizes"] == {"money": 3, "sea": 6, "sport": 4}
    assert (facts["n_docs"], facts["n_multilabel"]) == (12, 2)
    assert facts["cells"]["sea", "harbour"] == (1, 3, 9)
    assert facts["cells"]["money", "bank"] == (2, 3, 5)
    assert facts["totals"]["gold"] == (2, 3, 5)
    assert facts["cells"]["money", "gold"] == (1, 2, 4)
    assert facts["totals"]["nobody"] == (1, 1, 1)
    assert not any(term == "nobody" for _, term in facts["cells"])


def test_the_corpus_is_counted_as_one_by_one(texts, labels, counts):
    assert naive.facts(counts) == naive.count(texts, labels, naive.terms)


@pytest.mark.parametrize(
    "labels",
    [
        ["x", "y", "x"],
        [1, 2, 1],
        [10, 9, 10],
        [1.5, 2.0, 1.5],
        [True, False, True],
        [["x"], ["y"], ["x"]],
        [["x", "y"], [], ["y"]],
        [{"x", "y"}, set(), frozenset({"y"})],
        [("x", "x", "x"), ("y", "x", "y"), "x"],
        [[1, 2], 1, [2, 2]],
        [[], [], []],
        ["x y", "x,y", " x"],
        ["é", "é", "\0"],
    ],
)
def test_labels_of_every_kind(labels):
    texts = ["aa bb aa", "bb cc", "aa dd"]
    assert naive.facts(ts.count(texts, labels)) == naive.count(texts, labels, naive.terms)


@pytest.mark.parametrize("wrap", [list, tuple, np.array, pd.Series, pa.array, lambda x: np.array(x, dtype=object)])
def test_texts_and_labels_in_any_container(wrap):
    texts, labels = ["aa bb", "bb", "cc"], ["x", "y", "x"]
    assert ts.count(wrap(texts), wrap(labels)) == ts.count(texts, labels)


def test_labels_of_numpy_integers_are_those_of_python():
    assert ts.count(["aa", "bb"], np.array([1, 2])) == ts.count(["aa", "bb"], [1, 2])


def test_no_documents_at_all():
    counts = ts.count([], [])
    assert naive.facts(counts) == naive.count([], [], naive.terms)
    assert counts.df.shape == (0, 0)
    assert counts.n_occurrences == 0


def test_documents_without_a_word():
    counts = ts.count(["", " ", "a . !"], ["x", "y", "x"])
    assert naive.facts(counts) == naive.count(["", "", ""], ["x", "y", "x"], naive.terms)
    assert counts.df.shape == (2, 0)


def test_documents_without_labels_are_of_no_class():
    counts = ts.count(["aa bb", "bb"])
    assert naive.facts(counts) == naive.count(["aa bb", "bb"], [[], []], naive.terms)


def test_documents_that_were_read():
    table = {"body": ["aa bb", "bb"], "folder": ["x", "y"]}
    docs = ts.read(table, text="body", label="folder")
    assert ts.count(docs) == ts.count(docs) == ts.count(["aa bb", "bb"], ["x", "y"])


@pytest.mark.parametrize("threads", [1, 2, np.int64(3)])
def test_a_tokenizer_in_a_test_file(threads):
    counts = ts.count(["aa bb", "bb"], ["x", "y"], analyzer=ts.Analyzer(tokenizer=shout), threads=threads)
    assert counts.terms.tolist() == ["AA", "BB"]


def test_a_vocabulary_fixes_the_columns():
    texts, labels = ["aa bb aa", "bb cc"], ["x", "y"]
    counts = ts.count(texts, labels, vocabulary=["zz", "bb", "aa"])
    assert naive.facts(counts) == naive.only(naive.count(texts, labels, naive.terms), ["zz", "bb", "aa"])


def test_counts_of_one_vocabulary_add_up():
    vocabulary = ["zz", "bb", "aa"]
    a = ts.count(["aa bb aa"], ["x"], vocabulary=vocabulary)
    b = ts.count(["bb cc"], ["y"], vocabulary=vocabulary)
    assert a + b == ts.count(["aa bb aa", "bb cc"], ["x", "y"], vocabulary=vocabulary)
    assert (a + b) - b == a


def test_progress_changes_nothing(capsys):
    assert ts.count(["aa"], ["x"], progress=True) == ts.count(["aa"], ["x"])
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("call", "error", "parts"),
    [
        (lambda: ts.count("some text", ["x"]), OptionError, ["some text", "read"]),
        (lambda: ts.count(["aa"], ["x", "y"]), InputError, ["1", "2"]),
        (lambda: ts.count(["aa"], [None]), InputError, ["label", "1"]),
        (lambda: ts.count([None], ["x"]), InputError, ["text", "1"]),
        (lambda: ts.count(["aa\ud800"], ["x"]), InputError, ["surrogate", "1"]),
        (lambda: ts.count(ts.Documents.of(["aa"], ["x"]), ["x"]), OptionError, ["labels"]),
        (lambda: ts.count(["aa"], ["x"], threads=0), OptionError, ["threads", "0"]),
        (lambda: ts.count(["aa"], ["x"], threads=1.5), OptionError, ["threads", "1.5"]),
        (lambda: ts.count(["aa"], ["x"], threads=True), OptionError, ["threads", "True"]),
        (lambda: ts.count(["aa"], ["x"], vocabulary="aa"), OptionError, ["vocabulary", "'aa'"]),
        (lambda: ts.count(["aa"], ["x"], vocabulary=["b", "a", "b"]), OptionError, ["vocabulary", "'b'"]),
    ],
)
def test_what_cannot_be_counted_is_refused(call, error, parts):
    with pytest.raises(error) as caught:
        call()
    for part in parts:
        assert part in str(caught.value)


FAILING = """
import termsieve as ts
from termsieve.counts import counting
from termsieve.tokens import vocabulary

class Failure(Exception): pass

def fail(*args): raise Failure

counting.CHUNK_BYTES = 8
vocabulary.Vocabulary._scan_all = fail
try:
    ts.count([f"some text {i}" for i in range(50)], ["x"] * 50, threads=2)
except Failure:
    print("failed as it should")
"""


def test_a_failure_in_a_thread_comes_out_and_nobody_waits():
    environment = os.environ | {"TERMSIEVE_LOOPS": "compiled"}
    ran = subprocess.run(
        [sys.executable, "-c", FAILING], capture_output=True, text=True, timeout=300, check=False, env=environment
    )
    assert ran.stdout == "failed as it should\n", ran.stderr


# Folds


@pytest.fixture(scope="module")
def folds():
    return ts.count_folds(["aa", "bb", "aa bb", "cc"], ["x", "y", ["x", "y"], "y"], folds=["u", "v", "u", "w"])


def test_folds_have_names_sizes_and_a_look(folds):
    assert folds.names == ["u", "v", "w"]
    assert folds.assignment.tolist() == [0, 1, 0, 2]
    assert len(folds) == 3
    assert repr(folds) == "Folds: 3 of 4 documents (2, 1, 1)"


def test_a_class_and_its_terms_leave_with_their_only_fold(folds):
    assert folds.training(2).terms.tolist() == ["aa", "bb"]
    assert folds.test(2).classes.tolist() == ["y"]
    assert folds.test(0).n_multilabel == 1
    assert folds.training(0).n_multilabel == 0


def test_groups_stay_together():
    texts = ["g1 a", "g2 b", "g1 c", "g3 d", "g2 e"]
    groups = [text.split()[0] for text in texts]
    folds = ts.count_folds(texts, ["x"] * 5, folds=groups)
    for i, group in enumerate(folds.names):
        assert group not in folds.training(i).terms
        assert folds.test(i).n_docs == groups.count(group)


def test_a_column_of_a_frame():
    frame = pd.DataFrame({"text": ["aa", "bb", "aa bb"], "label": ["x", "y", "x"], "part": [2, 1, 2]})
    folds = ts.count_folds(ts.read(frame), folds="part")
    assert folds.names == [1, 2]
    assert folds.test(1) == ts.count(["aa", "aa bb"], ["x", "x"])


def test_more_folds_than_documents():
    folds = ts.count_folds(["aa"], ["x"], folds=3)
    sizes = [folds.test(i).n_docs for i in range(3)]
    assert sorted(sizes) == [0, 0, 1]
    assert folds.training(sizes.index(1)) == ts.count([], [])


def test_one_fold_is_refused_or_counted_right():
    try:
        folds = ts.count_folds(["aa", "bb"], ["x", "y"], folds=[0, 0])
    except OptionError:
        return
    assert folds.test(0) == folds.total
    assert folds.training(0) == ts.count([], [])


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ({"folds": 1}, ["folds", "2", "1"]),
        ({"folds": 0}, ["folds", "0"]),
        ({"folds": True}, ["folds", "True"]),
        ({"folds": 2.5}, ["folds", "2.5"]),
        ({"folds": None}, ["folds", "None"]),
        ({"folds": [0]}, ["folds has 1 entries", "2 documents"]),
        ({"folds": [0, 1, 0]}, ["folds has 3 entries", "2 documents"]),
        ({"folds": []}, ["folds has 0 entries"]),
        ({"folds": [[0, 1]]}, ["folds"]),
        ({"folds": [[0], [1, 2]]}, ["folds"]),
        ({"folds": [0, None]}, ["Document 2 has no fold", "None"]),
        ({"folds": [0.0, float("nan")]}, ["Document 2 has no fold", "nan"]),
        ({"folds": np.array(["2024", "NaT"], "M8[D]")}, ["Document 2 has no fold", "NaT"]),
        ({"folds": ["a", "1 Jan " + "9" * 20], "every": "year"}, ["'a' is not a date"]),
        ({"folds": ["2024", "1 Jan " + "9" * 20 + " 00:00:00"], "every": "year"}, ["is not a date"]),
        ({"folds": None, "every": "year"}, ["every='year' needs dates", "None"]),
        ({"folds": 5, "every": "year"}, ["every='year' needs dates", "5"]),
        ({"folds": [["2024"], ["2025"]], "every": "year"}, ["every='year' needs dates", "'2024'"]),
        ({"folds": [1j, 2j]}, ["folds", "can be sorted"]),
        ({"folds": 2, "seed": "x"}, ["seed", "'x'"]),
        ({"folds": 2, "seed": 1.5}, ["seed", "1.5"]),
    ],
)
def test_folds_that_make_no_sense_are_refused(options, parts):
    with pytest.raises((OptionError, InputError)) as caught:
        ts.count_folds(["aa", "bb"], ["x", "y"], **options)
    for part in parts:
        assert part in str(caught.value)


@pytest.mark.parametrize("seed", [3, 0, 2**63 - 1])
def test_seeds_of_numpy_are_those_of_python(seed):
    docs = ts.read({"text": ["aa", "bb", "cc"], "label": ["x", "y", "x"], "name": ["a", "b", "c"]})
    for given in ({"id": None}, {"id": "name"}):
        expected = ts.count_folds(docs, folds=2, seed=seed, **given).assignment
        for kind in (np.int64, np.uint64):
            assert ts.count_folds(docs, folds=2, seed=kind(seed), **given).assignment.tolist() == expected.tolist()


def test_an_analyzer_that_is_none_is_refused_without_documents_too():
    with pytest.raises(OptionError, match="must be an Analyzer"):
        ts.count([], [], analyzer="char")
    assert ts.count([], [], analyzer=ts.Analyzer(analyzer="tokens")).n_docs == 0


@pytest.mark.parametrize("fold", [3, -1, 1.5])
def test_a_fold_that_is_not_there_is_refused(folds, fold):
    for part in (folds.test, folds.training, lambda fold: folds.join([fold])):
        with pytest.raises(OptionError, match=rf"{fold}.*0 to 2"):
            part(fold)
    with pytest.raises(OptionError, match=f"join needs the numbers of several folds, such as .*, not {fold}"):
        folds.join(fold)


@pytest.mark.parametrize("some", [[], [1], [2, 0], [0, 1, 2]])
def test_folds_that_were_counted_apart_are_joined_alike(folds, some):
    apart = Folds.of({name: folds.test(i) for i, name in enumerate(folds.names)})
    assert apart.total == folds.total
    assert apart.join(some) == folds.join(some)


def test_a_missing_fold_in_a_column_is_named():
    for missing in (None, float("nan")):
        docs = ts.read({"text": ["aa", "bb", "cc"], "label": ["x", "y", "x"], "part": [1.0, missing, missing]})
        with pytest.raises(InputError, match=r"Document 2.*'part'"):
            ts.count_folds(docs, folds="part")
    table = pa.table({"text": ["aa", "bb"], "label": ["x", "y"], "part": [1.0, float("nan")]})
    with pytest.raises(InputError, match=r"Document 2.*'part'"):
        ts.count_folds(ts.read(table), folds="part")


def test_folds_of_no_documents_are_refused():
    empty = pa.table({"text": [], "label": [], "part": []}).cast(
        pa.schema(dict.fromkeys(("text", "label", "part"), pa.string()))
    )
    for documents, folds in (([], []), (ts.read(empty), "part")):
        with pytest.raises(OptionError, match="there are no documents"):
            ts.count_folds(documents, folds=folds)


@pytest.mark.parametrize("given", ["char", {"lowercase": False}, str.split])
def test_an_analyzer_that_is_none_is_told(given):
    with pytest.raises(OptionError, match="analyzer must be an Analyzer"):
        ts.count(["aa"], ["x"], analyzer=given)


def test_a_fold_column_that_is_not_there_is_named():
    with pytest.raises(InputError, match=r"'part'.*'text'"):
        ts.count_folds(ts.read({"text": ["aa"], "label": ["x"]}), folds="part")

"""Counts.from_matrix: matrices and labels of every kind, and what is refused."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import naive
from oracles.texts import LABELS
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.feature_extraction.text import TfidfVectorizer

from termsieve import Counts, TermSelector, TermVectorizer, count
from termsieve.counts.matrices import make_label_matrix
from termsieve.errors import InputError, OptionError

ROWS = [[2, 0, 1, 0], [0, 0, 3, 0], [1, 0, 0, 0]]
Y = ["b", "a", "b"]
NAMES = ["zz", "aa", "mm", "é"]


def coo_with_duplicates(rows):
    """Every number as a sum of ones, and a zero for every zero."""
    places = [(i, j, one) for i, row in enumerate(rows) for j, n in enumerate(row) for one in ([1] * n or [0])]
    i, j, ones = (np.array(column) for column in zip(*places, strict=True))
    return sparse.coo_array((ones, (i, j)), shape=(len(rows), len(rows[0])))


def csr_with_zeros(rows):
    width = len(rows[0])
    return sparse.csr_array(
        (
            np.ravel(rows),
            np.tile(np.arange(width)[::-1], len(rows))[::-1].copy(),
            np.arange(len(rows) + 1) * width,
        ),
        shape=(len(rows), width),
    )


FORMS = {
    "lists": list,
    "array": np.array,
    "fortran": np.asfortranarray,
    "int8": lambda rows: np.array(rows, np.int8),
    "uint64": lambda rows: np.array(rows, np.uint64),
    "whole floats": lambda rows: np.array(rows, np.float32),
    "csr": sparse.csr_array,
    "csr matrix": sparse.csr_matrix,
    "csc": sparse.csc_array,
    "csc of floats": lambda rows: sparse.csc_matrix(np.array(rows, float)),
    "lil": sparse.lil_array,
    "dok": sparse.dok_array,
    "coo with duplicates": coo_with_duplicates,
    "csr with duplicates": lambda rows: csr_duplicated(coo_with_duplicates(rows)),
    "csr with explicit zeros": csr_with_zeros,
    "frame": pd.DataFrame,
}


def csr_duplicated(coo):
    """CSR that still has its duplicates, unsorted."""
    order = np.argsort(-coo.coords[1], kind="stable")
    order = order[np.argsort(coo.coords[0][order], kind="stable")]
    indptr = np.concatenate([[0], np.cumsum(np.bincount(coo.coords[0], minlength=coo.shape[0]))])
    return sparse.csr_array((coo.data[order], coo.coords[1][order], indptr), shape=coo.shape)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_matrices_of_every_form(form):
    counts = Counts.from_matrix(form(ROWS), Y, terms=NAMES)
    assert naive.facts(counts) == naive.count_matrix(ROWS, Y, NAMES)
    assert counts.tf.dtype == np.int64


@pytest.mark.parametrize("form", ["csr with duplicates", "coo with duplicates", "csr with explicit zeros", "array"])
def test_the_matrix_is_left_as_it_was(form):
    X = FORMS[form](ROWS)
    before = X.copy()
    Counts.from_matrix(X, Y)
    if sparse.issparse(X):
        assert np.array_equal(X.data, before.data)
        assert X.nnz == before.nnz
    else:
        assert np.array_equal(X, before)


SMALL = st.integers(0, 5)


@st.composite
def labelled_rows(draw, numbers=SMALL):
    width = draw(st.integers(1, 5))
    rows = draw(st.lists(st.lists(numbers, min_size=width, max_size=width), min_size=1, max_size=8))
    return rows, draw(st.lists(LABELS, min_size=len(rows), max_size=len(rows)))


@given(labelled_rows(), st.sampled_from([*FORMS.values()]))
def test_matrices_are_counted_as_one_by_one(labelled, form):
    rows, labels = labelled
    names = [*NAMES, "q"][: len(rows[0])]
    assert naive.facts(Counts.from_matrix(form(rows), labels, terms=names)) == naive.count_matrix(rows, labels, names)


def test_true_and_false():
    X = np.array(ROWS) > 0
    expected = naive.count_matrix(X.astype(int).tolist(), Y, NAMES)
    for form in (X, sparse.csr_array(X), X.tolist()):
        assert naive.facts(Counts.from_matrix(form, Y, terms=NAMES)) == expected


@given(
    labelled_rows(st.sampled_from([0.0, 0.25, 1.5, 3.0])),
    st.sampled_from([np.array, sparse.csr_array, sparse.csc_array]),
)
def test_sums_of_real_numbers_that_are_exact_in_binary(labelled, form):
    rows, labels = labelled
    names = [f"x{i}" for i in range(len(rows[0]))]
    assert naive.facts(Counts.from_matrix(form(rows), labels)) == naive.count_matrix(rows, labels, names)


def test_tf_idf(texts, labels):
    vectorizer = TfidfVectorizer()
    X = vectorizer.fit_transform(texts)
    counts = Counts.from_matrix(X, labels, terms=vectorizer.get_feature_names_out())
    facts = naive.count_matrix(X.toarray().tolist(), labels, vectorizer.get_feature_names_out())
    assert naive.facts(counts)["cells"].keys() == facts["cells"].keys()
    for kind, ours in enumerate((counts.df, counts.tf, counts.tf2)):
        for i, c in enumerate(counts.classes):
            expected = [facts["cells"].get((c, term), naive.NOTHING)[kind] for term in facts["terms"]]
            assert ours.toarray()[i] == pytest.approx(expected)
    assert counts.df.dtype == counts.term_df.dtype == np.int64
    assert counts.df.toarray().tolist() == count(texts, labels).df.toarray().tolist()


def test_iris():
    X, y = load_iris(return_X_y=True)
    counts = Counts.from_matrix(X, y)
    assert counts.classes.tolist() == ["0", "1", "2"]
    assert counts.tf.toarray() == pytest.approx(np.stack([X[y == c].sum(axis=0) for c in range(3)]))
    assert counts.term_tf2 == pytest.approx((X**2).sum(axis=0))


def test_squares_too_small_for_a_double_are_zero():
    counts = Counts.from_matrix(np.array([[1e-200, 1.0, 0.5]]), ["x"])
    assert counts.df.toarray().tolist() == [[1, 1, 1]]
    assert counts.tf.toarray().tolist() == [[1e-200, 1.0, 0.5]]
    assert counts.tf2.toarray().tolist() == [[0.0, 1.0, 0.25]]


# Labels

INDICATOR = np.array([[1, 0, 1], [0, 0, 0], [0, 0, 1]])
SETS = [{"0", "2"}, set(), {"2"}]


@pytest.mark.parametrize(
    "form",
    [
        np.array,
        sparse.csr_array,
        sparse.csc_matrix,
        sparse.coo_array,
        lambda y: y > 0,
        lambda y: y.astype(float),
    ],
)
def test_indicator_matrices(form):
    counts = Counts.from_matrix(ROWS, form(INDICATOR), terms=NAMES)
    assert naive.facts(counts) == naive.count_matrix(ROWS, SETS, NAMES)


def test_an_indicator_matrix_with_names():
    named = Counts.from_matrix(ROWS, INDICATOR, classes=["zz", "yy", "aa"])
    assert named.classes.tolist() == ["aa", "zz"]
    assert named == Counts.from_matrix(ROWS, [["zz", "aa"], [], "aa"])


@pytest.mark.parametrize(
    "y",
    [
        ["b", "a", "b"],
        [1, 0, 1],
        [10, 9, 10],
        [1.5, 2.0, 1.5],
        [{"a", "b"}, set(), {"b"}],
        [["a", "a"], ["b", "a"], []],
        [(1, 2), [3], 1],
    ],
)
def test_labels_of_every_kind(y):
    assert naive.facts(Counts.from_matrix(ROWS, y, terms=NAMES)) == naive.count_matrix(ROWS, y, NAMES)


@pytest.mark.parametrize(
    "wrap", [np.array, pd.Series, tuple, lambda y: np.array(y)[:, None], lambda y: np.array(y, object)]
)
@pytest.mark.parametrize("y", [["b", "a", "b"], [2, 1, 2]])
def test_labels_in_any_container(wrap, y):
    assert Counts.from_matrix(ROWS, wrap(y)) == Counts.from_matrix(ROWS, y)


@pytest.mark.parametrize(
    "y",
    [
        np.array([0.1, 0.2, 0.1], np.float32),
        np.array([0.1, 0.2, 0.1], np.float16),
        np.array(["2024-05-17", "2024-05-18", "2024-05-17"], "datetime64[ns]"),
        np.array([1, 2, 1], "timedelta64[h]"),
        pd.Series([0.1, 0.2, 0.1], dtype="float32"),
        pl.Series([0.1, 0.2, 0.1], dtype=pl.Float32),
        pl.Series([["a", "b"], ["b"], ["a"]]),
        pd.Series(pd.Categorical(["a", "b", "a"])),
    ],
)
def test_labels_have_one_spelling_whether_documents_or_a_matrix_have_them(y):
    texts = ["aa", "bb", "cc"]
    classes = count(texts, y).classes.tolist()
    assert Counts.from_matrix(ROWS, y).classes.tolist() == classes
    assert TermVectorizer(score_func="chi2").partial_fit(texts, y).counts_.classes.tolist() == classes
    assert TermSelector("chi2", k=1).fit(ROWS, y).counts_.classes.tolist() == classes


@pytest.mark.parametrize("kind", [">i4", ">f8", ">u2"])
def test_numbers_may_have_their_highest_byte_first(kind):
    X, indicator = np.array(ROWS, kind), INDICATOR.astype(kind)
    assert Counts.from_matrix(X, Y) == Counts.from_matrix(np.array(ROWS, kind[1:]), Y)
    assert Counts.from_matrix(X, indicator) == Counts.from_matrix(ROWS, INDICATOR)


@pytest.mark.parametrize("kind", [np.uint8, np.int8, np.float32])
@pytest.mark.parametrize("form", [sparse.coo_array, sparse.csr_array, sparse.csc_array])
def test_entries_of_a_place_that_is_there_twice_add_up_exactly(kind, form):
    place = np.zeros(300, np.int32)
    if form is sparse.coo_array:
        X = form((np.ones(300, kind), (place, place)), shape=(1, 1))
    else:
        X = form((np.ones(300, kind), place, np.array([0, 300], np.int32)), shape=(1, 1))
    assert Counts.from_matrix(X, ["x"]).term_tf.tolist() == [300]


def test_a_frame_of_indicators_is_an_indicator_matrix_or_refused():
    frame = pd.DataFrame({"p": [0, 1, 1], "q": [1, 1, 0], "r": [0, 0, 1]})
    try:
        counts = Counts.from_matrix(ROWS, frame)
    except (InputError, OptionError):
        return
    assert counts.class_sizes.tolist() == [2, 2, 1]


# Shapes and names


def test_columns_without_names_are_numbered_in_order():
    counts = Counts.from_matrix(np.ones((1, 12)), ["x"])
    assert counts.terms.tolist() == sorted(counts.terms.tolist())
    assert counts.terms[[0, 9, 11]].tolist() == ["x00", "x09", "x11"]


def test_columns_that_are_empty_stay():
    counts = Counts.from_matrix([[0, 1]], ["x"], terms=["b", "a"])
    assert counts.terms.tolist() == ["b", "a"]
    assert counts.term_df.tolist() == [0, 1]


@pytest.mark.parametrize(("shape", "y"), [((0, 2), []), ((2, 0), ["x", "y"]), ((0, 0), [])])
def test_matrices_without_rows_or_columns(shape, y):
    counts = Counts.from_matrix(np.zeros(shape), y)
    assert (counts.n_docs, counts.n_terms) == shape
    assert counts.df.shape == (len(set(y)), shape[1])


@given(labelled_rows(), labelled_rows())
def test_matrices_of_the_same_columns_add_up(one, other):
    width = min(len(one[0][0]), len(other[0][0]))
    (a, y), (b, z) = (([row[:width] for row in rows], labels) for rows, labels in (one, other))
    total = Counts.from_matrix(a, y) + Counts.from_matrix(b, z)
    assert total == Counts.from_matrix(a + b, y + z)
    assert total - Counts.from_matrix(b, z) == Counts.from_matrix(a, y)


def test_real_sums_can_be_subtracted_to_rounding():
    a, b = Counts.from_matrix([[0.1], [0.7]], ["x", "y"]), Counts.from_matrix([[0.3]], ["x"])
    rest = (a + b) - b
    assert rest.tf.toarray() == pytest.approx(a.tf.toarray())
    assert rest.df.toarray().tolist() == a.df.toarray().tolist()


# Refusals

BIG = 2**31 - 1


@pytest.mark.parametrize(
    ("X", "parts"),
    [
        ([[0, 1], [2, -1]], ["row 1, column 1", "-1", "not negative"]),
        ([[0.5, float("nan")]], ["row 0, column 1", "nan"]),
        ([[float("inf"), 0.5]], ["row 0, column 0", "inf"]),
        (sparse.csr_array([[0.0, -0.5]]), ["row 0, column 1", "-0.5"]),
        ([1, 2, 3], ["1 dimension"]),
        (np.zeros((1, 1, 1)), ["3 dimensions"]),
        (5, ["0 dimensions"]),
        ([["a", "b"]], ["numbers"]),
        ([[1, None]], ["numbers"]),
        ([[1], [1, 2]], ["a matrix of numbers", "inhomogeneous"]),
        (np.array([[1j]]), ["complex"]),
        (sparse.csr_array(np.array([[1j]])), ["complex"]),
        ([[2**32]], ["4294967296", "64 bits"]),
        (np.array([[2**63 + 5]], np.uint64), ["64 bits"]),
        ([[BIG], [BIG], [BIG]], ["64 bits"]),
        ([[0.5, 1e200]], ["1e+200"]),
    ],
)
def test_matrices_that_cannot_be_counted_are_refused(X, parts):
    rows = X.shape[0] if hasattr(X, "shape") else len(X) if isinstance(X, list) else 1
    with pytest.raises(InputError) as caught:
        Counts.from_matrix(X, ["x"] * rows)
    for part in parts:
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("y", "error", "parts"),
    [
        (["x"], InputError, ["3 rows", "1"]),
        (["x"] * 4, InputError, ["3 rows", "4"]),
        (np.eye(2, dtype=int), InputError, ["3 rows", "2"]),
        ("xyz", InputError, ["y", "'xyz'"]),
        (None, InputError, ["y", "None"]),
        (["x", None, "y"], InputError, ["y", "entry 1"]),
        (["x", float("nan"), "y"], InputError, ["y", "entry 1"]),
        (["x", object(), "y"], InputError, ["y", "entry 1", "object"]),
        (2 * INDICATOR, InputError, ["0 and 1", "2"]),
        (-1 * INDICATOR, InputError, ["0 and 1", "-1"]),
        (0.5 * INDICATOR, InputError, ["0 and 1", "0.5"]),
        (1.7 * INDICATOR, InputError, ["0 and 1", "1.7"]),
        (np.where(INDICATOR, np.nan, 0), InputError, ["0 and 1", "nan"]),
        (np.array([["a", "b"]] * 3), InputError, ["0 and 1", "<U1"]),
        (INDICATOR.astype(object), InputError, ["0 and 1", "object"]),
    ],
)
def test_labels_that_make_no_sense_are_refused(y, error, parts):
    with pytest.raises(error) as caught:
        Counts.from_matrix(ROWS, y)
    for part in parts:
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ({"terms": ["a", "b", "c"]}, ["3 names", "4 columns"]),
        ({"terms": ["a", "b", "a", "c"]}, ["distinct", "'a'"]),
        ({"terms": "abcd"}, ["terms", "'abcd'"]),
        ({"y": INDICATOR, "classes": ["a", "b"]}, ["classes", "3"]),
        ({"y": INDICATOR, "classes": ["a", "b", "a"]}, ["classes", "distinct"]),
        ({"y": ["a", "b", "a"], "classes": ["p", "q"]}, ["classes", "indicator"]),
    ],
)
def test_names_that_make_no_sense_are_refused(options, parts):
    with pytest.raises(OptionError) as caught:
        Counts.from_matrix(ROWS, **{"y": Y, **options})
    for part in parts:
        assert part in str(caught.value)


@given(st.lists(st.lists(st.sampled_from("abé"), max_size=3), min_size=1, max_size=10), st.integers(0, 10))
def test_labels_of_arrow_are_those_of_lists(lists, cut):
    matrix, classes = make_label_matrix(lists, None, len(lists))
    kind = pa.large_list(pa.large_string())
    whole = pa.array(lists, kind)
    parts = pa.chunked_array([whole[:cut], whole[cut:]], kind)
    for column in (whole, parts, pa.array([["no"], *lists], kind).slice(1)):
        found, names = make_label_matrix(column, None, len(lists))
        assert names == classes
        assert (found.toarray() == matrix.toarray()).all()
    with pytest.raises(InputError, match="y, entry 1: missing label"):
        make_label_matrix(pa.array([["a"], None], kind), None, 2)

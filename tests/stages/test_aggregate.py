import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from termsieve.counts.counts import Counts
from termsieve.errors import OptionError
from termsieve.ranking import aggregate, distinct
from termsieve.ranking.distinct import DetailLevel
from termsieve.ranking.ranking import score
from termsieve.scores import SCORES
from termsieve.scores.registry import Aggregation

pytestmark = pytest.mark.usefixtures("way")

quick = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def corpora(draw, several_labels=False):
    """A small matrix with labels: equal columns, empty ones, and documents of no class if asked for."""
    seed, n_docs, n_classes, n_terms = (draw(st.integers(0, k)) for k in (10**6, 12, 4, 12))
    rng = np.random.default_rng(seed)
    n_docs, n_classes, n_terms = n_docs + n_classes + 2, n_classes + 2, n_terms + 1
    X = rng.integers(0, 3, (n_docs, n_terms)) * rng.integers(0, 2, (n_docs, n_terms))
    X[:, rng.integers(0, n_terms, n_terms // 2)] = X[:, :1]
    Y = np.zeros((n_docs, n_classes), dtype=int)
    Y[np.arange(n_docs), np.arange(n_docs) % n_classes] = 1
    if several_labels:
        Y |= rng.integers(0, 2, Y.shape)
        Y[rng.random(n_docs) < 0.2] = 0
        Y[0] = 1
    return X, Y


def counted(X, Y):
    return Counts.from_matrix(X, Y, classes=[f"c{i}" for i in range(Y.shape[1])])


def mixed(t):
    return np.sin(t.tp) + t.n_t / 7 - t.n_c * np.cos(t.fp)


def mixed_with_occurrences(t):
    return mixed(t) + np.sqrt(t.tf_c) - t.tf2_t / 3


def mixed_with_tokens(t):
    return mixed_with_occurrences(t) + t.tokens_c / (1 + t.tokens_nc)


def dense(X, Y, function):
    """The same, cell by cell over the whole matrix."""
    from termsieve.table import Occurrences, Table, TokenTotals

    X, Y = X.astype(float), Y.astype(float)
    present = (X > 0).astype(float)
    tp, tf, tf2 = Y.T @ present, Y.T @ X, Y.T @ X**2
    shape = tp.shape
    total = [np.broadcast_to(x.sum(0), shape) for x in (present, X, X**2)]
    tokens_c = np.broadcast_to(tf.sum(1)[:, None], shape)
    more = (
        Occurrences(tf, tf2, total[1], total[2]),
        TokenTotals(tokens_c, np.full(shape, X.sum()), float(X.shape[1])),
    )
    n_c = np.broadcast_to(Y.sum(0)[:, None], shape)
    return function(Table(tp, total[0], n_c, np.full(shape, float(len(X))), float(Y.shape[1]), *more))


@pytest.mark.parametrize("function", [mixed, mixed_with_occurrences, mixed_with_tokens])
@pytest.mark.parametrize("several_labels", [False, True])
def test_distinct_cells_give_what_all_cells_give(function, several_labels):
    @quick
    @given(corpora(several_labels=several_labels))
    def check(corpus):
        X, Y = corpus
        cells, values = distinct.evaluate(counted(X, Y), function)
        expected = dense(X, Y, function)
        for c, row in enumerate(expected):
            np.testing.assert_array_equal(aggregate.class_values(cells, values, c)[cells.place], row)
        weights = Y.sum(0)
        for name, want in {
            "max": expected.max(0),
            "sum": expected.sum(0),
            "mean": expected.mean(0),
            "weighted_mean": (weights[:, None] * expected).sum(0) / weights.sum(),
        }.items():
            got = aggregate.get_aggregation(name)(cells, values)[cells.place]
            np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)

    check()


def test_equal_columns_are_found_once():
    X = np.array([[1, 0, 1, 2], [0, 1, 0, 0], [1, 0, 1, 1]])
    counts = Counts.from_matrix(X, ["a", "b", "b"])
    assert list(distinct.find_distinct_cells(counts, DetailLevel.DOCUMENTS).place) == [0, 1, 0, 0]
    assert list(distinct.find_distinct_cells(counts, DetailLevel.OCCURRENCES).place) == [0, 1, 0, 2]


def test_hashes_that_coincide_are_drawn_again(monkeypatch):
    drawn = [np.zeros(4, np.uint64), distinct.new_secrets()]
    monkeypatch.setattr(distinct, "new_secrets", lambda: drawn.pop(0))
    indptr = np.array([0, 2, 4, 6, 6])
    keys = np.array([0, 1, 1, 0, 0, 1], np.int32), np.array([5, 6, 6, 5, 5, 6])
    place, first = distinct._number_columns_plainly(indptr, keys, np.array([[7, 7, 7, 0]]))
    assert not drawn
    assert place.tolist() == [0, 1, 0, 2]
    assert first.tolist() == [0, 1, 3]


@pytest.mark.parametrize("n_kinds", [1, 20_000, 40_000])
def test_keys_of_pairs_need_not_fit_into_32_bits(n_kinds):
    numbers, kinds = np.array([0, 69_999, 70_000], np.int32), np.array([n_kinds - 1, 0, n_kinds - 1], np.int32)
    keys = distinct._pair_keys(numbers, kinds, 70_001, n_kinds)
    assert keys.tolist() == [int(n) * n_kinds + int(k) for n, k in zip(numbers, kinds, strict=True)]
    assert keys.dtype == (np.int64 if n_kinds == 40_000 else np.int32)


def test_distinct_cells_are_kept_as_long_as_their_counts():
    counts = Counts.from_matrix([[1], [0]], ["a", "b"])
    key = id(counts), DetailLevel.DOCUMENTS
    cells = distinct.find_distinct_cells(counts, DetailLevel.DOCUMENTS)
    assert distinct.find_distinct_cells(counts, DetailLevel.DOCUMENTS) is cells
    del counts, cells
    assert key not in distinct._CACHE


def test_infinities_of_opposite_sign_cancel():
    counts = Counts.from_matrix([[1], [1], [0]], ["a", "b", "c"])
    cells, tp = distinct.evaluate(counts, lambda t: t.tp)
    up = np.where(tp > 0, np.inf, 5.0)
    assert aggregate.total(cells, up)[0] == np.inf
    assert aggregate.total(cells, -up)[0] == -np.inf
    assert aggregate.mean(cells, np.where(tp > 0, np.inf, -np.inf))[0] == 0.0


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", SCORES)
def test_where_no_class_has_documents_every_value_is_a_number(name):
    counts = Counts.from_table(["x"], [None], [3], class_sizes={"a": 0, "b": 0}, n_docs=5)
    scores = score(counts, name)
    for how in (None, *aggregate.AGGREGATIONS):
        found = (scores.overall(how), *scores.overall_interval(how), *scores.overall_interval(how, method="bootstrap"))
        assert not np.isnan(found).any(), how
    assert not np.isnan([scores.values, *scores.interval()]).any()


def test_every_declared_aggregation_exists():
    assert {*aggregate.AGGREGATIONS, "global"} == set(Aggregation.__args__)


def test_unknown_aggregation():
    with pytest.raises(OptionError, match="Did you mean 'mean'"):
        aggregate.get_aggregation("meen")


def test_chunks_do_not_show(monkeypatch):
    X, Y = np.random.default_rng(0).integers(0, 3, (30, 40)), np.eye(3, dtype=int)[np.arange(30) % 3]
    whole = distinct.evaluate(counted(X, Y), mixed_with_tokens)[1]
    monkeypatch.setattr(distinct, "_CHUNK_CELLS", 7)
    np.testing.assert_array_equal(distinct.evaluate(counted(X, Y), mixed_with_tokens)[1], whole)

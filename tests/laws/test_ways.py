"""Plain Python and the compiled loops: the same counts and the same values, bit by bit."""

import itertools
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.texts import CHAR_OPTIONS, WORD_OPTIONS, documents
from scipy import sparse
from stages.test_aggregate import corpora, counted

import termsieve as ts
from termsieve import _kernels
from termsieve.classify import plain_sweep
from termsieve.classify.bayes_sweep import curve_kernels
from termsieve.classify.curves import predict_curve
from termsieve.counts import counting
from termsieve.counts.tally import Tally
from termsieve.ranking import aggregate, distinct
from termsieve.ranking.distinct import DetailLevel, DistinctCells
from termsieve.scores import SCORES
from termsieve.scores.tail import tail_ratio

WAYS = ("plain", "compiled")


def both_ways(make):
    """What a function gives in both ways; the cells that were found before are forgotten."""
    results = []
    for way in WAYS:
        distinct._CACHE.clear()
        with _kernels.use_way(way):
            results.append(make())
    return results


def same_bits(a, b):
    """Whether two arrays are the same to the last bit, with the signs of zeros."""
    a, b = np.asarray(a), np.asarray(b)
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def saved(counts):
    with TemporaryDirectory() as folder:
        counts.save(Path(folder) / "a.counts")
        return (Path(folder) / "a.counts").read_bytes()


@given(documents(), WORD_OPTIONS | CHAR_OPTIONS)
def test_counts_are_the_same_to_the_byte(pairs, options):
    texts, labels = map(list, zip(*pairs, strict=True)) if pairs else ([], [])
    plain, compiled = both_ways(lambda: ts.count(texts, labels, analyzer=ts.Analyzer(**options)))
    assert plain == compiled
    assert saved(plain) == saved(compiled)
    assert plain.cells.indptr.dtype == compiled.cells.indptr.dtype
    assert plain.cells.classes.dtype == compiled.cells.classes.dtype


@settings(max_examples=30)
@given(documents(), documents(), st.integers(2, 4))
def test_sums_differences_and_folds_are_the_same_to_the_byte(one, other, n_folds):
    def make():
        a, b = (ts.count([t for t, _ in pairs], [label for _, label in pairs]) for pairs in (one, other))
        pairs = [*one, *other] * n_folds
        parts = []
        if pairs:
            folds = ts.count_folds(*zip(*pairs, strict=True), folds=[i % n_folds for i in range(len(pairs))])
            parts = [half(fold) for half in (folds.test, folds.training) for fold in range(n_folds)]
        return [a + b, (a + b) - b, *parts]

    for plain, compiled in zip(*both_ways(make), strict=True):
        assert plain == compiled
        assert saved(plain) == saved(compiled)


@given(corpora())
def test_distinct_cells_are_the_same(corpus):
    counts = counted(*corpus)
    for level in DetailLevel:
        plain, compiled = both_ways(lambda level=level: DistinctCells(counts, level))
        for name in ("place", "indptr", "classes", "cell", "group", "kind", "empty_cell", "_cell_values"):
            assert same_bits(getattr(plain, name), getattr(compiled, name)), name


@given(corpora())
def test_distinct_cells_of_narrow_and_wide_numbers_are_the_same(corpus):
    narrow, wide = counted(*corpus), counted(*corpus)
    wide.cells = wide.cells._replace(values=wide.cells.values.astype(np.int64))
    for level in DetailLevel:
        for one, other in zip(*(both_ways(lambda c=c, level=level: DistinctCells(c, level)) for c in (narrow, wide)),
                              strict=True):  # fmt: skip
            for name in ("place", "indptr", "classes", "cell", "group", "kind", "empty_cell", "_cell_values"):
                assert same_bits(getattr(one, name), getattr(other, name)), name


@given(corpora(), st.data())
def test_aggregations_of_any_values_are_the_same(corpus, data):
    """Also where values are infinite, or zeros have signs, or so different that the order of a sum shows."""
    counts = counted(*corpus)
    cells = DistinctCells(counts, DetailLevel.OCCURRENCES)
    value = st.sampled_from([np.inf, -np.inf, 0.0, -0.0, 1e16, 1.0, -1e16, 0.1, 3.0])
    values = np.array(data.draw(st.lists(value, min_size=cells.n_cells, max_size=cells.n_cells)))
    for how in (*aggregate.AGGREGATIONS.values(), aggregate.argmax_class):
        assert same_bits(*both_ways(lambda how=how: how(cells, values))), how
    for c in range(cells.n_classes):
        assert same_bits(*both_ways(lambda c=c: aggregate.class_values(cells, values, c)))


@given(corpora())
def test_every_score_is_the_same(corpus):
    counts = counted(*corpus)

    def make():
        for name in SCORES:
            scores = ts.score(counts, name)
            yield name, scores.overall(), scores.values, scores.order(), scores.associated_class

    plain, compiled = both_ways(lambda: list(make()))
    for mine, theirs in zip(plain, compiled, strict=True):
        assert all(same_bits(a, b) for a, b in zip(mine[1:], theirs[1:], strict=True)), mine[0]


def matrix_bits(X):
    return [(part.dtype, part.tobytes()) for part in (X.data, X.indices, X.indptr)], X.shape


@settings(max_examples=40)
@given(
    documents(min_size=2), st.sampled_from([(1, 1), (1, 2)]), st.booleans(), st.sampled_from(["percentile(50)", None])
)
def test_vectorizers_give_the_same_matrices_to_the_byte(pairs, ngrams, binary, rule):
    texts, labels = map(list, zip(*pairs, strict=True))
    options = {"score_func": "chi2", "rule": rule} if rule else {}

    def make():
        vectorizer = ts.TermVectorizer(ngram_range=ngrams, binary=binary, threads=2, **options)
        try:
            X = vectorizer.fit_transform(texts, labels)
        except ts.errors.InputError as error:
            return str(error)
        found = [matrix_bits(one) for one in (X, vectorizer.transform(texts[::-1]), vectorizer.transform([]))]
        counted = ts.TermVectorizer(ngram_range=ngrams, binary=binary, **options).partial_fit(texts, labels).counts_
        return found, list(vectorizer.vocabulary_), saved(counted)

    plain, compiled = both_ways(make)
    assert plain == compiled


class Sweeping:
    """A small problem of naive Bayes, drawn at random: matrices, classes, an order of the columns."""

    def __init__(self, draw):
        rng = np.random.default_rng(draw(st.integers(0, 2**32)))
        n_docs, n_terms, self.n_classes = draw(st.integers(4, 40)), draw(st.integers(1, 30)), draw(st.integers(2, 4))
        weights = draw(st.sampled_from([[1], [1, 2, 7], [0.1, 0.2, 1e3, 3.7]]))  # sums of the last show their order
        self.train, self.test = (
            rng.choice(weights, (n, n_terms)) * (rng.random((n, n_terms)) < 0.3) for n in (n_docs, 1100)
        )
        self.codes = np.concatenate([np.arange(self.n_classes), rng.integers(0, self.n_classes, n_docs)])[:n_docs]
        self.order = rng.permutation(n_terms)
        self.ks = sorted(draw(st.sets(st.integers(1, n_terms), min_size=1, max_size=4)))

    def predict(self, model, y):
        matrices = (sparse.csr_array(X) for X in (self.train, self.test))
        train, test = matrices
        return predict_curve(train, y, test, self.order, self.ks, model, decisions=y.ndim == 1 and self.n_classes == 2)


NAIVE_BAYES = ("multinomial_nb", "bernoulli_nb", "poisson_nb", "multinomial_nb(alpha=1e-9)", "vocabulary_nb")


@settings(max_examples=40, deadline=None)
@given(st.data(), st.sampled_from(NAIVE_BAYES), st.booleans())
def test_sweeps_of_naive_bayes_give_the_same_labels(data, model, one_vs_rest):
    problem = Sweeping(data.draw)
    y = np.eye(problem.n_classes, dtype=np.int64)[problem.codes] if one_vs_rest else problem.codes
    plain, compiled = both_ways(lambda: problem.predict(model, y))
    assert same_bits(plain.codes, compiled.codes)
    assert (plain.decisions is None) == (compiled.decisions is None)
    assert plain.decisions is None or same_bits(plain.decisions, compiled.decisions)


@settings(max_examples=40, deadline=None)
@given(st.data(), st.sampled_from([-1, 0]))
def test_the_loops_of_a_sweep_give_the_same_bits(data, empty):
    """Also what is left to the estimator, as the rounding of the sums could decide, is the same."""
    problem = Sweeping(data.draw)
    n_terms, n_points = problem.train.shape[1], len(problem.ks)
    rng = np.random.default_rng(0)
    found = []
    for loops in (plain_sweep, curve_kernels):
        X = sparse.csr_array(problem.test)
        ends, ranks, values = np.zeros(X.shape[0] + 1, np.int64), np.empty(X.nnz, np.int32), np.empty(X.nnz)
        rank = np.full(n_terms, -1, np.int32)
        rank[problem.order[: problem.ks[-1]]] = np.arange(problem.ks[-1])
        n = loops.select_entries(
            indptr=X.indptr.astype(np.int64), columns=X.indices.astype(np.int32), data=X.data.astype(np.float64),
            rank=rank, threshold=0.5, presence=False, ends=ends, ranks=ranks, values=values,
        )  # fmt: skip
        entries = {"ends": ends, "ranks": ranks[:n].copy(), "values": values[:n].copy()}
        codes = (np.arange(X.shape[0]) % problem.n_classes).astype(np.int32).reshape(-1, 1)
        counts = np.zeros((problem.ks[-1], 1, problem.n_classes))
        loops.count_entries(**entries, codes=codes, occurrences=counts)
        rng = np.random.default_rng(1)
        weights = rng.choice([-1.5, 0.1, -0.0, 1e9, -np.inf], (problem.ks[-1], problem.n_classes))
        fixed, drift = rng.random((2, n_points, problem.n_classes)).round(1)
        out = np.full((n_points, X.shape[0]), 99, np.int32)
        point = np.searchsorted(problem.ks, np.arange(1, problem.ks[-1] + 1)).astype(np.int32)
        for first in (0, 600):
            loops.sweep(
                first=first, last=min(first + 600, X.shape[0]), **entries, point=point, weights=weights, fixed=fixed,
                drift=drift, slack=np.full(n_points, 0.01), fixed_slack=np.full(n_points, 0.1), empty=empty, out=out,
            )  # fmt: skip
        found.append([ends, entries["ranks"], entries["values"], counts, np.where(out < 0, -1, out)])
    assert all(same_bits(mine, theirs) for mine, theirs in zip(*found, strict=True))
    assert (found[0][-1] < 99).all()


def test_many_classes_are_added_up_in_the_same_order():
    """Sums of so many terms differ in their last digits when they are added in pairs."""
    rng = np.random.default_rng(0)
    counts = ts.Counts.from_matrix(rng.poisson(0.3, (600, 80)), rng.integers(0, 120, 600).astype(str))
    for name in ("chi2", "info_gain", "gu"):
        for how in aggregate.AGGREGATIONS:
            plain, compiled = both_ways(lambda name=name, how=how: ts.score(counts, name).overall(how))
            assert same_bits(plain, compiled), (name, how)


def test_tails_are_the_same():
    sizes = [0, 1, 2, 3, 7, 40, 999]
    tables = [(tp, tp + fp, tp + fn, tp + fp + fn + tn) for tp, fp, fn, tn in itertools.product(sizes, repeat=4)]
    columns = [np.array(column, np.float64) for column in zip(*tables, strict=True)]
    plain, compiled = both_ways(lambda: tail_ratio(*columns))
    assert same_bits(plain[0], compiled[0])
    assert same_bits(plain[1], compiled[1])


@pytest.mark.parametrize("way", WAYS)
def test_the_way_is_what_is_asked_for(way):
    with _kernels.use_way(way):
        assert _kernels.kernels_pay(0, _kernels.WorkThreshold(1, 2)) == (way == "compiled")
        assert _kernels.kernels_pay(9, _kernels.WorkThreshold(1, 2)) == (way == "compiled")


@pytest.mark.parametrize(
    ("work", "warm", "numba", "pays"),
    [
        (0, True, False, False), (1, True, False, True), (1, False, False, False), (2, False, False, True),
        (0, True, True, True), (0, False, True, False), (1, False, True, False), (2, False, True, True),
    ],
)  # fmt: skip
def test_loops_pay_from_a_threshold_on(monkeypatch, work, warm, numba, pays):
    monkeypatch.setattr(_kernels, "are_loaded", lambda _: False)
    monkeypatch.setattr(_kernels, "is_cache_warm", lambda _: warm)
    monkeypatch.setattr(_kernels, "is_numba_loaded", lambda: numba)
    with _kernels.use_way(None):
        assert _kernels.kernels_pay(work, _kernels.WorkThreshold(warm=1, cold=2)) == pays


@pytest.mark.parametrize("adds_up", [True, False])
def test_work_of_many_calls_pays_for_the_loops(monkeypatch, adds_up):
    monkeypatch.setattr(_kernels, "_loaded", set())
    monkeypatch.setattr(_kernels, "_work", {})
    monkeypatch.setattr(_kernels, "is_cache_warm", lambda _: False)
    threshold = _kernels.WorkThreshold(warm=1, cold=5, adds_up=adds_up)
    with _kernels.use_way(None):
        assert [_kernels.kernels_pay(2, threshold) for _ in range(4)] == [False, False, adds_up, adds_up]


def test_texts_that_are_counted_again_and_again_have_the_loops_compiled(monkeypatch):
    monkeypatch.setattr(_kernels, "_loaded", set())
    monkeypatch.setattr(_kernels, "_work", {})
    monkeypatch.setattr(_kernels, "is_cache_warm", lambda _: False)
    monkeypatch.setattr(counting, "TEXT_BYTES", counting.TEXT_BYTES._replace(warm=1, cold=25))
    calls = []
    monkeypatch.setattr(counting, "_tally_in_threads", lambda *_: calls.append("loops") or [Tally(ts.Analyzer())])
    with _kernels.use_way(None):
        for _ in range(4):
            calls.append("count")
            ts.count(["ten bytes."], ["x"])
    assert calls == ["count", "count", "count", "loops", "count", "loops"]

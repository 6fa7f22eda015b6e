"""Plain Python and the compiled loops: the same counts and the same values, bit by bit."""

import itertools
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.texts import CHAR_OPTIONS, WORD_OPTIONS, documents
from stages.test_aggregate import corpora, counted

import termsieve as ts
from termsieve import _kernels
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
        assert _kernels.kernels_pay(0, _kernels.Threshold(1, 2)) == (way == "compiled")
        assert _kernels.kernels_pay(9, _kernels.Threshold(1, 2)) == (way == "compiled")


@pytest.mark.parametrize(
    ("work", "warm", "pays"), [(0, True, False), (1, True, True), (1, False, False), (2, False, True)]
)
def test_loops_pay_from_a_threshold_on(monkeypatch, work, warm, pays):
    monkeypatch.setattr(_kernels, "are_loaded", lambda: False)
    monkeypatch.setattr(_kernels, "is_cache_warm", lambda: warm)
    with _kernels.use_way(None):
        assert _kernels.kernels_pay(work, _kernels.Threshold(warm=1, cold=2)) == pays

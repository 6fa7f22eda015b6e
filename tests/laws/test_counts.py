"""Laws 1, 2 and 7 of the design: tokens are those of scikit-learn, and counts add up, however cut."""

import functools
import hashlib
import itertools
import operator
import sys
import unicodedata
from collections import Counter
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from oracles import naive
from oracles.texts import (
    CHAR_OPTIONS,
    LONG,
    NASTY_TEXT,
    NGRAMS,
    PIECES,
    PLAIN_TEXT,
    TEXTS,
    TOKEN_PATTERNS,
    WORD_OPTIONS,
    columns,
    documents,
    tiny_tables,
)

import termsieve as ts
from termsieve._kernels import use_way
from termsieve.counts import tally
from termsieve.counts.folds import Folds
from termsieve.counts.labelled import LabelledMatrix, read_labelled
from termsieve.counts.tally import Tally
from termsieve.errors import CountsError, InputError, OptionError
from termsieve.tokens.vocabulary import Vocabulary

pytestmark = pytest.mark.usefixtures("way")

THREADS = st.sampled_from([1, 2, 3, 5])


def saved(counts):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "x.counts"
        counts.save(path)
        return path.read_bytes()


def split(items, cuts):
    edges = [0, *sorted(min(cut, len(items)) for cut in cuts), len(items)]
    return [items[a:b] for a, b in itertools.pairwise(edges)]


# Law 7: kernel, Python twin and scikit-learn


@settings(max_examples=150)
@given(documents(TEXTS), WORD_OPTIONS)
@example([("", []), ("ΟΔΥΣΣΕΥΣ İSTANBUL \0 ȺȾ", "a"), ("", "b")], {})
def test_words_are_counted_as_the_twin_and_scikit_learn_count_them(pairs, options):
    texts, labels = columns(pairs)
    expected = naive.count(texts, labels, lambda text: naive.terms(text, **options))
    assert naive.facts(ts.count(texts, labels, analyzer=ts.Analyzer(**options))) == expected
    assert naive.count_by_scikit_learn(texts, labels, **options) == expected


@given(documents(TEXTS), CHAR_OPTIONS)
def test_characters_are_counted_as_scikit_learn_counts_them(pairs, options):
    texts, labels = columns(pairs)
    counts = ts.count(texts, labels, analyzer=ts.Analyzer(**options))
    assert naive.facts(counts) == naive.count_by_scikit_learn(texts, labels, **options)


@given(
    documents(TEXTS),
    WORD_OPTIONS,
    st.fixed_dictionaries(
        {},
        optional={
            "min_length": st.integers(1, 17),
            "stemmer": st.sampled_from(["english", "greek", "porter"]),
        },
    ),
)
def test_options_that_scikit_learn_lacks_are_those_of_the_twin(pairs, options, more):
    texts, labels = columns(pairs)
    options = options | more
    counts = ts.count(texts, labels, analyzer=ts.Analyzer(**options))
    assert naive.facts(counts) == naive.count(texts, labels, lambda text: naive.terms(text, **options))


@settings(max_examples=25)
@given(documents(TEXTS, max_size=4), st.sampled_from(NGRAMS), st.sampled_from([r"\w+", r"\w\w+", r"\S+"]))
@example([("我来到北京清华大学。İ", "a"), ("Hello 小明", "b")], (1, 2), r"\w+")
def test_segmented_text_is_that_of_the_twin(pairs, ngram_range, token_pattern):
    texts, labels = columns(pairs)
    options = {"segmenter": "jieba", "ngram_range": ngram_range, "token_pattern": token_pattern}
    counts = ts.count(texts, labels, analyzer=ts.Analyzer(**options))
    assert naive.facts(counts) == naive.count(texts, labels, lambda text: naive.terms(text, **options))


@given(documents(TEXTS), st.sampled_from(NGRAMS))
def test_a_tokenizer_of_ones_own_is_that_of_scikit_learn(pairs, ngram_range):
    texts, labels = columns(pairs)
    counts = ts.count(texts, labels, analyzer=ts.Analyzer(tokenizer=str.split, ngram_range=ngram_range))
    expected = naive.count_by_scikit_learn(
        texts, labels, tokenizer=str.split, token_pattern=None, ngram_range=ngram_range
    )
    assert naive.facts(counts) == expected


@settings(max_examples=150)
@given(
    documents(NASTY_TEXT | PLAIN_TEXT),
    WORD_OPTIONS,
    st.sampled_from([{}, {"stemmer": "english"}, {"min_length": 3}]),
    st.sampled_from([1, 1, 2, 3]),
)
def test_tables_that_are_always_full_change_nothing(pairs, options, more, threads):
    texts, labels = columns(pairs)
    options = options | more
    with tiny_tables():
        counts = ts.count(texts, labels, analyzer=ts.Analyzer(**options), threads=threads)
    assert naive.facts(counts) == naive.count(texts, labels, lambda text: naive.terms(text, **options))


@pytest.mark.parametrize("options", [{}, {"ngram_range": (1, 2)}, {"analyzer": "char"}, {"tokenizer": str.split}])
def test_the_tables_of_these_tests_are_often_full(options):
    texts = [f"w{i} w{i + 1} w{i + 2}" for i in range(40)]
    calls = Counter()

    def spy(cls, name="_ensure_capacity"):
        grow = getattr(cls, name)
        return patch.object(cls, name, lambda *args: (calls.update([cls]), grow(*args))[1])

    with tiny_tables(), spy(Tally, "_sum_visits"), spy(Vocabulary):
        ts.count(texts, ["x"] * 40, analyzer=ts.Analyzer(**options), threads=1)
    assert calls[Tally] > 10
    assert calls[Vocabulary] > 5


@given(documents(NASTY_TEXT), CHAR_OPTIONS)
def test_full_tables_of_characters_change_nothing(pairs, options):
    texts, labels = columns(pairs)
    with tiny_tables():
        counts = ts.count(texts, labels, analyzer=ts.Analyzer(**options))
    assert naive.facts(counts) == naive.count_by_scikit_learn(texts, labels, **options)


@pytest.mark.parametrize("options", [{}, {"lowercase": False}, {"strip_accents": "unicode"}])
def test_every_character_of_unicode(options):
    known = [chr(i) for i in range(sys.maxunicode + 1) if unicodedata.category(chr(i)) not in ("Cs", "Cn", "Co")]
    pieces = [f"a{char}b {char}" for char in known]
    texts = [" ".join(pieces[i : i + 100]) for i in range(0, len(pieces), 100)]
    options = {"token_pattern": r"\w+", **options}
    counts = ts.count(texts, ["x"] * len(texts), analyzer=ts.Analyzer(**options))
    expected = naive.count(texts, ["x"] * len(texts), lambda text: naive.terms(text, **options))
    assert counts.terms.tolist() == expected["terms"]
    assert naive.facts(counts)["totals"] == expected["totals"]


@pytest.mark.parametrize("letter", ["a", "B", "é", "Ⱥ", "漢", "𐐀", " ", ".", "\0", "\u00a0"])
@pytest.mark.filterwarnings("ignore:most of the text is Chinese")
def test_words_of_every_length_at_every_place(letter):
    runs = [letter * n for n in range(140)]
    texts = [*runs, *(f"{run}ab" for run in runs), *(f"ab{run}" for run in runs), *(f"x{run} y" for run in runs)]
    texts += [f"{'z' * n} {letter}cd{letter} ΟΣ" for n in range(70)]
    for options in ({"token_pattern": r"\w+"}, {"token_pattern": r"[^\x00-\x20]{2,}", "lowercase": False}):
        expected = naive.count(texts, ["x"] * len(texts), lambda text, o=options: naive.terms(text, **o))
        assert naive.facts(ts.count(texts, ["x"] * len(texts), analyzer=ts.Analyzer(**options))) == expected


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "sizes", [(10, 100, 1000, 5000, 3, 0, 2000), (*range(12), 0, 0, 700) * 20], ids=["long", "short"]
)
def test_long_and_many_short_documents_of_nasty_pieces(seed, sizes):
    random = Random(seed)
    texts = ["".join(random.choices([*PIECES, " ", " "], k=size)) for size in sizes]
    labels = [random.sample("abc", random.randrange(4)) for _ in texts]
    for options in (
        {},
        {"lowercase": False, "ngram_range": (1, 3)},
        {"stop_words": "english", "token_pattern": r"\w+"},
    ):
        expected = naive.count_by_scikit_learn(texts, labels, **options)
        assert naive.facts(ts.count(texts, labels, analyzer=ts.Analyzer(**options))) == expected


@pytest.mark.parametrize("letter", ["a", "A", "Ⱥ", "漢", "𐐀"])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.filterwarnings("ignore:most of the text is Chinese")
def test_tokens_of_a_megabyte(letter, threads):
    token = letter * (2**20 // len(letter.encode()))
    texts = [token, token + "b", f"{token} {token}", "b" + token, "short"]
    counts = ts.count(texts, ["x"] * 5, threads=threads, analyzer=ts.Analyzer(ngram_range=(1, 2)))
    assert naive.facts(counts) == naive.count_by_scikit_learn(texts, ["x"] * 5, ngram_range=(1, 2))


def test_words_that_differ_in_one_byte_or_one_length():
    words = [LONG[:n] for n in range(1, 27)] + [LONG[:n] + "0" for n in range(27)] + ["0" + LONG[:n] for n in range(27)]
    words += ["é" + LONG[:n] for n in range(20)] + [LONG * 3 + str(n) for n in range(100)]
    texts = [" ".join(words), " ".join(reversed(words))]
    counts = ts.count(texts, ["x", "y"], analyzer=ts.Analyzer(token_pattern=r"\w+"))
    assert counts.terms.tolist() == sorted(set(words))
    assert naive.facts(counts) == naive.count(texts, ["x", "y"], str.split)


@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize("pattern", TOKEN_PATTERNS)
def test_every_pattern_on_every_piece(pattern, lowercase):
    texts = ["".join(PIECES), " ".join(PIECES), "\n".join(reversed(PIECES)), *PIECES]
    options = {"token_pattern": pattern, "lowercase": lowercase, "ngram_range": (1, 2)}
    expected = naive.count_by_scikit_learn(texts, ["x"] * len(texts), **options)
    assert naive.facts(ts.count(texts, ["x"] * len(texts), analyzer=ts.Analyzer(**options))) == expected


@pytest.mark.parametrize("options", [{}, {"ngram_range": (1, 2)}, {"token_pattern": r"\S+"}])
def test_a_vocabulary_that_outgrows_its_first_tables(options):
    texts = [" ".join(f"W{i * 7919 % 80_021}x" for i in range(j * 150, j * 150 + 300)) for j in range(300)]
    texts += texts[::2]  # every word once more, after the tables have grown
    labels = [str(j % 7) for j in range(len(texts))]
    counts = ts.count(texts, labels, analyzer=ts.Analyzer(**options), threads=1)
    assert counts.n_terms > 40_000  # more than half of the slots that a vocabulary starts with
    assert naive.facts(counts) == naive.count(texts, labels, lambda text: naive.terms(text, **options))


# Law 1: counts add up


@settings(max_examples=40)
@given(
    documents(),
    st.lists(st.integers(0, 12), max_size=6),
    st.randoms(use_true_random=False),
    THREADS,
    st.booleans(),
)
def test_any_sharding_in_any_order_on_any_threads_gives_the_same_bytes(pairs, cuts, random, threads, bigrams):
    analyzer = ts.Analyzer(ngram_range=(1, 2)) if bigrams else ts.Analyzer()
    whole = ts.count(*columns(pairs), analyzer=analyzer, threads=1)
    shards = [ts.count(*columns(shard), analyzer=analyzer, threads=threads) for shard in split(pairs, cuts)]
    random.shuffle(shards)
    total = functools.reduce(operator.add, shards)
    assert total == whole
    assert saved(total) == saved(whole)


@settings(max_examples=60)
@given(documents(), THREADS)
def test_the_number_of_threads_does_not_matter(pairs, threads):
    with tiny_tables():
        counts = ts.count(*columns(pairs), threads=threads)
    assert counts == ts.count(*columns(pairs), threads=1)


@settings(max_examples=60)
@given(documents(), st.randoms(use_true_random=False))
def test_the_order_of_documents_does_not_matter(pairs, random):
    mixed = random.sample(pairs, len(pairs))
    assert ts.count(*columns(pairs)) == ts.count(*columns(mixed))


@settings(max_examples=60)
@given(documents(), documents(), documents())
def test_addition_is_commutative_and_associative(a, b, c):
    a, b, c = (ts.count(*columns(pairs)) for pairs in (a, b, c))
    assert a + b == b + a
    assert (a + b) + c == a + (b + c) == sum([a, b, c])


@settings(max_examples=60)
@given(documents(), documents())
def test_what_was_added_can_be_subtracted(a, b):
    a, b = ts.count(*columns(a)), ts.count(*columns(b))
    assert (a + b) - b == a
    assert saved((a + b) - b) == saved(a)


@settings(max_examples=60)
@given(documents())
def test_nothing_is_left_of_all_minus_all(pairs):
    counts = ts.count(*columns(pairs))
    assert counts - counts == ts.count([], [])
    assert counts + ts.count([], []) == counts


@given(documents(max_size=4), documents(max_size=4))
def test_what_is_no_part_is_refused_and_what_is_left_can_be_given_back(whole, part):
    whole, part = ts.count(*columns(whole)), ts.count(*columns(part))
    try:
        rest = whole - part
    except CountsError:
        return
    assert rest + part == whole


@given(documents())
def test_counts_are_those_of_the_documents_one_by_one(pairs):
    texts, labels = columns(pairs)
    assert naive.facts(ts.count(texts, labels)) == naive.count(texts, labels, naive.terms)


# Large numbers: cells are kept in 32 bits where they fit


LARGE = st.sampled_from([0, 1, 2, 32_768, 46_340, 46_341, 60_000])  # the square of 46,341 does not fit into 32 bits
LARGE_ROWS = st.lists(st.tuples(LARGE, LARGE, st.sampled_from("ab")), min_size=1, max_size=4)


@given(LARGE_ROWS, LARGE_ROWS)
@example([(46_340, 0, "a")], [(46_340, 1, "a")])
@example([(46_341, 0, "a")], [(1, 1, "b")])
def test_sums_beyond_32_bits_are_exact(one, other):
    a, b, both = (
        ts.Counts.from_matrix([row[:2] for row in rows], [row[2] for row in rows], terms=["s", "t"])
        for rows in (one, other, one + other)
    )
    assert a + b == both
    assert (a + b) - b == a
    assert ts.Counts.from_bytes(saved(a + b)) == both
    assert saved(a + b) == saved(both)
    squares = {(label, j): 0 for label in both.classes for j in range(2)}
    for *times, label in one + other:
        for j, n in enumerate(times):
            squares[label, j] += n * n
    assert both.tf2.toarray().ravel().tolist() == list(squares.values())
    assert both.cells.values.dtype == (np.int32 if max(squares.values()) < 2**31 else np.int64)
    merged = both.merge_classes({"all": list(both.classes)})
    assert merged.tf2.toarray().tolist() == [both.term_tf2.tolist()]


def test_folds_beyond_32_bits_are_exact():
    texts = ["aa " * 46_340, "aa bb", "aa " * 46_340, "aa " * 46_341, "bb " * 3]
    labels = [["x"], ["x", "y"], ["x"], [], ["x", "y", "z"]]
    folds = ts.count_folds(texts, labels, folds=[0, 1, 1, 2, 0])
    assert saved(folds.total) == saved(ts.count(texts, labels))
    for chosen in ([0], [1], [0, 1], [0, 2], [1, 2]):
        expected = ts.count(*([column[i] for i, f in enumerate([0, 1, 1, 2, 0]) if f in chosen]
                              for column in (texts, labels)))  # fmt: skip
        assert folds.join(chosen) == expected
        assert saved(folds.join(chosen)) == saved(expected)
        if len(chosen) == 1:
            assert folds.test(chosen[0]) == expected
        else:
            assert folds.training(({0, 1, 2} - {*chosen}).pop()) == expected


# Folds


def parts(pairs, assignment, fold):
    test = [pair for pair, own in zip(pairs, assignment, strict=True) if own == fold]
    training = [pair for pair, own in zip(pairs, assignment, strict=True) if own != fold]
    return ts.count(*columns(test)), ts.count(*columns(training))


def check_folds(folds, pairs, assignment):
    assert folds.total == ts.count(*columns(pairs))
    assert [folds.names[i] for i in folds.assignment] == list(assignment)
    for i, name in enumerate(folds.names):
        test, training = parts(pairs, assignment, name)
        assert folds.test(i) == test
        assert folds.training(i) == training
        assert folds.training(i) + folds.test(i) == folds.total


@settings(max_examples=50)
@given(documents(), st.integers(2, 5), st.integers(-(2**70), 2**70), THREADS)
def test_hashed_folds_are_counts_of_their_documents(pairs, n, seed, threads):
    with tiny_tables():
        folds = ts.count_folds(*columns(pairs), folds=n, seed=seed, threads=threads)
    assert folds.names == list(range(n))
    check_folds(folds, pairs, folds.assignment.tolist())


FOLD_NAMES = st.sampled_from([[0, 1, 2], [5, -3, 10], ["x", "y", "X"], [True, False], [0.5, 2.0]])


@settings(max_examples=50)
@given(documents(min_size=2), FOLD_NAMES, st.data())
def test_folds_of_an_array_are_counts_of_their_documents(pairs, names, data):
    assignment = data.draw(st.lists(st.sampled_from(names), min_size=len(pairs), max_size=len(pairs)))
    assume(len(set(assignment)) > 1)
    given_as = data.draw(st.sampled_from([list, np.array, tuple]))(assignment)
    check_folds(ts.count_folds(*columns(pairs), folds=given_as), pairs, assignment)


@settings(max_examples=50)
@given(documents(labels=st.lists(st.sampled_from("ab"), max_size=2), min_size=2), FOLD_NAMES, st.data())
def test_folds_of_a_column_are_counts_of_their_documents(pairs, names, data):
    assignment = data.draw(st.lists(st.sampled_from(names), min_size=len(pairs), max_size=len(pairs)))
    assume(len(set(assignment)) > 1)
    texts, labels = columns(pairs)
    table = pa.table({"text": texts, "label": pa.array(labels, pa.list_(pa.string())), "part": assignment})
    with tiny_tables():
        folds = ts.count_folds(ts.read(table), folds="part")
    check_folds(folds, pairs, assignment)


def test_hashed_folds_are_the_same_everywhere():
    texts, labels = [f"w{i}" for i in range(40)], ["x"] * 40
    folds = ts.count_folds(texts, labels, folds=4, seed=7)
    again = ts.count_folds(texts, labels, folds=4, seed=7, threads=3)
    other = ts.count_folds(texts, labels, folds=4, seed=8)
    assert folds.assignment.tolist() == again.assignment.tolist() == [split_mix(row, 7) % 4 for row in range(40)]
    assert folds.assignment.tolist() != other.assignment.tolist()


@pytest.mark.parametrize("names", [[f"d{i}" for i in range(40)], list(range(40)), [f"{i}" for i in range(40)]])
def test_folds_of_ids_are_the_same_everywhere_and_in_any_order(names):
    order = np.random.default_rng(0).permutation(40)
    table = {"text": [f"w{i}" for i in range(40)], "label": ["x"] * 40, "id": names}
    shuffled = {name: [column[i] for i in order] for name, column in table.items()}
    folds, other = (ts.count_folds(ts.read(t), folds=4, seed=-7, id="id") for t in (table, shuffled))
    key = str(-7 % 2**64).encode()
    expected = [
        int.from_bytes(hashlib.blake2b(str(name).encode(), key=key, digest_size=8).digest(), "little") % 4
        for name in names
    ]
    assert folds.assignment.tolist() == expected
    assert other.assignment.tolist() == [expected[i] for i in order]
    assert all(other.test(i) == folds.test(i) for i in range(4))


def test_ids_go_with_a_number_of_folds_and_every_document_has_one():
    table = {"text": ["a1", "b1"], "label": ["x", "y"], "id": ["1", None]}
    with pytest.raises(OptionError, match="id='id' is a column for a number of folds; folds is 'label'"):
        ts.count_folds(ts.read(table), folds="label", id="id")
    with pytest.raises(InputError, match="Document 2 has no id: its column 'id' is empty"):
        ts.count_folds(ts.read(table), folds=2, id="id")


def split_mix(row, seed):
    """The documented hash, with Python's integers."""
    h = (seed * 0xD1B54A32D192ED03 ^ (row + 1) * 0x9E3779B97F4A7C15) % 2**64
    h = (h ^ h >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    h = (h ^ h >> 27) * 0x94D049BB133111EB % 2**64
    return h ^ h >> 31


def test_hashed_folds_are_about_equally_large():
    sizes = np.bincount(ts.count_folds(["w"] * 20_000, ["x"] * 20_000, folds=10).assignment)
    assert sizes.min() > 1800
    assert sizes.max() < 2200


@pytest.mark.parametrize(
    "options",
    [
        {"ngram_range": (1, 10**12)},
        {"ngram_range": (3, 10**30)},
        {"ngram_range": (10**30, 10**30)},
        {"min_length": 10**30},
    ],
)
def test_terms_longer_than_any_document_ask_for_no_room(options):
    texts, labels, analyzer = ["aa bb cc dd", "", "bb aa"], ["x", "y", "x"], ts.Analyzer(**options)
    found = []
    for way in ("plain", "compiled"):
        with use_way(way):
            found.append(ts.count(texts, labels, analyzer=analyzer))
    assert found[0] == found[1]


@given(
    st.lists(st.tuples(TEXTS | PLAIN_TEXT, st.integers(0, 2)), min_size=3, max_size=12), st.integers(2, 6),
    st.integers(1, 6), st.sampled_from(NGRAMS),
)  # fmt: skip
def test_tallies_merged_on_any_number_of_cores_are_one_count(pairs, n_tallies, cores, ngram_range):
    """Where there are more tallies than cores, one vocabulary takes up the terms of others."""
    analyzer, one, found = ts.Analyzer(ngram_range=ngram_range, stop_words=["aa"]), np.ones(1, np.int64), []
    for n in (1, n_tallies):
        with tiny_tables(), patch.object(tally, "count_cores", lambda: cores):
            tallies = [Tally(analyzer) for _ in range(n)]
            for i, (text, label) in enumerate(pairs):
                tallies[i % n].add(pa.array([text], pa.large_string()), one, label * one, one)
            found.append(tally.merge_tallies(tallies, np.arange(3), threads=2))
    assert found[0].terms.equals(found[1].terms)
    assert all(np.array_equal(mine, theirs) for mine, theirs in zip(found[0].cells, found[1].cells, strict=True))


@given(
    st.lists(
        st.tuples(st.lists(st.sampled_from(["aa", "bb", "cc", "dd"])), st.lists(st.sampled_from("xyz"), unique=True)),
        min_size=1,
        max_size=12,
    ),
    st.integers(2, 4),
    st.integers(0, 3),
)
def test_folds_of_documents_in_memory_are_those_of_counting(documents, n, seed):
    """Also where documents have several labels or none, and where folds are empty."""
    texts, labels = [" ".join(words) for words, _ in documents], [label for _, label in documents]
    expected = ts.count_folds(texts, labels, folds=n, seed=seed)
    found = Folds.of_matrix(read_labelled(texts, labels), n, seed=seed)
    assert found.names == expected.names
    assert found.assignment.tolist() == expected.assignment.tolist()
    assert found.total == expected.total
    for fold in range(n):
        assert found.test(fold) == expected.test(fold)
        assert found.training(fold) == expected.training(fold)
    assert found.join([0, n - 1]) == expected.join([0, n - 1])


@pytest.mark.parametrize("X", [[[1, 0, 2, 0], [0, 0, 1, 0], [3, 0, 0, 0]], [[0, 2], [0, 1], [0, 1]], [[0], [0], [0]]])
def test_folds_of_a_matrix_may_have_columns_of_no_document(X):
    X, labels = np.array(X), np.array(["b", "a", "b"])
    folds = Folds.of_matrix(LabelledMatrix.from_matrix(X, labels), 2)
    for fold in range(2):
        there = folds.assignment == fold
        assert 0 < there.sum() < 3
        for found, rows in ((folds.test(fold), there), (folds.training(fold), ~there)):
            expected = ts.Counts.from_matrix(X[rows], labels[rows]).prune(min_df=1)
            assert found.to_arrow() == expected.to_arrow()
            assert found.class_sizes.tolist() == expected.class_sizes.tolist()

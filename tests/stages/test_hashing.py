"""The tables of terms: no text can be written that fills them badly, and no result depends on their random numbers."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.texts import TEXTS, tiny_tables

from termsieve.counts.counting import count
from termsieve.counts.counts import Counts
from termsieve.ranking.distinct import DetailLevel, DistinctCells
from termsieve.tokens.analyzer import Analyzer
from termsieve.tokens.vocabulary import Vocabulary

N_WORDS, SHARE = 20_000, 256  # so many words, all in one of so many parts of the table
LENGTH = 12


def random_words(n, seed):
    """Words of 12 letters: their bytes, and the two numbers of their keys."""
    letters = np.random.default_rng(seed).integers(97, 123, (n, 16), dtype=np.uint8)
    letters[:, LENGTH:] = 0
    letters[:, 15] = LENGTH + 1
    keys = letters.view("<u8")
    return letters[:, :LENGTH], keys[:, 0], keys[:, 1]


def plain_hash(low, high):
    """The hash that this library once had: without a secret."""
    with np.errstate(over="ignore"):
        mix, mix_high = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
        return ((low * mix) ^ (high * mix_high)) * mix


def folded_product(a, b):
    """The two halves of a product of 64-bit numbers, combined by exclusive or, in 32-bit steps."""
    with np.errstate(over="ignore"):
        half, low_half = np.uint64(32), np.uint64(0xFFFFFFFF)
        a0, a1, b0, b1 = a & low_half, a >> half, b & low_half, b >> half
        middle = a1 * b0 + ((a0 * b0) >> half)
        other = a0 * b1 + (middle & low_half)
        return (a * b) ^ (a1 * b1 + (middle >> half) + (other >> half))


def secret_hash(secret):
    return lambda low, high: folded_product(low ^ secret[0], high ^ secret[1])


def chosen_words(hashed):
    """Words whose hashes all begin with the same bits."""
    found, seed = [], 0
    while sum(map(len, found)) < N_WORDS:
        letters, low, high = random_words(1 << 20, seed)
        found.append(letters[hashed(low, high) >> np.uint64(56) == 7])
        seed += 1
    return text_of(np.concatenate(found)[:N_WORDS])


def text_of(letters):
    return pa.array([" ".join(row.tobytes().decode() for row in letters)], pa.large_string())


def longest_run(texts, secret=None):
    """How many filled slots of the table stand side by side: a look-up may have to pass as many."""
    vocabulary = Vocabulary(Analyzer())
    if secret is not None:
        vocabulary._secret = secret
    vocabulary.tokenize(texts)
    assert vocabulary.n_terms == N_WORDS
    filled = np.append(vocabulary.words.slots[:, 1] > 0, False)
    return int(np.diff(np.flatnonzero(~filled), prepend=-1).max()) - 1


@pytest.fixture(scope="module")
def usual():
    return longest_run(text_of(random_words(N_WORDS, 99)[0]))


def test_words_that_filled_the_table_badly_once_stand_as_far_apart_as_others(usual):
    assert longest_run(chosen_words(plain_hash)) < 5 * usual


def test_words_chosen_by_other_random_numbers_stand_as_far_apart_as_others(usual):
    """Who knows the random numbers can choose words; who knows those of another process cannot."""
    secret, other = (np.random.default_rng(i).integers(0, 1 << 63, 4, dtype=np.uint64) for i in (1, 2))
    attack = chosen_words(secret_hash(secret))
    assert longest_run(attack, secret) > 100 * usual  # or this test could not fail
    assert longest_run(attack, other) < 5 * usual


def test_long_words_have_hashes_with_random_numbers():
    """Words of 32 letters, the halves of which change places: sums and products of their blocks agree."""
    rng = np.random.default_rng(0)
    halves = ["".join(rng.choice(list("abcdefgh"), 16)) for _ in range(150)]
    words = pa.array([a + b for a in halves for b in halves], pa.large_string())
    keys = []
    for _ in range(2):
        vocabulary = Vocabulary(Analyzer())
        assert len(np.unique(vocabulary.number(words))) == len(words)
        keys.append(vocabulary.words.slots[vocabulary.words.slots[:, 1] > 0, 0])
        assert len(np.unique(keys[-1])) == len(words)
    assert not np.isin(*keys).any()


SECRETS = [
    np.array(numbers, np.uint64)
    for numbers in ([1, 1, 1, 1], [3, 5, 7, 9], [2**64 - 1] * 4, [2**63 + 1, 2**32 + 1, 2**31 - 1, 12345])
]


@settings(deadline=None, max_examples=25)
@given(st.lists(TEXTS, min_size=1, max_size=6), st.sampled_from([(1, 1), (1, 3), (2, 2)]))
def test_counts_do_not_depend_on_the_random_numbers(texts, ngram_range):
    texts = [*texts, "long " + "x" * 20 + " " + "x" * 40 + "y"]
    labels = ["ab"[i % 2] for i in range(len(texts))]
    analyzer, found = Analyzer(ngram_range=ngram_range), []
    for secret in SECRETS:
        with pytest.MonkeyPatch.context() as patch, tiny_tables():
            patch.setattr("termsieve.tokens.vocabulary.new_secrets", lambda secret=secret: secret)
            found.append(count(texts, labels, analyzer=analyzer, threads=2))
    assert all(one == found[0] for one in found)
    assert all(one.term_array.equals(found[0].term_array) for one in found)


def test_saved_counts_are_the_same_bytes_with_any_random_numbers(tmp_path, monkeypatch):
    rng = np.random.default_rng(1)
    texts = [" ".join(f"w{i}" for i in rng.integers(0, 5000, 200)) for _ in range(300)]
    files = []
    for i, secret in enumerate(SECRETS):
        monkeypatch.setattr("termsieve.tokens.vocabulary.new_secrets", lambda secret=secret: secret)
        count(texts, ["a", "b", "c"] * 100, threads=2).save(tmp_path / f"{i}.counts")
        files.append((tmp_path / f"{i}.counts").read_bytes())
    assert len(set(files)) == 1


def test_distinct_cells_do_not_depend_on_the_random_numbers(monkeypatch):
    rng = np.random.default_rng(2)
    counts = Counts.from_matrix(rng.poisson(0.3, (60, 400)), ["abc"[i % 3] for i in range(60)])
    found = []
    for secret in SECRETS:
        monkeypatch.setattr("termsieve.ranking.distinct.new_secrets", lambda secret=secret: secret)
        for level in (DetailLevel.DOCUMENTS, DetailLevel.OCCURRENCES):
            one = DistinctCells(counts, level)
            found.append((level, one.place.tobytes(), one.cell.tobytes(), one.empty_cell.tobytes()))
    assert len(set(found)) == 2

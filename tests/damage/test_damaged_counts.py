"""Damaged counts files: refused, or equal; with a checksum that was made to fit, refused or such as documents have."""

import warnings

import numpy as np
import pytest
from damage.damage import EQUAL, ERROR, FILES, OTHER, damaged, outcomes
from oracles.counts_files import arrow_stream, resealed, sealed, table_of

import termsieve as ts

TEXTS = ["good good film", "bad film", "a fine film", "bad bad bad plot", "très bon", "plot", "", "good plot"] * 3


def many_counts():
    labels = ["pos", "neg", "pos", "neg"] * 6
    several = [["pos", "long"], ["neg"], [], ["neg", "long"]] * 6
    return [
        ts.count(TEXTS, labels),
        ts.count(TEXTS, several),
        ts.count(TEXTS, labels, vocabulary=["plot", "film", "nowhere"]),
        ts.count(TEXTS, labels).prune(min_df=2),
        ts.Counts.from_matrix(np.array([[0.5, 0.0, 2.25], [1 / 3, 1e5, 0.0], [0.0, 2.0, 1.5]]), ["x", "y", "y"]),
        ts.Counts.from_matrix([[2, 0, 1], [1, 1, 0], [0, 3, 3]], [["x", "y"], ["y"], ["z"]]),
    ]


def uncompressed(data):
    """The same file with plain buffers, in which a flipped bit changes a number."""
    return sealed(arrow_stream(table_of(data)))


def content(path):
    """What is in a counts file, after most of what is done with one: nothing may crash or give NaN."""
    counts = ts.Counts.load(path)
    facts = (counts.df, counts.tf, counts.tf2, counts.class_tf, counts.terms, counts.fingerprint, counts.alphabetical)
    assert len(facts[4]) == counts.n_terms
    counts.prune(min_df=2)
    if not counts.pruned:
        assert counts.is_real or (counts + counts) - counts == counts.without_empty()
    if not counts.n_multilabel:
        counts.merge_classes({"all": list(counts.classes)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scores that do not fit to several labels; real numbers of hundreds of digits
        for name in ts.SCORES:
            scores = ts.score(counts, name)
            assert not np.isnan(scores.values).any(), name
            scores.top(3)
        ts.select(counts, "top(2)", "chi2")
    return counts.to_bytes()


def try_all(files, path, change=lambda data: data):
    found, bad = None, []
    for number, data in enumerate(files):
        path.write_bytes(data)
        tried = [change(one) for one in damaged(data, FILES // len(files) + 1, seed=number)]
        some, wrong = outcomes(tried, content, path, expected=content(path))
        found = some if found is None else found + some
        bad += wrong.values()
    print(f"\n{path.name}: {dict(found)}")
    assert found[ERROR] > found[EQUAL]
    return found, bad


def test_a_damaged_file_is_refused(tmp_path):
    files = [counts.to_bytes() for counts in many_counts()]
    found, bad = try_all(files, tmp_path / "damaged.counts")
    assert not bad
    assert found[EQUAL] <= found[ERROR] / 20  # what was written over itself


@pytest.mark.parametrize("change", [bytes, uncompressed], ids=["compressed", "plain"])
def test_a_file_whose_checksum_was_made_to_fit_does_no_harm(tmp_path, change):
    files = [change(counts.to_bytes()) for counts in many_counts()]
    found, bad = try_all(files, tmp_path / "sealed.counts", resealed)
    assert not {one for one in bad if not one.startswith(OTHER)}
    assert found[ERROR] > found[OTHER]

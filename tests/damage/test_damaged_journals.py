"""Damaged journals: an error of ours, or the table that the study has without a journal."""

import functools
import sqlite3

import numpy as np
from damage.damage import EQUAL, ERROR, damaged, outcomes
from oracles.models import documents

from termsieve.study.corpus import read_corpus
from termsieve.study.plan import Plan
from termsieve.study.splits import make_splits
from termsieve.study.study import Study
from termsieve.tokens.analyzer import Analyzer


@functools.cache
def study():
    texts, labels = documents(45)
    corpus = read_corpus(texts, labels, Analyzer(), [], 1)
    plan = Plan.from_arguments(["chi2", "gu"], ["multinomial_nb"], [2, 5])
    return Study(corpus, plan, make_splits(3, corpus.single_labels, corpus.n_docs, seed=0))


def read(path):
    return study().run_all(path, 1, progress=False).table.to_pylist()


def journal(path):
    read(path)
    return path.read_bytes()


def test_damaged_journals_are_errors_or_gone_on_with(tmp_path):
    data = journal(tmp_path / "whole.journal")
    expected = read(tmp_path / "whole.journal")
    found, bad = outcomes(list(damaged(data)), read, tmp_path / "x.journal", expected=expected)
    print("\njournal:", dict(found))
    assert not bad
    assert found[ERROR]
    assert found[EQUAL]


def test_damaged_values_of_journals_are_errors(tmp_path):
    """Damage that SQLite itself cannot see: in the texts and numbers of the trials."""
    journal(tmp_path / "whole.journal")
    expected = read(tmp_path / "whole.journal")
    rng = np.random.default_rng(0)
    with sqlite3.connect(tmp_path / "whole.journal") as connection:
        trials = connection.execute("SELECT * FROM trials").fetchall()
    files = []
    for number, column in [(n, c) for n in range(len(trials)) for c in range(4)]:
        path = tmp_path / "changed.journal"
        path.write_bytes((tmp_path / "whole.journal").read_bytes())
        value = list(trials[number])
        if column == 2:
            value[2] += 1.0
        else:
            [text] = damaged(value[column].encode(), 1, seed=int(rng.integers(1 << 30)))
            value[column] = text.decode("utf-8", "replace") + "!"
        connection = sqlite3.connect(path)
        change = "UPDATE trials SET key=?, rows=?, seconds=?, sha256=? WHERE key=?"
        connection.execute(change, [*value, trials[number][0]])
        connection.commit()
        connection.close()
        files.append(path.read_bytes())
    found, bad = outcomes(files, read, tmp_path / "x.journal", expected=expected)
    print("\nvalues of a journal:", dict(found))
    assert not bad
    assert set(found) == {ERROR}

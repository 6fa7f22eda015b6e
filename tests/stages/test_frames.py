"""Tables for other libraries, names looked up, and small pictures."""

import polars as pl
import pyarrow as pa
import pytest

import termsieve as ts
from termsieve.errors import UnknownNameError

TEXTS = ["cheap pills cheap", "cheap watches", "buy pills", "noon meeting", "lunch at noon", "meeting at ten"] * 3
LABELS = (["spam"] * 3 + ["ham"] * 3) * 3


@pytest.fixture(scope="module")
def counts():
    return ts.count(TEXTS, LABELS)


@pytest.fixture(scope="module")
def result():
    return ts.compare(TEXTS, LABELS, scores=["chi2", "gu"], ks=[2, 4], cv=3)


def tabular(counts, result):
    scores = ts.score(counts, "chi2")
    return [counts, scores, scores.top(3), scores.top(0), ts.select(counts, 3, "chi2"), result]


def test_other_libraries_take_what_is_tabular(counts, result):
    for one in tabular(counts, result):
        table = one.to_arrow()
        assert pa.table(one) == table
        frame = pl.DataFrame(one)
        assert frame.columns == table.column_names
        assert frame.rows() == [tuple(row.values()) for row in table.to_pylist()]
        assert one.to_pandas().to_dict("list") == table.to_pydict()


def test_columns_are_named_alike(counts):
    scores = ts.score(counts, "chi2")
    names = scores.to_arrow().column_names
    assert names == scores.top(3).to_arrow().column_names
    assert names == ["rank", "term", "score", "class", "tp", "fp", "fn", "tn", "against"]
    assert repr(scores.top(3)).split()[:8] == ["rank", "term", "chi2", *names[3:8]]
    assert {"rank", "term", "score", "class"} <= set(ts.select(counts, 3, "chi2").to_arrow().column_names)
    assert counts.to_arrow().column_names[:2] == ["term", "class"]
    assert scores.to_arrow().slice(0, 3) == scores.top(3).to_arrow()


def test_a_term_is_looked_up(counts):
    found = counts["cheap"]
    assert found == ("cheap", 6, 9, 15, {"spam": (6, 9, 15)})
    assert found.df == counts.term_df[counts.index_of("cheap")]
    assert ("cheap" in counts, "dear" in counts, 7 in counts) == (True, False, False)
    scores = ts.score(counts, "chi2")
    for row in scores.top(100):
        assert (scores[row.term].rank, scores[row.term].score, scores[row.term].label) == (
            row.rank,
            row.score,
            row.label,
        )
    assert list(scores["cheap"].by_class) == ["ham", "spam"]
    with pytest.raises(UnknownNameError, match=r"There is no term 'cheep'\. Did you mean 'cheap'\?"):
        counts["cheep"]
    with pytest.raises(KeyError):
        scores["dear"]


def test_the_best_terms_of_one_class(counts):
    scores = ts.score(counts, "chi2")
    every = scores.top(2, per_class=True)
    assert [*scores.top(2, of="ham"), *scores.top(2, of="spam")] == list(every)
    assert all(row.against for row in scores.top(2, of="spam", against=True))
    with pytest.raises(UnknownNameError, match=r"There is no class 'spa'\. Did you mean 'spam'\?"):
        scores.top(2, of="spa")


def drawn_rows(chart):
    [rows] = chart.to_dict()["datasets"].values()
    return rows


def test_pictures(counts, result):
    values = drawn_rows(ts.score(counts, "chi2").plot(3))
    assert [row["term"] for row in values] == [row.term for row in ts.score(counts, "chi2").top(3)]
    assert {row["class"] for row in drawn_rows(ts.score(counts, "chi2").plot(2, of="ham"))} == {"ham"}
    assert len(drawn_rows(result.plot())) == result.summary().num_rows

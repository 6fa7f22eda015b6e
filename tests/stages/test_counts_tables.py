"""Counts as a table that something else made: whole after a round trip, refused when impossible."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import termsieve as ts
from termsieve import datasets
from termsieve.counts.forgetting import forget
from termsieve.errors import CountsError, OptionError

# the SQL of docs/counting.md
SQL = r"""
WITH words AS (
    SELECT id, label, unnest(regexp_extract_all(lower(text), '[\p{L}\p{N}_]{2,}')) AS term FROM documents
), per_document AS (
    SELECT id, label, term, count(*) AS times FROM words GROUP BY ALL
)
SELECT term, label AS class, count(*) AS df, sum(times)::BIGINT AS tf, sum(times * times)::BIGINT AS tf2
FROM per_document GROUP BY ALL
UNION ALL
SELECT NULL, label, count(*), NULL, NULL FROM documents GROUP BY label
"""
DOCUMENTS = st.lists(
    st.tuples(st.text("abc ", min_size=1, max_size=20), st.lists(st.sampled_from("xyz"), max_size=3, unique=True)),
    min_size=1, max_size=12,
)  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(DOCUMENTS)
def test_a_table_has_all_that_was_counted(documents):
    counts = ts.count([text for text, _ in documents], [labels for _, labels in documents])
    again = ts.Counts.from_table(counts.to_table(), analyzer=counts.analyzer)
    assert again == counts
    assert again.to_bytes() == counts.to_bytes()


def test_duckdb_counts_the_same():
    duckdb = pytest.importorskip("duckdb")
    texts = ["Ärger mit dem Café, café!", "über_uns 2024 ok", "a b cd", "Straße straße STRASSE", "日本 日本語 x"] * 3
    documents = pa.table({"id": range(15), "label": ["x", "y", "x"] * 5, "text": texts})  # noqa: F841 - named in SQL
    found = ts.Counts.from_table(duckdb.sql(SQL).to_arrow_table(), analyzer=ts.Analyzer())
    assert found == ts.count(texts, ["x", "y", "x"] * 5)


def test_a_corpus_counted_by_duckdb_is_the_same():
    duckdb = pytest.importorskip("duckdb")
    path = datasets.locate("sms_spam")
    if path is None:
        pytest.skip("the corpus sms_spam is not here; TERMSIEVE_DATA names the folder")
    documents = duckdb.sql(f"SELECT id, labels[1] AS label, text FROM read_json_auto('{path}')")  # noqa: F841
    found = ts.Counts.from_table(duckdb.sql(SQL).to_arrow_table(), analyzer=ts.Analyzer())
    assert found == ts.count(ts.read(path, text="text", label="labels"))


def test_columns_are_enough_and_scores_follow():
    counts = ts.Counts.from_table(
        ["call", "call", "lunch"], ["spam", "ham", "ham"], [9, 2, 5], class_sizes={"ham": 40, "spam": 10}
    )
    assert counts["call"].by_class == {"ham": (2, 2, 2), "spam": (9, 9, 9)}
    assert counts.n_docs == 50
    assert ts.score(counts, "chi2").top(1)[0].term == "call"


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"df": [9, 2, 50]}, "not counts of documents"),
        ({"tf": [8, 2, 5]}, "not counts of documents"),
        ({"tf2": [8, 2, 5], "tf": [9, 2, 5]}, "not counts of documents"),
        ({"terms": ["call", "call", "call"], "classes": ["spam", "ham", "ham"]}, "is there twice in the class 'ham'"),
        ({"df": [9, -2, 5]}, "not counts of documents"),
        ({"df": ["many", "few", "none"]}, "must have numbers"),
        ({"df": [9, 2]}, "has 2 rows, but there are 3 terms"),
        ({"df": [9, float("nan"), 5]}, "not finite"),
        ({"class_sizes": {"ham": 40}}, "How many documents does the class 'spam' have"),
        ({"n_docs": 45}, "not counts of documents"),
        ({"df": [9, 2.5, 5]}, "documents, which are whole, not 2.5"),
        ({"df": [9, 10**20, 5]}, "must have numbers"),
        ({"tf": [9, 2**40, 5]}, "more than 64 bits"),
        ({"class_sizes": {"ham": 10**20, "spam": 10}}, r"class_sizes\['ham'\] must be a whole number"),
        ({"class_sizes": {"ham": float("nan"), "spam": 10}}, r"class_sizes\['ham'\] must be a whole number"),
        ({"class_sizes": {"ham": 40.5, "spam": 10}}, r"class_sizes\['ham'\] must be a whole number"),
        ({"class_sizes": [40, 10]}, "must be a mapping of classes"),
        ({"n_docs": float("inf")}, "n_docs must be a whole number"),
    ],
)
def test_what_no_documents_have_is_refused(changes, says):
    given = {
        "terms": ["call", "call", "lunch"], "classes": ["spam", "ham", "ham"], "df": [9, 2, 5],
        "class_sizes": {"ham": 40, "spam": 10}, **changes,
    }  # fmt: skip
    with pytest.raises((CountsError, OptionError), match=says):
        ts.Counts.from_table(**given)


@pytest.mark.parametrize(
    "labels",
    [
        [True, False],
        [1.0, 2.5],
        np.array([0.1, 0.2], np.float32),
        np.array(["2024-05-17", "2024-05-18"], "datetime64[ns]"),
        [dt.date(2024, 5, 17), dt.date(2024, 5, 18)],
        pa.array([True, False]),
        [7, 8],
    ],
)
def test_classes_of_a_table_are_spelled_as_labels_are(labels):
    counted = ts.count(["aa", "bb"], labels)
    table = ts.Counts.from_table(["aa", "bb"], labels, [1, 1], class_sizes=dict.fromkeys(labels, 1))
    assert table.classes.tolist() == counted.classes.tolist()


@pytest.mark.parametrize("column", ["terms", "classes"])
@pytest.mark.parametrize(
    ("value", "says"), [("\ud800", "a lone surrogate"), (["a"], "of type list"), (object(), "of type object")]
)
def test_names_of_a_table_that_are_none_are_refused(column, value, says):
    given = {"terms": ["a"], "classes": ["x"], "df": [1], "class_sizes": {"x": 1}, column: [value]}
    with pytest.raises(OptionError, match=f"column must have strings: a value is .*{says}"):
        ts.Counts.from_table(**given)


def test_a_table_without_its_columns_is_refused():
    with pytest.raises(OptionError, match="The table has no 'df'"):
        ts.Counts.from_table(pa.table({"term": ["a"], "class": ["x"]}))


@pytest.mark.parametrize("given", [(["a"], ["x"], None, [3]), (["a", "b"],), (3,)])
def test_what_is_no_table_is_refused(given):
    with pytest.raises(OptionError, match="count_frequencies"):
        ts.Counts.from_table(*given)


def test_a_list_of_words_gives_the_scores_of_its_text():
    texts, labels = ["The ship, the sea", "a ship"], ["mine", "mine"]
    reference = "the THE house by the sea of houses"
    listed = ts.count_frequencies(["The", "house", "by", "sea", "of", "houses", "-"], ["3", 1, 1.0, 1, 1, 1, "1,000"])
    whole = ts.count([*texts, reference], [*labels, "reference"])
    both = ts.count(texts, labels) + listed
    for name in ("log_ratio(min_df=1)", "lrc", "log_likelihood", "simple_maths(min_df=1)", "jensen_shannon", "bic"):
        assert ts.score(both, name).values.tolist() == ts.score(whole, name).values.tolist()


@pytest.mark.parametrize(
    ("words", "times", "options", "says"),
    [
        (["sea"], [1.5], {}, "'sea': its frequency must be a whole number, not 1.5"),
        (["sea"], [-1], {}, "whole number"),
        (["sea"], ["1" * 5000], {}, "whole number"),
        (["sea", "sun"], [2**62, 2**62], {}, "more than 64 bits"),
        (["sea", "sun"], [1], {}, "2 words, but 1 frequencies"),
        (["?"], [1], {}, "makes no term"),
        (["sea"], [1], {"analyzer": ts.Analyzer(ngram_range=(1, 2))}, "single words"),
        (["sea", 5], [1, 1], {}, "Entry 2 of the list must be a word, not 5"),
        (["sea"], [1], {"name": None}, "name must be that of the class, a string, not None"),
        (["sea"], [float("nan")], {}, "whole number"),
        (["sea"], [float("inf")], {}, "whole number"),
        (["sea"], [1e19], {}, "more than 64 bits"),
    ],
)
def test_lists_that_are_none_are_refused(words, times, options, says):
    with pytest.raises((CountsError, OptionError), match=says):
        ts.count_frequencies(words, times, **options)


@pytest.mark.parametrize("kind", [int, float, np.int64, np.float64, str])
def test_frequencies_may_be_large_numbers_of_any_kind(kind):
    assert ts.count_frequencies(["sea"], [kind(2**60)])["sea"].tf == int(float(2**60))


def test_totals_must_be_whole():
    table = ts.count(["aa bb", "aa"], [["x", "y"], ["x"]]).to_table()
    is_total = [row["class"] is None and row["term"] == "bb" for row in table.to_pylist()]
    with pytest.raises(CountsError, match="'bb' has no row without a class"):
        ts.Counts.from_table(table.filter(pa.array([not one for one in is_total])))


def test_what_is_forgotten_was_never_counted():
    kept, gone = ts.count(["lunch at noon", "buy pills"], ["ham", "spam"]), ts.count(["buy acme"], ["spam"])
    rest, receipt = forget(kept + gone, gone)
    assert rest.to_bytes() == kept.to_bytes()
    assert receipt.documents_by_class == {"spam": 1}
    assert receipt.terms_gone == 1
    assert len({receipt.sha256_before, receipt.sha256_removed, receipt.sha256_after}) == 3
    for strange in (ts.count(["never"], ["spam"]), ts.count(["buy"], ["other"]), ts.count(["lunch"] * 5, ["ham"] * 5)):
        with pytest.raises(CountsError):
            forget(kept, strange)

"""Documents that are lists of tokens already are counted as they are."""

import io
import json
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

import termsieve as ts
from termsieve.documents import Documents, read
from termsieve.errors import CountsError, InputError, OptionError
from termsieve.tokens.analyzer import choose_analyzer

pytestmark = pytest.mark.filterwarnings("ignore:skipped")  # said of each bad row, and looked at below

TOKENS = ts.Analyzer(analyzer="tokens")
LEMMAS = [["New York", "be", "big", "be"], ["the", "The", "x"], [], ["be", "the", "naïve", "."]]
LABELS = ["a", "b", "b", "a"]

token_lists = st.lists(
    st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=4), max_size=8), min_size=1, max_size=12
)


def plain_counts(lists, labels):
    """What a dict of Counters says: term -> class -> documents, occurrences."""
    found = {}
    for tokens, label in zip(lists, labels, strict=True):
        for token, times in Counter(tokens).items():
            df, tf = found.setdefault(token, {}).get(label, (0, 0))
            found[token][label] = (df + 1, tf + times)
    return found


def as_dict(counts):
    table = {}
    classes, df, tf = counts.classes.tolist(), counts.df, counts.tf
    dense = [np.asarray(part.todense() if hasattr(part, "todense") else part) for part in (df, tf)]
    for t, term in enumerate(counts.terms.tolist()):
        cells = {c: (int(dense[0][i, t]), int(dense[1][i, t])) for i, c in enumerate(classes) if dense[0][i, t]}
        table[term] = cells
    return table


# Counting


@given(token_lists, st.data())
def test_counts_are_those_of_a_plain_counter(lists, data):
    labels = data.draw(st.lists(st.sampled_from("ab"), min_size=len(lists), max_size=len(lists)))
    counts = ts.count(lists, labels)
    assert as_dict(counts) == plain_counts(lists, labels)
    assert counts.n_docs == len(lists)


@given(token_lists, st.integers(0, 12))
def test_counts_of_parts_add_up(lists, cut):
    labels = [str(i % 2) for i in range(len(lists))]
    cut = min(cut, len(lists))
    parts = [ts.count(lists[part], labels[part], analyzer=TOKENS) for part in (slice(cut), slice(cut, None))]
    assert parts[0] + parts[1] == ts.count(lists, labels)


def test_counts_do_not_depend_on_threads_or_chunks(monkeypatch):
    rng = np.random.default_rng(0)
    lists = [[f"t{t}" for t in rng.integers(0, 50, rng.integers(0, 9))] for _ in range(3000)]
    labels = [f"c{i % 3}" for i in range(3000)]
    whole = ts.count(lists, labels, threads=1)
    assert ts.count(lists, labels, threads=4) == whole
    monkeypatch.setattr("termsieve.counts.counting.CHUNK_BYTES", 100)
    monkeypatch.setattr("termsieve.documents.memory._FIRST_ROWS", 7)
    assert ts.count(lists, labels, threads=2) == whole
    folds = ts.count_folds(lists, labels, folds=3)
    assert folds.total == whole
    assert folds.training(0) + folds.test(0) == whole


def test_steps_on_words_apply_and_steps_on_text_do_not():
    counts = ts.count(LEMMAS, LABELS)
    assert counts.terms.tolist() == sorted({token for tokens in LEMMAS for token in tokens})
    assert counts.analyzer == TOKENS
    shaped = ts.Analyzer(analyzer="tokens", stop_words={"the"}, min_length=2, ngram_range=(1, 2))
    assert shaped(["the", "The", "x", "New York"]) == ["The", "New York", "The New York"]
    assert set(ts.count(LEMMAS, LABELS, analyzer=shaped).terms) >= {"The", "New York be", "be big"}
    for option in ({"lowercase": False}, {"strip_accents": "unicode"}, {"token_pattern": r"\w+"}, {"tokenizer": "a:b"}):
        with pytest.raises(OptionError, match=r"works on text and has no meaning with analyzer='tokens'"):
            ts.Analyzer(analyzer="tokens", **option)


def test_the_fingerprint_differs_from_that_of_text(tmp_path):
    assert TOKENS.fingerprint != ts.Analyzer().fingerprint
    counts = ts.count(LEMMAS, LABELS)
    with pytest.raises(CountsError, match="analyzer: 'tokens' here, 'word' there"):
        counts + ts.count(["a text"], ["a"])
    counts.save(tmp_path / "x.counts")
    assert ts.Counts.load(tmp_path / "x.counts") == counts
    assert ts.Counts.load(tmp_path / "x.counts").analyzer == TOKENS


def test_lists_and_analyzers_that_do_not_go_together():
    for call in (ts.count, ts.count_folds, ts.compare, ts.train):
        with pytest.raises(
            OptionError, match=r"lists of tokens.*give analyzer='tokens'.*Given: Analyzer\(min_length=2\)"
        ):
            call(LEMMAS, LABELS, analyzer=ts.Analyzer(min_length=2))
        with pytest.raises(OptionError, match="texts, and not lists of tokens: leave out analyzer='tokens'"):
            call(["a text"] * 4, LABELS, analyzer=TOKENS)
    with pytest.raises(OptionError, match="leave out analyzer='tokens'"):
        TOKENS("a text")
    with pytest.raises(OptionError, match="give analyzer='tokens'"):
        ts.Analyzer()(["a", "list"])
    assert choose_analyzer(None, tokens=True) == TOKENS
    assert choose_analyzer(None, tokens=False) == ts.Analyzer()


# Where the lists are from


def write_json(path, lists=LEMMAS, labels=LABELS):
    lines = [json.dumps({"tokens": tokens, "label": label}) for tokens, label in zip(lists, labels, strict=True)]
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


def write_parquet(path, kind=None):
    pq.write_table(pa.table({"tokens": pa.array(LEMMAS, kind), "label": LABELS}), path)
    return path


def as_pandas():
    return pytest.importorskip("pandas").DataFrame({"tokens": LEMMAS, "label": LABELS})


def as_polars():
    return pytest.importorskip("polars").DataFrame({"tokens": LEMMAS, "label": LABELS})


@pytest.mark.parametrize(
    "make",
    [
        lambda folder: write_json(folder / "x.jsonl"),
        lambda folder: write_parquet(folder / "x.parquet"),
        lambda folder: write_parquet(folder / "x.parquet", pa.large_list(pa.large_string())),
        lambda folder: write_parquet(folder / "x.parquet", pa.list_(pa.dictionary(pa.int32(), pa.string()))),
        lambda folder: {"tokens": LEMMAS, "label": LABELS},
        lambda folder: {"tokens": [tuple(tokens) for tokens in LEMMAS], "label": LABELS},
        lambda folder: {"tokens": [np.array(tokens, dtype=object) for tokens in LEMMAS], "label": LABELS},
        lambda folder: pa.table({"tokens": LEMMAS, "label": LABELS}).slice(0, 4),
        lambda folder: io.BytesIO(write_json(folder / "x.jsonl").read_bytes()),
        lambda folder: as_pandas(),
        lambda folder: as_polars(),
    ],
)
def test_lists_of_every_source_are_the_same_documents(make, tmp_path):
    (batch,) = read(make(tmp_path))
    assert batch.column("text").type == pa.large_list(pa.large_string())
    assert batch.column("text").to_pylist() == LEMMAS
    assert ts.count(read(make(tmp_path))) == ts.count(LEMMAS, LABELS)


def test_a_slice_of_a_table_has_its_own_tokens():
    table = pa.table({"tokens": [["no"], *LEMMAS, ["no"]], "label": ["c", *LABELS, "c"]}).slice(1, 4)
    assert ts.count(read(table)) == ts.count(LEMMAS, LABELS)


@pytest.mark.parametrize(
    ("lists", "said"),
    [
        ([["a"], ["b", None]], "missing token: there is a null in the list"),
        ([["a"], ["b", 1]], "token is not a string: it is a number"),
        ([["a"], "b"], "text is not a list of tokens, as those before: it is a string"),
        ([["a"], None], "missing text"),
        (["b", ["a"]], "text is not a string: it is a list"),
        ([["a"], ["\ud800"]], "lone surrogate"),
    ],
)
def test_bad_lists_are_named_and_can_be_skipped(lists, said, tmp_path):
    with pytest.raises(InputError, match=f"row 2: {said}" if "lone" not in said else said):
        list(Documents.of(lists, ["x", "y"]))
    if "lone" not in said:
        with pytest.raises(InputError, match=f"line 2: {said}"):
            list(read(write_json(tmp_path / "x.jsonl", lists, ["x", "y"]), strict=True))
    documents = Documents.of(lists, ["x", "y"], strict=False)
    assert [text for batch in documents for text in batch.column("text").to_pylist()] == lists[:1]
    assert documents.skipped == 1


def test_a_null_in_a_list_of_arrow_is_named():
    table = pa.table({"tokens": [["a"], [], ["b", None]], "label": list("xyz")})
    with pytest.raises(InputError, match="row 3: missing token"):
        list(read(table, strict=True))
    with pytest.raises(InputError, match="neither text nor lists of tokens"):
        list(read(pa.table({"tokens": [[1]], "label": ["x"]})))


def test_texts_and_lists_do_not_mix(tmp_path):
    text = tmp_path / "a.jsonl"
    text.write_text('{"tokens": "plain", "label": "x"}\n', encoding="utf-8")
    with pytest.raises(InputError, match="has tokens where the documents before have text"):
        list(read([text, write_json(tmp_path / "b.jsonl")]))
    with pytest.raises(InputError, match="cannot be joined"):
        list(read({"a": LEMMAS, "b": LEMMAS, "label": LABELS}, text=["a", "b"]))


# What comes after counting


@given(token_lists.filter(lambda lists: any(lists)))
def test_the_vectorizer_is_that_of_scikit_learn(lists):
    theirs = CountVectorizer(analyzer=lambda tokens: tokens)
    expected = theirs.fit_transform(lists)
    mine = ts.TermVectorizer(analyzer="tokens")
    found = mine.fit_transform(lists)
    order = [theirs.vocabulary_[term] for term in mine.get_feature_names_out()]
    assert (found.toarray() == expected.toarray()[:, order]).all()
    assert set(mine.vocabulary_) == set(theirs.vocabulary_)
    assert (mine.transform(lists[::-1]).toarray() == found.toarray()[::-1]).all()


def test_the_vectorizer_stops_words_and_refuses_texts():
    mine = ts.TermVectorizer(analyzer="tokens", stop_words=["be"], ngram_range=(1, 2))
    assert "be" not in mine.fit(LEMMAS).vocabulary_
    assert "New York big" in mine.vocabulary_
    for given_documents in (["a text"], [["a", 1]], [None]):
        with pytest.raises(InputError, match="must be a list of strings"):
            mine.transform(given_documents)
    with pytest.raises(InputError, match=r"not list.*analyzer='tokens' takes lists of tokens"):
        ts.TermVectorizer().fit(LEMMAS)
    arrow = pa.chunked_array([pa.array(LEMMAS, pa.large_list(pa.large_string()))])
    assert (mine.transform(arrow).toarray() == mine.transform(LEMMAS).toarray()).all()
    with pytest.raises(OptionError, match="give analyzer='tokens'"):
        ts.TermVectorizer().fit(arrow)


def many():
    rng = np.random.default_rng(1)
    words = {"sea": ["Ship", "crew be", "Sea"], "sport": ["Goal", "team", "win"]}
    labels = ["sea", "sport"] * 20
    return [[*rng.choice(words[label], 5).tolist(), "the"] for label in labels], labels


def test_studies_and_models_take_lists(tmp_path):
    lists, labels = many()
    few = {"scores": "chi2", "ks": [2, 4], "classifiers": "multinomial_nb", "cv": 3}
    result = ts.compare(lists, labels, **few)
    assert result.settings["analyzer"]["analyzer"] == "tokens"
    spelled = ts.compare([" ".join(token.replace(" ", "_") for token in one) for one in lists], labels, **few,
                         analyzer=ts.Analyzer(lowercase=False, token_pattern=r"\S+"))  # fmt: skip
    assert result.table == spelled.table
    model = ts.train(lists, labels, **few)
    assert model.predict([["Ship", "Sea"], ["Goal", "team", "win"]]) == ["sea", "sport"]
    model.save(tmp_path / "x.skops")
    loaded = ts.Model.load(tmp_path / "x.skops")
    assert loaded.predict([["crew be"] * 5, ["crew", "be"] * 5 + ["win"] * 5]) == ["sea", "sport"]
    assert np.array_equal(loaded.predict_proba(lists), model.predict_proba(lists))
    page = ts.report(result, tmp_path / "x.html").read_text("utf-8")
    assert "analyzer=&#39;tokens&#39;" in page
    assert "--tokens" in page


def test_the_commands_take_lists(tmp_path, typed):
    lists, labels = many()
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"lemmas": lists, "label": labels}), path)
    code, out, err = typed("rank", path)
    assert code == 0, err
    assert "text from the column 'lemmas'" in err
    assert "crew be" in out
    code, out, err = typed("rank", path, "--ngrams", "2")
    assert code == 2
    assert "give --tokens" in err
    code, out, err = typed("rank", path, "--ngrams", "2-2", "--tokens", "--top", "50")
    assert code == 0, err
    assert "Ship Ship" in out
    assert typed("train", path, "--score", "chi2", "-k", "4", "--classifier", "multinomial_nb", "-o",
                 tmp_path / "x.skops")[0] == 0  # fmt: skip
    code, out, err = typed("predict", tmp_path / "x.skops", path, "--explain")
    assert code == 0, err
    (tmp_path / "text.csv").write_text("text,label\na b,x\nc d,y\n", encoding="utf-8")
    code, _, err = typed("rank", tmp_path / "text.csv", "--tokens")
    assert code == 2
    assert "leave out --tokens" in err
    assert typed("rank", tmp_path / "text.csv", "--tokens", "--characters")[0] == 2

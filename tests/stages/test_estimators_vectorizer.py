import io
import warnings
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
import skops.io
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.naive import vectorizer as sklearn_vectorizer
from oracles.texts import CHAR_OPTIONS, TEXTS, WORD_OPTIONS, columns, documents, tiny_tables
from scipy import sparse
from sklearn import config_context
from sklearn.feature_extraction.text import CountVectorizer

import termsieve as ts
from termsieve.errors import InputError, OptionError
from termsieve.estimators import TermVectorizer

pytestmark = pytest.mark.usefixtures("way")  # in plain Python, and by loops

TRUSTED = ["termsieve.estimators.vectorizer.TermVectorizer", "termsieve.selection.selection.Selection"]
GOOD = ["the film was good", "a good good play", "good film, good night"]
BAD = ["the film was bad", "a bad play", "what a bad, bad night"]
DOCS, SIDES = GOOD + BAD, ["pos"] * 3 + ["neg"] * 3


def same(ours, theirs):
    """The same matrix, to the bit."""
    theirs.sort_indices()
    assert ours.dtype == theirs.dtype
    assert ours.shape == theirs.shape
    assert ours.indices.dtype == theirs.indices.dtype
    for part in ("indptr", "indices", "data"):
        assert np.array_equal(getattr(ours, part), getattr(theirs, part))
    assert ours.has_sorted_indices


def check_against_scikit_learn(texts, other, **options):
    stop_words = options.pop("stop_words", None)
    listed = sorted(stop_words) if isinstance(stop_words, frozenset) else stop_words
    theirs = sklearn_vectorizer(stop_words=listed, **options)
    ours = TermVectorizer(stop_words=listed, threads=2, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # stop words that the pattern would cut
        try:
            expected = theirs.fit_transform(texts)
        except ValueError as error:
            with pytest.raises(ValueError, match=str(error)[:20]):
                ours.fit_transform(texts)
            return
        same(ours.fit_transform(texts), expected)
    assert ours.vocabulary_ == theirs.vocabulary_
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
    same(ours.transform(other), theirs.transform(other))
    same(ours.transform(texts), theirs.transform(texts))


# A drop-in for CountVectorizer


@settings(max_examples=150, deadline=None)
@given(st.lists(TEXTS, max_size=8), st.lists(TEXTS, max_size=4), WORD_OPTIONS | CHAR_OPTIONS)
def test_any_text_with_any_options_gives_what_scikit_learn_gives(texts, other, options):
    with patch("termsieve.counts.rows.CHUNK_CHARACTERS", 16):
        check_against_scikit_learn(texts, other, **options)


@settings(max_examples=40, deadline=None)
@given(documents(), st.sampled_from([(1, 1), (1, 2), (2, 3)]), st.booleans())
def test_tables_that_run_out_of_room_change_nothing(pairs, ngrams, binary):
    texts, _ = columns(pairs)
    with patch("termsieve.counts.rows.CHUNK_CHARACTERS", 16), tiny_tables():
        check_against_scikit_learn(texts, texts[::2], ngram_range=ngrams, binary=binary)


@settings(max_examples=60, deadline=None)
@given(
    documents(min_size=1),
    st.fixed_dictionaries(
        {},
        optional={"min_df": st.sampled_from([1, 2, 0.0, 0.3, 0.5]), "max_df": st.sampled_from([1, 3, 0.5, 0.9, 1.0])},
    ),
)
def test_terms_too_rare_or_too_common(pairs, limits):
    texts, _ = columns(pairs)
    check_against_scikit_learn(texts, texts, **limits)


@pytest.mark.parametrize(("dtype", "most"), [(np.uint8, 255), ("int8", 127)])
def test_more_occurrences_than_the_type_has_room_for_are_refused(dtype, most):
    vectorizer = TermVectorizer(dtype=dtype)
    assert vectorizer.fit_transform(["one " * most]).toarray().tolist() == [[most]]
    for make in (vectorizer.fit_transform, vectorizer.transform):
        with pytest.raises(OptionError, match=f"dtype='u?int8' has no room for {most + 1} occurrences of a term"):
            make(["one " * (most + 1)])


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint8, np.float32, np.float64, bool])
def test_the_type_of_the_matrix(dtype):
    same(TermVectorizer(dtype=dtype).fit_transform(DOCS), CountVectorizer(dtype=dtype).fit_transform(DOCS))


def test_matrices_or_arrays_as_scikit_learn_is_set():
    assert isinstance(TermVectorizer().fit_transform(DOCS), type(CountVectorizer().fit_transform(DOCS)))
    try:
        with config_context(sparse_interface="sparray"):
            assert isinstance(TermVectorizer().fit_transform(DOCS), sparse.csr_array)
    except TypeError:
        pytest.skip("this scikit-learn has matrices only")


def test_the_number_of_threads_changes_nothing():
    texts = [f"w{i % 7} w{i % 11} w{i}" for i in range(200)]
    with patch("termsieve.counts.rows.CHUNK_CHARACTERS", 100):
        expected = TermVectorizer(threads=1).fit_transform(texts)
        for threads in (2, 3, 5):
            one = TermVectorizer(threads=threads)
            same(one.fit_transform(texts), expected)
            same(one.transform(texts), expected)
    with pytest.raises(OptionError, match="threads must be a whole number"):
        TermVectorizer(threads=0).fit(texts)


def test_max_features_keeps_the_most_frequent_and_of_equals_the_first():
    texts = ["b b b c c d a", "b c d e a"]
    assert list(TermVectorizer(token_pattern=r"\w", max_features=2).fit(texts).vocabulary_) == ["b", "c"]
    assert list(TermVectorizer(token_pattern=r"\w", max_features=3).fit(texts).vocabulary_) == ["a", "b", "c"]
    assert list(TermVectorizer(token_pattern=r"\w", max_features=1, binary=True).fit(texts).vocabulary_) == ["a"]
    assert len(TermVectorizer(token_pattern=r"\w", max_features=99).fit(texts).vocabulary_) == 5


@pytest.mark.parametrize(
    "vocabulary", [["good", "the film", "film"], {"film": 1, "good": 0}, {"good", "film"}, ("bad", "zebra")]
)
def test_a_given_vocabulary(vocabulary):
    ours = TermVectorizer(vocabulary=vocabulary, ngram_range=(1, 2))
    theirs = CountVectorizer(vocabulary=vocabulary, ngram_range=(1, 2))
    same(ours.transform(DOCS), theirs.transform(DOCS))  # no fit is needed
    same(ours.fit_transform(DOCS), theirs.fit_transform(DOCS))
    assert ours.vocabulary_ == theirs.vocabulary_
    assert ours.fixed_vocabulary_ is True
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()


@pytest.mark.parametrize(
    ("vocabulary", "message"),
    [
        ({"one": 0, "two": 0}, "repeated indices"),
        ({"one": 0, "two": 2}, "of size 2 doesn't contain index 1"),
        (["a", "b", "a"], "Duplicate term in vocabulary: 'a'"),
        ([], "empty vocabulary passed to fit"),
        ("word", "a dict of columns, or a list of terms"),
        (5, "a dict of columns, or a list of terms, not 5"),
        ([1, 2], "must be text, not 1"),
        ({"one": 0, "two": "z"}, "must be whole numbers"),
        ({"one": 0, "two": 1.5}, "must be whole numbers: 1.5 is none"),
        ({"one": 0, "two": float("inf")}, "must be whole numbers"),
        ([["one"]], r"must be text, not \['one'\]"),
        ({1, "one"}, "must be text, not 1"),
        (["\ud800"], "must be text, not '\\\\ud800'"),
    ],
)
def test_a_vocabulary_that_cannot_be(vocabulary, message):
    with pytest.raises(ValueError, match=message):
        TermVectorizer(vocabulary=vocabulary).fit(DOCS)


def test_functions_of_ones_own():
    cases = [
        {"tokenizer": str.split, "token_pattern": None},
        {"preprocessor": lambda text: text.replace("o", "0")},
        {"analyzer": str.split},
        {"strip_accents": lambda text: text.replace("a", "e")},
        {"tokenizer": str.split, "token_pattern": None, "ngram_range": (1, 2), "stop_words": ["the"]},
    ]
    for options in cases:
        ours, theirs = TermVectorizer(**options), CountVectorizer(**options)
        same(ours.fit_transform(DOCS), theirs.fit_transform(DOCS))
        assert ours.vocabulary_ == theirs.vocabulary_
        same(ours.transform(BAD), theirs.transform(BAD))
        assert ours.build_analyzer()(DOCS[0]) == theirs.build_analyzer()(DOCS[0])


def test_documents_that_are_cut_already():
    ours = TermVectorizer(analyzer=lambda words: words)
    assert ours.fit_transform([["a b", "c"], ["c", "c"]]).toarray().tolist() == [[1, 1], [0, 2]]
    assert list(ours.vocabulary_) == ["a b", "c"]


def test_errors_of_ones_own_functions_pass_through():
    def broken(text):
        raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        TermVectorizer(analyzer=broken).fit(DOCS)


def test_options_that_need_our_analyzer_do_not_go_with_functions():
    with pytest.raises(OptionError, match=r"min_length=3 does not go with"):
        TermVectorizer(tokenizer=str.split, token_pattern=None, min_length=3).fit(DOCS)


def test_a_tokenizer_by_its_import_path_is_kept_without_pickle():
    ours = TermVectorizer(tokenizer="builtins:str.split", token_pattern=None).fit(DOCS)
    assert "good," not in TermVectorizer().fit(DOCS).vocabulary_
    assert "bad," in ours.vocabulary_
    assert skops.io.loads(skops.io.dumps(ours), trusted=TRUSTED).vocabulary_ == ours.vocabulary_


def test_own_options_are_those_of_the_analyzer():
    ours = TermVectorizer(stop_words="smart", stemmer="english", min_length=4)
    analyzer = ts.Analyzer(stop_words="smart", stemmer="english", min_length=4)
    texts = ["Running dogs were running; the cats sat.", "He runs and a cat sits"]
    X = ours.fit_transform(texts)
    assert sorted(ours.vocabulary_) == sorted({term for text in texts for term in analyzer(text)})
    same(ours.transform(texts), X)
    assert ours.build_analyzer()(texts[0]) == analyzer(texts[0])


def test_bytes_files_and_file_names(tmp_path):
    paths = []
    for i, text in enumerate(["café good", "good film"]):
        paths.append(tmp_path / f"{i}.txt")
        paths[-1].write_bytes(text.encode("latin-1"))
    expected = CountVectorizer().fit_transform(["café good", "good film"])
    names = [str(path) for path in paths]
    same(TermVectorizer(input="filename", encoding="latin-1").fit_transform(names), expected)
    same(TermVectorizer(encoding="latin-1").fit_transform([path.read_bytes() for path in paths]), expected)
    files = [io.BytesIO(path.read_bytes()) for path in paths]
    same(TermVectorizer(input="file", encoding="latin-1").fit_transform(files), expected)
    with pytest.raises(UnicodeDecodeError):
        TermVectorizer(input="filename").fit(names)
    assert "caf" in TermVectorizer(input="filename", decode_error="ignore").fit(names).vocabulary_
    with pytest.raises(OptionError, match="input must be"):
        TermVectorizer(input="path").fit(names)


@pytest.mark.parametrize("kind", [tuple, iter, np.array, pd.Series, lambda docs: (doc for doc in docs)])
def test_documents_come_in_many_ways(kind):
    same(TermVectorizer().fit_transform(kind(DOCS)), CountVectorizer().fit_transform(DOCS))


def test_the_terms_of_rows():
    ours, theirs = TermVectorizer(), CountVectorizer()
    X = ours.fit_transform(DOCS)
    theirs.fit(DOCS)
    for data in (X, X.toarray(), X.tocsc()):
        for mine, other in zip(ours.inverse_transform(data), theirs.inverse_transform(X), strict=True):
            assert mine.tolist() == other.tolist()
    with pytest.raises(InputError, match="3 columns"):
        ours.inverse_transform(np.ones((2, 3)))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"tokenizer": str.split, "token_pattern": r"\w+"}, "'token_pattern' will not be used since 'tokenizer'"),
        ({"analyzer": str.split, "preprocessor": str.lower}, "'preprocessor' will not be used since 'analyzer' is"),
        ({"analyzer": str.split, "ngram_range": (1, 2)}, "'ngram_range' will not be used since 'analyzer' is"),
        ({"analyzer": "char", "stop_words": ["a"]}, "'stop_words' will not be used since 'analyzer' != 'word'"),
        ({"analyzer": "char", "tokenizer": str.split}, "'tokenizer' will not be used since 'analyzer' != 'word'"),
        ({"analyzer": "char", "token_pattern": r"\w"}, "'token_pattern' will not be used since 'analyzer' != 'word'"),
        ({"vocabulary": ["Good", "bad"]}, "Upper case characters found in vocabulary"),
        ({"stop_words": ["and", "you've"]}, r"may be inconsistent.*\['ve', 'you'\]"),
    ],
)
def test_what_is_not_used_or_not_consistent_is_said(options, said):
    with pytest.warns(UserWarning, match=said):
        TermVectorizer(**options).fit(DOCS)


@pytest.mark.parametrize(
    ("texts", "options", "message"),
    [
        ("a single text", {}, "Iterable over raw text documents expected, string object received"),
        (5, {}, "a list of texts, not int"),
        ([], {}, "empty vocabulary"),
        (["the", "a"], {"stop_words": "english"}, "empty vocabulary; perhaps the documents only contain stop words"),
        (["one two", None], {}, "A document must be text, not NoneType"),
        (["one two", np.nan], {}, "np.nan is an invalid document"),
        (["one two", 3], {}, "must be text, not int: '3'"),
        (["one \ud800 two"], {}, "lone surrogate"),
        (DOCS, {"max_df": 1, "min_df": 3}, "max_df corresponds to < documents than min_df"),
        (DOCS, {"min_df": 6}, "After pruning, no terms remain"),
        (DOCS, {"min_df": -1}, "min_df must be"),
        (DOCS, {"max_df": 1.5}, "max_df=1.5 is more than all"),
        (DOCS, {"min_df": "2"}, "min_df must be a number of documents, or a share of them such as 0.5, not '2'"),
        (DOCS, {"max_df": None}, "max_df must be a number of documents"),
        *(
            (DOCS, {"max_features": most}, "max_features must be a number of terms")
            for most in (-1, 0, 1.5, "all", True)
        ),
        (DOCS, {"dtype": "number"}, "dtype must be a type of numbers, such as 'float32', not 'number'"),
        (DOCS, {"dtype": object}, "dtype must be a type of numbers"),
        (DOCS, {"dtype": "float16"}, "not 'float16'; and sparse matrices must have it"),
        (DOCS, {"dtype": ">f4"}, "not '>f4'; and sparse matrices must have it"),
        (DOCS, {"tokenizer": len}, "The tokenizer must return a list of strings for a text; it returned"),
        (DOCS, {"analyzer": lambda text: [len(text)]}, "The analyzer must return a list of strings for a text"),
        (DOCS, {"input": "file"}, "With input='file', a document must be an open file, not str: "),
        (DOCS, {"ngram_range": (2, 1)}, "ngram_range"),
        (DOCS, {"ngram_range": 2}, "ngram_range must be two whole numbers"),
        (DOCS, {"stop_words": "klingon"}, "stop_words must be"),
        (DOCS, {"token_pattern": r"(\w)(\w)"}, "2 groups"),
        (DOCS, {"analyzer": "wrod"}, "Did you mean 'word'"),
        (DOCS, {"weighting": "tfdif"}, "Did you mean 'tfidf'"),
        (DOCS, {"weighting": "tf.bms"}, "Did you mean 'bns'"),
        (DOCS, {"k": 10}, "requires y to be passed"),
        (DOCS, {"rule": "energy(0.5)"}, "requires y to be passed"),
        (DOCS, {"score_func": "gu", "k": 2}, "requires y to be passed"),
        (DOCS, {"weighting": "tf.gu"}, "requires y to be passed"),
    ],
)
def test_wrong_input_is_explained(texts, options, message):
    with pytest.raises(ValueError, match=message):
        TermVectorizer(**options).fit(texts)

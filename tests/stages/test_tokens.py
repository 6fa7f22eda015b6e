"""Analyzer: options, errors, fingerprint, and the same lists of terms as scikit-learn's."""

import copy
import dataclasses
import importlib
import itertools
import pickle
import sys
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import naive
from oracles.texts import CHAR_OPTIONS, PIECES, TEXTS, TOKEN_PATTERNS, WORD_OPTIONS

from termsieve import Analyzer
from termsieve.errors import MissingExtraError, OptionError, TermsieveError
from termsieve.tokens import analyzer as analyzer_module
from termsieve.tokens import resources
from termsieve.tokens.patterns import is_safe_pattern


def halves(text):
    return [text[: len(text) // 2], text[len(text) // 2 :]]


def with_number(text):
    return [text, len(text)]


# Terms


@given(TEXTS, WORD_OPTIONS)
def test_words_are_those_of_scikit_learn(text, options):
    expected = naive.vectorizer(**options).build_analyzer()(text)
    assert Analyzer(**options)(text) == expected == naive.terms(text, **options)


@given(TEXTS, CHAR_OPTIONS)
def test_characters_are_those_of_scikit_learn(text, options):
    assert Analyzer(**options)(text) == naive.vectorizer(**options).build_analyzer()(text)


@pytest.mark.parametrize(
    ("options", "text", "expected"),
    [
        ({}, "The cat, a hat", ["the", "cat", "hat"]),
        ({"lowercase": False}, "The CAT", ["The", "CAT"]),
        ({"ngram_range": (1, 2)}, "ab cd ef", ["ab", "cd", "ef", "ab cd", "cd ef"]),
        ({"ngram_range": [2, 2]}, "ab cd ef", ["ab cd", "cd ef"]),
        ({"ngram_range": (2, 3)}, "ab", []),
        ({"min_length": 3}, "ab abc éé ééé", ["abc", "ééé"]),
        ({"stop_words": ["cat"]}, "the Cat sat", ["the", "sat"]),
        ({"stop_words": "english"}, "the cat is a cat", ["cat", "cat"]),
        ({"stop_words": "smart"}, "the cat is okay with it", ["cat"]),
        ({"stop_words": ["bb"], "ngram_range": (2, 2)}, "aa bb cc", ["aa cc"]),
        ({"strip_accents": "unicode"}, "Café ﬁn Å", ["cafe", "fin"]),
        ({"strip_accents": "ascii"}, "naïve Øre", ["naive", "re"]),
        ({"stemmer": "english"}, "running runners ran", ["run", "runner", "ran"]),
        ({"stemmer": "english", "stop_words": ["run"]}, "running run", ["run"]),
        ({"segmenter": "jieba"}, "我来到北京清华大学", ["来到", "北京", "清华大学"]),
        ({"token_pattern": r"#(\w+)"}, "#one two #three", ["one", "three"]),
        ({"analyzer": "char", "ngram_range": (2, 2)}, "aB  c", ["ab", "b ", " c"]),
        ({"analyzer": "char_wb", "ngram_range": (3, 3)}, "ab c", [" ab", "ab ", " c "]),
        ({"tokenizer": str.split}, "a-b C", ["a-b", "c"]),
        ({"tokenizer": "builtins:str.split"}, "a-b C", ["a-b", "c"]),
        ({"tokenizer": halves, "lowercase": False}, "ABCD", ["AB", "CD"]),
        ({}, "", []),
        ({}, "ΟΔΥΣΣΕΥΣ", ["οδυσσευς"]),
        ({}, "İSTANBUL", ["stanbul"]),
        ({}, "\u212aelvin", ["kelvin"]),
    ],
)
def test_examples(options, text, expected):
    assert Analyzer(**options)(text) == expected


def test_the_smart_list_has_the_words_of_smart():
    words = Analyzer(stop_words="smart").stop_set
    assert {"a", "able", "a's", "zero", "wonder", "okay", "c'mon"} <= words
    assert 565 <= len(words) <= 571


# A frozen record


def test_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Analyzer().lowercase = False


ALL_OPTIONS = st.one_of(
    CHAR_OPTIONS,
    st.builds(
        lambda one, other: one | other,
        WORD_OPTIONS,
        st.fixed_dictionaries(
            {},
            optional={
                "min_length": st.integers(1, 9),
                "stemmer": st.sampled_from(["english", "german", None]),
                "segmenter": st.sampled_from(["jieba", None]),
                "tokenizer": st.sampled_from(["builtins:str.split", None]),
                "stop_words": st.sampled_from([None, "smart", "english"]) | st.frozensets(st.sampled_from(PIECES)),
            },
        ),
    ),
)


@given(ALL_OPTIONS)
def test_prints_back_as_the_code_that_makes_it(options):
    analyzer = Analyzer(**options)
    again = eval(repr(analyzer), {"Analyzer": Analyzer})
    assert again == analyzer
    assert hash(again) == hash(analyzer)
    assert again.fingerprint == analyzer.fingerprint


@pytest.mark.parametrize("tokenizer", [len, ord, with_number])
def test_a_tokenizer_must_return_strings(tokenizer):
    with pytest.raises(OptionError, match="must return a list of strings for a text; it returned"):
        Analyzer(tokenizer=tokenizer)("a")


@pytest.mark.parametrize("tokenizer", [str.split, halves])
def test_a_tokenizer_prints_back_too(tokenizer):
    analyzer = Analyzer(tokenizer=tokenizer)
    assert eval(repr(analyzer), {"Analyzer": Analyzer}) == analyzer


@pytest.mark.parametrize("text", ["Analyzer()", "Analyzer(lowercase=False)", "Analyzer(stop_words={'a', 'b'})"])
def test_prints_only_what_is_not_the_default(text):
    assert repr(eval(text, {"Analyzer": Analyzer})) == text


@given(ALL_OPTIONS)
def test_settings_are_plain_data_that_make_the_analyzer_again(options):
    analyzer = Analyzer(**options)
    again = Analyzer.from_settings(analyzer.settings)
    assert again.settings == analyzer.settings
    assert again.fingerprint == analyzer.fingerprint


@given(ALL_OPTIONS)
def test_survives_pickling(options):
    analyzer = Analyzer(**options)
    analyzer("warm the caches")
    again = pickle.loads(pickle.dumps(analyzer))
    assert again == analyzer
    assert again.fingerprint == analyzer.fingerprint


# The fingerprint

CHANGES = [
    {},
    {"lowercase": False},
    {"ngram_range": (1, 2)},
    {"ngram_range": (2, 2)},
    {"analyzer": "char"},
    {"analyzer": "char_wb"},
    {"strip_accents": "unicode"},
    {"strip_accents": "ascii"},
    {"stop_words": "english"},
    {"stop_words": "smart"},
    {"stop_words": ["a"]},
    {"stop_words": ["a", "b"]},
    {"min_length": 2},
    {"min_length": 3},
    {"stemmer": "english"},
    {"stemmer": "german"},
    {"segmenter": "jieba"},
    {"tokenizer": str.split},
    {"tokenizer": halves},
    *({"token_pattern": pattern} for pattern in TOKEN_PATTERNS[1:]),
]


def test_every_change_of_an_option_changes_the_fingerprint():
    prints = [Analyzer(**options).fingerprint for options in CHANGES]
    assert len(set(prints)) == len(CHANGES)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({}, {"lowercase": True}),
        ({"stop_words": ["a", "b", "a"]}, {"stop_words": ("b", "a")}),
        ({"stop_words": None}, {"stop_words": []}),
        ({"stop_words": "english"}, {"stop_words": naive.ENGLISH_STOP_WORDS}),
        ({"ngram_range": [1, 2]}, {"ngram_range": (1, 2)}),
        ({"tokenizer": str.split}, {"tokenizer": "builtins:str.split"}),
    ],
)
def test_what_changes_no_term_does_not_change_the_fingerprint(one, other):
    assert Analyzer(**one).fingerprint == Analyzer(**other).fingerprint


def test_a_newer_unicode_changes_the_fingerprint(monkeypatch):
    before = Analyzer().fingerprint
    monkeypatch.setattr(unicodedata, "unidata_version", "99.0.0")
    assert Analyzer().fingerprint != before


@pytest.mark.parametrize(
    ("options", "package"), [({"stemmer": "english"}, "Stemmer"), ({"segmenter": "jieba"}, "jieba")]
)
def test_a_newer_package_changes_the_fingerprint(options, package, monkeypatch):
    before, plain = Analyzer(**options).fingerprint, Analyzer().fingerprint
    module = importlib.import_module(package)
    monkeypatch.setattr(module, *(("version", lambda: "99") if package == "Stemmer" else ("__version__", "99")))
    assert Analyzer(**options).fingerprint != before
    assert Analyzer().fingerprint == plain


def test_fingerprints_of_files_written_today_stay_valid():
    assert analyzer_module.compute_fingerprint({"b": [1, "é"], "a": None}) == analyzer_module.compute_fingerprint(
        {"a": None, "b": [1, "é"]}
    )
    assert analyzer_module.compute_fingerprint({"a": None, "b": [1, "é"]}) == "a44633ba036df252"


@pytest.mark.parametrize(("one", "other"), list(itertools.pairwise(CHANGES[1:17:3])))
def test_a_difference_names_the_options_that_differ(one, other):
    said = analyzer_module.settings_difference(Analyzer(**one).settings, Analyzer(**other).settings)
    for name in {*one, *other}:
        assert name in said
    for name in {"lowercase", "ngram_range", "min_length"} - {*one, *other}:
        assert name not in said


# Errors


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ({"lowercase": 1}, ["lowercase", "True or False", "1"]),
        ({"lowercase": None}, ["lowercase", "None"]),
        ({"analyzer": "chars"}, ["analyzer", "'chars'", "Did you mean 'char'"]),
        ({"analyzer": None}, ["analyzer", "'word'", "None"]),
        ({"analyzer": np.array(["word", "char"])}, ["analyzer", "'word'", "array"]),
        ({"strip_accents": "asci"}, ["strip_accents", "'asci'", "Did you mean 'ascii'"]),
        ({"segmenter": "jeiba"}, ["segmenter", "Did you mean 'jieba'"]),
        ({"token_pattern": "(a"}, ["token_pattern", "'(a'", "not a regular expression"]),
        ({"token_pattern": None}, ["token_pattern", "None"]),
        ({"token_pattern": b"a+"}, ["token_pattern", "b'a+'"]),
        ({"token_pattern": "(a)(b)"}, ["token_pattern", "2 groups", "(?:...)"]),
        ({"ngram_range": (2, 1)}, ["ngram_range", "(2, 1)"]),
        ({"ngram_range": (0, 1)}, ["ngram_range", "(0, 1)"]),
        ({"ngram_range": 2}, ["ngram_range", "2"]),
        ({"ngram_range": (1, 2, 3)}, ["ngram_range", "(1, 2, 3)"]),
        ({"ngram_range": (1.0, 2.0)}, ["ngram_range", "(1.0, 2.0)"]),
        ({"ngram_range": (True, 2)}, ["ngram_range", "True"]),
        ({"min_length": 0}, ["min_length", "0"]),
        ({"min_length": 2.0}, ["min_length", "2.0"]),
        ({"min_length": True}, ["min_length", "True"]),
        ({"stop_words": "englsh"}, ["stop_words", "'englsh'", "'english'"]),
        ({"stop_words": 7}, ["stop_words", "7"]),
        ({"stop_words": [1, 2]}, ["stop_words", "[1, 2]"]),
        ({"stemmer": ["english"]}, ["stemmer", "name of a language", "['english']"]),
        ({"stemmer": "englisch"}, ["stemmer", "'englisch'", "Did you mean 'english'", "german"]),
        ({"tokenizer": "split"}, ["tokenizer", "'split'", "package.module:function"]),
        ({"tokenizer": lambda text: [text]}, ["tokenizer", "lambda", "def"]),
        ({"tokenizer": 7}, ["tokenizer", "7"]),
        ({"analyzer": "char", "stop_words": "english"}, ["stop_words", "'english'", "analyzer='char'"]),
        ({"analyzer": "char_wb", "min_length": 2}, ["min_length", "analyzer='char_wb'"]),
        ({"analyzer": "char", "stemmer": "english"}, ["stemmer", "analyzer='char'"]),
        ({"analyzer": "char", "segmenter": "jieba"}, ["segmenter", "analyzer='char'"]),
        ({"analyzer": "char", "tokenizer": str.split}, ["tokenizer", "analyzer='char'"]),
    ],
)
def test_a_wrong_option_is_named_with_what_was_given(options, parts):
    with pytest.raises(OptionError) as caught:
        Analyzer(**options)
    for part in ["Analyzer", *parts]:
        assert part in str(caught.value)


@pytest.mark.parametrize("path", ["no_such_module:f", "builtins:no_such_function"])
def test_a_tokenizer_that_cannot_be_imported_is_named(path):
    with pytest.raises(OptionError, match=path):
        Analyzer(tokenizer=path)("text")


@pytest.mark.parametrize(
    "collection", [["a", "b"], ("a", "b"), {"a", "b"}, {"a": 1, "b": 2}, dict.fromkeys("ab").keys()]
)
def test_stop_words_may_be_any_collection(collection):
    assert Analyzer(stop_words=collection).stop_set == {"a", "b"}


def test_stop_words_may_be_an_array():
    import numpy as np

    assert Analyzer(stop_words=np.array(["a", "b"])).stop_set == {"a", "b"}


@pytest.fixture
def without_extras(monkeypatch):
    real = importlib.import_module

    def import_module(name, package=None):
        if name in ("Stemmer", "jieba"):
            raise ImportError(name)
        return real(name, package)

    caches = (resources.load_stemmer, resources.load_jieba)
    for cache in caches:
        cache.cache_clear()
    monkeypatch.setattr(importlib, "import_module", import_module)
    yield
    for cache in caches:
        cache.cache_clear()


@pytest.mark.parametrize(("options", "extra"), [({"stemmer": "english"}, "stem"), ({"segmenter": "jieba"}, "zh")])
def test_a_missing_extra_says_how_to_install_it(options, extra, without_extras):
    with pytest.raises(MissingExtraError, match=rf"pip install 'termsieve\[{extra}\]'") as caught:
        Analyzer(**options)("text")
    assert isinstance(caught.value, ImportError)
    assert isinstance(caught.value, TermsieveError)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


# Settings from a file


def settings(**changed):
    return {**Analyzer().settings, **changed}


def test_what_settings_name_is_not_imported_before_the_user_names_it(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "settingstrap.py").write_text("def run(text):\n    return text.split('-')\n")
    found = Analyzer.from_settings(settings(tokenizer="settingstrap:run"))
    assert repr(found) == "Analyzer(tokenizer='settingstrap:run')"
    copies = [found, dataclasses.replace(found, min_length=2), pickle.loads(pickle.dumps(found)), copy.copy(found)]
    for one in [*copies, Analyzer.from_settings(found.settings)]:
        with pytest.raises(
            OptionError, match=r"is named by a file.*termsieve\.Analyzer\(tokenizer='settingstrap:run'\)"
        ):
            one("aa-bb")
    assert "settingstrap" not in sys.modules
    assert Analyzer(tokenizer="settingstrap:run")("aa-bb") == ["aa", "bb"]
    assert found("aa-bb") == ["aa", "bb"]


def test_patterns_of_settings_that_may_search_without_end_are_not_used_before_the_user_gives_them():
    pattern = r"(?:\w+\s?)+;"
    found = Analyzer.from_settings(settings(token_pattern=pattern))
    for one in (found, dataclasses.replace(found, lowercase=False)):
        with pytest.raises(OptionError, match="is given by a file"):
            one("aa bb")
    assert Analyzer(token_pattern=pattern)("aa bb;") == ["aa bb;"]
    assert Analyzer.from_settings(settings(token_pattern=pattern))("aa bb;") == ["aa bb;"]
    assert Analyzer.from_settings(settings(token_pattern="[a-y]{2,}"))("ab z yy") == ["ab", "yy"]


@pytest.mark.parametrize(
    "pattern", ["[" + r"\w" * 10_000 + "]+", r"\w{9999999999,}", r"\w{" + "9" * 5000 + ",}", "(?i)[a-z]+"]
)
def test_only_short_patterns_of_runs_are_safe(pattern):
    assert not is_safe_pattern(pattern)


@pytest.mark.parametrize(
    "changed",
    [
        {"tokenizer": 7}, {"tokenizer": ["os:system"]}, {"tokenizer": "os"}, {"tokenizer": "os:system; x"},
        {"stop_words": "english"}, {"stop_words": [1]}, {"stop_words": None}, {"stemmer": ["english"]}, {"stemmer": {}},
        {"token_pattern": None}, {"token_pattern": "[z-a]+"}, {"ngram_range": 7}, {"ngram_range": [1, "2"]},
        {"lowercase": "no"}, {"min_length": -1}, {"segmenter": "os"}, {"analyzer": "os"}, {"analyzer": []},
    ],
)  # fmt: skip
def test_settings_of_other_types_are_told(changed):
    with pytest.raises(OptionError):
        Analyzer.from_settings(settings(**changed))
    for other in (None, [], {}, "settings", {"lowercase": True}):
        with pytest.raises(OptionError, match="not the settings of an Analyzer"):
            Analyzer.from_settings(other)


@pytest.mark.parametrize("pattern", ["a{99999999999}", r"\w{99999999999,}"])
def test_patterns_that_are_too_large_are_told(pattern):
    with pytest.raises(OptionError, match="is not a regular expression"):
        Analyzer(token_pattern=pattern)

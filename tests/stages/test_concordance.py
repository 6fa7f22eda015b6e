"""The places of a term, and the words near it."""

import math
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import termsieve as ts
from termsieve.concordance import collocates, concordance
from termsieve.concordance.lines import iterate_words
from termsieve.errors import OptionError

TEXTS = ["Call me, or CALL now.", "no calls today", "please call"]


def test_each_place_is_found_with_its_surroundings():
    lines = list(concordance(TEXTS, "call", [["x"], ["x"], ["y"]]))
    assert [(line.document, line.labels, line.match) for line in lines] == [
        (1, ("x",), "Call"), (1, ("x",), "CALL"), (3, ("y",), "call"),
    ]  # fmt: skip
    assert lines[0].before + lines[0].match + lines[0].after == TEXTS[0]


CHARACTERS = [
    "a",
    "b",
    "A",
    "é",
    "e\u0301",
    "ß",
    "ẞ",
    "İ",
    "Σ",
    "ς",
    "ﬁ",
    "ŉ",
    "\U0001d54f",
    "\u00ad",
    "字",
    "the",
    "The",
    " ",
    " ",
    "\n",
    ".",
]
ANALYZERS = {
    "usual": {},
    "as written": {"lowercase": False},
    "no accents": {"strip_accents": "unicode"},
    "ASCII": {"strip_accents": "ascii", "token_pattern": r"\S+"},
    "stop words": {"stop_words": ["the"], "min_length": 3},
    "a group": {"token_pattern": r"(\w)\w"},
    "a group or none": {"token_pattern": r"(?:(ab)|a)b?"},
    "not a run": {"token_pattern": r"(?<=a)b"},
    "stems": {"stemmer": "english"},
    "own words": {"tokenizer": str.split},
    "pairs": {"ngram_range": (1, 2)},
}


@settings(max_examples=20, deadline=None)
@pytest.mark.parametrize("name", ANALYZERS)
@given(st.lists(st.lists(st.sampled_from(CHARACTERS), max_size=12).map("".join), min_size=1, max_size=3))
def test_there_are_as_many_places_as_are_counted_of_every_term(name, texts):
    if "stemmer" in ANALYZERS[name]:
        pytest.importorskip("Stemmer")
    analyzer = ts.Analyzer(**ANALYZERS[name])
    counts = ts.count(texts, ["x"] * len(texts), analyzer=analyzer)
    for term in filter(None, counts.terms):
        lines = list(concordance(texts, term, analyzer=analyzer, width=1000))
        assert len(lines) == counts[term].tf, term
        for line in lines:
            assert line.before + line.match + line.after == " ".join(re.split(r"\s+", texts[line.document - 1]))


def test_a_stem_is_found_that_the_stemmer_would_cut_again():
    pytest.importorskip("Stemmer")
    texts, analyzer = ["The deceased sailed here", "a deceased sailed there"], ts.Analyzer(stemmer="english")
    for term in ("deceas", "deceased"):
        assert [line.match for line in concordance(texts, term, analyzer=analyzer)] == ["deceased", "deceased"]
        assert [(one.term, one.near) for one in collocates(texts, term, analyzer=analyzer)] == [("sail", 2)]


def test_accents_that_stand_apart_are_of_the_word():
    text = "un re\u0301sume\u0301, cafe\u0301"
    (line,) = concordance([text], "resume", analyzer=ts.Analyzer(strip_accents="unicode"))
    assert (line.before, line.match, line.after) == ("un ", "re\u0301sume\u0301", ", cafe\u0301")


def test_words_of_a_tokenizer_are_in_their_place_behind_letters_that_are_two_in_lower_case():
    (line,) = concordance(["İß ẞß call me"], "call", analyzer=ts.Analyzer(tokenizer=str.split))
    assert (line.before, line.match, line.after) == ("İß ẞß ", "call", " me")


def test_characters_are_found_as_they_are_counted():
    analyzer = ts.Analyzer(analyzer="char", ngram_range=(2, 2))
    for term in ("ca", "CA"):
        assert [line.match for line in concordance(TEXTS, term, analyzer=analyzer)] == ["Ca", "CA", "ca", "ca"]
    with pytest.raises(OptionError, match="makes no word of ''"):
        list(concordance(TEXTS, "", analyzer=analyzer))


def test_places_are_those_of_the_text_without_its_markup():
    pytest.importorskip("selectolax")
    texts = ["<p class='note'>Caf&eacute; bar</p>", "Subject: a note\nFrom: me\n\nThe café"]
    analyzer = ts.Analyzer(strip=["html", "mail-headers"])
    counts = ts.count(texts, ["x", "y"], analyzer=analyzer)
    for term in ("café", "bar", "note", "subject", "class"):
        expected = counts[term].tf if term in counts else 0
        assert len(list(concordance(texts, term, analyzer=analyzer))) == expected, term
    assert [line.match for line in concordance(texts, "café", analyzer=analyzer)] == ["Café", "café"]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text("aAbé \n.", max_size=30), min_size=1, max_size=8), st.sampled_from(["aa", "ab", "éa"]))
def test_there_are_as_many_places_as_are_counted(texts, term):
    counts = ts.count(texts, ["x"] * len(texts))
    expected = counts[term].tf if term in counts else 0
    assert len(list(concordance(texts, term))) == expected


def test_words_are_looked_for_as_the_analyzer_makes_them():
    pytest.importorskip("Stemmer")
    found = concordance(["Two ships and a ship"], "ship", analyzer=ts.Analyzer(stemmer="english"))
    assert [line.match for line in found] == ["ships", "ship"]


def test_words_are_cut_from_the_text_in_lower_case_as_terms_are():
    letters = ts.Analyzer(token_pattern="[a-z]+")
    assert [line.match for line in concordance(["Hello, HELLO, hello"], "hello", analyzer=letters)] == [
        "Hello",
        "HELLO",
        "hello",
    ]


@pytest.mark.parametrize("analyzer", [ts.Analyzer(), ts.Analyzer(analyzer="char")])
def test_a_letter_that_becomes_two_in_lower_case_moves_no_place(analyzer):
    (line,) = concordance(["İİ Call now"], "call", analyzer=analyzer)
    assert line[2:] == ("İİ ", "Call", " now")


def test_a_pattern_that_only_a_file_names_is_not_searched():
    settings = {**ts.Analyzer().settings, "token_pattern": "(?:q+)+z"}
    with pytest.raises(OptionError, match="is given by a file"):
        list(concordance(["q" * 40], "qz", analyzer=ts.Analyzer.from_settings(settings)))


def test_several_words_stand_one_after_the_other():
    found = list(concordance(["the White  House, white paper house"], "white house"))
    assert [line.match for line in found] == ["White House"]


def test_lists_of_tokens_are_searched():
    lines = list(concordance([["New York", "is", "far"], ["is"]], "is"))
    assert [(line.before, line.match, line.after) for line in lines] == [("New York ", "is", " far"), ("", "is", "")]


def test_lines_are_sorted_by_their_neighbours():
    texts = ["zebra call apple", "apple call zebra"]
    assert [line.after.strip() for line in concordance(texts, "call", sort="right")] == ["apple", "zebra"]
    assert [line.before.strip() for line in concordance(texts, "call", sort="left")] == ["apple", "zebra"]
    ends = ["last call", *texts]
    assert [line.after.strip() for line in concordance(ends, "call", sort="right")] == ["apple", "zebra", ""]


def test_of_the_words_to_the_left_the_nearest_decides():
    texts = ["ant zebra call", "zebra ant call"]
    assert [line.before for line in concordance(texts, "call", sort="left")] == ["zebra ant ", "ant zebra "]


def test_one_character_on_each_side_is_enough():
    assert [line[2:] for line in concordance(["a call now"], "call", width=1)] == [(" ", "call", " ")]


def test_documents_without_the_letters_of_the_term_are_not_cut_into_words(monkeypatch):
    cut = []

    def look(text, analyzer):
        cut.append(text)
        return iterate_words(text, analyzer)

    monkeypatch.setattr("termsieve.concordance.lines.iterate_words", look)
    assert len(list(concordance([*TEXTS, "nothing here"], "call"))) == 3
    assert cut == ["call", *TEXTS]  # "calls" may have it


def test_only_one_class_where_that_is_asked():
    assert [line.document for line in concordance(TEXTS, "call", [["x"], ["x"], ["y"]], label="y")] == [3]


@pytest.mark.parametrize("options", [{"sort": "up"}, {"width": 0}, {"width": "9"}])
def test_options_that_cannot_be_are_refused(options):
    with pytest.raises(OptionError):
        concordance(TEXTS, "call", **options)


@pytest.mark.parametrize("options", [{"n": -1}, {"window": 0}, {"window": "5"}, {"min_near": 0}])
def test_numbers_of_collocates_that_cannot_be_are_refused(options):
    with pytest.raises(OptionError, match=rf"{next(iter(options))} must be a whole number"):
        collocates(TEXTS, "call", **options)


def test_a_term_that_is_no_text_is_refused():
    for look in (concordance, collocates):
        with pytest.raises(OptionError, match="must be a string, not None"):
            list(look(TEXTS, None))


def test_a_term_that_no_analyzer_makes_is_refused():
    with pytest.raises(OptionError, match="makes no word of"):
        list(concordance(TEXTS, "?"))


def test_log_dice_is_that_of_the_formula():
    texts = ["free call now", "call free", "free lunch", "call me"]
    found = {one.term: one for one in collocates(texts, "call", min_near=1) if not one.label}
    assert found["free"].near == 2
    assert found["free"].log_dice == pytest.approx(14 + math.log2(2 * 2 / (3 + 3)))
    assert "lunch" not in found


def test_the_window_counts_words():
    near = collocates(["call aa bb cc"], "call", window=2, min_near=1)
    assert {one.term for one in near} == {"aa", "bb"}
    with pytest.raises(OptionError, match="of one word"):
        collocates(TEXTS, "call me")

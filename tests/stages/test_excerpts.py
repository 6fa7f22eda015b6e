"""Excerpts: from the right documents, around the right place, few and short."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import termsieve as ts
from termsieve.study.corpus import read_corpus
from termsieve.study.excerpts import (
    CONTEXT_LENGTH,
    EXCERPTS_PER_TERM,
    MAX_TERMS,
    excerpts_from_lists,
    excerpts_to_lists,
    extract_from_corpus,
    extract_from_documents,
    locate_term,
    pick_top_terms,
)

SEA, SPORT = (
    "The ships sail.\n\nA crew of ten sang\taloud; the Crew slept.",
    "A match, and a second match was won by the crew.",
)
TEXTS, LABELS = [SEA, "sail away", SPORT, "the match is over"], ["sea", "sea", "sport", "sport"]


def test_they_are_of_the_class_that_the_term_speaks_for_and_show_it_in_its_place():
    scores = ts.score(ts.count(TEXTS, LABELS), "gu")
    found = extract_from_documents(ts.read({"text": TEXTS, "label": LABELS}), [scores])
    assert [(one.label, one.match) for one in found["sail"]] == [("sea", "sail"), ("sea", "sail")]
    assert found["sail"][0].before == "The ships "
    assert found["sail"][0].after == ". A crew of ten sang aloud; the Crew slept."
    assert all(one.label == "sport" for one in found["match"])


@pytest.mark.parametrize("analyzer", [ts.Analyzer(), ts.Analyzer(stemmer="english"), ts.Analyzer(ngram_range=(1, 2))])
def test_a_corpus_in_memory_and_documents_give_the_same(analyzer):
    corpus = read_corpus(TEXTS, LABELS, analyzer, [], 1)
    scores = [ts.score(corpus.named_counts, name) for name in ("gu", "chi2")]
    documents = ts.read({"text": TEXTS, "label": LABELS})
    assert extract_from_corpus(corpus, scores) == extract_from_documents(documents, scores)
    assert corpus.named_counts == ts.count(TEXTS, LABELS, analyzer=analyzer)


def test_texts_without_labels_serve_all_classes():
    scores = ts.score(ts.count(TEXTS, LABELS), "gu")
    assert set(extract_from_documents(TEXTS, [scores])) >= {"sail", "match", "over"}


def test_counts_of_a_matrix_have_none():
    counts = ts.Counts.from_matrix([[1, 0], [0, 1]], ["a", "b"])
    assert extract_from_documents(TEXTS, [ts.score(counts, "gu")]) == {}


def test_they_are_capped():
    texts = [f"word{i} word{i + 1} {'padding ' * 40} other{i % 7}" for i in range(900)]
    labels = [str(i % 3) for i in range(900)]
    scores = [ts.score(ts.count(texts, labels), name) for name in ("gu", "chi2")]
    assert len(pick_top_terms(scores, limit=20)) == 20
    found = extract_from_documents(texts, scores)
    assert len(found) <= MAX_TERMS
    assert max(len(several) for several in found.values()) == EXCERPTS_PER_TERM
    sides = [len(side) for several in found.values() for one in several for side in (one.before, one.after)]
    assert max(sides) <= CONTEXT_LENGTH + 1


@pytest.mark.parametrize(
    ("term", "text", "options", "match"),
    [
        ("ship", "The Ship", {}, "Ship"),
        ("ship", "flagship", {}, None),
        ("run", "She was running.", {"stemmer": "english"}, "running"),
        ("cafe", "At the Café", {"strip_accents": "unicode"}, "Café"),
        ("bank rate", "The bank's rate", {"ngram_range": (2, 2)}, "bank's rate"),
        ("bank rate", "the bank of the rate", {"stop_words": "smart", "ngram_range": (2, 2)}, "bank of the rate"),
        ("c++", "I know C++.", {"token_pattern": r"\S+"}, "C++"),
        ("shi", "A ship", {"analyzer": "char_wb", "ngram_range": (3, 3)}, "shi"),
        ("", "nothing", {}, None),
    ],
)
def test_a_term_is_found_as_it_is_written_or_as_what_becomes_it(term, text, options, match):
    span = locate_term(term, text, ts.Analyzer(**options))
    assert (None if span is None else text[slice(*span)]) == match


@given(st.text(min_size=1, max_size=60), st.text(max_size=200))
def test_looking_for_anything_anywhere_is_safe(term, text):
    for analyzer in (ts.Analyzer(), ts.Analyzer(stemmer="english"), ts.Analyzer(analyzer="char", ngram_range=(1, 3))):
        span = locate_term(term, text, analyzer)
        assert span is None or 0 <= span[0] < span[1] <= len(text)


def test_marks_that_turn_the_writing_are_left_out():
    texts = ["a\u202eb shipwreck \u2066now", "shipwreck again", "calm", "calm day"]
    scores = ts.score(ts.count(texts, ["x", "x", "y", "y"]), "gu")
    excerpt = extract_from_documents(texts, [scores])["shipwreck"][0]
    assert excerpt.before + excerpt.match + excerpt.after == "ab shipwreck now"


def test_they_can_be_written_down_and_read_again():
    scores = ts.score(ts.count(TEXTS, LABELS), "gu")
    found = extract_from_documents(TEXTS, [scores])
    assert excerpts_from_lists(excerpts_to_lists(found)) == found

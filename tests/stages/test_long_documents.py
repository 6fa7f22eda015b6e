"""Long documents: counted in pieces that change nothing, in memory in proportion, up to a stated size."""

import os
import subprocess
import sys
import textwrap
from collections import Counter
from itertools import pairwise
from unittest.mock import patch

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oracles.texts import TEXTS

from termsieve.counts.counting import count
from termsieve.errors import InputError
from termsieve.estimators import TermVectorizer
from termsieve.tokens.analyzer import Analyzer
from termsieve.tokens.vocabulary import Vocabulary

ANALYZERS = [
    Analyzer(),
    Analyzer(token_pattern=r"(?u)\b\w+\b", ngram_range=(1, 3)),
    Analyzer(ngram_range=(2, 2), stop_words="english"),
    Analyzer(lowercase=False, ngram_range=(1, 2), min_length=3),
    Analyzer(strip_accents="unicode"),
    Analyzer(stemmer="english", ngram_range=(1, 2)),
    Analyzer(token_pattern=r"[a-z]+"),
]


@settings(deadline=None, max_examples=150)
@given(st.lists(TEXTS, min_size=1, max_size=4), st.sampled_from(ANALYZERS), st.integers(1, 9), st.integers(1, 4))
@example(["ΑΣ ΑΣΑ", "one two three one two"], ANALYZERS[1], 2, 1)  # only the first piece needs Python's lower case
@example(["日本語。日本語", "Ⱥ" * 9 + " a b"], ANALYZERS[1], 1, 1)
@example(["a" * 40 + " " + "a" * 40, ""], ANALYZERS[1], 5, 2)
def test_pieces_change_nothing(texts, analyzer, piece, block):
    """Documents count once for each term, however many pieces they have; n-grams run across pieces."""
    with patch("termsieve.tokens.vocabulary.PIECE", piece), patch("termsieve.tokens.vocabulary.BLOCK", block):
        found = count(texts, ["x"] * len(texts), analyzer=analyzer, threads=1)
        rows = (
            TermVectorizer(**_options(analyzer), threads=1).fit_transform(texts) if any(map(analyzer, texts)) else None
        )
    expected = [Counter(analyzer(text)) for text in texts]
    df, tf = sum((Counter(dict.fromkeys(one, 1)) for one in expected), Counter()), sum(expected, Counter())
    tf2 = sum((Counter({term: n * n for term, n in one.items()}) for one in expected), Counter())
    assert list(found.terms) == sorted(tf)
    for values, wanted in ((found.term_df, df), (found.term_tf, tf), (found.term_tf2, tf2)):
        assert dict(zip(found.terms, values.tolist(), strict=True)) == wanted
    if rows is not None:
        assert rows.toarray().tolist() == [[one[term] for term in sorted(tf)] for one in expected]


def _options(analyzer):
    names = ("lowercase", "token_pattern", "ngram_range", "strip_accents", "stop_words", "stemmer", "min_length")
    return {name: getattr(analyzer, name) for name in names}


@pytest.mark.parametrize(
    "options", [{}, {"strip_accents": "unicode"}, {"min_length": 1}, {"min_length": 3}, {"stop_words": ["ab"]}]
)
def test_short_documents_that_are_scanned_together_have_the_terms_of_each(options):
    texts = [
        "ab",
        "\u00c9a \u0436 ab",
        "",
        "\u0130x \u03a3A\u03a3",
        "\u023aab",
        "\u0416\u0437" * 9,
        "x" * 20 + " ab",
        "\u00e9",
    ] * 20
    analyzer = Analyzer(**options)
    vocabulary = Vocabulary(analyzer)
    numbers, ends = vocabulary.tokenize(pa.array(texts, pa.large_string()))
    terms = vocabulary.get_terms(numbers).to_pylist()
    assert [terms[start:end] for start, end in pairwise([0, *ends])] == [analyzer(text) for text in texts]


def test_a_document_beyond_the_limit_is_refused_by_its_number(monkeypatch):
    monkeypatch.setattr("termsieve.tokens.vocabulary.LONGEST", 50)
    texts = ["short"] * 3000 + ["x" * 51] + ["short"]
    with pytest.raises(
        InputError, match=r"^Document 3,001 has 51 bytes of text\. A document may have at most 50 bytes"
    ):
        count(texts, ["a"] * len(texts))
    with pytest.raises(InputError, match=r"^Document 3,001 has 51 bytes"):
        TermVectorizer().fit_transform(texts)
    assert count(["x" * 50], ["a"]).n_terms == 1


MEMORY = """
    import resource, sys
    import termsieve as ts
    from termsieve import Analyzer
    from termsieve.documents import Documents
    analyzer = Analyzer(ngram_range={ngrams})
    ts.count(["ab cd", "ef " * 500_000], ["a", "b"], analyzer=analyzer, threads=2)  # loads everything
    text = {text}
    size, docs = len(text.encode()), Documents.of([text], ["a"])
    before = int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()
    ts.count(docs, analyzer=analyzer, threads=2)
    # the peak of this program: that of getrusage has the parent in it, from before the program was started
    status = dict(line.split(":") for line in open("/proc/self/status"))
    print((int(status["VmHWM"].split()[0]) * 1024 - before) / size)
"""
KINDS = {
    "words": ("' '.join(f'w{i % 5000} the' for i in range(2_000_000))", (1, 1)),
    "short words": ("'a bc ' * 4_000_000", (1, 1)),
    "Cyrillic": ("' '.join(f'слово{i % 5000} и' for i in range(1_000_000))", (1, 1)),
    "one word": ("'x' * 20_000_000", (1, 1)),
    "word pairs": ("' '.join(f'w{i % 5000} the' for i in range(2_000_000))", (1, 2)),
}


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("kind", KINDS)
def test_memory_for_one_document_is_in_proportion_to_it(kind):
    text, ngrams = KINDS[kind]
    code = textwrap.dedent(MEMORY).format(text=text, ngrams=ngrams)
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
        env={**os.environ, "TERMSIEVE_LOOPS": "compiled"},  # also for the small count that loads everything
    )
    assert float(done.stdout) < 10

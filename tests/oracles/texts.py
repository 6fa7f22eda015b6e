"""Hypothesis strategies: texts of all of Unicode, nasty ones, labelled documents, options of analyzers."""

from contextlib import contextmanager
from unittest.mock import patch

from hypothesis import strategies as st

from termsieve._kernels import use_way
from termsieve.tokens import kernels

LONG = "abcdefghijklmnopqrstuvwxyz"
PIECES = [
    " ", " ", " ", "\n", "\0", "\t\x1f", "\u00a0", "\u2028", ".", "_", "-", "'", "#", "0", "42",
    "a", "b", "cd", "CD", "The", "the", "running", "Runs",
    "ΟΔΥΣΣΕΥΣ", "Σ", "ΑΣ", "Σ.", "σς", "İSTANBUL", "İ", "\u0131", "I", "\u212a", "k", "\u212b", "ß", "ẞ",
    "ﬁne", "ﬀ", "ǅ", "Ⱥ", "ȺȾ" * 6, "ⱥ", "é", "e\u0301", "\u0301", "\u0301\u0327", "\u0345", "ͅΑ",
    "٣٤", "१२", "\U0001d7d8\U0001d7d9", "Ⅷ", "½", "²", "😀", "👩\u200d🔬", "\u200d", "\u200c", "\ufeff",
    "\U0010ffff", "\ue000",    "漢字", "我来到北京清华大学", "ひらがな", "한국어", "नमस्ते",
    "\u13a0", "ꭰ", "Ა", "ა", "𐐀", "𐐨", "ﷺ", "\u210b",
    *(LONG[:n] for n in (7, 8, 9, 14, 15, 16, 17, 18)),
    LONG + "x", LONG + "y", LONG + "xx", LONG * 3 + "1", LONG * 3 + "2", "é" * 7, "é" * 8, "漢" * 5, "漢" * 6,
]  # fmt: skip

ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=25)
LETTERS = st.text(st.characters(categories=["L", "M", "N", "Zs"]), max_size=25)
NASTY_TEXT = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)
SPACED_TEXT = st.lists(st.sampled_from(PIECES), max_size=10).map(" ".join)
TEXTS = ANY_TEXT | LETTERS | NASTY_TEXT | SPACED_TEXT

# few words, so that documents share them
WORDS = ["aa", "bb", "ab", "ba", "ccc", "ΣΣ", "İx", LONG + "1", LONG + "2", "漢字漢字漢字", "\0"]
PLAIN_TEXT = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)

CLASSES = ["a", "b", "B", "é", "10"]
LABELS = st.sampled_from(CLASSES) | st.lists(st.sampled_from(CLASSES), max_size=4)


def documents(texts=PLAIN_TEXT, labels=LABELS, min_size=0, max_size=12):
    """Pairs of a text and its labels."""
    return st.lists(st.tuples(texts, labels), min_size=min_size, max_size=max_size)


def columns(pairs):
    """Texts and labels of pairs."""
    return [text for text, _ in pairs], [label for _, label in pairs]


TOKEN_PATTERNS = [
    r"(?u)\b\w\w+\b", r"\w+", r"\w{3,}", r"(?u)\b\w{3,}\b", r"\b\w+", r"\w\w{2,}", r"[a-z]+", r"[A-Z]+",
    r"\d+", r"[^\W\d_]{2,}", r"[\w'-]+", r"[^\x00-\x20]+", r"[^\s]+", r"\S+", r"[\w ]+", r"\b[a-z]+\b",
    r"#(\w+)", r"(\w)\w*", r"\w*", r"\w{0,}", r"\w+?", r"(?a)\w+", r"(?i)[a-z]+", r"[^a]+", r"[ⱥéσς]+",
    r"\w\w\b", r"[\w\b]+",
]  # fmt: skip
NGRAMS = [(1, 1), (1, 1), (1, 2), (1, 3), (2, 2), (2, 3), (3, 3)]

# options that scikit-learn has too
WORD_OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "lowercase": st.booleans(),
        "token_pattern": st.sampled_from(TOKEN_PATTERNS),
        "ngram_range": st.sampled_from(NGRAMS),
        "strip_accents": st.sampled_from([None, "unicode", "ascii"]),
        "stop_words": st.just("english") | st.frozensets(st.sampled_from(PIECES + WORDS)),
    },
)
CHAR_OPTIONS = st.fixed_dictionaries(
    {"analyzer": st.sampled_from(["char", "char_wb"])},
    optional={
        "lowercase": st.booleans(),
        "ngram_range": st.sampled_from([*NGRAMS, (2, 5)]),
        "strip_accents": st.sampled_from([None, "unicode", "ascii"]),
    },
)


@contextmanager
def tiny_tables():
    """Tables so small that every kernel runs out of room, again and again."""

    def words(*grown, **first):
        tiny = {name: array[: 2 if name == "slots" else 1].copy() for name, array in first.items()}
        return whole(*grown, **tiny)

    whole = kernels.TermTable
    with (
        use_way("compiled"),
        patch("termsieve.tokens.kernels.TermTable", words),
        patch("termsieve.counts.tally.MIN_CELLS", 1),
        patch("termsieve.counts.tally.HELD_TERMS", 2),
        patch("termsieve.tokens.vocabulary.PIECE", 3),
        patch("termsieve.tokens.vocabulary.BLOCK", 2),
        patch("termsieve.tokens.strings._SMALL_SIZE", 0),
        patch("termsieve.counts.counting.CHUNK_BYTES", 16),
        patch("termsieve.documents.memory._FIRST_ROWS", 2),
    ):
        yield

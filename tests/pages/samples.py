"""Small results to make pages from: one like any other, and one that wants to break out."""

import functools
import random

import termsieve as ts

WORDS = {
    "sea": ["ship", "crew", "storm", "harbour", "sail", "anchor", "captain", "tide", "deck", "wave"],
    "sport": ["goal", "match", "team", "card", "coach", "league", "striker", "referee", "season", "cup"],
    "money": ["bank", "rate", "market", "shares", "profit", "trade", "economy", "bonds", "debt", "growth"],
}
COMMON = ["people", "year", "day", "time", "world", "news", "week", "home", "plan", "talk"]
SCRIPT = "</script><script>window.hacked=1</script>"
IMAGE = "\"><img/src='x'onerror='window.hacked=2'>"
HANDLER = "<svg/onload=window.hacked=3>"
TEMPLATE = "{{7*7}}"
TURNED = "\u202eevil\u2066"
LONG = "x" * 500
HOSTILE = [
    SCRIPT, IMAGE, HANDLER, TEMPLATE, TURNED, LONG, "<!--", "]]>", "'-alert(1)-'", "${window.hacked=4}",
    "javascript:window.hacked=5", "data:image/svg+xml,<svg/onload=window.hacked=6>", "__proto__", "constructor",
]  # fmt: skip
HOSTILE_CLASSES = [
    "</title><script>window.hacked=7</script>",
    '" onmouseover="window.hacked=8',
    "\u202egood\u202c",
    "b" * 300,
]


def documents(n=120, seed=0):
    rng = random.Random(seed)
    texts, labels = [], []
    for i in range(n):
        label = list(WORDS)[i % 3]
        words = [rng.choice(WORDS[label] if rng.random() < 0.45 else COMMON) for _ in range(rng.randint(8, 16))]
        texts.append(f"{' '.join(words[:4]).capitalize()}, {' '.join(words[4:])}.\nOnly{i} here.")
        labels.append(label)
    return texts, labels


SMALL = {"classifiers": ["multinomial_nb", "bernoulli_nb"], "ks": [2, 5, 10, 20, 40, 60], "cv": 3}


@functools.cache
def plain_result():
    texts, labels = documents()
    return ts.compare(texts, labels, scores=["chi2", "gu", "bns", "pmi"], **SMALL)


@functools.cache
def pairs_result():
    """Two classes with the same words in another order: pairs of words are worth a try."""
    rng = random.Random(0)
    texts = [" ".join([*rng.choices(COMMON, k=6), ("not good", "good not")[i % 2]]) for i in range(60)]
    return ts.compare(texts, ["bad", "well"] * 30, scores=["ifs"], classifiers=["multinomial_nb"], cv=3)


@functools.cache
def hostile_result():
    rng = random.Random(1)
    texts, labels = [], []
    for i in range(80):
        own = HOSTILE[i % 4 :: 4]
        texts.append(" ".join([*rng.choices(own, k=4), *rng.choices(HOSTILE, k=2), *rng.choices(COMMON, k=4)]))
        labels.append(HOSTILE_CLASSES[i % 4])
    return ts.compare(
        texts, labels, scores=["chi2", "gu"], analyzer=ts.Analyzer(token_pattern=r"\S+", lowercase=False), **SMALL
    )

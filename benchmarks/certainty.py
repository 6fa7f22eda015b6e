"""How sure: do intervals keep their level, do p-values, and do counts give what documents give?

``python benchmarks/certainty.py`` prints the tables of docs/certainty.md; arguments choose some of them: coverage,
flags, agreement, time, stability.

coverage    20 Newsgroups is the truth. Documents are drawn with replacement, as many as a class has from the class and
            the others from the rest, 200 times; how often does a 95 % interval contain the value of the whole corpus?
flags       Labels "a" and "b" are dealt to the documents at random: whatever is called different is a false alarm.
agreement   Intervals of the bootstrap from counts, against drawing documents: 300 terms.
time        All intervals and p-values of the 209,403 terms of 20 Newsgroups, against one pass of counting.
stability   How much of the 500 best terms comes again.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np
from measure import DATA, title
from scipy import sparse
from scipy.special import chdtrc
from scipy.stats import hypergeom

import termsieve as ts
from termsieve.ranking.intervals import IntervalOptions, bound_table, find_cell_intervals
from termsieve.scores import parse_score
from termsieve.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable

SCORES = ["log_odds_ratio", "ngl", "gss", "f1", 'log_ratio(on="presence")', "pmi", "chi2", "bns", "gu"]
OF_OCCURRENCES = ["log_ratio", "welch_t"]
CORPORA = {"sms_spam": "SMS", "enron1": "Enron1", "ohsumed_20000": "OHSUMED", "20news_bydate": "20 Newsgroups"}
DEALS = {"sms_spam": 100, "enron1": 30, "ohsumed_20000": 10, "20news_bydate": 10}
ALPHA = 0.001
RESAMPLES = 200


def read(name: str) -> tuple[Any, np.ndarray, list[str]]:
    """The documents of a corpus as a matrix of occurrences, their first labels, and the terms."""
    documents = ts.read(DATA / f"{name}.jsonl.gz", text="text", label="labels")
    texts: list[str] = []
    labels: list[str] = []
    for batch in documents:
        columns = batch.to_pydict()
        texts += columns["text"]
        labels += [one[0] if one else "" for one in columns["labels"]]
    vectorizer = ts.TermVectorizer()
    X = vectorizer.fit_transform(texts)
    return sparse.csr_array(X), np.array(labels), list(vectorizer.get_feature_names_out())


# Coverage


def coverage() -> None:
    title("Coverage of 95 % intervals, 20 Newsgroups, terms of at least 20 documents associated with the class")
    X, y, terms = read("20news_19997")
    lengths = np.asarray(X.sum(axis=1), np.float64)
    X = sparse.csr_array(X[:, np.flatnonzero(np.bincount(X.indices, minlength=X.shape[1]) >= 20)], dtype=np.float64)
    powers = [sparse.csr_array((X.data**power, X.indices, X.indptr), X.shape) for power in (0, 1, 2)]

    def count(rows: np.ndarray) -> list[Any]:
        """df, tf, tf2 of each term and all occurrences, in these documents."""
        weights = np.bincount(rows, minlength=y.size).astype(np.float64)
        return [*(weights @ one for one in powers), float(weights @ lengths)]

    rng = np.random.default_rng(1)
    hits: dict[str, list[np.ndarray]] = {name: [] for name in [*SCORES, *OF_OCCURRENCES]}
    everything = count(np.arange(y.size))
    for label in np.unique(y):
        sides = [np.flatnonzero(y == label), np.flatnonzero(y != label)]
        inside = count(sides[0])
        outside = [x - z for x, z in zip(everything, inside, strict=True)]
        speaks = np.flatnonzero(inside[0] / sides[0].size > outside[0] / sides[1].size)
        for _ in range(RESAMPLES // 20):
            some = rng.choice(speaks, 500, replace=False)
            drawn = [count(rng.choice(rows, rows.size)) for rows in sides]
            sizes = sides[0].size, sides[1].size, len(terms)
            truth, seen = (_make_table(one, some, *sizes) for one in ([inside, outside], drawn))
            for name, found in hits.items():
                value = np.asarray(parse_score(name).evaluate(truth))
                low, high = _interval(name, seen)
                found.append(np.stack([value < low - 1e-9, value > high + 1e-9]))
    print(f"{'score':28} covered   missed below, above   ({RESAMPLES} resamples x 500 terms)")
    for name, found in hits.items():
        below, above = np.concatenate(found, axis=1).mean(axis=1)
        print(f"{name:28} {1 - below - above:7.1%}   {below:6.1%} {above:6.1%}")


def _make_table(sides: list[Any], some: np.ndarray, n_c: int, n_nc: int, n_terms: int) -> Table:
    (tp, tf_c, tf2_c, tokens_c), (fp, tf_nc, tf2_nc, tokens_nc) = (
        (*(x[some] for x in side[:3]), np.full(some.size, side[3])) for side in sides
    )
    return Table.of(
        tp=tp, fp=fp, fn=n_c - tp, tn=n_nc - fp, m=20, tf_c=tf_c, tf2_c=tf2_c, tf_nc=tf_nc, tf2_nc=tf2_nc,
        tokens_c=tokens_c, tokens_nc=tokens_nc, n_terms=n_terms,
    )  # fmt: skip


def _interval(name: str, t: Table) -> Any:
    if name not in OF_OCCURRENCES:
        t = Table(t.tp, t.n_t, t.n_c, t.N, t.m)
    return bound_table(parse_score(name), t, IntervalOptions())


# False alarms


def flags() -> None:
    title(f"Flagged at {ALPHA:.1%} when labels are dealt at random; terms of at least 5, and of at least 100 documents")
    tests: dict[str, Callable[[Any], np.ndarray]] = {
        "chi2, permutation": lambda c: _pvalues(c, "chi2", "permutation"),
        "... ties split": _split_ties,
        "chi2, theory": lambda c: _pvalues(c, "chi2", "theory"),
        "G2 of occurrences": lambda c: chdtrc(1.0, ts.score(c, "log_likelihood").of_class(0)),
    }
    for name, deals in DEALS.items():
        X, _, _ = read(name)
        df = np.bincount(X.indices, minlength=X.shape[1])
        even = 2 * (X.shape[0] // 2)
        X, df = sparse.csr_array(X[:even, np.flatnonzero(df >= 5)]), df[df >= 5]
        rng = np.random.default_rng(2)
        flagged: dict[str, list[np.ndarray]] = {test: [] for test in tests}
        for _ in range(deals):
            dealt = rng.permutation(np.arange(X.shape[0]) % 2).astype(str)
            counts = ts.Counts.from_matrix(X, dealt)
            for test, find in tests.items():
                flagged[test].append(find(counts) <= ALPHA)
        for test, found in flagged.items():
            often = np.mean(found, axis=0)
            rates = often.mean(), often[df >= 100].mean()
            print(f"{CORPORA[name]:14} {test:20} {rates[0]:8.3%} {rates[1]:8.3%}   {deals} deals", flush=True)


def _split_ties(counts: Any) -> np.ndarray:
    """p-values that take a random part of the tables that score the same: their level is kept to the last digit."""
    tp, n_t, n = counts.df.toarray()[0], counts.term_df, counts.n_docs
    same = hypergeom.pmf(tp, n, n_t, n // 2) * np.where(2 * tp == n_t, 1, 2)  # two halves: as many more as fewer
    return _pvalues(counts, "chi2", "permutation") - same * np.random.default_rng(int(tp.sum())).random(tp.size)


def _pvalues(counts: Any, name: str, method: Any) -> np.ndarray:
    return ts.score(counts, name).pvalues(per_class=True, method=method)[0]


# Counts and documents


def agreement() -> None:
    title("Bootstrap from counts against drawing documents: difference of the ends, in per cent of the width")
    X, y, _ = read("20news_19997")
    rng = np.random.default_rng(3)
    df = np.bincount(X.indices, minlength=X.shape[1])
    some = rng.choice(np.flatnonzero(df >= 20), 300, replace=False)
    label = "sci.space"
    binary = np.where(y == label, "yes", "no")
    X = sparse.csr_array(X[:, some])
    names = ["log_odds_ratio", "chi2", "gss", "ocfs"]
    found = {name: ts.score(ts.Counts.from_matrix(X, binary), name).interval(method="bootstrap") for name in names}
    drawn: dict[str, list[np.ndarray]] = {name: [] for name in names}
    inside, outside = np.flatnonzero(binary == "yes"), np.flatnonzero(binary == "no")
    for _ in range(1000):
        rows = np.concatenate([rng.choice(side, side.size) for side in (inside, outside)])
        counts = ts.Counts.from_matrix(X[rows], binary[np.concatenate([inside, outside])])
        for name in names:
            drawn[name].append(ts.score(counts, name).of_class(1))
    for name in names:
        low, high = np.quantile(drawn[name], [0.025, 0.975], axis=0, method="inverted_cdf")
        width = high - low
        ends = np.abs(np.array([found[name].low[1] - low, found[name].high[1] - high]))
        middle, most = np.quantile((ends / width)[:, width > 0], [0.5, 0.9])
        print(f"{name:28} median {middle:6.2%}, 90 % below {most:6.2%}")


# Time


def times() -> None:
    title("CPU time for all 209,403 terms and 20 classes of 20 Newsgroups, medians of 5")
    documents = ts.read(DATA / "20news_19997.jsonl.gz", text="text", label="labels")
    counts = ts.count(documents)
    work: dict[str, Callable[[], Any]] = {"one pass of counting": lambda: ts.count(documents)}
    for name in ("chi2", "log_odds_ratio", "gu", "pip", "log_ratio"):
        one = ts.score(counts, name).score
        work[f"intervals, {name}"] = lambda one=one: find_cell_intervals(counts, one, IntervalOptions())
    for name in ("chi2", "log_odds_ratio"):
        work[f"p-values, {name}"] = lambda name=name: ts.score(counts, name).pvalues(method="permutation")
    spent: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(5):
        for name, do in work.items():
            start = time.process_time()
            do()
            spent[name].append(time.process_time() - start)
    counting = float(np.median(spent["one pass of counting"]))
    for name, found in spent.items():
        print(f"{name:28} {np.median(found):6.2f} s   {np.median(found) / counting:5.2f} of a pass")


def lists() -> None:
    title("Of the 500 best terms of each corpus, how many come again in 9 of 10 half-samples")
    for corpus, shown in CORPORA.items():
        documents = ts.read(DATA / f"{corpus}.jsonl.gz", text="text", label="labels")
        folds = ts.count_folds(documents, folds=20)
        for name in ("chi2", "log_odds_ratio", "gu(min_df=1)"):
            found = ts.stability(folds, name, 500)
            print(f"{shown:16} {name:18} {found.n_stable:4} of 500, index {found.index.value:.3f}")


if __name__ == "__main__":
    parts = {"coverage": coverage, "flags": flags, "agreement": agreement, "time": times, "stability": lists}
    for part in sys.argv[1:] or parts:
        parts[part]()

"""Counts to scores: the catalogue against scikit-learn's chi2, a million terms, the error of each score."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
from measure import corpus, interleaved, python, row, title
from scipy.stats import chi2_contingency
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_selection import chi2, mutual_info_classif

import termsieve as ts
from termsieve.ranking import distinct
from termsieve.ranking.ranking import score
from termsieve.scores import SCORES

SLICE = 300  # columns for mutual_info_classif, which would take an hour for all

MILLION = """
import sys, time
import numpy as np, pyarrow as pa
from termsieve.counts.cells import Cells
from termsieve.counts.counts import Counts
from termsieve.ranking.ranking import score
rng = np.random.default_rng(0)
V, m = 1_000_000, int(sys.argv[1])
df = 1e6 / np.arange(1, V + 1)
lengths = np.clip(rng.poisson(df), 1, m)
indptr = np.concatenate([[0], np.cumsum(lengths)])
stride = rng.choice([x for x in range(m) if x % 2 and x % 5], V)  # no class twice
classes = np.arange(indptr[-1]) - np.repeat(indptr[:-1], lengths)
classes = (classes * np.repeat(stride, lengths) + np.repeat(rng.integers(0, m, V), lengths)) % m
classes = (np.sort(classes + m * np.repeat(np.arange(V), lengths)) % m).astype(np.int32)
values = np.empty((3, classes.size), np.int64)
values[0] = 1 + rng.poisson(np.repeat(np.maximum(df / lengths - 1, 0.2), lengths))
values[1:] = values[0]
cells = Cells(indptr, classes, values)
totals = cells.totals()
terms = pa.array([f"t{i:07}" for i in range(V)], pa.large_string())
sizes = rng.integers(20_000, 60_000, m)
classes = [f"c{i:03}" for i in range(m)]
counts = Counts(terms, classes, cells, totals, n_docs=int(sizes.sum()), class_sizes=sizes)
def peak():  # not ru_maxrss, which a new process inherits from the one that started it
    status = dict(line.split(":", 1) for line in open("/proc/self/status"))
    return int(status["VmHWM"].split()[0]) / 1024
print("made", cells.classes.size, peak(), 0)

for name in ("gu", "chi2", "info_gain", "bns", "pip"):
    start = time.perf_counter()
    overall = score(counts, name).overall()
    assert overall.shape == (V,) and not np.isnan(overall).any()
    print(name, 0, peak(), time.perf_counter() - start)
from termsieve.ranking import distinct
cells = distinct.find_distinct_cells(counts, distinct.DetailLevel.DOCUMENTS)
print(cells.n_columns, cells.n_cells)
"""


def main() -> None:
    texts, labels = corpus("20news_19997")
    y = np.array([label[0] for label in labels])
    X = CountVectorizer().fit_transform(texts)
    counts = ts.count(texts, list(y))
    whole_catalogue(counts, X, y)
    against_mutual_info(counts, X, y)
    against_chi2_contingency(counts)
    million_terms()
    oracle_errors()


def catalogue_overall(counts: ts.Counts) -> None:
    distinct._CACHE.clear()  # as if the counts were new
    for name in SCORES:
        score(counts, name).overall()


def whole_catalogue(counts: ts.Counts, X: object, y: np.ndarray) -> None:
    shape = f"{counts.n_terms:,} terms x {counts.n_classes} classes"
    title(f"20 Newsgroups, {shape}: overall() of all {len(SCORES)} scores")
    rivals = {"ours": lambda: catalogue_overall(counts), "theirs": lambda: chi2(X, y)}
    taken = interleaved(rivals)
    row("the whole catalogue from Counts, distinct cells found anew", f"{taken['ours'] * 1000:.0f} ms")
    row("scikit-learn's chi2(X, y), once", f"{taken['theirs'] * 1000:.0f} ms")
    row("catalogue / chi2", f"{taken['ours'] / taken['theirs']:.2f}", "at most 1")


def against_mutual_info(counts: ts.Counts, X: object, y: np.ndarray) -> None:
    title(f"info_gain against mutual_info_classif, measured on {SLICE} columns and scaled to all")
    rng = np.random.default_rng(0)
    columns = rng.choice(counts.n_terms, SLICE, replace=False)
    present = (X[:, columns] > 0).astype(np.int64)
    start = time.perf_counter()
    theirs = mutual_info_classif(present, y, discrete_features=True)
    scaled = (time.perf_counter() - start) / SLICE * counts.n_terms

    def ours() -> np.ndarray:
        distinct._CACHE.clear()
        return score(counts, "info_gain").overall()

    seconds = interleaved({"ours": ours})["ours"]
    row("info_gain of all terms, distinct cells found anew", f"{seconds * 1000:.1f} ms")
    row("mutual_info_classif of all terms (scaled)", f"{scaled:.0f} s")
    row("times faster", f"{scaled / seconds:,.0f}", "at least 1,000")
    row("largest difference on the slice", f"{np.abs(ours()[columns] - theirs).max():.1e}", "at most 1e-12")


def against_chi2_contingency(counts: ts.Counts) -> None:
    title("chi2 against scipy's chi2_contingency(correction=False), 2,000 cells")
    rng = np.random.default_rng(1)
    values, df = score(counts, "chi2").values, counts.df
    worst = 0.0
    for c, j in zip(rng.integers(0, counts.n_classes, 2000), rng.integers(0, counts.n_terms, 2000), strict=True):
        tp, n_t, n_c = int(df[c, j]), int(counts.term_df[j]), int(counts.class_sizes[c])
        if n_t == counts.n_docs:
            continue
        table = [[tp, n_t - tp], [n_c - tp, counts.n_docs - n_c - n_t + tp]]
        theirs = chi2_contingency(table, correction=False).statistic
        worst = max(worst, abs(values[c, j] - theirs) / max(theirs, 1e-300))
    row("largest relative difference", f"{worst:.1e}", "at most 1e-12")


def million_terms() -> None:
    for n_classes, aim in ((100, "under 1,500 MB"), (1000, "within 4,000 MB")):
        title(f"One million terms x {n_classes:,} classes, sparse: overall scores, without a dense array")
        lines = [line.split() for line in python(MILLION, str(n_classes)).splitlines()]
        columns, different = (int(x) for x in lines.pop())
        row("cells with documents", f"{int(lines[0][1]):,}")
        row("different columns; different cells, empty ones included", f"{columns:,}; {different:,}")
        row("peak memory before scoring", f"{float(lines[0][2]):,.0f} MB")
        for name, _, _, seconds in lines[1:]:
            row(name, f"{float(seconds):.2f} s")
        row("peak memory of the process", f"{float(lines[-1][2]):,.0f} MB", aim)


def oracle_errors() -> None:
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from oracles.score_errors import SLOW, TABLES, allowed, errors

    title("Largest error against 50-digit arithmetic, of the largest addend of the formula")
    for name, s in SCORES.items():
        tables = SLOW.get(name, TABLES)
        for spelling in (name, *s.variants):
            row(
                f"{spelling} ({tables:,} tables)",
                f"{errors(spelling).max():.1e}",
                f"at most {allowed(name):.0e}",
            )


if __name__ == "__main__":
    main()

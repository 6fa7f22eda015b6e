"""Texts to selected matrices: against CountVectorizer and SelectKBest, whole, on unseen text, and in ten folds."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from measure import corpus, interleaved, row, title
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_selection import SelectKBest, chi2, mutual_info_classif
from sklearn.pipeline import make_pipeline

import termsieve as ts
from termsieve.estimators import TermVectorizer
from termsieve.selection.selection import Selection, select

THREADS = 2
FOLDS = 10
K = 1000
THEIR_FOLDS = 3  # of the ten are measured; the others cost the same
MUTUAL_INFO_COLUMNS = 200


def main() -> None:
    texts, labels = corpus("20news_19997")
    y = [one[0] for one in labels]
    title(f"20 Newsgroups, {len(texts):,} documents, {THREADS} threads: texts to the matrix of {K:,} selected terms")
    seconds = raw_text_to_matrix(texts, y)
    against_mutual_info(texts, y, seconds)
    unseen_text(texts)
    plain(texts)
    title(f"Leak-free selection in {FOLDS} folds, from texts")
    folds(texts, y)


def raw_text_to_matrix(texts: list[str], y: list[str]) -> float:
    def ours() -> object:
        return TermVectorizer(score_func="info_gain", k=K, threads=THREADS).fit_transform(texts, y)

    def theirs() -> object:
        return make_pipeline(CountVectorizer(), SelectKBest(chi2, k=K)).fit_transform(texts, y)

    taken = interleaved({"ours": ours, "theirs": theirs})
    row(
        f"against CountVectorizer + SelectKBest(chi2): {taken['ours']:.3f} s against {taken['theirs']:.2f} s",
        f"{taken['theirs'] / taken['ours']:.1f} times",
        "at least 10, aim 15",
    )
    return taken["ours"]


def against_mutual_info(texts: list[str], y: list[str], ours: float) -> None:
    vectorizer = CountVectorizer()
    start = time.perf_counter()
    X = vectorizer.fit_transform(texts)
    counting = time.perf_counter() - start
    columns = np.random.default_rng(0).choice(X.shape[1], MUTUAL_INFO_COLUMNS, replace=False)
    start = time.perf_counter()
    mutual_info_classif(X[:, columns], y, discrete_features=True)
    scaled = counting + (time.perf_counter() - start) * X.shape[1] / MUTUAL_INFO_COLUMNS
    row(
        f"against mutual_info_classif, scaled up from {MUTUAL_INFO_COLUMNS} columns: {scaled:.0f} s",
        f"{scaled / ours:.0f} times",
    )


def unseen_text(texts: list[str]) -> None:
    half = len(texts) // 2
    seen, unseen = texts[::2][:half], texts[1::2]
    for ngrams, aim in (((1, 1), "at least 10"), ((1, 2), "")):
        ours = TermVectorizer(ngram_range=ngrams, threads=THREADS).fit(seen)
        theirs = CountVectorizer(ngram_range=ngrams).fit(seen)
        if (ours.transform(unseen) != theirs.transform(unseen)).nnz:
            raise SystemExit("The matrices differ.")
        taken = interleaved(
            {"ours": lambda v=ours: v.transform(unseen), "theirs": lambda v=theirs: v.transform(unseen)},
            rounds=5 if ngrams == (1, 1) else 3,
        )
        row(
            f"transform of {len(unseen):,} unseen documents, n-grams {ngrams}: {taken['ours']:.3f} s "
            f"against {taken['theirs']:.2f} s",
            f"{taken['theirs'] / taken['ours']:.1f} times",
            aim,
        )


def plain(texts: list[str]) -> None:
    taken = interleaved(
        {
            "ours": lambda: TermVectorizer(threads=THREADS).fit_transform(texts),
            "theirs": lambda: CountVectorizer().fit_transform(texts),
        },
        rounds=3,
    )
    row(
        f"all terms, against CountVectorizer: {taken['ours']:.3f} s against {taken['theirs']:.2f} s",
        f"{taken['theirs'] / taken['ours']:.1f} times",
    )


def folds(texts: list[str], y: list[str]) -> None:
    assignment = ts.count_folds(texts, y, folds=FOLDS).assignment

    def once() -> Selection:
        return select(ts.count(texts, y, threads=THREADS), K, "info_gain")

    def ours() -> list[Selection]:
        counted = ts.count_folds(texts, y, folds=assignment, threads=THREADS)
        with ThreadPoolExecutor(THREADS) as pool:
            return list(pool.map(lambda fold: select(counted.training(fold), K, "info_gain"), range(FOLDS)))

    def theirs() -> None:
        for fold in range(THEIR_FOLDS):
            rows = np.flatnonzero(assignment != fold)
            pipeline = make_pipeline(CountVectorizer(), SelectKBest(chi2, k=K))
            pipeline.fit([texts[i] for i in rows], [y[i] for i in rows])

    taken = interleaved({"once": once, "ours": ours, "theirs": theirs}, rounds=3)
    scaled = taken["theirs"] * FOLDS / THEIR_FOLDS
    row(
        f"against the pipeline of scikit-learn: {taken['ours']:.2f} s against {scaled:.1f} s",
        f"{scaled / taken['ours']:.0f} times",
        "at least 30",
    )
    row(
        f"as a multiple of one selection on all documents, {taken['once']:.3f} s",
        f"{taken['ours'] / taken['once']:.2f}",
        "at most 3",
    )
    same = 0
    for fold, selection in enumerate(ours()):
        rows = np.flatnonzero(assignment != fold)
        scratch = ts.count([texts[i] for i in rows], [y[i] for i in rows])
        same += selection == select(scratch, K, "info_gain")
    row("folds that select what counting their training part selects", f"{same} of {FOLDS}", f"{FOLDS}")


if __name__ == "__main__":
    main()

"""A study: a grid of trials (split x score x classifier), each a whole curve over the number of terms.

Documents are read once. The counts of a training part are those of all documents minus those of the test part; each
score ranks once per split; each classifier is judged along the ranking. Nothing of the test documents is seen before
they are predicted.
"""

from __future__ import annotations

import hashlib
import math
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from threadpoolctl import threadpool_limits

from termsieve.classify import classifier
from termsieve.corpus import Corpus, read_corpus
from termsieve.counting import checked_threads
from termsieve.counts import Counts
from termsieve.curves import curve_codes, load_kernels
from termsieve.documents import Documents
from termsieve.evaluate import curve_rows
from termsieve.excerpts import from_corpus
from termsieve.journal import Journal, Rows
from termsieve.plan import Contender, Plan
from termsieve.ranking import load_kernels as load_scoring_kernels
from termsieve.ranking import score
from termsieve.results import SCHEMA, Comparison
from termsieve.splits import Split, divided
from termsieve.threads import thread_pool
from termsieve.tokens import Analyzer
from termsieve.weighting import parse_weighting

SCORES = ("chi2", "info_gain", "gu", "bns", "odds_ratio", "pip")
CLASSIFIERS = ("multinomial_nb", "linear_svm")
KS = (10, 20, 50, 100, 200, 500, 1000, 2000)


def compare(
    documents: Documents | Sequence[str],
    labels: Sequence[Any] | None = None,
    *,
    scores: Sequence[str | Contender] = SCORES,
    classifiers: Sequence[str] = CLASSIFIERS,
    ks: Sequence[int] = KS,
    cv: Any = 10,
    groups: str | Sequence[Any] | None = None,
    repeats: int = 1,
    seed: int = 0,
    per_class: bool = False,
    one_vs_rest: bool = False,
    min_df: int = 1,
    min_tf: int = 1,
    weighting: str = "count",
    weigh: str = "selected",
    drop_empty: bool = False,
    analyzer: Analyzer | None = None,
    journal: str | Path | None = None,
    workers: int | None = None,
    progress: bool | None = None,
    excerpts: bool = True,
) -> Comparison:
    """Compare scores, classifiers and numbers of terms on labelled documents.

    Parameters
    ----------
    documents, labels, analyzer
        As for `termsieve.count`.
    scores, classifiers
        Spellings, such as ``"bns(floor=0.001)"`` and ``"multinomial_nb(alpha=0.5)"``. A score may also be a
        `termsieve.plan.Contender`: with a name of its own, another aggregation, or without the most frequent terms.
    ks
        Numbers of terms. Where there are fewer, all are taken.
    cv
        A number of folds (stratified where each document has one label); the name of a column, or an array, with
        "train" and "test"; or a splitter of scikit-learn.
    groups
        The name of a column, or an array: documents of one group stay together.
    repeats, seed
        The division is repeated with seed, seed + 1, ... . The same seed gives the same table on any number of workers.
    per_class
        One ranking and one classifier for each class, against the rest, in place of one for all classes.
    one_vs_rest
        One classifier for each class, against the rest, on the terms of one ranking for all classes. Where documents
        have several labels, it is always so.
    min_df, min_tf
        Terms of fewer training documents, or with fewer occurrences in them, are not ranked.
    weighting
        What classifiers see: ``"count"``, ``"binary"``, ``"tfidf"``, ...: see `termsieve.weighting`. Weights are
        learned from the training documents of each split.
    weigh
        ``"selected"``: rank by counts, then weigh the selected terms, each document made of length 1 over them.
        ``"all"``: weigh all terms first; scores that use more than documents (``ocfs``) see the weights, too.
    drop_empty
        Leave documents without any selected term out, of training and of test. Some papers do so; it flatters.
    journal
        A file in which each trial is written down: a study that was killed goes on where it stopped.
    workers
        How many trials run at the same time; as many as there are cores, without this.
    progress
        Show a progress bar on standard error; without this, when it is a terminal.
    excerpts
        Keep a few short places of the documents in the result, for its report.

    Examples
    --------
    >>> texts = ["cheap pills", "cheap watches", "buy pills", "noon meeting", "lunch at noon", "meeting at ten"] * 3
    >>> result = compare(texts, ["spam"] * 3 + ["ham"] * 3 + ["spam"] * 3 + ["ham"] * 3 + ["spam"] * 3 + ["ham"] * 3,
    ...                  scores=["chi2"], classifiers=["multinomial_nb"], ks=[2, 4], cv=3)
    >>> result.table.num_rows > 0
    True
    """
    call = {"cv": cv, "groups": groups, "repeats": repeats, "seed": seed}
    plan = Plan.of(
        scores, classifiers, ks, per_class=per_class, one_vs_rest=one_vs_rest,
        min_df=min_df, min_tf=min_tf, weighting=weighting, weigh=weigh, drop_empty=drop_empty,
    )  # fmt: skip
    extra = [name for name in (cv, groups) if isinstance(name, str)]
    corpus = read_corpus(documents, labels, analyzer or Analyzer(), extra, checked_threads(workers))
    cv = corpus.columns[cv] if isinstance(cv, str) else cv
    together: Any = corpus.columns[groups] if isinstance(groups, str) else groups
    if cv is not None and not isinstance(cv, int) and not hasattr(cv, "split"):
        cv = np.asarray(cv)
    splits = divided(cv, corpus.single, corpus.n_docs, groups=together, repeats=repeats, seed=seed)
    result = Study(corpus, plan, splits).result(journal, workers, progress=progress)
    origin = documents.origin if isinstance(documents, Documents) else {"files": []}
    result.settings["call"] = {**origin, **{name: _plain(value) for name, value in call.items()}}
    result.counts = corpus.named_counts
    if excerpts:
        result.excerpts = from_corpus(corpus, [score(result.counts, one.score) for one in plan.contenders])
    return result


def _plain(value: Any) -> Any:
    """An argument as JSON can say it; of an array or a splitter only what it is."""
    return value if value is None or isinstance(value, int | str) else f"<{type(value).__name__}>"


class Ranked(NamedTuple):
    """The columns of one ranking, best first, of all classes (label "") or of one."""

    label: str
    order: npt.NDArray[np.int64]


class Rankings(NamedTuple):
    """The rankings of a score, and the CPU seconds of scoring and sorting alone."""

    all: list[Ranked]
    seconds: float


class Study:
    """A corpus, a plan and the splits: the trials that follow from them."""

    def __init__(self, corpus: Corpus, plan: Plan, splits: list[Split]) -> None:
        self.corpus, self.plan, self.splits = corpus, plan, splits

    @cached_property
    def description(self) -> dict[str, Any]:
        """What makes this study this study: a journal of another is refused."""
        places = hashlib.sha256()
        for split in self.splits:
            places.update(split.train.astype("<i8").tobytes() + b"|" + split.test.astype("<i8").tobytes() + b";")
        return {
            **self.plan.description, "documents": self.corpus.fingerprint,
            "splits": places.hexdigest()[:16], "analyzer": self.corpus.settings,
        }  # fmt: skip

    def result(
        self, journal: str | Path | None = None, workers: int | None = None, *, progress: bool | None = None
    ) -> Comparison:
        """Run what the journal does not have yet, and gather all of it."""
        book = Journal(journal, self.description)
        try:
            shown = sys.stderr.isatty() if progress is None else progress
            self.run(book, checked_threads(workers), shown=shown)
            rows, seconds = book.rows(self.keys())
        finally:
            book.close()
        columns = zip(*rows, strict=True)
        table = pa.table([pa.array(c, field.type) for c, field in zip(columns, SCHEMA, strict=True)], schema=SCHEMA)
        return Comparison(table, {**self.description, "n_splits": len(self.splits)}, seconds)

    def keys(self) -> list[str]:
        """The keys of all trials, in the order of the table."""
        return [
            self.key(split, name, model)
            for split in self.splits
            for name in self.plan.names
            for model in ("ranking", *self.plan.classifiers)
        ]

    @staticmethod
    def key(split: Split, name: str, model: str = "ranking") -> str:
        """The key of a trial, or of the ranking before it."""
        return f"{split.repeat} {split.fold} {name} {model}"

    def run(self, journal: Journal, workers: int, *, shown: bool) -> None:
        """Run the trials that are not in the journal."""
        done = journal.done()
        if workers > 1:
            self._load_kernels()
        # trials run side by side: threads of the linear algebra inside each would only stand in each other's way
        with threadpool_limits(1), _progress_bar(len(self.keys()), len(done), shown=shown) as advance:
            for split in self.splits:
                missing = {
                    name: [model for model in self.plan.classifiers if self.key(split, name, model) not in done]
                    for name in self.plan.names
                }
                if any(missing.values()):
                    self._run_split(split, missing, journal, workers, advance)

    def _load_kernels(self) -> None:
        load_scoring_kernels()
        for model in self.plan.classifiers:
            load_kernels(model)

    def _run_split(
        self, split: Split, missing: dict[str, list[str]], journal: Journal, workers: int, advance: Any
    ) -> None:
        part = Part(self.corpus, self.plan, split)
        with thread_pool(workers) as pool:
            wanted = [one for one in self.plan.contenders if missing[one.name]]
            ranked: dict[Future[Any], str] = {pool.submit(part.ranked, one): one.name for one in wanted}
            trials: dict[Future[Any], str] = {}
            pending = set(ranked)
            while pending:
                done, pending = wait(pending, return_when=FIRST_COMPLETED)
                for future in done:
                    if future in trials:
                        journal.write(trials[future], *future.result())
                    else:
                        name, rankings = ranked[future], future.result()
                        journal.write(self.key(split, name), [], rankings.seconds)
                        begun = {pool.submit(part.judged, name, rankings, model): model for model in missing[name]}
                        trials |= {trial: self.key(split, name, model) for trial, model in begun.items()}
                        pending |= set(begun)
                    advance()


class Part:
    """One split of the corpus."""

    def __init__(self, corpus: Corpus, plan: Plan, split: Split) -> None:
        self.plan, self.split = plan, split
        self.names = corpus.classes
        self.known, self.truth = corpus.Y[split.train], corpus.Y[split.test]
        self.single = corpus.single is not None and not plan.one_vs_rest
        self.occurrences = self._training_counts(corpus)
        self.counts = self.occurrences
        self.train, self.test = self._weighted(corpus.X[split.train], corpus.X[split.test])

    def _training_counts(self, corpus: Corpus) -> Counts:
        if len(self.split.train) + len(self.split.test) == corpus.n_docs:
            return corpus.counts - Counts.from_matrix(corpus.X[self.split.test], self.truth, classes=corpus.classes)
        return Counts.from_matrix(corpus.X[self.split.train], self.known, classes=corpus.classes)

    def _weighted(self, train: sparse.csr_array, test: sparse.csr_array) -> tuple[sparse.csr_array, sparse.csr_array]:
        """What classifiers see, and, where all terms are weighed first, scores too."""
        weighting = parse_weighting(self.plan.weighting)
        weights, before = weighting.of_terms(self.occurrences), self.plan.weigh == "all"
        kind = np.int64 if weights is None else np.float64
        train, test = (weighting.apply(X, weights, kind, cosine=before) for X in (train, test))
        if before and weighting.name != "count":
            self.counts = Counts.from_matrix(train, self.known, classes=self.names)
        return train, test

    def model(self, name: str) -> BaseEstimator | str:
        """The classifier; where the selected terms are weighed, it makes each document of length 1 over them."""
        if parse_weighting(self.plan.weighting).plain or self.plan.weigh == "all":
            return name
        return make_pipeline(Normalizer(), classifier(name))

    def ranked(self, contender: Contender) -> Rankings:
        """The rankings of a score: one for all classes, or one for each class."""
        start = time.thread_time()
        scores = score(self.counts, contender.score)
        if self.plan.per_class:
            orders = [(label, scores.order_of_class(c)) for c, label in enumerate(scores.classes)]
        else:
            orders = [("", scores.order(contender.aggregate))]
        seconds = time.thread_time() - start
        return Rankings([Ranked(label, self._allowed(order, contender)) for label, order in orders], seconds)

    def _allowed(self, order: npt.NDArray[np.int64], contender: Contender) -> npt.NDArray[np.int64]:
        """Without terms that are too rare or too frequent in the training documents, and no longer than is needed."""
        df, tf = self.occurrences.term_df, self.occurrences.term_tf
        allowed = (df >= max(self.plan.min_df, 1)) & (tf >= self.plan.min_tf)
        if contender.max_tf is not None:
            allowed &= tf <= contender.max_tf
        if contender.max_df is not None:
            allowed &= df <= contender.max_df
        return order[allowed[order]][: self.plan.ks[-1]]

    def judged(self, name: str, rankings: Rankings, model: str) -> tuple[Rows, float]:
        """The rows of one trial, and the CPU seconds of this thread."""
        start = time.thread_time()
        rows = [row for one in rankings.all for row in self._rows(one, model)]
        if self.plan.per_class:
            rows += _macro(rows)
        first = [self.split.repeat, self.split.fold, name, model]
        return [[*first, *row] for row in rows], time.thread_time() - start

    def _rows(self, ranked: Ranked, model: str) -> Iterator[list[Any]]:
        known, truth = self._labels(ranked.label)
        if not self.plan.drop_empty:
            yield from self._curve(ranked, model, self.plan.ks, self.train, known, self.test, truth)
            return
        for k in self.plan.ks:
            train, test = (_nonempty(X, ranked.order[:k]) for X in (self.train, self.test))
            yield from self._curve(ranked, model, (k,), self.train[train], known[train], self.test[test], truth[test])

    def _curve(
        self, ranked: Ranked, model: str, ks: Sequence[int], train: Any, known: Any, test: Any, truth: Any
    ) -> Iterator[list[Any]]:
        reached = [min(k, len(ranked.order)) for k in ks]
        classes, codes = curve_codes(train, known, test, ranked.order, reached, self.model(model))
        names = self.names if known.ndim == 2 or not ranked.label else [ranked.label]
        predicted = codes if codes.ndim == 3 else classes[codes]
        for place, label, measure, value in curve_rows(truth, predicted, names, one_class=ranked.label):
            yield [ks[place], label, measure, value]

    def _labels(self, label: str) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Labels of the training and test documents, as the classifier is to see them."""
        if label:
            c = self.names.index(label)
            return self.known[:, [c]].toarray().ravel(), self.truth[:, [c]].toarray().ravel()
        if self.single:
            return _codes(self.known), _codes(self.truth)
        return self.known.toarray(), self.truth.toarray()


def _macro(rows: Rows) -> Iterator[list[Any]]:
    """Means over the classes, each of which had a ranking and a classifier of its own."""
    values: dict[tuple[int, str], list[float]] = {}
    for k, _, measure, value in rows:
        values.setdefault((k, measure), []).append(value)
    for (k, measure), found in values.items():
        yield [k, "", f"{measure}_macro", math.fsum(found) / len(found)]


def _nonempty(X: sparse.csr_array, columns: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The documents that have at least one of the terms."""
    return np.flatnonzero(np.diff(X[:, columns].indptr))


def _codes(indicator: sparse.csr_array) -> npt.NDArray[np.int64]:
    """The class of each document that has just one."""
    return indicator.indices.astype(np.int64)


class _progress_bar:  # noqa: N801 - used like a function
    """A progress bar with the time left, or nothing."""

    def __init__(self, total: int, done: int, *, shown: bool) -> None:
        self._total, self._done, self._shown = total, done, shown

    def __enter__(self) -> Any:
        if not self._shown:
            return lambda: None
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        shape = (TextColumn("trials"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._bar = Progress(*shape, console=Console(stderr=True), transient=True)
        self._bar.start()
        task = self._bar.add_task("trials", total=self._total, completed=self._done)
        return lambda: self._bar.advance(task)

    def __exit__(self, *error: object) -> None:
        if self._shown:
            self._bar.stop()

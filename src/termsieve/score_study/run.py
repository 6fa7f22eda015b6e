"""A run of the study: every problem with every contender and classifier, recorded in a journal for each corpus."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from threadpoolctl import threadpool_limits

from termsieve._progress import ProgressBar, show_bar
from termsieve._types import AnyArray, Array, Int64Array
from termsieve.classify.bayes_sweep import SWEPT_ENTRIES
from termsieve.classify.curves import CurvePredictions, load_kernels, predict_curve
from termsieve.classify.recipes import classifier
from termsieve.errors import InputError
from termsieve.estimators.weighting import parse_weighting
from termsieve.evaluate.measures import Confusion, average_precision, confusion
from termsieve.ranking.ranking import load_kernels as load_scoring_kernels
from termsieve.score_study.contenders import Contenders, list_contenders
from termsieve.score_study.problems import StudyCorpus, StudyProblem, find_corpora
from termsieve.score_study.protocol import Panel, StudyProtocol
from termsieve.study.journal import Journal, TrialRows
from termsieve.study.plan import usual_weighting
from termsieve.study.splits import Split
from termsieve.threads import thread_pool

ALL_TERMS = 0  # in place of a number of terms: no contender ranks them
MEASURES = ("f1", "precision", "recall", "average_precision")
NO_CONTENDER = "all terms"
_DIGITS = 4


class ProblemRows(NamedTuple):
    """The rows of a problem: split, contender, classifier, number of terms, measure and value."""

    panel: str
    problem: StudyProblem
    rows: TrialRows


@dataclass(frozen=True)
class StudyRun:
    """What a run gave: rows of all problems, agreement of the contenders, CPU seconds by panel."""

    protocol: StudyProtocol
    contenders: list[str]
    problems: list[ProblemRows]
    agreement: Array
    stability: Array
    seconds: dict[str, float]


def run_study(
    protocol: StudyProtocol,
    journals: Path,
    *,
    threads: int,
    say: Callable[[str], None] = lambda _: None,
    shown: bool = False,
    corpora: Sequence[str] | None = None,
) -> StudyRun:
    """Run what the journals do not have, and collect everything.

    Parameters
    ----------
    protocol : StudyProtocol
    journals : Path
        A folder with a journal for each panel and corpus: a killed run continues where it stopped.
    threads : int
        Problems that are solved at the same time.
    say : callable
        Is told what is done.
    shown : bool
        Show progress bars.
    corpora : sequence of str, optional
        Names; by default all that are found.
    """
    contenders = list_contenders(protocol.rules)
    found = {name: path for name, path in find_corpora().items() if corpora is None or name in corpora}
    journals.mkdir(parents=True, exist_ok=True)
    load_scoring_kernels()
    collected: list[ProblemRows] = []
    lists: list[tuple[Array, Array]] = []
    seconds = dict.fromkeys(protocol.panels, 0.0)
    for panel_name, panel in protocol.panels.items():
        for model in panel.classifiers:
            load_kernels(model, SWEPT_ENTRIES.cold)  # corpora are large
        for name, path in found.items():
            corpus = StudyCorpus.read(name, path, panel, protocol, threads)
            if not corpus.corpus.classes:
                say(f"{panel_name}, {name}: no class has {protocol.min_class} documents")
                continue
            work = CorpusRun(corpus, panel, list_contenders(panel.rules))
            rows, spent = work.run(journals / f"{panel_name}-{name}.journal", protocol, threads, shown=shown)
            collected += [ProblemRows(panel_name, problem, rows[problem.label]) for problem in corpus.problems]
            seconds[panel_name] += spent
            if len(lists) < len(found):  # once, on the documents of the first panel
                lists.append(work.compare_lists(protocol))
            say(f"{panel_name}, {name}: {len(rows)} problems, {spent:.0f} CPU seconds")
    if not collected:
        raise InputError(
            f"None of the corpora ({', '.join(found) or 'none'}) has a class of {protocol.min_class:,} documents."
        )
    agreement, stability = (np.mean(parts, axis=0) for parts in zip(*lists, strict=True))
    return StudyRun(protocol, contenders, collected, agreement, stability, seconds)


class CpuClock:
    """CPU seconds of the whole process, lap by lap: those of a problem, where several are solved at a time."""

    def __init__(self) -> None:
        self._last = time.process_time()

    def lap(self) -> float:
        """Return the seconds since the last lap."""
        before, self._last = self._last, time.process_time()
        return self._last - before


@dataclass(frozen=True, eq=False)
class CorpusRun:
    """A corpus, what is judged on it, and what competes."""

    corpus: StudyCorpus
    panel: Panel
    names: list[str]

    def run(
        self, journal_path: Path, protocol: StudyProtocol, threads: int, *, shown: bool
    ) -> tuple[dict[str, TrialRows], float]:
        """Solve the problems that the journal does not have; the rows by label, and the CPU seconds of all."""
        labels = [problem.label for problem in self.corpus.problems]
        keys = {(split.fold, label): f"{split.fold} {label}" for split in self.corpus.splits for label in labels}
        journal = Journal(journal_path, self._describe(protocol))
        try:
            done = journal.list_done()
            with threadpool_limits(1), show_bar(self.corpus.name, len(keys), shown=shown, done=len(done)) as bar:
                for split in self.corpus.splits:
                    missing = [label for label in labels if keys[split.fold, label] not in done]
                    if missing:
                        self._run_split(split, missing, keys, journal, threads, bar)
            rows, seconds = journal.read_trials(keys.values())
        finally:
            journal.close()
        by_label: dict[str, TrialRows] = {label: [] for label in labels}
        for row in rows:
            by_label[row[5]].append(row)
        return by_label, sum(seconds.values())

    def _describe(self, protocol: StudyProtocol) -> dict[str, Any]:
        return {
            "seed": protocol.seed, "folds": protocol.folds, "min_class": protocol.min_class,
            "classifiers": list(self.panel.classifiers), "sizes": list(self.panel.sizes),
            "documents": self.corpus.corpus.fingerprint, "contenders": self.names,
        }  # fmt: skip

    def _run_split(
        self,
        split: Split,
        labels: list[str],
        keys: dict[tuple[int, str], str],
        journal: Journal,
        threads: int,
        bar: ProgressBar,
    ) -> None:
        clock = CpuClock()
        data = SplitProblems(self.corpus, self.panel, split, self.names)
        with thread_pool(threads) as pool:
            futures = {pool.submit(data.solve, label): label for label in labels}
            for future in as_completed(futures):
                journal.write(keys[split.fold, futures[future]], future.result(), clock.lap())
                bar.advance()

    def compare_lists(self, protocol: StudyProtocol) -> tuple[Array, Array]:
        """Compare first terms: shares in common between scores, and of each between two halves of the documents."""
        split, n = self.corpus.splits[0], protocol.half_samples
        order = np.random.default_rng(protocol.seed).permutation(split.train)
        first, second = (self._first_terms(part, n) for part in np.array_split(order, 2))
        return (first @ first.T).toarray() / n, np.asarray(first.multiply(second).sum(axis=1)).ravel() / n

    def _first_terms(self, rows: Int64Array, n: int) -> Any:
        """Return which terms are among the first n of all classes together: scores x terms."""
        corpus, names = self.corpus.corpus, list_contenders()
        contenders = Contenders.on_documents(corpus.X[rows], corpus.Y[rows], corpus.classes, names)
        best = [contenders.rank(i, n) for i in range(len(names))]
        ends = np.cumsum([0, *map(len, best)])
        columns = np.concatenate(best)
        return sparse.csr_array((np.ones(len(columns)), columns, ends), (len(best), corpus.X.shape[1]))


class SplitProblems:
    """The problems of one split of a corpus."""

    def __init__(self, corpus: StudyCorpus, panel: Panel, split: Split, names: list[str]) -> None:
        self.corpus, self.panel, self.split = corpus, panel, split
        whole = corpus.corpus
        self.classes = whole.classes
        self.Y = whole.Y[split.train], whole.Y[split.test]
        self.contenders = Contenders.on_documents(whole.X[split.train], self.Y[0], whole.classes, names)
        self.matrices = {model: self._weigh(model) for model in panel.classifiers}

    def _weigh(self, model: str) -> tuple[sparse.csr_array, sparse.csr_array]:
        weighting = parse_weighting(usual_weighting(model))
        weights = weighting.compute_weights(self.contenders.matrix.counts)
        X = self.corpus.corpus.X
        # as floats, also counts: sweeps would convert them for each contender
        train, test = (weighting.apply(X[rows], weights, np.float64) for rows in (self.split.train, self.split.test))
        return train, test

    def _make_model(self, model: str) -> BaseEstimator | str:
        plain = parse_weighting(usual_weighting(model)).plain
        return model if plain else make_pipeline(Normalizer(), classifier(model))

    @cached_property
    def _single_label(self) -> bool:
        return bool((np.diff(self.corpus.corpus.Y.indptr) <= 1).all())

    def solve(self, label: str) -> TrialRows:
        """Return the rows of one problem."""
        return [row for model in self.panel.classifiers for row in self._solve_with(model, label)]

    def _solve_with(self, model: str, label: str) -> Iterator[list[Any]]:
        known, truth, kept = self._labels(label)
        train, test = self.matrices[model]
        if kept is not None:
            train, test = train[kept[0]], test[kept[1]]
        largest = max(self.panel.sizes)
        one = self._make_model(model)
        seen: dict[bytes, dict[str, Array]] = {}  # some scores give the same ranking
        for place, name in enumerate(self.contenders.names):
            order = self.contenders.rank(place, largest, self.classes.index(label) if label else None)
            if order.tobytes() not in seen:
                reached = [min(k, len(order)) for k in self.panel.sizes]
                found = predict_curve(train, known, test, order, reached, one, decisions=bool(label))
                seen[order.tobytes()] = self._measure(found, truth, label)
            yield from self._rows(name, model, label, self.panel.sizes, seen[order.tobytes()])
        everything = self.contenders.among
        found = predict_curve(train, known, test, everything, [len(everything)], one, decisions=bool(label))
        yield from self._rows(NO_CONTENDER, model, label, [ALL_TERMS], self._measure(found, truth, label))

    def _labels(self, label: str) -> tuple[AnyArray, AnyArray, tuple[Int64Array, Int64Array] | None]:
        """Return the labels of training and test documents, and which documents: None for all."""
        if label:
            c = self.classes.index(label)
            known, truth = (part[:, [c]].toarray().ravel().astype(np.int64) for part in self.Y)
            return known, truth, None
        if not self._single_label:
            return self.Y[0].toarray(), self.Y[1].toarray(), None
        rows = tuple(np.flatnonzero(np.diff(part.indptr)) for part in self.Y)
        known, truth = (part[some].indices.astype(np.int64) for part, some in zip(self.Y, rows, strict=True))
        return known, truth, (rows[0], rows[1])

    def _measure(self, found: CurvePredictions, truth: AnyArray, label: str) -> dict[str, Array]:
        """Return the measures at each number of terms; average precision is that of one class against the rest."""
        counted = (
            _count_one_class(truth, found.codes) if label else confusion(truth, found.codes, range(len(self.classes)))
        )
        values = {measure: counted.measure(f"{measure}_macro") for measure in ("f1", "precision", "recall")}
        if found.decisions is not None:
            values["average_precision"] = average_precision(truth == 1, found.decisions)
        return values

    def _rows(
        self, name: str, model: str, label: str, sizes: Sequence[int], measured: dict[str, Array]
    ) -> Iterator[list[Any]]:
        for measure, values in measured.items():
            for k, value in zip(sizes, values, strict=True):
                yield [0, self.split.fold, name, model, k, label, measure, round(float(value), _DIGITS)]


def _count_one_class(truth: AnyArray, codes: AnyArray) -> Confusion:
    """Count right and wrong predictions of one class, as `confusion` does: labels are 0 and 1, so nothing is sorted."""
    true, predicted = truth == 1, codes == 1
    tp = (predicted & true).sum(axis=-1)
    fp, fn = predicted.sum(axis=-1) - tp, true.sum() - tp
    right = (predicted == true).sum(axis=-1)
    return Confusion(np.array([1]), tp[:, np.newaxis], fp[:, np.newaxis], fn[:, np.newaxis], right, len(true))

"""A study: a grid of trials (split x score x classifier), each a whole curve over the number of terms.

Documents are read once, into a `Corpus` in memory, and all that follows is made of it. The counts of the training
documents of a split are those of all documents minus those of its test documents; each score ranks once per split; each
classifier is evaluated along the ranking. Nothing of the test documents is used before they are predicted.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from threadpoolctl import threadpool_limits

from termsieve._kernels import kernels_pay
from termsieve._progress import ProgressBar, is_shown, show_bar
from termsieve._types import Int64Array
from termsieve.classify.curves import load_kernels
from termsieve.counts.counting import resolve_threads
from termsieve.defaults import DEFAULT_MEASURE
from termsieve.documents import Documents
from termsieve.errors import InputError
from termsieve.ranking.distinct import TABLE_CELLS
from termsieve.ranking.ranking import load_kernels as load_scoring_kernels
from termsieve.ranking.ranking import score
from termsieve.ranking.score_values import Scores
from termsieve.scores.tail import TABLES
from termsieve.selection.near_duplicates import NearDuplicate, TermGroup, find_groups, find_near_duplicates
from termsieve.selection.problem import ENTRIES
from termsieve.selection.problem import load_kernels as load_problem_kernels
from termsieve.selection.redundancy_rules import parse_redundancy_rule
from termsieve.study.corpus import Corpus, read_corpus
from termsieve.study.excerpts import extract_from_corpus
from termsieve.study.journal import DUALITY_GAP, Journal, MemoryJournal, TrialRows, find_largest_gaps
from termsieve.study.plan import AUTO, CLASSIFIERS, FOLDS, KS, MARGIN, SAMPLE, SCORES, Contender, Plan
from termsieve.study.recommendation import Recommendation
from termsieve.study.representations import name_without_terms
from termsieve.study.result_files import SCHEMA
from termsieve.study.results import Comparison
from termsieve.study.search import Search, count_rankable
from termsieve.study.split_data import SplitData, order_columns
from termsieve.study.splits import Split, make_splits
from termsieve.study.stable_terms import MAX_DOCUMENTS, measure_stable_terms
from termsieve.threads import thread_pool
from termsieve.tokens.analyzer import Analyzer

_GROUPED_TERMS = 100  # of each score
_EXPLAINED_TERMS = 30  # of those recommended


def compare(
    documents: Documents | Sequence[str],
    labels: Sequence[Any] | None = None,
    *,
    scores: Sequence[str | Contender] = SCORES,
    classifiers: Sequence[str] = CLASSIFIERS,
    ks: Sequence[int | str] = KS,
    cv: Any = FOLDS,
    groups: str | Sequence[Any] | None = None,
    repeats: int = 1,
    seed: int = 0,
    sample: int | None = SAMPLE,
    per_class: bool = False,
    one_vs_rest: bool = False,
    min_df: float = 1,
    min_tf: int = 1,
    weighting: str = AUTO,
    weigh: str = "selected",
    drop_empty: bool = False,
    pairs: str = AUTO,
    margin: float = MARGIN,
    analyzer: Analyzer | None = None,
    journal: str | Path | None = None,
    threads: int | None = None,
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
        `termsieve.Contender`: with a name of its own, another aggregation, or without the most frequent terms. Rules
        that look at terms together compete, too: ``"cmim"``, ``"jmi"``, ``"mrmr"``, ``"fcbf"``. They choose as many
        terms as the largest of `ks` that is not all (``"cmim(500)"``: 500); the others follow by information gain.
    ks
        Numbers of terms; ``"all"`` is all terms. Where there are fewer, all are taken. All terms are always tried,
        for reference. ``"auto"``: 10 to 2,000 and all, and the numbers between where more terms do better.
    cv
        A number of folds (stratified where each document has one label); the name of a column, or an array, with
        "train" and "test"; or a splitter of scikit-learn.
    groups
        The name of a column, or an array: documents of one group stay together.
    repeats, seed
        Repetitions have the seeds seed, seed + 1, ... . The same seed gives the same table on any number of threads.
    sample
        Compare on a random sample of at most this many documents; None or 0 for all.
    per_class
        One ranking and one classifier for each class, against the rest, instead of one for all classes.
    one_vs_rest
        One classifier for each class, against the rest, on the terms of one ranking for all classes. Always so
        where documents have several labels.
    min_df, min_tf
        Terms of fewer training documents (a number, or a share of them), or with fewer occurrences in them, are not
        ranked.
    weighting
        For classifiers: ``"count"``, ``"binary"``, ``"tfidf"``, ...: see `termsieve.estimators.weighting`. Weights are
        learned from the training documents of each split. ``"auto"``: occurrences for naive Bayes, tf-idf with
        the logarithm of tf (``"tfidf_log"``) for others.
    weigh
        ``"selected"``: rank by counts, then weight the selected terms, and normalize documents to length 1 over them.
        ``"all"``: weight all terms first; scores that use more than document counts (``ocfs``) use the weights, too.
    drop_empty
        Leave out training and test documents without any selected term. Some papers do so; it flatters the results.
    pairs
        Try pairs of words, too: ``"yes"``, ``"no"``, or ``"auto"``, if the numbers of terms are ``"auto"`` and there is
        not too much text.
    margin
        Loss that is too small to matter: the recommendation has the probability that it loses more.
    journal
        A file in which each trial is recorded: a killed study continues where it stopped.
    threads
        Number of trials that run at the same time (default one for each core).
    progress
        Show a progress bar on standard error (default: if it is a terminal).
    excerpts
        Keep a few short excerpts of the documents in the result, for its report.

    Examples
    --------
    >>> texts = ["cheap pills", "cheap watches", "buy pills", "noon meeting", "lunch at noon", "meeting at ten"] * 3
    >>> result = compare(texts, ["spam"] * 3 + ["ham"] * 3 + ["spam"] * 3 + ["ham"] * 3 + ["spam"] * 3 + ["ham"] * 3,
    ...                  scores=["chi2"], classifiers=["multinomial_nb"], ks=[2, 4], cv=3)
    >>> result.table.num_rows > 0
    True
    """
    plan = Plan.from_arguments(
        scores, classifiers, ks, cv=cv, groups=groups, repeats=repeats, seed=seed, sample=sample,
        per_class=per_class, one_vs_rest=one_vs_rest, min_df=min_df, min_tf=min_tf, weighting=weighting,
        weigh=weigh, drop_empty=drop_empty, pairs=pairs, margin=margin,
    )  # fmt: skip
    n_threads = resolve_threads(threads)
    corpus = read_corpus(documents, labels, analyzer, plan.columns, n_threads)
    return compare_corpus(corpus, plan, journal=journal, threads=n_threads, progress=progress, excerpts=excerpts)


def compare_corpus(
    whole: Corpus, plan: Plan, *, journal: str | Path | None = None, threads: int | None = None,
    progress: bool | None = None, excerpts: bool = True,
) -> Comparison:  # fmt: skip
    """Compare what a plan asks for on documents in memory; the other parameters are those of `compare`."""
    n_threads = resolve_threads(threads)
    corpus = whole.sample(plan.sample, plan.seed)
    splits = make_plan_splits(corpus, plan)
    n_terms = count_rankable(corpus, plan, splits)
    study = Study(corpus, plan.fit_to(n_terms), splits, n_terms=n_terms)
    result = Search(study, plan, n_threads, shown=is_shown(progress)).run(journal)
    result.settings |= {"n_docs": whole.n_docs, "n_compared": corpus.n_docs}
    result.settings["origin"] = dict(whole.origin)
    result.counts = whole.named_counts
    if excerpts:
        single = [one for one in plan.scores if not one.ranks_together]
        result.scored = {one.name: score(result.counts, one.score) for one in single}
        result.excerpts = extract_from_corpus(whole, list(result.scored.values()))
        result.term_groups = _group_terms(whole, [one.order() for one in result.scored.values()])
        choice = result.recommended()
        result.near_duplicates = _find_superfluous_terms(whole, plan, choice, result.scored)
        if whole.n_docs <= MAX_DOCUMENTS:
            stable = measure_stable_terms(whole.matrix, choice, plan.scores)
            result.settings |= {} if stable is None else {"stable_terms": stable}
    return result


def _group_terms(corpus: Corpus, orders: Sequence[Int64Array]) -> list[TermGroup]:
    """Group the first terms of each score by their documents."""
    first: Int64Array = np.array([order[:_GROUPED_TERMS] for order in orders], np.int64).T.ravel()  # scores in turn
    columns = np.array(list(dict.fromkeys(first.tolist())), np.int64)
    return find_groups(columns, corpus.matrix) if len(columns) else []


def _find_superfluous_terms(
    corpus: Corpus, plan: Plan, choice: Recommendation, scored: Mapping[str, Scores]
) -> list[NearDuplicate]:
    """Find what the first recommended terms make superfluous; of pairs of words, the same score on words is taken."""
    known = {one.name: one for one in plan.scores}
    contender = known.get(name_without_terms(choice.score), plan.scores[0])
    counts = corpus.named_counts
    matrix = corpus.matrix
    is_ranked = plan.allows(counts) & contender.allows(counts)
    n = min(choice.k, _EXPLAINED_TERMS)
    rule = parse_redundancy_rule(contender.score)
    if rule is None:
        order = order_columns(scored[contender.name], contender, matrix)
        chosen = order[is_ranked[order]][:n]
    else:
        chosen = rule.rank_all(matrix, n, np.flatnonzero(is_ranked))[:n]
    return find_near_duplicates(chosen, matrix)


def make_plan_splits(corpus: Corpus, plan: Plan) -> list[Split]:
    """Return the splits of a corpus that a plan asks for."""
    cv, groups = corpus.rows_of("cv", plan.cv), corpus.rows_of("groups", plan.groups)
    labels = corpus.single_labels
    splits = make_splits(cv, labels, corpus.n_docs, groups=groups, repeats=plan.repeats, seed=plan.seed)
    if labels is not None:
        _refuse_single_class(splits, labels, corpus.classes)
    return splits


def _refuse_single_class(splits: Sequence[Split], labels: Int64Array, classes: Sequence[str]) -> None:
    """Refuse splits whose training documents are all of one class: no classifier can learn from them."""
    for split in splits:
        known = np.unique(labels[split.train])
        if len(known) < 2:
            raise InputError(
                f"A classifier cannot learn from split {split.fold + 1}: all of its training documents "
                f"({len(split.train):,}) are of the class {classes[int(known[0])]!r}. Take another cv, or groups that "
                "have documents of several classes."
            )


class Study:
    """A corpus, a plan and splits, and the trials that follow from them.

    Attributes
    ----------
    n_terms : int or None
        The number of all terms, where scores that rank all of them share the trials with all terms.
    stage : str
        What tells its trials from others in one journal.
    """

    def __init__(
        self, corpus: Corpus, plan: Plan, splits: list[Split], *, n_terms: int | None = None, stage: str = ""
    ) -> None:
        self.corpus, self.plan, self.splits = corpus, plan, splits
        self.n_terms, self.stage = n_terms, stage

    def with_plan(self, plan: Plan, stage: str, corpus: Corpus | None = None) -> Study:
        """Return a study of other trials on the same splits."""
        return Study(corpus or self.corpus, plan, self.splits, stage=stage)

    @cached_property
    def description(self) -> dict[str, Any]:
        """What identifies this study: a journal with another description is refused."""
        digest = hashlib.sha256()
        for split in self.splits:
            digest.update(split.train.astype("<i8").tobytes() + b"|" + split.test.astype("<i8").tobytes() + b";")
        return {
            **self.plan.trial_description, "documents": self.corpus.fingerprint,
            "splits": digest.hexdigest()[:16], "analyzer": self.corpus.settings,
        }  # fmt: skip

    def run_all(
        self, journal: str | Path | None = None, threads: int | None = None, *, progress: bool | None = None
    ) -> Comparison:
        """Run the trials that the journal does not have, and collect all of them."""
        with self.open_journal(journal) as journal_file:
            rows, seconds = self.run_in(journal_file, resolve_threads(threads), shown=is_shown(progress))
        return self.make_comparison(rows, seconds)

    @contextmanager
    def open_journal(self, journal: str | Path | None) -> Iterator[Journal | MemoryJournal]:
        """Open the journal of this study, and close it at the end."""
        journal_file = MemoryJournal() if journal is None else Journal(journal, self.description)
        try:
            yield journal_file
        finally:
            journal_file.close()

    def run_in(
        self, journal: Journal | MemoryJournal, threads: int, *, shown: bool
    ) -> tuple[TrialRows, dict[str, float]]:
        """Run the trials that the journal does not have, and return the rows and seconds of all."""
        self.run(journal, threads, shown=shown)
        if isinstance(journal, Journal):
            self._check_trials(journal)
        return journal.read_trials(self.trial_keys())

    def make_comparison(self, rows: TrialRows, seconds: dict[str, float]) -> Comparison:
        """Collect the rows of trials in one table, and the largest duality gap of each classifier that has any."""
        measured = [row for row in rows if row[6] != DUALITY_GAP]
        columns = zip(*measured, strict=True)
        table = pa.table([pa.array(c, field.type) for c, field in zip(columns, SCHEMA, strict=True)], schema=SCHEMA)
        ratios = [len(split.test) / len(split.train) for split in self.splits]
        known = {"n_splits": len(self.splits), "test_ratio": math.fsum(ratios) / len(ratios)}
        gaps = find_largest_gaps(rows)
        certificates = {"duality_gaps": gaps} if gaps else {}
        return Comparison(table, {**self.plan.description, **self.description, **known, **certificates}, seconds)

    def _check_trials(self, journal: Journal) -> None:
        """Refuse trials that do not belong to this study: recorded trials are not run again."""
        for split in self.splits:
            for name in self.plan.names:
                for model in ("ranking", *self.plan.classifiers):
                    key = self.trial_key(split, name, model)
                    rows, _ = journal.read_trials([key])
                    ks = [] if model == "ranking" else list(self.plan.ks)
                    if not _is_trial(rows, [split.repeat, split.fold, name, model], ks):
                        raise InputError(
                            f"{journal.path}: is a damaged journal: its trial {key!r} has wrong "
                            "rows. Give another file, or delete it."
                        )

    def trial_keys(self) -> list[str]:
        """Return the keys of all trials, in the order of the table."""
        return [
            self.trial_key(split, name, model)
            for split in self.splits
            for name in self.plan.names
            for model in ("ranking", *self.plan.classifiers)
        ]

    def trial_key(self, split: Split, name: str, model: str = "ranking") -> str:
        """Return the key of a trial, or of the ranking before it."""
        return f"{split.repeat} {split.fold} {name} {model}{self.stage and f' {self.stage}'}"

    def run(self, journal: Journal | MemoryJournal, threads: int, *, shown: bool) -> None:
        """Run the trials that are not in the journal."""
        done = journal.list_done()
        self._load_kernels(threads)
        # trials run in parallel: more threads for the linear algebra inside each would only compete with them
        keys, work, again = self.trial_keys(), [], 0
        for split in self.splits:
            missing = {
                name: [model for model in self.plan.classifiers if self.trial_key(split, name, model) not in done]
                for name in self.plan.names
            }
            ranked = {name for name in self.plan.names if self.trial_key(split, name) in done}
            wanted = [one for one in self.plan.scores if missing[one.name] or one.name not in ranked]
            again += sum(one.name in ranked for one in wanted)  # journals keep no rankings, only what they took
            if wanted:
                work.append((split, wanted, missing))
        stage = self.stage.replace("of a variant", f"of {', '.join(self.plan.classifiers)}")
        title, n_done = f"trials {stage}".strip(), len(done.intersection(keys)) - again
        with threadpool_limits(1), show_bar(title, len(keys), shown=shown, done=n_done) as bar:
            for split, wanted, missing in work:
                self._run_split(split, wanted, missing, journal, threads, bar)

    def _load_kernels(self, threads: int) -> None:
        """Load or compile the loops now: not in several threads, and not while trials are timed."""
        sums_tails = any(one.name == "fisher_exact" for one in self.plan.scores)
        cells = len(self.corpus.terms) * len(self.corpus.classes)
        if threads > 1 and kernels_pay(cells, TABLES if sums_tails else TABLE_CELLS):
            load_scoring_kernels()
        if any(one.ranks_together for one in self.plan.scores) and kernels_pay(self.corpus.X.nnz, ENTRIES):
            load_problem_kernels()
        for model in self.plan.classifiers:
            load_kernels(model, self.corpus.X.nnz)

    def _run_split(
        self,
        split: Split,
        wanted: list[Contender],
        missing: dict[str, list[str]],
        journal: Journal | MemoryJournal,
        threads: int,
        bar: ProgressBar,
    ) -> None:
        data = SplitData(self.corpus, self.plan, split, self.n_terms)
        with thread_pool(threads) as pool:
            ranked: dict[Future[Any], str] = {pool.submit(data.rank_columns, one): one.name for one in wanted}
            trials: dict[Future[Any], str] = {}
            pending = set(ranked)
            while pending:
                done, pending = wait(pending, return_when=FIRST_COMPLETED)
                for future in done:
                    if future in trials:
                        journal.write(trials[future], *future.result())
                    else:
                        name, rankings = ranked[future], future.result()
                        journal.write(self.trial_key(split, name), [], rankings.seconds)
                        begun = {
                            pool.submit(data.evaluate_trial, name, rankings, model): model for model in missing[name]
                        }
                        trials |= {trial: self.trial_key(split, name, model) for trial, model in begun.items()}
                        pending |= set(begun)
                    bar.advance()


def _is_trial(rows: TrialRows, first: list[Any], ks: list[int | str]) -> bool:
    """Tell whether the rows are those of this trial, with every number of terms."""
    ks_measured = [row[4] for row in rows if row[5:7] == ["", DEFAULT_MEASURE]]
    return sorted(ks_measured) == ks and all(row[:4] == first and row[4] in ks for row in rows)

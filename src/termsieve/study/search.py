"""The search of a comparison: the grid of its plan, and what its results suggest to try next.

Where the choice is left to the study, the grid is followed by more terms as long as the best stands at its end, by
pairs of words (characters, where there are no spaces between words), by other parameters of the classifiers, and by
class weights where classes differ in size. Each step depends on the results before it and on nothing else, so a journal
is continued whatever it has.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from termsieve.classify.linear_tuning import GRID as COSTS
from termsieve.classify.recipes import parse_recipe
from termsieve.defaults import DEFAULT_MEASURE
from termsieve.study.corpus import Corpus
from termsieve.study.plan import ALL_TERMS, CLASSIFIERS, GROWTH, Contender, Plan, describe_contenders
from termsieve.study.representations import choose_representation, name_with_terms
from termsieve.study.results import Comparison
from termsieve.study.splits import Split, least_class_size
from termsieve.study.trials import Trials, TrialSummary

if TYPE_CHECKING:
    from termsieve.study.journal import Journal, MemoryJournal, TrialRows
    from termsieve.study.study import Study

IN_THE_RUNNING = 2  # scores that are tried with more terms
LADDERS = {
    "linear_svm": ("C", COSTS),  # as with C="auto"
    "multinomial_nb": ("alpha", (0.001, 0.01, 0.1, 1.0)),
}  # a parameter and its values: the neighbours of the default are tried, and those beyond one that pays
WORTH = 0.002  # what a step along a ladder must gain before the next is taken
WEIGHTED = "linear_svm"  # the classifier that is tried with class weights
IMBALANCE = 3  # the largest class against the smallest, from which on class weights are tried


def count_rankable(corpus: Corpus, plan: Plan, splits: list[Split]) -> int:
    """Return the number of terms that may be ranked in some split: all terms of the comparison."""
    return max(int(plan.allows(corpus.counts, min(len(split.train) for split in splits)).sum()), 1)


class Search:
    """A study and the plan that was asked for, and the trials that follow from its results."""

    def __init__(self, study: Study, asked: Plan, threads: int, *, shown: bool) -> None:
        self.study, self.asked = study, asked
        self.threads, self.shown = threads, shown
        self.added: list[Contender] = []
        self.representations: dict[str, Any] = {}
        self.notes: list[str] = []
        self._others: dict[str, Corpus] = {}  # the documents with other terms

    def run(self, journal: str | Path | None) -> Comparison:
        """Run the grid and all that follows from it."""
        with self.study.open_journal(journal) as journal_file, note_warnings() as notes:
            rows, seconds = self.study.run_in(journal_file, self.threads, shown=self.shown)
            self._add_reference(journal_file, rows, seconds)
            self._grow(journal_file, rows, seconds)
            self._try_representation(journal_file, rows, seconds)
            self._try_variants(journal_file, rows, seconds)
        self.notes += notes
        return self._make_result(rows, seconds)

    def _make_result(self, rows: TrialRows, seconds: dict[str, float]) -> Comparison:
        result = self.study.make_comparison(_in_order(rows), seconds)
        n_terms = self.study.n_terms or 0
        small = _list_small_classes(self.study.corpus, self.asked.cv)
        result.settings |= {
            "ks": list(self.asked.ks), "n_terms": n_terms, "margin": self.asked.margin, "notes": self.notes,
            "all_terms": "asked" if self._may_take_all else "reference",
        }  # fmt: skip
        if small:
            result.settings["small_classes"] = small
        if self.added:
            special = describe_contenders([*self.asked.scores, *self.added])
            result.settings |= {"contenders": special, "representations": self.representations}
        return result

    def _trials(self, rows: TrialRows) -> Trials:
        settings = {"n_terms": self.study.n_terms, "contenders": describe_contenders([*self.asked.scores, *self.added])}
        result = self.study.make_comparison(rows, {})
        return Trials.from_table(result.table, {**result.settings, **settings}, DEFAULT_MEASURE)

    def _run_stage(
        self, stage: Study, journal: Journal | MemoryJournal, rows: TrialRows, seconds: dict[str, float]
    ) -> None:
        more, times = stage.run_in(journal, self.threads, shown=self.shown)
        rows += more
        seconds |= times

    # All terms, for reference

    @property
    def _may_take_all(self) -> bool:
        """Whether all terms may be recommended."""
        return any(one.is_plain for one in self.asked.scores) and self.asked.asks_for_all(self.study.n_terms or 0)

    def _add_reference(self, journal: Journal | MemoryJournal, rows: TrialRows, seconds: dict[str, float]) -> None:
        """Try all terms where no score may rank all of them."""
        if any(one.is_plain for one in self.asked.scores) or self.asked.per_class:
            return
        named = Contender(ALL_TERMS, self.asked.scores[0].score)
        plan = replace(self.study.plan, scores=(named,), ks=(self.study.n_terms or 0,))
        self._run_stage(self.study.with_plan(plan, "for reference"), journal, rows, seconds)
        self.added.append(named)

    # More terms

    def _grow(self, journal: Journal | MemoryJournal, rows: TrialRows, seconds: dict[str, float]) -> None:
        """Try more terms as long as the best, or the fewest that are enough, stand at the end of the numbers tried."""
        if not self.asked.is_open:
            return
        n_terms = self.study.n_terms or 0
        for k in GROWTH:
            trials = self._trials(rows)
            edge = max((one.k for one in trials.tried if not one.is_all), default=n_terms)
            places = (trials.find_best(), trials.choose(self.asked.margin))
            if k >= n_terms or edge >= n_terms or all(trials.tried[place].k < edge for place in places):
                return
            for classifier, scores in _find_contenders(trials, edge).items():
                plan = replace(
                    self.study.plan, classifiers=(classifier,), ks=(k,),
                    scores=tuple(one for one in self.study.plan.scores if one.name in scores),
                )  # fmt: skip
                self._run_stage(self.study.with_plan(plan, f"with {k} terms"), journal, rows, seconds)

    # Other terms

    def _try_representation(self, journal: Journal | MemoryJournal, rows: TrialRows, seconds: dict[str, float]) -> None:
        """Try pairs of words, or characters, with the best score so far."""
        found = choose_representation(self.study.corpus, self.asked)
        if found is None or self.asked.per_class or self.asked.drop_empty:
            return
        trials = self._trials(rows)
        best = trials.tried[trials.find_best()]
        if best.mean == 1:
            return
        contender = self._best_score(trials, best.classifier)
        other = self.study.corpus.read_again(found.analyzer, self.threads)
        n_terms = count_rankable(other, self.asked, self.study.splits)
        given = found.sizes if self.asked.is_open else self.study.plan.ks
        ks = {int(k) for k in given if int(k) < n_terms}
        if self._may_take_all:
            ks.add(n_terms)
        if not ks:
            return
        named = replace(contender, name=name_with_terms(contender.name, found.name), representation=found.name)
        plan = replace(self.study.plan, scores=(named,), ks=tuple(sorted(ks)))
        self._run_stage(self.study.with_plan(plan, f"on {found.name}", other), journal, rows, seconds)
        self.added.append(named)
        self._others[found.name] = other
        self.representations[found.name] = {"analyzer": other.settings, "n_terms": n_terms}

    def _best_score(self, trials: Trials, classifier: str) -> Contender:
        """Return the score whose best number of terms, but all, is best with a classifier."""
        plain = [one for one in trials.tried if one.classifier == classifier]
        known = {one.name: one for one in self.study.plan.scores}
        fewer = [one for one in plain if not one.is_all and one.score in known] or plain
        return known[max(fewer, key=lambda one: one.mean).score]

    # Parameters of the classifier

    def _try_variants(self, journal: Journal | MemoryJournal, rows: TrialRows, seconds: dict[str, float]) -> None:
        """Try other parameters of the classifiers, with the terms that did best and with the fewest that are enough."""
        if not self.asked.is_open or self.asked.classifiers != CLASSIFIERS:
            return
        trials = self._trials(rows)
        if trials.tried[trials.find_best()].mean == 1:
            return
        for name, (parameter, values) in LADDERS.items():
            mine = trials.of_classifier(name)
            wanted = {mine.tried[mine.find_best()], mine.tried[mine.choose(self.asked.margin)]}

            def measure(settings: dict[str, Any], name: str = name, wanted: set[TrialSummary] = wanted) -> float:
                """Run a variant with the wanted terms, and return its best mean."""
                spelling = parse_recipe(name).with_parameters(**settings).spelling
                for stage in self._stages_of(wanted, spelling, "of a variant"):
                    self._run_stage(stage, journal, rows, seconds)
                return max(one.mean for one in self._trials(rows).of_classifier(spelling).tried)

            best = _climb(parameter, values, mine.tried[mine.find_best()].mean, measure)
            sizes = self.study.corpus.counts.class_sizes
            if name == WEIGHTED and max(sizes) >= IMBALANCE * min(sizes):
                for settings in ({}, best) if best else ({},):
                    measure({**settings, "class_weight": "balanced"})
        self._spread_best(journal, rows, seconds)

    def _spread_best(self, journal: Journal | MemoryJournal, rows: TrialRows, seconds: dict[str, float]) -> None:
        """Try the parameters that did best with all terms and with fewer than are chosen so far.

        So few terms are not compared with all terms of worse parameters, nor fewer terms with worse ones.
        """
        trials = self._trials(rows)
        best, chosen = trials.tried[trials.find_best()], trials.tried[trials.choose(self.asked.margin)]
        if best.classifier in self.asked.classifiers:
            return
        tried = {one[:3] for one in trials.tried}
        ranks_all = [one.name for one in (*self.study.plan.scores, *self.added) if one.is_plain]
        every = {best._replace(score=name, k=self.study.n_terms or 0) for name in ranks_all[:1]}
        fewer = {
            one._replace(classifier=best.classifier)
            for one in trials.tried
            if one.score == chosen.score and one.k < chosen.k
        }
        for wanted, stage in ((every, "with all terms"), (fewer, "with fewer terms")):
            missing = {one for one in wanted if one[:3] not in tried}
            for study in self._stages_of(missing, best.classifier, f"of a variant {stage}"):
                self._run_stage(study, journal, rows, seconds)

    def _stages_of(self, wanted: set[TrialSummary], classifier: str, stage: str) -> Iterator[Study]:
        """Yield studies of the same terms with another classifier."""
        by_score: dict[str, set[int]] = {}
        for one in wanted:
            by_score.setdefault(one.score, set()).add(one.k)
        known = {one.name: one for one in (*self.study.plan.scores, *self.added)}
        for name in sorted(by_score):
            contender = known[name]
            corpus = self._others.get(contender.representation or "", self.study.corpus)
            ks = tuple(sorted(by_score[name]))
            plan = replace(self.study.plan, scores=(contender,), classifiers=(classifier,), ks=ks)
            yield self.study.with_plan(plan, stage, corpus)


def _climb(
    parameter: str, values: tuple[float, ...], at_default: float, measure: Callable[[dict[str, Any]], float]
) -> dict[str, float]:
    """Try the neighbours of 1, the default, and the next values as long as each step pays; return the best, if any.

    >>> _climb("C", (0.25, 1.0, 4.0, 16.0, 64.0), 0.8, lambda given: {0.25: 0.7, 4.0: 0.9, 16.0: 0.85}[given["C"]])
    {'C': 4.0}
    """
    start = values.index(1.0)
    best, highest = {}, at_default
    for direction in (values[start + 1 :], values[:start][::-1]):
        reached = at_default
        for value in direction:
            found = measure({parameter: value})
            if found > highest:
                best, highest = {parameter: value}, found
            if found < reached + WORTH:
                break
            reached = found
    return best


def _find_contenders(trials: Trials, edge: int) -> dict[str, list[str]]:
    """Return the scores, by classifier, that are not worse than the best with the most terms tried so far."""
    there = np.array([one.k == edge and not one.is_all for one in trials.tried], bool)
    at = Trials([one for one, kept in zip(trials.tried, there, strict=True) if kept], trials.values[:, there],
                trials.asked[there], trials.ratio)  # fmt: skip
    near = [at.tried[i] for i in np.flatnonzero(at.find_enough(0.0))]
    best = sorted(near, key=lambda one: -one.mean)[:IN_THE_RUNNING]
    found: dict[str, list[str]] = {}
    for one in best:
        found.setdefault(one.classifier, []).append(one.score)
    return found


def _in_order(rows: TrialRows) -> TrialRows:
    """Sort the rows of all stages by split, score, classifier and number of terms, as those of one grid are."""
    scores = {name: i for i, name in enumerate(dict.fromkeys(row[2] for row in rows))}
    models = {name: i for i, name in enumerate(dict.fromkeys(row[3] for row in rows))}
    return sorted(rows, key=lambda row: (row[0], row[1], scores[row[2]], models[row[3]], row[4]))


def _list_small_classes(corpus: Corpus, cv: Any) -> dict[str, int]:
    sizes = np.bincount(corpus.Y.indices, minlength=len(corpus.classes)).tolist()
    needed = least_class_size(cv)
    return {str(label): int(n) for label, n in zip(corpus.classes, sizes, strict=True) if n < needed}


@contextmanager
def note_warnings() -> Iterator[list[str]]:
    """Collect what scikit-learn warns of while trials run, in our words; other warnings are passed on.

    Workers are threads, and warnings are shared by all threads, so one context holds for all.
    """
    from sklearn.exceptions import ConvergenceWarning, UndefinedMetricWarning

    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield notes
    unfinished = sum(issubclass(one.category, ConvergenceWarning) for one in caught)
    if unfinished:
        notes.append(
            f"{unfinished:,} fits of a classifier stopped before they had converged: its results may be a little lower "
            "than they could be."
        )
    said = "Label not"  # a class is missing in some folds: the recommendation says so
    for one in caught:
        if issubclass(one.category, ConvergenceWarning | UndefinedMetricWarning) or str(one.message).startswith(said):
            continue
        warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)

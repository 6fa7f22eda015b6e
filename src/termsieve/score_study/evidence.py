"""What the results say: mean ranks, regret with confidence intervals, agreement, and which score to take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from termsieve._types import Array, BoolArray
from termsieve.errors import OptionError
from termsieve.evaluate.significance import critical_difference, friedman, mean_ranks
from termsieve.score_study.problems import StudyProblem
from termsieve.score_study.results import Measure, StudyResults, iterate_values
from termsieve.scores import parse_score

DRAWS = 2000  # of the bootstrap
RARE_CLASS = 0.05  # of the documents
SHORT_TEXT = 60  # terms of a document
NEAR_DUPLICATES = 0.95  # of the first terms in common
TIE = 0.005  # of regret: smaller differences are no reason to prefer a score


class Case(NamedTuple):
    """A problem with one classifier and one range of the number of terms."""

    collection: str
    problem: StudyProblem
    classifier: str
    range: str

    @property
    def kind(self) -> str:
        """One class against the rest, or all classes."""
        return "one class" if self.problem.label else "all classes"

    @property
    def share(self) -> float:
        """Share of the documents that are of the class."""
        return self.problem.n_class / self.problem.n_docs


class Regret(NamedTuple):
    """How much F1 a score loses against the best score in hindsight, on average, with a 95 % interval."""

    name: str
    mean: float
    low: float
    high: float


class Standing(NamedTuple):
    """Where a score stands: regret, mean rank, stability, and whether it can be told from the best."""

    name: str
    regret: Regret
    rank: float
    stability: float
    behind: Regret


Condition = Callable[[Case], bool]
REGIMES: dict[str, dict[str, Condition]] = {
    "problem": {
        "one class against the rest": lambda case: case.kind == "one class",
        "all classes": lambda case: case.kind == "all classes",
    },
    "number of terms": {
        "10 to 50": lambda case: case.range == "few",
        "100 and 200": lambda case: case.range == "middle",
        "500 to 2,000": lambda case: case.range == "many",
    },
    "class": {
        f"rare (below {100 * RARE_CLASS:g} %)": lambda case: case.kind == "one class" and case.share < RARE_CLASS,
        "frequent": lambda case: case.kind == "one class" and case.share >= RARE_CLASS,
    },
    "texts": {
        f"short (below {SHORT_TEXT} terms)": lambda case: case.problem.length < SHORT_TEXT,
        "long": lambda case: case.problem.length >= SHORT_TEXT,
    },
    "classifier": {
        "multinomial naive Bayes": lambda case: case.classifier == "multinomial_nb",
        "Bernoulli naive Bayes": lambda case: case.classifier == "bernoulli_nb",
        "linear SVM": lambda case: case.classifier == "linear_svm",
    },
}


@dataclass(frozen=True, eq=False)
class Evidence:
    """The cases of a study, and what the contenders lose in each.

    A mean counts both kinds of problems the same, then all classifiers, then all collections, then the corpora of a
    collection, then the problems of a corpus: what matters is a corpus that is not among these.
    """

    results: StudyResults
    measure: Measure = "f1"

    @cached_property
    def names(self) -> list[str]:
        """The scores as they come: contenders without parameters of their own that are no rules."""
        return [name for name in self.results.contenders if name not in self.rules and not parse_score(name).given]

    @property
    def rules(self) -> list[str]:
        """The rules that competed beside the scores."""
        return list(self.results.protocol["rules"])

    def has_rules(self, case: Case) -> bool:
        """Tell whether the rules took part in a case."""
        return case.classifier in self._classifiers_with_rules

    @cached_property
    def _classifiers_with_rules(self) -> set[str]:
        panels = self.results.protocol["panels"].values()
        return {model for panel in panels if panel["rules"] for model in panel["classifiers"]}

    @cached_property
    def _columns(self) -> list[int]:
        return [self.results.contenders.index(name) for name in self.names]

    @cached_property
    def cases(self) -> list[Case]:
        """All cases."""
        collections = self.results.protocol["collections"]
        of = {corpus: name for name, parts in collections.items() for corpus in parts}
        return [
            Case(of.get(problem.corpus, problem.corpus), problem, model, one)
            for _, model, _, problem, _ in iterate_values(self.results, self.measure)
            for one in self.results.ranges
        ]

    @cached_property
    def values(self) -> Array:
        """Means of the measure: cases x contenders."""
        return np.concatenate([values for *_, values in iterate_values(self.results, self.measure)])

    @cached_property
    def regrets(self) -> Array:
        """What each contender loses against the best score: cases x contenders."""
        best = self.values[:, self._columns].max(axis=1, keepdims=True)
        return np.asarray(best - self.values)

    @cached_property
    def _draws(self) -> list[dict[str, int]]:
        """Collections drawn with replacement."""
        names = sorted({case.collection for case in self.cases})
        rng = np.random.default_rng(0)
        drawn = rng.multinomial(len(names), np.full(len(names), 1 / len(names)), DRAWS)
        return [dict(zip(names, map(int, row), strict=True)) for row in drawn]

    def _select(self, condition: Condition | None) -> BoolArray:
        return np.array([condition is None or condition(case) for case in self.cases])

    def _collection_means(self, where: BoolArray) -> tuple[list[str], Array, Array]:
        """Return the collections, the mean regret in each by kind and classifier, and which of these there are."""
        groups: dict[tuple[str, str], dict[str, list[int]]] = {}
        for i in np.flatnonzero(where):
            case = self.cases[i]
            groups.setdefault((case.kind, case.classifier), {}).setdefault(case.collection, []).append(int(i))
        names = sorted({case.collection for case in self.cases})
        kinds = sorted({kind for kind, _ in groups})
        means = np.zeros((len(groups), len(names), self.values.shape[1]))
        there = np.zeros((len(groups), len(names)))
        for g, (key, parts) in enumerate(sorted(groups.items())):
            of_kind = sum(kind == key[0] for kind, _ in groups)
            for name, rows in parts.items():
                means[g, names.index(name)] = self._mean_by_corpus(rows)
                there[g, names.index(name)] = 1.0 / (len(kinds) * of_kind)
        return names, means, there

    def _mean_by_corpus(self, rows: Sequence[int]) -> Array:
        by_corpus: dict[str, list[int]] = {}
        for i in rows:
            by_corpus.setdefault(self.cases[i].problem.corpus, []).append(i)
        return np.asarray(np.mean([self.regrets[some].mean(axis=0) for some in by_corpus.values()], axis=0))

    def mean_regrets(self, condition: Condition | None = None) -> tuple[Array, Array]:
        """Return the mean regret of each contender, and its bootstrap draws: draws x contenders."""
        where = self._select(condition)
        if not where.any():
            raise OptionError("There is no such case.")
        names, means, shares = self._collection_means(where)

        def average(times: Array) -> Array:
            weights = (shares > 0) * times
            sums = weights.sum(axis=1, keepdims=True)
            group = shares.max(axis=1, keepdims=True) * (sums > 0)
            weights = np.divide(weights, sums, out=np.zeros_like(weights), where=sums > 0) * group / group.sum()
            return np.asarray(np.einsum("gc,gcn->n", weights, means))

        drawn = [np.array([one[name] for name in names], np.float64) for one in self._draws]
        usable = [times for times in drawn if ((shares > 0) * times).any()]
        return average(np.ones(len(names))), np.array([average(times) for times in usable])

    def list_regrets(self, condition: Condition | None = None) -> list[Regret]:
        """Return the regret of every contender that took part in all these cases, least first."""
        mean, draws = self.mean_regrets(condition)
        low, high = np.quantile(draws, [0.025, 0.975], axis=0)
        found = [
            Regret(*row)
            for row in zip(self.results.contenders, *map(np.ndarray.tolist, (mean, low, high)), strict=True)
            if np.isfinite(row[1])
        ]
        return sorted(found, key=lambda one: (one.mean, one.name))

    def compare(self, name: str, other: str, condition: Condition | None = None) -> Regret:
        """Return how much more a contender loses than another in the same cases."""
        mean, draws = self.mean_regrets(condition)
        a, b = (self.results.contenders.index(one) for one in (name, other))
        return _with_interval(name, float(mean[a] - mean[b]), draws[:, a] - draws[:, b])

    @cached_property
    def rank_table(self) -> Array:
        """Mean of the measure over classifiers and ranges: problems x scores."""
        rows: dict[tuple[str, str, str], list[Array]] = {}
        for panel, _, _, problem, values in iterate_values(self.results, self.measure):
            rows.setdefault((panel.name, problem.corpus, problem.label), []).append(
                values[:, self._columns].mean(axis=0)
            )
        return np.array([np.mean(some, axis=0) for some in rows.values()])

    @cached_property
    def ranks(self) -> dict[str, float]:
        """Mean rank of each score over the problems, 1 for the best."""
        return dict(zip(self.names, mean_ranks(self.rank_table).tolist(), strict=True))

    @cached_property
    def critical_difference(self) -> float:
        """Nemenyi's critical difference of mean ranks, as if all problems were independent."""
        return critical_difference(len(self.names), len(self.rank_table))

    @cached_property
    def friedman_pvalue(self) -> float:
        """P-value of Friedman's test, as if all problems were independent."""
        return friedman(self.rank_table).pvalue

    @cached_property
    def standings(self) -> list[Standing]:
        """All scores as they come, the least regret first."""
        mean, draws = self.mean_regrets()
        columns = self._columns
        best = columns[int(np.argmin(mean[columns]))]
        found = []
        for i in columns:
            ahead = draws[:, i] - draws[:, best]
            found.append(
                Standing(
                    self.results.contenders[i],
                    _with_interval(self.results.contenders[i], mean[i], draws[:, i]),
                    self.ranks[self.results.contenders[i]],
                    float(self.results.stability[i]),
                    _with_interval(self.results.contenders[i], mean[i] - mean[best], ahead),
                )
            )
        return sorted(found, key=lambda one: (one.regret.mean, one.name))

    @cached_property
    def tied(self) -> list[Standing]:
        """The scores that cannot be told from the one with the least regret: nearly equal, and perhaps by chance."""
        return [one for one in self.standings if one.behind.mean <= TIE and one.behind.low <= 0]

    @cached_property
    def recommended(self) -> Standing:
        """Of the tied scores, the one whose first terms come again most often in other documents.

        A default must do for all documents: scores that need one label per document are left out.
        """
        general = [one for one in self.tied if not parse_score(one.name).single_label] or self.tied
        return max(general, key=lambda one: (round(one.stability, 4), -one.rank))

    def duplicates(self) -> list[tuple[str, str, float]]:
        """Return pairs of scores that have nearly the same first terms, nearest first."""
        agreement, columns = self.results.agreement, self._columns
        pairs = [
            (self.results.contenders[i], self.results.contenders[j], float(agreement[i, j]))
            for place, i in enumerate(columns)
            for j in columns[place + 1 :]
            if agreement[i, j] >= NEAR_DUPLICATES
        ]
        return sorted(pairs, key=lambda pair: -pair[2])

    @property
    def n_problems(self) -> int:
        """Number of problems of the largest panel."""
        return max(len(panel.problems) for panel in self.results.panels)

    @property
    def summary(self) -> dict[str, Any]:
        """What the package keeps of the evidence, for the catalogue of scores."""
        return {
            "recommended": self.recommended.name,
            "problems": self.n_problems,
            "corpora": len({case.problem.corpus for case in self.cases}),
            "scores": {
                one.name: {
                    "regret": round(one.regret.mean, 4),
                    "low": round(one.regret.low, 4),
                    "high": round(one.regret.high, 4),
                    "rank": round(one.rank, 1),
                    "stability": round(one.stability, 3),
                }
                for one in self.standings
            },
        }


def _with_interval(name: str, mean: float, draws: Array) -> Regret:
    low, high = np.quantile(draws, [0.025, 0.975])
    return Regret(name, float(mean), float(low), float(high))

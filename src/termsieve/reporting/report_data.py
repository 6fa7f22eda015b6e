"""The data of a report: the counts, the scores, and the comparison if there was one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import rankdata

from termsieve._types import Array, Int64Array
from termsieve.counts.counts import Counts
from termsieve.errors import InputError, OptionError
from termsieve.evaluate.agreement import overlap
from termsieve.evaluate.list_stability import OFTEN
from termsieve.model.exporting import Front
from termsieve.ranking.ranking import score
from termsieve.ranking.score_values import Scores
from termsieve.reporting.try_box import TryBox
from termsieve.selection.redundancy_rules import parse_redundancy_rule
from termsieve.study.excerpts import Excerpts
from termsieve.study.representations import name_without_terms
from termsieve.study.results import Comparison

OVERLAP_KS = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
MAX_PAIRS = 45
RANKING = "ranking"  # what is timed beside the classifiers
_ENERGY_POINTS = 60


class ScoredContender(NamedTuple):
    """A score under its name in the report, and the aggregation of its classes."""

    name: str
    scores: Scores
    aggregate: str | None = None

    @property
    def overall(self) -> Array:
        """One value per term."""
        return self.scores.overall(self.aggregate)


class Agreement(NamedTuple):
    """The share of their first k terms that two scores have in common."""

    first: str
    second: str
    k: int
    share: float


class StableTerms(NamedTuple):
    """The first k terms by a score, and in which share of half-samples of the documents each is among the first k."""

    score: str
    k: int
    stable: int
    halves: int
    shares: dict[str, float]

    def is_unsure(self, term: str) -> bool:
        """Tell whether a term is among the first k and does not come again in 9 of 10 half-samples."""
        return self.shares.get(term, 1.0) < OFTEN


class ReportData:
    """The data of a report.

    Attributes
    ----------
    result : Comparison or None
    counts : Counts or None
        Counts of all documents.
    contenders : list of ScoredContender
        The scores on the terms that they may rank.
    unavailable_scores : list of str
        Names of compared scores that this termsieve cannot compute from counts.
    excerpts : dict
    origin : dict
        Files of the documents and how they were read, as far as it is known.
    try_box : TryBox or None
        The box of the recommended model.
    front : Front or None
        The best F1 in how many bytes.
    """

    def __init__(
        self, counts: Counts | None, contenders: Sequence[ScoredContender], excerpts: Excerpts,
        result: Comparison | None = None, unavailable_scores: Sequence[str] = (),
    ) -> None:  # fmt: skip
        self.counts, self.contenders = counts, list(contenders)
        self.excerpts: Excerpts = dict(excerpts)
        self.result, self.unavailable_scores = result, list(unavailable_scores)
        origin = result.settings.get("origin") if result is not None else counts.origin if counts is not None else None
        self.origin: Mapping[str, Any] = origin if isinstance(origin, Mapping) else {}
        self.try_box: TryBox | None = None
        self.front: Front | None = None

    @classmethod
    def from_result(cls, given: Any) -> ReportData:
        """Collect the data of a comparison, of scores, or of several scores of the same counts."""
        if isinstance(given, Comparison):
            return cls._from_comparison(given)
        several = list(given.values()) if isinstance(given, Mapping) else [given]
        if not several or not all(isinstance(one, Scores) for one in several):
            raise OptionError(
                "report needs the result of termsieve.compare or termsieve.score; "
                f"it was given {'an empty mapping' if not several else type(several[0]).__name__}."
            )
        counts = several[0].counts
        if counts.n_classes < 2 or not counts.n_terms:
            raise InputError(
                f"report needs counts of at least two classes and one term; these have "
                f"{counts.n_classes:,} classes and {counts.n_terms:,} terms."
            )
        if any(one.counts is not counts for one in several):
            raise OptionError("report needs scores of the same counts; these are of different counts.")
        return cls(counts, [ScoredContender(one.score.spelling, one) for one in several], {})

    @classmethod
    def _from_comparison(cls, result: Comparison) -> ReportData:
        if not result.table.num_rows:
            raise InputError("report: this comparison has no rows: there is nothing to show.")
        counts = result.counts
        if counts is None:
            return cls(None, [], result.excerpts, result)
        least = {name: result.settings[name] for name in ("min_df", "min_tf") if result.settings.get(name, 1) != 1}
        ranked = counts.prune(**least) if least else counts
        if not ranked.n_terms:
            return cls(counts, [], result.excerpts, result, result.scores)
        given = result.settings.get("contenders") or []
        special = {one["name"]: one for one in given if isinstance(one, dict) and "name" in one}
        contenders, unavailable_scores = [], []
        for name in result.scores:
            about = special.get(name, {})
            if parse_redundancy_rule(str(about.get("score", name))) is not None:
                continue  # it needs the documents, which a report does not have
            if about.get("representation") is not None:
                continue  # the same score on other terms, of which there are no counts
            scored = result.scored.get(name)
            try:
                if scored is None or scored.counts is not ranked:
                    scored = score(ranked, about.get("score", name))
            except OptionError:  # a user's function, or a score of a newer termsieve
                unavailable_scores.append(name)
                continue
            contenders.append(ScoredContender(name, scored, about.get("aggregate")))
        return cls(counts, contenders, result.excerpts, result, unavailable_scores)

    @property
    def names(self) -> list[str]:
        """The names of the scores."""
        return [one.name for one in self.contenders]

    @cached_property
    def stable_terms(self) -> StableTerms | None:
        """How many of the first terms come again from half-samples, where that was measured."""
        given = None if self.result is None else self.result.settings.get("stable_terms")
        try:
            return None if given is None else StableTerms(**given)
        except TypeError:  # of another version
            return None

    @property
    def leading_contender(self) -> ScoredContender:
        """The score that the page shows first: the recommended one, also if of pairs of words, or the first."""
        chosen = "" if self.result is None else name_without_terms(self.result.recommended().score)
        return next((one for one in self.contenders if one.name == chosen), self.contenders[0])

    @property
    def ranked_counts(self) -> Counts:
        """Counts of the terms that are ranked."""
        return self.contenders[0].scores.counts

    @cached_property
    def orders(self) -> dict[str, Int64Array]:
        """The indices of all ranked terms, best first, by each score."""
        return {one.name: one.scores.order(one.aggregate) for one in self.contenders}

    @cached_property
    def ks(self) -> list[int]:
        """The numbers of terms at which scores are compared, none above the number of terms."""
        asked = OVERLAP_KS if self.result is None else self.result.ks
        return [k for k in asked if k <= self.ranked_counts.n_terms] or [self.ranked_counts.n_terms]

    @cached_property
    def pairs(self) -> list[tuple[str, str]]:
        """Pairs of scores; where there are too many, only those with the recommended or first score."""
        every = list(combinations(self.names, 2))
        if len(every) <= MAX_PAIRS:
            return every
        chosen = self.names[0] if self.result is None else self.result.recommended().score
        chosen = chosen if chosen in self.names else self.names[0]
        return [(chosen, name) for name in self.names if name != chosen]

    @cached_property
    def agreements(self) -> list[Agreement]:
        """The shares of first terms that each pair of scores has in common."""
        last = self.ks[-1]
        heads = {name: order[:last].tolist() for name, order in self.orders.items()}
        return [
            Agreement(a, b, k, common / k)
            for a, b in self.pairs
            for k, common in zip(self.ks, overlap(heads[a], heads[b], self.ks).common.tolist(), strict=True)
        ]

    @cached_property
    def correlations(self) -> Array:
        """Spearman's rank correlation of each two scores over all terms; NaN where one is constant."""
        ranks = np.array([rankdata(one.overall) for one in self.contenders])
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.atleast_2d(np.corrcoef(ranks))

    @cached_property
    def energies(self) -> dict[str, list[tuple[int, float]]]:
        """The share of the sum that the first k terms have, for each score whose sum makes sense."""
        energies = {}
        for one in self.contenders:
            values = one.overall[self.orders[one.name]]
            if len(values) and np.isfinite(values).all() and values.min() >= 0 and values.max() > 0:
                sums = np.cumsum(values) / values.sum()
                ks = np.unique(np.geomspace(1, len(values), _ENERGY_POINTS).round().astype(np.int64))
                energies[one.name] = [(int(k), float(sums[k - 1])) for k in ks]
        return energies

    @cached_property
    def timings(self) -> dict[tuple[str, str], float]:
        """CPU seconds of a split, on average: by score and classifier, or `RANKING`."""
        if self.result is None:
            return {}
        known = {f"{name} {model}": (name, model) for name in self.result.scores
                 for model in (RANKING, *self.result.classifiers)}  # fmt: skip
        seconds_by_trial: dict[tuple[str, str], list[float]] = {}
        for key, seconds in self.result.seconds.items():
            trial = known.get(key.split(" ", 2)[-1])
            if trial is not None:
                seconds_by_trial.setdefault(trial, []).append(seconds)
        return {trial: float(np.mean(values)) for trial, values in seconds_by_trial.items()}

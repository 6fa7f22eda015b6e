"""What a report is made from: the counts, the scores on them, and, if there was one, the comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from termsieve._types import Int64Array
from termsieve.counts.counts import Counts
from termsieve.errors import InputError, OptionError
from termsieve.evaluate.measures import overlap
from termsieve.ranking.ranking import Scores, score
from termsieve.study.excerpts import Excerpts
from termsieve.study.results import Comparison
from termsieve.table import Array

OVERLAP_KS = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
MAX_PAIRS = 45
_ENERGY_POINTS = 60


class ScoredContender(NamedTuple):
    """A score under the name that it has in the report, and how its classes come together."""

    name: str
    scores: Scores
    aggregate: str | None = None

    @property
    def overall(self) -> Array:
        """One value per term."""
        return self.scores.overall(self.aggregate)


class Agreement(NamedTuple):
    """Two scores, and the share of their first k terms that they have in common."""

    first: str
    second: str
    k: int
    share: float


class ReportData:
    """What there is to show.

    Attributes
    ----------
    result : Comparison or None
    counts : Counts or None
        Of all documents.
    contestants : list of Contestant
        The scores on the terms that they may rank.
    left_out : list of str
        Names of compared scores that this termsieve cannot compute from counts.
    excerpts : dict
    origin : dict
        Files of the documents and how they were read, as far as it is known.
    """

    def __init__(
        self, counts: Counts | None, contestants: Sequence[ScoredContender], excerpts: Excerpts,
        result: Comparison | None = None, left_out: Sequence[str] = (),
    ) -> None:  # fmt: skip
        self.counts, self.contenders = counts, list(contestants)
        self.excerpts: Excerpts = dict(excerpts)
        self.result, self.unavailable_scores = result, list(left_out)
        known = result.settings.get("origin") if result is not None else counts.origin if counts is not None else None
        self.origin: Mapping[str, Any] = known if isinstance(known, Mapping) else {}

    @classmethod
    def of(cls, given: Any) -> ReportData:
        """What there is in a comparison, in scores, or in several scores of the same counts."""
        if isinstance(given, Comparison):
            return cls._from_comparison(given)
        several = list(given.values()) if isinstance(given, Mapping) else [given]
        if not several or not all(isinstance(one, Scores) for one in several):
            raise OptionError(
                "report needs what termsieve.compare or termsieve.score gave; "
                f"it was given {'an empty mapping' if not several else type(several[0]).__name__}."
            )
        counts = several[0].counts
        if counts.n_classes < 2 or not counts.n_terms:
            raise InputError(
                f"report: there must be two classes and a term to tell them apart; these counts have "
                f"{counts.n_classes:,} classes and {counts.n_terms:,} terms."
            )
        if any(one.counts is not counts for one in several):
            raise OptionError("report needs scores of the same counts; these are of different ones.")
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
        contestants, left_out = [], []
        for name in result.scores:
            about = special.get(name, {})
            try:
                scores = score(ranked, about.get("score", name))
            except OptionError:  # a function of a user, or a score of a newer termsieve
                left_out.append(name)
                continue
            contestants.append(ScoredContender(name, scores, about.get("aggregate")))
        return cls(counts, contestants, result.excerpts, result, left_out)

    @property
    def names(self) -> list[str]:
        """Of the scores."""
        return [one.name for one in self.contenders]

    @property
    def ranked_counts(self) -> Counts:
        """Counts of the terms that are ranked."""
        return self.contenders[0].scores.counts

    @cached_property
    def orders(self) -> dict[str, Int64Array]:
        """The places of all ranked terms, best first, by each score."""
        return {one.name: one.scores.order(one.aggregate) for one in self.contenders}

    @cached_property
    def ks(self) -> list[int]:
        """Numbers of terms at which scores are compared, as far as there are terms."""
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
        """How much of their first terms each pair of scores has in common."""
        last = self.ks[-1]
        heads = {name: order[:last].tolist() for name, order in self.orders.items()}
        return [
            Agreement(a, b, k, common / k)
            for a, b in self.pairs
            for k, common in zip(self.ks, overlap(heads[a], heads[b], self.ks).common.tolist(), strict=True)
        ]

    @cached_property
    def correlations(self) -> npt.NDArray[np.float64]:
        """Spearman's rank correlation of each two scores over all terms; not a number where one is constant."""
        ranks = np.array([rankdata(one.overall) for one in self.contenders])
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.atleast_2d(np.corrcoef(ranks))

    @cached_property
    def energies(self) -> dict[str, list[tuple[int, float]]]:
        """For each score whose sum makes sense: how much of it the first k terms have."""
        found = {}
        for one in self.contenders:
            values = one.overall[self.orders[one.name]]
            if len(values) and np.isfinite(values).all() and values.min() >= 0 and values.max() > 0:
                sums = np.cumsum(values) / values.sum()
                ks = np.unique(np.geomspace(1, len(values), _ENERGY_POINTS).round().astype(np.int64))
                found[one.name] = [(int(k), float(sums[k - 1])) for k in ks]
        return found

    @cached_property
    def timings(self) -> dict[tuple[str, str], float]:
        """CPU seconds of a split, on average: by score and classifier, or "ranking"."""
        if self.result is None:
            return {}
        known = {f"{name} {model}": (name, model) for name in self.result.scores
                 for model in ("ranking", *self.result.classifiers)}  # fmt: skip
        found: dict[tuple[str, str], list[float]] = {}
        for key, seconds in self.result.seconds.items():
            trial = known.get(key.split(" ", 2)[-1])
            if trial is not None:
                found.setdefault(trial, []).append(seconds)
        return {trial: float(np.mean(values)) for trial, values in found.items()}

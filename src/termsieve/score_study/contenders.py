"""Contenders: what ranks the terms of a problem. Scores, with and without their guard, and rules."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

from termsieve._types import Int64Array
from termsieve.counts.counts import Counts
from termsieve.ranking.ranking import Scores, score
from termsieve.scores import SCORES


def list_contenders() -> list[str]:
    """Return the spellings of all scores, and of those with a guard also without it."""
    free = [one.with_parameters(min_df=1).spelling for one in SCORES.values() if one.guarded]
    return [*(one.spelling for one in SCORES.values()), *free]


@dataclass(frozen=True, eq=False)
class Contenders:
    """Scores on the counts of training documents; each is evaluated once for all classes."""

    names: Sequence[str]
    scores: Sequence[Scores]
    among: Int64Array

    @classmethod
    def on_counts(cls, counts: Counts, names: Sequence[str]) -> Contenders:
        """Score the terms that the training documents have."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # several labels: each class is looked at by itself
            scores = [score(counts, name) for name in names]
        for one in scores:
            one.of_class(0)  # threads find it done
        return cls(names, scores, counts.term_df.nonzero()[0])

    def rank_for_class(self, place: int, c: int, n: int) -> Int64Array:
        """Return the n best terms for a class, by one of the contenders."""
        one = self.scores[place]
        return one.top_indices(one.of_class(c), one.tie_break_of_class(c), n, self.among)

    def rank_for_all(self, place: int, n: int) -> Int64Array:
        """Return the n best terms for all classes together."""
        one = self.scores[place]
        return one.top_indices(one.overall(), one.tie_break_of(None), n, self.among)

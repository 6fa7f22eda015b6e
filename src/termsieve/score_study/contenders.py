"""Contenders: what ranks the terms of a problem. Scores, with and without their guard, and rules."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

from scipy import sparse

from termsieve._types import Int64Array
from termsieve.counts.counts import Counts
from termsieve.counts.labelled import LabelledMatrix
from termsieve.ranking.ranking import score
from termsieve.ranking.score_values import Scores
from termsieve.scores import SCORES
from termsieve.selection.redundancy_rules import RedundancyRule, parse_redundancy_rule


def list_contenders(rules: Sequence[str] = ()) -> list[str]:
    """Return the spellings of all scores, of those with a guard also without it, and of rules.

    >>> list_contenders(["cmim"])[-2:]
    ['dfs(min_df=1)', 'cmim']
    """
    free = [one.with_parameters(min_df=1).spelling for one in SCORES.values() if one.guarded]
    return [*(one.spelling for one in SCORES.values()), *free, *rules]


@dataclass(frozen=True, eq=False)
class Contenders:
    """Scores and rules on training documents; each score is evaluated once for all classes."""

    names: Sequence[str]
    rankers: Sequence[Scores | RedundancyRule]
    matrix: LabelledMatrix
    among: Int64Array

    @classmethod
    def on_documents(
        cls, X: sparse.csr_array, Y: sparse.csr_array, classes: list[str], names: Sequence[str]
    ) -> Contenders:
        """Score the terms that the training documents have."""
        matrix = LabelledMatrix(X, Y, Counts.from_matrix(X, Y, classes=classes))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # several labels: each class is looked at by itself
            rankers = [parse_redundancy_rule(name) or score(matrix.counts, name) for name in names]
        for one in rankers:
            if isinstance(one, Scores):
                one.of_class(0)  # threads find it done
        return cls(names, rankers, matrix, matrix.counts.term_df.nonzero()[0])

    def rank(self, place: int, n: int, c: int | None = None) -> Int64Array:
        """Return the n best terms by one of the contenders: for all classes together, or for one against the rest."""
        one = self.rankers[place]
        if isinstance(one, RedundancyRule):
            return one.choose_from(self.matrix, n, self.among, c).indices
        if c is None:
            return one.top_indices(one.overall(), one.tie_break_of(None), n, self.among)
        return one.top_indices(one.of_class(c), one.tie_break_of_class(c), n, self.among)

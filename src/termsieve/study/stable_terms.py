"""How many of the recommended terms would come again from half of the documents: for the report of a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from termsieve.counts.folds import Folds
from termsieve.counts.labelled import LabelledMatrix
from termsieve.evaluate.list_stability import stability
from termsieve.study.plan import Contender
from termsieve.study.recommendation import Recommendation

MAX_DOCUMENTS = 30_000  # with more, ranking the half-samples takes longer than many comparisons
OTHER_K = 100  # terms that are looked at where what is recommended is not a list by a score
_PAIRS, _FOLDS = 10, 20


def measure_stable_terms(
    matrix: LabelledMatrix, choice: Recommendation, contenders: Sequence[Contender]
) -> dict[str, Any] | None:
    """Return how often each of the recommended terms is selected from half-samples, as plain data.

    Where all terms, pairs of words or a rule are recommended, the first terms of the first score are looked at.
    """
    plain = {one.name: one for one in contenders if one == Contender(one.name, one.score) and not one.ranks_together}
    if not plain:
        return None
    is_list = choice.score in plain and not choice.is_all
    name, k = (choice.score, choice.k) if is_list else (next(iter(plain)), OTHER_K)
    if matrix.counts.n_terms <= k:
        return None
    found = stability(Folds.of_matrix(matrix, _FOLDS), plain[name].score, k, pairs=_PAIRS)
    shares = dict(zip(found.terms.tolist(), found.shares.round(3).tolist(), strict=True))
    return {"score": name, "k": k, "stable": found.n_stable, "halves": found.n_halves, "shares": shares}

"""Half-samples: would the same terms be selected from half of the documents? And the rule that takes those that are.

Halves of the folds of one pass of counting are half-samples of the documents, and their counts are sums: nothing is
read again. They come in complementary pairs (``shah2013``): each document is in one half of each pair.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
import pyarrow.compute as pc

from termsieve.errors import OptionError
from termsieve.ranking.ranking import ScoreLike, as_score, score
from termsieve.selection.pool import ChosenTerms, Rule, TermPool, rule, set_float, set_int

if TYPE_CHECKING:
    from termsieve._types import Array, BoolArray, Int64Array
    from termsieve.counts.counts import Counts
    from termsieve.counts.folds import Folds
    from termsieve.scores import Score

PAIRS = 25
N_FOLDS = 20  # into which documents are divided for it


class HalfSamples(NamedTuple):
    """The ranks of all terms of the total in each half-sample (halves x terms), from 1; and which it selects.

    Terms that a half-sample lacks come last and are not selected, however many are.
    """

    ranks: Int64Array
    selected: BoolArray

    @property
    def shares(self) -> Array:
        """In which share of the half-samples each term is selected."""
        return np.asarray(self.selected.mean(axis=0))


def rank_half_samples(
    folds: Folds,
    one: ScoreLike,
    k: int,
    *,
    aggregate: str | None = None,
    among: Int64Array | None = None,
    pairs: int = PAIRS,
    seed: int = 0,
) -> HalfSamples:
    """Rank the terms in pairs of half-samples, each of half of the folds; `among` are the places of those to rank."""
    if len(folds) < 4:
        raise OptionError(f"Half-samples are made of folds: at least 4 are needed, better 20; there are {len(folds)}.")
    chosen_score, rng = as_score(one), np.random.default_rng(seed)
    total = folds.total
    allowed = np.ones(total.n_terms, np.bool_) if among is None else np.isin(np.arange(total.n_terms), among)
    ranks = np.full((2 * pairs, total.n_terms), total.n_terms, np.int64)
    selected = np.zeros(ranks.shape, np.bool_)
    for pair in range(pairs):
        drawn = rng.permutation(len(folds))
        for row, half in enumerate((drawn[: len(folds) // 2], drawn[len(folds) // 2 :]), 2 * pair):
            order = _order_places(folds.join(half.tolist()), total, chosen_score, aggregate)
            order = order[allowed[order]]
            ranks[row, order] = np.arange(1, len(order) + 1)
            selected[row, order[:k]] = True
    return HalfSamples(ranks, selected)


def find_places(counts: Counts, total: Counts) -> Int64Array:
    """Return where the terms of a part of the documents, or some of the terms, are in the total."""
    places = pc.index_in(counts.term_array, value_set=total.term_array)
    if places.null_count:
        raise OptionError("The folds are of other documents: they do not have all terms that are selected from.")
    return np.asarray(places.to_numpy(), np.int64)


def _order_places(counts: Counts, total: Counts, one: Score, aggregate: str | None) -> Int64Array:
    """Return where the terms of a part of the documents are in the total, best first; none where it has no class."""
    places = find_places(counts, total)
    return places[score(counts, one).order(aggregate)] if counts.n_classes else places[:0]


@rule("stable")
@dataclass(frozen=True, repr=False)
class Stable(Rule):
    """The terms that are among the k best in at least this share of half-samples (stability selection).

    It needs documents, or their counts in folds: ``termsieve.select(documents, "stable(500, share=0.9)")``.

    >>> Stable(500)
    stable(500)
    """

    k: int = 1000
    share: float = 0.9
    needs_folds: ClassVar[bool] = True

    def __post_init__(self) -> None:
        set_int(self, "k")
        set_float(self, "share", 0, 1)

    def choose(self, pool: TermPool) -> ChosenTerms:
        """Choose the terms that come again."""
        if pool.folds is None:
            raise OptionError(
                f"{self} selects from half-samples, which neither counts nor estimators have. Give the documents: "
                "termsieve.select(documents, rule), or the file of documents to the command."
            )
        places = find_places(pool.counts, pool.folds.total)
        among = places if pool.among is None else places[pool.among]
        halves = rank_half_samples(pool.folds, pool.scores.score, self.k, aggregate=pool.aggregate, among=among)
        kept = halves.shares[places] >= self.share
        order = pool.top_indices()
        indices = order[kept[order]]
        reason = (
            f"{len(indices):,} of {pool.size:,} terms are among the {self.k:,} best in at least {self.share:g} of "
            f"{len(halves.ranks)} half-samples"
        )
        return ChosenTerms(indices, pool.values[indices], [pool.scores.score.spelling] * len(indices), reason)

"""The stability of a list of terms: how much of it comes again in half-samples of the documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from termsieve.errors import OptionError
from termsieve.evaluate import agreement
from termsieve.evaluate.agreement import Stability
from termsieve.frames import ArrowTable
from termsieve.ranking.ranking import ScoreLike, as_score, score
from termsieve.scores import DEFAULT_SCORE
from termsieve.selection.stability import PAIRS, rank_half_samples
from termsieve.views import format_percent

if TYPE_CHECKING:
    from termsieve._types import Array, BoolArray, Int64Array, StringArray
    from termsieve.counts.folds import Folds

OFTEN = 0.9  # of the half-samples: what counts as coming again
_SHOWN = 6


@dataclass(frozen=True, eq=False, repr=False)
class ListStability(ArrowTable):
    """The best terms of all documents, and how they fare in half-samples. Made by `termsieve.stability`.

    Attributes
    ----------
    terms : array of str
        The k best terms, in rank order.
    shares : array
        In which share of the half-samples each is among the k best.
    rank_low, rank_high : array of int
        Between which ranks each is in nine of ten half-samples.
    index : Stability
        Nogueira's measure of all half-samples, with its interval: 1 for always the same terms, 0 for random ones. The
        interval takes half-samples for independent.
    n_halves, n_docs, n_terms : int
        Number of half-samples, of documents, and of terms to choose from.
    score : str
        The spelling of the score.

    Examples
    --------
    >>> import termsieve as ts
    >>> texts, labels = ["cheap pills", "lunch at noon"] * 20, ["spam", "ham"] * 20
    >>> found = ts.stability(ts.count_folds(texts, labels, folds=8), "chi2", 2)
    >>> found.terms, found.shares
    (array(['at', 'cheap'], dtype=object), array([1., 1.]))
    """

    terms: StringArray
    shares: Array
    rank_low: Int64Array
    rank_high: Int64Array
    index: Stability
    n_halves: int
    n_docs: int
    n_terms: int
    score: str

    @property
    def is_stable(self) -> BoolArray:
        """Which terms come again in nine of ten half-samples."""
        return np.asarray(self.shares >= OFTEN)

    @property
    def n_stable(self) -> int:
        """Number of the terms that come again in nine of ten half-samples."""
        return int(self.is_stable.sum())

    @property
    def sentence(self) -> str:
        """What it says, in words."""
        return f"of these {len(self.terms):,} terms {self.n_stable:,} come again in 9 of 10 half-samples"

    def __len__(self) -> int:
        return len(self.terms)

    def __repr__(self) -> str:
        index = self.index
        least = np.argsort(self.shares, kind="stable")[:_SHOWN]
        shown = ", ".join(
            f"{self.terms[i]} ({format_percent(float(self.shares[i]))})" for i in least if self.shares[i] < OFTEN
        )
        lines = [
            f"Stability of the {len(self):,} best of {self.n_terms:,} terms by {self.score}",
            f"  {self.sentence}",
            f"  index     {index.value:.3f} ({index.low:.3f} to {index.high:.3f}), 1 if always the same terms",
            f"  from      {self.n_halves} half-samples of {self.n_docs:,} documents",
        ]
        return "\n".join([*lines, f"  least     {shown}"] if shown else lines)

    def to_arrow(self) -> pa.Table:
        """Return a table with a row per term: rank, term, share, rank_low, rank_high."""
        return pa.table(
            {
                "rank": np.arange(1, len(self) + 1),
                "term": pa.array(self.terms, pa.string()),
                "share": self.shares,
                "rank_low": self.rank_low,
                "rank_high": self.rank_high,
            }
        )


def stability(
    folds: Folds,
    score_func: ScoreLike = DEFAULT_SCORE,
    k: int = 1000,
    *,
    aggregate: str | None = None,
    among: Int64Array | None = None,
    pairs: int = PAIRS,
    seed: int = 0,
) -> ListStability:
    """Select the k best terms from many half-samples, and tell how often each comes again.

    Parameters
    ----------
    folds : Folds
        What `termsieve.count_folds` made: one pass; 20 folds or more give enough different halves.
    score_func : str, Score or function of a Table
        The score that ranks the terms (default: `termsieve.defaults.DEFAULT_SCORE`).
    k : int
        How many terms are selected.
    aggregate : {"max", "sum", "mean", "weighted_mean"}, optional
        How scores of the classes become one (default: the score's own way).
    among : array of int, optional
        The places of the terms to choose from (default all).
    pairs, seed : int
        Number of pairs of complementary half-samples, and for drawing them.

    Examples
    --------
    >>> import termsieve as ts
    >>> texts, labels = ["cheap pills", "lunch at noon"] * 20, ["spam", "ham"] * 20
    >>> ts.stability(ts.count_folds(texts, labels, folds=8), "chi2", 2).sentence
    'of these 2 terms 2 come again in 9 of 10 half-samples'
    """
    for name, value, least in (("k", k, 1), ("pairs", pairs, 1), ("seed", seed, 0)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
            raise OptionError(
                f"The parameter {name!r} of 'stability' must be a whole number, {least} or more, not {value!r}."
            )
    counts, one = folds.total, as_score(score_func)
    if among is not None:
        among = np.asarray(among, np.int64)
        if among.size and not 0 <= among.min() <= among.max() < counts.n_terms:
            raise OptionError(f"'among' must have places of the {counts.n_terms:,} terms, from 0; it has others.")
    halves = rank_half_samples(folds, one, int(k), aggregate=aggregate, among=among, pairs=pairs, seed=seed)
    scores = score(counts, one)
    best = scores.top_indices(scores.overall(aggregate), scores.tie_break_of(aggregate), int(k), among)
    low, high = np.quantile(halves.ranks[:, best], [0.05, 0.95], axis=0, method="inverted_cdf")
    places = np.arange(counts.n_terms) if among is None else among
    return ListStability(
        terms=counts.terms[best],
        shares=halves.shares[best],
        rank_low=low.astype(np.int64),
        rank_high=high.astype(np.int64),
        index=agreement.stability(halves.selected[:, places]),
        n_halves=len(halves.ranks),
        n_docs=counts.n_docs,
        n_terms=len(places),
        score=one.spelling,
    )

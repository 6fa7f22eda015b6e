"""Which terms of a ranking depend on one source: the total minus a source, ranked again."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from termsieve._types import Array, Int64Array
from termsieve.checks import is_whole_number
from termsieve.counts.counts import Counts
from termsieve.counts.folds import Folds
from termsieve.errors import OptionError
from termsieve.frames import ArrowTable
from termsieve.ranking.ranking import ScoreLike, score
from termsieve.scores import DEFAULT_SCORE


class SourceRow(NamedTuple):
    """A term of the ranking: its rank, its worst rank without a source, that source, and the source's share of it.

    `rank_without` is None where no other source has the term.
    """

    term: str
    rank: int
    rank_without: int | None
    source: str
    share: float
    depends: bool


SCHEMA = pa.schema(
    [("term", pa.string()), ("rank", pa.int64()), ("rank_without", pa.int64()), ("source", pa.string()),
     ("share", pa.float64()), ("depends", pa.bool_())]
)  # fmt: skip


class SourceDependence(ArrowTable):
    """The best terms, and how they fare when each source is left out. Made by `depend_on_source`."""

    def __init__(self, rows: list[SourceRow], sources: list[str], score: str) -> None:
        self.rows, self.sources, self.score = rows, sources, score

    def to_arrow(self) -> pa.Table:
        """Return a table with a row per term."""
        columns = list(zip(*self.rows, strict=True)) or [()] * len(SCHEMA)
        return pa.table(dict(zip(SCHEMA.names, columns, strict=True)), schema=SCHEMA)

    @property
    def headline(self) -> str:
        """How many terms depend on one source."""
        n = sum(row.depends for row in self.rows)
        return (
            f"Of the best {len(self.rows):,} terms by {self.score}, {n:,} are no longer among them when one of "
            f"{len(self.sources):,} sources is left out"
        )

    def __repr__(self) -> str:
        shown = [row for row in self.rows if row.depends]
        lines = [
            f"  {row.term}: rank {row.rank}, {_format_rank(row.rank_without)} without {row.source}" for row in shown
        ]
        return "\n".join(
            [self.headline, *lines[:20], *([f"  ... {len(lines) - 20:,} more"] if len(lines) > 20 else [])]
        )


def _format_rank(rank: int | None) -> str:
    return "gone" if rank is None else f"{rank:,}"


def depend_on_source(folds: Folds, score_func: ScoreLike = DEFAULT_SCORE, k: int = 100) -> SourceDependence:
    """Rank all documents, and again without each source; say which of the best k terms depend on one source.

    Parameters
    ----------
    folds
        Of `termsieve.count_folds`, with a column of sources as folds.
    score_func
        A score.
    k
        Number of terms; a term depends on a source if it is not among the best k without it.

    Examples
    --------
    >>> import termsieve as ts
    >>> texts = ["buy pills", "lunch"] * 4 + ["acme pills", "tea"] * 3
    >>> folds = ts.count_folds(texts, ["spam", "ham"] * 7, folds=["a"] * 4 + ["b"] * 4 + ["c"] * 6)
    >>> [(row.term, row.source) for row in depend_on_source(folds, "chi2", 5).rows if row.rank_without is None]
    [('acme', 'c'), ('tea', 'c')]
    """
    if not is_whole_number(k, 1):
        raise OptionError(f"k must be a number of terms, 1 or more, not {k!r}.")
    whole = score(folds.total, score_func)
    best = whole.order()[:k]
    terms = folds.total.term_array.take(pa.array(best))
    names = [str(name) for name in folds.names]
    ranks = np.stack([_ranks_without(folds.training(i), score_func, terms) for i in range(len(folds))])
    shares = np.stack([_term_shares(folds.test(i), terms, folds.total.term_df[best]) for i in range(len(folds))])
    worst = np.argmax(ranks, axis=0)
    rows = []
    for place, (term, source) in enumerate(zip(terms.to_pylist(), worst.tolist(), strict=True)):
        rank = int(ranks[source, place])
        absent = rank == np.iinfo(np.int64).max
        rows.append(
            SourceRow(term, place + 1, None if absent else rank, names[source], float(shares[source, place]), rank > k)
        )
    return SourceDependence(rows, names, whole.score.spelling)


def _ranks_without(counts: Counts, score_func: ScoreLike, terms: pa.LargeStringArray) -> Int64Array:
    """Return the rank of each term in these counts, the largest number for those that they do not have."""
    order = score(counts, score_func).order()
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(1, len(order) + 1)
    places = pc.index_in(terms, value_set=counts.term_array)
    found = places.is_valid().to_numpy(zero_copy_only=False)
    ranks = np.full(len(terms), np.iinfo(np.int64).max)
    ranks[found] = rank[places.drop_null().to_numpy()]
    return ranks


def _term_shares(counts: Counts, terms: pa.LargeStringArray, df: Int64Array) -> Array:
    """Return the share of each term's documents that these counts have."""
    places = pc.index_in(terms, value_set=counts.term_array).fill_null(-1).to_numpy().astype(np.int64)
    return np.asarray(np.append(counts.term_df, 0)[places] / df)  # place -1 is the 0 at the end

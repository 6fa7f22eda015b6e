"""p-values by permutation: how often a score would be as large if labels were exchanged at random. From counts alone.

When labels are exchanged, the number of documents of a class with a term is hypergeometric. So the p-value of any score
of documents in one class is a sum over the possible tables, exact; that of an overall score is found by drawing tables
(multivariate hypergeometric), and counts the observed one among the draws. As large means at least as large: one-sided
scores are tested for terms that are more frequent in the class than elsewhere, two-sided ones for any association.

Occurrences within a document are not exchanged, and counts do not know them document by document: scores of
occurrences have no such p-values.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from termsieve.errors import OptionError
from termsieve.ranking.dense import DenseClasses, evaluate_overall
from termsieve.ranking.distinct import DetailLevel, find_distinct_cells
from termsieve.table import Table, TableTooCoarseError

if TYPE_CHECKING:
    from termsieve._types import Array, Int64Array
    from termsieve.counts.counts import Counts
    from termsieve.ranking.distinct import DistinctCells
    from termsieve.scores import Score

Control: TypeAlias = Literal["bh", "by"]
_BLOCK = 1 << 18  # this many possible tables are scored at once
_FAR, _NEAR, _MARGIN = 40, 10, 60  # standard deviations and documents: what is further from the mean has no probability
_DRAWN_FROM = 10**9  # documents, from which on NumPy does not draw
_SAME = 1e-9  # values that differ by less, relatively, are equal: the rest is rounding


class _Margins(NamedTuple):
    """The margins of a table, which no permutation changes, and the tables that have any probability in doubles."""

    n_t: int
    n_c: int
    n: int
    least: int
    n_tables: int

    @classmethod
    def from_observed(cls, n_t: int, n_c: int, n: int, observed: Int64Array) -> _Margins:
        """Return the margins, with all tables near the mean and around those that were observed."""
        mean = n_t * n_c / n
        spread = math.sqrt(mean * (n - n_c) / n * (n - n_t) / max(n - 1, 1))
        far, near = int(_FAR * spread) + _MARGIN, int(_NEAR * spread) + _MARGIN
        least = max(0, n_t + n_c - n, min(int(mean) - far, int(observed.min()) - near))
        most = min(n_t, n_c, max(int(mean) + far, int(observed.max()) + near))
        return cls(n_t, n_c, n, least, most - least + 1)


def find_cell_pvalues(counts: Counts, score: Score) -> tuple[DistinctCells, Array]:
    """Return the exact p-values of all different cells of counts."""
    cells = find_distinct_cells(counts, DetailLevel.DOCUMENTS)
    if not cells.n_cells:
        return cells, np.empty(0)
    tp, n_t, n_c = (
        np.concatenate([getattr(t, name) for t in cells.tables]).astype(np.int64) for name in ("tp", "n_t", "n_c")
    )
    margins, where = np.unique(np.array([n_t, n_c]), axis=1, return_inverse=True)
    found = np.empty(tp.size)
    order = np.argsort(where.reshape(-1), kind="stable")
    ends = np.cumsum(np.bincount(where.reshape(-1), minlength=margins.shape[1]))
    groups = np.split(order, ends[:-1])
    tables = [
        _Margins.from_observed(a, b, counts.n_docs, tp[members])
        for (a, b), members in zip(margins.T.tolist(), groups, strict=True)
    ]
    for block in _split_blocks(tables):
        values = _score_possible_tables(score, [one for _, one in block], float(counts.n_classes))
        for (i, one), possible in zip(block, values, strict=True):
            found[groups[i]] = _add_tail(possible, _hypergeometric(one))[tp[groups[i]] - one.least]
    return cells, found


def _split_blocks(margins: list[_Margins]) -> list[list[tuple[int, _Margins]]]:
    blocks: list[list[tuple[int, _Margins]]] = []
    size = _BLOCK
    for i, one in enumerate(margins):
        if size >= _BLOCK:
            blocks.append([])
            size = 0
        blocks[-1].append((i, one))
        size += one.n_tables
    return blocks


def _score_possible_tables(score: Score, margins: list[_Margins], m: float) -> list[Array]:
    """Return the score of each possible table, for each pair of margins."""
    lengths = [one.n_tables for one in margins]
    tp = np.concatenate([np.arange(one.least, one.least + one.n_tables, dtype=np.float64) for one in margins])
    n_t, n_c, n = (np.repeat(np.array(x, np.float64), lengths) for x in list(zip(*margins, strict=True))[:3])
    try:
        values = score.evaluate(Table(tp, n_t, n_c, n, m))
    except TableTooCoarseError:
        refuse_occurrences(score)
    return np.split(np.broadcast_to(np.asarray(values, np.float64), tp.shape), np.cumsum(lengths)[:-1])


def refuse_occurrences(score: Score) -> None:
    """Explain that a score of occurrences has no p-value by permutation."""
    raise OptionError(
        f"The score {score.spelling!r} counts occurrences: its p-value by permutation would need documents. "
        "Take a score of documents, such as 'chi2', 'g_test' or 'log_odds_ratio'."
    )


def _hypergeometric(one: _Margins) -> Array:
    """Return the probabilities of all possible tables, from the ratio of each to the one before."""
    a = np.arange(one.least, one.least + one.n_tables - 1, dtype=np.float64)
    rest = one.n - one.n_c - one.n_t
    steps = np.log((one.n_c - a) * (one.n_t - a)) - np.log((a + 1.0) * (rest + a + 1.0))
    logs = np.concatenate([[0.0], np.cumsum(steps)])
    weights = np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum())


def _add_tail(values: Array, probabilities: Array) -> Array:
    """Return for each table the probability of all that score as much or more."""
    order = np.argsort(-values, kind="stable")
    sums = np.cumsum(probabilities[order])
    falling = -values[order]
    return np.minimum(sums[np.searchsorted(falling, -_lower_a_little(values), side="right") - 1], 1.0)


def _lower_a_little(values: Array) -> Array:
    finite = np.isfinite(values)
    return np.where(finite, values - _SAME * np.abs(np.where(finite, values, 0.0)), values)


def draw_overall_pvalues(
    counts: Counts, score: Score, aggregate: str | None, places: Int64Array, draws: int, seed: int
) -> Array:
    """Return the p-values of an overall score, of some terms by their places, from this many drawn tables each."""
    if counts.n_multilabel:
        raise OptionError(
            f"{counts.n_multilabel:,} documents have more than one label: exchanging them is not drawing from classes. "
            "The p-values of each class can be had: pvalues(per_class=True, method='permutation')."
        )
    if counts.n_docs >= _DRAWN_FROM:
        raise OptionError(
            f"p-values by drawing are for fewer than {_DRAWN_FROM:,} documents; these are {counts.n_docs:,}. Without "
            "draws, pvalues(method='permutation') works out those of the classes exactly."
        )
    found = np.empty(places.size)
    n_t = counts.term_df[places]
    for documents in np.unique(n_t):
        members = np.flatnonzero(n_t == documents)
        dense = DenseClasses.take(counts, places[members], with_occurrences=False)
        drawn = _draw_tables(counts, int(documents), draws, seed)
        try:
            observed = evaluate_overall(score, dense, aggregate)
            null = np.sort(evaluate_overall(score, dense.take_rows(1).with_values(drawn), aggregate))
        except TableTooCoarseError:
            refuse_occurrences(score)
        larger = null.size - np.searchsorted(null, _lower_a_little(observed), side="left")
        found[members] = (larger + 1.0) / (draws + 1.0)
    return found


def _draw_tables(counts: Counts, n_t: int, draws: int, seed: int) -> Array:
    """Draw the documents with the term from all documents: how many of each class. Depends on seed and `n_t` only."""
    rng = np.random.default_rng([seed, n_t])
    others = counts.n_docs - int(counts.class_sizes.sum())
    sizes = [*counts.class_sizes.tolist(), others]
    drawn = rng.multivariate_hypergeometric(sizes, n_t, size=draws, method="marginals")[:, :-1]
    return np.broadcast_to(drawn.astype(np.float64), (3, 1, *drawn.shape))


def control_false_discoveries(pvalues: Array, control: Control = "bh") -> Array:
    """Return q-values: the smallest false discovery rate at which each would be taken.

    Benjamini and Hochberg's control ("bh"), or Yekutieli's ("by"), which holds for any dependence. The last axis is
    the family.

    >>> control_false_discoveries(np.array([0.01, 0.02, 0.03, 0.5])).round(3)
    array([0.04, 0.04, 0.04, 0.5 ])
    """
    if control not in ("bh", "by"):
        raise OptionError(f"The control of false discoveries is 'bh' or 'by'; it was given {control!r}.")
    n = pvalues.shape[-1]
    ranks = np.arange(1, n + 1)
    order = np.argsort(pvalues, axis=-1, kind="stable")
    scaled = np.take_along_axis(pvalues, order, -1) * (n / ranks) * (np.sum(1.0 / ranks) if control == "by" else 1.0)
    rising = np.minimum.accumulate(scaled[..., ::-1], axis=-1)[..., ::-1]
    found = np.empty_like(rising)
    np.put_along_axis(found, order, np.minimum(rising, 1.0), -1)
    return found

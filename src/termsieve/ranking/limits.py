"""Limits: how far the documents of one class may be from the truth, for one term. What every interval is made of.

The documents of a class are a sample of its size, and `df` of them have the term: the share of documents with it has
Jeffreys limits (of a Beta(1/2, 1/2) prior), which keep their level for small counts too. For occurrences the variance
between documents decides, from `tf` and `tf2`: the effective number of occurrences is their number over variance/mean,
so a word that one document repeats 500 times counts as one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from termsieve.table import ratio

if TYPE_CHECKING:
    from termsieve._types import Array
    from termsieve.table import Table

_STEPS = 2.0**20


class Side(NamedTuple):
    """Documents with the term, its occurrences and their squares: in the class, or in the rest. Of n documents."""

    df: Array
    tf: Array
    tf2: Array
    n: Array


class TypicalDocument(NamedTuple):
    """What a document with the term has of it, where a side has none: occurrences, and squares per occurrence."""

    tf_per_df: Array
    tf2_per_tf: Array


def split_sides(t: Table) -> tuple[Side, Side]:
    """Return the two sides of a table; where it does not know occurrences, documents stand for them."""
    if t.has_occurrences:
        return Side(t.tp, t.tf_c, t.tf2_c, t.n_c), Side(t.fp, t.tf_nc, t.tf2_nc, t.n_nc)
    return Side(t.tp, t.tp, t.tp, t.n_c), Side(t.fp, t.fp, t.fp, t.n_nc)


def typical_document(t: Table) -> TypicalDocument:
    """Return what a document with the term has of it, over both sides."""
    return TypicalDocument(ratio(t.tf_t, t.n_t, empty=1.0), ratio(t.tf2_t, t.tf_t, empty=1.0))


def limit_documents(side: Side, tail: float) -> tuple[Side, Side]:
    """Return the lower and the upper limit, for scores of documents: each is missed with probability `tail`."""
    low, high = _jeffreys(side.df, side.n, tail)
    return tuple(Side(x, x, x, side.n) for x in (low, high))  # type: ignore[return-value]


def limit_occurrences(side: Side, typical: TypicalDocument, tail: float) -> tuple[Side, Side]:
    """Return the lower and the upper limit, for scores of occurrences: documents with the term more or fewer."""
    from scipy.special import gammaincinv

    spread = variance_per_occurrence(side, typical)
    some = (spread > 0) & (side.n > 0)  # no documents have no occurrences, whichever they are
    effective = ratio(side.tf, np.where(some, spread, 1.0), empty=0.0)
    ends = []
    for share, nearer in ((tail, np.minimum), (1.0 - tail, np.maximum)):
        total = np.where(some, spread * gammaincinv(effective + 0.5, share), side.tf)
        ends.append(_scale(side, typical, nearer(total, side.tf)))
    return ends[0], ends[1]


def variance_per_occurrence(side: Side, typical: TypicalDocument) -> Array:
    """Return the variance of the class's occurrences over their number: 1 for a Poisson process, more in bursts."""
    squares = np.maximum(side.tf2 - ratio(side.tf * side.tf, side.n, empty=0.0), 0.0)
    return np.where(side.tf > 0, ratio(squares, side.tf, empty=0.0), typical.tf2_per_tf)


def _scale(side: Side, typical: TypicalDocument, total: Array) -> Side:
    """Return the side with this many occurrences, in more or fewer documents of the same kind."""
    none = side.tf == 0
    factor = ratio(total, np.where(none, 1.0, side.tf), empty=0.0)
    df = np.where(none, ratio(total, typical.tf_per_df, empty=0.0), side.df * factor)
    tf2 = np.where(none, total * typical.tf2_per_tf, side.tf2 * factor)
    return Side(round_documents(np.minimum(df, side.n)), total, tf2, side.n)


def _jeffreys(k: Array, n: Array, tail: float) -> tuple[Array, Array]:
    """Return the limits of k of n; most pairs repeat, and each is worked out once."""
    from scipy.special import betaincinv

    pairs, where = np.unique(np.array([k, n]), axis=1, return_inverse=True)
    k, n, where = pairs[0], pairs[1], where.reshape(-1)
    a, b = k + 0.5, np.maximum(n - k, 0.0) + 0.5
    low = np.minimum(n * betaincinv(a, b, tail), k)
    high = np.where(k >= n, n, np.maximum(n * betaincinv(a, b, 1.0 - tail), k))
    return round_documents(low)[where], round_documents(high)[where]


def round_documents(documents: Array) -> Array:
    """Return numbers of documents in steps of 2**-20: their sums and differences are exact, so no cell is below 0."""
    return np.asarray(np.rint(documents * _STEPS) / _STEPS)

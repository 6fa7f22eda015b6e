"""The change of a share in two parts: what changed inside the classes, and what is only another mix of them.

The share of documents with a term is the sum over classes of (share of the class) x (share inside the class). So its
change is (Kitagawa, 1955)

    inside  sum over classes of  change inside the class  x  mean share of the class
    mix     sum over classes of  change of the share of the class  x  mean share inside the class

and the two add up to the whole change. A class with documents in one period only has no change inside: it is mix.
Documents without a label are a class of their own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from termsieve._types import Array
from termsieve.counts.counts import Counts
from termsieve.errors import CountsError


class Decomposition(NamedTuple):
    """The two parts of the change of each term."""

    inside: Array
    mix: Array


def decompose(before: Counts, after: Counts, terms: pa.LargeStringArray) -> Decomposition:
    """Return the two parts of the change of these terms' shares of documents, after minus before."""
    for one in (before, after):
        if one.n_multilabel:
            raise CountsError(
                f"{one.n_multilabel:,} documents have more than one label: the classes overlap, and there is no mix of "
                "them that adds up. The change of each class (of_class) can still be had."
            )
    classes = sorted({*before.classes, *after.classes})
    rows = [_term_rows(one, terms) for one in (before, after)]
    inside, mix = np.zeros(len(terms)), np.zeros(len(terms))
    for label in [*classes, None]:  # None: documents without a label
        weight0, share0 = _class_share(before, rows[0], label)
        weight1, share1 = _class_share(after, rows[1], label)
        if weight0 == 0:
            share0 = share1
        elif weight1 == 0:
            share1 = share0
        inside += (share1 - share0) * ((weight0 + weight1) / 2)
        mix += (share0 + share1) * ((weight1 - weight0) / 2)
    return Decomposition(inside, mix)


def _term_rows(counts: Counts, terms: pa.LargeStringArray) -> Counts:
    """Return the counts of these terms, in this order."""
    index = pc.index_in(terms, value_set=counts.term_array).fill_null(-1).to_numpy(zero_copy_only=False)
    return counts.take(index.astype(np.int64), terms, fixed=True)


def _class_share(counts: Counts, rows: Counts, label: str | None) -> tuple[float, Array]:
    """Return the share of a class of all documents, and the share of its documents with each term."""
    if label is None:
        size = counts.n_docs - int(counts.class_sizes.sum())
        df = rows.term_df - rows.cells.totals()[0]
    elif label in counts.classes:
        c = counts.index_of_class(label)
        size = int(counts.class_sizes[c])
        df = rows.cells.where(rows.cells.classes == c).totals()[0]
    else:
        size, df = 0, np.zeros(rows.n_terms)
    return size / max(counts.n_docs, 1), df / max(size, 1)

"""Counts of periods as one `Counts` whose classes are the periods: every score, p-value and rule works on it."""

from __future__ import annotations

import functools
import operator
from collections.abc import Mapping

import numpy as np

from termsieve.counts.cells import Cells
from termsieve.counts.counts import Counts
from termsieve.counts.counts_file import CountsFile
from termsieve.errors import CountsError, OptionError


def join_periods(periods: Mapping[str, Counts], label: str | None = None) -> Counts:
    """Return counts with a class for each period: of all its documents, or of those of one class.

    >>> import termsieve as ts
    >>> may, june = ts.count(["rain rain", "sun"], ["a", "b"]), ts.count(["sun sun"], ["a"])
    >>> joined = join_periods({"may": may, "june": june})
    >>> joined["sun"].by_class
    {'june': (1, 2, 4), 'may': (1, 1, 1)}
    >>> join_periods({"may": may, "june": june}, "a").class_sizes.tolist()
    [1, 1]
    """
    if len(periods) < 2:
        raise OptionError(f"There must be at least two periods to compare, not {len(periods)}.")
    for name, one in periods.items():
        _check_counts(name, one)
    try:
        return functools.reduce(operator.add, (relabel(one, name, label) for name, one in periods.items()))
    except CountsError as error:
        raise CountsError(str(error).replace("Cannot add counts", "Cannot compare counts", 1)) from error


def _check_counts(name: str, counts: object) -> None:
    if isinstance(counts, CountsFile):
        raise OptionError(f"The counts of {name!r} are in a file: give them in memory, as its read() returns them.")
    if not isinstance(counts, Counts):
        raise OptionError(f"{name!r} must be Counts, not {type(counts).__name__}.")
    if not counts.n_docs:
        raise CountsError(f"The counts of {name!r} have no documents.")


def relabel(counts: Counts, name: str, label: str | None = None) -> Counts:
    """Return the counts of all documents, or of those of one class, as those of a class with another name."""
    if label is None:
        values, n_docs = np.stack([counts.term_df, counts.term_tf, counts.term_tf2]), counts.n_docs
    else:
        c = counts.index_of_class(label)
        of_class = counts.cells.where(counts.cells.classes == c)
        values, n_docs = of_class.totals(), int(counts.class_sizes[c])
    cells = Cells(np.arange(counts.n_terms + 1), np.zeros(counts.n_terms, np.int32), values)
    return Counts(
        counts.term_array, [name], cells, values, n_docs=n_docs, class_sizes=np.array([n_docs]),
        settings=counts.settings, fixed=counts.fixed, pruned=counts.pruned,
    ).without_empty()  # fmt: skip


def common_classes(periods: Mapping[str, Counts]) -> list[str]:
    """Return the classes that have documents in every period, sorted.

    >>> import termsieve as ts
    >>> common_classes({"may": ts.count(["sun"], ["a"]), "june": ts.count(["sun", "sea"], ["a", "b"])})
    ['a']
    """
    return sorted(set.intersection(*({str(name) for name in one.classes} for one in periods.values())))

"""Terms that stand for each other: those that a chosen term made superfluous, and groups by their documents."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from termsieve._types import BoolArray, Int32Array, Int64Array
from termsieve.checks import is_whole_number
from termsieve.counts.labelled import LabelledMatrix
from termsieve.errors import OptionError
from termsieve.ranking.ranking import as_score, score
from termsieve.selection.problem import Problem

LEAST_SHARE = 0.3  # of the documents of a term, that make it a near-duplicate
PER_CHOSEN = 5  # terms that are considered, for each chosen one
LEAST_OVERLAP = 0.5  # of the documents of two terms, that put them into one group


class NearDuplicate(NamedTuple):
    """A term that was not chosen, and the chosen one that leaves it least to tell.

    Attributes
    ----------
    term : str
        The chosen term.
    other : str
        The term that it makes superfluous.
    df, common : int
        Documents with the other term, and those of them that have the chosen term, too.
    share : float
        common / df.
    gain, left : float
        What the other term tells of the class, alone and beside the chosen one, in nats.
    """

    term: str
    other: str
    df: int
    common: int
    share: float
    gain: float
    left: float


def find_near_duplicates(
    chosen: Int64Array, matrix: LabelledMatrix, *, n: int | None = None, least_share: float = LEAST_SHARE
) -> list[NearDuplicate]:
    """Find terms that were not chosen, though they tell much of the classes, as a chosen one tells the same.

    Parameters
    ----------
    chosen : array of int
        Chosen terms, in order.
    matrix : LabelledMatrix
        The documents.
    n : int, optional
        Consider this many terms that were not chosen, the best by information gain (default: five times as many as
        were chosen).
    least_share : float
        Leave out those that share a smaller part of their documents with the chosen term.

    Returns
    -------
    list of NearDuplicate
        By chosen term, and those of one term by what it takes from them (gain - left), the most first.
    """
    if n is not None and not is_whole_number(n):
        raise OptionError(f"n must be a whole number of terms, 0 or more, or None, not {n!r}.")
    if not isinstance(least_share, Real) or not 0 <= least_share <= 1:
        raise OptionError(f"least_share must be a share of documents, from 0 to 1, not {least_share!r}.")
    if not len(chosen):
        return []
    counts = matrix.counts
    scores = score(counts, as_score("info_gain_binary" if matrix.codes is None else "info_gain"))
    order = scores.order()
    others = order[~np.isin(order, chosen)][: PER_CHOSEN * len(chosen) if n is None else n]
    if matrix.codes is not None:
        found = _find_in_problem(Problem(matrix, None, np.concatenate([chosen, others])), chosen, others)
    else:  # each in the class that it tells most of
        gains = np.array([scores.of_class(c)[others] for c in range(counts.n_classes)])
        best = gains.argmax(axis=0)
        found = [
            pair
            for c in np.unique(best).tolist()
            for pair in _find_in_problem(
                Problem(matrix, c, np.concatenate([chosen, others[best == c]])), chosen, others[best == c]
            )
        ]
    rank = {int(index): i for i, index in enumerate(chosen)}
    kept = [pair for pair in found if pair.common >= least_share * pair.df]
    kept.sort(key=lambda pair: (rank[pair.term], pair.left - pair.gain, counts.alphabetical[pair.other]))
    names = counts.term_array
    return [
        NearDuplicate(names[one.term].as_py(), names[one.other].as_py(), one.df, one.common, one.common / one.df,
                      one.gain, one.left)
        for one in kept
    ]  # fmt: skip


class _Pair(NamedTuple):
    term: int
    other: int
    df: int
    common: int
    gain: float
    left: float


def _find_in_problem(problem: Problem, chosen: Int64Array, others: Int64Array) -> list[_Pair]:
    """Find for each of the others the chosen term beside which it tells least, of those that it goes with."""
    number = {int(term): i for i, term in enumerate(problem.terms)}
    places = np.array([number[int(term)] for term in others if int(term) in number], np.int64)
    left, common = problem.relevance[places].copy(), np.zeros(len(places), np.int64)
    by = np.full(len(places), -1)
    df = problem.df[places].astype(np.int64)
    for term in chosen.tolist():
        if (z := number.get(term)) is None:
            continue
        beside, shared = (
            make(z, 0, problem.n_terms)[places] for make in (problem.compute_conditional, problem.count_common)
        )
        less = (beside < left) & (shared * problem.n_docs > df * int(problem.df[z]))
        left[less], common[less], by[less] = beside[less], shared[less], term
    to_nats = problem.log_table.to_nats
    gains, lefts = to_nats(problem.relevance[places]), to_nats(left)
    return [
        _Pair(int(by[i]), int(problem.terms[places[i]]), int(df[i]), int(common[i]), float(gains[i]), float(lefts[i]))
        for i in np.flatnonzero(by >= 0)
    ]


# Groups


class TermGroup(NamedTuple):
    """Terms that stand for each other, the best first, and the documents that they share.

    Attributes
    ----------
    terms : list of str
        The group.
    df : list of int
        Documents with each term.
    overlap : list of float
        Of each term and the first: the documents with both, as a share of those with one of them (Jaccard's index).
    """

    terms: list[str]
    df: list[int]
    overlap: list[float]


def find_groups(
    columns: Int64Array, matrix: LabelledMatrix, *, least_overlap: float = LEAST_OVERLAP
) -> list[TermGroup]:
    """Group terms by their documents: two that overlap enough are in one group, directly or through other terms.

    Parameters
    ----------
    columns : array of int
        The terms, best first; groups and the terms in them are in this order.
    matrix : LabelledMatrix
        The documents.
    least_overlap : float
        Jaccard's index of two terms, from which on they stand for each other.

    Examples
    --------
    >>> from termsieve.counts.labelled import read_labelled
    >>> matrix = read_labelled(["new york city", "new york", "a new day", "york"], ["a", "a", "b", "a"])
    >>> find_groups(np.arange(4), matrix)
    [TermGroup(terms=['new', 'york'], df=[3, 3], overlap=[1.0, 0.5])]
    """
    presence = matrix.presence[:, columns].astype(np.int64)
    common = sparse.coo_array(presence.T @ presence)
    df = np.asarray(presence.sum(axis=0)).ravel()
    overlap = common.data / (df[common.row] + df[common.col] - common.data)
    near = overlap >= least_overlap
    shape = (len(columns), len(columns))
    graph = sparse.csr_array((overlap[near], (common.row[near], common.col[near])), shape=shape)
    _, labels = connected_components(graph, directed=False)
    values = sparse.csr_array((overlap, (common.row, common.col)), shape=shape)
    return [_make_group(members, columns, matrix, df, values) for members in _list_groups(labels)]


def _list_groups(labels: Int32Array) -> list[Int64Array]:
    """Return the places of each group of two or more, in the order of their first."""
    sizes = np.bincount(labels)
    is_new: BoolArray = sizes > 1
    groups = []
    for label in labels:
        if is_new[label]:
            is_new[label] = False
            groups.append(np.flatnonzero(labels == label))
    return groups


def _make_group(
    members: Int64Array, columns: Int64Array, matrix: LabelledMatrix, df: Int64Array, overlap: sparse.csr_array
) -> TermGroup:
    names: Sequence[str] = matrix.counts.term_array.take(columns[members]).to_pylist()
    with_first = overlap[[int(members[0])]].toarray().ravel()[members]
    return TermGroup(list(names), df[members].tolist(), [float(x) for x in with_first])

"""Splits of the documents into training and test documents."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

from termsieve._types import AnyArray, Int64Array
from termsieve.errors import InputError, OptionError

MAX_SEED = 2**32 - 1  # of scikit-learn's splitters
MIN_CLASS_SIZE = 10  # documents: with fewer, the F1 of a class is a matter of one or two of them


class Split(NamedTuple):
    """A split: its numbers, and the indices of the training and the test documents."""

    repeat: int
    fold: int
    train: Int64Array
    test: Int64Array


def make_splits(
    cv: Any,
    labels: AnyArray | None,
    n_docs: int,
    *,
    groups: Sequence[Any] | AnyArray | None = None,
    repeats: int = 1,
    seed: int = 0,
) -> list[Split]:
    """Make all splits of `n_docs` documents.

    Parameters
    ----------
    cv : int, array of str, or splitter
        A number of folds: stratified where each document has one label. An array with "train" and "test" (anything
        else is left out). A splitter of scikit-learn, called once for each repetition.
    labels : array or None
        The label of each document, where it has one; None with several.
    groups : sequence, optional
        Documents of one group (duplicates, a thread, an author) stay together.
    """
    if not isinstance(repeats, int) or repeats < 1:
        raise OptionError(f"repeats must be a whole number, 1 or more, not {repeats!r}.")
    if isinstance(seed, bool) or not isinstance(seed, Integral) or not 0 <= seed <= MAX_SEED - repeats + 1:
        raise OptionError(f"seed must be a whole number from 0 to {MAX_SEED - repeats + 1:,}, not {seed!r}.")
    if isinstance(cv, np.ndarray):
        return [_split_from_parts(cv)]
    groups = None if groups is None else check_groups(groups, n_docs)
    _check_size(cv, labels, n_docs, groups)
    y = np.zeros(n_docs) if labels is None else labels
    splits = []
    for repeat in range(repeats):
        splitter = _make_splitter(cv, labels, groups, seed + repeat)
        try:
            with warnings.catch_warnings():
                # a class is missing in some folds: the recommendation says so
                warnings.filterwarnings("ignore", message="The least populated class")
                parts = list(splitter.split(np.zeros(n_docs), y, groups))
            splits += [Split(repeat, fold, *_check_parts(part, n_docs)) for fold, part in enumerate(parts)]
        except (TypeError, ValueError) as error:
            raise OptionError(f"cv={cv!r} cannot split these documents: {error}") from error
    if not splits:
        raise OptionError(f"cv={cv!r} cannot split these documents: it makes no split.")
    return splits


def _check_parts(part: Any, n_docs: int) -> tuple[Int64Array, Int64Array]:
    """Return the training and the test documents of a split, as their numbers."""
    train, test = (_find_numbers(one, n_docs) for one in part)
    if not len(train) or not len(test):
        raise ValueError(f"a split has {len(train):,} training and {len(test):,} test documents")
    return train, test


def _find_numbers(given: Any, n_docs: int) -> Int64Array:
    """Return the numbers of some documents; a splitter may give numbers, or a mark for each document."""
    values = np.asarray(given)
    if values.dtype == bool and values.shape == (n_docs,):
        return np.flatnonzero(values)
    if values.ndim != 1 or (len(values) and values.dtype.kind not in "iu"):
        raise ValueError(f"a split has {given!r:.60} in place of numbers of documents")
    outside = values[(values < 0) | (values >= n_docs)]
    if len(outside):
        raise ValueError(f"a split has the document {outside[0]}, but they are 0 to {n_docs - 1}")
    return values.astype(np.int64)


def check_one_each(name: str, given: Any, n_docs: int) -> AnyArray:
    """Return as an array what must have one value for each document."""
    values: AnyArray = np.asarray(given)
    if values.shape != (n_docs,):
        raise OptionError(
            f"{name} must have one value for each of the {n_docs:,} documents; it was given {given!r:.60}."
        )
    return values


def check_groups(given: Any, n_docs: int) -> AnyArray:
    """Return the group of each document as an array that can be sorted; none may be missing."""
    groups = check_one_each("groups", given, n_docs)
    listed = groups.tolist()
    n_missing = sum(one is None or one != one for one in listed)
    if n_missing:
        raise InputError(
            f"groups is missing for {n_missing:,} of {n_docs:,} documents, and it is not known with which others they "
            "must stay. Give each of them a value, such as one that no other document has."
        )
    one_kind = len({type(one) for one in listed}) == 1 and isinstance(listed[0], Hashable)
    return groups if one_kind else np.array([f"{type(one).__name__} {one}" for one in listed])


def _check_size(cv: Any, labels: AnyArray | None, n_docs: int, groups: AnyArray | None) -> None:
    """Refuse more folds than there are documents, or groups, to divide, and tell how many would do."""
    if not isinstance(cv, int) or isinstance(cv, bool):
        return
    if groups is not None:
        n, what = len(set(groups.tolist())), "groups"
    elif labels is not None:
        n, what = int(np.unique(labels, return_counts=True)[1].max(initial=0)), "documents in the largest class"
    else:
        n, what = n_docs, "documents"
    if n < cv:
        n_classes = 0 if labels is None else len(np.unique(labels))
        doubt = (
            f" There are {n_classes:,} classes for {n_docs:,} documents: the label column may be the wrong one."
            if 2 * n_classes > n_docs > cv
            else ""
        )
        enough = (
            ""
            if groups is not None
            else f" With {least_class_size(cv):,} documents of each class there would be an answer."
        )
        raise OptionError(
            f"cv={cv!r} cannot split these documents: {cv:,} folds are too many for {n:,} {what}.{enough}{doubt}"
        )


def least_class_size(cv: Any) -> int:
    """Return the fewest documents that a class must have: for an F1 that means something, and one for each fold."""
    return max(MIN_CLASS_SIZE, cv if isinstance(cv, int) else 0)


def _split_from_parts(parts: AnyArray) -> Split:
    train, test = np.flatnonzero(parts == "train"), np.flatnonzero(parts == "test")
    if not len(train) or not len(test):
        values = ", ".join(repr(str(value)) for value in np.unique(parts.astype(str))[:6])
        raise InputError(f"The split must have 'train' and 'test' documents; its values are {values}.")
    return Split(0, 0, train, test)


def _make_splitter(cv: Any, labels: AnyArray | None, groups: Any, seed: int) -> Any:
    if hasattr(cv, "split") and not isinstance(cv, str):
        return cv
    if not isinstance(cv, int) or isinstance(cv, bool) or cv < 2:
        raise OptionError(f"cv must be a number of folds, 2 or more, a column, or a splitter, not {cv!r}.")
    options = {"n_splits": cv, "shuffle": True, "random_state": seed}
    if groups is not None:
        return GroupKFold(**options) if labels is None else StratifiedGroupKFold(**options)
    return KFold(**options) if labels is None else StratifiedKFold(**options)

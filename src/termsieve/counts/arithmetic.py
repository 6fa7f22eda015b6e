"""Sums and differences of counts: exact, refused where they would not be counts of documents."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from termsieve._types import Int64Array, StringArray
from termsieve.counts.cells import Cells, TermCells
from termsieve.counts.counts import Counts
from termsieve.errors import CountsError
from termsieve.tokens.analyzer import settings_difference

NOT_A_PART = "What is subtracted must be a part of the whole."


def add(one: Counts, other: Counts) -> Counts:
    """Return counts of the documents of both."""
    _check_combinable(one, other, "add")
    combined = _combine(one, other, +1)
    if _has_negative(combined):  # of numbers that are not negative
        raise CountsError("Cannot add counts: a sum does not fit into 64 bits.")
    saved = [[*counts.origin.get("counts", ())] for counts in (one, other)]
    combined.origin = {"counts": saved[0] + saved[1]} if all(saved) else {}
    return combined


def add_all(parts: Iterable[Counts]) -> Counts:
    """Return counts of the documents of all: added in pairs, the sums in pairs, and so on, so that little is copied."""
    sums = list(parts)
    while len(sums) > 1:
        pairs = [add(one, other) for one, other in zip(sums[::2], sums[1::2], strict=False)]
        sums = pairs + sums[-1:] * (len(sums) % 2)
    return sums[0]


def subtract(whole: Counts, part: Counts) -> Counts:
    """Return counts of the documents of the whole that are not of the part."""
    _check_combinable(whole, part, "subtract")
    left = _combine(whole, part, -1)
    if left.n_terms > whole.n_terms or left.n_classes > whole.n_classes:
        _refuse_new_names(whole, part)
    if _has_negative(left):
        raise CountsError(f"Cannot subtract counts: the result would be negative. {NOT_A_PART}")
    _check_consistent(left)
    return left.without_empty()


class _Summands(NamedTuple):
    """What adds up."""

    cells: TermCells
    totals: TermCells
    sizes: Int64Array
    documents: Int64Array


def _combine(one: Counts, other: Counts, sign: int) -> Counts:
    classes = sorted({*one.classes, *other.classes})
    mine, theirs = _align_classes(one, classes), _align_classes(other, classes)
    terms, cells = mine.cells.plus(theirs.cells, sign)
    totals = mine.totals.plus(theirs.totals, sign).cells.values
    sizes, documents = mine.sizes + sign * theirs.sizes, mine.documents + sign * theirs.documents
    return Counts(
        terms, classes, cells, totals, n_docs=int(documents[0]), n_multilabel=int(documents[1]),
        class_sizes=sizes, settings=one.settings, fixed=one.fixed,
    )  # fmt: skip


def _align_classes(counts: Counts, classes: list[str]) -> _Summands:
    """Return the parts of counts that add up, with the classes numbered among others."""
    numbers = np.searchsorted(np.array(classes, dtype=object), counts.classes).astype(np.int32)
    sizes = np.zeros(len(classes), np.int64)
    sizes[numbers] = counts.class_sizes
    cells = counts.cells
    if len(classes) > counts.n_classes:
        cells = cells._replace(classes=numbers[cells.classes])
    one_each = Cells(np.arange(counts.n_terms + 1), np.zeros(counts.n_terms, np.int32), counts.totals)
    documents = np.array([counts.n_docs, counts.n_multilabel])
    return _Summands(TermCells(counts.term_array, cells), TermCells(counts.term_array, one_each), sizes, documents)


# What is refused


def _check_combinable(one: Counts, other: Counts, verb: str) -> None:
    if one.settings != other.settings:
        here, there = (counts.settings or {"made by": "a matrix"} for counts in (one, other))
        raise CountsError(
            f"Cannot {verb} counts made by different analyzers: {settings_difference(here, there)}. "
            "Count the documents again with one analyzer."
        )
    pruned = one.pruned or other.pruned
    if pruned:
        raise CountsError(
            f"Cannot {verb} pruned counts ({pruned}): what was dropped is no longer known. "
            f"{verb.capitalize()} first, then prune."
        )
    if (one.fixed or other.fixed) and not one.term_array.equals(other.term_array):
        raise CountsError(
            f"Cannot {verb} counts of a matrix or a given vocabulary with other terms: {one.n_terms:,} here, "
            f"{other.n_terms:,} there. {_first_difference(one.terms, other.terms)}"
        )
    if one.fixed != other.fixed:
        raise CountsError(f"Cannot {verb} counts of a given vocabulary and counts of all terms.")


def _refuse_new_names(whole: Counts, part: Counts) -> None:
    for what, names, known in (("class", part.classes, whole.classes), ("term", part.terms, whole.terms)):
        new = set(names) - set(known)
        if new:
            raise CountsError(
                f"Cannot subtract counts: the {what} {min(new)!r} is only in the part that is subtracted. {NOT_A_PART}"
            )


def _has_negative(counts: Counts) -> bool:
    """Tell whether a number is negative; one that is so by rounding alone becomes zero."""
    documents = np.array([counts.n_docs, counts.n_multilabel])
    for values in (counts.cells.values, counts.totals, counts.class_sizes, documents):
        if values.dtype.kind == "f":
            # real sums agree to rounding only: what is left of nothing may be a little less than nothing
            negative = values < -1e-9 * np.abs(values).max(initial=1.0)
            np.maximum(values, 0, out=values)
        else:
            negative = values < 0
        if negative.any():
            return True
    return False


def _check_consistent(left: Counts) -> None:
    """Refuse what no documents can have: the difference of two counts of which one is no part of the other."""
    sizes = np.broadcast_to(left.n_docs, left.n_terms), left.class_sizes[left.cells.classes]
    too_many = [left.class_sizes > left.n_docs, left.cells.values[0] > left.totals[0][left.cells.terms]]
    for (df, tf, tf2), most in zip((left.totals, left.cells.values), sizes, strict=True):
        too_many += [df > most, (df == 0) & (tf > 0)]
        if not left.is_real:
            too_many += [df > tf, tf > tf2]
    for wrong in too_many:
        if wrong.any():
            raise CountsError(f"Cannot subtract counts: no documents have such counts as would be left. {NOT_A_PART}")


def _first_difference(mine: StringArray, theirs: StringArray) -> str:
    for i, (a, b) in enumerate(zip(mine, theirs, strict=False)):
        if a != b:
            return f"The first that differs is number {i}: {a!r} here, {b!r} there."
    return ""

"""The laws of counts: what holds of the counts of any documents, and of nothing else that other code can rely on.

Counts that come from outside, such as a file, are checked before anything is computed from them: what is known of the
documents by `check_facts`, and terms by `check_block`. Their arrays are sound for Arrow and NumPy before that. An
offset beyond its array ends the process; a class with more documents than there are gives scores that are not numbers.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from termsieve._types import AnyArray, BoolArray, Int32Array, Int64Array
from termsieve.counts.cells import Cells, TermBlock
from termsieve.documents.string_columns import is_unicode
from termsieve.errors import CountsError

LARGEST = 2**63 - 1
_BLOCK = 1 << 15  # cells that are checked at a time: so many stay in the cache
_ROUNDING = 1e-12  # of products in floating point


def check_block(facts: Mapping[str, Any], block: TermBlock) -> None:
    """Refuse terms with counts that no documents of such facts can have."""
    if block.terms.null_count:
        raise CountsError("a term is missing")
    if not facts["fixed"]:
        _check_order(block.terms)
    _check_places(block.cells, len(block.terms), len(facts["classes"]))
    _Checker(facts, block).check()


def check_facts(facts: Mapping[str, Any]) -> None:
    """Refuse numbers of documents, and names of classes, that no documents can have."""
    classes = facts["classes"]
    if not isinstance(classes, list) or not all(isinstance(name, str) for name in classes):
        raise CountsError(f"classes must be a list of names, not {classes!r:.60}")
    if not all(is_unicode(name) for name in classes):
        raise CountsError("the name of a class is not valid Unicode")
    if any(left >= right for left, right in itertools.pairwise(classes)):
        raise CountsError("classes must be sorted, each once")
    for name in ("n_docs", "n_multilabel"):
        if type(facts[name]) is not int or not 0 <= facts[name] <= LARGEST:
            raise CountsError(f"{name} must be a whole number of documents, not {facts[name]!r:.60}")
    _check_numbers(facts["n_docs"], facts["n_multilabel"], facts["class_sizes"].tolist(), len(classes))
    if not isinstance(facts["fixed"], bool):
        raise CountsError(f"fixed must be true or false, not {facts['fixed']!r:.60}")
    if not isinstance(facts["pruned"], str) or not is_unicode(facts["pruned"]):
        raise CountsError(f"pruned must be a string, not {facts['pruned']!r:.60}")
    if not isinstance(facts["settings"], dict | None):
        raise CountsError(f"the settings of the analyzer must be named values, not {facts['settings']!r:.60}")


def _check_numbers(n_docs: int, n_multilabel: int, sizes: list[int], n_classes: int) -> None:
    """Check the numbers of documents: of all, of those with several labels, of each class."""
    if len(sizes) != n_classes:
        raise CountsError(f"there are {n_classes:,} classes, but the sizes of {len(sizes):,}")
    wrong = [size for size in sizes if not 0 <= size <= n_docs]
    if wrong:
        raise CountsError(f"a class cannot have {wrong[0]:,} of {n_docs:,} documents")
    # a document with several labels has two at least, and all classes at most
    least, most = 2 * n_multilabel, n_docs + n_multilabel * (n_classes - 1)
    if n_multilabel > n_docs or not least <= sum(sizes) <= min(most, LARGEST):
        raise CountsError(
            f"{n_docs:,} documents, {n_multilabel:,} of them with several labels, cannot have {sum(sizes):,} labels"
        )


def _check_order(terms: pa.LargeStringArray) -> None:
    rising = pc.less(terms[:-1], terms[1:])
    if len(terms) > 1 and not pc.all(rising).as_py():
        at = pc.index(rising, value=False).as_py()
        raise CountsError(
            f"terms must be sorted, each once, but {terms[at + 1].as_py()!r:.60} comes after {terms[at].as_py()!r:.60}"
        )


def check_distinct_terms(terms: pa.LargeStringArray) -> None:
    """Refuse terms in a given order of which one stands twice."""
    if pc.count_distinct(terms).as_py() < len(terms):
        raise CountsError("terms must be distinct")


def _check_places(cells: Cells, n_terms: int, n_classes: int) -> None:
    """Check where the cells of each term stand, and that their classes are known and ascend."""
    indptr, classes = cells.indptr, cells.classes
    n = len(classes)
    if len(indptr) != n_terms + 1 or indptr[0] != 0 or indptr[-1] != n or cells.values.shape != (3, n):
        raise CountsError("the cells do not match the terms in number")
    if (np.diff(indptr) < 0).any():
        raise CountsError("the cells of a term end before they begin")
    if n and not 0 <= classes.min() <= classes.max() < n_classes:
        raise CountsError("a cell is of an unknown class")
    begins = np.zeros(n + 1, np.bool_)
    begins[indptr] = True
    if not (begins[1:n] | (classes[1:] > classes[:-1])).all():
        raise CountsError("the classes of a term must be sorted, each once")


class _Checker:
    """Checks the counts of terms: in all documents, in each class, and in the documents outside of it."""

    def __init__(self, facts: Mapping[str, Any], block: TermBlock) -> None:
        self.terms, self.cells, self.totals = block
        self.classes: list[str] = facts["classes"]
        self.n_docs: int = facts["n_docs"]
        self.sizes: Int64Array = facts["class_sizes"]
        self.one_label = facts["n_multilabel"] == 0

    def check(self) -> None:
        if self.totals.shape != (3, len(self.terms)):
            raise CountsError(f"there are {len(self.terms):,} terms, but totals of {self.totals.shape[1]:,}")
        for values in (self.totals, self.cells.values):
            _check_sizes(values)
        self._refuse(_find_impossible(self.totals, self.n_docs))
        for first, end in self._blocks():
            self._check_block(first, end)
        if not self.one_label:
            self._check_absent()

    def _blocks(self) -> Iterator[tuple[int, int]]:
        """Cut the terms so that a block has about `_BLOCK` cells; the cells of a term stay together."""
        first, n_terms = 0, len(self.cells.indptr) - 1
        while first < n_terms:
            end = self.cells.find_end(first, _BLOCK, _BLOCK)
            yield first, end
            first = end

    def _check_block(self, first: int, end: int) -> None:
        totals, cells = self.totals[:, first:end], self.cells.slice(first, end)
        indptr, classes, values = cells
        sizes = self.sizes[classes]
        self._refuse((values[0] < 1) | _find_impossible(values, sizes), first, indptr, classes)
        if self.one_label:  # sums of what is possible are: it is enough to look at the documents without a label
            rest = totals - cells.totals()
            self._refuse(_find_impossible(rest, self.n_docs - int(self.sizes.sum())), first)
        else:
            outside = np.repeat(totals, np.diff(indptr), axis=1) - values
            self._refuse(_find_impossible(outside, self.n_docs - sizes), first, indptr, classes)

    def _check_absent(self) -> None:
        """Check that the documents of a term are not too many for the largest class that it is not in."""
        if not len(self.sizes):
            return
        order = np.argsort(-self.sizes, kind="stable")
        rank = np.argsort(order)
        frequent = np.flatnonzero(self.totals[0] > self.n_docs - self.sizes[order[0]])
        cells = self.cells.take(frequent)
        ranks, terms = rank[cells.classes], cells.terms
        ranks = ranks[np.lexsort([ranks, terms])]
        # its classes by falling size have ranks 0, 1, 2, ... up to the first that it is not in
        leading = ranks == np.arange(len(ranks)) - np.repeat(cells.indptr[:-1], np.diff(cells.indptr))
        absent = np.bincount(terms[leading], minlength=len(frequent))
        room = self.n_docs - np.append(self.sizes[order], 0)[absent]
        wrong = np.zeros(len(self.terms), np.bool_)
        wrong[frequent] = self.totals[0][frequent] > room
        self._refuse(wrong)

    def _refuse(
        self, wrong: BoolArray, first: int = 0, indptr: Int64Array | None = None, classes: Int32Array | None = None
    ) -> None:
        """Refuse terms from the number `first` on, or with `indptr` their cells."""
        if not wrong.any():
            return
        term, where = int(wrong.argmax()), ""
        if indptr is not None and classes is not None:
            where = f" in the class {self.classes[classes[term]]!r:.60}"
            term = int(np.searchsorted(indptr, term, side="right")) - 1
        name = self.terms[first + term].as_py()
        raise CountsError(f"no documents have such counts as the term {name!r:.60}{where}")


def _check_sizes(values: AnyArray) -> None:
    if values.dtype.kind == "f":
        if not (np.isfinite(values) & (values >= 0)).all():
            raise CountsError("counts must be finite and not negative")
        if values[1:, values[0] == 0].any():
            raise CountsError("a term that is in no document has occurrences")
    elif values[:2].sum(axis=1, dtype=np.float64).max(initial=0) >= LARGEST:
        raise CountsError("the sum of all counts does not fit into 64 bits")


def _find_impossible(values: AnyArray, most: Int64Array | int) -> BoolArray:
    """Find where no `most` documents, with and without the term, have these numbers: df, tf, tf2.

    Occurrences are 1 at least in each document that has any, so that df <= tf <= tf2 <= tf * tf; and the square of a
    sum is at most the sum of squares times its length. Sums of real numbers agree to rounding only, and not even
    that after a subtraction: of these, only the documents are checked.
    """
    df, tf, tf2 = values
    wrong: BoolArray = (df < 0) | (df > most)
    if values.dtype.kind != "f":
        squared = np.square(tf.astype(np.float64))
        wrong |= (tf < df) | (tf2 < tf)
        wrong |= tf2 > squared * (1 + _ROUNDING)
        wrong |= df.astype(np.float64) * tf2 < squared * (1 - _ROUNDING)
    return wrong

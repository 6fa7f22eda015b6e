"""Counts in a file that may be larger than memory: opened at once, and read a block of terms at a time."""

from __future__ import annotations

import bisect
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from termsieve._types import Int64Array, StringArray
from termsieve.counts import storage
from termsieve.counts.counts import Counts, Population, TermCounts
from termsieve.counts.counts_reader import CountsReader
from termsieve.errors import OptionError, UnknownNameError


class CountsFile:
    """Counts in a file, of which only a block of terms is in memory at a time.

    `termsieve.score` takes it as it takes `Counts`. `termsieve.counts.storage` says what is checked when.

    Parameters
    ----------
    path
        A file that `Counts.save` or ``termsieve count`` wrote.

    Attributes
    ----------
    classes, class_sizes, n_docs, n_multilabel, settings, pruned
        As of `Counts`.

    Examples
    --------
    >>> import tempfile, termsieve as ts
    >>> path = tempfile.mkdtemp() + "/mail.counts"
    >>> ts.count(["cheap pills", "lunch at noon"], ["spam", "ham"]).save(path)
    >>> file = CountsFile(path)
    >>> file.n_terms, file["pills"].by_class
    (5, {'spam': (1, 1, 1)})
    >>> [block.n_terms for block in file.blocks()]
    [5]
    >>> file.prune(drop=["at"]).read().terms
    array(['cheap', 'lunch', 'noon', 'pills'], dtype=object)
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._stored = CountsReader.of_file(path)
        self._limits: dict[str, Any] = {}

    def close(self) -> None:
        """Close the file."""
        self._stored.close()

    def __enter__(self) -> CountsFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def facts(self) -> dict[str, Any]:
        """What is known of the documents, whatever terms there are."""
        return self.head.facts

    @cached_property
    def head(self) -> Counts:
        """The counts of no terms, pruned as the terms are."""
        return self._prune_block(Counts.of_block(self._stored.facts, storage.EMPTY_BLOCK, self._all_terms))

    @property
    def classes(self) -> StringArray:
        """The names of the classes."""
        return self.head.classes

    @property
    def class_sizes(self) -> Int64Array:
        """Documents of each class."""
        return self.head.class_sizes

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self.head.n_classes

    @property
    def n_docs(self) -> int:
        """Number of documents."""
        return self.head.n_docs

    @property
    def n_multilabel(self) -> int:
        """Number of documents with more than one label."""
        return self.head.n_multilabel

    @property
    def settings(self) -> dict[str, Any] | None:
        """The settings of the analyzer that made the terms."""
        return self.head.settings

    @property
    def pruned(self) -> str:
        """What was left out."""
        return self.head.pruned

    @property
    def is_real(self) -> bool:
        """Whether occurrences are real numbers."""
        return self._stored.is_real

    @property
    def is_sorted(self) -> bool:
        """Whether the terms are in their own order, not in that of a matrix or a given vocabulary."""
        return not self._stored.facts["fixed"]

    @property
    def n_blocks(self) -> int:
        """Number of blocks of terms."""
        return len(self._stored.blocks)

    @property
    def files(self) -> list[dict[str, Any]] | None:
        """What was counted, where a list of it is kept: see `termsieve.counts.manifest`."""
        files: list[dict[str, Any]] | None = self._stored.files
        return files

    @property
    def digest(self) -> str:
        """A SHA-256 that equal counts have in common, whatever files they are from."""
        return self._stored.digest

    @property
    def n_terms(self) -> int:
        """Number of terms."""
        return self.population.n_terms

    @property
    def n_cells(self) -> int:
        """Number of pairs of term and class with documents, before anything is pruned."""
        return int(self._stored.sums.n_cells)

    @property
    def _all_terms(self) -> Population:
        n_terms, _, n_occurrences, class_tf = self._stored.sums
        return Population(n_terms, n_occurrences, class_tf)

    @cached_property
    def population(self) -> Population:
        """Sums over all terms; of a file that is pruned, found by one pass."""
        if not self._limits:
            return self._all_terms
        n_terms, class_tf = 0, np.zeros_like(self._stored.sums.class_tf)
        n_occurrences: float = 0  # whole numbers stay whole: they may be beyond what a float holds
        for block in self._read_pruned():
            n_terms, n_occurrences = n_terms + block.n_terms, n_occurrences + block.n_occurrences
            class_tf += block.class_tf
        return Population(n_terms, n_occurrences, class_tf)

    def prune(self, **limits: Any) -> CountsFile:
        """Return the file without some terms, as `Counts.prune` does; nothing is read yet."""
        if self._limits:
            raise OptionError("This file is pruned already: give all limits together.")
        pruned = CountsFile(self.path)
        pruned._limits = limits
        _ = pruned.head  # wrong limits are told now
        return pruned

    def _prune_block(self, counts: Counts) -> Counts:
        return counts.prune(**self._limits) if self._limits else counts

    def _read_pruned(self) -> Iterator[Counts]:
        for block in self._stored.read_blocks():
            yield self._prune_block(Counts.of_block(self._stored.facts, block, self._all_terms))

    def blocks(self) -> Iterator[Counts]:
        """Yield the counts of one block of terms after the other; scores of them are those of the whole."""
        for counts in self._read_pruned():
            counts.population = self.population
            yield counts

    def read(self) -> Counts:
        """Return all counts, in memory."""
        return self._prune_block(Counts.of_block(self._stored.facts, self._stored.read_all()))

    def save(self, path: str | Path) -> None:
        """Write to another file, block by block."""
        storage.save(path, self.facts, (counts.block for counts in self._read_pruned()))

    def __getitem__(self, term: str) -> TermCounts:
        if self.is_sorted and not self._limits and isinstance(term, str):
            firsts = [entry.first for entry in self._stored.blocks]
            place = bisect.bisect_right(firsts, term) - 1
            if place >= 0:
                return Counts.of_block(self._stored.facts, self._stored.read_block(place))[term]
        for block in self._read_pruned():
            if term in block:
                return block[term]
        raise UnknownNameError(f"There is no term {term!r}.")

    def __repr__(self) -> str:
        head = f"Counts of {self.n_terms:,} terms in {self.n_classes:,} classes, from {self.n_docs:,} documents"
        return f"{head}\n  in        {self.path}, {self.n_blocks:,} blocks of terms" + (
            f"\n  pruned    {self.pruned}" if self.pruned else ""
        )

"""What comparisons of two periods and of more have in common: terms in counts of periods, p-values and rows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa

from termsieve._types import Array, Int64Array
from termsieve.counts.counts import Counts
from termsieve.frames import ArrowTable
from termsieve.periods.joining import common_classes, join_periods
from termsieve.periods.proportions import check_level
from termsieve.ranking.permutation import control_false_discoveries


class PeriodTerms(ArrowTable):
    """The terms of several periods, with a p-value and a row of results for each."""

    schema: ClassVar[pa.Schema]

    def __init__(self, periods: Mapping[str, Counts], level: float, label: str | None = None) -> None:
        check_level(level)
        self.periods, self.level, self.label = dict(periods), level, label
        self.names = tuple(self.periods)
        self._joined = join_periods(self.periods, label)
        self.terms = self._joined.term_array

    @property
    @abstractmethod
    def p(self) -> Array:
        """Two-sided p-values."""

    @cached_property
    def q(self) -> Array:
        """The false discovery rate (Benjamini and Hochberg) at which each term is still found."""
        return control_false_discoveries(self.p)

    @property
    def classes(self) -> list[str]:
        """The classes that all periods have."""
        return common_classes(self.periods)

    def _sort_places(self, places: Int64Array, sizes: Array) -> Int64Array:
        """Return places of terms in order of their sizes, the largest first; ties by the term."""
        return places[np.lexsort([self._joined.alphabetical[places], -sizes[places]])]

    def of_class(self, label: str) -> Self:
        """Return the same comparison inside a class."""
        for one in self.periods.values():
            one.index_of_class(label)
        return type(self)(self.periods, self.level, label)

    @abstractmethod
    def __iter__(self) -> Iterator[Any]: ...

    def __len__(self) -> int:
        return len(self.terms)

    def to_arrow(self) -> pa.Table:
        """Return a table with a row per term, strongest first."""
        columns = list(zip(*self, strict=True)) or [()] * len(self.schema)
        return pa.table(dict(zip(self.schema.names, columns, strict=True)), schema=self.schema)

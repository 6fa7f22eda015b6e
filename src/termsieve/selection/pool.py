"""What a rule of selection is, what it chooses from, and what it gives back."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt

from termsieve._types import Int64Array
from termsieve.counts.counts import Counts
from termsieve.errors import OptionError
from termsieve.ranking import aggregate as agg
from termsieve.ranking import distinct
from termsieve.ranking.ranking import ScoreLike, Scores, as_score, score
from termsieve.scores.registry import format_value
from termsieve.table import Array, Table

BoolArray: TypeAlias = npt.NDArray[np.bool_]
R = TypeVar("R", bound="type[Rule]")
_RULES: dict[str, type[Rule]] = {}
RULES: Mapping[str, type[Rule]] = MappingProxyType(_RULES)


@dataclass(frozen=True)
class TermPool:
    """The terms to choose from, all of them or those at the places `among`, and the score that ranks them."""

    scores: Scores
    aggregate: str | None = None
    among: Int64Array | None = None

    @property
    def counts(self) -> Counts:
        """The counts behind the score."""
        return self.scores.counts

    @property
    def size(self) -> int:
        """Number of terms to choose from."""
        return self.counts.n_terms if self.among is None else len(self.among)

    @cached_property
    def values(self) -> Array:
        """The score of every term of the counts, in the pool or not."""
        return self.scores.overall(self.aggregate)

    @property
    def candidates(self) -> Array:
        """The scores of the terms of the pool."""
        return self.values if self.among is None else self.values[self.among]

    def best(self, n: int | None = None) -> Int64Array:
        """The places of the n best terms, or of all, best first."""
        n = self.size if n is None else n
        return self.scores.top_indices(self.values, self.scores.tie_break_of(self.aggregate), n, self.among)

    def best_of_class(self, c: int, n: int) -> tuple[Int64Array, Array]:
        """The n best of the terms that speak for a class, by their value there, and these values."""
        cells, lift = distinct.evaluate(self.counts, _get_lift)
        speaks = cells.expand_to_terms(agg.class_values(cells, lift, c)) > 0
        if self.among is not None:
            speaks &= self._in_pool
        values = self.scores.of_class(c)
        places = self.scores.top_indices(values, self.scores.tie_break_of_class(c), n, np.flatnonzero(speaks))
        return places, values[places]

    @cached_property
    def _in_pool(self) -> BoolArray:
        mask = np.zeros(self.counts.n_terms, np.bool_)
        mask[self.among] = True
        return mask

    def rank_by(self, one: ScoreLike) -> TermPool:
        """The same terms, ranked by another score."""
        return TermPool(score(self.counts, as_score(one)), self.aggregate, self.among)


def _get_lift(t: Table) -> Array:
    return t.lift


class ChosenTerms(NamedTuple):
    """What a rule chose: places in rank order, the scores there, who took each, and why there are no more."""

    places: Int64Array
    values: Array
    taken_by: Sequence[str]
    reason: str


class Rule(ABC):
    """How many terms, and which. Frozen, equal when spelled alike, printed as its spelling."""

    name: ClassVar[str]
    scores: tuple[ScoreLike, ...] = ()  # those that a rule brings along; most rank by the score they are given

    @abstractmethod
    def choose(self, pool: TermPool) -> ChosenTerms:
        """Choose from a pool of terms."""

    def __repr__(self) -> str:
        values = [(field, getattr(self, field.name)) for field in fields(cast("Any", self))]
        said = [format_value(value) for _, value in values[:1]]
        said += [f"{field.name}={format_value(value)}" for field, value in values[1:] if value != field.default]
        return f"{self.name}({', '.join(said)})"

    def __str__(self) -> str:
        return repr(self)


def rule(name: str) -> Callable[[R], R]:
    """Register the decorated class under the name by which it is spelled."""

    def record(cls: R) -> R:
        cls.name = name
        _RULES[name] = cls
        return cls

    return record


def set_int(one: Rule, name: str) -> None:
    """Check a parameter that is a number of terms, and keep it as a plain one."""
    value = getattr(one, name)
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
        raise OptionError(f"The parameter {name!r} of {one.name!r} must be a whole number, 0 or more, not {value!r}.")
    object.__setattr__(one, name, int(value))


def set_float(one: Rule, name: str, low: float = -math.inf, high: float = math.inf) -> None:
    """Check a parameter that is a number within limits, and keep it as a plain one."""
    value = getattr(one, name)
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or not low <= value <= high:
        limits = f"a number in [{low:g}, {high:g}]" if high < math.inf else "a finite number"
        raise OptionError(f"The parameter {name!r} of {one.name!r} must be {limits}, not {value!r}.")
    object.__setattr__(one, name, float(value))


class RankedTerms(NamedTuple):
    """Someone who takes terms, best first: a class or a score."""

    name: str
    places: Int64Array
    values: Array


def rank_for_classes(pool: TermPool, n: int) -> list[RankedTerms]:
    """What each class would take, n terms at most."""
    names = pool.counts.classes
    return [RankedTerms(str(name), *pool.best_of_class(c, n)) for c, name in enumerate(names)]


def take_in_turn(claims: list[RankedTerms], *, total: int, each: int) -> tuple[Int64Array, Array, list[str]]:
    """One after the other takes the first of its terms that nobody has, `each` at most, until there are `total`."""
    taken: dict[int, tuple[float, str]] = {}
    heads = [(name, each, iter(zip(places.tolist(), values.tolist(), strict=True))) for name, places, values in claims]
    while heads and len(taken) < total:
        left = []
        for name, more, head in heads:
            found = next(((place, value) for place, value in head if place not in taken), None)
            if found is None or more == 0 or len(taken) == total:
                continue
            taken[found[0]] = (found[1], name)
            left.append((name, more - 1, head))
        heads = left
    values = np.array([value for value, _ in taken.values()], np.float64)
    return np.array(list(taken), np.int64), values, [name for _, name in taken.values()]

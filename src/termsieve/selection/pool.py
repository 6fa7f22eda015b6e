"""The base class of selection rules, the terms that a rule chooses from, and the terms that it chose."""

from __future__ import annotations

import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar, cast

import numpy as np

from termsieve._types import Array, BoolArray, Int64Array
from termsieve.checks import is_whole_number
from termsieve.counts.counts import Counts
from termsieve.errors import OptionError
from termsieve.ranking.ranking import ScoreLike, as_score, score
from termsieve.ranking.score_values import Scores
from termsieve.scores.registry import format_value

if TYPE_CHECKING:
    from termsieve.counts.folds import Folds
    from termsieve.counts.labelled import LabelledMatrix
    from termsieve.ranking.finalists import Contest
    from termsieve.scores import Score

R = TypeVar("R", bound="type[Rule]")
_RULES: dict[str, type[Rule]] = {}
RULES: Mapping[str, type[Rule]] = MappingProxyType(_RULES)


@dataclass(frozen=True)
class TermPool:
    """The terms to choose from, all of them or those at the indices `among`, and the score that ranks them.

    With `matrix`, the documents in which they are: for rules that look at terms together. With `folds`, the counts of
    parts of the documents: for rules that select from many samples.
    """

    scores: Scores
    aggregate: str | None = None
    among: Int64Array | None = None
    matrix: LabelledMatrix | None = None
    folds: Folds | None = None

    @property
    def counts(self) -> Counts:
        """The counts behind the score."""
        return self.scores.counts

    @property
    def size(self) -> int:
        """Number of terms to choose from."""
        return self.counts.vocabulary_size if self.among is None else len(self.among)

    @cached_property
    def values(self) -> Array:
        """The score of every term of the counts, in the pool or not."""
        return self.scores.overall(self.aggregate)

    @property
    def candidates(self) -> Array:
        """The scores of the terms of the pool."""
        return self.values if self.among is None else self.values[self.among]

    def top_indices(self, n: int | None = None) -> Int64Array:
        """Return the indices of the n best terms, or of all, best first."""
        n = self.size if n is None else n
        return self.scores.top_indices(self.values, self.scores.tie_break_of(self.aggregate), n, self.among)

    def best_of_class(self, c: int, n: int) -> tuple[Int64Array, Array]:
        """Return the n best of the terms that are more frequent in a class than elsewhere, and their values there."""
        associated = self.scores.lift_of_class(c) > 0
        if self.among is not None:
            associated &= self._in_pool
        values = self.scores.of_class(c)
        indices = self.scores.top_indices(values, self.scores.tie_break_of_class(c), n, np.flatnonzero(associated))
        return indices, values[indices]

    @cached_property
    def _in_pool(self) -> BoolArray:
        mask = np.zeros(self.counts.n_terms, np.bool_)
        mask[self.among] = True
        return mask

    def rank_by(self, one: ScoreLike) -> TermPool:
        """Return the same terms, ranked by another score."""
        return TermPool(score(self.counts, as_score(one)), self.aggregate, self.among, self.matrix, self.folds)

    def get_matrix(self, rule: Rule) -> LabelledMatrix:
        """Return the documents that a rule needs."""
        if self.matrix is None:
            raise OptionError(
                f"{rule} looks at terms together, so it needs the documents, and counts have sums only. Give the "
                "documents: termsieve.select(documents, rule), or the file of documents to the command. With counts, "
                "take a rule that ranks terms one by one, such as top(1000) or round_robin(1000)."
            )
        return self.matrix


class ChosenTerms(NamedTuple):
    """The terms that a rule chose: indices in rank order, scores, who took each, and why there are no more."""

    indices: Int64Array
    values: Array
    taken_by: Sequence[str]
    reason: str


class Rule(ABC):
    """A rule that chooses terms. Frozen, equal when spelled alike, printed as its spelling.

    Examples
    --------
    >>> import termsieve as ts
    >>> ts.RULES["energy"](0.8)
    energy(0.8)
    """

    name: ClassVar[str]
    scores: tuple[ScoreLike, ...] = ()  # scores of its own; most rules rank by the score that they are given
    needs_documents: ClassVar[bool] = False
    needs_folds: ClassVar[bool] = False  # counts of parts of the documents, not only their sum

    def contests(self, score: Score, aggregate: str | None, size: int, n_classes: int) -> list[Contest] | None:  # noqa: ARG002
        """Return rankings whose best terms are all that the rule needs; None: it needs all terms."""
        return None

    def own_score(self, counts: Counts) -> ScoreLike | None:  # noqa: ARG002 - for rules that need it
        """Return the score that the rule brings along, the last where there are several; None for the given one."""
        return self.scores[-1] if self.scores else None

    @abstractmethod
    def choose(self, pool: TermPool) -> ChosenTerms:
        """Choose from a pool of terms."""

    def __repr__(self) -> str:
        values = [(field, getattr(self, field.name)) for field in fields(cast("Any", self))]
        shown = [format_value(value) for _, value in values[:1]]
        shown += [f"{field.name}={format_value(value)}" for field, value in values[1:] if value != field.default]
        return f"{self.name}({', '.join(shown)})"

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
    """Check a parameter that is a number of terms, and store it as an int."""
    value = getattr(one, name)
    if not is_whole_number(value):
        raise OptionError(f"The parameter {name!r} of {one.name!r} must be a whole number, 0 or more, not {value!r}.")
    object.__setattr__(one, name, int(value))


def set_float(one: Rule, name: str, low: float = -math.inf, high: float = math.inf) -> None:
    """Check a parameter that is a number within limits, and store it as a float."""
    value = getattr(one, name)
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    # whole numbers beyond a float are larger than it: their limits are looked at without converting them
    if not number or not low <= value <= high or not -sys.float_info.max <= value <= sys.float_info.max:
        limits = f"a number in [{low:g}, {high:g}]" if high < math.inf else "a finite number"
        raise OptionError(f"The parameter {name!r} of {one.name!r} must be {limits}, not {value!r}.")
    object.__setattr__(one, name, float(value))


class RankedTerms(NamedTuple):
    """The ranked terms of a class or a score that takes terms in turn."""

    name: str
    indices: Int64Array
    values: Array


def rank_for_classes(pool: TermPool, n: int) -> list[RankedTerms]:
    """Rank the terms of each class, n at most."""
    names = pool.counts.classes
    return [RankedTerms(str(name), *pool.best_of_class(c, n)) for c, name in enumerate(names)]


def take_in_turn(claims: list[RankedTerms], *, total: int, each: int) -> tuple[Int64Array, Array, list[str]]:
    """Let each in turn take its first term that is not taken, `each` at most, until there are `total`."""
    claimants = [
        Claimant(name, each, iter(zip(indices.tolist(), values.tolist(), strict=True)))
        for name, indices, values in claims
    ]
    return take_from_claimants(claimants, total)


class Claimant(NamedTuple):
    """One that takes terms in turn: how many more it may take, and its further terms with their values."""

    name: str
    more: int
    terms: Iterator[tuple[int, float]]


def take_from_claimants(claimants: list[Claimant], total: int) -> tuple[Int64Array, Array, list[str]]:
    """Let each in turn take its first term that is not taken, until there are `total`."""
    taken: dict[int, tuple[float, str]] = {}
    while claimants and len(taken) < total:
        left = []
        for name, more, terms in claimants:
            if more == 0 or len(taken) == total:
                continue
            best = next(((index, value) for index, value in terms if index not in taken), None)
            if best is None:
                continue
            taken[best[0]] = (best[1], name)
            left.append(Claimant(name, more - 1, terms))
        claimants = left
    values = np.array([value for value, _ in taken.values()], np.float64)
    return np.array(list(taken), np.int64), values, [name for _, name in taken.values()]

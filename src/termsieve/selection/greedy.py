"""Terms chosen one after the other, each by what it adds to those before it.

With X a term (present or not), Y the class, S the terms chosen so far, I mutual information and SU symmetrical
uncertainty, 2 I / (H + H), the next term is the one with the largest

================  ==========================================================  ================
``cmim``          min over s in S of I(X; Y | s), at most I(X; Y)             Fleuret 2004
``jmi``           mean over s in S of I(X; Y | s)                             Yang, Moody 1999
``mrmr``          I(X; Y) - mean over s in S of I(X; s), or their quotient    Peng et al. 2005
``fcbf``          SU(X; Y), of those with SU(X; s) < SU(X; Y) for all s in S  Yu, Liu 2004
================  ==========================================================  ================

The first is the one with the largest I(X; Y), or SU(X; Y). Equal values: the larger I(X; Y), then the term.

Values are whole numbers (see `logarithms`), so the choice is exact. It is lazy: terms are admitted in the order of
I(X; Y) and only as far as they could still win, as their value has a bound that is known beforehand.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cmp_to_key
from typing import NamedTuple

import numpy as np

from termsieve._types import Array, BoolArray, Int64Array
from termsieve.selection.problem import Problem

_FIRST_ADMITTED = 1024
_HALF = 31  # bits of the lower part of a sum that may pass 64 bits
_LOW = (1 << _HALF) - 1
_NEAR = 1e-9  # quotients that are closer to each other, in relation, are compared in whole numbers


class Step(NamedTuple):
    """A chosen term, by its number in the problem, and its value when it was chosen."""

    term: int
    value: float


class Criterion(ABC):
    """The value of terms beside those that are chosen; kept for the terms that are admitted."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.chosen: list[int] = []
        self.n_admitted = 0
        self.is_open = np.zeros(problem.n_terms, np.bool_)  # admitted, and not chosen

    def __iter__(self) -> Iterator[Step]:
        """Choose one after the other, until no terms are left."""
        while len(self.chosen) < self.problem.n_terms:
            step = self._find_next()
            yield step
            self.chosen.append(step.term)
            self.is_open[step.term] = False
            self.add(step.term, 0, self.n_admitted)

    def _find_next(self) -> Step:
        while True:
            if self.is_open.any():
                step = self.find_best()
                if not self._may_be_beaten(step.term):
                    return step
            self._admit(max(2 * self.n_admitted, _FIRST_ADMITTED))

    def _may_be_beaten(self, best: int) -> bool:
        """Tell whether a term that is not admitted might be better; an equal one stands behind in relevance."""
        return self.n_admitted < self.problem.n_terms and self.is_below_bound(best)

    def _admit(self, n: int) -> None:
        start, stop = self.n_admitted, min(n, self.problem.n_terms)
        self.is_open[start:stop] = True
        self.n_admitted = stop
        self.prepare(start, stop)
        for z in self.chosen:
            self.add(z, start, stop)

    @abstractmethod
    def prepare(self, start: int, stop: int) -> None:
        """Set the values of some terms beside none."""

    @abstractmethod
    def add(self, z: int, start: int, stop: int) -> None:
        """Take another chosen term into the values of some terms."""

    @abstractmethod
    def find_best(self) -> Step:
        """Return the best of the open terms, and its value."""

    @abstractmethod
    def is_below_bound(self, best: int) -> bool:
        """Tell whether the bound on the terms that are not admitted is above the value of the best."""


class CmimSteps(Criterion):
    """The least that a term adds to one of the chosen."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.least = problem.relevance.copy()

    def prepare(self, start: int, stop: int) -> None:
        """Begin with the relevance, as `least` does."""

    def add(self, z: int, start: int, stop: int) -> None:
        """Keep the smaller value."""
        part = self.least[start:stop]
        np.minimum(part, self.problem.compute_conditional(z, start, stop), out=part)

    def find_best(self) -> Step:
        """Return the first with the largest value."""
        best = int(np.argmax(np.where(self.is_open, self.least, -1)))
        return Step(best, float(self.problem.log_table.to_nats(self.least[best])))

    def is_below_bound(self, best: int) -> bool:
        """Compare with the relevance of the first that is not admitted."""
        return bool(self.least[best] < self.problem.relevance[self.n_admitted])


class _SumCriterion(Criterion):
    """A criterion with a sum over the chosen terms, in two parts, as it may pass 64 bits."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.high, self.low = np.zeros((2, problem.n_terms), np.int64)

    def prepare(self, start: int, stop: int) -> None:
        """Begin with 0, as the sums do."""

    def _add(self, values: Int64Array, start: int, stop: int) -> None:
        low = self.low[start:stop] + (values & _LOW)
        self.high[start:stop] += (values >> _HALF) + (low >> _HALF)
        self.low[start:stop] = low & _LOW

    def _sum(self, term: int) -> int:
        return (int(self.high[term]) << _HALF) + int(self.low[term])

    def _to_nats(self, value: float) -> float:
        return float(self.problem.log_table.to_nats(np.float64(value)))  # type: ignore[arg-type]


class JmiSteps(_SumCriterion):
    """The mean of what a term adds to each of the chosen."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        # nothing tells more than it takes to know it: of the terms from each on, the largest
        self._bound = np.maximum.accumulate(problem.entropy[::-1])[::-1]

    def add(self, z: int, start: int, stop: int) -> None:
        """Add what terms tell beside z."""
        self._add(self.problem.compute_conditional(z, start, stop), start, stop)

    def find_best(self) -> Step:
        """Return the first with the largest sum; before any is chosen, with the largest relevance."""
        if not self.chosen:
            return Step(0, self._to_nats(float(self.problem.relevance[0])))
        best = _find_first_largest(self.high, self.low, self.is_open)
        return Step(best, self._to_nats(self._sum(best) / len(self.chosen)))

    def is_below_bound(self, best: int) -> bool:
        """Compare the sum with as often the largest entropy."""
        if not self.chosen:
            return False
        return self._sum(best) < len(self.chosen) * int(self._bound[self.n_admitted])


class MrmrDifferenceSteps(_SumCriterion):
    """The relevance without the mean of what a term shares with each of the chosen."""

    def add(self, z: int, start: int, stop: int) -> None:
        """Add what terms share with z."""
        self._add(self.problem.compute_shared(z, start, stop), start, stop)

    def find_best(self) -> Step:
        """Return the first with the largest difference."""
        n, relevance = max(len(self.chosen), 1), self.problem.relevance
        low = (relevance & _LOW) * n - self.low
        high = (relevance >> _HALF) * n - self.high + (low >> _HALF)
        best = _find_first_largest(high, low & _LOW, self.is_open)
        return Step(best, self._to_nats(int(relevance[best]) - self._sum(best) / n))

    def is_below_bound(self, best: int) -> bool:
        """Compare with the relevance of the first that is not admitted."""
        n, relevance = max(len(self.chosen), 1), self.problem.relevance
        return int(relevance[best]) * n - self._sum(best) < n * int(relevance[self.n_admitted])


class MrmrQuotientSteps(MrmrDifferenceSteps):
    """The relevance by the mean of what a term shares with each of the chosen: infinite where it shares nothing."""

    def find_best(self) -> Step:
        """Return the first with the largest quotient; of several that are infinite, the most relevant."""
        if not self.chosen:
            return super().find_best()
        relevance, shared = self.problem.relevance, self.high * 2.0**_HALF + self.low
        with np.errstate(divide="ignore", invalid="ignore"):
            quotient = np.where(relevance > 0, relevance / shared, 0.0)
        quotient[~self.is_open] = -1.0
        best = int(np.argmax(quotient))
        if np.isfinite(quotient[best]):
            near = np.flatnonzero(quotient >= quotient[best] * (1 - _NEAR))
            for other in near.tolist():
                if int(relevance[other]) * self._sum(best) > int(relevance[best]) * self._sum(other):
                    best = other
                elif int(relevance[other]) * self._sum(best) == int(relevance[best]) * self._sum(other):
                    best = min(best, other)
        return Step(best, float(quotient[best] * len(self.chosen)))

    def is_below_bound(self, best: int) -> bool:
        """Admit all: a rare term shares little, whatever its relevance."""
        return bool(self.chosen) or super().is_below_bound(best)


def _find_first_largest(high: Int64Array, low: Int64Array, among: BoolArray) -> int:
    """Return the first of the largest numbers in two parts."""
    tops = np.where(among, high, np.iinfo(np.int64).min)
    places = np.flatnonzero(tops == tops.max())
    return int(places[np.argmax(low[places])])


class FcbfSteps:
    """The most relevant term, without those that tell more of it than of the class; again and again."""

    def __init__(self, problem: Problem, threshold: float = 0.0) -> None:
        self.problem, self.threshold = problem, threshold
        self._entropy, self._class_entropy = problem.entropy, problem.class_entropy

    def __iter__(self) -> Iterator[Step]:
        """Choose one after the other, until none is left."""
        values, order = self._rank()
        left = values[order] >= self.threshold
        for place, term in enumerate(order.tolist()):
            if left[place]:
                yield Step(term, float(values[term]))
                left[place + 1 :] &= ~self._tells_more_of(term)[order[place + 1 :]]

    def _rank(self) -> tuple[Array, Int64Array]:
        """Return the symmetrical uncertainty of each term and the class, and the terms by it."""
        relevance, entropy = self.problem.relevance, self._entropy
        whole = entropy + float(self._class_entropy)
        values = np.divide(2.0 * relevance, whole, out=np.zeros(len(whole)), where=whole > 0)
        order = np.argsort(-values, kind="stable")
        near = np.flatnonzero(values[order[1:]] >= values[order[:-1]] * (1 - _NEAR))
        for run in np.split(near, np.flatnonzero(np.diff(near) > 1) + 1):
            if len(run):
                part = slice(run[0], run[-1] + 2)
                order[part] = sorted(order[part].tolist(), key=cmp_to_key(self._compare))
        return values, order

    def _compare(self, a: int, b: int) -> int:
        """Compare two terms by their exact values, then by relevance and name."""
        relevance, entropy, of_class = self.problem.relevance, self._entropy, self._class_entropy
        mine = int(relevance[a]) * (int(entropy[b]) + of_class)
        theirs = int(relevance[b]) * (int(entropy[a]) + of_class)
        return (theirs > mine) - (theirs < mine) or a - b

    def _tells_more_of(self, z: int) -> BoolArray:
        """Tell which terms have at least the symmetrical uncertainty with z that they have with the class."""
        relevance, entropy = self.problem.relevance, self._entropy
        shared = self.problem.compute_shared(z, 0, self.problem.n_terms)
        with_z = shared * (entropy + float(self._class_entropy))
        with_class = relevance * (entropy + float(entropy[z]))
        more = with_z >= with_class
        for term in np.flatnonzero(np.abs(with_z - with_class) <= _NEAR * with_class).tolist():
            of_z = int(shared[term]) * (int(entropy[term]) + self._class_entropy)
            more[term] = of_z >= int(relevance[term]) * (int(entropy[term]) + int(entropy[z]))
        return np.asarray(more)

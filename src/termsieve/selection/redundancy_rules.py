"""Rules that look at terms together, so that the chosen ones do not repeat each other: `greedy` has the formulas.

They need documents. Where documents have one label each, there is one problem with all classes. With several labels, or
with ``in_turn=True``, there is one for each class against the rest, and the classes take terms in turn: each the first
of its own choice that no other has taken.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from termsieve._types import Int64Array
from termsieve.errors import OptionError
from termsieve.ranking.ranking import as_score, score
from termsieve.scores.registry import format_value
from termsieve.selection.pool import (
    RULES,
    ChosenTerms,
    Claimant,
    Rule,
    TermPool,
    rule,
    set_float,
    set_int,
    take_from_claimants,
)
from termsieve.spelling import parse_call

if TYPE_CHECKING:
    from termsieve.counts.counts import Counts
    from termsieve.counts.labelled import LabelledMatrix
    from termsieve.selection.greedy import Step
    from termsieve.selection.problem import Problem

DEFAULT_K = 1000  # terms, where no number is given


@dataclass(frozen=True, repr=False)
class RedundancyRule(Rule):
    """A rule that chooses terms one after the other, each beside those before it.

    Attributes
    ----------
    k : int or None
        How many terms. None is 1,000 (`fcbf`: until none is left), and in a comparison as many as are compared.
    in_turn : bool
        Let the classes take terms in turn, each against the rest, also where documents have one label each. Where they
        have several, it is always so.
    """

    needs_documents: ClassVar[bool] = True
    default_k: ClassVar[int | None] = DEFAULT_K

    k: int | None = None
    in_turn: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        if self.k is not None:
            set_int(self, "k")
        if not isinstance(self.in_turn, bool):
            raise OptionError(
                f"The parameter 'in_turn' of {self.name!r} must be True or False; it was {self.in_turn!r}."
            )

    @abstractmethod
    def make_steps(self, problem: Problem) -> Iterable[Step]:
        """Choose terms of a problem, one after the other, as long as they are asked for."""

    def own_score(self, counts: Counts) -> str:
        """Return the score of single terms that this rule begins with: information gain."""
        return "info_gain_binary" if counts.n_multilabel or self.in_turn else "info_gain"

    def choose(self, pool: TermPool) -> ChosenTerms:
        """Choose from the documents of the pool."""
        k = self.default_k if self.k is None else self.k
        chosen = self.choose_from(pool.get_matrix(self), k, pool.among)
        return chosen._replace(reason=self._explain(len(chosen.indices), k, pool))

    def _explain(self, n: int, k: int | None, pool: TermPool) -> str:
        n_classes = pool.counts.n_classes
        in_turn = self.in_turn or pool.get_matrix(self).codes is None
        how = f"{n_classes:,} classes in turn chose" if in_turn else f"{self.name} chose"
        few = "" if n == k else "; no others were left"
        return f"{how} {n:,} of {pool.size:,} terms one after the other, in {pool.counts.n_docs:,} documents{few}"

    def choose_from(
        self, matrix: LabelledMatrix, k: int | None, among: Int64Array | None = None, c: int | None = None
    ) -> ChosenTerms:
        """Choose up to k columns of a matrix, for all classes or for one against the rest; None: all there are."""
        total = int(matrix.X.shape[1]) if k is None else min(k, int(matrix.X.shape[1]))
        if c is not None or (matrix.codes is not None and not self.in_turn):
            pairs = list(islice(self._iterate(matrix, among, c), total))
            indices = np.array([index for index, _ in pairs], np.int64)
            return ChosenTerms(indices, np.array([value for _, value in pairs]), [self.name] * len(pairs), "")
        n, names = matrix.Y.shape[1], matrix.counts.classes
        depth = 2 * total // n + 16
        claimants = [Claimant(str(names[i]), total, self._iterate_afresh(matrix, among, i, depth)) for i in range(n)]
        return ChosenTerms(*take_from_claimants(claimants, total), "")

    def _iterate(self, matrix: LabelledMatrix, among: Int64Array | None, c: int | None) -> Iterator[tuple[int, float]]:
        """Yield columns and their values, in the order of choice."""
        from termsieve.selection.problem import Problem

        problem = Problem(matrix, c, among)
        for step in self.make_steps(problem):
            yield int(problem.terms[step.term]), step.value

    def _iterate_afresh(
        self, matrix: LabelledMatrix, among: Int64Array | None, c: int, depth: int
    ) -> Iterator[tuple[int, float]]:
        """Yield the same, but do not keep the problem: one for each class at the same time would fill the memory."""
        done = 0
        while True:
            pairs = list(islice(self._iterate(matrix, among, c), depth))
            yield from pairs[done:]
            if len(pairs) < depth:
                return
            done, depth = len(pairs), 4 * depth

    def rank_all(
        self, matrix: LabelledMatrix, n: int, among: Int64Array | None = None, c: int | None = None
    ) -> Int64Array:
        """Rank all columns: n (or the rule's own k) by this rule, and behind them the others by information gain."""
        depth = n if self.k is None else self.k
        chosen = self.choose_from(matrix, depth, among, c).indices
        scores = score(matrix.counts, as_score("info_gain_binary" if c is not None else self.own_score(matrix.counts)))
        order = scores.order() if c is None else scores.order_of_class(c)
        is_left = np.ones(len(order), np.bool_)
        is_left[chosen] = False
        return np.concatenate([chosen, order[is_left[order]]])

    def __repr__(self) -> str:
        given = [(one.name, getattr(self, one.name)) for one in fields(self) if getattr(self, one.name) != one.default]
        shown = [format_value(value) if name == "k" else f"{name}={format_value(value)}" for name, value in given]
        return f"{self.name}({', '.join(shown)})"


@rule("cmim")
@dataclass(frozen=True, repr=False)
class Cmim(RedundancyRule):
    """Terms one by one: each tells most of the class beside what any single term chosen before tells (Fleuret's CMIM).

    >>> Cmim(1000)
    cmim(1000)
    """

    def make_steps(self, problem: Problem) -> Iterable[Step]:
        """Choose by the least information beside one chosen term."""
        from termsieve.selection import greedy

        return greedy.CmimSteps(problem)


@rule("jmi")
@dataclass(frozen=True, repr=False)
class Jmi(RedundancyRule):
    """Terms one by one: each tells most together with those chosen before, on average (joint mutual information)."""

    def make_steps(self, problem: Problem) -> Iterable[Step]:
        """Choose by the mean information beside the chosen terms."""
        from termsieve.selection import greedy

        return greedy.JmiSteps(problem)


@rule("mrmr")
@dataclass(frozen=True, repr=False)
class Mrmr(RedundancyRule):
    """Terms one by one: each tells most of the class and least of those chosen before (mRMR, difference or quotient).

    >>> Mrmr(100, form="quotient")
    mrmr(100, form="quotient")
    """

    form: Literal["difference", "quotient"] = "difference"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.form not in ("difference", "quotient"):
            raise OptionError(
                f"The parameter 'form' of 'mrmr' must be 'difference' or 'quotient'; it was {self.form!r}."
            )

    def make_steps(self, problem: Problem) -> Iterable[Step]:
        """Choose by relevance and redundancy."""
        from termsieve.selection import greedy

        return greedy.MrmrDifferenceSteps(problem) if self.form == "difference" else greedy.MrmrQuotientSteps(problem)


@rule("fcbf")
@dataclass(frozen=True, repr=False)
class Fcbf(RedundancyRule):
    """The terms that tell more of the class than of any better term, by symmetrical uncertainty (Yu and Liu's FCBF).

    Attributes
    ----------
    threshold : float
        The least symmetrical uncertainty of a term and the class.

    >>> Fcbf(threshold=0.01)
    fcbf(threshold=0.01)
    """

    default_k: ClassVar[int | None] = None

    threshold: float = field(default=0.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        set_float(self, "threshold", 0, 1)

    def make_steps(self, problem: Problem) -> Iterable[Step]:
        """Choose the best term, and drop those that tell as much of it as of the class."""
        from termsieve.selection import greedy

        return greedy.FcbfSteps(problem, self.threshold)


def parse_redundancy_rule(spelling: Any) -> RedundancyRule | None:
    """Return the redundancy rule of a spelling such as ``"cmim"`` or ``"cmim(500)"``; None where it is another name.

    >>> parse_redundancy_rule("mrmr(form='quotient')"), parse_redundancy_rule("chi2")
    (mrmr(form="quotient"), None)
    """
    from termsieve.selection.rules import parse_rule

    if not isinstance(spelling, str):
        return None
    cls = RULES.get(parse_call(spelling, "score or rule", "'chi2' or 'cmim'").name)
    if cls is None or not issubclass(cls, RedundancyRule):
        return None
    found = parse_rule(spelling)
    assert isinstance(found, RedundancyRule)  # noqa: S101 - for the type checker
    return found

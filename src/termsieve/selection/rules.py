"""Rules: how many terms, and which. Each is an object with a short spelling.

``top(1000)``, ``energy(0.8)``, ``union("chi2", "info_gain", k=1000)``: what a rule prints is what `parse_rule` reads,
with ``ast``, never ``eval``. So code, grid search and command line use the same spelling. `RULES` has them all.

A rule chooses from a `TermPool`: some terms and the score that ranks them. Terms of equal score have the same
order everywhere: that of `Scores.order`.
"""

from __future__ import annotations

import inspect
import math
from collections import Counter
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, cast

import numpy as np

from termsieve._types import Array, BoolArray
from termsieve.errors import OptionError, did_you_mean, warn
from termsieve.ranking.finalists import Contest
from termsieve.ranking.permutation import control_false_discoveries
from termsieve.ranking.ranking import ScoreLike, as_score
from termsieve.scores import SCORES, Score
from termsieve.scores.registry import format_value
from termsieve.selection.pool import RULES as RULES
from termsieve.selection.pool import (
    ChosenTerms,
    RankedTerms,
    TermPool,
    rank_for_classes,
    rule,
    set_float,
    set_int,
    take_in_turn,
)
from termsieve.selection.pool import Rule as Rule
from termsieve.selection.redundancy_rules import RedundancyRule as RedundancyRule  # which registers these rules
from termsieve.selection.stability import Stable as Stable
from termsieve.spelling import Call, parse_call

RuleLike: TypeAlias = "str | int | Rule"


def _choose_best(pool: TermPool, n: int, reason: str) -> ChosenTerms:
    indices = pool.top_indices(n)
    return ChosenTerms(indices, pool.values[indices], [pool.scores.score.spelling] * len(indices), reason)


def _format_count(n: int, size: int) -> str:
    return f"{n:,} of {size:,} terms"


# The rules


@rule("top")
@dataclass(frozen=True, repr=False)
class Top(Rule):
    """The k best terms, or ``"all"``. When there are fewer it takes all and warns.

    >>> Top(1000)
    top(1000)
    """

    k: int | Literal["all"] = 1000

    def __post_init__(self) -> None:
        if self.k != "all":
            set_int(self, "k")

    def contests(self, score: Score, aggregate: str | None, size: int, n_classes: int) -> list[Contest] | None:  # noqa: ARG002
        """Return the one ranking."""
        return None if self.k == "all" else [Contest(score, self.k, aggregate=aggregate)]

    def choose(self, pool: TermPool) -> ChosenTerms:
        """Choose the k best."""
        if self.k == "all":
            return _choose_best(pool, pool.size, f"all {pool.size:,} terms were asked for")
        if self.k > pool.size:
            warn(f"k={self.k} is more than the {pool.size} terms there are: all are taken.")
            return _choose_best(pool, pool.size, f"all {pool.size:,} terms: {self.k:,} were asked for")
        return _choose_best(
            pool, self.k, f"the {_format_count(self.k, pool.size)} with the highest score were asked for"
        )


@rule("percentile")
@dataclass(frozen=True, repr=False)
class Percentile(Rule):
    """A percentage of the terms, the best: as many as scikit-learn's ``SelectPercentile`` takes without ties."""

    percent: float = 10

    def __post_init__(self) -> None:
        set_float(self, "percent", 0, 100)

    def contests(self, score: Score, aggregate: str | None, size: int, n_classes: int) -> list[Contest] | None:  # noqa: ARG002
        """Return the one ranking."""
        return [Contest(score, self._count(size), aggregate=aggregate)]

    def _count(self, size: int) -> int:
        share = self.percent / 100
        return max(math.ceil((size - 1) * share), int(size * share)) if size else 0

    def choose(self, pool: TermPool) -> ChosenTerms:
        """Choose the best part."""
        n = self._count(pool.size)
        return _choose_best(pool, n, f"the best {self.percent:g} percent: {_format_count(n, pool.size)}")


@rule("threshold")
@dataclass(frozen=True, repr=False)
class Threshold(Rule):
    """The terms with at least this score."""

    least: float = 0.0

    def __post_init__(self) -> None:
        set_float(self, "least")

    def choose(self, pool: TermPool) -> ChosenTerms:
        """Choose the terms that reach the threshold."""
        kept = pool.candidates >= self.least
        return _choose_masked(
            pool, kept, f"a score of at least {self.least:g}: {_format_count(int(kept.sum()), pool.size)}"
        )


@rule("median_probability")
@dataclass(frozen=True, repr=False)
class MedianProbability(Rule):
    """The median probability model of Barbieri and Berger: the terms with a `pip` of at least one half."""

    def choose(self, pool: TermPool) -> ChosenTerms:
        """Choose the terms that are more likely in than out."""
        given = pool.scores.score.name
        if given not in ("pip", "pip_poisson"):
            raise OptionError(
                "median_probability() needs a posterior inclusion probability, 'pip' or 'pip_poisson'; the score "
                f"is {given!r}. For another score take threshold(...)."
            )
        n = int((pool.candidates >= 0.5).sum())
        return _choose_best(
            pool, n, f"a posterior inclusion probability of at least 0.5: {_format_count(n, pool.size)}"
        )


@rule("energy")
@dataclass(frozen=True, repr=False)
class Energy(Rule):
    """The best terms until they have this share of the sum of all scores (the rule of the OCFS paper)."""

    share: float = 0.8

    def __post_init__(self) -> None:
        set_float(self, "share", 0, 1)

    def choose(self, pool: TermPool) -> ChosenTerms:
        """Choose the fewest terms with the share."""
        bad = ~np.isfinite(pool.candidates) | (pool.candidates < 0)
        if bad.any():
            raise OptionError(
                f"{self} adds up scores: they must be finite and not negative, but {pool.scores.score.spelling!r} "
                f"is {pool.candidates[bad][0]} for {bad.sum():,} terms. Take a score such as 'ocfs', 'info_gain' "
                "or 'chi2', or the rule top(k)."
            )
        order = pool.top_indices()
        sums = np.cumsum(pool.values[order])
        total = float(sums[-1]) if len(sums) else 0.0
        n = int(np.searchsorted(sums, self.share * total)) + 1 if total > 0 else 0
        reason = f"{_format_count(n, pool.size)} have {self.share:g} of the sum of all scores, {total:.6g}"
        indices = order[:n]
        return ChosenTerms(indices, pool.values[indices], [pool.scores.score.spelling] * n, reason)


@rule("fdr")
@dataclass(frozen=True, repr=False)
class Fdr(Rule):
    """The terms that keep the false discovery rate: Benjamini and Hochberg's, or with ``"by"`` Yekutieli's, control."""

    alpha: float = 0.05
    method: Literal["bh", "by"] = "bh"

    def __post_init__(self) -> None:
        set_float(self, "alpha", 0, 1)
        if self.method not in ("bh", "by"):
            raise OptionError(f"The parameter 'method' of 'fdr' must be 'bh' or 'by'; it was {self.method!r}.")

    def choose(self, pool: TermPool) -> ChosenTerms:
        """Choose by adjusted p-values."""
        p = _pool_pvalues(pool)
        kept = control_false_discoveries(p, self.method) <= self.alpha
        largest = f"; the largest p-value is {p[kept].max():.3g}" if kept.any() else ""
        reason = (
            f"a false discovery rate of at most {self.alpha:g}: {_format_count(int(kept.sum()), pool.size)}{largest}"
        )
        return _choose_masked(pool, kept, reason)


@rule("fwe")
@dataclass(frozen=True, repr=False)
class Fwe(Rule):
    """The terms whose p-value is at most alpha / (number of terms): Bonferroni's control of any error at all."""

    alpha: float = 0.05

    def __post_init__(self) -> None:
        set_float(self, "alpha", 0, 1)

    def choose(self, pool: TermPool) -> ChosenTerms:
        """Choose by p-values."""
        limit = self.alpha / max(pool.size, 1)
        kept = _pool_pvalues(pool) <= limit
        return _choose_masked(
            pool, kept, f"a p-value of at most {limit:.3g}: {_format_count(int(kept.sum()), pool.size)}"
        )


def _pool_pvalues(pool: TermPool) -> Array:
    p = pool.scores.pvalues()
    return p if pool.among is None else p[pool.among]


def _choose_masked(pool: TermPool, kept: BoolArray, reason: str) -> ChosenTerms:
    """Choose the terms of a mask on the pool, ranked."""
    among = np.flatnonzero(kept) if pool.among is None else pool.among[kept]
    return _choose_best(replace(pool, among=among), len(among), reason)


@rule("round_robin")
@dataclass(frozen=True, repr=False)
class RoundRobin(Rule):
    """The classes take terms in turn, each its best associated term that is not taken, until there are k."""

    k: int = 1000

    def __post_init__(self) -> None:
        set_int(self, "k")

    def contests(self, score: Score, aggregate: str | None, size: int, n_classes: int) -> list[Contest] | None:  # noqa: ARG002
        """Return a ranking for each class."""
        return [Contest(score, self.k, range(n_classes))]

    def choose(self, pool: TermPool) -> ChosenTerms:
        """Choose for one class after the other."""
        taken = take_in_turn(rank_for_classes(pool, self.k), total=self.k, each=self.k)
        n, m = len(taken[0]), pool.counts.n_classes
        why = "until there were as many as asked for" if n == self.k else "until no class had any left"
        return ChosenTerms(*taken, f"{m:,} classes took terms in turn, {_format_count(n, pool.size)}, {why}")


@rule("per_class")
@dataclass(frozen=True, repr=False)
class PerClass(Rule):
    """The same number of terms for each class: in turn, its best associated terms that are not taken."""

    quota: int = 50

    def __post_init__(self) -> None:
        set_int(self, "quota")

    def contests(self, score: Score, aggregate: str | None, size: int, n_classes: int) -> list[Contest] | None:  # noqa: ARG002
        """Return a ranking for each class."""
        return [Contest(score, self.quota * n_classes, range(n_classes))]

    def choose(self, pool: TermPool) -> ChosenTerms:
        """Choose for every class."""
        m = pool.counts.n_classes
        taken = take_in_turn(rank_for_classes(pool, self.quota * m), total=self.quota * m, each=self.quota)
        n_taken = Counter(taken[2])
        fewer = sum(n_taken[name] < self.quota for name in pool.counts.classes)
        why = f"; {fewer:,} classes have fewer associated terms" if fewer else ""
        reason = f"{self.quota:,} terms for each of {m:,} classes{why}: {_format_count(len(taken[0]), pool.size)}"
        return ChosenTerms(*taken, reason)


@rule("union")
@dataclass(frozen=True, repr=False, init=False)
class Union(Rule):
    """Several scores take terms in turn, each the best by it that is not taken, until there are k.

    >>> Union("chi2", "info_gain", k=1000)
    union("chi2", "info_gain", k=1000)
    """

    scores: tuple[ScoreLike, ...]
    k: int

    def __init__(self, *scores: ScoreLike, k: int = 1000) -> None:
        if not scores:
            raise OptionError('union() needs scores: union("chi2", "info_gain", k=1000).')
        object.__setattr__(self, "scores", tuple(_check_score(one) for one in scores))
        object.__setattr__(self, "k", k)
        set_int(self, "k")

    def contests(self, score: Score, aggregate: str | None, size: int, n_classes: int) -> list[Contest] | None:  # noqa: ARG002
        """Return a ranking by each of the scores."""
        return [Contest(as_score(one), self.k, aggregate=aggregate) for one in self.scores]

    def choose(self, pool: TermPool) -> ChosenTerms:
        """Choose by one score after the other."""
        claims = []
        for one in self.scores:
            ranked = pool.rank_by(one)
            indices = ranked.top_indices(self.k)
            claims.append(RankedTerms(as_score(one).spelling, indices, ranked.values[indices]))
        taken = take_in_turn(claims, total=self.k, each=self.k)
        return ChosenTerms(
            *taken, f"{len(claims)} scores took terms in turn: {_format_count(len(taken[0]), pool.size)}"
        )

    def __repr__(self) -> str:
        return f"union({', '.join(_format_score(one) for one in self.scores)}, k={self.k})"


@rule("stages")
@dataclass(frozen=True, repr=False, init=False)
class Stages(Rule):
    """One score after the other, each with its rule or k: the next chooses from what the one before left.

    >>> Stages("ocfs", 10000, "info_gain", 1000)
    stages("ocfs", 10000, "info_gain", 1000)
    >>> Stages("ocfs", "energy(0.9)", "pip", "median_probability()").rules
    (energy(0.9), median_probability())
    """

    scores: tuple[ScoreLike, ...]
    rules: tuple[Rule, ...]

    def __init__(self, *steps: ScoreLike | RuleLike) -> None:
        if not steps or len(steps) % 2:
            raise OptionError(
                f"stages() needs pairs of a score and a rule, such as stages('ocfs', 10000, 'info_gain', 1000); "
                f"it was given {len(steps)} values."
            )
        object.__setattr__(self, "scores", tuple(_check_score(cast("ScoreLike", one)) for one in steps[::2]))
        object.__setattr__(self, "rules", tuple(parse_rule(cast("RuleLike", one)) for one in steps[1::2]))

    @property
    def needs_documents(self) -> bool:  # type: ignore[override]
        """Whether one of the rules looks at terms together."""
        return any(one.needs_documents for one in self.rules)

    @property
    def needs_folds(self) -> bool:  # type: ignore[override]
        """Whether one of the rules selects from many samples."""
        return any(one.needs_folds for one in self.rules)

    def choose(self, pool: TermPool) -> ChosenTerms:
        """Choose in stages."""
        reasons, left = [], pool
        for one, step in zip(self.scores, self.rules, strict=True):
            chosen = step.choose(left.rank_by(one))
            reasons.append(f"{as_score(one).spelling}: {chosen.reason}")
            left = replace(left, among=np.sort(chosen.indices))
        return chosen._replace(reason="; then ".join(reasons))

    def __repr__(self) -> str:
        steps = [
            (_format_score(one), str(step.k) if isinstance(step, Top) and step.k != "all" else format_value(repr(step)))
            for one, step in zip(self.scores, self.rules, strict=True)
        ]
        return f"stages({', '.join(part for step in steps for part in step)})"


def _check_score(one: ScoreLike) -> ScoreLike:
    return as_score(one).spelling if isinstance(one, str) else one


def _format_score(one: ScoreLike) -> str:
    return format_value(as_score(one).spelling)


# Spellings


def parse_rule(spelling: RuleLike) -> Rule:
    """Return the rule of a spelling, of a number of terms, or of a rule.

    >>> parse_rule(" energy( share = 8e-1 ) ")
    energy(0.8)
    >>> parse_rule(1000)
    top(1000)
    """
    if isinstance(spelling, Rule):
        return spelling
    if isinstance(spelling, int | np.integer) and not isinstance(spelling, bool):
        return Top(int(spelling))
    if not isinstance(spelling, str):
        raise OptionError(f"A rule is a spelling such as 'energy(0.8)', a Rule or a number; it was given {spelling!r}.")
    call = parse_call(spelling, "rule", "'top(1000)' or 'energy(0.8)'")
    name = call.name
    if name not in RULES:
        hint = did_you_mean(name, RULES)
        score_hint = f"{name!r} is a score: a rule says how many terms to take by it. " if name in SCORES else ""
        raise OptionError(f"Unknown rule {name!r}. {score_hint or hint}Known rules: {', '.join(sorted(RULES))}.")
    return _make_rule(RULES[name], call, spelling)


def _make_rule(cls: type[Rule], call: Call, text: str) -> Rule:
    try:
        return cls(*call.args, **call.kwargs)
    except TypeError:
        takes = ", ".join(inspect.signature(cls).parameters) or "no parameters"
        raise OptionError(f"{text!r} is not understood: {cls.name!r} takes {takes}.") from None

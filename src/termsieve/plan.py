"""The plan of a study: which scores compete, with which classifiers, on how many terms, weighted how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from termsieve.aggregate import aggregation
from termsieve.classify import parse_recipe
from termsieve.errors import OptionError
from termsieve.ranking import as_score
from termsieve.weighting import parse_weighting

WEIGH = ("selected", "all")
MOST_TERMS = 2**31 - 1  # the table of results has no room for larger numbers


@dataclass(frozen=True)
class Contender:
    """A score that competes, and which terms it may rank.

    Attributes
    ----------
    name : str
        In the table of results.
    score : str
        A spelling.
    aggregate : str, optional
        How the classes' scores become one; as the score has it, without this.
    max_tf, max_df : int, optional
        Terms that occur more often than this, or in more documents, in the training part are left out.

    Examples
    --------
    >>> Contender.of("bns( floor = 1e-3 )")
    Contender(name='bns(floor=0.001)', score='bns(floor=0.001)', aggregate=None, max_tf=None, max_df=None)
    """

    name: str
    score: str
    aggregate: str | None = None
    max_tf: int | None = None
    max_df: int | None = None

    @classmethod
    def of(cls, given: str | Contender) -> Contender:
        """A contender by the spelling of its score, or as it was given, with the spelling made canonical."""
        if isinstance(given, Contender):
            if given.aggregate is not None:
                aggregation(given.aggregate)
            return cls(given.name, as_score(given.score).spelling, given.aggregate, given.max_tf, given.max_df)
        spelling = as_score(given).spelling
        return cls(spelling, spelling)


@dataclass(frozen=True)
class Plan:
    """What is compared, checked; the parameters of `termsieve.compare`."""

    contenders: tuple[Contender, ...]
    classifiers: tuple[str, ...]
    ks: tuple[int, ...]
    per_class: bool = False
    one_vs_rest: bool = False
    min_df: int = 1
    min_tf: int = 1
    weighting: str = "count"
    weigh: str = "selected"
    drop_empty: bool = False

    @classmethod
    def of(cls, scores: Any, classifiers: Any, ks: Any, **others: Any) -> Plan:
        """Check what was given."""
        contenders = [Contender.of(one) for one in _listed(scores, (str, Contender))]
        models = [parse_recipe(one).spelling for one in _listed(classifiers, str)]
        numbers = sorted({int(k) for k in _listed(ks, int)})
        names = [one.name for one in contenders]
        for what, given in (("scores", names), ("classifiers", models), ("ks", numbers)):
            if not given or len(set(given)) < len(given):
                raise OptionError(f"compare: {what} must be distinct, and at least one, not {given!r}.")
        if numbers[0] < 1:
            raise OptionError(f"compare: ks must be 1 or more, not {numbers[0]}.")
        if numbers[-1] > MOST_TERMS:
            raise OptionError(f"compare: ks must be {MOST_TERMS:,} or less, not {numbers[-1]:,}.")
        plan = cls(tuple(contenders), tuple(models), tuple(numbers), **others)
        parse_weighting(plan.weighting)
        if plan.weigh not in WEIGH:
            raise OptionError(f"compare: weigh must be one of {', '.join(map(repr, WEIGH))}, not {plan.weigh!r}.")
        return plan

    @property
    def names(self) -> list[str]:
        """Of the contenders."""
        return [one.name for one in self.contenders]

    @property
    def description(self) -> dict[str, Any]:
        """The plan as plain data."""
        data = asdict(self)
        special = [asdict(one) for one in self.contenders if one != Contender(one.name, one.name)]
        del data["contenders"]
        data |= {"scores": self.names, "classifiers": list(self.classifiers), "ks": list(self.ks)}
        return {**data, "contenders": special} if special else data


def _listed(given: Any, one: type | tuple[type, ...]) -> Sequence[Any]:
    return [given] if isinstance(given, one) else list(given)

"""The multiverse of a paper: the choices that it leaves open, their readings, and the worlds that they make.

A world is one reading for each choice. A choice changes one thing: how documents are prepared, one of the scores, the
classifier, or the average. So trials are shared: the curves of a score in a preparation are the same in all worlds that
differ in other scores.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from termsieve._types import Int64Array
from termsieve.errors import OptionError
from termsieve.reproduction.setting import expand_sizes

PARTS = ("scores", "classifiers", "average")  # of a setting; what is in none of them prepares the documents
PREPARATION = "preparation"


@dataclass(frozen=True)
class Reading:
    """One reading of a choice: the fields of the setting that it changes (none for the default), and its reason."""

    name: str
    because: str
    change: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class OpenChoice:
    """A choice that the paper leaves open.

    Attributes
    ----------
    name, question : str
    readings : list of Reading
        The default first.
    settings : list of str
        The settings that it concerns; empty for all.
    crossed : bool
        In a fraction of all worlds, still crossed with all others: it changes one score, and costs little.
    """

    name: str
    question: str
    readings: Sequence[Reading]
    settings: Sequence[str] = ()
    crossed: bool = False

    @cached_property
    def part(self) -> str:
        """What it changes: the preparation of documents, the scores, the classifiers or the average."""
        parts = {key if key in PARTS else PREPARATION for one in self.readings for key in one.change}
        if len(parts) != 1:
            raise OptionError(f"The choice {self.name!r} must change one part of a setting, not {sorted(parts)}.")
        return parts.pop()

    def concerns(self, setting: str) -> bool:
        """Tell whether it concerns a setting."""
        return not self.settings or setting in self.settings


@dataclass(frozen=True)
class Multiverse:
    """The open choices of a paper, and which worlds are run.

    Attributes
    ----------
    design : {"product", "orthogonal"}
        All worlds, or an orthogonal array of two readings each: any two readings of two choices meet equally often.
    splits : int
        Number of splits in each world.
    sizes : list of int
        Numbers of terms; empty for those of the setting.
    settings : list of str
        The settings that are run; empty for all.
    without : list of str
        Classifiers of other settings that claims leave out where they are judged in the worlds.
    """

    design: str
    choices: Sequence[OpenChoice]
    splits: int = 1
    sizes: Sequence[int] = ()
    settings: Sequence[str] = ()
    without: Sequence[str] = ()

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Multiverse:
        """Make it from its table in the protocol."""
        choices = [
            OpenChoice(**{**one, "readings": [Reading(**reading) for reading in one["readings"]]})
            for one in given["choices"]
        ]
        names = (given.get(key, ()) for key in ("settings", "without"))
        sizes = expand_sizes(given.get("sizes", ()))
        return cls(given["design"], choices, given.get("splits", 1), sizes, *names)

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of readings of each choice."""
        return tuple(len(one.readings) for one in self.choices)

    @cached_property
    def worlds(self) -> Int64Array:
        """The worlds that are run (worlds x choices), as numbers of readings; the first has the defaults, 0."""
        if not self.choices:
            return np.zeros((1, 0), np.int64)
        if self.design == "product":
            return np.indices(self.shape).reshape(len(self.shape), -1).T
        return self._orthogonal_worlds()

    def _orthogonal_worlds(self) -> Int64Array:
        """Return the array of eight worlds in which columns are products of three, times the crossed choices."""
        mixed = [i for i, one in enumerate(self.choices) if not one.crossed]
        if any(self.shape[i] != 2 for i in mixed) or len(mixed) > 7:
            raise OptionError("An orthogonal design has up to seven choices of two readings each.")
        base = np.indices((2, 2, 2)).reshape(3, 8).T
        # first the three themselves, then their products: main effects are not mixed with each other
        columns = [base[:, list(of)].sum(axis=1) % 2 for n in (1, 2, 3) for of in itertools.combinations(range(3), n)]
        array = np.zeros((8, len(self.choices)), np.int64)
        array[:, mixed] = np.array(columns[: len(mixed)]).T
        for i in sorted(set(range(len(self.choices))) - set(mixed)):
            array = np.concatenate([np.where(np.arange(len(self.shape)) == i, r, array) for r in range(self.shape[i])])
        return array

    @property
    def n_possible(self) -> int:
        """The number of all worlds, run or not."""
        return math.prod(self.shape)

    def choices_of(self, setting: str, part: str) -> list[int]:
        """Return the numbers of the choices that change a part of a setting."""
        return [i for i, one in enumerate(self.choices) if one.part == part and one.concerns(setting)]

    def reading(self, choice: int, number: int) -> Reading:
        """Return a reading by number."""
        return self.choices[choice].readings[number]

    def describe(self, world: Sequence[int]) -> dict[str, str]:
        """Return the readings of a world, by choice."""
        return {one.name: one.readings[n].name for one, n in zip(self.choices, world, strict=True)}


def enumerate_variants(multiverse: Multiverse, choices: Sequence[int]) -> list[tuple[int, ...]]:
    """Return all combinations of the readings of some choices."""
    return list(itertools.product(*(range(len(multiverse.choices[i].readings)) for i in choices)))


def number_variants(multiverse: Multiverse, choices: Sequence[int], worlds: Int64Array) -> Int64Array:
    """Return for each world the place of its combination in `enumerate_variants`."""
    shape = [len(multiverse.choices[i].readings) for i in choices]
    return np.ravel_multi_index(tuple(worlds[:, i] for i in choices), shape) if choices else np.zeros(len(worlds), int)

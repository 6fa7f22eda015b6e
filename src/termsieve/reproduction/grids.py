"""Grids of trials: what the worlds of a multiverse need of one setting, each trial once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from termsieve._types import Array, BoolArray, Int64Array
from termsieve.classify.recipes import parse_recipe
from termsieve.errors import OptionError
from termsieve.reproduction.setting import Setting
from termsieve.reproduction.worlds import PREPARATION, Multiverse, enumerate_variants, number_variants
from termsieve.scores import parse_score
from termsieve.study.plan import Contender


class BayesModel(NamedTuple):
    """A naive Bayes model: a spelling, and whether it sees presence in place of occurrences."""

    spelling: str
    presence: bool = False

    def with_changes(self, change: str | Mapping[str, Any]) -> BayesModel:
        """Return the model with another spelling, or other parameters."""
        if isinstance(change, str):
            return self._replace(spelling=change)
        parameters = {key: value for key, value in change.items() if key != "presence"}
        spelling = parse_recipe(self.spelling).with_parameters(**parameters).spelling
        return BayesModel(spelling, change.get("presence", self.presence))


def change_contender(contender: Contender, change: str | Mapping[str, Any]) -> Contender:
    """Return the contender with another score, or other parameters of it."""
    if isinstance(change, str):
        return replace(contender, score=change)
    fields = {key: value for key, value in change.items() if key == "aggregate"}
    if change.get("counted") == "documents":
        fields |= {"max_df": contender.max_tf, "max_tf": None}
    parameters = {key: value for key, value in change.items() if key not in ("aggregate", "counted")}
    spelling = parse_score(contender.score).with_parameters(**parameters).spelling if parameters else contender.score
    return replace(contender, score=spelling, **fields)


class Preparation(NamedTuple):
    """A setting as one combination of readings prepares its texts, and the options that limit the terms."""

    setting: Setting
    options: Mapping[str, Any]


@dataclass(frozen=True)
class Grid:
    """The trials of one setting in all worlds.

    Attributes
    ----------
    values : array
        Preparations x replicates x variants of scores x models x measures x sizes; NaN where no world needs a trial.
    measures : list of str
    sampled : bool
        Replicates are the published split and samples of its test documents; otherwise they are splits.
    test_ratio : float
        Test documents for each training document.
    seconds : float
        CPU time.
    """

    multiverse: Multiverse
    setting: Setting
    values: Array
    measures: Sequence[str]
    sampled: bool
    test_ratio: float
    seconds: float

    @cached_property
    def layout(self) -> TrialLayout:
        """Where things are in `values`."""
        return TrialLayout(self.multiverse, self.setting)

    @property
    def n_replicates(self) -> int:
        """The number of splits or, of one published split, of samples of its test documents."""
        return int(self.values.shape[1]) - self.sampled

    def gather(self, worlds: Int64Array, classifier: str, measure: str, replicates: slice = slice(None)) -> Array:
        """Return a measure in some worlds: worlds x replicates x scores x sizes."""
        layout = self.layout
        if measure not in self.measures:
            raise OptionError(f"{self.setting.name}: {measure!r} was not measured, but {', '.join(self.measures)}.")
        preparation = number_variants(self.multiverse, layout.preparing, worlds)
        model = layout.place_of_model(worlds, classifier)
        at = list(self.measures).index(measure)
        values = self.values[:, replicates]
        parts = [values[preparation, :, layout.place_of_score(worlds, name), model, at] for name in layout.names]
        return np.stack(parts, axis=2)


class TrialLayout:
    """The distinct trials of a setting, and which of them belong to a world."""

    def __init__(self, multiverse: Multiverse, setting: Setting) -> None:
        self.multiverse, self.setting = multiverse, setting
        self.names = list(setting.scores)
        self.sizes = list(multiverse.sizes) or list(setting.sizes)
        self.preparing = multiverse.choices_of(setting.name, PREPARATION)
        self.combinations = enumerate_variants(multiverse, self.preparing)
        self._scoring = {name: self._find_choices_about("scores", name) for name in self.names}
        self._modelling = {name: self._find_choices_about("classifiers", name) for name in setting.classifiers}
        self.contenders, self._first_variant = self._collect(self._scoring, self._make_contender)
        self.models, self._first_model = self._collect(self._modelling, self._make_model)

    def _find_choices_about(self, part: str, name: str) -> list[int]:
        return [
            i
            for i in self.multiverse.choices_of(self.setting.name, part)
            if any(name in one.change.get(part, {}) for one in self.multiverse.choices[i].readings)
        ]

    def _collect(self, touching: Mapping[str, list[int]], make: Callable[..., Any]) -> tuple[list[Any], dict[str, int]]:
        found: list[Any] = []
        first = {}
        for name, choices in touching.items():
            first[name] = len(found)
            found += [make(name, choices, numbers) for numbers in enumerate_variants(self.multiverse, choices)]
        return found, first

    def _make_contender(self, name: str, choices: list[int], numbers: tuple[int, ...]) -> Contender:
        contender = next(one for one in self.setting.contenders if one.name == name)
        for choice, number in zip(choices, numbers, strict=True):
            change = self.multiverse.reading(choice, number).change.get("scores", {})
            contender = change_contender(contender, change[name]) if name in change else contender
        return contender

    def _make_model(self, name: str, choices: list[int], numbers: tuple[int, ...]) -> BayesModel:
        model = BayesModel(self.setting.classifiers[name])
        for choice, number in zip(choices, numbers, strict=True):
            change = self.multiverse.reading(choice, number).change.get("classifiers", {})
            model = model.with_changes(change[name]) if name in change else model
        return model

    def place_of_score(self, worlds: Int64Array, name: str) -> Int64Array:
        """Return which variant of a score each world has."""
        return self._first_variant[name] + number_variants(self.multiverse, self._scoring[name], worlds)

    def place_of_model(self, worlds: Int64Array, name: str) -> Int64Array:
        """Return which variant of a classifier each world has."""
        return self._first_model[name] + number_variants(self.multiverse, self._modelling[name], worlds)

    def prepare(self, numbers: tuple[int, ...]) -> Preparation:
        """Return the setting as a combination of readings prepares it."""
        setting, options = self.setting, dict(self.setting.options)
        for choice, number in zip(self.preparing, numbers, strict=True):
            change = dict(self.multiverse.reading(choice, number).change)
            options |= change.pop("options", {})
            setting = setting.with_changes(change)
        return Preparation(setting, options)

    @cached_property
    def needed(self) -> BoolArray:
        """Which trials some world needs: preparations x variants x models."""
        worlds = self.multiverse.worlds
        needed = np.zeros((len(self.combinations), len(self.contenders), len(self.models)), np.bool_)
        preparation = number_variants(self.multiverse, self.preparing, worlds)
        for classifier in self.setting.classifiers:
            model = self.place_of_model(worlds, classifier)
            for name in self.names:
                needed[preparation, self.place_of_score(worlds, name), model] = True
        return needed

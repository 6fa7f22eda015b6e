"""Where claims are looked at: the cases that a claim names, and the values of the scores in them.

A claim about curves is checked in every context that its ``where`` names: groups x classifiers x measures, or, if they
are ``pooled``, on their mean. Scores are compared by their means over the sizes from ``sizes[0]`` to ``sizes[1]``, or
by the ``area`` under their curves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from termsieve._types import Array
from termsieve.errors import OptionError


class Curves(NamedTuple):
    """The values of a measure: replicates (splits, samples, worlds; any number of axes) x scores x sizes."""

    scores: list[str]
    sizes: list[int]
    values: Array


class ClaimSource(Protocol):
    """What claims are judged by: curves of groups of settings and their classifiers."""

    @property
    def groups(self) -> Mapping[str, Any]:
        """Groups by name."""
        ...

    def classifiers(self, group: str) -> list[str]:
        """Return the classifiers of a group."""
        ...

    def curves(self, group: str, classifier: str, measure: str) -> Curves:
        """Return the curves of the scores that compete."""
        ...


class Context(NamedTuple):
    """One case of a claim: replicates x scores x sizes."""

    name: str
    scores: list[str]
    sizes: list[int]
    values: Array

    def average(self, *, area: bool = False) -> Array:
        """Return the mean over the sizes, or the area under the curve: replicates x scores."""
        if area and len(self.sizes) > 1:
            return np.asarray(np.trapezoid(self.values, self.sizes, axis=-1) / (self.sizes[-1] - self.sizes[0]))
        return np.asarray(self.values.mean(axis=-1))

    def of(self, *names: str) -> Array:
        """Return the values of some scores: replicates x names x sizes."""
        return self.values[..., self.places(names), :]

    def places(self, names: Sequence[str]) -> list[int]:
        """Return where the scores are."""
        missing = [name for name in names if name not in self.scores]
        if missing:
            raise OptionError(f"There is no score {missing[0]!r}. Scores: {', '.join(self.scores)}.")
        return [self.scores.index(name) for name in names]

    def others(self, names: Sequence[str]) -> list[str]:
        """Return all other scores."""
        return [name for name in self.scores if name not in names]

    def best_first(self, values: Array) -> dict[str, float]:
        """Return the means of one value for each score (replicates x scores), best first."""
        means = values.reshape(-1, len(self.scores)).mean(axis=0).tolist()
        return dict(sorted(zip(self.scores, means, strict=True), key=lambda pair: -pair[1]))


def make_contexts(source: ClaimSource, where: Mapping[str, Any]) -> list[Context]:
    """Make the contexts that a claim names."""
    groups = as_list(where.get("groups", where.get("group", list(source.groups))))
    measures = as_list(where.get("measures", where.get("measure")))
    contexts = []
    for group in groups:
        models = as_list(where.get("classifiers", where.get("classifier", source.classifiers(group))))
        for model in models:
            for measure in measures:
                names = [part for part, one in ((group, groups), (model, models), (measure, measures)) if len(one) > 1]
                curves = _restrict_sizes(source.curves(group, model, measure), where.get("sizes"))
                contexts.append(Context(", ".join(names) or measure, *curves))
    return [_pool_contexts(contexts)] if where.get("pooled") else contexts


def _restrict_sizes(curves: Curves, sizes: Sequence[int] | None) -> Curves:
    if sizes is None:
        return curves
    kept = [i for i, k in enumerate(curves.sizes) if min(sizes) <= k <= max(sizes)]
    return Curves(curves.scores, [curves.sizes[i] for i in kept], curves.values[..., kept])


def _pool_contexts(contexts: Sequence[Context]) -> Context:
    """Make one context of several: their means, at the sizes and of the replicates that all of them have."""
    sizes = sorted(set.intersection(*(set(one.sizes) for one in contexts)))
    fewest = min(len(one.values) for one in contexts)
    values = [one.values[:fewest][..., [one.sizes.index(k) for k in sizes]] for one in contexts]
    return Context(f"mean over {len(contexts)} cases", contexts[0].scores, sizes, np.mean(values, axis=0))


def as_list(given: Any) -> list[Any]:
    """Return one or several as a list."""
    return list(given) if isinstance(given, list | tuple) else [given]


def format_values(values: Mapping[str, float], digits: int = 3) -> str:
    """Format names and numbers in a line."""
    return ", ".join(f"{name} {value:.{digits}f}" for name, value in values.items())

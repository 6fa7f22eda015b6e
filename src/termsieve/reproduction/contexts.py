"""Where claims are looked at, and the list of checks.

A claim about curves is checked in every context that its ``where`` names: groups x classifiers x measures, or, if they
are ``pooled``, on their mean. Scores are compared by their means over the sizes from ``sizes[0]`` to ``sizes[1]``, or
by the ``area`` under their curves; differences up to ``slack`` count as equal, because the papers print two digits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from termsieve.reproduction.measurements import Measurements

DEFAULT_SLACK = 0.005


class Verdict(NamedTuple):
    """A verdict: whether a claim holds, and the numbers as evidence."""

    holds: bool | None
    evidence: str


class Context(NamedTuple):
    """One case of a claim: means by score and number of terms."""

    name: str
    means: dict[str, dict[int, float]]

    def average(self, *, area: bool = False) -> dict[str, float]:
        """Return the mean over the sizes, or the area under the curve, by score, best first."""
        sizes = self.sizes
        if area and len(sizes) > 1:
            width = sizes[-1] - sizes[0]
            averages = {
                name: float(np.trapezoid([of[k] for k in sizes], sizes)) / width for name, of in self.means.items()
            }
        else:
            averages = {name: float(np.mean(list(of.values()))) for name, of in self.means.items()}
        return dict(sorted(averages.items(), key=lambda pair: -pair[1]))

    def at_size(self, k: int) -> dict[str, float]:
        """Return the value at one size by score, best first."""
        return dict(sorted(((name, of[k]) for name, of in self.means.items()), key=lambda pair: -pair[1]))

    @property
    def sizes(self) -> list[int]:
        """Numbers of terms."""
        return sorted(next(iter(self.means.values())))


Check = Callable[[Measurements, Mapping[str, Any]], Verdict]
CHECKS: dict[str, Check] = {}


def make_contexts(measurements: Measurements, where: Mapping[str, Any]) -> list[Context]:
    """Make the contexts that a claim names."""
    groups = as_list(where.get("groups", where.get("group", list(measurements.groups))))
    measures = as_list(where.get("measures", where.get("measure")))
    contexts = []
    for group in groups:
        models = as_list(where.get("classifiers", where.get("classifier", measurements.classifiers(group))))
        for model in models:
            for measure in measures:
                names = [part for part, one in ((group, groups), (model, models), (measure, measures)) if len(one) > 1]
                means = measurements.means(group, model, measure, where.get("sizes"))
                contexts.append(Context(", ".join(names) or measure, means))
    return [_pool_contexts(contexts)] if where.get("pooled") else contexts


def _pool_contexts(contexts: Sequence[Context]) -> Context:
    """Make one context of several: their means, at the sizes that all of them have."""
    sizes = sorted(set.intersection(*(set(one.sizes) for one in contexts)))
    means = {
        name: {k: float(np.mean([one.means[name][k] for one in contexts])) for k in sizes} for name in contexts[0].means
    }
    return Context(f"mean over {len(contexts)} cases", means)


def as_list(given: Any) -> list[Any]:
    """Return one or several as a list."""
    return list(given) if isinstance(given, list | tuple) else [given]


def format_values(values: Mapping[str, float], digits: int = 3) -> str:
    """Format names and numbers in a line."""
    return ", ".join(f"{name} {value:.{digits}f}" for name, value in values.items())


def register_context_check(one: Callable[[Context, Mapping[str, Any]], tuple[bool, str]]) -> Check:
    """Register a check that must pass in each context, or in ``enough`` of them."""

    def check(measurements: Measurements, where: Mapping[str, Any]) -> Verdict:
        results = [(context, *one(context, where)) for context in make_contexts(measurements, where)]
        passed = sum(ok for _, ok, _ in results)
        enough = where.get("enough", len(results))
        counted = f"In {passed} of {len(results)} cases. " if len(results) > 1 else ""
        shown = [
            f"{context.name}{'' if ok or len(results) == 1 else ' (fails)'}: {text}" for context, ok, text in results
        ]
        return Verdict(passed >= enough, counted + "; ".join(shown) + ".")

    CHECKS[one.__name__.strip("_").replace("_", " ")] = check
    return check


def register_check(one: Check) -> Check:
    """Register a check of all measurements."""
    CHECKS[one.__name__.replace("_", " ")] = one
    return one

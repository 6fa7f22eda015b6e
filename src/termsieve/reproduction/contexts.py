"""Where claims are looked at, and the list of checks.

A claim about curves is checked in every context that its ``where`` names: groups x classifiers x measures, or, if they
are ``pooled``, on their mean. Scores are compared by their means over the sizes from ``sizes[0]`` to ``sizes[1]``, or
by the ``area`` under their curves; differences up to ``slack`` are none, because the papers print two digits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from termsieve.reproduction.measurements import Measurements

DEFAULT_SLACK = 0.005


class Verdict(NamedTuple):
    """Whether a claim holds, and the numbers that say so."""

    holds: bool | None
    evidence: str


class Context(NamedTuple):
    """One place where a claim is looked at: means by score and number of terms."""

    name: str
    means: dict[str, dict[int, float]]

    def average(self, *, area: bool = False) -> dict[str, float]:
        """By score, over the sizes, or the area under the curve; the best first."""
        sizes = self.sizes
        if area and len(sizes) > 1:
            width = sizes[-1] - sizes[0]
            averages = {
                name: float(np.trapezoid([of[k] for k in sizes], sizes)) / width for name, of in self.means.items()
            }
        else:
            averages = {name: float(np.mean(list(of.values()))) for name, of in self.means.items()}
        return dict(sorted(averages.items(), key=lambda pair: -pair[1]))

    def at(self, k: int) -> dict[str, float]:
        """By score, at one size; the best first."""
        return dict(sorted(((name, of[k]) for name, of in self.means.items()), key=lambda pair: -pair[1]))

    @property
    def sizes(self) -> list[int]:
        """Numbers of terms."""
        return sorted(next(iter(self.means.values())))


Check = Callable[[Measurements, Mapping[str, Any]], Verdict]
CHECKS: dict[str, Check] = {}


def make_contexts(measured: Measurements, where: Mapping[str, Any]) -> list[Context]:
    """The contexts that a claim names."""
    groups = as_list(where.get("groups", where.get("group", list(measured.groups))))
    measures = as_list(where.get("measures", where.get("measure")))
    found = []
    for group in groups:
        models = as_list(where.get("classifiers", where.get("classifier", measured.classifiers(group))))
        for model in models:
            for measure in measures:
                names = [part for part, one in ((group, groups), (model, models), (measure, measures)) if len(one) > 1]
                means = measured.means(group, model, measure, where.get("sizes"))
                found.append(Context(", ".join(names) or measure, means))
    return [_pool_contexts(found)] if where.get("pooled") else found


def _pool_contexts(found: Sequence[Context]) -> Context:
    """One context for several: their means, at the sizes that all of them have."""
    sizes = sorted(set.intersection(*(set(one.sizes) for one in found)))
    means = {name: {k: float(np.mean([one.means[name][k] for one in found])) for k in sizes} for name in found[0].means}
    return Context(f"mean over {len(found)} cases", means)


def as_list(given: Any) -> list[Any]:
    """One or several, as a list."""
    return list(given) if isinstance(given, list | tuple) else [given]


def format_values(values: Mapping[str, float], digits: int = 3) -> str:
    """Names and numbers in a line."""
    return ", ".join(f"{name} {value:.{digits}f}" for name, value in values.items())


def register_context_check(one: Callable[[Context, Mapping[str, Any]], tuple[bool, str]]) -> Check:
    """A check that must pass in each context, or in ``enough`` of them."""

    def check(measured: Measurements, where: Mapping[str, Any]) -> Verdict:
        found = [(context, *one(context, where)) for context in make_contexts(measured, where)]
        passed = sum(ok for _, ok, _ in found)
        enough = where.get("enough", len(found))
        counted = f"In {passed} of {len(found)} cases. " if len(found) > 1 else ""
        shown = [f"{context.name}{'' if ok or len(found) == 1 else ' (fails)'}: {text}" for context, ok, text in found]
        return Verdict(passed >= enough, counted + "; ".join(shown) + ".")

    CHECKS[one.__name__.strip("_").replace("_", " ")] = check
    return check


def register_check(one: Check) -> Check:
    """A check that looks at everything itself."""
    CHECKS[one.__name__.replace("_", " ")] = one
    return one

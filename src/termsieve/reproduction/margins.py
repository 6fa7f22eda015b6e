"""Checks of claims: each says by how much a claim is met, in each of its cases; below 0 it is not.

The margins are arrays over replicates: splits of the documents, samples of the test documents, or worlds. So one
function gives the verdict, its sampling error, and the share of worlds in which the claim holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from termsieve._types import Array
from termsieve.reproduction.contexts import Context, make_contexts


class Margins(NamedTuple):
    """By how much a claim is met: replicates x cases, the names of the cases, and the numbers in words."""

    values: Array
    cases: list[str]
    describe: Callable[[], str]


Where = Mapping[str, Any]
Check = Callable[[Any, Where], Margins]
CHECKS: dict[str, Check] = {}
# Claims of these kinds say that things are alike: they fail only where a difference is beyond sampling error.
EQUALITIES = ("near the best", "alike", "gain", "shared terms", "differing terms")


def register(check: Check) -> Check:
    """Register a check that looks at all its contexts together."""
    CHECKS[check.__name__.strip("_").replace("_", " ")] = check
    return check


def register_in_contexts(one: Callable[[Context, Where], Margins]) -> Check:
    """Register a check that looks at each context by itself."""

    def check(source: Any, where: Where) -> Margins:
        contexts = make_contexts(source, where)
        found = [one(context, where) for context in contexts]
        cases = [
            f"{context.name}{f', {case}' if case else ''}" if len(contexts) > 1 or not case else case
            for context, of_one in zip(contexts, found, strict=True)
            for case in of_one.cases
        ]
        fewest = min(len(of_one.values) for of_one in found)
        values = np.concatenate([of_one.values[:fewest] for of_one in found], axis=-1)

        def describe() -> str:
            return "; ".join(
                f"{context.name}: {of_one.describe()}" for context, of_one in zip(contexts, found, strict=True)
            )

        return Margins(values, cases, describe)

    CHECKS[one.__name__.strip("_").replace("_", " ")] = check
    return check


def decide_once(ok: float, text: str) -> Margins:
    """Return the margin of something that is as it is, without replicates."""
    return Margins(np.array([[float(ok)]]), [""], lambda: text)

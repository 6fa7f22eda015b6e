"""Which choice decides an outcome: how much of its entropy each choice explains."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from termsieve._types import Int64Array


class Influence(NamedTuple):
    """A choice, and the share of the entropy of the outcome that is gone when the choice is known."""

    choice: str
    share: float


def rank_choices(choices: Mapping[str, Any], outcome: Any) -> list[Influence]:
    """Return the choices by how much they tell about an outcome, most first.

    The measure is the gain ratio: the mutual information of choice and outcome, over the entropy of the outcome. 1: the
    choice alone decides; 0: it does not matter by itself. Where all outcomes are the same, all shares are 0.

    Parameters
    ----------
    choices : dict
        What was chosen in each case, by the name of the choice.
    outcome : array
        What came of it.

    Examples
    --------
    >>> rank_choices({"case": ["a", "a", "b", "b"], "stop": [0, 1, 0, 1]}, [True, True, False, False])
    [Influence(choice='case', share=1.0), Influence(choice='stop', share=0.0)]
    """
    found = [Influence(name, explained_share(made, outcome)) for name, made in choices.items()]
    return sorted(found, key=lambda one: -one.share)


def explained_share(made: Any, outcome: Any) -> float:
    """Return the share of the entropy of the outcome that one choice explains."""
    _, a = np.unique(np.asarray(made), return_inverse=True)
    _, b = np.unique(np.asarray(outcome), return_inverse=True)
    whole = _entropy(np.bincount(b))
    together = _entropy(np.bincount(a * (b.max(initial=0) + 1) + b))
    gained = whole + _entropy(np.bincount(a)) - together
    return round(max(gained / whole, 0.0), 12) if whole > 0 else 0.0


def _entropy(counts: Int64Array) -> float:
    shares = counts[counts > 0] / counts.sum()
    return float(-(shares * np.log(shares)).sum())

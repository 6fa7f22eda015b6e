"""The scores: pure functions of a `Table`, each with a record of all that is known about it."""

from termsieve.scores import (  # they register
    association,
    bayes,
    frequency,
    information,
    odds,
    rates,
    variance,
)
from termsieve.scores.parsing import parse_score
from termsieve.scores.registry import SCORES, Parameter, Score

__all__ = [
    "SCORES",
    "Parameter",
    "Score",
    "association",
    "bayes",
    "frequency",
    "information",
    "odds",
    "parse_score",
    "rates",
    "variance",
]

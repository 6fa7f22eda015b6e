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
from termsieve.scores.registry import SCORES, Parameter, Score
from termsieve.scores.spelling import parse

__all__ = [
    "SCORES",
    "Parameter",
    "Score",
    "association",
    "bayes",
    "frequency",
    "information",
    "odds",
    "parse",
    "rates",
    "variance",
]

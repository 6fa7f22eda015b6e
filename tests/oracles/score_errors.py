"""The error of every score against the oracle, as the specification measures it."""

import numpy as np
from mpmath import isinf, mpf
from oracles.exact_scores import GAMMA_LIKE, ORACLES, cells
from oracles.score_tables import tables

from termsieve.scores import parse_score
from termsieve.table import Table

SLOW = {"pip": 900, "pip_log_odds": 900, "pip_poisson": 900, "fisher_exact": 900, "bns": 900, "lrc": 100}
SLOW |= dict.fromkeys(("log_ratio", "simple_maths", "percent_diff", "log_likelihood", "bic", "jensen_shannon"), 900)
LARGEST = {"fisher_exact": 3e4, "lrc": 3e3}
TABLES = 2700  # for each other score: over 100,000 in all
ROUNDED = mpf(10) ** -40  # what 50 digits leave of an exact zero


def allowed(name: str) -> float:
    return 1e-9 if name in GAMMA_LIKE else 1e-12


def sample(name: str) -> dict[str, np.ndarray]:
    """The tables for a score; counts up to 1e9, fewer where the oracle adds up a tail."""
    return tables(SLOW.get(name, TABLES), LARGEST.get(name, 1e9), seed=sum(map(ord, name)))


def errors(spelling: str, most: int | None = None) -> np.ndarray:
    """Error of each sampled table (at most so many), relative to the largest addend of the formula."""
    score = parse_score(spelling)
    rows = {name: values[:most] for name, values in sample(score.name).items()}
    got = score.evaluate(Table.of(**{**rows, "n_terms": rows["n_terms"][0]}))
    return np.array([_error(score, rows, i, float(got[i])) for i in range(got.size)])


def _error(score, rows, i, got):
    given = {name: value for name, value in score.given.items() if name in score.formula_arguments}
    answer = ORACLES[score.name](cells({k: v[i] for k, v in rows.items()}), **given)
    value, scale = answer if isinstance(answer, tuple) else (answer, abs(answer))
    if isinf(value) or np.isinf(got):
        return 0.0 if value == got else np.inf
    if got == 0 and scale < ROUNDED:
        return 0.0
    return float(abs(mpf(got) - value) / scale)

"""Laws 3 to 5 over the whole catalogue, and the oracle."""

import pickle

import numpy as np
import pytest
from laws.score_laws import (
    blocks_law,
    negated,
    no_more_symmetry_law,
    null_law,
    numbers_law,
    swapped,
    symmetry_law,
)
from oracles.exact_scores import ORACLES
from oracles.score_errors import SLOW, TABLES, allowed, errors

from termsieve.scores import SCORES, parse

ALL = [spelling for name, s in SCORES.items() for spelling in (name, *s.variants)]
CHANGES = {"swap_classes": swapped, "negate_term": negated}
USES_OCCURRENCES = {"bss_wss", "ocfs", "pip_poisson", "log_odds_dirichlet", "poisson_deviation"}


@pytest.mark.parametrize("spelling", ALL)
def test_numbers(spelling):
    score = parse(spelling)
    if score.given:  # the range on the record is that of the defaults
        score = score.with_parameters()
    numbers_law(score)


@pytest.mark.parametrize("spelling", ALL)
def test_variants_are_numbers_too(spelling):
    values = parse(spelling).evaluate(_some_tables())
    assert not np.isnan(values).any()


def _some_tables():
    from laws.score_laws import _table  # noqa: PLC0415
    from oracles.score_tables import tables  # noqa: PLC0415

    return _table(tables(500, seed=3), slice(None))


@pytest.mark.parametrize("spelling", ALL)
def test_blocks(spelling):
    blocks_law(parse(spelling))


@pytest.mark.parametrize("name", [n for n, s in SCORES.items() if s.null is not None])
def test_null(name):
    null_law(SCORES[name])


@pytest.mark.parametrize(("name", "field"), [(n, f) for n, s in SCORES.items() for f in CHANGES if getattr(s, f)])
def test_declared_symmetries(name, field):
    symmetry_law(SCORES[name], field, CHANGES[field])


@pytest.mark.parametrize(("name", "field"), [(n, f) for n, s in SCORES.items() for f in CHANGES if not getattr(s, f)])
def test_no_symmetry_is_forgotten(name, field):
    if field == "negate_term" and name in USES_OCCURRENCES:
        return  # the absence of a term has no occurrences
    no_more_symmetry_law(SCORES[name], field, CHANGES[field])


@pytest.mark.parametrize("spelling", ALL)
def test_records_survive_pickling(spelling):
    assert pickle.loads(pickle.dumps(parse(spelling))) == parse(spelling)


def test_no_score_is_without_an_oracle():
    assert set(ORACLES) == set(SCORES)
    assert sum(SLOW.get(name, TABLES) for name in SCORES) >= 100_000


@pytest.mark.parametrize("spelling", ALL)
def test_oracle(spelling):
    assert errors(spelling).max() <= allowed(spelling.partition("(")[0])

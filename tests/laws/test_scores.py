"""Laws 3 to 5 over the whole catalogue, and the oracle."""

import itertools
import pickle

import numpy as np
import pytest
from laws.score_laws import (
    DEGENERATE,
    blocks_law,
    generated,
    negated,
    no_more_symmetry_law,
    null_law,
    numbers_law,
    swapped,
    symmetry_law,
    table_of,
)
from oracles.exact_scores import ORACLES
from oracles.score_errors import SLOW, TABLES, allowed, errors

from termsieve.counts.counts import Counts
from termsieve.ranking.ranking import score
from termsieve.scores import SCORES, parse_score
from termsieve.table import Table

pytestmark = pytest.mark.usefixtures("way")

ALL = [spelling for name, s in SCORES.items() for spelling in (name, *s.variants)]
CHANGES = {"swap_classes": swapped, "negate_term": negated}
USES_OCCURRENCES = {
    "bss_wss", "ocfs", "pip_poisson", "log_odds_dirichlet", "poisson_deviation", "welch_t",
    "log_ratio", "lrc", "simple_maths", "percent_diff", "log_likelihood", "bic", "jensen_shannon",
}  # fmt: skip


@pytest.mark.parametrize("name", SCORES)
def test_numbers(name):
    numbers_law(SCORES[name])


@pytest.mark.parametrize("spelling", ALL)
def test_variants_are_numbers_too(spelling):
    for table in (generated(500, seed=3), table_of(DEGENERATE)):
        assert not np.isnan(parse_score(spelling).evaluate(table)).any()


@pytest.mark.parametrize("spelling", ALL)
def test_blocks(spelling):
    blocks_law(parse_score(spelling))


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
    assert pickle.loads(pickle.dumps(parse_score(spelling))) == parse_score(spelling)


def test_no_score_is_without_an_oracle():
    assert set(ORACLES) == set(SCORES)
    assert sum(SLOW.get(name, TABLES) for name in SCORES) >= 100_000


@pytest.mark.parametrize("spelling", ALL)
def test_oracle(spelling):
    assert errors(spelling).max() <= allowed(spelling.partition("(")[0])


def with_other_numbers():
    """Each score with each of its numbers changed, in all its forms."""
    for one in SCORES.values():
        used = [p for p in one.parameters if p.name in one.formula_arguments]
        forms = [[(p.name, choice) for choice in p.choices] for p in used if p.choices]
        for p in used:
            if isinstance(p.default, float):
                for form in itertools.product(*forms):
                    yield one.with_parameters(**{p.name: 0.75 * p.default, **dict(form)}).spelling


@pytest.mark.parametrize("spelling", [*with_other_numbers()])
def test_oracle_with_other_numbers(spelling):
    assert errors(spelling, most=100).max() <= allowed(spelling.partition("(")[0])


def test_no_rounding_error_leads_out_of_the_range():
    """A term that is in all documents of its class and in no other tells as much as can be told."""
    n = np.arange(1.0, 1000)
    few = [
        Counts.from_matrix(np.eye(2, dtype=int)[[0] * i + [1] * (50 - i)], [0] * i + [1] * (50 - i))
        for i in n[:49].astype(int)
    ]
    for name, one in SCORES.items():
        if one.range == "[0, 1]":
            assert one.evaluate(Table.of(tp=n, fp=0 * n, fn=0 * n, tn=n[::-1])).max() <= 1
            assert max(score(counts, name).overall().max() for counts in few) <= 1

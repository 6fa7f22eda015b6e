"""Planted wrong scores must fail the laws: a law that nothing can break proves nothing."""

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

from termsieve.scores.registry import make_score
from termsieve.table import ratio


def mistyped_jsd(t):
    """Weights the surprise of one distribution by the other, as found in the field."""
    p, q = t.tpr, t.fpr
    mean = np.where(p + q > 0, (p + q) / 2, 1.0)
    return q * np.log(np.where(p > 0, p, mean) / mean) + q * np.log(np.where(q > 0, q, mean) / mean)


def hidden_epsilon(t):
    return t.tp * t.N / (t.n_c * t.n_t + 1e-3) - 1.0


def not_a_number(t):
    with np.errstate(all="ignore"):
        return t.tp / t.fp


def undocumented_infinity(t):
    return ratio(t.tp, t.fp, empty=0.0)


def depends_on_others(t):
    return t.tpr - np.mean(t.tpr)


def single_precision(t):
    return t.tpr.astype(np.float32)


def writes_to_its_input(t):
    t.tp += 1
    return t.tp


def swapped_cells(t):
    """Takes fp for fn, in a formula that is not symmetric in them."""
    return ratio(t.tp, t.tp + t.fn, empty=0.0) - ratio(t.fp, t.fn + t.tn, empty=0.0)


def difference(t):
    return t.tpr - t.fpr


@pytest.mark.parametrize("law", [
    lambda: numbers_law(make_score(mistyped_jsd, range="[0, 1]")),
    lambda: symmetry_law(make_score(mistyped_jsd, swap_classes="invariant"), "swap_classes", swapped),
    lambda: null_law(make_score(hidden_epsilon, null=0.0)),
    lambda: numbers_law(make_score(not_a_number, infinite="somewhere")),
    lambda: numbers_law(make_score(undocumented_infinity)),
    lambda: blocks_law(make_score(depends_on_others)),
    lambda: numbers_law(make_score(single_precision)),
    lambda: numbers_law(make_score(writes_to_its_input)),
    lambda: null_law(make_score(swapped_cells, null=0.0)),
    lambda: symmetry_law(make_score(difference, negate_term="invariant"), "negate_term", negated),
    lambda: no_more_symmetry_law(make_score(difference), "swap_classes", swapped),
    lambda: numbers_law(make_score(difference, range="[0, 1]")),
])  # fmt: skip
def test_a_planted_fault_is_found(law):
    with pytest.raises((AssertionError, ValueError)):
        law()


def test_the_same_without_faults():
    right = make_score(difference, range="[-1, 1]", null=0.0, swap_classes="flip", negate_term="flip")
    numbers_law(right)
    blocks_law(right)
    null_law(right)
    symmetry_law(right, "swap_classes", swapped)
    symmetry_law(right, "negate_term", negated)

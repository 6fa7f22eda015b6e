import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from termsieve.errors import OptionError
from termsieve.table import Table, TableTooCoarseError, difference_of_products, log, ratio, subtract


def test_ratio_states_its_limits():
    a, b = np.array([1.0, -1.0, 0.0, 0.0, 6.0]), np.array([0.0, 0.0, 0.0, 3.0, 3.0])
    np.testing.assert_array_equal(ratio(a, b, empty=7.0), [np.inf, -np.inf, 7.0, 0.0, 2.0])


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("tp", -1, "tp must be finite and not negative; -1 is not"),
        ("fn", [1.0, np.nan], "fn must be finite and not negative; nan is not"),
        ("tf_c", np.inf, "tf_c must be finite"),
        ("tn", "many", "tn must be a number, or an array of numbers"),
        ("tokens_nc", [[1], [1, 2]], "tokens_nc must be a number, or an array of numbers"),
    ],
)
def test_a_table_has_numbers_that_documents_can_have(name, value, says):
    with pytest.raises(OptionError, match=says):
        Table.of(**{"tp": 1, "fp": 1, "fn": 1, "tn": 1, name: value})


def test_a_table_takes_no_other_names():
    with pytest.raises(OptionError, match=r"there is no 'tf'\. Did you mean 'tf_c'\? .* n_terms, tf2_c"):
        Table.of(tp=1, fp=1, fn=1, tn=1, tf=3)


def test_log_of_zero_is_its_limit():
    np.testing.assert_array_equal(log(np.array([0.0, 1.0])), [-np.inf, 0.0])


def test_equal_infinities_cancel():
    one = np.array([np.inf, np.inf, -np.inf, 1.0])
    np.testing.assert_array_equal(subtract(one, np.array([np.inf, 1.0, -np.inf, np.inf])), [0.0, np.inf, 0.0, -np.inf])


whole = st.integers(0, 2 * 10**9)


@given(whole, whole, whole, whole)
def test_difference_of_products_keeps_its_digits(a, b, c, d):
    got = difference_of_products(*(np.float64(x) for x in (a, b, c, d)))
    exact = a * b - c * d
    assert abs(int(got) - exact) <= 2.0**-51 * abs(exact)


def test_cells_and_margins():
    t = Table.of(tp=1, fp=2, fn=3, tn=4)
    assert [float(x) for x in (t.n_c, t.n_nc, t.n_t, t.n_nt, t.N)] == [4, 6, 3, 7, 10]
    assert float(t.delta) == 1 * 4 - 2 * 3
    assert float(t.lift) == pytest.approx(1 / 4 - 2 / 6)


def test_delta_of_large_counts_is_exact():
    big = 10**9
    assert float(Table.of(tp=big + 1, fp=big, fn=big, tn=big - 1).delta) == -1.0


def test_inputs_are_copied_and_protected():
    cells = np.array([1.0, 2.0])
    t = Table.of(tp=cells, fp=cells, fn=cells, tn=cells)
    cells[0] = 99
    assert t.tp[0] == 1
    with pytest.raises(ValueError, match="read-only"):
        t.tp[0] = 5


def test_a_table_of_documents_has_no_occurrences():
    one = np.ones(1)
    with pytest.raises(TableTooCoarseError):
        _ = Table(one, one, one, one).tf_c

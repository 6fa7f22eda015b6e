"""Table: the named cells that a score function reads.

====  =============  =================
..    in the class   in no such class
====  =============  =================
term  ``tp``         ``fp``
none  ``fn``         ``tn``
====  =============  =================

A score function never sees documents, only a `Table`: equally long arrays, one entry per pair of a class and
a term. It must treat each entry by itself, so that scoring some terms gives the same as scoring all of them.

The arithmetic that every score shares is here too: `ratio` is the only place in the package where a division
by zero is allowed, and it makes the caller say what 0/0 means.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from termsieve._types import Array
from termsieve.errors import OptionError, did_you_mean

Number: TypeAlias = "Array | float"

_VELTKAMP = 134217729.0  # 2**27 + 1 splits a double into two halves whose products are exact
_EXACT_BELOW = 9.0e7  # documents: up to here every product of two counts is an exact double


def ratio(a: Number, b: Number, *, empty: float) -> Array:
    """Return a / b, where 0/0 is `empty` and x/0 is an infinity of the sign of x.

    >>> ratio(np.array([1.0, 1.0, 0.0]), np.array([2.0, 0.0, 0.0]), empty=0.0)
    array([0.5, inf, 0. ])
    """
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        quotient = np.asarray(a / b)
    both = (a == 0) & (b == 0)
    return np.where(both, empty, quotient) if np.any(both) else quotient


def log(x: Number) -> Array:
    """Return the natural logarithm; log(0) is -inf, the limit, without a warning.

    >>> log(np.array([0.0, 1.0]))
    array([-inf,   0.])
    """
    x = np.asarray(x, dtype=np.float64)
    zero = x == 0
    return np.where(zero, -np.inf, np.log(np.where(zero, 1.0, x))) if np.any(zero) else np.asarray(np.log(x))


def subtract(a: Number, b: Number) -> Array:
    """Return a - b, where equal infinities cancel to 0.

    >>> subtract(np.array([np.inf, 3.0]), np.array([np.inf, 1.0]))
    array([0., 2.])
    """
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    same = a == b
    return np.where(same, 0.0, np.subtract(a, np.where(same, 0.0, b)))


def _exact_product(a: Array, b: Array) -> tuple[Array, Array]:
    """Split the product into its rounded value and the exact rest (Dekker's product)."""
    high = a * b
    t = _VELTKAMP * a
    a1 = t - (t - a)
    a2 = a - a1
    t = _VELTKAMP * b
    b1 = t - (t - b)
    b2 = b - b1
    return high, ((a1 * b1 - high) + a1 * b2 + a2 * b1) + a2 * b2


def difference_of_products(a: Array, b: Array, c: Array, d: Array) -> Array:
    """Return a b - c d to the last digits, however near the two products are to each other.

    Plain floating point loses everything for counts of a billion:

    >>> a, b, c, d = (np.float64(x) for x in (10**9 + 1, 10**9 - 1, 10**9, 10**9))
    >>> float(a * b - c * d), float(difference_of_products(a, b, c, d))
    (0.0, -1.0)
    """
    high, low = _exact_product(a, b)
    high_2, low_2 = _exact_product(c, d)
    return np.asarray((high - high_2) + (low - low_2))


class Occurrences(NamedTuple):
    """What a table of occurrences knows beyond documents."""

    tf_c: Array
    tf2_c: Array
    tf_t: Array
    tf2_t: Array


class TokenTotals(NamedTuple):
    """What a table knows of the occurrences of all terms."""

    tokens_c: Array
    tokens: Array
    n_terms: float


_OCCURRENCE_NAMES = frozenset(("tf_c", "tf2_c", "tf_nc", "tf2_nc", "tokens_c", "tokens_nc", "n_terms"))


class TableTooCoarseError(LookupError):
    """A score function asked a table for what it does not hold: the engine then offers a finer one."""


def _freeze(name: str, x: ArrayLike) -> Array:
    """Return numbers that a table can have as an array that nobody changes."""
    try:
        array = np.array(x, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise OptionError(f"Table.of: {name} must be a number, or an array of numbers: {error}.") from error
    wrong = array[~(np.isfinite(array) & (array >= 0))]
    if wrong.size:
        raise OptionError(f"Table.of: {name} must be finite and not negative; {wrong.flat[0]:g} is not.")
    array.setflags(write=False)
    return array


class Table:
    """The cells of some (class, term) pairs, by name.

    Attributes
    ----------
    tp, fp, fn, tn : arrays
        Documents with the term in the class, with the term elsewhere, without it in the class, without it
        elsewhere.
    n_c, n_nc, n_t, n_nt, N : arrays
        Documents in the class, not in it, with the term, without it, in all.
    tpr, fpr, p_t : arrays
        Share of documents with the term: in the class, elsewhere, in all (0 where there are no documents).
    delta : array
        ``tp tn - fp fn`` without loss of digits: the numerator of most scores, 0 exactly at independence.
    lift : array
        ``tpr - fpr``, from `delta`.
    m : float
        Number of classes.
    tf_c, tf_nc, tf_t : arrays
        Occurrences of the term in the class, elsewhere, in all; ``tf2_c``, ``tf2_nc``, ``tf2_t`` the sums of
        squares.
    tokens_c, tokens_nc : arrays
        Occurrences of all terms in the class, elsewhere. ``n_terms`` is the number of terms.

    Examples
    --------
    >>> t = Table.of(tp=30, fp=10, fn=20, tn=140)
    >>> float(t.tpr), float(t.n_t), float(t.delta)
    (0.6, 40.0, 4000.0)
    """

    def __init__(
        self,
        tp: Array,
        n_t: Array,
        n_c: Array,
        N: Array,
        m: float = 2.0,
        occurrences: Occurrences | None = None,
        tokens: TokenTotals | None = None,
    ) -> None:
        self.tp, self.n_t, self.n_c, self.N, self.m = tp, n_t, n_c, N, m
        self._occurrences, self._tokens = occurrences, tokens

    @classmethod
    def of(
        cls, *, tp: ArrayLike, fp: ArrayLike, fn: ArrayLike, tn: ArrayLike, m: float = 2.0, **occurrences: Any
    ) -> Table:
        """Make a table from its four cells.

        Parameters
        ----------
        tp, fp, fn, tn : numbers or arrays
            The cells.
        m : float
            Number of classes.
        **occurrences : numbers or arrays
            ``tf_c``, ``tf2_c``, ``tf_nc``, ``tf2_nc``, ``tokens_c``, ``tokens_nc``, ``n_terms``. What is not given
            is as if each document had the term at most once and no other terms.
        """
        if unknown := set(occurrences) - _OCCURRENCE_NAMES:
            hint = did_you_mean(min(unknown), _OCCURRENCE_NAMES)
            raise OptionError(
                f"Table.of: there is no {min(unknown)!r}. {hint}Besides the cells and m it takes: "
                f"{', '.join(sorted(_OCCURRENCE_NAMES))}."
            )
        tp, fp, fn, tn = map(_freeze, ("tp", "fp", "fn", "tn"), (tp, fp, fn, tn))
        given: dict[str, Any] = dict(tf_c=tp, tf2_c=tp, tf_nc=fp, tf2_nc=fp, n_terms=1.0) | occurrences
        tf_c, tf2_c, tf_nc, tf2_nc = (_freeze(name, given[name]) for name in ("tf_c", "tf2_c", "tf_nc", "tf2_nc"))
        tokens_c = _freeze("tokens_c", given.get("tokens_c", tf_c))
        tokens_nc = _freeze("tokens_nc", given.get("tokens_nc", tf_nc))
        occurring = Occurrences(tf_c, tf2_c, tf_c + tf_nc, tf2_c + tf2_nc)
        tokens = TokenTotals(tokens_c, tokens_c + tokens_nc, float(given["n_terms"]))
        return cls(tp, tp + fp, tp + fn, tp + fp + fn + tn, m, occurring, tokens)

    def with_cells(self, tp: Array, fp: Array, occurrences: Occurrences | None = None) -> Table:
        """Return the same classes with other cells: what the table would be with other documents of them."""
        return Table(tp, tp + fp, self.n_c, self.N, self.m, occurrences, self._tokens)

    @property
    def has_occurrences(self) -> bool:
        """Whether the table knows more than documents."""
        return self._occurrences is not None

    @property
    def has_tokens(self) -> bool:
        """Whether the table knows the occurrences of all terms."""
        return self._tokens is not None

    @cached_property
    def fp(self) -> Array:
        """Documents with the term elsewhere."""
        return self.n_t - self.tp

    @cached_property
    def fn(self) -> Array:
        """Documents of the class without the term."""
        return self.n_c - self.tp

    @cached_property
    def tn(self) -> Array:
        """Documents elsewhere without the term."""
        return self.n_nc - self.fp

    @cached_property
    def n_nc(self) -> Array:
        """Documents not in the class."""
        return self.N - self.n_c

    @cached_property
    def n_nt(self) -> Array:
        """Documents without the term."""
        return self.N - self.n_t

    @cached_property
    def tpr(self) -> Array:
        """Share of the class with the term."""
        return ratio(self.tp, self.n_c, empty=0.0)

    @cached_property
    def fpr(self) -> Array:
        """Share of the rest with the term."""
        return ratio(self.fp, self.n_nc, empty=0.0)

    @cached_property
    def p_t(self) -> Array:
        """Share of all documents with the term."""
        return ratio(self.n_t, self.N, empty=0.0)

    @cached_property
    def delta(self) -> Array:
        """Return tp tn - fp fn, exact."""
        if np.max(self.N, initial=0.0) < _EXACT_BELOW:
            return np.asarray(self.tp * self.tn - self.fp * self.fn)
        return difference_of_products(self.tp, self.tn, self.fp, self.fn)

    @cached_property
    def lift(self) -> Array:
        """The difference of the rates, tpr - fpr, without loss of digits."""
        return ratio(self.delta, self.n_c * self.n_nc, empty=0.0)

    @property
    def occurrences(self) -> Occurrences:
        """What is known of occurrences."""
        if self._occurrences is None:
            raise TableTooCoarseError("this table holds documents only")
        return self._occurrences

    @property
    def tokens(self) -> TokenTotals:
        """What is known of the occurrences of all terms."""
        if self._tokens is None:
            raise TableTooCoarseError("this table does not know the occurrences of all terms")
        return self._tokens

    @property
    def tf_c(self) -> Array:
        """Occurrences in the class."""
        return self.occurrences.tf_c

    @property
    def tf2_c(self) -> Array:
        """Their sum of squares."""
        return self.occurrences.tf2_c

    @property
    def tf_t(self) -> Array:
        """Occurrences in all."""
        return self.occurrences.tf_t

    @property
    def tf2_t(self) -> Array:
        """Their sum of squares."""
        return self.occurrences.tf2_t

    @cached_property
    def tf_nc(self) -> Array:
        """Occurrences elsewhere."""
        # sums of real weights may leave a crumb below zero
        return np.maximum(self.tf_t - self.tf_c, 0.0)

    @cached_property
    def tf2_nc(self) -> Array:
        """Their sum of squares."""
        return np.maximum(self.tf2_t - self.tf2_c, 0.0)

    @property
    def tokens_c(self) -> Array:
        """Occurrences of all terms in the class."""
        return self.tokens.tokens_c

    @cached_property
    def tokens_nc(self) -> Array:
        """Occurrences of all terms elsewhere."""
        return np.maximum(self.tokens.tokens - self.tokens_c, 0.0)

    @property
    def n_terms(self) -> float:
        """Number of terms."""
        return self.tokens.n_terms

"""Significance of differences.

Several methods on several data sets or folds: the Friedman test with Nemenyi's critical difference, and Wilcoxon tests
of all pairs with Holm's correction; `contrast` runs these and summarizes the result in a sentence. Two methods on the
folds of one cross-validation: `correlated_t`, a Bayesian test, which can also say that they are practically equal.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from termsieve._types import Array
from termsieve.errors import InputError, OptionError
from termsieve.evaluate.differences import paired_difference


class Friedman(NamedTuple):
    """The result of Friedman's test: whether the ranks of the methods differ more than by chance."""

    statistic: float
    pvalue: float


class PairTest(NamedTuple):
    """A test of two methods: the median difference (first minus second), Wilcoxon's p, plain and by Holm."""

    first: str
    second: str
    difference: float
    pvalue: float
    adjusted: float


class Posterior(NamedTuple):
    """Probabilities that the first is worse, that both are practically equal, and that the first is better."""

    worse: float
    equal: float
    better: float


class Diagram(NamedTuple):
    """A critical-difference diagram: methods from best to worst, their mean ranks, and the bars that join equals.

    Each bar is a pair of places among the names, the first and the last that it joins.
    """

    names: tuple[str, ...]
    ranks: tuple[float, ...]
    critical_difference: float
    bars: tuple[tuple[int, int], ...]


def mean_ranks(values: Any, *, higher_is_better: bool = True) -> Array:
    """Return the mean rank of each column over the rows, 1 for the best; ties share the mean of their ranks.

    >>> mean_ranks([[0.9, 0.8, 0.8], [0.7, 0.9, 0.5]])
    array([1.5 , 1.75, 2.75])
    """
    x = _check_values(values)
    ranks: Array = stats.rankdata(-x if higher_is_better else x, axis=1).mean(axis=0)
    return ranks


def friedman(values: Any) -> Friedman:
    """Run Friedman's test, with the correction for ties, of the columns over the rows.

    With two columns, scipy has none, and the chi-squared statistic is computed here by the same formula.

    >>> round(friedman([[3, 2, 1], [3, 2, 1], [3, 2, 1], [3, 2, 1]]).pvalue, 4)
    0.0183
    """
    x = _check_values(values)
    if (x == x[:, :1]).all():
        return Friedman(0.0, 1.0)
    if x.shape[1] > 2:
        result: Any = stats.friedmanchisquare(*x.T)
        return Friedman(float(result.statistic), float(result.pvalue))
    wins, losses = float((x[:, 0] > x[:, 1]).sum()), float((x[:, 0] < x[:, 1]).sum())
    statistic = (wins - losses) ** 2 / (wins + losses)
    return Friedman(statistic, float(stats.chi2.sf(statistic, 1)))


def critical_difference(n_methods: int, n_rows: int, *, alpha: float = 0.05) -> float:
    """Return Nemenyi's critical difference of mean ranks (``demsar2006`` in the bibliography).

    >>> round(critical_difference(4, 14), 4)
    1.2536
    """
    _check_alpha(alpha)
    if n_methods < 2 or n_rows < 1:
        raise OptionError(f"At least 2 methods and 1 row are needed, not {n_methods} and {n_rows}.")
    q = float(stats.studentized_range.ppf(1 - alpha, n_methods, np.inf)) / math.sqrt(2)
    return q * math.sqrt(n_methods * (n_methods + 1) / (6 * n_rows))


def holm(pvalues: Any) -> Array:
    """Return p-values after Holm's correction for multiple tests.

    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    p = np.asarray(pvalues, np.float64)
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise InputError(f"p-values must be a list of numbers from 0 to 1, not {pvalues!r:.60}.")
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def wilcoxon_holm(values: Any, names: Sequence[str] | None = None) -> list[PairTest]:
    """Run Wilcoxon's signed-rank test of every pair of columns, with Holm's correction.

    Differences of 0 are left out, as Wilcoxon does; a pair without any difference has p = 1.
    """
    x = _check_values(values)
    labels = _check_names(names, x.shape[1])
    pairs = list(combinations(range(x.shape[1]), 2))
    plain = [_wilcoxon_pvalue(x[:, i] - x[:, j]) for i, j in pairs]
    return [
        PairTest(labels[i], labels[j], float(np.median(x[:, i] - x[:, j])), p, float(q))
        for (i, j), p, q in zip(pairs, plain, holm(plain), strict=True)
    ]


def _wilcoxon_pvalue(differences: Array) -> float:
    nonzero = differences[differences != 0]
    if not nonzero.size:
        return 1.0
    # the exact distribution holds only without ties; scipy then takes the normal one by itself from some version on
    tied = len(np.unique(np.abs(nonzero))) < len(nonzero)
    result: Any = stats.wilcoxon(nonzero, method="approx" if tied or len(nonzero) > 50 else "exact")
    return float(result.pvalue)


def correlated_t(first: Any, second: Any, *, rope: float = 0.01, repeats: int = 1) -> Posterior:
    """Run the Bayesian t-test of two methods on the folds of one cross-validation (``benavoli2017``).

    The folds share training documents: Nadeau and Bengio's correction takes their correlation for 1 / folds.

    Parameters
    ----------
    first, second : arrays of shape (n,)
        A measure on the same folds.
    rope : float
        Region of practical equivalence: differences up to this are none.
    repeats : int
        Of the cross-validation, so that there were ``n / repeats`` folds.

    Examples
    --------
    >>> [round(p, 3) for p in correlated_t([0.84, 0.85, 0.86, 0.85], [0.80, 0.80, 0.81, 0.82])]
    [0.003, 0.008, 0.989]
    """
    a, b = _check_pairs(first, second, rope)
    n = len(a)
    if repeats < 1 or n % repeats or n // repeats < 2:
        raise OptionError(f"{n} values are not {repeats!r} repeats of at least two folds.")
    found = paired_difference(a, b, ratio=1 / (n / repeats - 1), margin=rope)
    worse, better = found.worse or 0.0, found.better or 0.0
    return Posterior(worse, max(1 - worse - better, 0.0), better)


@dataclass(frozen=True)
class Contrast:
    """The result of comparing several methods. Prints as a sentence or two.

    Attributes
    ----------
    names : tuple of str
    values : array of shape (n_rows, n_methods)
    ranks : array of shape (n_methods,)
        Mean ranks, 1 for the best.
    friedman : Friedman
    critical_difference : float
        Nemenyi's critical difference of mean ranks.
    pairs : list of PairTest
        Wilcoxon with Holm.
    alpha : float
    """

    names: tuple[str, ...]
    values: Array
    ranks: Array
    friedman: Friedman
    critical_difference: float
    pairs: list[PairTest]
    alpha: float

    @property
    def significant_pairs(self) -> list[PairTest]:
        """The pairs that differ by Wilcoxon and Holm, if the Friedman test says that anything does."""
        if self.friedman.pvalue > self.alpha:
            return []
        return [pair for pair in self.pairs if pair.adjusted <= self.alpha]

    @property
    def diagram(self) -> Diagram:
        """The data of the critical-difference diagram."""
        order = np.argsort(self.ranks, kind="stable")
        ranks = self.ranks[order]
        ends = [int(np.searchsorted(ranks, rank + self.critical_difference, side="right")) - 1 for rank in ranks]
        bars = [(i, end) for i, end in enumerate(ends) if end > i and (i == 0 or end > ends[i - 1])]
        names = tuple(self.names[i] for i in order)
        return Diagram(names, tuple(map(float, ranks)), self.critical_difference, tuple(bars))

    @property
    def sentence(self) -> str:
        """The result in plain words."""
        level = f"at the {self.alpha * 100:g} % level"
        tested = f"{len(self.values)} rows, Friedman p = {self.friedman.pvalue:.2g}"
        best = self.names[int(self.ranks.argmin())]
        if self.friedman.pvalue > self.alpha:
            return f"Nothing differs {level} ({tested})."
        if not self.significant_pairs:
            return (
                f"The methods differ as a whole {level} ({tested}), but no pair of them does after Holm's correction; "
                f"{best} has the best mean rank, {self.ranks.min():.2f}."
            )
        beaten = [b if a == best else a for a, b, *_ in self.significant_pairs if best in (a, b)]
        beats = f"differs from {', '.join(beaten)}" if beaten else "differs from no other"
        return (
            f"{len(self.significant_pairs)} of {len(self.pairs)} pairs differ {level} ({tested}, Wilcoxon with Holm's "
            f"correction). {best} has the best mean rank, {self.ranks.min():.2f}, and {beats}."
        )

    def __str__(self) -> str:
        return self.sentence


def contrast(
    values: Any, names: Sequence[str] | None = None, *, alpha: float = 0.05, higher_is_better: bool = True
) -> Contrast:
    """Compare several methods on the same data sets, or on independent repetitions.

    Parameters
    ----------
    values : array of shape (n_rows, n_methods), frame, or mapping of names to columns
        A measure of each method (column) on each data set (row).
    names : sequence of str, optional
        Names of the methods.
    alpha : float
        Level of the tests.
    higher_is_better : bool
        Otherwise the smallest value has rank 1.

    Notes
    -----
    Folds of one cross-validation are not independent, and p-values from them are too small; for two methods on the
    folds of one data set use `correlated_t`.

    Examples
    --------
    >>> print(contrast({"gu": [0.8, 0.7, 0.9], "chi2": [0.7, 0.8, 0.9], "ig": [0.75, 0.72, 0.91]}))
    Nothing differs at the 5 % level (3 rows, Friedman p = 0.76).
    """
    _check_alpha(alpha)
    if names is None:
        names = list(values) if isinstance(values, Mapping) else getattr(values, "columns", None)
    x = _check_values(values)
    labels = _check_names(names, x.shape[1])
    return Contrast(
        tuple(labels),
        x,
        mean_ranks(x, higher_is_better=higher_is_better),
        friedman(x),
        critical_difference(x.shape[1], x.shape[0], alpha=alpha),
        wilcoxon_holm(x, labels),
        alpha,
    )


def _check_values(values: Any) -> Array:
    given = np.column_stack(list(values.values())) if isinstance(values, Mapping) else values
    x = np.asarray(given, np.float64)
    if x.ndim != 2 or x.shape[1] < 2 or x.shape[0] < 2:
        raise InputError(
            f"A comparison needs two or more rows and two or more methods; the table is of shape {x.shape}."
        )
    if not np.isfinite(x).all():
        row, column = (int(i) for i in np.argwhere(~np.isfinite(x))[0])
        what = "missing" if np.isnan(x[row, column]) else "infinite"
        raise InputError(f"The value of method {column} in row {row} is {what}: leave out the row, or the method.")
    return x


def _check_names(names: Sequence[str] | None, n: int) -> list[str]:
    labels = [f"method {i}" for i in range(n)] if names is None else [str(name) for name in names]
    if len(labels) != n or len(set(labels)) != n:
        raise OptionError(f"names must be {n} different names, one per column, not {labels!r}.")
    return labels


def _check_pairs(first: Any, second: Any, rope: float) -> tuple[Array, Array]:
    a, b = np.asarray(first, np.float64), np.asarray(second, np.float64)
    if a.shape != b.shape or a.ndim != 1 or len(a) < 2:
        raise InputError(f"Two or more values of each of both are needed; they are of shapes {a.shape} and {b.shape}.")
    if not np.isfinite(a - b).all():
        raise InputError("The values have one that is missing or infinite: leave it out of both.")
    if not 0 <= rope < np.inf:
        raise OptionError(f"rope must be a number from 0, not {rope!r}.")
    return a, b


def _check_alpha(alpha: float) -> None:
    if not 0 < alpha < 1:
        raise OptionError(f"alpha must lie between 0 and 1, as 0.05 does; it is {alpha!r}.")

"""Keyness: how linguists measure that a word is typical of a corpus. Relative frequencies, compared.

Each score compares the class with the rest, by default in occurrences per occurrence of any term, as in the literature;
with ``on="presence"`` in documents with the term per document. A side without any occurrence is nothing to compare
with: there each score has the value that it has for equal frequencies.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from termsieve._types import Array, BoolArray
from termsieve.scores.numerics import deviance, log_quotient, table_deviance
from termsieve.scores.registry import SMOOTHING, score
from termsieve.table import Table, difference_of_products, log, ratio

FrequencyKind: TypeAlias = Literal["tf", "presence"]

_PER_MILLION = 1e6
_TOKENS_NOTE = (
    " Occurrences within one document are not independent: see how sure it is with intervals, not by its size."
)
_EXAMPLE = dict(
    tp=30, fp=10, fn=20, tn=140, tf_c=45, tf2_c=90, tf_nc=12, tf2_nc=16, tokens_c=5000, tokens_nc=15000, n_terms=2000
)


class _Frequencies(NamedTuple):
    """How often the term stands on either side, and out of how many."""

    f_c: Array
    n_c: Array
    f_nc: Array
    n_nc: Array

    @property
    def difference(self) -> Array:
        """Return f_c n_nc - f_nc n_c without loss of digits."""
        return difference_of_products(self.f_c, self.n_nc, self.f_nc, self.n_c)

    @property
    def is_comparable(self) -> BoolArray:
        """Tell whether there is anything on both sides, and the term on at least one."""
        return np.asarray((self.n_c > 0) & (self.n_nc > 0) & (self.f_c + self.f_nc > 0))


def _frequencies(t: Table, on: str) -> _Frequencies:
    if on == "presence":
        return _Frequencies(t.tp, t.n_c, t.fp, t.n_nc)
    return _Frequencies(t.tf_c, t.tokens_c, t.tf_nc, t.tokens_nc)


@score(
    title="Log ratio",
    source="hardie2014",
    formula=r"\log_2 \frac{f_c / n_c}{f_{c'} / n_{c'}}, \quad 0.5 \text{ for a frequency of } 0",
    range="[-inf, inf]",
    null=0.0,
    swap_classes="flip",
    sided=1,
    variants=('log_ratio(on="presence")', "log_ratio(floor=0)"),
    limits={"floor": SMOOTHING},
    prefers="Terms that are many times more frequent in the class, however rare: each step of 1 is a doubling.",
    infinite="with floor=0, for terms that only the class has or only the others have",
    warning="Says how large a difference is, not how sure: rare terms lead. lrc is the careful form." + _TOKENS_NOTE,
    confidence="formula read in third-party implementations",
    guarded=True,
    example=dict(**_EXAMPLE, value=3.491853),
)
def log_ratio(t: Table, *, on: FrequencyKind = "tf", floor: float = 0.5) -> Array:
    """How often the relative frequency has to be doubled to get from the rest to the class."""
    f = _frequencies(t, on)
    here, there = (np.where(x == 0, floor, x) for x in (f.f_c, f.f_nc))
    difference = difference_of_products(here, f.n_nc, there, f.n_c)
    value = log_quotient(here * f.n_nc, there * f.n_c, difference) / math.log(2.0)
    return np.where(f.is_comparable, value, 0.0)


def _lower_odds(successes: Array, failures: Array, tail: Array) -> Array:
    """Return the lower Clopper-Pearson limit of a probability p, as p / (1 - p)."""
    from scipy.special import betainccinv, betaincinv

    some = np.maximum(successes, 1.0)
    low, rest = betaincinv(some, failures + 1.0, tail), betainccinv(failures + 1.0, some, tail)
    return ratio(np.asarray(low, np.float64), np.asarray(rest, np.float64), empty=0.0)


@score(
    title="Log ratio, conservative",
    source="evert2022",
    formula=r"\operatorname{sgn}(\hat r) \max\left(0, \log_2 \frac{n_{c'}\, \tau}{n_c (1 - \tau)}\right),"
    r" \quad \tau = \text{lower limit of } \frac{f_c}{f_c + f_{c'}} \text{ at } 1 - \frac{\alpha}{v}",
    null=0.0,
    swap_classes="flip",
    sided=1,
    variants=('lrc(on="presence")', "lrc(corrected=False)"),
    limits={"level": "[0.5, 0.999999]"},
    prefers="Terms that are many times more frequent in the class, and surely so: 0 for all that are not.",
    warning="The end of the interval of log_ratio that is nearer to 0 (Clopper-Pearson, given the sum of both "
    "frequencies), corrected for as many comparisons as there are terms unless corrected=False." + _TOKENS_NOTE,
    confidence="formula read in the implementation of its author",
    example=dict(**_EXAMPLE, value=1.641102),
    most_docs=2**36,  # beyond, SciPy before 1.17 has no inverse of the incomplete beta function
)
def lrc(t: Table, *, on: FrequencyKind = "tf", level: float = 0.95, corrected: bool = True) -> Array:
    """Smallest log ratio that is compatible with the frequencies, or 0."""
    f = _frequencies(t, on)
    more = f.difference >= 0
    tail = np.full(f.f_c.shape, 0.5 * (1.0 - level) / (max(t.n_terms, 1.0) if corrected else 1.0))
    odds = _lower_odds(np.where(more, f.f_c, f.f_nc), np.where(more, f.f_nc, f.f_c), tail)
    sizes = np.where(more, ratio(f.n_nc, f.n_c, empty=1.0), ratio(f.n_c, f.n_nc, empty=1.0))
    least = np.maximum(log(odds * np.where(f.is_comparable, sizes, 0.0)) / math.log(2.0), 0.0)
    return np.where(more, least, -least)


@score(
    title="Simple maths",
    source="kilgarriff2009",
    formula=r"\frac{10^6 f_c / n_c + k}{10^6 f_{c'} / n_{c'} + k}, \quad k = 1",
    range="[0, inf]",
    null=1.0,
    swap_classes="invert",
    sided=1,
    variants=("simple_maths(add=100)",),
    limits={"add": SMOOTHING},
    prefers="With add=1 rare terms that the others hardly have; the larger the number, the more frequent terms.",
    infinite="with add=0, for terms that no other class has",
    warning="What is added is in occurrences per million." + _TOKENS_NOTE,
    confidence="formula read in third-party implementations",
    guarded=True,
    example=dict(**_EXAMPLE, value=11.23720),
)
def simple_maths(t: Table, *, on: FrequencyKind = "tf", add: float = 1.0) -> Array:
    """Ratio of the frequencies per million, with a constant added to both."""
    f = _frequencies(t, on)
    here, there = (_PER_MILLION * ratio(a, b, empty=0.0) + add for a, b in ((f.f_c, f.n_c), (f.f_nc, f.n_nc)))
    return np.where(f.is_comparable, ratio(here, there, empty=1.0), 1.0)


@score(
    title="Per cent difference",
    source="gabrielatos2011",
    formula=r"100 \left( \frac{f_c / n_c}{f_{c'} / n_{c'}} - 1 \right), \quad 0.5 \text{ for } f_{c'} = 0",
    range="[-100, inf]",
    null=0.0,
    sided=1,
    variants=("percent_diff(floor=0)",),
    limits={"floor": SMOOTHING},
    prefers="Terms that the others hardly have, however rare: the ranking of log_ratio.",
    infinite="with floor=0, for terms that no other class has",
    warning="The paper puts 1e-18 for a frequency of 0, which ranks like floor=0." + _TOKENS_NOTE,
    confidence="formula read in third-party implementations",
    guarded=True,
    example=dict(**_EXAMPLE, value=1025.0),
)
def percent_diff(t: Table, *, on: FrequencyKind = "tf", floor: float = 0.5) -> Array:
    """By how many per cent the relative frequency in the class is above that of the rest."""
    f = _frequencies(t, on)
    there = np.where(f.f_nc == 0, floor, f.f_nc)
    difference = difference_of_products(f.f_c, f.n_nc, there, f.n_c)
    value = 100.0 * ratio(difference, there * f.n_c, empty=0.0)
    return np.where(f.is_comparable, np.maximum(value, -100.0), 0.0)


def _two_cell_deviance(f: _Frequencies) -> Array:
    """Return the log likelihood ratio of the two frequencies, given their sum."""
    total, n = f.f_c + f.f_nc, f.n_c + f.n_nc
    gap = ratio(f.difference, n, empty=0.0)
    share_c, share_nc = ratio(f.n_c, n, empty=0.0), ratio(f.n_nc, n, empty=0.0)
    return 2.0 * (deviance(f.f_c, total * share_c, gap) + deviance(f.f_nc, total * share_nc, -gap))


@score(
    title="Log likelihood of occurrences",
    source="rayson2000",
    formula=r"2 \sum_{x} x \ln \frac{x}{\operatorname{E} x}, \quad x \in"
    r" \{f_c, f_{c'}, n_c - f_c, n_{c'} - f_{c'}\}",
    range="[0, inf)",
    null=0.0,
    swap_classes="invariant",
    variants=('log_likelihood(cells="two")',),
    prefers="Frequent terms, and terms that a few documents repeat often.",
    warning="The default of many tools for keywords. Takes each occurrence for a draw of its own, so its p-values are "
    "far too small for terms that documents repeat: none are given. g_test counts documents instead.",
    confidence="formula read in third-party implementations",
    example=dict(**_EXAMPLE, value=73.25362),
)
def log_likelihood(t: Table, *, cells: Literal["four", "two"] = "four") -> Array:
    """Log-likelihood ratio of dependence against independence, of occurrences instead of documents."""
    f = _frequencies(t, "tf")
    if cells == "two":
        return np.where(f.is_comparable, _two_cell_deviance(f), 0.0)
    others_c, others_nc = np.maximum(f.n_c - f.f_c, 0.0), np.maximum(f.n_nc - f.f_nc, 0.0)
    whole = 2.0 * table_deviance(f.f_c, f.f_nc, others_c, others_nc, f.difference)
    return np.where(f.is_comparable, whole, 0.0)


@score(
    title="Bayesian information criterion",
    source="wilson2013",
    formula=r"2 \left( f_c \ln \frac{f_c}{\operatorname{E} f_c} + f_{c'} \ln \frac{f_{c'}}{\operatorname{E} f_{c'}}"
    r" \right) - \ln (n_c + n_{c'})",
    swap_classes="invariant",
    prefers="The terms of log_likelihood: more than 2 counts as evidence of a difference, more than 10 as very strong.",
    warning='Ranks as log_likelihood(cells="two") does.' + _TOKENS_NOTE,
    confidence="formula read in third-party implementations",
    example=dict(**_EXAMPLE, value=63.09691),
)
def bic(t: Table) -> Array:
    """Evidence for a difference of the frequencies, as twice the logarithm of an approximate Bayes factor."""
    f = _frequencies(t, "tf")
    tokens = np.maximum(f.n_c + f.n_nc, 1.0)
    return np.asarray(np.where(f.is_comparable, _two_cell_deviance(f), 0.0) - np.log(tokens))


@score(
    title="Share in the Jensen-Shannon divergence",
    source="gallagher2021",
    formula=r"\frac{1}{2} \left( x \log_2 \frac{x}{m} + y \log_2 \frac{y}{m} \right), \quad"
    r" x = \frac{f_c}{n_c},\ y = \frac{f_{c'}}{n_{c'}},\ m = \frac{x + y}{2}",
    range="[0, 1]",
    null=0.0,
    swap_classes="invariant",
    variants=('jensen_shannon(on="presence")',),
    prefers="Frequent terms, for or against, that one side uses much more often.",
    warning="In bits, each side with the weight 1/2; over all terms the shares add up to the divergence of the two "
    'distributions of words (not with on="presence").' + _TOKENS_NOTE,
    confidence="formula from memory",
    example=dict(**_EXAMPLE, value=0.002901262),
)
def jensen_shannon(t: Table, *, on: FrequencyKind = "tf") -> Array:
    """What the term adds to the divergence between the words of the class and those of the rest."""
    f = _frequencies(t, on)
    x, y = ratio(f.f_c, f.n_c, empty=0.0), ratio(f.f_nc, f.n_nc, empty=0.0)
    half = 0.5 * ratio(f.difference, f.n_c * f.n_nc, empty=0.0)
    middle = 0.5 * (x + y)
    both = deviance(x, middle, half) + deviance(y, middle, -half)
    return np.where(f.is_comparable, np.minimum(0.5 * both / math.log(2.0), 1.0), 0.0)

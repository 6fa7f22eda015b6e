"""A `Table` of counts comes in; a value for each term and class goes out.

::

    registry      records of scores, and the decorator that registers them
    parsing       a spelling -> its score
    catalogue     the records as text
    numerics      logarithms that keep their digits
    tail          the tail of the hypergeometric distribution
    tail_kernels  its numba loop
    association   chi2, ngl, gss, g_test, fisher_exact, gu
    bayes         pip and its relatives
    frequency     numbers of documents
    information   information gain and its relatives
    keyness       relative frequencies of occurrences, as linguists compare them
    odds          odds and ratios
    rates         bns, ifs and other functions of the two rates
    variance      fisher, bss_wss, ocfs, welch_t
"""

from termsieve.defaults import DEFAULT_SCORE
from termsieve.scores import (  # they register
    association,
    bayes,
    frequency,
    information,
    keyness,
    odds,
    rates,
    variance,
)
from termsieve.scores.parsing import parse_score
from termsieve.scores.registry import SCORES, Parameter, Score

__all__ = [
    "DEFAULT_SCORE",
    "SCORES",
    "Parameter",
    "Score",
    "association",
    "bayes",
    "frequency",
    "information",
    "keyness",
    "odds",
    "parse_score",
    "rates",
    "variance",
]

"""Spellings: from ``"bns(floor=0.001)"`` to the Score and, when that fails, to what could have been meant."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from termsieve.errors import OptionError, did_you_mean
from termsieve.scores.registry import SCORES, Score
from termsieve.spelling import parse_call

AMBIGUOUS_NAMES: dict[str, str] = {
    "mi": "means two things: the pointwise mutual information of one term and one class ('pmi'), or the "
    "expected one over all cells ('info_gain', or 'info_gain_binary' for one class against the rest)",
    "or": "may be the ratio ('odds_ratio') or its logarithm ('log_odds_ratio')",
    "dis": "may be 'distinction' or, times the frequency of the term, 'strong_class'",
    "f": "may be 'fisher', 'f1' or, up to a factor, the F of an analysis of variance ('bss_wss')",
    "df": "may be the documents with the term ('doc_freq') or those in the class ('word_freq')",
    "acc": "may be 'accuracy' (tp - fp) or 'balanced_accuracy' (|tpr - fpr|)",
    "ig": "is 'info_gain' over all classes, or 'info_gain_binary' for one class against the rest",
    "logodds": "may be 'log_odds_ratio', 'log_odds_dirichlet', 'pip_log_odds' or 'weight_of_evidence'",
    "exact": "may be Fisher's exact test ('fisher_exact'); 'fisher' is Fisher's criterion, not a test",
    "cc": "is Ng, Goh and Low's correlation coefficient, 'ngl'",
    "gini_index": "is 'gini' in the form of Shang et al. 2007, not the impurity of decision trees",
    "ect": "is 'cross_entropy'",
    "wet": "is 'weight_of_evidence'",
    "llr": "may be the log-likelihood ratio of documents ('g_test') or of occurrences ('log_likelihood')",
    "keyness": "has many measures: 'log_ratio', 'lrc', 'percent_diff' and 'simple_maths' for how large it is, "
    "'log_likelihood' and 'bic' for how surprising, 'g_test' for documents instead of occurrences",
    "rf": "is 'relevance_freq'; a random forest is not a function of counts",
}
_SYNONYMS = {
    "mi": ("mutual_info", "mutual_information", "mutual_info_classif"),
    "or": ("odds", "oddsratio"),
    "ig": ("information_gain", "infogain"),
    "logodds": ("log_odds", "lor"),
    "ect": ("ece",),
    "llr": ("loglikelihood", "ll", "g2"),
    "cc": ("correlation",),
    "f": ("f_classif", "anova"),
    "df": ("frequency", "freq"),
    "dis": ("def",),
}
AMBIGUOUS_NAMES |= {other: AMBIGUOUS_NAMES[name] for name, others in _SYNONYMS.items() for other in others}

# What to write in place of scikit-learn's functions of (X, y)
_INSTEAD_OF_SKLEARN = {
    "chi2": "'chi2', which counts the documents with a term and those without it; scikit-learn's chi2 sums occurrences "
    "and leaves out the documents without the term",
    "f_classif": "'bss_wss': f_classif is it times (N - m) / (m - 1), with N documents in m classes",
    "mutual_info_classif": "'info_gain', which it is of the presence of terms, with discrete_features=True",
}


def lookup_score(name: str) -> Score:
    """Return the score of that name, or explain what it could have meant."""
    if name in SCORES:
        return SCORES[name]
    key = name.lower().replace("-", "_")
    known = f"Known scores: {', '.join(sorted(SCORES))}."
    if key in SCORES:
        raise OptionError(f"Unknown score {name!r}. Did you mean {key!r}? {known}")
    if key in AMBIGUOUS_NAMES:
        raise OptionError(f"{name!r} is not a score of termsieve: it {AMBIGUOUS_NAMES[key]}.")
    raise OptionError(f"Unknown score {name!r}. {did_you_mean(key, SCORES)}{known}")


def parse_score(spelling: str | Score) -> Score:
    """Read a spelling such as ``bns(floor=0.001)``.

    >>> import termsieve.scores
    >>> parse_score("bns( floor = 1e-3 )").spelling
    'bns(floor=0.001)'
    """
    if isinstance(spelling, Score):
        return spelling
    call = parse_call(spelling, "score", "'chi2' or 'bns(floor=0.001)'")
    if call.args:
        raise OptionError(f"In {spelling!r} the values must be named, as in 'bns(floor=0.001)'.")
    return lookup_score(call.name).with_parameters(**call.kwargs)


def refuse_matrix_function(function: Callable[..., Any]) -> None:
    """Refuse a function of (X, y), and say which score to write instead."""
    try:
        parameters = list(inspect.signature(function).parameters)
    except ValueError:  # a function of C that does not tell
        return
    if parameters[:2] != ["X", "y"]:
        return
    plain = function.func if isinstance(function, functools.partial) else function
    name = getattr(plain, "__name__", repr(plain))
    instead = _INSTEAD_OF_SKLEARN.get(name, "the spelling of a score, such as 'chi2', or a function of a Table")
    raise OptionError(
        f"{name} is a function of (X, y), for scikit-learn's own selectors; termsieve scores counts. Write {instead}. "
        f"Or let scikit-learn select: make_pipeline(TermVectorizer(), SelectKBest({name}, k=...))."
    )


def score_title(spelling: str) -> str:
    """Return the name of a score in words, with the parameters of its spelling; the spelling itself for others.

    What the terms are may follow, as in comparisons: ``"chi2 on words and pairs"``.

    >>> score_title("chi2"), score_title("bns(floor=0.001)"), score_title("my score")
    ('Chi-square', 'Bi-normal separation (floor=0.001)', 'my score')
    >>> score_title("chi2 on words and pairs")
    'Chi-square on words and pairs'
    """
    name, on, what = spelling.partition(" on ")
    try:
        title = parse_score(name).title
    except OptionError:
        return spelling
    _, bracket, parameters = name.partition("(")
    return (f"{title} ({parameters}" if bracket else title) + on + what

"""TermSelector: a scikit-learn transformer on matrices, and `as_score_func` for scikit-learn's own selectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from termsieve._types import Array, BoolArray
from termsieve.counts.counts import Counts
from termsieve.counts.labelled import LabelledMatrix
from termsieve.defaults import DEFAULT_SCORE
from termsieve.errors import InputError, OptionError
from termsieve.estimators.labels import check_labels, has_contrast, refuse_empty_classes, refuse_one_class
from termsieve.estimators.state import pack_state, unpack_state
from termsieve.ranking.ranking import ScoreLike, as_score, score
from termsieve.ranking.score_values import Scores
from termsieve.selection.pool import Rule, TermPool
from termsieve.selection.rules import RuleLike, Top, parse_rule
from termsieve.selection.selection import select_from_pool


class TermSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Select the columns of a matrix of counts by a score.

    Like scikit-learn's ``SelectKBest``, but with any score of `termsieve.SCORES`, any rule, ties that are decided, and
    several labels per document.

    Parameters
    ----------
    score_func : str, Score or function of a Table
        What ranks the columns, such as ``"info_gain"`` or ``"bns(floor=0.001)"``.
    k : int or "all"
        How many to keep. More than there are: all, with a warning.
    rule : str, Rule or None
        Another rule, such as ``"energy(0.8)"`` or ``"round_robin(100)"``; it wins over `k`. See `termsieve.select`.
        ``union``, ``stages``, ``cmim``, ``mrmr``, ``jmi`` and ``fcbf`` bring their own scores, and `score_func` is
        not used then.
    aggregate : {"max", "sum", "mean", "weighted_mean"} or None
        How the classes are brought together; None is the score's own way.

    Attributes
    ----------
    scores_ : array of shape (n_features,)
        The score of every column; of the last of the scores that a rule brings along.
    pvalues_ : array of shape (n_features,) or None
        The p-value of every column by that score, as `Scores.pvalues` has it; None where the score has none.
    selection_ : Selection
        What was taken, in rank order, with scores, classes and the reason.
    counts_ : Counts
        What was counted, and what `partial_fit` adds to.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : array of str
        Their names, where X has them.

    Notes
    -----
    A fitted selector can be kept with pickle, joblib or skops. For skops, trust the types of termsieve and no others:
    ``trusted=["termsieve.estimators.selector.TermSelector", "termsieve.selection.selection.Selection"]``.

    Examples
    --------
    >>> X = [[1, 0, 2], [1, 1, 0], [0, 0, 3], [0, 1, 0]]
    >>> selector = TermSelector("chi2", k=1).fit(X, ["a", "a", "b", "b"])
    >>> selector.get_support()
    array([ True, False, False])
    >>> selector.selection_.reason
    'the 1 of 3 terms with the highest score were asked for'
    """

    def __init__(
        self,
        score_func: ScoreLike = DEFAULT_SCORE,
        *,
        k: Any = 1000,
        rule: RuleLike | None = None,
        aggregate: str | None = None,
    ) -> None:
        self.score_func = score_func
        self.k = k
        self.rule = rule
        self.aggregate = aggregate

    def fit(self, X: Any, y: Any) -> Self:
        """Select columns.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Not negative: counts, presence or weights.
        y : one label per row, an indicator matrix, or a list of label sets
            The classes.
        """
        matrix = self._make_matrix(X, y, reset=True, whole=True)
        refuse_one_class(matrix.counts)
        self.counts_ = matrix.counts
        return self._select(matrix.counts, matrix)

    def partial_fit(self, X: Any, y: Any) -> Self:
        """Add rows, and select anew.

        Classes may arrive later. As long as all rows are of one class, nothing is selected. Rules that need all
        documents at once, such as ``cmim``, are refused: only counts are kept from call to call.
        """
        refuse_documents_rule(resolve_rule(self.k, self.rule), "TermSelector")
        first = not hasattr(self, "counts_")
        counts = self._make_matrix(X, y, reset=first, whole=False).counts
        self.counts_ = counts if first else self.counts_ + counts
        return self._select(self.counts_) if has_contrast(self.counts_) else self

    def _make_matrix(self, X: Any, y: Any, *, reset: bool, whole: bool) -> LabelledMatrix:
        resolve_rule(self.k, self.rule)
        X = validate_data(self, X, accept_sparse="csr", reset=reset)
        _refuse_negative(X)
        y = check_labels(y, "TermSelector")
        if whole:
            refuse_empty_classes(y)
        return LabelledMatrix.from_matrix(X, y, terms=getattr(self, "feature_names_in_", None))

    def _select(self, counts: Counts, matrix: LabelledMatrix | None = None) -> Self:
        rule = resolve_rule(self.k, self.rule)
        scores = score_for(counts, rule, self.score_func)
        self.scores_, self.pvalues_ = scores.overall(self.aggregate), find_pvalues(scores)
        self.selection_ = select_from_pool(TermPool(scores, self.aggregate, matrix=matrix), rule)
        return self

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self, "selection_")
        return self.selection_.mask

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags

    def __getstate__(self) -> dict[str, Any]:
        return pack_state(super().__getstate__())

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(unpack_state(state))


def resolve_rule(k: Any, rule: RuleLike | None) -> Rule:
    """Return the rule of two parameters, of which `rule` wins."""
    return Top("all" if k is None else k) if rule is None else parse_rule(rule)


def score_for(counts: Counts, rule: Rule, score_func: Any) -> Scores:
    """Score the terms that a rule chooses from; where it brings scores along, with the last of them."""
    own = rule.own_score(counts)
    return score(counts, as_score(score_func if own is None else own))


def refuse_documents_rule(rule: Rule, owner: str) -> None:
    """Refuse a rule that needs all documents at once, where they come in batches."""
    if rule.needs_documents:
        raise OptionError(
            f"{owner}: {rule} looks at terms together, so it needs all documents at once, and partial_fit keeps counts "
            "only. Use fit(), or a rule that ranks terms one by one, such as top(1000)."
        )


def find_pvalues(scores: Scores) -> Array | None:
    """Return the p-value of each term, None where the score has none."""
    return None if scores.score.pvalue is None else scores.pvalues()


def _refuse_negative(X: Any) -> None:
    given: Any = X
    values = given.data if sparse.issparse(X) else given
    if values.size and values.min() < 0:
        coo = sparse.coo_array(X)
        at = int(np.flatnonzero(coo.data < 0)[0])
        raise InputError(
            f"Negative values in data passed to TermSelector: row {coo.row[at]}, column {coo.col[at]} is "
            f"{coo.data[at]}. A column is something a document has more or less of, such as occurrences."
        )


@dataclass(frozen=True)
class ScoreFunction:
    """A score in the shape of scikit-learn's score functions; made by `as_score_func`."""

    score_func: ScoreLike
    aggregate: str | None = None

    def __call__(self, X: Any, y: Any) -> Array | tuple[Array, Array]:
        """Return the scores of the columns, and their p-values where the score has them."""
        counts = Counts.from_matrix(X, check_labels(y, "as_score_func"))
        refuse_one_class(counts)
        scores = score(counts, as_score(self.score_func))
        overall = scores.overall(self.aggregate)
        if scores.rare is not None and not scores.rare.all():
            overall[scores.rare] = -np.inf  # scikit-learn ranks by the values alone
        pvalues = find_pvalues(scores)
        return overall if pvalues is None else (overall, pvalues)


def as_score_func(score_func: ScoreLike, aggregate: str | None = None) -> ScoreFunction:
    """Make a score for scikit-learn's own ``SelectKBest``, ``SelectPercentile``, ``SelectFdr`` and their kin.

    Parameters
    ----------
    score_func : str, Score or function of a Table
        As for `TermSelector`.
    aggregate : str, optional
        How the classes are brought together.

    Examples
    --------
    >>> from sklearn.feature_selection import SelectKBest
    >>> X, y = [[1, 0], [1, 1], [0, 0], [0, 1]], ["a", "a", "b", "b"]
    >>> SelectKBest(as_score_func("info_gain"), k=1).fit(X, y).get_support()
    array([ True, False])
    """
    as_score(score_func)
    return ScoreFunction(score_func, aggregate)

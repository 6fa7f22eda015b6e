"""The choice of C for linear support vector machines: by folds of the training documents, at each number of columns."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics import f1_score
from sklearn.model_selection import KFold, StratifiedKFold

from termsieve._types import Array, Int32Array, Int64Array
from termsieve.classify.linear_path import decide_codes, make_problems, solve_problems, stack_weights
from termsieve.classify.ranked_rows import RankedRows

if TYPE_CHECKING:
    from termsieve.classify.linear_svm import LinearSVM

GRID = (0.0625, 0.25, 1.0, 4.0, 16.0)  # the values of C that are tried
FOLDS = 3


def choose_costs(
    X: Any, codes: Int32Array | Int64Array, classes: Any, ks: Int64Array, model: LinearSVM, *, normalize: bool = False
) -> Array:
    """Choose C at each number of columns from `GRID`: the best mean macro-averaged F1 over the folds.

    Among equals that nearest to 1 is chosen. The documents of a fold are judged by weights that never saw them; along
    the numbers of columns and along C each solution starts from a neighbour.

    Parameters
    ----------
    X : sparse matrix
        The training documents; columns in rank order.
    """
    scores = np.zeros((len(ks), len(GRID)))
    for train, test in _make_folds(codes, model.random_state):
        rows = RankedRows(X[train], normalize=normalize, fit_intercept=model.fit_intercept)
        held_out = RankedRows(X[test], normalize=normalize, fit_intercept=model.fit_intercept)
        views, starts = held_out.views(ks), None
        weights = model.class_weights(classes, codes[train])
        for number, C in enumerate(GRID):
            problems = make_problems(codes[train], weights, C)
            solved = solve_problems(rows, ks, problems, tol=model.tol, max_iter=model.max_iter, starts=starts)
            starts = [one.weights for one in solved[0]]
            for at, view in enumerate(views):
                found = decide_codes(held_out.decide(view, stack_weights(solved[at])))
                scores[at, number] += f1_score(codes[test], found, average="macro", zero_division=0)
    preferred = np.lexsort((np.array(GRID), np.abs(np.log(GRID))))  # among equals, the first of these
    chosen: Array = np.array(GRID)[preferred][scores[:, preferred].argmax(axis=1)]
    return chosen


def _make_folds(codes: Int32Array | Int64Array, seed: int | None) -> Iterator[tuple[Int64Array, Int64Array]]:
    """Yield training and test documents: stratified, unless every class has too few documents."""
    n = min(FOLDS, len(codes))
    kind = StratifiedKFold if np.bincount(codes).max() >= n else KFold
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class")  # its documents are in fewer folds
        yield from kind(n, shuffle=True, random_state=seed).split(np.zeros(len(codes)), codes)

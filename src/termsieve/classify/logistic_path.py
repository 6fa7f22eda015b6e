"""Logistic regression along a ranking: each solution starts from the one before, with weights 0 for new columns.

The objective and the code are those of scikit-learn's ``LogisticRegression``. Its default solver, ``lbfgs``, gains
little from a good start; ``newton-cg`` needs a few steps from there. It goes on to a tenth of the model's ``tol``, so
that the solution is nearer to the optimum than that of a new fit, and depends little on where it started.
"""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

_TIGHTER = 0.1  # the tolerance of a path, as a share of the model's


def can_continue(model: BaseEstimator) -> bool:
    """Tell whether a model is logistic regression, alone or at the end of a pipeline, with the default solver."""
    last = _find_last_step(model)
    kind = type(last)
    if kind.__name__ != "LogisticRegression" or not kind.__module__.startswith("sklearn.linear_model"):
        return False  # told by its name: importing scikit-learn's linear models takes longer than small curves
    return bool(last.solver == "lbfgs" and not last.warm_start)


def continue_from(before: BaseEstimator | None, model: BaseEstimator, k: int) -> BaseEstimator:
    """Let a new model of k columns start from one that was fitted to the first of them; with None, from 0."""
    last = _find_last_step(model)
    last.set_params(solver="newton-cg", tol=_TIGHTER * last.tol, warm_start=True)
    if before is not None:
        fitted = _find_last_step(before)
        last.coef_ = np.pad(fitted.coef_, ((0, 0), (0, k - fitted.coef_.shape[1])))
        last.intercept_ = fitted.intercept_
    return model


def _find_last_step(model: BaseEstimator) -> BaseEstimator:
    return model[-1] if isinstance(model, Pipeline) and len(model) else model

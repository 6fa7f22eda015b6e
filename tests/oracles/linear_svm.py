"""Linear support vector machines in plain NumPy: the objective, its gradient, and the systems of Newton's method."""

from fractions import Fraction

import numpy as np
from scipy.optimize import nnls


def with_intercept(X):
    """Dense documents with a column of 1 in front."""
    dense = X.toarray() if hasattr(X, "toarray") else np.asarray(X, float)
    return np.column_stack([np.ones(len(dense)), dense])


def objective(X, signs, costs, w):
    """Half the squared length of the weights, plus the weighted squared hinge losses."""
    slack = np.maximum(0, 1 - signs * (with_intercept(X) @ w))
    return 0.5 * w @ w + (costs * slack**2).sum()


def gradient(X, signs, costs, w):
    A = with_intercept(X)
    slack = np.maximum(0, 1 - signs * (A @ w))
    return w - 2 * A.T @ (costs * signs * slack)


def hessian(X, active, costs):
    A = with_intercept(X)[active]
    return np.eye(A.shape[1]) + (A.T * costs) @ A


def dual_objective(X, signs, costs, a):
    """The objective of the dual problem, at any a that is not negative."""
    return a.sum() - 0.5 * np.square(with_intercept(X).T @ (a * signs)).sum() - (a**2 / (4 * costs)).sum()


def exact_bounds(X, signs, C, w):
    """The objective of the weights, and a lower bound of all objectives, as fractions without rounding errors.

    The dual problem is one of least squares with variables that are not negative; the dual objective of any such
    variables is a lower bound.
    """
    A = with_intercept(X) * signs[:, None]
    n = len(A)
    duals, _ = nnls(
        np.vstack([A.T, np.eye(n) / np.sqrt(2 * C)]), np.append(np.zeros(A.shape[1]), np.full(n, np.sqrt(2 * C)))
    )
    rows, w, a, C = [fractions(row) for row in A], fractions(w), fractions(duals), Fraction(C)
    slack = [max(0, 1 - dot(row, w)) for row in rows]
    v = [sum((a[i] * rows[i][j] for i in range(n)), Fraction(0)) for j in range(len(w))]
    return dot(w, w) / 2 + C * dot(slack, slack), sum(a) - dot(v, v) / 2 - dot(a, a) / (4 * C)


def fractions(values):
    return [Fraction(float(value)) for value in values]


def dot(a, b):
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))

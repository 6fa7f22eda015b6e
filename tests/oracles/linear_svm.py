"""Linear support vector machines in plain NumPy: the objective, its gradient, and the systems of Newton's method."""

import numpy as np


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

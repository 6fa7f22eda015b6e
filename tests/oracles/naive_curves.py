"""Curves the slow way: a new fit for every k. And naive Bayes as plain sums over terms."""

import math

import numpy as np
from sklearn.base import clone
from sklearn.multiclass import OneVsRestClassifier


def refitted(X_train, y_train, X_test, order, ks, model):
    """Fit and predict on the first k columns, as a user of scikit-learn would."""
    if np.ndim(y_train) == 2:
        model = OneVsRestClassifier(model)
    order = np.asarray(order)
    return np.array([clone(model).fit(X_train[:, order[:k]], y_train).predict(X_test[:, order[:k]]) for k in ks])


def multinomial_scores(train, labels, document, columns, alpha):
    """Log of prior times likelihood, class by class, from lists."""
    scores = {}
    for c in sorted(set(labels)):
        rows = [row for row, label in zip(train, labels, strict=True) if label == c]
        occurrences = [sum(row[w] for row in rows) + alpha for w in columns]
        score = math.log(len(rows) / len(labels))
        for w, t in zip(columns, occurrences, strict=True):
            score += document[w] * math.log(t / sum(occurrences))
        scores[c] = score
    return scores


def bernoulli_scores(train, labels, document, columns, alpha):
    scores = {}
    for c in sorted(set(labels)):
        rows = [row for row, label in zip(train, labels, strict=True) if label == c]
        score = math.log(len(rows) / len(labels))
        for w in columns:
            theta = (sum(row[w] > 0 for row in rows) + alpha) / (len(rows) + 2 * alpha)
            score += math.log(theta if document[w] > 0 else 1 - theta)
        scores[c] = score
    return scores


def poisson_scores(train, labels, document, columns, alpha, beta=1.0):
    scores = {}
    for c in sorted(set(labels)):
        rows = [row for row, label in zip(train, labels, strict=True) if label == c]
        score = math.log(len(rows) / len(labels))
        for w in columns:
            rate = (sum(row[w] for row in rows) + alpha) / (len(rows) + beta)
            score += document[w] * math.log(rate) - rate - math.lgamma(document[w] + 1)
        scores[c] = score
    return scores

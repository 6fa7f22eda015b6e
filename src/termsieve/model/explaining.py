"""Explanations of labels: what each term contributes, for classifiers whose scores are sums over terms.

Such a classifier has a weight for each class and term, and takes the class with the largest weighted sum. What decides
between the label and the one that came second is the difference of both sums: each term of the document has a part of
it. With several labels per document, each label is decided against its absence.

A calibrated model moves the boundary between two classes, or between a label and its absence, to where the probability
is 0.5 or the threshold of the label: by how much is counted with what does not depend on terms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import logit
from sklearn.base import BaseEstimator
from sklearn.naive_bayes import BernoulliNB, MultinomialNB

from termsieve._types import Array, IntegerArray, StringArray
from termsieve.classify.poisson import PoissonNB
from termsieve.errors import OptionError
from termsieve.model.weighted_sum import WeightedSum

if TYPE_CHECKING:
    from termsieve.model.model import Model


class TermContribution(NamedTuple):
    """A term, its value in the document (occurrences or a weight), and its part of the decision."""

    term: str
    value: float
    part: float


class Explanation(NamedTuple):
    """An explanation of a label.

    Attributes
    ----------
    label, against : str
        The label, and the one that came second; "" for the absence of the label.
    margin : float
        By how much it was decided: log odds for naive Bayes, the difference of weighted sums for others. It can be
        negative where calibrated probabilities decide otherwise than the sums: between three classes or more, and for
        the nearest label of a document that has none above its threshold.
    rest : float
        What of this does not depend on terms that the document has: how frequent the classes are, what is absent, and
        where the boundary lies.
    parts : tuple of TermContribution
        The terms with the largest parts, for or against. A document with none of the model's terms has none: its
        label is the class with the largest prior, and the margin is that of the priors, as log odds (with several
        labels: above the threshold of the class).
    """

    label: str
    against: str
    margin: float
    rest: float
    parts: tuple[TermContribution, ...]


class LinearWeights(NamedTuple):
    """A classifier as weighted sums: classes x terms, and a constant for each class."""

    weights: Array
    constants: Array
    presence: bool = False  # how often a term occurs does not matter

    def input_values(self, values: Array) -> Array:
        """Return the values of a document that the weights apply to."""
        return (values > 0).astype(np.float64) if self.presence else values


def find_weights(model: BaseEstimator) -> LinearWeights | None:
    """Return the weights of a fitted classifier, if its score is a sum over terms."""
    if isinstance(model, MultinomialNB):
        return LinearWeights(model.feature_log_prob_, model.class_log_prior_)
    if isinstance(model, BernoulliNB):
        absent = np.log1p(-np.exp(model.feature_log_prob_))
        return LinearWeights(
            model.feature_log_prob_ - absent, model.class_log_prior_ + absent.sum(axis=1), presence=True
        )
    if isinstance(model, PoissonNB):
        return LinearWeights(np.log(model.rate_), model.class_log_prior_ - model.rate_.sum(axis=1))
    if isinstance(model, WeightedSum):
        return _from_sums(model.coef, model.intercept, presence=model.presence)
    return _linear_model_weights(model)


def _linear_model_weights(model: BaseEstimator) -> LinearWeights | None:
    if getattr(model, "kernel", "linear") != "linear" or not hasattr(model, "coef_"):
        return None
    coef: Any = model.coef_
    weights: Array = np.asarray(coef.toarray() if hasattr(coef, "toarray") else coef)
    constants: Array = np.ravel(model.intercept_)
    if len(weights) > 1 and (len(weights) != len(model.classes_) or hasattr(model, "kernel")):
        return None
    return _from_sums(weights, constants)


def _from_sums(weights: Array, constants: Array, *, presence: bool = False) -> LinearWeights:
    if len(weights) == 1:  # two classes: what is not for the second is for the first
        weights, constants = np.vstack([np.zeros_like(weights), weights]), np.concatenate([[0.0], constants])
    return LinearWeights(weights, constants, presence)


def is_explainable(model: Model) -> bool:
    """Tell whether decisions of a model can be explained."""
    return all(weights is not None for weights in find_problem_weights(model))


def require_explainable(model: Model) -> None:
    """Refuse a classifier whose score is not a sum over terms."""
    if not is_explainable(model):
        raise OptionError(
            f"{model.settings['classifier']} is not a sum over terms, so terms have no contribution of their own. Use "
            "multinomial_nb, bernoulli_nb, poisson_nb, linear_svm, logistic_regression, probit."
        )


def find_problem_weights(model: Model) -> list[LinearWeights | None]:
    """Return one set of weights for all classes, or one for each class."""
    if model.single:
        return [find_weights(model.classifier)]
    n_terms = len(model.vectorizer.vocabulary_)
    return [
        find_weights(one) if hasattr(one, "classes_") else _constant_weights(one, n_terms)
        for one in model.classifier.estimators_
    ]


def _constant_weights(one: Any, n_terms: int) -> LinearWeights:
    """Return the weights for a class that all documents have, or none: no term decides."""
    always = float(np.ravel(one.y_)[0]) if hasattr(one, "y_") else 0.0
    return LinearWeights(np.zeros((2, n_terms)), np.array([0.0, np.inf if always else -np.inf]))


def explain_rows(model: Model, X: Any, n: int) -> list[list[Explanation]]:
    """Explain for each row of a matrix why it has its labels."""
    require_explainable(model)
    terms = model.vectorizer.get_feature_names_out()
    problems = find_problem_weights(model)
    boundaries = _find_boundaries(model, len(problems))
    rows = sparse.csr_array(X)
    said = model.label_rows(rows)
    explanations = []
    for i, marked in enumerate(said.labels):
        cut = slice(rows.indptr[i], rows.indptr[i + 1])
        document = DocumentRow(rows.indices[cut], rows.data[cut].astype(np.float64), terms)
        places = np.flatnonzero(marked).tolist()
        if not said.known[i]:
            explanations.append([_explain_by_prior(model, place) for place in places])
        elif model.single:
            chances = None if said.probabilities is None else said.probabilities[i]
            explanations.append(
                [_explain_single_label(model, problems[0], places[0], document, n, boundaries[0], chances)]
            )
        else:
            explanations.append(
                [_explain_multilabel(model, problems[one], one, document, n, boundaries[one]) for one in places]
            )
    return explanations


def _find_boundaries(model: Model, n_problems: int) -> list[float]:
    """Return the log odds at which each problem is decided: 0 without calibration, and among three classes or more."""
    decision = model.decision
    if decision is None or (model.single and len(model.classes) > 2):
        return [0.0] * n_problems
    thresholds = [0.5] if decision.thresholds is None else decision.thresholds.tolist()
    return [decision.calibration.find_boundary(c, threshold) for c, threshold in enumerate(thresholds)]


class DocumentRow(NamedTuple):
    """A row of a matrix: its columns, its values, and the terms of all columns."""

    columns: IntegerArray
    values: Array
    terms: StringArray


def _explain_by_prior(model: Model, place: int) -> Explanation:
    """Explain the label of a document of which nothing is known: its class is frequent among such documents."""
    prior = np.clip(model.prior, 1e-12, 1.0 - 1e-12)
    if model.single:
        others = np.where(np.arange(len(prior)) == place, -1.0, prior)
        second = int(np.argmax(others))
        against, margin = model.classes[second], float(np.log(prior[place] / prior[second]))
    else:
        thresholds = None if model.decision is None else model.decision.thresholds
        level = 0.5 if thresholds is None else float(thresholds[place])
        against, margin = "", float(logit(prior[place]) - logit(level))
    return Explanation(model.classes[place], against, margin, margin, ())


def _explain_single_label(
    model: Model, weights: LinearWeights | None, place: int, document: DocumentRow, n: int, boundary: float,
    chances: Array | None,
) -> Explanation:  # fmt: skip
    """Explain why this class was chosen rather than the second best: the second most probable, if calibrated."""
    assert weights is not None  # noqa: S101 - it is explainable
    places = model.classifier.classes_.tolist()
    chosen = places.index(place)
    if model.decision is not None and chances is not None:
        totals = chances[places]
    else:
        totals = weights.weights[:, document.columns] @ weights.input_values(document.values) + weights.constants
    rivals = [one for one in range(len(totals)) if one != chosen]
    second = max(rivals, key=lambda one: -np.inf if np.isnan(totals[one]) else totals[one])  # the first of equal ones
    shift = boundary if chosen == 0 else -boundary
    return _build_explanation(
        (model.classes[place], model.classes[places[second]]), weights, (chosen, second), document, n, shift
    )


def _explain_multilabel(
    model: Model, weights: LinearWeights | None, place: int, document: DocumentRow, n: int, boundary: float
) -> Explanation:
    """Explain why this label was given."""
    assert weights is not None  # noqa: S101 - it is explainable
    return _build_explanation((model.classes[place], ""), weights, (1, 0), document, n, -boundary)


def _build_explanation(
    names: tuple[str, str], weights: LinearWeights, pair: tuple[int, int], document: DocumentRow, n: int, shift: float
) -> Explanation:
    one, other = pair
    columns, given = document.columns, weights.input_values(document.values)
    with np.errstate(invalid="ignore"):  # without smoothing, both classes may hold a term for impossible
        parts = _even_out((weights.weights[one, columns] - weights.weights[other, columns]) * given)
        rest = float(_even_out(weights.constants[one] - weights.constants[other])) + shift
        margin = float(_even_out(parts.sum() + rest))
    order = np.lexsort([columns, -np.abs(parts)])[:n]
    shown = tuple(TermContribution(str(document.terms[columns[j]]), float(given[j]), float(parts[j])) for j in order)
    return Explanation(*names, margin, rest, shown)


def _even_out(values: Any) -> Array:
    """Return differences with 0 where infinite sides cancel: nothing is decided there."""
    return np.asarray(np.where(np.isnan(values), 0.0, values))

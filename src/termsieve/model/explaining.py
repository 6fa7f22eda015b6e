"""Why a label: what each term contributes, for classifiers whose scores are sums over terms.

Such a classifier has a weight for each class and term, and takes the class with the largest weighted sum. What decides
between the label and the one that came second is the difference of both sums: each term of the document has a part of
it. With several labels per document, each label is decided against its absence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.naive_bayes import BernoulliNB, MultinomialNB

from termsieve._types import Array, StringArray
from termsieve.classify.poisson import PoissonNB
from termsieve.errors import OptionError

if TYPE_CHECKING:
    from termsieve.model.model import Model


class TermContribution(NamedTuple):
    """A term, what the document has of it (occurrences or a weight), and its part of the decision."""

    term: str
    value: float
    part: float


class Explanation(NamedTuple):
    """Why a label.

    Attributes
    ----------
    label, against : str
        The label, and the one that came second; "" for the absence of the label.
    margin : float
        By how much it was decided: log odds for naive Bayes, the difference of weighted sums for others.
    rest : float
        What of this does not depend on terms that the document has: how frequent the classes are, and what is absent.
    parts : tuple of Part
        The terms with the largest parts, for or against.
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

    def given(self, values: Array) -> Array:
        """What of a document the weights are for."""
        return (values > 0).astype(np.float64) if self.presence else values


def find_weights(model: BaseEstimator) -> LinearWeights | None:
    """The weights of a fitted classifier, where its score is a sum over terms."""
    if isinstance(model, MultinomialNB):
        return LinearWeights(model.feature_log_prob_, model.class_log_prior_)
    if isinstance(model, BernoulliNB):
        absent = np.log1p(-np.exp(model.feature_log_prob_))
        return LinearWeights(
            model.feature_log_prob_ - absent, model.class_log_prior_ + absent.sum(axis=1), presence=True
        )
    if isinstance(model, PoissonNB):
        return LinearWeights(np.log(model.rate_), model.class_log_prior_ - model.rate_.sum(axis=1))
    return _linear_model_weights(model)


def _linear_model_weights(model: BaseEstimator) -> LinearWeights | None:
    if getattr(model, "kernel", "linear") != "linear" or not hasattr(model, "coef_"):
        return None
    given: Any = model.coef_
    weights: Array = np.asarray(given.toarray() if hasattr(given, "toarray") else given)
    constants: Array = np.ravel(model.intercept_)
    if len(weights) == 1:  # two classes: what is not for the second is for the first
        zero = np.zeros_like(weights)
        return LinearWeights(np.vstack([zero, weights]), np.concatenate([[0.0], constants]))
    return (
        LinearWeights(weights, constants)
        if len(weights) == len(model.classes_) and not hasattr(model, "kernel")
        else None
    )


def is_explainable(model: Model) -> bool:
    """Whether decisions of a model can be explained."""
    return all(sums is not None for sums in _problem_weights(model))


def require_explainable(model: Model) -> None:
    """Refuse to explain what does not add terms up."""
    if not is_explainable(model):
        raise OptionError(
            f"{model.settings['classifier']} does not add up terms, so no term has a part of its own. Those that do: "
            "multinomial_nb, bernoulli_nb, poisson_nb, linear_svm, logistic_regression, probit."
        )


def _problem_weights(model: Model) -> list[LinearWeights | None]:
    """One for all classes, or one for each."""
    if model.single:
        return [find_weights(model.classifier)]
    n_terms = len(model.vectorizer.vocabulary_)
    return [
        find_weights(one) if hasattr(one, "classes_") else _constant_weights(one, n_terms)
        for one in model.classifier.estimators_
    ]


def _constant_weights(one: Any, n_terms: int) -> LinearWeights:
    """A class that all documents have, or none: no term decides."""
    always = float(np.ravel(one.y_)[0]) if hasattr(one, "y_") else 0.0
    return LinearWeights(np.zeros((2, n_terms)), np.array([0.0, np.inf if always else -np.inf]))


def explain_rows(model: Model, X: Any, n: int) -> list[list[Explanation]]:
    """For each row of a matrix, why it has its labels."""
    require_explainable(model)
    terms = model.vectorizer.get_feature_names_out()
    problems = _problem_weights(model)
    rows = sparse.csr_array(X)
    labels = model.named(model.classifier.predict(rows))
    found = []
    for i, said in enumerate(labels):
        cut = slice(rows.indptr[i], rows.indptr[i + 1])
        document = DocumentRow(rows.indices[cut], rows.data[cut].astype(np.float64), terms)
        if model.single:
            found.append([_explain_single_label(model, problems[0], said, document, n)])
        else:
            found.append(
                [_explain_multilabel(label, problems[model.classes.index(label)], document, n) for label in said]
            )
    return found


class DocumentRow(NamedTuple):
    """A row: its columns, what is there, and the terms of all columns."""

    columns: npt.NDArray[np.integer]
    values: Array
    terms: StringArray


def _explain_single_label(
    model: Model, sums: LinearWeights | None, label: str, document: DocumentRow, n: int
) -> Explanation:
    """Why this class, and not the one that came second."""
    assert sums is not None  # noqa: S101 - it adds up
    places = model.classifier.classes_.tolist()
    chosen = places.index(model.classes.index(label))
    totals = sums.weights[:, document.columns] @ sums.given(document.values) + sums.constants
    totals[chosen] = -np.inf
    second = int(np.argmax(totals))
    return _build_explanation(label, model.classes[places[second]], sums, (chosen, second), document, n)


def _explain_multilabel(label: str, sums: LinearWeights | None, document: DocumentRow, n: int) -> Explanation:
    """Why this label at all."""
    assert sums is not None  # noqa: S101 - it adds up
    return _build_explanation(label, "", sums, (1, 0), document, n)


def _build_explanation(
    label: str, against: str, sums: LinearWeights, pair: tuple[int, int], document: DocumentRow, n: int
) -> Explanation:
    one, other = pair
    columns, given = document.columns, sums.given(document.values)
    parts = (sums.weights[one, columns] - sums.weights[other, columns]) * given
    rest = float(sums.constants[one] - sums.constants[other])
    order = np.lexsort([columns, -np.abs(parts)])[:n]
    shown = tuple(TermContribution(str(document.terms[columns[j]]), float(given[j]), float(parts[j])) for j in order)
    return Explanation(label, against, float(parts.sum()) + rest, rest, shown)

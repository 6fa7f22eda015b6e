"""A model from counts alone: naive Bayes needs nothing else, so it is fitted again where documents are gone."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.naive_bayes import BernoulliNB, MultinomialNB

from termsieve._types import Array
from termsieve._version import __version__
from termsieve.classify.poisson import PoissonNB, log_prior, poisson_rates
from termsieve.classify.recipes import classifier as make_classifier
from termsieve.counts.counts import Counts
from termsieve.errors import CountsError, InputError, OptionError, describe_single_class
from termsieve.model.fitting import ModelSpec, make_unmeasured_settings
from termsieve.model.model import Model
from termsieve.selection.selection import select

CLASSIFIERS = ("multinomial_nb", "bernoulli_nb", "poisson_nb")


def fit_counts(counts: Counts, *, score: str, rule: str, classifier: str) -> Model:
    """Select terms and fit naive Bayes, from counts alone: the same model as from the documents, without calibration.

    Parameters
    ----------
    counts
        Of documents with one label each, counted with an analyzer.
    score, rule
        What ranks the terms, and which of them the model has, such as ``"top(500)"``.
    classifier
        ``"multinomial_nb"``, ``"bernoulli_nb"`` or ``"poisson_nb"``, with parameters if need be.

    Examples
    --------
    >>> import termsieve as ts
    >>> counts = ts.count(["cheap pills", "buy pills", "noon meeting", "lunch at noon"], ["spam", "spam", "ham", "ham"])
    >>> model = fit_counts(counts, score="chi2", rule="top(4)", classifier="multinomial_nb")
    >>> model.predict(["pills, cheap", "a meeting at noon"])
    ['spam', 'ham']
    """
    analyzer = counts.analyzer
    if analyzer is None:
        raise CountsError("These counts are of a matrix or a table: it is not known how a text becomes their terms.")
    if counts.n_multilabel or int(counts.class_sizes.sum()) != counts.n_docs:
        raise CountsError(
            "A model from counts needs documents with one label each; some of these have several, or none."
        )
    if counts.pruned:
        raise CountsError(f"These counts are pruned ({counts.pruned}); give those of all terms.")
    if counts.n_classes < 2:
        raise InputError(describe_single_class(counts.n_docs, map(str, counts.classes)))
    spec = ModelSpec(score, rule, "count", classifier, 1, analyzer)
    index = np.sort(select(counts, rule, score).index)
    chosen = counts.take(index)
    vectorizer = spec.make_vectorizer()
    vectorizer._set_vocabulary(chosen.term_array, None)
    about = {
        "termsieve": __version__, "cv": 0, "seed": 0, **make_unmeasured_settings(), "n_splits": 0, "reason": "",
        "against_all": None, "f1_macro_of_all": None, "notes": [], "score": score, "rule": rule, "weighting": "count",
        "classifier": classifier, "min_df": 1, "n_terms": len(index), "n_docs": counts.n_docs,
        "analyzer": analyzer.settings, "calibration": None, "duality_gap": None,
    }  # fmt: skip
    classes = [str(name) for name in counts.classes]
    shares = counts.class_sizes / counts.n_docs
    return Model(vectorizer, _fit(classifier, chosen), classes, single=True, settings=about, prior=shares)


def _fit(spelling: str, counts: Counts) -> BaseEstimator:
    """Fit naive Bayes to sums over the documents of each class."""
    estimator: Any = make_classifier(spelling)
    if not isinstance(estimator, MultinomialNB | BernoulliNB | PoissonNB):
        raise OptionError(f"{spelling} needs the documents themselves. From counts there are {', '.join(CLASSIFIERS)}.")
    sums: Array = (counts.df if isinstance(estimator, BernoulliNB) else counts.tf).toarray().astype(np.float64)
    estimator.classes_ = np.arange(counts.n_classes)
    estimator.n_features_in_ = counts.n_terms
    estimator.feature_count_, estimator.class_count_ = sums, counts.class_sizes.astype(np.float64)
    if isinstance(estimator, PoissonNB):
        estimator._check_parameters(counts.n_classes)
        estimator.rate_ = poisson_rates(sums, estimator.class_count_, estimator.alpha, estimator.beta)
        estimator.class_log_prior_ = log_prior(estimator.class_count_, estimator.fit_prior, estimator.class_prior)
        return estimator
    try:
        estimator._validate_params()
    except ValueError as error:
        raise OptionError(f"{spelling} cannot be fitted: {error}") from error
    estimator._update_feature_log_prob(estimator.alpha)
    estimator._update_class_log_prior(class_prior=estimator.class_prior)
    return estimator

"""A model as plain data that any language can use: terms, weights, classes, analyzer, calibration, thresholds."""

from __future__ import annotations

import unicodedata
from typing import Any

import numpy as np

from termsieve._types import Array
from termsieve.errors import OptionError
from termsieve.estimators.weighting import parse_weighting
from termsieve.model.explaining import LinearWeights, find_problem_weights
from termsieve.model.exporting import characters
from termsieve.model.model import Model
from termsieve.tokens.analyzer import Analyzer

FORMAT = "termsieve model"
VERSION = 1
_LOGISTIC = ("multinomial_nb", "bernoulli_nb", "poisson_nb", "logistic_regression")  # their own odds are log odds


def to_portable(model: Model) -> dict[str, Any]:
    """Return a model as plain data, or say what of it cannot be taken along."""
    weighting = parse_weighting(model.settings["weighting"])
    linear = [_check_linear(one, model) for one in find_problem_weights(model)]
    weights, constants = _join(linear, single=model.single)
    presence = all(one.presence for one in linear)
    term_weights = getattr(model.vectorizer, "weights_", None)
    if presence and term_weights is not None:  # a term is present if its value is above 0, whatever its weight
        weights, term_weights = np.where(np.asarray(term_weights) > 0, weights, 0.0), None
    return {
        "format": FORMAT, "version": VERSION, "classes": list(model.classes), "single": model.single,
        "analyzer": to_analyzer_data(Analyzer.from_settings(model.settings["analyzer"])),
        "terms": model.vectorizer.get_feature_names_out().tolist(),
        "occurrences": "binary" if presence else weighting.occurrences,
        "term_weights": None if term_weights is None else np.asarray(term_weights).tolist(),
        "cosine": not (presence or weighting.plain),
        "weights": weights.tolist(), "constants": constants.tolist(), "prior": np.asarray(model.prior).tolist(),
        **_decision_data(model), "settings": model.settings,
    }  # fmt: skip


def _check_linear(found: LinearWeights | None, model: Model) -> LinearWeights:
    if found is None or model.settings["classifier"].partition("(")[0] == "probit":
        raise OptionError(
            f"{model.settings['classifier']} cannot be exported: it does not add up weights of terms. Train with "
            "linear_svm, logistic_regression, multinomial_nb, bernoulli_nb or poisson_nb."
        )
    if not np.isfinite(found.weights).all() or not np.isfinite(found.constants).all():
        raise OptionError(
            "A model with a class that all training documents have, or with probabilities of 0, cannot be exported: "
            "its weights are infinite. Train with smoothing, and without that class."
        )
    return found


def _join(linear: list[LinearWeights], *, single: bool) -> tuple[Array, Array]:
    """Return the weights and constants of each problem: of two classes the second against the first."""
    if single:
        one = linear[0]
        if len(one.weights) == 2:
            return (one.weights[1] - one.weights[0])[None], (one.constants[1] - one.constants[0])[None]
        return one.weights, one.constants
    pairs = [(one.weights[-1] - _other(one.weights), one.constants[-1] - _other(one.constants)) for one in linear]
    return np.stack([weights for weights, _ in pairs]), np.array([constant for _, constant in pairs])


def _other(values: Array) -> Any:
    """Return what the presence of a class is compared with."""
    return values[0] if len(values) == 2 else np.zeros_like(values[0])


def _decision_data(model: Model) -> dict[str, Any]:
    decision = model.decision
    if decision is None:
        own = model.settings["classifier"].partition("(")[0] in _LOGISTIC
        kind = "softmax" if own else None
        return {"probabilities": kind, "curves": None, "thresholds": None, "always_label": False}
    curves = [[np.asarray(part).tolist() for part in curve] for curve in decision.calibration.curves]
    thresholds = None if decision.thresholds is None else decision.thresholds.tolist()
    return {
        "probabilities": decision.calibration.method, "curves": curves, "thresholds": thresholds,
        "always_label": decision.always_label,
    }  # fmt: skip


def to_analyzer_data(analyzer: Analyzer) -> dict[str, Any]:
    """Return the settings that other languages follow, or say which of them they cannot."""
    for name in ("stemmer", "segmenter", "tokenizer", "strip_accents"):
        if getattr(analyzer, name):
            raise OptionError(
                f"A model with {name}={getattr(analyzer, name)!r} cannot be exported: only termsieve cuts texts so. "
                f"Train without it."
            )
    if analyzer.analyzer == "tokens":
        raise OptionError("A model of lists of tokens cannot be exported: texts are what other languages get.")
    runs = analyzer.runs
    if analyzer.analyzer == "word" and runs is None:
        raise OptionError(
            f"A model with the token pattern {analyzer.token_pattern!r} cannot be exported: only runs of one class of "
            r"characters, such as \w\w+, are the same in other languages."
        )
    return {
        "kind": analyzer.analyzer, "lowercase": analyzer.lowercase, "least": 1 if runs is None else runs.least,
        "ngrams": list(analyzer.ngram_range), "stop_words": sorted(analyzer.stop_set),
        "unicode": unicodedata.unidata_version,
        "word_characters": characters.word_characters(r"\w" if runs is None else runs.character_class),
        "known_characters": characters.known_characters(), "cased_characters": characters.cased_characters(),
        "ignored_characters": characters.ignored_characters(),
    }  # fmt: skip

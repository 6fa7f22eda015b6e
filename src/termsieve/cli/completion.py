"""Shell completion. Importing the stages takes longer than a user waits, so their names stand in a small file.

The file is made from the registries by ``python docs/make_names.py``; a test fails when it is not up to date.
"""

from __future__ import annotations

import importlib.resources
import json
from collections.abc import Iterator

Completion = tuple[str, str]
NAMES_FILE = "names.json"


def complete_scores(incomplete: str) -> Iterator[Completion]:
    """Complete names of scores, with their titles."""
    yield from _filter_completions(incomplete, read_names("scores"))


def complete_classifiers(incomplete: str) -> Iterator[Completion]:
    """Complete names of classifiers, with their titles."""
    yield from _filter_completions(incomplete, read_names("classifiers"))


def complete_rules(incomplete: str) -> Iterator[Completion]:
    """Complete names of rules, with what they do."""
    yield from _filter_completions(incomplete, read_names("rules"))


def complete_corpora(incomplete: str) -> Iterator[Completion]:
    """Complete names of corpora, with their titles."""
    yield from _filter_completions(incomplete, read_names("corpora"))


def complete_stemmers(incomplete: str) -> Iterator[Completion]:
    """Complete languages of the stemmer, where it is installed."""
    try:
        import Stemmer
    except ImportError:
        return
    yield from _filter_completions(incomplete, [(name, "") for name in Stemmer.algorithms()])


def read_names(kind: str) -> list[Completion]:
    """Read the names of scores, classifiers, rules or corpora, each with a few words about it."""
    text = (importlib.resources.files("termsieve") / "data" / NAMES_FILE).read_text("utf-8")
    return list(json.loads(text)[kind].items())


def _filter_completions(incomplete: str, names: list[Completion]) -> Iterator[Completion]:
    """Yield those that continue what was typed; in a list, what stands after the last comma."""
    before, comma, last = incomplete.rpartition(",")
    yield from ((before + comma + name, title) for name, title in names if name.startswith(last))

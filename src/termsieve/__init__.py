"""Termsieve: which terms tell classes of text apart, and how few of them are enough.

The public names. Each is imported from its stage when it is first used, so that ``import termsieve`` is quick.

>>> import termsieve as ts
>>> counts = ts.count(["cheap pills", "meeting at noon"], ["spam", "ham"])
>>> list(counts.terms)
['at', 'cheap', 'meeting', 'noon', 'pills']
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from termsieve._version import __version__

if TYPE_CHECKING:
    from termsieve.classify.curves import curve
    from termsieve.classify.recipes import RECIPES, LinearSVM, PoissonNB, ProbitClassifier, classifier
    from termsieve.counts.counting import count, count_folds
    from termsieve.counts.counts import Counts
    from termsieve.counts.counts_file import CountsFile
    from termsieve.counts.folds import Folds
    from termsieve.counts.frequencies import count_frequencies
    from termsieve.counts.spilling import count_to_file
    from termsieve.documents import Documents, read
    from termsieve.estimators import TermSelector, TermVectorizer, as_score_func
    from termsieve.evaluate.list_stability import ListStability, stability
    from termsieve.model import Model, train
    from termsieve.model.exporting import export
    from termsieve.periods import Changes, Trends, changes, depend_on_source, keywords
    from termsieve.ranking.ranking import score
    from termsieve.ranking.ranking_rows import Ranking
    from termsieve.ranking.score_values import Scores
    from termsieve.reporting import report
    from termsieve.scores import SCORES, Score
    from termsieve.selection.rules import RULES, Rule
    from termsieve.selection.selection import Selection, select
    from termsieve.study.plan import Contender
    from termsieve.study.results import Comparison
    from termsieve.study.study import compare
    from termsieve.table import Table
    from termsieve.tokens.analyzer import Analyzer

_STAGES = {
    "documents": ("Documents", "read"),
    "tokens.analyzer": ("Analyzer",),
    "counts.counts": ("Counts",),
    "counts.counts_file": ("CountsFile",),
    "counts.spilling": ("count_to_file",),
    "counts.counting": ("count", "count_folds"),
    "counts.frequencies": ("count_frequencies",),
    "counts.folds": ("Folds",),
    "table": ("Table",),
    "scores": ("SCORES", "Score"),
    "ranking.ranking": ("score",),
    "ranking.score_values": ("Scores",),
    "ranking.ranking_rows": ("Ranking",),
    "periods": ("Changes", "Trends", "changes", "depend_on_source", "keywords"),
    "selection.rules": ("RULES", "Rule"),
    "selection.selection": ("Selection", "select"),
    "estimators": ("TermSelector", "TermVectorizer", "as_score_func"),
    "classify.recipes": ("RECIPES", "LinearSVM", "PoissonNB", "ProbitClassifier", "classifier"),
    "classify.curves": ("curve",),
    "evaluate.list_stability": ("ListStability", "stability"),
    "study.plan": ("Contender",),
    "study.results": ("Comparison",),
    "study.study": ("compare",),
    "model": ("Model", "train"),
    "reporting": ("report",),
    "model.exporting": ("export",),
}
_MODULE_OF = {name: module for module, names in _STAGES.items() for name in names}

__all__ = [
    "RECIPES",
    "RULES",
    "SCORES",
    "Analyzer",
    "Changes",
    "Comparison",
    "Contender",
    "Counts",
    "CountsFile",
    "Documents",
    "Folds",
    "LinearSVM",
    "ListStability",
    "Model",
    "PoissonNB",
    "ProbitClassifier",
    "Ranking",
    "Rule",
    "Score",
    "Scores",
    "Selection",
    "Table",
    "TermSelector",
    "TermVectorizer",
    "Trends",
    "__version__",
    "as_score_func",
    "changes",
    "classifier",
    "compare",
    "count",
    "count_folds",
    "count_frequencies",
    "count_to_file",
    "curve",
    "depend_on_source",
    "export",
    "keywords",
    "read",
    "report",
    "score",
    "select",
    "stability",
    "train",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'termsieve' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"termsieve.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__

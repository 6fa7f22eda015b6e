"""Termsieve: which terms tell classes of text apart, and how few of them are enough.

The public names. Each is imported from its station when it is first used, so that ``import termsieve`` is quick.

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
    from termsieve.classify import RECIPES, PoissonNB, ProbitClassifier, classifier
    from termsieve.counting import Folds, count, count_folds
    from termsieve.counts import Counts
    from termsieve.curves import curve
    from termsieve.documents import Documents, read
    from termsieve.estimators import TermSelector, TermVectorizer, as_score_func
    from termsieve.model import Model, train
    from termsieve.plan import Contender
    from termsieve.ranking import Ranking, Scores, score
    from termsieve.reporting import report
    from termsieve.results import Comparison
    from termsieve.rules import RULES, Rule
    from termsieve.scores import SCORES, Score
    from termsieve.selection import Selection, select
    from termsieve.study import compare
    from termsieve.table import Table
    from termsieve.tokens import Analyzer

_STATIONS = {
    "documents": ("Documents", "read"),
    "tokens": ("Analyzer",),
    "counts": ("Counts",),
    "counting": ("Folds", "count", "count_folds"),
    "table": ("Table",),
    "scores": ("SCORES", "Score"),
    "ranking": ("Ranking", "Scores", "score"),
    "rules": ("RULES", "Rule"),
    "selection": ("Selection", "select"),
    "estimators": ("TermSelector", "TermVectorizer", "as_score_func"),
    "classify": ("RECIPES", "PoissonNB", "ProbitClassifier", "classifier"),
    "curves": ("curve",),
    "plan": ("Contender",),
    "results": ("Comparison",),
    "study": ("compare",),
    "model": ("Model", "train"),
    "reporting": ("report",),
}
_STATION_OF = {name: station for station, names in _STATIONS.items() for name in names}

__all__ = [
    "RECIPES",
    "RULES",
    "SCORES",
    "Analyzer",
    "Comparison",
    "Contender",
    "Counts",
    "Documents",
    "Folds",
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
    "__version__",
    "as_score_func",
    "classifier",
    "compare",
    "count",
    "count_folds",
    "curve",
    "read",
    "report",
    "score",
    "select",
    "train",
]


def __getattr__(name: str) -> Any:
    if name not in _STATION_OF:
        raise AttributeError(f"module 'termsieve' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"termsieve.{_STATION_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__

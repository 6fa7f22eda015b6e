"""Everything that a study tried, with a measure of each on each split: what is best, and what is enough."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from termsieve._types import Array, BoolArray
from termsieve.evaluate.differences import Difference, corrected_error, paired_difference
from termsieve.scores.parsing import score_title

_ROUNDING = 1e-12  # differences of means below this are rounding errors


class TrialSummary(NamedTuple):
    """Something that was tried: a classifier on the best k terms by a score, and its mean over the splits."""

    classifier: str
    score: str
    k: int
    mean: float
    is_all: bool  # whether these are all terms

    @property
    def terms(self) -> str:
        """The terms in words."""
        if self.is_all:
            return "the only term" if self.k == 1 else f"all {self.k:,} terms"
        return f"{self.k:,} {'term' if self.k == 1 else 'terms'} by {score_title(self.score)}"

    def __str__(self) -> str:
        return f"{self.classifier} with {self.terms}"


class Reselection(NamedTuple):
    """What is chosen without one split in turn: its mean on the splits left out, and the numbers of terms."""

    mean: float
    fewest: int
    most: int


@dataclass(frozen=True)
class Trials:
    """Everything that was tried, with a measure of each on each split.

    Attributes
    ----------
    tried : list of TrialSummary
    values : array of shape (n_splits, n_tried)
    asked : array of bool
        Which of these may be recommended; the others are for reference.
    ratio : float
        Test documents for each training document.
    """

    tried: list[TrialSummary]
    values: Array
    asked: BoolArray
    ratio: float

    @classmethod
    def from_table(cls, table: pa.Table, settings: Mapping[str, Any], measure: str) -> Trials:
        """Collect the trials of the long table of a comparison."""
        rows = table.filter((pc.field("label") == "") & (pc.field("measure") == measure))
        splits: dict[tuple[int, int], int] = {}
        places: dict[tuple[str, str, int], int] = {}
        where: list[tuple[int, int, float]] = []
        names = ("repeat", "fold", "classifier", "score", "k", "value")
        for repeat, fold, classifier, score, k, value in zip(*(rows[name].to_pylist() for name in names), strict=True):
            split = splits.setdefault((repeat, fold), len(splits))
            place = places.setdefault((classifier, score, k), len(places))
            where.append((split, place, value))
        values = np.full((len(splits), len(places)), np.nan)
        for split, place, value in where:
            values[split, place] = value
        means = [math.fsum(column) / len(splits) for column in values.T]
        tried = [TrialSummary(*key, mean, _is_all(key, settings)) for key, mean in zip(places, means, strict=True)]
        asked = np.array([_is_asked(one, settings) for one in tried], bool)
        return cls(tried, values, asked if asked.any() else ~asked, _test_ratio(settings, splits))

    def of_classifier(self, name: str) -> Trials:
        """Return the trials of one classifier."""
        keep = np.array([one.classifier == name for one in self.tried], bool)
        asked = self.asked[keep]
        tried = [one for one, kept in zip(self.tried, keep, strict=True) if kept]
        return Trials(tried, self.values[:, keep], asked if asked.any() else ~asked, self.ratio)

    @cached_property
    def curve_means(self) -> list[float]:
        """For each trial the mean of its curve, over the numbers of terms that half of the curves have; 0 without.

        So ties go to what was tried throughout, not to what was tried here and there.
        """
        curves: dict[tuple[str, str], dict[int, float]] = {}
        for one in self.tried:
            curves.setdefault((one.classifier, one.score), {})[one.k] = one.mean
        times = Counter(k for curve in curves.values() for k in curve)
        common = [k for k, n in times.items() if 2 * n >= len(curves)]
        level = {
            name: math.fsum(curve[k] for k in common) / len(common) if common and curve.keys() >= set(common) else 0.0
            for name, curve in curves.items()
        }
        return [level[one.classifier, one.score] for one in self.tried]

    def find_best(self, rows: Any = slice(None), among: BoolArray | None = None) -> int:
        """Return the place of the best: ties go to the better curve, the simpler classifier, the fewer terms."""
        means = self.values[rows].mean(axis=0)
        allowed = range(len(self.tried)) if among is None else np.flatnonzero(among).tolist()
        highest = max(means[i] for i in allowed)
        ties = [i for i in allowed if means[i] >= highest - _ROUNDING]
        return min(ties, key=lambda i: (-self.curve_means[i], simplicity(self.tried[i].classifier), self.tried[i].k, i))

    def find_enough(self, margin: float, rows: Any = slice(None)) -> BoolArray:
        """Tell which satisfy the rule."""
        values = self.values[rows]
        differences = values - values[:, [self.find_best(rows)]]
        slack = corrected_error(differences, self.ratio) if len(values) > 1 else margin
        return np.asarray(differences.mean(axis=0) >= -slack - _ROUNDING)

    def choose(self, margin: float, rows: Any = slice(None)) -> int:
        """Return the place of the fewest terms that are enough; the best of what was asked for if none are."""
        means = self.values[rows].mean(axis=0)
        enough = self.find_enough(margin, rows) & self.asked
        if not enough.any():
            return self.find_best(rows, self.asked)
        fewest = min(self.tried[i].k for i in np.flatnonzero(enough))
        same = [i for i in np.flatnonzero(enough).tolist() if self.tried[i].k == fewest]
        highest = max(means[i] for i in same)
        ties = [i for i in same if means[i] >= highest - _ROUNDING]
        return min(ties, key=lambda i: (-self.curve_means[i], simplicity(self.tried[i].classifier), i))

    def reselect(self, margin: float, *, fewest: bool) -> Reselection | None:
        """Choose without one split in turn, and measure the choice on that split."""
        n = len(self.values)
        if n < 3:
            return None
        others = [np.flatnonzero(np.arange(n) != split) for split in range(n)]
        places = [self.choose(margin, rows) if fewest else self.find_best(rows, self.asked) for rows in others]
        ks = [self.tried[place].k for place in places]
        return Reselection(math.fsum(self.values[range(n), places]) / n, min(ks), max(ks))

    def difference(self, first: int, second: int, margin: float) -> Difference:
        """Return the difference of two trials."""
        return paired_difference(self.values[:, first], self.values[:, second], ratio=self.ratio, margin=margin)


def simplicity(classifier: str) -> tuple[int, int, str]:
    """Return a key that sorts simpler classifiers first: by the order of the catalogue, and by their parameters."""
    from termsieve.classify.recipes import RECIPES

    name = classifier.partition("(")[0]
    names = list(RECIPES)
    return names.index(name) if name in RECIPES else len(names), len(classifier), classifier


def _is_all(key: tuple[str, str, int], settings: Mapping[str, Any]) -> bool:
    return key[2] == settings.get("n_terms") and key[1] not in _list_restricted(settings)


def _list_restricted(settings: Mapping[str, Any]) -> set[str]:
    """Return the names of contenders that may not rank all terms."""
    limits = ("max_tf", "max_df", "rule", "representation")
    special = settings.get("contenders") or []
    return {one["name"] for one in special if isinstance(one, dict) and "name" in one and any(x in one for x in limits)}


def _is_asked(one: TrialSummary, settings: Mapping[str, Any]) -> bool:
    """Tell whether a user asked for it, or left the choice to us; all terms may be there for reference only."""
    return not (one.is_all and settings.get("all_terms") == "reference")


def _test_ratio(settings: Mapping[str, Any], splits: Mapping[tuple[int, int], int]) -> float:
    """Return the number of test documents for each training document."""
    known = settings.get("test_ratio")
    if isinstance(known, int | float) and 0 <= known < math.inf:
        return float(known)
    folds = len(splits) / max(len({repeat for repeat, _ in splits}), 1)
    return 1 / (folds - 1) if folds > 1 else 1.0

"""The measurements of a protocol, by the names that the paper prints."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow.compute as pc

from termsieve.classify.recipes import parse_recipe
from termsieve.counts.counts import Counts
from termsieve.errors import OptionError
from termsieve.ranking.ranking import score
from termsieve.reproduction.contexts import Curves
from termsieve.reproduction.protocol import Protocol
from termsieve.reproduction.setting import Setting
from termsieve.scores import parse_score
from termsieve.study.results import Comparison
from termsieve.study.split_data import SplitData
from termsieve.study.study import Study
from termsieve.table import Occurrences, Table

ValuesBySize = dict[int, list[float]]
Index = dict[tuple[str, str, str, str], ValuesBySize]

_RESAMPLES = 20  # of the training documents, for the sampling error of rankings
_TIMING_REPEATS = 7  # of a timed selection; the median counts


class Measurements:
    """The results of the settings of a protocol."""

    def __init__(self, protocol: Protocol, results: Mapping[str, Comparison], threads: int | None = None) -> None:
        self.protocol, self.results, self.threads = protocol, dict(results), threads
        self.resamples = _RESAMPLES
        self._studies: dict[str, Study] = {}
        self._split_data: dict[str, SplitData] = {}
        self._rankings: dict[tuple[str, str], list[str]] = {}
        self._seconds: dict[str, dict[str, float]] = {}
        self._formula_seconds: dict[str, dict[str, float]] = {}

    @property
    def groups(self) -> dict[str, list[Setting]]:
        """Settings by group."""
        return self.protocol.groups

    def group_name(self, where: Mapping[str, Any]) -> str:
        """Return the named group, or the first."""
        group = where.get("group", next(iter(self.groups)))
        if group not in self.groups:
            raise OptionError(f"{self.protocol.name}: there is no group {group!r}. Groups: {', '.join(self.groups)}.")
        return str(group)

    def setting(self, group: str, classifier: str) -> Setting:
        """Return the setting of a group that has a classifier."""
        setting = self.find_setting(group, classifier)
        if setting is None:
            raise OptionError(f"{self.protocol.name}: {group!r} has no classifier {classifier!r}.")
        return setting

    def find_setting(self, group: str, classifier: str) -> Setting | None:
        """Return the setting of a group that has a classifier, or None."""
        return next((one for one in self.groups[group] if classifier in one.classifiers), None)

    def classifiers(self, group: str) -> list[str]:
        """Return the classifiers of a group."""
        return [name for one in self.groups[group] for name in one.classifiers]

    def scores(self, group: str, classifier: str = "") -> list[str]:
        """Return the scores that were run with a classifier, or those of the group."""
        return list((self.setting(group, classifier) if classifier else self.groups[group][0]).scores)

    def curves(self, group: str, classifier: str, measure: str) -> Curves:
        """Return the values of all scores that compete: splits x scores x sizes."""
        names = [name for name in self.scores(group, classifier) if name not in self.protocol.reference_scores]
        found = [self.values(group, classifier, name, measure) for name in names]
        sizes = sorted(found[0])
        return Curves(names, sizes, np.array([[of[k] for k in sizes] for of in found]).transpose(2, 0, 1))

    def test_ratio(self, group: str) -> float:
        """Return the test documents for each training document."""
        return max(float(self.results[one.name].settings.get("test_ratio", 0.0)) for one in self.groups[group])

    @cached_property
    def _averages(self) -> Index:
        """Measures of all classes together."""
        return self._make_index(pc.field("label") == "")

    @cached_property
    def _by_class(self) -> Index:
        """Measures of single classes, named as in "f1 of earn"; most tables have many, and few claims need them."""
        return self._make_index(pc.field("label") != "")

    def _make_index(self, wanted: pc.Expression) -> Index:
        """Return values over the splits by setting, classifier, score and measure, then by number of terms."""
        index: Index = {}
        for name, result in self.results.items():
            rows = result.table.filter(wanted)
            columns = [rows[column].to_pylist() for column in ("classifier", "score", "label", "measure", "k", "value")]
            for model, contender, label, measure, k, value in zip(*columns, strict=True):
                what = f"{measure} of {label}" if label else measure
                index.setdefault((name, model, contender, what), {}).setdefault(k, []).append(value)
        return index

    def values(self, group: str, classifier: str, contender: str, measure: str) -> ValuesBySize:
        """Return a measure by number of terms: one value for each split."""
        setting = self.setting(group, classifier)
        spelling = parse_recipe(setting.classifiers[classifier]).spelling
        key = (setting.name, spelling, contender, measure)
        index = self._by_class if " of " in measure else self._averages
        if key not in index:
            raise OptionError(f"{self.protocol.name}: nothing was measured for {', '.join(key)}.")
        return index[key]

    # Not in the results: rankings, counts, and the time of ranking

    def study(self, group: str) -> Study:
        """Return the first study of a group, read again; only the last one is kept."""
        if group not in self._studies:
            self._studies.clear()
            self._split_data.clear()
            self._studies[group] = self.groups[group][0].study(self.threads)
        return self._studies[group]

    def first_split_data(self, group: str) -> SplitData:
        """Return the data of the first split of a group."""
        study = self.study(group)
        if group not in self._split_data:
            self._split_data[group] = SplitData(study.corpus, study.plan, study.splits[0])
        return self._split_data[group]

    def ranking(self, group: str, contender: str) -> list[str]:
        """Return the terms of a score in the first split, best first, up to the largest size."""
        key = group, contender
        if key not in self._rankings:
            study = self.study(group)
            chosen = next(one for one in study.plan.scores if one.name == contender)
            order = self.first_split_data(group).rank_columns(chosen).rankings[0].order
            self._rankings[key] = list(study.corpus.terms.take(order).to_pylist())
        return self._rankings[key]

    def iterate_resampled_rankings(self, group: str, names: Sequence[str], size: int) -> Iterator[dict[str, list[int]]]:
        """Yield the first terms (columns) of scores on samples of the training documents, drawn with replacement."""
        data = self.first_split_data(group)
        weights = next(iter(data.matrices.values()))[0]
        random = np.random.default_rng(0)
        contenders = [one for one in self.groups[group][0].contenders if one.name in names]
        for _ in range(self.resamples):
            rows = np.sort(random.integers(0, weights.shape[0], weights.shape[0]))
            counts = Counts.from_matrix(weights[rows], data.train_labels[rows], classes=data.classes)
            yield {one.name: score(counts, one.score).order(one.aggregate)[:size].tolist() for one in contenders}

    def seconds(self, group: str) -> dict[str, float]:
        """Return for each score the CPU seconds of scoring and sorting all terms of the first split: a median of runs.

        The work that scores share is not included: counting, and finding repeated tables.
        """
        if group not in self._seconds:
            contenders, counts = self.groups[group][0].contenders, self.first_split_data(group).counts
            samples: dict[str, list[float]] = {one.name: [] for one in contenders}
            for _ in range(_TIMING_REPEATS):
                for one in contenders:
                    start = time.thread_time()
                    score(counts, one.score).order(one.aggregate)
                    samples[one.name].append(time.thread_time() - start)
            self._seconds[group] = {name: float(np.median(values)) for name, values in samples.items()}
        return self._seconds[group]

    def formula_seconds(self, group: str) -> dict[str, float]:
        """Return for each score the CPU seconds of its formula on every class and term, repeated tables or not."""
        if group not in self._formula_seconds:
            counts = self.first_split_data(group).counts
            dense = [part.toarray().astype(np.float64) for part in (counts.df, counts.tf, counts.tf2)]
            totals = [np.asarray(part, np.float64) for part in (counts.term_df, counts.term_tf, counts.term_tf2)]
            n_c = counts.class_sizes.astype(np.float64)[:, None]
            occurrences = Occurrences(dense[1], dense[2], *(np.broadcast_to(t, dense[0].shape) for t in totals[1:]))
            n_t = np.broadcast_to(totals[0], dense[0].shape)
            every = np.broadcast_to(n_c, dense[0].shape)
            whole = np.full(dense[0].shape, float(counts.n_docs))
            samples: dict[str, list[float]] = {one.name: [] for one in self.groups[group][0].contenders}
            for _ in range(_TIMING_REPEATS):
                for one in self.groups[group][0].contenders:
                    table = Table(dense[0], n_t, every, whole, float(counts.n_classes), occurrences)
                    start = time.thread_time()
                    parse_score(one.score).evaluate(table)
                    samples[one.name].append(time.thread_time() - start)
            self._formula_seconds[group] = {name: float(np.median(values)) for name, values in samples.items()}
        return self._formula_seconds[group]

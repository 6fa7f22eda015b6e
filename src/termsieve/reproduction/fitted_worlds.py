"""Worlds of classifiers that are fitted again for each number of terms: support vector machines.

Trials are shared as far as they are the same, and only those that some world needs are run. On one published split the
test documents are sampled with replacement, with the predictions as they are: that is the sampling error of a measure,
paired over scores, without that of the training documents.
"""

from __future__ import annotations

import hashlib
import io
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from sklearn.exceptions import ConvergenceWarning

from termsieve._types import Array, BoolArray, Int64Array
from termsieve.classify.curves import predict_curve
from termsieve.classify.recipes import parse_recipe
from termsieve.files import write_atomically
from termsieve.reproduction.grids import Grid, Preparation, TrialLayout
from termsieve.reproduction.setting import Setting
from termsieve.reproduction.worlds import Multiverse
from termsieve.study.result_files import SCHEMA
from termsieve.study.results import Comparison
from termsieve.study.split_data import SplitData, find_nonempty_documents
from termsieve.table import ratio

SAMPLES = 200  # of the test documents of one published split
ENGINE = 2  # results of other versions of this module are not taken up


DEFAULT_ONLY = Multiverse("product", ())


class FittedRunner(NamedTuple):
    """How grids are run: the folder of finished parts, and where messages go."""

    folder: Path
    notify: Callable[[str], None] = lambda _: None

    def run(self, multiverse: Multiverse, setting: Setting) -> Grid:
        """Run the parts that the folder does not have, one preparation and model at a time, and return all."""
        layout = TrialLayout(multiverse, setting)
        parts, seconds, test_ratio = {}, 0.0, 0.0
        for place, model in np.argwhere(layout.needed.any(axis=1)).tolist():
            part, (taken, test_ratio) = self._run_part(layout, place, model)
            parts[place, model] = part
            seconds += taken
        shape = next(iter(parts.values())).shape
        values = np.full((len(layout.combinations), *shape), np.nan)
        for (place, model), part in parts.items():
            values[place, :, :, model] = part[:, :, model]
        measures = list_measures(setting)
        return Grid(multiverse, setting, values, measures, multiverse.splits == 1, test_ratio, seconds)

    def _run_part(self, layout: TrialLayout, place: int, model: int) -> tuple[Array, Array]:
        prepared = layout.prepare(layout.combinations[place])
        needed = layout.needed[place] & (np.arange(len(layout.models)) == model)
        setting = _make_setting(layout, prepared)
        identity = [
            ENGINE, setting.data, layout.sizes, layout.multiverse.splits, [one.settings for one in layout.contenders],
            layout.models, needed.tolist(), SAMPLES,
        ]  # fmt: skip
        digest = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()
        path = self.folder / f"{layout.setting.name}-{digest[:12]}.npz"
        if path.exists():
            with np.load(path, allow_pickle=False) as saved:
                return saved["values"], saved["about"]
        self.folder.mkdir(parents=True, exist_ok=True)
        finished = FinishedTrials(path.with_suffix(".part.npz"), needed.any(axis=1))
        values, test_ratio = run_preparation(layout, setting, needed, finished)
        about = np.array([finished.seconds, test_ratio])
        save_arrays(path, values=values, about=about)
        finished.path.unlink(missing_ok=True)
        name = f"{layout.setting.title}, preparation {place + 1}, {layout.models[model].spelling}"
        self.notify(f"{name}: {about[0]:.0f} s")
        return values, about


def save_arrays(path: Path, **arrays: Array) -> None:
    """Save arrays under their names, whole or not at all."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]  # numpy's stub takes names for allow_pickle
    write_atomically(path, [buffer.getvalue()])


class FinishedTrials:
    """The finished trials of a part, one variant of a score after the other: a stopped run goes on from them."""

    def __init__(self, path: Path, needed: BoolArray) -> None:
        self.path, self.left = path, np.flatnonzero(needed).tolist()
        self.values: dict[int, Array] = {}
        self.seconds = 0.0
        self._start = time.process_time()
        if path.exists():
            with np.load(path, allow_pickle=False) as saved:
                self.seconds = float(saved["seconds"])
                self.values = {int(key): saved[key] for key in saved.files if key != "seconds"}
        self.left = [v for v in self.left if v not in self.values]

    def add(self, variant: int, values: Array) -> None:
        """Add the values of a variant, and save all."""
        now = time.process_time()
        self.seconds, self._start = self.seconds + now - self._start, now
        self.values[variant] = values
        save_arrays(self.path, seconds=np.array(self.seconds), **{str(v): of for v, of in self.values.items()})


def _make_setting(layout: TrialLayout, prepared: Preparation) -> Setting:
    classifiers = {f"{i}": model.spelling for i, model in enumerate(layout.models)}
    scores = {
        f"{i}": {key: value for key, value in one.settings.items() if key != "name"}
        for i, one in enumerate(layout.contenders)
    }
    changed = {**prepared.setting.data, "scores": scores, "classifiers": classifiers, "sizes": layout.sizes}
    return Setting.from_dict(
        prepared.setting.name, {**changed, "options": dict(prepared.options), "first_splits": layout.multiverse.splits}
    )


def list_measures(setting: Setting) -> list[str]:
    """Return the measures of the trials: averages, and F1 of each class where the setting names them."""
    classes = [] if isinstance(setting.classes, int) else sorted(setting.classes)
    return ["f1_micro", "f1_macro", *(f"f1 of {label}" for label in classes)]


def run_preparation(
    layout: TrialLayout, setting: Setting, needed: BoolArray, trials: FinishedTrials
) -> tuple[Array, float]:
    """Run the trials of one preparation: replicates x variants x models x measures x sizes."""
    study = setting.study(1)
    n_measures = len(list_measures(layout.setting))
    n_splits = len(study.splits)
    n_replicates = 1 + SAMPLES if n_splits == 1 else n_splits
    shape = (n_replicates, len(layout.models), n_measures, len(layout.sizes))
    splits = [SplitData(study.corpus, study.plan, split) for split in study.splits] if trials.left else []
    for v in trials.left:
        found = np.full(shape, np.nan)
        for s, data in enumerate(splits):
            order = data.rank_columns(study.plan.scores[v]).rankings[0].order
            for m in np.flatnonzero(needed[v]):
                rows: Any = slice(None) if n_splits == 1 else [s]
                measured = _measure_trial(data, order, study.plan.classifiers[m], layout.sizes, n_splits == 1)
                found[rows, m] = measured[:, :n_measures]
        trials.add(v, found)
    values = np.full((n_replicates, len(layout.contenders), *shape[1:]), np.nan)
    for v, of_variant in trials.values.items():
        values[:, v] = of_variant
    first = study.splits[0]
    return values, len(first.test) / len(first.train)


def _measure_trial(data: SplitData, order: Int64Array, model: str, sizes: list[int], sampled: bool) -> Array:
    """Return replicates x measures x sizes of one trial."""
    known, truth = data.split_labels()
    seen, unseen = data.matrices[data.plan.weighting_of(model)]
    found = []
    for k in sizes:
        train, test = np.arange(seen.shape[0]), np.arange(unseen.shape[0])
        if data.plan.drop_empty:
            train, test = (find_nonempty_documents(X, order[:k]) for X in (seen, unseen))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            classes, codes, *_ = predict_curve(
                seen[train], known[train], unseen[test], order, [min(k, len(order))], data.make_model(model)
            )
        predicted, inside = _as_indicators(codes[0], truth[test], classes, data.classes)
        found.append(_measure(predicted, inside, _draw_weights(len(test)) if sampled else np.ones((1, len(test)))))
    return np.stack(found, axis=-1)


def _as_indicators(codes: Any, truth: Any, classes: Any, names: list[str]) -> tuple[BoolArray, BoolArray]:
    """Return predictions and labels as documents x classes."""
    if codes.ndim == 2:
        return codes.astype(bool), np.asarray(truth).astype(bool)
    columns = np.arange(len(names)) if truth.dtype.kind in "iu" else np.array(names)
    return classes[codes][:, None] == columns, truth[:, None] == columns


def _draw_weights(n: int) -> Array:
    """Return how often each document is in the published set (once), and in each sample of it."""
    random = np.random.default_rng(0)
    drawn = random.multinomial(n, np.full(n, 1 / n), size=SAMPLES)
    return np.concatenate([np.ones((1, n)), drawn])


def _measure(predicted: BoolArray, inside: BoolArray, weights: Array) -> Array:
    """Return replicates x measures: micro and macro F1, and F1 of each class."""
    hits = weights @ (predicted & inside)
    both = weights @ predicted.astype(float) + weights @ inside.astype(float)
    micro, of_class = ratio(2 * hits.sum(axis=1), both.sum(axis=1), empty=0.0), ratio(2 * hits, both, empty=0.0)
    return np.column_stack([micro, of_class.mean(axis=1), of_class])


def make_comparison(grid: Grid) -> Comparison:
    """Return the published split of the default world as the table of a study."""
    layout, world = grid.layout, np.zeros((1, len(grid.multiverse.choices)), np.int64)
    rows = []
    for name, spelling in grid.setting.classifiers.items():
        values = {measure: grid.gather(world, name, measure)[0, 0] for measure in grid.measures}
        for s, score in enumerate(layout.names):
            for at, k in enumerate(layout.sizes):
                for measure, of in values.items():
                    kind, _, label = measure.partition(" of ")
                    rows.append((0, 0, score, parse_recipe(spelling).spelling, k, label, kind, float(of[s, at])))
    columns = zip(*rows, strict=True)
    table = pa.table([pa.array(c, field.type) for c, field in zip(columns, SCHEMA, strict=True)], schema=SCHEMA)
    return Comparison(table, {"test_ratio": grid.test_ratio}, {"all trials": grid.seconds})

"""Runs of protocols: printed numbers beside ours, verdicts on claims, and their shares of worlds."""

from __future__ import annotations

import hashlib
import json
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow.compute as pc

from termsieve._version import __version__
from termsieve.classify.recipes import parse_recipe
from termsieve.reproduction.bayes_worlds import BayesRunner, can_share_sums
from termsieve.reproduction.beyond import study_beyond
from termsieve.reproduction.claims import DECIDED, HOLDS, Replicates, judge_claims
from termsieve.reproduction.fitted_worlds import DEFAULT_ONLY, FittedRunner, make_comparison
from termsieve.reproduction.grids import Grid
from termsieve.reproduction.judging import Judgement, find_nearest, judge_rankings, list_tables
from termsieve.reproduction.measurements import Measurements
from termsieve.reproduction.protocol import Figure, Protocol
from termsieve.reproduction.setting import Setting
from termsieve.reproduction.tables import load_uci_iris, make_cells, summarize_nearness
from termsieve.study.results import Comparison


class Runner(NamedTuple):
    """How settings are run: the folder of the journals, the number of threads, and where messages go."""

    folder: Path
    threads: int | None = None
    notify: Callable[[str], None] = lambda _: None
    progress: bool | None = None

    def run_sampled(self, setting: Setting) -> Grid:
        """Run a setting with one published split, and sample its test documents."""
        return FittedRunner(self.folder / "sampled", self.notify).run(DEFAULT_ONLY, setting)

    def run_worlds(self, protocol: Protocol) -> dict[str, Grid]:
        """Run the settings of the multiverse in all worlds, except what the folder has."""
        grids = {}
        for name in protocol.multiverse.settings or list(protocol.settings):
            setting = protocol.settings[name]
            maker = BayesRunner if can_share_sums(setting) else FittedRunner
            grids[name] = maker(self.folder / "worlds", self.notify).run(protocol.multiverse, setting)
        return grids

    def run_setting(self, setting: Setting) -> Comparison:
        """Run a setting, except the trials that its journal has, and return the result."""
        start = time.perf_counter()
        study = setting.study(self.threads)
        self.folder.mkdir(parents=True, exist_ok=True)
        identity = [study.description, [__version__, *(version(name) for name in ("numpy", "scipy", "scikit-learn"))]]
        digest = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            path = self.folder / f"{setting.name}-{digest[:12]}.journal"
            result = study.run_all(path, self.threads, progress=self.progress)
        self.notify(f"{setting.title}: {time.perf_counter() - start:.0f} s{_count_warnings(caught)}")
        return result


def _count_warnings(caught: list[warnings.WarningMessage]) -> str:
    """Count the warnings of libraries by kind: a fit that has not converged is no reason to stop."""
    kinds = Counter(one.category.__name__ for one in caught)
    return "".join(f"; {number} x {kind}" for kind, number in kinds.items())


def reproduce(protocol: Protocol, runner: Runner, *, worlds: bool = True) -> dict[str, Any]:
    """Run a protocol, and return all results as plain data; without worlds, only our settings."""
    start = time.perf_counter()
    protocol = protocol.without_missing_corpora()
    sampled = {name: runner.run_sampled(one) for name, one in protocol.settings.items() if has_published_split(one)}
    results = {
        name: make_comparison(sampled[name]) if name in sampled else runner.run_setting(setting)
        for name, setting in protocol.settings.items()
    }
    measurements = Measurements(protocol, results, runner.threads)
    grids = runner.run_worlds(protocol) if worlds and protocol.multiverse.choices else {}
    trials_done = time.process_time()
    found = assemble(protocol, measurements, sampled, grids)
    found["judging_cpu_seconds"] = round(time.process_time() - trials_done, 1)
    runner.notify(f"{protocol.name}: {time.perf_counter() - start:.0f} s")
    return found


def has_published_split(setting: Setting) -> bool:
    """Tell whether a setting has one split, whose test documents are sampled for the error of its measures."""
    one = "column" in setting.split or setting.split.get("times") == 1
    return one and not setting.stand_in_for and not setting.optional and not can_share_sums(setting)


def assemble(
    protocol: Protocol, measurements: Measurements, sampled: Mapping[str, Grid], grids: Mapping[str, Grid]
) -> dict[str, Any]:
    """Return the results of all runs as plain data."""
    cells, results = make_cells(measurements, protocol.tables), measurements.results
    claims = judge_claims(measurements, protocol.claims, sampled)
    found = {
        "paper": protocol.title,
        "termsieve": __version__,
        "setting": {name: setting.data for name, setting in protocol.settings.items()},
        "cells": [_round_cell(cell) for cell in cells],
        "near": summarize_nearness(cells),
        "claims": claims,
        "figures": [figure_data(measurements, figure) for figure in protocol.figures],
        "slice": select_slice(protocol, results),
        "beyond": study_beyond(measurements),
        "cpu_seconds": {name: round(sum(result.seconds.values()), 1) for name, result in results.items()},
    }
    if grids:
        found["multiverse"] = judge_worlds(protocol, Replicates(measurements, sampled), grids, claims)
    return found


def judge_worlds(
    protocol: Protocol, default: Replicates, grids: Mapping[str, Grid], claims: list[dict[str, Any]]
) -> dict[str, Any]:
    """Judge the claims in all worlds, write what is found into their records, and return what is about all of them."""
    judgement = Judgement(protocol, default, grids)
    null = judgement.shuffle_names()
    found = judgement.summarize_claims(null) | judge_rankings(protocol)
    found |= dict.fromkeys(judgement.not_run, NOT_RUN)
    for claim in claims:
        claim.update(found.get(claim["id"], _record_unchanged(claim)))
    multiverse = protocol.multiverse
    summary: dict[str, Any] = {
        "worlds": len(multiverse.worlds), "possible": multiverse.n_possible, "design": multiverse.design,
        "splits": multiverse.splits, "sizes": next(iter(grids.values())).layout.sizes,
        "replicates": [judgement.worlds.n_replicates, judgement.worlds.kind_of_replicates],
        "held": judgement.summarize_worlds(null), "curve": judgement.specification_curve(null),
    }  # fmt: skip
    summary["nearest"] = {group: find_nearest(judgement.worlds, protocol, group) for group in list_tables(protocol)}
    summary["cpu_seconds"] = round(sum(grid.seconds for grid in grids.values()), 1)
    return summary


NOT_RUN = {"share": None, "decided_by": "not run in worlds: its classifier is run in the default alone"}


def _record_unchanged(claim: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record of a claim that no choice changes, or that cannot be checked."""
    if claim["verdict"] not in DECIDED:
        return {"share": None, "decided_by": ""}
    return {"share": float(claim["verdict"] == HOLDS), "decided_by": "nothing: no choice changes it"}


# Figures

IRIS_FEATURES = {"iris": (2, 0), "iris left out": (1, 3)}  # of the paper's choice, and the others


def figure_data(measurements: Measurements, figure: Figure) -> dict[str, Any]:
    """Return the data of a figure."""
    about = {"id": figure.id, "title": figure.title, "kind": figure.kind}
    if figure.kind == "seconds":
        return {**about, "bars": {name: round(taken, 5) for name, taken in measurements.seconds(figure.group).items()}}
    if figure.kind == "class shares":
        corpus = measurements.study(figure.group).corpus
        sizes = zip(corpus.classes, np.asarray(corpus.Y.sum(axis=0)).ravel().tolist(), strict=True)
        return {**about, "bars": dict(sorted(sizes, key=lambda pair: -pair[1]))}
    if figure.kind in IRIS_FEATURES:
        X, y = load_uci_iris()
        at = IRIS_FEATURES[figure.kind]
        return {**about, "points": [[f"class {c + 1}", *row[list(at)].tolist()] for row, c in zip(X, y, strict=True)]}
    curves = {}
    for name in measurements.scores(figure.group, figure.classifier):
        values = measurements.values(figure.group, figure.classifier, name, figure.measure)
        curves[name] = [[k, round(float(np.mean(v)), 4)] for k, v in sorted(values.items())]
    return {**about, "measure": figure.measure, "curves": curves}


# The slice that is run again to see whether a number has drifted


def select_slice(protocol: Protocol, results: Mapping[str, Comparison]) -> list[dict[str, Any]]:
    """Return the rows of the full results that belong to the slice of a protocol."""
    return [row for name in protocol.slice for row in _iterate_slice(protocol, name, results[name])]


def run_slice(protocol: Protocol, threads: int | None = None) -> list[dict[str, Any]]:
    """Run the slice again, and return its rows."""
    results = {}
    for name, part in protocol.slice.items():
        setting = protocol.settings[name].restrict_grid(
            part["scores"], part["classifiers"], part["sizes"], first_splits=1
        )
        results[name] = setting.study(threads).run_all(threads=threads, progress=False)
    return select_slice(protocol, results)


def _iterate_slice(protocol: Protocol, name: str, result: Comparison) -> Iterator[dict[str, Any]]:
    part, setting = protocol.slice[name], protocol.settings[name]
    models = [parse_recipe(setting.classifiers[model]).spelling for model in part["classifiers"]]
    wanted = (
        (pc.field("label") == "") & (pc.field("repeat") == 0) & (pc.field("fold") == 0)
        & pc.field("score").isin(part["scores"]) & pc.field("classifier").isin(models)
        & pc.field("k").isin(part["sizes"]) & pc.field("measure").isin(part["measures"])
    )  # fmt: skip
    for row in result.table.filter(wanted).select(["score", "classifier", "k", "measure", "value"]).to_pylist():
        yield {"setting": name, **row}


def _round_cell(cell: dict[str, Any]) -> dict[str, Any]:
    return {key: round(value, 5) if isinstance(value, float) else value for key, value in cell.items()}

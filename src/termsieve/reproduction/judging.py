"""Claims in every world: the share in which they hold, the choice that decides it, and what luck would give."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from termsieve._types import Array, BoolArray, Int64Array
from termsieve.evaluate.influence import rank_choices
from termsieve.reproduction import checks, curve_checks  # noqa: F401 - they register the checks
from termsieve.reproduction.contexts import Curves
from termsieve.reproduction.grids import Grid
from termsieve.reproduction.margins import CHECKS
from termsieve.reproduction.measurements import Measurements
from termsieve.reproduction.protocol import Claim, PrintedTable, Protocol
from termsieve.reproduction.setting import Setting
from termsieve.reproduction.worlds import PREPARATION, Multiverse

# Claims of these kinds are the same in every world, and those of the second line follow from rankings alone.
WORLDLESS = ("time ratio", "linear cost", "bounded", "zero when equally present", "iris features", "iris separation")
OF_RANKINGS = ("shared terms", "differing terms", "frequent terms are high", "robust to wrong labels")
SHUFFLES = 100


class Worlds:
    """The curves of all worlds, as claims ask for them: worlds x scores x sizes.

    Classifiers that are not run in the worlds have the values of the default in all of them.
    """

    def __init__(self, measurements: Any, multiverse: Multiverse, grids: Mapping[str, Grid]) -> None:
        self.measurements, self.multiverse, self.grids = measurements, multiverse, grids
        self.groups = measurements.groups
        self.worlds = multiverse.worlds
        self.replicate: int | None = None  # the central values, or those of one split
        self.names: Mapping[str, str] = {}  # other names for the scores
        self.varies = False  # whether a claim has asked for curves that are run in the worlds
        self._cache: dict[tuple[str, str, str], Curves] = {}

    def classifiers(self, group: str) -> list[str]:
        """Return the classifiers of a group that claims are judged by in the worlds."""
        return [name for name in self.measurements.classifiers(group) if name not in self.multiverse.without]

    @property
    def n_replicates(self) -> int:
        """Number of splits, or of samples of the test documents, that all settings have; 0 where there is one."""
        number = min(grid.n_replicates for grid in self.grids.values())
        return number if number > 1 else 0

    @property
    def kind_of_replicates(self) -> str:
        """What the replicates are: splits, or samples of the test documents of one."""
        return "samples of the test documents" if any(grid.sampled for grid in self.grids.values()) else "splits"

    def take_replicate(self, number: int | None) -> None:
        """Take the values of one split or sample from now on, or the central ones."""
        self.replicate = number
        self._cache.clear()

    def curves(self, group: str, classifier: str, measure: str) -> Curves:
        """Return the curves of all worlds, under the names that the scores have now."""
        key = (group, classifier, measure)
        self.varies |= self.measurements.setting(group, classifier).name in self.grids
        if key not in self._cache:
            self._cache[key] = self._find_curves(group, classifier, measure)
        found: Curves = self._cache[key]
        return found._replace(scores=[self.names.get(name, name) for name in found.scores])

    def _find_curves(self, group: str, classifier: str, measure: str) -> Curves:
        setting = self.measurements.setting(group, classifier)
        grid = self.grids.get(setting.name)
        if grid is None:
            names, sizes, given = self.measurements.curves(group, classifier, measure)
            return Curves(names, sizes, np.broadcast_to(given[0], (len(self.worlds), *given.shape[1:])))
        values = self._gather_chosen(grid, classifier, measure)
        for i in self.multiverse.choices_of(setting.name, "average"):
            for n, reading in enumerate(self.multiverse.choices[i].readings):
                if reading.change:
                    other = f"{measure.rpartition('_')[0]}_{reading.change['average']}"
                    chosen = self.worlds[:, i] == n
                    values[chosen] = self._gather_chosen(grid, classifier, other)[chosen]
        return Curves(grid.layout.names, grid.layout.sizes, values)

    def _gather_chosen(self, grid: Grid, classifier: str, measure: str) -> Array:
        """Return the values of the replicate that is taken: by default the mean of splits, or the published split."""
        if self.replicate is None:
            taken = slice(0, 1) if grid.sampled else slice(None)
        else:
            first = self.replicate + grid.sampled
            taken = slice(first, first + 1)
        return np.asarray(grid.gather(self.worlds, classifier, measure, taken).mean(axis=1))

    def holds(self, claim: Claim) -> BoolArray:
        """Tell in which worlds a claim holds: in all its cases, or in as many as are enough."""
        margins = CHECKS[claim.check](self, claim.where).values
        enough = claim.where.get("enough", margins.shape[-1])
        return np.asarray((margins >= -1e-9).sum(axis=-1) >= enough)


def iterate_orders(names: Sequence[str], number: int, seed: int) -> Iterator[Sequence[str]]:
    """Yield orders of names at random or, where there are not more than that number, all."""
    if math.factorial(len(names)) <= number:
        yield from itertools.permutations(names)
        return
    random = np.random.default_rng(seed)
    for _ in range(number):
        yield random.permutation(names).tolist()


class Judgement:
    """What all worlds say of the claims of a paper."""

    def __init__(self, protocol: Protocol, default: Any, grids: Mapping[str, Grid]) -> None:
        self.protocol, self.multiverse = protocol, protocol.multiverse
        self.worlds = Worlds(default, protocol.multiverse, grids)
        of_curves = [one for one in protocol.claims if self._is_of_curves(one)]
        self.claims = [one for one in of_curves if self._varies(one)]
        self.not_run = [one.id for one in of_curves if one not in self.claims]

    def _is_of_curves(self, claim: Claim) -> bool:
        if claim.check in (*WORLDLESS, *OF_RANKINGS, "cited"):
            return False
        groups = claim.where.get("groups", [claim.where["group"]] if "group" in claim.where else [])
        return all(group in self.worlds.groups for group in groups)

    def _varies(self, claim: Claim) -> bool:
        """Tell whether a claim is about a classifier that is run in the worlds."""
        self.worlds.varies = False
        self.worlds.holds(claim)
        return self.worlds.varies

    @cached_property
    def held(self) -> dict[str, BoolArray]:
        """In which worlds each claim about curves holds."""
        return {claim.id: self.worlds.holds(claim) for claim in self.claims}

    def shares_by_replicate(self) -> dict[str, list[float]]:
        """Return the share of worlds in which each claim holds on each split, or sample of test documents, alone."""
        shares: dict[str, list[float]] = {claim.id: [] for claim in self.claims}
        for replicate in range(self.worlds.n_replicates):
            self.worlds.take_replicate(replicate)
            for claim in self.claims:
                shares[claim.id].append(float(self.worlds.holds(claim).mean()))
        self.worlds.take_replicate(None)
        return shares

    def shuffle_names(self, shuffles: int = SHUFFLES, seed: int = 0) -> dict[str, Any]:
        """Judge all claims with the names of the scores shuffled."""
        names = list(next(iter(self.worlds.grids.values())).setting.scores)
        shares: dict[str, list[float]] = {claim.id: [] for claim in self.claims}
        best, typical = [], []
        levels = np.zeros(len(self.claims) + 1)
        orders = list(iterate_orders(names, shuffles, seed))
        for order in orders:
            self.worlds.names = dict(zip(names, order, strict=True))
            held = [self.worlds.holds(claim) for claim in self.claims]
            for claim, one in zip(self.claims, held, strict=True):
                shares[claim.id].append(float(one.mean()))
            number = np.sum(held, axis=0)
            best.append(int(number.max()))
            typical.append(float(np.median(number)))
            levels += np.bincount(number, minlength=len(levels)) / len(number)
        self.worlds.names = {}
        return {"shares": shares, "best": best, "typical": typical, "levels": (levels / len(orders)).tolist()}

    def summarize_claims(self, null: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        """Return share, its interval over splits or samples, deciding choice and null of each claim about curves."""
        by_replicate, found = self.shares_by_replicate(), {}
        for name, held in self.held.items():
            share = float(held.mean())
            one: dict[str, Any] = {"share": round(share, 4), "decided_by": self.find_deciding(held)}
            if by_replicate[name]:
                one["interval"] = self._find_interval(by_replicate[name])
            shares = np.array(null["shares"][name])
            one["null"] = {
                "share": round(float(shares.mean()), 4),
                "as_high": round(float((shares >= share - 1e-12).mean()), 4),
            }
            found[name] = one
        return found

    def _find_interval(self, shares: Sequence[float]) -> list[float]:
        """Return the lowest and highest share over few splits, or where 95 % of many samples lie."""
        within = (0, 100) if self.worlds.kind_of_replicates == "splits" else (2.5, 97.5)
        return [round(float(end), 4) for end in np.percentile(shares, within)]

    def find_deciding(self, held: BoolArray) -> str:
        """Name the choice that decides most whether a claim holds, and how much of it."""
        return name_deciding(
            {one.name: self.worlds.worlds[:, i] for i, one in enumerate(self.multiverse.choices)}, held
        )

    def summarize_worlds(self, null: Mapping[str, Any]) -> dict[str, Any]:
        """Return how many claims hold in the best and the usual world, and with shuffled names."""
        number = np.sum(list(self.held.values()), axis=0)
        best = int(number.argmax())
        luck = {
            "shuffles": len(null["best"]), "best_median": float(np.median(null["best"])),
            "best_highest": max(null["best"]), "median": float(np.median(null["typical"])),
            "best_as_high": round(float(np.mean(np.array(null["best"]) >= number[best])), 4),
        }  # fmt: skip
        return {
            "claims": len(self.held), "default": int(number[0]), "best": int(number[best]),
            "median": float(np.median(number)), "best_world": self.multiverse.describe(self.worlds.worlds[best]),
            "null": luck,
        }  # fmt: skip

    def specification_curve(self, null: Mapping[str, Any]) -> dict[str, Any]:
        """Return how many worlds meet each number of claims, and the share of each reading among them.

        Worlds that meet equally many are not told apart: any order among them would be that of our list.
        """
        number = np.sum(list(self.held.values()), axis=0)
        levels = np.unique(number)
        readings = [
            {
                "choice": one.name, "reading": reading.name, "of": len(one.readings),
                "shares": [round(float((self.worlds.worlds[number == at, i] == n).mean()), 3) for at in levels],
            }
            for i, one in enumerate(self.multiverse.choices)
            for n, reading in enumerate(one.readings)
        ]  # fmt: skip
        return {
            "claims": len(self.held), "default": int(number[0]), "levels": levels.tolist(),
            "worlds": [int((number == at).sum()) for at in levels], "readings": readings,
            "null": [round(share, 5) for share in null["levels"]],
        }  # fmt: skip


# Claims that follow from rankings


def judge_rankings(protocol: Protocol) -> dict[str, dict[str, Any]]:
    """Judge each claim that follows from rankings in every preparation and variant of the scores.

    A claim that names the ``choices`` that can change it is judged in their combinations alone.
    """
    return {one.id: _judge_ranking(protocol, one) for one in protocol.claims if one.check in OF_RANKINGS}


def _judge_ranking(protocol: Protocol, claim: Claim) -> dict[str, Any]:
    multiverse = protocol.multiverse
    changing = [
        i for i, one in enumerate(multiverse.choices)
        if one.part in (PREPARATION, "scores") and one.name in claim.where.get("choices", [one.name])
    ]  # fmt: skip
    distinct = np.unique(multiverse.worlds[:, changing], axis=0)
    held = []
    for numbers in distinct:
        measurements = Measurements(_change_protocol(protocol, changing, numbers), {}, 1)
        measurements.resamples = 0
        margins = CHECKS[claim.check](measurements, claim.where).values[0]
        held.append(bool((margins >= 0).all()))
    made = {multiverse.choices[i].name: distinct[:, place] for place, i in enumerate(changing)}
    return {"share": round(float(np.mean(held)), 4), "decided_by": name_deciding(made, held)}


def name_deciding(made: Mapping[str, Any], held: Any) -> str:
    """Name the choice that decides most whether a claim holds, and how much of it."""
    first = rank_choices(made, held)[0]
    return f"{first.choice} ({first.share:.0%})" if first.share > 0 else "nothing"


def _change_protocol(protocol: Protocol, choices: Sequence[int], numbers: Int64Array) -> Protocol:
    settings: dict[str, Setting] = dict(protocol.settings)
    for i, number in zip(choices, numbers.tolist(), strict=True):
        choice = protocol.multiverse.choices[i]
        for name in protocol.multiverse.settings or list(settings):
            if choice.concerns(name):
                settings[name] = settings[name].with_changes(choice.readings[number].change)
    return replace(protocol, settings=settings)


# The world nearest to print


def find_nearest(worlds: Worlds, protocol: Protocol, group: str, shuffles: int = SHUFFLES) -> dict[str, Any]:
    """Return how near the tables of a corpus come to print in one world, by chance, and on the table not chosen on."""
    tables = list_tables(protocol)[group]
    gaps = {f"{one.where['size']} words": _table_gaps(worlds, group, one) for one in tables}
    whole = np.concatenate(list(gaps.values()), axis=1)
    nearest = int(whole.mean(axis=1).argmin())
    found: dict[str, Any] = {
        "cells": whole.shape[1], "default": _count_near(whole[0]), "nearest": _count_near(whole[nearest]),
        "world": worlds.multiverse.describe(worlds.worlds[nearest]),
    }  # fmt: skip
    for name, own in gaps.items() if len(gaps) > 1 else ():
        chosen = int(own.mean(axis=1).argmin())
        others = np.concatenate([gap for other, gap in gaps.items() if other != name], axis=1)
        found[f"chosen on {name}"] = {
            "there": _count_near(own[chosen]),
            "on the other table": _count_near(others[chosen]),
        }
    by_chance = []
    names = list(tables[0].cells[next(iter(tables[0].cells))])
    for order in iterate_orders(names, shuffles, 0):
        worlds.names = dict(zip(names, order, strict=True))
        shuffled = np.concatenate([_table_gaps(worlds, group, one) for one in tables], axis=1)
        by_chance.append(_count_near(shuffled[int(shuffled.mean(axis=1).argmin())]))
    worlds.names = {}
    found["null"] = {key: round(float(np.median([one[key] for one in by_chance])), 4) for key in by_chance[0]}
    found["null as near"] = round(
        float(np.mean([one["mean difference"] <= found["nearest"]["mean difference"] for one in by_chance])), 4
    )
    return found


def list_tables(protocol: Protocol) -> dict[str, list[PrintedTable]]:
    """Return the printed tables of measures, by group."""
    found: dict[str, list[PrintedTable]] = {}
    for one in protocol.tables:
        if one.kind == "measures":
            found.setdefault(one.where.get("group", next(iter(protocol.groups))), []).append(one)
    return found


def _table_gaps(worlds: Worlds, group: str, table: PrintedTable) -> Array:
    """Return the distances to print of the cells of the classifiers that are run in the worlds: worlds x cells."""
    gaps, scale = [], table.where.get("scale", 1)
    for row, columns in table.cells.items():
        about = {"classifier": row, "measure": table.where.get("measure"), **table.where.get("rows", {}).get(row, {})}
        if worlds.measurements.setting(group, about["classifier"]).name not in worlds.grids:
            continue
        curves = worlds.curves(group, about["classifier"], about["measure"])
        at = curves.values[..., curves.sizes.index(table.where["size"])]
        for column, printed in columns.items():
            low = printed / scale
            high = low + 0.09 if f"{row} / {column}" in table.truncated else low
            ours = at[:, curves.scores.index(column)]
            gaps.append(np.maximum(np.maximum(low - ours, ours - high), 0.0))
    return np.stack(gaps, axis=1)


def _count_near(gaps: Array) -> dict[str, float]:
    counted = {f"within {bound}": int((gaps <= bound + 1e-6).sum()) for bound in (0.03, 0.05)}
    return {"cells": gaps.size, **counted, "mean difference": round(float(gaps.mean()), 4)}

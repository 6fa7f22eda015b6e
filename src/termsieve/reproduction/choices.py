"""What a paper leaves open: each alternative is run, and what it moves is written down."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from termsieve.reproduction.claims import judged
from termsieve.reproduction.measured import Measured
from termsieve.reproduction.protocol import Alternative, Choice, Printed, Protocol
from termsieve.reproduction.setting import Setting
from termsieve.reproduction.tables import SHARES, Cell, cells, nearness
from termsieve.results import Comparison

# Claims of these kinds do not depend on a setting.
ALONE = ("time ratio", "linear cost", "bounded", "zero when equally present", "iris features", "not checkable")


class Default(NamedTuple):
    """What came out under the setting that we take."""

    measured: Measured
    results: Mapping[str, Comparison]
    cells: list[Cell]
    claims: list[dict[str, str]]


def tried_out(default: Default, choice: Choice, run: Callable[[Setting, str], Comparison]) -> dict[str, Any]:
    """A choice, and what each of its alternatives moves."""
    about = {"question": choice.question, "default": choice.default, "because": choice.because}
    rows = []
    for alternative in choice.alternatives:
        protocol = _changed(default.measured.protocol, choice, alternative)
        fresh = {name: run(protocol.settings[name], f" ({alternative.name})") for name in choice.settings}
        measured = Measured(protocol, {**default.results, **fresh}, default.measured.threads)
        rows.append({"name": alternative.name, "change": alternative.change, **_effect(default, choice, measured)})
    return {**about, "settings": list(choice.settings), "alternatives": rows}


def _changed(protocol: Protocol, choice: Choice, alternative: Alternative) -> Protocol:
    """The protocol with the alternative in the settings that the choice concerns."""
    settings = dict(protocol.settings)
    for name in choice.settings:
        part = settings[name].reduced(choice.scores, choice.classifiers, choice.sizes, choice.first_splits)
        settings[name] = part.changed(alternative.change)
    return replace(protocol, settings=settings)


def _effect(default: Default, choice: Choice, measured: Measured) -> dict[str, Any]:
    """How far measures move, how near print is then, and which verdicts change."""
    moves = [abs(a - b) for a, b in _pairs(default.measured, measured, choice)]
    effect: dict[str, Any] = {"moved": round(float(np.mean(moves)), 4), "moved most": round(float(np.max(moves)), 4)}
    ours = cells(measured, list(_touched(measured.protocol, choice)))
    if ours:
        same = {_place(cell) for cell in ours}
        before = [cell for cell in default.cells if _place(cell) in same]
        effect |= {"near": nearness(ours), "near by default": nearness(before)}
    if choice.scores is None and choice.classifiers is None and choice.sizes is None:
        effect["verdicts changed"] = list(_new_verdicts(default, measured))
    return effect


def _place(cell: Cell) -> tuple[str, str, str]:
    return cell["table"], cell["row"], cell["column"]


def _pairs(before: Measured, after: Measured, choice: Choice) -> Iterator[tuple[float, float]]:
    """What the figures show, before and after, wherever both were measured."""
    groups = {before.protocol.settings[name].group for name in choice.settings}
    for figure in before.protocol.figures:
        if figure.group not in groups or after.setting_or_none(figure.group, figure.classifier) is None:
            continue
        if after.setting(figure.group, figure.classifier).name not in choice.settings:
            continue
        old, new = (one.means(figure.group, figure.classifier, figure.measure) for one in (before, after))
        for name in set(old) & set(new):
            yield from ((old[name][k], new[name][k]) for k in set(old[name]) & set(new[name]))


def _touched(protocol: Protocol, choice: Choice) -> Iterator[Printed]:
    """The printed tables of measures that the choice concerns, with the cells that were run."""
    settings = [protocol.settings[name] for name in choice.settings]
    for table in protocol.tables:
        group = table.where.get("group", next(iter(protocol.groups)))
        mine = [one for one in settings if one.group == group]
        if table.kind not in SHARES or not mine or table.where.get("size", mine[0].sizes[-1]) not in mine[0].sizes:
            continue
        if table.kind == "overlaps":
            yield table
            continue
        models = {model for one in mine for model in one.classifiers}
        rows = {
            row: {column: value for column, value in columns.items() if column in mine[0].scores}
            for row, columns in table.cells.items()
            if table.where.get("rows", {}).get(row, {}).get("classifier", row) in models
        }
        yield replace(table, cells=rows, exchange=table.exchange if set(table.exchange) <= set(rows) else ())


def _new_verdicts(default: Default, measured: Measured) -> Iterator[str]:
    before = {verdict["id"]: verdict["verdict"] for verdict in default.claims}
    claims = [claim for claim in measured.protocol.claims if claim.check not in ALONE]
    for verdict in judged(measured, claims):
        if verdict["verdict"] != before[verdict["id"]]:
            yield f"{verdict['id']} {verdict['verdict']}"

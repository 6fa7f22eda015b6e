"""What a paper leaves open: each alternative is run, and what it moves is written down."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from termsieve.reproduction.checks import ALONE
from termsieve.reproduction.claims import judged
from termsieve.reproduction.measurements import Measured
from termsieve.reproduction.protocol import Alternative, Choice, Claim, Printed, Protocol
from termsieve.reproduction.setting import Setting
from termsieve.reproduction.tables import SHARES, cells, nearness
from termsieve.study.results import Comparison


def tried_out(measured: Measured, choice: Choice, run: Callable[[Setting, str], Comparison]) -> dict[str, Any]:
    """A choice, and what each of its alternatives moves, against what was measured by default on the same splits."""
    about = {"question": choice.question, "default": choice.default, "because": choice.because}
    default = Measured(measured.protocol, measured.results, measured.threads, choice.first_splits)
    rows = []
    for alternative in choice.alternatives:
        protocol = _changed(measured.protocol, choice, alternative)
        fresh = {name: run(protocol.settings[name], f" ({alternative.name})") for name in choice.settings}
        after = Measured(protocol, {**measured.results, **fresh}, measured.threads, choice.first_splits)
        rows.append({"name": alternative.name, "change": alternative.change, **_effect(default, after, choice)})
    return {**about, "settings": list(choice.settings), "alternatives": rows}


def _changed(protocol: Protocol, choice: Choice, alternative: Alternative) -> Protocol:
    """The protocol with the alternative in the settings that the choice concerns."""
    settings = dict(protocol.settings)
    for name in choice.settings:
        part = settings[name].reduced(choice.scores, choice.classifiers, choice.sizes, choice.first_splits)
        settings[name] = part.changed(alternative.change)
    return replace(protocol, settings=settings)


def _effect(default: Measured, after: Measured, choice: Choice) -> dict[str, Any]:
    """How far measures move, how near print is then, and which verdicts change."""
    moves = [abs(a - b) for a, b in _pairs(default, after, choice)]
    effect: dict[str, Any] = {"moved": round(float(np.mean(moves)), 4)}
    tables = list(_touched(after.protocol, choice))
    if tables:
        effect |= {"near": nearness(cells(after, tables)), "near by default": nearness(cells(default, tables))}
    if choice.scores is None and choice.classifiers is None and choice.sizes is None:
        effect["verdicts changed"] = list(_new_verdicts(default, after, choice))
    return effect


def _pairs(before: Measured, after: Measured, choice: Choice) -> Iterator[tuple[float, float]]:
    """What the figures show, before and after, wherever both were measured."""
    for figure in before.protocol.figures:
        if figure.kind != "curves" or not _concerns(choice, after, figure.group, figure.classifier):
            continue
        old, new = (one.means(figure.group, figure.classifier, figure.measure) for one in (before, after))
        for name in set(old) & set(new):
            yield from ((old[name][k], new[name][k]) for k in set(old[name]) & set(new[name]))


def _concerns(choice: Choice, measured: Measured, group: str, classifier: str) -> bool:
    setting = measured.setting_or_none(group, classifier) if group in measured.groups else None
    return setting is not None and setting.name in choice.settings


def _touched(protocol: Protocol, choice: Choice) -> Iterator[Printed]:
    """The printed tables of shares that the choice concerns, with the cells that were run."""
    settings = [protocol.settings[name] for name in choice.settings]
    for table in protocol.tables:
        group = table.where.get("group", next(iter(protocol.groups)))
        mine = [one for one in settings if one.group == group]
        if table.kind not in SHARES or not mine:
            continue
        rows = {
            row: {column: value for column, value in columns.items() if _was_run(table, row, column, mine)}
            for row, columns in table.cells.items()
        }
        if any(rows.values()):
            yield replace(table, cells=rows)


def _was_run(table: Printed, row: str, column: str, settings: list[Setting]) -> bool:
    largest = settings[0].sizes[-1]
    if table.kind == "overlaps":
        return int(column.removesuffix("d")) <= largest and set(row.split(" vs ")) <= set(settings[0].scores)
    classifier = table.where.get("rows", {}).get(row, {}).get("classifier", row)
    return table.where["size"] in settings[0].sizes and any(
        classifier in one.classifiers and column in one.scores for one in settings
    )


def _new_verdicts(default: Measured, after: Measured, choice: Choice) -> Iterator[str]:
    """Verdicts on the claims about curves, before and after, with the classifiers that were run again."""
    claims = [
        narrowed
        for claim in after.protocol.claims
        if claim.check not in ALONE and (narrowed := _narrowed(claim, after, choice))
    ]
    for old, new in zip(judged(default, claims), judged(after, claims), strict=True):
        if old["verdict"] != new["verdict"]:
            yield f"{new['id']} {new['verdict']}"


def _narrowed(claim: Claim, measured: Measured, choice: Choice) -> Claim | None:
    """A claim about those of its groups and classifiers that the choice concerns; None if there are none."""
    where = claim.where
    groups = where.get("groups", [where["group"]] if "group" in where else list(measured.groups))
    found: Mapping[str, list[str]] = {
        group: [
            model
            for model in where.get(
                "classifiers", [where["classifier"]] if "classifier" in where else measured.classifiers(group)
            )
            if _concerns(choice, measured, group, model)
        ]
        for group in groups
        if group in measured.groups
    }
    models = sorted({model for of_group in found.values() for model in of_group})
    groups = [group for group in groups if found.get(group)]
    if not models or not groups:
        return None
    kept = {key: value for key, value in where.items() if key not in ("group", "groups", "classifier", "classifiers")}
    return replace(claim, where={**kept, "groups": groups, "classifiers": models})

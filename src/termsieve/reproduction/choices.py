"""Choices that a paper leaves open: each alternative is run, and its effect is recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from termsieve.reproduction.checks import SETTING_INDEPENDENT
from termsieve.reproduction.claims import judge_claims
from termsieve.reproduction.measurements import Measurements
from termsieve.reproduction.protocol import Alternative, Claim, OpenChoice, PrintedTable, Protocol
from termsieve.reproduction.setting import Setting
from termsieve.reproduction.tables import SHARE_SCALES, make_cells, summarize_nearness
from termsieve.study.results import Comparison


def try_alternatives(
    measurements: Measurements, choice: OpenChoice, run: Callable[[Setting, str], Comparison]
) -> dict[str, Any]:
    """Run the alternatives of a choice, and return their effects against the default on the same splits."""
    about = {"question": choice.question, "default": choice.default, "because": choice.because}
    default = Measurements(measurements.protocol, measurements.results, measurements.threads, choice.first_splits)
    rows = []
    for alternative in choice.alternatives:
        protocol = _apply_alternative(measurements.protocol, choice, alternative)
        fresh = {name: run(protocol.settings[name], f" ({alternative.name})") for name in choice.settings}
        after = Measurements(protocol, {**measurements.results, **fresh}, measurements.threads, choice.first_splits)
        rows.append({"name": alternative.name, "change": alternative.change, **_measure_effect(default, after, choice)})
    return {**about, "settings": list(choice.settings), "alternatives": rows}


def _apply_alternative(protocol: Protocol, choice: OpenChoice, alternative: Alternative) -> Protocol:
    """Return the protocol with the alternative in the settings that the choice concerns."""
    settings = dict(protocol.settings)
    for name in choice.settings:
        part = settings[name].restrict_grid(choice.scores, choice.classifiers, choice.sizes, choice.first_splits)
        settings[name] = part.with_changes(alternative.change)
    return replace(protocol, settings=settings)


def _measure_effect(default: Measurements, after: Measurements, choice: OpenChoice) -> dict[str, Any]:
    """Return how far measures move, how near to print they are then, and which verdicts change."""
    moves = [abs(a - b) for a, b in _paired_means(default, after, choice)]
    effect: dict[str, Any] = {"moved": round(float(np.mean(moves)), 4)}
    tables = list(_affected_tables(after.protocol, choice))
    if tables:
        effect |= {
            "near": summarize_nearness(make_cells(after, tables)),
            "near by default": summarize_nearness(make_cells(default, tables)),
        }
    if choice.scores is None and choice.classifiers is None and choice.sizes is None:
        effect["verdicts changed"] = list(_changed_verdicts(default, after, choice))
    return effect


def _paired_means(before: Measurements, after: Measurements, choice: OpenChoice) -> Iterator[tuple[float, float]]:
    """Yield the values of the figures, before and after, wherever both were measured."""
    for figure in before.protocol.figures:
        if figure.kind != "curves" or not _concerns(choice, after, figure.group, figure.classifier):
            continue
        old, new = (one.means(figure.group, figure.classifier, figure.measure) for one in (before, after))
        for name in set(old) & set(new):
            yield from ((old[name][k], new[name][k]) for k in set(old[name]) & set(new[name]))


def _concerns(choice: OpenChoice, measurements: Measurements, group: str, classifier: str) -> bool:
    setting = measurements.find_setting(group, classifier) if group in measurements.groups else None
    return setting is not None and setting.name in choice.settings


def _affected_tables(protocol: Protocol, choice: OpenChoice) -> Iterator[PrintedTable]:
    """Yield the printed tables of shares that the choice concerns, with the cells that were run."""
    settings = [protocol.settings[name] for name in choice.settings]
    for table in protocol.tables:
        group = table.where.get("group", next(iter(protocol.groups)))
        mine = [one for one in settings if one.group == group]
        if table.kind not in SHARE_SCALES or not mine:
            continue
        rows = {
            row: {column: value for column, value in columns.items() if _was_run(table, row, column, mine)}
            for row, columns in table.cells.items()
        }
        if any(rows.values()):
            yield replace(table, cells=rows)


def _was_run(table: PrintedTable, row: str, column: str, settings: list[Setting]) -> bool:
    largest = settings[0].sizes[-1]
    if table.kind == "overlaps":
        return int(column.removesuffix("d")) <= largest and set(row.split(" vs ")) <= set(settings[0].scores)
    classifier = table.where.get("rows", {}).get(row, {}).get("classifier", row)
    return table.where["size"] in settings[0].sizes and any(
        classifier in one.classifiers and column in one.scores for one in settings
    )


def _changed_verdicts(default: Measurements, after: Measurements, choice: OpenChoice) -> Iterator[str]:
    """Yield changed verdicts on the claims about curves, with the classifiers that were run again."""
    claims = [
        narrowed
        for claim in after.protocol.claims
        if claim.check not in SETTING_INDEPENDENT and (narrowed := _narrow_claim(claim, after, choice))
    ]
    for old, new in zip(judge_claims(default, claims), judge_claims(after, claims), strict=True):
        if old["verdict"] != new["verdict"]:
            yield f"{new['id']} {new['verdict']}"


def _narrow_claim(claim: Claim, measurements: Measurements, choice: OpenChoice) -> Claim | None:
    """Narrow a claim to the groups and classifiers that the choice concerns; None if there are none."""
    where = claim.where
    groups = where.get("groups", [where["group"]] if "group" in where else list(measurements.groups))
    concerned: Mapping[str, list[str]] = {
        group: [
            model
            for model in where.get(
                "classifiers", [where["classifier"]] if "classifier" in where else measurements.classifiers(group)
            )
            if _concerns(choice, measurements, group, model)
        ]
        for group in groups
        if group in measurements.groups
    }
    models = sorted({model for of_group in concerned.values() for model in of_group})
    groups = [group for group in groups if concerned.get(group)]
    if not models or not groups:
        return None
    other = {key: value for key, value in where.items() if key not in ("group", "groups", "classifier", "classifiers")}
    return replace(claim, where={**other, "groups": groups, "classifiers": models})

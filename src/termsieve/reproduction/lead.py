"""What both documents have: the table of all claims, the worlds nearest to print, rewritten checks, and the cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from termsieve.reproduction.markdown import format_bullets, format_table
from termsieve.reproduction.protocol import Protocol


def render_lead(protocols: Mapping[str, Protocol], results: Mapping[str, dict[str, Any]]) -> str:
    """Render the one table of all claims."""
    rows = []
    for name, protocol in protocols.items():
        says = {claim.id: claim.says for claim in protocol.claims}
        for one in results[name]["claims"]:
            verdict = f"**{one['verdict']}**{', fragile' if one.get('fragile') else ''}"
            rows.append([one["id"], says[one["id"]], verdict, *_worlds_cells(one)])
    return format_table(["claim", "the paper says", "default", "worlds", "decides", "null"], rows)


def _worlds_cells(claim: Mapping[str, Any]) -> list[str]:
    share, between, null = claim.get("share"), claim.get("interval"), claim.get("null")
    shown = "" if share is None else f"{share:.0%}" + (f" ({between[0]:.0%} to {between[1]:.0%})" if between else "")
    luck = "" if null is None else f"{null['share']:.0%}; {null['as_high']:.0%} as high"
    return [shown, str(claim.get("decided_by") or ""), luck]


def render_nearest(nearest: Mapping[str, Any]) -> str:
    """Render how near each printed table comes in one world, by chance, and on the table it was not chosen on."""
    rows, worlds = [], []
    for group, one in nearest.items():
        ways = {"default": one["default"], "nearest world": one["nearest"], "by chance: names shuffled": one["null"]}
        for name, of in one.items():
            if name.startswith("chosen on"):
                ways[f"{name}, there"], ways[f"{name}, on the other table"] = of["there"], of["on the other table"]
        rows += [
            [group if n == 0 else "", way, near.get("cells", one["cells"]),
             f"{near['within 0.03']:g}", f"{near['within 0.05']:g}", f"{near['mean difference']:.3f}"]
            for n, (way, near) in enumerate(ways.items())
        ]  # fmt: skip
        readings = "; ".join(f"{name}: {reading}" for name, reading in one["world"].items())
        worlds.append(f"{group}: {readings}. Shuffles that come as near: {one['null as near']:.0%}.")
    head = ["corpus", "", "cells", "within .03", "within .05", "mean difference"]
    return f"{format_table(head, rows)}\n\n{format_bullets(worlds)}"


def render_rewritten(protocols: Mapping[str, Protocol]) -> str:
    """Render which checks were rewritten after results of them had been seen."""
    return format_bullets([line for protocol in protocols.values() for line in protocol.rewritten])


def count_minutes(results: Mapping[str, Any]) -> tuple[float, float, float]:
    """Return the CPU minutes of a paper: its default settings, its worlds, and judging them."""
    seconds = sum(results["cpu_seconds"].values()), results["multiverse"]["cpu_seconds"], results["judging_cpu_seconds"]
    default, worlds, judging = (one / 60 for one in seconds)
    return default, worlds, judging

"""A reproduction in the terminal: printed numbers beside ours, verdicts, shares of worlds, and the time."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from termsieve import datasets
from termsieve.files import make_folder, write_atomically
from termsieve.reproduction.protocol import Protocol
from termsieve.reproduction.run import Runner, reproduce
from termsieve.study.journal import locate_journals
from termsieve.views import format_percent

_FINISHED = ("*.journal", "worlds/*.npy", "worlds/*.npz", "sampled/*.npz")  # files of finished parts of a run
_VERDICT_COLORS = {"holds": "green", "partly": "yellow", "undecided": "yellow", "does not hold": "red"}


def run_and_show(
    protocol: Protocol,
    runner: Runner,
    *,
    into: Path | None = None,
    worlds: bool = True,
    console: Console | None = None,
) -> dict[str, Any]:
    """Run a protocol, show the results and, with ``into``, write them to a file."""
    console = console or Console()
    check_ready([protocol], into)
    console.rule(f"[bold]{protocol.title}")
    console.print(protocol.about, highlight=False)
    results = reproduce(protocol, runner, worlds=worlds)
    for one in (_cells_table(results), _claims_table(protocol, results)):
        if one.row_count:
            console.print(one)
    for way, near in results["near"].items():
        if near["cells"]:
            counted = ", ".join(f"{near[key]} {key}" for key in near if key.startswith("within"))
            console.print(f"Of {near['cells']} measured cells, {way}: {counted}.", highlight=False)
    for title, lines in (("Why we differ", protocol.findings), ("Errata found in the paper", protocol.errata)):
        if lines:
            console.print(f"[bold]{title}[/]")
            for line in lines:
                console.print(Padding(Text(line), (0, 0, 0, 2)))
    if into is not None:
        write_atomically(into / f"{protocol.name}.json", [_to_json(results).encode()])
    return results


def prepare_journals(protocol: Protocol, journals: Path | None = None, *, fresh: bool = False) -> Path:
    """Return the folder of the journals of a paper; with ``fresh``, delete those of earlier runs."""
    return locate_journals(protocol.name, journals, fresh=fresh, kinds=_FINISHED)


def check_ready(protocols: Sequence[Protocol], into: Path | None) -> None:
    """Refuse a missing corpus, or a folder that cannot be written, before an hour is spent."""
    for protocol in protocols:
        for setting in protocol.without_missing_corpora().settings.values():
            datasets.find(setting.corpus)
    if into is not None:
        make_folder(into, "gu.json")


def _to_json(results: dict[str, Any]) -> str:
    """Return JSON with one record per line, so that versions can be compared."""

    def parts(value: Any) -> str:
        if isinstance(value, list) and value:
            return "[\n" + ",\n".join(json.dumps(one, ensure_ascii=False) for one in value) + "\n]"
        return json.dumps(value, ensure_ascii=False)

    return "{\n" + ",\n".join(f"{json.dumps(key)}: {parts(value)}" for key, value in results.items()) + "\n}\n"


def _cells_table(results: dict[str, Any]) -> Table:
    table = Table("table", "row", "column", "printed", "ours", "sd", "difference", title="Printed numbers, and ours")
    for cell in results["cells"]:
        ours, printed, sd = cell["ours"], cell["printed"], cell["sd"]
        numbers = isinstance(ours, int | float) and isinstance(printed, int | float)
        row = (
            cell["table"], cell["row"], cell["column"], f"{printed}", _format_number(ours),
            "" if sd is None else f"{sd:.3f}", f"{ours - printed:+.4g}" if numbers else "",
        )  # fmt: skip
        table.add_row(*map(Text, row))
    return table


def _format_number(value: Any) -> str:
    return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


def _claims_table(protocol: Protocol, results: dict[str, Any]) -> Table:
    table = Table("claim", "the paper says", "verdict", "worlds", "decided by", "evidence", title="Claims")
    says = {claim.id: claim.says for claim in protocol.claims}
    for claim in results["claims"]:
        verdict = Text(claim["verdict"], style=_VERDICT_COLORS.get(claim["verdict"], ""))
        table.add_row(claim["id"], Text(says[claim["id"]]), verdict, *_worlds_cells(claim), Text(claim["evidence"]))
    return table


def _worlds_cells(claim: dict[str, Any]) -> tuple[str, Text]:
    share = claim.get("share")
    return ("" if share is None else format_percent(share)), Text(claim.get("decided_by", ""))

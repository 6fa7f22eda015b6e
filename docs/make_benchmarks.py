"""Make docs/benchmarks.md and its figure from docs/results/benchmarks.json, which benchmarks/peers.py writes."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
FIGURE = "benchmarks.svg"
TASKS = {
    "count": "Texts to documents per class and term: {documents:,} texts, {classes} classes",
    "validate": "How few terms are enough: {fewer_documents:,} texts, 5 folds, 3 numbers of terms",
    "gain": "Information gain of {table[1]} terms in {table[0]:,} documents, {classes} classes",
    "chi2": "Chi-square of {table[1]} terms in {table[0]:,} documents, {classes} classes",
    "sparse": "Scores of {terms:,} terms from a sparse matrix of {documents:,} documents",
    "choose": "10 of {table[1]} terms that do not repeat each other, {table[0]:,} documents",
}


def main() -> None:
    result = json.loads((DOCS / "results" / "benchmarks.json").read_text("utf-8"))
    (DOCS / "results" / "figures" / FIGURE).write_text(draw(result), "utf-8")
    (DOCS / "benchmarks.md").write_text("\n".join(page(result)) + "\n", "utf-8")
    print(DOCS / "benchmarks.md")


def page(result: dict[str, Any]) -> Iterator[str]:
    machine, data = result["machine"], result["data"]
    yield "# Benchmarks\n"
    yield "<!-- Made by docs/make_benchmarks.py from docs/results/benchmarks.json. -->\n"
    yield (
        "termsieve beside its peers, on the same data, in the same run, taking turns: the training part of "
        f"`{data['corpus']}` ({data['documents']:,} texts, {data['characters'] / 1e6:.0f} million characters). "
        "Each peer has an environment and a process of its own and one thread; a tenth of the data warms it up. "
        "What the first call on all data takes stands beside the calls after it, since a library may load or compile "
        "something. "
        "CPU seconds are what to compare: others may have used the machine (load "
        f"{machine['load']}). Memory is the peak above what the process had before. `make bench-peers` runs it again.\n"
    )
    yield (
        f"{result['date']}, commit {result['commit']}; {machine['cores']} cores, {machine['processor']}, "
        f"{machine['memory_gb']} GB, {machine['system']}, Python {machine['python']}. Spark is measured in "
        "`benchmarks/engines.py`.\n"
    )
    if any("first" not in row for row in result["rows"]):
        yield (
            "**Read with care:** here a tenth of the texts was too little for termsieve to load its compiled loops, so "
            "its time for `count` is that of a first call, loading included.\n"
        )
    yield f"![CPU seconds of each peer, of termsieve's](results/figures/{FIGURE})\n"
    for task, title in TASKS.items():
        yield from task_table(result, task, title.format(**data))
    yield from agreement(result)
    yield "## Not run\n"
    yield "| peer | reason |\n|---|---|"
    for peer, reason in result["failed"].items():
        yield f"| {peer} | {reason} |"


def task_table(result: dict[str, Any], task: str, title: str) -> Iterator[str]:
    rows = sorted((row for row in result["rows"] if row["task"] == task), key=lambda row: row["cpu"])
    yield f"## {title}\n"
    yield "| peer | how | CPU | wall | of our CPU | first call, CPU | memory | numbers |"
    yield "|---|---|---|---|---|---|---|---|"
    ours = find_ours(rows)
    for row in rows:
        name = f"**{row['peer']}**" if row["peer"].startswith("termsieve") else f"{row['peer']} {row['version']}"
        yield (
            f"| {name} | {row['how']} | {show_seconds(row['cpu'])} | {show_seconds(row['seconds'])} "
            f"| {row['cpu'] / ours['cpu']:.2g} | {show_first(row)} | {max(row['memory'], 0):.0f} MB "
            f"| {numbers(result, row)} |"
        )
    yield ""


def find_ours(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return next(row for row in rows if row["peer"] == "termsieve")


def show_first(row: dict[str, Any]) -> str:
    return show_seconds(row["first"]) if "first" in row else "not measured"


def show_seconds(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 10 else f"{seconds:.2f} s" if seconds >= 0.1 else f"{seconds * 1000:.1f} ms"


def numbers(result: dict[str, Any], row: dict[str, Any]) -> str:
    """Whether the numbers are those of the formula."""
    if "agrees" in row:
        return ("macro F1 " if row["task"] == "validate" else "") + row["agrees"]
    for check in result["checks"]:
        if (check["peer"], check["task"]) == (row["peer"], row["task"]):
            return describe(check)
    return "not compared"


def describe(check: dict[str, Any]) -> str:
    kind = {"the same": "the same", "converted": "the same, converted", "published": "as published"}
    return kind.get(check["relation"], check["relation"]) + f" (to {check['difference']:.0e})"


def agreement(result: dict[str, Any]) -> Iterator[str]:
    data = result["data"]
    yield "## Numbers against independent implementations\n"
    yield (
        f"The largest difference over {data['table'][1]} terms in {data['table'][0]:,} documents of `{data['corpus']}` "
        f"({data['classes']} classes; presence of the most frequent terms), as a share of the largest value. "
        '"Converted": another unit or another part of the same table, by the conversion that is given. "Another '
        'formula": under the same name, so the difference is meant to be large.\n'
    )
    yield "| score | peer | function | | largest difference | which, and why |\n|---|---|---|---|---|---|"
    how = {(row["peer"], row["task"]): row["how"] for row in result["rows"]}
    for check in result["checks"]:
        function = check["function"] or how.get((check["peer"], check["task"]), check["task"])
        only = f"; {check['not_finite']} values are finite on one side only" if check["not_finite"] else ""
        why = check["why"].replace("|", "\\|")
        yield (
            f"| `{check['score']}` | {check['peer']} | {function} | {check['relation']} | {check['difference']:.1e} "
            f"| {why}{only} |"
        )
    yield ""


# ------------------------------------------------------------------ the figure


def draw(result: dict[str, Any]) -> str:
    """CPU of each peer as a dot on a logarithmic axis, one block for each task; termsieve is the line at 1."""
    left, width, row_height = 190, 420, 16
    ratios = {}
    for task in TASKS:
        rows = [row for row in result["rows"] if row["task"] == task]
        ours = find_ours(rows)
        others = [row for row in rows if not row["peer"].startswith("termsieve")]
        ratios[task] = sorted((row["cpu"] / ours["cpu"], row["peer"]) for row in others)
    every = [ratio for found in ratios.values() for ratio, _ in found]
    low, high = math.floor(math.log10(min([*every, 0.5]))), math.ceil(math.log10(max([*every, 2.0])))

    def x(ratio: float) -> float:
        return left + width * (math.log10(ratio) - low) / (high - low)

    parts, y = [], 20
    for task, found in ratios.items():
        parts.append(f'<text x="8" y="{y + 4}" font-weight="bold" fill="#444">{task}</text>')
        y += row_height
        for ratio, peer in found:
            color = "#0072b2" if ratio >= 1 else "#d55e00"
            parts.append(f'<text x="{left - 8}" y="{y + 4}" text-anchor="end" fill="#444">{escape(peer)}</text>')
            parts.append(f'<circle cx="{x(ratio):.1f}" cy="{y}" r="3.5" fill="{color}"/>')
            parts.append(f'<text x="{x(ratio) + 8:.1f}" y="{y + 4}" fill="#444">{ratio:.2g}</text>')
            y += row_height
    grid = []
    for power in range(low, high + 1):
        at, color = x(10.0**power), "#000" if power == 0 else "#ddd"
        grid.append(f'<line x1="{at:.1f}" y1="10" x2="{at:.1f}" y2="{y}" stroke="{color}"/>')
        grid.append(f'<text x="{at:.1f}" y="{y + 14}" text-anchor="middle" fill="#444">{10.0**power:g}</text>')
    size = f'width="{left + width + 50}" height="{y + 24}" viewBox="0 0 {left + width + 50} {y + 24}"'
    title = "CPU seconds of each peer, of those of termsieve on the same task"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="system-ui, sans-serif" font-size="11">'
        f'<title>{title}</title><rect width="100%" height="100%" fill="#fff"/>{"".join(grid + parts)}</svg>\n'
    )


if __name__ == "__main__":
    main()

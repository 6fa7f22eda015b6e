"""Make the figures and tables of docs/scale.md from docs/results/scale.json, which ``make bench-scale`` writes."""

import json
import re
from pathlib import Path
from typing import Any

import altair as alt

DOCS = Path(__file__).parent
FIGURES = DOCS / "results" / "figures"
# 200M and 2G: in full they would run into each other
_AXIS = alt.Axis(format="~s", labelOverlap="greedy", labelSeparation=8)


def draw(rows: list[dict[str, Any]], x: str, y: str, titles: tuple[str, str], name: str) -> None:
    """Draw one quantity against another, both on logarithmic scales."""
    points = [{"x": one[x], "y": one[y]} for one in rows]
    base = alt.Chart(alt.Data(values=points)).encode(
        x=alt.X("x:Q", title=titles[0], scale=alt.Scale(type="log", nice=False, padding=12), axis=_AXIS),
        y=alt.Y("y:Q", title=titles[1], scale=alt.Scale(type="log"), axis=_AXIS),
    )
    (base.mark_line() + base.mark_point(filled=True, size=60)).properties(width=360, height=240).save(
        str(FIGURES / f"scale-{name}.svg")
    )


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---:"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def growth_table(rows: list[dict[str, Any]]) -> str:
    head = ["text", "documents", "terms", "seconds", "CPU seconds", "MB/s", "peak memory", "counts file"]
    return table(head, [
        [f"{one['bytes'] / 1e9:.1f} GB", f"{one['documents']:,}", f"{one['terms']:,}", f"{one['seconds']:.0f}",
         f"{one['cpu']:.0f}", f"{one['bytes'] / one['seconds'] / 1e6:.0f}", f"{one['peak_mb']:,.0f} MB",
         f"{one['counts_bytes'] / 1e6:,.0f} MB"]
        for one in rows
    ])  # fmt: skip


def shapes_table(rows: list[dict[str, Any]]) -> str:
    head = ["classes", "exponent of Zipf's law", "threads", "terms", "seconds", "CPU seconds", "peak memory"]
    return table(head, [
        [str(one["classes"]), str(one.get("exponent", 1.27)), str(one["threads"]), f"{one['terms']:,}",
         f"{one['seconds']:.1f}", f"{one['cpu']:.1f}", f"{one['peak_mb']:,.0f} MB"]
        for one in rows
    ])  # fmt: skip


def large_table(found: dict[str, Any]) -> str:
    rows = [["opened", f"{found['opened']:.3f}", "", ""]]
    rows += [
        [f"`{name}`" if " -" in name else name,  # a command
         f"{one['seconds']:.1f}", f"{one['cpu']:.1f}", f"{one['peak_mb']:,.0f} MB"]
        for name, one in found.items()
        if isinstance(one, dict)
    ]  # fmt: skip
    return table(["", "seconds", "CPU seconds", "peak memory"], rows)


def main() -> None:
    result = json.loads((DOCS / "results" / "scale.json").read_text())
    growth = result["growth"]
    draw(growth, "bytes", "seconds", ("bytes of text", "seconds"), "time")
    draw(growth, "bytes", "terms", ("bytes of text", "different terms"), "terms")
    tables = {"growth": growth_table(growth), "shapes": shapes_table(result["shapes"])}
    if "large_file" in result:
        tables["large"] = large_table(result["large_file"])
    if "wide_file" in result:
        tables["wide"] = large_table(result["wide_file"])
    page = DOCS / "scale.md"
    text = page.read_text()
    for name, content in tables.items():
        pattern = rf"(<!-- {name} -->\n).*?(<!-- end -->)"
        text = re.sub(pattern, lambda match, content=content: f"{match[1]}\n{content}\n\n{match[2]}", text, flags=re.S)
    page.write_text(text)


if __name__ == "__main__":
    main()

"""``docs/reproduction.md`` and its figures, from the results of the five papers."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from termsieve.files import write_atomically
from termsieve.reproduction.figures import draw_figure
from termsieve.reproduction.protocol import PAPERS, Protocol, load_protocol

INTRODUCTION = """# The five papers, reproduced

Made by `make reproduce` from `docs/results/*.json`; do not edit. `termsieve reproduce PAPER` runs one paper and prints
the same numbers. Every choice that a paper leaves open has one answer here, that of a careful reader, for a whole
table: what is not stated (a stop list, stemming, a cut of rare words) is not done, but for one thing: lines of an
article that name its newsgroup are left out, because the answer must not stand in the text. What other answers move is
listed; they were compared with the default on the same splits, fewer where there are many. Where claims are judged,
differences up to .005, half of the second digit, are none, unless the claim is about every number of terms. Papers
print no variances; ours are standard deviations over the splits. A printed number whose last digit is lost in our copy
counts as near to any that it may have been. Neither settings nor checks were fixed before the first results were seen:
some were corrected afterwards, so verdicts near a tolerance should be read by their evidence.
"""


def write_page(folder: Path, page: Path) -> None:
    """Write the page and, beside the results, the figures."""
    results = {name: json.loads((folder / f"{name}.json").read_text(encoding="utf-8")) for name in PAPERS}
    write_atomically(page, [render_page(results).encode()])
    (folder / "figures").mkdir(exist_ok=True)
    for name in PAPERS:
        for figure in results[name]["figures"]:
            write_atomically(folder / "figures" / _figure_file(name, figure), [draw_figure(figure).encode()])


def render_page(results: Mapping[str, dict[str, Any]]) -> str:
    """Render the page in Markdown."""
    parts = [INTRODUCTION, _render_summary(results)]
    for name in PAPERS:
        parts += _render_paper(load_protocol(name), results[name])
    return "\n".join(part.rstrip() + "\n" for part in parts)


def _figure_file(paper: str, figure: Mapping[str, Any]) -> str:
    return f"{paper}-{figure['id'].lower().replace(' ', '-').replace(',', '')}.svg"


def _markdown_table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    def line(cells: Sequence[object]) -> str:
        return "| " + " | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"

    return "\n".join([line(head), line(["---"] * len(head)), *(line(row) for row in rows)])


def _render_summary(results: Mapping[str, dict[str, Any]]) -> str:
    rows = []
    for name in PAPERS:
        near, verdicts = results[name]["near"], [claim["verdict"] for claim in results[name]["claims"]]
        for way, counted in near.items():
            cells = [counted[key] for key in counted if key.startswith("within")] if counted["cells"] else [""] * 3
            counts = [verdicts.count(word) for word in ("holds", "does not hold", "cannot be checked")]
            minutes = sum(results[name]["cpu_seconds"].values()) / 60
            claims = [*counts, f"{minutes:.1f}"] if way == "as printed" else [""] * 4
            read = [way, counted["cells"]] if counted["cells"] else ["", ""]
            rows.append([f"[{name}](#{name})", *read, *cells, *claims])
    head = ["paper", "read", "measured cells", "within .02", "within .03", "within .05",
            "claims that hold", "do not", "cannot be checked", "CPU minutes"]  # fmt: skip
    return _markdown_table(head, rows)


def _render_paper(protocol: Protocol, results: dict[str, Any]) -> Iterator[str]:
    yield f"({protocol.name})=\n## {protocol.title}\n\n{protocol.about}"
    yield from _render_settings(results)
    yield from _render_tables(protocol, results)
    yield "### Claims\n\n" + _render_claims(protocol, results)
    if results["choices"]:
        yield "### What the paper leaves open\n\n" + _render_choices(results)
    if protocol.findings:
        yield "### Why we differ\n\n" + _bullet_list(protocol.findings)
    yield "### Figures\n\n" + "\n\n".join(
        f"![{_alt_text(figure)}](results/figures/{_figure_file(protocol.name, figure)})\n\n"
        f"*{figure['id']}: {figure['title']}.*"
        for figure in results["figures"]
    )
    if protocol.errata:
        yield "### Errata found in the paper\n\n" + _bullet_list(protocol.errata)


def _bullet_list(items: Sequence[str]) -> str:
    return "\n".join(f"- {item}" for item in items)


def _alt_text(figure: Mapping[str, Any]) -> str:
    if figure["kind"] != "curves":
        return str(figure["title"])
    last = {name: points[-1] for name, points in figure["curves"].items()}
    best = max(last, key=lambda name: last[name][1])
    curves = f"{figure['title']}: {figure['measure']} against the number of terms"
    return f"{curves}; at the end {best} is best, {last[best][1]:.3f}"


def _render_settings(results: dict[str, Any]) -> Iterator[str]:
    for name, one in results["setting"].items():
        yield f"### Setting: {one['title']}\n\n" + _bullet_list(list(_setting_lines(one, results["cpu_seconds"][name])))


def _setting_lines(one: Mapping[str, Any], seconds: float) -> Iterator[str]:
    stand_in = f", a stand-in for {one['stand_in_for']}" if one["stand_in_for"] else ""
    yield f"corpus: `{one['corpus']}`{stand_in}; labels: {one['labels']}; seed {one['seed']}"
    for key in ("classes", "level", "only_parts", "sample", "without_headers", "with_headers", "analyzer", "options"):
        if one[key]:
            yield f"{key.replace('_', ' ')}: `{json.dumps(one[key])}`"
    yield f"split: `{json.dumps(one['split'])}`; numbers of terms: {_format_sizes(one['sizes'])}"
    yield "scores: " + ", ".join(f"{name} is `{_format_contender(given)}`" for name, given in one["scores"].items())
    models = ", ".join(f"{name} is `{given}`" for name, given in one["classifiers"].items())
    yield f"classifiers: {models}; {seconds:.0f} seconds of CPU"


def _format_sizes(sizes: Sequence[int]) -> str:
    steps = {b - a for a, b in itertools.pairwise(sizes)}
    if len(sizes) > 12 and len(steps) == 1:
        return f"{sizes[0]}, {sizes[1]}, ..., {sizes[-1]}"
    return ", ".join(map(str, sizes))


def _format_contender(given: str | Mapping[str, Any]) -> str:
    if isinstance(given, str):
        return given
    more = ", ".join(f"{key}={value}" for key, value in given.items() if key != "score" and value is not None)
    return f"{given['score']}, {more}" if more else str(given["score"])


def _render_tables(protocol: Protocol, results: dict[str, Any]) -> Iterator[str]:
    for table in protocol.tables:
        prefix = table.where.get("prefix", "")
        mine = [cell for cell in results["cells"]
                if cell["table"] == table.id and cell["row"].startswith(prefix)]  # fmt: skip
        rows = [line for row in dict.fromkeys(cell["row"] for cell in mine) for line in _table_rows(mine, row)]
        columns = list(dict.fromkeys(cell["column"] for cell in mine))
        marks = [f"{cell['row']}, {cell['column']}: {cell['mark']}." for cell in mine if "mark" in cell]
        yield (
            f"### {table.title}\n\n"
            + _markdown_table(["", "", *columns], rows)
            + "".join(f"\n\n{mark}" for mark in marks)
        )


def _table_rows(cells: Sequence[Mapping[str, Any]], row: str) -> Iterator[list[str]]:
    mine = {cell["column"]: cell for cell in cells if cell["row"] == row}
    columns = list(dict.fromkeys(cell["column"] for cell in cells))
    yield [row, "printed", *(_format_printed(mine.get(c, {}).get("printed")) for c in columns)]
    exchanged = [mine.get(c, {}).get("printed_exchanged") for c in columns]
    if any(a is not None and a != mine.get(c, {}).get("printed") for a, c in zip(exchanged, columns, strict=True)):
        yield ["", "printed, exchanged", *map(_format_printed, exchanged)]
    yield ["", "ours", *(_format_ours(mine.get(c)) for c in columns)]
    differences = [_format_difference(mine.get(c)) for c in columns]
    if any(differences):
        yield ["", "difference", *differences]


def _format_number(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) >= 10 else f"{value:.3f}"
    return str(value)


def _format_printed(value: Any) -> str:
    return "" if value is None else str(value)


def _format_ours(cell: Mapping[str, Any] | None) -> str:
    if cell is None:
        return ""
    sd = cell["sd"]
    return _format_number(cell["ours"]) + (f" ± {sd:.3f}" if sd is not None else "")


def _format_difference(cell: Mapping[str, Any] | None) -> str:
    numbers = (int, float)
    if cell is None or not isinstance(cell["ours"], numbers) or not isinstance(cell["printed"], numbers):
        return ""
    gap = cell["ours"] - cell["printed"]
    return f"{gap:+.3f}" if isinstance(gap, float) else f"{gap:+d}"


def _render_claims(protocol: Protocol, results: dict[str, Any]) -> str:
    says = {claim.id: claim.says for claim in protocol.claims}
    rows = [[one["id"], says[one["id"]], f"**{one['verdict']}**", one["evidence"]] for one in results["claims"]]
    return _markdown_table(["", "the paper says", "verdict", "evidence"], rows)


def _render_choices(results: dict[str, Any]) -> str:
    rows = []
    for choice in results["choices"]:
        taken = f"{choice['default']}. {choice['because']}"
        for place, one in enumerate(choice["alternatives"]):
            near = "; ".join(
                f"{way}: {_format_nearness(one['near by default'][way])} → {_format_nearness(one['near'][way])}"
                for way in one.get("near", {})
            )
            changed = ", ".join(one.get("verdicts changed", []))
            first = [choice["question"], taken] if place == 0 else ["", ""]
            rows.append([*first, one["name"], f"{one['moved']:.3f}", near, changed])
    head = ["question", "we take", "instead", "curves move by", "mean difference to print, within .03", "verdicts"]
    return _markdown_table(head, rows)


def _format_nearness(near: Mapping[str, float]) -> str:
    return f"{near['mean difference']:.3f}, {near['within 0.03']} of {near['cells']}"

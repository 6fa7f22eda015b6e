"""``docs/reproduction.md`` and its figures, from the results of the five papers."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from termsieve.files import write_atomically
from termsieve.reproduction.claims import VERDICTS
from termsieve.reproduction.figures import draw_figure
from termsieve.reproduction.lead import count_minutes, render_lead, render_nearest, render_rewritten
from termsieve.reproduction.markdown import format_bullets, format_table
from termsieve.reproduction.protocol import PAPERS, Protocol, load_protocol
from termsieve.reproduction.technical_report import render_report

WORLDS_FIGURE = {"id": "worlds", "kind": "worlds", "title": "Claims that hold, over all worlds"}
INTRODUCTION = """# The five papers: in how many readings their claims hold

Made by `make reproduce` from `docs/results/*.json`, which `termsieve reproduce all --into docs/results` writes; do not
edit. `termsieve reproduce PAPER` runs one paper and prints the same numbers. [The technical
report](technical_report.md) tells how and why.

A paper leaves choices open: tokens, stop lists, smoothing, averages. The *default* takes, for all of a paper, what a
careful reader would: what is not stated is not done, but lines of an article that name its newsgroup are left out. A
*world* is one reading of each open choice. The readings were written down, each with a reason, and committed before
the first run of the grid; the checks of claims were known and some first results of earlier versions had been seen
([below](#checks-that-were-written-with-results-in-view)).

One rule for printed errors: a printed formula is followed unless it contradicts the words of the paper or cannot be
computed; then the words are followed, and the printed form is a reading in the grid.

*Default*: the verdict, by sampling error at 95 %: paired over the splits with the correction of Nadeau and Bengio, or,
where there is one published split, over samples of its test documents. A claim *holds* or *does not hold* if it is
decided so in its cases, *partly* if cases are decided both ways, *undecided* if none fails and most are within
sampling error; it is fragile if some are. *Worlds*: the share of worlds in which the claim is met by the means over
the splits, and its interval: the lowest and the highest share on a single split or, where there is one published
split, where 95 % of the shares on 200 samples of its test documents lie. *Decides*: the choice that tells most about
it, with the share of the entropy of the outcome that it explains. *Null*: the share of worlds with the names of the
scores shuffled (mean of 100 shuffles, or of all orders where there are fewer), and how many of the shuffles reach the
share of the true names.
"""


def write_page(folder: Path, page: Path) -> None:
    """Write the page, the technical report beside it and, beside the results, the figures."""
    results = {name: json.loads((folder / f"{name}.json").read_text(encoding="utf-8")) for name in PAPERS}
    write_atomically(page, [render_page(results).encode()])
    write_atomically(page.with_name("technical_report.md"), [render_report(results).encode()])
    (folder / "figures").mkdir(exist_ok=True)
    for name in PAPERS:
        curve = results[name]["multiverse"]["curve"]
        for figure in (*results[name]["figures"], {**WORLDS_FIGURE, "curve": curve}):
            write_atomically(folder / "figures" / _figure_file(name, figure), [draw_figure(figure).encode()])


def render_page(results: Mapping[str, dict[str, Any]]) -> str:
    """Render the page in Markdown."""
    protocols = {name: load_protocol(name) for name in PAPERS}
    parts = [INTRODUCTION, render_lead(protocols, results), "## How much was run\n\n" + _render_summary(results)]
    parts.append("## Checks that were written with results in view\n\n" + render_rewritten(protocols))
    parts.append("## What the papers announce or leave out\n\n" + _render_beyond(results))
    for name in PAPERS:
        parts += _render_paper(protocols[name], results[name])
    return "\n".join(part.rstrip() + "\n" for part in parts)


def _figure_file(paper: str, figure: Mapping[str, Any]) -> str:
    return f"{paper}-{figure['id'].lower().replace(' ', '-').replace(',', '')}.svg"


def _render_summary(results: Mapping[str, dict[str, Any]]) -> str:
    rows = []
    for name in PAPERS:
        one = results[name]
        verdicts = [claim["verdict"] for claim in one["claims"]]
        worlds, near = one["multiverse"], one["near"]["as printed"]
        rows.append([
            f"[{name}](#{name})", *(verdicts.count(word) for word in VERDICTS),
            f"{near['within 0.03']} of {near['cells']}" if near["cells"] else "",
            f"{worlds['worlds']:,} of {worlds['possible']:,}", f"{worlds['replicates'][0]} {worlds['replicates'][1]}",
            *(f"{minutes:.1f}" for minutes in count_minutes(one)),
        ])  # fmt: skip
    minutes = [sum(count_minutes(results[name])) for name in PAPERS]
    head = ["paper", *VERDICTS, "printed cells within .03, default", "worlds", "interval over",
            "CPU minutes: default", "worlds", "judging"]  # fmt: skip
    both = sum(of for name, of in zip(PAPERS, minutes, strict=True) if name in ("gu", "pip"))
    return f"{format_table(head, rows)}\n\nCPU minutes in all: {sum(minutes):.0f}, of which GU and PIP take {both:.0f}."


def _render_beyond(results: Mapping[str, dict[str, Any]]) -> str:
    """Render the list of what was run beside the claims, with the numbers in short."""
    rows = [[name, table["title"], table["short"]] for name in PAPERS for table in results[name]["beyond"]]
    return format_table(["paper", "table, in the section of the paper", "in short"], rows)


def _render_paper(protocol: Protocol, results: dict[str, Any]) -> Iterator[str]:
    yield f"({protocol.name})=\n## {protocol.title}\n\n{protocol.about}"
    if protocol.believe:
        yield "### What a reader should believe now\n\n" + " ".join(protocol.believe)
    yield "### Claims\n\n" + _render_claims(protocol, results)
    yield from _render_worlds(protocol, results["multiverse"])
    yield from _render_settings(results)
    yield from _render_tables(protocol, results)
    for table in results["beyond"]:
        yield f"### {table['title']}\n\n{table['says']}\n\n" + format_table(table["head"], table["rows"])
    if protocol.findings:
        yield "### Why we differ\n\n" + format_bullets(protocol.findings)
    if protocol.changed:
        yield "### Verdicts that changed since the last version, and why\n\n" + format_bullets(protocol.changed)
    yield "### Figures\n\n" + "\n\n".join(
        f"![{_alt_text(figure)}](results/figures/{_figure_file(protocol.name, figure)})\n\n"
        f"*{figure['id']}: {figure['title']}.*"
        for figure in results["figures"]
    )
    if protocol.errata:
        yield "### Errata found in the paper\n\n" + format_bullets(protocol.errata)


def _render_worlds(protocol: Protocol, found: Mapping[str, Any]) -> Iterator[str]:
    held = found["held"]
    said = (
        f"{found['worlds']:,} of {found['possible']:,} worlds, {found['splits']} split"
        f"{'s' if found['splits'] > 1 else ''} each, with {found['sizes'][0]} to {found['sizes'][-1]} terms in "
        f"{len(found['sizes'])} steps, {found['cpu_seconds'] / 60:.1f} CPU minutes. Of {held['claims']} "
        f"claims about curves {held['default']} are met in the default world, {held['median']:g} in the median world, "
        f"{held['best']} in the best one."
    )
    null = held["null"]
    said += (
        f" With the names of the scores shuffled, the best world of a shuffle meets {null['best_median']:g} in the "
        f"median and {null['best_highest']} at most ({null['shuffles']} shuffles; {null['best_as_high']:.0%} reach "
        f"the {held['best']} of the true names), the median world {null['median']:g}."
    )
    figure = f"results/figures/{_figure_file(protocol.name, WORLDS_FIGURE)}"
    yield f"### The multiverse\n\n{said}\n\n![Specification curve: claims that hold over sorted worlds]({figure})"
    rows = [
        [one.question if n == 0 else "", reading.name, reading.because]
        for one in protocol.multiverse.choices
        for n, reading in enumerate(one.readings)
    ]
    yield "What the paper leaves open; the default first.\n\n" + format_table(["question", "reading", "why"], rows)
    if found["nearest"]:
        yield "### The world nearest to print\n\n" + render_nearest(found["nearest"])


def _alt_text(figure: Mapping[str, Any]) -> str:
    if figure["kind"] != "curves":
        return str(figure["title"])
    last = {name: points[-1] for name, points in figure["curves"].items()}
    best = max(last, key=lambda name: last[name][1])
    curves = f"{figure['title']}: {figure['measure']} against the number of terms"
    return f"{curves}; at the end {best} is best, {last[best][1]:.3f}"


def _render_settings(results: dict[str, Any]) -> Iterator[str]:
    for name, one in results["setting"].items():
        yield f"### Setting: {one['title']}\n\n" + format_bullets(
            list(_setting_lines(one, results["cpu_seconds"][name]))
        )


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
            f"### {table.title}\n\n" + format_table(["", "", *columns], rows) + "".join(f"\n\n{mark}" for mark in marks)
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
    return format_table(["", "the paper says", "default", "evidence"], rows)

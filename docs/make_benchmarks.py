"""Make docs/benchmarks.md, its figures and the README's table from docs/results/benchmarks.json.

benchmarks/peers.py writes that file, and a line for each commit that was measured to benchmarks_history.jsonl.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
README = DOCS.parent / "README.md"
BEGIN, END = "<!-- made by docs/make_benchmarks.py -->\n", "<!-- end of what it makes -->\n"
FIGURE = "benchmarks.svg"
COUNTING_FIGURE = "counting.svg"
OURS, THEIRS, GREY = "#0072b2", "#d55e00", "#444"
FONT = 'font-family="system-ui, sans-serif" font-size="11"'
TASKS = {
    "count": "Texts to documents per class and term: {documents:,} texts, {classes} classes",
    "validate": "How few terms are enough: {fewer_documents:,} texts, 5 folds, 3 numbers of terms",
    "gain": "Information gain of {table[1]} terms in {table[0]:,} documents, {classes} classes",
    "chi2": "Chi-square of {table[1]} terms in {table[0]:,} documents, {classes} classes",
    "sparse": "Scores of {terms:,} terms from a sparse matrix of {documents:,} documents",
    "choose": "10 of {table[1]} terms that do not repeat each other, {table[0]:,} documents",
}


# the README's lines: task, which calls, what it says, and the peers to name
LINES = (
    ("count", "cpu", "Count {documents:,} texts ({megabytes:.0f} MB)", ("scikit-learn", "polars", "DuckDB", "Spark")),
    ("count", "first", "The same in a new process, with imports", ("scikit-learn", "polars", "DuckDB", "Spark")),
    ("validate", "cpu", "Cross-validate 3 numbers of terms, {fewer_documents:,} texts, 5 folds", ("scikit-learn",)),
    ("choose", "cpu", "10 of {table[1]} terms that do not repeat each other", ("mrmr-selection", "scikit-feature")),
    ("gain", "cpu", "Information gain of {table[1]} terms", ("Orange3", "Weka", "scikit-learn")),
    ("sparse", "cpu", "Chi-square of {terms:,} terms, from a matrix", ("scikit-learn",)),
)


# why the numbers of a peer are not all ours: found by looking, and told where they are not
WORD = "Unicode's own definition of `\\w` leaves superscript digits (¹ ³) out of words"
BETA = "scikit-feature's `lcsi` takes 0.8 for the weight of redundancy"
NOTES = {
    ("count", "polars"): f"{WORD}, and polars follows it. Python's `re`, and so scikit-learn, takes them in, as does "
    "`\\p{N}`, which DuckDB and Spark are given. So `³ation` (sci.electronics) is `ation` (two cells), and `in¹` and "
    "`with¹` (talk.religion.misc) are `in` and `with` (two more).",
    ("count", "NLTK"): "The same four cells as polars: NLTK compiles patterns with the package `regex`, which follows "
    "Unicode's definition.",
    ("count", "Spark, MLlib"): "The same four cells: Java's `(?U)` stands for Unicode's definition.",
    ("choose", "mrmr-selection"): "Another rule of the same name: relevance is the F statistic, redundancy the "
    "correlation, and their quotient is taken; ours are mutual information and a difference, as in the paper.",
    ("choose", "scikit-feature"): f"{BETA}, whatever `function_name` says; in the paper it is 1 / |S|. A textbook "
    "version with 0.8 gives scikit-feature's order, one with 1 / |S| ours.",
    ("choose", "scikit-feature, JMI"): f"{BETA} and 0.5 for that of complementarity; in the paper both are 1 / |S|. A "
    "textbook version with 0.8 and 0.5 gives scikit-feature's order, one with 1 / |S| ours.",
    ("choose", "scikit-feature, CMIM"): "Theirs is the least I(X; Y | s); in the paper, and here, also at most "
    "I(X; Y), which moves terms that tell more together with another. A textbook version without that bound gives "
    "scikit-feature's order, one with it ours.",
    ("choose", "scikit-feature, FCBF"): "Theirs keeps the symmetrical uncertainty of each term in an array of whole "
    "numbers, where it is 0, so that terms come in the order of their columns.",
    ("order", "cmim"): "ITMO_FS takes the least I(X; Y | s) without the bound I(X; Y), as scikit-feature does.",
    ("order", "fcbf"): "ITMO_FS takes mutual information in place of symmetrical uncertainty, and after the first "
    "term numbers columns by their place among those that are left.",
}


def main() -> None:
    result = json.loads((DOCS / "results" / "benchmarks.json").read_text("utf-8"))
    lines = (DOCS / "results" / "benchmarks_history.jsonl").read_text("utf-8").splitlines()
    figures = DOCS / "results" / "figures"
    (figures / FIGURE).write_text(draw(result), "utf-8")
    (figures / COUNTING_FIGURE).write_text(draw_counting(result), "utf-8")
    (DOCS / "benchmarks.md").write_text("\n".join(page(result, [json.loads(one) for one in lines])) + "\n", "utf-8")
    README.write_text(put_into_readme(README.read_text("utf-8"), result), "utf-8")
    print(DOCS / "benchmarks.md")


def put_into_readme(text: str, result: dict[str, Any]) -> str:
    """Put the lines that matter between their marks."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + BEGIN + "\n" + "\n".join(readme_lines(result)) + "\n\n" + END + after


def readme_lines(result: dict[str, Any]) -> Iterator[str]:
    data, machine = result["data"], result["machine"]
    facts = {**data, "megabytes": data["characters"] / 1e6}
    yield "## Measured\n"
    yield "| CPU seconds, one thread | termsieve | others |\n|---|---|---|"
    for task, call, what, peers in LINES:
        rows = {row["peer"]: row for row in result["rows"] if row["task"] == task}
        ours = rows["termsieve"][call]
        others = [
            f"{peer} {show_seconds(rows[peer][call])} ({show_ratio(rows[peer][call] / ours)})"
            for peer in peers
            if peer in rows
        ]
        yield f"| {what.format(**facts)} | **{show_seconds(ours)}** | {', '.join(others)} |"
    yield (
        f"\n{describe_machine(machine)}, `{data['corpus']}`, {result['date']}, commit {result['commit']}; medians, in "
        "turns, in one run (`make bench-peers`). [All peers, memory, whether the numbers agree](docs/benchmarks.md)."
    )


def describe_machine(machine: dict[str, Any]) -> str:
    return (
        f"{machine['cores']} cores, {machine['processor']}, {machine['memory_gb']} GB, {machine['system']}, "
        f"Python {machine['python']}, load {machine['load']}"
    )


def show_ratio(ratio: float) -> str:
    return f"x {show_number(ratio)}"


def show_number(ratio: float) -> str:
    return f"{ratio:.2g}" if ratio < 100 else f"{ratio:,.0f}"


def page(result: dict[str, Any], history: list[dict[str, Any]]) -> Iterator[str]:
    data = result["data"]
    yield "# Benchmarks\n"
    yield "<!-- Made by docs/make_benchmarks.py from docs/results/benchmarks.json. -->\n"
    yield (
        "termsieve beside its peers, on the same data, in the same run, taking turns: the training part of "
        f"`{data['corpus']}` ({data['documents']:,} texts, {data['characters'] / 1e6:.0f} million characters). "
        "Each peer has an environment of its own, a new process for each round, and one thread.\n"
    )
    yield (
        "**First call** is what a script pays that does it once: the import of the library (of Spark and Weka: the "
        "start of the Java machine) and the first call, with whatever is loaded or compiled in it. **Later calls** are "
        "those after it in the same process. Data are read before, and not counted. CPU seconds are what to compare; "
        "the wall is that of later calls. Memory is the peak above what the process had with its library and data.\n"
    )
    run = f"{result['date']}, commit {result['commit']}"
    yield f"{describe_machine(result['machine'])}. {run}. `make bench-peers` runs it again.\n"
    yield f"![CPU seconds of each peer, of termsieve's](results/figures/{FIGURE})\n"
    for task, title in TASKS.items():
        yield from task_table(result, task, title.format(**data))
    yield from orders(result)
    yield from agreement(result)
    yield "## Not run\n"
    yield "| peer | reason |\n|---|---|"
    for peer, reason in result["failed"].items():
        yield f"| {peer} | {reason} |"
    yield ""
    yield from earlier_runs(history)


def earlier_runs(history: list[dict[str, Any]]) -> Iterator[str]:
    """Our CPU for each commit that was measured, and that of scikit-learn, which did not change."""
    yield "## Commit by commit\n"
    yield (
        "CPU seconds of termsieve, first / later calls; in brackets scikit-learn's later calls in the same run. From "
        "`docs/results/benchmarks_history.jsonl`, to which each run adds a line with all peers.\n"
    )
    tasks = ("count", "validate", "gain", "sparse")
    yield "| commit | date | load | " + " | ".join(tasks) + " |\n|---|---|---|" + "---|" * len(tasks)
    for run in history:
        cells = []
        for task in tasks:
            first, later = run["cpu"][task]["termsieve"]
            rival = show_seconds(run["cpu"][task]["scikit-learn"][1])
            cells.append(f"{show_seconds(first)} / {show_seconds(later)} ({rival})")
        yield f"| {run['commit']} | {run['date']} | {run['load']} | " + " | ".join(cells) + " |"


def task_table(result: dict[str, Any], task: str, title: str) -> Iterator[str]:
    rows = sorted((row for row in result["rows"] if row["task"] == task), key=lambda row: row["cpu"])
    yield f"## {title}\n"
    yield "| peer | how | later calls, CPU | of ours | wall | first call, CPU | of ours | memory | numbers |"
    yield "|---|---|---|---|---|---|---|---|---|"
    ours = find_ours(rows)
    for row in rows:
        name = f"**{row['peer']}**" if row["peer"].startswith("termsieve") else f"{row['peer']} {row['version']}"
        yield (
            f"| {name} | {row['how']} | {show_seconds(row['cpu'])} | {show_number(row['cpu'] / ours['cpu'])} "
            f"| {show_seconds(row['seconds'])} "
            f"| {show_seconds(row['first'])} | {show_number(row['first'] / ours['first'])} "
            f"| {max(row['memory'], 0):.0f}\u00a0MB | {numbers(result, row)} |"
        )
    yield ""
    yield from notes((task, row["peer"], row["peer"], row.get("agrees", "")) for row in rows)


def notes(rows: Iterable[tuple[str, str, str, str]]) -> Iterator[str]:
    """Why numbers differ, as a list: task, key of the note, name and agreement of each row."""
    found = [
        f"- **{name}**: {NOTES[task, key]}"
        for task, key, name, agrees in rows
        if (task, key) in NOTES and agrees and not agrees.startswith("all ")
    ]
    if found:
        yield "Why the numbers differ:\n"
        yield from found
        yield ""


def orders(result: dict[str, Any]) -> Iterator[str]:
    """The order of terms beside that of a library that is not timed at it."""
    found = result.get("orders", [])
    if not found:
        return
    yield "### The order of the terms\n"
    yield (
        "Not timed, and on fewer documents, since ITMO_FS is slow at it: the first 10 terms of "
        f"{result['data']['table'][1]}, in {found[0]['documents']} documents. Our own order is that of a textbook "
        "version in 50 digits (`tests/oracles/textbook_redundancy.py`), term by term.\n"
    )
    yield "| rule | peer | terms |\n|---|---|---|"
    for one in found:
        yield f"| `{one['rule']}` | {one['peer']} | {one['agrees']} |"
    yield ""
    yield from notes(("order", one["rule"], f"`{one['rule']}`", one["agrees"]) for one in found)


def find_ours(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return next(row for row in rows if row["peer"] == "termsieve")


def show_seconds(seconds: float) -> str:
    """Seconds with their unit, which no line break parts."""
    if seconds < 0.1:
        return f"{seconds * 1000:.1f}\u00a0ms"
    return f"{seconds:.1f}\u00a0s" if seconds >= 10 else f"{seconds:.2f}\u00a0s"


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
        "Three formulas go by the name of chi-square: of the table of a term and one class (ours, scipy, R, NLTK), of "
        "the table of a term and all classes (Weka, statsmodels), and scikit-learn's, which sums over the documents "
        "with the term only (Orange3, scikit-feature and ITMO_FS have the same). Two go by that of mutual information: "
        "the mean over all cells (scikit-learn's `mutual_info_classif`, our `info_gain`), and that of one cell "
        "(TextFeatureSelection, NLTK's and our `pmi`). "
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
    """CPU of each peer on a logarithmic axis: dots for later calls, rings for the first; termsieve is the line at 1."""
    left, width, row_height = 190, 420, 16
    ratios = {}
    for task in TASKS:
        rows = [row for row in result["rows"] if row["task"] == task]
        ours = find_ours(rows)
        others = [row for row in rows if not row["peer"].startswith("termsieve")]
        ratios[task] = sorted((row["cpu"] / ours["cpu"], row["first"] / ours["first"], row["peer"]) for row in others)
    every = [ratio for found in ratios.values() for later, first, _ in found for ratio in (later, first)]
    low, high = math.floor(math.log10(min([*every, 0.5]))), math.ceil(math.log10(max([*every, 2.0])))

    def x(ratio: float) -> float:
        return left + width * (math.log10(ratio) - low) / (high - low)

    parts, y = [], 44
    for task, found in ratios.items():
        parts.append(f'<text x="8" y="{y + 4}" font-weight="bold" fill="{GREY}">{task}</text>')
        y += row_height
        for later, first, peer in found:
            parts.append(f'<text x="{left - 8}" y="{y + 4}" text-anchor="end" fill="{GREY}">{escape(peer)}</text>')
            ring = f'fill="none" stroke="{OURS if first >= 1 else THEIRS}"'
            parts.append(f'<circle cx="{x(first):.1f}" cy="{y}" r="3.5" {ring}/>')
            parts.append(f'<circle cx="{x(later):.1f}" cy="{y}" r="3.5" fill="{OURS if later >= 1 else THEIRS}"/>')
            at = x(max(later, first)) + 8
            parts.append(
                f'<text x="{at:.1f}" y="{y + 4}" fill="{GREY}">{show_number(later)}, first {show_number(first)}</text>'
            )
            y += row_height
    grid = []
    for power in range(low, high + 1):
        at, color = x(10.0**power), "#000" if power == 0 else "#ddd"
        grid.append(f'<line x1="{at:.1f}" y1="34" x2="{at:.1f}" y2="{y}" stroke="{color}"/>')
        grid.append(f'<text x="{at:.1f}" y="{y + 14}" text-anchor="middle" fill="{GREY}">{10.0**power:g}</text>')
    legend = (
        f'<text x="8" y="16" fill="{GREY}">CPU seconds, of those of termsieve (the line at 1): dots are later calls, '
        f'rings first calls; <tspan fill="{OURS}">slower</tspan>, <tspan fill="{THEIRS}">faster</tspan></text>'
    )
    title = "CPU seconds of each peer, of those of termsieve on the same task"
    return make_svg(left + width + 110, y + 24, title, [legend, *grid, *parts])


def draw_counting(result: dict[str, Any]) -> str:
    """CPU of counting as bars: later calls, and in a lighter colour what the first call takes beyond."""
    rows = sorted((row for row in result["rows"] if row["task"] == "count"), key=lambda row: row["cpu"])
    rows = [row for row in rows if row["peer"] in ("termsieve", "polars", "DuckDB", "scikit-learn", "NLTK")]
    left, width, row_height = 100, 400, 26
    scale = width / max(max(row["cpu"], row["first"]) for row in rows)
    parts, y = [], 36
    for row in rows:
        color = OURS if row["peer"] == "termsieve" else "#999"
        weight = "bold" if row["peer"] == "termsieve" else "normal"
        parts.append(
            f'<text x="{left - 8}" y="{y + 12}" text-anchor="end" font-weight="{weight}" fill="{GREY}">'
            f"{escape(row['peer'])}</text>"
        )
        for call, top, opacity in (("cpu", y, 1), ("first", y + 9, 0.45)):
            length = row[call] * scale
            parts.append(
                f'<rect x="{left}" y="{top}" width="{length:.1f}" height="8" fill="{color}" opacity="{opacity}"/>'
            )
            parts.append(
                f'<text x="{left + length + 5:.1f}" y="{top + 8}" font-size="9" fill="{GREY}">'
                f"{show_seconds(row[call])}</text>"
            )
        y += row_height
    what = f"Counting {result['data']['documents']:,} texts, CPU seconds"
    bars = "upper bar later calls, lower bar the first call of a new process"
    legend = f'<text x="8" y="16" fill="{GREY}">{what}: {bars}</text>'
    return make_svg(left + width + 60, y + 6, what, [legend, *parts])


def make_svg(width: int, height: int, title: str, parts: list[str]) -> str:
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" {FONT}>'
        f'<title>{title}</title><rect width="100%" height="100%" fill="#fff"/>{"".join(parts)}</svg>\n'
    )


if __name__ == "__main__":
    main()

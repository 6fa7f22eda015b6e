"""Tables of comparisons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from termsieve.cli.output import Sheet
from termsieve.cli.screen import make_bare_table
from termsieve.views import format_measure, name_measure

if TYPE_CHECKING:
    from termsieve.study.recommendation import Recommendation
    from termsieve.study.results import Comparison

MEAN_COLUMNS = ("classifier", "score", "k", "mean", "standard_error", "recommended")


def make_comparison_sheet(result: Comparison, measure: str) -> Sheet:
    """Make a sheet of means over the splits; the fewest terms that are enough with each classifier are marked."""
    rows = result.summary(measure).to_pylist()
    chosen = result.best(measure)
    recommended = {(name, choice.score, choice.k) for name, choice in chosen.items()}
    for row in rows:
        row["recommended"] = (row["classifier"], row["score"], row["k"]) in recommended
    return Sheet(
        MEAN_COLUMNS,
        [[row[name] for name in MEAN_COLUMNS] for row in rows],
        lambda: _comparison_view(rows, result.recommended(measure), measure),
    )


def _comparison_view(rows: list[dict[str, Any]], choice: Recommendation, measure: str) -> RenderableType:
    parts: list[RenderableType] = []
    for name in dict.fromkeys(row["classifier"] for row in rows):
        mine = [row for row in rows if row["classifier"] == name]
        parts.append(Padding(_classifier_table(name, mine, measure), (0, 0, 1, 0)))
    return Group(*parts, Text(choice.reason, style="green"), Text(choice.rule, style="dim"))


def _classifier_table(name: str, rows: list[dict[str, Any]], measure: str) -> RenderableType:
    """Make a table with scores as rows and numbers of terms as columns."""
    ks = sorted({row["k"] for row in rows})
    best = max(row["mean"] for row in rows)
    table = make_bare_table()
    title = Text(name, style="not dim bold").append(f"  {name_measure(measure)}", style="dim not bold")
    table.add_column(title, no_wrap=True)
    for k in ks:
        table.add_column(f"{k:,}", justify="right")
    for score in dict.fromkeys(row["score"] for row in rows):
        means = {row["k"]: row for row in rows if row["score"] == score}
        table.add_row(score, *(_mean_cell(means.get(k), best) for k in ks))
    return table


def _mean_cell(row: dict[str, Any] | None, best: float) -> Text:
    if row is None:
        return Text("")
    style = "bold reverse" if row["recommended"] else "bold" if row["mean"] == best else ""
    return Text(format_measure(row["mean"]).removeprefix("0" if row["mean"] else ""), style=style)

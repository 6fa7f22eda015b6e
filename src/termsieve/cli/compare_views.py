"""Tables of comparisons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from termsieve.cli.output import Sheet
from termsieve.cli.screen import make_bare_table

if TYPE_CHECKING:
    from termsieve.study.results import Comparison, Recommendation

MEAN_COLUMNS = ("classifier", "score", "k", "mean", "standard_error", "recommended")


def make_comparison_sheet(result: Comparison, measure: str) -> Sheet:
    """Make a sheet of means over the splits; the fewest terms within one standard error of the best are marked."""
    rows = result.summary(measure).to_pylist()
    chosen = result.best(measure)
    recommended = {(name, choice.score, choice.k) for name, choice in chosen.items()}
    for row in rows:
        row["recommended"] = (row["classifier"], row["score"], row["k"]) in recommended
    return Sheet(
        MEAN_COLUMNS,
        [[row[name] for name in MEAN_COLUMNS] for row in rows],
        lambda: _comparison_view(rows, chosen, measure),
    )


def _comparison_view(rows: list[dict[str, Any]], chosen: dict[str, Recommendation], measure: str) -> RenderableType:
    parts: list[RenderableType] = []
    for name, choice in chosen.items():
        mine = [row for row in rows if row["classifier"] == name]
        parts += [_classifier_table(name, mine, measure), Padding(Text(choice.reason, style="green"), (0, 0, 1, 0))]
    return Group(*parts)


def _classifier_table(name: str, rows: list[dict[str, Any]], measure: str) -> RenderableType:
    """Make a table with scores as rows and numbers of terms as columns."""
    ks = sorted({row["k"] for row in rows})
    best = max(row["mean"] for row in rows)
    table = make_bare_table()
    table.add_column(Text(name, style="not dim bold").append(f"  {measure}", style="dim not bold"), no_wrap=True)
    for k in ks:
        table.add_column(f"{k:,}", justify="right")
    for score in dict.fromkeys(row["score"] for row in rows):
        means = {row["k"]: row for row in rows if row["score"] == score}
        table.add_row(score, *(_mean_cell(means.get(k), best) for k in ks))
    return table


def _mean_cell(row: dict[str, Any] | None, best: float) -> Text:
    if row is None:
        return Text("-", style="dim")
    style = "bold reverse" if row["recommended"] else "bold" if row["mean"] == best else ""
    return Text(f"{row['mean']:.3f}"[1 if 0 <= row["mean"] < 0.9995 else 0 :], style=style)

"""Tables of comparisons."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from termsieve.cli.output import Sheet
from termsieve.cli.rank_views import make_brief_table
from termsieve.cli.screen import make_bare_table
from termsieve.defaults import DEFAULT_SCORE, TELLING_CLASSES, TELLING_WORDS
from termsieve.ranking.ranking import score
from termsieve.scores.parsing import score_title
from termsieve.study.excerpts import largest_classes
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
        lambda: _comparison_view(result, rows, measure),
    )


def _comparison_view(result: Comparison, rows: list[dict[str, Any]], measure: str) -> RenderableType:
    """Answer in the order of the questions: which terms tell the classes apart, how few are enough, and the numbers."""
    choice = result.recommended(measure)
    parts: list[RenderableType] = [*_list_telling_words(result, choice)]
    parts.append(Padding(Text(choice.reason, style="green"), (0, 0, 1, 0)))
    for name in dict.fromkeys(row["classifier"] for row in rows):
        parts += _classifier_tables(name, [row for row in rows if row["classifier"] == name], measure)
    return Group(*parts, Text(choice.rule, style="dim"))


def _list_telling_words(result: Comparison, choice: Recommendation) -> Iterator[RenderableType]:
    """Yield the most telling words of the largest classes, by the recommended score, or the first that ranks them."""
    if result.counts is None or not result.counts.n_terms:
        return
    names = [choice.score.partition(" on ")[0], *result.scores, DEFAULT_SCORE]
    name = next(one for one in names if one in result.scored or one == DEFAULT_SCORE)
    scores = result.scored.get(name) or score(result.counts, name)
    largest = largest_classes(result.counts, TELLING_CLASSES)
    yield make_brief_table(result.counts, [scores.top_of_class(int(c), TELLING_WORDS) for c in largest])
    more = result.counts.n_classes - len(largest)
    by = f"by {score_title(name)}" + (f"; {more:,} smaller classes are not shown" if more > 0 else "")
    yield Padding(Text(by, style="dim"), (0, 0, 1, 0))


def _classifier_tables(name: str, rows: list[dict[str, Any]], measure: str) -> Iterator[RenderableType]:
    """Yield a table of a classifier, and one for each other representation: its numbers of terms are others."""
    best = max(row["mean"] for row in rows)
    on = [row["score"].partition(" on ")[2] for row in rows]
    for representation in dict.fromkeys(on):
        title = Text(name, style="bold").append(f" on {representation}" if representation else "")
        yield title.append(f"  {name_measure(measure)}", style="dim not bold")
        mine = [row for row, other in zip(rows, on, strict=True) if other == representation]
        yield Padding(_means_table(mine, best), (0, 0, 1, 0))


def _means_table(rows: list[dict[str, Any]], best: float) -> RenderableType:
    """Make a table with scores as rows and numbers of terms as columns: where it is too wide, the titles are folded."""
    ks = sorted({row["k"] for row in rows})
    table = make_bare_table()
    table.add_column("terms")
    for k in ks:
        table.add_column(_format_terms(k), justify="right", no_wrap=True)
    for name in dict.fromkeys(row["score"] for row in rows):
        means = {row["k"]: row for row in rows if row["score"] == name}
        table.add_row(score_title(name.partition(" on ")[0]), *(_mean_cell(means.get(k), best) for k in ks))
    return table


def _format_terms(k: int) -> str:
    """Format a number of terms, hardly wider than the means below it.

    >>> _format_terms(7444), _format_terms(10_000), _format_terms(177_812)
    ('7,444', '10k', '177.8k')
    """
    return f"{k:,}" if k < 10_000 else f"{k / 1000:.4g}k" if k < 10_000_000 else f"{k / 1e6:.4g}M"


def _mean_cell(row: dict[str, Any] | None, best: float) -> Text:
    if row is None:
        return Text("")
    style = "bold reverse" if row["recommended"] else "bold" if row["mean"] == best else ""
    return Text(format_measure(row["mean"]).removeprefix("0" if row["mean"] else ""), style=style)

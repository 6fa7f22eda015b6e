"""Tables of comparisons."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from termsieve.cli.output import Sheet
from termsieve.cli.rank_views import make_brief_table
from termsieve.cli.screen import column_width, make_bare_table
from termsieve.defaults import DEFAULT_SCORE, TELLING_CLASSES, TELLING_WORDS
from termsieve.ranking.ranking import score
from termsieve.scores.parsing import score_title
from termsieve.study.excerpts import largest_classes
from termsieve.study.representations import name_without_terms
from termsieve.views import format_measure, name_measure

if TYPE_CHECKING:
    from termsieve.study.recommendation import Recommendation
    from termsieve.study.results import Comparison

_NAME_WIDTH, _GAP = 31, 2  # of the names of scores, at most; between columns
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
        mine = [row for row in rows if row["classifier"] == name]
        parts.append(Padding(_classifier_table(name, mine, measure), (0, 0, 1, 0)))
    return Group(*parts, Text(choice.rule, style="dim"))


def _list_telling_words(result: Comparison, choice: Recommendation) -> Iterator[RenderableType]:
    """Yield the most telling words of the largest classes, by the recommended score, or the first that ranks them."""
    if result.counts is None or not result.counts.n_terms:
        return
    names = [name_without_terms(choice.score), *result.scores, DEFAULT_SCORE]
    name = next(one for one in names if one in result.scored or one == DEFAULT_SCORE)
    scores = result.scored.get(name) or score(result.counts, name)
    largest = largest_classes(result.counts, TELLING_CLASSES)
    yield make_brief_table(result.counts, [scores.top_of_class(int(c), TELLING_WORDS) for c in largest])
    more = result.counts.n_classes - len(largest)
    by = f"by {score_title(name)}" + (f"; {more:,} smaller classes are not shown" if more > 0 else "")
    yield Padding(Text(by, style="dim"), (0, 0, 1, 0))


def _classifier_table(name: str, rows: list[dict[str, Any]], measure: str) -> RenderableType:
    """Make a table with scores as rows and numbers of terms as columns, under the name of the classifier."""
    ks = sorted({row["k"] for row in rows})
    best = max(row["mean"] for row in rows)
    cells: dict[str, dict[int, Text]] = {}
    for row in rows:
        cells.setdefault(score_title(row["score"]), {})[row["k"]] = _mean_cell(row, best)
    title = Text(name, style="bold").append(f"  {name_measure(measure)}", style="dim not bold")
    return Group(title, _FoldedTable(ks, cells))


class _FoldedTable:
    """A table of means; numbers of terms that do not fit on a line stand in a further part of it, below."""

    def __init__(self, ks: Sequence[int], cells: Mapping[str, Mapping[int, Text]]) -> None:
        self._ks, self._cells = ks, cells

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = min(column_width(list(self._cells), 5, _NAME_WIDTH), options.max_width // 2)
        numbers = max(5, *(len(f"{k:,}") for k in self._ks))
        fitting = max((options.max_width - width) // (numbers + _GAP), 1)
        size = math.ceil(len(self._ks) / math.ceil(len(self._ks) / fitting))
        for start in range(0, len(self._ks), size):
            yield self._part(self._ks[start : start + size], width, numbers)

    def _part(self, ks: Sequence[int], width: int, numbers: int) -> Table:
        table = make_bare_table()
        table.add_column("terms", width=width)
        for k in ks:
            table.add_column(f"{k:,}", justify="right", width=numbers, no_wrap=True)
        for name, means in self._cells.items():
            if any(k in means for k in ks):
                table.add_row(name, *(means.get(k, Text()) for k in ks))
        return table


def _mean_cell(row: dict[str, Any], best: float) -> Text:
    style = "bold reverse" if row["recommended"] else "bold" if row["mean"] == best else ""
    return Text(format_measure(row["mean"]).removeprefix("0" if row["mean"] else ""), style=style)

"""Tables of rankings and selections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from termsieve.cli.output import Sheet
from termsieve.cli.screen import (
    BAR_WIDTH,
    bar_shares,
    column_width,
    draw_bar,
    format_number,
    make_bare_table,
    make_cell,
)
from termsieve.defaults import TELLING_WORDS
from termsieve.ranking.ranking import score
from termsieve.ranking.ranking_rows import Ranking
from termsieve.scores import parse_score
from termsieve.views import format_percent

if TYPE_CHECKING:
    from termsieve.counts.counts import Counts
    from termsieve.evaluate.list_stability import ListStability
    from termsieve.ranking.ranking_rows import RankingRow
    from termsieve.selection.near_duplicates import NearDuplicate
    from termsieve.selection.selection import Selection

RANK_COLUMNS = ("class", "rank", "term", "score", "in_class", "elsewhere", "tp", "fp", "fn", "tn", "against")
SELECTION_COLUMNS = ("rank", "term", "score", "class", "taken_by")
STABILITY_COLUMNS = ("share", "rank_low", "rank_high")
_TERM_WIDTHS = 14, 32  # least and greatest width
_SHORT_HEADS = {"dispersion": "D"}
_NARROW_HEADS = "class", "in\nclass", "else-\nwhere"
_NUMBER_WIDTH = 14
_GAP = 3  # spaces between them
_MAX_DUPLICATES = 3  # superfluous terms beside a selected one


def make_rank_sheet(counts: Counts, ranked: Mapping[str, Sequence[Ranking]], *, overall: bool, brief: bool) -> Sheet:
    """Make a sheet of rankings by each score; with several scores, the first column names the score."""
    several = len(ranked) > 1
    rows = [
        [*([name] if several else []), *_row_values(row), *beside]
        for name, lists in ranked.items()
        for ranking in lists
        for row, beside in zip(ranking, _beside_rows(ranking), strict=True)
    ]
    added = next((one.beside for lists in ranked.values() for one in lists), {})

    def view() -> RenderableType:
        draw = _overall_table if overall else make_brief_table if brief else _class_tables
        parts = [
            (
                _format_headline(counts, name),
                Text(),
                draw(counts, [_show_tie_break(counts, one, overall) for one in lists]),
            )
            for name, lists in ranked.items()
        ]
        return Group(*(part for some in parts for part in some))

    def page(path: Path) -> None:
        from termsieve import report

        report(score(counts, [*ranked]), path)

    return Sheet((*(["by"] if several else []), *RANK_COLUMNS, *added), rows, view, page=page)


def _beside_rows(ranking: Ranking) -> list[tuple[float, ...]]:
    return list(zip(*ranking.beside.values(), strict=True)) or [()] * len(ranking)


def _show_tie_break(counts: Counts, ranking: Ranking, overall: bool) -> Ranking:
    """Return a ranking with what decided between its terms, where the score itself is the same for most of them."""
    scores = score(counts, ranking.score)
    if not scores.score.tie_break_title or not len(ranking) or ranking.beside:
        return ranking  # intervals beside it are those of the score
    of_class = None if overall else counts.index_of_class(ranking[0].label)
    values = scores.tie_break_of(None) if of_class is None else scores.tie_break_of_class(of_class)
    if values is None:
        return ranking
    rows = [row._replace(score=float(values[counts.index_of(row.term)])) for row in ranking]
    return Ranking(rows, scores.score.tie_break_title)


def _row_values(row: RankingRow) -> list[Any]:
    shares = [None if share is None else round(share, 6) for share in _document_shares(row)]
    return [row.label, row.rank, row.term, row.score, *shares, row.tp, row.fp, row.fn, row.tn, row.against]


def _document_shares(row: RankingRow) -> tuple[float | None, float | None]:
    """Return the shares of documents with the term, in the class and elsewhere."""
    inside, outside = row.tp + row.fn, row.fp + row.tn
    return row.tp / inside if inside else None, row.fp / outside if outside else None


def _format_headline(counts: Counts, spelling: str) -> Text:
    line = Text()
    for n, what in ((counts.n_docs, "documents"), (counts.n_classes, "classes"), (counts.vocabulary_size, "terms")):
        line.append(f"{n:,}", style="bold").append(f" {what}, ")
    return (
        line.append("ranked by ")
        .append(spelling, style="bold")
        .append(f" ({parse_score(spelling).title})", style="dim")
    )


def _class_tables(counts: Counts, lists: Sequence[Ranking]) -> RenderableType:
    """Make a table for each class, all with columns of the same width."""
    sizes = dict(zip(counts.classes.tolist(), counts.class_sizes.tolist(), strict=True))
    rows = [row for ranking in lists for row in ranking]
    heads = [_class_heading(row.label, sizes[row.label], row.against).plain for row in rows]
    width = column_width([*(row.term for row in rows), *heads], *_TERM_WIDTHS)
    tables: list[RenderableType] = []
    for ranking in lists:
        if not len(ranking):
            continue
        first = ranking[0]
        heading = _class_heading(first.label, sizes[first.label], first.against)
        table = _make_class_table(heading, width, ranking)
        _add_columns_beside(table, ranking, lists)
        shares = bar_shares([row.score for row in ranking])
        for row, share, beside in zip(ranking, shares, _beside_rows(ranking), strict=True):
            term, score, *others = _row_cells(row)
            table.add_row(term, score, *_bar_cells(ranking, row, share), *others, *map(format_number, beside))
        tables.append(Padding(table, (0, 0, 1, 0)))
    return Group(*tables) if tables else Text("No term is more frequent in a class than in the others.")


def _class_heading(label: str, size: int, against: bool) -> Text:
    heading = Text().append("against " if against else "", style="not dim bold red")
    heading.append_text(make_cell(label, "not dim bold"))
    heading.append(f"  {size:,} document{'s' * (size != 1)}", style="not bold dim")
    heading.no_wrap, heading.overflow = True, "ellipsis"
    return heading


def _make_class_table(heading: Text, width: int, ranking: Ranking) -> Table:
    table = make_bare_table()
    heading.pad_right(width - heading.cell_len)  # not the least width: this column gives way on a narrow screen
    table.add_column(heading, max_width=width)
    table.add_column(_make_heading(ranking.score), no_wrap=True, justify="right", min_width=8, max_width=14)
    _add_bar_column(table, ranking)
    table.add_column("in class", no_wrap=True, justify="right", min_width=9)
    table.add_column("elsewhere", no_wrap=True, justify="right", min_width=9)
    return table


def _make_heading(score: str) -> Text:
    return Text(score, no_wrap=True, overflow="ellipsis")


def _add_bar_column(table: Table, ranking: Ranking) -> None:
    if not ranking.beside:  # where columns are added, they need the room
        table.add_column("", width=BAR_WIDTH)


def _bar_cells(ranking: Ranking, row: RankingRow, share: float) -> list[Text]:
    return [] if ranking.beside else [Text(draw_bar(share), style="red" if row.against else "green")]


def _row_cells(row: RankingRow) -> list[RenderableType]:
    inside, outside = _document_shares(row)
    return [
        make_cell(row.term),
        format_number(row.score),
        format_percent(inside),
        Text(format_percent(outside), style="dim"),
    ]


def _overall_table(_: Counts, lists: Sequence[Ranking]) -> RenderableType:
    rows = lists[0]
    table = make_bare_table()
    table.add_column("", justify="right", style="dim")
    table.add_column("term", max_width=_TERM_WIDTHS[1])
    table.add_column(rows.score, no_wrap=True, justify="right", min_width=5, max_width=14)
    _add_bar_column(table, rows)
    for_class, inside, outside = _NARROW_HEADS if rows.beside else ("class", "in class", "elsewhere")
    table.add_column(for_class, no_wrap=True, max_width=30)
    table.add_column(inside, no_wrap=True, justify="right")
    table.add_column(outside, no_wrap=True, justify="right")
    _add_columns_beside(table, rows, lists)
    shares = bar_shares([row.score for row in rows])
    for row, share, beside in zip(rows, shares, _beside_rows(rows), strict=True):
        term, score, *others = _row_cells(row)
        drawn, added = _bar_cells(rows, row, share), map(format_number, beside)
        table.add_row(str(row.rank), term, score, *drawn, make_cell(row.label), *others, *added)
    return table


def _add_columns_beside(table: Table, ranking: Ranking, lists: Sequence[Ranking]) -> None:
    """Add the columns of what is known beside the score, wide enough for the numbers of all lists."""
    for name in ranking.beside:
        numbers = [format_number(value) for one in lists for value in one.beside.get(name, ())]
        width = column_width(numbers, 5, _NUMBER_WIDTH)
        table.add_column(_SHORT_HEADS.get(name, name), no_wrap=True, justify="right", min_width=width)


def make_brief_table(counts: Counts, lists: Sequence[Ranking]) -> RenderableType:
    """Make one line for each class: its best terms with the shares of documents, in the class and elsewhere."""
    sizes = dict(zip(counts.classes.tolist(), counts.class_sizes.tolist(), strict=True))
    table = make_bare_table()
    table.add_column("class", no_wrap=True, max_width=24)
    table.add_column("documents", justify="right", style="dim")
    table.add_column("terms: in class / elsewhere")
    for ranking in lists:
        if len(ranking):
            label = ranking[0].label
            terms = _FittingLine([_term_with_shares(row) for row in ranking[:TELLING_WORDS]])
            table.add_row(make_cell(label, "bold"), f"{sizes[label]:,}", terms)
    return table


def _term_with_shares(row: RankingRow) -> Text:
    return make_cell(row.term).append(" {} / {}".format(*map(format_percent, _document_shares(row))), style="dim")


class _FittingLine:
    """A line of as many texts as there is room for, and at least the first."""

    def __init__(self, parts: Sequence[Text]) -> None:
        self._parts = parts

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        line = Text(no_wrap=True, overflow="ellipsis")
        for i, part in enumerate(self._parts):
            if i and line.cell_len + _GAP + part.cell_len > options.max_width:
                break
            line.append(" " * _GAP if i else "").append_text(part)
        yield line

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        widths = [part.cell_len for part in self._parts]
        full = sum(widths) + _GAP * (len(widths) - 1)
        return Measurement(min(widths[0], options.max_width), min(full, options.max_width))


def make_selection_sheet(
    selection: Selection,
    shown: int | None,
    duplicates: Sequence[NearDuplicate] | None = None,
    again: ListStability | None = None,
) -> Sheet:
    """Make a sheet of the selected terms; the table shows the first `shown`, and what they make superfluous."""
    columns = [selection.terms, selection.scores, selection.labels, selection.taken_by]
    columns += [again.shares, again.rank_low, again.rank_high] if again is not None else []
    rows = [[i, *row] for i, row in enumerate(zip(*(part.tolist() for part in columns), strict=True), 1)]
    names: tuple[str, ...] = (*SELECTION_COLUMNS, *(STABILITY_COLUMNS if again is not None else ()))
    also: list[str] | None = None
    if duplicates is not None:
        names = (*names, "also")
        also = _list_duplicates(selection.terms.tolist(), duplicates)
        rows = [[*row, text] for row, text in zip(rows, also, strict=True)]
    return Sheet(names, rows, lambda: _selection_table(rows, shown, also, again), selection.terms.tolist)


def _list_duplicates(terms: Sequence[str], duplicates: Sequence[NearDuplicate]) -> list[str]:
    """Write for each term the first that it makes superfluous, with the share of their documents that have it."""
    found: dict[str, list[str]] = {term: [] for term in terms}
    for one in duplicates:
        if len(found[one.term]) < _MAX_DUPLICATES:
            share = format_percent(one.share)
            whose = "of its documents" if not found[one.term] else ""
            found[one.term].append(f"{one.other} ({share} {whose}".rstrip() + ")")
    return [", ".join(some) for some in found.values()]


def _make_stability_cells(again: ListStability, i: int) -> list[RenderableType]:
    share = Text(format_percent(float(again.shares[i])), style="" if again.is_stable[i] else "bold red")
    return [share, f"{again.rank_low[i]:,} to {again.rank_high[i]:,}"]


def _selection_table(
    rows: Sequence[Sequence[Any]],
    shown: int | None,
    also: Sequence[str] | None = None,
    again: ListStability | None = None,
) -> RenderableType:
    table = make_bare_table()
    table.add_column("", justify="right", style="dim")
    table.add_column("term", no_wrap=True, max_width=_TERM_WIDTHS[1])
    table.add_column("score", justify="right")
    table.add_column("", width=BAR_WIDTH)
    table.add_column("class", no_wrap=True, max_width=24)
    if also is not None:
        table.add_column("also")
    if again is not None:
        table.add_column("comes again", justify="right")
        table.add_column("ranks", justify="right")
    first = rows[:shown]
    bars = bar_shares([row[2] for row in first])
    for (rank, term, value, label, *_), share in zip(first, bars, strict=True):
        cells: list[RenderableType] = [
            str(rank), make_cell(term), format_number(value), Text(draw_bar(share), style="green"), make_cell(label)
        ]  # fmt: skip
        cells += [] if also is None else [make_cell(also[rank - 1], "dim")]
        cells += [] if again is None else _make_stability_cells(again, rank - 1)
        table.add_row(*cells)
    if len(first) == len(rows):
        return table
    return Group(table, Text(f"... and {len(rows) - len(first):,} more; -o terms.txt writes them all", style="dim"))

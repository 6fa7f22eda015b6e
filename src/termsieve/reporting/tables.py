"""The tables and lists of a report, as rows of text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from termsieve.classify.recipes import recipe_title
from termsieve.counts.counts import Counts
from termsieve.defaults import TELLING_CLASSES, TELLING_WORDS
from termsieve.ranking.ranking_rows import RankingRow
from termsieve.reporting.formatting import format_documents, format_name, format_seconds, keep_percent
from termsieve.reporting.report_data import RANKING, ReportData
from termsieve.scores.parsing import score_title
from termsieve.selection.near_duplicates import NearDuplicate
from termsieve.study.excerpts import largest_classes
from termsieve.study.results import Comparison
from termsieve.views import format_measure, format_percent

MAX_LISTED = 6_000
MAX_TOP = 10
MIN_TOP = 3
OPEN_CLASSES = 12
_UNSURE_TITLE = "; it does not come again in 9 of 10 half-samples"
MAX_SUPERFLUOUS = 4  # of one term


class Fact(NamedTuple):
    """A name and its value."""

    name: str
    value: str


class ResultColumn(NamedTuple):
    """The heading of a column, and whether it holds numbers."""

    name: str
    number: bool


class ResultCell(NamedTuple):
    """A cell: its text, and its value for sorting."""

    text: str
    value: object
    number: bool


class ResultRow(NamedTuple):
    """A row of the table of results."""

    cells: list[ResultCell]
    recommended: bool


class TopTerm(NamedTuple):
    """A term of a list: its number on the map, if any, its rates, whether no other score has it, whether it is sure."""

    text: str
    number: int | None
    rate: str
    title: str
    only: bool
    unsure: bool = False


class TopList(NamedTuple):
    """The best terms of a class by one score."""

    score: str
    terms: list[TopTerm]


class TopClass(NamedTuple):
    """The lists of a class."""

    name: str
    size: str
    lists: list[TopList]


class TellingWords(NamedTuple):
    """The few most telling words of a class, for the first screen."""

    name: str
    size: str
    terms: list[TopTerm]


def make_telling_words(data: ReportData, numbers: dict[str, int]) -> list[TellingWords]:
    """List the most telling words of the largest classes, by the score that the page shows first."""
    if not data.contenders:
        return []
    counts, scores = data.ranked_counts, data.leading_contender.scores
    lists = []
    for c in largest_classes(counts, TELLING_CLASSES):
        rows = scores.top_of_class(int(c), TELLING_WORDS)
        terms = [_make_top_term(data, row, numbers, only=False) for row in rows]
        lists.append(TellingWords(format_name(str(counts.classes[c]), 24), f"{counts.class_sizes[c]:,}", terms))
    return lists


class SuperfluousTerm(NamedTuple):
    """A term that another one makes superfluous, with the share of its documents that have the other, and details."""

    text: str
    share: str
    title: str


class ExplainedTerm(NamedTuple):
    """A term, and the first of those that it makes superfluous."""

    text: str
    number: int | None
    also: list[SuperfluousTerm]


def make_explained_terms(found: Sequence[NearDuplicate], numbers: dict[str, int]) -> list[ExplainedTerm]:
    """List terms with what they make superfluous, both in the order in which they were found."""
    by_term: dict[str, list[SuperfluousTerm]] = {}
    for one in found:
        also = by_term.setdefault(one.term, [])
        if len(also) < MAX_SUPERFLUOUS:
            also.append(_make_superfluous_term(one))
    return [ExplainedTerm(format_name(term), numbers.get(term), also) for term, also in by_term.items()]


def _make_superfluous_term(one: NearDuplicate) -> SuperfluousTerm:
    term, share = format_name(one.term), format_percent(one.share)
    left = format_percent(max(one.left / one.gain, 0.0) if one.gain > 0 else 0.0)
    title = (
        f"{share} of its {one.df:,} documents have {term}, too; beside {term} it tells {left} of what it tells of the "
        "classes alone"
    )
    return SuperfluousTerm(format_name(one.other), share, title)


def make_tiles(data: ReportData) -> list[Fact]:
    """Make the tiles with the few large numbers."""
    counts, result = data.counts, data.result
    tiles = []
    if counts is not None:
        tiles += [Fact("documents", f"{counts.n_docs:,}"), Fact("classes", f"{counts.n_classes:,}")]
        tiles += [Fact("terms", f"{counts.n_terms:,}")]
    n_scores = len(data.contenders if result is None else result.asked_scores)
    tiles.append(Fact(f"score{'s' * (n_scores != 1)}", f"{n_scores}"))
    if result is None:
        return tiles
    return [
        *tiles,
        Fact("classifiers", f"{len(result.asked_classifiers)}"),
        Fact(
            "splits",
            f"{result.settings.get('n_splits', len(result.curve(result.scores[0], result.classifiers[0])[1]))}",
        ),
    ]


def list_facts(counts: Counts) -> list[Fact]:
    """List further facts about a corpus."""
    df, n = counts.term_df, max(counts.n_docs, 1)
    sizes = counts.class_sizes
    largest, smallest = int(sizes.argmax()), int(sizes.argmin())
    shares = [f"{format_name(str(counts.classes[c]))}, {format_percent(sizes[c] / n)}" for c in (largest, smallest)]
    facts = [Fact(name, value) for name, value in zip(("largest class", "smallest class"), shares, strict=True)]
    if sizes[largest] == sizes[smallest]:
        facts = [Fact("documents of each class", f"{sizes[largest]:,}")]
    facts += [
        Fact("documents with several labels", f"{counts.n_multilabel:,}"),
        Fact("different terms of a document, on average", f"{df.sum() / n:,.1f}"),
    ]
    if not counts.is_real:
        facts.append(Fact("occurrences of terms", f"{counts.n_occurrences:,}"))
    if counts.n_terms:
        facts.append(
            Fact("terms in one document only", f"{(df == 1).sum():,} ({format_percent(float((df == 1).mean()))})")
        )
        facts.append(
            Fact(
                "most frequent term",
                f"{format_name(str(counts.terms[df.argmax()]))}, in {format_percent(df.max() / n)}",
            )
        )
    return [Fact(name, keep_percent(value)) for name, value in facts]


def make_result_columns(result: Comparison) -> list[ResultColumn]:
    """Make the headings of the table of results."""
    at = f"macro F1 with {result.recommended().k:,}"
    numbers = ("best macro F1", "± s.e.", "with terms", at, "ranking", "learning")
    return [
        ResultColumn("score", False),
        ResultColumn("classifier", False),
        *(ResultColumn(name, True) for name in numbers),
    ]


def make_result_rows(data: ReportData, result: Comparison) -> list[ResultRow]:
    """Make a row for each score and classifier: its best F1, that with the recommended number of terms, its time."""
    choice = result.recommended()
    by_trial: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in result.summary().to_pylist():
        by_trial.setdefault((row["score"], row["classifier"]), []).append(row)
    lines = []
    for (name, model), rows in by_trial.items():
        best = max(rows, key=lambda row: (row["mean"], -row["k"]))
        there = next((row["mean"] for row in rows if row["k"] == choice.k), None)
        ranking, learning = data.timings.get((name, RANKING)), data.timings.get((name, model))
        cells = [
            ResultCell(score_title(name), name, False),
            ResultCell(recipe_title(model), model, False),
            _measure_cell(best["mean"]),
        ]
        cells += [
            _measure_cell(best["standard_error"]),
            ResultCell(f"{best['k']:,}", best["k"], True),
            _measure_cell(there),
        ]
        cells += [_duration_cell(ranking), _duration_cell(learning)]
        lines.append(ResultRow(cells, (name, model) == (choice.score, choice.classifier)))
    return sorted(lines, key=lambda line: -float(str(line.cells[2].value)))


def _measure_cell(value: float | None) -> ResultCell:
    known = value is not None and value == value
    return ResultCell(format_measure(value), value if known else -1, True)


def _duration_cell(value: float | None) -> ResultCell:
    return ResultCell("-", -1, True) if value is None else ResultCell(format_seconds(value), value, True)


def top_list_length(data: ReportData) -> int:
    """Return the number of terms in each list."""
    lists = len(largest_classes(data.ranked_counts)) * len(data.contenders)
    return min(max(MAX_LISTED // max(lists, 1), MIN_TOP), MAX_TOP)


def make_top_lists(data: ReportData, numbers: dict[str, int]) -> list[TopClass]:
    """List for each class the best terms by each score; `numbers` are those of the terms on the map."""
    counts, n = data.ranked_counts, top_list_length(data)
    classes = []
    for c in largest_classes(counts):
        rankings = {one.name: one.scores.top_of_class(int(c), n) for one in data.contenders}
        all_terms = [row.term for ranking in rankings.values() for row in ranking]
        lists = [
            TopList(
                score_title(name),
                [
                    _make_top_term(data, row, numbers, only=all_terms.count(row.term) == 1 < len(rankings))
                    for row in ranking
                ],
            )
            for name, ranking in rankings.items()
        ]
        size = format_documents(int(counts.class_sizes[c]))
        classes.append(TopClass(format_name(str(counts.classes[c])), size, lists))
    return classes


def _make_top_term(data: ReportData, row: RankingRow, numbers: dict[str, int], *, only: bool) -> TopTerm:
    inside, outside = row.tp / max(row.tp + row.fn, 1), row.fp / max(row.fp + row.tn, 1)
    unsure = data.stable_terms is not None and data.stable_terms.is_unsure(row.term)
    title = f"{_rate_title(outside)}{_UNSURE_TITLE if unsure else ''}"
    return TopTerm(format_name(row.term), numbers.get(row.term), format_percent(inside), title, only, unsure)


def _rate_title(outside: float) -> str:
    return f"{format_percent(outside)} elsewhere"

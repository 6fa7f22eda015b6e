"""The tables and lists of a report, as rows of text."""

from __future__ import annotations

from typing import Any, NamedTuple

from termsieve.counts.counts import Counts
from termsieve.ranking.ranking import Row
from termsieve.reporting.formatting import f1, seconds, shown
from termsieve.reporting.report_data import Material
from termsieve.study.excerpts import shown_classes
from termsieve.study.results import Comparison
from termsieve.views import percent

MOST_LISTED = 6_000
MOST_TOP = 10
LEAST_TOP = 3
OPEN_CLASSES = 12


class Fact(NamedTuple):
    """A name and its value."""

    name: str
    value: str


class Column(NamedTuple):
    """The head of a column, and whether it holds numbers."""

    name: str
    number: bool


class Cell(NamedTuple):
    """A cell as it is shown, and as it is sorted."""

    text: str
    value: object
    number: bool


class Line(NamedTuple):
    """A row of the table of results."""

    cells: list[Cell]
    recommended: bool


class TopTerm(NamedTuple):
    """A term of a list: its number on the map, if it is there, its rates, and whether no other score has it."""

    text: str
    number: int | None
    rate: str
    title: str
    only: bool


class TopList(NamedTuple):
    """The best terms of a class by one score."""

    score: str
    terms: list[TopTerm]


class TopClass(NamedTuple):
    """The lists of a class."""

    name: str
    size: str
    lists: list[TopList]


def tiles(material: Material) -> list[Fact]:
    """The few large numbers."""
    counts, result = material.counts, material.result
    found = []
    if counts is not None:
        found += [Fact("documents", f"{counts.n_docs:,}"), Fact("classes", f"{counts.n_classes:,}")]
        found += [Fact("terms", f"{counts.n_terms:,}")]
    if result is None:
        return [*found, Fact("scores", f"{len(material.contestants)}")]
    return [
        *found,
        Fact("scores", f"{len(result.scores)}"),
        Fact("classifiers", f"{len(result.classifiers)}"),
        Fact(
            "splits",
            f"{result.settings.get('n_splits', len(result.curve(result.scores[0], result.classifiers[0])[1]))}",
        ),
    ]


def facts(counts: Counts) -> list[Fact]:
    """What else there is to know about a corpus."""
    df, n = counts.term_df, max(counts.n_docs, 1)
    sizes = counts.class_sizes
    largest, smallest = int(sizes.argmax()), int(sizes.argmin())
    found = [
        Fact("largest class", f"{shown(str(counts.classes[largest]))}, {percent(sizes[largest] / n)}"),
        Fact("smallest class", f"{shown(str(counts.classes[smallest]))}, {percent(sizes[smallest] / n)}"),
        Fact("documents with several labels", f"{counts.n_multilabel:,}"),
        Fact("different terms of a document, on average", f"{df.sum() / n:,.1f}"),
    ]
    if not counts.is_real:
        found.append(Fact("occurrences of terms", f"{counts.n_occurrences:,}"))
    if counts.n_terms:
        found.append(Fact("terms in one document only", f"{(df == 1).sum():,} ({percent(float((df == 1).mean()))})"))
        found.append(Fact("most frequent term", f"{shown(str(counts.terms[df.argmax()]))}, in {percent(df.max() / n)}"))
    return [Fact(name, value.replace(" %", "\u00a0%")) for name, value in found]


def result_columns(result: Comparison) -> list[Column]:
    """The heads of the table of results."""
    at = f"F1 with {result.recommended().k:,}"
    numbers = ("best F1", "± s.e.", "with terms", at, "ranking", "learning")
    return [Column("score", False), Column("classifier", False), *(Column(name, True) for name in numbers)]


def result_rows(material: Material, result: Comparison) -> list[Line]:
    """For each score and classifier its best, what it has with the recommended number of terms, and its time."""
    choice = result.recommended()
    by_trial: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in result.summary().to_pylist():
        by_trial.setdefault((row["score"], row["classifier"]), []).append(row)
    lines = []
    for (name, model), rows in by_trial.items():
        best = max(rows, key=lambda row: (row["mean"], -row["k"]))
        there = next((row["mean"] for row in rows if row["k"] == choice.k), None)
        ranking, learning = material.timings.get((name, "ranking")), material.timings.get((name, model))
        cells = [Cell(name, name, False), Cell(model, model, False), _measure(best["mean"])]
        cells += [_measure(best["standard_error"]), Cell(f"{best['k']:,}", best["k"], True), _measure(there)]
        cells += [_duration(ranking), _duration(learning)]
        lines.append(Line(cells, (name, model) == (choice.score, choice.classifier)))
    return sorted(lines, key=lambda line: -float(str(line.cells[2].value)))


def _measure(value: float | None) -> Cell:
    known = value is not None and value == value
    return Cell(f1(float(value or 0)), value, True) if known else Cell("-", -1, True)


def _duration(value: float | None) -> Cell:
    return Cell("-", -1, True) if value is None else Cell(seconds(value), value, True)


def n_top(material: Material) -> int:
    """How many terms each list has."""
    lists = len(shown_classes(material.ranked_counts)) * len(material.contestants)
    return min(max(MOST_LISTED // max(lists, 1), LEAST_TOP), MOST_TOP)


def top_classes(material: Material, numbers: dict[str, int]) -> list[TopClass]:
    """For each class the best terms by each score; `numbers` are those of the terms on the map."""
    counts, n = material.ranked_counts, n_top(material)
    found = []
    for c in shown_classes(counts):
        rankings = {one.name: one.scores.top_of_class(int(c), n) for one in material.contestants}
        listed = [row.term for ranking in rankings.values() for row in ranking]
        lists = [
            TopList(
                name, [_top_term(row, numbers, len(rankings) > 1 and listed.count(row.term) == 1) for row in ranking]
            )
            for name, ranking in rankings.items()
        ]
        found.append(TopClass(shown(str(counts.classes[c])), f"{counts.class_sizes[c]:,} documents", lists))
    return found


def _top_term(row: Row, numbers: dict[str, int], only: bool) -> TopTerm:
    inside, outside = row.tp / max(row.tp + row.fn, 1), row.fp / max(row.fp + row.tn, 1)
    return TopTerm(shown(row.term), numbers.get(row.term), percent(inside), _title(outside), only)


def _title(outside: float) -> str:
    return f"{percent(outside)} elsewhere"

"""The map of the vocabulary: the terms that it shows, and its data about them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from termsieve._types import Array, Int64Array
from termsieve.reporting.formatting import format_name
from termsieve.reporting.report_data import ReportData, ScoredContender
from termsieve.reporting.style import MAP_EXPONENT, MAP_HEIGHT, PALETTE, TEXT_COLOR, make_unique
from termsieve.study.excerpts import largest_classes

# These limits keep the data of a page below a megabyte, whatever the number of classes and scores
MAX_RANKS = 60_000
MAX_VIEW_TERMS = 12_000
MAX_POINTS = 800
MIN_POINTS = 60
MAX_CLASS_COUNTS = 6
N_COLORED = 50  # terms that have a colour in a static figure
OTHER_TERMS = "other terms"
_STATIC_WIDTH = 500  # of the map in a static figure, about


class VocabularyMap(NamedTuple):
    """The data of the page about terms, and the terms as they are spelled, in the same order."""

    data: dict[str, Any]
    spellings: list[str]


def make_vocabulary_map(data: ReportData) -> VocabularyMap:
    """Collect terms with their counts, and for each view (all classes, or one) its terms with their ranks.

    A view has the best terms by each score, and a sample of the others that is dense among the frequent ones.
    """
    counts, contenders = data.ranked_counts, data.contenders
    classes = largest_classes(counts)
    speaks_for = contenders[0].scores.associated_class
    n = count_points(len(classes) + 1, len(contenders), counts.n_terms)
    views = [_make_view(contenders, None, n, np.isin(speaks_for, classes))]
    views += [_make_view(contenders, int(c), n) for c in classes]
    used = np.unique(np.concatenate([indices for indices, _ in views]))
    number = {int(index): i for i, index in enumerate(used)}
    new_class = {int(c): i for i, c in enumerate(classes)}
    terms = [str(term) for term in counts.term_array.take(used).to_pylist()]
    numbered = [[number[int(index)] for index in indices] for indices, _ in views]
    map_data = {
        "classes": make_unique(format_name(str(counts.classes[c])) for c in classes),
        "sizes": counts.class_sizes[classes].tolist(),
        "n_docs": counts.n_docs,
        "n_terms": counts.n_terms,
        "scores": data.names,
        "terms": [format_name(term) for term in terms],
        "df": counts.term_df[used].tolist(),
        "own": [new_class.get(int(c), -1) for c in speaks_for[used]],
        "cells": _class_counts(counts.df[classes][:, used].tocsc(), counts.class_sizes[classes], numbered[1:]),
        "views": [{"terms": mine, "ranks": ranks} for mine, (_, ranks) in zip(numbered, views, strict=True)],
        "excerpts": {
            str(i): [[format_name(one.label), one.before, one.match, one.after] for one in data.excerpts[term]]
            for i, term in enumerate(terms) if term in data.excerpts
        },
    }  # fmt: skip
    return VocabularyMap(map_data, terms)


def count_points(n_views: int, n_scores: int, n_terms: int) -> int:
    """Return the number of terms in a view.

    >>> count_points(6, 6, 30_000), count_points(21, 6, 200_000), count_points(41, 42, 200_000), count_points(3, 1, 9)
    (800, 476, 60, 9)
    """
    room = min(MAX_RANKS // (n_views * n_scores), MAX_VIEW_TERMS // n_views, MAX_POINTS)
    return min(max(room, MIN_POINTS), n_terms)


def _class_counts(df: Any, sizes: Int64Array, in_class: list[list[int]]) -> list[list[int]]:
    """List for each term some classes, each followed by the number of its documents with the term.

    These are the classes with the highest rates, and those in whose view the term is.
    """
    wanted: list[set[int]] = [set() for _ in range(df.shape[1])]
    for c, terms in enumerate(in_class):
        for i in terms:
            wanted[i].add(c)
    cells = []
    for i, mine in enumerate(wanted):
        part = slice(df.indptr[i], df.indptr[i + 1])
        here, numbers = df.indices[part], df.data[part]
        highest = here[np.argsort(-numbers / sizes[here], kind="stable")[:MAX_CLASS_COUNTS]]
        shown = mine.union(highest.tolist())
        pairs = sorted((c, n) for c, n in zip(here.tolist(), numbers.tolist(), strict=True) if c in shown)
        cells.append([number for pair in pairs for number in pair])
    return cells


def _make_view(
    contenders: list[ScoredContender], c: int | None, n: int, allowed: Any = None
) -> tuple[Int64Array, list[list[int]]]:
    """Return the indices of the terms for one class, or for all, and their ranks by each score."""
    values = [one.overall if c is None else one.scores.of_class(c) for one in contenders]
    best = [_top_indices(one, c, value, n) for one, value in zip(contenders, values, strict=True)]
    df = contenders[0].scores.counts.term_df
    in_turn = np.array(best).T.ravel()
    few_of_the_best = _drop_duplicates(in_turn)[: max(2 * n // 3, 1)]
    chosen = _drop_duplicates(np.concatenate([few_of_the_best, _sample_terms(df, n)]))[:n]
    if allowed is not None:
        chosen = chosen[allowed[chosen]]
    return chosen, [_term_ranks(value, order, chosen).tolist() for value, order in zip(values, best, strict=True)]


def _top_indices(one: ScoredContender, c: int | None, values: Array, n: int) -> Int64Array:
    ties = one.scores.tie_break_of(one.aggregate) if c is None else one.scores.tie_break_of_class(c)
    return one.scores.top_indices(values, ties, n)


def _drop_duplicates(indices: Int64Array) -> Int64Array:
    """Keep the first of equal indices."""
    _, first = np.unique(indices, return_index=True)
    return indices[np.sort(first)]


def _sample_terms(df: Int64Array, n: int) -> Int64Array:
    """Sample terms from the most frequent to the rarest, more densely among the frequent."""
    by_frequency = np.argsort(-df, kind="stable")
    return by_frequency[np.unique(np.geomspace(1, len(df), n).round().astype(np.int64)) - 1]


def _term_ranks(values: Array, best: Int64Array, chosen: Int64Array) -> Int64Array:
    """Return ranks of the chosen terms: exact among the best; after them, equal values share their first rank."""
    ascending = np.sort(values)
    ranks = len(values) - np.searchsorted(ascending, values[chosen], side="right") + 1
    exact = {int(index): rank for rank, index in enumerate(best, 1)}
    return np.array([exact.get(int(p), max(int(r), len(best) + 1)) for p, r in zip(chosen, ranks, strict=True)])


def make_static_points(words: dict[str, Any], score: str) -> list[dict[str, Any]]:
    """Make the points of the map of all classes by one score, for a static figure."""
    terms = words["views"][0]["terms"]
    ranks = words["views"][0]["ranks"][words["scores"].index(score) if score in words["scores"] else 0]
    colored = list_colored_classes(words)
    points = []
    for rank, i in sorted(zip(ranks, terms, strict=True)):
        label = words["own"][i]
        inside = dict(zip(words["cells"][i][::2], words["cells"][i][1::2], strict=True)).get(label, 0)
        size, first = words["sizes"][label], rank <= N_COLORED
        points.append({
            "x": (words["df"][i] - inside) / max(words["n_docs"] - size, 1), "y": inside / max(size, 1),
            "class": words["classes"][label] if first and label in colored else OTHER_TERMS,
            "opacity": 0.9 if first else 0.22, "size": 52 if first else 22, "ring": False,
            "label": words["terms"][i] if first else "",
        })  # fmt: skip
    _hide_overlapping_labels(points[:N_COLORED])
    return points[::-1]


def make_static_legend(words: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the classes with a colour of their own in a static figure, and the colour of all others."""
    colored = [(words["classes"][label], PALETTE[i]) for i, label in enumerate(list_colored_classes(words))]
    return [*colored, (OTHER_TERMS, TEXT_COLOR)]


def list_colored_classes(words: dict[str, Any]) -> list[int]:
    """Return the classes with a colour of their own: the largest."""
    by_size = np.argsort(-np.array(words["sizes"]), kind="stable")
    return sorted(by_size[: len(PALETTE) - 1].tolist())


def _hide_overlapping_labels(points: list[dict[str, Any]]) -> None:
    """Remove labels that would cover one before them."""
    boxes: list[tuple[float, float, float]] = []
    for point in points:
        x, y = _STATIC_WIDTH * point["x"] ** MAP_EXPONENT, MAP_HEIGHT * point["y"] ** MAP_EXPONENT
        end = x + 14 + 6.5 * len(point["label"])
        if any(x < right and end > left and abs(y - level) < 14 for left, right, level in boxes):
            point["label"] = ""
        else:
            boxes.append((x, end, y))

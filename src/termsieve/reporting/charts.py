"""The charts of a report without those of F1: Vega-Lite by Altair. Lines and text have the colour of the text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np

from termsieve.classify.recipes import recipe_title
from termsieve.counts.counts import Counts
from termsieve.errors import CountsError, OptionError
from termsieve.model.exporting import Front
from termsieve.reporting.formatting import format_name, format_seconds, format_term_count, round_for_json
from termsieve.reporting.report_data import RANKING, ReportData
from termsieve.reporting.style import (
    MAP_EXPONENT,
    MAP_HEIGHT,
    PALETTE,
    TEXT_COLOR,
    Chart,
    axis_at,
    color_scale,
    dash_scale,
    finish_chart,
    inline_data,
    make_legend,
    make_tooltip,
    make_unique,
    powers_of_ten,
    shape_scale,
)
from termsieve.scores.parsing import score_title
from termsieve.views import format_measure, format_percent

MAX_BARS = 20
_BIN_STARTS = (1, 2, 3, 6, 11, 21, 51, 101, 201, 501, 1001, 10_001, 100_001, 1_000_001)


def draw_certainty(data: ReportData, n: int = 20) -> Chart | None:
    """Draw the best terms by the score of the page with the intervals of their scores; None where there are none."""
    leading = data.leading_contender
    try:
        ranking = leading.scores.top(n, intervals=True).to_arrow()
    except (OptionError, CountsError):
        return None
    names = make_unique(format_name(one, 24) for one in ranking["term"].to_pylist())
    values = (ranking[name].to_pylist() for name in ("score", "low", "high"))
    rows: list[dict[str, Any]] = [
        {
            "place": place,
            "term": term,
            **{name: round_for_json(x, 6) for name, x in zip(("score", "low", "high"), some, strict=True)},
        }
        for place, (term, *some) in enumerate(zip(names, *values, strict=True))
    ]
    if not rows or any(row[name] is None for row in rows for name in ("score", "low", "high")):
        return None
    title = score_title(leading.name)
    by_place = alt.EncodingSortField(field="place", op="min")  # names in a list of Vega would have to be escaped
    base = alt.Chart(inline_data(rows)).encode(
        y=alt.Y("term:N", sort=by_place, title=None, axis=alt.Axis(domain=False, ticks=False)),
        tooltip=[make_tooltip("term:N", "term"), make_tooltip("score:Q", title, ",.4~g"),
                 make_tooltip("low:Q", "95 % interval from", ",.4~g"), make_tooltip("high:Q", "to", ",.4~g")],
    )  # fmt: skip
    axis = alt.Axis(tickCount=8)
    whiskers = base.mark_rule(color=PALETTE[0], strokeWidth=2).encode(
        x=alt.X("low:Q", title=title, axis=axis), x2="high:Q"
    )
    points = base.mark_point(filled=True, size=60, color=PALETTE[0]).encode(x=alt.X("score:Q", title=title, axis=axis))
    words = "; ".join(f"{row['term']} {row['score']:.4g} ({row['low']:.4g} to {row['high']:.4g})" for row in rows[:12])
    return finish_chart(
        (whiskers + points).properties(height=20 * len(rows) + 10), "certainty",
        f"The best terms by {title}, with 95 % intervals", f"Scores with their intervals: {words}.",
    )  # fmt: skip


def draw_class_sizes(counts: Counts) -> Chart:
    """Draw the numbers of documents of the largest classes."""
    order = np.argsort(-counts.class_sizes, kind="stable")[:MAX_BARS]
    rows = [
        {"class": name, "documents": int(counts.class_sizes[c])}
        for name, c in zip(make_unique(format_name(str(counts.classes[c]), 30) for c in order), order, strict=True)
    ]
    title = "Documents of each class"
    if counts.n_classes > MAX_BARS:
        title = f"Documents of the {MAX_BARS} largest of {counts.n_classes:,} classes"
    words = f"{title}: " + ", ".join(f"{row['class']} {row['documents']:,}" for row in rows)
    return finish_chart(_draw_bars(rows, "class", "documents"), "classes", title, words)


def draw_term_frequencies(counts: Counts) -> Chart:
    """Draw how many terms are in how many documents."""
    starts = [start for start in _BIN_STARTS if start <= max(counts.n_docs, 1)]
    ends = [*(start - 1 for start in starts[1:]), counts.n_docs]
    rows = []
    for start, end in zip(starts, ends, strict=True):
        n = int(((counts.term_df >= start) & (counts.term_df <= end)).sum())
        if n:
            rows.append({"in documents": f"{start:,}" if start == end else f"{start:,} to {end:,}", "terms": n})
    words = "Numbers of documents, and of the terms in them: "
    words += ", ".join(f"{row['in documents']}: {row['terms']:,}" for row in rows)
    return finish_chart(
        _draw_bars(rows, "in documents", "terms"), "terms", "Terms by the number of documents with them", words
    )


def _draw_bars(rows: list[dict[str, Any]], what: str, measure: str) -> Any:
    longest = max((row[measure] for row in rows), default=1)
    names = [row[what] for row in rows]
    plain = alt.Axis(ticks=False, domain=False, grid=False)
    base = alt.Chart(inline_data(rows)).encode(
        y=alt.Y(f"{what}:N", sort=names, title=None, axis=plain),
        x=alt.X(f"{measure}:Q", title=None, axis=None, scale=alt.Scale(domain=[0, 1.18 * longest])),
        tooltip=[make_tooltip(f"{what}:N", what), make_tooltip(f"{measure}:Q", measure, ",")],
    )
    bars = base.mark_bar(color=PALETTE[0], cornerRadiusEnd=2, height={"band": 0.72})
    numbers = base.mark_text(align="left", dx=4, color=TEXT_COLOR).encode(text=alt.Text(f"{measure}:Q", format=","))
    return (bars + numbers).properties(height=max(22 * len(rows), 44))


def draw_overlaps(data: ReportData) -> Chart:
    """Draw the share of the first k terms that two scores have in common."""
    means: dict[str, list[float]] = {}
    columns = {k: "all" if k == data.ranked_counts.n_terms else format_term_count(k) for k in data.ks}
    rows = []
    for one in data.agreements:
        pair = f"{one.first} · {one.second}"
        means.setdefault(pair, []).append(one.share)
        rows.append(
            {
                "pair": pair,
                "k": columns[one.k],
                "share": round_for_json(one.share),
                "shown": f"{100 * one.share:.0f}",
            }
        )
    order = sorted(means, key=lambda pair: -sum(means[pair]))
    chart = _draw_heat_map(
        rows, "k", "pair", list(columns.values()), order, "share", "cividis", [0, 1], "first terms"
    ).properties(height=24 * len(order) + 10)
    words = "; ".join(f"{pair} {format_percent(sum(means[pair]) / len(means[pair]))}" for pair in order[:12])
    return finish_chart(
        chart, "overlap", "First terms in common, per cent", f"Mean share in common over all numbers of terms: {words}."
    )


def draw_correlations(data: ReportData) -> Chart:
    """Draw the rank correlations of the scores over all terms."""
    names = data.names
    correlations = data.correlations
    rows: list[dict[str, Any]] = [
        {"a": a, "b": b, "rho": round_for_json(correlations[i, j]),
         "shown": "" if i == j or not np.isfinite(correlations[i, j]) else f"{correlations[i, j]:.2f}"}
        for i, a in enumerate(names) for j, b in enumerate(names)
    ]  # fmt: skip
    chart = _draw_heat_map(rows, "a", "b", names, names, "rho", "blueorange", [-1, 1], None).properties(
        height=28 * len(names) + 10
    )
    pairs = [row for row in rows if row["a"] < row["b"] and row["shown"]]
    words = "; ".join(f"{row['a']} and {row['b']} {row['shown']}" for row in pairs[:15])
    return finish_chart(
        chart, "correlations", "Rank correlation over all terms", f"Spearman's rank correlation: {words}."
    )


def _draw_heat_map(
    rows: list[dict[str, Any]], x: str, y: str, xs: Sequence[str], ys: Sequence[str],
    value: str, scheme: Any, domain: list[float], x_title: str | None,
) -> Any:  # fmt: skip
    base = alt.Chart(inline_data(rows)).encode(
        x=alt.X(
            f"{x}:N",
            sort=list(xs),
            title=x_title,
            axis=alt.Axis(
                labelAngle=0 if x_title else -40, orient="top", domain=False, ticks=False, labelOverlap=False
            ),
        ),
        y=alt.Y(f"{y}:N", sort=list(ys), title=None, axis=alt.Axis(domain=False, ticks=False)),
        tooltip=[make_tooltip(f"{y}:N", y), make_tooltip(f"{x}:N", x), make_tooltip(f"{value}:Q", value, ".3f")],
    )
    middle = sum(domain) / 2
    cells = base.mark_rect(cornerRadius=2).encode(
        color=alt.Color(f"{value}:Q", scale=alt.Scale(scheme=scheme, domain=domain, reverse=domain[0] < 0), legend=None)
    )
    dark_text = f"datum.{value} > {middle + 0.1}" if scheme == "cividis" else f"abs(datum.{value}) < 0.62"
    text = base.mark_text(fontSize=11, aria=False).encode(
        text="shown:N", color=alt.when(dark_text).then(alt.value("#111")).otherwise(alt.value("#fff"))
    )
    return cells + text


def draw_energy(data: ReportData) -> Chart:
    """Draw the share of the sum of all scores that the first terms have."""
    energies = {score_title(name): curve for name, curve in data.energies.items()}
    rows = [
        {"score": title, "k": k, "share": round_for_json(share)}
        for title, curve in energies.items()
        for k, share in curve
    ]
    names = list(energies)
    long = make_legend(names, size=500)
    n_terms = data.ranked_counts.n_terms
    lines = alt.Chart(inline_data(rows)).mark_line(strokeWidth=2).encode(
        x=alt.X("k:Q", title="terms", scale=alt.Scale(type="log", nice=False), axis=axis_at(powers_of_ten(n_terms))),
        y=alt.Y("share:Q", title="share of the sum", axis=alt.Axis(format=".0%"), scale=alt.Scale(domain=[0, 1])),
        color=alt.Color("score:N", scale=color_scale(names), legend=long),
        strokeDash=alt.StrokeDash("score:N", scale=dash_scale(names), legend=long),
        tooltip=[make_tooltip("score:N", "score"), make_tooltip("k:Q", "terms", ","),
                 make_tooltip("share:Q", "share", ".1%")],
    )  # fmt: skip
    halves = "; ".join(f"{name} {next(k for k, s in curve if s >= 0.5):,}" for name, curve in energies.items())
    return finish_chart(
        lines,
        "energy",
        "Share of the sum of all scores in the first terms",
        f"Terms that have half of it: {halves}.",
        height=300,
    )


def draw_byte_front(front: Front) -> Chart:
    """Draw the best F1 against the bytes of the model."""
    rows = [
        {"bytes": one.n_bytes, "f1": round_for_json(one.f1), "terms": one.terms, "bits": one.bits}
        for one in front.choices
    ]
    full = round_for_json(front.full_f1)
    values = [front.full_f1, *(one.f1 for one in front.choices)]
    margin = 0.04 * (max(values) - min(values) or 0.1)
    domain = [max(min(values) - margin, 0), min(max(values) + margin, 1)]
    height = alt.Y("f1:Q", title="macro F1", scale=alt.Scale(domain=domain, zero=False))
    line = alt.Chart(inline_data(rows)).mark_line(
        interpolate="step-after", strokeWidth=2, color=PALETTE[0], point=alt.OverlayMarkDef(size=60, color=PALETTE[0])
    ).encode(
        x=alt.X("bytes:Q", title="bytes of the model", scale=alt.Scale(type="log", nice=False)),
        y=height,
        tooltip=[make_tooltip("bytes:Q", "bytes", ","), make_tooltip("f1:Q", "F1", ".4f"),
                 make_tooltip("terms:Q", "terms", ","), make_tooltip("bits:Q", "bits per weight")],
    )  # fmt: skip
    across = alt.Chart(inline_data([{"f1": full}])).mark_rule(strokeDash=[4, 4], color=TEXT_COLOR).encode(y=height)
    said = "; ".join(f"{one.n_bytes:,} bytes {format_measure(one.f1)}" for one in front.choices)
    return finish_chart(
        across + line, "bytes", f"Macro F1 against bytes, mean of {front.folds} folds",
        f"The full model {format_measure(front.full_f1)}; {said}.", height=300,
    )  # fmt: skip


def draw_timings(data: ReportData) -> Chart:
    """Draw the CPU seconds of a split."""
    rows: list[dict[str, Any]] = [
        {"score": name, "part": _name_part(part), "seconds": max(value, 1e-5), "shown": format_seconds(value)}
        for (name, part), value in data.timings.items()
    ]
    parts = list(dict.fromkeys(row["part"] for row in rows))
    names = list(dict.fromkeys(row["score"] for row in rows))
    durations = alt.Axis(format="~g", values=[10.0**i for i in range(-5, 6)])
    points = alt.Chart(inline_data(rows)).mark_point(filled=True, size=90).encode(
        x=alt.X("seconds:Q", title="CPU seconds of one split", scale=alt.Scale(type="log"), axis=durations),
        y=alt.Y("score:N", sort=names, title=None, axis=alt.Axis(grid=True, domain=False, ticks=False)),
        color=alt.Color("part:N", scale=color_scale(parts), legend=make_legend(parts)),
        shape=alt.Shape("part:N", scale=shape_scale(parts), legend=make_legend(parts)),
        tooltip=[make_tooltip("score:N", "score"), make_tooltip("part:N", "step"), make_tooltip("shown:N", "CPU time")],
    )  # fmt: skip
    words = "; ".join(f"{row['score']}, {row['part']}: {row['shown']}" for row in rows[:24])
    return finish_chart(
        points.properties(height=24 * len(names) + 20),
        "timings",
        "Time of ranking, and of learning the whole curve",
        words,
    )


def _name_part(part: str) -> str:
    return part if part == RANKING else recipe_title(part)


def draw_vocabulary_map(classes: Sequence[tuple[str, str]] = ()) -> Chart:
    """Draw the map of the vocabulary without points, which the page adds.

    With classes and their colours it has a legend, for a picture that stands alone; the page has lists beside it.
    """
    diagonal = alt.Chart(inline_data([{"x": 0, "y": 0}, {"x": 1, "y": 1}])).mark_line(
        strokeDash=[4, 4], opacity=0.45, color=TEXT_COLOR, clip=True, aria=False
    ).encode(x="x:Q", y="y:Q")  # fmt: skip
    tooltips = (("term", "term"), ("inside", "in the class"), ("outside", "elsewhere"), ("rank", "rank"))
    base = alt.Chart(alt.NamedData(name="points")).encode(
        x=alt.X("x:Q", title="documents elsewhere that have the term", **_rate_axis()),
        y=alt.Y("y:Q", title="documents of the class that have it", **_rate_axis()),
        tooltip=[make_tooltip(f"{name}:N", title) for name, title in tooltips],
    )
    dots = base.mark_circle(aria=False, cursor="pointer").encode(
        color=_class_color_scale(classes) if classes else alt.Color("color:N", scale=None),
        opacity=alt.Opacity("opacity:Q", scale=None),
        size=alt.Size("size:Q", scale=None),
    )
    ring: dict[str, Any] = {
        "size": 170,
        "strokeWidth": 2,
        "stroke": TEXT_COLOR,
        "filled": False,
        "aria": False,
        "cursor": "pointer",
    }
    rings = base.transform_filter("datum.ring").mark_point(**ring)
    labels = base.transform_filter("datum.label != ''").mark_text(
        align="left", dx=7, fontSize=11.5, fontWeight=500, color=TEXT_COLOR, aria=False, cursor="pointer"
    ).encode(text="label:N")  # fmt: skip
    layers = alt.layer(diagonal, dots, rings, labels)
    words = "A map of terms; the lists beside it have the same in words."
    return finish_chart(layers, "map", "The vocabulary", words, height=MAP_HEIGHT)


def _class_color_scale(classes: Sequence[tuple[str, str]]) -> Any:
    names = [name for name, _ in classes]
    scale = alt.Scale(domain=names, range=[color for _, color in classes])
    return alt.Color("class:N", scale=scale, legend=make_legend(names))


def _rate_axis() -> dict[str, Any]:
    """Return the scale and the axis of rates: small rates, which most terms have, get more room."""
    axis = alt.Axis(
        values=[0, 0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1], labelExpr="format(datum.value, '.1~%')",
        labelOverlap="greedy", labelSeparation=6,
    )  # fmt: skip
    scale = alt.Scale(type="pow", exponent=MAP_EXPONENT, domain=[0, 1], nice=False)
    return {"axis": axis, "scale": scale}

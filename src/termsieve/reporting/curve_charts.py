"""The charts of F1 against the number of terms, one for each classifier, and what they mark."""

from __future__ import annotations

import textwrap
from typing import Any

import altair as alt
import numpy as np

from termsieve.classify.recipes import recipe_title
from termsieve.evaluate.differences import band
from termsieve.reporting.formatting import round_for_json
from termsieve.reporting.style import (
    TEXT_COLOR,
    Chart,
    axis_at,
    color_scale,
    finish_chart,
    inline_data,
    make_legend,
    make_tooltip,
    shape_scale,
    to_file_name,
)
from termsieve.scores.parsing import score_title
from termsieve.study.recommendation import Recommendation
from termsieve.study.results import Comparison
from termsieve.views import format_measure

_LABEL_LENGTH = 22  # characters of a line: a phone has no room for more
_SHOWN_BELOW = 0.1  # of F1, below the lowest that is recommended


def draw_f1_curves(result: Comparison) -> list[Chart]:
    """Draw for each classifier F1 against the number of terms, with bands and the recommended choice."""
    rows = {model: _curve_rows(result, model) for model in result.asked_classifiers}
    ends = [row[end] for curve in rows.values() for row in curve for end in ("low", "high") if row[end] is not None]
    means = [row["f1"] for curve in rows.values() for row in curve]
    means += [find_shown_choice(result, model).mean for model in rows]
    low = max(min([*ends, *means]), _decision_floor(result, max(means)))
    margin = 0.04 * (max(means) - low or 0.1)
    domain = [max(low - margin, 0), min(max([*ends, *means]) + margin, 1)]
    return [
        finish_chart(
            _draw_curves(result, curve, model, domain), f"f1_{i}_{to_file_name(model)}",
            f"Macro F1 against the number of terms: {recipe_title(model)}", _describe_curves(curve, model), height=320,
        )
        for i, (model, curve) in enumerate(rows.items(), 1)
    ]  # fmt: skip


def _decision_floor(result: Comparison, best: float) -> float:
    """Return where the axis of F1 begins: so far below what is recommended that the curves show."""
    lowest = min(choice.mean for choice in result.best().values())
    return lowest - max(_SHOWN_BELOW, 2 * (best - lowest))


def _curve_rows(result: Comparison, model: str) -> list[dict[str, Any]]:
    rows = []
    for name in result.scores:
        ks, values = result.curve(name, model)
        if not ks:
            continue
        means, lows, highs = band(values, ratio=result.trials().ratio)
        for k, mean, low, high in zip(ks, means, lows, highs, strict=True):
            known = np.isfinite(low)
            ends = f"{format_measure(max(low, 0))} to {format_measure(min(high, 1))}" if known else "one split only"
            rows.append({
                "score": score_title(name), "k": k, "f1": round_for_json(mean),
                "low": round_for_json(max(low, 0)) if known else None,
                "high": round_for_json(min(high, 1)) if known else None,
                "interval": ends,
            })  # fmt: skip
    return rows


def _draw_curves(result: Comparison, rows: list[dict[str, Any]], model: str, domain: list[float]) -> Any:
    names = [score_title(name) for name in result.scores]
    picked = alt.selection_point(fields=["score"], bind="legend")
    pointed = alt.param(name="pointed", value="")  # the score that the arrow keys have reached
    base = alt.Chart(inline_data(rows)).encode(
        x=alt.X("k:Q", title="terms", scale=alt.Scale(type="log", nice=False, padding=5), axis=axis_at(result.ks)),
        color=alt.Color("score:N", scale=color_scale(names), legend=make_legend(names)),
    )
    y_axis: dict[str, Any] = {"title": "macro F1", "scale": alt.Scale(domain=domain, zero=False, nice=False)}
    bands = base.mark_area(aria=False, clip=True).encode(
        y=alt.Y("low:Q", **y_axis), y2="high:Q", opacity=_opacity_if_picked(picked, 0.1, 0.0)
    )  # fmt: skip
    lines = base.mark_line(strokeWidth=2, clip=True).encode(
        y=alt.Y("f1:Q", **y_axis), opacity=_opacity_if_picked(picked, 1.0, 0.12)
    )
    points = lines.mark_point(filled=True, size=48, clip=True).encode(
        shape=alt.Shape("score:N", scale=shape_scale(names), legend=make_legend(names)),
        tooltip=[make_tooltip("score:N", "score"), make_tooltip("k:Q", "terms", ","),
                 make_tooltip("f1:Q", "macro F1", ".3f"), make_tooltip("interval:N", "95 % interval")],
    ).add_params(picked)  # fmt: skip
    marks = [*_mark_all_terms(result, model, domain), *_mark_recommended(result, model, domain)]
    labels = [mark for mark in marks if mark.mark.type == "text"]  # in front of the lines
    below = [mark for mark in marks if mark not in labels]
    return alt.layer(*below, bands, lines, points, *labels).add_params(pointed)


def _opacity_if_picked(picked: Any, then: float, otherwise: float) -> Any:
    reached = alt.when("pointed != '' && datum.score != pointed").then(alt.value(otherwise))
    return reached.when(picked).then(alt.value(then)).otherwise(alt.value(otherwise))


def _mark_all_terms(result: Comparison, model: str, domain: list[float]) -> list[Any]:
    """Mark what all terms reach: a line across, which every number of terms is compared with."""
    every = result.best()[model].every
    if every is None or every.classifier != model or not domain[0] <= every.mean <= domain[1]:
        return []
    text = f"all {every.k:,} terms: {format_measure(every.mean)}"
    base = alt.Chart(inline_data([{"f1": every.mean, "k": result.ks[0], "text": text}]))
    line = base.mark_rule(color=TEXT_COLOR, opacity=0.6, strokeWidth=1.2, aria=False).encode(y="f1:Q")
    label = base.mark_text(align="left", dy=-7, dx=2, fontSize=11.5, color=TEXT_COLOR).encode(
        x="k:Q", y="f1:Q", text="text:N"
    )  # fmt: skip
    return [line, label]


def find_shown_choice(result: Comparison, model: str) -> Recommendation:
    """Return what the chart of a classifier marks: what is recommended, if only by other parameters of it, comes first.

    The search tries other parameters of a classifier at a few numbers of terms: they have no chart of their own.
    """
    choice = result.recommended()
    return choice if model == find_charted_classifier(result) else result.best()[model]


def find_charted_classifier(result: Comparison) -> str:
    """Return the classifier whose chart shows what is recommended."""
    wanted, charted = result.recommended().classifier, result.asked_classifiers
    same_kind = [name for name in charted if name.partition("(")[0] == wanted.partition("(")[0]]
    return wanted if wanted in charted else (same_kind or charted)[0]


def _mark_recommended(result: Comparison, model: str, domain: list[float]) -> list[Any]:
    """Mark the recommended choice of a classifier: a ring, a line down to the axis, and a label."""
    choice = find_shown_choice(result, model)
    right = choice.k > np.sqrt(result.ks[0] * result.ks[-1])
    low, high = domain
    lines = [score_title(choice.score), f"{choice.k:,} terms: {format_measure(choice.mean)}"]
    if choice.classifier != model:
        lines.append(f"with {choice.classifier.partition('(')[2].removesuffix(')')}")
    text = "\n".join(textwrap.fill(line, _LABEL_LENGTH, break_long_words=False) for line in lines)
    share = 0.03 + 0.05 * text.count("\n")
    rows = [{"k": choice.k, "f1": choice.mean, "low": low, "at": low + share * (high - low), "text": text}]
    base = alt.Chart(inline_data(rows)).encode(x="k:Q")
    ring = base.mark_point(size=260, stroke=TEXT_COLOR, strokeWidth=2, filled=False, aria=False).encode(y="f1:Q")
    line = base.mark_rule(strokeDash=[3, 3], color=TEXT_COLOR, opacity=0.55, aria=False).encode(y="low:Q", y2="f1:Q")
    label = base.mark_text(
        align="right" if right else "left", dx=-6 if right else 6, fontWeight=600, fontSize=12, color=TEXT_COLOR,
        lineBreak="\n",
    ).encode(y="at:Q", text="text:N")  # fmt: skip
    return [line, ring, label]


def _describe_curves(rows: list[dict[str, Any]], model: str) -> str:
    best: dict[str, dict[str, Any]] = {}
    for row in rows:
        if row["score"] not in best or row["f1"] > best[row["score"]]["f1"]:
            best[row["score"]] = row
    reached = "; ".join(f"{name} {format_measure(row['f1'])} with {row['k']:,}" for name, row in best.items())
    return f"Lines of macro F1 against the number of terms with {recipe_title(model)}. Highest points: {reached}."

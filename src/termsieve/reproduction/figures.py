"""Figures of the papers, redrawn: a measure against the number of terms, one line for each score."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Okabe and Ito's colours, which colour-blind readers can tell apart, and black; dashes tell the second round.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES = ([1, 0], [5, 3], [1, 2])


def curves_svg(figure: Mapping[str, Any]) -> str:
    """A figure as SVG."""
    import vl_convert

    svg: str = vl_convert.vegalite_to_svg(_chart(figure))
    return svg


def _chart(figure: Mapping[str, Any]) -> dict[str, Any]:
    names = list(figure["curves"])
    rows = [
        {"score": name, "terms": k, "value": mean}
        for name, points in figure["curves"].items() for k, mean, _ in points
    ]  # fmt: skip
    colors = [COLORS[i % len(COLORS)] for i in range(len(names))]
    dashes = [DASHES[i // len(COLORS) % len(DASHES)] for i in range(len(names))]

    def by_score(styles: list[Any]) -> dict[str, Any]:
        return {"field": "score", "type": "nominal", "title": None, "scale": {"domain": names, "range": styles}}

    terms = {"field": "terms", "type": "quantitative", "title": "number of terms (log scale)"}
    value = {"field": "value", "type": "quantitative", "title": figure["measure"].replace("_", " ")}
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "title": figure["title"],
        "width": 620,
        "height": 320,
        "background": "white",
        "data": {"values": rows},
        "mark": {"type": "line", "strokeWidth": 1.8},
        "encoding": {
            "x": {**terms, "scale": {"type": "log", "nice": False}},
            "y": {**value, "scale": {"zero": False}},
            "color": by_score(colors),
            "strokeDash": by_score(dashes),
        },
    }

"""Figures of the papers, redrawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from termsieve.extras import import_extra

# Okabe and Ito's colours, which colour-blind readers can tell apart, and black; dashes tell the second round.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES = ([1, 0], [5, 3], [1, 2])


def draw_figure(figure: Mapping[str, Any]) -> str:
    """Draw a figure as SVG."""
    vl_convert = import_extra("vl_convert", "Writing figures")

    spec = {**_base_spec(figure), **_SPEC_MAKERS[figure["kind"]](figure)}
    if "vconcat" in spec:
        spec = {key: value for key, value in spec.items() if key not in ("width", "height")}
    svg: str = vl_convert.vegalite_to_svg(spec)
    return svg


def _base_spec(figure: Mapping[str, Any]) -> dict[str, Any]:
    schema = "https://vega.github.io/schema/vega-lite/v5.json"
    return {"$schema": schema, "title": figure["title"], "width": 620, "height": 320, "background": "white"}


def _axis(field: str, title: str, **scale: Any) -> dict[str, Any]:
    return {"field": field, "type": "quantitative", "title": title, "scale": {"zero": False, **scale}}


def _nominal_encoding(field: str, names: list[str], styles: list[Any]) -> dict[str, Any]:
    return {"field": field, "type": "nominal", "title": None, "scale": {"domain": names, "range": styles}}


def _curves_spec(figure: Mapping[str, Any]) -> dict[str, Any]:
    """Specify a measure against the number of terms, one line for each score."""
    names = list(figure["curves"])
    rows = [{"score": name, "terms": k, "value": mean} for name, of in figure["curves"].items() for k, mean in of]
    colors = [COLORS[i % len(COLORS)] for i in range(len(names))]
    dashes = [DASHES[i // len(COLORS) % len(DASHES)] for i in range(len(names))]
    encoding = {
        "x": _axis("terms", "number of terms (log scale)", type="log", nice=False),
        "y": _axis("value", figure["measure"].replace("_", " ")),
        "color": _nominal_encoding("score", names, colors),
        "strokeDash": _nominal_encoding("score", names, dashes),
    }
    return {"data": {"values": rows}, "mark": {"type": "line", "strokeWidth": 1.8}, "encoding": encoding}


def _bars_spec(figure: Mapping[str, Any]) -> dict[str, Any]:
    """Specify a bar for each score or class."""
    rows = [{"name": name, "value": value} for name, value in figure["bars"].items()]
    names = {"field": "name", "type": "nominal", "title": None, "sort": list(figure["bars"])}
    title = "CPU seconds" if figure["kind"] == "seconds" else "documents"
    value = {"field": "value", "type": "quantitative", "title": title}
    mark = {"type": "bar", "color": COLORS[0]}
    encoding = {"y": names, "x": value}
    return {"data": {"values": rows}, "mark": mark, "encoding": encoding, "height": {"step": 24}}


_IRIS_TITLES = {
    "iris": ("third feature: length of the petals", "first feature: length of the sepals"),
    "iris left out": ("second feature: width of the sepals", "fourth feature: width of the petals"),
}


def _points_spec(figure: Mapping[str, Any]) -> dict[str, Any]:
    """Specify the iris flowers by two features."""
    rows = [{"class": name, "x": x, "y": y} for name, x, y in figure["points"]]
    names = sorted({row["class"] for row in rows})
    across, up = _IRIS_TITLES[figure["kind"]]
    encoding = {
        "x": _axis("x", across),
        "y": _axis("y", up),
        "color": _nominal_encoding("class", names, list(COLORS[:3])),
        "shape": _nominal_encoding("class", names, ["circle", "square", "triangle-up"]),
    }
    return {"data": {"values": rows}, "mark": {"type": "point", "filled": True, "opacity": 0.7}, "encoding": encoding}


def _worlds_spec(figure: Mapping[str, Any]) -> dict[str, Any]:
    """Specify a specification curve: claims that hold, over sorted worlds, and the readings of the worlds below."""
    curve = figure["curve"]
    places = [100 * (i + 0.5) / len(curve["held"]) for i in range(len(curve["held"]))]
    above = [{"place": place, "held": held} for place, held in zip(places, curve["held"], strict=True)]
    below = [
        {"place": place, "row": f"{one['choice']}: {one['reading']}", "share": share}
        for one in curve["readings"]
        for place, share in zip(places, one["shares"], strict=True)
    ]
    rows = list(dict.fromkeys(row["row"] for row in below))
    x = {"field": "place", "type": "quantitative", "title": None, "scale": {"domain": [0, 100]}}
    top = {
        "width": 620, "height": 160, "data": {"values": above}, "mark": {"type": "line", "interpolate": "step"},
        "encoding": {"x": x, "y": _axis("held", f"claims that hold, of {curve['claims']}", zero=True)},
    }  # fmt: skip
    bin_width = 620 / len(places)
    bottom = {
        "width": 620, "height": {"step": 14}, "data": {"values": below},
        "mark": {"type": "rect", "width": bin_width + 0.5},
        "encoding": {
            "x": {**x, "title": "worlds, sorted by the number of claims that hold (percent)"},
            "y": {"field": "row", "type": "nominal", "title": None, "sort": rows, "axis": {"labelLimit": 330}},
            "color": {
                "field": "share", "type": "quantitative", "title": "share of worlds",
                "scale": {"range": ["#ffffff", COLORS[0]]},
            },
        },
    }  # fmt: skip
    return {"vconcat": [top, bottom]}


_SPEC_MAKERS: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "curves": _curves_spec,
    "seconds": _bars_spec,
    "class shares": _bars_spec,
    "iris": _points_spec,
    "iris left out": _points_spec,
    "worlds": _worlds_spec,
}

"""Figures of the papers, redrawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
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
    return {
        "$schema": schema,
        "title": figure["title"],
        "width": 620,
        "height": 320,
        "background": "white",
        "config": {"aria": False},
    }


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
        "y": _axis("value", _name_measure(figure["measure"])),
        "color": _nominal_encoding("score", names, colors),
        "strokeDash": _nominal_encoding("score", names, dashes),
    }
    return {"data": {"values": rows}, "mark": {"type": "line", "strokeWidth": 1.8}, "encoding": encoding}


def _name_measure(measure: str) -> str:
    """Return a measure as it is written: macro F1."""
    name, _, average = measure.rpartition("_")
    return f"{average} {name.upper() if name.startswith('f') else name}"


def _bars_spec(figure: Mapping[str, Any]) -> dict[str, Any]:
    """Specify a bar for each score or class."""
    rows = [{"name": name, "value": value} for name, value in figure["bars"].items()]
    names = {"field": "name", "type": "nominal", "title": None, "sort": list(figure["bars"])}
    title = "CPU seconds" if figure["kind"] == "seconds" else "documents"
    value = {"field": "value", "type": "quantitative", "title": title, "axis": {"tickCount": 6}}
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


NAMES = ("names of the paper", "names shuffled")
COMMON = {-1: "never", 0: "as in all worlds", 1: "always"}  # how common a reading is among some worlds


def _worlds_spec(figure: Mapping[str, Any]) -> dict[str, Any]:
    """Specify a specification curve: claims that hold, over sorted worlds, and the readings of the worlds below."""
    return {"vconcat": [_sorted_worlds_spec(figure["curve"]), _readings_spec(figure["curve"])]}


def _sorted_worlds_spec(curve: Mapping[str, Any]) -> dict[str, Any]:
    total = sum(curve["worlds"])
    ours = dict(zip(curve["levels"], (number / total for number in curve["worlds"]), strict=True))
    rows = [
        {"names": names, "place": 100 * place, "held": held}
        for names, shares in zip(NAMES, (ours, dict(enumerate(curve["null"]))), strict=True)
        for place, held in _iterate_steps(shares)
    ]
    x = _axis("place", "worlds, sorted by the number of claims that hold (percent)", domain=[0, 100])
    line = {
        "data": {"values": rows}, "mark": {"type": "line", "strokeWidth": 1.8, "interpolate": "linear"},
        "encoding": {
            "x": x, "y": _axis("held", f"claims that hold, of {curve['claims']}", zero=True),
            "color": _nominal_encoding("names", list(NAMES), [COLORS[0], "#888888"]),
            "order": {"field": "place", "type": "quantitative"},
        },
    }  # fmt: skip
    at = {"field": "held", "type": "quantitative"}
    rule = {"mark": {"type": "rule", "strokeDash": [4, 3], "color": COLORS[1]}, "encoding": {"y": at}}
    name = {
        "mark": {"type": "text", "align": "left", "dy": -6, "color": COLORS[1]},
        "encoding": {"y": at, "x": {"value": 4}, "text": {"value": "default"}},
    }
    default = {"data": {"values": [{"held": curve["default"]}]}, "layer": [rule, name]}
    return {"width": 620, "height": 170, "layer": [line, default]}


def _iterate_steps(shares: Mapping[int, float]) -> Iterator[tuple[float, int]]:
    """Yield the ends of the steps of a sorted curve: where each number of claims begins and ends."""
    begin = 0.0
    for held, share in shares.items():
        if share > 0:
            yield begin, held
            begin += share
            yield begin, held


def _readings_spec(curve: Mapping[str, Any]) -> dict[str, Any]:
    """Specify a matrix: how common each reading is among the worlds that meet a number of claims."""
    columns = [f"{held}\n{n:,}" for held, n in zip(curve["levels"], curve["worlds"], strict=True)]
    rows = [
        {"column": column, "row": f"{one['choice']}: {one['reading']}", "common": _find_excess(share, 1 / one["of"])}
        for one in curve["readings"]
        for column, share in zip(columns, one["shares"], strict=True)
    ]
    order = list(dict.fromkeys(row["row"] for row in rows))
    words = " : ".join(f"datum.value == {at} ? '{word}'" for at, word in COMMON.items())
    legend = {"values": list(COMMON), "labelExpr": f"{words} : ''"}
    scale = {"domain": [-1, 0, 1], "range": [COLORS[1], "#f7f7f7", COLORS[0]]}
    across = {"labelExpr": "split(datum.label, '\\n')", "labelAngle": 0}
    return {
        "width": 620, "height": {"step": 14}, "data": {"values": rows}, "mark": {"type": "rect"},
        "encoding": {
            "x": {
                "field": "column", "type": "nominal", "sort": columns, "axis": across,
                "title": "number of claims that hold, and number of such worlds",
            },
            "y": {"field": "row", "type": "nominal", "title": None, "sort": order, "axis": {"labelLimit": 330}},
            "color": {"field": "common", "type": "quantitative", "title": "reading", "scale": scale, "legend": legend},
        },
    }  # fmt: skip


def _find_excess(share: float, usual: float) -> float:
    """Return how much more common a reading is than in all worlds: from -1, never, over 0 to 1, always."""
    return round((share - usual) / (1 - usual if share > usual else usual), 3)


_SPEC_MAKERS: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "curves": _curves_spec,
    "seconds": _bars_spec,
    "class shares": _bars_spec,
    "iris": _points_spec,
    "iris left out": _points_spec,
    "worlds": _worlds_spec,
}

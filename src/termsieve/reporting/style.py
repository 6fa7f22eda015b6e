"""What all charts share: colours, scales and style."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import altair as alt

TEXT_COLOR = "currentColor"
# Okabe and Ito's colours, which colour-blind readers can tell apart, without their black
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a8a8a")
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
# "Chi-square on words and pairs": what the terms are begins a line of its own
_LEGEND_LINES = "split(replace(datum.label, ' on words', '\\non words'), '\\n')"
MAP_EXPONENT, MAP_HEIGHT = 0.4, 460
FONT = "system-ui, -apple-system, Segoe UI, Roboto, Helvetica Neue, Noto Sans, sans-serif"


class Chart(NamedTuple):
    """A chart: a name for files and links, a title, what it shows in words, and its specification."""

    name: str
    title: str
    description: str
    spec: dict[str, Any]


def inline_data(rows: Iterable[dict[str, Any]]) -> Any:
    """Make data that is part of the chart."""
    return alt.InlineData(values=list(rows))


def make_tooltip(field: str, title: str, form: str | None = None) -> Any:
    """Make a line of a tooltip."""
    return alt.Tooltip(field, title=title, format=alt.Undefined if form is None else form)


def make_legend(names: Sequence[str], *, size: int = 80) -> Any:
    """Make a legend above the chart, with few enough columns, and short enough lines, to fit on a phone."""
    columns = max(1, min(3, 44 // (max(map(len, names), default=1) + 4)))
    return alt.Legend(
        title=None, orient="top", columns=columns, symbolOpacity=1, symbolSize=size, labelExpr=_LEGEND_LINES
    )


def axis_at(values: Sequence[int]) -> Any:
    """Make an axis with labels at these values: thousands of round numbers as 2k, others in full."""
    label = "format(datum.value, datum.value % 100 ? ',' : '~s')"
    return alt.Axis(values=list(values), labelExpr=label, labelOverlap="greedy", labelSeparation=6, grid=False)


def powers_of_ten(n: int) -> list[int]:
    """Return 1, 10, 100, ... up to n."""
    return [10**i for i in range(8) if 10**i <= n]


def color_scale(names: Sequence[str]) -> Any:
    """Assign a colour to each name, in turn."""
    return alt.Scale(domain=list(names), range=[PALETTE[i % len(PALETTE)] for i in range(len(names))])


def dash_scale(names: Sequence[str]) -> Any:
    """Assign a line style to each name, in turn."""
    return alt.Scale(domain=list(names), range=[DASHES[i % len(DASHES)] for i in range(len(names))])


def shape_scale(names: Sequence[str]) -> Any:
    """Assign a shape to each name, in turn."""
    return alt.Scale(domain=list(names), range=[SHAPES[i % len(SHAPES)] for i in range(len(names))])


def to_file_name(spelling: str) -> str:
    """Turn a spelling into a file name."""
    return "".join(c if c.isalnum() else "_" for c in spelling).strip("_")


def finish_chart(chart: Any, name: str, title: str, words: str, height: int | None = None) -> Chart:
    """Apply the common style to a chart, and add its title and its description in words."""
    size: dict[str, Any] = {"width": "container"} | ({} if height is None else {"height": height})
    finished = chart.properties(**size, description=words).configure(
        font=FONT, background="transparent", autosize={"type": "fit-x", "contains": "padding", "resize": True},
        padding={"left": 0, "right": 6, "top": 4, "bottom": 4},
    ).configure_view(stroke=None).configure_axis(
        labelColor=TEXT_COLOR, titleColor=TEXT_COLOR, domainColor=TEXT_COLOR, tickColor=TEXT_COLOR,
        gridColor=TEXT_COLOR, gridOpacity=0.1, domainOpacity=0.35, tickOpacity=0.35, labelFontSize=12, titleFontSize=12,
        titleFontWeight=400, labelLimit=150,
    ).configure_legend(
        labelColor=TEXT_COLOR, titleColor=TEXT_COLOR, labelFontSize=12, labelLimit=300
    )  # fmt: skip
    return Chart(name, title, words, finished.to_dict())


def make_unique(names: Iterable[str]) -> list[str]:
    """Add a number to repeated names: names that were shortened may have become equal.

    >>> make_unique(["a…", "b", "a…"])
    ['a…', 'b', 'a… (2)']
    """
    seen: dict[str, int] = {}
    unique = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        unique.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return unique

"""What all charts share: colours, scales, and the look. The ink is the colour of the text around a chart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import altair as alt

TEXT_COLOR = "currentColor"
# Okabe and Ito's colours, which colour-blind readers can tell apart; their black is our ink, and comes last
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a8a8a")
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
MAP_EXPONENT, MAP_HEIGHT = 0.4, 460
FONT = "system-ui, -apple-system, Segoe UI, Roboto, Helvetica Neue, Noto Sans, sans-serif"


class Chart(NamedTuple):
    """A chart: a name for files and links, a title, what it shows in words, and its specification."""

    name: str
    title: str
    description: str
    spec: dict[str, Any]


def inline_data(rows: Iterable[dict[str, Any]]) -> Any:
    """Rows, written into the chart."""
    return alt.InlineData(values=list(rows))


def make_tooltip(field: str, title: str, form: str | None = None) -> Any:
    """A line of what is shown under the pointer."""
    return alt.Tooltip(field, title=title, format=alt.Undefined if form is None else form)


def make_legend(names: Sequence[str], *, size: int = 80) -> Any:
    """A legend above the chart, in so many columns that it fits on a phone."""
    columns = max(1, min(3, 44 // (max(map(len, names), default=1) + 4)))
    return alt.Legend(title=None, orient="top", columns=columns, symbolOpacity=1, symbolSize=size)


def axis_at(values: Sequence[int]) -> Any:
    """An axis with labels at these values."""
    return alt.Axis(values=list(values), format="~s", labelOverlap="greedy", grid=False)


def powers_of_ten(n: int) -> list[int]:
    """1, 10, 100, ... up to n."""
    return [10**i for i in range(8) if 10**i <= n]


def color_scale(names: Sequence[str]) -> Any:
    """A colour for each name, in turn."""
    return alt.Scale(domain=list(names), range=[PALETTE[i % len(PALETTE)] for i in range(len(names))])


def dash_scale(names: Sequence[str]) -> Any:
    """A kind of line for each name, in turn."""
    return alt.Scale(domain=list(names), range=[DASHES[i % len(DASHES)] for i in range(len(names))])


def shape_scale(names: Sequence[str]) -> Any:
    """A shape for each name, in turn."""
    return alt.Scale(domain=list(names), range=[SHAPES[i % len(SHAPES)] for i in range(len(names))])


def to_file_name(spelling: str) -> str:
    """A spelling as the name of a file."""
    return "".join(c if c.isalnum() else "_" for c in spelling).strip("_")


def finish_chart(chart: Any, name: str, title: str, words: str, height: int | None = None) -> Chart:
    """A chart of the common look, with its title and what it shows in words."""
    size: dict[str, Any] = {"width": "container"} | ({} if height is None else {"height": height})
    finished = chart.properties(**size, description=words).configure(
        font=FONT, background="transparent", autosize={"type": "fit-x", "contains": "padding", "resize": True},
        padding={"left": 0, "right": 6, "top": 4, "bottom": 4},
    ).configure_view(stroke=None).configure_axis(
        labelColor=TEXT_COLOR, titleColor=TEXT_COLOR, domainColor=TEXT_COLOR, tickColor=TEXT_COLOR,
        gridColor=TEXT_COLOR, gridOpacity=0.1, domainOpacity=0.35, tickOpacity=0.35, labelFontSize=12, titleFontSize=12,
        titleFontWeight=400, labelLimit=150,
    ).configure_legend(
        labelColor=TEXT_COLOR, titleColor=TEXT_COLOR, labelFontSize=12, labelLimit=200
    )  # fmt: skip
    return Chart(name, title, words, finished.to_dict())


def make_unique(names: Iterable[str]) -> list[str]:
    """Names that were cut short may have become the same: the later ones get a number.

    >>> make_unique(["a…", "b", "a…"])
    ['a…', 'b', 'a… (2)']
    """
    seen: dict[str, int] = {}
    found = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        found.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return found

"""What tables are made of: formatted numbers, bars, and cells of untrusted text."""

from __future__ import annotations

import io
import math
import unicodedata
from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from termsieve.cli.messages import escape_controls

_LEFT_TO_RIGHT = "\u200e"
TEXT_WIDTH = 100
BAR_WIDTH = 12


def make_console() -> Console:
    """Make a console that takes nothing it prints for markup."""
    return Console(highlight=False, markup=False, emoji=False)


def render_plain(view: RenderableType) -> str:
    """Render a view as text without colours, for a file."""
    target = io.StringIO()
    Console(file=target, highlight=False, markup=False, emoji=False, width=TEXT_WIDTH, color_system=None).print(view)
    return "\n".join(line.rstrip() for line in target.getvalue().split("\n"))


def make_cell(text: str, style: str = "") -> Text:
    """Make a cell of untrusted text: without control characters, and right-to-left text does not move other cells."""
    shown = escape_controls(text)
    if any(unicodedata.bidirectional(char) in ("R", "AL", "AN") for char in shown):
        shown = f"{_LEFT_TO_RIGHT}{shown}{_LEFT_TO_RIGHT}"
    return Text(shown, style=style, no_wrap=True, overflow="ellipsis")


def format_number(x: float | None) -> str:
    """Format a number with about four digits.

    >>> [format_number(x) for x in (0.0, 0.012345, 12345.6, 1e-9, float("inf"))]
    ['0', '0.01235', '12,346', '1.0e-09', 'inf']
    """
    if x is None:
        return "-"
    if x == 0 or not math.isfinite(x):
        return f"{x:g}"
    if abs(x) >= 1000:
        return f"{x:,.0f}" if abs(x) < 1e9 else f"{x:.3e}"
    return f"{x:.4g}" if abs(x) >= 1e-4 else f"{x:.1e}"


def draw_bar(share: float, width: int = BAR_WIDTH) -> str:
    """Draw a bar that fills this share of the width.

    >>> draw_bar(0.5, 4), draw_bar(0.3, 4)
    ('━━', '━')
    """
    halves = round(min(max(share, 0.0), 1.0) * width * 2)
    return "━" * (halves // 2) + "╸" * (halves % 2)


def bar_shares(values: Sequence[float]) -> list[float]:
    """Return the lengths of the bars of some scores: the largest score has 1, and none is below 0."""
    finite = [x for x in values if math.isfinite(x)]
    scale = max(map(abs, finite), default=0.0) or 1.0  # without it, the span of large values is infinite
    low, high = min([0.0, *finite]) / scale, max(finite, default=0.0) / scale
    span = high - low
    return [(1.0 if x > 0 else 0.0) if not math.isfinite(x) or not span else (x / scale - low) / span for x in values]


def column_width(texts: Sequence[str], least: int, most: int) -> int:
    """Return the width of a column that has room for these texts, within limits."""
    return max([least, *(min(cell_len(escape_controls(text)), most) for text in texts)])


def make_bare_table() -> Table:
    """Make a table without lines."""
    return Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")

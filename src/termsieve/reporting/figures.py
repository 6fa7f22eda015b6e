"""Figures: the critical-difference diagram as plain SVG, and charts as PNG, SVG and PDF files."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from termsieve.errors import OutputError
from termsieve.evaluate.significance import Diagram
from termsieve.extras import import_extra
from termsieve.files import write_atomically

_WIDTH, _ROW_HEIGHT, _LETTER_WIDTH, _MIN_AXIS = 640, 20, 6.8, 100
_TEXT_COLOR, _BAR_COLOR = "currentColor", "#d55e00"  # the colour of the text around it, otherwise black
_FIGURE_WIDTH = 560


def draw_critical_difference(diagram: Diagram, *, width: int = _WIDTH) -> str:
    """Draw the critical-difference diagram: mean ranks on a line, and bars that join what does not differ.

    Methods of the better half are named on the left, the others on the right.

    >>> draw_critical_difference(Diagram(("gu", "chi2"), (1.2, 1.8), 0.9, ((0, 1),))).count("<line")
    9
    """
    n = len(diagram.names)
    half = (n + 1) // 2
    top = 50 + 10 * len(diagram.bars)
    height = top + _ROW_HEIGHT * half
    labels = [f"{name} ({rank:.2f})" for name, rank in zip(diagram.names, diagram.ranks, strict=True)]
    margin = max(map(len, labels)) * _LETTER_WIDTH + 16
    width = max(width, round(2 * margin + _MIN_AXIS))

    def x(rank: float) -> float:
        return margin + (rank - 1) / max(n - 1, 1) * (width - 2 * margin)

    parts = [_svg_line(x(1), 40, x(n), 40), *(_svg_tick(x(rank), rank) for rank in range(1, n + 1))]
    right = min(x(1 + diagram.critical_difference), width)
    parts += [
        _svg_line(x(1), 14, right, 14, _BAR_COLOR),
        _svg_text(x(1), 10, f"CD = {diagram.critical_difference:.2f}", "start"),
    ]
    for place, (label, rank) in enumerate(zip(labels, diagram.ranks, strict=True)):
        left = place < half
        y = top + _ROW_HEIGHT * (place if left else n - 1 - place)
        edge = margin - 10 if left else width - margin + 10
        parts += [_svg_line(x(rank), 40, x(rank), y), _svg_line(x(rank), y, edge, y)]
        parts.append(_svg_text(edge + (-5 if left else 5), y + 4, label, "end" if left else "start"))
    for level, (first, last) in enumerate(diagram.bars):
        y = 48 + 8 * level
        parts.append(_svg_line(x(diagram.ranks[first]) - 3, y, x(diagram.ranks[last]) + 3, y, _BAR_COLOR, 3))
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    look = 'role="img" font-family="system-ui, sans-serif" font-size="12"'
    title = f"<title>{escape(describe_diagram(diagram))}</title>"
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {look}>{title}{"".join(parts)}</svg>'


def describe_diagram(diagram: Diagram) -> str:
    """Describe the diagram in words."""
    ranked = ", ".join(f"{name} {rank:.2f}" for name, rank in zip(diagram.names, diagram.ranks, strict=True))
    return f"Mean ranks: {ranked}; differences below {diagram.critical_difference:.2f} may be chance"


def _svg_line(x1: float, y1: float, x2: float, y2: float, color: str = _TEXT_COLOR, width: float = 1) -> str:
    place = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {place} stroke="{color}" stroke-width="{width}"/>'


def _svg_text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{_TEXT_COLOR}">{escape(text)}</text>'


def _svg_tick(x: float, rank: int) -> str:
    return _svg_line(x, 35, x, 40) + _svg_text(x, 31, str(rank), "middle")


def write_figures(figures: Mapping[str, str | dict[str, Any]], folder: str | Path) -> list[Path]:
    """Write figures, SVG or Vega-Lite, into a folder, each as PNG, SVG and PDF, and return the paths."""
    vl_convert = import_extra("vl_convert", "Writing figures")

    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: is not a folder for figures: {error}.") from error
    written = []
    for name, figure in figures.items():
        svg = figure if isinstance(figure, str) else vl_convert.vegalite_to_svg(_fix_width(figure))
        files = {
            "svg": svg.encode(), "pdf": vl_convert.svg_to_pdf(svg),
            "png": vl_convert.svg_to_png(_add_white_background(svg), scale=2.0),
        }  # fmt: skip
        for ending, content in files.items():
            path = folder / f"{name}.{ending}"
            write_atomically(path, [content])
            written.append(path)
    return written


def _fix_width(spec: dict[str, Any]) -> dict[str, Any]:
    """Give a fixed width to a chart that takes the width of its container."""
    return {**spec, "width": _FIGURE_WIDTH} if spec.get("width") == "container" else spec


def _add_white_background(svg: str) -> str:
    """Add a white background, because a PNG would be transparent."""
    start = svg.index(">", svg.index("<svg")) + 1
    return f'{svg[:start]}<rect width="100%" height="100%" fill="#fff"/>{svg[start:]}'

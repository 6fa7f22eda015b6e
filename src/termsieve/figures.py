"""Figures as plain SVG, which needs no library to draw and none to look at."""

from __future__ import annotations

from html import escape

from termsieve.significance import Diagram

_WIDTH, _MARGIN, _ROW = 640, 170, 20
_INK, _BAR = "#333", "#c65d21"


def critical_difference(diagram: Diagram) -> str:
    """The critical-difference diagram: mean ranks on a line, and bars that join what does not differ.

    Methods of the better half are named on the left, the others on the right.

    >>> critical_difference(Diagram(("gu", "chi2"), (1.2, 1.8), 0.9, ((0, 1),))).count("<line")
    9
    """
    n = len(diagram.names)
    half = (n + 1) // 2
    top = 50 + 10 * len(diagram.bars)
    height = top + _ROW * half + 20

    def x(rank: float) -> float:
        return _MARGIN + (rank - 1) / max(n - 1, 1) * (_WIDTH - 2 * _MARGIN)

    parts = [_line(x(1), 40, x(n), 40), *(_tick(x(rank), rank) for rank in range(1, n + 1))]
    right = min(x(1 + diagram.critical_difference), _WIDTH)
    parts += [_line(x(1), 14, right, 14, _BAR), _text(x(1), 10, f"CD = {diagram.critical_difference:.2f}", "start")]
    for place, (name, rank) in enumerate(zip(diagram.names, diagram.ranks, strict=True)):
        left = place < half
        y = top + _ROW * (place if left else n - 1 - place)
        edge = _MARGIN - 30 if left else _WIDTH - _MARGIN + 30
        parts += [_line(x(rank), 40, x(rank), y), _line(x(rank), y, edge, y)]
        parts.append(_text(edge + (-6 if left else 6), y + 4, f"{name} ({rank:.2f})", "end" if left else "start"))
    for level, (first, last) in enumerate(diagram.bars):
        y = 48 + 8 * level
        parts.append(_line(x(diagram.ranks[first]) - 3, y, x(diagram.ranks[last]) + 3, y, _BAR, 3))
    size = f'viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}"'
    look = 'role="img" font-family="sans-serif" font-size="12"'
    title = f"<title>{escape(_said(diagram))}</title>"
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {look}>{title}{"".join(parts)}</svg>'


def _said(diagram: Diagram) -> str:
    ranked = ", ".join(f"{name} {rank:.2f}" for name, rank in zip(diagram.names, diagram.ranks, strict=True))
    return f"Mean ranks: {ranked}; differences below {diagram.critical_difference:.2f} may be chance"


def _line(x1: float, y1: float, x2: float, y2: float, color: str = _INK, width: float = 1) -> str:
    place = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {place} stroke="{color}" stroke-width="{width}"/>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{_INK}">{escape(text)}</text>'


def _tick(x: float, rank: int) -> str:
    return _line(x, 35, x, 40) + _text(x, 31, str(rank), "middle")

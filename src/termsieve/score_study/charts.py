"""Figures of the study as SVG: regret with its intervals, and how far scores agree."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from termsieve._types import Array
from termsieve.score_study.evidence import Regret

_ROW, _LEFT, _PLOT, _FONT = 15, 190, 420, 'font-family="system-ui, sans-serif" font-size="11"'
_DOT, _GRID, _TEXT, _MARKED = "#0072b2", "#ddd", "#444", "#d55e00"
_CELL = 12


def draw_regrets(regrets: Sequence[Regret], marked: str) -> str:
    """Draw the regret of each score as a dot with its interval, least first; one score is marked."""
    largest = max(one.high for one in regrets)
    height = _ROW * len(regrets) + 40

    def x(value: float) -> float:
        return _LEFT + _PLOT * max(value, 0.0) / largest

    parts = []
    for tick in np.arange(0.0, largest, 0.05):
        parts.append(_line(x(tick), 10, x(tick), height - 25, _GRID))
        parts.append(_text(x(tick), height - 10, f"{tick:.2f}", "middle"))
    for i, one in enumerate(regrets):
        y, color = 18 + _ROW * i, _MARKED if one.name == marked else _DOT
        parts.append(_text(_LEFT - 8, y + 4, one.name, "end"))
        parts.append(_line(x(one.low), y, x(one.high), y, color))
        parts.append(f'<circle cx="{x(one.mean):.1f}" cy="{y}" r="3" fill="{color}"/>')
    title = f"Regret in F1 of {len(regrets)} scores: least {regrets[0].name}, {regrets[0].mean:.3f}"
    return _svg(_LEFT + _PLOT + 20, height, title, parts)


def draw_agreement(names: Sequence[str], agreement: Array) -> str:
    """Draw how many of the first terms each pair of scores has in common: the darker, the more."""
    order = _order_by_likeness(agreement)
    side = _CELL * len(names)
    parts = []
    for i, a in enumerate(order):
        parts.append(_text(_LEFT - 6, 10 + _CELL * i + 10, names[a], "end"))
        for j, b in enumerate(order):
            shade = round(255 - 215 * float(agreement[a, b]))
            place = f'x="{_LEFT + _CELL * j}" y="{10 + _CELL * i}" width="{_CELL}" height="{_CELL}"'
            shared = f"<title>{escape(names[a])}, {escape(names[b])}: {agreement[a, b]:.0%}</title>"
            parts.append(f'<rect {place} fill="rgb({shade // 2},{round(shade * 0.8)},{shade})">{shared}</rect>')
    return _svg(_LEFT + side + 10, side + 20, "Share of first terms that scores have in common", parts)


def _order_by_likeness(agreement: Array) -> list[int]:
    """Return an order in which scores that agree stand side by side."""
    from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
    from scipy.spatial.distance import squareform

    distance = np.clip(1.0 - (agreement + agreement.T) / 2, 0.0, 1.0)
    np.fill_diagonal(distance, 0.0)
    condensed = squareform(distance, checks=False)
    return [int(i) for i in leaves_list(optimal_leaf_ordering(linkage(condensed, "average"), condensed))]


def _line(x1: float, y1: float, x2: float, y2: float, color: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{color}"/>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{_TEXT}">{escape(text)}</text>'


def _svg(width: int, height: int, title: str, parts: Sequence[str]) -> str:
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" {_FONT}><title>{escape(title)}</title>'
    return f'{head}<rect width="100%" height="100%" fill="#fff"/>{"".join(parts)}</svg>\n'

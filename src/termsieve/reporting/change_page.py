"""The page of changes: what rose and fell between periods, as one HTML file without scripts or network."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from termsieve._version import __version__
from termsieve.files import check_target, write_atomically
from termsieve.periods import Changes, Trends
from termsieve.periods.differences import Change, list_strongest
from termsieve.periods.trends import Trend
from termsieve.reporting.page import get_environment, load_asset
from termsieve.views import format_percent

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_SPARK_WIDTH, _SPARK_HEIGHT = 120, 26


def write_change_page(
    found: Sequence[Changes | Trends],
    path: str | Path,
    *,
    top: int = 30,
    order: str = "z",
    max_q: float = 1.0,
) -> Path:
    """Write changes, of all documents or inside some classes, as one page."""
    path = check_target(path)
    context = {
        "policy": _POLICY, "style": Markup(load_asset("page.css")), "version": __version__,  # noqa: S704 - our own
        "headline": _make_headline(found[0]), "explanation": found[0].headline, "level": f"{100 * found[0].level:g}",
        "parts": [_make_part(one, top, order, max_q) for one in found],
    }  # fmt: skip
    page = get_environment().get_template("changes.html").render(context)
    write_atomically(path, [page.encode("utf-8", "replace")])
    return path


def _make_headline(found: Changes | Trends) -> str:
    """Name the first terms that surely rose and fell: with many terms, some always seem to."""
    up, down = (some(3, max_q=1 - found.level) for some in (found.risers, found.fallers))
    if not up and not down:
        return "Nothing surely rose or fell."
    rose, fell = (", ".join(row.term for row in rows) for rows in (up, down))
    return f"Up: {rose or 'nothing'}. Down: {fell or 'nothing'}."


def _make_part(found: Changes | Trends, top: int, order: str, max_q: float) -> dict[str, Any]:
    up, down = list_strongest(found, top, by=order, max_q=max_q)
    row_of: Any = _change_row if isinstance(found, Changes) else _trend_row
    lists = [
        {"title": name, "rows": [row_of(row, _find_scale(rows)) for row in rows]}
        for name, rows in (("Rose", up), ("Fell", down))
    ]
    return {
        "title": found.label or "All documents", "sentence": found.headline, "lists": lists, "names": found.names,
        "trend": isinstance(found, Trends), "parted": isinstance(found, Changes) and found.parts is not None,
    }  # fmt: skip


def _find_scale(rows: Sequence[Change | Trend]) -> float:
    """Return what an interval may reach, at most, on either side of no change."""
    return max((max(abs(row.low), abs(row.high)) for row in rows), default=0.0) or 1.0


def _change_row(row: Change, scale: float) -> dict[str, Any]:
    return {
        "term": row.term, "note": row.change if row.change in ("new", "gone") else "",
        "shares": [format_percent(row.before), format_percent(row.after)], "points": f"{100 * row.difference:+.2f}",
        "interval": f"{100 * row.low:+.2f} to {100 * row.high:+.2f}",
        "bar": _draw_interval(row.difference, row.low, row.high, scale),
        "inside": "" if row.inside is None else f"{100 * row.inside:+.2f}",
        "mix": "" if row.mix is None else f"{100 * row.mix:+.2f}", "q": f"{row.q:.2g}",
    }  # fmt: skip


def _trend_row(row: Trend, scale: float) -> dict[str, Any]:
    return {
        "term": row.term, "note": "", "shares": [format_percent(row.shares[0]), format_percent(row.shares[-1])],
        "spark": _draw_sparkline(row.shares), "points": f"{100 * row.slope:+.3f}",
        "interval": f"{100 * row.low:+.3f} to {100 * row.high:+.3f}",
        "bar": _draw_interval(row.slope, row.low, row.high, scale),
        "q": f"{row.q:.2g}",
    }  # fmt: skip


def _draw_interval(value: float, low: float, high: float, scale: float) -> Markup:
    """Draw a value with its interval around the line of no change; only numbers go into it."""
    at = [60 + 58 * x / scale for x in (low, value, high)]
    label = f"from {100 * low:.2f} to {100 * high:.2f} points"
    return Markup(  # noqa: S704 - numbers only
        f'<svg class="interval" width="120" height="16" role="img" aria-label="{label}">'
        f'<line x1="60" x2="60" y1="0" y2="16" class="zero"/><line x1="{at[0]:.1f}" x2="{at[2]:.1f}" y1="8" y2="8"/>'
        f'<circle cx="{at[1]:.1f}" cy="8" r="2.5"/></svg>'
    )


def _draw_sparkline(shares: list[float]) -> Markup:
    """Draw the shares of the periods as a line from none to the largest; only numbers go into it."""
    top, last = max(shares) or 1.0, max(len(shares) - 1, 1)
    points = " ".join(
        f"{3 + (_SPARK_WIDTH - 6) * i / last:.1f},{_SPARK_HEIGHT - 3 - (_SPARK_HEIGHT - 6) * share / top:.1f}"
        for i, share in enumerate(shares)
    )
    label = f"from {format_percent(shares[0])} to {format_percent(shares[-1])}"
    return Markup(  # noqa: S704 - numbers only
        f'<svg class="spark" width="{_SPARK_WIDTH}" height="{_SPARK_HEIGHT}" role="img" aria-label="{label}">'
        f'<polyline points="{points}"/></svg>'
    )

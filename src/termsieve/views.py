"""Views for notebooks: small HTML tables. Every name and number is escaped: terms are untrusted text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, NamedTuple

MAX_ROWS = 20
_BAR = "linear-gradient(90deg, #56b4e966 {width:.1f}%, transparent {width:.1f}%)"


class Share(NamedTuple):
    """A part of a whole, shown as per cent with a bar behind it."""

    value: float


def render_table(
    title: str, head: Sequence[str], rows: Iterable[Sequence[object]], *, notes: Sequence[str] = ()
) -> str:
    """Render a titled table and some lines below it as HTML.

    >>> "<bdi>&lt;b&gt;</bdi>" in render_table("Terms", ["term"], [["<b>"]])
    True
    """
    body = "".join(f"<tr>{''.join(map(_render_cell, row))}</tr>" for row in rows)
    columns = "".join(f'<th scope="col" style="text-align:left">{escape(name)}</th>' for name in head)
    table = f"<table><thead><tr>{columns}</tr></thead><tbody>{body}</tbody></table>"
    below = "".join(f'<p style="margin:.3em 0">{escape(note)}</p>' for note in notes if note)
    return f"<div><p><strong>{escape(title)}</strong></p>{table}{below}</div>"


def render_ranking(title: str, score: str, rows: Sequence[Any]) -> str:
    """Render the first rows of a ranking, with the shares of documents with the term, in the class and elsewhere."""
    head = ("rank", "term", score, "class", "in the class", "elsewhere", "documents")
    shown = [
        (row.rank, row.term, float(row.score), f"{'against ' * row.against}{row.label}",
         Share(row.tp / max(row.tp + row.fn, 1)), Share(row.fp / max(row.fp + row.tn, 1)), row.tp + row.fp)
        for row in rows[:MAX_ROWS]
    ]  # fmt: skip
    return render_table(title, head, shown, notes=[format_more(len(rows), "rows")])


def format_more(n: int, what: str) -> str:
    """Tell how many rows are not shown.

    >>> format_more(25, "terms")
    '... 5 more terms'
    """
    return f"... {n - MAX_ROWS:,} more {what}" if n > MAX_ROWS else ""


def _render_cell(value: object) -> str:
    if isinstance(value, Share):
        bar = _BAR.format(width=min(max(100 * value.value, 0), 100))
        return f'<td style="text-align:right;min-width:6em;background:{bar}">{format_percent(value.value)}</td>'
    if isinstance(value, str):
        return f'<td style="text-align:left"><bdi>{escape(value)}</bdi></td>'
    shown = f"{value:.4g}" if isinstance(value, float) else f"{value:,}"
    return f'<td style="text-align:right">{escape(shown)}</td>'


def format_percent(share: float) -> str:
    """Format a share as per cent, with enough digits to tell it from none and from all.

    >>> [format_percent(x) for x in (0, 0.0004, 0.003, 0.12, 0.998, 1)]
    ['0 %', '< 0.1 %', '0.3 %', '12 %', '99.8 %', '100 %']
    """
    if share in (0, 1) or 0.01 <= share <= 0.99:
        return f"{100 * share:.0f} %"
    return f"{100 * share:.1f} %" if 0.001 <= share <= 0.999 else "< 0.1 %" if share < 0.5 else "> 99.9 %"

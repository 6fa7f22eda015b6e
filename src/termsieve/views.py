"""Views for notebooks: small HTML tables. Every name and number is escaped: terms are untrusted text."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, NamedTuple

MAX_ROWS = 20
_MAX_DIGITS = 12  # beyond these, differences are rounding errors
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


def format_percent(share: float | None) -> str:
    """Format a share as per cent: with two digits, and with as many as tell it from none and from all.

    >>> [format_percent(x) for x in (0, 0.000001, 0.00031, 0.012, 0.1234, 0.998, 0.9999, 1, None)]
    ['0 %', '< 0.001 %', '0.031 %', '1.2 %', '12 %', '99.8 %', '> 99.9 %', '100 %', '-']
    """
    if share is None:
        return "-"
    x = 100 * share
    if x in (0, 100) or 9.95 <= x <= 99:
        return f"{x:.0f} %"
    if x > 99:
        return f"{x:.1f} %" if x <= 99.9 else "> 99.9 %"
    digits = min(max(1 - math.floor(math.log10(x)), 1), 3)
    return f"{x:.{digits}f} %" if x >= 0.001 else "< 0.001 %"


def format_measure(value: float | None, digits: int = 3) -> str:
    """Format a measure from 0 to 1. Only 1 is 1 and only 0 is 0: nothing is rounded into a claim.

    >>> [format_measure(x) for x in (0.97049, 0.9996, 1, 0.0004, 0, None)]
    ['0.970', '0.9996', '1.000', '0.0004', '0.000', '-']
    """
    if value is None or math.isnan(value):
        return "-"
    shown = f"{value:.{digits}f}"
    while digits < _MAX_DIGITS and float(shown) in (0, 1) and float(shown) != value:
        digits += 1
        shown = f"{value:.{digits}f}"
    return shown


def format_difference(value: float | None, digits: int = 3) -> str:
    """Format a difference of two measures, with its sign.

    >>> [format_difference(x) for x in (-0.0131, 0.0042, 0, -0.00004)]
    ['-0.013', '+0.004', '0', '-0.00004']
    """
    if value is None or math.isnan(value):
        return "-"
    return f"{'+' if value > 0 else '-'}{format_measure(abs(value), digits)}" if value else "0"


def name_measure(name: str) -> str:
    """Return a measure in words.

    >>> name_measure("f1_macro"), name_measure("accuracy"), name_measure("precision_micro")
    ('macro F1', 'accuracy', 'micro precision')
    """
    what, _, average = name.partition("_")
    return f"{average} {what.upper() if len(what) == 2 else what}".strip()

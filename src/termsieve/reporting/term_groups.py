"""The chart of terms that stand for each other, by their documents."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from termsieve.reporting.formatting import format_name, round_for_json
from termsieve.reporting.style import PALETTE, Chart, finish_chart, inline_data, make_tooltip, make_unique
from termsieve.selection.near_duplicates import TermGroup

MAX_GROUPS, MAX_TERMS = 10, 4  # that the chart shows
_ROW_HEIGHT = 17


def draw_term_groups(groups: Sequence[TermGroup]) -> Chart:
    """Draw groups of terms: a bar for each term, as long as the share of documents that it has with its first one."""
    shown = [(i, group, range(min(len(group.terms), MAX_TERMS))) for i, group in enumerate(groups[:MAX_GROUPS])]
    names = iter(make_unique(format_name(group.terms[j]) for _, group, places in shown for j in places))
    rows = []
    for i, group, places in shown:
        mine = [next(names) for _ in places]
        rows += [
            {"term": mine[j], "first": mine[0], "group": i % 2, "df": group.df[j], "share": round_for_json(overlap)}
            for j, overlap in zip(places, group.overlap, strict=False)
        ]
    bars = alt.Chart(inline_data(rows)).mark_bar(height=_ROW_HEIGHT - 5).encode(
        x=alt.X("share:Q", title="documents in common with the first", scale=alt.Scale(domain=[0, 1]),
                axis=alt.Axis(format=".0%", tickCount=5)),
        y=alt.Y("term:N", title=None, sort=None),
        color=alt.Color("group:N", scale=alt.Scale(domain=[0, 1], range=PALETTE[:2]), legend=None),
        tooltip=[make_tooltip("term:N", "term"), make_tooltip("first:N", "group of"),
                 make_tooltip("share:Q", "documents in common", ".0%"), make_tooltip("df:Q", "documents", ",")],
    )  # fmt: skip
    words = "; ".join(", ".join(format_name(term) for term in group.terms[:MAX_TERMS]) for _, group, _ in shown)
    return finish_chart(bars, "groups", "Terms that stand for each other", f"Groups of terms: {words}.",
                        height=_ROW_HEIGHT * len(rows))  # fmt: skip

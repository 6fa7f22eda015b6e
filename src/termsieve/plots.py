"""Charts for notebooks, drawn with altair: bars of a ranking, curves of a comparison."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from termsieve.extras import import_extra

WIDTH = 420


def plot_ranking(table: pa.Table, title: str) -> Any:
    """Draw the terms of a ranking as bars, in their order, coloured by class.

    Parameters
    ----------
    table : pyarrow.Table
        With the columns rank, term, score and class.
    title : str
        What the score is called.
    """
    alt = import_extra("altair", "A plot")
    data = alt.InlineData(values=table.select(["rank", "term", "score", "class"]).to_pylist())
    return (
        alt.Chart(data, width=WIDTH)
        .mark_bar()
        .encode(
            x=alt.X("score:Q", title=title),
            y=alt.Y("term:N", sort=alt.EncodingSortField("rank", order="ascending"), title=None),
            color=alt.Color("class:N", title="class"),
            tooltip=["term:N", "score:Q", "class:N"],
        )
    )


def plot_curves(table: pa.Table, measure: str) -> Any:
    """Draw a measure over the number of terms: a line for each score, a panel for each classifier.

    Parameters
    ----------
    table : pyarrow.Table
        With the columns classifier, score, k, mean and standard_error.
    measure : str
        What the measure is called.
    """
    alt = import_extra("altair", "A plot")
    rows = [
        {**row, "low": row["mean"] - (row["standard_error"] or 0), "high": row["mean"] + (row["standard_error"] or 0)}
        for row in table.to_pylist()
    ]
    base = alt.Chart(alt.InlineData(values=rows), width=WIDTH).encode(
        x=alt.X("k:Q", scale=alt.Scale(type="log"), title="number of terms"),
        color=alt.Color("score:N", title="score"),
    )
    zoomed = alt.Scale(zero=False)
    line = base.mark_line(point=True).encode(
        y=alt.Y("mean:Q", scale=zoomed, title=measure), tooltip=["score:N", "k:Q", "mean:Q", "standard_error:Q"]
    )
    band = base.mark_area(opacity=0.12).encode(y=alt.Y("low:Q", scale=zoomed, title=measure), y2="high:Q")
    return alt.layer(band, line).facet(row=alt.Row("classifier:N", title=None))

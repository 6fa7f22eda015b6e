"""What changed over more than two periods: a slope for each term."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from termsieve._types import Array, Int64Array
from termsieve.counts.counts import Counts
from termsieve.periods import proportions
from termsieve.periods.period_terms import PeriodTerms
from termsieve.periods.trend_test import find_trend_pvalues
from termsieve.views import format_percent, render_table

_BARS = "▁▂▃▄▅▆▇█"
_SHOWN = 10


class Trend(NamedTuple):
    """One term: its share of documents in each period, and the slope per period with its limits."""

    term: str
    shares: list[float]
    slope: float
    low: float
    high: float
    z: float
    p: float
    q: float


SCHEMA = pa.schema(
    [("term", pa.string()), ("shares", pa.list_(pa.float64()))] + [(name, pa.float64()) for name in Trend._fields[2:]]
)


class Trends(PeriodTerms):
    """The trend of each term over periods. Made by `termsieve.changes` from more than two counts.

    Attributes
    ----------
    periods : dict of str to Counts
        The counts, in the order of time.
    slope : Estimate
        Change of the share of documents per period.
    z, p, q : array
        Cochran and Armitage's test of a trend, its two-sided p-value (exact for rare terms), and the q-value.

    Examples
    --------
    >>> import termsieve as ts
    >>> months = [ts.count(["sun"] * n + ["rain"] * (50 - n), ["x"] * 50) for n in (10, 20, 30)]
    >>> found = ts.changes(*months)
    >>> found.risers(1)[0].term, round(found.risers(1)[0].slope, 3)
    ('sun', 0.2)
    """

    schema = SCHEMA

    def __init__(self, periods: Mapping[str, Counts], level: float, label: str | None = None) -> None:
        super().__init__(periods, level, label)
        order = [self._joined.index_of_class(name) for name in self.names]
        self.sizes: Int64Array = self._joined.class_sizes[order]
        self.df: Int64Array = self._joined.df[order].toarray().T

    @cached_property
    def _fit(self) -> tuple[proportions.Estimate, Array]:
        return proportions.fit_trend(self.df, self.sizes, self.level)

    @property
    def slope(self) -> proportions.Estimate:
        """Change of the share of documents per period, with limits."""
        return self._fit[0]

    @property
    def z(self) -> Array:
        """Cochran and Armitage's statistic."""
        return self._fit[1]

    @cached_property
    def p(self) -> Array:
        """Two-sided p-values: exact for rare terms, of the normal distribution for others."""
        return find_trend_pvalues(self.df, self.sizes, self.z)

    def risers(self, n: int | None = _SHOWN, *, max_q: float = 1.0) -> list[Trend]:
        """Return the terms with the surest rise, with a q-value of at most `max_q`."""
        return self._rows(self._order(1, max_q)[:n])

    def fallers(self, n: int | None = _SHOWN, *, max_q: float = 1.0) -> list[Trend]:
        """Return the terms with the surest fall."""
        return self._rows(self._order(-1, max_q)[:n])

    def __iter__(self) -> Iterator[Trend]:
        return iter(self._rows(self._order(0, 1.0)))

    def _order(self, sign: int, max_q: float) -> Int64Array:
        kept = self.q <= max_q
        if sign:
            kept &= np.sign(self.slope.value) == sign
        return self._sort_places(np.flatnonzero(kept), np.abs(self.z))

    def _rows(self, places: Int64Array) -> list[Trend]:
        terms = self.terms.take(pa.array(places)).to_pylist()
        shares = (self.df[places] / self.sizes).tolist()
        columns = (part[places].tolist() for part in (*self.slope, self.z, self.p, self.q))
        return [Trend(*row) for row in zip(terms, shares, *columns, strict=True)]

    @property
    def headline(self) -> str:
        """What was compared, and how much of it changed."""
        where = "" if self.label is None else f" in {self.label}"
        sure = self.q <= 1 - self.level
        rose, fell = int((sure & (self.slope.value > 0)).sum()), int((sure & (self.slope.value < 0)).sum())
        return (
            f"Trends{where} over {len(self.names)} periods, {self.names[0]} to {self.names[-1]} "
            f"({int(self.sizes.sum()):,} documents): of {len(self):,} terms {rose:,} surely rose and {fell:,} fell "
            f"(false discovery rate {1 - self.level:.2g})"
        )

    def __repr__(self) -> str:
        lines = [self.headline]
        for title, rows in (("rose", self.risers()), ("fell", self.fallers())):
            width = max([len(title), *(len(row.term) for row in rows)])
            lines += ["", f"{title.ljust(width)}  shares", *(_format_row(row, width) for row in rows)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head = ("term", "shares", "slope", "low", "high", "q")
        rows = [
            (row.term, draw_sparkline(row.shares), row.slope, row.low, row.high, row.q)
            for row in [*self.risers(), *self.fallers()]
        ]
        return render_table(self.headline, head, rows)


def _format_row(row: Trend, width: int) -> str:
    ends = f"{format_percent(row.shares[0])} to {format_percent(row.shares[-1])}"
    slope = f"{100 * row.slope:+.2g} points a period, q {row.q:.2g}"
    return f"{row.term.ljust(width)}  {draw_sparkline(row.shares)}  {ends}, {slope}"


def draw_sparkline(values: list[float]) -> str:
    """Draw numbers as a row of bars, from none to the largest.

    >>> draw_sparkline([0, 1, 2, 4])
    '▁▃▅█'
    """
    top = max(values, default=0) or 1
    return "".join(_BARS[round(value / top * (len(_BARS) - 1))] for value in values)

"""What changed between two periods: the terms that rose and fell, new and gone, with effect, interval and q-value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from termsieve._types import Array, Int64Array
from termsieve.counts.counts import Counts
from termsieve.defaults import DEFAULT_LEVEL
from termsieve.errors import OptionError
from termsieve.periods import proportions
from termsieve.periods.decomposition import Decomposition, decompose
from termsieve.periods.period_terms import PeriodTerms
from termsieve.periods.trends import Trend, Trends
from termsieve.ranking.ranking import score
from termsieve.views import format_percent, render_table

ORDERS = ("z", "difference", "ratio")
_SHOWN = 10  # rows of each direction, where a result prints itself


class Change(NamedTuple):
    """One term: shares of documents with it in both periods, and how they differ.

    `difference` is after minus before, `log_ratio` the binary logarithm of their ratio, each with its limits; `z` is
    the signed square root of chi-square; `inside` and `mix` are the parts of the difference (None with several labels).
    """

    term: str
    change: str
    before: float
    after: float
    df_before: int
    df_after: int
    difference: float
    low: float
    high: float
    log_ratio: float
    ratio_low: float
    ratio_high: float
    z: float
    p: float
    q: float
    inside: float | None
    mix: float | None


SCHEMA = pa.schema(
    [("term", pa.string()), ("change", pa.string()), ("before", pa.float64()), ("after", pa.float64()),
     ("df_before", pa.int64()), ("df_after", pa.int64())]
    + [(name, pa.float64()) for name in Change._fields[6:]]
)  # fmt: skip


def changes(
    before: Counts | Mapping[str, Counts],
    after: Counts | None = None,
    *more: Counts,
    names: tuple[str, ...] | None = None,
    level: float = DEFAULT_LEVEL,
) -> Changes | Trends:
    """Compare counts of two or more periods (or sources): which terms rose, which fell, and how sure that is.

    Only counts are needed: the documents may be gone. Both must be made by one analyzer.

    Parameters
    ----------
    before, after, *more
        Counts in the order of time; or one mapping of names to counts.
    names
        Names of the periods (default "before" and "after", or "1", "2", ...).
    level
        Of the intervals.

    Returns
    -------
    Changes or Trends
        For two periods, and for more.

    Examples
    --------
    >>> import termsieve as ts
    >>> may = ts.count(["rain and wind"] * 40 + ["sun and sea"] * 10, ["x"] * 50)
    >>> june = ts.count(["rain and wind"] * 10 + ["sun and sea"] * 40, ["x"] * 50)
    >>> found = ts.changes(may, june)
    >>> [(row.term, row.change, round(row.difference, 2)) for row in found.risers(2)]
    [('sea', 'rose', 0.6), ('sun', 'rose', 0.6)]
    """
    if isinstance(before, Mapping):
        if after is not None or more or names is not None:
            raise OptionError("Give one mapping of names to counts, or counts one after the other, not both.")
        periods = {str(name): one for name, one in before.items()}
    else:
        given = [before, *([] if after is None else [after]), *more]
        usual = ("before", "after") if len(given) == 2 else range(1, len(given) + 1)
        called = [str(name) for name in names or usual] if isinstance(names, Iterable | None) else []
        if len(called) != len(given) or len(set(called)) < len(called):
            raise OptionError(f"names must be {len(given)} distinct names, one for each period, not {names!r}.")
        periods = dict(zip(called, given, strict=True))
    return Changes(periods, level) if len(periods) == 2 else Trends(periods, level)


class Changes(PeriodTerms):
    """What changed between two periods. Made by `termsieve.changes`.

    Attributes
    ----------
    periods : dict of str to Counts
        The two counts, by name.
    terms : pyarrow array
        All terms of both, sorted, or in the order of a given vocabulary; all arrays below are in this order.
    difference, log_ratio : Estimate
        Of the shares of documents: after minus before, and the binary logarithm of after to before.
    z, p, q : array
        Signed square root of chi-square; exact two-sided p-value (Fisher); q-value (Benjamini and Hochberg).
    parts : Decomposition or None
        The change inside the classes, and that of the mix of the classes. None with several labels per document, or
        inside one class.

    Examples
    --------
    >>> import termsieve as ts
    >>> before, after = ts.count(["sun"] * 9 + ["rain"], ["x"] * 10), ts.count(["sun"] * 5 + ["ice"] * 5, ["x"] * 10)
    >>> found = ts.changes(before, after)
    >>> [(row.term, row.change) for row in found.fallers()]
    [('sun', 'fell'), ('rain', 'gone')]
    """

    schema = SCHEMA

    def __init__(self, periods: Mapping[str, Counts], level: float = DEFAULT_LEVEL, label: str | None = None) -> None:
        super().__init__(periods, level, label)
        self.n_docs: tuple[int, int] = tuple(self._size(name) for name in self.names)  # type: ignore[assignment]
        self.df: tuple[Int64Array, Int64Array] = tuple(self._df(name) for name in self.names)  # type: ignore[assignment]

    def _size(self, name: str) -> int:
        return int(self._joined.class_sizes[self._joined.index_of_class(name)])

    def _df(self, name: str) -> Int64Array:
        cells = self._joined.cells
        return np.asarray(cells.where(cells.classes == self._joined.index_of_class(name)).totals()[0], np.int64)

    @cached_property
    def difference(self) -> proportions.Estimate:
        """Differences of the shares of documents, with Newcombe's limits."""
        return proportions.compare_shares(self.df[0], self.n_docs[0], self.df[1], self.n_docs[1], self.level)

    @cached_property
    def log_ratio(self) -> proportions.Estimate:
        """Binary logarithms of the ratio of the shares, with limits."""
        return proportions.compare_ratios(self.df[0], self.n_docs[0], self.df[1], self.n_docs[1], self.level)

    @cached_property
    def z(self) -> Array:
        """The signed square root of chi-square: positive for terms that rose."""
        chi2 = score(self._joined, "chi2").of_class(self._joined.index_of_class(self.names[1]))
        return np.sqrt(chi2) * np.sign(self.difference.value)

    @cached_property
    def p(self) -> Array:
        """Two-sided p-values of Fisher's exact test."""
        return proportions.exact_pvalues(self._joined, *self.names)

    @cached_property
    def parts(self) -> Decomposition | None:
        """The two parts of the differences."""
        if self.label is not None or any(one.n_multilabel for one in self.periods.values()):
            return None
        before, after = self.periods.values()
        return decompose(before, after, self.terms)

    def risers(self, n: int | None = _SHOWN, *, by: str = "z", max_q: float = 1.0) -> list[Change]:
        """Return the terms that rose most, or are new, with a q-value of at most `max_q`.

        Strongest first by `z`, or by the limit of the ``"difference"`` or the ``"ratio"`` that is nearer to no change.
        """
        return self._rows(self._order(by, 1, max_q)[:n])

    def fallers(self, n: int | None = _SHOWN, *, by: str = "z", max_q: float = 1.0) -> list[Change]:
        """Return the terms that fell most, or are gone."""
        return self._rows(self._order(by, -1, max_q)[:n])

    def __iter__(self) -> Iterator[Change]:
        return iter(self._rows(self._order("z", 0, 1.0)))

    def _order(self, by: str, sign: int, max_q: float) -> Int64Array:
        """Return the places of the terms that rose (1), fell (-1) or of all (0), strongest first; ties by the term."""
        if by not in ORDERS:
            raise OptionError(f"by must be one of {', '.join(map(repr, ORDERS))}, not {by!r}.")
        # by the limit that is nearer to no change: what is surely at least so large
        bounds = {"z": (self.z, self.z), "difference": self.difference[1:], "ratio": self.log_ratio[1:]}[by]
        sizes = np.maximum(bounds[0], -bounds[1]) if by != "z" else np.abs(self.z)
        kept = self.q <= max_q
        if sign:
            kept &= np.sign(self.difference.value) == sign
        return self._sort_places(np.flatnonzero(kept), sizes)

    def _rows(self, places: Int64Array) -> list[Change]:
        df0, df1 = (df[places] for df in self.df)
        inside, mix = ([None] * len(places),) * 2 if self.parts is None else (part[places] for part in self.parts)
        difference, log_ratio = ([part[places] for part in one] for one in (self.difference, self.log_ratio))
        kinds = np.select(
            [df0 == 0, df1 == 0, difference[0] > 0, difference[0] < 0], ["new", "gone", "rose", "fell"], "same"
        )
        terms = self.terms.take(pa.array(places)).to_pylist()
        columns = [
            kinds, df0 / self.n_docs[0], df1 / self.n_docs[1], df0, df1, *difference, *log_ratio,
            self.z[places], self.p[places], self.q[places], inside, mix,
        ]  # fmt: skip
        return [Change(*row) for row in zip(terms, *(_to_list(column) for column in columns), strict=True)]

    @property
    def headline(self) -> str:
        """What was compared, and how much of it changed."""
        where = "" if self.label is None else f" in {self.label}"
        sizes = " and ".join(f"{name} ({n:,} documents)" for name, n in zip(self.names, self.n_docs, strict=True))
        sure = self.q <= 1 - self.level
        rose, fell = int((sure & (self.difference.value > 0)).sum()), int((sure & (self.difference.value < 0)).sum())
        return (
            f"Changes{where} between {sizes}: of {len(self):,} terms {rose:,} surely rose and {fell:,} fell "
            f"(false discovery rate {1 - self.level:.2g})"
        )

    def __repr__(self) -> str:
        lines = [self.headline]
        for title, rows in (("rose", self.risers()), ("fell", self.fallers())):
            lines += ["", *_format_rows(title, rows, self.names)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head = ("term", "change", *self.names, "difference", "low", "high", "q")
        rows = [
            (row.term, row.change, format_percent(row.before), format_percent(row.after), row.difference, row.low,
             row.high, row.q)
            for row in [*self.risers(), *self.fallers()]
        ]  # fmt: skip
        return render_table(self.headline, head, rows)


def list_strongest(
    found: Changes | Trends, n: int, *, by: str = "z", max_q: float = 1.0
) -> tuple[list[Change] | list[Trend], list[Change] | list[Trend]]:
    """Return the n terms that rose most and the n that fell most; trends have one order, whatever `by` says."""
    options: dict[str, Any] = {"max_q": max_q} | ({"by": by} if isinstance(found, Changes) else {})
    return found.risers(n, **options), found.fallers(n, **options)


def _to_list(column: Any) -> list[Any]:
    return column.tolist() if isinstance(column, np.ndarray) else list(column)


def _format_rows(title: str, rows: list[Change], names: tuple[str, ...]) -> list[str]:
    head = (title, *names, "difference", "interval", "q")
    body = [
        (row.term if row.change in ("rose", "fell") else f"{row.term} ({row.change})", format_percent(row.before),
         format_percent(row.after), f"{100 * row.difference:+.2f}", f"{100 * row.low:+.2f} {100 * row.high:+.2f}",
         f"{row.q:.2g}")
        for row in rows
    ]  # fmt: skip
    widths = [max(map(len, column)) for column in zip(head, *body, strict=True)]
    return [
        "  ".join(x.rjust(w) if i else x.ljust(w) for i, (x, w) in enumerate(zip(line, widths, strict=True)))
        for line in (head, *body)
    ]

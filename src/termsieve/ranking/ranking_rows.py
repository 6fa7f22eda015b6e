"""`Ranking`: the best terms, best first, with the class that each is associated with and the cells there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, overload

import pyarrow as pa

from termsieve import views
from termsieve.frames import ArrowTable
from termsieve.plots import plot_ranking


class RankingRow(NamedTuple):
    """One line of a ranking: the term, its score, the class it is associated with, and the cells there."""

    rank: int
    term: str
    score: float
    label: str
    tp: int
    fp: int
    fn: int
    tn: int
    against: bool = False


COLUMNS = pa.schema(
    [("rank", pa.int64()), ("term", pa.string()), ("score", pa.float64()), ("class", pa.string()), ("tp", pa.int64()),
     ("fp", pa.int64()), ("fn", pa.int64()), ("tn", pa.int64()), ("against", pa.bool_())]
)  # fmt: skip


class TermScore(NamedTuple):
    """What a score says of one term; `by_class` has its value in each class."""

    term: str
    rank: int
    score: float
    label: str
    by_class: dict[str, float]


class Ranking(ArrowTable):
    """Rows of a ranking, best first; prints as a table, and frames take it as one.

    It has a length, and is indexed and iterated, but is no registered `Sequence`: frames would take its rows apart.

    Examples
    --------
    >>> import termsieve as ts
    >>> counts = ts.count(["good film", "good play", "bad film"], ["pos", "pos", "neg"])
    >>> ranking = ts.score(counts, "chi2").top(2)
    >>> [(row.term, row.label) for row in ranking]
    [('bad', 'neg'), ('good', 'pos')]
    >>> ranking.to_arrow().column_names
    ['rank', 'term', 'score', 'class', 'tp', 'fp', 'fn', 'tn', 'against']
    """

    def __init__(
        self, rows: Iterable[RankingRow], score: str, beside: Mapping[str, Iterable[float]] | None = None
    ) -> None:
        self._rows = tuple(rows)
        self.score = score
        self.beside = {name: tuple(map(float, column)) for name, column in (beside or {}).items()}

    @overload
    def __getitem__(self, index: int) -> RankingRow: ...

    @overload
    def __getitem__(self, index: slice) -> Ranking: ...

    def __getitem__(self, index: int | slice) -> RankingRow | Ranking:
        if not isinstance(index, slice):
            return self._rows[index]
        return Ranking(self._rows[index], self.score, {name: x[index] for name, x in self.beside.items()})

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[RankingRow]:
        return iter(self._rows)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ranking):
            return False
        return (self._rows, self.score, self.beside) == (other._rows, other.score, other.beside)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        head = ("rank", "term", self.score, "class", "tp", "fp", "fn", "tn", *self.beside)
        extra = list(zip(*self.beside.values(), strict=True)) or [()] * len(self._rows)
        body = [
            (str(r.rank), r.term, f"{r.score:.6g}", f"{'against ' * r.against}{r.label}", *map(str, r[4:8]),
             *(f"{x:.4g}" for x in more))
            for r, more in zip(self._rows, extra, strict=True)
        ]  # fmt: skip
        widths = [max(map(len, column)) for column in zip(head, *body, strict=True)]
        left = {1, 3}
        return "\n".join(
            "  ".join(
                x.ljust(w) if i in left else x.rjust(w) for i, (x, w) in enumerate(zip(line, widths, strict=True))
            )
            for line in (head, *body)
        )

    def _repr_html_(self) -> str:
        return views.render_ranking(f"{len(self):,} terms by {self.score}", self.score, self._rows)

    def to_arrow(self) -> pa.Table:
        """Return a table with a row per row, and what stands beside the terms in further columns."""
        columns = list(zip(*self._rows, strict=True)) or [()] * len(COLUMNS)
        table = pa.table(dict(zip(COLUMNS.names, columns, strict=True)), schema=COLUMNS)
        for name, column in self.beside.items():
            table = table.append_column(name, pa.array(column, pa.float64()))
        return table

    def plot(self) -> Any:
        """Draw the terms as bars, coloured by class: a chart of altair."""
        return plot_ranking(self.to_arrow(), self.score)

"""Counts of a DataFrame of Spark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pyspark import StorageLevel

from termsieve.counts.counts import Counts
from termsieve.counts.folds import Folds
from termsieve.counts.parts import FAN_IN, make_plan
from termsieve.documents import AUTO, Detect
from termsieve.spark.failures import explain_failures
from termsieve.spark.workers import PARTS, CountPartition, add_group, unpack_parts
from termsieve.tokens.analyzer import Analyzer

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def count(
    df: DataFrame,
    *,
    text: str | Sequence[str] | None = None,
    label: str | Detect | None = AUTO,
    analyzer: Analyzer | None = None,
    min_df: float = 1,
    folds: int | str | None = None,
    seed: int = 0,
    id: str | None = None,
    label_sep: str | None = None,
    strict: bool = False,
) -> Counts | Folds:
    plan = make_plan(
        "the DataFrame", df.columns, text=text, label=label, analyzer=analyzer, min_df=min_df, folds=folds, seed=seed,
        id=id, label_sep=label_sep, strict=strict,
    )  # fmt: skip
    rows = df.select(*(df[_quote(name)] for name in plan.columns))
    with explain_failures(), _kept(rows.mapInArrow(CountPartition(plan), PARTS)) as parts:
        part = unpack_parts(_add_in_groups(parts).toArrow())
    return plan.finish(part, min_df)


def _add_in_groups(parts: DataFrame) -> DataFrame:
    n = 1 + max(row["part"] for row in parts.select("part").toArrow().to_pylist())
    while n > FAN_IN:
        parts = parts.groupBy((parts["part"] / FAN_IN).cast("int").alias("group")).applyInArrow(add_group, PARTS)
        n = -(-n // FAN_IN)
    return parts


@contextmanager
def _kept(parts: DataFrame) -> Iterator[DataFrame]:
    """Keep what workers computed, on their disks: it is asked for more than once."""
    parts = parts.persist(StorageLevel.DISK_ONLY)
    try:
        yield parts
    finally:
        parts.unpersist()


def _quote(name: str) -> str:
    return "`{}`".format(name.replace("`", "``"))

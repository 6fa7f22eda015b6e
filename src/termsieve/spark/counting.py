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
from termsieve.errors import OptionError
from termsieve.spark.failures import explain_failures
from termsieve.spark.stored import StoredCounts, refuse_existing, store_parts
from termsieve.spark.workers import PARTS, PartitionCounter, add_group, unpack_parts
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
    to: str | None = None,
    ranges: int | None = None,
) -> Counts | Folds | StoredCounts:
    """Count the terms of a DataFrame, on its cluster.

    Each partition is counted by an executor into counts of its own. These are added up as a tree, on executors, and the
    last of them here. With `to` nothing of the size of the vocabulary comes here: the counts of the partitions are cut
    at the same terms, each range of terms is added up by one task, and written to the storage of the cluster.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        Of a classic session or of Spark Connect.
    text, label, label_sep, strict
        As in `termsieve.read`. A column of arrays has several labels for each document, or lists of tokens.
    analyzer
        How a text becomes terms, as in `termsieve.count`.
    min_df
        Leave out terms of fewer documents, as `Counts.prune` does, when all is added up.
    folds, seed, id
        As in `termsieve.count_folds`: a number, with the column that names each document; or a column with its fold.
    to
        A path on the cluster's storage, such as ``"hdfs:///counts/2024"``, that is not there yet.
    ranges
        With `to`: into how many ranges the terms are cut (default: by the size of what was counted).

    Returns
    -------
    Counts, with `folds` a `Folds`, with `to` a `StoredCounts`
        Equal to what `termsieve.count` and `termsieve.count_folds` make of the same documents.
    """
    plan = make_plan(
        "the DataFrame", df.columns, text=text, label=label, analyzer=analyzer, min_df=min_df, folds=folds, seed=seed,
        id=id, label_sep=label_sep, strict=strict,
    )  # fmt: skip
    if to is None and ranges is not None:
        raise OptionError(f"ranges={ranges!r} goes with to=: counts that come here are not cut.")
    if to is not None and folds is not None:
        raise OptionError("to= goes without folds: storage has counts of all documents. Count each fold separately.")
    rows = df.select(*(df[_quote(name)] for name in plan.columns))
    with explain_failures():
        if to is not None:
            refuse_existing(df.sparkSession, to)
        with _keep_on_disk(rows.mapInArrow(PartitionCounter(plan), PARTS)) as parts:
            if to is not None:
                return store_parts(parts, to, min_df, ranges)
            part = unpack_parts(_add_in_groups(parts).toArrow())
    return plan.finish(part, min_df)


def _add_in_groups(parts: DataFrame) -> DataFrame:
    """Add up groups of parts, then groups of the sums, until few are left: they are numbered from 0 on."""
    n = 1 + max(parts.select("part").toArrow()["part"].to_pylist(), default=0)
    while n > FAN_IN:
        parts = parts.groupBy((parts["part"] / FAN_IN).cast("int").alias("group")).applyInArrow(add_group, PARTS)
        n = -(-n // FAN_IN)
    return parts


@contextmanager
def _keep_on_disk(parts: DataFrame) -> Iterator[DataFrame]:
    """Keep what executors have counted: it is asked for more than once."""
    kept = parts.persist(StorageLevel.DISK_ONLY)
    try:
        yield kept
    finally:
        kept.unpersist()


def _quote(name: str) -> str:
    return "`{}`".format(name.replace("`", "``"))

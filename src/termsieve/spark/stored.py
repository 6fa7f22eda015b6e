"""Counts on the storage of a cluster, where they are larger than the driver: Parquet, and scores of it.

Under one path there are two folders. ``terms-...`` has a row for each term: ``term``, ``df``, ``tf``, ``tf2`` over all
documents, and lists ``class``, ``class_df``, ``class_tf``, ``class_tf2`` of the classes in which it occurs, as in a
counts file (`termsieve.counts.storage`). ``facts`` has one row, written last: a path without it is not whole, and is
refused. So a job that ends in the middle leaves nothing that could be taken for counts, and can be started again.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from termsieve._types import Int64Array, StringArray
from termsieve.checks import is_whole_number
from termsieve.counts.counts import Counts, Population
from termsieve.counts.parts import Part, PartReport, combine_parts, prune_rare
from termsieve.defaults import DEFAULT_SCORE
from termsieve.errors import CountsFileError, InputError, OptionError, OutputError
from termsieve.ranking.ranking import ScoreLike
from termsieve.ranking.ranking import score as score_counts
from termsieve.ranking.ranking_rows import Ranking
from termsieve.spark.failures import explain_failures
from termsieve.spark.workers import HEADS, RANGES, SUMS, TERMS, BestTerms, PartCutter, TermSums, add_range, read_heads

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_RANGE_TERMS = 2_000_000  # of one task, counted as often as parts have them
_FORMAT = 1


class StoredCounts:
    """Counts on the storage of a cluster; made by `count` with `to`, and by `load`.

    Attributes
    ----------
    path
        Where they are.
    classes, class_sizes, n_docs, n_multilabel
        As of `Counts`.
    n_terms
        Number of terms.
    terms
        A DataFrame with a row for each term.
    """

    def __init__(self, session: SparkSession, path: str, facts: dict[str, Any]) -> None:
        self.path = path
        self._session = session
        self._head = bytes(facts["counts"])
        head = Counts.from_bytes(self._head, f"{path}/facts")
        self.classes: StringArray = head.classes
        self.class_sizes: Int64Array = head.class_sizes
        self.n_docs, self.n_multilabel, self.n_terms = head.n_docs, head.n_multilabel, int(facts["n_terms"])
        self._population = Population(
            self.n_terms, int(facts["n_occurrences"]), np.array(facts["class_tf"] or [], np.int64)
        )
        self._folder = f"{path}/{facts['folder']}"

    @property
    def terms(self) -> DataFrame:
        """A DataFrame with a row for each term: see `termsieve.spark.stored`."""
        return self._session.read.schema(TERMS).parquet(self._folder)

    def __repr__(self) -> str:
        return (
            f"<StoredCounts of {self.n_terms:,} terms in {len(self.classes):,} classes, from {self.n_docs:,} "
            f"documents: {self.path}>"
        )

    def to_counts(self) -> Counts:
        """Bring all of them here."""
        with explain_failures():
            found = self.terms.toArrow()
        counts = self._make_best_terms(DEFAULT_SCORE, {}).gather(iter(found.to_batches()))
        counts.population = None
        return counts

    def score(self, score_func: ScoreLike = DEFAULT_SCORE, k: int = 20, **options: Any) -> Ranking:
        """Score all terms on the cluster, and return the best k: what `Scores.top` has of the counts.

        Parameters
        ----------
        score_func : str, Score or function of a Table
            As in `termsieve.score`.
        k : int
            How many.
        **options
            Those of `Scores.top`: ``of``, ``per_class``, ``against``.
        """
        taker = self._make_best_terms(score_func, {"n": k, **options})
        with explain_failures():
            best = self.terms.mapInArrow(taker, TERMS).toArrow()
        counts = taker.gather(iter(best.to_batches()))
        return score_counts(counts, score_func).top(k, **options)

    def _make_best_terms(self, score_func: ScoreLike, options: dict[str, Any]) -> BestTerms:
        return BestTerms(self._head, self._population, score_func, options)


def load(path: str, session: SparkSession | None = None) -> StoredCounts:
    """Open counts on the storage of a cluster.

    Parameters
    ----------
    path
        What `count` was given as `to`.
    session
        The session that reads it; without one, the one that is in use.
    """
    session = session or _find_session()
    facts = _read_facts(session, path)
    if facts is None:
        raise CountsFileError(
            f"{path}: has no counts, or not all of them: there is no folder 'facts', which is written last. "
            "termsieve.spark.count(df, to=path) writes such counts."
        )
    if facts["format"] != _FORMAT:
        raise CountsFileError(f"{path}: has version {facts['format']} of the format; this termsieve reads {_FORMAT}.")
    return StoredCounts(session, path, facts)


def score(
    counts: StoredCounts | str,
    score_func: ScoreLike = DEFAULT_SCORE,
    k: int = 20,
    *,
    session: SparkSession | None = None,
    **options: Any,
) -> Ranking:
    """Score counts on the storage of a cluster, there, and return the best k terms.

    Parameters
    ----------
    counts
        What `count` with `to` returned, or the path.
    score_func, k, **options
        As of `StoredCounts.score`.
    session
        The session that reads a path; without one, the one that is in use.
    """
    stored = load(counts, session) if isinstance(counts, str) else counts
    return stored.score(score_func, k, **options)


def refuse_existing(session: SparkSession, path: str) -> None:
    """Refuse a path that has counts already: better before long work than after."""
    if _read_facts(session, path) is not None:
        raise OutputError(f"{path}: has counts already. Write to another path, or remove it first.")


def store_parts(parts: DataFrame, path: str, min_df: float, ranges: int | None) -> StoredCounts:
    """Add up parts, range by range, and write them."""
    if ranges is not None and not is_whole_number(ranges, 1):
        raise OptionError(f"ranges must be a whole number, 1 or more, not {ranges!r}.")
    session = parts.sparkSession
    heads = parts.mapInArrow(read_heads, HEADS).toArrow().to_pylist()
    sum((PartReport.from_json(row["report"]) for row in heads if row["report"]), PartReport()).tell()
    heads = [row for row in heads if row["counts"] is not None]
    summed = combine_parts(Part({None: Counts.from_bytes(row["counts"])}, PartReport()) for row in heads).folds[None]
    if ranges is None:
        ranges = 1 + sum(row["n_terms"] for row in heads) // _RANGE_TERMS
    cuts = find_cuts([row["sample"] for row in heads], [row["n_terms"] for row in heads], ranges)
    folder = f"terms-{uuid.uuid4().hex}"  # never a folder that somebody else writes or has written
    pieces = parts.mapInArrow(PartCutter(cuts), RANGES)

    def add(table: pa.Table) -> pa.Table:
        return add_range(table, min_df)

    pieces.groupBy("range").applyInArrow(add, TERMS).write.parquet(f"{path}/{folder}")
    terms = session.read.schema(TERMS).parquet(f"{path}/{folder}")
    sums = terms.mapInArrow(TermSums(summed.n_classes), SUMS).toArrow().to_pylist()
    facts = {
        "format": _FORMAT,
        "folder": folder,
        "counts": prune_rare(summed, min_df).to_bytes(),  # of no terms
        "n_terms": sum(one["n_terms"] for one in sums),
        "n_occurrences": sum(one["n_occurrences"] for one in sums),
        "class_tf": np.sum([one["class_tf"] for one in sums], axis=0, dtype=np.int64).tolist(),
    }
    session.createDataFrame(pa.Table.from_pylist([facts])).coalesce(1).write.parquet(f"{path}/facts")
    return StoredCounts(session, path, facts)


def find_cuts(samples: Sequence[Sequence[str]], sizes: Sequence[int], ranges: int) -> list[str]:
    """Return the terms at which this many ranges begin, the first left out: about equally many terms in each.

    Each sample has terms at even distances, out of as many as `sizes` says.

    >>> find_cuts([["a", "c", "e"], ["b", "d"]], [30, 20], 2)
    ['d']
    """
    weighted = sorted(
        (term, size / len(sample)) for sample, size in zip(samples, sizes, strict=True) for term in sample
    )
    before = np.cumsum([0.0, *(weight for _, weight in weighted)])
    places = np.searchsorted(before, before[-1] * np.arange(1, ranges) / ranges)
    return sorted({weighted[min(place, len(weighted) - 1)][0] for place in places}) if weighted else []


def _read_facts(session: SparkSession, path: str) -> dict[str, Any] | None:
    try:
        rows = session.read.parquet(f"{path}/facts").toArrow().to_pylist()
    except AnalysisException as error:
        if "PATH_NOT_FOUND" in str(error) or "UNABLE_TO_INFER_SCHEMA" in str(error):
            return None
        raise
    return rows[0] if rows else None


def _find_session() -> SparkSession:
    session = SparkSession.getActiveSession()
    if session is None:
        raise InputError("There is no session of Spark in use: give one, or start it with SparkSession.builder.")
    return session

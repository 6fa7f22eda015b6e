"""Counts of a bag or a frame of Dask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from termsieve.counts.counts import Counts
from termsieve.counts.folds import Folds
from termsieve.counts.parts import FAN_IN, Part, PartPlan, combine_parts, make_plan
from termsieve.documents import AUTO, Detect
from termsieve.documents.memory import ColumnSource
from termsieve.errors import InputError
from termsieve.extras import import_extra
from termsieve.tokens.analyzer import Analyzer

_dask = import_extra("dask", "Counting with Dask")


def count(
    documents: Any,
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
    """Count the terms of a bag or a frame, on the workers of the client that is in use, or in threads without one.

    Parameters
    ----------
    documents : dask.bag.Bag or dask.dataframe.DataFrame
        A bag has a mapping for each document, such as the records of JSON Lines.
    text, label, label_sep, strict
        As in `termsieve.read`: columns of the frame, keys of the mappings.
    analyzer
        How a text becomes terms, as in `termsieve.count`.
    min_df
        Leave out terms of fewer documents, as `Counts.prune` does, when all is added up.
    folds, seed, id
        As in `termsieve.count_folds`: a number, with the column that names each document; or a column with its fold.

    Returns
    -------
    Counts, or with `folds` a `Folds`
        Equal to what `termsieve.count` and `termsieve.count_folds` make of the same documents.

    Examples
    --------
    >>> import dask.bag
    >>> records = [{"text": "cheap pills", "label": "spam"}, {"text": "noon", "label": "ham"}]
    >>> list(count(dask.bag.from_sequence(records, npartitions=2)).terms)
    ['cheap', 'noon', 'pills']
    """
    plan = make_plan(
        _describe(documents), _find_names(documents, [text, label, id, folds]), text=text, label=label,
        analyzer=analyzer, min_df=min_df, folds=folds, seed=seed, id=id, label_sep=label_sep, strict=strict,
    )  # fmt: skip
    start, add = _dask.delayed(_count_partition, pure=True), _dask.delayed(combine_parts, pure=True)
    kept = documents[plan.columns] if hasattr(documents, "columns") else documents
    parts = [start(plan, rows, number) for number, rows in enumerate(kept.to_delayed())]
    while len(parts) > 1:
        parts = [add(parts[first : first + FAN_IN]) for first in range(0, len(parts), FAN_IN)]
    return plan.finish(parts[0].compute(), min_df)


def _describe(documents: Any) -> str:
    if not hasattr(documents, "to_delayed"):
        raise InputError(
            f"termsieve.dask counts a bag or a frame of Dask, not {type(documents).__name__}. "
            "Documents in memory or in files: termsieve.count(termsieve.read(...))."
        )
    return f"the {type(documents).__name__}"


def _find_names(documents: Any, asked: Sequence[Any]) -> list[str]:
    """Return the columns of a frame; of a bag, those asked for, or where some are to be detected the first record's."""
    if hasattr(documents, "columns"):
        return [name for name in documents.columns if isinstance(name, str)]
    text, label, *others = asked
    if text is None or isinstance(label, Detect):
        first = documents.take(1, npartitions=-1, warn=False)
        return [] if not first else list(_check_record(first[0]))
    names = [*([text] if isinstance(text, str) else text), label, *others]
    return list(dict.fromkeys(name for name in names if isinstance(name, str)))


def _check_record(record: Any) -> Mapping[str, Any]:
    if not isinstance(record, Mapping):
        raise InputError(f"A bag must hold a mapping for each document, not {type(record).__name__}: {record!r:.60}.")
    return record


def _count_partition(plan: PartPlan, rows: Any, number: int) -> Part:
    if not hasattr(rows, "columns"):
        records = [_check_record(record) for record in rows]
        rows = {name: [record.get(name) for record in records] for name in plan.columns}
    return plan.count(ColumnSource(f"partition {number}", plan.columns, rows))

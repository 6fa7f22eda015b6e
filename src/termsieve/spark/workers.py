"""What runs on executors: functions from Arrow batches to Arrow batches, for ``mapInArrow`` and ``applyInArrow``.

They are sent as they are pickled, by name: executors need this package, and nothing else of the driver.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark import TaskContext

from termsieve.counts.counts import Counts
from termsieve.counts.parts import Part, PartPlan, PartReport, combine_parts

# A row for each fold of a part, and one with the report
PARTS = "part int, fold string, counts binary, report string"
_PARTS = pa.schema([("part", pa.int32()), ("fold", pa.string()), ("counts", pa.binary()), ("report", pa.string())])


@dataclass(frozen=True)
class CountPartition:
    """Counts the rows of a partition."""

    plan: PartPlan

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the part that these rows are."""
        number = _partition_number()
        yield pack_part(self.plan.count_batches(batches, f"partition {number} of the DataFrame"), number)


def add_group(key: tuple[pa.Scalar, ...], table: pa.Table) -> pa.Table:
    """Return the sum of the parts of a group, as one part with the number of the group."""
    return pa.Table.from_batches([pack_part(unpack_parts(table), key[0].as_py())])


def pack_part(part: Part, number: int) -> pa.RecordBatch:
    """Return a part as rows of `PARTS`."""
    rows: list[Mapping[str, Any]] = [{"part": number, "report": part.report.to_json()}]
    for fold, counts in part.folds.items():
        rows.append({"part": number, "fold": json.dumps(fold), "counts": counts.to_bytes()})
    return pa.RecordBatch.from_pylist(rows, _PARTS)


def unpack_parts(table: pa.Table) -> Part:
    """Return the sum of the parts in a table."""
    parts = []
    for row in table.to_pylist():
        if row["counts"] is None:
            parts.append(Part({}, PartReport.from_json(row["report"])))
        else:
            counts = Counts.from_bytes(row["counts"], f"counts of partition {row['part']}")
            parts.append(Part({json.loads(row["fold"]): counts}, PartReport()))
    return combine_parts(parts)


def _partition_number() -> int:
    context = TaskContext.get()
    return 0 if context is None else context.partitionId()

"""Parts of the documents, counted apart: what an engine's workers do with their rows, and how the parts come together.

Each worker counts the rows that it is given (`PartPlan.count`). What it sends back is a `Part`: the counts of each
fold, and what was noticed on the way. Parts add up in any order, to the counts of all documents.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from termsieve.counts.arithmetic import add_all
from termsieve.counts.counting import count_each_fold
from termsieve.counts.counts import Counts
from termsieve.counts.folds import Folds, make_assignment
from termsieve.documents import AUTO, Detect, Documents
from termsieve.documents.batches import MAX_EXAMPLES, NothingFoundError
from termsieve.documents.chunks import Source
from termsieve.documents.columns import DEFAULT_LABEL, DEFAULT_TEXT, WantedColumns, choose_columns
from termsieve.documents.options import check_columns, make_options
from termsieve.documents.relations import RelationSource
from termsieve.errors import InputError, OptionError, collect_warnings, warn
from termsieve.tokens.analyzer import Analyzer

FAN_IN = 8  # parts that one worker adds up


@dataclass
class PartReport:
    """What workers noticed: how many documents and bad rows, why these are bad, the first of them, and warnings."""

    documents: int = 0
    skipped: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def __add__(self, other: PartReport) -> PartReport:
        return PartReport(
            self.documents + other.documents,
            self.skipped + other.skipped,
            self.reasons + other.reasons,
            [*self.examples, *other.examples][:MAX_EXAMPLES],
            list(dict.fromkeys([*self.warnings, *other.warnings]))[:MAX_EXAMPLES],
        )

    def to_json(self) -> str:
        """Return the report as text."""
        return json.dumps(vars(self))

    @classmethod
    def from_json(cls, content: str) -> PartReport:
        """Return the report of such a text."""
        fields = json.loads(content)
        return cls(**{**fields, "reasons": Counter(fields["reasons"])})

    def tell(self) -> None:
        """Warn of what was skipped; refuse to have found nothing."""
        if not self.documents:
            raise InputError(
                f"All {self.skipped:,} rows are bad. The first: {self.examples[0]}." if self.skipped else
                "There are no rows."
            )  # fmt: skip
        for message in self.warnings:
            warn(message, stacklevel=3)
        if self.skipped:
            listed = ", ".join(f"{reason} {count:,}" for reason, count in self.reasons.most_common())
            rows = f"{self.skipped:,} bad row{'s' * (self.skipped != 1)} of {self.skipped + self.documents:,}"
            message = f"skipped {rows}: {listed}; the first: {self.examples[0]}"
            warn(message, stacklevel=3)


@dataclass
class Part:
    """What was counted of some documents: counts of each fold by its name, and the report.

    Without folds there is one, named None. With no documents there is none.
    """

    folds: dict[Any, Counts]
    report: PartReport


@dataclass(frozen=True)
class PartPlan:
    """What every worker is told: which columns, which analyzer, which folds."""

    text: tuple[str, ...]
    label: str | None
    label_sep: str | None = None
    strict: bool = False
    analyzer: Analyzer | None = None
    folds: int | str | None = None
    seed: int = 0
    id: str | None = None

    @property
    def columns(self) -> list[str]:
        """All columns that are needed, each once."""
        wanted = [*self.text, self.label, self.folds if isinstance(self.folds, str) else None, self.id]
        return list(dict.fromkeys(name for name in wanted if name is not None))

    def count(self, source: Source) -> Part:
        """Count the rows of a source in this thread alone: the engine has work for the other cores."""
        options = make_options(self.text, self.label, label_sep=self.label_sep, strict=self.strict)
        documents = Documents([source], options)
        assignment = None if self.folds is None else make_assignment(self.folds, self.seed, id=self.id)
        with collect_warnings() as said:
            try:
                folds = count_each_fold(documents, assignment, self.analyzer, threads=1)
            except NothingFoundError:
                folds = {}
        report = PartReport(
            sum(counts.n_docs for counts in folds.values()),
            documents.skipped,
            Counter(documents.skipped_reasons),
            documents.skipped_examples,
            [message for message in said if message != documents.skipped_note],
        )
        return Part(folds, report)

    def count_batches(self, batches: Iterable[pa.RecordBatch], title: str) -> Part:
        """Count the rows of batches that can be read once; `title` says in messages where they are."""
        filled = (batch for batch in batches if batch.num_rows)
        first = next(filled, None)
        if first is None:
            return Part({}, PartReport())
        again = itertools.chain([first], filled)
        return self.count(RelationSource(title, first.schema.names, lambda _: again))

    def finish(self, part: Part, min_df: float) -> Counts | Folds:
        """Return the result, from the sum of all parts; warn of what was noticed."""
        part.report.tell()
        if self.folds is None:
            return prune_rare(part.folds[None], min_df)
        if isinstance(self.folds, int):
            nothing = next(iter(part.folds.values()))
            part.folds = {fold: part.folds.get(fold, nothing - nothing) for fold in range(self.folds)}
        if len(part.folds) < 2:
            raise OptionError(f"folds must name at least two folds; all documents are in {next(iter(part.folds))!r}.")
        return Folds.of(part.folds)


def make_plan(
    title: str,
    names: Sequence[str],
    *,
    text: str | Sequence[str] | None,
    label: str | Detect | None,
    analyzer: Analyzer | None,
    min_df: float,
    folds: int | str | None,
    seed: int,
    id: str | None,
    label_sep: str | None,
    strict: bool,
) -> PartPlan:
    """Check what a user wrote, and choose the columns as `termsieve.read` does; `names` are those that there are."""
    asked = DEFAULT_TEXT if text is None else text, DEFAULT_LABEL if isinstance(label, Detect) else label
    given = make_options(*asked, label_sep=label_sep, strict=strict)
    wanted = WantedColumns(AUTO if text is None else given.text, label)
    source = RelationSource(title, names, lambda _: iter(()))
    chosen = choose_columns([source], wanted, given)
    if folds is not None:
        if min_df != 1:
            raise OptionError("min_df goes without folds: pruned counts cannot be subtracted. Prune each fold later.")
        make_assignment(folds, seed, id=id)
        if id is None and not isinstance(folds, str):
            raise OptionError(
                "A number of folds needs id=, the column that names each document: rows of partitions have no numbers."
            )
    elif id is not None:
        raise OptionError(f"id={id!r} is a column for a number of folds, and there is none: give folds=.")
    if folds is not None and not isinstance(folds, str):
        folds = int(folds)  # a whole number of NumPy is one, too
    plan = PartPlan(chosen.text, chosen.label, label_sep, strict, analyzer, folds, seed, id)
    check_columns(title, plan.columns, list(names))
    return plan


def combine_parts(parts: Iterable[Part]) -> Part:
    """Return the sum of parts: counts of each fold, and the reports."""
    held = list(parts)
    names = dict.fromkeys(name for part in held for name in part.folds)
    return Part(
        {name: add_all(part.folds[name] for part in held if name in part.folds) for name in names},
        sum((part.report for part in held), PartReport()),
    )


def prune_rare(counts: Counts, min_df: float) -> Counts:
    """Return the counts without rare terms, as they are where nothing is to be pruned."""
    return counts if min_df == 1 and isinstance(min_df, int) else counts.prune(min_df=min_df)

"""Printed tables: our number for each printed one. One function for each kind of table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from termsieve.counts.counts import Counts
from termsieve.evaluate.agreement import overlap
from termsieve.ranking.ranking import score
from termsieve.reproduction.measurements import Measurements
from termsieve.reproduction.protocol import PrintedTable
from termsieve.reproduction.setting import count_documents
from termsieve.study.corpus import Corpus
from termsieve.study.splits import Split
from termsieve.study.study import Study
from termsieve.tokens.analyzer import Analyzer

OurValue = tuple[Any, float | None]
CellRecord = dict[str, Any]


def make_cells(measurements: Measurements, tables: Sequence[PrintedTable]) -> list[CellRecord]:
    """Make one record for each printed number."""
    return [cell for table in tables for cell in _table_cells(measurements, table)]


def _table_cells(measurements: Measurements, table: PrintedTable) -> Iterator[CellRecord]:
    ours = TABLE_KINDS[table.kind](measurements, table)
    for row, columns in table.cells.items():
        for column, printed in columns.items():
            value, sd = ours(row, column)
            cell = {
                "table": table.id,
                "row": _row_name(table, row),
                "column": column,
                "printed": printed,
                "ours": value,
            }
            cell["sd"] = sd
            if table.kind in SHARE_SCALES:
                cell["scale"] = SHARE_SCALES[table.kind](table, column)
            if table.exchanged:
                cell["printed_exchanged"] = table.exchanged[row][column]
            if f"{row} / {column}" in table.truncated:
                cell["printed_to"] = round(printed + 0.09, 2)
            mark = table.marks.get(f"{row} / {column}")
            yield {**cell, "mark": mark} if mark else cell


def _row_name(table: PrintedTable, row: str) -> str:
    prefix = table.where.get("prefix", "")
    return f"{prefix} / {row}" if prefix else row


NEAR_BOUNDS = (0.02, 0.03, 0.05)
# Kinds whose numbers are shares, or become shares when divided by this.
SHARE_SCALES: Mapping[str, Callable[[PrintedTable, str], float]] = {
    "measures": lambda table, _: table.where.get("scale", 1),
    "overlaps": lambda _, column: int(column.removesuffix("d")),
}


def summarize_nearness(cells: Sequence[CellRecord]) -> dict[str, Any]:
    """Count the measured shares within bounds of print, and average their distances; also with rows exchanged."""
    shares = [cell for cell in cells if "scale" in cell]
    ways = {"as printed": "printed"}
    if any("printed_exchanged" in cell for cell in shares):
        ways["rows exchanged"] = "printed_exchanged"
    return {way: _summarize_gaps([_gap(cell, key) for cell in shares]) for way, key in ways.items()}


def _gap(cell: CellRecord, key: str) -> float:
    """Return the distance to print; if the last printed digit is lost, to the nearest number that it may be."""
    low = cell.get(key, cell["printed"])
    high = cell["printed_to"] if low == cell["printed"] and "printed_to" in cell else low
    return float(max(low - cell["ours"], cell["ours"] - high, 0.0) / cell["scale"])


def _summarize_gaps(gaps: list[float]) -> dict[str, float]:
    # a gap of just .02 is within .02, whatever the last bit says
    counted = {f"within {bound}": sum(gap <= bound + 1e-9 for gap in gaps) for bound in NEAR_BOUNDS}
    return {"cells": len(gaps), **counted, "mean difference": round(float(np.mean(gaps)), 4) if gaps else 0.0}


# Kinds


def look_up_measures(measurements: Measurements, table: PrintedTable) -> Callable[[str, str], OurValue]:
    """Look up means of a measure at one number of terms. Rows are classifiers, or as ``rows`` says."""
    where = table.where
    group, scale = measurements.group_name(where), where.get("scale", 1)

    def look_up(row: str, column: str) -> OurValue:
        about = {"classifier": row, "measure": where.get("measure"), **where.get("rows", {}).get(row, {})}
        values = measurements.values(group, about["classifier"], column, about["measure"])[where["size"]]
        sd = float(np.std(values, ddof=1)) * scale if len(values) > 1 else None
        return float(np.mean(values)) * scale, sd

    return look_up


def look_up_overlaps(measurements: Measurements, table: PrintedTable) -> Callable[[str, str], OurValue]:
    """Count the first terms that two scores share. Rows are "A vs B", columns end in "d"."""
    group = measurements.group_name(table.where)

    def look_up(row: str, column: str) -> OurValue:
        first, second = (measurements.ranking(group, name) for name in row.split(" vs "))
        size = int(column.removesuffix("d"))
        return int(overlap(first[:size], second[:size], [size]).common[0]), None

    return look_up


def look_up_differing_terms(measurements: Measurements, table: PrintedTable) -> Callable[[str, str], OurValue]:
    """List the first terms of each score that not all of them share."""
    group, size = measurements.group_name(table.where), table.where["size"]
    tops = {row: measurements.ranking(group, row)[:size] for row in table.cells}
    shared = set.intersection(*map(set, tops.values()))

    def look_up(row: str, column: str) -> OurValue:  # noqa: ARG001 - there is one column
        return ", ".join(term for term in tops[row] if term not in shared), None

    return look_up


def look_up_iris(measurements: Measurements, table: PrintedTable) -> Callable[[str, str], OurValue]:  # noqa: ARG001 - needs no corpus
    """Compute class means and scores of the iris flowers of UCI."""
    X, y = load_uci_iris()
    means = {f"m{c + 1}": X[y == c].mean(axis=0) for c in range(3)} | {"m": X.mean(axis=0)}
    scores = score(Counts.from_matrix(X, [f"class {c + 1}" for c in y]), "ocfs").overall()
    means["s"] = scores * 3  # the paper leaves out the shares of the classes

    def look_up(row: str, column: str) -> OurValue:
        return float(means[row][int(column) - 1]), None

    return look_up


def load_uci_iris() -> tuple[Any, Any]:
    """Load scikit-learn's iris with the two rows that are wrong in the UCI repository, which the paper used."""
    from sklearn.datasets import load_iris

    data = load_iris()
    X = np.array(data.data)
    X[34], X[37] = [4.9, 3.1, 1.5, 0.1], [4.9, 3.1, 1.5, 0.1]
    return X, data.target


def look_up_facts(measurements: Measurements, table: PrintedTable) -> Callable[[str, str], OurValue]:
    """Look up numbers of documents and words. Rows are groups, columns names of `FACTS`."""

    def look_up(row: str, column: str) -> OurValue:
        name, _, argument = column.partition(": ")
        if name in ("in the corpus", "in the corpus of"):
            return count_documents(measurements.groups[row][0].corpus, argument), None
        study = measurements.study(row)
        return FACTS[name](study, study.splits[0], argument), None

    for row in table.cells:
        measurements.group_name({"group": row})
    return look_up


def look_up_gains(measurements: Measurements, table: PrintedTable) -> Callable[[str, str], OurValue]:
    """Compute differences of a measure between scores. Rows are names in ``rows``, columns the other scores."""
    where = table.where
    group, scale = measurements.group_name(where), where.get("scale", 1)

    def look_up(row: str, column: str) -> OurValue:
        about = where["rows"][row]
        at = [
            np.mean(measurements.values(group, about["classifier"], name, about["measure"])[where["size"]])
            for name in (where["of"], column)
        ]
        return float(at[0] - at[1]) * scale, None

    return look_up


def look_up_nothing(measurements: Measurements, table: PrintedTable) -> Callable[[str, str], OurValue]:  # noqa: ARG001 - of one shape
    """Return nothing, for a corpus that could not be obtained."""
    return lambda row, column: (None, None)  # noqa: ARG005 - as above


TABLE_KINDS: Mapping[str, Callable[[Measurements, PrintedTable], Callable[[str, str], OurValue]]] = {
    "measures": look_up_measures,
    "overlaps": look_up_overlaps,
    "differing terms": look_up_differing_terms,
    "iris": look_up_iris,
    "facts": look_up_facts,
    "gains": look_up_gains,
    "not had": look_up_nothing,
}


# Facts about a corpus and its first split


def _training_tf(study: Study, split: Split) -> Any:
    return np.asarray(study.corpus.X[split.train].sum(axis=0)).ravel()


def _find_removed_words(study: Study, split: Split) -> Any:
    """Return the words of the training documents that are too rare to be ranked."""
    tf = _training_tf(study, split)
    return np.flatnonzero((tf > 0) & (tf < study.plan.min_tf))


def _class_size(corpus: Corpus, label: str) -> int:
    return int(corpus.Y[:, [corpus.classes.index(label)]].sum())


def _documents_per_removed_word(study: Study, split: Split, _: str) -> float:
    train = study.corpus.X[split.train].tocsc()
    return float(np.diff(train.indptr)[_find_removed_words(study, split)].mean())


def _compute_removed_percent(study: Study, split: Split, _: str) -> float:
    return 100 * len(_find_removed_words(study, split)) / int((_training_tf(study, split) > 0).sum())


FACTS: Mapping[str, Callable[[Study, Split, str], float]] = {
    "documents": lambda study, _, __: study.corpus.n_docs,
    "training documents": lambda _, split, __: len(split.train),
    "test documents": lambda _, split, __: len(split.test),
    "classes": lambda study, _, __: len(study.corpus.classes),
    "documents of": lambda study, _, label: _class_size(study.corpus, label),
    "words": lambda study, split, _: int((_training_tf(study, split) > 0).sum()),
    "folds": lambda study, _, __: len(study.splits),
    "distinct stop words": lambda *_: len(Analyzer(stop_words="smart").stop_set),
    "removed words": lambda study, split, _: len(_find_removed_words(study, split)),
    "removed words, percent": _compute_removed_percent,
    "documents per removed word": _documents_per_removed_word,
    "words more frequent than": lambda study, split, times: int((_training_tf(study, split) > int(times)).sum()),
}

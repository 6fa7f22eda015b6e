"""Counts as a plain table, as a warehouse, a search engine or a paper has them: checked, and made `Counts`.

A row has the documents (`df`), occurrences (`tf`) and sum of squared occurrences (`tf2`) of a term in a class. Rows
without a term have the documents of a class; rows without a class are about all documents::

    term  class  df   tf   tf2
    call  spam   320  371  485      a term in a class
    call  -      545  610  780      a term in all documents: needed where documents have several labels, or none
    -     spam   747                documents of a class
    -     -      5574   0           all documents, and (tf) those with several labels
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from termsieve._types import AnyArray, BoolArray, Int64Array
from termsieve.counts.cells import Cells, TermBlock
from termsieve.counts.consistency import LARGEST, check_block, check_facts
from termsieve.documents.label_spelling import is_missing, spell
from termsieve.documents.memory import as_sliceable, slice_column
from termsieve.documents.string_columns import LONE_SURROGATE, is_unicode, stringify_column
from termsieve.errors import CountsError, InputError, OptionError
from termsieve.tokens.strings import argsort_strings

if TYPE_CHECKING:
    from termsieve.counts.counts import Counts

COLUMNS = ("term", "class", "df", "tf", "tf2")


class _Rows(NamedTuple):
    """The columns of a table: names, which of them are missing, and the three numbers of each row."""

    terms: pa.LargeStringArray
    classes: pa.LargeStringArray
    values: AnyArray
    has_term: BoolArray
    has_class: BoolArray


def read_table(
    columns: Mapping[str, Any],
    class_sizes: Mapping[str, int] | None,
    n_docs: int | None,
    n_multilabel: int | None,
    settings: Mapping[str, Any] | None,
) -> tuple[dict[str, Any], TermBlock]:
    """Return what is known of the documents, and the terms with their counts; checked."""
    rows = _read_rows(columns)
    sizes = _read_class_sizes(rows, class_sizes)
    n_docs, n_multilabel = _read_document_numbers(rows, sizes, n_docs, n_multilabel)
    terms, places = _number_terms(rows.terms)
    cells = _make_cells(rows, places, len(terms), list(sizes))
    facts = {
        "classes": list(sizes), "n_docs": n_docs, "class_sizes": np.array(list(sizes.values()), np.int64),
        "n_multilabel": n_multilabel, "settings": None if settings is None else dict(settings), "fixed": False,
        "pruned": "",
    }  # fmt: skip
    block = TermBlock(terms, cells, _make_totals(rows, places, cells, terms))
    try:
        check_facts(facts)
        check_block(facts, block)
    except CountsError as error:
        raise CountsError(f"These are not counts of documents: {error}.") from error
    return facts, block


def table_of(counts: Counts) -> pa.Table:
    """Return counts as such a table, with the rows about classes and all documents first."""
    sizes = {
        "term": pa.nulls(counts.n_classes + 1, pa.large_string()),
        "class": pa.array([None, *counts.classes], pa.large_string()),
        "df": pa.array([counts.n_docs, *counts.class_sizes.tolist()], pa.int64()),
        "tf": pa.array([counts.n_multilabel, *[None] * counts.n_classes], pa.int64()),
        "tf2": pa.nulls(counts.n_classes + 1, pa.int64()),
    }
    cells = counts.to_arrow().cast(pa.schema([(name, _type_of(counts, name)) for name in COLUMNS]))
    first = pa.table(sizes).cast(cells.schema)
    if not counts.n_multilabel and int(counts.class_sizes.sum()) == counts.n_docs:
        return pa.concat_tables([first, cells])
    totals = {
        "term": counts.term_array, "class": pa.nulls(counts.n_terms, pa.large_string()), "df": counts.term_df,
        "tf": counts.term_tf, "tf2": counts.term_tf2,
    }  # fmt: skip
    return pa.concat_tables([first, pa.table(totals).cast(cells.schema), cells])


def _type_of(counts: Counts, name: str) -> pa.DataType:
    if name in ("term", "class"):
        return pa.large_string()
    return pa.float64() if counts.is_real and name != "df" else pa.int64()


# Reading


def columns_of_table(table: Any, *, is_alone: bool) -> dict[str, Any]:
    """Return the columns of a table that is given in place of columns."""
    try:
        whole = pa.table(table if is_alone else None)  # columns without df are no table
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise OptionError(
            "Counts are made of columns, df (documents) among them, or of one table that has them "
            f"({', '.join(COLUMNS)}); this is neither. A list of frequencies alone is for "
            "termsieve.count_frequencies."
        ) from error
    return {name: whole[name] for name in COLUMNS if name in whole.column_names}


def _read_rows(columns: Mapping[str, Any]) -> _Rows:
    for name in ("term", "class", "df"):
        if columns.get(name) is None:
            raise OptionError(
                f"The table has no {name!r}: it must have {', '.join(COLUMNS)} (tf and tf2 may be missing)."
            )
    names = [_read_names(columns[name], name) for name in ("term", "class")]
    df = _read_numbers(columns["df"], "df", len(names[0]))
    if df.dtype.kind == "f":
        wrong = df[(df != np.floor(df)) | (np.abs(df) >= 2**53)]
        raise OptionError(f"The df column must have numbers of documents, which are whole, not {wrong[0]}.")
    tf = df.copy() if columns.get("tf") is None else _read_numbers(columns["tf"], "tf", len(df))
    tf2 = _fewest_squares(df, tf) if columns.get("tf2") is None else _read_numbers(columns["tf2"], "tf2", len(df))
    has_term, has_class = (one.is_valid().to_numpy(zero_copy_only=False) for one in names)
    values = np.stack(np.broadcast_arrays(df, tf, tf2))
    if len(names[0]) != len(names[1]):
        raise OptionError(f"The table has {len(names[0]):,} terms, but {len(names[1]):,} classes.")
    return _Rows(names[0], names[1], values, has_term, has_class)


def _read_names(column: Any, name: str) -> pa.LargeStringArray:
    """Return names, spelled as labels of documents are."""
    title, faults = f"The {name} column", dict[int, str]()
    try:
        whole = as_sliceable(column, title)
        values = slice_column(whole, 0, len(whole))
        names = _spell_names(values) if isinstance(values, list) else stringify_column(values, title, faults)
    except InputError as error:
        raise OptionError(str(error)) from error
    except ValueError as error:
        raise OptionError(f"{title} must have strings: a value is {error}.") from error
    if faults:
        row = min(faults)
        raise OptionError(f"{title}, row {row + 1:,}: {faults[row]}.")
    return names


def _spell_names(values: list[Any]) -> pa.LargeStringArray:
    try:
        return pa.array(values, pa.large_string())
    except (pa.ArrowException, UnicodeEncodeError):
        spelled = [None if is_missing(value) else spell(value) for value in values]
    if not all(one is None or is_unicode(one) for one in spelled):
        raise ValueError(LONE_SURROGATE)
    return pa.array(spelled, pa.large_string())


def _read_numbers(column: Any, name: str, length: int) -> AnyArray:
    """Return whole numbers, or real ones where some are not whole; 0 for those that are missing."""
    try:
        array = column if isinstance(column, pa.Array | pa.ChunkedArray) else pa.array(column)
        numbers = pc.fill_null(array.cast(pa.float64() if pa.types.is_floating(array.type) else pa.int64()), 0)
    except (pa.ArrowException, TypeError, OverflowError) as error:
        raise OptionError(f"The {name} column must have numbers: {error}") from error
    values = np.asarray(
        numbers.to_numpy() if isinstance(numbers, pa.ChunkedArray) else numbers.to_numpy(zero_copy_only=False)
    )
    if len(values) != length:
        raise OptionError(f"The {name} column has {len(values):,} rows, but there are {length:,} terms.")
    if not np.isfinite(values).all():
        raise OptionError(f"The {name} column has values that are not finite numbers.")
    return (
        values.astype(np.int64)
        if (values == np.floor(values)).all() and np.abs(values).max(initial=0) < 2**53
        else values
    )


def _fewest_squares(df: AnyArray, tf: AnyArray) -> AnyArray:
    """Return the least sum of squares that occurrences in so many documents have: spread as evenly as they can be."""
    some = np.maximum(df, 1)
    if tf.dtype.kind == "f":
        return tf * tf / some
    if (np.square(tf.astype(np.float64)) / some).max(initial=0) >= LARGEST:
        raise CountsError(
            "The squares of so many occurrences (tf) in so few documents (df) add up to more than 64 bits."
        )
    each, rest = np.divmod(tf, some)
    return np.asarray(each * each * (some - rest) + (each + 1) ** 2 * rest)


def _read_class_sizes(rows: _Rows, given: Mapping[str, int] | None) -> dict[str, int]:
    """Return the documents of each class, sorted by its name."""
    at = np.flatnonzero(~rows.has_term & rows.has_class)
    sizes = dict(zip(rows.classes.take(pa.array(at)).to_pylist(), rows.values[0, at].tolist(), strict=True))
    if len(sizes) < len(at):
        raise CountsError("The documents of a class are there twice.")
    if given is not None and not isinstance(given, Mapping):
        raise OptionError(f"class_sizes must be a mapping of classes to numbers of documents, not {given!r:.60}.")
    sizes |= {_spell_class(name): _read_size(f"class_sizes[{name!r:.60}]", n) for name, n in (given or {}).items()}
    missing = sorted(set(rows.classes.drop_null().unique().to_pylist()) - set(sizes))
    if missing:
        raise OptionError(
            f"How many documents does the class {missing[0]!r} have? Give class_sizes={{...}}, or a row for each class "
            "without a term, with the number in df."
        )
    return {name: int(sizes[name]) for name in sorted(sizes)}


def _read_document_numbers(
    rows: _Rows, sizes: dict[str, int], n_docs: int | None, several: int | None
) -> tuple[int, int]:
    """Return the number of documents, and of those with several labels."""
    at = np.flatnonzero(~rows.has_term & ~rows.has_class)
    if len(at) > 1:
        raise CountsError("The number of all documents is there twice.")
    stated = (int(rows.values[0, at[0]]), int(rows.values[1, at[0]])) if len(at) else (sum(sizes.values()), 0)
    given = {"n_docs": n_docs, "n_multilabel": several}
    found = [stated[i] if n is None else _read_size(name, n) for i, (name, n) in enumerate(given.items())]
    return found[0], found[1]


def _spell_class(name: Any) -> str:
    try:
        return spell(name)
    except ValueError:  # a scalar of another library
        return str(name)


def _read_size(name: str, given: Any) -> int:
    """Return a number of documents."""
    try:
        size = int(given)
        if abs(size) <= LARGEST and (isinstance(given, str) or size == given):
            return size
    except (ValueError, TypeError, OverflowError):
        pass  # NaN, infinity, or no number at all
    raise OptionError(f"{name} must be a whole number of documents, not {given!r:.60}.")


def _number_terms(given: pa.LargeStringArray) -> tuple[pa.LargeStringArray, Int64Array]:
    """Return the different terms, sorted, and the place of each row's term among them (-1 for none)."""
    names = given.drop_null().unique()
    terms = names.take(pa.array(argsort_strings(names)))
    return terms, pc.index_in(given, value_set=terms).fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)


def _make_cells(rows: _Rows, places: Int64Array, n_terms: int, classes: list[str]) -> Cells:
    at = np.flatnonzero(rows.has_term & rows.has_class & (rows.values[0] != 0))
    numbers = pc.index_in(rows.classes, value_set=pa.array(classes, pa.large_string())).fill_null(0)
    keys = places[at] * max(len(classes), 1) + numbers.to_numpy(zero_copy_only=False)[at]
    order = np.argsort(keys, kind="stable")
    keys, at = keys[order], at[order]
    twice = np.flatnonzero(keys[1:] == keys[:-1])
    if len(twice):
        row = int(at[twice[0]])
        raise CountsError(
            f"The term {rows.terms[row].as_py()!r} is there twice in the class {rows.classes[row].as_py()!r}."
        )
    indptr = np.searchsorted(keys, np.arange(n_terms + 1) * max(len(classes), 1)).astype(np.int64)
    return Cells(indptr, (keys % max(len(classes), 1)).astype(np.int32), np.ascontiguousarray(rows.values[:, at]))


def _make_totals(rows: _Rows, places: Int64Array, cells: Cells, terms: pa.LargeStringArray) -> AnyArray:
    """Return the counts of each term in all documents: as given, or the sum over the classes."""
    totals = cells.totals()
    at = np.flatnonzero(rows.has_term & ~rows.has_class)
    if not len(at):
        return totals
    if len(np.unique(places[at])) < len(at):
        raise CountsError("A term is there twice in the rows without a class.")
    if len(at) < len(terms):
        missing = np.setdiff1d(np.arange(len(terms)), places[at])[0]
        raise CountsError(f"The term {terms[int(missing)].as_py()!r} has no row without a class, as others have.")
    totals[:, places[at]] = rows.values[:, at]
    return totals

"""A comparison as one Parquet file: the table, and in its metadata the settings, the counts and the excerpts.

A file may be from anybody: it is read only if its checksum is right, and refused with what a comparison cannot have.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from termsieve.counts.counts import Counts
from termsieve.defaults import DEFAULT_MEASURE
from termsieve.errors import InputError, MissingExtraError
from termsieve.files import write_atomically
from termsieve.selection.near_duplicates import NearDuplicate, TermGroup
from termsieve.study.excerpts import Excerpts, excerpts_from_lists, excerpts_to_lists

_MAX_METADATA_BYTES = 2**31 - 1  # bytes of metadata: Arrow's own limit is 100 MB, which counts of many classes may pass
_MAX_ROWS = 1 << 25
_MAX_TEXT_BYTES = 1 << 33  # bytes of one column, if all its texts were as long as the longest
MARK = b"termsieve.sha256:"
DIGITS = 64
_TAIL_BYTES = 1 << 16  # at the end of a file, where the mark is
SCHEMA = pa.schema(
    [
        ("repeat", pa.int32()),
        ("fold", pa.int32()),
        ("score", pa.string()),
        ("classifier", pa.string()),
        ("k", pa.int32()),
        ("label", pa.string()),
        ("measure", pa.string()),
        ("value", pa.float64()),
    ]
)
_TEXT_COLUMNS = [field.name for field in SCHEMA if field.type == pa.string()]
_SETTING_TYPES: dict[str, type | tuple[type, ...]] = {
    "n_splits": int, "min_df": (int, float), "min_tf": int, "scores": list, "classifiers": list, "ks": list,
    "origin": dict, "stable_terms": dict,
    "contenders": list, "n_terms": int, "margin": (int, float), "small_classes": dict, "notes": list,
    "test_ratio": (int, float), "all_terms": str, "duality_gaps": dict, "n_docs": int, "n_compared": int,
}  # fmt: skip


# what the entries of these settings are
_ENTRY_TYPES: dict[str, type | tuple[type, ...]] = {
    "scores": str, "classifiers": str, "notes": str, "ks": (int, str), "origin files": str, "origin counts": str,
}  # fmt: skip
_STABLE_TERMS = {"score": str, "k": int, "stable": int, "halves": int, "shares": dict}


class ResultParts(NamedTuple):
    """What a file of a comparison has, in the order in which `Comparison` takes it."""

    table: pa.Table
    settings: Mapping[str, Any]
    seconds: Mapping[str, float]
    counts: Counts | None
    excerpts: Excerpts
    term_groups: Sequence[TermGroup]
    near_duplicates: Sequence[NearDuplicate]


def write_result(path: str | Path, parts: ResultParts) -> None:
    """Write the file, completely or not at all."""
    facts = {
        "settings": parts.settings, "seconds": parts.seconds, "excerpts": excerpts_to_lists(parts.excerpts),
        "term_groups": [list(one) for one in parts.term_groups],
        "near_duplicates": [list(one) for one in parts.near_duplicates],
    }  # fmt: skip
    about = {"termsieve.about": json.dumps(facts)}
    if parts.counts is not None:
        about["termsieve.counts"] = base64.b64encode(parts.counts.to_bytes()).decode("ascii")
    about["termsieve.checksum"] = (MARK + b"0" * DIGITS).decode("ascii")
    sink = pa.BufferOutputStream()
    marked = parts.table.replace_schema_metadata({"termsieve": "comparison"})
    with pq.ParquetWriter(sink, marked.schema) as writer:
        writer.write_table(marked)
        writer.add_key_value_metadata(about)
    write_atomically(path, [add_checksum(sink.getvalue().to_pybytes())])


def read_result(path: str | Path) -> ResultParts:
    """Read a file that `write_result` wrote."""
    try:
        written = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}.") from error
    try:
        content = _check_checksum(written)
        with pq.ParquetFile(
            pa.BufferReader(content), thrift_string_size_limit=_MAX_METADATA_BYTES, read_dictionary=_TEXT_COLUMNS
        ) as file:
            table, facts = _read_table(file), file.metadata.metadata or {}
        about = json.loads(facts[b"termsieve.about"])
        settings, seconds, excerpts = (dict(about[name]) for name in ("settings", "seconds", "excerpts"))
        _check_content(table, settings, seconds)
        _check_excerpts(excerpts)
        packed = facts.get(b"termsieve.counts")
        counts = None if packed is None else Counts.from_bytes(base64.b64decode(packed, validate=True), path)
        groups = check_groups(about.get("term_groups", []))
        duplicates = _check_duplicates(about.get("near_duplicates", []))
        return ResultParts(table, settings, seconds, counts, excerpts_from_lists(excerpts), groups, duplicates)
    except MissingExtraError:
        raise
    except (
        OSError, KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError, MemoryError,
        pa.ArrowException,
    ) as error:  # fmt: skip
        raise InputError(f"{path}: is not a saved comparison, or is damaged: {error}.") from error


def is_saved(path: str | Path) -> bool:
    """Tell by its last bytes whether `write_result` wrote a file."""
    try:
        with Path(path).open("rb") as file:
            file.seek(max(Path(path).stat().st_size - _TAIL_BYTES, 0))
            return MARK in file.read()
    except OSError:
        return False


def add_checksum(content: bytes) -> bytes:
    """Return the content with its checksum: the SHA-256 of the content with zeros in its place."""
    place = content.rindex(MARK) + len(MARK)
    return content[:place] + hashlib.sha256(content).hexdigest().encode("ascii") + content[place + DIGITS :]


def _check_checksum(content: bytes) -> bytes:
    """Return the content with zeros for its checksum, if that is right: a damaged file can crash Arrow."""
    place = content.rfind(MARK) + len(MARK)
    if place < len(MARK):
        raise ValueError("it has no checksum; results of versions before this one must be made again")
    digest = content[place : place + DIGITS]
    content = content[:place] + b"0" * DIGITS + content[place + DIGITS :]
    if hashlib.sha256(content).hexdigest().encode("ascii") != digest:
        raise ValueError("it was altered or damaged after it was written: its checksum is wrong")
    return content


def _read_table(file: pq.ParquetFile) -> pa.Table:
    """Read the table, if it has no more rows than a study: a few bytes can stand for any number of rows.

    The columns' own metadata is not read: if it is damaged, pyarrow ends the process.
    """
    if file.metadata.num_rows > _MAX_ROWS:
        raise ValueError(f"it has {file.metadata.num_rows:,} rows; at most {_MAX_ROWS:,} are read")
    table = file.read(use_threads=False).replace_schema_metadata(None)
    for place, column in enumerate(table.columns):
        if pa.types.is_dictionary(column.type):
            table = table.set_column(place, table.schema.names[place], _decode_texts(column))
    return table


def _decode_texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the texts of a column that was read as a dictionary, if they are not too long when written out."""
    column.validate(full=True)
    longest = max((pc.max(pc.binary_length(one.dictionary)).as_py() or 0 for one in column.chunks), default=0)
    if longest * len(column) > _MAX_TEXT_BYTES:
        raise ValueError(f"it has texts of {longest:,} bytes in {len(column):,} rows")
    return column.cast(pa.string())


def _check_content(table: pa.Table, settings: dict[str, Any], seconds: dict[str, Any]) -> None:
    """Refuse parts that a comparison cannot have."""
    if table.schema != SCHEMA:
        raise ValueError(f"its columns are {', '.join(table.schema.names)}")
    table.validate(full=True)
    if any(column.null_count for column in table.columns):
        raise ValueError("it has rows with empty cells")
    if table.num_rows and not pc.all(pc.is_finite(table["value"])).as_py():
        raise ValueError("it has measures that are not numbers")
    if table.num_rows and min(pc.min(table[name]).as_py() for name in ("repeat", "fold", "k")) < 0:
        raise ValueError("it has negative numbers of splits or terms")
    _check_grid(table)
    if "n_splits" not in settings:
        raise ValueError("its settings do not say how many splits there were")
    for name, type_ in _SETTING_TYPES.items():
        if name in settings and (not isinstance(settings[name], type_) or isinstance(settings[name], bool)):
            raise TypeError(f"its setting {name!r} is {settings[name]!r:.60}")
    origin = settings.get("origin", {})
    lists = {**settings, **{f"origin {name}": given for name, given in origin.items()}}
    for name, type_ in _ENTRY_TYPES.items():
        given = lists.get(name, [])
        if not isinstance(given, list) or not all(isinstance(one, type_) for one in given):
            raise TypeError(f"its setting {name!r} is {given!r:.60}")
    _check_stable_terms(settings.get("stable_terms", {}))
    _check_ways(settings.get("multiverse"))
    for what, values in (("seconds", seconds), ("duality gaps", settings.get("duality_gaps", {}))):
        if not all(type(value) in (int, float) and math.isfinite(value) for value in values.values()):
            raise ValueError(f"its {what} are not numbers")


def _check_stable_terms(given: Mapping[str, Any]) -> None:
    """Refuse what cannot be the terms that come again; a part that another version has is left to whoever reads it."""
    for name, type_ in _STABLE_TERMS.items():
        if name in given and type(given[name]) is not type_:
            raise TypeError(f"its stable terms have {given[name]!r:.60} as {name}")
    if not all(type(share) in (int, float) and 0 <= share <= 1 for share in given.get("shares", {}).values()):
        raise ValueError("its stable terms have shares that are none")


def _check_ways(given: Any) -> None:
    """Refuse what cannot be the ways of `termsieve.multiverse`."""
    if given is None:
        return
    kinds = (str, str, int, str, int, float)
    rows = given["rows"]
    texts = (given["conclusion"], given["certainty"])
    if not all(isinstance(one, str) for one in texts) or not all(
        len(row) == len(kinds) and all(isinstance(one, kind) for one, kind in zip(row, kinds, strict=True))
        for row in rows
    ):
        raise ValueError("its ways to prepare the texts are not what they should be")


def _check_grid(table: pa.Table) -> None:
    """Refuse a table in which a split lacks something that another one has, or has it twice.

    That is every measure of all classes for every score, classifier and number of terms, in the same order.
    """
    of_all = table.filter(pc.field("label") == "")
    measures = of_all["measure"].unique().to_pylist()
    if DEFAULT_MEASURE not in measures:
        raise ValueError("it has no row with the f1_macro of all classes")
    what = ["score", "classifier", "k"]
    n_splits = of_all.group_by(["repeat", "fold"]).aggregate([]).num_rows
    for measure in measures:
        rows = of_all.filter(pc.field("measure") == measure)
        n_tried = rows.group_by(what).aggregate([]).num_rows
        if rows.group_by(["repeat", "fold", *what]).aggregate([]).num_rows != rows.num_rows:
            raise ValueError(f"its {measure} is there twice")
        if rows.num_rows != n_splits * n_tried:
            raise ValueError(f"its {measure} is not of the same scores, classifiers and numbers of terms everywhere")
        for name in what:
            values = rows[name].to_numpy(zero_copy_only=False).reshape(n_splits, n_tried)
            if not (values == values[:1]).all():
                raise ValueError(f"its {measure} is not in the same order everywhere")


def check_groups(given: Any) -> list[TermGroup]:
    """Return groups of terms from plain lists, if they are such."""
    groups = [TermGroup(*one) for one in given]
    for terms, df, overlap in groups:
        if not (len(terms) == len(df) == len(overlap) > 1) or not all(type(term) is str for term in terms):
            raise ValueError(f"its groups of terms have {terms!r:.60}")
        if not all(type(n) is int and type(x) in (int, float) for n, x in zip(df, overlap, strict=True)):
            raise ValueError(f"its groups of terms have {overlap!r:.60}")
        if not all(n > 0 and 0 <= x <= 1 for n, x in zip(df, overlap, strict=True)):
            raise ValueError(f"its groups of terms have {overlap!r:.60}")
    return groups


def _check_duplicates(given: Any) -> list[NearDuplicate]:
    """Return near-duplicates from plain lists, if they are such."""
    found = [NearDuplicate(*one) for one in given]
    for one in found:
        fits = tuple(map(type, one)) == (str, str, int, int, float, float, float)
        if not fits or not 0 < one.common <= one.df or one.share != one.common / one.df:
            raise ValueError(f"its near-duplicates have {list(one)!r:.60}")
        if not (math.isfinite(one.gain) and math.isfinite(one.left)):
            raise ValueError(f"its near-duplicates have {list(one)!r:.60}")
    return found


def _check_excerpts(excerpts: Mapping[str, Any]) -> None:
    for term, some in excerpts.items():
        fits = isinstance(some, list) and all(isinstance(one, list) and len(one) == 4 for one in some)
        if not fits or not all(isinstance(part, str) for one in some for part in one):
            raise ValueError(f"its excerpts of {term!r:.60} are {some!r:.60}")

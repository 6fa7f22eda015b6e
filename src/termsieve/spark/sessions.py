"""The session and the DataFrame that the command line asks for."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession

from termsieve.errors import InputError
from termsieve.spark.failures import explain_failures

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_KINDS = {
    "parquet": (".parquet", ".pq"),
    "json": (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz"),
    "csv": (".csv", ".csv.gz", ".tsv", ".tsv.gz"),
    "orc": (".orc",),
}
_CONNECT = "sc://"


@contextmanager
def open_session(master: str) -> Iterator[SparkSession]:
    """Open a session for a command: of a master such as ``local[2]`` or ``spark://host:7077``, or ``sc://`` (Connect).

    Executors on this machine have the interpreter of the command, unless ``PYSPARK_PYTHON`` names another. A session
    on this machine alone listens to no other, and has no page of its own.
    """
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if master.startswith(_CONNECT):
        builder = SparkSession.builder.remote(master)
    else:
        builder = SparkSession.builder.master(master).appName("termsieve count")
        builder = builder.config("spark.log.level", "ERROR").config("spark.ui.showConsoleProgress", "false")
        if master.startswith("local"):
            os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
            builder = builder.config("spark.ui.enabled", "false")
    with explain_failures():
        session = builder.getOrCreate()
    try:
        yield session
    finally:
        session.stop()


def read_files(session: SparkSession, files: Sequence[str], sep: str | None = None) -> DataFrame:
    """Return what Spark reads from files of one kind, wherever its storage is; folders hold Parquet."""
    kinds = {_find_kind(file) for file in files}
    if len(kinds) > 1:
        raise InputError(f"The files must be of one kind; these are {' and '.join(sorted(kinds))}.")
    kind, reader = kinds.pop(), session.read
    with explain_failures():
        if kind == "csv":
            tabs = files[0].removesuffix(".gz").endswith(".tsv")
            cells = dict(header=True, sep=sep or ("\t" if tabs else ","), escape='"', multiLine=True)
            return reader.options(**cells).csv(list(files))
        if kind == "json":
            return reader.json(list(files))
        return reader.parquet(*files) if kind == "parquet" else reader.orc(list(files))


def refuse_inexact_labels(df: DataFrame, label: str | None, files: Sequence[str]) -> None:
    """Refuse numbers of JSON that Spark has made floats: how they were written is lost."""
    types = dict(df.dtypes)
    if _find_kind(files[0]) == "json" and types.get(label or "", "").removeprefix("array<").startswith("double"):
        raise InputError(
            f"{files[0]}: the labels in {label!r} are numbers that are not whole. Spark does not keep how they are "
            "written; write them as strings, or count without --engine spark."
        )


def _find_kind(file: str) -> str:
    for kind, endings in _KINDS.items():
        if file.lower().endswith(endings):
            return kind
    last = file.rstrip("/").rpartition("/")[2]
    if "." not in last or "=" in last:
        return "parquet"
    known = ", ".join(ending for endings in _KINDS.values() for ending in endings)
    raise InputError(f"{file}: --engine spark does not know this kind of file. Known are {known}, folders of Parquet.")

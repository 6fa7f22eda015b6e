"""Spark and Dask on one machine, two cores, arXiv abstracts: the same counts, and what they cost in CPU.

CPU is that of this process and of all its children: the JVM, the workers in Python. Sessions are warm: rivals run once
before they are measured, and take turns. Spark's own way to the terms that tell classes apart is measured beside it.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")

import psutil
import pyarrow as pa
import pyarrow.parquet as parquet
from measure import corpus, row, title

import termsieve as ts

ROUNDS = 3
TERMS = 1000


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "abstracts.parquet")
        texts, labels = corpus("arxiv_abstracts")
        # MLlib wants one label as a number; it is given its numbers beforehand
        first = [sorted(one)[0] for one in labels]
        numbers = {name: float(i) for i, name in enumerate(sorted(set(first)))}
        table = pa.table(
            {"id": range(len(texts)), "text": texts, "labels": labels, "number": [numbers[name] for name in first]}
        )
        parquet.write_table(table, file, row_group_size=1 << 14)
        del texts, labels, table
        for engine in sys.argv[1:] or ("spark", "dask"):
            {"spark": with_spark, "dask": with_dask}[engine](file)


def total_cpu() -> float:
    """Seconds of the processor of this process and its children, which live as long as what is measured."""
    seconds = 0.0
    for process in [psutil.Process(), *psutil.Process().children(recursive=True)]:
        try:
            times = process.cpu_times()
        except psutil.Error:
            continue
        seconds += times.user + times.system
    return seconds


def compare(rivals: dict[str, Callable[[], Any]], rounds: int = ROUNDS) -> dict[str, tuple[float, float]]:
    """Median CPU and time of each, in turns, after one round to warm up."""
    cpu: dict[str, list[float]] = {name: [] for name in rivals}
    wall: dict[str, list[float]] = {name: [] for name in rivals}
    for turn in range(rounds + 1):
        for name, run in rivals.items():
            before, start = total_cpu(), time.perf_counter()
            run()
            if turn:
                cpu[name].append(total_cpu() - before)
                wall[name].append(time.perf_counter() - start)
    return {name: (statistics.median(cpu[name]), statistics.median(wall[name])) for name in rivals}


def with_spark(file: Path) -> None:
    from pyspark.ml import Pipeline
    from pyspark.ml.feature import CountVectorizer, HashingTF, RegexTokenizer, UnivariateFeatureSelector
    from pyspark.sql import SparkSession

    import termsieve.spark

    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.memory", "4g")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )
    frame = session.read.parquet(str(file))
    documents = ts.read(file, text="text", label="labels")
    title(f"Spark {session.version}, local mode, two cores, {frame.count():,} arXiv abstracts")
    here = ts.count(documents, threads=2)
    same = termsieve.spark.count(frame, text="text", label="labels") == here
    row("counts of termsieve.spark.count and of ts.count", "identical" if same else "DIFFERENT", "identical")
    taken = compare(
        {
            "ts.count": lambda: ts.count(documents, threads=2),
            "termsieve.spark.count": lambda: termsieve.spark.count(frame, text="text", label="labels"),
            "termsieve.spark.count, then ts.select": lambda: ts.select(
                termsieve.spark.count(frame, text="text", label="labels"), f"top({TERMS})", "chi2"
            ),
            "with folds": lambda: termsieve.spark.count(frame, text="text", label="labels", folds=5, id="id"),
        }
    )
    for name, (cpu, wall) in taken.items():
        row(f"{name}: CPU, time", f"{cpu:.2f} s, {wall:.2f} s")
    ours = taken["termsieve.spark.count"][0]
    row("CPU, of that of ts.count", f"{ours / taken['ts.count'][0]:.2f} times", "at most 2")

    words = RegexTokenizer(inputCol="text", outputCol="words", pattern=r"\w\w+", gaps=False)
    selector = UnivariateFeatureSelector(featuresCol="features", labelCol="number", outputCol="chosen")
    selector.setFeatureType("categorical").setLabelType("categorical").setSelectionThreshold(TERMS)

    def select_with(vectorizer: Any) -> Any:
        return Pipeline(stages=[words, vectorizer, selector]).fit(frame)

    rivals: dict[str, Callable[[], Any]] = {
        "MLlib: HashingTF + chi2": lambda: select_with(HashingTF(inputCol="words", outputCol="features")),
        "MLlib: CountVectorizer + chi2": lambda: select_with(CountVectorizer(inputCol="words", outputCol="features")),
    }
    # after ours, not in turns with it: the JVM collects what MLlib leaves behind long after it has ended
    best = taken["termsieve.spark.count, then ts.select"][0]
    for name, (cpu, wall) in compare(rivals, rounds=1).items():
        row(f"{name}, best {TERMS}: CPU, time", f"{cpu:.1f} s, {wall:.1f} s")
        row("  against ours, with ts.select", f"{cpu / best:.0f} times", "at least 15")
    session.stop()


def with_dask(file: Path) -> None:
    import dask.dataframe
    import distributed

    import termsieve.dask

    documents = ts.read(file, text="text", label="labels")
    title("Dask, LocalCluster of two processes, the same documents")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address="127.0.0.1:0"
        ) as cluster,
        distributed.Client(cluster),
    ):
        frame = dask.dataframe.read_parquet(
            file, columns=["text", "labels"], split_row_groups=3, dtype_backend="pyarrow"
        )
        same = termsieve.dask.count(frame, text="text", label="labels") == ts.count(documents, threads=2)
        row("counts of termsieve.dask.count and of ts.count", "identical" if same else "DIFFERENT", "identical")
        taken = compare(
            {
                "ts.count": lambda: ts.count(documents, threads=2),
                "termsieve.dask.count": lambda: termsieve.dask.count(frame, text="text", label="labels"),
            }
        )
    for name, (cpu, wall) in taken.items():
        row(f"{name}: CPU, time", f"{cpu:.2f} s, {wall:.2f} s")
    ratio = taken["termsieve.dask.count"][0] / taken["ts.count"][0]
    row("CPU, of that of ts.count", f"{ratio:.2f} times", "at most 2")


if __name__ == "__main__":
    main()

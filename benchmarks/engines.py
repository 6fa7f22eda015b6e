"""Spark and Dask on one machine, two cores, arXiv abstracts: the same counts, and what they cost in CPU.

Every rival runs in a process of its own, with a session or a cluster of its own, and they take turns: a JVM compiles
and collects for long after a job has ended, and in a shared session the next rival pays for that. CPU is that of the
process and of all that it starts (JVM, workers), until these are idle again. Measured apart: the start, the first call,
which loads and compiles, and the calls after it.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")

import psutil
import pyarrow as pa
import pyarrow.parquet as parquet
from measure import corpus, row, title

import termsieve as ts

TERMS = 1000
COLUMNS = {"text": "text", "label": "labels"}
IDLE = 0.05  # seconds of CPU in half a second: what was started is idle; workers of Dask tell that they live
PATIENCE = 60  # half seconds

Call = Callable[[], Any]


# --- the rivals: each yields, from a warm start, what is called --------------------------------------------


@contextmanager
def here(file: Path) -> Iterator[Call]:
    documents = ts.read(file, **COLUMNS)
    yield lambda: ts.count(documents, threads=2)


@contextmanager
def spark_frame(file: Path) -> Iterator[Any]:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]")
    for name, value in {
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "4g",
        "spark.sql.shuffle.partitions": "4",
        "spark.log.level": "ERROR",
    }.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    frame = session.read.parquet(str(file))
    frame.count()
    yield frame
    session.stop()


@contextmanager
def spark(file: Path) -> Iterator[Call]:
    import termsieve.spark

    with spark_frame(file) as frame:
        yield lambda: termsieve.spark.count(frame, **COLUMNS)


@contextmanager
def spark_select(file: Path) -> Iterator[Call]:
    import termsieve.spark

    with spark_frame(file) as frame:
        yield lambda: ts.select(termsieve.spark.count(frame, **COLUMNS), f"top({TERMS})", "chi2")


@contextmanager
def spark_folds(file: Path) -> Iterator[Call]:
    import termsieve.spark

    with spark_frame(file) as frame:
        yield lambda: termsieve.spark.count(frame, **COLUMNS, folds=5, id="id")


@contextmanager
def mllib(file: Path, vectorizer: str) -> Iterator[Call]:
    from pyspark.ml import Pipeline, feature

    with spark_frame(file) as frame:  # its stages need a session
        words = feature.RegexTokenizer(inputCol="text", outputCol="words", pattern=r"\w\w+", gaps=False)
        vectors = getattr(feature, vectorizer)(inputCol="words", outputCol="features")
        selector = feature.UnivariateFeatureSelector(featuresCol="features", labelCol="number", outputCol="chosen")
        selector.setFeatureType("categorical").setLabelType("categorical").setSelectionThreshold(TERMS)
        yield lambda: Pipeline(stages=[words, vectors, selector]).fit(frame)


@contextmanager
def dask(file: Path, **options: Any) -> Iterator[Call]:
    import dask.dataframe
    import distributed

    import termsieve.dask

    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address="127.0.0.1:0"
        ) as cluster,
        distributed.Client(cluster),
    ):
        frame = dask.dataframe.read_parquet(file, columns=["text", "labels"], split_row_groups=3, **options)
        yield lambda: termsieve.dask.count(frame, **COLUMNS)


RIVALS: dict[str, Callable[[Path], Any]] = {
    "ts.count": here,
    "termsieve.spark.count": spark,
    "termsieve.spark.count, then ts.select": spark_select,
    "termsieve.spark.count with 5 folds": spark_folds,
    "MLlib: HashingTF + chi2": lambda file: mllib(file, "HashingTF"),
    "MLlib: CountVectorizer + chi2": lambda file: mllib(file, "CountVectorizer"),
    "termsieve.dask.count": dask,
    "termsieve.dask.count, dtype_backend=pyarrow": lambda file: dask(file, dtype_backend="pyarrow"),
}
AIMS = [
    ("termsieve.spark.count", "ts.count", "at most 2"),
    ("termsieve.dask.count", "ts.count", "at most 2"),
    ("termsieve.dask.count, dtype_backend=pyarrow", "ts.count", "at most 2"),
    ("MLlib: HashingTF + chi2", "termsieve.spark.count, then ts.select", "at least 15"),
    ("MLlib: CountVectorizer + chi2", "termsieve.spark.count, then ts.select", "at least 15"),
]


# --- one process -------------------------------------------------------------------------------------------


def total_cpu() -> float:
    """Seconds of the processor of this process and of all it has started, also of what has ended since."""
    seconds = 0.0
    for process in [psutil.Process(), *psutil.Process().children(recursive=True)]:
        try:
            seconds += sum(process.cpu_times()[:4])  # user, system, and those of its children that have ended
        except psutil.Error:
            continue
    return seconds


def settle() -> float:
    """Wait until all is idle, and return the CPU that was used until then."""
    before = total_cpu()
    for _ in range(PATIENCE):
        time.sleep(0.5)
        now = total_cpu()
        if now - before < IDLE:
            return now
        before = now
    return before


def measure(name: str, file: Path, calls: int) -> dict[str, Any]:
    """Start a rival and call it some times: CPU of the start, of each call; time of each call; what came out."""
    cpu, seconds, found = [], [], None
    with RIVALS[name](file) as call:
        cpu.append(settle())
        for _ in range(calls):
            start = time.perf_counter()
            found = call()
            seconds.append(time.perf_counter() - start)
            cpu.append(settle())
    used = [cpu[0], *(later - earlier for earlier, later in itertools.pairwise(cpu))]
    digest = hashlib.sha256(found.to_bytes()).hexdigest() if isinstance(found, ts.Counts) else ""
    return {"cpu": used, "seconds": seconds, "digest": digest}


# --- all of them -------------------------------------------------------------------------------------------


def write_documents(file: Path) -> int:
    texts, labels = corpus("arxiv_abstracts")
    first = [sorted(one)[0] for one in labels]  # MLlib wants one label as a number; it is given its numbers beforehand
    numbers = {name: float(i) for i, name in enumerate(sorted(set(first)))}
    columns = {"id": range(len(texts)), "text": texts, "labels": labels, "number": [numbers[name] for name in first]}
    parquet.write_table(pa.table(columns), file, row_group_size=1 << 14)
    return len(texts)


def run_apart(name: str, file: Path, calls: int) -> dict[str, Any]:
    command = [sys.executable, __file__, "--one", name, "--file", str(file), "--calls", str(calls)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def summarise(runs: list[dict[str, Any]]) -> dict[str, float]:
    """Medians over the processes: CPU of the start, of the first call, of a later one, and of start and first call."""
    return {
        "start": statistics.median(run["cpu"][0] for run in runs),
        "first": statistics.median(run["cpu"][1] for run in runs),
        "later": statistics.median(used for run in runs for used in run["cpu"][2:]),
        "start and first": statistics.median(sum(run["cpu"][:2]) for run in runs),
        "seconds": statistics.median(taken for run in runs for taken in run["seconds"][1:]),
    }


def compare(names: list[str], file: Path, rounds: int, calls: int) -> None:
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    for _ in range(rounds):
        for name in names:
            runs[name].append(run_apart(name, file, calls))
    digests = {name: {run["digest"] for run in of} for name, of in runs.items()}
    for name, found in digests.items():
        if found != {""} and name != "ts.count" and "ts.count" in digests:
            row(f"{name}: counts, beside ts.count", "identical" if found == digests["ts.count"] else "DIFFERENT",
                "identical")  # fmt: skip
    taken = {name: summarise(of) for name, of in runs.items()}
    for name, of in taken.items():
        before = f"first {of['first']:.1f} s, start {of['start']:.1f} s"
        row(f"{name}: CPU of a later call", f"{of['later']:.2f} s", f"{before}; time {of['seconds']:.1f} s")
    for one, other, aim in AIMS:
        if one in taken and other in taken:
            ratio = {key: taken[one][key] / taken[other][key] for key in ("later", "first", "start and first")}
            row(f"CPU of {one}, of that of {other}", f"{ratio['later']:.2f} times",
                f"{aim}; first calls {ratio['first']:.1f}, with the start {ratio['start and first']:.1f}")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=RIVALS, default=list(RIVALS), metavar="RIVAL")
    parser.add_argument("--rounds", type=int, default=3, help="processes of each rival")
    parser.add_argument("--calls", type=int, default=3, help="calls in each process")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(measure(given.one, given.file, given.calls)))
        return
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "abstracts.parquet")
        n = write_documents(file)
        title(f"Spark in local mode and Dask, two cores, {n:,} arXiv abstracts, each in {given.rounds} new processes")
        compare(given.only, file, given.rounds, given.calls)


if __name__ == "__main__":
    main()

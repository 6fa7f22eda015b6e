"""What happens to a count on Spark when something breaks: the result is exact, or there is a clear error and no file.

The cluster is a master and two workers of Spark's own, started here. Its executors have what is in the wheel, and no
pandas.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from engine_documents import RECORDS, columns, make_documents
from spark_sessions import require_java, start_session

import termsieve as ts
from termsieve.errors import InputError

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("default"),  # of pyspark, about the newest pandas
]
PATIENCE = 120  # seconds
HOSTS = ("127.0.0.1", "127.0.0.2")  # both are this machine; a task is never begun again on the host where it runs


def wait_for(condition, what):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.05)
    raise TimeoutError(what)


def start_process(folder, name, host, *arguments):
    import pyspark

    script = Path(pyspark.__file__).parent / "bin" / "spark-class"
    environment = {**os.environ, "SPARK_LOCAL_IP": host, "SPARK_WORKER_DIR": str(folder / name)}
    with (folder / f"{name}.log").open("wb") as log:
        command = [str(script), arguments[0], "--host", host, *arguments[1:]]
        return subprocess.Popen(command, stdout=log, stderr=log, env=environment)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """The address of the master, and the processes of the two workers."""
    require_java()
    folder = tmp_path_factory.mktemp("cluster")
    shutil.copytree(Path(ts.__file__).parent, folder / "wheel" / "termsieve")
    (folder / "wheel" / "pandas.py").write_text("raise ImportError('executors have no pandas')")
    ports = ("--port", "0", "--webui-port", "0")
    master = start_process(folder, "master", HOSTS[0], "org.apache.spark.deploy.master.Master", *ports)
    log = folder / "master.log"
    try:
        line = wait_for(
            lambda: next((line for line in log.read_text().splitlines() if "Starting Spark master at" in line), None),
            "the master",
        )
        url = line.rpartition("Starting Spark master at ")[2].strip()
        worker = ("org.apache.spark.deploy.worker.Worker", *ports, "--cores", "1", "--memory", "1g", url)
        workers = [start_process(folder, f"worker{i}", host, *worker) for i, host in enumerate(HOSTS)]
        try:
            yield url, workers, folder / "wheel"
        finally:
            for process in workers:
                process.kill()
                process.wait()
    finally:
        master.kill()
        master.wait()


@pytest.fixture(scope="module")
def session(cluster):
    url, _, wheel = cluster
    session = start_session(
        url,
        **{
            "spark.executor.memory": "512m",
            "spark.executorEnv.PYTHONPATH": str(wheel),
            "spark.speculation": "true",
            "spark.speculation.interval": "100ms",
            "spark.speculation.quantile": "0.5",
            "spark.speculation.multiplier": "2",
            "spark.speculation.minTaskRuntime": "500ms",
        },
    )
    yield session
    session.stop()


def make_frame(session, handle, partitions=6):
    """The records in partitions, each of which goes through `handle(number, batches)` on an executor."""

    def pass_on(batches):
        from pyspark import TaskContext

        context = TaskContext.get()
        handle(context.partitionId(), context.attemptNumber())
        yield from batches

    frame = session.createDataFrame(pa.table(columns("id", "text", "labels"))).repartition(partitions)
    return frame.mapInArrow(pass_on, frame.schema)


def count(frame):
    import termsieve.spark

    return termsieve.spark.count(frame, text="text", label="labels")


def test_executors_need_the_wheel_alone(session, cluster):
    wheel = str(cluster[2])

    def check(number, attempt):
        import termsieve

        assert termsieve.__file__.startswith(wheel), termsieve.__file__
        assert importlib.util.find_spec("pandas").origin.startswith(wheel)  # which cannot be imported

    assert count(make_frame(session, check)) == make_documents()


def test_killed_executor_changes_nothing(session, cluster, tmp_path):
    """An executor is ended with SIGKILL in the middle of its work: its partitions are counted again, and once."""
    started = str(tmp_path)

    def linger(number, attempt):
        (Path(started) / f"{number}.{attempt}.{os.getpid()}").touch()
        time.sleep(1.5)

    killed = []

    def kill_the_executor_of_the_first_task():
        first = wait_for(lambda: next(tmp_path.iterdir(), None), "a task").name
        number, _, worker = first.split(".")
        java = [parent for parent in psutil.Process(int(worker)).parents() if parent.name() == "java"]
        java[0].kill()
        killed.append(number)

    killer = threading.Thread(target=kill_the_executor_of_the_first_task)
    killer.start()
    counts = count(make_frame(session, linger))
    killer.join()
    assert len(list(tmp_path.glob(f"{killed[0]}.*"))) > 1  # that partition was begun again
    assert counts == make_documents()


def test_straggler_runs_twice_and_counts_once(session, tmp_path):
    """One task hangs; speculation starts it again elsewhere. What of the two comes first counts, and only that."""
    started = str(tmp_path)

    def hang(number, attempt):
        marks = Path(started)
        first = not any(marks.glob(f"{number}.*"))
        (marks / f"{number}.{os.getpid()}.{time.monotonic_ns()}").touch()
        if number == 3 and first:
            end = time.monotonic() + PATIENCE
            while time.monotonic() < end and len(list(marks.glob("3.*"))) < 2:
                time.sleep(0.1)
            time.sleep(3)

    wait_for(lambda: session.sparkContext._jsc.sc().getExecutorMemoryStatus().size() == 3, "both executors")
    assert count(make_frame(session, hang)) == make_documents()
    assert len(list(tmp_path.glob("3.*"))) == 2


def test_corrupt_file_among_a_hundred_is_named(session, tmp_path):
    import termsieve.spark

    folder = tmp_path / "parts"
    folder.mkdir()
    table = pa.Table.from_pylist(RECORDS)
    for i in range(100):
        parquet.write_table(table.slice(2 * i, 2), folder / f"{i:03}.parquet")
    damaged = folder / "042.parquet"
    content = damaged.read_bytes()
    frame = session.read.parquet(str(folder)).coalesce(4)
    damaged.write_bytes(content[: len(content) // 2])
    target = tmp_path / "counts"
    with pytest.raises(InputError, match=r"Spark could not do it: .*042\.parquet"):
        termsieve.spark.count(frame, text="text", label="labels", to=str(target))
    assert not (target / "facts").exists()
    damaged.write_bytes(content)
    assert termsieve.spark.count(frame, text="text", label="labels") == make_documents()


DRIVER = """
import sys, time
from pathlib import Path
import pyarrow.parquet
sys.path[:0] = {path!r}
from spark_sessions import start_session
import termsieve.spark

session = start_session("local[2]")
frame = session.read.parquet({documents!r}).repartition(6)

def linger(batches):
    yield from batches
    Path({marks!r}, str(time.monotonic_ns())).touch()
    time.sleep({seconds})

termsieve.spark.count(frame.mapInArrow(linger, frame.schema), text="text", label="labels", to={to!r})
"""


def test_killed_driver_leaves_nothing_half_written_and_can_be_started_again(tmp_path):
    require_java()
    documents, marks, target = tmp_path / "documents.parquet", tmp_path / "marks", tmp_path / "counts"
    marks.mkdir()
    parquet.write_table(pa.table(columns("text", "labels")), documents)
    said = dict(path=[str(Path(__file__).parent)], documents=str(documents), marks=str(marks), to=str(target))
    driver = subprocess.Popen([sys.executable, "-W", "ignore", "-c", DRIVER.format(**said, seconds=2)])
    wait_for(lambda: any(marks.iterdir()), "the first partition")
    family = [psutil.Process(driver.pid), *psutil.Process(driver.pid).children(recursive=True)]
    for process in family:
        process.kill()
    driver.wait()
    assert not (target / "facts").exists()
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", DRIVER.format(**said, seconds=0)],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    facts = parquet.read_table(target / "facts").to_pylist()[0]
    terms = parquet.read_table(target / facts["folder"])
    here = make_documents()
    assert sorted(terms["term"].to_pylist()) == here.terms.tolist()
    assert sum(terms["tf2"].to_pylist()) == int(here.term_tf2.sum())

"""Spark in processes of its own: over Spark Connect, and from the command line."""

import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as parquet
import pytest
from engine_documents import columns, make_documents
from spark_sessions import require_java

import termsieve as ts

ENVIRONMENT = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYTHONWARNINGS": "ignore"}

CONNECT = """
import os, sys
sys.path[:0] = [{here!r}]
os.environ["PYSPARK_PYTHON"] = sys.executable
import pyarrow as pa
from pyspark.sql import SparkSession
from engine_documents import check_folds, check_same, columns, make_documents
import termsieve as ts
import termsieve.spark

session = SparkSession.builder.remote("local[2]").getOrCreate()
assert "connect" in type(session).__module__, type(session)
frame = session.createDataFrame(pa.table(columns("id", "text", "labels", "part")))
check_same(termsieve.spark.count, frame.repartition(10))
check_folds(termsieve.spark.count, frame)
stored = termsieve.spark.count(frame.repartition(3), text="text", label="labels", to={to!r}, ranges=2)
assert stored.to_counts() == make_documents()
assert termsieve.spark.score({to!r}, "chi2", 9, session=session) == ts.score(make_documents(), "chi2").top(9)
model = termsieve.spark.TermVectorizer(inputCol="text", labelCol="part", scoreFunc="chi2", k=5).fit(frame)
vectors = model.transform(frame).select("features").collect()
assert len(vectors) == frame.count() and vectors[0][0].size == 5
print("all the same")
"""


def run(*command, env=ENVIRONMENT, **options):
    return subprocess.run(command, check=False, capture_output=True, text=True, env=env, timeout=400, **options)


def test_connect_gives_the_same(tmp_path):
    require_java()
    done = run(sys.executable, "-c", CONNECT.format(here=str(Path(__file__).parent), to=str(tmp_path / "counts")))
    assert done.stdout.strip().endswith("all the same"), done.stderr[-3000:]


@pytest.fixture(scope="module")
def command():
    require_java()
    return str(Path(sys.executable).with_name("termsieve"))


def test_command_counts_with_spark(command, tmp_path):
    parquet.write_table(pa.table(columns("text", "labels")), tmp_path / "documents.parquet")
    engine = ("--engine", "spark", "--master", "local[2]", "-o")
    plain = {name: value for name, value in ENVIRONMENT.items() if name != "SPARK_LOCAL_IP"}
    done = run(command, "count", "documents.parquet", *engine, "out.counts", cwd=tmp_path, env=plain)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "SPARK_LOCAL_IP" not in done.stderr  # Spark asks for it where it takes another address than loopback
    assert ts.Counts.load(tmp_path / "out.counts") == make_documents()
    texts = [text.replace("\n", " ") or "nothing" for text in columns("text")["text"]]
    table = pa.table({"text": texts, "label": columns("part")["part"]})
    pyarrow.csv.write_csv(table, tmp_path / "documents.csv")
    done = run(command, "count", "documents.csv", *engine, "csv.counts", cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    assert ts.Counts.load(tmp_path / "csv.counts") == ts.count(ts.read(tmp_path / "documents.csv"))


def test_mistakes_with_an_engine_are_told_without_a_traceback(command, tmp_path):
    for arguments, said in (
        (["--engine", "sprak"], "--engine must be spark"),
        (["--master", "local"], "--master needs --engine"),
        (["--engine", "spark", "--memory", "2GB"], "--memory does not go with --engine spark"),
        (["--engine", "spark", "--encoding", "latin-1"], "--encoding does not go with --engine spark"),
    ):
        done = run(command, "count", "no.parquet", "-o", "out.counts", *arguments, cwd=tmp_path)
        assert done.returncode != 0
        assert said in " ".join(done.stderr.replace("│", " ").split())
        assert "Traceback" not in done.stderr
    done = run(command, "count", "no.parquet", "-o", "out.counts", "--engine", "spark", cwd=tmp_path)
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert "no.parquet" in done.stderr
    assert not (tmp_path / "out.counts").exists()

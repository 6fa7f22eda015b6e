"""Sessions of Spark: local, over Spark Connect, and a cluster of a master and two workers that the tests start."""

import os
import shutil
import sys

import pytest

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")


def require_java():
    """Skip without Java; where CI is set, that is a failure."""
    if shutil.which("java") or os.environ.get("JAVA_HOME"):
        return
    if os.environ.get("CI"):
        pytest.fail("Java is not there: Spark needs version 17 or later.")
    pytest.skip("Java is not there: Spark needs version 17 or later")


SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "4",
    "spark.log.level": "ERROR",
    "spark.ui.showConsoleProgress": "false",
}


def start_session(master, **settings):
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master)
    for name, value in {**SETTINGS, **settings}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()

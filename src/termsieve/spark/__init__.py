"""DataFrames of Spark -> `Counts`, counted by its executors with the same loops; and an estimator for its pipelines.

::

    counting      count: a part of the counts for each partition, added up as a tree; to the driver, or to storage
    stored        counts on the cluster's storage, larger than the driver: Parquet, a row for each term; score
    vectorizer    TermVectorizer and its model, for pipelines of Spark ML
    workers       what runs on executors: functions of Arrow batches
    sessions      the session and the DataFrame that the command line asks for
    failures      what fails on a cluster, as errors of termsieve

Classic sessions and those of Spark Connect are alike. Executors need this package with its dependencies, and Python
alone: set ``PYSPARK_PYTHON`` to the interpreter that has it.
"""

from termsieve.extras import import_extra

import_extra("pyspark", "Counting with Spark")

from termsieve.spark.counting import count  # noqa: E402 - which needs it
from termsieve.spark.stored import StoredCounts, load, score  # noqa: E402
from termsieve.spark.vectorizer import TermVectorizer, TermVectorizerModel  # noqa: E402

__all__ = ["StoredCounts", "TermVectorizer", "TermVectorizerModel", "count", "load", "score"]

"""Counts of bags and frames of Dask: the same as of the documents here, whatever happens to a worker."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from engine_documents import RECORDS, check_folds, check_same, linger, make_documents

import termsieve.dask
from termsieve.errors import InputError, OptionError, TermsieveWarning

dask = pytest.importorskip("dask")
bag = pytest.importorskip("dask.bag")
frame = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client():
    """A cluster of two processes on this machine."""
    settings = {"distributed.scheduler.worker-ttl": "60s", "distributed.comm.timeouts.connect": "30s"}
    with (
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address="127.0.0.1:0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def make_frame(partitions=5):
    import pandas as pd

    with dask.config.set({"dataframe.convert-string": False}):  # or lists become their spelling
        return frame.from_pandas(pd.DataFrame(RECORDS), npartitions=partitions)


@pytest.mark.parametrize("partitions", [1, 3, 11])
def test_bag_gives_the_counts_of_its_documents(client, partitions):
    check_same(termsieve.dask.count, bag.from_sequence(RECORDS, npartitions=partitions))


def test_frame_gives_the_counts_of_its_documents(client):
    check_same(termsieve.dask.count, make_frame())


def test_folds_are_those_of_the_documents_here(client):
    check_folds(termsieve.dask.count, bag.from_sequence(RECORDS, npartitions=4))


def test_folds_without_documents_are_there_for_a_number_of_numpy_too():
    records = bag.from_sequence([{"text": "noon", "label": "x", "id": i} for i in range(4)], npartitions=1)
    plain, of_numpy = (termsieve.dask.count(records, folds=folds, id="id") for folds in (30, np.int64(30)))
    assert plain.names == of_numpy.names == list(range(30))


def test_columns_are_detected_in_the_first_record():
    counts = termsieve.dask.count(bag.from_sequence([{"body": "noon", "topic": "a"}, {"body": "b1", "topic": "c"}]))
    assert list(counts.classes) == ["a", "c"]


def test_bad_rows_are_counted_over_all_partitions():
    records = [*RECORDS, {"text": None, "labels": ["x"], "id": 900}, {"text": "lost", "labels": None, "id": 901}]
    with pytest.warns(TermsieveWarning, match=rf"skipped 2 bad rows of {len(records)}: .*partition \d+, row \d+"):
        counts = termsieve.dask.count(bag.from_sequence(records, npartitions=6))
    assert counts == make_documents()
    with pytest.raises(InputError, match=r"partition \d, row \d+: missing text"):
        termsieve.dask.count(bag.from_sequence(records, npartitions=6), strict=True)


def test_partition_of_bad_rows_alone_does_not_end_the_count():
    records = [{"text": None, "label": "x"}, {"text": "noon", "label": "y"}]
    with pytest.warns(TermsieveWarning, match="skipped 1 bad row of 2"):
        assert termsieve.dask.count(bag.from_sequence(records, npartitions=2)).n_docs == 1
    with pytest.raises(InputError, match="All 1 rows are bad"):
        termsieve.dask.count(bag.from_sequence(records[:1], npartitions=1))


def test_mistakes_are_told_before_anything_is_counted():
    records = bag.from_sequence(RECORDS, npartitions=2)
    with pytest.raises(InputError, match="bag or a frame of Dask, not list"):
        termsieve.dask.count(RECORDS)
    with pytest.raises(InputError, match=r"there is no column 'txet'\. Did you mean 'text'"):
        termsieve.dask.count(records, text="txet")
    with pytest.raises(OptionError, match="A number of folds needs id="):
        termsieve.dask.count(records, folds=3)
    with pytest.raises(InputError, match="a mapping for each document, not str"):
        termsieve.dask.count(bag.from_sequence(["text"]))


def test_killed_worker_changes_nothing(client, tmp_path):
    """A worker is ended with SIGKILL in the middle of its work: its partitions are counted again, and once."""
    killed = []

    def kill_the_first():
        end = time.monotonic() + 60
        while time.monotonic() < end and not (found := list(tmp_path.glob("*.at-work"))):
            time.sleep(0.01)
        killed.append(int(found[0].name.partition(".")[0]))
        os.kill(killed[0], signal.SIGKILL)

    killer = threading.Thread(target=kill_the_first)
    killer.start()
    documents = bag.from_sequence(RECORDS, npartitions=8).map(linger, tmp_path)
    counts = termsieve.dask.count(documents, text="text", label="labels")
    killer.join()
    processes = {int(found.name.partition(".")[0]) for found in tmp_path.glob("*.at-work")}
    assert killed[0] in processes
    assert len(processes) > 1
    assert counts == make_documents()

"""Out of memory: any bound, any number of runs, any cutting of files gives the same bytes; blocks rank as the whole."""

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.texts import columns, documents

import termsieve as ts
from termsieve._kernels import use_way
from termsieve.cli import run
from termsieve.counts import merging, spilling, storage
from termsieve.counts.cells import Cells
from termsieve.counts.counts_reader import CountsReader
from termsieve.counts.merging import add_files, save_sum
from termsieve.errors import CountsError, CountsFileError, InputError, OptionError, OutputError

RNG = np.random.default_rng(7)


def make_texts(n=600, n_words=3000):
    ranks = (RNG.pareto(0.6, n * 15).clip(0, n_words)).astype(int)
    words = np.array([f"w{rank:x}" for rank in range(n_words + 1)])[ranks]
    return [" ".join(row) for row in words.reshape(n, 15)]


TEXTS = make_texts()
ONE_LABEL = [("a", "b", "c")[i % 3] for i in range(len(TEXTS))]
SEVERAL = [[["a"], ["b", "a"], [], ["c"]][i % 4] for i in range(len(TEXTS))]


@pytest.fixture
def small(monkeypatch):
    """Tiny blocks, and tables for which any bound is enough."""
    monkeypatch.setattr(storage, "BLOCK_TERMS", 64)
    monkeypatch.setattr(storage, "BLOCK_CELLS", 100)
    monkeypatch.setattr(spilling, "RESERVED", 0)
    monkeypatch.setattr(spilling, "LEAST_FOR_TABLES", 1)


@pytest.fixture
def folder(tmp_path, small):
    """Three files of documents."""
    for part in range(3):
        rows = slice(part, None, 3)
        table = pa.table({"text": TEXTS[rows], "label": ONE_LABEL[rows]})
        pq.write_table(table, tmp_path / f"{part}.parquet", row_group_size=40)
    return tmp_path


# Counting within a bound


@pytest.mark.parametrize("labels", [ONE_LABEL, SEVERAL, None], ids=["one", "several", "none"])
@pytest.mark.parametrize("threads", [1, 3])
def test_any_bound_of_memory_gives_the_same_bytes(labels, threads, small, monkeypatch):
    expected = ts.count(TEXTS, labels).to_bytes()
    spills = []
    write = spilling._BoundedCount._write_runs
    monkeypatch.setattr(spilling._BoundedCount, "_write_runs", lambda self: (spills.append(1), write(self)))
    assert ts.count(TEXTS, labels, memory=1, threads=threads).to_bytes() == expected
    assert ts.count(TEXTS, labels, memory="1GB", threads=threads).to_bytes() == expected
    assert len(spills) >= 2


@pytest.mark.parametrize("options", [{"ngram_range": (1, 2)}, {"stop_words": "english"}, {"analyzer": "char"}], ids=str)
def test_any_analyzer_spills_alike(options, small):
    analyzer = ts.Analyzer(**options)
    texts, labels = TEXTS[:60], ONE_LABEL[:60]
    assert ts.count(texts, labels, analyzer=analyzer, memory=1) == ts.count(texts, labels, analyzer=analyzer)


def test_many_spills_of_files_give_the_same_file(folder):
    docs = ts.read(f"{folder}/*.parquet")
    expected = ts.count(docs).to_bytes()
    file = ts.count_to_file(docs, folder / "x.counts", memory=1)
    assert (folder / "x.counts").read_bytes() == expected
    assert file.n_blocks > 5
    assert file.read() == ts.Counts.from_bytes(expected)
    assert sorted(one.name for one in folder.iterdir()) == ["0.parquet", "1.parquet", "2.parquet", "x.counts"]


@settings(max_examples=25, deadline=None)
@given(documents(), st.integers(1, 4), st.integers(1, 5))
def test_any_cutting_of_counts_into_files_adds_up_to_the_same_bytes(tmp_path_factory, pairs, n_files, block_terms):
    folder = tmp_path_factory.mktemp("cut")
    before, storage.BLOCK_TERMS = storage.BLOCK_TERMS, block_terms
    try:
        whole = ts.count(*columns(pairs))
        for part in range(n_files):
            ts.count(*columns(pairs[part::n_files])).save(folder / f"{part}.counts")
        save_sum(sorted(folder.glob("*.counts")), folder / "sum", 2)
        assert (folder / "sum").read_bytes() == whole.to_bytes()
    finally:
        storage.BLOCK_TERMS = before


def test_very_many_files_are_added_in_stages(tmp_path, small, monkeypatch):
    monkeypatch.setattr(merging, "MOST_AT_ONCE", 3)
    for part in range(10):
        ts.count(TEXTS[part::10], ONE_LABEL[part::10]).save(tmp_path / f"{part}.counts")
    save_sum(sorted(tmp_path.glob("*.counts")), tmp_path / "sum", 2)
    assert (tmp_path / "sum").read_bytes() == ts.count(TEXTS, ONE_LABEL).to_bytes()
    assert len(list(tmp_path.iterdir())) == 11


def test_a_difference_of_files_is_that_of_counts(tmp_path, small):
    whole, part = ts.count(TEXTS, ONE_LABEL), ts.count(TEXTS[::3], ONE_LABEL[::3])  # all documents of one class
    stored = [CountsReader.of_bytes(one.to_bytes(), Path("x")) for one in (whole, part)]
    storage.save(tmp_path / "rest", *add_files(stored, 2, [1, -1]))
    assert (tmp_path / "rest").read_bytes() == (whole - part).to_bytes()
    with pytest.raises(CountsError, match=r"negative|only in the part"):
        list(add_files(stored[::-1], 2, [1, -1])[1])


@pytest.mark.parametrize(("given", "bytes_"), [("2GB", 2 * 10**9), ("1.5 GiB", 3 << 29), (10**9, 10**9)])
def test_sizes_of_memory(given, bytes_):
    assert spilling.parse_memory(given) == bytes_


@pytest.mark.parametrize("given", ["2 apples", "", "-1GB", "100MB", True, None, "9" * 400 + "GB"])
def test_impossible_sizes_of_memory_are_refused(given):
    with pytest.raises(OptionError, match="memory"):
        spilling.parse_memory(given)


# Counts that are larger than memory


@pytest.fixture
def file(tmp_path, small):
    ts.count(TEXTS, SEVERAL).save(tmp_path / "big.counts")
    return ts.CountsFile(tmp_path / "big.counts")


@pytest.mark.parametrize("score", ["chi2", "g_test", "log_odds_ratio", "info_gain", "gu", "ocfs", "log_odds_dirichlet"])
@pytest.mark.filterwarnings("ignore::termsieve.errors.TermsieveWarning")
def test_a_file_ranks_as_the_whole(file, score):
    assert file.n_blocks > 5
    whole, blocks = ts.score(file.read(), score), ts.score(file, score)
    assert blocks.overall().tobytes() == whole.overall().tobytes()
    for how in (
        {},
        {"per_class": True},
        {"of": "b"},
        {"per_class": True, "against": True},
        {"intervals": True, "of": "a"},
    ):
        assert blocks.top(7, **how) == whole.top(7, **how), how


@pytest.mark.parametrize("rule", ["top(9)", "percentile(5)", "per_class(4)", "round_robin(8)", "energy(0.5)",
                                  'union("chi2", "g_test", k=9)', "threshold(2)"])  # fmt: skip
def test_a_file_selects_as_the_whole(file, rule):
    ours, theirs = ts.select(file, rule, "chi2"), ts.select(file.read(), rule, "chi2")
    assert repr(ours) == repr(theirs)
    assert ours.index.tolist() == theirs.index.tolist()


@pytest.mark.parametrize("rule", ["top(9)", "percentile(5)", 'union("chi2", "g_test", k=9)'])
def test_a_file_selects_by_the_aggregation_that_is_asked_for(file, rule):
    ours, theirs = (ts.select(what, rule, "chi2", aggregate="mean") for what in (file, file.read()))
    assert ours.index.tolist() == theirs.index.tolist() != ts.select(file, rule, "chi2").index.tolist()


@pytest.mark.parametrize("rule", ["top(9)", "percentile(5)", "per_class(4)", "round_robin(8)", 'union("gu", k=9)'])
def test_a_rule_that_knows_how_many_terms_it_selects_does_not_read_the_whole_file(file, rule, monkeypatch):
    monkeypatch.setattr(ts.CountsFile, "read", None)
    assert len(ts.select(file, rule, "chi2")) > 0


def test_all_terms_of_a_file_may_be_selected(file):
    assert len(ts.select(file, "top('all')", "chi2")) == file.n_terms


def test_a_file_is_pruned_as_the_whole(file, tmp_path):
    pruned = file.prune(min_df=3)
    pruned.save(tmp_path / "pruned.counts")
    assert (tmp_path / "pruned.counts").read_bytes() == file.read().prune(min_df=3).to_bytes()
    whole = ts.score(file.read().prune(min_df=3), "log_odds_ratio").top(9)
    assert ts.score(pruned, "log_odds_ratio").top(9) == whole


def test_terms_of_a_file_are_found(file):
    whole = file.read()
    for term in whole.terms[::50]:
        assert file[term] == whole[term]
    with pytest.raises(KeyError, match="no term"):
        file["nowhere"]


def test_a_damaged_block_is_refused_when_it_is_read(file, tmp_path):
    data = bytearray(file.path.read_bytes())
    entry = file._stored.blocks[3]
    data[entry.start + entry.size // 2] ^= 1
    (tmp_path / "bad.counts").write_bytes(data)
    bad = ts.CountsFile(tmp_path / "bad.counts")  # the index is whole
    with pytest.raises(CountsFileError, match="altered or damaged"):
        ts.score(bad, "chi2").top(3)
    with pytest.raises(CountsFileError, match="altered or damaged"):
        ts.Counts.load(tmp_path / "bad.counts")


# Many classes


def make_wide(n_terms=20_000, n_classes=1000, seed=0):
    """Counts of terms by Zipf's law in a thousand classes of different sizes, about 30 cells for each term."""
    rng = np.random.default_rng(seed)
    lengths = rng.permutation(np.clip(n_terms * 5 / np.arange(1, n_terms + 1), 1, n_classes).astype(int))
    classes = np.concatenate([np.sort(rng.choice(n_classes, n, replace=False)) for n in lengths]).astype(np.int32)
    cells = Cells(
        np.concatenate([[0], np.cumsum(lengths)]), classes, np.tile(rng.poisson(0.5, len(classes)) + 1, (3, 1))
    )
    terms = pa.array([f"t{i:06}" for i in range(n_terms)], pa.large_string())
    sizes = rng.integers(1000, 9000, n_classes)
    names = [f"c{i:03}" for i in range(n_classes)]
    return ts.Counts(terms, names, cells, cells.totals(), n_docs=int(sizes.sum()), class_sizes=sizes)


def test_bytes_for_each_cell(tmp_path, monkeypatch):
    """Cells take 16 bytes each, reading them little more than that, and scoring them a few times as much."""
    monkeypatch.setattr(storage, "BLOCK_CELLS", 1 << 14)
    counts = make_wide()
    n_cells = len(counts.cells.classes)
    assert counts.cells.values.nbytes + counts.cells.classes.nbytes == 16 * n_cells
    counts.save(tmp_path / "wide.counts")
    with use_way("compiled"):
        ts.score(make_wide(300), "chi2").overall()  # loads the loops, which take memory, too
        tracemalloc.start()
        try:
            loaded = ts.Counts.load(tmp_path / "wide.counts")
            to_load = tracemalloc.get_traced_memory()[1]
            ts.score(loaded, "chi2").overall()
            to_score = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert loaded == counts
    assert to_load < 24 * n_cells
    assert to_score < 105 * n_cells


# Faults


def run_cli(*arguments):
    """Run a command in this process: what it prints, what it says, how it ends."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run([str(one) for one in arguments])
    return SimpleNamespace(returncode=code, stdout=out.getvalue(), stderr=err.getvalue())


def test_a_full_spill_disk_is_named_and_nothing_is_left(folder, tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OutputError, match=r"No space left on device.*another folder.*more memory"):
        ts.count_to_file(ts.read(f"{folder}/*.parquet"), tmp_path / "x.counts", memory=1)
    assert sorted(one.suffix for one in tmp_path.iterdir()) == [".parquet"] * 3


def test_no_thread_writes_any_more_when_another_could_not(folder, tmp_path, monkeypatch):
    """What it wrote into the folder while that was removed would be left."""
    written, begun = [], threading.Event()

    def write(path, _):
        if path.name == "000000.run":
            assert begun.wait(60)  # what has not begun is cancelled
            raise OutputError("no space")
        begun.set()
        time.sleep(0.3)
        path.write_bytes(b"")
        written.append(path.name)

    monkeypatch.setattr(spilling, "write_run", write)
    with pytest.raises(OutputError, match="no space"):
        ts.count_to_file(ts.read(f"{folder}/*.parquet"), tmp_path / "x.counts", memory="1GB", threads=2)
    assert written == ["000001.run"]
    assert sorted(one.suffix for one in tmp_path.iterdir()) == [".parquet"] * 3


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can mount a small disk")
def test_a_small_disk_that_fills_up(tmp_path):
    """A real disk of two megabytes, and a count that needs more."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", disk], capture_output=True, check=False)
    if mount.returncode:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("a small disk cannot be mounted here")
    try:
        texts = [" ".join(f"x{i * 40 + j:09}" for j in range(40)) for i in range(12_000)]
        pq.write_table(pa.table({"text": texts, "label": ["a", "b"] * 6000}), tmp_path / "x.parquet")
        done = run_cli("count", tmp_path / "x.parquet", "-o", tmp_path / "x.counts", "--memory", "700MB",
                       "--spill-folder", disk)  # fmt: skip
        assert done.returncode == 1
        assert "No space left on device" in done.stderr
        assert "Traceback" not in done.stderr
        assert not list(disk.iterdir())
        assert not (tmp_path / "x.counts").exists()
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


def test_a_corrupt_file_among_a_hundred_is_named_and_nothing_is_written(tmp_path):
    for i in range(100):
        table = pa.table({"text": TEXTS[i * 6 : i * 6 + 6], "label": ONE_LABEL[i * 6 : i * 6 + 6]})
        pq.write_table(table, tmp_path / f"{i:02}.parquet")
    data = bytearray((tmp_path / "57.parquet").read_bytes())
    data[20:60] = bytes(40)
    (tmp_path / "57.parquet").write_bytes(data)
    for memory in ([], ["--memory", "1GB"]):
        done = run_cli("count", f"{tmp_path}/*.parquet", "-o", tmp_path / "x.counts", *memory)
        assert done.returncode == 1
        assert "57.parquet" in done.stderr
        assert "Traceback" not in done.stderr
        assert len(list(tmp_path.iterdir())) == 100


COUNT_SLOWLY = """
import sys, time
import termsieve as ts
from termsieve.cli import run
from termsieve.counts import spilling
spilling.RESERVED, spilling.LEAST_FOR_TABLES = 0, 1
write = spilling._BoundedCount._write_runs
def slow(self):
    write(self)
    print(len(self.runs), flush=True)
    time.sleep(0.2)
spilling._BoundedCount._write_runs = slow
ts.count_to_file(ts.read(sys.argv[1] + "/*.parquet"), sys.argv[1] + "/x.counts", memory=1, resume=True, threads=1)
"""


def test_a_killed_count_goes_on_where_it_was(folder):
    """Killed after its third run; what it had counted is not counted again, and the bytes are the same."""
    expected = ts.count(ts.read(f"{folder}/*.parquet"))
    process = subprocess.Popen([sys.executable, "-c", COUNT_SLOWLY, folder], stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        if int(line) >= 2:
            process.send_signal(signal.SIGKILL)
            break
    process.wait()
    process.stdout.close()
    parts = folder / "x.counts.parts"
    assert not (folder / "x.counts").exists()
    done = json.loads((parts / "progress.json").read_text())
    assert len(done["runs"]) >= 2
    assert done["position"] != [0, 0]
    again = subprocess.run([sys.executable, "-c", COUNT_SLOWLY, folder], capture_output=True, text=True, check=True)
    assert int(again.stdout.split()[0]) > len(done["runs"])
    assert ts.Counts.load(folder / "x.counts") == expected
    assert not parts.exists()


def test_a_count_of_changed_files_is_not_continued(folder, monkeypatch):
    docs = ts.read(f"{folder}/*.parquet")
    monkeypatch.setattr(spilling, "open_sum", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        ts.count_to_file(docs, folder / "x.counts", memory=1, resume=True)
    monkeypatch.undo()
    time.sleep(0.01)
    os.utime(folder / "1.parquet")
    with pytest.raises(InputError, match=r"other files.*Remove this folder"):
        ts.count_to_file(ts.read(f"{folder}/*.parquet"), folder / "x.counts", memory="1GB", resume=True)


# A list of what was counted


def test_only_new_files_are_added_and_a_withdrawn_one_is_subtracted(folder):
    counts, files = folder / "all.counts", [folder / f"{i}.parquet" for i in range(3)]
    assert run_cli("count", *files[:2], "--update", counts).returncode == 0
    assert ts.Counts.load(counts) == ts.count(ts.read([*files[:2]]))
    again = run_cli("count", folder / "*.parquet", "--update", counts, "--memory", "1GB")
    assert "2 of 3 files are counted already" in again.stderr
    assert ts.Counts.load(counts) == ts.count(ts.read([*files]))
    with ts.CountsFile(counts) as file:
        assert [Path(one["name"]).name for one in file.files] == ["0.parquet", "1.parquet", "2.parquet"]
    assert "3 of 3" in run_cli("count", *files, "--update", counts).stderr
    gone = run_cli("forget", counts, files[1])
    assert gone.returncode == 0, gone.stderr
    assert ts.Counts.load(counts) == ts.count(ts.read([files[0], files[2]]))
    twice = run_cli("forget", counts, files[1])
    assert twice.returncode == 1
    assert "was not counted" in twice.stderr
    assert run_cli("count", files[1], "--update", counts).returncode == 0
    assert ts.Counts.load(counts) == ts.count(ts.read([*files]))


def test_counts_without_a_list_are_not_updated(folder):
    ts.count(TEXTS, ONE_LABEL).save(folder / "x.counts")
    done = run_cli("count", folder / "0.parquet", "--update", folder / "x.counts")
    assert done.returncode == 1
    assert "has no list of the files" in done.stderr


# Commands


def test_commands_on_files_of_many_blocks_say_what_they_say_of_small_ones(tmp_path, monkeypatch):
    """The same counts, in one block and in many, by rank and select."""
    whole = ts.count(TEXTS, ONE_LABEL)
    whole.save(tmp_path / "whole.counts")
    monkeypatch.setattr(storage, "BLOCK_TERMS", 64)
    whole.save(tmp_path / "blocks.counts")
    assert ts.CountsFile(tmp_path / "blocks.counts").n_blocks > 1
    for command in (["rank", "--top", "5"], ["rank", "--overall"], ["rank", "--min-df", "3", "--intervals"],
                    ["select", "-k", "50"], ["select", "--rule", "per_class(9)", "--min-df", "2"]):  # fmt: skip
        shown = [run_cli(*command, tmp_path / f"{name}.counts").stdout for name in ("whole", "blocks")]
        assert shown[0], command
        assert shown[0] == shown[1], command


@pytest.mark.parametrize("resume", [False, True])
def test_a_folder_for_parts_that_is_not_there_is_told(tmp_path, resume):
    with pytest.raises(OptionError, match=r"There is no folder .*nowhere"):
        ts.count_to_file(
            ["aa"], tmp_path / "x.counts", ["x"], memory="1GB", spill_folder=tmp_path / "nowhere", resume=resume
        )
    assert not list(tmp_path.iterdir())

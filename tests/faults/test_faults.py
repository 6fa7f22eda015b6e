"""Faults of disks, files, memory and processes, done for real: nothing lost, nothing half-written, a clear message.

`FAULT_ROUNDS` in the environment says how often each command is killed, at moments drawn at random.
"""

import json
import os
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from docs.sample_files import make_documents

import termsieve as ts
from termsieve import datasets

COMMAND = str(Path(sys.executable).with_name("termsieve"))
ROUNDS = int(os.environ.get("FAULT_ROUNDS", "1"))
N_LARGE = 30_000  # documents of 18 MB: several blocks, of which the first is also looked at for its columns
BLOCK = 4 << 20
OLD = b"what was there before\n"
ENRON = datasets.locate("enron1")

FEW = ["--score", "chi2", "-k", "5,10", "--classifier", "multinomial_nb"]
COMMANDS = {
    "count": ["count", "mail.jsonl", "-o", "new.counts"],
    "compare": ["compare", "mail.jsonl", *FEW, "-o", "new.parquet", "--journal", "study.journal"],
    "train": ["train", "mail.jsonl", *FEW, "-o", "new.skops"],
    "changes": ["changes", "january.counts", "february.counts", "-o", "new.html"],
    "export": ["export", "old.skops", "-o", "new.js"],
}


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """A folder with what the commands read."""
    folder = tmp_path_factory.mktemp("inputs")
    documents = make_documents(600)
    write_lines(folder / "mail.jsonl", documents)
    for name, part in (("january", documents[:300]), ("february", documents[300:])):
        ts.count(*zip(*part, strict=True)).save(folder / f"{name}.counts")
    ts.train(*map(list, zip(*documents, strict=True)), scores="chi2", ks=10, classifiers="multinomial_nb").save(
        folder / "old.skops"
    )
    return folder


def write_lines(path, documents):
    path.write_text("".join(json.dumps({"text": t, "label": c}) + "\n" for t, c in documents), encoding="utf-8")


@pytest.fixture
def folder(inputs, tmp_path):
    for one in inputs.iterdir():
        (tmp_path / one.name).symlink_to(one)
    return tmp_path


def start(arguments, folder, **options):
    return subprocess.Popen(
        [COMMAND, *map(str, arguments)], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options
    )


def finish(arguments, folder, **options):
    process = start(arguments, folder, **options)
    _, said = process.communicate(timeout=300)
    assert b"Traceback" not in said
    return process.returncode, said.decode()


def list_new(folder):
    return sorted(one.name for one in folder.iterdir() if not one.is_symlink())


# Processes that are killed


@pytest.fixture(scope="module")
def durations(inputs, tmp_path_factory):
    """How long each command takes, so that moments are drawn from its whole run."""
    found = {}
    for name, arguments in COMMANDS.items():
        folder = tmp_path_factory.mktemp("timed")
        for one in inputs.iterdir():
            (folder / one.name).symlink_to(one)
        began = time.monotonic()
        code, said = finish(arguments, folder)
        assert code == 0, said
        found[name] = time.monotonic() - began
    return found


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda one: one.name)
@pytest.mark.parametrize("name", COMMANDS)
def test_a_killed_command_leaves_nothing_half_written(name, sent, folder, durations):
    arguments = COMMANDS[name]
    target = folder / arguments[arguments.index("-o") + 1]
    draw = random.Random(f"{name} {sent}")
    for _ in range(ROUNDS):
        target.write_bytes(OLD)
        process = start(arguments, folder)
        time.sleep(draw.random() * durations[name])
        process.send_signal(sent)
        _, said = process.communicate(timeout=60)
        assert b"Traceback" not in said
        if process.returncode == 0:  # it was done by then
            assert target.read_bytes() != OLD
            continue
        # before Python has our first line, and after our last, it dies of the signal without a word
        assert process.returncode in (128 + sent, -sent), said
        assert target.read_bytes() == OLD or is_whole(target)
        if sent != signal.SIGKILL:
            assert not [one for one in list_new(folder) if one.startswith(f".{target.name}")]
    code, said = finish(arguments, folder)  # whatever was left does not disturb the next run
    assert code == 0, said
    assert is_whole(target)


@pytest.mark.skipif(ENRON is None, reason="the corpora are not here")
def test_a_killed_reproduction_keeps_every_trial_and_goes_on(tmp_path):
    """It takes some seconds for each signal: a paper's corpus is read, and trials must be under way."""
    target, journals = tmp_path / "ifs.json", tmp_path / "journals"
    target.write_bytes(OLD)
    kept = 0
    for sent in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
        arguments = ["reproduce", "ifs", "--no-worlds", "--journals", journals, "--into", tmp_path]
        process = start(arguments, tmp_path, env=os.environ | {"TERMSIEVE_DATA": str(ENRON.resolve().parent)})
        end = time.monotonic() + 120
        while count_trials(journals) <= kept and time.monotonic() < end:
            time.sleep(0.05)
        process.send_signal(sent)
        _, said = process.communicate(timeout=60)
        assert b"Traceback" not in said
        assert process.returncode in (128 + sent, -sent), said
        assert count_trials(journals) > kept  # nothing of the run before is lost, and this one went on
        kept = count_trials(journals)
        assert target.read_bytes() == OLD
    assert list_new(tmp_path) == ["ifs.json", "journals"]


def count_trials(folder):
    """The trials in all journals of a folder; a transaction that was cut off is rolled back, as the next run would."""
    found = 0
    for path in folder.glob("*/*.journal"):
        try:
            with closing(sqlite3.connect(f"file:{path}?mode=rw", uri=True)) as journal:
                found += journal.execute("SELECT count(*) FROM trials").fetchone()[0]
        except sqlite3.Error:  # it is being made
            continue
    return found


def is_whole(path):
    if path.suffix == ".counts":
        return ts.Counts.load(path).n_docs == 600
    if path.suffix == ".skops":
        return len(ts.Model.load(path).classes) == 2
    if path.suffix == ".parquet":
        return pq.read_table(path).num_rows > 0
    end = path.read_text(encoding="utf-8").rstrip()
    return end.endswith(("</html>", "}", ";"))


# Disks


def mount(target, *options):
    """Mount a small file system in memory; where that is not allowed, there is nothing to test with."""
    target.mkdir()
    try:
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", *options, "tmpfs", target], capture_output=True, text=True)
        said = done.stderr
    except FileNotFoundError:
        said = "there is no mount"
    if said:
        if os.environ.get("CI") and os.getuid() == 0:
            pytest.fail(said)
        pytest.skip(f"no file system can be mounted: {said.strip()}")
    return target


@pytest.fixture
def small_disk(tmp_path):
    yield mount(tmp_path / "disk", "size=16k")
    subprocess.run(["umount", "-l", tmp_path / "disk"], check=True)


@pytest.fixture
def read_only_disk(tmp_path):
    yield mount(tmp_path / "disk", "ro,size=1m")
    subprocess.run(["umount", "-l", tmp_path / "disk"], check=True)


@pytest.mark.parametrize("name", ["count", "train", "changes", "export", "compare"])
def test_a_full_disk_is_an_error_and_keeps_the_old_file(name, folder, small_disk):
    (small_disk / "filler").write_bytes(bytes(8 << 10))
    arguments = list(COMMANDS[name])
    target = small_disk / arguments[arguments.index("-o") + 1]
    target.write_bytes(OLD)
    (small_disk / "more").write_bytes(bytes(4 << 10))
    arguments[arguments.index("-o") + 1] = target
    code, said = finish(arguments, folder)
    assert code == 1
    assert "No space left on device" in said
    assert str(target) in said
    assert target.read_bytes() == OLD
    assert list_new(small_disk) == sorted(["filler", "more", target.name])


@pytest.mark.parametrize("name", ["count", "train", "changes", "export", "compare"])
def test_a_read_only_disk_is_told_before_the_work(name, folder, read_only_disk):
    arguments = list(COMMANDS[name])
    target = read_only_disk / arguments[arguments.index("-o") + 1]
    arguments[arguments.index("-o") + 1] = target
    code, said = finish(arguments, folder)
    assert code == 1
    assert "not writable" in said
    assert str(target) in said


# Files that change while they are read


def write_large(path):
    rows = [(f"{text} " * 6, label) for text, label in make_documents(N_LARGE)]
    if path.suffix == ".parquet":
        texts, labels = zip(*rows, strict=True)
        pq.write_table(pa.table({"text": texts, "label": labels}), path, row_group_size=1000, compression="none")
    elif path.suffix == ".csv":
        path.write_text("text,label\n" + "".join(f"{text},{label}\n" for text, label in rows), encoding="utf-8")
    else:
        write_lines(path, rows)


def stop_while_reading(arguments, path, folder):
    """Start a command, and stop it in the middle of a file."""
    process = start(arguments, folder)
    end = time.monotonic() + 60
    while time.monotonic() < end and process.poll() is None:
        if any(position > BLOCK for position in read_so_far(process.pid, path)):
            break
        time.sleep(0.001)
    process.send_signal(signal.SIGSTOP)
    return process


def read_so_far(pid, path):
    """The positions of a process in an open file."""
    for link in Path(f"/proc/{pid}/fd").glob("*"):
        try:
            if link.resolve() == path:
                info = Path(f"/proc/{pid}/fdinfo/{link.name}").read_text()
                yield int(info.split("pos:")[1].split()[0])
        except (OSError, IndexError):
            continue


@pytest.mark.skipif(not Path("/proc/self/fdinfo").exists(), reason="positions in files, as Linux shows them")
@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_a_file_that_is_cut_while_it_is_read_is_an_error(ending, tmp_path):
    path = tmp_path / f"large.{ending}"
    write_large(path)
    process = stop_while_reading(["count", path, "-o", "new.counts"], path, tmp_path)
    size = path.stat().st_size
    ended = process.poll() is not None
    with path.open("r+b") as file:
        content = file.read()
        cut = size // 2 if ending == "parquet" else content.index(b"\n", size // 2) + 1  # at the end of a line
        file.truncate(cut)
    process.send_signal(signal.SIGCONT)
    _, said = process.communicate(timeout=60)
    assert b"Traceback" not in said
    if process.returncode == 0:  # it had read all
        assert ended or ts.Counts.load(tmp_path / "new.counts").n_docs == N_LARGE
    else:
        assert process.returncode == 1, said
        assert str(path) in said.decode()
        assert not (tmp_path / "new.counts").exists()


@pytest.mark.skipif(not Path("/proc/self/fdinfo").exists(), reason="positions in files, as Linux shows them")
@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_a_file_that_is_removed_while_it_is_read_is_read_to_its_end_or_missed(ending, tmp_path):
    path = tmp_path / f"large.{ending}"
    write_large(path)
    process = stop_while_reading(["count", path, "-o", "new.counts"], path, tmp_path)
    path.unlink()
    process.send_signal(signal.SIGCONT)
    _, said = process.communicate(timeout=60)
    assert b"Traceback" not in said
    if process.returncode == 0:
        assert ts.Counts.load(tmp_path / "new.counts").n_docs == N_LARGE
    else:
        assert str(path) in said.decode()
        assert not (tmp_path / "new.counts").exists()


# Two at the same time


def test_two_processes_may_write_one_file(folder):
    """The last one wins; the file is whole at any time."""
    both = [start(COMMANDS["count"], folder) for _ in range(2)]
    for process in both:
        _, said = process.communicate(timeout=60)
        assert process.returncode == 0, said
    assert ts.Counts.load(folder / "new.counts").n_docs == 600
    assert list_new(folder) == ["new.counts"]


def test_two_processes_may_share_a_journal(folder):
    arguments = ["compare", "mail.jsonl", *FEW, "--journal", "study.journal", "-o"]
    both = [start([*arguments, f"{n}.csv"], folder) for n in range(2)]
    for process in both:
        _, said = process.communicate(timeout=120)
        assert process.returncode == 0, said
    assert (folder / "0.csv").read_bytes() == (folder / "1.csv").read_bytes()


# Memory


# less than Python needs; than a library, which might not come back; than all of them
@pytest.mark.parametrize(("name", "megabytes"), [("count", 36), ("train", 450), ("compare", 700)])
def test_too_little_memory_is_an_error(name, megabytes, folder):
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))

    code, said = finish(COMMANDS[name], folder, preexec_fn=limit)
    assert code == 1, said
    assert "memory" in said.splitlines()[-1]
    assert not [one for one in list_new(folder) if "new." in one]


@pytest.mark.parametrize("name", ["train", "compare"])  # count: tests/stages/test_threads.py
def test_too_little_memory_for_the_work_is_an_error(name, folder):
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (1000 << 20, 1000 << 20))

    write_lines(folder / "large.jsonl", [(f"w{n} v{n} u{n} " * 40, "ab"[n % 2]) for n in range(60_000)])
    arguments = ["large.jsonl" if one == "mail.jsonl" else one for one in COMMANDS[name]]
    code, said = finish(arguments, folder, preexec_fn=limit)
    assert code == 1, said
    assert "memory" in said.splitlines()[-1]
    assert not [one for one in list_new(folder) if "new." in one]

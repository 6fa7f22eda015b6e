"""How the command lives and dies, in a process of its own: interrupts, closed pipes, terminals, how soon it answers."""

import contextlib
import json
import os
import random
import re
import select
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

pty = pytest.importorskip("pty", reason="terminals and signals as POSIX has them")

COMMAND = str(Path(sys.executable).with_name("termsieve"))
ROWS = b'{"text": "the quick brown fox", "label": "a"}\n{"text": "a lazy old dog", "label": "b"}\n'


@pytest.fixture
def mail(tmp_path):
    path = tmp_path / "mail.jsonl"
    path.write_bytes(ROWS * 500)
    return path


def words(n):
    """Rows of many different terms."""
    return b"".join(json.dumps({"text": f"w{i} v{i}", "label": "ab"[i % 2]}).encode() + b"\n" for i in range(n))


# Interrupts


def endless(process, stop):
    try:
        while not stop.is_set():
            process.stdin.write(ROWS * 1000)
    except (BrokenPipeError, ValueError):
        pass


@pytest.mark.parametrize("command", [["count", "-", "-o", "x.counts"], ["rank", "-", "-o", "x.csv"]])
def test_an_interrupt_ends_the_command_and_leaves_no_file(command, tmp_path):
    process = subprocess.Popen(
        [COMMAND, *command], cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    stop = threading.Event()
    feeder = threading.Thread(target=endless, args=(process, stop))
    feeder.start()
    try:
        assert b"text from the column" in process.stderr.readline()
        time.sleep(2)  # deep in the counting
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        process.wait(10)  # its input never ends; on a machine of its own it takes half a second
    finally:
        process.kill()
        stop.set()
        feeder.join()
    assert process.returncode == 130
    assert b"Traceback" not in process.stderr.read()
    assert list(tmp_path.iterdir()) == []
    for stream in (process.stdout, process.stderr):
        stream.close()
    with contextlib.suppress(BrokenPipeError):
        process.stdin.close()


START = "import os, sys; from termsieve._entry import main; os.write(1, b'!'); sys.argv[0] = 'termsieve'; main()"


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("command", [["scores"], ["rank", "-"]])
def test_an_interrupt_while_the_command_is_imported_is_quiet(command, seed):
    """At any moment from the first line of ours on: no traceback, and the code of an interrupt."""
    moment = random.Random(seed).random() * 0.5
    with subprocess.Popen(
        [sys.executable, "-c", START, *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout.read(1) == b"!"
        time.sleep(moment)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    # `scores` may be done by then; while Python itself ends, it dies of the signal, without a word
    assert process.returncode in ((0, 130, -signal.SIGINT) if command == ["scores"] else (130,)), said
    assert b"Traceback" not in said
    assert b"Exception" not in said


def test_an_interrupt_that_the_shell_ignores_stays_ignored(mail):
    """As in `nohup`, or a job in the background of a script."""
    code = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n" + START
    with subprocess.Popen(
        [sys.executable, "-c", code, "rank", str(mail)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout.read(1) == b"!"
        process.send_signal(signal.SIGINT)
        shown, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert b"quick" in shown


def test_the_script_starts_where_interrupts_are_quiet():
    import importlib.metadata
    import tomllib

    project = Path(__file__).parents[2] / "pyproject.toml"
    assert tomllib.loads(project.read_text("utf-8"))["project"]["scripts"] == {"termsieve": "termsieve._entry:main"}
    assert importlib.metadata.entry_points(group="console_scripts", name="termsieve")


def test_a_loop_that_hears_nothing_is_ended_too(tmp_path):
    """Python cannot run its handler while a compiled loop holds the main thread."""
    code = (
        "import hashlib, tempfile, termsieve.files as files\n"
        "from termsieve.cli.app import _end_soon_after_signals\n"
        "_end_soon_after_signals()\n"
        "handle, name = tempfile.mkstemp(dir='.'); files._unfinished.add(name)\n"
        "print('ready', flush=True)\n"
        "hashlib.pbkdf2_hmac('sha256', b'', b'', 10**9)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"ready\n"
        time.sleep(0.5)  # now it is in the loop
        os.kill(process.pid, signal.SIGINT)
        try:
            assert process.wait(10) == 130  # the loop would run for minutes
        finally:
            process.kill()
    assert list(tmp_path.iterdir()) == []


# Pipes


@pytest.mark.parametrize("how", ["tsv", "csv", "json", "table"])
def test_a_closed_pipe_is_no_error(how, tmp_path):
    (tmp_path / "x.jsonl").write_bytes(words(3_000))  # 6,000 terms: more than fits into a pipe
    process = subprocess.Popen(
        [COMMAND, "rank", tmp_path / "x.jsonl", "-n", "100000", "-q", "--format", how],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    process.stdout.read(10)
    process.stdout.close()
    assert process.wait(60) == 0
    assert process.stderr.read() == b""
    process.stderr.close()


def test_a_pipe_that_nobody_reads_is_no_error(mail):
    reading, writing = os.pipe()
    os.close(reading)
    for arguments in (["rank", mail, "-q"], ["--help"], ["scores", "bns"]):
        done = subprocess.run([COMMAND, *arguments], stdout=writing, stderr=subprocess.PIPE, check=False)
        assert (done.returncode, done.stderr) == (0, b"")
    os.close(writing)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_is_said(mail):
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([COMMAND, "rank", mail, "-q"], stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 1
    assert done.stderr == b"termsieve: No space left on device.\n"


def test_closed_streams(mail):
    done = subprocess.run(
        [COMMAND, "rank", mail], preexec_fn=lambda: os.closerange(1, 3), check=False
    )  # fmt: skip
    assert done.returncode == 0


def test_standard_input_gives_what_the_file_gives(mail):
    piped = subprocess.run([COMMAND, "rank", "-"], input=mail.read_bytes(), capture_output=True, check=True)
    named = subprocess.run([COMMAND, "rank", mail], capture_output=True, check=True)
    assert piped.stdout == named.stdout
    assert named.stdout.startswith(b"class\trank\tterm\tscore\t")


def test_data_are_utf8_whatever_the_locale(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("text,label\nnaïve 漢字,a\nplain,b\n", encoding="utf-8")
    for locale in ({"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0"}):
        done = subprocess.run([COMMAND, "rank", path], env={**os.environ, **locale}, capture_output=True, check=True)
        assert "漢字" in done.stdout.decode("utf-8")


# A terminal


def in_terminal(*arguments, columns=80):
    """What a terminal shows."""
    main, other = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm-256color"}
    environment.pop("NO_COLOR", None)
    process = subprocess.Popen([COMMAND, *map(str, arguments)], stdout=other, stderr=other, env=environment)
    os.close(other)
    shown = b""
    while select.select([main], [], [], 60)[0]:
        try:
            more = os.read(main, 65536)
        except OSError:  # the other end is closed
            break
        if not more:
            break
        shown += more
    os.close(main)
    assert process.wait(60) == 0
    return shown.decode("utf-8")


def plain(shown):
    """Without colours, and without what a progress bar has taken back."""
    assert not re.search("\x1b(?!\\[)", shown)  # only the sequences of the program itself
    return re.sub("\x1b\\[[0-9;?]*[A-Za-z]", "", shown)


@pytest.mark.parametrize("columns", [80, 120])
def test_a_terminal_shows_a_table_within_its_width(columns, tmp_path):
    path = tmp_path / "x.jsonl"
    hostile = ["\x1b]0;title\x07", "漢字" * 30, "שלום", "[red]x[/]", "long" * 40]
    rows = [{"text": word, "label": f"class {i}"} for i, word in enumerate(hostile)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    shown = in_terminal("rank", path, "--pattern", r"[\s\S]+", columns=columns)
    assert "\x1b]" not in shown
    assert "\x07" not in shown
    assert "\x1b[32m" in shown  # the bars are green
    text = plain(shown)
    from rich.cells import cell_len

    table = text[text.index("5 documents,") :]
    assert all(cell_len(line.rstrip()) <= columns for line in table.splitlines())
    assert "\\x1b]0;title\\x07" in table
    assert "[red]x[/]" in table
    assert "100 %" in table


def test_progress_is_for_terminals_only(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_bytes(words(5000))
    assert "counting" in in_terminal("rank", path)
    assert "counting" not in in_terminal("rank", path, "--quiet")
    done = subprocess.run([COMMAND, "rank", path], capture_output=True, text=True, check=True)
    assert done.stderr == "text from the column 'text', labels from 'label'\n"


# How soon


TINY_APP = """
import typer
app = typer.Typer()
app.command("one")(lambda: None)
app.command("two")(lambda: None)
app(["--help"])
"""
OUR_HELP = """
from termsieve._entry import main
main()
"""


def test_help_answers_soon():
    """Without the stages and what they need: hardly more is loaded than for two empty commands."""
    ours, tiny = (_list_modules(code) for code in (OUR_HELP, TINY_APP))
    assert not {"numpy", "pyarrow", "numba", "sklearn", "scipy"} & ours
    assert len(ours) < 1.4 * len(tiny)


def _list_modules(code):
    """What a program has loaded when it ends."""
    code = f"import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr)){code}"
    done = subprocess.run([sys.executable, "-c", code, "--help"], capture_output=True, text=True, check=True)
    assert "Usage" in done.stdout
    return set(done.stderr.split())

"""Damaged files: how they are made, and what a reader makes of them.

A reader may segfault, abort or hang on a damaged file, so each one is read in a child process. A child reads many, one
after the other; when it dies or hangs, the file that it had is blamed and a new child goes on with the next.

`DAMAGED_FILES` in the environment says how many of each kind are tried; the tests try a few, ``make damage`` thousands.
"""

from __future__ import annotations

import gc
import os
import pickle
import random
import resource
import select
import signal
import struct
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from termsieve.errors import TermsieveError

FILES = int(os.environ.get("DAMAGED_FILES", "60"))
SECONDS = 20.0  # for one file
MEMORY = 8 << 30  # address space of a child: what unpacks without end must be refused before this

ERROR, EQUAL, OTHER = "error of ours", "equal content", "other content"
FOREIGN, CRASH, HANG = "foreign exception", "crash", "hang"


def damaged(data: bytes, n: int = FILES, seed: int = 0) -> Iterator[bytes]:
    """Yield `n` damaged copies: bits flipped, bytes overwritten, pieces cut out, doubled, moved, or zeroed."""
    rng = random.Random(seed)
    for _ in range(n):
        yield rng.choice((_flip, _flip, _flip, _overwrite, _cut_end, _cut_out, _double, _zero, _number))(data, rng)


def _flip(data: bytes, rng: random.Random) -> bytes:
    copy = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 8))):
        copy[rng.randrange(len(copy))] ^= 1 << rng.randrange(8)
    return bytes(copy)


def _overwrite(data: bytes, rng: random.Random) -> bytes:
    at, length = rng.randrange(len(data)), rng.choice((1, 1, 2, 4, 16, 64))
    return data[:at] + rng.randbytes(min(length, len(data) - at)) + data[at + length :]


def _cut_end(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data))]


def _cut_out(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + data[at + rng.choice((1, 2, 8, 100)) :]


def _double(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data))
    end = at + rng.choice((1, 2, 8, 100))
    return data[:end] + data[at:]


def _zero(data: bytes, rng: random.Random) -> bytes:
    at, length = rng.randrange(len(data)), rng.choice((1, 4, 8, 64, 512))
    return data[:at] + bytes(min(length, len(data) - at)) + data[at + length :]


def _number(data: bytes, rng: random.Random) -> bytes:
    """Put an extreme number where a length or an offset may be."""
    code, value = rng.choice((("<i", -1), ("<i", 2**31 - 1), ("<q", -1), ("<q", 2**62), ("<q", 2**31), ("<i", 65536)))
    number = struct.pack(code, value)
    at = max(rng.randrange(len(data)) // 4 * 4 - 4, 0)
    return data[:at] + number + data[at + len(number) :]


def outcomes(
    files: Sequence[bytes],
    read: Callable[[Path], Any],
    path: Path,
    *,
    expected: Any = None,
    expect: Callable[[bytes], Any] | None = None,
) -> tuple[Counter[str], dict[int, str]]:
    """Read each file, written to `path`; count what came out, and say more of what must not come out.

    Content is compared with `expected`, or with what `expect` finds in the bytes by a way that is slow and plainly
    right; an exception of `expect` means that an error is what is expected.
    """
    found: Counter[str] = Counter()
    bad: dict[int, str] = {}
    done = 0
    while done < len(files):
        done = _run_child(files, done, read, path, (expected, expect), found, bad)
    return found, bad


def _run_child(files, first, read, path, truth, found, bad):  # type: ignore[no-untyped-def]
    """Read files from the first on in a child; returns the number of the file with which to go on."""
    reading, writing = os.pipe()
    gc.collect()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # threads of the test runner: the child has none of them
        child = os.fork()
    if child == 0:
        os.close(reading)
        _work(files, first, read, path, truth, writing)
    os.close(writing)
    done = first
    try:
        while done < len(files):
            if not select.select([reading], [], [], SECONDS)[0]:
                os.kill(child, signal.SIGKILL)
                _note(found, bad, done, HANG, f"more than {SECONDS} s")
                return done + 1
            if (outcome := _receive(reading)) is None:
                break
            _note(found, bad, done, *outcome)
            done += 1
    finally:
        os.close(reading)
        _, status = os.waitpid(child, 0)
    if done < len(files):
        _note(found, bad, done, CRASH, f"wait status {status}")
        done += 1
    return done


def _note(found: Counter[str], bad: dict[int, str], number: int, kind: str, more: str) -> None:
    found[kind] += 1
    if kind not in (ERROR, EQUAL):
        bad[number] = f"{kind}: {more}"


def _receive(pipe: int) -> tuple[str, str] | None:
    if not (head := os.read(pipe, 4)):
        return None
    size, data = struct.unpack("<i", head)[0], b""
    while len(data) < size:
        if not (more := os.read(pipe, size - len(data))):
            return None
        data += more
    return pickle.loads(data)


def _work(files, first, read, path, truth, pipe):  # type: ignore[no-untyped-def]
    """Read the files in this process, send what came out, and end."""
    try:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 2)  # what a library prints before it aborts
        for data in files[first:]:
            path.write_bytes(data)
            sent = pickle.dumps(_outcome(data, read, path, *truth))
            os.write(pipe, struct.pack("<i", len(sent)) + sent)
        os._exit(0)
    finally:
        os._exit(1)


def _outcome(data, read, path, expected, expect):  # type: ignore[no-untyped-def]
    refused = False
    if expect is not None:
        try:
            expected = expect(data)
        except Exception:  # noqa: BLE001 - whatever it is, the slow way does not read this
            refused = True
    try:
        content = read(path)
    except TermsieveError as error:
        return (ERROR, "") if expect is None or refused else (OTHER, f"an error where content was expected: {error}")
    except BaseException as error:  # noqa: BLE001 - all others are faults
        return FOREIGN, f"{type(error).__name__}: {error}"[:300]
    if refused:
        return OTHER, f"content where an error was expected: {content!r:.200}"
    return (EQUAL, "") if content == expected else (OTHER, f"{content!r:.200} and not {expected!r:.200}")

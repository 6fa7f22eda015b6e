"""How the benchmarks measure: rivals take turns, and the median counts."""

from __future__ import annotations

import gzip
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

DATA = Path(os.environ.get("TERMSIEVE_DATA") or "../shared/data")


def read_documents(name: str) -> list[dict[str, Any]]:
    """The documents of one of the corpora."""
    path = DATA / f"{name}.jsonl.gz"
    if not path.exists():
        sys.exit(f"{path} is not there: set TERMSIEVE_DATA to the folder with the corpora.")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def corpus(name: str) -> tuple[list[str], list[list[str]]]:
    """Texts and labels of one of the corpora."""
    documents = read_documents(name)
    return [document["text"] for document in documents], [document["labels"] for document in documents]


def interleaved(
    rivals: dict[str, Callable[[], object]], rounds: int = 5, clock: Callable[[], float] = time.perf_counter
) -> dict[str, float]:
    """Median seconds of each, measured in turns, after one round to warm up."""
    times: dict[str, list[float]] = {name: [] for name in rivals}
    for turn in range(rounds + 1):
        for name, run in rivals.items():
            start = clock()
            run()
            if turn:
                times[name].append(clock() - start)
    return {name: statistics.median(taken) for name, taken in times.items()}


def python(code: str, *arguments: str) -> str:
    """What a new Python process prints."""
    done = subprocess.run([sys.executable, "-c", code, *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def row(what: str, figure: str, aim: str = "") -> None:
    """One line of the report."""
    print(f"  {what:<66} {figure:>18}   {aim}", flush=True)


def title(text: str) -> None:
    """A heading of the report."""
    print(f"\n{text}", flush=True)

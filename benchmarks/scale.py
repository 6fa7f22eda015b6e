"""How cost grows: ``make bench-scale``. Text is generated, counted within a bound of memory, and checked.

Not a part of ``make test`` or ``make bench``: 10 GB of text take 13 GB of disk and many minutes. What was measured goes
to ``docs/results/scale.json``, from which ``docs/make_scale.py`` makes the figures of docs/scale.md.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from measure import row, title
from scale_corpus import spell

import termsieve as ts

MEMORY = "2GB"
PART = 10**8  # bytes of text in a file
SIZES = (1, 5, 20, 100)  # files that are counted
WIDE_TERMS = 20_000_000
PARTS = ("shapes", "growth", "large", "wide")


class Cost(NamedTuple):
    """What a process took."""

    seconds: float
    cpu: float
    peak_mb: float


def run(command: Sequence[str]) -> Cost:
    """Run a command to its end; its memory is the largest that was resident."""
    start = time.perf_counter()
    process = subprocess.Popen([*command], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(command[:6])} ... ended with {process.returncode}")
    return Cost(time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def termsieve(*arguments: str | Path) -> Cost:
    """Run a command of termsieve."""
    return run([sys.executable, "-m", "termsieve", *map(str, arguments), "-q"])


def call_generator(function: str, target: Path, size: int, **shape: Any) -> None:
    """Write a corpus or counts in another process: what a process has once taken counts as memory of its children."""
    call = f"import sys, pathlib; sys.path.insert(0, {str(Path(__file__).parent)!r}); import scale_corpus\n"
    call += f"scale_corpus.{function}(pathlib.Path({str(target)!r}), {size}, **{shape!r})"
    run([sys.executable, "-c", call])


def count(files: Sequence[Path], to: Path, *options: str) -> dict[str, Any]:
    """Count files, and return what that took and what came out."""
    cost = termsieve("count", *files, "-o", to, *options)
    with ts.CountsFile(to) as file:
        found = {"terms": file.n_terms, "documents": file.n_docs, "classes": file.n_classes}
    size = sum(file.stat().st_size for file in files)
    return {"bytes": size, **found, **cost._asdict(), "counts_bytes": to.stat().st_size}


def check_sample(counts: Path, sample: Path) -> int:
    """Compare the counts of every hundredth rank with those that the generator drew; returns how many terms."""
    with np.load(sample) as data:
        (ranks, classes), expected = data["arr_0"], data["arr_1"]
    distinct, owner = np.unique(ranks, return_inverse=True)
    terms = pa.array([spell(int(rank)) for rank in distinct], pa.large_string())
    found = np.zeros_like(expected)
    key = owner * 1000 + classes
    order = np.argsort(key)
    seen = 0
    with ts.CountsFile(counts) as file:
        for block in file.blocks():
            place = pc.index_in(block.term_array, value_set=terms).fill_null(-1).to_numpy()
            cells = block.cells.take(np.flatnonzero(place >= 0))
            mine = place[place >= 0][cells.terms] * 1000 + cells.classes
            at = np.searchsorted(key[order], mine)
            if (at == len(key)).any() or (key[order][at] != mine).any():
                sys.exit(f"{counts}: has cells of sampled terms that the generator did not draw")
            found[:, order[at]] += cells.values
            seen += int((place >= 0).sum())
    if not (found == expected).all():
        sys.exit(f"{counts}: differs from the naive count in {(found != expected).any(axis=0).sum():,} cells")
    return seen


def measure_growth(corpus: list[Path], sizes: Sequence[int], work: Path) -> list[dict[str, Any]]:
    title(f"Time and memory against size, {MEMORY}")
    rows = []
    for n in sizes:
        found = count(corpus[:n], work / f"{n}.counts", "--memory", MEMORY)
        rows.append(found)
        rate = found["bytes"] / found["seconds"] / 1e6
        row(f"{found['bytes'] / 1e9:.1f} GB, {found['terms']:,} terms, {found['peak_mb']:,.0f} MB",
            f"{found['seconds']:.1f} s", f"{rate:.0f} MB/s, {found['cpu']:.0f} s of CPU")  # fmt: skip
    logs = [(math.log(one["bytes"]), math.log(one["seconds"])) for one in rows[1:]]
    if len(logs) > 1:
        row("exponent of the growth of time, from 500 MB on", f"{np.polyfit(*zip(*logs, strict=True), 1)[0]:.2f}",
            "at most 1.1")  # fmt: skip
        base = rows[1]["bytes"] / rows[1]["seconds"]
        row("throughput of the largest, against that of 500 MB",
            f"{rows[-1]['bytes'] / rows[-1]['seconds'] / base:.2f}", "at least 0.5")  # fmt: skip
    return rows


def measure_shapes(work: Path) -> list[dict[str, Any]]:
    """Count 100 MB with more classes, fewer terms, one core."""
    title("100 MB of other shapes")
    rows = []
    shapes: list[dict[str, Any]] = [
        {"classes": 2},
        {"classes": 20},
        {"classes": 200},
        {"exponent": 1.5},
        {"exponent": 2.0},
    ]
    for shape in shapes:
        call_generator("write_corpus", work / "shape", PART, **shape)
        for threads in (1, 2):
            found = count([work / "shape" / "part000.arrow"], work / "shape.counts", "--threads", str(threads))
            rows.append({**shape, "threads": threads, **found})
            row(f"{shape}, {threads} threads, {found['terms']:,} terms", f"{found['seconds']:.1f} s",
                f"{found['cpu']:.1f} s of CPU, {found['peak_mb']:,.0f} MB")  # fmt: skip
        shutil.rmtree(work / "shape")
    return rows


def measure_large_file(large: Path, day: Path, work: Path) -> dict[str, Any]:
    title(f"A counts file of {large.stat().st_size / 1e9:.2f} GB")
    start = time.perf_counter()
    ts.CountsFile(large).close()
    opened = time.perf_counter() - start
    row("opened", f"{1000 * opened:.0f} ms")
    costs = {
        "rank --top 20 --overall": termsieve("rank", large, "--top", "20", "--overall", "-o", work / "top.csv"),
        "rank --top 20": termsieve("rank", large, "--top", "20", "-o", work / "top.csv"),
        "select -k 1000": termsieve("select", large, "-k", "1000", "-o", work / "terms.txt"),
        "merge with a day": termsieve("merge", large, day, "-o", work / "sum.counts"),
    }
    for name, cost in costs.items():
        row(name, f"{cost.seconds:.1f} s", f"{cost.cpu:.0f} s of CPU, {cost.peak_mb:,.0f} MB")
    return {"bytes": large.stat().st_size, "opened": opened, **{name: c._asdict() for name, c in costs.items()}}


def measure_wide_file(n_terms: int, work: Path) -> dict[str, Any]:
    """Rank a generated counts file of many terms in 100 classes, and add a day to it."""
    wide, day = work / "wide.counts", work / "wide-day.counts"
    call_generator("write_counts_file", wide, n_terms, seed=1)
    call_generator("write_counts_file", day, n_terms // 40, seed=2)
    found = measure_large_file(wide, day, work)
    wide.unlink()
    return {"terms": n_terms, **found}


def measure_text(folder: Path, sizes: Sequence[int], work: Path, *, large: bool) -> dict[str, Any]:
    """Count generated text of several sizes; check a sample of the largest, and use its counts file."""
    most = max(sizes)
    if not list(folder.glob("part*.arrow")):
        call_generator("write_corpus", folder, most * PART, seed=1, files=most)
    corpus = sorted(folder.glob("part*.arrow"))
    result: dict[str, Any] = {"growth": measure_growth(corpus, sizes, work)}
    counts = work / f"{most}.counts"
    if large:
        call_generator("write_corpus", work / "day", PART, seed=2)
        count([work / "day" / "part000.arrow"], work / "day.counts")
        result["large_file"] = measure_large_file(counts, work / "day.counts", work)
    if most == len(corpus):
        result["sampled"] = check_sample(counts, folder / "sample.npz")
        row("terms of the sample whose counts are those of a naive count", f"{result['sampled']:,}")
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, help="where the generated text is kept, or is already")
    parser.add_argument("--files", type=int, nargs="+", default=SIZES, help="how many, of 100 MB each, are counted")
    parser.add_argument("--without", nargs="*", default=(), choices=PARTS, help="what is not measured")
    parser.add_argument("--terms", type=int, default=WIDE_TERMS, help="of the counts file that is generated")
    parser.add_argument("--into", type=Path, default=Path(__file__).parent.parent / "docs" / "results" / "scale.json")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as temporary:
        work = Path(temporary)
        result = json.loads(given.into.read_text()) if given.into.exists() else {}
        result |= {"memory": MEMORY, "cores": os.cpu_count()}
        if "shapes" not in given.without:
            result["shapes"] = measure_shapes(work)
        if "wide" not in given.without:
            result["wide_file"] = measure_wide_file(given.terms, work)
        if "growth" not in given.without:
            folder = given.folder or work / "corpus"
            result |= measure_text(folder, given.files, work, large="large" not in given.without)
        given.into.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()

"""Documents to counts: against CountVectorizer, against `wc -w`, within memory, and from a cold start."""

from __future__ import annotations

import itertools
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
from measure import corpus, interleaved, python, row, title
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import LabelBinarizer

import termsieve as ts
from termsieve._kernels import use_way
from termsieve.counts import counting, tally

THREADS = 2
BIG_FILE = 2_000_000_000

PEAK_MEMORY = """
import sys, time
import termsieve as ts
from termsieve.counts import counting, matrices
ts.count(["warm up"], ["x"])
def rss():  # not ru_maxrss, which a child inherits from its parent
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024
before = rss()
start = time.perf_counter()
counts = ts.count(ts.read(sys.argv[1], label="labels"), threads=2)
print(before, rss() - before, time.perf_counter() - start, counts.n_docs, counts.n_terms)
"""

FIRST_CALL = """
import time
start = time.perf_counter()
import termsieve as ts
texts = ["the quick brown fox number %d jumps over the lazy dog" % i for i in range(1000)]
ts.count(texts, ["a", "b"] * 500)
print(time.perf_counter() - start)
"""


def main() -> None:
    texts, label_lists = corpus("20news_19997")
    labels = [first for first, *_ in label_lists]
    with use_way("compiled"):  # on a new machine the first count would be in plain Python
        ts.count(texts[:100], labels[:100])
    against_count_vectorizer(texts, labels)
    against_wc(texts, labels)
    other_scripts(texts, labels)
    against_reading()
    merging(texts, labels)
    shards(texts, labels)
    cold_start()
    big_file()


def against_count_vectorizer(texts: list[str], labels: list[str]) -> None:
    size = sum(len(text.encode()) for text in texts) / 1e6
    title(f"20 Newsgroups, {size:.0f} MB: texts to counts, {THREADS} threads, against CountVectorizer + product")
    for ngrams, aim in (((1, 1), "at least 20, aim 25"), ((1, 2), "at least 10")):
        analyzer = ts.Analyzer(ngram_range=ngrams)

        def theirs(ngrams: tuple[int, int] = ngrams) -> object:
            X = CountVectorizer(ngram_range=ngrams).fit_transform(texts)
            return LabelBinarizer(sparse_output=True).fit_transform(labels).T @ X

        def ours(analyzer: ts.Analyzer = analyzer) -> object:
            return ts.count(texts, labels, analyzer=analyzer, threads=THREADS)

        taken = interleaved({"ours": ours, "theirs": theirs}, rounds=5 if ngrams == (1, 1) else 3)
        row(
            f"n-grams {ngrams}: {taken['ours']:.3f} s against {taken['theirs']:.2f} s",
            f"{taken['theirs'] / taken['ours']:.1f} times",
            aim,
        )


def against_wc(texts: list[str], labels: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "all.txt")
        file.write_text("\n".join(texts), encoding="utf-8")
        taken = interleaved(
            {
                "ours": lambda: ts.count(texts, labels, threads=THREADS),
                "wc": lambda: subprocess.run(["wc", "-w", file], check=True, capture_output=True),
            }
        )
    locale = os.environ.get("LC_ALL") or os.environ.get("LANG") or "C"
    row(
        f"`wc -w`, locale {locale}: {taken['ours']:.3f} s against {taken['wc']:.3f} s",
        f"{taken['ours'] / taken['wc']:.2f} of its time",
        "aim 1",
    )


def cpu_seconds(rivals: dict[str, Callable[[], object]], rounds: int = 5) -> dict[str, float]:
    """Median seconds of the processor, measured in turns, after one round to warm up."""
    return interleaved(rivals, rounds, clock=time.process_time)


def other_scripts(texts: list[str], labels: list[str]) -> None:
    """The same words in Cyrillic letters, and with accents; all in Arrow, which has them in UTF-8."""
    letters = {chr(first + i): chr(other + i) for first, other in ((97, 0x430), (65, 0x410)) for i in range(26)}
    kinds = {
        "ASCII": texts,
        "Cyrillic": [text.translate(str.maketrans(letters)) for text in texts],
        "one accent per text": [f"é {text}" for text in texts],
        "one e in six with an accent": [re.sub("(e[^e]*e[^e]*e[^e]*e[^e]*e[^e]*)e", r"\1é", text) for text in texts],
    }
    tables = {
        name: pa.table({"text": pa.array(made, pa.large_string()), "label": labels}) for name, made in kinds.items()
    }
    taken = cpu_seconds(
        {name: lambda table=table: ts.count(ts.read(table), threads=1) for name, table in tables.items()}
    )
    title("The same words in other letters: CPU of counting, one thread")
    for name, table in tables.items():
        size = table.column("text").nbytes / tables["ASCII"].column("text").nbytes
        rate = taken["ASCII"] / taken[name]
        row(f"{name}: {taken[name]:.3f} s; words per second, of ASCII's", f"{rate:.2f}", "at least .7")
        row("  bytes per second, of ASCII's", f"{rate * size:.2f}")
    other_scripts_beside_peer(kinds, labels)


def other_scripts_beside_peer(kinds: dict[str, list[str]], labels: list[str]) -> None:
    """How many times faster than CountVectorizer, both from Python strings: other letters cost either more."""
    ours = {name: lambda made=made: ts.count(made[::4], labels[::4], threads=1) for name, made in kinds.items()}
    theirs = {name: lambda made=made: CountVectorizer().fit_transform(made[::4]) for name, made in kinds.items()}
    taken, peer = cpu_seconds(ours), cpu_seconds(theirs, rounds=3)
    times = {name: peer[name] / taken[name] for name in kinds}
    for name in kinds:
        share = times[name] / times["ASCII"]
        row(f"{name}: {times[name]:.1f} times CountVectorizer's rate; of ASCII's", f"{share:.2f}", "at least .7")


def against_reading() -> None:
    texts, label_lists = corpus("arxiv_titles")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "titles.parquet")
        parquet.write_table(pa.table({"text": texts, "labels": label_lists}), file)
        documents = ts.read(file, text="text", label="labels")
        rivals = {
            "reading": lambda: sum(batch.num_rows for batch in documents.batches()),
            "counting": lambda: ts.count(documents, threads=THREADS),
        }
        taken, cpu = interleaved(rivals), cpu_seconds(rivals)
    title(f"{len(texts):,} arXiv titles from Parquet, {THREADS} threads: reading and counting, against reading")
    row(
        f"{taken['counting']:.3f} s against {taken['reading']:.3f} s",
        f"{taken['counting'] / taken['reading']:.2f} times",
        "2.5",
    )
    row("  CPU", f"{cpu['counting'] / cpu['reading']:.2f} times")


def merging(texts: list[str], labels: list[str]) -> None:
    """CPU of what comes when all threads have counted."""
    merge, taken = counting.merge_tallies, dict[int, list[float]]()

    def timed(tallies: list[tally.Tally], *arguments: Any) -> Any:
        for one in tallies:
            one._sum_held()  # which is counting still
        start, threads = time.process_time(), len(tallies)
        merged = merge(tallies, *arguments)
        taken.setdefault(threads, []).append(time.process_time() - start)
        return merged

    counting.merge_tallies = timed
    try:
        for _ in range(5):
            for threads in (2, 8):
                ts.count(texts, labels, threads=threads)
    finally:
        counting.merge_tallies = merge
    two, eight = (statistics.median(taken[threads]) for threads in (2, 8))
    title("Merging what the threads have counted: CPU")
    row(f"8 threads {eight:.3f} s against 2 threads {two:.3f} s", f"{eight / two:.2f} times", "at most 1.5")


def shards(texts: list[str], labels: list[str]) -> None:
    """Counts of 1, 2, 3 and 7 shards, saved, are the same file."""
    rows = list(range(len(texts)))
    random.Random(0).shuffle(rows)
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for n in (1, 2, 3, 7):
            parts = [rows[i::n] for i in range(n)]
            counts = sum(ts.count([texts[i] for i in part], [labels[i] for i in part]) for part in parts)
            files.append(Path(folder, f"{n}.counts"))
            counts.save(files[-1])
        contents = {file.read_bytes() for file in files}
        row(
            f"saved counts of 1, 2, 3 and 7 shards, {files[0].stat().st_size / 1e6:.1f} MB",
            f"{len(contents)} distinct file(s)",
            "1",
        )


def cold_start() -> None:
    title("From a cold start, warm caches: medians of 5 new processes")
    command = str(Path(sys.executable).with_name("termsieve"))
    taken = interleaved(
        {
            "python -c pass": lambda: python("pass"),
            "import termsieve": lambda: python("import termsieve"),
            "termsieve --version": lambda: subprocess.run([command, "--version"], check=True, capture_output=True),
        }
    )
    row("import termsieve, with the start of Python", f"{taken['import termsieve']:.3f} s", "under 0.3")
    row("  of which Python itself", f"{taken['python -c pass']:.3f} s")
    row("termsieve --version", f"{taken['termsieve --version']:.3f} s", "under 0.5")
    first = sorted(float(python(FIRST_CALL)) for _ in range(5))[2]
    row("first count of a thousand documents, import included", f"{first:.2f} s", "within 1")


def big_file() -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "big.jsonl")
        with file.open("w", encoding="utf-8") as out:
            out.writelines(_growing_corpus(BIG_FILE))
        before, peak, seconds, n_docs, n_terms = map(float, python(PEAK_MEMORY, str(file)).split())
        size = file.stat().st_size / 1e9
    title(f"A JSON Lines file of {size:.2f} GB, {n_docs:,.0f} documents, {n_terms:,.0f} terms, {THREADS} threads")
    row(f"peak memory above the import baseline of {before:.0f} MB", f"{peak:.0f} MB", "within 1000")
    row("time", f"{seconds:.1f} s ({size * 1000 / seconds:.0f} MB/s)")


def _growing_corpus(size: int) -> Iterator[str]:
    """The corpora over and over; each document gets a word of its round and a word of its own."""
    names = ("20news_19997", "reuters21578", "enron1", "sms_spam", "ohsumed_20000", "arxiv_abstracts")
    documents = [document for name in names for document in zip(*corpus(name), strict=True)]
    written = 0
    for turn in itertools.count():
        for number, (text, labels) in enumerate(documents):
            line = json.dumps({"text": f"{text} round{turn} document{turn}x{number}", "labels": labels}) + "\n"
            written += len(line)
            if written > size:
                return
            yield line


if __name__ == "__main__":
    main()

"""A first command on a new machine: CPU of `termsieve rank` against a short scikit-learn script, in new processes."""

from __future__ import annotations

import gzip
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import DATA, row, title

ROUNDS = 9
COMMAND = str(Path(sys.executable).with_name("termsieve"))

# what a user of scikit-learn writes for the same answer
SCRIPT = """
import gzip, json, sys
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_selection import chi2
with gzip.open(sys.argv[1], "rt", encoding="utf-8") as lines:
    documents = [json.loads(line) for line in lines]
texts = [one["text"] for one in documents]
labels = [one["labels"][0] for one in documents]
vectorizer = CountVectorizer(binary=True)
X = vectorizer.fit_transform(texts)
scores, _ = chi2(X, labels)
names = vectorizer.get_feature_names_out()
for i in (-scores).argsort()[:20]:
    print(names[i], scores[i])
"""


def main() -> None:
    path = DATA / "sms_spam.jsonl.gz"
    with gzip.open(path) as lines:
        size = sum(map(len, lines))
    taken: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(ROUNDS + 1):
            empty = Path(folder, f"cache {turn}")
            rivals = {
                "scikit-learn": ([sys.executable, "-c", SCRIPT, str(path)], {}),
                "rank": ([COMMAND, "rank", str(path)], {}),
                "rank, empty cache": ([COMMAND, "rank", str(path)], {"NUMBA_CACHE_DIR": str(empty)}),
            }
            for name, (command, environment) in rivals.items():
                seconds = cpu_seconds(command, environment)
                if turn:  # the first round warms up
                    taken.setdefault(name, []).append(seconds)
    theirs, ours, first = (statistics.median(taken[name]) for name in ("scikit-learn", "rank", "rank, empty cache"))
    title(f"A first command, {size / 1e3:.0f} kB of JSON Lines: CPU of new processes, {ROUNDS} of each")
    row(f"rank {ours:.3f} s, a scikit-learn script {theirs:.3f} s", f"{ours / theirs:.2f} of its CPU", "at most .45")
    row(f"rank with an empty cache {first:.3f} s", f"{first / ours:.2f} of warm", "at most 1.2")


def cpu_seconds(command: list[str], environment: dict[str, str]) -> float:
    environment = os.environ | environment
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # else what pip has not compiled is compiled in every process
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()

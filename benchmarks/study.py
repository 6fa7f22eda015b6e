"""Studies: the grid of the GU paper, and a study that is killed again and again."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measure import corpus, row, title
from sklearn.model_selection import StratifiedShuffleSplit

import termsieve as ts

GU_SCORES = (
    "gu", "chi2", "ngl", "gss", "pmi", "info_gain_binary", "odds_ratio", "word_freq", "fisher", "bss_wss",
)  # fmt: skip
KILLS = 20

KILLED = """
import json, sys
import termsieve as ts
texts, labels, options = json.load(open(sys.argv[1]))
ts.compare(texts, labels, **options, journal=sys.argv[2], progress=False)
"""


def main() -> None:
    gu_grid()
    killed()


def gu_grid() -> None:
    texts, label_lists = corpus("20news_19997")
    labels = [first for first, *_ in label_lists]
    splits = StratifiedShuffleSplit(5, test_size=0.25, random_state=0)
    start = time.perf_counter()
    result = ts.compare(
        texts, labels, scores=GU_SCORES, classifiers=["multinomial_nb"], ks=range(10, 1001, 10), cv=splits,
        per_class=True, progress=sys.stderr.isatty(),
    )  # fmt: skip
    seconds = time.perf_counter() - start
    n = len(GU_SCORES) * 20 * 100 * 5
    title("The grid of the GU paper: 10 scores, 20 groups against the rest, 100 sizes, 5 repetitions")
    row(f"{n:,} classifiers, {result.table.num_rows:,} rows, from raw text", f"{seconds:.0f} s", "under 600")


def killed() -> None:
    texts, label_lists = corpus("sms_spam")
    labels = [first for first, *_ in label_lists]
    options = {
        "scores": ["chi2", "gu", "bns"], "classifiers": ["multinomial_nb", "logistic_regression"],
        "ks": [10, 20, 50, 100, 200, 500, 1000], "cv": 10, "repeats": 12,
    }  # fmt: skip
    rng = random.Random(0)
    with tempfile.TemporaryDirectory() as folder:
        given, journal = Path(folder, "study.json"), Path(folder, "study.sqlite")
        given.write_text(json.dumps([texts, labels, options]), encoding="utf-8")
        kills = 0
        while kills < KILLS:
            process = subprocess.Popen([sys.executable, "-c", KILLED, given, journal])
            time.sleep(1.5 + 1.5 * rng.random())
            if process.poll() is not None:
                break
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            kills += 1
        resumed = ts.compare(texts, labels, **options, journal=journal, progress=False).table
    same = resumed == ts.compare(texts, labels, **options, progress=False).table
    title(f"A study of {resumed.num_rows:,} rows, killed with SIGKILL at {kills} random moments and resumed each time")
    row("the table of an undisturbed run", "the same" if same else "ANOTHER", "the same")


if __name__ == "__main__":
    main()

"""Rules that look at terms together against scores that rank them one by one: F1 at each number of terms, and time.

``python benchmarks/redundancy.py --json docs/results/redundancy.json`` measures them, and
``python docs/make_redundancy.py`` makes the tables of docs/redundancy.md from that file. Rankings see the training
documents only. Where a corpus has a given split, that is used; else five folds. ``--only sms_spam`` takes
one corpus, to try it.
"""

from __future__ import annotations

import argparse
import datetime as dt
import gzip
import json
import time
from pathlib import Path
from typing import Any

from measure import DATA, title
from peers import describe_commit, describe_machine

import termsieve as ts

KS = (10, 20, 50, 100, 200, 500, 1000)
CLASSIFIERS = ("multinomial_nb", "linear_svm")
R10 = {"earn", "acq", "money-fx", "grain", "crude", "trade", "interest", "ship", "wheat", "corn"}
CORPORA = {
    "20news_bydate": ("20 Newsgroups by date", "split"),
    "reuters21578": ("Reuters, ten topics, ModApte", "split"),
    "ohsumed_20000": ("OHSUMED, 23 classes", "split"),
    "sms_spam": ("SMS", 5),
    "enron1": ("Enron1", 5),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="file for the results")
    parser.add_argument("--only", choices=CORPORA, help="one corpus")
    given = parser.parse_args()
    machine = describe_machine()  # its load is that before the work
    tables = {shown: measure(name, shown, cv) for name, (shown, cv) in CORPORA.items() if given.only in (None, name)}
    result = {
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "commit": describe_commit(),
        "machine": machine,
        "ks": KS,
        "corpora": tables,
    }
    if given.json:
        given.json.write_text(json.dumps(result, indent=1) + "\n", "utf-8")


def read(name: str) -> tuple[list[str], list[list[str]], list[str | None]]:
    """Texts, labels and parts of a corpus."""
    with gzip.open(DATA / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        documents = [json.loads(line) for line in lines]
    if name == "reuters21578":
        for one in documents:
            one["labels"] = sorted(R10 & set(one["labels"]))
        documents = [one for one in documents if one["split"] and one["labels"]]
    return [one["text"] for one in documents], [one["labels"] for one in documents], [one["split"] for one in documents]


def measure(name: str, shown: str, cv: Any) -> dict[str, Any]:
    texts, labels, parts = read(name)
    several = any(len(one) > 1 for one in labels)
    gain = "info_gain_binary" if several else "info_gain"
    contenders = [
        "cmim", "jmi", "mrmr", 'mrmr(form="quotient")', "fcbf", "chi2", gain,
        ts.Contender("chi2 in turn", "chi2", rule="round_robin(1000)"),
    ]  # fmt: skip
    if not several and len({one for one, *_ in labels}) > 2:  # else these are the same
        contenders += ["cmim(in_turn=True)", "mrmr(in_turn=True)", "jmi(in_turn=True)"]
    start = time.process_time()
    result = ts.compare(
        texts, labels if several else [one for one, *_ in labels], scores=contenders, classifiers=CLASSIFIERS, ks=KS,
        cv=parts if cv == "split" else cv, sample=None, threads=1, progress=False, excerpts=False,
    )  # fmt: skip
    seconds = time.process_time() - start
    title(f"{shown}: {len(texts):,} documents, {result.settings['n_splits']} split(s), {seconds:.0f} s of CPU")
    tables = {model: show(result, model) for model in CLASSIFIERS}
    errors = [row["standard_error"] for row in result.summary().to_pylist() if row["k"] in KS and row["standard_error"]]
    return {
        "documents": len(texts),
        "classes": len({label for one in labels for label in one}),
        "several_labels": several,
        "splits": result.settings["n_splits"],
        "cpu": seconds,
        "standard_errors": [min(errors), max(errors)] if errors else None,
        "f1": tables,
        "ranking_cpu": show_seconds(result),
    }


def show(result: ts.Comparison, model: str) -> dict[str, list[float]]:
    """Print macro F1 of one classifier, and the standard error over the folds where there are several."""
    rows = [row for row in result.summary().to_pylist() if row["classifier"] == model]
    print(f"\n| {model} | " + " | ".join(f"{k:,}" for k in KS) + " |")
    print("|---" * (len(KS) + 1) + "|")
    best = {k: max(row["mean"] for row in rows if row["k"] == k) for k in KS}
    table = {}
    for name in result.scores:
        means = {row["k"]: row["mean"] for row in rows if row["score"] == name}
        table[name] = [means[k] for k in KS]
        cells = [f"**{means[k]:.3f}**" if means[k] > best[k] - 5e-4 else f"{means[k]:.3f}" for k in KS]
        print(f"| {name} | " + " | ".join(cells) + " |")
    errors = [row["standard_error"] for row in rows if row["standard_error"]]
    if errors:
        print(f"\nStandard errors over the folds: {min(errors):.3f} to {max(errors):.3f}.", flush=True)
    return table


def show_seconds(result: ts.Comparison) -> dict[str, float]:
    """Print the CPU seconds of each ranking, for one split."""
    seconds = {}
    for name in result.scores:
        taken = [value for key, value in result.seconds.items() if key.split(" ", 2)[2] == f"{name} ranking"]
        seconds[name] = sum(taken) / len(taken)
    print(
        "\nCPU seconds of a ranking: " + ", ".join(f"{name} {value:.2f}" for name, value in seconds.items()), flush=True
    )
    return seconds


if __name__ == "__main__":
    main()

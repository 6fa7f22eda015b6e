"""termsieve beside its peers: the same data, in one run, taking turns; whether their numbers are those of the formula.

``python benchmarks/peers.py`` makes an environment for each peer under ``.venv-peers`` (``--environments FOLDER`` for
others that are there), runs every piece of `peer_work` in processes of its own, in turns, and writes the results, from
which docs/make_benchmarks.py makes the page; a line for the commit is added to the history beside them. ``--install``
only makes the environments; ``--documents 3000 -o try.json`` takes a part of the data, to try it. ``--keep FOLDER``
keeps what each round took, so that a run that was stopped goes on, in another hour: figures of one run are better.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import platform
import random
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from measure import read_documents
from peer_work import ORDERED, WEKA_JAR, WORK

import termsieve as ts

HERE = Path(__file__).parent
RESULTS = HERE.parent / "docs" / "results" / "benchmarks.json"
HISTORY = RESULTS.with_name("benchmarks_history.jsonl")
CORPUS = "20news_bydate"
FEWER = 4000  # documents of the cross-validation
TABLE = (2000, 500)  # documents and terms of the table of 0 and 1
ROUNDS = 3
MEASURED = ("seconds", "cpu", "first_seconds", "first", "memory")
LONG = 8.0  # seconds of the first call: what takes longer is run in one round only
ENVIRONMENT = {**os.environ, "POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

# what each peer needs; old releases where it does not work with today's, packages that it forgets to name
PEERS = {
    "scikit-learn": ("scikit-learn",),
    "scipy": ("scipy",),
    "statsmodels": ("statsmodels",),
    "polars": ("polars",),
    "DuckDB": ("duckdb",),
    "NLTK": ("nltk", "numpy"),
    "scikit-feature": ("skfeature-chappers",),
    "ITMO_FS": ("ITMO_FS",),
    "mrmr-selection": ("mrmr-selection",),
    "TextFeatureSelection": ("TextFeatureSelection", "scikit-learn<1.2", "pandas<2", "numpy<2", "scipy<1.12"),
    "scattertext": ("scattertext", "six"),
    "Orange3": ("Orange3",),
    "Spark": ("pyspark>=4", "numpy"),
}
WEKA = {
    "chi2": "ChiSquaredAttributeEval",
    "gain": "InfoGainAttributeEval",
    "gain ratio": "GainRatioAttributeEval",
    "uncertainty": "SymmetricalUncertAttributeEval",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--environments", type=Path, default=HERE.parent / ".venv-peers")
    parser.add_argument("--install", action="store_true", help="make the environments, and stop")
    parser.add_argument("--documents", type=int, help="take so many only, to try it")
    parser.add_argument("--keep", type=Path, help="folder for the data and for what each round took")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("-o", "--output", type=Path, default=RESULTS)
    given = parser.parse_args()
    pythons, failed = make_environments(given.environments)
    if given.install:
        return
    with nullcontext(given.keep) if given.keep else tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.mkdir(exist_ok=True)
        shapes = write_data(folder, given.documents)
        rows = run_in_turns(folder, pythons, failed, given.rounds)
        mark_agreement(folder, rows)
        orders = compare_orders(folder)
        checks = check_numbers(folder)
    result = {
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "commit": describe_commit(),
        "machine": describe_machine(),
        "data": shapes,
        "rows": rows,
        "checks": checks,
        "orders": orders,
        "failed": failed,
    }
    given.output.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    print(given.output)
    if given.output == RESULTS:
        add_to_history(result)


def add_to_history(result: dict[str, Any]) -> None:
    """Add a line with the CPU seconds of this commit, first and later calls; one that was there is replaced."""
    seconds: dict[str, dict[str, list[float]]] = {}
    for row in result["rows"]:
        seconds.setdefault(row["task"], {})[row["peer"]] = [row["first"], row["cpu"]]
    line = {name: result[name] for name in ("date", "commit")} | {"load": result["machine"]["load"], "cpu": seconds}
    lines = HISTORY.read_text("utf-8").splitlines() if HISTORY.exists() else []
    lines = [one for one in lines if json.loads(one)["commit"] != result["commit"]]
    HISTORY.write_text("".join(f"{one}\n" for one in (*lines, json.dumps(line))), "utf-8")


# ------------------------------------------------------------------ environments


def make_environments(folder: Path) -> tuple[dict[str, Path], dict[str, str]]:
    """The Python of each peer, and why others have none."""
    pythons, failed = {"termsieve": Path(sys.executable)}, {}
    for peer, packages in PEERS.items():
        python = folder / peer / "bin" / "python"
        done = folder / peer / ".ready"
        if not done.exists():
            print(f"installing {peer}", flush=True)
            try:
                run(sys.executable, "-m", "venv", str(folder / peer))
                run(str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages)
            except subprocess.CalledProcessError as error:
                failed[peer] = find_reason(error)
                continue
            except subprocess.TimeoutExpired as error:
                failed[peer] = f"not installed within {error.timeout:.0f} s"
                continue
            done.touch()
        pythons[peer] = python
    for peer, command in (("R", "Rscript"), ("Weka", "javac"), ("Spark", "java")):
        try:
            run(command, "--version")
            pythons.setdefault(peer, Path(sys.executable))
        except (OSError, subprocess.CalledProcessError):
            failed[peer] = f"`{command}` is not installed"
            pythons.pop(peer, None)
    if "Weka" in pythons and not WEKA_JAR.exists():
        failed["Weka"] = f"the Debian package `weka` is not installed: no {WEKA_JAR}"
        del pythons["Weka"]
    failed["quanteda"] = find_quanteda()
    return pythons, {peer: reason for peer, reason in failed.items() if reason}


def find_quanteda() -> str:
    """Why quanteda is not run: Debian does not have it, so R has it only where somebody has compiled it."""
    try:
        run("Rscript", "-e", "library(quanteda.textstats)")
    except OSError:
        return "R is not installed, and Debian has no package of quanteda"
    except subprocess.CalledProcessError as error:
        return f"Debian has no package of it, and R does not find one: {find_reason(error)}"
    return "installed, but this benchmark does not run it yet"


def run(*command: str) -> str:
    """What a command prints."""
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=ENVIRONMENT, timeout=900)
    return done.stdout


def find_reason(error: subprocess.CalledProcessError) -> str:
    """The line of an error message that says most."""
    lines = [line.strip() for line in str(error.stderr).splitlines() if line.strip()]
    place = max((i for i, line in enumerate(lines) if "rror" in line), default=None)
    if place is None:
        return "no message"
    said = lines[place : place + 2] if lines[place].endswith(":") else lines[place : place + 1]  # R goes on below
    return re.sub(r"/\S*/", "", " ".join(said))[:300]


# ------------------------------------------------------------------ data


def write_data(folder: Path, n_documents: int | None) -> dict[str, Any]:
    """Write the data of each task, and return what they are."""
    documents = [one for one in read_documents(CORPUS) if one["split"] == "train"]
    random.Random(0).shuffle(documents)
    documents = documents[:n_documents]
    texts, labels = [one["text"] for one in documents], [one["labels"][0] for one in documents]
    (folder / "texts.json").write_text(json.dumps({"texts": texts, "labels": labels}), "utf-8")
    fewer = {"texts": texts[:FEWER], "labels": labels[:FEWER]}
    (folder / "fewer_texts.json").write_text(json.dumps(fewer), "utf-8")
    vectorizer = ts.TermVectorizer(k="all")
    X = vectorizer.fit_transform(texts, labels).tocsr()
    X.data[:] = 1
    classes, y = np.unique(labels, return_inverse=True)
    np.savez(folder / "sparse.npz", data=X.data, indices=X.indices, indptr=X.indptr, shape=X.shape, y=y)
    n_docs, n_terms = min(TABLE[0], len(texts)), TABLE[1]
    of_term = np.asarray(X[:n_docs].sum(axis=0)).ravel()
    of_term[of_term == n_docs] = 0  # a term that all documents have tells nothing, and stops some peers
    frequent = np.sort(np.argsort(-of_term, kind="stable")[:n_terms])
    table = X[:n_docs][:, frequent].toarray().astype(np.int64)
    terms = vectorizer.get_feature_names_out()[frequent].astype(str)
    np.savez(folder / "table.npz", X=table, y=y[:n_docs], terms=terms)
    write_arff(folder / "table.arff", table, y[:n_docs])
    return {
        "corpus": CORPUS,
        "documents": len(texts),
        "characters": sum(map(len, texts)),
        "classes": len(classes),
        "terms": X.shape[1],
        "fewer_documents": len(fewer["texts"]),
        "table": [n_docs, len(terms)],
    }


def write_arff(path: Path, X: Any, y: Any) -> None:
    """Write a table of 0 and 1 in Weka's format."""
    classes = ",".join(str(one) for one in range(y.max() + 1))
    lines = ["@relation table", *(f"@attribute x{i} {{0,1}}" for i in range(X.shape[1]))]
    lines += [f"@attribute class {{{classes}}}", "@data"]
    lines += [",".join(map(str, (*row, label))) for row, label in zip(X.tolist(), y.tolist(), strict=True)]
    path.write_text("\n".join(lines) + "\n", "utf-8")


# ------------------------------------------------------------------ the run


def run_in_turns(folder: Path, pythons: dict[str, Path], failed: dict[str, str], n_rounds: int) -> list[dict[str, Any]]:
    """What each peer takes for each task: the median of the rounds."""
    jobs = {key: [str(pythons[env]), "-P", str(HERE / "peer_work.py"), *key, str(folder)]
            for key in WORK if (env := key[0].split(",")[0]) in pythons}  # fmt: skip
    if "Weka" in pythons:
        run("javac", "-cp", str(WEKA_JAR), "-d", str(folder), str(HERE / "PeerWeka.java"))
        java = ["java", "-XX:+UseSerialGC", "-cp", f"{WEKA_JAR}:{folder}", "PeerWeka", str(folder / "table.arff")]
        jobs |= {("Weka", task): [*java, name] for task, name in WEKA.items()}
    taken: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for turn in range(n_rounds):
        for (peer, task), command in jobs.items():
            earlier = taken.setdefault((peer, task), [])
            if turn and (not earlier or earlier[0]["first_seconds"] > LONG or not is_timed(task)):
                continue
            kept = folder / f"{turn} {peer} {task}.round.json"
            try:
                one = json.loads(kept.read_text("utf-8") if kept.exists() else run(*command).splitlines()[-1])
            except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
                reason = find_reason(error) if isinstance(error, subprocess.CalledProcessError) else "over 5 minutes"
                failed[f"{peer}, {task}"] = reason
                continue
            if "values" in one:
                Path(folder, f"{peer} {task}.json").write_text(json.dumps(one.pop("values")), "utf-8")
            kept.write_text(json.dumps(one), "utf-8")
            earlier.append(one)
            times = f"{one['first']:9.3f} s CPU first{one['cpu']:9.3f} later" if is_timed(task) else ""
            print(f"  {turn + 1} {task:<12}{peer:<26}{times}", flush=True)
    return [summarize(peer, task, rounds) for (peer, task), rounds in taken.items() if rounds and is_timed(task)]


def is_timed(task: str) -> bool:
    return task in ("count", "sparse", "chi2", "gain", "choose", "validate")


def summarize(peer: str, task: str, rounds: list[dict[str, Any]]) -> dict[str, Any]:
    """One row of the result."""
    how = WORK[peer, task].how if (peer, task) in WORK else WEKA[task]
    middle = {name: round(statistics.median(one[name] for one in rounds), 5) for name in MEASURED}
    return {
        "task": task, "peer": peer, "how": how, "version": rounds[0]["version"], "rounds": len(rounds),
        "later_calls": rounds[0]["later_calls"], **middle,
    }  # fmt: skip


def describe_commit() -> str:
    try:
        return run("git", "-C", str(HERE), "describe", "--always", "--dirty", "--abbrev=10").strip()
    except (OSError, subprocess.CalledProcessError):
        return "not in a repository"


def describe_machine() -> dict[str, Any]:
    """Cores, processor and system, without the name of the machine."""
    models = re.findall(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text("utf-8"))
    pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    return {
        "cores": os.cpu_count(),
        "processor": models[0] if models else platform.machine(),
        "memory_gb": round(pages * size / 2**30),
        "system": platform.system(),
        "python": platform.python_version(),
        "load": round(os.getloadavg()[1], 1),
    }


# ------------------------------------------------------------------ whether the numbers are the same


def read_numbers(folder: Path, peer: str, task: str) -> Any:
    """What a peer left, or None."""
    path = folder / f"{peer} {task}.json"
    return json.loads(path.read_text("utf-8")) if path.exists() else None


def mark_agreement(folder: Path, rows: list[dict[str, Any]]) -> None:
    """Say of each row of counts and of choices how it compares with ours; scores are checked apart."""
    ours = {(label, term): n for label, term, n in read_numbers(folder, "termsieve", "count")}
    for row in rows:
        numbers = read_numbers(folder, row["peer"], row["task"])
        if row["peer"].startswith("termsieve"):
            row["agrees"] = "-"
        elif row["task"] == "count" and numbers:
            theirs = {(label, term): n for label, term, n in numbers}
            differing = sum(theirs.get(key) != ours.get(key) for key in theirs.keys() | ours.keys())
            row["agrees"] = "all the same" if not differing else f"{differing:,} of {len(ours):,} cells differ"
        elif row["task"] == "choose":
            _, _, rule = row["peer"].lower().partition(", ")
            row["agrees"] = describe_order(
                numbers, read_numbers(folder, f"termsieve, {rule}" if rule else "termsieve", "choose")
            )
        elif row["task"] == "validate":
            row["agrees"] = ", ".join(f"{value:.3f} at {int(k):,}" for k, value in numbers.items())
    for row in rows:
        if row["task"] == "validate" and row["peer"] == "termsieve":
            numbers = read_numbers(folder, "termsieve", "validate")
            row["agrees"] = ", ".join(f"{value:.3f} at {int(k):,}" for k, value in numbers.items())


def describe_order(theirs: list[int], ours: list[int]) -> str:
    """How many terms are the same, and how many of the first stand in the same order."""
    if theirs == ours:
        return f"all {len(ours)} the same, in the same order"
    ahead = next((i for i, pair in enumerate(zip(theirs, ours, strict=False)) if len(set(pair)) > 1), len(ours))
    first = f"the first {ahead} in the same order" if ahead > 1 else "in another order"
    return f"{len(set(theirs) & set(ours))} of {len(ours)} the same, {first}"


def compare_orders(folder: Path) -> list[dict[str, Any]]:
    """The order of the terms that each rule takes, in a library that is not timed at it."""
    ours, theirs = (read_numbers(folder, peer, "order") for peer in ("termsieve", "ITMO_FS"))
    if theirs is None:
        return []
    return [
        {"rule": rule, "peer": "ITMO_FS", "documents": ORDERED, "agrees": describe_order(order, ours[rule])}
        for rule, order in theirs.items()
    ]


@dataclass(frozen=True)
class Check:
    """One of our scores beside one of theirs."""

    score: str
    peer: str
    task: str
    name: str
    ours: Callable[[Ours], Any]
    why: str
    relation: str = "the same"


class Ours:
    """Our scores of the table."""

    def __init__(self, X: Any, y: Any, terms: Any) -> None:
        self.counts = ts.Counts.from_matrix(X, [f"{one:03}" for one in y], terms)  # in the order of numbers
        self.y, self.n = y, len(y)
        self.of_term = X.sum(axis=0)
        self.n_classes = int(y.max()) + 1

    def overall(self, spelling: str) -> Any:
        return ts.score(self.counts, spelling).overall()

    def first_class(self, spelling: str) -> Any:
        return ts.score(self.counts, spelling).of_class(0)

    def each_class(self, spelling: str) -> Any:
        scores = ts.score(self.counts, spelling)
        return np.array([scores.of_class(c) for c in range(self.n_classes)])

    def whole_table_chi2(self) -> Any:
        """Chi-square of presence against all classes: each class against the rest, weighted by the rest."""
        return (1 - np.bincount(self.y) / self.n) @ self.each_class("chi2")

    def present_half_of_chi2(self) -> Any:
        return self.whole_table_chi2() * (1 - self.of_term / self.n)


CONVERTED = "converted"
IN_BITS = "theirs in bits, ours in nats: ours / ln 2"
HALF = (
    "scikit-learn's formula sums over the documents with the term only, not over those without: "
    "ours for the whole table x (1 - df / N). The rarer the term, the smaller the difference"
)
WHOLE = "theirs is of the table term x all classes: the sum over the classes of ours x (1 - P(c))"


CHECKS = (
    Check("chi2", "scipy", "numbers", "chi2_contingency", lambda o: o.first_class("chi2"), "correction=False"),
    Check(
        "chi2", "scipy", "numbers", "chi2_contingency, Yates", lambda o: o.first_class("chi2"),
        "scipy's default takes 0.5 off each deviation in a table of 2 x 2 (Yates); ours does not", "another formula",
    ),
    Check("chi2", "R", "numbers", "chisq.test", lambda o: o.first_class("chi2"), "correct=FALSE, one class"),
    Check("chi2", "NLTK", "chi2", "", lambda o: o.each_class("chi2"), "each class against the rest"),
    Check(
        "chi2", "TextFeatureSelection", "chi2", "", lambda o: o.each_class("chi2").max(axis=0),
        "theirs for all classes is the largest; ours by default the weighted mean: chi2 with the aggregation max",
    ),
    Check("chi2", "statsmodels", "numbers", "Table.test_nominal_association", Ours.whole_table_chi2, WHOLE, CONVERTED),
    Check("chi2", "Weka", "chi2", "", Ours.whole_table_chi2, WHOLE, CONVERTED),
    Check("chi2", "scikit-learn", "chi2", "", Ours.present_half_of_chi2, HALF, CONVERTED),
    Check("chi2", "scikit-feature", "chi2", "", Ours.present_half_of_chi2, "calls scikit-learn's", CONVERTED),
    Check("chi2", "ITMO_FS", "chi2", "", Ours.present_half_of_chi2, "scikit-learn's formula", CONVERTED),
    Check("chi2", "Orange3", "chi2", "", Ours.present_half_of_chi2, "calls scikit-learn's", CONVERTED),
    Check(
        "g_test", "scipy", "numbers", "log-likelihood", lambda o: o.first_class("g_test"),
        "chi2_contingency(lambda_='log-likelihood', correction=False)",
    ),
    Check("g_test", "NLTK", "numbers", "likelihood_ratio", lambda o: o.first_class("g_test"), "one class"),
    Check(
        "fisher_exact", "scipy", "numbers", "fisher_exact", lambda o: 10.0 ** -o.first_class("fisher_exact"),
        "alternative='greater'; ours is minus the decimal logarithm of that p", CONVERTED,
    ),
    Check(
        "fisher_exact", "R", "numbers", "fisher.test", lambda o: 10.0 ** -o.first_class("fisher_exact"),
        "alternative='greater'; ours is minus the decimal logarithm of that p", CONVERTED,
    ),
    Check(
        "odds_ratio(smoothing=0)", "statsmodels", "numbers", "Table2x2.oddsratio",
        lambda o: o.first_class("odds_ratio(smoothing=0)"),
        "the sample's ratio, not the conditional estimate of R's fisher.test",
    ),
    Check(
        "welch_t(on='presence')", "scipy", "numbers", "ttest_ind", lambda o: o.first_class('welch_t(on="presence")'),
        "ttest_ind(equal_var=False)",
    ),
    Check(
        "bss_wss(on='presence')", "scikit-learn", "numbers", "f_classif",
        lambda o: o.overall('bss_wss(on="presence")') * (o.n - o.n_classes) / (o.n_classes - 1),
        "F is the ratio of mean squares, ours that of sums: ours x (N - m) / (m - 1)", CONVERTED,
    ),
    Check("info_gain", "scikit-learn", "gain", "", lambda o: o.overall("info_gain"), "nats, all classes"),
    Check("info_gain", "ITMO_FS", "gain", "", lambda o: o.overall("info_gain"), "nats"),
    Check("info_gain", "Weka", "gain", "", lambda o: o.overall("info_gain") / np.log(2), IN_BITS, CONVERTED),
    Check("info_gain", "Orange3", "gain", "", lambda o: o.overall("info_gain") / np.log(2), IN_BITS, CONVERTED),
    Check("info_gain", "scikit-feature", "gain", "", lambda o: o.overall("info_gain") / np.log(2), IN_BITS, CONVERTED),
    Check(
        "info_gain", "TextFeatureSelection", "gain", "", lambda o: o.each_class("info_gain_binary").max(axis=0),
        "theirs sums over the documents of the class only, and leaves out the other half of the table",
        "another formula",
    ),
    Check("gain_ratio", "Weka", "gain ratio", "", lambda o: o.overall("gain_ratio"), ""),
    Check("gain_ratio", "Orange3", "numbers", "GainRatio", lambda o: o.overall("gain_ratio"), ""),
    Check("symmetrical_uncertainty", "Weka", "uncertainty", "", lambda o: o.overall("symmetrical_uncertainty"), ""),
    Check(
        "symmetrical_uncertainty", "scikit-feature", "numbers", "su_calculation",
        lambda o: o.overall("symmetrical_uncertainty"), "su_calculation",
    ),
    Check(
        "symmetrical_uncertainty", "ITMO_FS", "numbers", "su_measure", lambda o: o.overall("symmetrical_uncertainty"),
        "theirs is (H(x) + H(y) - H(.|.)) / (H(x) + H(y)), without H of the other and the factor 2 of its own "
        "documentation: not 0 for an independent term", "another formula",
    ),
    Check(
        "pmi(floor=0)", "NLTK", "numbers", "pmi", lambda o: o.first_class("pmi(floor=0)") / np.log(2),
        IN_BITS + "; one class, terms that it has", CONVERTED,
    ),
    Check(
        "pmi(floor=0)", "TextFeatureSelection", "numbers", "MI", lambda o: o.each_class("pmi(floor=0)").max(axis=0),
        "what it calls mutual information is that of one cell, the largest of the classes; mutual_info_classif is the "
        "mean over all cells: our info_gain",
    ),
    Check(
        "log_odds_dirichlet", "scattertext", "numbers", "log odds, flat prior",
        lambda o: o.first_class('log_odds_dirichlet(prior="flat", weight=0.01)'),
        "the same difference of log odds; their variance has all four cells, ours the two of the paper's "
        "approximation", "another formula",
    ),
)  # fmt: skip


def check_numbers(folder: Path) -> list[dict[str, Any]]:
    """The largest difference of each score from that of a peer, over all terms of the table."""
    stored = np.load(folder / "table.npz")
    ours, terms, found = Ours(stored["X"], stored["y"], stored["terms"]), stored["terms"], []
    for check in CHECKS:
        numbers = read_numbers(folder, check.peer, check.task)
        if numbers is None:
            continue
        theirs = numbers[check.name] if check.name else numbers
        if isinstance(theirs, dict):
            theirs = [theirs[term] for term in terms]
        found.append(describe_check(check, np.array(theirs, float), np.asarray(check.ours(ours), float)))
    return found + check_published_examples(folder)


def describe_check(check: Check, theirs: Any, ours: Any) -> dict[str, Any]:
    """The largest difference, of the largest value; values that only one side has are counted."""
    both = np.isfinite(theirs) & np.isfinite(ours)
    scale = float(np.abs(theirs[both]).max())
    return {
        "score": check.score,
        "peer": check.peer,
        "task": check.task,
        "function": check.name,
        "relation": check.relation,
        "difference": float(np.abs(theirs - ours)[both].max() / scale),
        "values": int(both.sum()),
        "not_finite": int((~both & ~((theirs == ours) | (np.isnan(theirs) & ~np.isfinite(ours)))).sum()),
        "why": check.why,
    }


def check_published_examples(folder: Path) -> list[dict[str, Any]]:
    """The examples on the help pages of R: tea with milk, and parties by gender."""
    numbers = read_numbers(folder, "R", "numbers")
    if numbers is None:
        return []
    tea = count_tables([("poured first", 3, 1), ("poured last", 1, 3)])
    party = count_tables([("democrat", 762, 484), ("independent", 327, 239), ("republican", 468, 477)])
    weights = 1 - np.array([762 + 484, 327 + 239, 468 + 477]) / 2757
    scores = ts.score(party, "chi2")
    chi2 = sum(weight * scores.of_class(c)[0] for c, weight in enumerate(weights))
    cases = (
        (
            "fisher_exact",
            "fisher.test, its example",
            10.0 ** -ts.score(tea, "fisher_exact").of_class(0)[0],
            "tea tasting: p",
        ),
        ("chi2", "chisq.test, its example", chi2, "gender and party (Agresti 2007)"),
    )
    return [
        describe_check(Check(score, "R", "numbers", name, lambda _: 0, f"{why} = {value:.5g}", "published"),
                       np.array(numbers[name]), np.array([value]))
        for score, name, value, why in cases
    ]  # fmt: skip


def count_tables(classes: list[tuple[str, int, int]]) -> ts.Counts:
    """Counts of one term: each class with the documents that have it, and those that do not."""
    X: list[list[int]] = []
    labels = []
    for name, with_term, without in classes:
        X += [[1]] * with_term + [[0]] * without
        labels += [name] * (with_term + without)
    return ts.Counts.from_matrix(np.array(X), labels)


if __name__ == "__main__":
    main()

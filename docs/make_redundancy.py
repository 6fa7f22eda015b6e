"""Make the tables of docs/redundancy.md from docs/results/redundancy.json, which benchmarks/redundancy.py writes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from make_benchmarks import describe_machine

DOCS = Path(__file__).parent
PAGE = DOCS / "redundancy.md"
RESULTS = DOCS / "results" / "redundancy.json"
BEGIN, END = "<!-- made by docs/make_redundancy.py -->\n", "<!-- end of what it makes -->\n"
CLASSIFIERS = {"multinomial_nb": "multinomial naive Bayes", "linear_svm": "linear SVM, tf-idf"}


def main() -> None:
    PAGE.write_text(put_into_page(PAGE.read_text("utf-8"), json.loads(RESULTS.read_text("utf-8"))), "utf-8")
    print(PAGE)


def put_into_page(text: str, result: dict[str, Any]) -> str:
    """Put the tables between their marks."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + BEGIN + "\n" + "\n".join(tables(result)) + "\n" + END + after


def tables(result: dict[str, Any]) -> Iterator[str]:
    yield f"{describe_machine(result['machine'])}, {result['date']}, commit {result['commit']}.\n"
    for title, corpus in result["corpora"].items():
        yield f"**{title}** ({describe_corpus(corpus)})\n"
        for name, f1 in corpus["f1"].items():
            yield from f1_table(CLASSIFIERS[name], result["ks"], f1)
    yield (
        "CPU seconds of one ranking of the training documents (1,000 terms of the whole vocabulary), and of all that "
        "was measured of a corpus:\n"
    )
    yield from cpu_table(result["corpora"])


def describe_corpus(corpus: dict[str, Any]) -> str:
    parts = [f"{corpus['documents']:,} documents", f"{corpus['classes']} classes"]
    parts += ["several labels"] if corpus["several_labels"] else []
    parts += ["the given split"] if corpus["splits"] == 1 else [f"{corpus['splits']} folds"]
    described = ", ".join(parts)
    if corpus["standard_errors"]:
        low, high = map(show, corpus["standard_errors"])
        described += f"; standard errors {low} to {high}"
    return described


def f1_table(classifier: str, ks: list[int], f1: dict[str, list[float]]) -> Iterator[str]:
    best = [max(column) for column in zip(*f1.values(), strict=True)]
    yield f"| {classifier} | " + " | ".join(f"{k:,}" for k in ks) + " |"
    yield "|---" * (len(ks) + 1) + "|"
    for name, values in f1.items():
        shown = (
            f"**{show(value)}**" if value > highest - 5e-4 else show(value)
            for value, highest in zip(values, best, strict=True)
        )
        yield f"| {quote(name)} | " + " | ".join(shown) + " |"
    yield ""


def cpu_table(corpora: dict[str, Any]) -> Iterator[str]:
    yield "| | " + " | ".join(corpora) + " |"
    yield "|---" * (len(corpora) + 1) + "|"
    for name in dict.fromkeys(name for corpus in corpora.values() for name in corpus["ranking_cpu"]):
        seconds = (corpus["ranking_cpu"].get(name) for corpus in corpora.values())
        yield f"| {quote(name)} | " + " | ".join("" if one is None else f"{one:.2f}" for one in seconds) + " |"
    yield "| all | " + " | ".join(f"{corpus['cpu']:.0f}" for corpus in corpora.values()) + " |"
    yield ""


def quote(name: str) -> str:
    """A spelling with parentheses as code."""
    return f"`{name}`" if "(" in name else name


def show(value: float) -> str:
    return f"{value:.3f}".lstrip("0")


if __name__ == "__main__":
    main()

"""Probabilities before and after calibration, on documents that no training has seen; the table of docs/models.md."""

from __future__ import annotations

import gzip
import json
import sys
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from measure import DATA
from sklearn.model_selection import train_test_split

from termsieve.evaluate.measures import confusion
from termsieve.evaluate.reliability import Reliability
from termsieve.model import Model, train

RECIPES = (("multinomial_nb", 2000), ("linear_svm", 2000), ("linear_svm", "all"))
CORPORA = {
    "SMS": "sms_spam", "Enron1": "enron1", "20 Newsgroups by date": "20news_bydate", "OHSUMED": "ohsumed_20000",
    "Reuters": "reuters21578",
}  # fmt: skip
HEAD = (
    "corpus", "classifier", "terms", "calibration", "test documents", "Brier before", "after", "ECE before", "after",
    "accuracy before", "after", "macro F1 before", "after", "micro F1 before", "after", "no label before", "after",
    "CPU seconds, fit", "and calibrated",
)  # fmt: skip


class Part(NamedTuple):
    """Texts and their labels."""

    texts: list[str]
    labels: list[list[str]]


def main() -> None:
    print("| " + " | ".join(HEAD) + " |")
    print("|" + "---|" * len(HEAD))
    warm = [f"word{i % 7} other{i % 3}" for i in range(40)]
    train(warm, [str(i % 2) for i in range(40)], scores="chi2", ks=3, classifiers="linear_svm", cv=0)
    for title, name in CORPORA.items():
        for row in compare_on(title, *read_parts(name)):
            print("| " + " | ".join(map(str, row)) + " |", flush=True)


def read_parts(name: str) -> tuple[Part, Part]:
    """The published parts, or 40 % of the documents, at random, as the test part; no documents without labels."""
    path = DATA / f"{name}.jsonl.gz"
    if not path.exists():
        sys.exit(f"{path} is not there: set TERMSIEVE_DATA to the folder with the corpora.")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        documents = [one for one in map(json.loads, lines) if one["labels"]]
    parts = [[one for one in documents if one["split"] == part] for part in ("train", "test")]
    if not parts[0]:
        labels = [one["labels"][0] for one in documents]
        parts = train_test_split(documents, test_size=0.4, stratify=labels, random_state=0)
    learn, test = (Part([one["text"] for one in part], [one["labels"] for one in part]) for part in parts)
    return learn, test


def compare_on(title: str, learn: Part, test: Part) -> Iterator[list[Any]]:
    for classifier, k in RECIPES:
        seconds, model = [], None
        for folds in (0, 5):
            start = time.process_time()
            model = train(learn.texts, learn.labels, scores="chi2", ks=k, classifiers=classifier, cv=0, calibrate=folds)
            seconds.append(time.process_time() - start)
        assert model is not None
        after = measure(model, test)
        method = model.settings["calibration"]["method"]
        model.decision = None
        before = measure(model, test)
        pairs = [value for pair in zip(before, after, strict=True) for value in pair]
        yield [title, classifier, f"{len(model.vectorizer.vocabulary_):,}", method, f"{len(test.texts):,}", *pairs,
               *(f"{one:.1f}" for one in seconds)]  # fmt: skip


def measure(model: Model, test: Part) -> list[str]:
    """Brier score, calibration error, accuracy, macro and micro F1, share of documents without a label."""
    said = model.label_rows(model.to_matrix(test.texts))
    places = {name: i for i, name in enumerate(model.classes)}
    truth = np.zeros(said.labels.shape, np.bool_)
    for row, labels in zip(truth, test.labels, strict=True):
        row[[places[name] for name in labels if name in places]] = True
    checked = Reliability(single=model.single)
    if said.probabilities is not None:
        checked.add(said.probabilities, truth)
    cells = confusion(truth, said.labels)
    seen = (cells.tp + cells.fp + cells.fn) > 0
    known = said.probabilities is not None
    values = [
        checked.brier if known else None, checked.calibration_error if known else None, float(cells.accuracy()),
        float(cells.f_beta(1, None)[seen].mean()), float(cells.f_beta(1, "micro")),
        float((~said.labels.any(axis=1)).mean()),
    ]  # fmt: skip
    return ["-" if value is None else f"{value:.4f}" for value in values]


if __name__ == "__main__":
    main()

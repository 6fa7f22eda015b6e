"""Answers: what `train` recommends, what that gives up against all terms, and scikit-learn's recipe beside it.

``python benchmarks/answers.py [NAME ...]`` prints a table for each corpus. Where a corpus has a given split, models are
made of its training documents alone, and measured on its test documents; else in the five folds of the comparison:
"train" searches, selects and fits in the other four, and has not seen the fold that it is measured on. The recipe is
TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2)) with LinearSVC, plain and with balanced class weights.
"""

from __future__ import annotations

import gzip
import json
import sys
import time
from typing import Any

import numpy as np
from measure import DATA, title
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import accuracy_score, f1_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import MultiLabelBinarizer
from sklearn.svm import LinearSVC

import termsieve as ts
from termsieve.datasets import demo
from termsieve.evaluate.differences import paired_difference
from termsieve.study.splits import make_splits

R10 = {"earn", "acq", "money-fx", "grain", "crude", "trade", "interest", "ship", "wheat", "corn"}
CORPORA = ("bbc", "sms_spam", "enron1", "reuters21578", "ohsumed_20000", "arxiv_titles", "20news_bydate")
SAMPLE = 50_000  # of the arXiv titles
BOOTSTRAPS = 200


def main() -> None:
    for name in sys.argv[1:] or CORPORA:
        texts, labels, parts = read(name)
        start = time.process_time()
        (on_given_split if parts else in_folds)(name, texts, labels, parts)
        print(f"CPU of all: {time.process_time() - start:.0f} s", flush=True)


def read(name: str) -> tuple[list[str], list[list[str]], list[str] | None]:
    """Texts, labels and, where there is a given split, parts of a corpus."""
    if name == "bbc":
        _, texts, labels = demo.load_corpus()
        return texts, [[label] for label in labels], None
    with gzip.open(DATA / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        documents = [json.loads(line) for line in lines]
    if name == "reuters21578":
        for one in documents:
            one["labels"] = sorted(R10 & set(one["labels"]))
        documents = [one for one in documents if one["split"] and one["labels"]]
    if len(documents) > SAMPLE:
        drawn = np.sort(np.random.default_rng(0).choice(len(documents), SAMPLE, replace=False))
        documents = [documents[i] for i in drawn]
        test = set(np.random.default_rng(1).permutation(SAMPLE)[: SAMPLE // 5].tolist())  # folds would take an hour
        documents = [{**one, "split": "test" if i in test else "train"} for i, one in enumerate(documents)]
    parts = [one["split"] for one in documents]
    return [one["text"] for one in documents], [one["labels"] for one in documents], parts if any(parts) else None


def recipe(train: list[str], known: Any, test: list[str], class_weight: str | None) -> Any:
    """Predict with what people use instead."""
    vectorizer = TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2))
    model: Any = LinearSVC(class_weight=class_weight)
    model = OneVsRestClassifier(model) if np.ndim(known) == 2 else model
    return model.fit(vectorizer.fit_transform(train), known).predict(vectorizer.transform(test))


def measure(truth: Any, predicted: Any) -> tuple[float, float]:
    """Macro F1 and accuracy."""
    return f1_score(truth, predicted, average="macro", zero_division=0), accuracy_score(truth, predicted)


def on_given_split(name: str, texts: list[str], labels: list[list[str]], parts: list[str]) -> None:
    train, test = ([i for i, part in enumerate(parts) if part == wanted] for wanted in ("train", "test"))
    several = any(len(one) > 1 for one in labels)
    learned = [texts[i] for i in train], [labels[i] if several else labels[i][0] for i in train]
    unseen = [texts[i] for i in test]
    start = time.process_time()
    model = ts.train(*learned, progress=False)
    seconds = time.process_time() - start
    s = model.settings
    title(f"{name}: {len(train):,} training and {len(test):,} test documents; train took {seconds:.0f} s of CPU")
    print(s["reason"], flush=True)
    binarizer = MultiLabelBinarizer().fit(labels)

    def encode(given: Any) -> Any:
        return binarizer.transform([[one] if isinstance(one, str) else one for one in given]) if several else given

    truth = encode([labels[i] if several else labels[i][0] for i in test])
    known = encode(learned[1])
    found = {
        f"train: {s['n_terms']:,} terms": encode(model.predict(unseen)),
        "recipe": recipe(learned[0], known, unseen, None),
        "recipe, balanced": recipe(learned[0], known, unseen, "balanced"),
    }
    print("| | macro F1 | accuracy | train minus it: macro F1 (bootstrap s.e.) | accuracy |\n|---|---|---|---|---|")
    mine = next(iter(found.values()))
    for label, predicted in found.items():
        f1, accuracy = measure(truth, predicted)
        print(f"| {label} | {f1:.3f} | {accuracy:.3f} | {' | '.join(bootstrap(truth, mine, predicted))} |", flush=True)


def bootstrap(truth: Any, mine: Any, other: Any) -> list[str]:
    """The differences of macro F1 and accuracy, and their standard errors over test documents drawn again."""
    rng, n = np.random.default_rng(0), len(truth)
    true, one, two = (np.asarray(part) for part in (truth, mine, other))
    differences = []
    for _ in range(BOOTSTRAPS):
        rows = rng.integers(0, n, n)
        differences.append(np.subtract(measure(true[rows], one[rows]), measure(true[rows], two[rows])))
    whole = np.subtract(measure(true, one), measure(true, two))
    return [f"{gap:+.3f} ({error:.3f})" for gap, error in zip(whole, np.std(differences, axis=0), strict=True)]


def in_folds(name: str, texts: list[str], labels: list[list[str]], parts: None) -> None:  # noqa: ARG001 - as the other
    y = np.array([one for one, *_ in labels])
    start = time.process_time()
    result = ts.compare(texts, y.tolist(), progress=False, excerpts=False)
    seconds = time.process_time() - start
    choice, trials = result.recommended(), result.trials()
    codes = np.unique(y, return_inverse=True)[1]
    documents = np.array(texts, dtype=object)
    title(
        f"{name}: {len(texts):,} documents in {choice.n_splits} folds; compare (and train) took {seconds:.0f} s of CPU"
    )
    print(choice.reason)
    found: dict[str, list[tuple[float, float]]] = {}
    for split in make_splits(5, codes, len(texts)):
        train, known, unseen = documents[split.train].tolist(), y[split.train], documents[split.test].tolist()
        said = {
            "train": ts.train(train, known.tolist(), progress=False).predict(unseen),
            "recipe": recipe(train, known, unseen, None),
            "recipe, balanced": recipe(train, known, unseen, "balanced"),
        }
        for label, predicted in said.items():
            found.setdefault(label, []).append(measure(y[split.test], predicted))
    print("| | macro F1 | accuracy | train minus it: macro F1 (corrected s.e.) | accuracy |\n|---|---|---|---|---|")
    tried = {"recommended": choice.chosen, "best of all": choice.best, "best with all terms": choice.every}
    for label, one in tried.items():
        print("" if one is None else f"| {label}: {one} | {one.mean:.3f} | | | |")
    for label, values in found.items():
        pairs = zip(_columns(found["train"]), _columns(values), strict=True)
        gaps = [paired_difference(*pair, ratio=trials.ratio) for pair in pairs]
        cells = " | ".join(f"{gap.mean:+.3f} ({gap.standard_error:.3f})" for gap in gaps)
        means = " | ".join(f"{np.mean(column):.3f}" for column in _columns(values))
        print(f"| {label} | {means} | {cells if label != 'train' else ' | '} |", flush=True)


def _columns(values: list[tuple[float, float]]) -> list[list[float]]:
    return [list(column) for column in zip(*values, strict=True)]


if __name__ == "__main__":
    main()

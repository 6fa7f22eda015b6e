"""Answers: what `train` recommends, what that gives up against all terms, and scikit-learn's recipe beside it.

``python benchmarks/answers.py [NAME ...]`` prints a table for each corpus; ``--sample N`` searches on N documents, as
all may take long. Where a corpus has a given split, models are made of its training documents alone, measured on its
test documents; else in the five folds of the comparison: "train" searches, selects and fits in the other four, and has
not seen the fold that it is measured on. "train --best" fits the best that was found, rather than the fewest terms that
are enough. Standard errors are of the difference: over test documents drawn again, or over the folds with Nadeau and
Bengio's correction. The recipe is TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2)) with LinearSVC, plain and with
balanced class weights.
"""

from __future__ import annotations

import argparse
import gzip
import json
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
from termsieve.model.train_model import train_recommended
from termsieve.study.plan import SAMPLE as SEARCH_SAMPLE
from termsieve.study.splits import make_splits

R10 = {"earn", "acq", "money-fx", "grain", "crude", "trade", "interest", "ship", "wheat", "corn"}
CORPORA = ("bbc", "sms_spam", "enron1", "reuters21578", "ohsumed_20000", "arxiv_titles", "20news_bydate")
SAMPLE = 50_000  # of the arXiv titles
BOOTSTRAPS = 200
HEAD = """| | macro F1 | accuracy | train minus it: macro F1 (s.e.) | accuracy | --best minus it: macro F1 | accuracy |
|---|---|---|---|---|---|---|"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"corpora (default {' '.join(CORPORA)})")
    parser.add_argument(
        "--sample", type=int, default=SEARCH_SAMPLE, help="documents to search on (default %(default)s)"
    )
    given = parser.parse_args()
    for name in given.names or CORPORA:
        texts, labels, parts = read(name)
        start = time.process_time()
        (on_given_split if parts else in_folds)(name, texts, labels, parts, given.sample)
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


def train_both(texts: list[str], labels: list[Any], sample: int) -> tuple[ts.Model, ts.Model]:
    """Make the model of `train` and that of `train --best`, from one comparison."""
    result = ts.compare(texts, labels, sample=sample, progress=False, excerpts=False)
    few, best = (train_recommended(result, texts, labels, best=best) for best in (False, True))
    return few, best


def measure(truth: Any, predicted: Any) -> tuple[float, float]:
    """Macro F1 and accuracy."""
    return f1_score(truth, predicted, average="macro", zero_division=0), accuracy_score(truth, predicted)


def on_given_split(name: str, texts: list[str], labels: list[list[str]], parts: list[str], sample: int) -> None:
    train, test = ([i for i, part in enumerate(parts) if part == wanted] for wanted in ("train", "test"))
    several = any(len(one) > 1 for one in labels)
    learned = [texts[i] for i in train], [labels[i] if several else labels[i][0] for i in train]
    unseen = [texts[i] for i in test]
    start = time.process_time()
    few, best = train_both(*learned, sample)
    seconds = time.process_time() - start
    s = few.settings
    title(f"{name}: {len(train):,} training and {len(test):,} test documents; train took {seconds:.0f} s of CPU")
    print(s["reason"], flush=True)
    binarizer = MultiLabelBinarizer().fit(labels)

    def encode(given: Any) -> Any:
        return binarizer.transform([[one] if isinstance(one, str) else one for one in given]) if several else given

    truth = encode([labels[i] if several else labels[i][0] for i in test])
    known = encode(learned[1])
    found = {
        f"train: {s['n_terms']:,} terms": encode(few.predict(unseen)),
        f"train --best: {best.settings['n_terms']:,} terms": encode(best.predict(unseen)),
        "recipe": recipe(learned[0], known, unseen, None),
        "recipe, balanced": recipe(learned[0], known, unseen, "balanced"),
    }
    print(HEAD)
    ours = list(found.values())[:2]
    for label, predicted in found.items():
        means = [f"{value:.3f}" for value in measure(truth, predicted)]
        gaps = [gap for mine in ours for gap in bootstrap(truth, mine, predicted)]
        print("|", " | ".join([label, *means, *gaps]), "|", flush=True)


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


def in_folds(name: str, texts: list[str], labels: list[list[str]], parts: None, sample: int) -> None:  # noqa: ARG001 - as the other
    y = np.array([one for one, *_ in labels])
    start = time.process_time()
    result = ts.compare(texts, y.tolist(), sample=sample, progress=False, excerpts=False)
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
        few, best = train_both(train, known.tolist(), sample)
        said = {
            "train": few.predict(unseen),
            "train --best": best.predict(unseen),
            "recipe": recipe(train, known, unseen, None),
            "recipe, balanced": recipe(train, known, unseen, "balanced"),
        }
        for label, predicted in said.items():
            found.setdefault(label, []).append(measure(y[split.test], predicted))
    print(HEAD)
    tried = {"recommended": choice.chosen, "best of all": choice.best, "best with all terms": choice.every}
    for label, one in tried.items():
        print("" if one is None else f"| {label}: {one} | {one.mean:.3f} | | | | | |")
    for label, values in found.items():
        means = [f"{value:.3f}" for value in np.mean(values, axis=0)]
        gaps = [
            paired_difference(mine, other, ratio=trials.ratio)
            for ours in ("train", "train --best")
            for mine, other in zip(np.transpose(found[ours]), np.transpose(values), strict=True)
        ]
        cells = [f"{gap.mean:+.3f} ({gap.standard_error:.3f})" for gap in gaps]
        print("|", " | ".join([label, *means, *cells]), "|", flush=True)


if __name__ == "__main__":
    main()

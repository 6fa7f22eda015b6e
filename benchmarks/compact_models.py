"""F1 against bytes: the best model in so many bytes, beside the full model, on documents that it has not seen.

    python benchmarks/compact_models.py [sms_spam enron1]

60 % of the documents, drawn at random, are for training and for the choice of terms, bits and weighting.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import sys
from pathlib import Path

from sklearn.metrics import f1_score

import termsieve as ts
from termsieve.model.exporting import train_in_bytes
from termsieve.model.exporting.runtime import Predictor

SIZES = (512, 1024, 2953, 8192, 65_536)


def read(name: str) -> list[tuple[str, str]]:
    path = Path(os.environ.get("TERMSIEVE_DATA") or "data", f"{name}.jsonl.gz")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        documents = [(one["text"], one["labels"][0]) for one in map(json.loads, lines)]
    random.Random(0).shuffle(documents)
    return documents


def main(names: list[str]) -> None:
    print("corpus      most bytes   bytes  terms  bits  weighting   F1 in folds (full)   F1 on test documents")
    for name in names:
        documents = read(name)
        n = int(0.6 * len(documents))
        (texts, labels), (test, truth) = (zip(*part, strict=True) for part in (documents[:n], documents[n:]))
        for size in SIZES:
            model = train_in_bytes(list(texts), list(labels), n_bytes=size)
            found = [one["label"] for one in map(Predictor(model.data).predict, test)]
            chosen = model.chosen
            print(
                f"{name:<10} {size:>11,} {len(model.content):>7,} {chosen.terms:>6,} {chosen.bits:>5}  "
                f"{chosen.weighting:<10} {chosen.f1:>7.4f} ({model.full_f1:.4f}) "
                f"{f1_score(truth, found, average='macro'):>21.4f}"
            )
        for weighting in ("binary", "tfidf_log"):
            full = ts.train(
                list(texts), list(labels), scores="chi2", ks="all", classifiers="linear_svm", weighting=weighting, cv=0,
                calibrate=0,
            )  # fmt: skip
            f1 = f1_score(truth, full.predict(list(test)), average="macro")
            print(f"{name:<10} full: {full.settings['n_terms']:,} terms, {weighting}: F1 on test documents {f1:.4f}")


if __name__ == "__main__":
    main(sys.argv[1:] or ["sms_spam", "enron1"])

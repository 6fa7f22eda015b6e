"""From texts to a classifier in five lines: count, score, select, vectorise, classify."""

from __future__ import annotations

from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

import termsieve as ts
from termsieve.datasets.demo import load_corpus


def main() -> None:
    name, texts, labels = load_corpus()
    train, test, y_train, y_test = train_test_split(texts, labels, stratify=labels, random_state=0)

    model = make_pipeline(ts.TermVectorizer(score_func="info_gain", k=500), MultinomialNB())
    model.fit(train, y_train)
    print(f"{name}: accuracy {model.score(test, y_test):.3f} with 500 terms")

    # What was selected, and for which class each term speaks
    selection = model[0].selection_
    print(selection)
    for label in sorted(set(labels)):
        mine = [term for term, speaks_for in zip(selection.terms, selection.labels, strict=True) if speaks_for == label]
        print(f"  {label:<15} {', '.join(mine[:8])}")

    # All terms, for comparison
    everything = make_pipeline(ts.TermVectorizer(), MultinomialNB()).fit(train, y_train)
    n = len(everything[0].vocabulary_)
    print(f"{name}: accuracy {everything.score(test, y_test):.3f} with all {n:,} terms")


if __name__ == "__main__":
    main()

"""Several labels per document: Reuters-21578, the ten most frequent topics of the ModApte split."""

from __future__ import annotations

from corpora import corpus
from sklearn.metrics import f1_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import MultiLabelBinarizer
from sklearn.svm import LinearSVC

import termsieve as ts

TOPICS = ["acq", "corn", "crude", "earn", "grain", "interest", "money-fx", "ship", "trade", "wheat"]


def topics(split: str) -> tuple[list[str], list[list[str]]]:
    texts, labels = corpus("reuters21578", split)
    wanted = [[label for label in one if label in TOPICS] for one in labels]
    kept = [i for i, one in enumerate(wanted) if one]
    return [texts[i] for i in kept], [wanted[i] for i in kept]


def main() -> None:
    (train, train_labels), (test, test_labels) = topics("train"), topics("test")
    binarizer = MultiLabelBinarizer(classes=TOPICS)
    Y, Y_test = binarizer.fit_transform(train_labels), binarizer.transform(test_labels)
    print(f"{len(train):,} documents, {sum(len(one) > 1 for one in train_labels):,} of them with several topics")
    for rule in ("top(300)", "round_robin(300)"):
        # the labels may be lists, as here, or the indicator matrix Y
        vectorizer = ts.TermVectorizer(score_func="info_gain_binary", rule=rule, stop_words="smart", weighting="tfidf")
        X = vectorizer.fit_transform(train, train_labels)
        model = OneVsRestClassifier(LinearSVC()).fit(X, Y)
        found = model.predict(vectorizer.transform(test))
        micro, macro = (f1_score(Y_test, found, average=how) for how in ("micro", "macro"))
        print(f"{rule:<17} micro F1 {micro:.3f}, macro F1 {macro:.3f}")
        classes = vectorizer.selection_.labels.tolist()
        print("   terms associated with " + ", ".join(f"{topic} {classes.count(topic)}" for topic in TOPICS))


if __name__ == "__main__":
    main()

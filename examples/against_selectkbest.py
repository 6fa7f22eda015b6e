"""SelectKBest(chi2) and TermSelector("chi2"): where they differ, and why.

scikit-learn's ``chi2`` adds up the values of a column, so with counts its table is one of occurrences, and it only
compares how these are spread over the classes; documents without the term do not enter. Termsieve's ``chi2`` is the
statistic of the textbook, of the table of documents with and without the term. So a word that one long document repeats
can be among the best there, and is not here. On presence and absence the two still differ by the documents without the
term, which matters for frequent terms. And where scores are equal, SelectKBest does not say which columns it takes.
"""

from __future__ import annotations

import numpy as np
from corpora import corpus
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_selection import SelectKBest, chi2

import termsieve as ts

K = 100


def main() -> None:
    texts, labels = corpus("20news_bydate", "train")
    y = np.array([label for (label,) in labels])
    few = np.isin(y, ["sci.med", "sci.space", "rec.autos", "comp.graphics"])
    texts, y = [text for text, kept in zip(texts, few, strict=True) if kept], y[few]
    vectorizer = CountVectorizer()
    X = vectorizer.fit_transform(texts)
    names = vectorizer.get_feature_names_out()
    documents = np.asarray((X > 0).sum(axis=0)).ravel()

    theirs = SelectKBest(chi2, k=K).fit(X, y).get_support()
    ours = ts.TermSelector("chi2", k=K).fit(X, y).get_support()
    inside = SelectKBest(ts.as_score_func("chi2"), k=K).fit(X, y).get_support()
    print(f"{len(texts):,} documents, {len(names):,} terms, {K} selected; in common {(theirs & ours).sum()}")
    print(f"with as_score_func SelectKBest takes ours: {(inside & ours).sum()} of {K}")
    for who, mask in (("only SelectKBest(chi2)", theirs & ~ours), ("only TermSelector", ours & ~theirs)):
        places = np.flatnonzero(mask)
        shown = sorted(places, key=lambda i: documents[i])[:8]
        median = np.median(documents[places]) if len(places) else 0
        print(f"{who}: in {median:.0f} documents (median), for instance")
        for i in shown:
            most = X[:, [i]].max()
            print(f"    {names[i]:<20} {X[:, [i]].sum():>5} times in {documents[i]:>4} documents, up to {most} in one")


if __name__ == "__main__":
    main()

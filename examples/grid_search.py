"""Which score, and how many terms? Both are parameters like any other.

Every training part of the cross-validation selects its own terms, so nothing leaks from the test part.
"""

from __future__ import annotations

from corpora import corpus
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.svm import LinearSVC

import termsieve as ts


def main() -> None:
    texts, labels = corpus("sms_spam")
    y = [label for (label,) in labels]
    pipeline = Pipeline(
        [
            ("terms", ts.TermVectorizer(k=100, min_df=2)),
            ("classify", LinearSVC(class_weight="balanced")),
        ]
    )
    grid = {
        "terms__score_func": ["chi2", "info_gain", "bns", "gu"],
        "terms__k": [50, 500],
        "terms__weighting": ["binary", "tfidf"],
    }
    search = GridSearchCV(pipeline, grid, scoring="f1_macro", cv=3).fit(texts, y)
    results = search.cv_results_
    print("macro F1   score        k   weighting")
    for place in results["rank_test_score"].argsort()[:8]:
        chosen = results["params"][place]
        print(
            f"{results['mean_test_score'][place]:.4f}     {chosen['terms__score_func']:<10} "
            f"{chosen['terms__k']:>4}  {chosen['terms__weighting']}"
        )
    print(search.best_estimator_["terms"].selection_)


if __name__ == "__main__":
    main()

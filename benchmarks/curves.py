"""Curves and LinearSVM against refits, PoissonNB against scipy, ProbitClassifier against statsmodels and an optimum.

``python benchmarks/curves.py linear`` runs the linear models alone. LinearSVC is fitted again at every tenth of the 100
points, since it takes minutes; ``linear every`` fits it at all of them, for 100 points on counts alone.
"""

from __future__ import annotations

import sys
import time
import warnings

import numpy as np
from measure import corpus, interleaved, read_documents, row, title
from scipy import optimize, sparse, stats
from scipy.special import log_ndtr
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MultiLabelBinarizer, Normalizer, normalize

import termsieve as ts
from termsieve.classify.bayes_sweep import BayesProblem
from termsieve.classify.curves import curve, predict_curve
from termsieve.classify.recipes import PoissonNB, ProbitClassifier, classifier

KS = range(10, 1001, 10)
EVERY_POINT = "every" in sys.argv[1:]


def main() -> None:
    texts, labels = corpus("20news_19997")
    X = CountVectorizer().fit_transform(texts)
    y = np.array([label[0] for label in labels])
    shuffled = np.random.default_rng(0).permutation(len(y))
    cut = round(0.75 * len(y))
    train, test = shuffled[:cut], shuffled[cut:]
    ranking = order(X[train], y[train])
    title(f"20 Newsgroups, {len(train):,} / {len(test):,} documents, ranked by chi2: 100 points, k = 10..1000")
    for model, aim in (("multinomial_nb", "at least 30"), ("bernoulli_nb", "at least 30"), ("poisson_nb", "")):
        against_refits(X[train], y[train], X[test], ranking, model, aim)
    one_against_the_rest(X[train], y[train], X[test], ranking)
    poisson(X[train], y[train], X[test], ranking)
    linear_paths()
    logistic_paths()
    probit()
    probit_on_text(X[train], y[train], ranking)


def order(X: object, y: object, n: int = 1000) -> np.ndarray:
    scores = ts.score(ts.Counts.from_matrix(X, y), "chi2").overall()
    return np.argsort(-scores, kind="stable")[:n]


def against_refits(X: object, y: np.ndarray, T: object, ranking: np.ndarray, model: str, aim: str) -> None:
    A, B = X[:, ranking], T[:, ranking]  # cut beforehand, and not counted

    def refits() -> np.ndarray:
        return np.array([classifier(model).fit(A[:, :k], y).predict(B[:, :k]) for k in KS])

    same = (curve(X, y, T, ranking, KS, model) == refits()).all(axis=1)
    taken = interleaved({"ours": lambda: curve(X, y, T, ranking, KS, model), "theirs": refits})
    row(f"{model}: one sweep, cutting the columns included", f"{taken['ours'] * 1000:.0f} ms")
    row(f"{model}: a refit at each k, columns cut beforehand", f"{taken['theirs'] * 1000:.0f} ms")
    row(f"{model}: times faster", f"{taken['theirs'] / taken['ours']:.0f}", aim)
    row(f"{model}: points with identical predictions", f"{same.sum()} of {len(same)}", "all")
    row(f"{model}: decisions too close to call, asked again", f"{asked_again(X, y, T, ranking, model):,}")


def asked_again(X: object, y: np.ndarray, T: object, ranking: np.ndarray, model: str) -> int:
    asked, exactly = [], BayesProblem.predict_exactly
    BayesProblem.predict_exactly = lambda self, k, rows: asked.append(len(rows)) or exactly(self, k, rows)
    try:
        curve(X, y, T, ranking, KS, model)
    finally:
        BayesProblem.predict_exactly = exactly
    return sum(asked)


def one_against_the_rest(X: object, y: np.ndarray, T: object, ranking: np.ndarray) -> None:
    title("The same, one against the rest: 20 classifiers at each of the 100 points; refits measured at 5 points")
    Y = (y[:, None] == np.unique(y)).astype(int)
    A, B = X[:, ranking], T[:, ranking]
    few = list(KS)[::20]

    def refits() -> np.ndarray:
        models = (OneVsRestClassifier(classifier("multinomial_nb")).fit(A[:, :k], Y) for k in few)
        return np.array([model.predict(B[:, :k]) for model, k in zip(models, few, strict=True)])

    same = np.array_equal(curve(X, Y, T, ranking, few), refits())
    rivals = {"ours": lambda: curve(X, Y, T, ranking, KS), "theirs": refits}
    taken = interleaved(rivals, rounds=3)
    row("2,000 classifiers in one sweep", f"{taken['ours'] * 1000:.0f} ms")
    row("times faster than OneVsRestClassifier (scaled to 100 points)", f"{20 * taken['theirs'] / taken['ours']:.0f}")
    row("identical predictions", "yes" if same else "NO", "yes")


EIGHT = (10, 20, 50, 100, 200, 500, 1000, 2000)
REUTERS_TOPICS = ("earn", "acq", "money-fx", "grain", "crude", "trade", "interest", "ship", "wheat", "corn")


def linear_paths() -> None:
    """Linear support vector machines along a ranking against LinearSVC refits: CPU, objectives, predictions."""
    for name, topics in (("20news_bydate", None), ("reuters21578", REUTERS_TOPICS), ("reuters21578", ())):
        X, y, T = parted(name, topics)
        columns = order(X, sparse.csr_array(y) if y.ndim == 2 else y, X.shape[1])
        title(f"LinearSVM against LinearSVC: {name}, {X.shape[0]:,} / {T.shape[0]:,} documents, {n_classes(y)} classes")
        aim = "at least 15" if topics is None else "at least 8"
        if EVERY_POINT:
            if topics != ():
                linear_path(X, y, T, columns, list(KS), "counts", aim)
            continue
        for weighting in ("counts", "tf-idf"):
            if weighting == "tf-idf":
                weigh = TfidfTransformer(norm=None).fit(X)
                X, T = weigh.transform(X), weigh.transform(T)
            for ks in (EIGHT,) if topics == () else (KS, EIGHT, (len(columns),)):
                if topics == () and weighting == "tf-idf":
                    continue
                linear_path(X, y, T, columns, list(ks), weighting, aim if ks is KS and weighting == "counts" else "")


def logistic_paths() -> None:
    """Logistic regression along a ranking against refits by scikit-learn's default solver; refits at some points."""
    for name, topics, last in (("20news_bydate", None, 200), ("reuters21578", REUTERS_TOPICS[2:5], 1000)):
        X, y, T = parted(name, topics)
        columns = order(X, sparse.csr_array(y) if y.ndim == 2 else y)
        ks = list(range(10, last + 1, 10))
        few = ks[4::10]
        title(f"Logistic regression: {name}, {X.shape[0]:,} documents, {n_classes(y)} classes, {len(ks)} points")
        start = time.process_time()
        found = predict_curve(X, y, T, columns, ks, "logistic_regression").codes
        middle = time.process_time()
        expected = naive_refits(X, y, T, columns, few)
        ratio = (time.process_time() - middle) * len(ks) / len(few) / (middle - start)
        differ = [(found[ks.index(k)] != some).mean() for k, some in zip(few, expected, strict=True)]
        row(f"counts: times less CPU than refits (measured at {len(few)} points)", f"{ratio:.1f}", "3 to 4")
        row("counts: largest share of predictions that differ", f"{max(differ):.2%}")


def naive_refits(X: object, y: np.ndarray, T: object, columns: np.ndarray, ks: list[int]) -> list[np.ndarray]:
    found, codes = [], y if y.ndim == 2 else np.unique(y, return_inverse=True)[1]
    for k in ks:
        model = classifier("logistic_regression")
        model = OneVsRestClassifier(model) if y.ndim == 2 else model
        found.append(model.fit(X[:, columns[:k]], codes).predict(T[:, columns[:k]]))
    return found


def parted(name: str, topics: tuple[str, ...] | None) -> tuple[object, np.ndarray, object]:
    """Counts of the training documents, their labels, counts of the test documents; with topics, several labels."""
    documents = [one for one in read_documents(name) if one["split"] in ("train", "test")]
    if topics:
        documents = [one for one in documents if set(one["labels"]) & set(topics)]
    train = np.array([one["split"] == "train" for one in documents])
    X = CountVectorizer().fit_transform([one["text"] for one in documents])
    if topics is None:
        y = np.array([one["labels"][0] for one in documents])
    else:
        y = MultiLabelBinarizer(classes=topics or None).fit_transform(
            [[label for label in one["labels"] if not topics or label in topics] for one in documents]
        )
        y = y[:, y[train].any(axis=0)]
    return X[train], y[train], X[~train]


def n_classes(y: np.ndarray) -> int:
    return y.shape[1] if y.ndim == 2 else len(np.unique(y))


def linear_path(
    X: object, y: np.ndarray, T: object, columns: np.ndarray, ks: list[int], weighting: str, aim: str
) -> None:
    ours, theirs = (
        make_pipeline(Normalizer(), classifier(spelling)) if weighting == "tf-idf" else classifier(spelling)
        for spelling in ("linear_svm", "linear_svm(solver='liblinear')")
    )
    curve(X[::50], y[::50], T[:5], columns, [2, 5], ours)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # LinearSVC does not converge on counts
        few = ks if len(ks) < 10 or EVERY_POINT else ks[4::10]  # from the middle of each ten
        start = time.process_time()
        _, found, gaps, _ = predict_curve(X, y, T, columns, ks, ours)
        middle = time.process_time()
        expected = predict_curve(X, y, T, columns, few, theirs).codes
        ratio = (time.process_time() - middle) * len(ks) / len(few) / (middle - start)
        compared = ks[14::20] or ks[1::2] or ks
        worst, best = objective_ratios(X, y, columns, compared, weighting)
    differ = [(found[ks.index(k)] != some).mean() for k, some in zip(few, expected, strict=True)]
    what = f"{weighting}, {len(ks)} points" if len(ks) > 1 else f"{weighting}, all {ks[0]:,} terms"
    row(f"{what}: largest duality gap", f"{gaps.max():.1e}", "at most 1e-8")
    row(f"{what}: times less CPU than LinearSVC refits ({len(few)} points)", f"{ratio:.1f}", aim)
    row(
        f"{what}: objective by LinearSVC's, largest - 1 ({len(compared)} points)",
        f"{worst - 1:.1e}",
        "at most 1e-5",
    )
    row(f"{what}: objective by LinearSVC's, least - 1", f"{best - 1:.1e}")
    row(f"{what}: largest share of predictions that differ", f"{max(differ):.2%}", f"k = {few[int(np.argmax(differ))]}")


def objective_ratios(
    X: object, y: np.ndarray, columns: np.ndarray, ks: list[int], weighting: str
) -> tuple[float, float]:
    """The largest and the least ratio of our objective to LinearSVC's, over classes and numbers of terms."""
    ratios = []
    signs = np.where(y if y.ndim == 2 else y[:, None] == np.unique(y), 1.0, -1.0)
    for k in ks:
        A = normalize(X[:, columns[:k]]) if weighting == "tf-idf" else X[:, columns[:k]].astype(float)
        for c in range(signs.shape[1]):
            values = []
            for spelling in ("linear_svm", "linear_svm(solver='liblinear')"):
                model = classifier(spelling).fit(A, signs[:, c])
                slack = np.maximum(0, 1 - signs[:, c] * model.decision_function(A))
                values.append((np.square(model.coef_).sum() + model.intercept_[0] ** 2) / 2 + np.square(slack).sum())
            ratios.append(values[0] / values[1])
    return max(ratios), min(ratios)


def poisson(X: object, y: np.ndarray, T: object, ranking: np.ndarray) -> None:
    title("PoissonNB against the product of scipy's Poisson probabilities: 20 Newsgroups, 100 terms, 500 documents")
    A, B = X[:, ranking[:100]], T[:500, ranking[:100]]
    ours = PoissonNB().fit(A, y).predict_joint_log_proba(B)
    theirs = np.empty_like(ours)
    dense = B.toarray()
    for i, c in enumerate(np.unique(y)):
        rate = (np.asarray(A[y == c].sum(axis=0)).ravel() + 1) / ((y == c).sum() + 1)
        theirs[:, i] = np.log((y == c).mean()) + stats.poisson(rate).logpmf(dense).sum(axis=1)
    row("largest relative difference of log probabilities", f"{np.abs(ours / theirs - 1).max():.1e}", "at most 1e-12")


def probit() -> None:
    import statsmodels.api as sm

    title("ProbitClassifier on 500 x 6 dense numbers")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 6))
    y = (X @ rng.normal(size=6) + 0.5 + rng.normal(size=500) > 0).astype(int)
    theirs = sm.Probit(y, sm.add_constant(X)).fit(disp=0, tol=1e-12).params
    free = ProbitClassifier(prior_variance=1e14, tol=1e-9).fit(X, y)
    worst = np.abs(np.append(free.intercept_, free.coef_) - theirs).max()
    row("prior variance 1e14: largest difference from statsmodels' weights", f"{worst:.1e}", "at most 1e-6")
    for prior in ("gaussian", "laplace"):
        ours, least = objectives(X, y, prior)
        row(f"{prior} prior: objective above the best of scipy's methods", f"{ours - least:.1e}", "at most 1e-8")


def objectives(X: np.ndarray, y: np.ndarray, prior: str) -> tuple[float, float]:
    """Our objective, and the least that general optimisers find without derivatives of ours."""
    sign = 2 * y - 1
    model = ProbitClassifier(prior=prior, prior_variance=0.05, tol=1e-8).fit(X, y)

    def objective(w: np.ndarray) -> float:
        inner = w[:-1]
        penalty = inner @ inner / 0.1 if prior == "gaussian" else np.sqrt(2 / 0.05) * np.abs(inner).sum()
        return float(-log_ndtr(sign * (X @ inner + w[-1])).sum() + penalty)

    start = np.zeros(X.shape[1] + 1)
    found = optimize.minimize(objective, start, method="Powell", options={"xtol": 1e-10, "ftol": 1e-14})
    again = optimize.minimize(objective, found.x, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-13})
    return objective(np.append(model.coef_, model.intercept_)), min(found.fun, again.fun)


def probit_on_text(X: object, y: np.ndarray, ranking: np.ndarray) -> None:
    title("ProbitClassifier on 20 Newsgroups, 1,000 terms, 20 classes one against the rest")
    A = X[:, ranking]
    for prior in ("gaussian", "laplace"):
        fits = []
        seconds = interleaved({"ours": lambda p=prior, f=fits: f.append(ProbitClassifier(prior=p).fit(A, y))}, rounds=1)
        model = fits[-1]
        row(f"{prior} prior: seconds, all classes", f"{seconds['ours']:.1f} s")
        row(f"{prior} prior: classes that converged", f"{model.converged_.sum()} of 20", "all")
        row(f"{prior} prior: largest slope left, relative", f"{model.optimality_.max():.1e}", "at most 1e-6")
        row(f"{prior} prior: weights that are 0", f"{(model.coef_ == 0).mean():.0%}")


if __name__ == "__main__":
    if "linear" in sys.argv[1:]:  # these parts alone
        linear_paths()
        if not EVERY_POINT:
            logistic_paths()
    else:
        main()

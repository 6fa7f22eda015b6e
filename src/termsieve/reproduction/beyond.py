"""What the papers announce or leave out, run beside them: tables for the page."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.svm import SVC

from termsieve._types import Array
from termsieve.counts.counts import Counts
from termsieve.evaluate.measures import confusion
from termsieve.ranking.ranking import score
from termsieve.reproduction.checks import separate_iris, stay_with_wrong_labels
from termsieve.reproduction.contexts import format_values
from termsieve.reproduction.measurements import Measurements
from termsieve.reproduction.setting import Setting
from termsieve.table import Table, ratio

TableData = dict[str, Any]


def study_beyond(measurements: Measurements) -> list[TableData]:
    """Return the tables that go with a paper, if it has some."""
    return [make(measurements) for make in _TABLES.get(measurements.protocol.name, ())]


def _table(title: str, head: Sequence[str], rows: Sequence[Sequence[Any]], says: str, short: str) -> TableData:
    """Make a table; ``short`` has its most telling numbers in a line."""
    return {"title": title, "head": list(head), "rows": [list(row) for row in rows], "says": says, "short": short}


def _run_means(setting: Setting, measure: str) -> dict[str, dict[int, float]]:
    """Run a setting on its first split, and return a measure by score and number of terms."""
    result = setting.study(1).run_all(threads=1, progress=False)
    found: dict[str, dict[int, float]] = {}
    for row in result.table.to_pylist():
        if row["label"] == "" and row["measure"] == measure:
            found.setdefault(row["score"], {})[row["k"]] = row["value"]
    return found


def _table_of_means(title: str, setting: Setting, measure: str, says: str, at: int) -> TableData:
    """Run a setting, and table a measure; in short, with ``at`` terms."""
    means = _run_means(setting, measure)
    sizes = sorted(next(iter(means.values())))
    rows = [[name, *(round(of[k], 3) for k in sizes)] for name, of in means.items()]
    short = f"with {at} terms: {format_values({name: of[at] for name, of in means.items()})}"
    return _table(title, ["score", *(f"{k} terms" for k in sizes)], rows, says, short)


# GU


def _raw_z(measurements: Measurements) -> TableData:
    base = measurements.protocol.settings["newsgroups"]
    setting = Setting.from_dict(
        base.name,
        {
            **base.data, "first_splits": 1, "sizes": [50, 100, 200, 500, 1000],
            "scores": {
                "z of counts": "z_counts", "z of proportions": "ngl", "GU": base.scores["GU"],
                "GU, z of counts": 'gu(z="counts", min_df=1)',
            },
        },
    )  # fmt: skip
    says = "The authors tried the raw z before they weighted it. z of proportions is NGL. One split."
    return _table_of_means("The raw z as a score: macro F1", setting, "f1_macro", says, 500)


# PIP


def _ratios_of_information(measurements: Measurements) -> TableData:
    base = measurements.protocol.settings["newsgroups"]
    setting = Setting.from_dict(
        base.name,
        {
            **base.data, "first_splits": 1, "sizes": [10, 50, 200, 1000], "classifiers": {"multiNB": "multinomial_nb"},
            "scores": {
                "IG": "info_gain", "gain ratio": "gain_ratio",
                "symmetrical uncertainty": "symmetrical_uncertainty", "chi2": "chi2",
            },
        },
    )  # fmt: skip
    says = "Two relatives of information gain that Weka has, on 20 Newsgroups with the multinomial model. One split."
    return _table_of_means("Gain ratio and symmetrical uncertainty: micro F1", setting, "f1_micro", says, 200)


# IFS


def ifs_of_occurrences(t: Table) -> Array:
    """Return IFS of mean weights in place of shares of documents."""
    p, q = ratio(t.tf_c, t.n_c, empty=0.0), ratio(t.tf_nc, t.n_nc, empty=0.0)
    return np.log2(1.0 + np.square(p - q) / (1.0 + np.minimum(p, q)))


def _frequencies(measurements: Measurements) -> TableData:
    """Put tf / (1 + tf) in place of presence: the frequency counts, and a weight stays below 1."""
    rows = []
    for group in measurements.groups:
        setting = measurements.groups[group][0]
        data = measurements.first_split_data(group)
        occurrences = measurements.study(group).corpus.X[data.split.train].astype(np.float64)
        occurrences.data = occurrences.data / (1.0 + occurrences.data)
        weighted = Counts.from_matrix(occurrences, data.train_labels, classes=data.classes)
        orders = {
            "presence": score(data.counts, "ifs").order(),
            "tf / (1 + tf)": score(weighted, ifs_of_occurrences).order(),
        }
        model = next(iter(setting.classifiers.values()))
        for name, order in orders.items():
            rows.append([group, name, *(round(_micro_f1(data, order, model, k), 3) for k in (10, 50, 100, 500))])
    head = ["corpus", "IFS of", "10 terms", "50", "100", "500"]
    short = "with 100 terms: " + "; ".join(f"{group}, {name} {at_100}" for group, name, _, _, at_100, _ in rows)
    return _table("IFS with term frequencies: micro F1, first fold", head, rows, "Announced as future work.", short)


def _micro_f1(data: Any, order: Any, model: str, k: int) -> float:
    from termsieve.classify.curves import predict_curve

    known, truth = data.split_labels()
    seen, unseen = data.matrices[data.plan.weighting_of(model)]
    found = predict_curve(seen, known, unseen, order[:k], [k], data.make_model(model))
    return float(confusion(truth, found.classes[found.codes[0]]).f_beta(1.0, "micro"))


def _several_classes(measurements: Measurements) -> TableData:
    base = measurements.protocol.settings["unbalanced_sms"]
    setting = Setting.from_dict(
        base.name,
        {
            **base.data, "corpus": "20news_bydate", "sample": {}, "labels": "first", "split": {"column": "split"},
            "sizes": [20, 100, 500, 2000], "classifiers": {"NB": "multinomial_nb"}, "options": {"weighting": "count"},
        },
    )  # fmt: skip
    says = "20 Newsgroups by date, twenty classes, multinomial naive Bayes. Announced as future work."
    return _table_of_means("IFS on several classes: micro F1", setting, "f1_micro", says, 500)


# OCFS


def _wrong_labels(measurements: Measurements) -> TableData:
    sizes = (10, 100, 1000)
    found = stay_with_wrong_labels(measurements, "newsgroups", 0.1, sizes)
    rows = [[name, *(f"{share:.0%}" for share in shares)] for name, shares in found.items()]
    says = "A tenth of the training documents gets a random label; means of five draws."
    short = "of the first 100 and 1000: " + "; ".join(f"{name} {some} and {many}" for name, _, some, many in rows)
    return _table("First terms that stay with wrong labels", ["score", *map(str, sizes)], rows, says, short)


def _orthogonal_centroid(measurements: Measurements) -> TableData:
    """Project on the class means, made orthogonal by QR: what OCFS approximates by single terms."""
    data = measurements.first_split_data("newsgroups")
    train, test = next(iter(data.matrices.values()))
    known, truth = data.split_labels()
    means = np.array([np.asarray(train[known == c].mean(axis=0)).ravel() for c in range(len(data.classes))])
    basis, _ = np.linalg.qr(means.T)
    model = SVC(kernel="linear").fit(train @ basis, known)
    reached = float((model.predict(test @ basis) == truth).mean())
    scatter = score(data.counts, "ocfs").overall()
    rows: list[list[Any]] = [["orthogonal centroid (QR)", f"{len(data.classes)} directions", "100%", round(reached, 3)]]
    for name in ("OCFS", "IG", "CHI"):
        terms = {term: i for i, term in enumerate(measurements.study("newsgroups").corpus.terms.to_pylist())}
        order = [terms[term] for term in measurements.ranking("newsgroups", name)]
        for k in (10, 100, 1000):
            kept = float(scatter[order[:k]].sum() / scatter.sum())
            rows.append([name, f"{k} terms", f"{kept:.0%}", ""])
    says = "The scatter between classes that is kept, and micro F1 of the same support vector machine."
    short = f"micro F1 {reached:.3f} with {len(data.classes)} directions; scatter that 1000 terms keep: " + ", ".join(
        f"{name} {kept}" for name, how_many, kept, _ in rows if how_many == "1000 terms"
    )
    head = ["", "kept", "scatter", "micro F1"]
    return _table("The orthogonal centroid, which OCFS approximates", head, rows, says, short)


def _iris_pairs(measurements: Measurements) -> TableData:  # noqa: ARG001 - needs no corpus
    """Separate the iris flowers by each pair of features: what Figure 1 is about."""
    pairs = list(itertools.combinations((1, 2, 3, 4), 2))
    shares = {f"{a} and {b}": separate_iris((a, b)) for a, b in pairs}
    rows = [[name, f"{share:.1%}"] for name, share in sorted(shares.items(), key=lambda pair: -pair[1])]
    says = (
        "Flowers that are nearest to the mean of their own class, each left out of the means. The paper takes 3 and 1."
    )
    short = (
        f"3 and 1, which the paper takes, {shares['1 and 3']:.0%}; 2 and 4 (Figure 1b) {shares['2 and 4']:.0%}; "
        f"3 and 4 {shares['3 and 4']:.0%}"
    )
    return _table("Pairs of iris features (Figure 1)", ["features", "flowers"], rows, says, short)


def _two_stages(measurements: Measurements) -> TableData:
    base = measurements.protocol.settings["newsgroups"]
    setting = Setting.from_dict(
        base.name,
        {
            **base.data, "sizes": [10, 100, 1000], "classifiers": {"SVM": 'linear_svm(solver="liblinear")'},
            "scores": {
                "OCFS": "ocfs", "IG": "info_gain",
                "OCFS then IG": {"score": "ocfs", "rule": 'stages("ocfs", 2000, "info_gain", 1000)'},
            },
        },
    )  # fmt: skip
    says = "Of the first 2,000 terms by OCFS the best 1,000 by information gain; liblinear."
    return _table_of_means("OCFS, then information gain: micro F1", setting, "f1_micro", says, 100)


_TABLES: Mapping[str, Sequence[Callable[[Measurements], TableData]]] = {
    "gu": (_raw_z,),
    "pip": (_ratios_of_information,),
    "ifs": (_frequencies, _several_classes),
    "ocfs": (_wrong_labels, _iris_pairs, _orthogonal_centroid, _two_stages),
}

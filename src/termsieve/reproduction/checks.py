"""Claims about rankings, scores by themselves, and time, of one kind each: no split or sample varies them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from termsieve.counts.counts import Counts
from termsieve.evaluate.agreement import overlap
from termsieve.ranking.ranking import score
from termsieve.reproduction.contexts import as_list, format_values
from termsieve.reproduction.margins import Margins, decide_once, register
from termsieve.reproduction.measurements import Measurements
from termsieve.reproduction.tables import load_uci_iris

# Time


@register
def time_ratio(measurements: Measurements, where: Mapping[str, Any]) -> Margins:
    """Check that the ratio of CPU times of selecting by a score and by others lies between two bounds.

    Two cases: the formula alone, on every term; and selection as it is here, where tables that repeat are scored once.
    """
    margins, cases, said = [], [], []
    for group in as_list(where.get("groups", where.get("group", list(measurements.groups)))):
        for case, seconds in (
            ("the formula", measurements.formula_seconds(group)),
            ("as selected here", measurements.seconds(group)),
        ):
            others = as_list(where.get("over", [name for name in seconds if name != where["score"]]))
            ratios = {name: seconds[where["score"]] / seconds[name] for name in others}
            checked = [float(np.median(list(ratios.values())))] if where.get("median") else list(ratios.values())
            margins.append(min(min(where["most"] - ratio, ratio - where.get("least", 0.0)) for ratio in checked))
            cases.append(f"{group}, {case}")
            said.append(f"{cases[-1]}: {1000 * seconds[where['score']]:.1f} ms; {format_values(ratios, 2)} of theirs")
    return Margins(np.array([margins]), cases, lambda: f"CPU time of {where['score']}: {'; '.join(said)}")


@register
def linear_cost(measurements: Measurements, where: Mapping[str, Any]) -> Margins:  # noqa: ARG001 - made-up counts
    """Check that the time of scoring is linear in classes and in terms."""
    slopes = {}
    for name in as_list(where["scores"]):
        small, terms, classes = (_time_scoring(name, *shape) for shape in ((20_000, 10), (80_000, 10), (20_000, 40)))
        slopes[f"{name} in terms"] = float(np.log(terms / small) / np.log(4))
        slopes[f"{name} in classes"] = float(np.log(classes / small) / np.log(4))
    return decide_once(where["most"] - max(slopes.values()), f"exponents of CPU time: {format_values(slopes, 2)}")


def _time_scoring(name: str, n_terms: int, n_classes: int) -> float:
    X = np.random.default_rng(0).poisson(0.3, (3 * n_classes, n_terms))
    seconds = []
    for _ in range(5):
        counts = Counts.from_matrix(X, [f"class {i % n_classes}" for i in range(len(X))])
        start = time.thread_time()
        score(counts, name).overall()
        seconds.append(time.thread_time() - start)
    return min(seconds)


# Rankings


@register
def shared_terms(measurements: Measurements, where: Mapping[str, Any]) -> Margins:
    """Check that the share of first terms that two scores have in common lies between two bounds: sizes are cases."""
    group, at = measurements.group_name(where), where["at"]

    def margins_of(rankings: Mapping[str, Any]) -> list[float]:
        shares = [overlap(rankings[a], rankings[b], at).common / np.array(at) for a, b in where["pairs"]]
        above, below = np.array(shares) - where.get("least", 0.0), where.get("most", 1.0) - np.array(shares)
        return [float(margin) for margin in np.minimum(above, below).ravel()]

    names = list(dict.fromkeys(name for pair in where["pairs"] for name in pair))
    own = {name: measurements.ranking(group, name) for name in names}
    replicates = [margins_of(one) for one in measurements.iterate_resampled_rankings(group, names, max(at))]
    evidence = []
    for first, second in where["pairs"]:
        common = overlap(own[first], own[second], at).common
        shown = (f"{n / k:.0%} of {k}" for n, k in zip(common, at, strict=True))
        evidence.append(f"{first} and {second}: {', '.join(shown)}")
    cases = [f"{first} and {second}, {k}" for first, second in where["pairs"] for k in at]
    return Margins(np.array([margins_of(own), *replicates]), cases, lambda: f"in common: {'; '.join(evidence)}")


@register
def differing_terms(measurements: Measurements, where: Mapping[str, Any]) -> Margins:
    """Check that ``exactly`` this many of the first terms of each score are not shared by all: scores are cases."""
    group, names = measurements.group_name(where), list(where["scores"])

    def find_unshared(rankings: Mapping[str, Any]) -> dict[str, list[Any]]:
        tops = {name: list(rankings[name][: where["size"]]) for name in names}
        shared = set.intersection(*map(set, tops.values()))
        return {name: [term for term in top if term not in shared] for name, top in tops.items()}

    unshared = find_unshared({name: measurements.ranking(group, name) for name in names})
    replicates = [find_unshared(one) for one in measurements.iterate_resampled_rankings(group, names, where["size"])]
    counts = np.array(
        [[len(one[name]) for name in dict.fromkeys(names)] for one in (unshared, *replicates)], np.float64
    )
    shown = "; ".join(f"{name}: {', '.join(map(str, terms)) or 'none'}" for name, terms in unshared.items())
    return Margins(-np.abs(counts - where["exactly"]), list(unshared), lambda: f"not shared by all: {shown}")


@register
def frequent_terms_are_high(measurements: Measurements, where: Mapping[str, Any]) -> Margins:
    """Check that all terms with more occurrences than the cut of a corpus have a ``high`` value: terms are cases."""
    margins, cases, evidence = [], [], []
    for group, cut in where["cuts"].items():
        corpus, data = measurements.study(group).corpus, measurements.first_split_data(group)
        frequent = np.flatnonzero((corpus.counts.term_tf > cut) & (data.counts.term_df > 0))
        values = score(data.counts, where["score"]).overall()
        high = values >= where["high"]
        margins += (values[frequent] - where["high"]).tolist()
        cases += [f"{group}: {corpus.terms[i].as_py()}" for i in frequent.tolist()]
        evidence.append(f"{group}: {high[frequent].sum()} of {len(frequent)} (of all terms {high.mean():.0%})")
    head = f"very frequent terms with a value of {where['high']} or more"
    return Margins(np.array([margins]), cases, lambda: f"{head}: {'; '.join(evidence)}")


@register
def robust_to_wrong_labels(measurements: Measurements, where: Mapping[str, Any]) -> Margins:
    """Check that most of the first terms stay when some training documents get a random label: sizes are cases."""
    shares = stay_with_wrong_labels(measurements, measurements.group_name(where), where["share"], where["at"])
    own = shares[where["score"]]
    text = "; ".join(
        f"{name}: " + ", ".join(f"{share:.0%} of {k}" for share, k in zip(found, where["at"], strict=True))
        for name, found in shares.items()
    )
    cases = [f"{k} terms" for k in where["at"]]
    return Margins(np.array([own]) - where["least"], cases, lambda: f"first terms that stay: {text}")


def stay_with_wrong_labels(
    measurements: Measurements, group: str, share: float, sizes: Sequence[int], draws: int = 5
) -> dict[str, list[float]]:
    """Return for each score which share of its first terms stays when documents get random labels: a mean of draws."""
    data = measurements.first_split_data(group)
    weights = next(iter(data.matrices.values()))[0]
    labels = data.train_labels.toarray().argmax(axis=1)
    random = np.random.default_rng(0)
    tops = {name: measurements.ranking(group, name) for name in measurements.scores(group, "")}
    terms = measurements.study(group).corpus.terms.to_pylist()
    found: dict[str, list[Any]] = {name: [] for name in tops}
    for _ in range(draws):
        wrong = labels.copy()
        chosen = random.random(len(labels)) < share
        wrong[chosen] = random.integers(0, len(data.classes), int(chosen.sum()))
        counts = Counts.from_matrix(weights, [data.classes[c] for c in wrong])
        for one in measurements.groups[group][0].contenders:
            order = score(counts, one.score).order(one.aggregate)[: max(sizes)]
            found[one.name].append(overlap(tops[one.name], [terms[i] for i in order], sizes).common / np.array(sizes))
    return {name: np.mean(of, axis=0).tolist() for name, of in found.items()}


# Scores by themselves


def _two_class_tables(n: int = 12) -> Iterator[tuple[int, int, int, int]]:
    """Yield all tables of a term in two classes, of n and 2n documents."""
    for a in range(n + 1):
        for b in range(2 * n + 1):
            yield a, b, n - a, 2 * n - b


@register
def bounded(measurements: Measurements, where: Mapping[str, Any]) -> Margins:  # noqa: ARG001 - a law of the score
    """Check that a score lies between two bounds."""
    values = _score_tables(where["score"], list(_two_class_tables()))
    ok = values.min() >= where["low"] - 1e-12 and values.max() <= where["high"] + 1e-12
    text = f"{where['score']} on all tables of 12 and 24 documents: from {values.min():.4f} to {values.max():.4f}"
    return decide_once(0.0 if ok else -1.0, text)


@register
def zero_when_equally_present(measurements: Measurements, where: Mapping[str, Any]) -> Margins:  # noqa: ARG001 - as above
    """Check that a score is 0 where the shares of documents with the term are equal."""
    tables = [(a, 2 * a, 12 - a, 24 - 2 * a) for a in range(1, 12)] + [(a, a, 12 - a, 12 - a) for a in range(1, 12)]
    worst = float(np.abs(_score_tables(where["score"], tables)).max())
    return decide_once(-worst, f"{where['score']} at p = q, balanced and 1:2: at most {worst:g}")


def _score_tables(name: str, tables: list[tuple[int, int, int, int]]) -> Any:
    """Return the score of the first class in each table."""
    values = []
    for tp, fp, fn, tn in tables:
        X = np.array([1] * tp + [0] * fn + [1] * fp + [0] * tn)[:, None]
        y = ["a"] * (tp + fn) + ["b"] * (fp + tn)
        values.append(score(Counts.from_matrix(X, y), name).values[0, 0] if tp + fp else 0.0)
    return np.array(values)


@register
def iris_features(measurements: Measurements, where: Mapping[str, Any]) -> Margins:  # noqa: ARG001 - needs no corpus
    """Check that the best features of the iris flowers are ``features``."""
    X, y = load_uci_iris()
    values = score(Counts.from_matrix(X, [str(c) for c in y]), "ocfs").overall()
    best = [int(i) + 1 for i in np.argsort(-values)[: len(where["features"])]]
    shown = ", ".join(f"{i + 1}: {value:.4f}" for i, value in enumerate(values))
    ok = best == list(where["features"])
    return decide_once(0.0 if ok else -1.0, f"best: {best}, by the scores {shown}")


@register
def iris_separation(measurements: Measurements, where: Mapping[str, Any]) -> Margins:  # noqa: ARG001 - needs no corpus
    """Check that two features of the iris flowers separate the classes better than the two others: pairs are cases."""
    shares = {tuple(pair): separate_iris(pair) for pair in (*where["features"], *where["pairs"])}
    margins = [
        shares[tuple(first)] - shares[tuple(second)]
        for first, second in zip(where["features"], where["pairs"], strict=True)
    ]
    shown = ", ".join(f"{pair[0]} and {pair[1]}: {share:.1%}" for pair, share in shares.items())
    cases = [f"{first} against {second}" for first, second in zip(where["features"], where["pairs"], strict=True)]
    return Margins(np.array([margins]), cases, lambda: f"flowers nearest to the mean of their own class, by {shown}")


def separate_iris(features: Sequence[int]) -> float:
    """Return the share of the flowers that are nearest to the mean of their own class, each left out of the means."""
    X, y = load_uci_iris()
    X = X[:, [i - 1 for i in features]]
    sums = np.array([X[y == c].sum(axis=0) for c in range(3)])
    sizes = np.bincount(y)
    own = np.eye(3)[y]
    means = (sums[None] - own[:, :, None] * X[:, None]) / (sizes[None] - own)[:, :, None]
    return float((np.linalg.norm(means - X[:, None], axis=2).argmin(axis=1) == y).mean())

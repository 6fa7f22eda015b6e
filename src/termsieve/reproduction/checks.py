"""The kinds of claims: each function checks one kind, and returns the numbers as evidence."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from termsieve.counts.counts import Counts
from termsieve.evaluate.measures import overlap
from termsieve.ranking.ranking import score
from termsieve.reproduction.contexts import (
    CHECKS,
    DEFAULT_SLACK,
    Context,
    Verdict,
    as_list,
    format_values,
    make_contexts,
    register_check,
    register_context_check,
)
from termsieve.reproduction.measurements import Measurements
from termsieve.reproduction.tables import load_uci_iris

# Claims of these kinds are not about curves, and no setting changes them.
SETTING_INDEPENDENT = (
    "time ratio", "linear cost", "shared terms", "differing terms", "frequent terms are high", "bounded",
    "zero when equally present", "iris features",
)  # fmt: skip


# Curves


def _get_slack(where: Mapping[str, Any]) -> float:
    return float(where.get("slack", DEFAULT_SLACK))


def _order_violation(values: Mapping[str, float], groups: Sequence[Sequence[str]]) -> float:
    """Return by how much the order of groups is violated; 0 or less if it is not."""
    steps = [
        max(values[b] for b in after) - min(values[a] for a in before)
        for before, after in itertools.combinations(groups, 2)
        if before and after
    ]
    return max(steps, default=0.0)


@register_context_check
def order(context: Context, where: Mapping[str, Any]) -> tuple[bool, str]:
    """Check that scores of an earlier group are above those of a later one and, with ``best``, above all others."""
    values, groups = context.average(area=where.get("area", False)), [as_list(group) for group in where["order"]]
    named = {name for group in groups for name in group}
    if where.get("best", True):
        groups.append([name for name in values if name not in named])
    shown = values if where.get("best", True) else {name: value for name, value in values.items() if name in named}
    return _order_violation(values, groups) <= _get_slack(where), format_values(shown)


@register_context_check
def last(context: Context, where: Mapping[str, Any]) -> tuple[bool, str]:
    """Check that scores are below all others."""
    values, names = context.average(), as_list(where["scores"])
    others = [name for name in values if name not in names]
    return _order_violation(values, [others, names]) <= _get_slack(where), format_values(values)


@register_context_check
def above_at_every_size(context: Context, where: Mapping[str, Any]) -> tuple[bool, str]:
    """Check that a score is above others at each size."""
    name = where["score"]
    rivals = as_list(where.get("over", [other for other in context.means if other != name]))
    gaps = {k: context.means[name][k] - max(context.means[rival][k] for rival in rivals) for k in context.sizes}
    short = [k for k, gap in gaps.items() if gap < -_get_slack(where)]
    text = f"{name} minus the best of {', '.join(rivals)}: " + ", ".join(f"{k}: {gap:+.3f}" for k, gap in gaps.items())
    return not short, text if len(gaps) <= 12 else f"{name} is behind at {len(short)} of {len(gaps)} sizes"


@register_context_check
def near_the_best(context: Context, where: Mapping[str, Any]) -> tuple[bool, str]:
    """Check that a score is among the first ``places``, or within ``within`` of the best, at each size."""
    name, places, within = where["score"], where.get("places", 1), where["within"]
    behind = []
    for k in context.sizes:
        values = context.at_size(k)
        gap = max(values.values()) - values[name]
        if gap > within and sum(value > values[name] for value in values.values()) >= places:
            behind.append(f"{k} ({gap:.3f} behind {next(iter(values))})")
    mean = f"mean {context.average()[name]:.3f}, best {format_values(dict(list(context.average().items())[:1]))}"
    return not behind, mean + (f"; behind at {', '.join(behind)}" if behind else "; at every size")


@register_context_check
def often_the_best(context: Context, where: Mapping[str, Any]) -> tuple[bool, str]:
    """Check that a score is the best, or equal to it, at a share of the sizes of at least ``least``."""
    name = where["score"]
    first = [k for k in context.sizes if context.means[name][k] >= max(context.at_size(k).values()) - _get_slack(where)]
    return len(first) >= where["least"] * len(
        context.sizes
    ), f"{name} first at {len(first)} of {len(context.sizes)} sizes"


@register_context_check
def alike(context: Context, where: Mapping[str, Any]) -> tuple[bool, str]:
    """Check that two scores never differ by more than ``within``."""
    first, second = where["scores"]
    gaps = {k: abs(context.means[first][k] - context.means[second][k]) for k in context.sizes}
    worst = max(gaps, key=lambda k: gaps[k])
    mean = float(np.mean(list(gaps.values())))
    text = f"{first} and {second} differ by {gaps[worst]:.4f} at most ({worst} terms), {mean:.4f} on average"
    return gaps[worst] <= where["within"], text


@register_context_check
def best_size(context: Context, where: Mapping[str, Any]) -> tuple[bool, str]:
    """Check that a score is at its best with ``size`` terms."""
    of = context.means[where["score"]]
    best = max(of, key=lambda k: of[k])
    name, size = where["score"], where["size"]
    text = f"{name} {of[size]:.3f} with {size} terms, at its best {of[best]:.3f} with {best}"
    return of[size] >= of[best] - _get_slack(where), text


@register_context_check
def largest_gain(context: Context, where: Mapping[str, Any]) -> tuple[bool, str]:
    """Check that the mean gain of a score over others is largest with ``size`` terms."""
    name = where["score"]
    rivals = as_list(where.get("over", [other for other in context.means if other != name]))
    gains = {
        k: context.means[name][k] - float(np.mean([context.means[rival][k] for rival in rivals])) for k in context.sizes
    }
    best = max(gains, key=lambda k: gains[k])
    text = ", ".join(f"{k}: {gain:+.3f}" for k, gain in gains.items())
    return gains[where["size"]] >= gains[best] - _get_slack(
        where
    ), f"mean gain of {name} over {', '.join(rivals)}: {text}"


@register_context_check
def spread_shrinks(context: Context, where: Mapping[str, Any]) -> tuple[bool, str]:  # noqa: ARG001 - all checks have the same parameters
    """Check that the best and the worst score differ less with many terms than with few."""
    spread = {k: max(context.at_size(k).values()) - min(context.at_size(k).values()) for k in context.sizes}
    k = context.sizes
    return spread[k[-1]] < spread[k[0]], f"{spread[k[0]]:.3f} with {k[0]} terms, {spread[k[-1]]:.3f} with {k[-1]}"


@register_check
def wins(measurements: Measurements, where: Mapping[str, Any]) -> Verdict:
    """Check that a score is best (ties count) in ``at_least`` or ``exactly`` this many contexts, at one size."""
    names, size = as_list(where["scores"]), where["size"]
    contexts = make_contexts(measurements, {**where, "sizes": [size]})
    won, shown = 0, []
    for context in contexts:
        values = context.at_size(size)
        top = max(values.values())
        won += any(values[name] >= top - _get_slack(where) for name in names)
        shown.append(f"{context.name}: {format_values(dict(list(values.items())[:3]))}")
    ok = won == where["exactly"] if "exactly" in where else won >= where["at_least"]
    return Verdict(ok, f"{' or '.join(names)} best or equal in {won} of {len(contexts)} cases. {'; '.join(shown)}.")


@register_check
def gain(measurements: Measurements, where: Mapping[str, Any]) -> Verdict:
    """Check that the gain of a score over others at one size is the printed one, up to ``within``."""
    (context,) = make_contexts(measurements, {**where, "sizes": [where["size"]]})
    values, scale = context.at_size(where["size"]), where.get("scale", 1)
    ours = {name: scale * (values[where["score"]] - values[name]) for name in where["printed"]}
    ok = all(abs(ours[name] - printed) <= where["within"] for name, printed in where["printed"].items())
    return Verdict(ok, f"Ours: {format_values(ours, 2)}; printed: {format_values(where['printed'], 2)}.")


@register_check
def lower(measurements: Measurements, where: Mapping[str, Any]) -> Verdict:
    """Check that one measure is below another by at least ``by``, for all scores at each size."""
    low, high = (make_contexts(measurements, {**where, "measure": where[name]})[0] for name in ("low", "high"))
    gaps = {k: min(high.means[name][k] - low.means[name][k] for name in low.means) for k in low.sizes}
    shown = ", ".join(f"{k}: {gap:.3f}" for k, gap in gaps.items())
    return Verdict(
        min(gaps.values()) >= where["by"], f"{where['high']} minus {where['low']}, the least over scores: {shown}."
    )


# Time


@register_check
def time_ratio(measurements: Measurements, where: Mapping[str, Any]) -> Verdict:
    """Check that the ratio of CPU times of selecting by a score and by others lies between two bounds."""
    evidence, ok = [], True
    for group in as_list(where.get("groups", where.get("group", list(measurements.groups)))):
        seconds = measurements.seconds(group)
        others = as_list(where.get("over", [name for name in seconds if name != where["score"]]))
        ratios = {name: seconds[where["score"]] / seconds[name] for name in others}
        checked = [float(np.median(list(ratios.values())))] if where.get("median") else list(ratios.values())
        ok &= all(where.get("least", 0.0) <= ratio <= where["most"] for ratio in checked)
        evidence.append(f"{group}: {1000 * seconds[where['score']]:.1f} ms; " + format_values(ratios, 2) + " of theirs")
    return Verdict(ok, f"CPU time of {where['score']}, scoring and sorting alone: {'; '.join(evidence)}.")


@register_check
def linear_cost(measurements: Measurements, where: Mapping[str, Any]) -> Verdict:  # noqa: ARG001 - made-up counts
    """Check that the time of scoring is linear in classes and in terms."""
    slopes = {}
    for name in as_list(where["scores"]):
        small, terms, classes = (_time_scoring(name, *shape) for shape in ((20_000, 10), (80_000, 10), (20_000, 40)))
        slopes[f"{name} in terms"] = float(np.log(terms / small) / np.log(4))
        slopes[f"{name} in classes"] = float(np.log(classes / small) / np.log(4))
    ok = all(slope <= where["most"] for slope in slopes.values())
    return Verdict(ok, f"Exponents of CPU time: {format_values(slopes, 2)}.")


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


@register_check
def shared_terms(measurements: Measurements, where: Mapping[str, Any]) -> Verdict:
    """Check that the share of first terms that two scores have in common lies between two bounds, at each size."""
    group, evidence, ok = measurements.group_name(where), [], True
    for first, second in where["pairs"]:
        a, b = measurements.ranking(group, first), measurements.ranking(group, second)
        common = overlap(a, b, where["at"]).common
        shares = common / np.array(where["at"])
        ok &= bool(np.all((shares >= where.get("least", 0.0)) & (shares <= where.get("most", 1.0))))
        shown = (f"{share:.0%} of {k}" for share, k in zip(shares, where["at"], strict=True))
        evidence.append(f"{first} and {second}: {', '.join(shown)}")
    return Verdict(ok, f"In common: {'; '.join(evidence)}.")


@register_check
def differing_terms(measurements: Measurements, where: Mapping[str, Any]) -> Verdict:
    """Check that ``exactly`` this many of the first terms of each score are not shared by all."""
    group = measurements.group_name(where)
    tops = {name: measurements.ranking(group, name)[: where["size"]] for name in where["scores"]}
    shared = set.intersection(*map(set, tops.values()))
    apart = {name: [term for term in top if term not in shared] for name, top in tops.items()}
    shown = "; ".join(f"{name}: {', '.join(terms) or 'none'}" for name, terms in apart.items())
    return Verdict(all(len(terms) == where["exactly"] for terms in apart.values()), f"Not shared by all: {shown}.")


@register_check
def frequent_terms_are_high(measurements: Measurements, where: Mapping[str, Any]) -> Verdict:
    """Check that most of the most frequent terms are among the first of the score."""
    evidence, ok = [], True
    for group in measurements.groups:
        data = measurements.first_split_data(group)
        first = score(data.counts, where["score"]).order()[: where["among"]]
        frequent = np.argsort(-data.occurrences.term_tf, kind="stable")[: where["terms"]]
        share = float(np.isin(frequent, first).mean())
        ok &= share >= where["least"]
        evidence.append(f"{group}: {share:.0%} (of all terms {where['among'] / data.counts.n_terms:.1%})")
    head = f"Of the {where['terms']} most frequent terms, among the first {where['among']}"
    return Verdict(ok, f"{head}: {'; '.join(evidence)}.")


# Scores by themselves


def _two_class_tables(n: int = 12) -> Iterator[tuple[int, int, int, int]]:
    """Yield all tables of a term in two classes, of n and 2n documents."""
    for a in range(n + 1):
        for b in range(2 * n + 1):
            yield a, b, n - a, 2 * n - b


@register_check
def bounded(measurements: Measurements, where: Mapping[str, Any]) -> Verdict:  # noqa: ARG001 - a law of the score
    """Check that a score lies between two bounds."""
    values = _score_tables(where["score"], list(_two_class_tables()))
    ok = values.min() >= where["low"] - 1e-12 and values.max() <= where["high"] + 1e-12
    text = f"{where['score']} on all tables of 12 and 24 documents: from {values.min():.4f} to {values.max():.4f}."
    return Verdict(bool(ok), text)


@register_check
def zero_when_equally_present(measurements: Measurements, where: Mapping[str, Any]) -> Verdict:  # noqa: ARG001 - as above
    """Check that a score is 0 where the shares of documents with the term are equal."""
    tables = [(a, 2 * a, 12 - a, 24 - 2 * a) for a in range(1, 12)] + [(a, a, 12 - a, 12 - a) for a in range(1, 12)]
    worst = float(np.abs(_score_tables(where["score"], tables)).max())
    return Verdict(worst == 0.0, f"{where['score']} at p = q, balanced and 1:2: at most {worst:g}.")


def _score_tables(name: str, tables: list[tuple[int, int, int, int]]) -> Any:
    """Return the score of the first class in each table."""
    values = []
    for tp, fp, fn, tn in tables:
        X = np.array([1] * tp + [0] * fn + [1] * fp + [0] * tn)[:, None]
        y = ["a"] * (tp + fn) + ["b"] * (fp + tn)
        values.append(score(Counts.from_matrix(X, y), name).values[0, 0] if tp + fp else 0.0)
    return np.array(values)


@register_check
def iris_features(measurements: Measurements, where: Mapping[str, Any]) -> Verdict:  # noqa: ARG001 - needs no corpus
    """Check that the best features of the iris flowers are ``features``."""
    X, y = load_uci_iris()
    values = score(Counts.from_matrix(X, [str(c) for c in y]), "ocfs").overall()
    best = [int(i) + 1 for i in np.argsort(-values)[: len(where["features"])]]
    shown = ", ".join(f"{i + 1}: {value:.4f}" for i, value in enumerate(values))
    return Verdict(best == list(where["features"]), f"Best: {best}, by the scores {shown}.")


@register_check
def all_of(measurements: Measurements, where: Mapping[str, Any]) -> Verdict:
    """Check that several checks, each with a ``check`` and a ``where`` of its own, all hold."""
    common = {key: value for key, value in where.items() if key != "parts"}
    verdicts = [CHECKS[part["check"]](measurements, {**common, **part}) for part in where["parts"]]
    evidence = [f"({'yes' if one.holds else 'no'}) {one.evidence}" for one in verdicts]
    return Verdict(all(one.holds for one in verdicts), " ".join(evidence))

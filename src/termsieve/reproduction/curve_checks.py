"""Claims about curves, of one kind each."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np

from termsieve._types import Array
from termsieve.reproduction.contexts import ClaimSource, Context, as_list, format_values, make_contexts
from termsieve.reproduction.margins import CHECKS, Margins, Where, register, register_in_contexts


def _make_single_case(margin: Array, describe: Callable[[], str]) -> Margins:
    return Margins(np.asarray(margin)[..., None], [""], describe)


@register_in_contexts
def order(context: Context, where: Where) -> Margins:
    """Check that scores of an earlier group are above those of a later one and, with ``best``, above all others.

    Each of the ``families`` is as good as the best of its members.
    """
    context = _merge_families(context, where)
    values, groups = context.average(area=where.get("area", False)), [as_list(group) for group in where["order"]]
    named = [name for group in groups for name in group]
    if where.get("best", True):
        groups.append(context.others(named))
    steps = [
        values[..., context.places(before)].min(axis=-1) - values[..., context.places(after)].max(axis=-1)
        for before, after in itertools.combinations(groups, 2)
        if before and after
    ]
    margin = np.min(steps, axis=0) + where.get("slack", 0.0)

    def describe() -> str:
        means = context.best_first(values)
        return format_values(means if where.get("best", True) else {n: v for n, v in means.items() if n in named})

    return _make_single_case(margin, describe)


def _merge_families(context: Context, where: Where) -> Context:
    """Put the best member in place of a family, if there are some, and averages in place of curves."""
    if "families" not in where:
        return context
    averages = context.average(area=where.get("area", False))
    members = {name for family in where["families"].values() for name in family}
    alone = [name for name in context.scores if name not in members]
    best = [averages[..., context.places(family)].max(axis=-1) for family in where["families"].values()]
    values = np.concatenate([averages[..., context.places(alone)], np.stack(best, axis=-1)], axis=-1)
    return Context(context.name, [*alone, *where["families"]], [0], values[..., None])


@register_in_contexts
def last(context: Context, where: Where) -> Margins:
    """Check that scores are below all others."""
    values, names = context.average(), as_list(where["scores"])
    others = values[..., context.places(context.others(names))].min(axis=-1)
    margin = others - values[..., context.places(names)].max(axis=-1)
    return _make_single_case(margin, lambda: format_values(context.best_first(values)))


@register_in_contexts
def among_the_first(context: Context, where: Where) -> Margins:
    """Check that scores are among the first ``places`` (or, with a negative number, among the last)."""
    values, names, places = context.average(area=where.get("area", False)), as_list(where["scores"]), where["places"]
    others = np.sort(values[..., context.places(context.others(names))], axis=-1)
    mine = values[..., context.places(names)]
    if places > 0:
        margin = mine.min(axis=-1) - others[..., len(names) - 1 - places]
    else:
        margin = others[..., -places - len(names)] - mine.max(axis=-1)
    return _make_single_case(margin, lambda: format_values(context.best_first(values)))


def _list_rivals(context: Context, where: Where) -> list[str]:
    return as_list(where.get("over", context.others([where["score"]])))


@register_in_contexts
def above_at_every_size(context: Context, where: Where) -> Margins:
    """Check that a score is above others: each size is a case."""
    rivals = _list_rivals(context, where)
    gaps = context.of(where["score"])[..., 0, :] - context.of(*rivals).max(axis=-2) + where.get("slack", 0.0)

    def describe() -> str:
        means = gaps.reshape(-1, len(context.sizes)).mean(axis=0)
        shown = ", ".join(f"{k}: {gap:+.3f}" for k, gap in zip(context.sizes, means, strict=True))
        return f"{where['score']} minus the best of {', '.join(rivals)}: {shown}"

    return Margins(gaps, [f"{k} terms" for k in context.sizes], describe)


@register_in_contexts
def near_the_best(context: Context, where: Where) -> Margins:
    """Check that a score is among the first ``places``, or within ``within`` of the best: each size is a case."""
    name, places = where["score"], where.get("places", 1)
    mine = context.of(name)[..., 0, :]
    others = np.sort(context.of(*context.others([name])), axis=-2)
    gap = others[..., -1, :] - mine
    margins = np.maximum(where["within"] - gap, mine - others[..., -places, :])

    def describe() -> str:
        means = gap.reshape(-1, len(context.sizes)).mean(axis=0)
        shown = ", ".join(f"{k}: {value:+.3f}" for k, value in zip(context.sizes, -means, strict=True))
        return f"{name} minus the best other: {shown}"

    return Margins(margins, [f"{k} terms" for k in context.sizes], describe)


@register_in_contexts
def often_the_best(context: Context, where: Where) -> Margins:
    """Check that a score is the best at a share of the sizes of at least ``least``; ties do not count."""
    name = where["score"]
    ahead = context.of(name)[..., 0, :] > context.of(*context.others([name])).max(axis=-2)
    mean = context.values.reshape(-1, *context.values.shape[-2:]).mean(axis=0)
    first = int((mean.argmax(axis=0) == context.scores.index(name)).sum())
    text = f"{name} alone first at {first} of {len(context.sizes)} sizes"
    return _make_single_case(ahead.mean(axis=-1) - where["least"], lambda: text)


@register_in_contexts
def alike(context: Context, where: Where) -> Margins:
    """Check that two scores differ by no more than ``within`` on average over the sizes."""
    first, second = where["scores"]
    gaps = context.of(first)[..., 0, :] - context.of(second)[..., 0, :]
    mean = gaps.mean(axis=-1)

    def describe() -> str:
        return (
            f"{first} minus {second}: {float(np.mean(mean)):+.4f} on average, largest {float(np.abs(gaps).max()):.3f}"
        )

    return _make_single_case(where["within"] - np.abs(mean), describe)


@register_in_contexts
def best_size(context: Context, where: Where) -> Margins:
    """Check that a score is at its best with ``size`` terms."""
    name, size = where["score"], where["size"]
    mine = context.of(name)[..., 0, :]
    at = context.sizes.index(size)
    others = np.delete(mine, at, axis=-1).max(axis=-1)

    def describe() -> str:
        means = mine.reshape(-1, len(context.sizes)).mean(axis=0)
        best = int(means.argmax())
        return f"{name} {means[at]:.3f} with {size} terms, at its best {means[best]:.3f} with {context.sizes[best]}"

    return _make_single_case(mine[..., at] - others, describe)


@register_in_contexts
def largest_gain(context: Context, where: Where) -> Margins:
    """Check that the mean gain of a score over others is largest with ``size`` terms."""
    rivals, at = _list_rivals(context, where), context.sizes.index(where["size"])
    gains = context.of(where["score"])[..., 0, :] - context.of(*rivals).mean(axis=-2)

    def describe() -> str:
        means = gains.reshape(-1, len(context.sizes)).mean(axis=0)
        shown = ", ".join(f"{k}: {gain:+.3f}" for k, gain in zip(context.sizes, means, strict=True))
        return f"mean gain of {where['score']} over {', '.join(rivals)}: {shown}"

    return _make_single_case(gains[..., at] - np.delete(gains, at, axis=-1).max(axis=-1), describe)


@register_in_contexts
def spread_shrinks(context: Context, where: Where) -> Margins:  # noqa: ARG001 - all checks have the same parameters
    """Check that the best and the worst score differ less with many terms than with few."""
    spread = context.values.max(axis=-2) - context.values.min(axis=-2)
    first, final = (float(spread[..., at].mean()) for at in (0, -1))
    text = f"{first:.3f} with {context.sizes[0]} terms, {final:.3f} with {context.sizes[-1]}"
    return _make_single_case(spread[..., 0] - spread[..., -1], lambda: text)


@register_in_contexts
def gain(context: Context, where: Where) -> Margins:
    """Check that the gains of a score over others at one size are the printed ones, up to ``within``."""
    at, scale = context.sizes.index(where["size"]), where.get("scale", 1)
    mine = context.of(where["score"])[..., 0, at]
    gaps = {
        name: scale * (mine - context.of(name)[..., 0, at]) for name in where["printed"]
    }  # in the unit of what is printed
    off = [where["within"] - np.abs(gaps[name] - printed) for name, printed in where["printed"].items()]

    def describe() -> str:
        ours = {name: float(np.mean(of)) for name, of in gaps.items()}
        return f"ours: {format_values(ours, 2)}; printed: {format_values(where['printed'], 2)}"

    return Margins(np.stack(off, axis=-1), [f"over {name}" for name in gaps], describe)


# Several contexts at once


def _lead_of(contexts: Sequence[Context], names: Sequence[str], size: int) -> Array:
    """Return by how much the best of some scores is ahead of all others at one size: replicates x contexts."""
    leads = []
    for context in contexts:
        at = context.values[..., context.sizes.index(size)]
        others = at[..., context.places(context.others(names))].max(axis=-1)
        leads.append(at[..., context.places(names)].max(axis=-1) - others)
    fewest = min(len(one) for one in leads)
    return np.stack([one[:fewest] for one in leads], axis=-1)


@register
def wins(source: ClaimSource, where: Where) -> Margins:
    """Check that one of some scores is best in ``at_least`` or ``exactly`` this many contexts, at one size."""
    names, size = as_list(where["scores"]), where["size"]
    contexts = make_contexts(source, where)
    leads = _lead_of(contexts, names, size)
    won = (leads >= -where.get("slack", 0.0)).sum(axis=-1)
    margin = -np.abs(won - where["exactly"]) if "exactly" in where else won - where["at_least"]

    def describe() -> str:
        mean = leads.reshape(-1, len(contexts)).mean(axis=0)
        shown = ", ".join(f"{one.name} {lead:+.3f}" for one, lead in zip(contexts, mean, strict=True))
        return f"{' or '.join(names)} minus the best other with {size} terms: {shown}"

    return _make_single_case(margin.astype(float), describe)


@register
def wins_more(source: ClaimSource, where: Where) -> Margins:
    """Check that some scores are best in more contexts of the first group than of the second, at one size."""
    names, size = as_list(where["scores"]), where["size"]
    won = [
        (_lead_of(make_contexts(source, {**where, "groups": [group]}), names, size) >= 0).sum(axis=-1)
        for group in where["groups"]
    ]
    fewest = min(len(one) for one in won)
    first, second = (one[:fewest] for one in won)

    def describe() -> str:
        means = {group: float(one.mean()) for group, one in zip(where["groups"], won, strict=True)}
        return f"cases won by one of {', '.join(names)} with {size} terms: {format_values(means, 1)}"

    return _make_single_case(first - second - 0.5, describe)


@register
def ties(source: ClaimSource, where: Where) -> Margins:
    """Check that one of some scores comes within ``within`` of another in ``at_least`` this many contexts."""
    names, size, contexts = as_list(where["scores"]), where["size"], make_contexts(source, where)
    gaps = []
    for context in contexts:
        at = context.values[..., context.sizes.index(size)]
        best = at[..., context.places(names)].max(axis=-1)
        gaps.append(best - at[..., context.places([where["score"]])][..., 0])
    fewest = min(len(one) for one in gaps)
    stacked = np.stack([one[:fewest] for one in gaps], axis=-1)
    near = (np.abs(stacked) <= where["within"]).sum(axis=-1)

    def describe() -> str:
        mean = stacked.reshape(-1, len(contexts)).mean(axis=0)
        shown = ", ".join(f"{one.name} {gap:+.3f}" for one, gap in zip(contexts, mean, strict=True))
        return f"best of {', '.join(names)} minus {where['score']} with {size} terms: {shown}"

    return _make_single_case(near - float(where["at_least"]), describe)


@register
def no_winner(source: ClaimSource, where: Where) -> Margins:
    """Check that no score is best, on average, in all contexts."""
    contexts = make_contexts(source, where)
    fewest = min(len(one.values) for one in contexts)
    first = [one.average(area=where.get("area", False))[:fewest].argmax(axis=-1) for one in contexts]
    most = np.max([(np.stack(first) == s).sum(axis=0) for s in range(len(contexts[0].scores))], axis=0)

    def describe() -> str:
        best = [next(iter(one.best_first(one.average(area=where.get("area", False))))) for one in contexts]
        return ", ".join(f"{one.name}: {name}" for one, name in zip(contexts, best, strict=True))

    return _make_single_case(len(contexts) - 1.0 - most, describe)


@register
def lower(source: ClaimSource, where: Where) -> Margins:
    """Check that one measure is below another by at least ``by``, for all scores: each size is a case."""
    low, high = (make_contexts(source, {**where, "measure": where[name]})[0] for name in ("low", "high"))
    gaps = (high.values - low.values).min(axis=-2)

    def describe() -> str:
        means = gaps.reshape(-1, len(low.sizes)).mean(axis=0)
        shown = ", ".join(f"{k}: {gap:.3f}" for k, gap in zip(low.sizes, means, strict=True))
        return f"{where['high']} minus {where['low']}, the least over scores: {shown}"

    return Margins(gaps - where["by"], [f"{k} terms" for k in low.sizes], describe)


@register
def classes_gain(source: ClaimSource, where: Where) -> Margins:
    """Check that a score loses less than ``within`` against others on large classes, and gains on small ones."""
    cases, margins, said = [], [], []
    for what, least in (("large", -where["within"]), ("small", 0.0)):
        gaps = []
        for label in where[what]:
            (context,) = make_contexts(source, {**where, "measure": f"f1 of {label}"})
            at = context.values[..., context.sizes.index(where["size"])]
            rivals = at[..., context.places(as_list(where["over"]))].mean(axis=-1)
            gaps.append(at[..., context.places([where["score"]])][..., 0] - rivals)
            said.append(f"{label} {float(gaps[-1].mean()):+.3f}")
        margins.append(np.mean(gaps, axis=0) - least)
        cases.append(f"{what} classes")
    return Margins(np.stack(margins, axis=-1), cases, lambda: f"gain in F1 by class: {', '.join(said)}")


@register
def all_of(source: ClaimSource, where: Where) -> Margins:
    """Check several claims at once, each with a ``check`` and a ``where`` of its own: their cases together."""
    common = {key: value for key, value in where.items() if key != "parts"}
    parts = [CHECKS[part["check"]](source, {**common, **part}) for part in where["parts"]]
    fewest = min(len(part.values) for part in parts)
    values = np.concatenate([part.values[:fewest] for part in parts], axis=-1)
    names = [f"({n}) {case}".strip() for n, part in enumerate(parts, 1) for case in part.cases]
    return Margins(values, names, lambda: " ".join(f"({n}) {one.describe()}" for n, one in enumerate(parts, 1)))

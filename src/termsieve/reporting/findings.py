"""Findings: the most striking facts about a result, one sentence each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow.compute as pc

from termsieve.classify.recipes import recipe_title
from termsieve.reporting.formatting import format_name
from termsieve.reporting.report_data import ReportData
from termsieve.scores.parsing import score_title
from termsieve.study.recommendation import Recommendation
from termsieve.study.results import Comparison
from termsieve.views import format_measure, format_percent

# differences of F1 from which on a finding has full weight
_LARGE_GAP = 0.3
_LARGE_CLASS_GAP = 0.15
_PERFECT_F1 = 0.995  # an F1 that more terms can hardly improve
_FEW_DOCUMENTS = 5  # a term of fewer may be in one class alone by chance
_FREQUENT = 0.5  # a share of documents
_SAME_EVERYWHERE = 0.1  # a difference of the shares in the classes that tells nothing
_POOR_F1 = 0.5  # an F1 below which no number of terms is called enough


class Finding(NamedTuple):
    """A sentence, and how striking it is, from 0 to 1."""

    sentence: str
    weight: float


def make_headline(data: ReportData) -> str:
    """Make the headline: the one thing to remember."""
    if data.result is not None:
        return _result_headline(data, data.result)
    counts = data.ranked_counts
    names = [format_name(str(counts.classes[c]), 30) for c in np.argsort(-counts.class_sizes, kind="stable")]
    classes = ", ".join(names[:-1]) + f" and {names[-1]}" if len(names) <= 4 else f"{len(names):,} classes"
    return f"What tells {classes} apart"


def _result_headline(data: ReportData, result: Comparison) -> str:
    """Tell how few terms are enough, or why the result cannot tell."""
    choice = result.recommended()
    value = f"macro F1 {format_measure(choice.mean)}"
    if choice.small_class is not None:
        return f"Too little to say: {choice.small_class.label!r} has {choice.small_class.size}"
    few = choice.chosen.terms
    if choice.mean <= _guessing_f1(data, result):
        return f"No better than guessing: {few} do as well as any, {value}"
    if choice.mean < _POOR_F1:
        return f"None does well: {few} do as well as any, {value}"
    if not choice.is_enough:
        return f"{few} reach {value}, which is not enough: all {choice.best.k:,} terms do better"
    if choice.is_all and len(result.ks) > 1 and choice.mean < _PERFECT_F1:
        return f"It takes all {choice.k:,} terms: {value}; fewer are not enough"
    if choice.is_at_edge and choice.mean < _PERFECT_F1:
        return f"{few}, the most that were tried, reach {value}; more may do better"
    return f"{few} {choice.sufficiency}: {value}"


def _guessing_f1(data: ReportData, result: Comparison) -> float:
    """Return the macro F1 of guesses in the proportions of the classes; always naming the largest is no better."""
    counts = data.counts
    if counts is not None and counts.n_docs:
        return float(np.mean(counts.class_sizes / counts.n_docs))
    labels = [label for label in result.table["label"].unique().to_pylist() if label]
    return 1 / len(labels) if labels else 0.0


def make_explanation(data: ReportData) -> str:
    """Explain the headline in plain words."""
    if data.result is None:
        names = [one.scores.score for one in data.contenders]
        ways = f"{names[0].title} ({data.names[0]})" if len(names) == 1 else f"{len(names)} scores"
        return f"{data.ranked_counts.n_terms:,} terms, ranked by {ways}."
    choice = data.result.recommended()
    n_terms = 0 if data.counts is None else data.counts.n_terms
    share = f" ({format_percent(choice.k / n_terms)} of {n_terms:,})" if n_terms >= choice.k else ""
    model = f"{recipe_title(choice.classifier)} with {choice.k:,} {_term_or_terms(choice.k)}{share}"
    told = f"{model} has a macro F1 of {format_measure(choice.mean)}, {_describe_gap(choice)}."
    return f"{told} {choice.stability}".rstrip()


def _describe_gap(choice: Recommendation) -> str:
    gap = choice.against_best
    if gap is None:
        return f"the best of everything that was tried{_describe_fewer(choice)}"
    near = f"the best of everything tried has {format_measure(choice.best.mean)} ({choice.best.terms})"
    if gap.worse is None:
        return f"within the margin of {choice.margin:g}: {near}{_describe_fewer(choice)}"
    return (
        f"{'within' if choice.is_enough else 'more than'} one standard error of the difference "
        f"({format_measure(gap.standard_error or 0)}): {near}. It loses more than {choice.margin:g} with a probability "
        f"of {format_percent(gap.worse)}{_describe_fewer(choice)}"
    )


def _describe_fewer(choice: Recommendation) -> str:
    """Tell the best with fewer terms; nothing where none were tried."""
    fewer = choice.fewer
    if fewer is None:
        return ""
    return f"; the best with fewer, {fewer.terms}, has {format_measure(fewer.mean)}, not enough by the same rule"


def list_findings(data: ReportData) -> list[Finding]:
    """List all findings, the most striking first."""
    kinds = [
        _find_enough_terms,
        _find_ways,
        _find_score_gap,
        _find_classifier_gap,
        _find_hardest_class,
        _find_agreement,
        _find_best_term,
        _find_exclusive_term,
        _find_empty_term,
        _find_rare_terms,
    ]
    findings = [finding for kind in kinds for finding in kind(data)]
    return sorted(findings, key=lambda finding: -finding.weight)


def _find_enough_terms(data: ReportData) -> Iterator[Finding]:
    if data.result is not None:
        yield Finding(f"{make_headline(data)}. {make_explanation(data)}", 1.0)


def _find_ways(data: ReportData) -> Iterator[Finding]:
    """Find what other ways to prepare the texts say, where they were tried."""
    ways = None if data.result is None else data.result.settings.get("multiverse")
    if ways:
        yield Finding(f"{ways['conclusion']}; {ways['certainty']}.", 0.99)


def _find_score_gap(data: ReportData) -> Iterator[Finding]:
    """Find the number of terms at which the scores differ most, with the recommended classifier."""
    result = data.result
    if result is None or len(result.scores) < 2:
        return
    model = result.recommended().classifier
    by_k: dict[int, list[tuple[float, str]]] = {}
    for row in result.summary().to_pylist():
        if row["classifier"] == model:
            by_k.setdefault(row["k"], []).append((row["mean"], row["score"]))
    k, means = max(by_k.items(), key=lambda item: max(item[1])[0] - min(item[1])[0])
    (high, best), (low, worst) = max(means), min(means)
    sentence = (
        f"With {recipe_title(model)}, the choice of the score matters most at {k:,} {_term_or_terms(k)}: "
        f"{score_title(best)} has a macro F1 of {format_measure(high)}, {score_title(worst)} of {format_measure(low)}."
    )
    yield Finding(sentence, min((high - low) / _LARGE_GAP, 1) * 0.45)


def _find_classifier_gap(data: ReportData) -> Iterator[Finding]:
    """Find the score and number of terms at which two classifiers differ most."""
    result = data.result
    if result is None or len(result.classifiers) < 2:
        return
    cells: dict[tuple[str, int], list[tuple[float, str]]] = {}
    for row in result.summary().to_pylist():
        cells.setdefault((row["score"], row["k"]), []).append((row["mean"], row["classifier"]))
    (name, k), means = max(cells.items(), key=lambda item: max(item[1])[0] - min(item[1])[0])
    (high, best), (low, worst) = max(means), min(means)
    better, worse = format_measure(high), format_measure(low)
    ranked = f"{k:,} {_term_or_terms(k)} by {score_title(name)}"
    sentence = f"With {ranked}, {recipe_title(best)} has a macro F1 of {better} and {recipe_title(worst)} of {worse}."
    yield Finding(sentence, min((high - low) / _LARGE_GAP, 1) * 0.4)


def _find_hardest_class(data: ReportData) -> Iterator[Finding]:
    result = data.result
    if result is None:
        return
    choice = result.recommended()
    rows = result.table.filter(
        (pc.field("classifier") == choice.classifier) & (pc.field("score") == choice.score)
        & (pc.field("k") == choice.k) & (pc.field("measure") == "f1") & (pc.field("label") != "")
    ).group_by("label").aggregate([("value", "mean")]).to_pylist()  # fmt: skip
    if len(rows) < 2:
        return
    hard, easy = (choose(rows, key=lambda row: row["value_mean"]) for choose in (min, max))
    if choice.small_class is not None and choice.small_class.label in (hard["label"], easy["label"]):
        return  # it has too few documents to tell
    sentence = (
        f"{format_name(hard['label'])} is the hardest class to tell, with an F1 of "
        f"{format_measure(hard['value_mean'])}; {format_name(easy['label'])} the easiest, with "
        f"{format_measure(easy['value_mean'])}."
    )
    yield Finding(sentence, min((easy["value_mean"] - hard["value_mean"]) / _LARGE_CLASS_GAP, 1) * 0.7)


def _find_agreement(data: ReportData) -> Iterator[Finding]:
    if len(data.contenders) < 2:
        return
    k = _reference_k(data)
    at = [one for one in data.agreements if one.k == k]
    near, far = max(at, key=lambda one: one.share), min(at, key=lambda one: one.share)
    pairs = [f"{score_title(one.first)} and {score_title(one.second)}" for one in (near, far)]
    sentence = f"{pairs[0]} have {near.share * k:,.0f} of their first {k:,} terms in common"
    sentence += f", {pairs[1]} {far.share * k:,.0f}." if far != near else "."
    yield Finding(sentence, (near.share - far.share) * 0.5 if far != near else 0.3)


def _reference_k(data: ReportData) -> int:
    """Return the number of terms nearest to the recommended one, or to 100."""
    wanted = 100 if data.result is None else data.result.recommended().k
    return min(data.ks, key=lambda k: (abs(k - wanted), k))


def _name_best_term(data: ReportData) -> str:
    """Return the most telling term by the score of the page."""
    leading = data.leading_contender
    return str(leading.scores.terms[int(data.orders[leading.name][0])])


def _find_best_term(data: ReportData) -> Iterator[Finding]:
    """Find the most telling term by the score of the page, which its lists show first, too."""
    if not data.contenders:
        return
    leading = data.leading_contender
    place = int(data.orders[leading.name][0])
    label = int(leading.scores.associated_class[place])
    best = next((row for row in leading.scores.top_of_class(label, 1) if row.term == leading.scores.terms[place]), None)
    if best is None:
        return
    inside, outside = _rate(best.tp, best.fn), _rate(best.fp, best.tn)
    sentence = (
        f"By {score_title(leading.name)}, no word tells more than “{format_name(best.term)}”: {format_percent(inside)} "
        f"of the documents of {format_name(best.label)} have it, {format_percent(outside)} of the others."
    )
    yield Finding(sentence, 0.9)


def _find_exclusive_term(data: ReportData) -> Iterator[Finding]:
    """Find the term that is in one class alone, in most of its documents; not the best one, which has a finding."""
    counts = data.counts
    if counts is None or counts.n_multilabel or not counts.n_terms:
        return
    spread = counts.df.tocsc()
    alone = np.flatnonzero(np.diff(spread.indptr) == 1)
    if data.contenders:
        alone = alone[counts.terms[alone] != _name_best_term(data)]
    if not len(alone):
        return
    inside = spread.data[spread.indptr[alone]] / counts.class_sizes[spread.indices[spread.indptr[alone]]]
    first = int(inside.argmax())
    place, share = int(alone[first]), float(inside[first])
    if counts.term_df[place] < _FEW_DOCUMENTS:
        return
    label = counts.classes[spread.indices[spread.indptr[place]]]
    sentence = (
        f"“{format_name(str(counts.terms[place]))}” is in {format_percent(share)} of the documents of "
        f"{format_name(str(label))}, and in none of the others."
    )
    yield Finding(sentence, 0.8)


def _find_empty_term(data: ReportData) -> Iterator[Finding]:
    """Find a term that many documents have and that tells little."""
    counts = data.counts
    if counts is None or not counts.n_terms or counts.n_multilabel or not counts.n_docs:
        return
    place = int(counts.term_df.argmax())
    share = counts.term_df[place] / counts.n_docs
    by_class = counts.df[:, [place]].toarray().ravel() / np.maximum(counts.class_sizes, 1)
    spread = float(by_class.max() - by_class.min())
    if share < _FREQUENT or spread > _SAME_EVERYWHERE:
        return
    low, high = (format_percent(float(end)) for end in (by_class.min(), by_class.max()))
    sentence = (
        f"“{format_name(str(counts.terms[place]))}” is the most frequent word, in {format_percent(share)} of the "
        f"documents, and tells little: {low} to {high} of the documents of each class have it."
    )
    yield Finding(sentence, 0.6)


def _rate(part: int, rest: int) -> float:
    return part / max(part + rest, 1)


def _find_rare_terms(data: ReportData) -> Iterator[Finding]:
    if data.counts is None or not data.counts.n_terms:
        return
    share = float((data.counts.term_df == 1).mean())
    yield Finding(
        f"{format_percent(share)} of the {data.counts.n_terms:,} terms are in one document only.", share * 0.4
    )


def _term_or_terms(k: int) -> str:
    return "term" if k == 1 else "terms"

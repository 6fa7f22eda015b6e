"""Whether a conclusion survives choices nobody thought about: the same comparison in every way to prepare the texts."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np

from termsieve.counts.counting import resolve_threads
from termsieve.defaults import DEFAULT_MEASURE, MULTIVERSE_CLASSIFIER
from termsieve.documents import Documents
from termsieve.errors import OptionError, did_you_mean
from termsieve.evaluate.differences import paired_difference
from termsieve.evaluate.influence import Influence, rank_choices
from termsieve.study.corpus import Corpus, read_corpus
from termsieve.study.plan import GRID, SAMPLE, SCORES, Contender, Plan
from termsieve.study.results import Comparison
from termsieve.study.search import Search, count_rankable
from termsieve.study.study import Study, make_plan_splits
from termsieve.tokens.analyzer import Analyzer
from termsieve.views import format_percent

MOST_WAYS = 1000
USUAL: Mapping[str, Sequence[Any]] = {"lowercase": [True, False], "stop_words": [None, "smart"], "min_df": [1, 3]}
LITTLE = 0.1  # a choice that explains less of the outcome does not decide it
# Choices as a sentence has them; others by their names
_WORDS = {
    "lowercase": "lower-casing", "stop_words": "the stop list", "min_df": "min_df (rare words)",
    "min_tf": "min_tf (rare words)", "token_pattern": "what a word is", "ngram_range": "pairs of words",
    "weighting": "the weighting", "stemmer": "stemming", "strip_accents": "stripping accents",
}  # fmt: skip
# What may be varied: fields of the analyzer, and of the plan
ANALYZER_FIELDS = tuple(one.name for one in fields(Analyzer) if one.name not in ("tokenizer", "strip"))
PLAN_FIELDS = ("min_df", "min_tf", "weighting", "weigh", "drop_empty", "per_class", "one_vs_rest", "seed")


@dataclass(frozen=True)
class PreparationResult:
    """One way to prepare the texts, and what came of it.

    Attributes
    ----------
    choices : dict
        What was chosen, by name.
    best, second : str
        The two scores with the highest mean of the measure over the numbers of terms that all scores were tried with
        (all terms left out); the same where there is one score.
    lead : float
        By how much the best is ahead of the second.
    clear : bool
        Whether the lead is beyond the sampling error over the folds.
    means : dict
        The mean of the measure by score.
    terms : int
        The recommended number of terms; `reached` is the measure there.
    """

    choices: Mapping[str, Any]
    best: str
    second: str
    lead: float
    clear: bool
    means: Mapping[str, float]
    terms: int
    reached: float


@dataclass(frozen=True)
class MultiverseResult:
    """The same comparison in every way to prepare the texts."""

    ways: Sequence[PreparationResult]
    measure: str = DEFAULT_MEASURE

    @property
    def winners(self) -> list[tuple[str, int]]:
        """The scores that are best in some way, and in how many, most first."""
        return Counter(way.best for way in self.ways).most_common()

    @property
    def n_clear(self) -> int:
        """In how many ways the best score is ahead of the second beyond sampling error."""
        return sum(way.clear for way in self.ways)

    @property
    def _is_contest(self) -> bool:
        """Whether there were two scores or more."""
        return any(way.second != way.best for way in self.ways)

    def influences(self, outcome: Callable[[PreparationResult], Any] = lambda way: way.best) -> list[Influence]:
        """Return which choice decides the best score (or another outcome) most."""
        made = {name: [str(way.choices[name]) for way in self.ways] for name in self.ways[0].choices}
        return rank_choices(made, [outcome(way) for way in self.ways])

    @property
    def conclusion(self) -> str:
        """Which score is best in how many ways, and what decides."""
        (name, n), n_ways = self.winners[0], len(self.ways)
        if not self._is_contest:
            return f"{name} alone was tried in {n_ways} ways to prepare these texts"
        said = f"{name} is best in {'all' if n == n_ways else f'{n} of'} {n_ways} ways to prepare these texts"
        return f"{said}{_name_deciding(self.influences())}"

    @property
    def certainty(self) -> str:
        """In how many ways the lead is more than chance, and how the number of terms varies."""
        terms = sorted(way.terms for way in self.ways)
        if terms[0] == terms[-1]:
            enough = f"{terms[0]:,} terms are recommended in all"
        else:
            middle, decides = terms[len(terms) // 2], _name_deciding(self.influences(lambda way: way.terms))
            enough = f"{terms[0]:,} to {terms[-1]:,} terms are recommended, {middle:,} in the median{decides}"
        if not self._is_contest:
            return enough
        n_ties = sum(way.lead == 0 for way in self.ways)
        ties = f", and none at all in {n_ties}" if n_ties else ""
        return (
            f"its lead over the second is beyond sampling error in {self.n_clear} of {len(self.ways)}{ties}; {enough}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what a page shows, as plain data."""
        return {
            "conclusion": self.conclusion, "certainty": self.certainty, "ways": len(self.ways),
            "rows": [list(row) for row in self.by_choice()],
        }  # fmt: skip

    def by_choice(self) -> list[tuple[str, str, int, str, int, float]]:
        """Return for each value of each choice: ways, the score most often best, in how many, and the mean measure."""
        rows = []
        for name in self.ways[0].choices:
            for value in dict.fromkeys(format_value(way.choices[name]) for way in self.ways):
                some = [way for way in self.ways if format_value(way.choices[name]) == value]
                best, n = Counter(way.best for way in some).most_common(1)[0]
                rows.append((name, value, len(some), best, n, float(np.mean([way.reached for way in some]))))
        return rows


class Way(NamedTuple):
    """One way to prepare the texts: what was chosen, and the analyzer and the plan that follow from it."""

    choices: Mapping[str, Any]
    analyzer: Analyzer
    plan: Plan


def multiverse(
    documents: Documents | Sequence[str],
    labels: Sequence[Any] | None = None,
    *,
    vary: Mapping[str, Sequence[Any]] = USUAL,
    scores: Sequence[str | Contender] = SCORES,
    classifier: str = MULTIVERSE_CLASSIFIER,
    ks: Sequence[int] = GRID,
    sample: int | None = SAMPLE,
    analyzer: Analyzer | None = None,
    threads: int | None = None,
    notify: Callable[[str], None] | None = None,
    **plan: Any,
) -> MultiverseResult:
    """Compare scores in every way to prepare the texts, on the same folds.

    Parameters
    ----------
    documents, labels, scores, ks, sample, analyzer, threads
        As for `termsieve.compare`.
    vary : dict
        What to vary: a parameter of `termsieve.Analyzer` (``lowercase``, ``stop_words``, ``token_pattern``, ...) or of
        `termsieve.compare` (``min_df``, ``min_tf``, ``weighting``, ...), and its values. All combinations are tried. By
        default: lower-casing, a stop list, and whether words of one or two documents count.
    classifier : str
        One classifier; naive Bayes takes one sweep for all numbers of terms.
    notify : callable, optional
        Called with a line after each way.
    **plan
        Other parameters of `termsieve.compare`.

    Examples
    --------
    >>> texts = ["cheap pills", "Cheap watches", "buy pills", "noon Meeting", "lunch at noon", "meeting at ten"] * 4
    >>> found = multiverse(texts, (["spam"] * 3 + ["ham"] * 3) * 4, vary={"lowercase": [True, False], "min_df": [1, 2]},
    ...                    scores=["chi2", "bns"], ks=[1, 2, 4], cv=3)
    >>> len(found.ways), sorted(found.ways[0].means)
    (4, ['bns', 'chi2'])
    """
    ways = list_ways(vary, analyzer, scores=scores, classifiers=[classifier], ks=list(ks), sample=sample, **plan)
    n_threads = resolve_threads(threads)
    corpus = read_corpus(documents, labels, ways[0].analyzer, ways[0].plan.columns, n_threads)
    return try_ways(corpus, ways, n_threads, notify)


def list_ways(vary: Mapping[str, Sequence[Any]], analyzer: Analyzer | None, **plan: Any) -> list[Way]:
    """Return all ways before the first is tried: an impossible value is reported at once."""
    _check_vary(vary)
    base = analyzer or Analyzer()
    ways = []
    for values in itertools.product(*vary.values()):
        chosen = dict(zip(vary, values, strict=True))
        made = replace(base, **{name: value for name, value in chosen.items() if name in ANALYZER_FIELDS})
        given = {**plan, **{name: value for name, value in chosen.items() if name in PLAN_FIELDS}}
        ways.append(Way(chosen, made, Plan.from_arguments(pairs="no", **given)))
    return ways


def try_ways(
    corpus: Corpus, ways: Sequence[Way], threads: int, notify: Callable[[str], None] | None = None
) -> MultiverseResult:
    """Compare in every way, on the texts of a corpus."""
    found = []
    for number, (chosen, analyzer, plan) in enumerate(ways, 1):
        corpus = corpus.read_again(analyzer, threads)  # ways that differ in the plan alone share the reading
        way = _run_way(corpus.sample(plan.sample, plan.seed), plan, chosen, threads)
        found.append(way)
        if notify is not None:
            notify(f"{number} of {len(ways)}: {format_choices(chosen)}: {way.best}")
    return MultiverseResult(found)


def _check_vary(vary: Mapping[str, Sequence[Any]]) -> None:
    known = (*ANALYZER_FIELDS, *PLAN_FIELDS)
    if not vary:
        raise OptionError(f"Nothing is varied. Give what to vary: {', '.join(known)}.")
    for name, values in vary.items():
        if name not in known:
            raise OptionError(f"{name!r} cannot be varied. {did_you_mean(name, known)}Known: {', '.join(known)}.")
        if isinstance(values, str) or not isinstance(values, Collection):
            raise OptionError(f"{name} must have a list of values to vary, such as [1, 3]; it has {values!r}.")
        if len(set(map(str, values))) < 2 or len(set(map(str, values))) < len(values):
            raise OptionError(f"{name} must have two different values or more to vary; it has {list(values)!r}.")
    n = int(np.prod([len(values) for values in vary.values()]))
    if n > MOST_WAYS:
        raise OptionError(f"These are {n:,} ways to prepare the texts; at most {MOST_WAYS:,} are tried. Vary less.")


def _run_way(corpus: Corpus, plan: Plan, chosen: Mapping[str, Any], threads: int) -> PreparationResult:
    splits = make_plan_splits(corpus, plan)
    n_terms = count_rankable(corpus, plan, splits)
    study = Study(corpus, plan.fit_to(n_terms), splits, n_terms=n_terms)
    result = Search(study, plan, threads, shown=False).run(None)
    return _judge_way(result, plan, chosen, n_terms)


def _judge_way(result: Comparison, plan: Plan, chosen: Mapping[str, Any], n_terms: int) -> PreparationResult:
    by_fold: dict[str, dict[tuple[int, int], dict[int, float]]] = {name: {} for name in plan.names}
    for row in result.table.to_pylist():
        is_asked = row["score"] in by_fold and (row["k"] < n_terms or len(result.ks) == 1)
        if is_asked and row["label"] == "" and row["measure"] == DEFAULT_MEASURE:
            by_fold[row["score"]].setdefault((row["repeat"], row["fold"]), {})[row["k"]] = row["value"]
    # where the numbers of terms are left to the study, only the best scores are tried with more
    common = sorted(set.intersection(*(set(curve) for of in by_fold.values() for curve in of.values())))
    curves = {
        name: np.array([np.mean([of[fold][k] for k in common]) for fold in sorted(of)]) for name, of in by_fold.items()
    }
    means = {name: float(of.mean()) for name, of in curves.items()}
    ranked = sorted(means, key=lambda name: -means[name])
    best, second = ranked[0], ranked[min(1, len(ranked) - 1)]
    ratio = float(result.settings["test_ratio"])
    lead = paired_difference(curves[best], curves[second], ratio=ratio)
    choice = result.recommended(DEFAULT_MEASURE)
    clear = bool(lead.low is not None and lead.low > 0)
    return PreparationResult(chosen, best, second, lead.mean, clear, means, choice.k, choice.mean)


def _name_deciding(influences: Sequence[Influence]) -> str:
    """Name the choice, or the equal ones, that tell most about the outcome, and how much."""
    most = influences[0].share
    if most == 0:
        return ""
    names = [_WORDS.get(one.choice, one.choice) for one in influences if one.share == most]
    several = len(names) > 1
    named = f"{', '.join(names[:-1])} and {names[-1]}" if several else names[0]
    if most < LITTLE:
        return f"; no choice by itself decides (most {named}, {format_percent(most)})"
    said = f"; {named} decide{'' if several else 's'}"
    return said if most == 1 else f"{said} most ({format_percent(most)} {'each' if several else 'of it'})"


def format_choices(chosen: Mapping[str, Any]) -> str:
    """Format what was chosen in a line.

    >>> format_choices({"min_df": 3, "stop_words": None})
    'min_df=3, stop_words=none'
    """
    return ", ".join(f"{name}={format_value(value)}" for name, value in chosen.items())


def format_value(value: Any) -> str:
    """Format a value as it is given: none, yes, no, 1-2.

    >>> format_value(None), format_value(True), format_value((1, 2)), format_value(3)
    ('none', 'yes', '1-2', '3')
    """
    if isinstance(value, bool) or value is None:
        return {None: "none", True: "yes", False: "no"}[value]
    return "-".join(map(str, value)) if isinstance(value, tuple) else str(value)

"""train(): compare, take the recommendation, and fit it to all documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any, NamedTuple

from termsieve._progress import is_shown, show_status
from termsieve._version import __version__
from termsieve.counts.counting import resolve_threads
from termsieve.counts.counts import Counts
from termsieve.defaults import CALIBRATION_FOLDS, DEFAULT_SCORE
from termsieve.documents import Documents
from termsieve.errors import OptionError
from termsieve.model.fitting import (
    ALL_TERMS,
    ModelSpec,
    check_calibration_folds,
    fit_model,
    make_unmeasured_settings,
)
from termsieve.model.from_counts import fit_counts
from termsieve.model.model import Model
from termsieve.selection.redundancy_rules import RedundancyRule, parse_redundancy_rule
from termsieve.selection.rules import RuleLike, parse_rule
from termsieve.study.corpus import Corpus, read_corpus
from termsieve.study.plan import ALL, AUTO, CLASSIFIERS, FOLDS, KS, MARGIN, SAMPLE, SCORES, Contender, Plan, list_given
from termsieve.study.recommendation import Recommendation
from termsieve.study.representations import adapt_analyzer
from termsieve.study.results import Comparison
from termsieve.study.splits import check_groups
from termsieve.study.study import compare_corpus
from termsieve.study.trials import TrialSummary
from termsieve.tokens.analyzer import Analyzer

COUNTS_CLASSIFIER = "multinomial_nb"  # of a model from counts alone
SINGLE_SCORE = "info_gain_binary"  # of a model whose rule looks at terms together, and has no use for a score


def train(
    documents: Documents | Sequence[str] | Counts,
    labels: Sequence[Any] | None = None,
    *,
    scores: str | Sequence[str] = SCORES,
    classifiers: str | Sequence[str] = CLASSIFIERS,
    ks: int | str | Sequence[int | str] = KS,
    rule: RuleLike | Sequence[RuleLike] | None = None,
    cv: Any = FOLDS,
    groups: str | Sequence[Any] | None = None,
    repeats: int = 1,
    seed: int = 0,
    sample: int | None = SAMPLE,
    min_df: float = 1,
    weighting: str = AUTO,
    pairs: str = AUTO,
    margin: float = MARGIN,
    best: bool = False,
    analyzer: Analyzer | None = None,
    calibrate: int = CALIBRATION_FOLDS,
    threads: int | None = None,
    progress: bool | None = None,
) -> Model:
    """Select terms and fit a classifier.

    What is not given is compared by cross-validation, as `termsieve.compare` does, and its recommendation is fitted
    to all documents.

    Parameters
    ----------
    documents, labels, analyzer
        As for `termsieve.count`. Documents may have several labels each. Counts in place of documents are enough for
        naive Bayes: with one score, number of terms (or rule) and classifier, as nothing can be compared. Of a
        tokenizer, a file of the model keeps the name: see `Model.load`.
    scores, classifiers, ks
        As for `termsieve.compare`: one of each, or several to choose from. ``ks="all"`` keeps all terms.
    rule
        A rule instead of ks, such as ``"energy(0.8)"``, or several rules to choose from.
    cv, groups, repeats, seed, sample
        As for `termsieve.compare`. With ``cv=0`` nothing is compared; then there must be nothing to choose.
    min_df, weighting, pairs, margin
        As for `termsieve.compare`.
    best
        Fit the best of everything that was compared, rather than the fewest terms that are enough.
    calibrate
        Number of folds of the documents that are held out in turn, to turn what the classifier says into probabilities
        that can be trusted, and to measure how good these are; 0 for none. See `Model.settings`.
    threads
        Number of trials that run at the same time, and of threads that read documents (default one for each core).
    progress
        Show a progress bar on standard error (default: if it is a terminal).

    Returns
    -------
    Model

    Examples
    --------
    >>> texts = ["cheap pills", "cheap watches", "buy pills", "noon meeting", "lunch at noon", "meeting at ten"]
    >>> model = train(texts, ["spam"] * 3 + ["ham"] * 3, scores="chi2", ks=4, classifiers="multinomial_nb", cv=3)
    >>> model.predict(["pills, cheap", "a meeting"])
    ['spam', 'ham']
    """
    check_calibration_folds(calibrate)
    if isinstance(documents, Counts):
        _refuse_beside_counts(min_df=min_df, weighting=weighting, pairs=pairs)
        return _train_from_counts(documents, scores, classifiers, ks, rule)
    compares = cv is not None and not (isinstance(cv, Integral) and cv == 0)
    options = {"groups": groups, "repeats": repeats, "seed": seed, "sample": sample, "min_df": min_df}
    plan = Plan.from_arguments(
        _list_contenders(scores, rule, ks), classifiers, (ALL,) if rule is not None else ks,
        cv=cv if compares else FOLDS, weighting=weighting, pairs=pairs, margin=margin, **options,
    )  # fmt: skip
    corpus = read_corpus(documents, labels, analyzer, plan.columns, resolve_threads(threads))
    together = corpus.columns[groups].tolist() if isinstance(groups, str) else groups
    if together is not None:
        check_groups(together, corpus.n_docs)
    shown = is_shown(progress)
    if compares:
        result = compare_corpus(corpus, plan, threads=threads, progress=shown, excerpts=False)
        choice = result.recommended(fewest=not best)
        chosen, measured = _make_candidate(plan, choice.chosen, result), _measure_candidates(result, plan, choice)
    else:
        measured, chosen = make_unmeasured_settings(), _only_candidate(plan, fixed=rule is not None or not plan.is_open)
    settings = {
        "termsieve": __version__,
        "cv": plan.description["cv"] if compares else 0,
        "seed": seed,
        **measured,
    }
    with show_status(f"fitting to {corpus.n_docs:,} documents", shown=shown):
        return fit_model(
            corpus, chosen.make_spec(corpus.analyzer), settings, threads=threads, calibrate=calibrate, seed=seed,
            groups=together,
        )  # fmt: skip


def train_recommended(
    result: Comparison,
    documents: Documents | Sequence[str] | Corpus,
    labels: Sequence[Any] | None = None,
    *,
    best: bool = False,
    analyzer: Analyzer | None = None,
    calibrate: int = CALIBRATION_FOLDS,
    threads: int | None = None,
) -> Model:
    """Fit what a comparison recommends (or its best) to documents: the model of `train`, without comparing again.

    Examples
    --------
    >>> from termsieve.study.study import compare
    >>> texts = ["cheap pills", "cheap watches", "buy pills", "noon meeting", "lunch at noon", "meeting at ten"] * 3
    >>> labels = (["spam"] * 3 + ["ham"] * 3) * 3
    >>> result = compare(texts, labels, scores="chi2", classifiers="multinomial_nb", ks=4, cv=3, progress=False)
    >>> train_recommended(result, texts, labels).predict(["pills, cheap", "a meeting"])
    ['spam', 'ham']
    """
    if result.settings["per_class"] or result.settings["weigh"] != "selected" or result.settings["min_tf"] > 1:
        raise OptionError(
            "A comparison with per_class, weigh='all' or min_tf recommends no single model: its classes have rankings, "
            "or its terms weights or limits, of their own."
        )
    special = [Contender(**about) for about in result.settings.get("contenders", [])]
    others = [name for name in result.scores if name not in {one.name for one in special}]
    plan = Plan.from_arguments([*others, *special], result.classifiers, weighting=result.settings["weighting"])
    choice = result.recommended(fewest=not best)
    _refuse_limits(_find_contender(plan, choice.chosen, result), is_whole=choice.k == result.settings["n_terms"])
    corpus = read_corpus(documents, labels, analyzer, [], resolve_threads(threads))
    spec = _make_candidate(plan, choice.chosen, result).make_spec(corpus.analyzer)
    settings = {"termsieve": __version__, "cv": result.settings["cv"], "seed": result.settings["seed"],
                **_measure_candidates(result, plan, choice)}  # fmt: skip
    return fit_model(corpus, spec, settings, threads=threads, calibrate=calibrate, seed=result.settings["seed"])


def _refuse_beside_counts(**given: Any) -> None:
    """Refuse what a model from counts would not have: other terms than the counts, or weighted ones."""
    kept = {"min_df": (1,), "weighting": (AUTO, "count"), "pairs": (AUTO, "no")}
    changed = [name for name, value in given.items() if value not in kept[name]]
    if changed:
        raise OptionError(
            f"train: {changed[0]}={given[changed[0]]!r} needs the documents themselves. From counts, naive Bayes sees "
            "the occurrences of the terms that they have."
        )


def _train_from_counts(counts: Counts, scores: Any, classifiers: Any, ks: Any, rule: Any) -> Model:
    """Fit naive Bayes to counts; what is not given is the default score and multinomial naive Bayes."""
    if rule is None and ks == KS:
        raise OptionError("train: from counts nothing can be compared: give the number of terms (ks) or a rule.")
    plan = Plan.from_arguments(
        _list_contenders(DEFAULT_SCORE if scores == SCORES else scores, rule, ks),
        COUNTS_CLASSIFIER if classifiers == CLASSIFIERS else classifiers,
        ks if rule is None else (ALL,),
    )
    if any(len(some) > 1 for some in (plan.scores, plan.classifiers, plan.ks)):
        raise OptionError(
            "train: from counts nothing can be compared: give one score, one classifier, and the number of terms (ks) "
            "or a rule, once."
        )
    chosen = _only_candidate(plan, fixed=True)
    return fit_counts(counts, score=chosen.score, rule=chosen.rule, classifier=chosen.classifier)


class Candidate(NamedTuple):
    """A score, rule, classifier and weighting that a model may have, as spellings, and which terms they are of."""

    score: str
    rule: str
    classifier: str
    weighting: str
    min_df: float = 1
    representation: str | None = None

    def make_spec(self, analyzer: Analyzer) -> ModelSpec:
        """Return what a model of it is made of; other terms than those of the analyzer change it."""
        if self.representation is not None:
            analyzer = adapt_analyzer(analyzer, self.representation)
        return ModelSpec(self.score, self.rule, self.weighting, self.classifier, self.min_df, analyzer)

    def __str__(self) -> str:
        of = f" of {self.representation}" if self.representation else ""
        return f"{self.classifier} on {self.weighting} of {self.rule}{of} by {self.score}"


def _list_contenders(scores: Any, rule: Any, ks: Any) -> list[str | Contender]:
    """Return the scores that compete; with rules, each score with each rule."""
    names = list_given("scores", scores, (str, Contender))
    if rule is None:
        for one in names:
            if isinstance(one, Contender):
                _refuse_limits(one, is_whole=False)
        return names
    if special := [one.name for one in names if isinstance(one, Contender)]:
        raise OptionError(f"train: with a rule, scores are spellings, such as 'chi2'; {special[0]!r} is a Contender.")
    if ks != KS:
        raise OptionError("train: give ks or rule, not both: a rule determines the number of terms.")
    rules = [parse_rule(one) for one in (rule if isinstance(rule, list | tuple) else [rule])]
    together = [Contender(repr(one), SINGLE_SCORE, rule=repr(one)) for one in rules if isinstance(one, RedundancyRule)]
    others = [repr(one) for one in rules if not isinstance(one, RedundancyRule)]
    return [*together, *(Contender(f"{name}, {one}", name, rule=one) for name in names for one in others)]


def _refuse_limits(contender: Contender, *, is_whole: bool) -> None:
    """Refuse a contender whose choice of terms a model cannot have; `is_whole`: it has all that its rule takes."""
    given = [name for name in ("aggregate", "max_tf", "max_df") if getattr(contender, name) is not None]
    given += ["rule"] if contender.rule is not None and not is_whole else []
    if given:
        raise OptionError(
            f"The contender {contender.name!r} has {' and '.join(given)}, which a model cannot have: it takes the "
            "best of all terms by a score. Give the score alone, or a rule for all scores."
        )


def _find_contender(plan: Plan, one: TrialSummary, result: Comparison) -> Contender:
    """Return the contender of something that was tried."""
    added = {about["name"]: Contender(**about) for about in result.settings.get("contenders", [])}
    return added.get(one.score) or next(known for known in plan.scores if known.name == one.score)


def _make_candidate(plan: Plan, one: TrialSummary, result: Comparison) -> Candidate:
    """Return what a model needs of something that was tried."""
    contender = _find_contender(plan, one, result)
    about = result.settings.get("representations", {}).get(contender.representation, result.settings)
    score, rule = _name_rule(contender, ALL if one.k == about["n_terms"] else one.k)
    weighting = plan.weighting_of(one.classifier)
    return Candidate(score, rule, one.classifier, weighting, result.settings["min_df"], contender.representation)


def _name_rule(contender: Contender, k: int | str) -> tuple[str, str]:
    """Return the score and the rule that select what a contender had with k terms."""
    score, rule = contender.score, f"top({k})"
    if (together := parse_redundancy_rule(contender.score)) is not None:
        score, rule = SINGLE_SCORE, repr(together if k == ALL else replace(together, k=int(k)))
    return score, contender.rule or (ALL_TERMS if k == ALL else rule)


def _only_candidate(plan: Plan, *, fixed: bool) -> Candidate:
    """Return the only candidate, where nothing is compared."""
    if not fixed or any(len(some) != 1 for some in (plan.scores, plan.classifiers, plan.ks)):
        raise OptionError(
            "train: with cv=0 nothing is compared, so scores, classifiers and ks or rule must each be given, once."
        )
    contender, model, k = plan.scores[0], plan.classifiers[0], plan.ks[0]
    score, rule = _name_rule(contender, k)
    return Candidate(score, rule, model, plan.weighting_of(model), plan.min_df)


def _measure_candidates(result: Comparison, plan: Plan, choice: Recommendation) -> dict[str, Any]:
    """Return the measures of what was chosen, and of all candidates."""
    errors = result.summary()["standard_error"].to_pylist()
    candidates = [
        [str(_make_candidate(plan, one, result)), one.k, one.mean, error]
        for one, error in zip(result.trials().tried, errors, strict=True)
    ]
    accuracy = [one.mean for one in result.trials("accuracy").tried if one[:3] == choice.chosen[:3]]
    return {
        "judged_on": result.settings["n_compared"],
        "candidates": candidates,
        "f1_macro": choice.mean,
        "standard_error": choice.standard_error,
        "accuracy": accuracy[0],
        "n_splits": choice.n_splits,
        "reason": choice.reason,
        "against_all": None if choice.against_all is None else choice.against_all._asdict(),
        "f1_macro_of_all": None if choice.every is None else choice.every.mean,
        "notes": result.settings["notes"],
        "duality_gaps": result.settings.get("duality_gaps", {}),
    }

"""The recommendation: the fewest terms that are enough, compared with what, and how sure that is.

`RULE` is the rule in one sentence. Everything that a page or a terminal says of a recommendation is a field of
`Recommendation`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from termsieve.evaluate.differences import Difference, corrected_error
from termsieve.study.plan import AUTO
from termsieve.study.splits import least_class_size
from termsieve.study.trials import Reselection, Trials, TrialSummary
from termsieve.views import format_difference, format_measure, format_percent, name_measure

RULE = (
    "Enough are the fewest terms whose mean is below that of the best of everything tried, all terms included, by no "
    "more than one standard error of their paired difference over the splits (with Nadeau and Bengio's correction, "
    "because splits share training documents)."
)
ONE_SPLIT_RULE = (
    "There is one split only, so nothing is known of the standard error: enough are the fewest terms whose value there "
    "is below that of the best of everything tried, all terms included, by no more than the margin."
)
EDGE_STEP = 2.5  # the largest step between numbers of terms: 2,000, 5,000, 10,000
# probabilities of losing more than the margin, up to which it says "enough", or "probably enough"
_SURELY, _PROBABLY = 0.05, 0.5


class SmallClass(NamedTuple):
    """A class with too few documents for an answer, the number that would do, and of which sample, if of one."""

    label: str
    n_docs: int
    needed: int
    sample: int | None = None

    @property
    def size(self) -> str:
        """The number of its documents in words."""
        where = "" if self.sample is None else f" in the sample of {self.sample:,}"
        return f"{self.n_docs:,} {'document' if self.n_docs == 1 else 'documents'}{where}"


@dataclass(frozen=True)
class Recommendation:
    """A recommended classifier, score and number of terms, and everything that there is to say of it.

    Attributes
    ----------
    classifier, score, k, mean, is_all
        What is recommended, its mean over the splits, and whether it has all terms.
    standard_error : float or None
        Of the mean, with Nadeau and Bengio's correction; None with one split.
    measure : str
    margin : float
        A loss up to this does not count in the probabilities.
    n_splits : int
    best : TrialSummary
        The best of everything that was tried.
    every : TrialSummary or None
        The best with all terms.
    fewer : TrialSummary or None
        The best with fewer terms than are recommended; where the best of all was asked for, the fewest that are enough.
    is_fewest : bool
        Whether the fewest that are enough were asked for, rather than the best.
    against_best, against_all : Difference or None
        The recommended minus the best, and minus `every`; None if it is the same.
    is_enough : bool
        Whether it satisfies the rule. If not, nothing that was asked for does, and it is the best of that.
    is_at_edge : bool
        Whether the best was found with the most terms that were tried, and these are not all.
    reselected : Reselection or None
        What the rule chooses without one split in turn, measured on that split: what is chosen because it was lucky
        does not count. None with fewer than three splits.
    small_class : SmallClass or None
        The smallest class if it has too few documents for an answer.
    n_small : int
        Number of such classes.
    """

    classifier: str
    score: str
    k: int
    mean: float
    is_all: bool
    standard_error: float | None
    measure: str
    margin: float
    n_splits: int
    best: TrialSummary
    every: TrialSummary | None
    fewer: TrialSummary | None
    is_fewest: bool
    against_best: Difference | None
    against_all: Difference | None
    is_enough: bool
    is_at_edge: bool
    reselected: Reselection | None
    small_class: SmallClass | None
    n_small: int

    @property
    def chosen(self) -> TrialSummary:
        """What is recommended."""
        return TrialSummary(self.classifier, self.score, self.k, self.mean, self.is_all)

    @property
    def is_best(self) -> bool:
        """Whether it is the best of everything that was tried."""
        return self.against_best is None

    @property
    def rule(self) -> str:
        """The rule by which it was chosen, in one sentence."""
        return RULE if self.n_splits > 1 else ONE_SPLIT_RULE

    @cached_property
    def reason(self) -> str:
        """Why, in some sentences."""
        return " ".join(
            part
            for part in (
                self.warning,
                self.verdict,
                self.loss,
                self.comparison_with_fewer,
                self.comparison_with_all,
                self.edge,
                self.stability,
            )
            if part
        )

    @property
    def warning(self) -> str:
        """Why there is too little to say, and how much would do; empty if there is enough."""
        small = self.small_class
        if small is None:
            return ""
        others = self.n_small - 1
        more = f", and {others:,} more {'has' if others == 1 else 'have'} too few" if others else ""
        return (
            f"Too little to say: class {small.label!r} has {small.size}{more}; with {small.needed:,} of each class "
            "there would be an answer. As far as it goes:"
        )

    @property
    def verdict(self) -> str:
        """What is recommended, and whether it is enough."""
        value = f"{name_measure(self.measure)} {format_measure(self.mean)}"
        head = f"{self.classifier}: {self.chosen.terms}"
        verb = "is" if self.k == 1 else "are"
        if not self.is_enough:
            return f"{head} {verb} the best of what was asked for, but not enough: {value}."
        if self.is_best:
            return f"{head} {verb} best, {value}."
        return f"{head} {self.sufficiency}: {value}."

    @property
    def sufficiency(self) -> str:
        """How sure it is that they are enough: by the probability that they lose more than the margin."""
        verb = "is" if self.k == 1 else "are"
        worse = 0.0 if self.against_best is None else self.against_best.worse or 0.0
        if worse <= _SURELY:
            return f"{verb} enough"
        return f"{verb} probably enough" if worse <= _PROBABLY else "may be enough"

    @property
    def loss(self) -> str:
        """How far the best is away, and how likely that is more than the margin."""
        gap = self.against_best
        if gap is None:
            return ""
        best = f"{format_measure(self.best.mean)} ({self.best})"
        far = f"That is {format_difference(gap.mean)} against the best of everything tried, {best}"
        within = "within" if self.is_enough else "more than"
        if gap.standard_error is None or gap.worse is None:
            return f"{far}, {within} the margin of {self.margin:g}; one split has no standard error."
        return (
            f"{far}, {within} one standard error of the difference ({format_measure(gap.standard_error)}); with a "
            f"probability of {format_percent(gap.worse)} it is worse by more than {self.margin:g}."
        )

    @property
    def comparison_with_fewer(self) -> str:
        """The best with fewer terms, and whether that is enough; empty if fewer were not tried."""
        if self.fewer is None or not self.is_enough:
            return ""
        if not self.is_fewest:
            return f"Fewer are enough: {self.fewer}, {format_measure(self.fewer.mean)}."
        return f"The best with fewer, {self.fewer}, has {format_measure(self.fewer.mean)}: not enough."

    @property
    def comparison_with_all(self) -> str:
        """What is given up or gained against all terms."""
        gap = self.against_all
        if gap is None or self.every is None or self.every == self.best:
            return self._interval_of_all()
        return f"Against {self.every} ({format_measure(self.every.mean)}): {describe_difference(gap)}."

    def _interval_of_all(self) -> str:
        gap = self.against_all
        if gap is None or gap.low is None or gap.high is None:
            return ""
        return f"95 % interval of the difference: {format_difference(gap.low)} to {format_difference(gap.high)}."

    @property
    def edge(self) -> str:
        """That more terms may do better; empty if not."""
        if not self.is_at_edge:
            return ""
        return (
            f"The best stands at the end of the numbers that were tried: more than {self.best.k:,} terms may do better."
        )

    @property
    def stability(self) -> str:
        """Whether the same rule, without one of the splits, would take as many terms; empty with too few splits."""
        again = self.reselected
        if again is None:
            return ""
        number = f"{again.fewest:,}" if again.fewest == again.most else f"{again.fewest:,} to {again.most:,}"
        terms = "term" if again.most == 1 else "terms"
        return (
            f"Chosen without one of the {self.n_splits} splits in turn: {number} {terms}, "
            f"{name_measure(self.measure)} {format_measure(again.mean)} on the split left out."
        )


def describe_difference(one: Difference) -> str:
    """Describe a difference and its interval.

    >>> describe_difference(Difference(-0.004, 0.002, -0.0081, 0.0002, 0.03, 0.0, 0.01))
    '-0.004 (95 % interval -0.008 to +0.0002)'
    """
    if one.low is None or one.high is None:
        return format_difference(one.mean)
    return (
        f"{format_difference(one.mean)} (95 % interval {format_difference(one.low)} to {format_difference(one.high)})"
    )


def recommend(
    trials: Trials, measure: str, margin: float, settings: Mapping[str, Any], *, fewest: bool
) -> Recommendation:
    """Recommend the fewest terms that are enough; or the best of what was asked for."""
    least, top = trials.choose(margin), trials.find_best()
    place = least if fewest else trials.find_best(among=trials.asked)
    chosen, best = trials.tried[place], trials.tried[top]
    whole = np.array([one.is_all for one in trials.tried], bool)
    every = trials.find_best(among=whole) if whole.any() else None
    same = every is None or (chosen.is_all and chosen.classifier == trials.tried[every].classifier)
    error = float(corrected_error(trials.values[:, place], trials.ratio))
    small, n_small = _find_small_class(settings)
    return Recommendation(
        chosen.classifier, chosen.score, chosen.k, chosen.mean, chosen.is_all,
        standard_error=None if math.isnan(error) else error,
        measure=measure, margin=margin, n_splits=len(trials.values), best=best,
        every=None if every is None else trials.tried[every],
        fewer=_choose_fewer(trials, place, least, fewest=fewest), is_fewest=fewest,
        against_best=None if place == top else trials.difference(place, top, margin),
        against_all=None if same or every is None else trials.difference(place, every, margin),
        is_enough=bool(trials.find_enough(margin)[place]),
        is_at_edge=settings.get("ks") != [AUTO] and _is_at_edge(best, trials.tried),  # an open grid has grown
        reselected=trials.reselect(margin, fewest=fewest), small_class=small, n_small=n_small,
    )  # fmt: skip


def _choose_fewer(trials: Trials, place: int, least: int, *, fewest: bool) -> TrialSummary | None:
    """Return the best with fewer terms, or the fewest that are enough where the best was asked for."""
    fewer = np.array([one.k < trials.tried[place].k for one in trials.tried], bool) & trials.asked
    if not fewer.any():
        return None
    if fewest:
        return trials.tried[trials.find_best(among=fewer)]
    return trials.tried[least] if fewer[least] else None


def _is_at_edge(best: TrialSummary, tried: Sequence[TrialSummary]) -> bool:
    """Tell whether the best has the most terms of all but all terms, and these are far more."""
    if best.is_all:
        return False
    every = next((one.k for one in tried if one.is_all), math.inf)  # all terms are as many in each trial
    return best.k == max(one.k for one in tried if not one.is_all) and every > EDGE_STEP * best.k


def _find_small_class(settings: Mapping[str, Any]) -> tuple[SmallClass | None, int]:
    given = settings.get("small_classes")
    small = {str(label): n for label, n in given.items() if isinstance(n, int)} if isinstance(given, dict) else {}
    if not small:
        return None, 0
    label = min(small, key=lambda name: (small[name], name))
    compared, n_docs = (settings.get(name) or 0 for name in ("n_compared", "n_docs"))
    sample = int(compared) if 0 < compared < n_docs else None
    return SmallClass(label, small[label], least_class_size(settings.get("cv")), sample), len(small)

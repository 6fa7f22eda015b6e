"""Verdicts on the claims of the papers. The protocols name the check of each claim and its parameters.

A case of a claim is decided if its margin is beyond sampling error: paired over the splits, with the correction for
splits that share training documents, or over samples of the test documents where the split is a published one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from termsieve._types import Array
from termsieve.errors import OptionError
from termsieve.evaluate.differences import corrected_error
from termsieve.reproduction import checks, curve_checks  # noqa: F401 - they register the checks
from termsieve.reproduction.contexts import Curves, as_list, format_values, make_contexts
from termsieve.reproduction.grids import Grid
from termsieve.reproduction.margins import CHECKS, EQUALITIES, Margins
from termsieve.reproduction.measurements import Measurements
from termsieve.reproduction.protocol import Claim

HOLDS, PARTLY, UNDECIDED, FAILS = "holds", "partly", "undecided", "does not hold"
UNCHECKABLE, CITED = "cannot be checked", "not a claim"
VERDICTS = (HOLDS, PARTLY, UNDECIDED, FAILS, UNCHECKABLE, CITED)
DECIDED = (HOLDS, PARTLY, UNDECIDED, FAILS)
CONFIDENCE = 0.95


class Replicates:
    """Measurements with the central values first, then those of splits, or of samples of the test documents.

    `grids` are runs of settings with one published split, in their default world, with such samples.
    """

    def __init__(self, measurements: Measurements, grids: Mapping[str, Grid] | None = None) -> None:
        self.measurements, self.grids = measurements, dict(grids or {})
        self.groups = measurements.groups
        self.sampled = self.split = False  # what kinds of replicates the claim has
        self.ratio = 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.measurements, name)

    def curves(self, group: str, classifier: str, measure: str) -> Curves:
        """Return the curves, and note which kind of replicates they have."""
        setting = self.measurements.setting(group, classifier)
        grid = self.grids.get(setting.name)
        if grid is not None:
            self.sampled = True
            world = np.zeros((1, len(grid.multiverse.choices)), np.int64)
            return Curves(grid.layout.names, grid.layout.sizes, grid.gather(world, classifier, measure)[0])
        found = self.measurements.curves(group, classifier, measure)
        self.split = True
        self.ratio = max(self.ratio, self.measurements.test_ratio(group))
        return Curves(found.scores, found.sizes, np.concatenate([found.values.mean(axis=0)[None], found.values]))

    def error_of(self, margins: Array) -> Array:
        """Return half the width of the interval of each case, from the margins of its replicates; 0 with one."""
        if len(margins) < 2:
            return np.zeros(margins.shape[1])
        if self.sampled and not self.split:
            return np.asarray(stats.norm.ppf((1 + CONFIDENCE) / 2) * margins.std(axis=0, ddof=1))
        quantile = stats.t.ppf((1 + CONFIDENCE) / 2, len(margins) - 1)
        if self.sampled:  # of both kinds: the error of one split, which is the larger one
            return np.asarray(quantile * margins.std(axis=0, ddof=1))
        return np.asarray(quantile * corrected_error(margins, self.ratio))


class ClaimCase(NamedTuple):
    """One case of a claim: by how much it is met, half the width of its interval, and what that decides."""

    name: str
    margin: float
    error: float
    decided: str  # "yes", "no" or "open"


def judge_claims(
    measurements: Measurements, claims: Sequence[Claim], grids: Mapping[str, Grid] | None = None
) -> list[dict[str, Any]]:
    """Judge each claim."""
    return [_judge_claim(measurements, claim, grids) for claim in claims]


def _judge_claim(measurements: Measurements, claim: Claim, grids: Mapping[str, Grid] | None) -> dict[str, Any]:
    about = {"id": claim.id}
    if claim.check == "cited":
        return {**about, "verdict": CITED, "evidence": claim.note}
    if claim.check not in CHECKS:
        raise OptionError(f"{claim.id}: unknown check {claim.check!r}. Known: {', '.join(CHECKS)}.")
    missing = [group for group in as_list(claim.where.get("group", [])) if group not in measurements.groups]
    if missing:
        evidence = _describe_stand_in(measurements, claim)
        return {**about, "verdict": UNCHECKABLE, "evidence": f"{evidence} {claim.note}".strip()}
    source = Replicates(measurements, grids)
    margins = CHECKS[claim.check](source, claim.where)
    found = decide_cases(margins, source.error_of(margins.values[1:]), equality=is_equality(claim))
    verdict, fragile = give_verdict(found, claim.where.get("enough", len(found)))
    evidence = f"{_count_cases(found)}{margins.describe()}. {claim.note}".strip()
    return {**about, "verdict": verdict, "fragile": fragile, "evidence": evidence[:1].upper() + evidence[1:]}


def is_equality(claim: Claim) -> bool:
    """Tell whether a claim says that things are alike."""
    return claim.check in EQUALITIES or all(
        part["check"] in EQUALITIES for part in claim.where.get("parts", [{"check": ""}])
    )


def decide_cases(margins: Margins, error: Array, *, equality: bool = False) -> list[ClaimCase]:
    """Decide each case: yes or no if its margin is beyond the error; what says that things are alike, unless no."""
    cases = []
    for name, margin, width in zip(margins.cases, margins.values[0].tolist(), error.tolist(), strict=True):
        if margin < -width:
            decided = "no"
        elif equality or margin > width or margin >= width == 0.0:
            decided = "yes"
        else:
            decided = "open"
        cases.append(ClaimCase(name, margin, width, decided))
    return cases


def give_verdict(cases: Sequence[ClaimCase], enough: int) -> tuple[str, bool]:
    """Return the verdict on all cases, and whether it is fragile: some of them are within sampling error.

    Cases that are decided both ways: partly. Some that fail, and none that holds: it does not hold. Some that hold, and
    none that fails: it holds if they are most of the cases, and is undecided otherwise.
    """
    counts = {word: sum(case.decided == word for case in cases) for word in ("yes", "no", "open")}
    fragile = any(case.error > 0 and abs(case.margin) <= case.error for case in cases)
    if counts["yes"] >= enough:
        return HOLDS, fragile
    if counts["no"]:
        return (PARTLY if counts["yes"] else FAILS), fragile
    return (HOLDS if 2 * counts["yes"] > len(cases) else UNDECIDED), fragile


def _count_cases(cases: Sequence[ClaimCase]) -> str:
    """Say in which cases a claim holds, fails, or is open."""
    if len(cases) == 1:
        (case,) = cases
        interval = f" (margin {case.margin:+.3f} ± {case.error:.3f})" if case.error else ""
        return f"{ {'yes': 'Yes', 'no': 'No', 'open': 'Open'}[case.decided] }{interval}: "
    said = [f"{sum(case.decided == 'yes' for case in cases)} of {len(cases)} cases hold"]
    for word, verb in (("no", "fail"), ("open", "are open")):
        names = [case.name for case in cases if case.decided == word]
        if names:
            shown = "; ".join(names[:6]) + (f"; and {len(names) - 6} more" if len(names) > 6 else "")
            said.append(f"{len(names)} {verb} ({shown})")
    return f"{', '.join(said)}. "


def _describe_stand_in(measurements: Measurements, claim: Claim) -> str:
    """Say why a claim cannot be checked, and give the numbers of the stand-in."""
    why, group = str(claim.where["why"]), claim.where.get("stand_in")
    if group not in measurements.groups:
        return why
    (context,) = make_contexts(measurements, {"group": group, "measure": "f1_micro"})
    shown = "; ".join(
        f"{k}: {format_values(context.best_first(context.values[..., at]))}" for at, k in enumerate(context.sizes)
    )
    seconds = ", ".join(f"{name} {1000 * taken:.0f} ms" for name, taken in measurements.seconds(group).items())
    return f"{why} On the stand-in, micro F1: {shown}; CPU time: {seconds}."

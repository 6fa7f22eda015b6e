"""Verdicts on the claims of the papers. The protocols name the check of each claim and its parameters."""

from __future__ import annotations

from collections.abc import Sequence

from termsieve.errors import OptionError
from termsieve.reproduction import checks  # noqa: F401 - it registers the checks
from termsieve.reproduction.contexts import CHECKS, Verdict, as_list, format_values, make_contexts
from termsieve.reproduction.measurements import Measurements
from termsieve.reproduction.protocol import Claim

HOLDS, FAILS, UNCHECKABLE = "holds", "does not hold", "cannot be checked"


def judge_claims(measurements: Measurements, claims: Sequence[Claim]) -> list[dict[str, str]]:
    """Judge each claim."""
    verdicts = []
    for claim in claims:
        if claim.check not in CHECKS:
            raise OptionError(f"{claim.id}: unknown check {claim.check!r}. Known: {', '.join(CHECKS)}.")
        verdict = _judge_claim(measurements, claim)
        word = UNCHECKABLE if verdict.holds is None else HOLDS if verdict.holds else FAILS
        verdicts.append({"id": claim.id, "verdict": word, "evidence": f"{verdict.evidence} {claim.note}".strip()})
    return verdicts


def _judge_claim(measurements: Measurements, claim: Claim) -> Verdict:
    """Judge a claim; if its corpus is missing, say why, and give the numbers of the stand-in."""
    missing = [group for group in as_list(claim.where.get("group", [])) if group not in measurements.groups]
    if not missing:
        return CHECKS[claim.check](measurements, claim.where)
    why = claim.where["why"]
    if claim.where.get("stand_in") not in measurements.groups:
        return Verdict(None, why)
    given = {"group": claim.where["stand_in"], "measure": "f1_micro"}
    (context,) = make_contexts(measurements, given)
    shown = "; ".join(f"{k}: {format_values(context.at_size(k))}" for k in context.sizes)
    seconds = ", ".join(
        f"{name} {1000 * seconds_taken:.0f} ms" for name, seconds_taken in measurements.seconds(given["group"]).items()
    )
    return Verdict(None, f"{why} On the stand-in, micro F1: {shown}; CPU time: {seconds}.")

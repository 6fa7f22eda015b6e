"""Claims of the papers, judged. Which claim is of which kind, and with what names, stands in the protocols."""

from __future__ import annotations

from collections.abc import Sequence

from termsieve.errors import OptionError
from termsieve.reproduction import checks  # noqa: F401 - it puts the checks on the list
from termsieve.reproduction.contexts import CHECKS, Verdict, as_list, format_values, make_contexts
from termsieve.reproduction.measurements import Measurements
from termsieve.reproduction.protocol import Claim

HOLDS, FAILS, UNCHECKABLE = "holds", "does not hold", "cannot be checked"


def judge_claims(measured: Measurements, claims: Sequence[Claim]) -> list[dict[str, str]]:
    """A verdict on each claim."""
    found = []
    for claim in claims:
        if claim.check not in CHECKS:
            raise OptionError(f"{claim.id}: unknown check {claim.check!r}. Known: {', '.join(CHECKS)}.")
        verdict = _judge_claim(measured, claim)
        word = UNCHECKABLE if verdict.holds is None else HOLDS if verdict.holds else FAILS
        found.append({"id": claim.id, "verdict": word, "evidence": f"{verdict.evidence} {claim.note}".strip()})
    return found


def _judge_claim(measured: Measurements, claim: Claim) -> Verdict:
    """The verdict; where the corpus of the claim is not here, why, and what came out on the one in its place."""
    missing = [group for group in as_list(claim.where.get("group", [])) if group not in measured.groups]
    if not missing:
        return CHECKS[claim.check](measured, claim.where)
    why = claim.where["why"]
    if claim.where.get("stand_in") not in measured.groups:
        return Verdict(None, why)
    given = {"group": claim.where["stand_in"], "measure": "f1_micro"}
    (context,) = make_contexts(measured, given)
    shown = "; ".join(f"{k}: {format_values(context.at(k))}" for k in context.sizes)
    seconds = ", ".join(f"{name} {1000 * taken:.0f} ms" for name, taken in measured.seconds(given["group"]).items())
    return Verdict(None, f"{why} On the stand-in, micro F1: {shown}; CPU time: {seconds}.")

"""What Forman (2003) found with his twelve scores and a linear SVM, in our words and from memory, checked here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from termsieve._types import Array
from termsieve.score_study.results import PanelResults, StudyResults

SCORES = (
    "bns", "info_gain_binary", "chi2", "odds_ratio(min_df=1)", "odds_numerator", "prob_ratio(min_df=1)", "f1",
    "accuracy", "balanced_accuracy", "doc_freq", "power",
)  # fmt: skip
MANY, FEW = 1000, 20


@dataclass(frozen=True)
class FormanClaim:
    """A claim, whether it holds here, and the numbers."""

    says: str
    holds: bool
    evidence: str


def check_forman(results: StudyResults) -> list[FormanClaim]:
    """Check the claims on the linear SVM of the study, on problems of one class against the rest."""
    panel = next((one for one in results.panels if "linear_svm" in one.curves), None)
    if panel is None:
        return []
    look = _SvmCurves(panel, results.contenders)
    return [
        look.check("With many terms bi-normal separation gives the best F1.", "f1", MANY, ["bns"]),
        look.check("Bi-normal separation gives the best recall.", "recall", MANY, ["bns"]),
        look.check(
            "Information gain gives the best precision (chi-square is near it).",
            "precision",
            MANY,
            ["info_gain_binary", "chi2"],
        ),
        look.check(
            "With few terms information gain gives the best F1 (chi-square is near it).",
            "f1",
            FEW,
            ["info_gain_binary", "chi2"],
        ),
        look.check_last(
            "Probability ratio and document frequency are among the worst.", ["prob_ratio(min_df=1)", "doc_freq"]
        ),
    ]


@dataclass(frozen=True)
class _SvmCurves:
    panel: PanelResults
    contenders: Sequence[str]

    def _values(self, measure: str, size: int) -> dict[str, float]:
        curves: Array = self.panel.curves["linear_svm"][measure]
        return {name: float(curves[self.contenders.index(name), self.panel.sizes.index(size)]) for name in SCORES}

    def check(self, says: str, measure: str, size: int, named: Sequence[str]) -> FormanClaim:
        """Check that one of the named scores is the best of `SCORES`."""
        values = self._values(measure, size)
        best = max(values, key=values.__getitem__)
        shown = [best, *(name for name in named if name != best)]
        numbers = ", ".join(f"`{name}` {values[name]:.3f}" for name in shown)
        return FormanClaim(says, best in named, f"mean {measure} with {size:,} terms: {numbers}")

    def check_last(self, says: str, named: Sequence[str]) -> FormanClaim:
        """Check that the named scores are in the lower half, with few and with many terms."""
        held, parts = True, []
        for size in (FEW, MANY):
            values = self._values("f1", size)
            ranked = sorted(values, key=lambda name: -values[name])
            held &= all(ranked.index(name) >= len(ranked) // 2 for name in named)
            places = ", ".join(f"`{name}` {ranked.index(name) + 1}" for name in named)
            parts.append(f"{size:,} terms: {places}")
        return FormanClaim(says, held, f"place by mean F1 among {len(SCORES)}, {'; '.join(parts)}")

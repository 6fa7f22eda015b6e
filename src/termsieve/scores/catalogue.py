"""The catalogue of scores as data and as text: everything is read from the records."""

from __future__ import annotations

import importlib.resources
import json
import textwrap
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from termsieve.scores.parsing import parse_score
from termsieve.scores.registry import MOST_DOCS, SCORES, Score, format_value

if TYPE_CHECKING:
    from collections.abc import Iterator

EVIDENCE_FILE = "evidence.json"  # made by docs/make_choosing.py from the study of scores
SYMMETRIES = {
    "invariant": "unchanged",
    "flip": "changes sign",
    "invert": "becomes 1/x",
    None: "no symmetry",
}
_WIDTH = 100


class CatalogueRow(NamedTuple):
    """One line of the catalogue; `regret` is what the score loses against the best in hindsight, where it is known."""

    name: str
    title: str
    family: str
    regret: float | None
    papers: str
    range: str
    null: str
    sided: str
    aggregation: str
    source: str


class ScoreEvidence(NamedTuple):
    """What the study of scores found: which score to take, and what each loses against the best in hindsight.

    Attributes
    ----------
    recommended : str
    problems, corpora : int
        How many there were.
    scores : dict
        By spelling: regret in F1 with the ends of its 95 % interval, mean rank, and stability of the first terms.
    """

    recommended: str
    problems: int
    corpora: int
    scores: dict[str, dict[str, float]]

    def regret_of(self, score: Score) -> float | None:
        """Return the regret of a score, or None for one that was not in the study."""
        facts = self.scores.get(score.spelling)
        return None if facts is None else facts["regret"]

    def describe(self, score: Score) -> str:
        """Say in a sentence how a score did."""
        facts = self.scores.get(score.spelling)
        if facts is None:
            return ""
        return (
            f"loses {facts['regret']:.3f} of F1 ({facts['low']:.3f} to {facts['high']:.3f}) against the best score of "
            f"each of {self.problems} problems; mean rank {facts['rank']:g} of {len(self.scores)}"
        )


@cache
def read_evidence() -> ScoreEvidence:
    """Read the evidence that the package has."""
    text = (importlib.resources.files("termsieve") / "data" / EVIDENCE_FILE).read_text("utf-8")
    return ScoreEvidence(**json.loads(text))


def make_catalogue_rows() -> list[CatalogueRow]:
    """Return a line for each score: those of the five papers first, each part by name."""
    ordered = sorted(SCORES.values(), key=lambda s: (bool(s.confidence), s.name))
    return [
        CatalogueRow(
            s.name,
            s.title,
            s.family,
            read_evidence().regret_of(s),
            ", ".join(s.papers),
            s.range,
            "" if s.null is None else f"{s.null:g}",
            "one" if s.sided == 1 else "two",
            "class-blind" if s.class_blind else s.aggregation,
            s.source,
        )
        for s in ordered
    ]


def describe(spelling: str | Score) -> str:
    """Return all that is known about a score, as text.

    >>> print(describe("word_freq").splitlines()[0])
    word_freq: Word frequency
    """
    s = parse_score(spelling)
    lines = [f"{s.spelling}: {s.title}", "", s.about, ""]
    lines += [line for label, text in list_facts(s) for line in _format_entry(label, text)]
    return "\n".join(lines)


def list_facts(s: Score) -> Iterator[tuple[str, str]]:
    """Yield what the record says, as pairs of a label and a text; what it does not say is left out."""
    facts = {
        "formula": s.formula,
        "prefers": s.prefers,
        "warning": s.warning,
        "evidence": read_evidence().describe(s),
        "range": s.range,
        "infinite": s.infinite,
        "documents": "" if s.most_docs == MOST_DOCS else f"for counts of up to {s.most_docs:,} documents",
        "independence": "" if s.null is None else f"the value is {s.null:g}",
        "sides": "terms for a class rank first, terms against it last"
        if s.sided == 1
        else "ranks both for and against",
        "swapped classes": SYMMETRIES[s.swap_classes],
        "negated term": SYMMETRIES[s.negate_term],
        "overall": _describe_overall(s),
        "p-values": "yes" if s.pvalue else "",
        "guard": f"terms of fewer than {s.min_df:g} documents rank below all others, their values unchanged; "
        "min_df=1 turns it off"
        if s.guarded
        else "",
        "parameters": "; ".join(_describe_parameters(s)),
        "variants": ", ".join(s.variants),
        "in the papers": "; ".join(f"{paper}: {text}" for paper, text in s.papers.items()),
        "confidence": s.confidence,
        "source": s.source,
        "example": ", ".join(f"{k}={v:g}" for k, v in s.example.items() if k != "value")
        + "".join(f" gives {v:.13g}" for k, v in s.example.items() if k == "value"),
    }
    yield from ((label, text) for label, text in facts.items() if text)


def _describe_overall(s: Score) -> str:
    if s.class_blind:
        return "does not depend on the class"
    return {
        "global": "a formula over all classes",
        "max": "largest of the classes",
        "sum": "sum over the classes",
        "mean": "mean over the classes",
        "weighted_mean": "mean over the classes, weighted by their documents",
    }[s.aggregation]


def _format_limits(limits: str) -> str:
    return limits.replace("[", "in [", 1) if " or " in limits else f"in {limits}"


def _describe_parameters(s: Score) -> Iterator[str]:
    for p in s.parameters:
        if p.choices:
            may = " or ".join(map(format_value, p.choices))
        else:
            may = "True or False" if isinstance(p.default, bool) else _format_limits(p.limits)
        yield f"{p.name}={format_value(p.default)} ({may})"


def _format_entry(label: str, text: str) -> list[str]:
    head = f"  {label:<16}"
    return textwrap.wrap(text, _WIDTH, initial_indent=head, subsequent_indent=" " * len(head), break_long_words=False)

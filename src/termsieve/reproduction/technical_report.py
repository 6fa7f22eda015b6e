"""``docs/technical_report.md``: what a journal on reproducibility would print, from the results of the five papers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from termsieve.reproduction.markdown import format_bullets, format_table
from termsieve.reproduction.protocol import PAPERS, Protocol, load_protocol

OPENING = """# Five papers on feature selection for text, read in every way they allow

Made by `make reproduce`; do not edit. The numbers are those of `docs/results/*.json`, the claims one by one stand in
[the reproduction](reproduction.md).

## Question

A reproduction answers whether a claim holds in one reading of a paper. Papers leave choices open, and a reader who
reproduces one fills them in. So we ask more: in which share of the readings that a paper leaves open does a claim
hold, which choice decides it, and is that more than luck?
"""

METHOD = """## Method

*Worlds.* For each paper the open choices and their readings were written down, each with a reason, and committed
before the first run of the grid. A world is one reading of each choice. Where a trial costs nearly nothing (naive
Bayes) all worlds are run; where it costs seconds (support vector machines) a balanced fraction: an orthogonal array
of eight worlds in which any two readings of two choices meet equally often, so that main effects can be told, and
interactions not.

*Sharing.* Worlds with the same texts share reading and counting; the counts of a training part are the total minus
the test part; worlds with the same counts share the values of a score; a stop list or a cut of rare words only
changes which terms may be ranked; one sum along a ranking serves all priors, denominators and numbers of terms. A
test holds that a world has exactly the measures that a study of its own gives.

*Verdicts* in the default world are by sampling error at 95 %: of the binding comparison, paired over splits with the
correction of Nadeau and Bengio, or over samples of the test documents of a published split (which leaves out the
variation of the training documents). *Shares* count the worlds in which the means meet a claim, however narrowly.

*What decides*: the mutual information of choice and outcome over the worlds, as a share of the entropy of the
outcome.

*Null.* The names of the scores are shuffled, the same way in all worlds, and all claims judged again, 100 times.
Claims about the names of scores alone should then hold as often as chance allows; the best of many worlds is compared
with the best of as many worlds under shuffled names. For printed tables: the world nearest to print, the nearest
under shuffled names, and the distance of a world chosen on one table on the other one.
"""

LIMITS = """## Limits

- The readings are ours. Others may find more; a share is one of the listed worlds, each counted once, not a
  probability.
- The kinds of claims and their checks were not written blind: an earlier version of this study had seen default
  results.
- Worlds have fewer splits and numbers of terms than the default; slow classifiers (probit, neural network) are run in
  the default world alone and count with these values in every world.
- Shares are by means and do not ask for significance; claims that are met by a hair count. The range over splits says
  how far a share moves with the documents.
- Shuffled names keep all curves: a null about names, not about documents.
- Two corpora could not be had (RCV1, the Open Directory); the claims on them are not judged.
"""


def render_report(results: Mapping[str, dict[str, Any]]) -> str:
    """Render the report in Markdown."""
    protocols = {name: load_protocol(name) for name in PAPERS}
    parts = [OPENING, METHOD, "## Worlds\n\n" + _render_worlds(results)]
    parts += ["## Nulls\n\n" + _render_nulls(results), "## Findings"]
    parts += [part for name in PAPERS for part in _render_findings(protocols[name], results[name])]
    parts.append("## Errata")
    parts += [f"### {one.title}\n\n{format_bullets(one.errata)}" for one in protocols.values()]
    parts.append(LIMITS)
    return "\n".join(part.rstrip() + "\n" for part in parts)


def _render_worlds(results: Mapping[str, dict[str, Any]]) -> str:
    rows = []
    for name in PAPERS:
        one = results[name]["multiverse"]
        minutes = [
            f"{seconds / 60:.1f}" for seconds in (sum(results[name]["cpu_seconds"].values()), one["cpu_seconds"])
        ]
        rows.append([name, f"{one['worlds']:,}", f"{one['possible']:,}", one["design"], one["splits"], *minutes])
    head = ["paper", "worlds run", "possible", "design", "splits", "CPU minutes, default", "CPU minutes, worlds"]
    return format_table(head, rows)


def _render_nulls(results: Mapping[str, dict[str, Any]]) -> str:
    rows = []
    for name in PAPERS:
        held = results[name]["multiverse"]["held"]
        null = held.get("null", {})
        rows.append(
            [name, held["claims"], held["default"], f"{held['median']:g}", held["best"], null.get("best_median", ""),
             null.get("best_highest", ""), f"{null['best_as_high']:.0%}" if null else "not run"]
        )  # fmt: skip
    head = ["paper", "claims about curves", "met in the default world", "in the median world", "in the best world",
            "in the best world of a shuffle, median", "at most", "shuffles that reach ours"]  # fmt: skip
    return format_table(head, rows)


def _render_findings(protocol: Protocol, results: dict[str, Any]) -> Iterator[str]:
    verdicts = [claim["verdict"] for claim in results["claims"]]
    counted = ", ".join(f"{verdicts.count(word)} {word}" for word in dict.fromkeys(verdicts))
    yield f"### {protocol.title}\n\n{' '.join(protocol.believe)}\n\nVerdicts: {counted}."
    yield f"![Specification curve](results/figures/{protocol.name}-worlds.svg)"

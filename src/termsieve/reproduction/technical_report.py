"""``docs/technical_report.md``: what a journal on reproducibility would print, from the results of the five papers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from termsieve.reproduction.claims import HOLDS, VERDICTS
from termsieve.reproduction.lead import count_minutes, render_lead, render_nearest, render_rewritten
from termsieve.reproduction.markdown import format_bullets, format_table
from termsieve.reproduction.protocol import PAPERS, Protocol, load_protocol

LUCK = 0.1  # shares that this many shuffles reach are no more than luck
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
before the first run of the grid. A world is one reading of each choice, and all of them are run but for one paper
(imbalanced, whose fits take seconds): there 16 of 64, an orthogonal array in which any two readings of two choices meet
equally often, so that main effects can be told, and interactions not.

*Sharing.* Worlds with the same texts share reading and counting; the counts of a training part are the total minus
the test part; worlds with the same counts share the values of a score; a stop list or a cut of rare words only
changes which terms may be ranked; one sum along a ranking serves all priors, denominators and numbers of terms. A
test holds that a world has exactly the measures that a study of its own gives.

*Verdicts* in the default world are by sampling error at 95 %: of the binding comparison, paired over splits with the
correction of Nadeau and Bengio, or over samples of the test documents of a published split (which leaves out the
variation of the training documents). A claim that things are alike fails only where a difference is beyond sampling
error. *Shares* count the worlds in which the means over splits meet a claim, however narrowly; their interval is the
lowest and highest share on a single split or, for one published split, where 95 % of the shares on 200 samples of its
test documents lie.

*What decides*: the mutual information of choice and outcome over the worlds, as a share of the entropy of the
outcome.

*Null.* The names of the scores are shuffled, the same way in all worlds, and all claims judged again, 100 times (or in
all orders, where there are fewer).
Claims about the names of scores alone should then hold as often as chance allows; the best of many worlds is compared
with the best of as many worlds under shuffled names. For printed tables: the world nearest to print, the nearest
under shuffled names, and the distance of a world chosen on one table on the other one.
"""

LIMITS = """## Limits

- The readings are ours. Others may find more; a share is one of the listed worlds, each counted once, not a
  probability.
- The kinds of claims and their checks were not written blind: an earlier version of this study had seen default
  results. Those that were changed with results in view are listed above.
- Worlds have fewer numbers of terms than the default, those of IFS three of ten folds; slow classifiers (probit, neural
  network) are run in the default world alone and count with these values in every world.
- A choice with more readings can explain more by chance; with thousands of worlds that is little, with 64 it is not
  nothing.
- Shares are by means and do not ask for significance; claims that are met by a hair count. The range over splits says
  how far a share moves with the documents.
- Shuffled names keep all curves: a null about names, not about documents.
- Two corpora could not be had (RCV1, the Open Directory); the claims on them are not judged.
"""


def render_report(results: Mapping[str, dict[str, Any]]) -> str:
    """Render the report in Markdown."""
    protocols = {name: load_protocol(name) for name in PAPERS}
    parts = [OPENING, _render_abstract(results), METHOD]
    parts.append("*Checks that were rewritten with results in view.*\n\n" + render_rewritten(protocols))
    parts += ["## Worlds\n\n" + _render_worlds(results), _render_choices(protocols)]
    parts += ["## Nulls\n\n" + _render_nulls(results), "### Printed tables\n\n" + _render_tables(results)]
    parts += ["## Findings\n\n" + render_lead(protocols, results)]
    parts += [part for name in PAPERS for part in _render_findings(protocols[name], results[name])]
    parts.append("## Errata")
    parts += [f"### {one.title}\n\n{format_bullets(one.errata)}" for one in protocols.values()]
    parts.append(LIMITS)
    return "\n".join(part.rstrip() + "\n" for part in parts)


def _render_abstract(results: Mapping[str, dict[str, Any]]) -> str:
    """Say in a paragraph what was found."""
    claims = [claim for name in PAPERS for claim in results[name]["claims"]]
    verdicts = [claim["verdict"] for claim in claims]
    judged = [claim for claim in claims if "null" in claim]
    lucky = [one for one in judged if one["verdict"] == HOLDS and one["null"]["as_high"] > LUCK]
    firm = [one for one in judged if one["verdict"] == HOLDS and one["share"] > 0.5]
    counted = ", ".join(f"{verdicts.count(word)} {word}" for word in VERDICTS if word in verdicts)
    n_worlds = sum(results[name]["multiverse"]["worlds"] for name in PAPERS)
    minutes = sum(sum(count_minutes(results[name])) for name in PAPERS)
    held = sum(one["verdict"] == HOLDS for one in judged)
    return (
        f"In short: of {len(claims)} claims of five papers the verdicts in one careful reading are: {counted}. "
        f"{len(judged)} claims about curves were judged in {n_worlds:,} worlds ({minutes:.0f} CPU minutes in all). Of "
        f"{held} of them that hold in the default reading {len(firm)} hold in more than half of the worlds, and for "
        f"{len(lucky)} more than {LUCK:.0%} of the shuffles of the names of the scores reach as large a share: there a "
        f"reader learns little about the score that is named."
    )


def _render_worlds(results: Mapping[str, dict[str, Any]]) -> str:
    rows = []
    for name in PAPERS:
        one = results[name]["multiverse"]
        minutes = [f"{of:.1f}" for of in count_minutes(results[name])]
        number, kind = one["replicates"]
        rows.append(
            [name, f"{one['worlds']:,}", f"{one['possible']:,}", f"{number} {kind}", len(one["sizes"]), *minutes]
        )
    head = ["paper", "worlds run", "possible", "interval over", "numbers of terms", "CPU minutes: default", "worlds",
            "judging"]  # fmt: skip
    return format_table(head, rows)


def _render_choices(protocols: Mapping[str, Protocol]) -> str:
    """List the open choices; the reproduction has the reasons."""
    rows = [
        [name, one.name, one.question, "; ".join(reading.name for reading in one.readings)]
        for name, protocol in protocols.items()
        for one in protocol.multiverse.choices
    ]
    return format_table(["paper", "choice", "question", "readings, the default first"], rows)


def _render_tables(results: Mapping[str, dict[str, Any]]) -> str:
    found = [(name, results[name]["multiverse"]["nearest"]) for name in PAPERS]
    return "\n\n".join(f"*{name}*\n\n{render_nearest(nearest)}" for name, nearest in found if nearest)


def _render_nulls(results: Mapping[str, dict[str, Any]]) -> str:
    rows = []
    for name in PAPERS:
        held = results[name]["multiverse"]["held"]
        null = held["null"]
        rows.append(
            [name, held["claims"], held["default"], f"{held['median']:g}", held["best"], f"{null['median']:g}",
             f"{null['best_median']:g}", null["best_highest"], null["shuffles"], f"{null['best_as_high']:.0%}"]
        )  # fmt: skip
    head = ["paper", "claims about curves", "met in the default world", "in the median world", "in the best world",
            "names shuffled: in the median world", "in the best world, median", "at most", "shuffles",
            "that reach ours"]  # fmt: skip
    return format_table(head, rows)


def _render_findings(protocol: Protocol, results: dict[str, Any]) -> Iterator[str]:
    verdicts = [claim["verdict"] for claim in results["claims"]]
    counted = ", ".join(f"{verdicts.count(word)} {word}" for word in dict.fromkeys(verdicts))
    yield f"### {protocol.title}\n\n{' '.join(protocol.believe)}\n\nVerdicts: {counted}."
    if protocol.changed:
        yield "Changed since the last version:\n\n" + format_bullets(protocol.changed)
    yield f"![Specification curve](results/figures/{protocol.name}-worlds.svg)"

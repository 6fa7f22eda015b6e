"""The results of the study as a page of the documentation."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from termsieve.files import write_atomically
from termsieve.score_study.charts import draw_agreement, draw_regrets
from termsieve.score_study.evidence import REGIMES, TIE, Evidence, Regret
from termsieve.score_study.forman import check_forman
from termsieve.score_study.results import StudyResults, read_results
from termsieve.scores import SCORES, parse_score
from termsieve.scores.catalogue import EVIDENCE_FILE

FIGURES = {"regret": "choosing-regret.svg", "agreement": "choosing-agreement.svg"}
_TOP = 10
_NEAR_RULES = 5


def write_page(results_path: Path, page: Path, data_folder: Path) -> None:
    """Write the page, its figures and the file that the package keeps, from a file of results."""
    evidence = Evidence(read_results(results_path))
    figures = page.parent / "results" / "figures"
    names = evidence.names
    columns = [evidence.results.contenders.index(name) for name in names]
    regrets = [one.regret for one in evidence.standings]
    write_atomically(figures / FIGURES["regret"], [draw_regrets(regrets, evidence.recommended.name).encode()])
    agreement = evidence.results.agreement[columns][:, columns]
    write_atomically(figures / FIGURES["agreement"], [draw_agreement(names, agreement).encode()])
    write_atomically(page, [render_page(evidence.results).encode()])
    write_atomically(data_folder / EVIDENCE_FILE, [render_summary(evidence).encode()])


def render_summary(evidence: Evidence) -> str:
    """Return what the package keeps, as JSON with a line for each score."""
    summary = evidence.summary
    lines = [f"  {json.dumps(name)}: {json.dumps(facts)}" for name, facts in summary.pop("scores").items()]
    head = "".join(f" {json.dumps(name)}: {json.dumps(value)},\n" for name, value in summary.items())
    return "{\n" + head + ' "scores": {\n' + ",\n".join(lines) + "\n }\n}\n"


def render_page(results: StudyResults) -> str:
    """Return the page as Markdown."""
    evidence = Evidence(results)
    parts = (
        _advice, _method, _ranking, _compare_by_average_precision, _regimes, _guards, _rules, _agreement, _forman,
    )  # fmt: skip
    return "\n".join(line for part in parts for line in part(evidence)) + "\n"


def _advice(evidence: Evidence) -> Iterator[str]:
    best = evidence.recommended
    tied = [one for one in evidence.tied if one.name != best.name]
    least = evidence.standings[0]
    yield "# Choosing a score\n"
    yield "<!-- Made by docs/make_choosing.py from docs/results/scores.json. -->\n"
    yield (
        f"**Take `{best.name}`** ({parse_score(best.name).title}), which is the default of every command and class. "
        f"Over {evidence.n_problems} problems it loses {best.regret.mean:.3f} of F1 on average against the best score "
        f"of each problem, known only afterwards ({best.regret.low:.3f} to {best.regret.high:.3f} with 95 % "
        "confidence).\n"
    )
    if tied:
        names = ", ".join(
            f"`{one.name}` (regret {one.regret.mean:.3f}, {one.stability:.1%} come again, mean rank {one.rank:.1f})"
            for one in tied
        )
        yield (
            f"It is a tie with {names}: differences of less than {TIE} that may be chance. `{least.name}` has the "
            "least regret; of the tied scores that do not need one label per document, the one is taken whose first "
            f"terms come again most often in other documents of the corpus, those of `{best.name}` in "
            f"{best.stability:.1%} (mean rank {best.rank:.1f}). {_explain_left_out(evidence)}"
            f"Classes of fewer than {evidence.results.protocol['min_class']} documents were not studied: there a "
            "score that does not know the sizes of the classes ranks their terms first.\n"
        )


def _explain_left_out(evidence: Evidence) -> str:
    """Say which tied scores come again more often than the recommended one, and why they are not taken."""
    best = evidence.recommended
    more = [f"`{one.name}`" for one in evidence.tied if one.stability > best.stability]
    if not more:
        return ""
    return (
        f"The first terms of {' and '.join(more)} come again more often, but {' and '.join(more)} cannot be the "
        "default: documents with several labels, as in Reuters, have no such score. Where each document has one label, "
        "it is as good a choice. "
    )


def _compare_by_average_precision(evidence: Evidence) -> Iterator[str]:
    by_precision = Evidence(evidence.results, "average_precision")
    place, own = next(
        (i, one) for i, one in enumerate(by_precision.standings, 1) if one.name == evidence.recommended.name
    )
    least = by_precision.standings[0]
    problems = len(by_precision.rank_table)
    yield "## By average precision\n"
    yield (
        "How well a classifier ranks the documents of a class, wherever it draws the line: average precision by the "
        "log odds of naive Bayes and the decision function of the linear SVM. Only for one class against the rest "
        f"({problems} problems, those of the two panels counted apart); of all classes together the sweeps of naive "
        f"Bayes give labels only. `{own.name}` is number {place}"
        + (
            ".\n"
            if place == 1
            else f": it loses {own.behind.mean:.3f} ({own.behind.low:.3f} to {own.behind.high:.3f}) more than "
            f"`{least.name}`"
            + (f"; differences below {TIE} are no reason to prefer a score.\n" if own.behind.mean < TIE else ".\n")
        )
    )
    yield "| | score | regret in average precision | 95 % interval | mean rank |\n|---|---|---|---|---|"
    for i, one in enumerate(by_precision.standings, 1):
        name = f"**`{one.name}`**" if one.name == own.name else f"`{one.name}`"
        yield (
            f"| {i} | {name} | {one.regret.mean:.3f} | {one.regret.low:.3f} to {one.regret.high:.3f} | {one.rank:.1f} |"
        )
    yield ""


def _method(evidence: Evidence) -> Iterator[str]:
    protocol = evidence.results.protocol
    corpora = sorted({case.problem.corpus for case in evidence.cases})
    yield "## What was compared\n"
    yield (
        f"{len(evidence.names)} scores with their default parameters on {len(corpora)} corpora ({', '.join(corpora)}): "
        f"every class with at least {protocol['min_class']} documents against the rest, and all these classes "
        f"together. The terms are ranked in two thirds of the documents and judged on the others, F1 of the class or "
        f"macro F1 of all classes. The setting is `{protocol['setting']}` of the protocol, a sample:\n"
    )
    for panel in evidence.results.panels:
        given = protocol["panels"][panel.name]
        models = ", ".join(f"`{name}`" for name in panel.f1)
        yield (
            f"- {models}: {len(panel.problems)} problems, at most {given['documents']:,} documents of each corpus"
            f"{_format_more(given['more_documents'])}, "
            f"{given['splits']} split, {', '.join(f'{k:,}' for k in panel.sizes)} terms; "
            f"{evidence.results.cpu_minutes[panel.name]:.0f} CPU minutes"
        )
    yield (
        "\nA mean counts one-class and all-class problems the same, then the classifiers, the collections, the corpora "
        "of a collection and the problems of a corpus: what matters is a corpus that is not among these. Regret is "
        "what a score loses against the best of all scores on the same problem, classifier and range of the number "
        "of terms. Intervals come from drawing the collections again with replacement; there are only "
        f"{len({case.collection for case in evidence.cases})} of them, so they are rough. "
        f"`termsieve study scores --setting {protocol['setting']}` runs it again; `--setting full`, the default of the "
        "command, takes more documents, splits and numbers of terms.\n"
    )


def _format_pvalue(p: float) -> str:
    return "below 1e-300" if p == 0 else f"{p:.1g}"


def _format_more(more: Mapping[str, int]) -> str:
    return f" ({', '.join(f'{n:,} of {name}' for name, n in more.items())})" if more else ""


def _ranking(evidence: Evidence) -> Iterator[str]:
    yield "## All scores\n"
    yield f"![Regret of all scores](results/figures/{FIGURES['regret']})\n"
    yield "| | score | regret | 95 % interval | mean rank | first terms that come again |\n|---|---|---|---|---|---|"
    for i, one in enumerate(evidence.standings, 1):
        name = f"**`{one.name}`**" if one.name == evidence.recommended.name else f"`{one.name}`"
        yield (
            f"| {i} | {name} | {one.regret.mean:.3f} | {one.regret.low:.3f} to {one.regret.high:.3f} "
            f"| {one.rank:.1f} | {one.stability:.0%} |"
        )
    best = min(evidence.ranks, key=evidence.ranks.__getitem__)
    near = [
        name for name, rank in evidence.ranks.items() if 0 < rank - evidence.ranks[best] <= evidence.critical_difference
    ]
    others = f"not told from it: {', '.join(f'`{name}`' for name in near)}" if near else "told from all others"
    yield (
        f"\n`{best}` has the best mean rank over {len(evidence.rank_table)} problems; the critical difference at the "
        f"5 % level (Nemenyi) is {evidence.critical_difference:.1f}: {others}. Friedman's p is "
        f"{_format_pvalue(evidence.friedman_pvalue)}. Both take the problems for independent, which classes of one "
        f"corpus are not. The last column: of the first {evidence.results.protocol['half_samples']} terms for all "
        "classes, ranked in one half of the training documents, how many are there again in the other half.\n"
    )


def _regimes(evidence: Evidence) -> Iterator[str]:
    shown = [one.name for one in evidence.standings[:_TOP]]
    yield "## When it matters\n"
    yield f"Regret of the first {_TOP}, and the score with the least regret, by regime.\n"
    yield "| | | " + " | ".join(f"`{name}`" for name in shown) + " | least |"
    yield "|---|---|" + "---|" * (len(shown) + 1)
    for group, regimes in REGIMES.items():
        for name, condition in regimes.items():
            if not any(map(condition, evidence.cases)):
                continue
            found = {one.name: one for one in evidence.list_regrets(condition) if one.name in evidence.names}
            least = min(found.values(), key=lambda one: one.mean)
            cells = " | ".join(f"{found[one].mean:.3f}" for one in shown)
            yield f"| {group} | {name} | {cells} | `{least.name}` {_interval(least)} |"
    yield ""


def _interval(one: Regret) -> str:
    return f"{one.mean:.3f} ({one.low:.3f} to {one.high:.3f})"


def _guards(evidence: Evidence) -> Iterator[str]:
    guarded = [name for name in evidence.names if SCORES[parse_score(name).name].guarded]
    if not guarded:
        return
    regrets = {one.name: one for one in evidence.list_regrets()}
    yield "## What the guard does\n"
    yield (
        "Some formulas put terms of one or two documents first. These scores rank terms of fewer than 5 documents "
        "below all others; `min_df=1` turns that off, as in the papers.\n"
    )
    yield "| score | regret with the guard | without it |\n|---|---|---|"
    for name in guarded:
        free = parse_score(name).with_parameters(min_df=1).spelling
        yield f"| `{name}` | {_interval(regrets[name])} | {_interval(regrets[free])} |"
    yield ""


def _rules(evidence: Evidence) -> Iterator[str]:
    if not evidence.rules:
        return
    by_precision = Evidence(evidence.results, "average_precision")
    found, precise = (
        {one.name: one for one in some.list_regrets(evidence.has_rules)} for some in (evidence, by_precision)
    )
    cases = [case for case in evidence.cases if evidence.has_rules(case)]
    models = ", ".join(f"`{name}`" for name in sorted({case.classifier for case in cases}))
    problems = len({(case.problem.corpus, case.problem.label) for case in cases})
    best = [one.name for one in found.values() if one.name in evidence.names][:_NEAR_RULES]
    shown = {*evidence.rules, *best, evidence.recommended.name}
    yield "## Rules that look at terms together\n"
    yield (
        f"They competed with {models} on {problems} problems. Their regret there against the best single score of each "
        f"problem (below 0 they would be better than all of them), between the {_NEAR_RULES} scores with the least "
        f"regret there and `{evidence.recommended.name}`. `fcbf` ends by itself, often after a few dozen terms: more "
        "are not taken, also where more are asked for.\n"
    )
    own = evidence.recommended.name
    yield f"| | regret in F1 | less that of `{own}` | regret in average precision |\n|---|---|---|---|"
    for name in (name for name in found if name in shown):
        kind = "rule" if name in evidence.rules else "score"
        more = _interval(evidence.compare(name, own, evidence.has_rules)) if name != own else ""
        yield f"| {kind} `{name}` | {_interval(found[name])} | {more} | {_interval(precise[name])} |"
    yield ""


def _agreement(evidence: Evidence) -> Iterator[str]:
    yield "## Which scores are nearly the same\n"
    yield f"![Agreement of scores](results/figures/{FIGURES['agreement']})\n"
    yield (
        f"The share of the first {evidence.results.protocol['half_samples']} terms for all classes that two scores "
        "have in common, a mean over the corpora. Nearly the same:\n"
    )
    for a, b, shared in evidence.duplicates():
        yield f"- `{a}` and `{b}`: {shared:.1%}"
    yield ""


def _forman(evidence: Evidence) -> Iterator[str]:
    claims = check_forman(evidence.results)
    if not claims:
        return
    yield "## Forman's claims\n"
    yield (
        "Forman (2003) compared twelve scores on 229 problems with a linear SVM. His headlines, in our words and from "
        "memory, checked on our one-class problems with the linear SVM (which sees tf-idf with the logarithm of tf) "
        "and his scores (all but one, the random choice):\n"
    )
    yield "| claim | here | numbers |\n|---|---|---|"
    for claim in claims:
        yield f"| {claim.says} | {'holds' if claim.holds else 'does not hold'} | {claim.evidence} |"

"""The page: all parts of a report in one HTML file that needs no network."""

from __future__ import annotations

import base64
import functools
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from termsieve._version import __version__
from termsieve.classify.recipes import recipe_title
from termsieve.documents import Documents
from termsieve.files import check_target, write_atomically
from termsieve.model.exporting import Front
from termsieve.model.model import Model
from termsieve.ranking.score_values import Scores
from termsieve.reporting import charts, curve_charts, rerun, tables
from termsieve.reporting.figures import draw_critical_difference, write_figures
from termsieve.reporting.findings import list_findings, make_explanation, make_headline
from termsieve.reporting.formatting import keep_percent
from termsieve.reporting.report_data import MAX_PAIRS, ReportData
from termsieve.reporting.style import PALETTE, Chart
from termsieve.reporting.term_groups import draw_term_groups
from termsieve.reporting.term_index import make_term_index
from termsieve.reporting.try_box import make_try_box
from termsieve.reporting.vocabulary_map import (
    N_COLORED,
    VocabularyMap,
    list_colored_classes,
    make_static_legend,
    make_static_points,
    make_vocabulary_map,
)
from termsieve.scores.parsing import score_title
from termsieve.study.excerpts import MAX_CLASSES, extract_from_documents
from termsieve.study.results import Comparison

_BROAD_WIDTH, _NARROW_WIDTH = 520, 340
_BAND_NOTE = (
    "Bands are 95 % intervals over the splits, with Nadeau and Bengio's correction, because splits share training "
    "documents."
)
_AGREEMENT_NOTE = (
    "On the left, how many of their first terms two scores have in common; on the right, the correlation of their "
    "rankings of all terms, including the rare ones."
)
_GROUP_NOTE = (
    "Among the first terms of each score, these are in much the same documents: the best of each group, and what "
    "stands for it. Bars are documents with both terms, as a share of those with one of them. To select terms that do "
    "not repeat each other: termsieve select FILE --rule 'cmim(100)' --explain."
)
_EXPLAINED_NOTE = (
    "The first of the recommended terms, and others behind them of which each tells much the same: they speak of the "
    "classes, too, but beside it less than alone. With each, the share of its documents that have the term on the left."
)
_NO_SUM_REASON = "some of their values are negative or infinite, so a share of their sum has no meaning"
_TIMING_NOTE = (
    "Ranking is scoring and sorting all terms; learning is fitting and predicting at every number of terms. CPU "
    "seconds of one thread, the mean over the splits."
)


def report(
    result: Comparison | Scores | dict[str, Scores],
    path: str | Path,
    *,
    documents: Any = None,
    figures: str | Path | None = None,
    title: str | None = None,
    model: Model | None = None,
    front: Front | None = None,
) -> Path:
    """Write a report: one HTML file that needs no network, with interactive charts, light and dark.

    Parameters
    ----------
    result : Comparison, Scores, or dict of Scores
        The result of `termsieve.compare` or `termsieve.score`.
    path : path
        The file to write, completely or not at all.
    documents : Documents or sequence of str, optional
        The documents that were counted, for excerpts. A comparison brings its own.
    figures : path, optional
        A folder into which the charts are written as PNG, SVG and PDF.
    title : str, optional
        Name of the corpus.
    model : Model, optional
        The recommended model, of `termsieve.model.train_recommended`: the page has a box in which it labels texts.
    front : Front, optional
        Of `termsieve.model.exporting.find_front`: the page shows the best F1 in how many bytes.

    Returns
    -------
    Path
        The path of the page.

    Examples
    --------
    >>> import tempfile, termsieve as ts
    >>> counts = ts.count(["good film", "good play", "bad film"], ["pos", "pos", "neg"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = ts.report(ts.score(counts, ["chi2", "gu"]), f"{folder}/films.html", title="films").read_text()
    >>> "What tells pos and neg apart" in page
    True
    """
    path = check_target(path)
    data = ReportData.from_result(result)
    if documents is not None:
        data.excerpts = extract_from_documents(documents, [one.scores for one in data.contenders])
        if isinstance(documents, Documents) and data.result is None and documents.origin["files"]:
            data.origin = documents.origin
    data.try_box = None if model is None else make_try_box(model)
    data.front = front
    drawn = _draw_charts(data)
    words = make_vocabulary_map(data) if data.contenders else None
    name = title or _name_of_source(data) or "report"
    write_atomically(path, [_render_page(data, drawn, words, name).encode("utf-8", "replace")])
    if figures is not None:
        write_figures(_make_figures(data, drawn, words), figures)
    return path


def _name_of_source(data: ReportData) -> str:
    """Return the name of the file that the documents or counts are from; empty if it is not known."""
    files = [*data.origin.get("files", ()), *data.origin.get("counts", ())]
    more = f" and {len(files) - 1} more" if len(files) > 1 else ""
    return f"{Path(str(files[0])).name}{more}" if files else ""


# Charts


def _draw_charts(data: ReportData) -> dict[str, Chart]:
    drawn: list[Chart] = []
    if data.counts is not None:
        drawn += [charts.draw_class_sizes(data.counts), charts.draw_term_frequencies(data.counts)]
    if data.result is not None:
        drawn += curve_charts.draw_f1_curves(data.result)
    if data.front is not None:
        drawn.append(charts.draw_byte_front(data.front))
    if data.contenders:
        drawn.append(charts.draw_vocabulary_map())
        certainty = charts.draw_certainty(data)
        drawn += [] if certainty is None else [certainty]
    if data.result is not None and data.result.term_groups:
        drawn.append(draw_term_groups(data.result.term_groups))
    if len(data.contenders) > 1:
        drawn += [charts.draw_overlaps(data), charts.draw_correlations(data)]
    if data.energies:
        drawn.append(charts.draw_energy(data))
    if data.timings:
        drawn.append(charts.draw_timings(data))
    return {one.name: one for one in drawn}


def _make_figures(data: ReportData, drawn: dict[str, Chart], words: VocabularyMap | None) -> dict[str, Any]:
    """Return specifications for print: with titles, and the map with its points."""
    figures: dict[str, Any] = {
        one.name: {**one.spec, "title": {"text": one.title, "anchor": "start"}} for one in drawn.values()
    }
    if words is not None:
        figures["map"] = _draw_static_map(words.data, _initial_score(data))
    for i, contrast in enumerate(_draw_contrasts(data), 1):
        figures[f"difference_{i}"] = str(contrast["broad"])
    return figures


def _draw_static_map(words: dict[str, Any], name: str) -> dict[str, Any]:
    """Draw the map of all classes by one score, with its title and legend."""
    name = name if name in words["scores"] else words["scores"][0]
    spec = charts.draw_vocabulary_map(make_static_legend(words)).spec
    title = f"The vocabulary: all classes, the first {N_COLORED} terms by {score_title(name)} in colour"
    datasets = {**spec.get("datasets", {}), "points": make_static_points(words, name)}
    return {**spec, "title": {"text": title, "anchor": "start"}, "datasets": datasets}


# The template


@functools.cache
def get_environment() -> Environment:
    """Return the environment of the templates: everything is escaped, and nothing may be missing."""
    environment = Environment(
        loader=PackageLoader("termsieve.reporting"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "separators": (",", ":")}
    return environment


@functools.cache
def load_asset(name: str) -> str:
    """Load a script or style of this package."""
    source, _, _ = get_environment().loader.get_source(get_environment(), name)  # type: ignore[union-attr]
    return source


@functools.cache
def _load_bundle() -> str:
    """Load Vega, Vega-Lite and Vega-Embed as one script."""
    import vl_convert

    script: str = vl_convert.javascript_bundle()  # type: ignore[call-arg]  # its stub forgets the default
    return script.replace("</script", "<\\/script")


def _content_policy(*scripts: str) -> str:
    """Make a policy under which only these scripts run, no code is made from text, and nothing is loaded."""
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'" for script in scripts
    )
    return f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def _render_page(data: ReportData, drawn: dict[str, Chart], words: VocabularyMap | None, title: str) -> str:
    bundle, script = _load_bundle(), load_asset("page.js")
    box = data.try_box
    context = {
        "try_box": box, "try_script": Markup(box.script) if box else "",  # noqa: S704 - escaped there
        "policy": _content_policy(bundle, script, *([box.script] if box and box.script else [])),
        "bundle": Markup(bundle), "script": Markup(script),  # noqa: S704 - our own
        "style": Markup(load_asset("page.css")), "version": __version__, "title": title,  # noqa: S704 - our own
        "headline": make_headline(data), "explanation": keep_percent(make_explanation(data)),
        "findings": [keep_percent(one.sentence) for one in list_findings(data)
                     if not one.sentence.startswith(make_headline(data))][:3],
        "tiles": tables.make_tiles(data), "charts": drawn, "counts": data.counts, "result": data.result,
        "vocabulary": words, "several": len(data.contenders) > 1,
        "again": rerun.make_code_blocks(data), "again_note": rerun.make_note(data),
        "settings": rerun.list_settings(data),
        "page_data": _page_data(data, drawn, words),
        **_corpus_context(data), **_result_context(data, drawn, words), **_vocabulary_context(data, words),
        **_score_context(data),
    }  # fmt: skip
    context["sections"] = _list_sections(context)
    return get_environment().get_template("page.html").render(context)


def _page_data(data: ReportData, drawn: dict[str, Chart], words: VocabularyMap | None) -> dict[str, Any]:
    """Return the data of the script of the page."""
    return {
        "charts": {name: one.spec for name, one in drawn.items()},
        "palette": PALETTE, "vocabulary": None if words is None else words.data,
        "index": None if words is None else make_term_index(data.ranked_counts),
        "score_titles": {name: score_title(name) for name in data.names},
        "colored": [] if words is None else list_colored_classes(words.data), "chosen_score": _initial_score(data),
    }  # fmt: skip


def _initial_score(data: ReportData) -> str:
    """Return the score that the page shows first."""
    if data.result is None:
        return ""
    score = data.result.recommended().score
    return score if score in data.names or not data.names else data.names[0]


def _list_sections(context: dict[str, Any]) -> list[dict[str, str]]:
    """List the sections of the page, for the links at the top."""
    has_result, has_vocabulary = context["result"] is not None, context["vocabulary"] is not None
    every = [
        ("corpus", "Corpus", context["counts"] is not None), ("curves", "How many terms", has_result),
        ("try", "Try it", context["try_box"] is not None),
        ("bytes", "How few bytes", "bytes" in context["charts"]),
        ("difference", "Differences", has_result), ("ways", "Other ways", bool(context["ways"])),
        ("vocabulary", "Map", has_vocabulary),
        ("top", "Top terms", has_vocabulary),
        ("groups", "Near-duplicates", "groups" in context["charts"] or bool(context["explained"])),
        ("agreement", "Agreement", context["several"]), ("energy", "Energy", "energy" in context["charts"]),
        ("timings", "Timings", "timings" in context["charts"]), ("again", "Run it again", True),
    ]  # fmt: skip
    return [{"id": name, "name": title} for name, title, shown in every if shown]


def _corpus_context(data: ReportData) -> dict[str, Any]:
    return {"facts": [] if data.counts is None else tables.list_facts(data.counts)}


def _result_context(data: ReportData, drawn: dict[str, Chart], words: VocabularyMap | None) -> dict[str, Any]:
    result = data.result
    if result is None:
        return {"explained": [], "ways": None}
    numbers = _number_terms(words)
    one_split = result.settings.get("n_splits", 2) == 1
    return {
        "curve_names": [name for name in drawn if name.startswith("f1_")],
        "decision_curve": _decision_curve(result, drawn), "rule": result.recommended().rule,
        "reason": keep_percent(result.recommended().reason),
        "explained": tables.make_explained_terms(result.near_duplicates, numbers), "explained_note": _EXPLAINED_NOTE,
        "gap_note": result.describe_gaps(),
        "band_note": "There was one split only, so there are no bands." if one_split else _BAND_NOTE,
        "result_columns": tables.make_result_columns(result), "result_rows": tables.make_result_rows(data, result),
        "ways": result.settings.get("multiverse"),
        "contrasts": _draw_contrasts(data), "no_contrast": "This needs two or more scores and two or more splits.",
    }  # fmt: skip


def _decision_curve(result: Comparison, drawn: dict[str, Chart]) -> str:
    """Return the name of the chart with the curves of the recommended classifier."""
    names = [name for name in drawn if name.startswith("f1_")]
    return names[result.asked_classifiers.index(curve_charts.find_charted_classifier(result))]


def _draw_contrasts(data: ReportData) -> list[dict[str, Any]]:
    result = data.result
    if result is None or len(result.scores) < 2 or result.settings.get("n_splits", 2) < 2:
        return []
    contrasts = []
    best = result.best()
    for model in result.asked_classifiers:
        choice = best[model]
        if sum(one[:1] == (model,) and one.k == choice.k for one in result.trials().tried) < 2:
            continue  # only one score has so many terms
        contrast = result.contrast(model, k=choice.k)
        contrasts.append({
            "title": f"{recipe_title(model)}, {choice.k:,} terms", "sentence": contrast.sentence,
            "broad": Markup(draw_critical_difference(contrast.diagram, width=_BROAD_WIDTH)),  # noqa: S704 - escaped there
            "narrow": Markup(draw_critical_difference(contrast.diagram, width=_NARROW_WIDTH)),  # noqa: S704 - escaped there
        })  # fmt: skip
    return contrasts


def _describe_stable_terms(data: ReportData) -> str:
    """Tell how many of the first terms would come again; empty where that was not measured."""
    stable = data.stable_terms
    if stable is None:
        return ""
    return (
        f"Of the first {stable.k:,} terms by {score_title(stable.score)}, {stable.stable:,} come again in 9 of 10 "
        f"half-samples of the documents ({stable.halves} were drawn); others are marked with a dotted line."
    )


def _number_terms(words: VocabularyMap | None) -> dict[str, int]:
    """Return the numbers of the terms that are on the map."""
    return {} if words is None else {term: i for i, term in enumerate(words.spellings)}


def _vocabulary_context(data: ReportData, words: VocabularyMap | None) -> dict[str, Any]:
    if words is None:
        return {}
    counts = data.ranked_counts
    numbers = _number_terms(words)
    many = counts.n_classes > MAX_CLASSES
    only = f" Of {counts.n_classes:,} classes the {MAX_CLASSES} largest are here." if many else ""
    best = f"{len(words.spellings):,} of {counts.n_terms:,} terms are here: the best of each class by each score"
    whole = len(words.spellings) == counts.n_terms
    drawn = f"All {counts.n_terms:,} terms are here." if whole else f"{best}, and a sample of the others."
    return {
        "map_note": f"{drawn}{only}",
        "stable_note": _describe_stable_terms(data),
        "telling": tables.make_telling_words(data, numbers), "telling_score": score_title(data.leading_contender.name),
        "top": tables.make_top_lists(data, numbers), "top_note": only.strip(),
        "n_top": tables.top_list_length(data),
        "n_open": tables.OPEN_CLASSES if counts.n_classes <= tables.OPEN_CLASSES else 1,
    }  # fmt: skip


def _explain_names(names: Sequence[str]) -> str:
    """Explain the names that diagrams have no room to write out."""
    return "; ".join(f"{name}: {score_title(name)}" for name in names) + "."


def _score_context(data: ReportData) -> dict[str, Any]:
    without = [one.name for one in data.contenders if one.name not in data.energies]
    n = len(data.names)
    fewer = " Only pairs with one score are here." if n * (n - 1) // 2 > MAX_PAIRS else ""
    return {
        "agreement_note": _AGREEMENT_NOTE + fewer,
        "names_note": _explain_names(data.names),
        "energy_note": f"Not here: {', '.join(without)}; {_NO_SUM_REASON}." if without else "",
        "timing_note": _TIMING_NOTE,
        "group_note": _GROUP_NOTE,
    }

"""The page: everything there is to show, put into one HTML file that needs no network."""

from __future__ import annotations

import base64
import functools
import hashlib
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from termsieve._version import __version__
from termsieve.documents import Documents
from termsieve.files import check_target, write_atomically
from termsieve.ranking.ranking import Scores
from termsieve.reporting import charts, rerun, tables
from termsieve.reporting.figures import draw_critical_difference, write_figures
from termsieve.reporting.findings import list_findings, make_explanation, make_headline
from termsieve.reporting.report_data import MAX_PAIRS, ReportData
from termsieve.reporting.style import PALETTE, Chart
from termsieve.reporting.vocabulary_map import (
    N_COLORED,
    VocabularyMap,
    colored_classes,
    make_static_legend,
    make_static_points,
    make_vocabulary_map,
)
from termsieve.study.excerpts import MAX_CLASSES, extract_from_documents
from termsieve.study.results import Comparison

_BROAD_WIDTH, _NARROW_WIDTH = 520, 340
_BAND_NOTE = (
    "Bands are 95 % intervals over the splits. The folds of one cross-validation share training documents, so the "
    "bands are somewhat too narrow."
)
_AGREEMENT_NOTE = (
    "On the left, how many of their first terms two scores have in common; on the right, how alike their orders of all "
    "terms are, the rare ones included."
)
_NO_SUM_REASON = "their values are negative or infinite somewhere, and do not add up to a whole"
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
) -> Path:
    """Write a report: one HTML file that needs no network, with interactive charts, light and dark.

    Parameters
    ----------
    result : Comparison, Scores, or dict of Scores
        What `termsieve.compare` or `termsieve.score` gave. Of scores alone the page shows what can be known without
        documents.
    path : path
        The file to write; it is there whole or not at all.
    documents : Documents or sequence of str, optional
        The documents that were counted, for excerpts. A comparison brings its own.
    figures : path, optional
        A folder into which the charts are written as PNG, SVG and PDF.
    title : str, optional
        What the corpus is called.

    Returns
    -------
    Path
        Of the page.

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
    material = ReportData.of(result)
    if documents is not None:
        material.excerpts = extract_from_documents(documents, [one.scores for one in material.contenders])
        if isinstance(documents, Documents) and material.result is None and documents.origin["files"]:
            material.origin = documents.origin
    drawn = _draw_charts(material)
    words = make_vocabulary_map(material) if material.contenders else None
    write_atomically(path, [_render_page(material, drawn, words, title or "report").encode("utf-8", "replace")])
    if figures is not None:
        write_figures(_make_figures(material, drawn, words), figures)
    return path


# Charts


def _draw_charts(material: ReportData) -> dict[str, Chart]:
    drawn: list[Chart] = []
    if material.counts is not None:
        drawn += [charts.draw_class_sizes(material.counts), charts.draw_term_frequencies(material.counts)]
    if material.result is not None:
        drawn += charts.draw_f1_curves(material.result)
    if material.contenders:
        drawn.append(charts.draw_vocabulary_map())
    if len(material.contenders) > 1:
        drawn += [charts.draw_overlaps(material), charts.draw_correlations(material)]
    if material.energies:
        drawn.append(charts.draw_energy(material))
    if material.timings:
        drawn.append(charts.draw_timings(material))
    return {one.name: one for one in drawn}


def _make_figures(material: ReportData, drawn: dict[str, Chart], words: VocabularyMap | None) -> dict[str, Any]:
    """Specifications for paper: with titles, and the map with its points."""
    found: dict[str, Any] = {
        one.name: {**one.spec, "title": {"text": one.title, "anchor": "start"}} for one in drawn.values()
    }
    if words is not None:
        found["map"] = _draw_static_map(words.data, _initial_score(material))
    for i, contrast in enumerate(_draw_contrasts(material), 1):
        found[f"difference_{i}"] = str(contrast["broad"])
    return found


def _draw_static_map(words: dict[str, Any], name: str) -> dict[str, Any]:
    """The map of all classes by one score: it says itself which, and what the colours are."""
    name = name if name in words["scores"] else words["scores"][0]
    spec = charts.draw_vocabulary_map(make_static_legend(words)).spec
    title = f"The vocabulary: all classes, the first {N_COLORED} terms by {name} in colour"
    datasets = {**spec.get("datasets", {}), "points": make_static_points(words, name)}
    return {**spec, "title": {"text": title, "anchor": "start"}, "datasets": datasets}


# The template


@functools.cache
def _get_environment() -> Environment:
    made = Environment(
        loader=PackageLoader("termsieve.reporting"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    made.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "separators": (",", ":")}
    return made


@functools.cache
def _load_asset(name: str) -> str:
    """A script or style of this package."""
    source, _, _ = _get_environment().loader.get_source(_get_environment(), name)  # type: ignore[union-attr]
    return source


@functools.cache
def _load_bundle() -> str:
    """Vega, Vega-Lite and what puts them into a page, as one script."""
    import vl_convert

    script: str = vl_convert.javascript_bundle()  # type: ignore[call-arg]  # its stub forgets the default
    return script.replace("</script", "<\\/script")


def _content_policy(*scripts: str) -> str:
    """Only these scripts may run, none may be made from text, and nothing may be loaded."""
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'" for script in scripts
    )
    return f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def _render_page(material: ReportData, drawn: dict[str, Chart], words: VocabularyMap | None, title: str) -> str:
    bundle, script = _load_bundle(), _load_asset("page.js")
    context = {
        "policy": _content_policy(bundle, script), "bundle": Markup(bundle), "script": Markup(script),  # noqa: S704 - our own
        "style": Markup(_load_asset("page.css")), "version": __version__, "title": title,  # noqa: S704 - our own
        "headline": make_headline(material), "explanation": make_explanation(material),
        "findings": [one.sentence for one in list_findings(material)
                     if not one.sentence.startswith(make_headline(material))][:3],
        "tiles": tables.make_tiles(material), "charts": drawn, "counts": material.counts, "result": material.result,
        "vocabulary": words, "several": len(material.contenders) > 1,
        "again": rerun.make_code_blocks(material), "again_note": rerun.make_note(material),
        "settings": rerun.list_settings(material),
        "material": _page_data(material, drawn, words),
        **_corpus_context(material), **_result_context(material, drawn), **_vocabulary_context(material, words),
        **_score_context(material),
    }  # fmt: skip
    context["sections"] = _list_sections(context)
    return _get_environment().get_template("page.html").render(context)


def _page_data(material: ReportData, drawn: dict[str, Chart], words: VocabularyMap | None) -> dict[str, Any]:
    """What the script of the page works with."""
    return {
        "charts": {name: one.spec for name, one in drawn.items()},
        "palette": PALETTE, "vocabulary": None if words is None else words.data,
        "colored": [] if words is None else colored_classes(words.data), "chosen_score": _initial_score(material),
    }  # fmt: skip


def _initial_score(material: ReportData) -> str:
    """The score with which the page begins."""
    return "" if material.result is None else material.result.recommended().score


def _list_sections(context: dict[str, Any]) -> list[dict[str, str]]:
    """The sections that there are, for the links at the top."""
    compared, worded = context["result"] is not None, context["vocabulary"] is not None
    every = [
        ("corpus", "Corpus", context["counts"] is not None), ("curves", "How many terms", compared),
        ("difference", "Differences", compared), ("vocabulary", "Map", worded), ("top", "Top terms", worded),
        ("agreement", "Agreement", context["several"]), ("energy", "Energy", "energy" in context["charts"]),
        ("timings", "Timings", "timings" in context["charts"]), ("again", "Run it again", True),
    ]  # fmt: skip
    return [{"id": name, "name": title} for name, title, there in every if there]


def _corpus_context(material: ReportData) -> dict[str, Any]:
    return {"facts": [] if material.counts is None else tables.list_facts(material.counts)}


def _result_context(material: ReportData, drawn: dict[str, Chart]) -> dict[str, Any]:
    result = material.result
    if result is None:
        return {}
    one_split = result.settings.get("n_splits", 2) == 1
    return {
        "curve_names": [name for name in drawn if name.startswith("f1_")],
        "reasons": [choice.reason for choice in result.best().values()],
        "band_note": "There was one split only, so there are no bands." if one_split else _BAND_NOTE,
        "result_columns": tables.make_result_columns(result), "result_rows": tables.make_result_rows(material, result),
        "contrasts": _draw_contrasts(material), "no_contrast": "This needs two or more scores and two or more splits.",
    }  # fmt: skip


def _draw_contrasts(material: ReportData) -> list[dict[str, Any]]:
    result = material.result
    if result is None or len(result.scores) < 2 or result.settings.get("n_splits", 2) < 2:
        return []
    found = []
    for model, choice in result.best().items():
        contrast = result.contrast(model, k=choice.k)
        found.append({
            "title": f"{model}, {choice.k:,} terms", "sentence": contrast.sentence,
            "broad": Markup(draw_critical_difference(contrast.diagram, width=_BROAD_WIDTH)),  # noqa: S704 - escaped there
            "narrow": Markup(draw_critical_difference(contrast.diagram, width=_NARROW_WIDTH)),  # noqa: S704 - escaped there
        })  # fmt: skip
    return found


def _vocabulary_context(material: ReportData, words: VocabularyMap | None) -> dict[str, Any]:
    if words is None:
        return {}
    counts = material.ranked_counts
    numbers = {term: i for i, term in enumerate(words.spellings)}
    many = counts.n_classes > MAX_CLASSES
    only = f" Of {counts.n_classes:,} classes the {MAX_CLASSES} largest are here." if many else ""
    return {
        "map_note": f"{len(words.spellings):,} of {counts.n_terms:,} terms are here: the best of each class by each "
        f"score, and a sample of the others.{only}",
        "top": tables.make_top_lists(material, numbers), "top_note": only.strip(),
        "n_top": tables.top_list_length(material),
        "n_open": tables.OPEN_CLASSES if counts.n_classes <= tables.OPEN_CLASSES else 1,
    }  # fmt: skip


def _score_context(material: ReportData) -> dict[str, Any]:
    without = [one.name for one in material.contenders if one.name not in material.energies]
    n = len(material.names)
    fewer = " Only pairs with one score are here." if n * (n - 1) // 2 > MAX_PAIRS else ""
    return {
        "agreement_note": _AGREEMENT_NOTE + fewer,
        "energy_note": f"Not here: {', '.join(without)}; {_NO_SUM_REASON}." if without else "",
        "timing_note": _TIMING_NOTE,
    }

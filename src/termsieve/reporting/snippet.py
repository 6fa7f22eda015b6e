"""The snippet of Python that makes a report again. Every value in it is written by `repr`."""

from __future__ import annotations

from typing import Any

from termsieve.reporting.origin import (
    as_list,
    counts_files,
    document_files,
    get_analyzer,
    named_contenders,
    read_options,
    study_settings,
)
from termsieve.reporting.report_data import ReportData


def make_snippet(material: ReportData) -> str:
    """The code, from the files to the page."""
    lines = _scoring_lines(material) if material.result is None else _compare_lines(material)
    return "\n".join(lines)


def _compare_lines(material: ReportData) -> list[str]:
    documents, given = _document_lines(material), _arguments(material)
    special = named_contenders(material)
    imports = ["from termsieve.study.plan import Contender"] if special else []
    if special:
        names = [_score_code(str(name), special) for name in as_list(study_settings(material).get("scores"))]
        given["scores"] = f"[{', '.join(names)}]"
    lines = [f"    {name}={value}," for name, value in given.items()]
    return [
        *_import_lines(material, imports), "", *documents, "result = ts.compare(", "    docs,", *lines, ")",
        'ts.report(result, "report.html")',
    ]  # fmt: skip


def _arguments(material: ReportData) -> dict[str, str]:
    """The arguments of the comparison as code."""
    found = {name: repr(value) for name, value in study_settings(material).items()}
    code = _analyzer_code(material)
    return {**found, "analyzer": code} if code else found


def _score_code(name: str, special: dict[str, dict[str, Any]]) -> str:
    """A score as code: by its spelling, or with all that was said about it."""
    if name not in special:
        return repr(name)
    return f"Contender({', '.join(f'{key}={value!r}' for key, value in special[name].items())})"


def _scoring_lines(material: ReportData) -> list[str]:
    names = repr(material.names[0] if len(material.names) == 1 else material.names)
    saved = counts_files(material)
    if saved:
        made = [f"counts = {' + '.join(f'ts.Counts.load({file!r})' for file in saved)}"]
    else:
        code = _analyzer_code(material)
        made = [*_document_lines(material), f"counts = ts.count(docs{f', analyzer={code}' if code else ''})"]
    return [
        *_import_lines(material, []), "", *made, f"scores = ts.score(counts, {names})",
        'ts.report(scores, "report.html")',
    ]  # fmt: skip


def _import_lines(material: ReportData, more: list[str]) -> list[str]:
    demo = ["from termsieve import demonstration"] if material.origin.get("demo") else []
    return ["import termsieve as ts", *demo, *more]


def _analyzer_code(material: ReportData) -> str:
    """The analyzer as code, where it is not as it comes."""
    analyzer = get_analyzer(material)
    code = "" if analyzer is None else repr(analyzer)
    return f"ts.{code}" if code not in ("", "Analyzer()") else ""


# Documents


def _document_lines(material: ReportData) -> list[str]:
    if material.origin.get("demo"):
        return ["name, texts, labels = demonstration.load_corpus()", 'docs = ts.read({"text": texts, "label": labels})']
    files = document_files(material) or ["DOCUMENTS"]
    source = repr(files[0] if len(files) == 1 else files)
    return [f"docs = ts.read({source}{_option_code(material)})"]


def _option_code(material: ReportData) -> str:
    return "".join(f", {name}={_literal(name, value)}" for name, value in read_options(material).items())


def _literal(name: str, value: Any) -> str:
    if name == "text" and isinstance(value, list) and len(value) == 1:
        return repr(value[0])
    return repr(tuple(value)) if name == "split" and isinstance(value, list) else repr(value)

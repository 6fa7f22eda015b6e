"""The snippet of Python that makes a report again. Every value in it is written by `repr`."""

from __future__ import annotations

from typing import Any

from termsieve.reporting.origin import (
    as_list,
    counts_files,
    document_files,
    get_analyzer,
    list_named_contenders,
    read_options,
    study_settings,
)
from termsieve.reporting.report_data import ReportData


def make_snippet(data: ReportData) -> str:
    """Make the code, from the files to the page."""
    lines = _scoring_lines(data) if data.result is None else _compare_lines(data)
    return "\n".join(lines)


def _compare_lines(data: ReportData) -> list[str]:
    documents, given = _document_lines(data), _arguments(data)
    special = list_named_contenders(data)
    if special:
        names = [_score_code(str(name), special) for name in as_list(study_settings(data).get("scores"))]
        given["scores"] = f"[{', '.join(names)}]"
    lines = [f"    {name}={value}," for name, value in given.items()]
    call = ["result = ts.compare(", "    docs,", *lines, ")"] if lines else ["result = ts.compare(docs)"]
    return [*_import_lines(data), "", *documents, *call, 'ts.report(result, "report.html")']


def _arguments(data: ReportData) -> dict[str, str]:
    """Return the arguments of the comparison as code."""
    arguments = {name: repr(value) for name, value in study_settings(data).items()}
    code = _analyzer_code(data)
    return {**arguments, "analyzer": code} if code else arguments


def _score_code(name: str, special: dict[str, dict[str, Any]]) -> str:
    """Return a score as code: its spelling, or a contender with all its fields."""
    if name not in special:
        return repr(name)
    return f"ts.Contender({', '.join(f'{key}={value!r}' for key, value in special[name].items())})"


def _scoring_lines(data: ReportData) -> list[str]:
    names = repr(data.names[0] if len(data.names) == 1 else data.names)
    saved = counts_files(data)
    if saved:
        counts_lines = [f"counts = {' + '.join(f'ts.Counts.load({file!r})' for file in saved)}"]
    else:
        code = _analyzer_code(data)
        counts_lines = [*_document_lines(data), f"counts = ts.count(docs{f', analyzer={code}' if code else ''})"]
    return [
        *_import_lines(data), "", *counts_lines, f"scores = ts.score(counts, {names})",
        'ts.report(scores, "report.html")',
    ]  # fmt: skip


def _import_lines(data: ReportData) -> list[str]:
    demo = ["from termsieve.datasets import demo"] if data.origin.get("demo") else []
    return ["import termsieve as ts", *demo]


def _analyzer_code(data: ReportData) -> str:
    """Return the analyzer as code; empty for the default analyzer."""
    analyzer = get_analyzer(data)
    code = "" if analyzer is None else repr(analyzer)
    return f"ts.{code}" if code not in ("", "Analyzer()") else ""


# Documents


def _document_lines(data: ReportData) -> list[str]:
    if data.origin.get("demo"):
        return ["name, texts, labels = demo.load_corpus()", 'docs = ts.read({"text": texts, "label": labels})']
    files = document_files(data) or ["DOCUMENTS"]
    source = repr(files[0] if len(files) == 1 else files)
    return [f"docs = ts.read({source}{_option_code(data)})"]


def _option_code(data: ReportData) -> str:
    return "".join(f", {name}={_literal(name, value)}" for name, value in read_options(data).items())


def _literal(name: str, value: Any) -> str:
    if name == "text" and isinstance(value, list) and len(value) == 1:
        return repr(value[0])
    return repr(tuple(value)) if name == "split" and isinstance(value, list) else repr(value)

"""The origin of the documents of a report, as far as a command or a snippet can repeat it.

A saved result may come from anybody: only known names are read from it, and each value is quoted where it is used.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from termsieve.errors import TermsieveError
from termsieve.reporting.report_data import ReportData
from termsieve.study.plan import Contender, changed_settings
from termsieve.tokens.analyzer import Analyzer

READ_OPTIONS = (
    "text", "label", "label_sep", "by_file", "split", "encoding", "encoding_errors", "strict", "sep", "sheet", "quotes",
)  # fmt: skip
CONTENDER_FIELDS = tuple(one.name for one in fields(Contender))


def as_list(value: Any) -> list[Any]:
    """Return a list as it is, None as an empty list, and anything else as a list of one."""
    return value if isinstance(value, list) else [] if value is None else [value]


def document_files(data: ReportData) -> list[str]:
    """Return the names of the files with the documents."""
    return [str(file) for file in as_list(data.origin.get("files"))]


def counts_files(data: ReportData) -> list[str]:
    """Return the names of the files with counts, if the report is of them; counts of a matrix must be saved first."""
    files = [str(file) for file in as_list(data.origin.get("counts"))]
    return files or (["COUNTS"] if is_from_matrix(data) else [])


def is_from_matrix(data: ReportData) -> bool:
    """Tell whether the counts are of a matrix that is in no file."""
    has_source = data.origin.get("counts") or data.result is not None or data.counts is None
    return not has_source and data.counts is not None and data.counts.settings is None


def read_options(data: ReportData) -> dict[str, Any]:
    """Return the options of reading that are not at their default."""
    options = {name: data.origin[name] for name in READ_OPTIONS if name in data.origin}
    if options.pop("by_file", None):  # whatever a saved result has there
        options["by_file"] = True
    return options


def study_settings(data: ReportData) -> dict[str, Any]:
    """Return the parameters of the comparison that differ from their defaults, by name."""
    return {} if data.result is None else changed_settings(data.result.settings)


def list_named_contenders(data: ReportData) -> dict[str, dict[str, Any]]:
    """Return the fields of the scores that were given with a name of their own; the search finds its own again."""
    given = [] if data.result is None else as_list(data.result.settings.get("contenders"))
    asked = as_list(study_settings(data).get("scores"))
    known = [
        {key: one[key] for key in CONTENDER_FIELDS if one.get(key) is not None}
        for one in given
        if isinstance(one, dict)
    ]
    return {str(one["name"]): one for one in known if {"name", "score"} <= set(one) and one["name"] in asked}


def get_analyzer(data: ReportData) -> Analyzer | None:
    """Return the analyzer; None for a matrix, or if this machine lacks a part of it."""
    settings = _analyzer_settings(data)
    try:
        return None if settings is None else Analyzer.from_settings(settings)
    except (TermsieveError, KeyError, TypeError, ValueError):
        return None


def _analyzer_settings(data: ReportData) -> Any:
    settings = data.counts.settings if data.counts is not None else None
    if settings is None and data.result is not None:
        return data.result.settings.get("analyzer")
    return settings


def is_object(value: Any) -> bool:
    """Tell whether a setting was an array or a splitter, of which only the type is known."""
    return isinstance(value, str) and value.startswith("<")


def list_caveats(data: ReportData) -> list[str]:
    """List sentences about what the reader has to fill in, or has to know."""
    return [*_document_caveats(data), *_term_caveats(data), *_study_caveats(data)]


def _document_caveats(data: ReportData) -> list[str]:
    caveats = []
    if is_from_matrix(data):
        caveats.append("The counts are of a matrix: COUNTS stands for a file to which Counts.save writes them.")
    elif not (document_files(data) or counts_files(data) or data.origin.get("demo")):
        caveats.append("The files of the documents are not known: DOCUMENTS stands for them.")
    return caveats


def _term_caveats(data: ReportData) -> list[str]:
    caveats, analyzer, counts = [], get_analyzer(data), data.counts
    if analyzer is None and _analyzer_settings(data) is not None:
        caveats.append("The analyzer needs packages that this machine does not have; add it by hand.")
    if analyzer is not None and not data.origin.get("counts"):
        snippet_only = [
            (analyzer.strip_accents == "ascii", "strip_accents"), (analyzer.analyzer == "char", "analyzer"),
        ]  # fmt: skip
        caveats += [f"Only the snippet has {name} of the analyzer." for needed, name in snippet_only if needed]
        if analyzer.stop_words and not isinstance(analyzer.stop_words, str):
            caveats.append("STOP_WORDS_FILE stands for a file with the stop words of the snippet.")
    if counts is not None and counts.pruned:
        caveats.append(f"The counts were pruned ({counts.pruned}), which neither repeats: see Counts.prune.")
    if counts is not None and counts.fixed and counts.settings is not None:
        caveats.append("The terms are of a given vocabulary, which neither repeats: see Counts.with_vocabulary.")
    return caveats


def _study_caveats(data: ReportData) -> list[str]:
    caveats = []
    objects = [name for name, value in study_settings(data).items() if is_object(value)]
    if objects:
        caveats.append(f"Objects in memory, to be filled in: {', '.join(objects)}.")
    if list_named_contenders(data):
        caveats.append("Only the snippet has all settings of the scores.")
    if data.unavailable_scores:
        caveats.append(f"Scores that are not in the catalogue: {', '.join(data.unavailable_scores)}.")
    return caveats

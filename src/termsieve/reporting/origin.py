"""Where the documents of a report are from, and what of it a command or a snippet can say again.

What a saved result says about itself may have been written by anybody: only known names are taken from it, and each
value is quoted where it is used.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from termsieve.errors import TermsieveError
from termsieve.reporting.report_data import ReportData
from termsieve.study.plan import Contender, changed_settings
from termsieve.tokens.analyzer import Analyzer

READ_OPTIONS = ("text", "label", "label_sep", "by_file", "split", "encoding", "on_bad", "quotes")
CONTENDER_FIELDS = tuple(one.name for one in fields(Contender))


def as_list(value: Any) -> list[Any]:
    """A list as it is; anything else as a list of one, and nothing as none."""
    return value if isinstance(value, list) else [] if value is None else [value]


def document_files(material: ReportData) -> list[str]:
    """Names of the files with the documents."""
    return [str(file) for file in as_list(material.origin.get("files"))]


def counts_files(material: ReportData) -> list[str]:
    """Names of files with counts, where the report is of them; counts of a matrix would have to be saved first."""
    found = [str(file) for file in as_list(material.origin.get("counts"))]
    return found or (["COUNTS"] if is_from_matrix(material) else [])


def is_from_matrix(material: ReportData) -> bool:
    """Whether the counts are of a matrix that is in no file."""
    there = material.origin.get("counts") or material.result is not None or material.counts is None
    return not there and material.counts is not None and material.counts.settings is None


def read_options(material: ReportData) -> dict[str, Any]:
    """The options of reading that are not as they come."""
    found = {name: material.origin[name] for name in READ_OPTIONS if name in material.origin}
    if found.pop("by_file", None):  # whatever a saved result has there
        found["by_file"] = True
    return found


def study_settings(material: ReportData) -> dict[str, Any]:
    """The parameters of the comparison that are not at their default, by name."""
    return {} if material.result is None else changed_settings(material.result.settings)


def named_contenders(material: ReportData) -> dict[str, dict[str, Any]]:
    """What was said about scores under names of their own."""
    given = [] if material.result is None else as_list(material.result.settings.get("contenders"))
    known = [
        {key: one[key] for key in CONTENDER_FIELDS if one.get(key) is not None}
        for one in given
        if isinstance(one, dict)
    ]
    return {str(one["name"]): one for one in known if {"name", "score"} <= set(one)}


def get_analyzer(material: ReportData) -> Analyzer | None:
    """The analyzer; None for a matrix, or where its parts are not on this machine."""
    settings = _analyzer_settings(material)
    try:
        return None if settings is None else Analyzer.from_settings(settings)
    except (TermsieveError, KeyError, TypeError, ValueError):
        return None


def _analyzer_settings(material: ReportData) -> Any:
    settings = material.counts.settings if material.counts is not None else None
    if settings is None and material.result is not None:
        return material.result.settings.get("analyzer")
    return settings


def is_object(value: Any) -> bool:
    """Whether a setting was an array or a splitter, of which only the type is known."""
    return isinstance(value, str) and value.startswith("<")


def list_caveats(material: ReportData) -> list[str]:
    """Sentences about what the reader has to fill in, or has to know."""
    return [*_document_caveats(material), *_term_caveats(material), *_study_caveats(material)]


def _document_caveats(material: ReportData) -> list[str]:
    found = []
    if is_from_matrix(material):
        found.append("The counts are of a matrix: COUNTS stands for a file to which Counts.save writes them.")
    elif not (document_files(material) or counts_files(material) or material.origin.get("demo")):
        found.append("The documents are in no file that is known here: DOCUMENTS stands for one that holds them.")
    return found


def _term_caveats(material: ReportData) -> list[str]:
    found, analyzer, counts = [], get_analyzer(material), material.counts
    if analyzer is None and _analyzer_settings(material) is not None:
        found.append("The analyzer needs parts that this machine does not have; add it by hand.")
    if analyzer is not None and not material.origin.get("counts"):
        unsaid = [
            (analyzer.strip_accents == "ascii", "strip_accents"), (analyzer.analyzer == "char", "analyzer"),
            (analyzer.tokenizer is not None, "tokenizer"),
        ]  # fmt: skip
        found += [f"Only the snippet says {name} of the analyzer." for there, name in unsaid if there]
        if analyzer.stop_words and not isinstance(analyzer.stop_words, str):
            found.append("STOP_WORDS_FILE stands for a file with the stop words of the snippet.")
    if counts is not None and counts.pruned:
        found.append(f"The counts were pruned ({counts.pruned}), which neither says: see Counts.prune.")
    if counts is not None and counts.fixed and counts.settings is not None:
        found.append("The terms are of a given vocabulary, which neither says: see Counts.with_vocabulary.")
    return found


def _study_caveats(material: ReportData) -> list[str]:
    found = []
    objects = [name for name, value in study_settings(material).items() if is_object(value)]
    if objects:
        found.append(f"An object in memory, to be filled in: {', '.join(objects)}.")
    if named_contenders(material):
        found.append("The command does not say all about the scores; the snippet does.")
    if material.unavailable_scores:
        found.append(f"Scores that are not in the catalogue: {', '.join(material.unavailable_scores)}.")
    return found

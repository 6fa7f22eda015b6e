"""The command that makes a report again. Every value in it is quoted for a shell."""

from __future__ import annotations

import shlex

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
from termsieve.study.plan import parameters
from termsieve.tokens.analyzer import Analyzer
from termsieve.tokens.patterns import DEFAULT_TOKEN_PATTERN

# an option and its value, or a flag
Option = tuple[str, str] | tuple[str]
_FLAGS = {"by_file": "--by-file", "strict": "--strict", "quotes": "--no-quotes"}


def make_command(data: ReportData) -> str:
    """Make the command, with an option on each line."""
    if data.origin.get("demo"):
        return "termsieve demo -o report.html"
    verb = "report" if data.result is None else "compare"
    saved = counts_files(data)
    files = [_safe_path(file) for file in saved or document_files(data) or ["DOCUMENTS"]]
    options = [] if saved else [*_reading_options(data), *_analyzer_options(data)]
    options += [("--score", ",".join(data.names))] if data.result is None else _study_options(data)
    lines = [shlex.join(["termsieve", verb, *files]), *map(shlex.join, [*options, ("-o", "report.html")])]
    return " \\\n  ".join(lines)


def _safe_path(file: str) -> str:
    """Return a path that no command takes for an option."""
    return f"./{file}" if file.startswith("-") else file


def _reading_options(data: ReportData) -> list[Option]:
    options: list[Option] = []
    for name, value in read_options(data).items():
        if name == "text":
            options += [("--text", str(column)) for column in as_list(value)]
        elif name == "split":
            options.append(("--split", "=".join("" if part is None else str(part) for part in as_list(value))))
        elif name in _FLAGS:
            options.append((_FLAGS[name],))
        elif value is not None:
            options.append((_option_name(name), str(value)))
    return options


def _option_name(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _analyzer_options(data: ReportData) -> list[Option]:
    analyzer = get_analyzer(data)
    if analyzer is None:
        return []
    stop_words = analyzer.stop_words if isinstance(analyzer.stop_words, str) else "STOP_WORDS_FILE"
    every: list[tuple[bool, Option]] = [
        (bool(analyzer.stop_words), ("--stop-words", stop_words)),
        (analyzer.analyzer == "char_wb", ("--characters",)),
        (analyzer.analyzer == "tokens", ("--tokens",)),
        (_format_ngrams(analyzer) != "1", ("--ngrams", _format_ngrams(analyzer))),
        (bool(analyzer.stemmer), ("--stemmer", str(analyzer.stemmer))),
        (bool(analyzer.segmenter), ("--segmenter", str(analyzer.segmenter))),
        (analyzer.tokenizer is not None, ("--tokenizer", str(analyzer.tokenizer))),
        *((True, ("--strip", what)) for what in analyzer.strip),
        (analyzer.min_length > 1, ("--min-length", str(analyzer.min_length))),
        (not analyzer.lowercase, ("--keep-case",)),
        (analyzer.strip_accents == "unicode", ("--strip-accents",)),
        (analyzer.token_pattern != DEFAULT_TOKEN_PATTERN, ("--pattern", analyzer.token_pattern)),
    ]
    return [option for needed, option in every if needed]


def _format_ngrams(analyzer: Analyzer) -> str:
    least, most = analyzer.ngram_range
    usual = least == 1 and not (analyzer.analyzer == "char_wb" and most == 1)
    return str(most) if usual else f"{least}-{most}"


def _study_options(data: ReportData) -> list[Option]:
    """Return the options of the parameters that differ from their defaults."""
    special, known = list_named_contenders(data), parameters()
    options: list[Option] = []
    settings = study_settings(data)
    if "scores" in settings:  # without the fields that only a snippet can have
        scores = (str(special.get(one, {}).get("score", one)) for one in as_list(settings["scores"]))
        settings["scores"] = list(dict.fromkeys(scores))
    for name, value in settings.items():
        flag = known[name].metadata["option"].flags[0]
        if isinstance(value, bool):
            options.append((flag,))
        elif value is not None:
            options.append((flag, ",".join(map(str, as_list(value)))))
        elif name == "sample":
            options.append((flag, "0"))
    return options

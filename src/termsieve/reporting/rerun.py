"""How to make a report again: the settings, a command, and a snippet of Python."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from termsieve._version import __version__
from termsieve.reporting.command import make_command
from termsieve.reporting.origin import get_analyzer, list_caveats
from termsieve.reporting.report_data import ReportData
from termsieve.reporting.snippet import make_snippet
from termsieve.study.plan import parameters

_SETTING_NAMES = {"documents": "fingerprint of the documents", "splits": "fingerprint of the splits"}
# beside the parameters; a comparison keeps what it has found among its settings, too
_FACTS = ("documents", "n_docs", "n_compared", "n_terms", "splits", "n_splits", "test_ratio", "contenders")


class SettingRow(NamedTuple):
    """A name and its value, as they are shown."""

    name: str
    value: str


class CodeBlock(NamedTuple):
    """Code to copy, under a title."""

    title: str
    code: str


def list_settings(data: ReportData) -> list[SettingRow]:
    """List everything that determines the result."""
    given: Mapping[str, Any] = {} if data.result is None else data.result.settings
    known = {name: given[name] for name in (*parameters(), *_FACTS) if name in given}
    flat = {"termsieve": __version__, "scores": data.names, **known, **data.origin}
    rows = [SettingRow(_SETTING_NAMES.get(name, name), _format_value(value)) for name, value in flat.items()]
    rows.append(SettingRow("analyzer", _describe_analyzer(data)))
    if data.counts is not None and data.counts.pruned:
        rows.append(SettingRow("pruned", data.counts.pruned))
    if data.counts is not None and data.counts.fingerprint:
        rows.append(SettingRow("fingerprint of the analyzer", data.counts.fingerprint))
    return rows


def _describe_analyzer(data: ReportData) -> str:
    analyzer = get_analyzer(data)
    if analyzer is not None:
        return repr(analyzer)
    of_matrix = data.counts is not None and data.counts.settings is None
    return "a matrix: terms are its columns" if of_matrix else "not on this machine"


def _format_value(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(one, str | int) for one in value):
        return ", ".join(map(str, value)) or "none"
    if value is None or isinstance(value, bool):
        return {None: "none", True: "yes", False: "no"}[value]
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def make_code_blocks(data: ReportData) -> list[CodeBlock]:
    """Make the command and the snippet."""
    return [CodeBlock("On the command line", make_command(data)), CodeBlock("In Python", make_snippet(data))]


def make_note(data: ReportData) -> str:
    """Make a note of what the reader has to fill in, or has to know."""
    return " ".join(list_caveats(data))

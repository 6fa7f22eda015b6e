"""How to run it again: the settings, a command, and a snippet of Python."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from termsieve._version import __version__
from termsieve.reporting.command import make_command
from termsieve.reporting.origin import get_analyzer, list_caveats
from termsieve.reporting.report_data import ReportData
from termsieve.reporting.snippet import make_snippet

_SETTING_NAMES = {"documents": "fingerprint of the documents", "splits": "fingerprint of the splits"}


class SettingRow(NamedTuple):
    """A name and its value, as they are shown."""

    name: str
    value: str


class CodeBlock(NamedTuple):
    """Code to copy, under a title."""

    title: str
    code: str


def list_settings(material: ReportData) -> list[SettingRow]:
    """Everything that decides the result."""
    given: Mapping[str, Any] = {} if material.result is None else material.result.settings
    flat = {"termsieve": __version__, "scores": material.names, **given, **material.origin}
    rows = [SettingRow(_SETTING_NAMES.get(name, name), _format_value(value)) for name, value in flat.items()
            if name not in ("origin", "analyzer")]  # fmt: skip
    rows.append(SettingRow("analyzer", _describe_analyzer(material)))
    if material.counts is not None and material.counts.pruned:
        rows.append(SettingRow("pruned", material.counts.pruned))
    if material.counts is not None and material.counts.fingerprint:
        rows.append(SettingRow("fingerprint of the analyzer", material.counts.fingerprint))
    return rows


def _describe_analyzer(material: ReportData) -> str:
    analyzer = get_analyzer(material)
    if analyzer is not None:
        return repr(analyzer)
    of_matrix = material.counts is not None and material.counts.settings is None
    return "a matrix: terms are its columns" if of_matrix else "not on this machine"


def _format_value(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(one, str | int) for one in value):
        return ", ".join(map(str, value)) or "none"
    if value is None or isinstance(value, bool):
        return {None: "none", True: "yes", False: "no"}[value]
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def make_code_blocks(material: ReportData) -> list[CodeBlock]:
    """The command and the snippet."""
    return [CodeBlock("On the command line", make_command(material)), CodeBlock("In Python", make_snippet(material))]


def make_note(material: ReportData) -> str:
    """What the reader has to fill in, or has to know."""
    return " ".join(list_caveats(material))

"""How to run it again: the settings, a command, and a snippet of Python."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from termsieve._version import __version__
from termsieve.reporting.command import command_of
from termsieve.reporting.origin import analyzer_of, missing
from termsieve.reporting.report_data import Material
from termsieve.reporting.snippet import snippet_of

_NAMES = {"documents": "fingerprint of the documents", "splits": "fingerprint of the splits"}


class Setting(NamedTuple):
    """A name and its value, as they are shown."""

    name: str
    value: str


class Block(NamedTuple):
    """Code to copy, under a title."""

    title: str
    code: str


def settings_of(material: Material) -> list[Setting]:
    """Everything that decides the result."""
    given: Mapping[str, Any] = {} if material.result is None else material.result.settings
    flat = {"termsieve": __version__, "scores": material.names, **given, **material.origin}
    rows = [Setting(_NAMES.get(name, name), _value(value)) for name, value in flat.items()
            if name not in ("origin", "analyzer")]  # fmt: skip
    rows.append(Setting("analyzer", _analyzer(material)))
    if material.counts is not None and material.counts.pruned:
        rows.append(Setting("pruned", material.counts.pruned))
    if material.counts is not None and material.counts.fingerprint:
        rows.append(Setting("fingerprint of the analyzer", material.counts.fingerprint))
    return rows


def _analyzer(material: Material) -> str:
    analyzer = analyzer_of(material)
    if analyzer is not None:
        return repr(analyzer)
    of_matrix = material.counts is not None and material.counts.settings is None
    return "a matrix: terms are its columns" if of_matrix else "not on this machine"


def _value(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(one, str | int) for one in value):
        return ", ".join(map(str, value)) or "none"
    if value is None or isinstance(value, bool):
        return {None: "none", True: "yes", False: "no"}[value]
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def blocks(material: Material) -> list[Block]:
    """The command and the snippet."""
    return [Block("On the command line", command_of(material)), Block("In Python", snippet_of(material))]


def note(material: Material) -> str:
    """What the reader has to fill in, or has to know."""
    return " ".join(missing(material))

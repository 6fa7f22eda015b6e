"""How to run it again: the settings, a command, and a snippet of Python."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any, NamedTuple

from termsieve._version import __version__
from termsieve.errors import TermsieveError
from termsieve.reporting.material import Material
from termsieve.tokens import DEFAULT_TOKEN_PATTERN, Analyzer

_DEFAULTS = {
    "per_class": False, "one_vs_rest": False, "min_df": 1, "min_tf": 1, "weighting": "count", "weigh": "selected",
    "repeats": 1, "groups": None,
}  # fmt: skip
_READING = ("text", "label", "label_sep", "split", "encoding", "on_bad")
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
    flat = {"termsieve": __version__, "scores": material.names, **given, **given.get("call", {})}
    rows = [Setting(_NAMES.get(name, name), _value(value)) for name, value in flat.items()
            if name not in ("call", "analyzer")]  # fmt: skip
    rows.append(Setting("analyzer", _analyzer(material) or "a matrix: terms are its columns"))
    if material.counts is not None and material.counts.pruned:
        rows.append(Setting("pruned", material.counts.pruned))
    if material.counts is not None and material.counts.fingerprint:
        rows.append(Setting("fingerprint of the analyzer", material.counts.fingerprint))
    return rows


def _value(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(one, str | int) for one in value):
        return ", ".join(map(str, value)) or "none"
    if value is None or isinstance(value, bool):
        return {None: "none", True: "yes", False: "no"}[value]
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def blocks(material: Material) -> list[Block]:
    """The command and the snippet."""
    command = _compare_command(material) if material.result is not None else _report_command(material)
    snippet = _compare_snippet(material) if material.result is not None else _score_snippet(material)
    return [Block("On the command line", command), Block("In Python", snippet)]


def note(material: Material) -> str:
    """What the reader has to fill in."""
    call = material.origin
    missing = []
    if not call.get("files"):
        missing.append("The documents were in memory: DOCUMENTS stands for a file that holds them.")
    objects = [name for name in ("cv", "groups") if str(call.get(name)).startswith("<")]
    if objects:
        missing.append(f"An object in memory, to be filled in: {', '.join(objects)}.")
    if material.result is not None and material.result.settings.get("contenders"):
        missing.append("The command does not say all about the scores; the snippet does.")
    if material.left_out:
        missing.append(f"Scores that are not in the catalogue: {', '.join(material.left_out)}.")
    return " ".join(missing)


def _analyzer(material: Material) -> str:
    """The analyzer as code; nothing for a matrix."""
    settings = material.counts.settings if material.counts is not None else None
    if settings is None and material.result is not None:
        settings = material.result.settings.get("analyzer")
    if settings is None:
        return ""
    try:
        return repr(Analyzer.from_settings(settings))
    except TermsieveError as error:  # parts of it are not on this machine
        return str(error)


# Python


def _reading(material: Material) -> str:
    call = material.origin
    files = call.get("files") or ["DOCUMENTS"]
    source = repr(files[0] if len(files) == 1 else files)
    options = "".join(f", {name}={_literal(name, call[name])}" for name in _READING if name in call)
    return f"docs = ts.read({source}{options})"


def _literal(name: str, value: Any) -> str:
    if name == "text" and len(value) == 1:
        return repr(value[0])
    return repr(tuple(value)) if name == "split" and value else repr(value)


def _compare_snippet(material: Material) -> str:
    assert material.result is not None  # noqa: S101 - for the type checker
    settings, call = material.result.settings, material.origin
    arguments: dict[str, Any] = {name: settings[name] for name in ("scores", "classifiers", "ks") if name in settings}
    arguments |= {name: call[name] for name in ("cv", "seed") if name in call}
    arguments |= {
        name: value
        for name, default in _DEFAULTS.items()
        if (value := {**settings, **call}.get(name, default)) != default
    }
    lines = [f"    {name}={value!r}," for name, value in arguments.items()]
    special = settings.get("contenders", [])
    if special:
        lines[0] = f"    scores=[{', '.join(_contender(name, special) for name in settings['scores'])}],"
    analyzer = _analyzer(material)
    if analyzer and analyzer != "Analyzer()":
        lines.append(f"    analyzer=ts.{analyzer},")
    names = ["from termsieve.plan import Contender"] if special else []
    head = ["import termsieve as ts", *names, "", _reading(material), "result = ts.compare(", "    docs,"]
    return "\n".join([*head, *lines, ")", 'ts.report(result, "report.html")'])


def _contender(name: str, special: list[dict[str, Any]]) -> str:
    """A score as code: by its spelling, or with all that was said about it."""
    about = next((one for one in special if one["name"] == name), None)
    if about is None:
        return repr(name)
    return f"Contender({', '.join(f'{key}={value!r}' for key, value in about.items() if value is not None)})"


def _score_snippet(material: Material) -> str:
    analyzer = _analyzer(material)
    how = f", analyzer=ts.{analyzer}" if analyzer and analyzer != "Analyzer()" else ""
    names = repr(material.names[0] if len(material.names) == 1 else material.names)
    lines = ["import termsieve as ts", "", _reading(material), f"counts = ts.count(docs{how})"]
    return "\n".join([*lines, f"scores = ts.score(counts, {names})", 'ts.report(scores, "report.html")'])


# The command line


def _words(parts: list[str]) -> str:
    """A command, an option and its value on each line."""
    lines: list[str] = []
    for part in parts:
        if part.startswith("-") or not lines:
            lines.append(part)
        else:
            lines[-1] += f" {part}"
    return " \\\n  ".join(lines)


def _input_options(material: Material) -> list[str]:
    call = material.origin
    parts = []
    for name in (one for one in _READING if one in call):
        value = call[name]
        if name == "text":
            parts += [part for column in value for part in ("--text", shlex.quote(column))]
        elif name == "split":
            parts += ["--split", shlex.quote(f"{value[0]}={value[1]}")]
        elif name == "on_bad":
            parts += ["--skip-bad"]
        elif value is not None:
            parts += [f"--{name.replace('_', '-')}", shlex.quote(str(value))]
    return [*parts, *_analyzer_options(material)]


def _analyzer_options(material: Material) -> list[str]:
    settings = material.counts.settings if material.counts is not None else None
    if settings is None:
        return []
    try:
        analyzer = Analyzer.from_settings(settings)
    except TermsieveError:
        return []
    least, most = analyzer.ngram_range
    stop_words = analyzer.stop_words if isinstance(analyzer.stop_words, str) else "STOP_WORDS_FILE"
    every = [
        (bool(analyzer.stop_words), ["--stop-words", stop_words]),
        (analyzer.analyzer == "char_wb", ["--characters"]),
        ((least, most) != (1, 1), ["--ngrams", str(most) if least == 1 else f"{least}-{most}"]),
        (bool(analyzer.stemmer), ["--stemmer", str(analyzer.stemmer)]),
        (bool(analyzer.segmenter), ["--segmenter", str(analyzer.segmenter)]),
        (analyzer.min_length > 1, ["--min-length", str(analyzer.min_length)]),
        (not analyzer.lowercase, ["--keep-case"]),
        (bool(analyzer.strip_accents), ["--strip-accents"]),
        (analyzer.token_pattern != DEFAULT_TOKEN_PATTERN, ["--pattern", shlex.quote(analyzer.token_pattern)]),
    ]
    return [part for needed, parts in every if needed for part in parts]


def _files(material: Material) -> list[str]:
    return [" ".join(map(shlex.quote, material.origin.get("files") or ["DOCUMENTS"]))]


def _compare_command(material: Material) -> str:
    assert material.result is not None  # noqa: S101 - for the type checker
    settings, call = material.result.settings, material.origin
    parts = ["termsieve compare", *_files(material), *_input_options(material)]
    for option, name in (("--scores", "scores"), ("--classifiers", "classifiers"), ("--ks", "ks")):
        parts += [option, shlex.quote(",".join(map(str, settings.get(name, []))))]
    for name in ("cv", "groups", "repeats", "seed"):
        if call.get(name, _DEFAULTS.get(name)) != _DEFAULTS.get(name):
            parts += [f"--{name}", shlex.quote(str(call[name]))]
    for name in ("min_df", "min_tf", "weighting", "weigh"):
        if settings.get(name, _DEFAULTS[name]) != _DEFAULTS[name]:
            parts += [f"--{name.replace('_', '-')}", str(settings[name])]
    parts += [f"--{name.replace('_', '-')}" for name in ("per_class", "one_vs_rest") if settings.get(name)]
    return _words([*parts, "-o", "report.html"])


def _report_command(material: Material) -> str:
    parts = ["termsieve report", *_files(material), *_input_options(material)]
    return _words([*parts, "--scores", shlex.quote(",".join(material.names)), "-o", "report.html"])

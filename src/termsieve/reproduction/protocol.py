"""Protocols: the experiments of a paper as data. Each paper has a TOML file in the wheel."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.resources import files
from typing import Any

from termsieve import datasets
from termsieve.errors import OptionError, did_you_mean
from termsieve.reproduction.setting import Setting
from termsieve.reproduction.worlds import Multiverse

# Fields of tables and claims besides their own; see the kinds of tables and of checks.
WHERE_FIELDS = frozenset(
    """
    group groups classifier classifiers measure measures size sizes rows scale of prefix score scores order best slack
    enough over within places pooled area at_least exactly printed low high by least most median pairs at terms among
    features why stand_in parts large small share families cuts choices
    """.split()  # noqa: SIM905 - read as words
)
PAPERS = ("gu", "ifs", "pip", "imbalanced", "ocfs")


@dataclass(frozen=True)
class PrintedTable:
    """A printed table: the kind of its numbers, where ours come from, and the printed numbers.

    Attributes
    ----------
    id, title : str
        The key of the table, and what it shows.
    kind : str
        A name of `termsieve.reproduction.tables.TABLE_KINDS`.
    cells : dict
        Row to column to what is printed.
    exchanged : dict
        The same, with two rows that look interchanged in print exchanged. ``exchange`` names them in the file; other
        tables that are counted together with such a one have ``exchange = []``.
    truncated : list of str
        Cells, as "row / column", whose last printed digit is lost.
    marks : dict
        "row / column" to what is uncertain about a printed number.
    where : dict
        Other parameters of its kind: group, measure, size, ...
    """

    id: str
    title: str
    kind: str
    cells: Mapping[str, Mapping[str, Any]]
    exchanged: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    truncated: Sequence[str] = ()
    marks: Mapping[str, str] = field(default_factory=dict)
    where: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, in our words, and how it is checked: a name of `termsieve.reproduction.claims.CHECKS`."""

    id: str
    says: str
    check: str
    where: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True)
class Figure:
    """A figure of the paper, redrawn.

    Attributes
    ----------
    kind : {"curves", "seconds", "class shares", "iris", "iris left out"}
        A measure against the number of terms; CPU seconds of the scores; documents of each class; two features.
    """

    id: str
    title: str
    group: str = ""
    classifier: str = ""
    measure: str = ""
    kind: str = "curves"


@dataclass(frozen=True)
class Protocol:
    """One paper. Its ``reference_scores`` are run and drawn, but do not compete where claims are judged.

    ``believe`` says in three sentences what a reader should believe now, ``changed`` which verdicts changed, and why,
    ``rewritten`` which checks were changed after results of them had been seen.
    """

    name: str
    title: str
    source: str
    about: str
    settings: Mapping[str, Setting]
    tables: Sequence[PrintedTable]
    claims: Sequence[Claim]
    multiverse: Multiverse
    figures: Sequence[Figure]
    slice: Mapping[str, Mapping[str, Any]]
    errata: Sequence[str]
    findings: Sequence[str]
    reference_scores: Sequence[str] = ()
    believe: Sequence[str] = ()
    changed: Sequence[str] = ()
    rewritten: Sequence[str] = ()

    def without_missing_corpora(self) -> Protocol:
        """Return the protocol without optional settings whose corpora are missing."""
        here = {name: one for name, one in self.settings.items() if not one.optional or datasets.locate(one.corpus)}
        figures = [one for one in self.figures if not one.group or one.group in {x.group for x in here.values()}]
        return replace(self, settings=here, figures=figures)

    @cached_property
    def groups(self) -> dict[str, list[Setting]]:
        """Settings by group, in order."""
        groups: dict[str, list[Setting]] = {}
        for one in self.settings.values():
            groups.setdefault(one.group, []).append(one)
        return groups


def load_protocol(name: str) -> Protocol:
    """Load the protocol of a paper.

    >>> load_protocol("gu").settings["newsgroups"].corpus
    '20news_19997'
    """
    if name not in PAPERS:
        raise OptionError(f"Unknown paper {name!r}. {did_you_mean(name, PAPERS)}Known: {', '.join(PAPERS)}.")
    path = files("termsieve.reproduction") / "protocols" / f"{name}.toml"
    return _build_protocol(name, tomllib.loads(path.read_text(encoding="utf-8")))


def _build_protocol(name: str, data: dict[str, Any]) -> Protocol:
    paper = data["paper"]
    return Protocol(
        name=name,
        title=paper["title"],
        source=paper["source"],
        about=paper["about"],
        settings=_build_settings(data["settings"]),
        tables=[_build_table(one) for one in data.get("tables", [])],
        claims=[Claim(**_separate_where(one, Claim)) for one in data["claims"]],
        multiverse=Multiverse.from_dict(data["multiverse"]),
        figures=[Figure(**one) for one in data.get("figures", [])],
        slice=data["slice"],
        errata=data.get("errata", []),
        findings=data.get("findings", []),
        reference_scores=paper.get("beside", []),
        believe=data.get("believe", []),
        changed=data.get("changed", []),
        rewritten=data.get("rewritten", []),
    )


def _build_settings(given: dict[str, dict[str, Any]]) -> dict[str, Setting]:
    """Make settings; one that is ``like`` another has its fields, except those that it gives itself."""
    settings: dict[str, Setting] = {}
    for name, fields in given.items():
        like = fields.pop("like", None)
        if like is None:
            settings[name] = Setting.from_dict(name, fields)
        else:
            base = {k: v for k, v in settings[like].data.items() if k != "name"}
            settings[name] = Setting.from_dict(name, {**base, **fields})
    return settings


def _build_table(given: dict[str, Any]) -> PrintedTable:
    if "exchange" in given:
        other = dict(zip(given["exchange"], reversed(given["exchange"]), strict=True))
        given["exchanged"] = {row: given["cells"][other.get(row, row)] for row in given["cells"]}
        del given["exchange"]
    return PrintedTable(**_separate_where(given, PrintedTable))


def _separate_where(given: dict[str, Any], record: type) -> dict[str, Any]:
    """Separate the fields of a record from all others, which are its ``where``."""
    known = set(record.__dataclass_fields__) - {"where"}  # type: ignore[attr-defined]
    own = {key: value for key, value in given.items() if key in known}
    where = {key: value for key, value in given.items() if key not in known}
    for key in where:
        if key not in WHERE_FIELDS:
            raise OptionError(f"{given.get('id')}: unknown field {key!r}. {did_you_mean(key, WHERE_FIELDS | known)}")
    return {**own, "where": where}

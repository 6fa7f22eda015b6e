"""The protocol of the study of scores: what is compared, as data."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.resources import files
from typing import Any

from termsieve.errors import OptionError, did_you_mean


@dataclass(frozen=True)
class Panel:
    """Classifiers that are judged on the same documents.

    Attributes
    ----------
    classifiers : tuple of str
    documents : int
        Of each corpus, drawn at random where it has more.
    more_documents : dict
        Another number for some corpora.
    splits : int
        How many of the folds are test documents in turn.
    sizes : tuple of int
        Numbers of terms.
    rules : tuple of str
        Rules that compete here beside the scores.
    """

    classifiers: tuple[str, ...]
    documents: int
    splits: int
    sizes: tuple[int, ...]
    more_documents: Mapping[str, int]
    rules: tuple[str, ...]


@dataclass(frozen=True)
class StudyProtocol:
    """What is compared.

    Attributes
    ----------
    title, about : str
    setting : str
        Which of the settings: how much of everything.
    seed, folds, min_class, half_samples : int
        Of the random numbers; of the cross-validation; documents that a class must have; first terms that are
        compared between halves of the training documents.
    ranges : dict
        Numbers of terms whose mean is kept, by name.
    collections : dict
        Corpora that are parts of one collection, by its name.
    rules : tuple of str
        Rules that look at terms together and compete beside the scores, in the panels that have them.
    panels : dict of Panel
    """

    title: str
    about: str
    setting: str
    seed: int
    folds: int
    min_class: int
    half_samples: int
    ranges: Mapping[str, tuple[int, ...]]
    collections: Mapping[str, tuple[str, ...]]
    rules: tuple[str, ...]
    panels: Mapping[str, Panel]

    @property
    def data(self) -> dict[str, Any]:
        """The protocol as plain data."""
        return {name: _as_data(value) for name, value in asdict(self).items()}


def load_study(setting: str = "full") -> StudyProtocol:
    """Load the protocol with one of its settings.

    >>> load_study("sample").min_class
    50
    """
    path = files("termsieve.score_study") / "protocols" / "scores.toml"
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    settings = data["settings"]
    if setting not in settings:
        raise OptionError(
            f"Unknown setting {setting!r}. {did_you_mean(setting, settings)}Known: {', '.join(settings)}."
        )
    study = data["study"]
    sizes, rules = tuple(study.pop("sizes")), tuple(settings[setting].pop("rules"))
    return StudyProtocol(
        **study,
        setting=setting,
        ranges={name: tuple(values) for name, values in data["ranges"].items()},
        collections={name: tuple(values) for name, values in data["collections"].items()},
        rules=rules,
        panels={name: _make_panel(given, sizes, rules) for name, given in settings[setting].items()},
    )


def _make_panel(given: Mapping[str, Any], sizes: tuple[int, ...], rules: tuple[str, ...]) -> Panel:
    return Panel(
        tuple(given["classifiers"]), given["documents"], given["splits"], tuple(given.get("sizes", sizes)),
        given.get("more_documents", {}), tuple(given.get("rules", rules)),
    )  # fmt: skip


def _as_data(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _as_data(one) for name, one in value.items()}
    return [_as_data(one) for one in value] if isinstance(value, tuple | list) else value

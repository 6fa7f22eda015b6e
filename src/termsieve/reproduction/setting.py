"""A setting: one corpus as a paper uses it, how it is divided, and what competes on it."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit

from termsieve import datasets
from termsieve.counts.counting import resolve_threads
from termsieve.errors import InputError, OptionError, did_you_mean
from termsieve.study.corpus import Corpus, read_corpus
from termsieve.study.plan import Contender, Plan
from termsieve.study.splits import Split, make_splits
from termsieve.study.study import Study
from termsieve.tokens.analyzer import Analyzer


class SelectedDocuments(NamedTuple):
    """The documents of a corpus as a paper uses them."""

    texts: list[str]
    labels: list[list[str]]
    parts: list[str | None]
    sources: list[int]


@dataclass(frozen=True)
class Setting:
    """What a protocol says of one experiment. Every field can stand in its TOML file, and be changed by a choice.

    Attributes
    ----------
    name, title : str
        Of the setting.
    group : str
        Settings of one group are columns or rows of the same tables: the same corpus with other classifiers.
    corpus : str
        A name of `termsieve.datasets.CORPORA`.
    optional : bool
        The corpus is not needed: without it the setting is left out.
    stand_in_for : str
        The corpus of the paper, where it could not be had and another is used in its place.
    classes : tuple of str, or int
        Only documents of these classes; the so many largest classes.
    labels : {"all", "first", "copies"}
        All labels of a document, its first one, or one copy of the document for each label.
    level : str
        Labels are cut at this character: ``"."`` makes ``cs.CL`` to ``cs``.
    only_parts : list of str
        Only documents of these parts of the published split, however they are divided then.
    sample : dict
        How many documents of a class to draw.
    without_headers : list of str
        Lines of the head of an article (all before the first empty line) that are left out, such as ``Newsgroups``;
        ``"*"`` leaves out all of the head but those of ``with_headers``.
    split : dict
        ``{column = "split"}``, ``{folds = 10}`` or ``{test = 0.25, times = 5}``.
    first_splits : int
        Only so many of the splits are run; all of them, if 0.
    analyzer : dict
        Parameters of `termsieve.Analyzer`.
    scores : dict
        Printed name to spelling, or to the fields of a `termsieve.study.plan.Contender`.
    classifiers : dict
        Printed name to spelling.
    sizes : list of int
        Numbers of terms; ``{from = 10, to = 1000, step = 10}`` for all of these.
    options : dict
        Other parameters of `termsieve.study.plan.Plan`.
    seed : int
        Of samples and splits.
    """

    name: str
    title: str
    corpus: str
    split: Mapping[str, Any]
    scores: Mapping[str, Any]
    classifiers: Mapping[str, str]
    sizes: Sequence[int]
    group: str = ""
    optional: bool = False
    stand_in_for: str = ""
    classes: Sequence[str] | int = ()
    labels: str = "all"
    level: str = ""
    only_parts: Sequence[str] = ()
    sample: Mapping[str, int] = field(default_factory=dict)
    without_headers: Sequence[str] = ()
    with_headers: Sequence[str] = ()
    analyzer: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    first_splits: int = 0

    @classmethod
    def of(cls, name: str, data: Mapping[str, Any]) -> Setting:
        """A setting from its table in a TOML file."""
        known = {one.name for one in fields(cls)}
        for key in data:
            if key not in known:
                raise OptionError(f"setting {name!r}: unknown field {key!r}. {did_you_mean(key, known)}")
        given = {"name": name, "title": name, "group": name, **data}
        if isinstance(given["sizes"], Mapping):
            sizes = given["sizes"]
            given["sizes"] = list(range(sizes["from"], sizes["to"] + 1, sizes["step"]))
        return cls(**given)

    def with_changes(self, changes: Mapping[str, Any]) -> Setting:
        """The same setting with other fields. Tables (analyzer, scores, ...) are merged; "" removes an entry."""

        def merged(key: str, value: Any) -> Any:
            before = getattr(self, key, None)
            if not isinstance(value, Mapping) or not isinstance(before, Mapping) or key == "split":
                return value
            both = {name: _merge_fields(before.get(name), one) for name, one in value.items()}
            return {name: one for name, one in {**before, **both}.items() if one != ""}

        return Setting.of(self.name, {**self.data, **{key: merged(key, value) for key, value in changes.items()}})

    def restrict_grid(
        self,
        scores: Sequence[str] | None = None,
        classifiers: Sequence[str] | None = None,
        sizes: Sequence[int] | None = None,
        first_splits: int = 0,
    ) -> Setting:
        """A part of the grid."""
        return replace(
            self,
            scores={k: v for k, v in self.scores.items() if scores is None or k in scores},
            classifiers={k: v for k, v in self.classifiers.items() if classifiers is None or k in classifiers},
            sizes=self.sizes if sizes is None else sizes,
            first_splits=first_splits,
        )

    # Documents

    def view(self) -> SelectedDocuments:
        """The documents, chosen and labelled as the paper has it."""
        texts, labels, parts, _ = _read_documents(self.corpus)
        if self.level:
            labels = [list(dict.fromkeys(label.split(self.level)[0] for label in one)) for one in labels]
        if not isinstance(self.classes, int):
            labels = _restrict_labels(labels, self._classes(labels))
        if self.labels == "first":
            labels = [one[:1] for one in labels]
        if isinstance(self.classes, int):
            labels = _restrict_labels(labels, self._classes(labels))
        places = [i for i, one in enumerate(labels) if one and (not self.only_parts or parts[i] in self.only_parts)]
        chosen = self._draw_sample(places, labels)
        if self.labels == "copies":
            pairs = [(i, [label]) for i in chosen for label in labels[i]]
        else:
            pairs = [(i, labels[i]) for i in chosen]
        kept = [self._remove_headers(texts[i]) for i, _ in pairs]
        return SelectedDocuments(kept, [one for _, one in pairs], [parts[i] for i, _ in pairs], [i for i, _ in pairs])

    def _remove_headers(self, text: str) -> str:
        if not self.without_headers:
            return text
        head, _, body = text.partition("\n\n")
        # a line that begins with a space goes on with the header before it
        headers = re.split(r"\n(?![ \t])", head)
        out, kept = ({name.lower() for name in names} for names in (self.without_headers, self.with_headers))
        names = [header.partition(":")[0].strip().lower() for header in headers]
        left = [
            header for header, name in zip(headers, names, strict=True)
            if name in kept or not ("*" in out or name in out)
        ]  # fmt: skip
        return "\n".join([*left, "", body])

    def _classes(self, labels: list[list[str]]) -> set[str]:
        sizes = Counter(label for one in labels for label in one)
        if isinstance(self.classes, int):
            return {label for label, _ in sorted(sizes.items(), key=lambda pair: (-pair[1], pair[0]))[: self.classes]}
        missing = sorted(set(self.classes) - set(sizes))
        if missing:
            raise InputError(f"{self.corpus}: has no documents of {', '.join(missing)}.")
        return set(self.classes) or set(sizes)

    def _draw_sample(self, places: list[int], labels: list[list[str]]) -> list[int]:
        """The places of the documents; where a sample is asked for, so many of each class."""
        if not self.sample:
            return places
        random = np.random.default_rng(self.seed)
        drawn: list[int] = []
        for label, size in self.sample.items():
            of_class = [i for i in places if labels[i] == [label]]
            if len(of_class) < size:
                raise InputError(f"{self.corpus}: {size:,} documents of {label!r} are asked for, of {len(of_class):,}.")
            drawn += [of_class[i] for i in random.choice(len(of_class), size, replace=False)]
        return sorted(drawn)

    # The study

    @property
    def contenders(self) -> list[Contender]:
        """The scores under their printed names."""
        return [
            Contender(name, given) if isinstance(given, str) else Contender(name, **given)
            for name, given in self.scores.items()
        ]

    @property
    def plan(self) -> Plan:
        """What competes."""
        options = {"weighting": "count", **self.options}  # papers weight only where they say so
        return Plan.from_arguments(self.contenders, list(self.classifiers.values()), list(self.sizes), **options)

    def study(self, threads: int | None = None) -> Study:
        """The study of this setting, ready to run."""
        kept = _load_corpus(self, threads)
        return Study(kept.corpus, self.plan, self.splits(kept)[: self.first_splits or None])

    def splits(self, kept: CachedCorpus) -> list[Split]:
        """How the documents are divided; copies of one document stay together."""
        given, corpus = dict(self.split), kept.corpus
        if "column" in given:
            return make_splits(kept.parts, corpus.single_labels, corpus.n_docs)
        if "folds" in given:
            return make_splits(int(given["folds"]), corpus.single_labels, corpus.n_docs, seed=self.seed)
        if "test" not in given:
            raise OptionError(f"setting {self.name!r}: split has 'column', 'folds' or 'test', not {given!r}.")
        copied = self.labels == "copies"
        splitter = GroupShuffleSplit if copied else ShuffleSplit
        cv = splitter(given.get("times", 1), test_size=given["test"], random_state=self.seed)
        return make_splits(cv, corpus.single_labels, corpus.n_docs, groups=kept.sources if copied else None)

    @cached_property
    def data(self) -> dict[str, Any]:
        """All fields, as plain data."""
        return dict(json.loads(json.dumps(asdict(self))))


def _read_documents(name: str) -> SelectedDocuments:
    texts: list[str] = []
    labels: list[list[str]] = []
    parts: list[str | None] = []
    for batch in datasets.load(name).batches(["split"]):
        texts += batch.column("text").to_pylist()
        labels += batch.column("labels").to_pylist()
        parts += batch.column("split").to_pylist()
    return SelectedDocuments(texts, labels, parts, list(range(len(texts))))


def _restrict_labels(labels: list[list[str]], classes: set[str]) -> list[list[str]]:
    return [[label for label in one if label in classes] for one in labels]


def _merge_fields(before: Any, after: Any) -> Any:
    """A contender with other fields, where both are given by their fields; else the other."""
    return {**before, **after} if isinstance(before, Mapping) and isinstance(after, Mapping) else after


class CachedCorpus(NamedTuple):
    """A corpus in memory, its column of train and test, and which document each row is (a copy of)."""

    corpus: Corpus
    parts: npt.NDArray[Any]
    sources: list[int]


_CORPUS_FIELDS = (
    "corpus",
    "classes",
    "labels",
    "level",
    "only_parts",
    "sample",
    "without_headers",
    "with_headers",
    "analyzer",
    "seed",
)
_CORPUS_CACHE: dict[str, CachedCorpus] = {}  # the last corpus: settings of a group follow each other


def _load_corpus(setting: Setting, threads: int | None) -> CachedCorpus:
    """The corpus of a setting, read or still at hand."""
    key = json.dumps({name: setting.data[name] for name in _CORPUS_FIELDS}, sort_keys=True)
    if key not in _CORPUS_CACHE:
        view = setting.view()
        corpus = read_corpus(view.texts, view.labels, Analyzer(**setting.analyzer), [], resolve_threads(threads))
        _CORPUS_CACHE.clear()
        _CORPUS_CACHE[key] = CachedCorpus(corpus, np.array(view.parts, dtype=object), view.sources)
    return _CORPUS_CACHE[key]


def count_documents(name: str, label: str = "") -> int:
    """How many documents a corpus has, or how many of a class."""
    labels = _read_documents(name).labels
    return sum(label in one for one in labels) if label else len(labels)

"""Settings: a corpus as a paper uses it, its splits, and the scores and classifiers that compete."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit

from termsieve import datasets
from termsieve._types import AnyArray
from termsieve.counts.counting import resolve_threads
from termsieve.errors import InputError, OptionError, did_you_mean
from termsieve.study.corpus import Corpus, read_corpus
from termsieve.study.plan import Contender, Plan
from termsieve.study.splits import Split, make_splits
from termsieve.study.study import Study
from termsieve.tokens.analyzer import Analyzer


class SelectedDocuments(NamedTuple):
    """The documents of a corpus that a paper uses."""

    texts: list[str]
    labels: list[list[str]]
    parts: list[str | None]
    sources: list[int]


@dataclass(frozen=True)
class Setting:
    """One experiment of a protocol. Every field can stand in its TOML file, and be changed by a choice.

    Attributes
    ----------
    name, title : str
        Name and title of the setting.
    group : str
        Settings of one group are columns or rows of the same tables: the same corpus with other classifiers.
    corpus : str
        A name of `termsieve.datasets.CORPORA`.
    optional : bool
        The corpus is not needed: without it the setting is left out.
    stand_in_for : str
        The corpus of the paper, if it could not be obtained and this one is used instead.
    classes : tuple of str, or int
        Only documents of these classes, or of this many largest classes.
    labels : {"all", "first", "copies"}
        All labels of a document, its first one, or one copy of the document for each label.
    level : str
        Labels are cut at this character: ``"."`` turns ``cs.CL`` into ``cs``.
    only_parts : list of str
        Only documents of these parts of the published split, whatever ``split`` is.
    sample : dict
        Number of documents to draw from each class.
    without_headers : list of str
        Lines of the head of an article (all before the first empty line) that are left out, such as ``Newsgroups``;
        ``"*"`` leaves out all of the head but those of ``with_headers``.
    split : dict
        ``{column = "split"}``, ``{folds = 10}`` or ``{test = 0.25, times = 5}``.
    first_splits : int
        Number of splits that are run; 0 for all.
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
        Seed of samples and splits.
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
    def from_dict(cls, name: str, data: Mapping[str, Any]) -> Setting:
        """Make a setting from its table in a TOML file."""
        known = {one.name for one in fields(cls)}
        for key in data:
            if key not in known:
                raise OptionError(f"setting {name!r}: unknown field {key!r}. {did_you_mean(key, known)}")
        given = {"name": name, "title": name, "group": name, **data}
        given["sizes"] = expand_sizes(given["sizes"])
        return cls(**given)

    def with_changes(self, changes: Mapping[str, Any]) -> Setting:
        """Return the setting with other fields. Tables (analyzer, scores, ...) are merged; "" removes an entry."""

        def merge(key: str, value: Any) -> Any:
            before = getattr(self, key, None)
            if not isinstance(value, Mapping) or not isinstance(before, Mapping) or key == "split":
                return value
            both = {name: _merge_fields(before.get(name), one) for name, one in value.items()}
            return {name: one for name, one in {**before, **both}.items() if one != ""}

        return Setting.from_dict(self.name, {**self.data, **{key: merge(key, value) for key, value in changes.items()}})

    def restrict_grid(
        self,
        scores: Sequence[str] | None = None,
        classifiers: Sequence[str] | None = None,
        sizes: Sequence[int] | None = None,
        first_splits: int = 0,
    ) -> Setting:
        """Return the setting with a part of its grid."""
        return replace(
            self,
            scores={k: v for k, v in self.scores.items() if scores is None or k in scores},
            classifiers={k: v for k, v in self.classifiers.items() if classifiers is None or k in classifiers},
            sizes=self.sizes if sizes is None else sizes,
            first_splits=first_splits,
        )

    # Documents

    def select_documents(self) -> SelectedDocuments:
        """Select and label the documents as the paper does."""
        texts, labels, parts, _ = _read_documents(self.corpus)
        if self.level:
            labels = [list(dict.fromkeys(label.split(self.level)[0] for label in one)) for one in labels]
        if not isinstance(self.classes, int):
            labels = _restrict_labels(labels, self._choose_classes(labels))
        if self.labels == "first":
            labels = [one[:1] for one in labels]
        if isinstance(self.classes, int):
            labels = _restrict_labels(labels, self._choose_classes(labels))
        indices = [i for i, one in enumerate(labels) if one and (not self.only_parts or parts[i] in self.only_parts)]
        chosen = self._draw_sample(indices, labels)
        if self.labels == "copies":
            pairs = [(i, [label]) for i in chosen for label in labels[i]]
        else:
            pairs = [(i, labels[i]) for i in chosen]
        cleaned = [self._remove_headers(texts[i]) for i, _ in pairs]
        return SelectedDocuments(
            cleaned, [one for _, one in pairs], [parts[i] for i, _ in pairs], [i for i, _ in pairs]
        )

    def _remove_headers(self, text: str) -> str:
        if not self.without_headers:
            return text
        head, _, body = text.partition("\n\n")
        # a line that begins with a space continues the header before it
        headers = re.split(r"\n(?![ \t])", head)
        out, kept = ({name.lower() for name in names} for names in (self.without_headers, self.with_headers))
        names = [header.partition(":")[0].strip().lower() for header in headers]
        left = [
            header for header, name in zip(headers, names, strict=True)
            if name in kept or not ("*" in out or name in out)
        ]  # fmt: skip
        return "\n".join([*left, "", body])

    def _choose_classes(self, labels: list[list[str]]) -> set[str]:
        sizes = Counter(label for one in labels for label in one)
        if isinstance(self.classes, int):
            return {label for label, _ in sorted(sizes.items(), key=lambda pair: (-pair[1], pair[0]))[: self.classes]}
        missing = sorted(set(self.classes) - set(sizes))
        if missing:
            raise InputError(f"{self.corpus}: has no documents of {', '.join(missing)}.")
        return set(self.classes) or set(sizes)

    def _draw_sample(self, indices: list[int], labels: list[list[str]]) -> list[int]:
        """Return the indices of the documents; with a sample, of the requested number of each class."""
        if not self.sample:
            return indices
        random = np.random.default_rng(self.seed)
        drawn: list[int] = []
        for label, size in self.sample.items():
            of_class = [i for i in indices if labels[i] == [label]]
            if len(of_class) < size:
                raise InputError(
                    f"{self.corpus}: {size:,} documents of {label!r} were requested, but there are {len(of_class):,}."
                )
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
        """The plan of the study."""
        options = {"weighting": "count", **self.options}  # counts, unless a paper says otherwise
        return Plan.from_arguments(self.contenders, list(self.classifiers.values()), list(self.sizes), **options)

    def study(self, threads: int | None = None) -> Study:
        """Make the study of this setting, ready to run."""
        cached = load_corpus(self, threads)
        return Study(cached.corpus, self.plan, self.splits(cached)[: self.first_splits or None])

    def splits(self, cached: CachedCorpus) -> list[Split]:
        """Make the splits; copies of one document stay together."""
        given, corpus = dict(self.split), cached.corpus
        if "column" in given:
            return make_splits(cached.parts, corpus.single_labels, corpus.n_docs)
        if "folds" in given:
            return make_splits(int(given["folds"]), corpus.single_labels, corpus.n_docs, seed=self.seed)
        if "test" not in given:
            raise OptionError(f"setting {self.name!r}: split has 'column', 'folds' or 'test', not {given!r}.")
        copied = self.labels == "copies"
        splitter = GroupShuffleSplit if copied else ShuffleSplit
        cv = splitter(given.get("times", 1), test_size=given["test"], random_state=self.seed)
        return make_splits(cv, corpus.single_labels, corpus.n_docs, groups=cached.sources if copied else None)

    @cached_property
    def data(self) -> dict[str, Any]:
        """All fields, as plain data."""
        return dict(json.loads(json.dumps(asdict(self))))


def expand_sizes(given: Sequence[int] | Mapping[str, int]) -> list[int]:
    """Return the numbers of terms of a list, or of a range.

    >>> expand_sizes({"from": 10, "to": 30, "step": 10})
    [10, 20, 30]
    """
    return list(range(given["from"], given["to"] + 1, given["step"]) if isinstance(given, Mapping) else given)


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
    """Merge the fields of two contenders if both are given by fields; otherwise return the second."""
    return {**before, **after} if isinstance(before, Mapping) and isinstance(after, Mapping) else after


class CachedCorpus(NamedTuple):
    """A corpus in memory, the part (train or test) of each row, and the document that each row is a copy of."""

    corpus: Corpus
    parts: AnyArray
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


def load_corpus(setting: Setting, threads: int | None) -> CachedCorpus:
    """Return the corpus of a setting, read or from the cache."""
    key = json.dumps({name: setting.data[name] for name in _CORPUS_FIELDS}, sort_keys=True)
    if key not in _CORPUS_CACHE:
        documents = setting.select_documents()
        corpus = read_corpus(
            documents.texts, documents.labels, Analyzer(**setting.analyzer), [], resolve_threads(threads)
        )
        _CORPUS_CACHE.clear()
        _CORPUS_CACHE[key] = CachedCorpus(corpus, np.array(documents.parts, dtype=object), documents.sources)
    return _CORPUS_CACHE[key]


def count_documents(name: str, label: str = "") -> int:
    """Count the documents of a corpus, or of one of its classes."""
    labels = _read_documents(name).labels
    return sum(label in one for one in labels) if label else len(labels)

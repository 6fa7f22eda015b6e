"""Corpora as classification problems: each class against the rest, and all classes together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from termsieve.datasets.locations import list_folders
from termsieve.documents import read
from termsieve.errors import InputError
from termsieve.score_study.protocol import Panel, StudyProtocol
from termsieve.study.corpus import Corpus, read_corpus
from termsieve.study.splits import Split, make_splits

ENDING = ".jsonl.gz"


class StudyProblem(NamedTuple):
    """A classification problem: a class of a corpus against the rest, or all classes (label "").

    Attributes
    ----------
    corpus, label : str
    n_docs, n_class, n_classes, n_terms : int
        Documents; those of the class (of a class, on average); classes; terms.
    length : float
        Terms of a document, each counted as often as it occurs, on average.
    """

    corpus: str
    label: str
    n_docs: int
    n_class: int
    n_classes: int
    n_terms: int
    length: float


def find_corpora() -> dict[str, Path]:
    """Find the corpora in the folders of corpora, by name."""
    found: dict[str, Path] = {}
    for folder in list_folders():
        for path in sorted(folder.glob(f"*{ENDING}")):
            found.setdefault(path.name.removesuffix(ENDING), path)
    if not found:
        raise InputError(
            f"There are no corpora (*{ENDING}) in {' and '.join(map(str, list_folders()))}. "
            "The variable TERMSIEVE_DATA names another folder; termsieve datasets lists what can be had."
        )
    return found


@dataclass(frozen=True, eq=False)
class StudyCorpus:
    """A corpus as the study takes it: a sample of its documents, and its classes that are large enough.

    Attributes
    ----------
    name : str
    corpus : Corpus
        With the large classes only. Documents of no such class stay, as documents of the rest.
    """

    name: str
    corpus: Corpus
    splits: list[Split]

    @classmethod
    def read(cls, name: str, path: Path, panel: Panel, protocol: StudyProtocol, threads: int) -> StudyCorpus:
        """Read a corpus, draw a sample, and split it."""
        whole = read_corpus(read(path, text="text", label="labels"), None, None, [], threads)
        sample = whole.sample(panel.more_documents.get(name, panel.documents), protocol.seed)
        large = np.flatnonzero(np.asarray(sample.Y.sum(axis=0)).ravel() >= protocol.min_class)
        terms = np.unique(sample.X.indices)
        kept = replace(
            sample, X=sample.X[:, terms].tocsr(), terms=sample.terms.take(pa.array(terms)),
            Y=sample.Y[:, large].tocsr(), classes=[sample.classes[c] for c in large],
        )  # fmt: skip
        single = sample.single_labels
        strata = None if single is None else np.where(np.isin(single, large), single, -1)  # small classes together
        splits = make_splits(protocol.folds, strata, sample.n_docs, seed=protocol.seed)
        return cls(name, kept, splits[: panel.splits])

    @property
    def problems(self) -> Iterator[StudyProblem]:
        """The problems: of two classes that exclude each other only the smaller one is against the rest."""
        sizes = np.asarray(self.corpus.Y.sum(axis=0)).ravel()
        wanted = range(len(sizes))
        if len(sizes) == 2 and self.corpus.single_labels is not None:
            wanted = range(int(sizes.argmin()), int(sizes.argmin()) + 1)
        for c in wanted:
            yield self._describe(self.corpus.classes[c], int(sizes[c]))
        if len(sizes) > 1:
            yield self._describe("", round(float(sizes.mean())))

    def _describe(self, label: str, n_class: int) -> StudyProblem:
        X = self.corpus.X
        return StudyProblem(
            self.name, label, X.shape[0], n_class, len(self.corpus.classes), X.shape[1], round(X.sum() / X.shape[0], 1)
        )

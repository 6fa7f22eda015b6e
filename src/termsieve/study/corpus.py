"""A corpus in memory: documents x terms, documents x classes, and extra columns."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from scipy import sparse

from termsieve._types import AnyArray, Int64Array
from termsieve.counts.counting import as_documents
from termsieve.counts.counts import Counts
from termsieve.counts.labelled import LabelledMatrix, read_matrices, read_occurrences
from termsieve.documents import TOKENS, Documents
from termsieve.errors import InputError, describe_single_class
from termsieve.study.splits import check_one_each
from termsieve.tokens.analyzer import Analyzer, choose_analyzer
from termsieve.tokens.strings import string_buffers


@dataclass(frozen=True, eq=False)
class Corpus:
    """Documents in memory.

    Attributes
    ----------
    X, Y
        Documents x terms with occurrences, documents x classes with 0 and 1.
    terms, classes
        Their names.
    columns
        Extra columns, by name.
    analyzer
        What made the terms.
    texts
        The documents as they were written, or as lists of tokens.
    rows, n_whole
        For a sample, its rows of the whole, and the number of documents there.
    origin
        Where the documents are from: what `Documents.origin` says.
    """

    X: sparse.csr_array
    Y: sparse.csr_array
    terms: pa.LargeStringArray
    classes: list[str]
    columns: dict[str, AnyArray]
    analyzer: Analyzer
    texts: pa.ChunkedArray
    rows: Int64Array | None = None
    n_whole: int | None = None
    origin: Mapping[str, Any] = field(default_factory=lambda: {"files": []})

    @property
    def n_docs(self) -> int:
        """Number of documents."""
        return int(self.X.shape[0])

    @property
    def settings(self) -> dict[str, Any]:
        """Settings of the analyzer."""
        return self.analyzer.settings

    def sample(self, n: int | None, seed: int) -> Corpus:
        """Return a random sample of at most n documents, in their order; all of them for None or 0."""
        if not n or self.n_docs <= n:
            return self
        rows = np.sort(np.random.default_rng(seed).choice(self.n_docs, n, replace=False))
        return replace(
            self, X=self.X[rows], Y=self.Y[rows], texts=self.texts.take(pa.array(rows)), rows=rows,
            n_whole=self.n_docs, columns={name: column[rows] for name, column in self.columns.items()},
        )  # fmt: skip

    def read_again(self, analyzer: Analyzer, threads: int) -> Corpus:
        """Return the same documents with the terms of another analyzer; the texts are those in memory."""
        if analyzer == self.analyzer:
            return self
        X, terms = read_occurrences(self.texts, choose_analyzer(analyzer, tokens=self.texts.type == TOKENS), threads)
        _refuse_no_terms(len(terms), self.n_docs)
        return replace(self, X=X, terms=terms, analyzer=analyzer)

    def rows_of(self, name: str, given: Any) -> Any:
        """Return the values of a column, or of an array with one for each document of the whole; others as they are."""
        if isinstance(given, str):
            return self.columns[given]
        if given is None or isinstance(given, int) or hasattr(given, "split"):
            return given
        values = check_one_each(name, given, self.n_docs if self.n_whole is None else self.n_whole)
        return values if self.rows is None else values[self.rows]

    @cached_property
    def single_labels(self) -> Int64Array | None:
        """The class of each document, where each has just one; else None."""
        if (np.diff(self.Y.indptr) == 1).all():
            return self.Y.indices.astype(np.int64)
        return None

    @cached_property
    def counts(self) -> Counts:
        """Counts of all documents, in the order of the columns."""
        return Counts.from_matrix(self.X, self.Y, classes=self.classes)

    @cached_property
    def named_counts(self) -> Counts:
        """The same counts with the terms and the analyzer, equal to those of `termsieve.count`."""
        return self.counts.named(self.terms, self.settings)

    @cached_property
    def matrix(self) -> LabelledMatrix:
        """The documents for what looks at several terms at once."""
        return LabelledMatrix(self.X, self.Y, self.named_counts)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of all documents, labels and terms."""
        digest = hashlib.sha256()
        for matrix in (self.X, self.Y):
            for part in (matrix.indptr, matrix.indices, matrix.data):
                digest.update(np.ascontiguousarray(part, dtype="<i8").tobytes())
        digest.update(string_buffers(self.terms)[0].tobytes())
        digest.update("\0".join(self.classes).encode())
        return digest.hexdigest()[:16]


def read_corpus(
    documents: Documents | Sequence[str] | Corpus, labels: Any, given: Analyzer | None, extra: list[str], threads: int
) -> Corpus:
    """Read documents into memory, in one pass; a corpus, which is there already, gets the terms of the analyzer."""
    if isinstance(documents, Corpus):
        return documents if given is None else documents.read_again(given, threads)
    source = as_documents(documents, labels)
    batches = list(source.batches(extra))
    X, terms, Y, classes, analyzer, texts = read_matrices(batches, given, threads)
    if len(classes) < 2:
        raise InputError(describe_single_class(X.shape[0], classes))
    _refuse_no_terms(len(terms), X.shape[0])
    extra_columns = {
        name: np.fromiter((value for batch in batches for value in batch.column(name).to_pylist()), dtype=object)
        for name in extra
    }
    origin = source.origin if source is documents else {"files": []}  # texts in memory have none
    return Corpus(X, Y, terms, classes, extra_columns, analyzer, texts, origin=origin)


def _refuse_no_terms(n_terms: int, n_docs: int) -> None:
    if not n_terms:
        raise InputError(
            f"The {n_docs:,} documents have no terms: the text column may be the wrong one, or all words are stop "
            "words."
        )

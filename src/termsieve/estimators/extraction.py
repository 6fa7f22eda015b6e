"""Text in: what scikit-learn users give for documents and for how to read them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from numbers import Integral, Real
from threading import Lock
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from sklearn.feature_extraction.text import CountVectorizer

from termsieve._kernels import kernels_pay
from termsieve._types import Int32Array
from termsieve.counts.counting import TEXT_BYTES, resolve_threads
from termsieve.counts.plain_rows import PlainRows, stack_columns
from termsieve.counts.rows import PythonVocabulary, Rows, Worker, count_characters, read_rows
from termsieve.documents import TOKENS
from termsieve.documents.string_columns import is_unicode
from termsieve.errors import InputError, OptionError, warn
from termsieve.tokens.analyzer import Analyzer, choose_analyzer
from termsieve.tokens.patterns import DEFAULT_TOKEN_PATTERN
from termsieve.tokens.tokenizers import check_tokens
from termsieve.tokens.vocabulary import Vocabulary

AnyRows: TypeAlias = Rows | PlainRows
_OWN_OPTIONS = ("stemmer", "segmenter", "min_length", "strip")  # options that scikit-learn does not have
_SHARED_OPTIONS = ("lowercase", "token_pattern", "ngram_range", "analyzer", "strip_accents", "stop_words")
_DECODING_OPTIONS = ("input", "encoding", "decode_error")
_MAX_NEW_TERMS = 1_000_000  # new terms, after which a reader starts anew


@dataclass(frozen=True)
class TermExtractor:
    """How documents become terms: by an `Analyzer`, fast, or by a plain Python function that also decodes them."""

    analyzer: Analyzer | None
    plain: Callable[[Any], Sequence[str]] | None
    decode: Callable[[Any], str]
    from_content: bool

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> TermExtractor:
        """Make what the parameters of a vectorizer describe."""
        own = {name: parameters[name] for name in _OWN_OPTIONS}
        shared = {name: parameters[name] for name in _SHARED_OPTIONS}
        decoding = {name: parameters[name] for name in _DECODING_OPTIONS}
        if decoding["input"] not in ("content", "filename", "file"):
            raise OptionError(f"input must be 'content', 'filename' or 'file', not {decoding['input']!r}.")
        decode, from_content = CountVectorizer(**decoding).decode, decoding["input"] == "content"
        if any(callable(parameters[name]) for name in ("preprocessor", "tokenizer", "analyzer", "strip_accents")):
            return cls(None, _build_sklearn_analyzer(parameters, {**decoding, **shared}, own), decode, from_content)
        word = parameters["analyzer"] == "word"
        if parameters["tokenizer"] is not None and word:
            own["tokenizer"] = parameters["tokenizer"]
        if not word and parameters["analyzer"] != "tokens":
            shared["stop_words"] = None
        if own.get("tokenizer") is not None or not word:
            shared["token_pattern"] = DEFAULT_TOKEN_PATTERN
        return cls(Analyzer(**{**shared, **own}), None, decode, from_content)

    def build_analyzer(self) -> Callable[[Any], Sequence[str]]:
        """Return the function from a document to its terms."""
        if self.plain is not None:
            return self.plain
        analyzer, decode = self.analyzer, self.decode
        return lambda document: analyzer(decode(document)) if analyzer is not None else []

    @property
    def settings(self) -> dict[str, Any] | None:
        """The settings of the analyzer, where there is one."""
        return None if self.analyzer is None else self.analyzer.settings

    @property
    def keyed_by_bytes(self) -> bool:
        """Whether the vocabulary knows a term by its bytes alone; n-grams of the kernels are known by their words."""
        return self.analyzer is None or self.analyzer.runs is None or self.analyzer.ngram_range == (1, 1)

    def threads(self, threads: int | None) -> int:
        """Return how many threads read; plain Python holds the interpreter, and more would only wait."""
        n = resolve_threads(threads)
        return 1 if self.analyzer is None or self.analyzer.runs is None else n

    def vocabulary(self) -> Vocabulary | PythonVocabulary:
        """Make a new, empty vocabulary."""
        return PythonVocabulary(self.plain) if self.plain is not None else Vocabulary(self.analyzer)  # type: ignore[arg-type]

    def read(self, documents: Any, threads: int | None) -> AnyRows:
        """Read documents into rows, with new vocabularies; few of them in plain Python."""
        checked, n = _check_documents(documents), self.threads(threads)
        if kernels_pay(count_characters(checked), TEXT_BYTES):
            return self.rows(checked, [Worker(i, self.vocabulary()) for i in range(n)])
        return PlainRows(self.texts(checked), self.find_terms)

    def rows(self, documents: Sequence[Any], workers: list[Worker]) -> Rows:
        """Read documents into rows, in the numbers of the workers."""
        with _explain_surrogates():
            return read_rows(documents, workers, self._convert)

    def texts(self, documents: Sequence[Any]) -> list[Any]:
        """Return what `find_terms` takes of each document, checked."""
        with _explain_surrogates():
            converted = self._convert(documents) if len(documents) else []
        return converted.to_pylist() if isinstance(converted, pa.Array) else list(converted)

    @property
    def find_terms(self) -> Callable[[Any], Sequence[str]]:
        """The definition of the terms, in plain Python."""
        return self.plain or self.analyzer  # type: ignore[return-value]  # there is always one

    def _convert(self, documents: Sequence[Any]) -> Any:
        if isinstance(documents, pa.ChunkedArray):
            return documents.to_pylist() if self.plain is not None else self._check_array(documents)
        if self.plain is not None:
            return documents
        if self.analyzer is not None and self.analyzer.analyzer == "tokens":
            return pa.array([_check_tokens(one) for one in documents], TOKENS)
        if not self.from_content or not all(type(one) is str for one in documents):
            documents = [self._text(one) for one in documents]
        return pa.array(documents, pa.large_string())

    def _check_array(self, documents: pa.ChunkedArray) -> pa.Array:
        if documents.null_count:
            raise InputError("A document must be text or a list of tokens, not null.")
        choose_analyzer(self.analyzer, tokens=documents.type == TOKENS)
        return documents.combine_chunks()

    def _text(self, document: Any) -> str:
        try:
            text = self.decode(document)
        except AttributeError as error:
            raise InputError(
                f"With input='file', a document must be an open file, not {type(document).__name__}: "
                f"{str(document)[:60]!r}."
            ) from error
        if not isinstance(text, str):
            hint = " (analyzer='tokens' takes lists of tokens.)" if isinstance(text, list | tuple) else ""
            raise InputError(f"A document must be text, not {type(text).__name__}: {str(text)[:60]!r}.{hint}")
        return str(text)


@contextmanager
def _explain_surrogates() -> Iterator[None]:
    try:
        yield
    except UnicodeEncodeError as error:
        raise InputError(f"A document holds a lone surrogate, which is not text: {error}.") from error


def _check_tokens(document: Any) -> list[str]:
    if not isinstance(document, list | tuple | np.ndarray) or not all(isinstance(token, str) for token in document):
        raise InputError(f"With analyzer='tokens', a document must be a list of strings, not {str(document)[:60]!r}.")
    return list(document)


def _build_sklearn_analyzer(
    parameters: Mapping[str, Any], options: Mapping[str, Any], own: Mapping[str, Any]
) -> Callable[[Any], Sequence[str]]:
    """Build the analyzer that scikit-learn would build."""
    default = {"stemmer": None, "segmenter": None, "min_length": 1, "strip": ()}
    for name, value in own.items():
        if value != default[name]:
            raise OptionError(
                f"{name}={value!r} does not go with a preprocessor, tokenizer, analyzer or strip_accents of your own: "
                "do it there."
            )
    tokenizer, preprocessor = parameters["tokenizer"], parameters["preprocessor"]
    analyze = CountVectorizer(**options, tokenizer=tokenizer, preprocessor=preprocessor).build_analyzer()
    maker = "The analyzer" if callable(parameters["analyzer"]) else "The tokenizer"
    return lambda document: check_tokens(analyze(document), maker)


def _check_documents(documents: Any) -> Sequence[Any]:
    if isinstance(documents, str | bytes):
        raise InputError(
            "Iterable over raw text documents expected, string object received. Give a list of texts: [text]."
        )
    if not isinstance(documents, Iterable):
        raise InputError(f"The documents must be a list of texts, not {type(documents).__name__}.")
    if isinstance(documents, pa.ChunkedArray) and documents.type in (pa.large_string(), TOKENS):
        return documents  # type: ignore[no-any-return]
    return documents if isinstance(documents, list) else list(documents)


# What is given, and wrong, not used, or not consistent


def check_numbers(parameters: Mapping[str, Any]) -> None:
    """Refuse limits and a type of numbers that are none, before documents are read."""
    for name in ("min_df", "max_df"):
        if not isinstance(parameters[name], Real):
            raise OptionError(
                f"{name} must be a number of documents, or a share of them such as 0.5, not {parameters[name]!r}."
            )
    most = parameters["max_features"]
    if most is not None and (isinstance(most, bool) or not isinstance(most, Integral) or most < 1):
        raise OptionError(f"max_features must be a number of terms, 1 or more, or None, not {most!r}.")
    if not _is_type_of_entries(parameters["dtype"]):
        raise OptionError(
            f"dtype must be a type of numbers, such as 'float32', not {parameters['dtype']!r}; and sparse matrices "
            "must have it."
        )


def _is_type_of_entries(dtype: Any) -> bool:
    try:
        kind = np.dtype(dtype)
    except TypeError:
        return False
    return kind.kind in "biufc" and kind.isnative and kind != np.float16  # scipy has no others


def warn_unused_parameters(parameters: Mapping[str, Any]) -> None:
    """Warn of parameters that have no meaning beside others, as scikit-learn does."""
    own_analyzer, word = callable(parameters["analyzer"]), parameters["analyzer"] == "word"
    pattern, tokenizer = parameters["token_pattern"], parameters["tokenizer"]
    if tokenizer is not None and pattern is not None and pattern != DEFAULT_TOKEN_PATTERN:
        _warn_unused("token_pattern", "'tokenizer' is not None")
    if parameters["preprocessor"] is not None and own_analyzer:
        _warn_unused("preprocessor", "'analyzer' is callable")
    if tuple(parameters["ngram_range"]) != (1, 1) and own_analyzer:
        _warn_unused("ngram_range", "'analyzer' is callable")
    tokens = not own_analyzer and parameters["analyzer"] == "tokens"
    if not word:
        given = {"stop_words": None if tokens else parameters["stop_words"], "tokenizer": tokenizer}
        given["token_pattern"] = pattern if pattern != DEFAULT_TOKEN_PATTERN else None
        for name, value in given.items():
            if value is not None:
                _warn_unused(name, "'analyzer' != 'word'")
    if tokens:
        return
    if parameters["lowercase"] and any(char.isupper() for term in parameters["vocabulary"] or () for char in term):
        warn(
            "Upper case characters found in vocabulary while 'lowercase' is True. These entries will not be matched "
            "with any documents.",
            stacklevel=5,
        )


def _warn_unused(name: str, because: str) -> None:
    warn(f"The parameter {name!r} will not be used since {because}.", stacklevel=5)


def warn_split_stop_words(analyzer: Analyzer | None) -> None:
    """Warn when the analyzer cuts stop words into other words, which it then does not stop."""
    if analyzer is None or not analyzer.stop_set or analyzer.stop_words == "smart" or analyzer.analyzer == "tokens":
        return
    bare = replace(analyzer, stop_words=None, stemmer=None, min_length=1)
    tokens = {token for word in analyzer.stop_set for token in bare.words(bare.preprocess(word))}
    if left := sorted(tokens - analyzer.stop_set):
        warn(
            "Your stop_words may be inconsistent with your preprocessing. Tokenizing the stop words generated "
            f"tokens {left} not in stop_words.",
            stacklevel=4,
        )


def parse_vocabulary(vocabulary: Any) -> dict[str, int] | None:
    """Return a vocabulary that the user gives as a dict of columns."""
    if vocabulary is None:
        return None
    if isinstance(vocabulary, str) or not isinstance(vocabulary, Iterable):
        raise OptionError(f"vocabulary must be a dict of columns, or a list of terms, not {vocabulary!r}.")
    terms = list(vocabulary)
    if (other := next((term for term in terms if not isinstance(term, str) or not is_unicode(term)), None)) is not None:
        raise OptionError(f"The terms of a vocabulary must be text, not {other!r}.")
    if not isinstance(vocabulary, Mapping):
        terms = sorted(terms) if isinstance(vocabulary, set | frozenset) else terms
        columns = {term: column for column, term in enumerate(terms)}
        if len(columns) < len(terms):
            twice = next(term for column, term in enumerate(terms) if columns[term] != column)
            raise OptionError(f"Duplicate term in vocabulary: {twice!r}.")
    else:
        try:
            columns = {term: _read_column(column) for term, column in vocabulary.items()}
        except (TypeError, ValueError, OverflowError) as error:
            raise OptionError(f"The columns of a vocabulary must be whole numbers: {error}.") from error
        _check_columns(columns)
    if not columns:
        raise OptionError("empty vocabulary passed to fit: give at least one term, or leave it out.")
    return columns


def _read_column(column: Any) -> int:
    number = int(column)
    if isinstance(column, Real) and number != column:
        raise ValueError(f"{column!r} is none")
    return number


def _check_columns(columns: Mapping[str, int]) -> None:
    numbers = set(columns.values())
    if len(numbers) < len(columns):
        raise OptionError("Vocabulary contains repeated indices: each term needs a column of its own.")
    missing = next((i for i in range(len(columns)) if i not in numbers), None)
    if missing is not None:
        raise OptionError(f"Vocabulary of size {len(columns)} doesn't contain index {missing}.")


# Documents to known columns


class ColumnFinder:
    """Finds the columns of terms by their bytes, from several threads.

    Its table stays, with the terms that were asked for: to make one of a million terms takes longer than to read some
    thousand documents.
    """

    def __init__(self, terms: pa.LargeStringArray) -> None:
        self._terms, self._lock = terms, Lock()
        self._vocabulary: Vocabulary | None = None

    def find_columns(self, terms: pa.LargeStringArray) -> Int32Array:
        """Return the columns of some terms, -1 for none."""
        with self._lock:
            if self._vocabulary is None or self._vocabulary.n_terms > len(self._terms) + _MAX_NEW_TERMS:
                self._vocabulary = Vocabulary(Analyzer(analyzer="tokens"))
                self._vocabulary.number(self._terms)  # each gets the number of its column
            numbers = self._vocabulary.number(terms)
        numbers[numbers >= len(self._terms)] = -1
        return numbers


class ColumnReader:
    """A worker that knows the column of its numbers."""

    def __init__(self, extractor: TermExtractor, terms: pa.LargeStringArray, finder: ColumnFinder) -> None:
        vocabulary = extractor.vocabulary()
        self.worker = Worker(0, vocabulary)
        self._terms, self._by_bytes, self._finder = terms, extractor.keyed_by_bytes, finder
        self._column_of = np.empty(0, np.int32)
        if self._by_bytes:
            numbers = vocabulary.number(terms)
            self._column_of = np.full(vocabulary.n_terms, -1, np.int32)
            self._column_of[numbers] = np.arange(len(terms))

    def get_columns(self) -> Int32Array:
        """Return the column of each number of the worker, -1 for none."""
        new = np.arange(len(self._column_of), self.worker.vocabulary.n_terms)
        if len(new):
            columns = np.full(len(new), -1, np.int32)
            if not self._by_bytes:
                columns = self._finder.find_columns(self.worker.vocabulary.get_terms(new))
            self._column_of = np.concatenate([self._column_of, columns])
        return np.append(self._column_of, np.int32(-1))

    @property
    def is_too_large(self) -> bool:
        """Whether it has met so many other terms that it had better start anew."""
        return len(self._column_of) > len(self._terms) + _MAX_NEW_TERMS


class ReaderPool:
    """Readers for the columns of a fitted vectorizer, kept from one call to the next."""

    def __init__(self, extractor: TermExtractor, terms: pa.LargeStringArray) -> None:
        self._extractor, self._terms, self._finder = extractor, terms, ColumnFinder(terms)
        self._idle: list[ColumnReader] = []
        self._columns: dict[str, int] | None = None

    def matrix(self, documents: Any, threads: int | None, *, binary: bool) -> Any:
        """Return documents x columns: occurrences."""
        documents = _check_documents(documents)
        n = min(self._extractor.threads(threads), max(len(documents), 1))
        if not kernels_pay(count_characters(documents), TEXT_BYTES):
            return self._count_plainly(documents, binary=binary)
        readers = [self._take_reader() for _ in range(n)]
        for number, reader in enumerate(readers):
            reader.worker.number = number
        rows = self._extractor.rows(documents, [reader.worker for reader in readers])
        if binary:
            rows.make_binary()
        matrix = rows.matrix([reader.get_columns() for reader in readers], len(self._terms))
        self._idle.extend(reader for reader in readers if not reader.is_too_large)
        return matrix

    def _count_plainly(self, documents: Sequence[Any], *, binary: bool) -> Any:
        """Do in plain Python what the readers do."""
        if self._columns is None:
            self._columns = {term: column for column, term in enumerate(self._terms.to_pylist())}
        known, find_terms = self._columns, self._extractor.find_terms
        numbers = [
            [known[term] for term in find_terms(text) if term in known] for text in self._extractor.texts(documents)
        ]
        matrix = stack_columns(numbers, len(known))
        if binary:
            matrix.data.fill(1)
        return matrix

    def _take_reader(self) -> ColumnReader:
        try:
            return self._idle.pop()  # one step, so that two threads never get the same
        except IndexError:
            return ColumnReader(self._extractor, self._terms, self._finder)

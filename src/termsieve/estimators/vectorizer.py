"""TermVectorizer: text in, matrix out, in one pass; with a score, only the terms that it selects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse
from sklearn import get_config
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import Tags, check_array

from termsieve._types import Array, BoolArray, Int32Array, Int64Array, StringArray
from termsieve.counts.counts import Counts
from termsieve.counts.labelled import LabelledMatrix
from termsieve.defaults import DEFAULT_SCORE
from termsieve.errors import InputError, OptionError
from termsieve.estimators.extraction import (
    AnyRows,
    ReaderPool,
    TermExtractor,
    check_numbers,
    parse_vocabulary,
    warn_split_stop_words,
    warn_unused_parameters,
)
from termsieve.estimators.labels import has_contrast, make_indicator, refuse_one_class
from termsieve.estimators.output import check_container, make_frame
from termsieve.estimators.selector import find_pvalues, refuse_documents_rule, resolve_rule, score_for
from termsieve.estimators.state import pack_state, unpack_state
from termsieve.estimators.weighting import Weighting, parse_weighting
from termsieve.ranking.ranking import ScoreLike, as_score
from termsieve.ranking.score_values import Scores
from termsieve.selection.pool import Rule, TermPool
from termsieve.selection.rules import RuleLike
from termsieve.selection.selection import Selection, select_from_pool
from termsieve.tokens.patterns import DEFAULT_TOKEN_PATTERN


class TermVectorizer(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[misc,call-arg]
    r"""Turn texts into a matrix: documents x terms.

    Without `score_func`, `k` and `rule` a fast ``CountVectorizer``: the same parameters with the same meaning, the same
    vocabulary, the same matrix. With one of them, the terms are counted, scored and selected in the same pass over the
    texts, and the matrix has the selected ones only.

    Parameters
    ----------
    score_func : str, Score, function of a Table, or None
        What ranks the terms, such as ``"info_gain"``; needs labels. None: nothing, or with `k` or `rule` the default
        score, `termsieve.defaults.DEFAULT_SCORE`.
    k : int, "all" or None
        How many terms to keep; None and "all" are all.
    rule : str, Rule or None
        Another rule, such as ``"round_robin(100)"``; it wins over `k`. See `termsieve.select`. ``union``, ``stages``,
        ``cmim``, ``mrmr``, ``jmi`` and ``fcbf`` bring their own scores, and need no `score_func`.
    aggregate : {"max", "sum", "mean", "weighted_mean"} or None
        How the classes are brought together for the selection; None is the score's own way.
    weighting : str
        ``"count"``, ``"binary"``, ``"tfidf"``, ``"tfidf_log"``, ``"tfidf_ltc"``, ``"tfidf_lp"`` or ``"tf."`` and a
        score, such as ``"tf.bns"``. The formulas are in `termsieve.estimators.weighting`.
    input, encoding, decode_error, strip_accents, lowercase, preprocessor, tokenizer, analyzer
        As in ``CountVectorizer``. Functions of your own (`preprocessor`, `tokenizer`, `analyzer`) are called document
        by document, which is as slow as there.
    stop_words, token_pattern, ngram_range, max_df, min_df, max_features, vocabulary, binary, dtype
        As in ``CountVectorizer``. Where terms are equally frequent, `max_features` keeps the first in
        the alphabet. `dtype` is that of the counts; weights are floats. `binary` comes before everything else: scores
        and weights then see presence only, whereas ``weighting="binary"`` changes the matrix alone.
    stemmer, segmenter, min_length, strip
        As in `termsieve.Analyzer`, which also has the list of stop words ``"smart"``, and the analyzer ``"tokens"`` for
        documents that are lists of tokens.
    threads : int or None
        How many threads read; None is as many as there are cores. The result does not depend on it.

    Attributes
    ----------
    vocabulary_ : dict
        The column of each term. Columns are in code-point order, or in the order of a given vocabulary.
    selection_ : Selection
        What was taken, in rank order, with scores, classes and the reason; its `index` counts the terms that were
        left by `min_df`, `max_df` and `max_features`.
    scores_ : array of shape (n_columns,)
        The score of each column, where a score selects; of the last of the scores that a rule brings along.
    pvalues_ : array of shape (n_columns,) or None
        The p-value of each column by that score, as `Scores.pvalues` has it; None where the score has none.
    weights_ : array
        The weight of each column, where there are weights.
    counts_ : Counts
        What `partial_fit` has counted so far. `fit` keeps only what `transform` needs.

    Notes
    -----
    With ``set_output(transform="pandas")`` or ``"polars"`` the matrix comes as a dense frame with a column for each
    term; where that would take more than 1 GiB, it is refused. scikit-learn's ``CountVectorizer`` makes no frames,
    and its selectors refuse to make one of a sparse matrix. As there, ``sklearn.set_config(transform_output=...)``
    changes nothing: a frame is made only where it is asked for.

    A fitted vectorizer can be kept with pickle, joblib or skops. For skops, trust the types of termsieve and no others:
    ``trusted=["termsieve.estimators.vectorizer.TermVectorizer", "termsieve.selection.selection.Selection"]``.
    A tokenizer that a file of skops names is not run before you name it, too:
    ``set_params(tokenizer="package.module:function")``. In a file of a stranger
    look at `input` as well: with ``"filename"``, texts are names of files that are opened.

    Examples
    --------
    >>> texts, labels = ["good film", "good good play", "bad film", "bad night"], ["pos", "pos", "neg", "neg"]
    >>> vectorizer = TermVectorizer(score_func="info_gain", k=2)
    >>> vectorizer.fit_transform(texts, labels).toarray()
    array([[0, 1],
           [0, 2],
           [1, 0],
           [1, 0]])
    >>> vectorizer.get_feature_names_out()
    array(['bad', 'good'], dtype=object)
    >>> vectorizer.scores_.round(2)
    array([0.69, 0.69])
    >>> vectorizer.get_support()
    array([ True, False,  True, False, False])
    """

    counts_: Counts
    selection_: Selection
    scores_: Array
    pvalues_: Array | None

    def __init__(
        self,
        *,
        score_func: ScoreLike | None = None,
        k: Any = None,
        rule: RuleLike | None = None,
        aggregate: str | None = None,
        weighting: str = "count",
        input: str = "content",
        encoding: str = "utf-8",
        decode_error: str = "strict",
        strip_accents: Any = None,
        lowercase: bool = True,
        preprocessor: Any = None,
        tokenizer: Any = None,
        stop_words: Any = None,
        token_pattern: str | None = DEFAULT_TOKEN_PATTERN,
        ngram_range: tuple[int, int] = (1, 1),
        analyzer: Any = "word",
        max_df: float = 1.0,
        min_df: float = 1,
        max_features: int | None = None,
        vocabulary: Any = None,
        binary: bool = False,
        dtype: Any = np.int64,
        stemmer: str | None = None,
        segmenter: str | None = None,
        min_length: int = 1,
        strip: Any = (),
        threads: int | None = None,
    ) -> None:
        self.score_func = score_func
        self.k = k
        self.rule = rule
        self.aggregate = aggregate
        self.weighting = weighting
        self.input = input
        self.encoding = encoding
        self.decode_error = decode_error
        self.strip_accents = strip_accents
        self.lowercase = lowercase
        self.preprocessor = preprocessor
        self.tokenizer = tokenizer
        self.stop_words = stop_words
        self.token_pattern = token_pattern
        self.ngram_range = ngram_range
        self.analyzer = analyzer
        self.max_df = max_df
        self.min_df = min_df
        self.max_features = max_features
        self.vocabulary = vocabulary
        self.binary = binary
        self.dtype = dtype
        self.stemmer = stemmer
        self.segmenter = segmenter
        self.min_length = min_length
        self.strip = strip
        self.threads = threads

    # Learning

    def fit(self, raw_documents: Any, y: Any = None) -> Self:
        """Learn the terms, and with `score_func` which of them to keep.

        Parameters
        ----------
        raw_documents : iterable of str, bytes, file names or files
            As `input` says.
        y : one label per document, an indicator matrix, or a list of label sets
            Needed with `score_func` and with weighting ``"tf.<score>"``; else ignored.
        """
        self._learn(raw_documents, y)
        return self

    def fit_transform(self, raw_documents: Any, y: Any = None) -> Any:
        """Learn the terms and return the matrix, in one pass over the documents."""
        rows, column_of = self._learn(raw_documents, y)
        return self._finish(rows.matrix(column_of, len(self.vocabulary_)), raw_documents)

    def partial_fit(self, raw_documents: Any, y: Any = None) -> Self:
        """Add documents, and learn anew which terms to keep.

        The vocabulary grows from call to call, and what is pruned or selected is decided each time from all that was
        counted: the columns, and how many there are, may change between calls. Classes may arrive later; as long as a
        score has only one class, nothing is selected. What was fitted with `fit` cannot be added to, as its counts are
        not kept: use `partial_fit` from the first batch on.
        """
        if hasattr(self, "vocabulary_") and not hasattr(self, "counts_"):
            raise OptionError(
                "TermVectorizer: fit() does not keep its counts, so there is nothing to add to. Use partial_fit() "
                "from the first batch on, on a new vectorizer."
            )
        refuse_documents_rule(self._rule, "TermVectorizer")
        _, rows, terms, column_of = self._read(raw_documents)
        counts = self._make_counts(rows, terms, column_of, y)
        self.counts_ = self.counts_ + counts if hasattr(self, "counts_") else counts
        enough = has_contrast(self.counts_) if self._needs_labels else True
        if enough and (self.counts_.n_terms or self.vocabulary is not None):
            self._select_terms(self.counts_)
        return self

    def _learn(self, raw_documents: Any, y: Any) -> tuple[AnyRows, list[Int32Array]]:
        extractor, rows, terms, column_of = self._read(raw_documents)
        if not len(terms) and self.vocabulary is None:
            raise InputError("empty vocabulary; perhaps the documents only contain stop words.")
        warn_split_stop_words(extractor.analyzer)
        self.__dict__.pop("counts_", None)
        if self._keeps_all:
            self._forget_selection()
            self._set_vocabulary(terms)
            return rows, column_of
        counts = self._make_counts(rows, terms, column_of, y)
        if self._needs_labels:
            refuse_one_class(counts)

        def find_columns(kept: pa.LargeStringArray) -> list[Int32Array]:
            place = pc.index_in(terms, value_set=kept).fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
            place = np.append(place, np.int32(-1))
            return [place[columns] for columns in column_of]

        def make_matrix(pruned: Counts) -> LabelledMatrix:
            labels = sparse.csr_array(make_indicator(y, rows.n_docs, "TermVectorizer")[0])
            return LabelledMatrix(rows.matrix(find_columns(pruned.term_array), pruned.n_terms), labels, pruned)

        return rows, find_columns(self._select_terms(counts, make_matrix))

    def _read(self, raw_documents: Any) -> tuple[TermExtractor, AnyRows, pa.LargeStringArray, list[Int32Array]]:
        """Read the documents: rows, terms in order, and the columns of these."""
        _ = self._rule, self._weighting, parse_vocabulary(self.vocabulary)  # wrong options are told before the work
        extractor, parameters = self._extractor, self.get_params(deep=False)
        check_numbers(parameters)
        warn_unused_parameters(parameters)
        rows = extractor.read(raw_documents, self.threads)
        if self.binary:
            rows.make_binary()
        terms, column_of = rows.vocabulary()
        return extractor, rows, terms, column_of

    def _make_counts(self, rows: AnyRows, terms: pa.LargeStringArray, column_of: list[Int32Array], y: Any) -> Counts:
        everything = sparse.csc_array(np.ones((rows.n_docs, 1), np.int64))
        labels, classes = sparse.csc_array((rows.n_docs, 0), dtype=np.int64), list[str]()
        if self._needs_labels:
            labels, classes = make_indicator(y, rows.n_docs, "TermVectorizer")
        cells = rows.sums(column_of, len(terms), labels)
        per_document: Int64Array = np.asarray(labels.sum(axis=1)).ravel()
        one_each = bool((per_document == 1).all())
        totals = (cells if one_each else rows.sums(column_of, len(terms), everything)).totals()
        return Counts(
            terms, classes, cells, totals, n_docs=rows.n_docs, n_multilabel=int((per_document > 1).sum()),
            class_sizes=np.asarray(labels.sum(axis=0)).ravel().astype(np.int64), settings=self._extractor.settings,
        )  # fmt: skip

    # What is kept

    def _select_terms(
        self, counts: Counts, make_matrix: Callable[[Counts], LabelledMatrix] | None = None
    ) -> pa.LargeStringArray:
        """Prune, select and weigh, and return the terms that are kept, by column."""
        counts = self._prune(counts)
        kept: Int64Array = np.arange(counts.n_terms)
        self._forget_selection()
        if self._selects:
            scores = score_for(counts, self._rule, self._ranking_score)
            matrix = make_matrix(counts) if make_matrix is not None and self._rule.needs_documents else None
            selection = select_from_pool(TermPool(scores, self.aggregate, matrix=matrix), self._rule)
            kept = np.sort(selection.index)
            if not len(kept):
                raise InputError(f"No terms are selected by {self._rule}: {selection.reason}.")
            self.selection_, self.scores_ = selection, scores.overall(self.aggregate)[kept]
            self.pvalues_ = find_pvalues(Scores(counts.take(kept), scores.score))  # of all terms they would take long
        weights = self._weighting.compute_weights(counts)
        terms = counts.term_array.take(pa.array(kept))
        self._set_vocabulary(terms, None if weights is None else weights[kept])
        return terms

    def _forget_selection(self) -> None:
        for name in ("selection_", "scores_", "pvalues_"):
            self.__dict__.pop(name, None)

    def _prune(self, counts: Counts) -> Counts:
        given = parse_vocabulary(self.vocabulary)
        if given is not None:
            return counts.with_vocabulary(sorted(given, key=given.__getitem__))
        least, most = (x if isinstance(x, int | np.integer) else x * counts.n_docs for x in (self.min_df, self.max_df))
        if most < least:
            raise OptionError(
                f"max_df corresponds to < documents than min_df: max_df={self.max_df}, min_df={self.min_df}, with "
                f"{counts.n_docs:,} documents."
            )
        if (self.min_df, self.max_df) != (1, 1.0) or isinstance(self.max_df, int):
            counts = counts.prune(min_df=self.min_df, max_df=self.max_df)
        if self.max_features is not None and self.max_features < counts.n_terms:
            often = counts.term_tf  # with `binary`, that is in documents
            first = np.lexsort([counts.alphabetical, -often])[: self.max_features]
            counts = counts.prune(keep=counts.terms[first].tolist())
        if not counts.n_terms:
            raise InputError(
                f"After pruning, no terms remain. Try a lower min_df (it is {self.min_df}) or a higher max_df (it is "
                f"{self.max_df})."
            )
        return counts

    def _set_vocabulary(self, terms: pa.LargeStringArray, weights: Any = None) -> None:
        self.__dict__.pop("_readers", None)
        self.__dict__.pop("weights_", None)
        self.fixed_vocabulary_ = self.vocabulary is not None
        self.vocabulary_ = dict(zip(terms.to_pylist(), range(len(terms)), strict=True))
        if weights is not None:
            self.weights_ = weights

    # What the parameters mean

    @property
    def _extractor(self) -> TermExtractor:
        return TermExtractor.of(self.get_params(deep=False))

    @property
    def _weighting(self) -> Weighting:
        return parse_weighting(self.weighting)

    @property
    def _rule(self) -> Rule:
        as_score(self._ranking_score)
        return resolve_rule(self.k, self.rule)

    @property
    def _ranking_score(self) -> ScoreLike:
        return DEFAULT_SCORE if self.score_func is None else self.score_func

    @property
    def _selects(self) -> bool:
        return self.score_func is not None or self.rule is not None or self.k not in (None, "all")

    @property
    def _needs_labels(self) -> bool:
        return self._selects or self._weighting.score is not None

    @property
    def _keeps_all(self) -> bool:
        """Whether every term has a column, and nothing has to be counted to know so."""
        limits = self.vocabulary is None and self.max_features is None and self.min_df == 1
        return limits and self.max_df == 1.0 and not isinstance(self.max_df, int) and self._is_unweighted

    @property
    def _is_unweighted(self) -> bool:
        return self._weighting.plain and not self._selects

    # Using what was learned

    def transform(self, raw_documents: Any) -> Any:
        """Return the matrix of other documents, with the columns that were learned."""
        columns = self._columns()
        known, readers = self.__dict__.get("_readers", (None, None))
        if readers is None or known is not columns:
            terms = pa.array(self.get_feature_names_out(), pa.large_string())
            readers = ReaderPool(self._extractor, terms)
            self._readers = (columns, readers)
        return self._finish(readers.matrix(raw_documents, self.threads, binary=self.binary), raw_documents)

    def set_params(self, **params: Any) -> Self:
        """Set parameters, as in every estimator."""
        self.__dict__.pop("_readers", None)
        super().set_params(**params)
        return self

    def set_output(self, *, transform: str | None = None) -> Self:
        """Set what `transform` and `fit_transform` return.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"} or None
            ``"default"`` is a sparse matrix, the others are dense frames with a column for each term. None changes
            nothing.
        """
        if transform is not None:
            self._sklearn_output_config = {"transform": check_container(transform)}  # scikit-learn's clone copies it
        return self

    def _finish(self, X: sparse.csr_array, documents: Any) -> Any:
        """Weigh occurrences, and bring them into the form that was asked for."""
        X = self._weighting.apply(X, getattr(self, "weights_", None), self.dtype)
        container = getattr(self, "_sklearn_output_config", {}).get("transform", "default")
        if container != "default":
            return make_frame(X, self.get_feature_names_out(), documents, container)
        # scikit-learn gives matrices, or arrays where it is set to
        return X if get_config().get("sparse_interface") == "sparray" else sparse.csr_matrix(X)

    def _columns(self) -> dict[str, int]:
        if hasattr(self, "vocabulary_"):
            return self.vocabulary_
        given = parse_vocabulary(self.vocabulary)
        if given is None or not self._is_unweighted:
            if hasattr(self, "counts_"):
                raise NotFittedError(
                    "No terms are learned yet: the documents so far are of one class, or have no terms. Call "
                    "partial_fit() with more of them."
                )
            raise NotFittedError(
                "Vocabulary not fitted or provided: call fit() with documents first, or give vocabulary=[...]."
            )
        return given

    def get_feature_names_out(self, input_features: Any = None) -> StringArray:  # noqa: ARG002
        """Return the terms, in the order of the columns."""
        columns = self._columns()
        return np.array(sorted(columns, key=columns.__getitem__), dtype=object)

    def get_support(self, indices: bool = False) -> BoolArray | Int64Array:
        """Return which terms have a column, of those that `min_df`, `max_df` and `max_features` left.

        Parameters
        ----------
        indices : bool
            Return the places of these terms instead of a mask.
        """
        n_columns = len(self._columns())
        mask = self.selection_.mask if hasattr(self, "selection_") else np.ones(n_columns, np.bool_)
        return np.flatnonzero(mask) if indices else mask

    def inverse_transform(self, X: Any) -> list[StringArray]:
        """Return the terms of each row of a matrix: those whose entry is not zero."""
        names = self.get_feature_names_out()
        X = check_array(X, accept_sparse="csr")
        if X.shape[1] != len(names):
            raise InputError(f"X has {X.shape[1]:,} columns, but there are {len(names):,} terms.")
        matrix = sparse.csr_array(X, copy=True)
        matrix.eliminate_zeros()
        return [names[row] for row in np.split(matrix.indices, matrix.indptr[1:-1])]

    def build_analyzer(self) -> Any:
        """Return the function from a document to its terms."""
        return self._extractor.build_analyzer()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.target_tags.required = self._selects or str(self.weighting).startswith("tf.")
        return tags

    def __getstate__(self) -> dict[str, Any]:
        return pack_state(super().__getstate__())

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(unpack_state(state))

"""An estimator for pipelines of Spark ML: a column of text in, a column of vectors out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyspark import keyword_only
from pyspark.ml import Estimator, Model
from pyspark.ml.linalg import VectorUDT
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import HasInputCol, HasLabelCol, HasOutputCol
from pyspark.ml.util import DefaultParamsReadable, DefaultParamsWritable
from pyspark.sql.functions import arrow_udf

from termsieve.counts.counts import Counts
from termsieve.errors import OptionError
from termsieve.estimators.extraction import ReaderPool, TermExtractor
from termsieve.estimators.weighting import parse_weighting
from termsieve.ranking.ranking import as_score
from termsieve.selection.rules import parse_rule
from termsieve.selection.selection import select
from termsieve.spark.counting import count
from termsieve.tokens.analyzer import Analyzer

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_SPARSE = 0  # the type of a sparse vector, as Spark ML numbers them
_VECTOR = pa.struct(
    [("type", pa.int8()), ("size", pa.int32()), ("indices", pa.list_(pa.int32())), ("values", pa.list_(pa.float64()))]
)


class _TermParams(HasInputCol, HasOutputCol):
    """What the estimator and its model both have."""

    weighting = Param(
        Params._dummy(),
        "weighting",
        "how occurrences are weighted: count, binary, tfidf, ..., as in termsieve.TermVectorizer",
        typeConverter=TypeConverters.toString,
    )
    analyzer = Param(
        Params._dummy(),
        "analyzer",
        "the settings of a termsieve.Analyzer, as JSON",
        typeConverter=TypeConverters.toString,
    )

    def getWeighting(self) -> str:
        """Return the weighting."""
        return str(self.getOrDefault(self.weighting))

    def getAnalyzer(self) -> Analyzer:
        """Return the analyzer."""
        return Analyzer.from_settings(json.loads(self.getOrDefault(self.analyzer)))


class TermVectorizer(Estimator, _TermParams, HasLabelCol, DefaultParamsReadable, DefaultParamsWritable):
    """Turn a column of texts into a column of sparse vectors, with the terms that a score selects by the labels.

    Counts, scores and selects as `termsieve.TermVectorizer` does, and to the same columns.

    Parameters
    ----------
    inputCol, outputCol : str
        The column with the text (or lists of tokens), and that of the vectors.
    labelCol : str
        The column with the label, or with an array of labels; needed with `scoreFunc`, `k`, `rule` and weights by a
        score.
    scoreFunc, rule, weighting : str
        As ``score_func``, ``rule`` and ``weighting`` of `termsieve.TermVectorizer`.
    k : int
        How many terms to keep; without it and `rule`, all.
    minDF : int
        Leave out terms of fewer documents (default 1).
    analyzer : Analyzer
        How a text becomes terms (default: as in scikit-learn).
    """

    scoreFunc = Param(Params._dummy(), "scoreFunc", "what ranks the terms", typeConverter=TypeConverters.toString)
    rule = Param(
        Params._dummy(), "rule", "which terms are kept, such as top(1000)", typeConverter=TypeConverters.toString
    )
    minDF = Param(Params._dummy(), "minDF", "leave out terms of fewer documents", typeConverter=TypeConverters.toInt)

    @keyword_only
    def __init__(
        self,
        *,
        inputCol: str = "text",
        outputCol: str = "features",
        labelCol: str = "label",
        scoreFunc: str | None = None,
        k: int | None = None,
        rule: str | None = None,
        weighting: str = "count",
        minDF: int = 1,
        analyzer: Analyzer | None = None,
    ) -> None:
        super().__init__()
        self._setDefault(inputCol="text", outputCol="features", labelCol="label", weighting="count", minDF=1)
        self._setDefault(analyzer=json.dumps(Analyzer().settings))
        self.setParams(**self._input_kwargs)

    @keyword_only
    def setParams(self, **given: Any) -> TermVectorizer:
        """Set parameters; those that are None stay as they are."""
        kwargs = {name: value for name, value in self._input_kwargs.items() if value is not None}
        if isinstance(kwargs.get("analyzer"), Analyzer):
            kwargs["analyzer"] = json.dumps(kwargs["analyzer"].settings)
        k = kwargs.pop("k", None)
        if k is not None:
            if "rule" in kwargs:
                raise OptionError(f"k={k!r} is the rule 'top({k})': give one of k and rule.")
            kwargs["rule"] = f"top({k})"
        for name, parse in (("scoreFunc", as_score), ("rule", parse_rule), ("weighting", parse_weighting)):
            if name in kwargs:
                parse(kwargs[name])
        self._set(**kwargs)
        return self

    def _fit(self, dataset: DataFrame) -> TermVectorizerModel:
        weighting = parse_weighting(self.getWeighting())
        selects = self.isDefined(self.scoreFunc) or self.isDefined(self.rule)
        counts: Any = count(
            dataset,
            text=self.getInputCol(),
            label=self.getLabelCol() if selects or weighting.score is not None else None,
            analyzer=self.getAnalyzer(),
            min_df=self.getOrDefault(self.minDF),
        )
        kept = self._select(counts) if selects else np.arange(counts.n_terms)
        weights = weighting.compute_weights(counts)
        model = TermVectorizerModel(
            terms=counts.terms[kept].tolist(), weights=[] if weights is None else weights[kept].tolist()
        )
        fitted: TermVectorizerModel = self._copyValues(model)
        return fitted

    def _select(self, counts: Counts) -> Any:
        rule = self.getOrDefault(self.rule) if self.isDefined(self.rule) else f"top({counts.n_terms})"
        options = (self.getOrDefault(self.scoreFunc),) if self.isDefined(self.scoreFunc) else ()
        return np.sort(select(counts, rule, *options).index)


class TermVectorizerModel(Model, _TermParams, DefaultParamsReadable, DefaultParamsWritable):
    """What `TermVectorizer` has learned: the terms, one for each place of a vector, and their weights."""

    terms = Param(
        Params._dummy(), "terms", "the term of each place of a vector", typeConverter=TypeConverters.toListString
    )
    weights = Param(
        Params._dummy(), "weights", "the weight of each term; none: all 1", typeConverter=TypeConverters.toListFloat
    )

    @keyword_only
    def __init__(self, *, terms: Sequence[str] = (), weights: Sequence[float] = ()) -> None:
        super().__init__()
        self._setDefault(weighting="count", analyzer=json.dumps(Analyzer().settings))
        self._set(terms=list(terms), weights=list(weights))

    @property
    def vocabulary(self) -> list[str]:
        """The term of each place of a vector."""
        return list(self.getOrDefault(self.terms))

    def _transform(self, dataset: DataFrame) -> DataFrame:
        vectorize = _VectorMaker(
            tuple(self.vocabulary),
            tuple(self.getOrDefault(self.weights)),
            self.getWeighting(),
            self.getOrDefault(self.analyzer),
        )

        def make_vectors(texts: pa.Array) -> pa.Array:
            return vectorize(texts)

        udf = arrow_udf(make_vectors, VectorUDT())
        return dataset.withColumn(self.getOutputCol(), udf(dataset[self.getInputCol()]))


@dataclass(frozen=True)
class _VectorMaker:
    """Texts to sparse vectors, on executors."""

    terms: tuple[str, ...]
    weights: tuple[float, ...]
    weighting: str
    analyzer: str

    def __call__(self, texts: pa.Array) -> pa.Array:
        """Return a vector for each text; a text that is missing has none of the terms."""
        return _make_pool(self).vectors(texts)


@cache
def _make_pool(vectorize: _VectorMaker) -> _VectorReaders:
    """Make the readers once for all batches of a worker."""
    return _VectorReaders(vectorize)


class _VectorReaders:
    def __init__(self, vectorize: _VectorMaker) -> None:
        analyzer = Analyzer.from_settings(json.loads(vectorize.analyzer))
        self._tokens = analyzer.analyzer == "tokens"
        extractor = TermExtractor(analyzer, None, str, from_content=True)
        self._readers = ReaderPool(extractor, pa.array(vectorize.terms, pa.large_string()))
        self._weighting = parse_weighting(vectorize.weighting)
        self._weights = np.array(vectorize.weights) if vectorize.weights else None

    def vectors(self, texts: pa.Array) -> pa.Array:
        kind = pa.large_list(pa.large_string()) if self._tokens else pa.large_string()
        filled = texts.cast(kind).fill_null(pa.scalar([] if self._tokens else "", kind))
        matrix = self._readers.matrix(pa.chunked_array([filled]), 1, binary=False)
        found = self._weighting.apply(matrix, self._weights, np.float64)
        found.sort_indices()
        n = found.shape[0]
        ends = pa.array(found.indptr, pa.int32())
        columns = [
            pa.array(np.full(n, _SPARSE, np.int8)),
            pa.array(np.full(n, found.shape[1], np.int32)),
            pa.ListArray.from_arrays(ends, pa.array(found.indices, pa.int32())),
            pa.ListArray.from_arrays(ends, pa.array(found.data, pa.float64())),
        ]
        return pa.StructArray.from_arrays(columns, fields=list(_VECTOR))

r"""Weights: what a matrix of occurrences holds in the end.

With tf the occurrences of a term in a document, N the documents that were learned from, n those with the term:

===============  ==========================================  ======  =================================================
``count``        tf                                                  whole numbers
``binary``       1 where tf > 0                                      whole numbers
``tfidf``        tf (ln((1 + N) / (1 + n)) + 1)              cosine  scikit-learn's ``TfidfTransformer`` as it comes
``tfidf_log``    (1 + ln tf) (ln((1 + N) / (1 + n)) + 1)     cosine  the same with ``sublinear_tf=True``
``tfidf_ltc``    (1 + ln tf) ln(N / n)                       cosine  "ltc" of the SMART system
``tfidf_lp``     tf ln(N / n + 0.1)                          cosine  the imbalanced-text paper, equations 1 and 2
``tf.<score>``   tf s                                        cosine  s: the overall score of the term, from the labels
===============  ==========================================  ======  =================================================

"Cosine": each row is divided by its Euclidean length; a row without terms stays zero. A term of a given vocabulary that
no document has (n = 0) has the weight 0, but in ``tfidf`` and ``tfidf_log``, which are defined there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import sparse

from termsieve._types import Array
from termsieve.counts.counts import Counts
from termsieve.errors import OptionError, did_you_mean
from termsieve.ranking.ranking import score
from termsieve.scores import Score, parse_score

UNWEIGHTED = ("count", "binary")
UNSUPERVISED = ("tfidf", "tfidf_log", "tfidf_ltc", "tfidf_lp")
_SCORE_PREFIX = "tf."


@dataclass(frozen=True)
class Weighting:
    """How occurrences are weighted.

    Attributes
    ----------
    name
        As it is spelled.
    score
        The score that weighs terms, for ``tf.<score>``.
    """

    name: str
    score: Score | None = None

    @property
    def plain(self) -> bool:
        """Whether the matrix holds whole numbers, and no weights have to be learned."""
        return self.name in UNWEIGHTED

    @property
    def occurrences(self) -> str:
        """What tf occurrences count for before weights: tf ("count"), 1 ("binary"), or 1 + ln tf ("log")."""
        return {"binary": "binary", "tfidf_log": "log", "tfidf_ltc": "log"}.get(self.name, "count")

    def compute_weights(self, counts: Counts) -> Array | None:
        """Compute the weight of each term; None where all weigh the same."""
        if self.plain:
            return None
        n, n_docs = counts.term_df.astype(np.float64), float(counts.n_docs)
        if self.score is not None:
            return self._check(score(counts, self.score).overall(), counts)
        if self.name in ("tfidf", "tfidf_log"):
            return np.asarray(np.log((1.0 + n_docs) / (1.0 + n)) + 1.0)
        more = 0.1 if self.name == "tfidf_lp" else 0.0
        return np.where(n > 0, np.log(n_docs / np.maximum(n, 1.0) + more), 0.0)

    def _check(self, weights: Array, counts: Counts) -> Array:
        weights = np.where(counts.term_df > 0, weights, 0.0)
        bad = np.flatnonzero(~np.isfinite(weights))
        if len(bad):
            raise OptionError(
                f"weighting={self.name!r}: the score of {counts.term_array[int(bad[0])].as_py()!r} is "
                f"{weights[bad[0]]}, which is not a weight ({len(bad):,} terms). Take a score that is finite, such as "
                "'tf.bns', 'tf.chi2' or 'tf.relevance_freq'."
            )
        return weights

    def apply(self, X: sparse.csr_array, weights: Array | None, dtype: Any, *, cosine: bool = True) -> sparse.csr_array:
        """Weight a matrix of occurrences, which may be changed. Without `cosine`, rows keep their length."""
        if self.occurrences == "binary":
            X.data.fill(1)
        if weights is None:
            return X if X.dtype == dtype else _cast(X, np.dtype(dtype))
        from sklearn.preprocessing import normalize

        kind = np.dtype(dtype)
        data = X.data.astype(kind if kind.kind == "f" else np.float64)
        if self.occurrences == "log":
            data = np.log(data) + 1.0
        data *= weights[X.indices]
        weighted = sparse.csr_array((data, X.indices, X.indptr), shape=X.shape)
        return sparse.csr_array(normalize(weighted, copy=False)) if cosine else weighted


def _cast(X: sparse.csr_array, kind: np.dtype[Any]) -> sparse.csr_array:
    if kind.kind in "iu" and X.data.max(initial=0) > np.iinfo(kind).max:
        raise OptionError(
            f"dtype={kind.name!r} has no room for {X.data.max():,} occurrences of a term in a document. Take a larger "
            "type, such as 'int64'."
        )
    return sparse.csr_array(X.astype(kind))


def parse_weighting(name: Any) -> Weighting:
    """Return the weighting of that name.

    >>> parse_weighting("tf.bns").score
    <Score bns>
    """
    if isinstance(name, str) and (name in (*UNWEIGHTED, *UNSUPERVISED) or name.startswith(_SCORE_PREFIX)):
        return _make_weighting(name)
    known = ", ".join(map(repr, (*UNWEIGHTED, *UNSUPERVISED)))
    hint = did_you_mean(str(name), (*UNWEIGHTED, *UNSUPERVISED))
    raise OptionError(f"Unknown weighting {name!r}. {hint}Known: {known}, or 'tf.' and a score, such as 'tf.bns'.")


@lru_cache  # weightings do not change, and neither does what a score is called
def _make_weighting(name: str) -> Weighting:
    of_score = name.startswith(_SCORE_PREFIX)
    return Weighting(name, parse_score(name.removeprefix(_SCORE_PREFIX)) if of_score else None)

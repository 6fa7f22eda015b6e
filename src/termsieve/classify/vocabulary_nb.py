"""Multinomial naive Bayes that sees some terms, and is smoothed over all words of the training documents."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from sklearn.naive_bayes import MultinomialNB

from termsieve._types import Array
from termsieve.errors import OptionError


class VocabularyNB(MultinomialNB):  # type: ignore[misc]
    """Multinomial naive Bayes with the words of all training documents in the denominator of its smoothing.

    P(term | class) is (occurrences + alpha) / (sum + alpha n_words). Where terms were selected, some papers take for
    n_words the number of all distinct words of the training documents, and sum over the selected terms or over all.

    Parameters
    ----------
    alpha, force_alpha, fit_prior, class_prior
        As for scikit-learn's MultinomialNB.
    total : {"selected", "all"}
        What the sum in the denominator runs over: the columns, or all words (`class_totals`).
    n_words : int, optional
        Distinct words of the training documents. `termsieve.curve` and `termsieve.compare`, which have all of them,
        fill it in; without it there are as many as columns, and the model is MultinomialNB.
    class_totals : array of shape (n_classes,), optional
        Occurrences of all words in each class; filled in likewise.

    Examples
    --------
    >>> model = VocabularyNB(n_words=10).fit([[3, 1], [0, 2]], ["sea", "money"])
    >>> np.exp(model.feature_log_prob_).round(3).tolist()  # money: 1 and 3, sea: 4 and 2
    [[0.083, 0.25], [0.286, 0.143]]
    """

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        total: Literal["selected", "all"] = "selected",
        n_words: int | None = None,
        class_totals: Any = None,
    ) -> None:
        super().__init__(alpha=alpha, force_alpha=force_alpha, fit_prior=fit_prior, class_prior=class_prior)
        self.total = total
        self.n_words = n_words
        self.class_totals = class_totals

    def denominators(self, counts: Array) -> Array:
        """Return the denominator of each class (rows), for each number of first columns of the counts."""
        if self.total not in ("selected", "all"):
            raise OptionError(f"total must be 'selected' or 'all', not {self.total!r}.")
        # where no training document has a word, all classes have the denominator of one word, and none is zero
        n_words = None if self.n_words is None else max(self.n_words, 1)
        terms = np.arange(1, counts.shape[1] + 1) if n_words is None else np.full(counts.shape[1], n_words)
        if self.total == "all" and self.class_totals is not None:
            sums = np.broadcast_to(np.asarray(self.class_totals, np.float64).reshape(-1, 1), counts.shape)
        else:
            sums = np.cumsum(counts, axis=1)
        return np.asarray(sums + self.alpha * terms)

    def _update_feature_log_prob(self, alpha: Any) -> None:
        last = self.denominators(self.feature_count_)[:, -1:]
        self.feature_log_prob_ = np.log(self.feature_count_ + alpha) - np.log(last)

"""scikit-learn: TermSelector (matrix in), TermVectorizer (text in)."""

from termsieve.estimators.selector import TermSelector, as_score_func


__all__ = ["TermSelector", "as_score_func"]

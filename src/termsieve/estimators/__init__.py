"""scikit-learn: TermSelector (matrix in), TermVectorizer (text in)."""

from termsieve.estimators.selector import TermSelector, as_score_func
from termsieve.estimators.vectorizer import TermVectorizer

__all__ = ["TermSelector", "TermVectorizer", "as_score_func"]

"""Texts or a matrix, and labels, come in; a matrix of the selected terms goes out: estimators of scikit-learn.

::

    vectorizer   TermVectorizer: text in
    selector     TermSelector: matrix in; as_score_func(): our scores in scikit-learn's selectors
    extraction   text to rows of terms
    weighting    weights of terms and documents: counts, tf-idf and others
    labels       labels as estimators take them
    output       frames, where set_output asks for them
    state        what is pickled
"""

from termsieve.estimators.selector import TermSelector, as_score_func
from termsieve.estimators.vectorizer import TermVectorizer

__all__ = ["TermSelector", "TermVectorizer", "as_score_func"]

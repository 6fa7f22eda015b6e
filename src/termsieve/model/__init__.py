"""Labelled documents come in; a `Model` that labels texts and explains its labels goes out.

::

    train_model    train(): compare, take the recommendation, fit it to all documents
    model          Model: predict, explain, save and load
    explaining     what each term contributes to a decision
    parts          vectorizer and classifier as plain data, and back
    container      plain data as the bytes of a file, and back
"""

from termsieve.model.explaining import Explanation, TermContribution
from termsieve.model.model import Model
from termsieve.model.train_model import train

__all__ = ["Explanation", "Model", "TermContribution", "train"]

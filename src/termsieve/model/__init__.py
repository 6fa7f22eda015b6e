"""Models: terms selected and a classifier fitted in one go, kept in one file, and asked why.

::

    training     train(): the choice by cross-validation, then the fit on everything
    models       Model: predicts, explains, is saved with skops and loaded again
    explaining   what each term contributes to a decision, for models that add terms up
"""

from termsieve.model.explaining import Explanation, TermContribution
from termsieve.model.model import Model
from termsieve.model.train_model import train

__all__ = ["Explanation", "Model", "TermContribution", "train"]

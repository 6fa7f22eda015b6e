"""Labelled documents come in; a `Model` that labels texts and explains its labels goes out.

::

    train_model    train(): compare, take the recommendation, fit it to all documents
    from_counts    a model from counts alone
    fitting        the fit to all documents, and to parts of them, so that the others are held out
    model          Model: predict, explain, save and load
    calibration    curves from the log odds of a classifier to probabilities
    calibrating    the choice of the curves and of thresholds from held-out documents, and how good they are
    explaining     what each term contributes to a decision
    parts          vectorizer and classifier as plain data, and back
    decision_parts prior, curves and thresholds as plain data, and back
    container      plain data as the bytes of a file, and back
    exporting/     files that label texts without this library
    weighted_sum   the classifier of a model that was read from such a file
"""

from termsieve.model.explaining import Explanation, TermContribution
from termsieve.model.model import Model
from termsieve.model.train_model import train, train_recommended

__all__ = ["Explanation", "Model", "TermContribution", "train", "train_recommended"]

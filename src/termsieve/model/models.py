"""Model: a vectorizer and a classifier, fitted together; kept in one file without pickle."""

from __future__ import annotations

import copy
import io
import warnings
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.multiclass import OneVsRestClassifier

from termsieve.classify import RECIPES
from termsieve.errors import InputError
from termsieve.estimators import TermVectorizer
from termsieve.extras import import_extra
from termsieve.model.explaining import Explanation, explained
from termsieve.storage import write_whole
from termsieve.tokens import Analyzer, settings_difference

FORMAT = 1

# What a file of a model may hold beside what skops trusts by itself (plain values, arrays, scikit-learn's estimators).
TRUSTED = (
    "termsieve.estimators.vectorizer.TermVectorizer",
    "termsieve.poisson.PoissonNB",
    "termsieve.probit.ProbitClassifier",
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "scipy.sparse._csr.csr_matrix",
)


class Model:
    """Labels texts. Made by `train` or `Model.load`.

    Attributes
    ----------
    classes : list of str
        The labels.
    single : bool
        Each document has one label; otherwise any number of them.
    vectorizer, classifier
        The fitted parts, as scikit-learn has them.
    settings : dict
        How it was made: score, rule, weighting, classifier, numbers of documents and terms, cross-validated measures,
        the settings of the analyzer.
    """

    def __init__(
        self,
        vectorizer: TermVectorizer,
        classifier: BaseEstimator,
        classes: list[str],
        *,
        single: bool,
        settings: dict[str, Any],
    ) -> None:
        self.vectorizer, self.classifier, self.classes = vectorizer, classifier, classes
        self.single, self.settings = single, settings

    def __repr__(self) -> str:
        s = self.settings
        judged = f", F1 {s['f1_macro']:.3f} in {s['cv']} folds" if s["cv"] else ""
        return (
            f"Model of {len(self.classes):,} classes: {s['classifier']} on {s['weighting']} of {s['n_terms']:,} terms "
            f"({s['rule']} by {s['score']}), from {s['n_docs']:,} documents{judged}"
        )

    def predict(self, texts: Sequence[str]) -> list[Any]:
        """The label of each text; with several labels per document, a list for each."""
        return self.named(self.classifier.predict(self.matrix(texts))) if len(texts) else []

    def predict_proba(self, texts: Sequence[str]) -> npt.NDArray[np.float64] | None:
        """The probability of each class (texts x classes), where the classifier has them; else None."""
        if not self.has_probabilities:
            return None
        if not len(texts):
            return np.empty((0, len(self.classes)))
        return self.probabilities(self.matrix(texts))

    def explain(self, texts: Sequence[str], n: int = 10) -> list[list[Explanation]]:
        """For each text and each of its labels, the n terms that weigh most, for or against."""
        return explained(self, self.matrix(texts), n) if len(texts) else []

    # The same, from a matrix that was made already

    def matrix(self, texts: Sequence[str]) -> Any:
        """Texts x terms, as the classifier takes them."""
        return self.vectorizer.transform(texts)

    def named(self, predicted: npt.NDArray[Any]) -> list[Any]:
        """Predictions of the classifier by name."""
        if self.single:
            return [self.classes[place] for place in predicted]
        rows = sparse.csr_array(predicted)
        rows.sort_indices()
        return [[self.classes[place] for place in some] for some in np.split(rows.indices, rows.indptr[1:-1])]

    @property
    def has_probabilities(self) -> bool:
        """Whether the classifier gives probabilities."""
        return hasattr(self.classifier, "predict_proba")

    def probabilities(self, X: Any) -> npt.NDArray[np.float64]:
        """Probabilities of the classes; a class that the classifier never saw has 0."""
        found = np.asarray(self.classifier.predict_proba(X))
        if not self.single or found.shape[1] == len(self.classes):
            return found
        whole = np.zeros((len(found), len(self.classes)))
        whole[:, self.classifier.classes_] = found
        return whole

    # Kept in a file

    def save(self, path: str | Path) -> None:
        """Write one file, with everything that is needed to label texts; no pickle."""
        skops_io = import_extra("skops.io", "Saving a model")
        content = {
            "format": FORMAT,
            "vectorizer": _lean(self.vectorizer),
            "classifier": self.classifier,
            "classes": self.classes,
            "single": self.single,
            "settings": self.settings,
        }
        target = io.BytesIO()
        skops_io.dump(content, target, compression=zipfile.ZIP_DEFLATED)
        write_whole(path, [target.getvalue()])

    @classmethod
    def load(cls, path: str | Path) -> Model:
        """Read a file that `save` wrote. Types that no model has are refused, before anything of them is made."""
        skops_io = import_extra("skops.io", "Loading a model")
        try:
            content = Path(path).read_bytes()
        except FileNotFoundError as error:
            raise InputError(f"There is no file {path}.") from error
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error.strerror}.") from error
        if not content:
            raise InputError(f"{path} is empty: it has no bytes.")
        try:
            foreign = sorted(set(skops_io.get_untrusted_types(data=content)) - set(TRUSTED))
            found = None if foreign else skops_io.loads(content, trusted=list(TRUSTED))
        except Exception as error:  # whatever bytes make of zip, JSON and NumPy
            said = str(error).rstrip(".") or type(error).__name__
            raise InputError(f"{path}: is no model of termsieve: {said}.") from error
        if foreign:
            raise InputError(f"{path}: is refused: it holds {', '.join(foreign)}, which no model of termsieve has.")
        return cls(**_checked(path, found))


def _lean(vectorizer: TermVectorizer) -> TermVectorizer:
    """Only what labels texts: not how the terms were ranked."""
    lean: TermVectorizer = copy.copy(vectorizer)
    lean.__dict__.pop("selection_", None)
    return lean


def _checked(path: str | Path, found: Any) -> dict[str, Any]:
    names = ("vectorizer", "classifier", "classes", "single", "settings")
    if not isinstance(found, dict) or not {"format", *names} <= found.keys():
        raise InputError(f"{path}: is no model of termsieve: it holds {type(found).__name__}.")
    if found["format"] != FORMAT:
        raise InputError(
            f"{path}: has version {found['format']!r} of the format; this termsieve reads version {FORMAT}. A newer "
            "termsieve may read it."
        )
    classifier = found["classifier"]
    inner = classifier.estimator if isinstance(classifier, OneVsRestClassifier) else classifier
    known = {recipe.where.rpartition(".")[2] for recipe in RECIPES.values()}
    if type(found["vectorizer"]) is not TermVectorizer or type(inner).__name__ not in known:
        raise InputError(f"{path}: is no model of termsieve: its classifier is {type(inner).__name__}.")
    _warn_of_other_terms(path, found["settings"])
    return {name: found[name] for name in names}


def _warn_of_other_terms(path: str | Path, settings: dict[str, Any]) -> None:
    """Say so where this machine may cut text into other terms than the one on which the model was made."""
    try:
        there = settings["analyzer"]
        here = Analyzer.from_settings(there).settings
    except (KeyError, TypeError) as error:
        raise InputError(f"{path}: is no model of termsieve: its analyzer is not understood.") from error
    if here != there:
        warnings.warn(
            f"{path}: was made with other parts, and terms may differ: {settings_difference(here, there)}.",
            UserWarning,
            stacklevel=4,
        )

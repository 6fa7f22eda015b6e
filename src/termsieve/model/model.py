"""Model: a vectorizer and a classifier, fitted together and saved as plain data in one file."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from termsieve._types import AnyArray, Array
from termsieve.errors import InputError, MissingExtraError, OptionError, TermsieveWarning
from termsieve.estimators import TermVectorizer
from termsieve.files import write_atomically
from termsieve.model.container import MAX_BYTES, pack, unpack
from termsieve.model.explaining import Explanation, explain_rows
from termsieve.model.parts import (
    FORMAT,
    check_about,
    pack_classifier,
    pack_vectorizer,
    try_classifier,
    unpack_classifier,
    unpack_vectorizer,
)
from termsieve.tokens.analyzer import Analyzer, is_safe_pattern, settings_difference, tokenizer_name


class Model:
    """A classifier of texts, made by `train` or `Model.load`.

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

    Examples
    --------
    >>> import termsieve as ts
    >>> texts = ["cheap pills", "cheap watches", "buy pills", "noon meeting", "lunch at noon", "meeting at ten"]
    >>> model = ts.train(texts, ["spam"] * 3 + ["ham"] * 3, scores="chi2", ks=4, classifiers="multinomial_nb", cv=3)
    >>> model.classes
    ['ham', 'spam']
    >>> model.predict(["pills, cheap", "a meeting"])
    ['spam', 'ham']
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
        """Return the label of each text; with several labels per document, a list for each."""
        return self.label_names(self.classifier.predict(self.to_matrix(texts))) if len(texts) else []

    def predict_proba(self, texts: Sequence[str]) -> Array | None:
        """Return the probability of each class (texts x classes), or None if the classifier has none."""
        if not self.has_probabilities:
            return None
        if not len(texts):
            return np.empty((0, len(self.classes)))
        return self.probabilities(self.to_matrix(texts))

    def explain(self, texts: Sequence[str], n: int = 10) -> list[list[Explanation]]:
        """Return for each text and each of its labels the n terms with the largest contributions, for or against."""
        return explain_rows(self, self.to_matrix(texts), n) if len(texts) else []

    # For a matrix that exists already

    def to_matrix(self, texts: Sequence[str]) -> Any:
        """Return the matrix (texts x terms) that the classifier takes."""
        return self.vectorizer.transform(texts)

    def label_names(self, predicted: AnyArray) -> list[Any]:
        """Return predictions of the classifier as names of classes."""
        if self.single:
            return [self.classes[place] for place in predicted]
        rows = sparse.csr_array(predicted)
        rows.sort_indices()
        return [[self.classes[place] for place in some] for some in np.split(rows.indices, rows.indptr[1:-1])]

    @property
    def has_probabilities(self) -> bool:
        """Whether the classifier has probabilities."""
        return hasattr(self.classifier, "predict_proba")

    def probabilities(self, X: Any) -> Array:
        """Return the probabilities of the classes; a class that the classifier never saw has 0."""
        known = np.asarray(self.classifier.predict_proba(X))
        if not self.single or known.shape[1] == len(self.classes):
            return known
        whole = np.zeros((len(known), len(self.classes)))
        whole[:, self.classifier.classes_] = known
        return whole

    # Files

    def save(self, path: str | Path) -> None:
        """Write one file, with everything that is needed to label texts: names, numbers and arrays.

        Models of the same training are the same bytes. What a classifier learned beside that, such as how many steps it
        took, is not kept.
        """
        write_atomically(path, [self._to_bytes()])

    def _to_bytes(self) -> bytes:
        terms, weights = pack_vectorizer(self.vectorizer, self.settings)
        constants, arrays = pack_classifier(self.classifier, self.settings["classifier"], single=self.single)
        about = {
            "format": FORMAT, "classes": self.classes, "single": self.single, "settings": self.settings,
            "terms": terms, "constants": constants,
        }  # fmt: skip
        try:
            check_about(about)
            return pack(about, {**weights, **arrays})
        except (TypeError, ValueError) as error:
            raise OptionError(f"The model cannot be saved: {error}.") from error

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        tokenizer: Callable[[str], list[str]] | str | None = None,
        token_pattern: str | None = None,
        max_bytes: int = MAX_BYTES,
    ) -> Model:
        r"""Read a file that `save` wrote.

        A file may be from anybody: nothing that it names is imported, opened or run, and one that no training can have
        made is refused.

        Parameters
        ----------
        path
            The file.
        tokenizer
            The function that cuts texts into words, or its name, such as ``"package.module:function"``: needed where
            the model was trained with a tokenizer, and it must be the same.
        token_pattern
            The token pattern of the model: needed where it is not of the kind ``\w+``, as other patterns can be made
            to search without end.
        max_bytes
            The most bytes that are unpacked.
        """
        content = _read(path, max_bytes)
        try:
            about, arrays = unpack(content, max_bytes)
            check_about(about)
            settings = about["settings"]
            analyzer = _load_analyzer(path, settings["analyzer"], tokenizer, token_pattern)
            vectorizer = unpack_vectorizer(about["terms"], arrays, settings, analyzer)
            classifier = unpack_classifier(
                about["constants"], arrays, settings["classifier"], single=about["single"],
                n_classes=len(about["classes"]), n_terms=len(about["terms"]),
            )  # fmt: skip
            try_classifier(classifier, len(about["terms"]))
        except (UnconfirmedError, MissingExtraError):
            raise
        except Exception as error:  # whatever zip, JSON, NumPy and scikit-learn raise for damaged bytes
            reason = str(error).rstrip(".") or type(error).__name__
            raise InputError(f"{path}: is not a model of termsieve: {reason}.") from error
        _warn_other_terms(path, analyzer.settings, settings["analyzer"])
        return cls(vectorizer, classifier, about["classes"], single=about["single"], settings=settings)


class UnconfirmedError(OptionError):
    """An error for a tokenizer or a pattern of the file that the user has not confirmed."""


def _read(path: str | Path, max_bytes: int) -> bytes:
    try:
        with Path(path).open("rb") as file:
            content = file.read(max_bytes + 1)
    except FileNotFoundError as error:
        raise InputError(f"There is no file {path}.") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}.") from error
    if not content:
        raise InputError(f"{path} is empty: it has no bytes.")
    if len(content) > max_bytes:
        raise InputError(f"{path}: is not a model of termsieve: it has more than {max_bytes:,} bytes.")
    return content


def _load_analyzer(path: str | Path, settings: Any, tokenizer: Any, token_pattern: str | None) -> Analyzer:
    """Make the analyzer of the model, with a tokenizer and pattern that the user confirms."""
    Analyzer.from_settings(settings)  # names and types, before anything of it is looked at
    name, pattern = settings["tokenizer"], settings["token_pattern"]
    if tokenizer is not None and tokenizer_name(tokenizer) != name:
        raise UnconfirmedError(f"{path}: has the tokenizer {name!r}, not {tokenizer_name(tokenizer)!r}.")
    if token_pattern is not None and token_pattern != pattern:
        raise UnconfirmedError(f"{path}: has the token pattern {pattern!r}, not {token_pattern!r}.")
    if name is not None and tokenizer is None:
        raise UnconfirmedError(
            f"{path}: splits texts with the function {name!r}. A function named in a file is not run; if you trust it, "
            f"name it: --trust-tokenizer {shlex.quote(name)}, or Model.load(path, tokenizer={name!r})."
        )
    uses_pattern = name is None and settings["analyzer"] == "word"
    if uses_pattern and token_pattern is None and not is_safe_pattern(pattern):
        raise UnconfirmedError(
            f"{path}: splits texts with the pattern {pattern!r}, and patterns of this kind may search without "
            f"end. If you trust it, give it: --trust-pattern {shlex.quote(pattern)}, or "
            f"Model.load(path, token_pattern={pattern!r})."
        )
    if token_pattern is not None:
        Analyzer(token_pattern=token_pattern)  # checked, and given by the user from now on
    return Analyzer.from_settings(settings)


def _warn_other_terms(path: str | Path, here: dict[str, Any], there: dict[str, Any]) -> None:
    """Warn if this machine may cut text into other terms than the machine of the training."""
    if here != there:
        warnings.warn(
            f"{path}: was made with other versions, and terms may differ: {settings_difference(here, there)}.",
            TermsieveWarning,
            stacklevel=3,
        )

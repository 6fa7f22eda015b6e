"""Model: a vectorizer and a classifier, fitted together and saved as plain data in one file."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Callable, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from scipy import sparse
from sklearn.base import BaseEstimator

from termsieve._types import Array, BoolArray
from termsieve.defaults import MAX_MODEL_BYTES
from termsieve.documents.sources import refuse_missing
from termsieve.errors import InputError, MissingExtraError, OptionError, TermsieveWarning
from termsieve.estimators import TermVectorizer
from termsieve.files import write_atomically
from termsieve.model.calibrating import EVEN, Decision, mark_most_probable
from termsieve.model.calibration import find_log_odds, gives_probabilities
from termsieve.model.container import pack, unpack
from termsieve.model.decision_parts import check_report, pack_decision, unpack_decision
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
from termsieve.tokens.analyzer import Analyzer, settings_difference
from termsieve.tokens.patterns import is_safe_pattern
from termsieve.tokens.tokenizers import tokenizer_name
from termsieve.views import format_measure


class LabelledRows(NamedTuple):
    """What a model says of the rows of a matrix.

    Attributes
    ----------
    labels : array of bool (rows x classes)
    probabilities : array (rows x classes) or None
    known : array of bool (rows)
        Whether the row has at least one term of the model.
    """

    labels: BoolArray
    probabilities: Array | None
    known: BoolArray


def find_known(X: Any) -> BoolArray:
    """Return which rows of a matrix have a term at all."""
    return np.asarray(np.diff(sparse.csr_array(X).indptr) > 0)


def check_confidence(model: Model, min_confidence: float) -> None:
    """Refuse what is not a probability, and a model that has none."""
    if not isinstance(min_confidence, Real) or not 0 <= float(min_confidence) <= 1:
        raise OptionError(f"The least confidence must be a probability from 0 to 1, not {min_confidence!r}.")
    if min_confidence > 0:
        require_probabilities(model)


def require_probabilities(model: Model) -> None:
    """Refuse a model without probabilities."""
    if not model.has_probabilities:
        raise OptionError(
            f"The model has no probabilities: {model.settings['classifier']} has none of its own, and it was trained "
            "without calibration. Train it again, without --calibrate 0 (calibrate=0) and with more documents."
        )


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
        the settings of the analyzer. ``settings["calibration"]`` says how good the probabilities are: Brier score,
        expected calibration error (10 bins of equal width) and reliability table of held-out documents, and the same
        ``_before`` calibration; None without calibration. ``settings["duality_gap"]`` says how near to the optimum a
        linear support vector machine is (the largest of its classes, as a share of the objective); None for others.
        ``settings["duality_gaps"]`` has the largest of each classifier while they were compared.
    prior : array
        The probabilities of a text with none of the model's terms: the shares of the classes in the training documents
        with none of them, as if ten more had the shares of all; in all training documents if the model is of counts.
    decision : Decision or None
        How probabilities and labels follow from what the classifier says; None without calibration.

    Examples
    --------
    >>> import termsieve as ts
    >>> texts = ["cheap pills", "cheap watches", "buy pills", "noon meeting", "lunch at noon", "meeting at ten"]
    >>> model = ts.train(texts, ["spam"] * 3 + ["ham"] * 3, scores="chi2", ks=4, classifiers="multinomial_nb", cv=3)
    >>> model.classes
    ['ham', 'spam']
    >>> model.predict(["pills, cheap", "a meeting"])
    ['spam', 'ham']
    >>> model.has_terms(["pills, cheap", "zzz"]).tolist()
    [True, False]
    """

    def __init__(
        self,
        vectorizer: TermVectorizer,
        classifier: BaseEstimator,
        classes: list[str],
        *,
        single: bool,
        settings: dict[str, Any],
        prior: Array,
        decision: Decision | None = None,
    ) -> None:
        self.vectorizer, self.classifier, self.classes = vectorizer, classifier, classes
        self.single, self.settings = single, settings
        self.prior, self.decision = prior, decision

    def __repr__(self) -> str:
        s = self.settings
        n_splits = s.get("n_splits")
        where = "" if n_splits is None else " on one split" if n_splits == 1 else f" in {n_splits} splits"
        judged = f", F1 {format_measure(s['f1_macro'])}{where}" if s["cv"] else ""
        return (
            f"Model of {len(self.classes):,} classes: {s['classifier']} on {s['weighting']} of {s['n_terms']:,} terms "
            f"({s['rule']} by {s['score']}), from {s['n_docs']:,} documents{judged}"
        )

    def predict(self, texts: Sequence[str], *, min_confidence: float = 0.0) -> list[Any]:
        """Return the label of each text; with several labels per document, a list for each.

        A text with none of the model's terms gets the class most frequent among such documents: see `has_terms`.

        Parameters
        ----------
        texts
            The texts.
        min_confidence
            Labels less probable than this are not given: None in place of the label, or a shorter list.
        """
        check_confidence(self, min_confidence)
        return self.name_labels(self.label_rows(self.to_matrix(texts), min_confidence).labels) if len(texts) else []

    def predict_proba(self, texts: Sequence[str]) -> Array | None:
        """Return the probability of each class (texts x classes), or None if the model has no probabilities.

        With one label per document the probabilities of a text add up to 1. With several, each is that of the class
        against its absence. They are calibrated on held-out documents; those of a text with none of the model's terms
        are the prior.
        """
        if not self.has_probabilities:
            return None
        if not len(texts):
            return np.empty((0, len(self.classes)))
        return self.probabilities(self.to_matrix(texts))

    def has_terms(self, texts: Sequence[str]) -> BoolArray:
        """Return whether each text has at least one of the model's terms; of others nothing is known but the prior."""
        return find_known(self.to_matrix(texts)) if len(texts) else np.zeros(0, np.bool_)

    def explain(self, texts: Sequence[str], n: int = 10) -> list[list[Explanation]]:
        """Return for each text and each of its labels the n terms with the largest contributions, for or against."""
        if isinstance(n, bool) or not isinstance(n, Integral) or n < 0:
            raise OptionError(f"n must be a whole number of terms, 0 or more, not {n!r}.")
        return explain_rows(self, self.to_matrix(texts), int(n)) if len(texts) else []

    # For a matrix that exists already

    def to_matrix(self, texts: Sequence[str] | pa.ChunkedArray) -> Any:
        """Return the matrix (texts x terms) that the classifier takes."""
        return self.vectorizer.transform(texts)

    def label_rows(self, X: Any, min_confidence: float = 0.0) -> LabelledRows:
        """Return the labels and probabilities of the rows of a matrix."""
        known, chances = find_known(X), None
        if self.decision is not None:
            chances = self.probabilities(X)
            labels = self.decision.find_labels(chances, known)
        else:
            labels = self._mark_own_labels(X, known)
            if self.has_probabilities:
                own = self._find_own_probabilities(X)
                chances = self._fill_in_prior(own, known)
                if self.single:
                    labels[np.isnan(own).any(axis=1)] = mark_most_probable(self.prior[None])
        if chances is not None and min_confidence > 0:
            labels &= chances >= min_confidence
        return LabelledRows(labels, chances, known)

    def _mark_own_labels(self, X: Any, known: BoolArray) -> BoolArray:
        """Return the labels that the classifier itself gives; rows without a term get those of the prior."""
        predicted = self.classifier.predict(X)
        if not self.single:
            marked: BoolArray = sparse.csr_array(predicted).toarray().astype(np.bool_)
            return np.where(known[:, None], marked, self.prior > EVEN)
        marked = np.zeros((len(known), len(self.classes)), np.bool_)
        marked[np.arange(len(known)), predicted] = True
        return np.where(known[:, None], marked, mark_most_probable(self.prior[None]))

    def name_labels(self, marked: BoolArray) -> list[Any]:
        """Return marks (rows x classes) as names of classes."""
        names = [[self.classes[place] for place in np.flatnonzero(row)] for row in marked]
        return [(some[0] if some else None) for some in names] if self.single else names

    @property
    def has_probabilities(self) -> bool:
        """Whether the model has probabilities: it is calibrated, or the classifier has some of its own."""
        return self.decision is not None or gives_probabilities(self.classifier)

    def probabilities(self, X: Any) -> Array:
        """Return the probabilities of the classes; a class that the classifier never saw has 0.

        Where the classifier takes every class for impossible, as naive Bayes does without smoothing, it is the prior.
        """
        known = find_known(X)
        if self.decision is not None:
            return self.decision.find_probabilities(
                find_log_odds(self.classifier, X, single=self.single), known, self.prior
            )
        return self._fill_in_prior(self._find_own_probabilities(X), known)

    def _fill_in_prior(self, own: Array, known: BoolArray) -> Array:
        return np.where(known[:, None] & ~np.isnan(own), own, self.prior)

    def _find_own_probabilities(self, X: Any) -> Array:
        found = np.asarray(self.classifier.predict_proba(X))
        if not self.single or found.shape[1] == len(self.classes):
            return found
        whole = np.zeros((len(found), len(self.classes)))
        whole[:, self.classifier.classes_] = found
        return whole

    # Files

    def save(self, path: str | Path) -> None:
        """Write one file, with everything that is needed to label texts: names, numbers and arrays.

        Models of the same training are the same bytes. What a classifier learned beside that, such as how many steps it
        took, is not kept.
        """
        write_atomically(path, [self._to_bytes()])

    def export(self, path: str | Path, **options: Any) -> Path:
        """Write a file that labels texts without termsieve: see `termsieve.export`, which takes the same options."""
        from termsieve.model.exporting import export

        return export(self, path, **options)

    def _to_bytes(self) -> bytes:
        terms, weights = pack_vectorizer(self.vectorizer, self.settings)
        constants, arrays = pack_classifier(self.classifier, self.settings["classifier"], single=self.single)
        about = {
            "format": FORMAT, "classes": self.classes, "single": self.single, "settings": self.settings,
            "terms": terms, "constants": constants,
            "always_label": self.decision is not None and self.decision.always_label,
        }  # fmt: skip
        try:
            check_about(about)
            return pack(about, {**pack_decision(self.prior, self.decision), **weights, **arrays})
        except (TypeError, ValueError) as error:
            raise OptionError(f"The model cannot be saved: {error}.") from error

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        tokenizer: Callable[[str], list[str]] | str | None = None,
        token_pattern: str | None = None,
        max_bytes: int = MAX_MODEL_BYTES,
    ) -> Model:
        r"""Read a file that `save` wrote, or a ``.json`` file of `export`, which gives the same labels.

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
        if content.lstrip()[:1] == b"{":
            return _load_exported(path)
        try:
            about, arrays = unpack(content, max_bytes)
            check_about(about)
            settings = about["settings"]
            analyzer = _load_analyzer(path, settings["analyzer"], tokenizer, token_pattern)
            check_report(settings["calibration"])
            prior, decision = unpack_decision(
                arrays, settings, single=about["single"], n_classes=len(about["classes"]),
                always_label=about["always_label"],
            )  # fmt: skip
            vectorizer = unpack_vectorizer(about["terms"], arrays, settings, analyzer)
            classifier = unpack_classifier(
                about["constants"], arrays, settings["classifier"], single=about["single"],
                n_classes=len(about["classes"]), n_terms=len(about["terms"]),
            )  # fmt: skip
            try_classifier(classifier, len(about["terms"]))
            model = cls(
                vectorizer, classifier, about["classes"], single=about["single"], settings=settings, prior=prior,
                decision=decision,
            )  # fmt: skip
            _try_decision(model)
        except (UnconfirmedError, MissingExtraError):
            raise
        except Exception as error:  # whatever zip, JSON, NumPy and scikit-learn raise for damaged bytes
            reason = str(error).rstrip(".") or type(error).__name__
            raise InputError(f"{path}: is not a model of termsieve: {reason}.") from error
        _warn_other_terms(path, analyzer.settings, settings["analyzer"])
        return model


def _load_exported(path: str | Path) -> Model:
    from termsieve.model.exporting import load_exported

    return load_exported(path)


def _try_decision(model: Model) -> None:
    """Label one empty text: parts that do not fit together are found when a model is loaded, not when it is used."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.label_rows(sparse.csr_matrix((1, len(model.vectorizer.vocabulary_))))


class UnconfirmedError(OptionError):
    """An error for a tokenizer or a pattern of the file that the user has not confirmed."""


def _read(path: str | Path, max_bytes: int) -> bytes:
    refuse_missing(Path(path))
    try:
        with Path(path).open("rb") as file:
            content = file.read(max_bytes + 1)
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

"""train_in_bytes(): the best model that a number of bytes holds.

Whether fewer terms or fewer bits for each weight cost less is measured by cross-validation. In each fold, terms are
ranked, the classifier is fitted and its weights are rounded with the training part alone.
"""

from __future__ import annotations

import unicodedata
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.preprocessing import normalize

from termsieve._types import Array, BoolArray, Int64Array
from termsieve.counts.counting import resolve_threads
from termsieve.defaults import COMPACT_CLASSIFIER, COMPACT_FOLDS, COMPACT_SCORE, DEFAULT_MEASURE
from termsieve.documents import Documents
from termsieve.errors import InputError, OptionError, TermsieveWarning
from termsieve.estimators.weighting import parse_weighting
from termsieve.evaluate.differences import corrected_error
from termsieve.evaluate.measures import confusion
from termsieve.files import check_target, write_atomically
from termsieve.model.exporting import characters, forms, runtime
from termsieve.model.exporting.compact import pack, quantize
from termsieve.model.exporting.portable import to_portable
from termsieve.model.exporting.runtime import Predictor
from termsieve.model.fitting import ALL_TERMS, ModelSpec, TrainingMatrix, fit_parts
from termsieve.model.model import Model, find_known
from termsieve.study.corpus import Corpus, read_corpus
from termsieve.study.plan import AUTO
from termsieve.study.splits import make_splits
from termsieve.tokens.analyzer import Analyzer
from termsieve.tokens.patterns import is_safe_pattern

TRIED_WEIGHTINGS = ("binary", "tfidf_log")
TRIED_BITS = (2, 3, 4, 5, 6, 8)
TRIED_TERMS = (5, 10, 15, 20, 30, 40, 55, 75, 100, 130, 170, 220, 300, 400, 500, 650, 850, 1100, 1500, 2000, 3000, 4500,
               7000, 10_000, 15_000)  # fmt: skip
FRONT_BITS = (2, 4, 8)
FRONT_TERMS = (5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
COMPACT_ENDINGS = (".bin", ".py", ".js", ".mjs", ".html", ".htm")


class Choice(NamedTuple):
    """A weighting, numbers of terms and bits, the bytes that they need, and the mean macro-averaged F1 of the folds."""

    weighting: str
    terms: int
    bits: int
    n_bytes: int
    f1: float


class Front(NamedTuple):
    """What is best in how many bytes: no other choice with as few has as much F1. And the F1 of the full model."""

    choices: list[Choice]
    full_f1: float
    folds: int


class CompactModel(NamedTuple):
    """A model in few bytes.

    Attributes
    ----------
    data : dict
        The model, with its numbers rounded: `Predictor` takes it.
    content : bytes
        The compact form.
    chosen : Choice
    full_f1 : float
        The F1 of all terms and exact weights in the same folds, with the better weighting.
    standard_error : float
        Of the mean difference of both F1 between folds, with Nadeau and Bengio's correction.
    tried : list of Choice
        All that fitted into the bytes.
    """

    data: dict[str, Any]
    content: bytes
    chosen: Choice
    full_f1: float
    standard_error: float
    tried: list[Choice]

    def predict(self, text: str, n: int = 10) -> dict[str, Any]:
        """Return the label of a text, and the terms that decided, as exported files do."""
        return Predictor(self.data).predict(text, n)

    def export(self, path: str | Path, title: str | None = None) -> Path:
        """Write the compact form (``.bin``), or a program with it: ``.py``, ``.js``, ``.html``."""
        path = check_target(path)
        ending = check_ending(path)
        if ending == ".bin":
            content = self.content
        elif ending == ".py":
            content = forms.make_python(self.data, self.content).encode()
        elif ending in (".js", ".mjs"):
            content = forms.make_javascript(self.data, self.content).encode()
        else:
            content = forms.make_page(self.data, title or path.stem, self.content).encode()
        write_atomically(path, [content])
        return path


def check_ending(path: Path) -> str:
    """Return the ending of a file, if it is a form of a compact model."""
    ending = path.suffix.lower()
    if ending not in COMPACT_ENDINGS:
        raise OptionError(
            f"{path}: the ending {ending!r} is not a form of a compact model. Known are {', '.join(COMPACT_ENDINGS)}."
        )
    return ending


def train_in_bytes(
    documents: Documents | Sequence[str],
    labels: Sequence[Any] | None = None,
    *,
    n_bytes: int,
    score: str = COMPACT_SCORE,
    classifier: str = COMPACT_CLASSIFIER,
    weighting: str = AUTO,
    cv: int = COMPACT_FOLDS,
    seed: int = 0,
    analyzer: Analyzer | None = None,
    measure: Callable[[dict[str, Any]], int] | None = None,
) -> CompactModel:
    """Find the numbers of terms and of bits with the best F1 in this many bytes, and fit that to all documents.

    The F1 of the choice is the best of those that were tried, so it is a little too good.

    Parameters
    ----------
    documents, labels, analyzer
        As for `termsieve.train`.
    n_bytes
        The most bytes of the compact form.
    score, classifier, weighting
        One of each, as for `termsieve.train`; "auto" tries the weightings binary and tfidf_log.
    cv, seed
        The number of folds, and the seed by which they are drawn.
    measure
        The bytes that a model needs, where they are not those of the compact form: a function of its data.

    Examples
    --------
    >>> texts = ["cheap pills", "buy pills", "noon meeting", "lunch at noon"] * 5
    >>> model = train_in_bytes(texts, ["spam", "spam", "ham", "ham"] * 5, n_bytes=100)
    >>> len(model.content) <= 100
    True
    >>> model.predict("cheap pills")["label"]
    'spam'
    """
    corpus = read_corpus(documents, labels, analyzer or Analyzer(), [], resolve_threads(None))
    weightings = TRIED_WEIGHTINGS if weighting == AUTO else (weighting,)
    specs = [
        ModelSpec(score, ALL_TERMS, parse_weighting(one).name, classifier, 1, corpus.analyzer) for one in weightings
    ]
    data = TrainingMatrix.of(corpus)
    keys, tried, found, full = _try_all(data, specs, (TRIED_TERMS, TRIED_BITS), n_bytes, measure, (cv, seed))
    best = min(range(len(tried)), key=lambda i: (-tried[i].f1, tried[i].n_bytes))
    error = float(corrected_error(found[:, best] - full, ratio=1 / (len(full) - 1)))
    rounded = quantize(_fit(data, keys[best].spec, keys[best].terms)[1], keys[best].bits)
    return CompactModel(rounded, _pack(rounded, keys[best].spec), tried[best], float(full.mean()), error, tried)


def find_front(
    documents: Documents | Sequence[str] | Corpus,
    labels: Sequence[Any] | None = None,
    *,
    score: str,
    classifier: str,
    weighting: str,
    n_bytes: int = 65_536,
    cv: int = 3,
    seed: int = 0,
    analyzer: Analyzer | None = None,
) -> Front:
    """Return the best F1 in cross-validation for each number of bytes, on a coarser grid than `train_in_bytes`.

    Examples
    --------
    >>> texts = ["cheap pills", "buy pills", "noon meeting", "lunch at noon"] * 5
    >>> front = find_front(texts, ["spam", "spam", "ham", "ham"] * 5, score="chi2", classifier="linear_svm",
    ...                    weighting="binary")
    >>> [one.f1 for one in front.choices] == sorted(one.f1 for one in front.choices)
    True
    """
    corpus = read_corpus(documents, labels, analyzer or Analyzer(), [], resolve_threads(None))
    spec = ModelSpec(score, ALL_TERMS, parse_weighting(weighting).name, classifier, 1, corpus.analyzer)
    _, tried, _, full = _try_all(
        TrainingMatrix.of(corpus), [spec], (FRONT_TERMS, FRONT_BITS), n_bytes, None, (cv, seed)
    )
    choices: list[Choice] = []
    for one in sorted(tried, key=lambda one: (one.n_bytes, -one.f1)):
        if not choices or one.f1 > choices[-1].f1:
            choices.append(one)
    return Front(choices, float(full.mean()), len(full))


def _try_all(
    data: TrainingMatrix, specs: list[ModelSpec], grid: tuple[Sequence[int], Sequence[int]], n_bytes: int,
    measure: Callable[[dict[str, Any]], int] | None, folds: tuple[int, int],
) -> tuple[list[Key], list[Choice], Array, Array]:  # fmt: skip
    """Return what fits into the bytes, its mean F1, the F1 in each fold, and those of the better full model."""
    terms, bits = grid
    ks = [k for k in terms if k < data.X.shape[1]] + [data.X.shape[1]]
    fitting = {
        key: size for spec in specs for key, size in _find_fitting(data, spec, (ks, bits), n_bytes, measure).items()
    }
    if not fitting:
        raise OptionError(f"No model fits into {n_bytes:,} bytes: not even one of {ks[0]} terms.")
    cv, seed = folds
    splits = make_splits(cv, data.Y.indices.astype(np.int64) if data.single else None, data.Y.shape[0], seed=seed)
    judged = [_judge(data, specs, list(fitting), split) for split in splits]
    found = np.array([[scores[key] for key in fitting] for scores, _ in judged])
    tried = [
        Choice(key.spec.weighting, key.terms, key.bits, size, float(f1))
        for (key, size), f1 in zip(fitting.items(), found.mean(axis=0), strict=True)
    ]
    whole = np.array([fulls for _, fulls in judged])
    return list(fitting), tried, found, whole[:, whole.mean(axis=0).argmax()]


def load_compact(path: str | Path) -> Predictor:
    """Read a ``.bin`` file: it labels texts as the model does."""
    try:
        data = runtime.unpack(Path(path).read_bytes(), {})
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}.") from error
    except (ValueError, IndexError) as error:
        raise InputError(f"{path}: is not a compact model: {error}.") from error
    settings = data["analyzer"]
    if not is_safe_pattern(pattern := settings["character_class"] + "+"):
        raise InputError(f"{path}: is not a compact model: {pattern[:-1]!r:.40} is not a class of characters.")
    if settings["unicode"] != unicodedata.unidata_version:
        warnings.warn(
            f"{path}: was made with Unicode {settings['unicode']}, and here it is {unicodedata.unidata_version}: words "
            "with new characters may differ.",
            TermsieveWarning,
            stacklevel=2,
        )
        settings["unicode"] = unicodedata.unidata_version
    settings |= {
        "word_characters": characters.word_characters(settings["character_class"]),
        "known_characters": characters.known_characters(), "cased_characters": characters.cased_characters(),
        "ignored_characters": characters.ignored_characters(),
    }  # fmt: skip
    return Predictor(data)


def _pack(rounded: dict[str, Any], spec: ModelSpec) -> bytes:
    runs = spec.analyzer.runs
    return pack(rounded, r"\w" if runs is None else runs.character_class)


class Key(NamedTuple):
    """What is tried: what a model is made of, and its numbers of terms and of bits."""

    spec: ModelSpec
    terms: int
    bits: int


def _fit(data: TrainingMatrix, spec: ModelSpec, k: int) -> tuple[Int64Array, dict[str, Any]]:
    """Return the columns of the terms, and the model as plain data."""
    present = len(np.unique(data.X.indices))
    chosen = spec._replace(rule=ALL_TERMS if k >= present else f"top({k})")
    single = data.single
    parts = fit_parts(data, chosen, single=single)
    settings = {"weighting": spec.weighting, "classifier": spec.classifier, "analyzer": spec.analyzer.settings}
    model = Model(parts.vectorizer, parts.classifier, data.classes, single=single, settings=settings, prior=parts.prior)
    return parts.columns, to_portable(model)


def _find_fitting(
    data: TrainingMatrix, spec: ModelSpec, grid: tuple[Sequence[int], Sequence[int]], n_bytes: int,
    measure: Callable[[dict[str, Any]], int] | None,
) -> dict[Key, int]:  # fmt: skip
    """Return the bytes of each number of terms and bits that fits, with the terms of all documents."""
    sizes: dict[Key, int] = {}
    ks, tried_bits = grid
    for k in ks:
        plain = _fit(data, spec, k)[1]
        fits = False
        for bits in tried_bits:
            rounded = quantize(plain, bits)
            size = measure(rounded) if measure else len(_pack(rounded, spec))
            if size <= n_bytes:
                sizes[Key(spec, k, bits)], fits = size, True
        if not fits:
            break
    return sizes


def _judge(
    data: TrainingMatrix, specs: list[ModelSpec], keys: list[Key], split: Any
) -> tuple[dict[Key, float], list[float]]:
    """Return the F1 of all that is tried on the test part of a split, and those of the full models."""
    training, test = data.take(split.train), data.take(split.test)
    scores = {}
    for spec, k in dict.fromkeys((key.spec, key.terms) for key in keys):
        columns, plain = _fit(training, spec, k)
        counts = test.X[:, columns]
        for key in keys:
            if (key.spec, key.terms) == (spec, k):
                scores[key] = _find_f1(test, _label(counts, quantize(plain, key.bits), plain["terms"]))
    full = []
    for spec in specs:
        columns, plain = _fit(training, spec, data.X.shape[1])
        full.append(_find_f1(test, _label(test.X[:, columns], plain, plain["terms"])))
    return scores, full


def _label(counts: Any, model: dict[str, Any], terms: list[str]) -> BoolArray:
    """Return the labels (documents x classes), as `Predictor` finds them."""
    columns = {term: column for column, term in enumerate(terms)}
    rows = sparse.csr_array(counts[:, [columns[term] for term in model["terms"]]], dtype=np.float64)
    known = find_known(rows)
    if model["occurrences"] != "count":
        rows.data = np.log(rows.data) + 1.0 if model["occurrences"] == "log" else np.ones_like(rows.data)
    if model["term_weights"] is not None:
        rows.data *= np.array(model["term_weights"])[rows.indices]
    if model["cosine"]:
        rows = normalize(rows)
    scores: Array = np.asarray(rows @ np.array(model["weights"]).T) + np.array(model["constants"])
    prior = np.array(model["prior"])
    if not model["single"]:
        return np.where(known[:, None], scores > 0, prior > 0.5)
    codes = (scores[:, 0] > 0).astype(np.int64) if scores.shape[1] == 1 else scores.argmax(axis=1)
    codes = np.where(known, codes, prior.argmax())
    return np.asarray(codes[:, None] == np.arange(len(prior)))


def _find_f1(test: TrainingMatrix, labels: BoolArray) -> float:
    """Return the macro-averaged F1 as comparisons have it: of single labels, absent classes are left out."""
    truth = test.Y.toarray() > 0
    found = confusion(truth.argmax(axis=1), labels.argmax(axis=1)) if test.single else confusion(truth, labels)
    return float(found.measure(DEFAULT_MEASURE))

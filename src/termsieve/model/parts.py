"""The parts of a model as plain data, and their reconstruction from data that may come from anybody.

A classifier is saved as its spelling, which a recipe reads, and the arrays with which it labels texts. Each
array has a name, a type and a shape that follow from the classifier, the number of terms and the number of classes: a
file that has other arrays is refused.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.multiclass import OneVsRestClassifier, _ConstantPredictor
from sklearn.preprocessing import LabelBinarizer

from termsieve._types import AnyArray, Array
from termsieve.classify.recipes import LinearSVM, PoissonNB, ProbitClassifier, Recipe, parse_recipe
from termsieve.errors import OptionError
from termsieve.estimators import TermVectorizer
from termsieve.estimators.weighting import parse_weighting
from termsieve.model.calibration import gives_probabilities
from termsieve.model.container import Arrays, DamagedError
from termsieve.ranking.ranking import as_score
from termsieve.selection.rules import parse_rule
from termsieve.tokens.analyzer import Analyzer

FORMAT = 3
MAX_NGRAM = 100  # words or characters: with millions, a text has more n-grams than a machine can hold
_NAIVE_BAYES = ("multinomial_nb", "bernoulli_nb")
_SHARED = ("lowercase", "token_pattern", "ngram_range", "analyzer", "strip_accents", "min_length", "stemmer",
           "segmenter", "tokenizer", "strip")  # fmt: skip
_NUMBER = (int, float)
_SETTINGS: dict[str, tuple[type, ...]] = {
    "termsieve": (str,), "cv": (int, str), "seed": (int,), "judged_on": (int,), "min_df": _NUMBER,
    "candidates": (list,), "f1_macro": (float, type(None)),
    "standard_error": (float, type(None)), "accuracy": (float, type(None)),
    "score": (str,), "rule": (str,), "weighting": (str,), "classifier": (str,), "n_terms": (int,), "n_docs": (int,),
    "analyzer": (dict,), "calibration": (dict, type(None)),
}  # fmt: skip


# Vectorizers


def make_vectorizer(settings: Mapping[str, Any], analyzer: Analyzer, threads: int | None = None) -> TermVectorizer:
    """Make the vectorizer of a model, not yet fitted."""
    words = sorted(analyzer.stop_words) if isinstance(analyzer.stop_words, frozenset) else analyzer.stop_words
    return TermVectorizer(
        score_func=settings["score"], rule=settings["rule"], weighting=settings["weighting"],
        min_df=settings["min_df"], stop_words=words, threads=threads,
        **{name: getattr(analyzer, name) for name in _SHARED},
    )  # fmt: skip


def pack_vectorizer(vectorizer: TermVectorizer, settings: Mapping[str, Any]) -> tuple[list[str], Arrays]:
    """Return its terms by column, and their weights."""
    expected = make_vectorizer(settings, Analyzer.from_settings(settings["analyzer"])).get_params(deep=False)
    given = vectorizer.get_params(deep=False)
    for name in sorted(given.keys() - {"threads"}):
        if given[name] != expected[name]:
            raise OptionError(
                f"The vectorizer of the model was changed after training: {name} is {given[name]!r} and was "
                f"{expected[name]!r}. A file keeps what was trained; train a model with other options."
            )
    weights = getattr(vectorizer, "weights_", None)
    return vectorizer.get_feature_names_out().tolist(), {} if weights is None else {"weights": weights}


def unpack_vectorizer(terms: Any, arrays: Arrays, settings: Mapping[str, Any], analyzer: Analyzer) -> TermVectorizer:
    """Make the fitted vectorizer."""
    _check_names("terms", terms)
    if settings["n_terms"] != len(terms):
        raise DamagedError(f"it says {settings['n_terms']:,} terms, and has {len(terms):,}")
    if analyzer.ngram_range[1] > MAX_NGRAM:
        raise DamagedError(f"its n-grams are of up to {analyzer.ngram_range[1]:,} parts; at most {MAX_NGRAM} are read")
    as_score(settings["score"])
    parse_rule(settings["rule"])
    plain = parse_weighting(settings["weighting"]).plain
    weights = None if plain else take_array(arrays, "weights", "<f8", (len(terms),), finite=True)
    vectorizer = make_vectorizer(settings, analyzer)
    vectorizer._set_vocabulary(pa.array(terms, pa.large_string()), weights)
    return vectorizer


# Classifiers


class Shape(NamedTuple):
    """The numbers of classes and terms."""

    classes: int
    terms: int

    @property
    def sums(self) -> int:
        """The number of weighted sums: two classes need one."""
        return 1 if self.classes == 2 else self.classes

    @property
    def pairs(self) -> int:
        """The number of pairs of classes."""
        return self.classes * (self.classes - 1) // 2


def pack_classifier(classifier: BaseEstimator, spelling: str, *, single: bool) -> tuple[list[Any], Arrays]:
    """Return a constant for each estimator (None, or the one answer that it always gives), and the arrays of all."""
    estimators = [classifier] if single else classifier.estimators_
    constants: list[Any] = []
    arrays: Arrays = {}
    recipe = parse_recipe(spelling)
    for number, one in enumerate(estimators):
        if isinstance(one, _ConstantPredictor):
            constants.append(int(np.ravel(one.y_)[0]))
            continue
        if type(one) is not type(recipe.make()):
            raise OptionError(
                f"The classifier of the model is {type(one).__name__}, not {spelling}, as its settings say."
            )
        constants.append(None)
        arrays |= {f"{number}.{name}": array for name, array in _pack_one(one, recipe).items()}
    return constants, arrays


def _pack_one(one: Any, recipe: Recipe) -> Arrays:
    shape = Shape(len(one.classes_), one.n_features_in_)
    if one.classes_.tolist() != list(range(shape.classes)):
        raise OptionError(f"The classifier of the model is of the classes {one.classes_}; they must be 0, 1 and so on.")
    if recipe.name in _NAIVE_BAYES:
        return {name: getattr(one, name) for name in ("feature_log_prob_", "class_log_prior_")}
    if recipe.name == "poisson_nb":
        return {name: getattr(one, name) for name in ("rate_", "class_log_prior_")}
    if recipe.name == "libsvm":
        return _pack_svm(one)
    if recipe.name == "neural_network":
        layers = range(len(one.coefs_))
        return {
            **{f"coefs_{i}": one.coefs_[i] for i in layers}, **{f"intercepts_{i}": one.intercepts_[i] for i in layers}
        }  # fmt: skip
    return {"coef_": one.coef_, "intercept_": np.array(np.broadcast_to(one.intercept_, shape.sums), np.float64)}


def _pack_svm(one: Any) -> Arrays:
    vectors: Any = sparse.csr_array(one.support_vectors_)
    dual: Any = sparse.csr_array(one._dual_coef_)
    return {
        "support_": one.support_, "n_support": one._n_support, "vector_data": vectors.data,
        "vector_indices": vectors.indices.astype(np.int32), "vector_indptr": vectors.indptr.astype(np.int32),
        "dual_coef": dual.toarray(),
        "intercept": one._intercept_, "class_weight_": one.class_weight_, "prob_a": one._probA, "prob_b": one._probB,
        "gamma": np.array([one._gamma], np.float64), "n_docs": np.array([one.shape_fit_[0]], np.int64),
    }  # fmt: skip


def unpack_classifier(
    constants: Any, arrays: Arrays, spelling: str, *, single: bool, n_classes: int, n_terms: int
) -> BaseEstimator:
    """Make the fitted classifier."""
    recipe = parse_recipe(spelling)
    n = 1 if single else n_classes
    if not isinstance(constants, list) or len(constants) != n or not all(_is_constant(one) for one in constants):
        raise DamagedError(f"its classifier has other parts than {n_classes:,} classes need")
    if single and constants != [None]:
        raise DamagedError("its classifier always gives the same answer")
    grouped = _group_by_estimator(arrays)
    if grouped.keys() != {str(number) for number, constant in enumerate(constants) if constant is None}:
        raise DamagedError("it has arrays that belong to no part of its classifier")
    estimators: list[Any] = []
    for number, constant in enumerate(constants):
        if constant is None:
            mine = grouped[str(number)]
            estimators.append(_unpack_one(mine, recipe, n_classes if single else 2, n_terms))
        else:
            estimators.append(_ConstantPredictor().fit(sparse.csr_matrix((1, n_terms)), np.array([constant])))
    return estimators[0] if single else _one_vs_rest(recipe, estimators, n_classes, n_terms)


def _is_constant(one: Any) -> bool:
    return one is None or (type(one) is int and one in (0, 1))


def _group_by_estimator(arrays: Arrays) -> dict[str, Arrays]:
    """Return the arrays of each estimator, by its number."""
    grouped: dict[str, Arrays] = {}
    for name, array in arrays.items():
        number, _, attribute = name.partition(".")
        grouped.setdefault(number, {})[attribute] = array
    return grouped


def _one_vs_rest(recipe: Recipe, estimators: list[Any], n_classes: int, n_terms: int) -> OneVsRestClassifier:
    whole = OneVsRestClassifier(recipe.make())
    binarizer = LabelBinarizer(sparse_output=True).fit(sparse.csr_matrix(np.eye(n_classes, dtype=np.int64)))
    whole.__dict__ |= {
        "label_binarizer_": binarizer, "classes_": binarizer.classes_, "estimators_": estimators,
        "n_features_in_": n_terms,
    }  # fmt: skip
    return whole


def _unpack_one(arrays: Arrays, recipe: Recipe, n_classes: int, n_terms: int) -> BaseEstimator:
    one = recipe.make()
    _check_parameters(one, n_classes)
    shape = Shape(n_classes, n_terms)
    state: dict[str, Any] = {"classes_": np.arange(n_classes), "n_features_in_": n_terms}
    if recipe.name in _NAIVE_BAYES:
        state["feature_log_prob_"] = _log_probabilities(arrays, "feature_log_prob_", shape)
        state["class_log_prior_"] = _log_probabilities(arrays, "class_log_prior_", shape)
    elif recipe.name == "poisson_nb":
        state["rate_"] = take_array(arrays, "rate_", "<f8", shape, finite=True)
        if (state["rate_"] <= 0).any():
            raise DamagedError("its classifier has rates that are not positive")
        state["class_log_prior_"] = _log_probabilities(arrays, "class_log_prior_", shape)
    elif recipe.name == "libsvm":
        state |= _unpack_svm(arrays, shape)
    elif recipe.name == "neural_network":
        state |= _unpack_network(arrays, shape, one)
    else:
        state["coef_"] = take_array(arrays, "coef_", "<f8", (shape.sums, n_terms), finite=True)
        state["intercept_"] = take_array(arrays, "intercept_", "<f8", (shape.sums,))
    if recipe.name == "probit":
        state["_is_multilabel"] = False
    if arrays:
        raise DamagedError(f"it has {', '.join(sorted(arrays))}, which a classifier {recipe.name} does not have")
    one.__dict__ |= state
    return one


def _check_parameters(one: Any, n_classes: int) -> None:
    """Refuse parameters with which the classifier cannot have been fitted; prediction does not look at them."""
    if isinstance(one, PoissonNB):
        one._check_parameters(n_classes)
    elif isinstance(one, ProbitClassifier):
        one._check_parameters()
    elif isinstance(one, LinearSVM):
        one.check_parameters()
    else:
        one._validate_params()  # of every estimator in scikit-learn
    if getattr(one, "kernel", "") == "precomputed":
        raise DamagedError("its classifier has a kernel that texts do not have")


def _log_probabilities(arrays: Arrays, name: str, shape: Shape) -> Array:
    array = take_array(arrays, name, "<f8", shape if name.startswith("feature") else shape[:1])
    if (array > 1e-9).any():
        raise DamagedError(f"its {name} has probabilities above 1")
    return array


def _unpack_svm(arrays: Arrays, shape: Shape) -> dict[str, Any]:
    """Return the state of scikit-learn's SVC after a sparse fit. Its C code checks nothing, so all is checked here."""
    n_support = take_array(arrays, "n_support", "<i4", shape[:1])
    n = int(n_support.sum(dtype=np.int64))
    if (n_support < 0).any() or n < 1:
        raise DamagedError("its numbers of support vectors are not positive")
    pointers = take_array(arrays, "vector_indptr", "<i4", (n + 1,))
    if pointers[0] != 0 or (np.diff(pointers) < 0).any():
        raise DamagedError("its support vectors do not lie one after the other")
    columns = take_array(arrays, "vector_indices", "<i4", (int(pointers[-1]),))
    data = take_array(arrays, "vector_data", "<f8", (int(pointers[-1]),), finite=True)
    if len(columns) and (columns.min() < 0 or columns.max() >= shape.terms):
        raise DamagedError("its support vectors have terms that it does not have")
    vectors = sparse.csr_matrix((data, columns, pointers), shape=(n, shape.terms))
    rows = np.repeat(np.arange(n), np.diff(pointers))
    if len(columns) and (np.diff(rows * np.int64(shape.terms) + columns) <= 0).any():
        raise DamagedError("its support vectors do not have their terms in order")
    n_docs = int(take_array(arrays, "n_docs", "<i8", (1,))[0])
    support = take_array(arrays, "support_", "<i4", (n,))
    if not 0 < n_docs < 2**31 or support.min() < 0 or support.max() >= n_docs:
        raise DamagedError("its support vectors are of documents that were not there")
    dual = take_array(arrays, "dual_coef", "<f8", (shape.classes - 1, n), finite=True)
    places, ends = np.tile(np.arange(n), shape.classes - 1), np.arange(0, dual.size + 1, n)
    coefficients = sparse.csr_matrix((dual.ravel(), places, ends), shape=dual.shape)
    intercept = take_array(arrays, "intercept", "<f8", (shape.pairs,), finite=True)
    gamma = take_array(arrays, "gamma", "<f8", (1,), finite=True)
    probabilities = len(arrays["prob_a"]) > 0 if "prob_a" in arrays else False
    size = (shape.pairs if probabilities else 0,)
    sign = -1.0 if shape.classes == 2 else 1.0  # as SVC turns them for its users
    return {
        "_sparse": True, "_gamma": gamma[0], "support_": support, "support_vectors_": vectors, "_n_support": n_support,
        "class_weight_": take_array(arrays, "class_weight_", "<f8", shape[:1], finite=True), "fit_status_": 0,
        "_probA": take_array(arrays, "prob_a", "<f8", size, finite=True), "shape_fit_": (n_docs, shape.terms),
        "_probB": take_array(arrays, "prob_b", "<f8", size, finite=True), "_effective_probability": probabilities,
        "_dual_coef_": coefficients, "dual_coef_": sign * coefficients, "_intercept_": intercept,
        "intercept_": sign * intercept,
    }  # fmt: skip


def _unpack_network(arrays: Arrays, shape: Shape, one: Any) -> dict[str, Any]:
    """Return the state of scikit-learn's MLPClassifier that predictions need."""
    hidden = np.ravel(one.hidden_layer_sizes).tolist()
    outputs = shape.sums
    sizes = [shape.terms, *hidden, outputs]
    layers = range(len(sizes) - 1)
    return {
        "coefs_": [take_array(arrays, f"coefs_{i}", "<f8", (sizes[i], sizes[i + 1]), finite=True) for i in layers],
        "intercepts_": [take_array(arrays, f"intercepts_{i}", "<f8", (sizes[i + 1],), finite=True) for i in layers],
        "n_layers_": len(sizes), "n_outputs_": outputs, "out_activation_": "logistic" if outputs == 1 else "softmax",
        "_label_binarizer": LabelBinarizer().fit(np.arange(shape.classes)),
    }  # fmt: skip


# Checks


def take_array(
    arrays: Arrays, name: str, dtype: str, shape: tuple[int, ...] | None, *, finite: bool = False
) -> AnyArray:
    """Remove an array from the dict and return it, if it has this type and shape and no NaN."""
    array = arrays.pop(name, None)
    if array is None or array.dtype != np.dtype(dtype) or (shape is not None and array.shape != tuple(shape)):
        given = "nothing" if array is None else f"{array.dtype} {array.shape}"
        raise DamagedError(f"its {name} must be {dtype} of the shape {shape}, and is {given}")
    if array.dtype.kind == "f" and (np.isnan(array).any() or (finite and not np.isfinite(array).all())):
        raise DamagedError(f"its {name} has values that are not numbers")
    return array


def _check_names(what: str, names: Any) -> None:
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise DamagedError(f"its {what} are {names!r:.60}")
    if len(set(names)) < len(names):
        raise DamagedError(f"its {what} are not distinct")


def check_about(about: Mapping[str, Any]) -> None:
    """Refuse facts with other names or types than a model has."""
    if about.get("format") != FORMAT:
        raise DamagedError(
            f"it has version {about.get('format')!r:.20} of the format, and this termsieve reads version {FORMAT}"
        )
    if about.keys() != {"format", "classes", "single", "settings", "terms", "constants", "always_label"}:
        raise DamagedError(f"it says {', '.join(sorted(about))} about itself")
    _check_names("classes", about["classes"])
    if len(about["classes"]) < 2 or not isinstance(about["single"], bool) or not isinstance(about["settings"], dict):
        raise DamagedError("its classes or its settings are not those of a model")
    settings = about["settings"]
    for name, types in _SETTINGS.items():
        value = settings.get(name)
        if name not in settings or type(value) not in types:
            raise DamagedError(f"its setting {name!r} is {value!r:.60}")
    folds = settings["cv"] if isinstance(settings["cv"], int) else 1  # a column or a splitter
    judged = settings["cv"] and settings["f1_macro"] is not None
    if min(folds, settings["n_docs"], settings["judged_on"]) < 0 or bool(settings["cv"]) != bool(judged):
        raise DamagedError("its settings do not agree with each other")
    _check_candidates(settings["candidates"])
    text = settings.get("text", [])
    if not isinstance(text, list) or not all(isinstance(name, str) for name in text):
        raise DamagedError(f"its setting 'text' is {text!r:.60}")


def _check_candidates(candidates: list[Any]) -> None:
    for one in candidates:
        types = [type(value) for value in one] if isinstance(one, list) else []
        if types not in ([str, int, float, float], [str, int, float, type(None)]):  # one split has no standard error
            raise DamagedError(f"its setting 'candidates' has {one!r:.60}")


def try_classifier(classifier: BaseEstimator, n_terms: int) -> None:
    """Label one empty text: parts that do not fit together are found when a model is loaded, not when it is used."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        classifier.predict(sparse.csr_matrix((1, n_terms)))
        if gives_probabilities(classifier):
            classifier.predict_proba(sparse.csr_matrix((1, n_terms)))

"""Classifiers: `LinearSVM`, `PoissonNB`, `ProbitClassifier`, and named recipes for these and scikit-learn's.

A recipe is a name, as a score is: ``"multinomial_nb(alpha=0.5)"``. `RECIPES` is the catalogue, and `classifier` makes
the estimator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from types import MappingProxyType
from typing import Any, NamedTuple

from sklearn.base import BaseEstimator, clone, is_classifier

from termsieve.classify.linear_svm import LinearSVM
from termsieve.classify.poisson import PoissonNB
from termsieve.classify.probit import ProbitClassifier
from termsieve.errors import OptionError, did_you_mean
from termsieve.scores.registry import format_value
from termsieve.spelling import parse_call

DEFAULT_SOLVER = "newton"  # of recipes with several
__all__ = ["RECIPES", "LinearSVM", "PoissonNB", "ProbitClassifier", "Recipe", "classifier", "parse_recipe"]


class Variant(NamedTuple):
    """Another estimator of a recipe: module and class, and parameters that differ from its defaults."""

    import_path: str
    settings: Mapping[str, Any]


@dataclass(frozen=True)
class Recipe:
    """A classifier by name.

    Attributes
    ----------
    name, title : str
        The name in `RECIPES` and the name in words.
    import_path : str
        Module and class of the estimator.
    settings : dict
        Parameters that differ from the defaults of the estimator.
    about : str
        What it is, and why these settings.
    papers : dict
        Which of the five papers use it, and what they say of its settings.
    weighting : str
        The default weighting: occurrences if it is a model of them, otherwise tf-idf with the logarithm of tf.
    given : dict
        Parameters that the spelling gave.
    solvers : dict
        Other estimators, by the value of the parameter ``solver`` that asks for them.
    """

    name: str
    title: str
    import_path: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    about: str = ""
    papers: Mapping[str, str] = field(default_factory=dict)
    weighting: str = "tfidf_log"
    given: Mapping[str, Any] = field(default_factory=dict)
    solvers: Mapping[str, Variant] = field(default_factory=dict)

    @property
    def spelling(self) -> str:
        """The canonical spelling, which `parse_recipe` reads back."""
        values = ", ".join(f"{name}={format_value(value)}" for name, value in self.given.items())
        return f"{self.name}({values})" if values else self.name

    @property
    def _variant(self) -> Variant:
        plain = Variant(self.import_path, self.settings)
        return self.solvers.get(self.given.get("solver", ""), plain)

    def _load_class(self) -> Callable[..., BaseEstimator]:
        module, _, name = self._variant.import_path.rpartition(".")
        estimator: Callable[..., BaseEstimator] = getattr(import_module(module), name)
        return estimator

    @property
    def parameters(self) -> dict[str, Any]:
        """Every parameter of the estimator, with the value it has here."""
        defaults: dict[str, Any] = self._load_class()().get_params(deep=False)
        solver = {"solver": DEFAULT_SOLVER} if self.solvers else {}
        return {**solver, **defaults, **self._variant.settings, **self.given}

    def with_parameters(self, **values: Any) -> Recipe:
        """Return the same recipe with other parameters."""
        together = {**self.given, **values}
        plain = self._with_solver(together)
        before = plain.parameters
        for name in values:
            if name not in before:
                raise OptionError(self._explain_unknown(name, before))
        changed = {name: value for name, value in together.items() if value != before[name] or name in plain.given}
        return replace(self, given=dict(sorted(changed.items())))

    def _with_solver(self, values: Mapping[str, Any]) -> Recipe:
        """Return the recipe with no other parameter than its solver."""
        if not self.solvers or values.get("solver", DEFAULT_SOLVER) == DEFAULT_SOLVER:
            return replace(self, given={})
        if values["solver"] not in self.solvers:
            known = ", ".join(repr(name) for name in (DEFAULT_SOLVER, *self.solvers))
            raise OptionError(f"The solver of {self.name!r} is one of {known}, not {values['solver']!r}.")
        return replace(self, given={"solver": values["solver"]})

    def _explain_unknown(self, name: str, known: Mapping[str, Any]) -> str:
        for solver in self.solvers:
            if name in replace(self, given={"solver": solver}).parameters:
                return f"{name!r} is a parameter of {self.name}(solver={solver!r}) alone: give that as well."
        hint = did_you_mean(name, known)
        return f"Unknown parameter {name!r} of {self.name!r}. {hint}Its parameters: {', '.join(sorted(known))}."

    def make(self) -> BaseEstimator:
        """Make a new estimator, not yet fitted."""
        given = {name: value for name, value in self.given.items() if not (self.solvers and name == "solver")}
        return self._load_class()(**{**self._variant.settings, **given})

    def __str__(self) -> str:
        return self.spelling

    def __hash__(self) -> int:
        return hash(self.spelling)


_RECIPES = (
    Recipe(
        "multinomial_nb",
        "Multinomial naive Bayes",
        "sklearn.naive_bayes.MultinomialNB",
        weighting="count",
        about="Occurrences drawn from the terms of the class, Laplace's rule (alpha=1).",
        papers={
            "pip": "multinomial naive Bayes; smoothing unstated",
        },
    ),
    Recipe(
        "vocabulary_nb",
        "Multinomial naive Bayes, smoothed over all words",
        "termsieve.classify.vocabulary_nb.VocabularyNB",
        weighting="count",
        about="As multinomial_nb, but with all distinct words of the training documents in the denominator of the "
        "smoothing (total='all': their occurrences, too). In curves and comparisons, which have all words; elsewhere "
        "it is multinomial_nb.",
        papers={"gu": "one classifier per newsgroup, Laplace's rule with the distinct words of the training set"},
    ),
    Recipe(
        "bernoulli_nb",
        "Bernoulli naive Bayes",
        "sklearn.naive_bayes.BernoulliNB",
        weighting="count",
        about="Presence and absence of each term, Laplace's rule (alpha=1).",
        papers={"pip": "binary naive Bayes; smoothing unstated"},
    ),
    Recipe(
        "poisson_nb",
        "Poisson naive Bayes",
        "termsieve.classify.poisson.PoissonNB",
        weighting="count",
        about="Occurrences as Poisson variables, one more document with every term (alpha=beta=1).",
        papers={"pip": "Poisson naive Bayes; prior unstated"},
    ),
    Recipe(
        "probit",
        "Probit regression",
        "termsieve.classify.probit.ProbitClassifier",
        about="Normal distribution function of a weighted sum, Gaussian prior with the variance of Genkin, Lewis and "
        "Madigan.",
        papers={"pip": "hierarchical probit of a lost manuscript of 2003; prior and optimiser unknown"},
    ),
    Recipe(
        "linear_svm",
        "Linear support vector machine",
        "termsieve.classify.linear_svm.LinearSVM",
        about="Squared hinge loss, C=1, one class against the rest, solved to the optimum. With C='auto' C is chosen "
        "by folds of the training documents. With solver='liblinear' it is scikit-learn's LinearSVC: the objective is "
        "the same, but it stops earlier, above all on counts.",
        solvers={
            "liblinear": Variant("sklearn.svm.LinearSVC", {"dual": "auto", "max_iter": 10_000, "random_state": 0})
        },
        papers={"ifs": "SVM; kernel and C unstated", "ocfs": "linear kernel, defaults (trained by SMO: see libsvm)"},
    ),
    Recipe(
        "libsvm",
        "Linear support vector machine (libsvm)",
        "sklearn.svm.SVC",
        settings={"kernel": "linear"},
        about="Hinge loss, C=1, linear kernel, one class against one: what libsvm does by SMO.",
        papers={
            "lp": "libsvm, no kernel named; its own defaults, radial, come near print",
            "ocfs": "linear kernel, SMO, all defaults",
        },
    ),
    Recipe(
        "logistic_regression",
        "Logistic regression",
        "sklearn.linear_model.LogisticRegression",
        settings={"max_iter": 1000},
        about="Gaussian prior (C=1). The published classifier of Genkin, Lewis and Madigan is logistic: the substitute "
        "for their probit.",
        papers={"pip": "substitute for its hierarchical probit"},
    ),
    Recipe(
        "neural_network",
        "Neural network",
        "sklearn.neural_network.MLPClassifier",
        settings={"random_state": 0, "max_iter": 1000},
        about="One hidden layer of 100 units; stops when the loss gets no better. Early stopping on a tenth held out "
        "is quicker, but on few documents it stops before anything is learned.",
        papers={"ifs": "NN; layers and training unstated"},
    ),
)
RECIPES: Mapping[str, Recipe] = MappingProxyType({recipe.name: recipe for recipe in _RECIPES})


def classifier(model: str | Recipe | BaseEstimator) -> BaseEstimator:
    """Make a new classifier from a spelling, a recipe or an estimator.

    Parameters
    ----------
    model : str, Recipe or estimator
        A name of `RECIPES`, with parameters if need be. An estimator is cloned.

    Examples
    --------
    >>> classifier("multinomial_nb(alpha=0.5)")
    MultinomialNB(alpha=0.5)
    """
    if isinstance(model, str | Recipe):
        return parse_recipe(model).make()
    if isinstance(model, type) or not hasattr(model, "fit") or not is_classifier(model):
        raise OptionError(f"A model is a spelling such as 'multinomial_nb(alpha=0.5)' or a classifier, not {model!r}.")
    return clone(model)


def parse_recipe(spelling: str | Recipe) -> Recipe:
    """Read a spelling such as ``multinomial_nb(alpha=0.5)``.

    >>> parse_recipe("multinomial_nb( alpha = 5e-1 )").spelling
    'multinomial_nb(alpha=0.5)'
    """
    if isinstance(spelling, Recipe):
        return spelling
    call = parse_call(spelling, "classifier", "'probit' or 'multinomial_nb(alpha=0.5)'")
    if call.args:
        raise OptionError(f"In {spelling!r} the values must be named, as in 'multinomial_nb(alpha=0.5)'.")
    name = call.name
    if name not in RECIPES:
        key = name.lower().replace("-", "_")
        hint = did_you_mean(_ALIASES.get(key, key), RECIPES)
        raise OptionError(f"Unknown classifier {name!r}. {hint}Known classifiers: {', '.join(sorted(RECIPES))}.")
    return RECIPES[name].with_parameters(**call.kwargs)


def recipe_title(spelling: str) -> str:
    """Return the name of a classifier in words, with the parameters of its spelling; the spelling itself for others.

    >>> recipe_title("linear_svm"), recipe_title('linear_svm(C="auto")'), recipe_title("my model")
    ('Linear support vector machine', 'Linear support vector machine (C="auto")', 'my model')
    """
    name, bracket, parameters = spelling.partition("(")
    if name not in RECIPES:
        return spelling
    return f"{RECIPES[name].title} ({parameters}" if bracket else RECIPES[name].title


_ALIASES = {
    "nb": "multinomial_nb",
    "mnb": "multinomial_nb",
    "multinomialnb": "multinomial_nb",
    "naive_bayes": "multinomial_nb",
    "bnb": "bernoulli_nb",
    "bernoullinb": "bernoulli_nb",
    "binary_nb": "bernoulli_nb",
    "poissonnb": "poisson_nb",
    "poisson": "poisson_nb",
    "svm": "linear_svm",
    "svc": "libsvm",
    "linearsvc": "linear_svm",
    "liblinear": "linear_svm",
    "logreg": "logistic_regression",
    "lr": "logistic_regression",
    "nn": "neural_network",
    "mlp": "neural_network",
    "mlpclassifier": "neural_network",
    "probitclassifier": "probit",
}

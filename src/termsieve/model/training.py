"""train(): select terms and fit a classifier in one go; what is not given is chosen by cross-validation."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from termsieve._version import __version__
from termsieve.classify import parse_recipe
from termsieve.corpus import Corpus, read_corpus
from termsieve.counting import checked_threads, documents_of
from termsieve.documents import Documents
from termsieve.errors import InputError, OptionError
from termsieve.matrices import label_matrix
from termsieve.model.choosing import (
    CLASSIFIERS,
    SCORES,
    Candidate,
    Judged,
    best,
    candidates,
    fitted,
    judge,
    labels_of,
)
from termsieve.model.models import Model
from termsieve.model.parts import make_vectorizer
from termsieve.ranking import as_score
from termsieve.rules import AnyRule, parse_rule
from termsieve.splits import divided
from termsieve.tokens import Analyzer
from termsieve.weighting import parse_weighting

SAMPLE = 20_000


def train(
    documents: Documents | Sequence[str],
    labels: Sequence[Any] | None = None,
    *,
    score: str | Sequence[str] | None = None,
    rule: AnyRule | Sequence[AnyRule] | None = None,
    classifier: str | Sequence[str] | None = None,
    weighting: str | None = None,
    analyzer: Analyzer | None = None,
    min_df: float = 1,
    cv: int = 5,
    sample: int | None = SAMPLE,
    seed: int = 0,
    threads: int | None = None,
    progress: bool | None = None,
) -> Model:
    """Select terms and fit a classifier.

    Parameters
    ----------
    documents, labels, analyzer
        As for `termsieve.count`. Documents may have several labels each. Of a tokenizer, a file of the model keeps the
        name: see `Model.load`.
    score, classifier
        Spellings, such as ``"chi2"`` and ``"linear_svm(C=0.5)"``: one, or several to choose from. Without them, the
        choice is among a few that do well.
    rule
        How many terms, such as ``1000`` or ``"energy(0.8)"``, or several to choose from. Without it, the choice is
        among some numbers of terms, and all.
    weighting
        As for `termsieve.TermVectorizer`; without it occurrences for naive Bayes, tf-idf for other classifiers.
    min_df
        Terms of fewer documents are left out.
    cv
        Number of folds. 0 judges nothing; then there must be nothing to choose.
    sample
        The most documents on which candidates are judged; the model itself is fitted to all. None is all.
    seed
        Decides the folds and the sample.
    threads
        How many folds are judged at a time, and threads read documents; as many as there are cores, without this.
    progress
        Show a progress bar on standard error; without this, when it is a terminal.

    Returns
    -------
    Model

    Notes
    -----
    Of all candidates, the one with the fewest terms within one standard error of the best macro-averaged F1 is taken.

    Examples
    --------
    >>> texts = ["cheap pills", "cheap watches", "buy pills", "noon meeting", "lunch at noon", "meeting at ten"]
    >>> model = train(texts, ["spam"] * 3 + ["ham"] * 3, score="chi2", rule=4, classifier="multinomial_nb", cv=3)
    >>> model.predict(["pills, cheap", "a meeting"])
    ['spam', 'ham']
    """
    analyzer = analyzer or Analyzer()
    options = _Options(score, rule, classifier, weighting)
    texts, lists = _in_memory(documents, labels)
    n_threads = checked_threads(threads)
    shown = sys.stderr.isatty() if progress is None else progress
    judged: list[Judged] = []
    measures: dict[str, float | None] = dict.fromkeys(("f1_macro", "standard_error", "accuracy"))
    if cv:
        places = _sampled(len(texts), sample, seed)
        corpus = read_corpus([texts[i] for i in places], [lists[i] for i in places], analyzer, [], n_threads)
        among = options.candidates(len(corpus.terms))
        judged = _judged(corpus, among, cv, seed, min_df, n_threads, shown=shown)
        taken = best(judged)
        one, measures = taken.candidate, {name: getattr(taken, name) for name in measures}
    else:
        one = options.only()
    settings = {
        "termsieve": __version__,
        "cv": cv,
        "seed": seed,
        "judged_on": min(len(texts), sample or len(texts)) if cv else 0,
        "min_df": min_df,
        "candidates": [[str(other.candidate), other.n_terms, *other[2:4]] for other in judged],
        **measures,
    }
    with _waiting(f"fitting to {len(texts):,} documents", shown=shown):
        return _fitted(texts, lists, one, analyzer, min_df, threads, settings)


class _Options:
    """What was given, checked: single values or lists to choose from."""

    def __init__(self, score: Any, rule: Any, classifier: Any, weighting: str | None) -> None:
        self.scores = [as_score(one).spelling for one in _listed(score) or SCORES]
        self.classifiers = [parse_recipe(one).spelling for one in _listed(classifier) or CLASSIFIERS]
        self.rules = None if rule is None else [parse_rule(one) for one in _listed(rule)]
        self.weighting = None if weighting is None else parse_weighting(weighting).name

    def candidates(self, n_terms: int) -> list[Candidate]:
        return candidates(self.scores, self.rules, self.classifiers, self.weighting, n_terms)

    def only(self) -> Candidate:
        """The one candidate there is."""
        among = self.candidates(0) if self.rules is not None else []
        if len(among) != 1:
            raise OptionError(
                "train: with cv=0 nothing is judged, so score, rule and classifier must each be given, and once."
            )
        return among[0]


def _listed(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def _in_memory(documents: Any, labels: Any) -> tuple[list[str], list[list[str]]]:
    texts: list[str] = []
    lists: list[list[str]] = []
    for batch in documents_of(documents, labels):
        texts += batch.column("text").to_pylist()
        lists += batch.column("labels").to_pylist()
    found = sorted({label for some in lists for label in some})
    if len(found) < 2:
        raise InputError(f"There must be at least two classes to tell apart; found {found}.")
    return texts, lists


def _sampled(n: int, sample: int | None, seed: int) -> list[int]:
    if sample is None or n <= sample:
        return list(range(n))
    places: list[int] = np.sort(np.random.default_rng(seed).choice(n, sample, replace=False)).tolist()
    return places


def _judged(
    corpus: Corpus, among: list[Candidate], cv: int, seed: int, min_df: float, workers: int, *, shown: bool
) -> list[Judged]:
    with warnings.catch_warnings():
        # a class of few documents is missing in some folds, and some folds have fewer terms than asked for
        warnings.filterwarnings("ignore", message="The least populated class")
        warnings.filterwarnings("ignore", message="k=")
        warnings.filterwarnings("ignore", message="Label not")
        splits = divided(cv, corpus.single, corpus.n_docs, seed=seed)
        with _bar(len(splits) * len(among), shown=shown) as advance:
            return judge(corpus, among, splits, min_df=min_df, workers=workers, advance=advance)


@contextmanager
def _bar(total: int, *, shown: bool) -> Iterator[Callable[[], None]]:
    if not shown:
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    shape = (TextColumn("choosing"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*shape, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("choosing", total=total)
        yield lambda: bar.advance(task)


@contextmanager
def _waiting(what: str, *, shown: bool) -> Iterator[None]:
    if not shown:
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield


def _fitted(
    texts: list[str],
    lists: list[list[str]],
    one: Candidate,
    analyzer: Analyzer,
    min_df: float,
    threads: int | None,
    settings: dict[str, Any],
) -> Model:
    Y, classes = label_matrix(lists, None, len(texts))
    single = all(len(some) == 1 for some in lists)
    spelled = {"score": one.score, "rule": one.rule, "weighting": one.weighting}
    vectorizer = make_vectorizer({**spelled, "min_df": min_df}, analyzer, threads)
    X = vectorizer.fit_transform(texts, [some[0] for some in lists] if single else lists)
    learned = fitted(one.classifier, X, labels_of(Y, single=single), single=single)
    vectorizer.threads = None  # as many as there are, where the model is used
    about = {
        **settings,
        **spelled,
        "classifier": one.classifier,
        "n_terms": len(vectorizer.vocabulary_),
        "n_docs": len(texts),
        "analyzer": analyzer.settings,
    }
    return Model(vectorizer, learned, classes, single=single, settings=about)

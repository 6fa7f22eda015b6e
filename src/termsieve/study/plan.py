"""The plan of a study: every parameter of `termsieve.compare`, each with its default, its meaning and its option.

The command line, `train`, and the command and snippet with which a report is made again are generated from it. Stages
are imported where they are used: the command line reads this module for its help.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import Field, asdict, dataclass, field, fields, replace
from functools import cached_property
from numbers import Integral
from typing import TYPE_CHECKING, Any

from termsieve.defaults import DEFAULT_SCORE
from termsieve.errors import OptionError

if TYPE_CHECKING:
    from termsieve._types import BoolArray
    from termsieve.counts.counts import Counts
    from termsieve.estimators.weighting import Weighting

ALL = "all"  # terms
ALL_TERMS = "all terms"  # in place of a score in the table of results, where no score may rank all of them
AUTO = "auto"  # as weighting: occurrences for naive Bayes, tf-idf for others; as ks: `GRID`, `GROWTH` and all terms
WEIGH_MODES = ("selected", "all")
MAX_TERMS = 2**31 - 1  # the table of results has no room for larger numbers

SCORES = (DEFAULT_SCORE, "chi2", "ifs", "bns")
CLASSIFIERS = ("multinomial_nb", "linear_svm")
KS = (AUTO,)
GRID = (10, 20, 50, 100, 200, 500, 1000, 2000)
GROWTH = (5000, *(first * 10**power for power in range(4, 9) for first in (1, 2, 5)))  # where the best is at the end
FOLDS = 5
SAMPLE = 20_000
MARGIN = 0.01
PAIR_MODES = (AUTO, "yes", "no")


@dataclass(frozen=True)
class Contender:
    """A score that competes, and the terms that it may rank.

    Attributes
    ----------
    name : str
        In the table of results.
    score : str
        A spelling of a score, or of a rule that looks at terms together, such as ``"cmim"``.
    aggregate : str, optional
        How scores of the classes become one (default: the score's own).
    max_tf, max_df : int, optional
        Terms that occur more often than this, or in more documents, in the training part are left out.
    rule : str, optional
        Only the terms that this rule selects in the training part compete.
    representation : str, optional
        Other terms than those of the analyzer: a name of `termsieve.study.representations`. Set by the study.

    Examples
    --------
    >>> Contender.from_spelling("bns( floor = 1e-3 )").name
    'bns(floor=0.001)'
    """

    name: str
    score: str
    aggregate: str | None = None
    max_tf: int | None = None
    max_df: int | None = None
    rule: str | None = None
    representation: str | None = None

    @property
    def is_plain(self) -> bool:
        """Whether it may rank all terms of the analyzer."""
        return self.max_tf is None and self.max_df is None and self.rule is None and self.representation is None

    @classmethod
    def from_spelling(cls, given: str | Contender) -> Contender:
        """Make a contender from the spelling of a score, or check one and make its spellings canonical."""
        from termsieve.ranking.aggregate import get_aggregation
        from termsieve.ranking.ranking import as_score
        from termsieve.selection.redundancy_rules import parse_redundancy_rule
        from termsieve.selection.rules import parse_rule

        def spell(one: str) -> str:
            together = parse_redundancy_rule(one)
            return as_score(one).spelling if together is None else repr(together).removesuffix("()")

        if isinstance(given, Contender):
            if not isinstance(given.name, str) or given.name in ("", ALL_TERMS):
                raise OptionError(f"The name of a contender must be a text of its own, not {given.name!r}.")
            for name in ("max_tf", "max_df"):
                most = getattr(given, name)
                if most is not None:
                    _check_whole(f"{name} of the contender {given.name!r}", most, least=1)
            if given.aggregate is not None:
                get_aggregation(given.aggregate)
            rule = None if given.rule is None else repr(parse_rule(given.rule))
            return replace(given, score=spell(given.score), rule=rule)
        spelling = spell(given)
        return cls(spelling, spelling)

    @property
    def ranks_together(self) -> bool:
        """Whether terms are ranked beside each other, by a rule that needs the documents, and not one by one."""
        from termsieve.selection.redundancy_rules import parse_redundancy_rule

        return parse_redundancy_rule(self.score) is not None

    def allows(self, counts: Counts) -> BoolArray:
        """Tell which terms are not too frequent to be ranked."""
        most_tf, most_df = (math.inf if most is None else most for most in (self.max_tf, self.max_df))
        return (counts.term_tf <= most_tf) & (counts.term_df <= most_df)

    @property
    def settings(self) -> dict[str, Any]:
        """The given fields, as plain data."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True)
class CommandOption:
    """The command-line option of a parameter: its flags and help text."""

    help: str
    flags: tuple[str, ...] = ()
    metavar: str = "N"
    least: int | None = None


def parameter(default: Any, help: str, *flags: str, metavar: str = "N", least: int | None = None) -> Any:
    """Make a field of `Plan` with its default and its option."""
    return field(default=default, metadata={"option": CommandOption(help, flags, metavar, least)})


@dataclass(frozen=True)
class Plan:
    """The checked parameters of `termsieve.compare`."""

    scores: tuple[Contender, ...] = parameter(
        tuple(Contender(name, name) for name in SCORES),
        "Scores, separated by commas.", "--score", "-s", metavar="LIST",
    )  # fmt: skip
    classifiers: tuple[str, ...] = parameter(
        CLASSIFIERS, "Classifiers, separated by commas.", "--classifier", "-c", metavar="LIST"
    )
    ks: tuple[int | str, ...] = parameter(
        KS, 'Numbers of terms, separated by commas, such as 10,100,all; "auto" is 10 to 2,000 and all, and the numbers '
        "between where more terms do better. All terms are always tried, for reference.", "-k",
        metavar="LIST",
    )  # fmt: skip
    cv: Any = parameter(FOLDS, 'Number of folds, or a column with "train" and "test".', "--cv")  # noqa: RUF009 - a field
    groups: Any = parameter(  # noqa: RUF009 - a field
        None, "Keep documents with the same value in this column in one fold.", "--groups", metavar="COLUMN"
    )
    repeats: int = parameter(1, "Number of repetitions of the cross-validation.", "--repeats", least=1)
    seed: int = parameter(0, "Seed of everything that is random.", "--seed", least=0)
    sample: int | None = parameter(
        SAMPLE, "Compare on a random sample of at most this many documents; 0 for all.", "--sample", least=0
    )
    per_class: bool = parameter(
        False, "Rank and classify each class separately, against the rest.", "--per-class", metavar=""
    )
    one_vs_rest: bool = parameter(
        False, "Fit one classifier for each class, on the terms of one ranking.", "--one-vs-rest", metavar=""
    )
    min_df: float = parameter(
        1, "Leave out terms in fewer training documents: a number, or a share such as 0.1%.", "--min-df"
    )
    min_tf: int = parameter(1, "Leave out terms that occur less often in the training documents.", "--min-tf", least=1)
    weighting: str = parameter(
        AUTO, "Weighting of terms for classifiers: count, binary, tfidf, tf.bns, ...; auto is count for naive Bayes, "
        "tfidf_log for others.", "--weighting", metavar="NAME",
    )  # fmt: skip
    weigh: str = parameter(
        "selected", 'Weight the "selected" terms only, or "all" terms before the ranking.', "--weigh", metavar="WHICH"
    )
    drop_empty: bool = parameter(
        False, "Leave out documents without any selected term.", "--drop-empty", metavar=""
    )  # fmt: skip
    pairs: str = parameter(
        AUTO, "Try pairs of words, too: yes, no, or auto: if -k is auto, too, and there is not too much text.",
        "--pairs", metavar="WHEN",
    )  # fmt: skip
    margin: float = parameter(
        MARGIN, "Loss that is too small to matter: the probability that the recommended terms lose more is reported.",
        "--margin", metavar="X",
    )  # fmt: skip

    @classmethod
    def from_arguments(cls, scores: Any = SCORES, classifiers: Any = CLASSIFIERS, ks: Any = KS, **others: Any) -> Plan:
        """Make a plan from the arguments of `termsieve.compare`, and check it."""
        from termsieve.classify.recipes import parse_recipe

        contenders = [Contender.from_spelling(one) for one in list_given("scores", scores, (str, Contender))]
        models = [parse_recipe(one).spelling for one in list_given("classifiers", classifiers, str)]
        numbers = _check_ks(list_given("ks", ks, (Integral, float, str)))
        names = [one.name for one in contenders]
        for what, given in (("scores", names), ("classifiers", models), ("ks", numbers)):
            if not given or len(set(given)) < len(given):
                raise OptionError(f"{what} must be distinct, and at least one, not {given!r}.")
        others = {name: _as_plain(value) for name, value in others.items()}
        plan = cls(tuple(contenders), tuple(models), tuple(numbers), **others)
        plan._check()
        return plan

    def _check(self) -> None:
        from termsieve.estimators.weighting import parse_weighting

        if self.weighting != AUTO:
            parse_weighting(self.weighting)
        elif self.weigh == "all":
            raise OptionError('weigh="all" needs one weighting for all classifiers, such as weighting="tfidf".')
        if self.weigh not in WEIGH_MODES:
            raise OptionError(f"weigh must be one of {', '.join(map(repr, WEIGH_MODES))}, not {self.weigh!r}.")
        if self.pairs not in PAIR_MODES:
            raise OptionError(f"pairs must be one of {', '.join(map(repr, PAIR_MODES))}, not {self.pairs!r}.")
        for name in ("per_class", "one_vs_rest", "drop_empty"):
            if getattr(self, name) not in (True, False):
                raise OptionError(f"{name} must be True or False, not {getattr(self, name)!r}.")
        check_margin(self.margin)
        if self.sample is not None:
            _check_whole("sample", self.sample)
        if not isinstance(self.min_df, int | float) or not self.min_df >= 0 or (self.min_df > 1 and self.min_df % 1):
            raise OptionError(f"min_df must be a number of documents, or a share of them, not {self.min_df!r}.")
        _check_whole("seed", self.seed)
        _check_whole("min_tf", self.min_tf)
        for one in self.scores:
            if one.rule is not None and (self.per_class or one.ranks_together):
                what = "per_class has a ranking for each class" if self.per_class else f"{one.score} has its own choice"
                raise OptionError(f"The rule of the contender {one.name!r} cannot be followed: {what}.")

    @property
    def names(self) -> list[str]:
        """Names of the contenders."""
        return [one.name for one in self.scores]

    @property
    def columns(self) -> list[str]:
        """The columns of the documents that the splits need."""
        return [name for name in (self.cv, self.groups) if isinstance(name, str)]

    def weighting_of(self, classifier: str) -> str:
        """Return the weighting that a classifier sees."""
        return usual_weighting(classifier) if self.weighting == AUTO else self.weighting

    @cached_property
    def weightings(self) -> dict[str, Weighting]:
        """All weightings that some classifier sees, by their spelling."""
        from termsieve.estimators.weighting import parse_weighting

        return {name: parse_weighting(name) for name in map(self.weighting_of, self.classifiers)}

    def least_df(self, n_docs: int) -> float:
        """Return the fewest training documents that a term must have."""
        return max(self.min_df if isinstance(self.min_df, int) else self.min_df * n_docs, 1)

    def allows(self, counts: Counts, n_docs: int | None = None) -> BoolArray:
        """Tell which terms are frequent enough to be ranked; `n_docs` are the training documents (default: all)."""
        least = self.least_df(counts.n_docs if n_docs is None else n_docs)
        return (counts.term_df >= least) & (counts.term_tf >= self.min_tf)

    @property
    def is_open(self) -> bool:
        """Whether the numbers of terms are left to the study."""
        return self.ks == (AUTO,)

    def asks_for_all(self, n_terms: int) -> bool:
        """Tell whether all terms may be recommended, rather than being there for reference only."""
        return self.is_open or any(k == ALL or (isinstance(k, int) and k >= n_terms) for k in self.ks)

    def fit_to(self, n_terms: int) -> Plan:
        """Return the plan with numbers of terms of at most `n_terms`, each once, and all terms in any case."""
        given = GRID if self.is_open else (k for k in self.ks if k != ALL)
        return replace(self, ks=tuple(sorted({n_terms, *(min(int(k), n_terms) for k in given)})))

    @property
    def description(self) -> dict[str, Any]:
        """The plan as plain data."""
        data = {one.name: _as_data(getattr(self, one.name)) for one in fields(self)}
        data["scores"] = self.names
        special = describe_contenders(self.scores)
        return {**data, "contenders": special} if special else data

    @property
    def trial_description(self) -> dict[str, Any]:
        """What determines the trials, as plain data: all but the margin, which decides what is said of them."""
        return {name: value for name, value in self.description.items() if name != "margin"}


def check_margin(margin: Any) -> None:
    """Refuse what is not a share."""
    if not isinstance(margin, int | float) or not 0 <= margin <= 1:
        raise OptionError(f"margin must be a number from 0 to 1, such as 0.01, not {margin!r}.")


def describe_contenders(contenders: Iterable[Contender]) -> list[dict[str, Any]]:
    """Return the fields of the contenders that are more than the spelling of a score."""
    return [one.settings for one in contenders if one != Contender(one.name, one.name)]


def parameters() -> dict[str, Field[Any]]:
    """Return the parameters by their names."""
    return {one.name: one for one in fields(Plan)}


def default_settings() -> dict[str, Any]:
    """Return the defaults as plain data, as `Plan.description` has them."""
    return Plan().description


def changed_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return those settings of a study that are parameters and not at their default, in order."""
    usual = default_settings()
    return {name: given[name] for name in usual if name in given and given[name] != usual[name]}


def usual_weighting(classifier: str) -> str:
    """Return the default weighting of a classifier: occurrences for naive Bayes, tf-idf for others.

    >>> usual_weighting("multinomial_nb(alpha=0.5)"), usual_weighting("linear_svm")
    ('count', 'tfidf_log')
    """
    from termsieve.classify.recipes import parse_recipe

    return parse_recipe(classifier).weighting


def _check_whole(what: str, value: Any, least: int = 0) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise OptionError(f"{what} must be a whole number, {least} or more, not {value!r}.")


def _check_ks(given: Iterable[Any]) -> list[int | str]:
    numbers: set[int] = set()
    texts: set[str] = set()
    for k in given:
        number = _as_plain(k)
        if isinstance(k, str) and k in (ALL, AUTO):
            texts.add(k)
        elif isinstance(k, bool) or not isinstance(number, int | float) or not (number >= 1 and number % 1 == 0):
            raise OptionError(f'ks must be numbers of terms, 1 or more, or "all", not {k!r}.')
        elif int(k) > MAX_TERMS:
            raise OptionError(f"ks must be {MAX_TERMS:,} or less, not {int(k):,}.")
        else:
            numbers.add(int(k))
    if AUTO in texts and (numbers or len(texts) > 1):
        raise OptionError('ks must be "auto" or numbers of terms, not both.')
    return [*sorted(numbers), *texts]


def _as_plain(value: Any) -> Any:
    """Return a whole number of any library as Python's."""
    return int(value) if isinstance(value, Integral) and not isinstance(value, bool) else value


def _as_data(value: Any) -> Any:
    """Return a value that JSON can hold; of an array or a splitter, only its type."""
    if isinstance(value, tuple):
        return list(value)
    return value if value is None or isinstance(value, int | float | str) else f"<{type(value).__name__}>"


def list_given(what: str, given: Any, one: type | tuple[type, ...]) -> list[Any]:
    """Return what was given, one of something or several, as a list."""
    if isinstance(given, one):
        return [given]
    if not isinstance(given, Iterable):
        raise OptionError(f"{what} must be one or several, in a list, not {given!r}.")
    return list(given)

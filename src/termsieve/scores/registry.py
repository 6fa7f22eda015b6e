"""The registry of scores: one frozen record per score, and the spelling that names it.

`score` is a decorator that only records. Everything known about a score is in its record; the command line, the
catalogue in the documentation, the laws, the golden tests, the estimators and the benchmark read it from there.
"""

from __future__ import annotations

import inspect
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal, Protocol, TypeAlias, get_args, get_origin, get_type_hints

import numpy as np

from termsieve._types import Array
from termsieve.errors import CountsError, OptionError, did_you_mean
from termsieve.table import Table

Aggregation: TypeAlias = Literal["max", "sum", "mean", "weighted_mean", "global"]
Symmetry: TypeAlias = Literal["invariant", "flip", "invert"]
ParameterValue: TypeAlias = "float | bool | str"
TableFunction: TypeAlias = Callable[..., Array]

MOST_DOCS = 2**53  # documents: up to here every count is exact as a float
MIN_DF = "min_df"  # the parameter of guarded scores: see `Score.guarded`
GUARD = 5.0  # its default
SMOOTHING = "0 or [1e-9, 1e9]"  # what is added to counts: nothing, or enough to keep squares of ratios finite

_SCORES: dict[str, Score] = {}
SCORES: Mapping[str, Score] = MappingProxyType(_SCORES)


class ClassAggregator(Protocol):
    """The argument of the formula of a global score: it adds up functions of a Table over the classes."""

    n_classes: float

    def sum(self, function: Callable[[Table], Array]) -> Array:
        """Add up the classes."""
        ...

    def max(self, function: Callable[[Table], Array]) -> Array:
        """Take the largest of the classes."""
        ...


@dataclass(frozen=True)
class Parameter:
    """A parameter of a score: its default and its valid values."""

    name: str
    default: ParameterValue
    choices: tuple[str, ...] = ()
    limits: str = "(-inf, inf)"

    def check(self, value: object, owner: str) -> ParameterValue:
        """Return the value in its own type, or explain what it must be."""
        if isinstance(self.default, bool):
            ok, must = isinstance(value, bool), "True or False"
        elif self.choices:
            ok, must = value in self.choices, "one of " + ", ".join(map(format_value, self.choices))
        else:
            number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
            ok = number and _is_inside(value, self.limits)  # type: ignore[arg-type]
            must = f"a number: {self.limits}" if " or " in self.limits else f"a number in {self.limits}"
            value = float(value) if ok else value  # type: ignore[arg-type]
        if not ok:
            raise OptionError(
                f"The parameter {self.name!r} of {owner!r} must be {must}; it was given {_format_given(value)}."
            )
        return value  # type: ignore[return-value]


def _format_given(value: object) -> str:
    """Return a value as it is written in Python, shortened: a number may have any number of digits."""
    try:
        text = repr(value)
    except ValueError:  # Python does not write whole numbers of thousands of digits
        return "a whole number of thousands of digits"
    return text if len(text) <= 60 else f"{text[:40]}... ({len(text):,} characters)"


def _is_inside(x: float, limits: str) -> bool:
    """Tell whether x lies in an interval written as in mathematics, "[0, 0.5)", or is one of several: "0 or [1, 2]".

    >>> _is_inside(0.25, "[0, 0.5)"), _is_inside(0, "0 or [1, 2]"), _is_inside(0.5, "0 or [1, 2]")
    (True, True, False)
    >>> _is_inside(10**400, "[0, inf)")
    False
    """
    if " or " in limits:
        return any(_is_inside(x, part) for part in limits.split(" or "))
    if limits[0] not in "[(":
        return x == float(limits)
    try:
        x = float(x)
    except OverflowError:  # a whole number that is too large
        return False
    low, high = (float(end) for end in limits[1:-1].split(","))
    above = x > low or (x == low and limits[0] == "[")
    below = x < high or (x == high and limits[-1] == "]")
    return above and below and math.isfinite(x)


@dataclass(frozen=True)
class Score:
    """The record of a score.

    Attributes
    ----------
    name, title : str
        The name in `SCORES` and the name in words.
    function : callable
        From a `Table` to an array, entry by entry.
    formula : str
        In LaTeX, with A B C D for tp fp fn tn and p, q for the rates in and outside the class.
    about : str
        One sentence of intuition: the first line of the function's docstring.
    prefers : str
        What kind of term the score ranks high.
    source : str
        Key of ``references.bib``.
    papers : dict
        How the five papers spell it.
    range : str
        An interval; N is the number of documents.
    null : float or None
        The value at independence, where there is one.
    swap_classes, negate_term : "invariant", "flip", "invert" or None
        What happens to the value when A, C change places with B, D (the class and its complement), or A, B
        with C, D (presence and absence of the term).
    sided : 1 or 2
        One-sided scores tell terms that are more frequent in a class than elsewhere from those that are less.
    aggregation : str
        How ``overall()`` makes one number per term: max, sum, mean, weighted_mean, or global (a formula of
        its own).
    overall : callable, optional
        That formula.
    class_blind : bool
        The value does not depend on the class.
    tie_break : callable, optional
        Decides between terms of equal score; takes the same arguments as `function`.
    tie_break_title : str
        What the values of the tie-break are. Tables for people show them instead of a score that saturates.
    pvalue : callable, optional
        From a table and the values on it to probabilities under independence.
    single_label : bool
        The overall score means what it says only if each document has one label.
    most_docs : int
        The largest number of documents for which the score can be computed, exactly and in reasonable time.
    infinite : str
        Where the score is infinite, if anywhere.
    warning : str
        What a user should know before using it.
    confidence : str
        For scores that are not in the five papers: how sure the formula is.
    example : dict
        Cells and the value there.
    variants : tuple of str
        Spellings with other parameters that are worth knowing.
    shown : tuple of str
        Parameters that the spelling always shows.
    guarded : bool
        The formula puts terms of one or two documents first. So the score has a further parameter, ``min_df``, that
        does not change values: terms of fewer documents rank below all others. 1 turns it off.
    parameters : tuple of Parameter
        What can be set, each with its default and its valid values.
    given : dict
        The parameters that are not at their default.

    Examples
    --------
    >>> import termsieve as ts
    >>> one = ts.SCORES["bns"].with_parameters(floor=0.001)
    >>> one.spelling, one.title, one.sided
    ('bns(floor=0.001)', 'Bi-normal separation', 2)
    """

    name: str
    title: str
    function: TableFunction
    formula: str = ""
    about: str = ""
    prefers: str = ""
    source: str = ""
    papers: Mapping[str, str] = field(default_factory=dict)
    range: str = "(-inf, inf)"
    null: float | None = None
    swap_classes: Symmetry | None = None
    negate_term: Symmetry | None = None
    sided: Literal[1, 2] = 2
    aggregation: Aggregation = "max"
    overall: Callable[..., Array] | None = None
    class_blind: bool = False
    tie_break: TableFunction | None = None
    tie_break_title: str = ""
    pvalue: Callable[[Table, Array], Array] | None = None
    single_label: bool = False
    most_docs: int = MOST_DOCS
    infinite: str = ""
    warning: str = ""
    confidence: str = ""
    example: Mapping[str, float] = field(default_factory=dict)
    variants: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    guarded: bool = False
    parameters: tuple[Parameter, ...] = ()
    given: Mapping[str, ParameterValue] = field(default_factory=dict)

    @property
    def arguments(self) -> dict[str, ParameterValue]:
        """Every parameter with the value it has here."""
        return {p.name: self.given.get(p.name, p.default) for p in self.parameters}

    @property
    def family(self) -> str:
        """The module of the score: a function of the user's own has none."""
        package, _, module = self.function.__module__.rpartition(".")
        return module if package == "termsieve.scores" else ""

    @property
    def formula_arguments(self) -> dict[str, ParameterValue]:
        """The parameters that the function takes: all but the guard."""
        return {name: value for name, value in self.arguments.items() if not (self.guarded and name == MIN_DF)}

    @property
    def min_df(self) -> float:
        """Terms of fewer documents rank below all others."""
        return float(self.arguments[MIN_DF]) if self.guarded else 0.0

    @property
    def spelling(self) -> str:
        """The canonical spelling, which `parse` reads back."""
        values = [
            f"{name}={format_value(value)}"
            for name, value in self.arguments.items()
            if name in self.given or name in self.shown
        ]
        return f"{self.name}({', '.join(values)})" if values else self.name

    def with_parameters(self, **values: object) -> Score:
        """Return the same score with other parameters."""
        known = {p.name: p for p in self.parameters}
        for name in values:
            if name not in known:
                owned = ", ".join(known) or "none"
                hint = did_you_mean(name, known)
                raise OptionError(f"Unknown parameter {name!r} of {self.name!r}. {hint}Its parameters: {owned}.")
        checked = {name: known[name].check(value, self.name) for name, value in values.items()}
        together = {**self.given, **checked}
        return replace(
            self,
            given={p: together[p] for p in known if together.get(p, known[p].default) != known[p].default},
        )

    def check_documents(self, n_docs: float) -> None:
        """Refuse counts of more documents than the score is made for."""
        if n_docs > self.most_docs:
            raise CountsError(
                f"The score {self.name!r} is for counts of up to {self.most_docs:,} documents; "
                f"these have {int(n_docs):,}."
            )

    def evaluate(self, table: Table) -> Array:
        """Return the value of every entry of a table."""
        self.check_documents(float(np.max(table.N, initial=0.0)))
        return self.function(table, **self.formula_arguments)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Score) and (self.spelling, self.function) == (other.spelling, other.function)

    def __hash__(self) -> int:
        return hash(self.spelling)

    def __str__(self) -> str:
        return self.spelling

    def __repr__(self) -> str:
        return f"<Score {self.spelling}>"


def format_value(value: ParameterValue) -> str:
    """Write a parameter as it is written in Python, text in double quotes.

    >>> format_value("tf"), format_value(0.0005), format_value(5.0), format_value(True)
    ('"tf"', '0.0005', '5', 'True')
    """
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return repr(value)


def _read_parameters(function: TableFunction, limits: Mapping[str, str]) -> tuple[Parameter, ...]:
    """Read the parameters of a score from the signature of its function."""
    parameters, given = [], list(inspect.signature(function).parameters.values())[1:]
    hints = get_type_hints(function) if given else {}
    for p in given:
        if p.kind is not p.KEYWORD_ONLY or p.default is p.empty:
            raise TypeError(f"parameter {p.name!r} of score {function.__name__!r} must be keyword-only, with a default")
        hint = hints.get(p.name)
        choices = get_args(hint) if get_origin(hint) is Literal else ()
        default = p.default if isinstance(p.default, bool | str) else float(p.default)
        parameters.append(Parameter(p.name, default, choices, limits.get(p.name, Parameter.limits)))
    return tuple(parameters)


def make_score(function: TableFunction, *, limits: Mapping[str, str] | None = None, **facts: Any) -> Score:
    """Make the record of a function of a Table, without registering it."""
    doc = inspect.getdoc(function) or ""
    name = function.__name__
    about = doc.partition("\n")[0]
    parameters = _read_parameters(function, limits or {})
    if facts.get("guarded"):
        parameters += (Parameter(MIN_DF, GUARD, limits="[1, 1e9]"),)
    return Score(
        **{
            "name": name,
            "title": name,
            "about": about,
            **facts,
            "function": function,
            "parameters": parameters,
        }
    )


def score(*, title: str, source: str, **facts: Any) -> Callable[[TableFunction], TableFunction]:
    """Register the decorated function as a score under its own name.

    Parameters
    ----------
    title, source : str
        The name in words and the key of the publication in ``references.bib``.
    **facts
        Any other attribute of `Score`; ``limits`` maps parameters to the interval they must lie in.
    """

    def record(function: TableFunction) -> TableFunction:
        name = function.__name__
        if name in _SCORES:
            raise ValueError(f"There is a score {name!r} already.")
        _SCORES[name] = make_score(function, title=title, source=source, **facts)
        return function

    return record

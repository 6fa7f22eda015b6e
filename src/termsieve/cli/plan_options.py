"""The options of `compare` and `train`, generated from the parameters of a plan."""

from __future__ import annotations

import copy
import inspect
import shlex
from collections.abc import Callable, Mapping
from dataclasses import Field
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from termsieve.cli.completion import complete_classifiers, complete_scores, read_names
from termsieve.cli.inputs import parse_amount, split_names
from termsieve.cli.option_groups import GeneratedOptions, option
from termsieve.study.plan import ALL, AUTO, Contender, parameters

if TYPE_CHECKING:
    from termsieve.cli.messages import Messages
    from termsieve.documents import Documents

PANEL = "Study"
_LISTED = ("classifiers",)  # few enough to be named in the help text
_COMPLETE = {"scores": complete_scores, "classifiers": complete_classifiers}


class PlanOptions(GeneratedOptions):
    """The parameters of a plan as options; a command gets those that were given, as `termsieve.compare` takes them."""

    def __init__(self, *names: str, defaults: Mapping[str, Any] = MappingProxyType({})) -> None:
        known = parameters()
        self._fields = [_with_default(known[name], defaults) for name in names or known]

    def parameters(self) -> list[inspect.Parameter]:
        """Return an option for each parameter."""
        return [_option_of(one) for one in self._fields]

    def __call__(self, **given: Any) -> dict[str, Any]:
        """Return the arguments that were given; the plan has defaults for the others."""
        given_values = {
            name: value for name, value in given.items() if value is not None and value is not False and value != []
        }
        return {name: _PARSE.get(name, _as_is)(value) for name, value in given_values.items()}


def note_groups(documents: Documents, plan: dict[str, Any], messages: Messages) -> None:
    """Note a column whose documents should probably stay together in the folds."""
    from termsieve.documents.columns import find_group_column

    if "groups" in plan or isinstance(plan.get("cv"), str) or not documents.files:
        return
    if name := find_group_column(documents.column_names, documents.chosen_columns):
        messages.note(
            f"note: documents with the same {name!r} may be alike; if new documents will come from others, --groups "
            f"{shlex.quote(name)} keeps them together in the folds, and the F1 is that of documents of a new {name!r}."
        )


def _option_of(one: Field[Any]) -> inspect.Parameter:
    about = one.metadata["option"]
    known = ": " + ", ".join(name for name, _ in read_names(one.name)) if one.name in _LISTED else ""
    help_text = f"{about.help[:-1]}{known} (default {shown_default(one)})." if not _is_flag(one) else about.help
    more: dict[str, Any] = {"metavar": about.metavar, "help": help_text}
    if one.name in _COMPLETE:
        more["autocompletion"] = _COMPLETE[one.name]
    if about.least is not None:
        more["min"] = about.least
    annotation: Any = Annotated[_type_of(one), option(*about.flags, panel=PANEL, **more)]
    default = False if _is_flag(one) else None
    return inspect.Parameter(one.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _with_default(one: Field[Any], defaults: Mapping[str, Any]) -> Field[Any]:
    """Return a parameter with the default that it has in a command, where that is another."""
    changed = copy.copy(one)
    changed.default = defaults.get(one.name, one.default)
    return changed


def _is_flag(one: Field[Any]) -> bool:
    return isinstance(one.default, bool)


def _type_of(one: Field[Any]) -> Any:
    """Return the type of the option; `_PARSE` converts texts."""
    if _is_flag(one):
        return bool
    if isinstance(one.default, tuple):
        return list[str] | None
    return int | None if one.metadata["option"].least is not None else str | None


def shown_default(one: Field[Any]) -> str:
    """Return the default of a parameter as a user would write it.

    >>> shown_default(parameters()["classifiers"])
    'multinomial_nb,linear_svm'
    """
    values = one.default if isinstance(one.default, tuple) else (one.default,)
    return ",".join("none" if value is None else _name(value) for value in values)


def _name(value: Any) -> str:
    return value.name if isinstance(value, Contender) else str(value)


def _as_is(value: Any) -> Any:
    return value


def _parse_ks(given: list[str]) -> list[int | str]:
    return [one if one in (ALL, AUTO) else _parse_number(one) for one in split_names(given)]


def _parse_number(given: str) -> int:
    if not given.isdecimal():
        raise typer.BadParameter(
            f'{given!r} is not a number of terms. Write for example 10,100,1000 or "all".', param_hint="-k"
        )
    return int(given)


def _parse_cv(given: str) -> int | str:
    return int(given) if given.isdecimal() else given


def _parse_share(given: str) -> float:
    return parse_amount(given, "--min-df", 1)


def _parse_margin(given: str) -> float:
    try:
        return float(given)
    except ValueError:
        raise typer.BadParameter(f"{given!r} is not a number such as 0.01.", param_hint="--margin") from None


_PARSE: dict[str, Callable[[Any], Any]] = {
    "scores": split_names, "classifiers": split_names, "ks": _parse_ks, "cv": _parse_cv, "min_df": _parse_share,
    "margin": _parse_margin,
}  # fmt: skip

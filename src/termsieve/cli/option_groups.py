"""Groups of options that several commands share, each a dataclass or generated."""

from __future__ import annotations

import inspect
import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import fields, is_dataclass
from typing import Any, get_type_hints

import typer

PATH_PARAMETERS = ("files", "stop_words")
_SURROGATES = re.compile("[\ud800-\udfff]")


def option(*names: str, panel: str | None = None, **about: Any) -> Any:
    """Make an option whose default is part of its help text."""
    return typer.Option(*names, rich_help_panel=panel, show_default=False, **about)


def flag(*names: str, panel: str | None = None, **about: Any) -> Any:
    """Make an option without a value."""
    return option(*names, panel=panel, metavar="", **about)


def format_examples(*lines: str, more: str = "") -> str:
    """Format the examples at the end of a command's help."""
    shown = "\n".join(line.replace("[", "\\[") for line in lines)
    return f"[bold]Examples[/]\n{shown}" + (f"\n\n{more}" if more else "")


def expand_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Let a parameter whose type is a dataclass stand for the options that are the fields of the class.

    The command is called with an instance; where that is a context, within it.
    """
    parameters = inspect.signature(command).parameters
    hints = get_type_hints(command, include_extras=True)
    groups = {name: group for name in parameters if (group := _group_of(hints[name])) is not None}
    flat = []
    for name, parameter in parameters.items():
        options = _group_parameters(groups[name]) if name in groups else [parameter.replace(annotation=hints[name])]
        flat += [option.replace(kind=parameter.KEYWORD_ONLY) for option in options]

    def run(**given: Any) -> None:
        _refuse_invalid_utf8(given)
        with ExitStack() as stack:
            for name, group in groups.items():
                instance = group(**{option.name: given.pop(option.name) for option in _group_parameters(group)})
                given[name] = (
                    stack.enter_context(instance) if isinstance(instance, AbstractContextManager) else instance
                )
            command(**given)

    run.__name__, run.__doc__, run.__module__ = command.__name__, command.__doc__, command.__module__
    run.__signature__ = inspect.Signature(flat)  # type: ignore[attr-defined]
    run.__annotations__ = {option.name: option.annotation for option in flat}
    return run


class GeneratedOptions(ABC):
    """Options that are generated: `parameters` lists them, and a call returns what the command takes.

    A command asks for one by ``Annotated[dict[str, Any], group]``.
    """

    @abstractmethod
    def parameters(self) -> list[inspect.Parameter]:
        """Return the options as parameters of a command."""

    @abstractmethod
    def __call__(self, **given: Any) -> Any:
        """Return what the command is called with."""


def _group_of(hint: Any) -> Any:
    """Return the group of options that a parameter stands for, or None for an option of its own."""
    if is_dataclass(hint):
        return hint
    return next((one for one in getattr(hint, "__metadata__", ()) if isinstance(one, GeneratedOptions)), None)


def _refuse_invalid_utf8(given: dict[str, Any]) -> None:
    """Refuse text that is not UTF-8, whose bytes Python passes on as surrogates. File names may be so."""
    for name, value in given.items():
        for one in value if isinstance(value, list | tuple) else [value]:
            if name not in PATH_PARAMETERS and isinstance(one, str) and not one.isascii() and _SURROGATES.search(one):
                raise typer.BadParameter(f"{one!r} is not valid UTF-8.")


def _group_parameters(group: Any) -> list[inspect.Parameter]:
    if isinstance(group, GeneratedOptions):
        return group.parameters()
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name]
        )
        for field in fields(group)
        if field.init
    ]

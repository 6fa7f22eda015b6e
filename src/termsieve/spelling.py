"""Spellings of things with parameters, such as ``bns(floor=0.001)`` or ``top(1000)``: read with `ast`, never `eval`."""

from __future__ import annotations

import ast
import re
from typing import Any, NamedTuple

from termsieve.errors import OptionError

_MAX_LENGTH = 200  # characters of what a user or a file wrote, in an error
_PARSE_ERRORS = (SyntaxError, ValueError, TypeError, RecursionError, MemoryError)


class Call(NamedTuple):
    """A name and the values that were given to it."""

    name: str
    args: list[Any]
    kwargs: dict[str, Any]


def parse_call(text: str, what: str, example: str) -> Call:
    """Parse the name and parameters of a spelling; `what` it should be, and an `example`, are for the error.

    >>> parse_call("bns( floor = 1e-3 )", "score", "'gu'")
    Call(name='bns', args=[], kwargs={'floor': 0.001})
    """
    if not isinstance(text, str):
        raise OptionError(f"{text!r:.{_MAX_LENGTH}} is not the spelling of a {what}. It should look like {example}.")
    text = text.strip()
    if re.fullmatch(r"[\w-]+", text):
        return Call(text, [], {})
    try:
        node: ast.expr | None = ast.parse(text, mode="eval").body
    except _PARSE_ERRORS:
        node = None
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        raise OptionError(f"{_shorten(text)} is not the spelling of a {what}. It should look like {example}.")
    args = [_parse_value(value, value, text) for value in node.args]
    kwargs = {keyword.arg or "**": _parse_value(keyword.value, keyword, text) for keyword in node.keywords}
    if "**" in kwargs or len(kwargs) < len(node.keywords):
        raise OptionError(f"In {_shorten(text)} a parameter has no name, or is given twice.")
    return Call(node.func.id, args, kwargs)


def _parse_value(node: ast.expr, shown: ast.AST, text: str) -> Any:
    try:
        return ast.literal_eval(node)
    except _PARSE_ERRORS:
        written = ast.get_source_segment(text, shown) or ""  # unparse would go as deep as what is nested there
        raise OptionError(
            f"In {_shorten(text)}, {_shorten(written)} is not understood: a parameter is written as name=value, where "
            "the value is a number, True, False, None or text in quotes."
        ) from None


def _shorten(text: str) -> str:
    return repr(text) if len(text) <= _MAX_LENGTH else f"{text[:_MAX_LENGTH]!r}..."

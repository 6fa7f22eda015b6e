"""Tokenizers by name: functions that the user has given, and names in files, which are not imported or run."""

from __future__ import annotations

import functools
import importlib
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from termsieve.errors import OptionError

Tokenizer = Callable[[str], list[str]]


class Unconfirmed(str):
    """A tokenizer name or a token pattern that a file gives, and that the user has not given as well.

    It is shown, compared and saved as any other string, and copies and changed analyzers keep it as it is. It is not
    imported, compiled or run: whoever wrote the file would decide what this machine does.
    """

    __slots__ = ()


def find_tokenizer(tokenizer: object) -> object:
    """Return the tokenizer of settings: a name, and nothing else."""
    if tokenizer is None:
        return None
    if not isinstance(tokenizer, str) or not re.fullmatch(r"[\w.]{1,200}:[\w.]{1,200}", tokenizer):
        raise OptionError(f"Analyzer: the tokenizer of settings must be a name, not {tokenizer!r:.100}.")
    return Unconfirmed(tokenizer)


def _import_path(tokenizer: object) -> str:
    """Return the import path of a tokenizer; what has none cannot be part of a fingerprint."""
    if isinstance(tokenizer, str):
        if ":" not in tokenizer:
            raise OptionError(
                f"Analyzer: tokenizer {tokenizer!r} must be a function or read 'package.module:function'."
            )
        return tokenizer
    owner = getattr(tokenizer, "__objclass__", tokenizer)
    module, name = getattr(owner, "__module__", None), getattr(tokenizer, "__qualname__", None)
    if not callable(tokenizer) or not module or not name or "<lambda>" in name:
        raise OptionError(
            f"Analyzer: tokenizer must be a function with a name, not {tokenizer!r}: its name stands in the "
            "fingerprint of counts. Define it with def."
        )
    return f"{module}:{name}"


# What the user has given in this process: functions by their names, and names of functions. What a file names is used
# only if it is among these.
_TOKENIZERS: dict[str, Tokenizer] = {}
_NAMES: set[str] = set()


def register_tokenizer(tokenizer: Tokenizer | str) -> str:
    """Return the name of a tokenizer, by which this process finds it again even where it cannot be imported."""
    name = _import_path(tokenizer)
    if isinstance(tokenizer, Unconfirmed):
        return tokenizer
    if not isinstance(tokenizer, str):
        _TOKENIZERS[name] = tokenizer
    _NAMES.add(name)
    return name


def check_tokens(tokens: Any, maker: str) -> list[str]:
    """Return the words that a user's function has made of a text; refuse anything but a list of strings."""
    if isinstance(tokens, Iterable):
        found: list[str] = list(tokens)
        if set(map(type, found)) <= {str} or all(isinstance(token, str) for token in found):
            return found
        tokens = next(token for token in found if not isinstance(token, str))
    raise OptionError(f"{maker} must return a list of strings for a text; it returned {tokens!r:.60}.")


def tokenizer_name(tokenizer: Tokenizer | str) -> str:
    """Return the name of a tokenizer that the user gives; a file may name it from now on."""
    return str(register_tokenizer(tokenizer))


def import_tokenizer_from(folder: Path, name: str) -> str:
    """Import the module of a tokenizer, also from a folder, and return its name: only for a name that a user typed.

    The folder is on Python's path only as long as that takes: later imports are not to find other things there.
    """
    sys.path.append(str(folder))
    try:
        resolve_tokenizer(tokenizer_name(name))
    finally:
        sys.path.remove(str(folder))
    return name


def resolve_tokenizer(tokenizer: str) -> Tokenizer:
    """Return the function of a name; what only a file names is refused."""
    if tokenizer in _TOKENIZERS:
        return _TOKENIZERS[tokenizer]
    if isinstance(tokenizer, Unconfirmed) and tokenizer not in _NAMES:
        raise OptionError(
            f"The tokenizer {str(tokenizer)!r} is named by a file, and what a file names is not imported or run. If "
            f"you trust it, name it yourself first: termsieve.Analyzer(tokenizer={str(tokenizer)!r})."
        )
    module, _, name = tokenizer.partition(":")
    try:
        found = functools.reduce(getattr, name.split("."), importlib.import_module(module))
    except ModuleNotFoundError as error:
        raise OptionError(
            f"Analyzer: tokenizer {str(tokenizer)!r} cannot be imported: {error}. Install its module, or name "
            "its folder in the environment variable PYTHONPATH."
        ) from error
    except (ImportError, AttributeError, ValueError) as error:
        raise OptionError(f"Analyzer: tokenizer {str(tokenizer)!r} cannot be imported: {error}.") from error
    if not callable(found):
        raise OptionError(f"Analyzer: tokenizer {str(tokenizer)!r} is not a function.")
    return found

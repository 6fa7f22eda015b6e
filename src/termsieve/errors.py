"""The errors of termsieve, one small tree.

::

    TermsieveError                    everything a user can fix; the command line prints it without a traceback
    ├── InputError                    documents that cannot be read: says file and line or row
    ├── OptionError                   a parameter with an invalid value: says what would be valid
    ├── MissingExtraError             an optional package is needed: says how to install it
    ├── OutputError                   a file that cannot be written
    ├── UnknownNameError              a term or a class that is not there
    ├── CountsError                   counts that cannot be added, subtracted or changed as requested
    └── CountsFileError               a file that is not a whole, unaltered counts file

Each says what is wrong, what was given and what would work. ``InputError``, ``OptionError`` and the two about
counts are also ``ValueError``; ``MissingExtraError`` is also ``ImportError``, ``UnknownNameError`` also ``KeyError``,
``OutputError`` also ``OSError``. What is no error, and good to know, is a ``TermsieveWarning``.
"""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class TermsieveError(Exception):
    """An error that the user of the library can fix."""


class InputError(TermsieveError, ValueError):
    """Documents that cannot be read as requested."""


class OptionError(TermsieveError, ValueError):
    """A parameter with an invalid value."""


class MissingExtraError(TermsieveError, ImportError):
    """An optional package that is not installed."""

    def __init__(self, purpose: str, package: str, extra: str) -> None:
        super().__init__(
            f"{purpose} needs the package {package!r}, which is not installed. "
            f"Install it with: pip install 'termsieve[{extra}]'"
        )
        self.purpose, self.package, self.extra = purpose, package, extra

    def __reduce__(self) -> tuple[type[MissingExtraError], tuple[str, str, str]]:
        return type(self), (self.purpose, self.package, self.extra)


class OutputError(TermsieveError, OSError):
    """A file that cannot be written."""


class TermsieveWarning(UserWarning):
    """Something that is good to know, said by termsieve itself: commands show it, and no warning of other libraries."""


_collected: ContextVar[list[str] | None] = ContextVar("_collected", default=None)


def warn(message: str, stacklevel: int = 2) -> None:
    """Warn of something; where warnings are collected, keep it instead."""
    kept = _collected.get()
    if kept is None:
        warnings.warn(message, TermsieveWarning, stacklevel=stacklevel + 1)
    else:
        kept.append(message)


@contextmanager
def collect_warnings() -> Iterator[list[str]]:
    """Collect what this thread would warn of: filters of Python's warnings are of all threads."""
    kept: list[str] = []
    token = _collected.set(kept)
    try:
        yield kept
    finally:
        _collected.reset(token)


class UnknownNameError(TermsieveError, KeyError):
    """A term or a class that is not there."""

    def __str__(self) -> str:  # KeyError would quote it
        return str(self.args[0])


class CountsError(TermsieveError, ValueError):
    """Counts that cannot be combined or changed as requested."""


class CountsFileError(TermsieveError, ValueError):
    """A file that is not a whole, unaltered counts file."""


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """Suggest a similar name for one that was not found, with a trailing space; empty if there is none.

    >>> did_you_mean("lable", ["label", "text"])
    "Did you mean 'label'? "
    """
    close = difflib.get_close_matches(str(word), list(known), n=1)
    return f"Did you mean {close[0]!r}? " if close else ""


def describe_single_class(n_docs: int, classes: Iterable[str]) -> str:
    """Say that there is nothing to tell apart.

    >>> describe_single_class(40, ["ham"]).partition("; ")[2]
    "the 40 documents have 'ham'. The label column may be the wrong one."
    """
    found = ", ".join(repr(str(name)) for name in classes) or "none"
    said = f"There must be at least two classes to tell apart; the {n_docs:,} documents have {found}."
    return f"{said} The label column may be the wrong one."


def was_interrupted(error: BaseException | None) -> bool:
    """Tell whether an interrupt is behind an error: libraries turn one that comes while they load into their own."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None

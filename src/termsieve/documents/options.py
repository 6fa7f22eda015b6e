"""What `read` was asked for, checked."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from termsieve.defaults import DEFAULT_ENCODING, DEFAULT_ENCODING_ERRORS
from termsieve.documents.separators import check_separator
from termsieve.errors import InputError, OptionError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MAX_SHOWN_COLUMNS = 30
ENCODING_ERRORS = ("error", "skip", "replace")


@dataclass(frozen=True)
class Options:
    """Which columns hold what, how the bytes are read, and what happens to rows that do not fit."""

    text: tuple[str, ...] = ("text",)
    label: str | None = "label"
    label_sep: str | None = None
    split: tuple[str, Any] | None = None
    encoding: str = DEFAULT_ENCODING
    encoding_errors: str = DEFAULT_ENCODING_ERRORS
    strict: bool = False
    sep: str | None = None
    sheet: str | int | None = None
    quotes: bool = True
    by_file: bool = False

    def columns(self, extra: Iterable[str]) -> list[str]:
        """List every column that has to be read, once."""
        label = () if self.label is None else (self.label,)
        split = () if self.split is None else (self.split[0],)
        return list(dict.fromkeys((*self.text, *label, *split, *extra)))


def make_options(
    text: str | Sequence[str],
    label: str | None,
    *,
    label_sep: str | None = None,
    split: tuple[str, Any] | None = None,
    encoding: str = DEFAULT_ENCODING,
    encoding_errors: str = DEFAULT_ENCODING_ERRORS,
    strict: bool = False,
    sep: str | None = None,
    sheet: str | int | None = None,
    quotes: bool = True,
) -> Options:
    """Make `Options` from what a user wrote, or an `OptionError` that says what would work."""
    if label is not None and not isinstance(label, str):
        raise OptionError(f"label must be the name of one column, or None for no labels; got {label!r}.")
    if label_sep is not None and not (isinstance(label_sep, str) and label_sep):
        raise OptionError(f'label_sep must be a string such as ",", or None; got {label_sep!r}.')
    if encoding_errors not in ENCODING_ERRORS:
        raise OptionError(f"encoding_errors must be 'error', 'skip' or 'replace', got {encoding_errors!r}.")
    for name, value in (("strict", strict), ("quotes", quotes)):
        if not isinstance(value, bool):
            raise OptionError(f"{name} must be True or False, got {value!r}.")
    return Options(
        text=_check_text_columns(text), label=label, label_sep=label_sep, split=_check_split(split),
        encoding=_check_encoding(encoding), encoding_errors=encoding_errors, strict=strict, sep=check_separator(sep),
        sheet=_check_sheet(sheet), quotes=quotes,
    )  # fmt: skip


def _check_text_columns(text: str | Sequence[str]) -> tuple[str, ...]:
    names = (text,) if isinstance(text, str) else text
    if not isinstance(names, (list, tuple)) or not names or not all(isinstance(name, str) for name in names):
        raise OptionError(f"text must be the name of a column, or a list of names; got {text!r}.")
    return tuple(names)


def _check_split(split: Any) -> tuple[str, Any] | None:
    if split is None:
        return None
    if not isinstance(split, (list, tuple)) or len(split) != 2 or not isinstance(split[0], str):
        raise OptionError(f'split must be a column and a value, such as ("split", "train"); got {split!r}.')
    return (split[0], split[1])


def _check_sheet(sheet: Any) -> str | int | None:
    if sheet is None or (isinstance(sheet, str) and sheet):
        return sheet
    if isinstance(sheet, int) and not isinstance(sheet, bool) and sheet >= 1:
        return sheet
    raise OptionError(f"sheet must be the name of a sheet, or its number, the first being 1; got {sheet!r}.")


def _check_encoding(encoding: str) -> str:
    try:
        "".encode(encoding)
        codecs.getincrementaldecoder(encoding)("surrogateescape").decode(b"", final=True)  # as files are decoded
    except (LookupError, TypeError, ValueError) as error:
        raise OptionError(
            f"encoding must be a text encoding of Python, such as 'utf-8' or 'latin-1'; got {encoding!r}."
        ) from error
    return encoding


def check_columns(source: str, wanted: Iterable[str], present: Sequence[str]) -> None:
    """Refuse a column that is not there, or that is there twice."""
    for name in wanted:
        if present.count(name) == 1:
            continue
        if name in present:
            raise InputError(f"{source}: more than one column is named {name!r}; columns must have different names.")
        raise InputError(
            f"{source}: there is no column {name!r}. {did_you_mean(name, present)}Columns: {_format_names(present)}."
        )


def _format_names(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:MAX_SHOWN_COLUMNS])
    return shown + (", ..." if len(names) > MAX_SHOWN_COLUMNS else "") if names else "none"

"""The year, quarter, month, week or day that a date is in: what documents with dates are divided by."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime
from functools import lru_cache
from typing import Any, Literal, TypeAlias, get_args

from termsieve.errors import InputError, OptionError

Every: TypeAlias = Literal["year", "quarter", "month", "week", "day"]
EVERY: tuple[Every, ...] = get_args(Every)
_YEAR_AND_MONTH = re.compile(r"(\d{4})(?:-(\d\d))?")  # ISO 8601 without a day
_COARSE = {"year": 1, "quarter": 2, "month": 2}  # parts of a date that each needs; the others need all three


def make_namer(every: Every) -> Callable[[Any], str]:
    """Return a function from a date to the name of its period; names sort in the order of time.

    >>> [make_namer(every)("2024-05-17T08:30:00") for every in EVERY]
    ['2024', '2024-Q2', '2024-05', '2024-W20', '2024-05-17']
    """
    if every not in EVERY:
        raise OptionError(f"every must be one of {', '.join(map(repr, EVERY))}, not {every!r}.")

    @lru_cache(maxsize=1 << 16)  # dates repeat
    def name(value: Any) -> str:
        return _name_period(_read_date(value, every), every)

    return name


def _read_date(value: Any, every: Every) -> date:
    """Return the date of a value: a date, or text as ISO 8601 or as in mail headers."""
    if isinstance(value, date):  # also a datetime
        return value
    text = str(value).strip()
    short = _YEAR_AND_MONTH.fullmatch(text)
    try:
        if short and _COARSE.get(every, 3) <= (1 if short[2] is None else 2):
            return date(int(short[1]), int(short[2] or 1), 1)
        return datetime.fromisoformat(text)
    except ValueError:
        pass
    from email.utils import parsedate_to_datetime  # slow to import, and seldom needed

    try:
        return parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        raise InputError(
            f"{value!r} is not a date from which the {every} follows: dates are written as 2024-05-17 (ISO 8601) "
            "or as in mail headers."
        ) from None


def _name_period(day: date, every: Every) -> str:
    if every == "week":
        year, week, _ = day.isocalendar()
        return f"{year:04}-W{week:02}"
    if every == "quarter":
        return f"{day.year:04}-Q{(day.month + 2) // 3}"
    return f"{day.year:04}-{day.month:02}-{day.day:02}"[: {"year": 4, "month": 7, "day": 10}[every]]

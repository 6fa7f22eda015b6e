"""How a value that is not a string is written as a label: one spelling, whatever path it came by.

The rule is Python's ``str()``: ``True``, ``7``, ``1.5``, ``2026-01-31``, ``2026-01-31 12:00:00``. It is completed where
``str()`` would give one value two spellings, or where a library has a ``str()`` of its own:

- ``-0.0`` is ``0.0``.
- A float of 16 or 32 bits has the digits that its own type needs: 0.1 is ``0.1``, and not ``0.10000000149011612``.
- A decimal has no zeros at its end, and no exponent: 1.50 is ``1.5``, 2.00 is ``2``.
- A moment has no fraction, six digits or nine digits of a second, as many as it needs, whatever its unit is.
- Bytes are UTF-8.

What is missing (None, NaN, NaT, NA) has no spelling.
"""

from __future__ import annotations

import datetime as dt
import decimal
import math
import numbers
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from termsieve.documents.chunks import JsonLiteral

_MISSING_TYPES = ("NAType", "NaTType")  # of pandas, which may not be installed
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_SECONDS = len("2026-01-31 12:00:00")
_EPOCH_DAY = dt.date(1970, 1, 1)


def is_missing(value: Any) -> bool:
    """Recognise None, and the values by which frames and NumPy mark what is missing."""
    if value is None or type(value).__name__ in _MISSING_TYPES:
        return True
    if isinstance(value, (float, np.floating, decimal.Decimal, np.datetime64, np.timedelta64)):
        return bool(value != value)
    return False


def find_similar_labels(labels: Iterable[str]) -> list[list[str]]:
    """Find labels that differ in case or spaces only: mostly these are one class, misspelled.

    >>> find_similar_labels(["Spam", "ham", " spam"])
    [['Spam', ' spam']]
    """
    spellings: dict[str, list[str]] = {}
    for label in labels:
        spellings.setdefault(" ".join(label.casefold().split()), []).append(label)
    return [same for same in spellings.values() if len(same) > 1]


def spell(value: Any) -> str:
    """Write a plain value as a string; a `ValueError` says what is no plain value.

    >>> spell(True), spell(1e22), spell(np.float32(0.1)), spell(decimal.Decimal("1.50")), spell(-0.0)
    ('True', '1e+22', '0.1', '1.5', '0.0')
    """
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    for kinds, write in _WRITERS:
        if isinstance(value, kinds):
            return write(value)
    raise ValueError(f"not a string or number: it is of type {type(value).__name__}")


def _spell_float(value: Any) -> str:
    small = isinstance(value, np.floating) and value.itemsize < np.dtype(np.float64).itemsize
    number = float(str(value)) if small else float(value)
    return str(number if number else 0.0)


def _spell_decimal(value: decimal.Decimal) -> str:
    if not value.is_finite():
        return str(value)
    digits = format(value, "f")
    if "." in digits:
        digits = digits.rstrip("0").rstrip(".")
    return "0" if digits == "-0" else digits


def _spell_bytes(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"not valid utf-8: at byte {error.start}") from error


def _spell_numpy_time(value: Any) -> str:
    (spelled,) = spell_array(pa.array(numpy_times(np.array([value]))))
    if spelled is None:
        raise ValueError(_OUT_OF_RANGE)
    return spelled


def _spell_duration(value: dt.timedelta) -> str:
    whole = dt.timedelta(days=value.days, seconds=value.seconds)
    return str(whole) + _fraction(value.microseconds * 1000 + getattr(value, "nanoseconds", 0))


_WRITERS: tuple[tuple[Any, Callable[[Any], str]], ...] = (
    (JsonLiteral, str),
    ((np.datetime64, np.timedelta64), _spell_numpy_time),
    ((float, np.floating), _spell_float),
    (np.integer, lambda value: str(int(value))),
    (decimal.Decimal, _spell_decimal),
    (dt.timedelta, _spell_duration),
    ((dt.date, dt.time), str),  # a datetime is a date
    (bytes, _spell_bytes),
    (numbers.Number, str),
)
_OUT_OF_RANGE = "a date outside of the years 1 to 9999"


def is_infinite(value: Any) -> bool:
    """Recognise an infinite number."""
    if isinstance(value, decimal.Decimal):
        return value.is_infinite()
    return isinstance(value, (float, np.floating)) and math.isinf(value)


def numpy_times(values: Any) -> Any:
    """Return dates or times of NumPy in a unit that Arrow has."""
    unit = np.datetime_data(values.dtype)[0]
    if unit == "generic":  # without a unit, as of an array of NaT alone
        return values.astype(f"{values.dtype.kind}8[s]")
    if unit in ("D", *_PER_SECOND) and (unit, values.dtype.kind) != ("D", "m"):
        return values
    days = values.dtype.kind == "M" and unit in ("Y", "M", "W")
    return values.astype(f"{values.dtype.kind}8[{'D' if days else 's' if unit in ('W', 'D', 'h', 'm') else 'ns'}]")


# Arrow arrays


def spell_array(values: pa.Array) -> list[str | None]:
    """Write the values of an array of a plain type; None where a value is missing or a date that Python cannot hold."""
    kind = values.type
    if pt.is_timestamp(kind) or pt.is_time(kind) or pt.is_duration(kind):
        return _spell_times(values)
    if pt.is_date(kind):
        days = values.cast(pa.date32()).cast(pa.int32())
        return [_spell_if_possible(_day, day) for day in days.to_pylist()]
    if pt.is_float16(kind) or pt.is_float32(kind):
        return [None if value is None or np.isnan(value) else _spell_float(value) for value in _small_floats(values)]
    return [None if is_missing(value) else spell(value) for value in values.to_pylist()]


def _day(days: int) -> str:
    return str(_EPOCH_DAY + dt.timedelta(days=days))


def _small_floats(values: pa.Array) -> list[Any]:
    """Return the values in their own type, which `to_pylist` would widen."""
    scalar = np.float16 if pt.is_float16(values.type) else np.float32
    return [None if value is None else scalar(value) for value in values.to_pylist()]


def _spell_times(values: pa.Array) -> list[str | None]:
    """Write whole seconds as Python does, then the fraction: Python has no nanoseconds."""
    kind = values.type
    per_second = _PER_SECOND[kind.unit]
    numbers_ = values.cast(pa.int32() if pt.is_time32(kind) else pa.int64()).to_pylist()
    return [_spell_if_possible(lambda number: _time(number, per_second, kind), number) for number in numbers_]


def _time(number: int, per_second: int, kind: pa.DataType) -> str:
    seconds, rest = divmod(number, per_second)
    fraction = _fraction(rest * (10**9 // per_second))
    if pt.is_time(kind):
        return str(dt.time(seconds // 3600, seconds // 60 % 60, seconds % 60)) + fraction
    if pt.is_duration(kind):
        return str(dt.timedelta(seconds=seconds)) + fraction
    # Arrow finds the time zone, as it would for the whole column
    moment = str(pa.scalar(seconds, pa.int64()).cast(pa.timestamp("s", kind.tz)).as_py())
    return moment[:_SECONDS] + fraction + moment[_SECONDS:]


def _fraction(nanoseconds: int) -> str:
    if not nanoseconds:
        return ""
    return f".{nanoseconds // 1000:06}" if nanoseconds % 1000 == 0 else f".{nanoseconds:09}"


def _spell_if_possible(write: Callable[[int], str], number: int | None) -> str | None:
    try:
        return None if number is None else write(number)
    except (OverflowError, ValueError):
        return None

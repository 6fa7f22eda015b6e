"""Checks of what users give that several stages share."""

from __future__ import annotations

from numbers import Integral
from typing import TypeGuard


def is_whole_number(value: object, least: int = 0) -> TypeGuard[int]:
    """Tell whether a value is a whole number, of Python or NumPy, that is not too small; True and False are none.

    >>> is_whole_number(3), is_whole_number(3.0), is_whole_number(True), is_whole_number(3, least=4)
    (True, False, False, False)
    """
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least

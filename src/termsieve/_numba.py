"""How numba compiles the loops of termsieve, and where it keeps what it compiled: the one place that sets it up.

Compiled loops are kept on disk. numba looks for a folder that can be written to: ``NUMBA_CACHE_DIR``, ``__pycache__``
beside the module, the cache of the user. Where there is none (an installation that is read-only, no home), a folder in
the temporary directory is used that belongs to this user alone: what is kept there is loaded as code. Without that the
loops are compiled in each process. A cache that is damaged, or whose disk is full, is treated as no cache.
"""

from __future__ import annotations

import functools
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import event
from numba.core.caching import FunctionCache
from numba.extending import intrinsic

from termsieve import _kernels

F = TypeVar("F", bound=Callable[..., object])


class _OptionalCache(FunctionCache):
    """Files that help when they can be read and written, and do no harm when they cannot."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """What was compiled before, None when it is not there or cannot be read."""
        try:
            return super().load_overload(sig, target_context)
        except MemoryError:
            raise
        except Exception:  # noqa: BLE001 - a damaged pickle can raise anything; the loop is compiled again
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled, if that is possible."""
        try:
            super().save_overload(sig, data)
        except MemoryError:
            raise
        except Exception:  # noqa: BLE001 - a full disk, a folder that is gone, an old index that is damaged
            self.disable()


def jit(function: F) -> F:
    """Compile a loop when it is first called, without the interpreter lock; its types stay those of the function."""
    compiled: Any = numba.njit(nogil=True, boundscheck=False)(function)
    cache = _find_cache(function)
    if cache is not None:
        compiled._cache = cache
    return cast("F", compiled)


def _find_cache(function: Callable[..., object]) -> _OptionalCache | None:
    """The cache of a loop in the first folder that can be written to; None when there is none."""
    try:
        return _OptionalCache(function)
    except (RuntimeError, OSError):  # numba's "cannot cache function: no locator available"
        folder = _private_folder()
    if folder is None:
        return None
    config: Any = numba.config
    before, config.CACHE_DIR = config.CACHE_DIR, str(folder)
    try:
        return _OptionalCache(function)
    except (RuntimeError, OSError):
        return None
    finally:
        config.CACHE_DIR = before


@functools.cache
def _private_folder() -> Path | None:
    """A folder in the temporary directory that only this user can read or write; None when there is none."""
    try:
        folder = _kernels.private_folder()
        if folder is None:
            return None
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return None
    private = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not stat.S_IMODE(found.st_mode) & 0o077
    return folder if private else None


def can_keep_loops() -> bool:
    """Whether what is compiled is kept for the next process."""
    return _find_cache(can_keep_loops) is not None


class _Listener(event.Listener):
    """Passes on that numba compiles something."""

    def on_start(self, _: Any) -> None:
        """Pass it on."""
        _kernels.tell_listeners()

    def on_end(self, _: Any) -> None:
        """Do nothing."""


event.register("numba:compile", _Listener())


# Instructions that numba has no name for


def _lowest_bit(typingctx: Any, bits: Any) -> Any:  # noqa: ARG001 - numba's way
    """The number of the lowest bit that is set, of a 64-bit number that is not 0."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate


def _multiply_and_fold(typingctx: Any, a: Any, b: Any) -> Any:  # noqa: ARG001 - numba's way
    """The upper and lower half of the product of two 64-bit numbers, combined by exclusive or: one multiplication."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001
        wide, narrow = ir.IntType(128), ir.IntType(64)
        product = builder.mul(builder.zext(arguments[0], wide), builder.zext(arguments[1], wide))
        upper = builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), narrow)
        return builder.xor(upper, builder.trunc(product, narrow))

    return types.uint64(types.uint64, types.uint64), generate


lowest_bit: Any = intrinsic(_lowest_bit)
multiply_and_fold: Any = intrinsic(_multiply_and_fold)

_CONFIG: Any = numba.config
if _CONFIG.DISABLE_JIT:  # `make coverage` runs the loops as Python, in which an instruction cannot be called

    def lowest_bit(bits: int) -> int:
        """Return the number of the lowest bit that is set."""
        return (int(bits) & -int(bits)).bit_length() - 1

    def multiply_and_fold(a: int, b: int) -> np.uint64:
        """Return the halves of the product of two 64-bit numbers, combined by exclusive or."""
        product = int(a) * int(b)
        return np.uint64((product >> 64) ^ (product & (2**64 - 1)))

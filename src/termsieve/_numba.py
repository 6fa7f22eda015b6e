"""How numba compiles the loops of termsieve, and where it keeps what it compiled: the one place that sets it up.

Compiled loops are kept on disk. numba looks for a folder that can be written to: ``NUMBA_CACHE_DIR``, ``__pycache__``
beside the module, the cache of the user. Where there is none (an installation that is read-only, no home), a folder in
the temporary directory is used that belongs to this user alone: what is kept there is loaded as code. Without that the
loops are compiled in each process. A cache that is damaged, or whose disk is full, is treated as no cache.
"""

from __future__ import annotations

import ctypes
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
from termsieve._types import AnyArray, UInt8Array

F = TypeVar("F", bound=Callable[..., object])


class _OptionalCache(FunctionCache):
    """Files that help when they can be read and written, and do no harm when they cannot."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return what was compiled before, None when it is not there or cannot be read."""
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
    njit: Any = numba.njit  # its types lack the last option
    # no other library calls the loops by pointers: what would be compiled for that is left out
    compiled = njit(nogil=True, boundscheck=False, no_cfunc_wrapper=True)(function)
    cache = _find_cache(function)
    if cache is not None:
        compiled._cache = cache
    return cast("F", compiled)


def _find_cache(function: Callable[..., object]) -> _OptionalCache | None:
    """Return the cache of a loop in the first folder that can be written to; None when there is none."""
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
    """Return a folder in the temporary directory that only this user can read or write; None when there is none."""
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
    """Tell whether what is compiled is kept for the next process."""
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
    """Return the number of the lowest bit that is set, of a 64-bit number that is not 0."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate


def _multiply_and_fold(typingctx: Any, a: Any, b: Any) -> Any:  # noqa: ARG001 - numba's way
    """Return the halves of the product of two 64-bit numbers, combined by exclusive or: one multiplication."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001
        wide, narrow = ir.IntType(128), ir.IntType(64)
        product = builder.mul(builder.zext(arguments[0], wide), builder.zext(arguments[1], wide))
        upper = builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), narrow)
        return builder.xor(upper, builder.trunc(product, narrow))

    return types.uint64(types.uint64, types.uint64), generate


def _pointer(context: Any, builder: Any, kind: Any, array: Any, index: Any, width: int) -> Any:
    """Point to an element of a contiguous array, as if it were a number of so many bits."""
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [index]), ir.PointerType(ir.IntType(width)))


def _load_eight(typingctx: Any, array: Any, index: Any) -> Any:  # noqa: ARG001 - numba's way
    """Load eight bytes from byte `index` on, which need not be aligned; the first is the lowest."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _pointer(context, builder, signature.args[0], arguments[0], arguments[1], 64)
        return builder.load(pointer, align=1)

    return types.uint64(array, types.uint64), generate


def _store_eight(typingctx: Any, array: Any, index: Any, value: Any) -> Any:  # noqa: ARG001 - numba's way
    """Store eight bytes from byte `index` on, which need not be aligned; the lowest comes first."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _pointer(context, builder, signature.args[0], arguments[0], arguments[1], 64)
        builder.store(arguments[2], pointer, align=1)
        return context.get_dummy_value()

    return types.void(array, types.uint64, types.uint64), generate


def _prefetch(typingctx: Any, array: Any, index: Any) -> Any:  # noqa: ARG001 - numba's way
    """Ask for the memory of an element, which will be read soon."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _pointer(context, builder, signature.args[0], arguments[0], arguments[1], 8)
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [pointer.type, number, number, number])
        function = builder.module.declare_intrinsic("llvm.prefetch", [pointer.type], kind)
        builder.call(function, [pointer, *(ir.Constant(number, value) for value in (0, 3, 1))])  # read, keep, data
        return context.get_dummy_value()

    return types.void(array, types.uint64), generate


def _swap_bytes(typingctx: Any, number: Any) -> Any:  # noqa: ARG001 - numba's way
    """Reverse the order of the bytes of a 64-bit number."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001
        return builder.bswap(arguments[0])

    return types.uint64(types.uint64), generate


def _as_pointer(typingctx: Any, address: Any) -> Any:  # noqa: ARG001 - numba's way
    """Return an address as a pointer, for `carray`: how a loop is given any number of arrays."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001
        return builder.inttoptr(arguments[0], ir.PointerType(ir.IntType(8)))

    return types.voidptr(types.int64), generate


_BLOCK = ir.VectorType(ir.IntType(8), 64)


def _splat(builder: Any, byte: Any) -> Any:
    """Repeat a byte 64 times."""
    first = builder.insert_element(ir.Constant(_BLOCK, ir.Undefined), byte, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(
        first, ir.Constant(_BLOCK, ir.Undefined), ir.Constant(ir.VectorType(ir.IntType(32), 64), [0] * 64)
    )


def _constant_block(byte: int) -> Any:
    return ir.Constant(_BLOCK, [byte] * 64)


def _load_block(context: Any, builder: Any, kind: Any, array: Any, index: Any) -> Any:
    pointer = _pointer(context, builder, kind, array, index, 8)
    return builder.load(builder.bitcast(pointer, ir.PointerType(_BLOCK)), align=1)


def _mask_at_least(typingctx: Any, array: Any, index: Any, least: Any) -> Any:  # noqa: ARG001 - numba's way
    """Return a bit for each of the 64 bytes from `index` on, set where it is at least `least`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        block = _load_block(context, builder, signature.args[0], arguments[0], arguments[1])
        bits = builder.icmp_unsigned(">=", block, _splat(builder, arguments[2]))
        return builder.bitcast(bits, ir.IntType(64))

    return types.uint64(array, types.uint64, types.uint8), generate


def _fold_block(typingctx: Any, text: Any, i: Any, folded: Any, o: Any, lows: Any, widths: Any, case: Any) -> Any:  # noqa: ARG001
    """Fold 64 bytes of `text` from `i` on into `folded` from `o` on; one bit for each byte, set where it is not ASCII.

    Byte k of `lows` and of `widths` is where the k-th of four ranges of word characters begins and how many more it
    has. Capitals among them get the bit `case`. Other ASCII characters become zero, and bytes beyond ASCII stay.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds = signature.args
        block = _load_block(context, builder, kinds[0], arguments[0], arguments[1])
        beyond = builder.icmp_unsigned(">=", block, _constant_block(0x80))
        kept = beyond
        for k in range(4):
            shift = ir.Constant(ir.IntType(64), 8 * k)
            low, width = (
                _splat(builder, builder.trunc(builder.lshr(arguments[which], shift), ir.IntType(8))) for which in (4, 5)
            )
            kept = builder.or_(kept, builder.icmp_unsigned("<=", builder.sub(block, low), width))
        capital = builder.icmp_unsigned("<", builder.sub(block, _constant_block(0x41)), _constant_block(26))
        lowered = builder.or_(block, builder.select(capital, _splat(builder, arguments[6]), _constant_block(0)))
        pointer = builder.bitcast(
            _pointer(context, builder, kinds[2], arguments[2], arguments[3], 8), ir.PointerType(_BLOCK)
        )
        builder.store(builder.select(kept, lowered, _constant_block(0)), pointer, align=1)
        return builder.bitcast(beyond, ir.IntType(64))

    numbers = (types.uint64, types.uint64, types.uint8)
    return types.uint64(text, types.uint64, folded, types.uint64, *numbers), generate


lowest_bit: Any = intrinsic(_lowest_bit)
multiply_and_fold: Any = intrinsic(_multiply_and_fold)
load_eight: Any = intrinsic(_load_eight)
store_eight: Any = intrinsic(_store_eight)
prefetch: Any = intrinsic(_prefetch)
swap_bytes: Any = intrinsic(_swap_bytes)
mask_at_least: Any = intrinsic(_mask_at_least)
fold_block: Any = intrinsic(_fold_block)
as_pointer: Any = intrinsic(_as_pointer)
carray: Any = getattr(numba, "carray")  # noqa: B009 - numba does not say that it exports it
FIRST_BYTES = np.array([(1 << 8 * n) - 1 for n in range(9)], np.uint64)  # masks: the first n of eight bytes

_CONFIG: Any = numba.config
if _CONFIG.DISABLE_JIT:  # `make coverage` runs the loops as Python, in which an instruction cannot be called

    def lowest_bit(bits: int) -> int:
        """Return the number of the lowest bit that is set."""
        return (int(bits) & -int(bits)).bit_length() - 1

    def multiply_and_fold(a: int, b: int) -> np.uint64:
        """Return the halves of the product of two 64-bit numbers, combined by exclusive or."""
        product = int(a) * int(b)
        return np.uint64((product >> 64) ^ (product & (2**64 - 1)))

    def load_eight(array: UInt8Array, index: int) -> np.uint64:
        """Return eight bytes as a number; the first is the lowest."""
        return np.uint64(int.from_bytes(array[int(index) : int(index) + 8].tobytes(), "little"))

    def store_eight(array: UInt8Array, index: int, value: int) -> None:
        """Store a number as eight bytes; the lowest comes first."""
        array[int(index) : int(index) + 8] = np.frombuffer(int(value).to_bytes(8, "little"), np.uint8)

    def prefetch(array: AnyArray, index: int) -> None:
        """Do nothing."""

    def swap_bytes(number: int) -> np.uint64:
        """Return a 64-bit number with its bytes in reverse order."""
        return np.uint64(int.from_bytes(int(number).to_bytes(8, "little"), "big"))

    def mask_at_least(array: UInt8Array, index: int, least: int) -> np.uint64:
        """Return one bit for each of 64 bytes, set where it is at least `least`."""
        bits = array[int(index) : int(index) + 64] >= np.uint8(least)
        return np.uint64(int.from_bytes(np.packbits(bits, bitorder="little").tobytes(), "little"))

    def as_pointer(address: int) -> ctypes.c_void_p:
        """Return an address as a pointer."""
        return ctypes.c_void_p(int(address))

    def fold_block(
        text: UInt8Array, i: int, folded: UInt8Array, o: int, lows: int, widths: int, case: int
    ) -> np.uint64:
        """Fold 64 bytes as the instruction of that name does; one bit for each byte, set where it is not ASCII."""
        block = text[int(i) : int(i) + 64]
        kept = block >= 0x80
        for low, width in zip(int(lows).to_bytes(8, "little")[:4], int(widths).to_bytes(8, "little")[:4], strict=True):
            kept |= (block - np.uint8(low)) <= width
        capital = (block - np.uint8(0x41)) < 26
        folded[int(o) : int(o) + 64] = np.where(kept, block | np.where(capital, case, 0).astype(np.uint8), 0)
        return np.uint64(mask_at_least(text, i, 0x80))

"""Memory that goes back to the system when it is freed."""

from __future__ import annotations

import contextlib
import ctypes
import gc

import pyarrow as pa

_MMAP_THRESHOLD = -3  # number of this parameter of mallopt
_LARGE = 1 << 20  # bytes


def return_large_arrays() -> None:
    """Have arrays of a megabyte or more go back to the system as soon as they are freed.

    GNU's C library keeps those of up to 32 megabytes, once it has seen such sizes, and tables that grow by doubling
    leave holes of every size there: of 1.3 GB at the peak of a count, 0.2 were such holes.
    """
    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, _LARGE)


def release_memory() -> None:
    """Free what is held in circles, and give back what allocators keep: the next tables would come on top of it."""
    gc.collect()
    pa.default_memory_pool().release_unused()
    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)

"""What a command does under a limit of memory (``ulimit -v``): it ends with one line, whatever it was that found none.

Python raises MemoryError where it can. C code under a limit fails in other ways: an import ends with a SystemError, and
a library that finds no memory while it is loaded may abort the process, or not come back (both were seen). So what is
known to need much is not loaded without it, and an error of any kind is taken for a lack of memory where the process
has come to its limit.
"""

from __future__ import annotations

import re
import sys
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Any

from termsieve.threads import count_cores

_STATUS = Path("/proc/self/status")
_MEGABYTE = 1 << 20
_NEAR = 64 * _MEGABYTE  # an arena of GNU's C library: what a thread asks for with its first bytes
# the address space that a library takes when it is loaded was 84 to 159 MB, with two cores; linear algebra starts a
# thread for each core, for which this much is left without having been measured
_LIBRARY, _LIBRARY_PER_CORE = 192 * _MEGABYTE, 16 * _MEGABYTE
_LARGE_LIBRARIES = frozenset({"numpy", "pyarrow", "scipy.linalg", "scipy.special", "llvmlite", "sklearn", "vl_convert"})


class _LibraryGuard(MetaPathFinder):
    """Says that there is no memory for a large library, instead of having it loaded where it would hang or abort."""

    def find_spec(self, name: str, _: Any, __: Any = None) -> None:
        """Refuse a library, or leave it to the other finders."""
        if name not in _LARGE_LIBRARIES:
            return
        limit, used = find_limit(), _read_status("VmSize")
        if limit is not None and used is not None and limit - used < _LIBRARY + _LIBRARY_PER_CORE * count_cores():
            raise MemoryError(f"There is no memory to load {name}.")


def guard_libraries() -> None:
    """Have large libraries refused where memory is limited and too little is left for them."""
    if find_limit() is not None and not any(isinstance(finder, _LibraryGuard) for finder in sys.meta_path):
        sys.meta_path.insert(0, _LibraryGuard())


def find_limit() -> int | None:
    """Return the limit of this process's address space in bytes; None where there is none."""
    try:
        import resource
    except ImportError:  # Windows has none
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if soft == resource.RLIM_INFINITY else soft


def _read_status(name: str) -> int | None:
    """Return a size of this process in bytes, as Linux tells it; None elsewhere."""
    try:
        found = re.search(rf"^{name}:\s*(\d+) kB", _STATUS.read_text("ascii"), re.MULTILINE)
    except (OSError, UnicodeError):
        return None
    return int(found[1]) << 10 if found else None


def is_lack_of_memory(error: BaseException) -> bool:
    """Tell whether memory has run out behind an error: by its causes, or because the process has come to its limit.

    The largest size that the process has had counts: what failed may have been freed since.
    """
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, MemoryError):
            return True
        cause = cause.__cause__ or cause.__context__
    limit, peak = find_limit(), _read_status("VmPeak")
    return limit is not None and peak is not None and limit - peak < _NEAR


def describe_lack(error: BaseException) -> str:
    """Say that memory has run out: under which limit, and, where that is a guess, what the error said."""
    limit = find_limit()
    where = "" if limit is None else f" The limit of this process is {limit // _MEGABYTE} MB (ulimit -v)."
    said = "" if isinstance(error, MemoryError) else f" ({type(error).__name__}: {' '.join(str(error).split())})"
    return f"There is not enough memory for this.{where}{said}"

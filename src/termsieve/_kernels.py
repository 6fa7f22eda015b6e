"""When the compiled loops are loaded: for work that is large enough to pay for it.

Loading numba and the loops takes most of a second, compiling them on a new machine many. Small inputs are counted and
scored in plain Python and NumPy instead. Both ways give the same numbers, bit by bit; the laws compare them.

Modules of loops (``*kernels.py``) are imported through `import_kernels`, when a loop is first called. They form groups:
what a small comparison cannot do without, the solvers of a linear classifier, is compiled without the rest.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import secrets
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast, get_args

import numpy as np

from termsieve._types import UInt64Array

Way = Literal["plain", "compiled"]
WAY_VARIABLE = "TERMSIEVE_LOOPS"  # "plain" or "compiled" in the environment decides for all inputs


class LoopGroup(NamedTuple):
    """Loops that are compiled together.

    ``loop`` is the largest of the module ``module``: where it was compiled, all are. ``loaders`` are functions without
    parameters that call every loop once.
    """

    module: str
    loop: str
    loaders: tuple[str, ...]


LINEAR_LOOPS = LoopGroup("classify.linear_kernels", "_descend", ("termsieve.classify.linear_path:load_kernels",))
SWEEP_LOOPS = LoopGroup("classify.curve_kernels", "_sweep", ("termsieve.classify.curves:load_sweeps",))
PROBIT_LOOPS = LoopGroup(
    "classify.probit_kernels", "_descend_coordinates", ("termsieve.classify.curves:load_probit_kernels",)
)
_CLASSIFIERS = (LINEAR_LOOPS, SWEEP_LOOPS, PROBIT_LOOPS)
# All others. Whoever needs them has much to do, so the loops of classifiers are compiled with them
TERM_LOOPS = LoopGroup(
    "tokens.kernels",
    "scan",
    (
        "termsieve.counts.tally:load_all_kernels",
        "termsieve.ranking.ranking:load_kernels",
        "termsieve.counts.rows:load_all_kernels",
        "termsieve.selection.problem:load_kernels",
        *(loader for group in _CLASSIFIERS for loader in group.loaders),
    ),
)


class WorkThreshold(NamedTuple):
    """The work from which on loops pay: when they were compiled before, and when they have to be compiled first.

    With ``adds_up`` all such work of the process counts, not that of one call alone: who counts a middling corpus again
    and again has the loops compiled in the end, and has waited at most about twice as long as was needed.
    """

    warm: int
    cold: int
    group: LoopGroup = TERM_LOOPS
    adds_up: bool = False


_given_way = os.environ.get(WAY_VARIABLE)
_way: Way | None = cast("Way", _given_way) if _given_way in get_args(Way) else None
_listeners: list[Callable[[], None]] = []
_enders: list[Callable[[float], None]] = []
_loaded: set[LoopGroup] = set()  # groups of which a loop was needed in this process
_work: dict[WorkThreshold, int] = {}  # what was asked for before the loops were loaded, of work that adds up


@contextmanager
def use_way(way: Way | None) -> Iterator[None]:
    """Decide for all inputs how they are worked on, whatever their size; None: by their size."""
    global _way  # noqa: PLW0603 - one decision for the process
    before, _way = _way, way
    try:
        yield
    finally:
        _way = before


def are_loaded(group: LoopGroup = TERM_LOOPS) -> bool:
    """Tell whether loops of a group were needed before in this process."""
    return group in _loaded


def kernels_pay(work: int, threshold: WorkThreshold) -> bool:
    """Tell whether so much work is worth loading, or compiling, the loops; it always is when they are loaded."""
    if _way is not None:
        return _way == "compiled"
    if are_loaded(threshold.group):
        return True
    if threshold.adds_up:
        work = _work[threshold] = _work.get(threshold, 0) + work
    is_enough = work >= threshold.warm or is_numba_loaded()
    return is_enough and (work >= threshold.cold or is_cache_warm(threshold.group))


def is_numba_loaded() -> bool:
    """Tell whether numba is there, for loops of any group: it takes most of the time to load them."""
    return "numba" in sys.modules


class _LazyModule:
    """Stands for a module of loops that is imported when one of them is asked for."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._group = next((one for one in _CLASSIFIERS if name.endswith(one.module)), TERM_LOOPS)

    def __getattr__(self, name: str) -> Any:
        module = importlib.import_module(self._name)
        _compile_together(self._group)
        return getattr(module, name)


def import_kernels(name: str) -> Any:
    """Return what stands for a module of loops, without importing it yet."""
    return _LazyModule(name)


def _compile_together(group: LoopGroup) -> None:
    """Compile a group of loops now if none was compiled before: once, not piece by piece in many commands."""
    if group in _loaded:
        return
    _loaded.add(group)  # once in a process; the loops that are called here ask again
    if is_cache_warm(group) or not importlib.import_module("termsieve._numba").can_keep_loops():
        return
    tell_listeners()
    start = time.perf_counter()
    for loader in group.loaders:
        module, _, function = loader.partition(":")
        getattr(importlib.import_module(module), function)()
    for announce in _enders:
        announce(time.perf_counter() - start)


# Whether loops were compiled before, found out without numba


def is_cache_warm(group: LoopGroup = TERM_LOOPS) -> bool:
    """Tell whether there are files of the largest loop, not older than its source, where numba looks for them."""
    source = Path(__file__).parent.joinpath(*group.module.split(".")).with_suffix(".py")
    pattern = f"{source.stem}.{group.loop}-*.py{sys.version_info.major}{sys.version_info.minor}*.nbi"
    try:
        written = source.stat().st_mtime
        kept = [path for folder in _cache_folders(source) for path in folder.glob(pattern)]
        return any(path.stat().st_mtime >= written for path in kept)
    except OSError:
        return False


def _cache_folders(source: Path) -> list[Path]:
    """List the folders where numba, set up by `termsieve._numba`, may have kept the loops of a module."""
    name = f"{source.parent.name}_{hashlib.sha1(str(source.parent).encode(), usedforsecurity=False).hexdigest()}"
    if given := os.environ.get("NUMBA_CACHE_DIR"):
        return [Path(given) / name]
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 - there may be no home
    folders = [source.parent / "__pycache__", Path(home) / "numba" / name]
    private = private_folder()
    return folders if private is None else [*folders, private / name]


def private_folder() -> Path | None:
    """Return the folder among temporary files that is used where no other can be written to; it may not be there."""
    if not hasattr(os, "getuid"):
        return None
    return Path(tempfile.gettempdir()) / f"termsieve-numba-{os.getuid()}"


# Who wants to know that loops are compiled


@contextmanager
def announce_compiling(announce: Callable[[], None], end: Callable[[float], None] | None = None) -> Iterator[None]:
    """Call a function when loops are being compiled, as long as the context lasts.

    When all of them were compiled together, `end` is called with the seconds that it took.
    """
    ends = [] if end is None else [end]
    _listeners.append(announce)
    _enders.extend(ends)
    try:
        yield
    finally:
        _listeners.remove(announce)
        for one in ends:
            _enders.remove(one)


def tell_listeners() -> None:
    """Tell those who want to know that loops are being compiled."""
    for announce in _listeners:
        announce()


# What loops are given


def new_secrets() -> UInt64Array:
    """Draw random numbers for the hashes of one vocabulary.

    With known hashes somebody could write a text whose words all crowd together in a table, where each look-up then
    takes as long as there are words. Results do not depend on these numbers.
    """
    return np.frombuffer(secrets.token_bytes(32), np.uint64) | np.uint64(1)  # an even factor would lose a bit

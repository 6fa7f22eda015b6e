"""Work on several threads that ends with the first error in any thread.

Loops of numba are loaded or compiled under a lock. When memory runs out while a thread has that lock, it may keep it
forever, and every thread that needs a loop waits. Therefore the loops are loaded before the threads start (the
functions `load_kernels` of several modules), nothing waits for one thread while another has failed, and threads that
still run after an error are not waited for.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from threading import Lock, local
from typing import Any, TypeVar

A = TypeVar("A")
B = TypeVar("B")


def count_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


_blas_lock = Lock()
_blas_users: list[Any] = []  # one entry for each user; the first is the limit itself


@cache
def _find_blas() -> Any:
    """Find the libraries for linear algebra: that takes some milliseconds, so it is done once."""
    import scipy.linalg  # noqa: F401 - so that its library is there to be found
    from threadpoolctl import ThreadpoolController  # most commands need none

    return ThreadpoolController()


@contextmanager
def limit_blas() -> Iterator[None]:
    """Keep linear algebra in the calling thread: our threads have the cores, and sums do not depend on their number.

    The limit holds for the whole process until the last user leaves. It is set and lifted in threads that end at once:
    threadpoolctl obeys one thread, and no other as long as that one lives, but our users come and go in any order.
    """
    with _blas_lock:
        _blas_users.append(_blas_users[0] if _blas_users else _run_in_new_thread(_start_limit))
    try:
        yield
    finally:
        with _blas_lock:
            limit = _blas_users.pop()
            if not _blas_users:
                _run_in_new_thread(limit.restore_original_limits)


def _start_limit() -> Any:
    return _find_blas().limit(limits=1, user_api="blas")


def _run_in_new_thread(work: Callable[[], A]) -> A:
    with thread_pool(1) as pool:
        return pool.submit(work).result()


@contextmanager
def thread_pool(threads: int, *, waits: bool = False) -> Iterator[ThreadPoolExecutor]:
    """Open a pool of threads; after an error, waiting work is cancelled, and running work is waited for if `waits`."""
    pool = ThreadPoolExecutor(threads)
    try:
        yield pool
    except BaseException as error:
        pool.shutdown(wait=waits, cancel_futures=True)
        if isinstance(error, RuntimeError) and "can't start new thread" in str(error):
            raise MemoryError("There is no memory for another thread.") from error
        raise
    pool.shutdown()


_elsewhere = local()  # CPU seconds of other threads that worked for this one


def measure_cpu() -> float:
    """Return the CPU seconds of this thread, and of what `work_on_each` did on others for it."""
    return time.thread_time() + float(getattr(_elsewhere, "seconds", 0.0))


def _work_and_measure(work: Callable[[A], B], item: A) -> tuple[B, float]:
    start = measure_cpu()
    result = work(item)
    return result, measure_cpu() - start


def work_on_each(work: Callable[[A], B], items: Sequence[A], threads: int, *, waits: bool = False) -> list[B]:
    """Return the results of `work` for the items, in their order, computed on several threads.

    After an error nothing is begun any more; what is being worked on is waited for if `waits`.

    >>> work_on_each(abs, [-3, 2, -1], 2)
    [3, 2, 1]
    """
    if threads <= 1 or len(items) <= 1:
        return [work(item) for item in items]
    with thread_pool(min(threads, len(items)), waits=waits) as pool:
        futures = [pool.submit(_work_and_measure, work, item) for item in items]
        for future in wait(futures, return_when=FIRST_EXCEPTION).done:
            future.result()
        done = [future.result() for future in futures]
    _elsewhere.seconds = getattr(_elsewhere, "seconds", 0.0) + sum(seconds for _, seconds in done)
    return [result for result, _ in done]


def map_stream(work: Callable[[A], B], items: Iterable[A], threads: int, *, waits: bool = False) -> Iterator[B]:
    """Yield the results of `work` for items as they come, in their order, without reading far ahead.

    An error comes in its place, too, after the results of all items before it. Who stops earlier need not wait for what
    is being worked on, unless `waits`.

    >>> list(map_stream(abs, iter([-3, 2, -1]), 2))
    [3, 2, 1]
    """
    if threads <= 1:
        yield from map(work, items)
        return
    with thread_pool(threads, waits=waits) as pool:
        pending: deque[Future[B]] = deque()
        for future in _submit_each(pool, work, items):
            pending.append(future)
            if len(pending) > 2 * threads:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()


def _submit_each(pool: ThreadPoolExecutor, work: Callable[[A], B], items: Iterable[A]) -> Iterator[Future[B]]:
    """Have the pool work on each item; where the items end with an error, it is what the last future gives."""
    try:
        for item in items:
            yield pool.submit(work, item)
    except Exception as error:  # noqa: BLE001 - raised by whoever asks for the result
        failed: Future[B] = Future()
        failed.set_exception(error)
        yield failed


def read_ahead(items: Iterable[A], most: int) -> Generator[A]:
    """Yield items that a thread of its own takes, at most so many ahead; an error comes in its place.

    When this is closed, the thread has ended: what it took the items from may be closed as well. There is no thread
    where there is one core.

    >>> list(read_ahead(iter([3, 2, 1]), 2))
    [3, 2, 1]
    """
    if count_cores() == 1:
        yield from items
        return
    taken, end = iter(items), object()
    with thread_pool(1, waits=True) as pool:
        pending: deque[Future[Any]] = deque(pool.submit(next, taken, end) for _ in range(most))
        while (item := pending.popleft().result()) is not end:
            pending.append(pool.submit(next, taken, end))
            yield item


def work_on_stream(work: Callable[[A], Any], items: Iterable[A], threads: int) -> None:
    """Process items as they come, without reading far ahead of the threads."""
    with thread_pool(threads) as pool:
        pending: set[Future[Any]] = set()
        for item in items:
            pending.add(pool.submit(work, item))
            if len(pending) > 2 * threads:
                pending = _without_finished(pending)
        while pending:
            pending = _without_finished(pending)


def _without_finished(pending: set[Future[Any]]) -> set[Future[Any]]:
    """Wait until something is finished, and raise its error if it has one."""
    done, pending = wait(pending, return_when=FIRST_COMPLETED)
    for future in done:
        future.result()
    return pending

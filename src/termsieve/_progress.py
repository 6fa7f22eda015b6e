"""Progress for those who watch: bars and status lines, on standard error; nothing where they are not asked for."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

T = TypeVar("T")


def is_shown(progress: bool | None) -> bool:
    """Tell whether to show progress: as given; if not given, when standard error is a terminal."""
    return sys.stderr.isatty() if progress is None else progress


class ProgressBar:
    """A bar that is moved as work is done; without a display, it does nothing."""

    def __init__(self, display: Progress | None = None, task: TaskID | None = None) -> None:
        self._display, self._task = display, task

    def advance(self) -> None:
        """Count one more step."""
        if self._display is not None and self._task is not None:
            self._display.advance(self._task)

    def update(self, done: int, total: int | None = None) -> None:
        """Say how much is done, and of how much, where that has only now become known."""
        if self._display is not None and self._task is not None:
            self._display.update(self._task, completed=done, total=total)


@contextmanager
def show_bar(
    title: str, total: int | None = None, *, shown: bool, done: int = 0, in_bytes: bool = False
) -> Iterator[ProgressBar]:
    """Show a bar with the time left.

    >>> with show_bar("counting", total=2, shown=False) as bar:
    ...     bar.advance()
    """
    if not shown:
        yield ProgressBar()
        return
    with _make_display(in_bytes=in_bytes) as display:
        yield ProgressBar(display, display.add_task(title, total=total, completed=done))


def track(items: Iterable[T], title: str, total: int | None = None, *, shown: bool) -> Iterator[T]:
    """Yield the items, with a bar that counts them.

    >>> list(track("ab", "converting", shown=False))
    ['a', 'b']
    """
    if not shown:
        yield from items
        return
    with _make_display(in_bytes=False) as display:
        # rich looks at the number now and then: a call for each of a million items would take longer than the items
        yield from display.track(items, total=total, description=title)


@contextmanager
def show_status(text: str, *, shown: bool) -> Iterator[None]:
    """Show what is being done, where nobody knows how much of it there is."""
    if not shown:
        yield
        return
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status(Text(text)):
        yield


def _make_display(*, in_bytes: bool) -> Progress:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    amount = (DownloadColumn(), TransferSpeedColumn()) if in_bytes else (MofNCompleteColumn(),)
    title = TextColumn("{task.description}", markup=False)
    return Progress(title, BarColumn(), *amount, TimeRemainingColumn(), console=Console(stderr=True), transient=True)

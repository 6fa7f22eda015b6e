"""The application itself: its commands in order, its exit codes, and how it ends.

Heavy modules are imported inside the commands, so that ``termsieve --help`` answers at once.
"""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
import typer.core
import typer.main

from termsieve._version import __version__
from termsieve.cli.imports import leave_out_pandas
from termsieve.cli.memory_limit import describe_lack, find_limit, guard_libraries, is_lack_of_memory
from termsieve.cli.messages import print_error, use_option_names
from termsieve.errors import OptionError, TermsieveError, was_interrupted

WRONG_USAGE = 2  # as typer has it for what it finds itself
INTERRUPTED = 130
INTERRUPT_GRACE = 0.3  # seconds that a command has, after Ctrl-C, to end by itself
COMMAND_ORDER = (
    "rank", "select", "compare", "report", "multiverse", "train", "predict", "export", "compress", "count", "merge",
    "changes", "sources", "forget", "keywords", "kwic", "scores", "demo", "datasets", "study", "reproduce",
)  # fmt: skip


class _Commands(typer.core.TyperGroup):
    def list_commands(self, ctx: Any) -> list[str]:
        """List the commands, what a newcomer wants first, first."""
        return sorted(super().list_commands(ctx), key=COMMAND_ORDER.index)


app = typer.Typer(
    cls=_Commands,
    help="Which terms tell these classes of text apart, and how few of them are enough?",
    epilog="First: [bold]termsieve rank mail.csv[/] prints, for each class, the terms that tell it from the rest.\n\n"
    "Each command has its own help, with examples: [bold]termsieve rank --help[/].",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def main() -> None:
    """Run the command that was typed, and end with its code."""
    _end_soon_after_signals()
    leave_out_pandas()
    guard_libraries()
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # it was closed: there is nowhere to write to
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - until the end
    code = run()
    if code == INTERRUPTED or (code and (_has_busy_threads() or find_limit() is not None)):
        with contextlib.suppress(OSError):
            _close_output()
        sys.stderr.flush()
        os._exit(code)  # without waiting for threads that still work, or for libraries that tidy up without memory
    sys.exit(code)


def _has_busy_threads() -> bool:
    """Tell whether threads are left over from work that has failed: Python would wait for them at its end."""
    return any(not one.daemon and one is not threading.main_thread() for one in threading.enumerate())


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command, and give its exit code; a user's mistake is one line on standard error, not a traceback."""
    try:
        _build_command()(arguments, prog_name="termsieve")
    except TermsieveError as error:
        print_error(use_option_names(str(error)))
        return WRONG_USAGE if isinstance(error, OptionError) else 1
    except SystemExit as end:
        _close_output()
        if isinstance(end.__context__, BrokenPipeError):
            return 0  # whoever reads has seen enough
        return end.code if isinstance(end.code, int) else 0
    except Exception as error:
        message = _explain(error)
        if message is None:
            raise
        print_error(message)
    return 1


@functools.cache
def _build_command() -> Any:
    """Return all commands with their options; typer would build them anew for each run, which takes .04 seconds."""
    return typer.main.get_command(app)


def _explain(error: Exception) -> str | None:
    """Say what the machine lacks, where that is behind an error: memory, a library, a disk; None for any other."""
    if was_interrupted(error):
        return None
    if is_lack_of_memory(error):
        return describe_lack(error)
    if isinstance(error, ImportError) and error.name is not None and error.name.split(".")[0] != "termsieve":
        return f"A library that this needs cannot be loaded; there may be too little memory: {error}."
    if isinstance(error, OSError):  # a disk that is full, a stream that is closed
        return f"{f'{error.filename}: ' if error.filename else ''}{error.strerror or error}."
    return None


def _close_output() -> None:
    """Write what is left in the buffers now, while a closed pipe can still be forgiven."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _end_soon_after_signals() -> None:
    """End the process soon after Ctrl-C or SIGTERM, also where Python waits for a loop of numba or scikit-learn.

    The signal writes a byte into a pipe at once; a thread waits at its other end. Files are written whole or not at
    all, so there is nothing to tidy up but the temporary name of one.
    """
    if os.name != "posix":
        return
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    if signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
        signal.signal(signal.SIGTERM, lambda *_: None)  # so that the pipe has it; the thread ends the process

    def watch() -> None:
        while (received := os.read(reading, 1)[0]) not in (signal.SIGINT, signal.SIGTERM):
            pass
        if received == signal.SIGINT:
            time.sleep(INTERRUPT_GRACE)
        with contextlib.suppress(KeyError, AttributeError):
            sys.modules["termsieve.files"].remove_unfinished()
        if sys.stderr.isatty():
            os.write(sys.stderr.fileno(), b"\x1b[?25h\n")  # a progress bar has hidden the cursor
        os._exit(128 + received)

    threading.Thread(target=watch, daemon=True).start()


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"termsieve {__version__}")
        raise typer.Exit


@app.callback()
def _global_options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", metavar="", callback=_print_version, is_eager=True, help="Show the version and stop."
        ),
    ] = False,
) -> None:
    pass

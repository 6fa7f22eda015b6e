"""Where the command ``termsieve`` starts: Ctrl-C ends it without a word while the rest is still being imported.

Only the command imports this module: doing so changes what an interrupt does in the whole process. Before this module
runs, Python alone decides what an interrupt does.
"""

import os
import signal

INTERRUPTED = 130
LEAST_MEGABYTES = 64  # of address space: with less, Python fails anywhere while it imports the commands


def _end_quietly(_: int, __: object) -> None:
    os._exit(INTERRUPTED)  # nothing is open or half-written yet, or all of it is finished


def _interrupts_are_ours() -> bool:
    """Tell whether an interrupt has its usual effect: a shell may let a background job ignore it."""
    return signal.getsignal(signal.SIGINT) in (signal.default_int_handler, _end_quietly)


if _interrupts_are_ours():
    signal.signal(signal.SIGINT, _end_quietly)


def _end_without_memory() -> None:
    """End with one line where a limit (``ulimit -v``) leaves no memory even for the help."""
    try:
        import resource
    except ImportError:  # Windows has none
        return
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY and limit < LEAST_MEGABYTES << 20:
        os.write(2, b"termsieve: There is not enough memory for this.\n")
        os._exit(1)


def main() -> None:
    """Run the command that was typed."""
    _end_without_memory()
    from termsieve.cli import main as run_command

    ours = _interrupts_are_ours()
    try:
        if ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        run_command()
    except KeyboardInterrupt:
        os._exit(INTERRUPTED)
    except Exception as error:
        from termsieve.errors import was_interrupted

        if was_interrupted(error):
            os._exit(INTERRUPTED)
        raise
    finally:
        if ours:
            signal.signal(signal.SIGINT, _end_quietly)

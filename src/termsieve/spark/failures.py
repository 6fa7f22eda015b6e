"""What fails on a cluster, as errors of termsieve."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from termsieve import errors
from termsieve.errors import InputError, TermsieveError

_OWN = re.compile(r"^termsieve\.(?:[\w.]+\.)?(\w+): (.*)$", re.MULTILINE)
_MAX_SAID = 500
_NOISE = re.compile(
    "Traceback|Driver stacktrace|JVM stacktrace|An error occurred while calling|.*Exception thrown in awaitResult"
)


@contextmanager
def explain_failures() -> Iterator[None]:
    """Raise an error of termsieve that a worker raised as such; of others, say in a line what Spark says."""
    try:
        yield
    except (PySparkException, Py4JError) as error:
        said = str(error)
        own = _OWN.findall(said)
        if own:
            name, message = own[-1]
            kind = getattr(errors, name, InputError)
            raise (kind if kind.__init__ is TermsieveError.__init__ else InputError)(message) from error
        raise InputError(f"Spark could not do it: {_shorten(said)}") from error


def _shorten(said: str) -> str:
    """Return the lines that tell something, without the stacks of Java and Python, which are indented."""
    lines = [line for line in said.splitlines() if line.strip() and not line[0].isspace() and not _NOISE.match(line)]
    told = " ".join(dict.fromkeys(line.removeprefix("Caused by: ") for line in lines))
    return told if len(told) <= _MAX_SAID else f"{told[:_MAX_SAID]} ..."

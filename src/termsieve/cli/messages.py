"""What a command says beside its result, on standard error: notes, warnings, progress; and what it must not say."""

from __future__ import annotations

import logging
import re
import sys
import time
import unicodedata
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Annotated, Any, Self

from termsieve.cli.option_groups import flag
from termsieve.errors import TermsieveWarning

JOINERS = "\u200c\u200d"  # Persian, the scripts of India and emoji need them
_HIDDEN_CATEGORIES = {"Cc", "Cf", "Cs", "Zl", "Zp"}
GENERAL_PANEL = "General"
OPTIONS = {
    "strict=False skips such rows": "Without --strict such rows are skipped",
    "encoding_errors='skip'": "--encoding-errors skip",
    "encoding=NAME": "--encoding NAME",
    "sheet=NAME": "--sheet NAME",
    "quotes=False": "--no-quotes",
    "text=NAME": "--text NAME",
    "label=NAME": "--label NAME",
    "label_sep=TEXT": "--label-sep TEXT",
    "split=(COLUMN, VALUE)": "--split COLUMN=VALUE",
    "by_file=True": "--by-file",
    "analyzer='tokens'": "--tokens",
    "segmenter='jieba'": "--segmenter jieba",
    "analyzer='char_wb', ngram_range=(1, 2)": "--characters --ngrams 2",
    "tokenizer='module:function'": "--tokenizer module:function",
    " (label=None reads it without labels.)": "",
}


def escape_controls(text: str, keep: str = "") -> str:
    r"""Return text without what would steer a terminal: control characters and direction marks as escapes.

    >>> escape_controls("\x1b[31mred\x1b[0m")
    '\\x1b[31mred\\x1b[0m'
    >>> escape_controls("naïve 漢字")
    'naïve 漢字'
    """
    return re.sub(r"[^\x20-\x7e]", lambda found: _escape_character(found[0], keep), text)


def _escape_character(char: str, keep: str) -> str:
    if char in keep or char in JOINERS or unicodedata.category(char) not in _HIDDEN_CATEGORIES:
        return char
    return char.encode("unicode_escape").decode("ascii")


def use_option_names(message: str) -> str:
    """Return a message of the library, with the options of commands in place of its parameters."""
    message = re.sub(r"\bencoding='([\w-]+)'", r"--encoding \1", message)
    message = re.sub(r"^(encoding_errors|encoding|sep|sheet) must", _as_option, message)
    message = re.sub(r"^Analyzer: (strip|tokenizer)\b", _as_option, message)
    for parameter, option in OPTIONS.items():
        message = message.replace(parameter, option)
    return message


def _as_option(found: re.Match[str]) -> str:
    name = found[1].replace("_", "-")
    return f"--{name} must" if found[0].endswith("must") else f"--{name}"


def print_error(message: str) -> None:
    """Say what went wrong, in front of the name of the program."""
    _print_message(f"termsieve: {message}")


def _print_message(message: str) -> None:
    sys.stderr.write(escape_controls(message, keep="\n") + "\n")
    sys.stderr.flush()


@dataclass(frozen=True)
class Messages:
    """How much is said. As a context, it shows the warnings of termsieve as notes, and no others."""

    quiet: Annotated[bool, flag("--quiet", "-q", panel=GENERAL_PANEL, help="Say nothing but errors.")] = False
    verbose: Annotated[
        bool, flag("--verbose", "-v", panel=GENERAL_PANEL, help="Say also what is done, and how long it takes.")
    ] = False
    _stack: ExitStack = field(default_factory=ExitStack, init=False, repr=False, compare=False)
    _printed: set[str] = field(default_factory=set, init=False, repr=False, compare=False)

    @property
    def progress(self) -> bool:
        """Whether to show progress: to a person who watches."""
        return not self.quiet and sys.stderr.isatty()

    def note(self, message: str) -> None:
        """Say something that is good to know."""
        if not self.quiet:
            _print_message(message)

    def note_once(self, message: str) -> None:
        """Say something that may come up again and again."""
        if message not in self._printed:
            self._printed.add(message)
            self.note(message)

    def detail(self, message: str) -> None:
        """Say something for those who want to know more."""
        if self.verbose and not self.quiet:
            _print_message(message)

    @contextmanager
    def report_time(self, what: str) -> Iterator[None]:
        """Say afterwards what was done, and how long it took."""
        start = time.perf_counter()
        yield
        self.detail(f"{what} in {time.perf_counter() - start:.2f} s")

    def __enter__(self) -> Self:
        self._stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")  # of other libraries: their words are for programmers
        warnings.filterwarnings("always", category=TermsieveWarning)

        def show(message: Warning | str, *_: Any, **__: Any) -> None:
            if isinstance(message, TermsieveWarning):  # some libraries change the filters
                self.note_once(f"note: {use_option_names(str(message)).strip().partition(chr(10))[0]}")

        warnings.showwarning = show
        silent = (
            logging.NullHandler()
        )  # Python prints what is logged where nobody handles it, such as urllib3's retries
        logging.getLogger().addHandler(silent)
        self._stack.callback(logging.getLogger().removeHandler, silent)
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.close()

    @contextmanager
    def report_compiling(self) -> Iterator[None]:
        """Say so when loops are compiled, on a new machine only, and afterwards how long it took."""
        from termsieve._kernels import announce_compiling

        def begin() -> None:
            self.note_once("compiling the loops for this machine, which takes half a minute or more, once ...")

        def end(seconds: float) -> None:
            self.note(f"compiled in {seconds:.0f} s; later runs begin at once")

        with announce_compiling(begin, end):
            yield

"""Options that several commands share: files, columns, and how text becomes terms."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from termsieve.cli.completion import complete_scores, complete_stemmers
from termsieve.cli.option_groups import flag, option
from termsieve.defaults import DEFAULT_ENCODING, DEFAULT_ENCODING_ERRORS, DEFAULT_LEVEL, DEFAULT_SCORE
from termsieve.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from termsieve.counts.counts import Counts
    from termsieve.counts.counts_file import CountsFile
    from termsieve.tokens.analyzer import Analyzer

CountsLike = TypeVar("CountsLike", "Counts", "CountsFile")
INPUT_PANEL, TERMS_PANEL = "Input", "Terms"
MIN_LENGTH = 1  # characters of a word
CHARACTER_RUN = 3  # longest run of characters, with --characters
LEVEL_HELP = f"Level of the intervals (default {DEFAULT_LEVEL})."

_FILES_HELP = (
    "CSV, TSV, JSON Lines (each also .gz or .zst), Parquet, Arrow, Excel, OpenDocument, {}; - is standard input (JSON "
    "Lines). Of two or more text files (.txt and the like), each line is a document, and the file name is its class."
)
Files = Annotated[list[str], typer.Argument(metavar="FILE", help=_FILES_HELP.format("or a folder of class folders"))]
FilesOrCounts = Annotated[
    list[str],
    typer.Argument(metavar="FILE", help=_FILES_HELP.format("a folder of class folders, or .counts files")),
]
ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A file that [bold]termsieve train[/] wrote.", show_default=False)
]
ScoreName = Annotated[
    str,
    option(
        "--score",
        "-s",
        metavar="SCORE",
        autocompletion=complete_scores,
        help='Score that ranks the terms, such as info_gain or "bns(floor=0.001)" '
        f"(default {DEFAULT_SCORE}). termsieve scores lists them all.",
    ),
]
Output = Annotated[Path, option("--output", "-o", metavar="FILE", help="File to write.")]
Threads = Annotated[
    int | None, option("--threads", metavar="N", min=1, help="Number of threads (default one for each core).")
]


def _input_option(*names: str, **about: Any) -> Any:
    return option(*names, panel=INPUT_PANEL, **about)


def _terms_option(*names: str, **about: Any) -> Any:
    return option(*names, panel=TERMS_PANEL, **about)


class OptionGroup:
    """A group of options that several commands share."""

    def changed_fields(self) -> list[str]:
        """Return the names of the fields that differ from their defaults."""
        return [one.name for one in fields(self) if getattr(self, one.name) != one.default]  # type: ignore[arg-type]


def option_name(name: str) -> str:
    """Return the command-line option of a field."""
    return f"--{name.replace('_', '-')}"


@dataclass(frozen=True)
class ColumnOptions(OptionGroup):
    """Options for the columns and rows that are read."""

    text: Annotated[
        list[str] | None,
        _input_option(
            "--text",
            metavar="COLUMN",
            help="Column with the text; may be given several times. Detected when the name is unambiguous.",
        ),
    ] = None
    label: Annotated[
        str | None,
        _input_option(
            "--label",
            metavar="COLUMN",
            help="Column with the label, or a list of labels. Detected when the name is unambiguous.",
        ),
    ] = None
    label_sep: Annotated[
        str | None, _input_option("--label-sep", metavar="TEXT", help="Separator of several labels in one string.")
    ] = None
    by_file: Annotated[
        bool,
        flag(
            "--by-file", panel=INPUT_PANEL, help="Take the file name as the class: compare the files with each other."
        ),
    ] = False
    split: Annotated[
        str | None,
        _input_option("--split", metavar="COLUMN=VALUE", help="Read only rows with this value in this column."),
    ] = None
    encoding: Annotated[
        str, _input_option("--encoding", metavar="NAME", help=f"Encoding of text files (default {DEFAULT_ENCODING}).")
    ] = DEFAULT_ENCODING
    encoding_errors: Annotated[
        str,
        _input_option(
            "--encoding-errors",
            metavar="HOW",
            help="What is done about bytes that are not in the encoding: error, skip the row, or replace (default "
            f"{DEFAULT_ENCODING_ERRORS}).",
        ),
    ] = DEFAULT_ENCODING_ERRORS
    strict: Annotated[
        bool,
        flag(
            "--strict",
            panel=INPUT_PANEL,
            help="Stop at a row without text or label, or that cannot be parsed. By default such rows are skipped, and "
            "it is reported how many and which.",
        ),
    ] = False
    sep: Annotated[
        str | None,
        _input_option(
            "--sep",
            metavar="CHARACTER",
            help='Separator of cells in CSV, such as ";" or "tab" (default: detected among , ; tab |).',
        ),
    ] = None
    sheet: Annotated[
        str | None,
        _input_option(
            "--sheet", metavar="NAME", help="Sheet of an Excel or OpenDocument file, by name or number (default 1)."
        ),
    ] = None
    no_quotes: Annotated[
        bool,
        flag(
            "--no-quotes",
            panel=INPUT_PANEL,
            help='Treat " in CSV and TSV as an ordinary character: each line is a row.',
        ),
    ] = False

    @property
    def split_pair(self) -> tuple[str, str] | None:
        """The column and the value of `split`."""
        if self.split is None:
            return None
        column, equals, value = self.split.partition("=")
        if not equals:
            raise typer.BadParameter(f"{self.split!r} is not COLUMN=VALUE.", param_hint="--split")
        return column, value


@dataclass(frozen=True)
class AnalyzerOptions(OptionGroup):
    """Options for how text becomes terms."""

    stop_words: Annotated[
        str | None,
        _terms_option(
            "--stop-words",
            metavar="LIST",
            help='Stop words: "english", "smart", or a file with one word per line (default none).',
        ),
    ] = None
    ngrams: Annotated[
        str | None,
        _terms_option(
            "--ngrams", metavar="N", help="Longest run of words that is a term; 2-3: runs of two or three (default 1)."
        ),
    ] = None
    stemmer: Annotated[
        str | None,
        _terms_option(
            "--stemmer",
            metavar="LANGUAGE",
            help="Stem words by Snowball's rules for a language such as english (default none).",
            autocompletion=complete_stemmers,
        ),
    ] = None
    segmenter: Annotated[
        str | None,
        _terms_option("--segmenter", metavar="NAME", help='Word segmenter: "jieba" for Chinese (default none).'),
    ] = None
    tokenizer: Annotated[
        str | None,
        _terms_option(
            "--tokenizer",
            metavar="MODULE:FUNCTION",
            help="Python function from a text to its list of words; it is imported and run (default none).",
        ),
    ] = None
    strip: Annotated[
        list[str] | None,
        _terms_option(
            "--strip",
            metavar="WHAT",
            help='Remove markup first: "html", or "mail-headers"; may be given several times (default none).',
        ),
    ] = None
    characters: Annotated[
        bool,
        flag(
            "--characters",
            panel=TERMS_PANEL,
            help=f"Count runs of up to {CHARACTER_RUN} characters inside words instead of words; see --ngrams.",
        ),
    ] = False
    tokens: Annotated[
        bool,
        flag(
            "--tokens",
            panel=TERMS_PANEL,
            help="Count lists of tokens as they are. Needed only together with other options of this group.",
        ),
    ] = False
    min_length: Annotated[
        int,
        _terms_option(
            "--min-length", metavar="N", min=1, help=f"Leave out words of fewer characters (default {MIN_LENGTH})."
        ),
    ] = MIN_LENGTH
    accents: Annotated[
        bool, flag("--accents/--strip-accents", panel=TERMS_PANEL, help="Keep accents (default), or remove them.")
    ] = True
    lowercase: Annotated[
        bool,
        flag("--lowercase/--keep-case", panel=TERMS_PANEL, help="Convert to lower case (default), or keep capitals."),
    ] = True
    pattern: Annotated[
        str | None,
        _terms_option("--pattern", metavar="REGEX", help=r"Regular expression of a word (default \b\w\w+\b)."),
    ] = None

    @property
    def files(self) -> list[str]:
        """The file with stop words, if there is one."""
        return [self.stop_words] if self.stop_words else []

    def make_analyzer(self) -> Analyzer | None:
        """Make the analyzer that these options describe; without any, documents have their default one."""
        from termsieve.tokens.analyzer import Analyzer

        if not self.changed_fields():
            return None
        if self.tokens and self.characters:
            raise OptionError("--characters cuts texts, and --tokens is for documents that are cut: give one of them.")
        pattern = {} if self.pattern is None else {"token_pattern": self.pattern}
        return Analyzer(
            stop_words=self._load_stop_words(),
            ngram_range=self._ngram_range(),
            stemmer=self.stemmer,
            segmenter=self.segmenter,
            tokenizer=None if self.tokenizer is None else import_tokenizer(self.tokenizer),
            strip=tuple(split_names(self.strip or ())),
            analyzer="char_wb" if self.characters else "tokens" if self.tokens else "word",
            min_length=self.min_length,
            strip_accents=None if self.accents else "unicode",
            lowercase=self.lowercase,
            **pattern,
        )

    def _ngram_range(self) -> tuple[int, int]:
        given = (str(CHARACTER_RUN) if self.characters else "1") if self.ngrams is None else self.ngrams
        least, dash, most = given.partition("-")
        try:
            return (int(least), int(most)) if dash else (1, int(least))
        except ValueError:
            raise typer.BadParameter(
                f"{given!r} is not a length: write 2 for words and pairs of words, 2-3 for runs of two or three words.",
                param_hint="--ngrams",
            ) from None

    def _load_stop_words(self) -> str | Collection[str] | None:
        if self.stop_words is None or self.stop_words in ("english", "smart"):
            return self.stop_words
        path = Path(self.stop_words)
        if not path.is_file():
            raise OptionError(f'--stop-words takes "english", "smart" or a file; there is no file {self.stop_words!r}.')
        try:
            return frozenset(path.read_text("utf-8-sig").split())
        except (OSError, UnicodeDecodeError) as error:
            raise OptionError(f"{path}: the stop words cannot be read: {error}.") from error


def import_tokenizer(name: str) -> str:
    """Import the module of a tokenizer that the user has typed, also from the current folder, and return its name."""
    from termsieve.tokens.tokenizers import import_tokenizer_from

    return import_tokenizer_from(Path.cwd(), name)


@dataclass(frozen=True)
class PruningOptions(OptionGroup):
    """Options for terms that are too rare or too common."""

    min_df: Annotated[
        str | None,
        _terms_option(
            "--min-df",
            metavar="N",
            help="Leave out terms in fewer documents: a number, or a share such as 0.1% (default 1).",
        ),
    ] = None
    max_df: Annotated[
        str | None,
        _terms_option(
            "--max-df",
            metavar="N",
            help="Leave out terms in more documents: a number, or a share such as 50% (default 100%).",
        ),
    ] = None

    def apply(self, counts: CountsLike) -> CountsLike:
        """Return the counts without terms that are too rare or too common."""
        if not self.changed_fields():
            return counts
        counts = counts.prune(
            min_df=parse_amount(self.min_df, "--min-df", 1), max_df=parse_amount(self.max_df, "--max-df", 1.0)
        )
        if not counts.n_terms:
            raise OptionError(f"No term is left ({counts.pruned}). Choose a lower --min-df or a higher --max-df.")
        return counts


def split_names(given: Sequence[str]) -> list[str]:
    """Split names at commas, except commas in brackets.

    >>> split_names(["gu,bns(floor=0.001)", 'union("gu", k=9)'])
    ['gu', 'bns(floor=0.001)', 'union("gu", k=9)']
    """
    names = [name.strip() for one in given for name in re.split(r",(?![^(]*\))", one)]
    return [name for name in names if name]


def parse_amount(given: str | None, option: str, default: float) -> float:
    """Parse a number of documents, or a share of them.

    >>> parse_amount("5", "", 1), parse_amount("0.5", "", 1), parse_amount("50%", "", 1)
    (5, 0.5, 0.5)
    """
    if given is None:
        return default
    text = given.strip()
    try:
        if text.endswith("%"):
            return float(text[:-1]) / 100
        return int(text) if text.isdecimal() else float(text)
    except ValueError:
        raise typer.BadParameter(
            f"{given!r} is neither a number of documents, such as 5, nor a share, such as 1% or 0.01.",
            param_hint=option,
        ) from None

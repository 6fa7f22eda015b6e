"""Which columns hold the text and the labels: as a user says, or as their names tell."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

from termsieve.errors import InputError

if TYPE_CHECKING:
    from termsieve.documents.chunks import Source
    from termsieve.documents.options import Options

# From the plainest to the least plain; two of one line are a question for the user, unless one is the very first.
TEXT_NAMES = (
    ("text", "texts"),
    ("body", "message", "content", "document", "sentence", "review", "comment", "abstract", "article", "post", "tweet"),
    ("title", "headline", "subject", "description", "summary", "question", "email", "mail", "sms"),
    ("tokens", "lemmas"),
)
LABEL_NAMES = (
    ("label", "labels"),
    ("class", "classes", "category", "categories", "topic", "topics", "target", "tag", "tags", "folder"),
    ("sentiment", "genre", "section", "group", "newsgroup", "type", "author", "language"),
)
# columns whose documents are alike: a fold that has some of them knows more of the others than of new documents
GROUP_NAMES = ("source", "author", "thread", "thread_id", "user", "user_id", "speaker", "site", "domain", "publisher",
               "newspaper", "outlet", "patient", "customer", "conversation")  # fmt: skip
DEFAULT_TEXT, DEFAULT_LABEL = TEXT_NAMES[0][0], LABEL_NAMES[0][0]
_MAX_LISTED = 30
_MAX_NAME_LENGTH = 60  # of a name that is listed
_MAX_NAME_WORDS = 5  # what has more words is hardly the name of a column
_MAX_DESCRIBED = 20  # files whose first lines are looked at


class Detect(Enum):
    """What stands for a column that is to be found by its name."""

    AUTO = "auto"

    def __repr__(self) -> str:
        return self.value


AUTO = Detect.AUTO


@dataclass(frozen=True)
class WantedColumns:
    """What was asked for: names of columns, None for no labels, `AUTO` for what is to be detected.

    Columns with the names of `preferred_text` hold the text where they are all there, and none is asked for.
    """

    text: tuple[str, ...] | Detect = AUTO
    label: str | Detect | None = AUTO
    by_file: bool = False
    preferred_text: tuple[str, ...] = ()


@dataclass(frozen=True)
class ChosenColumns:
    """Which columns hold what.

    Attributes
    ----------
    text
        The columns with the text.
    label
        The column with the label; None where there is none.
    by_file
        Whether the class of a document is the name of its file.
    note
        What was detected, for people; empty where all was said.
    """

    text: tuple[str, ...]
    label: str | None
    by_file: bool = False
    note: str = ""


def choose_columns(sources: Sequence[Source], wanted: WantedColumns, options: Options) -> ChosenColumns:
    """Choose the columns, by the names that the first source with columns has; and note what else was detected."""
    chosen = _choose(sources, wanted, options)
    if chosen.label in chosen.text:
        raise InputError(
            f"{sources[0].name}: the column {chosen.label!r} cannot hold both the text and the label. Name another "
            "with text=NAME or label=NAME."
        )
    notes = [chosen.note, *_describe_folders(sources, wanted), *_describe_sources(sources, options)]
    return replace(chosen, note=", ".join(filter(None, notes)))


def find_group_column(names: Sequence[str], chosen: ChosenColumns) -> str | None:
    """Find a column, other than the chosen ones, by whose name documents with the same value are alike.

    >>> find_group_column(["text", "Author", "label"], ChosenColumns(("text",), "label"))
    'Author'
    """
    used = {*chosen.text, chosen.label}
    return next((name for name in names if name.strip().lower() in GROUP_NAMES and name not in used), None)


def _describe_folders(sources: Sequence[Source], wanted: WantedColumns) -> list[str]:
    """Say that the name of a column does not matter where the folder is the class."""
    if isinstance(wanted.label, str) and any(source.has_folders for source in sources):
        return [f"labels from the names of the class folders: there is no column {wanted.label!r} to read"]
    return []


def _describe_sources(sources: Sequence[Source], options: Options) -> list[str]:
    """Say what was detected in the first files; by their names where they differ."""
    remarks = {source.name: ", ".join(source.remarks(options)) for source in sources[:_MAX_DESCRIBED]}
    different = set(remarks.values())
    if len(different) == 1:
        return [different.pop()]
    return [f"{remark} ({name})" for name, remark in remarks.items() if remark]


def _choose(sources: Sequence[Source], wanted: WantedColumns, options: Options) -> ChosenColumns:
    if all(source.has_lines for source in sources):
        by_file = wanted.label is not None or wanted.by_file
        note = "each line is a document" + (", each file a class" if by_file else "")
        return ChosenColumns((DEFAULT_TEXT,), None, by_file, note)
    if wanted.by_file:
        wanted = replace(wanted, label=None)
    if wanted.text is not AUTO and wanted.label is not AUTO:
        return ChosenColumns(wanted.text, wanted.label, wanted.by_file)
    for source in sources:
        names = source.column_names(options)
        if names is not None:
            return _choose_by_name(source.name, names, wanted, len(sources))
    return _defaults(wanted)


def _defaults(wanted: WantedColumns) -> ChosenColumns:
    """Return the usual names in place of those to be detected."""
    text = (DEFAULT_TEXT,) if wanted.text is AUTO else wanted.text
    label = DEFAULT_LABEL if wanted.label is AUTO else wanted.label
    return ChosenColumns(text, label, wanted.by_file)


def _choose_by_name(source: str, names: list[str], wanted: WantedColumns, n_sources: int) -> ChosenColumns:
    if not names:  # nothing that could be read: whoever reads on says what is wrong, and in which line
        return _defaults(wanted)
    found = []
    text, label, by_file = wanted.text, wanted.label, wanted.by_file
    if text is AUTO:
        text = _choose_text(source, names, wanted, n_sources)
        found.append(f"text from the column {' and '.join(map(repr, text))}")
    if label is AUTO:
        by_file = n_sources > 1 and guess_column(names, LABEL_NAMES) is None
        label = None if by_file else choose_column(source, names, "label")
        found.append("each file is a class" if by_file else f"labels from {label!r}")
    return ChosenColumns(text, label, by_file, ", ".join(found))


def _choose_text(source: str, names: Sequence[str], wanted: WantedColumns, n_sources: int) -> tuple[str, ...]:
    """Choose the columns with the text; where that of the labels is as unclear, one error asks for both."""
    if wanted.preferred_text and set(wanted.preferred_text) <= set(names):
        return wanted.preferred_text
    unclear = {"text": _guess(names, "text")}
    if isinstance(unclear["text"], str):
        return (unclear["text"],)
    if wanted.label is AUTO and n_sources == 1 and not isinstance(label := _guess(names, "label"), str):
        unclear["label"] = label
    raise InputError(_ask(source, names, unclear))


def guess_column(names: Sequence[str], tiers: Sequence[Sequence[str]]) -> str | list[str] | None:
    """Guess the column that is meant: its name; or the names that could be; or None.

    >>> guess_column(["id", "Text", "title"], TEXT_NAMES)
    'Text'
    >>> guess_column(["body", "message"], TEXT_NAMES)
    ['body', 'message']
    """
    if tiers[0][0] in names:
        return tiers[0][0]
    for tier in tiers:
        found = [name for name in names if name.strip().lower() in tier]
        exact = [name for name in found if name in tier]
        if len(found) == 1 or len(exact) == 1:
            return (exact or found)[0]
        if found:
            return found
    return _guess_by_last_word(names, tiers)


def _guess_by_last_word(names: Sequence[str], tiers: Sequence[Sequence[str]]) -> str | list[str] | None:
    """Guess by the last word of longer names, such as ``comment_text``.

    >>> _guess_by_last_word(["text_id", "comment_text", "sentiment label"], LABEL_NAMES)
    'sentiment label'
    """
    last = {name: re.split(r"[\W_]+", name.strip().lower())[-1] for name in names}
    for tier in tiers:
        found = [name for name in names if last[name] in tier]
        if found:
            return found[0] if len(found) == 1 else found
    return None


def choose_column(source: str, names: Sequence[str], what: str) -> str:
    """Choose the column for "text" or "label", or raise an error that lists the columns."""
    found = _guess(names, what)
    if isinstance(found, str):
        return found
    raise InputError(_ask(source, names, {what: found}))


def _guess(names: Sequence[str], what: str) -> str | list[str] | None:
    return guess_column(names, TEXT_NAMES if what == "text" else LABEL_NAMES)


def _crop(name: str) -> str:
    return name if len(name) <= _MAX_NAME_LENGTH else name[: _MAX_NAME_LENGTH - 1] + "\u2026"


def _ask(source: str, names: Sequence[str], unclear: Mapping[str, str | list[str] | None]) -> str:
    """Ask for columns; and for a line of names where what stands in place of one looks like a text."""
    doubts = " and ".join(
        f"{' and '.join(map(repr, found))} could both hold the {what}"
        if found
        else f"no column has a name that tells it holds the {what}"
        for what, found in unclear.items()
    )
    listed = ", ".join(repr(_crop(name)) for name in names[:_MAX_LISTED])
    listed += ", ..." if len(names) > _MAX_LISTED else ""
    wanted = " and ".join(f"{what}=NAME" for what in unclear)
    said = f"{source}: {doubts}. Say which with {wanted}. Columns: {listed or 'none were found'}."
    if any("\ufffd" in name for name in names):
        said += " The first line is not valid UTF-8, or no text at all: encoding=NAME reads other encodings."
    elif any(len(name.split()) > _MAX_NAME_WORDS for name in names):
        said += " If these are a row, not names: put a line such as text,label before it."
    return said

"""What is not the text itself: HTML markup, and the headers of mail and news.

It is removed on request, before a text is cut into words, as a part of the analyzer: so it is in the fingerprint,
counts with and without it do not add up, and a model removes it from new texts, too.

``"html"``: tags, comments, scripts and styles go, character references become characters; an element that begins a new
line or cell separates words, one inside a line (``<b>``) does not. ``"mail-headers"``: the lines in front of a mail, up
to the first that is no header, if one of them is a header that mail and news have; a text without such is left alone.
"""

from __future__ import annotations

import importlib.metadata
import platform
import re
from collections.abc import Callable, Collection
from email.parser import HeaderParser
from typing import Any

from termsieve.errors import OptionError, did_you_mean
from termsieve.extras import import_extra

_INLINE = [
    "a",
    "abbr",
    "acronym",
    "b",
    "bdi",
    "bdo",
    "big",
    "cite",
    "code",
    "data",
    "del",
    "dfn",
    "em",
    "font",
    "i",
    "ins",
    "kbd",
    "mark",
    "nobr",
    "q",
    "s",
    "samp",
    "small",
    "span",
    "strike",
    "strong",
    "sub",
    "sup",
    "time",
    "tt",
    "u",
    "var",
    "wbr",
]
_UNREAD = ["script", "style", "template", "noscript", "iframe", "object", "svg"]
_MAIL_FIELDS = frozenset((
    "from", "to", "cc", "subject", "date", "message-id", "received", "return-path", "reply-to", "newsgroups", "path",
    "sender", "references", "in-reply-to", "mime-version", "organization", "xref", "delivered-to",
))  # fmt: skip
_HEADER = re.compile(r"(?:From |[!-9;-~]+:)")  # how the first line of a mail begins


def check_markup(names: Any) -> tuple[str, ...]:
    """Return the kinds of markup in the order in which they are removed.

    >>> check_markup(["html", "mail-headers"])
    ('mail-headers', 'html')
    """
    if isinstance(names, str) or not isinstance(names, Collection):
        raise OptionError(f"Analyzer: strip must be a list of {', '.join(map(repr, _STRIPPERS))}; got {names!r}.")
    for name in names:
        if not isinstance(name, str) or name not in _STRIPPERS:
            raise OptionError(
                f"Analyzer: strip knows {' and '.join(map(repr, _STRIPPERS))}, not {name!r}. "
                f"{did_you_mean(name, _STRIPPERS)}".rstrip()
            )
    if "html" in names:
        _load_parser()
    return tuple(name for name in _STRIPPERS if name in names)


def strip_markup(text: str, names: Collection[str]) -> str:
    r"""Return the text without markup of these kinds.

    >>> strip_markup("From: me\nSubject: hello\n\n<p>So<b>me</b> text.</p><p>More</p>", ["mail-headers", "html"])
    'Some text.\nMore'
    """
    for name in names:
        text = _STRIPPERS[name](text)
    return text


def markup_version(names: Collection[str]) -> str:
    """Return the versions of what removes it: another may leave other text."""
    versions = []
    if "mail-headers" in names:
        versions.append(f"email {'.'.join(platform.python_version_tuple()[:2])}")
    if "html" in names:
        versions.append(f"selectolax {importlib.metadata.version('selectolax')}")
    return ", ".join(versions)


def _strip_mail_headers(text: str) -> str:
    start = text.lstrip("\r\n")
    if not _HEADER.match(start):
        return text
    message = HeaderParser().parsestr(start)
    if _MAIL_FIELDS.isdisjoint(name.lower() for name in message):
        return text
    return str(message.get_payload())


def _load_parser() -> Any:
    return import_extra("selectolax.lexbor", "Analyzer(strip=['html'])").LexborHTMLParser


def _strip_html(text: str) -> str:
    if "<" not in text and "&" not in text:
        return text
    tree = _load_parser()(text)
    tree.strip_tags(_UNREAD)
    tree.unwrap_tags(_INLINE)
    tree.merge_text_nodes()
    return str(tree.root.text(separator="\n")) if tree.root is not None else ""


_STRIPPERS: dict[str, Callable[[str], str]] = {"mail-headers": _strip_mail_headers, "html": _strip_html}

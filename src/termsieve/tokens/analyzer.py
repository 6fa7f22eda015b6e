"""Text to terms: the frozen options of an analyzer, and its fingerprint.

`Analyzer` is the plain-Python way from a text to its terms: the definition. The numba kernels give the same terms
faster, for the analyzers whose tokens are runs of one kind of character (`Analyzer.runs`).
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

from termsieve.errors import OptionError, did_you_mean
from termsieve.tokens.markup import check_markup, markup_version, strip_markup
from termsieve.tokens.patterns import (
    DEFAULT_TOKEN_PATTERN,
    TokenRuns,
    compile_pattern,
    find_pattern,
    parse_runs,
    register_pattern,
)
from termsieve.tokens.resources import find_stop_words, load_jieba, load_stemmer, load_stop_words, stemmer_version
from termsieve.tokens.tokenizers import (
    Tokenizer,
    Unconfirmed,
    check_tokens,
    find_tokenizer,
    register_tokenizer,
    resolve_tokenizer,
)


@dataclass(frozen=True, kw_only=True)
class Analyzer:
    r"""How a text becomes a list of terms.

    Frozen, hashable and printed back as the code that makes it. Options that scikit-learn's ``CountVectorizer`` has
    too have its meaning and its defaults. The order of the steps: lower case, accents, segmenter, tokens, minimum
    length, stop words, stemmer, n-grams. Documents that are lists of tokens already, such as lemmas of another program,
    go with ``analyzer="tokens"``: a token is taken as it is, and the steps begin with the minimum length.

    Parameters
    ----------
    lowercase
        Lower-case the text first.
    token_pattern
        Regular expression of a token; with one group, the group is the token.
    ngram_range
        Least and greatest length of n-grams, in words or characters.
    analyzer
        ``"word"``, ``"char"``, ``"char_wb"`` (characters inside word boundaries) or ``"tokens"`` (for lists of tokens).
    strip_accents
        ``"unicode"``, ``"ascii"`` or None.
    stop_words
        ``"english"`` (scikit-learn's list), ``"smart"`` (the 571 entries of the SMART system), a collection of
        words, or None.
    min_length
        Shorter tokens, in characters, are dropped.
    stemmer
        A Snowball language such as ``"english"`` (extra ``stem``).
    segmenter
        ``"jieba"`` puts spaces between Chinese words before the pattern is applied (extra ``zh``).
    tokenizer
        A named function from a text to its tokens, or its import path ``"package.module:function"``. It takes the
        place of `token_pattern`. The fingerprint knows it by its name.
    strip
        What is removed before anything else: ``"mail-headers"``, ``"html"`` (extra ``html``), or both; see
        `termsieve.tokens.markup`.

    Examples
    --------
    >>> Analyzer()("The cat, the hat: a tale.")
    ['the', 'cat', 'the', 'hat', 'tale']
    >>> Analyzer(stop_words="smart", ngram_range=(1, 2))("The cat, the hat: a tale.")
    ['cat', 'hat', 'tale', 'cat hat', 'hat tale']
    >>> Analyzer(analyzer="tokens", ngram_range=(1, 2))(["New York", "be", "big"])
    ['New York', 'be', 'big', 'New York be', 'be big']
    >>> Analyzer(lowercase=False, token_pattern=r"\w+")
    Analyzer(lowercase=False, token_pattern='\\w+')
    """

    lowercase: bool = True
    token_pattern: str = DEFAULT_TOKEN_PATTERN
    ngram_range: tuple[int, int] = (1, 1)
    analyzer: Literal["word", "char", "char_wb", "tokens"] = "word"
    strip_accents: Literal["unicode", "ascii"] | None = None
    stop_words: str | Collection[str] | None = None
    min_length: int = 1
    stemmer: str | None = None
    segmenter: str | None = None
    tokenizer: Tokenizer | str | None = None
    strip: Collection[str] = ()

    def __post_init__(self) -> None:
        _check_flag("lowercase", self.lowercase)
        _check_choice("analyzer", self.analyzer, ("word", "char", "char_wb", "tokens"))
        _check_choice("strip_accents", self.strip_accents, ("unicode", "ascii", None))
        _check_choice("segmenter", self.segmenter, ("jieba", None))
        register_pattern(self.token_pattern)
        _check_positive_int("min_length", self.min_length)
        object.__setattr__(self, "ngram_range", _check_ngram_range(self.ngram_range))
        object.__setattr__(self, "stop_words", _check_stop_words(self.stop_words))
        object.__setattr__(self, "strip", check_markup(self.strip))
        if self.tokenizer is not None:
            object.__setattr__(self, "tokenizer", register_tokenizer(self.tokenizer))
        if self.stemmer is not None:
            _check_stemmer(self.stemmer)
        if self.segmenter is not None:
            load_jieba()
        if self.analyzer == "tokens":
            self._refuse_options(
                "text", "lowercase", "token_pattern", "strip_accents", "segmenter", "tokenizer", "strip"
            )
        elif self.analyzer != "word":
            self._refuse_options("words", "stop_words", "min_length", "stemmer", "segmenter", "tokenizer")

    def _refuse_options(self, what: str, *names: str) -> None:
        """Refuse options that work on something that this analyzer does not have."""
        for name in names:
            if getattr(self, name) != _get_default(name):
                raise OptionError(
                    f"Analyzer: {name}={getattr(self, name)!r} works on {what} and has no meaning with "
                    f"analyzer={self.analyzer!r}. Leave it out, or use analyzer='word'."
                )

    def __repr__(self) -> str:
        changed = [
            f"{f.name}={_format_value(getattr(self, f.name))}" for f in fields(self) if not _is_default(self, f.name)
        ]
        return f"Analyzer({', '.join(changed)})"

    def __call__(self, text: str | Sequence[str]) -> list[str]:
        """Return the terms of `text`, or of a list of tokens, in order: the shortest n-grams first."""
        if isinstance(text, str) == (self.analyzer == "tokens"):
            raise make_kind_error(self)
        if not isinstance(text, str):
            return list(_word_ngrams(self.filter_words(list(text)), *self.ngram_range))
        text = self.preprocess(text)
        if self.analyzer == "char":
            return list(_char_ngrams(text, *self.ngram_range))
        if self.analyzer == "char_wb":
            return list(_char_wb_ngrams(text, *self.ngram_range))
        return list(_word_ngrams(self.words(text), *self.ngram_range))

    def preprocess(self, text: str) -> str:
        """Return the text as the token pattern meets it."""
        if self.strip:
            text = strip_markup(text, self.strip)
        if self.lowercase:
            text = text.lower()
        if self.strip_accents:
            text = remove_accents(text, self.strip_accents)
        if self.segmenter:
            text = " ".join(load_jieba().cut(text))
        return text

    def words(self, text: str) -> list[str]:
        """Return the tokens of a preprocessed text that are long enough and no stop words, stemmed."""
        tokens = self._tokenize(text)
        if self.tokenizer is not None:
            tokens = check_tokens(tokens, f"Analyzer: tokenizer {str(self.tokenizer)!r}")
        return self.filter_words(tokens)

    def filter_words(self, words: list[str]) -> list[str]:
        """Return the words that are long enough and no stop words, stemmed."""
        if self.min_length > 1:
            words = [word for word in words if len(word) >= self.min_length]
        if self.stop_set:
            words = [word for word in words if word not in self.stop_set]
        return [stem for stem in self.stem(words) if stem] if self.stemmer else words

    def stem(self, words: list[str]) -> list[str]:
        """Return each word without its ending."""
        return list(load_stemmer(self.stemmer or "").stemWords(words))

    @functools.cached_property
    def _tokenize(self) -> Tokenizer:
        if self.tokenizer is not None:
            return resolve_tokenizer(self.tokenizer)  # type: ignore[arg-type]  # a name since __post_init__
        return compile_pattern(self.token_pattern).findall

    @functools.cached_property
    def stop_set(self) -> frozenset[str]:
        """The stop words themselves."""
        return load_stop_words(self.stop_words)  # type: ignore[arg-type]  # a frozenset since __post_init__

    @property
    def runs(self) -> TokenRuns | None:
        """What the kernels need to know of the token pattern; None when they cannot do this analyzer."""
        if self.analyzer != "word" or self.tokenizer is not None or isinstance(self.token_pattern, Unconfirmed):
            return None
        return parse_runs(self.token_pattern, self.min_length)

    @functools.cached_property
    def settings(self) -> dict[str, Any]:
        """Everything that decides the terms, as plain data: the options, and what stands outside of them.

        A newer Python knows more letters, a newer stemmer cuts other endings, "english" is whatever list scikit-learn
        has: all of this is part of the fingerprint.
        """
        settings: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(self)}
        settings["ngram_range"] = list(self.ngram_range)
        settings["stop_words"] = sorted(self.stop_set)
        settings["unicode_version"] = unicodedata.unidata_version
        if self.stemmer:
            settings["stemmer_version"] = stemmer_version()
        if self.segmenter:
            settings["segmenter_version"] = str(load_jieba().__version__)
        settings["strip"] = list(self.strip)
        if self.strip:
            settings["strip_version"] = markup_version(self.strip)
        else:
            del settings["strip"]  # as in settings that are older than this option
        return settings

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Analyzer:
        r"""Return the analyzer of such settings, as far as this machine has its parts.

        Settings may be from a file of anybody. A tokenizer or a pattern that they name is not imported or compiled:
        the analyzer can be looked at, but does not cut texts before the user has given the same name or pattern to an
        `Analyzer`, too. Patterns of the kind ``\w+``, which cannot search for long, need no such confirmation.
        """
        if not isinstance(settings, Mapping) or not all(f.name in settings for f in fields(cls) if f.name != "strip"):
            raise OptionError(f"These are not the settings of an Analyzer: {settings!r:.100}.")
        options = {f.name: settings[f.name] for f in fields(cls) if f.name in settings}
        options["stop_words"] = find_stop_words(settings["stop_words"])
        options["token_pattern"] = find_pattern(settings["token_pattern"])
        options["tokenizer"] = find_tokenizer(settings["tokenizer"])
        return cls(**options)

    @functools.cached_property
    def fingerprint(self) -> str:
        """Changes with everything that changes the terms.

        >>> Analyzer().fingerprint == Analyzer(lowercase=True).fingerprint
        True
        >>> Analyzer().fingerprint == Analyzer(min_length=3).fingerprint
        False
        """
        return compute_fingerprint(self.settings)

    def __getstate__(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


def choose_analyzer(analyzer: Analyzer | None, *, tokens: bool) -> Analyzer:
    """Return the given analyzer, or without one the usual for texts or token lists; refuse one of the other kind."""
    if analyzer is None:
        return Analyzer(analyzer="tokens") if tokens else Analyzer()
    if not isinstance(analyzer, Analyzer):
        raise OptionError(f"analyzer must be an Analyzer, such as Analyzer(analyzer='char'), not {analyzer!r:.60}.")
    if tokens != (analyzer.analyzer == "tokens"):
        raise make_kind_error(analyzer)
    return analyzer


def make_kind_error(analyzer: Analyzer) -> OptionError:
    """Make the error for texts that meet an analyzer of tokens, or the other way around."""
    if analyzer.analyzer == "tokens":
        return OptionError("The documents are texts, and not lists of tokens: leave out analyzer='tokens'.")
    return OptionError(
        "The documents are lists of tokens, which are counted as they are: give analyzer='tokens'. "
        f"(Given: {analyzer!r}.)"
    )


def compute_fingerprint(settings: Mapping[str, Any]) -> str:
    """Return the fingerprint of an analyzer's settings."""
    canonical = json.dumps(settings, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()[:16]


def settings_difference(one: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """Return what differs between two analyzers' settings, in words.

    >>> settings_difference(Analyzer().settings, Analyzer(lowercase=False).settings)
    'lowercase: True here, False there'
    """
    names = [name for name in {**one, **other} if one.get(name) != other.get(name)]
    return "; ".join(f"{name}: {_shorten(one.get(name))} here, {_shorten(other.get(name))} there" for name in names)


def _shorten(value: object) -> str:
    if isinstance(value, list) and len(value) > 4:
        return f"{len(value)} words (sha256 {hashlib.sha256(repr(value).encode()).hexdigest()[:8]})"
    return repr(value)


# Options


def _get_default(name: str) -> object:
    return next(f.default for f in fields(Analyzer) if f.name == name)


def _is_default(analyzer: Analyzer, name: str) -> bool:
    return bool(getattr(analyzer, name) == _get_default(name))


def _format_value(value: object) -> str:
    if isinstance(value, frozenset):
        return "{" + ", ".join(map(repr, sorted(value))) + "}" if value else "()"
    return repr(value)


def _check_flag(name: str, value: object) -> None:
    if not isinstance(value, bool):
        raise OptionError(f"Analyzer: {name} must be True or False, not {value!r}.")


def _check_choice(name: str, value: object, choices: tuple[str | None, ...]) -> None:
    if not isinstance(value, str | None) or value not in choices:
        hint = did_you_mean(str(value), [c for c in choices if c])
        raise OptionError(
            f"Analyzer: {name} must be one of {', '.join(map(repr, choices))}, not {value!r}. {hint}".rstrip()
        )


def _check_positive_int(name: str, value: object) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise OptionError(f"Analyzer: {name} must be a whole number, 1 or more, not {value!r}.")


def _check_stemmer(language: object) -> None:
    if not isinstance(language, str):
        raise OptionError(f"Analyzer: stemmer must be the name of a language, such as 'english', not {language!r}.")
    load_stemmer(language)


def _check_ngram_range(value: object) -> tuple[int, int]:
    pair = tuple(value) if isinstance(value, Iterable) else ()
    if len(pair) == 2 and all(isinstance(n, int) and not isinstance(n, bool) for n in pair) and 1 <= pair[0] <= pair[1]:
        return pair
    raise OptionError(
        f"Analyzer: ngram_range must be two whole numbers such as (1, 2), the least first, not {value!r}."
    )


def _check_stop_words(value: object) -> str | frozenset[str] | None:
    if value is None or (isinstance(value, str) and value in ("english", "smart")):
        return value
    if isinstance(value, str) or not isinstance(value, Collection) or not all(isinstance(w, str) for w in value):
        raise OptionError(
            f"Analyzer: stop_words must be 'english', 'smart', a collection of words, or None, not {value!r}."
        )
    return frozenset(value)


# Pieces of text


def remove_accents(text: str, how: str) -> str:
    """Return the text without accents, or with "ascii" without all that is not ASCII."""
    if text.isascii():
        return text
    parts = unicodedata.normalize("NFKD", text)
    if how == "ascii":
        return parts.encode("ascii", "ignore").decode("ascii")
    return "".join(char for char in parts if not unicodedata.combining(char))


def _word_ngrams(words: list[str], least: int, most: int) -> Iterator[str]:
    for n in range(least, min(most, len(words)) + 1):
        if n == 1:
            yield from words
        else:
            yield from (" ".join(words[i : i + n]) for i in range(len(words) - n + 1))


def _char_ngrams(text: str, least: int, most: int) -> Iterator[str]:
    text = re.sub(r"\s\s+", " ", text)
    for n in range(least, min(most, len(text)) + 1):
        yield from (text[i : i + n] for i in range(len(text) - n + 1))


def _char_wb_ngrams(text: str, least: int, most: int) -> Iterator[str]:
    for word in text.split():
        padded = f" {word} "
        for n in range(least, most + 1):
            yield from (padded[i : i + n] for i in range(max(len(padded) - n + 1, 1)))
            if n >= len(padded):
                break  # a short word counts once

"""Text that is written without spaces between words: noticed, because whole clauses would be counted as words.

The rule: more than half of the letters in a sample are of scripts without spaces, and they stand in long runs. So text
that was cut into words before, or has some foreign names only, is not noticed.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from typing import NamedTuple

import pyarrow as pa

from termsieve.errors import warn
from termsieve.tokens.analyzer import Analyzer

_SAMPLE_TEXTS = 2_000
_SAMPLE_CHARACTERS = 200_000
FEWEST_CHARACTERS = 200  # of such scripts, below which nothing can be told


class _Script(NamedTuple):
    """Scripts without spaces, and the mean length of runs of letters (over the letters) that are too long for words.

    Words of Chinese and Japanese have mostly one to four characters; those of Southeast Asia are written with more.
    """

    name: str
    runs: re.Pattern[str]
    longest_words: int


_KANA = re.compile("[\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9f]")
_SCRIPTS = (
    _Script(
        "Chinese or Japanese",
        re.compile("[\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
                   "\U00020000-\U000323af]+"),
        5,
    ),
    _Script("Thai, Lao, Khmer or Burmese", re.compile("[\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\uaa60-\uaa7f]+"), 12),
)  # fmt: skip
_LETTER = re.compile(r"\w")


def find_script_without_spaces(texts: Iterable[str]) -> str | None:
    """Name the script of a sample of texts if it has hardly any spaces between words; None if all is well.

    >>> find_script_without_spaces(["今天天气很好我们去公园散步吧" * 20])
    'Chinese'
    >>> find_script_without_spaces(["今天 天气 很 好 " * 50]) is None
    True
    """
    sample = _take_sample(texts)
    if sample.isascii():
        return None
    for script in _SCRIPTS:
        lengths = [len(run) for run in script.runs.findall(sample)]
        n = sum(lengths)
        if n < FEWEST_CHARACTERS or 2 * n <= len(_LETTER.findall(script.runs.sub("", sample))) + n:
            continue
        if sum(length * length for length in lengths) >= script.longest_words * n:
            return _tell_japanese(sample, n) if script is _SCRIPTS[0] else script.name
    return None


def _take_sample(texts: Iterable[str]) -> str:
    """Return the first characters of the first texts, without a look at more of them."""
    taken: list[str] = []
    left = _SAMPLE_CHARACTERS
    for text in itertools.islice(texts, _SAMPLE_TEXTS):
        taken.append(text[:left])
        left -= len(taken[-1]) + 1
        if left <= 0:
            break
    return "\n".join(taken)


def _tell_japanese(sample: str, n: int) -> str:
    """Tell Japanese, which has kana everywhere, from Chinese."""
    return "Japanese" if len(_KANA.findall(sample)) * 10 > n else "Chinese"


def describe_missing_boundaries(texts: Iterable[str], analyzer: Analyzer) -> str | None:
    """Say that texts have hardly any word boundaries, and what would do; None if they have, or it does not matter.

    >>> describe_missing_boundaries(["今天天气很好我们去公园散步吧" * 20], Analyzer(analyzer="char")) is None
    True
    """
    if analyzer.analyzer != "word" or analyzer.segmenter or analyzer.tokenizer is not None or analyzer.runs is None:
        return None
    script = find_script_without_spaces(texts)
    if script is None:
        return None
    segment = "cut it into words with segmenter='jieba', or " if script == "Chinese" else ""
    return (
        f"most of the text is {script}, which has no spaces between words: whole clauses are taken for words. Better: "
        f"{segment}count characters with analyzer='char_wb', ngram_range=(1, 2), or give a tokenizer='module:function'"
    )


def warn_of_missing_boundaries(texts: pa.Array | pa.ChunkedArray, analyzer: Analyzer) -> None:
    """Warn once, by a look at the first texts, if they have hardly any word boundaries."""
    if note := describe_missing_boundaries((text.as_py() for text in texts), analyzer):
        warn(note, stacklevel=3)

"""A list of words with their frequencies, as reference corpora are published: counts to contrast a text with.

Such a list says nothing of documents, so each occurrence stands for a document of its own. Scores of relative
frequencies (`log_ratio`, `lrc`, `log_likelihood`, ...) are then what they are with the corpus itself; scores of
documents would be meaningless.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from termsieve.counts.consistency import LARGEST
from termsieve.counts.counts import Counts
from termsieve.errors import CountsError, OptionError
from termsieve.tokens.analyzer import Analyzer

REFERENCE = "reference"
_MOST_DIGITS = 100  # of a frequency; Python refuses to read some thousands


def count_frequencies(
    words: Sequence[str], occurrences: Sequence[Any], *, name: str = REFERENCE, analyzer: Analyzer | None = None
) -> Counts:
    """Return counts of a text that has these words so often, as one class.

    Parameters
    ----------
    words, occurrences
        The list. Words become terms as the analyzer makes them: "The" and "the" add up. A word that stands on it twice
        (as noun and as verb) is added up, too.
    name
        Of the class.
    analyzer
        That of the counts to be contrasted (default the default); terms must be single words.

    Examples
    --------
    >>> import termsieve as ts
    >>> mine = ts.count(["the ship sails", "the ship sinks"], ["mine", "mine"])
    >>> both = mine + count_frequencies(["The", "the", "ship", "house"], [20, 500, 2, 78])
    >>> [(row.term, round(row.score, 1)) for row in ts.score(both, "log_ratio(min_df=1)").top(2, of="mine")]
    [('sails', 7.6), ('sinks', 7.6)]
    """
    analyzer = analyzer or Analyzer()
    if analyzer.analyzer not in ("word", "tokens") or analyzer.ngram_range != (1, 1):
        raise OptionError("A list of words has the frequencies of single words: the analyzer must make single words.")
    if not isinstance(name, str):
        raise OptionError(f"name must be that of the class, a string, not {name!r:.60}.")
    words, occurrences = list(words), list(occurrences)
    if len(words) != len(occurrences):
        raise OptionError(f"There are {len(words):,} words, but {len(occurrences):,} frequencies.")
    totals: Counter[str] = Counter()
    for i, (word, times) in enumerate(zip(words, occurrences, strict=True), 1):
        if not isinstance(word, str):
            raise OptionError(f"Entry {i:,} of the list must be a word, not {word!r:.60}.")
        for term in analyzer([word] if analyzer.analyzer == "tokens" else word):
            totals[term] += _read_frequency(times, word, i)
    found = {term: times for term, times in totals.items() if times}
    if not found:
        raise CountsError("The analyzer makes no term of the words of this list.")
    total = {name: sum(found.values())}
    if total[name] > LARGEST:
        raise CountsError("The frequencies of this list add up to more than 64 bits can hold.")
    times = np.array(list(found.values()), np.int64)
    return Counts.from_table(
        list(found), [name] * len(found), times, times, times, class_sizes=total, analyzer=analyzer
    )


def _read_frequency(given: Any, word: str, i: int) -> int:
    """Return a frequency, which may be text such as "1,234"."""
    if isinstance(given, float | np.floating) and given.is_integer():
        given = int(given)  # a float writes large whole numbers with an exponent
    text = str(given).strip().replace(",", "").replace("_", "")
    whole = text.removesuffix(".0")
    if not whole.isdecimal() or len(whole) > _MOST_DIGITS:
        raise CountsError(
            f"Entry {i:,} of the list, {word!r}: its frequency must be a whole number, not {given!r:.60}."
        )
    return int(whole)

"""The words of a text that a reference corpus has less often: keywords, as linguists have them.

Compared are occurrences per occurrence of any word, because a published list of frequencies knows no documents. How
sure a score is follows from the documents of the text: a word that one document repeats is not sure.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from termsieve._types import Array, Int64Array
from termsieve.checks import is_whole_number
from termsieve.counts.counts import Counts
from termsieve.defaults import DEFAULT_LEVEL
from termsieve.errors import OptionError
from termsieve.periods.joining import join_periods
from termsieve.ranking.certainty import measure_dispersion
from termsieve.ranking.ranking import ScoreLike, as_score, score
from termsieve.ranking.score_values import Scores
from termsieve.scores import Score
from termsieve.table import Occurrences, Table, TableTooCoarseError

SCORE = "lrc"
_TEXT, _REFERENCE = "text", "reference"
_MILLION = 1e6


class Keyword(NamedTuple):
    """A word: its score with an interval, how often text and reference have it, and Juilland's D in the text."""

    rank: int
    term: str
    score: float
    low: float
    high: float
    occurrences: int
    per_million: float
    reference_occurrences: int
    reference_per_million: float
    dispersion: float


def keywords(
    text: Counts,
    reference: Counts,
    score_func: ScoreLike = SCORE,
    n: int | None = 20,
    *,
    against: bool = False,
    level: float = DEFAULT_LEVEL,
) -> list[Keyword]:
    """Return the words that a text has more often than a reference corpus, best first.

    Parameters
    ----------
    text, reference
        Counts of one analyzer; all their classes count. `termsieve.count_frequencies` makes those of a list.
    score_func
        A score of relative frequencies.
    n
        How many; None for all.
    against
        The words that the reference has more often instead.
    level
        Of the intervals.

    Examples
    --------
    >>> import termsieve as ts
    >>> text = ts.count(["the ship sails", "the ship sinks", "ship, the sea"] * 5)
    >>> reference = ts.count_frequencies(["the", "ship", "sea", "house"], [5000, 20, 30, 700])
    >>> [(word.term, round(word.score, 2)) for word in keywords(text, reference, "log_ratio", 2)]
    [('sails', 10.32), ('sinks', 10.32)]
    """
    if n is not None and not is_whole_number(n):
        raise OptionError(f"n must be a whole number, 0 or more, or None for all words, not {n!r}.")
    wanted = as_score(score_func)
    refuse_score_of_documents(wanted)
    both = join_periods({_TEXT: text, _REFERENCE: reference})
    scores = score(both, wanted)
    c = both.index_of_class(_TEXT)
    times = both.tf.toarray()[[c, 1 - c]].astype(np.int64)
    rates = _MILLION * times / np.maximum(times.sum(axis=1, keepdims=True), 1)
    values = scores.of_class(c)
    places = _order_words(scores, values, rates, against=against)[:n]
    low, high = scores.interval_of_class(c, level)
    evenness = _find_dispersion(text, both, places)
    return [
        Keyword(
            rank, str(both.terms[i]), float(values[i]), float(low[i]), float(high[i]), int(times[0, i]),
            float(rates[0, i]), int(times[1, i]), float(rates[1, i]), float(even),
        )
        for rank, (i, even) in enumerate(zip(places.tolist(), evenness, strict=True), 1)
    ]  # fmt: skip


def refuse_score_of_documents(wanted: Score) -> None:
    """Refuse scores that look at documents: a list of words has none."""
    one = np.ones(1)
    try:
        wanted.evaluate(Table(one, 2 * one, 2 * one, 4 * one, 2.0, Occurrences(one, one, 2 * one, 2 * one)))
    except TableTooCoarseError:
        return
    raise OptionError(
        f"The score {wanted.spelling!r} counts documents, of which a list of words has none. "
        "Take lrc, log_ratio, percent_diff, simple_maths, log_likelihood, bic or jensen_shannon."
    )


def _order_words(scores: Scores, values: Array, rates: Array, *, against: bool) -> Int64Array:
    """Return the places of the words of one side, best first; what the guard holds back comes last."""
    side = 1 if against else 0
    kept = np.flatnonzero(rates[side] > rates[1 - side])
    falls = against and scores.score.sided == 1  # one-sided scores are small for words of the other side
    seen = scores.counts.df.toarray()[scores.counts.index_of_class((_TEXT, _REFERENCE)[side])]
    rare = seen[kept] < scores.score.min_df
    return kept[np.lexsort((scores.counts.alphabetical[kept], values[kept] if falls else -values[kept], rare))]


def _find_dispersion(text: Counts, both: Counts, places: Int64Array) -> Array:
    """Return Juilland's D of words over the documents of the text, 0 for those that it does not have."""
    terms = [str(both.terms[i]) for i in places.tolist()]
    here = [i for i, term in enumerate(terms) if term in text]
    found = np.zeros(len(terms))
    found[here] = measure_dispersion(text, np.array([text.index_of(terms[i]) for i in here], np.int64))
    return found

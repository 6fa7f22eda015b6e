"""The best terms of counts in a file, read a block at a time.

A term among the n best of all is among the n best of its block, for the value of a score depends on the cells of its
term and on sums over all terms, which the file knows. So the best of each block are kept, now and then the best of
those; what is left at the end is ranked as any counts are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from termsieve._types import Array, Int64Array
from termsieve.counts.counts import Counts
from termsieve.counts.storage import join_blocks
from termsieve.errors import OptionError
from termsieve.ranking.distinct import load_loops
from termsieve.ranking.ranking_rows import Ranking
from termsieve.ranking.score_values import Scores, check_listing
from termsieve.threads import count_cores, map_stream

if TYPE_CHECKING:
    from termsieve.counts.counts_file import CountsFile
    from termsieve.scores import Score

MOST_HELD = 1 << 17  # terms from which on the best of what is held are kept


class Contest(NamedTuple):
    """A ranking of which the n best terms are wanted: overall, or with `classes` in each of these, by their places."""

    score: Score
    n: int
    classes: Sequence[int] | None = None
    against: bool = False
    aggregate: str | None = None

    def find_best(self, counts: Counts) -> list[Int64Array]:
        """Return the places of the best terms."""
        scores = Scores(counts, self.score)
        if self.classes is not None:
            return [scores.best_of_class(c, self.n, against=self.against) for c in self.classes]
        return [scores.top_indices(scores.overall(self.aggregate), scores.tie_break_of(self.aggregate), self.n)]


class _Held(NamedTuple):
    """Counts of some terms, and their places among all."""

    counts: Counts
    places: Int64Array

    def keep_best(self, contests: Sequence[Contest]) -> _Held:
        best = [places for contest in contests for places in contest.find_best(self.counts)]
        kept = np.unique(np.concatenate([np.empty(0, np.int64), *best]))
        counts = self.counts.take(kept)
        counts.population = self.counts.population
        return _Held(counts, self.places[kept])

    def plus(self, other: _Held) -> _Held:
        block = join_blocks([self.counts.block, other.counts.block])
        counts = Counts.of_block(self.counts.facts, block, self.counts.population)
        return _Held(counts, np.concatenate([self.places, other.places]))


def find_finalists(
    file: CountsFile, contests: Sequence[Contest], threads: int | None = None
) -> tuple[Counts, Int64Array]:
    """Return the counts of the terms that are among the best in any contest, and their places among all terms."""

    def number_blocks() -> Iterator[_Held]:
        before = 0
        for counts in file.blocks():
            yield _Held(counts, np.arange(before, before + counts.n_terms))
            before += counts.n_terms

    def keep_best(block: _Held) -> _Held:
        return block.keep_best(contests)

    load_loops(file.n_cells)
    held: _Held | None = None
    for best in map_stream(keep_best, number_blocks(), threads or count_cores()):
        held = best if held is None else held.plus(best)
        if len(held.places) > MOST_HELD:
            held = held.keep_best(contests)
    if held is None:
        counts = file.read()
        return counts, np.arange(counts.n_terms)
    return held.keep_best(contests)


class FileScores:
    """The values of one score on counts in a file. Made by `termsieve.score`; its rankings are those of `Scores`.

    Examples
    --------
    >>> import tempfile, termsieve as ts
    >>> path = tempfile.mkdtemp() + "/films.counts"
    >>> ts.count(["good film", "good play", "bad film"], ["pos", "pos", "neg"]).save(path)
    >>> ts.score(ts.CountsFile(path), "chi2").top(2)
    rank  term  chi2  class  tp  fp  fn  tn
       1  bad      3  neg     1   0   0   2
       2  good     3  pos     2   0   0   1
    """

    def __init__(self, file: CountsFile, score: Score) -> None:
        score.check_documents(file.n_docs)
        self.file, self.score = file, score

    def overall(self, aggregate: str | None = None) -> Array:
        """Return one value per term, in the order of the file."""
        parts = [Scores(counts, self.score).overall(aggregate) for counts in self.file.blocks()]
        return np.concatenate([np.empty(0), *parts])

    def top(
        self, n: int = 20, *, of: str | None = None, per_class: bool = False, against: bool = False, **beside: Any
    ) -> Ranking:
        """Return the best terms, as `Scores.top` does; q-values need all terms, so there are none."""
        check_listing(n, of=of, per_class=per_class, against=against)
        if beside.get("pvalues"):
            raise OptionError("q-values need all terms: read the counts whole, as in score(file.read(), ...).")
        classes: Sequence[int] | None = None
        if per_class or of is not None:
            names = self.file.classes.tolist()
            classes = range(len(names)) if of is None else [self.file.head.index_of_class(of)]
        finalists, _ = find_finalists(self.file, [Contest(self.score, n, classes, against)])
        return Scores(finalists, self.score).top(n, of=of, per_class=per_class, against=against, **beside)

    def __repr__(self) -> str:
        n_classes, n_terms = self.file.n_classes, self.file.n_terms
        return f"<FileScores {self.score.spelling}: {n_classes:,} classes, {n_terms:,} terms>"

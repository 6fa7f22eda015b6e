"""score(): counts and scores come in; the values of each score go out."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, TypeAlias, overload

import numpy as np

from termsieve._kernels import use_way
from termsieve._types import Array
from termsieve.errors import OptionError, warn
from termsieve.ranking import aggregate as agg
from termsieve.ranking.score_values import Scores
from termsieve.scores import Score, parse_score
from termsieve.scores.parsing import refuse_matrix_function
from termsieve.scores.registry import make_score

if TYPE_CHECKING:
    from termsieve.counts.counts import Counts
    from termsieve.counts.counts_file import CountsFile
    from termsieve.ranking.finalists import FileScores
    from termsieve.table import Table

ScoreLike: TypeAlias = "str | Score | Callable[[Table], Array]"


def as_score(what: ScoreLike) -> Score:
    """Return the Score of a spelling, of a Score, or of a plain function of a Table."""
    if isinstance(what, str | Score):
        return parse_score(what)
    if callable(what):
        refuse_matrix_function(what)
        return _make_own_score(what)
    raise OptionError(f"A score is a spelling, a Score or a function of a Table; it was given {what!r}.")


def _make_own_score(function: Callable[[Table], Array]) -> Score:
    if not hasattr(function, "__name__"):
        raise OptionError(f"A score needs a name, so its function must have one: define it with def. It is {function}.")
    try:
        return make_score(function)
    except (TypeError, ValueError, NameError) as error:
        raise OptionError(f"The function {function.__name__!r} cannot be a score: {error}.") from error


@overload
def score(counts: Counts, score_func: ScoreLike) -> Scores: ...


@overload
def score(counts: Counts, score_func: list[ScoreLike] | tuple[ScoreLike, ...]) -> dict[str, Scores]: ...


@overload
def score(counts: CountsFile, score_func: ScoreLike) -> FileScores: ...


@overload
def score(counts: CountsFile, score_func: list[ScoreLike] | tuple[ScoreLike, ...]) -> dict[str, FileScores]: ...


def score(
    counts: Counts | CountsFile, score_func: ScoreLike | list[ScoreLike] | tuple[ScoreLike, ...]
) -> Scores | FileScores | dict[str, Scores] | dict[str, FileScores]:
    """Score all terms.

    Parameters
    ----------
    counts : Counts or CountsFile
        What `termsieve.count` or `Counts.from_matrix` made, in memory or in a file that is read a block at a time.
    score_func : str, Score, function of a Table, or a list of these
        A spelling such as ``"chi2"`` or ``"bns(floor=0.001)"``; `termsieve.SCORES` has them all.

    Returns
    -------
    Scores (of a file FileScores), or for a list a dict of them by canonical spelling

    Examples
    --------
    >>> import termsieve as ts
    >>> counts = ts.count(["good film", "good play", "bad film"], ["pos", "pos", "neg"])
    >>> score(counts, "chi2").overall().round(3)
    array([3.  , 0.75, 3.  , 0.75])
    >>> score(counts, "ngl").top(2)
    rank  term      ngl  class  tp  fp  fn  tn
       1  bad   1.73205  neg     1   0   0   2
       2  good  1.73205  pos     2   0   0   1
    """
    if isinstance(score_func, list | tuple):
        return {s.spelling: _score_one(counts, s) for s in map(as_score, score_func)}  # type: ignore[return-value]
    return _score_one(counts, as_score(score_func))


def _score_one(counts: Counts | CountsFile, one: Score) -> Scores | FileScores:
    from termsieve.counts.counts import Counts
    from termsieve.counts.counts_file import CountsFile

    if not isinstance(counts, Counts | CountsFile):
        raise OptionError(
            f"score needs Counts or a CountsFile; it was given {type(counts).__name__}. "
            "Documents are counted by termsieve.count; folds have counts, such as folds.total."
        )
    if counts.n_classes == 0:
        raise OptionError("These counts have no classes: there is nothing to score against.")
    if one.single_label and counts.n_multilabel:
        warn(
            f"{counts.n_multilabel:,} documents have more than one label, and the class parts "
            f"of {one.name!r} do not add up then. Take 'info_gain_binary'.",
            stacklevel=3,
        )
    if isinstance(counts, CountsFile):
        from termsieve.ranking.finalists import FileScores

        return FileScores(counts, one)
    return Scores(counts, one)


@cache
def load_kernels() -> None:
    """Load or compile in this thread the loops that scores in several threads need: see `termsieve.threads`."""
    from termsieve.counts.counts import Counts

    counts = Counts.from_matrix(np.eye(2, dtype=np.int64), ["a", "b"])
    with use_way("compiled"):
        for spelling in ("fisher_exact", "info_gain"):
            values = score(counts, spelling)
            for how in agg.AGGREGATIONS:
                values.order(how)
            values.order_of_class(0)
            values.top(1)  # with the class that a term is associated with

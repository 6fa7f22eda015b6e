"""Selection: the chosen terms in rank order, with their scores and the reason why there are no more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from termsieve import views
from termsieve._types import Array, BoolArray, Int64Array, StringArray
from termsieve.counts.counting import count, count_folds
from termsieve.counts.counts import Counts
from termsieve.counts.counts_file import CountsFile
from termsieve.counts.folds import Folds
from termsieve.defaults import DEFAULT_SCORE
from termsieve.documents import Documents
from termsieve.errors import OptionError
from termsieve.frames import ArrowTable
from termsieve.ranking.finalists import find_finalists
from termsieve.ranking.ranking import ScoreLike, as_score
from termsieve.ranking.ranking import score as score_counts
from termsieve.ranking.score_values import Scores
from termsieve.selection.pool import TermPool
from termsieve.selection.rules import Rule, RuleLike, parse_rule
from termsieve.selection.stability import N_FOLDS
from termsieve.tokens.analyzer import Analyzer

if TYPE_CHECKING:
    from termsieve.counts.labelled import LabelledMatrix
    from termsieve.selection.near_duplicates import NearDuplicate


@dataclass(frozen=True, eq=False, repr=False)
class Selection(ArrowTable):
    """Chosen terms, best first, made by `termsieve.select`. Only plain arrays and text, so it can be stored anywhere.

    Attributes
    ----------
    terms : array of str
        In rank order.
    scores : array
        Of each term. Rules in which several scores or classes take terms in turn (``union``, ``round_robin``,
        ``per_class``) give the value by which a term was taken; it need not fall along the ranks.
    labels : array of str
        The class that each term is associated with: the one with the largest tpr - fpr.
    taken_by : array of str
        The score that ranked the term, or the class whose turn it was.
    index : array of int
        The indices of the terms in the counts, or columns of the matrix.
    n_terms : int
        Number of terms there were.
    rule, score, reason : str
        The spellings of the rule and of the score, and why the rule stopped where it did.

    Examples
    --------
    >>> import termsieve as ts
    >>> counts = ts.count(["good film", "good play", "bad film"], ["pos", "pos", "neg"])
    >>> selection = ts.select(counts, "round_robin(2)", "chi2")
    >>> selection.terms, selection.labels
    (array(['bad', 'good'], dtype=object), array(['neg', 'pos'], dtype=object))
    """

    terms: StringArray
    scores: Array
    labels: StringArray
    taken_by: StringArray
    index: Int64Array
    n_terms: int
    rule: str
    score: str
    reason: str

    def __len__(self) -> int:
        return len(self.terms)

    @property
    def mask(self) -> BoolArray:
        """A mask of the chosen terms among all terms."""
        mask = np.zeros(self.n_terms, np.bool_)
        mask[self.index] = True
        return mask

    def near_duplicates(
        self,
        documents: Documents | LabelledMatrix | Sequence[str],
        labels: Sequence[Any] | None = None,
        *,
        analyzer: Analyzer | None = None,
        n: int | None = None,
        least_share: float = 0.3,
    ) -> list[NearDuplicate]:
        """List for each chosen term those that it makes superfluous: not chosen, and telling the same.

        Parameters
        ----------
        documents, labels, analyzer
            What the terms were chosen from, as for `termsieve.count`.
        n : int, optional
            Consider this many terms that were not chosen, the best by information gain (default: five times as many
            as were chosen).
        least_share : float
            Leave out those that share a smaller part of their documents with the chosen term.

        Returns
        -------
        list of NearDuplicate
            By rank; those of one term by how much it takes from what they tell of the class.

        Examples
        --------
        >>> import termsieve as ts
        >>> texts = ["cheap discount", "cheap discount pills", "cheap discount", "pills", "noon", "cheap lunch", "noon"]
        >>> labels = ["spam"] * 4 + ["ham"] * 3
        >>> for one in ts.select(texts, "cmim(2)", labels=labels).near_duplicates(texts, labels):
        ...     print(f"{one.term}: also {one.other}, {one.share:.0%} of its documents")
        discount: also cheap, 75% of its documents
        """
        from termsieve.counts.labelled import LabelledMatrix, read_labelled
        from termsieve.selection.near_duplicates import find_near_duplicates

        matrix = documents if isinstance(documents, LabelledMatrix) else read_labelled(documents, labels, analyzer)
        chosen = np.array([matrix.counts.index_of(term) for term in self.terms], np.int64)
        return find_near_duplicates(chosen, matrix, n=n, least_share=least_share)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Selection):
            return NotImplemented
        return all(np.array_equal(value, getattr(other, name)) for name, value in vars(self).items())

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = [f"{term} ({x:.4g}, {label})" for term, x, label in zip(
            self.terms[:6], self.scores[:6], self.labels[:6], strict=True)]  # fmt: skip
        more = f", ... {len(self) - 6:,} more" if len(self) > 6 else ""
        return (
            f"Selection of {len(self):,} of {self.n_terms:,} terms by {self.rule} on {self.score}\n"
            f"  terms     {', '.join(shown)}{more}\n"
            f"  because   {self.reason}"
        )

    def _repr_html_(self) -> str:
        columns = (self.terms, self.scores, self.labels, self.taken_by)
        rows = [
            (rank, term, float(x), label, by)
            for rank, (term, x, label, by) in enumerate(
                zip(*(column[: views.MAX_ROWS] for column in columns), strict=True), 1
            )
        ]
        title = f"{len(self):,} of {self.n_terms:,} terms by {self.rule} on {self.score}"
        notes = [views.format_more(len(self), "terms"), f"Why it stopped there: {self.reason}."]
        return views.render_table(title, ("rank", "term", "score", "class", "taken by"), rows, notes=notes)

    def to_arrow(self) -> pa.Table:
        """Return a table with a row per term, best first: rank, term, score, class, taken_by, index."""
        text = pa.string()
        columns = {"rank": np.arange(1, len(self) + 1), "term": pa.array(self.terms, text), "score": self.scores}
        by = {"class": pa.array(self.labels, text), "taken_by": pa.array(self.taken_by, text)}
        return pa.table({**columns, **by, "index": self.index})


def select(
    what: Counts | CountsFile | Folds | Scores | Documents | LabelledMatrix | Sequence[str],
    rule: RuleLike = "top(1000)",
    score: ScoreLike | None = None,
    *,
    labels: Sequence[Any] | None = None,
    analyzer: Analyzer | None = None,
    aggregate: str | None = None,
    threads: int | None = None,
    folds: Folds | None = None,
) -> Selection:
    """Choose terms.

    Parameters
    ----------
    what : Counts, Folds, Scores, Documents, LabelledMatrix or sequence of texts
        Counts, with `score` to rank them by, or the result of `termsieve.score`; or documents, as for
        `termsieve.count`, which are counted. The last five rules need documents (``stable``: or folds of them).
    rule : str, Rule or int
        How many, and which: a number of terms, or a spelling.

        ============================================  ==========================================================
        ``top(1000)``                                 the best 1,000
        ``percentile(10)``                            the best tenth
        ``threshold(3.84)``                           those with at least this score
        ``median_probability()``                      those with a ``pip`` of at least 0.5
        ``energy(0.8)``                               the best that have 0.8 of the sum of all scores
        ``fdr(0.05)``, ``fwe(0.05)``                  by p-values, for scores that have them
        ``round_robin(100)``                          classes in turn, 100 in all
        ``per_class(50)``                             50 for each class
        ``union("chi2", "info_gain", k=1000)``        several scores in turn, 1,000 in all
        ``stages("ocfs", 10000, "info_gain", 1000)``  one score after the other
        ``stable(500, share=0.9)``                    among the 500 best in 0.9 of half-samples of the documents
        ``cmim(1000)``                                each tells most beside any one of those before it
        ``jmi(1000)``                                 each tells most beside those before it, on average
        ``mrmr(1000, form="difference")``             each relevant, and unlike those before it; or ``"quotient"``
        ``fcbf()``                                    those that tell more of the class than of a better term
        ============================================  ==========================================================
    score : str, Score or function of a Table
        The score that ranks the terms (default `termsieve.defaults.DEFAULT_SCORE`). ``union`` and ``stages`` have
        scores of their own, and the last four rules begin with information gain.
    labels, analyzer, threads
        With texts or documents: as for `termsieve.count`.
    aggregate : {"max", "sum", "mean", "weighted_mean"}, optional
        How scores of the classes become one (default: the score's own way).
    folds : Folds, optional
        With counts, for the rule ``stable``: `termsieve.count_folds` of the same documents.

    Examples
    --------
    >>> import termsieve as ts
    >>> texts, labels = ["good film", "good play", "bad film", "bad night"], ["pos", "pos", "neg", "neg"]
    >>> counts = ts.count(texts, labels)
    >>> select(counts, "top(2)", "chi2")
    Selection of 2 of 5 terms by top(2) on chi2
      terms     bad (4, neg), good (4, pos)
      because   the 2 of 5 terms with the highest score were asked for
    >>> select(counts, "energy(0.9)", "info_gain").terms
    array(['bad', 'good', 'night', 'play'], dtype=object)
    >>> texts = ["cheap discount", "cheap discount pills", "cheap discount", "pills", "noon", "cheap lunch", "noon"]
    >>> labels = ["spam"] * 4 + ["ham"] * 3
    >>> select(texts, "top(3)", "info_gain", labels=labels).terms
    array(['discount', 'noon', 'pills'], dtype=object)
    >>> select(texts, "cmim(3)", labels=labels).terms
    array(['discount', 'pills', 'noon'], dtype=object)
    """
    chosen_rule = parse_rule(rule)
    if not isinstance(folds, Folds | None):
        raise OptionError(f"folds must be what termsieve.count_folds gives, not {type(folds).__name__}.")
    if chosen_rule.needs_folds and isinstance(what, Documents | Sequence):
        folds = count_folds(what, labels, folds=N_FOLDS, analyzer=analyzer, threads=threads)
        if not chosen_rule.needs_documents:
            what, labels, analyzer = folds.total, None, None
    elif isinstance(what, Folds):
        folds, what = what, what.total
    if isinstance(what, Scores):
        if score is not None:
            raise OptionError(
                f"select was given scores of {what.score.spelling!r} and another score {score!r}: give one."
            )
        _refuse_labels(labels, analyzer, "scores")
        return select_from_pool(TermPool(what, aggregate, folds=folds), chosen_rule)
    chosen_score = as_score(DEFAULT_SCORE if score is None else score)
    if isinstance(what, CountsFile):
        contests = chosen_rule.contests(chosen_score, aggregate, what.n_terms, what.n_classes)
        if contests is not None:
            finalists, places = find_finalists(what, contests, threads)
            selection = select_from_pool(TermPool(score_counts(finalists, chosen_score), aggregate), chosen_rule)
            return replace(selection, index=places[selection.index])
        what = what.read()
    counts, matrix = _read_source(what, chosen_rule, labels, analyzer, threads)
    scores = score_counts(counts, chosen_score)
    return select_from_pool(TermPool(scores, aggregate, matrix=matrix, folds=folds), chosen_rule)


def select_from_pool(pool: TermPool, rule: Rule) -> Selection:
    """Let a rule choose from a pool of terms."""
    chosen = rule.choose(pool)
    counts, own = pool.counts.take(chosen.indices), rule.own_score(pool.counts)
    if len(rule.scores) > 1:
        spelling = ", ".join(as_score(one).spelling for one in rule.scores)
    else:
        spelling = (pool.scores.score if own is None else as_score(own)).spelling
    return Selection(
        terms=counts.terms,
        scores=chosen.values,
        labels=counts.classes[Scores(counts, pool.scores.score).associated_class],
        taken_by=np.array([*chosen.taken_by], dtype=object),
        index=chosen.indices,
        n_terms=pool.counts.vocabulary_size,
        rule=repr(rule),
        score=spelling,
        reason=chosen.reason,
    )


def _read_source(
    what: Any, rule: Rule, labels: Any, analyzer: Analyzer | None, threads: int | None
) -> tuple[Counts, LabelledMatrix | None]:
    """Return the counts of what was given, and the documents where the rule needs them."""
    if isinstance(what, Counts):
        _refuse_labels(labels, analyzer, "counts")
        return what, None
    if isinstance(what, Documents | Sequence) and not rule.needs_documents:
        return count(what, labels, analyzer=analyzer, threads=threads), None
    from termsieve.counts.labelled import LabelledMatrix, read_labelled

    if isinstance(what, LabelledMatrix):
        return what.counts, what
    if not isinstance(what, Documents | Sequence):
        raise OptionError(f"select needs Counts, Scores or documents; it was given {type(what).__name__}.")
    matrix = read_labelled(what, labels, analyzer, threads)
    return matrix.counts, matrix


def _refuse_labels(labels: Any, analyzer: Analyzer | None, given: str) -> None:
    if labels is not None or analyzer is not None:
        raise OptionError(f"select: labels and analyzer go with texts; these are {given}.")

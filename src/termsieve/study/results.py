"""The result of a study: one long table, and its recommendation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from termsieve import views
from termsieve._types import Array
from termsieve.counts.counts import Counts
from termsieve.defaults import DEFAULT_MEASURE
from termsieve.errors import OptionError, did_you_mean
from termsieve.evaluate.differences import corrected_error
from termsieve.evaluate.significance import Contrast, Posterior, contrast, correlated_t
from termsieve.frames import ArrowTable
from termsieve.plots import plot_curves
from termsieve.ranking.score_values import Scores
from termsieve.selection.near_duplicates import NearDuplicate, TermGroup
from termsieve.study.excerpts import Excerpts
from termsieve.study.plan import MARGIN, check_margin
from termsieve.study.recommendation import Recommendation, recommend
from termsieve.study.result_files import ResultParts, read_result, write_result
from termsieve.study.trials import Trials

_SUMMARY = pa.schema([("classifier", pa.string()), ("score", pa.string()), ("k", pa.int32()), ("mean", pa.float64())])


class Comparison(ArrowTable):
    """The result of `termsieve.compare`.

    Attributes
    ----------
    table : pyarrow.Table
        One row per repetition, fold, score, classifier, number of terms, label ("" for all classes) and measure.
    settings : dict
        Everything needed to run it again, and what was noted on the way. ``settings["duality_gaps"]`` has for each
        classifier that is solved to an optimum (`linear_svm`) the largest duality gap of a solution, as a share of
        its objective.
    seconds : dict
        CPU seconds of each ranking (scoring and sorting alone) and of each curve. Not part of the table: they differ
        from run to run.
    counts : Counts or None
        Of all documents: what a report shows of the vocabulary.
    excerpts : dict of str to list of Excerpt
        A few short excerpts of the documents for the best terms. Set it to ``{}`` before you save or report a
        result whose documents nobody else may read.
    term_groups : list of TermGroup
        Terms among the first of each score that stand for each other, by their documents; see
        `termsieve.selection.near_duplicates`.
    near_duplicates : list of NearDuplicate
        What the first of the recommended terms make superfluous.

    Examples
    --------
    >>> import termsieve as ts
    >>> texts = ["cheap pills", "cheap watches", "buy pills", "noon meeting", "lunch at noon", "meeting at ten"]
    >>> result = ts.compare(texts, ["spam"] * 3 + ["ham"] * 3, scores=["chi2", "gu"], classifiers=["multinomial_nb"],
    ...                     ks=[2, 4], cv=3)
    >>> result.scores, result.classifiers, result.ks
    (['chi2', 'gu'], ['multinomial_nb'], [2, 4, 9])
    >>> result.recommended().classifier
    'multinomial_nb'
    """

    def __init__(
        self, table: pa.Table, settings: Mapping[str, Any], seconds: Mapping[str, float],
        counts: Counts | None = None, excerpts: Excerpts | None = None, term_groups: Sequence[TermGroup] = (),
        near_duplicates: Sequence[NearDuplicate] = (),
    ) -> None:  # fmt: skip
        self.table, self.settings, self.seconds = table, dict(settings), dict(seconds)
        self.counts = counts
        self.excerpts: Excerpts = dict(excerpts or {})
        self.term_groups, self.near_duplicates = list(term_groups), list(near_duplicates)
        self.scored: dict[str, Scores] = {}  # what was scored on `counts` on the way, for a report; not saved

    def __repr__(self) -> str:
        scores, models = self._distinct_values("score"), self._distinct_values("classifier")
        head = (
            f"Comparison of {len(scores)} scores with {len(models)} classifiers: {self.settings['n_splits']} splits, "
            f"{len(self._distinct_values('k'))} numbers of terms"
        )
        lines = [head, *(f"  {choice.reason}" for choice in self.best().values())]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        best = {(row["classifier"], row["score"]): row for row in sorted(self.summary().to_pylist(), key=_quality_key)}
        rows = [
            (row["classifier"], row["score"], row["k"], row["mean"])
            for row in sorted(best.values(), key=_quality_key, reverse=True)[: views.MAX_ROWS]
        ]
        title, *reasons = repr(self).splitlines()
        notes = [views.format_more(len(best), "rows"), *reasons]
        return views.render_table(title, ("classifier", "score", "best with terms", "macro F1"), rows, notes=notes)

    @property
    def scores(self) -> list[str]:
        """The names of the scores, in the order of the table."""
        return self._distinct_values("score")

    @property
    def classifiers(self) -> list[str]:
        """The names of the classifiers, in the order of the table."""
        return self._distinct_values("classifier")

    @property
    def asked_scores(self) -> list[str]:
        """The scores without those that the search added, such as one on words and pairs."""
        return self._without_added(self.scores, "scores")

    @property
    def asked_classifiers(self) -> list[str]:
        """The classifiers without those that the search added, which are not tried throughout."""
        return self._without_added(self.classifiers, "classifiers")

    def _without_added(self, names: list[str], parameter: str) -> list[str]:
        asked = self.settings.get(parameter)
        return [name for name in names if asked is None or name in asked] or names

    @property
    def ks(self) -> list[int]:
        """The numbers of terms."""
        return sorted(self._distinct_values("k"))

    def describe_gaps(self) -> str:
        """Say how near to the optimum classifiers were solved; empty where none has a certificate of that."""
        gaps = self.settings.get("duality_gaps", {})
        if not gaps:
            return ""
        each = "; ".join(f"{name}: {gap:.1e}" for name, gap in gaps.items())
        return f"Distance from the optimum, at most (largest duality gap, as a share of the objective): {each}."

    def _distinct_values(self, column: str) -> list[Any]:
        return list(self.table[column].unique().to_pylist())

    def to_arrow(self) -> pa.Table:
        """Return the long table."""
        return self.table

    def plot(self, measure: str = DEFAULT_MEASURE) -> Any:
        """Draw a measure over the number of terms, for each score and classifier: a chart of altair."""
        return plot_curves(self.summary(measure), measure)

    def summary(self, measure: str = DEFAULT_MEASURE) -> pa.Table:
        """Return the mean and standard error over the splits, for each score, classifier and number of terms.

        The standard error has Nadeau and Bengio's correction, because splits share training documents; it is null with
        one split.
        """
        trials = self.trials(measure)
        errors = np.broadcast_to(corrected_error(trials.values, trials.ratio), len(trials.tried))
        columns = {name: [getattr(one, name) for one in trials.tried] for name in ("classifier", "score", "k", "mean")}
        known = pa.array(errors, pa.float64(), from_pandas=True)  # null for NaN
        return pa.table(columns, schema=_SUMMARY).append_column("standard_error", known)

    def trials(self, measure: str = DEFAULT_MEASURE) -> Trials:
        """Return everything that was tried, with a measure of all classes on each split."""
        check_measure(measure, self.table.filter(pc.field("label") == "")["measure"].unique().to_pylist())
        return Trials.from_table(self.table, self.settings, measure)

    def best(self, measure: str = DEFAULT_MEASURE, *, margin: float | None = None) -> dict[str, Recommendation]:
        """Return for each classifier the fewest terms that are enough with it, and why."""
        trials = self.trials(measure)
        return {name: self._recommend(trials.of_classifier(name), measure, margin) for name in self.classifiers}

    def recommended(
        self, measure: str = DEFAULT_MEASURE, *, margin: float | None = None, fewest: bool = True
    ) -> Recommendation:
        """Return the fewest terms that are enough, of all classifiers and scores, and why.

        `termsieve.study.recommendation.RULE` says what is enough.

        Parameters
        ----------
        measure : str
            What counts.
        margin : float, optional
            The loss that does not count: the probability that what is recommended is worse by more is reported
            (default: as the comparison was asked for, 0.01).
        fewest : bool
            With False the best of what was asked for, however many terms it has.
        """
        return self._recommend(self.trials(measure), measure, margin, fewest=fewest)

    def _recommend(self, trials: Trials, measure: str, margin: float | None, *, fewest: bool = True) -> Recommendation:
        chosen = self.settings.get("margin", MARGIN) if margin is None else margin
        check_margin(chosen)
        return recommend(trials, measure, float(chosen), self.settings, fewest=fewest)

    def curve(self, score: str, classifier: str, measure: str = DEFAULT_MEASURE) -> tuple[list[int], Array]:
        """Return the numbers of terms, and a measure of all classes (splits x numbers of terms)."""
        chosen = self.table.filter(
            (pc.field("score") == score) & (pc.field("classifier") == classifier)
            & (pc.field("measure") == measure) & (pc.field("label") == "")
        )  # fmt: skip
        ks = chosen["k"].unique().to_pylist()
        n_splits = chosen.num_rows // len(ks) if ks else 0
        return ks, np.asarray(chosen["value"].to_numpy()).reshape(n_splits, len(ks))

    def contrast(
        self,
        classifier: str | None = None,
        *,
        k: int | None = None,
        measure: str = DEFAULT_MEASURE,
        alpha: float = 0.05,
    ) -> Contrast:
        """Test whether the scores differ over the splits, with one classifier and number of terms.

        Parameters
        ----------
        classifier : str, optional
            Default: the first one.
        k : int, optional
            Default: the recommended number of terms.

        Notes
        -----
        Folds share their training documents, so these p-values are too small; `compared` takes that into account.
        """
        names, values = self._values_at(classifier, k, measure)
        return contrast(values, names, alpha=alpha)

    def compared(
        self, first: str, second: str, classifier: str | None = None, *, k: int | None = None,
        measure: str = DEFAULT_MEASURE, rope: float = 0.01,
    ) -> Posterior:  # fmt: skip
        """Return the probabilities that one score is worse than another, practically equal, or better.

        Differences up to `rope` count as equal. It is taken into account that folds share training documents.
        """
        names, values = self._values_at(classifier, k, measure)
        for name in (first, second):
            if name not in names:
                raise OptionError(f"Unknown score {name!r}. {did_you_mean(name, names)}Compared: {', '.join(names)}.")
        a, b = (values[:, names.index(name)] for name in (first, second))
        return correlated_t(a, b, rope=rope, repeats=len(self._distinct_values("repeat")))

    def _values_at(self, classifier: str | None, k: int | None, measure: str) -> tuple[list[str], Array]:
        """Return the names of the scores, and a measure (splits x scores)."""
        models = self._distinct_values("classifier")
        model = models[0] if classifier is None else classifier
        number = self.best(measure)[model].k if k is None and model in models else k
        if model not in models or number not in self.ks:
            raise OptionError(f"Nothing was measured for classifier={model!r}, k={number!r}.")
        at = self.table.filter(
            (pc.field("classifier") == model) & (pc.field("k") == number)
            & (pc.field("measure") == measure) & (pc.field("label") == "")
        )  # fmt: skip
        names = at["score"].unique().to_pylist()
        if not at.num_rows:
            raise OptionError(f"Nothing was measured for classifier={model!r}, k={number!r}, measure={measure!r}.")
        columns = [at.filter(pc.field("score") == name)["value"].to_numpy() for name in names]
        return names, np.column_stack(columns)

    def save(self, path: str | Path) -> None:
        """Write one Parquet file: the table, and in its metadata the settings, the counts and the excerpts."""
        parts = ResultParts(
            self.table, self.settings, self.seconds, self.counts, self.excerpts, self.term_groups, self.near_duplicates
        )
        write_result(path, parts)

    @classmethod
    def load(cls, path: str | Path) -> Comparison:
        """Read a file that `save` wrote."""
        return cls(*read_result(path))


def check_measure(measure: str, known: Sequence[str]) -> None:
    """Refuse a measure that is not known for all classes together."""
    if measure not in known:
        hint = did_you_mean(measure, known)
        raise OptionError(f"Unknown measure {measure!r}. {hint}Measured of all classes: {', '.join(known)}.")


def _quality_key(row: Mapping[str, Any]) -> tuple[float, int]:
    return row["mean"], -row["k"]

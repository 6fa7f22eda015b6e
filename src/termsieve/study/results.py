"""The result of a study: one long table, and its recommendation."""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from termsieve import views
from termsieve._types import Array
from termsieve.counts.counts import Counts
from termsieve.defaults import DEFAULT_MEASURE
from termsieve.errors import InputError, MissingExtraError, OptionError, did_you_mean
from termsieve.evaluate.differences import corrected_error
from termsieve.evaluate.significance import Contrast, Posterior, contrast, correlated_t
from termsieve.files import write_atomically
from termsieve.frames import ArrowTable
from termsieve.plots import plot_curves
from termsieve.ranking.ranking import Scores
from termsieve.selection.near_duplicates import NearDuplicate, TermGroup
from termsieve.study.excerpts import Excerpts, excerpts_from_lists, excerpts_to_lists
from termsieve.study.plan import MARGIN
from termsieve.study.recommendation import Recommendation, Trials, recommend

_MAX_METADATA_BYTES = 2**31 - 1  # bytes of metadata: Arrow's own limit is 100 MB, which counts of many classes may pass
_MAX_ROWS = 1 << 25
_MAX_TEXT_BYTES = 1 << 33  # bytes of one column, if all its texts were as long as the longest
_MARK = b"termsieve.sha256:"
_DIGITS = 64
_TAIL_BYTES = 1 << 16  # at the end of a file, where the mark is
SCHEMA = pa.schema(
    [
        ("repeat", pa.int32()),
        ("fold", pa.int32()),
        ("score", pa.string()),
        ("classifier", pa.string()),
        ("k", pa.int32()),
        ("label", pa.string()),
        ("measure", pa.string()),
        ("value", pa.float64()),
    ]
)


_SUMMARY = pa.schema([("classifier", pa.string()), ("score", pa.string()), ("k", pa.int32()), ("mean", pa.float64())])
_TEXT_COLUMNS = [field.name for field in SCHEMA if field.type == pa.string()]
_SETTING_TYPES: dict[str, type | tuple[type, ...]] = {
    "n_splits": int, "min_df": (int, float), "min_tf": int, "scores": list, "classifiers": list, "ks": list,
    "origin": dict, "stable_terms": dict,
    "contenders": list, "n_terms": int, "margin": (int, float), "small_classes": dict, "notes": list,
    "test_ratio": (int, float), "all_terms": str, "duality_gaps": dict, "n_docs": int, "n_compared": int,
}  # fmt: skip


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
    def asked_classifiers(self) -> list[str]:
        """The classifiers without those that the search added, which are not tried throughout."""
        asked = self.settings.get("classifiers")
        return [name for name in self.classifiers if asked is None or name in asked] or self.classifiers

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
        usual = self.settings.get("margin", MARGIN)
        return recommend(trials, measure, float(usual if margin is None else margin), self.settings, fewest=fewest)

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
        facts = {
            "settings": self.settings, "seconds": self.seconds, "excerpts": excerpts_to_lists(self.excerpts),
            "term_groups": [list(one) for one in self.term_groups],
            "near_duplicates": [list(one) for one in self.near_duplicates],
        }  # fmt: skip
        about = {"termsieve.about": json.dumps(facts)}
        if self.counts is not None:
            about["termsieve.counts"] = base64.b64encode(self.counts.to_bytes()).decode("ascii")
        about["termsieve.checksum"] = (_MARK + b"0" * _DIGITS).decode("ascii")
        sink = pa.BufferOutputStream()
        marked = self.table.replace_schema_metadata({"termsieve": "comparison"})
        with pq.ParquetWriter(sink, marked.schema) as writer:
            writer.write_table(marked)
            writer.add_key_value_metadata(about)
        write_atomically(path, [_add_checksum(sink.getvalue().to_pybytes())])

    @classmethod
    def load(cls, path: str | Path) -> Comparison:
        """Read a file that `save` wrote."""
        try:
            content = _check_checksum(Path(path).read_bytes())
            with pq.ParquetFile(
                pa.BufferReader(content), thrift_string_size_limit=_MAX_METADATA_BYTES, read_dictionary=_TEXT_COLUMNS
            ) as file:
                table, facts = _read_table(file), file.metadata.metadata or {}
            about = json.loads(facts[b"termsieve.about"])
            settings, seconds, excerpts = (dict(about[name]) for name in ("settings", "seconds", "excerpts"))
            _check_content(table, settings, seconds)
            _check_excerpts(excerpts)
            packed = facts.get(b"termsieve.counts")
            counts = None if packed is None else Counts.from_bytes(base64.b64decode(packed, validate=True), path)
            groups = _check_groups(about.get("term_groups", []))
            duplicates = _check_duplicates(about.get("near_duplicates", []))
            return cls(table, settings, seconds, counts, excerpts_from_lists(excerpts), groups, duplicates)
        except MissingExtraError:
            raise
        except (
            OSError, KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError, MemoryError,
            pa.ArrowException,
        ) as error:  # fmt: skip
            raise InputError(f"{path}: is not a saved comparison, or is damaged: {error}.") from error


# The file


def is_saved(path: str | Path) -> bool:
    """Tell by its last bytes whether `Comparison.save` wrote a file."""
    try:
        with Path(path).open("rb") as file:
            file.seek(max(Path(path).stat().st_size - _TAIL_BYTES, 0))
            return _MARK in file.read()
    except OSError:
        return False


def _add_checksum(content: bytes) -> bytes:
    """Return the content with its checksum: the SHA-256 of the content with zeros in its place."""
    place = content.rindex(_MARK) + len(_MARK)
    return content[:place] + hashlib.sha256(content).hexdigest().encode("ascii") + content[place + _DIGITS :]


def _check_checksum(content: bytes) -> bytes:
    """Return the content with zeros for its checksum, if that is right: a damaged file can crash Arrow."""
    place = content.rfind(_MARK) + len(_MARK)
    if place < len(_MARK):
        raise ValueError("it has no checksum; results of versions before this one must be made again")
    digest = content[place : place + _DIGITS]
    content = content[:place] + b"0" * _DIGITS + content[place + _DIGITS :]
    if hashlib.sha256(content).hexdigest().encode("ascii") != digest:
        raise ValueError("it was altered or damaged after it was written: its checksum is wrong")
    return content


def _read_table(file: pq.ParquetFile) -> pa.Table:
    """Read the table, if it has no more rows than a study: a few bytes can stand for any number of rows.

    The columns' own metadata is not read: if it is damaged, pyarrow ends the process.
    """
    if file.metadata.num_rows > _MAX_ROWS:
        raise ValueError(f"it has {file.metadata.num_rows:,} rows; at most {_MAX_ROWS:,} are read")
    table = file.read(use_threads=False).replace_schema_metadata(None)
    for place, column in enumerate(table.columns):
        if pa.types.is_dictionary(column.type):
            table = table.set_column(place, table.schema.names[place], _decode_texts(column))
    return table


def _decode_texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the texts of a column that was read as a dictionary, if they are not too long when written out."""
    column.validate(full=True)
    longest = max((pc.max(pc.binary_length(one.dictionary)).as_py() or 0 for one in column.chunks), default=0)
    if longest * len(column) > _MAX_TEXT_BYTES:
        raise ValueError(f"it has texts of {longest:,} bytes in {len(column):,} rows")
    return column.cast(pa.string())


def check_measure(measure: str, known: Sequence[str]) -> None:
    """Refuse a measure that is not known for all classes together."""
    if measure not in known:
        hint = did_you_mean(measure, known)
        raise OptionError(f"Unknown measure {measure!r}. {hint}Measured of all classes: {', '.join(known)}.")


def _check_content(table: pa.Table, settings: dict[str, Any], seconds: dict[str, Any]) -> None:
    """Refuse parts that a comparison cannot have."""
    if table.schema != SCHEMA:
        raise ValueError(f"its columns are {', '.join(table.schema.names)}")
    table.validate(full=True)
    if any(column.null_count for column in table.columns):
        raise ValueError("it has rows with empty cells")
    if table.num_rows and not pc.all(pc.is_finite(table["value"])).as_py():
        raise ValueError("it has measures that are not numbers")
    if table.num_rows and min(pc.min(table[name]).as_py() for name in ("repeat", "fold", "k")) < 0:
        raise ValueError("it has negative numbers of splits or terms")
    _check_grid(table)
    if "n_splits" not in settings:
        raise ValueError("its settings do not say how many splits there were")
    for name, type_ in _SETTING_TYPES.items():
        if name in settings and (not isinstance(settings[name], type_) or isinstance(settings[name], bool)):
            raise TypeError(f"its setting {name!r} is {settings[name]!r:.60}")
    _check_ways(settings.get("multiverse"))
    for what, values in (("seconds", seconds), ("duality gaps", settings.get("duality_gaps", {}))):
        if not all(type(value) in (int, float) and math.isfinite(value) for value in values.values()):
            raise ValueError(f"its {what} are not numbers")


def _check_ways(given: Any) -> None:
    """Refuse what cannot be the ways of `termsieve.multiverse`."""
    if given is None:
        return
    kinds = (str, str, int, str, int, float)
    rows = given["rows"]
    texts = (given["conclusion"], given["certainty"])
    if not all(isinstance(one, str) for one in texts) or not all(
        len(row) == len(kinds) and all(isinstance(one, kind) for one, kind in zip(row, kinds, strict=True))
        for row in rows
    ):
        raise ValueError("its ways to prepare the texts are not what they should be")


def _check_grid(table: pa.Table) -> None:
    """Refuse a table in which a split lacks something that another one has, or has it twice.

    That is every measure of all classes for every score, classifier and number of terms, in the same order.
    """
    of_all = table.filter(pc.field("label") == "")
    measures = of_all["measure"].unique().to_pylist()
    if DEFAULT_MEASURE not in measures:
        raise ValueError("it has no row with the f1_macro of all classes")
    what = ["score", "classifier", "k"]
    n_splits = of_all.group_by(["repeat", "fold"]).aggregate([]).num_rows
    for measure in measures:
        rows = of_all.filter(pc.field("measure") == measure)
        n_tried = rows.group_by(what).aggregate([]).num_rows
        if rows.group_by(["repeat", "fold", *what]).aggregate([]).num_rows != rows.num_rows:
            raise ValueError(f"its {measure} is there twice")
        if rows.num_rows != n_splits * n_tried:
            raise ValueError(f"its {measure} is not of the same scores, classifiers and numbers of terms everywhere")
        for name in what:
            values = rows[name].to_numpy(zero_copy_only=False).reshape(n_splits, n_tried)
            if not (values == values[:1]).all():
                raise ValueError(f"its {measure} is not in the same order everywhere")


def _check_groups(given: Any) -> list[TermGroup]:
    """Return groups of terms from plain lists, if they are such."""
    groups = [TermGroup(*one) for one in given]
    for terms, df, overlap in groups:
        if not (len(terms) == len(df) == len(overlap) > 1) or not all(type(term) is str for term in terms):
            raise ValueError(f"its groups of terms have {terms!r:.60}")
        if not all(type(n) is int and type(x) in (int, float) for n, x in zip(df, overlap, strict=True)):
            raise ValueError(f"its groups of terms have {overlap!r:.60}")
        if not all(n > 0 and 0 <= x <= 1 for n, x in zip(df, overlap, strict=True)):
            raise ValueError(f"its groups of terms have {overlap!r:.60}")
    return groups


def _check_duplicates(given: Any) -> list[NearDuplicate]:
    """Return near-duplicates from plain lists, if they are such."""
    found = [NearDuplicate(*one) for one in given]
    for one in found:
        fits = tuple(map(type, one)) == (str, str, int, int, float, float, float)
        if not fits or not 0 < one.common <= one.df or one.share != one.common / one.df:
            raise ValueError(f"its near-duplicates have {list(one)!r:.60}")
        if not (math.isfinite(one.gain) and math.isfinite(one.left)):
            raise ValueError(f"its near-duplicates have {list(one)!r:.60}")
    return found


def _check_excerpts(excerpts: Mapping[str, Any]) -> None:
    for term, some in excerpts.items():
        fits = isinstance(some, list) and all(isinstance(one, list) and len(one) == 4 for one in some)
        if not fits or not all(isinstance(part, str) for one in some for part in one):
            raise ValueError(f"its excerpts of {term!r:.60} are {some!r:.60}")


def _quality_key(row: Mapping[str, Any]) -> tuple[float, int]:
    return row["mean"], -row["k"]

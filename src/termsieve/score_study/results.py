"""The results of a run as JSON, small enough to be kept: means over ranges of the number of terms, for each problem."""

from __future__ import annotations

import base64
import json
import lzma
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from termsieve._types import Array
from termsieve._version import __version__
from termsieve.errors import InputError
from termsieve.score_study.problems import StudyProblem
from termsieve.score_study.run import ALL_TERMS, MEASURES, NO_CONTENDER, ProblemRows, StudyRun
from termsieve.study.journal import TrialRows

Measure = Literal["f1", "average_precision"]
_STEPS = 10_000  # values are kept in steps of 1 / _STEPS, as two bytes each
_ABSENT = 65_535  # stands for NaN


@dataclass(frozen=True, eq=False)
class PanelResults:
    """What some classifiers gave on some problems.

    Attributes
    ----------
    name : str
    sizes : tuple of int
        Numbers of terms.
    problems : list of StudyProblem
    f1 : dict
        By classifier: problems x ranges x contenders, the mean F1 (macro F1 for all classes together). NaN where a
        rule did not compete.
    average_precision : dict
        The same, of problems of one class against the rest; others have NaN.
    all_terms : dict
        By classifier: F1 with all terms, of each problem.
    curves : dict
        By classifier and measure: contenders x sizes, means over the problems of one class against the rest.
    """

    name: str
    sizes: tuple[int, ...]
    problems: list[StudyProblem]
    f1: dict[str, Array]
    average_precision: dict[str, Array]
    all_terms: dict[str, Array]
    curves: dict[str, dict[str, Array]]

    @classmethod
    def from_rows(
        cls, name: str, found: Sequence[ProblemRows], contenders: Sequence[str], ranges: Mapping[str, Sequence[int]]
    ) -> PanelResults:
        """Average the rows of a run over its splits and over ranges of the number of terms."""
        sizes = sorted({row[4] for one in found for row in one.rows} - {ALL_TERMS})
        models = list(dict.fromkeys(row[3] for one in found for row in one.rows))
        cubes = [_make_cube(one.rows, models, contenders, sizes) for one in found]
        values = np.array([cube for cube, _ in cubes])  # problems x models x measures x contenders x sizes
        alone = np.array([one.problem.label != "" for one in found])
        places = [[sizes.index(k) for k in some if k in sizes] for some in ranges.values()]
        f1, precision = (
            {m: np.stack([of[:, i][:, :, at].mean(axis=2) for at in places], axis=1) for i, m in enumerate(models)}
            for of in (values[:, :, MEASURES.index(what)] for what in ("f1", "average_precision"))
        )
        return cls(
            name,
            tuple(sizes),
            [one.problem for one in found],
            f1,
            precision,
            {m: np.array([whole[i] for _, whole in cubes]) for i, m in enumerate(models)},
            {
                m: {what: values[alone, i, j].mean(axis=0) for j, what in enumerate(MEASURES)}
                for i, m in enumerate(models)
            },
        )


def _make_cube(
    rows: TrialRows, models: Sequence[str], contenders: Sequence[str], sizes: Sequence[int]
) -> tuple[Array, Array]:
    """Return means over the splits: models x measures x contenders x sizes, and the F1 of all terms by model."""
    at = {name: {one: i for i, one in enumerate(names)} for name, names in
          (("model", models), ("measure", MEASURES), ("contender", contenders), ("size", sizes))}  # fmt: skip
    total = np.zeros((len(models), len(MEASURES), len(contenders), len(sizes)))
    times, whole, whole_times = np.zeros_like(total), np.zeros(len(models)), np.zeros(len(models))
    for _, _, name, model, k, _, measure, value in rows:
        m = at["model"][model]
        if name == NO_CONTENDER:
            if measure == "f1":
                whole[m] += value
                whole_times[m] += 1
            continue
        place = m, at["measure"][measure], at["contender"][name], at["size"][k]
        total[place] += value
        times[place] += 1
    return np.divide(total, times, out=np.full_like(total, np.nan), where=times > 0), whole / whole_times


@dataclass(frozen=True, eq=False)
class StudyResults:
    """What is kept of a run.

    Attributes
    ----------
    protocol : dict
        As plain data.
    contenders : list of str
    panels : list of PanelResults
    agreement : array of shape (n, n)
        Share of the first terms that two have in common, on half of the training documents, over the corpora: of the
        contenders before the rules.
    stability : array of shape (n,)
        Share of the first terms that come again in the other half, of the same.
    cpu_minutes : dict
        By panel.
    version : str
        Of termsieve.
    """

    protocol: dict[str, Any]
    contenders: list[str]
    panels: list[PanelResults]
    agreement: Array
    stability: Array
    cpu_minutes: dict[str, float]
    version: str = __version__

    @classmethod
    def from_run(cls, run: StudyRun) -> StudyResults:
        """Collect the results of a run."""
        names = list(dict.fromkeys(one.panel for one in run.problems))
        panels = [
            PanelResults.from_rows(
                name, [one for one in run.problems if one.panel == name], run.contenders, run.protocol.ranges
            )
            for name in names
        ]
        minutes = {name: round(seconds / 60, 1) for name, seconds in run.seconds.items()}
        return cls(run.protocol.data, run.contenders, panels, run.agreement, run.stability, minutes)

    @property
    def ranges(self) -> list[str]:
        """Names of the ranges of the number of terms."""
        return list(self.protocol["ranges"])

    def to_json(self) -> str:
        """Return everything as JSON, a part per line."""
        head = {
            "termsieve": self.version, "protocol": self.protocol, "cpu_minutes": self.cpu_minutes,
            "contenders": self.contenders, "stability": np.round(self.stability, 4).tolist(),
            "agreement": _pack(self.agreement),
        }  # fmt: skip
        lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in head.items()]
        panels = ",\n".join(_panel_json(one) for one in self.panels)
        return "{\n" + ",\n".join(lines) + f',\n"panels": [\n{panels}\n]\n' + "}\n"

    @classmethod
    def from_json(cls, text: str) -> StudyResults:
        """Read what `to_json` has written."""
        data = json.loads(text)
        names, n_ranges = data["contenders"], len(data["protocol"]["ranges"])
        panels = [_read_panel(one, len(names), n_ranges) for one in data["panels"]]
        agreement = _unpack(data["agreement"], (len(data["stability"]),) * 2)
        return cls(
            data["protocol"], names, panels, agreement, np.array(data["stability"]), data["cpu_minutes"],
            data["termsieve"],
        )  # fmt: skip


def read_results(path: str | Path) -> StudyResults:
    """Read the results of a study of scores from a file."""
    try:
        return StudyResults.from_json(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}.") from error
    except (ValueError, KeyError, TypeError, lzma.LZMAError) as error:
        raise InputError(f"{path}: is not a file of results of the study of scores: {error!r}.") from error


def _pack(values: Array) -> str:
    """Return values from 0 to 1, or NaN, as text: two bytes each, compressed, in base 85.

    Of what is next to each other much is alike: problems of one contender, and low and high bytes by themselves.
    """
    steps = np.where(np.isnan(values), _ABSENT, np.rint(values * _STEPS)).astype("<u2")
    by_byte = np.ascontiguousarray(steps.T).reshape(-1, 1).view(np.uint8).T
    return base64.b85encode(lzma.compress(by_byte.tobytes(), preset=9)).decode()


def _unpack(text: str, shape: tuple[int, ...]) -> Array:
    by_byte = np.frombuffer(lzma.decompress(base64.b85decode(text)), np.uint8).reshape(2, -1)
    steps = np.ascontiguousarray(by_byte.T).view("<u2").reshape(shape[::-1]).T
    return np.where(steps == _ABSENT, np.nan, steps / _STEPS)


def _panel_json(panel: PanelResults) -> str:
    data = {
        "name": panel.name, "sizes": panel.sizes,
        "problems": [list(one) for one in panel.problems],
        "f1": {model: _pack(values) for model, values in panel.f1.items()},
        "average_precision": {model: _pack(values) for model, values in panel.average_precision.items()},
        "all_terms": {model: _pack(values) for model, values in panel.all_terms.items()},
        "curves": {m: {what: _pack(v) for what, v in curves.items()} for m, curves in panel.curves.items()},
    }  # fmt: skip
    return "{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in data.items()) + "\n}"


def _read_panel(data: Mapping[str, Any], n: int, n_ranges: int) -> PanelResults:
    problems, sizes = [StudyProblem(*one) for one in data["problems"]], tuple(data["sizes"])
    return PanelResults(
        data["name"],
        sizes,
        problems,
        {model: _unpack(text, (len(problems), n_ranges, n)) for model, text in data["f1"].items()},
        {model: _unpack(text, (len(problems), n_ranges, n)) for model, text in data["average_precision"].items()},
        {model: _unpack(text, (len(problems),)) for model, text in data["all_terms"].items()},
        {
            model: {what: _unpack(text, (n, len(sizes))) for what, text in curves.items()}
            for model, curves in data["curves"].items()
        },
    )


def iterate_values(
    results: StudyResults, measure: Measure = "f1"
) -> Iterator[tuple[PanelResults, str, int, StudyProblem, Array]]:
    """Yield panel, classifier, place and problem with its values of a measure, if any: ranges x contenders."""
    for panel in results.panels:
        kept = panel.f1 if measure == "f1" else panel.average_precision
        for model, values in kept.items():
            for i, problem in enumerate(panel.problems):
                if not np.isnan(values[i]).all():
                    yield panel, model, i, problem, values[i]

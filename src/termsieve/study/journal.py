"""The journal of a study: each finished trial is recorded, so that a killed study continues where it stopped.

A journal is a SQLite file. It may be damaged, in use, or from anybody: its tables must be exactly those that are made
here, and each trial has a checksum, because SQLite has none of its own.
"""

from __future__ import annotations

import hashlib
import json
import math
import sqlite3
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from platformdirs import user_cache_path

from termsieve.errors import InputError, OutputError, TermsieveError

TrialRows = list[list[Any]]
DUALITY_GAP = "duality_gap"  # rows beside those of the measures: how near to the optimum a classifier was solved

PATIENCE = 10.0  # seconds for which another process may have the file
_TABLES = {
    "study": "CREATE TABLE study (description TEXT NOT NULL)",
    "trials": "CREATE TABLE trials "
    "(key TEXT PRIMARY KEY, rows TEXT NOT NULL, seconds REAL NOT NULL, sha256 TEXT NOT NULL)",
}
_ROW = (int, int, str, str, int, str, str, float)  # as `termsieve.study.result_files.SCHEMA` has them
_LARGEST = 2**31 - 1
_BUSY = ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL")
_UNWRITABLE = ("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_FULL", "SQLITE_IOERR", "SQLITE_AUTH")


class Trial(NamedTuple):
    """The rows of a trial, and the seconds that it took."""

    rows: TrialRows
    seconds: float


class Journal:
    """Trials by their key, in a SQLite file.

    A journal belongs to one study: other data or other settings are refused, not mixed.
    """

    def __init__(self, path: str | Path, study: Mapping[str, Any]) -> None:
        self.path = path
        _check_place(path)
        with self._errors():
            place = str(Path(path).absolute())
            self._connection = sqlite3.connect(place, timeout=PATIENCE, check_same_thread=False)
        try:
            with self._errors():
                self._open(study)
        except BaseException:
            self._connection.close()
            raise

    def _open(self, study: Mapping[str, Any]) -> None:
        self._connection.execute("PRAGMA trusted_schema = OFF")
        self._connection.execute("PRAGMA cell_size_check = ON")
        if not self._schema():
            self._make(study)
        if self._schema() != _TABLES:
            raise self._make_error("it has other tables")
        [problem] = self._connection.execute("PRAGMA integrity_check(1)").fetchone()
        if problem != "ok":
            raise self._make_error(problem)
        self._check_study(study)
        self._trials = self._read()

    def _schema(self) -> dict[str, str]:
        """Read every table, view, index and trigger that has a definition; a file with others is refused."""
        return dict(self._connection.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL").fetchall())

    def _make(self, study: Mapping[str, Any]) -> None:
        with self._connection:
            self._connection.execute("BEGIN IMMEDIATE")  # if two processes start at the same time, one waits
            if self._schema():
                return
            for statement in _TABLES.values():
                self._connection.execute(statement)
            self._connection.execute("INSERT INTO study VALUES (?)", [json.dumps(study, sort_keys=True)])

    def _check_study(self, study: Mapping[str, Any]) -> None:
        described = self._connection.execute("SELECT description FROM study").fetchall()
        if len(described) != 1:
            raise self._make_error(f"it describes {len(described)} studies")
        theirs, mine = json.loads(described[0][0]), json.loads(json.dumps(study))
        if not isinstance(theirs, dict):
            raise self._make_error("it does not describe a study")
        other = [name for name in sorted({*mine, *theirs}) if mine.get(name) != theirs.get(name)]
        if other:
            differences = "; ".join(
                f"{name}: {_shorten(theirs.get(name))} there, {_shorten(mine.get(name))} here" for name in other
            )
            raise InputError(
                f"{self.path}: is the journal of another study ({differences}). Give another file, or delete it."
            )

    def _read(self) -> dict[str, Trial]:
        trials = {}
        for key, text, seconds, digest in self._connection.execute("SELECT key, rows, seconds, sha256 FROM trials"):
            if not (isinstance(key, str) and isinstance(text, str) and isinstance(seconds, float)):
                raise self._make_error("a trial has values of other types")
            if digest != _digest(key, text, seconds):
                raise self._make_error(f"the checksum of the trial {key!r:.100} is wrong")
            rows = json.loads(text)
            if not (isinstance(rows, list) and all(_is_row(row) for row in rows) and 0 <= seconds < math.inf):
                raise self._make_error(f"the trial {key!r:.100} has rows that no trial has")
            trials[key] = Trial(rows, seconds)
        return trials

    def list_done(self) -> set[str]:
        """Return the keys of the recorded trials."""
        return set(self._trials)

    def write(self, key: str, rows: TrialRows, seconds: float) -> None:
        """Record a trial: completely, or, if the process dies meanwhile, not at all."""
        text = json.dumps(rows)
        with self._errors(), self._connection:
            values = [key, text, float(seconds), _digest(key, text, float(seconds))]
            self._connection.execute("INSERT OR REPLACE INTO trials VALUES (?, ?, ?, ?)", values)
        self._trials[key] = Trial(json.loads(text), float(seconds))

    def read_trials(self, keys: Iterable[str]) -> tuple[TrialRows, dict[str, float]]:
        """Return the rows of trials, in the order of the keys, and the seconds that each took."""
        trials = {key: self._trials[key] for key in keys}
        rows = [row for trial in trials.values() for row in trial.rows]
        return rows, {key: trial.seconds for key, trial in trials.items()}

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Convert errors of SQLite and JSON to ours."""
        try:
            yield
        except TermsieveError:
            raise
        except sqlite3.Error as error:
            name = getattr(error, "sqlite_errorname", "")
            if name.startswith(_BUSY):
                raise InputError(
                    f"{self.path}: has been in use by another process for more than {PATIENCE:.0f} s. Wait until that "
                    "ends, or give another journal."
                ) from error
            if name.startswith(_UNWRITABLE):
                raise OutputError(f"{self.path}: the journal cannot be written: {error}.") from error
            raise self._make_error(str(error)) from error
        except (ValueError, TypeError, RecursionError, OverflowError, MemoryError) as error:
            raise self._make_error(str(error) or type(error).__name__) from error

    def _make_error(self, why: str) -> InputError:
        return InputError(
            f"{self.path}: is not a journal of a study of this version, or is damaged: {why}. Give another file, or "
            "delete it: its trials are run again."
        )


def locate_journals(
    name: str, folder: Path | None = None, *, fresh: bool = False, kinds: Iterable[str] = ("*.journal",)
) -> Path:
    """Return the folder of what a long run has finished, by its name: in a folder, or in the user's cache.

    With `fresh`, what earlier runs left there is deleted: the files of these kinds.
    """
    place = (folder or user_cache_path("termsieve", appauthor=False) / "journals") / name
    if fresh:
        for path in [found for kind in kinds for found in place.glob(kind)]:
            path.unlink()
    return place


def _check_place(path: str | Path) -> None:
    """Refuse anything but a regular file, before SQLite waits for a pipe."""
    try:
        regular = stat.S_ISREG(Path(path).stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        if not Path(path).absolute().parent.is_dir():
            raise OutputError(f"{path}: there is no folder {Path(path).absolute().parent}. Make it first.") from None
        return
    except (OSError, ValueError) as error:  # a name that is too long, a zero byte
        raise OutputError(f"{path}: cannot be a journal: {error}.") from error
    if not regular:
        raise OutputError(f"{path}: cannot be a journal: it is a folder, a pipe or a device. Give the name of a file.")


def _digest(key: str, text: str, seconds: float) -> str:
    return hashlib.sha256(json.dumps([key, text, seconds]).encode()).hexdigest()


def _is_row(row: Any) -> bool:
    if not isinstance(row, list) or tuple(map(type, row)) != _ROW:
        return False
    repeat, fold, *_, value = row
    return 0 <= min(repeat, fold, row[4]) <= max(repeat, fold, row[4]) <= _LARGEST and math.isfinite(value)


class MemoryJournal:
    """Trials by their key, in memory."""

    def __init__(self) -> None:
        self._trials: dict[str, tuple[TrialRows, float]] = {}

    def list_done(self) -> set[str]:
        """Return the keys of the trials that are done."""
        return set(self._trials)

    def write(self, key: str, rows: TrialRows, seconds: float) -> None:
        """Keep a trial."""
        self._trials[key] = rows, seconds

    def read_trials(self, keys: Iterable[str]) -> tuple[TrialRows, dict[str, float]]:
        """Return the rows of trials, in order of the keys, and the seconds that each took."""
        keys = list(keys)
        return [row for key in keys for row in self._trials[key][0]], {key: self._trials[key][1] for key in keys}

    def close(self) -> None:
        """Do nothing: there is no file."""


def find_largest_gaps(rows: TrialRows) -> dict[str, float]:
    """Return the largest duality gap of each classifier; none where a trial has none, as in an older journal."""
    tried: dict[str, set[tuple[Any, ...]]] = {}
    solved: dict[str, dict[tuple[Any, ...], float]] = {}
    for *where, _, measure, value in rows:
        model, trial = where[3], tuple(where)
        tried.setdefault(model, set()).add(trial)
        if measure == DUALITY_GAP:
            gaps = solved.setdefault(model, {})
            gaps[trial] = max(gaps.get(trial, value), value)
    return {model: max(gaps.values()) for model, gaps in solved.items() if len(gaps) == len(tried[model])}


def _shorten(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 80 else f"{text[:76]} ..."

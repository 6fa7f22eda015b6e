"""The journal of a study: each trial is written down when it is done; a killed study goes on where it stopped."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from termsieve.errors import InputError

Rows = list[list[Any]]


class Journal:
    """Trials by their key, in a SQLite file.

    A journal belongs to one study: other data or other settings are refused, not mixed.
    """

    def __init__(self, path: str | Path, study: Mapping[str, Any]) -> None:
        self.path = path
        try:
            self._connection = sqlite3.connect(path, check_same_thread=False)
            with self._connection:
                self._connection.execute("CREATE TABLE IF NOT EXISTS study (description TEXT NOT NULL)")
                self._connection.execute(
                    "CREATE TABLE IF NOT EXISTS trials (key TEXT PRIMARY KEY, rows TEXT NOT NULL, seconds REAL)"
                )
            self._claim(study)
        except sqlite3.DatabaseError as error:
            raise InputError(f"{path}: is no journal of a study: {error}.") from error

    def _claim(self, study: Mapping[str, Any]) -> None:
        found = self._connection.execute("SELECT description FROM study").fetchone()
        if found is None:
            with self._connection:
                self._connection.execute("INSERT INTO study VALUES (?)", [json.dumps(study, sort_keys=True)])
            return
        theirs = json.loads(found[0])
        mine = json.loads(json.dumps(study))
        other = [name for name in sorted({*mine, *theirs}) if mine.get(name) != theirs.get(name)]
        if other:
            said = "; ".join(
                f"{name}: {_brief(theirs.get(name))} there, {_brief(mine.get(name))} here" for name in other
            )
            raise InputError(f"{self.path}: is the journal of another study ({said}). Give another file, or delete it.")

    def done(self) -> set[str]:
        """The keys of the trials that are written down."""
        return {key for (key,) in self._connection.execute("SELECT key FROM trials")}

    def write(self, key: str, rows: Rows, seconds: float) -> None:
        """Write down a trial: whole, or, if the process dies meanwhile, not at all."""
        with self._connection:
            text = json.dumps(rows)
            self._connection.execute("INSERT OR REPLACE INTO trials VALUES (?, ?, ?)", [key, text, seconds])

    def rows(self, keys: Iterable[str]) -> tuple[Rows, dict[str, float]]:
        """The rows of trials, in order of the keys, and the seconds that each took."""
        found = {key: (rows, s) for key, rows, s in self._connection.execute("SELECT key, rows, seconds FROM trials")}
        keys = list(keys)
        return [row for key in keys for row in json.loads(found[key][0])], {key: found[key][1] for key in keys}

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


class MemoryJournal:
    """Trials by their key, where nobody asked for a file."""

    def __init__(self) -> None:
        self._trials: dict[str, tuple[Rows, float]] = {}

    def done(self) -> set[str]:
        """Return the keys of the trials that are done."""
        return set(self._trials)

    def write(self, key: str, rows: Rows, seconds: float) -> None:
        """Keep a trial."""
        self._trials[key] = rows, seconds

    def rows(self, keys: Iterable[str]) -> tuple[Rows, dict[str, float]]:
        """Return the rows of trials, in order of the keys, and the seconds that each took."""
        keys = list(keys)
        return [row for key in keys for row in self._trials[key][0]], {key: self._trials[key][1] for key in keys}

    def close(self) -> None:
        """Do nothing: there is no file."""


def _brief(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 80 else f"{text[:76]} ..."

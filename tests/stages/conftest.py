"""What tests of the stages share."""

import os

import pytest
from oracles.messages import leave_out_compiling
from stages.postgres_server import find_programs, start_postgres

from termsieve.cli import run


@pytest.fixture
def typed(capsys):
    """Type a command: its exit code, standard output and standard error."""

    def type_(*arguments):
        code = run([str(one) for one in arguments])
        said = capsys.readouterr()
        return code, said.out, leave_out_compiling(said.err)

    return type_


@pytest.fixture(scope="session")
def postgres():
    """A connection to a PostgreSQL server that is started for the tests, on loopback; skipped where there is none."""
    pytest.importorskip("psycopg")
    try:
        find_programs()
    except FileNotFoundError as error:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(str(error))
    yield from start_postgres()


@pytest.fixture
def terminal(monkeypatch):
    """Let rich take what pytest captures for a terminal."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "120")

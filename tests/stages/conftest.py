"""What tests of the stages share."""

import os
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

import pytest

from termsieve.cli import run


@pytest.fixture
def typed(capsys):
    """Type a command: its exit code, standard output and standard error."""

    def type_(*arguments):
        code = run([str(one) for one in arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    return type_


@pytest.fixture(scope="session")
def postgres():
    """A connection to a PostgreSQL server that is started for the tests, on loopback; skipped where there is none."""
    psycopg = pytest.importorskip("psycopg")
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))
    if not programs:
        if os.environ.get("CI"):
            pytest.fail("PostgreSQL is not installed")
        pytest.skip("PostgreSQL is not here")
    folder, bin_folder = Path(tempfile.mkdtemp(prefix="termsieve-")), programs[-1].parent
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    user = {"user": "postgres"} if os.getuid() == 0 else {}  # the server refuses to run as root
    if user:
        shutil.chown(folder, **user)
    data, run = folder / "data", {"check": True, "stdout": subprocess.DEVNULL, **user}
    subprocess.run(
        [bin_folder / "initdb", "-D", data, "-E", "UTF8", "--locale=C", "-A", "trust", "-U", "tester"], **run
    )
    options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"
    subprocess.run([bin_folder / "pg_ctl", "-D", data, "-o", options, "-l", folder / "log", "-w", "start"], **run)
    try:
        with psycopg.connect(host="127.0.0.1", port=port, user="tester", dbname="postgres") as connection:
            yield connection
    finally:
        subprocess.run([bin_folder / "pg_ctl", "-D", data, "-m", "fast", "stop"], **run)
        shutil.rmtree(folder, ignore_errors=True)

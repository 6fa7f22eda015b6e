"""A PostgreSQL server for a while, on loopback: for tests and benchmarks of exported queries."""

import os
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path


def find_programs():
    """Return the folder of the server's programs, as Debian has them."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))
    if not found:
        raise FileNotFoundError("PostgreSQL is not installed")
    return found[-1].parent


def start_postgres():
    """Yield a connection to a new server, which ends with it."""
    import psycopg

    folder, programs = Path(tempfile.mkdtemp(prefix="termsieve-")), find_programs()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    user = {"user": "postgres"} if os.getuid() == 0 else {}  # the server refuses to run as root
    if user:
        shutil.chown(folder, **user)
    data, run = folder / "data", {"check": True, "stdout": subprocess.DEVNULL, **user}
    subprocess.run([programs / "initdb", "-D", data, "-E", "UTF8", "--locale=C", "-A", "trust", "-U", "tester"], **run)
    options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"
    subprocess.run([programs / "pg_ctl", "-D", data, "-o", options, "-l", folder / "log", "-w", "start"], **run)
    try:
        with psycopg.connect(host="127.0.0.1", port=port, user="tester", dbname="postgres") as connection:
            yield connection
    finally:
        subprocess.run([programs / "pg_ctl", "-D", data, "-m", "fast", "stop"], **run)
        shutil.rmtree(folder, ignore_errors=True)

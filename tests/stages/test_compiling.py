"""Where compiled loops are kept: a cache that cannot be written or read is no error."""

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import termsieve

ROOT = Path(termsieve.__file__).parents[1]
PROBE = """
import numpy as np
from termsieve.counts import row_kernels
from termsieve import _numba
terms = np.zeros(3, np.int32)
row_kernels.map_columns(np.array([1, 0, 1], np.int32), np.array([5, 6], np.int32), terms)
assert terms.tolist() == [6, 5, 6]
cache = getattr(row_kernels.map_columns, "_cache", None)
print(getattr(cache, "cache_path", None))
"""


@pytest.fixture
def installed(tmp_path):
    """A copy of the package in which nothing can be cached: where a folder would be made there is a file."""
    place = tmp_path / "lib"
    shutil.copytree(ROOT / "termsieve", place / "termsieve", ignore=shutil.ignore_patterns("__pycache__"))
    for folder in [place / "termsieve", *(p for p in (place / "termsieve").rglob("*") if p.is_dir())]:
        (folder / "__pycache__").write_bytes(b"")
    return place


def run(installed, tmp_path, first="", **more):
    """Where a loop was cached, by a process without a home."""
    environment = {name: value for name, value in os.environ.items() if name not in ("HOME", "NUMBA_CACHE_DIR")}
    environment |= {"PYTHONPATH": str(installed), "HOME": "/nonexistent/home", "XDG_CACHE_HOME": "/dev/null/cache"}
    environment |= {"TMPDIR": str(tmp_path / "temporary"), "PYTHONDONTWRITEBYTECODE": "1"} | more
    (tmp_path / "temporary").mkdir(exist_ok=True)
    done = subprocess.run(
        [sys.executable, "-c", first + PROBE], capture_output=True, text=True, env=environment, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stderr == ""
    return done.stdout.strip()


def private(tmp_path):
    return tmp_path / "temporary" / f"termsieve-numba-{os.getuid()}"


posix = pytest.mark.skipif(not hasattr(os, "getuid"), reason="users as POSIX has them")


@posix
def test_without_a_place_for_it_the_cache_is_a_private_folder_among_temporary_files(installed, tmp_path):
    where = run(installed, tmp_path)
    assert where.startswith(str(private(tmp_path)))
    assert stat.S_IMODE(private(tmp_path).stat().st_mode) == 0o700
    kept = sorted(private(tmp_path).rglob("*map_columns*.nbc"))
    before = [path.stat().st_mtime_ns for path in kept]
    assert kept
    assert run(installed, tmp_path) == where
    assert [path.stat().st_mtime_ns for path in kept] == before  # it was read, not made again


@posix
@pytest.mark.parametrize("fault", ["open to others", "a link", "a file"])
def test_a_folder_that_others_could_have_filled_is_not_used(installed, tmp_path, fault):
    """What is in a cache is loaded as code."""
    folder = private(tmp_path)
    folder.parent.mkdir()
    if fault == "open to others":
        folder.mkdir()
        folder.chmod(0o777)
    elif fault == "a link":
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        folder.symlink_to(tmp_path / "elsewhere")
    else:
        folder.write_bytes(b"")
    assert run(installed, tmp_path) == "None"
    assert not list(tmp_path.rglob("*.nbi"))


@posix
def test_a_cache_of_the_user_that_cannot_be_written_is_passed_over(installed, tmp_path):
    (tmp_path / "taken").write_bytes(b"")
    where = run(installed, tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "taken"))
    assert where.startswith(str(private(tmp_path)))


@posix
def test_a_cache_that_can_be_written_is_used_as_ever(installed, tmp_path):
    assert run(installed, tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "mine")).startswith(str(tmp_path / "mine"))


@posix
@pytest.mark.parametrize("damage", ["cut", "noise", "empty"])
def test_a_damaged_cache_is_made_again(installed, tmp_path, damage):
    run(installed, tmp_path)
    files = [*private(tmp_path).rglob("*.nbi"), *private(tmp_path).rglob("*.nbc")]
    assert len(files) >= 2
    for path in files:
        data = path.read_bytes()
        path.write_bytes({"cut": data[: len(data) // 2], "noise": b"\x80\x04noise" * 9, "empty": b""}[damage])
    run(installed, tmp_path)


@posix
def test_a_cache_that_fills_up_or_goes_away_later_is_no_error(installed, tmp_path):
    code = "import termsieve.counts.row_kernels, shutil, tempfile, pathlib\n"
    code += "folder = next(pathlib.Path(tempfile.gettempdir()).glob('termsieve-numba-*'))\n"
    code += "shutil.rmtree(folder); folder.write_bytes(b'')\n"
    run(installed, tmp_path, first=code)

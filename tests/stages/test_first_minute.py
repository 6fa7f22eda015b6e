"""A small input is ranked without what takes long to load, compile or keep."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import termsieve
from termsieve._kernels import private_folder

TYPED = """
import sys
from termsieve._entry import main
sys.argv = ["termsieve", *{arguments!r}]
try:
    main()
finally:
    print("loaded:", sorted({{"numba", "scipy", "pandas", "sklearn"}} & set(sys.modules)), file=sys.stderr)
"""
ROWS = "text,label\n" + "cheap pills,spam\nmeeting at noon,ham\ncheap meeting,ham\n" * 20


@pytest.fixture
def mail(tmp_path):
    path = tmp_path / "mail.csv"
    path.write_text(ROWS, "utf-8")
    return path


def run(*arguments, first="", **environment):
    """Type a command in a process of its own; its output, and what it said."""
    code = first + TYPED.format(arguments=[str(one) for one in arguments])
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False,
        env=os.environ | environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout, done.stderr


@pytest.mark.parametrize("command", [["rank"], ["rank", "--score", "chi2,gu"], ["select", "-k", "2"], ["count"]])
def test_a_small_input_loads_neither_numba_nor_scipy_nor_pandas(mail, tmp_path, command):
    if command[0] == "count":
        command = ["count", "-o", tmp_path / "mail.counts"]
    said = run(command[0], mail, *command[1:], NUMBA_CACHE_DIR=str(tmp_path / "cache"))[1]
    assert "loaded: []" in said
    assert "compiling" not in said
    assert not (tmp_path / "cache").exists()


def compiled_modules(cache):
    """The modules whose loops were kept in a cache."""
    return {path.name.partition(".")[0] for path in cache.rglob("*.nbi")}


def test_a_small_comparison_compiles_nothing_but_its_solver(mail, tmp_path):
    """Naive Bayes needs nothing compiled; a linear classifier is solved by loops, which are compiled alone."""
    cache, options = tmp_path / "cache", ["--pairs", "no", "-k", "1,2", "-s", "chi2", "--cv", "2"]
    said = run("compare", mail, "-c", "multinomial_nb", *options, NUMBA_CACHE_DIR=str(cache))[1]
    assert "compil" not in said
    assert not cache.exists()
    said = run("compare", mail, "-c", "linear_svm", *options, NUMBA_CACHE_DIR=str(cache))[1]
    assert said.count("compiling loops for this machine") == said.count("later runs begin at once") == 1
    assert compiled_modules(cache) == {"linear_kernels"}


def test_the_way_does_not_show(mail):
    plain, compiled = (run("rank", mail, TERMSIEVE_LOOPS=way)[0] for way in ("plain", "compiled"))
    assert plain == compiled


ASKING = """
import sys
from termsieve.cli.imports import leave_out_pandas
leave_out_pandas()
exec("import pyarrow as pa; pa.array([1])", {"__name__": "termsieve.somewhere"})
assert "pandas" not in sys.modules
exec("import pandas", {"__name__": "a_tokenizer"})
assert sys.modules["pandas"].Series([1]).sum() == 1
"""


def test_pandas_is_kept_from_arrow_and_from_nobody_else():
    subprocess.run([sys.executable, "-c", ASKING], check=True, timeout=300)


def install_read_only(folder):
    """Copy the package to where nothing can be kept beside its modules: also root cannot write into a file."""
    shutil.copytree(Path(termsieve.__file__).parent, folder / "termsieve", ignore=shutil.ignore_patterns("__pycache__"))
    for package in {path.parent for path in folder.rglob("*.py")}:
        (package / "__pycache__").write_bytes(b"")


@pytest.mark.parametrize("way", ["plain", "compiled"])
def test_nothing_writable_is_no_hindrance(way, mail, tmp_path):
    install_read_only(tmp_path / "installed")
    taken, temporary = tmp_path / "taken", tmp_path / "temporary"
    taken.write_bytes(b"")
    temporary.mkdir()
    (temporary / private_folder().name).write_bytes(b"")
    nowhere = {name: str(taken / "x") for name in ("HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR")}
    found, said = run(
        "rank", mail, **nowhere, TMPDIR=str(temporary), PYTHONPATH=str(tmp_path / "installed"),
        PYTHONDONTWRITEBYTECODE="1", TERMSIEVE_LOOPS=way,
    )  # fmt: skip
    assert found == run("rank", mail)[0]
    assert ("compiling loops" in said) == (way == "compiled")
    assert "later runs begin at once" not in said
    assert not [*tmp_path.rglob("*.nbi")]

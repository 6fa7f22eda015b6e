"""The maps of the house are true: what package docstrings and ARCHITECTURE.md name is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "termsieve"
PACKAGES = sorted(path.parent for path in SOURCE.glob("*/**/__init__.py"))


def read_docstring(package):
    return (package / "__init__.py").read_text("utf-8").split('"""')[1]


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_the_modules_that_a_package_names_are_there(package):
    listed = re.findall(r"^    ((?:[a-z_0-9]+, )*[a-z_0-9]+)\s", read_docstring(package), re.MULTILINE)
    named = {name for one in listed for name in one.split(", ")}
    assert named <= {path.stem for path in package.iterdir()}


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_a_package_says_what_comes_in_and_what_goes_out(package):
    first = read_docstring(package).partition("\n")[0]
    assert re.search(r"\bcomes? in\b.*\bgo(es)? out\b| -> ", first)


def test_the_files_that_the_architecture_names_are_there():
    named = re.findall(r"`(?:[a-z_]+/)*([a-z_]+\.py)`", (ROOT / "ARCHITECTURE.md").read_text("utf-8"))
    assert len(named) > 40
    assert set(named) <= {path.name for path in SOURCE.rglob("*.py")} | {"test_ways.py"}

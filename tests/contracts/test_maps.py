"""The maps of the house are true: what package docstrings and ARCHITECTURE.md name is there."""

import fnmatch
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "termsieve"
PACKAGES = sorted(path.parent for path in SOURCE.glob("*/**/__init__.py"))


def read_docstring(package):
    return (package / "__init__.py").read_text("utf-8").split('"""')[1]


def find_modules(package):
    packages = {path.name for path in package.iterdir() if (path / "__init__.py").exists()}
    return packages | {path.stem for path in package.glob("*.py")} - {"__init__"}


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_a_package_names_its_modules_and_no_others(package):
    listed = re.findall(r"^    ((?:[a-z_0-9*]+, )*[a-z_0-9*]+)/?\s", read_docstring(package), re.MULTILINE)
    named = {name for one in listed for name in one.split(", ")}
    modules = find_modules(package)
    assert not {
        name for name in named if not fnmatch.filter([path.name.partition(".")[0] for path in package.iterdir()], name)
    }
    unnamed = {name for name in modules if not any(fnmatch.fnmatch(name, one) for one in named)}
    assert not unnamed or len(modules) == 1


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_a_package_says_what_comes_in_and_what_goes_out(package):
    first = read_docstring(package).partition("\n")[0]
    assert re.search(r"\bcomes? in\b.*\bgo(es)? out\b| -> ", first)


def test_the_files_that_the_architecture_names_are_there():
    named = re.findall(r"`(?:[a-z_]+/)*([a-z_]+\.py)`", (ROOT / "ARCHITECTURE.md").read_text("utf-8"))
    assert len(named) > 10
    assert set(named) <= {path.name for path in SOURCE.rglob("*.py")}

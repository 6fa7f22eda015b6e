"""The lower bounds in pyproject.toml are versions that can be installed and tried: ``make test-lowest`` does that."""

import runpy
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
SCRIPT, PINS = ROOT / ".ci" / "lowest.py", ROOT / "constraints.txt"


@pytest.fixture
def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture
def lowest():
    return runpy.run_path(str(SCRIPT))["lowest"]


def test_all_that_the_tests_need_has_a_lowest_version(lowest, project):
    found = lowest(project, "test")
    assert {"numpy", "pyarrow", "skops", "PyStemmer", "jieba", "pandas", "pytest"} <= set(found)
    assert len(found) >= len(project["dependencies"]) + len(project["optional-dependencies"]["test"])


@pytest.mark.parametrize(
    ("requirement", "said"),
    [
        ("numpy", "'numpy' has no lowest version"),
        ("numpy<3", "'numpy<3' has no lowest version"),
        ("numpy>=2.1", "numpy has two lower bounds, 2.0 and 2.1"),
    ],
)
def test_a_bound_that_cannot_be_tried_is_an_error(requirement, said, lowest):
    project = {"name": "p", "dependencies": ["numpy>=2.0"]}
    extras = {"a": [requirement], "b": ["p[c, a]"], "c": []}
    with pytest.raises(SystemExit, match=said):
        lowest(project | {"optional-dependencies": extras}, "b")


def test_the_bound_of_a_package_with_extras_is_that_of_the_package(lowest):
    project = {"name": "p", "dependencies": [], "optional-dependencies": {"a": ["some[fast,all]>=1.2"]}}
    assert lowest(project, "a") == {"some": "1.2"}


def test_the_versions_of_ci_are_within_all_bounds(project):
    pins = dict(line.split("==") for line in PINS.read_text(encoding="utf-8").splitlines() if "==" in line)
    pins = {canonicalize_name(name): version for name, version in pins.items()}
    extras = project["optional-dependencies"]
    needed = map(Requirement, [*project["dependencies"], *extras["test"], *extras["dev"], *extras["docs"]])
    beyond = {str(one): pins.get(canonicalize_name(one.name)) for one in needed if one.name != project["name"]}
    assert {bound: pin for bound, pin in beyond.items() if pin is None or pin not in Requirement(bound).specifier} == {}

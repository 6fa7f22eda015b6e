"""The public names: each is there, each is explained, and there are no others."""

import inspect
import re
from pathlib import Path

import pytest

import termsieve as ts

NAMES = [name for name in ts.__all__ if not name.startswith("__")]


def members(cls):
    for name, member in vars(cls).items():
        if not name.startswith("_") and (callable(member) or hasattr(member, "__get__")):
            yield f"{cls.__name__}.{name}", member


PUBLIC = {
    **{name: getattr(ts, name) for name in NAMES if callable(getattr(ts, name))},  # data has no docstring
    **{
        path: member
        for name in NAMES
        if inspect.isclass(getattr(ts, name))
        for path, member in members(getattr(ts, name))
    },
}


def test_no_name_stands_twice():
    assert len(set(ts.__all__)) == len(ts.__all__)


def test_the_names_of_the_design_are_there():
    assert {"Analyzer", "Counts", "Documents", "count", "count_folds", "read", "__version__"} <= set(ts.__all__)


@pytest.mark.parametrize("name", ts.__all__)
def test_every_name_resolves(name):
    assert getattr(ts, name) is not None
    assert name in dir(ts)


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_object_has_a_docstring(name):
    assert (inspect.getdoc(PUBLIC[name]) or "").strip()


@pytest.mark.parametrize(
    "name", [name for name in NAMES if inspect.isroutine(getattr(ts, name)) or inspect.isclass(getattr(ts, name))]
)
def test_every_public_function_and_class_has_an_example(name):
    assert ">>>" in (inspect.getdoc(getattr(ts, name)) or "")


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = ts.no_such_name


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_in_the_reference(name):
    page = (Path(__file__).parents[2] / "docs" / "api.md").read_text("utf-8")
    assert re.search(rf"^\.\. auto\w+:: {name}$|`ts\.{name}`", page, re.MULTILINE)

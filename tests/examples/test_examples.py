"""Every example runs and says something."""

import os
import runpy
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples"
EXAMPLES = sorted(path.name for path in FOLDER.glob("*.py") if path.name != "corpora.py")


def test_the_examples_are_there():
    assert len(EXAMPLES) >= 5


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_runs(name, monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(FOLDER))
    try:
        runpy.run_path(str(FOLDER / name), run_name="__main__")
    except SystemExit as stop:  # a corpus is not on this machine
        (pytest.fail if os.environ.get("CI") else pytest.skip)(str(stop))
    assert len(capsys.readouterr().out.splitlines()) > 3

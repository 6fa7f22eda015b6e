"""``import termsieve`` is quick: what is heavy comes when it is used."""

import subprocess
import sys

import pytest

HEAVY = ("numba", "pyarrow", "sklearn", "pandas", "scipy", "numpy")


def modules_after(code):
    code += "\nimport sys; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    return set(ran.stdout.split())


@pytest.mark.parametrize(
    "code",
    [
        "import termsieve",
        "import termsieve; dir(termsieve)",
        "from termsieve import Analyzer; Analyzer()('a text')",
    ],
)
def test_importing_is_quick(code):
    assert modules_after(code).isdisjoint(HEAVY)


def test_counting_does_without_what_it_does_not_need():
    loaded = modules_after("import termsieve; termsieve.count(['a text'], ['x'])")
    assert {"numba", "pyarrow"} <= loaded
    assert loaded.isdisjoint(("sklearn", "jieba", "Stemmer"))

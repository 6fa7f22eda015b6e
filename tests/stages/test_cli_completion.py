"""What the shell completes is what there is."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import termsieve as ts
from termsieve.cli import completion

MAKE = "run: python docs/make_names.py"
COMMAND = str(Path(sys.executable).with_name("termsieve"))


def test_names_are_those_of_the_registries():
    assert dict(completion.read_names("scores")) == {name: score.title for name, score in ts.SCORES.items()}, MAKE
    assert dict(completion.read_names("classifiers")) == {name: one.title for name, one in ts.RECIPES.items()}, MAKE
    assert [name for name, _ in completion.read_names("rules")] == sorted(ts.RULES), MAKE
    assert all(about for _, about in completion.read_names("rules"))


def test_the_last_of_a_list_is_completed():
    assert [name for name, _ in completion.complete_scores("gu,bn")] == ["gu,bns"]
    assert [name for name, _ in completion.complete_classifiers("lin")] == ["linear_svm"]
    assert "english" in [name for name, _ in completion.complete_stemmers("eng")]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("termsieve rank --score chi", ["chi2"]),
        ("termsieve train mail.csv --classifier lin", ["linear_svm"]),
        ("termsieve select --rule per", ["per_class", "percentile"]),
        ("termsieve compare --classifier multinomial_nb,lo", ["multinomial_nb,logistic_regression"]),
        ("termsieve scores bn", ["bns"]),
        ("termsieve datasets get enr", ["enron1"]),
        ("termsieve sel", ["select"]),
    ],
)
def test_the_shell_is_answered(words, expected):
    asked = {"_TERMSIEVE_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    done = subprocess.run([COMMAND], env={**os.environ, **asked}, capture_output=True, text=True, check=False)
    assert done.stdout.split() == expected


def test_nothing_heavy_is_loaded_to_complete():
    code = (
        "import sys; from termsieve.cli import completion; list(completion.complete_scores('')); "
        "list(completion.complete_classifiers('')); print({'numpy', 'sklearn', 'pyarrow'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"

"""A score is added in one place, as CONTRIBUTING.md shows, and is then everywhere."""

from unittest import mock

import numpy as np
import pytest
from typer.testing import CliRunner

import termsieve as ts
from termsieve._types import Array
from termsieve.cli import app
from termsieve.estimators import TermSelector
from termsieve.scores import registry
from termsieve.scores.registry import score
from termsieve.table import Table

X, Y = np.array([[1, 0, 1], [1, 1, 0], [0, 1, 1], [0, 1, 1]]), ["a", "a", "b", "b"]


@pytest.fixture(autouse=True)
def gap():
    with mock.patch.dict(registry._SCORES):

        @score(
            title="Gap of the rates", source="forman2003",
            example=dict(tp=30, fp=10, fn=20, tn=140, value=0.533333), null=0.0,
        )  # fmt: skip
        def gap(t: Table, *, power: float = 1.0) -> Array:
            """Distance between the two document rates."""
            return np.abs(t.tpr - t.fpr) ** power

        yield gap


def test_it_is_in_the_catalogue():
    assert ts.SCORES["gap"].title == "Gap of the rates"


def test_the_command_line_lists_and_explains_it():
    listed = CliRunner().invoke(app, ["scores"], env={"COLUMNS": "200"}).stdout
    explained = CliRunner().invoke(app, ["scores", "gap(power=2)"]).stdout
    assert "Gap of the rates" in listed
    assert "Distance between the two document rates." in explained
    assert "gap(power=2)" in explained


def test_it_scores_counts():
    assert ts.score(ts.Counts.from_matrix(X, Y), "gap").overall().tolist() == [1.0, 0.5, 0.5]


def test_an_estimator_takes_its_spelling():
    selector = TermSelector("gap(power=2)", k=1).fit(X, Y)
    assert selector.scores_.tolist() == [1.0, 0.25, 0.25]
    assert selector.get_support().tolist() == [True, False, False]

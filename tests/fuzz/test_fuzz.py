"""One round of each target of the fuzzer; ``make fuzz`` runs as many as there is time for."""

import pytest
from fuzz.fuzz import TARGETS

pytestmark = pytest.mark.filterwarnings("ignore")  # what is skipped, and what libraries say of damaged files


@pytest.mark.parametrize("name", TARGETS)
def test_a_round_finds_nothing(name, tmp_path):
    tried = TARGETS[name](7, tmp_path)
    assert tried.inputs >= 100
    assert not tried.wrong


def test_a_wrong_count_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr("oracles.naive.terms", lambda text, **_: text.split())
    assert TARGETS["texts"](7, tmp_path).wrong

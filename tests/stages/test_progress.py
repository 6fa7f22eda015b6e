"""Progress: on standard error, and only where it is asked for."""

import sys

import pytest

from termsieve import _progress


def bar(shown):
    with _progress.show_bar("reading [x]", total=4, shown=shown, done=1) as one:
        one.advance()
        one.update(3)


def unknown_total(shown):
    with _progress.show_bar("reading [x]", shown=shown, in_bytes=True) as one:
        one.update(1000, 3000)


def items(shown):
    assert list(_progress.track("abc", "reading [x]", 3, shown=shown)) == ["a", "b", "c"]


def status(shown):
    with _progress.show_status("reading [x]", shown=shown):
        pass


WAYS = [(bar, "3/4"), (unknown_total, "1.0/3.0 kB"), (items, "3/3"), (status, "reading [x]")]


@pytest.mark.parametrize(("way", "amount"), WAYS)
def test_it_is_shown_on_standard_error(way, amount, terminal, capsys):
    way(shown=True)
    said = capsys.readouterr()
    assert said.out == ""
    assert "reading [x]" in said.err  # nothing in a title is taken for markup
    assert amount in said.err


@pytest.mark.parametrize("way", [way for way, _ in WAYS])
def test_nothing_is_shown_where_it_is_not_asked_for(way, terminal, capsys):
    way(shown=False)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("show", [_progress.show_bar, _progress.show_status])
def test_an_error_passes_through(show, terminal):
    with pytest.raises(KeyError), show("reading", shown=True):
        raise KeyError("x")


@pytest.mark.parametrize("watched", [True, False])
def test_without_a_word_it_is_for_terminals(watched, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: watched)
    assert _progress.is_shown(None) is watched
    assert _progress.is_shown(True)
    assert not _progress.is_shown(False)

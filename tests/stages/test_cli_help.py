"""The help of every command: each option says what it does, and its default as the code has it."""

import pytest
from typer.main import get_command

from termsieve.cli import app
from termsieve.cli.inputs import MIN_LENGTH
from termsieve.tokens.analyzer import DEFAULT_TOKEN_PATTERN, Analyzer


def all_options():
    commands = dict(get_command(app).commands)
    commands |= {f"datasets {name}": one for name, one in commands["datasets"].commands.items()}
    return {
        f"{name} {one.opts[0]}": one
        for name, command in commands.items()
        for one in command.params
        if one.param_type_name == "option" and one.name != "help"
    }


OPTIONS = all_options()
WITH_DEFAULT = [name for name, one in OPTIONS.items() if one.default is not None and not isinstance(one.default, bool)]
PAIRS = [name for name, one in OPTIONS.items() if one.secondary_opts]


@pytest.mark.parametrize("name", OPTIONS)
def test_the_help_of_an_option_is_a_sentence(name):
    assert OPTIONS[name].help.endswith((".", ")"))
    assert "without this" not in OPTIONS[name].help.lower()


@pytest.mark.parametrize("name", WITH_DEFAULT)
def test_an_option_tells_its_default(name):
    assert f"(default {OPTIONS[name].default})" in OPTIONS[name].help


@pytest.mark.parametrize("name", PAIRS)
def test_a_pair_of_flags_tells_which_is_the_default(name):
    assert "(default)" in OPTIONS[name].help


def test_the_defaults_of_the_analyzer_are_those_of_the_help():
    assert Analyzer().min_length == MIN_LENGTH
    assert f"(default {DEFAULT_TOKEN_PATTERN.removeprefix('(?u)')})" in OPTIONS["rank --pattern"].help

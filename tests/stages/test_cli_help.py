"""The help of every command: each option says what it does, and its default as the code has it."""

import re
from pathlib import Path

import pytest
from typer.main import get_command

from termsieve.cli import app
from termsieve.cli.inputs import MIN_LENGTH
from termsieve.tokens.analyzer import Analyzer
from termsieve.tokens.patterns import DEFAULT_TOKEN_PATTERN

ROOT = Path(__file__).parents[2]


COMMANDS = get_command(app).commands


def all_options():
    commands = dict(COMMANDS)
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
    told = ["(default)"]
    if OPTIONS[name].default is None:  # the default may depend on the input
        told.append("(default: if ")
    assert any(one in OPTIONS[name].help for one in told)


def test_the_defaults_of_the_analyzer_are_those_of_the_help():
    assert Analyzer().min_length == MIN_LENGTH
    assert f"(default {DEFAULT_TOKEN_PATTERN.removeprefix('(?u)')})" in OPTIONS["rank --pattern"].help


DOCUMENTS = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]


def find_command_lines():
    """Each command line in the documents, as its words."""
    for path in DOCUMENTS:
        for line in re.findall(r"\btermsieve ([a-z][^`\n]*)", path.read_text("utf-8").replace("\\\n", " ")):
            words = re.split(r"\s[|>#]|&&|;", line)[0].split()
            if words and words[0] in COMMANDS:
                yield pytest.param(words, id=f"{path.name}: {line[:60]}")


@pytest.mark.parametrize("words", list(find_command_lines()))
def test_options_in_the_documents_are_there(words):
    name = " ".join(words[:2]) if words[:2] == ["datasets", "get"] else words[0]
    options = [one for key, one in OPTIONS.items() if key.rpartition(" ")[0] == name]
    known = {spelling for one in options for spelling in (*one.opts, *one.secondary_opts, "--help")}
    assert {re.split(r"[=,.):]", word)[0] for word in words if re.match(r"--?[a-zA-Z]", word)} <= known

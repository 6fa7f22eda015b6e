"""Every block of code in the README and the documentation runs as it is typed.

Blocks of Python run in the order of the page, those with prompts as doctests. Lines that begin with ``termsieve`` are
typed in a folder with the files of ``sample_files.py``. A block of ``text`` behind one of Python is what that one
prints, dots for what is left out. A block that cannot run here has a comment above it with the reason:
``<!-- not run: needs a cluster -->``.
"""

from __future__ import annotations

import doctest
import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import pytest
from docs.sample_files import write_samples
from markdown_it import MarkdownIt

from termsieve.cli import run
from termsieve.scores import registry

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("docs/*.md"), ROOT / "README.md", ROOT / "SECURITY.md", ROOT / "CONTRIBUTING.md"])
_NOT_RUN = re.compile(r"<!-- not run: (?P<why>[^>]+) -->")
_DATA = "{"  # directives of the documentation, such as {toctree}


@dataclass(frozen=True)
class Block:
    """A block of code on a page."""

    language: str
    code: str
    line: int
    why_not: str | None


def list_blocks(page: Path) -> list[Block]:
    blocks, why = [], None
    for token in MarkdownIt().parse(page.read_text(encoding="utf-8")):
        if token.type == "html_block":
            found = _NOT_RUN.search(token.content)
            why = found["why"] if found else None
        elif token.type in ("fence", "code_block"):
            language = token.info.strip() if token.type == "fence" else ""
            blocks.append(Block(language, token.content, (token.map or [0])[0] + 1, why))
            why = None
        elif token.type.endswith("_open"):
            why = None
    return blocks


def list_commands(block: Block) -> list[str]:
    """The lines of a block that a reader would type."""
    lines = block.code.replace("\\\n", " ").splitlines()
    if any(line.startswith("$ ") for line in lines):  # with what they print
        lines = [line[2:] for line in lines if line.startswith("$ ")]
    return [line for line in lines if line.startswith("termsieve ")]


def type_command(line: str) -> int:
    arguments = shlex.split(line, comments=True)[1:]
    assert not {"|", ">", "<"} & set(arguments), "a pipe cannot be typed here"
    return run(arguments)


def run_python(block: Block, names: dict[str, object], page: Path) -> None:
    if ">>>" in block.code:
        test = doctest.DocTestParser().get_doctest(block.code, names, page.name, str(page), block.line)
        runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
        assert runner.run(test, clear_globs=False).failed == 0
        names.update(test.globs)
    else:
        exec(compile("\n" * block.line + block.code, str(page), "exec"), names)


def check_printed(wanted: str, found: str, place: str) -> None:
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert doctest.OutputChecker().check_output(wanted, found, flags), f"{place}: what is printed is\n{found}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
@mock.patch.dict(registry._SCORES)  # a page may add a score
def test_code_on_pages_runs(page, tmp_path, monkeypatch, capsys):
    write_samples(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    names: dict[str, object] = {"__name__": "__main__"}
    for block in list_blocks(page):
        if block.why_not or block.language.startswith(_DATA):
            continue
        place = f"{page.name}, line {block.line}"
        if block.language == "python":
            capsys.readouterr()
            try:
                run_python(block, names, page)
            except Exception as error:
                raise AssertionError(f"{place}: {error!r}") from error
            continue
        if block.language == "text":
            check_printed(block.code, capsys.readouterr().out, place)
            continue
        for line in list_commands(block):
            assert type_command(line) == 0, f"{place}: {line}\n{capsys.readouterr().err}"


def test_blocks_that_are_left_out_say_why():
    blocks = {page.name: list_blocks(page) for page in PAGES}
    assert sum(len(found) for found in blocks.values()) > 40
    for found in blocks.values():
        assert all(len(block.why_not.split()) > 1 for block in found if block.why_not)

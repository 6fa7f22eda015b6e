"""Every block of code in the README and the documentation runs as it is typed, or says why not.

- Blocks of Python run in the order of the page, those with prompts as doctests. A block of ``text`` behind one is what
  it prints.
- A block without a language has commands: either a command on each line, or commands behind ``$ `` with what a terminal
  shows below them. They are typed in a folder with the files of ``sample_files.py``.
- In what is printed, dots stand for anything, and any run of white space for another.
- ``<!-- corpus: sms_spam as mail.csv -->`` on a page: what its commands show comes from that corpus. Where it is not at
  hand, they run on the sample files, and what they show is not compared.
- ``<!-- file: new.csv -->`` above a block: it is the content of that file.
- ``<!-- not run: needs a cluster -->`` above a block: it cannot run here, for that reason.
"""

from __future__ import annotations

import csv
import doctest
import gzip
import io
import json
import os
import re
import shlex
import shutil
import tomllib
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import pytest
from docs.sample_files import write_samples
from markdown_it import MarkdownIt
from oracles.messages import leave_out_compiling

from termsieve.cli import run
from termsieve.scores import registry

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("docs/*.md"), ROOT / "README.md", ROOT / "SECURITY.md", ROOT / "CONTRIBUTING.md"])
_MARK = re.compile(r"<!-- (?P<kind>not run|file|corpus): (?P<what>[^>]+) -->")
_DATA = "{"  # directives of the documentation, such as {toctree}
_COLOURS = re.compile(r"\x1b\[[\d;]*m")
_PROMPT = "$ "
COLUMNS = "120"  # of the terminal
# told from the folder where the tests begin: a page has a folder of its own
DATA = Path(os.environ.get("TERMSIEVE_DATA") or "no folder").absolute()


@dataclass(frozen=True)
class Block:
    """A block of code on a page."""

    language: str
    code: str
    line: int
    why_not: str | None = None
    file: str | None = None


@dataclass(frozen=True)
class Command:
    """A line that a reader would type, and what the page shows below it."""

    line: str
    shown: str = ""


def list_blocks(text: str) -> list[Block]:
    blocks: list[Block] = []
    marks: dict[str, str] = {}
    for token in MarkdownIt().parse(text):
        if token.type == "html_block":
            marks = {found["kind"]: found["what"] for found in _MARK.finditer(token.content)}
        elif token.type in ("fence", "code_block"):
            language = token.info.strip() if token.type == "fence" else ""
            place = (token.map or [0])[0] + 1
            blocks.append(Block(language, token.content, place, marks.get("not run"), marks.get("file")))
            marks = {}
        elif token.type.endswith("_open"):
            marks = {}
    return blocks


def list_corpora(text: str) -> dict[str, str]:
    """Names of files, and the corpora that they are."""
    named = (found["what"].split(" as ") for found in _MARK.finditer(text) if found["kind"] == "corpus")
    return {file: corpus for corpus, file in named}


def list_commands(block: Block, place: str) -> list[Command]:
    """Commands of a block, which has nothing else but what they print."""
    lines = block.code.replace("\\\n", " ").splitlines()
    if lines[0].startswith(_PROMPT):
        parts = re.split(r"^\$ ", "\n".join(lines), flags=re.MULTILINE)[1:]
        commands = [Command(*part.split("\n", 1)) for part in parts]
        typed = [line for command in commands for line in command.shown.splitlines() if line.startswith("termsieve ")]
    else:
        commands = [Command(line) for line in lines if line.strip() and not line.startswith("#")]
        typed = []
    strange = [command.line for command in commands if not command.line.startswith("termsieve ")] + typed
    assert not strange, (
        f"{place}: neither a command that runs nor what one prints: {strange[0]!r}. A block has a command on each "
        "line, or '$ ' before each command and what it prints below; else a language, or a comment why it is not run."
    )
    return commands


class Terminal(io.TextIOWrapper):
    """What a person watches."""

    def isatty(self) -> bool:
        return True


def type_command(line: str) -> tuple[int, str]:
    """Exit code of a command, and what a terminal shows of it, without the progress."""
    arguments = shlex.split(line, comments=True)[1:]
    assert not {"|", ">", "<"} & set(arguments), "a pipe cannot be typed here"
    shown = io.BytesIO()
    output, notes = (kind(shown, "utf-8", write_through=True) for kind in (Terminal, io.TextIOWrapper))
    surroundings = {"COLUMNS": COLUMNS, "TERM": "xterm"}
    with redirect_stdout(output), redirect_stderr(notes), mock.patch.dict(os.environ, surroundings):
        code = run(arguments)
    text = _COLOURS.sub("", shown.getvalue().decode("utf-8"))
    output.detach(), notes.detach()  # they would close what is below them
    return code, leave_out_compiling(text)


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
    assert doctest.OutputChecker().check_output(wanted.strip(), found.strip(), flags), f"{place}: printed is\n{found}"


def write_corpora(corpora: dict[str, str], folder: Path) -> list[str]:
    """Write the corpora as the files that a page takes them for; those that are not at hand are returned."""
    missing = []
    for name, corpus in corpora.items():
        path = DATA / f"{corpus}.jsonl.gz"
        if not path.is_file():
            missing.append(corpus)
        elif name.endswith(".jsonl.gz"):
            shutil.copyfile(path, folder / name)
        else:
            write_csv(folder / name, path)
    return missing


def write_csv(target: Path, source: Path) -> None:
    with gzip.open(source, "rt", encoding="utf-8") as lines, target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "label"])
        writer.writerows((row["text"], row["labels"][0]) for row in map(json.loads, lines))


class Reader:
    """Somebody who types every block of a page, in its order."""

    def __init__(self, page: Path, folder: Path, *, compare: bool) -> None:
        self.page, self.folder, self.compare = page, folder, compare
        self.names: dict[str, object] = {"__name__": "__main__"}
        self.printed: str | None = None  # by the block of Python before

    def take(self, block: Block) -> None:
        if block.why_not or block.language.startswith(_DATA):
            return
        place = f"{self.page.name}, line {block.line}"
        printed, self.printed = self.printed, None
        if block.file:
            (self.folder / block.file).write_text(block.code, encoding="utf-8")
        elif block.language == "python":
            self.printed = self.run(block, place)
        elif block.language == "text":
            assert printed is not None, f"{place}: no block of Python above prints this"
            check_printed(block.code, printed, place)
        else:
            assert not block.language, f"{place}: {block.language!r} is not run here, and no comment says why"
            self.type(block, place)

    def run(self, block: Block, place: str) -> str:
        with redirect_stdout(io.StringIO()) as printed:
            try:
                run_python(block, self.names, self.page)
            except Exception as error:
                raise AssertionError(f"{place}: {error!r}\n{printed.getvalue()}") from error
        return printed.getvalue()

    def type(self, block: Block, place: str) -> None:
        for command in list_commands(block, place):
            code, shown = type_command(command.line)
            assert code == 0, f"{place}: {command.line}\n{shown}"
            if self.compare and command.shown.strip():
                check_printed(command.shown, shown, f"{place}: {command.line}")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
@mock.patch.dict(registry._SCORES)  # a page may add a score
def test_code_on_pages_runs(page, tmp_path, monkeypatch):
    write_samples(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    text = page.read_text(encoding="utf-8")
    missing = write_corpora(list_corpora(text), tmp_path)
    reader = Reader(page, tmp_path, compare=not missing)
    for block in list_blocks(text):
        reader.take(block)
    if missing:
        pytest.skip(f"all of it ran, but what it shows was not compared: it comes from {missing}, which is not here")


def test_blocks_are_found_and_those_left_out_say_why():
    blocks = [block for page in PAGES for block in list_blocks(page.read_text(encoding="utf-8"))]
    assert len(blocks) > 100
    assert all(len(block.why_not.split()) > 1 for block in blocks if block.why_not)
    shown = [command for block in blocks if not (block.language or block.why_not or block.file)
             for command in list_commands(block, "") if command.shown.strip()]  # fmt: skip
    assert len(shown) > 8


def test_extras_that_pages_install_are_there():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    pages = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    named = {
        one for found in re.findall(r"pip install '(?:\.|termsieve)\[([\w,]+)\]", pages) for one in found.split(",")
    }
    assert len(named) > 2
    assert named <= set(extras)


WRONG = {
    "output without a command": ("    5,574 documents\n", "neither a command"),
    "Python without a fence": ("    ts.select(documents)\n", "neither a command"),
    "commands of both forms": (
        "    $ termsieve scores bns\n    ...\n\n    termsieve rank mail.csv\n",
        "neither a command",
    ),
    "a command of another program": ("    termsieve scores bns\n    make hats\n", "neither a command"),
    "a language that is not run": ("```sql\nSELECT 1\n```\n", "'sql' is not run here"),
    "text that nothing prints": ("```text\n1\n```\n", "no block of Python"),
    "other text than is printed": ("```python\nprint(1)\n```\n\n```text\n2\n```\n", "printed is"),
    "other output than is shown": ("    $ termsieve scores bns\n    bns is fine\n", "printed is"),
    "output that goes on": ("    $ termsieve --version\n    ...\n    and more\n", "printed is"),
    "a command that fails": ("    termsieve rank nothing.csv\n", "nothing.csv"),
    "Python that fails": ("```python\n1 / 0\n```\n", "ZeroDivisionError"),
}


@pytest.mark.parametrize(("text", "why"), WRONG.values(), ids=WRONG)
def test_a_block_that_is_wrong_is_found(text, why, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    reader = Reader(Path("page.md"), tmp_path, compare=True)
    *before, wrong = list_blocks(text)
    for block in before:
        reader.take(block)
    with pytest.raises(AssertionError, match=why):
        reader.take(wrong)


def test_marks_are_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = """<!-- corpus: sms_spam as mail.csv -->

<!-- file: new.csv -->
```csv
text,label
buy,spam
lunch,ham
```

    $ termsieve rank new.csv
    ... 2 documents, 2 classes, 2 terms, ranked ...

<!-- not run: a query of another program -->
```sql
SELECT 1
```
"""
    assert list_corpora(text) == {"mail.csv": "sms_spam"}
    reader = Reader(Path("page.md"), tmp_path, compare=True)
    blocks = list_blocks(text)
    assert [block.language for block in blocks] == ["csv", "", "sql"]
    for block in blocks:
        reader.take(block)
    assert (tmp_path / "new.csv").read_text("utf-8").startswith("text,label\n")

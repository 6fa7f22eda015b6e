"""What the pages point to is there: pages, headings, pictures, files of the repository, targets of the Makefile.

Nothing is asked over the network: addresses elsewhere are compared with a list that was written by hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import typer.main
from markdown_it import MarkdownIt
from markdown_it.token import Token

from termsieve.classify.recipes import RECIPES
from termsieve.cli import app

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob(".github/**/*.md")])
FOLDERS = ("src", "tests", "docs", "examples", "benchmarks", ".ci", ".github")
# what `make` writes, and what is written beside a page by those who build it
MADE = ("docs/_build", "docs/_generated")
ELSEWHERE = {
    "https://github.com/termsieve/termsieve",
    "https://keepachangelog.com",
    "https://termsieve.readthedocs.io",
}  # addresses, and all below them
_ADDRESS = re.compile(r"https?://[^\s)>\"'`,]+")
_TEST_FILE = re.compile(r"(?:tests/[\w/]+/)?test_\w+\.py")
_LABEL = re.compile(r"^\((\S+)\)=$", re.MULTILINE)  # a name for the heading after it, on the built pages
_MAKE = re.compile(r"make ([a-z][a-z-]*)")


@dataclass(frozen=True)
class Page:
    """What a page points to, and the headings that others may point to."""

    links: list[str]
    code: list[str]
    headings: set[str]


def read_page(path: Path) -> Page:
    return parse(path.read_text(encoding="utf-8"))


def parse(text: str) -> Page:
    tokens = MarkdownIt().enable("table").parse(text)
    inline = [child for token in tokens for child in token.children or ()]
    links = [
        str(child.attrGet("href") or child.attrGet("src")) for child in inline if child.type in ("link_open", "image")
    ]
    code = [child.content for child in inline if child.type == "code_inline"]
    code += [line for token in tokens if token.type in ("code_block", "fence") for line in token.content.splitlines()
             if line.startswith("make ")]  # fmt: skip
    return Page(links, code, {*name_headings(tokens), *_LABEL.findall(text)})


def name_headings(tokens: list[Token]) -> Iterator[str]:
    """Yield the anchors of headings as GitHub and the built pages spell them; a second one of a name gets a number."""
    seen: dict[str, int] = {}
    for heading, inline in pairwise(tokens):
        if heading.type != "heading_open":
            continue
        title = "".join(child.content for child in inline.children or () if child.type in ("text", "code_inline"))
        anchor = re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")
        yield f"{anchor}-{seen[anchor]}" if anchor in seen else anchor
        seen[anchor] = seen.get(anchor, 0) + 1


def find_broken_links(path: Path, page: Page) -> list[str]:
    return [link for link in page.links if not urlsplit(link).scheme and not leads_somewhere(path, page, link)]


def leads_somewhere(path: Path, page: Page, link: str) -> bool:
    file, _, anchor = link.partition("#")
    target = path.parent / file if file else path
    if not target.exists():
        return False
    if not anchor:
        return True
    return anchor in (read_page(target) if file else page).headings


def find_missing_files(page: Page) -> list[str]:
    """Names of files and folders of the repository, in code, that are not there."""
    words = [word.rstrip(",;") for code in page.code for word in code.split()]
    paths = [word for word in words if word.startswith(tuple(f"{folder}/" for folder in FOLDERS))]
    missing = [path for path in paths if not path.startswith(MADE) and not any(ROOT.glob(path.rstrip("/")))]
    tests = [word for word in words if _TEST_FILE.fullmatch(word)]
    return missing + [name for name in tests if not any(ROOT.glob(f"tests/**/{Path(name).name}"))]


def find_unknown_targets(page: Page) -> list[str]:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    named = [found[1] for code in page.code if (found := _MAKE.match(code))]
    return [name for name in named if name not in targets]


def find_unknown_addresses(text: str) -> list[str]:
    found = [address.rstrip(".;:") for address in _ADDRESS.findall(text)]
    return [one for one in found if not any(one == known or one.startswith(f"{known}/") for known in ELSEWHERE)]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_links_headings_and_pictures_are_there(path):
    assert find_broken_links(path, read_page(path)) == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_files_and_targets_that_are_named_are_there(path):
    page = read_page(path)
    assert find_missing_files(page) == []
    assert find_unknown_targets(page) == []


@pytest.mark.parametrize("path", [*PAGES, ROOT / "pyproject.toml", ROOT / "CITATION.cff"], ids=lambda path: path.name)
def test_addresses_elsewhere_are_known(path):
    assert find_unknown_addresses(path.read_text(encoding="utf-8")) == []


def test_every_command_and_every_classifier_is_on_its_page():
    commands = set(typer.main.get_command(app).commands)
    for page, names in (("commandline.md", commands), ("comparing.md", set(RECIPES))):
        named = set(re.findall(r"`(\w+)`", (ROOT / "docs" / page).read_text("utf-8")))
        assert names <= named, names - named


def test_pages_are_found():
    pages = [read_page(path) for path in PAGES]
    assert len(pages) > 30
    assert sum(len(page.links) for page in pages) > 80
    assert sum("#" in link for page in pages for link in page.links) >= 5


def test_what_is_wrong_is_found():
    text = """# One `two`: three\n## A\n## A
[a](nowhere.md) ![b](no/picture.png) [c](#one-two-three) [d](#a-1) [e](#a-2) [f](CONTRIBUTING.md#adding-a-score)
[g](CONTRIBUTING.md#adding-a-hat) `tests/stages/test_scores.py` `test_nothing.py` `src/termsieve/hat.py`
`docs/results/*.json` `make test` `make hats` https://example.org/page.
"""
    page = parse(text)
    assert find_broken_links(ROOT / "README.md", page) == [
        "nowhere.md", "no/picture.png", "#a-2", "CONTRIBUTING.md#adding-a-hat"
    ]  # fmt: skip
    assert find_missing_files(page) == ["src/termsieve/hat.py", "test_nothing.py"]
    assert find_unknown_targets(page) == ["hats"]
    assert find_unknown_addresses(text) == ["https://example.org/page"]

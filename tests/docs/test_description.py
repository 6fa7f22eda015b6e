"""The description on the package index: the README as the build writes it. No link may lead to a file beside it."""

from pathlib import Path

import pytest
from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[2]
HERE = "https://github.com/termsieve/termsieve/"


def list_targets(text):
    """Pictures, and links with their words."""
    found = {"image": [], "link_open": []}
    for token in MarkdownIt().enable("table").parse(text):
        for child in token.children or ():
            if child.type in found:
                found[child.type].append(str(child.attrGet("src") or child.attrGet("href")))
    return found["image"], found["link_open"]


@pytest.fixture(scope="module")
def description(tmp_path_factory):
    build = pytest.importorskip("hatchling.build", reason="what builds the package is not installed: the extra test")
    pytest.importorskip("hatch_fancy_pypi_readme", reason="what builds the package is not installed: the extra test")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        folder = tmp_path_factory.mktemp("metadata")
        metadata = folder / build.prepare_metadata_for_build_wheel(str(folder)) / "METADATA"
    headers, _, text = metadata.read_text("utf-8").partition("\n\n")
    assert "Description-Content-Type: text/markdown" in headers.splitlines()
    return text


def test_pictures_and_links_are_absolute(description):
    pictures, links = list_targets(description)
    assert pictures
    assert all(one.startswith(f"{HERE}raw/main/docs/") for one in pictures)
    assert len(links) > 10
    assert all(one.startswith(HERE) for one in links)


def test_they_lead_to_the_files_of_the_readme_and_nothing_else_changes(description):
    readme = (ROOT / "README.md").read_text("utf-8")
    for kind, of_description, of_readme in zip(
        ("raw", "blob"), list_targets(description), list_targets(readme), strict=True
    ):
        assert [one.removeprefix(f"{HERE}{kind}/main/") for one in of_description] == of_readme
    plain = description.replace(f"{HERE}raw/main/", "").replace(f"{HERE}blob/main/", "")
    assert plain.strip() == readme.strip()

"""The documentation as a site, on a phone: `make docs` builds it and runs this, since the tests do without Sphinx."""

import os
from pathlib import Path

import pytest

PHONE = {"width": 390, "height": 844}
SITE = Path(os.environ["SITE"])


@pytest.fixture(scope="module")
def phone(browser):
    context = browser.new_context(viewport=PHONE)
    yield context.new_page()
    context.close()


def find_pages():
    return sorted(SITE.resolve().glob("*.html"))


def test_no_page_is_wider_than_a_phone(phone):
    wide = {}
    for path in find_pages():
        phone.goto(path.as_uri())
        width = phone.evaluate("document.documentElement.scrollWidth")
        if width > PHONE["width"]:
            wide[path.name] = width
    assert wide == {}
    assert {"index.html", "benchmarks.html", "reproduction.html"} <= {path.name for path in find_pages()}


def test_a_formula_that_is_wider_than_a_phone_can_be_scrolled(phone):
    phone.goto((SITE.resolve() / "scores.html").as_uri())
    formulas = phone.locator("article .formula")
    wide = formulas.evaluate_all("all => all.filter(one => one.scrollWidth > one.clientWidth)")
    assert formulas.count() == phone.locator("article math[display=block]").count() > 40
    assert len(wide) > 3
    assert phone.locator("article section").evaluate_all("all => Math.max(...all.map(one => one.scrollWidth))") < 390


def test_no_picture_is_missing_and_nothing_is_asked_of_the_network(phone):
    asked, missing = [], []
    phone.on("request", lambda request: asked.append(request.url))
    for path in find_pages():
        phone.goto(path.as_uri())
        missing += phone.locator("article img").evaluate_all(
            "all => all.filter(one => !one.complete || !one.naturalWidth).map(one => one.src)"
        )
    assert missing == []
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []


def test_a_page_that_is_too_wide_is_found(phone, tmp_path):
    (tmp_path / "wide.html").write_text('<div style="width: 2000px">wide</div>', encoding="utf-8")
    phone.goto((tmp_path / "wide.html").as_uri())
    assert phone.evaluate("document.documentElement.scrollWidth") >= 2000
